!> The verbs that the engines of all solvers in C have, with the same arguments; interfaces/fd2d_c.f90 explains each of them.
module c_verbs_m
  use iso_c_binding, only: c_char, c_float, c_int, c_long_long, c_ptr
  implicit none
  private
  public :: c_verbs_t

  abstract interface
    subroutine free_i(handle) bind(c)
      import :: c_ptr
      type(c_ptr), value :: handle
    end subroutine free_i

    integer(c_int) function reset_i(handle) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle
    end function reset_i

    integer(c_int) function number_i(handle, n) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), value :: n
    end function number_i

    integer(c_int) function steps_i(handle, it, n) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), value :: it, n
    end function steps_i

    integer(c_int) function traces_i(handle, it, n, out) bind(c)
      import :: c_float, c_int, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), value :: it, n
      real(c_float), intent(out) :: out(*)
    end function traces_i

    integer(c_int) function largest_i(handle, value, i, j, k) bind(c)
      import :: c_float, c_int, c_ptr
      type(c_ptr), value :: handle
      real(c_float), intent(out) :: value
      integer(c_int), intent(out) :: i, j, k           !< from 0
    end function largest_i

    integer(c_long_long) function size_i(handle, steps) bind(c)
      import :: c_int, c_long_long, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), value :: steps
    end function size_i

    integer(c_int) function save_i(handle, n, state) bind(c)
      import :: c_float, c_int, c_long_long, c_ptr
      type(c_ptr), value :: handle
      integer(c_long_long), value :: n
      real(c_float), intent(out) :: state(*)
    end function save_i

    integer(c_int) function load_i(handle, first, steps, n, state) bind(c)
      import :: c_float, c_int, c_long_long, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), value :: first, steps
      integer(c_long_long), value :: n
      real(c_float), intent(in) :: state(*)
    end function load_i

    integer(c_long_long) function memory_i(handle) bind(c)
      import :: c_long_long, c_ptr
      type(c_ptr), value :: handle
    end function memory_i

    integer(c_int) function text_i(handle, length, text) bind(c)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), value :: length
      character(kind=c_char), intent(out) :: text(*)
    end function text_i
  end interface

  type :: c_verbs_t
    procedure(free_i), pointer, nopass :: free => null()
    procedure(number_i), pointer, nopass :: threads => null(), pending => null()
    procedure(steps_i), pointer, nopass :: timestep => null()
    procedure(traces_i), pointer, nopass :: traces => null()
    procedure(largest_i), pointer, nopass :: maxabs => null(), peak => null()
    procedure(reset_i), pointer, nopass :: reset => null()
    procedure(size_i), pointer, nopass :: state_size => null()
    procedure(save_i), pointer, nopass :: save => null()
    procedure(load_i), pointer, nopass :: load => null()
    procedure(memory_i), pointer, nopass :: bytes => null()
    procedure(text_i), pointer, nopass :: device => null()
  end type c_verbs_t

end module c_verbs_m
