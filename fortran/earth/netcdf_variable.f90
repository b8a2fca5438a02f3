!> All variables of NetCDF models have these: a file that is opened, text attributes, units, numbers that may be packed or missing.
module netcdf_variable_m
  use checked_m, only: Between, Finite, Unpacked
  use error_m, only: error_t, Fail, FailFromC
  use fio_c, only: fio_get_att_numbers, fio_get_att_text, fio_get_default_fill, fio_open, fio_var_real
  use iso_c_binding, only: c_associated, c_char, c_int, c_long_long, c_null_ptr, c_ptr
  use kinds_m, only: dp, sp
  use model_samples_m, only: samples_t, UnitFactor
  use text_m, only: CString, FString, Lower, Str
  implicit none
  private
  public :: packing_t, LengthFactor, NetcdfOpen, NetcdfText, NetcdfUnit, NetcdfPacking, NetcdfMissing, NetcdfWhyMissing, NetcdfHeld

  integer, parameter :: most_fills = 100                       !< numbers that may stand for missing ones

  !> The packing of a variable's numbers, and those that stand for missing ones: fills, and what lies beyond low .. high.
  type :: packing_t
    real(dp) :: scale = 1, offset = 0, fill(most_fills + 1) = 0
    integer :: fills = 0
    real(dp) :: low = -huge(1.0_dp), high = huge(1.0_dp)       !< of numbers as the file holds them
    character(:), allocatable :: limits                        !< the same in words, as the file has them
  end type packing_t

