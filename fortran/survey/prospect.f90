!> A survey ready to be modelled: job, key-map, model, wavelet and scheme, every one checked.
module prospect_m
  use anelastic_m, only: anelastic_least_q, anelastic_t, AnelasticFit, AnelasticUnrelaxed
  use checked_m, only: Below, Whole
  use error_m, only: error_t, Fail
  use faults_m, only: FaultAdd, faults_t, FaultsRaise
  use faultwords_m, only: FaultDoubts, FaultLines, FaultRelease, release_t
  use fd2d_engine_m, only: fd2d_grid_t
  use fd3d_check_m, only: Fd3dCheckFilms, Fd3dCheckShot, Fd3dCheckStrength, Fd3dFilmNumbers
  use fd3d_near_m, only: Fd3dNear
  use fingerprint_m, only: Fingerprint, Positions
  use keymap_m, only: keymap_t, KeymapFiles, KeymapFind, KeymapRead, KeymapShot
  use kinds_m, only: dp
  use log_m, only: LogInfo, LogLines
  use model_m, only: model_t, ModelGrid, ModelRead, ModelShape, ModelWindow
  use modelcheck_m, only: ModelCheck
  use params_m, only: job_t
  use scheme_m, only: scheme_t, SchemeBand, SchemeCells, SchemeDerive, SchemeSpacing
  use sides_m, only: SideOf, SidePath
  use snapshots_m, only: FioSnapshotsPlace
  use source3d_m, only: source_fault, SourceWords
  use shot_m, only: shot_t
  use fd2d_stability_m, only: StabilityStep
  use survey_m, only: survey_t
  use surveycheck_m, only: surveycheck_t, SurveyBegin, SurveySays, SurveyShot
  use table_m, only: SplitList
  use text_m, only: Str, ToInt
  use version_m, only: VersionText
  use wavelet_m, only: wavelet_t, WaveletMake
  use window_m, only: window_t
  implicit none
  private
  public :: prospect_t, ProspectRead, ProspectSurvey, ProspectLog, ProspectSnapshots
  public :: ProspectCells, ProspectFilmBytes, ProspectSource

  real(dp), parameter :: numbers_most = 2.0e9_dp   !< of one message: they are counted with 31 bits

  type :: prospect_t
    type(job_t) :: job
    type(keymap_t) :: keymap
    type(model_t) :: model
    type(wavelet_t) :: wavelet
    type(scheme_t) :: scheme
    integer, allocatable :: snapshot_records(:)   !< shots to take snapshots of
    integer :: largest = 0, nx = 0, nz = 0        !< record number of the shot with the largest window, and that window's nodes
    integer :: ny = 0                             !< of a 3D job
    type(release_t) :: release                    !< moments of a fault
  end type prospect_t

