!> The speed of the wave that runs along a flat contact of water and rock.
module scholte_m
  use kinds_m, only: dp
  implicit none
  private
  public :: Scholte

contains

  !> Root of Scholte's equation below all speeds, 4 sqrt(1 - a) sqrt(1 - b) - (2 - b)**2 = (rho1/rho) b**2 sqrt(1 - a)/sqrt(1 - w) with
  !> a, b, w the squares of its speed over vp, vs of the rock and the speed c of sound; rho1: density of the water.
  pure real(dp) function Scholte(vp, vs, rho, c, rho1) result(cs)
    real(dp), intent(in) :: vp, vs, rho, c, rho1
    real(dp) :: low, high, of(3)
    integer :: m
    low = 0.01_dp*vs
    high = min(c, vs)*(1 - 1e-12_dp)
    do m = 1, 60
      cs = (low + high)/2
      of = (cs/[vp, vs, c])**2
      if (4*sqrt(1 - of(1))*sqrt(1 - of(2)) - (2 - of(2))**2 > rho1/rho*of(2)**2*sqrt((1 - of(1))/(1 - of(3)))) then
        low = cs
      else
        high = cs
      end if
    end do
  end function Scholte

end module scholte_m
