!> A property of the earth on a regular grid, as read from a file, and the checks that it can be one.
module model_samples_m
  use checked_m, only: CountOf, Finite
  use error_m, only: error_t, Fail
  use host_c, only: host_memory
  use kinds_m, only: dp, i8, sp
  use reading_told_m, only: reading_told_t, ReadingTell
  use text_m, only: CString, Str
  implicit none
  private
  public :: samples_t, SamplesAllocate, SamplesVolume, SamplesCheck, SamplesDoubt, SamplesName, SamplesUnit, UnitFactor, Plausible
  public :: part_t
  public :: velocity_feet, fastest_rock

  !> Samples low .. high of a volume.
  type :: part_t
    integer :: low(3) = 1, high(3) = huge(1)
  end type part_t

  !> Sample (1, 1) is at (x0, z0); x runs fastest.
  type :: samples_t
    character(:), allocatable :: what         !< 'velocity' or 'density'
    character(:), allocatable :: file
    character(:), allocatable :: unit         !< as declared for the file
    character(:), allocatable :: cure         !< what to do if that unit is wrong, e.g. 'set vp_unit='
    character(:), allocatable :: doubt        !< what speaks against the axes of a raw file as the job has them; '' if nothing does
    character(:), allocatable :: read_as      !< what was done to it for that, told beside its name
    integer :: nx = 0, nz = 0
    integer :: slow = 3                       !< of a volume: the axis that runs slowest in the file
    real(dp) :: dx = 0, dz = 0, x0 = 0, z0 = 0    !< [m]
    type(reading_told_t) :: told
    real(sp), allocatable :: a(:, :)          !< (nx, nz); [m/s] or [kg/m3] after SamplesCheck
  end type samples_t

  real(dp), parameter :: foot = 0.3048_dp     !< [m]
  real(dp), parameter :: velocity_feet = 4600 !< water and rock, of 1400 m/s and more, in ft/s
  real(dp), parameter :: fastest_rock = 9000  !< of the crust and the upper mantle [m/s]

  !> The range accepted, and that of the same number in thousands (km/s, g/cm3).
  type :: range_t
    real(dp) :: lo, hi, lo_kilo, hi_kilo
    character(5) :: unit
    character(5) :: kilo
  end type range_t
  type(range_t), parameter :: velocity = range_t(50.0_dp, 15000.0_dp, 0.3_dp, 15.0_dp, 'm/s  ', 'km/s ')
  type(range_t), parameter :: density = range_t(1.0_dp, 30000.0_dp, 0.9_dp, 5.0_dp, 'kg/m3', 'g/cm3')

