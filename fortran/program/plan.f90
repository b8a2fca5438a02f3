!> The verb plan: what a run would be, without running it: grid, time step, margins, memory, disk, time, every problem.
module plan_m
  use device_c, only: device_count, device_memory, device_name, device_use, device_why
  use checkpoint_rule_m, only: checkpoint_t, CheckpointEvery, CheckpointRule
  use disk_m, only: disk_t, DiskNeed, DiskText
  use error_m, only: error_t, FailFromC
  use files_m, only: FileExists, FileSpace
  use shots_per_gpu_m, only: ShotsAtOnce
  use grow_m, only: GrowForetell
  use group_size_m, only: GroupAdvise, GroupFewest, GroupNeed, GroupSized
  use grouping_m, only: ON_CORES, ON_GPU
  use forecast_m, only: cost_t, EXCHANGE, ForecastCommit, ForecastRun, ForecastShot, ForecastWait
  use iso_c_binding, only: c_char, c_long
  use kinds_m, only: dp
  use keymap_m, only: KeymapShot
  use log_m, only: LogInfo, LogPrint
  use memory_need_m, only: memory_t, MemoryBytes, MemoryCheck, MemoryNeed
  use physics_m, only: physics_t
  use rehearsal_m, only: Rehearse
  use roles_m, only: role_t, RolesThreads, RolesUsable
  use scheme_m, only: scheme_t
  use shot_m, only: shot_t
  use solver_m, only: solver_t
  use parameters_m, only: job_t
  use survey_m, only: survey_t, SurveyCells, SurveyFilmBytes, SurveyRead, SurveyHeader, SurveyWindow
  use gather_header_m, only: gather_header_t
  use parameter_table_m, only: SplitList
  use text_m, only: Counted, Duration, FString, NextLine, Str
  use window_m, only: window_t
  implicit none
  private
  public :: Plan

  real(dp), parameter :: many = 3.0e7_dp           !< cells of a shot whose set-up may take some seconds

  !> The extremes of a survey.
  type :: span_t
    integer :: largest = 1                        !< slot of the shot with the most cells
    real(dp) :: cells = 0, total = 0              !< cells of that shot, of all shots; with layers
    real(dp), allocatable :: of(:), traces(:)     !< cells and traces of each, (shots)
    real(dp), allocatable :: pictures(:)          !< numbers of pictures and maps of each, (shots)
    real(dp) :: receivers = 0                     !< of all shots
    real(dp) :: gain = 1                          !< a group steps through that shot so many times faster than one rank
    real(dp) :: left = huge(1.0_dp), right = huge(1.0_dp), below = huge(1.0_dp)   !< room to the model's edges [m]
  end type span_t

