!> The piece of earth a shot sees, on the modelling grid, without absorbing layers.
module window_m
  use kinds_m, only: dp, sp
  implicit none
  private
  public :: window_t

  !> Node (1, 1) is at (x0, z0); x runs fastest. A window of a 3D job has cells; the left front upper corner of the first one is at
  !> (x0, y0, z0), and instead of vp and rho it has `media`.
  type :: window_t
    integer :: nx = 0, nz = 0
    integer :: ny = 0                         !< 0 in 2D
    integer :: serial = 0                     !< windows with the same number hold the same; 0 = nothing is known
    real(dp) :: x0 = 0, z0 = 0                !< [m]
    real(dp) :: dx = 0, dz = 0                !< [m]
    real(dp) :: y0 = 0, dy = 0                !< [m]
    real(sp), allocatable :: vp(:, :)         !< [m/s], (nx, nz)
    real(sp), allocatable :: rho(:, :)        !< [kg/m3], (nx, nz)
    real(sp), allocatable :: media(:, :, :, :)  !< vp, vs [m/s], rho [kg/m3] and, with attenuation, 1/Qp, 1/Qs; (nx, ny, nz, 3 or 5)
  end type window_t

end module window_m
