!> Finds the element of a place.
module element_finder_m
  use kinds_m, only: dp
  implicit none
  private
  public :: finder_t, FinderMake, FinderFind

  !> Boxes around elements, around 8 of them, around 8 of those, and so on; near elements should follow each other (MeshOrder).
  type :: finder_t
    integer :: levels = 0
    integer, allocatable :: first(:)                      !< of each level: its boxes are first(l) .. first(l+1)-1
    real(dp), allocatable :: low(:, :), high(:, :)        !< [m], (3, boxes)
  end type finder_t

contains

  !> corner (3, per, elements) [m].
  pure subroutine FinderMake(finder, corner)
    type(finder_t), intent(out) :: finder
    real(dp), intent(in) :: corner(:, :, :)
    finder%levels = 0
  end subroutine FinderMake

  !> The element of place x and where it is in it. A place on a face belongs to the element of lowest number. A place outside gets
  !> the nearest place of an element: away [m] tells how far that is, 0 where it is below 1e-6 of an element.
  !> element = 0: there are no elements.
  pure subroutine FinderFind(finder, corner, x, element, xi, away)
    type(finder_t), intent(in) :: finder
    real(dp), intent(in) :: corner(:, :, :), x(3)
    integer, intent(out) :: element
    real(dp), intent(out) :: xi(3), away
    element = 0
    xi = 0
    away = 0
  end subroutine FinderFind

end module element_finder_m
