!> What the set-up of a 3D shot costs, stage by stage, in processor time a cell of the window: its media on rank 0, on their way,
!> and in the rank that models it, on cores with one thread.
!>
!>     fd3d_setup_bench [CELLS [REPEATS]]
!>
!> CELLS**3 cells, elastic and with Q; of flat layers, of volumes on the grid's own spacing, and of volumes of two thirds of it. The
!> smallest of so many repetitions is told.
program fd3d_setup_bench
  use, intrinsic :: iso_fortran_env, only: output_unit
  use error_m, only: error_t
  use fd3d_m, only: fd3d_t
  use kinds_m, only: dp, i8, sp
  use model3d_m, only: model3d_t
  use model3d_window_m, only: Model3dMedia
  use model_checksum_m, only: ModelChecksumAdd, ModelChecksumRoom
  use model_samples_m, only: part_t
  use parameters_m, only: job_t
  use protocol_m, only: message_t
  use scheme3d_m, only: scheme3d_t
  use shot_m, only: shot_t
  use shot_messages_m, only: MediaMessage, WindowFrom
  use text_m, only: Str
  use window_m, only: box_t, window_t, WindowAtOnce
  implicit none

  integer, parameter :: stages = 6
  integer, parameter :: made = 1, sealed = 2, taken = 3, grid = 4, medium = 5, points = 6
  character(*), parameter :: name(stages) = [character(40) :: 'media made, rank 0', 'sealed, rank 0', &
                                             'checked, put into the window', 'grid and memory of the engine', 'medium', &
                                             'source, receivers, pictures']
  real(dp), parameter :: h = 10
  integer :: cells, repeats

  call Arguments()
  call Measure('layers', .false.)
  call Measure('layers', .true.)
  call Measure('volumes', .false.)
  call Measure('volumes', .true.)
  call Measure('finer volumes', .false.)

