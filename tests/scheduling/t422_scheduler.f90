!> The rules of dealing, one by one: who gets a shot, who waits, what a second answer and a dropped shot count for.
program t422_scheduler
  use check_m, only: Claim, Done
  use scheduler_m, only: scheduler_t, SchedulerDone, SchedulerDrop, SchedulerDealt, SchedulerGone, SchedulerHeldBack, SchedulerIdle, SchedulerLost, &
                      SchedulerNew, SchedulerNext, SchedulerParked, SchedulerPut, SchedulerReady
  use kinds_m, only: dp
  use worker_rates_m, only: RatesAll, RatesHint, RatesKind, RatesNew, rates_t, RatesTake
  use makespan_m, only: capacity_t, MakespanTakeover, Makespan
  use worker_rates_m, only: RatesAll
  use text_m, only: Str
  implicit none

  call Times()
  call Takes()
  call Rates()
  call Order()
  call Unknown()
  call Told()
  call Shared()
  call FromState()
  call TwoAnswers()
  call Bounded()
  call Away()
  call Leaving()
  call Done()

contains

  !> Shortest times that can be counted on fingers.
  subroutine Times()
    type(capacity_t) :: fast, slow, busy
    fast = capacity_t(worker=1, rate=1.0_dp)
    slow = capacity_t(worker=2, rate=0.1_dp)
    call Near(Makespan([fast, slow], 9, 9.0_dp, 1.0_dp), 9.0_dp, '9 shots, rates 1 and 0.1: the fast one does all')
    call Near(Makespan([fast, slow], 11, 11.0_dp, 1.0_dp), 10.0_dp, '11 shots, rates 1 and 0.1: 10 and 1')
    busy = capacity_t(worker=2, rate=0.1_dp, free=4.0_dp, cost=1.0_dp)
    call Near(Makespan([fast, busy], 3, 3.0_dp, 1.0_dp), 4.0_dp, '3 shots, the slow one needs 4 s for its own')
    busy%free = 6
    call Near(Makespan([fast, busy], 3, 3.0_dp, 1.0_dp), 4.0_dp, 'it needs 6 s: the fast one does its shot too')
    busy%fixed = .true.
    call Near(Makespan([fast, busy], 3, 3.0_dp, 1.0_dp), 3.0_dp, 'it needs 6 s and keeps its shot: the fast one is ready before')
    call Near(Makespan([fast, fast], 2, 5.0_dp, 4.0_dp), 4.0_dp, 'a shot of 4 and one of 1')
    call Claim(Makespan([capacity_t(worker=1)], 2, 2.0_dp, 1.0_dp) > 1.0e300_dp, 'no rate is known: no end')
    call Near(Makespan([fast], 0, 0.0_dp, 0.0_dp), 0.0_dp, 'nothing is left')
  end subroutine Times

  subroutine Takes()
    type(capacity_t) :: fast, a, b
    fast = capacity_t(worker=1, rate=1.0_dp)
    a = capacity_t(worker=2, rate=0.1_dp, free=6.0_dp, cost=1.0_dp)
    b = capacity_t(worker=3, rate=0.1_dp, free=8.0_dp, cost=1.0_dp)
    call Claim(MakespanTakeover([fast, a, b], 1, 1.0_dp, 1.0_dp, 0.0_dp, Makespan([fast, a, b], 0, 0.0_dp, 0.0_dp)) == 3, &
               'two shots to take over, each 1 s for the fast worker: the one that needs 8 s more goes first, not that of 6 s')
    a%free = 1.2_dp
    b%free = 1.1_dp
    call Claim(MakespanTakeover([fast, a, b], 1, 1.0_dp, 1.0_dp, 0.0_dp, Makespan([fast, a, b], 0, 0.0_dp, 0.0_dp)) == 0, &
               'they need 1.1 and 1.2 s more: not worth it')
    b%free = 8
    call Claim(MakespanTakeover([fast, capacity_t(worker=4, rate=0.2_dp), b], 4, 0.2_dp, 1.0_dp, 0.0_dp, 1.0_dp) == 0, &
               'a worker of medium speed leaves it to the fast one')
  end subroutine Takes

  subroutine Rates()
    type(rates_t) :: r
    real(dp) :: all(5)
    logical :: changed
    call RatesNew(r, 5)
    call RatesKind(r, 4, .true., 1, changed)
    call RatesKind(r, 5, .true., 1, changed)
    call RatesKind(r, 3, .false., 4, changed)
    call Claim(all_zero(RatesAll(r)), 'nothing is known at first')
    call RatesHint(r, 1, 10.0_dp, 5.0_dp)
    all = RatesAll(r)
    call Near(all(1), 2.0_dp, 'a first shot that is under way gives a rate')
    call Near(all(3), 8.0_dp, 'of its kind, four threads for one')
    call Claim(all(4) >= 100*all(1), 'a GPU nobody has measured is presumed fast: '//Str(all(4), 4)//' to '//Str(all(1), 4))
    call RatesTake(r, 4, 100.0_dp, 2.0_dp)
    call RatesTake(r, 4, 100.0_dp, 4.0_dp)
    all = RatesAll(r)
    call Near(all(4), 100/3.0_dp, 'two shots, 2 s and 4 s for 100')
    call Near(all(5), 100/3.0_dp, 'the other GPU is taken for as fast')
    call RatesKind(r, 4, .false., 1, changed)
    all = RatesAll(r)
    call Claim(changed .and. abs(all(4) - 2) < 1.0e-9_dp, 'a GPU worker goes on with its CPU: measured anew, '//Str(all(4), 3))
  end subroutine Rates

  !> Order of the key-map; lost shots last, parked after the retries.
  subroutine Order()
    type(scheduler_t) :: d
    integer :: got(4), from, i
    logical :: parked, dropped
    call SchedulerNew(d, [.false., .true., .false., .false.], [1.0_dp, 1.0_dp, 1.0_dp, 1.0_dp], 1, 1)
    do i = 1, 4
      call SchedulerReady(d, 1, .false., 1, real(i, dp))
      call SchedulerNext(d, 1, real(i, dp), got(i), from)
      if (i == 1 .or. i == 4) call SchedulerLost(d, 1, got(i), .false., i + 0.9_dp, parked, dropped)
      if (i == 2 .or. i == 3) call SchedulerDone(d, 1, got(i), i + 0.9_dp)
    end do
    call Claim(all(got == [1, 3, 4, 1]), 'order of the key-map without what is done, the lost shot last: '//Str(got(1))//' '// &
               Str(got(2))//' '//Str(got(3))//' '//Str(got(4)))
    call Claim(parked .and. SchedulerParked(d, 1) .and. SchedulerIdle(d) .and. d%parked == 1, 'lost twice with one retry: parked')
    call SchedulerNew(d, [.false., .false., .false.], [1.0_dp, 3.0_dp, 2.0_dp], 1, 1)
    do i = 1, 3
      call SchedulerReady(d, 1, .false., 1, real(i, dp))
      call SchedulerNext(d, 1, real(i, dp), got(i), from)
      call SchedulerDone(d, 1, got(i), i + 0.9_dp)
    end do
    call Claim(all(got(:3) == [2, 3, 1]), 'few are left: the large ones first, '//Str(got(1))//' '//Str(got(2))//' '//Str(got(3)))
  end subroutine Order

  !> Workers nobody knows get a shot; a slow one, once known, waits.
  subroutine Unknown()
    type(scheduler_t) :: d
    integer :: slot, from, i, gpus, cpus
    real(dp) :: seconds
    logical :: parked, dropped
    call SchedulerNew(d, spread(.false., 1, 12), spread(1.0_dp, 1, 12), 1, 2)
    do i = 1, 2
      call SchedulerReady(d, i, i == 1, 1, 0.0_dp)
      call SchedulerNext(d, i, 0.0_dp, slot, from)
      call Claim(slot == i, 'worker '//Str(i)//', not known yet, gets shot '//Str(slot))
    end do
    call SchedulerPut(d, 2, 2, 0.05_dp, 1.0_dp)     ! 20 s a shot
    do i = 3, 12
      call SchedulerDone(d, 1, merge(1, i - 1, i == 3), real(i - 2, dp))
      call SchedulerReady(d, 1, .true., 1, real(i - 2, dp))
      call SchedulerNext(d, 1, real(i - 2, dp), slot, from)
      if (slot /= i) exit
    end do
    call Claim(slot == 12, 'the fast worker gets the others')
    call SchedulerDone(d, 2, 2, 10.5_dp)
    call SchedulerReady(d, 2, .false., 1, 10.5_dp)
    call SchedulerLost(d, 1, 12, .true., 10.6_dp, parked, dropped)
    call SchedulerReady(d, 1, .true., 1, 10.6_dp)
    call SchedulerNext(d, 2, 10.6_dp, slot, from)
    call Claim(slot == 0, 'a shot came back, 1 s for the fast worker and 10 s for the slow one: the slow one waits')
    call SchedulerNext(d, 1, 10.6_dp, slot, from)
    call Claim(slot == 12 .and. from == 0, 'the fast one gets it')
    call SchedulerDone(d, 1, 12, 11.6_dp)
    call SchedulerHeldBack(d, gpus, cpus, seconds)
    call Claim(gpus == 0 .and. cpus == 1 .and. abs(seconds - 1) < 1.0e-9_dp, 'held back: '//Str(gpus)//' GPU, '//Str(cpus)// &
               ' CPU worker(s), '//Str(seconds)//' s')
  end subroutine Unknown

  !> A CPU rank that says how fast it is begins nothing before the GPUs are known, and then only what it ends in time.
  subroutine Told()
    type(scheduler_t) :: d
    integer :: slot, from, n
    do n = 20, 120, 100
      call SchedulerNew(d, spread(.false., 1, n), spread(100.0_dp, 1, n), 1, 2)
      call SchedulerReady(d, 2, .false., 1, 0.0_dp, 2.0_dp)
      call SchedulerReady(d, 1, .true., 1, 0.0_dp, 0.0_dp)
      call SchedulerNext(d, 2, 0.0_dp, slot, from)
      call Claim(slot == 0, 'a CPU rank that needs 50 s a shot waits while nobody knows the GPU beside it')
      call SchedulerNext(d, 1, 0.0_dp, slot, from)
      call Claim(slot == 1, 'the GPU gets shot 1')
      call SchedulerPut(d, 1, 1, 0.4_dp, 0.2_dp)          ! 0.5 s a shot
      call SchedulerNext(d, 2, 0.2_dp, slot, from)
      if (n == 20) call Claim(slot == 0, 'the GPU does '//Str(n)//' shots in 10 s: the CPU rank gets none')
      if (n == 120) call Claim(slot == 2, 'the GPU does '//Str(n)//' shots in 60 s: the CPU rank gets shot '//Str(slot))
    end do
    call SchedulerNew(d, spread(.false., 1, 2), spread(100.0_dp, 1, 2), 1, 1)
    call SchedulerReady(d, 1, .false., 1, 0.0_dp, 2.0_dp)
    call SchedulerNext(d, 1, 0.0_dp, slot, from)
    call Claim(slot == 1, 'where no GPU is heard of it gets shot '//Str(slot))
  end subroutine Told

  !> Shots in flight share the rate of their worker: four in 4 s each are one a second; and when nothing waits, the last is alone.
  subroutine Shared()
    type(scheduler_t) :: d
    integer :: slot, from, i
    real(dp) :: rate(2)
    call SchedulerNew(d, spread(.false., 1, 9), spread(1000.0_dp, 1, 9), 1, 2)
    do i = 1, 4
      call SchedulerReady(d, 1, .true., 1, 0.0_dp)
    end do
    do i = 1, 4
      call SchedulerNext(d, 1, 0.0_dp, slot, from)
    end do
    do i = 1, 4
      call SchedulerDone(d, 1, i, 4.0_dp)
      call SchedulerReady(d, 1, .true., 1, 4.0_dp)
    end do
    rate = RatesAll(d%rates)
    call Near(rate(1), 1000.0_dp, 'four shots of 1000 side by side take 4 s')
    call SchedulerReady(d, 2, .false., 1, 4.0_dp, 500.0_dp)
    do i = 1, 3
      call SchedulerNext(d, 1, 4.0_dp, slot, from)
    end do
    call SchedulerNext(d, 2, 4.0_dp, slot, from)
    call Claim(slot == 8, 'five are left, three of them with the GPU: a CPU rank with half its speed gets shot '//Str(slot))
    do i = 1, 3
      call SchedulerDone(d, 1, 4 + i, 6.9_dp)
      call SchedulerReady(d, 1, .true., 1, 6.9_dp)
    end do
    call SchedulerPut(d, 2, 8, 0.05_dp, 6.9_dp)           ! it turns out slow
    call SchedulerNext(d, 1, 6.9_dp, slot, from)
    call Claim(slot == 9, 'the GPU gets the last shot')
    call SchedulerNext(d, 1, 6.9_dp, slot, from)
    call Claim(slot == 8 .and. from == 2, 'another slot of it takes over shot '//Str(slot)//' of worker '//Str(from)//': both in 2 s')
    call SchedulerDone(d, 1, 9, 8.7_dp)
    call SchedulerDone(d, 1, 8, 8.9_dp)
    call Claim(SchedulerIdle(d), 'all are done')
  end subroutine Shared

  !> A shot that began from a state at 90 % tells nothing wrong of its worker's speed: one that needs 10 s a shot is not thought ten
  !> times as fast.
  subroutine FromState()
    type(scheduler_t) :: d
    integer :: slot, from, i
    real(dp) :: rate(2)
    call SchedulerNew(d, spread(.false., 1, 9), spread(1000.0_dp, 1, 9), 1, 2)
    do i = 1, 2
      call SchedulerReady(d, i, .false., 1, 0.0_dp)
      call SchedulerNext(d, i, 0.0_dp, slot, from)
    end do
    call SchedulerPut(d, 2, 2, 0.95_dp, 0.5_dp, 0.9_dp)
    rate = RatesAll(d%rates)
    call Claim(abs(rate(2) - 100) < 1.0e-6_dp, 'half of the last tenth of 1000 in 0.5 s: '//Str(rate(2), 3)//' a second, must be 100')
    call SchedulerDone(d, 2, 2, 1.0_dp)
    rate = RatesAll(d%rates)
    call Claim(abs(rate(2) - 100) < 1.0e-6_dp, 'all of it in 1 s: '//Str(rate(2), 3)//' a second, must be 100')
  end subroutine FromState

  !> A shot of a slow worker is taken over; whoever answers first is heard.
  subroutine TwoAnswers()
    type(scheduler_t) :: d
    integer :: slot, from, worker, dropped_slot
    logical :: parked, dropped, there
    call Takeover(d, slot, from)
    call Claim(slot == 2 .and. from == 2 .and. d%takeovers == 1, 'worker 1 is idle and takes over shot '//Str(slot)// &
               ' of worker '//Str(from))
    there = SchedulerDrop(d, worker, dropped_slot)
    call Claim(there .and. worker == 2 .and. dropped_slot == 2, 'worker 2 is to drop it')
    there = SchedulerDrop(d, worker, dropped_slot)
    call Claim(.not. there, 'it is told once')
    call SchedulerLost(d, 2, 2, .false., 2.5_dp, parked, dropped)
    call Claim(dropped .and. .not. parked .and. d%attempts(2) == 0 .and. SchedulerDealt(d, 1, 2), 'worker 2 gives it up: no loss')
    call SchedulerLost(d, 1, 2, .false., 2.6_dp, parked, dropped)
    call Claim(.not. dropped .and. d%attempts(2) == 1 .and. d%left == 1, 'worker 1 loses it: that is one')

    call Takeover(d, slot, from)
    call SchedulerDone(d, 2, 2, 2.5_dp)
    call Claim(SchedulerIdle(d) .and. d%left == 0, 'worker 2 answers first: the shot is done')
    there = SchedulerDrop(d, worker, slot)
    call Claim(there .and. worker == 1 .and. slot == 2, 'now worker 1 is to drop it')
    call SchedulerDone(d, 1, 2, 2.8_dp)
    call Claim(d%left == 0 .and. .not. SchedulerDealt(d, 1, 2), 'worker 1 answers late: nothing is counted twice')
    call SchedulerGone(d, 1)
    call SchedulerGone(d, 2)
  end subroutine TwoAnswers

  !> Two shots; worker 1 needs 1 s for one, worker 2 50 s.
  subroutine Takeover(d, slot, from)
    type(scheduler_t), intent(out) :: d
    integer, intent(out) :: slot, from
    integer :: i
    call SchedulerNew(d, [.false., .false.], [1.0_dp, 1.0_dp], 3, 2)
    do i = 1, 2
      call SchedulerReady(d, i, i == 1, 1, 0.0_dp)
      call SchedulerNext(d, i, 0.0_dp, slot, from)
    end do
    call SchedulerPut(d, 2, 2, 0.02_dp, 1.0_dp)
    call SchedulerDone(d, 1, 1, 1.0_dp)
    call SchedulerReady(d, 1, .true., 1, 1.0_dp)
    call SchedulerNext(d, 1, 1.0_dp, slot, from)
  end subroutine Takeover

  !> A shot whose workers all stand still is taken over twice, not for ever.
  subroutine Bounded()
    type(scheduler_t) :: d
    integer :: slot, from, i
    call SchedulerNew(d, [(.false., i=1, 6)], [(1.0_dp, i=1, 6)], 3, 5)
    do i = 1, 5
      call SchedulerReady(d, i, .true., 1, 0.0_dp)
      call SchedulerNext(d, i, 0.0_dp, slot, from)
    end do
    do i = 2, 5
      call SchedulerDone(d, i, i, 1.0_dp)
      call SchedulerReady(d, i, .true., 1, 1.0_dp)
    end do
    call SchedulerNext(d, 2, 1.0_dp, slot, from)
    call SchedulerDone(d, 2, slot, 2.0_dp)
    call SchedulerReady(d, 2, .true., 1, 2.0_dp)
    do i = 2, 5                                   ! shot 1 is with worker 1, which says nothing
      call SchedulerNext(d, i, 1000.0_dp*i, slot, from)
      if (i <= 3) call Claim(slot == 1, 'worker '//Str(i)//' takes over shot '//Str(slot)//' from worker '//Str(from))
    end do
    call Claim(d%takeovers == 2, 'and then it stays where it is: '//Str(d%takeovers)//' moves, at most 2')
  end subroutine Bounded

  !> A fast worker that never asks again does not keep the slow one waiting for ever.
  subroutine Away()
    type(scheduler_t) :: d
    integer :: slot, from, i
    real(dp) :: now
    call SchedulerNew(d, spread(.false., 1, 4), spread(1.0_dp, 1, 4), 1, 2)
    do i = 1, 2
      call SchedulerReady(d, i, i == 1, 1, 0.0_dp)
      call SchedulerNext(d, i, 0.0_dp, slot, from)
    end do
    call SchedulerDone(d, 1, 1, 1.0_dp)
    call SchedulerDone(d, 2, 2, 20.0_dp)
    call SchedulerReady(d, 2, .false., 1, 20.0_dp)
    d%load(1)%away = 20.0_dp
    call SchedulerNext(d, 2, 20.0_dp, slot, from)
    call Claim(slot == 0, 'the fast worker has just answered and will ask: the slow one waits')
    now = 20
    do while (slot == 0 .and. now < 200)
      now = now + 1
      call SchedulerNext(d, 2, now, slot, from)
    end do
    call Claim(slot > 0 .and. now < 60, 'it does not ask: the slow one gets a shot after '//Str(now - 20)//' s, bound 40 s')
  end subroutine Away

  !> A fast worker that is to go ends what it has and gets no more: nobody leaves to it what it will not do.
  subroutine Leaving()
    type(scheduler_t) :: d
    integer :: slot, from, i, at_once
    do at_once = 1, 3, 2
      call SchedulerNew(d, spread(.false., 1, 12), spread(1.0_dp, 1, 12), 1, 2)
      do i = 1, at_once
        call SchedulerReady(d, 1, .true., 1, 0.0_dp)
        call SchedulerNext(d, 1, 0.0_dp, slot, from)
      end do
      call SchedulerReady(d, 2, .false., 1, 0.0_dp, 0.05_dp)
      do i = 1, at_once                             ! a shot a second
        call SchedulerDone(d, 1, i, real(at_once, dp))
        call SchedulerReady(d, 1, .true., 1, real(at_once, dp))
        call SchedulerNext(d, 1, real(at_once, dp), slot, from)
      end do
      call SchedulerNext(d, 2, 3.0_dp, slot, from)
      call Claim(slot == 0, 'a GPU with '//Str(at_once)//' shot(s) in flight ends all before a CPU rank ends one: that waits')
      call SchedulerGone(d, 1)
      call SchedulerNext(d, 2, 3.0_dp, slot, from)
      call Claim(slot == 1 + 2*at_once, 'the GPU is to go when it has done these: the CPU rank gets shot '//Str(slot)//' at once')
    end do
  end subroutine Leaving

  subroutine Near(x, y, what)
    real(dp), intent(in) :: x, y
    character(*), intent(in) :: what
    call Claim(abs(x - y) <= 1.0e-6_dp*max(1.0_dp, abs(y)), what//': '//Str(x, 6)//', must be '//Str(y, 6))
  end subroutine Near

  pure logical function all_zero(x)
    real(dp), intent(in) :: x(:)
    all_zero = .not. any(x > 0)
  end function all_zero

end program t422_scheduler
