!> The inverse of a differentiator of the staggered grid, D⁻¹: the sum that grows by a sample from node to node, half a sign at a
!> step, with ripples that wane over some cells. So integrals along a line of the grid are those that its differences make.
module der_inverse_m
  use kinds_m, only: dp, pi
  implicit none
  private
  public :: DerInverseRipples, DerInverseAt

contains

  !> ripple(n): D⁻¹ of a 1 at node 0, at n + 1/2, less 1/2: on a ring of so many nodes, less what its mean of 0 adds. D is scaled to
  !> be right for the longest waves: by what Holberg's weights make those faster the ripples would not wane, but go on for ever.
  pure subroutine DerInverseRipples(w, ring, ripple)
    real(dp), intent(in) :: w(:)                  !< weights of D
    integer, intent(in) :: ring
    real(dp), intent(out) :: ripple(0:)
    real(dp) :: theta, d, long
    integer :: i, l, n
    long = sum([((2*l - 1)*w(l), l=1, size(w))])
    ripple = [((i + 0.5_dp)/ring - 0.5_dp, i=0, size(ripple) - 1)]
    do n = 1, ring - 1
      theta = 2*pi*n/ring
      d = sum([(2*w(l)*sin((l - 0.5_dp)*theta), l=1, size(w))])/long
      ripple = ripple + [(sin(theta*(i + 0.5_dp)), i=0, size(ripple) - 1)]/(d*ring)
    end do
  end subroutine DerInverseRipples

  !> D⁻¹ of a 1 at node 0, at n + 1/2; beyond the ripples half a sign.
  pure real(dp) function DerInverseAt(ripple, n) result(at)
    real(dp), intent(in) :: ripple(0:)
    integer, intent(in) :: n
    integer :: i
    i = merge(n, -1 - n, n >= 0)
    at = 0.5_dp
    if (i < size(ripple)) at = 0.5_dp + ripple(i)
    if (n < 0) at = -at
  end function DerInverseAt

end module der_inverse_m
