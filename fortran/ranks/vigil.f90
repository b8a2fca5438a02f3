!> A rank's watch over the master: it says now and then that it is here, and ends when nothing is heard of the master for long. On
!> the master's machine a rank sees at once that the process is gone, and tells all others. Of other ranks on its machine that are
!> dead it tells the master, if that is on another one.
module vigil_m
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
  public :: vigil_t, ending_t, VigilNew, VigilHeard, VigilLook, VigilPeers, VigilDeserted, VigilEnd, VigilWait

  real(dp), parameter :: BEAT = 1.0_dp        !< seconds between heartbeats, at most

  type :: vigil_t
    type(lease_t) :: master
    real(dp) :: every = BEAT, beat = -1       !< seconds between heartbeats; the latest
    type(peers_t) :: peers                    !< ranks on this machine: where the master is one of them, it and this rank's group
    logical, allocatable :: told(:)           !< the master knows that they are dead
    integer :: rank = 0, ranks = 1            !< this one, and how many there are
    logical :: dead = .false.                 !< the master's process is gone: seen here
  end type vigil_t

  !> How a rank is told that the job ends.
  type :: ending_t
    integer :: status = 0                     !< exit status
    logical :: broken = .false.               !< ranks are lost: no collective operation any more
  end type ending_t

contains

  subroutine VigilNew(vigil, role, lease)
    type(vigil_t), intent(out) :: vigil
    type(role_t), intent(in) :: role
    real(dp), intent(in) :: lease             !< of a worker [s]; the master has PATIENCE of them
    call LeaseNew(vigil%master, PATIENCE*lease, 1)
    vigil%every = min(BEAT, lease/5)
    vigil%peers = role%peers
    if (allocated(vigil%peers%rank)) call Narrow(vigil, role)
    vigil%rank = role%rank
    vigil%ranks = role%size
  end subroutine VigilNew

  !> A master on this machine looks at all ranks here itself.
  subroutine Narrow(vigil, role)
    type(vigil_t), intent(inout) :: vigil
    type(role_t), intent(in) :: role
    logical :: wanted(size(vigil%peers%rank))
    logical :: here
    integer :: first
    first = role%rank - role%group_rank
    here = any(vigil%peers%rank == 0)
    wanted = vigil%peers%rank == 0 .or. (vigil%peers%rank >= first .and. vigil%peers%rank < first + role%group_size)
    if (here) call PeersKeep(vigil%peers, wanted)
    allocate (vigil%told(size(vigil%peers%rank)), source=here)
  end subroutine Narrow

  subroutine VigilHeard(vigil)
    type(vigil_t), intent(inout) :: vigil
    call LeaseHeard(vigil%master, 1)
  end subroutine VigilHeard

  !> `due`: a heartbeat; `deserted`: the master is gone.
  subroutine VigilLook(vigil, due, deserted)
    type(vigil_t), intent(inout) :: vigil
    logical, intent(out) :: due, deserted
    real(dp) :: now
    now = host_seconds()
    call LeaseTick(vigil%master, now)
    due = now - vigil%beat > vigil%every
    if (due) vigil%beat = now
    call PeersLook(vigil%peers, now)
    vigil%dead = PeersDead(vigil%peers, 0, 0) == 0
    deserted = vigil%dead .or. LeaseSilence(vigil%master, 1) > vigil%master%seconds
  end subroutine VigilLook

  !> Tells the master who is dead on this machine. One on the same machine sees for itself.
  subroutine VigilPeers(vigil, link)
    type(vigil_t), intent(inout) :: vigil
    type(link_t), intent(inout) :: link
    type(message_t) :: message
    integer :: i
    if (.not. allocated(vigil%told)) return
    call PeersLook(vigil%peers, host_seconds())
    do i = 1, size(vigil%told)
      if (vigil%told(i) .or. .not. vigil%peers%dead(i)) cycle
      vigil%told(i) = .true.
      message = message_t(kind=MSG_DEAD)
      message%n(1:2) = [vigil%peers%rank(i), vigil%peers%pid(i)]
      call Tell(link, message)
    end do
  end subroutine VigilPeers

  !> What a rank makes of END, which it answers where that is waited for; or of being deserted: the letter is its own then.
  subroutine VigilEnd(link, letter, deserted, ending)
    type(link_t), intent(inout) :: link
    type(message_t), intent(in) :: letter
    logical, intent(in) :: deserted
    type(ending_t), intent(out) :: ending
    type(message_t) :: message
    ending%status = Whole(letter%n(1), 0, 255)
    ending%broken = letter%n(2) == 1
    if (deserted .or. letter%from > 0 .or. .not. ending%broken) return   ! nobody is there to answer
    message%kind = MSG_END
    call Tell(link, message)
    call LinkFlush(link)
  end subroutine VigilEnd

  !> The letter of a rank that is deserted, to itself: stopped before the end, and ranks are lost. If it knows for sure, all others
  !> get it too. `reason`: it is another rank that is missed.
  subroutine VigilDeserted(vigil, link, letter, reason)
    type(vigil_t), intent(in) :: vigil
    type(link_t), intent(inout) :: link
    type(message_t), intent(inout) :: letter
    character(*), intent(in), optional :: reason
    type(message_t) :: message
    character(:), allocatable :: why
    integer :: r
    if (vigil%dead) then
      why = 'rank 0 is dead'
    else if (present(reason)) then
      why = reason
    else
      why = 'nothing was heard of rank 0 for '//Str(vigil%master%seconds)//' s: it is taken for dead'
    end if
    call LogError(why//'; this rank ends; run the same command again to continue')
    letter%kind = MSG_END
    letter%n(1:2) = [3, 1]
    do r = 1, merge(vigil%ranks - 1, 0, vigil%dead)
      if (r == vigil%rank) cycle
      message = letter
      call Answer(link, r, message)
    end do
  end subroutine VigilDeserted

  !> A rank that has nothing to do waits for the end.
  subroutine VigilWait(role, link, lease, ending)
    type(role_t), intent(in) :: role
    type(link_t), intent(inout) :: link
    real(dp), intent(in) :: lease
    type(ending_t), intent(out) :: ending
    type(vigil_t) :: vigil
    type(message_t) :: letter
    real(dp) :: nap
    logical :: due, gone
    call VigilNew(vigil, role, lease)
    nap = 0
    gone = .false.
    do while (letter%kind /= MSG_END)
      if (Poll(link, letter)) then
        call VigilHeard(vigil)
      else
        call Rest(nap)
        call VigilLook(vigil, due, gone)
        if (gone) call VigilDeserted(vigil, link, letter)
        if (.not. gone) call VigilPeers(vigil, link)
      end if
    end do
    call VigilEnd(link, letter, gone, ending)
  end subroutine VigilWait

end module vigil_m