contains

  !> Reads and checks all that the job names. Nothing is written. An error holds one line a fault.
  subroutine ProspectRead(job, prospect, error)
    type(job_t), intent(in) :: job
    type(prospect_t), intent(out) :: prospect
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: doubts
    real(dp) :: dx, dz, dy
    prospect%job = job
    call KeymapRead(prospect%keymap, job%keymap, error)
    if (.not. allocated(error)) call CheckLists(prospect, error)
    if (allocated(error)) return
    call ModelRead(job, prospect%model, error)
    if (.not. allocated(error)) call ModelCheck(job, prospect%model, doubts, error)
    if (allocated(error)) return
    call FaultWavelet(job, prospect%wavelet, error)
    if (.not. allocated(prospect%wavelet%q)) call WaveletMake(job, prospect%wavelet, error)
    if (allocated(error)) return
    dy = 0
    call ModelGrid(job, prospect%model, dx, dz, error, dy)
    if (allocated(error)) return
    if (job%three_d) then
      call SchemeDerive(job, prospect%wavelet, prospect%model%vmin, Fastest(prospect, error), dx, dz, prospect%scheme, error, dy)
      prospect%scheme%attenuates = prospect%model%earth%attenuates
      prospect%scheme%qmin = prospect%model%earth%qmin
    else
      call SchemeDerive(job, prospect%wavelet, prospect%model%vmin, prospect%model%vmax, dx, dz, prospect%scheme, error)
      if (.not. allocated(error)) call HeedContrasts(prospect, dx, dz, error)
    end if
    if (allocated(error)) return
    if (doubts /= '') call Warn(prospect%scheme, doubts)
    if (prospect%wavelet%doubt /= '') call Warn(prospect%scheme, prospect%wavelet%doubt)
    call CheckSize(prospect, error)                      ! at once: shots with so many receivers take long to look at
    if (allocated(error)) return
    call CheckShots(prospect, error)
    if (job%three_d .and. .not. allocated(error)) call Fd3dCheckStrength(prospect%scheme, error)
    if (.not. allocated(error)) call ChooseSnapshots(prospect, error)
    if (.not. allocated(error)) call CheckSnapshots(prospect, error)
  end subroutine ProspectRead

  !> No file that a run writes may be one that the key-map names; those of parameters are looked at in jobcheck.f90.
  subroutine CheckLists(prospect, error)
    type(prospect_t), intent(in) :: prospect
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: path, what
    integer :: i
    i = 1
    path = KeymapFiles(prospect%keymap, i)
    do while (path /= '')
      what = SideOf(prospect%job%output, path)
      if (what /= '') call Fail(error, 'output = '//prospect%job%output//' would overwrite the receiver list '//path// &
                                ', which the key-map names, with '//what//' of the run: give another output')
      i = i + 1
      path = KeymapFiles(prospect%keymap, i)
    end do
  end subroutine CheckLists

  !> Where densities differ much, as of air and rock, the largest stable step is smaller than the fastest wave alone would have it:
  !> the whole model tells. A larger one that the user gave is refused.
  subroutine HeedContrasts(prospect, dx, dz, error)
    type(prospect_t), intent(inout) :: prospect
    real(dp), intent(in) :: dx, dz
    type(error_t), allocatable, intent(inout) :: error
    type(job_t) :: job
    real(dp) :: limit
    character(:), allocatable :: text
    associate (s => prospect%scheme, m => prospect%model)
      if (m%rhomax <= 4*m%rhomin) return
      limit = 0.98_dp*StableStep(prospect, dx, dz)       ! each shot's own window is looked at again
      if (s%dt <= limit) return
      text = 'the density contrasts of the model (from '//Str(m%rhomin, 4)//' to '//Str(m%rhomax, 4)//' kg/m3) '
      if (prospect%job%dt > 0) then
        call Fail(error, text//'make dt = '//Str(s%dt)//' s unstable: set dt to at most '//Str(limit, 4)//' s, or 0 for the '// &
                  'largest stable step, or use half_length=1, or lessen the contrast')
        return
      end if
      job = prospect%job
      job%dt = limit
      text = text//'need a step of '//Str(1000*limit, 4)//' ms, where the velocities alone would allow '//Str(1000*s%dt, 4)// &
             ' ms; half_length=1 does not, and is more exact at such a contrast'
      call SchemeDerive(job, prospect%wavelet, m%vmin, m%vmax, dx, dz, s, error)
      if (s%warnings /= '') text = s%warnings//new_line('a')//text
      s%warnings = text
    end associate
  end subroutine HeedContrasts

  !> The largest stable step [s] of the model, seen strip by strip; huge if that of the velocities will do.
  real(dp) function StableStep(prospect, dx, dz) result(limit)
    type(prospect_t), intent(in) :: prospect
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
    associate (s => prospect%scheme, m => prospect%model)
      strips = Whole(1 + Below((m%nx*m%dx/dx)*(m%nz*m%dz/dz)/cells))
      width = (m%nx - 1)*m%dx/strips
      call KeymapShot(prospect%keymap, 1, shot)
      job = prospect%job
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
  real(dp) function Fastest(prospect, error) result(v)
    type(prospect_t), intent(in) :: prospect
    type(error_t), allocatable, intent(inout) :: error
    type(anelastic_t) :: a
    real(dp) :: band(2), reference
    v = prospect%model%vmax
    if (.not. prospect%model%earth%attenuates .or. .not. prospect%model%earth%qmin > 0) return
    call SchemeBand(prospect%job, prospect%wavelet, band, reference)
    call AnelasticFit(band(1), band(2), a, error)
    if (prospect%model%earth%qmin < anelastic_least_q) call Fail(error, 'the smallest Q of the model is '// &
      Str(prospect%model%earth%qmin, 4)//', at least '//Str(anelastic_least_q)// &
      ' can be modelled: raise it there, or leave attenuation out (attenuation=n)')
    if (.not. allocated(error)) v = v*sqrt(AnelasticUnrelaxed(a, 1/prospect%model%earth%qmin, reference))
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
  subroutine CheckShots(prospect, error)
    type(prospect_t), intent(inout) :: prospect
    type(error_t), allocatable, intent(inout) :: error
    type(error_t), allocatable :: fault
    type(faults_t) :: faults
    type(shot_t) :: shot
    type(window_t) :: window
    type(surveycheck_t) :: survey
    character(:), allocatable :: nearest
    real(dp), allocatable :: rigidity(:)
    integer :: i, near, n, r
    near = 0
    call SurveyBegin(survey, prospect%model, prospect%scheme)
    do i = 1, prospect%keymap%n
      call KeymapShot(prospect%keymap, i, shot)
      call ModelShape(prospect%model, prospect%job, shot, prospect%scheme%dx, prospect%scheme%dz, window, fault)
      if (prospect%job%three_d .and. .not. allocated(fault)) then
        if (.not. faults%full()) &
          call Fd3dCheckShot(prospect%model%earth, prospect%job, prospect%scheme, shot, window, rigidity, fault)
        if (prospect%scheme%source%kind == source_fault .and. .not. allocated(fault) .and. allocated(rigidity)) &
          call FaultRelease(prospect%scheme%source%fault, rigidity, shot%record, prospect%release)
        n = 0
        if (.not. allocated(fault)) &
          call Fd3dNear(prospect%model%earth, prospect%job, prospect%scheme, shot, window, n, r, fault)
        if (n > 0 .and. near == 0) call SayNear(prospect%scheme, shot, r, nearest)
        near = near + n
      end if
      if (.not. allocated(fault)) &
        call SurveyShot(survey, prospect%model, prospect%job, prospect%scheme, shot, window, fault)
      if (allocated(fault)) then
        call FaultAdd(faults, fault%message)
        deallocate (fault)
      else if (real(window%nx, dp)*window%nz*max(1, window%ny) > real(prospect%nx, dp)*prospect%nz*max(1, prospect%ny)) then
        prospect%largest = shot%record
        prospect%nx = window%nx
        prospect%nz = window%nz
        prospect%ny = window%ny
      end if
    end do
    call FaultsRaise(faults, 'the geometry', error)
    if (allocated(error)) return
    call HeedFault(prospect)
    call SurveySays(survey, prospect%model, prospect%job, prospect%scheme, prospect%wavelet, prospect%scheme%warnings, error)
    if (near > 0) call Warn(prospect%scheme, Str(near)//' receiver(s) are closer than 5 cells to their source, the '// &
      'first of them '//nearest//', and the medium is not the same for 4 cells around both, has a free surface there or Q '// &
      'below 500, or cells are over 3 times longer than thin: what the grid lacks so close to a source, tens of per cent and '// &
      'more, cannot be added exactly; use a smaller dx, or do not trust them')
  end subroutine CheckShots

  !> What looks wrong with a fault.
  subroutine HeedFault(prospect)
    type(prospect_t), intent(inout) :: prospect
    character(:), allocatable :: doubts
    associate (c => prospect%scheme)
      if (c%source%kind /= source_fault) return
      doubts = FaultDoubts(c%source%fault, prospect%job%fault, prospect%release, (c%nt_out - 1)*c%dt_out)
      if (doubts /= '') call Warn(c, doubts)
    end associate
  end subroutine HeedFault

  !> What acts in a 3D job, and of a fault what it releases: lines.
  function ProspectSource(prospect) result(s)
    type(prospect_t), intent(in) :: prospect
    character(:), allocatable :: s
    s = SourceWords(prospect%scheme%source)
    if (prospect%scheme%source%kind == source_fault) &
      s = s//new_line('a')//FaultLines(prospect%scheme%source%fault, prospect%release)
  end function ProspectSource

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
  subroutine CheckSize(prospect, error)
    type(prospect_t), intent(in) :: prospect
    type(error_t), allocatable, intent(inout) :: error
    integer :: ncomp
    associate (s => prospect%scheme, nrec => prospect%keymap%nrec_max)
      ncomp = size(SplitList(s%components))
      if (real(nrec, dp)*s%nt_out*ncomp > numbers_most) &
        call Fail(error, 'a gather of '//Str(nrec)//' receivers x '//Str(s%nt_out)//' samples x '//Str(ncomp)// &
                  ' component(s) is too large, at most 2e9 samples: use a larger dt_out or fewer receivers')
    end associate
  end subroutine CheckSize

  !> What the file of gathers is to hold and to say of itself; `settings`: the resolved parameters as text.
  subroutine ProspectSurvey(prospect, settings, survey)
    type(prospect_t), intent(in) :: prospect
    character(*), intent(in) :: settings
    type(survey_t), intent(out) :: survey
    associate (c => prospect%scheme, m => prospect%model)
      survey%record = prospect%keymap%record
      survey%nrec_max = prospect%keymap%nrec_max
      survey%nt = c%nt_out
      survey%dt_out = c%dt_out
      survey%components = c%components
      survey%three_d = c%dy > 0
      survey%fingerprint = Fingerprint(prospect%job, c, trim(prospect%keymap%hash), trim(m%hash))
      if (c%dy > 0) then
        call Describe3d(prospect, survey)
      else
        call survey%add('title', 'Shot gathers modelled by 2D acoustic finite differences')
        call survey%add('source', 'SplFd2dmod '//VersionText())
        call survey%add('equations', 'rho dv/dt = -grad p;  dp/dt = -K div v + K q;  K = rho vp**2;  '// &
                        'q = Q(t) delta(x-xs) delta(z-zs)')
        call survey%add('source_term', 'volume injection rate Q [m2/s] per metre of line; direct wave p = rho dQ/dt * '// &
                        'H(t-r/c)/(2 pi sqrt(t**2-r**2/c**2))')
      end if
      call survey%add('time_zero', 't = 0 is time zero of the source; the first sample of a trace is at t = 0')
      call survey%add('wavelet', prospect%wavelet%name)
      call survey%add('wavelet_time_zero', prospect%wavelet%t_zero)
      call survey%add('wavelet_peak_frequency_Hz', prospect%wavelet%fpeak)
      call survey%add('highest_frequency_Hz', c%fmax)
      call survey%add('points_per_shortest_wavelength', c%ppw)
      if (c%dy > 0) call survey%add('grid_spacing_m', [c%dx, c%dy, c%dz])
      if (.not. c%dy > 0) call survey%add('grid_spacing_m', [c%dx, c%dz])
      call survey%add('time_step_s', c%dt)
      call survey%add('time_step_limit_s', c%dt_limit)
      call survey%add('time_steps', c%nt)
      call survey%add('time_of_first_step_s', c%t_start)
      call survey%add('time_dispersion_removed', Str(c%time_correction))
      call survey%add('differentiator_weights', c%w(:c%half_length))
      call survey%add('group_velocity_error', c%coeffs_error)
      call survey%add('positions', Positions(prospect%job))
      call survey%add('regrid', prospect%job%regrid)
      call survey%add('model', m%sources)
      call survey%add('model_hash', m%hash)
      call survey%add('model_velocity_m_s', [m%vmin, m%vmax])
      call survey%add('model_density_kg_m3', [m%rhomin, m%rhomax])
      call survey%add('keymap_hash', prospect%keymap%hash)
      call survey%add('parameters', settings)
    end associate
  end subroutine ProspectSurvey

  subroutine Describe3d(prospect, survey)
    type(prospect_t), intent(in) :: prospect
    type(survey_t), intent(inout) :: survey
    associate (c => prospect%scheme)
      call survey%add('title', 'Shot gathers modelled by 3D elastic finite differences')
      call survey%add('source', 'SplFd3dmod '//VersionText())
      call survey%add('equations', 'rho dv/dt = div s + f;  ds/dt = lambda div v + mu (grad v + its transpose) - what '// &
                      'relaxes - moment rate;  p = -(sxx + syy + szz)/3')
      call survey%add('source_term', ProspectSource(prospect))
      call survey%add('axes', 'x points x_azimuth degrees clockwise from north, y 90 degrees further, z down')
      if (.not. c%attenuates) return
      call survey%add('band_of_constant_Q_Hz', c%q_band)
      call survey%add('smallest_Q', c%qmin)
    end associate
  end subroutine Describe3d

  !> Tells the log what is to be modelled, and what the user should know before.
  subroutine ProspectLog(prospect)
    type(prospect_t), intent(in) :: prospect
    associate (c => prospect%scheme, m => prospect%model)
      if (c%dy > 0) then
        call LogInfo('model    '//m%sources//', slowest and fastest wave '//Str(m%vmin)//' and '//Str(m%vmax)//' m/s, rho '// &
                     Str(m%rhomin)//' .. '//Str(m%rhomax)//' kg/m3')
        call LogLines(ProspectSource(prospect), .false., 'acts     ')
      else
        call LogInfo('model    '//Str(m%nx)//' x '//Str(m%nz)//' samples, vp '//Str(m%vmin)//' .. '//Str(m%vmax)//' m/s, rho '// &
                     Str(m%rhomin)//' .. '//Str(m%rhomax)//' kg/m3')
      end if
      call LogInfo('grid     '//SchemeSpacing(c)//' m, '//Str(c%ppw, 3)//' points per shortest wavelength at '// &
                   Str(c%fmax, 4)//' Hz, half-length '//Str(c%half_length)//', group velocity within '// &
                   Str(100*c%coeffs_error, 2)//' %')
      call LogInfo('time     dt '//Str(1000*c%dt)//' ms (limit '//Str(1000*c%dt_limit)//'), '//Str(c%nt)//' steps; traces '// &
                   Str(c%nt_out)//' x '//Str(1000*c%dt_out)//' ms')
      call LogInfo('source   '//prospect%wavelet%name//', time zero at t = '//Str(prospect%wavelet%t_zero, 6)//' s')
      call LogLines(c%warnings, .true.)
    end associate
  end subroutine ProspectLog

  !> The shots that snapshots are wanted of: those listed, else the first. Each must be in the key-map.
  subroutine ChooseSnapshots(prospect, error)
    type(prospect_t), intent(inout) :: prospect
    type(error_t), allocatable, intent(inout) :: error
    character(32), allocatable :: list(:)
    logical :: ok
    integer :: i
    allocate (prospect%snapshot_records(0))
    if (prospect%job%snapshot <= 0 .and. .not. prospect%job%pgv) return
    prospect%snapshot_records = prospect%keymap%record(:1)
    if (prospect%job%snapshot_shots == '') return
    list = SplitList(prospect%job%snapshot_shots)
    deallocate (prospect%snapshot_records)
    allocate (prospect%snapshot_records(size(list)))
    do i = 1, size(list)
      call ToInt(trim(list(i)), prospect%snapshot_records(i), ok)
      if (any(prospect%keymap%record == prospect%snapshot_records(i))) cycle
      call Fail(error, 'snapshot_shots names shot record '//trim(list(i))//', which is not among those to be modelled: '// &
                'see the key-map '//prospect%job%keymap)
    end do
  end subroutine ChooseSnapshots

  !> The snapshots of a shot travel in one message; nobody else's file has their name.
  subroutine CheckSnapshots(prospect, error)
    type(prospect_t), intent(in) :: prospect
    type(error_t), allocatable, intent(inout) :: error
    type(shot_t) :: shot
    type(window_t) :: window
    integer :: i
    associate (s => prospect%scheme)
      if (size(prospect%snapshot_records) > 0 .and. s%snapshot > 0 .and. s%snapshot < s%dt) &
        call Fail(error, 'snapshot = '//Str(s%snapshot)// &
        ' s is shorter than the time step, '//Str(s%dt)//' s: give at least that')
      if (allocated(error)) return
      do i = 1, size(prospect%snapshot_records)
        call FioSnapshotsPlace(prospect%job%output, prospect%snapshot_records(i), error)
        if (allocated(error)) return
        call KeymapShot(prospect%keymap, findloc(prospect%keymap%record, prospect%snapshot_records(i), 1), shot)
        call ModelShape(prospect%model, prospect%job, shot, s%dx, s%dz, window, error)
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
  real(dp) function ProspectFilmBytes(prospect, record) result(bytes)
    type(prospect_t), intent(in) :: prospect
    integer, intent(in) :: record
    type(shot_t) :: shot
    type(window_t) :: window
    type(error_t), allocatable :: ignored           ! CheckSnapshots has told it
    bytes = 0
    if (.not. ProspectSnapshots(prospect, record)) return
    call KeymapShot(prospect%keymap, KeymapFind(prospect%keymap, record), shot)
    associate (s => prospect%scheme)
      call ModelShape(prospect%model, prospect%job, shot, s%dx, s%dz, window, ignored)
      if (s%dy > 0) bytes = 4*Fd3dFilmNumbers(s, window)
      if (.not. s%dy > 0) bytes = 4*FilmNumbers(s, window)
    end associate
  end function ProspectFilmBytes

  !> Numbers in the snapshots of a 2D shot.
  pure real(dp) function FilmNumbers(s, window) result(numbers)
    type(scheme_t), intent(in) :: s
    type(window_t), intent(in) :: window
    numbers = ((window%nx - 1)/s%snapshot_step + 1.0_dp)*((window%nz - 1)/s%snapshot_step + 1) &
              *((s%nt_out - 1)*s%dt_out/s%snapshot + 1)
  end function FilmNumbers

  !> Cells of the grid of a shot, layers included.
  real(dp) function ProspectCells(prospect, shot, error) result(cells)
    type(prospect_t), intent(in) :: prospect
    type(shot_t), intent(in) :: shot
    type(error_t), allocatable, intent(inout) :: error
    type(window_t) :: window
    call ModelShape(prospect%model, prospect%job, shot, prospect%scheme%dx, prospect%scheme%dz, window, error)
    cells = SchemeCells(prospect%scheme, window)
  end function ProspectCells

  logical function ProspectSnapshots(prospect, record) result(wanted)
    type(prospect_t), intent(in) :: prospect
    integer, intent(in) :: record
    wanted = any(prospect%snapshot_records == record)
  end function ProspectSnapshots

end module prospect_m
