!> A rank's watch over the master: it says now and then that it is here, and ends when nothing is heard of the master for long. On
!> the master's machine a rank sees at once that the process is gone, and tells all others. Of other ranks on its machine that are
!> dead it tells the master, if that is on another one.
module master_heartbeat_m
  use checked_m, only: Whole
  use host_c, only: host_seconds
  use kinds_m, only: dp
  use lease_m, only: lease_t, LeaseHeard, LeaseNew, LeaseSilence, LeaseTick, PATIENCE
  use log_m, only: LogError
  use peers_m, only: peers_t, PeersDead, PeersKeep, PeersLook
  use protocol_m, only: Answer, link_t, LinkFlush, message_t, MSG_DEAD, MSG_END, Poll, Rest, Tell
  use roles_m, only: role_t
  use text_m, only: Str
  implicit none
  private
  public :: heartbeat_t, job_end_t, HeartbeatNew, HeartbeatHeard, HeartbeatLook, HeartbeatPeers
  public :: HeartbeatDeserted, HeartbeatEnd, HeartbeatWait

  real(dp), parameter :: BEAT = 1.0_dp        !< seconds between heartbeats, at most

  type :: heartbeat_t
    type(lease_t) :: master
    real(dp) :: every = BEAT, beat = -1       !< seconds between heartbeats; the latest
    type(peers_t) :: peers                    !< ranks on this machine: where the master is one of them, it and this rank's group
    logical, allocatable :: told(:)           !< the master knows that they are dead
    integer :: rank = 0, ranks = 1            !< this one, and how many there are
    logical :: dead = .false.                 !< the master's process is gone: seen here
  end type heartbeat_t

  !> How a rank is told that the job ends.
  type :: job_end_t
    integer :: status = 0                     !< exit status
    logical :: broken = .false.               !< ranks are lost: no collective operation any more
  end type job_end_t

