!> The rules about workers that are lost, one by one: leases, blame, poison, quarantine, deadlines.
program t441_lease_rules
  use check_m, only: Claim, Done
  use workers_m, only: workers_t, WorkersBeat, WorkersDied, WorkersEnded, WorkersHeard, WorkersLeaves, WorkersByRank, WorkersMissed, WorkersNew, WorkersOver, &
                    WorkersOverstays, WorkersPartners, WorkersSilent, WorkersBySpeaker
  use scheduler_m, only: scheduler_t, SchedulerDone, SchedulerHalted, SchedulerHas, SchedulerIdle, SchedulerLate, SchedulerLost, SchedulerNew, &
                      SchedulerNext, SchedulerParked, SchedulerPut, SchedulerReady, SchedulerTake, SchedulerTakes
  use suspect_shots_m, only: DeathsAdopt, DeathsTake, DeathsUndo, loss_t
  use kinds_m, only: dp
  use lease_m, only: lease_t, LeaseHeard, LeaseNew, LeaseShotDone, LeaseSilence, LeaseSpan, LeaseTick, PATIENCE
  use quarantine_m, only: quarantine_t, QuarantineBack, QuarantineBad, QuarantineDied, QuarantineDone, QuarantineLost, &
                          QuarantineLosses, QuarantineNew
  use text_m, only: Str
  implicit none
  real(dp), parameter :: FOREVER = huge(1.0_dp)

  call Leases()
  call Paces()
  call ShotTimes()
  call Crews()
  call Dead()
  call Graces()
  call Poison()
  call Companions()
  call Forgiven()
  call Nodes()
  call Deadlines()
  call Tried()
  call Done()

