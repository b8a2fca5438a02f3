!> The slowest wave's slowness at places along the straight way from a source to a receiver.
module straightpath_m
  use kinds_m, only: dp
  use physics_m, only: physics_t
  implicit none
  private
  public :: StraightPath, path_places

  integer, parameter :: path_places = 64      !< places looked at; each stands for as much of the way

contains

  !> Slowness [s/m], (path_places), between the points `from` and `to` (x, y, z) [m]. A place without waves, as air, counts as what
  !> lies before it on the way.
  pure function StraightPath(physics, from, to) result(slowness)
    class(physics_t), intent(in) :: physics
    real(dp), intent(in) :: from(3), to(3)
    real(dp) :: slowness(path_places), v, here
    integer :: i
    v = physics%vmin
    do i = 1, path_places
      here = physics%velocity(from + (i - 0.5_dp)/path_places*(to - from))
      if (here > 0) v = here
      slowness(i) = 1/v
    end do
  end function StraightPath

end module straightpath_m