contains

  subroutine HeartbeatNew(heartbeat, role, lease)
    type(heartbeat_t), intent(out) :: heartbeat
    type(role_t), intent(in) :: role
    real(dp), intent(in) :: lease             !< of a worker [s]; the master has PATIENCE of them
    call LeaseNew(heartbeat%master, PATIENCE*lease, 1)
    heartbeat%every = min(BEAT, lease/5)
    heartbeat%peers = role%peers
    if (allocated(heartbeat%peers%rank)) call Narrow(heartbeat, role)
    heartbeat%rank = role%rank
    heartbeat%ranks = role%size
  end subroutine HeartbeatNew

  !> A master on this machine looks at all ranks here itself.
  subroutine Narrow(heartbeat, role)
    type(heartbeat_t), intent(inout) :: heartbeat
    type(role_t), intent(in) :: role
    logical :: wanted(size(heartbeat%peers%rank))
    logical :: here
    integer :: first
    first = role%rank - role%group_rank
    here = any(heartbeat%peers%rank == 0)
    wanted = heartbeat%peers%rank == 0 .or. (heartbeat%peers%rank >= first .and. heartbeat%peers%rank < first + role%group_size)
    if (here) call PeersKeep(heartbeat%peers, wanted)
    allocate (heartbeat%told(size(heartbeat%peers%rank)), source=here)
  end subroutine Narrow

  subroutine HeartbeatHeard(heartbeat)
    type(heartbeat_t), intent(inout) :: heartbeat
    call LeaseHeard(heartbeat%master, 1)
  end subroutine HeartbeatHeard

  !> `due`: a heartbeat; `deserted`: the master is gone.
  subroutine HeartbeatLook(heartbeat, due, deserted)
    type(heartbeat_t), intent(inout) :: heartbeat
    logical, intent(out) :: due, deserted
    real(dp) :: now
    now = host_seconds()
    call LeaseTick(heartbeat%master, now)
    due = now - heartbeat%beat > heartbeat%every
    if (due) heartbeat%beat = now
    call PeersLook(heartbeat%peers, now)
    heartbeat%dead = PeersDead(heartbeat%peers, 0, 0) == 0
    deserted = heartbeat%dead .or. LeaseSilence(heartbeat%master, 1) > heartbeat%master%seconds
  end subroutine HeartbeatLook

  !> Tells the master who is dead on this machine. One on the same machine sees for itself.
  subroutine HeartbeatPeers(heartbeat, link)
    type(heartbeat_t), intent(inout) :: heartbeat
    type(link_t), intent(inout) :: link
    type(message_t) :: message
    integer :: i
    if (.not. allocated(heartbeat%told)) return
    call PeersLook(heartbeat%peers, host_seconds())
    do i = 1, size(heartbeat%told)
      if (heartbeat%told(i) .or. .not. heartbeat%peers%dead(i)) cycle
      heartbeat%told(i) = .true.
      message = message_t(kind=MSG_DEAD)
      message%n(1:2) = [heartbeat%peers%rank(i), heartbeat%peers%pid(i)]
      call Tell(link, message)
    end do
  end subroutine HeartbeatPeers

  !> What a rank makes of END, which it answers where that is waited for; or of being deserted: the message is its own then.
  subroutine HeartbeatEnd(link, message, deserted, ending)
    type(link_t), intent(inout) :: link
    type(message_t), intent(in) :: message
    logical, intent(in) :: deserted
    type(job_end_t), intent(out) :: ending
    type(message_t) :: answer
    ending%status = Whole(message%n(1), 0, 255)
    ending%broken = message%n(2) == 1
    if (deserted .or. message%from > 0 .or. .not. ending%broken) return   ! nobody is there to answer
    answer%kind = MSG_END
    call Tell(link, answer)
    call LinkFlush(link)
  end subroutine HeartbeatEnd

  !> The message of a rank that is deserted, to itself: stopped before the end, and ranks are lost. If it knows for sure, all others
  !> get it too. `reason`: it is another rank that is missed.
  subroutine HeartbeatDeserted(heartbeat, link, message, reason)
    type(heartbeat_t), intent(in) :: heartbeat
    type(link_t), intent(inout) :: link
    type(message_t), intent(inout) :: message
    character(*), intent(in), optional :: reason
    type(message_t) :: copy
    character(:), allocatable :: why
    integer :: r
    if (heartbeat%dead) then
      why = 'rank 0 is dead'
    else if (present(reason)) then
      why = reason
    else
      why = 'nothing was heard of rank 0 for '//Str(heartbeat%master%seconds)//' s: it is taken for dead'
    end if
    call LogError(why//'; this rank ends; run the same command again to continue')
    message%kind = MSG_END
    message%n(1:2) = [3, 1]
    do r = 1, merge(heartbeat%ranks - 1, 0, heartbeat%dead)
      if (r == heartbeat%rank) cycle
      copy = message
      call Answer(link, r, copy)
    end do
  end subroutine HeartbeatDeserted

  !> A rank that has nothing to do waits for the end.
  subroutine HeartbeatWait(role, link, lease, ending)
    type(role_t), intent(in) :: role
    type(link_t), intent(inout) :: link
    real(dp), intent(in) :: lease
    type(job_end_t), intent(out) :: ending
    type(heartbeat_t) :: heartbeat
    type(message_t) :: message
    real(dp) :: nap
    logical :: due, gone
    call HeartbeatNew(heartbeat, role, lease)
    nap = 0
    gone = .false.
    do while (message%kind /= MSG_END)
      if (Poll(link, message)) then
        call HeartbeatHeard(heartbeat)
      else
        call Rest(nap)
        call HeartbeatLook(heartbeat, due, gone)
        if (gone) call HeartbeatDeserted(heartbeat, link, message)
        if (.not. gone) call HeartbeatPeers(heartbeat, link)
      end if
    end do
    call HeartbeatEnd(link, message, gone, ending)
  end subroutine HeartbeatWait

end module master_heartbeat_m
