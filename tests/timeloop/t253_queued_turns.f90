!> The turns of a time loop whose engine only queues its steps, as a GPU does, in 2D and 3D: the same bits as step by step, two
!> chunks ahead at most, states between any two turns, the last two waits, a field that blows up.
program t253_queued_turns
  use check_m, only: Claim, ClaimFails, ClaimFine, Done
  use checksum_c, only: checksum_floats
  use error_m, only: error_t
  use fd2d_m, only: fd2d_t
  use fd2d_grid_m, only: Fd2dGrid
  use fd3d_engine_m, only: fd3d_grid_t
  use fd3d_m, only: fd3d_t
  use fd3d_grid_m, only: Fd3dGrid
  use gather_m, only: gather_t
  use kinds_m, only: dp, i8, sp
  use queued_m, only: book_t, queue2d_t, queue3d_t
  use scene_m, only: scene_t, SceneMedium, SceneNew, SceneScheme, SceneSolid
  use solver_m, only: time_position_t, solver_t
  use text_m, only: Str
  implicit none
  type(error_t), allocatable :: error
  type(scene_t) :: flat, solid

  call Make2d()
  call Make3d()
  call Turns2d()
  call Turns3d()
  call Between(flat)
  call Between(solid)
  call BlowUps()
  call WrongMedium()
  call Done()

