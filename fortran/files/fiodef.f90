!> Defining NetCDF files: dimensions, described variables, attributes. Each call does nothing once `error` is set.
module fiodef_m
  use error_m, only: error_t, Fail, FailFromC
  use fio_c, only: fio_close, fio_create, fio_dim, fio_header_checksum, fio_numbers, fio_text, fio_var
  use files_c, only: file_cut, file_reserve
  use files_m, only: FileAppear, FileHalf, FileRemove, FileRename, FileSync
  use iso_c_binding, only: c_associated, c_int, c_long_long, c_null_ptr, c_ptr
  use kinds_m, only: dp
  use attributes_m, only: attribute_t
  use text_m, only: CString
  implicit none
  private
  public :: FioBegin, FioFinish, FioDim, FioDefine, FioText, FioNumbers, FioAttributes, FioHeaderChecksum

contains

  !> A new file under a temporary name beside `path`, in define mode.
  subroutine FioBegin(handle, path, error)
    type(c_ptr), intent(out) :: handle
    character(*), intent(in) :: path
    type(error_t), allocatable, intent(inout) :: error
    handle = fio_create(CString(FileHalf(path)))
    if (.not. c_associated(handle)) call FailFromC(1, error)
  end subroutine FioBegin

  !> Puts the checksum of the header, gives the file its full length on the disk, closes it and lets it appear as `path`, durably.
  !> After an error nothing of it remains. `handle` is null on return. `slots`: what follows the header and its checksum is filled
  !> in later, and zeros until then. `replaces`: one that is there goes; else it stays, and that is an error.
  subroutine FioFinish(handle, path, error, slots, replaces)
    type(c_ptr), intent(inout) :: handle
    character(*), intent(in) :: path
    type(error_t), allocatable, intent(inout) :: error
    logical, intent(in) :: slots, replaces
    type(error_t), allocatable :: second
    integer(c_long_long) :: fixed, bytes
    fixed = 0
    bytes = 0
    if (.not. allocated(error)) call FailFromC(fio_header_checksum(handle, fixed, bytes), error)
    ! the space first: closing would otherwise stretch the file with a hole that may not fit later
    if (.not. allocated(error)) call FailFromC(file_reserve(CString(FileHalf(path)), CString(path), bytes), error)
    if (c_associated(handle)) call FailFromC(fio_close(handle), error)
    handle = c_null_ptr
    ! where the header is longer than its buffer the library leaves pieces of it in the slots, and a small file longer than all that
    ! is in it
    if (slots .and. .not. allocated(error)) call FailFromC(file_cut(CString(FileHalf(path)), fixed), error)
    if (slots .and. .not. allocated(error)) call FailFromC(file_reserve(CString(FileHalf(path)), CString(path), bytes), error)
    if (.not. allocated(error)) call FailFromC(file_cut(CString(FileHalf(path)), bytes), error)
    if (.not. allocated(error)) call FileSync(FileHalf(path), error)
    if (replaces .and. .not. allocated(error)) call FileRename(FileHalf(path), path, error)
    if (.not. replaces .and. .not. allocated(error)) call FileAppear(FileHalf(path), path, error)
    if (allocated(error)) call FileRemove(FileHalf(path), second)
  end subroutine FioFinish

  subroutine FioDim(handle, name, length, error)
    type(c_ptr), intent(in) :: handle
    character(*), intent(in) :: name
    integer, intent(in) :: length
    type(error_t), allocatable, intent(inout) :: error
    if (allocated(error)) return
    call FailFromC(fio_dim(handle, CString(name), int(length, c_long_long)), error)
  end subroutine FioDim

  !> A variable with its dimensions (slowest first, joined by blanks), unit ('' = none) and meaning.
  subroutine FioDefine(handle, name, type, dims, units, meaning, error)
    type(c_ptr), intent(in) :: handle
    character(*), intent(in) :: name, type, dims, units, meaning
    type(error_t), allocatable, intent(inout) :: error
    if (allocated(error)) return
    call FailFromC(fio_var(handle, CString(name), CString(type), CString(dims)), error)
    call FioText(handle, name, 'long_name', meaning, error)
    if (units /= '') call FioText(handle, name, 'units', units, error)
  end subroutine FioDefine

  !> Text attribute of a variable; var = '': of the file.
  subroutine FioText(handle, var, name, text, error)
    type(c_ptr), intent(in) :: handle
    character(*), intent(in) :: var, name, text
    type(error_t), allocatable, intent(inout) :: error
    if (allocated(error)) return
    call FailFromC(fio_text(handle, CString(var), CString(name), CString(text)), error)
  end subroutine FioText

  !> Numeric attribute of a variable; var = '': of the file. `type` as in FioDefine.
  subroutine FioNumbers(handle, var, name, type, values, error)
    type(c_ptr), intent(in) :: handle
    character(*), intent(in) :: var, name, type
    real(dp), intent(in) :: values(:)
    type(error_t), allocatable, intent(inout) :: error
    if (allocated(error)) return
    call FailFromC(fio_numbers(handle, CString(var), CString(name), CString(type), int(size(values), c_int), values), error)
  end subroutine FioNumbers

  !> Attributes of the file as the caller gave them.
  subroutine FioAttributes(handle, attributes, error)
    type(c_ptr), intent(in) :: handle
    type(attribute_t), intent(in) :: attributes(:)
    type(error_t), allocatable, intent(inout) :: error
    integer :: i
    do i = 1, size(attributes)
      if (allocated(attributes(i)%text)) then
        call FioText(handle, '', attributes(i)%name, attributes(i)%text, error)
      else if (allocated(attributes(i)%values)) then
        call FioNumbers(handle, '', attributes(i)%name, 'double', attributes(i)%values, error)
      else
        call Fail(error, 'attribute '//attributes(i)%name//' has neither text nor numbers')
      end if
    end do
  end subroutine FioAttributes

  !> The two variables with length and checksum of the header; define the fixed variables before, all others after.
  subroutine FioHeaderChecksum(handle, error)
    type(c_ptr), intent(in) :: handle
    type(error_t), allocatable, intent(inout) :: error
    call FioDefine(handle, 'header_bytes', 'int64', '', '', 'number of the first bytes of this file that never change', error)
    call FioDefine(handle, 'header_crc32', 'uint', '', '', 'CRC-32 of the first header_bytes bytes of this file', error)
    call FioText(handle, 'header_crc32', 'comment', &
      'in Python: zlib.crc32(open(path, "rb").read(header_bytes)) == header_crc32', error)
  end subroutine FioHeaderChecksum

end module fiodef_m
