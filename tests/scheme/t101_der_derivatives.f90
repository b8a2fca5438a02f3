!> The reference differentiators: order of convergence, adjointness, definition at the edges, tiny grids.
program t101_der_derivatives
  use check_m, only: Claim, Done, Seed
  use der_m, only: DerDifxba, DerDifxfw, DerDifyba, DerDifyfw, DerPhaseError
  use taylor_m, only: Taylor
  use kinds_m, only: dp, sp
  use text_m, only: Str
  implicit none

  call Seed(20260101)
  call OrderOfConvergence()
  call SineIsDifferentiated()
  call BackwardIsMinusTranspose()
  call AsDefined()
  call Done()

contains

  !> Halving kh divides the error by 2^(2L). Measured on the exact symbol in double precision: single-precision fields hide it.
  subroutine OrderOfConvergence()
    real(dp) :: e1, e2, order
    integer :: n
    do n = 1, 4
      e1 = abs(DerPhaseError(Taylor(n), 0.4_dp))
      e2 = abs(DerPhaseError(Taylor(n), 0.2_dp))
      order = log(e1/e2)/log(2.0_dp)
      call Claim(abs(order - 2*n) < 0.3_dp, 'Taylor half-length '//Str(n)//' converges with order '//Str(order, 4)// &
                 ', within 0.3 of '//Str(2*n))
    end do
  end subroutine OrderOfConvergence

  !> The four routines on a sine: the derivative at the half points, with the error the symbol predicts and order 2L.
  subroutine SineIsDifferentiated()
    real(dp) :: e(2), order
    integer :: n, direction
    do direction = 1, 4
      do n = 1, 2
        e(1) = SineError(direction, n, 32)
        e(2) = SineError(direction, n, 64)
        order = log(e(1)/e(2))/log(2.0_dp)
        if (n == 2) e = [SineError(direction, n, 8), SineError(direction, n, 16)]
        if (n == 2) order = log(e(1)/e(2))/log(2.0_dp)
        call Claim(abs(order - 2*n) < 0.3_dp, Name(direction)//' on a sine, half-length '//Str(n)//': order '//Str(order, 4)// &
                   ', within 0.3 of '//Str(2*n)//' (error '//Str(e(2), 3)//')')
      end do
    end do
  end subroutine SineIsDifferentiated

  !> Largest relative error over the interior for a sine with `per_wave` points per wavelength.
  real(dp) function SineError(direction, half_length, per_wave) result(worst)
    integer, intent(in) :: direction, half_length, per_wave
    integer, parameter :: n = 200, other = 3
    real(dp), parameter :: h = 5
    real(sp), allocatable :: a(:, :), d(:, :), w(:)
    real(dp) :: k, shift
    integer :: i
    k = 2*acos(-1.0_dp)/(per_wave*h)
    shift = merge(0.0_dp, 0.5_dp, direction <= 2)        ! backward ones take a field at the half points
    allocate (w(half_length))
    w = real(Taylor(half_length), sp)
    if (mod(direction, 2) == 1) then
      allocate (a(n, other), d(n, other))
    else
      allocate (a(other, n), d(other, n))
    end if
    do i = 1, n
      if (mod(direction, 2) == 1) a(i, :) = real(sin(k*h*(i + shift)), sp)
      if (mod(direction, 2) == 0) a(:, i) = real(sin(k*h*(i + shift)), sp)
    end do
    call Differentiate(direction, a, w, h, d)
    worst = 0
    do i = 20, n - 20
      if (mod(direction, 2) == 1) worst = max(worst, abs(d(i, 2)/k - cos(k*h*(i + 0.5_dp - shift))))
      if (mod(direction, 2) == 0) worst = max(worst, abs(d(2, i)/k - cos(k*h*(i + 0.5_dp - shift))))
    end do
  end function SineError

  !> <fw a, b> = -<a, ba b> for any fields with nothing outside: what makes the scheme conserve energy.
  subroutine BackwardIsMinusTranspose()
    integer, parameter :: sizes(2, 4) = reshape([37, 23, 5, 40, 1, 1, 40, 3], [2, 4])
    real(sp), allocatable :: a(:, :), b(:, :), fa(:, :), tb(:, :)
    real(dp) :: left, right, scale, worst
    integer :: s, axis
    worst = 0
    do s = 1, 4
      allocate (a(sizes(1, s), sizes(2, s)))
      allocate (b, fa, tb, mold=a)
      call random_number(a)
      call random_number(b)
      a = a - 0.5
      b = b - 0.5
      do axis = 1, 2
        call Differentiate(axis, a, real(Taylor(8), sp), 2.0_dp, fa)
        call Differentiate(axis + 2, b, real(Taylor(8), sp), 2.0_dp, tb)
        left = sum(real(fa, dp)*b)
        right = -sum(real(tb, dp)*a)
        scale = sqrt(sum(real(fa, dp)**2)*sum(real(b, dp)**2))
        worst = max(worst, abs(left - right)/scale)
      end do
      deallocate (a, b, fa, tb)
    end do
    call Claim(worst < 1e-6_dp, 'backward = -transpose of forward on 37x23, 5x40, 1x1 and 40x3 cells, half-length 8: '// &
               Str(worst, 2)//' <= 1e-6')
  end subroutine BackwardIsMinusTranspose

  !> A spike comes out as the weights, with their sign and place, cut off at the edges.
  subroutine AsDefined()
    real(sp), parameter :: w(3) = [1.25, -0.125, 0.0625]
    real(sp) :: a(9, 9), d(9, 9)
    a = 0
    a(5, 5) = 1
    call DerDifxfw(a, w, 1.0_dp, d)
    call Claim(all(d(2:7, 5) == [w(3), w(2), w(1), -w(1), -w(2), -w(3)]) .and. count(d /= 0) == 6, 'DerDifxfw of a spike at 5: '// &
               'weights from 2 to 7')
    call DerDifxba(a, w, 1.0_dp, d)
    call Claim(all(d(3:8, 5) == [w(3), w(2), w(1), -w(1), -w(2), -w(3)]) .and. count(d /= 0) == 6, 'DerDifxba of a spike at 5: '// &
               'weights from 3 to 8')
    call DerDifyfw(a, w, 0.5_dp, d)
    call Claim(all(d(5, 2:7) == 2*[w(3), w(2), w(1), -w(1), -w(2), -w(3)]) .and. count(d /= 0) == 6, &
               'DerDifyfw of a spike at 5: weights from 2 to 7')
    call DerDifyba(a, w, 0.5_dp, d)
    call Claim(all(d(5, 3:8) == 2*[w(3), w(2), w(1), -w(1), -w(2), -w(3)]) .and. count(d /= 0) == 6, &
               'DerDifyba of a spike at 5: weights from 3 to 8')
    a = 0
    a(1, 9) = 1
    call DerDifxfw(a, w, 1.0_dp, d)
    call Claim(all(d(1:3, 9) == [-w(1), -w(2), -w(3)]) .and. count(d /= 0) == 3, 'at the left edge what lies outside is cut off')
    call DerDifyba(a, w, 1.0_dp, d)
    call Claim(all(d(1, 7:9) == [w(3), w(2), w(1)]) .and. count(d /= 0) == 3, 'at the lower edge what lies outside is cut off')
  end subroutine AsDefined

  subroutine Differentiate(direction, a, w, h, d)
    integer, intent(in) :: direction
    real(sp), intent(in) :: a(:, :), w(:)
    real(dp), intent(in) :: h
    real(sp), intent(out) :: d(:, :)
    select case (direction)
    case (1); call DerDifxfw(a, w, h, d)
    case (2); call DerDifyfw(a, w, h, d)
    case (3); call DerDifxba(a, w, h, d)
    case default; call DerDifyba(a, w, h, d)
    end select
  end subroutine Differentiate

  function Name(direction)
    integer, intent(in) :: direction
    character(9) :: Name
    character(9), parameter :: names(4) = ['DerDifxfw', 'DerDifyfw', 'DerDifxba', 'DerDifyba']
    Name = names(direction)
  end function Name

end program t101_der_derivatives
