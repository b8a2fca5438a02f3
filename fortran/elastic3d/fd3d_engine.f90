!> A 3D (visco)elastic time loop: the verbs that it has beside those of engine.f90. They call a variant in C, by
!> interfaces/fd3d_c.f90, which draws the grid and explains each verb; here indices count from 1. The readable Fortran of
!> fd3d_fortran.f90 extends this and brings all verbs itself. `timestep` knows no neighbours but those whose memory is open, `reset`
!> forgets map and histories too, a state has the map, `maxabs` is of |vx|, |vy| and |vz|.
module fd3d_engine_m
  use engine_m, only: engine_t, EngineCheck
  use error_m, only: error_t
  use fd3d_c, only: fd3d_ahead, fd3d_between, fd3d_cfg, fd3d_field, fd3d_halo_close, fd3d_halo_get, fd3d_halo_give_up, &
                    fd3d_halo_left, fd3d_halo_offer, fd3d_halo_open, fd3d_halo_put, fd3d_halo_size, fd3d_halo_try, &
                    fd3d_halo_waited, fd3d_histories, fd3d_map, fd3d_model_part, fd3d_new, fd3d_pml, fd3d_quality, fd3d_receivers, &
                    fd3d_set_field, fd3d_slice, fd3d_source, fd3d_sponge, fd3d_stress, fd3d_velocity, fd3d_watch
  use iso_c_binding, only: c_associated, c_char, c_float, c_funptr
  use kinds_m, only: dp, i2, i8, sp
  use text_m, only: CString
  implicit none
  private
  public :: fd3d_engine_t, fd3d_grid_t, fd3d_map_t, Fd3dCfg, Fd3dHaloBox, Fd3dHaloFields, Fd3dInnerBox, Fd3dOwnBox

  integer, parameter, public :: field_vx = 0, field_vy = 1, field_vz = 2, field_sxx = 3, field_syy = 4, field_szz = 5, &
                                field_sxy = 6, field_sxz = 7, field_syz = 8, fd3d_fields = 9
  integer, parameter, public :: side_neighbour = 0, side_outside = 1, side_free = 2, side_periodic = 3, side_one_way = 4
  integer, parameter, public :: part_all = 0, part_rim = 1, part_inner = 2
  integer, parameter, public :: fd3d_mechanisms = 8, fd3d_together = 6

  !> A subdomain; sides in the order x low, x high, y low, y high, z low (top), z high (bottom).
  type :: fd3d_grid_t
    integer :: n(3) = 0                         !< cells owned, and those of margins
    integer :: first(3) = 1                     !< cell of the whole grid that cell 1 is
    integer :: whole(3) = 0                     !< cells of the whole grid
    integer :: side(6) = side_outside           !< kinds of the sides
    integer :: layer(6) = 0                     !< absorbing layers: cells 1 .. layer(1) and n(1)-layer(2)+1 .. n(1), ...
    integer :: half_length = 0                  !< 1..4, width of the halo too
    logical :: narrow = .false.                 !< in layers of x and y differences along the layer are of half-length 1
    logical :: anelastic = .false.              !< with memory variables,
    logical :: together = .false.               !< of all mechanisms in each cell, else of one a cell
    logical :: even = .false.                   !< points have the same share of all mechanisms (fd3d_point_lists.f90)
    integer :: threads = 0                      !< 0: as many as there are
    integer :: share = 0                        !< engines that compute on this GPU side by side; 0: this alone
    logical :: sparse = .false.                 !< only receivers are told of stresses; C variants refuse them to others
    logical :: wet = .false.                    !< all that a free surface lies on is a fluid, in the whole grid
    logical :: wide = .false.                   !< halos of velocities alone, twice as deep: with margins (interfaces/fd3d_c.f90)
    real(dp) :: d(3) = 0, dt = 0                !< dx, dy, dz [m], [s]
    real(dp) :: w(4) = 0                        !< weights of the differentiators
  end type fd3d_grid_t

  !> Points at which the largest velocity up to step `last` is kept, each with a stencil that points alike share: component c = 1,
  !> 2, 3 at point p is the sum of w times vx, vy or vz of the cells (i + di, j + dj, k + dk) over entries start(m) .. start(m + 1)
  !> - 1, where m = 3 (stencil(p) - 1) + c.
  type :: fd3d_map_t
    integer :: last = huge(1)
    integer, allocatable :: i(:), j(:), k(:), stencil(:)   !< (points)
    integer, allocatable :: start(:)                       !< (3 stencils + 1)
    integer(i2), allocatable :: di(:), dj(:), dk(:)        !< (entries)
    real(sp), allocatable :: w(:)
  end type fd3d_map_t

  type, extends(engine_t) :: fd3d_engine_t
  contains
    procedure :: new                         !< takes memory for a subdomain
    procedure :: model                       !< rho, lambda, mu with a ring of one cell, some planes at a time
    procedure :: quality                     !< attenuation of an anelastic medium
    procedure :: pml                         !< profiles of the absorbing layers
    procedure :: sponge                      !< factors of Cerjan's sponge
    procedure :: source                      !< where histories go, and by what weight
    procedure :: histories                   !< the next block of them
    procedure :: receivers                   !< weighted sums of fields at cells; forgets all traces
    procedure :: velocity                    !< first half of a step, or a part of it
    procedure :: stress                      !< second half
    procedure :: ahead                       !< of some steps, what needs nothing of neighbours
    procedure :: between                     !< a procedure to be called now and then while inner cells are updated
    procedure :: halo_size                   !< numbers a neighbour needs
    procedure :: halo_get                    !< what it needs: what = 0 velocities, 1 stresses
    procedure :: halo_put                    !< what it gave
    procedure :: halo_offer                  !< memory that partners' kernels may store into: a ticket for them
    procedure :: halo_open                   !< the partner's, by its ticket
    procedure :: halo_try                    !< exchanges with all partners, timed
    procedure :: halo_waited                 !< how long the GPU waited for partners
    procedure :: halo_left                   !< calls of timestep that are unfinished, without waiting
    procedure :: halo_give_up                !< ends what waits for partners
    procedure :: halo_close                  !< the partners' memory is used no longer
    procedure :: field                       !< a copy of a field, (nx, ny, nz)
    procedure :: set_field
    procedure :: slice                       !< a plane of a field
    procedure :: watch                       !< keeps the largest velocity at the points of a map, from zero; none: no longer
    procedure :: map                         !< (points, 3): horizontal, vertical, of the vector
  end type fd3d_engine_t

