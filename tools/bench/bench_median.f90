!> The median of the repetitions of a benchmark.
module bench_median_m
  use kinds_m, only: dp
  implicit none
  private
  public :: Median

contains

  !> The upper one of the two in the middle where there are two.
  pure real(dp) function Median(x)
    real(dp), intent(in) :: x(:)
    integer :: i
    Median = 0
    do i = 1, size(x)
      if (count(x < x(i)) <= size(x)/2 .and. count(x <= x(i)) > size(x)/2) Median = x(i)
    end do
  end function Median

end module bench_median_m
