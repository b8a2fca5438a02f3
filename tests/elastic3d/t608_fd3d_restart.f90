!> A 3D run that is saved, loaded into a fresh engine and gone on with, or whose histories come in blocks and steps in chunks, gives
!> the same bits; steps whose histories are not known are refused; the map keeps the largest ground velocity.
program t608_fd3d_restart
  use check_m, only: Claim, ClaimFails, ClaimFine, Done
  use error_m, only: error_t
  use fd3d_engine_m, only: fd3d_engine_t, fd3d_grid_t, fd3d_map_t, field_vx, field_vy, field_vz, side_free, side_one_way
  use fd3d_point_lists_m, only: Fd3dMoment, Fd3dPressure, Fd3dRecord
  use fd3d_map_m, only: Fd3dMapNew
  use kinds_m, only: dp, sp
  use scene3d_m, only: scene3d_t, Scene3dEngine, Scene3dNew, Scene3dStart
  use text_m, only: Str
  implicit none
  integer, parameter :: n(3) = [20, 19, 18], steps = 60, half = 33, last = 45
  type(scene3d_t) :: s
  type(error_t), allocatable :: error
  class(fd3d_engine_t), allocatable :: whole, part, rest
  real(sp), allocatable :: state(:)
  real(sp) :: a(steps, 5), b(steps, 5), map(1, 3), again(1, 3)
  integer :: it

  call MakeScene()
  call Begin(whole)
  if (.not. allocated(error)) call whole%histories(1, s%q, error)
  if (.not. allocated(error)) call whole%timestep(1, steps, error)
  if (.not. allocated(error)) call whole%traces(1, a, error)
  if (.not. allocated(error)) call whole%map(map, error)
  call ClaimFine(error, Str(steps)//' steps at once')

  call Begin(part)
  do it = 1, half, 8                                       ! blocks of eight steps, the last one cut
    if (.not. allocated(error)) call part%histories(it, s%q(:, it:min(it + 7, half)), error)
    if (.not. allocated(error)) call part%timestep(it, min(8, half - it + 1), error)
  end do
  call ClaimFine(error, 'histories in blocks')
  call part%timestep(half + 1, 1, error)
  call ClaimFails(error, 'needs histories', 'a step beyond the last block')
  call part%free()

  call Begin(part)
  if (.not. allocated(error)) call part%histories(1, s%q(:, :half), error)
  if (.not. allocated(error)) call part%timestep(1, half, error)
  allocate (state(part%state_size(half)))
  if (.not. allocated(error)) call part%save(state, error)
  call part%free()
  call Begin(rest)
  if (.not. allocated(error)) call rest%load(half, state, error)
  if (.not. allocated(error)) call rest%histories(half + 1, s%q(:, half + 1:), error)
  if (.not. allocated(error)) call rest%timestep(half + 1, steps - half, error)
  if (.not. allocated(error)) call rest%traces(1, b, error)
  if (.not. allocated(error)) call rest%map(again, error)
  call ClaimFine(error, 'saved after '//Str(half)//' steps, '//Str(size(state))//' numbers, and loaded into a fresh engine')
  deallocate (state)
  call Claim(count(a /= b) == 0 .and. count(map /= again) == 0 .and. maxval(abs(a)) > 0 .and. maxval(map) > 0, &
             Str(count(a /= b))//' samples and '//Str(count(map /= again))//' cells of the map differ')
  associate (seen => a(:last, 3:5))
    call Claim(abs(map(1, 1)/maxval(hypot(seen(:, 1), seen(:, 3))) - 1) < 1e-6_sp .and. abs(map(1, 2)/maxval(abs(seen(:, 2))) - 1) < 1e-6_sp &
               .and. abs(map(1, 3)/maxval(norm2(seen, 2)) - 1) < 1e-6_sp .and. maxval(norm2(a(:, 3:5), 2)) > map(1, 3), &
               'the map has the peaks of what is recorded at its point up to its last step, '//Str(map(1, 1), 4)//', '// &
               Str(map(1, 2), 4)//' and '//Str(map(1, 3), 4)//' m/s along, up and of the vector')
  end associate
  call Done()

contains

  subroutine Begin(engine)
    class(fd3d_engine_t), allocatable, intent(out) :: engine
    type(fd3d_grid_t) :: grid
    type(fd3d_map_t) :: map
    real(sp), allocatable :: q(:, :)
    grid = s%grid
    call Scene3dEngine('fortran', engine, error)
    call move_alloc(s%q, q)
    allocate (s%q(1, 0))
    call Scene3dStart(s, grid, s%source, s%receivers, engine, error)
    call move_alloc(q, s%q)
    if (.not. allocated(error)) call engine%reset(error)
    if (.not. allocated(error)) call Fd3dMapNew(map, grid, [10], [9], [1], 0.0_dp, error)
    map%last = last
    if (.not. allocated(error)) call engine%watch(map, error)
  end subroutine Begin

  subroutine MakeScene()
    integer :: i
    call Scene3dNew(s, n, 10.0_dp, 2, 3000.0_dp, 1500.0_dp, 2000.0_dp, 0.8_dp)
    s%grid%side(5) = side_free
    s%grid%side(6) = side_one_way
    s%grid%anelastic = .true.
    s%width = [4, 4, 4, 4, 0, 0]
    s%fpeak = 20
    s%qp = 0.02_sp
    s%qs = 0.04_sp
    s%tau = [(0.1_sp*0.5_sp**i, i=1, 8)]
    s%y(:, 1) = 1
    allocate (s%q(1, steps))
    s%q(1, :) = [(sin(0.3_sp*i)*exp(-0.05_sp*i), i=1, steps)]
    call Fd3dMoment(s%source, s%grid, [101.0_dp, 93.0_dp, 72.0_dp], [1, 2, 3, 1, 1, 1]*1e12_dp, 1, error)
    call Fd3dRecord(s%receivers, s%grid, [111.0_dp, 83.0_dp, 52.0_dp], field_vx, error)
    call Fd3dPressure(s%receivers, s%grid, [91.0_dp, 83.0_dp, 52.0_dp], error)
    call Fd3dRecord(s%receivers, s%grid, [95.0_dp, 85.0_dp, 0.0_dp], field_vx, error)
    call Fd3dRecord(s%receivers, s%grid, [95.0_dp, 85.0_dp, 0.0_dp], field_vz, error)
    call Fd3dRecord(s%receivers, s%grid, [95.0_dp, 85.0_dp, 0.0_dp], field_vy, error)
  end subroutine MakeScene

end program t608_fd3d_restart
