!> A time loop of spectral elements: the verbs that it has beside those of engine.f90. They call a variant in C, by
!> interfaces/sem3d_c.f90, which tells the equations and explains each verb; here numbers count from 1. The readable Fortran of
!> sem3d_fortran.f90 extends this and brings all verbs itself.
!>
!> The place that `maxabs` tells is a point: (point, 1, 1). The value is of |vx|, |vy|, |vz| in the solid, in the fluid of |dchi/dt|
!> over the least rho c L of its elements, L the cube root of their volume: of the size of a velocity. `reset` forgets map and
!> histories too, a state has the map.
module sem3d_engine_m
  use elements_m, only: elements_t, in_element
  use engine_m, only: engine_t, EngineCheck
  use error_m, only: error_t
  use iso_c_binding, only: c_associated, c_char, c_float, c_funptr
  use kinds_m, only: dp, sp
  use sem3d_c, only: sem3d_added_mass, sem3d_anisotropy, sem3d_between, sem3d_cfg, sem3d_coloured, sem3d_damping, sem3d_elements, &
                     sem3d_field, sem3d_give, sem3d_halo_close, sem3d_halo_give_up, sem3d_halo_left, sem3d_halo_offer, &
                     sem3d_halo_open, sem3d_halo_try, sem3d_halo_waited, sem3d_histories, sem3d_map, sem3d_new, sem3d_part, &
                     sem3d_quality, sem3d_receivers, sem3d_set_field, sem3d_source, sem3d_take, sem3d_watch, sem3d_way_size, &
                     sem3d_ways
  use text_m, only: CString
  implicit none
  private
  public :: sem3d_engine_t, sem3d_grid_t, sem3d_map_t, sem3d_ways_t, Sem3dCfg, Sem3dGrid

  integer, parameter, public :: field_vx = 0, field_vy = 1, field_vz = 2, field_ux = 3, field_uy = 4, field_uz = 5, &
                                field_chi_t = 6, field_chi = 7, sem3d_fields = 8
  integer, parameter, public :: resident_all = 0, resident_fields = 1, resident_some = 2

  !> Parts of a step of a piece of a mesh, of each phase.
  integer, parameter, public :: part_rim = 0, part_inside = 1, part_shared = 2
  integer, parameter, public :: phase_solid = 0, phase_fluid = 1

  !> An engine takes its memory for these.
  type :: sem3d_grid_t
    integer :: elements = 0, solid = 0          !< elements, of which so many are solid
    integer :: points = 0, solid_points = 0     !< points, of which so many are of solid
    integer :: bricks = 0, contacts = 0
    integer :: per = 8                          !< nodes of an element
    integer :: media = 1                        !< numbers of an element for each of rho, lambda, mu
    integer :: mechanisms = 0                   !< of attenuation
    integer :: shares = 1                       !< numbers of an element for each of its shares: 1, or 125
    integer :: relaxing = in_element            !< points of an element that have memory variables: all, or in_memory
    integer :: threads = 0                      !< 0: as many as there are
    integer :: tensors = 0                      !< anisotropic media
    integer :: share = 0                        !< engines that compute on this GPU side by side; 0: this alone
    integer :: sum = 0                          !< of forces at points that elements share: 0 gather, 1 colour, 2 atomic
    integer :: piece = 0                        !< as in sem3d_ways_t
    integer :: resident = resident_all          !< what of the elements stays on a GPU
    real(dp) :: room = 0                        !< memory of the GPU that there is [bytes]; 0: all of it
    real(dp) :: dt = 0                          !< [s]
  end type sem3d_grid_t

  !> Points at which the largest velocity up to step `last` is kept: component c = 1, 2, 3 at p is the sum of w times field at point
  !> over entries start(m) .. start(m + 1) - 1, where m = 3 (p - 1) + c.
  type :: sem3d_map_t
    integer :: last = huge(1)
    integer, allocatable :: start(:)                       !< (3 points of the map + 1)
    integer, allocatable :: field(:), point(:)             !< (entries)
    real(sp), allocatable :: w(:)
  end type sem3d_map_t

  !> Ways from a piece of a mesh to the others.
  type :: sem3d_ways_t
    integer :: n = 0, mine = 1                             !< pieces; this one's number
    integer, allocatable :: way(:)                         !< of each brick, 0: it is this piece's
    integer, allocatable :: start(:), point(:)             !< points of this piece's elements that the piece at way w has too are
                                                           !< point(start(w)) .. point(start(w+1)-1)
    integer :: piece = 0                                   !< on a GPU: 1, or 2 where all elements of 8 nodes of the mesh are affine
    integer, allocatable :: colour(:)                      !< of the elements in the whole mesh, from 0, where forces go by colours
  end type sem3d_ways_t

  type, extends(engine_t) :: sem3d_engine_t
  contains
    procedure :: new                         !< takes memory for elements of those numbers
    procedure :: elements                    !< the elements and their medium, which are copied; forgets all else
    procedure :: quality                     !< attenuation, where there are mechanisms
    procedure :: damping                     !< of all points, once after `elements` where anything damps
    procedure :: added_mass                  !< of points that something moves with, after `damping`
    procedure :: source                      !< where histories go, and by what weight
    procedure :: histories                   !< the next block of them
    procedure :: receivers                   !< weighted sums of fields at points; forgets all traces
    procedure :: field                       !< a copy of a field
    procedure :: set_field
    procedure :: watch                       !< keeps the largest velocity at the points of a map, from zero; none: no longer
    procedure :: ways                        !< to the other pieces of the mesh, before `elements`
    procedure :: way_size                    !< numbers that go out and come in at a way in each step, of a phase
    procedure :: step_part                   !< a part of a step: of the fluid its rim, inside and shared points, then of the solid
    procedure :: give, take                  !< what goes out at a way after the rim, what must come in before the shared points
    procedure :: between                     !< a procedure to be called now and then during these parts
    procedure :: halo_offer, halo_open, halo_try, halo_waited, halo_left, halo_give_up, halo_close   !< a side is a way here
    procedure :: map                         !< (points of the map, 3): horizontal, vertical, of the vector
  end type sem3d_engine_t

