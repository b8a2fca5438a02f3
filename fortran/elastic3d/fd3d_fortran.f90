!> Variant `fortran`: the 3D scheme as plainly as it can be written, the reference that every other variant is measured against.
!> interfaces/fd3d_c.f90 explains the verbs and draws the places of the fields.
!>
!>     rho dv_a/dt = sum_b ds_ab/dx_b        ds_ab/dt = lambda div v delta_ab + mu (dv_a/dx_b + dv_b/dx_a) - (what has relaxed)
!>
!> Rows of cells along x are computed one after the other, planes z = const side by side. The surroundings of the subdomain are put
!> into the halo of the fields before each half step (fd3d_edges.f90), so that the update itself knows no sides.
module fd3d_fortran_m
  use, intrinsic :: ieee_arithmetic, only: ieee_is_finite, ieee_positive_inf, ieee_value
  use der3d_m, only: AddStress, AddVelocity, DerRow, NormalIncrement, RelaxNormal, ShearIncrement, StretchRow
  use engine_m, only: EngineNumbers, EngineRoom, EngineState
  use error_m, only: error_t, Fail
  use fd3d_edges_m, only: edges_t, EdgesFree, EdgesNew, FillPeriodic, OneWay, SurfaceStress, SurfaceVelocity, volume_t
  use fd3d_engine_m, only: Fd3dHaloBox, Fd3dHaloFields, Fd3dInnerBox, fd3d_engine_t, fd3d_fields, fd3d_grid_t, fd3d_map_t, &
                           fd3d_mechanisms, fd3d_together, field_sxx, field_sxy, field_sxz, field_syy, field_syz, field_szz, &
                           field_vx, field_vy, field_vz, part_all, part_inner, part_rim, side_free, side_neighbour, side_one_way
  use fd3d_medium_m, only: Fd3dBuoyancy, Fd3dShearMean, Fd3dShearModulus
  use fd3d_fortran_points_m, only: points_t, PointsCheckMap, PointsInject, PointsKeep, PointsNew, PointsSample
  use iso_c_binding, only: c_funptr
  use kinds_m, only: dp, i8, sp
  use text_m, only: Str
  use threads_m, only: ThreadsOf
  implicit none
  private
  public :: fd3d_fortran_t

  integer, parameter :: stress_of(3, 3) = reshape([field_sxx, field_sxy, field_sxz, field_sxy, field_syy, field_syz, &
                                                   field_sxz, field_syz, field_szz], [3, 3])       ! field of s_ab

  type, extends(fd3d_engine_t) :: fd3d_fortran_t
    private
    type(fd3d_grid_t) :: grid
    real(sp), allocatable :: w(:), along(:)                     !< weights, (half_length); of differences along layers
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
    procedure :: halo_size, halo_get, halo_put, field, set_field, slice, expect, watch, map, maxabs, reset
    procedure :: state_size, save => save_state, load, bytes, device
    procedure :: peak => maxabs
  end type fd3d_fortran_t

