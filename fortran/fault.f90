!> Kinematic faults: many points, each with a moment tensor and its own history, from SRF files (versions 1.0 and 2.0), from NetCDF
!> (faultnc.f90) or from a plain text:
!>
!>     tensor X Y Z  MXX MYY MZZ MXY MXZ MYZ  T0 DT NT      metres from the shot's position, z down; N m; s
!>     dc     X Y Z  STRIKE DIP RAKE M0       T0 DT NT      degrees; N m
!>       RATE(1) ... RATE(NT)                               [1/s], any number of lines
!>
!> A history is linear between its samples, the first at T0, and 0 outside; its integral times the tensor is the moment of the
!> point. Where an SRF file does not tell the rigidity (version 1.0), it is taken from the medium at the point: then the tensor is
!> one of potency [m3].
!>
!> A time step gets the mean of a history over the step: no moment is lost, however coarse the steps. Where time dispersion is
!> removed, histories are turned for that instead (turned.f90).
module fault_m
  use checked_m, only: Between, Whole
  use checksum_c, only: checksum_floats
  use error_m, only: error_t, Fail
  use focal_m, only: FocalPlace, FocalTensor
  use hash_m, only: hash_t, HashAdd, HashText
  use kinds_m, only: dp, i8, sp
  use text_m, only: Lower, Str
  use textfile_m, only: IntegerOf, NumberOf, Shown, textfile_t, TextLine, TextOpen, TextWord
  implicit none
  private
  public :: fault_t, FaultRead, FaultSample, FaultMoment, FaultEnd, FaultHash
  public :: FaultSlip, FaultBegin, FaultAdd, FaultDone, FaultSound, fault_points

  integer, parameter :: points_most = 2000000, fault_points = points_most
  integer(i8), parameter :: samples_most = 500000000_i8

  !> Points 1..n; history of point i: rate(start(i) : start(i+1)-1) at t0(i), t0(i)+dt(i), ...
  type :: fault_t
    integer :: n = 0
    real(dp), allocatable :: x(:, :)          !< (3, n) [m], from the shot's position
    real(dp), allocatable :: m(:, :)          !< (6, n) xx, yy, zz, xy, xz, yz: of the integral of rate [N m], or potency [m3]
    logical, allocatable :: potency(:)        !< (n) m is to be multiplied by the rigidity of the medium
    real(dp), allocatable :: t0(:), dt(:)     !< (n) [s]
    integer, allocatable :: start(:)          !< (n+1)
    real(sp), allocatable :: rate(:)          !< [1/s]
    real(dp), allocatable :: area(:)          !< (n) integral of each history: 1 where the file's are normalised
  end type fault_t

