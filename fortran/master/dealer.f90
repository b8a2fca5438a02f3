!> Which shot goes next, and to whom: the states of the shots, how often each was tried, and what the workers are doing.
!>
!> Shots go out in the order of the key-map while there is plenty. Near the end (tail.f90) a worker gets only a shot that it
!> finishes before the others could have done everything without it: one that is too slow waits. When nothing is left to deal, an
!> idle worker takes a shot over from one that would need much longer for it; the slow one is told to drop it. The first answer
!> counts, a later one does not. So a fast worker is never idle while a slow one holds a shot that it would finish sooner, whatever
!> was known of their rates when that shot was dealt.
!>
!> The same rule keeps a worker with many slots from taking what another one could begin at once. It holds from the first deal on:
!> as long as no rate is known workers of a kind are presumed equally fast, and workers that have not asked yet count as if they
!> came as soon as they have been waited for.
!>
!> No shot is dealt that its worker would not finish before the deadline. Shots that may have killed a worker (deaths.f90) go last,
!> one at a time to a worker, and are not taken over.
module dealer_m
  use kinds_m, only: dp
  use rates_m, only: RatesAll, rates_t, RatesHint, RatesKind, RatesMean, RatesNew, RatesPresumed, RatesTake, RatesTrial
  use tail_m, only: seat_t, TailSpares, TailTake, TailTime
  implicit none
  private
  public :: dealer_t, DealerNew, DealerReady, DealerNext, DealerPut, DealerDone, DealerLost, DealerAgain, DealerGone, DealerDrop
  public :: FOREVER, DealerIdle, DealerParked, DealerFlies, DealerHeldBack, DealerHold, DealerLate, DealerTake, DealerPark
  public :: DealerUnpark, DealerTakes, DealerHas, DealerExpect

  real(dp), parameter :: PRIOR = 0.05_dp        !< a worker's rate counts like this part of a shot against the shot's own progress
  real(dp), parameter :: LONE = 0.7_dp          !< a shot alone gets so much of the rate of a worker with several slots, or more
  integer, parameter :: TAIL_SHOTS = 4          !< shots a slot left to deal: from here on large ones go first
  real(dp), parameter :: WORTH = 0.02_dp        !< a wait shorter than that part of the run, or a second, is not worth a word
  integer, parameter :: MOVES = 2               !< a shot is taken over so often at most
  real(dp), parameter :: FOREVER = 1.0e15_dp    !< [s]
  real(dp), parameter :: SLOWEST = 1.0e-30_dp   !< a worker whose rate is 0 ends after all others, at a time that can be summed up
  real(dp), parameter :: SPARE = 1.25_dp        !< a shot may take so much longer than its worker's rate says

  !> A shot with a worker. One of a worker with several is held until that says that its steps have begun.
  type :: flight_t
    integer :: slot = 0, worker = 0
    real(dp) :: since = 0                       !< dealt at, or begun after a wait at [s]
    logical :: held = .false.                   !< it is set up, or waits until others of its worker have done their steps
    real(dp) :: fraction = 0, told = 0          !< done, and when that was told [s]
    real(dp) :: shared = 0                      !< place_t%shared when its progress was counted last [s]
    real(dp) :: share = 1                       !< of the shot that is computed in this flight: it may have begun from a state
    logical :: dropped = .false.                !< another worker has the shot now, or has done it
    logical :: hushed = .false.                 !< the worker knows
  end type flight_t

  !> What a worker does.
  type :: place_t
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
  end type place_t

  type :: dealer_t
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
    type(place_t), allocatable :: place(:)      !< (workers)
    type(flight_t), allocatable :: flight(:)    !< (shots with workers)
  end type dealer_t

