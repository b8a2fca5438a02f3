!> The solver of spectral elements: a shot in its mesh, from geometry to traces.
!>
!>     solid   rho d2u/dt2 = div s + f,   s = lambda div u + mu (grad u + (grad u)') - moment
!>     fluid   1/K d2chi/dt2 = div(1/rho grad chi) - volume,   p = -d2chi/dt2,   u = 1/rho grad chi
!>
!> The engine is described in interfaces/sem3d_c.f90. Displacement is known at whole time steps and velocity half-way between, as in
!> finite differences, so wavelet and traces are corrected for time dispersion alike. Histories of moments and volumes go to the
!> engine as what has been released so far.
!>
!> This file tells the story; the submodules hold its parts: elements, medium, source and receivers (sem3d_setup.f90), their places
!> in the mesh (sem3d_places.f90), pictures and maps (sem3d_films*.f90), what travels between pieces of a mesh (sem3d_swaps.f90),
!> memory of a GPU (sem3d_gpu_memory.f90).
module sem3d_m
  use element_finder_m, only: finder_t
  use elements_m, only: elements_t, in_element
  use elements_cut_m, only: cut_t
  use elements_pieces_m, only: piece_t
  use elements_share_m, only: share_t
  use elements_scheme_m, only: elements_scheme_t, points_of_element
  use checksum_c, only: checksum_floats
  use engine_m, only: engine_t
  use error_m, only: error_t, Fail
  use gather_m, only: gather_t
  use gpu_ways_m, only: GpuWaysClose
  use hash_m, only: HashAdd
  use kinds_m, only: dp, i8, sp
  use meetings_m, only: meetings_t
  use mesh_ground_m, only: ground_t
  use near_exact_m, only: near_source_t
  use near_patch_m, only: near_patch_t
  use scheme_m, only: scheme_t
  use sem3d_components_m, only: sem3d_list_t, sem3d_place_t
  use sem3d_engine_m, only: phase_fluid, phase_solid, sem3d_engine_t, sem3d_grid_t
  use sem3d_variants_m, only: Sem3dKernels
  use shot_m, only: shot_t
  use solver_m, only: time_position_t
  use source3d_m, only: SourceNumbers
  use state_identity_m, only: identity_t
  use stress_relaxation_m, only: relaxing_t, RelaxingApply
  use text_m, only: Str
  use timeloop_m, only: LoopLoad, LoopSetup, timeloop_t
  use water_pressure_m, only: pressed_t, PressedApply
  use window_m, only: box_t, window_t
  implicit none
  private
  public :: sem3d_t

  real(dp), parameter :: chunk_updates = 2.0e7_dp   !< point updates of a chunk on CPU cores: some tenths of a second

  !> Points of a picture: regular ones of a plane, or those of sides or elements.
  type :: plane_t
    integer :: axis = 3                           !< 1, 2, 3: across it; 0: of free sides; -1: of all elements
    real(dp) :: place = 0                         !< along the axis [m]
    logical :: top = .false.                      !< the uppermost points of the mesh
    integer, allocatable :: element(:)            !< of each point, 0: outside or of others; or own elements, a side's or themselves
    integer, allocatable :: owner(:)              !< of each point, the piece that has its element, 0: outside
    integer, allocatable :: spot(:), at(:)        !< of each own side or element, which it is of all, and its place in pictures here
    real(dp), allocatable :: xi(:, :)             !< of the points of a plane, (3, points)
    integer, allocatable :: side(:)               !< of the elements
  end type plane_t

  integer, parameter :: maps = 3                    !< of peak ground velocity: horizontal, vertical, vector
  character(*), parameter :: letters = 'xyz'        !< of axes

  !> Contents of a film.
  type :: frame_t
    integer :: plane = 0
    character(2) :: field = ''
  end type frame_t

  !> Close to the source, where the medium is even, terms of the history and its even derivatives by time.
  type :: near_t
    type(near_patch_t) :: patch
    type(near_source_t) :: source
    real(dp) :: edge = 0                          !< of its element [m]
    real(dp), allocatable :: terms(:, :)          !< (0:orders, n) of
    integer, allocatable :: trace(:)              !< these traces,
    integer, allocatable :: order(:)              !< of this derivative by time of the history,
    real(dp) :: loss = 0                          !< as the modulus of this 1/Q relaxes
  end type near_t

  type, extends(timeloop_t) :: sem3d_t
    class(sem3d_engine_t), allocatable :: engine
    type(sem3d_grid_t) :: grid
    type(elements_t) :: elements                  !< of the mesh; of one that ranks compute together this one's share
    type(finder_t) :: finder
    type(meetings_t) :: meetings
    type(ground_t) :: surface, seafloor           !< the uppermost points of the mesh, of its solid (made where wanted)
    type(elements_scheme_t) :: own                !< what the scheme has of elements
    real(dp) :: low(3) = 0                        !< where the mesh begins [m]
    logical, allocatable :: slope(:)              !< of each trace: it is the derivative by time of what is sampled
    type(pressed_t) :: pressed                    !< what traces have of the pressure of water on rock,
    type(relaxing_t) :: relaxing                  !< and what relaxes in them
    type(near_t) :: near                          !< what traces lack close to the source
    type(sem3d_place_t), allocatable :: place(:)  !< of the receivers of the shot before, which may be those of the next,
    real(dp), allocatable :: place_x(:, :)        !< in the mesh [m]
    real(dp) :: loss = 0                          !< 1/Q of the bulk modulus at a source of volume
    integer :: histories = 1                      !< of the source, a second one where a part of it does not relax,
    integer :: before_second = 0                  !< whose entries follow so many
    integer :: source_in = 0                      !< element, 0: another rank has it
    integer :: free_sides = 0                     !< of the whole mesh
    integer :: all = 0                            !< elements of the whole mesh,
    logical :: there(phase_solid:phase_fluid) = .false.   !< which has some of solid, of fluid
    type(cut_t) :: cut                            !< of a mesh that several ranks compute together: owners of the share's elements
    type(share_t) :: share                        !< what else this rank knows of them
    type(piece_t) :: piece                        !< and its piece, of points and elements of the share
    logical :: wide = .false.                     !< that has what a map of ground velocity needs
    integer, allocatable :: heard(:), part(:)     !< traces of the engine of a piece: receiver, and part of its sum
    integer :: turns = 0                          !< exchanges of sums so far
    logical :: known = .false.                    !< the engine has the histories of the shot
    type(plane_t), allocatable :: plane(:)        !< of pictures
    type(frame_t), allocatable :: frame(:)        !< of films
    integer :: nf(3) = 0                          !< points of pictures along x, y, z,
    real(dp) :: first_point(3) = 0                !< and the first of them [m]
    logical :: later = .false.                    !< pictures are complete a step later
    integer :: map_points = 0                     !< of the map of ground velocity that lie in the mesh,
    type(plane_t) :: map_plane                    !< all points of the map,
    integer, allocatable :: map_number(:)         !< and which they are of all
  contains
    procedure, nopass :: kernels => Sem3dKernels, need, need_words
    procedure :: setup, make_grid, make_medium, make_source, make_receivers, make_pictures
    procedure :: free, any_engine, choose_chunk, next_chunk, load, blow_up, identify, describe, samples, take_maps
    procedure :: do_steps, await_steps, swap_once, shared_out, ways_found, exchanged, box => BoxOf
    procedure, private :: partners_mine
    procedure, private :: band => Band
  end type sem3d_t

  interface
    ! --- sem3d_setup.f90

    !> All layers of the window; of one that ranks share this rank's row.
    module subroutine BoxOf(self, scheme, window, box, error)
      class(sem3d_t), intent(inout) :: self
      class(scheme_t), intent(in) :: scheme
      type(window_t), intent(in) :: window
      type(box_t), intent(out) :: box
      type(error_t), allocatable, intent(inout) :: error
    end subroutine BoxOf

    !> Elements, points and finder are kept while the window is the same.
    module subroutine make_grid(self, window, error)
      class(sem3d_t), intent(inout), target :: self
      type(window_t), intent(in) :: window
      type(error_t), allocatable, intent(inout) :: error
    end subroutine make_grid

    module subroutine make_medium(self, window, error)
      class(sem3d_t), intent(inout), target :: self
      type(window_t), intent(in) :: window
      type(error_t), allocatable, intent(inout) :: error
    end subroutine make_medium

    !> The source, and the power of two that keeps single precision fields near 1 whatever the strength asked for.
    module subroutine make_source(self, window, error)
      class(sem3d_t), intent(inout), target :: self
      type(window_t), intent(in) :: window
      type(error_t), allocatable, intent(inout) :: error
    end subroutine make_source

    !> The source in each step, (histories, nt): a force, or the moment or volume that was released before; of a volume in rock
    !> that attenuates what has relaxed of its stress is left out, in the first.
    module subroutine Histories(self, q)
      class(sem3d_t), intent(in) :: self
      real(sp), allocatable, intent(out) :: q(:, :)
    end subroutine Histories

    !> All receivers of the first component, then of the next.
    module subroutine make_receivers(self, window, error)
      class(sem3d_t), intent(inout), target :: self
      type(window_t), intent(in) :: window
      type(error_t), allocatable, intent(inout) :: error
    end subroutine make_receivers

    ! --- sem3d_near.f90

    !> The elements around the source, whose medium is even, and the receivers at x(3, :) [m] that get what the mesh lacks there.
    module subroutine MakePatch(self, names, x, helped, error)
      class(sem3d_t), intent(inout) :: self
      character(*), intent(in) :: names(:)
      real(dp), intent(in) :: x(:, :)
      logical, intent(out) :: helped(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine MakePatch

    !> Finds that for all traces of a list, which has components `names` of all receivers first.
    module subroutine MakeNear(self, names, helped, list, error)
      class(sem3d_t), intent(inout) :: self
      character(*), intent(in) :: names(:)
      logical, intent(in) :: helped(:)
      type(sem3d_list_t), intent(in) :: list
      type(error_t), allocatable, intent(inout) :: error
    end subroutine MakeNear

    !> Adds that to the samples, before anything relaxes in them.
    module subroutine AddNear(self, raw)
      class(sem3d_t), intent(in) :: self
      real(sp), intent(inout) :: raw(:, :)
    end subroutine AddNear

    ! --- sem3d_gpu_memory.f90

    !> Memory of its GPU that an engine may take before it has lists of points and traces [bytes]; 0: not known.
    module real(dp) function Room(grid, variant, scheme, traces) result(bytes)
      type(sem3d_grid_t), intent(in) :: grid
      character(*), intent(in) :: variant
      class(scheme_t), intent(in) :: scheme
      integer, intent(in) :: traces
    end function Room

    !> Memory of its GPU that a shot in a window takes [bytes], with `traces` traces: as of a cube of the elements of a rank; 0 on
    !> CPU cores.
    module real(dp) function need(scheme, window, traces) result(bytes)
      class(scheme_t), intent(in) :: scheme
      type(window_t), intent(in) :: window
      integer, intent(in) :: traces
    end function need

    !> What comes from the host in each step, if anything does.
    module function need_words(scheme, window) result(words)
      class(scheme_t), intent(in) :: scheme
      type(window_t), intent(in) :: window
      character(:), allocatable :: words
    end function need_words

    ! --- sem3d_films.f90

    !> Plans the pictures of the shot and makes room for them.
    module subroutine make_pictures(self, window, error)
      class(sem3d_t), intent(inout), target :: self
      type(window_t), intent(in) :: window
      type(error_t), allocatable, intent(inout) :: error
    end subroutine make_pictures

    !> Elements of a fluid in which points of the map of ground velocity lie.
    module subroutine MapElements(self, window, inside, error)
      class(sem3d_t), intent(inout) :: self
      type(window_t), intent(in) :: window
      logical, allocatable, intent(out) :: inside(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine MapElements

    !> Which film has the x of the points of a surface or volume; those of y and z follow.
    pure module integer function FirstPlaces(self, plane) result(first)
      class(sem3d_t), intent(in) :: self
      type(plane_t), intent(in) :: plane
    end function FirstPlaces

    !> This rank has the element.
    pure module logical function Mine(self, element)
      class(sem3d_t), intent(in) :: self
      integer, intent(in) :: element
    end function Mine

    ! --- sem3d_films_take.f90

    !> Takes the picture that is due.
    module subroutine FilmsTake(self, error)
      class(sem3d_t), intent(inout) :: self
      type(error_t), allocatable, intent(inout) :: error
    end subroutine FilmsTake

    !> True after the step of a picture that lacks the pressure in fluids.
    pure module logical function FilmsHalf(self) result(half)
      class(sem3d_t), intent(in) :: self
    end function FilmsHalf

    !> Adds that, a step later.
    module subroutine FilmsFinish(self, error)
      class(sem3d_t), intent(inout) :: self
      type(error_t), allocatable, intent(inout) :: error
    end subroutine FilmsFinish

    ! --- sem3d_films_gather.f90

    module subroutine take_maps(self, error)
      class(sem3d_t), intent(inout) :: self
      type(error_t), allocatable, intent(inout) :: error
    end subroutine take_maps

    ! --- sem3d_swaps.f90

    !> Ways between the engines of all pieces, before the first step.
    module subroutine OpenWays(self, error)
      class(sem3d_t), intent(inout) :: self
      type(error_t), allocatable, intent(inout) :: error
    end subroutine OpenWays

    module subroutine do_steps(self, n, error)
      class(sem3d_t), intent(inout), target :: self
      integer, intent(in) :: n
      type(error_t), allocatable, intent(inout) :: error
    end subroutine do_steps

    !> While GPUs wait for each other, the host looks after the partners' processes.
    module subroutine await_steps(self, most, error)
      class(sem3d_t), intent(inout), target :: self
      integer, intent(in) :: most
      type(error_t), allocatable, intent(inout) :: error
    end subroutine await_steps

    module subroutine swap_once(self, n, error)
      class(sem3d_t), intent(inout) :: self
      integer, intent(out) :: n
      type(error_t), allocatable, intent(inout) :: error
    end subroutine swap_once

    ! --- sem3d_places.f90

    !> Places in the mesh, whose depth counts `from` (mesh_ground.f90): the element of this rank's that has each, 0: another has it,
    !> and the place in it; where it is [m], on all ranks. Fails where one lies outside.
    module subroutine FindPlaces(self, what, asked, from, e, xi, used, error)
      class(sem3d_t), intent(inout) :: self
      character(*), intent(in) :: what
      real(dp), intent(in) :: asked(:, :)
      integer, intent(in) :: from
      integer, intent(out) :: e(:)
      real(dp), intent(out) :: xi(:, :), used(:, :)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine FindPlaces

    !> The points and weights around places in elements e as found; where ranks share the mesh all of them know these, a point by
    !> its number here, 0 where the rank has it not. source: of receivers [m], but of those that are `helped` beside it. Where one
    !> rank has the mesh, places that are `known` stay as they are.
    module subroutine MakePlaces(self, e, xi, x, place, error, source, helped, known)
      class(sem3d_t), intent(inout) :: self
      integer, intent(in) :: e(:)
      real(dp), intent(in) :: xi(:, :), x(:, :)
      type(sem3d_place_t), intent(inout) :: place(:)
      type(error_t), allocatable, intent(inout) :: error
      real(dp), intent(in), optional :: source(3)
      logical, intent(in), optional :: helped(:), known(:)
    end subroutine MakePlaces

    !> The same of regular points of a picture: elements of the share that have them, 0: none, and the pieces that do.
    module subroutine FindPoints(self, x, top, plane, depth, error)
      class(sem3d_t), intent(inout) :: self
      real(dp), intent(in) :: x(:, :)
      logical, intent(in) :: top
      type(plane_t), intent(inout) :: plane
      real(dp), intent(out) :: depth(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine FindPoints

    !> Numbers of which each rank knows its own, and the others of which are 0, to all; the largest of all ranks' to all.
    module subroutine OfAll(self, x, error)
      class(sem3d_t), intent(inout) :: self
      real(dp), contiguous, intent(inout) :: x(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine OfAll

    module subroutine Largest(self, x, error)
      class(sem3d_t), intent(inout) :: self
      real(dp), contiguous, intent(inout) :: x(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine Largest

    !> The sides that look up, of the mesh or its solid.
    module subroutine MakeGround(self, solid, ground, error)
      class(sem3d_t), intent(inout) :: self
      logical, intent(in) :: solid
      type(ground_t), intent(out) :: ground
      type(error_t), allocatable, intent(inout) :: error
    end subroutine MakeGround

    !> Entries of a source as the engine of this rank has its points; those that it has not are left out.
    module subroutine SourceHere(self, list, error)
      class(sem3d_t), intent(inout) :: self
      type(sem3d_list_t), intent(in) :: list
      type(error_t), allocatable, intent(inout) :: error
    end subroutine SourceHere

    !> Receivers whose points this rank owns, or some of them.
    module subroutine ReceiversHere(self, list, error)
      class(sem3d_t), intent(inout) :: self
      type(sem3d_list_t), intent(in) :: list
      type(error_t), allocatable, intent(inout) :: error
    end subroutine ReceiversHere

    !> The samples of all receivers, to the rank that gathers.
    module subroutine GatherSamples(self, raw, error)
      class(sem3d_t), intent(inout) :: self
      real(sp), contiguous, intent(inout) :: raw(:, :)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine GatherSamples

    module function shared_out(self) result(words)
      class(sem3d_t), intent(in) :: self
      character(:), allocatable :: words
    end function shared_out

    module subroutine ways_found(self, words, error)
      class(sem3d_t), intent(inout) :: self
      character(:), allocatable, intent(out) :: words
      type(error_t), allocatable, intent(inout) :: error
    end subroutine ways_found

    module subroutine exchanged(self, words, error)
      class(sem3d_t), intent(inout) :: self
      character(:), allocatable, intent(out) :: words
      type(error_t), allocatable, intent(inout) :: error
    end subroutine exchanged
  end interface

contains

  ! --- set-up ---------------------------------------------------------------------------------------------------------------

  subroutine setup(self, scheme, window, shot, error)
    class(sem3d_t), intent(inout) :: self
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    type(shot_t), intent(in) :: shot
    type(error_t), allocatable, intent(inout) :: error
    self%known = .false.
    select type (scheme)
    type is (elements_scheme_t)
      self%own = scheme
    end select
    call LoopSetup(self, scheme, window, shot, error)
  end subroutine setup

  !> The number of this rank among those that model the shot.
  pure integer function partners_mine(self) result(mine)
    class(sem3d_t), intent(in) :: self
    mine = 1
    if (self%grouped()) mine = self%partners%mine
  end function partners_mine

  !> The highest frequency that sources and receivers are made for [Hz]; 0: they keep to their element.
  pure real(dp) function Band(self)
    class(sem3d_t), intent(in) :: self
    Band = merge(self%scheme%fmax, 0.0_dp, self%scheme%exact_positions)
  end function Band

  ! --- steps ----------------------------------------------------------------------------------------------------------------

  function any_engine(self) result(engine)
    class(sem3d_t), intent(in), target :: self
    class(engine_t), pointer :: engine
    engine => null()
    if (allocated(self%engine)) engine => self%engine
  end function any_engine

  !> Once, by the size of the mesh.
  subroutine choose_chunk(self, waited)
    class(sem3d_t), intent(inout) :: self
    logical, intent(in) :: waited
    integer :: ranks
    if (self%chunk > 0) return
    ranks = 1
    if (self%grouped()) ranks = self%partners%n
    self%chunk = int(min(100.0_dp, max(1.0_dp, chunk_updates*ranks/(real(points_of_element, dp)*self%all))))
  end subroutine choose_chunk

  subroutine next_chunk(self, error)
    class(sem3d_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: q(:, :)
    logical :: half
    if (.not. self%known) then
      call Histories(self, q)
      call self%engine%histories(self%steps + 1, scale(q(:, self%steps + 1:), -self%exponent2), error)
      self%known = .true.
    end if
    if (allocated(error)) return
    half = FilmsHalf(self)
    call self%timestep(min(merge(1, self%chunk, half), self%scheme%nt - self%steps, self%next_picture() - self%steps), error)
    if ((half .or. self%steps == self%next_picture()) .and. self%linked .and. .not. allocated(error)) &
      call self%await_steps(0, error)             ! a partner that fails is not noticed in the sleep of others
    if (half .and. .not. allocated(error)) call FilmsFinish(self, error)
    if (.not. allocated(error) .and. self%steps == self%next_picture()) call FilmsTake(self, error)
  end subroutine next_chunk

  subroutine load(self, position, state, error)
    class(sem3d_t), intent(inout), target :: self
    type(time_position_t), intent(in) :: position
    real(sp), contiguous, intent(in) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    call LoopLoad(self, position, state, error)
    self%known = .false.
  end subroutine load

  subroutine blow_up(self, value, place, error)
    class(sem3d_t), intent(inout) :: self
    real(sp), intent(in) :: value
    integer, intent(in) :: place(3)
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: what
    real(dp) :: x(3)
    integer :: e, point
    point = place(1)
    if (self%grouped()) point = self%piece%point(point)
    do e = 1, self%elements%n - 1
      if (any(self%elements%at(:, e) == point)) exit
    end do
    x = sum(self%elements%corner(:, :8, e), 2)/8
    what = Str(scale(value, self%exponent2), 4)//' m/s'
    if (.not. value <= huge(value)) what = 'no number'
    call Fail(error, 'the field blew up within the '//Str(self%chunk)//' steps before step '//Str(self%steps)//': velocity is '// &
              what//' in the element at x = '//Str(x(1), 7)//', y = '//Str(x(2), 7)//', z = '//Str(x(3), 7)//' m of vp = '// &
              Str(sqrt((self%elements%lambda(1, e) + 2*self%elements%mu(1, e))/self%elements%rho(1, e)), 5)// &
              ' m/s: an instability; use a smaller dt than '//Str(self%scheme%dt)//' s, or a better element')
  end subroutine blow_up

  ! --- what comes home ------------------------------------------------------------------------------------------------------

  !> The samples of all steps; of some traces their derivative by time, at whole steps, of what was sampled half a step before and
  !> after.
  subroutine samples(self, raw, error)
    class(sem3d_t), intent(inout), target :: self
    real(sp), contiguous, intent(out) :: raw(:, :)
    type(error_t), allocatable, intent(inout) :: error
    integer :: r, n
    if (self%grouped()) then
      raw = 0
      call GatherSamples(self, raw, error)
    else
      call self%engine%traces(1, raw, error)
    end if
    if (allocated(error)) return
    n = size(raw, 1)
    do r = 1, size(raw, 2)
      if (.not. self%slope(r)) cycle
      raw(:n - 1, r) = real((raw(2:, r) - real(raw(:n - 1, r), dp))/self%scheme%dt, sp)
      raw(n, r) = raw(max(1, n - 1), r)
    end do
    if (self%gathers()) call AddNear(self, raw)
    if (self%gathers()) call PressedApply(self%pressed, self%scheme%dt, raw)
    if (self%own%attenuates .and. self%gathers()) call RelaxingApply(self%relaxing, self%own%q_band, self%scheme%dt, raw)
  end subroutine samples

  subroutine describe(self, gather)
    class(sem3d_t), intent(in) :: self
    type(gather_t), intent(inout) :: gather
    gather%sy = self%shot%sy
    gather%ry = self%shot%ry
    gather%cells = real(points_of_element, dp)*self%all
    gather%nsnap = size(self%film)
    if (allocated(gather%film)) deallocate (gather%film)
    if (gather%nsnap == 0) return
    gather%film = self%film
    gather%nf = self%nf
    gather%df = self%own%spacing
    gather%xf = self%first_point
    gather%tf = self%scheme%t_start + (self%first_picture - 0.5_dp)*self%scheme%dt
    gather%dtf = self%every*self%scheme%dt
  end subroutine describe

  subroutine identify(self, identity)
    class(sem3d_t), intent(in) :: self
    type(identity_t), intent(inout) :: identity
    integer :: e, f
    associate (m => self%elements, id => identity)
      id%shape = Str(self%all)//' elements'
      call HashAdd(id%grid, [m%solid, m%per, m%points, m%solid_points, self%own%sum])
      call HashAdd(id%grid, self%scheme%dt)
      if (self%grouped()) call HashAdd(id%grid, [self%partners%n, self%piece%mine, self%grid%points, self%cut%owner])
      do e = 1, m%n
        call HashAdd(id%grid, reshape(m%corner(:, :, e), [3*m%per]))
        call HashAdd(id%grid, [m%face(:, e), m%at(1, e), m%at(in_element, e)])
      end do
      call HashAdd(id%medium, checksum_floats(checksum_floats(checksum_floats(0_i8, size(m%rho, kind=i8), m%rho), &
                                                              size(m%lambda, kind=i8), m%lambda), size(m%mu, kind=i8), m%mu))
      if (allocated(m%tensor)) then
        call HashAdd(id%medium, m%tensor)
        call HashAdd(id%medium, checksum_floats(0_i8, size(m%relative, kind=i8), m%relative))
      end if
      if (allocated(m%ocean)) call HashAdd(id%medium, checksum_floats(0_i8, size(m%ocean, kind=i8), m%ocean))
      call HashAdd(id%positions, [self%shot%sy, self%shot%ry])
      call HashAdd(id%positions, SourceNumbers(self%own%source))
      call HashAdd(id%medium, [merge(1.0_dp, 0.0_dp, self%own%attenuates), self%own%q_band, self%own%q_ref])
      call HashAdd(id%medium, [self%own%relaxing])
      call HashAdd(id%medium, self%own%sponge_width)
      call HashAdd(id%medium, checksum_floats(0_i8, size(m%loss, kind=i8), m%loss))
      call HashAdd(id%times, [self%every, self%first_picture, merge(1, 0, self%own%pgv)])
      call HashAdd(id%times, [self%own%spacing, self%own%pgv_depth])
      call HashAdd(id%times, [self%own%source_from, self%own%receivers_from])
      do f = 1, size(self%frame)
        call HashAdd(id%times, [(ichar(self%film(f)%name(e:e)), e=1, len(self%film(f)%name))])
      end do
    end associate
  end subroutine identify

  !> Gives back all memory; twice is harmless.
  subroutine free(self)
    class(sem3d_t), intent(inout) :: self
    type(error_t), allocatable :: error       ! where partners are lost the memory is given back all the same
    if (self%linked) call GpuWaysClose(self, error)
    call self%forget()
    if (allocated(self%engine)) deallocate (self%engine)
    self%grid = sem3d_grid_t()
  end subroutine free

end module sem3d_m
