!> Kinematic faults: many points, each with a moment tensor and its own history, from NetCDF (finite_fault_netcdf.f90) or from text
!> (finite_fault_text.f90), SRF files (versions 1.0 and 2.0) or plain lines:
!>
!>     tensor X Y Z  MXX MYY MZZ MXY MXZ MYZ  T0 DT NT      metres from the shot's position, z down; N m; s
!>     dc     X Y Z  STRIKE DIP RAKE M0       T0 DT NT      degrees; N m
!>       RATE(1) ... RATE(NT)                               [1/s], any number of lines
!>
!> The moment of a point is its tensor times DT * sum(RATE), in every format. So SRF files are meant: SLIP is the total slip of the
!> rates at each time step from TINIT on, when the rupture arrives (R. Graves 2014, Standard Rupture Format, version 2.0, Southern
!> California Earthquake Center); those who write it sample a pulse, leave out the zeros at its end and scale such that
!> DT * sum(SR) = SLIP. The history is therefore made of hats: linear between its samples, and down to 0 in the interval after the
!> last one. Nothing slips before T0: the half of the first hat that would lie there is turned over into the first interval, where
!> the history is 2 RATE(1) at T0 and goes linearly to RATE(2). A history that begins with 0 is linear throughout.
!>
!> Where an SRF file does not tell the rigidity (version 1.0), it is taken from the medium at the point: then the tensor is one of
!> potency [m3].
!>
!> A time step gets the mean of a history over the step: no moment is lost, however coarse the steps. Where time dispersion is
!> removed, histories are turned for that instead (fault_histories.f90).
module finite_fault_m
  use checked_m, only: Between, Whole
  use checksum_c, only: checksum_floats
  use error_m, only: error_t, Fail
  use moment_tensor_m, only: MomentNorm
  use hash_m, only: hash_t, HashAdd, HashText
  use kinds_m, only: dp, i8, sp
  use text_m, only: Str
  implicit none
  private
  public :: finite_fault_t, fault_moment_t, FaultRead, FaultSample, FaultMoment, FaultStart, FaultEnd, FaultAfter, FaultHash
  public :: FaultSlip, FaultArea, FaultSome, FaultBegin, FaultTake, FaultAdd, FaultDone, FaultSound, fault_points, fault_why

  integer, parameter :: fault_points = 2000000       !< points of a fault, at most
  integer(i8), parameter :: samples_most = 500000000_i8
  integer, parameter :: convention = 2            !< rule that histories are read by: a job goes on only under the same

  integer, parameter :: no_slip = 1, no_history = 2, no_area = 3, no_moment = 4
  character(*), parameter :: fault_why(4) = [character(32) :: 'without slip', 'with a slip but without history', &
                                             'of area 0', 'whose tensor is 0']     !< why points do nothing

  !> Points 1..n act; history of point i: rate(start(i) : start(i+1)-1) at t0(i), t0(i)+dt(i), ... A point of an SRF file that slips
  !> in two directions is two of them.
  type :: finite_fault_t
    integer :: n = 0
    real(dp), allocatable :: x(:, :)          !< (3, n) [m], from the shot's position
    real(dp), allocatable :: m(:, :)          !< (6, n) xx, yy, zz, xy, xz, yz: of the integral of rate [N m], or potency [m3]
    logical, allocatable :: potency(:)        !< (n) m is to be multiplied by the rigidity of the medium
    real(dp), allocatable :: t0(:), dt(:)     !< (n) [s]
    integer, allocatable :: start(:)          !< (n+1)
    real(sp), allocatable :: rate(:)          !< [1/s]
    real(dp), allocatable :: area(:)          !< (n) integral of each history: 1 where the file's are normalised
    integer, allocatable :: point(:)          !< (n) its number in the file
    integer :: points = 0                     !< in the file
    integer :: dropped(size(fault_why)) = 0   !< those of them that do nothing, by fault_why
    integer :: differ = 0                     !< points whose history does not make their slip
    integer :: worst = 0                      !< the one that is most off, in the file
    real(dp) :: told = 0, made = 0            !< its slip [m] as the file has it, and as its history makes it
    integer :: unread = 0                     !< line at which the file goes on after its points, 0: it does not
  end type finite_fault_t

  !> The moment that a fault releases [N m].
  type :: fault_moment_t
    real(dp) :: norm = 0                      !< of the sum of all tensors
    real(dp) :: scalars = 0                   !< the sum of the points' scalar moments
  end type fault_moment_t

  real(dp), parameter :: slip_off = 0.01_dp   !< history and slip may differ by this part without a warning
  real(dp), parameter :: slip_digit = 5.1e-5_dp  !< [m], what SRF 1.0 rounds slips by

  interface
    ! --- finite_fault_text.f90

    !> Reads a fault. `origin`: longitude and latitude [degrees] that are to lie at the shot's position, `azimuth` of the x axis
    !> (see moment_tensor.f90); both matter to SRF files, azimuth to lines `dc` too. Every fault of the file is a sentence with its
    !> line.
    module subroutine FaultRead(path, origin, azimuth, fault, error)
      character(*), intent(in) :: path
      real(dp), intent(in) :: origin(2), azimuth
      type(finite_fault_t), intent(out) :: fault
      type(error_t), allocatable, intent(inout) :: error
    end subroutine FaultRead
  end interface

