!> A checksum of floats: 64 bits, fast enough to be taken of every message and state.
module checksum_c
  use iso_c_binding, only: c_float, c_long_long
  implicit none
  private
  public :: checksum_floats

  interface
    !> Goes on from `start` (0 at first) with n floats, by their bits. A change within one pair of floats is always found, any other
    !> but for one in 2**64.
    integer(c_long_long) function checksum_floats(start, n, values) bind(c)
      import :: c_float, c_long_long
      implicit none
      integer(c_long_long), value :: start, n
      real(c_float), intent(in) :: values(*)              !< (n)
    end function checksum_floats
  end interface
end module checksum_c
