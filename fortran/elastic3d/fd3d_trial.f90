!> Measures the speed of CPU cores in 3D, in a moment before the first shot; cpu_trial.f90 says why.
module fd3d_trial_m
  use anelastic_m, only: anelastic_t, AnelasticFit
  use error_m, only: error_t
  use fd3d_engine_m, only: fd3d_engine_t, fd3d_grid_t
  use fd3d_absorb_m, only: fd3d_profiles_t, Fd3dProfiles
  use fd3d_grid_m, only: Fd3dGrid
  use fd3d_variants_m, only: fd3d_variants, Fd3dEngineNew
  use kinds_m, only: dp, sp
  use scheme3d_m, only: scheme3d_t
  use scheme_m, only: scheme_t
  use cpu_trial_m, only: TrialRate
  use window_m, only: window_t
  implicit none
  private
  public :: Fd3dTrial

  integer, parameter :: side = 64               !< cells of the window without layers, along each axis
  integer, parameter :: steps = 4               !< at a time: the `cpu` variant does several in a sweep
  real(dp), parameter :: seconds = 0.2_dp       !< so long at least, after a first time for the caches

contains

  !> Cell updates a second of the CPU variant with the weights, layers and threads of `scheme`; 0 if it cannot be tried.
  real(dp) function Fd3dTrial(scheme) result(rate)
    class(scheme_t), intent(in) :: scheme
    rate = 0
    select type (scheme)
    type is (scheme3d_t)
      rate = RateOf(scheme)
    end select
  end function Fd3dTrial

  real(dp) function RateOf(scheme) result(rate)
    type(scheme3d_t), intent(in) :: scheme
    class(fd3d_engine_t), allocatable :: engine
    type(fd3d_grid_t) :: grid
    type(window_t) :: window
    type(error_t), allocatable :: error
    integer :: width(6), pad(3)
    rate = 0
    window%nx = side
    window%ny = side
    window%nz = side
    call Fd3dGrid(scheme, scheme%own, window, grid, width, pad)
    call Fd3dEngineNew(fd3d_variants%for_rank(scheme%variant, .false.), engine, error)
    if (allocated(error)) return
    call Prepare(engine, grid, width, scheme, error)
    rate = TrialRate(engine, product(real(grid%n, dp)), steps, seconds, error)
  end function RateOf

  !> Rock at rest with the layers of the scheme, no source, one receiver.
  subroutine Prepare(engine, grid, width, scheme, error)
    class(fd3d_engine_t), intent(inout) :: engine
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: width(6)
    type(scheme3d_t), intent(in) :: scheme
    type(error_t), allocatable, intent(inout) :: error
    type(anelastic_t) :: a
    type(fd3d_profiles_t) :: p
    real(sp), allocatable :: rho(:, :, :)
    integer, parameter :: none(0) = 0
    real(sp), parameter :: nothing(0) = 0
    allocate (rho(grid%n(1) + 2, grid%n(2) + 2, grid%n(3) + 2), source=2000.0_sp)
    call engine%new(grid, error)
    if (.not. allocated(error)) call engine%model(rho, 1.0e6_sp*rho, 1.0e6_sp*rho, error)
    if (grid%anelastic .and. .not. allocated(error)) then
      call AnelasticFit(scheme%own%q_band(1), scheme%own%q_band(2), scheme%own%memory, a, error)
      if (.not. allocated(error)) call engine%quality(real(a%tau, sp), real(a%y, sp), real(a%stiff, sp), 1.0e-5_sp*rho, &
                                                      1.0e-5_sp*rho, error)
    end if
    if (any(grid%layer > 0) .and. .not. allocated(error)) then
      call Fd3dProfiles(grid, width, scheme%vmax, scheme%fpeak, p)
      call engine%pml(p%x, p%y, p%z, error)
    end if
    if (.not. allocated(error)) call engine%source(0, none, none, none, none, none, nothing, error)
    if (.not. allocated(error)) call engine%receivers([1, 2], [0], grid%n(1:1)/2, grid%n(2:2)/2, grid%n(3:3)/2, [1.0_sp], error)
  end subroutine Prepare

end module fd3d_trial_m
