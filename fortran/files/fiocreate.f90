!> Making a file of gathers: its shape, its variables and what they say about themselves. See fio.f90 for the layout.
module fiocreate_m
  use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value
  use error_m, only: error_t, Fail, FailFromC
  use fio_c, only: fio_close, fio_enddef, fio_put_doubles, fio_put_longs, fio_put_text, fio_tally, fio_tally_bytes
  use fiodef_m, only: FioAttributes, FioBegin, FioDefine, FioDim, FioFinish, FioNumbers, FioHeaderChecksum, FioText
  use fiofile_m, only: Components, computed, fio_t, FioClose, FioOpen, missing_channel, most_components, Ordered, words
  use files_m, only: FileExists
  use iso_c_binding, only: c_associated, c_null_char, c_ptr
  use kinds_m, only: dp, i8
  use gather_header_m, only: gather_header_t
  use text_m, only: Counted, CString, Str
  implicit none
  private
  public :: FioCreate, FioBytes

contains

  !> Makes the file with all its slots to do, and opens it. Nothing appears at `path` unless all of it succeeds.
  !> A file that is there is replaced only if `overwrite`. Disk space for the whole file is reserved where the file system can.
  subroutine FioCreate(fio, path, header, overwrite, error, made)
    type(fio_t), intent(inout) :: fio
    character(*), intent(in) :: path
    type(gather_header_t), intent(in) :: header
    logical, intent(in) :: overwrite
    type(error_t), allocatable, intent(inout) :: error
    logical, intent(out), optional :: made          !< it has appeared, though it may not be open
    type(c_ptr) :: handle
    if (present(made)) made = .false.
    call FioClose(fio, error)
    call CheckShape(header, error)
    if (allocated(error)) return
    if (.not. overwrite) then
      if (FileExists(path)) call Fail(error, "'"//path//"' exists already: set overwrite=y to start anew, or choose another output")
    end if
    if (allocated(error)) return
    call FioBegin(handle, path, error)
    if (.not. allocated(error)) call DefineFile(handle, header, error)
    if (.not. allocated(error)) call PutFixed(handle, header, error)
    call FioFinish(handle, path, error, slots=.true., replaces=overwrite)
    if (allocated(error)) return
    if (present(made)) made = .true.
    call FioOpen(fio, path, error, header%fingerprint)
  end subroutine FioCreate

  !> Bytes of the file of a survey, to the last; an error if the shape is impossible.
  real(dp) function FioBytes(header, error) result(bytes)
    type(gather_header_t), intent(in) :: header
    type(error_t), allocatable, intent(inout) :: error
    type(c_ptr) :: handle
    integer :: ignored
    bytes = 0
    call CheckShape(header, error)
    if (allocated(error)) return
    handle = fio_tally()
    if (.not. c_associated(handle)) call FailFromC(1, error)
    call DefineFile(handle, header, error)
    if (.not. allocated(error)) bytes = fio_tally_bytes(handle)
    ignored = fio_close(handle)
  end function FioBytes

  !> Refuses what no file can hold.
  subroutine CheckShape(header, error)
    type(gather_header_t), intent(in) :: header
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: shape
    character(8) :: variable(most_components)
    real(dp) :: bytes
    integer :: i, n
    if (.not. allocated(header%record)) then
      call Fail(error, 'a file of gathers needs at least one shot')
      return
    end if
    call Components(header%components, variable, n, error)
    shape = Counted(size(header%record), 'shot')//' x '//Counted(header%nrec_max, 'receiver')//' x '//Str(header%nt)//' samples'
    if (size(header%record) < 1 .or. header%nrec_max < 1 .or. header%nt < 1 .or. .not. header%dt_out > 0) then
      call Fail(error, 'a file of gathers of '//shape//' at '//Str(header%dt_out)//' s is empty: all four must be above 0')
      return
    end if
    do i = 2, size(header%record)
      if (header%record(i) <= header%record(i - 1)) call Fail(error, 'shot record numbers must rise: '// &
        Str(header%record(i))//' comes after '//Str(header%record(i - 1)))
    end do
    bytes = 4.0_dp*n*size(header%record)*header%nrec_max*header%nt
    if (4.0_dp*header%nrec_max*header%nt > 1.6e10_dp) call Fail(error, 'one gather of '//Str(header%nrec_max)//' receivers x '// &
      Str(header%nt)//' samples has '//Str(4.0_dp*header%nrec_max*header%nt, 3)// &
      ' bytes, at most 1.6e10 can be handled: record fewer receivers a shot, or raise dt_out')
    if (bytes > 1.0e18_dp) call Fail(error, shape//' are '//Str(bytes, 3)// &
      ' bytes, a file can have 1e18: split the survey or raise dt_out')
  end subroutine CheckShape

  ! --- what the file looks like ------------------------------------------------------------------------------------

  subroutine DefineFile(handle, header, error)
    type(c_ptr), intent(in) :: handle
    type(gather_header_t), intent(in) :: header
    type(error_t), allocatable, intent(inout) :: error
    call FioText(handle, '', 'Conventions', 'CF-1.10', error)
    call FioText(handle, '', 'format', 'gathers 1', error)
    call FioText(handle, '', 'fingerprint', header%fingerprint, error)
    call FioText(handle, '', 'components', header%components, error)
    if (allocated(header%attribute)) call FioAttributes(handle, header%attribute, error)
    call FioDim(handle, 'shot', size(header%record), error)
    call FioDim(handle, 'receiver', header%nrec_max, error)
    call FioDim(handle, 'time', header%nt, error)
    call FioDim(handle, 'words', words, error)
    call FioDefine(handle, 'time', 'double', 'time', 's', 'time since time zero of the source', error)
    call FioText(handle, 'time', 'axis', 'T', error)
    call FioDefine(handle, 'record', 'int', 'shot', '', 'shot record number', error)
    if (header%navigation /= '') call DefineLines(handle, size(LineNames(header)), header%navigation, error)
    call FioHeaderChecksum(handle, error)
    call DefineShots(handle, error)
    call DefineGeometry(handle, header%y_used, error)
    if (header%navigation /= '') call DefineNavigation(handle, error)
    call DefineTraces(handle, header, error)
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

  subroutine DefineGeometry(handle, y_used, error)
    type(c_ptr), intent(in) :: handle
    logical, intent(in) :: y_used
    type(error_t), allocatable, intent(inout) :: error
    call FioDefine(handle, 'source_x', 'double', 'shot', 'm', 'source position along the line, asked for', error)
    call FioDefine(handle, 'source_y', 'double', 'shot', 'm', 'source position across the line, '//Recorded(), error)
    call FioDefine(handle, 'source_z', 'double', 'shot', 'm', 'source depth, asked for', error)
    call FioDefine(handle, 'source_x_used', 'double', 'shot', 'm', 'source position along the line, used', error)
    call FioDefine(handle, 'source_z_used', 'double', 'shot', 'm', 'source depth, used', error)
    call DefineReceiver(handle, 'receiver_x', 'receiver position along the line, asked for', error)
    call DefineReceiver(handle, 'receiver_y', 'receiver position across the line, '//Recorded(), error)
    call DefineReceiver(handle, 'receiver_z', 'receiver depth, asked for', error)
    call DefineReceiver(handle, 'receiver_x_used', 'receiver position along the line, used', error)
    call DefineReceiver(handle, 'receiver_z_used', 'receiver depth, used', error)
    if (y_used) then
      call FioDefine(handle, 'source_y_used', 'double', 'shot', 'm', 'source position across the line, used', error)
      call DefineReceiver(handle, 'receiver_y_used', 'receiver position across the line, used', error)
    end if
    call FioText(handle, 'source_z', 'positive', 'down', error)
    call FioText(handle, 'source_z_used', 'positive', 'down', error)
    call FioText(handle, 'receiver_z', 'positive', 'down', error)
    call FioText(handle, 'receiver_z_used', 'positive', 'down', error)
    call FioDefine(handle, 'channel', 'int', 'shot receiver', '', 'channel number', error)
    call FioNumbers(handle, 'channel', '_FillValue', 'int', [real(missing_channel, dp)], error)
  contains
    pure function Recorded() result(s)
      character(:), allocatable :: s
      s = trim(merge('asked for    ', 'recorded only', y_used))
    end function Recorded
  end subroutine DefineGeometry

  !> The names of lines, which navigation names by number; they are as fixed as the header.
  subroutine DefineLines(handle, n, fingerprint, error)
    type(c_ptr), intent(in) :: handle
    integer, intent(in) :: n
    character(*), intent(in) :: fingerprint
    type(error_t), allocatable, intent(inout) :: error
    call FioText(handle, '', 'navigation_hash', fingerprint, error)
    call FioDim(handle, 'line', n, error)
    call FioDefine(handle, 'line_name', 'char', 'line words', '', 'names of the lines 1, 2, ... of sources and receivers', error)
  end subroutine DefineLines

  !> Names of lines; one without letters where there are none, for a dimension has a length.
  pure function LineNames(header) result(names)
    type(gather_header_t), intent(in) :: header
    character(words), allocatable :: names(:)
    integer :: i, n
    n = 0
    if (allocated(header%line)) n = size(header%line)
    allocate (names(max(1, n)))
    names = repeat(c_null_char, words)
    do i = 1, n
      names(i)(:len_trim(header%line(i))) = header%line(i)
    end do
  end function LineNames

  !> Positions on the map and the numbers that the survey gave, as they stand in the key-map.
  subroutine DefineNavigation(handle, error)
    type(c_ptr), intent(in) :: handle
    type(error_t), allocatable, intent(inout) :: error
    call FioDefine(handle, 'source_easting', 'double', 'shot', 'm', 'easting of the source', error)
    call FioDefine(handle, 'source_northing', 'double', 'shot', 'm', 'northing of the source', error)
    call FioDefine(handle, 'source_height', 'double', 'shot', 'm', 'height of the source', error)
    call FioText(handle, 'source_height', 'positive', 'up', error)
    call FioDefine(handle, 'shot_point', 'double', 'shot', '', 'shot point number of the survey; NaN = not known', error)
    call FioDefine(handle, 'source_line', 'int', 'shot', '', 'line of the source, counted from 1 in line_name; 0 = not known', &
                   error)
    call DefineReceiver(handle, 'receiver_easting', 'easting of the receiver', error)
    call DefineReceiver(handle, 'receiver_northing', 'northing of the receiver', error)
    call DefineReceiver(handle, 'receiver_height', 'height of the receiver', error)
    call FioText(handle, 'receiver_height', 'positive', 'up', error)
    call FioDefine(handle, 'receiver_line', 'int', 'shot receiver', '', 'line of the receiver, counted from 1 in line_name; '// &
                   '0 = not known', error)
    call FioDefine(handle, 'receiver_station', 'double', 'shot receiver', '', 'station number of the receiver; NaN = not known', &
                   error)
  end subroutine DefineNavigation

  subroutine DefineReceiver(handle, name, meaning, error)
    type(c_ptr), intent(in) :: handle
    character(*), intent(in) :: name, meaning
    type(error_t), allocatable, intent(inout) :: error
    call FioDefine(handle, name, 'double', 'shot receiver', 'm', meaning, error)
    call FioNumbers(handle, name, '_FillValue', 'double', [ieee_value(1.0_dp, ieee_quiet_nan)], error)
  end subroutine DefineReceiver

  !> Traces last, so that the small variables lie together; and the order of the checksums, now that it is known.
  subroutine DefineTraces(handle, header, error)
    type(c_ptr), intent(in) :: handle
    type(gather_header_t), intent(in) :: header
    type(error_t), allocatable, intent(inout) :: error
    character(8) :: variable(most_components)
    character(:), allocatable :: name, order, unit, meaning
    integer :: i, n
    call Components(header%components, variable, n, error)
    order = Ordered(header%y_used, header%navigation /= '')
    do i = 1, n
      name = trim(variable(i))
      order = order//' '//name
      call Meaning_(name, unit, meaning)
      call FioDefine(handle, name, 'float', 'shot receiver time', unit, meaning, error)
      call FioNumbers(handle, name, '_FillValue', 'float', [ieee_value(1.0_dp, ieee_quiet_nan)], error)
      if (header%y_used) then
        call FioText(handle, name, 'coordinates', 'record receiver_x_used receiver_y_used receiver_z_used', error)
      else
        call FioText(handle, name, 'coordinates', 'record receiver_x_used receiver_z_used', error)
      end if
    end do
    call DescribeSum(handle, 'checksum', order, error)
    call DescribeSum(handle, 'run_checksum', computed, error)
  end subroutine DefineTraces

  !> Unit and meaning of a component.
  pure subroutine Meaning_(name, unit, meaning)
    character(*), intent(in) :: name
    character(:), allocatable, intent(out) :: unit, meaning
    character(3), parameter :: xyz = 'xyz'
    integer :: a, b
    select case (name(1:1))
    case ('p')
      unit = 'Pa'
      meaning = 'pressure'
    case ('v')
      unit = 'm s-1'
      meaning = 'particle velocity along x, to the right'
      if (name == 'vy') meaning = 'particle velocity along y'
      if (name == 'vz') meaning = 'particle velocity along z, downwards'
    case ('s')
      unit = 'Pa'
      meaning = 'stress, component '//name(2:3)//', tension positive'
    case ('u')
      unit = 'm'
      meaning = 'displacement along '//name(2:2)//Down(name)
    case ('a')
      unit = 'm s-2'
      meaning = 'acceleration along '//name(2:2)//Down(name)
    case ('e')
      unit = 's-1'
      meaning = 'rate of strain, component '//name(2:3)
    case default
      unit = 's-1'
      a = modulo(index(xyz, name(2:2)), 3) + 1                  ! x, y, z in turn: axes may be left-handed
      b = modulo(a, 3) + 1
      meaning = 'rate of rotation about '//name(2:2)//', (dv'//xyz(b:b)//'/d'//xyz(a:a)//' - dv'//xyz(a:a)//'/d'//xyz(b:b)//')/2'
    end select

  contains

    pure function Down(name) result(words)
      character(*), intent(in) :: name
      character(:), allocatable :: words
      words = trim(merge(', downwards', '           ', name(2:2) == 'z'))
    end function Down
  end subroutine Meaning_

  subroutine DescribeSum(handle, name, order, error)
    type(c_ptr), intent(in) :: handle
    character(*), intent(in) :: name, order
    type(error_t), allocatable, intent(inout) :: error
    call FioText(handle, name, 'order', order, error)
    call FioText(handle, name, 'comment', 'zlib.crc32 run over the variables named in order, one after the other: for each '// &
      'the bytes of the whole slot of the shot as they stand in this file (big-endian, missing receivers included)', error)
  end subroutine DescribeSum

  subroutine PutFixed(handle, header, error)
    type(c_ptr), intent(in) :: handle
    type(gather_header_t), intent(in) :: header
    type(error_t), allocatable, intent(inout) :: error
    character(words), allocatable :: names(:)
    integer :: i
    call FailFromC(fio_put_doubles(handle, CString('time'), [0_i8], [int(header%nt, i8)], &
      [(header%dt_out*(i - 1), i=1, header%nt)]), error)
    call FailFromC(fio_put_longs(handle, CString('record'), [0_i8], [size(header%record, kind=i8)], int(header%record, i8)), error)
    if (header%navigation == '') return
    names = LineNames(header)
    do i = 1, size(names)
      call FailFromC(fio_put_text(handle, CString('line_name'), [i - 1_i8, 0_i8], [1_i8, int(words, i8)], names(i)), error)
    end do
  end subroutine PutFixed

end module fiocreate_m
