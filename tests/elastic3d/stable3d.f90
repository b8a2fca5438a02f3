!> A time step for media whose cells differ strongly.
module stable3d_m
  use fd3d_engine_m, only: fd3d_grid_t, field_sxy, field_vx
  use fd3d_medium_m, only: Fd3dBuoyancy, Fd3dShearModulus
  use kinds_m, only: dp, sp
  implicit none
  private
  public :: StableStep3d

contains

  !> A time step [s] that is stable in this medium: 2/sqrt(w), w the largest sum of moduli in a row of the matrix that takes
  !> velocities to their second derivatives in time (Gershgorin). In a homogeneous medium it is the well-known h/(vp sqrt(3) sum
  !> |weights|); where cells differ strongly it is smaller than that of the fastest cell, as 1/rho and mu at a point are made from
  !> several cells. Not in it: with half-length 1 a free surface may take 1 % where vp/vs is large.
  real(dp) function StableStep3d(grid, rho, lambda, mu) result(dt)
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
  end function StableStep3d

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

end module stable3d_m
