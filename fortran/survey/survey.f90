!> A survey ready to be modelled: job, key-map, model, wavelet and scheme, every one checked.
module survey_m
  use across_line_m, only: across_line_t, AcrossAttributes, AcrossShot, AcrossWords
  use error_m, only: error_t, Fail
  use far_stations_m, only: far_stations_t, FarBlame, FarLook, FarSay
  use fingerprint_m, only: Fingerprint
  use gather_header_m, only: gather_header_t
  use host_c, only: host_seconds
  use idle_parameters_m, only: IdleParameters
  use keymap_m, only: keymap_t, KeymapFiles, KeymapFind, KeymapLines, KeymapRead, KeymapRule, KeymapShot, KeymapUnmoved
  use kinds_m, only: dp, sp
  use log_m, only: LogInfo, LogLines
  use parameter_table_m, only: SplitList
  use parameters_m, only: job_t
  use physics_m, only: physics_t
  use problems_m, only: ProblemAdd, problems_t, ProblemsRaise
  use scheme_m, only: scheme_t, SchemeWarn
  use shot_m, only: shot_t
  use sides_m, only: SideOf
  use snapshots_m, only: FioSnapshotsPlace
  use surveycheck_m, only: surveycheck_t, SurveyBegin, SurveySays, SurveyShot
  use text_m, only: Str, ToInt
  use wavelet_m, only: wavelet_t
  use window_m, only: box_t, window_t
  use gather_m, only: numbers_most
  implicit none
  private
  public :: survey_t, SurveyRead, SurveyHeader, SurveyLog, SurveyDealt, SurveySnapshots, SurveyWindow, SurveyMedia
  public :: SurveyCells, SurveyFilmBytes

  real(dp), parameter :: patience = 10          !< seconds of checking after which the log tells how far it is

  type :: survey_t
    class(physics_t), pointer :: physics => null()   !< it has the model
    type(job_t) :: job
    type(keymap_t) :: keymap
    type(wavelet_t) :: wavelet
    type(across_line_t) :: across                 !< 2D: positions across the line, which are left out
    type(far_stations_t) :: far                   !< stations that alone make a window large
    class(scheme_t), allocatable :: scheme
    integer, allocatable :: snapshot_records(:)   !< shots to take snapshots of
    integer :: largest = 0                        !< record number of the shot with the largest window
    type(window_t) :: window                      !< that window, without its medium
  end type survey_t

