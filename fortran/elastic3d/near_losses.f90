!> The field that a 3D grid lacks close to the source (nearfield3d.f90), as it relaxes. Its terms are those of moduli that do not
!> relax; to the first order in 1/Q a modulus M (1 + sum of y (stiff - 1/(1 + i w tau))) adds the slope of the terms by log M times
!> the series filtered by that sum. It is as much as 1/Q of the field, a quarter of a period away from it.
module near_losses_m
  use anelastic_m, only: anelastic_t, AnelasticShares
  use kinds_m, only: dp
  implicit none
  private
  public :: near_losses_t, NearLosses, NearLossSeries

  type :: near_losses_t
    integer :: n = 0                              !< mechanisms; 0: nothing relaxes
    real(dp), allocatable :: tau(:), stiff(:)
    real(dp), allocatable :: y(:, :)              !< strengths, (n, 2), of lambda + 2 mu and of mu
  end type near_losses_t

contains

  !> q: 1/Q of P and S waves.
  pure type(near_losses_t) function NearLosses(a, q) result(losses)
    type(anelastic_t), intent(in) :: a
    real(dp), intent(in) :: q(2)
    real(dp) :: share(size(a%tau))
    integer :: p
    losses%n = a%n
    allocate (losses%tau, source=a%tau(:a%n))
    allocate (losses%stiff, source=a%stiff(:a%n))
    allocate (losses%y(a%n, 2))
    do p = 1, 2
      share = AnelasticShares(a, q(p))
      losses%y(:, p) = share(:a%n)
    end do
  end function NearLosses

  !> The series(nt, terms), a step dt [s] apart, as modulus p relaxes. Between samples they are straight.
  pure function NearLossSeries(losses, p, series, dt) result(lost)
    type(near_losses_t), intent(in) :: losses
    integer, intent(in) :: p
    real(dp), intent(in) :: series(:, :), dt
    real(dp) :: lost(size(series, 1), size(series, 2)), x(size(series, 2)), before(size(series, 2)), z, left, mean
    integer :: m, n
    lost = sum(losses%y(:, p)*losses%stiff)*series
    do m = 1, losses%n
      z = dt/losses%tau(m)
      left = exp(-z)
      mean = (1 - left)/z
      x = 0
      before = 0
      do n = 1, size(series, 1)
        x = left*x + (1 - mean)*series(n, :) + (mean - left)*before
        before = series(n, :)
        lost(n, :) = lost(n, :) - losses%y(m, p)*x
      end do
    end do
  end function NearLossSeries

end module near_losses_m
