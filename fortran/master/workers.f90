!> The workers of a job as the master sees them: their ranks, when they last sent something, which are lost, dead, leaving or gone.
!> A worker that is lost may come back; one that is dead does not: the process of one of its ranks has ended.
module workers_m
  use grouping_m, only: GroupingRanks
  use kinds_m, only: dp
  use lease_m, only: lease_t, LeaseHeard, LeaseNew, LeaseSilence, LeaseSpan, LeaseTick, PATIENCE
  implicit none
  private
  public :: workers_t, WorkersNew, WorkersBySpeaker, WorkersByRank, WorkersHeard, WorkersSilent, WorkersMissed, WorkersEnded
  public :: WorkersDied, WorkersBeat, WorkersLeaves, WorkersOverstays, WorkersOver, WorkersPartners, WorkersRanks

  integer, parameter :: BEATS = 4             !< heartbeats of the master in a lease
  real(dp), parameter :: HURRY = 10.0_dp      !< a worker whose shots are given up, or done, goes, or is heard of, within that [s]

  type :: workers_t
    integer :: n = 0                          !< workers
    integer :: ranks = 1                      !< ranks of the job
    integer, allocatable :: worker(:)         !< the worker that each rank belongs to, 0 = none, (0:ranks-1)
    integer, allocatable :: speaker(:)        !< the rank that speaks for each, (n)
    type(lease_t) :: lease
    logical, allocatable :: lost(:)           !< taken for lost, (n)
    logical, allocatable :: dead(:)           !< lost for good: one of its ranks is dead, (n)
    logical, allocatable :: ended(:)          !< ranks whose process has ended, (0:ranks-1)
    logical, allocatable :: named(:)          !< ranks that WorkersDied has named as ended, (0:ranks-1)
    integer, allocatable :: pid(:)            !< number of that process, (0:ranks-1)
    logical :: broken = .false.               !< a rank is dead
    logical, allocatable :: gone(:)           !< it sent BYE, (n)
    logical, allocatable :: going(:)          !< it got STOP, or may leave before the end: it gets no more shots, (n)
    integer, allocatable :: unanswered(:)     !< READYs without a reply, (n)
    real(dp), allocatable :: leaves(:)        !< since when it is about to end [s], -1 = it is not, (n)
    logical, allocatable :: grace_over(:)     !< its time of grace is over, (n)
    real(dp) :: beat = -1                     !< when the master's latest heartbeat was sent [s]
    logical :: grace_ended = .false.          !< the time of grace is over for all
  end type workers_t