contains

  !> Reads and checks all that the job names. Nothing is written. An error holds one line a problem.
  subroutine SurveyRead(physics, job, survey, error)
    class(physics_t), target, intent(inout) :: physics
    type(job_t), intent(in) :: job
    type(survey_t), intent(out) :: survey
    type(error_t), allocatable, intent(inout) :: error
    type(shot_t) :: first
    character(:), allocatable :: idle
    survey%physics => physics
    survey%job = job
    call KeymapRead(survey%keymap, job%keymap, error)
    if (.not. allocated(error)) call CheckLists(survey, error)
    if (.not. allocated(error)) call physics%read(job, error)
    if (.not. allocated(error)) call physics%wavelet(job, survey%wavelet, error)
    if (allocated(error)) return
    call physics%new_scheme(survey%scheme)
    call KeymapShot(survey%keymap, 1, first)
    call physics%derive(job, survey%wavelet, first, survey%scheme, error)
    if (.not. allocated(error)) call ChooseSnapshots(survey, error)
    if (.not. allocated(error)) call CheckSnapshots(survey, error)
    if (.not. allocated(error) .and. physics%step_in_doubt(job, survey%scheme)) then
      if (AllHaveWindows(survey)) call physics%search_step(job, survey%wavelet, first, survey%scheme, error)
    end if
    if (allocated(error)) return
    if (physics%doubts /= '') call SchemeWarn(survey%scheme, physics%doubts)
    if (survey%wavelet%doubt /= '') call SchemeWarn(survey%scheme, survey%wavelet%doubt)
    idle = IdleParameters(job, physics%attenuates)
    if (idle /= '') call SchemeWarn(survey%scheme, idle)
    call CheckSize(survey, error)                      ! at once: shots with so many receivers take long to look at
    if (.not. allocated(error)) call CheckShots(survey, error)
    if (.not. allocated(error)) call CheckInterval(survey, error)
  end subroutine SurveyRead

  !> No file that a run writes may be one that the key-map names; those of parameters are looked at in job.f90.
  subroutine CheckLists(survey, error)
    type(survey_t), intent(in) :: survey
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: path, what
    integer :: i
    i = 1
    path = KeymapFiles(survey%keymap, i)
    do while (path /= '')
      what = SideOf(survey%job%output, path)
      if (what /= '') call Fail(error, 'output = '//survey%job%output//' would overwrite the receiver list '//path// &
                                ', which the key-map names, with '//what//' of the run: give another output')
      i = i + 1
      path = KeymapFiles(survey%keymap, i)
    end do
  end subroutine CheckLists

  !> False where a shot cannot be modelled for its geometry, which CheckShots tells: nothing that takes long should come before.
  logical function AllHaveWindows(survey) result(all_have)
    type(survey_t), intent(in) :: survey
    type(error_t), allocatable :: problem
    type(shot_t) :: shot
    type(window_t) :: window
    integer :: i
    all_have = .true.
    do i = 1, survey%keymap%n
      call KeymapShot(survey%keymap, i, shot)
      call SurveyWindow(survey, shot, .false., window, problem)
      all_have = .not. allocated(problem)
      if (.not. all_have) return
    end do
  end function AllHaveWindows

  !> Collects the problems of geometry and window of all shots.
  subroutine CheckShots(survey, error)
    type(survey_t), intent(inout) :: survey
    type(error_t), allocatable, intent(inout) :: error
    type(error_t), allocatable :: problem
    type(problems_t) :: problems
    type(shot_t) :: shot
    type(window_t) :: window
    type(surveycheck_t) :: check
    real(dp) :: due
    integer :: i
    due = host_seconds() + patience
    associate (physics => survey%physics, job => survey%job, scheme => survey%scheme)
      call SurveyBegin(check, physics, job, scheme, survey%wavelet)
      do i = 1, survey%keymap%n
        if (host_seconds() > due) then
          due = host_seconds() + patience
          call LogInfo('shots    '//Str(i - 1)//' of '//Str(survey%keymap%n)//' are checked, before the first of them is modelled')
        end if
        call KeymapShot(survey%keymap, i, shot)
        call physics%window(job, scheme, shot, .false., window, problem)
        if (allocated(problem)) call FarBlame(physics, job, scheme, shot, problem)
        if (.not. allocated(problem)) call FarLook(survey%far, physics, job, scheme, shot, window)
        if (.not. (allocated(problem) .or. problems%full())) call physics%check_shot(job, scheme, shot, window, problem)
        if (.not. allocated(problem)) call SurveyShot(check, physics, job, scheme, shot, window, problem)
        if (allocated(problem)) then
          call ProblemAdd(problems, problem%message)
          deallocate (problem)
        else if (Nodes(window) > Nodes(survey%window)) then
          survey%largest = shot%record
          survey%window = window
        end if
        if (job%axes(2)) cycle
        call KeymapUnmoved(survey%keymap, i, shot)
        call AcrossShot(survey%across, shot)
      end do
      call ProblemsRaise(problems, 'the geometry', error)
      if (.not. allocated(error)) call FarSay(survey%far, scheme)
      if (.not. allocated(error)) call SurveySays(check, physics, job, scheme, survey%wavelet, error)
      if (.not. allocated(error)) call physics%warn(job, scheme, error)
    end associate
  end subroutine CheckShots

  pure real(dp) function Nodes(window)
    type(window_t), intent(in) :: window
    Nodes = real(window%nx, dp)*window%nz*max(1, window%ny)
  end function Nodes

  !> Fails where a gather is too large.
  subroutine CheckSize(survey, error)
    type(survey_t), intent(in) :: survey
    type(error_t), allocatable, intent(inout) :: error
    integer :: ncomp
    associate (s => survey%scheme, nrec => survey%keymap%nrec_max)
      ncomp = size(SplitList(s%components))
      if (real(nrec, dp)*s%nt_out*ncomp > numbers_most) &
        call Fail(error, 'a gather of '//Str(nrec)//' receivers x '//Str(s%nt_out)//' samples x '//Str(ncomp)// &
                  ' component(s) is too large, at most 2e9 samples: use a larger dt_out or fewer receivers')
    end associate
  end subroutine CheckSize

  !> Makes the head of the file of gathers; `settings`: the resolved parameters as text.
  subroutine SurveyHeader(survey, settings, header)
    type(survey_t), intent(in) :: survey
    character(*), intent(in) :: settings
    type(gather_header_t), intent(out) :: header
    associate (c => survey%scheme, m => survey%physics)
      header%record = survey%keymap%record
      header%nrec_max = survey%keymap%nrec_max
      header%nt = c%nt_out
      header%dt_out = c%dt_out
      header%components = c%components
      header%y_used = survey%job%axes(2)
      header%fingerprint = Fingerprint(survey%job, c, trim(survey%keymap%hash), trim(m%hash), m%own_words(survey%job, c)// &
                                       trim(' '//survey%wavelet%numbers))
      call m%describe(c, header)
      call header%add('time_zero', 't = 0 is time zero of the source; the first sample of a trace is at t = 0')
      call header%add('wavelet', survey%wavelet%name)
      call header%add('wavelet_time_zero', survey%wavelet%t_zero)
      call header%add('wavelet_peak_frequency_Hz', survey%wavelet%fpeak)
      call header%add('highest_frequency_Hz', c%fmax)
      call m%describe_scheme(survey%job, c, header)
      call header%add('model', m%sources)
      call header%add('model_hash', m%hash)
      call header%add('model_velocity_m_s', [m%vmin, m%vmax])
      call header%add('model_density_kg_m3', [m%rhomin, m%rhomax])
      call header%add('keymap_hash', survey%keymap%hash)
      call AcrossAttributes(survey%across, header)
      call DescribeNavigation(survey%keymap, header)
      call header%add('parameters', settings)
    end associate
  end subroutine SurveyHeader

  !> Adds the rule between map and model, and the names of lines.
  subroutine DescribeNavigation(keymap, header)
    type(keymap_t), intent(in) :: keymap
    type(gather_header_t), intent(inout) :: header
    character(:), allocatable :: crs, words
    real(dp) :: origin(2), azimuth
    logical :: ruled, left, kept
    header%navigation = keymap%navigation_hash
    if (keymap%navigation_hash == '') return
    header%line = KeymapLines(keymap)
    call KeymapRule(keymap, ruled, crs, origin, azimuth, left, kept, words)
    call header%add('navigation_crs', crs)
    call header%add('navigation_rule', words)
    if (.not. ruled) return
    call header%add('navigation_origin_m', origin)
    call header%add('navigation_azimuth_degrees', azimuth)
    call header%add('navigation_y', trim(merge('left ', 'right', left)))
    call header%add('navigation_offset', trim(merge('kept     ', 'projected', kept)))
  end subroutine DescribeNavigation

  !> Tells the log what is to be modelled, and what the user should know before.
  subroutine SurveyLog(survey)
    type(survey_t), intent(in) :: survey
    associate (c => survey%scheme, m => survey%physics)
      call LogLines(m%log_lines(c), .false.)
      call LogInfo('grid     '//c%grid_words()//', '//Str(c%ppw, 3)//' points per shortest wavelength at '// &
                   Str(c%fmax, 4)//' Hz, '//c%accuracy_words())
      call LogInfo('time     dt '//Str(1000*c%dt)//' ms (limit '//Str(1000*c%dt_limit)//'), '//Str(c%nt)//' steps; traces '// &
                   Str(c%nt_out)//' x '//Str(1000*c%dt_out)//' ms')
      call LogNavigation(survey)
      call LogInfo('source   '//survey%wavelet%name//', time zero at t = '//Str(survey%wavelet%t_zero, 6)//' s')
      call LogLines(c%warnings, .true.)
    end associate
  end subroutine SurveyLog

  !> Tells the log where the survey lies on the map, and what 2D leaves out of it.
  subroutine LogNavigation(survey)
    type(survey_t), intent(in) :: survey
    character(:), allocatable :: crs, rule, across
    real(dp) :: origin(2), azimuth
    logical :: ruled, left, kept
    call KeymapRule(survey%keymap, ruled, crs, origin, azimuth, left, kept, rule)
    if (survey%keymap%navigation_hash /= '') call LogInfo('map      '//crs//': '//rule)
    across = AcrossWords(survey%across, kept)
    if (across /= '') call LogInfo('line     '//across)
  end subroutine LogNavigation

  !> The shots that snapshots are wanted of: those listed, else the first. Each must be in the key-map.
  subroutine ChooseSnapshots(survey, error)
    type(survey_t), intent(inout) :: survey
    type(error_t), allocatable, intent(inout) :: error
    character(32), allocatable :: list(:)
    logical :: ok
    integer :: i
    allocate (survey%snapshot_records(0))
    if (.not. survey%physics%wants_pictures(survey%job)) return
    survey%snapshot_records = survey%keymap%record(:1)
    if (survey%job%snapshot_shots == '') return
    list = SplitList(survey%job%snapshot_shots)
    deallocate (survey%snapshot_records)
    allocate (survey%snapshot_records(size(list)))
    do i = 1, size(list)
      call ToInt(trim(list(i)), survey%snapshot_records(i), ok)
      if (any(survey%keymap%record == survey%snapshot_records(i))) cycle
      call Fail(error, 'snapshot_shots names shot record '//trim(list(i))//', which is not among those to be modelled: '// &
                'see the key-map '//survey%job%keymap)
    end do
  end subroutine ChooseSnapshots

  !> Fails where the snapshots of a shot are too large, or the file of somebody else has their name. What is wrong with the geometry
  !> of a shot is for CheckShots to tell.
  subroutine CheckSnapshots(survey, error)
    type(survey_t), intent(in) :: survey
    type(error_t), allocatable, intent(inout) :: error
    type(error_t), allocatable :: problem
    type(shot_t) :: shot
    type(window_t) :: window
    integer :: i
    do i = 1, size(survey%snapshot_records)
      call FioSnapshotsPlace(survey%job%output, survey%snapshot_records(i), error)
      if (allocated(error)) return
      call KeymapShot(survey%keymap, findloc(survey%keymap%record, survey%snapshot_records(i), 1), shot)
      call SurveyWindow(survey, shot, .false., window, problem)
      if (allocated(problem)) then
        deallocate (problem)
        cycle
      end if
      call survey%physics%check_pictures(survey%scheme, shot, window, error)
      if (allocated(error)) return
    end do
  end subroutine CheckSnapshots

  !> Fails where snapshots are closer to each other than time steps.
  subroutine CheckInterval(survey, error)
    type(survey_t), intent(in) :: survey
    type(error_t), allocatable, intent(inout) :: error
    associate (s => survey%scheme)
      if (size(survey%snapshot_records) > 0 .and. s%snapshot > 0 .and. s%snapshot < s%dt) &
        call Fail(error, 'snapshot = '//Str(s%snapshot)// &
        ' s is shorter than the time step, '//Str(s%dt)//' s: give at least that')
    end associate
  end subroutine CheckInterval

  !> Bytes of the snapshots, or of films and maps, of a shot; 0 if none are wanted of it.
  real(dp) function SurveyFilmBytes(survey, record) result(bytes)
    type(survey_t), intent(in) :: survey
    integer, intent(in) :: record
    type(shot_t) :: shot
    type(window_t) :: window
    type(error_t), allocatable :: ignored           ! CheckSnapshots has told it
    bytes = 0
    if (.not. SurveySnapshots(survey, record)) return
    call KeymapShot(survey%keymap, KeymapFind(survey%keymap, record), shot)
    call SurveyWindow(survey, shot, .false., window, ignored)
    bytes = 4*survey%physics%picture_numbers(survey%scheme, window)
  end function SurveyFilmBytes

  !> The window of a shot, with its medium, or that of a box of it, or without.
  subroutine SurveyWindow(survey, shot, medium, window, error, box)
    type(survey_t), intent(in) :: survey
    type(shot_t), intent(in) :: shot
    logical, intent(in) :: medium
    type(window_t), intent(out) :: window
    type(error_t), allocatable, intent(inout) :: error
    type(box_t), intent(in), optional :: box
    call survey%physics%window(survey%job, survey%scheme, shot, medium, window, error, box)
  end subroutine SurveyWindow

  !> A shot as workers get it: its geometry, and what the model tells of the earth at its receivers.
  subroutine SurveyDealt(survey, slot, shot)
    type(survey_t), intent(in) :: survey
    integer, intent(in) :: slot
    type(shot_t), intent(out) :: shot
    call KeymapShot(survey%keymap, slot, shot)
    call survey%physics%look_around(survey%job, survey%scheme, shot)
  end subroutine SurveyDealt

  !> The media of a box of the cells of a shot's window, whose parts are known: along x, y, z, then part after part.
  subroutine SurveyMedia(survey, shot, window, box, media, error)
    type(survey_t), intent(in) :: survey
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    type(box_t), intent(in) :: box
    real(sp), contiguous, intent(inout) :: media(:)
    type(error_t), allocatable, intent(inout) :: error
    call survey%physics%media(survey%job, survey%scheme, shot, window, box, media, error)
  end subroutine SurveyMedia

  !> Cells of the grid of a shot, layers included.
  real(dp) function SurveyCells(survey, shot, error) result(cells)
    type(survey_t), intent(in) :: survey
    type(shot_t), intent(in) :: shot
    type(error_t), allocatable, intent(inout) :: error
    type(window_t) :: window
    call SurveyWindow(survey, shot, .false., window, error)
    cells = survey%scheme%cells(window)
  end function SurveyCells

  logical function SurveySnapshots(survey, record) result(wanted)
    type(survey_t), intent(in) :: survey
    integer, intent(in) :: record
    wanted = any(survey%snapshot_records == record)
  end function SurveySnapshots

end module survey_m
