!> Receivers in shallow water below a free surface, said before the first shot: with the surface and the sea floor a few cells apart
!> what the grid lacks at both adds up (accuracy.md, t654).
module shallow_water_m
  use kinds_m, only: dp
  use model3d_m, only: model3d_t, Model3dDown
  use model3d_window_m, only: Model3dCutsFloor
  use parameters_m, only: job_t
  use scheme3d_m, only: scheme3d_t
  use scheme_m, only: scheme_t, SchemeWarn
  use shot_m, only: shot_t
  use text_m, only: Str
  use told_receivers_m, only: off_most, told_receivers_t, ToldAdd
  implicit none
  private
  public :: ShallowWater, ShallowWaterSay, WaterDepth

  integer, parameter :: least(2) = [5, 7]         !< cells of water that suffice: floors on a face of the cells, within one
  real(dp), parameter :: below = 3                !< receivers so many cells below the floor are looked at
  real(dp), parameter :: on_face = 1.0e-3_dp      !< of a cell

contains

  !> Looks at a shot.
  subroutine ShallowWater(told, earth, job, scheme, shot)
    type(told_receivers_t), intent(inout) :: told
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(scheme3d_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    real(dp) :: cells, part
    logical :: cuts
    integer :: r
    if (.not. scheme%free_top) return
    cuts = Model3dCutsFloor(job, earth, [scheme%dx, scheme%dy, scheme%dz])
    do r = 1, size(shot%rx)
      cells = WaterDepth(earth, shot%rx(r), shot%ry(r))/scheme%dz
      if (.not. cells > 0 .or. (shot%rz(r) - earth%low(3))/scheme%dz > cells + below) cycle
      part = Off(cells, cuts .and. abs(cells - anint(cells)) > on_face)
      if (part > off_most) call ToldAdd(told, shot, r, part, .true.)
    end do
  end subroutine ShallowWater

  !> Of the water that the model begins with at a place [m]; 0: none.
  pure real(dp) function WaterDepth(earth, x, y) result(depth)
    type(model3d_t), intent(in) :: earth
    real(dp), intent(in) :: x, y
    integer :: i, j, l
    depth = 0
    if (earth%layers%n > 0) then
      l = findloc(earth%layers%medium(2, :) > 0 .or. .not. earth%layers%medium(1, :) > 0, .true., 1)
      if (l == 0) return
      if (earth%layers%medium(1, l) > 0) depth = earth%layers%top(l) - earth%layers%top(1)
    else
      i = max(1, min(earth%n(1), nint((x - earth%x0(1))/earth%d(1)) + 1))
      j = max(1, min(earth%n(2), nint((y - earth%x0(2))/earth%d(2)) + 1))
      if (earth%ground(i, j) == 1 .and. earth%seabed(i, j) > 0) depth = max(0.0_dp, Model3dDown(earth, earth%seabed(i, j)))
    end if
  end function WaterDepth

  !> The part of its RMS that pressure may be off by, so many cells of water above the floor, which `cuts` a cell or not. Longer
  !> waves are off as much: it is the thickness of the layer that is wrong.
  pure real(dp) function Off(cells, cuts)
    real(dp), intent(in) :: cells
    logical, intent(in) :: cuts
    Off = 0
    if (cells > least(merge(2, 1, cuts)) - on_face) return
    Off = merge(0.2_dp, 0.12_dp, cells < 3.5_dp)
    if (cuts) Off = merge(0.6_dp, 0.15_dp, cells < least(1))
  end function Off

  !> Adds to scheme%warnings what should be known.
  subroutine ShallowWaterSay(told, scheme)
    type(told_receivers_t), intent(in) :: told
    class(scheme_t), intent(inout) :: scheme
    if (told%n == 0) return
    call SchemeWarn(scheme, Str(told%n)//' receiver(s) stand in water of a few cells below a free surface, or within three '// &
      'cells below its floor, the first of them '//told%first//': pressure and motion across it are off by some '// &
      Str(nint(100*told%off))//' % and more, motion along it by twice that; take a spacing that leaves '//Str(least(1))// &
      ' cells of water or more above a face of the cells, '//Str(least(2))//' where the floor lies in a cell')
  end subroutine ShallowWaterSay

end module shallow_water_m