contains

  pure type(range_t) function RangeOf(what) result(r)
    character(*), intent(in) :: what
    r = density
    if (what == 'velocity') r = velocity
  end function RangeOf

  !> How the log names the file of s.
  pure function SamplesName(s) result(text)
    type(samples_t), intent(in) :: s
    character(:), allocatable :: text
    text = s%file//' ['//s%unit//']'
    if (allocated(s%read_as)) text = text//s%read_as
  end function SamplesName

  !> Adds the doubt about s, if there is one, to those about others, a line each.
  pure subroutine SamplesDoubt(s, doubts)
    type(samples_t), intent(in) :: s
    character(:), allocatable, intent(inout) :: doubts
    if (.not. allocated(doubts)) doubts = ''
    if (.not. allocated(s%doubt)) return
    if (doubts /= '' .and. s%doubt /= '') doubts = doubts//new_line('a')
    doubts = doubts//s%doubt
  end subroutine SamplesDoubt

  !> Factor from a unit to m/s or kg/m3; 0 if the unit is not one of `what`.
  pure real(dp) function UnitFactor(what, unit) result(factor)
    character(*), intent(in) :: what, unit
    factor = 0
    if (what == 'velocity') then
      select case (unit)
      case ('m/s', 'm s-1', 'm.s-1', 'm s^-1', 'm s**-1', 'meter/second', 'meters/second', 'metre/second', 'm/sec')
        factor = 1
      case ('km/s', 'km s-1', 'km.s-1', 'km s^-1', 'km s**-1', 'km/sec')
        factor = 1000
      case ('ft/s', 'ft s-1', 'feet/s', 'ft/sec', 'feet/second')
        factor = foot
      end select
    else
      select case (unit)
      case ('kg/m3', 'kg m-3', 'kg.m-3', 'kg/m^3', 'kg m^-3', 'kg/m**3', 'kg m**-3')
        factor = 1
      case ('g/cm3', 'g cm-3', 'g.cm-3', 'g/cm^3', 'g cm^-3', 'g/cm**3', 'g cm**-3', 'g/cc')
        factor = 1000
      end select
    end if
  end function UnitFactor

  !> Allocates nx x nz samples; fails with the bytes that are missing.
  subroutine SamplesAllocate(s, error)
    type(samples_t), intent(inout) :: s
    type(error_t), allocatable, intent(inout) :: error
    integer :: rc
    if (allocated(error)) return
    if (s%nx < 2 .or. s%nz < 2) then
      call Fail(error, s%what//" model '"//s%file//"' has "//Str(s%nx)//' x '//Str(s%nz)//' samples, must have 2 x 2 or more')
      return
    end if
    call CheckMemory(s, [s%nx, s%nz], error)
    if (allocated(error)) return
    allocate (s%a(s%nx, s%nz), stat=rc)
    if (rc /= 0) call Fail(error, 'out of memory for the '//s%what//" model '"//s%file//"': "//Sides([s%nx, s%nz]))
  end subroutine SamplesAllocate

  !> Allocates a volume of n(1) x n(2) x n(3) samples, a(n(1), n(2)*n(3)); n(2)*n(3) is a default integer.
  subroutine SamplesVolume(s, n, a, error)
    type(samples_t), intent(in) :: s
    integer, intent(in) :: n(3)
    real(sp), allocatable, intent(out) :: a(:, :)
    type(error_t), allocatable, intent(inout) :: error
    integer :: rc
    if (allocated(error)) return
    if (any(n < 1) .or. CountOf(n(2:)) > huge(1) .or. CountOf(n) < 0) then
      call Fail(error, s%what//" model '"//s%file//"': "//Sides(n)//', must be 1 or more along each side, at most '// &
        Str(huge(1))//' along y and z together: give a smaller model')
      return
    end if
    call CheckMemory(s, n, error)
    if (allocated(error)) return
    allocate (a(n(1), n(2)*n(3)), stat=rc)
    if (rc /= 0) call Fail(error, 'out of memory for the '//s%what//" model '"//s%file//"': "//Sides(n))
  end subroutine SamplesVolume

  !> Fails where samples need more memory than there is: a file of a few bytes may claim any shape, and the system grants memory
  !> that it does not have until it is used.
  subroutine CheckMemory(s, n, error)
    type(samples_t), intent(in) :: s
    integer, intent(in) :: n(:)
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: total, available
    call host_memory(CString(''), total, available)
    if (total > 0 .and. 4*product(real(n, dp)) > total) call Fail(error, s%what//" model '"//s%file//"': "//Sides(n)// &
      ', more than the '//Str(1.0e-9_dp*total, 3)//' GB of memory here: give a smaller model')
  end subroutine CheckMemory

  !> '12 x 10 samples are 4.8e-7 GB'
  pure function Sides(n) result(text)
    integer, intent(in) :: n(:)
    character(:), allocatable :: text
    integer :: i
    text = Str(n(1))
    do i = 2, size(n)
      text = text//' x '//Str(n(i))
    end do
    text = text//' samples are '//Str(4.0e-9_dp*product(real(n, dp)), 3)//' GB'
  end function Sides

  !> True where all samples could be `what` in either of its units: used to tell wrong byte order from wrong units.
  pure logical function Plausible(s) result(yes)
    type(samples_t), intent(in) :: s
    type(range_t) :: r
    integer :: i, k
    r = RangeOf(s%what)
    yes = .false.
    do k = 1, s%nz
      do i = 1, s%nx
        if (.not. Finite(s%a(i, k))) return
        if (s%a(i, k) < r%lo_kilo .or. s%a(i, k) > r%hi) return
      end do
    end do
    yes = .true.
  end function Plausible

  !> Refuses what cannot be a property of the earth, with the first sample at fault; then converts to SI units.
  subroutine SamplesCheck(s, error)
    type(samples_t), intent(inout) :: s
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: factor, lo, hi
    integer :: k
    if (allocated(error)) return
    call ReadingTell(s%told, s%file//' is read, and is checked')
    call CheckNumbers(s, error)
    if (allocated(error)) return
    call ReadingTell(s%told, s%file//' holds numbers above 0, and is checked further')
    factor = UnitFactor(s%what, s%unit)
    lo = huge(lo)
    hi = 0
    do k = 1, s%nz
      lo = min(lo, real(minval(s%a(:, k)), dp))
      hi = max(hi, real(maxval(s%a(:, k)), dp))
    end do
    call SamplesUnit(s, factor, lo, hi, error)
    call CheckRange(s, factor, error)
    if (.not. allocated(error) .and. factor /= 1) s%a = real(s%a*factor, sp)
  end subroutine SamplesCheck

  subroutine CheckNumbers(s, error)
    type(samples_t), intent(in) :: s
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: n
    integer :: i, k, at(2)
    logical :: bad
    n = 0
    do k = 1, s%nz
      do i = 1, s%nx
        bad = .not. Finite(s%a(i, k))
        if (.not. bad) bad = s%a(i, k) <= 0
        if (bad .and. n == 0) at = [i, k]
        if (bad) n = n + 1
      end do
    end do
    if (n > 0) call Fail(error, Begin(s)//' '//Place(s, at)//' is '//Str(s%a(at(1), at(2)))//', must be a number above 0 ('// &
      Str(n)//' such samples of '//Str(CountOf([s%nx, s%nz]))//')')
  end subroutine CheckNumbers

  !> Refuses values lo .. hi that make sense in the other unit of their kind: not guessed at but named. Volumes have no s%a.
  subroutine SamplesUnit(s, factor, lo, hi, error)
    type(samples_t), intent(in) :: s
    real(dp), intent(in) :: factor, lo, hi
    type(error_t), allocatable, intent(inout) :: error
    type(range_t) :: r
    r = RangeOf(s%what)
    if (factor == 1 .and. lo >= r%lo_kilo .and. hi <= r%hi_kilo) then
      call Fail(error, Begin(s)//' values '//Str(lo)//' .. '//Str(hi)//' '//trim(r%unit)//' look like '//trim(r%kilo)//': '// &
        s%cure//trim(r%kilo))
    else if (factor == 1000 .and. lo >= r%lo .and. lo > r%hi_kilo .and. hi <= r%hi) then
      call Fail(error, Begin(s)//' values '//Str(lo)//' .. '//Str(hi)//' '//trim(r%kilo)//' look like '//trim(r%unit)//': '// &
        s%cure//trim(r%unit))
    end if
  end subroutine SamplesUnit

  subroutine CheckRange(s, factor, error)
    type(samples_t), intent(in) :: s
    real(dp), intent(in) :: factor
    type(error_t), allocatable, intent(inout) :: error
    type(range_t) :: r
    integer :: i, k
    if (allocated(error)) return
    r = RangeOf(s%what)
    do k = 1, s%nz
      do i = 1, s%nx
        if (s%a(i, k)*factor >= r%lo*(1 - 1e-6_dp) .and. s%a(i, k)*factor <= r%hi*(1 + 1e-6_dp)) cycle
        call Fail(error, Begin(s)//' '//Place(s, [i, k])//' is '//Str(s%a(i, k)*factor)//' '//trim(r%unit)//', must be '// &
          Str(r%lo)//' .. '//Str(r%hi)//' '//trim(r%unit)//Feet(s, factor))
        return
      end do
    end do
  end subroutine CheckRange

  !> Velocities of rock and water in ft/s are 4600 to 28000 m/s.
  pure function Feet(s, factor) result(question)
    type(samples_t), intent(in) :: s
    real(dp), intent(in) :: factor
    character(:), allocatable :: question
    question = ''
    if (s%what /= 'velocity' .or. factor /= 1) return
    if (minval(s%a) > velocity_feet .and. maxval(s%a)*foot < fastest_rock) question = ' (ft/s? '//s%cure//'ft/s)'
  end function Feet

  pure function Begin(s) result(text)
    type(samples_t), intent(in) :: s
    character(:), allocatable :: text
    text = s%what//" model '"//s%file//"':"
  end function Begin

  pure function Place(s, at) result(text)
    type(samples_t), intent(in) :: s
    integer, intent(in) :: at(2)
    character(:), allocatable :: text
    text = 'sample ('//Str(at(1))//', '//Str(at(2))//') of ('//Str(s%nx)//', '//Str(s%nz)//') at x = '// &
      Str(s%x0 + (at(1) - 1)*s%dx)//' m, z = '//Str(s%z0 + (at(2) - 1)*s%dz)//' m'
  end function Place

end module model_samples_m
