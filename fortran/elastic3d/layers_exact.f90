!> The exact field of a point source in flat layers, of waves that grow as exp(s t), s > 0: next to the source and beside a contact
!> what a grid lacks is found with it (fd3d_flat_near.f90).
!>
!>     rho s**2 u = div (c : grad u - m delta(x - x_s)) + f delta(x - x_s)
!>
!> In the layer of the source it is the closed form of even space (Aki & Richards 2002, eq. 4.23, at the frequency -i s) and what
!> the contacts send back, in other layers what they let through: an integral over horizontal wavenumbers k of waves down and up,
!>
!>     P: (u_r, u_z) = (i k, -d p),  S: (-i d q, k),  SH: u_t = 1     times exp(-d p z) or exp(-d q z), d = 1 down, -1 up,
!>
!> p**2 = k**2 + s**2/vp**2, q**2 = k**2 + s**2/vs**2. All are real, none grows. Amplitudes follow from what is continuous at each
!> contact; where k is large P and S are nearly the same, so they are solved for in quadruple precision. Around the axis the
!> integrand is a trigonometric polynomial of the fourth degree: six directions tell it, Bessel functions integrate it. Where
!> neither depth damps the integrand, source and receiver being at the contact, it is damped by exp(-k e), and e goes to 0 by
!> Chebyshev's points.
module layers_exact_m
  use kinds_m, only: dp, pi
  implicit none
  private
  public :: flat_layers_t, LayersFields, LayersLayer

  integer, parameter :: qp = selected_real_kind(30)
  complex(dp), parameter :: i1 = (0.0_dp, 1.0_dp)
  integer, parameter :: directions = 6, harmonics = 4
  integer, parameter :: nodes = 12                !< of Gauss' rule
  integer, parameter :: dampings = 9              !< and the least and most of them, over the distance along the contact
  real(dp), parameter :: damp_least = 0.1_dp, damp_most = 0.5_dp
  real(dp), parameter :: steep = 0.3_dp           !< depths over that distance: more damps enough
  real(dp), parameter :: range = 34               !< exp(-range) is left out

  !> Flat layers from the top down.
  type :: flat_layers_t
    integer :: n = 0
    logical :: free = .false.                     !< top(1) is a free surface, else the first layer has no end
    real(dp), allocatable :: top(:)               !< [m]
    real(dp), allocatable :: medium(:, :)         !< vp, vs, rho of each
  end type flat_layers_t

  !> Waves of a layer at a wavenumber.
  type :: waves_t
    real(qp) :: p = 0, q = 0, mu = 0, inertia = 0 !< decays [1/m]; rigidity; rho s**2
    logical :: solid = .false.
  end type waves_t

  !> Waves of all layers at a wavenumber, and what goes down (1) and up (2) in each of six directions.
  type :: sent_t
    real(dp) :: k = 0
    type(waves_t), allocatable :: w(:)
    complex(dp), allocatable :: psv(:, :, :, :)   !< (directions, P or S, down or up, layers)
    complex(dp), allocatable :: sh(:, :, :)       !< (directions, down or up, layers)
  end type sent_t

  !> A place where the field is wanted, and how its integral goes on.
  type :: place_t
    real(dp) :: x(3) = 0, far = 0, azimuth = 0    !< the last two from the source, along the contact
    integer :: layer = 0
    integer :: n = 1                              !< dampings
    real(dp) :: damping(dampings) = 0, share(dampings) = 1
    real(dp) :: grows = 0, most = 0               !< of the exponent with k, and the largest k
    real(dp) :: sums(12, dampings) = 0
  end type place_t

