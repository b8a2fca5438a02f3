!> Snapshots of a shot: one NetCDF file, pressure(time, z, x), with checksums like the file of gathers; of a 3D shot each plane
!> of each field a variable, (time, y, x), (time, z, x) or (time, z, y), and maps (y, x), on centres of cells. Of elements also
!> (time, side, side_point) and (time, element, element_point), with the places of these points.
module snapshots_m
  use checked_m, only: CountOf, Whole
  use error_m, only: error_t, AddContext, Fail, FailFromC
  use fio_c, only: fio_close, fio_crc_floats, fio_enddef, fio_get_att_text, fio_open, fio_put_doubles, fio_put_floats, fio_put_longs
  use files_m, only: FileExists, FileRemove
  use fiodef_m, only: FioAttributes, FioBegin, FioDefine, FioDim, FioFinish, FioNumbers, FioHeaderChecksum, FioText
  use gather_m, only: film_missing, gather_t
  use iso_c_binding, only: c_associated, c_char, c_int, c_ptr
  use kinds_m, only: dp, i8
  use sides_m, only: SideSnapshot, SideSnapshots
  use attributes_m, only: attribute_t
  use text_m, only: CString, Str
  implicit none
  private
  public :: FioSnapshots, FioSnapshotPath, FioSnapshotsPlace, FioSnapshotsDrop, FioSnapshotsRemove

