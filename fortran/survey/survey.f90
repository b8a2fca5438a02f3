!> A survey ready to be modelled: job, key-map, model, wavelet and scheme, every one checked.
module survey_m
  use anelastic_m, only: anelastic_least_q, anelastic_t, AnelasticFit, AnelasticUnrelaxed
  use checked_m, only: Below, Whole
  use error_m, only: error_t, Fail
  use problems_m, only: ProblemAdd, problems_t, ProblemsRaise
  use faultwords_m, only: FaultDoubts, FaultLines, FaultRelease, release_t
  use fd2d_engine_m, only: fd2d_grid_t
  use fd3d_check_m, only: Fd3dCheckFilms, Fd3dCheckShot, Fd3dCheckStrength, Fd3dFilmNumbers
  use fd3d_nearfield_m, only: Fd3dNear
  use fingerprint_m, only: Fingerprint, Positions
  use keymap_m, only: keymap_t, KeymapFiles, KeymapFind, KeymapRead, KeymapShot
  use kinds_m, only: dp
  use log_m, only: LogInfo, LogLines
  use model_m, only: model_t, ModelGrid, ModelRead, ModelShape, ModelWindow
  use modelcheck_m, only: ModelCheck
  use parameters_m, only: job_t
  use scheme_m, only: scheme_t, SchemeBand, SchemeCells, SchemeDerive, SchemeSpacing
  use sides_m, only: SideOf, SidePath
  use snapshots_m, only: FioSnapshotsPlace
  use source3d_m, only: source_fault, SourceWords
  use shot_m, only: shot_t
  use fd2d_stability_m, only: StabilityStep
  use gather_header_m, only: gather_header_t
  use surveycheck_m, only: surveycheck_t, SurveyBegin, SurveySays, SurveyShot
  use parameter_table_m, only: SplitList
  use text_m, only: Str, ToInt
  use version_m, only: VersionText
  use wavelet_m, only: wavelet_t, WaveletMake
  use window_m, only: window_t
  implicit none
  private
  public :: survey_t, SurveyRead, SurveyHeader, SurveyLog, SurveySnapshots
  public :: SurveyCells, SurveyFilmBytes, SurveySource

  real(dp), parameter :: numbers_most = 2.0e9_dp   !< of one message: they are counted with 31 bits

  type :: survey_t
    type(job_t) :: job
    type(keymap_t) :: keymap
    type(model_t) :: model
    type(wavelet_t) :: wavelet
    type(scheme_t) :: scheme
    integer, allocatable :: snapshot_records(:)   !< shots to take snapshots of
    integer :: largest = 0, nx = 0, nz = 0        !< record number of the shot with the largest window, and that window's nodes
    integer :: ny = 0                             !< of a 3D job
    type(release_t) :: release                    !< moments of a fault
  end type survey_t