contains

  subroutine Arguments()
    character(32) :: word
    integer :: wrong(2)
    wrong = 0
    cells = 200
    repeats = 3
    call get_command_argument(1, word)
    if (word /= '') read (word, *, iostat=wrong(1)) cells
    call get_command_argument(2, word)
    if (word /= '') read (word, *, iostat=wrong(2)) repeats
    if (any(wrong /= 0) .or. cells < 30 .or. repeats < 1) error stop 'usage: fd3d_setup_bench [CELLS [REPEATS]]; cells from 30'
  end subroutine Arguments

  !> All stages of a shot in a model of a kind.
  subroutine Measure(kind, q)
    character(*), intent(in) :: kind
    logical, intent(in) :: q
    type(model3d_t) :: earth
    type(job_t) :: job
    type(error_t), allocatable :: error
    real(dp) :: took(stages), best(stages)
    integer :: turn, s
    job%regrid = 'average'
    call MakeEarth(kind, q, earth)
    best = huge(1.0_dp)
    do turn = 1, repeats
      call OneShot(earth, job, took, error)
      if (allocated(error)) write (output_unit, '(a)') 'fd3d_setup_bench: '//error%message
      if (allocated(error)) error stop
      best = min(best, took)
    end do
    write (output_unit, '(a)') kind//trim(merge(', with Q', '        ', q))//', '//Str(cells)//'**3 cells: ns a cell'
    do s = 1, stages
      write (output_unit, '(2x, a, f8.2)') name(s), best(s)*1.0e9_dp/real(cells, dp)**3
    end do
    flush (output_unit)
  end subroutine Measure

  subroutine MakeEarth(kind, q, earth)
    character(*), intent(in) :: kind
    logical, intent(in) :: q
    type(model3d_t), intent(out) :: earth
    integer :: i, n
    earth%attenuates = q
    earth%vmax = 5500
    if (kind == 'layers') then
      earth%layers%n = 3
      earth%layers%top = [0.0_dp, 3*h, cells*h/3]
      earth%layers%medium = reshape([2500.0_dp, 1300.0_dp, 2200.0_dp, 0.01_dp, 0.02_dp, 4000.0_dp, 2300.0_dp, 2500.0_dp, 0.005_dp, &
                                     0.01_dp, 5500.0_dp, 3200.0_dp, 2700.0_dp, 0.002_dp, 0.004_dp], [5, 3])
      return
    end if
    n = cells
    if (kind /= 'volumes') n = 3*cells/2
    earth%n = n
    earth%d = cells*h/n
    earth%x0 = earth%d/2
    earth%low = 0
    earth%high = cells*h
    earth%part = part_t([1, 1, 1], [n, n, n])
    allocate (earth%vp(n, n*n), earth%vs(n, n*n), earth%rho(n, n*n))
    do i = 1, n*n
      earth%vp(:, i) = 2500 + 3000*(real(i)/(n*n)) + 40*modulo(i, 7)
    end do
    earth%vs = earth%vp/1.8
    earth%rho = 310*earth%vp**0.25
    call ModelChecksumRoom(n, n*n, earth%checksum(1))
    call ModelChecksumRoom(n, n*n, earth%checksum(2))
    call ModelChecksumAdd(earth%vp, earth%vs, 0, earth%checksum(1))
    call ModelChecksumAdd(earth%rho, earth%rho, 0, earth%checksum(2))
    if (.not. q) return
    earth%qs = 20/earth%vs
    earth%qp = earth%qs/2
    call ModelChecksumRoom(n, n*n, earth%checksum(3))
    call ModelChecksumAdd(earth%qp, earth%qs, 0, earth%checksum(3))
  end subroutine MakeEarth

  !> Processor time of each stage of a shot [s].
  subroutine OneShot(earth, job, took, error)
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    real(dp), intent(out) :: took(stages)
    type(error_t), allocatable, intent(inout) :: error
    type(fd3d_t), target :: solver
    type(scheme3d_t) :: scheme
    type(window_t) :: window, outline
    type(shot_t) :: shot
    real(dp) :: times(3), start
    integer :: turn
    outline%nx = cells
    outline%ny = cells
    outline%nz = cells
    outline%dx = h
    outline%dy = h
    outline%dz = h
    outline%parts = merge(5, 3, earth%attenuates)
    window = outline
    took = 0
    call Travel(earth, job, outline, window, took, error)
    shot%record = 1
    shot%sx = 0.52_dp*cells*h
    shot%sy = 0.48_dp*cells*h
    shot%sz = 0.51_dp*cells*h
    shot%rx = [shot%sx]
    shot%ry = [shot%sy]
    shot%rz = [0.2_dp*cells*h]
    shot%channel = [1]
    scheme = SchemeOf(earth%attenuates)
    do turn = 1, 3                                ! all; the medium once more; neither grid nor medium
      window%serial = min(turn, 2)
      start = Now()
      if (.not. allocated(error)) call solver%setup(scheme, window, shot, error)
      times(turn) = Now() - start
    end do
    took([grid, medium, points]) = [times(1) - times(2), times(2) - times(3), times(3)]
    call solver%free()
  end subroutine OneShot

  !> Media from rank 0 to the window, some layers at a time.
  subroutine Travel(earth, job, outline, window, took, error)
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(window_t), intent(in) :: outline
    type(window_t), intent(inout) :: window
    real(dp), intent(inout) :: took(stages)
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable, target :: tray(:)
    type(message_t) :: message
    type(box_t) :: box, all
    real(dp) :: start
    integer :: last, layers
    logical :: next
    all = box_t([1, 1, 1], [cells, cells, cells])
    layers = min(cells, WindowAtOnce(outline, all))
    allocate (tray(int(layers, i8)*cells*cells*outline%parts), source=0.0_sp)
    last = 0
    do while (last < cells .and. .not. allocated(error))
      box = all
      box%low(3) = last + 1
      box%high(3) = min(cells, last + layers)
      message%lent => tray(:int(box%high(3) - last, i8)*cells*cells*outline%parts)
      start = Now()
      call Model3dMedia(earth, job, outline, box, message%lent, error)
      took(made) = took(made) + Now() - start
      start = Now()
      call MediaMessage(1, box, outline%parts, 1, message)
      took(sealed) = took(sealed) + Now() - start
      start = Now()
      if (.not. allocated(error)) call WindowFrom(message, all, 1, window, last, next, error)
      took(taken) = took(taken) + Now() - start
    end do
  end subroutine Travel

  pure type(scheme3d_t) function SchemeOf(q) result(s)
    logical, intent(in) :: q
    s%dx = h
    s%dy = h
    s%dz = h
    s%dt = 1.0e-3_dp
    s%dt_out = s%dt
    s%fband = 40
    s%fpeak = 15
    s%vmin = 1300
    s%vmax = 5500
    s%half_length = 2
    s%w(:2) = [9/8.0_dp, -1/24.0_dp]
    s%time_correction = .false.
    s%npml = 10
    s%variant = 'cpu'
    s%components = 'vx'
    s%threads = 1
    s%nt = 8
    s%nt_out = 8
    s%q = spread(1.0e-3_sp, 1, 8)
    s%own%attenuates = q
    s%own%q_band = [1, 30]
    s%own%q_ref = 10
    s%own%qmin = 50
    s%own%planes = 'top'
    s%own%fields = 'vz'
    s%own%source%kind = 1
    s%own%source%force = [1, 0, 0]
    s%own%source%moment = [1.0e10_dp, 1.0e10_dp, 1.0e10_dp, 0.0_dp, 0.0_dp, 0.0_dp]
  end function SchemeOf

  real(dp) function Now()
    call cpu_time(Now)
  end function Now

end program fd3d_setup_bench
