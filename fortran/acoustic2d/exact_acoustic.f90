!> Exact pressure of a line source in a homogeneous full space, which `verify` and the tests compare with.
!>
!>     p = rho Q' * g,   g(r, t) = H(t - r/c)/(2π sqrt(t² - r²/c²))
!>
!> With t' = (r/c) cosh u the root disappears: p(t) = rho/2π ∫ Q'(t - (r/c) cosh u) du from 0 on. The integrand is smooth and
!> ends in zeros, where the trapezoidal rule converges faster than any power of its step.
module exact_acoustic_m
  use kinds_m, only: dp, pi
  use wavelet_rate_m, only: rate_t, RateAt
  implicit none
  private
  public :: GreenPressure

contains

  !> Pressure p(i) [Pa] at times t(i) [s], r [m] > 0 from the source, in a medium of velocity c [m/s] and density rho [kg/m3].
  pure subroutine GreenPressure(rate, c, rho, r, t, p)
    type(rate_t), intent(in) :: rate
    real(dp), intent(in) :: c, rho, r, t(:)
    real(dp), intent(out) :: p(:)
    integer :: i
    do i = 1, size(t)
      p(i) = rho/(2*pi)*Integral(rate, r/c, t(i))
    end do
  end subroutine GreenPressure

  !> ∫ Q'(t - tr cosh u) du over u >= 0.
  pure real(dp) function Integral(rate, tr, t) result(total)
    type(rate_t), intent(in) :: rate
    real(dp), intent(in) :: tr, t
    real(dp) :: first, last, du, u, value
    integer :: j, n
    total = 0
    if (t - rate%t0 <= tr) return
    last = acosh((t - rate%t0)/tr)
    first = acosh(max(1.0_dp, (t - rate%t0 - size(rate%d)*rate%dt)/tr))
    n = ceiling((last - first)*max(tr*sinh(last)/(16*rate%dt), 20.0_dp)) + 1
    du = (last - first)/n
    do j = 0, n
      u = first + j*du
      value = RateAt(rate, t - tr*cosh(u))
      if (j == 0 .or. j == n) value = value/2
      total = total + value*du
    end do
  end function Integral

end module exact_acoustic_m
