!> A shot of spectral elements on the ranks of a group: weak and strong scaling for each way that pieces exchange sums.
!>
!>     mpirun -n RANKS+1 sem3d_scaling VARIANT WEAK STRONG [SECONDS]
!>
!> A box of trilinear elements, elastic rock of one medium, sides that absorb but the top: 2 WEAK**3 for each rank, one box
!> beside the other, and as many on each rank alone, all at once; STRONG**3 in all, beside the same on the first rank alone. 0: not.
!> Three repetitions of SECONDS each, the median of which is told, and what set-up took; of pieces on GPUs, also what each gives the
!> others in a step and how long it waits for them. Rank 0 rests.
program sem3d_scaling
  use, intrinsic :: iso_fortran_env, only: output_unit
  use barrier_m, only: Barrier
  use bench_median_m, only: Median
  use device_c, only: device_count, device_use
  use elements_cut_m, only: cut_t, ElementsCut
  use elements_dt_m, only: ElementsDt
  use elements_m, only: elements_t
  use elements_make_m, only: counts_t, ElementsMake
  use elements_scheme_m, only: elements_scheme_t
  use elements_share_m, only: shares_t, SharesMake
  use elements_window_m, only: ElementsFill, ElementsOutline
  use error_m, only: error_t, FailFromC
  use group_m, only: group_t, GroupFree, GroupNew, GroupShotBegins
  use host_c, only: host_seconds
  use kinds_m, only: dp, sp
  use mesh_box_m, only: MeshBox
  use mesh_m, only: mesh_t
  use partners_m, only: halo_host, halo_ipc, halo_mpi, halo_words
  use roles_m, only: role_t, RolesGroups, RolesStart, RolesStop
  use sem3d_m, only: sem3d_t
  use sem3d_variants_m, only: sem3d_variants
  use shot_m, only: shot_t
  use source3d_m, only: source_force
  use text_m, only: Str
  use window_m, only: box_t, window_t
  implicit none

  integer, parameter :: repeats = 3
  integer, parameter :: one = 1, each = 2, pieces = 3   !< who steps: the first rank, each rank a mesh of its own, all one mesh
  real(dp), parameter :: edge = 100, shake = 0.1_dp

  type(role_t) :: role
  type(group_t), target :: group
  type(error_t), allocatable :: error
  character(32) :: variant
  integer :: weak, strong
  real(dp) :: seconds
  logical :: gpu

  call Arguments()
  call RolesStart(role)
  gpu = sem3d_variants%needs_gpu(trim(variant))
  if (gpu .and. role%rank > 0) call FailFromC(device_use(modulo(role%rank - 1, max(1, device_count()))), error)
  call Barrier(role%world)
  role%worker = role%rank > 0
  if (.not. allocated(error)) call RolesGroups(role, role%size - 1, error)
  if (role%worker .and. .not. allocated(error)) then
    call GroupNew(group, role, 240.0_dp)
    if (strong > 0) call Scaling('strong', [strong, strong, strong], [strong, strong, strong], one)
    if (weak > 0) call Scaling('weak', [weak, weak, 2*weak], [weak*group%n, weak, 2*weak], each)
    call GroupFree(group, .false.)
  end if
  if (allocated(error)) call Tell('sem3d_scaling: '//error%message)
  call Barrier(role%world)
  call RolesStop(role)

contains

  subroutine Arguments()
    character(32) :: word(4)
    integer :: wrong(3), a
    do a = 1, 4
      call get_command_argument(a, word(a))
    end do
    wrong = 0
    variant = word(1)
    seconds = 1
    read (word(2), *, iostat=wrong(1)) weak
    read (word(3), *, iostat=wrong(2)) strong
    if (word(4) /= '') read (word(4), *, iostat=wrong(3)) seconds
    if (any(wrong /= 0) .or. .not. seconds > 0) error stop 'usage: mpirun -n RANKS+1 sem3d_scaling VARIANT WEAK STRONG [SECONDS]'
  end subroutine Arguments

  !> The first rank of the group speaks.
  subroutine Tell(line)
    character(*), intent(in) :: line
    if (role%rank > 1) return
    write (output_unit, '(a)') line
    flush (output_unit)
  end subroutine Tell

  subroutine Scaling(kind, alone, all, who)
    character(*), intent(in) :: kind
    integer, intent(in) :: alone(3), all(3), who
    type(sem3d_t), target :: solver
    integer :: ways(2)
    character(:), allocatable :: words
    real(dp) :: step, set_up, single(1), n
    integer :: w
    single = 0
    if (who == each .or. group%mine == 1) call StepTakes(solver, who, alone, halo_host, single(1), set_up)
    call solver%free()
    call group%largest(single, error)
    n = product(real(alone, dp))
    call Tell(kind//': '//Str(product(alone))//' elements on a rank alone'//trim(merge(', all at once', '             ', &
              who == each))//': '//Str(1e6_dp*single(1), 5)//' us a step, '//Str(1e-6_dp*n/single(1), 4)//' M elements*steps/s')
    ways = [halo_host, halo_mpi]
    if (gpu) ways = [halo_ipc, halo_host]
    do w = 1, size(ways)
      if (allocated(error)) return
      call StepTakes(solver, pieces, all, ways(w), step, set_up)
      if (allocated(error)) return
      words = Str(100*single(1)/step, 4)//' % of ranks alone'
      if (kind == 'strong') words = Str(single(1)/step, 4)//' times one rank'
      call Tell(kind//': '//Str(product(all))//' elements, '//Str(group%n)//' ranks, '//trim(halo_words(ways(w)))//': '// &
                Str(1e6_dp*step, 5)//' us a step, '//Str(1e-6_dp*product(real(all, dp))/step, 4)//' M elements*steps/s, '//words// &
                '; set-up '//Str(set_up, 3)//' s; '//solver%shared_out())
      if (gpu) call TellWaits(solver)
    end do
    call solver%free()
  end subroutine Scaling

  !> Of this rank's piece, after its last steps.
  subroutine TellWaits(solver)
    type(sem3d_t), intent(inout) :: solver
    character(:), allocatable :: words
    integer :: w
    if (.not. solver%linked) return
    call solver%engine%halo_waited(group%traffic%seconds, error)
    if (allocated(error)) return
    words = '  piece '//Str(group%mine)//':'
    do w = 1, group%n
      if (group%with(w) == 0) cycle
      associate (t => group%traffic(w), steps => real(max(1, solver%steps), dp))
        words = words//' with piece '//Str(w)//' '//Str(1e-6_dp*t%bytes/steps, 3)//' MB a step, waits '// &
                Str(1e6_dp*t%seconds/steps, 3)//' us;'
      end associate
    end do
    write (output_unit, '(a)') words
    flush (output_unit)
  end subroutine TellWaits

  !> Seconds of a step of a mesh of n elements: the median, of the slowest rank; and of the first set-up.
  subroutine StepTakes(solver, who, n, halo, step, set_up)
    type(sem3d_t), intent(inout), target :: solver
    integer, intent(in) :: who, n(3), halo
    real(dp), intent(out) :: step, set_up
    type(elements_scheme_t) :: scheme
    type(window_t) :: window
    type(shot_t) :: shot
    real(dp) :: took(0:repeats), longest(1), began
    integer :: turn
    step = 0
    set_up = 0
    if (allocated(error)) return
    call Job(n, who == pieces, window, scheme, shot)
    scheme%halo = halo
    nullify (solver%partners)
    if (who == pieces) solver%partners => group
    do turn = 0, repeats
      if (who == pieces) call GroupShotBegins(group)
      scheme%nt = 16
      if (turn > 0) scheme%nt = max(16, min(100000, nint(seconds/took(0))))
      scheme%nt_out = scheme%nt
      scheme%q = spread(1.0e-3_sp, 1, scheme%nt)
      began = host_seconds()
      if (.not. allocated(error)) call solver%setup(scheme, window, shot, error)
      if (turn == 0) set_up = host_seconds() - began
      if (.not. allocated(error)) call solver%modfd(error)
      longest = solver%seconds/scheme%nt
      if (who /= one) call group%largest(longest, error)
      if (allocated(error)) return
      took(turn) = longest(1)
    end do
    step = Median(took(1:))
  end subroutine StepTakes

  !> shared: the window is this rank's share of the mesh.
  subroutine Job(n, shared, window, scheme, shot)
    integer, intent(in) :: n(3)
    logical, intent(in) :: shared
    type(window_t), intent(out) :: window
    type(elements_scheme_t), intent(out) :: scheme
    type(shot_t), intent(out) :: shot
    type(mesh_t) :: mesh
    type(elements_t) :: elements
    type(counts_t) :: counts
    type(cut_t) :: cut
    type(shares_t) :: shares
    integer, allocatable :: number(:)
    real(dp) :: away(3)
    integer :: e, p, i, least
    call MeshBox([0.0_dp, 0.0_dp, 0.0_dp], edge*n, n, mesh)
    call random_seed(size=least)
    call random_seed(put=[(i, i=1, least)])
    do p = 1, size(mesh%x, 2)
      call random_number(away)
      associate (x => mesh%x(:, p))
        where (x > 0.5_dp*edge .and. x < edge*(n - 0.5_dp)) x = x + shake*edge*(2*away - 1)
      end associate
    end do
    call ElementsMake(mesh, reshape([3000.0_dp, 1700.0_dp, 2200.0_dp, 0.0_dp, 0.0_dp], [5, 1]), elements, number, counts)
    call ElementsDt(elements, scheme%dt, e)
    if (shared) then
      call ElementsCut(elements, group%n, 0, cut, error)
      if (.not. allocated(error)) call SharesMake(elements, cut, .false., .false., shares, error)
      if (allocated(error)) return
      call ElementsOutline(elements%n, minval(mesh%x, 2), maxval(mesh%x, 2), window, shares)
      call ElementsFill(elements, window, error, box_t([1, group%mine, 1], [1, group%mine, window%nz]), cut=cut, shares=shares)
    else
      call ElementsOutline(elements%n, minval(mesh%x, 2), maxval(mesh%x, 2), window)
      call ElementsFill(elements, window, error)
    end if
    window%serial = 1
    scheme%dt = 0.9_dp*scheme%dt
    scheme%dt_out = scheme%dt
    scheme%fband = 10
    scheme%fpeak = 4
    scheme%vmin = 1700
    scheme%vmax = 3000
    scheme%time_correction = .false.
    scheme%exact_positions = .false.
    scheme%variant = trim(variant)
    scheme%components = 'vx'
    scheme%threads = merge(8, 1, gpu)
    scheme%elements = elements%n
    scheme%planes = 'top'
    scheme%fields = 'vz'
    scheme%source%kind = source_force
    scheme%source%force = [1, 0, 0]
    shot%record = 1
    shot%sx = 0.5_dp*edge*n(1)
    shot%sy = 0.5_dp*edge*n(2)
    shot%sz = 0.4_dp*edge*n(3)
    shot%rx = [shot%sx]
    shot%ry = [shot%sy]
    shot%rz = [0.6_dp*edge*n(3)]
    shot%channel = [1]
  end subroutine Job

end program sem3d_scaling