contains

  !> Reads a fault. `origin`: longitude and latitude [degrees] that are to lie at the shot's position, `azimuth` of the x axis (see
  !> focal.f90); both matter to SRF files, azimuth to lines `dc` too. Every fault of the file is a sentence with its line.
  subroutine FaultRead(path, origin, azimuth, fault, error)
    character(*), intent(in) :: path
    real(dp), intent(in) :: origin(2), azimuth
    type(fault_t), intent(out) :: fault
    type(error_t), allocatable, intent(inout) :: error
    type(textfile_t) :: file
    real(dp) :: version
    logical :: ok
    integer :: first, last
    call TextOpen(file, path, 'fault file', error)
    if (allocated(error)) return
    call FaultBegin(fault)
    if (.not. TextLine(file)) then
      call Fail(error, 'fault file '//path//' holds no line: give SRF, or lines tensor or dc')
      return
    end if
    if (TextWord(file, first, last)) call NumberOf(file%text(first:last), version, ok)
    if (ok) then
      call ReadSrf(file, Whole(version, -1, 1000), origin, azimuth, fault, error)
    else
      call ReadPlain(file, first, last, azimuth, fault, error)
    end if
    call FaultDone(fault, path, error)
  end subroutine FaultRead

  !> An empty fault, ready for FaultAdd.
  subroutine FaultBegin(fault)
    type(fault_t), intent(inout) :: fault
    call Reserve(fault, 64, 1024)
    fault%start(1) = 1
  end subroutine FaultBegin

  !> All points of the file are there.
  subroutine FaultDone(fault, path, error)
    type(fault_t), intent(inout) :: fault
    character(*), intent(in) :: path
    type(error_t), allocatable, intent(inout) :: error
    if (.not. allocated(error) .and. fault%n == 0) call Fail(error, 'fault file '//path//' holds no point that slips')
    if (allocated(error)) return
    call Trim(fault)
  end subroutine FaultDone

  ! --- SRF ------------------------------------------------------------------------------------------------------------

  subroutine ReadSrf(file, version, origin, azimuth, fault, error)
    type(textfile_t), intent(inout) :: file
    integer, intent(in) :: version
    real(dp), intent(in) :: origin(2), azimuth
    type(fault_t), intent(inout) :: fault
    type(error_t), allocatable, intent(inout) :: error
    integer :: first, last, i, n
    if (version < 1 .or. version > 2) then
      call Fail(error, 'fault file '//file%path//' is SRF version '//Str(version)//', known are 1.0 and 2.0')
      return
    end if
    do while (TextLine(file))
      if (.not. TextWord(file, first, last)) cycle
      select case (Lower(file%text(first:last)))
      case ('plane')
        n = Count_(file, error)
        do i = 1, 2*n
          if (.not. TextLine(file)) call Fail(error, Here(file)//'the planes end too early')
          if (allocated(error)) return
        end do
      case ('points')
        n = Count_(file, error)
        do i = 1, n
          call ReadSrfPoint(file, origin, azimuth, fault, error)
          if (allocated(error)) return
        end do
        if (version == 1) return                    ! has one block; files made by cutting longer ones go on with half a point
      case default
        call Fail(error, Here(file)//Shown(file%text(first:last))//' stands where PLANE or POINTS must')
      end select
      if (allocated(error)) return
    end do
  end subroutine ReadSrf

  !> Two lines and the samples of up to three directions of slip: along the rake, 90 degrees from it, opening.
  !> Units of the file: cm2, cm, cm/s, cm/s and g/cm3.
  subroutine ReadSrfPoint(file, origin, azimuth, fault, error)
    type(textfile_t), intent(inout) :: file
    real(dp), intent(in) :: origin(2), azimuth
    type(fault_t), intent(inout) :: fault
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: head(10), slip(7), xy(2), rigidity, m(6)
    real(sp), allocatable :: rate(:)
    integer :: found, d, nt
    call Numbers(file, 8, head, found, error)
    call Numbers(file, 7, slip, d, error)
    if (allocated(error)) return
    rigidity = 0
    if (found >= 10) then
      if (head(9) > 0 .and. head(10) > 0) rigidity = 1000*head(10)*(head(9)/100)**2
    end if
    if (.not. (head(8) > 0 .and. head(6) >= 0)) then
      call Fail(error, Here(file)//'area '//Str(head(6))//' cm2 and interval '//Str(head(8))//' s must be above 0')
      return
    end if
    xy = FocalPlace(head(1), head(2), origin(1), origin(2), azimuth)
    do d = 1, 3
      nt = Whole(slip(2*d + 1), -1, 100000000)
      call Samples(file, nt, rate, error)
      if (allocated(error)) return
      if (nt == 0) cycle
      if (.not. any(abs(rate) > 0)) cycle
      if (d == 3) then
        call Fail(error, Here(file)//'the point opens (slip3): only slip along the fault can be modelled')
        return
      end if
      m = FocalTensor(head(4), head(5), slip(1) + merge(0, 90, d == 1), azimuth)*1.0e-4_dp*head(6)   ! potency of 1 m: [m3]
      if (rigidity > 0) m = rigidity*m
      call FaultAdd(fault, [xy, 1000*head(3)], m, .not. rigidity > 0, head(7), head(8), 0.01_sp*rate, error)
    end do
  end subroutine ReadSrfPoint

  ! --- plain text -----------------------------------------------------------------------------------------------------

  !> The first word of the first line is read already.
  subroutine ReadPlain(file, first, last, azimuth, fault, error)
    type(textfile_t), intent(inout) :: file
    integer, intent(inout) :: first, last
    real(dp), intent(in) :: azimuth
    type(fault_t), intent(inout) :: fault
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: v(12), m(6)
    real(sp), allocatable :: rate(:)
    character(:), allocatable :: kind
    integer :: n, found
    do
      kind = Lower(file%text(first:last))
      if (kind /= 'tensor' .and. kind /= 'dc') then
        call Fail(error, Here(file)//Shown(file%text(first:last))//' stands where tensor or dc must, or an SRF version')
        return
      end if
      n = merge(12, 10, kind == 'tensor')
      call RestOfLine(file, n, v, found, error)
      if (allocated(error)) return
      if (.not. (v(n - 1) > 0 .and. v(n) >= 1 .and. v(n) <= 1.0e8_dp)) then
        call Fail(error, Here(file)//'DT = '//Str(v(n - 1))//' s must be above 0, NT = '//Str(v(n))//' 1 or more')
        return
      end if
      if (kind == 'tensor') then
        m = v(4:9)
      else
        m = v(7)*FocalTensor(v(4), v(5), v(6), azimuth)
      end if
      call Samples(file, Whole(v(n)), rate, error)
      call FaultAdd(fault, v(1:3), m, .false., v(n - 2), v(n - 1), rate, error)
      if (allocated(error)) return
      if (.not. TextLine(file)) return
      if (.not. TextWord(file, first, last)) return
    end do
  end subroutine ReadPlain

  ! --- pieces of both -------------------------------------------------------------------------------------------------

  function Here(file) result(s)
    type(textfile_t), intent(in) :: file
    character(:), allocatable :: s
    s = 'fault file '//file%path//', line '//Str(file%line)//': '
  end function Here

  !> The number after PLANE or POINTS.
  integer function Count_(file, error) result(n)
    type(textfile_t), intent(inout) :: file
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: value
    integer :: first, last
    logical :: ok
    ok = TextWord(file, first, last)
    if (ok) call IntegerOf(file%text(first:last), value, ok)
    n = 0
    if (ok) ok = value >= 0 .and. value <= points_most
    if (ok) n = Whole(value)
    if (.not. ok) call Fail(error, Here(file)//'how many follow? give a number of 0 .. '//Str(points_most))
  end function Count_

  !> The next line: at least `least` numbers, at most size(v) are taken.
  subroutine Numbers(file, least, v, found, error)
    type(textfile_t), intent(inout) :: file
    integer, intent(in) :: least
    real(dp), intent(out) :: v(:)
    integer, intent(out) :: found
    type(error_t), allocatable, intent(inout) :: error
    found = 0
    v = 0
    if (allocated(error)) return
    if (.not. TextLine(file)) then
      call Fail(error, Here(file)//'the file ends in the midst of a point')
      return
    end if
    call RestOfLine(file, least, v, found, error)
  end subroutine Numbers

  subroutine RestOfLine(file, least, v, found, error)
    type(textfile_t), intent(inout) :: file
    integer, intent(in) :: least
    real(dp), intent(out) :: v(:)
    integer, intent(out) :: found
    type(error_t), allocatable, intent(inout) :: error
    integer :: first, last
    logical :: ok
    found = 0
    v = 0
    do while (found < size(v))
      if (.not. TextWord(file, first, last)) exit
      call NumberOf(file%text(first:last), v(found + 1), ok)
      if (ok) ok = abs(v(found + 1)) <= 1.0e30_dp
      if (.not. ok) then
        call Fail(error, Here(file)//Shown(file%text(first:last))//' is no number up to 1e30')
        return
      end if
      found = found + 1
    end do
    if (found < least) call Fail(error, Here(file)//Str(found)//' numbers, '//Str(least)//' must stand here')
  end subroutine RestOfLine

  !> nt numbers on the lines that follow.
  subroutine Samples(file, nt, rate, error)
    type(textfile_t), intent(inout) :: file
    integer, intent(in) :: nt
    real(sp), allocatable, intent(out) :: rate(:)
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: value
    integer :: first, last, n
    logical :: ok
    if (allocated(error)) return
    if (nt < 0) then
      call Fail(error, Here(file)//Str(nt)//' samples: give 0 or more')
    else if (nt > len(file%text) - file%next + 1000000) then         ! no memory for what cannot be there
      call Fail(error, Here(file)//'the file ends before the '//Str(nt)//' samples of a point: is it cut short?')
    end if
    if (allocated(error)) return
    allocate (rate(nt))
    n = 0
    do while (n < nt)
      if (.not. TextLine(file)) then
        call Fail(error, Here(file)//'the file ends after '//Str(n)//' of '//Str(nt)//' samples of a point')
        return
      end if
      do while (TextWord(file, first, last))
        call NumberOf(file%text(first:last), value, ok)
        if (ok) ok = abs(value) < 1.0e30_dp
        if (ok .and. n == nt) then
          call Fail(error, Here(file)//'more samples than the '//Str(nt)//' announced')
        else if (.not. ok) then
          call Fail(error, Here(file)//Shown(file%text(first:last))//' is no sample of a history')
        end if
        if (allocated(error)) return
        n = n + 1
        rate(n) = real(value, sp)
      end do
    end do
  end subroutine Samples

  !> One more point; `rate`: its samples.
  subroutine FaultAdd(fault, x, m, potency, t0, dt, rate, error)
    type(fault_t), intent(inout) :: fault
    real(dp), intent(in) :: x(3), m(6), t0, dt
    logical, intent(in) :: potency
    real(sp), intent(in) :: rate(:)
    type(error_t), allocatable, intent(inout) :: error
    integer :: at
    if (allocated(error)) return
    if (.not. FaultSound(x, m, t0, dt)) then
      call Fail(error, 'point '//Str(fault%n + 1)//' of the fault is no point on earth: x, y, z = '//Str(x(1))//', '//Str(x(2))// &
                ', '//Str(x(3))//' m (up to 1e8), largest part of its tensor '//Str(maxval(abs(m)))//' (up to 1e30), first '// &
                'time '//Str(t0)//' s (up to 1e6), interval '//Str(dt)//' s (1e-7 .. 1e6)')
      return
    end if
    at = fault%start(fault%n + 1)
    if (fault%n >= points_most .or. int(at, i8) + size(rate) > samples_most) then
      call Fail(error, 'the fault has more than '//Str(points_most)//' points or '//Str(samples_most)//' samples')
      return
    end if
    call Reserve(fault, fault%n + 1, at + size(rate))
    fault%n = fault%n + 1
    fault%x(:, fault%n) = x
    fault%m(:, fault%n) = m
    fault%potency(fault%n) = potency
    fault%t0(fault%n) = t0
    fault%dt(fault%n) = dt
    fault%rate(at:at + size(rate) - 1) = rate
    fault%start(fault%n + 1) = at + size(rate)
    fault%area(fault%n) = dt*(sum(real(rate, dp)) - (real(rate(1), dp) + rate(size(rate)))/2)   ! one sample alone has no area
  end subroutine FaultAdd

  !> Whether place [m], tensor [N m, or m3], first time and interval [s] can be those of a point on earth.
  pure logical function FaultSound(x, m, t0, dt)
    real(dp), intent(in) :: x(3), m(6), t0, dt
    FaultSound = all(Between(x, -1.0e8_dp, 1.0e8_dp)) .and. all(Between(m, -1.0e30_dp, 1.0e30_dp)) .and. &
                 Between(t0, -1.0e6_dp, 1.0e6_dp) .and. Between(dt, 1.0e-7_dp, 1.0e6_dp)
  end function FaultSound

  !> Room for so many points and samples.
  pure subroutine Reserve(fault, points, samples)
    type(fault_t), intent(inout) :: fault
    integer, intent(in) :: points, samples
    if (.not. allocated(fault%t0)) then
      allocate (fault%x(3, points), fault%m(6, points), fault%potency(points), fault%t0(points), fault%dt(points), &
                fault%area(points), fault%start(points + 1), fault%rate(samples))
      return
    end if
    if (points > size(fault%t0)) call Cut(fault, 2*points, size(fault%rate))
    if (samples > size(fault%rate)) call Cut(fault, size(fault%t0), Whole(2_i8*samples))
  end subroutine Reserve

  pure subroutine Trim(fault)
    type(fault_t), intent(inout) :: fault
    call Cut(fault, fault%n, fault%start(fault%n + 1) - 1)
  end subroutine Trim

  !> The same points in arrays for `points` points and `samples` samples.
  pure subroutine Cut(fault, points, samples)
    type(fault_t), intent(inout) :: fault
    integer, intent(in) :: points, samples
    type(fault_t) :: other
    integer :: n, m
    n = fault%n
    m = fault%start(n + 1) - 1
    allocate (other%x(3, points), other%m(6, points), other%potency(points), other%t0(points), other%dt(points), &
              other%area(points), other%start(points + 1), other%rate(samples))
    other%n = n
    other%x(:, :n) = fault%x(:, :n)
    other%m(:, :n) = fault%m(:, :n)
    other%potency(:n) = fault%potency(:n)
    other%t0(:n) = fault%t0(:n)
    other%dt(:n) = fault%dt(:n)
    other%area(:n) = fault%area(:n)
    other%start(:n + 1) = fault%start(:n + 1)
    other%rate(:m) = fault%rate(:m)
    fault = other
  end subroutine Cut

  ! --- use ------------------------------------------------------------------------------------------------------------

  !> 16 digits that differ when places, tensors, times or histories do: by more than a millimetre, 1e-6 of a point's tensor, 1e-6 of
  !> its interval. Less may come from the sines of another machine, whose job may go on here.
  function FaultHash(fault) result(text)
    type(fault_t), intent(in) :: fault
    character(16) :: text
    type(hash_t) :: hash
    real(dp) :: strength
    integer(i8) :: sum
    integer :: i, c
    do i = 1, fault%n
      strength = max(maxval(abs(fault%m(:, i))), tiny(strength))
      do c = 1, 3
        call HashAdd(hash, anint(1000*fault%x(c, i)))
      end do
      do c = 1, 6
        call HashAdd(hash, anint(1.0e6_dp*fault%m(c, i)/strength))
      end do
      call HashAdd(hash, anint(1.0e6_dp*log(strength)))
      call HashAdd(hash, merge(1, 0, fault%potency(i)))
      call HashAdd(hash, anint(1.0e6_dp*fault%t0(i)/fault%dt(i)))
      call HashAdd(hash, anint(1.0e6_dp*log(fault%dt(i))))
      call HashAdd(hash, fault%start(i + 1))
    end do
    sum = checksum_floats(0_i8, size(fault%rate, kind=i8), fault%rate)
    call HashAdd(hash, Whole(ibits(sum, 0, 31)))
    call HashAdd(hash, Whole(ibits(sum, 31, 31)))
    text = HashText(hash)
  end function FaultHash

  !> q(n, steps): the mean of each history over time steps `step`, step+1, ...; step m lasts from start + (m-1) dt to start + m dt.
  !> The same bits whatever the first step is, so that a shot may go on from a state.
  pure subroutine FaultSample(fault, start, dt, step, q)
    type(fault_t), intent(in) :: fault
    real(dp), intent(in) :: start, dt
    integer, intent(in) :: step
    real(sp), intent(out) :: q(:, :)
    real(dp) :: before, after, whole
    integer :: i, s, k
    do i = 1, fault%n
      k = 0
      whole = 0
      call Slip(fault, i, start + (step - 1)*dt, k, whole, before)
      do s = 1, size(q, 2)
        call Slip(fault, i, start + (step - 1 + s)*dt, k, whole, after)
        q(i, s) = real((after - before)/dt, sp)
        before = after
      end do
    end do
  end subroutine FaultSample

  !> Integral of the history of point i up to t. k: intervals whose integral, in samples, is `whole`; they go on from call to call.
  pure subroutine Slip(fault, i, t, k, whole, total)
    type(fault_t), intent(in) :: fault
    integer, intent(in) :: i
    real(dp), intent(in) :: t
    integer, intent(inout) :: k
    real(dp), intent(inout) :: whole
    real(dp), intent(out) :: total
    real(dp) :: place, part
    integer :: last
    total = 0
    place = (t - fault%t0(i))/fault%dt(i)
    if (place <= 0) return
    last = fault%start(i + 1) - fault%start(i) - 1           ! intervals
    total = fault%area(i)
    if (place >= last) return
    associate (r => fault%rate(fault%start(i):fault%start(i + 1) - 1))
      do while (k + 1 <= place)
        k = k + 1
        whole = whole + (real(r(k), dp) + r(k + 1))/2
      end do
      part = place - k
      total = fault%dt(i)*(whole + part*(r(k + 1)*(1 - part/2) + r(k + 2)*part/2))
    end associate
  end subroutine Slip

  !> Scalar moment [N m]: the norm of the sum of all tensors; potencies count with `rigidity` [Pa].
  pure real(dp) function FaultMoment(fault, rigidity) result(m0)
    type(fault_t), intent(in) :: fault
    real(dp), intent(in) :: rigidity
    real(dp) :: total(6)
    integer :: i
    total = 0
    do i = 1, fault%n
      total = total + fault%m(:, i)*fault%area(i)*merge(rigidity, 1.0_dp, fault%potency(i))
    end do
    m0 = sqrt((sum(total(:3)**2) + 2*sum(total(4:)**2))/2)
  end function FaultMoment

  !> The largest integral of the modulus of a history: what a point does in all, back and forth.
  pure real(dp) function FaultSlip(fault) result(slip)
    type(fault_t), intent(in) :: fault
    integer :: i
    slip = 0
    do i = 1, fault%n
      slip = max(slip, fault%dt(i)*sum(abs(real(fault%rate(fault%start(i):fault%start(i + 1) - 1), dp))))
    end do
  end function FaultSlip

  !> When the last point stops [s].
  pure real(dp) function FaultEnd(fault) result(t)
    type(fault_t), intent(in) :: fault
    integer :: i
    t = 0
    do i = 1, fault%n
      t = max(t, fault%t0(i) + fault%dt(i)*(fault%start(i + 1) - fault%start(i) - 1))
    end do
  end function FaultEnd

end module fault_m
