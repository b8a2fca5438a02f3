!> Rules of keeping and using states: the interval by cost and failure rate, two generations, bad files, a state that is not sound.
module counter_m
  use error_m, only: error_t, Fail
  use gather_m, only: gather_t
  use kinds_m, only: dp, i8, sp
  use scheme_m, only: scheme_t
  use shot_m, only: shot_t
  use solver_m, only: solver_t, time_position_t
  use window_m, only: window_t
  implicit none
  private
  public :: counter_t

  !> A shot of 100 steps whose state is the number of the step, many times.
  type, extends(solver_t) :: counter_t
    integer :: step = 0
    integer :: numbers = 3000
    logical :: bad = .false.
    logical :: lost_gpu = .false., refuses = .false.   !< a state cannot be loaded, for its GPU or itself
    character(:), allocatable :: name
  contains
    procedure :: setup, advance, fraction => Part, gather => NoGather, state_identity, time_position, state_size
    procedure :: save => save_state, load
  end type counter_t

contains

  subroutine setup(self, scheme, window, shot, error)
    class(counter_t), intent(inout) :: self
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    type(shot_t), intent(in) :: shot
    type(error_t), allocatable, intent(inout) :: error
  end subroutine setup

  subroutine advance(self, done, error)
    class(counter_t), intent(inout) :: self
    logical, intent(out) :: done
    type(error_t), allocatable, intent(inout) :: error
    self%step = self%step + 1
    done = self%step == 100
  end subroutine advance

  pure real(dp) function Part(self) result(fraction)
    class(counter_t), intent(in) :: self
    fraction = self%step/100.0_dp
  end function Part

  subroutine NoGather(self, gather, error)
    class(counter_t), intent(inout), target :: self
    type(gather_t), intent(inout) :: gather
    type(error_t), allocatable, intent(inout) :: error
  end subroutine NoGather

  function state_identity(self) result(text)
    class(counter_t), intent(in) :: self
    character(:), allocatable :: text
    text = 'variant '//self%name//new_line('a')//'grid 3 x 4'
  end function state_identity

  type(time_position_t) function time_position(self) result(position)
    class(counter_t), intent(in) :: self
    position = time_position_t(step=self%step, seconds=0.5_dp*self%step)
  end function time_position

  integer(i8) function state_size(self, position) result(n)
    class(counter_t), intent(in), target :: self
    type(time_position_t), intent(in) :: position
    n = self%numbers + position%step
  end function state_size

  subroutine save_state(self, state, error)
    class(counter_t), intent(inout), target :: self
    real(sp), contiguous, intent(out) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    state = real(self%step, sp)
    if (self%bad) call Fail(error, 'it blew up')
  end subroutine save_state

  subroutine load(self, position, state, error)
    class(counter_t), intent(inout), target :: self
    type(time_position_t), intent(in) :: position
    real(sp), contiguous, intent(in) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    self%step = nint(state(size(state)))
    if (any(nint(state) /= position%step)) self%step = -1
    if (self%lost_gpu .or. self%refuses) call Fail(error, 'it cannot be loaded')
    if (self%lost_gpu) error%device = .true.
  end subroutine load

end module counter_m

program t452_checkpoint_rules
  use check_m, only: Claim, ClaimFails, ClaimFine, Done
  use checkpoint_m, only: checkpointer_t, CheckpointerResume, CheckpointerDrop, CheckpointerEnd, CheckpointerNew, CheckpointerTurn, shot_states_t
  use checkpoint_rule_m, only: checkpoint_t, CheckpointEvery, CheckpointRule, CheckpointSweep
  use counter_m, only: counter_t
  use error_m, only: error_t
  use files_m, only: FileExists
  use host_c, only: host_nap
  use kinds_m, only: dp
  use text_m, only: Str
  implicit none
  character(*), parameter :: A = 'x.nc.states/shot7.a.state', B = 'x.nc.states/shot7.b.state'
  type(error_t), allocatable :: error
  type(checkpoint_t) :: rule
  type(checkpointer_t) :: checkpointer
  type(shot_states_t) :: states
  type(counter_t) :: solver
  character(:), allocatable :: said

  call Intervals()
  call Words()
  call Generations()
  call Unsound()
  call Never()
  deallocate (said)                  ! else the checked build takes it for a leak
  call Done()

