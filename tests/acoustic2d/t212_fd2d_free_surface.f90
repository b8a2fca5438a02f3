!> A free surface reflects as an image source of opposite sign does: pressure and velocity against the exact solution, source and
!> receivers off-grid and less than four cells deep among others, where the interpolation folds at the surface.
program t212_fd2d_free_surface
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
  real(dp), parameter :: c = 1500, rho = 1000, bound = 0.01_dp
  real(dp), parameter :: source_depth(3) = [0.6_dp, 2.3_dp, 9.62_dp]
  real(dp), parameter :: x(5) = [3.1_dp, 12.3_dp, 40.0_dp, 90.77_dp, 200.5_dp], z(4) = [0.8_dp, 1.6_dp, 3.45_dp, 25.2_dp]
  type(scene_t) :: scene
  type(gather_t) :: gather
  type(rate_t) :: rate
  type(error_t), allocatable :: error
  real(dp) :: h
  integer :: i, j, s

  do s = 1, size(source_depth)
    h = 1500/(5*63.0_dp)
    call SceneNew(scene, 260, 60, h, c, rho)
    scene%job%top = 'free'
    scene%job%components = 'p,vx,vz'
    scene%shot%sx = 20.4_dp*h
    scene%shot%sz = source_depth(s)*h
    do j = 1, size(z)
      do i = 1, size(x)
        scene%shot%rx = [scene%shot%rx, scene%shot%sx + x(i)*h]
        scene%shot%rz = [scene%shot%rz, z(j)*h]
      end do
    end do
    call SceneScheme(scene, error)
    call SceneRun(scene, gather, error)
    call ClaimFine(error, 'source '//Str(source_depth(s))//' cells below a free surface, '//Str(scene%scheme%ppw, 3)// &
                   ' points per shortest wavelength')
    call RateNew(rate, scene%wavelet)
    do i = 1, gather%nrec
      call Compare(i)
    end do
  end do
  call Done()

contains

  subroutine Compare(n)
    integer, intent(in) :: n
    real(dp) :: p(gather%nt), vx(gather%nt), vz(gather%nt), part(gather%nt), dx, dz, r, misfit(3)
    integer :: image
    dx = scene%shot%rx(n) - scene%shot%sx
    p = 0
    vx = 0
    vz = 0
    do image = 1, -1, -2
      dz = scene%shot%rz(n) - image*scene%shot%sz
      r = hypot(dx, dz)
      call GreenPressure(rate, c, rho, r, SceneTimes(scene), part)
      p = p + image*part
      call GreenVelocity(rate, c, r, SceneTimes(scene), part)
      vx = vx + image*part*dx/r
      vz = vz + image*part*dz/r
    end do
    misfit = [RelativeL2(gather%traces(:, n, 1), p), norm2(gather%traces(:, n, 2) - vx)/norm2(hypot(vx, vz)), &
              norm2(gather%traces(:, n, 3) - vz)/norm2(hypot(vx, vz))]
    call Claim(all(misfit <= bound), 'receiver '//Str(dx/h, 4)//' cells away, '//Str(scene%shot%rz(n)/h, 3)// &
               ' cells deep: p, vx, vz off the image solution by '//Str(100*misfit(1), 2)//', '//Str(100*misfit(2), 2)//', '// &
               Str(100*misfit(3), 2)//' % <= '//Str(100*bound)//' %')
  end subroutine Compare

end program t212_fd2d_free_surface
