!> The error of phase that the grid gives a wave on its way, from the dispersion relation of the scheme.
!>
!> Along an axis with spacing h the differentiators turn a wavenumber k into K(k) = (2/h) sum_m w(m) sin((m-½) k h), and a wave of
!> velocity c and frequency ω has c K = ω where the traces are freed of time dispersion, else c K = (2/dt) sin(ω dt/2). After a way
!> r its phase is off by (k - ω/c) r, and a trace at ω by 2 |sin(phase/2)| of its RMS. Oblique ways are less off.
module phaseerror_m
  use der_m, only: DerPhaseError
  use kinds_m, only: dp, pi
  use wavelet_m, only: wavelet_t, WaveletSpectrum
  implicit none
  private
  public :: PhaseOff, TraceOff, TraceOffAll

contains

  !> Phase [radians] by which a wave of frequency f [Hz] is late after a way of `length` [m], equal parts of which have
  !> slowness(:) [s/m]. Weights w(:), spacing h [m], time step dt [s], 0 where time dispersion is removed.
  pure real(dp) function PhaseOff(w, h, dt, f, slowness, length) result(phase)
    real(dp), intent(in) :: w(:), h, dt, f, slowness(:), length
    real(dp) :: omega, seen, part
    integer :: i
    omega = 2*pi*f
    seen = omega
    if (dt > 0) seen = 2/dt*sin(min(0.5_dp*omega*dt, 0.5_dp*pi))
    phase = 0
    part = 0
    do i = 1, size(slowness)
      if (i == 1) then
        part = Late(slowness(1))
      else if (abs(slowness(i) - slowness(i - 1)) > 0) then
        part = Late(slowness(i))
      end if
      phase = phase + part
    end do

  contains

    pure real(dp) function Late(s)
      real(dp), intent(in) :: s
      Late = (Wavenumber(w, seen*s*h)/h - omega*s)*length/size(slowness)
    end function Late

  end function PhaseOff

  !> The kh [radians per cell] that weights w(:) turn into `seen` [radians per cell]: by bisection, as far as they rise. Above
  !> what they can carry it is where they end, or pi.
  pure real(dp) function Wavenumber(w, seen) result(kh)
    real(dp), intent(in) :: w(:), seen
    real(dp) :: lo, hi
    integer :: i
    lo = 0
    hi = min(pi, 2*seen)
    do i = 1, 50
      kh = 0.5_dp*(lo + hi)
      if (kh*(1 + DerPhaseError(w, kh)) < seen) then
        lo = kh
      else
        hi = kh
      end if
    end do
  end function Wavenumber

  !> The error of a trace of one frequency, of its RMS, for an error of its phase: from half a period on twice its RMS.
  elemental real(dp) function TraceOff(phase)
    real(dp), intent(in) :: phase
    TraceOff = 2*sin(0.5_dp*min(abs(phase), pi))
  end function TraceOff

  !> The same of a whole trace: its power at f is that of the wavelet times f**exponent.
  pure real(dp) function TraceOffAll(wavelet, exponent, w, h, dt, slowness, length) result(off)
    type(wavelet_t), intent(in) :: wavelet
    integer, intent(in) :: exponent
    real(dp), intent(in) :: w(:), h, dt, slowness(:), length
    integer, parameter :: n = 80
    real(dp) :: f, power, total, wrong
    integer :: i
    total = 0
    wrong = 0
    do i = 1, n
      f = i*wavelet%fband/n
      power = abs(WaveletSpectrum(wavelet, f))**2*f**exponent
      total = total + power
      wrong = wrong + power*(2*sin(0.5_dp*PhaseOff(w, h, dt, f, slowness, length)))**2
    end do
    off = sqrt(wrong/total)
  end function TraceOffAll

end module phaseerror_m
