!> The end of a survey: how soon all that is left can be done, and what each worker should do for that. Pure procedures.
!>
!> A slow worker that takes a shot too late keeps everybody waiting. The rule: with all workers at their rates, let T be the
!> shortest time in which everything left can be finished. A worker takes a shot only if it finishes it within T. For shots of one
!> size no schedule is shorter: within T each worker can do a whole number of shots, and T is the first time at which these are
!> enough. Shots that their workers cannot finish within T count as to be done by others, from their beginning.
module makespan_m
  use kinds_m, only: dp
  implicit none
  private
  public :: capacity_t, Makespan, MakespanSpares, MakespanTakeover

  real(dp), parameter :: BETTER = 1.25_dp     !< a shot is taken over only by a slot that needs so much less: estimates are noisy
  real(dp), parameter :: ROUNDING = 1.0e-6_dp !< of a shot
  real(dp), parameter :: CLEARLY = 0.05_dp    !< of the time
  real(dp), parameter :: SOON = 2             !< who has more than so many shots to do takes none over yet: more will be known then
  integer, parameter :: HALVINGS = 40

  !> The slot of a worker, now; or a worker whose slots share its rate, or a shot in one of these.
  type :: capacity_t
    integer :: worker = 0
    real(dp) :: rate = 0                      !< updates a second, 0 = unknown, or not to be counted here
    real(dp) :: free = 0                      !< seconds until it can begin another shot
    real(dp) :: cost = 0                      !< updates of the shot it works on, 0 = none
    logical :: fixed = .false.                !< that shot is not to be taken over
    integer :: flight = 0                     !< for the caller: which shot that is
  end type capacity_t

contains

  !> Shortest time [s] in which `n` waiting shots of `cost` updates in total, the largest of `largest`, and all that the seats work
  !> on can be finished. huge() if no rate is known.
  pure real(dp) function Makespan(seats, n, cost, largest) result(time)
    type(capacity_t), intent(in) :: seats(:)
    integer, intent(in) :: n
    real(dp), intent(in) :: cost, largest
    real(dp) :: low, mean
    integer :: i
    time = huge(1.0_dp)
    if (.not. any(seats%rate > 0)) return
    if (n > 0) then
      mean = cost/n
    else if (any(seats%cost > 0)) then
      mean = sum(seats%cost)/count(seats%cost > 0)
    else
      time = 0
      return
    end if
    low = 0
    time = max(cost/sum(seats%rate), mean/maxval(seats%rate))
    do while (.not. Enough(seats, n, mean, time))
      low = time
      time = 2*time
    end do
    do i = 1, HALVINGS
      if (time - low <= 1.0e-9_dp*time) exit
      if (Enough(seats, n, mean, (low + time)/2)) then
        time = (low + time)/2
      else
        low = (low + time)/2
      end if
    end do
    time = max(time, largest/maxval(seats%rate))
  end function Makespan

  !> Within `time` the seats can do all that is left.
  pure logical function Enough(seats, n, mean, time)
    type(capacity_t), intent(in) :: seats(:)
    integer, intent(in) :: n
    real(dp), intent(in) :: mean, time
    real(dp) :: room, need
    integer :: i
    room = 0
    need = n
    do i = 1, size(seats)
      if (seats(i)%free <= time) then
        room = room + aint((time - seats(i)%free)*seats(i)%rate/mean + ROUNDING)
      else if (seats(i)%cost > 0 .and. .not. seats(i)%fixed) then
        need = need + 1
      end if
    end do
    Enough = room >= need
  end function Enough

  !> Whether the others would have done all `n` waiting shots of `mean` updates clearly before `worker` has done one, at time
  !> `ends`.
  pure logical function MakespanSpares(seats, worker, n, mean, ends) result(spares)
    type(capacity_t), intent(in) :: seats(:)
    integer, intent(in) :: worker, n
    real(dp), intent(in) :: mean, ends
    real(dp) :: time
    time = ends*(1 - CLEARLY)
    spares = sum(aint((time - seats%free)*seats%rate/mean + ROUNDING), mask=seats%worker /= worker .and. seats%free <= time) >= n
  end function MakespanSpares

  !> Nothing waits, and a slot of `worker` is idle: the seat whose shot it should take over, 0 if none. That is the shot that would
  !> end last, later than `time` (Makespan), and that the worker, with `rate` and what else it has done in `free` seconds, would
  !> finish clearly sooner, even with no more than the part `alone` of its rate, and no later than any other.
  pure integer function MakespanTakeover(seats, worker, rate, alone, free, time) result(seat)
    type(capacity_t), intent(in) :: seats(:)
    integer, intent(in) :: worker
    real(dp), intent(in) :: rate, alone, free, time
    real(dp) :: ends
    integer :: i
    seat = 0
    if (rate <= 0) return
    do i = 1, size(seats)
      if (free > SOON*seats(i)%cost/rate) cycle
      if (seats(i)%cost <= 0 .or. seats(i)%fixed .or. seats(i)%worker == worker) cycle
      ends = free + seats(i)%cost/rate
      if (seats(i)%free <= time*(1 + ROUNDING) .or. seats(i)%free <= BETTER*(free + seats(i)%cost/(alone*rate))) cycle
      if (any((ends - seats%free)*seats%rate > seats(i)%cost*(1 + ROUNDING) .and. seats%worker /= worker)) cycle
      if (seat > 0) then
        if (seats(i)%free <= seats(seat)%free) cycle
      end if
      seat = i
    end do
  end function MakespanTakeover

end module makespan_m
