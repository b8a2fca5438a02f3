!> Ranks that wait, asleep, and what all of them learn together: barriers, texts and numbers of rank 0.
module barrier_m
  use early_beats_m, only: early_beats_t, EarlyBeatsStopped
  use host_c, only: host_nap, host_seconds, host_signal
  use kinds_m, only: dp
  use mpi_f08
  use peers_m, only: peers_t, PeersDead, PeersLook
  use text_m, only: Str
  implicit none
  private
  public :: Rest
  public :: barrier_t, Barrier, BarrierBegin, BarrierOver, AfterSignal, FellSilent, StoodStill
  public :: BroadcastText, BroadcastInteger, LargestInteger

  !> Ranks that wait for each other.
  type :: barrier_t
    type(MPI_Request), private :: request
  end type barrier_t

contains

  !> Sleeps a little longer each time it is called: an idle rank costs nothing. Set `nap` to 0 after some work, and while messages
  !> are on their way: large ones come in parts, each of which waits for the next call of MPI.
  subroutine Rest(nap)
    real(dp), intent(inout) :: nap
    nap = min(max(1.25_dp*nap, 2.0e-5_dp), 1.0e-2_dp)
    call host_nap(nap)
  end subroutine Rest

  !> Waits, asleep, until every rank of `comm` is here: MPI_Barrier would burn a core. With `seconds`: at most so long; with
  !> `peers`: only while all of them live; with `signalled`: at most so long after a signal to end that this rank got, where rank 0
  !> is not among these [s]; with `still`: only until rank 0, which is among these, was stopped for so long [s]; with `beats`: only
  !> until those of rank 0 have stopped. `all_here` tells whether they came, `why` the reason why they did not. If they did not,
  !> `comm` serves for no collective any more.
  subroutine Barrier(comm, seconds, peers, all_here, signalled, still, beats, why)
    type(MPI_Comm), intent(in) :: comm
    real(dp), intent(in), optional :: seconds, signalled, still
    type(peers_t), intent(inout), optional :: peers
    type(early_beats_t), intent(inout), optional :: beats
    logical, intent(out), optional :: all_here
    character(:), allocatable, intent(out), optional :: why
    type(barrier_t) :: mine
    real(dp) :: nap, now, start, asked
    integer :: signal
    start = host_seconds()
    call BarrierBegin(comm, mine)
    nap = 0
    asked = -1
    if (present(all_here)) all_here = .false.
    do while (.not. BarrierOver(mine))
      if (present(seconds)) then
        if (host_seconds() - start > seconds) then
          if (present(why)) why = 'other ranks did not come for '//Str(seconds)//' s'
          return
        end if
      end if
      if (present(beats)) then
        if (EarlyBeatsStopped(beats)) then
          if (present(why)) why = FellSilent(beats%lease%seconds)
          return
        end if
      end if
      if (present(peers)) then
        call PeersLook(peers, host_seconds())
        if (PeersDead(peers) >= 0) then
          if (present(why)) why = 'rank '//Str(PeersDead(peers))//' is dead'
          return
        end if
        now = host_seconds()
        signal = int(host_signal())
        if (asked < 0 .and. signal /= 0) asked = now
        if (present(signalled) .and. asked >= 0 .and. allocated(peers%rank)) then
          if (now - asked > signalled .and. all(peers%rank /= 0)) then
            if (present(why)) why = AfterSignal(signalled)
            return
          end if
        end if
        if (present(still)) then
          if (peers%still > still) then
            if (present(why)) why = StoodStill(peers%still)
            return
          end if
        end if
      end if
      call Rest(nap)
    end do
    if (present(all_here)) all_here = .true.
  end subroutine Barrier

  !> Why a rank waits no longer for rank 0: nothing was heard of it for so long after a signal to end [s].
  function AfterSignal(seconds) result(why)
    real(dp), intent(in) :: seconds
    character(:), allocatable :: why
    why = 'a signal asked this rank to end, and nothing was heard of rank 0 for '//Str(seconds)//' s'
  end function AfterSignal

  !> The same where it was seen to be stopped for so long [s].
  function StoodStill(seconds) result(why)
    real(dp), intent(in) :: seconds
    character(:), allocatable :: why
    why = 'rank 0 has been stopped (SIGSTOP) for '//Str(seconds, 3)//' s'
  end function StoodStill

  !> The same where its heartbeats have stopped, for so long [s].
  function FellSilent(seconds) result(why)
    real(dp), intent(in) :: seconds
    character(:), allocatable :: why
    why = 'rank 0, which was to read its files, is stopped or dead, or its machine is gone: it gave no sign of life for '// &
          Str(seconds)//' s'
  end function FellSilent

  !> The same without waiting: BarrierBegin says that this rank is here, BarrierOver is true once all are, and not called again.
  subroutine BarrierBegin(comm, mine)
    type(MPI_Comm), intent(in) :: comm
    type(barrier_t), intent(out) :: mine
    call MPI_Ibarrier(comm, mine%request)
  end subroutine BarrierBegin

  logical function BarrierOver(mine) result(over)
    type(barrier_t), intent(inout) :: mine
    call MPI_Test(mine%request, over, MPI_STATUS_IGNORE)
  end function BarrierOver

  !> Rank 0's text to all ranks of `comm`.
  subroutine BroadcastText(comm, text)
    type(MPI_Comm), intent(in) :: comm
    character(:), allocatable, intent(inout) :: text
    integer :: n, rank
    call MPI_Comm_rank(comm, rank)
    n = 0
    if (rank == 0) n = len(text)
    call BroadcastInteger(comm, n)
    if (rank /= 0) then
      if (allocated(text)) deallocate (text)
      allocate (character(n) :: text)
    end if
    if (n > 0) call MPI_Bcast(text, n, MPI_CHARACTER, 0, comm)
  end subroutine BroadcastText

  !> Rank 0's integer to all ranks of `comm`; the others wait asleep.
  subroutine BroadcastInteger(comm, i)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(inout) :: i
    call Barrier(comm)
    call MPI_Bcast(i, 1, MPI_INTEGER, 0, comm)
  end subroutine BroadcastInteger

  !> The largest of what the ranks of `comm` have, to all of them.
  subroutine LargestInteger(comm, i)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(inout) :: i
    integer :: largest
    call MPI_Allreduce(i, largest, 1, MPI_INTEGER, MPI_MAX, comm)
    i = largest
  end subroutine LargestInteger

end module barrier_m
