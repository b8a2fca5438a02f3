!> START, from rank 0 to each other rank by itself, so that no rank waits for any but rank 0: one that dies while rank 0 reads the
!> model is missed later.
module scheme_exchange_m
  use checked_m, only: Whole
  use early_beats_m, only: early_beats_t, EarlyBeatsNew, EarlyBeatsStopped
  use lease_m, only: PATIENCE
  use error_m, only: error_t, Fail
  use host_c, only: host_seconds, host_signal
  use kinds_m, only: dp
  use message_check_m, only: MessageProblem
  use physics_m, only: physics_t
  use barrier_m, only: AfterSignal, FellSilent, Rest, StoodStill
  use protocol_m, only: LinkReply, link_t, LinkFlush, message_t, MSG_END, MSG_START, LinkReceive
  use roles_m, only: role_t
  use scheme_m, only: scheme_t
  use scheme_message_m, only: SchemeFrom, SchemeMessage
  use text_m, only: Str
  use master_heartbeat_m, only: heartbeat_t, HeartbeatMasterGone, HeartbeatLook, HeartbeatNew
  implicit none
  private
  public :: SchemeSend, SchemeReceive, PREPARING, SIGNALLED

  !> Rank 0 is taken for dead if it says nothing for so long [s]: it reads files, and one that sends no early heartbeats tells
  !> nothing meanwhile. One that sends them, or that is seen to be stopped, has as long as when it deals (link%patience).
  real(dp), parameter :: PREPARING = 3600.0_dp
  real(dp), parameter :: SIGNALLED = 20.0_dp       !< the same after a signal to end, which most often rank 0 got too

contains

  !> Sends the scheme from rank 0 to all `ranks`, or a `status` other than 0: there is nothing to do.
  subroutine SchemeSend(link, ranks, status, scheme)
    type(link_t), intent(inout) :: link
    integer, intent(in) :: ranks, status
    class(scheme_t), allocatable, intent(in) :: scheme
    type(message_t) :: message
    type(scheme_t) :: none
    integer :: r
    do r = 1, ranks - 1
      message = message_t()
      if (status == 0) call SchemeMessage(status, scheme, message)
      if (status /= 0) call SchemeMessage(status, none, message)
      call LinkReply(link, r, message)
    end do
    if (status /= 0) call LinkFlush(link)
  end subroutine SchemeSend

  !> Receives the scheme on another rank; `master_gone`: rank 0 died before it was sent. Fails where the message can be no scheme of
  !> the physics.
  subroutine SchemeReceive(role, link, physics, status, scheme, master_gone, error)
    type(role_t), intent(inout) :: role
    type(link_t), intent(inout) :: link
    integer, intent(out) :: status
    logical, intent(out) :: master_gone
    class(physics_t), intent(in) :: physics
    class(scheme_t), allocatable, intent(inout) :: scheme
    type(error_t), allocatable, intent(inout) :: error
    type(message_t) :: message
    type(heartbeat_t) :: heartbeat
    type(early_beats_t) :: beats
    character(:), allocatable :: why
    real(dp) :: nap, now, asked               ! asked: when a signal to end was seen first, < 0: none was [s]
    integer :: signal
    logical :: due
    nap = 0
    asked = -1
    status = 0
    call physics%new_scheme(scheme)
    call HeartbeatNew(heartbeat, role, PREPARING/PATIENCE)
    call EarlyBeatsNew(beats, role%world, role%early_beats, link%patience, role%peers)
    do while (.not. LinkReceive(link, message))
      call Rest(nap)
      call HeartbeatLook(heartbeat, due, master_gone)
      now = host_seconds()
      signal = int(host_signal())
      if (asked < 0 .and. signal /= 0) asked = now
      if (master_gone) then
        call HeartbeatMasterGone(heartbeat, link, message)
        exit
      else if (asked >= 0 .and. now - asked > SIGNALLED .and. all(heartbeat%peers%rank /= 0)) then
        call HeartbeatMasterGone(heartbeat, link, message, AfterSignal(SIGNALLED))
        exit
      else if (heartbeat%peers%still > link%patience) then
        call HeartbeatMasterGone(heartbeat, link, message, StoodStill(heartbeat%peers%still), to_all=.true.)
        exit
      else if (EarlyBeatsStopped(beats)) then
        call HeartbeatMasterGone(heartbeat, link, message, FellSilent(link%patience))
        role%master_silent = .true.
        exit
      end if
    end do
    master_gone = message%kind == MSG_END
    if (master_gone) status = Whole(message%n(1), 0, 255)
    if (master_gone) return
    why = MessageProblem(message)
    if (message%kind /= MSG_START) why = 'it is no beginning'
    if (why == '') then
      call SchemeFrom(message, physics, status, scheme, error)
    else
      call Fail(error, 'the first message of rank 0, '//Str(message%kind)//', is not used: '//why// &
                '; all nodes must run the same build')
    end if
  end subroutine SchemeReceive

end module scheme_exchange_m
