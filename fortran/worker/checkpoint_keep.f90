!> Keeps states: when one is due, how it is taken, and that it is on the disk. Arguments stand in checkpoint.f90.
submodule(checkpoint_m) checkpoint_keep
  use checkpoint_rule_m, only: CheckpointEvery
  use error_m, only: FailFromC
  use host_c, only: host_seconds
  use iso_c_binding, only: c_char, c_double
  use solver_m, only: time_position_t
  use statefile_c, only: statefile_folder, statefile_wait, statefile_write
  use text_m, only: CString
  implicit none

contains

  module procedure CheckpointerTurn
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
  end procedure CheckpointerTurn

  module procedure CheckpointerDue
    real(dp) :: spent
    due = .false.
    if (Off(checkpointer)) return
    spent = host_seconds() - states%since
    due = spent >= Interval(checkpointer, solver)
  end procedure CheckpointerDue

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
    type(error_t), allocatable :: problem
    real(sp), pointer, contiguous :: state(:)
    character(kind=c_char, len=HEAD) :: text
    character(:), allocatable :: why
    type(time_position_t) :: position
    real(dp) :: from
    from = host_seconds()
    if (.not. allocated(states%identity)) states%identity = solver%state_identity()
    if (states%identity == '') return
    position = solver%time_position()
    call GetRoom(checkpointer, solver%state_size(position), state, problem)
    if (.not. allocated(problem)) call FailFromC(statefile_folder(CString(checkpointer%rule%folder)), problem)
    if (.not. allocated(problem)) then
      call solver%save(state, error)
      if (allocated(error)) return
      text = FIRST_LINE//nl//'shot '//Str(record)//nl//'step '//Str(position%step)//nl//'films '//Str(position%films)//nl// &
             'seconds '//Str(position%seconds)//nl//nl//states%identity//nl
      text(HEAD:) = nl
      call FailFromC(statefile_write(checkpointer%writer, CString(Path(checkpointer, record, states%turn)), HEAD, text, &
                                     size(state, kind=i8)), problem)
    end if
    states%since = host_seconds()
    checkpointer%seen = .true.
    why = ''
    if (allocated(problem)) then
      why = problem%message
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

  module procedure CheckpointerSettle
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
  end procedure CheckpointerSettle

  module procedure CheckpointerWait
    character(:), allocatable :: why
    logical :: written
    integer :: record
    record = checkpointer%record
    call Finish(checkpointer, why, written)
    if (written) checkpointer%warned = .false.
    if (why /= '') call Complain(checkpointer, record, why, said)
  end procedure CheckpointerWait

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

end submodule checkpoint_keep
