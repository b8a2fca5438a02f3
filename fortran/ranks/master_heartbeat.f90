!> Heartbeats between a rank and the master: the rank sends its own, and ends when the master was silent for too long. On the
!> master's machine a rank sees at once that its process has ended, and tells all others. A rank reports dead ranks of its machine
!> to a master on another machine.
module master_heartbeat_m
  use checked_m, only: Whole
  use host_c, only: host_seconds
  use kinds_m, only: dp
  use lease_m, only: lease_t, LeaseHeard, LeaseNew, LeaseSilence, LeaseTick, PATIENCE
  use log_m, only: LogError
  use peers_m, only: peers_t, PeersDead, PeersKeep, PeersLook
  use barrier_m, only: Rest
  use protocol_m, only: LinkReply, link_t, LinkFlush, message_t, MSG_DEAD, MSG_END, LinkReceive, LinkSend
  use roles_m, only: role_t
  use text_m, only: Str
  implicit none
  private
  public :: heartbeat_t, job_end_t, HeartbeatNew, HeartbeatHeard, HeartbeatLook, HeartbeatPeers
  public :: HeartbeatMasterGone, HeartbeatEnd, HeartbeatWait

  real(dp), parameter :: BEAT = 1.0_dp        !< seconds between heartbeats, at most

  type :: heartbeat_t
    type(lease_t) :: master
    real(dp) :: every = BEAT, beat = -1       !< seconds between heartbeats; time of the latest [s]
    type(peers_t) :: peers                    !< ranks on this machine: where the master is one of them, it and this rank's group
    logical, allocatable :: reported(:)       !< peers that the master was told are dead
    integer :: rank = 0, ranks = 1            !< this rank, and how many there are
    logical :: master_dead = .false.          !< the master's process has ended, as seen on its machine
  end type heartbeat_t

  !> The content of END.
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

  !> A master on this machine looks at all of its ranks itself.
  subroutine Narrow(heartbeat, role)
    type(heartbeat_t), intent(inout) :: heartbeat
    type(role_t), intent(in) :: role
    logical :: wanted(size(heartbeat%peers%rank))
    logical :: here
    integer :: i
    here = any(heartbeat%peers%rank == 0)
    wanted = heartbeat%peers%rank == 0 .or. [(any(role%ranks == heartbeat%peers%rank(i)), i=1, size(wanted))]
    if (here) call PeersKeep(heartbeat%peers, wanted)
    allocate (heartbeat%reported(size(heartbeat%peers%rank)), source=here)
  end subroutine Narrow

  subroutine HeartbeatHeard(heartbeat)
    type(heartbeat_t), intent(inout) :: heartbeat
    call LeaseHeard(heartbeat%master, 1)
  end subroutine HeartbeatHeard

  !> `due`: it is time for a heartbeat; `master_gone`: its process has ended, or it was silent for too long.
  subroutine HeartbeatLook(heartbeat, due, master_gone)
    type(heartbeat_t), intent(inout) :: heartbeat
    logical, intent(out) :: due, master_gone
    real(dp) :: now
    now = host_seconds()
    call LeaseTick(heartbeat%master, now)
    due = now - heartbeat%beat > heartbeat%every
    if (due) heartbeat%beat = now
    call PeersLook(heartbeat%peers, now)
    heartbeat%master_dead = PeersDead(heartbeat%peers, [0]) == 0
    master_gone = heartbeat%master_dead .or. LeaseSilence(heartbeat%master, 1) > heartbeat%master%seconds
  end subroutine HeartbeatLook

  !> Reports the dead ranks of this machine to the master. A master on the same machine sees for itself.
  subroutine HeartbeatPeers(heartbeat, link)
    type(heartbeat_t), intent(inout) :: heartbeat
    type(link_t), intent(inout) :: link
    type(message_t) :: message
    integer :: i
    if (.not. allocated(heartbeat%reported)) return
    call PeersLook(heartbeat%peers, host_seconds())
    do i = 1, size(heartbeat%reported)
      if (heartbeat%reported(i) .or. .not. heartbeat%peers%dead(i)) cycle
      heartbeat%reported(i) = .true.
      message = message_t(kind=MSG_DEAD)
      message%n(1:2) = [heartbeat%peers%rank(i), heartbeat%peers%pid(i)]
      call LinkSend(link, message)
    end do
  end subroutine HeartbeatPeers

  !> Takes END, and replies where rank 0 waits for that. `master_gone`: the message is the rank's own.
  subroutine HeartbeatEnd(link, message, master_gone, job_end)
    type(link_t), intent(inout) :: link
    type(message_t), intent(in) :: message
    logical, intent(in) :: master_gone
    type(job_end_t), intent(out) :: job_end
    type(message_t) :: reply
    job_end%status = Whole(message%n(1), 0, 255)
    job_end%broken = message%n(2) == 1
    if (master_gone .or. message%from > 0 .or. .not. job_end%broken) return   ! no reply is waited for
    reply%kind = MSG_END
    call LinkSend(link, reply)
    call LinkFlush(link)
  end subroutine HeartbeatEnd

  !> Makes the END of a rank whose master is gone: stopped before the end, and ranks are lost. Where the master is surely dead, all
  !> others get it too. `reason`: another rank is missing instead, or `to_all`, for all others too, nothing is to be expected of it.
  subroutine HeartbeatMasterGone(heartbeat, link, message, reason, to_all)
    type(heartbeat_t), intent(in) :: heartbeat
    type(link_t), intent(inout) :: link
    type(message_t), intent(inout) :: message
    character(*), intent(in), optional :: reason
    logical, intent(in), optional :: to_all
    type(message_t) :: copy
    character(:), allocatable :: why
    logical :: all
    integer :: r
    all = heartbeat%master_dead
    if (present(to_all)) all = all .or. to_all
    if (heartbeat%master_dead) then
      why = 'rank 0 is dead'
    else if (present(reason)) then
      why = reason
    else
      why = 'nothing was heard of rank 0 for '//Str(heartbeat%master%seconds)//' s: it is taken for dead'
    end if
    call LogError(why//'; this rank ends; run the same command again to continue')
    message%kind = MSG_END
    message%n(1:2) = [3, 1]
    do r = 1, merge(heartbeat%ranks - 1, 0, all)
      if (r == heartbeat%rank) cycle
      copy = message
      call LinkReply(link, r, copy)
    end do
  end subroutine HeartbeatMasterGone

  !> A rank that has nothing to do waits for the end.
  subroutine HeartbeatWait(role, link, lease, job_end)
    type(role_t), intent(in) :: role
    type(link_t), intent(inout) :: link
    real(dp), intent(in) :: lease
    type(job_end_t), intent(out) :: job_end
    type(heartbeat_t) :: heartbeat
    type(message_t) :: message
    real(dp) :: nap
    logical :: due, gone
    call HeartbeatNew(heartbeat, role, lease)
    nap = 0
    gone = .false.
    do while (message%kind /= MSG_END)
      if (LinkReceive(link, message)) then
        call HeartbeatHeard(heartbeat)
      else
        call Rest(nap)
        call HeartbeatLook(heartbeat, due, gone)
        if (gone) call HeartbeatMasterGone(heartbeat, link, message)
        if (.not. gone) call HeartbeatPeers(heartbeat, link)
      end if
    end do
    call HeartbeatEnd(link, message, gone, job_end)
  end subroutine HeartbeatWait

end module master_heartbeat_m
