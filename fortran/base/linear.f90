!> Small dense linear equations.
module linear_m
  use kinds_m, only: dp
  implicit none
  private
  public :: SolveSmall, SolvePositive

  interface SolvePositive
    module procedure SolvePositiveOne, SolvePositiveMany
  end interface SolvePositive

contains

  !> Solves a x = b, b handed over in x, by Gaussian elimination with row exchange; a (n,n) is small and not singular, and is
  !> overwritten.
  pure subroutine SolveSmall(a, x)
    real(dp), intent(inout) :: a(:, :), x(:)
    real(dp) :: row(size(x)), f
    integer :: i, j, p, n
    n = size(x)
    do i = 1, n
      p = i - 1 + maxloc(abs(a(i:, i)), dim=1)
      row = a(i, :); a(i, :) = a(p, :); a(p, :) = row
      f = x(i); x(i) = x(p); x(p) = f
      do j = i + 1, n
        f = a(j, i)/a(i, i)
        a(j, i:) = a(j, i:) - f*a(i, i:)
        x(j) = x(j) - f*x(i)
      end do
    end do
    do i = n, 1, -1
      x(i) = (x(i) - dot_product(a(i, i + 1:), x(i + 1:)))/a(i, i)
    end do
  end subroutine SolveSmall

  !> The same for a symmetric and positive definite a, of which the lower half is used: its square-root-free Cholesky factors.
  pure subroutine SolvePositiveOne(a, x)
    real(dp), contiguous, intent(inout) :: a(:, :), x(:)
    real(dp) :: all(size(x), 1)
    all(:, 1) = x
    call SolvePositiveMany(a, all)
    x = all(:, 1)
  end subroutine SolvePositiveOne

  !> For several b, x (n, m).
  pure subroutine SolvePositiveMany(a, x)
    real(dp), contiguous, intent(inout) :: a(:, :), x(:, :)
    real(dp) :: f
    integer :: i, j, m, n
    n = size(x, 1)
    do i = 1, n
      do j = i + 1, n
        f = a(j, i)/a(i, i)
        a(j:, j) = a(j:, j) - f*a(j:, i)
        x(j, :) = x(j, :) - f*x(i, :)
      end do
    end do
    do m = 1, size(x, 2)
      do i = n, 1, -1
        f = x(i, m)
        do j = i + 1, n
          f = f - a(j, i)*x(j, m)
        end do
        x(i, m) = f/a(i, i)
      end do
    end do
  end subroutine SolvePositiveMany

end module linear_m
