!> Traces as the bytes that a file of gathers has: big-endian, with a CRC-32. Sealed floats are no numbers to compute with.
module sealed_c
  use iso_c_binding, only: c_float, c_long_long
  implicit none
  private
  public :: sealed_floats, sealed_sum, crc32_joined

  interface
    !> Seals n floats, and tells the CRC-32 of their bytes. 0, or the number of the first float that is not finite, counted from 1:
    !> then they are not sealed.
    integer(c_long_long) function sealed_floats(n, from, to, crc) bind(c)
      import :: c_float, c_long_long
      implicit none
      integer(c_long_long), value :: n
      real(c_float), intent(in) :: from(*)                !< (n)
      real(c_float), intent(out) :: to(*)                 !< (n)
      integer(c_long_long), intent(out) :: crc
    end function sealed_floats

    !> CRC-32 of n sealed floats.
    integer(c_long_long) function sealed_sum(n, sealed) bind(c)
      import :: c_float, c_long_long
      implicit none
      integer(c_long_long), value :: n
      real(c_float), intent(in) :: sealed(*)              !< (n)
    end function sealed_sum

    !> CRC-32 of bytes that have the CRC-32 `first`, followed by so many that have `second`.
    integer(c_long_long) function crc32_joined(first, second, bytes) bind(c)
      import :: c_long_long
      implicit none
      integer(c_long_long), value :: first, second, bytes
    end function crc32_joined
  end interface
end module sealed_c
