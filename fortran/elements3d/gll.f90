!> Gauss-Lobatto-Legendre points of degree 4 on -1 .. 1, their weights, and the polynomials that are 1 at one of them and 0 at the
!> others. (Canuto, Hussaini, Quarteroni & Zang 1988, eqs 2.3.12 and 2.4.35.)
module gll_m
  use elements_m, only: along
  use kinds_m, only: dp
  implicit none
  private
  public :: GllPolynomials

  integer :: i, j
  real(dp), parameter :: inner = sqrt(3.0_dp/7)
  real(dp), parameter, public :: gll_x(along) = [-1.0_dp, -inner, 0.0_dp, inner, 1.0_dp]
  real(dp), parameter, public :: gll_w(along) = [9, 49, 64, 49, 9]/90.0_dp
  !> Legendre's polynomial of degree 4 at the points.
  real(dp), parameter :: p4(along) = [1.0_dp, -3.0_dp/7, 0.375_dp, -3.0_dp/7, 1.0_dp]
  !> Derivatives: gll_d(i, j) is that of polynomial j at point i.
  real(dp), parameter, public :: gll_d(along, along) = reshape([((merge(0.0_dp, p4(i)/p4(j), i == j) &
    /merge(1.0_dp, gll_x(i) - gll_x(j), i == j) + merge(-5, 0, i == 1 .and. j == 1) + merge(5, 0, i == along .and. j == along), &
    i=1, along), j=1, along)], [along, along])

contains

  !> The polynomials and their derivatives at any place.
  pure subroutine GllPolynomials(xi, value, slope)
    real(dp), intent(in) :: xi
    real(dp), intent(out) :: value(along), slope(along)
    real(dp) :: f
    integer :: j, k
    do j = 1, along
      value(j) = 1
      slope(j) = 0
      do k = 1, along
        if (k == j) cycle
        f = 1/(gll_x(j) - gll_x(k))
        slope(j) = (slope(j)*(xi - gll_x(k)) + value(j))*f
        value(j) = value(j)*(xi - gll_x(k))*f
      end do
    end do
  end subroutine GllPolynomials

end module gll_m
