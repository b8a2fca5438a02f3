!> The scheduler: it chooses the next shot and its worker, and knows the state and the attempts of each shot and the work in hand.
!>
!> Shots go out in the order of the key-map while there is plenty. Near the end (makespan.f90) a worker gets only a shot that it
!> finishes before the others could have done everything without it: one that is too slow waits. When nothing is left to deal, an
!> idle worker takes a shot over from one that would need much longer for it, and the slow one is to drop it. The first gather
!> counts, a later one does not. So a fast worker is never idle while a slow one holds a shot that it would finish sooner, whatever
!> was known of their rates when that shot was dealt.
!>
!> The same rule keeps a worker that models many shots at once from taking what another one could begin. It holds from the first
!> deal on: as long as no rate is known workers of a kind are presumed equally fast, and workers that have not asked yet count as if
!> they came as soon as they have been waited for.
!>
!> No shot is dealt that its worker would not finish before the deadline. Shots that may have killed a worker (suspect_shots.f90) go
!> last, one at a time to a worker, and are not taken over.
module scheduler_m
  use kinds_m, only: dp
  use worker_rates_m, only: RatesAll, rates_t, RatesHint, RatesKind, RatesMean, RatesNew, RatesPresumed, RatesTake, RatesTrial
  use makespan_m, only: capacity_t, MakespanTakeover, Makespan
  implicit none
  private
  public :: scheduler_t, SchedulerNew, SchedulerReady, SchedulerNext, SchedulerPut, SchedulerDone, SchedulerLost, SchedulerAgain
  public :: SchedulerGone, SchedulerDrop, SchedulerIdle, SchedulerParked, SchedulerDealt, SchedulerHeldBack, SchedulerWaits
  public :: SchedulerLate, SchedulerTake, SchedulerPark, SchedulerUnpark, SchedulerTakes, SchedulerHas, SchedulerExpect
  public :: SchedulerHalted, FOREVER

  real(dp), parameter :: LONE = 0.7_dp          !< part of its worker's rate that a shot gets at least when it is alone there
  real(dp), parameter :: WORTH = 0.02_dp        !< shorter waits are not reported: this part of the run, or a second
  real(dp), parameter :: FOREVER = 1.0e15_dp    !< [s]
  real(dp), parameter :: SPARE = 1.25_dp        !< a shot may take so much longer than its worker's rate says

  !> A shot that a worker has. One of several waits until the worker reports that its steps have begun.
  type :: dealt_shot_t
    integer :: slot = 0, worker = 0
    real(dp) :: since = 0                       !< dealt at, or begun after a wait at [s]
    logical :: waits = .false.                  !< it is set up, or waits until others of its worker have done their steps
    real(dp) :: fraction = 0, reported_at = 0   !< part of it that is done, and when that was reported [s]
    real(dp) :: shared = 0                      !< worker_load_t%shared when its progress was counted last [s]
    real(dp) :: share = 1                       !< part of the shot that this worker computes: it may have begun from a state
    logical :: halted = .false.                 !< the job stood still meanwhile: its time says little of its worker
    logical :: dropped = .false.                !< another worker has the shot now, or has done it
    logical :: cancelled = .false.              !< SchedulerDrop has named it as dropped
  end type dealt_shot_t

  !> The load of a worker.
  type :: worker_load_t
    integer :: at_once = 0                      !< shots that it can model at once
    integer :: asking = 0                       !< shots that it asks for
    integer :: shots = 0                        !< shots that it has
    real(dp) :: work = 0, spent = 0             !< cell updates that its shots have done, and their time [s]; old ones fade
    integer :: waits = 0                        !< shots of it that are set up, or wait for the others
    real(dp) :: counted = 0                     !< when work was last counted [s]
    real(dp) :: recent = 0                      !< shots, and parts of shots, that were counted at that moment
    real(dp) :: shared = 0                      !< of its time until `seen`, what each shot that computes had to itself [s]
    real(dp) :: idle = 0                        !< time when none of its shots computed, not yet counted [s]
    real(dp) :: seen = 0                        !< up to when its time is accounted for [s]
    logical :: expected = .false.               !< it has not asked yet, but will
    real(dp) :: away = 0                        !< when it last asked for a shot or ended one [s]
    real(dp) :: back = -1                       !< since when it gets no shot [s], -1 = it does get some
  end type worker_load_t

  type :: scheduler_t
    logical, allocatable :: finished(:)         !< done or parked, (slots)
    logical, allocatable :: given_up(:)         !< parked, (slots)
    integer, allocatable :: attempts(:)         !< how often lost, (slots)
    integer, allocatable :: deaths(:)           !< workers it may have killed, (slots)
    real(dp), allocatable :: cost(:)            !< cell updates, (slots)
    logical, allocatable :: fresh(:)            !< never dealt, (slots)
    integer, allocatable :: again(:)            !< lost shots to be dealt again, oldest first
    integer, allocatable :: moved(:)            !< how often taken over, (slots)
    integer :: next = 1                         !< no slot before it is fresh
    integer :: nfresh = 0                       !< shots never dealt
    real(dp) :: fresh_cost = 0                  !< cell updates of these
    integer :: left = 0                         !< shots neither done nor parked
    integer :: parked = 0
    integer :: retries = 0
    integer :: takeovers = 0                    !< shots taken over
    real(dp) :: deadline = FOREVER              !< when all must be done [s]
    real(dp) :: begun = -1                      !< when the first worker was ready [s]
    real(dp) :: ended = 0                       !< when the latest shot was done [s]
    type(rates_t) :: rates
    type(worker_load_t), allocatable :: load(:)   !< (workers)
    type(dealt_shot_t), allocatable :: dealt(:)   !< (shots that workers have)
  end type scheduler_t

  interface
    ! --- scheduler_queue.f90

    !> A waiting shot for a worker of this rate that ends what it has in `free` seconds, 0 if it should take none of them. A rate
    !> that is not known is found by a first shot: then it is 0, or presumed (not `known`), which says nothing of seconds.
    module integer function FromQueue(scheduler, capacity, worker, rate, known, free, now) result(slot)
      type(scheduler_t), intent(inout) :: scheduler
      type(capacity_t), intent(in) :: capacity(:)
      integer, intent(in) :: worker
      real(dp), intent(in) :: rate, free, now
      logical, intent(in) :: known
    end function FromQueue

    ! --- scheduler_capacities.f90

    !> The capacities of all workers, now. The time until one that has not asked for a while asks again is presumed to be as long as
    !> it has not. A worker that models one shot at a time is one capacity. A worker with several has one for each shot, and one
    !> with its rate, which is free when all of these are done: what it gets shares its rate with them. One that asks for nothing
    !> more has its shots alone.
    pure module subroutine Capacities(scheduler, rate, now, capacity)
      type(scheduler_t), intent(in) :: scheduler
      real(dp), intent(in) :: rate(:)             !< (workers)
      real(dp), intent(in) :: now
      type(capacity_t), allocatable, intent(out) :: capacity(:)
    end subroutine Capacities
  end interface

