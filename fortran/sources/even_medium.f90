!> The exact field of a point source in an even medium without end, of waves that grow as exp(s t), s > 0: next to a source what a
!> grid or a mesh lacks is found with it (layers_exact.f90, sem3d_near.f90).
!>
!>     rock    rho s**2 u = div (c : grad u - m delta(x)) + f delta(x)
!>     fluid   s**2/K chi = div (1/rho grad chi) - V delta(x)
!>
!> With h_c = exp(-s r/c)/(4 pi r) these are u_i = G_ij f_j - m_jk d_k G_ij, G_ij = delta_ij h_b/mu + d_i d_j (h_a - h_b)/(rho s**2)
!> (Aki & Richards 2002, eq. 4.23, at the frequency -i s), and chi = -rho V h_c.
module even_medium_m
  use kinds_m, only: dp, pi
  implicit none
  private
  public :: EvenMotion, EvenPotential

contains

  !> Displacement u and its gradient g(i, l) = du_i/dx_l at x from a force [N] and a moment tensor [N m], in a medium of rho, lambda
  !> and mu. blunt [m2]: for a first guess, distances are rounded so near the source.
  pure subroutine EvenMotion(medium, s, x, force, moment, blunt, u, g)
    real(dp), intent(in) :: medium(3), s, x(3), force(3), moment(3, 3), blunt
    real(dp), intent(out) :: u(3)
    real(dp), intent(out), optional :: g(3, 3)
    real(dp) :: b(0:4), f(0:4), a(3), r, trace, along, all
    integer :: i, l
    r = sqrt(sum(x**2) + blunt)
    b = Slopes(s*sqrt(medium(1)/medium(3)), r)
    f = (Slopes(s*sqrt(medium(1)/(medium(2) + 2*medium(3))), r) - b)/(medium(1)*s**2)
    b = b/medium(3)
    a = matmul(moment, x)
    trace = moment(1, 1) + moment(2, 2) + moment(3, 3)
    along = dot_product(x, force)
    all = dot_product(x, a)
    u = force*(b(0) + f(1)) + x*along*f(2) - (a*(b(1) + 2*f(2)) + x*(trace*f(2) + all*f(3)))
    if (.not. present(g)) return
    do l = 1, 3
      do i = 1, 3
        g(i, l) = force(i)*x(l)*(b(1) + f(2)) + x(i)*force(l)*f(2) + x(i)*x(l)*along*f(3) - &
                  (moment(i, l)*(b(1) + 2*f(2)) + a(i)*x(l)*(b(2) + 2*f(3)) + x(i)*(trace*x(l) + 2*a(l))*f(3) + x(i)*x(l)*all*f(4))
      end do
      g(l, l) = g(l, l) + along*f(2) - trace*f(2) - all*f(3)
    end do
  end subroutine EvenMotion

  !> The potential chi and its gradient at x from a volume [m3], in a fluid rho, lambda.
  pure subroutine EvenPotential(medium, s, x, volume, blunt, chi, g)
    real(dp), intent(in) :: medium(2), s, x(3), volume, blunt
    real(dp), intent(out) :: chi
    real(dp), intent(out), optional :: g(3)
    real(dp) :: f(0:4)
    f = Slopes(s*sqrt(medium(1)/medium(2)), sqrt(sum(x**2) + blunt))
    chi = -medium(1)*volume*f(0)
    if (present(g)) g = -medium(1)*volume*f(1)*x
  end subroutine EvenPotential

  !> exp(-kappa r)/(4 pi r) and its derivatives by r**2/2.
  pure function Slopes(kappa, r) result(f)
    real(dp), intent(in) :: kappa, r
    real(dp) :: f(0:4)
    integer :: n
    f(0) = exp(-kappa*r)/(4*pi*r)
    f(1) = -f(0)*(1 + kappa*r)/r**2
    do n = 2, 4
      f(n) = (-(2*n - 1)*f(n - 1) + kappa**2*f(n - 2))/r**2
    end do
  end function Slopes

end module even_medium_m