contains

  !> worker(r): the worker that rank r belongs to, 0 = none.
  pure subroutine WorkersNew(workers, worker, seconds)
    type(workers_t), intent(out) :: workers
    integer, intent(in) :: worker(0:)
    real(dp), intent(in) :: seconds           !< lease
    integer :: n, ranks, i
    n = maxval(worker)
    ranks = size(worker)
    workers%n = n
    workers%ranks = ranks
    allocate (workers%worker(0:ranks - 1), source=worker)
    allocate (workers%speaker, source=[(findloc(worker, i, 1) - 1, i=1, n)])
    call LeaseNew(workers%lease, seconds, n)
    allocate (workers%lost(n), workers%dead(n), workers%gone(n), workers%going(n), workers%grace_over(n), source=.false.)
    allocate (workers%ended(0:ranks - 1), workers%named(0:ranks - 1), source=.false.)
    allocate (workers%pid(0:ranks - 1), source=0)
    allocate (workers%unanswered(n), source=0)
    allocate (workers%leaves(n), source=-1.0_dp)
  end subroutine WorkersNew

  !> The worker that a rank speaks for, 0 = none.
  pure integer function WorkersBySpeaker(workers, rank) result(worker)
    type(workers_t), intent(in) :: workers
    integer, intent(in) :: rank
    worker = WorkersByRank(workers, rank)
    if (worker == 0) return
    if (workers%speaker(worker) /= rank) worker = 0
  end function WorkersBySpeaker

  !> The worker that a rank belongs to, 0 = none.
  pure integer function WorkersByRank(workers, rank) result(worker)
    type(workers_t), intent(in) :: workers
    integer, intent(in) :: rank
    worker = 0
    if (rank >= 1 .and. rank < workers%ranks) worker = workers%worker(rank)
  end function WorkersByRank

  !> The ranks of a worker.
  pure function WorkersRanks(workers, worker) result(ranks)
    type(workers_t), intent(in) :: workers
    integer, intent(in) :: worker
    integer, allocatable :: ranks(:)
    ranks = GroupingRanks(workers%worker, worker)
  end function WorkersRanks

  !> Ranks that the master sends messages to: those that speak for workers, and those that have nothing to do.
  pure function WorkersPartners(workers) result(ranks)
    type(workers_t), intent(in) :: workers
    integer, allocatable :: ranks(:)
    integer :: r
    ranks = pack([(r, r=1, workers%ranks - 1)], &
                 [(WorkersBySpeaker(workers, r) > 0 .or. WorkersByRank(workers, r) == 0, r=1, workers%ranks - 1)])
  end function WorkersPartners

  !> A message of a worker came. `back`: it had been taken for lost, `silence` seconds long.
  pure subroutine WorkersHeard(workers, worker, back, silence)
    type(workers_t), intent(inout) :: workers
    integer, intent(in) :: worker
    logical, intent(out) :: back
    real(dp), intent(out) :: silence
    silence = LeaseSilence(workers%lease, worker)
    back = workers%lost(worker) .and. .not. workers%dead(worker)
    workers%lost(worker) = workers%dead(worker)
    call LeaseHeard(workers%lease, worker)
  end subroutine WorkersHeard

  !> The first worker after number `last` that has been silent for so long that it may be missed; 0 if there is none.
  pure integer function WorkersSilent(workers, last) result(worker)
    type(workers_t), intent(in) :: workers
    integer, intent(in) :: last
    do worker = last + 1, workers%n
      if (.not. workers%lost(worker) .and. LeaseSilence(workers%lease, worker) > min(HURRY, workers%lease%seconds)) return
    end do
    worker = 0
  end function WorkersSilent

  !> A silent worker is taken for lost: its lease has run out, or it is not needed any more (`idle`). `shot`: see LeaseSpan.
  pure logical function WorkersMissed(workers, worker, shot, idle) result(missed)
    type(workers_t), intent(in) :: workers
    integer, intent(in) :: worker
    real(dp), intent(in) :: shot
    logical, intent(in) :: idle
    missed = idle .or. LeaseSilence(workers%lease, worker) > LeaseSpan(workers%lease, worker, shot)
  end function WorkersMissed

  !> The process `pid` of a rank has ended. A second call for the same rank changes nothing.
  pure subroutine WorkersEnded(workers, rank, pid)
    type(workers_t), intent(inout) :: workers
    integer, intent(in) :: rank, pid
    if (rank < 1 .or. rank >= workers%ranks) return
    if (workers%ended(rank)) return
    workers%ended(rank) = .true.
    workers%pid(rank) = pid
  end subroutine WorkersEnded

  !> The next rank whose process has ended, 0 if there is none: it is dead from now on, and its worker. Each is named once.
  pure subroutine WorkersDied(workers, rank)
    type(workers_t), intent(inout) :: workers
    integer, intent(out) :: rank
    integer :: worker
    rank = findloc(workers%ended .and. .not. workers%named, .true., 1) - 1
    if (rank < 1) rank = 0
    if (rank == 0) return
    workers%named(rank) = .true.
    workers%broken = .true.
    worker = WorkersByRank(workers, rank)
    if (worker == 0) return
    workers%dead(worker) = .true.
    workers%going(worker) = .true.
  end subroutine WorkersDied

  !> `due`: it is time for the master's heartbeat.
  subroutine WorkersBeat(workers, now, due)
    type(workers_t), intent(inout) :: workers
    real(dp), intent(in) :: now
    logical, intent(out) :: due
    call LeaseTick(workers%lease, now)
    due = now - workers%beat > workers%lease%seconds/BEATS .or. workers%beat < 0
    if (due) workers%beat = now
  end subroutine WorkersBeat

  !> A worker, or each, is to end its shots and go.
  pure subroutine WorkersLeaves(workers, now, worker)
    type(workers_t), intent(inout) :: workers
    real(dp), intent(in) :: now
    integer, intent(in), optional :: worker
    if (present(worker)) then
      workers%going(worker) = .true.
      if (workers%leaves(worker) < 0) workers%leaves(worker) = now
    else
      where (workers%leaves < 0) workers%leaves = now
    end if
  end subroutine WorkersLeaves

  !> A worker that has been about to go for longer than `grace` seconds, or has not gone after that: it was silent for HURRY
  !> seconds, or has written states for longer than a lease. 0 if there is none.
  pure integer function WorkersOverstays(workers, now, grace) result(worker)
    type(workers_t), intent(in) :: workers
    real(dp), intent(in) :: now, grace
    real(dp) :: since
    do worker = 1, workers%n
      if (workers%leaves(worker) < 0 .or. workers%gone(worker) .or. workers%lost(worker)) cycle
      since = now - workers%leaves(worker)
      if (.not. workers%grace_over(worker)) then
        if (workers%grace_ended .or. since > grace) return
      else if (since > HURRY) then
        if (LeaseSilence(workers%lease, worker) > HURRY .or. since > workers%lease%seconds) return
      end if
    end do
    worker = 0
  end function WorkersOverstays

  !> No worker is left to wait for. Lost workers are waited for a while as long as there is work (`idle`: there is none) and no
  !> other is left: what cut them off may pass. Dead ones are not waited for.
  pure logical function WorkersOver(workers, idle) result(over)
    type(workers_t), intent(in) :: workers
    logical, intent(in) :: idle
    integer :: i
    real(dp) :: least
    over = all(workers%gone .or. workers%lost)
    if (.not. over .or. idle .or. all(workers%gone .or. workers%dead)) return
    least = minval([(LeaseSilence(workers%lease, i), i=1, workers%n)], &
                   mask=workers%lost .and. .not. (workers%gone .or. workers%dead))
    over = least > PATIENCE*workers%lease%seconds
  end function WorkersOver

end module workers_m
