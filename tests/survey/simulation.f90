!> A survey without computing: events on a clock of their own around the real scheduler. The dealing tests share it.
!>
!> A worker has a true rate that the scheduler does not know, and its shots in flight share it; a shot takes until its part has summed
!> up to its cost. A shot that has a worker with several slots for itself gets a part of the rate only (`alone`). A worker that
!> computes fewer shots than it has lets the others wait, and tells that. It tells its progress every BEAT seconds, and gives a
!> dropped shot up when it next looks, after at most `deaf` seconds. It asks when it is there (`comes`), at first with one slot, and
!> with the others `opens` seconds after it was dealt a shot; its host sets one shot up after another, in `setup` seconds each.
module simulation_m
  use scheduler_m, only: scheduler_t, SchedulerDone, SchedulerDrop, SchedulerExpect, SchedulerGone, SchedulerIdle, SchedulerLost, &
                         SchedulerNew, SchedulerNext, SchedulerPut, SchedulerReady, SchedulerWaits
  use kinds_m, only: dp
  implicit none
  private
  public :: mix_t, outcome_t, Simulate, LowerBound, Deterministic

  real(dp), parameter :: BEAT = 1.0_dp        !< seconds between reports
  real(dp), parameter :: pi = acos(-1.0_dp)

  !> Workers and shots. Every worker is one that computes on a GPU or a CPU rank.
  type :: mix_t
    real(dp), allocatable :: rate(:)          !< cost a second of each slot while all are busy, (workers)
    real(dp), allocatable :: trial(:)         !< of the worker, as it says at first; 0 = it does not know, (workers)
    integer, allocatable :: slots(:)          !< shots at once, (workers)
    integer :: computing = huge(1)            !< of these at most, the others wait
    logical, allocatable :: gpu(:)            !< (workers)
    real(dp), allocatable :: cost(:)          !< (shots)
    real(dp) :: drift = 0                     !< rates swing by this part, each worker with a phase of its own
    real(dp) :: period = 1                    !< of the swing [s]
    real(dp) :: lost = 0                      !< part of the shots that is lost half-way, once
    integer :: dies = 0                       !< worker that loses what it has and is gone, 0 = none
    real(dp) :: death = 0                     !< when [s]
    real(dp) :: deaf = 1                      !< a worker looks so often whether its shot is dropped [s]
    real(dp) :: alone = 1                     !< one shot at a time gets this part of its worker's rate at most
    real(dp), allocatable :: comes(:)         !< when it asks first [s], (workers); not allocated: all at once
    real(dp) :: opens = 0                     !< seconds from its first shot until its other slots ask
    real(dp) :: setup = 0                     !< of a shot by the worker's host, one after another [s]
  end type mix_t

  type :: outcome_t
    real(dp) :: makespan = 0                  !< until the last worker has stopped [s]
    logical :: all_done = .false.
    integer :: answers = 0, late = 0          !< shots done; answers that came after another worker's
    integer :: takeovers = 0
    real(dp) :: vain = 0                      !< work done for shots that others answered [cost]
    real(dp), allocatable :: last_deal(:)     !< when each worker was last dealt a shot [s], (workers)
    integer, allocatable :: shots(:)          !< done by each worker, (workers)
  end type outcome_t

  !> A slot of a worker.
  type :: slot_t
    integer :: worker = 0
    integer :: shot = 0                       !< 0 = it waits
    real(dp) :: left = 0, whole = 0           !< cost of that shot
    real(dp) :: until = 0                     !< when it ends if nothing changes [s]
    real(dp) :: stop = huge(1.0_dp)           !< when it gives that shot up [s]
    real(dp) :: since = 0                     !< when it got the shot [s]
    real(dp) :: asks = 0                      !< it asks from then on [s]
    real(dp) :: ready = 0                     !< its shot is set up [s]
    logical :: held = .false.                 !< the shot waits
    logical :: begun = .false.                !< its steps have begun
    logical :: fails = .false., gone = .false.
  end type slot_t

