!> The exact field of a point source in flat layers of rock, of waves that grow as exp(s t), s > 0: next to the source and beside a
!> contact what a grid lacks is found with it (fd3d_flat_near.f90).
!>
!>     rho s**2 u = div (c : grad u - m delta(x - x_s)) + f delta(x - x_s)
!>
!> In the layer of the source it is the closed form of an even medium (even_medium.f90) and what the contacts send back, in other
!> layers what they let through: an integral over horizontal wavenumbers (layers_waves.f90), of which Bessel functions make the
!> part around the axis. Where neither depth damps the integrand, source and receiver being at the contact, it is damped by exp(-k
!> e), and e goes to 0 by Chebyshev's points.
module layers_exact_m
  use even_medium_m, only: EvenMotion
  use kinds_m, only: dp, pi
  use layers_waves_m, only: ahead, aside, direction, directions, LayersArrive, LayersLayer, LayersSend, near_layers_t, sent_t
  implicit none
  private
  public :: LayersFields, LayersRings, Damp, dampings, gauss_nodes, GaussRule, harmonics, range

  complex(dp), parameter :: i1 = (0.0_dp, 1.0_dp)
  integer, parameter :: harmonics = 4
  complex(dp), parameter :: turned(harmonics) = [i1, i1**2, i1**3, i1**4]
  integer :: each, other
  real(dp), parameter :: multiple(0:harmonics, directions) = &
    reshape([((each*direction(other), each=0, harmonics), other=1, directions)], [harmonics + 1, directions])
  real(dp), parameter :: cosines(0:harmonics, directions) = cos(multiple), sines(0:harmonics, directions) = sin(multiple)
  integer, parameter :: gauss_nodes = 12          !< of Gauss' rule
  integer, parameter :: dampings = 9              !< and the least and most of them, over the distance along the contact
  real(dp), parameter :: damp_least = 0.1_dp, damp_most = 0.5_dp
  real(dp), parameter :: steep = 0.3_dp           !< depths over that distance: more damps enough
  real(dp), parameter :: range = 34               !< exp(-range) is left out

  !> A place where the field is wanted, and how its integral goes on.
  type :: place_t
    real(dp) :: x(3) = 0
    real(dp) :: far = 0                           !< from the source, along the contact
    real(dp) :: around(harmonics, directions) = 1 !< cosines of the azimuth of a wave from that of the place, and of its multiples
    integer :: layer = 0
    integer :: n = 1                              !< dampings
    real(dp) :: damping(dampings) = 0, share(dampings) = 1
    real(dp) :: grows = 0, most = 0               !< of the exponent with k, and the largest k
    logical :: ring = .false.                     !< all places so far from the axis, at that depth
    real(dp), allocatable :: sums(:, :)           !< of numbers for each damping
  end type place_t

