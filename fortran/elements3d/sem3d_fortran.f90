!> Variant `fortran`: spectral elements as plainly as they can be written, the reference that every other variant is measured
!> against. interfaces/sem3d_c.f90 tells the equations and the order of a step. Fields are single, all else is double. Forces of
!> elements are made side by side, and added one element after the other.
module sem3d_fortran_m
  use, intrinsic :: ieee_arithmetic, only: ieee_is_finite, ieee_positive_inf, ieee_value
  use elements_m, only: elements_t
  use engine_m, only: EngineNumbers, EngineRoom, EngineState
  use error_m, only: error_t, Fail
  use iso_c_binding, only: c_funptr
  use kinds_m, only: dp, i8, sp
  use sem3d_element_m, only: relaxation_t
  use sem3d_engine_m, only: sem3d_engine_t, sem3d_grid_t, sem3d_map_t, sem3d_ways_t
  use text_m, only: Str
  use threads_m, only: ThreadsOf
  implicit none
  private
  public :: sem3d_fortran_t

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
    procedure :: field, set_field, watch, map, maxabs, reset
    procedure :: state_size, save => save_state, load, bytes, device
    procedure :: peak => maxabs
  end type sem3d_fortran_t

  interface
    ! --- sem3d_fortran_medium.f90

    module subroutine elements(self, mesh, error)
      class(sem3d_fortran_t), intent(inout) :: self
      type(elements_t), intent(in) :: mesh
      type(error_t), allocatable, intent(inout) :: error
    end subroutine elements

    module subroutine quality(self, tau, bulk, shear, error)
      class(sem3d_fortran_t), intent(inout) :: self
      real(sp), contiguous, intent(in) :: tau(:)
      real(sp), contiguous, intent(in) :: bulk(:, :, :), shear(:, :, :)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine quality

    !> Adds rate M to the drags.
    module subroutine damping(self, rate, error)
      class(sem3d_fortran_t), intent(inout) :: self
      real(sp), contiguous, intent(in) :: rate(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine damping

    module subroutine added_mass(self, point, mass, error)
      class(sem3d_fortran_t), intent(inout) :: self
      integer, contiguous, intent(in) :: point(:)
      real(sp), contiguous, intent(in) :: mass(:, :)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine added_mass

    ! --- sem3d_fortran_points.f90

    module subroutine source(self, nh, field, point, h, w, error)
      class(sem3d_fortran_t), intent(inout) :: self
      integer, intent(in) :: nh
      integer, contiguous, intent(in) :: field(:), point(:), h(:)
      real(sp), contiguous, intent(in) :: w(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine source

    module subroutine histories(self, first, q, error)
      class(sem3d_fortran_t), intent(inout) :: self
      integer, intent(in) :: first
      real(sp), contiguous, intent(in) :: q(:, :)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine histories

    module subroutine receivers(self, start, field, point, w, error)
      class(sem3d_fortran_t), intent(inout) :: self
      integer, contiguous, intent(in) :: start(:), field(:), point(:)
      real(sp), contiguous, intent(in) :: w(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine receivers

    module subroutine receiver_part(self, part, error)
      class(sem3d_fortran_t), intent(inout) :: self
      integer, contiguous, intent(in) :: part(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine receiver_part

    !> Receivers and map.
    module subroutine EndStep(self, it)
      class(sem3d_fortran_t), intent(inout) :: self
      integer, intent(in) :: it
    end subroutine EndStep

    !> Of a phase.
    module subroutine AddSources(self, it, phase)
      class(sem3d_fortran_t), intent(inout) :: self
      integer, intent(in) :: it, phase
    end subroutine AddSources

    module subroutine field(self, which, out, error)
      class(sem3d_fortran_t), intent(inout) :: self
      integer, intent(in) :: which
      real(sp), contiguous, intent(out) :: out(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine field

    module subroutine set_field(self, which, in, error)
      class(sem3d_fortran_t), intent(inout) :: self
      integer, intent(in) :: which
      real(sp), contiguous, intent(in) :: in(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine set_field

    module subroutine watch(self, map, error)
      class(sem3d_fortran_t), intent(inout) :: self
      type(sem3d_map_t), intent(in) :: map
      type(error_t), allocatable, intent(inout) :: error
    end subroutine watch

    module subroutine map(self, out, error)
      class(sem3d_fortran_t), intent(inout) :: self
      real(sp), contiguous, intent(out) :: out(:, :)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine map

    !> No source, no receivers, no map.
    module subroutine Forget(self, error)
      class(sem3d_fortran_t), intent(inout) :: self
      type(error_t), allocatable, intent(inout) :: error
    end subroutine Forget

    ! --- sem3d_fortran_step.f90

    module subroutine timestep(self, first, n, error)
      class(sem3d_fortran_t), intent(inout) :: self
      integer, intent(in) :: first, n
      type(error_t), allocatable, intent(inout) :: error
    end subroutine timestep

    module subroutine step_part(self, it, phase, which, error)
      class(sem3d_fortran_t), intent(inout) :: self
      integer, intent(in) :: it, phase, which
      type(error_t), allocatable, intent(inout) :: error
    end subroutine step_part

    ! --- sem3d_fortran_ways.f90

    module subroutine ways(self, given, error)
      class(sem3d_fortran_t), intent(inout) :: self
      type(sem3d_ways_t), intent(in) :: given
      type(error_t), allocatable, intent(inout) :: error
    end subroutine ways

    !> Forces of single elements travel, in double, and are added in the order of elements.
    module subroutine ListWays(self)
      class(sem3d_fortran_t), intent(inout) :: self
    end subroutine ListWays

    module subroutine way_size(self, phase, way, out, in, error)
      class(sem3d_fortran_t), intent(inout) :: self
      integer, intent(in) :: phase, way
      integer, intent(out) :: out, in
      type(error_t), allocatable, intent(inout) :: error
    end subroutine way_size

    !> The bits of a double are two floats.
    module subroutine give_slots(self, phase, way, out, error)
      class(sem3d_fortran_t), intent(inout) :: self
      integer, intent(in) :: phase, way
      real(sp), contiguous, intent(inout) :: out(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine give_slots

    module subroutine take_slots(self, phase, way, in, error)
      class(sem3d_fortran_t), intent(inout) :: self
      integer, intent(in) :: phase, way
      real(sp), contiguous, intent(in) :: in(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine take_slots

    !> Messages do not advance while this computes.
    module subroutine between(self, procedure, error)
      class(sem3d_fortran_t), intent(inout) :: self
      type(c_funptr), intent(in) :: procedure
      type(error_t), allocatable, intent(inout) :: error
    end subroutine between
  end interface

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

  ! --- fields -----------------------------------------------------------------------------------------------------------------

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
