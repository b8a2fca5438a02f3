!> Receivers close to a source where a flat contact, or a free surface of rock, is near as well get what the grid lacks there.
!> Arguments stand in fd3d.f90.
!>
!> As in even space (nearfield3d.f90) waves too short to travel follow the source as if at rest, and the terms of inertia make
!> polynomials of frequency. Here these have no closed form. So the exact field in flat layers (layers_exact.f90) and that of the
!> grid, by its own media, from the source as it is spread (layers_grid.f90) and as receivers read it, are computed for waves that
!> grow as exp(s t), at three s. What the grid lacks has next to no long waves, and is a polynomial in w**2 = -s**2:
!>
!>     exact - grid = sum_j w**2j T_j
!>
!> with the same series as there for T_j.
submodule(fd3d_m) fd3d_flat_near
  use flat_near_m, only: flat_near_t, FlatFind, FlatMedia, FlatRange
  use fd3d_moduli_m, only: Fd3dLame
  use near_receivers_m, only: Fd3dNearBeside, Fd3dNearFlat, on_floor
  use fd3d_engine_m, only: fd3d_fields
  use fd3d_pieces_m, only: touches
  use fd3d_surface_m, only: Fd3dSurface
  use layers_exact_m, only: LayersFields
  use layers_grid_m, only: layers_grid_t, LayersGridField, layers_half
  use layers_waves_m, only: LayersLayer, near_layers_t
  use linear_m, only: SolveSmall
  use nearfield3d_m, only: near3d_orders
  use source3d_m, only: SourceParts
  implicit none

  integer, parameter :: times = near3d_orders + 1
  real(dp), parameter :: kappa(times) = [0.2_dp, 0.32_dp, 0.45_dp]   !< s times a cell over twice the least velocity, or
  real(dp), parameter :: least = 0.4_dp           !< this part of the largest one: else the grid's sum would repeat itself
  real(dp), parameter :: small = 1e-2_dp          !< part of a modulus
  integer, parameter :: beyond = 8 + touches      !< cells from the source that receivers may read

  interface
    !> Beside a sea floor, self%near_floor. Arguments as for FlatNear.
    module subroutine FloorNear(self, found, done, error)
      class(fd3d_t), intent(inout) :: self
      type(flat_near_t), intent(in) :: found
      logical, intent(in) :: done(:, :)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine FloorNear
  end interface

