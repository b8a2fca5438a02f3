!> The largest stable time step of the 2D scheme where contrasts of density cost more than StabilityLimit (time_step.f90), which
!> knows homogeneous media, allows for: from the largest eigenvalue of the whole medium (fd2d_eigenvalue.f90). Measured on random
!> layers of half-length 8, contrasts lower the limit by 0.9 % for a ratio of 3, 5.4 % for 10, but sixfold for 1000, as between air
!> and water; with half-length 1 none does.
module fd2d_stability_m
  use error_m, only: error_t, Fail
  use fd2d_eigenvalue_m, only: EigenvalueAbove, EigenvalueBound, EigenvalueLargest
  use fd2d_engine_m, only: fd2d_grid_t
  use kinds_m, only: dp, sp
  use time_step_m, only: reserve => STABILITY_RESERVE, StabilityLimit
  use text_m, only: Str, StrAtMost
  use threads_m, only: ThreadsOf
  implicit none
  private
  public :: ContrastCure, ContrastWords, StabilityCheck, StabilityStep, StabilityStepApart

  real(sp), parameter :: harmless_ratio = 4

contains

  !> Fails where the medium kappa(nx,nz) [Pa], rho(nx,nz) [kg/m3] needs a smaller time step than grid%dt. Density ratios up to 4
  !> are covered by StabilityLimit; beyond, a cheap bound decides, and where that is not enough the eigenvalue itself. With rho_z,
  !> rho is at the points of vx, rho_z at those of vz: modulus and density are means of different cells, and a bound decides.
  subroutine StabilityCheck(kappa, rho, grid, error, rho_z)
    real(sp), intent(in) :: kappa(:, :), rho(:, :)
    type(fd2d_grid_t), intent(in) :: grid
    type(error_t), allocatable, intent(inout) :: error
    real(sp), intent(in), optional :: rho_z(:, :)
    real(dp) :: limit, c
    real(sp) :: fastest, lightest, densest
    integer :: i, k
    if (present(rho_z)) then
      limit = StabilityStepApart(kappa, rho, rho_z, grid, .false.)
      if (grid%dt > limit) call Refuse(.true., min(minval(rho), minval(rho_z)), max(maxval(rho), maxval(rho_z)))
      return
    end if
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
    c = sqrt(real(fastest, dp))
    limit = StabilityLimit(grid%w(:grid%half_length), grid%dx, grid%dz, c)
    if (grid%dt > limit*(1 + 1e-6_dp)) then
      call Fail(error, 'dt = '//Str(grid%dt)//' s is unstable where vp = '//Str(c)//' m/s: at most '//StrAtMost(limit, 5)//' s')
      return
    end if
    if (densest <= harmless_ratio*lightest) return
    limit = StabilityStep(kappa, rho, grid)
    if (grid%dt > limit) call Refuse(.false., lightest, densest)

  contains

    subroutine Refuse(apart, lightest, densest)
      logical, intent(in) :: apart
      real(sp), intent(in) :: lightest, densest
      call Fail(error, ContrastWords('this window', apart, lightest, densest)//' make dt = '//Str(grid%dt)// &
                ' s unstable: set dt to at most '//StrAtMost(limit, 4)//' s, '//ContrastCure(apart))
    end subroutine Refuse

  end subroutine StabilityCheck

  !> 'the density contrasts of this window (from .. to .. kg/m3)'; apart: modulus and density are means of different cells, and the
  !> contrasts are those of both.
  pure function ContrastWords(of, apart, lightest, densest) result(words)
    character(*), intent(in) :: of
    logical, intent(in) :: apart
    real(sp), intent(in) :: lightest, densest
    character(:), allocatable :: words
    words = Str(lightest, 4)//' to '//Str(densest, 4)//' kg/m3)'
    if (apart) then
      words = 'the contrasts of '//of//' (density from '//words
    else
      words = 'the density contrasts of '//of//' (from '//words
    end if
  end function ContrastWords

  !> With half-length 1 no contrast costs anything where modulus and density are those of one sample.
  pure function ContrastCure(apart) result(words)
    logical, intent(in) :: apart
    character(:), allocatable :: words
    words = 'or use half_length=1, or lessen the contrast'
    if (apart) words = 'or lessen the contrast'
  end function ContrastCure

  !> The largest stable step [s] where contrasts of density may matter; huge if grid%dt is surely stable.
  real(dp) function StabilityStep(kappa, rho, grid) result(limit)
    real(sp), intent(in) :: kappa(:, :), rho(:, :)
    type(fd2d_grid_t), intent(in) :: grid
    limit = huge(limit)
    if (maxval(rho) <= harmless_ratio*minval(rho)) return
    if (grid%dt**2*EigenvalueBound(kappa, rho, grid) <= 4) return
    limit = 2*reserve/sqrt(EigenvalueLargest(kappa, rho, grid))
  end function StabilityStep

  !> A stable step [s], as large as the bound of the eigenvalue lets it be, of densities apart; huge if grid%dt is stable.
  !> `level`: it is stable too where a window ends at any column and goes on from there.
  real(dp) function StabilityStepApart(kappa, rho_x, rho_z, grid, level) result(limit)
    real(sp), intent(in) :: kappa(:, :), rho_x(:, :), rho_z(:, :)
    type(fd2d_grid_t), intent(in) :: grid
    logical, intent(in) :: level
    real(dp) :: above
    above = EigenvalueAbove(kappa, rho_x, rho_z, grid, 4/grid%dt**2, .false.)
    if (level) above = max(above, EigenvalueAbove(kappa, rho_x, rho_z, grid, 4/grid%dt**2, .true.))
    limit = huge(limit)
    if (grid%dt**2*above > 4) limit = 2/sqrt(above)
  end function StabilityStepApart

end module fd2d_stability_m
