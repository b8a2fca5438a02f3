!> A 3D shot on the ranks of a group: weak and strong scaling for each way that what pieces give each other travels, with overlap
!> and without, halos narrow and wide, for several cuts; beside each line the forecast of a model of four measured numbers.
!>
!>     mpirun -n RANKS+1 fd3d_scaling VARIANT CELLS [SECONDS [WORD...]]
!>
!> CELLS**3 cells for each rank (weak) and in all (strong), half-length 2, elastic, PML of 10 cells on six sides within them; three
!> repetitions of SECONDS each, the median of which is told. Rank 0 rests. Words leave out what they do not name: weak, strong; ipc,
!> host, mpi; overlap, order; narrow, wide; cuts such as 1x2x2; q: with attenuation, Q = 50.
!>
!> The model: ps a cell, of the core and of layers (and of rims, where these are computed first), of ranks that compute alone, all
!> at once; us a launch, half of a step of a grid with next to no cells; us a message and GB/s of the ways, as the ranks find them.
!> A step is that of the slowest piece: its cells, two launches for each half step with overlap, one without, and for each side
!> and half step a message and its bytes. Overlap hides all of what GPUs give each other behind the inner cells, and the time of
!> messages elsewhere; bytes are copied by who computes. Wide halos: stresses, two thirds of a cell's time, of margins too; one
!> message a side, of which overlap hides those across the first cut axis; stresses in one launch.
program fd3d_scaling
  use, intrinsic :: iso_fortran_env, only: output_unit
  use barrier_m, only: Barrier
  use bench_median_m, only: Median
  use device_c, only: device_count, device_use
  use error_m, only: error_t, FailFromC
  use fd3d_m, only: fd3d_t
  use fd3d_variants_m, only: fd3d_variants
  use group_m, only: group_t, GroupFree, GroupNew, GroupShotBegins
  use kinds_m, only: dp, sp
  use partners_m, only: by_gpu, by_pinned, halo_host, halo_ipc, halo_mpi, halo_words
  use roles_m, only: role_t, RolesGroups, RolesStart, RolesStop
  use scheme3d_m, only: scheme3d_t, wide_no, wide_yes
  use shot_m, only: shot_t
  use subdomain_m, only: CutsPiece
  use text_m, only: Str
  use window_m, only: window_t
  implicit none

  integer, parameter :: layer = 10, length = 2, repeats = 3, tiny = 8
  integer, parameter :: one = 1, each = 2, pieces = 3   !< who steps: the first rank, each rank a grid of its own, all one grid
  real(dp), parameter :: h = 10, weights(2) = [9/8.0_dp, -1/24.0_dp]

  !> Costs that the model is made of [s], [bytes/s].
  type :: costs_t
    real(dp) :: core = 0, layer = 0, launch = 0, message = 0, rate = huge(1.0_dp)
    real(dp) :: alone = 0                     !< cells a second of a rank
  end type costs_t

  type(role_t) :: role
  type(group_t), target :: group
  type(error_t), allocatable :: error
  type(costs_t) :: costs
  character(32) :: variant
  integer :: cells
  real(dp) :: seconds
  logical :: gpu, attenuates
  character(8), allocatable :: only(:)        !< words of the command line
  character(8), parameter :: kinds_of(2) = [character(8) :: 'weak', 'strong'], manners(2) = [character(8) :: 'overlap', 'order'], &
                             widths(2) = [character(8) :: 'narrow', 'wide']

  call Arguments()
  call RolesStart(role)
  gpu = fd3d_variants%needs_gpu(trim(variant))
  if (gpu .and. role%rank > 0) call FailFromC(device_use(modulo(role%rank - 1, max(1, device_count()))), error)
  call Barrier(role%world)
  role%worker = role%rank > 0
  if (.not. allocated(error)) call RolesGroups(role, role%size - 1, error)
  if (role%worker .and. .not. allocated(error)) then
    call GroupNew(group, role, 120.0_dp)
    call Kinds()
    if (Wanted('weak', kinds_of)) call Scaling('weak')
    if (group%n > 1 .and. Wanted('strong', kinds_of)) call Scaling('strong')
    call GroupFree(group, .false.)
  end if
  if (allocated(error)) call Tell('fd3d_scaling: '//error%message)
  call Barrier(role%world)
  call RolesStop(role)

contains

  subroutine Arguments()
    character(32) :: word
    integer :: wrong(2), i
    wrong = 0
    variant = 'cpu'
    cells = 96
    seconds = 1
    call get_command_argument(1, word)
    if (word /= '') variant = word
    call get_command_argument(2, word)
    if (word /= '') read (word, *, iostat=wrong(1)) cells
    call get_command_argument(3, word)
    if (word /= '') read (word, *, iostat=wrong(2)) seconds
    if (any(wrong /= 0) .or. cells < 3*layer .or. .not. seconds > 0) &
      error stop 'usage: mpirun -n RANKS+1 fd3d_scaling VARIANT CELLS [SECONDS [WORD...]]; cells from 30'
    allocate (only(max(0, command_argument_count() - 3)))
    do i = 1, size(only)
      call get_command_argument(i + 3, only(i))
    end do
    attenuates = any(only == 'q')
  end subroutine Arguments

  !> No word of its kind leaves it out.
  pure logical function Wanted(word, kind)
    character(*), intent(in) :: word, kind(:)
    integer :: i
    Wanted = any(only == word) .or. .not. any([(any(only == kind(i)), i=1, size(kind))])
  end function Wanted

  pure logical function WantedCut(parts)
    integer, intent(in) :: parts(3)
    WantedCut = any(only == Cut(parts)) .or. .not. any(index(only, 'x') > 0)
  end function WantedCut

  pure function Cut(parts) result(words)
    integer, intent(in) :: parts(3)
    character(:), allocatable :: words
    words = Str(parts(1))//'x'//Str(parts(2))//'x'//Str(parts(3))
  end function Cut

  !> The first rank of the group speaks.
  subroutine Tell(line)
    character(*), intent(in) :: line
    if (role%rank > 1) return
    write (output_unit, '(a)') line
    flush (output_unit)
  end subroutine Tell

  ! --- a case ---------------------------------------------------------------------------------------------------------

  !> Seconds of a step of a grid of n cells with layers so wide: the median, of the slowest rank.
  real(dp) function StepTakes(solver, who, n, wide, parts, halo, widened) result(step)
    type(fd3d_t), intent(inout), target :: solver
    integer, intent(in) :: who, n(3), wide
    integer, intent(in), optional :: parts(3), halo
    logical, intent(in), optional :: widened
    type(scheme3d_t) :: scheme
    type(window_t) :: window
    type(shot_t) :: shot
    real(dp) :: took(0:repeats), longest(1)
    integer :: turn
    step = 0
    window%nx = n(1) - 2*wide
    window%ny = n(2) - 2*wide
    window%nz = n(3) - 2*wide
    window%dx = h
    window%dy = h
    window%dz = h
    window%serial = 1
    allocate (window%medium(window%nx, window%ny, window%nz, merge(5, 3, attenuates)))
    window%medium(:, :, :, 1) = 3000
    window%medium(:, :, :, 2) = 1700
    window%medium(:, :, :, 3) = 2200
    if (attenuates) window%medium(:, :, :, 4:) = 0.02_sp
    shot%record = 1
    shot%sx = 0.5_dp*window%nx*h
    shot%sy = 0.5_dp*window%ny*h
    shot%sz = 0.5_dp*window%nz*h
    shot%rx = [shot%sx]
    shot%ry = [shot%sy]
    shot%rz = [shot%sz]
    shot%channel = [1]
    scheme = SchemeOf(wide)
    if (present(parts)) scheme%own%decomposition = parts
    if (present(halo)) scheme%own%halo = halo
    if (present(widened)) scheme%own%wide = merge(wide_yes, wide_no, widened)
    if (who == pieces) solver%partners => group
    do turn = 0, repeats
      if (who == pieces) call GroupShotBegins(group)
      scheme%nt = 8
      if (turn > 0) scheme%nt = max(8, min(100000, nint(seconds/took(0))))
      scheme%nt_out = scheme%nt
      scheme%q = spread(1.0e-3_sp, 1, scheme%nt)
      if (.not. allocated(error)) call solver%setup(scheme, window, shot, error)
      if (.not. allocated(error)) call solver%modfd(error)
      longest = solver%seconds/scheme%nt
      if (who /= one) call group%largest(longest, error)
      if (allocated(error)) return
      took(turn) = longest(1)
    end do
    step = Median(took(1:))
  end function StepTakes

  pure type(scheme3d_t) function SchemeOf(wide) result(s)
    integer, intent(in) :: wide
    s%dx = h
    s%dy = h
    s%dz = h
    s%dt = 1.5e-3_dp
    s%dt_out = s%dt
    s%fband = 40
    s%fpeak = 15
    s%vmin = 1700
    s%vmax = 3000
    s%half_length = length
    s%w(:length) = weights
    s%time_correction = .false.
    s%npml = wide
    s%variant = trim(variant)
    s%components = 'vx'
    s%threads = 1
    s%own%attenuates = attenuates
    s%own%q_band = [0.5_dp, 20.0_dp]
    s%own%q_ref = 5
    s%own%qmin = 50
    s%own%planes = 'top'
    s%own%fields = 'vz'
    s%own%source%kind = 1
    s%own%source%force = [1, 0, 0]
    s%own%source%moment = [1.0e10_dp, 1.0e10_dp, 1.0e10_dp, 0.0_dp, 0.0_dp, 0.0_dp]
  end function SchemeOf

  ! --- the model ------------------------------------------------------------------------------------------------------

  !> Measures the costs of cells and launches: each rank has a grid of its own.
  subroutine Kinds()
    type(fd3d_t), target :: solver
    real(dp) :: all, inner, step
    integer :: n(3)
    n = cells
    all = real(cells, dp)**3
    inner = real(cells - 2*layer, dp)**3
    costs%launch = StepTakes(solver, each, spread(tiny, 1, 3), 0)/2
    costs%core = (StepTakes(solver, each, n, 0) - 2*costs%launch)/all
    step = StepTakes(solver, each, n, layer)
    costs%layer = (step - 2*costs%launch - inner*costs%core)/(all - inner)
    costs%alone = all/step
    call solver%free()
    if (allocated(error)) return
    call Tell(trim(variant)//', '//Str(group%n)//' rank'//trim(merge('s', ' ', group%n > 1))//' of '//Str(cells)// &
              '^3 cells'//trim(merge(' with Q', '       ', attenuates))//', each alone, all at once: '// &
              Str(1e6_dp*step, 5)//' us/step, '//Str(group%n*all/step*1e-6_dp, 4)// &
              ' Mcell/s; core '//Str(1e12_dp*costs%core, 4)//' ps a cell, layers '//Str(1e12_dp*costs%layer, 4)// &
              ' ps, a launch '//Str(1e6_dp*costs%launch, 3)//' us')
  end subroutine Kinds

  !> Seconds of a step of the slowest piece.
  pure real(dp) function Forecast(solver, overlap) result(slowest)
    type(fd3d_t), intent(in) :: solver
    logical, intent(in) :: overlap
    real(dp) :: compute, inner, light, exchange
    integer :: first(3), last(3), low(3), high(3), a, p, side, messages, n(3), margin(3)
    logical :: wide
    slowest = 0
    wide = solver%grid%wide
    do p = 1, product(solver%cuts%parts)
      call CutsPiece(solver%cuts, p, first, last)
      n = last - first + 1
      low = max(first, 1 + solver%width(1::2))
      high = min(last, solver%whole%n - solver%width(2::2))
      messages = 0
      exchange = 0
      margin = 0
      do side = 1, 6
        a = (side + 1)/2
        if (merge(first(a) == 1, last(a) == solver%whole%n(a), modulo(side, 2) == 1)) cycle
        messages = messages + merge(1, 2, wide)
        margin(a) = margin(a) + merge(length, 0, wide)
        exchange = exchange + 6*length*4*real(product(n)/n(a), dp)/costs%rate
        if (.not. overlap .or. wide) cycle
        if (modulo(side, 2) == 1) low(a) = max(low(a), first(a) + length)
        if (modulo(side, 2) == 0) high(a) = min(high(a), last(a) - length)
      end do
      if (wide) then
        inner = product(real(max(0, high - low + 1), dp))*costs%core
        compute = inner + (product(real(n, dp)) - inner/costs%core)*costs%layer + merge(3, 2, overlap)*costs%launch
        compute = compute + 2*(product(real(n + margin, dp)) - product(real(n, dp)))*costs%layer/3 + exchange
        slowest = max(slowest, compute + merge(max(0, count(margin > 0) - 1), messages, overlap)*costs%message)
        cycle
      end if
      light = product(real(max(0, high - low + 1), dp))
      inner = light*costs%core
      compute = inner + (product(real(n, dp)) - light)*costs%layer + merge(4, 2, overlap)*costs%launch
      if (overlap .and. any(solver%partners%carried == by_gpu .or. solver%partners%carried == by_pinned)) then
        compute = compute + max(0.0_dp, exchange + messages*costs%message - inner)
      else
        compute = compute + exchange + merge(0, messages, overlap)*costs%message
      end if
      slowest = max(slowest, compute)
    end do
  end function Forecast

  ! --- the table ------------------------------------------------------------------------------------------------------

  subroutine Scaling(kind)
    character(*), intent(in) :: kind
    type(fd3d_t), target :: whole
    integer :: parts(3), n(3), x, y, way, width
    integer, allocatable :: ways(:)
    real(dp) :: alone
    if (allocated(error)) return
    ways = [halo_host, halo_mpi]
    if (gpu) ways = [halo_ipc, halo_host, halo_mpi]
    n = cells
    alone = 0
    if (kind == 'strong') then
      if (group%mine == 1) alone = StepTakes(whole, one, n, layer)
      call whole%free()
      call Share(alone)
      call Tell('strong: the first rank alone, the others idle: '//Str(1e6_dp*alone, 5)//' us/step')
    end if
    do x = 1, group%n
      do y = 1, group%n
        if (modulo(group%n, x*y) /= 0 .or. group%n == 1) cycle
        parts = [x, y, group%n/(x*y)]
        if (.not. WantedCut(parts)) cycle
        if (kind == 'weak') n = cells*parts
        if (any(n/parts < 2*layer)) cycle
        do way = 1, size(ways)
          if (.not. Wanted(trim(halo_words(ways(way))), halo_words)) cycle
          do width = 1, size(widths)
            if (.not. Wanted(trim(widths(width)), widths) .or. (width > 1 .and. ways(way) == halo_ipc)) cycle
            if (Wanted('overlap', manners)) call OneLine(kind, n, parts, ways(way), .true., width > 1, alone)
            if (Wanted('order', manners)) call OneLine(kind, n, parts, ways(way), .false., width > 1, alone)
          end do
        end do
      end do
    end do
  end subroutine Scaling

  !> The first rank's number, which is 0 elsewhere, to all.
  subroutine Share(x)
    real(dp), intent(inout) :: x
    real(dp) :: all(1)
    all = x
    call group%largest(all, error)
    x = all(1)
  end subroutine Share

  subroutine OneLine(kind, n, parts, halo, overlap, wide, alone)
    character(*), intent(in) :: kind
    integer, intent(in) :: n(3), parts(3), halo
    logical, intent(in) :: overlap, wide
    real(dp), intent(in) :: alone
    type(fd3d_t), target :: solver
    character(:), allocatable :: words
    real(dp) :: step, told, x(2), all
    if (allocated(error)) return
    solver%overlaps = overlap
    step = StepTakes(solver, pieces, n, layer, parts, halo, wide)
    if (.not. allocated(error)) then
      x(1) = maxval(group%latency, group%with > 0)
      x(2) = maxval(1/max(1.0_dp, group%rate), group%with > 0)
      call group%largest(x, error)
    end if
    if (allocated(error)) return
    costs%message = x(1)
    costs%rate = 1/x(2)
    told = Forecast(solver, overlap)
    all = product(real(n, dp))
    words = Str(all/step*1e-6_dp, 4)//' Mcell/s'
    if (kind == 'strong') words = words//', '//Str(alone/step, 3)//' times one rank'
    if (kind == 'weak') words = words//', '//Str(100*all/(step*group%n*costs%alone), 3)//' % of ranks alone'
    call Tell(kind//' '//Cut(parts)//'  '//halo_words(halo)//'  '// &
              merge('overlap ', 'in order', overlap)//'  '//merge('wide  ', 'narrow', wide)//'  '//Str(1e6_dp*step, 5)// &
              ' us/step, '//words//'; forecast '//Str(1e6_dp*told, 5)//' us ('//Str(1e6_dp*costs%message, 3)//' us a message, '// &
              Str(1e-9_dp*costs%rate, 3)//' GB/s)')
    call solver%free()
  end subroutine OneLine

end program fd3d_scaling