contains

  !> Listens for so many seconds, a tenth at a time.
  subroutine Listen(lease, now, seconds)
    type(lease_t), intent(inout) :: lease
    real(dp), intent(inout) :: now
    real(dp), intent(in) :: seconds
    integer :: i
    do i = 1, nint(10*seconds)
      now = now + 0.1_dp
      call LeaseTick(lease, now)
    end do
  end subroutine Listen

  subroutine Leases()
    type(lease_t) :: lease
    real(dp) :: now
    call LeaseNew(lease, 10.0_dp, 2)
    now = 1000
    call LeaseTick(lease, now)
    call Listen(lease, now, 9.0_dp)
    call Claim(LeaseSilence(lease, 1) < LeaseSpan(lease, 1, FOREVER), 'a silence of '//Str(LeaseSilence(lease, 1), 3)//' s is within a lease of 10')
    call Listen(lease, now, 2.0_dp)
    call Claim(LeaseSilence(lease, 1) > LeaseSpan(lease, 1, FOREVER), 'one of '//Str(LeaseSilence(lease, 1), 3)//' s is not')
    call LeaseHeard(lease, 1)
    call Claim(abs(LeaseSpan(lease, 1, FOREVER) - 22) < 0.1_dp, 'it ends: the lease is twice that now, '//Str(LeaseSpan(lease, 1, FOREVER), 4)//' s')
    now = now + 3600
    call LeaseTick(lease, now)
    call Claim(LeaseSilence(lease, 1) <= 1, 'the listener stood still for an hour: silence '//Str(LeaseSilence(lease, 1), 3)// &
               ' s, nobody is lost')
    now = now - 7200
    call LeaseTick(lease, now)
    call Claim(LeaseSilence(lease, 1) <= 1, 'a clock that jumps back does no harm')
  end subroutine Leases

  !> The lease follows the shots: what is asked for is the most.
  subroutine Paces()
    type(lease_t) :: lease
    real(dp) :: now
    integer :: i
    call LeaseNew(lease, 120.0_dp, 2)
    call Claim(abs(LeaseSpan(lease, 1, FOREVER) - 120) <= 0, 'no pace is known: the lease is the one asked for')
    call Claim(abs(LeaseSpan(lease, 1, 0.1_dp) - 20) <= 0, 'shots of 0.1 s: 20 s, for machines may be busy')
    call Claim(abs(LeaseSpan(lease, 1, 25.0_dp) - 50) <= 0, 'shots of 25 s: twice that')
    call Claim(abs(LeaseSpan(lease, 1, 3600.0_dp) - 120) <= 0, 'shots of an hour: the one asked for')
    now = 0
    call LeaseTick(lease, now)
    call Listen(lease, now, 45.0_dp)
    call LeaseHeard(lease, 1)
    call LeaseHeard(lease, 2)
    call Claim(abs(LeaseSpan(lease, 1, 1.0_dp) - 90) < 0.1_dp, 'a first shot with 45 s of silence: the lease is twice that')
    do i = 1, 20
      call Listen(lease, now, 4.0_dp)
      call LeaseHeard(lease, 1)
      call LeaseShotDone(lease, 1)
    end do
    call Claim(LeaseSpan(lease, 1, 1.0_dp) <= 20, '20 shots with 4 s each: it is '//Str(LeaseSpan(lease, 1, 1.0_dp), 3)//' s again')
    call Claim(LeaseSpan(lease, 2, 1.0_dp) > 89, 'a worker that has done none since keeps its own')
    do i = 1, 9
      call Listen(lease, now, 15.0_dp)
      call LeaseHeard(lease, 1)
      call LeaseShotDone(lease, 1)
    end do
    call Claim(LeaseSpan(lease, 1, 1.0_dp) > 29.9_dp, 'each of the next is silent for 15 s: it is not forgotten, the lease is '// &
               Str(LeaseSpan(lease, 1, 1.0_dp), 3)//' s')
    call LeaseNew(lease, 2.0_dp, 1)
    call Claim(abs(LeaseSpan(lease, 1, 25.0_dp) - 2) <= 0, 'a short one that is asked for stays')
  end subroutine Paces

  !> Expected time of a worker's shots, as far as it is known.
  subroutine ShotTimes()
    type(scheduler_t) :: d
    call SchedulerNew(d, spread(.false., 1, 9), [1.0_dp, 1.0_dp, 100.0_dp, spread(1.0_dp, 1, 6)], 2, 3)
    call Claim(SchedulerTakes(d, 1) >= FOREVER, 'nothing is known of a worker that has not asked for a shot')
    call SchedulerReady(d, 1, .true., 1, 0.0_dp)
    call SchedulerReady(d, 2, .false., 1, 0.0_dp)
    call Give(d, 1, 1, 0.0_dp)
    call Give(d, 2, 2, 0.0_dp)
    call Claim(min(SchedulerTakes(d, 1), SchedulerTakes(d, 2)) >= FOREVER, 'nor of first shots')
    call SchedulerPut(d, 2, 2, 0.5_dp, 10.0_dp, 0.0_dp)
    call Claim(abs(SchedulerTakes(d, 2) - 20) < 0.1_dp, 'half of one done in 10 s: it takes 20')
    call Claim(SchedulerTakes(d, 1) >= FOREVER, 'a GPU that nobody has measured is not presumed to be faster')
    call SchedulerDone(d, 1, 1, 12.0_dp)
    call SchedulerReady(d, 1, .true., 1, 12.0_dp)
    call Claim(SchedulerTakes(d, 1) <= 0 .and. .not. SchedulerHas(d, 1), 'a worker without a shot has no reason to be silent')
    call Give(d, 1, 3, 12.0_dp)
    call Claim(SchedulerHas(d, 1) .and. abs(SchedulerTakes(d, 1) - 1200) < 1, 'a shot a hundred times as large: a hundred times as long')
    call SchedulerReady(d, 1, .true., 1, 13.0_dp)
    call Give(d, 1, 4, 13.0_dp)
    call Claim(abs(SchedulerTakes(d, 1) - 2400) < 2, 'beside another one: twice that')
  end subroutine ShotTimes

  !> A worker that asked gets this shot.
  subroutine Give(scheduler, worker, slot, now)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: worker, slot
    real(dp), intent(in) :: now
    scheduler%load(worker)%asking = scheduler%load(worker)%asking - 1
    call SchedulerTake(scheduler, worker, slot, now)
  end subroutine Give

  !> Processes that have ended.
  subroutine Dead()
    type(workers_t) :: workers
    integer :: rank
    logical :: due, back
    real(dp) :: silence
    call WorkersNew(workers, [0, 1, 1, 2, 2, 0], 120.0_dp)
    call Claim(all([(WorkersByRank(workers, rank), rank=0, 5)] == [0, 1, 1, 2, 2, 0]), 'every rank of a group belongs to its worker')
    call WorkersBeat(workers, 10.0_dp, due)
    call WorkersEnded(workers, 4, 4711)
    call WorkersEnded(workers, 4, 0)
    call WorkersDied(workers, rank)
    call Claim(rank == 4 .and. workers%pid(4) == 4711 .and. workers%dead(2) .and. workers%going(2) .and. workers%broken, &
               'the process of a rank has ended: it is dead, and so is its worker, though another rank speaks for that')
    call WorkersDied(workers, rank)
    call Claim(rank == 0, 'it is named once')
    workers%lost(2) = .true.
    call WorkersHeard(workers, 2, back, silence)
    call Claim(workers%lost(2) .and. .not. back, 'its first rank, which lives, is heard: the worker stays lost')
    call WorkersEnded(workers, 5, 1)
    call WorkersDied(workers, rank)
    call Claim(rank == 5 .and. .not. workers%dead(1), 'a rank that had nothing to do dies: no worker is touched')
    call WorkersEnded(workers, 0, 1)
    call WorkersEnded(workers, 6, 1)
    call WorkersDied(workers, rank)
    call Claim(rank == 0, 'ranks that are none are not believed')
    call Claim(.not. WorkersOver(workers, .false.), 'a worker is left')
    call WorkersEnded(workers, 1, 1)
    call WorkersDied(workers, rank)
    workers%lost(1) = .true.
    call Claim(WorkersOver(workers, .false.), 'all are dead: nobody is waited for, though there is work')
  end subroutine Dead

  subroutine Crews()
    type(workers_t) :: workers
    logical :: due, back
    real(dp) :: silence
    integer :: i
    call WorkersNew(workers, [0, 1, 1, 2, 2, 3, 3, 0], 10.0_dp)
    call Claim(all([(WorkersBySpeaker(workers, i), i=0, 7)] == [0, 1, 0, 2, 0, 3, 0, 0]), 'three workers of two ranks: who speaks for them')
    call Claim(all(WorkersPartners(workers) == [1, 3, 5, 7]), 'the master talks to these, and to the rank that is left over')
    do i = 0, 110
      call WorkersBeat(workers, 0.1_dp*i, due)
      if (mod(i, 5) == 0) call WorkersHeard(workers, 1, back, silence)
      if (mod(i, 5) == 0) call WorkersHeard(workers, 3, back, silence)
    end do
    call Claim(WorkersSilent(workers, 0) == 2 .and. WorkersMissed(workers, 2, FOREVER, .false.), &
               'worker 2 has been silent for '//Str(LeaseSilence(workers%lease, 2), 3)//' s: it is missed')
    workers%lost(2) = .true.
    call Claim(WorkersSilent(workers, 0) == 0 .and. .not. WorkersOver(workers, .false.), 'once; and the others go on')
    workers%gone([1, 3]) = .true.
    call Claim(WorkersOver(workers, .true.), 'nothing is left to do: the lost one is not waited for')
    call Claim(.not. WorkersOver(workers, .false.), 'there is work, and nobody else: it is')
    call WorkersHeard(workers, 2, back, silence)
    call Claim(back .and. silence > 10 .and. .not. workers%lost(2), 'it comes back after '//Str(silence, 3)//' s')
    workers%lost(2) = .true.
    do i = 0, nint(10*(PATIENCE*10 + 2.0_dp))
      call WorkersBeat(workers, 12 + 0.1_dp*i, due)
    end do
    call Claim(WorkersOver(workers, .false.), 'it was waited for '//Str(PATIENCE)//' leases: enough')
    call WorkersNew(workers, [0, 1, 2], 120.0_dp)
    do i = 0, 110
      call WorkersBeat(workers, 0.1_dp*i, due)
      call WorkersHeard(workers, 1, back, silence)
    end do
    call Claim(WorkersSilent(workers, 0) == 2 .and. .not. WorkersMissed(workers, 2, 1.0_dp, .false.), 'silent for 11 s while it has a shot: not missed')
    call Claim(WorkersMissed(workers, 2, 1.0_dp, .true.), 'while nobody needs it any more: it is not waited for')
  end subroutine Crews

  subroutine Graces()
    type(workers_t) :: workers
    logical :: due, back
    real(dp) :: silence
    integer :: i
    call WorkersNew(workers, [0, 1, 2, 3], 10.0_dp)
    call WorkersLeaves(workers, 100.0_dp, 2)
    call Claim(workers%going(2) .and. WorkersOverstays(workers, 129.0_dp, 30.0_dp) == 0, 'a worker that leaves has its time of grace')
    call Claim(WorkersOverstays(workers, 131.0_dp, 30.0_dp) == 2, 'then it is cut short')
    workers%grace_over(2) = .true.
    workers%leaves(2) = 131
    call Claim(WorkersOverstays(workers, 135.0_dp, 30.0_dp) == 0 .and. WorkersOverstays(workers, 150.0_dp, 30.0_dp) == 2, &
               'and soon after it must have gone')
    call WorkersLeaves(workers, 140.0_dp)
    workers%gone(2) = .true.
    call Claim(WorkersOverstays(workers, 141.0_dp, 30.0_dp) == 0 .and. WorkersOverstays(workers, 171.0_dp, 30.0_dp) == 1, 'all are to end: the same')
    workers%grace_ended = .true.
    call Claim(WorkersOverstays(workers, 141.0_dp, 30.0_dp) == 1, 'a second signal ends the grace')
    call WorkersNew(workers, [0, 1], 60.0_dp)
    workers%leaves = 0
    workers%grace_over = .true.
    do i = 0, 300
      call WorkersBeat(workers, 0.1_dp*i, due)
      call WorkersHeard(workers, 1, back, silence)
    end do
    call Claim(WorkersOverstays(workers, 30.0_dp, 0.0_dp) == 0, 'one that writes its state for 30 s, and says that it is here, is waited for')
    call Claim(WorkersOverstays(workers, 61.0_dp, 0.0_dp) == 1, 'though not for longer than a lease')
    do i = 301, 410
      call WorkersBeat(workers, 0.1_dp*i, due)
    end do
    call Claim(WorkersOverstays(workers, 41.0_dp, 0.0_dp) == 1, 'nor in silence')
  end subroutine Graces

  !> A scheduler with `n` shots of one size and `workers` that ask `slots` times each.
  subroutine Ready(scheduler, n, workers, slots, retries)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: n, workers, slots, retries
    integer :: w, i
    call SchedulerNew(scheduler, spread(.false., 1, n), spread(1.0_dp, 1, n), retries, workers)
    do w = 1, workers
      do i = 1, slots
        call SchedulerReady(scheduler, w, .false., 1, 0.0_dp)
      end do
    end do
  end subroutine Ready

  integer function Next(scheduler, worker, now) result(slot)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: worker
    real(dp), intent(in) :: now
    integer :: from
    call SchedulerNext(scheduler, worker, now, slot, from)
  end function Next

  !> Shot 1 kills every worker that has it.
  subroutine Poison()
    type(scheduler_t) :: d
    type(loss_t), allocatable :: losses(:)
    integer :: i, slot, suspect
    logical :: parked, dropped
    call Ready(d, 3, 4, 1, 2)
    slot = Next(d, 1, 0.0_dp)
    call DeathsTake(d, 1, .false., 1.0_dp, losses)
    call Claim(slot == 1 .and. size(losses) == 1 .and. losses(1)%alone .and. .not. losses(1)%parked .and. d%deaths(1) == 1, &
               'a worker dies of its only shot: suspected')
    do i = 2, 3
      slot = Next(d, 2, real(i, dp))
      call Claim(slot == i, 'the fresh ones go first: '//Str(slot))
      call SchedulerDone(d, 2, slot, i + 0.5_dp)
      call SchedulerReady(d, 2, .false., 1, i + 0.5_dp)
    end do
    slot = Next(d, 2, 5.0_dp)
    call DeathsTake(d, 2, .false., 6.0_dp, losses)
    call Claim(slot == 1 .and. losses(1)%parked .and. losses(1)%known .and. SchedulerParked(d, 1) .and. SchedulerIdle(d) .and. &
               d%parked == 1, 'it kills a second one, with retries = 2: parked as poison')
    call SchedulerDone(d, 2, 1, 7.0_dp)
    call Claim(.not. SchedulerParked(d, 1) .and. d%parked == 0 .and. d%left == 0 .and. d%finished(1), &
               'its traces come after all: it is done, not parked')
    call Ready(d, 1, 3, 1, 1)
    do i = 1, 2
      slot = Next(d, i, real(i, dp))
      call DeathsTake(d, i, .false., i + 0.5_dp, losses)
      call Claim(losses(1)%parked .eqv. i == 2, 'retries = 1: the loss of one worker parks no shot, of two it does ('//Str(i)//')')
    end do
    call Ready(d, 2, 2, 1, 3)
    suspect = Next(d, 1, 0.0_dp)
    slot = Next(d, 2, 0.0_dp)
    call DeathsTake(d, 1, .false., 1.0_dp, losses)
    call SchedulerLost(d, 2, slot, .true., 2.0_dp, parked, dropped)
    call SchedulerReady(d, 2, .false., 1, 2.0_dp)
    call Claim(Next(d, 2, 3.0_dp) == slot, 'of lost shots a suspect goes last, though it was lost first')
    call SchedulerReady(d, 2, .false., 1, 4.0_dp)
    call Claim(Next(d, 2, 4.0_dp) == suspect, 'and when nothing else is left it goes')
  end subroutine Poison

  !> A worker that models four shots at once dies of one of them, which is to be found.
  subroutine Companions()
    type(scheduler_t) :: d
    type(loss_t), allocatable :: losses(:)
    integer :: i, slot, suspects(3)
    call SchedulerNew(d, spread(.false., 1, 4), spread(1.0_dp, 1, 4), 2, 3)
    do i = 1, 4                                   ! the others ask later
      call SchedulerReady(d, 1, .false., 1, 0.0_dp)
    end do
    do i = 1, 4
      slot = Next(d, 1, 0.0_dp)
    end do
    do i = 1, 8
      call SchedulerReady(d, 2 + mod(i, 2), .false., 1, 0.5_dp)
    end do
    call DeathsTake(d, 1, .false., 1.0_dp, losses)
    call Claim(size(losses) == 4 .and. all(d%deaths == 1) .and. all(d%attempts == 0) .and. .not. any(losses%parked), &
               'a worker dies with four shots: all are suspected, none was alone')
    suspects = [Next(d, 2, 2.0_dp), Next(d, 2, 2.0_dp), Next(d, 3, 2.0_dp)]
    call Claim(suspects(1) > 0 .and. suspects(2) == 0 .and. suspects(3) > 0, 'suspects are dealt one at a time to a worker')
    call DeathsTake(d, 2, .false., 3.0_dp, losses)
    call Claim(size(losses) == 1 .and. losses(1)%parked .and. losses(1)%slot == suspects(1), &
               'so the second worker that dies tells which one it was')
    call SchedulerDone(d, 3, suspects(3), 4.0_dp)
    call Claim(d%parked == 1 .and. d%left == 2, 'the others are innocent: '//Str(d%left)//' are left to deal')
  end subroutine Companions

  !> A worker that was only slow comes back.
  subroutine Forgiven()
    type(scheduler_t) :: d
    type(loss_t), allocatable :: losses(:), other(:)
    logical :: adopted
    integer :: slot
    call Ready(d, 1, 2, 1, 2)
    slot = Next(d, 1, 0.0_dp)
    call DeathsTake(d, 1, .false., 1.0_dp, losses)
    slot = Next(d, 2, 2.0_dp)
    call DeathsTake(d, 2, .false., 3.0_dp, other)
    call Claim(SchedulerParked(d, slot) .and. other(1)%parked, 'a shot whose worker is silent, and then another one dead: parked')
    call DeathsUndo(d, losses)
    call DeathsAdopt(d, 1, slot, 4.0_dp, adopted)
    call Claim(adopted .and. .not. SchedulerParked(d, slot) .and. d%deaths(slot) == 1 .and. d%left == 1, &
               'the silent one comes back, so it has killed one alone: that worker keeps it')
    call Ready(d, 2, 2, 1, 0)
    slot = Next(d, 1, 0.0_dp)
    call DeathsTake(d, 1, .false., 1.0_dp, losses)
    call Claim(SchedulerParked(d, slot), 'without retries a lost shot is parked at once')
    call DeathsUndo(d, losses)
    call Claim(.not. SchedulerParked(d, slot) .and. d%deaths(slot) == 0 .and. d%attempts(slot) == 0 .and. d%left == 2, &
               'its worker comes back: forgiven')
    call DeathsAdopt(d, 1, slot, 2.0_dp, adopted)
    call Claim(adopted .and. size(d%again) == 0 .and. size(d%dealt) == 1, 'it still has the shot and nobody else has: it keeps it')
    call DeathsAdopt(d, 1, slot, 2.0_dp, adopted)
    call Claim(.not. adopted .and. size(d%dealt) == 1, 'once')
    call DeathsTake(d, 1, .true., 3.0_dp, losses)
    call Claim(d%deaths(slot) == 0 .and. d%left == 2, 'a worker that was asked to go takes nobody''s blame')
    call DeathsAdopt(d, 2, 2, 4.0_dp, adopted)
    call Claim(.not. adopted, 'a shot that nobody lost cannot be kept')
  end subroutine Forgiven

  subroutine Nodes()
    type(quarantine_t) :: q
    call QuarantineNew(q, 3)
    call QuarantineDied(q, 'n1')
    call QuarantineDied(q, 'n1')
    call QuarantineLost(q, 7, 'n1')
    call Claim(.not. QuarantineBad(q, 'n1'), 'two workers and a shot that nobody has modelled yet: not enough')
    call QuarantineLost(q, 7, 'n1')
    call QuarantineDone(q, 7, 'n2')
    call Claim(QuarantineBad(q, 'n1') .and. QuarantineLosses(q, 'n1') == 3 .and. .not. QuarantineBad(q, 'n2'), &
               'another node models that shot: three losses, the node is bad')
    call QuarantineBack(q, 'n1')
    call Claim(.not. QuarantineBad(q, 'n1'), 'a worker comes back: forgiven')
    call QuarantineLost(q, 8, 'n2')
    call QuarantineDone(q, 8, 'n2')
    call QuarantineLost(q, 9, 'n2')
    call Claim(QuarantineLosses(q, 'n2') == 0, 'a shot that its own node models later, or nobody, is not held against it')
    call QuarantineNew(q, 0)
    call QuarantineDied(q, 'n1')
    call Claim(.not. QuarantineBad(q, 'n1'), 'quarantine = 0: never')
  end subroutine Nodes

  !> Worker 1 does a shot in 10 s, worker 2 in 40 s.
  subroutine Deadlines()
    type(scheduler_t) :: d
    integer :: slot
    logical :: parked, dropped
    call Ready(d, 20, 2, 1, 2)
    d%deadline = 100
    slot = Next(d, 1, 0.0_dp)
    call Claim(slot > 0 .and. .not. SchedulerLate(d, 0.0_dp), 'nothing is known of the rates: a first shot is dealt')
    slot = Next(d, 2, 0.0_dp)
    call SchedulerDone(d, 1, 1, 10.0_dp)
    call SchedulerDone(d, 2, 2, 40.0_dp)
    call SchedulerReady(d, 1, .false., 1, 40.0_dp)
    call SchedulerReady(d, 2, .false., 1, 40.0_dp)
    call Claim(Next(d, 2, 49.0_dp) > 0, '51 s are left for a shot of 40 s, which may take a quarter longer: dealt')
    call SchedulerLost(d, 2, 3, .true., 49.0_dp, parked, dropped)
    call SchedulerReady(d, 2, .false., 1, 49.0_dp)
    call Claim(Next(d, 2, 51.0_dp) == 0 .and. .not. SchedulerLate(d, 51.0_dp), '49 s are left: not to this worker')
    call Claim(Next(d, 1, 87.0_dp) > 0, '13 s for a shot of 10 s: dealt')
    call SchedulerReady(d, 1, .false., 1, 88.0_dp)
    call Claim(Next(d, 1, 88.0_dp) == 0 .and. SchedulerLate(d, 88.0_dp), '12 s: to nobody, no worker would be in time')
    call Ready(d, 20, 2, 1, 2)
    d%deadline = 100
    slot = Next(d, 1, 0.0_dp)
    call SchedulerDone(d, 1, slot, 10.0_dp)
    call SchedulerReady(d, 1, .false., 1, 10.0_dp)
    slot = Next(d, 1, 10.0_dp)
    call SchedulerHalted(d, 3600.0_dp, .true.)
    call SchedulerDone(d, 1, slot, 3620.0_dp)
    call SchedulerReady(d, 1, .false., 1, 3620.0_dp)
    slot = Next(d, 1, 3687.0_dp)
    call SchedulerReady(d, 1, .false., 1, 3689.0_dp)
    call Claim(slot > 0 .and. Next(d, 1, 3689.0_dp) == 0 .and. SchedulerLate(d, 3689.0_dp), &
               'a job that stood still for an hour: its deadline is as much later, and its workers are as fast as before')
    call SchedulerNew(d, spread(.false., 1, 9), spread(600.0_dp, 1, 9), 2, 2)
    d%deadline = 40000
    call SchedulerReady(d, 1, .true., 1, 0.0_dp)
    slot = Next(d, 1, 0.0_dp)
    call SchedulerReady(d, 2, .false., 1, 1.0_dp, 1.0e-3_dp)
    call SchedulerPut(d, 1, slot, 3.0e-4_dp, 20.0_dp, 0.0_dp)
    call Claim(Next(d, 2, 20.0_dp) == 0 .and. .not. SchedulerLate(d, 20.0_dp), &
               'after 20 s of set-up a GPU says that 0.03 % of its first shot are done: too early to give up')
    call SchedulerDone(d, 1, slot, 620.0_dp)
    call SchedulerReady(d, 1, .true., 1, 39500.0_dp)
    call Claim(Next(d, 1, 39500.0_dp) == 0 .and. SchedulerLate(d, 39500.0_dp), 'with its rate known and 500 s left it is not')
  end subroutine Deadlines

  !> Shots that an earlier run dealt in vain go last.
  subroutine Tried()
    type(scheduler_t) :: d
    integer :: order(3), i
    call SchedulerNew(d, [.true., .false., .false., .false.], spread(1.0_dp, 1, 4), 2, 1, tried=[.true., .true., .false., .false.])
    do i = 1, 3
      call SchedulerReady(d, 1, .false., 1, real(i, dp))
      order(i) = Next(d, 1, real(i, dp))
      call SchedulerDone(d, 1, order(i), i + 0.5_dp)
    end do
    call Claim(all(order == [3, 4, 2]) .and. SchedulerIdle(d), 'shot 2 was dealt by an earlier run that ended: it goes last')
  end subroutine Tried

end program t441_lease_rules
