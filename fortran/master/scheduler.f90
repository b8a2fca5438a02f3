!> Which shot goes next, and to whom: the states of the shots, how often each was tried, and what the workers are doing.
!>
!> Shots go out in the order of the key-map while there is plenty. Near the end (makespan.f90) a worker gets only a shot that it
!> finishes before the others could have done everything without it: one that is too slow waits. When nothing is left to deal, an
!> idle worker takes a shot over from one that would need much longer for it; the slow one is told to drop it. The first answer
!> counts, a later one does not. So a fast worker is never idle while a slow one holds a shot that it would finish sooner, whatever
!> was known of their rates when that shot was dealt.
!>
!> The same rule keeps a worker with many slots from taking what another one could begin at once. It holds from the first deal on:
!> as long as no rate is known workers of a kind are presumed equally fast, and workers that have not asked yet count as if they
!> came as soon as they have been waited for.
!>
!> No shot is dealt that its worker would not finish before the deadline. Shots that may have killed a worker (suspect_shots.f90) go
!> last, one at a time to a worker, and are not taken over.
module scheduler_m
  use kinds_m, only: dp
  use worker_rates_m, only: RatesAll, rates_t, RatesHint, RatesKind, RatesMean, RatesNew, RatesPresumed, RatesTake, RatesTrial
  use makespan_m, only: capacity_t, MakespanSpares, MakespanTakeover, Makespan
  implicit none
  private
  public :: scheduler_t, SchedulerNew, SchedulerReady, SchedulerNext, SchedulerPut, SchedulerDone, SchedulerLost, SchedulerAgain
  public :: SchedulerGone, SchedulerDrop, SchedulerIdle, SchedulerParked, SchedulerFlies, SchedulerHeldBack, SchedulerHold
  public :: SchedulerLate, SchedulerTake, SchedulerPark, SchedulerUnpark, SchedulerTakes, SchedulerHas, SchedulerExpect, FOREVER

  real(dp), parameter :: PRIOR = 0.05_dp        !< a worker's rate counts like this part of a shot against the shot's own progress
  real(dp), parameter :: LONE = 0.7_dp          !< a shot alone gets so much of the rate of a worker with several slots, or more
  integer, parameter :: TAIL_SHOTS = 4          !< shots a slot left to deal: from here on large ones go first
  real(dp), parameter :: WORTH = 0.02_dp        !< a wait shorter than that part of the run, or a second, is not worth a word
  integer, parameter :: MOVES = 2               !< a shot is taken over so often at most
  real(dp), parameter :: FOREVER = 1.0e15_dp    !< [s]
  real(dp), parameter :: SLOWEST = 1.0e-30_dp   !< a worker whose rate is 0 ends after all others, at a time that can be summed up
  real(dp), parameter :: SPARE = 1.25_dp        !< a shot may take so much longer than its worker's rate says

  !> A shot with a worker. One of a worker with several is held until that says that its steps have begun.
  type :: dealt_shot_t
    integer :: slot = 0, worker = 0
    real(dp) :: since = 0                       !< dealt at, or begun after a wait at [s]
    logical :: held = .false.                   !< it is set up, or waits until others of its worker have done their steps
    real(dp) :: fraction = 0, told = 0          !< done, and when that was told [s]
    real(dp) :: shared = 0                      !< worker_load_t%shared when its progress was counted last [s]
    real(dp) :: share = 1                       !< of the shot that is computed in this flight: it may have begun from a state
    logical :: dropped = .false.                !< another worker has the shot now, or has done it
    logical :: hushed = .false.                 !< the worker knows
  end type dealt_shot_t

  !> What a worker does.
  type :: worker_load_t
    integer :: slots = 0                        !< shots it models at once
    integer :: waiting = 0                      !< of these idle and asking for a shot
    integer :: flying = 0                       !< of these busy
    real(dp) :: work = 0, spent = 0             !< what its shots in flight and done tell, and the time that took [s]; old ones fade
    integer :: held = 0                         !< shots in flight that are set up or wait for the others
    real(dp) :: counted = 0                     !< until then [s]
    real(dp) :: recent = 0                      !< shots of it that were counted then
    real(dp) :: shared = 0                      !< time that each of the others had of it until `seen` [s]
    real(dp) :: idle = 0                        !< time when there were no others, not yet counted [s]
    real(dp) :: seen = 0                        !< [s]
    logical :: expected = .false.               !< it has not asked yet, but will
    real(dp) :: away = 0                        !< last heard of a slot that neither flies nor waits [s]
    real(dp) :: back = -1                       !< held back since [s], -1 = it is not
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
    real(dp) :: fresh_cost = 0                  !< of these
    integer :: left = 0                         !< shots neither done nor parked
    integer :: parked = 0
    integer :: retries = 0
    integer :: takeovers = 0                    !< shots taken over
    real(dp) :: deadline = FOREVER              !< when all must be done [s]
    real(dp) :: begun = -1                      !< when the first worker was ready [s]
    real(dp) :: ended = 0                       !< when the latest shot was done [s]
    type(rates_t) :: rates
    type(worker_load_t), allocatable :: place(:)      !< (workers)
    type(dealt_shot_t), allocatable :: flight(:)    !< (shots with workers)
  end type scheduler_t

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
    allocate (scheduler%flight(0), scheduler%place(nworkers))
    scheduler%again = pack([(i, i=1, size(done))], .not. (done .or. scheduler%fresh))
    scheduler%left = count(.not. done)
    scheduler%nfresh = count(scheduler%fresh)
    scheduler%fresh_cost = sum(cost, mask=scheduler%fresh)
    scheduler%retries = retries
    call RatesNew(scheduler%rates, nworkers)
  end subroutine SchedulerNew

  ! --- what workers say ----------------------------------------------------------------------------------------------

  !> A worker will ask for shots; it computes on a GPU or with so many threads. To be told before the first one asks.
  subroutine SchedulerExpect(scheduler, worker, gpu, threads)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: worker, threads
    logical, intent(in) :: gpu
    logical :: changed
    call RatesKind(scheduler%rates, worker, gpu, threads, changed)
    scheduler%place(worker)%expected = .true.
  end subroutine SchedulerExpect

  !> A slot of a worker has nothing to do; it computes on a GPU or with so many threads. Times `now` are seconds of any one clock.
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
      scheduler%place%away = now
    end if
    call RatesKind(scheduler%rates, worker, gpu, threads, changed)
    if (present(trial)) call RatesTrial(scheduler%rates, worker, trial)
    associate (p => scheduler%place(worker))
      p%waiting = p%waiting + 1
      p%expected = .false.
      if (changed) then
        p%slots = 0
        p%work = 0
        p%spent = 0
      end if
      p%slots = max(p%slots, p%waiting + p%flying)
      p%away = now
    end associate
  end subroutine SchedulerReady

  !> The slot to model next for a worker that is ready: 0 if it has to wait. `from`: the worker this shot is taken over from, 0 if
  !> it is dealt from the key-map. Fresh shots go before lost ones.
  subroutine SchedulerNext(scheduler, worker, now, slot, from)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: worker
    real(dp), intent(in) :: now
    integer, intent(out) :: slot, from
    type(capacity_t), allocatable :: seats(:)
    integer :: i
    real(dp) :: rate(size(scheduler%place)), time, free
    logical :: declined, known
    slot = 0
    from = 0
    if (scheduler%left == 0) return
    rate = RatesAll(scheduler%rates)
    declined = scheduler%nfresh + size(scheduler%again) > 0
    known = rate(worker) > 0
    if (declined .and. .not. any(rate > 0) .and. scheduler%place(worker)%flying > 0) rate = RatesPresumed(scheduler%rates)
    call SeatsNow(scheduler, rate, now, seats)
    free = 0                                    ! of a worker with several slots: it ends this shot after those it has
    if (scheduler%place(worker)%slots > 1) free = maxval(seats%free, mask=seats%worker == worker)
    if (declined) then
      slot = FromQueue(scheduler, seats, worker, rate(worker), known, free, now)
    else
      time = Makespan(seats, 0, 0.0_dp, 0.0_dp)
      i = MakespanTakeover(seats, worker, rate(worker), merge(LONE, 1.0_dp, scheduler%place(worker)%slots > 1), free, time)
      if (i > 0) call TakeOver(scheduler, seats(i)%flight, now, slot, from)
    end if
    associate (p => scheduler%place(worker))
      if (slot > 0) then
        p%waiting = p%waiting - 1
        call SchedulerTake(scheduler, worker, slot, now)
      else if (declined .and. p%back < 0 .and. p%flying == 0) then
        p%back = now
      end if
    end associate
  end subroutine SchedulerNext

  !> A worker has a shot from now on.
  subroutine SchedulerTake(scheduler, worker, slot, now)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: worker, slot
    real(dp), intent(in) :: now
    logical :: held
    associate (p => scheduler%place(worker))
      call Elapse(p, now)
      held = p%slots > 1
      p%flying = p%flying + 1
      if (held) p%held = p%held + 1
      p%slots = max(p%slots, p%waiting + p%flying)
      p%back = -1
    end associate
    scheduler%flight = [scheduler%flight, dealt_shot_t(slot=slot, worker=worker, since=now, told=now, held=held, &
                                               shared=scheduler%place(worker)%shared)]
  end subroutine SchedulerTake

  !> A worker tells what fraction of a shot is done, and with what fraction it began.
  subroutine SchedulerPut(scheduler, worker, slot, fraction, now, head)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: worker, slot
    real(dp), intent(in) :: fraction, now
    real(dp), intent(in), optional :: head
    real(dp) :: done
    integer :: i
    i = SchedulerFlight(scheduler, worker, slot)
    if (i == 0) return
    associate (f => scheduler%flight(i), p => scheduler%place(worker))
      if (present(head)) f%share = 1 - min(max(head, 0.0_dp), 0.999_dp)
      done = (fraction - (1 - f%share))/f%share
      if (done <= f%fraction .or. fraction > 1) return
      call SchedulerHold(scheduler, worker, slot, .false., now)
      call CountWork(scheduler, f, done, now)
      f%fraction = done
      f%told = now
      if (p%slots > 1) call RatesHint(scheduler%rates, worker, p%work, p%spent)
      if (p%slots <= 1) call RatesHint(scheduler%rates, worker, done*f%share*scheduler%cost(slot), now - f%since)
    end associate
  end subroutine SchedulerPut

  !> A shot is set up, or waits until others of its worker have done their steps; or its steps begin.
  subroutine SchedulerHold(scheduler, worker, slot, held, now)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: worker, slot
    logical, intent(in) :: held
    real(dp), intent(in) :: now
    integer :: i
    i = SchedulerFlight(scheduler, worker, slot)
    if (i == 0) return
    if (scheduler%flight(i)%held .eqv. held) return
    associate (f => scheduler%flight(i), p => scheduler%place(worker))
      call Elapse(p, now)
      p%held = p%held + merge(1, -1, held)
      f%held = held
      f%since = now
      f%told = now
      f%shared = p%shared
    end associate
  end subroutine SchedulerHold

  !> The traces of a shot are on disk, from this worker. Others that still work on it are to drop it.
  subroutine SchedulerDone(scheduler, worker, slot, now)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: worker, slot
    real(dp), intent(in) :: now
    integer :: i
    i = SchedulerFlight(scheduler, worker, slot)
    if (i > 0) then
      associate (f => scheduler%flight(i), p => scheduler%place(worker))
        call CountWork(scheduler, f, 1.0_dp, now)
        if (p%slots > 1) call RatesMean(scheduler%rates, worker, p%work, p%spent)
        if (p%slots <= 1) call RatesTake(scheduler%rates, worker, f%share*scheduler%cost(slot), now - f%since)
      end associate
    end if
    call Land(scheduler, worker, slot, now)
    call SchedulerUnpark(scheduler, slot)
    if (scheduler%finished(slot)) return
    scheduler%left = scheduler%left - 1
    scheduler%finished(slot) = .true.
    scheduler%ended = now
    do i = 1, size(scheduler%flight)
      if (scheduler%flight(i)%slot == slot) call Drop(scheduler, i, now)
    end do
    scheduler%again = pack(scheduler%again, scheduler%again /= slot)
  end subroutine SchedulerDone

  !> Takes a shot back. `innocent` losses (the I/O server's own) do not count as attempts. `parked` if it was the last one;
  !> `dropped` if the worker gave up what another one has taken over: that is no loss.
  subroutine SchedulerLost(scheduler, worker, slot, innocent, now, parked, dropped)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: worker, slot
    logical, intent(in) :: innocent
    real(dp), intent(in) :: now
    logical, intent(out) :: parked, dropped
    integer :: i
    parked = .false.
    i = SchedulerFlight(scheduler, worker, slot)
    dropped = scheduler%finished(slot)
    if (i > 0) dropped = dropped .or. scheduler%flight(i)%dropped
    call Land(scheduler, worker, slot, now)
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
    scheduler%place(worker)%slots = 0
    scheduler%place(worker)%waiting = 0
    scheduler%place(worker)%expected = .false.
  end subroutine SchedulerGone

  !> A worker that is to be told to drop a shot; false if there is none (more). Each is named once.
  logical function SchedulerDrop(scheduler, worker, slot) result(there)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(out) :: worker, slot
    integer :: i
    there = .false.
    worker = 0
    slot = 0
    do i = 1, size(scheduler%flight)
      associate (f => scheduler%flight(i))
        if (f%hushed .or. .not. f%dropped) cycle
        f%hushed = .true.
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

  !> Shots wait to be dealt, and no worker would finish even the smallest of them before the deadline. What a first shot tells of
  !> its worker while it goes on, set-up included, is not enough to say so.
  pure logical function SchedulerLate(scheduler, now) result(late)
    type(scheduler_t), intent(in) :: scheduler
    real(dp), intent(in) :: now
    real(dp) :: rate, least
    late = .false.
    if (scheduler%nfresh + size(scheduler%again) == 0 .or. scheduler%deadline >= FOREVER) return
    rate = maxval(RatesAll(scheduler%rates)/max(1, scheduler%place%slots), mask=scheduler%place%slots > 0)
    least = minval(scheduler%cost, mask=scheduler%fresh)
    if (size(scheduler%again) > 0) least = min(least, minval(scheduler%cost(scheduler%again)))
    late = now > scheduler%deadline
    if (any(scheduler%place%slots > 0 .and. scheduler%place%flying > 0 .and. scheduler%rates%shots == 0)) return
    if (rate > 0) late = late .or. least > rate*(scheduler%deadline - now)/SPARE
  end function SchedulerLate

  !> A worker has this shot, be it dropped or not.
  pure logical function SchedulerFlies(scheduler, worker, slot) result(flies)
    type(scheduler_t), intent(in) :: scheduler
    integer, intent(in) :: worker, slot
    flies = SchedulerFlight(scheduler, worker, slot) > 0
  end function SchedulerFlies

  !> A worker has a shot that nobody else has, or has done.
  pure logical function SchedulerHas(scheduler, worker) result(has)
    type(scheduler_t), intent(in) :: scheduler
    integer, intent(in) :: worker
    has = any(scheduler%flight%worker == worker .and. .not. scheduler%flight%dropped)
  end function SchedulerHas

  !> How long the longest of the shots that a worker has should take it [s], beside the others that it has; 0 if it has none, huge()
  !> if nobody knows how fast it is, or it never asked for one.
  pure real(dp) function SchedulerTakes(scheduler, worker) result(seconds)
    type(scheduler_t), intent(in) :: scheduler
    integer, intent(in) :: worker
    real(dp) :: rate(size(scheduler%place))
    integer :: i
    seconds = huge(1.0_dp)
    rate = RatesAll(scheduler%rates, presume=.false.)
    if (scheduler%place(worker)%slots == 0 .or. .not. rate(worker) > 0) return
    seconds = 0
    do i = 1, size(scheduler%flight)
      associate (f => scheduler%flight(i))
        if (f%worker == worker) seconds = max(seconds, scheduler%cost(f%slot)/rate(worker)*scheduler%place(worker)%slots)
      end associate
    end do
  end function SchedulerTakes

  !> Workers that got nothing more although shots were left, because others finished them sooner: how many with a GPU, how many
  !> without, and for how long at most [s] before the last shot was done.
  pure subroutine SchedulerHeldBack(scheduler, gpus, cpus, seconds)
    type(scheduler_t), intent(in) :: scheduler
    integer, intent(out) :: gpus, cpus
    real(dp), intent(out) :: seconds
    logical :: back(size(scheduler%place))
    back = scheduler%place%back >= 0 .and. &
           scheduler%ended - scheduler%place%back > min(1.0_dp, WORTH*(scheduler%ended - scheduler%begun))
    gpus = count(back .and. scheduler%rates%gpu)
    cpus = count(back) - gpus
    seconds = 0
    if (any(back)) seconds = scheduler%ended - minval(scheduler%place%back, mask=back)
  end subroutine SchedulerHeldBack

  ! --- inside --------------------------------------------------------------------------------------------------------

  !> A waiting shot for a worker of this rate that ends what it has in `free` seconds, 0 if it should take none of them. A rate
  !> nobody knows is found by a first shot: then it is 0, or presumed (not `known`), which says nothing of seconds.
  integer function FromQueue(scheduler, seats, worker, rate, known, free, now) result(slot)
    type(scheduler_t), intent(inout) :: scheduler
    type(capacity_t), intent(in) :: seats(:)
    integer, intent(in) :: worker
    real(dp), intent(in) :: rate, free, now
    logical, intent(in) :: known
    real(dp) :: cost, most, total
    integer :: n
    do while (scheduler%next <= size(scheduler%fresh))
      if (scheduler%fresh(scheduler%next)) exit
      scheduler%next = scheduler%next + 1
    end do
    n = scheduler%nfresh + size(scheduler%again)
    cost = scheduler%fresh_cost + sum(scheduler%cost(scheduler%again))
    total = sum(seats%rate)
    most = 0.5_dp*huge(1.0_dp)
    if (rate > 0) then
      slot = First(scheduler)
      most = rate*(cost/total - free)           ! no schedule is shorter: what fits in it needs no closer look
      if (scheduler%cost(slot) > most .or. n <= TAIL_SHOTS*size(seats)) then
        most = rate*(Makespan(seats, n, cost, Largest(scheduler)) - free)
        if (MakespanSpares(seats, worker, n, cost/n, free + cost/(n*rate))) most = 0
      end if
    end if
    if (known) most = min(most, rate/max(1, scheduler%place(worker)%slots)*max(0.0_dp, scheduler%deadline - now)/SPARE)
    if (now > scheduler%deadline) most = 0
    slot = Fitting(scheduler, most*(1 + 1.0e-6_dp), n <= TAIL_SHOTS*size(seats), Suspects(scheduler, worker) > 0)
    if (slot == 0) return
    if (scheduler%fresh(slot)) then
      scheduler%fresh(slot) = .false.
      scheduler%nfresh = scheduler%nfresh - 1
      scheduler%fresh_cost = scheduler%fresh_cost - scheduler%cost(slot)
    else
      scheduler%again = pack(scheduler%again, scheduler%again /= slot)
    end if
  end function FromQueue

  pure integer function First(scheduler) result(slot)
    type(scheduler_t), intent(in) :: scheduler
    if (scheduler%nfresh > 0) then
      slot = scheduler%next
    else
      slot = scheduler%again(1)
    end if
  end function First

  pure real(dp) function Largest(scheduler) result(cost)
    type(scheduler_t), intent(in) :: scheduler
    cost = 0
    if (scheduler%nfresh > 0) cost = maxval(scheduler%cost(scheduler%next:), mask=scheduler%fresh(scheduler%next:))
    if (size(scheduler%again) > 0) cost = max(cost, maxval(scheduler%cost(scheduler%again)))
  end function Largest

  !> Shots with a worker that may have killed others.
  pure integer function Suspects(scheduler, worker) result(n)
    type(scheduler_t), intent(in) :: scheduler
    integer, intent(in) :: worker
    n = count(scheduler%deaths(scheduler%flight%slot) > 0 .and. scheduler%flight%worker == worker)
  end function Suspects

  !> The first waiting shot of at most so many updates, or the `largest` such; 0 if there is none. Fresh ones before lost ones,
  !> those that may have killed a worker last, and with `harmless` none of these.
  pure integer function Fitting(scheduler, most, largest, harmless) result(slot)
    type(scheduler_t), intent(in) :: scheduler
    real(dp), intent(in) :: most
    logical, intent(in) :: largest, harmless
    integer :: i
    logical :: suspects
    slot = 0
    if (scheduler%nfresh > 0) then
      do i = scheduler%next, size(scheduler%fresh)
        if (.not. scheduler%fresh(i) .or. scheduler%cost(i) > most) cycle
        if (slot > 0) then
          if (scheduler%cost(i) <= scheduler%cost(slot)) cycle
        end if
        slot = i
        if (.not. largest) return
      end do
    end if
    suspects = .false.
    do while (slot == 0)
      associate (fits => scheduler%cost(scheduler%again) <= most .and. (scheduler%deaths(scheduler%again) > 0 .eqv. suspects))
        i = findloc(fits, .true., 1)
        if (largest .and. i > 0) i = maxloc(scheduler%cost(scheduler%again), 1, mask=fits)
      end associate
      if (i > 0) slot = scheduler%again(i)
      if (suspects .or. harmless) exit
      suspects = .true.
    end do
  end function Fitting

  !> A flight goes on with another worker.
  subroutine TakeOver(scheduler, i, now, slot, from)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: i
    real(dp), intent(in) :: now
    integer, intent(out) :: slot, from
    slot = scheduler%flight(i)%slot
    from = scheduler%flight(i)%worker
    scheduler%moved(slot) = scheduler%moved(slot) + 1
    scheduler%takeovers = scheduler%takeovers + 1
    call Drop(scheduler, i, now)
    if (scheduler%place(from)%back < 0) scheduler%place(from)%back = now
  end subroutine TakeOver

  subroutine Drop(scheduler, i, now)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: i
    real(dp), intent(in) :: now
    if (scheduler%flight(i)%dropped) return
    scheduler%flight(i)%dropped = .true.
    scheduler%flight(i)%told = now
  end subroutine Drop

  !> A worker has a shot no longer.
  subroutine Land(scheduler, worker, slot, now)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: worker, slot
    real(dp), intent(in) :: now
    integer :: i
    i = SchedulerFlight(scheduler, worker, slot)
    if (i == 0) return
    call Elapse(scheduler%place(worker), now)
    if (scheduler%flight(i)%held) scheduler%place(worker)%held = scheduler%place(worker)%held - 1
    scheduler%flight = [scheduler%flight(:i - 1), scheduler%flight(i + 1:)]
    scheduler%place(worker)%flying = scheduler%place(worker)%flying - 1
    scheduler%place(worker)%away = now
  end subroutine Land

  pure integer function SchedulerFlight(scheduler, worker, slot) result(at)
    type(scheduler_t), intent(in) :: scheduler
    integer, intent(in) :: worker, slot
    do at = 1, size(scheduler%flight)
      if (scheduler%flight(at)%slot == slot .and. scheduler%flight(at)%worker == worker) return
    end do
    at = 0
  end function SchedulerFlight

  !> Time passes: the shots of a worker that compute share its rate, so each has its part of that time. While all are set up or
  !> wait the time is nobody's, and still the worker's.
  pure subroutine Elapse(place, now)
    type(worker_load_t), intent(inout) :: place
    real(dp), intent(in) :: now
    real(dp) :: passed
    passed = max(0.0_dp, now - place%seen)
    if (place%flying > place%held) then
      place%shared = place%shared + passed/(place%flying - place%held)
    else if (place%flying > 0) then
      place%idle = place%idle + passed
    end if
    place%seen = now
  end subroutine Elapse

  !> A shot is done up to this part of its flight: how fast its worker was by that. What is older than as many shots as the worker
  !> has at once counts half.
  subroutine CountWork(scheduler, flight, done, now)
    type(scheduler_t), intent(inout) :: scheduler
    type(dealt_shot_t), intent(inout) :: flight
    real(dp), intent(in) :: done, now
    real(dp) :: part, keep
    part = max(0.0_dp, done - flight%fraction)*flight%share
    associate (p => scheduler%place(flight%worker))
      call Elapse(p, now)
      if (now > p%counted) then                 ! shots that end at once are equally old
        keep = 0.5_dp**(p%recent/max(1, p%slots))
        p%work = keep*p%work
        p%spent = keep*p%spent
        p%recent = 0
        p%counted = now
      end if
      p%recent = p%recent + part
      p%work = p%work + part*scheduler%cost(flight%slot)
      p%spent = p%spent + p%idle
      if (.not. flight%held) p%spent = p%spent + p%shared - flight%shared
      p%idle = 0
      flight%shared = p%shared
    end associate
  end subroutine CountWork

  !> What each worker has, and when it can begin more: how soon one asks that was heard of a while ago nobody knows: as long as it
  !> is away already. The slot of a worker with one is one seat. A worker with several has a seat for each shot, and one with its
  !> rate, which is free when all of these are done: whatever is dealt to it shares its rate with them.
  pure subroutine SeatsNow(scheduler, rate, now, seats)
    type(scheduler_t), intent(in) :: scheduler
    real(dp), intent(in) :: rate(:)             !< (workers)
    real(dp), intent(in) :: now
    type(capacity_t), allocatable, intent(out) :: seats(:)
    type(capacity_t) :: own
    integer :: first(size(rate) + 1), mine(size(scheduler%flight)), w, i, n
    call ByWorker(scheduler, first, mine)
    allocate (seats(size(rate) + size(mine)))
    n = 0
    do w = 1, size(rate)
      associate (p => scheduler%place(w))
        own = capacity_t(worker=w, rate=rate(w), free=merge(0.0_dp, now - p%away, p%waiting > 0))
        if (p%slots > 1) then
          call SeatsShared(scheduler, mine(first(w):first(w + 1) - 1), own, now, seats, n)
        else
          do i = first(w), first(w + 1) - 1
            n = n + 1
            seats(n) = Busy(scheduler, mine(i), rate(w), now)
          end do
        end if
        if (p%slots > merge(0, p%flying, p%slots > 1) .or. p%expected) then
          n = n + 1
          seats(n) = own
        end if
      end associate
    end do
    seats = seats(:n)
  end subroutine SeatsNow

  !> The flights of worker w are `mine`(first(w) .. first(w+1)-1), in their order.
  pure subroutine ByWorker(scheduler, first, mine)
    type(scheduler_t), intent(in) :: scheduler
    integer, intent(out) :: first(:), mine(:)
    integer :: at(size(first)), i, w
    first = 0
    do i = 1, size(mine)
      w = scheduler%flight(i)%worker
      first(w + 1) = first(w + 1) + 1
    end do
    first(1) = 1
    do w = 2, size(first)
      first(w) = first(w - 1) + first(w)
    end do
    at = first
    do i = 1, size(mine)
      w = scheduler%flight(i)%worker
      mine(at(w)) = i
      at(w) = at(w) + 1
    end do
  end subroutine ByWorker

  !> Adds the seats of the shots of a worker, the flights `mine`. Together they end when its rate has done what is left of all, the
  !> last of them then: those that compute share it, those that are held come after them. What was done of a shot since it was last
  !> told is not known: its part of the worker's rate says it, and what is overdue is expected to take as long again. `own`, the
  !> seat that has the rate, is free then.
  pure subroutine SeatsShared(scheduler, mine, own, now, seats, nseats)
    type(scheduler_t), intent(in) :: scheduler
    integer, intent(in) :: mine(:)
    type(capacity_t), intent(inout) :: own
    real(dp), intent(in) :: now
    type(capacity_t), intent(inout) :: seats(:)
    integer, intent(inout) :: nseats            !< of them are there
    integer, allocatable :: flights(:)
    real(dp), allocatable :: left(:)            !< to do of each [s of the whole rate]; -1: its end is known
    real(dp) :: before, ends, shared
    integer :: i, k, n, computing
    flights = pack(mine, .not. scheduler%flight(mine)%dropped)
    n = size(flights)
    if (n == 0) return
    shared = scheduler%place(own%worker)%shared
    associate (p => scheduler%place(own%worker))
      if (p%flying > p%held) shared = shared + (now - p%seen)/(p%flying - p%held)
    end associate
    associate (f => scheduler%flight(flights), s => seats(nseats + 1:nseats + n))
      left = scheduler%cost(f%slot)*f%share*(1 - f%fraction)/max(own%rate, SLOWEST)
      where (.not. f%held) left = abs(left - (shared - f%shared))
      computing = count(.not. f%held)
      before = 0
      ends = 0
      do k = n, 1, -1
        i = minloc(left, 1, mask=left >= 0 .and. (f%held .eqv. k <= n - computing))
        if (f(i)%held) ends = ends + left(i)
        if (.not. f(i)%held) ends = ends + (left(i) - before)*(k - n + computing)
        if (.not. f(i)%held) before = left(i)
        left(i) = -1
        s(i) = capacity_t(worker=own%worker, free=ends, cost=scheduler%cost(f(i)%slot), flight=flights(i))
        s(i)%fixed = Fixed(scheduler, flights(i))
      end do
    end associate
    own%free = ends
    nseats = nseats + n
  end subroutine SeatsShared

  !> The seat of a flight. It ends when its own progress and its worker's rate say; one that is overdue by some time is expected to
  !> take as long again, and so is one of which nothing is known.
  pure type(capacity_t) function Busy(scheduler, i, rate, now) result(seat)
    type(scheduler_t), intent(in) :: scheduler
    integer, intent(in) :: i
    real(dp), intent(in) :: rate, now
    real(dp) :: whole
    associate (f => scheduler%flight(i))
      seat = capacity_t(worker=f%worker, rate=rate, free=now - f%told, flight=i)
      if (f%dropped) return
      seat%cost = scheduler%cost(f%slot)
      whole = 0
      if (rate > 0) whole = f%share*seat%cost/rate
      if (f%fraction > 0 .and. rate > 0) then
        whole = (f%told - f%since + PRIOR*whole)/(f%fraction + PRIOR)
      end if
      seat%free = abs(whole - (now - f%since))
      seat%fixed = Fixed(scheduler, i)
    end associate
  end function Busy

  !> A flight is not to be taken over: it was too often, or its shot may have killed a worker.
  pure logical function Fixed(scheduler, i)
    type(scheduler_t), intent(in) :: scheduler
    integer, intent(in) :: i
    Fixed = scheduler%moved(scheduler%flight(i)%slot) >= MOVES .or. scheduler%deaths(scheduler%flight(i)%slot) > 0
  end function Fixed

end module scheduler_m
