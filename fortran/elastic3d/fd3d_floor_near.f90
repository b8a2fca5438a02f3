!> Receivers close to a source of volume in the water, beside a flat sea floor on a face of the cells or in one, get what the grid
!> lacks there. Arguments stand in fd3d_flat_near.f90.
!>
!> As beside a contact of rock (fd3d_flat_near.f90), the exact field (floor_exact.f90) less that of the grid (floor_grid.f90), of
!> waves that go as exp(s t). But what moves rock and makes pressure begins with s**2, so a polynomial through real s is not right
!> where waves are, on the imaginary axis: s are complex, close to it, and functions other than powers stand for what the grid does
!> at the floor (floor_terms.f90). Moduli that relax are those that do not: 1/Q of what is added is left out.
submodule(fd3d_m:fd3d_flat_near) fd3d_floor_near
  use fd3d_engine_m, only: field_sxx
  use near_receivers_m, only: Fd3dNearSlopes
  use floor_exact_m, only: floor_layers_t, FloorFields
  use floor_grid_m, only: floor_grid_t, floor_period, FloorGridField, FloorGridRows
  use floor_terms_m, only: floor_s, floor_terms, FloorFit, FloorPoles
  implicit none

contains

  module procedure FloorNear
    type(floor_layers_t) :: layers
    type(floor_grid_t) :: grid
    real(dp), allocatable :: spread_out(:, :, :, :), all_of(:)
    character(32), allocatable :: names(:)
    logical, allocatable :: mine(:)
    integer, allocatable :: list(:)               !< of receivers
    real(dp) :: at(3), force(3), six(6)
    integer :: r, cell(3), read(3, 2), acts(3, 2)
    allocate (names, source=SplitList(self%scheme%components))
    allocate (self%near_floor(floor_terms, size(done, 1), size(names)), source=0.0_dp)
    at = [self%shot%sx, self%shot%sy, self%shot%sz] - self%corner
    cell = floor(at/self%whole%d) + 1
    call SpreadOut(self, cell, spread_out, error)
    mine = [(Owns(self, Place(self, r)), r=1, size(done, 1))]
    list = pack([(r, r=1, size(mine))], any(done, dim=2))
    call Boxes()
    if (allocated(error)) return
    layers = Layered()
    call MakeGrid()
    associate (unit => FloorUnit(layers, self%whole%d))
      self%floor_unit = unit
      self%floor_poles = FloorPoles(grid%w(:grid%half_length), grid%d(3), layers%rho, layers%rock)
    end associate
    call SourceParts(self%own%source, layers%rho*layers%c**2, force, six)
    if (any(mine(list))) call Terms()
    all_of = reshape(self%near_floor, [size(self%near_floor)])
    call OverAll(self, 'total', all_of, error)
    self%near_floor = reshape(all_of, shape(self%near_floor))

  contains

    !> Cells that receivers read, of all ranks, and that the source acts on.
    subroutine Boxes()
      real(dp) :: far(6)
      integer :: c, e, i(3), j, k
      far = -huge(1.0_dp)
      do c = 1, size(names)
        do r = 1, size(list)
          if (.not. mine(list(r))) cycle
          associate (m => (c - 1)*size(mine) + list(r))
            do e = self%records%start(m), self%records%start(m + 1) - 1
              i = [self%records%i(e), self%records%j(e), self%records%k(e)] + self%around%first - 1
              far = max(far, real([-i, i], dp))
            end do
          end associate
        end do
      end do
      call OverAll(self, 'largest', far, error)
      if (allocated(error)) return
      read = reshape(nint([-far(:3), far(4:)]), [3, 2])
      acts = spread(cell, 2, 2)
      do k = 1, size(spread_out, 3)
        do j = 1, size(spread_out, 2)
          do e = 1, size(spread_out, 1)
            if (.not. abs(spread_out(e, j, k, field_sxx)) > 0) cycle
            i = cell + [e, j, k] - touches - 1
            acts(:, 1) = min(acts(:, 1), i)
            acts(:, 2) = max(acts(:, 2), i)
          end do
        end do
      end do
    end subroutine Boxes

    !> Water and rock with the moduli of the grid, depths from its corner.
    type(floor_layers_t) function Layered() result(layers)
      real(dp) :: moduli(2)
      associate (water => FlatMedia(found, found%low), rock => FlatMedia(found, found%high))
        layers%rho = water(3)
        moduli = Stiffness(self, water, 1)
        layers%c = sqrt(moduli(1)/layers%rho)
        moduli = Stiffness(self, rock, 1)
        layers%rock = [sqrt(moduli/rock(3)), rock(3)]
      end associate
      layers%depth = found%layers%top(2) + self%pad(3)*self%whole%d(3)
    end function Layered

    !> Rows around all that is read and acted on.
    subroutine MakeGrid()
      real(dp) :: moduli(2)
      real(dp), allocatable :: medium(:)
      integer :: k
      grid%half_length = self%whole%half_length
      grid%d = self%whole%d
      grid%w = real(real(self%whole%w, sp), dp)
      grid%threads = max(1, self%scheme%threads)
      call FloorGridRows(grid, min(read(3, 1), acts(3, 1)), max(read(3, 2), acts(3, 2)), self%whole%side(5) == side_free)
      layers%free = grid%free
      do k = 1, grid%rows
        medium = FlatMedia(found, grid%above + k - self%pad(3))
        moduli = Stiffness(self, medium, 1)
        grid%rho(k) = medium(3)
        grid%lambda(k) = moduli(1) - 2*moduli(2)
        grid%mu(k) = moduli(2)
      end do
    end subroutine MakeGrid

    !> The terms of the receivers of the list.
    subroutine Terms()
      complex(dp) :: field(read(1, 2) - read(1, 1) + 1, read(2, 2) - read(2, 1) + 1, read(3, 2) - read(3, 1) + 1, 0:fd3d_fields - 1)
      complex(dp) :: u(3, size(list)), g(3, 3, size(list)), off(size(floor_s), size(names), size(list)), s
      real(dp) :: x(3, size(list)), medium(3, size(list))
      logical :: in_rock(size(list)), wanted(read(3, 1):read(3, 2), 0:fd3d_fields - 1)
      integer :: c, e, i, n
      wanted = .false.
      do i = 1, size(list)
        x(:, i) = Place(self, list(i))
        in_rock(i) = x(3, i) > layers%depth - on_floor*self%whole%d(3)
        medium(:, i) = [layers%c, 0.0_dp, layers%rho]
        if (in_rock(i)) medium(:, i) = layers%rock
        if (.not. mine(list(i))) cycle
        do c = 1, size(names)
          associate (m => (c - 1)*size(mine) + list(i))
            do e = self%records%start(m), self%records%start(m + 1) - 1
              wanted(self%records%k(e) + self%around%first(3) - 1, self%records%field(e)) = .true.
            end do
          end associate
        end do
      end do
      do n = 1, size(floor_s)
        s = floor_s(n)*self%floor_unit
        associate (given => spread_out(acts(1, 1) - cell(1) + touches + 1:acts(1, 2) - cell(1) + touches + 1, &
                                       acts(2, 1) - cell(2) + touches + 1:acts(2, 2) - cell(2) + touches + 1, &
                                       acts(3, 1) - cell(3) + touches + 1:acts(3, 2) - cell(3) + touches + 1, field_sxx))
          call FloorGridField(grid, s, acts(:, 1), given, wanted, read(:, 1), field)
        end associate
        call FloorFields(layers, s, at, six(1), floor_period*self%whole%d(:2), x, in_rock, mine(list), grid%threads, u, g)
        do i = 1, size(list)
          if (.not. mine(list(i))) cycle
          off(n, :, i) = [(Both(trim(names(c)), medium(:, i), u(:, i), g(:, :, i)) - Reading((c - 1)*size(mine) + list(i), field), &
                           c=1, size(names))]
        end do
      end do
      do i = 1, size(list)
        if (.not. mine(list(i))) cycle
        do c = 1, size(names)
          if (.not. done(list(i), merge(2, 1, Fd3dNearSlopes(trim(names(c)))))) cycle
          self%near_floor(:, list(i), c) = FloorFit(off(:, c, i), self%floor_poles, self%floor_unit, self%at_whole(c))
        end do
      end do
    end subroutine Terms

    !> A component of complex motion.
    pure complex(dp) function Both(name, medium, u, g)
      character(*), intent(in) :: name
      real(dp), intent(in) :: medium(3)
      complex(dp), intent(in) :: u(3), g(3, 3)
      Both = cmplx(Component(name, medium, real(u), real(g)), Component(name, medium, aimag(u), aimag(g)), dp)
    end function Both

    !> Entry m of the records reads this of the field.
    pure complex(dp) function Reading(m, field)
      integer, intent(in) :: m
      complex(dp), intent(in) :: field(:, :, :, 0:)
      integer :: e, i(3)
      Reading = 0
      do e = self%records%start(m), self%records%start(m + 1) - 1
        i = [self%records%i(e), self%records%j(e), self%records%k(e)] + self%around%first - read(:, 1)
        Reading = Reading + self%records%w(e)*field(i(1), i(2), i(3), self%records%field(e))
      end do
    end function Reading

  end procedure FloorNear

  !> The least velocity over a cell [1/s].
  pure real(dp) function FloorUnit(layers, d)
    type(floor_layers_t), intent(in) :: layers
    real(dp), intent(in) :: d(3)
    FloorUnit = min(layers%c, layers%rock(2))/product(d)**(1/3.0_dp)
  end function FloorUnit

end submodule fd3d_floor_near