contains

  !> The file of the snapshots of a shot.
  pure function FioSnapshotPath(output, record) result(path)
    character(*), intent(in) :: output
    integer, intent(in) :: record
    character(:), allocatable :: path
    path = SideSnapshot(output, record)
  end function FioSnapshotPath

  !> Fails where something that this program did not write has the name of a shot's snapshots.
  subroutine FioSnapshotsPlace(output, record, error)
    character(*), intent(in) :: output
    integer, intent(in) :: record
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: path
    if (allocated(error)) return
    path = FioSnapshotPath(output, record)
    if (.not. FileExists(path)) return
    if (.not. Ours(path)) call Fail(error, "'"//path//"' has the name of the snapshots of shot record "//Str(record)// &
      ', but is no file of snapshots: move it away, or choose another output')
  end subroutine FioSnapshotsPlace

  !> Removes the snapshots of a shot, if there are any.
  subroutine FioSnapshotsDrop(output, record, error)
    character(*), intent(in) :: output
    integer, intent(in) :: record
    type(error_t), allocatable, intent(inout) :: error
    if (allocated(error)) return
    if (.not. FileExists(FioSnapshotPath(output, record))) return
    if (Ours(FioSnapshotPath(output, record))) call FileRemove(FioSnapshotPath(output, record), error)
  end subroutine FioSnapshotsDrop

  !> Removes the files of snapshots that belong to `output`, of whatever shots, `n` of them. A file that has the name of one but is
  !> none stays where it is, so does a link.
  subroutine FioSnapshotsRemove(output, n, error)
    character(*), intent(in) :: output
    integer, intent(out) :: n
    type(error_t), allocatable, intent(inout) :: error
    integer, allocatable :: record(:)
    integer :: i
    n = 0
    call SideSnapshots(output, record)
    do i = 1, size(record)
      if (allocated(error)) exit
      if (.not. Ours(FioSnapshotPath(output, record(i)))) cycle
      call FileRemove(FioSnapshotPath(output, record(i)), error)
      if (.not. allocated(error)) n = n + 1
    end do
  end subroutine FioSnapshotsRemove

  !> True of a file that this program wrote as one of snapshots.
  logical function Ours(path)
    character(*), intent(in) :: path
    character(kind=c_char) :: text(16)
    character(16) :: format
    type(c_ptr) :: file
    integer(i8) :: length
    integer :: i, ignored
    Ours = .false.
    file = fio_open(CString(path), 0_c_int)
    if (.not. c_associated(file)) return
    length = fio_get_att_text(file, CString(''), CString('format'), int(size(text), i8), text)
    ignored = fio_close(file)
    if (length < 1 .or. length > size(text)) return
    format = ''
    do i = 1, Whole(length)
      format(i:i) = text(i)
    end do
    Ours = format == 'snapshots 1' .or. format == 'films 1'
  end function Ours

  !> Writes the snapshots of a gather to `path`, replacing what is there; nothing appears unless all of it succeeds. `attributes`
  !> of the file tell where they come from. The variable checksum is zlib.crc32 of the bytes of pressure as they stand in the file.
  subroutine FioSnapshots(path, gather, attributes, error)
    character(*), intent(in) :: path
    type(gather_t), intent(in) :: gather
    type(attribute_t), intent(in) :: attributes(:)
    type(error_t), allocatable, intent(inout) :: error
    type(c_ptr) :: file
    logical :: films
    if (allocated(error)) return
    films = allocated(gather%film)
    if (.not. (films .or. allocated(gather%snapshots))) then
      call Fail(error, 'shot record '//Str(gather%record)//' has no snapshots')
    else if (.not. films) then
      if (any(shape(gather%snapshots) /= [gather%nxs, gather%nzs, gather%nsnap]) .or. size(gather%snapshots, kind=i8) == 0) &
        call Fail(error, 'the snapshots of shot record '//Str(gather%record)//' are not '//Str(gather%nxs)//' x '// &
        Str(gather%nzs)//' nodes x '//Str(gather%nsnap)//' times')
    end if
    if (allocated(error)) return
    call FioBegin(file, path, error)
    if (films) then
      call DefineFilms(file, gather, attributes, error)
      call PutFilms(file, gather, error)
    else
      call DefineSnapshots(file, gather, attributes, error)
      call PutSnapshots(file, gather, error)
    end if
    call FioFinish(file, path, error, slots=.false., replaces=.true.)
    call AddContext(error, 'writing the snapshots of shot record '//Str(gather%record))
  end subroutine FioSnapshots

  !> The head that files of one plane and of films share.
  subroutine DefineShot(file, format, gather, attributes, error)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: format
    type(gather_t), intent(in) :: gather
    type(attribute_t), intent(in) :: attributes(:)
    type(error_t), allocatable, intent(inout) :: error
    call FioText(file, '', 'Conventions', 'CF-1.10', error)
    call FioText(file, '', 'format', format, error)
    call FioNumbers(file, '', 'record', 'int', [real(gather%record, dp)], error)
    call FioNumbers(file, '', 'source_x_used', 'double', [gather%sx], error)
    if (allocated(gather%film)) call FioNumbers(file, '', 'source_y_used', 'double', [gather%sy], error)
    call FioNumbers(file, '', 'source_z_used', 'double', [gather%sz], error)
    if (.not. allocated(error)) call FioAttributes(file, attributes, error)
    call FioText(file, '', 'time_dispersion_removed', 'no', error)      ! that is done to traces only, whatever the survey says
  end subroutine DefineShot

  !> A dimension with its coordinate; `axis`: its letter in the CF conventions.
  subroutine DefineAxis(file, name, axis, n, unit, meaning, error)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: name, axis, unit, meaning
    integer, intent(in) :: n
    type(error_t), allocatable, intent(inout) :: error
    call FioDim(file, name, n, error)
    call FioDefine(file, name, 'double', name, unit, meaning, error)
    call FioText(file, name, 'axis', axis, error)
  end subroutine DefineAxis

  subroutine DefineSnapshots(file, gather, attributes, error)
    type(c_ptr), intent(in) :: file
    type(gather_t), intent(in) :: gather
    type(attribute_t), intent(in) :: attributes(:)
    type(error_t), allocatable, intent(inout) :: error
    call DefineShot(file, 'snapshots 1', gather, attributes, error)
    call DefineAxis(file, 'time', 'T', gather%nsnap, 's', 'time since time zero of the source', error)
    call DefineAxis(file, 'z', 'Z', gather%nzs, 'm', 'depth', error)
    call FioText(file, 'z', 'positive', 'down', error)
    call DefineAxis(file, 'x', 'X', gather%nxs, 'm', 'distance along the line', error)
    call FioHeaderChecksum(file, error)
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
    crc = fio_crc_floats(0_i8, CountOf(n), gather%snapshots)
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

  ! --- 3D -------------------------------------------------------------------------------------------------------------

  subroutine DefineFilms(file, gather, attributes, error)
    type(c_ptr), intent(in) :: file
    type(gather_t), intent(in) :: gather
    type(attribute_t), intent(in) :: attributes(:)
    type(error_t), allocatable, intent(inout) :: error
    character(*), parameter :: across(-1:3) = [character(21) :: 'element element_point', 'side side_point', 'z y', 'z x', 'y x']
    character(:), allocatable :: dims
    integer :: f
    call DefineShot(file, 'films 1', gather, attributes, error)
    if (maxval(gather%film%nt) > 0) then
      call DefineAxis(file, 'time', 'T', maxval(gather%film%nt), 's', 'time since time zero of the source', error)
      if (any([(gather%film(f)%name(1:1) == 'u', f=1, size(gather%film))])) then
        call FioText(file, 'time', 'comment', 'of velocities; pressure and displacement are half a time step later', error)
      else
        call FioText(file, 'time', 'comment', 'of velocities; pressure is half a time step later', error)
      end if
    end if
    call DefineAxis(file, 'x', 'X', gather%nf(1), 'm', 'distance along x', error)
    call DefineAxis(file, 'y', 'Y', gather%nf(2), 'm', 'distance along y', error)
    call DefineAxis(file, 'z', 'Z', gather%nf(3), 'm', 'depth', error)
    call FioText(file, 'z', 'positive', 'down', error)
    call FioText(file, 'z', 'standard_name', 'depth', error)
    do f = 1, size(gather%film)
      associate (film => gather%film(f))
        if (film%name == 'surface_x') call FioDim(file, 'side', film%n(2), error)
        if (film%name == 'surface_x') call FioDim(file, 'side_point', film%n(1), error)
        if (film%name == 'volume_x') call FioDim(file, 'element', film%n(2), error)
        if (film%name == 'volume_x') call FioDim(file, 'element_point', film%n(1), error)
      end associate
    end do
    call FioHeaderChecksum(file, error)
    do f = 1, size(gather%film)
      associate (film => gather%film(f))
        call FioDefine(file, film%name//'_checksum', 'uint', '', '', 'CRC-32 of '//film%name, error)
      end associate
    end do
    do f = 1, size(gather%film)
      associate (film => gather%film(f))
        dims = trim(across(film%axis))
        if (film%nt > 0) dims = 'time '//dims
        call FioDefine(file, film%name, 'float', dims, film%unit, film%about, error)
        if (film%axis > 0) call FioNumbers(file, film%name, 'plane_m', 'double', [film%place], error)
        if (film%axis < 1 .and. film%nt == 0) call FioNumbers(file, film%name, 'add_offset', 'double', [film%place], error)
        if (any(film%a >= film_missing)) &
          call FioNumbers(file, film%name, '_FillValue', 'float', [real(film_missing, dp)], error)
      end associate
    end do
    if (.not. allocated(error)) call FailFromC(fio_enddef(file), error)
  end subroutine DefineFilms

  subroutine PutFilms(file, gather, error)
    type(c_ptr), intent(in) :: file
    type(gather_t), intent(in) :: gather
    type(error_t), allocatable, intent(inout) :: error
    integer :: f
    if (maxval(gather%film%nt) > 0) call PutAxis(file, 'time', maxval(gather%film%nt), gather%tf, gather%dtf, error)
    call PutAxis(file, 'x', gather%nf(1), gather%xf(1), gather%df(1), error)
    call PutAxis(file, 'y', gather%nf(2), gather%xf(2), gather%df(2), error)
    call PutAxis(file, 'z', gather%nf(3), gather%xf(3), gather%df(3), error)
    do f = 1, size(gather%film)
      call PutFilm(file, gather, f, error)
    end do
  end subroutine PutFilms

  subroutine PutFilm(file, gather, f, error)
    type(c_ptr), intent(in) :: file
    type(gather_t), intent(in) :: gather
    integer, intent(in) :: f
    type(error_t), allocatable, intent(inout) :: error
    integer(i8), allocatable :: zero(:), n(:)
    integer(i8) :: crc
    if (allocated(error)) return
    associate (film => gather%film(f))
      n = int([film%nt, film%n(2), film%n(1)], i8)
      if (film%nt == 0) n = n(2:)
      allocate (zero(size(n)), source=0_i8)
      crc = fio_crc_floats(0_i8, CountOf(n), film%a)
      call FailFromC(fio_put_floats(file, CString(film%name), zero, n, film%a), error)
      if (.not. allocated(error)) call FailFromC(fio_put_longs(file, CString(film%name//'_checksum'), zero, n, [crc]), error)
    end associate
  end subroutine PutFilm

end module snapshots_m
