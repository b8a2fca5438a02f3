!> Measures the speed of CPU cores in 2D, in a moment before the first shot; cpu_trial.f90 says why.
module fd2d_trial_m
  use error_m, only: error_t
  use fd2d_engine_m, only: fd2d_engine_t, fd2d_grid_t
  use fd2d_grid_m, only: Fd2dGrid
  use fd2d_variants_m, only: fd2d_variants, Fd2dEngineNew
  use kinds_m, only: dp, sp
  use scheme_m, only: scheme_t
  use cpu_trial_m, only: TrialRate
  implicit none
  private
  public :: Fd2dTrial

  integer, parameter :: nx = 1500, nz = 500     !< nodes without layers: as large as the caches of a few cores
  integer, parameter :: steps = 12              !< at a time
  real(dp), parameter :: seconds = 0.1_dp       !< so long at least, after a first time for the caches

contains

  !> Cell updates a second of the CPU variant with the weights and threads of `scheme`; 0 if it cannot be tried.
  real(dp) function Fd2dTrial(scheme) result(rate)
    class(scheme_t), intent(in) :: scheme
    class(fd2d_engine_t), allocatable :: engine
    type(fd2d_grid_t) :: grid
    type(error_t), allocatable :: error
    rate = 0
    grid = Fd2dGrid(scheme, nx, nz)
    call Fd2dEngineNew(fd2d_variants%for_rank(scheme%variant, .false.), engine, error)
    if (allocated(error)) return
    call Prepare(engine, grid, error)
    rate = TrialRate(engine, real(grid%nx, dp)*grid%nz, steps, seconds, error)
  end function Fd2dTrial

  !> An even medium at rest, with layers that absorb nothing; a source that is silent, one receiver.
  subroutine Prepare(engine, grid, error)
    class(fd2d_engine_t), intent(inout) :: engine
    type(fd2d_grid_t), intent(in) :: grid
    type(error_t), allocatable, intent(inout) :: error
    real(sp) :: pml(max(grid%nx, grid%nz), 6)
    real(sp), allocatable :: rho(:, :)
    pml = 0
    pml(:, [3, 6]) = 1
    allocate (rho(grid%nx, grid%nz), source=1000.0_sp)
    call engine%new(grid, error)
    if (.not. allocated(error)) call engine%model(2.0e6_sp*rho, rho, error)
    if (.not. allocated(error)) call engine%pml(pml(:grid%nx, :), pml(:grid%nz, :), error)
    if (.not. allocated(error)) call engine%source([0.0_sp], [grid%nx/2], [grid%nz/2], [1.0_sp], error)
    if (.not. allocated(error)) call engine%receivers([1, 2], [0], [grid%nx/2], [grid%nz/2], [1.0_sp], error)
  end subroutine Prepare

end module fd2d_trial_m
