!> The piece of earth a shot sees, on the modelling grid, without absorbing layers.
module window_m
  use kinds_m, only: dp, sp
  implicit none
  private
  public :: window_t, WindowCell, WindowHas

  !> On nodes, node (1, 1) at (x0, z0); or in cells, the left front upper corner of the first one at (x0, y0, z0). What the parts of
  !> its medium are only the physics knows: vp, rho [m/s, kg/m3] in 2D; vp, vs, rho and, with attenuation, 1/Qp, 1/Qs in 3D.
  type :: window_t
    integer :: nx = 0, nz = 0
    integer :: ny = 0                         !< 0: there is no such axis
    integer :: serial = 0                     !< windows with the same number hold the same; 0 = nothing is known
    real(dp) :: x0 = 0, z0 = 0                !< [m]
    real(dp) :: dx = 0, dz = 0                !< [m]
    real(dp) :: y0 = 0, dy = 0                !< [m]
    real(sp), allocatable :: medium(:, :, :, :)   !< (nx, max(1, ny), nz, parts)
  end type window_t

contains

  !> True of a window whose medium has so many parts in each of its cells, which is checked where a window came from another rank.
  pure logical function WindowHas(window, parts) result(has)
    type(window_t), intent(in) :: window
    integer, intent(in) :: parts
    has = allocated(window%medium)
    if (has) has = all(shape(window%medium) == [window%nx, max(1, window%ny), window%nz, parts])
  end function WindowHas

  !> The cell of a 3D window that holds x [m]; a place on an outermost face, up to rounding, belongs to the outermost cell. Outside:
  !> a number below 1 or above the last.
  pure function WindowCell(window, x) result(c)
    type(window_t), intent(in) :: window
    real(dp), intent(in) :: x(3)
    real(dp), parameter :: on_face = 2e-6_dp      ! of a cell, what Model3dShape lets pass
    integer :: c(3), n(3)
    real(dp) :: place(3)
    n = [window%nx, window%ny, window%nz]
    place = (x - [window%x0, window%y0, window%z0])/[window%dx, window%dy, window%dz]
    place = max(-1.0_dp, min(place, n + 1.0_dp))
    c = floor(place) + 1
    where (place >= n .and. place <= n + on_face) c = n
    where (place < 0 .and. place >= -on_face) c = 1
  end function WindowCell

end module window_m
