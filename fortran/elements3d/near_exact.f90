!> The exact field of a source that a mesh's is compared with (near_patch.f90), of waves that grow as exp(s t), s > 0: in an even
!> medium, in a fluid with the image beyond a plane free side, in rock below a plane free side or beside a plane contact
!> (sources/layers_exact.f90), in water over a plane floor of rock, below a free side too (sources/floor_exact.f90). It is a
!> displacement, in water the potential chi, in the first of as many numbers as there are.
!>
!> At the thousands of outer points of a patch an integral over wavenumbers each would take seconds. What the plane sends back or
!> lets through is smooth there. So it is computed on rings around the axis through the source, which has a trigonometric polynomial
!> of the azimuth, and goes by Chebyshev's polynomials of the distance from where the axis meets the plane and of the angle to it.
module near_exact_m
  use even_medium_m, only: EvenMotion, EvenPotential
  use floor_exact_m, only: floor_layers_t, FloorFields
  use kinds_m, only: dp, pi
  use layers_exact_m, only: harmonics, LayersFields, LayersRings
  use layers_waves_m, only: LayersLayer, near_layers_t
  implicit none
  private
  public :: near_source_t, NearGuess, NearOuter, NearFields

  !> A source, and the media around it.
  type :: near_source_t
    logical :: solid = .true.
    real(dp) :: x(3) = 0                          !< [m]
    real(dp) :: medium(3) = 0                     !< rho, lambda, mu
    real(dp) :: force(3) = 0, moment(3, 3) = 0    !< [N, N m]
    real(dp) :: volume = 0                        !< in a fluid [m3],
    logical :: mirrored = .false.                 !< with a negative image beyond a free side
    real(dp) :: image(3) = 0                      !< [m]
    logical :: layered = .false.                  !< rock with a plane free side, or contact:
    type(near_layers_t) :: layers                 !< depths count from there,
    logical :: floored = .false.                  !< water over rock:
    type(floor_layers_t) :: floor                 !< depths count
    real(dp) :: axes(3, 3) = 0                    !< along the last of these rows, from a place
    real(dp) :: origin(3) = 0                     !< of depth 0, straight across the plane from the source [m]
  end type near_source_t

  real(dp), parameter :: blunt = 0.3_dp           !< of an edge
  integer, parameter :: distances = 14, angles = 12   !< of rings

