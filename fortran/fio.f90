!> The file of gathers of a survey: one NetCDF CDF-5 file, one slot a shot, sorted by shot record number.
!>
!> Dimensions are fixed at creation, so the header never moves and a killed writer cannot tear it. The header and the fixed
!> variables are sealed by header_bytes and header_crc32 (see FioSeals); each slot carries two checksums:
!>
!>   checksum(shot)      CRC-32 of what the shot is: geometry and traces, in the order of the variable's attribute `order`
!>   run_checksum(shot)  CRC-32 of how it was computed (seconds, device, ...): these differ from run to run
!>
!> For each name in `order`, one after the other, the bytes of the shot's whole slot as they stand in the file: big-endian,
!> missing receivers included. In Python, without masking:
!>
!>   crc = 0
!>   for name in v.order.split(): a = ds[name][slot]; crc = zlib.crc32(np.asarray(a, ds[name].dtype.newbyteorder('>')).tobytes(), crc)
!>
!> A slot counts only with status 1 and both checksums right.
module fio_m
  use, intrinsic :: ieee_arithmetic, only: ieee_is_finite, ieee_quiet_nan, ieee_value
  use error_m, only: error_t, AddContext, Fail, FailFromC
  use fio_c, only: fio_close, fio_crc_floats, fio_crc_slot, fio_dim_length, fio_enddef, fio_flush, fio_get_att_text, &
    fio_get_doubles, fio_get_floats, fio_get_longs, fio_get_text, fio_header_check, fio_open, fio_put_doubles, fio_put_floats, fio_put_longs, &
    fio_put_text, fio_sync, fio_var_rank
  use fiodef_m, only: FioAttributes, FioBegin, FioDefine, FioDim, FioFinish, FioNumbers, FioSeals, FioText
  use files_m, only: ClockSeconds, FileExists, Hex
  use gather_m, only: gather_t
  use iso_c_binding, only: c_associated, c_char, c_int, c_long_long, c_null_char, c_null_ptr, c_ptr
  use kinds_m, only: dp, i8, sp
  use shot_m, only: shot_t
  use survey_m, only: survey_t
  use text_m, only: CString, Str
  implicit none
  private
  public :: fio_t, FioCreate, FioOpen, FioPut, FioGet, FioVerify, FioMark, FioStatus, FioClose, FioBytes
  public :: fio_todo, fio_done, fio_parked

  integer, parameter :: fio_todo = 0, fio_done = 1, fio_parked = 2   !< values of status(shot)
  integer, parameter :: words = 80                                  !< characters of variant and device
  integer, parameter :: missing_channel = -2147483647

  character(*), parameter :: geometry = 'record nrec source_x source_y source_z receiver_x receiver_y receiver_z channel '// &
    'source_x_used source_z_used receiver_x_used receiver_z_used'
  character(*), parameter :: computed = 'seconds steps cells finished variant device'

  type :: fio_t
    type(c_ptr) :: handle = c_null_ptr
    character(:), allocatable :: path
    integer :: nshots = 0, nrec_max = 0, nt = 0, ncomp = 0
    real(dp) :: dt_out = 0                    !< [s]
    character(8) :: variable(3) = ''          !< the components' variables, (ncomp) of them used
    integer, allocatable :: record(:)         !< shot record numbers by slot, (nshots)
    logical :: broken = .false.               !< a write failed: the file must be closed and opened again
  end type fio_t

