!> A box of hexahedra.
module mesh_box_m
  use kinds_m, only: dp
  use mesh_m, only: mesh_t
  implicit none
  private
  public :: MeshBox

contains

  !> A box of n elements along x, y, z from low to high [m], z down, in one block, without side sets.
  pure subroutine MeshBox(low, high, n, mesh)
    real(dp), intent(in) :: low(3), high(3)
    integer, intent(in) :: n(3)
    type(mesh_t), intent(out) :: mesh
    integer :: i, j, k, e
    mesh%path = ''
    allocate (mesh%x(3, product(n + 1)), mesh%node(8, product(n)), mesh%sets(0), mesh%blocks(1))
    do k = 0, n(3)
      do j = 0, n(2)
        do i = 0, n(1)
          mesh%x(:, Node(i, j, k)) = low + (high - low)*[i, j, k]/n
        end do
      end do
    end do
    e = 0
    do k = 0, n(3) - 1
      do j = 0, n(2) - 1
        do i = 0, n(1) - 1
          e = e + 1
          mesh%node(:, e) = [Node(i, j, k), Node(i + 1, j, k), Node(i + 1, j + 1, k), Node(i, j + 1, k), &
                             Node(i, j, k + 1), Node(i + 1, j, k + 1), Node(i + 1, j + 1, k + 1), Node(i, j + 1, k + 1)]
        end do
      end do
    end do
    mesh%block = spread(1, 1, e)
    mesh%number = [(i, i=1, e)]
    mesh%blocks(1)%id = 1
    mesh%blocks(1)%name = ''
    mesh%blocks(1)%elements = e

  contains

    pure integer function Node(i, j, k)
      integer, intent(in) :: i, j, k
      Node = 1 + i + (n(1) + 1)*(j + (n(2) + 1)*k)
    end function Node

  end subroutine MeshBox

end module mesh_box_m
