!> Questions about files that Fortran's inquire cannot answer.
module path_c
  use iso_c_binding, only: c_int, c_char
  implicit none
  private
  public :: path_input, path_output, path_same, path_beside, path_within, path_kind
  public :: path_nothing, path_file, path_file_by_link, path_folder, path_loose_link, path_other, path_hidden

  !> Results of path_kind.
  integer(c_int), parameter :: path_nothing = 0, path_file = 1, path_file_by_link = 2, path_folder = 3, path_loose_link = 4, &
                               path_other = 5, path_hidden = 6

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

    !> 1 if the two names (null-terminated) lead to the same file, by links and dots too, or would: they are the same name in the
    !> same folder; 0 otherwise.
    integer(c_int) function path_same(a, b) bind(c)
      import :: c_int, c_char
      implicit none
      character(kind=c_char), intent(in) :: a(*), b(*)
    end function path_same

    !> 1 if `path` stands in the folder of `output` under its name and something behind it, which goes to `rest`, n characters with
    !> the null; directly, or through links. 0 otherwise, also where that something is longer.
    integer(c_int) function path_beside(output, path, n, rest) bind(c)
      import :: c_int, c_char
      implicit none
      character(kind=c_char), intent(in) :: output(*), path(*)
      integer(c_int), value :: n
      character(kind=c_char), intent(out) :: rest(*)
    end function path_beside

    !> 1 if an existing file is in a folder, at any depth; 0 otherwise.
    integer(c_int) function path_within(folder, path) bind(c)
      import :: c_int, c_char
      implicit none
      character(kind=c_char), intent(in) :: folder(*), path(*)
    end function path_within

    !> The kind of what has this name: path_nothing, an ordinary file, one by a link, a folder (by a link too), a link that leads
    !> nowhere, 5, something else (a pipe, a device), or 6, nobody knows: its folder may not be entered, its disk cannot be read.
    integer(c_int) function path_kind(path) bind(c)
      import :: c_int, c_char
      implicit none
      character(kind=c_char), intent(in) :: path(*)
    end function path_kind
  end interface
end module path_c