contains

  !> Reads all that the job names, prints the plan; `settings`: the resolved parameters as text; `error` tells every problem, a line
  !> each. Rank 0 alone does it.
  subroutine Plan(role, physics, job, settings, error)
    type(role_t), intent(in) :: role
    class(physics_t), target, intent(inout) :: physics
    character(*), intent(in) :: settings
    type(job_t), intent(in) :: job
    type(error_t), allocatable, intent(inout) :: error
    type(survey_t) :: survey
    type(span_t) :: span
    logical :: fits
    call SurveyRead(physics, job, survey, error)
    if (allocated(error)) return
    survey%scheme%threads = RolesThreads(role, job%threads)
    call Rows('', physics%plan_rows(survey%scheme))
    call PrintScheme(survey%scheme)
    call Measure(survey, span, error)
    if (allocated(error)) return
    call PrintShots(survey, span)
    if (job%group == 0) call ChooseGroup(survey, role, error)
    if (allocated(error)) return
    if (survey%scheme%ranks > 1) call PrintGroup(survey, span, .false.)
    call PrintMemory(survey, role, fits)
    call PrintDisk(survey, settings, error)
    if (allocated(error)) return
    if (.not. fits) call Row('time', 'not measured: this machine is short of memory')
    if (.not. fits) return
    if (job%forecast > 0) call Forecast(survey, span, role, error)
    if (.not. job%forecast > 0) call Row('time', 'not measured: forecast = 0')
    if (allocated(error)) return
    if (job%gpn > 0) call PrintGpu(survey, span)
  end subroutine Plan

  subroutine Forecast(survey, span, role, error)
    type(survey_t), intent(in) :: survey
    type(span_t), intent(in) :: span
    type(role_t), intent(in) :: role
    type(error_t), allocatable, intent(inout) :: error
    type(cost_t) :: cost
    if (span%cells > many) call LogInfo('time     is found by a trial, with set-up of up to '//Str(span%cells/1e6_dp, 4)//' Mcells')
    call Rehearse(survey, span%largest, .false., cost, error)
    if (allocated(error)) return
    call PrintStates(survey, span, cost)
    call PrintTime(survey, span, role, cost)
  end subroutine Forecast

  subroutine PrintScheme(s)
    class(scheme_t), intent(in) :: s
    call Row('grid', s%grid_words()//', '//s%layer_words())
    call Row('time step', Str(1000*s%dt)//' ms, '//Str(100*s%dt/s%dt_limit, 4)//' % of the stability limit of '// &
             Str(1000*s%dt_limit)//' ms; '//Str(s%nt)//' steps from t = '//Str(s%t_start)//' s')
    call Row('traces', Str(s%nt_out)//' samples of '//Str(1000*s%dt_out)//' ms'//Odd(s%dt_out)//'; components '//s%components)
    call Row('frequency', 'highest '//Str(s%fmax, 4)//' Hz: '//Str(s%ppw, 4)//' points per shortest wavelength, '// &
             s%accuracy_words())
    call Rows('warning', s%warnings)
  end subroutine PrintScheme

  !> Words on a sample interval [s] that spl-export will refuse.
  pure function Odd(dt) result(s)
    real(dp), intent(in) :: dt
    character(:), allocatable :: s
    s = ''
    if (nint(1e6_dp*dt) < 1 .or. abs(1e6_dp*dt - anint(1e6_dp*dt)) > 1e-9_dp*1e6_dp*dt) &
      s = ', no whole microseconds, as SEG-Y and SU need'
  end function Odd

  subroutine Measure(survey, span, error)
    type(survey_t), intent(in) :: survey
    type(span_t), intent(out) :: span
    type(error_t), allocatable, intent(inout) :: error
    type(shot_t) :: shot
    real(dp) :: cells
    integer :: i
    associate (m => survey%physics)
      allocate (span%of(survey%keymap%n), span%traces(survey%keymap%n), span%pictures(survey%keymap%n))
      do i = 1, survey%keymap%n
        call KeymapShot(survey%keymap, i, shot)
        cells = SurveyCells(survey, shot, error)
        if (allocated(error)) return
        span%of(i) = cells
        span%traces(i) = size(shot%rx)*size(SplitList(survey%scheme%components))
        span%pictures(i) = SurveyFilmBytes(survey, survey%keymap%record(i))/4
        if (cells > span%cells) then
          span%cells = cells
          span%largest = i
        end if
        span%total = span%total + cells
        span%receivers = span%receivers + size(shot%rx)
        span%left = min(span%left, min(shot%sx, minval(shot%rx)) - m%low(1))
        span%right = min(span%right, m%high(1) - max(shot%sx, maxval(shot%rx)))
        span%below = min(span%below, m%high(3) - max(shot%sz, maxval(shot%rz)))
      end do
    end associate
  end subroutine Measure

  subroutine PrintShots(survey, span)
    type(survey_t), intent(in) :: survey
    type(span_t), intent(in) :: span
    associate (k => survey%keymap)
      call Row('shots', Str(k%n)//', records '//Str(k%record(1))//' .. '//Str(k%record(k%n))//', up to '// &
               Counted(k%nrec_max, 'receiver')//' each, '//Str(span%receivers/k%n, 4)//' on average')
    end associate
    if (.not. survey%physics%endless) &
      call Row('margins', 'outermost source or receiver is '//Str(span%left)//' m from the left, '//Str(span%right)// &
             ' m from the right, '//Str(span%below)//' m from the bottom of the model')
    call Row('window', 'largest '//Str(1.0e-6_dp*span%cells, 4)//' Mcells (shot '//Str(survey%keymap%record(span%largest))// &
             '), mean '//Str(1.0e-6_dp*span%total/survey%keymap%n, 4)//' Mcells')
  end subroutine PrintShots

  !> Tells how the ranks of a group would share the largest shot, on GPUs or on cores.
  subroutine PrintGroup(survey, span, gpu)
    type(survey_t), intent(in) :: survey
    type(span_t), intent(inout) :: span
    logical, intent(in) :: gpu
    type(window_t) :: window
    type(shot_t) :: shot
    type(error_t), allocatable :: ignored          ! the shot was looked at before
    character(:), allocatable :: words
    real(dp) :: exchange
    call KeymapShot(survey%keymap, span%largest, shot)
    call SurveyWindow(survey, shot, .false., window, ignored)
    call survey%physics%sharing(survey%scheme, window, gpu, words, span%gain, exchange)
    call Row(merge('GPU group', 'group    ', gpu), Str(survey%scheme%ranks)//' ranks a shot; the largest is cut '//words// &
             '; expected: '//Str(span%gain, 3)//' times as fast as one rank, '//Str(100*exchange, 2)// &
             ' % of a step for what they give each other')
  end subroutine PrintGroup

  !> group=auto: the ranks of a group, if all ranks of the job have as much memory as this one; where their GPUs are not here, what
  !> these must have. Fails where another shot cannot be cut so.
  subroutine ChooseGroup(survey, role, error)
    type(survey_t), intent(inout) :: survey
    type(role_t), intent(in) :: role
    type(error_t), allocatable, intent(inout) :: error
    type(memory_t) :: memory
    character(:), allocatable :: text
    integer(c_long) :: free, total
    real(dp) :: room
    integer :: kind, n
    kind = merge(ON_GPU, ON_CORES, survey%job%gpn > 0)
    room = 0
    if (kind == ON_CORES) then
      call MemoryNeed(survey, memory)
      n = findloc(role%nodes%master, .true., 1)
      room = max(0.0_dp, real(role%nodes(n)%available, dp) - memory%master)/max(1, role%nodes(n)%workers)
      if (role%nodes(n)%total <= 0) room = huge(room)
    else if (device_count() > 0) then
      call FailFromC(device_use(0), error)
      if (.not. allocated(error)) call FailFromC(device_memory(0, free, total), error)
      if (allocated(error)) return
      room = RolesUsable(free, survey%job%ranks_per_gpu)
    end if
    if (room > 0 .or. kind == ON_CORES) then
      n = GroupFewest(survey, room, kind)
      text = 'auto: '//Str(n)//' rank(s) hold the largest shot, '//MemoryBytes(GroupNeed(survey, max(1, n), kind))// &
             ' each, of '//MemoryBytes(room)//' that a rank has here'
      if (n == 0) text = 'auto: no group holds the largest shot, '//MemoryBytes(GroupNeed(survey, 1, kind))// &
                         ', where a rank has the '//MemoryBytes(room)//' of here'
      call Row('group', text)
      call GroupSized(survey, max(1, n), kind == ON_GPU, error)
    else
      call Row('group', 'auto: as few ranks as hold the largest shot')
      n = 1
      do while (n <= 8)
        call Row('', Str(n)//' where a GPU has '//MemoryBytes(GroupNeed(survey, n, kind))//' for a rank')
        n = 2*n
      end do
    end if
  end subroutine ChooseGroup

  !> The memory that a run needs on the machines of this job. `fits`: the largest shot can be tried here.
  subroutine PrintMemory(survey, role, fits)
    type(survey_t), intent(inout) :: survey
    type(role_t), intent(in) :: role
    logical, intent(out) :: fits
    type(memory_t) :: memory
    type(error_t), allocatable :: short
    character(:), allocatable :: warning
    fits = .false.
    call MemoryNeed(survey, memory, survey%job%gpn > 0 .and. survey%scheme%ranks > 1)
    call MemoryCheck(memory, role%nodes, warning, short)
    call GroupAdvise(survey, role%nodes, short)
    call Row('memory', MemoryBytes(memory%worker)//' a worker rank, '//MemoryBytes(memory%master)//' rank 0')
    if (allocated(short)) call Row('', short%message)
    if (.not. allocated(short)) call Rows('warning', warning)
    associate (n => role%nodes)
      fits = .not. any(n%master .and. n%total > 0 .and. memory%worker > real(n%available, dp))
    end associate
  end subroutine PrintMemory

  subroutine PrintDisk(survey, settings, error)
    type(survey_t), intent(in) :: survey
    character(*), intent(in) :: settings
    type(error_t), allocatable, intent(inout) :: error
    type(gather_header_t) :: header
    type(disk_t) :: disk
    character(:), allocatable :: text
    call SurveyHeader(survey, settings, header)
    call DiskNeed(survey, header, disk, error)
    if (.not. allocated(error)) call Row('disk', DiskText(disk, survey%job%output, survey%physics%pictures))
    text = ''
    if (.not. (survey%job%overwrite .or. allocated(error))) &
      call GrowForetell(survey%job%output, header, survey%keymap, text, error)
    if (text /= '') call Row('output', text)
    if (.not. (FileExists(survey%job%output) .or. allocated(error))) call WarnOfSpace(survey%job%output, disk)
  end subroutine PrintDisk

  !> Tells where a new output finds no room on the disk of this machine: a run there is refused.
  subroutine WarnOfSpace(output, disk)
    character(*), intent(in) :: output
    type(disk_t), intent(in) :: disk
    real(dp) :: free
    free = FileSpace(output(:index(output, '/', back=.true.))//'.')
    if (free >= 0 .and. free < disk%gathers + disk%beside) &
      call Row('warning', MemoryBytes(free)//' of disk are free here where '//output// &
               ' is to be: make room, or choose another disk')
  end subroutine WarnOfSpace

  !> Disk that states of shots in flight take beside the output, where shots are long enough to have them.
  subroutine PrintStates(survey, span, cost)
    type(survey_t), intent(in) :: survey
    type(span_t), intent(in) :: span
    type(cost_t), intent(in) :: cost
    type(checkpoint_t) :: rule
    real(dp) :: every, state
    logical :: ok
    associate (job => survey%job)
      call CheckpointRule(job%checkpoint, job%mtbf, job%output, rule, ok)
      state = cost%state + SurveyFilmBytes(survey, survey%keymap%record(span%largest))/4
      every = CheckpointEvery(rule, state, 0.0_dp)
      if (cost%state <= 0 .or. every <= 0 .or. span%cells*survey%scheme%nt*cost%step < every) return
      call Row('', 'up to '//MemoryBytes(8*state)//' for the states of a shot in flight, one every '//Duration(every)//' or so')
    end associate
  end subroutine PrintStates

  !> `cost`: of a worker like this rank.
  subroutine PrintTime(survey, span, role, cost)
    type(survey_t), intent(in) :: survey
    type(span_t), intent(in) :: span
    type(role_t), intent(in) :: role
    type(cost_t), intent(in) :: cost
    real(dp), allocatable :: shot(:)             ! its time in one process
    real(dp) :: beside, commit
    integer :: workers
    associate (s => survey%scheme)
      allocate (shot, source=ForecastShot(cost, span%of, real(s%nt, dp), span%traces) + WithPictures(cost, span))
      commit = ForecastCommit(cost, sum(shot)/size(shot))
      beside = (sum(shot - WithPictures(cost, span)) - cost%step*sum(span%of)*s%nt)/size(shot) + commit
      call Row('time', 'about '//Lasts(ForecastRun(shot, commit, 0))//' in one process like this rank ('//Threads(cost, s)// &
               ' of '//role%processor//', '//Str(1.0e-6_dp/cost%step, 3)//' Mcell/s, '//Str(1000*beside, 3)// &
               ' ms a shot for set-up, traces and files)')
      workers = max(1, (role%size - 1)/s%ranks)
      if (.not. role%alone) call Row('', 'about '//Lasts(Apart(workers))//' on the '//Str(workers)// &
                                     ' worker(s) of this job'//trim(merge(', groups of ranks', repeat(' ', 17), s%ranks > 1)))
      if (role%alone) call Row('', 'with more workers divide by their number: about '//Lasts(Apart(8))// &
                               ' on 8; not below '//Lasts(Apart(size(shot)))//', whatever their number')
      if (cost%picture > 0) call Row('', Lasts(sum(WithPictures(cost, span)))//' of it in one process for '// &
                                     trim(survey%physics%pictures))
      if (cost%picture < 0) call Row('', 'without '//trim(survey%physics%pictures)//', which could not be tried')
    end associate

  contains

    !> The time of the run with so many workers beside rank 0.
    real(dp) function Apart(workers)
      integer, intent(in) :: workers
      real(dp), allocatable :: theirs(:)
      allocate (theirs, source=shot/span%gain + EXCHANGE)
      theirs = theirs + ForecastWait(cost, sum(theirs)/size(shot)/workers)
      Apart = ForecastRun(theirs, ForecastCommit(cost, 0.0_dp), workers)
    end function Apart
  end subroutine PrintTime

  !> Seconds that pictures and maps add to each shot.
  pure function WithPictures(cost, span) result(seconds)
    type(cost_t), intent(in) :: cost
    type(span_t), intent(in) :: span
    real(dp) :: seconds(size(span%pictures))
    seconds = max(cost%picture, 0.0_dp)*span%pictures
  end function WithPictures

  !> '2 threads', or '1 of 2 threads' where a shot gets fewer than the rank may take.
  function Threads(cost, scheme) result(s)
    type(cost_t), intent(in) :: cost
    class(scheme_t), intent(in) :: scheme
    character(:), allocatable :: s
    s = Str(scheme%threads)//trim(merge(' thread ', ' threads', scheme%threads == 1))
    if (cost%threads < scheme%threads) s = Str(cost%threads)//' of '//s
  end function Threads

  !> A time in words that is worth no more digits.
  function Lasts(seconds) result(s)
    real(dp), intent(in) :: seconds
    character(:), allocatable :: s
    s = Duration(seconds)
    if (seconds < 20) s = Str(seconds, 2)//' s'
  end function Lasts

  !> The shots that fit on the GPUs of this node at once, and the speed of one of them.
  subroutine PrintGpu(survey, span)
    type(survey_t), intent(inout) :: survey
    type(span_t), intent(inout) :: span
    type(error_t), allocatable :: error
    type(cost_t) :: cost
    real(dp), allocatable :: shot(:)
    real(dp) :: room, need, commit
    character(:), allocatable :: name, words
    integer :: shots, too_large, n
    if (device_count() == 0) then
      call PrintMissingGpu(survey, span)
      return
    end if
    call UseGpu(survey%job, name, room, error)
    if (.not. allocated(error)) call Needs(survey, room, need, words, too_large, error)
    if (.not. allocated(error)) then
      shots = ShotsAtOnce(survey%job%shots_per_gpu, span%cells, need, room)
      n = device_count()
      call Row('GPU', name//', '//Str(min(n, survey%job%gpn))//' of '//Str(n)//' on this node')
      call Row('GPU memory', MemoryBytes(need)//OfEach(survey)//' for the largest shot, '//MemoryBytes(room)//' for a rank'// &
               Fits(shots))
      if (words /= '') call Row('', words)
      if (too_large > 0) call Row('', Str(too_large)//' of '//Str(survey%keymap%n)//' shots do not fit: the rank computes '// &
                                  'them on CPU cores; a smaller aperture or depth, or larger dx and dz, would help')
      if (survey%scheme%ranks > 1) call PrintGroup(survey, span, .true.)
      if (survey%scheme%ranks > 1 .or. too_large > 0) call PrintFewest(GroupFewest(survey, room, ON_GPU))
      if (shots == 0 .or. .not. survey%job%forecast > 0) return
      survey%scheme%gpu_room = room
      call Rehearse(survey, span%largest, .true., cost, error)
    end if
    if (allocated(error)) then
      call Row('GPU', 'cannot be used: '//error%message)
    else
      allocate (shot, source=ForecastShot(cost, span%of, real(survey%scheme%nt, dp), span%traces, shots > 1) + &
                             WithPictures(cost, span))
      n = max(1, min(n, survey%job%gpn))
      commit = ForecastCommit(cost, 0.0_dp)
      call Row('GPU time', 'about '//Lasts(ForecastRun(shot, commit, 1))//' on one GPU ('//Str(1.0e-9_dp/cost%step, 3)// &
               ' Gcell/s'//trim(merge(', set-up and traces meanwhile', repeat(' ', 29), shots > 1))//')')
      associate (ranks => survey%scheme%ranks)
        if (ranks > 1) then
          n = max(1, n*survey%job%ranks_per_gpu/ranks)
          call Row('', 'about '//Lasts(ForecastRun(shot/span%gain, commit, n))//' on '//Str(n)//' group(s) of '//Str(ranks))
        else if (n > 1) then
          call Row('', 'about '//Lasts(ForecastRun(shot, commit, n))//' on '//Str(n))
        end if
      end associate
    end if
  end subroutine PrintGpu

  !> The first GPU of this node is used from here on: its name, and how much of its memory a rank may take [bytes].
  subroutine UseGpu(job, name, room, error)
    type(job_t), intent(in) :: job
    character(:), allocatable, intent(out) :: name
    real(dp), intent(out) :: room
    type(error_t), allocatable, intent(inout) :: error
    character(kind=c_char, len=256) :: buffer
    integer(c_long) :: free, total
    room = 0
    call FailFromC(device_use(0), error)
    if (.not. allocated(error)) call FailFromC(device_name(0, len(buffer), buffer), error)
    if (.not. allocated(error)) call FailFromC(device_memory(0, free, total), error)
    if (allocated(error)) return
    name = FString(buffer)
    room = RolesUsable(free, job%ranks_per_gpu)
    if (job%gpu_memory > 0) room = min(room, 1.0e9_dp*job%gpu_memory)
  end subroutine UseGpu

  !> Memory that shots would take of a GPU, where there is none.
  subroutine PrintMissingGpu(survey, span)
    type(survey_t), intent(inout) :: survey
    type(span_t), intent(inout) :: span
    type(error_t), allocatable :: error
    character(kind=c_char, len=256) :: buffer
    character(:), allocatable :: words
    real(dp) :: room, need
    integer :: rc, too_large
    rc = device_why(len(buffer), buffer)
    call Row('GPU', 'none here: '//FString(buffer))
    room = merge(1.0e9_dp*survey%job%gpu_memory, huge(1.0_dp), survey%job%gpu_memory > 0)
    call Needs(survey, room, need, words, too_large, error)
    if (.not. allocated(error)) call Row('GPU memory', MemoryBytes(need)//OfEach(survey)//' for the largest shot')
    if (words /= '') call Row('', words)
    if (survey%scheme%ranks > 1) call PrintGroup(survey, span, .true.)
  end subroutine PrintMissingGpu

  pure function OfEach(survey) result(s)
    type(survey_t), intent(in) :: survey
    character(:), allocatable :: s
    s = ''
    if (survey%scheme%ranks > 1) s = ' on each of '//Str(survey%scheme%ranks)//' ranks'
  end function OfEach

  subroutine PrintFewest(ranks)
    integer, intent(in) :: ranks
    if (ranks == 1) call Row('', 'one rank holds the largest shot: group=1 would do')
    if (ranks > 1) call Row('', 'the largest shot needs group='//Str(ranks)//' or more, each rank with as much room')
  end subroutine PrintFewest

  function Fits(shots) result(s)
    integer, intent(in) :: shots
    character(:), allocatable :: s
    s = ''
    if (shots > 0) s = ': '//Str(shots)//' shot(s) at once'
  end function Fits

  !> GPU memory of the largest shot [bytes], what is said of it, and how many shots need more than `room`.
  subroutine Needs(survey, room, need, words, too_large, error)
    type(survey_t), intent(in) :: survey
    real(dp), intent(in) :: room
    real(dp), intent(out) :: need
    character(:), allocatable, intent(out) :: words
    integer, intent(out) :: too_large
    type(error_t), allocatable, intent(inout) :: error
    class(solver_t), allocatable :: solver
    class(scheme_t), allocatable :: scheme
    type(window_t) :: window
    type(shot_t) :: shot
    real(dp) :: one
    integer :: i
    need = 0
    words = ''
    too_large = 0
    allocate (scheme, source=survey%scheme)
    call survey%physics%solver(solver)
    scheme%variant = solver%choose(scheme%variant, .true.)
    scheme%gpu_room = merge(room, 0.0_dp, room < huge(1.0_dp))
    do i = 1, survey%keymap%n
      call KeymapShot(survey%keymap, i, shot)
      call SurveyWindow(survey, shot, .false., window, error)
      if (allocated(error)) return
      one = solver%need(scheme, window, size(shot%rx)*size(SplitList(scheme%components)))
      if (one > room) too_large = too_large + 1
      if (one > need) words = solver%need_words(scheme, window)
      need = max(need, one)
    end do
  end subroutine Needs

  !> Rows of one name, a line each; of no name: lines that are whole rows.
  subroutine Rows(name, lines)
    character(*), intent(in) :: name, lines
    character(:), allocatable :: line
    integer :: at
    at = 1
    do while (at <= len(lines))
      call NextLine(lines, at, line)
      if (name == '') call LogPrint('  '//line)
      if (name /= '') call Row(name, line)
    end do
  end subroutine Rows

  !> A row of the plan; further lines of `value` stand below the first.
  subroutine Row(name, value)
    character(*), intent(in) :: name, value
    character(11) :: column
    character(:), allocatable :: line
    integer :: at
    column = name
    at = 1
    do while (at <= len(value))
      call NextLine(value, at, line)
      call LogPrint('  '//column//line)
      column = ''
    end do
  end subroutine Row

end module plan_m
