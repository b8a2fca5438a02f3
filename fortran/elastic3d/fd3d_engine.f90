!> What a 3D (visco)elastic time loop must offer beside the verbs of engine.f90, whoever computes it: the readable Fortran of
!> fd3d_fortran.f90 or a C variant. The grid is drawn, and each verb explained, in interfaces/fd3d_c.f90; here indices count from 1.
!> `timestep` knows no neighbours, `reset` forgets map and histories too, a state has the map, `maxabs` is of |vx|, |vy| and |vz|.
module fd3d_engine_m
  use engine_m, only: engine_t
  use error_m, only: error_t
  use kinds_m, only: dp, i2, i8, sp
  implicit none
  private
  public :: fd3d_engine_t, fd3d_grid_t, fd3d_map_t, Fd3dHaloBox, Fd3dHaloFields, Fd3dInnerBox

  integer, parameter, public :: field_vx = 0, field_vy = 1, field_vz = 2, field_sxx = 3, field_syy = 4, field_szz = 5, &
                                field_sxy = 6, field_sxz = 7, field_syz = 8, fd3d_fields = 9
  integer, parameter, public :: side_neighbour = 0, side_outside = 1, side_free = 2, side_periodic = 3, side_one_way = 4
  integer, parameter, public :: part_all = 0, part_rim = 1, part_inner = 2
  integer, parameter, public :: fd3d_mechanisms = 8

  !> A subdomain; sides in the order x low, x high, y low, y high, z low (top), z high (bottom).
  type :: fd3d_grid_t
    integer :: n(3) = 0                         !< cells owned
    integer :: first(3) = 1                     !< cell of the whole grid that cell 1 is
    integer :: whole(3) = 0                     !< cells of the whole grid
    integer :: side(6) = side_outside           !< kinds of the sides
    integer :: layer(6) = 0                     !< absorbing layers: cells 1 .. layer(1) and n(1)-layer(2)+1 .. n(1), ...
    integer :: half_length = 0                  !< 1..4, width of the halo too
    logical :: anelastic = .false.
    logical :: even = .false.                   !< points have the same share of all mechanisms (fd3d_point_lists.f90)
    integer :: threads = 0                      !< 0: as many as there are
    integer :: share = 0                        !< engines that compute on this GPU side by side; 0: this alone
    logical :: sparse = .false.                 !< only receivers are told of stresses; C variants refuse them to others
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

  type, abstract, extends(engine_t) :: fd3d_engine_t
  contains
    procedure(new_i), deferred :: new              !< takes memory for a subdomain
    procedure(model_i), deferred :: model          !< rho, lambda, mu with a ring of one cell
    procedure(quality_i), deferred :: quality      !< attenuation of an anelastic medium
    procedure(pml_i), deferred :: pml              !< profiles of the absorbing layers
    procedure(sponge_i), deferred :: sponge        !< factors of Cerjan's sponge
    procedure(source_i), deferred :: source        !< where histories go, and by what weight
    procedure(histories_i), deferred :: histories  !< the next block of them
    procedure(receivers_i), deferred :: receivers  !< weighted sums of fields at cells; forgets all traces
    procedure(half_i), deferred :: velocity        !< first half of a step, or a part of it
    procedure(half_i), deferred :: stress          !< second half
    procedure(halo_size_i), deferred :: halo_size  !< numbers a neighbour needs
    procedure(halo_get_i), deferred :: halo_get    !< what it needs: what = 0 velocities, 1 stresses
    procedure(halo_put_i), deferred :: halo_put    !< what it gave
    procedure(field_i), deferred :: field          !< a copy of a field, (nx, ny, nz)
    procedure(set_field_i), deferred :: set_field
    procedure(slice_i), deferred :: slice          !< a plane of a field
    procedure(expect_i), deferred :: expect        !< there will be traces of so many steps
    procedure(watch_i), deferred :: watch          !< keeps the largest velocity at the points of a map, from zero; none: no longer
    procedure(map_i), deferred :: map              !< (points, 3): horizontal, vertical, of the vector
  end type fd3d_engine_t

  abstract interface
    subroutine new_i(self, grid, error)
      import :: fd3d_engine_t, fd3d_grid_t, error_t
      class(fd3d_engine_t), intent(inout) :: self
      type(fd3d_grid_t), intent(in) :: grid
      type(error_t), allocatable, intent(inout) :: error
    end subroutine new_i

    subroutine model_i(self, rho, lambda, mu, error)
      import :: fd3d_engine_t, error_t, sp
      class(fd3d_engine_t), intent(inout) :: self
      real(sp), contiguous, intent(in) :: rho(:, :, :), lambda(:, :, :), mu(:, :, :)   !< (nx+2, ny+2, nz+2)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine model_i

    subroutine quality_i(self, tau, y, qp, qs, error)
      import :: fd3d_engine_t, error_t, sp
      class(fd3d_engine_t), intent(inout) :: self
      real(sp), contiguous, intent(in) :: tau(:), y(:, :)                  !< (8), (8, 3)
      real(sp), contiguous, intent(in) :: qp(:, :, :), qs(:, :, :)         !< 1/Q, (nx+2, ny+2, nz+2)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine quality_i

    subroutine pml_i(self, px, py, pz, error)
      import :: fd3d_engine_t, error_t, sp
      class(fd3d_engine_t), intent(inout) :: self
      real(sp), contiguous, intent(in) :: px(:, :), py(:, :), pz(:, :)     !< (nx, 6), (ny, 6), (nz, 6)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine pml_i

    subroutine sponge_i(self, gx, gy, gz, error)
      import :: fd3d_engine_t, error_t, sp
      class(fd3d_engine_t), intent(inout) :: self
      real(sp), contiguous, intent(in) :: gx(:), gy(:), gz(:)              !< (nx), (ny), (nz)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine sponge_i

    subroutine source_i(self, nh, field, i, j, k, h, w, error)
      import :: fd3d_engine_t, error_t, sp
      class(fd3d_engine_t), intent(inout) :: self
      integer, intent(in) :: nh                                            !< histories
      integer, contiguous, intent(in) :: field(:), i(:), j(:), k(:), h(:)  !< (entries); h from 1
      real(sp), contiguous, intent(in) :: w(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine source_i

    subroutine histories_i(self, first, q, error)
      import :: fd3d_engine_t, error_t, sp
      class(fd3d_engine_t), intent(inout) :: self
      integer, intent(in) :: first                                         !< step of the first sample
      real(sp), contiguous, intent(in) :: q(:, :)                          !< (nh, steps); no steps: silent from now on
      type(error_t), allocatable, intent(inout) :: error
    end subroutine histories_i

    subroutine receivers_i(self, start, field, i, j, k, w, error)
      import :: fd3d_engine_t, error_t, sp
      class(fd3d_engine_t), intent(inout) :: self
      integer, contiguous, intent(in) :: start(:)                          !< (nrec+1), from 1
      integer, contiguous, intent(in) :: field(:), i(:), j(:), k(:)        !< (entries)
      real(sp), contiguous, intent(in) :: w(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine receivers_i

    subroutine half_i(self, it, part, error)
      import :: fd3d_engine_t, error_t
      class(fd3d_engine_t), intent(inout) :: self
      integer, intent(in) :: it, part                                      !< part_all, part_rim or part_inner
      type(error_t), allocatable, intent(inout) :: error
    end subroutine half_i

    integer(i8) function halo_size_i(self, side)
      import :: fd3d_engine_t, i8
      class(fd3d_engine_t), intent(in) :: self
      integer, intent(in) :: side                                          !< 1..6
    end function halo_size_i

    subroutine halo_get_i(self, what, side, out, error)
      import :: fd3d_engine_t, error_t, sp
      class(fd3d_engine_t), intent(inout) :: self
      integer, intent(in) :: what, side
      real(sp), contiguous, intent(out) :: out(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine halo_get_i

    subroutine halo_put_i(self, what, side, in, error)
      import :: fd3d_engine_t, error_t, sp
      class(fd3d_engine_t), intent(inout) :: self
      integer, intent(in) :: what, side
      real(sp), contiguous, intent(in) :: in(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine halo_put_i

    subroutine field_i(self, which, out, error)
      import :: fd3d_engine_t, error_t, sp
      class(fd3d_engine_t), intent(inout) :: self
      integer, intent(in) :: which
      real(sp), contiguous, intent(out) :: out(:, :, :)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine field_i

    subroutine set_field_i(self, which, in, error)
      import :: fd3d_engine_t, error_t, sp
      class(fd3d_engine_t), intent(inout) :: self
      integer, intent(in) :: which
      real(sp), contiguous, intent(in) :: in(:, :, :)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine set_field_i

    subroutine slice_i(self, which, axis, index, out, error)
      import :: fd3d_engine_t, error_t, sp
      class(fd3d_engine_t), intent(inout) :: self
      integer, intent(in) :: which, axis, index                            !< axis 1..3
      real(sp), contiguous, intent(out) :: out(:, :)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine slice_i

    subroutine expect_i(self, steps, error)
      import :: fd3d_engine_t, error_t
      class(fd3d_engine_t), intent(inout) :: self
      integer, intent(in) :: steps
      type(error_t), allocatable, intent(inout) :: error
    end subroutine expect_i

    subroutine watch_i(self, map, error)
      import :: fd3d_engine_t, fd3d_map_t, error_t
      class(fd3d_engine_t), intent(inout) :: self
      type(fd3d_map_t), intent(in) :: map
      type(error_t), allocatable, intent(inout) :: error
    end subroutine watch_i

    subroutine map_i(self, out, error)
      import :: fd3d_engine_t, error_t, sp
      class(fd3d_engine_t), intent(inout) :: self
      real(sp), contiguous, intent(out) :: out(:, :)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine map_i
  end interface

contains

  !> Cells lo .. hi that the neighbour at side 1..6 needs (own), or that it gives (not own: in the halo). Stencils run along one
  !> axis, so edges and corners of the halo are never read.
  pure subroutine Fd3dHaloBox(grid, side, own, lo, hi)
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: side
    logical, intent(in) :: own
    integer, intent(out) :: lo(3), hi(3)
    integer :: a
    a = (side + 1)/2
    lo = 1
    hi = grid%n
    if (modulo(side, 2) == 1) then
      lo(a) = merge(1, 1 - grid%half_length, own)
    else
      lo(a) = grid%n(a) + 1 - merge(grid%half_length, 0, own)
    end if
    hi(a) = lo(a) + grid%half_length - 1
  end subroutine Fd3dHaloBox

  !> The three fields in a halo across the axis of a side: velocities (what = 0) or the stresses differentiated along it (1).
  pure function Fd3dHaloFields(what, side) result(fields)
    integer, intent(in) :: what, side
    integer :: fields(3)
    integer, parameter :: along(3, 3) = reshape([field_sxx, field_sxy, field_sxz, field_sxy, field_syy, field_syz, &
                                                 field_sxz, field_syz, field_szz], [3, 3])
    fields = [field_vx, field_vy, field_vz]
    if (what == 1) fields = along(:, (side + 1)/2)
  end function Fd3dHaloFields

  !> Owned cells that need no neighbour's: all others are the rim. hi < lo along an axis: there are none.
  pure subroutine Fd3dInnerBox(grid, lo, hi)
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(out) :: lo(3), hi(3)
    lo = 1 + merge(grid%half_length, 0, grid%side(1::2) == side_neighbour)
    hi = grid%n - merge(grid%half_length, 0, grid%side(2::2) == side_neighbour)
    hi = max(hi, lo - 1)
  end subroutine Fd3dInnerBox

end module fd3d_engine_m
