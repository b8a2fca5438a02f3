!> A mesh as it was read: nodes, elements, blocks of elements and named sets of sides; which elements meet, and their order.
module mesh_m
  use hexahedron_m, only: hex_edge, hex_side
  use kinds_m, only: dp, i8
  use sort_m, only: SortOrder
  implicit none
  private
  public :: mesh_t, mesh_block_t, mesh_sides_t, MeshFaces, MeshEdges, MeshBeside, MeshOrder, MeshSort

  !> Elements of one material.
  type :: mesh_block_t
    integer :: id = 0
    character(:), allocatable :: name                     !< '' if it has none
    integer :: elements = 0
  end type mesh_block_t

  !> Sides of elements.
  type :: mesh_sides_t
    integer :: id = 0
    character(:), allocatable :: name                     !< '' if it has none
    integer, allocatable :: element(:), side(:)
  end type mesh_sides_t

  !> Corners and sides are numbered as elements_m says, z is down, and the map of each element keeps its hand.
  type :: mesh_t
    character(:), allocatable :: path
    integer :: per = 8                                    !< nodes of an element: 8 or 27
    real(dp), allocatable :: x(:, :)                      !< [m], (3, nodes)
    integer, allocatable :: node(:, :)                    !< (per, elements)
    integer, allocatable :: block(:)                      !< place in blocks of each element
    integer, allocatable :: number(:)                     !< of each element in the file
    type(mesh_block_t), allocatable :: blocks(:)
    type(mesh_sides_t), allocatable :: sets(:)
  end type mesh_t

  integer, parameter :: leaf = 8, most_in_brick = 64
  integer, parameter :: levels = 2**20 - 1                !< whole numbers along the longest side of a box around all elements

  !> Elements to be put in order.
  type :: bisection_t
    integer, allocatable :: at(:, :)                      !< middles, (3, elements), whole so that rounding parts no layer
    integer, allocatable :: extent(:, :)                  !< of elements, the same way
    integer, allocatable :: list(:, :)                    !< (elements, 3): elements by their x, y, z
    logical, allocatable :: beyond(:)                     !< whether an element is beyond the cut
    integer, allocatable :: spare(:)
    integer, allocatable :: brick(:)                      !< where bricks begin,
    integer :: bricks = 0                                 !< of which there are so many
  end type bisection_t

