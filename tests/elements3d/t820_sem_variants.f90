!> All variants and instruction sets of the solver of spectral elements agree: traces and fields of random distorted meshes with
!> sources, receivers, free and absorbing sides, contacts of fluid and solid, media by element and by point, attenuation, and a map.
program t820_sem_variants
  use, intrinsic :: iso_c_binding, only: c_null_char
  use check_m, only: Claim, Done, Seed
  use elements_m, only: elements_t, face_absorbs, face_free, in_element, in_memory
  use error_m, only: error_t
  use kinds_m, only: dp, sp
  use sem3d_c, only: sem3d_tune
  use sem3d_engine_m, only: field_chi_t, field_vx, sem3d_engine_t, sem3d_fields, sem3d_map_t
  use semcase_m, only: periodic, semcase_t, SemBox, SemEngine, SemFine, SemRelative
  use text_m, only: Str
  implicit none

  integer, parameter :: steps = 60
  character(7), parameter :: isas(3) = ['generic', 'avx2   ', 'avx512 ']
  real(dp), parameter :: bound = 1e-5_dp

  call Seed(820)
  call Agree('box', semcase_t())
  call Agree('distorted, media by element', semcase_t(n=[3, 5, 4], shake=0.2_dp, turn=.true., vary=0.2_dp))
  call Agree('sides absorb, media by point', semcase_t(n=[5, 3, 3], shake=0.2_dp, turn=.true., vary=0.2_dp, media=125, &
                                                       side=[2, 2, 2, 2, 1, 2]))
  call Agree('affine, media by point', semcase_t(n=3, vary=0.2_dp, media=125, side=[2, 2, 2, 2, 1, 2]))
  call Agree('27 nodes', semcase_t(n=3, shake=0.1_dp, turn=.true., per=27, side=face_absorbs))
  call Agree('fluid', semcase_t(n=3, shake=0.2_dp, turn=.true., water=3, vary=0.2_dp, side=[2, 2, 1, 2, 1, 2]))
  call Agree('fluid, affine, media by point', semcase_t(n=[3, 2, 4], water=4, media=125, vary=0.2_dp, side=face_absorbs))
  call Agree('fluid over solid', semcase_t(n=[3, 4, 5], shake=0.2_dp, turn=.true., water=2, vary=0.2_dp, &
                                           side=[2, 2, 2, 2, 1, 2]))
  call Agree('fluid over solid, 27 nodes', semcase_t(n=[3, 3, 4], shake=0.1_dp, turn=.true., water=2, per=27, media=125, &
                                                     vary=0.1_dp))
  call Agree('fluid over solid, affine', semcase_t(n=[3, 3, 4], water=1, turn=.true., side=[2, 1, 1, 2, 1, 2]))
  call Agree('periodic', semcase_t(n=[3, 4, 3], shake=0.2_dp, turn=.true., water=1, &
                                   side=[periodic, periodic, periodic, periodic, face_free, face_absorbs]))
  call Agree('attenuation', semcase_t(n=3, shake=0.2_dp, turn=.true., vary=0.2_dp, side=face_absorbs), 3)
  call Agree('attenuation by point', semcase_t(n=3, shake=0.2_dp, turn=.true., vary=0.2_dp, media=125, water=1), 2)
  call Agree('attenuation, affine', semcase_t(n=[3, 2, 2], vary=0.2_dp), 3)
  call Agree('attenuation, affine, by point', semcase_t(n=[3, 2, 2], vary=0.2_dp, media=125), 8)
  call Agree('attenuation, 27 nodes', semcase_t(n=[2, 3, 2], per=27, vary=0.2_dp), 1)
  call Agree('attenuation at 57 points', semcase_t(n=3, shake=0.2_dp, turn=.true., vary=0.2_dp, side=face_absorbs), 3, in_memory)
  call Agree('attenuation at 57 points, affine, by point', semcase_t(n=[3, 2, 2], vary=0.2_dp, media=125), 2, in_memory)
  call Agree('attenuation at 57 points, 27 nodes', semcase_t(n=[2, 3, 2], per=27, vary=0.2_dp), 3, in_memory)
  call Done()

contains

  subroutine Agree(what, c, mechanisms, memory)
    character(*), intent(in) :: what
    type(semcase_t), intent(in) :: c
    integer, intent(in), optional :: mechanisms, memory   !< of attenuation, points of an element that have its variables
    type(elements_t) :: mesh
    real(sp), allocatable :: reference(:), all(:), shares(:, :, :, :)
    real(dp) :: worst
    integer :: i, there, relaxing
    call SemBox(c, mesh)
    i = 0
    if (present(mechanisms)) i = mechanisms
    relaxing = in_element
    if (present(memory)) relaxing = memory
    allocate (shares(i, c%media, mesh%solid, 2))
    call random_number(shares)
    call Run('fortran', '', mesh, 0.1*shares, relaxing, reference)
    worst = 0
    there = 0
    do i = 1, size(isas)
      call Run('cpu', trim(isas(i)), mesh, 0.1*shares, relaxing, all)
      if (size(all) == 0) cycle
      there = there + 1
      worst = max(worst, SemRelative(all, reference))
    end do
    call Claim(worst <= bound .and. there > 0 .and. maxval(abs(reference)) > 0, what//': '//Str(there)// &
               ' instruction sets of cpu differ from fortran by '//Str(worst)//' at most, bound '//Str(bound))
  end subroutine Agree

  !> Traces, fields and map, each scaled by its largest number; nothing where the instruction set is not there.
  subroutine Run(variant, isa, mesh, shares, relaxing, all)
    character(*), intent(in) :: variant, isa
    type(elements_t), intent(in) :: mesh
    real(sp), intent(in) :: shares(:, :, :, :)            !< (mechanisms, media, solid, 2): of the bulk modulus, of mu
    integer, intent(in) :: relaxing
    real(sp), allocatable, intent(out) :: all(:)
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    type(sem3d_map_t) :: map
    real(sp), allocatable :: traces(:, :), peaks(:, :), field(:)
    real(sp) :: value, q(2, steps)
    integer :: which, it, place(3), receivers, n
    if (size(shares) == 0) call SemEngine(variant, mesh, 4e-3_dp, 1, engine)
    if (size(shares) > 0) call SemEngine(variant, mesh, 4e-3_dp, 1, engine, [(0.01*2.0**n, n=1, size(shares, 1))], &
                                         shares(:, :, :, 1), shares(:, :, :, 2), relaxing)
    allocate (all(0))
    if (isa /= '') then
      if (sem3d_tune(engine%handle, isa//c_null_char) /= 0) return
    end if
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
  end subroutine Run

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

end program t820_sem_variants
