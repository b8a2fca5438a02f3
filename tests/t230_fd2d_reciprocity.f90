!> Source and receiver may change places: in a medium of rough velocity and density the pressure trace stays the same, with no factor
!> between, as the source is a volume rate and the receiver a pressure.
program t230_fd2d_reciprocity
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use gather_m, only: gather_t
  use kinds_m, only: dp, sp
  use scene_m, only: RelativeL2, scene_t, SceneNew, SceneRun, SceneScheme
  use text_m, only: Str
  implicit none
  real(dp), parameter :: x(5) = [131.7_dp, 555.0_dp, 902.21_dp, 1303.3_dp, 160.2_dp], &
                         z(5) = [18.3_dp, 404.4_dp, 23.0_dp, 700.1_dp, 22.5_dp]
  type(error_t), allocatable :: error
  type(gather_t) :: gather(5)
  integer :: i, j, top
  real(dp) :: misfit, worst

  do top = 1, 2
    do i = 1, 5
      call Shoot(i, top == 1, gather(i))
    end do
    call ClaimFine(error, 'five shots in a rough medium, '//merge('free surface', 'layer on top', top == 1))
    worst = 0
    do i = 1, 5
      do j = i + 1, 5
        misfit = RelativeL2(gather(i)%traces(:, j, 1), real(gather(j)%traces(:, i, 1), dp))
        worst = max(worst, misfit)
      end do
    end do
    call Claim(worst <= 1e-5_dp, 'ten pairs, one 3 cells apart, swapped: traces differ by '//Str(worst, 2)//' relative L2 at most, <= 1e-5')
  end do
  call Done()

contains

  subroutine Shoot(n, free_top, gather)
    integer, intent(in) :: n
    logical, intent(in) :: free_top
    type(gather_t), intent(out) :: gather
    type(scene_t) :: scene
    integer :: i, k
    call SceneNew(scene, 144, 81, 10.0_dp, 1500.0_dp, 1000.0_dp)
    if (free_top) scene%job%top = 'free'
    do k = 10, 81
      do i = 1, 144
        scene%window%vp(i, k) = 2200 + 700*real(modulo(i*i*7 + k*29, 13), sp)/12 + 10*k
        scene%window%rho(i, k) = 1700 + 900*real(modulo(i*37 + k*k*11, 17), sp)/16
      end do
    end do
    scene%job%fpeak = 15
    scene%shot%sx = x(n)
    scene%shot%sz = z(n)
    scene%shot%rx = x
    scene%shot%rz = z
    call SceneScheme(scene, error)
    call SceneRun(scene, gather, error)
  end subroutine Shoot

end program t230_fd2d_reciprocity
