!> The story of a shot, told by the group of ranks that models it.
module worker_m
  use error_m, only: AddContext, error_t, Fail
  use gather_m, only: gather_t
  use host_c, only: host_seconds
  use kinds_m, only: dp, i8
  use letters_m, only: GatherLetter, ShotFrom, SnapsLetter, WindowFrom
  use physics_m, only: SolverNew
  use protocol_m, only: Ask, BroadcastFields, BroadcastInteger, BroadcastReals, Dropped, link_t, message_t, MSG_BYE, MSG_LOST, &
                        MSG_MODEL, MSG_PROGRESS, MSG_READY, MSG_SHOT, MSG_WRITTEN, Tell
  use roles_m, only: role_t
  use scheme_m, only: scheme_t
  use shot_m, only: shot_t
  use solver_m, only: solver_t
  use text_m, only: Str
  use window_m, only: window_t
  implicit none
  private
  public :: WorkerRun

  real(dp), parameter :: BEAT = 1.0_dp        !< seconds between heartbeats

  !> Where this rank is; kept here because the time loop calls back without arguments of ours.
  type :: here_t
    type(role_t) :: role
    type(link_t) :: link
    integer :: record = 0
    integer :: threads = 1                    !< it computes with
    real(dp) :: last_beat = 0
    real(dp) :: compute = 0, wait = 0, io = 0  !< seconds so far
  end type here_t
  type(here_t), save :: here

