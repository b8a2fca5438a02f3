!> Checksums of texts.
module text_crc32_m
  use files_c, only: crc32_bytes
  use iso_c_binding, only: c_long_long
  use kinds_m, only: i8
  implicit none
  private
  public :: Crc32, Hex

contains

  !> CRC-32 of a text, the same as zlib.crc32 in Python.
  integer(i8) function Crc32(text) result(crc)
    character(*), intent(in) :: text
    crc = crc32_bytes(0_c_long_long, len(text, c_long_long), text)
  end function Crc32

  !> 8 hexadecimal digits.
  pure function Hex(crc) result(s)
    integer(i8), intent(in) :: crc
    character(8) :: s
    character(*), parameter :: digits = '0123456789abcdef'
    integer :: i, d
    do i = 1, 8
      d = int(ibits(crc, 4*(8 - i), 4))
      s(i:i) = digits(d + 1:d + 1)
    end do
  end function Hex

end module text_crc32_m
