!> Variant `fortran`: the 3D scheme as plainly as it can be written, the reference that every other variant is measured against.
!> interfaces/fd3d_c.f90 explains the verbs and draws the places of the fields.
!>
!>     rho dv_a/dt = sum_b ds_ab/dx_b        ds_ab/dt = lambda div v delta_ab + mu (dv_a/dx_b + dv_b/dx_a) - (what has relaxed)
!>
!> Rows of cells along x are computed one after the other, planes z = const side by side. The surroundings of the subdomain are put
!> into the halo of the fields before each half step (fd3d_edges.f90), so that the update itself knows no sides but a free surface,
!> below which differences along z are other ones (fd3d_surface.f90).
module fd3d_fortran_m
  use, intrinsic :: ieee_arithmetic, only: ieee_is_finite, ieee_positive_inf, ieee_value
  use engine_m, only: EngineRoom
  use error_m, only: error_t, Fail
  use fd3d_edges_m, only: edges_t, volume_t
  use fd3d_engine_m, only: Fd3dHaloBox, Fd3dHaloFields, fd3d_engine_t, fd3d_fields, fd3d_grid_t, fd3d_map_t, fd3d_mechanisms, &
                           fd3d_together, field_sxx, field_sxy, field_syz, field_vx, field_vz
  use fd3d_surface_m, only: Fd3dSurface, fd3d_surface_t
  use fd3d_fortran_points_m, only: points_t, PointsCheckMap, PointsNew
  use iso_c_binding, only: c_funptr
  use kinds_m, only: i8, sp
  use text_m, only: Str
  use threads_m, only: ThreadsOf
  implicit none
  private
  public :: fd3d_fortran_t

  type, extends(fd3d_engine_t) :: fd3d_fortran_t
    private
    type(fd3d_grid_t) :: grid
    real(sp), allocatable :: w(:), along(:)                     !< weights, (half_length); of differences along layers
    type(fd3d_surface_t) :: top, top_along                      !< of differences along z below a free surface; along layers
    real(sp) :: t(3) = 0                                        !< dt/dx, dt/dy, dt/dz
    type(volume_t) :: f(0:fd3d_fields - 1)                      !< the fields, with halo
    type(volume_t) :: b(0:2)                                    !< 1/rho at vx, vy, vz
    real(sp), allocatable, dimension(:, :, :) :: lambda, mu     !< at the centres
    type(volume_t) :: mue(field_sxy:field_syz)                  !< mu at the shear points
    real(sp), allocatable :: given(:, :, :, :)                  !< rho, lambda, mu as they come, (n + 2, 3)
    type(edges_t) :: edges
    real(sp), allocatable :: px(:, :), py(:, :), pz(:, :)       !< profiles of layers, (n, 6)
    real(sp), allocatable :: gx(:), gy(:), gz(:)                !< sponge
    type(volume_t) :: psi(3, 3, 0:1)                            !< (axis, v_c) of velocities: 0; (axis, s_axis,c) of stresses: 1
    integer :: each = 0                                         !< mechanisms that a cell has
    type(volume_t) :: relax_p(fd3d_together), relax_s(fd3d_together)   !< y(qp) (lambda + 2 mu) and y(qs) 2 mu at the centres
    type(volume_t) :: strength(field_sxy:field_syz, fd3d_together)     !< y(qs) at the shear points
    type(volume_t) :: r(field_sxx:field_syz, fd3d_together)     !< memory variables
    real(sp) :: decay(fd3d_mechanisms) = 1                      !< exp(-dt/tau)
    real(sp) :: stiff(fd3d_mechanisms) = 0
    type(points_t) :: source_points, receiver_points
    integer, allocatable :: history(:), start(:), part(:)       !< (source points), (nrec+1), (nrec)
    integer :: nh = 0, q_first = 1, silent = huge(1)
    real(sp), allocatable :: q(:, :)                            !< histories of steps q_first .., (nh, steps)
    type(fd3d_map_t) :: watched                                 !< points of the map
    real(sp), allocatable :: peaks(:, :)                        !< (points, 3)
  contains
    procedure :: new, free, model, quality, pml, sponge, source, histories, receivers, receiver_part
    procedure :: timestep, velocity, stress, ahead, between
    procedure :: halo_size, halo_get, halo_put, field, set_field, slice, watch, map, maxabs, reset
    procedure :: state_size, save => save_state, load, bytes, device
    procedure :: peak => maxabs
  end type fd3d_fortran_t

  interface
    ! --- fd3d_fortran_memory.f90

    module subroutine new(self, grid, error)
      class(fd3d_fortran_t), intent(inout) :: self
      type(fd3d_grid_t), intent(in) :: grid
      type(error_t), allocatable, intent(inout) :: error
    end subroutine new

    module subroutine free(self)
      class(fd3d_fortran_t), intent(inout) :: self
    end subroutine free

    module subroutine reset(self, error)
      class(fd3d_fortran_t), intent(inout) :: self
      type(error_t), allocatable, intent(inout) :: error
    end subroutine reset

    module integer(i8) function state_size(self, steps)
      class(fd3d_fortran_t), intent(in) :: self
      integer, intent(in) :: steps
    end function state_size

    module subroutine save_state(self, state, error)
      class(fd3d_fortran_t), intent(inout) :: self
      real(sp), contiguous, intent(out) :: state(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine save_state

    module subroutine load(self, steps, state, error)
      class(fd3d_fortran_t), intent(inout) :: self
      integer, intent(in) :: steps
      real(sp), contiguous, intent(in) :: state(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine load

    module integer(i8) function bytes(self)
      class(fd3d_fortran_t), intent(in) :: self
    end function bytes

    ! --- fd3d_fortran_medium.f90

    !> Gathers the planes; averages are made when all are there.
    module subroutine model(self, rho, lambda, mu, error, first)
      class(fd3d_fortran_t), intent(inout) :: self
      real(sp), contiguous, intent(in) :: rho(:, :, :), lambda(:, :, :), mu(:, :, :)
      type(error_t), allocatable, intent(inout) :: error
      integer, intent(in), optional :: first
    end subroutine model

    module subroutine quality(self, tau, y, stiff, qp, qs, error)
      class(fd3d_fortran_t), intent(inout) :: self
      real(sp), contiguous, intent(in) :: tau(:), y(:, :), stiff(:), qp(:, :, :), qs(:, :, :)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine quality

    !> The number of mechanism n of a cell. It has all, or one of eight, by its place in the whole grid, so that subdomains agree.
    pure module integer function Mechanism(grid, n, i, j, k) result(m)
      type(fd3d_grid_t), intent(in) :: grid
      integer, intent(in) :: n, i, j, k
    end function Mechanism

    module subroutine pml(self, px, py, pz, error)
      class(fd3d_fortran_t), intent(inout) :: self
      real(sp), contiguous, intent(in) :: px(:, :), py(:, :), pz(:, :)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine pml

    module subroutine sponge(self, gx, gy, gz, error)
      class(fd3d_fortran_t), intent(inout) :: self
      real(sp), contiguous, intent(in) :: gx(:), gy(:), gz(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine sponge

    ! --- fd3d_fortran_step.f90

    module subroutine timestep(self, first, n, error)
      class(fd3d_fortran_t), intent(inout) :: self
      integer, intent(in) :: first, n
      type(error_t), allocatable, intent(inout) :: error
    end subroutine timestep

    module subroutine velocity(self, it, part, error)
      class(fd3d_fortran_t), intent(inout) :: self
      integer, intent(in) :: it, part
      type(error_t), allocatable, intent(inout) :: error
    end subroutine velocity

    module subroutine stress(self, it, part, error)
      class(fd3d_fortran_t), intent(inout) :: self
      integer, intent(in) :: it, part
      type(error_t), allocatable, intent(inout) :: error
    end subroutine stress

    !> None: half steps follow each other.
    module subroutine ahead(self, it, n, done, error)
      class(fd3d_fortran_t), intent(inout) :: self
      integer, intent(in) :: it, n
      integer, intent(out) :: done
      type(error_t), allocatable, intent(inout) :: error
    end subroutine ahead

    !> Not called: planes are short work, and this variant is no fast one.
    module subroutine between(self, procedure, error)
      class(fd3d_fortran_t), intent(inout) :: self
      type(c_funptr), intent(in) :: procedure
      type(error_t), allocatable, intent(inout) :: error
    end subroutine between
  end interface

contains

  ! --- source and receivers -------------------------------------------------------------------------------------------------

  subroutine source(self, nh, field, i, j, k, h, w, error)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: nh
    integer, contiguous, intent(in) :: field(:), i(:), j(:), k(:), h(:)
    real(sp), contiguous, intent(in) :: w(:)
    type(error_t), allocatable, intent(inout) :: error
    self%nh = nh
    self%history = h
    self%q = reshape([real(sp) ::], [nh, 0])
    self%silent = huge(1)
    if (any(h < 1 .or. h > nh)) then
      call Fail(error, 'a cell of the source has a history outside 1..'//Str(nh))
      return
    end if
    call PointsNew(self%source_points, self%grid, field, i, j, k, w, 'source', error)
  end subroutine source

  subroutine histories(self, first, q, error)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: first
    real(sp), contiguous, intent(in) :: q(:, :)
    type(error_t), allocatable, intent(inout) :: error
    if (size(q, 2) == 0) then
      self%silent = first
    else
      self%q = q
      self%q_first = first
      self%silent = huge(1)
    end if
  end subroutine histories

  subroutine receivers(self, start, field, i, j, k, w, error)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, contiguous, intent(in) :: start(:), field(:), i(:), j(:), k(:)
    real(sp), contiguous, intent(in) :: w(:)
    type(error_t), allocatable, intent(inout) :: error
    integer :: r
    self%start = start
    self%part = [(0, r=2, size(start))]
    self%samples = reshape([real(sp) ::], [size(start) - 1, 0])
    self%steps = 0
    call PointsNew(self%receiver_points, self%grid, field, i, j, k, w, 'receivers', error)
  end subroutine receivers

  subroutine receiver_part(self, part, error)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, contiguous, intent(in) :: part(:)
    type(error_t), allocatable, intent(inout) :: error
    self%part = part
  end subroutine receiver_part

  ! --- halos ----------------------------------------------------------------------------------------------------------------

  integer(i8) function halo_size(self, side)
    class(fd3d_fortran_t), intent(in) :: self
    integer, intent(in) :: side
    integer :: lo(3), hi(3)
    call Fd3dHaloBox(self%grid, side, .true., lo, hi)
    halo_size = 3*product(int(hi - lo + 1, i8))
  end function halo_size

  subroutine halo_get(self, what, side, out, error)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: what, side
    real(sp), contiguous, intent(out) :: out(:)
    type(error_t), allocatable, intent(inout) :: error
    integer :: lo(3), hi(3), fields(3), n, cells
    call Fd3dHaloBox(self%grid, side, .true., lo, hi)
    fields = Fd3dHaloFields(what, side)
    cells = product(hi - lo + 1)
    do n = 1, 3
      out((n - 1)*cells + 1:n*cells) = pack(self%f(fields(n))%a(lo(1):hi(1), lo(2):hi(2), lo(3):hi(3)), .true.)
    end do
  end subroutine halo_get

  subroutine halo_put(self, what, side, in, error)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: what, side
    real(sp), contiguous, intent(in) :: in(:)
    type(error_t), allocatable, intent(inout) :: error
    integer :: lo(3), hi(3), fields(3), n, cells
    call Fd3dHaloBox(self%grid, side, .false., lo, hi)
    fields = Fd3dHaloFields(what, side)
    cells = product(hi - lo + 1)
    do n = 1, 3
      self%f(fields(n))%a(lo(1):hi(1), lo(2):hi(2), lo(3):hi(3)) = reshape(in((n - 1)*cells + 1:n*cells), hi - lo + 1)
    end do
  end subroutine halo_put

  ! --- what comes back ------------------------------------------------------------------------------------------------------

  subroutine field(self, which, out, error)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: which
    real(sp), contiguous, intent(out) :: out(:, :, :)
    type(error_t), allocatable, intent(inout) :: error
    out = self%f(which)%a(1:self%grid%n(1), 1:self%grid%n(2), 1:self%grid%n(3))
  end subroutine field

  subroutine set_field(self, which, in, error)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: which
    real(sp), contiguous, intent(in) :: in(:, :, :)
    type(error_t), allocatable, intent(inout) :: error
    self%f(which)%a(1:self%grid%n(1), 1:self%grid%n(2), 1:self%grid%n(3)) = in
    self%steps = 0
  end subroutine set_field

  subroutine slice(self, which, axis, index, out, error)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: which, axis, index
    real(sp), contiguous, intent(out) :: out(:, :)
    type(error_t), allocatable, intent(inout) :: error
    associate (a => self%f(which)%a, n => self%grid%n)
      if (axis == 1) out = a(index, 1:n(2), 1:n(3))
      if (axis == 2) out = a(1:n(1), index, 1:n(3))
      if (axis == 3) out = a(1:n(1), 1:n(2), index)
    end associate
  end subroutine slice

  subroutine watch(self, map, error)
    class(fd3d_fortran_t), intent(inout) :: self
    type(fd3d_map_t), intent(in) :: map
    type(error_t), allocatable, intent(inout) :: error
    integer :: points
    points = 0
    self%watched = fd3d_map_t()
    if (allocated(map%i)) then
      call PointsCheckMap(map, self%grid, error)
      if (allocated(error)) return
      points = size(map%i)
      self%watched = map
    end if
    if (allocated(self%peaks)) deallocate (self%peaks)
    allocate (self%peaks(points, 3), source=0.0_sp)
  end subroutine watch

  subroutine map(self, out, error)
    class(fd3d_fortran_t), intent(inout) :: self
    real(sp), contiguous, intent(out) :: out(:, :)
    type(error_t), allocatable, intent(inout) :: error
    if (.not. allocated(self%watched%i)) then
      call Fail(error, 'map of ground velocity asked for, but no point was watched')
    else
      out = self%peaks
    end if
  end subroutine map

  subroutine maxabs(self, value, place, error)
    class(fd3d_fortran_t), intent(inout) :: self
    real(sp), intent(out) :: value
    integer, intent(out) :: place(3)
    type(error_t), allocatable, intent(inout) :: error
    integer :: c, here(3)
    value = -1
    place = 1
    do c = field_vx, field_vz
      associate (v => self%f(c)%a(1:self%grid%n(1), 1:self%grid%n(2), 1:self%grid%n(3)))
        if (.not. all(ieee_is_finite(v))) then
          place = findloc(ieee_is_finite(v), .false.)
          value = ieee_value(value, ieee_positive_inf)
          return
        end if
        here = maxloc(abs(v))
        if (abs(v(here(1), here(2), here(3))) > value) then
          place = here
          value = abs(v(here(1), here(2), here(3)))
        end if
      end associate
    end do
  end subroutine maxabs

  ! --- for the record -------------------------------------------------------------------------------------------------------

  function device(self) result(text)
    class(fd3d_fortran_t), intent(in) :: self
    character(:), allocatable :: text
    text = 'plain Fortran, '//Str(ThreadsOf(self%grid%threads))//' threads'
  end function device

end module fd3d_fortran_m
