!> Wavelets: formulas, delay rules, bands, values between samples, files good and bad.
program t105_wavelets
  use check_m, only: Claim, ClaimFails, ClaimFine, Done
  use chirp_z_m, only: ChirpZ
  use error_m, only: error_t
  use kinds_m, only: dp
  use parameters_m, only: job_t
  use text_m, only: Str
  use wavelet_m, only: wavelet_t, WaveletMake, WaveletPeak, WaveletSpectrum, WaveletValue
  implicit none
  real(dp), parameter :: pi = acos(-1.0_dp)
  type(error_t), allocatable :: error

  call Ricker()
  call Delays()
  call Ormsby()
  call RoundedOrmsby()
  call Files()
  call MomentRates()
  call LowPeaks()
  call LongSeries()
  call LongFiles()
  call BadFiles()
  call BadRequests()
  call Done()

contains

  type(job_t) function NewJob(name) result(job)
    character(*), intent(in) :: name
    job%wavelet = name
    job%fpeak = 30
    job%f1 = 3
    job%f2 = 8
    job%f3 = 40
    job%f4 = 60
    job%delay = 0
    job%amplitude = 1
    job%wavelet_file = 'w.txt'
  end function NewJob

  elemental real(dp) function RickerAt(t)
    real(dp), intent(in) :: t
    RickerAt = (1 - 2*(pi*30*t)**2)*exp(-(pi*30*t)**2)
  end function RickerAt

  subroutine Ricker()
    type(wavelet_t) :: w
    type(job_t) :: job
    real(dp) :: e, f, s
    integer :: i
    job = NewJob('ricker')
    job%amplitude = 2.5_dp
    call WaveletMake(job, w, error)
    call ClaimFine(error, 'a Ricker wavelet is made: '//w%name)
    e = 0
    do i = -4000, 4000
      e = max(e, abs(WaveletValue(w, i*1.3e-5_dp) - 2.5_dp*RickerAt(i*1.3e-5_dp)))
    end do
    call Claim(e <= 1e-5_dp, 'its values at 8001 times differ from the formula by '//Str(e, 2)//' <= 1e-5 of 2.5')
    e = 0
    do i = 0, 100
      f = i
      s = 2.5_dp*2/sqrt(pi)*f**2/30.0_dp**3*exp(-(f/30)**2)
      e = max(e, abs(WaveletSpectrum(w, f) - s))
    end do
    call Claim(e <= 1e-6_dp*2.5_dp/30, 'its spectrum differs from the formula by '//Str(e, 2)//' <= 8.3e-8 m2')
    call Claim(abs(w%fpeak - 30) < 0.05_dp .and. abs(w%fmax - 82.9_dp) < 1 .and. abs(w%fband - 117.1_dp) < 3, &
               'it peaks at '//Str(w%fpeak, 4)//' Hz (30), falls to 1 % at '//Str(w%fmax, 4)//' Hz (82.9) and to 1e-5 at '// &
               Str(w%fband, 4)//' Hz (117.1)')
    job%fmax = 70
    call WaveletMake(job, w, error)
    call Claim(w%fmax == 70, 'a given fmax is kept: '//Str(w%fmax)//' Hz')
  end subroutine Ricker

  subroutine Delays()
    type(wavelet_t) :: w
    type(job_t) :: job
    real(dp) :: before, after
    job = NewJob('ricker')
    job%delay = -1
    call WaveletMake(job, w, error)
    before = abs(WaveletValue(w, -1e-6_dp))
    after = abs(WaveletValue(w, 2*w%dt))
    call Claim(w%t0 == 0 .and. w%t_begin == 0 .and. before == 0 .and. after > 1e-6_dp .and. after < 1e-4_dp .and. &
               abs(WaveletValue(w, w%t_zero) - 1) < 1e-6_dp, &
               'delay = -1: nothing before t = 0, '//Str(after, 2)//' two samples after, peak at '//Str(w%t_zero, 4)//' s')
    job%delay = 0.25_dp
    call WaveletMake(job, w, error)
    call Claim(w%t_zero == 0.25_dp .and. w%t_begin == 0 .and. w%t0 > 0.19_dp .and. abs(WaveletValue(w, 0.25_dp) - 1) < 1e-6_dp, &
               'delay = 0.25 s: peak there, first sample at '//Str(w%t0, 4)//' s, modelling begins at 0')
    job%delay = 0
    call WaveletMake(job, w, error)
    call Claim(w%t_begin < -0.03_dp .and. w%t_begin == w%t0 .and. abs(WaveletValue(w, 0.0_dp) - 1) < 1e-6_dp, &
               'delay = 0: peak at 0, modelling begins at '//Str(w%t_begin, 4)//' s')
  end subroutine Delays

  !> The textbooks' formula, in another form: differences of squared sinc by cosines.
  subroutine Ormsby()
    type(wavelet_t) :: w
    real(dp) :: t, worst, value, corner
    integer :: i
    call WaveletMake(NewJob('ormsby'), w, error)
    call ClaimFine(error, 'an Ormsby wavelet is made: '//w%name)
    worst = 0
    do i = 1, 1200
      t = i*0.001_dp
      value = ((cos(2*pi*40*t) - cos(2*pi*60*t))/20 - (cos(2*pi*3*t) - cos(2*pi*8*t))/5)/(2*(pi*t)**2*89)
      worst = max(worst, abs(WaveletValue(w, t) - value))
    end do
    call Claim(worst < 1e-5_dp, 'it is that of the textbooks to 1.2 s from its centre: off by '//Str(worst, 2)//' of its peak, '// &
               'at most 1e-5')
    corner = abs(WaveletSpectrum(w, 41.0_dp)/WaveletSpectrum(w, 24.0_dp) - 0.95_dp)
    call Claim(corner < 2e-3_dp, 'and so is the corner of its spectrum: at 41 Hz off by '//Str(corner, 2)//', at most 2e-3')
  end subroutine Ormsby

  subroutine RoundedOrmsby()
    type(wavelet_t) :: w
    real(dp) :: pass, low, high, flat, middle
    integer :: i
    call WaveletMake(NewJob('ormsby-rounded'), w, error)
    call ClaimFine(error, 'an Ormsby wavelet is made: '//w%name)
    flat = abs(WaveletSpectrum(w, 24.0_dp))
    pass = 0
    do i = 11, 34
      pass = max(pass, abs(abs(WaveletSpectrum(w, real(i, dp)))/flat - 1))
    end do
    low = abs(WaveletSpectrum(w, 0.3_dp))/flat
    high = abs(WaveletSpectrum(w, 63.0_dp))/flat
    middle = abs(WaveletSpectrum(w, 50.0_dp))/flat
    call Claim(pass < 1e-3_dp .and. low < 1e-3_dp .and. high < 1e-4_dp .and. abs(middle - 0.5_dp) < 0.01_dp, &
               'its spectrum is flat from 11 to 34 Hz to '//Str(pass, 2)//' <= 1e-3, half at 50 Hz ('//Str(middle, 3)//'), '// &
               Str(low, 2)//' at 0.3 Hz, '//Str(high, 2)//' at 63 Hz')
    call Claim(abs(WaveletValue(w, 0.0_dp) - 1) < 1e-6_dp .and. abs(w%t0 + (size(w%q) - 1)*w%dt/2) < 1e-9_dp .and. &
               w%fmax < 62 .and. w%fband < 64, 'it is zero-phase with peak 1, '//Str((size(w%q) - 1)*w%dt, 3)//' s long; '// &
               'fmax '//Str(w%fmax, 3)//' Hz, fband '//Str(w%fband, 3)//' Hz')
  end subroutine RoundedOrmsby

  subroutine Files()
    type(wavelet_t) :: w
    type(job_t) :: job
    real(dp) :: e
    integer :: unit, i
    job = NewJob('file')
    open (newunit=unit, file='w.txt', action='write', status='replace')
    write (unit, '(a)') '# time [s], value'
    write (unit, '(a)') ''
    do i = -60, 60
      write (unit, '(f12.6,a,es24.16,a)') i*0.001_dp, achar(9), RickerAt(i*0.001_dp), achar(13)
    end do
    close (unit)
    call WaveletMake(job, w, error)
    call ClaimFine(error, 'a file with two columns, tabs and CRLF is read: '//w%name)
    e = maxval(abs(WaveletValue(w, [(i*1.3e-5_dp, i=-4000, 4000)]) - RickerAt([(i*1.3e-5_dp, i=-4000, 4000)])))
    call Claim(e <= 1e-4_dp .and. abs(w%t_zero) < 1e-12_dp .and. abs(w%fband - 117.1_dp) < 3, &
               'it is the wavelet it was written from, to '//Str(e, 2)//' <= 1e-4, time 0 at t = 0; fband '//Str(w%fband, 4)//' Hz')
    open (newunit=unit, file='w.txt', action='write', status='replace')
    write (unit, '(es24.16)') (RickerAt((i - 60)*0.001_dp), i=0, 120)
    close (unit)
    job%wavelet_dt = 0.001_dp
    job%delay = 0.5_dp
    call WaveletMake(job, w, error)
    call ClaimFine(error, 'a file with one column is read')
    call Claim(abs(WaveletValue(w, 0.56_dp) - 1) < 1e-4_dp, &
               'its first sample is its time zero: with delay 0.5 s the peak, 60 ms on, is at 0.56 s: '// &
               Str(WaveletValue(w, 0.56_dp), 6))
    open (newunit=unit, file='w.txt', action='write', status='replace')
    write (unit, '(f4.1)') (0.0, i=1, 10), 1.0, (0.0, i=1, 10)
    close (unit)
    job%delay = -1
    call WaveletMake(job, w, error)
    e = abs(WaveletSpectrum(w, 600.0_dp))/abs(WaveletSpectrum(w, 100.0_dp))
    call Claim(e < 1e-3_dp .and. abs(abs(WaveletSpectrum(w, 380.0_dp))/0.001_dp - 1) < 1e-3_dp, &
               'a single spike at 1 ms carries what 1 ms can: '// &
               Str(abs(WaveletSpectrum(w, 380.0_dp))/0.001_dp, 5)//' at 380 Hz, '// &
               Str(e, 2)//' <= 1e-3 at 600 Hz')
  end subroutine Files

  !> Their spectra have their peak at 0, where no layer absorbs: fpeak is where their slopes have it.
  subroutine MomentRates()
    type(wavelet_t) :: w, formula
    type(job_t) :: job
    integer :: unit, i
    job = NewJob('gauss')
    job%sigma = 0.2_dp
    call WaveletMake(job, formula, error)
    call ClaimFine(error, 'a Gaussian by its formula')
    job%wavelet = 'file'
    open (newunit=unit, file='w.txt', status='replace', action='write')
    write (unit, '(f8.3, es16.8)') (0.002_dp*i, exp(-0.5_dp*(0.01_dp*i)**2), i=-550, 550)
    close (unit)
    call WaveletMake(job, w, error)
    call ClaimFine(error, 'the same from a file')
    call Claim(abs(w%fpeak*2*pi*0.2_dp - 1) < 0.05_dp .and. abs(w%fpeak/formula%fpeak - 1) < 0.2_dp, &
               'its slope has the peak of its spectrum at '//Str(w%fpeak, 4)//' Hz, within 5 % of 1/(2 pi sigma), near the '// &
               Str(formula%fpeak, 4)//' Hz of the formula')
    open (newunit=unit, file='w.txt', status='replace', action='write')
    write (unit, '(f8.3, f8.4)') (0.01_dp*i, max(1 - 0.01_dp*abs(i), 0.0_dp), i=-105, 105)
    close (unit)
    call WaveletMake(job, w, error)
    call ClaimFine(error, 'a triangle of 2 s')
    call Claim(abs(w%fpeak - 0.371_dp) < 0.02_dp, 'that of its slope is at '//Str(w%fpeak, 4)//' Hz, within 0.02 of 0.371')
  end subroutine MomentRates

  !> A spectrum that has its peak far below its band, and less than half of it at 0: layers have a tenth of the band to go by. The
  !> Gaussian of before less 0.7 of one 40 times as long, which leaves 0.3 at 0 Hz and the peak at 0.06 Hz.
  subroutine LowPeaks()
    real(dp), parameter :: short = 0.2_dp, long = 8, dt = 0.02_dp
    type(wavelet_t) :: w
    type(job_t) :: job
    real(dp) :: t, low
    integer :: unit, i
    job = NewJob('file')
    open (newunit=unit, file='w.txt', status='replace', action='write')
    do i = -2400, 2400
      t = i*dt
      write (unit, '(f9.3, es17.8)') t, exp(-0.5_dp*(t/short)**2) - 0.7_dp*short/long*exp(-0.5_dp*(t/long)**2)
    end do
    close (unit)
    call WaveletMake(job, w, error)
    call ClaimFine(error, 'a Gaussian without the lowest of its frequencies')
    low = 0.1_dp*sqrt(2*log(100.0_dp))/(2*pi*short)      ! at 1 % of the peak: exp(-(2 pi f sigma)**2/2)
    call Claim(abs(w%fpeak - low) < 0.05_dp*low .and. w%ftop < 0.1_dp, 'its spectrum has its peak at '//Str(w%ftop, 3)// &
               ' Hz, below 0.1; its layers are made for '//Str(w%fpeak, 3)//' Hz, within 5 % of a tenth of its band, '// &
               Str(low, 3))
    call Claim(abs(WaveletPeak(w)/abs(WaveletSpectrum(w, 0.06_dp)) - 1) < 0.05_dp .and. w%numbers /= '', &
               'the peak of the spectrum is told as it is, '//Str(WaveletPeak(w), 4)//' m2')
    job = NewJob('ormsby')
    job%f1 = 0
    job%f2 = 0.2_dp
    job%f3 = 30
    job%f4 = 40
    call WaveletMake(job, w, error)
    call ClaimFine(error, 'an Ormsby wavelet from 0.2 Hz on')
    call Claim(w%fpeak >= 3.9_dp, 'its layers are made for '//Str(w%fpeak, 3)//' Hz, 3.9 at least')
  end subroutine LowPeaks

  !> The fast spectrum of a series, at any number of frequencies, is the sum that it stands for.
  subroutine LongSeries()
    integer, parameter :: n(3) = [1000, 37, 1], m(3) = [300, 555, 2]
    real(dp), allocatable :: x(:)
    complex(dp), allocatable :: fast(:), slow(:)
    real(dp) :: step, off
    integer :: c, j, k
    off = 0
    do c = 1, size(n)
      allocate (x(n(c)), fast(m(c)), slow(m(c)))
      call random_number(x)
      call random_number(step)
      call ChirpZ(x, step, fast)
      do k = 1, m(c)
        slow(k) = sum([(x(j)*exp(cmplx(0, -2*pi*step*(j - 1)*(k - 1), dp)), j=1, n(c))])
      end do
      off = max(off, maxval(abs(fast - slow))/maxval(abs(slow)))
      deallocate (x, fast, slow)
    end do
    call Claim(off < 1e-9_dp, 'fast spectra are within '//Str(off, 2)//' < 1e-9 of the peak')
  end subroutine LongSeries

  !> A Ricker wavelet of many fine samples has the band of its formula; a sweep of a minute has that between its ends.
  subroutine LongFiles()
    real(dp), parameter :: taper = 0.5_dp, length = 60, from = 5, to = 50
    type(wavelet_t) :: w, formula
    type(job_t) :: job
    real(dp) :: t, a
    integer :: unit, i
    job = NewJob('ricker')
    job%fpeak = 10
    call WaveletMake(job, formula, error)
    job = NewJob('file')
    open (newunit=unit, file='w.txt', status='replace', action='write')
    do i = -7500, 7500
      t = 2e-5_dp*i
      a = (pi*10*t)**2
      write (unit, '(f9.5, es17.8e3)') t, (1 - 2*a)*exp(-a)
    end do
    close (unit)
    call WaveletMake(job, w, error)
    call ClaimFine(error, 'a Ricker wavelet of 15001 samples')
    call Claim(abs(w%ftop - 10) < 0.05_dp .and. abs(w%fmax - formula%fmax) < 2 .and. w%fmax > 27.7_dp, &
               'the peak of its spectrum is at '//Str(w%ftop, 5)//' Hz, of 10, its band ends at '//Str(w%fmax, 4)//' Hz, that '// &
               'of the formula at '//Str(formula%fmax, 4))
    open (newunit=unit, file='w.txt', status='replace', action='write')
    do i = 0, 60000
      t = 0.001_dp*i
      a = 0.5_dp*(1 - cos(pi*min(1.0_dp, t/taper, (length - t)/taper)))
      write (unit, '(f8.3, es17.8e3)') t, a*sin(2*pi*(from + 0.5_dp*(to - from)/length*t)*t)
    end do
    close (unit)
    call WaveletMake(job, w, error)
    call ClaimFine(error, 'a sweep of a minute, 60001 samples')
    call Claim(w%ftop > from .and. w%ftop < to .and. abs(w%fmax - 52.15_dp) < 0.05_dp, &
               'of 5 to 50 Hz: its band ends at '//Str(w%fmax, 4)//' Hz, within 0.05 of 52.15, as numpy.fft finds it')
    open (newunit=unit, file='w.txt', status='replace', action='write')
    do i = 0, 100000
      write (unit, '(i0)') i
    end do
    close (unit)
    call WaveletMake(job, w, error)
    call ClaimFails(error, 'has more than 100000 samples', 'a file without end')
  end subroutine LongFiles

  subroutine BadFiles()
    call Bad('1 2 3', 'more than two columns', 'three columns')
    call Bad('0 1|0.001 2|0.002 nan|0.003 1', '''nan'' is not a finite number', 'NaN')
    call Bad('0 1|0.001 2|0.002 1e999|0.003 1', 'is not a finite number', 'overflow')
    call Bad('0 1|0.001 2|0.0035 1|0.003 1|0.004 1', 'does not come after', 'times going back')
    call Bad('0 1|0.001 2|0.0025 1|0.003 1|0.004 1', 'line 3', 'times not uniform')
    call Bad('0 1|0.001 2|0.002', '1 columns', 'a column missing')
    call Bad('0 1|0.001 2', 'holds 2 samples', 'two samples')
    call Bad('', 'is empty', 'an empty file')
    call Bad('# nothing|', 'holds 0 samples', 'comments only')
    call Bad('1|2|3|2|1', 'give wavelet_dt', 'one column without interval')
    call Bad('0 0|0.001 0|0.002 0|0.003 0', 'all 4 samples are 0', 'nothing but zeros')
    call Bad('0 1|0.001 2'//achar(0)//achar(7), 'is not plain text', 'a binary file')
    call Bad('0 1|'//repeat('1', 2000), '(2000 characters) is not a finite number', 'an endless line')
    call Bad('time value|0 1', '''time'' is not a finite number', 'a header line')
  end subroutine BadFiles

  !> A file of the lines between the bars is refused.
  subroutine Bad(lines, words, what)
    character(*), intent(in) :: lines, words, what
    type(wavelet_t) :: w
    integer :: unit, first, bar
    open (newunit=unit, file='w.txt', action='write', status='replace', recl=100000)
    first = 1
    do while (first <= len(lines))
      bar = index(lines(first:)//'|', '|') + first - 1
      write (unit, '(a)') lines(first:bar - 1)
      first = bar + 1
    end do
    close (unit)
    call WaveletMake(NewJob('file'), w, error)
    call ClaimFails(error, words, 'a wavelet file with '//what//' is refused')
  end subroutine Bad

  subroutine BadRequests()
    type(wavelet_t) :: w
    type(job_t) :: job
    job = NewJob('file')
    job%wavelet_file = 'not_there.txt'
    call WaveletMake(job, w, error)
    call ClaimFails(error, 'cannot be opened', 'a missing file')
    job%wavelet_file = '.'
    call WaveletMake(job, w, error)
    call ClaimFails(error, 'is a folder', 'a folder')
    job%wavelet_file = ''
    call WaveletMake(job, w, error)
    call ClaimFails(error, 'name its file', 'no name')
    job = NewJob('ricker')
    job%fpeak = 0
    call WaveletMake(job, w, error)
    call ClaimFails(error, 'fpeak = 0', 'peak frequency 0')
    job = NewJob('ricker')
    job%delay = -0.5_dp
    call WaveletMake(job, w, error)
    call ClaimFails(error, 'delay = -0.5', 'a delay between -1 and 0')
    job%delay = 0
    job%amplitude = 0
    call WaveletMake(job, w, error)
    call ClaimFails(error, 'amplitude = 0', 'amplitude 0')
    job%amplitude = 1e30_dp
    call WaveletMake(job, w, error)
    call ClaimFails(error, '1e30 m2/s, not between 1e-30 and 1e30', 'an amplitude beyond single precision')
    job%axes = .true.
    call WaveletMake(job, w, error)
    call ClaimFails(error, '1e30, not between 1e-30 and 1e30', 'in 3D, where the source tells its unit')
    job = NewJob('ormsby')
    job%f3 = 70
    call WaveletMake(job, w, error)
    call ClaimFails(error, 'f3 < f4', 'corners out of order')
    job = NewJob('klauder')
    call WaveletMake(job, w, error)
    call ClaimFails(error, 'use ricker, ormsby, ormsby-rounded or file', 'an unknown wavelet')
  end subroutine BadRequests

end program t105_wavelets
