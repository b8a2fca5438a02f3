!> Removal of the time dispersion of the leap-frog scheme from wavelet and traces, and the resampling of traces.
!>
!> The scheme replaces d/dt by centred differences over dt, which turns exp(-i ω t) into a factor -i θ instead of -i ω,
!>       θ(ω) = (2/dt) sin(ω dt/2).
!> Its answer at ω is therefore the true answer at θ(ω), whatever the medium (Koene, Robertsson, Broggini & Andersson 2018,
!> Geophysical Journal International 213, 169-180, doi 10.1093/gji/ggx563). So the source is given the spectrum S(θ(ω)) at ω, and
!> the true trace is
!>       p(t) = 1/2π ∫ P_num(ω) exp(-i θ(ω) t) cos(ω dt/2) dω.
!> Both transforms depend on the origin of time: here it is t_start, the time of step 0. True times are later than the numerical
!> ones by up to 1/cos(ω dt/2), never earlier.
module time_dispersion_m
  use checked_m, only: Above, Below, Whole
  use chirp_z_m, only: ChirpZ
  use kinds_m, only: dp, pi, sp
  use error_m, only: error_t, Fail
  use kaiser_m, only: Kaiser, KaiserArea, KaiserLobe, KaiserStep, Sinc
  use resample_m, only: decimator_t, DecimatorApply, DecimatorNew, DecimatorResponse
  use text_m, only: Str
  use wavelet_m, only: wavelet_t
  implicit none
  private
  public :: TimedispSource, TimedispHistory, TimedispReach, TraceMargin
  public :: Transforms, AddWaves, tracefilter_t, TraceFilterNew, TraceFilterNumbers, TraceFilterApply

  real(dp), parameter :: step_b = 8          !< Kaiser parameter of the low-pass: its response in time ends at 1e-5
  real(dp), parameter :: taper_b = 10        !< Kaiser parameter of the end taper: nothing of it above the pass band
  integer, parameter :: block_rows = 96      !< output samples of one block
  integer, parameter :: chunk = 64           !< traces worked on at a time
  real(dp), parameter :: most_terms = 1.0e8_dp   !< of a wavelet's sums, half a second: more by Fourier transforms

  !> Some output samples from the thinned samples that they depend on: out(row:) = m thinned(column:).
  type :: block_t
    integer :: row = 0, column = 0
    real(sp), allocatable :: m(:, :)
  end type block_t

  !> Raw samples of every time step -> thinned -> corrected, band-limited and sampled at 0, dt_out, 2 dt_out, ...
  type :: tracefilter_t
    integer :: nt = 0, nt_out = 0
    real(dp) :: fpass = 0, fstop = 0         !< what lies below passes, what lies above is removed [Hz]
    type(decimator_t) :: thin
    real(sp), allocatable :: gain(:)         !< (nt), 1 up to the last output sample, then down to 0
    type(block_t), allocatable :: blocks(:)
  end type tracefilter_t