contains

  !> Models shots until the master says stop. `physics` names the solver.
  subroutine WorkerRun(role, link, physics, scheme, error)
    type(role_t), intent(in) :: role
    type(link_t), intent(in) :: link
    character(*), intent(in) :: physics
    type(scheme_t), intent(in) :: scheme
    type(error_t), allocatable, intent(inout) :: error
    class(solver_t), allocatable :: solver
    type(scheme_t) :: mine
    type(shot_t) :: shot
    type(window_t) :: window
    type(gather_t) :: gather
    logical :: snapshots

    call SolverNew(physics, solver, error)
    if (allocated(error)) return
    here = here_t(role=role, link=link, threads=scheme%threads)
    do while (ShotAsk(shot, snapshots))                              ! a line of the key-map, from the master
      mine = scheme
      if (.not. snapshots) mine%snapshot = 0
      call ModelAsk(shot, window, error)                             ! the piece of earth it sees
      if (.not. allocated(error)) call solver%setup(mine, window, shot, error)
      if (.not. allocated(error)) call Modfd(solver, error)          ! the time loop
      if (.not. allocated(error)) call solver%gather(gather, error)  ! receivers -> traces
      if (.not. allocated(error)) call GatherSend(shot, gather, error)  ! to the I/O server
      call ShotReport(shot, error)                                   ! lost, and why
    end do
    call solver%free()
    call Bye()
  end subroutine WorkerRun

  !> The next shot, known to all ranks of the group; false when there is none.
  logical function ShotAsk(shot, snapshots) result(more)
    type(shot_t), intent(out) :: shot
    logical, intent(out) :: snapshots
    type(message_t) :: message, reply
    real(dp) :: start
    integer :: kind
    start = host_seconds()
    if (here%role%group_rank == 0) then
      message%kind = MSG_READY
      message%n(1:3) = [here%role%worker_id, 0, here%threads]
      message%text = here%role%host
      call Ask(here%link, message, reply)
      do while (Dropped(here%link) > 0)          ! shots that came to their end before this was heard
      end do
    end if
    kind = reply%kind
    if (here%role%group_size > 1) then
      call BroadcastInteger(here%role%group, kind)
      if (kind == MSG_SHOT) call ShareMessage(reply)
    end if
    more = kind == MSG_SHOT
    snapshots = .false.
    if (more) call ShotFrom(reply, shot, snapshots)
    here%record = shot%record
    here%wait = here%wait + host_seconds() - start
  end function ShotAsk

  subroutine ModelAsk(shot, window, error)
    type(shot_t), intent(in) :: shot
    type(window_t), intent(out) :: window
    type(error_t), allocatable, intent(inout) :: error
    type(message_t) :: message, reply
    real(dp) :: start
    integer :: kind
    start = host_seconds()
    if (here%role%group_rank == 0) then
      message%kind = MSG_MODEL
      message%n(1:2) = [shot%record, shot%slot]
      call Ask(here%link, message, reply)
    end if
    kind = reply%kind
    if (here%role%group_size > 1) then
      call BroadcastInteger(here%role%group, kind)
      if (kind == MSG_MODEL) call ShareMessage(reply)
    end if
    if (kind == MSG_MODEL) then
      call WindowFrom(reply, window)
    else
      call Fail(error, 'no model window: '//reply%text)
    end if
    here%io = here%io + host_seconds() - start
  end subroutine ModelAsk

  subroutine Modfd(solver, error)
    class(solver_t), intent(inout) :: solver
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: start
    start = host_seconds()
    here%last_beat = start
    call solver%modfd(Heartbeat, error)
    here%compute = here%compute + host_seconds() - start
  end subroutine Modfd

  !> Tells the master now and then how far the shot is, and hears whether another worker has taken it over; one that is ready is
  !> delivered all the same, it may be the first. A group of several ranks would have to stop at the same step: it goes on, and
  !> the master does without its answer.
  subroutine Heartbeat(fraction, stop)
    real(dp), intent(in) :: fraction
    logical, intent(inout) :: stop
    type(message_t) :: message
    integer :: record
    stop = .false.
    if (here%role%group_rank /= 0) return
    do
      record = Dropped(here%link)
      if (record == 0) exit
      stop = stop .or. (record == here%record .and. fraction < 1 .and. here%role%group_size == 1)
    end do
    if (host_seconds() - here%last_beat < BEAT) return
    here%last_beat = host_seconds()
    message%kind = MSG_PROGRESS
    message%n(1:2) = [here%role%worker_id, here%record]
    message%x(1) = fraction
    call Tell(here%link, message)
  end subroutine Heartbeat

  !> The gather goes home; back when it is on disk.
  subroutine GatherSend(shot, gather, error)
    type(shot_t), intent(in) :: shot
    type(gather_t), intent(inout) :: gather
    type(error_t), allocatable, intent(inout) :: error
    type(message_t) :: message
    real(dp) :: start
    if (here%role%group_rank /= 0) return
    start = host_seconds()
    gather%record = shot%record
    gather%slot = shot%slot
    gather%device = here%role%processor
    if (gather%nsnap > 0) then
      call SnapsLetter(gather, message)
      call Deliver(message, error)
    end if
    call GatherLetter(gather, message)
    if (.not. allocated(error)) call Deliver(message, error)
    here%io = here%io + host_seconds() - start
  end subroutine GatherSend

  subroutine Deliver(message, error)
    type(message_t), intent(inout) :: message
    type(error_t), allocatable, intent(inout) :: error
    type(message_t) :: reply
    message%n(12) = here%role%worker_id
    call Ask(here%link, message, reply)
    if (reply%kind /= MSG_WRITTEN) call Fail(error, 'the I/O server could not write: '//reply%text)
  end subroutine Deliver

  !> A lost shot is reported with its cause; the next one gets a clean start.
  subroutine ShotReport(shot, error)
    type(shot_t), intent(in) :: shot
    type(error_t), allocatable, intent(inout) :: error
    type(message_t) :: message
    if (.not. allocated(error)) return
    if (here%role%group_rank == 0) then
      message%kind = MSG_LOST
      message%n(1:2) = [shot%record, shot%slot]
      message%n(12) = here%role%worker_id
      message%text = error%message
      call Tell(here%link, message)
    end if
    deallocate (error)
  end subroutine ShotReport

  subroutine Bye()
    type(message_t) :: message
    if (here%role%group_rank /= 0) return
    message%kind = MSG_BYE
    message%n(1) = here%role%worker_id
    message%x(1:3) = [here%compute, here%wait, here%io]
    call Tell(here%link, message)
  end subroutine Bye

  !> The group's rank 0 shares what the master said with the others.
  subroutine ShareMessage(message)
    type(message_t), intent(inout) :: message
    integer :: n(2)
    integer :: i
    real(dp) :: numbers(2*size(message%n))
    n = 0
    if (allocated(message%places)) n(1) = size(message%places)
    if (allocated(message%fields)) n(2) = size(message%fields)
    do i = 1, 2
      call BroadcastInteger(here%role%group, n(i))
    end do
    numbers = [real(message%n, dp), message%x]
    call BroadcastReals(here%role%group, numbers)
    message%n = nint(numbers(:size(message%n)), i8)
    message%x = numbers(size(message%n) + 1:)
    if (.not. allocated(message%places)) allocate (message%places(n(1)))
    if (.not. allocated(message%fields)) allocate (message%fields(n(2)))
    call BroadcastReals(here%role%group, message%places)
    call BroadcastFields(here%role%group, message%fields)
  end subroutine ShareMessage

end module worker_m
