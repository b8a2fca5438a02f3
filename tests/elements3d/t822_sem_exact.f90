!> Spectral elements against exact solutions in boxes: a box that is moved as a whole feels no force; nor does one that is strained
!> evenly, save at its sides; the vibrations of a free block of rock (Lame's modes) and of water with a free surface all around,
!> their order in the size of elements and in the time step, on distorted meshes.
program t822_sem_exact
  use check_m, only: Claim, Done, Seed
  use elements_m, only: elements_t
  use error_m, only: error_t
  use kinds_m, only: dp, sp
  use sem3d_engine_m, only: field_chi, field_chi_t, field_ux, field_vx, sem3d_engine_t
  use semcase_m, only: semcase_t, SemBox, SemEngine, SemFine, SemPlaces
  use text_m, only: Str
  implicit none

  real(dp), parameter :: pi = acos(-1.0_dp), length = 4000
  character(7), parameter :: variants(2) = ['fortran', 'cpu    ']
  integer :: v

  call Seed(822)
  do v = 1, size(variants)
    call Moved(trim(variants(v)))
    call Strained(trim(variants(v)))
  end do
  call OrderInSpace(8, .false.)                          ! t820 tells that fortran does the same
  call OrderInSpace(8, .true.)
  call OrderInSpace(27, .false.)
  call OrderInTime()
  call Done()

contains

  !> Sets one component of a vector field, or a field of the fluid.
  subroutine Set(engine, which, values)
    class(sem3d_engine_t), intent(inout) :: engine
    integer, intent(in) :: which
    real(dp), intent(in) :: values(:)
    type(error_t), allocatable :: error
    call engine%set_field(which, real(values, sp), error)
    call SemFine(error, 'field')
  end subroutine Set

  !> The velocities that one step brings.
  subroutine Step(engine, v)
    class(sem3d_engine_t), intent(inout) :: engine
    real(sp), intent(out) :: v(:, :)                     !< (points, 3)
    type(error_t), allocatable :: error
    integer :: c
    call engine%timestep(1, 1, error)
    do c = 1, 3
      call engine%field(field_vx + c - 1, v(:, c), error)
    end do
    call SemFine(error, 'step')
  end subroutine Step

  subroutine Moved(variant)
    character(*), intent(in) :: variant
    type(elements_t) :: mesh
    class(sem3d_engine_t), allocatable :: engine
    real(sp), allocatable :: v(:, :)
    real(dp) :: alone
    integer :: c
    call SemBox(semcase_t(n=[3, 4, 3], shake=0.25_dp, turn=.true., vary=0.2_dp, media=125), mesh)
    call SemEngine(variant, mesh, 1e-3_dp, 1, engine)
    allocate (v(mesh%points, 3))
    call Set(engine, field_ux, spread(1.0_dp, 1, mesh%points)*merge(1, 0, [(c == mesh%at(63, 5), c=1, mesh%points)]))
    call Step(engine, v)
    alone = maxval(abs(v))
    do c = 1, 3
      call Set(engine, field_vx + c - 1, spread(0.0_dp, 1, mesh%points))
      call Set(engine, field_ux + c - 1, spread(0.7_dp*c, 1, mesh%points))
    end do
    call Step(engine, v)
    call Claim(maxval(abs(v)) <= 1e-6_dp*alone, variant//': a box moved by 1 m as a whole gets velocities of '// &
               Str(real(maxval(abs(v))/alone, dp))//' of those where one point alone is moved, bound 1e-6')
    call engine%free()
  end subroutine Moved

  !> Even strain: the forces of elements at their common points cancel.
  subroutine Strained(variant)
    character(*), intent(in) :: variant
    type(elements_t) :: mesh
    class(sem3d_engine_t), allocatable :: engine
    real(sp), allocatable :: v(:, :)
    real(dp), allocatable :: x(:, :)
    real(dp) :: strain(3, 3), sides, inside
    logical, allocatable :: in(:)
    integer :: c
    call SemBox(semcase_t(n=[4, 3, 3], size=length, shake=0.25_dp, turn=.true.), mesh)
    call SemEngine(variant, mesh, 1e-3_dp, 1, engine)
    call SemPlaces(mesh, x)
    allocate (v(mesh%points, 3))
    call random_number(strain)
    do c = 1, 3
      call Set(engine, field_ux + c - 1, 1e-3_dp*matmul(strain(c, :), x))
    end do
    call Step(engine, v)
    in = all(x > 1 .and. x < length - 1, dim=1)
    inside = maxval(abs(v), mask=spread(in, 2, 3))
    sides = maxval(abs(v))
    call Claim(inside <= 2e-5_dp*sides, variant//': a box strained evenly gets velocities inside of '//Str(inside/sides)// &
               ' of those at its sides, bound 2e-5')
    call engine%free()
  end subroutine Strained

  ! --- vibrations -----------------------------------------------------------------------------------------------------------

  !> Lame's mode of a free block: u = (cos kx sin ky, -sin kx cos ky, 0) cos wt, w = sqrt(2) k vs, no traction where sin kx, sin ky
  !> and z are at sides; in the fluid chi = sin kx sin ky sin kz cos wt, w = sqrt(3) k c.
  subroutine Vibrate(mesh, water, k, dt, steps, apart)
    type(elements_t), intent(in) :: mesh
    logical, intent(in) :: water
    real(dp), intent(in) :: k, dt
    integer, intent(in) :: steps
    real(dp), intent(out) :: apart                       !< relative, rms
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    real(dp), allocatable :: x(:, :), u(:, :)
    real(sp), allocatable :: got(:, :)
    real(dp) :: w
    integer :: c
    call SemPlaces(mesh, x)
    call SemEngine('cpu', mesh, dt, 1, engine)
    if (water) then
      u = reshape(sin(k*x(1, :))*sin(k*x(2, :))*sin(k*x(3, :)), [mesh%points, 1])
    else
      u = reshape([cos(k*x(1, :))*sin(k*x(2, :)), -sin(k*x(1, :))*cos(k*x(2, :))], [mesh%points, 2])
    end if
    w = merge(sqrt(3*real(mesh%lambda(1, 1), dp)/mesh%rho(1, 1)), sqrt(2*real(mesh%mu(1, 1), dp)/mesh%rho(1, 1)), water)*k
    allocate (got(mesh%points, size(u, 2)))
    do c = 1, size(u, 2)
      call Set(engine, merge(field_chi, field_ux + c - 1, water), u(:, c))
      call Set(engine, merge(field_chi_t, field_vx + c - 1, water), w*sin(w*dt/2)*u(:, c))        ! at -dt/2
    end do
    call engine%timestep(1, steps, error)
    do c = 1, size(u, 2)
      call engine%field(merge(field_chi, field_ux + c - 1, water), got(:, c), error)
    end do
    call SemFine(error, 'steps')
    apart = sqrt(sum((got - cos(w*steps*dt)*u)**2)/sum(u**2))
    call engine%free()
  end subroutine Vibrate

  subroutine OrderInSpace(per, water)
    integer, intent(in) :: per
    logical, intent(in) :: water
    type(elements_t) :: mesh
    character(:), allocatable :: what
    real(dp) :: apart(2), k, order
    integer :: n(2), i
    n = [3, 6]
    k = 2*pi/length*1.5_dp
    do i = 1, 2
      call SemBox(semcase_t(n=n(i), size=length, shake=merge(0.05_dp, 0.15_dp, per == 27), turn=.true., per=per, &
                            water=merge(n(i), 0, water)), mesh)
      call Vibrate(mesh, water, k, 1e-3_dp, 800, apart(i))
    end do
    order = log(apart(1)/apart(2))/log(real(n(2), dp)/n(1))
    what = trim(merge('water', 'rock ', water))//', '//Str(per)//' nodes: a vibration of 3 half waves in '
    call Claim(order >= 4, what//Str(n(1))//' and '//Str(n(2))//' distorted elements is wrong by '//Str(apart(1))//' and '// &
               Str(apart(2))//', order '//Str(order)//', at least 4')
    call Claim(apart(2) <= 1e-3_dp, what//Str(n(2))//' distorted elements is wrong by '//Str(apart(2))//', bound 1e-3')
  end subroutine OrderInSpace

  subroutine OrderInTime()
    type(elements_t) :: mesh
    real(dp) :: apart(2), order
    integer :: i
    call SemBox(semcase_t(n=[6, 6, 2], size=[3, 3, 1]*length/3, shake=0.05_dp), mesh)
    do i = 1, 2
      call Vibrate(mesh, .false., 2*pi/length, 1.6e-2_dp/i, 50*i, apart(i))
    end do
    order = log(apart(1)/apart(2))/log(2.0_dp)
    call Claim(abs(order - 2) <= 0.1_dp, 'with steps of 16 and 8 ms a vibration is wrong by '//Str(apart(1))//' and '// &
               Str(apart(2))//', order '//Str(order)//', must be 2 within 0.1')
  end subroutine OrderInTime

end program t822_sem_exact