contains

  ! --- memory ---------------------------------------------------------------------------------------------------------------

  subroutine new(self, grid, error)
    class(fd3d_fortran_t), intent(inout) :: self
    type(fd3d_grid_t), intent(in) :: grid
    type(error_t), allocatable, intent(inout) :: error
    integer :: n, a, c, m, s(3), status, none(0)
    real(sp) :: nothing(0)
    call self%free()
    self%grid = grid
    self%each = merge(merge(fd3d_together, 1, grid%together), 0, grid%anelastic)
    self%w = real(grid%w(:grid%half_length), sp)
    self%along = self%w
    if (grid%narrow) self%along = [1.0_sp]
    self%t = real(grid%dt/grid%d, sp)
    status = 0
    do n = 0, fd3d_fields - 1
      if (status == 0) call Take(self%f(n)%a, 1 - grid%half_length, grid%n + grid%half_length, status)
      if (n <= field_vz .and. status == 0) call Take(self%b(n)%a, 1, grid%n, status)
      if (n >= field_sxy .and. status == 0) call Take(self%mue(n)%a, 1, grid%n, status)
      do m = 1, self%each
        if (n >= field_sxx .and. status == 0) call Take(self%r(n, m)%a, 1, grid%n, status)
        if (n >= field_sxy .and. status == 0) call Take(self%strength(n, m)%a, 1, grid%n, status)
      end do
    end do
    if (status == 0) call Take(self%lambda, 1, grid%n, status)
    if (status == 0) call Take(self%mu, 1, grid%n, status)
    do m = 1, self%each
      if (status == 0) call Take(self%relax_p(m)%a, 1, grid%n, status)
      if (status == 0) call Take(self%relax_s(m)%a, 1, grid%n, status)
    end do
    do a = 1, 3
      s = grid%n
      s(a) = grid%layer(2*a - 1) + grid%layer(2*a)
      do c = 1, 3
        if (status == 0) call Take(self%psi(a, c, 0)%a, 1, s, status)
        if (status == 0) call Take(self%psi(a, c, 1)%a, 1, s, status)
      end do
    end do
    if (status /= 0) then
      call Fail(error, 'no memory for the fields of '//Str(grid%n(1))//' x '//Str(grid%n(2))//' x '//Str(grid%n(3))// &
                ' cells: make the grid smaller or use variant=cpu')
      return
    end if
    call NeutralProfile(grid%n(1), self%px, self%gx)
    call NeutralProfile(grid%n(2), self%py, self%gy)
    call NeutralProfile(grid%n(3), self%pz, self%gz)
    call self%source(0, none, none, none, none, none, nothing, error)
    call self%receivers([1], none, none, none, none, nothing, error)
    call self%watch(fd3d_map_t(), error)
    call self%reset(error)
  end subroutine new

  !> A volume of cells first .. last(:), zero.
  subroutine Take(a, first, last, status)
    real(sp), allocatable, intent(inout) :: a(:, :, :)
    integer, intent(in) :: first, last(3)
    integer, intent(out) :: status
    allocate (a(first:last(1), first:last(2), first:last(3)), source=0.0_sp, stat=status)
  end subroutine Take

  pure subroutine NeutralProfile(n, p, g)
    integer, intent(in) :: n
    real(sp), allocatable, intent(inout) :: p(:, :), g(:)
    p = spread([0, 0, 1, 0, 0, 1], 1, n)
    g = spread(1.0_sp, 1, n)
  end subroutine NeutralProfile

  subroutine free(self)
    class(fd3d_fortran_t), intent(inout) :: self
    integer :: n, a, c, m
    do n = 0, fd3d_fields - 1
      call Give(self%f(n)%a)
      if (n <= field_vz) call Give(self%b(n)%a)
      if (n >= field_sxy) call Give(self%mue(n)%a)
      do m = 1, fd3d_together
        if (n >= field_sxx) call Give(self%r(n, m)%a)
        if (n >= field_sxy) call Give(self%strength(n, m)%a)
      end do
    end do
    do m = 1, fd3d_together
      call Give(self%relax_p(m)%a)
      call Give(self%relax_s(m)%a)
    end do
    do a = 1, 3
      do c = 1, 3
        call Give(self%psi(a, c, 0)%a)
        call Give(self%psi(a, c, 1)%a)
      end do
    end do
    call Give(self%lambda)
    call Give(self%mu)
    if (allocated(self%peaks)) deallocate (self%peaks)
    call EdgesFree(self%edges)
    if (allocated(self%samples)) deallocate (self%samples)
  end subroutine free

  subroutine Give(a)
    real(sp), allocatable, intent(inout) :: a(:, :, :)
    if (allocated(a)) deallocate (a)
  end subroutine Give

  ! --- medium and layers ----------------------------------------------------------------------------------------------------

  !> Gathers the planes; averages are made when all are there.
  subroutine model(self, rho, lambda, mu, error, first)
    class(fd3d_fortran_t), intent(inout) :: self
    real(sp), contiguous, intent(in) :: rho(:, :, :), lambda(:, :, :), mu(:, :, :)
    type(error_t), allocatable, intent(inout) :: error
    integer, intent(in), optional :: first
    integer :: before
    before = 0
    if (present(first)) before = first - 1
    associate (n => self%grid%n + 2, last => before + size(rho, 3))
      if (.not. allocated(self%given)) allocate (self%given(n(1), n(2), n(3), 3))
      self%given(:, :, before + 1:last, 1) = rho
      self%given(:, :, before + 1:last, 2) = lambda
      self%given(:, :, before + 1:last, 3) = mu
      if (last < n(3)) return
    end associate
    call Averages(self, self%given(:, :, :, 1), self%given(:, :, :, 2), self%given(:, :, :, 3), error)
    deallocate (self%given)
  end subroutine model

  subroutine Averages(self, rho, lambda, mu, error)
    class(fd3d_fortran_t), intent(inout) :: self
    real(sp), contiguous, intent(in) :: rho(:, :, :), lambda(:, :, :), mu(:, :, :)
    type(error_t), allocatable, intent(inout) :: error
    integer :: i, j, k, c
    if (.not. all(rho >= 0 .and. mu >= 0 .and. ((rho > 0 .and. 3*lambda + 2*mu > 0) .or. &
                                                (.not. abs(lambda) > 0 .and. .not. mu > 0)))) then
      call Fail(error, 'the medium must be rock or fluid (rho > 0, mu >= 0, 3 lambda + 2 mu > 0) or air (moduli 0) everywhere')
      return
    end if
    associate (n => self%grid%n)
      self%lambda = lambda(2:n(1) + 1, 2:n(2) + 1, 2:n(3) + 1)
      self%mu = mu(2:n(1) + 1, 2:n(2) + 1, 2:n(3) + 1)
      do k = 1, n(3)
        do j = 1, n(2)
          do i = 1, n(1)
            do c = field_vx, field_vz
              self%b(c)%a(i, j, k) = Fd3dBuoyancy(rho, c, i, j, k)
            end do
            do c = field_sxy, field_syz
              self%mue(c)%a(i, j, k) = Fd3dShearModulus(mu, c, i, j, k)
            end do
          end do
        end do
      end do
    end associate
    if (self%grid%side(5) == side_free) self%mue(field_sxz)%a(:, :, 1) = 0     ! on the surface
    if (self%grid%side(5) == side_free) self%mue(field_syz)%a(:, :, 1) = 0
    call EdgesNew(self%edges, self%grid, rho, lambda, mu)
  end subroutine Averages

  subroutine quality(self, tau, y, stiff, qp, qs, error)
    class(fd3d_fortran_t), intent(inout) :: self
    real(sp), contiguous, intent(in) :: tau(:), y(:, :), stiff(:), qp(:, :, :), qs(:, :, :)
    type(error_t), allocatable, intent(inout) :: error
    integer :: i, j, k, c, n
    if (.not. self%grid%anelastic) then
      call Fail(error, 'attenuation of a grid made without memory variables')
      return
    end if
    self%decay = real(exp(-self%grid%dt/tau), sp)
    self%stiff = stiff
    do n = 1, self%each
      do k = 1, self%grid%n(3)
        do j = 1, self%grid%n(2)
          do i = 1, self%grid%n(1)
            self%relax_p(n)%a(i, j, k) = Strength(qp(i + 1, j + 1, k + 1))*(self%lambda(i, j, k) + 2*self%mu(i, j, k))
            self%relax_s(n)%a(i, j, k) = Strength(qs(i + 1, j + 1, k + 1))*2*self%mu(i, j, k)
            do c = field_sxy, field_syz
              self%strength(c, n)%a(i, j, k) = Strength(Fd3dShearMean(qs, c, i, j, k))
            end do
          end do
        end do
      end do
    end do
  contains
    real(sp) function Strength(q)
      real(sp), intent(in) :: q
      integer :: m
      m = Mechanism(self%grid, n, i, j, k)
      Strength = q*(y(m, 1) + q*(y(m, 2) + q*y(m, 3)))
    end function Strength
  end subroutine quality

  !> The number of mechanism n of a cell. It has all, or one of eight, by its place in the whole grid, so that subdomains agree.
  pure integer function Mechanism(grid, n, i, j, k) result(m)
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: n, i, j, k
    m = n
    if (.not. grid%together) &
      m = 1 + modulo(grid%first(1) + i, 2) + 2*modulo(grid%first(2) + j, 2) + 4*modulo(grid%first(3) + k, 2)
  end function Mechanism

  subroutine pml(self, px, py, pz, error)
    class(fd3d_fortran_t), intent(inout) :: self
    real(sp), contiguous, intent(in) :: px(:, :), py(:, :), pz(:, :)
    type(error_t), allocatable, intent(inout) :: error
    self%px = px
    self%py = py
    self%pz = pz
  end subroutine pml

  subroutine sponge(self, gx, gy, gz, error)
    class(fd3d_fortran_t), intent(inout) :: self
    real(sp), contiguous, intent(in) :: gx(:), gy(:), gz(:)
    type(error_t), allocatable, intent(inout) :: error
    self%gx = gx
    self%gy = gy
    self%gz = gz
  end subroutine sponge

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

  ! --- time -----------------------------------------------------------------------------------------------------------------

  subroutine timestep(self, first, n, error)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: first, n
    type(error_t), allocatable, intent(inout) :: error
    integer :: it
    if (any(self%grid%side == side_neighbour)) then
      call Fail(error, 'the subdomain has a neighbour: step it in halves')
      return
    end if
    do it = first, first + n - 1
      call self%velocity(it, part_all, error)
      if (.not. allocated(error)) call self%stress(it, part_all, error)
      if (allocated(error)) return
    end do
  end subroutine timestep

  subroutine velocity(self, it, part, error)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: it, part
    type(error_t), allocatable, intent(inout) :: error
    if (part /= part_inner) then
      call FillPeriodic(self%grid, self%f, 1)
      if (self%grid%side(5) == side_free) call SurfaceStress(self%grid, self%edges, self%f)
      if (self%grid%side(6) == side_one_way) call OneWay(self%grid, self%edges, self%f, 1)
    end if
    call EachBox(self, part, .true.)
    call Inject(self, it, part, field_vx, field_vz, error)
  end subroutine velocity

  subroutine stress(self, it, part, error)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: it, part
    type(error_t), allocatable, intent(inout) :: error
    if (part /= part_inner) then
      call FillPeriodic(self%grid, self%f, 0)
      if (self%grid%side(5) == side_free) call SurfaceVelocity(self%grid, self%edges, self%f, self%w)
      if (self%grid%side(6) == side_one_way) call OneWay(self%grid, self%edges, self%f, 0)
    end if
    call EachBox(self, part, .false.)
    call Inject(self, it, part, field_sxx, field_syz, error)
    if (part /= part_rim) call EndStep(self, it)
  end subroutine stress

  !> None: half steps follow each other.
  subroutine ahead(self, it, n, done, error)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: it, n
    integer, intent(out) :: done
    type(error_t), allocatable, intent(inout) :: error
    done = 0
  end subroutine ahead

  !> Not called: planes are short work, and this variant is no fast one.
  subroutine between(self, procedure, error)
    class(fd3d_fortran_t), intent(inout) :: self
    type(c_funptr), intent(in) :: procedure
    type(error_t), allocatable, intent(inout) :: error
  end subroutine between

  subroutine EndStep(self, it)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: it
    if (self%steps == 0) self%first = it
    call EngineRoom(self, self%steps + 1)
    self%steps = self%steps + 1
    call PointsSample(self%receiver_points, self%start, self%part, self%f, self%samples(:, self%steps))
    if (allocated(self%watched%i) .and. it <= self%watched%last) &
      call PointsKeep(self%watched, self%f, self%peaks, ThreadsOf(self%grid%threads))
  end subroutine EndStep

  !> Updates the boxes of a part: the rim is all but the inner box, slab by slab.
  subroutine EachBox(self, part, velocities)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: part
    logical, intent(in) :: velocities
    integer :: lo(3), hi(3), from(3), to(3), a
    call Fd3dInnerBox(self%grid, lo, hi)
    if (part == part_all) call Update(self, velocities, [1, 1, 1], self%grid%n)
    if (part == part_inner) call Update(self, velocities, lo, hi)
    if (part /= part_rim) return
    from = 1
    to = self%grid%n
    do a = 3, 1, -1
      call Update(self, velocities, from, [to(:a - 1), lo(a) - 1, to(a + 1:)])
      call Update(self, velocities, [from(:a - 1), hi(a) + 1, from(a + 1:)], to)
      from(a) = lo(a)
      to(a) = hi(a)
    end do
  end subroutine EachBox

  !> The cells lo .. hi, planes side by side.
  subroutine Update(self, velocities, lo, hi)
    class(fd3d_fortran_t), intent(inout) :: self
    logical, intent(in) :: velocities
    integer, intent(in) :: lo(3), hi(3)
    integer :: j, k
    if (any(hi < lo)) return
    !$omp parallel do num_threads(ThreadsOf(self%grid%threads)) private(j) schedule(static)
    do k = lo(3), hi(3)
      do j = lo(2), hi(2)
        if (velocities) then
          call VelocityRow(self, lo(1), hi(1), j, k)
        else
          call NormalRow(self, lo(1), hi(1), j, k)
          call ShearRow(self, lo(1), hi(1), j, k, 1, 2)
          call ShearRow(self, lo(1), hi(1), j, k, 1, 3)
          call ShearRow(self, lo(1), hi(1), j, k, 2, 3)
        end if
      end do
    end do
  end subroutine Update

  !> v_c += 1/rho sum_a (dt/dx_a) D_a s_ca: s_cc stands on whole numbers along c, the shear stresses on halves along the other axis.
  subroutine VelocityRow(self, lo, hi, j, k)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: lo, hi, j, k
    real(sp) :: d(lo:hi, 3)
    integer :: a, c
    do c = 1, 3
      do a = 1, 3
        call Derivative(self, stress_of(a, c), a, a == c, c, 1, lo, hi, j, k, d(:, a))
      end do
      call AddVelocity(self%t, d(:, 1), d(:, 2), d(:, 3), self%b(field_vx + c - 1)%a(lo:hi, j, k), self%gx(lo:hi), self%gy(j), &
                       self%gz(k), self%f(field_vx + c - 1)%a(lo:hi, j, k))
    end do
  end subroutine VelocityRow

  !> sxx, syy, szz.
  subroutine NormalRow(self, lo, hi, j, k)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: lo, hi, j, k
    real(sp), dimension(lo:hi) :: total, more, relaxing
    real(sp) :: e(lo:hi, 3)
    integer :: a, n, m
    do a = 1, 3
      call Derivative(self, field_vx + a - 1, a, .false., a, 0, lo, hi, j, k, e(:, a))
      e(:, a) = self%t(a)*e(:, a)
    end do
    total = e(:, 1) + e(:, 2) + e(:, 3)
    do a = 1, 3
      n = stress_of(a, a)
      call NormalIncrement(self%lambda(lo:hi, j, k), self%mu(lo:hi, j, k), total, e(:, a), more)
      do m = 1, self%each
        call RelaxNormal(self%relax_p(m)%a(lo:hi, j, k), self%relax_s(m)%a(lo:hi, j, k), total, e(:, a), relaxing)
        call Relax(self, n, m, lo, hi, j, k, relaxing, more)
      end do
      call AddStress(more, self%gx(lo:hi), self%gy(j), self%gz(k), self%f(n)%a(lo:hi, j, k))
    end do
  end subroutine NormalRow

  !> s_ab, a < b: both velocities stand on whole numbers along the axis they are differentiated along.
  subroutine ShearRow(self, lo, hi, j, k, a, b)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: lo, hi, j, k, a, b
    real(sp), dimension(lo:hi) :: da, db, elastic, more
    integer :: n, m
    n = stress_of(a, b)
    call Derivative(self, field_vx + b - 1, a, .true., b, 0, lo, hi, j, k, da)
    call Derivative(self, field_vx + a - 1, b, .true., a, 0, lo, hi, j, k, db)
    call ShearIncrement(self%mue(n)%a(lo:hi, j, k), self%t(a), da, self%t(b), db, elastic)
    more = elastic
    do m = 1, self%each
      call Relax(self, n, m, lo, hi, j, k, self%strength(n, m)%a(lo:hi, j, k)*elastic, more)
    end do
    call AddStress(more, self%gx(lo:hi), self%gy(j), self%gz(k), self%f(n)%a(lo:hi, j, k))
  end subroutine ShearRow

  !> Takes from an increment of stress what relaxes by mechanism m of the cell: r = -(dt/2) s becomes e r - (1-e)/2 (y dM); the
  !> stress gets the mean of s. A modulus that is not the unrelaxed one lacks a part of what relaxes.
  subroutine Relax(self, n, m, lo, hi, j, k, relaxing, more)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: n, m, lo, hi, j, k
    real(sp), intent(in) :: relaxing(lo:hi)
    real(sp), intent(inout) :: more(lo:hi)
    real(sp) :: e(0:1), stiff(0:1), old
    integer :: i, of(0:1)
    of = [Mechanism(self%grid, m, 0, j, k), Mechanism(self%grid, m, 1, j, k)]
    e = self%decay(of)
    stiff = self%stiff(of)
    associate (r => self%r(n, m)%a)
      do i = lo, hi
        old = r(i, j, k)
        r(i, j, k) = e(iand(i, 1))*old - 0.5_sp*(1 - e(iand(i, 1)))*relaxing(i)
        more(i) = (more(i) + stiff(iand(i, 1))*relaxing(i)) + (old + r(i, j, k))
      end do
    end associate
  end subroutine Relax

  !> Undivided difference of a field along an axis, stretched where there is an absorbing layer; c, what: its memory variable psi.
  subroutine Derivative(self, n, axis, backward, c, what, lo, hi, j, k, d)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: n, axis, c, what, lo, hi, j, k
    logical, intent(in) :: backward
    real(sp), intent(out) :: d(lo:hi)
    integer :: i, at, column
    call Difference(self, n, axis, backward, lo, hi, j, k, d)
    column = merge(3, 0, backward)                     ! a backward difference stands on a half
    associate (psi => self%psi(axis, c, what)%a)
      select case (axis)
      case (1)
        associate (p => self%px, low => self%grid%layer(1), from => self%grid%n(1) - self%grid%layer(2))
          do i = lo, min(hi, low)
            call StretchRow(p(i, column + 1), p(i, column + 2), p(i, column + 3), psi(i, j, k), d(i))
          end do
          do i = max(lo, from + 1), hi
            call StretchRow(p(i, column + 1), p(i, column + 2), p(i, column + 3), psi(low + i - from, j, k), d(i))
          end do
        end associate
      case (2)
        at = Slab(self%grid, 2, j)
        if (at > 0) call StretchRow(self%py(j, column + 1), self%py(j, column + 2), self%py(j, column + 3), psi(lo:hi, at, k), d)
      case default
        at = Slab(self%grid, 3, k)
        if (at > 0) call StretchRow(self%pz(k, column + 1), self%pz(k, column + 2), self%pz(k, column + 3), psi(lo:hi, j, at), d)
      end select
    end associate
  end subroutine Derivative

  !> Undivided difference of a field along an axis. Along layers of x and y, where their normal is another axis, weights are others.
  subroutine Difference(self, n, axis, backward, lo, hi, j, k, d)
    class(fd3d_fortran_t), intent(in) :: self
    integer, intent(in) :: n, axis, lo, hi, j, k
    logical, intent(in) :: backward
    real(sp), intent(inout) :: d(lo:hi)
    integer :: end(0:3), part, first, last
    logical :: in_y, in_x
    in_y = axis /= 2 .and. Slab(self%grid, 2, j) > 0
    end = [lo - 1, min(hi, self%grid%layer(1)), min(hi, self%grid%n(1) - self%grid%layer(2)), hi]
    do part = 1, 3
      first = max(lo, end(part - 1) + 1)
      last = end(part)
      if (first > last) cycle
      in_x = axis /= 1 .and. part /= 2
      if (in_x .or. in_y) then
        call DerRow(1 - self%grid%half_length, self%f(n)%a, axis, backward, first, last, j, k, self%along, d(first:last))
      else
        call DerRow(1 - self%grid%half_length, self%f(n)%a, axis, backward, first, last, j, k, self%w, d(first:last))
      end if
    end do
  end subroutine Difference

  !> Place of row or plane i of an axis among those of its two layers; 0: between them.
  pure integer function Slab(grid, axis, i)
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: axis, i
    integer :: low, high
    low = grid%layer(2*axis - 1)
    high = grid%n(axis) - grid%layer(2*axis)
    Slab = 0
    if (i <= low) Slab = i
    if (i > high) Slab = low + i - high
  end function Slab

  subroutine Inject(self, it, part, from, to, error)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: it, part, from, to
    type(error_t), allocatable, intent(inout) :: error
    if (self%nh == 0 .or. it >= self%silent) return
    if (it < self%q_first .or. it >= self%q_first + size(self%q, 2)) then
      call Fail(error, 'step '//Str(it)//' needs histories of the sources, which are known for steps '//Str(self%q_first)// &
                '..'//Str(self%q_first + size(self%q, 2) - 1))
    else
      call PointsInject(self%source_points, self%history, self%q(:, it - self%q_first + 1), self%grid, part, from, to, self%f)
    end if
  end subroutine Inject

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

  subroutine expect(self, steps, error)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: steps
    type(error_t), allocatable, intent(inout) :: error
    call EngineRoom(self, steps)
  end subroutine expect

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

  subroutine reset(self, error)
    class(fd3d_fortran_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    integer :: n, a, c, m
    do n = 0, fd3d_fields - 1
      self%f(n)%a = 0
      do m = 1, self%each
        if (n >= field_sxx) self%r(n, m)%a = 0
      end do
    end do
    do a = 1, 3
      do c = 1, 3
        self%psi(a, c, 0)%a = 0
        self%psi(a, c, 1)%a = 0
      end do
    end do
    if (allocated(self%edges%before)) self%edges%before = 0
    self%peaks = 0
    self%steps = 0
    self%q = reshape([real(sp) ::], [self%nh, 0])
    self%silent = huge(1)
  end subroutine reset

  ! --- state ----------------------------------------------------------------------------------------------------------------

  integer(i8) function state_size(self, steps)
    class(fd3d_fortran_t), intent(in) :: self
    integer, intent(in) :: steps
    integer :: n, a, c, m
    state_size = int(steps, i8)*size(self%samples, 1) + size(self%peaks) + size(self%edges%before)
    do n = 0, fd3d_fields - 1
      state_size = state_size + size(self%f(n)%a, kind=i8)
      do m = 1, self%each
        if (n >= field_sxx) state_size = state_size + size(self%r(n, m)%a, kind=i8)
      end do
    end do
    do a = 1, 3
      do c = 1, 3
        state_size = state_size + size(self%psi(a, c, 0)%a, kind=i8) + size(self%psi(a, c, 1)%a, kind=i8)
      end do
    end do
  end function state_size

  subroutine save_state(self, state, error)
    class(fd3d_fortran_t), intent(inout) :: self
    real(sp), contiguous, intent(out) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    call MoveState(self, self%steps, size(state, kind=i8), error, out=state)
  end subroutine save_state

  subroutine load(self, steps, state, error)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: steps
    real(sp), contiguous, intent(in) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    self%first = 1
    self%steps = 0
    call EngineRoom(self, steps)
    call MoveState(self, steps, size(state, kind=i8), error, in=state)
    if (.not. allocated(error)) self%steps = steps
  end subroutine load

  !> Fields with their halos, memory variables, psi, the last row before a one-way bottom, the map, the samples.
  subroutine MoveState(self, steps, numbers, error, out, in)
    class(fd3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: steps
    integer(i8), intent(in) :: numbers
    type(error_t), allocatable, intent(inout) :: error
    real(sp), intent(inout), optional :: out(:)
    real(sp), intent(in), optional :: in(:)
    integer(i8) :: at
    integer :: n, a, c, m
    call EngineState(self, steps, numbers, error)
    if (allocated(error)) return
    at = 0
    do n = 0, fd3d_fields - 1
      call EngineNumbers(self%f(n)%a, size(self%f(n)%a, kind=i8), at, out, in)
      do m = 1, self%each
        if (n >= field_sxx) call EngineNumbers(self%r(n, m)%a, size(self%r(n, m)%a, kind=i8), at, out, in)
      end do
    end do
    do a = 1, 3
      do c = 1, 3
        call EngineNumbers(self%psi(a, c, 0)%a, size(self%psi(a, c, 0)%a, kind=i8), at, out, in)
        call EngineNumbers(self%psi(a, c, 1)%a, size(self%psi(a, c, 1)%a, kind=i8), at, out, in)
      end do
    end do
    call EngineNumbers(self%edges%before, size(self%edges%before, kind=i8), at, out, in)
    call EngineNumbers(self%peaks, size(self%peaks, kind=i8), at, out, in)
    call EngineNumbers(self%samples, int(steps, i8)*size(self%samples, 1), at, out, in)
  end subroutine MoveState

  ! --- for the record -------------------------------------------------------------------------------------------------------

  integer(i8) function bytes(self)
    class(fd3d_fortran_t), intent(in) :: self
    integer(i8) :: cells
    bytes = 0
    if (.not. allocated(self%lambda)) return
    cells = product(int(self%grid%n, i8))
    bytes = 4*(self%state_size(0) + (8 + 5*self%each)*cells + size(self%samples, kind=i8))
  end function bytes

  function device(self) result(text)
    class(fd3d_fortran_t), intent(in) :: self
    character(:), allocatable :: text
    text = 'plain Fortran, '//Str(ThreadsOf(self%grid%threads))//' threads'
  end function device

end module fd3d_fortran_m
