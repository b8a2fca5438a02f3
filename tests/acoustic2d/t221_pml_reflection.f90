!> Absorbing layers reflect next to nothing at 0 to 80 degrees of incidence. Measured against a run whose lower side is too far away
!> to answer, and compared with the energy of the direct wave after the same path (at the mirror image of the receiver).
program t221_pml_reflection
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use gather_m, only: gather_t
  use kinds_m, only: dp, sp
  use scene_m, only: scene_t, SceneNew, SceneRun, SceneScheme
  use text_m, only: Str
  implicit none
  real(dp), parameter :: pi = acos(-1.0_dp), c = 2000
  integer, parameter :: depth = 20, above = 170, left = 170, right = 320    !< of the source over the layer, and of the source [cells]
  integer, parameter :: far = 210                                          !< how much lower the side lies in the reference run
  integer, parameter :: degrees(9) = [0, 15, 30, 45, 55, 60, 70, 75, 80]
  type(error_t), allocatable :: error

  call Reflect(20, 5.0_dp, 1, -60.0_dp, -40.0_dp)
  call Reflect(20, 5.0_dp, 3, -60.0_dp, -40.0_dp)
  call Reflect(20, 12.0_dp, 1, -60.0_dp, -40.0_dp)
  call Reflect(10, 5.0_dp, 1, -60.0_dp, -40.0_dp)
  call Done()

contains

  !> Energy reflected by a layer of npml cells at ppw points per shortest wavelength; `slower`: the layer is made for waves that
  !> much faster (a fast corner far away sets its design velocity).
  subroutine Reflect(npml, ppw, slower, bound60, bound80)
    integer, intent(in) :: npml, slower
    real(dp), intent(in) :: ppw, bound60, bound80
    type(gather_t) :: near, mirror
    real(dp) :: db(size(degrees)), energy, direct
    character(:), allocatable :: list
    integer :: i, n
    call Model(npml, ppw, slower, 0, near)
    call Model(npml, ppw, slower, far, mirror)
    if (allocated(error)) then
      call ClaimFine(error, 'reflection of '//Str(npml)//' cells')
      return
    end if
    n = size(degrees)
    list = ''
    do i = 1, n
      energy = sum((real(near%traces(:, i, 1), dp) - mirror%traces(:, i, 1))**2)
      direct = sum(real(mirror%traces(:, n + i, 1), dp)**2)
      db(i) = 10*log10(energy/direct)
      list = list//' '//Str(nint(db(i)))
    end do
    call Claim(maxval(db(:6)) <= bound60 .and. maxval(db) <= bound80, Str(npml)//' cells, '//Str(ppw)// &
               ' points per shortest wavelength, layer made for '//Str(slower)//' times the velocity: reflected energy'//list// &
               ' dB at 0 15 30 45 55 60 70 75 80 degrees; <= '//Str(bound60)//' to 60, <= '//Str(bound80)//' to 80 degrees')
  end subroutine Reflect

  !> Traces at the receivers, and at their mirror images as far as they lie in the grid.
  subroutine Model(npml, ppw, slower, extra, gather)
    integer, intent(in) :: npml, slower, extra
    real(dp), intent(in) :: ppw
    type(gather_t), intent(out) :: gather
    type(scene_t) :: scene
    real(dp) :: h, offset
    integer :: i
    h = c/(ppw*62.73_dp)
    call SceneNew(scene, left + right, above + depth + extra + 1, h, c, 1000.0_dp)
    scene%window%medium(1, 1, 1, 1) = real(slower*c, sp)
    scene%job%npml = npml
    scene%job%tmax = (2*depth/cos(80*pi/180) + 10)*h/c + 0.12_dp
    scene%shot%sx = left*h
    scene%shot%sz = above*h
    do i = 1, 2*size(degrees)
      offset = 2*depth*tan(degrees(modulo(i - 1, size(degrees)) + 1)*pi/180)
      scene%shot%rx = [scene%shot%rx, scene%shot%sx + h*nint(offset)]
      scene%shot%rz = [scene%shot%rz, scene%shot%sz + merge(2*depth*h, 0.0_dp, i > size(degrees) .and. extra > 0)]
    end do
    call SceneScheme(scene, error)
    call SceneRun(scene, gather, error)
  end subroutine Model

end program t221_pml_reflection
