!> The workers of a job as the master sees them: who speaks for whom, who was heard when, who is lost or dead, who leaves, who has
!> gone. A worker that is lost may come back; one that is dead does not: the process of one of its ranks has ended.
module crew_m
  use kinds_m, only: dp
  use lease_m, only: lease_t, LeaseHeard, LeaseNew, LeaseSilence, LeaseSpan, LeaseTick, PATIENCE
  implicit none
  private
  public :: crew_t, CrewNew, CrewWorker, CrewMember, CrewHeard, CrewSilent, CrewMissed, CrewEnded, CrewDied, CrewBeat, CrewLeaves
  public :: CrewOverstays, CrewOver, CrewPartners

  integer, parameter :: BEATS = 4             !< of the master in a lease
  real(dp), parameter :: HURRY = 10.0_dp      !< a worker whose shots are given up, or done, goes, or is heard of, within that [s]

  type :: crew_t
    integer :: n = 0                          !< workers
    integer :: group = 1                      !< ranks of a worker
    integer :: ranks = 1                      !< of the job
    type(lease_t) :: lease
    logical, allocatable :: lost(:)           !< taken for lost, (n)
    logical, allocatable :: dead(:)           !< for good: one of its ranks is dead, (n)
    logical, allocatable :: ended(:)          !< ranks whose process has ended, (0:ranks-1)
    logical, allocatable :: seen_to(:)        !< and that were named by CrewDied, (0:ranks-1)
    integer, allocatable :: pid(:)            !< number of that process, (0:ranks-1)
    logical :: broken = .false.               !< a rank is dead
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
    allocate (crew%lost(n), crew%dead(n), crew%gone(n), crew%going(n), crew%cut(n), source=.false.)
    allocate (crew%ended(0:ranks - 1), crew%seen_to(0:ranks - 1), source=.false.)
    allocate (crew%pid(0:ranks - 1), source=0)
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

  !> The worker that a rank belongs to, 0 = none.
  pure integer function CrewMember(crew, rank) result(worker)
    type(crew_t), intent(in) :: crew
    integer, intent(in) :: rank
    worker = 0
    if (rank >= 1) worker = (rank - 1)/crew%group + 1
    if (worker > crew%n) worker = 0
  end function CrewMember

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
    back = crew%lost(worker) .and. .not. crew%dead(worker)
    crew%lost(worker) = crew%dead(worker)
    call LeaseHeard(crew%lease, worker)
  end subroutine CrewHeard

  !> The first worker after number `last` that has been silent for so long that it may be missed; 0 if there is none.
  pure integer function CrewSilent(crew, last) result(worker)
    type(crew_t), intent(in) :: crew
    integer, intent(in) :: last
    do worker = last + 1, crew%n
      if (.not. crew%lost(worker) .and. LeaseSilence(crew%lease, worker) > min(HURRY, crew%lease%seconds)) return
    end do
    worker = 0
  end function CrewSilent

  !> Whether a silent worker is taken for lost: its lease has run out, or nobody needs it any more (`idle`). `shot`: see LeaseSpan.
  pure logical function CrewMissed(crew, worker, shot, idle) result(missed)
    type(crew_t), intent(in) :: crew
    integer, intent(in) :: worker
    real(dp), intent(in) :: shot
    logical, intent(in) :: idle
    missed = idle .or. LeaseSilence(crew%lease, worker) > LeaseSpan(crew%lease, worker, shot)
  end function CrewMissed

  !> The process `pid` of a rank has ended; told again it is no news.
  pure subroutine CrewEnded(crew, rank, pid)
    type(crew_t), intent(inout) :: crew
    integer, intent(in) :: rank, pid
    if (rank < 1 .or. rank >= crew%ranks) return
    if (crew%ended(rank)) return
    crew%ended(rank) = .true.
    crew%pid(rank) = pid
  end subroutine CrewEnded

  !> The next rank whose process has ended, 0 if there is none: it is dead from now on, and its worker. Each is named once.
  pure subroutine CrewDied(crew, rank)
    type(crew_t), intent(inout) :: crew
    integer, intent(out) :: rank
    integer :: worker
    rank = findloc(crew%ended .and. .not. crew%seen_to, .true., 1) - 1
    if (rank < 1) rank = 0
    if (rank == 0) return
    crew%seen_to(rank) = .true.
    crew%broken = .true.
    worker = CrewMember(crew, rank)
    if (worker == 0) return
    crew%dead(worker) = .true.
    crew%going(worker) = .true.
  end subroutine CrewDied

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
  !> else is left: what cut them off may pass. The dead are not waited for.
  pure logical function CrewOver(crew, idle) result(over)
    type(crew_t), intent(in) :: crew
    logical, intent(in) :: idle
    integer :: i
    real(dp) :: least
    over = all(crew%gone .or. crew%lost)
    if (.not. over .or. idle .or. all(crew%gone .or. crew%dead)) return
    least = minval([(LeaseSilence(crew%lease, i), i=1, crew%n)], mask=crew%lost .and. .not. (crew%gone .or. crew%dead))
    over = least > PATIENCE*crew%lease%seconds
  end function CrewOver

end module crew_m
