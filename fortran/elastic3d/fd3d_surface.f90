!> Below a free surface: differences along z in the first rows, and the share of a cell that each row has. A source acts there on
!> that share of a cell, so its weights are divided by it; then a source and a receiver change places exactly. See
!> cuda_c/elastic3d/fd3d_surface.c.
module fd3d_surface_m
  use fd3d_c, only: fd3d_surface
  use fd3d_engine_m, only: fd3d_grid_t
  use kinds_m, only: dp, sp
  implicit none
  private
  public :: fd3d_surface_t, Fd3dSurface

  integer, parameter, public :: surface_rows = 5

  type :: fd3d_surface_t
    integer :: taps = 0
    real(dp) :: w(9, surface_rows, 2) = 0       !< of cells 1 .. taps of the column; 1 backward, 2 forward
    real(dp) :: share(surface_rows, 2) = 1      !< of what stands at centres along z, and at upper faces
  end type fd3d_surface_t

contains

  !> `narrow`: along layers where differences are narrow.
  pure function Fd3dSurface(grid, narrow) result(s)
    type(fd3d_grid_t), intent(in) :: grid
    logical, intent(in) :: narrow
    type(fd3d_surface_t) :: s
    real(dp) :: w(size(grid%w))
    w = real(grid%w, sp)                        ! as variants have them
    s%taps = grid%half_length + surface_rows
    call fd3d_surface(grid%half_length, w, merge(1, 0, grid%wet), merge(1, 0, narrow), s%w, s%share)
  end function Fd3dSurface

end module fd3d_surface_m
