!> Exact pressure of a line source in a homogeneous full space, which `verify` and the tests compare with.
!>
!>     p = rho Q' * g,   g(r, t) = H(t - r/c)/(2π sqrt(t² - r²/c²))
!>
!> With t' = (r/c) cosh u the root disappears: p(t) = rho/2π ∫ Q'(t - (r/c) cosh u) du from 0 on. The integrand is smooth and
!> ends in zeros, where the trapezoidal rule converges faster than any power of its step.
module exact_acoustic_m
  use kinds_m, only: dp
  use wavelet_m, only: wavelet_t, WaveletValue
  implicit none
  private
  public :: rate_t, RateNew, RateAt, GreenPressure

  real(dp), parameter :: pi = acos(-1.0_dp)

  !> Q'(t) tabulated so finely that a cubic between the samples is exact to about 1e-8.
  type :: rate_t
    real(dp) :: t0 = 0, dt = 0            !< [s]
    real(dp), allocatable :: d(:)         !< Q' [m2/s2]
  end type rate_t

contains

  !> The table of a wavelet.
  subroutine RateNew(rate, wavelet)
    type(rate_t), intent(out) :: rate
    type(wavelet_t), intent(in) :: wavelet
    integer, parameter :: finer = 32, pad = 12
    real(dp), allocatable :: q(:)
    integer :: n, i
    rate%dt = wavelet%dt/finer
    rate%t0 = wavelet%t0 - pad*rate%dt
    n = (size(wavelet%q) - 1)*finer + 1 + 2*pad
    allocate (q(1 - 4:n + 4))
    q = WaveletValue(wavelet, rate%t0 + [((i - 1)*rate%dt, i=-3, n + 4)])
    rate%d = (672*(q(2:n + 1) - q(0:n - 1)) - 168*(q(3:n + 2) - q(-1:n - 2)) + 32*(q(4:n + 3) - q(-2:n - 3)) &
              - 3*(q(5:n + 4) - q(-3:n - 4)))/(840*rate%dt)
  end subroutine RateNew

  !> Q'(t) by the cubic through four samples; 0 outside the wavelet.
  elemental real(dp) function RateAt(rate, t) result(d)
    type(rate_t), intent(in) :: rate
    real(dp), intent(in) :: t
    real(dp) :: x
    integer :: i
    d = 0
    x = (t - rate%t0)/rate%dt + 1
    if (x < 2 .or. x >= size(rate%d) - 1) return
    i = int(x)
    x = x - i
    d = -x*(x - 1)*(x - 2)/6*rate%d(i - 1) + (x*x - 1)*(x - 2)/2*rate%d(i) - x*(x + 1)*(x - 2)/2*rate%d(i + 1) &
        + x*(x*x - 1)/6*rate%d(i + 2)
  end function RateAt

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
