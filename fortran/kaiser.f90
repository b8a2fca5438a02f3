!> The Kaiser window and the sinc function, of which all band-limited interpolation here is made.
module kaiser_m
  use kinds_m, only: dp
  implicit none
  private
  public :: Kaiser, Sinc

contains

  !> Kaiser window I0(b sqrt(1-x²))/I0(b) at x, 0 for |x| > 1 (Kaiser 1974; a window of stop-band attenuation A [dB] > 50 has
  !> b = 0.1102 (A - 8.7) and, over n samples in all, a transition of (A - 8)/(2.285 (n - 1)) radians per sample).
  elemental real(dp) function Kaiser(x, b)
    real(dp), intent(in) :: x, b
    Kaiser = 0
    if (abs(x) <= 1) Kaiser = BesselI0(b*sqrt(1 - x*x))/BesselI0(b)
  end function Kaiser

  !> sin(πx)/(πx)
  elemental real(dp) function Sinc(x)
    real(dp), intent(in) :: x
    real(dp), parameter :: pi = acos(-1.0_dp)
    Sinc = 1
    if (abs(x) > 1.0e-9_dp) Sinc = sin(pi*x)/(pi*x)
  end function Sinc

  !> Modified Bessel function of the first kind, order 0: sum of ((x/2)^k/k!)²; meant for |x| < 50.
  elemental real(dp) function BesselI0(x) result(total)
    real(dp), intent(in) :: x
    real(dp) :: term
    integer :: k
    total = 1
    term = 1
    do k = 1, 200
      term = term*(0.5_dp*x/k)**2
      total = total + term
      if (term < 1.0e-17_dp*total) exit
    end do
  end function BesselI0

end module kaiser_m
