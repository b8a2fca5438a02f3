!> Weights of the nodes along an axis for a source or receiver between them. Below a free surface, which lies half a cell before
!> node 1 of what stands in the centre of cells, a cubic through the first four nodes takes the place of a sinc that would reach
!> above it.
module place_weights_m
  use fd3d_ground_m, only: Lagrange
  use kinds_m, only: dp
  use sinc_m, only: sinc_nodes, SincEven, SincWeights
  implicit none
  private
  public :: PlaceWeights

  integer, parameter :: cubic_nodes = 4

contains

  !> Weights w(1:n) of the nodes first .. first+n-1 for a point at `place` [cells: node n is at n]; `even`: those of SincEven;
  !> `below`: below a free surface.
  pure subroutine PlaceWeights(place, even, below, first, n, w)
    real(dp), intent(in) :: place
    logical, intent(in) :: even, below
    integer, intent(out) :: first, n
    real(dp), intent(out) :: w(sinc_nodes)
    n = sinc_nodes
    if (even) then
      call SincEven(place, first, w)
    else
      call SincWeights(place, first, w)
    end if
    if (.not. below .or. first >= 1) return
    first = 1
    n = cubic_nodes
    w(:n) = Lagrange(place, n)
    if (.not. even) return
    n = n + 1                                               ! the fourth difference of five nodes is 0 for a cubic
    w(n) = 0
    w(:n) = w(:n) - sum(w(:n)*[1, -1, 1, -1, 1])/16*[1, -4, 6, -4, 1]
  end subroutine PlaceWeights

end module place_weights_m
