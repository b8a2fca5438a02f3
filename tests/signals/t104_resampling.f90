!> Resampling: pass band, stop band, odd ratios, edge cases, cost.
program t104_resampling
  use check_m, only: Claim, ClaimFails, ClaimFine, Done, Seed
  use error_m, only: error_t
  use kinds_m, only: dp, sp
  use resample_m, only: Resample
  use text_m, only: Str
  use trace_bands_m, only: band_t, TraceBands
  use time_dispersion_m, only: TraceFilterApply, TraceFilterNew, tracefilter_t, TraceMargin
  implicit none
  real(dp), parameter :: pi = acos(-1.0_dp)
  type(error_t), allocatable :: error

  call Seed(1)
  call OneSeries()
  call PassAndStop(0.0007312_dp, 0.004_dp, 0.0_dp)
  call PassAndStop(0.0007312_dp, 0.004_dp, -0.1_dp)
  call PassAndStop(0.001_dp, 0.002_dp, 0.0_dp)
  call PassAndStop(0.003_dp, 0.004_dp, 0.0_dp)
  call FineOutput()
  call Bands(12053, 0.0005_dp, 1501, 0.004_dp, .true.)
  call Bands(1000, 0.0005_dp, 126, 0.004_dp, .false.)
  call Bands(600, 0.002_dp, 1502, 0.00067_dp, .true.)
  call Bands(3, 0.001_dp, 2, 0.004_dp, .true.)
  call TinyCases()
  call BadRequests()
  call Cost()
  call Done()

