!> The sum that a receiver samples, whatever the order of its terms: what cuda_c/handle/receiver_sum.h is in C. Parts 1, 2, 3 times
!> receiver_scale add up to the sum, which is 0 where it would be denormal; those of all subdomains that hold cells of a receiver
!> round to the bits of one that holds all.
module receiver_sum_m
  use kinds_m, only: dp, sp
  implicit none
  private
  public :: receiver_sum_t, ReceiverAdd, ReceiverPart

  integer, parameter, public :: receiver_parts = 3
  integer, parameter :: bits = 24, first = 40
  real(dp), parameter, public :: receiver_scale(receiver_parts) = 2.0_dp**[-first, -first - bits, -first - 2*bits]

  type :: receiver_sum_t
    real(dp) :: sum = 0, rest = 0             !< rest: what rounding left of the sum so far
  end type receiver_sum_t

contains

  !> Adds without error (Knuth 1969, The Art of Computer Programming 2, section 4.2.2, theorem B).
  elemental subroutine ReceiverAdd(s, term)
    type(receiver_sum_t), intent(inout) :: s
    real(dp), intent(in) :: term
    real(dp) :: total, added
    total = s%sum + term
    added = total - s%sum
    s%rest = s%rest + ((s%sum - (total - added)) + (term - added))
    s%sum = total
  end subroutine ReceiverAdd

  !> Part 0 is the sum.
  elemental real(sp) function ReceiverPart(s, part) result(value)
    type(receiver_sum_t), intent(in) :: s
    integer, intent(in) :: part
    real(dp) :: left, less, rest
    integer :: p
    left = s%sum + s%rest
    value = real(left, sp)
    if (part == 0 .and. abs(left) < tiny(value)) value = sign(0.0_sp, value)
    if (part == 0) return
    rest = scale(s%rest + (s%sum - left), first)
    left = scale(left, first)
    value = real(left, sp)
    do p = 2, part
      less = left - value
      left = scale(less + rest, bits)
      rest = scale(rest + (less - scale(left, -bits)), bits)
      value = real(left, sp)
    end do
  end function ReceiverPart

end module receiver_sum_m
