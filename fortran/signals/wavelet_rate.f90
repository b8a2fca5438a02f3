!> The rate of a wavelet, Q'(t), so finely tabulated that exact solutions may take it at any time.
module wavelet_rate_m
  use kinds_m, only: dp
  use wavelet_m, only: wavelet_t, WaveletValue
  implicit none
  private
  public :: rate_t, RateNew, RateAt

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

end module wavelet_rate_m
