!> With Taylor weights of half-length L the error falls with the 2L-th power of the spacing, L = 1..4 (time error removed).
program t214_fd2d_order
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use gather_m, only: gather_t
  use exact_acoustic_m, only: GreenPressure
  use kinds_m, only: dp
  use scene_m, only: RelativeL2, scene_t, SceneNew, SceneRun, SceneScheme, SceneTimes
  use text_m, only: Str
  use wavelet_rate_m, only: rate_t, RateNew
  implicit none
  real(dp), parameter :: c = 2000, rho = 1000, distance = 400           ! five wavelengths of the peak frequency
  integer, parameter :: cells(2, 4) = reshape([320, 400, 100, 128, 80, 96, 84, 96], [2, 4])
  type(error_t), allocatable :: error
  real(dp) :: e(2), order
  integer :: half_length

  do half_length = 1, 4
    e(1) = ErrorOf(half_length, cells(1, half_length))
    e(2) = ErrorOf(half_length, cells(2, half_length))
    order = log(e(1)/e(2))/log(real(cells(2, half_length), dp)/cells(1, half_length))
    call Claim(abs(order - 2*half_length) <= 0.3_dp, 'half-length '//Str(half_length)//': error '//Str(100*e(1), 3)//' % and '// &
               Str(100*e(2), 3)//' % at '//Str(cells(1, half_length))//' and '//Str(cells(2, half_length))// &
               ' cells: order '//Str(order, 3)//', within 0.3 of '//Str(2*half_length))
  end do
  call Done()

contains

  !> Relative L2 error of the pressure `n` cells away from the source, both on nodes.
  real(dp) function ErrorOf(half_length, n) result(e)
    integer, intent(in) :: half_length, n
    type(scene_t) :: scene
    type(gather_t) :: gather
    type(rate_t) :: rate
    real(dp), allocatable :: p(:)
    real(dp) :: h
    h = distance/n
    call SceneNew(scene, n + 21, 41, h, c, rho)
    scene%job%half_length = half_length
    scene%job%coeffs = 'taylor'
    scene%job%dispersion = 'warn'
    scene%job%tmax = 0.4_dp
    scene%shot%sx = 10*h
    scene%shot%sz = 20*h
    scene%shot%rx = [scene%shot%sx + distance]
    scene%shot%rz = [scene%shot%sz]
    call SceneScheme(scene, error)
    call SceneRun(scene, gather, error)
    call ClaimFine(error, 'half-length '//Str(half_length)//' at '//Str(scene%scheme%ppw, 4)//' points per shortest wavelength')
    call RateNew(rate, scene%wavelet)
    allocate (p(gather%nt))
    call GreenPressure(rate, c, rho, distance, SceneTimes(scene), p)
    e = RelativeL2(gather%traces(:, 1, 1), p)
  end function ErrorOf

end program t214_fd2d_order