contains

  !> All shots not `done` are to be dealt, each at most 1 + `retries` times. `cost`: cell updates of each. `tried`: shots that an
  !> earlier run dealt and that did not come back: they count as lost ones and go after the fresh ones.
  subroutine SchedulerNew(scheduler, done, cost, retries, nworkers, tried)
    type(scheduler_t), intent(out) :: scheduler
    logical, intent(in) :: done(:)
    real(dp), intent(in) :: cost(:)
    integer, intent(in) :: retries, nworkers
    logical, intent(in), optional :: tried(:)
    integer :: i
    scheduler%finished = done
    scheduler%cost = cost
    scheduler%fresh = .not. done
    if (present(tried)) scheduler%fresh = .not. (done .or. tried)
    allocate (scheduler%given_up(size(done)), source=.false.)
    allocate (scheduler%attempts(size(done)), source=0)
    allocate (scheduler%deaths(size(done)), source=0)
    allocate (scheduler%moved(size(done)), source=0)
    allocate (scheduler%dealt(0), scheduler%load(nworkers))
    scheduler%again = pack([(i, i=1, size(done))], .not. (done .or. scheduler%fresh))
    scheduler%left = count(.not. done)
    scheduler%nfresh = count(scheduler%fresh)
    scheduler%fresh_cost = sum(cost, mask=scheduler%fresh)
    scheduler%retries = retries
    call RatesNew(scheduler%rates, nworkers)
  end subroutine SchedulerNew

  ! --- what workers say ----------------------------------------------------------------------------------------------

  !> A worker will ask for shots; it computes on a GPU or with so many threads. To be called before the first one asks.
  subroutine SchedulerExpect(scheduler, worker, gpu, threads)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: worker, threads
    logical, intent(in) :: gpu
    logical :: changed
    call RatesKind(scheduler%rates, worker, gpu, threads, changed)
    scheduler%load(worker)%expected = .true.
  end subroutine SchedulerExpect

  !> A worker asks for a shot; it computes on a GPU or with so many threads. Times `now` are seconds of any one clock.
  !> `trial`: cell updates a second that the worker found in a trial, 0 = it made none.
  subroutine SchedulerReady(scheduler, worker, gpu, threads, now, trial)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: worker, threads
    logical, intent(in) :: gpu
    real(dp), intent(in) :: now
    real(dp), intent(in), optional :: trial
    logical :: changed
    if (scheduler%begun < 0) then
      scheduler%begun = now
      scheduler%load%away = now
    end if
    call RatesKind(scheduler%rates, worker, gpu, threads, changed)
    if (present(trial)) call RatesTrial(scheduler%rates, worker, trial)
    associate (p => scheduler%load(worker))
      p%asking = p%asking + 1
      p%expected = .false.
      if (changed) then
        p%at_once = 0
        p%work = 0
        p%spent = 0
      end if
      p%at_once = max(p%at_once, p%asking + p%shots)
      p%away = now
    end associate
  end subroutine SchedulerReady

  !> The shot that a worker is to model next, by its slot in the output: 0 if the worker has to wait. `from`: the worker that it is
  !> taken over from, 0 if it is dealt from the key-map. Fresh shots go before lost ones.
  subroutine SchedulerNext(scheduler, worker, now, slot, from)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: worker
    real(dp), intent(in) :: now
    integer, intent(out) :: slot, from
    type(capacity_t), allocatable :: capacity(:)
    integer :: i
    real(dp) :: rate(size(scheduler%load)), time, free
    logical :: declined, known
    slot = 0
    from = 0
    if (scheduler%left == 0) return
    rate = RatesAll(scheduler%rates)
    declined = scheduler%nfresh + size(scheduler%again) > 0
    known = rate(worker) > 0
    if (declined .and. .not. any(rate > 0) .and. scheduler%load(worker)%shots > 0) rate = RatesPresumed(scheduler%rates)
    call Capacities(scheduler, rate, now, capacity)
    free = 0                                    ! of a worker with several shots: it ends this one after those
    if (scheduler%load(worker)%at_once > 1) free = maxval(capacity%free, mask=capacity%worker == worker)
    if (declined) then
      slot = FromQueue(scheduler, capacity, worker, rate(worker), known, free, now)
    else
      time = Makespan(capacity, 0, 0.0_dp, 0.0_dp)
      i = MakespanTakeover(capacity, worker, rate(worker), merge(LONE, 1.0_dp, scheduler%load(worker)%at_once > 1), free, time)
      if (i > 0) call TakeOver(scheduler, capacity(i)%dealt, now, slot, from)
    end if
    associate (p => scheduler%load(worker))
      if (slot > 0) then
        p%asking = p%asking - 1
        call SchedulerTake(scheduler, worker, slot, now)
      else if (declined .and. p%back < 0 .and. p%shots == 0) then
        p%back = now
      end if
    end associate
  end subroutine SchedulerNext

  !> A worker has a shot from now on.
  subroutine SchedulerTake(scheduler, worker, slot, now)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: worker, slot
    real(dp), intent(in) :: now
    logical :: waits
    associate (p => scheduler%load(worker))
      call Elapse(p, now)
      waits = p%at_once > 1
      p%shots = p%shots + 1
      if (waits) p%waits = p%waits + 1
      p%at_once = max(p%at_once, p%asking + p%shots)
      p%back = -1
    end associate
    scheduler%dealt = [scheduler%dealt, dealt_shot_t(slot=slot, worker=worker, since=now, reported_at=now, waits=waits, &
                                               shared=scheduler%load(worker)%shared)]
  end subroutine SchedulerTake

  !> A worker reports what fraction of a shot is done, and with what fraction it began.
  subroutine SchedulerPut(scheduler, worker, slot, fraction, now, head)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: worker, slot
    real(dp), intent(in) :: fraction, now
    real(dp), intent(in), optional :: head
    real(dp) :: done
    integer :: i
    i = SchedulerFind(scheduler, worker, slot)
    if (i == 0) return
    associate (f => scheduler%dealt(i), p => scheduler%load(worker))
      if (present(head)) f%share = 1 - min(max(head, 0.0_dp), 0.999_dp)
      done = (fraction - (1 - f%share))/f%share
      if (done <= f%fraction .or. fraction > 1) return
      call SchedulerWaits(scheduler, worker, slot, .false., now)
      call CountWork(scheduler, f, done, now)
      f%fraction = done
      f%reported_at = now
      if (f%halted) return
      if (p%at_once > 1) call RatesHint(scheduler%rates, worker, p%work, p%spent)
      if (p%at_once <= 1) call RatesHint(scheduler%rates, worker, done*f%share*scheduler%cost(slot), now - f%since)
    end associate
  end subroutine SchedulerPut

  !> A shot is set up, or waits until others of its worker have done their steps; or its steps begin.
  subroutine SchedulerWaits(scheduler, worker, slot, waits, now)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: worker, slot
    logical, intent(in) :: waits
    real(dp), intent(in) :: now
    integer :: i
    i = SchedulerFind(scheduler, worker, slot)
    if (i == 0) return
    if (scheduler%dealt(i)%waits .eqv. waits) return
    associate (f => scheduler%dealt(i), p => scheduler%load(worker))
      call Elapse(p, now)
      p%waits = p%waits + merge(1, -1, waits)
      f%waits = waits
      f%since = now
      f%reported_at = now
      f%shared = p%shared
    end associate
  end subroutine SchedulerWaits

  !> The traces of a shot are on disk, from this worker. Others that still work on it are to drop it.
  subroutine SchedulerDone(scheduler, worker, slot, now)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: worker, slot
    real(dp), intent(in) :: now
    integer :: i
    i = SchedulerFind(scheduler, worker, slot)
    if (i > 0) then
      associate (f => scheduler%dealt(i), p => scheduler%load(worker))
        call CountWork(scheduler, f, 1.0_dp, now)
        if (p%at_once > 1 .and. .not. f%halted) call RatesMean(scheduler%rates, worker, p%work, p%spent)
        if (p%at_once <= 1 .and. .not. f%halted) &
          call RatesTake(scheduler%rates, worker, f%share*scheduler%cost(slot), now - f%since)
      end associate
    end if
    call Remove(scheduler, worker, slot, now)
    call SchedulerUnpark(scheduler, slot)
    if (scheduler%finished(slot)) return
    scheduler%left = scheduler%left - 1
    scheduler%finished(slot) = .true.
    scheduler%ended = now
    do i = 1, size(scheduler%dealt)
      if (scheduler%dealt(i)%slot == slot) call Drop(scheduler, i, now)
    end do
    scheduler%again = pack(scheduler%again, scheduler%again /= slot)
  end subroutine SchedulerDone

  !> Takes a shot back. `innocent` losses, which are no fault of the shot, do not count as attempts. `parked` if this was the last
  !> attempt; `dropped` if the worker gave up what another one has taken over: that is no loss.
  subroutine SchedulerLost(scheduler, worker, slot, innocent, now, parked, dropped)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: worker, slot
    logical, intent(in) :: innocent
    real(dp), intent(in) :: now
    logical, intent(out) :: parked, dropped
    integer :: i
    parked = .false.
    i = SchedulerFind(scheduler, worker, slot)
    dropped = scheduler%finished(slot)
    if (i > 0) dropped = dropped .or. scheduler%dealt(i)%dropped
    call Remove(scheduler, worker, slot, now)
    if (dropped) return
    if (.not. innocent) scheduler%attempts(slot) = scheduler%attempts(slot) + 1
    scheduler%again = [scheduler%again, slot]
    parked = scheduler%attempts(slot) > scheduler%retries
    if (parked) call SchedulerPark(scheduler, slot)
  end subroutine SchedulerLost

  !> A shot that counted as done is not, its traces are damaged: it is dealt again.
  subroutine SchedulerAgain(scheduler, slot)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: slot
    if (.not. scheduler%finished(slot)) return
    scheduler%finished(slot) = .false.
    scheduler%left = scheduler%left + 1
    scheduler%again = [scheduler%again, slot]
  end subroutine SchedulerAgain

  !> A lost shot is not dealt any more.
  subroutine SchedulerPark(scheduler, slot)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: slot
    if (scheduler%finished(slot)) return
    scheduler%given_up(slot) = .true.
    scheduler%finished(slot) = .true.
    scheduler%parked = scheduler%parked + 1
    scheduler%left = scheduler%left - 1
    scheduler%again = pack(scheduler%again, scheduler%again /= slot)
  end subroutine SchedulerPark

  !> It is to be dealt again after all, or its traces have come.
  subroutine SchedulerUnpark(scheduler, slot)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: slot
    if (.not. scheduler%given_up(slot)) return
    scheduler%given_up(slot) = .false.
    scheduler%finished(slot) = .false.
    scheduler%parked = scheduler%parked - 1
    scheduler%left = scheduler%left + 1
    scheduler%again = [scheduler%again, slot]
  end subroutine SchedulerUnpark

  !> A worker will ask for nothing more.
  subroutine SchedulerGone(scheduler, worker)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: worker
    scheduler%load(worker)%at_once = 0
    scheduler%load(worker)%asking = 0
    scheduler%load(worker)%expected = .false.
  end subroutine SchedulerGone

  !> The job stood still for so many seconds, and goes on. `later`: so does the deadline. Workers may have stood still for less.
  subroutine SchedulerHalted(scheduler, seconds, later)
    type(scheduler_t), intent(inout) :: scheduler
    real(dp), intent(in) :: seconds
    logical, intent(in) :: later
    if (later .and. scheduler%deadline < FOREVER) scheduler%deadline = scheduler%deadline + seconds
    if (scheduler%begun >= 0) scheduler%begun = scheduler%begun + seconds
    associate (p => scheduler%load, f => scheduler%dealt)
      p%away = p%away + seconds
      p%seen = p%seen + seconds
      where (p%back >= 0) p%back = p%back + seconds
      f%since = f%since + seconds
      f%reported_at = f%reported_at + seconds
      f%halted = .true.
    end associate
  end subroutine SchedulerHalted

  !> A worker that is to drop a shot; false if there is none. Each is named once.
  logical function SchedulerDrop(scheduler, worker, slot) result(there)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(out) :: worker, slot
    integer :: i
    there = .false.
    worker = 0
    slot = 0
    do i = 1, size(scheduler%dealt)
      associate (f => scheduler%dealt(i))
        if (f%cancelled .or. .not. f%dropped) cycle
        f%cancelled = .true.
        worker = f%worker
        slot = f%slot
        there = .true.
        return
      end associate
    end do
  end function SchedulerDrop

  ! --- what is known -------------------------------------------------------------------------------------------------

  !> Nothing is left to deal and nothing is with a worker.
  pure logical function SchedulerIdle(scheduler) result(idle)
    type(scheduler_t), intent(in) :: scheduler
    idle = scheduler%left == 0
  end function SchedulerIdle

  !> The slot was lost too often and is not dealt again in this run.
  pure logical function SchedulerParked(scheduler, slot) result(parked)
    type(scheduler_t), intent(in) :: scheduler
    integer, intent(in) :: slot
    parked = scheduler%given_up(slot)
  end function SchedulerParked

  !> Shots wait to be dealt, and no worker would finish even the smallest of them before the deadline. The progress of a worker's
  !> first shot, set-up included, is not enough to say so.
  pure logical function SchedulerLate(scheduler, now) result(late)
    type(scheduler_t), intent(in) :: scheduler
    real(dp), intent(in) :: now
    real(dp) :: rate, least
    late = .false.
    if (scheduler%nfresh + size(scheduler%again) == 0 .or. scheduler%deadline >= FOREVER) return
    rate = maxval(RatesAll(scheduler%rates)/max(1, scheduler%load%at_once), mask=scheduler%load%at_once > 0)
    least = minval(scheduler%cost, mask=scheduler%fresh)
    if (size(scheduler%again) > 0) least = min(least, minval(scheduler%cost(scheduler%again)))
    late = now > scheduler%deadline
    if (any(scheduler%load%at_once > 0 .and. scheduler%load%shots > 0 .and. scheduler%rates%shots == 0)) return
    if (rate > 0) late = late .or. least > rate*(scheduler%deadline - now)/SPARE
  end function SchedulerLate

  !> A worker has this shot, be it dropped or not.
  pure logical function SchedulerDealt(scheduler, worker, slot) result(flies)
    type(scheduler_t), intent(in) :: scheduler
    integer, intent(in) :: worker, slot
    flies = SchedulerFind(scheduler, worker, slot) > 0
  end function SchedulerDealt

  !> A worker has a shot that no other worker has, or has done.
  pure logical function SchedulerHas(scheduler, worker) result(has)
    type(scheduler_t), intent(in) :: scheduler
    integer, intent(in) :: worker
    has = any(scheduler%dealt%worker == worker .and. .not. scheduler%dealt%dropped)
  end function SchedulerHas

  !> The time that the longest of the shots of a worker should take it [s], beside its others; 0 if it has none, huge() if its rate
  !> is not known, or it never asked for a shot.
  pure real(dp) function SchedulerTakes(scheduler, worker) result(seconds)
    type(scheduler_t), intent(in) :: scheduler
    integer, intent(in) :: worker
    real(dp) :: rate(size(scheduler%load))
    integer :: i
    seconds = huge(1.0_dp)
    rate = RatesAll(scheduler%rates, presume=.false.)
    if (scheduler%load(worker)%at_once == 0 .or. .not. rate(worker) > 0) return
    seconds = 0
    do i = 1, size(scheduler%dealt)
      associate (f => scheduler%dealt(i))
        if (f%worker == worker) seconds = max(seconds, scheduler%cost(f%slot)/rate(worker)*scheduler%load(worker)%at_once)
      end associate
    end do
  end function SchedulerTakes

  !> Workers that got nothing more although shots were left, because others finished them sooner: how many with a GPU, how many
  !> without, and for how long at most [s] before the last shot was done.
  pure subroutine SchedulerHeldBack(scheduler, gpus, cpus, seconds)
    type(scheduler_t), intent(in) :: scheduler
    integer, intent(out) :: gpus, cpus
    real(dp), intent(out) :: seconds
    logical :: back(size(scheduler%load))
    back = scheduler%load%back >= 0 .and. &
           scheduler%ended - scheduler%load%back > min(1.0_dp, WORTH*(scheduler%ended - scheduler%begun))
    gpus = count(back .and. scheduler%rates%gpu)
    cpus = count(back) - gpus
    seconds = 0
    if (any(back)) seconds = scheduler%ended - minval(scheduler%load%back, mask=back)
  end subroutine SchedulerHeldBack

  ! --- inside --------------------------------------------------------------------------------------------------------

  !> A shot goes on with another worker.
  subroutine TakeOver(scheduler, i, now, slot, from)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: i
    real(dp), intent(in) :: now
    integer, intent(out) :: slot, from
    slot = scheduler%dealt(i)%slot
    from = scheduler%dealt(i)%worker
    scheduler%moved(slot) = scheduler%moved(slot) + 1
    scheduler%takeovers = scheduler%takeovers + 1
    call Drop(scheduler, i, now)
    if (scheduler%load(from)%back < 0) scheduler%load(from)%back = now
  end subroutine TakeOver

  !> The worker of dealt(i) is to drop its shot.
  subroutine Drop(scheduler, i, now)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: i
    real(dp), intent(in) :: now
    if (scheduler%dealt(i)%dropped) return
    scheduler%dealt(i)%dropped = .true.
    scheduler%dealt(i)%reported_at = now
  end subroutine Drop

  !> A worker has a shot no longer.
  subroutine Remove(scheduler, worker, slot, now)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: worker, slot
    real(dp), intent(in) :: now
    integer :: i
    i = SchedulerFind(scheduler, worker, slot)
    if (i == 0) return
    call Elapse(scheduler%load(worker), now)
    if (scheduler%dealt(i)%waits) scheduler%load(worker)%waits = scheduler%load(worker)%waits - 1
    scheduler%dealt = [scheduler%dealt(:i - 1), scheduler%dealt(i + 1:)]
    scheduler%load(worker)%shots = scheduler%load(worker)%shots - 1
    scheduler%load(worker)%away = now
  end subroutine Remove

  !> The place in `dealt` of a worker's shot, 0 if the worker does not have it.
  pure integer function SchedulerFind(scheduler, worker, slot) result(at)
    type(scheduler_t), intent(in) :: scheduler
    integer, intent(in) :: worker, slot
    do at = 1, size(scheduler%dealt)
      if (scheduler%dealt(at)%slot == slot .and. scheduler%dealt(at)%worker == worker) return
    end do
    at = 0
  end function SchedulerFind

  !> Time passes: the shots of a worker that compute share its rate, so each has its part of that time. While all are set up or
  !> wait the time counts for the worker alone.
  pure subroutine Elapse(load, now)
    type(worker_load_t), intent(inout) :: load
    real(dp), intent(in) :: now
    real(dp) :: passed
    passed = max(0.0_dp, now - load%seen)
    if (load%shots > load%waits) then
      load%shared = load%shared + passed/(load%shots - load%waits)
    else if (load%shots > 0) then
      load%idle = load%idle + passed
    end if
    load%seen = now
  end subroutine Elapse

  !> The part `done` of a shot says how fast its worker was. Work that is older than as many shots as the worker has at once counts
  !> half.
  subroutine CountWork(scheduler, shot, done, now)
    type(scheduler_t), intent(inout) :: scheduler
    type(dealt_shot_t), intent(inout) :: shot
    real(dp), intent(in) :: done, now
    real(dp) :: part, keep
    part = max(0.0_dp, done - shot%fraction)*shot%share
    associate (p => scheduler%load(shot%worker))
      call Elapse(p, now)
      if (now > p%counted) then                 ! shots that end at once are equally old
        keep = 0.5_dp**(p%recent/max(1, p%at_once))
        p%work = keep*p%work
        p%spent = keep*p%spent
        p%recent = 0
        p%counted = now
      end if
      p%recent = p%recent + part
      p%work = p%work + part*scheduler%cost(shot%slot)
      p%spent = p%spent + p%idle
      if (.not. shot%waits) p%spent = p%spent + p%shared - shot%shared
      p%idle = 0
      shot%shared = p%shared
    end associate
  end subroutine CountWork

end module scheduler_m