contains

  !> Makes the file with all its slots to do, and opens it. Nothing appears at `path` unless all of it succeeds.
  !> A file that is there is replaced only if `overwrite`. Disk space for the whole file is reserved where the file system can.
  subroutine FioCreate(fio, path, survey, overwrite, error)
    type(fio_t), intent(inout) :: fio
    character(*), intent(in) :: path
    type(survey_t), intent(in) :: survey
    logical, intent(in) :: overwrite
    type(error_t), allocatable, intent(inout) :: error
    type(c_ptr) :: handle
    real(dp) :: bytes
    call FioClose(fio, error)
    bytes = FioBytes(survey, error)
    if (allocated(error)) return
    if (.not. overwrite) then
      if (FileExists(path)) call Fail(error, "'"//path//"' exists already: set overwrite=y to start anew, or choose another output")
    end if
    if (allocated(error)) return
    call FioBegin(handle, path, error)
    if (.not. allocated(error)) call DefineFile(handle, survey, error)
    if (.not. allocated(error)) call PutFixed(handle, survey, error)
    call FioFinish(handle, path, error)
    call AddContext(error, 'output of '//Str(bytes/1.0e9_dp, 3)//' GB')
    if (allocated(error)) return
    call FioOpen(fio, path, error, survey%fingerprint)
  end subroutine FioCreate

  !> Bytes of the traces of a survey; an error if the shape is impossible.
  real(dp) function FioBytes(survey, error) result(bytes)
    type(survey_t), intent(in) :: survey
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: shape
    character(8) :: variable(3)
    integer :: i, n
    bytes = 0
    if (.not. allocated(survey%record)) then
      call Fail(error, 'a file of gathers needs at least one shot')
      return
    end if
    call Components(survey%components, variable, n, error)
    shape = Str(size(survey%record))//' shots x '//Str(survey%nrec_max)//' receivers x '//Str(survey%nt)//' samples'
    if (size(survey%record) < 1 .or. survey%nrec_max < 1 .or. survey%nt < 1 .or. .not. survey%dt_out > 0) then
      call Fail(error, 'a file of gathers of '//shape//' at '//Str(survey%dt_out)//' s is empty: all four must be above 0')
      return
    end if
    do i = 2, size(survey%record)
      if (survey%record(i) <= survey%record(i - 1)) call Fail(error, 'shot record numbers must rise: '// &
        Str(survey%record(i))//' comes after '//Str(survey%record(i - 1)))
    end do
    bytes = 4.0_dp*n*size(survey%record)*survey%nrec_max*survey%nt
    if (4.0_dp*survey%nrec_max*survey%nt > 1.6e10_dp) call Fail(error, 'one gather of '//Str(survey%nrec_max)//' receivers x '// &
      Str(survey%nt)//' samples has '//Str(4.0_dp*survey%nrec_max*survey%nt, 3)// &
      ' bytes, at most 1.6e10 can be handled: record fewer receivers a shot, or raise dt_out')
    if (bytes > 1.0e18_dp) call Fail(error, shape//' are '//Str(bytes, 3)// &
      ' bytes, a file can have 1e18: split the survey or raise dt_out')
  end function FioBytes

  !> 'p,vx' -> pressure, vx
  subroutine Components(list, variable, n, error)
    character(*), intent(in) :: list
    character(8), intent(out) :: variable(3)
    integer, intent(out) :: n
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: rest, word
    integer :: comma
    variable = ''
    n = 0
    rest = trim(adjustl(list))//','
    do while (len(rest) > 0)
      comma = index(rest, ',')
      word = trim(adjustl(rest(:comma - 1)))
      rest = rest(comma + 1:)
      if (word == 'p') word = 'pressure'
      if (all(word /= [character(8) :: 'pressure', 'vx', 'vz']) .or. any(word == variable)) then
        call Fail(error, "components = '"//list//"', must be any of p, vx, vz, each once, joined by commas")
        return
      end if
      n = n + 1
      variable(n) = word
    end do
  end subroutine Components

  ! --- what the file looks like ------------------------------------------------------------------------------------

  subroutine DefineFile(handle, survey, error)
    type(c_ptr), intent(in) :: handle
    type(survey_t), intent(in) :: survey
    type(error_t), allocatable, intent(inout) :: error
    call FioText(handle, '', 'Conventions', 'CF-1.10', error)
    call FioText(handle, '', 'format', 'gathers 1', error)
    call FioText(handle, '', 'fingerprint', survey%fingerprint, error)
    call FioText(handle, '', 'components', survey%components, error)
    if (allocated(survey%attribute)) call FioAttributes(handle, survey%attribute, error)
    call FioDim(handle, 'shot', size(survey%record), error)
    call FioDim(handle, 'receiver', survey%nrec_max, error)
    call FioDim(handle, 'time', survey%nt, error)
    call FioDim(handle, 'words', words, error)
    call FioDefine(handle, 'time', 'double', 'time', 's', 'time since time zero of the source', error)
    call FioText(handle, 'time', 'axis', 'T', error)
    call FioDefine(handle, 'record', 'int', 'shot', '', 'shot record number', error)
    call FioSeals(handle, error)
    call DefineShots(handle, error)
    call DefineGeometry(handle, error)
    call DefineTraces(handle, survey, error)
    if (.not. allocated(error)) call FailFromC(fio_enddef(handle), error)
  end subroutine DefineFile

  subroutine DefineShots(handle, error)
    type(c_ptr), intent(in) :: handle
    type(error_t), allocatable, intent(inout) :: error
    call FioDefine(handle, 'status', 'int', 'shot', '', 'state of the shot', error)
    call FioNumbers(handle, 'status', 'flag_values', 'int', [0.0_dp, 1.0_dp, 2.0_dp], error)
    call FioText(handle, 'status', 'flag_meanings', 'todo done parked', error)
    call FioText(handle, 'status', 'comment', 'nothing else of a slot means anything unless its status is 1', error)
    call FioDefine(handle, 'nrec', 'int', 'shot', '', 'number of receivers', error)
    call FioDefine(handle, 'checksum', 'uint', 'shot', '', 'CRC-32 of geometry and traces', error)
    call FioDefine(handle, 'run_checksum', 'uint', 'shot', '', 'CRC-32 of how the shot was computed', error)
    call FioDefine(handle, 'seconds', 'double', 'shot', 's', 'wall time of the time loop', error)
    call FioDefine(handle, 'steps', 'int', 'shot', '', 'time steps done', error)
    call FioDefine(handle, 'cells', 'double', 'shot', '', 'cells of the grid, absorbing layers included', error)
    call FioDefine(handle, 'finished', 'double', 'shot', 'seconds since 1970-01-01T00:00:00Z', 'when it was written', error)
    call FioDefine(handle, 'variant', 'char', 'shot words', '', 'kernel variant that computed it', error)
    call FioDefine(handle, 'device', 'char', 'shot words', '', 'processor that computed it', error)
  end subroutine DefineShots

  subroutine DefineGeometry(handle, error)
    type(c_ptr), intent(in) :: handle
    type(error_t), allocatable, intent(inout) :: error
    call FioDefine(handle, 'source_x', 'double', 'shot', 'm', 'source position along the line, asked for', error)
    call FioDefine(handle, 'source_y', 'double', 'shot', 'm', 'source position across the line, recorded only', error)
    call FioDefine(handle, 'source_z', 'double', 'shot', 'm', 'source depth, asked for', error)
    call FioDefine(handle, 'source_x_used', 'double', 'shot', 'm', 'source position along the line, used', error)
    call FioDefine(handle, 'source_z_used', 'double', 'shot', 'm', 'source depth, used', error)
    call DefineReceiver(handle, 'receiver_x', 'receiver position along the line, asked for', error)
    call DefineReceiver(handle, 'receiver_y', 'receiver position across the line, recorded only', error)
    call DefineReceiver(handle, 'receiver_z', 'receiver depth, asked for', error)
    call DefineReceiver(handle, 'receiver_x_used', 'receiver position along the line, used', error)
    call DefineReceiver(handle, 'receiver_z_used', 'receiver depth, used', error)
    call FioText(handle, 'source_z', 'positive', 'down', error)
    call FioText(handle, 'source_z_used', 'positive', 'down', error)
    call FioText(handle, 'receiver_z', 'positive', 'down', error)
    call FioText(handle, 'receiver_z_used', 'positive', 'down', error)
    call FioDefine(handle, 'channel', 'int', 'shot receiver', '', 'channel number', error)
    call FioNumbers(handle, 'channel', '_FillValue', 'int', [real(missing_channel, dp)], error)
  end subroutine DefineGeometry

  subroutine DefineReceiver(handle, name, meaning, error)
    type(c_ptr), intent(in) :: handle
    character(*), intent(in) :: name, meaning
    type(error_t), allocatable, intent(inout) :: error
    call FioDefine(handle, name, 'double', 'shot receiver', 'm', meaning, error)
    call FioNumbers(handle, name, '_FillValue', 'double', [ieee_value(1.0_dp, ieee_quiet_nan)], error)
  end subroutine DefineReceiver

  !> Traces last, so that the small variables lie together; and the order of the checksums, now that it is known.
  subroutine DefineTraces(handle, survey, error)
    type(c_ptr), intent(in) :: handle
    type(survey_t), intent(in) :: survey
    type(error_t), allocatable, intent(inout) :: error
    character(8) :: variable(3)
    character(:), allocatable :: name, order
    integer :: i, n
    call Components(survey%components, variable, n, error)
    order = geometry
    do i = 1, n
      name = trim(variable(i))
      order = order//' '//name
      if (name == 'pressure') then
        call FioDefine(handle, name, 'float', 'shot receiver time', 'Pa', 'pressure', error)
      else
        call FioDefine(handle, name, 'float', 'shot receiver time', 'm s-1', 'particle velocity '// &
          merge('along x, to the right', 'along z, downwards   ', name == 'vx'), error)
      end if
      call FioNumbers(handle, name, '_FillValue', 'float', [ieee_value(1.0_dp, ieee_quiet_nan)], error)
      call FioText(handle, name, 'coordinates', 'record receiver_x_used receiver_z_used', error)
    end do
    call DescribeSum(handle, 'checksum', order, error)
    call DescribeSum(handle, 'run_checksum', computed, error)
  end subroutine DefineTraces

  subroutine DescribeSum(handle, name, order, error)
    type(c_ptr), intent(in) :: handle
    character(*), intent(in) :: name, order
    type(error_t), allocatable, intent(inout) :: error
    call FioText(handle, name, 'order', order, error)
    call FioText(handle, name, 'comment', 'zlib.crc32 run over the variables named in order, one after the other: for each '// &
      'the bytes of the whole slot of the shot as they stand in this file (big-endian, missing receivers included)', error)
  end subroutine DescribeSum

  subroutine PutFixed(handle, survey, error)
    type(c_ptr), intent(in) :: handle
    type(survey_t), intent(in) :: survey
    type(error_t), allocatable, intent(inout) :: error
    integer :: i
    call FailFromC(fio_put_doubles(handle, CString('time'), [0_i8], [int(survey%nt, i8)], &
      [(survey%dt_out*(i - 1), i=1, survey%nt)]), error)
    call FailFromC(fio_put_longs(handle, CString('record'), [0_i8], [size(survey%record, kind=i8)], int(survey%record, i8)), error)
  end subroutine PutFixed

  ! --- opening -------------------------------------------------------------------------------------------------------

  !> Opens a file of gathers after checking its length and sealed header. With a `fingerprint` a file of another job is refused.
  subroutine FioOpen(fio, path, error, fingerprint, readonly)
    type(fio_t), intent(inout) :: fio
    character(*), intent(in) :: path
    type(error_t), allocatable, intent(inout) :: error
    character(*), intent(in), optional :: fingerprint
    logical, intent(in), optional :: readonly
    integer(c_int) :: writable
    call FioClose(fio, error)
    if (allocated(error)) return
    writable = 1
    if (present(readonly)) writable = merge(0, 1, readonly)
    fio%path = path
    call FailFromC(fio_header_check(CString(path)), error)
    if (allocated(error)) then
      if (index(error%message, 'damaged') > 0) error%message = error%message// &
        ' (restore it from a copy, or start anew with overwrite=y)'
      return
    end if
    fio%handle = fio_open(CString(path), writable)
    if (.not. c_associated(fio%handle)) call FailFromC(1, error)
    if (allocated(error)) return
    if (present(fingerprint)) call CheckFingerprint(fio, fingerprint, error)
    call ReadShape(fio, error)
    if (.not. allocated(error)) return
    if (fio_close(fio%handle) /= 0) continue   ! the first error is the one to tell
    fio%handle = c_null_ptr
  end subroutine FioOpen

  subroutine CheckFingerprint(fio, fingerprint, error)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: fingerprint
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: found
    found = GlobalText(fio, 'fingerprint')
    if (found /= fingerprint) call Fail(error, "'"//fio%path//"' belongs to another job (its fingerprint is '"//found// &
      "', this job's '"//fingerprint//"'): repeat the job that made it, set overwrite=y to start anew, or choose another output")
  end subroutine CheckFingerprint

  function GlobalText(fio, name) result(text)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: name
    character(:), allocatable :: text
    character(kind=c_char, len=1024) :: buffer
    integer(c_long_long) :: n
    n = fio_get_att_text(fio%handle, CString(''), CString(name), len(buffer, c_long_long), buffer)
    text = buffer(:min(max(n, 0_c_long_long), len(buffer, c_long_long)))
  end function GlobalText

  subroutine ReadShape(fio, error)
    type(fio_t), intent(inout) :: fio
    type(error_t), allocatable, intent(inout) :: error
    integer(i8), allocatable :: record(:)
    real(dp) :: time(2)
    if (allocated(error)) return
    fio%nshots = DimLength(fio, 'shot', error)
    fio%nrec_max = DimLength(fio, 'receiver', error)
    fio%nt = DimLength(fio, 'time', error)
    call Components(GlobalText(fio, 'components'), fio%variable, fio%ncomp, error)
    if (allocated(error)) return
    allocate (record(fio%nshots))
    call FailFromC(fio_get_longs(fio%handle, CString('record'), [0_i8], [int(fio%nshots, i8)], record), error)
    fio%record = int(record)
    time = 0
    call FailFromC(fio_get_doubles(fio%handle, CString('time'), [0_i8], [int(min(2, fio%nt), i8)], time), error)
    fio%dt_out = time(2)
  end subroutine ReadShape

  integer function DimLength(fio, name, error) result(n)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: name
    type(error_t), allocatable, intent(inout) :: error
    integer(c_long_long) :: length
    length = 0
    call FailFromC(fio_dim_length(fio%handle, CString(name), length), error)
    n = int(length)
  end function DimLength

  !> Closes; twice is harmless.
  subroutine FioClose(fio, error)
    type(fio_t), intent(inout) :: fio
    type(error_t), allocatable, intent(inout) :: error
    integer :: rc
    logical :: broken
    broken = fio%broken
    rc = 0
    if (c_associated(fio%handle)) rc = fio_close(fio%handle)
    fio%handle = c_null_ptr
    fio%broken = .false.
    ! after a failed write closing fails again, of the same cause, which was told then
    if (.not. broken) call FailFromC(rc, error)
  end subroutine FioClose

  ! --- writing -------------------------------------------------------------------------------------------------------

  !> Writes a gather into the slot of its shot. On return it is on the disk, checksums and status too; only then may it be
  !> journalled as done. `checksum` is the one in the file. After an error the slot does not count; if fio%broken, nothing more
  !> can be written until the file is closed and opened again.
  subroutine FioPut(fio, shot, gather, checksum, error)
    type(fio_t), intent(inout) :: fio
    type(shot_t), intent(in) :: shot
    type(gather_t), intent(in) :: gather
    integer(i8), intent(out) :: checksum
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: run_checksum
    integer :: slot
    checksum = 0
    slot = shot%slot
    call CheckOpen(fio, error)
    call CheckGather(fio, shot, gather, error)
    if (allocated(error)) return
    fio%broken = .true.   ! until all of it succeeded
    call PutLong(fio, 'status', slot, int(fio_todo, i8), error)
    call PutGeometry(fio, shot, gather, error)
    call PutComputed(fio, slot, gather, error)
    call SumSlot(fio, geometry, slot, checksum, error)
    call PutTraces(fio, slot, gather, checksum, error)
    run_checksum = 0
    call SumSlot(fio, computed, slot, run_checksum, error)
    ! what cannot be written must be known before the slot is marked done
    if (.not. allocated(error)) call FailFromC(fio_flush(fio%handle), error)
    call PutLong(fio, 'checksum', slot, checksum, error)
    call PutLong(fio, 'run_checksum', slot, run_checksum, error)
    call PutLong(fio, 'status', slot, int(fio_done, i8), error)
    if (.not. allocated(error)) call FailFromC(fio_sync(fio%handle), error)
    call AddContext(error, 'writing shot record '//Str(shot%record))
    fio%broken = allocated(error)
  end subroutine FioPut

  !> Notes another state of a slot (fio_todo: its traces turned out damaged; fio_parked: given up), durably.
  subroutine FioMark(fio, slot, status, error)
    type(fio_t), intent(inout) :: fio
    integer, intent(in) :: slot, status
    type(error_t), allocatable, intent(inout) :: error
    call CheckOpen(fio, error)
    if (slot < 1 .or. slot > fio%nshots) call Fail(error, "slot "//Str(slot)//" of '"//fio%path//"', must be 1.."//Str(fio%nshots))
    if (status /= fio_todo .and. status /= fio_parked) call Fail(error, 'status '//Str(status)//' cannot be set by hand')
    if (allocated(error)) return
    fio%broken = .true.
    call PutLong(fio, 'status', slot, int(status, i8), error)
    if (.not. allocated(error)) call FailFromC(fio_sync(fio%handle), error)
    fio%broken = allocated(error)
  end subroutine FioMark

  subroutine CheckOpen(fio, error)
    type(fio_t), intent(in) :: fio
    type(error_t), allocatable, intent(inout) :: error
    if (.not. c_associated(fio%handle)) then
      call Fail(error, 'the file of gathers is not open')
    else if (fio%broken) then
      call Fail(error, "an earlier write to '"//fio%path//"' failed: nothing more is written until it is opened again")
    end if
  end subroutine CheckOpen

  !> A gather that does not belong to its slot, or holds no numbers, must not be written.
  subroutine CheckGather(fio, shot, gather, error)
    type(fio_t), intent(in) :: fio
    type(shot_t), intent(in) :: shot
    type(gather_t), intent(in) :: gather
    type(error_t), allocatable, intent(inout) :: error
    integer :: j, c
    if (allocated(error)) return
    if (shot%slot < 1 .or. shot%slot > fio%nshots) then
      call Fail(error, 'shot record '//Str(shot%record)//' has slot '//Str(shot%slot)//', must be 1..'//Str(fio%nshots))
      return
    end if
    if (fio%record(shot%slot) /= shot%record .or. gather%record /= shot%record) call Fail(error, 'slot '//Str(shot%slot)// &
      ' is for shot record '//Str(fio%record(shot%slot))//', not for shot '//Str(shot%record)//' with gather '//Str(gather%record))
    if (.not. (allocated(gather%traces) .and. allocated(gather%rx) .and. allocated(gather%rz) .and. allocated(shot%rx) .and. &
      allocated(shot%ry) .and. allocated(shot%rz) .and. allocated(shot%channel))) then
      call Fail(error, 'the gather of shot record '//Str(shot%record)//' is incomplete')
      return
    end if
    if (any(shape(gather%traces) /= [fio%nt, gather%nrec, fio%ncomp]) .or. size(gather%rx) /= gather%nrec .or. &
      size(gather%rz) /= gather%nrec .or. size(shot%rx) /= gather%nrec .or. size(shot%ry) /= gather%nrec .or. &
      size(shot%rz) /= gather%nrec .or. size(shot%channel) /= gather%nrec .or. gather%nrec > fio%nrec_max) then
      call Fail(error, 'the gather of shot record '//Str(shot%record)//' has '//Str(size(gather%traces, 1))//' samples x '// &
        Str(gather%nrec)//' receivers x '//Str(size(gather%traces, 3))//' components, its slot is for '//Str(fio%nt)//' x '// &
        Str(size(shot%rx))//' (at most '//Str(fio%nrec_max)//') x '//Str(fio%ncomp))
      return
    end if
    do c = 1, fio%ncomp
      do j = 1, gather%nrec
        if (.not. all(ieee_is_finite(gather%traces(:, j, c)))) then
          call Fail(error, trim(fio%variable(c))//' of receiver '//Str(j)//' of shot record '//Str(shot%record)//' is not finite')
          return
        end if
      end do
    end do
  end subroutine CheckGather

  subroutine PutGeometry(fio, shot, gather, error)
    type(fio_t), intent(in) :: fio
    type(shot_t), intent(in) :: shot
    type(gather_t), intent(in) :: gather
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: channel(fio%nrec_max)
    integer :: slot
    slot = shot%slot
    call PutLong(fio, 'nrec', slot, int(gather%nrec, i8), error)
    call PutDouble(fio, 'source_x', slot, shot%sx, error)
    call PutDouble(fio, 'source_y', slot, shot%sy, error)
    call PutDouble(fio, 'source_z', slot, shot%sz, error)
    call PutDouble(fio, 'source_x_used', slot, gather%sx, error)
    call PutDouble(fio, 'source_z_used', slot, gather%sz, error)
    call PutReceivers(fio, 'receiver_x', slot, shot%rx, error)
    call PutReceivers(fio, 'receiver_y', slot, shot%ry, error)
    call PutReceivers(fio, 'receiver_z', slot, shot%rz, error)
    call PutReceivers(fio, 'receiver_x_used', slot, gather%rx, error)
    call PutReceivers(fio, 'receiver_z_used', slot, gather%rz, error)
    channel = missing_channel
    channel(:gather%nrec) = shot%channel
    if (.not. allocated(error)) call FailFromC(fio_put_longs(fio%handle, CString('channel'), [slot - 1_i8, 0_i8], &
      [1_i8, int(fio%nrec_max, i8)], channel), error)
  end subroutine PutGeometry

  subroutine PutComputed(fio, slot, gather, error)
    type(fio_t), intent(in) :: fio
    integer, intent(in) :: slot
    type(gather_t), intent(in) :: gather
    type(error_t), allocatable, intent(inout) :: error
    call PutDouble(fio, 'seconds', slot, gather%seconds, error)
    call PutLong(fio, 'steps', slot, int(gather%steps, i8), error)
    call PutDouble(fio, 'cells', slot, gather%cells, error)
    call PutDouble(fio, 'finished', slot, ClockSeconds(), error)
    call PutWords(fio, 'variant', slot, gather%variant, error)
    call PutWords(fio, 'device', slot, gather%device, error)
  end subroutine PutComputed

  !> The traces as given, then NaN for the receivers that are not there; goes on with the checksum over what was given.
  subroutine PutTraces(fio, slot, gather, crc, error)
    type(fio_t), intent(in) :: fio
    integer, intent(in) :: slot
    type(gather_t), intent(in) :: gather
    integer(i8), intent(inout) :: crc
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: none(:, :)
    integer :: c
    allocate (none(fio%nt, fio%nrec_max - gather%nrec), source=ieee_value(1.0_sp, ieee_quiet_nan))
    do c = 1, fio%ncomp
      call PutBlock(fio, trim(fio%variable(c)), slot, 0, gather%nrec, gather%traces(:, :, c), crc, error)
      call PutBlock(fio, trim(fio%variable(c)), slot, gather%nrec, size(none, 2), none, crc, error)
    end do
  end subroutine PutTraces

  subroutine PutBlock(fio, name, slot, first, n, traces, crc, error)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: name
    integer, intent(in) :: slot, first, n
    real(sp), intent(in) :: traces(fio%nt, n)
    integer(i8), intent(inout) :: crc
    type(error_t), allocatable, intent(inout) :: error
    if (allocated(error) .or. n == 0) return
    call FailFromC(fio_put_floats(fio%handle, CString(name), [slot - 1_i8, int(first, i8), 0_i8], &
      [1_i8, int(n, i8), int(fio%nt, i8)], traces), error)
    crc = fio_crc_floats(crc, int(fio%nt, i8)*n, traces)
  end subroutine PutBlock

  subroutine PutLong(fio, name, slot, value, error)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: name
    integer, intent(in) :: slot
    integer(i8), intent(in) :: value
    type(error_t), allocatable, intent(inout) :: error
    if (allocated(error)) return
    call FailFromC(fio_put_longs(fio%handle, CString(name), [slot - 1_i8], [1_i8], [value]), error)
  end subroutine PutLong

  subroutine PutDouble(fio, name, slot, value, error)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: name
    integer, intent(in) :: slot
    real(dp), intent(in) :: value
    type(error_t), allocatable, intent(inout) :: error
    if (allocated(error)) return
    call FailFromC(fio_put_doubles(fio%handle, CString(name), [slot - 1_i8], [1_i8], [value]), error)
  end subroutine PutDouble

  subroutine PutReceivers(fio, name, slot, values, error)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: name
    integer, intent(in) :: slot
    real(dp), intent(in) :: values(:)
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: all_of_them(fio%nrec_max)
    if (allocated(error)) return
    all_of_them = ieee_value(1.0_dp, ieee_quiet_nan)
    all_of_them(:size(values)) = values
    call FailFromC(fio_put_doubles(fio%handle, CString(name), [slot - 1_i8, 0_i8], [1_i8, int(fio%nrec_max, i8)], &
      all_of_them), error)
  end subroutine PutReceivers

  subroutine PutWords(fio, name, slot, text, error)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: name
    integer, intent(in) :: slot
    character(:), allocatable, intent(in) :: text
    type(error_t), allocatable, intent(inout) :: error
    character(words) :: buffer
    if (allocated(error)) return
    buffer = repeat(c_null_char, words)
    if (allocated(text)) buffer(:min(words, len(text))) = text(:min(words, len(text)))
    call FailFromC(fio_put_text(fio%handle, CString(name), [slot - 1_i8, 0_i8], [1_i8, int(words, i8)], buffer), error)
  end subroutine PutWords

  ! --- reading -------------------------------------------------------------------------------------------------------

  !> Goes on with a CRC-32 over the slot in the variables named, in that order.
  subroutine SumSlot(fio, names, slot, crc, error)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: names
    integer, intent(in) :: slot
    integer(i8), intent(inout) :: crc
    type(error_t), allocatable, intent(inout) :: error
    integer :: first, last
    first = 1
    do while (first <= len_trim(names))
      last = index(names(first:)//' ', ' ') + first - 2
      if (allocated(error)) return
      call FailFromC(fio_crc_slot(fio%handle, CString(names(first:last)), slot - 1_i8, crc), error)
      first = last + 2
    end do
  end subroutine SumSlot

  !> Reads a slot back and compares it with its checksums: an error says what is wrong with it. `checksum` is to be compared with
  !> the one in the journal.
  subroutine FioVerify(fio, slot, checksum, error)
    type(fio_t), intent(in) :: fio
    integer, intent(in) :: slot
    integer(i8), intent(out) :: checksum
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: run
    integer :: i
    checksum = 0
    run = 0
    call CheckOpen(fio, error)
    if (slot < 1 .or. slot > fio%nshots) call Fail(error, "slot "//Str(slot)//" of '"//fio%path//"', must be 1.."//Str(fio%nshots))
    if (allocated(error)) return
    if (GetLong(fio, 'status', slot, error) /= fio_done) call Fail(error, 'shot record '//Str(fio%record(slot))//" of '"// &
      fio%path//"' is not marked done")
    call SumSlot(fio, geometry, slot, checksum, error)
    do i = 1, fio%ncomp
      call SumSlot(fio, trim(fio%variable(i)), slot, checksum, error)
    end do
    call SumSlot(fio, computed, slot, run, error)
    call Compare(fio, 'checksum', slot, checksum, error)
    call Compare(fio, 'run_checksum', slot, run, error)
  end subroutine FioVerify

  subroutine Compare(fio, name, slot, found, error)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: name
    integer, intent(in) :: slot
    integer(i8), intent(in) :: found
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: stored
    stored = GetLong(fio, name, slot, error)
    if (stored /= found) call Fail(error, 'shot record '//Str(fio%record(slot))//" of '"//fio%path//"' is damaged: "//name// &
      ' of its data is '//Hex(found)//', must be '//Hex(stored))
  end subroutine Compare

  integer(i8) function GetLong(fio, name, slot, error) result(value)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: name
    integer, intent(in) :: slot
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: values(1)
    values = -1
    if (.not. allocated(error)) call FailFromC(fio_get_longs(fio%handle, CString(name), [slot - 1_i8], [1_i8], values), error)
    value = values(1)
  end function GetLong

  !> Status of all slots: fio_todo, fio_done or fio_parked.
  subroutine FioStatus(fio, status, error)
    type(fio_t), intent(in) :: fio
    integer, allocatable, intent(out) :: status(:)
    type(error_t), allocatable, intent(inout) :: error
    integer(i8), allocatable :: values(:)
    allocate (values(fio%nshots), source=0_i8)
    call CheckOpen(fio, error)
    if (.not. allocated(error)) then
      call FailFromC(fio_get_longs(fio%handle, CString('status'), [0_i8], [int(fio%nshots, i8)], values), error)
    end if
    status = int(values)
  end subroutine FioStatus

  !> Reads a gather, verified. Positions are those used.
  subroutine FioGet(fio, slot, gather, error)
    type(fio_t), intent(in) :: fio
    integer, intent(in) :: slot
    type(gather_t), intent(out) :: gather
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: checksum
    integer :: c
    call FioVerify(fio, slot, checksum, error)
    if (allocated(error)) return
    gather%slot = slot
    gather%record = fio%record(slot)
    gather%nt = fio%nt
    gather%ncomp = fio%ncomp
    gather%nrec = int(GetLong(fio, 'nrec', slot, error))
    gather%steps = int(GetLong(fio, 'steps', slot, error))
    call GetDoubles(fio, 'source_x_used', slot, gather%sx, error)
    call GetDoubles(fio, 'source_z_used', slot, gather%sz, error)
    call GetDoubles(fio, 'seconds', slot, gather%seconds, error)
    call GetDoubles(fio, 'cells', slot, gather%cells, error)
    gather%variant = GetWords(fio, 'variant', slot, error)
    gather%device = GetWords(fio, 'device', slot, error)
    allocate (gather%rx(gather%nrec), gather%rz(gather%nrec), gather%traces(fio%nt, gather%nrec, fio%ncomp))
    call GetReceivers(fio, 'receiver_x_used', slot, gather%rx, error)
    call GetReceivers(fio, 'receiver_z_used', slot, gather%rz, error)
    do c = 1, fio%ncomp
      if (allocated(error)) return
      call FailFromC(fio_get_floats(fio%handle, CString(trim(fio%variable(c))), [slot - 1_i8, 0_i8, 0_i8], &
        [1_i8, int(gather%nrec, i8), int(fio%nt, i8)], gather%traces(:, :, c)), error)
    end do
  end subroutine FioGet

  subroutine GetDoubles(fio, name, slot, value, error)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: name
    integer, intent(in) :: slot
    real(dp), intent(inout) :: value
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: values(1)
    if (allocated(error)) return
    values = 0
    call FailFromC(fio_get_doubles(fio%handle, CString(name), [slot - 1_i8], [1_i8], values), error)
    value = values(1)
  end subroutine GetDoubles

  subroutine GetReceivers(fio, name, slot, values, error)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: name
    integer, intent(in) :: slot
    real(dp), intent(inout) :: values(:)
    type(error_t), allocatable, intent(inout) :: error
    if (allocated(error)) return
    call FailFromC(fio_get_doubles(fio%handle, CString(name), [slot - 1_i8, 0_i8], [1_i8, size(values, kind=i8)], values), error)
  end subroutine GetReceivers

  function GetWords(fio, name, slot, error) result(text)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: name
    integer, intent(in) :: slot
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: text
    character(words) :: buffer
    buffer = ''
    if (.not. allocated(error)) call FailFromC(fio_get_text(fio%handle, CString(name), [slot - 1_i8, 0_i8], &
      [1_i8, int(words, i8)], buffer), error)
    text = buffer
    if (index(text, c_null_char) > 0) text = text(:index(text, c_null_char) - 1)
  end function GetWords

end module fio_m
