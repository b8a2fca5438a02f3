!> Exact solutions for line sources along y by a sum over horizontal wavenumbers: a vertical force on an elastic half-space (Lamb
!> 1904) and a volume source in water over an elastic half-space. Sources repeat every `period` metres, so far away that nothing
!> comes in time; frequencies have a small imaginary part, which damps what comes later still (Bouchon 2003, Pure Appl. Geophys.
!> 160, 445-465). Of a vertical force at a point too. On the dry surface also of an explosion below it (Garvin 1956).
module halfspace_m
  use kinds_m, only: dp
  implicit none
  private
  public :: ground_t, LambVelocity, LambPointVelocity, ExplosionVelocity, WaterPressure, FloorVelocity, &
            LineSeries

  real(dp), parameter :: pi = acos(-1.0_dp)
  complex(dp), parameter :: i1 = (0.0_dp, 1.0_dp)

  type :: ground_t
    real(dp) :: vp = 0, vs = 0, rho = 0         !< of the half-space
    real(dp) :: c = 0, rho1 = 0                 !< of water above it
    real(dp) :: period = 0                      !< [m]
    integer :: waves = 0                        !< wavenumbers on either side of 0
  end type ground_t

contains

  !> Square root with positive real part.
  elemental complex(dp) function Decay(k, w, c)
    real(dp), intent(in) :: k, c
    complex(dp), intent(in) :: w
    Decay = sqrt(k**2 - (w/c)**2)
    if (real(Decay) < 0) Decay = -Decay
  end function Decay

  !> Rayleigh's function (2 k**2 - kb**2)**2 - 4 k**2 na nb.
  elemental complex(dp) function Rayleigh(g, k, w, na, nb)
    type(ground_t), intent(in) :: g
    real(dp), intent(in) :: k
    complex(dp), intent(in) :: w, na, nb
    Rayleigh = (2*k**2 - (w/g%vs)**2)**2 - 4*k**2*na*nb
  end function Rayleigh

  !> exp(-i k x) summed over wavenumber n and the opposite one, of what is even in k (1) and of what is odd (2), by its value at n.
  pure function OfBoth(n, k, x) result(factor)
    integer, intent(in) :: n
    real(dp), intent(in) :: k, x
    complex(dp) :: factor(2)
    factor = merge([(1.0_dp, 0.0_dp), (0.0_dp, 0.0_dp)], [cmplx(2*cos(k*x), 0, dp), cmplx(0, -2*sin(k*x), dp)], n == 0)
  end function OfBoth

  !> Weight of wavenumber n: the sum fades out, as a cut would ring.
  elemental real(dp) function Fade(g, n)
    type(ground_t), intent(in) :: g
    integer, intent(in) :: n
    Fade = 0.5_dp*(1 + cos(pi*min(1.0_dp, max(0.0_dp, 2*abs(n)/real(g%waves, dp) - 1))))
  end function Fade

  !> Velocity (x, z) on the surface at x from a force of 1 N per metre downwards at x = 0.
  function LambVelocity(g, x, w) result(v)
    type(ground_t), intent(in) :: g
    real(dp), intent(in) :: x
    complex(dp), intent(in) :: w
    complex(dp) :: v(2), r, na, nb, both(2)
    real(dp) :: k
    integer :: n
    v = 0
    do n = 0, g%waves
      k = 2*pi*n/g%period
      na = Decay(k, w, g%vp)
      nb = Decay(k, w, g%vs)
      r = g%rho*g%vs**2*Rayleigh(g, k, w, na, nb)
      both = OfBoth(n, k, x)
      v = v + [i1*k*(2*k**2 - (w/g%vs)**2 - 2*na*nb)*both(2), -na*(w/g%vs)**2*both(1)]*Fade(g, n)/r
    end do
    v = i1*w*v/g%period
  end function LambVelocity

  !> Velocity (radial, z) on the surface at distance r from a force of 1 N downwards: the integrals of the line force with Bessel's
  !> functions, less what they tend to for large wavenumbers, the static solution of Boussinesq, which is added again.
  function LambPointVelocity(g, r, w) result(v)
    type(ground_t), intent(in) :: g
    real(dp), intent(in) :: r
    complex(dp), intent(in) :: w
    complex(dp) :: v(2), na, nb, f(2)
    real(dp) :: k, last(2), dk
    integer :: n
    v = 0
    dk = 2*pi/g%period
    last = [-(g%vs/g%vp)**2, 1.0_dp]/(2*(1 - (g%vs/g%vp)**2))
    do n = 0, g%waves
      k = (n + 0.5_dp)*dk
      na = Decay(k, w, g%vp)
      nb = Decay(k, w, g%vs)
      f = k*[k*(2*k**2 - (w/g%vs)**2 - 2*na*nb), -na*(w/g%vs)**2]/Rayleigh(g, k, w, na, nb) - last
      v = v + f*[bessel_j1(k*r), bessel_j0(k*r)]*Fade(g, n)*dk
    end do
    v = i1*w*(v + last/r)/(2*pi*g%rho*g%vs**2)
  end function LambPointVelocity

  !> Velocity (x, z) on the surface at x from an explosion of 1 N m/s per metre, a moment's rate, at (0, depth).
  function ExplosionVelocity(g, x, depth, w) result(v)
    type(ground_t), intent(in) :: g
    real(dp), intent(in) :: x, depth
    complex(dp), intent(in) :: w
    complex(dp) :: v(2), na, nb, both(2)
    real(dp) :: k
    integer :: n
    v = 0
    do n = 0, g%waves
      k = 2*pi*n/g%period
      na = Decay(k, w, g%vp)
      nb = Decay(k, w, g%vs)
      both = OfBoth(n, k, x)
      v = v + [-2*i1*k*nb*both(2), (2*k**2 - (w/g%vs)**2)*both(1)]*exp(-na*depth)*Fade(g, n)/Rayleigh(g, k, w, na, nb)
    end do
    v = v*(w/g%vs)**2/(g%rho*g%vp**2*g%period)
  end function ExplosionVelocity

  !> Pressure in water at (x, zr above the ground) from a volume source of 1 m2/s at (0, zs above the ground).
  complex(dp) function WaterPressure(g, x, zs, zr, w) result(p)
    type(ground_t), intent(in) :: g
    real(dp), intent(in) :: x, zs, zr
    complex(dp), intent(in) :: w
    complex(dp) :: n1, na, q, both(2)
    real(dp) :: k
    integer :: n
    p = 0
    do n = 0, g%waves
      k = 2*pi*n/g%period
      n1 = Decay(k, w, g%c)
      na = Decay(k, w, g%vp)
      q = -(g%rho/g%rho1)*n1/na*Rayleigh(g, k, w, na, Decay(k, w, g%vs))/(w/g%vs)**4
      both = OfBoth(n, k, x)
      p = p + Fade(g, n)*(exp(-n1*abs(zs - zr)) + (q + 1)/(q - 1)*exp(-n1*(zs + zr)))/(2*n1)*both(1)
    end do
    p = i1*w*g%rho1*p/g%period
  end function WaterPressure

  !> Velocity (x, z) of the ground below the water at (x, 0), or so deep below it, from the same source.
  function FloorVelocity(g, x, zs, w, depth) result(v)
    type(ground_t), intent(in) :: g
    real(dp), intent(in) :: x, zs
    complex(dp), intent(in) :: w
    real(dp), intent(in), optional :: depth
    complex(dp) :: v(2), n1, na, nb, q, r, slow, p, a, b, both(2)
    real(dp) :: k, z
    integer :: n
    z = 0
    if (present(depth)) z = depth
    v = 0
    do n = 0, g%waves
      k = 2*pi*n/g%period
      n1 = Decay(k, w, g%c)
      na = Decay(k, w, g%vp)
      nb = Decay(k, w, g%vs)
      r = Rayleigh(g, k, w, na, nb)
      q = -(g%rho/g%rho1)*n1/na*r/(w/g%vs)**4
      p = i1*w*g%rho1*(1 + (q + 1)/(q - 1))*exp(-n1*zs)/(2*n1)
      slow = 2*k**2 - (w/g%vs)**2
      a = -p*slow/(g%rho*g%vs**2*r)        ! of P: no shear stress, and -p is what presses
      b = 2*i1*k*na*a/slow*exp(-nb*z)
      a = a*exp(-na*z)
      both = OfBoth(n, k, x)                               ! a is even in k, b odd
      v = v + i1*w*[(-i1*k*a + nb*b)*both(2), (-na*a - i1*k*b)*both(1)]*Fade(g, n)/g%period
    end do
  end function FloorVelocity

  !> Time series of a spectrum at the frequencies w(n) = 2 pi n df - i damping, n from 0, times a Ricker wavelet.
  pure function LineSeries(spectrum, df, damping, fpeak, t0, t) result(x)
    complex(dp), intent(in) :: spectrum(0:)
    real(dp), intent(in) :: df, damping, fpeak, t0, t(:)
    real(dp) :: x(size(t))
    complex(dp) :: f
    integer :: n
    x = 0
    do n = 0, size(spectrum) - 1
      f = n*df - i1*damping/(2*pi)
      x = x + merge(1, 2, n == 0)*df*real(spectrum(n)*2*f**2/(sqrt(pi)*fpeak**3)*exp(-(f/fpeak)**2 - i1*2*pi*f*t0)*exp(i1*2*pi*f*t))
    end do
  end function LineSeries

end module halfspace_m
