!> Variant `fortran`: spectral elements as plainly as they can be written, the reference that every other variant is measured
!> against. interfaces/sem3d_c.f90 tells the equations and the order of a step. Fields are single, all else is double. Forces of
!> elements are made side by side, and added one element after the other.
module sem3d_fortran_m
  use, intrinsic :: ieee_arithmetic, only: ieee_is_finite, ieee_positive_inf, ieee_value
  use anisotropy_m, only: AnisoImpedance, AnisoMatrix
  use elements_m, only: elements_t, face_absorbs, face_free, in_element, on_face
  use elements_tensors_m, only: StiffnessOf, TensorOf
  use engine_m, only: EngineNumbers, EngineRoom, EngineState
  use error_m, only: error_t, Fail
  use hexahedron_m, only: hex_side_point
  use iso_c_binding, only: c_funptr
  use kinds_m, only: dp, i8, sp
  use receiver_sum_m, only: receiver_sum_t, ReceiverAdd, ReceiverPart
  use sem3d_element_m, only: ElementGeometry, FewRelax, FluidForce, relaxation_t, SideArea, SolidForce
  use sem3d_engine_m, only: field_chi, field_chi_t, field_ux, field_uz, field_vx, field_vz, part_rim, part_shared, phase_fluid, &
                            phase_solid, sem3d_engine_t, sem3d_fields, sem3d_grid_t, sem3d_map_t, sem3d_ways_t
  use text_m, only: Str
  use threads_m, only: ThreadsOf
  implicit none
  private
  public :: sem3d_fortran_t

  integer, parameter :: per_slot = 6                            !< floats with the bits of three doubles

  type :: entries_t                                             !< weights of fields at points
    integer, allocatable :: field(:), point(:)
    real(sp), allocatable :: w(:)
  end type entries_t

  !> Elements, and the points of each, whose forces travel.
  type :: slots_t
    integer, allocatable :: element(:), p(:)
  end type slots_t

  type, extends(sem3d_engine_t) :: sem3d_fortran_t
    private
    type(sem3d_grid_t) :: grid
    type(elements_t) :: mesh
    real(dp), allocatable :: slope(:, :, :, :)                  !< d xi(d) / d x(c) [1/m], (d, c, 125, elements)
    real(dp), allocatable :: volume(:, :)                       !< of the points [m3], (125, elements)
    real(dp), allocatable :: mass(:)                            !< (points): of solid [kg], of fluid [m3/Pa]
    logical, allocatable :: held(:)                             !< (points): chi is 0 there
    integer, allocatable :: drag(:)                             !< (points): number of its drag, or 0
    real(dp), allocatable :: b(:, :, :)                         !< drags [kg/s], (3, 3, drags); in the fluid b(1, 1)
    real(dp), allocatable :: more(:, :, :)                      !< added masses [kg], (3, 3, drags)
    real(dp), allocatable :: area(:, :, :)                      !< out of the fluid [m2], (3, 25, contacts)
    real(dp) :: loudness = 0                                    !< times |dchi/dt| is a velocity
    type(relaxation_t), allocatable :: relaxation(:)            !< (elements of solid)
    real(sp), allocatable :: v(:, :), u(:, :)                   !< (3, points of solid)
    real(sp), allocatable :: chi_t(:), chi(:)                   !< (points of fluid), from solid_points + 1 on
    type(entries_t) :: sources, sampled
    integer, allocatable :: history(:), start(:), part(:)       !< (source entries), (nrec+1), (nrec)
    integer :: nh = 0, q_first = 1, silent = huge(1)
    real(sp), allocatable :: q(:, :)                            !< histories of steps q_first .., (nh, steps)
    logical, allocatable :: elsewhere(:)                        !< elements of other pieces
    real(dp), allocatable :: own(:, :, :)                       !< forces of elements, (3, 125, elements)
    real(dp), allocatable :: force(:, :)                        !< at the points
    type(sem3d_map_t) :: watched
    type(sem3d_ways_t) :: given
    type(slots_t), allocatable :: gives(:, :), takes(:, :)        !< (0:1, ways)
    real(sp), allocatable :: peaks(:, :)                        !< (points of the map, 3)
  contains
    procedure :: new, free, elements, quality, damping, added_mass, source, histories, receivers, receiver_part, timestep
    procedure :: ways, way_size, step_part, give => give_slots, take => take_slots, between
    procedure :: field, set_field, expect, watch, map, maxabs, reset
    procedure :: state_size, save => save_state, load, bytes, device
    procedure :: peak => maxabs
  end type sem3d_fortran_t