contains

  !> Gaussian-windowed cosines, whose values are known everywhere.
  elemental real(dp) function Packet(t, frequency, centre, width)
    real(dp), intent(in) :: t, frequency, centre, width
    Packet = exp(-0.5_dp*((t - centre)/width)**2)*cos(2*pi*frequency*(t - centre) + 0.3_dp)
  end function Packet

  subroutine OneSeries()
    real(dp), parameter :: dt = 0.004_dp, steps(3) = [0.0007312_dp, 0.0031_dp, 0.0073_dp]
    real(dp) :: x(501), y(2000), e, stop_level
    integer :: i, j, n
    do j = 1, 3
      n = min(2000, int(2.0_dp/steps(j)))
      x = Packet([((i - 1)*dt - 0.5_dp, i=1, 501)], 0.25_dp/max(dt, steps(j)), 0.5_dp, 0.08_dp)
      call Resample(x, -0.5_dp, dt, y(:n), -0.4931_dp, steps(j), 0.5_dp/max(dt, steps(j)))
      e = maxval(abs(y(:n) - Packet([(-0.4931_dp + (i - 1)*steps(j), i=1, n)], 0.25_dp/max(dt, steps(j)), 0.5_dp, 0.08_dp)))
      call Claim(e <= 1e-4_dp, 'a series of 4 ms at '//Str(steps(j)*1000)//' ms, half the Nyquist frequency: error '// &
                 Str(e, 2)//' <= 1e-4')
    end do
    x = Packet([((i - 1)*dt, i=1, 501)], 100.0_dp, 1.0_dp, 0.15_dp)
    call Resample(x, 0.0_dp, dt, y(:250), 0.0_dp, 0.008_dp, 62.5_dp)
    stop_level = maxval(abs(y(:250)))
    call Claim(stop_level <= 1e-4_dp, '100 Hz at 8 ms (Nyquist 62.5 Hz): '//Str(stop_level, 2)//' <= 1e-4 is left')
  end subroutine OneSeries

  !> 0.1 .. 0.8 of the output's Nyquist frequency pass, 0.9 and more is removed, times are exact.
  subroutine PassAndStop(dt, dt_out, t_start)
    real(dp), intent(in) :: dt, dt_out, t_start
    real(dp), parameter :: part(8) = [0.1_dp, 0.3_dp, 0.5_dp, 0.7_dp, 0.77_dp, 0.94_dp, 1.1_dp, 1.23_dp]
    type(tracefilter_t) :: f
    real(sp), allocatable :: raw(:, :), out(:, :)
    real(dp), allocatable :: true(:)
    real(dp) :: nyquist, centre, width, pass, left
    integer :: nt, nt_out, j, n
    nyquist = 0.5_dp/dt_out
    nt_out = 751
    nt = ceiling(((nt_out - 1)*dt_out + TraceMargin(nyquist, dt, dt_out, 0.0_dp, .false.) - t_start)/dt)
    allocate (raw(nt, 8), out(nt_out, 8), true(nt_out))
    centre = 0.5_dp*nt_out*dt_out
    width = 26/nyquist
    do j = 1, 8
      raw(:, j) = real(Packet([(t_start + (n - 0.5_dp)*dt, n=1, nt)], part(j)*nyquist, centre, width), sp)
    end do
    call TraceFilterNew(f, nt, dt, t_start, -0.5_dp, nt_out, dt_out, 1.3_dp*nyquist, .false., error)
    if (allocated(error)) call ClaimFine(error, 'filter')
    call TraceFilterApply(f, raw, out)
    pass = 0
    do j = 1, 5
      true = Packet([((n - 1)*dt_out, n=1, nt_out)], part(j)*nyquist, centre, width)
      pass = max(pass, maxval(abs(out(:, j) - true)))
    end do
    left = maxval(abs(out(:, 6:)))
    call Claim(pass <= 1e-4_dp .and. left <= 1e-4_dp, Str(dt*1000)//' ms from '//Str(t_start - dt/2, 5)//' s to '// &
               Str(dt_out*1000)//' ms: largest error up to 0.8 Nyquist '//Str(pass, 2)//', left over from '// &
               '0.9 Nyquist '//Str(left, 2)//' <= 1e-4')
  end subroutine PassAndStop

  !> Output finer than the time step: interpolation.
  subroutine FineOutput()
    type(tracefilter_t) :: f
    real(sp) :: raw(600, 2), out(1500, 2)
    real(dp) :: e
    integer :: n
    raw(:, 1) = real(Packet([(n*0.002_dp, n=1, 600)], 60.0_dp, 0.5_dp, 0.05_dp), sp)
    raw(:, 2) = -3*raw(:, 1)
    call TraceFilterNew(f, 600, 0.002_dp, 0.0_dp, 0.0_dp, 1500, 0.00067_dp, 90.0_dp, .false., error)
    call TraceFilterApply(f, raw, out)
    e = maxval(abs(out(:, 1) - Packet([((n - 1)*0.00067_dp, n=1, 1500)], 60.0_dp, 0.5_dp, 0.05_dp)))
    call Claim(e <= 1e-4_dp .and. maxval(abs(out(:, 2) + 3*out(:, 1))) < 1e-5_dp, '2 ms to 0.67 ms: error '//Str(e, 2)//' <= 1e-4')
  end subroutine FineOutput

  !> The filter as two band matrices, as it is given to those that filter elsewhere, summed in double here.
  subroutine Bands(nt, dt, nt_out, dt_out, correct)
    integer, intent(in) :: nt, nt_out
    real(dp), intent(in) :: dt, dt_out
    logical, intent(in) :: correct
    type(tracefilter_t) :: f
    type(band_t) :: band(2)
    real(sp), allocatable :: raw(:, :), out(:, :)
    real(dp), allocatable :: y(:)
    real(dp) :: e
    allocate (raw(nt, 1), out(nt_out, 1))
    call random_number(raw)
    call TraceFilterNew(f, nt, dt, -0.01_dp, -0.5_dp, nt_out, dt_out, 90.0_dp, correct, error)
    if (allocated(error)) call ClaimFine(error, 'filter')
    call TraceFilterApply(f, raw, out)
    call TraceBands(f, band)
    y = Product2(band(2), Product2(band(1), real(raw(:, 1), dp)))
    e = maxval(abs(y - out(:, 1)))/maxval(abs(y))
    call Claim(e <= 1e-6_dp .and. size(y) == nt_out, Str(nt)//' samples to '//Str(nt_out)//' by two bands: they differ by '// &
               Str(e, 2)//' <= 1e-6')
  end subroutine Bands

  function Product2(band, x) result(y)
    type(band_t), intent(in) :: band
    real(dp), intent(in) :: x(0:)
    real(dp) :: y(0:band%rows - 1), sample
    integer :: row, g, c, column
    y = 0
    do row = 0, band%rows - 1
      g = row/4 + 1
      do c = 0, band%count(g) - 1
        column = band%first(g) + c
        if (column < 0 .or. column >= band%columns) cycle
        sample = x(column)
        if (allocated(band%gain)) sample = band%gain(column + 1)*sample
        y(row) = y(row) + band%m(mod(row, 4) + 1, band%at(g) + c + 1)*sample
      end do
    end do
  end function Product2

  !> Hardly any steps, no receivers, hardly any output: defined and finite.
  subroutine TinyCases()
    type(tracefilter_t) :: f
    real(sp), allocatable :: raw(:, :), out(:, :)
    integer :: nt, nrec, nt_out
    logical :: finite, correct
    finite = .true.
    correct = .false.
    do nt = 0, 3
      do nrec = 0, 1
        do nt_out = 1, 3
          correct = .not. correct
          allocate (raw(nt, nrec), source=1.0_sp)
          allocate (out(nt_out, nrec))
          call TraceFilterNew(f, nt, 0.001_dp, 0.0_dp, 0.0_dp, nt_out, 0.004_dp, 100.0_dp, correct, error)
          call TraceFilterApply(f, raw, out)
          finite = finite .and. .not. allocated(error) .and. all(abs(out) <= 2)
          deallocate (raw, out)
        end do
      end do
    end do
    call Claim(finite, '0..3 steps, 0..1 receivers, 1..3 output samples: finite, none above twice the input')
  end subroutine TinyCases

  subroutine BadRequests()
    type(tracefilter_t) :: f
    call TraceFilterNew(f, 100, 0.0_dp, 0.0_dp, 0.0_dp, 10, 0.004_dp, 100.0_dp, .true., error)
    call ClaimFails(error, 'must be positive', 'time step 0')
    call TraceFilterNew(f, 100, 0.001_dp, 0.0_dp, 0.0_dp, 10, 0.004_dp, -1.0_dp, .true., error)
    call ClaimFails(error, 'must be positive', 'band below 0')
  end subroutine BadRequests

  !> 6 s of 0.45 ms to 4 ms. Generous bounds: the machine may be busy.
  subroutine Cost()
    type(tracefilter_t) :: f
    real(sp), allocatable :: raw(:, :), out(:, :)
    real(dp) :: t0, t1, t2
    real(dp) :: setup, apply
    allocate (raw(13334, 100), out(1501, 100))
    call random_number(raw)
    call cpu_time(t0)
    call TraceFilterNew(f, 13334, 0.00045_dp, 0.0_dp, 0.0_dp, 1501, 0.004_dp, 95.0_dp, .true., error)
    call cpu_time(t1)
    call TraceFilterApply(f, raw, out)
    call cpu_time(t2)
    setup = t1 - t0
    apply = t2 - t1
    call Claim(setup < 10 .and. apply < 5, '100 traces of 13334 samples to 1501: prepared in '//Str(setup, 2)//' s <= 10, '// &
               'done in '//Str(apply, 2)//' s <= 5 of processor time')
  end subroutine Cost

end program t104_resampling
