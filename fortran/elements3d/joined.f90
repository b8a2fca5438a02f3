!> Things that are joined to others, by way of others too, are a part: of each the lowest number in its part is found.
module joined_m
  implicit none
  private
  public :: Join, First

contains

  !> lower: of each thing one of its part that is not higher, itself to begin with.
  pure subroutine Join(lower, a, b)
    integer, intent(inout) :: lower(:)
    integer, intent(in) :: a, b
    integer :: i, j
    call First(lower, a, i)
    call First(lower, b, j)
    lower(max(i, j)) = min(i, j)
  end subroutine Join

  !> The first of the part of a, as far as things were joined; shortens the way there.
  pure subroutine First(lower, a, i)
    integer, intent(inout) :: lower(:)
    integer, intent(in) :: a
    integer, intent(out) :: i
    i = a
    do while (lower(i) /= i)
      lower(i) = lower(lower(i))
      i = lower(i)
    end do
  end subroutine First

end module joined_m
