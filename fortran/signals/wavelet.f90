!> The source wavelet: volume injection rate Q(t), from a formula or a file, known at any time.
module wavelet_m
  use checked_m, only: Above, Whole
  use chirp_z_m, only: ChirpZ
  use kinds_m, only: dp, pi
  use error_m, only: error_t, Fail
  use hash_m, only: hash_t, HashAdd, HashText
  use kaiser_m, only: Kaiser, KaiserLobe, Sinc
  use parameters_m, only: job_t
  use resample_m, only: Resample
  use text_m, only: Str
  use wavelet_file_m, only: WavefileRead
  implicit none
  private
  public :: wavelet_t, WaveletMake, WaveletValue, WaveletSpectrum, WaveletPeak

  !> Samples fine enough (8 or more to the period of fband) to be interpolated to any time; 0 before the first and after the last.
  type :: wavelet_t
    character(:), allocatable :: name      !< one line: what it is
    real(dp), allocatable :: q(:)          !< [m2/s], sample i at t0 + (i-1) dt
    real(dp) :: t0 = 0, dt = 0             !< [s]; t = 0 is the source's time zero
    real(dp) :: t_zero = 0                 !< time at which the wavelet's own time zero lies [s]
    real(dp) :: t_begin = 0                !< when the modelling has to begin [s]: <= 0
    real(dp) :: ftop = 0                   !< where the amplitude spectrum is largest [Hz]
    real(dp) :: fpeak = 0                  !< the same, but for low ones, where what it sends is strongest: FindBand [Hz]
    real(dp) :: fmax = 0                   !< highest that must be right [Hz]: spectrum falls to 1 %, or as given
    real(dp) :: fband = 0                  !< where the spectrum falls to 1e-5 [Hz]
    character(16) :: numbers = ''          !< fingerprint of the numbers of a file, each bit of them; of a formula most often ''
    character(:), allocatable :: doubt     !< what should be known of a file, a line each; '' if nothing
  end type wavelet_t

  real(dp), parameter :: negligible = 1.0e-6_dp    !< of the peak: here the wavelet starts and ends
  real(dp), parameter :: band_level = 1.0e-5_dp    !< of the peak of the spectrum: here the band ends
  real(dp), parameter :: pulse_most = 0.1_dp       !< of the signal: a file whose ends make larger pulses is refused,
  real(dp), parameter :: pulse_warned = 0.01_dp    !< and one whose ends make pulses above this gets a warning
  real(dp), parameter :: passes = 0.8_dp           !< of the Nyquist frequency of a file: what is above is taken out (resample.f90)
  real(dp), parameter :: peak_least = 0.1_dp       !< of fmax: where fpeak is at least
  real(dp), parameter :: above_warned = 0.01_dp    !< of the peak of the spectrum: more there is told,
  real(dp), parameter :: above_most = 2            !< and refused from this on

  !> The ends of a wavelet file, in time and in frequency.
  type :: ends_t
    real(dp) :: pulse(2) = 0               !< pulse that the steps from and to 0 make, as a part of the true signal
    real(dp) :: value(2) = 0, peak = 0     !< first and last sample, the largest
    real(dp) :: over = huge(1.0_dp)        !< the last sample, and what its filter reaches before it [s]
    real(dp) :: above = 0                  !< its largest spectrum above what passes [m2]
    real(dp) :: nyquist = 0                !< [Hz]
  end type ends_t

