!> The part of the field that a 3D grid lacks within a few cells of a force or a moment tensor, from the exact solution; see
!> nearfield.f90.
!>
!> Waves too short to travel, which the weights of positions between the nodes lack, follow the source as if at rest. With density
!> rho, velocities a, b of P and S waves, and P_n the function of transform 1/k^2n, the displacement i of a force k, in powers of
!> frequency (from the spectrum of Aki & Richards 2002, eq. 4.23), is
!>       G_ik = sum_j w^2j/rho (delta_ik P_(j+1)/b^(2j+2) + (1/b^(2j+2) - 1/a^(2j+2)) d_i d_k P_(j+2))       j = 0: Kelvin's
!> and a grid's answer is the same with its own differentiators for k and d, spread by the weights of source and receiver. The grid
!> lacks the difference, exact - grid: numbers that depend on the places alone, times the history and its even derivatives.
!>
!> Only short waves differ, so P_n need be right only for them: 1/k^2n = sum_m C(n-1+m, m) x^2m/(k^2 + x^2)^(n+m), x = kappa, is cut
!> after `parts` terms, which leaves out no more than what is far longer. Each part is a Bessel function of half order in space and
!> harmless at k = 0, so a small Fourier sum does. t613 has the figures; j = 0 alone would leave up to 6 %.
!>
!> Below a free surface of water an explosion has a negative image above it, in the grid as well (cuda_c/elastic3d/fd3d_surface.c),
!> and a receiver whose weights reach above the surface reads images there (surface_weights.f90).
module nearfield3d_m
  use kinds_m, only: dp, pi, sp
  use radial_derivatives_m, only: RadialDerivative
  use sinc_m, only: sinc_nodes, SincEven, SincWeights
  implicit none
  private
  public :: near3d_t, near3d_place_t, near3d_source_t, Near3dNew, Near3dPlace, Near3dSource, Near3dTerms, Near3dSeries
  public :: near3d_least, near3d_slender, Near3dReach

  real(dp), parameter :: near3d_least = 0.01_dp                          !< closer is on the source [cells]
  real(dp), parameter :: near3d_slender = 3                              !< cells may be so much longer than thin
  real(dp), parameter, public :: near3d_flat = 6.5_dp                    !< reach beside a contact (fd3d_flat_near.f90) [cells]
  integer, parameter, public :: near3d_orders = 2                        !< of frequency, in w^2
  integer, parameter :: highest = 3                                      !< P_n; higher ones are not short enough to be lacking
  integer, parameter :: parts = 6                                        !< of P_n
  integer, parameter :: waves = 48, half = waves/2                       !< of the Fourier sum, along each axis
  real(dp), parameter :: image_reach = 20                                !< along z, of images [cells]: the sum repeats itself
  real(dp), parameter :: kappa2 = 0.4_dp                                 !< x^2 [1/cell^2]
  complex(dp), parameter :: turn(0:3) = [(1.0_dp, 0.0_dp), (0.0_dp, 1.0_dp), (-1.0_dp, 0.0_dp), (0.0_dp, -1.0_dp)]  !< powers of i
  integer, parameter :: unit(3, 3) = reshape([1, 0, 0, 0, 1, 0, 0, 0, 1], [3, 3]), none(3) = 0

  !> Tables of a grid: wavenumbers of the differentiators [1/m] and P_n of each wave, with its share of the sum [m^(2n-3)].
  type :: near3d_t
    real(dp) :: d(3) = 1, kappa = 0
    logical :: water_top = .false.                                       !< the grid ends with a free surface of water
    real(dp), allocatable :: w(:), k(:, :), p(:, :, :, :)
  end type near3d_t

  !> Spectra of the weights of a place along each axis, (0:half, axis, kind): for fields in the centre of cells (0), half a cell
  !> before it (1), and for the derivatives of such fields (2, 3).
  type :: near3d_place_t
    real(dp) :: y(3) = 0                                                 !< [cells from the corner of the grid]
    complex(dp) :: s(0:half, 3, 0:3) = 0
  end type near3d_place_t

  !> A source and the medium around it.
  type :: near3d_source_t
    type(near3d_place_t) :: place
    real(dp) :: force(3) = 0                                             !< [N]
    real(dp) :: pressure = 0, deviator(3, 3) = 0                         !< of a moment tensor [N m]
    real(dp) :: vp = 0, vs = 0, rho = 0
    logical :: image = .false.                                           !< it has one above the free surface
  end type near3d_source_t

