!> The other processes of a job on this machine, and which of them are dead. MPI does not tell that a rank has died; the system
!> does, at once. Processes that cannot be seen from here, on other machines or in other process spaces, are not among them.
!>
!> A peer is taken for dead when two looks one after the other find that its process has ended: what it said before is here by then.
module peers_m
  use kinds_m, only: dp
  use host_c, only: host_nap, host_seconds
  use lock_c, only: lock_alive, lock_kill, lock_stopped
  use text_m, only: CString
  implicit none
  private
  public :: peers_t, PeersNew, PeersKeep, PeersLook, PeersDead, PeersEnded, PeersAwait, PeersPart

  integer, parameter, public :: PROCESS_NAME = 256 !< characters that name a process, as lock_self gives them
  real(dp), parameter :: EVERY = 0.5_dp       !< seconds between two looks
  real(dp), parameter :: GAP = 2.0_dp         !< between two looks, at most: longer this rank stood still itself, or was busy [s]

  type :: peers_t
    integer, allocatable :: rank(:)           !< their ranks, rising
    character(PROCESS_NAME), allocatable :: process(:)
    integer, allocatable :: pid(:)            !< numbers of their processes
    logical, allocatable :: ended(:)          !< the process had ended at the latest look
    logical, allocatable :: dead(:)           !< it had ended at the look before, too
    real(dp) :: looked = -1                   !< latest look [s]
    logical :: stopped = .false.              !< rank 0 was stopped at the latest look, as by SIGSTOP
    real(dp) :: still = 0                     !< for so long it has been seen to be [s]
  end type peers_t

contains

  !> The peers of rank `mine` among the ranks 0 .. size - 1, whose processes are these.
  subroutine PeersNew(peers, process, mine)
    type(peers_t), intent(out) :: peers
    character(PROCESS_NAME), intent(in) :: process(0:)
    integer, intent(in) :: mine
    integer :: r
    logical :: seen(0:size(process) - 1)
    do r = 0, size(process) - 1
      seen(r) = lock_alive(CString(trim(process(r)))) == 1
    end do
    seen(mine) = .false.
    peers%rank = pack([(r, r=0, size(process) - 1)], seen)
    peers%process = pack(process, seen)
    peers%pid = [(ProcessNumber(peers%process(r)), r=1, size(peers%rank))]
    allocate (peers%ended(size(peers%rank)), peers%dead(size(peers%rank)), source=.false.)
  end subroutine PeersNew

  !> Keeps some of the peers; the others are not watched any more.
  subroutine PeersKeep(peers, wanted)
    type(peers_t), intent(inout) :: peers
    logical, intent(in) :: wanted(:)
    peers%rank = pack(peers%rank, wanted)
    peers%process = pack(peers%process, wanted)
    peers%pid = pack(peers%pid, wanted)
    peers%ended = pack(peers%ended, wanted)
    peers%dead = pack(peers%dead, wanted)
  end subroutine PeersKeep

  !> Finds dead peers, and how long rank 0 stands still, though not more often than twice a second. `now`: of any clock that never
  !> jumps [s].
  subroutine PeersLook(peers, now)
    type(peers_t), intent(inout) :: peers
    real(dp), intent(in) :: now
    real(dp) :: since
    integer :: i
    if (.not. allocated(peers%rank)) return
    if (peers%looked >= 0 .and. now - peers%looked < EVERY) return
    since = merge(min(GAP, now - peers%looked), 0.0_dp, peers%looked >= 0)
    peers%looked = now
    do i = 1, size(peers%rank)
      peers%dead(i) = peers%ended(i)
      if (.not. peers%dead(i)) peers%ended(i) = lock_alive(CString(trim(peers%process(i)))) == 0
      if (peers%rank(i) /= 0) cycle
      peers%stopped = lock_stopped(CString(trim(peers%process(i)))) == 1
      peers%still = merge(peers%still + since, 0.0_dp, peers%stopped)
    end do
  end subroutine PeersLook

  !> The first of `ranks`, or of all, that was seen to be dead, -1 if none was.
  pure integer function PeersDead(peers, ranks) result(rank)
    type(peers_t), intent(in) :: peers
    integer, intent(in), optional :: ranks(:)
    integer :: i
    rank = -1
    if (.not. allocated(peers%rank)) return
    do i = size(peers%rank), 1, -1
      if (.not. peers%dead(i)) cycle
      if (present(ranks)) then
        if (.not. any(ranks == peers%rank(i))) cycle
      end if
      rank = peers%rank(i)
    end do
  end function PeersDead

  !> The process of one of `ranks` has ended: the next look says that it is dead.
  pure logical function PeersEnded(peers, ranks) result(ended)
    type(peers_t), intent(in) :: peers
    integer, intent(in) :: ranks(:)
    integer :: i
    ended = .false.
    if (allocated(peers%rank)) ended = any([(peers%ended(i) .and. any(ranks == peers%rank(i)), i=1, size(peers%rank))])
  end function PeersEnded

  !> Waits until this rank is seen to be dead, for `patience` seconds at most [s].
  subroutine PeersAwait(peers, rank, patience)
    type(peers_t), intent(inout) :: peers
    integer, intent(in) :: rank
    real(dp), intent(in) :: patience
    real(dp) :: start
    start = host_seconds()
    do while (host_seconds() - start < patience)
      if (PeersDead(peers, [rank]) == rank) exit
      call host_nap(0.1_dp*EVERY)
      call PeersLook(peers, host_seconds())
    end do
  end subroutine PeersAwait

  !> Waits until all peers have ended, for `patience` seconds at most [s], and kills those that have not: `killed`, rising.
  subroutine PeersPart(peers, patience, killed)
    type(peers_t), intent(inout) :: peers
    real(dp), intent(in) :: patience
    integer, allocatable, intent(out) :: killed(:)
    real(dp) :: start
    integer :: i
    allocate (killed(0))
    if (.not. allocated(peers%rank)) return
    start = host_seconds()
    do
      call PeersLook(peers, host_seconds())
      if (all(peers%ended)) return
      if (host_seconds() - start > patience) exit
      call host_nap(0.1_dp*EVERY)
    end do
    killed = pack(peers%rank, [(lock_kill(CString(trim(peers%process(i)))) == 1, i=1, size(peers%rank))])
  end subroutine PeersPart

  !> The number in 'pid=4711 ...', 0 if there is none.
  pure integer function ProcessNumber(process) result(pid)
    character(*), intent(in) :: process
    integer :: at, fault
    pid = 0
    at = index(process, 'pid=')
    if (at == 0) return
    read (process(at + 4:at + 3 + scan(process(at + 4:)//' ', ' ')), *, iostat=fault) pid
    if (fault /= 0) pid = 0
  end function ProcessNumber

end module peers_m