contains

  !> Samples q(n), n = 1..size(q), at t_start + (n-1/2) dt - early (0 unless given) of the wavelet transformed for the leap-frog
  !> scheme:
  !> q(t) = 1/π Re Σ_k S(θ(ω_k)) exp(-i ω_k t) Δω. Frequencies too high for dt (from 0.25/dt on, all beyond 0.31/dt) are left out.
  subroutine TimedispSource(wavelet, t_start, dt, q, early)
    type(wavelet_t), intent(in) :: wavelet
    real(dp), intent(in) :: t_start, dt
    real(sp), intent(out) :: q(:)
    real(dp), intent(in), optional :: early
    real(dp) :: before, fend, reach, first, last, domega, omega, theta, full
    real(dp), allocatable :: sum_q(:), thetas(:)
    complex(dp), allocatable :: spectra(:)
    complex(dp) :: spectrum
    integer :: k, last_k, n1, n2
    q = 0
    before = 0
    if (present(early)) before = early
    fend = min(1.25_dp*wavelet%fband, 0.31_dp/dt)
    reach = FilterReach(0.8_dp*fend, fend)
    last = wavelet%t0 + (size(wavelet%q) - 1)*wavelet%dt - t_start + reach
    first = (wavelet%t0 - t_start)*cos(NumericalOmega(2*pi*fend, dt)*dt/2) - reach
    n1 = Whole(Above(first/dt), 1)
    n2 = Whole(Below(last/dt) + 1, 0, size(q))
    if (n2 < n1) return
    allocate (sum_q(n1:n2), source=0.0_dp)
    domega = 2*pi/(last - first + 2*reach)
    full = KaiserArea(1.0_dp, step_b)
    last_k = Whole(Below(NumericalOmega(2*pi*fend, dt)/domega))
    if ((last_k + 1)*real(size(wavelet%q) + size(sum_q), dp) > most_terms) then
      thetas = [(2/dt*sin(k*domega*dt/2), k=0, last_k)]
      spectra = Transforms(wavelet%q, wavelet%t0 - t_start, wavelet%dt, thetas)*domega/pi* &
                LowPass(thetas/(2*pi), 0.8_dp*fend, fend, full)
      spectra(1) = spectra(1)/2
      call AddWaves(spectra, domega, (n1 - 0.5_dp)*dt - before, dt, sum_q)
      q(n1:n2) = real(sum_q, sp)
      return
    end if
    do k = 0, last_k
      omega = k*domega
      theta = 2/dt*sin(omega*dt/2)
      spectrum = Transform(wavelet%q, wavelet%t0 - t_start, wavelet%dt, theta)*domega/pi* &
                 LowPass(theta/(2*pi), 0.8_dp*fend, fend, full)
      if (k == 0) spectrum = spectrum/2
      call AddWave(spectrum, omega, (n1 - 0.5_dp)*dt - before, dt, sum_q)
    end do
    q(n1:n2) = real(sum_q, sp)
  end subroutine TimedispSource

  !> The time before and after a history in which TimedispHistory is not 0 [s].
  pure real(dp) function TimedispReach(fband, dt) result(reach)
    real(dp), intent(in) :: fband, dt
    real(dp) :: fend
    fend = min(1.25_dp*fband, 0.31_dp/dt)
    reach = FilterReach(0.8_dp*fend, fend)
  end function TimedispReach

  !> The same of a history of a fault (finite_fault.f90) with its first sample at t0 [s]: q(i) at step first - 1 + i. Its
  !> integral is that of the history, where t_start is at least TimedispReach before t0; what would come before is left out.
  subroutine TimedispHistory(rate, t0, dt_rate, t_start, dt, fband, first, q)
    real(sp), intent(in) :: rate(:)
    real(dp), intent(in) :: t0, dt_rate, t_start, dt, fband
    integer, intent(out) :: first
    real(sp), allocatable, intent(out) :: q(:)
    real(dp) :: fend, reach, from, to, domega, omega, theta, full
    real(dp), allocatable :: sum_q(:)
    complex(dp) :: spectrum
    integer :: k, last
    fend = min(1.25_dp*fband, 0.31_dp/dt)
    reach = TimedispReach(fband, dt)
    to = t0 + size(rate)*dt_rate - t_start + reach
    from = (t0 - t_start)*cos(NumericalOmega(2*pi*fend, dt)*dt/2) - reach
    first = Whole(Above(from/dt), 1)
    last = Whole(Below(to/dt) + 1, first)
    allocate (sum_q(first:last), source=0.0_dp)
    domega = 2*pi/(to - from + 2*reach)
    full = KaiserArea(1.0_dp, step_b)
    do k = 0, Whole(Below(NumericalOmega(2*pi*fend, dt)/domega))
      omega = k*domega
      theta = 2/dt*sin(omega*dt/2)
      spectrum = FaultTransform(rate, t0 - t_start, dt_rate, theta)*domega/pi*LowPass(theta/(2*pi), 0.8_dp*fend, fend, full)
      if (k == 0) spectrum = spectrum/2
      call AddWave(spectrum, omega, (first - 0.5_dp)*dt, dt, sum_q)
    end do
    q = real(sum_q, sp)
  end subroutine TimedispHistory

  !> ∫ x(t) exp(i ω t) dt of a history of a fault: linear between its samples x(i) at t0 + (i-1) dt, down to 0 in the interval after
  !> the last, and nothing before the first, whose hat is turned over.
  pure complex(dp) function FaultTransform(x, t0, dt, omega) result(s)
    real(sp), intent(in) :: x(:)
    real(dp), intent(in) :: t0, dt, omega
    complex(dp) :: half, i1
    real(dp) :: turn
    turn = omega*dt
    i1 = (0.0_dp, 1.0_dp)
    half = 0.5_dp + i1*turn/6 - turn**2/24 - i1*turn**3/120     ! of a hat's falling side
    if (abs(turn) > 0.02_dp) half = (1 + i1*turn - exp(i1*turn))/turn**2
    s = Transform(real(x, dp), t0, dt, omega)*2*real(half, dp)
    s = s + dt*x(1)*exp(i1*omega*t0)*(half - conjg(half))
  end function FaultTransform

  !> The angular frequency at which the scheme does what it should do at `theta`.
  elemental real(dp) function NumericalOmega(theta, dt) result(omega)
    real(dp), intent(in) :: theta, dt
    omega = 2/dt*asin(min(1.0_dp, theta*dt/2))
  end function NumericalOmega

  !> ∫ x(t) exp(i ω t) dt of samples x(i) at t0 + (i-1) dt.
  pure complex(dp) function Transform(x, t0, dt, omega) result(s)
    real(dp), intent(in) :: x(:), t0, dt, omega
    complex(dp) :: turn, phase
    integer :: i
    turn = exp(cmplx(0, omega*dt, dp))
    phase = exp(cmplx(0, omega*t0, dp))*dt
    s = 0
    do i = 1, size(x)
      s = s + x(i)*phase
      phase = phase*turn
    end do
  end function Transform

  !> The same at many rising frequencies omega(k) >= 0, to 1e-10 of the largest: from twice as many as there are samples, evenly
  !> spaced, by a sinc under a Kaiser window, which passes what lasts as long as x does (190 dB; about the middle of x).
  pure function Transforms(x, t0, dt, omega) result(s)
    real(dp), intent(in) :: x(:), t0, dt, omega(:)
    complex(dp) :: s(size(omega))
    integer, parameter :: half = 16
    real(dp), parameter :: b = 24
    complex(dp), allocatable :: even(:)
    real(dp) :: step, place, middle
    integer :: i, k, last
    step = 0.5_dp/size(x)                         ! cycles per sample
    middle = 0.5_dp*(size(x) - 1)
    last = ceiling(omega(size(omega))*dt/(2*pi*step)) + half
    allocate (even(-last:last))
    call ChirpZ(x, step, even(0:))
    even(0:) = conjg(even(0:))*[(exp(cmplx(0, -2*pi*modulo(i*step*middle, 1.0_dp), dp)), i=0, last)]
    even(:-1) = conjg(even(last:1:-1))
    do k = 1, size(omega)
      place = omega(k)*dt/(2*pi*step)
      s(k) = 0
      do i = max(-last, ceiling(place) - half), min(last, floor(place) + half)
        s(k) = s(k) + even(i)*Sinc(place - i)*Kaiser((place - i)/half, b)
      end do
      s(k) = s(k)*dt*exp(cmplx(0, omega(k)*(t0 + middle*dt), dp))
    end do
  end function Transforms

  !> x(i) = x(i) + Re(s exp(-i ω (t0 + (i-1) dt)))
  pure subroutine AddWave(s, omega, t0, dt, x)
    complex(dp), intent(in) :: s
    real(dp), intent(in) :: omega, t0, dt
    real(dp), intent(inout) :: x(:)
    complex(dp) :: turn, phase
    integer :: i
    turn = exp(cmplx(0, -omega*dt, dp))
    phase = s*exp(cmplx(0, -omega*t0, dp))
    do i = 1, size(x)
      x(i) = x(i) + real(phase, dp)
      phase = phase*turn
    end do
  end subroutine AddWave

  !> The same for many frequencies 0, domega, 2 domega, ..
  pure subroutine AddWaves(s, domega, t0, dt, x)
    complex(dp), intent(in) :: s(0:)
    real(dp), intent(in) :: domega, t0, dt
    real(dp), intent(inout) :: x(:)
    complex(dp) :: turned(0:size(s) - 1), of_real(size(x)), of_imaginary(size(x))
    integer :: k
    turned = s*[(exp(cmplx(0, -k*domega*t0, dp)), k=0, size(s) - 1)]
    call ChirpZ(real(turned, dp), domega*dt/(2*pi), of_real)
    call ChirpZ(aimag(turned), domega*dt/(2*pi), of_imaginary)
    x = x + real(of_real, dp) - aimag(of_imaginary)
  end subroutine AddWaves

  !> The time beyond the last output sample for which the modelling must go on [s], so that the end of the raw traces spoils no
  !> output sample. fband: highest frequency of the traces [Hz]; dt, dt_out: time step and output interval [s]; duration: from
  !> t_start to the last output sample [s]; correct: time dispersion is to be removed.
  pure real(dp) function TraceMargin(fband, dt, dt_out, duration, correct) result(margin)
    real(dp), intent(in) :: fband, dt, dt_out, duration
    logical, intent(in) :: correct
    real(dp) :: fpass, fstop
    call BandEdges(fband, dt, dt_out, correct, fpass, fstop)
    margin = 0.7_dp*FilterReach(fpass, fstop)       ! beyond, the response is below 1e-3, and that at the end of the band only
    if (fpass > fband) margin = min(margin, 2*KaiserLobe(taper_b)/(fpass - fband))
    margin = margin + 2*dt
    if (correct) margin = margin + AiryReach(dt, duration)
  end function TraceMargin

  !> The correction draws on numerical times up to t, but for low frequencies, where it does nothing, only in the mean: near ω = 0
  !> its phase is ω(t' - t) + ω³dt²t/24, which makes an Airy function of width (dt²t/8)^(1/3) with a tail beyond t. Three widths.
  elemental real(dp) function AiryReach(dt, t) result(reach)
    real(dp), intent(in) :: dt, t
    reach = 3*(dt*dt*max(t, 0.0_dp)/8)**(1/3.0_dp)
  end function AiryReach

  !> Pass and stop edge [Hz]: 0.8 and 0.9 of the output's Nyquist frequency, but no more than the band of the traces and the
  !> scheme (whose θ ends at 1/(π dt) = 0.318/dt) has to offer: a narrow band keeps the correction local in time.
  pure subroutine BandEdges(fband, dt, dt_out, correct, fpass, fstop)
    real(dp), intent(in) :: fband, dt, dt_out
    logical, intent(in) :: correct
    real(dp), intent(out) :: fpass, fstop
    fpass = min(0.4_dp/dt_out, 1.05_dp*fband, merge(0.28_dp, 0.43_dp, correct)/dt)
    fstop = min(0.45_dp/dt_out, 1.4_dp*fband, merge(0.31_dp, 0.49_dp, correct)/dt)
  end subroutine BandEdges

  !> Time after which the response of the low-pass between the edges is down to 1e-5 [s].
  pure real(dp) function FilterReach(fpass, fstop) result(reach)
    real(dp), intent(in) :: fpass, fstop
    reach = KaiserLobe(step_b)*2/(fstop - fpass)
  end function FilterReach

  !> Prepares the way from raw samples at t_start + (n + half) dt, n = 1..nt (half = 0 for pressure, -1/2 for particle velocity)
  !> to samples at 0, dt_out, .. (nt_out - 1) dt_out. Times in s. Frequencies up to 0.8 of the output's Nyquist frequency (and up
  !> to fband [Hz], the highest frequency of the traces) pass, from 0.9 on they are removed; with `correct` the time dispersion is
  !> removed too. The raw samples should reach TraceMargin beyond the last output sample; they are tapered there.
  !> Fails on steps, counts or fband that are not positive.
  subroutine TraceFilterNew(f, nt, dt, t_start, half, nt_out, dt_out, fband, correct, error)
    type(tracefilter_t), intent(out) :: f
    integer, intent(in) :: nt, nt_out
    real(dp), intent(in) :: dt, t_start, half, dt_out, fband
    logical, intent(in) :: correct
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: tmax
    integer :: factor, i
    if (.not. (dt > 0 .and. dt_out > 0 .and. fband > 0) .or. nt < 0 .or. nt_out < 0) then
      call Fail(error, 'traces of '//Str(nt)//' steps of '//Str(dt)//' s cannot be resampled to '//Str(nt_out)//' samples of '// &
                Str(dt_out)//' s in a band up to '//Str(fband)//' Hz: all must be positive')
      return
    end if
    f%nt = nt
    f%nt_out = nt_out
    call BandEdges(fband, dt, dt_out, correct, f%fpass, f%fstop)
    tmax = (nt_out - 1)*dt_out
    if (correct) tmax = tmax + AiryReach(dt, tmax - t_start)
    f%gain = EndTaper(nt, t_start + (1 + half)*dt, dt, tmax, FilterReach(f%fpass, f%fstop))
    factor = Thinning(f%fstop, nt, dt, correct)
    call DecimatorNew(f%thin, nt, factor, OmegaOf(2*pi*f%fstop, dt, correct)/(2*pi)*dt)
    allocate (f%blocks((nt_out + block_rows - 1)/block_rows))
    if (nt == 0) return
    do i = 1, size(f%blocks)
      call MakeBlock(f, f%blocks(i), (i - 1)*block_rows + 1, min(i*block_rows, nt_out), dt, t_start, half, dt_out, correct)
    end do
  end subroutine TraceFilterNew

  !> Numbers in a filter's matrices, which grow with the square of a record that is long beside its periods.
  pure real(dp) function TraceFilterNumbers(nt, dt, t_start, nt_out, dt_out, fband, correct) result(numbers)
    integer, intent(in) :: nt, nt_out
    real(dp), intent(in) :: dt, t_start, dt_out, fband
    logical, intent(in) :: correct
    real(dp) :: fpass, fstop, early, late, dt_thin
    integer :: row1, row2
    numbers = 0
    call BandEdges(fband, dt, dt_out, correct, fpass, fstop)
    dt_thin = Thinning(fstop, nt, dt, correct)*dt
    do row1 = 1, nt_out, block_rows
      row2 = min(row1 + block_rows - 1, nt_out)
      call Span(fpass, fstop, (row1 - 1)*dt_out - t_start, (row2 - 1)*dt_out - t_start, dt, correct, early, late)
      numbers = numbers + (row2 - row1 + 1)*max(0.0_dp, (min(late, nt*dt) - max(early, 0.0_dp))/dt_thin)
    end do
  end function TraceFilterNumbers

  !> Of so many raw samples one stays, as none of their frequencies is above fstop.
  pure integer function Thinning(fstop, nt, dt, correct) result(factor)
    real(dp), intent(in) :: fstop, dt
    integer, intent(in) :: nt
    logical, intent(in) :: correct
    factor = max(1, min(nt, floor(1/(2.4_dp*(OmegaOf(2*pi*fstop, dt, correct)/(2*pi))*dt))))
  end function Thinning

  !> Raw samples that output samples from t_first to t_last depend on, all times after t_start [s].
  pure subroutine Span(fpass, fstop, t_first, t_last, dt, correct, early, late)
    real(dp), intent(in) :: fpass, fstop, t_first, t_last, dt
    logical, intent(in) :: correct
    real(dp), intent(out) :: early, late
    real(dp) :: squeeze, reach
    squeeze = merge(cos(OmegaOf(2*pi*fstop, dt, correct)*dt/2), 1.0_dp, correct)
    reach = FilterReach(fpass, fstop)
    early = min(t_first, t_first*squeeze) - reach
    late = max(t_last, t_last*squeeze) + reach
    if (correct) late = late + AiryReach(dt, t_last)
  end subroutine Span

  !> Numerical angular frequency where the true one is theta; the same where nothing is corrected.
  elemental real(dp) function OmegaOf(theta, dt, correct) result(omega)
    real(dp), intent(in) :: theta, dt
    logical, intent(in) :: correct
    omega = theta
    if (correct) omega = NumericalOmega(theta, dt)
  end function OmegaOf

  !> gain(n) of the sample at t1 + (n-1) dt: 1 up to tmax, then smoothly down to 0 at the end, or `longest` after tmax.
  pure function EndTaper(nt, t1, dt, tmax, longest) result(gain)
    integer, intent(in) :: nt
    real(dp), intent(in) :: t1, dt, tmax, longest
    real(sp) :: gain(nt)
    real(dp) :: length, full
    integer :: n
    gain = 1
    length = min(t1 + nt*dt - tmax, longest)
    if (length <= 0) return
    full = KaiserArea(1.0_dp, taper_b)
    do n = max(1, floor((tmax - t1)/dt)), nt
      gain(n) = real(KaiserStep(1 - 2*(t1 + (n - 1)*dt - tmax)/length, taper_b, full), sp)
    end do
  end function EndTaper

  !> The matrix from thinned samples to output samples row1..row2:
  !>   m(j, i) = dt_thin/π Σ_k cos(θ_k t_j - ω_k t_i) cos(ω_k dt/2) W(θ_k)/H(ω_k) Δω,
  !> W the low-pass, H the response of the thinning; only those t_i that matter, between t_j cos(ω dt/2) and t_j and the reach of
  !> the low-pass on either side. Δω is small enough that the sum does not repeat itself within that range.
  subroutine MakeBlock(f, block, row1, row2, dt, t_start, half, dt_out, correct)
    type(tracefilter_t), intent(in) :: f
    type(block_t), intent(out) :: block
    integer, intent(in) :: row1, row2
    real(dp), intent(in) :: dt, t_start, half, dt_out
    logical, intent(in) :: correct
    real(dp), allocatable :: omega(:), theta(:), amplitude(:), left(:, :), right(:, :)
    real(dp) :: t_first, t_last, early, late, dt_thin, t0_thin, domega, highest
    integer :: column2, k, n
    highest = OmegaOf(2*pi*f%fstop, dt, correct)
    t_first = (row1 - 1)*dt_out - t_start
    t_last = (row2 - 1)*dt_out - t_start
    call Span(f%fpass, f%fstop, t_first, t_last, dt, correct, early, late)
    dt_thin = f%thin%factor*dt
    t0_thin = (1 + half)*dt - f%thin%lead*dt_thin                 ! time of thinned sample 1 after t_start
    block%row = row1
    block%column = max(1, ceiling((early - t0_thin)/dt_thin) + 1)
    column2 = min(f%thin%n, floor((late - t0_thin)/dt_thin) + 1)
    allocate (block%m(row2 - row1 + 1, max(0, column2 - block%column + 1)))        ! before what goes again, so that no holes stay
    domega = 2*pi/(late - early + dt_thin)
    n = floor(highest/domega)
    omega = [(k*domega, k=0, n)]
    theta = omega
    if (correct) theta = 2/dt*sin(omega*dt/2)
    amplitude = dt_thin*domega/pi*LowPass(theta/(2*pi), f%fpass, f%fstop, KaiserArea(1.0_dp, step_b))/ &
                DecimatorResponse(f%thin, omega*dt/(2*pi))
    if (correct) amplitude = amplitude*cos(omega*dt/2)
    amplitude(1) = amplitude(1)/2
    left = Waves(theta, t_first, dt_out, row2 - row1 + 1, omega*early)
    right = Waves(omega, t0_thin + (block%column - 1)*dt_thin, dt_thin, column2 - block%column + 1, omega*early)
    do k = 1, size(left, 2)
      left(:, k) = left(:, k)*[amplitude, amplitude]
    end do
    left = transpose(left)                        ! in place of a product of what is turned round, which takes three times as long
    block%m = real(matmul(left, right), sp)
  end subroutine MakeBlock

  !> 1 below fpass, 0 above fstop, smooth between. full: KaiserArea(1, step_b).
  elemental real(dp) function LowPass(frequency, fpass, fstop, full)
    real(dp), intent(in) :: frequency, fpass, fstop, full
    LowPass = KaiserStep((fpass + fstop - 2*frequency)/(fstop - fpass), step_b, full)
  end function LowPass

  !> (2 nf, n): cosines, then sines, of frequency(k) (t0 + (i-1) dt) - phase(k).
  pure function Waves(frequency, t0, dt, n, phase) result(w)
    real(dp), intent(in) :: frequency(:), t0, dt, phase(:)
    integer, intent(in) :: n
    real(dp) :: w(2*size(frequency), max(0, n))
    complex(dp) :: z(size(frequency)), turn(size(frequency))
    integer :: i, nf
    nf = size(frequency)
    z = exp(cmplx(0, frequency*t0 - phase, dp))
    turn = exp(cmplx(0, frequency*dt, dp))
    do i = 1, n
      w(:nf, i) = real(z, dp)
      w(nf + 1:, i) = aimag(z)
      z = z*turn
    end do
  end function Waves

  !> out(nt_out, nrec) from raw(nt, nrec), by so many threads (1 if not given). The result is the same for any number.
  subroutine TraceFilterApply(f, raw, out, threads)
    type(tracefilter_t), intent(in) :: f
    real(sp), intent(in) :: raw(:, :)
    real(sp), intent(out) :: out(:, :)
    integer, intent(in), optional :: threads
    integer :: first, last, workers
    workers = 1
    if (present(threads)) workers = threads
    if (f%nt == 0) then
      out = 0
      return
    end if
    !$omp parallel do private(last) num_threads(workers) schedule(dynamic)
    do first = 1, size(raw, 2), chunk
      last = min(first + chunk - 1, size(raw, 2))
      call FilterSome(f, raw(:, first:last), out(:, first:last))
    end do
    !$omp end parallel do
  end subroutine TraceFilterApply

  subroutine FilterSome(f, raw, out)
    type(tracefilter_t), intent(in) :: f
    real(sp), intent(in) :: raw(:, :)
    real(sp), intent(out) :: out(:, :)
    real(sp), allocatable :: thinned(:, :)
    integer :: i
    allocate (thinned(f%thin%n, size(raw, 2)))
    call DecimatorApply(f%thin, raw, f%gain, thinned)
    out = 0
    do i = 1, size(f%blocks)
      associate (b => f%blocks(i))
        out(b%row:b%row + size(b%m, 1) - 1, :) = matmul(b%m, thinned(b%column:b%column + size(b%m, 2) - 1, :))
      end associate
    end do
  end subroutine FilterSome

end module time_dispersion_m