contains

  !> About the field at x: the exact one of an even medium, or of a fluid with the image, of a source blunt by so much of an edge
  !> [m]; and its gradient. below: in the rock below water, where it is 0.
  pure subroutine NearGuess(source, s, x, below, edge, u, g)
    type(near_source_t), intent(in) :: source
    real(dp), intent(in) :: s, x(3), edge
    logical, intent(in) :: below
    real(dp), intent(out) :: u(:)
    real(dp), intent(out), optional :: g(3, 3)
    real(dp) :: chi, slope(3), image, other(3)
    u = 0
    if (present(g)) g = 0
    if (below) return
    if (source%solid) then
      call EvenMotion(source%medium, s, x - source%x, source%force, source%moment, Bluntness(x - source%x), u, g)
      return
    end if
    call EvenPotential(source%medium(:2), s, x - source%x, source%volume, Bluntness(x - source%x), chi, slope)
    if (source%mirrored) then
      call EvenPotential(source%medium(:2), s, x - source%image, source%volume, Bluntness(x - source%image), image, other)
      chi = chi - image
      slope = slope - other
    end if
    u(1) = chi
    if (present(g)) g = spread(slope, 1, 3)

  contains

    pure real(dp) function Bluntness(x)
      real(dp), intent(in) :: x(3)
      Bluntness = 0
      if (edge > 0) Bluntness = (blunt*edge)**2*exp(-sum(x**2)/edge**2)
    end function Bluntness
  end subroutine NearGuess

  !> The exact field and its gradient at places x(:, r) that are `beyond` a contact, or not. g(1, :) is the gradient of chi.
  subroutine NearFields(source, s, x, beyond, threads, u, g)
    type(near_source_t), intent(in) :: source
    real(dp), intent(in) :: s, x(:, :)
    logical, intent(in) :: beyond(:)
    integer, intent(in) :: threads
    real(dp), intent(out) :: u(:, :), g(:, :, :)
    real(dp) :: force(3), moment(3, 3), from(3), y(3, size(x, 2))
    integer :: r
    if (source%floored) call OverFloor(source, s, x, beyond, threads, u, g)
    if (source%floored) return
    if (.not. source%layered) then
      do r = 1, size(x, 2)
        call NearGuess(source, s, x(:, r), .false., 0.0_dp, u(:, r), g(:, :, r))
      end do
      return
    end if
    call OfLayers(source, from, force, moment)
    associate (axes => source%axes)
      y = matmul(axes, x - spread(source%origin, 2, size(x, 2)))
      if (source%layers%n > 1) y(3, :) = merge(max(y(3, :), tiny(y)), min(y(3, :), 0.0_dp), beyond)
      call LayersFields(source%layers, s, from, force, moment, y, threads, u, g)
      u = matmul(transpose(axes), u)
      do r = 1, size(x, 2)
        g(:, :, r) = matmul(transpose(axes), matmul(g(:, :, r), axes))
      end do
    end associate
  end subroutine NearFields

  !> The same over a floor. In water u = 1/rho grad chi, and pressure -K div u = -s**2 chi.
  subroutine OverFloor(source, s, x, in_rock, threads, u, g)
    type(near_source_t), intent(in) :: source
    real(dp), intent(in) :: s, x(:, :)
    logical, intent(in) :: in_rock(:)
    integer, intent(in) :: threads
    real(dp), intent(out) :: u(:, :), g(:, :, :)
    complex(dp) :: motion(3, size(x, 2)), slope(3, 3, size(x, 2))
    real(dp) :: from(3)
    integer :: r
    associate (axes => source%axes, rho => source%medium(1), bulk => source%medium(2))
      from = matmul(axes, source%x - source%origin)
      call FloorFields(source%floor, cmplx(s, kind=dp), from, bulk*source%volume, [0.0_dp, 0.0_dp], &
                       matmul(axes, x - spread(source%origin, 2, size(x, 2))), in_rock, [(.true., r=1, size(x, 2))], threads, &
                       motion, slope)
      do r = 1, size(x, 2)
        u(:, r) = matmul(transpose(axes), real(motion(:, r), dp))
        g(:, :, r) = matmul(transpose(axes), matmul(real(slope(:, :, r), dp), axes))
        if (in_rock(r)) cycle
        g(1, :, r) = rho*u(:, r)
        u(:, r) = [bulk/s**2*real(slope(1, 1, r) + slope(2, 2, r) + slope(3, 3, r), dp), 0.0_dp, 0.0_dp]
      end do
    end associate
  end subroutine OverFloor

  !> The source along the axes of its layers.
  pure subroutine OfLayers(source, from, force, moment)
    type(near_source_t), intent(in) :: source
    real(dp), intent(out) :: from(3), force(3), moment(3, 3)
    associate (axes => source%axes)
      from = [0.0_dp, 0.0_dp, dot_product(axes(3, :), source%x - source%origin)]
      force = matmul(axes, source%force)
      moment = matmul(axes, matmul(source%moment, transpose(axes)))
    end associate
  end subroutine OfLayers

  !> The exact field at the outer points x(:, r) of a patch; below: in the rock below water.
  subroutine NearOuter(source, s, x, below, threads, u)
    type(near_source_t), intent(in) :: source
    real(dp), intent(in) :: s, x(:, :)
    logical, intent(in) :: below(:)
    integer, intent(in) :: threads
    real(dp), intent(out) :: u(:, :)
    real(dp), allocatable :: slope(:, :, :)
    real(dp) :: force(3), moment(3, 3), from(3), y(3, size(x, 2)), direct(3)
    integer, allocatable :: list(:)
    integer :: layer(size(x, 2)), j, r
    if (source%floored) then
      allocate (slope(3, 3, size(x, 2)))
      call OverFloor(source, s, x, below, threads, u, slope)
      return
    end if
    if (.not. source%layered) then
      do r = 1, size(x, 2)
        call NearGuess(source, s, x(:, r), .false., 0.0_dp, u(:, r))
      end do
      return
    end if
    call OfLayers(source, from, force, moment)
    y = matmul(source%axes, x - spread(source%origin, 2, size(x, 2)))
    layer = [(LayersLayer(source%layers, y(3, r)), r=1, size(layer))]
    do j = 1, source%layers%n
      list = pack([(r, r=1, size(layer))], layer == j)
      if (size(list) == 0) cycle
      call FromRings(source%layers, s, from(3), force, moment, y(:, list), j == source%layers%n, threads, u, list)
    end do
    u = matmul(transpose(source%axes), u)
    do r = 1, size(layer)
      if (layer(r) /= LayersLayer(source%layers, from(3))) cycle
      call EvenMotion(source%medium, s, x(:, r) - source%x, source%force, source%moment, 0.0_dp, direct)
      u(:, r) = u(:, r) + direct
    end do
  end subroutine NearOuter

  !> The plane sends u(:, list) back, or lets it through, to places y(:, :) on one side of it; below: depths are positive.
  subroutine FromRings(layers, s, zs, force, moment, y, below, threads, u, list)
    type(near_layers_t), intent(in) :: layers
    real(dp), intent(in) :: s, zs, force(3), moment(3, 3), y(:, :)
    logical, intent(in) :: below
    integer, intent(in) :: threads, list(:)
    real(dp), intent(inout) :: u(:, :)
    real(dp) :: wave(3, 0:harmonics, 2, distances*angles), ring(2, distances*angles), d(size(list)), angle(size(list))
    real(dp) :: at_d(distances), at_angle(angles), azimuth, share(distances*angles), one(3, 0:harmonics, 2)
    integer :: i, k, m
    d = norm2(y, 1)
    angle = atan2(abs(y(3, :)), hypot(y(1, :), y(2, :)))
    at_d = Nodes(d, distances)
    at_angle = Nodes(angle, angles)
    ring = reshape([((at_d(i)*cos(at_angle(k)), merge(1, -1, below)*at_d(i)*sin(at_angle(k)), i=1, distances), k=1, angles)], &
                   shape(ring))
    call LayersRings(layers, s, zs, force, moment, ring, threads, wave)
    do i = 1, size(list)
      azimuth = atan2(y(2, i), y(1, i))
      share = [spread(Shares(d(i), at_d), 2, angles)*spread(Shares(angle(i), at_angle), 1, distances)]
      one = reshape(matmul(reshape(wave, [6*(harmonics + 1), size(share)]), share), shape(one))
      u(:, list(i)) = 0
      do m = 0, harmonics
        u(:, list(i)) = u(:, list(i)) + one(:, m, 1)*cos(m*azimuth) + one(:, m, 2)*sin(m*azimuth)
      end do
    end do
  end subroutine FromRings

  !> Chebyshev's points of the extent of x.
  pure function Nodes(x, n)
    real(dp), intent(in) :: x(:)
    integer, intent(in) :: n
    real(dp) :: Nodes(n), half
    integer :: i
    half = max((maxval(x) - minval(x))/2, 1.0e-6_dp*maxval(abs(x)), tiny(x))
    Nodes = (maxval(x) + minval(x))/2 + half*[(cos((i - 0.5_dp)*pi/n), i=1, n)]
  end function Nodes

  !> Weights of values at Chebyshev's points for that at x (Berrut & Trefethen 2004, SIAM Rev. 46, eq. 4.2 and 5.3).
  pure function Shares(x, node) result(share)
    real(dp), intent(in) :: x, node(:)
    real(dp) :: share(size(node))
    integer :: i
    i = minloc(abs(x - node), 1)
    if (abs(x - node(i)) <= 1.0e-12_dp*abs(node(1) - node(size(node)))) then
      share = 0
      share(i) = 1
      return
    end if
    share = [((-1)**i*sin((i - 0.5_dp)*pi/size(node))/(x - node(i)), i=1, size(node))]
    share = share/sum(share)
  end function Shares

end module near_exact_m
