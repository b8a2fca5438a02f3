!> A medium that an engine is given in slabs of any heights is the one that it is given whole: with rock, water and air at random,
!> under a free surface and above a one-way bottom, where another medium was before, all nine fields have the same bits after some
!> steps. Slabs out of their order are refused.
program t625_fd3d_slabs
  use check_m, only: Claim, ClaimFails, ClaimFine, Done, GivenSeed, RandomBelow, Seed
  use error_m, only: error_t
  use fd3d_engine_m, only: fd3d_engine_t, fd3d_fields, fd3d_grid_t, side_free, side_one_way, side_outside
  use kinds_m, only: dp, sp
  use scene3d_m, only: scene3d_t, Scene3dEngine, Scene3dMedium, Scene3dNew, Scene3dStart
  use text_m, only: Str
  implicit none
  integer, parameter :: n(3) = [23, 19, 26], steps = 12, cases = 4
  integer :: number, c

  number = GivenSeed()
  call Seed(number)
  do c = 1, cases
    call OneCase('cpu', merge(side_free, side_outside, c > 1), merge(side_one_way, side_outside, c > 2))
  end do
  call OneCase('fortran', side_free, side_outside)
  call Order('cpu')
  call Done()

contains

  subroutine OneCase(variant, top, bottom)
    character(*), intent(in) :: variant
    integer, intent(in) :: top, bottom
    type(scene3d_t) :: scene, other
    type(fd3d_grid_t) :: grid
    class(fd3d_engine_t), allocatable :: whole, parts
    type(error_t), allocatable :: error
    real(sp) :: start(n(1), n(2), n(3)), a(n(1), n(2), n(3)), b(n(1), n(2), n(3))
    character(:), allocatable :: heights
    integer :: f, differ, first, last
    logical :: moves
    call Scene3dNew(scene, n, 10.0_dp, 2, 3000.0_dp, 1700.0_dp, 2200.0_dp, 0.5_dp)
    scene%grid%side(5) = top
    scene%grid%side(6) = bottom
    other = scene
    call Mix(scene)
    call Mix(other)
    call Scene3dEngine(variant, whole, error)
    if (.not. allocated(error)) call Scene3dEngine(variant, parts, error)
    grid = scene%grid
    if (.not. allocated(error)) call Scene3dStart(scene, grid, scene%source, scene%receivers, whole, error)
    if (.not. allocated(error)) call Scene3dStart(other, grid, scene%source, scene%receivers, parts, error)
    heights = ''
    first = 0
    do while (first < n(3) + 2 .and. .not. allocated(error))
      last = min(n(3) + 1, first + RandomBelow(9))
      heights = heights//' '//Str(last - first + 1)
      call parts%model(scene%rho(:, :, first:last), scene%lambda(:, :, first:last), scene%mu(:, :, first:last), error, first + 1)
      first = last + 1
    end do
    do f = 0, fd3d_fields - 1
      call random_number(start)
      if (.not. allocated(error)) call whole%set_field(f, start, error)
      if (.not. allocated(error)) call parts%set_field(f, start, error)
    end do
    if (.not. allocated(error)) call whole%timestep(1, steps, error)
    if (.not. allocated(error)) call parts%timestep(1, steps, error)
    call ClaimFine(error, variant//': a medium in slabs of'//heights//' planes, seed '//Str(number))
    differ = 0
    moves = .true.
    do f = 0, fd3d_fields - 1
      if (.not. allocated(error)) call whole%field(f, a, error)
      if (.not. allocated(error)) call parts%field(f, b, error)
      if (allocated(error)) return
      differ = differ + count(.not. a == b)
      moves = moves .and. any(abs(a) > 0)
    end do
    call Claim(differ == 0 .and. moves, Str(differ)//' numbers of nine fields differ after '//Str(steps)//' steps, sides '// &
               Str(top)//' and '//Str(bottom))
    call whole%free()
    call parts%free()
  end subroutine OneCase

  !> Rock of many velocities, with boxes of water and of air.
  subroutine Mix(scene)
    type(scene3d_t), intent(inout) :: scene
    integer :: m, lo(3), hi(3), i
    real(dp) :: v
    do m = 1, 12
      lo = [(1 + RandomBelow(n(i)), i=1, 3)]
      hi = min(n, lo + [(RandomBelow(9), i=1, 3)])
      v = 1500 + RandomBelow(1500)
      if (m <= 8) call Scene3dMedium(scene, lo, hi, v, v/(1.6_dp + 0.01_dp*RandomBelow(100)), 1800.0_dp + RandomBelow(900))
      if (m > 8) call Scene3dMedium(scene, lo, hi, merge(1500.0_dp, 0.0_dp, m < 11), 0.0_dp, merge(1000.0_dp, 0.0_dp, m < 11))
    end do
  end subroutine Mix

  subroutine Order(variant)
    character(*), intent(in) :: variant
    type(scene3d_t) :: scene
    type(fd3d_grid_t) :: grid
    class(fd3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    call Scene3dNew(scene, n, 10.0_dp, 2, 3000.0_dp, 1700.0_dp, 2200.0_dp, 0.5_dp)
    grid = scene%grid
    call Scene3dEngine(variant, engine, error)
    if (.not. allocated(error)) call Scene3dStart(scene, grid, scene%source, scene%receivers, engine, error)
    associate (r => scene%rho, l => scene%lambda, m => scene%mu)
      if (.not. allocated(error)) call engine%model(r(:, :, 0:4), l(:, :, 0:4), m(:, :, 0:4), error, 1)
      call ClaimFine(error, 'the first five planes')
      call engine%timestep(1, 1, error)
      call ClaimFails(error, 'before the medium was set', 'a step with five planes of a medium')
      call engine%model(r(:, :, 6:8), l(:, :, 6:8), m(:, :, 6:8), error, 7)
      call ClaimFails(error, 'planes 7..9 of a medium of 28, of which 5 have come', 'a slab that leaves out a plane')
      call engine%model(r, l, m, error, 6)
      call ClaimFails(error, 'planes 6..33 of a medium of 28', 'a slab that is too high')
      call engine%model(r(:, :, 5:), l(:, :, 5:), m(:, :, 5:), error, 6)
      if (.not. allocated(error)) call engine%timestep(1, 1, error)
      call ClaimFine(error, 'the rest of it, and a step')
    end associate
    call engine%free()
  end subroutine Order

end program t625_fd3d_slabs
