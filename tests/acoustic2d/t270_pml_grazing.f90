!> A cable and its source just under an absorbing top: waves that run along a layer for kilometres meet it at almost 90 degrees.
!> Measured against a run whose top is too far away to answer.
program t270_pml_grazing
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use gather_m, only: gather_t
  use kinds_m, only: dp
  use scene_m, only: scene_t, SceneNew, SceneRun, SceneScheme
  use text_m, only: Str
  implicit none
  real(dp), parameter :: h = 10, c = 1500, first = 520, offsets(5) = [1003.7_dp, 3004.1_dp, 4001.3_dp, 5006.4_dp, 7508.8_dp]
  type(error_t), allocatable :: error

  call Reflect(20, [-100.0_dp, -90.0_dp, -80.0_dp, -70.0_dp, -55.0_dp])
  call Reflect(10, [-70.0_dp, -45.0_dp, -36.0_dp, -28.0_dp, -20.0_dp])
  call Done()

contains

  !> Energy that npml cells send back, beside that of the wave that runs along them, at each offset.
  subroutine Reflect(npml, bound)
    integer, intent(in) :: npml
    real(dp), intent(in) :: bound(:)
    type(gather_t) :: near, alone
    real(dp) :: db(size(offsets))
    character(:), allocatable :: list
    integer :: i
    call Model(npml, 0, near)
    call Model(npml, 170, alone)
    if (allocated(error)) then
      call ClaimFine(error, 'grazing waves beside '//Str(npml)//' cells')
      return
    end if
    list = ''
    do i = 1, size(offsets)
      db(i) = 10*log10(sum((real(near%traces(:, i, 1), dp) - alone%traces(:, i, 1))**2)/sum(real(alone%traces(:, i, 1), dp)**2))
      list = list//' '//Str(nint(db(i)))
    end do
    call Claim(all(db <= bound), Str(npml)//' cells, source and cable 11 m below them: reflected energy'//list// &
               ' dB at 1, 3, 4, 5, 7.5 km')
  end subroutine Reflect

  !> Traces of the cable; `above`: rows of the model over it.
  subroutine Model(npml, above, gather)
    integer, intent(in) :: npml, above
    type(gather_t), intent(out) :: gather
    type(scene_t) :: scene
    integer :: i
    call SceneNew(scene, nint((first + offsets(size(offsets)))/h) + 30, 60 + above, h, c, 1000.0_dp)
    scene%job%npml = npml
    scene%job%fpeak = 10
    scene%job%fmax = 0
    scene%job%tmax = offsets(size(offsets))/c + 0.4_dp
    scene%shot%sx = first
    scene%shot%sz = above*h + 11
    do i = 1, size(offsets)
      scene%shot%rx = [scene%shot%rx, scene%shot%sx + offsets(i)]
      scene%shot%rz = [scene%shot%rz, scene%shot%sz]
    end do
    call SceneScheme(scene, error)
    call SceneRun(scene, gather, error)
  end subroutine Model

end program t270_pml_grazing
