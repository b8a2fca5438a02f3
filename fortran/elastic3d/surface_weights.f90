!> Weights of nodes along z for a source or receiver below a free surface, where a sinc reaches nodes above it, which have none. The
!> surface lies half a cell before node 1 of what stands in the centre of cells, on node 1 of the rest.
module surface_weights_m
  use fd3d_ground_m, only: Lagrange
  use kinds_m, only: dp
  use sinc_m, only: sinc_nodes
  implicit none
  private
  public :: SurfaceOfRock, SurfaceOfWater

  integer, parameter :: cubic_nodes = 4

contains

  !> A cubic through the first four nodes takes the place of the weights w(1:n) of nodes first .. first+n-1 for a point at `place`
  !> [cells: node n is at n]; `even`: of those of SincEven.
  pure subroutine SurfaceOfRock(place, even, first, n, w)
    real(dp), intent(in) :: place
    logical, intent(in) :: even
    integer, intent(inout) :: first, n
    real(dp), intent(inout) :: w(sinc_nodes)
    if (first >= 1) return
    first = 1
    n = cubic_nodes
    w(:n) = Lagrange(place, n)
    if (.not. even) return
    n = n + 1                                               ! the fourth difference of five nodes is 0 for a cubic
    w(n) = 0
    w(:n) = w(:n) - sum(w(:n)*[1, -1, 1, -1, 1])/16*[1, -4, 6, -4, 1]
  end subroutine SurfaceOfRock

  !> Nodes below the surface of water stand for their images above it, as in its differences (cuda_c/elastic3d/fd3d_surface.c): vz,
  !> which stands `on_face`, is even about it, what stands in the centre odd.
  pure subroutine SurfaceOfWater(on_face, first, n, w)
    logical, intent(in) :: on_face
    integer, intent(inout) :: first
    integer, intent(in) :: n
    real(dp), intent(inout) :: w(sinc_nodes)
    real(dp) :: below(sinc_nodes)
    integer :: node, image, m
    if (first >= 1) return
    below = 0
    do m = 1, n
      node = first + m - 1
      image = merge(2, 1, on_face) - node
      if (node >= 1) then
        below(node) = below(node) + w(m)
      else if (image <= sinc_nodes) then                    ! all are, of places less than four cells above it
        below(image) = below(image) + merge(w(m), -w(m), on_face)
      end if
    end do
    first = 1
    w = below
  end subroutine SurfaceOfWater

end module surface_weights_m
