!> Names to numbers 1, 2, ... in the order they come, found again in constant time (open addressing).
module nametable_m
  use kinds_m, only: i8
  implicit none
  private
  public :: nametable_t, NameNumber, name_length

  integer, parameter :: name_length = 64      !< longest name; check before you call

  type :: nametable_t
    integer :: n = 0
    character(name_length), allocatable :: name(:)  !< (>= n)
    integer, allocatable :: place(:)          !< hash table of numbers, 0 = free; its size is a power of two
  end type nametable_t

contains

  !> Number of `name`; a new one is added.
  integer function NameNumber(table, name) result(number)
    type(nametable_t), intent(inout) :: table
    character(*), intent(in) :: name
    integer :: p
    if (.not. allocated(table%place)) then
      allocate (table%place(64), source=0)
      allocate (table%name(32))
    end if
    p = PlaceOf(table, name)
    number = table%place(p)
    if (number > 0) return
    table%n = table%n + 1
    number = table%n
    table%name(number) = name
    table%place(p) = number
    if (table%n == size(table%name)) call Grow(table)
  end function NameNumber

  !> The place of `name` in the hash table or, if it is new, the place that it would get.
  pure integer function PlaceOf(table, name) result(p)
    type(nametable_t), intent(in) :: table
    character(*), intent(in) :: name
    integer(i8) :: h
    integer :: i
    h = 5381
    do i = 1, len_trim(name)
      h = iand(33*h + ichar(name(i:i)), 2147483647_i8)
    end do
    p = int(iand(ieor(h, ishft(h, -15)), int(size(table%place) - 1, i8))) + 1
    do while (table%place(p) > 0)
      if (table%name(table%place(p)) == name) return
      p = mod(p, size(table%place)) + 1
    end do
  end function PlaceOf

  !> Doubles the room; the hash table stays at most half full.
  subroutine Grow(table)
    type(nametable_t), intent(inout) :: table
    character(name_length), allocatable :: old(:)
    integer :: i, p
    call move_alloc(table%name, old)
    allocate (table%name(2*size(old)))
    table%name(:table%n) = old(:table%n)
    deallocate (table%place)
    allocate (table%place(4*size(old)), source=0)
    do i = 1, table%n
      p = PlaceOf(table, table%name(i))
      table%place(p) = i
    end do
  end subroutine Grow

end module nametable_m