contains

  !> All shots not `done` are to be dealt, each at most 1 + `retries` times. `cost`: cell updates of each. `tried`: shots that an
  !> earlier run dealt and that did not come back: they count as lost ones and go after the fresh ones.
  subroutine DealerNew(dealer, done, cost, retries, nworkers, tried)
    type(dealer_t), intent(out) :: dealer
    logical, intent(in) :: done(:)
    real(dp), intent(in) :: cost(:)
    integer, intent(in) :: retries, nworkers
    logical, intent(in), optional :: tried(:)
    integer :: i
    dealer%finished = done
    dealer%cost = cost
    dealer%fresh = .not. done
    if (present(tried)) dealer%fresh = .not. (done .or. tried)
    allocate (dealer%given_up(size(done)), source=.false.)
    allocate (dealer%attempts(size(done)), source=0)
    allocate (dealer%deaths(size(done)), source=0)
    allocate (dealer%moved(size(done)), source=0)
    allocate (dealer%flight(0), dealer%place(nworkers))
    dealer%again = pack([(i, i=1, size(done))], .not. (done .or. dealer%fresh))
    dealer%left = count(.not. done)
    dealer%nfresh = count(dealer%fresh)
    dealer%fresh_cost = sum(cost, mask=dealer%fresh)
    dealer%retries = retries
    call RatesNew(dealer%rates, nworkers)
  end subroutine DealerNew

  ! --- what workers say ----------------------------------------------------------------------------------------------

  !> A worker will ask for shots; it computes on a GPU or with so many threads. To be told before the first one asks.
  subroutine DealerExpect(dealer, worker, gpu, threads)
    type(dealer_t), intent(inout) :: dealer
    integer, intent(in) :: worker, threads
    logical, intent(in) :: gpu
    logical :: changed
    call RatesKind(dealer%rates, worker, gpu, threads, changed)
    dealer%place(worker)%expected = .true.
  end subroutine DealerExpect

  !> A slot of a worker has nothing to do; it computes on a GPU or with so many threads. Times `now` are seconds of any one clock.
  !> `trial`: cell updates a second that the worker found in a trial, 0 = it made none.
  subroutine DealerReady(dealer, worker, gpu, threads, now, trial)
    type(dealer_t), intent(inout) :: dealer
    integer, intent(in) :: worker, threads
    logical, intent(in) :: gpu
    real(dp), intent(in) :: now
    real(dp), intent(in), optional :: trial
    logical :: changed
    if (dealer%begun < 0) then
      dealer%begun = now
      dealer%place%away = now
    end if
    call RatesKind(dealer%rates, worker, gpu, threads, changed)
    if (present(trial)) call RatesTrial(dealer%rates, worker, trial)
    associate (p => dealer%place(worker))
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
  end subroutine DealerReady

  !> The slot to model next for a worker that is ready: 0 if it has to wait. `from`: the worker this shot is taken over from, 0 if
  !> it is dealt from the key-map. Fresh shots go before lost ones.
  subroutine DealerNext(dealer, worker, now, slot, from)
    type(dealer_t), intent(inout) :: dealer
    integer, intent(in) :: worker
    real(dp), intent(in) :: now
    integer, intent(out) :: slot, from
    type(seat_t), allocatable :: seats(:)
    integer :: i
    real(dp) :: rate(size(dealer%place)), time, free
    logical :: declined, known
    slot = 0
    from = 0
    if (dealer%left == 0) return
    rate = RatesAll(dealer%rates)
    declined = dealer%nfresh + size(dealer%again) > 0
    known = rate(worker) > 0
    if (declined .and. .not. any(rate > 0) .and. dealer%place(worker)%flying > 0) rate = RatesPresumed(dealer%rates)
    call SeatsNow(dealer, rate, now, seats)
    free = 0                                    ! of a worker with several slots: it ends this shot after those it has
    if (dealer%place(worker)%slots > 1) free = maxval(seats%free, mask=seats%worker == worker)
    if (declined) then
      slot = FromQueue(dealer, seats, worker, rate(worker), known, free, now)
    else
      time = TailTime(seats, 0, 0.0_dp, 0.0_dp)
      i = TailTake(seats, worker, rate(worker), merge(LONE, 1.0_dp, dealer%place(worker)%slots > 1), free, time)
      if (i > 0) call TakeOver(dealer, seats(i)%flight, now, slot, from)
    end if
    associate (p => dealer%place(worker))
      if (slot > 0) then
        p%waiting = p%waiting - 1
        call DealerTake(dealer, worker, slot, now)
      else if (declined .and. p%back < 0 .and. p%flying == 0) then
        p%back = now
      end if
    end associate
  end subroutine DealerNext

  !> A worker has a shot from now on.
  subroutine DealerTake(dealer, worker, slot, now)
    type(dealer_t), intent(inout) :: dealer
    integer, intent(in) :: worker, slot
    real(dp), intent(in) :: now
    logical :: held
    associate (p => dealer%place(worker))
      call Elapse(p, now)
      held = p%slots > 1
      p%flying = p%flying + 1
      if (held) p%held = p%held + 1
      p%slots = max(p%slots, p%waiting + p%flying)
      p%back = -1
    end associate
    dealer%flight = [dealer%flight, flight_t(slot=slot, worker=worker, since=now, told=now, held=held, &
                                               shared=dealer%place(worker)%shared)]
  end subroutine DealerTake

  !> A worker tells what fraction of a shot is done, and with what fraction it began.
  subroutine DealerPut(dealer, worker, slot, fraction, now, head)
    type(dealer_t), intent(inout) :: dealer
    integer, intent(in) :: worker, slot
    real(dp), intent(in) :: fraction, now
    real(dp), intent(in), optional :: head
    real(dp) :: done
    integer :: i
    i = DealerFlight(dealer, worker, slot)
    if (i == 0) return
    associate (f => dealer%flight(i), p => dealer%place(worker))
      if (present(head)) f%share = 1 - min(max(head, 0.0_dp), 0.999_dp)
      done = (fraction - (1 - f%share))/f%share
      if (done <= f%fraction .or. fraction > 1) return
      call DealerHold(dealer, worker, slot, .false., now)
      call CountWork(dealer, f, done, now)
      f%fraction = done
      f%told = now
      if (p%slots > 1) call RatesHint(dealer%rates, worker, p%work, p%spent)
      if (p%slots <= 1) call RatesHint(dealer%rates, worker, done*f%share*dealer%cost(slot), now - f%since)
    end associate
  end subroutine DealerPut

  !> A shot is set up, or waits until others of its worker have done their steps; or its steps begin.
  subroutine DealerHold(dealer, worker, slot, held, now)
    type(dealer_t), intent(inout) :: dealer
    integer, intent(in) :: worker, slot
    logical, intent(in) :: held
    real(dp), intent(in) :: now
    integer :: i
    i = DealerFlight(dealer, worker, slot)
    if (i == 0) return
    if (dealer%flight(i)%held .eqv. held) return
    associate (f => dealer%flight(i), p => dealer%place(worker))
      call Elapse(p, now)
      p%held = p%held + merge(1, -1, held)
      f%held = held
      f%since = now
      f%told = now
      f%shared = p%shared
    end associate
  end subroutine DealerHold

  !> The traces of a shot are on disk, from this worker. Others that still work on it are to drop it.
  subroutine DealerDone(dealer, worker, slot, now)
    type(dealer_t), intent(inout) :: dealer
    integer, intent(in) :: worker, slot
    real(dp), intent(in) :: now
    integer :: i
    i = DealerFlight(dealer, worker, slot)
    if (i > 0) then
      associate (f => dealer%flight(i), p => dealer%place(worker))
        call CountWork(dealer, f, 1.0_dp, now)
        if (p%slots > 1) call RatesMean(dealer%rates, worker, p%work, p%spent)
        if (p%slots <= 1) call RatesTake(dealer%rates, worker, f%share*dealer%cost(slot), now - f%since)
      end associate
    end if
    call Land(dealer, worker, slot, now)
    call DealerUnpark(dealer, slot)
    if (dealer%finished(slot)) return
    dealer%left = dealer%left - 1
    dealer%finished(slot) = .true.
    dealer%ended = now
    do i = 1, size(dealer%flight)
      if (dealer%flight(i)%slot == slot) call Drop(dealer, i, now)
    end do
    dealer%again = pack(dealer%again, dealer%again /= slot)
  end subroutine DealerDone

  !> Takes a shot back. `innocent` losses (the I/O server's own) do not count as attempts. `parked` if it was the last one;
  !> `dropped` if the worker gave up what another one has taken over: that is no loss.
  subroutine DealerLost(dealer, worker, slot, innocent, now, parked, dropped)
    type(dealer_t), intent(inout) :: dealer
    integer, intent(in) :: worker, slot
    logical, intent(in) :: innocent
    real(dp), intent(in) :: now
    logical, intent(out) :: parked, dropped
    integer :: i
    parked = .false.
    i = DealerFlight(dealer, worker, slot)
    dropped = dealer%finished(slot)
    if (i > 0) dropped = dropped .or. dealer%flight(i)%dropped
    call Land(dealer, worker, slot, now)
    if (dropped) return
    if (.not. innocent) dealer%attempts(slot) = dealer%attempts(slot) + 1
    dealer%again = [dealer%again, slot]
    parked = dealer%attempts(slot) > dealer%retries
    if (parked) call DealerPark(dealer, slot)
  end subroutine DealerLost

  !> A shot that counted as done is not, its traces are damaged: it is dealt again.
  subroutine DealerAgain(dealer, slot)
    type(dealer_t), intent(inout) :: dealer
    integer, intent(in) :: slot
    if (.not. dealer%finished(slot)) return
    dealer%finished(slot) = .false.
    dealer%left = dealer%left + 1
    dealer%again = [dealer%again, slot]
  end subroutine DealerAgain

  !> A lost shot is not dealt any more.
  subroutine DealerPark(dealer, slot)
    type(dealer_t), intent(inout) :: dealer
    integer, intent(in) :: slot
    if (dealer%finished(slot)) return
    dealer%given_up(slot) = .true.
    dealer%finished(slot) = .true.
    dealer%parked = dealer%parked + 1
    dealer%left = dealer%left - 1
    dealer%again = pack(dealer%again, dealer%again /= slot)
  end subroutine DealerPark

  !> It is to be dealt again after all, or its traces have come.
  subroutine DealerUnpark(dealer, slot)
    type(dealer_t), intent(inout) :: dealer
    integer, intent(in) :: slot
    if (.not. dealer%given_up(slot)) return
    dealer%given_up(slot) = .false.
    dealer%finished(slot) = .false.
    dealer%parked = dealer%parked - 1
    dealer%left = dealer%left + 1
    dealer%again = [dealer%again, slot]
  end subroutine DealerUnpark

  !> A worker will ask for nothing more.
  subroutine DealerGone(dealer, worker)
    type(dealer_t), intent(inout) :: dealer
    integer, intent(in) :: worker
    dealer%place(worker)%slots = 0
    dealer%place(worker)%waiting = 0
    dealer%place(worker)%expected = .false.
  end subroutine DealerGone

  !> A worker that is to be told to drop a shot; false if there is none (more). Each is named once.
  logical function DealerDrop(dealer, worker, slot) result(there)
    type(dealer_t), intent(inout) :: dealer
    integer, intent(out) :: worker, slot
    integer :: i
    there = .false.
    worker = 0
    slot = 0
    do i = 1, size(dealer%flight)
      associate (f => dealer%flight(i))
        if (f%hushed .or. .not. f%dropped) cycle
        f%hushed = .true.
        worker = f%worker
        slot = f%slot
        there = .true.
        return
      end associate
    end do
  end function DealerDrop

  ! --- what is known -------------------------------------------------------------------------------------------------

  !> Nothing is left to deal and nothing is with a worker.
  pure logical function DealerIdle(dealer) result(idle)
    type(dealer_t), intent(in) :: dealer
    idle = dealer%left == 0
  end function DealerIdle

  !> The slot was lost too often and is not dealt again in this run.
  pure logical function DealerParked(dealer, slot) result(parked)
    type(dealer_t), intent(in) :: dealer
    integer, intent(in) :: slot
    parked = dealer%given_up(slot)
  end function DealerParked

  !> Shots wait to be dealt, and no worker would finish even the smallest of them before the deadline. What a first shot tells of
  !> its worker while it goes on, set-up included, is not enough to say so.
  pure logical function DealerLate(dealer, now) result(late)
    type(dealer_t), intent(in) :: dealer
    real(dp), intent(in) :: now
    real(dp) :: rate, least
    late = .false.
    if (dealer%nfresh + size(dealer%again) == 0 .or. dealer%deadline >= FOREVER) return
    rate = maxval(RatesAll(dealer%rates)/max(1, dealer%place%slots), mask=dealer%place%slots > 0)
    least = minval(dealer%cost, mask=dealer%fresh)
    if (size(dealer%again) > 0) least = min(least, minval(dealer%cost(dealer%again)))
    late = now > dealer%deadline
    if (any(dealer%place%slots > 0 .and. dealer%place%flying > 0 .and. dealer%rates%shots == 0)) return
    if (rate > 0) late = late .or. least > rate*(dealer%deadline - now)/SPARE
  end function DealerLate

  !> A worker has this shot, be it dropped or not.
  pure logical function DealerFlies(dealer, worker, slot) result(flies)
    type(dealer_t), intent(in) :: dealer
    integer, intent(in) :: worker, slot
    flies = DealerFlight(dealer, worker, slot) > 0
  end function DealerFlies

  !> A worker has a shot that nobody else has, or has done.
  pure logical function DealerHas(dealer, worker) result(has)
    type(dealer_t), intent(in) :: dealer
    integer, intent(in) :: worker
    has = any(dealer%flight%worker == worker .and. .not. dealer%flight%dropped)
  end function DealerHas

  !> How long the longest of the shots that a worker has should take it [s], beside the others that it has; 0 if it has none, huge()
  !> if nobody knows how fast it is, or it never asked for one.
  pure real(dp) function DealerTakes(dealer, worker) result(seconds)
    type(dealer_t), intent(in) :: dealer
    integer, intent(in) :: worker
    real(dp) :: rate(size(dealer%place))
    integer :: i
    seconds = huge(1.0_dp)
    rate = RatesAll(dealer%rates, presume=.false.)
    if (dealer%place(worker)%slots == 0 .or. .not. rate(worker) > 0) return
    seconds = 0
    do i = 1, size(dealer%flight)
      associate (f => dealer%flight(i))
        if (f%worker == worker) seconds = max(seconds, dealer%cost(f%slot)/rate(worker)*dealer%place(worker)%slots)
      end associate
    end do
  end function DealerTakes

  !> Workers that got nothing more although shots were left, because others finished them sooner: how many with a GPU, how many
  !> without, and for how long at most [s] before the last shot was done.
  pure subroutine DealerHeldBack(dealer, gpus, cpus, seconds)
    type(dealer_t), intent(in) :: dealer
    integer, intent(out) :: gpus, cpus
    real(dp), intent(out) :: seconds
    logical :: back(size(dealer%place))
    back = dealer%place%back >= 0 .and. dealer%ended - dealer%place%back > min(1.0_dp, WORTH*(dealer%ended - dealer%begun))
    gpus = count(back .and. dealer%rates%gpu)
    cpus = count(back) - gpus
    seconds = 0
    if (any(back)) seconds = dealer%ended - minval(dealer%place%back, mask=back)
  end subroutine DealerHeldBack

  ! --- inside --------------------------------------------------------------------------------------------------------

  !> A waiting shot for a worker of this rate that ends what it has in `free` seconds, 0 if it should take none of them. A rate
  !> nobody knows is found by a first shot: then it is 0, or presumed (not `known`), which says nothing of seconds.
  integer function FromQueue(dealer, seats, worker, rate, known, free, now) result(slot)
    type(dealer_t), intent(inout) :: dealer
    type(seat_t), intent(in) :: seats(:)
    integer, intent(in) :: worker
    real(dp), intent(in) :: rate, free, now
    logical, intent(in) :: known
    real(dp) :: cost, most, total
    integer :: n
    do while (dealer%next <= size(dealer%fresh))
      if (dealer%fresh(dealer%next)) exit
      dealer%next = dealer%next + 1
    end do
    n = dealer%nfresh + size(dealer%again)
    cost = dealer%fresh_cost + sum(dealer%cost(dealer%again))
    total = sum(seats%rate)
    most = 0.5_dp*huge(1.0_dp)
    if (rate > 0) then
      slot = First(dealer)
      most = rate*(cost/total - free)           ! no schedule is shorter: what fits in it needs no closer look
      if (dealer%cost(slot) > most .or. n <= TAIL_SHOTS*size(seats)) then
        most = rate*(TailTime(seats, n, cost, Largest(dealer)) - free)
        if (TailSpares(seats, worker, n, cost/n, free + cost/(n*rate))) most = 0
      end if
    end if
    if (known) most = min(most, rate/max(1, dealer%place(worker)%slots)*max(0.0_dp, dealer%deadline - now)/SPARE)
    if (now > dealer%deadline) most = 0
    slot = Fitting(dealer, most*(1 + 1.0e-6_dp), n <= TAIL_SHOTS*size(seats), Suspects(dealer, worker) > 0)
    if (slot == 0) return
    if (dealer%fresh(slot)) then
      dealer%fresh(slot) = .false.
      dealer%nfresh = dealer%nfresh - 1
      dealer%fresh_cost = dealer%fresh_cost - dealer%cost(slot)
    else
      dealer%again = pack(dealer%again, dealer%again /= slot)
    end if
  end function FromQueue

  pure integer function First(dealer) result(slot)
    type(dealer_t), intent(in) :: dealer
    if (dealer%nfresh > 0) then
      slot = dealer%next
    else
      slot = dealer%again(1)
    end if
  end function First

  pure real(dp) function Largest(dealer) result(cost)
    type(dealer_t), intent(in) :: dealer
    cost = 0
    if (dealer%nfresh > 0) cost = maxval(dealer%cost(dealer%next:), mask=dealer%fresh(dealer%next:))
    if (size(dealer%again) > 0) cost = max(cost, maxval(dealer%cost(dealer%again)))
  end function Largest

  !> Shots with a worker that may have killed others.
  pure integer function Suspects(dealer, worker) result(n)
    type(dealer_t), intent(in) :: dealer
    integer, intent(in) :: worker
    n = count(dealer%deaths(dealer%flight%slot) > 0 .and. dealer%flight%worker == worker)
  end function Suspects

  !> The first waiting shot of at most so many updates, or the `largest` such; 0 if there is none. Fresh ones before lost ones,
  !> those that may have killed a worker last, and with `harmless` none of these.
  pure integer function Fitting(dealer, most, largest, harmless) result(slot)
    type(dealer_t), intent(in) :: dealer
    real(dp), intent(in) :: most
    logical, intent(in) :: largest, harmless
    integer :: i
    logical :: suspects
    slot = 0
    if (dealer%nfresh > 0) then
      do i = dealer%next, size(dealer%fresh)
        if (.not. dealer%fresh(i) .or. dealer%cost(i) > most) cycle
        if (slot > 0) then
          if (dealer%cost(i) <= dealer%cost(slot)) cycle
        end if
        slot = i
        if (.not. largest) return
      end do
    end if
    suspects = .false.
    do while (slot == 0)
      associate (fits => dealer%cost(dealer%again) <= most .and. (dealer%deaths(dealer%again) > 0 .eqv. suspects))
        i = findloc(fits, .true., 1)
        if (largest .and. i > 0) i = maxloc(dealer%cost(dealer%again), 1, mask=fits)
      end associate
      if (i > 0) slot = dealer%again(i)
      if (suspects .or. harmless) exit
      suspects = .true.
    end do
  end function Fitting

  !> A flight goes on with another worker.
  subroutine TakeOver(dealer, i, now, slot, from)
    type(dealer_t), intent(inout) :: dealer
    integer, intent(in) :: i
    real(dp), intent(in) :: now
    integer, intent(out) :: slot, from
    slot = dealer%flight(i)%slot
    from = dealer%flight(i)%worker
    dealer%moved(slot) = dealer%moved(slot) + 1
    dealer%takeovers = dealer%takeovers + 1
    call Drop(dealer, i, now)
    if (dealer%place(from)%back < 0) dealer%place(from)%back = now
  end subroutine TakeOver

  subroutine Drop(dealer, i, now)
    type(dealer_t), intent(inout) :: dealer
    integer, intent(in) :: i
    real(dp), intent(in) :: now
    if (dealer%flight(i)%dropped) return
    dealer%flight(i)%dropped = .true.
    dealer%flight(i)%told = now
  end subroutine Drop

  !> A worker has a shot no longer.
  subroutine Land(dealer, worker, slot, now)
    type(dealer_t), intent(inout) :: dealer
    integer, intent(in) :: worker, slot
    real(dp), intent(in) :: now
    integer :: i
    i = DealerFlight(dealer, worker, slot)
    if (i == 0) return
    call Elapse(dealer%place(worker), now)
    if (dealer%flight(i)%held) dealer%place(worker)%held = dealer%place(worker)%held - 1
    dealer%flight = [dealer%flight(:i - 1), dealer%flight(i + 1:)]
    dealer%place(worker)%flying = dealer%place(worker)%flying - 1
    dealer%place(worker)%away = now
  end subroutine Land

  pure integer function DealerFlight(dealer, worker, slot) result(at)
    type(dealer_t), intent(in) :: dealer
    integer, intent(in) :: worker, slot
    do at = 1, size(dealer%flight)
      if (dealer%flight(at)%slot == slot .and. dealer%flight(at)%worker == worker) return
    end do
    at = 0
  end function DealerFlight

  !> Time passes: the shots of a worker that compute share its rate, so each has its part of that time. While all are set up or
  !> wait the time is nobody's, and still the worker's.
  pure subroutine Elapse(place, now)
    type(place_t), intent(inout) :: place
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
  subroutine CountWork(dealer, flight, done, now)
    type(dealer_t), intent(inout) :: dealer
    type(flight_t), intent(inout) :: flight
    real(dp), intent(in) :: done, now
    real(dp) :: part, keep
    part = max(0.0_dp, done - flight%fraction)*flight%share
    associate (p => dealer%place(flight%worker))
      call Elapse(p, now)
      if (now > p%counted) then                 ! shots that end at once are equally old
        keep = 0.5_dp**(p%recent/max(1, p%slots))
        p%work = keep*p%work
        p%spent = keep*p%spent
        p%recent = 0
        p%counted = now
      end if
      p%recent = p%recent + part
      p%work = p%work + part*dealer%cost(flight%slot)
      p%spent = p%spent + p%idle
      if (.not. flight%held) p%spent = p%spent + p%shared - flight%shared
      p%idle = 0
      flight%shared = p%shared
    end associate
  end subroutine CountWork

  !> What each worker has, and when it can begin more: how soon one asks that was heard of a while ago nobody knows: as long as it
  !> is away already. The slot of a worker with one is one seat. A worker with several has a seat for each shot, and one with its
  !> rate, which is free when all of these are done: whatever is dealt to it shares its rate with them.
  pure subroutine SeatsNow(dealer, rate, now, seats)
    type(dealer_t), intent(in) :: dealer
    real(dp), intent(in) :: rate(:)             !< (workers)
    real(dp), intent(in) :: now
    type(seat_t), allocatable, intent(out) :: seats(:)
    type(seat_t) :: own
    integer :: first(size(rate) + 1), mine(size(dealer%flight)), w, i, n
    call ByWorker(dealer, first, mine)
    allocate (seats(size(rate) + size(mine)))
    n = 0
    do w = 1, size(rate)
      associate (p => dealer%place(w))
        own = seat_t(worker=w, rate=rate(w), free=merge(0.0_dp, now - p%away, p%waiting > 0))
        if (p%slots > 1) then
          call SeatsShared(dealer, mine(first(w):first(w + 1) - 1), own, now, seats, n)
        else
          do i = first(w), first(w + 1) - 1
            n = n + 1
            seats(n) = Busy(dealer, mine(i), rate(w), now)
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
  pure subroutine ByWorker(dealer, first, mine)
    type(dealer_t), intent(in) :: dealer
    integer, intent(out) :: first(:), mine(:)
    integer :: at(size(first)), i, w
    first = 0
    do i = 1, size(mine)
      w = dealer%flight(i)%worker
      first(w + 1) = first(w + 1) + 1
    end do
    first(1) = 1
    do w = 2, size(first)
      first(w) = first(w - 1) + first(w)
    end do
    at = first
    do i = 1, size(mine)
      w = dealer%flight(i)%worker
      mine(at(w)) = i
      at(w) = at(w) + 1
    end do
  end subroutine ByWorker

  !> Adds the seats of the shots of a worker, the flights `mine`. Together they end when its rate has done what is left of all, the
  !> last of them then: those that compute share it, those that are held come after them. What was done of a shot since it was last
  !> told is not known: its part of the worker's rate says it, and what is overdue is expected to take as long again. `own`, the
  !> seat that has the rate, is free then.
  pure subroutine SeatsShared(dealer, mine, own, now, seats, nseats)
    type(dealer_t), intent(in) :: dealer
    integer, intent(in) :: mine(:)
    type(seat_t), intent(inout) :: own
    real(dp), intent(in) :: now
    type(seat_t), intent(inout) :: seats(:)
    integer, intent(inout) :: nseats            !< of them are there
    integer, allocatable :: flights(:)
    real(dp), allocatable :: left(:)            !< to do of each [s of the whole rate]; -1: its end is known
    real(dp) :: before, ends, shared
    integer :: i, k, n, computing
    flights = pack(mine, .not. dealer%flight(mine)%dropped)
    n = size(flights)
    if (n == 0) return
    shared = dealer%place(own%worker)%shared
    associate (p => dealer%place(own%worker))
      if (p%flying > p%held) shared = shared + (now - p%seen)/(p%flying - p%held)
    end associate
    associate (f => dealer%flight(flights), s => seats(nseats + 1:nseats + n))
      left = dealer%cost(f%slot)*f%share*(1 - f%fraction)/max(own%rate, SLOWEST)
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
        s(i) = seat_t(worker=own%worker, free=ends, cost=dealer%cost(f(i)%slot), flight=flights(i))
        s(i)%fixed = Fixed(dealer, flights(i))
      end do
    end associate
    own%free = ends
    nseats = nseats + n
  end subroutine SeatsShared

  !> The seat of a flight. It ends when its own progress and its worker's rate say; one that is overdue by some time is expected to
  !> take as long again, and so is one of which nothing is known.
  pure type(seat_t) function Busy(dealer, i, rate, now) result(seat)
    type(dealer_t), intent(in) :: dealer
    integer, intent(in) :: i
    real(dp), intent(in) :: rate, now
    real(dp) :: whole
    associate (f => dealer%flight(i))
      seat = seat_t(worker=f%worker, rate=rate, free=now - f%told, flight=i)
      if (f%dropped) return
      seat%cost = dealer%cost(f%slot)
      whole = 0
      if (rate > 0) whole = f%share*seat%cost/rate
      if (f%fraction > 0 .and. rate > 0) then
        whole = (f%told - f%since + PRIOR*whole)/(f%fraction + PRIOR)
      end if
      seat%free = abs(whole - (now - f%since))
      seat%fixed = Fixed(dealer, i)
    end associate
  end function Busy

  !> A flight is not to be taken over: it was too often, or its shot may have killed a worker.
  pure logical function Fixed(dealer, i)
    type(dealer_t), intent(in) :: dealer
    integer, intent(in) :: i
    Fixed = dealer%moved(dealer%flight(i)%slot) >= MOVES .or. dealer%deaths(dealer%flight(i)%slot) > 0
  end function Fixed

end module dealer_m
