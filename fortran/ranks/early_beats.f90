!> Heartbeats of rank 0 before the first shot. It reads files then, for as long as a disk takes, and does nothing else meanwhile:
!> so a thread of its own sends them. They stop when the process is stopped or its machine is gone, and not while a disk hangs. So
!> other ranks wait for the first, and for the next, no longer than they do later; without, as where MPI is not made for such a
!> thread, nothing tells a rank 0 that reads for long from one that is gone.
module early_beats_m
  use host_c, only: host_seconds
  use iso_c_binding, only: c_funloc, c_int
  use kinds_m, only: dp
  use lease_m, only: lease_t, LeaseHeard, LeaseNew, LeaseSilence, LeaseTick
  use mpi_f08
  use peers_m, only: peers_t
  use ticker_c, only: ticker_begin, ticker_end
  implicit none
  private
  public :: early_beats_t, EarlyBeatsCan, EarlyBeatsBegin, EarlyBeatsEnd, EarlyBeatsNew, EarlyBeatsStopped

  integer, parameter :: TAG_EARLY_BEAT = 2    !< more than that: each time has a tag of its own. Those of protocol.f90 are less
  real(dp), parameter :: BEAT = 1.0_dp        !< seconds between heartbeats, at most
  real(dp), parameter :: BEATS = 4            !< of them in a lease, at least

  !> Heartbeats of rank 0, as another rank hears them.
  type :: early_beats_t
    integer :: tag = TAG_EARLY_BEAT
    type(MPI_Comm) :: world = MPI_COMM_NULL
    type(lease_t) :: lease
    logical :: seen = .false.                 !< the system tells whether rank 0 lives
    logical :: beating = .false.              !< they are to come, and the last one did not
  end type early_beats_t

  ! Of rank 0: the thread has no arguments.
  type(MPI_Comm) :: ranks = MPI_COMM_NULL
  type(MPI_Request), allocatable :: request(:)     !< of the latest heartbeat to each other rank
  integer :: one = 1, last = 0                !< what heartbeats hold, and the last one
  integer :: tag = TAG_EARLY_BEAT             !< of the time that rank 0 is busy now

  integer :: waits = 0                        !< of another rank: how many times it has waited

contains

  !> Rank 0 can send heartbeats: true on all ranks or on none.
  logical function EarlyBeatsCan()
    integer :: provided
    call MPI_Query_thread(provided)
    EarlyBeatsCan = provided >= MPI_THREAD_SERIALIZED
  end function EarlyBeatsCan

  !> Rank 0 sends heartbeats from now on to EarlyBeatsEnd, and calls nothing of MPI meanwhile. `lease`: of a worker [s].
  subroutine EarlyBeatsBegin(world, lease)
    type(MPI_Comm), intent(in) :: world
    real(dp), intent(in) :: lease
    integer :: n
    call MPI_Comm_size(world, n)
    if (n == 1) return
    tag = tag + 1
    if (.not. EarlyBeatsCan()) return
    ranks = world
    if (.not. allocated(request)) allocate (request(n - 1))
    request = MPI_REQUEST_NULL
    if (ticker_begin(c_funloc(EarlyBeat), min(BEAT, lease/BEATS)) == 0) call SendLast()   ! the others wait as if MPI could not
  end subroutine EarlyBeatsBegin

  !> Rank 0 sends the last of them: from now on others keep it waiting, or something else tells that it lives.
  subroutine EarlyBeatsEnd()
    if (ticker_end() /= 0) call SendLast()
  end subroutine EarlyBeatsEnd

  subroutine SendLast()
    integer :: r
    do r = 1, size(request)
      if (request(r) /= MPI_REQUEST_NULL) call MPI_Request_free(request(r))
      call MPI_Isend(last, 1, MPI_INTEGER, r, tag, ranks, request(r))
      call MPI_Request_free(request(r))
    end do
  end subroutine SendLast

  !> A heartbeat to each rank that has the one before.
  integer(c_int) function EarlyBeat() bind(c)
    logical :: gone
    integer :: r
    do r = 1, size(request)
      call MPI_Test(request(r), gone, MPI_STATUS_IGNORE)
      if (gone) call MPI_Isend(one, 1, MPI_INTEGER, r, tag, ranks, request(r))
    end do
    EarlyBeat = 0
  end function EarlyBeat

  !> A rank of `world` that waits for rank 0, at most so many `seconds` for a heartbeat if they are to come: once each time that it
  !> begins with them. Where rank 0 is one of these `peers`, on the same machine, the system tells more.
  subroutine EarlyBeatsNew(beats, world, to_come, seconds, peers)
    type(early_beats_t), intent(out) :: beats
    type(MPI_Comm), intent(in) :: world
    logical, intent(in) :: to_come
    real(dp), intent(in) :: seconds
    type(peers_t), intent(in) :: peers
    waits = waits + 1
    beats%tag = TAG_EARLY_BEAT + waits
    beats%beating = to_come
    beats%world = world
    if (allocated(peers%rank)) beats%seen = any(peers%rank == 0)
    call LeaseNew(beats%lease, seconds, 1)
  end subroutine EarlyBeatsNew

  !> Takes those that have come. True where they were to come, and do so no more without a last one.
  logical function EarlyBeatsStopped(beats) result(stopped)
    type(early_beats_t), intent(inout) :: beats
    logical :: there
    integer :: got
    call LeaseTick(beats%lease, host_seconds())
    do
      call MPI_Iprobe(0, beats%tag, beats%world, there, MPI_STATUS_IGNORE)
      if (.not. there) exit
      call MPI_Recv(got, 1, MPI_INTEGER, 0, beats%tag, beats%world, MPI_STATUS_IGNORE)
      beats%beating = got /= last
      call LeaseHeard(beats%lease, 1)
    end do
    stopped = beats%beating .and. .not. beats%seen .and. LeaseSilence(beats%lease, 1) > beats%lease%seconds
  end function EarlyBeatsStopped

end module early_beats_m
