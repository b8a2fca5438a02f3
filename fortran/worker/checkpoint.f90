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
!> This file has the begin and the end; submodules have how a shot goes on from a state (checkpoint_resume.f90), how states are kept
!> (checkpoint_keep.f90), and their files (checkpoint_files.f90). How often they are kept: checkpoint_rule.f90.
module checkpoint_m
  use checkpoint_rule_m, only: checkpoint_t
  use error_m, only: error_t
  use files_m, only: FileExists
  use group_m, only: group_t
  use iso_c_binding, only: c_associated, c_null_ptr, c_ptr
  use kinds_m, only: dp, i8, sp
  use solver_m, only: solver_t
  use statefile_c, only: statefile_busy, statefile_free, statefile_new
  use text_m, only: Str
  implicit none
  private
  public :: checkpointer_t, shot_states_t
  public :: CheckpointerNew, CheckpointerHas, CheckpointerResume, CheckpointerTurn, CheckpointerBusy, CheckpointerDrop
  public :: CheckpointerEnd, CheckpointerDue, CheckpointerSettle

  integer, parameter :: HEAD = 4096                !< bytes of a heading
  character(*), parameter :: FIRST_LINE = 'state of a shot, SplFd2dmod'
  character(*), parameter :: nl = new_line('a')

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

  interface
    ! --- checkpoint_resume.f90

    !> A shot was set up and is about to begin its time loop: it goes on from its newest whole state, if there is one of the very
    !> same shot, of which in a group all ranks have a sound part. `said`: a sentence on that, '' = there was none. Fails where a
    !> state could be read but not taken. Collective over a group.
    module subroutine CheckpointerResume(checkpointer, states, solver, record, said, error)
      type(checkpointer_t), intent(inout) :: checkpointer
      type(shot_states_t), intent(inout) :: states
      class(solver_t), intent(inout) :: solver
      integer, intent(in) :: record
      character(:), allocatable, intent(out) :: said
      type(error_t), allocatable, intent(inout) :: error
    end subroutine CheckpointerResume

    ! --- checkpoint_keep.f90

    !> Between two turns of a shot: keeps its state if it is time, or `at_once`; that is on the disk on return, or, with `wait`
    !> false, on its way. `said`: a sentence for the log, '' = nothing to say. Fails where the field is not sound. Collective over a
    !> group, which cannot go by the clocks of its ranks: `at_once`, when its first rank finds it due.
    module subroutine CheckpointerTurn(checkpointer, states, solver, record, at_once, said, error, wait)
      type(checkpointer_t), intent(inout) :: checkpointer
      type(shot_states_t), intent(inout) :: states
      class(solver_t), intent(inout) :: solver
      integer, intent(in) :: record
      logical, intent(in) :: at_once
      character(:), allocatable, intent(out) :: said
      type(error_t), allocatable, intent(inout) :: error
      logical, intent(in), optional :: wait
    end subroutine CheckpointerTurn

    !> True where so much was computed since the last state that it is time for the next.
    module logical function CheckpointerDue(checkpointer, states, solver) result(due)
      type(checkpointer_t), intent(in) :: checkpointer
      type(shot_states_t), intent(in) :: states
      class(solver_t), intent(in) :: solver
    end function CheckpointerDue

    !> Waits until the state on its way is on the disk. A group learns whether all of its ranks have their parts there: if not, the
    !> next is written in its place, as the one before is the last that is whole. Collective over a group.
    module subroutine CheckpointerSettle(checkpointer, states, record, said, error)
      type(checkpointer_t), intent(inout) :: checkpointer
      type(shot_states_t), intent(inout) :: states
      integer, intent(in) :: record
      character(:), allocatable, intent(inout) :: said
      type(error_t), allocatable, intent(inout) :: error
    end subroutine CheckpointerSettle

    !> Waits until the state on its way, or this rank's part of it, is on the disk.
    module subroutine CheckpointerWait(checkpointer, said)
      type(checkpointer_t), intent(inout) :: checkpointer
      character(:), allocatable, intent(inout) :: said
    end subroutine CheckpointerWait

    ! --- checkpoint_files.f90

    !> No states are kept.
    pure module logical function Off(checkpointer)
      type(checkpointer_t), intent(in) :: checkpointer
    end function Off

    !> The file of a shot's state, turn 0 or 1, or of this rank's part of it.
    pure module function Path(checkpointer, record, turn) result(name)
      type(checkpointer_t), intent(in) :: checkpointer
      integer, intent(in) :: record, turn
      character(:), allocatable :: name
    end function Path

    !> Several ranks have a part each.
    pure module logical function Grouped(checkpointer)
      type(checkpointer_t), intent(in) :: checkpointer
    end function Grouped

    !> Ranks that have a part each of a state.
    pure module integer function Ranks(checkpointer)
      type(checkpointer_t), intent(in) :: checkpointer
    end function Ranks

    !> The sentence of the first rank of the group that has one becomes that of all. Fails where a rank has failed, or is lost.
    module subroutine Tell(checkpointer, text, error)
      type(checkpointer_t), intent(inout) :: checkpointer
      character(:), allocatable, intent(inout) :: text
      type(error_t), allocatable, intent(inout) :: error
    end subroutine Tell

    !> Room for a state, where at most half of what memory is left goes into it: a shot is worth more than its state.
    module subroutine GetRoom(checkpointer, n, state, error)
      type(checkpointer_t), intent(inout) :: checkpointer
      integer(i8), intent(in) :: n
      real(sp), pointer, contiguous, intent(out) :: state(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine GetRoom

    !> Removes the files of a shot, whoever has made them.
    module subroutine Remove(checkpointer, record)
      type(checkpointer_t), intent(in) :: checkpointer
      integer, intent(in) :: record
    end subroutine Remove
  end interface

contains

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

  !> True while a state is on its way to the disk.
  logical function CheckpointerBusy(checkpointer)
    type(checkpointer_t), intent(in) :: checkpointer
    CheckpointerBusy = checkpointer%record /= 0
    if (CheckpointerBusy) CheckpointerBusy = statefile_busy(checkpointer%writer) == 1
  end function CheckpointerBusy

  !> True where there is a state of a shot, or this rank's part of one: CheckpointerResume waits then for one on its way.
  logical function CheckpointerHas(checkpointer, record) result(has)
    type(checkpointer_t), intent(in) :: checkpointer
    integer, intent(in) :: record
    integer :: turn
    has = .false.
    if (Off(checkpointer)) return
    do turn = 0, 1
      if (.not. has) has = FileExists(Path(checkpointer, record, turn))
    end do
  end function CheckpointerHas

  !> The states of a shot, whoever has made them, are of no more use: it is on disk, or what it computed cannot be trusted.
  subroutine CheckpointerDrop(checkpointer, record)
    type(checkpointer_t), intent(inout) :: checkpointer
    integer, intent(in) :: record
    if (Off(checkpointer) .or. .not. checkpointer%seen) return
    call Remove(checkpointer, record)
    if (checkpointer%record == record) checkpointer%unwanted = .true.       ! one that is on its way goes when it has come
  end subroutine CheckpointerDrop

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