contains

  !> Models all shots. `gpus_only`: the CPU ranks of the mix stay away.
  subroutine Simulate(mix, gpus_only, outcome)
    type(mix_t), intent(in) :: mix
    logical, intent(in) :: gpus_only
    type(outcome_t), intent(out) :: outcome
    type(scheduler_t) :: scheduler
    type(slot_t), allocatable :: slot(:)
    logical, allocatable :: failed(:), nothing(:)
    real(dp) :: now, before, beat_at, free(size(mix%rate))
    integer :: i, j
    allocate (failed(size(mix%cost)), source=.false.)
    allocate (nothing(size(mix%cost)), source=.false.)
    allocate (outcome%last_deal(size(mix%rate)), source=-1.0_dp)
    allocate (outcome%shots(size(mix%rate)), source=0)
    call SchedulerNew(scheduler, nothing, mix%cost, 5, size(mix%rate))
    allocate (slot(0))
    now = 0
    free = 0
    ! the slow ones ask first: the worst order
    do i = size(mix%rate), 1, -1
      if (gpus_only .and. .not. mix%gpu(i)) cycle
      call SchedulerExpect(scheduler, i, mix%gpu(i), 1)
      slot = [slot, (slot_t(worker=i, asks=merge(Comes(mix, i), huge(1.0_dp), j == 1 .or. .not. mix%opens > 0)), j=1, mix%slots(i))]
    end do
    do i = 1, size(slot)
      if (slot(i)%asks <= now) call Ready(mix, scheduler, slot(i)%worker, now)
    end do
    beat_at = BEAT
    do
      call DealAll(mix, scheduler, slot, failed, free, now, outcome)
      call BeginShots(mix, scheduler, slot, now)
      if (SchedulerIdle(scheduler) .and. all(slot%shot == 0)) exit
      if (now > 1.0e7_dp) exit
      before = now
      now = beat_at
      do i = 1, size(slot)
        slot(i)%until = huge(1.0_dp)
        if (Computes(slot(i), before)) &
          slot(i)%until = before + SecondsFor(mix, slot(i)%worker, before, slot(i)%left/Share(mix, slot, i, before))
        if (slot(i)%shot > 0) now = min(now, slot(i)%until, slot(i)%stop)
        if (slot(i)%shot > 0 .and. slot(i)%ready > before) now = min(now, slot(i)%ready)
        if (slot(i)%asks > before) now = min(now, slot(i)%asks)
      end do
      if (mix%dies > 0 .and. mix%death > 0 .and. .not. all(slot%gone .or. slot%worker /= mix%dies)) now = min(now, mix%death)
      do i = 1, size(slot)
        if (Computes(slot(i), before)) slot(i)%left = slot(i)%left - Share(mix, slot, i, before)* &
                                             (SlotWork(mix, slot(i)%worker, now) - SlotWork(mix, slot(i)%worker, before))
      end do
      do i = 1, size(slot)
        call Event(mix, scheduler, slot(i), failed, now, outcome)
        if (slot(i)%asks > before .and. slot(i)%asks <= now .and. .not. slot(i)%gone) &
          call Ready(mix, scheduler, slot(i)%worker, now)
      end do
      if (now < beat_at) cycle
      beat_at = now + BEAT
      do i = 1, size(slot)
        if (.not. Computes(slot(i), now)) cycle
        call SchedulerPut(scheduler, slot(i)%worker, slot(i)%shot, (slot(i)%whole - slot(i)%left)/mix%cost(slot(i)%shot), now)
      end do
    end do
    outcome%makespan = now
    outcome%all_done = SchedulerIdle(scheduler) .and. all(scheduler%finished) .and. scheduler%parked == 0
    outcome%takeovers = scheduler%takeovers
  end subroutine Simulate

  !> Every slot that waits asks; every worker whose shot is dropped will know when it next looks.
  subroutine DealAll(mix, scheduler, slot, failed, free, now, outcome)
    type(mix_t), intent(in) :: mix
    type(scheduler_t), intent(inout) :: scheduler
    type(slot_t), intent(inout) :: slot(:)
    logical, intent(inout) :: failed(:)
    real(dp), intent(inout) :: free(:)          !< when the host of each worker has set up what it has [s], (workers)
    real(dp), intent(in) :: now
    type(outcome_t), intent(inout) :: outcome
    integer :: i, shot, from, worker
    do i = 1, size(slot)
      if (slot(i)%shot > 0 .or. slot(i)%gone .or. slot(i)%asks > now) cycle
      call SchedulerNext(scheduler, slot(i)%worker, now, shot, from)
      if (shot == 0) cycle
      outcome%last_deal(slot(i)%worker) = now
      where (slot%worker == slot(i)%worker .and. slot%asks > 1.0e300_dp) slot%asks = now + mix%opens
      slot(i)%shot = shot
      slot(i)%stop = huge(1.0_dp)
      slot(i)%since = now
      free(slot(i)%worker) = max(now, free(slot(i)%worker)) + mix%setup
      slot(i)%ready = free(slot(i)%worker)
      slot(i)%held = .false.
      slot(i)%begun = .false.
      slot(i)%fails = .not. failed(shot) .and. mod(shot*0.618034_dp, 1.0_dp) < mix%lost
      slot(i)%whole = merge(0.5_dp, 1.0_dp, slot(i)%fails)*mix%cost(shot)
      slot(i)%left = slot(i)%whole
      failed(shot) = failed(shot) .or. slot(i)%fails
    end do
    do while (SchedulerDrop(scheduler, worker, shot))
      do i = 1, size(slot)
        if (slot(i)%worker == worker .and. slot(i)%shot == shot) slot(i)%stop = now + mix%deaf
      end do
    end do
  end subroutine DealAll

  !> Its shot is set up and goes on.
  pure logical function Computes(slot, now)
    type(slot_t), intent(in) :: slot
    real(dp), intent(in) :: now
    Computes = slot%shot > 0 .and. .not. slot%held .and. slot%ready <= now
  end function Computes

  !> Where a worker computes fewer shots than it may, those that wait longest begin; the others wait.
  subroutine BeginShots(mix, scheduler, slot, now)
    type(mix_t), intent(in) :: mix
    type(scheduler_t), intent(inout) :: scheduler
    type(slot_t), intent(inout) :: slot(:)
    real(dp), intent(in) :: now
    integer :: w, i
    do i = 1, size(slot)
      if (slot(i)%held .or. slot(i)%shot == 0 .or. slot(i)%ready > now .or. slot(i)%begun) cycle
      slot(i)%held = .true.
    end do
    do w = 1, size(mix%rate)
      do while (any(slot%worker == w .and. slot%held) .and. &
                count(slot%worker == w .and. slot%shot > 0 .and. .not. slot%held .and. slot%ready <= now) < mix%computing)
        i = minloc(slot%ready + 1.0e-9_dp*slot%since, 1, mask=slot%worker == w .and. slot%held)
        slot(i)%held = .false.
        slot(i)%begun = .true.
        call SchedulerWaits(scheduler, w, slot(i)%shot, .false., now)
      end do
    end do
  end subroutine BeginShots

  subroutine Ready(mix, scheduler, worker, now)
    type(mix_t), intent(in) :: mix
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: worker
    real(dp), intent(in) :: now
    real(dp) :: trial
    trial = 0
    if (allocated(mix%trial)) trial = mix%trial(worker)
    call SchedulerReady(scheduler, worker, mix%gpu(worker), 1, now, trial)
  end subroutine Ready

  !> Speed of a slot's shot now, relative to that with all slots busy.
  pure real(dp) function Share(mix, slot, i, now)
    type(mix_t), intent(in) :: mix
    type(slot_t), intent(in) :: slot(:)
    integer, intent(in) :: i
    real(dp), intent(in) :: now
    integer :: busy
    busy = count(slot%shot > 0 .and. slot%worker == slot(i)%worker .and. .not. slot%held .and. slot%ready <= now)
    Share = mix%slots(slot(i)%worker)*min(mix%alone, 1.0_dp/busy)
    if (mix%slots(slot(i)%worker) == 1) Share = 1
  end function Share

  !> The shot of a slot ends now, or its worker dies.
  subroutine Event(mix, scheduler, slot, failed, now, outcome)
    type(mix_t), intent(in) :: mix
    type(scheduler_t), intent(inout) :: scheduler
    type(slot_t), intent(inout) :: slot
    logical, intent(inout) :: failed(:)
    real(dp), intent(in) :: now
    type(outcome_t), intent(inout) :: outcome
    logical :: parked, dropped, dies, over
    dies = slot%worker == mix%dies .and. now >= mix%death .and. .not. slot%gone
    over = slot%left <= 1.0e-9_dp*slot%whole
    if (slot%shot > 0 .and. (over .or. now >= slot%stop .or. dies)) then
      if (scheduler%finished(slot%shot) .or. now >= slot%stop) outcome%vain = outcome%vain + slot%whole - slot%left
      if (dies .or. slot%fails .or. .not. over) then
        call SchedulerLost(scheduler, slot%worker, slot%shot, .false., now, parked, dropped)
      else
        if (scheduler%finished(slot%shot)) outcome%late = outcome%late + 1
        if (.not. scheduler%finished(slot%shot)) outcome%answers = outcome%answers + 1
        outcome%shots(slot%worker) = outcome%shots(slot%worker) + 1
        call SchedulerDone(scheduler, slot%worker, slot%shot, now)
      end if
      slot%shot = 0
      slot%held = .false.
      if (.not. dies) call Ready(mix, scheduler, slot%worker, now)
    end if
    if (.not. dies) return
    slot%gone = .true.
    call SchedulerGone(scheduler, slot%worker)
  end subroutine Event

  !> Time at which a worker asks first [s].
  pure real(dp) function Comes(mix, worker)
    type(mix_t), intent(in) :: mix
    integer, intent(in) :: worker
    Comes = 0
    if (allocated(mix%comes)) Comes = mix%comes(worker)
  end function Comes

  !> Seconds a slot needs from `now` for so much work.
  real(dp) function SecondsFor(mix, worker, now, cost) result(seconds)
    type(mix_t), intent(in) :: mix
    integer, intent(in) :: worker
    real(dp), intent(in) :: now, cost
    integer :: i
    seconds = cost/mix%rate(worker)
    do i = 1, merge(100, 0, mix%drift > 0)      ! a contraction by the drift
      seconds = seconds + (cost - SlotWork(mix, worker, now + seconds) + SlotWork(mix, worker, now))/mix%rate(worker)
    end do
  end function SecondsFor

  !> No schedule can be shorter [s]: until then the slots, each with whole shots of the smallest size, cannot have done the work,
  !> and the largest shot on the fastest slot takes as long. With drift: as fast as they ever are on average over a shot.
  real(dp) function LowerBound(mix) result(time)
    type(mix_t), intent(in) :: mix
    real(dp) :: low, high
    integer :: i
    low = 0
    high = 2*sum(mix%cost)/maxval(mix%slots*mix%rate) + mix%setup
    if (allocated(mix%comes)) high = high + maxval(mix%comes)
    do i = 1, 60
      time = (low + high)/2
      if (Room(mix, time)) then
        high = time
      else
        low = time
      end if
    end do
    time = max(high, maxval(mix%cost)/maxval(mix%slots*mix%rate*(1 + mix%drift)))
  end function LowerBound

  !> True if the workers could do all within `time`, were shots of unequal size divisible.
  logical function Room(mix, time)
    type(mix_t), intent(in) :: mix
    real(dp), intent(in) :: time
    real(dp) :: work, one, least
    integer :: w
    least = minval(mix%cost)
    work = 0
    do w = 1, size(mix%rate)
      one = mix%slots(w)*SlotWork(mix, w, max(0.0_dp, merge(min(time, mix%death), time, w == mix%dies) - Comes(mix, w) - mix%setup))
      if (one < least*(1 - 1.0e-9_dp)) one = 0
      if (maxval(mix%cost) <= least) one = least*aint(one/least*(1 + 1.0e-9_dp))
      work = work + one
    end do
    Room = work >= sum(mix%cost)*(1 - 1.0e-9_dp)
  end function Room

  !> Cost one slot of a worker can do until `time`.
  real(dp) function SlotWork(mix, worker, time) result(work)
    type(mix_t), intent(in) :: mix
    integer, intent(in) :: worker
    real(dp), intent(in) :: time
    real(dp) :: phase
    phase = 2*pi*0.618034_dp*worker
    work = mix%rate(worker)*time
    if (mix%drift > 0) work = work + mix%rate(worker)*mix%drift*mix%period/(2*pi)*(cos(phase) - cos(2*pi*time/mix%period + phase))
  end function SlotWork

  !> Repeatable numbers in 0..1 without a seed.
  pure real(dp) function Deterministic(i) result(x)
    integer, intent(in) :: i
    x = mod(i*0.7548776662466927_dp + 0.5_dp, 1.0_dp)
  end function Deterministic

end module simulation_m
