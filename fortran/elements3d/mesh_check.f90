!> Refuses broken meshes: elements inside out, almost flat or collapsed, loose and double nodes, faces that do not match, or not in
!> their middles, parts that are not joined.
module mesh_check_m
  use elements_m, only: in_element
  use error_m, only: error_t, Fail
  use hexahedron_m, only: Determinant, HexBounds, HexBox, HexFind, HexJacobians, HexPoints, hex_edge, hex_side
  use joined_m, only: First, Join
  use kinds_m, only: dp, i8
  use mesh_m, only: mesh_t, MeshEdges, MeshFaces
  use text_m, only: Str
  implicit none
  private
  public :: MeshCheck

  !> The Jacobian over the product of the lengths of its columns, 1 where xi, eta, zeta are at right angles: 0.01 is an angle of
  !> half a degree between two of them, or one and the plane of the others. And the Jacobian over the largest one of its element.
  real(dp), parameter :: least_angle = 0.01_dp, least_part = 1.0e-4_dp
  real(dp), parameter :: one_place = 1.0e-3_dp            !< nodes are double so close to each other, of the shortest edge of either
  real(dp), parameter, public :: on_side = 2.0e-3_dp      !< a node is on a side so close to it, of half an element

  !> Places in boxes of equal size, each with a list of those in it; boxes may share a list.
  type :: boxes_t
    real(dp) :: low(3) = 0, side(3) = 1                   !< [m]
    integer, allocatable :: first(:), next(:)
  end type boxes_t

