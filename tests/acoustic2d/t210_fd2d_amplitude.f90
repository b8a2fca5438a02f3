!> Pressure and particle velocity in a homogeneous medium agree with the exact solution in absolute amplitude: off-grid source and
!> receivers, 1.2 to 300 cells apart, five points to the shortest wavelength, default weights and time step.
program t210_fd2d_amplitude
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use gather_m, only: gather_t
  use exact_acoustic_m, only: GreenPressure
  use wavelet_rate_m, only: rate_t, RateNew
  use exact_waves_m, only: GreenVelocity
  use kinds_m, only: dp
  use scene_m, only: RelativeL2, scene_t, SceneNew, SceneRun, SceneScheme, SceneTimes
  use text_m, only: Str
  implicit none
  real(dp), parameter :: pi = acos(-1.0_dp), c = 2000, rho = 1700, bound = 0.01_dp
  real(dp), parameter :: cells(10) = [1.2_dp, 2.0_dp, 3.0_dp, 5.37_dp, 10.0_dp, 25.1_dp, 60.4_dp, 120.0_dp, 210.7_dp, 300.0_dp]
  real(dp), parameter :: degrees(4) = [0.0_dp, 22.5_dp, 45.0_dp, 78.0_dp]
  type(scene_t) :: scene
  type(gather_t) :: gather
  type(error_t), allocatable :: error
  type(rate_t) :: rate
  real(dp) :: fmax

  call SceneNew(scene, 2, 2, 1.0_dp, c, rho)
  call SceneScheme(scene, error)                       ! for fmax only
  if (allocated(error)) deallocate (error)
  fmax = scene%wavelet%fmax
  call Shoot(c/(5*fmax), c/(5*fmax), degrees, cells, 0.0_dp)
  call Shoot(c/(5*fmax), c/(8*fmax), [67.5_dp], cells, 0.0_dp)
  call Shoot(c/(5*fmax), c/(5*fmax), [33.3_dp], cells, 1.0e-4_dp)
  call Done()

contains

  !> Receivers on rays from the source; the time step as it comes, or a small one without time correction.
  subroutine Shoot(dx, dz, degrees, cells, dt)
    real(dp), intent(in) :: dx, dz, degrees(:), cells(:), dt
    integer :: i, j
    call SceneNew(scene, 345, nint(340*dx/dz), dx, c, rho)
    scene%window%dz = dz
    scene%job%components = 'p,vx,vz'
    scene%job%tmax = 1.2_dp
    scene%job%dt = dt
    scene%job%time_correction = dt <= 0
    scene%shot%sx = 20.37_dp*dx
    scene%shot%sz = 20.81_dp*dz
    do j = 1, size(degrees)
      do i = 1, size(cells)
        scene%shot%rx = [scene%shot%rx, scene%shot%sx + cells(i)*dx*cos(degrees(j)*pi/180)]
        scene%shot%rz = [scene%shot%rz, scene%shot%sz + cells(i)*dx*sin(degrees(j)*pi/180)]
      end do
    end do
    call SceneScheme(scene, error)
    call SceneRun(scene, gather, error)
    call ClaimFine(error, 'cells of '//Str(dx, 4)//' x '//Str(dz, 4)//' m, '//Str(scene%scheme%ppw, 4)// &
                   ' points per shortest wavelength, dt = '//Str(scene%scheme%dt/scene%scheme%dt_limit, 4)// &
                   ' of the limit, time correction '//Str(scene%scheme%time_correction))
    call RateNew(rate, scene%wavelet)
    do i = 1, gather%nrec
      call Compare(i, dx)
    end do
  end subroutine Shoot

  subroutine Compare(n, h)
    integer, intent(in) :: n
    real(dp), intent(in) :: h
    real(dp) :: p(gather%nt), v(gather%nt), r, cosine, sine, misfit(3)
    r = hypot(scene%shot%rx(n) - scene%shot%sx, scene%shot%rz(n) - scene%shot%sz)
    cosine = (scene%shot%rx(n) - scene%shot%sx)/r
    sine = (scene%shot%rz(n) - scene%shot%sz)/r
    call GreenPressure(rate, c, rho, r, SceneTimes(scene), p)
    call GreenVelocity(rate, c, r, SceneTimes(scene), v)
    misfit = [RelativeL2(gather%traces(:, n, 1), p), norm2(gather%traces(:, n, 2) - v*cosine)/norm2(v), &
              norm2(gather%traces(:, n, 3) - v*sine)/norm2(v)]
    call Claim(all(misfit <= bound), Str(r/h, 4)//' cells at '//Str(atan2(sine, cosine)*180/pi, 3)//' degrees'// &
               ': relative L2 of p, vx, vz off the exact solution '//Str(100*misfit(1), 2)//', '// &
               Str(100*misfit(2), 2)//', '//Str(100*misfit(3), 2)//' % <= '//Str(100*bound)//' %')
  end subroutine Compare

end program t210_fd2d_amplitude
