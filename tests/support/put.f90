!> Files that tests write, whole.
module put_m
  use, intrinsic :: iso_fortran_env, only: int8
  use kinds_m, only: sp
  implicit none
  private
  public :: Put

  !> Writes text, bytes or numbers as they are, in place of what was there.
  interface Put
    module procedure PutText, PutBytes, PutNumbers
  end interface Put

contains

  integer function Opened(path) result(unit)
    character(*), intent(in) :: path
    open (newunit=unit, file=path, access='stream', form='unformatted', status='replace', action='write')
  end function Opened

  subroutine PutText(path, text)
    character(*), intent(in) :: path, text
    integer :: unit
    unit = Opened(path)
    write (unit) text
    close (unit)
  end subroutine PutText

  subroutine PutBytes(path, bytes)
    character(*), intent(in) :: path
    integer(int8), intent(in) :: bytes(:)
    integer :: unit
    unit = Opened(path)
    write (unit) bytes
    close (unit)
  end subroutine PutBytes

  subroutine PutNumbers(path, numbers)
    character(*), intent(in) :: path
    real(sp), intent(in) :: numbers(:)
    integer :: unit
    unit = Opened(path)
    write (unit) numbers
    close (unit)
  end subroutine PutNumbers

end module put_m
