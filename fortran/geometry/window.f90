!> The piece of earth a shot sees, on the modelling grid, without absorbing layers.
module window_m
  use checked_m, only: Whole
  use kinds_m, only: dp, sp
  implicit none
  private
  public :: window_t, box_t, window_at_once, WindowAtOnce, WindowCell, WindowClip, WindowBox, WindowHas, WindowParts, WindowSame
  public :: WindowTray

  real(dp), parameter :: window_at_once = 1.6e7_dp   !< cells of a window that are asked for at once

  !> Cells (nodes) low .. high of a window, as far as it goes; unless told all of it.
  type :: box_t
    integer :: low(3) = 1, high(3) = huge(1)
  end type box_t

  !> On nodes, node (1, 1) at (x0, z0); or in cells, the left front upper corner of the first one at (x0, y0, z0). Only the
  !> physics knows the parts of its medium: vp, rho [m/s, kg/m3], or K and two densities, in 2D; vp, vs, rho and, with attenuation,
  !> 1/Qp, 1/Qs in 3D.
  type :: window_t
    integer :: nx = 0, nz = 0
    integer :: ny = 0                         !< 0: there is no such axis
    integer :: serial = 0                     !< windows with the same number hold the same; 0 = nothing is known
    real(dp) :: x0 = 0, z0 = 0                !< [m]
    real(dp) :: dx = 0, dz = 0                !< [m]
    real(dp) :: y0 = 0, dy = 0                !< [m]
    integer :: parts = 0                      !< of its medium, where that is known before the medium is there; 0 = it is not
    real(sp), allocatable :: medium(:, :, :, :)   !< (nx, max(1, ny), nz, parts), or a box of these cells, by the same numbers
  end type window_t

contains

  !> The part of a box that lies in a window.
  pure type(box_t) function WindowClip(window, box) result(clipped)
    type(window_t), intent(in) :: window
    type(box_t), intent(in) :: box
    clipped%low = max(1, box%low)
    clipped%high = min(box%high, [window%nx, max(1, window%ny), window%nz])
  end function WindowClip

  !> The box whose medium a window has; none of its cells where it has none.
  pure type(box_t) function WindowBox(window) result(box)
    type(window_t), intent(in) :: window
    integer :: a
    box%high = 0
    if (allocated(window%medium)) box = box_t([(lbound(window%medium, a), a=1, 3)], [(ubound(window%medium, a), a=1, 3)])
  end function WindowBox

  !> True of a window whose medium has so many parts in each of its cells, or in each of those in a box, which is checked where a
  !> window came from another rank.
  pure logical function WindowHas(window, parts, box) result(has)
    type(window_t), intent(in) :: window
    integer, intent(in) :: parts
    type(box_t), intent(in), optional :: box
    type(box_t) :: wanted, there
    has = allocated(window%medium)
    if (.not. has) return
    wanted = box_t()
    if (present(box)) wanted = box
    wanted = WindowClip(window, wanted)
    there = WindowBox(window)
    has = size(window%medium, 4) == parts .and. all(there%low <= wanted%low) .and. all(there%high >= wanted%high)
  end function WindowHas

  !> Layers of a box that are asked for at once: window_at_once cells of them, or fewer where cells have more parts than the five of
  !> an elastic medium.
  pure integer function WindowAtOnce(window, box) result(layers)
    type(window_t), intent(in) :: window
    type(box_t), intent(in) :: box
    real(dp), parameter :: usual = 5
    real(dp) :: cells
    cells = product(real(box%high(:2) - box%low(:2) + 1, dp))*max(1.0_dp, WindowParts(window)/usual)
    layers = Whole(window_at_once/cells, 1, box%high(3))
  end function WindowAtOnce

  !> Numbers of media that travel at once where rank 0 puts them straight into memory of who asks for them (lent_memory.f90): an
  !> eighth of `all` that a box has, within bounds, and a `layer` at least. 0: they are so few that a message is as cheap.
  pure real(dp) function WindowTray(all, layer) result(numbers)
    real(dp), intent(in) :: all, layer
    real(dp), parameter :: least = 1.0e6_dp, usual = 1.2e7_dp, most = 1.2e8_dp
    numbers = 0
    if (all >= least) numbers = min(all, max(usual, min(all/8, most), layer))
  end function WindowTray

  !> Parts that its medium has, or will have.
  pure integer function WindowParts(window) result(parts)
    type(window_t), intent(in) :: window
    parts = window%parts
    if (allocated(window%medium)) parts = size(window%medium, 4)
  end function WindowParts

  !> True of windows of the same cells in the same place: with the media of one model they are the same.
  pure logical function WindowSame(a, b) result(same)
    type(window_t), intent(in) :: a, b
    same = all([a%nx, a%ny, a%nz] == [b%nx, b%ny, b%nz]) .and. a%x0 == b%x0 .and. a%y0 == b%y0 .and. a%z0 == b%z0
  end function WindowSame

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
