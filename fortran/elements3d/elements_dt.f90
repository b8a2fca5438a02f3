!> The largest time step with which elements are stable.
module elements_dt_m
  use elements_m, only: elements_t
  use kinds_m, only: dp
  implicit none
  private
  public :: ElementsDt

contains

  !> dt [s], an estimate of the largest stable time step, and the element that sets it.
  pure subroutine ElementsDt(elements, dt, element)
    type(elements_t), intent(in) :: elements
    real(dp), intent(out) :: dt
    integer, intent(out) :: element
    block
      use hexahedron_m, only: HexPoints
      use elements_m, only: in_element
      real(dp) :: x(3, in_element), least, v
      integer :: e, p
      dt = huge(dt)
      do e = 1, elements%n
        call HexPoints(elements%corner(:, :, e), x)
        least = huge(least)
        do p = 1, in_element
          if (modulo(p - 1, 5) < 4) least = min(least, norm2(x(:, p + 1) - x(:, p)))
          if (modulo((p - 1)/5, 5) < 4) least = min(least, norm2(x(:, p + 5) - x(:, p)))
          if (p <= 100) least = min(least, norm2(x(:, p + 25) - x(:, p)))
        end do
        v = sqrt((elements%lambda(1, e) + 2*elements%mu(1, e))/real(elements%rho(1, e), dp))
        if (0.5_dp*least/v < dt) then
          dt = 0.5_dp*least/v
          element = e
        end if
      end do
    end block
  end subroutine ElementsDt

end module elements_dt_m
