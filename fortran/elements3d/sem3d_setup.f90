!> The parts of a shot's set-up: the elements of its window and their points, the medium, source and receivers. Arguments stand in
!> sem3d.f90.
submodule(sem3d_m) sem3d_setup
  use element_finder_m, only: FinderMake
  use elements_m, only: face_free
  use elements_ocean_m, only: OceanMass
  use elements_pieces_m, only: PieceMake
  use elements_points_m, only: ElementsNumber
  use elements_relax_m, only: ElementsShares, ElementsUnrelax
  use elements_share_m, only: ShareSums
  use elements_sponge_m, only: SpongeRates
  use elements_window_m, only: ElementsFrom
  use hexahedron_m, only: Determinant, HexJacobian
  use meetings_m, only: MeetingsMake
  use parameter_table_m, only: SplitList
  use sem3d_components_m, only: part_average, part_rest, Sem3dAtWhole, Sem3dBySource, Sem3dRecord, Sem3dSource
  use sem3d_engine_m, only: resident_all, Sem3dGrid
  use sem3d_variants_m, only: Sem3dAffine, Sem3dEngineNew, sums_t
  use source3d_m, only: source_force, source_volume
  use stress_relaxation_m, only: RelaxingRecord, RelaxingVolume
  use timeloop_m, only: growth
  use water_pressure_m, only: PressedRecord
  use zener_m, only: zener_mechanisms, ZenerTimes
  implicit none

  real(dp), parameter :: smallest_weight = 0.1_dp**3   !< of a point of an element, of all of it: a corner's, from gll_w
  integer, parameter :: most_kept = 10000         !< receivers whose places are kept for the next shot, of some 15 kB each

