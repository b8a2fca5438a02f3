!> Band-limited resampling: one series at any ratio and offset, and the thinning of many traces by a whole factor.
module resample_m
  use kinds_m, only: dp, pi, sp
  use kaiser_m, only: Kaiser, Sinc
  implicit none
  private
  public :: Resample, decimator_t, DecimatorNew, DecimatorApply, DecimatorResponse

  integer, parameter :: rows = 32             !< thinned samples made by one matrix product

  !> Low-pass and keep every factor-th sample. Thinned sample j stands at sample 1 + (j-1-lead)*factor of the input.
  type :: decimator_t
    integer :: nt = 0                         !< samples in
    integer :: factor = 1
    integer :: lead = 0                       !< thinned samples before the first of the input
    integer :: n = 0                          !< samples out
    integer :: half = 0                       !< half-length of the filter [samples]
    real(dp), allocatable :: h(:)             !< (0:half), symmetric filter
    real(sp), allocatable :: block(:, :)      !< (rows, (rows-1)*factor + 2*half + 1): the filter shifted row by row
  end type decimator_t

contains

  !> y(j) = value at t0_out + (j-1) dt_out of the series x(i) at t0 + (i-1) dt, 0 outside. Any ratio, any offset.
  !> Content below 0.8 fcut passes to 1e-4 or better, from fcut [Hz] on it is 80 dB down; so fcut <= 1/(2 dt) keeps images out and
  !> fcut <= 1/(2 dt_out) aliases. The filter is a Kaiser-windowed sinc (Kaiser 1974) of half-length 14.3/fcut seconds.
  pure subroutine Resample(x, t0, dt, y, t0_out, dt_out, fcut)
    real(dp), intent(in) :: x(:), t0, dt, t0_out, dt_out, fcut
    real(dp), intent(out) :: y(:)
    real(dp), parameter :: attenuation = 90, b = 0.1102_dp*(attenuation - 8.7_dp)
    real(dp) :: half, fmid, t
    integer :: i, j
    half = (attenuation - 8)/(2.285_dp*4*pi*0.2_dp*fcut)
    fmid = 0.9_dp*fcut
    do j = 1, size(y)
      t = t0_out + (j - 1)*dt_out - t0
      y(j) = 0
      if (t < -half .or. t > size(x)*dt + half) cycle
      do i = max(1, ceiling((t - half)/dt) + 1), min(size(x), floor((t + half)/dt) + 1)
        y(j) = y(j) + x(i)*Filter(t - (i - 1)*dt)
      end do
    end do

  contains

    pure real(dp) function Filter(tau)
      real(dp), intent(in) :: tau
      Filter = 2*fmid*dt*Sinc(2*fmid*tau)*Kaiser(tau/half, b)
    end function Filter

  end subroutine Resample

  !> Prepares the thinning of nt samples by `factor`: what lies below fpass passes (exactly so once DecimatorResponse is divided
  !> out), what would alias into 0..fpass is 80 dB down. fpass: cycles per input sample, below 1/(2 factor). Factor 1 does nothing.
  subroutine DecimatorNew(d, nt, factor, fpass)
    type(decimator_t), intent(out) :: d
    integer, intent(in) :: nt, factor
    real(dp), intent(in) :: fpass
    real(dp), parameter :: attenuation = 80, b = 0.1102_dp*(attenuation - 8.7_dp)
    real(dp) :: fstop, fmid
    integer :: i
    d%nt = nt
    d%factor = factor
    if (factor > 1) then
      fstop = 1.0_dp/factor - fpass
      fmid = 0.5_dp*(fpass + fstop)
      d%half = ceiling((attenuation - 8)/(2.285_dp*4*pi*(fstop - fpass)))
      allocate (d%h(0:d%half))
      d%h = [(2*fmid*Sinc(2*fmid*i)*Kaiser(real(i, dp)/(d%half + 1), b), i=0, d%half)]
    else
      allocate (d%h(0:0), source=1.0_dp)
    end if
    d%lead = (d%half + factor - 1)/factor
    d%n = 2*d%lead + 1 + (nt - 1)/factor
    allocate (d%block(rows, (rows - 1)*factor + 2*d%half + 1), source=0.0_sp)
    do i = 1, rows
      d%block(i, (i - 1)*factor + 1:(i - 1)*factor + 2*d%half + 1) = real([d%h(d%half:1:-1), d%h], sp)
    end do
  end subroutine DecimatorNew

  !> Response of the low-pass at f [cycles per input sample].
  elemental real(dp) function DecimatorResponse(d, f) result(response)
    type(decimator_t), intent(in) :: d
    real(dp), intent(in) :: f
    integer :: i
    response = d%h(0)
    do i = 1, d%half
      response = response + 2*d%h(i)*cos(2*pi*f*i)
    end do
  end function DecimatorResponse

  !> y(n, ntr) = thinned x(nt, ntr), x being multiplied by gain(nt) first.
  subroutine DecimatorApply(d, x, gain, y)
    type(decimator_t), intent(in) :: d
    real(sp), intent(in) :: x(:, :), gain(:)
    real(sp), intent(out) :: y(:, :)
    real(sp), allocatable :: padded(:, :)
    integer :: first, last, j, n, i, k
    first = 1 - d%lead*d%factor - d%half
    last = 1 + (rows*((d%n + rows - 1)/rows) - 1 - d%lead)*d%factor + d%half
    allocate (padded(first:max(last, d%nt), size(x, 2)))
    do k = 1, size(x, 2)
      padded(:0, k) = 0
      padded(1:d%nt, k) = gain*x(:, k)
      padded(d%nt + 1:, k) = 0
    end do
    do j = 1, d%n, rows
      n = min(rows, d%n - j + 1)
      i = first + (j - 1)*d%factor
      y(j:j + n - 1, :) = matmul(d%block(:n, :), padded(i:i + size(d%block, 2) - 1, :))
    end do
  end subroutine DecimatorApply

end module resample_m