contains

  !> Displacement u(:, r) and its gradient g(i, l, r) = du_i/dx_l at places x(:, r), of a force [N] and a moment tensor [N m] at
  !> `from`.
  subroutine LayersFields(layers, s, from, force, moment, x, threads, u, g)
    type(near_layers_t), intent(in) :: layers
    real(dp), intent(in) :: s, from(3), force(3), moment(3, 3), x(:, :)
    integer, intent(in) :: threads
    real(dp), intent(out) :: u(:, :), g(:, :, :)
    real(dp) :: moduli(3), straight(3), slope(3, 3)
    integer :: at, r
    at = LayersLayer(layers, from(3))
    associate (vp => layers%medium(1, at), vs => layers%medium(2, at), rho => layers%medium(3, at))
      moduli = [rho, rho*(vp**2 - 2*vs**2), rho*vs**2]
    end associate
    u = 0
    g = 0
    if (layers%n > 1 .or. layers%free) call AddSecondary()
    do r = 1, size(x, 2)
      if (LayersLayer(layers, x(3, r)) /= at) cycle
      call EvenMotion(moduli, s, x(:, r) - from, force, moment, 0.0_dp, straight, slope)
      u(:, r) = u(:, r) + straight
      g(:, :, r) = g(:, :, r) + slope
    end do

  contains

    subroutine AddSecondary()
      type(place_t) :: place(size(x, 2))
      real(dp) :: field(12)
      do r = 1, size(place)
        place(r) = PlaceOf(layers, from, x(:, r), at)
        allocate (place(r)%sums(12, dampings), source=0.0_dp)
      end do
      call AddPanels(layers, s, from(3), force, moment, at, threads, place)
      do r = 1, size(place)
        field = matmul(place(r)%sums(:, :place(r)%n), place(r)%share(:place(r)%n))
        u(:, r) = u(:, r) + field(:3)
        g(:, :, r) = g(:, :, r) + reshape(field(4:), [3, 3])
      end do
    end subroutine AddSecondary

  end subroutine LayersFields

  !> Contacts and a free surface send waves back, into other layers they let some through: these, on rings around the axis through
  !> the source. ring(:, r) are a distance from it and a depth [m], displacement is the sum over m of wave(:, m, 1, r)
  !> cos(m azimuth) and wave(:, m, 2, r) sin(m azimuth). zs: depth of the source [m].
  subroutine LayersRings(layers, s, zs, force, moment, ring, threads, wave)
    type(near_layers_t), intent(in) :: layers
    real(dp), intent(in) :: s, zs, force(3), moment(3, 3), ring(:, :)
    integer, intent(in) :: threads
    real(dp), intent(out) :: wave(:, 0:, :, :)    !< (3, 0:harmonics, 2, rings)
    type(place_t) :: place(size(ring, 2))
    integer :: at, r
    at = LayersLayer(layers, zs)
    do r = 1, size(place)
      place(r) = PlaceOf(layers, [0.0_dp, 0.0_dp, zs], [ring(1, r), 0.0_dp, ring(2, r)], at)
      place(r)%ring = .true.
      allocate (place(r)%sums(6*(harmonics + 1), dampings), source=0.0_dp)
    end do
    call AddPanels(layers, s, zs, force, moment, at, threads, place)
    do r = 1, size(place)
      wave(:, :, :, r) = reshape(matmul(place(r)%sums(:, :place(r)%n), place(r)%share(:place(r)%n)), [3, harmonics + 1, 2])
    end do
  end subroutine LayersRings

  ! --- what contacts send back or let through -------------------------------------------------------------------------

  !> Panels of wavenumbers serve all places, as what contacts make of a wave is the same for all: a panel is as short as those need
  !> for which there still is a field.
  subroutine AddPanels(layers, s, zs, force, moment, at, threads, place)
    type(near_layers_t), intent(in) :: layers
    real(dp), intent(in) :: s, zs, force(3), moment(3, 3)
    integer, intent(in) :: at, threads
    type(place_t), intent(inout) :: place(:)
    type(sent_t) :: sent(gauss_nodes)
    real(dp) :: k, length, node(gauss_nodes), weight(gauss_nodes)
    integer :: m, r
    call GaussRule(node, weight)
    length = s/maxval(layers%medium(1, :))/2
    k = 0
    do while (k < maxval(place%most))
      length = min(1.5_dp*length, minval(min(2*pi/max(place%far, 0.1_dp*place%grows), 4/place%grows), k < place%most))
      !$omp parallel num_threads(threads)
      !$omp do schedule(dynamic)
      do m = 1, gauss_nodes
        call LayersSend(layers, s, k + length*node(m), zs, force, moment, at, sent(m))
      end do
      !$omp do schedule(dynamic)
      do r = 1, size(place)
        if (k < place(r)%most) call AddPanel(layers, sent, length*weight, place(r))
      end do
      !$omp end parallel
      k = k + length
    end do
  end subroutine AddPanels

  pure type(place_t) function PlaceOf(layers, from, x, at) result(place)
    type(near_layers_t), intent(in) :: layers
    real(dp), intent(in) :: from(3), x(3)
    integer, intent(in) :: at
    real(dp) :: way, azimuth
    integer :: m, n
    place%x = x
    place%layer = LayersLayer(layers, x(3))
    place%far = norm2(x(:2) - from(:2))
    azimuth = 0
    if (place%far > 0) azimuth = atan2(x(2) - from(2), x(1) - from(1))
    do n = 1, directions
      place%around(:, n) = [(cos(m*(azimuth - direction(n))), m=1, harmonics)]
    end do
    way = Shortest(layers, from(3), x(3), at, place%layer)
    call Damp(way, place%far, place%n, place%damping, place%share)
    place%grows = way + minval(place%damping(:place%n))
    place%most = range/place%grows
  end function PlaceOf

  !> The dampings of a place, n, and the share of each in their limit; one of 0 where depths damp enough. way: the shortest in
  !> depth; far: along the contact.
  pure subroutine Damp(way, far, n, damping, share)
    real(dp), intent(in) :: way, far
    integer, intent(out) :: n
    real(dp), intent(out) :: damping(dampings), share(dampings)
    integer :: m, e
    n = 1
    damping = 0
    share = 1
    if (.not. way < steep*far) return
    n = dampings
    damping = far*((damp_most + damp_least) + (damp_most - damp_least)*[(cos((m - 0.5_dp)*pi/n), m=1, n)])/2
    do m = 1, n
      associate (d => damping)
        share(m) = product([(d(e)/(d(e) - d(m)), e=1, m - 1), (d(e)/(d(e) - d(m)), e=m + 1, n)])
      end associate
    end do
  end subroutine Damp

  !> The shortest way in depth that a wave goes which meets a contact [m].
  pure real(dp) function Shortest(layers, zs, zr, at, to) result(way)
    type(near_layers_t), intent(in) :: layers
    real(dp), intent(in) :: zs, zr
    integer, intent(in) :: at, to
    way = abs(zr - zs)
    if (at /= to) return
    way = huge(way)
    if (at > 1 .or. layers%free) way = (zs - layers%top(at)) + (zr - layers%top(at))
    if (at < layers%n) way = min(way, 2*layers%top(at + 1) - zs - zr)
    way = max(way, 0.0_dp)
  end function Shortest

  !> Gauss' rule from 0 to 1.
  pure subroutine GaussRule(x, w)
    real(dp), intent(out) :: x(gauss_nodes), w(gauss_nodes)
    real(dp) :: y, p(0:gauss_nodes), slope
    integer :: m, n, times
    p(0) = 1
    do m = 1, gauss_nodes
      y = cos(pi*(m - 0.25_dp)/(gauss_nodes + 0.5_dp))
      do times = 1, 8
        p(1) = y
        do n = 2, gauss_nodes
          p(n) = ((2*n - 1)*y*p(n - 1) - (n - 1)*p(n - 2))/n
        end do
        slope = gauss_nodes*(y*p(gauss_nodes) - p(gauss_nodes - 1))/(y**2 - 1)
        y = y - p(gauss_nodes)/slope
      end do
      x(m) = (1 + y)/2
      w(m) = 1/((1 - y**2)*slope**2)
    end do
  end subroutine GaussRule

  !> Adds a panel of wavenumbers to the sums of a place.
  pure subroutine AddPanel(layers, sent, weight, place)
    type(near_layers_t), intent(in) :: layers
    type(sent_t), intent(in) :: sent(:)
    real(dp), intent(in) :: weight(:)
    type(place_t), intent(inout) :: place
    real(dp) :: field(size(place%sums, 1))
    integer :: m, e
    do m = 1, size(sent)
      if (place%ring) call Around(layers, sent(m), place, field)
      if (.not. place%ring) call Integrand(layers, sent(m), place, field)
      do e = 1, place%n
        place%sums(:, e) = place%sums(:, e) + weight(m)*exp(-sent(m)%k*place%damping(e))*field
      end do
    end do
  end subroutine AddPanel

  !> The field of a wavenumber: u, then du_i/dx_l.
  pure subroutine Integrand(layers, sent, place, field)
    type(near_layers_t), intent(in) :: layers
    type(sent_t), intent(in) :: sent
    type(place_t), intent(in) :: place
    real(dp), intent(out) :: field(12)
    complex(dp) :: found(3, 2, directions), turn, u(3)
    real(dp) :: bessel(0:harmonics)
    integer :: n, m
    call LayersArrive(layers, sent, place%layer, place%x(3), found)
    bessel = bessel_jn(0, harmonics, sent%k*place%far)
    field = 0
    do n = 1, directions
      turn = bessel(0)
      do m = 1, harmonics
        turn = turn + 2*turned(m)*bessel(m)*place%around(m, n)
      end do
      turn = turn*sent%k/(2*pi)/directions
      u = turn*found(:, 1, n)
      field(:3) = field(:3) + real(u, dp)
      field(4:6) = field(4:6) - aimag(u)*sent%k*ahead(n)
      field(7:9) = field(7:9) - aimag(u)*sent%k*aside(n)
      field(10:) = field(10:) + real(turn*found(:, 2, n), dp)
    end do
  end subroutine Integrand

  !> The same of a ring: u for cosines of multiples of the azimuth, then for sines.
  pure subroutine Around(layers, sent, place, field)
    type(near_layers_t), intent(in) :: layers
    type(sent_t), intent(in) :: sent
    type(place_t), intent(in) :: place
    real(dp), intent(out) :: field(3, 0:harmonics, 2)
    complex(dp) :: found(3, 2, directions), turn
    real(dp) :: bessel(0:harmonics)
    integer :: n, m
    call LayersArrive(layers, sent, place%layer, place%x(3), found)
    bessel = bessel_jn(0, harmonics, sent%k*place%far)
    field = 0
    do n = 1, directions
      do m = 0, harmonics
        turn = bessel(m)*sent%k/(2*pi)/directions
        if (m > 0) turn = 2*turned(m)*turn
        field(:, m, 1) = field(:, m, 1) + real(turn*found(:, 1, n), dp)*cosines(m, n)
        field(:, m, 2) = field(:, m, 2) + real(turn*found(:, 1, n), dp)*sines(m, n)
      end do
    end do
  end subroutine Around

end module layers_exact_m
