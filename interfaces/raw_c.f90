!> Files as the bytes they are: how slots go from one file of gathers to another. A handle has one file; no other one may write to
!> it meanwhile.
module raw_c
  use iso_c_binding, only: c_char, c_int, c_long_long, c_ptr
  implicit none
  private
  public :: raw_open, raw_close, raw_find, raw_sum, raw_copy, raw_fill

  interface
    !> NULL on failure.
    type(c_ptr) function raw_open(path, writable) bind(c)
      import :: c_ptr, c_char, c_int
      implicit none
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: writable
    end function raw_open

    !> Frees; NULL is harmless. What was written need not be on the disk.
    subroutine raw_close(handle) bind(c)
      import :: c_ptr
      implicit none
      type(c_ptr), value :: handle
    end subroutine raw_close

    !> The first byte of a variable that has a slot for each of so many shots, and the bytes of a slot.
    integer(c_int) function raw_find(handle, var, shots, begin, bytes) bind(c)
      import :: c_ptr, c_int, c_char, c_long_long
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: var(*)
      integer(c_long_long), value :: shots
      integer(c_long_long), intent(out) :: begin, bytes
    end function raw_find

    !> Goes on with a CRC-32 over n bytes from `at` on.
    integer(c_int) function raw_sum(handle, at, n, crc) bind(c)
      import :: c_ptr, c_int, c_long_long
      implicit none
      type(c_ptr), value :: handle
      integer(c_long_long), value :: at, n
      integer(c_long_long), intent(inout) :: crc
    end function raw_sum

    !> Copies n bytes, and goes on with two CRC-32 over them.
    integer(c_int) function raw_copy(from, from_at, to, to_at, n, crc_from, crc_to) bind(c)
      import :: c_ptr, c_int, c_long_long
      implicit none
      type(c_ptr), value :: from, to
      integer(c_long_long), value :: from_at, to_at, n
      integer(c_long_long), intent(inout) :: crc_from, crc_to
    end function raw_copy

    !> Writes n bytes, `value` in big-endian numbers of so many bytes, again and again, and goes on with a CRC-32 over them.
    integer(c_int) function raw_fill(handle, at, n, width, value, crc) bind(c)
      import :: c_ptr, c_int, c_long_long
      implicit none
      type(c_ptr), value :: handle
      integer(c_long_long), value :: at, n, value
      integer(c_int), value :: width
      integer(c_long_long), intent(inout) :: crc
    end function raw_fill
  end interface
end module raw_c