contains

  !> An engine takes its memory for these. Time step, threads and mechanisms are the caller's.
  pure type(sem3d_grid_t) function Sem3dGrid(mesh) result(grid)
    type(elements_t), intent(in) :: mesh
    grid%elements = mesh%n
    grid%solid = mesh%solid
    grid%points = mesh%points
    grid%solid_points = mesh%solid_points
    grid%bricks = size(mesh%brick) - 1
    if (allocated(mesh%contact)) grid%contacts = size(mesh%contact, 2)
    grid%per = mesh%per
    grid%media = size(mesh%rho, 1)
    grid%shares = grid%media
    if (allocated(mesh%relative)) grid%tensors = size(mesh%relative, 2)
  end function Sem3dGrid

  subroutine new(self, grid, error)
    class(sem3d_engine_t), intent(inout) :: self
    type(sem3d_grid_t), intent(in) :: grid
    type(error_t), allocatable, intent(inout) :: error
    call self%free()
    self%handle = sem3d_new(CString(self%variant), Sem3dCfg(grid))
    if (.not. c_associated(self%handle)) call EngineCheck(self, 1, error)
  end subroutine new

  pure type(sem3d_cfg) function Sem3dCfg(grid) result(cfg)
    type(sem3d_grid_t), intent(in) :: grid
    associate (g => grid)
      cfg = sem3d_cfg(elements=g%elements, solid=g%solid, points=g%points, solid_points=g%solid_points, bricks=g%bricks, &
                      contacts=g%contacts, per=g%per, media=g%media, mechanisms=g%mechanisms, shares=g%shares, &
                      relaxing=g%relaxing, threads=g%threads, tensors=g%tensors, share=g%share, sum=g%sum, &
                      piece=g%piece, resident=g%resident, room=g%room, dt=real(g%dt, c_float))
    end associate
  end function Sem3dCfg

  !> The engine must have been made for the grid of this mesh (Sem3dGrid).
  subroutine elements(self, mesh, error)
    class(sem3d_engine_t), intent(inout) :: self
    type(elements_t), intent(in) :: mesh
    type(error_t), allocatable, intent(inout) :: error
    integer, parameter :: none(1) = 0
    if (allocated(mesh%tensor)) call EngineCheck(self, sem3d_anisotropy(self%handle, mesh%tensor - 1, mesh%relative), error)
    if (allocated(error)) return
    if (allocated(mesh%contact)) then
      call EngineCheck(self, sem3d_elements(self%handle, mesh%corner, mesh%face, mesh%brick - 1, mesh%rho, mesh%lambda, mesh%mu, &
                                            mesh%at - 1, mesh%contact - 1, mesh%partner - 1), error)
    else
      call EngineCheck(self, sem3d_elements(self%handle, mesh%corner, mesh%face, mesh%brick - 1, mesh%rho, mesh%lambda, mesh%mu, &
                                            mesh%at - 1, none, none), error)
    end if
  end subroutine elements

  subroutine quality(self, tau, bulk, shear, error)
    class(sem3d_engine_t), intent(inout) :: self
    real(sp), contiguous, intent(in) :: tau(:)                           !< [s], (mechanisms)
    real(sp), contiguous, intent(in) :: bulk(:, :, :), shear(:, :, :)    !< (mechanisms, shares, solid)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, sem3d_quality(self%handle, tau, bulk, shear), error)
  end subroutine quality

  subroutine damping(self, rate, error)
    class(sem3d_engine_t), intent(inout) :: self
    real(sp), contiguous, intent(in) :: rate(:)                          !< [1/s], (points)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, sem3d_damping(self%handle, rate), error)
  end subroutine damping

  subroutine added_mass(self, point, mass, error)
    class(sem3d_engine_t), intent(inout) :: self
    integer, contiguous, intent(in) :: point(:)                          !< of the solid
    real(sp), contiguous, intent(in) :: mass(:, :)                       !< [kg], xx yy zz xy xz yz, (6, points)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, sem3d_added_mass(self%handle, size(point), point - 1, mass), error)
  end subroutine added_mass

  subroutine source(self, nh, field, point, h, w, error)
    class(sem3d_engine_t), intent(inout) :: self
    integer, intent(in) :: nh                                            !< histories
    integer, contiguous, intent(in) :: field(:), point(:), h(:)          !< (entries)
    real(sp), contiguous, intent(in) :: w(:)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, sem3d_source(self%handle, nh, size(w), field, point - 1, h - 1, w), error)
  end subroutine source

  subroutine histories(self, first, q, error)
    class(sem3d_engine_t), intent(inout) :: self
    integer, intent(in) :: first                                         !< step of the first sample
    real(sp), contiguous, intent(in) :: q(:, :)                          !< (nh, steps); no steps: silent from now on
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, sem3d_histories(self%handle, first, size(q, 2), q), error)
  end subroutine histories

  subroutine receivers(self, start, field, point, w, error)
    class(sem3d_engine_t), intent(inout) :: self
    integer, contiguous, intent(in) :: start(:)                          !< (nrec+1), from 1
    integer, contiguous, intent(in) :: field(:), point(:)                !< (entries)
    real(sp), contiguous, intent(in) :: w(:)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, sem3d_receivers(self%handle, size(start) - 1, start - 1, field, point - 1, w), error)
  end subroutine receivers

  subroutine field(self, which, out, error)
    class(sem3d_engine_t), intent(inout) :: self
    integer, intent(in) :: which
    real(sp), contiguous, intent(out) :: out(:)                          !< (points of solid, or of fluid)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, sem3d_field(self%handle, which, out), error)
  end subroutine field

  subroutine set_field(self, which, in, error)
    class(sem3d_engine_t), intent(inout) :: self
    integer, intent(in) :: which
    real(sp), contiguous, intent(in) :: in(:)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, sem3d_set_field(self%handle, which, in), error)
  end subroutine set_field

  subroutine ways(self, given, error)
    class(sem3d_engine_t), intent(inout) :: self
    type(sem3d_ways_t), intent(in) :: given
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, sem3d_ways(self%handle, given%n, given%mine - 1, given%way - 1, given%start - 1, given%point - 1), error)
    if (allocated(given%colour) .and. .not. allocated(error)) &
      call EngineCheck(self, sem3d_coloured(self%handle, given%colour), error)
  end subroutine ways

  subroutine way_size(self, phase, way, out, in, error)
    class(sem3d_engine_t), intent(inout) :: self
    integer, intent(in) :: phase, way
    integer, intent(out) :: out, in
    type(error_t), allocatable, intent(inout) :: error
    out = 0
    in = 0
    call EngineCheck(self, sem3d_way_size(self%handle, phase, way - 1, out, in), error)
  end subroutine way_size

  subroutine step_part(self, it, phase, which, error)
    class(sem3d_engine_t), intent(inout) :: self
    integer, intent(in) :: it, phase, which
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, sem3d_part(self%handle, it, phase, which), error)
  end subroutine step_part

  subroutine give(self, phase, way, out, error)
    class(sem3d_engine_t), intent(inout) :: self
    integer, intent(in) :: phase, way
    real(sp), contiguous, intent(inout) :: out(:)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, sem3d_give(self%handle, phase, way - 1, out), error)
  end subroutine give

  subroutine take(self, phase, way, in, error)
    class(sem3d_engine_t), intent(inout) :: self
    integer, intent(in) :: phase, way
    real(sp), contiguous, intent(in) :: in(:)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, sem3d_take(self%handle, phase, way - 1, in), error)
  end subroutine take

  subroutine between(self, procedure, error)
    class(sem3d_engine_t), intent(inout) :: self
    type(c_funptr), intent(in) :: procedure
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, sem3d_between(self%handle, procedure), error)
  end subroutine between

  subroutine halo_offer(self, beside, host, seconds, ticket, error)
    class(sem3d_engine_t), intent(inout) :: self
    logical, intent(in) :: beside, host
    real(dp), intent(in) :: seconds
    character(kind=c_char), contiguous, intent(out) :: ticket(:)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, sem3d_halo_offer(self%handle, merge(1, 0, beside), merge(1, 0, host), seconds, size(ticket), &
                                            ticket), error)
  end subroutine halo_offer

  subroutine halo_open(self, side, ticket, error)
    class(sem3d_engine_t), intent(inout) :: self
    integer, intent(in) :: side
    character(kind=c_char), contiguous, intent(in) :: ticket(:)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, sem3d_halo_open(self%handle, side - 1, size(ticket), ticket), error)
  end subroutine halo_open

  subroutine halo_try(self, seconds, bare, full, error)
    class(sem3d_engine_t), intent(inout) :: self
    real(dp), intent(in) :: seconds
    real(dp), intent(out) :: bare, full
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, sem3d_halo_try(self%handle, seconds, bare, full), error)
  end subroutine halo_try

  subroutine halo_waited(self, seconds, error)
    class(sem3d_engine_t), intent(inout) :: self
    real(dp), intent(out) :: seconds(:)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, sem3d_halo_waited(self%handle, seconds), error)
  end subroutine halo_waited

  subroutine halo_left(self, chunks, error)
    class(sem3d_engine_t), intent(inout) :: self
    integer, intent(out) :: chunks
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, sem3d_halo_left(self%handle, chunks), error)
  end subroutine halo_left

  subroutine halo_give_up(self)
    class(sem3d_engine_t), intent(in) :: self
    call sem3d_halo_give_up(self%handle)
  end subroutine halo_give_up

  subroutine halo_close(self)
    class(sem3d_engine_t), intent(in) :: self
    call sem3d_halo_close(self%handle)
  end subroutine halo_close

  subroutine watch(self, map, error)
    class(sem3d_engine_t), intent(inout) :: self
    type(sem3d_map_t), intent(in) :: map
    type(error_t), allocatable, intent(inout) :: error
    integer, parameter :: none(1) = 0
    if (.not. allocated(map%start)) then
      call EngineCheck(self, sem3d_watch(self%handle, 0, 0, none, none, none, [0.0_sp]), error)
    else
      call EngineCheck(self, sem3d_watch(self%handle, map%last, size(map%start)/3, map%start - 1, map%field, map%point - 1, &
                                         map%w), error)
    end if
  end subroutine watch

  subroutine map(self, out, error)
    class(sem3d_engine_t), intent(inout) :: self
    real(sp), contiguous, intent(out) :: out(:, :)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, sem3d_map(self%handle, out), error)
  end subroutine map

end module sem3d_engine_m
