!> A shot that an engine steps through time, whatever the physics: turns of the time loop, looks at the field, states, traces.
!>
!> A physics extends timeloop_t by its grid, medium and engine and tells, in the verbs that are deferred here, how long a chunk of
!> steps is, what is done between chunks, and what its numbers mean.
!>
!> A GPU only queues the steps: a turn waits until one chunk of the shot is left unfinished, then queues the next. So on return the
!> GPU has work for one to two chunks, during which the host makes set-up or traces of other shots, and a field that blows up is
!> seen soon.
module timeloop_m
  use engine_m, only: engine_t
  use error_m, only: error_t, Fail
  use gather_m, only: film_t, gather_t
  use host_c, only: host_seconds
  use kinds_m, only: dp, i8, sp
  use scheme_m, only: scheme_t
  use shot_m, only: shot_t
  use solver_m, only: time_position_t, progress_i, solver_t
  use team_m, only: team_t, TeamTake
  use text_m, only: Str
  implicit none
  private
  public :: timeloop_t, LoopLoad, growth

  real(sp), parameter :: growth = 1000            !< a field this many times what the source can bring has blown up

  type, abstract, extends(solver_t) :: timeloop_t
    type(scheme_t) :: scheme
    type(shot_t) :: shot                          !< with the positions used
    character(:), allocatable :: variant          !< of the engine
    logical :: queues = .false.                   !< its time steps are only queued: it computes while the host goes on
    integer :: medium = 0                         !< serial number of the window the medium was made from, 0 = of none
    integer :: exponent2 = 0                      !< fields are 2**exponent2 times smaller than in SI units
    real(sp) :: limit = 0                         !< of the largest value, beyond it the field has blown up
    real(sp) :: peak = 0                          !< largest value at the last look
    integer :: steps = 0                          !< steps done or queued
    logical :: finished = .false.                 !< all are done, and the field was looked at
    type(team_t) :: team                          !< threads of set-up, steps and traces on CPU cores
    integer :: chunk = 0                          !< steps of the next chunk, 0 = not chosen yet
    integer :: ahead = 0                          !< chunks that may be unfinished
    integer :: queued(2) = 0                      !< steps of the two chunks queued last
    integer :: unseen = 0                         !< steps since the last look at the field, on CPU cores
    real(dp) :: pace = 0                          !< seconds a step takes, as measured
    real(dp) :: mark = 0                          !< when a chunk was seen to be done last [s]
    real(dp) :: began = 0                         !< when the first step was queued [s]
    real(dp) :: seconds = 0                       !< wall time of the time loop
    type(film_t), allocatable :: film(:)          !< pictures: films, then maps
    integer :: films = 0                          !< how many of them are films
    integer :: pictures = 0                       !< of each film there will be
    integer :: taken = 0                          !< of each film there are
  contains
    procedure :: modfd, advance, fraction => PartDone, gather => LoopGather
    procedure :: time_position, state_size, save => LoopSave, load => LoopLoad
    procedure, non_overridable :: begin, timestep, picture_size
    procedure(any_engine_i), deferred :: any_engine
    procedure(choose_chunk_i), deferred :: choose_chunk
    procedure(next_chunk_i), deferred :: next_chunk
    procedure :: take_maps => NoMaps
    procedure(blow_up_i), deferred :: blow_up
    procedure(describe_i), deferred :: describe
    procedure(make_traces_i), deferred :: make_traces
  end type timeloop_t

  abstract interface
    !> The solver's engine, null before the first set-up.
    function any_engine_i(self) result(engine)
      import :: timeloop_t, engine_t
      class(timeloop_t), intent(in), target :: self
      class(engine_t), pointer :: engine
    end function any_engine_i

    !> Sets `chunk`. `waited`: the chunk before the one queued last was finished just now.
    subroutine choose_chunk_i(self, waited)
      import :: timeloop_t
      class(timeloop_t), intent(inout) :: self
      logical, intent(in) :: waited
    end subroutine choose_chunk_i

    !> One step or more by `timestep`, at most `chunk` and what pictures need, and the pictures that are then due.
    subroutine next_chunk_i(self, error)
      import :: timeloop_t, error_t
      class(timeloop_t), intent(inout) :: self
      type(error_t), allocatable, intent(inout) :: error
    end subroutine next_chunk_i

    !> Always fails, with a sentence on a field whose largest value, in a cell, is above `limit` or no number.
    subroutine blow_up_i(self, value, place, error)
      import :: timeloop_t, error_t, sp
      class(timeloop_t), intent(inout) :: self
      real(sp), intent(in) :: value
      integer, intent(in) :: place(3)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine blow_up_i

    !> What only this physics can say of a gather: components, cells, pictures.
    subroutine describe_i(self, gather)
      import :: timeloop_t, gather_t
      class(timeloop_t), intent(in) :: self
      type(gather_t), intent(inout) :: gather
    end subroutine describe_i

    !> Traces at the output sampling, corrected for time dispersion, in the unit of the fields, (nt_out, nrec, ncomp).
    subroutine make_traces_i(self, traces, error)
      import :: timeloop_t, error_t, sp
      class(timeloop_t), intent(inout) :: self
      real(sp), contiguous, intent(out) :: traces(:, :, :)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine make_traces_i
  end interface

