!> The same run of spectral elements in several ways: cut into chunks, by other threads, gone on from a state in another engine; no
!> bit may differ.
module semsame_m
  use, intrinsic :: iso_c_binding, only: c_null_char
  use check_m, only: Claim
  use elements_m, only: elements_t, in_element
  use error_m, only: error_t
  use kinds_m, only: dp, sp
  use sem3d_c, only: sem3d_tune
  use sem3d_engine_m, only: field_chi_t, field_vz, sem3d_engine_t, sem3d_fields, sem3d_map_t
  use semcase_m, only: SemEngine, SemFine
  use text_m, only: Str
  implicit none
  private
  public :: how_t, SemSame

  type :: how_t
    character(7) :: variant = 'cpu', isa = ''
    integer :: sum = 0                                    !< as in sem3d_grid_t
    integer :: threads = 1, chunk = 24, varied = 0        !< other threads for each chunk, up to so many
    integer :: saved = 0                                  !< after so many steps the state goes to another engine,
    integer :: resident(2) = 0                            !< what stays on the GPU, as in sem3d_grid_t: before that, after
    real(dp) :: room = 0                                  !< likewise
    integer :: relaxing = in_element                      !< points of an element that have memory variables
  end type how_t
  integer, parameter :: steps = 24

contains

  subroutine SemSame(mesh, what, how)
    type(elements_t), intent(in) :: mesh
    character(*), intent(in) :: what
    type(how_t), intent(in) :: how(:)
    real(sp), allocatable :: first(:), all(:)
    integer :: n, differ
    call Run(mesh, how(1), first)
    differ = 0
    do n = 2, size(how)
      call Run(mesh, how(n), all)
      differ = differ + count(transfer(all, [0]) /= transfer(first, [0]))
    end do
    call Claim(differ == 0 .and. maxval(abs(first)) > 0, what//': '//Str(differ)//' of '//Str(size(first))//' numbers differ')
  end subroutine SemSame

  !> Traces, map and fields.
  subroutine Run(mesh, how, all)
    type(elements_t), intent(in) :: mesh
    type(how_t), intent(in) :: how
    real(sp), allocatable, intent(out) :: all(:)
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    real(sp), allocatable :: state(:), traces(:, :), peaks(:, :), field(:)
    integer :: it, n, which
    call Make(mesh, how, how%resident(1), engine)
    it = 1
    do while (it <= steps)
      n = min(how%chunk, steps + 1 - it)
      if (it <= how%saved) n = min(n, how%saved + 1 - it)
      if (how%varied > 0) call engine%threads(1 + modulo(7*it, how%varied), error)
      call engine%timestep(it, n, error)
      it = it + n
      if (it /= how%saved + 1) cycle
      allocate (state(engine%state_size(how%saved)))
      call engine%save(state, error)
      call engine%free()
      deallocate (engine)
      call Make(mesh, how, how%resident(2), engine)
      call engine%load(how%saved, state, error)
      call Drive(engine, it)
    end do
    allocate (traces(steps, 3), peaks(10, 3))
    call engine%traces(1, traces, error)
    call engine%map(peaks, error)
    all = [reshape(traces, [size(traces)]), reshape(peaks, [size(peaks)])]
    do which = 0, sem3d_fields - 1
      allocate (field(merge(mesh%solid_points, mesh%points - mesh%solid_points, which < field_chi_t)))
      call engine%field(which, field, error)
      all = [all, field]
      deallocate (field)
    end do
    call SemFine(error, 'run')
    call engine%free()
  end subroutine Run

  !> An engine with a force in the solid, a volume in the fluid, and receivers of both; in fluid alone with volumes and its receivers.
  subroutine Make(mesh, how, resident, engine)
    type(elements_t), intent(in) :: mesh
    type(how_t), intent(in) :: how
    integer, intent(in) :: resident
    class(sem3d_engine_t), allocatable, intent(out) :: engine
    type(error_t), allocatable :: error
    type(sem3d_map_t) :: map
    integer :: m, fluid, driven(4), sampled(6)
    real(sp) :: share(2, 1, mesh%solid)
    share = 0.1
    call SemEngine(trim(how%variant), mesh, 4e-3_dp, how%threads, engine, [0.02, 0.2], share, share, how%relaxing, &
                   how%sum, resident, how%room)
    if (how%isa /= '') m = sem3d_tune(engine%handle, trim(how%isa)//c_null_char)
    fluid = mesh%solid + 1
    driven = [0, 2, 6, 6]
    sampled = [0, 2, 3, 5, 6, 7]
    if (mesh%solid == 0) driven = 6
    if (mesh%solid == 0) sampled(:4) = [6, 7, 7, 6]
    call engine%source(2, driven, [mesh%at([1, 60], 1), mesh%at([125, 63], fluid)], [1, 2, 1, 2], &
                       [1e9, -2e9, 100.0, 50.0], error)
    call engine%receivers([1, 3, 5, 7], sampled, [mesh%at([1, 7, 30, 60], 1), mesh%at([3, 50], fluid)], &
                          [1.0, -0.5, 0.2, 3.0, 1.0, 1.0], error)
    allocate (map%start(31), map%field(30), map%point(30), map%w(30))
    map%start = [(m, m=1, 31)]
    map%field = [(modulo(m - 1, field_vz + 1), m=1, 30)]
    if (mesh%solid == 0) map%field = field_chi_t
    map%point = mesh%at(1:120:4, 1)
    map%w = 1
    map%last = steps - 3
    call engine%watch(map, error)
    call SemFine(error, 'source and receivers')
    call Drive(engine, 1)
  end subroutine Make

  !> Histories from a step on.
  subroutine Drive(engine, first)
    class(sem3d_engine_t), intent(inout) :: engine
    integer, intent(in) :: first
    type(error_t), allocatable :: error
    real(sp) :: q(2, first:steps)
    integer :: it
    do it = first, steps
      q(:, it) = [sin(0.3*it), cos(0.2*it)]
    end do
    call engine%histories(first, q, error)
    call SemFine(error, 'histories')
  end subroutine Drive

end module semsame_m
