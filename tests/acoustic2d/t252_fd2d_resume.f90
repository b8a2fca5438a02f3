!> A shot whose state is saved at any step goes on in another solver with the same bits: traces, snapshots and field, all variants.
program t252_fd2d_resume
  use check_m, only: Claim, ClaimFails, ClaimFine, Done
  use checksum_c, only: checksum_floats
  use error_m, only: error_t
  use fd2d_m, only: fd2d_t
  use fd2d_variants_m, only: fd2d_variants
  use gather_m, only: gather_t
  use gpu_m, only: GpuThere
  use kinds_m, only: dp, i8, sp
  use scene_m, only: scene_t, SceneLacks, SceneMedium, SceneNew, SceneScheme
  use solver_m, only: time_position_t
  use team_m, only: team_t
  use text_m, only: Str
  implicit none
  character(24), allocatable :: variants(:)
  type(error_t), allocatable :: error
  logical, allocatable :: built(:), on_gpu(:)
  logical :: gpu
  integer :: v

  allocate (variants, source=fd2d_variants%list())
  built = [(fd2d_variants%built(trim(variants(v))), v=1, size(variants))]
  on_gpu = [(fd2d_variants%needs_gpu(trim(variants(v))), v=1, size(variants))]
  gpu = .false.
  if (any(built .and. on_gpu)) gpu = GpuThere()
  do v = 1, size(variants)
    if (.not. built(v) .or. (on_gpu(v) .and. .not. gpu)) cycle
    call AtRandomSteps(trim(variants(v)), .false.)
    call AtRandomSteps(trim(variants(v)), .true.)
    call WithSnapshots(trim(variants(v)))
  end do
  call OtherThreads()
  call Refusals()
  deallocate (variants, built, on_gpu)     ! nothing is left for the leak sanitizer to tell of
  call Done()