contains

  !> An empty fault, ready for FaultAdd.
  subroutine FaultBegin(fault)
    type(finite_fault_t), intent(inout) :: fault
    call Reserve(fault, 64, 1024)
    fault%start(1) = 1
  end subroutine FaultBegin

  !> All points of the file are there.
  subroutine FaultDone(fault, path, error)
    type(finite_fault_t), intent(inout) :: fault
    character(*), intent(in) :: path
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: why
    integer :: r
    if (allocated(error)) return
    if (fault%n == 0) then
      why = 'fault file '//path//' holds no point that slips: '//Str(fault%points)//' point(s)'
      do r = 1, size(fault_why)
        if (fault%dropped(r) > 0) why = why//', '//Str(fault%dropped(r))//' '//trim(fault_why(r))
      end do
      call Fail(error, why//'; is this the right file?')
      return
    end if
    call Cut(fault, fault%n, fault%start(fault%n + 1) - 1)
  end subroutine FaultDone

  ! --- points ---------------------------------------------------------------------------------------------------------

  !> One more point of a file that tells tensors [N m]; `rate`: its samples. It is only counted where it does nothing.
  subroutine FaultTake(fault, x, m, t0, dt, rate, error)
    type(finite_fault_t), intent(inout) :: fault
    real(dp), intent(in) :: x(3), m(6), t0, dt
    real(sp), intent(in) :: rate(:)
    type(error_t), allocatable, intent(inout) :: error
    integer :: why
    if (allocated(error)) return
    fault%points = fault%points + 1
    if (any(abs(rate) > 0) .and. any(abs(m) > 0)) then
      call FaultAdd(fault, x, m, .false., t0, dt, rate, error)
    else
      why = merge(no_moment, no_slip, any(abs(rate) > 0))
      fault%dropped(why) = fault%dropped(why) + 1
    end if
  end subroutine FaultTake

  !> Describes point fault%points; `rate`: its samples.
  subroutine FaultAdd(fault, x, m, potency, t0, dt, rate, error)
    type(finite_fault_t), intent(inout) :: fault
    real(dp), intent(in) :: x(3), m(6), t0, dt
    logical, intent(in) :: potency
    real(sp), intent(in) :: rate(:)
    type(error_t), allocatable, intent(inout) :: error
    integer :: at
    if (allocated(error)) return
    if (.not. FaultSound(x, m, t0, dt, size(rate))) then
      call Fail(error, 'point '//Str(fault%points)//' of the fault is no point on earth: x, y, z = '//Str(x(1))//', '//Str(x(2))// &
                ', '//Str(x(3))//' m (up to 1e8), largest part of its tensor '//Str(maxval(abs(m)))//' (up to 1e30), first '// &
                'time '//Str(t0)//' s (up to 1e6), interval '//Str(dt)//' s (1e-7 .. 1e6), '// &
                'history of '//Str(dt*(size(rate) - 1))//' s (up to 1e6)')
      return
    end if
    at = fault%start(fault%n + 1)
    if (fault%n >= fault_points .or. int(at, i8) + size(rate) > samples_most) then
      call Fail(error, 'the fault has more than '//Str(fault_points)//' points or '//Str(samples_most)//' samples')
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
    fault%area(fault%n) = FaultArea(rate, dt)
    fault%point(fault%n) = fault%points
  end subroutine FaultAdd

  !> Integral of a history.
  pure real(dp) function FaultArea(rate, dt)
    real(sp), intent(in) :: rate(:)
    real(dp), intent(in) :: dt
    FaultArea = dt*sum(real(rate, dp))
  end function FaultArea

  !> True where place [m], tensor [N m, or m3], first time, interval [s] and samples can be those of a point on earth.
  pure logical function FaultSound(x, m, t0, dt, samples)
    real(dp), intent(in) :: x(3), m(6), t0, dt
    integer, intent(in) :: samples
    FaultSound = all(Between(x, -1.0e8_dp, 1.0e8_dp)) .and. all(Between(m, -1.0e30_dp, 1.0e30_dp)) .and. &
                 Between(t0, -1.0e6_dp, 1.0e6_dp) .and. Between(dt, 1.0e-7_dp, 1.0e6_dp)
    if (FaultSound) FaultSound = dt*(samples - 1) <= 1.0e6_dp
  end function FaultSound

  !> Room for so many points and samples.
  pure subroutine Reserve(fault, points, samples)
    type(finite_fault_t), intent(inout) :: fault
    integer, intent(in) :: points, samples
    if (.not. allocated(fault%t0)) then
      allocate (fault%x(3, points), fault%m(6, points), fault%potency(points), fault%t0(points), fault%dt(points), &
                fault%area(points), fault%point(points), fault%start(points + 1), fault%rate(samples))
      return
    end if
    if (points > size(fault%t0)) call Cut(fault, 2*points, size(fault%rate))
    if (samples > size(fault%rate)) call Cut(fault, size(fault%t0), Whole(2_i8*samples))
  end subroutine Reserve

  !> The same points in arrays for `points` points and `samples` samples.
  pure subroutine Cut(fault, points, samples)
    type(finite_fault_t), intent(inout) :: fault
    integer, intent(in) :: points, samples
    type(finite_fault_t) :: other
    integer :: n, m
    n = fault%n
    m = fault%start(n + 1) - 1
    allocate (other%x(3, points), other%m(6, points), other%potency(points), other%t0(points), other%dt(points), &
              other%area(points), other%point(points), other%start(points + 1), other%rate(samples))
    other%x(:, :n) = fault%x(:, :n)
    other%m(:, :n) = fault%m(:, :n)
    other%potency(:n) = fault%potency(:n)
    other%t0(:n) = fault%t0(:n)
    other%dt(:n) = fault%dt(:n)
    other%area(:n) = fault%area(:n)
    other%point(:n) = fault%point(:n)
    other%start(:n + 1) = fault%start(:n + 1)
    other%rate(:m) = fault%rate(:m)
    call move_alloc(other%x, fault%x)
    call move_alloc(other%m, fault%m)
    call move_alloc(other%potency, fault%potency)
    call move_alloc(other%t0, fault%t0)
    call move_alloc(other%dt, fault%dt)
    call move_alloc(other%area, fault%area)
    call move_alloc(other%point, fault%point)
    call move_alloc(other%start, fault%start)
    call move_alloc(other%rate, fault%rate)
  end subroutine Cut

  ! --- use ------------------------------------------------------------------------------------------------------------

  !> 16 digits that differ when places, tensors, times or histories do: by more than a millimetre, 1e-6 of a point's tensor, 1e-6 of
  !> its interval. Less may come from the sines of another machine, whose job may go on here.
  function FaultHash(fault) result(text)
    type(finite_fault_t), intent(in) :: fault
    character(16) :: text
    type(hash_t) :: hash
    real(dp) :: strength
    integer(i8) :: sum
    integer :: i, c
    call HashAdd(hash, convention)
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
    type(finite_fault_t), intent(in) :: fault
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

  !> Some points of a fault, with their histories.
  pure type(finite_fault_t) function FaultSome(fault, points) result(some)
    type(finite_fault_t), intent(in) :: fault
    integer, intent(in) :: points(:)
    integer :: i
    some = finite_fault_t(n=size(points), x=fault%x(:, points), m=fault%m(:, points), potency=fault%potency(points), &
                          t0=fault%t0(points), dt=fault%dt(points), area=fault%area(points), point=fault%point(points), &
                          points=fault%points)
    allocate (some%start(size(points) + 1))
    some%start(1) = 1
    do i = 1, size(points)
      some%start(i + 1) = some%start(i) + fault%start(points(i) + 1) - fault%start(points(i))
    end do
    allocate (some%rate(some%start(size(points) + 1) - 1))
    do i = 1, size(points)
      some%rate(some%start(i):some%start(i + 1) - 1) = fault%rate(fault%start(points(i)):fault%start(points(i) + 1) - 1)
    end do
  end function FaultSome

  !> Integral of the history of point i up to t. k: intervals whose integral, in samples, is `whole`; they go on from call to call.
  pure subroutine Slip(fault, i, t, k, whole, total)
    type(finite_fault_t), intent(in) :: fault
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
    last = fault%start(i + 1) - fault%start(i)               ! intervals, one after each sample
    total = fault%area(i)
    if (place >= last) return
    associate (r => fault%rate(fault%start(i):fault%start(i + 1) - 1))
      do while (k + 1 <= place)
        k = k + 1
        whole = whole + (Begin(r, k) + Finish(r, k))/2
      end do
      part = place - k
      total = fault%dt(i)*(whole + part*(Begin(r, k + 1)*(1 - part/2) + Finish(r, k + 1)*part/2))
    end associate
  end subroutine Slip

  !> A history where its interval k begins.
  pure real(dp) function Begin(r, k)
    real(sp), intent(in) :: r(:)
    integer, intent(in) :: k
    Begin = r(k)
    if (k == 1) Begin = 2*Begin
  end function Begin

  !> A history where its interval k ends.
  pure real(dp) function Finish(r, k)
    real(sp), intent(in) :: r(:)
    integer, intent(in) :: k
    Finish = 0
    if (k < size(r)) Finish = r(k + 1)
  end function Finish

  !> Part of the moment of point i that it releases after t [s].
  pure real(dp) function FaultAfter(fault, i, t) result(part)
    type(finite_fault_t), intent(in) :: fault
    integer, intent(in) :: i
    real(dp), intent(in) :: t
    real(dp) :: whole, total
    integer :: k
    k = 0
    whole = 0
    call Slip(fault, i, t, k, whole, total)
    part = 0
    if (abs(fault%area(i)) > 0) part = 1 - total/fault%area(i)
  end function FaultAfter

  !> The moment that all points release; potencies count with `rigidity` (n) [Pa]. The tensors of the directions of a point are
  !> summed before its scalar moment is taken.
  pure type(fault_moment_t) function FaultMoment(fault, rigidity) result(moment)
    type(finite_fault_t), intent(in) :: fault
    real(dp), intent(in) :: rigidity(:)
    real(dp) :: total(6), point(6)
    integer :: i
    total = 0
    point = 0
    do i = 1, fault%n
      point = point + fault%m(:, i)*fault%area(i)*merge(rigidity(i), 1.0_dp, fault%potency(i))
      if (i < fault%n) then
        if (fault%point(i + 1) == fault%point(i)) cycle
      end if
      total = total + point
      moment%scalars = moment%scalars + MomentNorm(point)
      point = 0
    end do
    moment%norm = MomentNorm(total)
  end function FaultMoment

  !> The largest integral of the modulus of a history: what a point does in all, back and forth.
  pure real(dp) function FaultSlip(fault) result(slip)
    type(finite_fault_t), intent(in) :: fault
    integer :: i
    slip = 0
    do i = 1, fault%n
      slip = max(slip, fault%dt(i)*sum(abs(real(fault%rate(fault%start(i):fault%start(i + 1) - 1), dp))))
    end do
  end function FaultSlip

  !> Time at which the first point begins [s].
  pure real(dp) function FaultStart(fault) result(t)
    type(finite_fault_t), intent(in) :: fault
    t = minval(fault%t0(:fault%n))
  end function FaultStart

  !> Time at which the last point stops [s]: one interval after its last sample that is not 0.
  pure real(dp) function FaultEnd(fault) result(t)
    type(finite_fault_t), intent(in) :: fault
    integer :: i
    t = -huge(t)
    do i = 1, fault%n
      associate (r => fault%rate(fault%start(i):fault%start(i + 1) - 1))
        t = max(t, fault%t0(i) + fault%dt(i)*findloc(abs(r) > 0, .true., 1, back=.true.))
      end associate
    end do
  end function FaultEnd

end module finite_fault_m
