!> A shot in a made-up medium, from job to traces: what the physics tests share.
module scene_m
  use error_m, only: error_t
  use fd2d_m, only: fd2d_t
  use gather_m, only: gather_t
  use kinds_m, only: dp, sp
  use parameters_m, only: job_t
  use scheme3d_m, only: scheme3d_t
  use scheme_m, only: SchemeDerive
  use shot_m, only: shot_t
  use wavelet_m, only: wavelet_t, WaveletMake
  use window_m, only: window_t
  implicit none
  private
  public :: scene_t, SceneNew, SceneRough, SceneSolid, SceneMedium, SceneLacks, SceneScheme, SceneRun, SceneTimes, SceneApart, RelativeL2

  type :: scene_t
    type(job_t) :: job
    type(wavelet_t) :: wavelet
    type(scheme3d_t) :: scheme
    type(window_t) :: window
    type(shot_t) :: shot
  end type scene_t

contains

  !> A homogeneous square-celled window with node (1,1) at (0, 0), and a job with the defaults; no receivers yet.
  subroutine SceneNew(scene, nx, nz, h, vp, rho)
    type(scene_t), intent(out) :: scene
    integer, intent(in) :: nx, nz
    real(dp), intent(in) :: h, vp, rho
    associate (j => scene%job)
      j%tmax = 1
      j%dt_out = 0.002_dp
      j%wavelet = 'ricker'
      j%fpeak = 25
      j%delay = -1
      j%amplitude = 1
      j%components = 'p'
      j%positions = 'exact'
      j%half_length = 8
      j%coeffs = 'holberg'
      j%npml = 20
      j%top = 'pml'
      j%variant = 'cpu'
      j%dispersion = 'error'
      j%threads = 1
      j%snapshot_step = 1
      j%snapshot_shots = ''
      j%wavelet_file = ''
    end associate
    scene%window%nx = nx
    scene%window%nz = nz
    scene%window%dx = h
    scene%window%dz = h
    allocate (scene%window%medium(nx, 1, nz, 2), source=real(rho, sp))
    scene%window%medium(:, :, :, 1) = real(vp, sp)
    allocate (scene%shot%rx(0), scene%shot%ry(0), scene%shot%rz(0), scene%shot%channel(0))
  end subroutine SceneNew

  !> A rough medium whose size, odd or even, depends on the half-length, in cells of 10 x 7.5 m, with a source and receivers off the
  !> grid.
  subroutine SceneRough(scene, half_length, free_top)
    type(scene_t), intent(out) :: scene
    integer, intent(in) :: half_length
    logical, intent(in) :: free_top
    integer :: i, k
    call SceneNew(scene, 47 + 3*half_length, 39 + half_length, 10.0_dp, 1500.0_dp, 1000.0_dp)
    scene%window%dz = 7.5_dp
    do k = 1, scene%window%nz
      do i = 1, scene%window%nx
        scene%window%medium(i, 1, k, 1) = 1500 + 1700*real(modulo(i*i*7 + k*29, 13), sp)/12
        scene%window%medium(i, 1, k, 2) = 1000 + 900*real(modulo(i*37 + k*k*11, 17), sp)/16
      end do
    end do
    scene%job%half_length = half_length
    scene%job%top = trim(merge('free', 'pml ', free_top))
    scene%job%dispersion = 'warn'
    scene%shot%sx = 203.3_dp
    scene%shot%sz = 11.2_dp
    scene%shot%rx = [3.0_dp, 100.0_dp, 227.1_dp, 391.9_dp, 460.0_dp]
    scene%shot%rz = [4.4_dp, 200.0_dp, 111.7_dp, 7.5_dp, 280.0_dp]
  end subroutine SceneRough

  !> A homogeneous cube of n cells of 10 m along each side, 3000 and 1500 m/s and 2000 kg/m3, and a 3D scheme of nt steps of
  !> 1 ms made by hand, without a job; no source and no records yet.
  subroutine SceneSolid(scene, n, nt)
    type(scene_t), intent(inout) :: scene
    integer, intent(in) :: n, nt
    associate (s => scene%scheme, w => scene%window)
      s%dx = 10
      s%dy = 10
      s%dz = 10
      s%dt = 1.0e-3_dp
      s%nt = nt
      s%fband = 60
      s%fpeak = 25
      s%vmin = 1500
      s%vmax = 3000
      s%half_length = 2
      s%w(:2) = [9.0_dp/8, -1.0_dp/24]
      s%time_correction = .false.
      s%own%planes = ''
      s%own%fields = ''
      w%nx = n
      w%ny = n
      w%nz = n
      w%dx = 10
      w%dy = 10
      w%dz = 10
      allocate (w%medium(n, n, n, 3))
      w%medium(:, :, :, 1) = 3000
      w%medium(:, :, :, 2) = 1500
      w%medium(:, :, :, 3) = 2000
    end associate
  end subroutine SceneSolid

  !> Changes the medium below row k0.
  subroutine SceneMedium(scene, k0, vp, rho)
    type(scene_t), intent(inout) :: scene
    integer, intent(in) :: k0
    real(dp), intent(in) :: vp, rho
    scene%window%medium(:, 1, k0 + 1:, 1) = real(vp, sp)
    scene%window%medium(:, 1, k0 + 1:, 2) = real(rho, sp)
  end subroutine SceneMedium

  !> Receivers and a source beside contacts of a 2D earth that the scene's grid does not have, each as far from it as it likes.
  subroutine SceneLacks(scene)
    type(scene_t), intent(inout) :: scene
    integer :: r
    real(dp) :: rho, c
    rho = real(scene%window%medium(1, 1, 1, 2), dp)
    c = 1/(rho*real(scene%window%medium(1, 1, 1, 1), dp)**2)
    associate (dx => scene%window%dx, dz => scene%window%dz, n => size(scene%shot%rx) + 1)
      scene%shot%at_places = reshape([([rho*(0.8_dp + 0.2_dp*r), 0.1_dp*r*c*dx, -0.1_dp*dx/rho, 0.1_dp*dx*rho, 0.02_dp*rho*c*dx**2, &
                                    -0.01_dp*dx**2, 0.02_dp*rho**2*c*dx**3, -0.02_dp*rho*dx**3/r, -0.2_dp*c*dz, 0.1_dp*dz/(r*rho), &
                                    -0.1_dp*dz*rho/r, -0.02_dp*rho*c*dz**2/r, 0.01_dp*dz**2, -0.01_dp*rho**2*c*dz**3, &
                                    0.02_dp*rho*dz**3/r], r=1, n)], [15, n])
    end associate
  end subroutine SceneLacks

  !> Wavelet and scheme of the scene's job.
  subroutine SceneScheme(scene, error)
    type(scene_t), intent(inout) :: scene
    type(error_t), allocatable, intent(inout) :: error
    if (allocated(error)) return
    call WaveletMake(scene%job, scene%wavelet, error)
    if (allocated(error)) return
    call SchemeDerive(scene%job, scene%wavelet, real(minval(scene%window%medium(:, :, :, 1)), dp), &
                      real(maxval(scene%window%medium(:, :, :, 1)), dp), &
                      [scene%window%dx, 0.0_dp, scene%window%dz], scene%scheme, error)
  end subroutine SceneScheme

  !> Models the scene with its scheme.
  subroutine SceneRun(scene, gather, error)
    type(scene_t), intent(in) :: scene
    type(gather_t), intent(inout) :: gather
    type(error_t), allocatable, intent(inout) :: error
    type(fd2d_t) :: solver
    if (allocated(error)) return
    call solver%setup(scene%scheme, scene%window, scene%shot, error)
    if (.not. allocated(error)) call solver%modfd(error)
    if (.not. allocated(error)) call solver%gather(gather, error)
    call solver%free()
  end subroutine SceneRun

  !> Times of the output samples [s].
  pure function SceneTimes(scene) result(t)
    type(scene_t), intent(in) :: scene
    real(dp) :: t(scene%scheme%nt_out)
    integer :: i
    t = [((i - 1)*scene%scheme%dt_out, i=1, size(t))]
  end function SceneTimes

  !> RelativeL2 of the trace of b that differs most from that of a.
  pure real(dp) function SceneApart(a, b) result(worst)
    type(gather_t), intent(in) :: a, b
    integer :: c, r
    worst = 0
    do c = 1, a%ncomp
      do r = 1, a%nrec
        worst = max(worst, RelativeL2(b%traces(:, r, c), real(a%traces(:, r, c), dp)))
      end do
    end do
  end function SceneApart

  !> |a - b|/|b| in the L2 norm.
  pure real(dp) function RelativeL2(a, b)
    real(sp), intent(in) :: a(:)
    real(dp), intent(in) :: b(:)
    RelativeL2 = norm2(a - b)/max(norm2(b), tiny(1.0_dp))
  end function RelativeL2

end module scene_m