contains

  subroutine MakeScene(scene, variant, free)
    type(scene_t), intent(out) :: scene
    character(*), intent(in) :: variant
    logical, intent(in) :: free
    call SceneNew(scene, 83, 47, 8.0_dp, 2000.0_dp, 1000.0_dp)
    call SceneMedium(scene, 21, 2300.0_dp, 1700.0_dp)
    scene%job%tmax = 0.3_dp
    scene%job%npml = 10
    scene%job%components = 'p,vx,vz'
    scene%job%variant = variant
    if (free) scene%job%top = 'free'
    scene%shot%record = 7
    scene%shot%sx = 180.3_dp
    scene%shot%sz = 33.1_dp
    scene%shot%rx = [190.7_dp, 400.0_dp, 500.2_dp]
    scene%shot%rz = [11.9_dp, 160.0_dp, 300.1_dp]
    call SceneLacks(scene)
    call SceneScheme(scene, error)
    call ClaimFine(error, variant//trim(merge(', free surface', ',             ', free))//' scene')
  end subroutine MakeScene

  !> Sets the shot up and, with `steps`, does so many.
  subroutine Start(solver, scene, steps)
    type(fd2d_t), intent(inout) :: solver
    type(scene_t), intent(in) :: scene
    integer, intent(in) :: steps
    if (.not. allocated(error)) call solver%setup(scene%scheme, scene%window, scene%shot, error)
    if (steps > 0 .and. .not. allocated(error)) call solver%timestep(steps, error)
  end subroutine Start

  subroutine Finish(solver, gather, sum)
    type(fd2d_t), intent(inout) :: solver
    type(gather_t), intent(inout) :: gather
    integer(i8), intent(out) :: sum
    real(sp), allocatable :: field(:, :)
    sum = 0
    if (.not. allocated(error)) call solver%modfd(error)
    if (.not. allocated(error)) call solver%gather(gather, error)
    if (allocated(error)) return
    allocate (field(solver%grid%nx, solver%grid%nz))
    call solver%engine%field(0, field, error)
    sum = checksum_floats(0_i8, size(gather%traces, kind=i8), gather%traces)
    sum = checksum_floats(sum, size(gather%snapshots, kind=i8), gather%snapshots)
    sum = checksum_floats(sum, size(field, kind=i8), field)
  end subroutine Finish

  !> The state of `from`, loaded into `into`, which is set up.
  subroutine HandOver(from, into)
    type(fd2d_t), intent(inout) :: from, into
    type(time_position_t) :: position
    real(sp), allocatable :: state(:)
    if (allocated(error)) return
    position = from%time_position()
    allocate (state(from%state_size(position)))
    call from%save(state, error)
    if (.not. allocated(error)) call into%load(position, state, error)
  end subroutine HandOver

  subroutine AtRandomSteps(variant, free)
    character(*), intent(in) :: variant
    logical, intent(in) :: free
    type(scene_t) :: scene
    type(fd2d_t) :: whole, first, second, used
    type(gather_t) :: gather
    integer(i8) :: reference, sum, still
    integer :: i, step, differ, n
    real(dp) :: x
    call MakeScene(scene, variant, free)
    call Start(whole, scene, 0)
    call Finish(whole, gather, reference)
    call Start(used, scene, 0)
    differ = 0
    n = 10
    do i = 1, n
      x = mod(i*0.7548776662466927_dp + 0.5_dp, 1.0_dp)
      step = max(1, min(scene%scheme%nt, nint(x*scene%scheme%nt)))
      if (i == n) step = scene%scheme%nt - 1
      call Start(first, scene, step)
      call Start(second, scene, 0)
      call HandOver(first, second)
      call Finish(second, gather, sum)
      call Finish(first, gather, still)        ! the one that was saved goes on too
      if (sum /= reference .or. still /= reference) differ = differ + 1
      call Start(used, scene, 17)               ! a solver that was in the midst of something else
      call Start(first, scene, step)
      call HandOver(first, used)
      call Finish(used, gather, sum)
      if (sum /= reference) differ = differ + 1
      call second%free()
    end do
    call ClaimFine(error, variant//': saved and loaded')
    call Claim(differ == 0 .and. reference /= 0, variant//trim(merge(', free surface', '              ', free))//': '//Str(2*n)// &
               ' times saved at one of '//Str(n)//' steps of '//Str(scene%scheme%nt)//' and gone on elsewhere, '//Str(differ)// &
               ' differ in any bit of traces and field; must be 0')
    call whole%free()
    call used%free()
    call first%free()
  end subroutine AtRandomSteps

  !> Between any two turns of the time loop.
  subroutine WithSnapshots(variant)
    character(*), intent(in) :: variant
    type(scene_t) :: scene
    type(fd2d_t) :: whole, second
    type(gather_t) :: gather
    integer(i8) :: reference, sum
    integer :: turns, differ
    logical :: done
    call MakeScene(scene, variant, .false.)
    scene%scheme%snapshot = 0.041_dp
    call Start(whole, scene, 0)
    call Finish(whole, gather, reference)
    call Claim(size(gather%snapshots, 3) == 8, variant//': '//Str(size(gather%snapshots, 3))//' snapshots, must be 8')
    call Start(whole, scene, 0)
    done = .false.
    turns = 0
    differ = 0
    do while (.not. (done .or. allocated(error)))
      call whole%advance(done, error)
      if (done) exit
      turns = turns + 1
      call Start(second, scene, 0)
      call HandOver(whole, second)
      call Finish(second, gather, sum)
      if (sum /= reference) differ = differ + 1
    end do
    call ClaimFine(error, variant//': saved between turns')
    call Claim(differ == 0 .and. turns > 3, variant//': saved after each of '//Str(turns)//' turns, '//Str(differ)// &
               ' differ in traces or snapshots; must be 0')
    call whole%free()
    call second%free()
  end subroutine WithSnapshots

  !> Threads and tiles are no part of a state.
  subroutine OtherThreads()
    type(scene_t) :: scene
    type(fd2d_t) :: whole, first, second
    type(gather_t) :: gather
    integer(i8) :: reference, sum
    call MakeScene(scene, 'cpu', .false.)
    call Start(whole, scene, 0)
    call Finish(whole, gather, reference)
    call Start(first, scene, 101)
    call Start(second, scene, 0)
    second%team = team_t(most=3, threads=3, cells=second%team%cells)     ! more than so small a grid would get
    call Claim(first%state_identity() == second%state_identity(), 'one thread and three: the same identity')
    call HandOver(first, second)
    call Finish(second, gather, sum)
    call ClaimFine(error, 'begun with one thread, finished with three')
    call Claim(sum == reference, 'begun with one thread, finished with three: the same bits')
    call whole%free()
    call first%free()
    call second%free()
  end subroutine OtherThreads

  !> A state identity tells apart what must not be mixed; a state of the wrong size is refused.
  subroutine Refusals()
    type(scene_t) :: scene, other
    type(fd2d_t) :: first, second
    type(time_position_t) :: position
    real(sp), allocatable :: state(:)
    character(:), allocatable :: mine
    integer :: i
    call MakeScene(scene, 'cpu', .false.)
    call Start(first, scene, 50)
    mine = first%state_identity()
    do i = 1, 9
      other = scene
      select case (i)
      case (1); other%scheme%variant = 'fortran'
      case (2); other%window%medium(30, 1, 20, 1) = nearest(other%window%medium(30, 1, 20, 1), -1.0)
      case (3); other%shot%sx = other%shot%sx + 0.001_dp
      case (4); other%shot%rz(3) = other%shot%rz(3) + 0.001_dp
      case (5); other%scheme%q(9) = nearest(other%scheme%q(9), 1.0)
      case (6); other%scheme%snapshot = 0.1_dp
      case (7); other%scheme%components = 'p,vz,vx'
      case (8); other%scheme%w(8) = nearest(other%scheme%w(8), 1.0_dp)
      case (9); other%shot%at_places(3, 2) = nearest(other%shot%at_places(3, 2), 1.0_dp)
      end select
      call Start(second, other, 0)
      call ClaimFine(error, 'another shot, kind '//Str(i))
      call Claim(second%state_identity() /= mine, 'what differs in '//trim(NameOf(i))//' has another identity')
    end do
    call Start(second, scene, 0)
    call Claim(second%state_identity() == mine, 'the same shot has the same identity, before its first step and after')
    position = first%time_position()
    allocate (state(first%state_size(position)))
    call first%save(state, error)
    call second%load(position, state(:size(state) - 1), error)
    call ClaimFails(error, 'numbers', 'a state that is too short')
    position%step = position%step + 1
    call second%load(position, state, error)
    call ClaimFails(error, 'numbers', 'a state of another step')
    position%step = scene%scheme%nt + 1
    call second%load(position, state, error)
    call ClaimFails(error, 'but the shot has', 'a state after the end')
    call first%free()
    call second%free()
  end subroutine Refusals

  function NameOf(i) result(text)
    integer, intent(in) :: i
    character(24) :: text
    character(24), parameter :: kinds(9) = [character(24) :: 'variant', 'one bit of velocity', 'source', 'receivers', 'wavelet', &
                                            'snapshots', 'components', 'one bit of a weight', 'what the grid lacks']
    text = kinds(i)
  end function NameOf

end program t252_fd2d_resume
