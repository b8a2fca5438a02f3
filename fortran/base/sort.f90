!> Order of whole numbers, and places among them.
module sort_m
  use kinds_m, only: i8
  implicit none
  private
  public :: SortOrder, SortFind

  !> order(:) such that keys(order(1)) <= keys(order(2)) <= ...; equal keys keep their order.
  interface SortOrder
    module procedure OrderInts, OrderLongs
  end interface SortOrder

contains

  !> Place of a number among rising ones, 0 if it is none of them.
  pure integer function SortFind(numbers, number) result(at)
    integer, intent(in) :: numbers(:), number
    integer :: high, middle
    at = 1
    high = size(numbers)
    do while (at < high)
      middle = (at + high)/2
      if (numbers(middle) < number) then
        at = middle + 1
      else
        high = middle
      end if
    end do
    if (at > high) then
      at = 0
    else if (numbers(at) /= number) then
      at = 0
    end if
  end function SortFind

  !> Merge sort, bottom up.
  pure subroutine OrderInts(keys, order)
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
  end subroutine OrderInts

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

  !> Radix sort: by the lowest 11 bits, then the next, ... Keys are 0 or more.
  pure subroutine OrderLongs(keys, order)
    integer(i8), intent(in) :: keys(:)
    integer, allocatable, intent(out) :: order(:)
    integer, parameter :: bits = 11, all_bits = 63
    integer, allocatable :: other(:)
    integer :: place(0:2**bits), i, shift, digit
    order = [(i, i=1, size(keys))]
    allocate (other(size(keys)))
    do shift = 0, all_bits - 1, bits
      place = 0
      do i = 1, size(keys)
        digit = int(ibits(keys(i), shift, min(bits, all_bits - shift)))
        place(digit + 1) = place(digit + 1) + 1
      end do
      if (any(place == size(keys))) cycle                 ! all have the same digit
      place(0) = 1
      do digit = 1, 2**bits
        place(digit) = place(digit) + place(digit - 1)
      end do
      do i = 1, size(keys)
        digit = int(ibits(keys(order(i)), shift, min(bits, all_bits - shift)))
        other(place(digit)) = order(i)
        place(digit) = place(digit) + 1
      end do
      order = other
    end do
  end subroutine OrderLongs

end module sort_m