contains

  !> So far from the source the error of the grid's static field shows [cells]. With half-length 1 it is of the second order in
  !> cells, whatever the wavelength.
  elemental real(dp) function Near3dReach(half_length)
    integer, intent(in) :: half_length
    Near3dReach = merge(20, 8, half_length == 1)
  end function Near3dReach

  !> Tables for weights w(:) and spacings d(3) [m]; `water_top`: of a grid that ends with a free surface of water, at z = 0.
  pure subroutine Near3dNew(near, w, d, water_top)
    type(near3d_t), intent(out) :: near
    real(dp), intent(in) :: w(:), d(3)
    logical, intent(in), optional :: water_top
    real(dp) :: share(0:half), k2, x2
    integer :: i, j, l, m, n
    near%w = w
    near%d = d
    if (present(water_top)) near%water_top = water_top
    near%kappa = sqrt(kappa2)/product(d)**(1/3.0_dp)
    x2 = near%kappa**2
    allocate (near%k(0:half, 3), near%p(0:half, 0:half, 0:half, 0:highest))
    do j = 0, half
      near%k(j, :) = 2*sum([(w(m)*sin((m - 0.5_dp)*2*pi*j/waves), m=1, size(w))])/d
    end do
    share = 2
    share([0, half]) = 1
    do l = 0, half
      do j = 0, half
        do i = 0, half
          k2 = near%k(i, 1)**2 + near%k(j, 2)**2 + near%k(l, 3)**2
          near%p(i, j, l, 0) = share(i)*share(j)*share(l)/(real(waves, dp)**3*product(d))
          do n = 1, highest
            near%p(i, j, l, n) = near%p(i, j, l, 0)*sum([(Part(n, m)*x2**m/(k2 + x2)**(n + m), m=0, parts - 1)])
          end do
        end do
      end do
    end do
  end subroutine Near3dNew

  !> C(n-1+m, m).
  elemental real(dp) function Part(n, m)
    integer, intent(in) :: n, m
    integer :: i
    Part = 1
    do i = 1, m
      Part = Part*(n - 1 + i)/i
    end do
  end function Part

  !> The place y(3) [cells from the corner of the grid]; `even`: with the weights of SincEven, as fd3d_point_lists.f90 has them.
  pure subroutine Near3dPlace(near, y, even, place)
    type(near3d_t), intent(in) :: near
    real(dp), intent(in) :: y(3)
    logical, intent(in) :: even
    type(near3d_place_t), intent(out) :: place
    integer :: a, before, m
    place%y = y
    do a = 1, 3
      do before = 0, 1
        place%s(:, a, before) = Spectrum(y(a), before, even)
        do m = 1, size(near%w)
          place%s(:, a, 2 + before) = place%s(:, a, 2 + before) + near%w(m)/near%d(a)* &
                                      (Spectrum(y(a) + m - 0.5_dp, before, even) - Spectrum(y(a) - m + 0.5_dp, before, even))
        end do
      end do
    end do
  end subroutine Near3dPlace

  !> Spectrum of the weights for y on the nodes 1/2, 3/2, ... (before = 0) or 0, 1, 2, ... (1).
  pure function Spectrum(y, before, even) result(s)
    real(dp), intent(in) :: y
    integer, intent(in) :: before
    logical, intent(in) :: even
    complex(dp) :: s(0:half)
    real(dp) :: w(sinc_nodes), first
    integer :: node, m, j
    if (even) then
      call SincEven(y + 0.5_dp*(1 + before), node, w)
    else
      call SincWeights(y + 0.5_dp*(1 + before), node, w)
    end if
    first = node - 0.5_dp*(1 + before)
    do j = 0, half
      s(j) = sum([(w(m)*exp(cmplx(0, 2*pi*j/waves*(first + m - 1), dp)), m=1, sinc_nodes)])
    end do
  end function Spectrum

  !> A source at y: a force [N] or a moment tensor xx, yy, zz, xy, xz, yz [N m], in a medium of vp, vs and rho. Where vs = 0 only a
  !> moment that pushes to all sides has terms. `even`: as for a place.
  pure subroutine Near3dSource(near, y, even, force, moment, medium, source)
    type(near3d_t), intent(in) :: near
    logical, intent(in) :: even
    real(dp), intent(in) :: y(3), force(3), moment(6), medium(3)
    type(near3d_source_t), intent(out) :: source
    integer :: i
    call Near3dPlace(near, y, even, source%place)
    source%force = force
    source%pressure = sum(moment(:3))/3
    source%deviator = reshape(moment([1, 4, 5, 4, 2, 6, 5, 6, 3]), [3, 3])
    do i = 1, 3
      source%deviator(i, i) = source%deviator(i, i) - source%pressure
    end do
    where (abs(source%deviator) <= 1e-12_dp*maxval(abs(moment))) source%deviator = 0
    source%vp = medium(1)
    source%vs = medium(2)
    source%rho = medium(3)
    source%image = near%water_top .and. .not. source%vs > 0
  end subroutine Near3dSource

  !> The part of a component (fd3d_components.f90) that the grid lacks at a receiver: the weights of Near3dSeries.
  pure function Near3dTerms(near, source, receiver, name) result(terms)
    type(near3d_t), intent(in) :: near
    type(near3d_source_t), intent(in) :: source
    type(near3d_place_t), intent(in) :: receiver
    character(*), intent(in) :: name
    real(dp) :: terms(0:near3d_orders), mu, bulk, moment
    integer :: i, j, k
    mu = source%rho*source%vs**2
    bulk = source%rho*source%vp**2 - mu*4/3
    i = index('xyz', name(2:2))
    j = index('xyz', name(len(name):))
    select case (name(1:1))
    case ('v')
      terms = Displacement(near, source, receiver, i, unit(:, i), none)
    case ('p')
      terms = -bulk*Divergence(near, source, receiver)
      terms(0) = terms(0) + source%pressure*Lacking(near, source, none, receiver, none, none, 0)
    case ('s')
      terms = 0
      if (mu > 0) terms = mu*(Displacement(near, source, receiver, i, At(i, j), unit(:, j)) + &
                              Displacement(near, source, receiver, j, At(i, j), unit(:, i)))
      moment = source%deviator(i, j)
      if (i == j) then                                   ! so that the mean of three is the pressure
        do k = 1, 3
          if (mu > 0) terms = terms - 2*mu/3*Displacement(near, source, receiver, k, none, unit(:, k))
        end do
        terms = terms + bulk*Divergence(near, source, receiver)
        moment = moment + source%pressure
      end if
      terms(0) = terms(0) - moment*Lacking(near, source, At(i, j), receiver, At(i, j), none, 0)
    case ('e')
      terms = (Displacement(near, source, receiver, j, unit(:, j) + 2*unit(:, i), none) + &
               Displacement(near, source, receiver, i, unit(:, i) + 2*unit(:, j), none))/2
    case default
      j = modulo(i, 3) + 1
      i = modulo(j, 3) + 1
      terms = (Displacement(near, source, receiver, i, unit(:, i) + 2*unit(:, j), none) - &
               Displacement(near, source, receiver, j, unit(:, j) + 2*unit(:, i), none))/2
    end select
  end function Near3dTerms

  !> The place of a stress: 1 along the axes where it stands before the centre.
  pure function At(i, j) result(kind)
    integer, intent(in) :: i, j
    integer :: kind(3)
    kind = modulo(unit(:, i) + unit(:, j), 2)
  end function At

  !> Terms of displacement i, recorded as `kind`, differentiated `more` times.
  pure function Displacement(near, source, receiver, i, kind, more) result(u)
    type(near3d_t), intent(in) :: near
    type(near3d_source_t), intent(in) :: source
    type(near3d_place_t), intent(in) :: receiver
    integer, intent(in) :: i, kind(3), more(3)
    real(dp) :: u(0:near3d_orders)
    integer :: k, l
    u = 0
    do k = 1, 3
      if (abs(source%force(k)) > 0) call AddPart(unit(:, k), more, source%force(k)/source%rho)
      do l = 1, 3
        if (abs(source%deviator(k, l)) > 0) call AddPart(At(k, l), more + unit(:, l), -source%deviator(k, l)/source%rho)
      end do
    end do
    if (abs(source%pressure) > 0) then
      do k = 0, highest - 1
        u(k) = u(k) - source%pressure/(source%rho*source%vp**(2*k + 2))* &
               Lacking(near, source, none, receiver, kind, more + unit(:, i), k + 1)
      end do
    end if

  contains

    !> Force k, or its derivative.
    pure subroutine AddPart(from, more, factor)
      integer, intent(in) :: from(3), more(3)
      real(dp), intent(in) :: factor
      real(dp) :: p, s
      integer :: j
      do j = 0, highest - 2
        p = source%vp**(-2*j - 2)
        s = source%vs**(-2*j - 2)
        u(j) = u(j) + factor*(s - p)*Lacking(near, source, from, receiver, kind, more + unit(:, i) + unit(:, k), j + 2)
        if (i == k) u(j) = u(j) + factor*s*Lacking(near, source, from, receiver, kind, more, j + 1)
      end do
    end subroutine AddPart

  end function Displacement

  !> Terms of the divergence of displacement, in the centres of cells.
  pure function Divergence(near, source, receiver) result(u)
    type(near3d_t), intent(in) :: near
    type(near3d_source_t), intent(in) :: source
    type(near3d_place_t), intent(in) :: receiver
    real(dp) :: u(0:near3d_orders)
    integer :: j, k, l
    u = 0
    do j = 0, near3d_orders
      if (abs(source%pressure) > 0) u(j) = source%pressure*Lacking(near, source, none, receiver, none, none, j)
      do k = 1, 3
        if (abs(source%force(k)) > 0) &
          u(j) = u(j) + source%force(k)*Lacking(near, source, unit(:, k), receiver, none, unit(:, k), j + 1)
        do l = 1, 3
          if (abs(source%deviator(k, l)) > 0) u(j) = u(j) - source%deviator(k, l)* &
            Lacking(near, source, At(k, l), receiver, none, unit(:, k) + unit(:, l), j + 1)
        end do
      end do
      u(j) = u(j)/(source%rho*source%vp**(2*j + 2))
    end do
  end function Divergence

  !> Exact - grid of P_n differentiated power(1:3) times along the axes, from a source that stands as `from` to a receiver that
  !> stands as `to`; a receiver of a derivative counts as one more.
  pure real(dp) function Lacking(near, source, from, receiver, to, power, n)
    type(near3d_t), intent(in) :: near
    type(near3d_source_t), intent(in) :: source
    type(near3d_place_t), intent(in) :: receiver
    integer, intent(in) :: from(3), to(3), power(3), n
    complex(dp) :: spread(0:half)
    real(dp) :: f(0:half, 3), plane(0:half, 0:half)
    integer :: a, l
    logical :: image
    image = source%image .and. source%place%y(3) + receiver%y(3) < image_reach
    do a = 1, 3
      spread = source%place%s(:, a, from(a))
      if (a == 3 .and. image) spread = spread - conjg(spread)
      f(:, a) = real(turn(modulo(power(a), 4))*conjg(spread)*receiver%s(:, a, to(a)), dp)*near%k(:, a)**power(a)
    end do
    plane = 0
    do l = 0, half
      plane = plane + f(l, 3)*near%p(:, :, l, n)
    end do
    Lacking = -dot_product(f(:, 1), matmul(plane, f(:, 2)))
    if (n == 0) return
    Lacking = Lacking + Exact(near%kappa, (receiver%y - source%place%y)*near%d, power + to/2, n)
    if (image) Lacking = Lacking - Exact(near%kappa, (receiver%y - source%place%y*[1, 1, -1])*near%d, power + to/2, n)
  end function Lacking

  !> P_n at x [m], differentiated power(1:3) times.
  pure real(dp) function Exact(kappa, x, power, n)
    real(dp), intent(in) :: kappa, x(3)
    integer, intent(in) :: power(3), n
    Exact = RadialDerivative(Slopes(kappa, norm2(x), n, sum(power)), x, power)
  end function Exact

  !> f(0:most): P_n at r and its derivatives by r^2/2. 1/(k^2 + x^2)^m is 2^(1-m)/((2 pi)^(3/2) (m-1)!) (r/x)^v K_v(x r) in space,
  !> v = m - 3/2; its derivative is the same with v - 1, negative (Abramowitz & Stegun 1964, 9.6.28).
  pure function Slopes(kappa, r, n, most) result(f)
    real(dp), intent(in) :: kappa, r
    integer, intent(in) :: n, most
    real(dp) :: f(0:most), k(0:n + parts + most), z, factor
    integer :: m, q, order
    z = kappa*r
    k(0) = sqrt(pi/(2*z))*exp(-z)                        ! of order 1/2, as of -1/2; k(i): of i + 1/2
    k(1) = k(0)*(1 + 1/z)
    do m = 2, size(k) - 1
      k(m) = k(m - 2) + (2*m - 1)/z*k(m - 1)
    end do
    f = 0
    do m = 0, parts - 1
      factor = Part(n, m)*kappa**(2*m)/((2*pi)**1.5_dp*gamma(real(n + m, dp))*2.0_dp**(n + m - 1))
      do q = 0, most
        order = n + m - 2 - q                            ! v - 1/2
        f(q) = f(q) + (-1)**q*factor*(r/kappa)**(order + 0.5_dp)*k(max(order, -order - 1))
      end do
    end do
  end function Slopes

  !> The series that the terms multiply, series(nt, 0:near3d_orders), at the times of samples of velocity, or, `at_whole`, of
  !> stress: the history or its rate, and the even derivatives of that with their signs. q: of a force at the beginning of each
  !> step, of a moment's rate in the middle of it.
  pure function Near3dSeries(q, dt, force, at_whole) result(series)
    real(sp), intent(in) :: q(:)
    real(dp), intent(in) :: dt
    logical, intent(in) :: force, at_whole
    real(dp) :: series(size(q), 0:near3d_orders), total
    integer :: n
    series(:, 0) = q
    if (force) series(:, 0) = eoshift(series(:, 0), 1)
    if (force .and. .not. at_whole) series(:, 0) = (series(:, 0) - q)/dt
    if (at_whole .and. .not. force) then
      total = 0
      do n = 1, size(q)
        total = total + q(n)*dt
        series(n, 0) = total
      end do
    end if
    do n = 1, near3d_orders
      associate (s => series(:, n - 1))
        series(:, n) = (2*s - eoshift(s, -1) - eoshift(s, 1, boundary=s(size(s))))/dt**2
      end associate
    end do
  end function Near3dSeries

end module nearfield3d_m
