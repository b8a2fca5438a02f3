!> The workers of a job as the master sees them: who speaks for whom, who was heard when, who is lost, who leaves, who has gone.
module crew_m
  use kinds_m, only: dp
  use lease_m, only: lease_t, LeaseHeard, LeaseNew, LeaseSilence, LeaseSpan, LeaseTick
  implicit none
  private
  public :: crew_t, CrewNew, CrewWorker, CrewHeard, CrewSilent, CrewBeat, CrewLeaves, CrewOverstays, CrewOver, CrewPartners

  integer, parameter, public :: PATIENCE = 5  !< leases that all lost workers are waited for, and a worker waits for the master
  integer, parameter :: BEATS = 4             !< of the master in a lease
  real(dp), parameter :: HURRY = 10.0_dp      !< a worker whose shots are given up goes, or is heard of, within that [s]

  type :: crew_t
    integer :: n = 0                          !< workers
    integer :: group = 1                      !< ranks of a worker
    integer :: ranks = 1                      !< of the job
    type(lease_t) :: lease
    logical, allocatable :: lost(:)           !< taken for lost, (n)
    logical, allocatable :: gone(:)           !< said BYE, (n)
    logical, allocatable :: going(:)          !< told to stop, or may leave before the end: gets no more shots, (n)
    integer, allocatable :: asks(:)           !< READYs not answered, (n)
    real(dp), allocatable :: leaves(:)        !< since when it is about to end [s], -1 = it is not, (n)
    logical, allocatable :: cut(:)            !< its time of grace is over, (n)
    real(dp) :: beat = -1                     !< of the master, the latest [s]
    logical :: quick = .false.                !< grace is at an end for all
  end type crew_t

contains

  pure subroutine CrewNew(crew, n, group, ranks, seconds)
    type(crew_t), intent(out) :: crew
    integer, intent(in) :: n, group, ranks
    real(dp), intent(in) :: seconds           !< lease
    crew%n = n
    crew%group = group
    crew%ranks = ranks
    call LeaseNew(crew%lease, seconds, n)
    allocate (crew%lost(n), crew%gone(n), crew%going(n), crew%cut(n), source=.false.)
    allocate (crew%asks(n), source=0)
    allocate (crew%leaves(n), source=-1.0_dp)
  end subroutine CrewNew

  !> The worker that a rank speaks for, 0 = none.
  pure integer function CrewWorker(crew, rank) result(worker)
    type(crew_t), intent(in) :: crew
    integer, intent(in) :: rank
    worker = 0
    if (rank >= 1 .and. mod(rank - 1, crew%group) == 0) worker = (rank - 1)/crew%group + 1
    if (worker > crew%n) worker = 0
  end function CrewWorker

  !> Ranks that the master talks to: those that speak for workers, and those that have nothing to do.
  pure function CrewPartners(crew) result(ranks)
    type(crew_t), intent(in) :: crew
    integer, allocatable :: ranks(:)
    integer :: r
    ranks = pack([(r, r=1, crew%ranks - 1)], [(CrewWorker(crew, r) > 0 .or. r > crew%n*crew%group, r=1, crew%ranks - 1)])
  end function CrewPartners

  !> A worker said something. `back`: it had been taken for lost, `silence` seconds long.
  pure subroutine CrewHeard(crew, worker, back, silence)
    type(crew_t), intent(inout) :: crew
    integer, intent(in) :: worker
    logical, intent(out) :: back
    real(dp), intent(out) :: silence
    silence = LeaseSilence(crew%lease, worker)
    back = crew%lost(worker)
    crew%lost(worker) = .false.
    call LeaseHeard(crew%lease, worker)
  end subroutine CrewHeard

  !> A worker whose lease has run out, 0 if there is none.
  pure integer function CrewSilent(crew) result(worker)
    type(crew_t), intent(in) :: crew
    do worker = 1, crew%n
      if (.not. crew%lost(worker) .and. LeaseSilence(crew%lease, worker) > LeaseSpan(crew%lease)) return
    end do
    worker = 0
  end function CrewSilent

  !> Whether it is time for the master to say that it is there.
  subroutine CrewBeat(crew, now, due)
    type(crew_t), intent(inout) :: crew
    real(dp), intent(in) :: now
    logical, intent(out) :: due
    call LeaseTick(crew%lease, now)
    due = now - crew%beat > crew%lease%seconds/BEATS .or. crew%beat < 0
    if (due) crew%beat = now
  end subroutine CrewBeat

  !> A worker, or all of them, are to end what they have and go.
  pure subroutine CrewLeaves(crew, now, worker)
    type(crew_t), intent(inout) :: crew
    real(dp), intent(in) :: now
    integer, intent(in), optional :: worker
    if (present(worker)) then
      crew%going(worker) = .true.
      if (crew%leaves(worker) < 0) crew%leaves(worker) = now
    else
      where (crew%leaves < 0) crew%leaves = now
    end if
  end subroutine CrewLeaves

  !> A worker that has been about to go for longer than `grace` seconds, or has not gone after that: it was silent for HURRY
  !> seconds, or has written states for longer than a lease. 0 if there is none.
  pure integer function CrewOverstays(crew, now, grace) result(worker)
    type(crew_t), intent(in) :: crew
    real(dp), intent(in) :: now, grace
    real(dp) :: since
    do worker = 1, crew%n
      if (crew%leaves(worker) < 0 .or. crew%gone(worker) .or. crew%lost(worker)) cycle
      since = now - crew%leaves(worker)
      if (.not. crew%cut(worker)) then
        if (crew%quick .or. since > grace) return
      else if (since > HURRY) then
        if (LeaseSilence(crew%lease, worker) > HURRY .or. since > crew%lease%seconds) return
      end if
    end do
    worker = 0
  end function CrewOverstays

  !> Nobody is left to wait for. Lost workers are waited for a while as long as there is work (`idle`: there is none) and nobody
  !> else is left: what cut them off may pass.
  pure logical function CrewOver(crew, idle) result(over)
    type(crew_t), intent(in) :: crew
    logical, intent(in) :: idle
    integer :: i
    real(dp) :: least
    over = all(crew%gone .or. crew%lost)
    if (.not. over .or. idle .or. all(crew%gone)) return
    least = minval([(LeaseSilence(crew%lease, i), i=1, crew%n)], mask=crew%lost .and. .not. crew%gone)
    over = least > PATIENCE*crew%lease%seconds
  end function CrewOver

end module crew_m
