!> Derivatives in space of a function of distance (nearfield3d.f90).
module radial_derivatives_m
  use kinds_m, only: dp
  implicit none
  private
  public :: RadialDerivative

contains

  !> A function of s = r**2/2, r the distance of x from 0, differentiated power(1:3) times along the axes; f(0:): the function there
  !> and its derivatives by s, sum(power) of them or more. Along an axis
  !>     d^a f/dx^a = sum_p a!/(2^p p! (a-2p)!) x^(a-2p) d^(a-p) f/ds^(a-p)
  pure real(dp) function RadialDerivative(f, x, power) result(total)
    real(dp), intent(in) :: f(0:), x(3)
    integer, intent(in) :: power(3)
    integer :: p, q, r
    total = 0
    do r = 0, power(3)/2
      do q = 0, power(2)/2
        do p = 0, power(1)/2
          total = total + Monomial(x(1), power(1), p)*Monomial(x(2), power(2), q)*Monomial(x(3), power(3), r)* &
                  f(sum(power) - p - q - r)
        end do
      end do
    end do
  end function RadialDerivative

  !> a!/(2^p p! (a-2p)!) x^(a-2p).
  pure real(dp) function Monomial(x, a, p)
    real(dp), intent(in) :: x
    integer, intent(in) :: a, p
    integer :: i
    Monomial = x**(a - 2*p)
    do i = 1, p
      Monomial = Monomial*(a - 2*i + 2)*(a - 2*i + 1)/(2*i)
    end do
  end function Monomial

end module radial_derivatives_m
