!> Time dispersion is taken out of traces and put into the source: waves along a line and oscillators stepped by leap-frog.
program t103_time_dispersion
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use kinds_m, only: dp, sp
  use parameters_m, only: job_t
  use text_m, only: Str
  use time_dispersion_m, only: AddWaves, TimedispSource, Transforms, TraceFilterApply, TraceFilterNew, tracefilter_t, TraceMargin
  use wavelet_m, only: wavelet_t, WaveletMake, WaveletSpectrum, WaveletValue
  implicit none
  real(dp), parameter :: pi = acos(-1.0_dp)
  type(error_t), allocatable :: error
  type(wavelet_t) :: ricker

  call MakeWavelet(-1.0_dp, ricker)
  call LongDelay(0.12_dp, 150.0_dp)
  call LongDelay(0.12_dp, 20.0_dp)
  call LongDelay(0.06_dp, 150.0_dp)
  call Oscillators(-1.0_dp)
  call Oscillators(0.0_dp)
  call SourceIsCausal()
  call TooCoarse()
  call LongSums()
  call Done()

contains

  subroutine MakeWavelet(delay, wavelet)
    real(dp), intent(in) :: delay
    type(wavelet_t), intent(out) :: wavelet
    type(job_t) :: job
    job%wavelet = 'ricker'
    job%fpeak = 25
    job%delay = delay
    job%amplitude = 1
    call WaveletMake(job, wavelet, error)
    if (allocated(error)) call ClaimFine(error, 'the wavelet is made')
  end subroutine MakeWavelet

  !> A wavelet that has gone `periods` periods as the scheme lets it, and as it should.
  subroutine LongDelay(fmax_dt, periods)
    real(dp), intent(in) :: fmax_dt, periods
    real(dp), parameter :: dt_out = 0.004_dp
    type(tracefilter_t) :: f
    real(sp), allocatable :: q(:), raw(:, :), out(:, :), plain(:, :)
    real(dp), allocatable :: true(:)
    real(dp) :: dt, delay, e_corrected, e_plain
    integer :: nt, nt_out, m
    dt = fmax_dt/ricker%fmax
    delay = periods/ricker%fpeak
    nt_out = ceiling((delay + 0.3_dp)/dt_out)
    nt = ceiling(((nt_out - 1)*dt_out + TraceMargin(ricker%fband, dt, dt_out, (nt_out - 1)*dt_out, .true.))/dt)
    allocate (q(nt), raw(nt, 1), out(nt_out, 1), plain(nt_out, 1), true(nt_out))
    call TimedispSource(ricker, 0.0_dp, dt, q)
    call Propagate(q, dt, delay, raw(:, 1))
    call TraceFilterNew(f, nt, dt, 0.0_dp, 0.0_dp, nt_out, dt_out, ricker%fband, .true., error)
    call TraceFilterApply(f, raw, out)
    call TraceFilterNew(f, nt, dt, 0.0_dp, 0.0_dp, nt_out, dt_out, ricker%fband, .false., error)
    call TraceFilterApply(f, raw, plain)
    true = [(WaveletValue(ricker, (m - 1)*dt_out - delay), m=1, nt_out)]
    e_corrected = norm2(out(:, 1) - true)/norm2(true)
    e_plain = norm2(plain(:, 1) - true)/norm2(true)
    call Claim(e_corrected <= 1e-4_dp .and. e_plain > 30*e_corrected, 'fmax dt = '//Str(fmax_dt)//', '//Str(periods)// &
               ' periods of delay: relative L2 error '//Str(e_corrected, 3)//' <= 1e-4 (without correction '//Str(e_plain, 3)//')')
  end subroutine LongDelay

  !> The wave that left as q, samples at (n-½)dt, after `delay` under θ(ω): p(n) at n dt, from its Fourier integral.
  subroutine Propagate(q, dt, delay, p)
    real(sp), intent(in) :: q(:)
    real(dp), intent(in) :: dt, delay
    real(sp), intent(out) :: p(:)
    complex(dp) :: spectrum
    real(dp), allocatable :: sum_p(:)
    real(dp) :: omega, domega, theta
    integer :: k, n, last
    allocate (sum_p(size(p)), source=0.0_dp)
    last = min(size(q), ceiling(0.5_dp/dt))
    domega = 2*pi/(1.3_dp*size(p)*dt + 1)
    do k = 0, floor(0.8_dp*pi/dt/domega)
      omega = k*domega
      theta = 2/dt*sin(omega*dt/2)
      spectrum = 0
      do n = 1, last
        spectrum = spectrum + q(n)*exp(cmplx(0, omega*(n - 0.5_dp)*dt, dp))
      end do
      spectrum = spectrum*exp(cmplx(0, theta*delay, dp))*dt*domega/pi*merge(0.5_dp, 1.0_dp, k == 0)
      if (abs(spectrum) < 1e-12_dp) cycle
      call AddTurning(spectrum, omega*dt, sum_p)
    end do
    p = real(sum_p, sp)
  end subroutine Propagate

  subroutine AddTurning(s, angle, x)
    complex(dp), intent(in) :: s
    real(dp), intent(in) :: angle
    real(dp), intent(inout) :: x(:)
    complex(dp) :: z, turn
    integer :: n
    turn = exp(cmplx(0, -angle, dp))
    z = s
    do n = 1, size(x)
      z = z*turn
      x(n) = x(n) + real(z, dp)
    end do
  end subroutine AddTurning

  !> u' = v + q, v' = -Ω² u stepped by leap-frog: rings for ever after the wavelet, so the raw trace is large at its end. The true
  !> u is |S(Ω)| cos(Ωt + arg S(Ω)), v its companion half a step earlier.
  subroutine Oscillators(delay)
    real(dp), intent(in) :: delay
    real(dp), parameter :: dt_out = 0.004_dp, periods(3) = [12, 25, 50]
    type(wavelet_t) :: wavelet
    type(tracefilter_t) :: f
    real(sp), allocatable :: q(:), raw(:, :), out(:, :)
    real(dp) :: dt, margin, eu, ev, t_start
    integer :: nt, nt_out
    call MakeWavelet(delay, wavelet)
    dt = 0.12_dp/wavelet%fmax
    t_start = wavelet%t_begin
    nt_out = 1501
    margin = TraceMargin(wavelet%fband, dt, dt_out, (nt_out - 1)*dt_out - t_start, .true.)
    nt = ceiling(((nt_out - 1)*dt_out - t_start + margin)/dt)
    allocate (q(nt), raw(nt, 6), out(nt_out, 6))
    call TimedispSource(wavelet, t_start, dt, q)
    call StepOscillators(real(q, dp), dt, 2*pi*periods, raw)
    call TraceFilterNew(f, nt, dt, t_start, 0.0_dp, nt_out, dt_out, wavelet%fband, .true., error)
    call TraceFilterApply(f, raw(:, 1:3), out(:, 1:3))
    call TraceFilterNew(f, nt, dt, t_start, -0.5_dp, nt_out, dt_out, wavelet%fband, .true., error)
    call TraceFilterApply(f, raw(:, 4:6), out(:, 4:6))
    call ClaimFine(error, 'filters for a ringing trace, start at '//Str(t_start, 4)//' s, margin '//Str(margin, 3)//' s')
    call Compare(wavelet, 2*pi*periods, dt_out, out, eu, ev)
    call Claim(eu <= 1e-4_dp .and. ev <= 1e-4_dp, 'oscillators of 12, 25, 50 Hz ringing to the end of 6 s, t_start = '// &
               Str(t_start, 4)//' s: largest error of u '//Str(eu, 3)//', of v '//Str(ev, 3)//' <= 1e-4 of the amplitude')
  end subroutine Oscillators

  !> Columns 1..3 of raw: u at n dt; 4..6: v at (n-½) dt.
  subroutine StepOscillators(q, dt, omega, raw)
    real(dp), intent(in) :: q(:), dt, omega(3)
    real(sp), intent(out) :: raw(:, :)
    real(dp) :: u(3), v(3)
    integer :: n
    u = 0
    v = 0
    do n = 1, size(q)
      v = v - dt*omega**2*u
      u = u + dt*(v + q(n))
      raw(n, 1:3) = real(u, sp)
      raw(n, 4:6) = real(v, sp)
    end do
  end subroutine StepOscillators

  !> Largest errors relative to the amplitude, after the wavelet has ended.
  subroutine Compare(wavelet, omega, dt_out, out, eu, ev)
    type(wavelet_t), intent(in) :: wavelet
    real(dp), intent(in) :: omega(3), dt_out
    real(sp), intent(in) :: out(:, :)
    real(dp), intent(out) :: eu, ev
    complex(dp) :: s, z
    real(dp) :: t
    integer :: j, m
    eu = 0
    ev = 0
    do j = 1, 3
      s = WaveletSpectrum(wavelet, omega(j)/(2*pi))
      do m = 1, size(out, 1)
        t = (m - 1)*dt_out
        if (t < wavelet%t0 + size(wavelet%q)*wavelet%dt) cycle
        z = s*exp(cmplx(0, omega(j)*t, dp))
        eu = max(eu, abs(out(m, j) - real(z, dp))/abs(s))
        ev = max(ev, abs(out(m, j + 3) + omega(j)*aimag(z))/(omega(j)*abs(s)))
      end do
    end do
  end subroutine Compare

  !> Nothing but rounding before t_start; far from it the transformed wavelet is early, near it nearly the wavelet.
  subroutine SourceIsCausal()
    type(wavelet_t) :: late
    real(sp), allocatable :: q(:)
    real(dp), allocatable :: x(:)
    real(dp) :: dt, early
    integer :: n
    dt = 0.12_dp/ricker%fmax
    allocate (q(600), x(600))
    call TimedispSource(ricker, 0.0_dp, dt, q)
    x = [(WaveletValue(ricker, (n - 0.5_dp)*dt), n=1, 600)]
    call Claim(abs(q(1)) < 1e-5_dp, 'the transformed wavelet starts from '//Str(abs(q(1)), 2)//' <= 1e-5 of its peak')
    call Claim(norm2(q - x) > 1e-3_dp*norm2(x) .and. norm2(q - x) < 0.3_dp*norm2(x), 'it differs from the wavelet by '// &
               Str(norm2(q - x)/norm2(x), 3)//', between 1e-3 and 0.3')
    call MakeWavelet(1.0_dp, late)
    call TimedispSource(late, 0.0_dp, dt, q)
    early = sum([((n - 0.5_dp)*dt*q(n)**2, n=1, 600)])/sum(real(q, dp)**2)
    call Claim(early < 1 - 0.003_dp .and. early > 0.9_dp, 'a wavelet at 1 s leaves early, centred at '// &
               Str(early, 5)//' s: 0.9 .. 0.997')
  end subroutine SourceIsCausal

  !> Sums for a long wavelet, by Fourier transforms, against the sums themselves.
  subroutine LongSums()
    integer, parameter :: n = 997, m = 701
    real(dp), parameter :: t0 = -0.3_dp, dt = 0.002_dp, domega = 2.1_dp, t1 = 0.05_dp, dt1 = 0.0017_dp
    complex(dp), parameter :: i1 = (0.0_dp, 1.0_dp)
    real(dp) :: x(n), omega(m), y(n), direct(n), e_forth, e_back
    complex(dp) :: s(m), exact(m)
    integer :: j, k
    call random_number(x)
    omega = [(2/dt1*sin(k*domega*dt1/2), k=0, m - 1)]
    exact = [(sum([(x(j)*exp(i1*omega(k)*(t0 + (j - 1)*dt)), j=1, n)])*dt, k=1, m)]
    s = Transforms(x, t0, dt, omega)
    e_forth = maxval(abs(s - exact))/maxval(abs(exact(2:)))
    direct = x + [(sum([(real(s(k)*exp(-i1*(k - 1)*domega*(t1 + (j - 1)*dt1)), dp), k=1, m)]), j=1, n)]
    y = x
    call AddWaves(s, domega, t1, dt1, y)
    e_back = maxval(abs(y - direct))/maxval(abs(direct))
    call Claim(max(e_forth, e_back) <= 1e-9_dp, 'sums of a long wavelet by Fourier transforms: noise to its spectrum at uneven frequencies '// &
               Str(e_forth, 2)//', and back '//Str(e_back, 2)//' <= 1e-9 of the largest')
  end subroutine LongSums

  !> A time step that cannot carry the whole wavelet: what it can carry is there, all of it finite.
  subroutine TooCoarse()
    real(sp) :: q(60)
    real(dp) :: dt, low
    complex(dp) :: s
    integer :: n
    dt = 0.4_dp/ricker%fmax
    call TimedispSource(ricker, 0.0_dp, dt, q)
    low = 0.1_dp/dt
    s = sum([(q(n)*dt*exp(cmplx(0, 2*asin(pi*low*dt)*(n - 0.5_dp), dp)), n=1, 60)])
    low = abs(s - conjg(WaveletSpectrum(ricker, low)))/abs(s)
    call Claim(low <= 3e-2_dp .and. maxval(abs(q)) < 1.1, 'fmax dt = 0.4, too coarse: at 0.1/dt the source has the spectrum it '// &
               'must have to '//Str(low, 2)//' <= 3e-2; largest sample '//Str(real(maxval(abs(q)), dp), 3)//' <= 1.1')
  end subroutine TooCoarse

end program t103_time_dispersion
