!> A shot goes on from a state: which states there are, whether they are of this very shot, which is the newest that is whole.
!> Arguments stand in checkpoint.f90.
submodule(checkpoint_m) checkpoint_resume
  use checked_m, only: Between, Whole
  use error_m, only: AddContext, FailFromC
  use host_c, only: host_seconds
  use iso_c_binding, only: c_char, c_long_long
  use solver_m, only: time_position_t
  use statefile_c, only: statefile_head, statefile_others, statefile_read
  use text_m, only: CString, ToInt, ToReal
  implicit none

  real(dp), parameter :: LONGEST = 1.0e9_dp        !< no shot has been computed for longer [s]
  integer, parameter :: NONE = -1, MISSING = -2    !< no step has a whole state; the part of this rank is not there

contains

  module procedure CheckpointerResume
    type(time_position_t) :: position(0:1)
    real(sp), pointer, contiguous :: state(:)
    character(:), allocatable :: why, problem
    logical :: there(0:1), found
    integer :: turn, step
    said = ''
    states = shot_states_t(since=host_seconds())
    if (Off(checkpointer)) return
    call LookForStates(checkpointer, record, there, why, found, error)
    if (allocated(error) .or. .not. found) return
    checkpointer%seen = .true.
    states%identity = solver%state_identity()
    do turn = 0, 1
      if (.not. there(turn)) cycle
      call ReadHead(checkpointer, states, record, turn, position(turn), problem, there(turn))
      if (problem /= '') why = problem
    end do
    problem = ''
    call CheckpointerWait(checkpointer, problem)
    if (problem /= '') why = problem(index(problem, ': ') + 2:)
    call Tell(checkpointer, why, error)
    do
      call NewestOfAll(checkpointer, position, there, turn, step, error)
      if (allocated(error)) return
      if (turn == NONE) exit
      call ReadState(checkpointer, solver, record, turn, step, position, state, problem)
      call Tell(checkpointer, problem, error)
      if (allocated(error)) return
      if (problem == '') then
        call TakeUp(checkpointer, states, solver, record, turn, position(turn), state, why, error)
        said = why
        return
      end if
      why = problem
    end do
    said = 'shot '//Str(record)//' begins at the first step: '//why
  end procedure CheckpointerResume

  !> `there`: which of its two files this rank has; `found`: some rank of the group has one, or there is a state that another number
  !> of ranks has made. `why`: that it is so, or that this rank's part is missing where others have theirs.
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
    if (why == '' .and. found .and. .not. any(there)) &
      why = Lacks(checkpointer)//": there is neither '"//Path(checkpointer, record, 0)//"' nor '"// &
            Path(checkpointer, record, 1)//"'"
  end subroutine LookForStates

  !> The beginning of a sentence on a state whose part of this rank is missing.
  pure function Lacks(checkpointer) result(text)
    type(checkpointer_t), intent(in) :: checkpointer
    character(:), allocatable :: text
    text = 'its state lacks the part of rank '//Str(checkpointer%group%mine)//' of '//Str(Ranks(checkpointer))
  end function Lacks

  pure function RanksText(n) result(text)
    integer, intent(in) :: n
    character(:), allocatable :: text
    text = 'one rank'
    if (n > 1) text = 'a group of '//Str(n)//' ranks'
  end function RanksText

  !> The newest step of which each rank of the group may still have a state: `turn`, this rank's file of it, MISSING if it has none;
  !> NONE where there is no such step. No later state, and not this one, is looked at again.
  subroutine NewestOfAll(checkpointer, position, there, turn, step, error)
    type(checkpointer_t), intent(inout) :: checkpointer
    type(time_position_t), intent(in) :: position(0:1)
    logical, intent(inout) :: there(0:1)
    integer, intent(out) :: turn, step
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: oldest(1)
    turn = NONE
    step = 0
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

  !> Reads the numbers of the state of a step; `problem`: why it cannot be used, '' = it can.
  subroutine ReadState(checkpointer, solver, record, turn, step, position, state, problem)
    type(checkpointer_t), intent(inout) :: checkpointer
    class(solver_t), intent(in) :: solver
    integer, intent(in) :: record, turn, step
    type(time_position_t), intent(in) :: position(0:1)
    real(sp), pointer, contiguous, intent(out) :: state(:)
    character(:), allocatable, intent(out) :: problem
    type(error_t), allocatable :: error
    nullify (state)
    problem = ''
    if (turn == MISSING) problem = Lacks(checkpointer)//" after step "//Str(step)//": neither '"//Path(checkpointer, record, 0)// &
                                 "' nor '"//Path(checkpointer, record, 1)//"' is of that step"
    if (turn == MISSING) return
    call GetRoom(checkpointer, solver%state_size(position(turn)), state, error)
    if (.not. allocated(error)) &
      call FailFromC(statefile_read(CString(Path(checkpointer, record, turn)), HEAD, size(state, kind=i8), state), error)
    if (allocated(error)) problem = error%message
  end subroutine ReadState

  !> The shot goes on from a state. If that fails, and not by its GPU, its next attempt begins at the first step. `said`:
  !> why a newer state was not used, then a sentence on all.
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
      if (.not. error%device) call CheckpointerDrop(checkpointer, record)
      return
    end if
    if (said /= '') said = '; a state was not used: '//said
    said = 'shot '//Str(record)//' goes on after step '//Str(position%step)//', '//Str(Whole(100*solver%fraction()))//' %'//said
    states%head = solver%fraction()
    states%turn = 1 - turn
    states%since = host_seconds()
  end subroutine TakeUp

end submodule checkpoint_resume
