!> Exact solutions in a homogeneous (visco)elastic full space, by their spectra (Aki & Richards 2002, eq. 4.23, 4.29):
!>
!>    G_ij(w) = 1/(4 pi rho w**2) (delta_ij kb**2 g_b + d_i d_j (g_b - g_a)),   g_c = exp(-i k_c r)/r,   k_c = w/c
!>
!> a, b: velocities of P and S waves, complex where waves are attenuated. Sums over frequencies give the time series.
module fullspace_m
  use kinds_m, only: dp
  implicit none
  private
  public :: space_t, RickerSpectrum, Ricker, ForceVelocity, MomentVelocity, MomentPressure, TimeSeries

  real(dp), parameter :: pi = acos(-1.0_dp)
  complex(dp), parameter :: i1 = (0.0_dp, 1.0_dp)

  type :: space_t
    real(dp) :: rho = 0
    complex(dp), allocatable :: a(:), b(:)       !< velocities at frequencies (1..n) df
    real(dp) :: df = 0
  end type space_t

contains

  elemental real(dp) function Ricker(t, fpeak, t0)
    real(dp), intent(in) :: t, fpeak, t0
    Ricker = (1 - 2*(pi*fpeak*(t - t0))**2)*exp(-(pi*fpeak*(t - t0))**2)
  end function Ricker

  elemental real(dp) function RickerPrime(t, fpeak, t0)
    real(dp), intent(in) :: t, fpeak, t0
    real(dp) :: x
    x = pi*fpeak*(t - t0)
    RickerPrime = pi*fpeak*(4*x**3 - 6*x)*exp(-x**2)
  end function RickerPrime

  elemental complex(dp) function RickerSpectrum(f, fpeak, t0)
    real(dp), intent(in) :: f, fpeak, t0
    RickerSpectrum = 2*f**2/(sqrt(pi)*fpeak**3)*exp(-(f/fpeak)**2 - i1*2*pi*f*t0)
  end function RickerSpectrum

  !> g = exp(-ikr)/r and its first three derivatives.
  pure function Radial(k, r) result(g)
    complex(dp), intent(in) :: k
    real(dp), intent(in) :: r
    complex(dp) :: g(0:3), a
    a = -i1*k - 1/r
    g(0) = exp(-i1*k*r)/r
    g(1) = a*g(0)
    g(2) = (1/r**2 + a**2)*g(0)
    g(3) = (-2/r**3 + 3*a/r**2 + a**3)*g(0)
  end function Radial

  !> Spectrum (3) of the velocity at x from a force f(3) times a history of spectrum 1, frequency number n.
  pure function ForceVelocity(space, n, x, f) result(v)
    type(space_t), intent(in) :: space
    integer, intent(in) :: n
    real(dp), intent(in) :: x(3), f(3)
    complex(dp) :: v(3), gb(0:3), d(0:3)
    real(dp) :: r, w, y(3)
    w = 2*pi*n*space%df
    r = norm2(x)
    y = x/r
    gb = Radial(w/space%b(n), r)
    d = gb - Radial(w/space%a(n), r)
    v = f*((w/space%b(n))**2*gb(0) + d(1)/r) + y*dot_product(y, f)*(d(2) - d(1)/r)
    v = i1*w*v/(4*pi*space%rho*w**2)
  end function ForceVelocity

  !> The same from a moment tensor m(3,3), the history being that of its rate: -m_jk dG_ij/dx_k.
  pure function MomentVelocity(space, n, x, m) result(v)
    type(space_t), intent(in) :: space
    integer, intent(in) :: n
    real(dp), intent(in) :: x(3), m(3, 3)
    complex(dp) :: v(3), gb(0:3), d(0:3), third, first
    real(dp) :: r, w, y(3), my(3), ymy, trace
    w = 2*pi*n*space%df
    r = norm2(x)
    y = x/r
    my = matmul(m, y)
    ymy = dot_product(y, my)
    trace = m(1, 1) + m(2, 2) + m(3, 3)
    gb = Radial(w/space%b(n), r)
    d = gb - Radial(w/space%a(n), r)
    third = d(3) - 3*d(2)/r + 3*d(1)/r**2
    first = d(2)/r - d(1)/r**2
    v = my*((w/space%b(n))**2*gb(1) + 2*first) + y*(ymy*third + trace*first)
    v = -v/(4*pi*space%rho*w**2)
  end function MomentVelocity

  !> Spectrum of the pressure from an explosion of moment m: p = rho Q'(t - r/c)/(4 pi r) with Q = M rate/(rho a**2).
  pure complex(dp) function MomentPressure(space, n, x, m) result(p)
    type(space_t), intent(in) :: space
    integer, intent(in) :: n
    real(dp), intent(in) :: x(3), m
    complex(dp) :: g(0:3)
    real(dp) :: w
    w = 2*pi*n*space%df
    g = Radial(w/space%a(n), norm2(x))
    p = i1*w*m*g(0)/(4*pi*space%a(n)**2)
  end function MomentPressure

  !> x(t) from its spectrum at frequencies (1..n) df.
  pure real(dp) function TimeSeries(spectrum, df, t) result(x)
    complex(dp), intent(in) :: spectrum(:)
    real(dp), intent(in) :: df, t
    complex(dp) :: turn, phase
    integer :: n
    turn = exp(i1*2*pi*df*t)
    phase = 1
    x = 0
    do n = 1, size(spectrum)
      phase = phase*turn
      x = x + 2*df*real(spectrum(n)*phase)
    end do
  end function TimeSeries

end module fullspace_m
