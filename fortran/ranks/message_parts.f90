!> Long messages travel in parts, one after the other, as MPI counts numbers by default integers. Both sides cut alike; what a rank
!> sends to another with one tag arrives in order.
module message_parts_m
  use kinds_m, only: i8
  implicit none
  private
  public :: Parts, PartBegin, PartLength

  integer(i8), public :: part_most = 2_i8**28   !< numbers of a part; tests take fewer, on all ranks

contains

  !> Parts that n numbers travel in; none of none.
  pure integer function Parts(n)
    integer(i8), intent(in) :: n
    Parts = int((n + part_most - 1)/part_most)
  end function Parts

  !> The first number of part m.
  pure integer(i8) function PartBegin(m)
    integer, intent(in) :: m
    PartBegin = (m - 1)*part_most + 1
  end function PartBegin

  !> The numbers that part m of n has.
  pure integer function PartLength(n, m)
    integer(i8), intent(in) :: n
    integer, intent(in) :: m
    PartLength = int(min(part_most, n - (m - 1)*part_most))
  end function PartLength

end module message_parts_m
