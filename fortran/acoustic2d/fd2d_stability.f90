!> The largest stable time step of the 2D scheme where contrasts of density cost more than StabilityLimit (time_step.f90), which
!> knows homogeneous media, allows for: from the largest eigenvalue of the whole medium (fd2d_eigenvalue.f90). Measured on random
!> layers of half-length 8, contrasts lower the limit by 0.9 % for a ratio of 3, 5.4 % for 10, but sixfold for 1000, as between air
!> and water; with half-length 1 none does.
module fd2d_stability_m
  use error_m, only: error_t, Fail
  use fd2d_eigenvalue_m, only: EigenvalueBound, EigenvalueLargest
  use fd2d_engine_m, only: fd2d_grid_t
  use kinds_m, only: dp, sp
  use time_step_m, only: reserve => STABILITY_RESERVE, StabilityLimit
  use text_m, only: Str
  use threads_m, only: ThreadsOf
  implicit none
  private
  public :: StabilityCheck, StabilityStep

  real(sp), parameter :: harmless_ratio = 4

contains

  !> Fails where the medium kappa(nx,nz) [Pa], rho(nx,nz) [kg/m3] needs a smaller time step than grid%dt; with rho_z, rho is at the
  !> points of vx and rho_z at those of vz. Density ratios up to 4 are covered by StabilityLimit where modulus and density are those
  !> of one sample; beyond, and where they are means of different cells, a cheap bound decides, and where that is not enough the
  !> eigenvalue itself.
  subroutine StabilityCheck(kappa, rho, grid, error, rho_z)
    real(sp), intent(in) :: kappa(:, :), rho(:, :)
    type(fd2d_grid_t), intent(in) :: grid
    type(error_t), allocatable, intent(inout) :: error
    real(sp), intent(in), optional :: rho_z(:, :)
    real(dp) :: limit, c
    real(sp) :: fastest, lightest, densest
    integer :: i, k
    fastest = 0
    lightest = huge(lightest)
    densest = 0
    !$omp parallel do reduction(max: fastest, densest) reduction(min: lightest) num_threads(ThreadsOf(grid%threads))
    do k = 1, size(rho, 2)
      !$omp simd reduction(max: fastest, densest) reduction(min: lightest)
      do i = 1, size(rho, 1)
        fastest = max(fastest, kappa(i, k)/rho(i, k))
        lightest = min(lightest, rho(i, k))
        densest = max(densest, rho(i, k))
      end do
    end do
    !$omp end parallel do
    if (present(rho_z)) call Extremes(kappa, rho, rho_z, fastest, lightest, densest)
    c = sqrt(real(fastest, dp))
    limit = StabilityLimit(grid%w(:grid%half_length), grid%dx, grid%dz, c)
    if (grid%dt > limit*(1 + 1e-6_dp)) then
      call Fail(error, 'dt = '//Str(grid%dt)//' s is unstable where vp = '//Str(c)//' m/s: at most '//Str(limit, 5)//' s')
      return
    end if
    if (present(rho_z)) then
      limit = StabilityStep(kappa, rho, grid, rho_z)
    else
      if (densest <= harmless_ratio*lightest) return
      limit = StabilityStep(kappa, rho, grid)
    end if
    if (grid%dt > limit) call Fail(error, 'the contrasts of this window (density from '//Str(lightest, 4)//' to '// &
                                   Str(densest, 4)//' kg/m3) make dt = '//Str(grid%dt)//' s unstable: set dt to at most '// &
                                   Str(limit, 4)//' s, or use half_length=1, or lessen the contrast')
  end subroutine StabilityCheck

  !> The square of the largest velocity that is not one cell's alone, the smallest and the largest density, of densities apart. A
  !> modulus that overshoots beside a contact is one cell's and, as far as the means of the model let it, costs the step less than
  !> what StabilityLimit keeps in reserve.
  subroutine Extremes(kappa, rho_x, rho_z, fastest, lightest, densest)
    real(sp), intent(in) :: kappa(:, :), rho_x(:, :), rho_z(:, :)
    real(sp), intent(out) :: fastest, lightest, densest
    integer :: i, k
    fastest = 0
    associate (nx => size(kappa, 1), nz => size(kappa, 2))
      !$omp parallel do reduction(max: fastest)
      do k = 1, nz
        do i = 1, nx
          fastest = max(fastest, min(kappa(i, k), kappa(max(i - 1, 1), k), kappa(min(i + 1, nx), k), kappa(i, max(k - 1, 1)), &
                                     kappa(i, min(k + 1, nz)))/max(rho_x(i, k), rho_x(max(i - 1, 1), k), rho_z(i, k), &
                                                                   rho_z(i, max(k - 1, 1))))
        end do
      end do
      !$omp end parallel do
    end associate
    lightest = min(minval(rho_x), minval(rho_z))
    densest = max(maxval(rho_x), maxval(rho_z))
  end subroutine Extremes

  !> The largest stable step [s] where contrasts of density may matter; huge if grid%dt is surely stable.
  real(dp) function StabilityStep(kappa, rho, grid, rho_z) result(limit)
    real(sp), intent(in) :: kappa(:, :), rho(:, :)
    type(fd2d_grid_t), intent(in) :: grid
    real(sp), intent(in), optional :: rho_z(:, :)
    limit = huge(limit)
    if (present(rho_z)) then
      if (grid%dt**2*EigenvalueBound(kappa, rho, grid, rho_z) <= 4) return
      limit = 2*reserve/sqrt(EigenvalueLargest(kappa, rho, grid, rho_z))
      return
    end if
    if (maxval(rho) <= harmless_ratio*minval(rho)) return
    if (grid%dt**2*EigenvalueBound(kappa, rho, grid) <= 4) return
    limit = 2*reserve/sqrt(EigenvalueLargest(kappa, rho, grid))
  end function StabilityStep

end module fd2d_stability_m
