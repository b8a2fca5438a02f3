!> Averages of the medium of the 3D solver, once for Fortran; der3d.h has the same for C. Volumes come at the centres of the
!> cells with a ring of one cell around: here (0:nx+1, 0:ny+1, 0:nz+1). Point numbers as of the fields: vx, vy, vz; sxy, sxz, syz.
module fd3d_medium_m
  use fd3d_engine_m, only: field_sxy, field_sxz, field_vx, field_vy
  use kinds_m, only: dp, sp
  implicit none
  private
  public :: Fd3dBuoyancy, Fd3dShearModulus, Fd3dShearMean

contains

  !> 1/rho at a velocity point: one over the mean of rho of the two cells beside it; 0 between air and air.
  pure real(sp) function Fd3dBuoyancy(rho, field, i, j, k) result(b)
    real(sp), intent(in) :: rho(0:, 0:, 0:)
    integer, intent(in) :: field, i, j, k
    real(dp) :: total
    select case (field)
    case (field_vx)
      total = real(rho(i, j, k), dp) + rho(i - 1, j, k)
    case (field_vy)
      total = real(rho(i, j, k), dp) + rho(i, j - 1, k)
    case default
      total = real(rho(i, j, k), dp) + rho(i, j, k - 1)
    end select
    b = 0
    if (total > 0) b = real(2/total, sp)
  end function Fd3dBuoyancy

  !> mu at a shear point: harmonic mean of the four cells around the edge; 0 where any of them is 0, a fluid or air.
  pure real(sp) function Fd3dShearModulus(mu, field, i, j, k) result(m)
    real(sp), intent(in) :: mu(0:, 0:, 0:)
    integer, intent(in) :: field, i, j, k
    real(dp) :: four(4)
    four = AroundEdge(mu, field, i, j, k)
    m = 0
    if (all(four > 0)) m = real(4/sum(1/four), sp)
  end function Fd3dShearModulus

  !> Mean of the four cells around a shear point, of 1/Q.
  pure real(sp) function Fd3dShearMean(q, field, i, j, k) result(mean)
    real(sp), intent(in) :: q(0:, 0:, 0:)
    integer, intent(in) :: field, i, j, k
    mean = real(sum(AroundEdge(q, field, i, j, k))/4, sp)
  end function Fd3dShearMean

  pure function AroundEdge(a, field, i, j, k) result(four)
    real(sp), intent(in) :: a(0:, 0:, 0:)
    integer, intent(in) :: field, i, j, k
    real(dp) :: four(4)
    select case (field)
    case (field_sxy)
      four = [a(i, j, k), a(i - 1, j, k), a(i, j - 1, k), a(i - 1, j - 1, k)]
    case (field_sxz)
      four = [a(i, j, k), a(i - 1, j, k), a(i, j, k - 1), a(i - 1, j, k - 1)]
    case default
      four = [a(i, j, k), a(i, j - 1, k), a(i, j, k - 1), a(i, j - 1, k - 1)]
    end select
  end function AroundEdge

end module fd3d_medium_m