contains

  !> The layer at depth z; on a contact the upper one.
  pure integer function LayersLayer(layers, z) result(j)
    type(flat_layers_t), intent(in) :: layers
    real(dp), intent(in) :: z
    j = 1 + count(layers%top(2:layers%n) < z)
  end function LayersLayer

  !> Displacement u(:, r) and its gradient g(i, l, r) = du_i/dx_l at places x(:, r), of a force [N] and a moment tensor [N m] at
  !> `from`; in a fluid a moment pushes to all sides.
  subroutine LayersFields(layers, s, from, force, moment, x, threads, u, g)
    type(flat_layers_t), intent(in) :: layers
    real(dp), intent(in) :: s, from(3), force(3), moment(3, 3), x(:, :)
    integer, intent(in) :: threads
    real(dp), intent(out) :: u(:, :), g(:, :, :)
    integer :: at, r
    at = LayersLayer(layers, from(3))
    u = 0
    g = 0
    if (layers%n > 1 .or. layers%free) call AddSecondary(layers, s, from, force, moment, x, at, threads, u, g)
    do r = 1, size(x, 2)
      if (LayersLayer(layers, x(3, r)) /= at) cycle
      call AddDirect(layers%medium(:, at), s, x(:, r) - from, force, moment, u(:, r), g(:, :, r))
    end do
  end subroutine LayersFields

  ! --- even space -----------------------------------------------------------------------------------------------------

  !> u_i = G_ij f_j - m_jk d_k G_ij, G_ij = delta_ij h_b/(rho b**2) + d_i d_j (h_a - h_b)/(rho s**2), h = exp(-s r/c)/(4 pi r).
  pure subroutine AddDirect(medium, s, x, force, moment, u, g)
    real(dp), intent(in) :: medium(3), s, x(3), force(3), moment(3, 3)
    real(dp), intent(inout) :: u(3), g(3, 3)
    integer, parameter :: unit(3, 3) = reshape([1, 0, 0, 0, 1, 0, 0, 0, 1], [3, 3])
    real(dp) :: a(0:4), b(0:4), both(0:4)
    integer :: i, j, k, l
    a = Slopes(s/medium(1), norm2(x))
    if (.not. medium(2) > 0) then
      associate (m => (moment(1, 1) + moment(2, 2) + moment(3, 3))/3/(medium(3)*medium(1)**2))
        do i = 1, 3
          u(i) = u(i) - m*Differentiated(a, x, unit(:, i))
          do l = 1, 3
            g(i, l) = g(i, l) - m*Differentiated(a, x, unit(:, i) + unit(:, l))
          end do
        end do
      end associate
      return
    end if
    b = Slopes(s/medium(2), norm2(x))/(medium(3)*medium(2)**2)
    both = (a - b*(medium(3)*medium(2)**2))/(medium(3)*s**2)
    do i = 1, 3
      u(i) = u(i) + force(i)*Differentiated(b, x, 0*unit(:, i))
      do l = 1, 3
        g(i, l) = g(i, l) + force(i)*Differentiated(b, x, unit(:, l))
      end do
      do j = 1, 3
        u(i) = u(i) + force(j)*Differentiated(both, x, unit(:, i) + unit(:, j)) - moment(i, j)*Differentiated(b, x, unit(:, j))
        do l = 1, 3
          g(i, l) = g(i, l) + force(j)*Differentiated(both, x, unit(:, i) + unit(:, j) + unit(:, l)) - &
                    moment(i, j)*Differentiated(b, x, unit(:, j) + unit(:, l))
        end do
        do k = 1, 3
          u(i) = u(i) - moment(j, k)*Differentiated(both, x, unit(:, i) + unit(:, j) + unit(:, k))
          do l = 1, 3
            g(i, l) = g(i, l) - moment(j, k)*Differentiated(both, x, unit(:, i) + unit(:, j) + unit(:, k) + unit(:, l))
          end do
        end do
      end do
    end do
  end subroutine AddDirect

  !> exp(-kappa r)/(4 pi r) and its derivatives by r**2/2.
  pure function Slopes(kappa, r) result(f)
    real(dp), intent(in) :: kappa, r
    real(dp) :: f(0:4)
    integer :: n
    f(0) = exp(-kappa*r)/(4*pi*r)
    f(1) = -f(0)*(1 + kappa*r)/r**2
    do n = 2, 4
      f(n) = (-(2*n - 1)*f(n - 1) + kappa**2*f(n - 2))/r**2
    end do
  end function Slopes

  !> What has such derivatives by r**2/2, differentiated power(1:3) times (nearfield3d.f90, Exact).
  pure real(dp) function Differentiated(f, x, power) result(total)
    real(dp), intent(in) :: f(0:4), x(3)
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
  end function Differentiated

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

  ! --- what contacts send back or let through -------------------------------------------------------------------------

  !> Panels of wavenumbers serve all places, as what contacts make of a wave is the same for all: a panel is as short as those need
  !> for which there still is a field.
  subroutine AddSecondary(layers, s, from, force, moment, x, at, threads, u, g)
    type(flat_layers_t), intent(in) :: layers
    real(dp), intent(in) :: s, from(3), force(3), moment(3, 3), x(:, :)
    integer, intent(in) :: at, threads
    real(dp), intent(inout) :: u(:, :), g(:, :, :)
    type(place_t) :: place(size(x, 2))
    type(sent_t) :: sent(nodes)
    real(dp) :: k, length, node(nodes), weight(nodes)
    integer :: m, r
    do r = 1, size(place)
      place(r) = PlaceOf(layers, from, x(:, r), at)
    end do
    call GaussRule(node, weight)
    length = s/maxval(layers%medium(1, :))/2
    k = 0
    do while (k < maxval(place%most))
      length = min(1.5_dp*length, minval(min(2*pi/max(place%far, 0.1_dp*place%grows), 4/place%grows), k < place%most))
      !$omp parallel num_threads(threads)
      !$omp do schedule(dynamic)
      do m = 1, nodes
        call Send(layers, s, k + length*node(m), from(3), force, moment, at, sent(m))
      end do
      !$omp do schedule(dynamic)
      do r = 1, size(place)
        if (k < place(r)%most) call AddPanel(layers, sent, length*weight, place(r))
      end do
      !$omp end parallel
      k = k + length
    end do
    do r = 1, size(place)
      associate (field => matmul(place(r)%sums(:, :place(r)%n), place(r)%share(:place(r)%n)))
        u(:, r) = u(:, r) + field(:3)
        g(:, :, r) = g(:, :, r) + reshape(field(4:), [3, 3])
      end associate
    end do
  end subroutine AddSecondary

  pure type(place_t) function PlaceOf(layers, from, x, at) result(place)
    type(flat_layers_t), intent(in) :: layers
    real(dp), intent(in) :: from(3), x(3)
    integer, intent(in) :: at
    real(dp) :: way
    integer :: m, e, n
    place%x = x
    place%layer = LayersLayer(layers, x(3))
    place%far = norm2(x(:2) - from(:2))
    if (place%far > 0) place%azimuth = atan2(x(2) - from(2), x(1) - from(1))
    way = Shortest(layers, from(3), x(3), at, place%layer)
    if (way < steep*place%far) then
      n = dampings
      place%n = n
      place%damping = place%far*((damp_most + damp_least) + (damp_most - damp_least)*[(cos((m - 0.5_dp)*pi/n), m=1, n)])/2
      do m = 1, n
        associate (d => place%damping)
          place%share(m) = product([(d(e)/(d(e) - d(m)), e=1, m - 1), (d(e)/(d(e) - d(m)), e=m + 1, n)])
        end associate
      end do
    end if
    place%grows = way + minval(place%damping(:place%n))
    place%most = range/place%grows
  end function PlaceOf

  !> The shortest way in depth that a wave goes which meets a contact [m].
  pure real(dp) function Shortest(layers, zs, zr, at, to) result(way)
    type(flat_layers_t), intent(in) :: layers
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
    real(dp), intent(out) :: x(nodes), w(nodes)
    real(dp) :: y, p(0:nodes), slope
    integer :: m, n, times
    p(0) = 1
    do m = 1, nodes
      y = cos(pi*(m - 0.25_dp)/(nodes + 0.5_dp))
      do times = 1, 8
        p(1) = y
        do n = 2, nodes
          p(n) = ((2*n - 1)*y*p(n - 1) - (n - 1)*p(n - 2))/n
        end do
        slope = nodes*(y*p(nodes) - p(nodes - 1))/(y**2 - 1)
        y = y - p(nodes)/slope
      end do
      x(m) = (1 + y)/2
      w(m) = 1/((1 - y**2)*slope**2)
    end do
  end subroutine GaussRule

  !> What the contacts make of waves of wavenumber k from the source.
  subroutine Send(layers, s, k, zs, force, moment, at, sent)
    type(flat_layers_t), intent(in) :: layers
    real(dp), intent(in) :: s, k, zs, force(3), moment(3, 3)
    integer, intent(in) :: at
    type(sent_t), intent(inout) :: sent
    complex(dp) :: f(3, 0:1, directions)
    real(dp) :: turns(3, 3)
    integer :: j, n
    if (.not. allocated(sent%w)) &
      allocate (sent%w(layers%n), sent%psv(directions, 2, 2, layers%n), sent%sh(directions, 2, layers%n))
    sent%k = k
    do j = 1, layers%n
      associate (medium => layers%medium(:, j), w => sent%w(j))
        w%solid = medium(2) > 0
        w%inertia = medium(3)*s**2
        w%mu = medium(3)*medium(2)**2
        w%p = sqrt(real(k, qp)**2 + (s/medium(1))**2)
        if (w%solid) w%q = sqrt(real(k, qp)**2 + (s/medium(2))**2)
      end associate
    end do
    do n = 1, directions
      turns = Rotation(pi*(n - 1)/directions)
      f(:, 0, n) = matmul(turns, force) - i1*k*matmul(turns, matmul(moment, turns(1, :)))
      f(:, 1, n) = matmul(turns, moment(:, 3))
    end do
    call Psv(layers, sent%w, k, zs, at, f, sent%psv)
    call Sh(layers, sent%w, zs, at, f, sent%sh)
  end subroutine Send

  !> Adds a panel of wavenumbers to the sums of a place.
  pure subroutine AddPanel(layers, sent, weight, place)
    type(flat_layers_t), intent(in) :: layers
    type(sent_t), intent(in) :: sent(:)
    real(dp), intent(in) :: weight(:)
    type(place_t), intent(inout) :: place
    real(dp) :: field(12)
    integer :: m, e
    do m = 1, size(sent)
      call Integrand(layers, sent(m), place, field)
      do e = 1, place%n
        place%sums(:, e) = place%sums(:, e) + weight(m)*exp(-sent(m)%k*place%damping(e))*field
      end do
    end do
  end subroutine AddPanel

  !> The field of a wavenumber: u, then du_i/dx_l.
  pure subroutine Integrand(layers, sent, place, field)
    type(flat_layers_t), intent(in) :: layers
    type(sent_t), intent(in) :: sent
    type(place_t), intent(in) :: place
    real(dp), intent(out) :: field(12)
    complex(dp) :: found(3, 2, directions), turn, u(3), v(3), slope(3)
    real(dp) :: phi, turns(3, 3), bessel(0:harmonics)
    integer :: n, m, l
    call Arrive(layers, sent, place, found)
    bessel = bessel_jn(0, harmonics, sent%k*place%far)
    field = 0
    do n = 1, directions
      phi = pi*(n - 1)/directions
      turns = transpose(Rotation(phi))
      turn = bessel(0)
      do m = 1, harmonics
        turn = turn + 2*i1**m*bessel(m)*cos(m*(place%azimuth - phi))
      end do
      turn = turn*sent%k/(2*pi)/directions
      u = matmul(turns, found(:, 1, n))
      v = matmul(turns, found(:, 2, n))
      field(:3) = field(:3) + real(turn*u, dp)
      slope = [i1*sent%k*cos(phi), i1*sent%k*sin(phi), (0.0_dp, 0.0_dp)]
      do l = 1, 3
        if (l < 3) field(3*l + 1:3*l + 3) = field(3*l + 1:3*l + 3) + real(turn*u*slope(l), dp)
        if (l == 3) field(10:) = field(10:) + real(turn*v, dp)
      end do
    end do
  end subroutine Integrand

  !> Motion u_r, u_t, u_z (1) and its slopes by depth (2) at a place, of each direction.
  pure subroutine Arrive(layers, sent, place, found)
    type(flat_layers_t), intent(in) :: layers
    type(sent_t), intent(in) :: sent
    type(place_t), intent(in) :: place
    complex(dp), intent(out) :: found(3, 2, directions)
    complex(dp) :: part(2)
    real(dp) :: decay, left, v(4)
    integer :: d, kind, n
    found = 0
    associate (w => sent%w(place%layer))
      do d = 1, 2
        if (d == 2 .and. place%layer == layers%n) cycle
        do kind = 1, merge(2, 1, w%solid)
          decay = real(DecayOf(w, kind), dp)
          left = exp(-decay*AlongDepth(layers, place%layer, d, place%x(3)))
          v = real(Motion(w, sent%k, kind, 3 - 2*d), dp)
          do n = 1, directions
            part = [i1*v(1), cmplx(v(2), 0, dp)]*(sent%psv(n, kind, d, place%layer)*left)
            found([1, 3], 1, n) = found([1, 3], 1, n) + part
            found([1, 3], 2, n) = found([1, 3], 2, n) - (3 - 2*d)*decay*part
          end do
        end do
        if (.not. w%solid) cycle
        found(2, 1, :) = found(2, 1, :) + sent%sh(:, d, place%layer)*left
        found(2, 2, :) = found(2, 2, :) - (3 - 2*d)*decay*sent%sh(:, d, place%layer)*left
      end do
    end associate
  end subroutine Arrive

  !> From x, y, z to along the wavenumber, across it, down.
  pure function Rotation(phi)
    real(dp), intent(in) :: phi
    real(dp) :: Rotation(3, 3)
    Rotation = reshape([cos(phi), -sin(phi), 0.0_dp, sin(phi), cos(phi), 0.0_dp, 0.0_dp, 0.0_dp, 1.0_dp], [3, 3])
  end function Rotation

  !> Motion u_r/i, u_z and stress s_rz/i, s_zz of P (1) and S (2) going down, d = 1, or up.
  pure function Motion(w, k, kind, d) result(v)
    type(waves_t), intent(in) :: w
    real(dp), intent(in) :: k
    integer, intent(in) :: kind, d
    real(qp) :: v(4)
    if (kind == 1) v = [real(k, qp), -d*w%p, -2*d*w%mu*k*w%p, w%inertia + 2*w%mu*real(k, qp)**2]
    if (kind == 2) v = [-d*w%q, real(k, qp), w%mu*(w%q**2 + real(k, qp)**2), -2*d*w%mu*k*w%q]
  end function Motion

  pure real(qp) function DecayOf(w, kind)
    type(waves_t), intent(in) :: w
    integer, intent(in) :: kind
    DecayOf = merge(w%p, w%q, kind == 1)
  end function DecayOf

  !> Amplitudes of P and S waves in all layers.
  subroutine Psv(layers, w, k, zs, at, f, sent)
    type(flat_layers_t), intent(in) :: layers
    type(waves_t), intent(in) :: w(:)
    real(dp), intent(in) :: k, zs
    integer, intent(in) :: at
    complex(dp), intent(in) :: f(:, 0:, :)
    complex(dp), intent(out) :: sent(:, :, :, :)
    real(qp), allocatable :: a(:, :), b(:, :)
    integer :: column(2, 2, layers%n), n, j, d, kind, row
    n = 0
    column = 0
    do j = 1, layers%n
      do d = 1, 2                                 ! down, up
        if (d == 1 .and. j == 1 .and. .not. layers%free) cycle
        if (d == 2 .and. j == layers%n) cycle
        do kind = 1, merge(2, 1, w(j)%solid)
          n = n + 1
          column(kind, d, j) = n
        end do
      end do
    end do
    allocate (a(n, n), b(n, 2*directions), source=0.0_qp)
    row = 0
    if (layers%free) then
      if (w(1)%solid) call Enter(1, layers%top(1), 3, 1, 1)
      call Enter(1, layers%top(1), 4, 1, merge(2, 1, w(1)%solid))
      row = merge(2, 1, w(1)%solid)
    end if
    do j = 1, layers%n - 1
      associate (z => layers%top(j + 1), upper => w(j)%solid, lower => w(j + 1)%solid)
        call Enter(j, z, 2, 1, row + 1)
        call Enter(j + 1, z, 2, -1, row + 1)
        call Enter(j, z, 4, 1, row + 2)
        call Enter(j + 1, z, 4, -1, row + 2)
        row = row + 2
        if (upper .and. lower) then
          call Enter(j, z, 1, 1, row + 1)
          call Enter(j + 1, z, 1, -1, row + 1)
          call Enter(j, z, 3, 1, row + 2)
          call Enter(j + 1, z, 3, -1, row + 2)
          row = row + 2
        else if (upper) then
          call Enter(j, z, 3, 1, row + 1)
          row = row + 1
        else if (lower) then
          call Enter(j + 1, z, 3, -1, row + 1)
          row = row + 1
        end if
      end associate
    end do
    call Solve(a, b)
    sent = 0
    do j = 1, layers%n
      do d = 1, 2
        do kind = 1, 2
          if (column(kind, d, j) > 0) sent(:, kind, d, j) = cmplx(b(column(kind, d, j), 1::2), b(column(kind, d, j), 2::2), dp)
        end do
      end do
    end do

  contains

    !> Part `p` of motion and stress in layer j at depth z, times sign, in an equation.
    subroutine Enter(j, z, p, sign, equation)
      integer, intent(in) :: j, p, sign, equation
      real(dp), intent(in) :: z
      complex(qp) :: direct
      real(qp) :: v(4), scale
      integer :: d, kind, m
      scale = sign
      if (p > 2) scale = sign/(maxval(w%inertia)/k + 2*maxval(w%mu)*k)
      do d = 1, 2
        do kind = 1, 2
          if (column(kind, d, j) == 0) cycle
          v = Motion(w(j), k, kind, 3 - 2*d)
          a(equation, column(kind, d, j)) = a(equation, column(kind, d, j)) + &
                                            scale*v(p)*exp(-DecayOf(w(j), kind)*AlongDepth(layers, j, d, z))
        end do
      end do
      if (j /= at) return
      d = merge(1, -1, z > zs)
      do kind = 1, merge(2, 1, w(j)%solid)
        v = Motion(w(j), k, kind, d)
        do m = 1, directions
          direct = Emitted(w(j), k, f(:, :, m), kind, d)*exp(-DecayOf(w(j), kind)*abs(z - zs))*v(p)*scale
          b(equation, 2*m - 1) = b(equation, 2*m - 1) - real(direct)
          b(equation, 2*m) = b(equation, 2*m) - aimag(direct)
        end do
      end do
    end subroutine Enter

  end subroutine Psv

  !> From where waves down (1) and up (2) of a layer begin to z.
  pure real(dp) function AlongDepth(layers, j, d, z) result(way)
    type(flat_layers_t), intent(in) :: layers
    integer, intent(in) :: j, d
    real(dp), intent(in) :: z
    if (d == 1) way = max(0.0_dp, z - layers%top(j))
    if (d == 2) way = max(0.0_dp, layers%top(j + 1) - z)
  end function AlongDepth

  !> The amplitude of P (1) or S (2) that forces f send down, d = 1, or up: along r, t, z, and what is differentiated by depth.
  pure complex(qp) function Emitted(w, k, f, kind, d)
    type(waves_t), intent(in) :: w
    real(dp), intent(in) :: k
    complex(dp), intent(in) :: f(:, 0:)
    integer, intent(in) :: kind, d
    complex(qp) :: along, down
    along = cmplx(0, -1, qp)*(f(1, 0) + d*DecayOf(w, kind)*f(1, 1))
    down = f(3, 0) + d*DecayOf(w, kind)*f(3, 1)
    if (kind == 1) Emitted = -(k*along/w%p + d*down)/(2*w%inertia)
    if (kind == 2) Emitted = -(d*along + k*down/w%q)/(2*w%inertia)
  end function Emitted

  !> Amplitudes of SH waves in all layers.
  subroutine Sh(layers, w, zs, at, f, sent)
    type(flat_layers_t), intent(in) :: layers
    type(waves_t), intent(in) :: w(:)
    real(dp), intent(in) :: zs
    integer, intent(in) :: at
    complex(dp), intent(in) :: f(:, 0:, :)
    complex(dp), intent(out) :: sent(:, :, :)
    real(qp), allocatable :: a(:, :), b(:, :)
    integer :: column(2, layers%n), n, j, d, row
    sent = 0
    if (.not. w(at)%solid) return
    n = 0
    column = 0
    do j = 1, layers%n
      if (.not. w(j)%solid) cycle
      do d = 1, 2
        if (d == 1 .and. j == 1 .and. .not. layers%free) cycle
        if (d == 2 .and. j == layers%n) cycle
        n = n + 1
        column(d, j) = n
      end do
    end do
    if (n == 0) return
    allocate (a(n, n), b(n, 2*directions), source=0.0_qp)
    row = 0
    if (layers%free .and. w(1)%solid) then
      call Enter(1, layers%top(1), .true., 1)
      row = 1
    end if
    do j = 1, layers%n - 1
      associate (z => layers%top(j + 1), upper => w(j)%solid, lower => w(j + 1)%solid)
        if (upper .and. lower) then
          call Enter(j, z, .false., row + 1)
          call Enter(j + 1, z, .false., row + 1, -1)
          call Enter(j, z, .true., row + 2)
          call Enter(j + 1, z, .true., row + 2, -1)
          row = row + 2
        else if (upper .or. lower) then
          row = row + 1
          call Enter(merge(j, j + 1, upper), z, .true., row)
        end if
      end associate
    end do
    call Solve(a, b)
    do j = 1, layers%n
      do d = 1, 2
        if (column(d, j) > 0) sent(:, d, j) = cmplx(b(column(d, j), 1::2), b(column(d, j), 2::2), dp)
      end do
    end do

  contains

    !> Motion, or stress, of layer j in an equation.
    subroutine Enter(j, z, stress, equation, sign)
      integer, intent(in) :: j, equation
      real(dp), intent(in) :: z
      logical, intent(in) :: stress
      integer, intent(in), optional :: sign
      complex(qp) :: direct
      real(qp) :: scale
      integer :: d, m
      scale = 1
      if (present(sign)) scale = sign
      if (stress) scale = scale*w(j)%mu*w(j)%q/(maxval(w%mu)*maxval(w%q))
      do d = 1, 2
        if (column(d, j) == 0) cycle
        a(equation, column(d, j)) = a(equation, column(d, j)) + merge(2*d - 3, 1, stress)*scale* &
                                    exp(-w(j)%q*AlongDepth(layers, j, d, z))
      end do
      if (j /= at) return
      d = merge(1, -1, z > zs)
      do m = 1, directions
        direct = (f(2, 0, m) + d*w(j)%q*f(2, 1, m))/(2*w(j)%mu*w(j)%q)*exp(-w(j)%q*abs(z - zs))*scale
        if (stress) direct = -d*direct
        b(equation, 2*m - 1) = b(equation, 2*m - 1) - real(direct)
        b(equation, 2*m) = b(equation, 2*m) - aimag(direct)
      end do
    end subroutine Enter

  end subroutine Sh

  !> Solves a x = b, b handed over in x, by elimination with exchange of rows.
  pure subroutine Solve(a, x)
    real(qp), intent(inout) :: a(:, :), x(:, :)
    real(qp) :: row(size(a, 1)), other(size(x, 2)), f
    integer :: i, j, p, n
    n = size(a, 1)
    do i = 1, n
      p = i - 1 + maxloc(abs(a(i:, i)), dim=1)
      if (p /= i) then
        row = a(i, :); a(i, :) = a(p, :); a(p, :) = row
        other = x(i, :); x(i, :) = x(p, :); x(p, :) = other
      end if
      do j = i + 1, n
        f = a(j, i)/a(i, i)
        a(j, i + 1:) = a(j, i + 1:) - f*a(i, i + 1:)
        x(j, :) = x(j, :) - f*x(i, :)
      end do
    end do
    do i = n, 1, -1
      do j = i + 1, n
        x(i, :) = x(i, :) - a(i, j)*x(j, :)
      end do
      x(i, :) = x(i, :)/a(i, i)
    end do
  end subroutine Solve

end module layers_exact_m
