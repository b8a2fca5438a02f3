!> Exact particle velocity of a line source in a homogeneous full space, and the pressure that a plane contact reflects; beside
!> exact_acoustic.f90, which has the pressure.
!>
!> Along the ray away from the source v(t) = 1/(2π c) ∫ Q'(t - (r/c) cosh u) cosh u du over u >= 0.
module exact_waves_m
  use wavelet_rate_m, only: rate_t, RateAt
  use kinds_m, only: dp
  implicit none
  private
  public :: GreenVelocity, GreenReflection

  real(dp), parameter :: pi = acos(-1.0_dp)

contains

  !> Particle velocity v(i) [m/s] away from the source; the x component is v (x - xs)/r.
  pure subroutine GreenVelocity(rate, c, r, t, v)
    type(rate_t), intent(in) :: rate
    real(dp), intent(in) :: c, r, t(:)
    real(dp), intent(out) :: v(:)
    integer :: i
    do i = 1, size(t)
      v(i) = Integral(rate, r/c, t(i))/(2*pi*c)
    end do
  end subroutine GreenVelocity

  !> Pressure p(i) [Pa] at t(i) [s] of the wave reflected by a plane contact of a medium c(1), rho(1), which holds source and
  !> receiver, and c(2), rho(2); x [m] > 0 their distance along the contact, z [m] > 0 the sum of their distances from it.
  !> Cagniard's path (de Hoop 1960, Appl. Sci. Res. B8, 349-356): with sinθ = x/r the slowness is sin(θ + iu)/c1 on the hyperbola
  !> t = (r/c1) cosh u, which adds Re R, and, beyond the critical angle, sin(θ - v)/c1 at t = (r/c1) cos v, which adds Im R,
  !> the head wave.
  pure subroutine GreenReflection(rate, c, rho, x, z, t, p)
    type(rate_t), intent(in) :: rate
    real(dp), intent(in) :: c(2), rho(2), x, z, t(:)
    real(dp), intent(out) :: p(:)
    integer, parameter :: head_points = 4000
    real(dp) :: tr, theta, last, du, u, vmax, y, total
    integer :: i, j, n
    tr = hypot(x, z)/c(1)
    theta = atan2(x, z)
    vmax = 0
    if (c(2) > c(1)) vmax = max(0.0_dp, theta - asin(c(1)/c(2)))
    do i = 1, size(t)
      total = 0
      if (t(i) - rate%t0 > tr) then
        last = acosh((t(i) - rate%t0)/tr)
        n = 4*(ceiling(last*max(tr*sinh(last)/(16*rate%dt), 200.0_dp)) + 1)
        du = last/n
        do j = 1, n                                        ! midpoints
          u = (j - 0.5_dp)*du
          total = total + du*RateAt(rate, t(i) - tr*cosh(u))*real(Coefficient(cmplx(theta, u, dp)), dp)
        end do
      end if
      if (vmax > 0 .and. t(i) - rate%t0 > tr*cos(vmax)) then
        do j = 1, head_points                              ! v = vmax (1 - y²): R has a square root at v = vmax
          y = (j - 0.5_dp)/head_points
          u = vmax*(1 - y*y)
          total = total + 2*vmax*y/head_points*RateAt(rate, t(i) - tr*cos(u))*aimag(Coefficient(cmplx(theta - u, 0, dp)))
        end do
      end if
      p(i) = rho(1)/(2*pi)*total
    end do

  contains

    !> Reflection coefficient of pressure at the complex angle of incidence.
    pure complex(dp) function Coefficient(angle) result(r)
      complex(dp), intent(in) :: angle
      complex(dp) :: s, eta1, eta2
      s = sin(angle)/c(1)
      eta1 = cos(angle)/c(1)
      eta2 = 1/c(2)**2 - s*s
      if (abs(aimag(eta2)) <= 0 .and. real(eta2, dp) < 0) then
        eta2 = cmplx(0, -sqrt(-real(eta2, dp)), dp)        ! the path runs just above the real axis
      else
        eta2 = sqrt(eta2)
      end if
      r = (rho(2)*eta1 - rho(1)*eta2)/(rho(2)*eta1 + rho(1)*eta2)
    end function Coefficient

  end subroutine GreenReflection

  !> ∫ Q'(t - tr cosh u) cosh u du over u >= 0.
  pure real(dp) function Integral(rate, tr, t) result(total)
    type(rate_t), intent(in) :: rate
    real(dp), intent(in) :: tr, t
    real(dp) :: first, last, du, u, value
    integer :: j, n
    total = 0
    if (t - rate%t0 <= tr) return
    last = acosh((t - rate%t0)/tr)
    first = acosh(max(1.0_dp, (t - rate%t0 - size(rate%d)*rate%dt)/tr))
    n = ceiling((last - first)*max(tr*sinh(last)/(16*rate%dt), 20.0_dp)) + 1
    du = (last - first)/n
    do j = 0, n
      u = first + j*du
      value = RateAt(rate, t - tr*cosh(u))*cosh(u)
      if (j == 0 .or. j == n) value = value/2
      total = total + value*du
    end do
  end function Integral

end module exact_waves_m
