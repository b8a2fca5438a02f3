!> The costs of the parts of a shot on this machine, found in some seconds (parameter `forecast`): whole shots of the survey where
!> they are small, else some steps of one, of a piece of it where even its set-up would take long. Nothing is written but nameless
!> bytes onto the disk of the output.
module rehearsal_m
  use error_m, only: error_t
  use files_m, only: FileCommit
  use forecast_m, only: cost_t
  use gather_m, only: gather_t
  use host_c, only: host_seconds
  use keymap_m, only: KeymapFind, KeymapShot
  use kinds_m, only: dp
  use parameters_m, only: job_t
  use survey_m, only: survey_t, SurveyCells, SurveyFilmBytes
  use scheme_m, only: scheme_t
  use shot_m, only: shot_t
  use solver_m, only: time_position_t, solver_t
  use parameter_table_m, only: SplitList
  use timeloop_m, only: timeloop_t
  use window_m, only: window_t
  implicit none
  private
  public :: Rehearse

  real(dp), parameter :: busy = 3                  !< so many times as long on a busy machine
  real(dp), parameter :: UNTRIED = 5.0e-3_dp       !< what a commit is taken for where it cannot be tried [s]
  integer, parameter :: SHOTS = 50                 !< tried at most
  integer, parameter :: FIRST_CHUNKS = 2           !< of the time loop, not counted where others follow

  type :: start_t
    real(dp) :: wall = 0, cpu = 0                  !< [s]
    real(dp) :: seconds = 0                        !< that the rehearsal takes about
  end type start_t

  !> Sums over what was tried.
  type :: sums_t
    real(dp) :: setup = 0, cells = 0               !< [s] for cells
    real(dp) :: loop = 0, updates = 0              !< [s] for cell updates
    real(dp) :: gather = 0, traces = 0             !< [s] for traces
    real(dp) :: state = 0                          !< numbers in the last state of the shot tried last
    real(dp) :: whole_loop = 0, pictures = 0       !< cell updates of all steps, numbers of pictures, of the shots tried
  end type sums_t

