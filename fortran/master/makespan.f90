!> The end of a survey: how soon all that is left can be done, and what each worker should do for that. Pure procedures.
!>
!> A slow worker that takes a shot too late keeps all others waiting. The rule: with all workers at their rates, let T be the
!> shortest time in which everything left can be finished. A worker takes a shot only if it finishes it within T. For shots of one
!> size no schedule is shorter: within T each worker can do a whole number of shots, and T is the first time at which these are
!> enough. Shots that their workers cannot finish within T count as to be done by others, from their beginning.
module makespan_m
  use kinds_m, only: dp
  implicit none
  private
  public :: capacity_t, Makespan, MakespanSpares, MakespanTakeover

  real(dp), parameter :: BETTER = 1.25_dp     !< a shot is taken over only by a worker that needs so much less: estimates are noisy
  real(dp), parameter :: ROUNDING = 1.0e-6_dp !< part of a shot
  real(dp), parameter :: CLEARLY = 0.05_dp    !< part of the time
  real(dp), parameter :: SOON = 2             !< a worker that has more shots to do than that takes none over: more is known later
  integer, parameter :: HALVINGS = 40

  !> Something that computes: a worker that models one shot at a time; or one whose shots share its rate, or one of these shots.
  type :: capacity_t
    integer :: worker = 0
    real(dp) :: rate = 0                      !< updates a second, 0 = unknown, or not to be counted here
    real(dp) :: free = 0                      !< seconds until it can begin another shot
    real(dp) :: cost = 0                      !< updates of the shot it works on, 0 = none
    logical :: fixed = .false.                !< that shot is not to be taken over
    integer :: dealt = 0                      !< which shot that is, by a number of the caller's
  end type capacity_t

contains

  !> Shortest time [s] in which `n` waiting shots of `cost` updates in total, the largest of `largest`, and all that workers have
  !> can be finished. huge() if no rate is known.
  pure real(dp) function Makespan(capacity, n, cost, largest) result(time)
    type(capacity_t), intent(in) :: capacity(:)
    integer, intent(in) :: n
    real(dp), intent(in) :: cost, largest
    real(dp) :: low, mean
    integer :: i
    time = huge(1.0_dp)
    if (.not. any(capacity%rate > 0)) return
    if (n > 0) then
      mean = cost/n
    else if (any(capacity%cost > 0)) then
      mean = sum(capacity%cost)/count(capacity%cost > 0)
    else
      time = 0
      return
    end if
    low = 0
    time = max(cost/sum(capacity%rate), mean/maxval(capacity%rate))
    do while (.not. Enough(capacity, n, mean, time))
      low = time
      time = 2*time
    end do
    do i = 1, HALVINGS
      if (time - low <= 1.0e-9_dp*time) exit
      if (Enough(capacity, n, mean, (low + time)/2)) then
        time = (low + time)/2
      else
        low = (low + time)/2
      end if
    end do
    time = max(time, largest/maxval(capacity%rate))
  end function Makespan

  !> True where the workers can do all that is left within `time`.
  pure logical function Enough(capacity, n, mean, time)
    type(capacity_t), intent(in) :: capacity(:)
    integer, intent(in) :: n
    real(dp), intent(in) :: mean, time
    real(dp) :: room, need
    integer :: i
    room = 0
    need = n
    do i = 1, size(capacity)
      if (capacity(i)%free <= time) then
        room = room + aint((time - capacity(i)%free)*capacity(i)%rate/mean + ROUNDING)
      else if (capacity(i)%cost > 0 .and. .not. capacity(i)%fixed) then
        need = need + 1
      end if
    end do
    Enough = room >= need
  end function Enough

  !> True where the others would have done all `n` waiting shots of `mean` updates clearly before `worker` has done one, at time
  !> `ends`.
  pure logical function MakespanSpares(capacity, worker, n, mean, ends) result(spares)
    type(capacity_t), intent(in) :: capacity(:)
    integer, intent(in) :: worker, n
    real(dp), intent(in) :: mean, ends
    real(dp) :: time
    time = ends*(1 - CLEARLY)
    spares = sum(aint((time - capacity%free)*capacity%rate/mean + ROUNDING), &
                 mask=capacity%worker /= worker .and. capacity%free <= time) >= n
  end function MakespanSpares

  !> Nothing waits, and `worker` is idle: the number of the shot that it should take over, 0 if none. That is the shot that would
  !> end last, later than `time` (Makespan), and that the worker, with `rate` and what else it has done in `free` seconds, would
  !> finish clearly sooner, even with no more than the part `alone` of its rate, and no later than any other.
  pure integer function MakespanTakeover(capacity, worker, rate, alone, free, time) result(taken)
    type(capacity_t), intent(in) :: capacity(:)
    integer, intent(in) :: worker
    real(dp), intent(in) :: rate, alone, free, time
    real(dp) :: ends
    integer :: i
    taken = 0
    if (rate <= 0) return
    do i = 1, size(capacity)
      if (free > SOON*capacity(i)%cost/rate) cycle
      if (capacity(i)%cost <= 0 .or. capacity(i)%fixed .or. capacity(i)%worker == worker) cycle
      ends = free + capacity(i)%cost/rate
      if (capacity(i)%free <= time*(1 + ROUNDING) .or. capacity(i)%free <= BETTER*(free + capacity(i)%cost/(alone*rate))) cycle
      if (any((ends - capacity%free)*capacity%rate > capacity(i)%cost*(1 + ROUNDING) .and. capacity%worker /= worker)) cycle
      if (taken > 0) then
        if (capacity(i)%free <= capacity(taken)%free) cycle
      end if
      taken = i
    end do
  end function MakespanTakeover

end module makespan_m
