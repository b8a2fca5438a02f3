!> The Kaiser window and the sinc function, of which all band-limited interpolation here is made.
module kaiser_m
  use kinds_m, only: dp, pi
  implicit none
  private
  public :: Kaiser, KaiserStep, KaiserArea, KaiserLobe, Sinc

contains

  !> Kaiser window I0(b sqrt(1-x²))/I0(b) at x, 0 for |x| > 1 (Kaiser 1974; a window of stop-band attenuation A [dB] > 50 has
  !> b = 0.1102 (A - 8.7) and, over n samples in all, a transition of (A - 8)/(2.285 (n - 1)) radians per sample).
  elemental real(dp) function Kaiser(x, b)
    real(dp), intent(in) :: x, b
    Kaiser = 0
    if (abs(x) <= 1) Kaiser = BesselI0(b*sqrt(1 - x*x))/BesselI0(b)
  end function Kaiser

  !> A smooth step from 0 at x <= -1 to 1 at x >= 1: the normalised integral of the Kaiser window. full: KaiserArea(1, b), where
  !> many steps are asked for.
  elemental real(dp) function KaiserStep(x, b, full) result(step)
    real(dp), intent(in) :: x, b
    real(dp), intent(in), optional :: full
    step = merge(0.0_dp, 1.0_dp, x <= -1)
    if (abs(x) >= 1) return
    if (present(full)) then
      step = KaiserArea(x, b)/full
    else
      step = KaiserArea(x, b)/KaiserArea(1.0_dp, b)
    end if
  end function KaiserStep

  !> The integral of the Kaiser window from -1 to x <= 1, by Simpson's rule, times 192.
  elemental real(dp) function KaiserArea(x, b) result(area)
    real(dp), intent(in) :: x, b
    integer, parameter :: n = 64
    real(dp) :: middle, at, weight
    integer :: i
    middle = BesselI0(b)
    area = 0
    do i = 0, n
      weight = merge(1, merge(4, 2, mod(i, 2) == 1), i == 0 .or. i == n)
      at = -1 + (x + 1)*i/n
      if (abs(at) <= 1) area = area + weight*(BesselI0(b*sqrt(1 - at*at))/middle)*(x + 1)
    end do
  end function KaiserArea

  !> Half-width of the main lobe of the transform of a Kaiser window of half-width 1: for a window in frequency [Hz] of half-width F
  !> its transform is down in its side lobes after KaiserLobe(b)/F seconds, and the other way round.
  elemental real(dp) function KaiserLobe(b)
    real(dp), intent(in) :: b
    KaiserLobe = sqrt(b*b + pi*pi)/(2*pi)
  end function KaiserLobe

  !> sin(πx)/(πx)
  elemental real(dp) function Sinc(x)
    real(dp), intent(in) :: x
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