contains

  !> The interval wastes less than its neighbours do, by the exact expectation for failures that come at random.
  subroutine Intervals()
    real(dp), parameter :: costs(4) = [0.05_dp, 1.0_dp, 30.0_dp, 600.0_dp], mtbfs(3) = [3600.0_dp, 86400.0_dp, 1.0e6_dp]
    real(dp) :: t, waste
    integer :: i, j, worse
    worse = 0
    waste = 0
    do i = 1, 4
      do j = 1, 3
        t = Every(costs(i), mtbfs(j))
        if (Expected(t, costs(i), mtbfs(j)) > 1.001_dp*minval([Expected(t/1.3_dp, costs(i), mtbfs(j)), &
                                                               Expected(t*1.3_dp, costs(i), mtbfs(j))])) worse = worse + 1
        if (costs(i) <= 1 .and. mtbfs(j) >= 86400) waste = max(waste, costs(i)/t)
      end do
    end do
    call Claim(worse == 0, 'the interval wastes least in '//Str(12 - worse)//' of 12 cases, must be all')
    call Claim(waste < 0.02_dp, 'states of up to 1 s cost '//Str(100*waste, 2)//' % of the compute at a failure a day, must be below 2 %')
    call Claim(abs(Every(0.5_dp, 86400.0_dp) - 294) < 1, 'half a second a state, a failure a day: every '// &
               Str(Every(0.5_dp, 86400.0_dp), 4)//' s, must be 294')
    call Claim(abs(Every(1.0e5_dp, 1.0e4_dp) - 1.0e4_dp) < 1, 'a state that costs more than a failure: the interval is mtbf')
  end subroutine Intervals

  !> Compute between states of `cost` [s] at a failure each `mtbf` [s].
  pure real(dp) function Every(cost, mtbf)
    real(dp), intent(in) :: cost, mtbf
    Every = CheckpointEvery(checkpoint_t(interval=-1.0_dp, mtbf=mtbf), cost, 1.0_dp)
  end function Every

  !> Time for a second of compute (Daly 2006, equation 20): M/t exp(cost/M) (exp(t/M) - 1), restart for nothing.
  pure real(dp) function Expected(t, cost, m)
    real(dp), intent(in) :: t, cost, m
    Expected = m/t*(exp((t + cost)/m) - 1)
  end function Expected

  subroutine Words()
    logical :: ok
    call CheckpointRule('auto', 24.0_dp, 'x.nc', rule, ok)
    call Claim(ok .and. rule%interval < 0 .and. rule%folder == 'x.nc.states' .and. abs(rule%mtbf - 86400) < 1, 'auto, 24 h')
    call CheckpointRule('2.5', 24.0_dp, 'x.nc', rule, ok)
    call Claim(ok .and. abs(rule%interval - 150) < 1e-9_dp, 'two and a half minutes are '//Str(rule%interval)//' s')
    call CheckpointRule('-1', 24.0_dp, 'x.nc', rule, ok)
    call Claim(.not. ok, 'minus one minute is refused')
    call CheckpointRule('', 24.0_dp, 'x.nc', rule, ok)
    call Claim(.not. ok, 'no word is refused')
  end subroutine Words

  !> Steps until the given one, a state at each.
  subroutine Walk(until)
    integer, intent(in) :: until
    logical :: done
    do while (solver%step < until)
      call solver%advance(done, error)
      call CheckpointerTurn(checkpointer, states, solver, 7, .true., said, error)
      call ClaimFine(error, 'a state after step '//Str(solver%step))
    end do
  end subroutine Walk

  !> 1 for the first of the two files, 2 for the second, 3 for both.
  integer function There()
    There = merge(1, 0, FileExists(A)) + merge(2, 0, FileExists(B))
  end function There

  !> A shot set up anew; `said` is what is said of its states.
  subroutine Again(name)
    character(*), intent(in) :: name
    solver%step = 0
    solver%name = name
    call CheckpointerResume(checkpointer, states, solver, 7, said, error)
    call ClaimFine(error, 'begun')
  end subroutine Again

  subroutine Generations()
    logical :: ok, half
    call CheckpointRule('1000', 24.0_dp, 'x.nc', rule, ok)
    call CheckpointerNew(checkpointer, rule)
    call Again('one')
    call Claim(said == '' .and. solver%step == 0 .and. states%head <= 0, 'no state: nothing is said')
    call Walk(1)
    call Claim(There() == 1, 'the first state')
    call Walk(5)
    call Claim(There() == 3, 'two generations')
    call Again('one')
    call Claim(solver%step == 5 .and. abs(states%head - 0.05_dp) < 1e-9_dp, said)
    call Walk(6)
    call Again('one')
    call Claim(solver%step == 6, 'the newer of the two: '//said)
    call Again('two')
    call Claim(solver%step == 0 .and. index(said, 'variant, one, than two here') > 0, said)
    call execute_command_line('printf "\001" | dd of='//B//' bs=1 seek=9000 conv=notrunc status=none')
    call Again('one')
    call Claim(solver%step == 5 .and. index(said, 'damaged') > 0, said)
    call execute_command_line('cp '//A//' keep.a; head -c 300 keep.a > '//A)
    call Again('one')
    call Claim(solver%step == 0 .and. index(said, 'begins at the first step') > 0, said)
    call execute_command_line('cp keep.a '//A//'; : > '//B//'; touch x.nc.states/shot7.a.state.there.12.half')
    call Again('one')
    call Claim(solver%step == 5, 'an empty file beside a good one: '//said)
    call Walk(6)
    call Again('one')
    call Claim(solver%step == 6, 'and the bad file is the one that was written over: '//said)
    call CheckpointSweep(rule, .false.)
    half = FileExists('x.nc.states/shot7.a.state.there.12.half')
    call Claim(There() == 3 .and. .not. half, 'what was half written is swept away')
    call CheckpointerDrop(checkpointer, 7)
    call Claim(There() == 0, 'states of a finished shot are removed')
    call Walk(7)
    call CheckpointSweep(rule, .true.)
    call Claim(.not. FileExists('x.nc.states'), 'at the end of the survey the folder is')
    call CheckpointerEnd(checkpointer, said)
    call Claim(index(said, '8 state(s)') > 0, said)
  end subroutine Generations

  !> A state that is not sound is not kept, and the one before stays.
  subroutine Unsound()
    call CheckpointerNew(checkpointer, rule)
    call Again('one')
    call Walk(3)
    solver%bad = .true.
    solver%step = 4
    call CheckpointerTurn(checkpointer, states, solver, 7, .true., said, error)
    call ClaimFails(error, 'it blew up', 'a field that blew up')
    solver%bad = .false.
    call Again('one')
    call Claim(solver%step == 3, 'the state before is still there: '//said)
    solver%lost_gpu = .true.
    call CheckpointerResume(checkpointer, states, solver, 7, said, error)
    call ClaimFails(error, 'going on from step 3: it cannot be loaded', 'a GPU that fails as the state is loaded')
    solver%lost_gpu = .false.
    call Again('one')
    call Claim(solver%step == 3, 'another one goes on from it: '//said)
    solver%refuses = .true.
    call CheckpointerResume(checkpointer, states, solver, 7, said, error)
    call ClaimFails(error, 'it cannot be loaded', 'a state that cannot be taken')
    solver%refuses = .false.
    call Claim(There() == 0, 'the next attempt begins at the first step')
    call CheckpointerDrop(checkpointer, 7)
    call CheckpointerEnd(checkpointer, said)
  end subroutine Unsound

  !> Without an interval, before the first one, and with 0, nothing is written.
  subroutine Never()
    type(checkpoint_t) :: none
    logical :: ok, made
    integer :: i
    do i = 1, 3
      rule = none
      if (i == 2) call CheckpointRule('0', 24.0_dp, 'y.nc', rule, ok)
      if (i == 3) call CheckpointRule('auto', 24.0_dp, 'y.nc', rule, ok)
      call CheckpointerNew(checkpointer, rule)
      call Again('one')
      solver%step = 50
      call host_nap(0.05_dp)
      call CheckpointerTurn(checkpointer, states, solver, 7, .false., said, error)
      if (i < 3) call CheckpointerTurn(checkpointer, states, solver, 7, .true., said, error)
      call CheckpointerEnd(checkpointer, said)
      made = FileExists('y.nc.states')
      call Claim(said == '' .and. .not. made, 'rule '//Str(i)//': no state is kept of a short shot')
    end do
  end subroutine Never

end program t452_checkpoint_rules