contains

  ! --- the time loop ------------------------------------------------------------------------------------------------

  !> A shot of which no step is done.
  subroutine begin(self, scheme, shot)
    class(timeloop_t), intent(inout) :: self
    class(scheme_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    self%scheme = scheme
    self%shot = shot
    self%steps = 0
    self%peak = 0
    self%finished = .false.
    self%seconds = 0
    self%taken = 0
    self%ahead = 0
    self%unseen = 0
    if (self%queues) return                       ! the pace of the shot before is known
    self%chunk = 0
    self%pace = 0
  end subroutine begin

  !> All steps of the shot. Fails when the field blows up, and when `progress` asks to stop.
  subroutine modfd(self, progress, error)
    class(timeloop_t), intent(inout) :: self
    procedure(progress_i) :: progress
    type(error_t), allocatable, intent(inout) :: error
    logical :: done, stop
    done = .false.
    stop = .false.
    do while (.not. done)
      call self%advance(done, error)
      if (allocated(error)) return
      call progress(self%fraction(), stop)
      if (stop) call Fail(error, 'stopped on request at step '//Str(self%steps)//' of '//Str(self%scheme%nt))
      if (allocated(error)) return
    end do
  end subroutine modfd

  !> The next chunk, or on a GPU, where none is left, a wait for the last but one, then for the last. `done` when all steps are done
  !> and the field is sound. Fails when the field blows up.
  subroutine advance(self, done, error)
    class(timeloop_t), intent(inout) :: self
    logical, intent(out) :: done
    type(error_t), allocatable, intent(inout) :: error
    logical :: waited
    done = .false.
    waited = self%queues .and. self%ahead > 1
    if (waited) call Inspect(self, 1, error)
    if (allocated(error)) return
    call self%choose_chunk(waited)
    if (waited .and. self%steps == self%scheme%nt) return
    if (self%steps < self%scheme%nt) then
      call self%next_chunk(error)
      if (self%queues .or. allocated(error)) return
    end if
    if (self%steps == self%scheme%nt) call Finish(self, error)
    done = self%finished
  end subroutine advance

  !> How much of the time loop is done or queued, 0..1.
  pure real(dp) function PartDone(self) result(fraction)
    class(timeloop_t), intent(in) :: self
    fraction = real(self%steps, dp)/max(1, self%scheme%nt)
  end function PartDone

  !> The next n steps, and, but on a GPU, a look at the whole field, unless `look` is false.
  subroutine timestep(self, n, error, look)
    class(timeloop_t), intent(inout), target :: self
    integer, intent(in) :: n
    type(error_t), allocatable, intent(inout) :: error
    logical, intent(in), optional :: look
    class(engine_t), pointer :: engine
    real(dp) :: from
    logical :: due
    from = host_seconds()
    if (self%steps == 0) self%began = from
    if (self%queues .and. self%ahead > 1) call Inspect(self, 1, error)
    if (allocated(error)) return
    engine => self%any_engine()
    if (.not. self%queues) call engine%threads(self%team%threads, error)
    if (.not. allocated(error)) call engine%timestep(self%steps + 1, n, error)
    if (allocated(error)) return
    self%steps = self%steps + n
    if (self%queues) then
      self%ahead = self%ahead + 1
      self%queued = [self%queued(2:2), n]
    else
      self%pace = (host_seconds() - from)/n
      if (n >= min(self%chunk, self%scheme%nt/2)) call TeamTake(self%team, n*self%pace, n*self%team%cells)
      self%unseen = self%unseen + n
      due = .true.
      if (present(look)) due = look
      if (due) call Inspect(self, 0, error)
      self%seconds = self%seconds + host_seconds() - from
    end if
  end subroutine timestep

  !> Waits, asleep, until all steps are done, looks at the field a last time, and takes the maps.
  subroutine Finish(self, error)
    class(timeloop_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    if (self%finished) return
    if (self%queues) call Inspect(self, 0, error)
    if (.not. allocated(error)) call self%take_maps(error)
    if (allocated(error)) return
    if (self%queues) self%seconds = host_seconds() - self%began
    self%finished = .true.
  end subroutine Finish

  !> Waits until at most `most` chunks are unfinished; the field must be sound at the end of the newest finished one.
  subroutine Inspect(self, most, error)
    class(timeloop_t), intent(inout), target :: self
    integer, intent(in) :: most
    type(error_t), allocatable, intent(inout) :: error
    class(engine_t), pointer :: engine
    real(sp) :: value
    integer :: place(3)
    engine => self%any_engine()
    call engine%pending(most, error)
    self%ahead = min(self%ahead, most)
    self%unseen = 0
    if (.not. allocated(error)) call engine%peak(value, place, error)
    if (allocated(error)) return
    if (.not. value <= self%limit) call self%blow_up(value, place, error)
    self%peak = value
  end subroutine Inspect

  !> A physics without maps.
  subroutine NoMaps(self, error)
    class(timeloop_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
  end subroutine NoMaps

  ! --- states: the engine's numbers, then the pictures taken; all else follows from the shot --------------------------

  type(time_position_t) function time_position(self) result(position)
    class(timeloop_t), intent(in) :: self
    position = time_position_t(self%steps, self%taken, self%seconds)
    if (self%queues .and. self%steps > 0) position%seconds = host_seconds() - self%began
  end function time_position

  integer(i8) function state_size(self, position) result(n)
    class(timeloop_t), intent(in), target :: self
    type(time_position_t), intent(in) :: position
    class(engine_t), pointer :: engine
    engine => self%any_engine()
    n = engine%state_size(position%step) + self%picture_size()*position%films
  end function state_size

  !> Numbers of one picture of each film.
  pure integer(i8) function picture_size(self) result(n)
    class(timeloop_t), intent(in) :: self
    integer :: f
    n = 0
    do f = 1, self%films
      n = n + product(int(self%film(f)%n, i8))
    end do
  end function picture_size

  !> Waits for the steps that are queued and looks at the field: a state that has blown up is none.
  subroutine LoopSave(self, state, error)
    class(timeloop_t), intent(inout), target :: self
    real(sp), contiguous, intent(out) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    class(engine_t), pointer :: engine
    integer(i8) :: at
    integer :: f, j, k
    if (merge(self%ahead, self%unseen, self%queues) > 0) call Inspect(self, 0, error)
    if (allocated(error)) return
    engine => self%any_engine()
    at = engine%state_size(self%steps)
    call engine%save(state(:at), error)
    do f = 1, self%films
      associate (film => self%film(f))
        do j = 1, self%taken
          do k = 1, film%n(2)
            state(at + 1:at + film%n(1)) = film%a(:, k, j)
            at = at + film%n(1)
          end do
        end do
      end associate
    end do
  end subroutine LoopSave

  !> Goes on from a state whose identity is that of this shot, which is set up.
  subroutine LoopLoad(self, position, state, error)
    class(timeloop_t), intent(inout), target :: self
    type(time_position_t), intent(in) :: position
    real(sp), contiguous, intent(in) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    class(engine_t), pointer :: engine
    character(:), allocatable :: what
    integer(i8) :: at
    integer :: f, j, k
    if (position%step < 1 .or. position%step > self%scheme%nt .or. position%films < 0 .or. position%films > self%pictures) then
      what = trim(merge(' pictures ', ' snapshots', self%scheme%dy > 0))
      call Fail(error, 'a state after step '//Str(position%step)//' with '//Str(position%films)//what//', but the shot has '// &
                Str(self%scheme%nt)//' steps and '//Str(self%pictures)//what)
    else if (size(state, kind=i8) /= self%state_size(position)) then
      call Fail(error, 'a state of '//Str(size(state, kind=i8))//' numbers, '//Str(self%state_size(position))//' expected')
    end if
    if (allocated(error)) return
    engine => self%any_engine()
    at = engine%state_size(position%step)
    call engine%load(position%step, state(:at), error)
    if (allocated(error)) return
    do f = 1, self%films
      associate (film => self%film(f))
        do j = 1, position%films
          do k = 1, film%n(2)
            film%a(:, k, j) = state(at + 1:at + film%n(1))
            at = at + film%n(1)
          end do
        end do
      end associate
    end do
    self%steps = position%step
    self%taken = position%films
    self%seconds = position%seconds
    self%mark = host_seconds()
    self%began = self%mark - position%seconds
  end subroutine LoopLoad

  ! --- what comes home ------------------------------------------------------------------------------------------------

  !> Traces of the finished time loop at the output sampling, with all that is to be said of them.
  subroutine LoopGather(self, gather, error)
    class(timeloop_t), intent(inout), target :: self
    type(gather_t), intent(inout) :: gather
    type(error_t), allocatable, intent(inout) :: error
    class(engine_t), pointer :: engine
    engine => self%any_engine()
    if (.not. associated(engine) .or. self%steps < self%scheme%nt) then
      call Fail(error, 'traces asked for after step '//Str(self%steps)//' of '//Str(self%scheme%nt))
      return
    end if
    call Finish(self, error)
    if (allocated(error)) return
    gather%record = self%shot%record
    gather%slot = self%shot%slot
    gather%nt = self%scheme%nt_out
    gather%nrec = size(self%shot%rx)
    gather%sx = self%shot%sx
    gather%sz = self%shot%sz
    gather%rx = self%shot%rx
    gather%rz = self%shot%rz
    gather%seconds = self%seconds
    gather%steps = self%steps
    gather%variant = self%variant
    gather%device = engine%device()
    call self%describe(gather)
    if (allocated(gather%traces)) deallocate (gather%traces)
    allocate (gather%traces(gather%nt, gather%nrec, gather%ncomp))
    call self%make_traces(gather%traces, error)
    if (allocated(error)) return
    gather%traces = real(gather%traces*2.0_dp**self%exponent2, sp)
    if (count(abs(gather%traces) <= huge(1.0_sp)) < size(gather%traces)) &
      call Fail(error, 'the traces are too large for single precision: make amplitude smaller')
  end subroutine LoopGather

end module timeloop_m