contains

  module procedure BoxOf
    if (.not. self%grouped()) return
    if (window%ny /= self%partners%n) then
      call Fail(error, 'the window is that of '//Str(window%ny)//' ranks, not of '//Str(self%partners%n))
      return
    end if
    box%low(2) = self%partners%mine
    box%high(2) = self%partners%mine
  end procedure BoxOf

  module procedure make_grid
    type(sem3d_grid_t) :: grid
    real(dp) :: cells
    logical :: same, keeps
    if (self%grouped()) call GpuWaysClose(self, error)
    if (allocated(error)) return
    same = window%serial > 0 .and. window%serial == self%medium
    if (self%grouped()) same = same .and. (self%wide .eqv. self%own%pgv)
    if (.not. same .and. allocated(self%place)) deallocate (self%place)
    if (.not. same) call TakeElements(self, window, error)
    if (allocated(error)) return
    if (self%grouped()) then
      grid = Sem3dGrid(self%piece%elements)
      grid%piece = self%piece%ways%piece
    else
      grid = Sem3dGrid(self%elements)
    end if
    grid%dt = self%scheme%dt
    grid%shares = 1
    grid%relaxing = self%own%relaxing
    if (self%own%attenuates) grid%mechanisms = zener_mechanisms
    same = same .and. abs(grid%dt - self%grid%dt) <= 0
    cells = real(points_of_element, dp)*merge(self%piece%own, grid%elements, self%grouped())
    call self%choose_engine(cells, same, keeps, error)
    if (allocated(error) .or. keeps) return
    grid%threads = self%team%threads
    grid%share = self%scheme%share
    grid%sum = self%own%sum
    grid%resident = merge(resident_all, self%own%resident, self%grouped())   ! pieces stay on their GPUs
    grid%room = Room(grid, self%variant, self%scheme, self%own%traces(size(self%shot%rx)*size(SplitList(self%scheme%components))))
    call Sem3dEngineNew(self%variant, self%engine, error)
    if (.not. allocated(error)) call self%engine%new(grid, error)
    self%grid = grid
    if (allocated(error)) self%grid = sem3d_grid_t()
  end procedure make_grid

  !> The elements of a window, their points, and what finds places in them; where ranks share the mesh those of this one's share,
  !> and its piece of them.
  subroutine TakeElements(self, window, error)
    class(sem3d_t), intent(inout) :: self
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: x(4)
    integer :: e
    if (self%grouped()) then
      call ElementsFrom(window, self%elements, error, self%share)
    else
      call ElementsFrom(window, self%elements, error)
    end if
    if (allocated(error)) return
    if (self%own%attenuates) call ElementsUnrelax(self%elements, self%own%q_band, self%own%q_ref)
    call ElementsNumber(self%elements)
    call FinderMake(self%finder, self%elements%corner)
    call MakeGround(self, .false., self%surface, error)
    self%seafloor = ground_t()
    self%low = [window%x0, window%y0, window%z0]
    call MeetingsMake(self%elements, self%meetings)
    if (self%grouped()) self%cut%owner = self%share%owner
    if (.not. self%grouped()) self%cut%owner = spread(1, 1, self%elements%n)
    associate (own => self%cut%owner == self%partners_mine(), solid => self%elements%solid)
      x = [count(own), count(own(:solid)), count(own(solid + 1:)), &
           sum([(merge(count(self%elements%face(:, e) == face_free), 0, own(e)), e=1, self%elements%n)])]
    end associate
    if (.not. allocated(error)) call OfAll(self, x, error)
    self%all = nint(x(1))
    self%there = [x(2) > 0, x(3) > 0]
    self%free_sides = nint(x(4))
    if (self%grouped() .and. .not. allocated(error)) call TakePiece(self, window, error)
  end subroutine TakeElements

  subroutine TakePiece(self, window, error)
    class(sem3d_t), intent(inout) :: self
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    logical, allocatable :: wide(:)
    type(sums_t) :: sums
    real(dp) :: x(3)
    x(1) = count(self%cut%owner == self%partners%mine)
    x(2) = -x(1)
    x(3) = merge(0, 1, Sem3dAffine(self%elements))
    call Largest(self, x, error)
    self%cut%pieces = self%partners%n
    self%cut%most = nint(x(1))
    self%cut%least = -nint(x(2))
    self%wide = self%own%pgv
    if (.not. allocated(error)) call MapElements(self, window, wide, error)
    if (.not. allocated(error)) &
      call ShareSums(self%scheme%variant, self%own%sum, self%share, .not. x(3) > 0, sums, error)
    if (allocated(error)) return
    call PieceMake(self%elements, self%meetings, self%cut, self%partners%mine, wide, sums, self%piece)
  end subroutine TakePiece

  module procedure make_medium
    real(sp), allocatable :: rate(:), mass(:, :)
    integer, allocatable :: point(:)
    if (self%grouped()) then
      call self%engine%ways(self%piece%ways, error)
      if (.not. allocated(error)) call self%engine%elements(self%piece%elements, error)
    else
      call self%engine%elements(self%elements, error)
    end if
    if (self%own%sponge_width > 0 .and. .not. allocated(error)) then
      call SpongeRates(self%elements, self%own%sponge_width, rate)
      if (self%grouped()) rate = rate(self%piece%point)
      call self%engine%damping(rate, error)
    end if
    if (allocated(self%elements%ocean) .and. .not. allocated(error)) then
      if (self%grouped()) call OceanMass(self%piece%elements, point, mass)
      if (.not. self%grouped()) call OceanMass(self%elements, point, mass)
      call self%engine%added_mass(point, mass, error)
    end if
    if (allocated(error) .or. .not. self%own%attenuates) return
    if (self%grouped()) call Attenuate(self, self%piece%elements, error)
    if (.not. self%grouped()) call Attenuate(self, self%elements, error)
  end procedure make_medium

  subroutine Attenuate(self, elements, error)
    class(sem3d_t), intent(inout) :: self
    type(elements_t), intent(in) :: elements
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: bulk(:, :, :), shear(:, :, :)
    call ElementsShares(elements, self%own%q_band, bulk, shear, few=self%own%relaxing < in_element)
    call self%engine%quality(real(ZenerTimes(self%own%q_band), sp), bulk, shear, error)
  end subroutine Attenuate

  module procedure make_source
    type(sem3d_list_t) :: list
    type(sem3d_place_t), allocatable :: place(:)
    real(sp), allocatable :: q(:, :)
    real(dp) :: asked(3, 1), xi(3, 1), x(3, 1), mass(1), strongest
    integer :: e(1)
    if (self%grouped()) then
      call OpenWays(self, error)
      self%queues = self%linked                   ! else the host exchanges sums within steps
    end if
    if (allocated(error)) return
    asked(:, 1) = [self%shot%sx, self%shot%sy, self%shot%sz]
    call FindPlaces(self, 'the source', asked, self%own%source_from, e, xi, x, error)
    if (allocated(error)) return
    self%source_in = e(1)
    self%shot%sx = x(1, 1)
    self%shot%sy = x(2, 1)
    self%shot%sz = x(3, 1)
    allocate (place(1))
    call MakePlaces(self, e, xi, x, place, error)
    mass = 0
    if (e(1) > 0) mass = smallest_weight*Determinant(HexJacobian(self%elements%corner(:, :, e(1)), xi(:, 1)))* &
                         merge(self%elements%rho(1, e(1)), 1/self%elements%lambda(1, e(1)), e(1) <= self%elements%solid)
    if (.not. allocated(error)) call OfAll(self, mass, error)
    if (allocated(error)) return
    self%loss = 0
    if (self%own%source%kind == source_volume .and. self%own%attenuates .and. place(1)%solid) self%loss = place(1)%loss(1)
    self%histories = merge(2, 1, self%loss > 0 .and. allocated(place(1)%stiffness))      ! the average alone relaxes
    if (self%histories == 2) then
      call Sem3dSource(list, place(1), self%own%source, error, part_average)
      self%before_second = list%n
      call Sem3dSource(list, place(1), self%own%source, error, part_rest)
    else
      call Sem3dSource(list, place(1), self%own%source, error)
      self%before_second = list%n
    end if
    if (allocated(error)) return
    call Histories(self, q)
    strongest = maxval(abs(real(q, dp)))*maxval(abs(real(list%w(:list%n), dp)))*self%scheme%dt/mass(1)
    call self%scale_fields(strongest, error)
    if (allocated(error)) return
    self%limit = growth*self%scheme%nt
    call SourceHere(self, list, error)
  end procedure make_source

  module procedure Histories
    real(dp) :: released
    integer :: n
    allocate (q(self%histories, self%scheme%nt))
    released = 0
    do n = 1, self%scheme%nt
      q(:, n) = real(released, sp)
      if (self%own%source%kind == source_force) q(:, n) = self%scheme%q(n)
      released = released + self%scheme%dt*self%scheme%q(n)
    end do
    if (self%loss > 0) call RelaxingVolume(self%loss, self%own%q_band, self%scheme%dt, q(1, :))
  end procedure Histories

  module procedure make_receivers
    character(32), allocatable :: names(:)
    type(sem3d_list_t) :: list
    integer :: element(size(self%shot%rx)), c, r
    logical, dimension(size(self%shot%rx)) :: helped, known
    real(dp), dimension(3, size(self%shot%rx)) :: asked, x, xi
    real(dp) :: source(3)
    allocate (names, source=SplitList(self%scheme%components))
    self%at_whole = [(Sem3dAtWhole(trim(names(c))), c=1, size(names))]
    asked(1, :) = self%shot%rx
    asked(2, :) = self%shot%ry
    asked(3, :) = self%shot%rz
    call FindPlaces(self, 'receiver', asked, self%own%receivers_from, element, xi, x, error)
    if (allocated(error)) return
    self%shot%rx = x(1, :)
    self%shot%ry = x(2, :)
    self%shot%rz = x(3, :)
    call MakePatch(self, names, x, helped, error)
    if (allocated(error)) return
    source = [self%shot%sx, self%shot%sy, self%shot%sz]
    call AsBefore()
    call MakePlaces(self, element, xi, x, self%place, error, source, helped, known)
    if (allocated(error)) return
    self%place_x = x
    do c = 1, size(names)
      do r = 1, size(self%shot%rx)
        call Sem3dRecord(list, self%place(r), trim(names(c)), error)
        if (allocated(error)) return
      end do
    end do
    self%relaxing = relaxing_t()
    call PressedRecord(self%pressed, list, self%place, names)
    if (self%own%attenuates) &
      call RelaxingRecord(self%relaxing, self%pressed, list, self%place, names, self%own%q_band, error)
    if (allocated(error)) return
    self%beside = list%receivers - size(self%place)*size(names)
    self%slope = list%slope(:list%receivers)
    if (self%grouped() .or. size(self%place) > most_kept) deallocate (self%place)
    call MakeNear(self, names, helped, list, error)
    if (.not. allocated(error)) call ReceiversHere(self, list, error)
    if (.not. allocated(error)) call self%engine%expect(self%scheme%nt, error)

  contains

    !> Known are receivers that are where those of the shot before were, none of both by a source. Makes room for places where
    !> there is none.
    subroutine AsBefore()
      known = .false.
      if (allocated(self%place)) then
        if (self%grouped() .or. size(self%place) /= size(known)) deallocate (self%place)
      end if
      if (.not. allocated(self%place)) then
        allocate (self%place(size(known)))
        return
      end if
      do r = 1, size(known)
        known(r) = all(abs(x(:, r) - self%place_x(:, r)) <= 0) .and. .not. self%place(r)%by_source
        if (known(r)) known(r) = helped(r) .or. .not. Sem3dBySource(self%elements, element(r), x(:, r), source)
      end do
    end subroutine AsBefore

  end procedure make_receivers

end submodule sem3d_setup