contains

  subroutine Make2d()
    call SceneNew(flat, 60, 40, 8.0_dp, 2000.0_dp, 1000.0_dp)
    call SceneMedium(flat, 21, 2300.0_dp, 1700.0_dp)
    flat%job%tmax = 0.5_dp
    flat%job%npml = 8
    flat%job%components = 'p,vz'
    flat%job%variant = 'fortran'
    flat%shot%sx = 180.3_dp
    flat%shot%sz = 33.1_dp
    flat%shot%rx = [190.7_dp, 400.0_dp]
    flat%shot%rz = [11.9_dp, 160.0_dp]
    call SceneScheme(flat, error)
    call ClaimFine(error, '2D scene of '//Str(flat%scheme%nt)//' steps')
  end subroutine Make2d

  subroutine Make3d()
    integer :: i
    call SceneSolid(solid, 8, 1130)
    associate (s => solid%scheme)
      s%dt_out = 4.0e-3_dp
      s%nt_out = 200
      s%components = 'vx,p'
      s%own%planes = 'top,x35'
      s%own%fields = 'vz,p'
      s%variant = 'fortran'
      s%own%pgv = .true.
      s%q = [(real(sin(0.1_dp*min(i, 63)), sp), i=1, s%nt)]
    end associate
    solid%shot%sx = 33.3_dp
    solid%shot%sy = 41.0_dp
    solid%shot%sz = 38.5_dp
    solid%shot%rx = [20.0_dp, 61.7_dp]
    solid%shot%ry = [25.0_dp, 60.1_dp]
    solid%shot%rz = [15.0_dp, 55.9_dp]
  end subroutine Make3d

  !> A solver of the scene, set up; its engine queues its steps if asked to.
  subroutine Start(scene, queues, solver)
    type(scene_t), intent(in) :: scene
    logical, intent(in) :: queues
    class(solver_t), allocatable, intent(out) :: solver
    type(fd2d_t), allocatable :: two
    type(fd3d_t), allocatable :: three
    type(fd3d_grid_t) :: grid
    integer :: width(6), pad(3)
    if (scene%window%ny == 0) then
      allocate (two)
      if (queues) then
        two%grid = Fd2dGrid(scene%scheme, scene%window%nx, scene%window%nz)
        two%variant = 'fortran'
        two%queues = .true.
        allocate (queue2d_t :: two%engine)
        call two%engine%new(two%grid, error)
      end if
      call move_alloc(two, solver)
    else
      allocate (three)
      if (queues) then
        call Fd3dGrid(scene%scheme, scene%scheme%own, scene%window, grid, width, pad)
        three%grid = grid
        three%variant = 'fortran'
        three%queues = .true.
        allocate (queue3d_t :: three%engine)
        call three%engine%new(three%grid, error)
      end if
      call move_alloc(three, solver)
    end if
    if (.not. allocated(error)) call solver%setup(scene%scheme, scene%window, scene%shot, error)
  end subroutine Start

  !> A window that holds other numbers than the scheme needs is refused, in place of being read beyond its end.
  subroutine WrongMedium()
    type(scene_t) :: wrong
    class(solver_t), allocatable :: solver
    wrong = solid
    wrong%window%medium = solid%window%medium(:, :, :, :2)
    call Start(wrong, .false., solver)
    call ClaimFails(error, 'is not vp, vs, rho', '3D window without density')
    wrong = solid
    wrong%scheme%own%attenuates = .true.
    wrong%scheme%own%q_band = [1, 50]
    call Start(wrong, .false., solver)
    call ClaimFails(error, 'is not vp, vs, rho', '3D window without Q for a scheme that attenuates')
    call Start(flat, .false., solver)
    call ClaimFine(error, '2D with its own window')
    wrong = flat
    wrong%window%ny = 1
    deallocate (solver)
    allocate (fd2d_t :: solver)
    call solver%setup(wrong%scheme, wrong%window, wrong%shot, error)
    call ClaimFails(error, 'is not velocity and density', '2D window with a y axis')
  end subroutine WrongMedium

  !> All turns that are left, and a sum over all that comes home.
  subroutine Finish(solver, turns, sum)
    class(solver_t), intent(inout) :: solver
    integer, intent(out) :: turns
    integer(i8), intent(out) :: sum
    type(gather_t) :: gather
    logical :: done
    integer :: f
    turns = 0
    sum = 0
    done = .false.
    do while (.not. (done .or. allocated(error)))
      call solver%advance(done, error)
      turns = turns + 1
    end do
    if (.not. allocated(error)) call solver%gather(gather, error)
    if (allocated(error)) return
    sum = checksum_floats(0_i8, size(gather%traces, kind=i8), gather%traces)
    if (allocated(gather%snapshots)) sum = checksum_floats(sum, size(gather%snapshots, kind=i8), gather%snapshots)
    if (.not. allocated(gather%film)) return
    do f = 1, size(gather%film)
      sum = checksum_floats(sum, size(gather%film(f)%a, kind=i8), gather%film(f)%a)
    end do
  end subroutine Finish

  type(book_t) function Book(solver)
    class(solver_t), intent(in) :: solver
    select type (solver)
    type is (fd2d_t)
      select type (engine => solver%engine)
      type is (queue2d_t)
        Book = engine%book
      end select
    type is (fd3d_t)
      select type (engine => solver%engine)
      type is (queue3d_t)
        Book = engine%book
      end select
    end select
  end function Book

  !> The scene step by step and queued, with a picture every `snapshot` seconds, 0 = none; what was queued and in how many turns.
  subroutine Both(scene, snapshot, what, kept, turns)
    type(scene_t), intent(in) :: scene
    real(dp), intent(in) :: snapshot
    character(*), intent(in) :: what
    type(book_t), intent(out) :: kept
    integer, intent(out) :: turns
    class(solver_t), allocatable :: solver
    type(scene_t) :: mine
    integer(i8) :: stepwise, queued
    integer :: n
    mine = scene
    mine%scheme%snapshot = snapshot
    call Start(mine, .false., solver)
    call Finish(solver, n, stepwise)
    call solver%free()
    call Start(mine, .true., solver)
    call Finish(solver, turns, queued)
    kept = Book(solver)
    call solver%free()
    call ClaimFine(error, what//': '//Str(kept%calls)//' chunks in '//Str(turns)//' turns')
    call Claim(stepwise == queued .and. stepwise /= 0, what//': queued steps give the bits of step by step')
    call Claim((kept%most == 2 .or. (kept%most == 1 .and. snapshot > 0)) .and. sum(kept%n) == scene%scheme%nt .and. &
               kept%done == kept%calls, what//': '//Str(kept%most)//' chunks unfinished at most, must be 2, or 1 where pictures wait')
  end subroutine Both

  !> Twenty steps until a pace is known, then twice as many at most, a quarter of the shot at most.
  subroutine Turns2d()
    type(book_t) :: kept
    integer :: turns, i, most
    logical :: fine
    call Both(flat, 0.0_dp, '2D', kept, turns)
    fine = all(kept%n(:2) == 20)
    do i = 3, kept%calls - 1
      most = max(20, min(2*kept%n(i - 1), flat%scheme%nt/4))
      fine = fine .and. kept%n(i) <= most .and. any(kept%n(i) == [20, 40, 80, 160])
    end do
    call Claim(fine, '2D: chunks of 20, 20, then up to '//Str(maxval(kept%n))// &
               ' steps, each 20 times a power of two')
    call Claim(turns == kept%calls + 2 .and. kept%waits == kept%calls - 1, '2D: one chunk a turn, then a wait for the last but one, '// &
               'then for the last')
    call Both(flat, 0.041_dp, '2D with snapshots', kept, turns)
    call SecondShot()
  end subroutine Turns2d

  !> On the same grid the pace is known from the start.
  subroutine SecondShot()
    class(solver_t), allocatable :: solver
    type(book_t) :: kept
    integer(i8) :: first, second
    integer :: n, pace
    call Start(flat, .true., solver)
    call Finish(solver, n, first)
    pace = 0
    select type (solver)
    type is (fd2d_t)
      pace = solver%chunk
    end select
    if (.not. allocated(error)) call solver%setup(flat%scheme, flat%window, flat%shot, error)
    call Finish(solver, n, second)
    kept = Book(solver)
    call solver%free()
    call ClaimFine(error, 'a second shot on the grid of the first')
    call Claim(first == second .and. kept%n(1) == pace, '2D: its first chunk has '//Str(kept%n(1))//' steps, must be '//Str(pace)// &
               ' as the last before; its bits are those of the first')
  end subroutine SecondShot

  !> By the size of the grid: 500 steps here.
  subroutine Turns3d()
    type(book_t) :: kept
    integer :: turns
    call Both(solid, 0.0_dp, '3D', kept, turns)
    call Claim(kept%calls == 3 .and. all(kept%n(:3) == [500, 500, 130]), '3D: chunks of 500 steps and the rest')
    call Claim(turns == kept%calls + 2 .and. kept%waits == kept%calls - 1, '3D: one chunk a turn, then a wait for the last but one, '// &
               'then for the last')
    call Both(solid, 0.17_dp, '3D with films', kept, turns)
  end subroutine Turns3d

  !> States between any two turns, with pictures.
  subroutine Between(scene)
    type(scene_t), intent(in) :: scene
    class(solver_t), allocatable :: whole, other
    type(scene_t) :: mine
    type(time_position_t) :: position
    real(sp), allocatable :: state(:)
    integer(i8) :: reference, sum
    integer :: saved, differ, n
    logical :: done
    character(2) :: what
    what = merge('2D', '3D', scene%window%ny == 0)
    mine = scene
    mine%scheme%snapshot = 0.13_dp
    call Start(mine, .true., other)
    call Finish(other, n, reference)
    call other%free()
    call Start(mine, .true., whole)
    saved = 0
    differ = 0
    do
      if (allocated(error)) exit
      call whole%advance(done, error)
      if (done .or. allocated(error)) exit
      saved = saved + 1
      position = whole%time_position()
      allocate (state(whole%state_size(position)))
      call whole%save(state, error)
      call Start(mine, mod(saved, 2) == 0, other)
      if (.not. allocated(error)) call other%advance(done, error)       ! it was in the midst of something else
      if (.not. allocated(error)) call other%load(position, state, error)
      call Finish(other, n, sum)
      call other%free()
      if (sum /= reference) differ = differ + 1
      deallocate (state)
    end do
    call Finish(whole, n, sum)
    call whole%free()
    call ClaimFine(error, what//': states between turns')
    call Claim(differ == 0 .and. saved > 5 .and. sum == reference, what//': saved after each of '//Str(saved)// &
               ' turns and gone on elsewhere, queued or not, '//Str(differ)//' differ; must be 0')
  end subroutine Between

  !> A field that is said to be too large is told within two chunks.
  subroutine BlowUps()
    class(solver_t), allocatable :: solver
    integer(i8) :: sum
    integer :: n
    call Start(flat, .true., solver)
    call Lower(solver)
    call Finish(solver, n, sum)
    call ClaimFails(error, 'the field blew up at step ', '2D, in turn '//Str(n))
    call solver%free()
    call Start(solid, .true., solver)
    call Lower(solver)
    call Finish(solver, n, sum)
    call ClaimFails(error, 'the field blew up within the 500 steps before step 1000', '3D, in turn '//Str(n))
    call solver%free()
  end subroutine BlowUps

  subroutine Lower(solver)
    class(solver_t), intent(inout) :: solver
    select type (solver)
    type is (fd2d_t)
      solver%limit = 1.0e-6_sp*solver%limit
    type is (fd3d_t)
      solver%limit = 1.0e-9_sp*solver%limit
    end select
  end subroutine Lower

end program t253_queued_turns
