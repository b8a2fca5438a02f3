!> The spectrum of a long series at many frequencies, by three fast Fourier transforms in place of a sum for each of them.
module chirp_z_m
  use kinds_m, only: dp, pi
  implicit none
  private
  public :: ChirpZ

contains

  !> s(k) = Σ_j x(j) exp(-i 2π j k step), j and k from 0, step in cycles per sample: jk = (j² + k² - (k - j)²)/2 makes of it a
  !> convolution with exp(i π step k²) (Rabiner, Schafer & Rader 1969, IEEE Transactions on Audio and Electroacoustics 17, 86-92).
  pure subroutine ChirpZ(x, step, s)
    real(dp), intent(in) :: x(0:), step
    complex(dp), intent(out) :: s(0:)
    complex(dp), allocatable :: chirp(:), a(:), b(:)
    real(dp) :: turns
    integer :: i, n, m, length
    n = size(x)
    m = size(s)
    length = 1
    do while (length < n + m - 1)
      length = 2*length
    end do
    allocate (chirp(0:max(n, m) - 1))
    do i = 0, max(n, m) - 1
      turns = modulo(0.5_dp*step*real(i, dp)**2, 1.0_dp)
      chirp(i) = exp(cmplx(0, 2*pi*turns, dp))
    end do
    allocate (a(0:length - 1), b(0:length - 1), source=(0.0_dp, 0.0_dp))
    a(:n - 1) = x*conjg(chirp(:n - 1))
    b(:m - 1) = chirp(:m - 1)
    b(length - n + 1:) = chirp(n - 1:1:-1)
    call Fourier(a)
    call Fourier(b)
    a = conjg(a*b)
    call Fourier(a)
    s = conjg(chirp(:m - 1)*a(:m - 1))/length
  end subroutine ChirpZ

  !> z(k) = Σ_j z(j) exp(-i 2π j k/n), n = size(z) a power of two: passes of radix 2 that need no reversal of bits (Stockham).
  pure subroutine Fourier(z)
    complex(dp), intent(inout) :: z(:)
    complex(dp), allocatable :: other(:)
    integer :: half
    allocate (other(size(z)))
    half = size(z)/2
    do while (half >= 1)
      call Pass(size(z)/(2*half), half, z, other)
      z = other
      half = half/2
    end do
  end subroutine Fourier

  pure subroutine Pass(stride, half, z, y)
    integer, intent(in) :: stride, half
    complex(dp), intent(in) :: z(stride, half, 2)
    complex(dp), intent(out) :: y(stride, 2, half)
    integer :: p
    do p = 1, half
      y(:, 1, p) = z(:, p, 1) + z(:, p, 2)
      y(:, 2, p) = (z(:, p, 1) - z(:, p, 2))*exp(cmplx(0, -pi*(p - 1)/half, dp))
    end do
  end subroutine Pass

end module chirp_z_m
