!> The largest time step with which elements are stable.
module elements_dt_m
  use elements_m, only: elements_t
  use kinds_m, only: dp
  implicit none
  private
  public :: ElementsDt

contains

  !> dt [s], an estimate of the largest stable time step, and the element that sets it.
  pure subroutine ElementsDt(elements, dt, element)
    type(elements_t), intent(in) :: elements
    real(dp), intent(out) :: dt
    integer, intent(out) :: element
    dt = 0
    element = 0
  end subroutine ElementsDt

end module elements_dt_m