contains

  !> Refuses a mesh in one sentence with the element, by its number in the file, and the place. whole: parts not joined, too.
  subroutine MeshCheck(mesh, error, whole)
    type(mesh_t), intent(in) :: mesh
    type(error_t), allocatable, intent(inout) :: error
    logical, intent(in), optional :: whole
    integer, allocatable :: face(:, :), sharers(:)
    integer :: faces
    if (allocated(error)) return
    call CheckLoose(mesh, error)
    call CheckCollapsed(mesh, error)
    call CheckJacobians(mesh, error)
    call CheckDouble(mesh, error)
    if (allocated(error)) return
    call MeshFaces(mesh%node, face, faces)
    call CheckShared(mesh, face, faces, sharers, error)
    call CheckHanging(mesh, face, sharers, error)
    if (mesh%per == 27) call CheckMiddles(mesh, face, faces, error)
    if (.not. present(whole)) return
    if (whole) call CheckParts(mesh, face, faces, error)
  end subroutine MeshCheck

  !> "mesh 'box.exo': element 17 of block 2 'rock', at x = .., y = .., z = .. m, "
  function Begin(mesh, e) result(text)
    type(mesh_t), intent(in) :: mesh
    integer, intent(in) :: e
    character(:), allocatable :: text
    associate (block => mesh%blocks(mesh%block(e)))
      text = "mesh '"//mesh%path//"': element "//Str(mesh%number(e))//' of block '//Str(block%id)
      if (block%name /= '') text = text//" '"//block%name//"'"
    end associate
    text = text//', '//Place(sum(mesh%x(:, mesh%node(:8, e)), 2)/8)//', '
  end function Begin

  function Place(x) result(text)
    real(dp), intent(in) :: x(3)
    character(:), allocatable :: text
    text = 'at x = '//Str(x(1), 7)//', y = '//Str(x(2), 7)//', z = '//Str(x(3), 7)//' m (z down)'
  end function Place

  ! --- nodes and elements --------------------------------------------------------------------------------------------

  subroutine CheckLoose(mesh, error)
    type(mesh_t), intent(in) :: mesh
    type(error_t), allocatable, intent(inout) :: error
    logical, allocatable :: used(:)
    integer :: e, n
    allocate (used(size(mesh%x, 2)), source=.false.)
    do e = 1, size(mesh%node, 2)
      used(mesh%node(:, e)) = .true.
    end do
    n = findloc(used, .false., 1)
    if (n > 0) call Fail(error, "mesh '"//mesh%path//"': node "//Str(n)//' '//Place(mesh%x(:, n))//' belongs to no element ('// &
      Str(count(.not. used))//' such node(s)): convert the mesh with spl-mesh, which leaves loose nodes out')
  end subroutine CheckLoose

  !> Wedges and pyramids are often written as hexahedra with corners that fall together.
  subroutine CheckCollapsed(mesh, error)
    type(mesh_t), intent(in) :: mesh
    type(error_t), allocatable, intent(inout) :: error
    integer :: e, a
    if (allocated(error)) return
    do e = 1, size(mesh%node, 2)
      associate (node => mesh%node(:, e))
        do a = 2, mesh%per
          if (any(node(:a - 1) == node(a))) then
            call Fail(error, Begin(mesh, e)//'has node '//Str(node(a))//' twice: only hexahedra with '//Str(mesh%per)// &
              ' nodes of their own can be modelled, no wedges or pyramids')
            return
          end if
        end do
      end associate
    end do
  end subroutine CheckCollapsed

  subroutine CheckJacobians(mesh, error)
    type(mesh_t), intent(in) :: mesh
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: x(3, in_element), ratio
    integer :: e, p, first, turned
    if (allocated(error)) return
    first = huge(first)
    turned = 0
    !$omp parallel do private(p, ratio) reduction(min: first) reduction(+: turned)
    do e = 1, size(mesh%node, 2)
      if (mesh%per == 8) then
        if (SurelySound(mesh%x(:, mesh%node(:, e)))) cycle
      end if
      call Worst(mesh, e, p, ratio)
      if (ratio > 0) cycle
      first = min(first, e)
      turned = turned + 1
    end do
    if (first > size(mesh%node, 2)) return
    call Worst(mesh, first, p, ratio)
    call HexPoints(mesh%x(:, mesh%node(:, first)), x)
    if (ratio < -least_angle) then
      call Fail(error, Begin(mesh, first)//'is inside out '//Place(x(:, p))//' ('//Str(turned)//' of '// &
        Str(size(mesh%node, 2))//' elements are, or are almost flat): '//Advice())
    else
      call Fail(error, Begin(mesh, first)//'is almost flat '//Place(x(:, p))//', where its edges are at less than half a '// &
        'degree or its Jacobian is less than 1e-4 of its largest ('//Str(turned)//' of '//Str(size(mesh%node, 2))// &
        ' elements are so, or inside out): improve the mesh there')
    end if

  contains

    pure function Advice()
      character(:), allocatable :: Advice
      Advice = 'improve the mesh there'
      if (turned == size(mesh%node, 2)) Advice = 'their nodes are numbered upside down, spl-mesh convert turns them'
    end function Advice
  end subroutine CheckJacobians

  !> True only where an element of 8 nodes is sound at all points.
  pure logical function SurelySound(x)
    real(dp), intent(in) :: x(3, 8)
    real(dp) :: least, most, longest
    call HexBounds(x, least, most, longest)
    SurelySound = least > 1.01_dp*least_part*most .and. least > 0 .and. least**2 > (1.01_dp*least_angle)**2*longest
  end function SurelySound

  !> The point of element e where it is worst, and how far that is from what is refused: below 0 it is.
  pure subroutine Worst(mesh, e, p, ratio)
    type(mesh_t), intent(in) :: mesh
    integer, intent(in) :: e
    integer, intent(out) :: p
    real(dp), intent(out) :: ratio
    real(dp) :: jacobian(3, 3, in_element), volume(in_element), angle(in_element)
    integer :: q
    call HexJacobians(mesh%x(:, mesh%node(:, e)), jacobian)
    do q = 1, in_element
      associate (j => jacobian(:, :, q))
        volume(q) = Determinant(j)
        angle(q) = volume(q)/max(sqrt(sum(j(:, 1)**2)*sum(j(:, 2)**2)*sum(j(:, 3)**2)), tiny(1.0_dp))
      end associate
    end do
    p = minloc(angle, 1)
    ratio = angle(p) - least_angle
    if (ratio < 0) return
    p = minloc(volume, 1)
    ratio = min(ratio, volume(p)/maxval(volume) - least_part)
  end subroutine Worst

  !> Two nodes at one place: parts of the mesh that only seem to be joined.
  subroutine CheckDouble(mesh, error)
    type(mesh_t), intent(in) :: mesh
    type(error_t), allocatable, intent(inout) :: error
    type(boxes_t) :: boxes
    real(dp), allocatable :: edge(:)
    integer :: n, other, e
    if (allocated(error)) return
    call ShortestEdges(mesh, edge)
    call MakeBoxes(mesh%x, spread(4*one_place*maxval(edge), 1, 3), boxes)
    do n = 1, size(mesh%x, 2)
      call Near(n, other)
      if (other == 0) cycle
      e = findloc([(any(mesh%node(:, e) == n), e=1, size(mesh%node, 2))], .true., 1)
      call Fail(error, Begin(mesh, e)//'has node '//Str(n)//' where node '//Str(other)//' is, '// &
        Place(mesh%x(:, n))//', '//Str(norm2(mesh%x(:, n) - mesh%x(:, other)), 3)//' m apart: elements that meet must have '// &
        'common nodes; merge double nodes in the mesher')
      return
    end do

  contains

    !> A node of lower number at the same place; 0: none.
    subroutine Near(n, other)
      integer, intent(in) :: n
      integer, intent(out) :: other
      integer :: i, j, k, low(3), high(3)
      low = BoxOf(boxes, mesh%x(:, n) - one_place*edge(n))
      high = BoxOf(boxes, mesh%x(:, n) + one_place*edge(n))
      do k = low(3), high(3)
        do j = low(2), high(2)
          do i = low(1), high(1)
            other = boxes%first(ListOf(boxes, [i, j, k]))
            do while (other > 0)
              if (other < n .and. norm2(mesh%x(:, other) - mesh%x(:, n)) <= one_place*min(edge(n), edge(other))) return
              other = boxes%next(other)
            end do
          end do
        end do
      end do
      other = 0
    end subroutine Near
  end subroutine CheckDouble

  !> The shortest edge [m] at each node.
  subroutine ShortestEdges(mesh, edge)
    type(mesh_t), intent(in) :: mesh
    real(dp), allocatable, intent(out) :: edge(:)
    real(dp) :: length, least
    integer :: e, k
    allocate (edge(size(mesh%x, 2)), source=huge(1.0_dp))
    do e = 1, size(mesh%node, 2)
      least = huge(least)
      do k = 1, 12
        associate (ends => mesh%node(hex_edge(:, k), e))
          length = norm2(mesh%x(:, ends(1)) - mesh%x(:, ends(2)))
          edge(ends) = min(edge(ends), length)
          least = min(least, length)
        end associate
      end do
      edge(mesh%node(9:, e)) = min(edge(mesh%node(9:, e)), least/2)
    end do
  end subroutine ShortestEdges

  ! --- faces ---------------------------------------------------------------------------------------------------------

  !> sharers: elements of each face, 1 or 2; no face has three.
  subroutine CheckShared(mesh, face, faces, sharers, error)
    type(mesh_t), intent(in) :: mesh
    integer, intent(in) :: face(:, :), faces
    integer, allocatable, intent(out) :: sharers(:)
    type(error_t), allocatable, intent(inout) :: error
    integer :: e, s
    allocate (sharers(faces), source=0)
    do e = 1, size(face, 2)
      do s = 1, 6
        sharers(face(s, e)) = sharers(face(s, e)) + 1
        if (sharers(face(s, e)) < 3) cycle
        call Fail(error, Begin(mesh, e)//'has a side that two other elements have as well: elements overlap; export each of '// &
          'them once')
        return
      end do
    end do
  end subroutine CheckShared

  !> A corner of an outer side that lies on another outer side, but is none of its corners: elements that meet there do not match.
  subroutine CheckHanging(mesh, face, sharers, error)
    type(mesh_t), intent(in) :: mesh
    integer, intent(in) :: face(:, :), sharers(:)
    type(error_t), allocatable, intent(inout) :: error
    type(boxes_t) :: boxes
    integer, allocatable :: outer(:)                      !< nodes on outer sides
    real(dp), allocatable :: x(:, :)
    real(dp) :: low(3), high(3), extent(3)
    integer :: e, s, n, sides
    if (allocated(error)) return
    call OuterNodes(mesh, face, sharers, outer)
    allocate (x(3, size(outer)))
    x = mesh%x(:, outer)
    extent = 0
    sides = 0
    do e = 1, size(face, 2)
      do s = 1, 6
        if (sharers(face(s, e)) /= 1) cycle
        call HexBox(mesh%x(:, mesh%node(:, e)), low, high)
        extent = extent + high - low
        sides = sides + 1
      end do
    end do
    call MakeBoxes(x, extent/max(sides, 1), boxes)
    do e = 1, size(face, 2)
      if (all(sharers(face(:, e)) /= 1)) cycle
      call Meet(e, n)
      if (n == 0) cycle
      call Fail(error, Begin(mesh, e)//'has node '//Str(n)//' of another one on its side or edge, '//Place(mesh%x(:, n))// &
        ': elements that meet must have whole faces in common')
      return
    end do

  contains

    !> A corner on an outer side of element e that is none of its own; 0: none.
    subroutine Meet(e, n)
      integer, intent(in) :: e
      integer, intent(out) :: n
      real(dp) :: low(3), high(3)
      integer :: i, j, k, from(3), to(3), o
      call HexBox(mesh%x(:, mesh%node(:, e)), low, high)
      low = low - on_side*(high - low)
      high = high + on_side*(high - low)
      from = BoxOf(boxes, low)
      to = BoxOf(boxes, high)
      n = 0
      if (product(real(to - from + 1, dp)) > size(outer)) then
        do o = 1, size(outer)
          if (n == 0 .and. Touches(e, o, low, high)) n = outer(o)
        end do
        return
      end if
      do k = from(3), to(3)
        do j = from(2), to(2)
          do i = from(1), to(1)
            o = boxes%first(ListOf(boxes, [i, j, k]))
            do while (o > 0)
              if (n == 0 .and. Touches(e, o, low, high)) n = outer(o)
              o = boxes%next(o)
            end do
          end do
        end do
      end do
    end subroutine Meet

    logical function Touches(e, o, low, high)
      integer, intent(in) :: e, o
      real(dp), intent(in) :: low(3), high(3)
      Touches = all(x(:, o) >= low) .and. all(x(:, o) <= high) .and. all(mesh%node(:8, e) /= outer(o))
      if (Touches) Touches = OnOuterSide(e, outer(o))
    end function Touches

    logical function OnOuterSide(e, n)
      integer, intent(in) :: e, n
      real(dp), parameter :: sign(6) = [-1, 1, 1, -1, -1, 1]
      integer, parameter :: across(6) = [2, 1, 2, 1, 3, 3]
      real(dp) :: xi(3)
      logical :: found
      integer :: s
      OnOuterSide = .false.
      call HexFind(mesh%x(:, mesh%node(:, e)), mesh%x(:, n), xi, found)
      if (.not. found .or. any(abs(xi) > 1 + on_side)) return
      do s = 1, 6
        if (sharers(face(s, e)) == 1) OnOuterSide = OnOuterSide .or. abs(xi(across(s)) - sign(s)) <= on_side
      end do
    end function OnOuterSide
  end subroutine CheckHanging

  !> Edges and sides that elements share have one node in their middle, else the elements part or overlap there.
  subroutine CheckMiddles(mesh, face, faces, error)
    type(mesh_t), intent(in) :: mesh
    integer, intent(in) :: face(:, :), faces
    type(error_t), allocatable, intent(inout) :: error
    integer, parameter :: of_side(6) = [26, 25, 27, 24, 22, 23]
    integer, allocatable :: edge(:, :), middle(:)         !< nodes in the middle, of edges, then of sides
    integer :: edges, e, k
    if (allocated(error)) return
    call MeshEdges(mesh%node, edge, edges)
    allocate (middle(edges + faces), source=0)
    do e = 1, size(face, 2)
      do k = 1, 12
        call Meets(edge(k, e), mesh%node(8 + k, e), 'an edge')
      end do
      do k = 1, 6
        call Meets(edges + face(k, e), mesh%node(of_side(k), e), 'a side')
      end do
      if (allocated(error)) return
    end do

  contains

    subroutine Meets(at, n, what)
      integer, intent(in) :: at, n
      character(*), intent(in) :: what
      if (middle(at) == 0) middle(at) = n
      if (middle(at) == n .or. allocated(error)) return
      call Fail(error, Begin(mesh, e)//'has node '//Str(n)//' in the middle of '//what//', '//Place(mesh%x(:, n))// &
        ', where another one has node '//Str(middle(at))//', '//Place(mesh%x(:, middle(at)))// &
        ': elements that meet must have all nodes of it in common; merge double nodes in the mesher')
    end subroutine Meets
  end subroutine CheckMiddles

  !> Elements that share sides, by way of others too, are a part of the mesh: no wave goes from one part to another.
  subroutine CheckParts(mesh, face, faces, error)
    type(mesh_t), intent(in) :: mesh
    integer, intent(in) :: face(:, :), faces
    type(error_t), allocatable, intent(inout) :: error
    integer, allocatable :: part(:)                       !< the first element of the part that each is of
    integer, allocatable :: of_face(:)
    integer :: e, s, n, parts, other
    if (allocated(error)) return
    n = size(face, 2)
    allocate (of_face(faces), source=0)
    part = [(e, e=1, n)]
    do e = 1, n
      do s = 1, 6
        if (of_face(face(s, e)) > 0) call Join(part, of_face(face(s, e)), e)
        of_face(face(s, e)) = e
      end do
    end do
    do e = 1, n
      call First(part, e, s)
      part(e) = s
    end do
    parts = count(part == [(e, e=1, n)])
    if (parts == 1) return
    other = findloc(part /= 1, .true., 1)
    call Fail(error, Begin(mesh, other)//'shares no side with element '//Str(mesh%number(1))//' or those joined to it: the '// &
      'mesh is in '//Str(parts)//' parts that no wave goes between, '//Str(count(part == 1))//' of '//Str(n)// &
      ' elements in the first: join them in the mesher so that neighbours share faces, or give one part alone')
  end subroutine CheckParts

  !> The corners of outer sides, each once.
  subroutine OuterNodes(mesh, face, sharers, outer)
    type(mesh_t), intent(in) :: mesh
    integer, intent(in) :: face(:, :), sharers(:)
    integer, allocatable, intent(out) :: outer(:)
    logical, allocatable :: is_outer(:)
    integer :: e, s, n
    allocate (is_outer(size(mesh%x, 2)), source=.false.)
    do e = 1, size(face, 2)
      do s = 1, 6
        if (sharers(face(s, e)) == 1) is_outer(mesh%node(hex_side(:, s), e)) = .true.
      end do
    end do
    outer = pack([(n, n=1, size(is_outer))], is_outer)
  end subroutine OuterNodes

  ! --- boxes ---------------------------------------------------------------------------------------------------------

  subroutine MakeBoxes(x, side, boxes)
    real(dp), intent(in) :: x(:, :), side(3)
    type(boxes_t), intent(out) :: boxes
    integer :: n, list
    boxes%low = minval(x, 2) - 0.37_dp*side               ! so that no plane of nodes is between two boxes
    boxes%side = max(side, 1.0e-9_dp*maxval(maxval(x, 2) - minval(x, 2)))
    allocate (boxes%first(0:2**max(4, min(24, bit_size(n) - leadz(size(x, 2)))) - 1), source=0)
    allocate (boxes%next(size(x, 2)))
    do n = size(x, 2), 1, -1
      list = ListOf(boxes, BoxOf(boxes, x(:, n)))
      boxes%next(n) = boxes%first(list)
      boxes%first(list) = n
    end do
  end subroutine MakeBoxes

  pure function BoxOf(boxes, x) result(box)
    type(boxes_t), intent(in) :: boxes
    real(dp), intent(in) :: x(3)
    integer :: box(3)
    box = floor((x - boxes%low)/boxes%side)
  end function BoxOf

  !> The list of a box; those of far boxes may be the same.
  pure integer function ListOf(boxes, box) result(list)
    type(boxes_t), intent(in) :: boxes
    integer, intent(in) :: box(3)
    integer(i8), parameter :: factor(3) = [73856093_i8, 19349663_i8, 83492791_i8]
    list = int(iand(ieor(ieor(box(1)*factor(1), box(2)*factor(2)), box(3)*factor(3)), ubound(boxes%first, 1, i8)))
  end function ListOf

end module mesh_check_m