contains

  module procedure FlatNear
    type(flat_near_t) :: found
    type(near_layers_t) :: layers
    real(dp), allocatable :: spread_out(:, :, :, :), field(:, :, :, :, :), all_of(:)
    character(32), allocatable :: names(:)
    logical, allocatable :: mine(:)
    real(dp) :: at(3), s(times), force(3), six(6), moment(3, 3), own(3)
    integer, allocatable :: list(:)               !< of receivers
    integer :: r, m, cell(3), low(3)
    allocate (names, source=SplitList(self%scheme%components))
    allocate (done(size(self%shot%rx), 2), source=.false.)
    allocate (terms(0:near3d_orders, size(self%shot%rx), size(names), merge(3, 1, self%grid%anelastic)), source=0.0_dp)
    quality = 0
    if (allocated(error)) return
    call FindBeside(self, window, found, done, error)
    if (allocated(error) .or. .not. any(done)) return
    if (found%sea) then
      call FloorNear(self, found, done, error)
      return
    end if
    at = [self%shot%sx, self%shot%sy, self%shot%sz] - self%corner
    cell = floor(at/self%whole%d) + 1
    if (self%grid%anelastic) then
      associate (medium => FlatMedia(found, cell(3) - self%pad(3)))
        quality = medium(4:5)
      end associate
    end if
    call SpreadOut(self, cell, spread_out, error)
    if (allocated(error)) return
    layers = Layered(self, found, 1)
    associate (p => layers%medium(1, :), q => layers%medium(2, :))
      s = kappa*min(maxval(p), max(2*minval(q), least*maxval(p)))/product(self%whole%d)**(1/3.0_dp)
    end associate
    own = layers%medium(:, LayersLayer(layers, at(3)))
    call SourceParts(self%own%source, own(3)*(own(1)**2 - own(2)**2*4/3), force, six)
    moment = reshape(six([1, 4, 5, 4, 2, 6, 5, 6, 3]), [3, 3])
    mine = [(any(done(r, :)) .and. Owns(self, Place(self, r)), r=1, size(done, 1))]
    if (any(mine)) then
      low = cell - beyond
      if (self%whole%side(5) == side_free) low(3) = max(1, low(3))
      allocate (field(2*beyond + 1, 2*beyond + 1, cell(3) + beyond - low(3) + 1, 0:fd3d_fields - 1, times))
      list = pack([(r, r=1, size(mine))], mine)
      do m = 1, size(terms, 4)
        layers = Layered(self, found, m)
        call GridFields(self, found, m, cell, s, spread_out, low, field)
        call TermsOf(m)
      end do
      do m = 2, size(terms, 4)
        terms(:, :, :, m) = (terms(:, :, :, m) - terms(:, :, :, 1))/small
      end do
    end if
    all_of = reshape(terms, [size(terms)])
    call OverAll(self, 'total', all_of, error)
    terms = reshape(all_of, shape(terms))

  contains

    !> The m-th terms of the receivers of the list.
    subroutine TermsOf(m)
      integer, intent(in) :: m
      real(dp) :: x(3, size(list)), u(3, size(list)), g(3, 3, size(list)), off(times, size(names), size(list))
      integer :: n, c, i
      do i = 1, size(list)
        x(:, i) = Place(self, list(i))
      end do
      do n = 1, times
        call LayersFields(layers, s(n), at, force, moment, x, max(1, self%scheme%threads), u, g)
        do i = 1, size(list)
          associate (medium => layers%medium(:, LayersLayer(layers, x(3, i))))
            off(n, :, i) = [(Component(trim(names(c)), medium, u(:, i), g(:, :, i)) - &
                             Reading((c - 1)*size(mine) + list(i), n), c=1, size(names))]
          end associate
        end do
      end do
      do i = 1, size(list)
        do c = 1, size(names)
          terms(:, list(i), c, m) = Polynomial(s, off(:, c, i))
        end do
      end do
    end subroutine TermsOf

    !> Entry m of the records reads this of the n-th field.
    pure real(dp) function Reading(m, n)
      integer, intent(in) :: m, n
      integer :: e, i(3)
      Reading = 0
      do e = self%records%start(m), self%records%start(m + 1) - 1
        i = [self%records%i(e), self%records%j(e), self%records%k(e)] + self%around%first - low
        Reading = Reading + self%records%w(e)*field(i(1), i(2), i(3), self%records%field(e), n)
      end do
    end function Reading

  end procedure FlatNear

  !> Receiver r from the corner of the grid [m].
  pure function Place(self, r)
    class(fd3d_t), intent(in) :: self
    integer, intent(in) :: r
    real(dp) :: Place(3)
    Place = [self%shot%rx(r), self%shot%ry(r), self%shot%rz(r)] - self%corner
  end function Place

  !> Looks for flat layers, and for receivers close to the source that have a contact of them or a free surface near: done(:, 1) for
  !> what is read at points, (:, 2) for differences, which reach farther.
  subroutine FindBeside(self, window, found, done, error)
    class(fd3d_t), intent(inout) :: self
    type(window_t), intent(in) :: window
    type(flat_near_t), intent(out) :: found
    logical, intent(inout) :: done(:, :)
    type(error_t), allocatable, intent(inout) :: error
    real(dp), allocatable :: range(:)
    type(box_t) :: box
    integer :: parts
    call Fd3dNearFlat(self%scheme, self%own, window, self%shot, box)
    if (any(box%high < box%low)) return
    parts = merge(5, 3, self%grid%anelastic)
    allocate (range(2*parts*(box%high(3) - box%low(3) + 1)))
    call OfRange(range)
    call OverAll(self, 'largest', range, error)
    if (allocated(error) .or. any(range <= -huge(1.0_dp))) return
    call FlatFind(reshape(range, [2*parts, size(range)/(2*parts)]), box%low(3), self%scheme%free_top, window%dz, found)
    call Fd3dNearBeside(self%scheme, self%own, window, self%shot, found, done)

  contains

    subroutine OfRange(numbers)
      real(dp), intent(out) :: numbers(2*parts, box%high(3) - box%low(3) + 1)
      call FlatRange(window, box, numbers)
    end subroutine OfRange

  end subroutine FindBeside

  !> The layers with the moduli of the grid, and depths from its corner; `which`: 2 with a larger lambda + 2 mu, 3 with a larger mu.
  pure type(near_layers_t) function Layered(self, found, which) result(layers)
    class(fd3d_t), intent(in) :: self
    type(flat_near_t), intent(in) :: found
    integer, intent(in) :: which
    integer :: j
    layers = found%layers
    do j = 1, layers%n
      layers%medium(:2, j) = sqrt(Stiffness(self, FlatMedia(found, merge(found%low, found%high, j == 1)), which)/ &
                                  layers%medium(3, j))
    end do
    layers%top(2:) = layers%top(2:) + self%pad(3)*self%whole%d(3)
  end function Layered

  !> lambda + 2 mu and mu of a medium on the grid, where waves attenuate those that do not relax.
  pure function Stiffness(self, medium, which) result(moduli)
    class(fd3d_t), intent(in) :: self
    real(dp), intent(in) :: medium(:)
    integer, intent(in) :: which
    real(dp) :: moduli(2)
    moduli = Fd3dLame(self%moduli, medium)
    moduli(1) = moduli(1) + 2*moduli(2)
    if (which > 1) moduli(which - 1) = moduli(which - 1)*(1 + small)
  end function Stiffness

  pure logical function Owns(self, x)
    class(fd3d_t), intent(in) :: self
    real(dp), intent(in) :: x(3)
    integer :: cell(3)
    cell = min(max(floor(x/self%whole%d) + 1, 1), self%whole%n)
    Owns = all(cell >= self%piece%first .and. cell < self%piece%first + self%piece%n)
  end function Owns

  !> The source as it acts on velocities and stresses of cells around `cell`.
  subroutine SpreadOut(self, cell, out, error)
    class(fd3d_t), intent(inout) :: self
    integer, intent(in) :: cell(3)
    real(dp), allocatable, intent(out) :: out(:, :, :, :)
    type(error_t), allocatable, intent(inout) :: error
    real(dp), allocatable :: all_of(:)
    integer :: e, i(3)
    allocate (out(2*touches + 1, 2*touches + 1, 2*touches + 1, 0:fd3d_fields - 1), source=0.0_dp)
    if (Owns(self, [self%shot%sx, self%shot%sy, self%shot%sz] - self%corner)) then
      do e = 1, self%acts%n
        i = [self%acts%i(e), self%acts%j(e), self%acts%k(e)] + self%around%first - cell + touches
        associate (one => out(i(1), i(2), i(3), self%acts%field(e)))
          one = one + self%acts%w(e)/self%whole%dt
        end associate
      end do
    end if
    all_of = reshape(out, [size(out)])
    call OverAll(self, 'total', all_of, error)
    out = reshape(all_of, shape(out))
  end subroutine SpreadOut

  !> The grid's fields of cells from `low` on, for each s.
  subroutine GridFields(self, found, which, cell, s, source, low, field)
    class(fd3d_t), intent(in) :: self
    type(flat_near_t), intent(in) :: found
    integer, intent(in) :: which, cell(3), low(3)
    real(dp), intent(in) :: s(:), source(:, :, :, 0:)
    real(dp), intent(out) :: field(:, :, :, 0:, :)
    type(layers_grid_t) :: grid
    real(dp), allocatable :: medium(:)
    real(dp) :: moduli(2)
    logical :: wanted(0:fd3d_fields - 1)
    integer :: k, n, above, first
    above = cell(3) - layers_half
    if (self%whole%side(5) == side_free) above = max(0, above)
    grid%rows = cell(3) + layers_half - above
    grid%half_length = self%whole%half_length
    grid%d = self%whole%d
    grid%w = real(real(self%whole%w, sp), dp)
    grid%free = self%whole%side(5) == side_free .and. above == 0
    if (grid%free) grid%surface = Fd3dSurface(self%whole, .false.)
    grid%threads = max(1, self%scheme%threads)
    allocate (grid%rho(grid%rows), grid%lambda(grid%rows), grid%mu(grid%rows))
    do k = 1, grid%rows
      medium = FlatMedia(found, above + k - self%pad(3))
      moduli = Stiffness(self, medium, which)
      grid%rho(k) = medium(3)
      grid%lambda(k) = moduli(1) - 2*moduli(2)
      grid%mu(k) = moduli(2)
    end do
    field = 0
    wanted = .false.
    wanted(self%records%field(:self%records%n)) = .true.
    first = max(1, touches + 1 - cell(3) + above + 1)          ! of the source's rows, the first below the surface
    do n = 1, size(s)
      call LayersGridField(grid, s(n), [cell(:2) - touches, cell(3) - touches + first - 1 - above], source(:, :, first:, :), &
                           wanted, [low(:2), low(3) - above], field(:, :, :, :, n))
    end do
  end subroutine GridFields

  !> A component (fd3d_components.f90) of motion u and its gradient in a medium vp, vs, rho.
  pure real(dp) function Component(name, medium, u, g) result(value)
    character(*), intent(in) :: name
    real(dp), intent(in) :: medium(3), u(3), g(3, 3)
    real(dp) :: mu, lambda, total
    integer :: i, j
    mu = medium(3)*medium(2)**2
    lambda = medium(3)*medium(1)**2 - 2*mu
    total = g(1, 1) + g(2, 2) + g(3, 3)
    i = index('xyz', name(2:2))
    j = index('xyz', name(len(name):))
    select case (name(1:1))
    case ('v')
      value = u(i)
    case ('p')
      value = -(lambda + mu*2/3)*total
    case ('s')
      value = mu*(g(i, j) + g(j, i))
      if (i == j) value = value + lambda*total
    case ('e')
      value = (g(i, j) + g(j, i))/2
    case default
      j = modulo(i, 3) + 1
      i = modulo(j, 3) + 1
      value = (g(i, j) - g(j, i))/2
    end select
  end function Component

  !> T_j of numbers at s.
  pure function Polynomial(s, numbers) result(t)
    real(dp), intent(in) :: s(:), numbers(:)
    real(dp) :: t(0:near3d_orders), a(times, times), unit
    integer :: n, j
    unit = s(times)**2
    do n = 1, times
      a(n, :) = [((-s(n)**2/unit)**j, j=0, near3d_orders)]
    end do
    t = numbers
    call SolveSmall(a, t)
    t = t/[(unit**j, j=0, near3d_orders)]
  end function Polynomial

end submodule fd3d_flat_near