contains

  !> The face of each side, (6, elements): sides with the same four corners are one face. Faces are numbered as they come.
  !> node (8 or more, elements).
  pure subroutine MeshFaces(node, face, faces)
    integer, intent(in) :: node(:, :)
    integer, allocatable, intent(out) :: face(:, :)
    integer, intent(out) :: faces
    integer, allocatable :: first(:), next(:), others(:, :)
    integer :: c(4), n, e, s, f
    n = size(node, 2)
    allocate (face(6, n), first(maxval(node(:8, :))), next(6*n), others(3, 6*n))
    first = 0                                             ! faces by their corner of lowest number: a list for each
    faces = 0
    do e = 1, n
      do s = 1, 6
        c = Rising(node(hex_side(:, s), e))
        f = first(c(1))
        do while (f > 0)
          if (all(others(:, f) == c(2:))) exit
          f = next(f)
        end do
        if (f == 0) then
          faces = faces + 1
          f = faces
          others(:, f) = c(2:)
          next(f) = first(c(1))
          first(c(1)) = f
        end if
        face(s, e) = f
      end do
    end do
  end subroutine MeshFaces

  pure function Rising(a) result(b)
    integer, intent(in) :: a(4)
    integer :: b(4)
    integer :: low(2), high(2)
    low = min(a([1, 3]), a([2, 4]))
    high = max(a([1, 3]), a([2, 4]))
    b = [minval(low), min(maxval(low), minval(high)), max(maxval(low), minval(high)), maxval(high)]
  end function Rising

  !> The same for edges, (12, elements).
  pure subroutine MeshEdges(node, edge, edges)
    integer, intent(in) :: node(:, :)
    integer, allocatable, intent(out) :: edge(:, :)
    integer, intent(out) :: edges
    integer, allocatable :: first(:), next(:), other(:)
    integer :: c(2), n, e, s, f
    n = size(node, 2)
    allocate (edge(12, n), first(maxval(node(:8, :))), next(12*n), other(12*n))
    first = 0
    edges = 0
    do e = 1, n
      do s = 1, 12
        c = node(hex_edge(:, s), e)
        c = [minval(c), maxval(c)]
        f = first(c(1))
        do while (f > 0)
          if (other(f) == c(2)) exit
          f = next(f)
        end do
        if (f == 0) then
          edges = edges + 1
          f = edges
          other(f) = c(2)
          next(f) = first(c(1))
          first(c(1)) = f
        end if
        edge(s, e) = f
      end do
    end do
  end subroutine MeshEdges

  !> The neighbour at each side, (6, elements): 6 (element - 1) + side of the other, 0 where there is none.
  pure subroutine MeshBeside(node, beside)
    integer, intent(in) :: node(:, :)
    integer, allocatable, intent(out) :: beside(:, :)
    integer, allocatable :: face(:, :), one(:)
    integer :: faces, e, s, other
    call MeshFaces(node, face, faces)
    allocate (beside(6, size(node, 2)), one(faces), source=0)
    do e = 1, size(node, 2)
      do s = 1, 6
        other = one(face(s, e))
        one(face(s, e)) = 6*(e - 1) + s
        if (other == 0) cycle
        beside(s, e) = other
        beside(modulo(other - 1, 6) + 1, (other - 1)/6 + 1) = 6*(e - 1) + s
      end do
    end do
  end subroutine MeshBeside

  ! --- order ---------------------------------------------------------------------------------------------------------

  !> An order of the elements in which near ones follow each other: order(i), the i-th of them, those of solid first, then those of
  !> fluid; brick b is brick(b) .. brick(b+1)-1 of them, up to 64 near ones. It comes from the places of the elements: those of
  !> solid, and of fluid, are bisected until 8 or fewer are left.
  pure subroutine MeshOrder(mesh, fluid, order, brick)
    type(mesh_t), intent(in) :: mesh
    logical, intent(in) :: fluid(:)                       !< of each element
    integer, allocatable, intent(out) :: order(:), brick(:)
    type(bisection_t) :: b
    integer :: n, solid
    n = size(fluid)
    solid = count(.not. fluid)
    call Middles(mesh, b)
    allocate (b%list(n, 3), b%beyond(n), b%spare(n), b%brick(n + 1))
    call Sorted(b, fluid)
    call Bisect(b, 1, solid, .true.)
    call Bisect(b, solid + 1, n, .true.)
    order = b%list(:, 3)
    brick = [b%brick(:b%bricks), n + 1]
  end subroutine MeshOrder

  !> Middles and extents of the elements as whole numbers.
  pure subroutine Middles(mesh, b)
    type(mesh_t), intent(in) :: mesh
    type(bisection_t), intent(inout) :: b
    real(dp) :: low(3), x(3, 8), scale
    integer :: a, e
    allocate (b%at(3, size(mesh%node, 2)), b%extent(3, size(mesh%node, 2)))
    low = minval(mesh%x, 2)
    scale = levels/max(maxval(maxval(mesh%x, 2) - low), tiny(scale)*levels)
    do e = 1, size(mesh%node, 2)
      x = mesh%x(:, mesh%node(:8, e))
      do a = 1, 3
        b%at(a, e) = nint((sum(x(a, :))/8 - low(a))*scale)
        b%extent(a, e) = nint((maxval(x(a, :)) - minval(x(a, :)))*scale)
      end do
    end do
  end subroutine Middles

  !> Sorts the elements along each axis, those of solid first; of equal ones, along the others.
  pure subroutine Sorted(b, fluid)
    type(bisection_t), intent(inout) :: b
    logical, intent(in) :: fluid(:)
    integer, allocatable :: order(:)
    integer(i8), allocatable :: key(:)
    integer(i8), parameter :: base = levels + 1
    integer, parameter :: major(3) = [1, 2, 3], middle(3) = [3, 3, 2], minor(3) = [2, 1, 1]
    integer :: a
    do a = 1, 3
      key = ((merge(1_i8, 0_i8, fluid)*base + b%at(major(a), :))*base + b%at(middle(a), :))*base + b%at(minor(a), :)
      call SortOrder(key, order)
      b%list(:, a) = order
    end do
  end subroutine Sorted

  !> Puts the elements from .. to of the lists in order. outer: they are more than a brick.
  pure recursive subroutine Bisect(b, from, to, outer)
    type(bisection_t), intent(inout) :: b
    integer, intent(in) :: from, to
    logical, intent(in) :: outer
    integer :: axis, cut
    if (to < from) return
    if (outer .and. to - from < most_in_brick) then
      b%bricks = b%bricks + 1
      b%brick(b%bricks) = from
    end if
    if (to - from < leaf) return
    call ChooseCut(b, from, to, axis, cut)
    call Divide(b, from, to, axis, cut)
    call Bisect(b, from, cut, outer .and. to - from >= most_in_brick)
    call Bisect(b, cut + 1, to, outer .and. to - from >= most_in_brick)
  end subroutine Bisect

  !> The axis along which there are most elements one behind the other, and the last element before the cut. Where elements lie in
  !> layers, so many of these are cut off as the largest power of two, so that all pieces are whole down to 2 x 2 x 2; elsewhere a
  !> multiple of a brick or of a leaf near the half.
  pure subroutine ChooseCut(b, from, to, axis, cut)
    type(bisection_t), intent(in) :: b
    integer, intent(in) :: from, to
    integer, intent(out) :: axis, cut
    real(dp) :: mean(3), long(3)
    integer :: i, a, unit, layers, wanted
    mean = 0
    do i = from, to
      mean = mean + b%extent(:, b%list(i, 1))
    end do
    mean = max(mean/(to - from + 1), 1.0_dp)
    do a = 1, 3
      long(a) = 1 + (b%at(a, b%list(to, a)) - b%at(a, b%list(from, a)))/mean(a)
    end do
    axis = maxloc(long, 1)
    layers = 1
    do i = from, to - 1
      if (Gap(i)) layers = layers + 1
    end do
    if (layers > 1 .and. layers > 0.75_dp*long(axis)) then
      wanted = 2**(bit_size(layers) - 1 - leadz(layers - 1))
      do i = from, to - 1
        cut = i
        if (Gap(i)) wanted = wanted - 1
        if (wanted == 0) exit
      end do
    else
      unit = merge(most_in_brick, leaf, to - from >= most_in_brick)
      cut = from - 1 + max(1, nint((to - from + 1)/(2.0_dp*unit)))*unit
      if (cut >= to) cut = from - 1 + unit
    end if

  contains

    !> True where no element reaches with its middle into the gap behind the i-th one.
    pure logical function Gap(i)
      integer, intent(in) :: i
      Gap = b%at(axis, b%list(i + 1, axis)) - b%at(axis, b%list(i, axis)) > 0.3_dp*mean(axis)
    end function Gap
  end subroutine ChooseCut

  !> Parts the lists so that the elements up to the cut along this axis come first in all of them, each in its order.
  pure subroutine Divide(b, from, to, axis, cut)
    type(bisection_t), intent(inout) :: b
    integer, intent(in) :: from, to, axis, cut
    integer :: a, i, low, high
    b%beyond(b%list(from:cut, axis)) = .false.
    b%beyond(b%list(cut + 1:to, axis)) = .true.
    do a = 1, 3
      if (a == axis) cycle
      low = from - 1
      high = 0
      do i = from, to
        if (b%beyond(b%list(i, a))) then
          high = high + 1
          b%spare(high) = b%list(i, a)
        else
          low = low + 1
          b%list(low, a) = b%list(i, a)
        end if
      end do
      b%list(cut + 1:to, a) = b%spare(:high)
    end do
  end subroutine Divide
  !> Puts the elements in this order; sets of sides follow.
  pure subroutine MeshSort(mesh, order)
    type(mesh_t), intent(inout) :: mesh
    integer, intent(in) :: order(:)
    integer, allocatable :: place(:)
    integer :: i
    allocate (place(size(order)))
    place(order) = [(i, i=1, size(order))]
    mesh%node = mesh%node(:, order)
    mesh%block = mesh%block(order)
    mesh%number = mesh%number(order)
    do i = 1, size(mesh%sets)
      mesh%sets(i)%element = place(mesh%sets(i)%element)
    end do
  end subroutine MeshSort

end module mesh_m
