!> Order of whole numbers.
module sort_m
  implicit none
  private
  public :: SortOrder

contains

  !> order(:) such that keys(order(1)) <= keys(order(2)) <= ...; equal keys keep their order (merge sort, bottom up).
  pure subroutine SortOrder(keys, order)
    integer, intent(in) :: keys(:)
    integer, allocatable, intent(out) :: order(:)
    integer, allocatable :: other(:)
    integer :: i, n, width, first
    n = size(keys)
    order = [(i, i=1, n)]
    if (all(keys(2:n) >= keys(1:max(0, n - 1)))) return    ! most maps come sorted
    allocate (other(n))
    width = 1
    do while (width < n)
      first = 1
      do while (first <= n)
        call Merge2(keys, order, other, first, min(first + width, n + 1), merge(n + 1, first + 2*width, n - first < 2*width))
        if (n - first < 2*width) exit
        first = first + 2*width
      end do
      order = other
      if (width > n/2) exit
      width = 2*width
    end do
  end subroutine SortOrder

  !> Merges the runs a..b-1 and b..c-1 of `order` into `other`.
  pure subroutine Merge2(keys, order, other, a, b, c)
    integer, intent(in) :: keys(:), order(:), a, b, c
    integer, intent(inout) :: other(:)
    integer :: i, j, k
    logical :: left
    i = a
    j = b
    do k = a, c - 1
      left = i < b
      if (left .and. j < c) left = keys(order(i)) <= keys(order(j))
      if (left) then
        other(k) = order(i)
        i = i + 1
      else
        other(k) = order(j)
        j = j + 1
      end if
    end do
  end subroutine Merge2

end module sort_m
