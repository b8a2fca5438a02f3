!> Source and receiver may change places: in a medium of rough velocity and density the pressure trace stays the same, with no
!> factor between, as the source is a volume rate and the receiver a pressure.
!> Beside absorbing sides too: the cells that a source or a receiver between the nodes is spread over must not lie in a layer.
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
  real(dp), parameter :: x_side(5) = [3.3_dp, 12.7_dp, 1421.1_dp, 702.21_dp, 24.4_dp], &
                         z_side(5) = [303.3_dp, 404.4_dp, 223.0_dp, 796.1_dp, 5.3_dp]
  type(error_t), allocatable :: error

  call Swap(x, z, .true., 20, 'free surface, layers of 20 cells')
  call Swap(x, z, .false., 20, 'layers of 20 cells on four sides')
  call Swap(x_side, z_side, .false., 20, 'all within 3 cells of layers of 20 cells')
  call Swap(x_side, z_side, .false., 8, 'all within 3 cells of layers of 8 cells')
  call Done()

contains

  !> Every pair of places is source and receiver, and the other way round.
  subroutine Swap(x, z, free_top, npml, sentence)
    real(dp), intent(in) :: x(5), z(5)
    logical, intent(in) :: free_top
    integer, intent(in) :: npml
    character(*), intent(in) :: sentence
    type(gather_t), allocatable :: gather(:)
    real(dp) :: worst
    integer :: i, j
    allocate (gather(5))
    do i = 1, 5
      call Shoot(i, x, z, free_top, npml, gather(i))
    end do
    call ClaimFine(error, 'five shots in a rough medium, '//sentence)
    worst = 0
    do i = 1, 5
      do j = i + 1, 5
        worst = max(worst, RelativeL2(gather(i)%traces(:, j, 1), real(gather(j)%traces(:, i, 1), dp)))
      end do
    end do
    call Claim(worst <= 1e-5_dp, 'ten pairs swapped: traces differ by '//Str(worst, 2)//' relative L2 at most, <= 1e-5')
  end subroutine Swap

  subroutine Shoot(n, x, z, free_top, npml, gather)
    integer, intent(in) :: n, npml
    real(dp), intent(in) :: x(5), z(5)
    logical, intent(in) :: free_top
    type(gather_t), intent(out) :: gather
    type(scene_t) :: scene
    integer :: i, k
    call SceneNew(scene, 144, 81, 10.0_dp, 1500.0_dp, 1000.0_dp)
    if (free_top) scene%job%top = 'free'
    scene%job%npml = npml
    do k = merge(10, 1, free_top), 81
      do i = 1, 144
        scene%window%medium(i, 1, k, 1) = 2200 + 700*real(modulo(i*i*7 + k*29, 13), sp)/12 + 10*k
        scene%window%medium(i, 1, k, 2) = 1700 + 900*real(modulo(i*37 + k*k*11, 17), sp)/16
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
