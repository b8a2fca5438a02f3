!> Checkpoints: the state of a long shot goes to disk now and then, and the next worker that gets the shot goes on from there.
!>
!> A state is copied between two turns of the time loop and written by a thread of its own meanwhile (statefile_c): the loop stops
!> for the copy alone. A shot has two files, OUTPUT.states/shotN.a.state and .b.state, written in turns, so that a whole one is
!> there at any time. Workers write them themselves, as states are far larger than gathers and need no order; where a worker does
!> not see the folder of the output, its shots begin at the first step as if there were none.
!>
!> In a group each rank writes its part, shotN.IofM.a.state of rank I of M. The first rank decides when. A state is whole where all
!> ranks have their part of its step: after each they tell each other whether theirs is on the disk, and the next is written over
!> what is not whole. Parts of one step and one identity are the same whoever has written them, and when.
!>
!> The interval balances the compute that a failure loses against the cost of the states (Young 1974; Daly 2006,
!> doi 10.1016/j.future.2004.11.016, equation 37), the cost being the time from the stop until the state is on the disk, as if
!> nothing were overlapped.
module checkpoint_m
  use checked_m, only: Between, Whole
  use error_m, only: AddContext, error_t, Fail, FailFromC
  use files_m, only: FileExists
  use group_m, only: group_t, GroupTell
  use host_c, only: host_memory, host_seconds
  use iso_c_binding, only: c_associated, c_char, c_double, c_f_pointer, c_long, c_long_long, c_null_char, c_null_ptr, c_ptr
  use kinds_m, only: dp, i8, sp
  use sides_m, only: SidePath
  use solver_m, only: time_position_t, solver_t
  use statefile_c, only: statefile_busy, statefile_drop, statefile_folder, statefile_free, statefile_head, statefile_new, &
                         statefile_others, statefile_read, statefile_room, statefile_sweep, statefile_wait, statefile_write
  use text_m, only: CString, Str, ToInt, ToReal
  implicit none
  private
  public :: checkpoint_t, checkpointer_t, shot_states_t, CheckpointRule, CheckpointEvery, CheckpointSweep
  public :: CheckpointerNew, CheckpointerResume, CheckpointerTurn, CheckpointerBusy, CheckpointerDrop
  public :: CheckpointerEnd, CheckpointerDue, CheckpointerSettle

  integer, parameter :: HEAD = 4096                !< bytes of a heading
  real(dp), parameter :: PRESUMED = 3.0e8_dp       !< bytes a second to disk, until measured
  real(dp), parameter :: LEAST = 0.01_dp           !< a state costs no less [s]
  real(dp), parameter :: LONGEST = 1.0e9_dp        !< no shot has been computed for longer [s]
  integer, parameter :: NONE = -1, MISSING = -2    !< no step has a whole state; the part of this rank is not there
  character(*), parameter :: LACKS = 'its state lacks the part of a rank'
  character(*), parameter :: FIRST_LINE = 'state of a shot, SplFd2dmod'
  character(*), parameter :: nl = new_line('a')

  !> The parameters of a job on checkpoints.
  type :: checkpoint_t
    real(dp) :: interval = 0                       !< seconds of compute from state to state; 0 = none are kept, < 0 = by their cost
    real(dp) :: mtbf = 86400                       !< mean time between two losses of a worker [s]
    character(:), allocatable :: folder            !< of the states
  end type checkpoint_t

  !> The states of an active shot.
  type :: shot_states_t
    real(dp) :: since = 0                          !< time of the last state, or begin of the time loop [s]
    integer :: turn = 0                            !< the file to write next, 0 or 1
    logical :: unsettled = .false.                 !< of a group: whether the last state became whole is not known yet
    real(dp) :: head = 0                           !< fraction of the time loop that was done elsewhere
    character(:), allocatable :: identity          !< of the shot; made when first needed
  end type shot_states_t

  !> Writes the states of a worker's shots: one at a time is on its way to the disk.
  type :: checkpointer_t
    type(checkpoint_t) :: rule
    type(group_t), pointer, private :: group => null()   !< the ranks that have a part each
    type(c_ptr), private :: writer = c_null_ptr
    integer, private :: record = 0                 !< shot whose state is on its way, 0 = none
    logical, private :: unwanted = .false.         !< that state is of no more use
    logical, private :: seen = .false.             !< there are states of this worker's shots
    logical, private :: warned = .false.           !< states cannot be kept, and the log says so
    real(dp), private :: halted = 0                !< the time loop stopped for it [s]
    real(dp), private :: numbers = 0               !< in the state on its way
    integer(i8), private :: room = 0               !< numbers there is room for
    real(dp), private :: price = 0                 !< cost of a state [s a number], 0 = not known
    integer, private :: states = 0                 !< written so far
    real(dp), private :: bytes = 0, writing = 0, stops = 0   !< in them; seconds of the thread, and of the time loop
  end type checkpointer_t

