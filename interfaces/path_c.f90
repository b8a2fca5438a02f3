!> Questions about files that Fortran's inquire cannot answer.
module path_c
  use iso_c_binding, only: c_int, c_char
  implicit none
  private
  public :: path_input, path_output, path_same

  interface
    !> 0 if `path` (null-terminated) is a file on disk that can be read and is not empty; 1 and a sentence otherwise.
    integer(c_int) function path_input(path) bind(c)
      import :: c_int, c_char
      implicit none
      character(kind=c_char), intent(in) :: path(*)
    end function path_input

    !> 0 if a file can be written at `path` (null-terminated); 1 and a sentence otherwise. Writes nothing.
    integer(c_int) function path_output(path) bind(c)
      import :: c_int, c_char
      implicit none
      character(kind=c_char), intent(in) :: path(*)
    end function path_output

    !> 1 if the two names (null-terminated) lead to the same existing file, by links and dots too; 0 otherwise.
    integer(c_int) function path_same(a, b) bind(c)
      import :: c_int, c_char
      implicit none
      character(kind=c_char), intent(in) :: a(*), b(*)
    end function path_same
  end interface
end module path_c
