!> All variables of NetCDF models have these: a file that is opened, text attributes, units, numbers that may be packed or missing.
module netcdf_variable_m
  use checked_m, only: Finite, Unpacked
  use error_m, only: error_t, Fail, FailFromC
  use fio_c, only: fio_get_att_number, fio_get_att_text, fio_open
  use iso_c_binding, only: c_associated, c_char, c_int, c_long_long, c_null_ptr, c_ptr
  use kinds_m, only: dp
  use model_samples_m, only: samples_t, UnitFactor
  use text_m, only: CString, FString, Lower
  implicit none
  private
  public :: packing_t, LengthFactor, NetcdfOpen, NetcdfText, NetcdfUnit, NetcdfPacking, NetcdfMissing, NetcdfHeld

  !> The packing of a variable's numbers, and those that stand for missing ones.
  type :: packing_t
    real(dp) :: scale = 1, offset = 0, fill(2) = 0
    logical :: has_fill(2) = .false.
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

  !> Fails where integers are meant without their sign.
  subroutine NetcdfPacking(file, s, var, p, error)
    type(c_ptr), intent(in) :: file
    type(samples_t), intent(in) :: s
    character(*), intent(in) :: var
    type(packing_t), intent(out) :: p
    type(error_t), allocatable, intent(inout) :: error
    if (allocated(error)) return
    if (fio_get_att_number(file, CString(var), CString('scale_factor'), p%scale) == 0) p%scale = 1
    if (fio_get_att_number(file, CString(var), CString('add_offset'), p%offset) == 0) p%offset = 0
    p%has_fill(1) = fio_get_att_number(file, CString(var), CString('_FillValue'), p%fill(1)) == 1
    p%has_fill(2) = fio_get_att_number(file, CString(var), CString('missing_value'), p%fill(2)) == 1
    if (Lower(NetcdfText(file, var, '_Unsigned')) == 'true') call Fail(error, s%what//" model '"//s%file//"': the attribute "// &
      '_Unsigned of '//var//' says that its integers are meant without their sign: write them as unsigned ones, or as floats')
  end subroutine NetcdfPacking

  !> True for a number, as the file holds it, that stands for a missing one.
  elemental logical function NetcdfMissing(stored, packing)
    real(dp), intent(in) :: stored
    type(packing_t), intent(in) :: packing
    NetcdfMissing = any(packing%has_fill .and. stored == packing%fill)
  end function NetcdfMissing

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
