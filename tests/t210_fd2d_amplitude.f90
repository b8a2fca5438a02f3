!> Pressure and particle velocity in a homogeneous medium agree with the exact solution in absolute amplitude: off-grid source and
!> receivers, 1.2 to 300 cells apart, five points to the shortest wavelength, default weights and time step.
program t210_fd2d_amplitude
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use gather_m, only: gather_t
  use green_m, only: GreenPressure, GreenVelocity, rate_t, RateNew
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
  real(dp) :: h
  integer :: i, j

  call SceneNew(scene, 2, 2, 1.0_dp, c, rho)
  call SceneScheme(scene, error)
  if (allocated(error)) deallocate (error)
  h = c/(5*scene%wavelet%fmax)
  call SceneNew(scene, 345, 340, h, c, rho)
  scene%job%components = 'p,vx,vz'
  scene%job%tmax = 1.2_dp
  scene%shot%sx = 20.37_dp*h
  scene%shot%sz = 20.81_dp*h
  do j = 1, size(degrees)
    do i = 1, size(cells)
      scene%shot%rx = [scene%shot%rx, scene%shot%sx + cells(i)*h*cos(degrees(j)*pi/180)]
      scene%shot%rz = [scene%shot%rz, scene%shot%sz + cells(i)*h*sin(degrees(j)*pi/180)]
    end do
  end do
  call SceneScheme(scene, error)
  call SceneRun(scene, gather, error)
  call ClaimFine(error, 'shot at '//Str(scene%scheme%ppw, 4)//' points per shortest wavelength, dt = '// &
                 Str(scene%scheme%dt/scene%scheme%dt_limit, 4)//' of the limit')
  call Compare()
  call Done()

contains

  subroutine Compare()
    type(rate_t) :: rate
    real(dp) :: p(gather%nt), v(gather%nt), r, cosine, sine, misfit(3)
    character(:), allocatable :: place
    integer :: n
    call RateNew(rate, scene%wavelet)
    do n = 1, gather%nrec
      r = hypot(scene%shot%rx(n) - scene%shot%sx, scene%shot%rz(n) - scene%shot%sz)
      cosine = (scene%shot%rx(n) - scene%shot%sx)/r
      sine = (scene%shot%rz(n) - scene%shot%sz)/r
      call GreenPressure(rate, c, rho, r, SceneTimes(scene), p)
      call GreenVelocity(rate, c, r, SceneTimes(scene), v)
      misfit = [RelativeL2(gather%traces(:, n, 1), p), norm2(gather%traces(:, n, 2) - v*cosine)/norm2(v), &
                norm2(gather%traces(:, n, 3) - v*sine)/norm2(v)]
      place = Str(r/h, 4)//' cells at '//Str(atan2(sine, cosine)*180/pi, 3)//' degrees'
      call Claim(all(misfit <= bound), place//': relative L2 of p, vx, vz off the exact solution '//Str(100*misfit(1), 2)//', '// &
                 Str(100*misfit(2), 2)//', '//Str(100*misfit(3), 2)//' % <= '//Str(100*bound)//' %')
    end do
  end subroutine Compare

end program t210_fd2d_amplitude
