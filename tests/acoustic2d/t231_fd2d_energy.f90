!> In a closed box without losses the energy of the leap-frog scheme, E = 1/2 sum(sigma(n)²/K + rho v(n-1/2) v(n+1/2)), stays what it
!> was but for rounding, whatever the medium.
program t231_fd2d_energy
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use fd2d_engine_m, only: fd2d_engine_t, fd2d_grid_t, field_sigma, field_vx, field_vz
  use fd2d_variants_m, only: Fd2dEngineNew
  use kinds_m, only: dp, sp
  use scene_m, only: scene_t, SceneNew, SceneScheme
  use text_m, only: Str
  implicit none
  integer, parameter :: nx = 73, nz = 58
  type(error_t), allocatable :: error
  integer :: half_length

  do half_length = 1, 8
    call Box('cpu', half_length, 6000)
  end do
  call Box('fortran', 4, 500)
  call Done()

contains

  subroutine Box(variant, half_length, steps)
    character(*), intent(in) :: variant
    integer, intent(in) :: half_length, steps
    class(fd2d_engine_t), allocatable :: engine
    type(fd2d_grid_t) :: g
    type(scene_t) :: scene
    real(sp) :: kappa(nx, nz), rho(nx, nz)
    real(dp) :: e, e0, lowest, highest
    integer :: n
    integer, parameter :: pieces = 10
    call SceneNew(scene, nx, nz, 10.0_dp, 2500.0_dp, 1000.0_dp)
    scene%job%half_length = half_length
    scene%job%dispersion = 'warn'
    call SceneScheme(scene, error)
    g = fd2d_grid_t(nx=nx, nz=nz, threads=1, half_length=half_length, dx=10.0_dp, dz=10.0_dp, dt=scene%scheme%dt, w=scene%scheme%w)
    call Fd2dEngineNew(variant, engine, error)
    if (.not. allocated(error)) call engine%new(g, error)
    if (.not. allocated(error)) call Fill(engine, kappa, rho)
    e0 = 0
    lowest = huge(e)
    highest = 0
    do n = 0, pieces
      if (allocated(error)) exit
      e = Energy(engine, n*(steps/pieces), kappa, rho)
      if (n == 0) e0 = e
      lowest = min(lowest, e/e0)
      highest = max(highest, e/e0)
      if (n < pieces) call engine%timestep(n*(steps/pieces) + 2, steps/pieces - 1, error)
    end do
    call ClaimFine(error, variant//', half-length '//Str(half_length)//', '//Str(steps)//' steps in a rough medium')
    call Claim(highest - 1 <= 1e-5_dp .and. 1 - lowest <= 1e-4_dp, 'energy between '//Str(lowest, 8)//' and '//Str(highest, 8)// &
               ' of what it was; may not grow by more than 1e-5 nor fall by more than 1e-4')
    if (allocated(engine)) call engine%free()
  end subroutine Box

  !> A rough medium, and a rough state of sigma.
  subroutine Fill(engine, kappa, rho)
    class(fd2d_engine_t), intent(inout) :: engine
    real(sp), intent(out) :: kappa(nx, nz), rho(nx, nz)
    real(sp) :: sigma(nx, nz)
    integer :: i, k
    do k = 1, nz
      do i = 1, nx
        rho(i, k) = 1000 + 1500*real(modulo(i*i*7 + k*29, 13))/12
        kappa(i, k) = rho(i, k)*(1200 + 1300*real(modulo(i*37 + k*k*11, 17))/16)**2
        sigma(i, k) = real(modulo(i*i*31 + k*k*17 + i*k, 101))/100 - 0.5
      end do
    end do
    call engine%model(kappa, rho, error)
    if (.not. allocated(error)) call engine%set_field(field_sigma, sigma, error)
  end subroutine Fill

  !> Energy at sigma's time after n steps; takes step n+1.
  real(dp) function Energy(engine, n, kappa, rho) result(e)
    class(fd2d_engine_t), intent(inout) :: engine
    integer, intent(in) :: n
    real(sp), intent(in) :: kappa(nx, nz), rho(nx, nz)
    real(sp), dimension(nx, nz) :: sigma, vx, vz, wx, wz
    real(dp), dimension(nx, nz) :: rx, rz
    e = 0
    call engine%field(field_sigma, sigma, error)
    call engine%field(field_vx, vx, error)
    call engine%field(field_vz, vz, error)
    call engine%timestep(n + 1, 1, error)
    if (allocated(error)) return
    call engine%field(field_vx, wx, error)
    call engine%field(field_vz, wz, error)
    rx(:nx - 1, :) = 0.5_dp*(real(rho(:nx - 1, :), dp) + rho(2:, :))
    rx(nx, :) = rho(nx, :)
    rz(:, :nz - 1) = 0.5_dp*(real(rho(:, :nz - 1), dp) + rho(:, 2:))
    rz(:, nz) = rho(:, nz)
    e = 0.5_dp*sum(real(sigma, dp)**2/kappa + rx*vx*wx + rz*vz*wz)
  end function Energy

end program t231_fd2d_energy