contains

  !> The wavelet of the job (wavelet, fpeak, f1..f4, wavelet_file, wavelet_dt, delay, amplitude, fmax). delay = -1 puts its first
  !> sample above 1e-6 of its peak at t = 0, else its time zero is at t = delay; t_begin tells when the modelling then begins.
  !> Time zero is the centre of those that have a formula, time 0 of a file with two columns, the first sample of a file with one.
  !> Fails on frequencies that make no wavelet, a file that is none, delay and amplitude without meaning.
  subroutine WaveletMake(job, wavelet, error)
    type(job_t), intent(in) :: job
    type(wavelet_t), intent(out) :: wavelet
    type(error_t), allocatable, intent(inout) :: error
    type(ends_t) :: ends
    wavelet%doubt = ''
    if (.not. (job%delay >= 0 .or. job%delay == -1)) then
      call Fail(error, 'delay = '//Str(job%delay)//' s has no meaning: give 0 or more, or -1 to let the wavelet start at t = 0')
    else if (job%amplitude == 0) then
      call Fail(error, 'amplitude = 0 would model nothing: give the factor for the wavelet, for example 1')
    end if
    if (allocated(error)) return
    select case (job%wavelet)
    case ('ricker')
      call MakeRicker(job%fpeak, wavelet, error)
    case ('ormsby')
      call MakeOrmsby([job%f1, job%f2, job%f3, job%f4], .false., wavelet, error)
    case ('ormsby-rounded')
      call MakeOrmsby([job%f1, job%f2, job%f3, job%f4], .true., wavelet, error)
    case ('gauss')
      call MakeGauss(job%sigma, wavelet)
    case ('file')
      call MakeFromFile(job, wavelet, ends, error)
    case default
      call Fail(error, 'wavelet = '//job%wavelet//' is unknown: use ricker, ormsby, ormsby-rounded or file')
    end select
    if (allocated(error)) return
    call TrimEnds(wavelet)
    call FindBand(wavelet)
    if (job%wavelet == 'file') call CheckNyquist(job, ends, wavelet, error)
    if (allocated(error)) return
    if (job%wavelet == 'gauss') wavelet%fpeak = 0.3_dp*wavelet%fmax
    if (job%wavelet == 'gauss') wavelet%numbers = ''
    if (job%fmax > 0) wavelet%fmax = job%fmax
    wavelet%q = job%amplitude*wavelet%q
    if (.not. (maxval(abs(wavelet%q)) > 1.0e-30_dp .and. maxval(abs(wavelet%q)) < 1.0e30_dp)) then
      call Fail(error, 'the wavelet''s peak is '//Str(maxval(abs(wavelet%q)))//trim(merge('     ', ' m2/s', job%axes(2)))// &
                ', not between 1e-30 and 1e30 (single precision): change amplitude')
      return
    end if
    wavelet%t_zero = merge(-wavelet%t0, job%delay, job%delay == -1)
    wavelet%t0 = wavelet%t0 + wavelet%t_zero
    wavelet%t_begin = min(0.0_dp, wavelet%t0)
    if (job%wavelet == 'file') call CheckEnds(job, wavelet%t_zero, ends, wavelet%doubt, error)
  end subroutine WaveletMake

  !> Before its first and after its last sample a wavelet is 0. A step to 0 from a last sample that is not radiates a pulse of its
  !> own, as far fields go with the change of the wavelet. A source that goes on as it ended does not; which of them is meant only
  !> the user knows. A wavelet that ends after the record does no harm.
  subroutine CheckEnds(job, t_zero, ends, doubt, error)
    type(job_t), intent(in) :: job
    real(dp), intent(in) :: t_zero
    type(ends_t), intent(in) :: ends
    character(:), allocatable, intent(inout) :: doubt
    type(error_t), allocatable, intent(inout) :: error
    call OneEnd('begins', ends%value(1), ends%pulse(1), 'let it begin at 0 (a taper), or, where the source does set in so '// &
                'suddenly, put a sample of 0 before')
    if (ends%over + t_zero < job%tmax) &
      call OneEnd('ends', ends%value(2), ends%pulse(2), 'let it end at 0 (a taper), or go on as the source does (a constant '// &
                  'value radiates nothing) to the end of the record and 30 samples beyond, or, where the source does stop so '// &
                  'suddenly, add a sample of 0')

  contains

    subroutine OneEnd(how, value, pulse, cure)
      character(*), intent(in) :: how, cure
      real(dp), intent(in) :: value, pulse
      character(:), allocatable :: text
      if (pulse <= pulse_warned) return
      text = 'wavelet file '//job%wavelet_file//' '//how//' at '//Str(value, 4)//', '//Str(100*abs(value)/ends%peak, 3)// &
             ' % of its peak: the step from or to 0 there radiates a pulse of some '//Str(100*pulse, 2)//' % of the signal; '//cure
      if (pulse > pulse_most) then
        call Fail(error, text)
      else
        if (doubt /= '') doubt = doubt//new_line('a')
        doubt = doubt//text
      end if
    end subroutine OneEnd

  end subroutine CheckEnds

  !> Ricker wavelet (1 - 2a) exp(-a), a = (π fpeak t)²; its spectrum, ~ f² exp(-f²/fpeak²), is at 1e-5 at 3.79 fpeak.
  subroutine MakeRicker(fpeak, wavelet, error)
    real(dp), intent(in) :: fpeak
    type(wavelet_t), intent(inout) :: wavelet
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: a
    integer :: i, n
    if (.not. fpeak > 0) then
      call Fail(error, 'fpeak = '//Str(fpeak)//' Hz: a Ricker wavelet needs a peak frequency above 0')
      return
    end if
    wavelet%name = 'Ricker wavelet, peak frequency '//Str(fpeak)//' Hz'
    wavelet%dt = 1/(32*fpeak)
    n = ceiling(1.5_dp/(fpeak*wavelet%dt))
    allocate (wavelet%q(2*n + 1))
    do i = -n, n
      a = (pi*fpeak*i*wavelet%dt)**2
      wavelet%q(n + 1 + i) = (1 - 2*a)*exp(-a)
    end do
    wavelet%t0 = -n*wavelet%dt
  end subroutine MakeRicker

  !> exp(-t²/(2 sigma²))/(sigma sqrt(2π)), of area 1; its spectrum is at 1e-5 at 0.764/sigma.
  subroutine MakeGauss(sigma, wavelet)
    real(dp), intent(in) :: sigma
    type(wavelet_t), intent(inout) :: wavelet
    integer :: i, n
    wavelet%name = 'Gaussian of area 1, sigma '//Str(sigma)//' s'
    wavelet%dt = sigma/8
    n = 6*8
    allocate (wavelet%q(2*n + 1))
    do i = -n, n
      wavelet%q(n + 1 + i) = exp(-0.5_dp*(i*wavelet%dt/sigma)**2)/(sigma*sqrt(2*pi))
    end do
    wavelet%t0 = -n*wavelet%dt
  end subroutine MakeGauss

  !> Zero-phase wavelet with a trapezoid spectrum f1..f2..f3..f4 (Ormsby; Ryan 1994, CSEG Recorder 19), peak 1. Its tails go on for
  !> ever with 1/t². Rounded: a Kaiser window of `half` to each side makes it compact, which rounds the corners of the trapezoid by
  !> half the narrower ramp. Else it is as it stands to twice that from the centre, 6.7 times the inverse of the narrower ramp, and
  !> ends in half a cosine as long as `half`.
  subroutine MakeOrmsby(f, rounded, wavelet, error)
    real(dp), intent(in) :: f(4)
    logical, intent(in) :: rounded
    type(wavelet_t), intent(inout) :: wavelet
    type(error_t), allocatable, intent(inout) :: error
    real(dp), parameter :: b = 10
    integer, parameter :: most = 80000            ! samples
    real(dp) :: t, half, ends, slope
    integer :: i, n
    if (.not. (f(1) >= 0 .and. f(1) < f(2) .and. f(2) <= f(3) .and. f(3) < f(4))) then
      call Fail(error, 'f1, f2, f3, f4 = '//Str(f(1))//', '//Str(f(2))//', '//Str(f(3))//', '//Str(f(4))// &
                ' Hz make no Ormsby wavelet: they must be 0 <= f1 < f2 <= f3 < f4')
      return
    end if
    wavelet%name = 'Ormsby wavelet, '//Str(f(1))//'-'//Str(f(2))//'-'//Str(f(3))//'-'//Str(f(4))//' Hz'
    slope = min(f(2) - f(1), f(4) - f(3))
    wavelet%dt = 1/(12*f(4))
    half = KaiserLobe(b)/(0.5_dp*slope)
    ends = merge(half, 3*half, rounded)
    if (2*ends > most*wavelet%dt) then
      call Fail(error, 'f1..f4: a ramp of '//Str(slope)//' Hz makes a wavelet of more than '//Str(most)//' samples of '// &
                Str(wavelet%dt)//' s; make it wider'//Shorter())
      return
    end if
    if (rounded) wavelet%name = 'rounded '//wavelet%name
    n = Whole(Above(ends/wavelet%dt))
    allocate (wavelet%q(2*n + 1))
    do i = -n, n
      t = i*wavelet%dt
      wavelet%q(n + 1 + i) = Window()*(Ramp(f(3), f(4), t) - Ramp(f(1), f(2), t))/(f(4) + f(3) - f(2) - f(1))
    end do
    wavelet%t0 = -n*wavelet%dt

  contains

    pure real(dp) function Window()
      if (rounded) then
        Window = Kaiser(t/half, b)
      else
        Window = 0.5_dp*(1 + cos(pi*min(max(abs(t)/half - 2, 0.0_dp), 1.0_dp)))
      end if
    end function Window

    pure function Shorter() result(text)
      character(:), allocatable :: text
      text = ''
      if (2*half <= most*wavelet%dt .and. .not. rounded) text = ', or take wavelet=ormsby-rounded, a third as long'
    end function Shorter

    pure real(dp) function Ramp(low, high, t)
      real(dp), intent(in) :: low, high, t
      Ramp = ((high*Sinc(high*t))**2 - (low*Sinc(low*t))**2)/(high - low)
    end function Ramp

  end subroutine MakeOrmsby

  !> The samples of a file, resampled four times finer; what its interval cannot carry (from its Nyquist frequency on) is removed.
  subroutine MakeFromFile(job, wavelet, ends, error)
    type(job_t), intent(in) :: job
    type(wavelet_t), intent(inout) :: wavelet
    type(ends_t), intent(out) :: ends
    type(error_t), allocatable, intent(inout) :: error
    real(dp), allocatable :: samples(:)
    real(dp) :: t0, dt
    integer :: pad
    integer, parameter :: finer = 4
    call WavefileRead(job%wavelet_file, job%wavelet_dt, samples, t0, dt, error)
    if (allocated(error)) return
    wavelet%name = 'wavelet of '//Str(size(samples))//' samples of '//Str(dt)//' s from '//job%wavelet_file
    pad = 30*finer                                   ! the filter reaches 28.6 samples
    call LookAtEnds(job, samples, t0, dt, ends)
    call LookAbove(samples, dt, ends)
    wavelet%numbers = NumbersHash(samples, t0, dt)
    wavelet%dt = dt/finer
    wavelet%t0 = t0 - pad*wavelet%dt
    allocate (wavelet%q(finer*(size(samples) - 1) + 1 + 2*pad))
    call Resample(samples, t0, dt, wavelet%q, wavelet%t0, wavelet%dt, 0.5_dp/dt)
  end subroutine MakeFromFile

  !> A step of the wavelet against its steepest slope: as pulses of the far field, which in 3D goes with the slope. In 2D short
  !> pulses are lower by the root of their length, for the far field goes with the half derivative. Traces show no pulse shorter
  !> than dt_out.
  pure subroutine LookAtEnds(job, samples, t0, dt, ends)
    type(job_t), intent(in) :: job
    real(dp), intent(in) :: samples(:), t0, dt
    type(ends_t), intent(out) :: ends
    real(dp), parameter :: flat = 1.0e-6_dp         ! what changes less than by this part of its peak is a step as large as any
    real(dp) :: steep, length
    ends%value = samples([1, size(samples)])
    ends%peak = maxval(abs(samples))
    ends%over = t0 + (size(samples) - 1 - 30)*dt
    ends%pulse = 0
    if (.not. ends%peak > 0) return
    length = max(dt, job%dt_out)
    steep = max(maxval(abs(samples(2:)/ends%peak - samples(:size(samples) - 1)/ends%peak))*(length/dt), flat)
    ends%pulse = abs(ends%value)/ends%peak/steep
    if (.not. job%axes(2)) ends%pulse = ends%pulse*sqrt(min(1.0_dp, steep))
  end subroutine LookAtEnds

  !> The largest spectrum of the samples between what passes and their Nyquist frequency.
  pure subroutine LookAbove(samples, dt, ends)
    real(dp), intent(in) :: samples(:), dt
    type(ends_t), intent(inout) :: ends
    type(wavelet_t) :: raw
    integer :: i, n
    raw%q = samples
    raw%dt = dt
    ends%nyquist = 0.5_dp/dt
    n = min(max(size(samples), 32), 2000)
    ends%above = maxval(abs(WaveletSpectrum(raw, [(ends%nyquist*(passes + (1 - passes)*i/n), i=0, n)])))
  end subroutine LookAbove

  !> Tells of a file with much close to the Nyquist frequency of its samples: that is taken out, and shows that there was more
  !> beyond, which the samples have folded into its band.
  subroutine CheckNyquist(job, ends, wavelet, error)
    type(job_t), intent(in) :: job
    type(ends_t), intent(in) :: ends
    type(wavelet_t), intent(inout) :: wavelet
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: text
    real(dp) :: part
    part = ends%above/max(WaveletPeak(wavelet), tiny(part))
    if (.not. part > above_warned) return
    text = 'wavelet file '//job%wavelet_file//' has up to '//Str(100*part, 2)//' % of the peak of its spectrum between '// &
           Str(passes*ends%nyquist, 4)//' Hz and '//Str(ends%nyquist, 4)//' Hz, the Nyquist frequency of samples '// &
           Str(0.5_dp/ends%nyquist, 4)//' s apart: that is taken out, and what it had beyond is folded into its band '// &
           '(aliases); sample it more finely, or low-pass it before it is sampled'
    if (part > above_most) then
      call Fail(error, text)
    else
      if (wavelet%doubt /= '') wavelet%doubt = wavelet%doubt//new_line('a')
      wavelet%doubt = wavelet%doubt//text
    end if
  end subroutine CheckNyquist

  !> Of the numbers as they are read, which all machines read alike: not of their digits, comments or blanks.
  pure character(16) function NumbersHash(samples, t0, dt) result(text)
    real(dp), intent(in) :: samples(:), t0, dt
    type(hash_t) :: hash
    call HashAdd(hash, [t0, dt])
    call HashAdd(hash, samples)
    text = HashText(hash)
  end function NumbersHash

  !> Cuts off both ends where they are negligible.
  subroutine TrimEnds(wavelet)
    type(wavelet_t), intent(inout) :: wavelet
    real(dp) :: level
    integer :: first, last
    level = negligible*maxval(abs(wavelet%q))
    first = findloc(abs(wavelet%q) >= level, .true., dim=1)
    last = findloc(abs(wavelet%q) >= level, .true., dim=1, back=.true.)
    wavelet%t0 = wavelet%t0 + (first - 1)*wavelet%dt
    wavelet%q = wavelet%q(first:last)
  end subroutine TrimEnds

  !> fpeak, fmax and fband from the amplitude spectrum. It is known to end below 0.16 of the fine sampling rate. fpeak is its
  !> peak. A moment rate's has its peak at 0, which would leave nothing to absorbing layers and sponges: fpeak is that of the
  !> velocities that it sends, which go with its slope. A peak below a tenth of fmax would leave them next to nothing, too.
  subroutine FindBand(wavelet)
    type(wavelet_t), intent(inout) :: wavelet
    integer, parameter :: long = 20000               ! samples whose spectrum by direct summation takes half a second
    real(dp), allocatable :: f(:), a(:)
    complex(dp), allocatable :: s(:)
    real(dp) :: df
    integer :: i, n
    type(hash_t) :: other
    df = 1/(merge(16, 2, size(wavelet%q) < 4096)*max(size(wavelet%q), 16)*wavelet%dt)
    n = int(0.16_dp/(wavelet%dt*df))
    allocate (f(0:n), a(0:n))
    do i = 0, n
      f(i) = i*df
    end do
    if (size(wavelet%q) > long) then
      allocate (s(0:n))
      call ChirpZ(wavelet%q, df*wavelet%dt, s)
      a = abs(s)
    else
      a = abs(WaveletSpectrum(wavelet, f))
    end if
    a = a/maxval(a)
    wavelet%ftop = Highest(a)
    wavelet%fpeak = wavelet%ftop
    wavelet%fmax = LastAbove(0.01_dp)
    wavelet%fband = LastAbove(band_level)
    if (.not. (a(0) > 0.5_dp .or. wavelet%fpeak < peak_least*wavelet%fmax)) return
    if (a(0) > 0.5_dp) wavelet%fpeak = Highest(f*a)
    wavelet%fpeak = max(wavelet%fpeak, peak_least*wavelet%fmax)
    call HashAdd(other, iachar([(wavelet%numbers(i:i), i=1, len(wavelet%numbers))]))   ! layers were made for 0 Hz until 2026-11-29
    wavelet%numbers = HashText(other)

  contains

    !> The top of the parabola through the largest amplitude and its neighbours.
    real(dp) function Highest(b)
      real(dp), intent(in) :: b(0:)
      real(dp) :: bend
      integer :: m
      m = min(max(maxloc(b, dim=1) - 1, 1), n - 1)
      Highest = f(maxloc(b, dim=1) - 1)
      bend = b(m - 1) - 2*b(m) + b(m + 1)
      if (bend < 0 .and. b(m) >= max(b(m - 1), b(m + 1))) Highest = f(m) + df*(b(m - 1) - b(m + 1))/(2*bend)
    end function Highest

    real(dp) function LastAbove(level)
      real(dp), intent(in) :: level
      LastAbove = f(min(n, findloc(a >= level, .true., dim=1, back=.true.)))   ! the frequency behind the last above
    end function LastAbove

  end subroutine FindBand

  !> Q(t) at any t [s], by a Kaiser-windowed sinc of half-width 8: exact to about 1e-7 of the peak for a band that ends at a quarter
  !> of the sampling rate.
  elemental real(dp) function WaveletValue(wavelet, t) result(value)
    type(wavelet_t), intent(in) :: wavelet
    real(dp), intent(in) :: t
    integer, parameter :: half_width = 8
    real(dp), parameter :: b = 11
    real(dp) :: x
    integer :: i
    value = 0
    x = (t - wavelet%t0)/wavelet%dt + 1
    if (x < 1 .or. x > size(wavelet%q)) return
    do i = max(1, ceiling(x) - half_width), min(size(wavelet%q), floor(x) + half_width)
      value = value + wavelet%q(i)*Sinc(x - i)*Kaiser((x - i)/half_width, b)
    end do
  end function WaveletValue

  !> The largest amplitude of the spectrum [m2].
  pure real(dp) function WaveletPeak(wavelet)
    type(wavelet_t), intent(in) :: wavelet
    WaveletPeak = abs(WaveletSpectrum(wavelet, wavelet%ftop))
  end function WaveletPeak

  !> Spectrum ∫ Q(t) exp(-i 2π f t) dt [m2] at f [Hz], by direct summation.
  elemental complex(dp) function WaveletSpectrum(wavelet, f) result(s)
    type(wavelet_t), intent(in) :: wavelet
    real(dp), intent(in) :: f
    complex(dp) :: turn, phase
    integer :: i
    turn = exp(cmplx(0, -2*pi*f*wavelet%dt, dp))
    phase = wavelet%dt*exp(cmplx(0, -2*pi*f*wavelet%t0, dp))
    s = 0
    do i = 1, size(wavelet%q)
      s = s + wavelet%q(i)*phase
      phase = phase*turn
    end do
  end function WaveletSpectrum

end module wavelet_m