contains

  !> From the parameters `checkpoint` (minutes or auto), `mtbf` [h] and `output`. `ok` is false where the first is neither.
  subroutine CheckpointRule(checkpoint, mtbf, output, rule, ok)
    character(*), intent(in) :: checkpoint, output
    real(dp), intent(in) :: mtbf
    type(checkpoint_t), intent(out) :: rule
    logical, intent(out) :: ok
    rule%folder = SidePath(output, 'states')
    rule%mtbf = 3600*mtbf
    rule%interval = -1
    ok = .true.
    if (checkpoint == 'auto') return
    call ToReal(checkpoint, rule%interval, ok)
    ok = ok .and. rule%interval >= 0 .and. rule%interval <= 1.0e5_dp
    rule%interval = 60*rule%interval
  end subroutine CheckpointRule

  !> Compute between two states [s] of so many numbers by a rule; 0: none are kept. `price`: what a number costs [s], 0 = not known.
  pure real(dp) function CheckpointEvery(rule, numbers, price) result(interval)
    type(checkpoint_t), intent(in) :: rule
    real(dp), intent(in) :: numbers, price
    interval = rule%interval
    if (interval >= 0) return
    interval = LeastWaste(max(LEAST, numbers*merge(price, 4/PRESUMED, price > 0)), rule%mtbf)
  end function CheckpointEvery

  !> Compute between two states [s] that wastes least, where a state costs `cost` [s] and failures come every `mtbf` [s].
  pure real(dp) function LeastWaste(cost, mtbf) result(interval)
    real(dp), intent(in) :: cost, mtbf
    real(dp) :: part
    interval = mtbf
    if (cost >= 2*mtbf) return
    part = cost/(2*mtbf)
    interval = sqrt(2*cost*mtbf)*(1 + sqrt(part)/3 + part/9) - cost
  end function LeastWaste

  !> Removes what killed writers left; with `everything` all states, as all shots are done or the survey starts anew.
  subroutine CheckpointSweep(rule, everything)
    type(checkpoint_t), intent(in) :: rule
    logical, intent(in) :: everything
    integer :: ignored
    if (allocated(rule%folder)) ignored = statefile_sweep(CString(rule%folder), merge(1, 0, everything))
  end subroutine CheckpointSweep

  !> Begins the states of a worker, which may be a group. CheckpointerEnd must come before where it is in use.
  subroutine CheckpointerNew(checkpointer, rule, group)
    type(checkpointer_t), intent(inout) :: checkpointer
    type(checkpoint_t), intent(in) :: rule
    type(group_t), target, optional, intent(inout) :: group
    checkpointer = checkpointer_t()
    checkpointer%rule = rule
    if (present(group)) checkpointer%group => group
    if (.not. allocated(rule%folder)) checkpointer%rule%interval = 0
    if (Off(checkpointer)) return
    checkpointer%writer = statefile_new()           ! where there is none, no state can be kept, which is told then
  end subroutine CheckpointerNew

  pure logical function Off(checkpointer)
    type(checkpointer_t), intent(in) :: checkpointer
    Off = .not. abs(checkpointer%rule%interval) > 0
  end function Off

  pure function Path(checkpointer, record, turn) result(name)
    type(checkpointer_t), intent(in) :: checkpointer
    integer, intent(in) :: record, turn
    character(:), allocatable :: name
    name = checkpointer%rule%folder//'/shot'//Str(record)
    if (Grouped(checkpointer)) name = name//'.'//Str(checkpointer%group%mine)//'of'//Str(Ranks(checkpointer))
    name = name//merge('.a', '.b', turn == 0)//'.state'
  end function Path

  pure logical function Grouped(checkpointer)
    type(checkpointer_t), intent(in) :: checkpointer
    Grouped = Ranks(checkpointer) > 1
  end function Grouped

  !> Ranks that have a part each of a state.
  pure integer function Ranks(checkpointer)
    type(checkpointer_t), intent(in) :: checkpointer
    Ranks = 1
    if (associated(checkpointer%group)) Ranks = checkpointer%group%n
  end function Ranks

  !> The sentence of the first rank of the group that has one becomes that of all. Fails where a rank has failed, or is lost.
  subroutine Tell(checkpointer, text, error)
    type(checkpointer_t), intent(inout) :: checkpointer
    character(:), allocatable, intent(inout) :: text
    type(error_t), allocatable, intent(inout) :: error
    if (Grouped(checkpointer)) call GroupTell(checkpointer%group, text, error)
  end subroutine Tell

  ! --- going on from a state -----------------------------------------------------------------------------------------

  !> A shot was set up and is about to begin its time loop: it goes on from its newest whole state, if there is one of the very same
  !> shot, of which in a group all ranks have a sound part. `said`: a sentence on that, '' = there was none. Fails where a state
  !> could be read but not taken. Collective over a group.
  subroutine CheckpointerResume(checkpointer, states, solver, record, said, error)
    type(checkpointer_t), intent(inout) :: checkpointer
    type(shot_states_t), intent(inout) :: states
    class(solver_t), intent(inout) :: solver
    integer, intent(in) :: record
    character(:), allocatable, intent(out) :: said
    type(error_t), allocatable, intent(inout) :: error
    type(time_position_t) :: position(0:1)
    real(sp), pointer, contiguous :: state(:)
    character(:), allocatable :: why, fault
    logical :: there(0:1), found
    integer :: turn
    said = ''
    states = shot_states_t(since=host_seconds())
    if (Off(checkpointer)) return
    call LookForStates(checkpointer, record, there, why, found, error)
    if (allocated(error) .or. .not. found) return
    checkpointer%seen = .true.
    states%identity = solver%state_identity()
    do turn = 0, 1
      if (.not. there(turn)) cycle
      call ReadHead(checkpointer, states, record, turn, position(turn), fault, there(turn))
      if (fault /= '') why = fault
    end do
    fault = ''
    call CheckpointerWait(checkpointer, fault)
    if (fault /= '') why = fault(index(fault, ': ') + 2:)
    call Tell(checkpointer, why, error)
    do
      call NewestOfAll(checkpointer, position, there, turn, error)
      if (allocated(error)) return
      if (turn == NONE) exit
      call ReadState(checkpointer, solver, record, turn, position, state, fault)
      call Tell(checkpointer, fault, error)
      if (allocated(error)) return
      if (fault == '') then
        call TakeUp(checkpointer, states, solver, record, turn, position(turn), state, why, error)
        said = why
        return
      end if
      why = fault
    end do
    if (why == '') why = LACKS
    said = 'shot '//Str(record)//' begins at the first step: '//why
  end subroutine CheckpointerResume

  !> `there`: which of its two files this rank has; `found`: some rank of the group has one, or there is a state that another number
  !> of ranks has made, which `why` tells.
  subroutine LookForStates(checkpointer, record, there, why, found, error)
    type(checkpointer_t), intent(inout) :: checkpointer
    integer, intent(in) :: record
    logical, intent(out) :: there(0:1), found
    character(:), allocatable, intent(out) :: why
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: any_found(1)
    integer :: turn, others
    do turn = 0, 1
      there(turn) = FileExists(Path(checkpointer, record, turn))
    end do
    others = statefile_others(CString(checkpointer%rule%folder), record, Ranks(checkpointer))
    why = ''
    if (others > 0) why = 'its state was made by '//RanksText(others)//', and '//RanksText(Ranks(checkpointer))//' models it now'
    any_found = merge(1, 0, any(there) .or. others > 0)
    if (Grouped(checkpointer)) call checkpointer%group%largest(any_found, error)
    found = any_found(1) > 0
  end subroutine LookForStates

  pure function RanksText(n) result(text)
    integer, intent(in) :: n
    character(:), allocatable :: text
    text = 'one rank'
    if (n > 1) text = 'a group of '//Str(n)//' ranks'
  end function RanksText

  !> The newest step of which each rank of the group may still have a state: `turn`, this rank's file of it, MISSING if it has none;
  !> NONE where there is no such step. No later state, and not this one, is looked at again.
  subroutine NewestOfAll(checkpointer, position, there, turn, error)
    type(checkpointer_t), intent(inout) :: checkpointer
    type(time_position_t), intent(in) :: position(0:1)
    logical, intent(inout) :: there(0:1)
    integer, intent(out) :: turn
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: oldest(1)
    integer :: step
    turn = NONE
    oldest = -maxval(merge(position%step, 0, there))
    if (Grouped(checkpointer)) call checkpointer%group%largest(oldest, error)
    step = Whole(-oldest(1))
    if (step == 0 .or. allocated(error)) return
    turn = findloc(there .and. position%step == step, .true., 1) - 1
    if (turn < 0) turn = MISSING
    there = there .and. position%step <= step
    if (turn /= MISSING) there(turn) = .false.
  end subroutine NewestOfAll

  !> Reads the heading of a state. `good`: it is one of this very shot, at `position`; if not, `why`.
  subroutine ReadHead(checkpointer, states, record, turn, position, why, good)
    type(checkpointer_t), intent(in) :: checkpointer
    type(shot_states_t), intent(in) :: states
    integer, intent(in) :: record, turn
    type(time_position_t), intent(out) :: position
    character(:), allocatable, intent(out) :: why
    logical, intent(out) :: good
    character(kind=c_char, len=HEAD) :: text
    type(error_t), allocatable :: error
    integer(c_long_long) :: n
    logical :: ok(3)
    integer :: at
    why = ''
    call FailFromC(statefile_head(CString(Path(checkpointer, record, turn)), HEAD, text, n), error)
    good = .not. allocated(error)
    if (.not. good) then
      why = error%message
      return
    end if
    call ToInt(Value(text, 'step'), position%step, ok(1))
    call ToInt(Value(text, 'films'), position%films, ok(2))
    call ToReal(Value(text, 'seconds'), position%seconds, ok(3))
    at = index(text, nl//nl)
    good = index(text, FIRST_LINE//nl) == 1 .and. all(ok) .and. at > 0 .and. position%step >= 1 .and. position%films >= 0 .and. &
           Between(position%seconds, 0.0_dp, LONGEST)
    if (.not. good) why = "'"//Path(checkpointer, record, turn)//"' is damaged: it does not begin as a state does"
    if (.not. good) return
    good = index(text(at + 2:), states%identity//nl) == 1
    if (good) return
    why = Difference(text, states%identity)
    if (Grouped(checkpointer) .and. index(why, 'another grid') > 0) why = why//', or another cut of it'
  end subroutine ReadHead

  !> Names the line in which two identities differ.
  function Difference(text, identity) result(why)
    character(*), intent(in) :: text, identity
    character(:), allocatable :: why, name
    integer :: from, to, blank
    from = 1
    why = 'its state is of another kind'
    do while (from < len(identity))
      to = index(identity(from:)//nl, nl) + from - 2
      blank = index(identity(from:to), ' ') + from - 1
      name = identity(from:blank - 1)
      if (Value(text, name) /= identity(blank + 1:to)) then
        why = 'its state was made with another '//name
        if (name == 'variant' .or. name == 'code') why = why//', '//Value(text, name)//', than '//identity(blank + 1:to)//' here'
        return
      end if
      from = to + 2
    end do
  end function Difference

  !> The text behind `name` at the beginning of a line.
  pure function Value(text, name) result(word)
    character(*), intent(in) :: text, name
    character(:), allocatable :: word
    integer :: from, to
    word = ''
    from = index(text, nl//name//' ')
    if (from == 0) return
    from = from + len(name) + 2
    to = index(text(from:), nl) + from - 2
    if (to >= from) word = text(from:to)
  end function Value

  !> Reads the numbers of a state; `fault`: why it cannot be used, '' = it can.
  subroutine ReadState(checkpointer, solver, record, turn, position, state, fault)
    type(checkpointer_t), intent(inout) :: checkpointer
    class(solver_t), intent(in) :: solver
    integer, intent(in) :: record, turn
    type(time_position_t), intent(in) :: position(0:1)
    real(sp), pointer, contiguous, intent(out) :: state(:)
    character(:), allocatable, intent(out) :: fault
    type(error_t), allocatable :: error
    nullify (state)
    fault = ''
    if (turn == MISSING) fault = LACKS
    if (turn == MISSING) return
    call GetRoom(checkpointer, solver%state_size(position(turn)), state, error)
    if (.not. allocated(error)) &
      call FailFromC(statefile_read(CString(Path(checkpointer, record, turn)), HEAD, size(state, kind=i8), state), error)
    if (allocated(error)) fault = error%message
  end subroutine ReadState

  !> The shot goes on from a state. If that fails its next attempt begins at the first step. `said`: why a newer state was not used,
  !> then a sentence on all.
  subroutine TakeUp(checkpointer, states, solver, record, turn, position, state, said, error)
    type(checkpointer_t), intent(inout) :: checkpointer
    type(shot_states_t), intent(inout) :: states
    class(solver_t), intent(inout) :: solver
    integer, intent(in) :: record, turn
    type(time_position_t), intent(in) :: position
    real(sp), contiguous, intent(in) :: state(:)
    character(:), allocatable, intent(inout) :: said
    type(error_t), allocatable, intent(inout) :: error
    call solver%load(position, state, error)
    call AddContext(error, 'going on from step '//Str(position%step))
    if (allocated(error)) then
      call CheckpointerDrop(checkpointer, record)
      return
    end if
    if (said /= '') said = '; a state was not used: '//said
    said = 'shot '//Str(record)//' goes on after step '//Str(position%step)//', '//Str(Whole(100*solver%fraction()))//' %'//said
    states%head = solver%fraction()
    states%turn = 1 - turn
    states%since = host_seconds()
  end subroutine TakeUp

  ! --- keeping states ------------------------------------------------------------------------------------------------

  !> Between two turns of a shot: keeps its state if it is time, or `at_once`; that is on the disk on return, or, with `wait` false,
  !> on its way. `said`: a sentence for the log, '' = nothing to say. Fails where the field is not sound. Collective over a group,
  !> which cannot go by the clocks of its ranks: `at_once`, when its first rank finds it due.
  subroutine CheckpointerTurn(checkpointer, states, solver, record, at_once, said, error, wait)
    type(checkpointer_t), intent(inout) :: checkpointer
    type(shot_states_t), intent(inout) :: states
    class(solver_t), intent(inout) :: solver
    integer, intent(in) :: record
    logical, intent(in) :: at_once
    character(:), allocatable, intent(out) :: said
    type(error_t), allocatable, intent(inout) :: error
    logical, intent(in), optional :: wait
    logical :: stay, due
    said = ''
    if (Off(checkpointer)) return
    if (CheckpointerBusy(checkpointer) .and. .not. at_once) return
    call CheckpointerSettle(checkpointer, states, record, said, error)
    if (allocated(error)) return
    due = CheckpointerDue(checkpointer, states, solver)
    if (.not. (due .or. at_once)) return
    call Take(checkpointer, states, solver, record, said, error)
    stay = at_once
    if (present(wait)) stay = wait
    if (stay) call CheckpointerWait(checkpointer, said)
  end subroutine CheckpointerTurn

  !> True where so much was computed since the last state that it is time for the next.
  logical function CheckpointerDue(checkpointer, states, solver) result(due)
    type(checkpointer_t), intent(in) :: checkpointer
    type(shot_states_t), intent(in) :: states
    class(solver_t), intent(in) :: solver
    real(dp) :: spent
    due = .false.
    if (Off(checkpointer)) return
    spent = host_seconds() - states%since
    due = spent >= Interval(checkpointer, solver)
  end function CheckpointerDue

  !> True while a state is on its way to the disk.
  logical function CheckpointerBusy(checkpointer)
    type(checkpointer_t), intent(in) :: checkpointer
    CheckpointerBusy = checkpointer%record /= 0
    if (CheckpointerBusy) CheckpointerBusy = statefile_busy(checkpointer%writer) == 1
  end function CheckpointerBusy

  real(dp) function Interval(checkpointer, solver)
    type(checkpointer_t), intent(in) :: checkpointer
    class(solver_t), intent(in) :: solver
    Interval = CheckpointEvery(checkpointer%rule, real(solver%state_size(solver%time_position()), dp), checkpointer%price)
  end function Interval

  subroutine Take(checkpointer, states, solver, record, said, error)
    type(checkpointer_t), intent(inout) :: checkpointer
    type(shot_states_t), intent(inout) :: states
    class(solver_t), intent(inout) :: solver
    integer, intent(in) :: record
    character(:), allocatable, intent(inout) :: said
    type(error_t), allocatable, intent(inout) :: error
    type(error_t), allocatable :: fault
    real(sp), pointer, contiguous :: state(:)
    character(kind=c_char, len=HEAD) :: text
    character(:), allocatable :: why
    type(time_position_t) :: position
    real(dp) :: from
    from = host_seconds()
    if (.not. allocated(states%identity)) states%identity = solver%state_identity()
    if (states%identity == '') return
    position = solver%time_position()
    call GetRoom(checkpointer, solver%state_size(position), state, fault)
    if (.not. allocated(fault)) call FailFromC(statefile_folder(CString(checkpointer%rule%folder)), fault)
    if (.not. allocated(fault)) then
      call solver%save(state, error)
      if (allocated(error)) return
      text = FIRST_LINE//nl//'shot '//Str(record)//nl//'step '//Str(position%step)//nl//'films '//Str(position%films)//nl// &
             'seconds '//Str(position%seconds)//nl//nl//states%identity//nl
      text(HEAD:) = nl
      call FailFromC(statefile_write(checkpointer%writer, CString(Path(checkpointer, record, states%turn)), HEAD, text, &
                                     size(state, kind=i8)), fault)
    end if
    states%since = host_seconds()
    checkpointer%seen = .true.
    why = ''
    if (allocated(fault)) then
      why = fault%message
    else
      checkpointer%record = record
      checkpointer%numbers = real(size(state, kind=i8), dp)
      checkpointer%halted = states%since - from
      checkpointer%stops = checkpointer%stops + checkpointer%halted
    end if
    call Tell(checkpointer, why, error)
    if (allocated(error)) return
    states%unsettled = why == '' .and. Grouped(checkpointer)
    if (why == '') states%turn = 1 - states%turn
    if (why /= '') call Complain(checkpointer, record, why, said)
  end subroutine Take

  !> Room for a state, where at most half of what memory is left goes into it: a shot is worth more than its state.
  subroutine GetRoom(checkpointer, n, state, error)
    type(checkpointer_t), intent(inout) :: checkpointer
    integer(i8), intent(in) :: n
    real(sp), pointer, contiguous, intent(out) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    type(c_ptr) :: room
    integer(c_long) :: total, available
    nullify (state)
    if (n > checkpointer%room) then
      call host_memory(c_null_char, total, available)
      if (available > 0 .and. n > available/8) &
        call Fail(error, 'it needs '//Str(4e-9_dp*n, 3)//' GB of memory, and no more than '//Str(1e-9_dp*available, 3)// &
                  ' GB are available')
      if (allocated(error)) return
    end if
    room = statefile_room(checkpointer%writer, n)
    if (.not. c_associated(room)) then
      call FailFromC(1, error)
    else
      call c_f_pointer(room, state, [n])
      checkpointer%room = max(checkpointer%room, n)
    end if
  end subroutine GetRoom

  !> Warns that states cannot be kept, once until one was kept again.
  subroutine Complain(checkpointer, record, why, said)
    type(checkpointer_t), intent(inout) :: checkpointer
    integer, intent(in) :: record
    character(*), intent(in) :: why
    character(:), allocatable, intent(inout) :: said
    if (checkpointer%warned) return
    checkpointer%warned = .true.
    said = 'no state of shot '//Str(record)//' is kept: '//why//'; the shot goes on'
  end subroutine Complain

  !> Waits until the state on its way is on the disk. A group learns whether all of its ranks have their parts there: if not, the
  !> next is written in its place, as the one before is the last that is whole. Collective over a group.
  subroutine CheckpointerSettle(checkpointer, states, record, said, error)
    type(checkpointer_t), intent(inout) :: checkpointer
    type(shot_states_t), intent(inout) :: states
    integer, intent(in) :: record
    character(:), allocatable, intent(inout) :: said
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: why
    logical :: written
    if (.not. Grouped(checkpointer)) then
      call CheckpointerWait(checkpointer, said)
      return
    end if
    call Finish(checkpointer, why, written)
    call Tell(checkpointer, why, error)
    if (allocated(error)) return
    if (why /= '' .and. states%unsettled) states%turn = 1 - states%turn
    states%unsettled = .false.
    if (why /= '') call Complain(checkpointer, record, why, said)
    if (why == '' .and. written) checkpointer%warned = .false.
  end subroutine CheckpointerSettle

  !> Waits until the state on its way, or this rank's part of it, is on the disk.
  subroutine CheckpointerWait(checkpointer, said)
    type(checkpointer_t), intent(inout) :: checkpointer
    character(:), allocatable, intent(inout) :: said
    character(:), allocatable :: why
    logical :: written
    integer :: record
    record = checkpointer%record
    call Finish(checkpointer, why, written)
    if (written) checkpointer%warned = .false.
    if (why /= '') call Complain(checkpointer, record, why, said)
  end subroutine CheckpointerWait

  !> Waits until what is on its way is on the disk, and counts it: `written`, if there was something. `why`: it could not be
  !> written, and why, '' otherwise.
  subroutine Finish(checkpointer, why, written)
    type(checkpointer_t), intent(inout) :: checkpointer
    character(:), allocatable, intent(out) :: why
    logical, intent(out) :: written
    type(error_t), allocatable :: error
    real(c_double) :: seconds
    why = ''
    written = .false.
    if (checkpointer%record == 0) return
    call FailFromC(statefile_wait(checkpointer%writer, seconds), error)
    written = .not. allocated(error)
    if (.not. written) then
      why = error%message
    else
      checkpointer%states = checkpointer%states + 1
      checkpointer%bytes = checkpointer%bytes + 4*checkpointer%numbers
      checkpointer%writing = checkpointer%writing + seconds
      checkpointer%price = (checkpointer%halted + seconds)/max(1.0_dp, checkpointer%numbers)
    end if
    if (checkpointer%unwanted) call Remove(checkpointer, checkpointer%record)
    checkpointer%unwanted = .false.
    checkpointer%record = 0
  end subroutine Finish

  ! --- the end -------------------------------------------------------------------------------------------------------

  !> The states of a shot, whoever has made them, are of no more use: it is on disk, or what it computed cannot be trusted.
  subroutine CheckpointerDrop(checkpointer, record)
    type(checkpointer_t), intent(inout) :: checkpointer
    integer, intent(in) :: record
    if (Off(checkpointer) .or. .not. checkpointer%seen) return
    call Remove(checkpointer, record)
    if (checkpointer%record == record) checkpointer%unwanted = .true.       ! one that is on its way goes when it has come
  end subroutine CheckpointerDrop

  subroutine Remove(checkpointer, record)
    type(checkpointer_t), intent(in) :: checkpointer
    integer, intent(in) :: record
    call statefile_drop(CString(checkpointer%rule%folder), record)
  end subroutine Remove

  !> Waits for the last state and gives all back. `said`: what the states cost, '' = there were none.
  subroutine CheckpointerEnd(checkpointer, said)
    type(checkpointer_t), intent(inout) :: checkpointer
    character(:), allocatable, intent(out) :: said
    said = ''
    if (.not. c_associated(checkpointer%writer)) return
    call CheckpointerWait(checkpointer, said)
    call statefile_free(checkpointer%writer)
    checkpointer%writer = c_null_ptr
    if (checkpointer%states == 0) return
    said = Str(checkpointer%states)//' state(s) of '//Str(1e-6_dp*checkpointer%bytes/checkpointer%states, 3)//' MB kept, '// &
           Str(1e-9_dp*checkpointer%bytes/max(checkpointer%writing, 1e-9_dp), 2)// &
           ' GB/s to disk; for each the time loop stopped for '// &
           Str(checkpointer%stops/checkpointer%states, 2)//' s'
  end subroutine CheckpointerEnd

end module checkpoint_m
