!> Runs of the time loop of spectral elements for tests that compare variants: sources and receivers of all fields, a map, and what
!> comes of it, in numbers near 1.
module semrun_m
  use, intrinsic :: iso_c_binding, only: c_null_char
  use elements_m, only: elements_t
  use error_m, only: error_t
  use kinds_m, only: dp, sp
  use sem3d_c, only: sem3d_tune
  use sem3d_engine_m, only: field_chi_t, field_vx, sem3d_engine_t, sem3d_fields, sem3d_map_t
  use semcase_m, only: SemEngine, SemFine
  implicit none
  private
  public :: SemRun

contains

  !> Traces, fields and map, each scaled by its largest number; nothing where the instruction set is not there.
  subroutine SemRun(variant, isa, mesh, shares, steps, all, relaxing, sum, rate)
    character(*), intent(in) :: variant, isa
    type(elements_t), intent(in) :: mesh
    real(sp), intent(in) :: shares(:, :, :, :)            !< (mechanisms, media, solid, 2): of the bulk modulus, of mu
    integer, intent(in) :: steps
    real(sp), allocatable, intent(out) :: all(:)
    integer, intent(in), optional :: relaxing             !< points of an element that have memory variables
    integer, intent(in), optional :: sum                  !< as in sem3d_grid_t
    real(sp), intent(in), optional :: rate(:)             !< damping of each point [1/s]
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    type(sem3d_map_t) :: map
    real(sp), allocatable :: traces(:, :), peaks(:, :), field(:)
    real(sp) :: value, q(2, steps)
    integer :: which, it, place(3), receivers, n
    if (size(shares) == 0) call SemEngine(variant, mesh, 4e-3_dp, 1, engine, sum=sum)
    if (size(shares) > 0) call SemEngine(variant, mesh, 4e-3_dp, 1, engine, [(0.01*2.0**n, n=1, size(shares, 1))], &
                                         shares(:, :, :, 1), shares(:, :, :, 2), relaxing, sum)
    allocate (all(0))
    if (isa /= '') then
      if (sem3d_tune(engine%handle, isa//c_null_char) /= 0) return
    end if
    if (present(rate)) call engine%damping(rate, error)
    call SemFine(error, 'damping')
    call Points(mesh, engine, receivers)
    do it = 1, steps
      q(:, it) = exp(-((it - 15)/6.0)**2)*[1.0, -0.3]
    end do
    call engine%histories(1, q, error)
    call AsMap(mesh, map)
    call engine%watch(map, error)
    call engine%timestep(1, steps/2, error)
    call engine%timestep(1 + steps/2, steps - steps/2, error)
    allocate (traces(steps, receivers), peaks(size(map%start)/3, 3))
    call engine%traces(1, traces, error)
    call engine%map(peaks, error)
    call engine%maxabs(value, place, error)
    all = [Scaled(reshape(peaks, [size(peaks)])), value/maxval(peaks)]
    do n = 1, receivers
      all = [all, Scaled(traces(:, n))]
    end do
    do which = 0, sem3d_fields - 1
      n = merge(mesh%solid_points, mesh%points - mesh%solid_points, which < field_chi_t)
      if (n == 0) cycle
      allocate (field(n))
      call engine%field(which, field, error)
      all = [all, Scaled(field)]
      deallocate (field)
    end do
    call SemFine(error, 'run')
    call engine%free()
  end subroutine SemRun

  function Scaled(a) result(b)
    real(sp), intent(in) :: a(:)
    real(sp) :: b(size(a))
    b = a/max(maxval(abs(a)), tiny(1.0_sp))
  end function Scaled

  !> Forces and volumes at some points, with a source that two histories drive; receivers of all fields.
  subroutine Points(mesh, engine, receivers)
    type(elements_t), intent(in) :: mesh
    class(sem3d_engine_t), intent(inout) :: engine
    integer, intent(out) :: receivers
    type(error_t), allocatable :: error
    integer, allocatable :: field(:), point(:), start(:), h(:)
    real(sp), allocatable :: w(:)
    integer :: f, m
    allocate (field(0), point(0), h(0), w(0))
    do f = field_vx, field_chi_t
      if (f > 2 .and. f < field_chi_t) cycle
      if (merge(mesh%solid, mesh%n - mesh%solid, f < field_chi_t) == 0) cycle
      do m = 1, 6
        field = [field, f]
        point = [point, mesh%at(17*m + f, merge(1, mesh%n, f < field_chi_t))]
        h = [h, 1 + modulo(m + f, 2)]
        w = [w, merge(1e9, -1e2, f < field_chi_t)*real(m)]
      end do
    end do
    call engine%source(2, field, point, h, w, error)
    call SemFine(error, 'source')
    deallocate (field, point, w)
    allocate (field(0), point(0), w(0))
    start = [1]
    do f = 0, sem3d_fields - 1
      if (merge(mesh%solid, mesh%n - mesh%solid, f < field_chi_t) == 0) cycle
      do m = 1, 4
        field = [field, f]
        point = [point, mesh%at(31*m - f, merge(min(mesh%solid, 2), mesh%solid + 1, f < field_chi_t))]
        w = [w, 0.5 - 0.1*m]
      end do
      start = [start, 1 + size(w)]
    end do
    call engine%receivers(start, field, point, w, error)
    call SemFine(error, 'receivers')
    receivers = size(start) - 1
  end subroutine Points

  !> All components at points of the first element.
  subroutine AsMap(mesh, map)
    type(elements_t), intent(in) :: mesh
    type(sem3d_map_t), intent(out) :: map
    integer :: m
    allocate (map%start(61), map%field(60), map%point(60), map%w(60))
    do m = 1, 60
      map%field(m) = merge(modulo(m, 3), field_chi_t, mesh%solid > 0)
      map%point(m) = mesh%at(2*m, 1)
      map%w(m) = 1 + 0.1*modulo(m, 3)
    end do
    map%start = [(m, m=1, 61)]
  end subroutine AsMap

end module semrun_m
