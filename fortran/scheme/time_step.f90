!> The largest stable time step of the leap-frog scheme in a homogeneous medium.
!>
!> The scheme is stable while dt² λ <= 4, λ the largest eigenvalue of K Dᵀ (1/rho) D, D the differentiators. In a homogeneous medium
!> λ = 4 c² S² (1/dx² + 1/dz²), S = sum|w|. With 1/rho from the mean of two neighbours and half-length 1 no contrast raises λ
!> beyond that of the largest velocity; for longer differentiators contrasts of density do (fd2d_stability.f90).
module time_step_m
  use kinds_m, only: dp
  implicit none
  private
  public :: StabilityLimit, SurfaceLimit

  real(dp), parameter, public :: STABILITY_RESERVE = 0.99_dp   !< of the homogeneous limit: covers density ratios up to 4

contains

  !> Largest time step [s] for weights w(:), spacings dx, dz [m] and largest velocity c [m/s], 1 % below the limit of a
  !> homogeneous medium.
  !> In 3D with the spacing dy too.
  pure real(dp) function StabilityLimit(w, dx, dz, c, dy) result(dt)
    real(dp), intent(in) :: w(:), dx, dz, c
    real(dp), intent(in), optional :: dy
    if (present(dy)) then
      dt = STABILITY_RESERVE/(c*sum(abs(w))*sqrt(1/dx**2 + 1/dy**2 + 1/dz**2))
    else
      dt = STABILITY_RESERVE/(c*sum(abs(w))*sqrt(1/dx**2 + 1/dz**2))
    end if
  end function StabilityLimit

  !> Likewise in 3D beneath a free surface of rock, whose rows (cuda_c/elastic3d/fd3d_surface.c) are stiffer than inner ones at
  !> half-lengths 1 and 2: most where cells are flat, where S waves are slow, and where densities of the uppermost cells differ. The
  !> largest eigenvalue over that of inner rows, of half-spaces of six random layers, vp/vs from 1.2, densities 1 : 4 (2026-11-27),
  !> with dx = dy = 14, 2.8, 1 times dz: 1.10, 1.06, 1.01 at half-length 1, 1.13, 1.08, 1.01 at 2; where all rock is the same 1.06,
  !> 1.05, 1.02 and 0.99. Cubes are within the reserve; longer differentiators need no more than it.
  pure real(dp) function SurfaceLimit(w, dx, dy, dz, c) result(dt)
    real(dp), intent(in) :: w(:), dx, dy, dz, c
    real(dp), parameter :: more(2) = [0.104_dp, 0.132_dp], power(2) = [1.5_dp, 2.0_dp]
    real(dp) :: stiff
    dt = StabilityLimit(w, dx, dz, c, dy)
    if (size(w) > 2) return
    stiff = 1 + more(size(w))/(1 + (dz/dx)**2 + (dz/dy)**2)**power(size(w))
    dt = dt*min(1.0_dp, 1/(STABILITY_RESERVE*sqrt(stiff)))
  end function SurfaceLimit

end module time_step_m