contains

  !> Costs on the cores or the GPU of this rank with scheme%threads, `largest`: slot of the shot with the most cells, the first
  !> tried.
  subroutine Rehearse(survey, largest, gpu, cost, error)
    type(survey_t), intent(in) :: survey
    integer, intent(in) :: largest
    logical, intent(in) :: gpu
    type(cost_t), intent(out) :: cost
    type(error_t), allocatable, intent(inout) :: error
    class(solver_t), allocatable :: solver
    class(scheme_t), allocatable :: scheme
    type(sums_t) :: sums
    type(start_t) :: start
    integer :: tried, n
    logical :: whole, enough
    start = Begun(survey%job%forecast)
    allocate (scheme, source=survey%scheme)
    call scheme%no_pictures()
    call survey%physics%solver(solver)
    scheme%variant = solver%choose(scheme%variant, gpu)
    n = min(SHOTS, survey%keymap%n)
    do tried = 1, n
      if (tried == 2) sums = sums_t()              ! the first finds cold caches, and memory not yet there
      call OneShot(survey, scheme, solver, Chosen(survey, largest, tried, n), gpu, start, sums, whole, error)
      if (tried == 1) cost%state = sums%state
      enough = Over(start)
      if (allocated(error) .or. .not. whole .or. enough) exit
    end do
    if (allocated(error)) return
    select type (solver)
    class is (timeloop_t)
      cost%threads = solver%team%threads
    end select
    cost%setup = sums%setup/max(sums%cells, 1.0_dp)
    cost%step = sums%loop/max(sums%updates, 1.0_dp)
    cost%trace = sums%gather/max(sums%traces, 1.0_dp)
    cost%gather = 4.0_dp*survey%keymap%nrec_max*size(SplitList(scheme%components))*scheme%nt_out
    cost%commit = Commit(survey, cost%gather)
    cost%sync = min(cost%commit, Commit(survey, 0.0_dp))
    if (size(survey%snapshot_records) > 0) call Pictures(survey, solver, scheme%variant, gpu, cost)
    call solver%free()
  end subroutine Rehearse

  !> Tries a shot with its pictures: their cost beside that of steps, a number. Those of other shots are taken for as dear.
  subroutine Pictures(survey, solver, variant, gpu, cost)
    type(survey_t), intent(in) :: survey
    class(solver_t), intent(inout) :: solver
    character(*), intent(in) :: variant
    logical, intent(in) :: gpu
    type(cost_t), intent(inout) :: cost
    class(scheme_t), allocatable :: scheme
    type(error_t), allocatable :: error            ! such as a plane that a piece of the shot does not hold
    type(sums_t) :: sums
    type(start_t) :: start
    real(dp) :: bytes
    logical :: whole, enough
    start = Begun(survey%job%forecast)
    allocate (scheme, source=survey%scheme)
    scheme%variant = variant
    cost%picture = -1
    enough = .false.
    do while (.not. enough)
      call OneShot(survey, scheme, solver, KeymapFind(survey%keymap, survey%snapshot_records(1)), gpu, start, sums, whole, error)
      enough = Over(start) .or. .not. whole
      if (allocated(error)) return
    end do
    if (.not. (sums%pictures > 0 .and. sums%updates > 0)) return
    cost%picture = max(0.0_dp, sums%setup - cost%setup*sums%cells + (sums%loop/sums%updates - cost%step)*sums%whole_loop)
    bytes = SurveyFilmBytes(survey, survey%snapshot_records(1))
    cost%picture = cost%picture/sums%pictures + 4*Commit(survey, bytes)/bytes
  end subroutine Pictures

  type(start_t) function Begun(seconds) result(start)
    real(dp), intent(in) :: seconds
    start%seconds = seconds
    start%wall = host_seconds()
    call cpu_time(start%cpu)
  end function Begun

  !> True when enough shots are tried; that takes longer where other programs take most of the time.
  logical function Over(start)
    type(start_t), intent(in) :: start
    real(dp) :: wall, cpu
    wall = host_seconds() - start%wall
    call cpu_time(cpu)
    Over = wall > busy*start%seconds .or. (wall > start%seconds .and. cpu - start%cpu > 0.75_dp*start%seconds)
  end function Over

  !> The shot that is tried as number i of n: the largest, then some spread over the key-map.
  pure integer function Chosen(survey, largest, i, n) result(slot)
    type(survey_t), intent(in) :: survey
    integer, intent(in) :: largest, i, n
    slot = largest
    if (i > 1) slot = 1 + int(real(i - 1, dp)*survey%keymap%n/n)
  end function Chosen

  !> Adds what a shot costs to the sums; of steps those that are done in time. `whole`: all of it was done.
  subroutine OneShot(survey, scheme, solver, slot, gpu, start, sums, whole, error)
    type(survey_t), intent(in) :: survey
    class(scheme_t), intent(in) :: scheme
    class(solver_t), intent(inout) :: solver
    integer, intent(in) :: slot
    logical, intent(in) :: gpu
    type(start_t), intent(in) :: start             !< of the rehearsal
    type(sums_t), intent(inout) :: sums
    logical, intent(out) :: whole
    type(error_t), allocatable, intent(inout) :: error
    type(job_t) :: job
    type(shot_t) :: shot
    type(window_t) :: window
    class(scheme_t), allocatable :: alone
    type(gather_t) :: gather
    real(dp) :: from, to, cells, most
    logical :: piece
    whole = .false.
    call KeymapShot(survey%keymap, slot, shot)
    job = survey%job
    most = merge(huge(1.0_dp), survey%physics%cells_to_try, gpu)
    if (gpu .and. scheme%ranks > 1) most = SurveyCells(survey, shot, error)/scheme%ranks   ! one GPU may hold no more
    call Shrink(survey, scheme, most, job, shot, piece, error)
    from = host_seconds()
    allocate (alone, source=scheme)
    alone%ranks = 1                               ! the shot is tried on this rank: it has the whole window
    if (.not. allocated(error)) call survey%physics%window(job, alone, shot, .true., window, error)
    if (.not. allocated(error)) call survey%physics%look_around(job, alone, shot)
    if (.not. allocated(error)) call solver%setup(scheme, window, shot, error)
    if (allocated(error) .and. piece) call Instead(solver, scheme, sums, error)   ! such as a fault that the piece does not hold
    if (allocated(error) .or. sums%updates > 0 .and. piece) return
    cells = scheme%cells(window)
    to = host_seconds()
    sums%setup = sums%setup + to - from
    sums%cells = sums%cells + cells
    sums%whole_loop = sums%whole_loop + cells*scheme%nt
    sums%pictures = sums%pictures + survey%physics%picture_numbers(scheme, window)
    sums%state = StateSize(survey, solver, scheme, slot, cells)
    call Loop(solver, scheme, cells, start, sums, whole, error)
    whole = whole .and. .not. piece
    if (allocated(error) .or. .not. whole) return
    from = host_seconds()
    call solver%gather(gather, error)
    sums%gather = sums%gather + host_seconds() - from
    sums%traces = sums%traces + size(shot%rx)*size(SplitList(scheme%components))
  end subroutine OneShot

  !> Numbers in the last state of a whole shot, from those that the solver has of a piece of it.
  real(dp) function StateSize(survey, solver, scheme, slot, cells) result(n)
    type(survey_t), intent(in) :: survey
    class(solver_t), intent(in) :: solver
    class(scheme_t), intent(in) :: scheme
    integer, intent(in) :: slot
    real(dp), intent(in) :: cells
    type(shot_t) :: shot
    type(error_t), allocatable :: ignored            ! the shot was looked at before
    call KeymapShot(survey%keymap, slot, shot)
    n = real(solver%state_size(time_position_t(step=scheme%nt)), dp)*max(1.0_dp, SurveyCells(survey, shot, ignored)/cells)
  end function StateSize

  !> The speed in an even medium, where a piece of the survey cannot be tried.
  subroutine Instead(solver, scheme, sums, error)
    class(solver_t), intent(inout) :: solver
    class(scheme_t), intent(in) :: scheme
    type(sums_t), intent(inout) :: sums
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: rate
    rate = solver%trial(scheme)
    if (.not. rate > 0) return
    deallocate (error)
    sums = sums_t(loop=1, updates=rate)
  end subroutine Instead

  !> Steps of a shot until all are done (`whole`) or it is time to end. The first ones find out how many to do at a time, and with
  !> how many threads.
  subroutine Loop(solver, scheme, cells, start, sums, whole, error)
    class(solver_t), intent(inout) :: solver
    class(scheme_t), intent(in) :: scheme
    real(dp), intent(in) :: cells
    type(start_t), intent(in) :: start
    type(sums_t), intent(inout) :: sums
    logical, intent(out) :: whole
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: from, begin, done, fraction, now
    integer :: chunks
    logical :: enough
    from = host_seconds()
    begin = from
    done = 0
    whole = .false.
    chunks = 0
    do while (.not. whole)
      call solver%advance(whole, error)
      if (allocated(error)) return
      chunks = chunks + 1
      fraction = solver%fraction()
      now = host_seconds()
      enough = Over(start)
      if (whole .or. (enough .and. chunks > FIRST_CHUNKS) .or. now - start%wall > 2*busy*start%seconds) exit
      if (chunks == FIRST_CHUNKS) begin = now
      if (chunks == FIRST_CHUNKS) done = fraction
    end do
    if (whole .or. chunks <= FIRST_CHUNKS) then
      begin = from
      done = 0
    end if
    sums%loop = sums%loop + now - begin
    sums%updates = sums%updates + (fraction - done)*scheme%nt*cells
  end subroutine Loop

  !> A shot of more cells than `most` is cut to a piece about its source with one receiver: cells cost the same there.
  subroutine Shrink(survey, scheme, most, job, shot, piece, error)
    type(survey_t), intent(in) :: survey
    class(scheme_t), intent(in) :: scheme
    real(dp), intent(in) :: most
    type(job_t), intent(inout) :: job
    type(shot_t), intent(inout) :: shot
    logical, intent(out) :: piece
    type(error_t), allocatable, intent(inout) :: error
    type(window_t) :: window
    integer :: r
    call survey%physics%window(job, scheme, shot, .false., window, error)
    piece = scheme%cells(window) > most
    if (allocated(error) .or. .not. piece) return
    r = minloc((shot%rx - shot%sx)**2 + (shot%ry - shot%sy)**2, 1)
    shot%rx = shot%rx(r:r)
    shot%ry = shot%ry(r:r)
    shot%rz = shot%rz(r:r)
    shot%channel = shot%channel(r:r)
    if (job%aperture < 0) job%aperture = window%nx*window%dx
    do while (.not. allocated(error) .and. job%aperture > 20*scheme%dx)
      call survey%physics%window(job, scheme, shot, .false., window, error)
      if (scheme%cells(window) <= most) exit
      job%aperture = 0.8_dp*job%aperture
    end do
  end subroutine Shrink

  !> Seconds until so many bytes are safe on the disk of the output.
  real(dp) function Commit(survey, bytes) result(s)
    type(survey_t), intent(in) :: survey
    real(dp), intent(in) :: bytes
    integer :: slash
    associate (output => survey%job%output)
      slash = index(output, '/', back=.true.)
      if (slash > 0) s = FileCommit(output(:slash), bytes)
      if (slash == 0) s = FileCommit('.', bytes)
    end associate
    if (s < 0) s = UNTRIED
    s = s*max(1.0_dp, bytes/2.0_dp**24)
  end function Commit

end module rehearsal_m