contains

  subroutine new(self, grid, error)
    class(fd3d_engine_t), intent(inout) :: self
    type(fd3d_grid_t), intent(in) :: grid
    type(error_t), allocatable, intent(inout) :: error
    call self%free()
    self%handle = fd3d_new(CString(self%variant), Fd3dCfg(grid))
    if (.not. c_associated(self%handle)) call EngineCheck(self, 1, error)
  end subroutine new

  !> The subdomain as C knows it, which counts cells from 0.
  pure type(fd3d_cfg) function Fd3dCfg(grid) result(cfg)
    type(fd3d_grid_t), intent(in) :: grid
    associate (g => grid)
      cfg = fd3d_cfg(n=g%n, first=g%first - 1, whole=g%whole, side=g%side, layer=g%layer, half_length=g%half_length, &
                     narrow=merge(1, 0, g%narrow), anelastic=merge(merge(2, 1, g%together), 0, g%anelastic), &
                     threads=g%threads, share=g%share, sparse=merge(1, 0, g%sparse), wet=merge(1, 0, g%wet), &
                     wide=merge(1, 0, g%wide), d=real(g%d, c_float), dt=real(g%dt, c_float), w=real(g%w, c_float))
    end associate
  end function Fd3dCfg

  !> All of the nz+2 planes, or those from plane `first` on (from 1); the next ones are given next.
  subroutine model(self, rho, lambda, mu, error, first)
    class(fd3d_engine_t), intent(inout) :: self
    real(sp), contiguous, intent(in) :: rho(:, :, :), lambda(:, :, :), mu(:, :, :)   !< (nx+2, ny+2, planes)
    type(error_t), allocatable, intent(inout) :: error
    integer, intent(in), optional :: first
    integer :: before
    before = 0
    if (present(first)) before = first - 1
    call EngineCheck(self, fd3d_model_part(self%handle, before, size(rho, 3), rho, lambda, mu), error)
  end subroutine model

  subroutine quality(self, tau, y, stiff, qp, qs, error)
    class(fd3d_engine_t), intent(inout) :: self
    real(sp), contiguous, intent(in) :: tau(:), y(:, :), stiff(:)        !< (8), (8, 3), (8)
    real(sp), contiguous, intent(in) :: qp(:, :, :), qs(:, :, :)         !< 1/Q, (nx+2, ny+2, nz+2)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_quality(self%handle, tau, y, stiff, qp, qs), error)
  end subroutine quality

  subroutine pml(self, px, py, pz, error)
    class(fd3d_engine_t), intent(inout) :: self
    real(sp), contiguous, intent(in) :: px(:, :), py(:, :), pz(:, :)     !< (nx, 6), (ny, 6), (nz, 6)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_pml(self%handle, px, py, pz), error)
  end subroutine pml

  subroutine sponge(self, gx, gy, gz, error)
    class(fd3d_engine_t), intent(inout) :: self
    real(sp), contiguous, intent(in) :: gx(:), gy(:), gz(:)              !< (nx), (ny), (nz)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_sponge(self%handle, gx, gy, gz), error)
  end subroutine sponge

  subroutine source(self, nh, field, i, j, k, h, w, error)
    class(fd3d_engine_t), intent(inout) :: self
    integer, intent(in) :: nh                                            !< histories
    integer, contiguous, intent(in) :: field(:), i(:), j(:), k(:), h(:)  !< (entries); h from 1
    real(sp), contiguous, intent(in) :: w(:)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_source(self%handle, nh, size(w), field, i - 1, j - 1, k - 1, h - 1, w), error)
  end subroutine source

  subroutine histories(self, first, q, error)
    class(fd3d_engine_t), intent(inout) :: self
    integer, intent(in) :: first                                         !< step of the first sample
    real(sp), contiguous, intent(in) :: q(:, :)                          !< (nh, steps); no steps: silent from now on
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_histories(self%handle, first, size(q, 2), q), error)
  end subroutine histories

  subroutine receivers(self, start, field, i, j, k, w, error)
    class(fd3d_engine_t), intent(inout) :: self
    integer, contiguous, intent(in) :: start(:)                          !< (nrec+1), from 1
    integer, contiguous, intent(in) :: field(:), i(:), j(:), k(:)        !< (entries)
    real(sp), contiguous, intent(in) :: w(:)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_receivers(self%handle, size(start) - 1, start - 1, field, i - 1, j - 1, k - 1, w), error)
  end subroutine receivers

  subroutine velocity(self, it, part, error)
    class(fd3d_engine_t), intent(inout) :: self
    integer, intent(in) :: it, part                                      !< part_all, part_rim or part_inner
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_velocity(self%handle, it, part), error)
  end subroutine velocity

  subroutine stress(self, it, part, error)
    class(fd3d_engine_t), intent(inout) :: self
    integer, intent(in) :: it, part                                      !< part_all, part_rim or part_inner
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_stress(self%handle, it, part), error)
  end subroutine stress

  subroutine ahead(self, it, n, done, error)
    class(fd3d_engine_t), intent(inout) :: self
    integer, intent(in) :: it, n                                         !< n steps from step it, or fewer
    integer, intent(out) :: done                                         !< so many; 0: none, as where this variant cannot
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_ahead(self%handle, it, n, done), error)
  end subroutine ahead

  subroutine between(self, procedure, error)
    class(fd3d_engine_t), intent(inout) :: self
    type(c_funptr), intent(in) :: procedure                              !< null: none
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_between(self%handle, procedure), error)
  end subroutine between

  integer(i8) function halo_size(self, side)
    class(fd3d_engine_t), intent(in) :: self
    integer, intent(in) :: side                                          !< 1..6
    halo_size = fd3d_halo_size(self%handle, side - 1)
  end function halo_size

  subroutine halo_get(self, what, side, out, error)
    class(fd3d_engine_t), intent(inout) :: self
    integer, intent(in) :: what, side
    real(sp), contiguous, intent(out) :: out(:)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_halo_get(self%handle, what, side - 1, out), error)
  end subroutine halo_get

  subroutine halo_put(self, what, side, in, error)
    class(fd3d_engine_t), intent(inout) :: self
    integer, intent(in) :: what, side
    real(sp), contiguous, intent(in) :: in(:)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_halo_put(self%handle, what, side - 1, in), error)
  end subroutine halo_put

  subroutine halo_offer(self, beside, host, seconds, ticket, error)
    class(fd3d_engine_t), intent(inout) :: self
    logical, intent(in) :: beside                                        !< exchanges run beside the inner cells
    logical, intent(in) :: host                                          !< the machine's memory, else the GPU's
    real(dp), intent(in) :: seconds                                      !< that a partner is waited for
    character(kind=c_char), contiguous, intent(out) :: ticket(:)         !< (halo_ticket)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_halo_offer(self%handle, merge(1, 0, beside), merge(1, 0, host), seconds, size(ticket), &
                                           ticket), error)
  end subroutine halo_offer

  subroutine halo_open(self, side, ticket, error)
    class(fd3d_engine_t), intent(inout) :: self
    integer, intent(in) :: side
    character(kind=c_char), contiguous, intent(in) :: ticket(:)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_halo_open(self%handle, side - 1, size(ticket), ticket), error)
  end subroutine halo_open

  subroutine halo_try(self, seconds, bare, full, error)
    class(fd3d_engine_t), intent(inout) :: self
    real(dp), intent(in) :: seconds
    real(dp), intent(out) :: bare, full                                  !< an exchange took, of nothing and of halos [s]
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_halo_try(self%handle, seconds, bare, full), error)
  end subroutine halo_try

  subroutine halo_waited(self, seconds, error)
    class(fd3d_engine_t), intent(inout) :: self
    real(dp), intent(out) :: seconds(:)                                  !< (6), at each side
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: waited(6)
    call EngineCheck(self, fd3d_halo_waited(self%handle, waited), error)
    seconds = waited
  end subroutine halo_waited

  subroutine halo_left(self, chunks, error)
    class(fd3d_engine_t), intent(inout) :: self
    integer, intent(out) :: chunks
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_halo_left(self%handle, chunks), error)
  end subroutine halo_left

  subroutine halo_give_up(self)
    class(fd3d_engine_t), intent(in) :: self
    call fd3d_halo_give_up(self%handle)
  end subroutine halo_give_up

  subroutine halo_close(self)
    class(fd3d_engine_t), intent(in) :: self
    call fd3d_halo_close(self%handle)
  end subroutine halo_close

  subroutine field(self, which, out, error)
    class(fd3d_engine_t), intent(inout) :: self
    integer, intent(in) :: which
    real(sp), contiguous, intent(out) :: out(:, :, :)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_field(self%handle, which, out), error)
  end subroutine field

  subroutine set_field(self, which, in, error)
    class(fd3d_engine_t), intent(inout) :: self
    integer, intent(in) :: which
    real(sp), contiguous, intent(in) :: in(:, :, :)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_set_field(self%handle, which, in), error)
  end subroutine set_field

  subroutine slice(self, which, axis, index, out, error)
    class(fd3d_engine_t), intent(inout) :: self
    integer, intent(in) :: which, axis, index                            !< axis 1..3
    real(sp), contiguous, intent(out) :: out(:, :)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_slice(self%handle, which, axis - 1, index - 1, out), error)
  end subroutine slice

  subroutine watch(self, map, error)
    class(fd3d_engine_t), intent(inout) :: self
    type(fd3d_map_t), intent(in) :: map
    type(error_t), allocatable, intent(inout) :: error
    integer, parameter :: none(1) = 0
    integer(i2), parameter :: nowhere(1) = 0_i2
    if (.not. allocated(map%i)) then
      call EngineCheck(self, fd3d_watch(self%handle, 0, 0, none, none, none, none, 0, none, nowhere, nowhere, nowhere, &
                                        [0.0_sp]), error)
    else
      call EngineCheck(self, fd3d_watch(self%handle, map%last, size(map%i), map%i - 1, map%j - 1, map%k - 1, map%stencil - 1, &
                                        size(map%start)/3, map%start - 1, map%di, map%dj, map%dk, map%w), error)
    end if
  end subroutine watch

  subroutine map(self, out, error)
    class(fd3d_engine_t), intent(inout) :: self
    real(sp), contiguous, intent(out) :: out(:, :)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_map(self%handle, out), error)
  end subroutine map

  ! --- halos and parts of a subdomain, which the variants in Fortran and the tests share -----------------------------------------

  !> Cells lo .. hi that the neighbour at side 1..6 needs (own), or that it gives (not own: in the halo, and where that is wide in
  !> the margin). Stencils run along one axis, so edges and corners of the halo are never read; wide ones bring margins and halos
  !> of the axes before, as corners of margins need them.
  pure subroutine Fd3dHaloBox(grid, side, own, lo, hi)
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: side
    logical, intent(in) :: own
    integer, intent(out) :: lo(3), hi(3)
    integer :: a, deep
    logical :: wide(6)
    a = (side + 1)/2
    lo = 1
    hi = grid%n
    deep = grid%half_length
    wide = grid%wide .and. grid%side == side_neighbour
    if (wide(side)) then
      call Fd3dOwnBox(grid, lo, hi)
      deep = 2*deep
      lo(:a - 1) = lo(:a - 1) - merge(deep, 0, wide(1:2*a - 3:2))
      hi(:a - 1) = hi(:a - 1) + merge(deep, 0, wide(2:2*a - 2:2))
    end if
    if (modulo(side, 2) == 1) then
      lo(a) = lo(a) - merge(0, deep, own)
    else
      lo(a) = hi(a) + 1 - merge(deep, 0, own)
    end if
    hi(a) = lo(a) + deep - 1
  end subroutine Fd3dHaloBox

  !> The cells without margins; all where halos are narrow.
  pure subroutine Fd3dOwnBox(grid, lo, hi)
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(out) :: lo(3), hi(3)
    integer :: margin(6)
    margin = merge(grid%half_length, 0, grid%wide .and. grid%side == side_neighbour)
    lo = 1 + margin(1::2)
    hi = grid%n - margin(2::2)
  end subroutine Fd3dOwnBox

  !> The three fields in a halo across the axis of a side: velocities (what = 0) or the stresses differentiated along it (1).
  pure function Fd3dHaloFields(what, side) result(fields)
    integer, intent(in) :: what, side
    integer :: fields(3)
    integer, parameter :: along(3, 3) = reshape([field_sxx, field_sxy, field_sxz, field_sxy, field_syy, field_syz, &
                                                 field_sxz, field_syz, field_szz], [3, 3])
    fields = [field_vx, field_vy, field_vz]
    if (what == 1) fields = along(:, (side + 1)/2)
  end function Fd3dHaloFields

  !> Owned cells that need no neighbour's, and that none needs: all others are the rim. hi < lo along an axis: there are none.
  pure subroutine Fd3dInnerBox(grid, lo, hi)
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(out) :: lo(3), hi(3)
    integer :: rim(6)
    rim = merge(merge(3, 1, grid%wide)*grid%half_length, 0, grid%side == side_neighbour)
    lo = 1 + rim(1::2)
    hi = grid%n - rim(2::2)
    hi = max(hi, lo - 1)
  end subroutine Fd3dInnerBox

end module fd3d_engine_m
