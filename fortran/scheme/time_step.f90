!> The largest stable time step of the leap-frog scheme in a homogeneous medium.
!>
!> The scheme is stable while dt² λ <= 4, λ the largest eigenvalue of K Dᵀ (1/rho) D, D the differentiators. In a homogeneous medium
!> λ = 4 c² S² (1/dx² + 1/dz²), S = sum|w|. With 1/rho from the mean of two neighbours and half-length 1 no contrast raises λ
!> beyond that of the largest velocity; for longer differentiators contrasts of density do (fd2d_stability.f90).
module time_step_m
  use kinds_m, only: dp
  implicit none
  private
  public :: StabilityLimit

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

end module time_step_m
