!> When each worker will have done what it has, as forecast from rates and progress. Arguments stand in scheduler.f90.
submodule(scheduler_m) scheduler_capacities
  implicit none

  real(dp), parameter :: PRIOR = 0.05_dp        !< a worker's rate counts like this part of a shot against the shot's own progress
  integer, parameter :: MOVES = 2               !< times that a shot is taken over, at most
  real(dp), parameter :: SLOWEST = 1.0e-30_dp   !< a worker whose rate is 0 ends after all others, at a time that can be summed up

contains

  module procedure Capacities
    type(capacity_t) :: own
    integer :: first(size(rate) + 1), mine(size(scheduler%dealt)), w, i, n
    call ByWorker(scheduler, first, mine)
    allocate (capacity(size(rate) + size(mine)))
    n = 0
    do w = 1, size(rate)
      associate (p => scheduler%load(w))
        own = capacity_t(worker=w, rate=rate(w), free=merge(0.0_dp, now - p%away, p%asking > 0))
        if (max(p%at_once, p%shots) > 1) then
          call SharedCapacities(scheduler, mine(first(w):first(w + 1) - 1), own, now, capacity, n)
        else
          do i = first(w), first(w + 1) - 1
            n = n + 1
            capacity(n) = Busy(scheduler, mine(i), rate(w), now)
            if (p%at_once == 0) capacity(n)%rate = 0    ! it gets no further one
          end do
        end if
        if (p%at_once > merge(0, p%shots, p%at_once > 1) .or. p%expected) then
          n = n + 1
          capacity(n) = own
        end if
      end associate
    end do
    capacity = capacity(:n)
  end procedure Capacities

  !> The shots of worker w are `mine`(first(w) .. first(w+1)-1), in their order.
  pure subroutine ByWorker(scheduler, first, mine)
    type(scheduler_t), intent(in) :: scheduler
    integer, intent(out) :: first(:), mine(:)
    integer :: at(size(first)), i, w
    first = 0
    do i = 1, size(mine)
      w = scheduler%dealt(i)%worker
      first(w + 1) = first(w + 1) + 1
    end do
    first(1) = 1
    do w = 2, size(first)
      first(w) = first(w - 1) + first(w)
    end do
    at = first
    do i = 1, size(mine)
      w = scheduler%dealt(i)%worker
      mine(at(w)) = i
      at(w) = at(w) + 1
    end do
  end subroutine ByWorker

  !> Adds the capacities of the shots of a worker, those numbered `mine`. The last of them ends when the worker's rate has done what
  !> is left of all: those that compute share the rate, those that wait come after them. Progress since a shot's last report is
  !> estimated from its part of the rate, and an overdue shot is expected to take as long again. `own`, the capacity that has the
  !> rate, is free when all have ended.
  pure subroutine SharedCapacities(scheduler, mine, own, now, capacity, n_capacities)
    type(scheduler_t), intent(in) :: scheduler
    integer, intent(in) :: mine(:)
    type(capacity_t), intent(inout) :: own
    real(dp), intent(in) :: now
    type(capacity_t), intent(inout) :: capacity(:)
    integer, intent(inout) :: n_capacities            !< capacities that there are so far
    integer, allocatable :: shots(:)
    real(dp), allocatable :: left(:)            !< what each has still to do [s of the whole rate]; -1: its end is known
    real(dp) :: before, ends, shared
    integer :: i, k, n, computing
    shots = pack(mine, .not. scheduler%dealt(mine)%dropped)
    n = size(shots)
    if (n == 0) return
    shared = scheduler%load(own%worker)%shared
    associate (p => scheduler%load(own%worker))
      if (p%shots > p%waits) shared = shared + (now - p%seen)/(p%shots - p%waits)
    end associate
    associate (f => scheduler%dealt(shots), s => capacity(n_capacities + 1:n_capacities + n))
      left = scheduler%cost(f%slot)*f%share*(1 - f%fraction)/max(own%rate, SLOWEST)
      where (.not. f%waits) left = abs(left - (shared - f%shared))
      computing = count(.not. f%waits)
      before = 0
      ends = 0
      do k = n, 1, -1
        i = minloc(left, 1, mask=left >= 0 .and. (f%waits .eqv. k <= n - computing))
        if (f(i)%waits) ends = ends + left(i)
        if (.not. f(i)%waits) ends = ends + (left(i) - before)*(k - n + computing)
        if (.not. f(i)%waits) before = left(i)
        left(i) = -1
        s(i) = capacity_t(worker=own%worker, free=ends, cost=scheduler%cost(f(i)%slot), dealt=shots(i))
        s(i)%fixed = Fixed(scheduler, shots(i))
      end do
    end associate
    own%free = ends
    n_capacities = n_capacities + n
  end subroutine SharedCapacities

  !> The capacity of a shot. It ends when its own progress and its worker's rate say; one that is overdue by some time is expected
  !> to take as long again, and so is one of which nothing is known.
  pure type(capacity_t) function Busy(scheduler, i, rate, now) result(busy_one)
    type(scheduler_t), intent(in) :: scheduler
    integer, intent(in) :: i
    real(dp), intent(in) :: rate, now
    real(dp) :: whole
    associate (f => scheduler%dealt(i))
      busy_one = capacity_t(worker=f%worker, rate=rate, free=now - f%reported_at, dealt=i)
      if (f%dropped) return
      busy_one%cost = scheduler%cost(f%slot)
      whole = 0
      if (rate > 0) whole = f%share*busy_one%cost/rate
      if (f%fraction > 0 .and. rate > 0) then
        whole = (f%reported_at - f%since + PRIOR*whole)/(f%fraction + PRIOR)
      end if
      busy_one%free = abs(whole - (now - f%since))
      busy_one%fixed = Fixed(scheduler, i)
    end associate
  end function Busy

  !> A shot is not to be taken over: it was too often, or it may have killed a worker.
  pure logical function Fixed(scheduler, i)
    type(scheduler_t), intent(in) :: scheduler
    integer, intent(in) :: i
    Fixed = scheduler%moved(scheduler%dealt(i)%slot) >= MOVES .or. scheduler%deaths(scheduler%dealt(i)%slot) > 0
  end function Fixed

end submodule scheduler_capacities
