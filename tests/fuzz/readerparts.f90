!> Common parts of tests/fuzz/readers*.f90: verdicts, inputs of several parts, files made from them.
module readerparts_m
  use error_m, only: error_t
  use iso_c_binding, only: c_char, c_int, c_long
  use text_m, only: CString
  implicit none
  private
  public :: Contradiction, Put, Split, Text, Verdict

  character, parameter, public :: lf = achar(10)
  integer(c_int), parameter, public :: refused = 0, taken = 1
  integer(c_int), parameter :: wrong = -1
  character, parameter :: between = achar(1)     !< parts two files of one input

  interface
    integer(c_int) function creat(path, mode) bind(c)
      import :: c_char, c_int
      implicit none
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: mode
    end function creat
    integer(c_long) function write_bytes(file, bytes, n) bind(c, name='write')
      import :: c_char, c_int, c_long
      implicit none
      integer(c_int), value :: file
      character(kind=c_char), intent(in) :: bytes(*)
      integer(c_long), value :: n
    end function write_bytes
    integer(c_int) function close(file) bind(c)
      import :: c_int
      implicit none
      integer(c_int), value :: file
    end function close
  end interface

contains

  !> A refusal must say something a person can use.
  integer(c_int) function Verdict(error) result(outcome)
    type(error_t), allocatable, intent(in) :: error
    outcome = taken
    if (.not. allocated(error)) return
    outcome = refused
    if (len(error%message) < 15) outcome = Contradiction("'"//error%message//"' is no sentence")
  end function Verdict

  integer(c_int) function Contradiction(why) result(outcome)
    use, intrinsic :: iso_fortran_env, only: output_unit
    character(*), intent(in) :: why
    outcome = wrong
    write (output_unit, '(a)') 'contradiction: '//why
    flush (output_unit)
  end function Contradiction

  !> The parts of the input before and behind the first separator.
  subroutine Split(input, before, behind)
    character(*), intent(in) :: input
    character(:), allocatable, intent(out) :: before, behind
    integer :: p
    p = index(input, between)
    if (p == 0) p = len(input) + 1
    before = input(:p - 1)
    behind = input(min(p, len(input)) + 1:)
  end subroutine Split

  !> A file of these bytes; a Fortran unit would take several times as long as most readers do.
  subroutine Put(path, text)
    character(*), intent(in) :: path, text
    integer(c_int), parameter :: mode = int(o'600', c_int)
    integer(c_int) :: file, ignored
    integer(c_long) :: written
    file = creat(CString(path), mode)
    if (file < 0) return
    written = write_bytes(file, text, len(text, c_long))
    ignored = close(file)
    if (written /= len(text)) error stop 'the file of an input cannot be written'
  end subroutine Put

  pure function Text(chars) result(t)
    character(kind=c_char), intent(in) :: chars(:)
    character(:), allocatable :: t
    integer :: i
    allocate (character(size(chars)) :: t)
    do i = 1, size(chars)
      t(i:i) = chars(i)
    end do
  end function Text

end module readerparts_m