contains

  !> Reads and checks all that the job names. Nothing is written. An error holds one line a fault.
  subroutine SurveyRead(job, survey, error)
    type(job_t), intent(in) :: job
    type(survey_t), intent(out) :: survey
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: doubts
    real(dp) :: dx, dz, dy
    survey%job = job
    call KeymapRead(survey%keymap, job%keymap, error)
    if (.not. allocated(error)) call CheckLists(survey, error)
    if (allocated(error)) return
    call ModelRead(job, survey%model, error)
    if (.not. allocated(error)) call ModelCheck(job, survey%model, doubts, error)
    if (allocated(error)) return
    call FaultWavelet(job, survey%wavelet, error)
    if (.not. allocated(survey%wavelet%q)) call WaveletMake(job, survey%wavelet, error)
    if (allocated(error)) return
    dy = 0
    call ModelGrid(job, survey%model, dx, dz, error, dy)
    if (allocated(error)) return
    if (job%three_d) then
      call SchemeDerive(job, survey%wavelet, survey%model%vmin, Fastest(survey, error), dx, dz, survey%scheme, error, dy)
      survey%scheme%attenuates = survey%model%earth%attenuates
      survey%scheme%qmin = survey%model%earth%qmin
    else
      call SchemeDerive(job, survey%wavelet, survey%model%vmin, survey%model%vmax, dx, dz, survey%scheme, error)
      if (.not. allocated(error)) call HeedContrasts(survey, dx, dz, error)
    end if
    if (allocated(error)) return
    if (doubts /= '') call Warn(survey%scheme, doubts)
    if (survey%wavelet%doubt /= '') call Warn(survey%scheme, survey%wavelet%doubt)
    call CheckSize(survey, error)                      ! at once: shots with so many receivers take long to look at
    if (allocated(error)) return
    call CheckShots(survey, error)
    if (job%three_d .and. .not. allocated(error)) call Fd3dCheckStrength(survey%scheme, error)
    if (.not. allocated(error)) call ChooseSnapshots(survey, error)
    if (.not. allocated(error)) call CheckSnapshots(survey, error)
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

  !> Where densities differ much, as of air and rock, the largest stable step is smaller than the fastest wave alone would have it:
  !> the whole model tells. A larger one that the user gave is refused.
  subroutine HeedContrasts(survey, dx, dz, error)
    type(survey_t), intent(inout) :: survey
    real(dp), intent(in) :: dx, dz
    type(error_t), allocatable, intent(inout) :: error
    type(job_t) :: job
    real(dp) :: limit
    character(:), allocatable :: text
    associate (s => survey%scheme, m => survey%model)
      if (m%rhomax <= 4*m%rhomin) return
      limit = 0.98_dp*StableStep(survey, dx, dz)       ! each shot's own window is looked at again
      if (s%dt <= limit) return
      text = 'the density contrasts of the model (from '//Str(m%rhomin, 4)//' to '//Str(m%rhomax, 4)//' kg/m3) '
      if (survey%job%dt > 0) then
        call Fail(error, text//'make dt = '//Str(s%dt)//' s unstable: set dt to at most '//Str(limit, 4)//' s, or 0 for the '// &
                  'largest stable step, or use half_length=1, or lessen the contrast')
        return
      end if
      job = survey%job
      job%dt = limit
      text = text//'need a step of '//Str(1000*limit, 4)//' ms, where the velocities alone would allow '//Str(1000*s%dt, 4)// &
             ' ms; half_length=1 does not, and is more exact at such a contrast'
      call SchemeDerive(job, survey%wavelet, m%vmin, m%vmax, dx, dz, s, error)
      if (s%warnings /= '') text = s%warnings//new_line('a')//text
      s%warnings = text
    end associate
  end subroutine HeedContrasts

  !> The largest stable step [s] of the model, seen strip by strip; huge if that of the velocities will do.
  real(dp) function StableStep(survey, dx, dz) result(limit)
    type(survey_t), intent(in) :: survey
    real(dp), intent(in) :: dx, dz
    real(dp), parameter :: cells = 4.0e6_dp              ! of a strip
    type(error_t), allocatable :: outside                ! told with the other faults of the geometry
    type(job_t) :: job
    type(shot_t) :: shot
    type(window_t) :: window
    type(fd2d_grid_t) :: grid
    real(dp) :: width
    integer :: strips, i
    limit = huge(limit)
    associate (s => survey%scheme, m => survey%model)
      strips = Whole(1 + Below((m%nx*m%dx/dx)*(m%nz*m%dz/dz)/cells))
      width = (m%nx - 1)*m%dx/strips
      call KeymapShot(survey%keymap, 1, shot)
      job = survey%job
      job%aperture = 0.5_dp*width + 16*dx                ! strips overlap by what differentiators reach
      grid%half_length = s%half_length
      grid%dx = dx
      grid%dz = dz
      grid%dt = s%dt
      grid%w = s%w
      do i = 1, strips
        shot%sx = m%x0 + (i - 0.5_dp)*width
        shot%rx = [shot%sx]
        shot%rz = [shot%sz]
        call ModelWindow(m, job, shot, dx, dz, window, outside)
        if (allocated(outside)) return
        limit = min(limit, StabilityStep(window%rho*window%vp**2, window%rho, grid))
        grid%dt = min(grid%dt, limit)                    ! what is stable then needs no closer look
      end do
    end associate
  end function StableStep

  !> The fastest wave [m/s]: with attenuation that of very high frequencies, faster than the model's.
  real(dp) function Fastest(survey, error) result(v)
    type(survey_t), intent(in) :: survey
    type(error_t), allocatable, intent(inout) :: error
    type(anelastic_t) :: a
    real(dp) :: band(2), reference
    v = survey%model%vmax
    if (.not. survey%model%earth%attenuates .or. .not. survey%model%earth%qmin > 0) return
    call SchemeBand(survey%job, survey%wavelet, band, reference)
    call AnelasticFit(band(1), band(2), a, error)
    if (survey%model%earth%qmin < anelastic_least_q) call Fail(error, 'the smallest Q of the model is '// &
      Str(survey%model%earth%qmin, 4)//', at least '//Str(anelastic_least_q)// &
      ' can be modelled: raise it there, or leave attenuation out (attenuation=n)')
    if (.not. allocated(error)) v = v*sqrt(AnelasticUnrelaxed(a, 1/survey%model%earth%qmin, reference))
  end function Fastest

  !> The histories of a fault have no wavelet, but a band that must be right.
  subroutine FaultWavelet(job, wavelet, error)
    type(job_t), intent(in) :: job
    type(wavelet_t), intent(inout) :: wavelet
    type(error_t), allocatable, intent(inout) :: error
    if (.not. job%three_d) return
    if (job%source /= 'fault') return
    if (.not. job%fmax > 0) call Fail(error, 'source=fault: give fmax [Hz], the highest frequency that must be right')
    wavelet%name = 'histories of '//job%fault
    wavelet%q = [1.0_dp]
    wavelet%fpeak = 0.4_dp*job%fmax
    wavelet%fmax = job%fmax
    wavelet%fband = 1.5_dp*job%fmax
  end subroutine FaultWavelet

  !> Every fault of geometry and window of the survey.
  subroutine CheckShots(survey, error)
    type(survey_t), intent(inout) :: survey
    type(error_t), allocatable, intent(inout) :: error
    type(error_t), allocatable :: fault
    type(problems_t) :: problems
    type(shot_t) :: shot
    type(window_t) :: window
    type(surveycheck_t) :: header
    character(:), allocatable :: nearest
    real(dp), allocatable :: rigidity(:)
    integer :: i, near, n, r
    near = 0
    call SurveyBegin(header, survey%model, survey%scheme)
    do i = 1, survey%keymap%n
      call KeymapShot(survey%keymap, i, shot)
      call ModelShape(survey%model, survey%job, shot, survey%scheme%dx, survey%scheme%dz, window, fault)
      if (survey%job%three_d .and. .not. allocated(fault)) then
        if (.not. problems%full()) &
          call Fd3dCheckShot(survey%model%earth, survey%job, survey%scheme, shot, window, rigidity, fault)
        if (survey%scheme%source%kind == source_fault .and. .not. allocated(fault) .and. allocated(rigidity)) &
          call FaultRelease(survey%scheme%source%fault, rigidity, shot%record, survey%release)
        n = 0
        if (.not. allocated(fault)) &
          call Fd3dNear(survey%model%earth, survey%job, survey%scheme, shot, window, n, r, fault)
        if (n > 0 .and. near == 0) call SayNear(survey%scheme, shot, r, nearest)
        near = near + n
      end if
      if (.not. allocated(fault)) &
        call SurveyShot(header, survey%model, survey%job, survey%scheme, shot, window, fault)
      if (allocated(fault)) then
        call ProblemAdd(problems, fault%message)
        deallocate (fault)
      else if (real(window%nx, dp)*window%nz*max(1, window%ny) > real(survey%nx, dp)*survey%nz*max(1, survey%ny)) then
        survey%largest = shot%record
        survey%nx = window%nx
        survey%nz = window%nz
        survey%ny = window%ny
      end if
    end do
    call ProblemsRaise(problems, 'the geometry', error)
    if (allocated(error)) return
    call HeedFault(survey)
    call SurveySays(header, survey%model, survey%job, survey%scheme, survey%wavelet, survey%scheme%warnings, error)
    if (near > 0) call Warn(survey%scheme, Str(near)//' receiver(s) are closer than 5 cells to their source, the '// &
      'first of them '//nearest//', and the medium is not the same for 4 cells around both, has a free surface there or Q '// &
      'below 500, or cells are over 3 times longer than thin: what the grid lacks so close to a source, tens of per cent and '// &
      'more, cannot be added exactly; use a smaller dx, or do not trust them')
  end subroutine CheckShots

  !> What looks wrong with a fault.
  subroutine HeedFault(survey)
    type(survey_t), intent(inout) :: survey
    character(:), allocatable :: doubts
    associate (c => survey%scheme)
      if (c%source%kind /= source_fault) return
      doubts = FaultDoubts(c%source%fault, survey%job%fault, survey%release, (c%nt_out - 1)*c%dt_out)
      if (doubts /= '') call Warn(c, doubts)
    end associate
  end subroutine HeedFault

  !> What acts in a 3D job, and of a fault what it releases: lines.
  function SurveySource(survey) result(s)
    type(survey_t), intent(in) :: survey
    character(:), allocatable :: s
    s = SourceWords(survey%scheme%source)
    if (survey%scheme%source%kind == source_fault) &
      s = s//new_line('a')//FaultLines(survey%scheme%source%fault, survey%release)
  end function SurveySource

  !> One more line of warnings.
  subroutine Warn(scheme, text)
    type(scheme_t), intent(inout) :: scheme
    character(*), intent(in) :: text
    if (scheme%warnings /= '') scheme%warnings = scheme%warnings//new_line('a')
    scheme%warnings = scheme%warnings//text
  end subroutine Warn

  !> Channel r of a shot in words.
  pure subroutine SayNear(scheme, shot, r, s)
    type(scheme_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    integer, intent(in) :: r
    character(:), allocatable, intent(out) :: s
    s = 'channel '//Str(shot%channel(r))//' of shot record '//Str(shot%record)//', '// &
        Str(norm2([shot%rx(r) - shot%sx, shot%ry(r) - shot%sy, shot%rz(r) - shot%sz]), 4)//' m away with cells of '// &
        SchemeSpacing(scheme)//' m'
  end subroutine SayNear

  !> A gather travels in one message.
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

  !> What the file of gathers is to hold and to say of itself; `settings`: the resolved parameters as text.
  subroutine SurveyHeader(survey, settings, header)
    type(survey_t), intent(in) :: survey
    character(*), intent(in) :: settings
    type(gather_header_t), intent(out) :: header
    associate (c => survey%scheme, m => survey%model)
      header%record = survey%keymap%record
      header%nrec_max = survey%keymap%nrec_max
      header%nt = c%nt_out
      header%dt_out = c%dt_out
      header%components = c%components
      header%three_d = c%dy > 0
      header%fingerprint = Fingerprint(survey%job, c, trim(survey%keymap%hash), trim(m%hash))
      if (c%dy > 0) then
        call Describe3d(survey, header)
      else
        call header%add('title', 'Shot gathers modelled by 2D acoustic finite differences')
        call header%add('source', 'SplFd2dmod '//VersionText())
        call header%add('equations', 'rho dv/dt = -grad p;  dp/dt = -K div v + K q;  K = rho vp**2;  '// &
                        'q = Q(t) delta(x-xs) delta(z-zs)')
        call header%add('source_term', 'volume injection rate Q [m2/s] per metre of line; direct wave p = rho dQ/dt * '// &
                        'H(t-r/c)/(2 pi sqrt(t**2-r**2/c**2))')
      end if
      call header%add('time_zero', 't = 0 is time zero of the source; the first sample of a trace is at t = 0')
      call header%add('wavelet', survey%wavelet%name)
      call header%add('wavelet_time_zero', survey%wavelet%t_zero)
      call header%add('wavelet_peak_frequency_Hz', survey%wavelet%fpeak)
      call header%add('highest_frequency_Hz', c%fmax)
      call header%add('points_per_shortest_wavelength', c%ppw)
      if (c%dy > 0) call header%add('grid_spacing_m', [c%dx, c%dy, c%dz])
      if (.not. c%dy > 0) call header%add('grid_spacing_m', [c%dx, c%dz])
      call header%add('time_step_s', c%dt)
      call header%add('time_step_limit_s', c%dt_limit)
      call header%add('time_steps', c%nt)
      call header%add('time_of_first_step_s', c%t_start)
      call header%add('time_dispersion_removed', Str(c%time_correction))
      call header%add('differentiator_weights', c%w(:c%half_length))
      call header%add('group_velocity_error', c%coeffs_error)
      call header%add('positions', Positions(survey%job))
      call header%add('regrid', survey%job%regrid)
      call header%add('model', m%sources)
      call header%add('model_hash', m%hash)
      call header%add('model_velocity_m_s', [m%vmin, m%vmax])
      call header%add('model_density_kg_m3', [m%rhomin, m%rhomax])
      call header%add('keymap_hash', survey%keymap%hash)
      call header%add('parameters', settings)
    end associate
  end subroutine SurveyHeader

  subroutine Describe3d(survey, header)
    type(survey_t), intent(in) :: survey
    type(gather_header_t), intent(inout) :: header
    associate (c => survey%scheme)
      call header%add('title', 'Shot gathers modelled by 3D elastic finite differences')
      call header%add('source', 'SplFd3dmod '//VersionText())
      call header%add('equations', 'rho dv/dt = div s + f;  ds/dt = lambda div v + mu (grad v + its transpose) - what '// &
                      'relaxes - moment rate;  p = -(sxx + syy + szz)/3')
      call header%add('source_term', SurveySource(survey))
      call header%add('axes', 'x points x_azimuth degrees clockwise from north, y 90 degrees further, z down')
      if (.not. c%attenuates) return
      call header%add('band_of_constant_Q_Hz', c%q_band)
      call header%add('smallest_Q', c%qmin)
    end associate
  end subroutine Describe3d

  !> Tells the log what is to be modelled, and what the user should know before.
  subroutine SurveyLog(survey)
    type(survey_t), intent(in) :: survey
    associate (c => survey%scheme, m => survey%model)
      if (c%dy > 0) then
        call LogInfo('model    '//m%sources//', slowest and fastest wave '//Str(m%vmin)//' and '//Str(m%vmax)//' m/s, rho '// &
                     Str(m%rhomin)//' .. '//Str(m%rhomax)//' kg/m3')
        call LogLines(SurveySource(survey), .false., 'acts     ')
      else
        call LogInfo('model    '//Str(m%nx)//' x '//Str(m%nz)//' samples, vp '//Str(m%vmin)//' .. '//Str(m%vmax)//' m/s, rho '// &
                     Str(m%rhomin)//' .. '//Str(m%rhomax)//' kg/m3')
      end if
      call LogInfo('grid     '//SchemeSpacing(c)//' m, '//Str(c%ppw, 3)//' points per shortest wavelength at '// &
                   Str(c%fmax, 4)//' Hz, half-length '//Str(c%half_length)//', group velocity within '// &
                   Str(100*c%coeffs_error, 2)//' %')
      call LogInfo('time     dt '//Str(1000*c%dt)//' ms (limit '//Str(1000*c%dt_limit)//'), '//Str(c%nt)//' steps; traces '// &
                   Str(c%nt_out)//' x '//Str(1000*c%dt_out)//' ms')
      call LogInfo('source   '//survey%wavelet%name//', time zero at t = '//Str(survey%wavelet%t_zero, 6)//' s')
      call LogLines(c%warnings, .true.)
    end associate
  end subroutine SurveyLog

  !> The shots that snapshots are wanted of: those listed, else the first. Each must be in the key-map.
  subroutine ChooseSnapshots(survey, error)
    type(survey_t), intent(inout) :: survey
    type(error_t), allocatable, intent(inout) :: error
    character(32), allocatable :: list(:)
    logical :: ok
    integer :: i
    allocate (survey%snapshot_records(0))
    if (survey%job%snapshot <= 0 .and. .not. survey%job%pgv) return
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

  !> The snapshots of a shot travel in one message; nobody else's file has their name.
  subroutine CheckSnapshots(survey, error)
    type(survey_t), intent(in) :: survey
    type(error_t), allocatable, intent(inout) :: error
    type(shot_t) :: shot
    type(window_t) :: window
    integer :: i
    associate (s => survey%scheme)
      if (size(survey%snapshot_records) > 0 .and. s%snapshot > 0 .and. s%snapshot < s%dt) &
        call Fail(error, 'snapshot = '//Str(s%snapshot)// &
        ' s is shorter than the time step, '//Str(s%dt)//' s: give at least that')
      if (allocated(error)) return
      do i = 1, size(survey%snapshot_records)
        call FioSnapshotsPlace(survey%job%output, survey%snapshot_records(i), error)
        if (allocated(error)) return
        call KeymapShot(survey%keymap, findloc(survey%keymap%record, survey%snapshot_records(i), 1), shot)
        call ModelShape(survey%model, survey%job, shot, s%dx, s%dz, window, error)
        if (s%dy > 0 .and. .not. allocated(error)) call Fd3dCheckFilms(s, shot, window, error)
        if (allocated(error)) return
        if (s%dy > 0) cycle
        if (FilmNumbers(s, window) > numbers_most) &
          call Fail(error, 'the snapshots of shot record '//Str(shot%record)//' are '//Str(FilmNumbers(s, window), 3)// &
                    ' numbers, at most 2e9 can be: take fewer (snapshot) or coarser ones (snapshot_step)')
      end do
    end associate
  end subroutine CheckSnapshots

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
    associate (s => survey%scheme)
      call ModelShape(survey%model, survey%job, shot, s%dx, s%dz, window, ignored)
      if (s%dy > 0) bytes = 4*Fd3dFilmNumbers(s, window)
      if (.not. s%dy > 0) bytes = 4*FilmNumbers(s, window)
    end associate
  end function SurveyFilmBytes

  !> Numbers in the snapshots of a 2D shot.
  pure real(dp) function FilmNumbers(s, window) result(numbers)
    type(scheme_t), intent(in) :: s
    type(window_t), intent(in) :: window
    numbers = ((window%nx - 1)/s%snapshot_step + 1.0_dp)*((window%nz - 1)/s%snapshot_step + 1) &
              *((s%nt_out - 1)*s%dt_out/s%snapshot + 1)
  end function FilmNumbers

  !> Cells of the grid of a shot, layers included.
  real(dp) function SurveyCells(survey, shot, error) result(cells)
    type(survey_t), intent(in) :: survey
    type(shot_t), intent(in) :: shot
    type(error_t), allocatable, intent(inout) :: error
    type(window_t) :: window
    call ModelShape(survey%model, survey%job, shot, survey%scheme%dx, survey%scheme%dz, window, error)
    cells = SchemeCells(survey%scheme, window)
  end function SurveyCells

  logical function SurveySnapshots(survey, record) result(wanted)
    type(survey_t), intent(in) :: survey
    integer, intent(in) :: record
    wanted = any(survey%snapshot_records == record)
  end function SurveySnapshots

end module survey_m
