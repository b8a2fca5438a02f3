!> Moment tensors by the conventions of Aki & Richards, and faults of many points: SRF 1.0 and 2.0, plain text, histories whose
!> moment no time step loses, sentences for files that are none.
program t690_faults
  use check_m, only: Claim, ClaimFails, ClaimFine, Done, GivenSeed, Seed
  use error_m, only: error_t
  use finite_fault_m, only: fault_moment_t, finite_fault_t, FaultAfter, FaultBegin, FaultDone, FaultEnd, FaultMoment, FaultRead, FaultSample, &
                     FaultStart, FaultTake
  use moment_tensor_m, only: MomentScalar, MomentPlace, MomentTensor
  use kinds_m, only: dp, sp
  use put_m, only: Put
  use text_m, only: Str
  use time_dispersion_m, only: TimedispReach
  use fault_histories_m, only: fault_histories_t, FaultHistoriesMake, FaultHistoriesSample
  implicit none
  character, parameter :: nl = new_line('a')
  character(*), parameter :: v2 = '2.0'//nl//'PLANE 1'//nl//' 20 45 2 1 4 4'//nl//' 0 75 3 -1 1'//nl//'POINTS 2'//nl// &
    ' 20.0 45.0 1.5 90 45 1.0e8 0.5 0.1 2.0e5 2.5'//nl//' 30 200.0 5 0 0 0 0'//nl//' 0 500 1000 500 0'//nl// &
    ' 20.01 45.02 2.5 90 45 1.0e8 1.0 0.1 2.0e5 2.5'//nl//' 30 100.0 3 50.0 3 0 0'//nl//' 0 1000 0'//nl//' 0 500 0'//nl
  type(error_t), allocatable :: error
  type(finite_fault_t) :: f

  call Tensors()
  call Srf2()
  call AnyHistory()
  call Srf1()
  call AnyLines()
  call Plain()
  call Malformed()
  call Done()