contains

  ! --- memory ---------------------------------------------------------------------------------------------------------------

  subroutine new(self, grid, error)
    class(sem3d_fortran_t), intent(inout) :: self
    type(sem3d_grid_t), intent(in) :: grid
    type(error_t), allocatable, intent(inout) :: error
    integer :: status
    call self%free()
    self%grid = grid
    allocate (self%v(3, grid%solid_points), self%u(3, grid%solid_points), self%chi_t(grid%solid_points + 1:grid%points), &
              self%chi(grid%solid_points + 1:grid%points), stat=status, source=0.0_sp)
    if (status /= 0) then
      call Fail(error, 'no memory for '//Str(grid%points)//' points: use a smaller mesh')
      return
    end if
    allocate (self%peaks(0, 3), self%samples(0, 0), self%q(0, 0), self%relaxation(0))
    call Forget(self, error)
  end subroutine new

  !> No source, no receivers, no map.
  subroutine Forget(self, error)
    class(sem3d_fortran_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    integer :: none(0)
    real(sp) :: nothing(0)
    call self%source(0, none, none, none, nothing, error)
    call self%receivers([1], none, none, nothing, error)
    call self%watch(sem3d_map_t(), error)
  end subroutine Forget

  !> Gives all back, by forgetting what this is.
  subroutine free(self)
    class(sem3d_fortran_t), intent(inout) :: self
    character(:), allocatable :: variant
    logical :: gpu
    variant = self%variant
    gpu = self%gpu
    select type (self)
    type is (sem3d_fortran_t)
      self = sem3d_fortran_t()
    end select
    self%variant = variant
    self%gpu = gpu
  end subroutine free

  ! --- elements ---------------------------------------------------------------------------------------------------------------

  subroutine elements(self, mesh, error)
    class(sem3d_fortran_t), intent(inout) :: self
    type(elements_t), intent(in) :: mesh
    type(error_t), allocatable, intent(inout) :: error
    integer :: e
    self%mesh = mesh
    if (allocated(self%own)) deallocate (self%own, self%force)
    call ListWays(self)
    allocate (self%own(3, in_element, mesh%n), self%force(3, mesh%points))
    if (allocated(self%slope)) deallocate (self%slope, self%volume)
    allocate (self%slope(3, 3, in_element, mesh%n), self%volume(in_element, mesh%n))
    !$omp parallel do num_threads(ThreadsOf(self%grid%threads))
    do e = 1, mesh%n
      call ElementGeometry(mesh%corner(:, :, e), self%slope(:, :, :, e), self%volume(:, e))
    end do
    !$omp end parallel do
    do e = 1, mesh%n
      if (all(self%volume(:, e) > 0)) cycle
      call Fail(error, 'element '//Str(e)//' has no positive Jacobian at its point '//Str(findloc(self%volume(:, e) > 0, &
                                                        .false., dim=1))//': it is inside out or degenerate')
      return
    end do
    if (allocated(self%relaxation)) deallocate (self%relaxation)
    allocate (self%relaxation(mesh%solid))
    call SumMasses(self)
    call SumDrags(self)
    call Contacts(self)
    call self%reset(error)
    call Forget(self, error)
  end subroutine elements

  real(dp) function Medium(a, p, e)
    real(sp), intent(in) :: a(:, :)                      !< (1 or 125, n)
    integer, intent(in) :: p, e
    Medium = a(min(p, size(a, 1)), e)
  end function Medium

  subroutine SumMasses(self)
    class(sem3d_fortran_t), intent(inout) :: self
    real(dp) :: rho, k
    integer :: e, p, side
    self%mass = [(0.0_dp, p=1, self%mesh%points)]
    self%held = [(.false., p=1, self%mesh%points)]
    self%loudness = 0
    do e = 1, self%mesh%n
      do p = 1, in_element
        rho = Medium(self%mesh%rho, p, e)
        k = Medium(self%mesh%lambda, p, e)
        if (self%mesh%at(p, e) > 0) then
          associate (mass => self%mass(self%mesh%at(p, e)))
            mass = mass + merge(rho, 1/k, e <= self%mesh%solid)*self%volume(p, e)
          end associate
        end if
        if (e > self%mesh%solid) self%loudness = max(self%loudness, 1/(sqrt(rho*k)*sum(self%volume(:, e))**(1.0_dp/3)))
      end do
      if (e <= self%mesh%solid) cycle
      do side = 1, 6
        if (self%mesh%face(side, e) /= face_free) cycle
        do p = 1, on_face
          if (self%mesh%at(hex_side_point(p, side), e) > 0) self%held(self%mesh%at(hex_side_point(p, side), e)) = .true.
        end do
      end do
    end do
  end subroutine SumMasses

  !> Sums of rho (vp n n + vs (1 - n n)) over the areas of absorbing sides, in the fluid of 1/(rho c); in an anisotropic medium of
  !> the impedance of waves along the normal.
  subroutine SumDrags(self)
    class(sem3d_fortran_t), intent(inout) :: self
    real(dp) :: area(3, on_face), rho, lambda, mu, size, n(3), z(2)
    integer :: e, side, m, p, drags, i
    self%drag = [(0, p=1, self%mesh%points)]
    if (allocated(self%more)) deallocate (self%more)
    drags = 0
    do i = 1, 2
      if (i == 2) then
        if (allocated(self%b)) deallocate (self%b)
        allocate (self%b(3, 3, drags), source=0.0_dp)
      end if
      do e = 1, self%mesh%n
        do side = 1, 6
          if (self%mesh%face(side, e) /= face_absorbs) cycle
          call SideArea(self%mesh%corner(:, :, e), side, area)
          do m = 1, on_face
            p = hex_side_point(m, side)
            if (self%mesh%at(p, e) == 0) cycle
            associate (drag => self%drag(self%mesh%at(p, e)))
              if (i == 1 .and. drag == 0) then
                drags = drags + 1
                drag = drags
              end if
              if (i == 1) cycle
              rho = Medium(self%mesh%rho, p, e)
              lambda = Medium(self%mesh%lambda, p, e)
              mu = Medium(self%mesh%mu, p, e)
              size = norm2(area(:, m))
              n = area(:, m)/size
              z = sqrt(rho*[lambda + 2*mu, mu])
              if (e > self%mesh%solid) z = 1/z(1)
              if (TensorOf(self%mesh, e) > 0) then
                self%b(:, :, drag) = self%b(:, :, drag) + size*AnisoImpedance(StiffnessOf(self%mesh, e, p), rho, n)
              else
                self%b(:, :, drag) = self%b(:, :, drag) + size*Impedance(z, n)
              end if
            end associate
          end do
        end do
      end do
    end do
  end subroutine SumDrags

  !> z(1) along n, z(2) across.
  pure function Impedance(z, n) result(b)
    real(dp), intent(in) :: z(2), n(3)
    real(dp) :: b(3, 3)
    integer :: c
    do c = 1, 3
      b(:, c) = (z(1) - z(2))*n*n(c)
      b(c, c) = b(c, c) + z(2)
    end do
  end function Impedance

  subroutine Contacts(self)
    class(sem3d_fortran_t), intent(inout) :: self
    integer :: c
    if (allocated(self%area)) deallocate (self%area)
    allocate (self%area(3, on_face, self%grid%contacts))
    do c = 1, self%grid%contacts
      call SideArea(self%mesh%corner(:, :, self%mesh%contact(1, c)), self%mesh%contact(2, c), self%area(:, :, c))
    end do
  end subroutine Contacts

  subroutine quality(self, tau, bulk, shear, error)
    class(sem3d_fortran_t), intent(inout) :: self
    real(sp), contiguous, intent(in) :: tau(:)
    real(sp), contiguous, intent(in) :: bulk(:, :, :), shear(:, :, :)
    type(error_t), allocatable, intent(inout) :: error
    integer :: e, p
    do e = 1, self%mesh%solid
      associate (r => self%relaxation(e))
        r%decay = exp(-self%grid%dt/tau)
        r%bulk = bulk(:, :, e)
        r%shear = shear(:, :, e)
        if (allocated(r%z)) deallocate (r%z)
        allocate (r%z(6, size(tau), self%grid%relaxing), source=0.0_sp)
        r%number = [(p, p=1, in_element)]
        r%gain = 1
        if (self%grid%relaxing < in_element) call FewRelax(r)
      end associate
    end do
  end subroutine quality

  !> Adds rate M to the drags.
  subroutine damping(self, rate, error)
    class(sem3d_fortran_t), intent(inout) :: self
    real(sp), contiguous, intent(in) :: rate(:)
    type(error_t), allocatable, intent(inout) :: error
    integer :: p, c
    call MoreDrags(self, pack([(p, p=1, self%mesh%points)], rate > 0))
    do p = 1, self%mesh%points
      if (.not. rate(p) > 0) cycle
      associate (b => self%b(:, :, self%drag(p)))
        do c = 1, 3
          b(c, c) = b(c, c) + rate(p)*self%mass(p)
        end do
      end associate
    end do
  end subroutine damping

  !> Makes drags of 0 at points that have none.
  subroutine MoreDrags(self, points)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: points(:)
    real(dp), allocatable :: b(:, :, :)
    integer :: n, drags
    drags = size(self%b, 3)
    do n = 1, size(points)
      if (self%drag(points(n)) > 0) cycle
      drags = drags + 1
      self%drag(points(n)) = drags
    end do
    allocate (b(3, 3, drags), source=0.0_dp)
    b(:, :, :size(self%b, 3)) = self%b
    call move_alloc(b, self%b)
  end subroutine MoreDrags

  subroutine added_mass(self, point, mass, error)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, contiguous, intent(in) :: point(:)
    real(sp), contiguous, intent(in) :: mass(:, :)
    type(error_t), allocatable, intent(inout) :: error
    integer, parameter :: place(9) = [1, 4, 5, 4, 2, 6, 5, 6, 3]
    integer :: n
    call MoreDrags(self, point)
    if (allocated(self%more)) deallocate (self%more)
    allocate (self%more(3, 3, size(self%b, 3)), source=0.0_dp)
    do n = 1, size(point)
      self%more(:, :, self%drag(point(n))) = reshape(real(mass(place, n), dp), [3, 3])
    end do
  end subroutine added_mass

  ! --- source and receivers ---------------------------------------------------------------------------------------------------

  !> Fails on a point that has not the field.
  subroutine Check(self, entries, what, error)
    class(sem3d_fortran_t), intent(in) :: self
    type(entries_t), intent(in) :: entries
    character(*), intent(in) :: what
    type(error_t), allocatable, intent(inout) :: error
    integer :: m, low, high
    do m = 1, size(entries%w)
      if (entries%field(m) < 0 .or. entries%field(m) >= sem3d_fields) then
        call Fail(error, 'field '//Str(entries%field(m))//' of point '//Str(m)//' of the '//what//', must be 0..'// &
                  Str(sem3d_fields - 1))
        return
      end if
      low = merge(1, self%grid%solid_points + 1, entries%field(m) < field_chi_t)
      high = merge(self%grid%solid_points, self%grid%points, entries%field(m) < field_chi_t)
      if (entries%point(m) >= low .and. entries%point(m) <= high) cycle
      call Fail(error, 'point '//Str(m)//' of the '//what//' is '//Str(entries%point(m))//', which has no field '// &
                Str(entries%field(m))//': must be '//Str(low)//'..'//Str(high))
      return
    end do
  end subroutine Check

  subroutine source(self, nh, field, point, h, w, error)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: nh
    integer, contiguous, intent(in) :: field(:), point(:), h(:)
    real(sp), contiguous, intent(in) :: w(:)
    type(error_t), allocatable, intent(inout) :: error
    self%sources = entries_t(field, point, w)
    self%history = h
    self%nh = nh
    self%q = reshape([real(sp) ::], [nh, 0])
    self%silent = huge(1)
    call Check(self, self%sources, 'source', error)
  end subroutine source

  subroutine histories(self, first, q, error)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: first
    real(sp), contiguous, intent(in) :: q(:, :)
    type(error_t), allocatable, intent(inout) :: error
    if (size(q, 2) == 0) then
      self%silent = first
    else
      self%q = q
      self%q_first = first
    end if
  end subroutine histories

  subroutine receivers(self, start, field, point, w, error)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, contiguous, intent(in) :: start(:), field(:), point(:)
    real(sp), contiguous, intent(in) :: w(:)
    type(error_t), allocatable, intent(inout) :: error
    integer :: r
    self%sampled = entries_t(field, point, w)
    self%start = start
    self%part = [(0, r=1, size(start) - 1)]
    self%steps = 0
    deallocate (self%samples)
    allocate (self%samples(size(start) - 1, 0))
    call Check(self, self%sampled, 'receivers', error)
  end subroutine receivers

  subroutine receiver_part(self, part, error)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, contiguous, intent(in) :: part(:)
    type(error_t), allocatable, intent(inout) :: error
    self%part = part
  end subroutine receiver_part

  !> The value of a field at a point.
  pure real(sp) function At(self, field, point)
    class(sem3d_fortran_t), intent(in) :: self
    integer, intent(in) :: field, point
    select case (field)
    case (field_vx:field_vz)
      At = self%v(1 + field, point)
    case (field_ux:field_uz)
      At = self%u(1 + field - field_ux, point)
    case (field_chi_t)
      At = self%chi_t(point)
    case default
      At = self%chi(point)
    end select
  end function At

  !> The sum over entries first .. last.
  pure type(receiver_sum_t) function Total(self, entries, first, last)
    class(sem3d_fortran_t), intent(in) :: self
    type(entries_t), intent(in) :: entries
    integer, intent(in) :: first, last
    integer :: m
    do m = first, last
      call ReceiverAdd(Total, real(entries%w(m), dp)*At(self, entries%field(m), entries%point(m)))
    end do
  end function Total

  ! --- time -------------------------------------------------------------------------------------------------------------------

  subroutine timestep(self, first, n, error)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: first, n
    type(error_t), allocatable, intent(inout) :: error
    integer :: it
    call EngineRoom(self, self%steps + n)
    do it = first, first + n - 1
      call BeginStep(self, it, error)
      if (allocated(error)) return
      call Phase(self, it, phase_fluid)
      call Phase(self, it, phase_solid)
      call EndStep(self, it)
    end do

  contains

    subroutine Phase(self, it, which)
      class(sem3d_fortran_t), intent(inout) :: self
      integer, intent(in) :: it, which
      call ElementForces(self, which)
      call MovePoints(self, it, which)
    end subroutine Phase
  end subroutine timestep

  !> Fails where a step cannot come now.
  subroutine BeginStep(self, it, error)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: it
    type(error_t), allocatable, intent(inout) :: error
    if (.not. allocated(self%mass)) then
      call Fail(error, 'time stepping before the medium was set')
    else if (self%grid%mechanisms > 0 .and. self%mesh%solid > 0) then
      if (.not. allocated(self%relaxation(1)%z)) call Fail(error, 'time stepping before the attenuation was set')
    end if
    if (allocated(error)) return
    if (self%steps == 0) self%first = it
    call EngineRoom(self, self%steps + 1)
    if (self%nh > 0 .and. it < self%silent .and. (it < self%q_first .or. it >= self%q_first + size(self%q, 2))) &
      call Fail(error, 'step '//Str(it)//' needs histories of the sources, which are known for steps '//Str(self%q_first)// &
                '..'//Str(self%q_first + size(self%q, 2) - 1))
  end subroutine BeginStep

  !> Receivers and map.
  subroutine EndStep(self, it)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: it
    integer :: r
    do r = 1, size(self%part)
      self%samples(r, self%steps + 1) = ReceiverPart(Total(self, self%sampled, self%start(r), self%start(r + 1) - 1), &
                                                    self%part(r))
    end do
    if (allocated(self%watched%start) .and. it <= self%watched%last) call KeepLargest(self)
    self%steps = self%steps + 1
  end subroutine EndStep

  !> Of the elements of a phase, by the displacements and potentials as they are; of the fluid own(1, :, :). Not of those of other
  !> pieces.
  subroutine ElementForces(self, phase)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: phase
    integer :: e
    !$omp parallel do num_threads(ThreadsOf(self%grid%threads))
    do e = 1, self%mesh%n
      if (self%elsewhere(e) .or. (phase == phase_solid .neqv. e <= self%mesh%solid)) cycle
      associate (at => self%mesh%at(:, e), slope => self%slope(:, :, :, e), volume => self%volume(:, e), own => self%own(:, :, e))
        if (e <= self%mesh%solid) then
          associate (u => real(self%u(:, at), dp), lambda => real(self%mesh%lambda(:, e), dp), mu => real(self%mesh%mu(:, e), dp))
            if (TensorOf(self%mesh, e) > 0) then
              call SolidForce(u, slope, volume, lambda, mu, own, self%relaxation(e), &
                              AnisoMatrix(real(self%mesh%relative(:, self%mesh%tensor(e)), dp)))
            else
              call SolidForce(u, slope, volume, lambda, mu, own, self%relaxation(e))
            end if
          end associate
        else
          call FluidForce(real(self%chi(at), dp), slope, volume, real(self%mesh%rho(:, e), dp), own(1, :))
          own(2:, :) = 0
        end if
      end associate
    end do
    !$omp end parallel do
  end subroutine ElementForces

  !> All points of a phase take their step. The fluid first: its acceleration d2chi/dt2, which then stands in force(1, :), is what
  !> presses on the solid.
  subroutine MovePoints(self, it, phase)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: it, phase
    real(dp) :: before
    integer :: c, p, e, point, first, last
    first = merge(1, self%grid%solid_points + 1, phase == phase_solid)
    last = merge(self%grid%solid_points, self%grid%points, phase == phase_solid)
    self%force(:, first:last) = 0
    do e = 1, self%mesh%n
      if (phase == phase_solid .neqv. e <= self%mesh%solid) cycle
      do p = 1, in_element
        if (self%mesh%at(p, e) == 0) cycle
        associate (at => self%mesh%at(p, e))
          self%force(:, at) = self%force(:, at) + self%own(:, p, e)
        end associate
      end do
    end do
    if (phase == phase_fluid) call AtContacts()
    call AddSources(self, it, phase)
    if (phase == phase_solid) call AtContacts()
    do point = first, last
      if (phase == phase_solid) then
        call MoveSolid(self, point, self%force(:, point))
      else
        before = self%chi_t(point)
        call MoveFluid(self, point, self%force(1, point))
        self%force(1, point) = (self%chi_t(point) - before)/self%grid%dt
      end if
    end do

  contains

    !> The solid's normal displacement drives the fluid, whose pressure loads the solid.
    subroutine AtContacts()
      integer :: solid
      do c = 1, self%grid%contacts
        do p = 1, on_face
          point = self%mesh%at(hex_side_point(p, self%mesh%contact(2, c)), self%mesh%contact(1, c))
          solid = self%mesh%partner(p, c)
          if (point == 0) cycle
          associate (area => self%area(:, p, c), force => self%force)
            if (phase == phase_fluid) force(1, point) = force(1, point) + dot_product(area, real(self%u(:, solid), dp))
            if (phase == phase_solid) force(:, solid) = force(:, solid) - area*force(1, point)
          end associate
        end do
      end do
    end subroutine AtContacts
  end subroutine MovePoints

  !> Of a phase.
  subroutine AddSources(self, it, phase)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: it, phase
    integer :: m, c
    if (it >= self%silent) return
    do m = 1, size(self%sources%w)
      if (phase == phase_fluid .neqv. self%sources%field(m) == field_chi_t) cycle
      c = merge(1, 1 + self%sources%field(m), self%sources%field(m) == field_chi_t)
      associate (f => self%force(c, self%sources%point(m)))
        f = f + real(self%sources%w(m), dp)*self%q(self%history(m), it - self%q_first + 1)
      end associate
    end do
  end subroutine AddSources

  !> (M + A) (v+ - v-)/dt + B (v+ + v-)/2 = F, A: added mass.
  subroutine MoveSolid(self, point, force)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: point
    real(dp), intent(in) :: force(3)
    real(dp) :: v(3), a(3, 3), dt
    dt = self%grid%dt
    v = self%v(:, point) + dt/self%mass(point)*force
    if (self%drag(point) > 0) then
      associate (half => dt/(2*self%mass(point))*self%b(:, :, self%drag(point)))
        a = 0
        if (allocated(self%more)) a = self%more(:, :, self%drag(point))/self%mass(point)
        v = Solved(a + half, v + matmul(a - half, real(self%v(:, point), dp)))
      end associate
    end if
    self%v(:, point) = real(v, sp)
    self%u(:, point) = real(self%u(:, point) + dt*v, sp)
  end subroutine MoveSolid

  subroutine MoveFluid(self, point, force)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: point
    real(dp), intent(in) :: force
    real(dp) :: v, half, dt
    if (self%held(point)) return
    dt = self%grid%dt
    v = self%chi_t(point) + dt/self%mass(point)*force
    if (self%drag(point) > 0) then
      half = dt/(2*self%mass(point))*self%b(1, 1, self%drag(point))
      v = (v - half*self%chi_t(point))/(1 + half)
    end if
    self%chi_t(point) = real(v, sp)
    self%chi(point) = real(self%chi(point) + dt*v, sp)
  end subroutine MoveFluid

  !> x of (1 + a) x = y, a symmetric.
  pure function Solved(a, y) result(x)
    real(dp), intent(in) :: a(3, 3), y(3)
    real(dp) :: x(3), m(3, 3), c(3, 3)
    integer :: i
    m = a
    do i = 1, 3
      m(i, i) = m(i, i) + 1
    end do
    c(:, 1) = Cross(m(:, 2), m(:, 3))
    c(:, 2) = Cross(m(:, 3), m(:, 1))
    c(:, 3) = Cross(m(:, 1), m(:, 2))
    x = matmul(y, c)/dot_product(m(:, 1), c(:, 1))
  end function Solved

  pure function Cross(a, b) result(c)
    real(dp), intent(in) :: a(3), b(3)
    real(dp) :: c(3)
    c = [a(2)*b(3) - a(3)*b(2), a(3)*b(1) - a(1)*b(3), a(1)*b(2) - a(2)*b(1)]
  end function Cross

  ! --- pieces of a mesh -----------------------------------------------------------------------------------------------------

  subroutine ways(self, given, error)
    class(sem3d_fortran_t), intent(inout) :: self
    type(sem3d_ways_t), intent(in) :: given
    type(error_t), allocatable, intent(inout) :: error
    self%given = given
  end subroutine ways

  !> Forces of single elements travel, in double, and are added in the order of elements.
  subroutine ListWays(self)
    class(sem3d_fortran_t), intent(inout) :: self
    logical :: wanted(self%mesh%points)
    integer :: w, b
    if (allocated(self%gives)) deallocate (self%gives, self%takes)
    allocate (self%gives(0:1, self%given%n), self%takes(0:1, self%given%n))
    self%elsewhere = self%mesh%at(1, :) < 0              ! no element
    if (self%given%n == 0) return
    do b = 1, size(self%given%way)
      self%elsewhere(self%mesh%brick(b):self%mesh%brick(b + 1) - 1) = self%given%way(b) > 0
    end do
    associate (given => self%given, mesh => self%mesh)
      do w = 1, given%n
        wanted = .false.
        wanted(given%point(given%start(w):given%start(w + 1) - 1)) = .true.
        do b = 1, size(given%way)
          if (given%way(b) == 0) call Add(mesh, self%gives(:, w), b, wanted)
          if (given%way(b) == w) call Add(mesh, self%takes(:, w), b)
        end do
      end do
    end associate

  contains

    !> The points of a brick, all that are here or those wanted.
    subroutine Add(mesh, slots, b, wanted)
      type(elements_t), intent(in) :: mesh
      type(slots_t), intent(inout) :: slots(0:)
      integer, intent(in) :: b
      logical, intent(in), optional :: wanted(:)
      logical :: here(in_element)
      integer :: e, p
      do e = mesh%brick(b), mesh%brick(b + 1) - 1
        here = mesh%at(:, e) > 0
        if (present(wanted)) here = wanted(mesh%at(:, e))
        associate (s => slots(merge(phase_solid, phase_fluid, e <= mesh%solid)))
          if (.not. allocated(s%p)) allocate (s%element(0), s%p(0))
          s%element = [s%element, spread(e, 1, count(here))]
          s%p = [s%p, pack([(p, p=1, in_element)], here)]
        end associate
      end do
    end subroutine Add
  end subroutine ListWays

  pure integer function Numbers(slots)
    type(slots_t), intent(in) :: slots
    Numbers = 0
    if (allocated(slots%p)) Numbers = per_slot*size(slots%p)
  end function Numbers

  subroutine way_size(self, phase, way, out, in, error)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: phase, way
    integer, intent(out) :: out, in
    type(error_t), allocatable, intent(inout) :: error
    out = Numbers(self%gives(phase, way))
    in = Numbers(self%takes(phase, way))
  end subroutine way_size

  subroutine step_part(self, it, phase, which, error)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: it, phase, which
    type(error_t), allocatable, intent(inout) :: error
    if (phase == phase_fluid .and. which == part_rim) call BeginStep(self, it, error)
    if (allocated(error)) return
    if (which == part_rim) call ElementForces(self, phase)
    if (which == part_shared) call MovePoints(self, it, phase)
    if (which == part_shared .and. phase == phase_solid) call EndStep(self, it)
  end subroutine step_part

  !> The bits of a double are two floats.
  subroutine give_slots(self, phase, way, out, error)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: phase, way
    real(sp), contiguous, intent(inout) :: out(:)
    type(error_t), allocatable, intent(inout) :: error
    integer :: m
    associate (s => self%gives(phase, way))
      do m = 1, Numbers(s)/per_slot
        out(per_slot*(m - 1) + 1:per_slot*m) = transfer(self%own(:, s%p(m), s%element(m)), out, per_slot)
      end do
    end associate
  end subroutine give_slots

  subroutine take_slots(self, phase, way, in, error)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: phase, way
    real(sp), contiguous, intent(in) :: in(:)
    type(error_t), allocatable, intent(inout) :: error
    integer :: m
    associate (s => self%takes(phase, way))
      do m = 1, Numbers(s)/per_slot
        self%own(:, s%p(m), s%element(m)) = transfer(in(per_slot*(m - 1) + 1:per_slot*m), self%own, 3)
      end do
    end associate
  end subroutine take_slots

  !> Messages do not advance while this computes.
  subroutine between(self, procedure, error)
    class(sem3d_fortran_t), intent(inout) :: self
    type(c_funptr), intent(in) :: procedure
    type(error_t), allocatable, intent(inout) :: error
  end subroutine between

  ! --- fields -----------------------------------------------------------------------------------------------------------------

  subroutine field(self, which, out, error)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: which
    real(sp), contiguous, intent(out) :: out(:)
    type(error_t), allocatable, intent(inout) :: error
    integer :: p
    do p = 1, size(out)
      out(p) = At(self, which, p + merge(0, self%grid%solid_points, which < field_chi_t))
    end do
  end subroutine field

  subroutine set_field(self, which, in, error)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: which
    real(sp), contiguous, intent(in) :: in(:)
    type(error_t), allocatable, intent(inout) :: error
    if (which <= field_vz) self%v(1 + which, :) = in
    if (which >= field_ux .and. which <= field_uz) self%u(1 + which - field_ux, :) = in
    if (which == field_chi_t) self%chi_t(:) = merge(0.0_sp, in, self%held(size(self%held) - size(in) + 1:))
    if (which == field_chi) self%chi(:) = merge(0.0_sp, in, self%held(size(self%held) - size(in) + 1:))
    self%steps = 0
  end subroutine set_field

  subroutine expect(self, steps, error)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: steps
    type(error_t), allocatable, intent(inout) :: error
    call EngineRoom(self, steps)
  end subroutine expect

  subroutine watch(self, map, error)
    class(sem3d_fortran_t), intent(inout) :: self
    type(sem3d_map_t), intent(in) :: map
    type(error_t), allocatable, intent(inout) :: error
    integer :: points
    points = 0
    self%watched = map
    if (allocated(map%start)) then
      call Check(self, entries_t(map%field, map%point, map%w), 'map', error)
      if (allocated(error)) return
      points = size(map%start)/3
    end if
    deallocate (self%peaks)
    allocate (self%peaks(points, 3), source=0.0_sp)
  end subroutine watch

  subroutine KeepLargest(self)
    class(sem3d_fortran_t), intent(inout) :: self
    type(entries_t) :: entries
    real(sp) :: v(3)
    integer :: p, c, m
    entries = entries_t(self%watched%field, self%watched%point, self%watched%w)
    do p = 1, size(self%peaks, 1)
      do c = 1, 3
        m = 3*(p - 1) + c
        v(c) = ReceiverPart(Total(self, entries, self%watched%start(m), self%watched%start(m + 1) - 1), 0)
      end do
      self%peaks(p, :) = max(self%peaks(p, :), [norm2(v(:2)), abs(v(3)), norm2(v)])
    end do
  end subroutine KeepLargest

  subroutine map(self, out, error)
    class(sem3d_fortran_t), intent(inout) :: self
    real(sp), contiguous, intent(out) :: out(:, :)
    type(error_t), allocatable, intent(inout) :: error
    if (.not. allocated(self%watched%start)) then
      call Fail(error, 'map of ground velocity asked for, but no point was watched')
    else
      out = self%peaks
    end if
  end subroutine map

  subroutine maxabs(self, value, place, error)
    class(sem3d_fortran_t), intent(inout) :: self
    real(sp), intent(out) :: value
    integer, intent(out) :: place(3)
    type(error_t), allocatable, intent(inout) :: error
    real(sp) :: here
    integer :: p
    value = 0
    place = 1
    do p = 1, self%grid%points
      if (p <= self%grid%solid_points) then
        here = maxval(abs(self%v(:, p)))
        if (.not. all(ieee_is_finite(self%v(:, p)))) here = ieee_value(value, ieee_positive_inf)
      else
        here = real(self%loudness*abs(self%chi_t(p)), sp)
        if (.not. ieee_is_finite(self%chi_t(p))) here = ieee_value(value, ieee_positive_inf)
      end if
      if (here <= value) cycle
      value = here
      place(1) = p
    end do
  end subroutine maxabs

  subroutine reset(self, error)
    class(sem3d_fortran_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    integer :: e
    self%v = 0
    self%u = 0
    self%chi_t(:) = 0
    self%chi(:) = 0
    self%peaks = 0
    do e = 1, size(self%relaxation)
      if (allocated(self%relaxation(e)%z)) self%relaxation(e)%z = 0
    end do
    self%steps = 0
    self%q = reshape([real(sp) ::], [self%nh, 0])
    self%silent = huge(1)
  end subroutine reset

  ! --- state ------------------------------------------------------------------------------------------------------------------

  integer(i8) function state_size(self, steps)
    class(sem3d_fortran_t), intent(in) :: self
    integer, intent(in) :: steps
    integer :: e
    state_size = int(steps, i8)*size(self%samples, 1) + size(self%peaks) + 2*size(self%v, kind=i8) + 2*size(self%chi, kind=i8)
    do e = 1, size(self%relaxation)
      if (allocated(self%relaxation(e)%z)) state_size = state_size + size(self%relaxation(e)%z, kind=i8)
    end do
  end function state_size

  subroutine save_state(self, state, error)
    class(sem3d_fortran_t), intent(inout) :: self
    real(sp), contiguous, intent(out) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    call MoveState(self, self%steps, size(state, kind=i8), error, out=state)
  end subroutine save_state

  subroutine load(self, steps, state, error)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: steps
    real(sp), contiguous, intent(in) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    self%first = 1
    self%steps = 0
    call EngineRoom(self, steps)
    call MoveState(self, steps, size(state, kind=i8), error, in=state)
    if (.not. allocated(error)) self%steps = steps
  end subroutine load

  !> All that later steps depend on, and the samples so far.
  subroutine MoveState(self, steps, numbers, error, out, in)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: steps
    integer(i8), intent(in) :: numbers
    type(error_t), allocatable, intent(inout) :: error
    real(sp), intent(inout), optional :: out(:)
    real(sp), intent(in), optional :: in(:)
    integer(i8) :: at
    integer :: e
    call EngineState(self, steps, numbers, error)
    if (allocated(error)) return
    at = 0
    call EngineNumbers(self%v, size(self%v, kind=i8), at, out, in)
    call EngineNumbers(self%u, size(self%u, kind=i8), at, out, in)
    call EngineNumbers(self%chi_t, size(self%chi_t, kind=i8), at, out, in)
    call EngineNumbers(self%chi, size(self%chi, kind=i8), at, out, in)
    do e = 1, size(self%relaxation)
      if (allocated(self%relaxation(e)%z)) &
        call EngineNumbers(self%relaxation(e)%z, size(self%relaxation(e)%z, kind=i8), at, out, in)
    end do
    call EngineNumbers(self%peaks, size(self%peaks, kind=i8), at, out, in)
    call EngineNumbers(self%samples, int(steps, i8)*size(self%samples, 1), at, out, in)
  end subroutine MoveState

  ! --- for the record ---------------------------------------------------------------------------------------------------------

  integer(i8) function bytes(self)
    class(sem3d_fortran_t), intent(in) :: self
    bytes = 0
    if (.not. allocated(self%slope)) return
    bytes = 8*(size(self%slope, kind=i8) + size(self%volume, kind=i8) + 6*size(self%mass, kind=i8)) &
            + 4*(self%state_size(0) + size(self%samples, kind=i8) + size(self%mesh%at, kind=i8))
  end function bytes

  function device(self) result(text)
    class(sem3d_fortran_t), intent(in) :: self
    character(:), allocatable :: text
    text = 'plain Fortran, '//Str(ThreadsOf(self%grid%threads))//' threads'
  end function device

end module sem3d_fortran_m
