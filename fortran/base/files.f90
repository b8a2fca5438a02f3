!> Files for the Fortran side: thin wrappers of C that fail with sentences.
module files_m
  use error_m, only: error_t, Fail, FailFromC
  use files_c, only: append_close, append_open, append_write, file_appear, file_commit, file_exists, file_halves_remove, &
    file_read_bytes, file_remove, file_rename, file_size, file_space, file_sync, file_token
  use iso_c_binding, only: c_associated, c_char, c_int, c_long_long, c_ptr
  use kinds_m, only: dp, i8
  use path_c, only: path_same
  use text_m, only: CString, Str
  implicit none
  private
  public :: FileExists, FileSize, FileSpace, FileCommit, FileSync, FileRename, FileAppear, FileRemove
  public :: FileText, FileHead, FileHalf, FileWrite
  public :: FileHalvesRemove, FileSame

contains

  logical function FileExists(path)
    character(*), intent(in) :: path
    FileExists = file_exists(CString(path)) == 1
  end function FileExists

  !> Bytes of a readable ordinary file; anything else is an error that says what it is.
  subroutine FileSize(path, bytes, error)
    character(*), intent(in) :: path
    integer(i8), intent(out) :: bytes
    type(error_t), allocatable, intent(inout) :: error
    call FailFromC(file_size(CString(path), bytes), error)
  end subroutine FileSize

  !> Bytes that may still be written to the disk of a file, -1 where that is not known.
  real(dp) function FileSpace(path)
    character(*), intent(in) :: path
    FileSpace = file_space(CString(path))
  end function FileSpace

  !> Seconds until so many bytes and a line are safe on the disk of a folder; -1 where that cannot be tried. Leaves nothing.
  real(dp) function FileCommit(folder, bytes) result(seconds)
    character(*), intent(in) :: folder
    real(dp), intent(in) :: bytes
    seconds = file_commit(CString(folder), int(min(bytes, 1.0e9_dp), c_long_long))
  end function FileCommit

  !> Returns when all that was written to the file is on the disk.
  subroutine FileSync(path, error)
    character(*), intent(in) :: path
    type(error_t), allocatable, intent(inout) :: error
    call FailFromC(file_sync(CString(path)), error)
  end subroutine FileSync

  !> Renames in one step, replacing what is there; durable on return.
  subroutine FileRename(from, to, error)
    character(*), intent(in) :: from, to
    type(error_t), allocatable, intent(inout) :: error
    call FailFromC(file_rename(CString(from), CString(to)), error)
  end subroutine FileRename

  !> Lets a new file appear under the name `to`; one that is there stays, and that is an error. After an error nothing has appeared.
  subroutine FileAppear(from, to, error)
    character(*), intent(in) :: from, to
    type(error_t), allocatable, intent(inout) :: error
    call FailFromC(file_appear(CString(from), CString(to)), error)
  end subroutine FileAppear

  !> Removes a file; one that is not there is fine.
  subroutine FileRemove(path, error)
    character(*), intent(in) :: path
    type(error_t), allocatable, intent(inout) :: error
    call FailFromC(file_remove(CString(path)), error)
  end subroutine FileRemove

  !> The name under which a new file is made, to be renamed to `path` when it is whole: one that no other process gives. That of a
  !> half is no longer than it: names of files beside an output stay short.
  function FileHalf(path) result(name)
    character(*), intent(in) :: path
    character(:), allocatable :: name
    character(kind=c_char) :: token(17)
    character(16) :: word
    integer :: i
    call file_token(token)
    do i = 1, len(word)
      word(i:i) = token(i)
    end do
    name = path//'.'//word//'.half'
    i = len(path) - len('.'//word//'.half')
    if (i < 1) return
    if (path(i + 1:) == '.'//word//'.half') name = path(:i)//'.'//word(9:)//word(:8)//'.half'
  end function FileHalf

  !> Writes a text to a file that is whole and on the disk under its name, replacing what is there, or does not appear at all.
  subroutine FileWrite(path, text, error)
    character(*), intent(in) :: path, text
    type(error_t), allocatable, intent(inout) :: error
    type(error_t), allocatable :: ignored
    type(c_ptr) :: file
    call FileRemove(FileHalf(path), ignored)
    file = append_open(CString(FileHalf(path)))
    if (.not. c_associated(file)) call FailFromC(1, error)
    if (.not. allocated(error)) call FailFromC(append_write(file, text, len(text, i8), 1_c_int), error)
    call append_close(file)
    if (.not. allocated(error)) call FileRename(FileHalf(path), path, error)
    if (allocated(error)) call FileRemove(FileHalf(path), ignored)
  end subroutine FileWrite

  !> Removes what processes that were killed left half-made of an output and of what lies beside it.
  subroutine FileHalvesRemove(output)
    character(*), intent(in) :: output
    call file_halves_remove(CString(output))
  end subroutine FileHalvesRemove

  !> The whole file as text, byte for byte.
  subroutine FileText(path, text, error)
    character(*), intent(in) :: path
    character(:), allocatable, intent(out) :: text
    type(error_t), allocatable, intent(inout) :: error
    call FileHead(path, huge(0_i8), text, error)
  end subroutine FileText

  !> The first bytes of a file, at most so many, as text.
  subroutine FileHead(path, most, text, error)
    character(*), intent(in) :: path
    integer(i8), intent(in) :: most
    character(:), allocatable, intent(out) :: text
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: n
    integer :: rc
    text = ''
    call FileSize(path, n, error)
    if (allocated(error)) return
    n = min(n, most)
    deallocate (text)
    allocate (character(n) :: text, stat=rc)
    if (rc /= 0) then
      text = ''
      call Fail(error, "out of memory for '"//path//"', which has "//Str(n)//' bytes')
      return
    end if
    call FailFromC(file_read_bytes(CString(path), 0_c_long_long, n, text), error)
    if (allocated(error)) text = ''
  end subroutine FileHead

  !> Do two paths lead to the same file, or are they the same text?
  logical function FileSame(a, b)
    character(*), intent(in) :: a, b
    FileSame = .false.
    if (a == '' .or. b == '') return
    FileSame = path_same(CString(a), CString(b)) == 1
    if (a == b) FileSame = .true.
  end function FileSame

end module files_m
