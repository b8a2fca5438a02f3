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

  !> Ways through a side: from each of its corners to one or the other of those beside it.
  integer, parameter :: ways = 8

  integer, parameter :: few = 1000                !< elements that one thread numbers faster than several do

  !> Place of a point of an element: its corner, edge or side, and its number along the three axes, 0 .. 4. On an edge its number
  !> from the first corner, 1 .. 3; on a side that for each of the ways in which it may be gone through, 1 .. 9.
  type :: place_t
    integer :: on = inside, which = 0, index(3) = 0
    integer :: edge = 0, side(ways) = 0
  end type place_t

contains

  !> Sets points, solid_points, at, contact and partner from n, solid, node and brick; and in `face`, allocated by the caller, the
  !> sides where elements meet: face_inner, or face_contact on both sides of a contact of fluid and solid. The other sides keep
  !> what the caller says.
  !>
  !> Points of solid come first. Of each phase those inside a brick come first, brick after brick, then those that bricks share, in
  !> the order of elements. The points of a contact are in the order of hex_side_point of the fluid's side.
  subroutine ElementsNumber(elements)
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
  subroutine Identify(elements, ids)
    type(elements_t), intent(inout) :: elements
    integer, intent(out) :: ids
    integer, allocatable :: face(:, :), edge(:, :)
    type(place_t) :: place(in_element)
    integer :: begin(4), way(6), faces, edges, e, p, s
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
    !$omp parallel do private(way, p, s) if(elements%n > few)
    do e = 1, elements%n
      associate (node => elements%node(:, e))
        do s = 1, 6
          way(s) = WayThrough(node(hex_side(:, s)))
        end do
        do p = 1, in_element
          associate (w => place(p)%which, at => elements%at(p, e))
            select case (place(p)%on)
            case (on_corner)
              at = node(w)
            case (on_edge)                        ! counted from its corner of lower number
              at = begin(on_edge) + 3*(edge(w, e) - 1) + &
                   merge(place(p)%edge, 4 - place(p)%edge, node(hex_edge(1, w)) < node(hex_edge(2, w)))
            case (on_side)
              at = begin(on_side) + 9*(face(w, e) - 1) + place(p)%side(way(w))
            case default
              at = begin(inside) + 27*(e - 1) + dot_product(place(p)%index - 1, [1, 3, 9]) + 1
            end select
          end associate
        end do
      end associate
    end do
    !$omp end parallel do
  end subroutine Identify

  pure function Places() result(place)
    type(place_t) :: place(in_element)
    integer, parameter :: side(22:27) = [5, 6, 4, 2, 1, 3]    !< in the middle of which nodes of HEX27 are
    integer :: at(3), c, i, j, k, w
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
              p%edge = Away(p, hex_edge(1, c - 8), hex_edge(2, c - 8))
            case (22:27)
              p%on = on_side
              p%which = side(c)
              p%side = [(OnSide(p, Corners(hex_side(:, side(c)), w)), w=1, ways)]
            end select
          end associate
        end do
      end do
    end do
  end function Places

  !> The way through a side from its corner of lowest number, first towards the lower one of the two beside it.
  pure integer function WayThrough(node) result(way)
    integer, intent(in) :: node(4)
    integer :: m
    m = minloc(node, 1)
    way = merge(m, m + 4, node(1 + modulo(m, 4)) < node(1 + modulo(m + 2, 4)))
  end function WayThrough

  !> The corners of a side as a way meets them: from corner `way`, or the other way round from corner way - 4.
  pure function Corners(corner, way) result(c)
    integer, intent(in) :: corner(4), way
    integer :: c(4)
    c = cshift(corner, modulo(way - 1, 4))
    if (way > 4) c([2, 4]) = c([4, 2])
  end function Corners

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
  !> Before it has its number an id has -b, the first brick that has it, less the number of bricks where others have it too.
  subroutine NumberPhase(elements, from, to, number)
    type(elements_t), intent(inout) :: elements
    integer, intent(in) :: from, to
    integer, intent(out) :: number(:)
    integer, allocatable :: next(:)               !< of each brick, and of the points that each is the first of several to have
    integer :: bricks, first, b, e, p, i, points
    number = 0
    if (to < from) return
    bricks = size(elements%brick) - 1
    first = findloc(elements%brick, from, 1)
    do b = first, bricks
      if (elements%brick(b) > to) exit
      do e = elements%brick(b), elements%brick(b + 1) - 1
        do p = 1, in_element
          associate (mine => number(elements%at(p, e)))
            if (mine == 0) then
              mine = -b
            else if (mine /= -b .and. mine >= -bricks) then
              mine = mine - bricks
            end if
          end associate
        end do
      end do
    end do
    allocate (next(2*bricks), source=0)
    do i = 1, size(number)
      if (number(i) < 0) next(-number(i)) = next(-number(i)) + 1
    end do
    do b = 1, 2*bricks
      points = next(b)
      next(b) = elements%points
      elements%points = elements%points + points
    end do
    !$omp parallel do private(e, p, i) schedule(static) if(to - from > few)
    do b = first, bricks
      if (elements%brick(b) > to) cycle
      do e = elements%brick(b), elements%brick(b + 1) - 1
        do p = 1, in_element
          !$omp atomic read
          i = number(elements%at(p, e))
          if (i /= -b .and. i /= -b - bricks) cycle
          next(-i) = next(-i) + 1
          !$omp atomic write
          number(elements%at(p, e)) = next(-i)
        end do
      end do
    end do
    !$omp end parallel do
    !$omp parallel do if(to - from > few)
    do e = from, to
      elements%at(:, e) = number(elements%at(:, e))
    end do
    !$omp end parallel do
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
