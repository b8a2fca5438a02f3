!> Where the medium of the 3D solver is averaged, once for Fortran; der3d.h says the same for C. Volumes come at the centres of the
!> cells with a ring of one cell around: here (0:nx+1, 0:ny+1, 0:nz+1). Point numbers as of the fields: vx, vy, vz; sxy, sxz, syz.
module fd3d_medium_m
  use fd3d_engine_m, only: fd3d_grid_t, field_sxy, field_sxz, field_vx, field_vy
  use kinds_m, only: dp, sp
  implicit none
  private
  public :: Fd3dBuoyancy, Fd3dShearModulus, Fd3dShearMean, Fd3dStableStep

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

  !> A time step [s] that is stable in this medium: 2/sqrt(w), w the largest sum of moduli in a row of the matrix that takes
  !> velocities to their second derivatives in time (Gershgorin). In a homogeneous medium it is the well-known h/(vp sqrt(3) sum
  !> |weights|); where cells differ strongly it is smaller than that of the fastest cell, as 1/rho and mu at a point are made from
  !> several cells. Not in it: a free surface takes 2 % at vp/vs = 3, 5 % at 10 (der3d.h).
  real(dp) function Fd3dStableStep(grid, rho, lambda, mu) result(dt)
    type(fd3d_grid_t), intent(in) :: grid
    real(sp), intent(in) :: rho(0:, 0:, 0:), lambda(0:, 0:, 0:), mu(0:, 0:, 0:)
    integer :: i, j, k, c
    real(dp) :: largest
    largest = 0
    !$omp parallel do private(i, j, c) reduction(max:largest)
    do k = 1, grid%n(3)
      do j = 1, grid%n(2)
        do i = 1, grid%n(1)
          do c = 1, 3
            largest = max(largest, RowSum(grid, rho, lambda, mu, c, [i, j, k]))
          end do
        end do
      end do
    end do
    dt = huge(dt)
    if (largest > 0) dt = 2/sqrt(largest)
  end function Fd3dStableStep

  !> Of velocity c at a point: normal stresses of the cells along axis c, shear stresses along the two others.
  pure real(dp) function RowSum(grid, rho, lambda, mu, c, at)
    type(fd3d_grid_t), intent(in) :: grid
    real(sp), intent(in) :: rho(0:, 0:, 0:), lambda(0:, 0:, 0:), mu(0:, 0:, 0:)
    integer, intent(in) :: c, at(3)
    real(dp) :: slow(3)
    integer :: a, m, o, p(3)
    slow = 1/grid%d
    RowSum = 0
    do a = 1, 3
      do m = 1, grid%half_length
        do o = merge(-m, 1 - m, a == c), merge(m - 1, m, a == c), 2*m - 1
          p = at
          p(a) = min(max(at(a) + o, 1), grid%n(a))
          if (a == c) then
            RowSum = RowSum + abs(grid%w(m))*slow(a)*((lambda(p(1), p(2), p(3)) + 2.0_dp*mu(p(1), p(2), p(3)))*slow(a) &
                                                      + abs(lambda(p(1), p(2), p(3)))*(sum(slow) - slow(a)))
          else
            RowSum = RowSum + abs(grid%w(m))*slow(a)*(slow(a) + slow(c)) &
                     *Fd3dShearModulus(mu, field_sxy + a + c - 3, p(1), p(2), p(3))
          end if
        end do
      end do
    end do
    RowSum = RowSum*2*sum(abs(grid%w(:grid%half_length)))*Fd3dBuoyancy(rho, field_vx + c - 1, at(1), at(2), at(3))
  end function RowSum

end module fd3d_medium_m
