!> The reflection by a contact of velocity and density agrees with the exact solution, before and beyond the critical angle, and so
!> does that of a contact of density alone.
program t213_fd2d_two_layers
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use gather_m, only: gather_t
  use exact_acoustic_m, only: GreenPressure
  use wavelet_rate_m, only: rate_t, RateNew
  use exact_waves_m, only: GreenReflection
  use kinds_m, only: dp
  use scene_m, only: scene_t, SceneMedium, SceneNew, SceneRun, SceneScheme, SceneTimes
  use text_m, only: Str
  implicit none
  real(dp), parameter :: pi = acos(-1.0_dp)
  type(error_t), allocatable :: error

  call Contact([1500.0_dp, 2200.0_dp], [1000.0_dp, 2000.0_dp], 10.0_dp, 0.01_dp)
  call Contact([2000.0_dp, 2000.0_dp], [1000.0_dp, 2500.0_dp], 10.0_dp, 0.01_dp)
  call Contact([3000.0_dp, 2000.0_dp], [2300.0_dp, 1600.0_dp], 10.0_dp, 0.01_dp)
  call Contact([1500.0_dp, 2200.0_dp], [1000.0_dp, 2000.0_dp], 5.0_dp, 0.03_dp)
  call Done()

contains

  !> The contact lies half-way between two rows, 60 cells below source and receivers; total field less the direct wave of the exact
  !> solution is the reflection.
  subroutine Contact(c, rho, ppw, bound)
    real(dp), intent(in) :: c(2), rho(2), ppw, bound
    integer, parameter :: k0 = 81
    type(scene_t) :: scene
    type(gather_t) :: gather
    type(rate_t) :: rate
    real(dp), allocatable :: direct(:), reflected(:)
    real(dp) :: h, z, misfit, worst
    character(:), allocatable :: list
    integer :: n
    h = minval(c)/(ppw*62.73_dp)
    call SceneNew(scene, 330, 200, h, c(1), rho(1))
    call SceneMedium(scene, k0, c(2), rho(2))
    scene%job%tmax = 1.1_dp*330*h/c(1) + 0.06_dp*ppw/5
    scene%shot%sx = 20.37_dp*h
    scene%shot%sz = 20.5_dp*h
    scene%shot%rx = scene%shot%sx + h*[10.0_dp, 30.4_dp, 60.1_dp, 100.7_dp, 150.2_dp, 200.0_dp, 280.9_dp]
    scene%shot%rz = 0*scene%shot%rx + 22.2_dp*h
    call SceneScheme(scene, error)
    call SceneRun(scene, gather, error)
    call ClaimFine(error, 'contact of '//Str(c(1))//' m/s, '//Str(rho(1))//' kg/m3 and '//Str(c(2))//' m/s, '//Str(rho(2))// &
                   ' kg/m3 at '//Str(scene%scheme%ppw, 3)//' points per shortest wavelength')
    call RateNew(rate, scene%wavelet)
    allocate (direct(gather%nt), reflected(gather%nt))
    worst = 0
    list = ''
    do n = 1, gather%nrec
      associate (x => scene%shot%rx(n) - scene%shot%sx)
        z = 2*(k0 - 0.5_dp)*h - scene%shot%sz - scene%shot%rz(n)
        call GreenPressure(rate, c(1), rho(1), hypot(x, scene%shot%rz(n) - scene%shot%sz), SceneTimes(scene), direct)
        call GreenReflection(rate, c, rho, x, z, SceneTimes(scene), reflected)
        misfit = norm2(gather%traces(:, n, 1) - direct - reflected)/norm2(reflected)
        list = list//' '//Str(100*misfit, 2)//' % at '//Str(atan2(x, z)*180/pi, 2)
      end associate
      worst = max(worst, misfit)
    end do
    call Claim(worst <= bound, 'reflection off the exact one by'//list//' degrees <= '//Str(100*bound)//' %')
  end subroutine Contact

end program t213_fd2d_two_layers