contains

  !> Opens s%file to be read.
  subroutine NetcdfOpen(s, file, error)
    type(samples_t), intent(in) :: s
    type(c_ptr), intent(out) :: file
    type(error_t), allocatable, intent(inout) :: error
    file = c_null_ptr
    if (allocated(error)) return
    file = fio_open(CString(s%file), 0_c_int)
    if (c_associated(file)) return
    call FailFromC(1, error)
    error%message = s%what//' model: '//error%message// &
      ': give an undamaged NetCDF file, or model_format=raw32 if its samples are raw'
  end subroutine NetcdfOpen

  !> Text attribute of a variable, '' if it has none; its first 256 characters.
  function NetcdfText(file, var, name) result(text)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: var, name
    character(:), allocatable :: text
    character(kind=c_char, len=256) :: buffer
    integer(c_long_long) :: n
    n = fio_get_att_text(file, CString(var), CString(name), len(buffer, c_long_long), buffer)
    text = trim(adjustl(FString(buffer(:min(max(n, 0_c_long_long), len(buffer, c_long_long))))))
  end function NetcdfText

  !> Takes s%unit from the attribute units of a variable; fails on one that s%what cannot have.
  subroutine NetcdfUnit(file, var, s, error)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: var
    type(samples_t), intent(inout) :: s
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: known
    if (allocated(error)) return
    known = trim(merge('m/s, m s-1, km/s, km s-1 or ft/s    ', 'kg/m3, kg m-3, g/cm3 or g cm-3      ', s%what == 'velocity'))
    s%unit = NetcdfText(file, var, 'units')
    s%cure = 'correct the units attribute of '//var//' to '
    if (s%unit == '') then
      call Fail(error, s%what//" model '"//s%file//"': variable "//var//' has no units attribute: give it one of '//known)
    else if (UnitFactor(s%what, s%unit) == 0) then
      call Fail(error, s%what//" model '"//s%file//"': the units of "//var//" are '"//s%unit//"', must be "//known)
    end if
  end subroutine NetcdfUnit

  !> Reads the packing of a variable; fails on attributes that do not say what they mean, and where integers are meant without their
  !> sign. begin: how the sentence begins, as in "velocity model 'x.nc': ".
  subroutine NetcdfPacking(file, begin, var, p, error)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: begin, var
    type(packing_t), intent(out) :: p
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: scale(1), offset(1)
    if (allocated(error)) return
    if (NumbersOf(file, begin, var, 'scale_factor', scale, error) == 1) p%scale = scale(1)
    if (NumbersOf(file, begin, var, 'add_offset', offset, error) == 1) p%offset = offset(1)
    call CheckPacking(begin, var, p, error)
    call ReadFills(file, begin, var, p, error)
    call ReadLimits(file, begin, var, p, error)
    if (allocated(error)) return
    if (Lower(NetcdfText(file, var, '_Unsigned')) == 'true') call Fail(error, begin//'the attribute '// &
      '_Unsigned of '//var//' says that its integers are meant without their sign: write them as unsigned ones, or as floats')
  end subroutine NetcdfPacking

  !> Refuses a packing that leaves nothing of the numbers.
  subroutine CheckPacking(begin, var, p, error)
    character(*), intent(in) :: begin, var
    type(packing_t), intent(in) :: p
    type(error_t), allocatable, intent(inout) :: error
    if (allocated(error)) return
    if (p%scale == 0 .or. .not. Finite(p%scale)) then
      call Fail(error, begin//'the attribute scale_factor of '//var//' is '//Str(p%scale)// &
                ', must be a number other than 0: correct it')
    else if (.not. Finite(p%offset)) then
      call Fail(error, begin//'the attribute add_offset of '//var//' is '//Str(p%offset)//', must be a number: correct it')
    end if
  end subroutine CheckPacking

  !> Counts and reads the numbers of an attribute, 0 if there is none; fails where it is a text or holds others than size(values),
  !> or, with any_number, more.
  integer function NumbersOf(file, begin, var, name, values, error, any_number, real_bytes) result(n)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: begin, var, name
    real(dp), intent(out) :: values(:)
    type(error_t), allocatable, intent(inout) :: error
    logical, intent(in), optional :: any_number
    integer, intent(out), optional :: real_bytes                !< bytes of one, 0: integers
    character(:), allocatable :: must
    integer :: bytes
    n = fio_get_att_numbers(file, CString(var), CString(name), size(values), values, bytes)
    if (present(real_bytes)) real_bytes = bytes
    if (n == 0 .or. n == size(values) .or. allocated(error)) return
    must = Str(size(values))
    if (present(any_number)) then
      if (n > 0 .and. n < size(values)) return
      must = '1 .. '//must
    end if
    call Fail(error, begin//'the attribute '//name//' of '//var//' is '//Held(n)//', must be '//must//' of them: correct it')

  contains

    function Held(n)
      integer, intent(in) :: n
      character(:), allocatable :: Held
      Held = 'no numbers'
      if (n > 0) Held = Str(n)//trim(merge(' number ', ' numbers', n == 1))
      if (n < 0) Held = "'"//NetcdfText(file, var, name)//"', a text and no numbers"
    end function Held

  end function NumbersOf

  !> The numbers that stand for missing ones: _FillValue or what the library writes by default, and missing_value.
  subroutine ReadFills(file, begin, var, p, error)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: begin, var
    type(packing_t), intent(inout) :: p
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: missing(most_fills)
    integer :: n
    p%fills = NumbersOf(file, begin, var, '_FillValue', p%fill(:1), error)
    if (p%fills == 0) p%fills = fio_get_default_fill(file, CString(var), p%fill(1))
    n = NumbersOf(file, begin, var, 'missing_value', missing, error, any_number=.true.)
    if (allocated(error)) return
    p%fill(p%fills + 1:p%fills + n) = missing(:n)
    p%fills = p%fills + n
    if (fio_var_real(file, CString(var)) == 4) p%fill(:p%fills) = Single(p%fill(:p%fills))
  end subroutine ReadFills

  !> The valid range: valid_range, or valid_min and valid_max.
  subroutine ReadLimits(file, begin, var, p, error)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: begin, var
    type(packing_t), intent(inout) :: p
    type(error_t), allocatable, intent(inout) :: error
    character(9), parameter :: sides(2) = ['valid_min', 'valid_max']
    real(dp) :: limit(2)
    integer :: bytes(2), i
    logical :: given(2)
    given = NumbersOf(file, begin, var, 'valid_range', limit, error, real_bytes=bytes(1)) == 2
    bytes(2) = bytes(1)
    p%limits = 'valid_range, '//Str(limit(1))//' .. '//Str(limit(2))
    do i = 1, 2
      if (given(1) .and. given(2)) exit
      given(i) = NumbersOf(file, begin, var, sides(i), limit(i:i), error, real_bytes=bytes(i)) == 1
      if (i == 1) p%limits = ''
      if (given(i) .and. p%limits /= '') p%limits = p%limits//', '
      if (given(i)) p%limits = p%limits//sides(i)//' '//Str(limit(i))
    end do
    if (allocated(error)) return
    do i = 1, 2
      if (given(i) .and. Finite(limit(i))) call SetLimit(i == 1, limit(i), bytes(i), fio_var_real(file, CString(var)), p)
    end do
  end subroutine ReadLimits

  !> A limit of a variable whose numbers have var_bytes, 0: integers. It is of numbers as the file holds them, unless it is a
  !> floating-point number of more bytes: then it is of unpacked ones (NetCDF User's Guide, attribute conventions). What equals it
  !> but for rounding is within.
  subroutine SetLimit(lower, limit, bytes, var_bytes, p)
    logical, intent(in) :: lower
    real(dp), intent(in) :: limit
    integer, intent(in) :: bytes, var_bytes
    type(packing_t), intent(inout) :: p
    real(dp), parameter :: most = 1.0e150_dp
    real(dp) :: x
    logical :: low
    low = lower
    x = limit
    if (var_bytes == 4) x = Single(limit)
    if (bytes > var_bytes .and. (p%scale /= 1 .or. p%offset /= 0)) then
      if (.not. (Between(limit, -most, most) .and. Between(p%offset, -most, most))) return
      if (.not. Between(abs(p%scale), 1/most, most)) return
      x = (limit - p%offset)/p%scale
      if (p%scale < 0) low = .not. lower
      x = x + merge(-1, 1, low)*merge(0.01_dp, 1.0e-6_dp*abs(x), var_bytes == 0)
    end if
    if (low) then
      p%low = x
    else
      p%high = x
    end if
  end subroutine SetLimit

  !> The number that single precision has for x, x itself where there is none.
  elemental real(dp) function Single(x)
    real(dp), intent(in) :: x
    Single = x
    if (Between(x, -real(huge(1.0_sp), dp), real(huge(1.0_sp), dp))) Single = real(real(x, sp), dp)
  end function Single

  !> True for a number, as the file holds it, that stands for a missing one. NaN and infinities do not: values are checked for them.
  elemental logical function NetcdfMissing(stored, packing)
    real(dp), intent(in) :: stored
    type(packing_t), intent(in) :: packing
    NetcdfMissing = any(stored == packing%fill(:packing%fills))
    if (Finite(stored)) NetcdfMissing = NetcdfMissing .or. .not. Between(stored, packing%low, packing%high)
  end function NetcdfMissing

  !> Why that number stands for a missing one, and what to do: the end of a sentence that names it.
  function NetcdfWhyMissing(stored, packing) result(text)
    real(dp), intent(in) :: stored
    type(packing_t), intent(in) :: packing
    character(:), allocatable :: text
    if (any(stored == packing%fill(:packing%fills))) then
      text = ' is missing (fill value '//Str(stored)//'): fill the hole'
    else
      text = ' is missing: the file holds '//Str(stored)//' there, beyond its '//packing%limits// &
        ': fill the hole, or correct the attribute'
    end if
  end function NetcdfWhyMissing

  !> Metres in a unit of length, 0 if it is not known.
  pure real(dp) function LengthFactor(unit) result(factor)
    character(*), intent(in) :: unit
    select case (unit)
    case ('m', 'meter', 'meters', 'metre', 'metres')
      factor = 1
    case ('km', 'kilometer', 'kilometers', 'kilometre', 'kilometres')
      factor = 1000
    case default
      factor = 0
    end select
  end function LengthFactor

  !> The value of a packed number, limited to single precision; an infinite one stays, for the check of values.
  elemental real(dp) function NetcdfHeld(stored, packing)
    real(dp), intent(in) :: stored
    type(packing_t), intent(in) :: packing
    NetcdfHeld = Unpacked(stored, packing%scale, packing%offset)
    if (Finite(NetcdfHeld)) NetcdfHeld = max(-1.0e38_dp, min(1.0e38_dp, NetcdfHeld))
  end function NetcdfHeld

end module netcdf_variable_m
