!> Numbers of the points of elements, by which nodes their elements share: no positions are compared.
module elements_points_m
  use elements_m, only: along, elements_t, face_contact, face_inner, in_element, on_face
  use hexahedron_m, only: hex_edge, hex_node, hex_side, hex_side_point
  use mesh_m, only: MeshEdges, MeshFaces
  implicit none
  private
  public :: ElementsNumber

  !> Kinds of points of an element.
  integer, parameter :: on_corner = 1, on_edge = 2, on_side = 3, inside = 4

  !> Place of a point of an element: its corner, edge or side, and its number along the three axes, 0 .. 4.
  type :: place_t
    integer :: on = inside, which = 0, index(3) = 0
  end type place_t

contains

  !> Sets points, solid_points, at, contact and partner from n, solid, node and brick; and in `face`, allocated by the caller, the
  !> sides where elements meet: face_inner, or face_contact on both sides of a contact of fluid and solid. The other sides keep
  !> what the caller says.
  !>
  !> Points of solid come first. Of each phase those inside a brick come first, brick after brick, then those that bricks share, in
  !> the order of elements. The points of a contact are in the order of hex_side_point of the fluid's side.
  pure subroutine ElementsNumber(elements)
    type(elements_t), intent(inout) :: elements
    integer, allocatable :: number(:)
    integer :: ids
    call Identify(elements, ids)
    allocate (number(ids))
    elements%points = 0
    call NumberPhase(elements, 1, elements%solid, number)
    elements%solid_points = elements%points
    call FindPartners(elements, number)
    call NumberPhase(elements, elements%solid + 1, elements%n, number)
  end subroutine ElementsNumber

  !> Puts into `at` what tells points apart: corners by their nodes, then points on edges, on faces, inside. Finds where elements
  !> meet, and counts the contacts.
  pure subroutine Identify(elements, ids)
    type(elements_t), intent(inout) :: elements
    integer, intent(out) :: ids
    integer, allocatable :: face(:, :), edge(:, :)
    type(place_t) :: place(in_element)
    integer :: begin(4), from(4, 6), faces, edges, e, p, s
    call MeshFaces(elements%node, face, faces)
    call MeshEdges(elements%node, edge, edges)
    call FindContacts(elements, face, faces)
    begin(on_corner) = 0
    begin(on_edge) = maxval(elements%node)
    begin(on_side) = begin(on_edge) + 3*edges
    begin(inside) = begin(on_side) + 9*faces
    ids = begin(inside) + 27*elements%n
    place = Places()
    if (allocated(elements%at)) deallocate (elements%at)
    allocate (elements%at(in_element, elements%n))
    do e = 1, elements%n
      associate (node => elements%node(:, e))
        do s = 1, 6
          from(:, s) = Began(hex_side(:, s), node)
        end do
        do p = 1, in_element
          associate (w => place(p)%which, at => elements%at(p, e))
            select case (place(p)%on)
            case (on_corner)
              at = node(w)
            case (on_edge)
              at = begin(on_edge) + 3*(edge(w, e) - 1) + OnEdge(place(p), node)
            case (on_side)
              at = begin(on_side) + 9*(face(w, e) - 1) + OnSide(place(p), from(:, w))
            case default
              at = begin(inside) + 27*(e - 1) + dot_product(place(p)%index - 1, [1, 3, 9]) + 1
            end select
          end associate
        end do
      end associate
    end do
  end subroutine Identify

  pure function Places() result(place)
    type(place_t) :: place(in_element)
    integer, parameter :: side(22:27) = [5, 6, 4, 2, 1, 3]    !< in the middle of which nodes of HEX27 are
    integer :: at(3), c, i, j, k
    do k = 0, 4
      do j = 0, 4
        do i = 0, 4
          associate (p => place(1 + i + along*(j + along*k)))
            p%index = [i, j, k]
            at = merge(p%index/2 - 1, 0, modulo(p%index, 4) == 0)
            do c = 1, 27
              if (all(hex_node(:, c) == at)) exit
            end do
            select case (c)
            case (1:8)
              p%on = on_corner
              p%which = c
            case (9:20)
              p%on = on_edge
              p%which = c - 8
            case (22:27)
              p%on = on_side
              p%which = side(c)
            end select
          end associate
        end do
      end do
    end do
  end function Places

  !> 1 .. 3 on an edge, from its corner of lower number.
  pure integer function OnEdge(place, node)
    type(place_t), intent(in) :: place
    integer, intent(in) :: node(8)
    associate (c => hex_edge(:, place%which))
      if (node(c(1)) < node(c(2))) then
        OnEdge = Away(place, c(1), c(2))
      else
        OnEdge = Away(place, c(2), c(1))
      end if
    end associate
  end function OnEdge

  !> The corners of a side from that of lowest number, first towards the lower one of the two beside it.
  pure function Began(corner, node) result(c)
    integer, intent(in) :: corner(4), node(8)
    integer :: c(4), m
    m = minloc(node(corner), 1)
    c = corner(1 + modulo([m - 1, m, m + 1, m + 2], 4))
    if (node(c(4)) < node(c(2))) c([2, 4]) = c([4, 2])
  end function Began

  !> 1 .. 9 on a side, along its corners from the first to the second, then towards the last.
  pure integer function OnSide(place, c)
    type(place_t), intent(in) :: place
    integer, intent(in) :: c(4)
    OnSide = Away(place, c(1), c(2)) + 3*(Away(place, c(1), c(4)) - 1)
  end function OnSide

  !> Number of points from a corner to a place, towards another corner.
  pure integer function Away(place, from, to)
    type(place_t), intent(in) :: place
    integer, intent(in) :: from, to
    integer :: axis
    axis = maxloc(abs(hex_node(:, to) - hex_node(:, from)), 1)
    Away = merge(place%index(axis), 4 - place%index(axis), hex_node(axis, from) < 0)
  end function Away

  !> The kinds of sides where two elements meet, and the contacts.
  pure subroutine FindContacts(elements, face, faces)
    type(elements_t), intent(inout) :: elements
    integer, intent(in) :: face(:, :), faces
    integer, allocatable :: first(:), contact(:, :)
    integer :: contacts, e, s, other
    allocate (first(faces), source=0)
    allocate (contact(2, 6*min(elements%solid, elements%n - elements%solid)))
    contacts = 0
    do e = 1, elements%n
      do s = 1, 6
        other = first(face(s, e))
        first(face(s, e)) = 6*(e - 1) + s
        if (other == 0) cycle
        associate (here => elements%face(s, e), there => elements%face(modulo(other - 1, 6) + 1, (other - 1)/6 + 1))
          here = face_inner
          if (e > elements%solid .and. other <= 6*elements%solid) then
            here = face_contact
            contacts = contacts + 1
            contact(:, contacts) = [e, s]
          end if
          there = here
        end associate
      end do
    end do
    elements%contact = contact(:, :contacts)
  end subroutine FindContacts

  !> Numbers the points of elements from .. to, on from elements%points: number of each id, 0 where they have no such point.
  pure subroutine NumberPhase(elements, from, to, number)
    type(elements_t), intent(inout) :: elements
    integer, intent(in) :: from, to
    integer, intent(out) :: number(:)
    integer, parameter :: shared = -huge(1)
    integer :: b, e, p
    number = 0                                            ! of no brick yet; -b: of brick b
    b = 1
    do e = from, to
      do while (elements%brick(b + 1) <= e)
        b = b + 1
      end do
      do p = 1, in_element
        associate (mine => number(elements%at(p, e)))
          if (mine == 0) mine = -b
          if (mine /= -b) mine = shared
        end associate
      end do
    end do
    do e = from, to
      do p = 1, in_element
        associate (mine => number(elements%at(p, e)))
          if (mine < 0 .and. mine /= shared) call Take(elements%points, mine)
        end associate
      end do
    end do
    do e = from, to
      do p = 1, in_element
        associate (mine => number(elements%at(p, e)))
          if (mine == shared) call Take(elements%points, mine)
          elements%at(p, e) = mine
        end associate
      end do
    end do

  contains

    pure subroutine Take(last, mine)
      integer, intent(inout) :: last
      integer, intent(out) :: mine
      last = last + 1
      mine = last
    end subroutine Take
  end subroutine NumberPhase

  !> The solid's points at contacts. number: of the solid's points; the fluid's are not numbered yet.
  pure subroutine FindPartners(elements, number)
    type(elements_t), intent(inout) :: elements
    integer, intent(in) :: number(:)
    integer :: c
    if (allocated(elements%partner)) deallocate (elements%partner)
    allocate (elements%partner(on_face, size(elements%contact, 2)))
    do c = 1, size(elements%contact, 2)
      associate (e => elements%contact(1, c), s => elements%contact(2, c))
        elements%partner(:, c) = number(elements%at(hex_side_point(:, s), e))
      end associate
    end do
  end subroutine FindPartners

end module elements_points_m
