!> A scratch folder of our own.
module scratch_c
  use iso_c_binding, only: c_char, c_int
  implicit none
  private
  public :: scratch_make, scratch_remove

  interface
    !> Makes an empty folder that nobody else can enter, below TMPDIR or /tmp; its null-terminated path into `path(n)`.
    integer(c_int) function scratch_make(path, n) bind(c)
      import :: c_char, c_int
      implicit none
      integer(c_int), value :: n
      character(kind=c_char), intent(out) :: path(n)
    end function scratch_make

    !> Removes the files in the folder and the folder; it must have been made by scratch_make and hold no folders.
    integer(c_int) function scratch_remove(path) bind(c)
      import :: c_char, c_int
      implicit none
      character(kind=c_char), intent(in) :: path(*)
    end function scratch_remove
  end interface
end module scratch_c
