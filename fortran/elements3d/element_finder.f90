!> Finds the element of a place.
module element_finder_m
  use hexahedron_m, only: HexBox, HexFind, HexNearest
  use kinds_m, only: dp
  implicit none
  private
  public :: finder_t, FinderMake, FinderFind, FinderInside, FinderWithin

  integer, parameter :: children = 8
  real(dp), parameter, public :: rounding = 1.0e-9_dp     !< a place so close to an element is in it,
  real(dp), parameter :: margin = 1.0e-6_dp               !< so close is moved into it; of half an element

  !> Boxes around elements, around 8 of them, around 8 of those, and so on; near elements should follow each other (MeshOrder).
  type :: finder_t
    integer :: levels = 0
    integer, allocatable :: first(:)                      !< boxes of level l are first(l) .. first(l+1)-1, those of elements first
    real(dp), allocatable :: low(:, :), high(:, :)        !< [m], (3, boxes)
  end type finder_t

  !> A search: the place, and the best element found so far.
  type :: search_t
    real(dp) :: x(3) = 0
    integer :: element = 0                                !< 0: none yet
    real(dp) :: xi(3) = 0
    real(dp) :: off = huge(1.0_dp)                        !< so far outside of its element, as xi or in metres
  end type search_t

contains

  !> corner (3, per, elements) [m].
  pure subroutine FinderMake(finder, corner)
    type(finder_t), intent(out) :: finder
    real(dp), intent(in) :: corner(:, :, :)
    integer :: n, l, b, from, to
    n = size(corner, 3)
    finder%first = [1, n + 1]
    if (n == 0) return
    finder%levels = 1
    do while (n > 1)
      n = (n - 1)/children + 1
      finder%levels = finder%levels + 1
      finder%first = [finder%first, finder%first(finder%levels) + n]
    end do
    allocate (finder%low(3, finder%first(finder%levels + 1) - 1), finder%high(3, finder%first(finder%levels + 1) - 1))
    do b = 1, size(corner, 3)
      call HexBox(corner(:, :, b), finder%low(:, b), finder%high(:, b))
    end do
    do l = 2, finder%levels
      do b = finder%first(l), finder%first(l + 1) - 1
        call Below(finder, l, b, from, to)
        finder%low(:, b) = minval(finder%low(:, from:to), 2)
        finder%high(:, b) = maxval(finder%high(:, from:to), 2)
      end do
    end do
  end subroutine FinderMake

  !> The boxes within box b of level l.
  pure subroutine Below(finder, l, b, from, to)
    type(finder_t), intent(in) :: finder
    integer, intent(in) :: l, b
    integer, intent(out) :: from, to
    from = finder%first(l - 1) + children*(b - finder%first(l))
    to = min(from + children, finder%first(l)) - 1
  end subroutine Below

  !> The element of place x and where it is in it. A place on a face belongs to the element of lowest number. A place outside gets
  !> the nearest place of an element: away [m] tells how far that is, 0 where it is below 1e-6 of half an element.
  !> element = 0: there are no elements.
  pure subroutine FinderFind(finder, corner, x, element, xi, away)
    type(finder_t), intent(in) :: finder
    real(dp), intent(in) :: corner(:, :, :), x(3)
    integer, intent(out) :: element
    real(dp), intent(out) :: xi(3), away
    type(search_t) :: nearest
    away = 0
    call FinderInside(finder, corner, x, element, xi)
    if (finder%levels == 0 .or. element > 0) return
    nearest%x = x
    call Approach(finder, corner, finder%levels, finder%first(finder%levels), nearest)
    element = nearest%element
    xi = nearest%xi
    away = nearest%off
  end subroutine FinderFind

  !> The same, but element = 0 of a place outside, which takes no search for the nearest one. off: so far beyond its sides the place
  !> was, of half an element.
  pure subroutine FinderInside(finder, corner, x, element, xi, off)
    type(finder_t), intent(in) :: finder
    real(dp), intent(in) :: corner(:, :, :), x(3)
    integer, intent(out) :: element
    real(dp), intent(out) :: xi(3)
    real(dp), intent(out), optional :: off
    type(search_t) :: inside
    element = 0
    xi = 0
    if (present(off)) off = huge(off)
    if (finder%levels == 0) return
    inside%x = x
    call Enter(finder, corner, finder%levels, finder%first(finder%levels), inside)
    if (inside%off > margin) return
    element = inside%element
    xi = max(-1.0_dp, min(1.0_dp, inside%xi))
    if (present(off)) off = inside%off
  end subroutine FinderInside

  !> Elements whose boxes come within a radius [m] of place x, rising.
  pure subroutine FinderWithin(finder, x, radius, list)
    type(finder_t), intent(in) :: finder
    real(dp), intent(in) :: x(3), radius
    integer, allocatable, intent(out) :: list(:)
    integer, allocatable :: boxes(:)
    integer :: l, i, from, to, b
    allocate (list(0))
    if (finder%levels == 0) return
    boxes = [finder%first(finder%levels)]
    do l = finder%levels, 1, -1
      boxes = pack(boxes, [(norm2(max(finder%low(:, boxes(i)) - x, x - finder%high(:, boxes(i)), 0.0_dp)) <= radius, &
                            i=1, size(boxes))])
      if (l == 1) exit
      list = [integer ::]
      do i = 1, size(boxes)
        call Below(finder, l, boxes(i), from, to)
        list = [list, (b, b=from, to)]
      end do
      call move_alloc(list, boxes)
    end do
    call move_alloc(boxes, list)
  end subroutine FinderWithin

  !> Looks for an element that has the place, in the order of elements; if there is none, for the one that almost has it.
  pure recursive subroutine Enter(finder, corner, l, b, search)
    type(finder_t), intent(in) :: finder
    real(dp), intent(in) :: corner(:, :, :)
    integer, intent(in) :: l, b
    type(search_t), intent(inout) :: search
    real(dp) :: xi(3), off
    logical :: found
    integer :: from, to, i
    associate (low => finder%low(:, b), high => finder%high(:, b))
      if (any(search%x < low - margin*(high - low)) .or. any(search%x > high + margin*(high - low))) return
    end associate
    if (l > 1) then
      call Below(finder, l, b, from, to)
      do i = from, to
        call Enter(finder, corner, l - 1, i, search)
        if (search%off <= rounding) return
      end do
    else
      call HexFind(corner(:, :, b), search%x, xi, found)
      off = max(0.0_dp, maxval(abs(xi)) - 1)
      if (.not. found .or. off >= search%off) return
      search%element = b
      search%xi = xi
      search%off = off
    end if
  end subroutine Enter

  !> Looks for the element that is nearest to the place, in near boxes first.
  pure recursive subroutine Approach(finder, corner, l, b, search)
    type(finder_t), intent(in) :: finder
    real(dp), intent(in) :: corner(:, :, :)
    integer, intent(in) :: l, b
    type(search_t), intent(inout) :: search
    real(dp) :: distance(children), xi(3), away
    integer :: from, to, i, k
    if (l == 1) then
      call HexNearest(corner(:, :, b), search%x, xi, away)
      if (away >= search%off) return
      search%element = b
      search%xi = xi
      search%off = away
      return
    end if
    call Below(finder, l, b, from, to)
    distance = huge(distance)
    do i = from, to
      distance(i - from + 1) = norm2(max(finder%low(:, i) - search%x, search%x - finder%high(:, i), 0.0_dp))
    end do
    do k = from, to
      i = minloc(distance, 1)
      if (distance(i) >= search%off) return
      call Approach(finder, corner, l - 1, from + i - 1, search)
      distance(i) = huge(distance)
    end do
  end subroutine Approach

end module element_finder_m