contains

  !> Of double couples, their moments, and places on the globe.
  subroutine Tensors()
    real(dp) :: m(6), xy(2)
    integer :: i, bad
    ! a vertical strike-slip fault along north: only Mxy, whatever the book's sign rules
    m = MomentTensor(0.0_dp, 90.0_dp, 0.0_dp, 0.0_dp)
    call Near(m, [0, 0, 0, 1, 0, 0]*1.0_dp, 'strike 0, dip 90, rake 0: Mxy = 1 alone')
    ! a thrust that dips 45 degrees to the east: pushed together along east, out of the ground along z
    m = MomentTensor(0.0_dp, 45.0_dp, 90.0_dp, 0.0_dp)
    call Near(m, [0, -1, 1, 0, 0, 0]*1.0_dp, 'strike 0, dip 45, rake 90: Myy = -1, Mzz = 1')
    bad = 0
    do i = 1, 200
      m = MomentTensor(1.7_dp*i, 0.45_dp*i, 3.1_dp*i - 180, 11.0_dp*i)
      if (abs(sum(m(:3))) > 1e-12_dp .or. abs(sum(m(:3)**2) + 2*sum(m(4:)**2) - 2) > 1e-12_dp) bad = bad + 1
      ! slip and normal, made into a tensor by themselves
      m = MomentTensor(1.7_dp*i, 0.45_dp*i, 3.1_dp*i - 180, 0.0_dp) - Dyad(1.7_dp*i, 0.45_dp*i, 3.1_dp*i - 180)
      if (maxval(abs(m)) > 1e-12_dp) bad = bad + 1
    end do
    call Claim(bad == 0, Str(bad)//' of 200 double couples are not traceless, of moment 1 and the dyad of slip and normal, must be 0')
    m = MomentTensor(0.0_dp, 90.0_dp, 0.0_dp, 45.0_dp)                ! Mxy = 1 with x north
    call Near(m, [1, -1, 0, 0, 0, 0]*1.0_dp, 'axes turned by 45 degrees: Mxy becomes Mxx = 1, Myy = -1')
    call Near([MomentScalar(6.0_dp)/1.2589254e18_dp], [1.0_dp], 'Mw 6 is 1.2589e18 N m')
    xy = MomentPlace(20.01_dp, 45.02_dp, 20.0_dp, 45.0_dp, 0.0_dp)
    call Claim(abs(xy(1) - 2222.6_dp) < 0.5_dp .and. abs(xy(2) - 788.2_dp) < 0.5_dp, &
               '0.01 degrees of longitude, 0.02 of latitude at 45 north: '//Str(xy(1), 6)//' m north and '//Str(xy(2), 6)// &
               ' m east, must be 2222.6 and 788.2 m within 0.5 m')
    xy = MomentPlace(-179.99_dp, 0.0_dp, 179.99_dp, 0.0_dp, 90.0_dp)
    call Claim(abs(xy(1) - 2226.39_dp) < 0.01_dp .and. abs(xy(2)) < 1e-6_dp, &
               'across the date line with x to the east: '//Str(xy(1), 6)//' m')
  end subroutine Tensors

  !> SRF 2.0; in blocks of steps shorter and longer than the file's all of the moment.
  subroutine Srf2()
    type(fault_moment_t) :: moment
    real(dp) :: expected
    integer :: i
    call Put('two.srf', v2)
    call FaultRead('two.srf', [20.0_dp, 45.0_dp], 0.0_dp, f, error)
    call ClaimFine(error, 'an SRF 2.0 file of two points, one of them with two directions of slip')
    call Claim(f%n == 3 .and. .not. any(f%potency), Str(f%n)//' entries, must be 3, all with their rigidity from the file')
    ! rigidity 2500 * 2000**2 = 1e10 Pa, area 1e4 m2, slip 2 m, 1 m and 0.5 m
    expected = 1e10_dp*1e4_dp*norm2([2 + 1, 0] + [0.0_dp, 0.5_dp])
    moment = FaultMoment(f, [0, 0, 0]*1.0_dp)
    call Near([moment%norm, moment%scalars]/[expected, 1e14_dp*(2 + norm2([1.0_dp, 0.5_dp]))], [1, 1]*1.0_dp, &
              'moment '//Str(moment%norm, 6)//' N m, scalar moments of the two points '//Str(moment%scalars, 6)//' N m')
    call Near(f%m(:, 1), MomentTensor(90.0_dp, 45.0_dp, 30.0_dp, 0.0_dp)*1e14_dp, 'its tensor', 1e6_dp)
    call Near(f%m(:, 3), MomentTensor(90.0_dp, 45.0_dp, 120.0_dp, 0.0_dp)*1e14_dp, 'slip2 points 90 degrees from the rake', 1e6_dp)
    call Claim(abs(f%x(3, 2) - 2500) < 1e-9_dp .and. abs(FaultEnd(f) - 1.2_dp) < 1e-12_dp, 'depth in metres; the last slip at '// &
               Str(FaultEnd(f))//' s')

    ! steps shorter and longer than the file's, in blocks: the same numbers, and all of the moment
    do i = 1, 3
      call Whole(0.013_dp*4.0_dp**(i - 1))
    end do
    do i = 1, 2
      call Turned(0.013_dp*2.0_dp**(i - 1))
    end do
  end subroutine Srf2

  subroutine Srf1()
    type(fault_moment_t) :: moment
    call Put('one.srf', '1.0'//nl//'POINTS 1'//nl//' 20 45 1.5 90 45 1.0e8 0.5 0.1'//nl//' 30 200 5 0 0 0 0'//nl// &
             ' 0 500 1000 500 0'//nl//' 20.1 45 1.5 90 45 1.0e8 0.5 0.1'//nl)
    call FaultRead('one.srf', [20.0_dp, 45.0_dp], 0.0_dp, f, error)
    call ClaimFine(error, 'an SRF 1.0 file, cut from a longer one')
    call Claim(f%n == 1 .and. all(f%potency), 'it has a potency, the medium gives the rigidity')
    moment = FaultMoment(f, [3e10_dp])
    call Near([moment%norm], [3e10_dp*1e4_dp*2], 'moment with 3e10 Pa', 1e8_dp)
  end subroutine Srf1

  subroutine Plain()
    call Put('plain.fault', '# two points'//nl//'dc 10 20 300 0 90 0 2e15 0.25 0.5 3'//nl//'0 2'//nl//'0'//nl// &
             'tensor 0 0 100 1e15 2e15 3e15 0 0 4e15 0 0.1 2'//nl//'5 5'//nl)
    call FaultRead('plain.fault', [0.0_dp, 0.0_dp], 0.0_dp, f, error)
    call ClaimFine(error, 'a plain file of two points')
    call Near(f%m(:, 1), [0, 0, 0, 2, 0, 0]*1e15_dp, 'dc: 2e15 N m of Mxy', 1e3_dp)
    call Near(f%m(:, 2), [1, 2, 3, 0, 0, 4]*1e15_dp, 'tensor: as given', 1e3_dp)
    call Near(f%area, [1, 1]*1.0_dp, 'histories of dt * sum(rate) = 1', 1e-6_dp)
  end subroutine Plain

  subroutine Malformed()
    call Refused('2.0'//nl//'POINTS 1'//nl//' 20 45 1.5 90 45 1.0e8 0.5'//nl, 'line 3: the file ends in the midst of a point', 'a short line')
    call Refused(v2(:len(v2) - 9), 'ends after 0 of 3 samples', 'a file cut short')
    call Refused('3.0'//nl//'POINTS 0'//nl, 'version 3', 'a version not known')
    call Refused('2.0'//nl//'POINTS 1'//nl//' 20 45 1.5 90 45 1.0e8 0.5 0.1'//nl//' 30 200 2 0 0 0 0'//nl//'1 2 3'//nl, &
                 'more samples', 'more samples than announced')
    call Refused('2.0'//nl//'POINTS 1'//nl//' 20 45 1.5 90 45 1.0e8 0.5 0.1'//nl//' 30 0 0 0 0 1 2'//nl//'1 2'//nl, 'opens', &
                 'a crack that opens')
    call Refused('2.0'//nl//'POINTS 1'//nl//' 20 45 1.5 90 45 1.0e8 0.5 0.1'//nl//' 30 0 0 0 0 0 0'//nl, 'no point that slips', &
                 'nothing slips')
    call Refused('dc 1 2 3 4 5 6'//nl, 'line 1: 6 numbers', 'a plain line too short')
    call Refused('explosion 1 2 3'//nl, 'where tensor or dc must', 'another word')
  end subroutine Malformed

  !> Slip direction times normal of Aki & Richards eq. 4.88-4.89, symmetric.
  pure function Dyad(strike, dip, rake) result(m)
    real(dp), intent(in) :: strike, dip, rake
    real(dp) :: m(6), s, d, r, u(3), n(3)
    real(dp), parameter :: radian = acos(-1.0_dp)/180
    s = strike*radian
    d = dip*radian
    r = rake*radian
    u = [cos(r)*cos(s) + cos(d)*sin(r)*sin(s), cos(r)*sin(s) - cos(d)*sin(r)*cos(s), -sin(d)*sin(r)]
    n = [-sin(d)*sin(s), sin(d)*cos(s), -cos(d)]
    m = [2*u(1)*n(1), 2*u(2)*n(2), 2*u(3)*n(3), u(1)*n(2) + u(2)*n(1), u(1)*n(3) + u(3)*n(1), u(2)*n(3) + u(3)*n(2)]
  end function Dyad

  subroutine Near(a, b, sentence, bound)
    real(dp), intent(in) :: a(:), b(:)
    character(*), intent(in) :: sentence
    real(dp), intent(in), optional :: bound
    real(dp) :: limit
    limit = 1e-7_dp
    if (present(bound)) limit = bound
    call Claim(maxval(abs(a - b)) <= limit, sentence//': off by '//Str(maxval(abs(a - b)), 2)//', bound '//Str(limit, 2))
  end subroutine Near

  subroutine Whole(dt)
    real(dp), intent(in) :: dt
    real(sp) :: part(3, 7)
    real(sp), allocatable :: q(:, :)
    integer :: n, from, steps
    real(dp) :: worst
    steps = 7*ceiling(1.5_dp/dt/7)
    allocate (q(3, steps))
    call FaultSample(f, 0.0_dp, dt, 1, q)
    worst = 0
    do n = 1, 3
      worst = max(worst, abs(sum(real(q(n, :), dp))*dt/f%area(n) - 1))
    end do
    call Claim(worst < 1e-6_dp, 'steps of '//Str(dt)//' s: moment off by '//Str(worst, 2)//' of it, bound 1e-6')
    worst = 0
    do from = 1, steps, 7
      call FaultSample(f, 0.0_dp, dt, from, part)
      worst = max(worst, real(maxval(abs(part - q(:, from:from + 6))), dp))
    end do
    call Claim(worst <= 0, 'blocks of 7 steps: differ by '//Str(worst, 2)//' from all at once, must be the same bits')
  end subroutine Whole

  !> Turned for the removal of time dispersion, a history keeps its moment, at another time by no more than the scheme's frequencies
  !> ask for; in blocks as all at once.
  subroutine Turned(dt)
    real(dp), intent(in) :: dt
    type(fault_histories_t) :: t
    real(sp) :: part(3, 7)
    real(sp), allocatable :: plain(:, :), q(:, :)
    real(dp) :: worst, late, shift
    integer :: n, from, steps, s
    steps = 7*ceiling(4/dt/7)
    allocate (q(3, steps), plain(3, steps))
    call FaultHistoriesMake(f, -1.0_dp, dt, 100.0_dp, 2, t)
    call FaultHistoriesSample(t, 1, q)
    call FaultSample(f, -1.0_dp, dt, 1, plain)
    worst = 0
    late = 0
    do n = 1, 3
      worst = max(worst, abs(sum(real(q(n, :), dp))*dt/f%area(n) - 1))
      shift = 0
      do s = 1, steps
        shift = shift + real(q(n, s) - plain(n, s), dp)*s*dt**2/f%area(n)
      end do
      late = max(late, abs(shift))
    end do
    call Claim(worst < 1e-5_dp .and. late < 1e-4_dp, 'turned, steps of '//Str(dt)//' s: moment off by '//Str(worst, 2)// &
               ' of it, bound 1e-5; its middle by '//Str(late, 2)//' s, bound 1e-4')
    worst = 0
    do from = 1, steps, 7
      call FaultHistoriesSample(t, from, part)
      worst = max(worst, real(maxval(abs(part - q(:, from:from + 6))), dp))
    end do
    call Claim(.not. worst > 0, 'turned, blocks of 7 steps: differ by '//Str(worst, 2)//' from all at once, must be 0')
  end subroutine Turned

  !> Histories of 1, 2 or more samples, the first and the last of any size, steps of the file smaller and larger than those of the
  !> modelling, onsets between steps and before 0: moment, onset and middle are those of the samples.
  subroutine AnyHistory()
    integer, parameter :: n = 300
    type(fault_histories_t) :: t
    real(sp), allocatable :: rate(:), q(:, :), p(:, :)
    real(dp) :: u(4), dt, t0(n), step(n), area(n), middle(n), begin, worst(6), got, fband
    integer :: i, k, m, steps, number
    number = GivenSeed()
    call Seed(number)
    dt = 0.0137_dp
    fband = 6
    f = finite_fault_t()
    call FaultBegin(f)
    do i = 1, n
      call random_number(u)
      m = merge(mod(i, 3) + 1, 1 + int(60*u(1)), i <= 90)
      t0(i) = 2*u(2) - 0.5_dp
      step(i) = 0.1_dp*10.0_dp**(-2.5_dp*u(3))                ! 0.0003 .. 0.1 s
      if (allocated(rate)) deallocate (rate)
      allocate (rate(m))
      call random_number(rate)
      if (m > 1 .and. u(4) < 0.3_dp) rate(1) = 0
      if (m > 1 .and. u(4) > 0.7_dp) rate(m) = 0
      area(i) = 0
      middle(i) = 0
      do k = 1, m
        area(i) = area(i) + step(i)*rate(k)
        middle(i) = middle(i) + step(i)*rate(k)*(t0(i) + (k - 1)*step(i))
      end do
      middle(i) = (middle(i) + step(i)**2*rate(1)/3)/area(i)    ! half of the first hat is turned over: 1/3 of an interval later
      call FaultTake(f, [0, 0, 0]*1.0_dp, [0, 0, 0, 1, 0, 0]*1.0_dp, t0(i), step(i), rate, error)
    end do
    call FaultDone(f, 'any', error)
    call ClaimFine(error, Str(n)//' random histories, seed '//Str(number))
    begin = -dt*ceiling((0.5_dp + TimedispReach(fband, dt))/dt)
    steps = ceiling((8 + 2*TimedispReach(fband, dt))/dt)
    allocate (q(n, steps), p(n, steps))
    call FaultSample(f, begin, dt, 1, q)
    call FaultHistoriesMake(f, begin, dt, fband, 2, t)
    call FaultHistoriesSample(t, 1, p)
    worst = 0
    do i = 1, n
      worst(1) = max(worst(1), abs(sum(real(q(i, :), dp))*dt/area(i) - 1))
      worst(2) = max(worst(2), abs(sum(real(p(i, :), dp))*dt/area(i) - 1))
      k = findloc(abs(q(i, :)) > 0, .true., 1)                  ! slip begins in step k, which ends at begin + k dt
      worst(3) = max(worst(3), t0(i) - (begin + k*dt))
      got = sum(real(q(i, :), dp)*[(begin + (k - 0.5_dp)*dt, k=1, steps)])*dt/area(i)
      worst(4) = max(worst(4), abs(got - middle(i)))
      got = sum(real(p(i, :), dp)*[(begin + (k - 0.5_dp)*dt, k=1, steps)])*dt/area(i)
      worst(6) = max(worst(6), abs(got - middle(i)))
      worst(5) = max(worst(5), abs(FaultAfter(f, i, begin + 100*dt) - sum(real(q(i, 101:), dp))*dt/area(i)))
    end do
    call Claim(worst(1) < 1e-5_dp, 'each makes dt * sum(rate): off by at most '//Str(worst(1), 2)//' of it, bound 1e-5')
    call Claim(worst(2) < 1e-4_dp, 'turned too: off by at most '//Str(worst(2), 2)//' of it, bound 1e-4')
    call Claim(worst(3) <= 1e-9_dp, 'none slips before its onset: at most '//Str(max(worst(3), 0.0_dp), 2)//' s before')
    call Claim(worst(4) < dt/2, 'its middle is that of its samples, the first turned over: off by at most '//Str(worst(4), 2)// &
               ' s, bound half a step, '//Str(dt/2, 2))
    call Claim(worst(6) < 1e-4_dp, 'turned it is that between the steps too: off by at most '//Str(worst(6), 2)//' s, bound 1e-4')
    call Claim(worst(5) < 1e-5_dp, 'what is released after a time: off by at most '//Str(worst(5), 2)//', bound 1e-5')
    call Claim(abs(FaultStart(f) - minval(t0)) <= 0, 'the first begins at '//Str(FaultStart(f))//' s')
  end subroutine AnyHistory

  !> Words of a file of two points with two directions of slip each, on lines as a writer may lay them out.
  subroutine AnyLines()
    character(*), parameter :: of(2, 2) = reshape([character(60) :: '20 45 1.5 90 45 1.0e8 0.5 0.1', '20.01 45.02 2.5 90 45 1.0e8 1.0 0.1', &
      '30 200.0 5 100 3 0 0 0 500 1000 500 0 0 1000 0', '30 100.0 3 50.0 3 0 0 0 1000 0 0 500 0'], [2, 2])
    real(dp), allocatable :: want(:)
    character(:), allocatable :: text, words
    real(dp) :: u
    integer :: version, draw, i, j, number, bad
    number = GivenSeed()
    call Seed(number)
    do version = 1, 2
      bad = 0
      do draw = 0, 40
        text = Str(version)//'.0'//nl//'PLANE 1'//nl//'20 45 2 1 4 4'//merge(nl, ' ', mod(draw, 2) == 0)//'0 75 3 -1 1'//nl//'POINTS 2'//nl
        do i = 1, 2
          words = trim(of(i, 1))
          if (version == 2) words = words//' 2.0e5 2.5'
          if (draw == 0) words = words//nl                     ! the customary lines
          words = words//' '//trim(of(i, 2))
          do j = 1, len(words)                                 ! draw 1: a point a line
            call random_number(u)
            if (index(words(j:), ' 2.0e5') == 1) cycle         ! 8 and 7 numbers are those of a file without the next two,
            if (index(words(j:), ' 5 100') == 1 .or. index(words(j:), ' 3 50.0') == 1) cycle   ! 10 and 7 of one with them
            if (words(j:j) == ' ' .and. u < 0.04_dp*(draw - 1)) words(j:j) = nl
            if (draw == 0 .and. words(j:j) == ' ' .and. j > len(words) - merge(32, 26, i == 1)) words(j:j) = nl
          end do
          text = text//words//nl
        end do
        call Put('lines.srf', text)
        f = finite_fault_t()
        call FaultRead('lines.srf', [20.0_dp, 45.0_dp], 0.0_dp, f, error)
        if (draw == 0) want = Numbers(f)
        if (.not. allocated(error) .and. f%n == 4 .and. f%points == 2) then
          if (maxval(abs(Numbers(f) - want)) <= 0) cycle
        end if
        if (allocated(error)) print '(a)', error%message
        if (allocated(error)) deallocate (error)
        bad = bad + 1
      end do
      call Claim(bad == 0, 'SRF '//Str(version)//'.0, samples of both directions of slip and headers on any lines: '//Str(bad)// &
                 ' of 41 layouts differ or are refused, must be 0 (seed '//Str(number)//')')
    end do
    call Refused('2.0'//nl//'POINTS 1'//nl//'20 45 1.5 90 45 1.0e8 0.5 0.1 30 200 5 0 0 0 0 0 5.5 1000 500 0'//nl, 'whole number', &
                 'velocity and density missing on a single line')
  end subroutine AnyLines

  pure function Numbers(f) result(v)
    type(finite_fault_t), intent(in) :: f
    real(dp), allocatable :: v(:)
    v = [reshape(f%x, [size(f%x)]), reshape(f%m, [size(f%m)]), real(f%rate, dp), f%dt]
  end function Numbers

  subroutine Refused(text, words, sentence)
    character(*), intent(in) :: text, words, sentence
    call Put('bad.fault', text)
    call FaultRead('bad.fault', [0.0_dp, 0.0_dp], 0.0_dp, f, error)
    call ClaimFails(error, words, sentence)
  end subroutine Refused

end program t690_faults
