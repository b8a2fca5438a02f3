!> Which of the shots that wait to be dealt a worker gets. Arguments stand in scheduler.f90.
submodule(scheduler_m) scheduler_queue
  use makespan_m, only: MakespanSpares
  implicit none

  integer, parameter :: TAIL_SHOTS = 4          !< shots a slot left to deal: from here on large ones go first

contains

  module procedure FromQueue
    real(dp) :: cost, most, total
    integer :: n
    do while (scheduler%next <= size(scheduler%fresh))
      if (scheduler%fresh(scheduler%next)) exit
      scheduler%next = scheduler%next + 1
    end do
    n = scheduler%nfresh + size(scheduler%again)
    cost = scheduler%fresh_cost + sum(scheduler%cost(scheduler%again))
    total = sum(capacity%rate)
    most = 0.5_dp*huge(1.0_dp)
    if (rate > 0) then
      slot = First(scheduler)
      most = rate*(cost/total - free)           ! no schedule is shorter: what fits in it needs no closer look
      if (scheduler%cost(slot) > most .or. n <= TAIL_SHOTS*size(capacity)) then
        most = rate*(Makespan(capacity, n, cost, Largest(scheduler)) - free)
        if (MakespanSpares(capacity, worker, n, cost/n, free + cost/(n*rate))) most = 0
      end if
    end if
    if (known) most = min(most, rate/max(1, scheduler%load(worker)%at_once)*max(0.0_dp, scheduler%deadline - now)/SPARE)
    if (now > scheduler%deadline) most = 0
    slot = Fitting(scheduler, most*(1 + 1.0e-6_dp), n <= TAIL_SHOTS*size(capacity), Suspects(scheduler, worker) > 0)
    if (slot == 0) return
    if (scheduler%fresh(slot)) then
      scheduler%fresh(slot) = .false.
      scheduler%nfresh = scheduler%nfresh - 1
      scheduler%fresh_cost = scheduler%fresh_cost - scheduler%cost(slot)
    else
      scheduler%again = pack(scheduler%again, scheduler%again /= slot)
    end if
  end procedure FromQueue

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
    n = count(scheduler%deaths(scheduler%dealt%slot) > 0 .and. scheduler%dealt%worker == worker)
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

end submodule scheduler_queue
