!> Snapshots of a shot: one NetCDF file, pressure(time, z, x), sealed and checked like the file of gathers.
module snapshots_m
  use error_m, only: error_t, AddContext, Fail, FailFromC
  use fio_c, only: fio_crc_floats, fio_enddef, fio_put_doubles, fio_put_floats, fio_put_longs
  use fiodef_m, only: FioAttributes, FioBegin, FioDefine, FioDim, FioFinish, FioNumbers, FioSeals, FioText
  use gather_m, only: gather_t
  use iso_c_binding, only: c_ptr
  use kinds_m, only: dp, i8
  use survey_m, only: attribute_t
  use text_m, only: CString, Str
  implicit none
  private
  public :: FioSnapshots

contains

  !> Writes the snapshots of a gather to `path`, replacing what is there; nothing appears unless all of it succeeds. `attributes`
  !> of the file tell where they come from. The variable checksum is zlib.crc32 of the bytes of pressure as they stand in the file.
  subroutine FioSnapshots(path, gather, attributes, error)
    character(*), intent(in) :: path
    type(gather_t), intent(in) :: gather
    type(attribute_t), intent(in) :: attributes(:)
    type(error_t), allocatable, intent(inout) :: error
    type(c_ptr) :: file
    if (allocated(error)) return
    if (.not. allocated(gather%snapshots)) then
      call Fail(error, 'shot record '//Str(gather%record)//' has no snapshots')
    else if (any(shape(gather%snapshots) /= [gather%nxs, gather%nzs, gather%nsnap]) .or. size(gather%snapshots, kind=i8) == 0) then
      call Fail(error, 'the snapshots of shot record '//Str(gather%record)//' are not '//Str(gather%nxs)//' x '//Str(gather%nzs)// &
        ' nodes x '//Str(gather%nsnap)//' times')
    end if
    if (allocated(error)) return
    call FioBegin(file, path, error)
    call DefineSnapshots(file, gather, attributes, error)
    call PutSnapshots(file, gather, error)
    call FioFinish(file, path, error)
    call AddContext(error, 'writing the snapshots of shot record '//Str(gather%record))
  end subroutine FioSnapshots

  subroutine DefineSnapshots(file, gather, attributes, error)
    type(c_ptr), intent(in) :: file
    type(gather_t), intent(in) :: gather
    type(attribute_t), intent(in) :: attributes(:)
    type(error_t), allocatable, intent(inout) :: error
    call FioText(file, '', 'Conventions', 'CF-1.10', error)
    call FioText(file, '', 'format', 'snapshots 1', error)
    call FioNumbers(file, '', 'record', 'int', [real(gather%record, dp)], error)
    call FioNumbers(file, '', 'source_x_used', 'double', [gather%sx], error)
    call FioNumbers(file, '', 'source_z_used', 'double', [gather%sz], error)
    if (.not. allocated(error)) call FioAttributes(file, attributes, error)
    call FioText(file, '', 'time_dispersion_removed', 'no', error)      ! that is done to traces only, whatever the survey says
    call FioDim(file, 'time', gather%nsnap, error)
    call FioDim(file, 'z', gather%nzs, error)
    call FioDim(file, 'x', gather%nxs, error)
    call FioDefine(file, 'time', 'double', 'time', 's', 'time since time zero of the source', error)
    call FioText(file, 'time', 'axis', 'T', error)
    call FioDefine(file, 'z', 'double', 'z', 'm', 'depth', error)
    call FioText(file, 'z', 'axis', 'Z', error)
    call FioText(file, 'z', 'positive', 'down', error)
    call FioDefine(file, 'x', 'double', 'x', 'm', 'distance along the line', error)
    call FioText(file, 'x', 'axis', 'X', error)
    call FioSeals(file, error)
    call FioDefine(file, 'checksum', 'uint', '', '', 'CRC-32 of pressure', error)
    call FioText(file, 'checksum', 'comment', 'zlib.crc32 of the bytes of pressure as they stand in this file (big-endian)', error)
    call FioDefine(file, 'pressure', 'float', 'time z x', 'Pa', 'pressure', error)
    call FioText(file, 'pressure', 'comment', 'as the scheme has it, with its time dispersion; linear between two steps', error)
    if (.not. allocated(error)) call FailFromC(fio_enddef(file), error)
  end subroutine DefineSnapshots

  subroutine PutSnapshots(file, gather, error)
    type(c_ptr), intent(in) :: file
    type(gather_t), intent(in) :: gather
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: zero(3), n(3), crc
    call PutAxis(file, 'time', gather%nsnap, 0.0_dp, gather%dts, error)
    call PutAxis(file, 'z', gather%nzs, gather%zs0, gather%dzs, error)
    call PutAxis(file, 'x', gather%nxs, gather%xs0, gather%dxs, error)
    if (allocated(error)) return
    zero = 0
    n = [gather%nsnap, gather%nzs, gather%nxs]
    crc = fio_crc_floats(0_i8, product(n), gather%snapshots)
    call FailFromC(fio_put_floats(file, CString('pressure'), zero, n, gather%snapshots), error)
    call FailFromC(fio_put_longs(file, CString('checksum'), zero, n, [crc]), error)
  end subroutine PutSnapshots

  subroutine PutAxis(file, name, n, first, step, error)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: name
    integer, intent(in) :: n
    real(dp), intent(in) :: first, step
    type(error_t), allocatable, intent(inout) :: error
    integer :: i
    if (allocated(error)) return
    call FailFromC(fio_put_doubles(file, CString(name), [0_i8], [int(n, i8)], [(first + (i - 1)*step, i=1, n)]), error)
  end subroutine PutAxis

end module snapshots_m
