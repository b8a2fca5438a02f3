!> A fingerprint of numbers: two polynomials modulo the prime 2**31 - 1 (62 bits), without overflow.
module hash_m
  use kinds_m, only: dp, i4, i8
  implicit none
  private
  public :: hash_t, HashAdd, HashText

  integer(i8), parameter :: prime = 2147483647_i8
  integer(i8), parameter :: base(2) = [1103515245_i8, 1664525_i8]

  type :: hash_t
    integer(i8) :: h(2) = [1_i8, 2_i8]
  end type hash_t

  !> Mixes in an integer, a real, or an array of them, a checksum, or another fingerprint.
  interface HashAdd
    module procedure AddInteger, AddReal, AddIntegers, AddReals, AddSum, AddHash
  end interface HashAdd

contains

  pure subroutine AddInteger(hash, i)
    type(hash_t), intent(inout) :: hash
    integer, intent(in) :: i
    hash%h = mod(hash%h*base + iand(int(i, i8), int(z'ffffffff', i8)), prime)
  end subroutine AddInteger

  pure subroutine AddReal(hash, x)
    type(hash_t), intent(inout) :: hash
    real(dp), intent(in) :: x
    integer(i4) :: bits(2)
    bits = transfer(x + 0.0_dp, bits)         ! + 0 turns -0 into 0: the same place
    call AddInteger(hash, bits(1))
    call AddInteger(hash, bits(2))
  end subroutine AddReal

  pure subroutine AddIntegers(hash, i)
    type(hash_t), intent(inout) :: hash
    integer, intent(in) :: i(:)
    integer :: n
    do n = 1, size(i)
      call AddInteger(hash, i(n))
    end do
  end subroutine AddIntegers

  pure subroutine AddReals(hash, x)
    type(hash_t), intent(inout) :: hash
    real(dp), intent(in) :: x(:)
    integer :: n
    do n = 1, size(x)
      call AddReal(hash, x(n))
    end do
  end subroutine AddReals

  !> All 64 bits, in parts smaller than the prime.
  pure subroutine AddSum(hash, sum)
    type(hash_t), intent(inout) :: hash
    integer(i8), intent(in) :: sum
    call AddInteger(hash, int(ibits(sum, 0, 31)))
    call AddInteger(hash, int(ibits(sum, 31, 31)))
    call AddInteger(hash, int(ibits(sum, 62, 2)))
  end subroutine AddSum

  pure subroutine AddHash(hash, other)
    type(hash_t), intent(inout) :: hash
    type(hash_t), intent(in) :: other
    call AddInteger(hash, int(other%h(1)))
    call AddInteger(hash, int(other%h(2)))
  end subroutine AddHash

  !> The fingerprint as 16 hexadecimal digits.
  pure function HashText(hash) result(text)
    type(hash_t), intent(in) :: hash
    character(16) :: text
    write (text, '(z8.8,z8.8)') hash%h
  end function HashText

end module hash_m
