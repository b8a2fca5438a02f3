!> Numbers that came from outside, from a file, a parameter or another rank, on their way to sizes and places: they may be anything.
!> Nothing here overflows, and nothing traps, signalling NaNs included; out of range is reported or limited, as the caller asks.
module checked_m
  use kinds_m, only: dp, i4, i8, sp
  implicit none
  private
  public :: CountOf, Whole, IsWhole, Finite, Between, Unpacked, Below, Above

  !> Product of the counts along the sides of an array; -1 where one is negative or the product exceeds 64 bits.
  interface CountOf
    module procedure CountOfInts, CountOfLongs
  end interface CountOf

  !> A default integer: the number itself, of a real the one next to it; lo or hi where it is below or above, lo where it is none.
  interface Whole
    module procedure WholeOfReal, WholeOfLong
  end interface Whole

  !> True where x is neither infinite nor NaN; a test of its bits.
  interface Finite
    module procedure FiniteSingle, FiniteDouble
  end interface Finite

  integer(i4), parameter :: exponent_sp = int(z'7f800000', i4)
  integer(i8), parameter :: exponent_dp = int(z'7ff0000000000000', i8)

contains

  pure integer(i8) function CountOfLongs(n) result(count)
    integer(i8), intent(in) :: n(:)
    integer :: i
    count = merge(-1, 0, any(n < 0))
    if (any(n <= 0)) return
    count = 1
    do i = 1, size(n)
      if (n(i) > huge(count)/count) then
        count = -1
        return
      end if
      count = count*n(i)
    end do
  end function CountOfLongs

  pure integer(i8) function CountOfInts(n) result(count)
    integer, intent(in) :: n(:)
    count = CountOfLongs(int(n, i8))
  end function CountOfInts

  elemental integer function WholeOfLong(n, lo, hi) result(whole)
    integer(i8), intent(in) :: n
    integer, intent(in), optional :: lo, hi           !< -huge, huge
    integer :: low, high
    call Limits(low, high, lo, hi)
    whole = int(max(int(low, i8), min(int(high, i8), n)))
  end function WholeOfLong

  elemental integer function WholeOfReal(x, lo, hi) result(whole)
    real(dp), intent(in) :: x
    integer, intent(in), optional :: lo, hi           !< -huge, huge
    integer :: low, high
    call Limits(low, high, lo, hi)
    whole = low
    if (NoNumber(x)) return
    whole = nint(max(real(low, dp), min(real(high, dp), x)))
  end function WholeOfReal

  pure subroutine Limits(low, high, lo, hi)
    integer, intent(out) :: low, high
    integer, intent(in), optional :: lo, hi
    low = -huge(low)
    high = huge(high)
    if (present(lo)) low = lo
    if (present(hi)) high = hi
  end subroutine Limits

  elemental logical function FiniteSingle(x) result(yes)
    real(sp), intent(in) :: x
    yes = iand(transfer(x, 0_i4), exponent_sp) /= exponent_sp
  end function FiniteSingle

  elemental logical function FiniteDouble(x) result(yes)
    real(dp), intent(in) :: x
    yes = iand(transfer(x, 0_i8), exponent_dp) /= exponent_dp
  end function FiniteDouble

  elemental logical function NoNumber(x) result(yes)
    real(dp), intent(in) :: x
    yes = iand(transfer(x, 0_i8), huge(0_i8)) > exponent_dp
  end function NoNumber

  !> lo <= x <= hi; false for what is no number.
  elemental logical function Between(x, lo, hi) result(yes)
    real(dp), intent(in) :: x, lo, hi
    yes = .false.
    if (Finite(x)) yes = x >= lo .and. x <= hi
  end function Between

  !> True where x is a whole number in lo .. hi, default integers.
  elemental logical function IsWhole(x, lo, hi) result(yes)
    real(dp), intent(in) :: x
    integer, intent(in) :: lo, hi
    yes = .false.
    if (Between(x, real(lo, dp), real(hi, dp))) yes = abs(x - aint(x)) <= 0
  end function IsWhole

  !> A number of a packed variable, stored*scale + offset; infinite where that is beyond 1e300 or cannot be told. Stored NaN and
  !> infinities stay so.
  elemental real(dp) function Unpacked(stored, scale, offset) result(x)
    real(dp), intent(in) :: stored, scale, offset
    real(dp), parameter :: most = 1.0e300_dp
    x = stored
    if (.not. Finite(stored)) return
    x = transfer(exponent_dp, x)
    if (.not. (Between(stored, -most, most) .and. Between(scale, -most, most) .and. Between(offset, -most, most))) return
    if (abs(scale) > 1) then
      if (abs(stored) > most/abs(scale)) return
    end if
    x = stored*scale + offset
  end function Unpacked

  !> The largest whole number that is not above x, as a real, which has no limits; NaN and infinities stay.
  elemental real(dp) function Below(x) result(whole)
    real(dp), intent(in) :: x
    whole = x
    if (.not. Finite(x)) return
    whole = aint(x)
    if (whole > x) whole = whole - 1
  end function Below

  !> The smallest whole number that is not below x.
  elemental real(dp) function Above(x) result(whole)
    real(dp), intent(in) :: x
    whole = -Below(-x)
  end function Above

end module checked_m
