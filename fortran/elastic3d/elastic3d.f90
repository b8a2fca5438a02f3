!> 3D (visco)elastic modelling as the framework sees it (physics.f90): everything but its numbers, which fd3d.f90 computes.
module elastic3d_m
  use anelastic_m, only: anelastic_least_q, anelastic_t, AnelasticAuto, AnelasticFit, AnelasticStiffness, memory_all, &
                         memory_coarse2001, memory_words
  use attributes_m, only: attributes_t
  use elastic3d_parameters_m, only: Elastic3dPieces, elastic3d_components, Elastic3dRules, Elastic3dTable
  use elastic3d_trial_m, only: TrialFiles, TrialJob
  use error_m, only: error_t, Fail
  use faultwords_m, only: FaultDoubts, FaultLines, FaultRelease, release_t
  use fd3d_check_m, only: Fd3dCheckFilms, Fd3dCheckShot, Fd3dCheckStrength, Fd3dFilmNumbers
  use fd3d_components_m, only: Fd3dCells
  use fd3d_engine_m, only: fd3d_grid_t
  use fd3d_grid_m, only: Fd3dGrid
  use fd3d_m, only: fd3d_t
  use fd3d_nearfield_m, only: Fd3dNear
  use fd3d_pieces_m, only: Fd3dAround, Fd3dCuts, Fd3dGain, Fd3dPiece
  use fd3d_variants_m, only: fd3d_variants
  use finite_fault_m, only: FaultHash, FaultStart
  use free_surface_m, only: SourceVanishes, Vanishes
  use kinds_m, only: dp, sp
  use mixed_cells_m, only: medium_parts
  use model3d_m, only: model3d_t, Model3dRead
  use model3d_window_m, only: Model3dCell, Model3dGrid, Model3dMedia, Model3dShape, Model3dWindow
  use modelcheck_m, only: ModelCheck, ranges_t
  use parameter_table_m, only: table_t
  use parameters_m, only: job_t
  use physics_m, only: physics_t
  use quality_band_m, only: QualityBand
  use partners_m, only: halo_auto, halo_host, halo_words
  use scheme3d_m, only: scheme3d_t
  use scheme_m, only: scheme_t, SchemeDerive, SchemeSpacing, SchemeWarn
  use shot_m, only: shot_t
  use solver_m, only: solver_t
  use source3d_m, only: source_fault, source_force, SourceDerive, SourceNumbers, SourceWords
  use stairs_m, only: SeabedWarn, StairsWarn, WantsNarrow
  use stress_contacts_m, only: StressContacts, StressContactsSay
  use subdomain_m, only: cuts_t, CutsWords
  use text_m, only: Str
  use told_receivers_m, only: told_receivers_t
  use trial3d_m, only: TrialWave
  use version_m, only: VersionText
  use wavelet_m, only: wavelet_t, WaveletMake
  use window_m, only: box_t, window_at_once, window_t, WindowTray
  implicit none
  private
  public :: elastic3d_t

  character, parameter :: nl = new_line('a')
  character(*), parameter :: narrow_words = 'differences along those of the sides have half-length 1 in them '// &
                             '(layer_differences), as longer ones let slow waves grow at a sea floor with steps'

  type, extends(physics_t) :: elastic3d_t
    type(model3d_t) :: earth
    type(release_t) :: release                !< moments of a fault, of the shots looked at
    integer :: near = 0                       !< receivers too close to their source, of the shots looked at
    character(:), allocatable :: nearest      !< the first of them in words
    type(told_receivers_t) :: beside          !< receivers of stress and strain beside a contact, of the shots looked at
  contains
    procedure :: introduce
    procedure :: parameters => Table
    procedure :: check => Rules
    procedure :: read => ReadModel
    procedure :: wavelet => OwnWavelet
    procedure :: derive, window => WindowOf, media => MediaOf, velocity, check_shot, silent, warn, own_words
    procedure, nopass :: receiver
    procedure :: memory, sharing
    procedure, nopass :: wants_pictures, picture_numbers
    procedure :: check_pictures
    procedure :: describe, log_lines, plan_rows, new_scheme
    procedure, nopass :: solver => NewSolver
    procedure, nopass :: trial_files => TrialFiles, trial_job => TrialJob, trial_wave => TrialWave
  end type elastic3d_t

contains

  ! --- program and parameters -----------------------------------------------------------------------------------------------

  subroutine introduce(self)
    class(elastic3d_t), intent(inout) :: self
    self%program = 'SplFd3dmod'
    self%components = elastic3d_components
    self%summary = 'vx, vy, vz, p, sxx .. syz, exx .. eyz, wx, wy, wz'
    self%example = 'keymap=quake.keymap layers=crust.layers dx=100 aperture=5000 depth=8000 source=dc mw=4.5 fpeak=1 tmax=10'
    self%far_field = 2
    self%cells_to_try = 4.0e6_dp
    self%pictures = 'pictures'
    self%groups = .true.
  end subroutine introduce

  subroutine Table(self, t, job)
    class(elastic3d_t), intent(inout) :: self
    type(table_t), intent(inout) :: t
    type(job_t), intent(inout) :: job
    call Elastic3dTable(t, job)
  end subroutine Table

  subroutine Rules(self, job, verb, t)
    class(elastic3d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    character(*), intent(in) :: verb
    type(table_t), intent(inout) :: t
    call Elastic3dRules(job, verb, t)
  end subroutine Rules

  ! --- a survey -------------------------------------------------------------------------------------------------------------

  subroutine ReadModel(self, job, error)
    class(elastic3d_t), intent(inout) :: self
    type(job_t), intent(in) :: job
    type(error_t), allocatable, intent(inout) :: error
    self%release = release_t()
    self%near = 0
    self%beside = told_receivers_t()
    call Model3dRead(job, self%earth, error)
    if (allocated(error)) return
    self%earth_t = self%earth%earth_t
    self%endless = self%earth%layers%n > 0
    call ModelCheck(job, Ranges(self%earth, job), self%doubts, error)
  end subroutine ReadModel

  pure type(ranges_t) function Ranges(earth, job)
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    Ranges%fastest = earth%vmax
    Ranges%rhomin = earth%rhomin
    Ranges%rhomax = earth%rhomax
    Ranges%told = job%rho /= '' .or. job%layers /= ''
    if (earth%layers%n > 0) then
      associate (vp => earth%layers%medium(1, :), vs => earth%layers%medium(2, :))
        Ranges%slowest = minval(vp)
        Ranges%fluid = minval(vp, .not. vs > 0)
      end associate
      Ranges%bottom = max(earth%layers%top(earth%layers%n), earth%layers%top(1) + job%depth)
    else
      Ranges%slowest = earth%vpmin
      Ranges%fluid = earth%fluidmin
      Ranges%bottom = earth%high(3)
    end if
  end function Ranges

  !> The histories of a fault have no wavelet, but a band that must be right.
  subroutine OwnWavelet(self, job, wavelet, error)
    class(elastic3d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    type(wavelet_t), intent(inout) :: wavelet
    type(error_t), allocatable, intent(inout) :: error
    if (job%source /= 'fault') then
      call WaveletMake(job, wavelet, error)
      return
    end if
    if (.not. job%fmax > 0) call Fail(error, 'source=fault: give fmax [Hz], the highest frequency that must be right')
    wavelet%name = 'histories of '//job%fault
    wavelet%q = [1.0_dp]
    wavelet%fpeak = 0.4_dp*job%fmax
    wavelet%fmax = job%fmax
    wavelet%fband = 1.5_dp*job%fmax
  end subroutine OwnWavelet

  subroutine derive(self, job, wavelet, shot, scheme, error)
    class(elastic3d_t), intent(inout) :: self
    type(job_t), intent(in) :: job
    type(wavelet_t), intent(in) :: wavelet
    type(shot_t), intent(in) :: shot
    class(scheme_t), intent(inout) :: scheme
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: d(3), vmax
    integer :: way
    select type (scheme)
    type is (scheme3d_t)
      scheme%sponge = job%absorb == 'sponge'
      scheme%periodic = job%sides == 'periodic'
      scheme%one_way = job%bottom == 'one-way'
      scheme%own%pgv = job%pgv
      scheme%own%pgv_depth = job%pgv_depth
      call Elastic3dPieces(job%decomposition, scheme%own%decomposition)
      scheme%own%halo = findloc([(halo_words(way) == job%halo, way=halo_auto, halo_host)], .true., 1) - 1
      scheme%own%planes = job%snapshot_planes
      scheme%own%fields = job%snapshot_fields
      scheme%own%attenuates = self%earth%attenuates
      scheme%own%qmin = self%earth%qmin
      scheme%own%memory = AnelasticAuto(self%earth%qmin)
      if (job%memory_variables /= 'auto') scheme%own%memory = findloc(memory_words == job%memory_variables, .true., 1)
      call QualityBand(job, wavelet, scheme%own%q_band, scheme%own%q_ref)
      call Model3dGrid(job, self%earth, d, error)
      vmax = Fastest(self, scheme, error)
      if (.not. allocated(error)) call SourceDerive(job, scheme%own%source, error)
      if (allocated(error)) return
      scheme%histories = scheme%own%source%kind == source_fault
      if (scheme%histories) scheme%acts = FaultStart(scheme%own%source%fault)
      if (scheme%own%source%kind == source_force) scheme%early = 0.5_dp
      call SchemeDerive(job, wavelet, self%vmin, vmax, d, scheme, error)
      scheme%own%narrow = WantsNarrow(job%layer_differences, self%earth, scheme)
    end select
  end subroutine derive

  !> The fastest wave [m/s]: with attenuation that of very high frequencies, faster than the model's.
  real(dp) function Fastest(self, scheme, error) result(v)
    class(elastic3d_t), intent(in) :: self
    type(scheme3d_t), intent(in) :: scheme
    type(error_t), allocatable, intent(inout) :: error
    type(anelastic_t) :: a
    v = self%vmax
    if (.not. scheme%own%attenuates .or. .not. scheme%own%qmin > 0 .or. allocated(error)) return
    call AnelasticFit(scheme%own%q_band(1), scheme%own%q_band(2), scheme%own%memory, a, error)
    if (scheme%own%qmin < anelastic_least_q) call Fail(error, 'the smallest Q of the model is '// &
      Str(scheme%own%qmin, 4)//', at least '//Str(anelastic_least_q)// &
      ' can be modelled: raise it there, or leave attenuation out (attenuation=n)')
    if (.not. allocated(error)) v = v*sqrt(AnelasticStiffness(a, 1/scheme%own%qmin, scheme%own%q_ref))
  end function Fastest

  subroutine WindowOf(self, job, scheme, shot, filled, window, error, box)
    class(elastic3d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    logical, intent(in) :: filled
    type(window_t), intent(out) :: window
    type(error_t), allocatable, intent(inout) :: error
    type(box_t), intent(in), optional :: box
    if (filled) then
      call Model3dWindow(self%earth, job, shot, window, error, box)
    else
      call Model3dShape(self%earth, job, shot, window, error)
    end if
    window%parts = merge(5, 3, self%earth%attenuates)
  end subroutine WindowOf

  !> Straight from the model.
  subroutine MediaOf(self, job, scheme, shot, window, box, media, error)
    class(elastic3d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    type(box_t), intent(in) :: box
    real(sp), contiguous, intent(inout) :: media(:)
    type(error_t), allocatable, intent(inout) :: error
    call Model3dMedia(self%earth, job, window, box, media, error)
  end subroutine MediaOf

  !> Of S waves in rock, of P waves in fluids; 0 in air. From the nearest sample.
  pure real(dp) function velocity(self, x) result(v)
    class(elastic3d_t), intent(in) :: self
    real(dp), intent(in) :: x(3)
    real(dp) :: vp, vs
    integer :: at(3), row
    associate (e => self%earth)
      if (e%layers%n > 0) then
        row = max(1, count(e%layers%top <= x(3)))
        vp = e%layers%medium(1, row)
        vs = e%layers%medium(2, row)
      else
        at = min(max(nint((x - e%x0)/e%d) + 1, 1), e%n)
        row = (at(3) - 1)*e%n(2) + at(2)
        if (e%on_disk) then
          at = (at - 1)/e%thin_step + 1
          vp = e%thin(at(1), at(2), at(3), 1)
          vs = e%thin(at(1), at(2), at(3), 2)
        else
          vp = e%vp(at(1), row)
          vs = e%vs(at(1), row)
        end if
      end if
    end associate
    v = 0
    if (vp > 0) v = merge(vs, vp, vs > 0)
  end function velocity

  !> Source and receivers in their places, what a fault releases there, receivers too close to their source, and a source on a free
  !> surface.
  subroutine check_shot(self, job, scheme, shot, window, error)
    class(elastic3d_t), intent(inout) :: self
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    real(dp), allocatable :: rigidity(:)
    integer :: n, r
    select type (scheme)
    type is (scheme3d_t)
      call Fd3dCheckShot(self%earth, job, scheme, shot, window, rigidity, error)
      if (allocated(error)) return
      if (scheme%own%source%kind == source_fault) call FaultRelease(scheme%own%source%fault, rigidity, shot%record, self%release)
      call Fd3dNear(self%earth, job, scheme, shot, window, n, r, error)
      if (n > 0 .and. self%near == 0) &
        self%nearest = 'channel '//Str(shot%channel(r))//' of shot record '//Str(shot%record)//', '// &
                       Str(norm2([shot%rx(r) - shot%sx, shot%ry(r) - shot%sy, shot%rz(r) - shot%sz]), 4)// &
                       ' m away with cells of '//SchemeSpacing(scheme)//' m'
      self%near = self%near + n
      if (.not. allocated(error)) call StressContacts(self%beside, self%earth, job, scheme, shot, window, error)
      if (scheme%free_top .and. .not. allocated(error)) call CheckDepth(self, job, scheme, shot, window, error)
    end select
  end subroutine check_shot

  !> A source that is too shallow. Of faults single points do no harm.
  subroutine CheckDepth(self, job, scheme, shot, window, error)
    class(elastic3d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    type(scheme3d_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    real(dp), parameter :: on_surface = 1.0e-6_dp   ! of a cell: closer is on it
    real(sp) :: medium(medium_parts)
    if (scheme%own%source%kind == source_fault .or. shot%sz > window%z0 + on_surface*window%dz) return
    medium = Below(self, job, window, shot%sx, shot%sy, error)
    if (allocated(error) .or. .not. medium(1) > 0) return
    if (SourceVanishes(scheme%own%source, real(medium(1), dp), real(medium(2), dp))) &
      call Fail(error, 'shot record '//Str(shot%record)//': the source at z = '//Str(shot%sz)//' m lies on the free surface '// &
                'and would radiate nothing: give it a depth')
  end subroutine CheckDepth

  subroutine silent(self, job, window, component, x, zero, error)
    class(elastic3d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    type(window_t), intent(in) :: window
    character(*), intent(in) :: component(:)
    real(dp), intent(in) :: x(3)
    logical, intent(out) :: zero(:)
    type(error_t), allocatable, intent(inout) :: error
    real(sp) :: medium(medium_parts)
    medium = Below(self, job, window, x(1), x(2), error)
    zero = Vanishes(component, .not. medium(2) > 0) .and. medium(1) > 0
  end subroutine silent

  !> The medium just below a place on the surface.
  function Below(self, job, window, x, y, error) result(medium)
    class(elastic3d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    type(window_t), intent(in) :: window
    real(dp), intent(in) :: x, y
    type(error_t), allocatable, intent(inout) :: error
    real(sp) :: medium(medium_parts)
    integer :: c(3)
    c = [floor((x - window%x0)/window%dx), floor((y - window%y0)/window%dy), 0] + 1
    call Model3dCell(self%earth, job, window, max(1, min(c, [window%nx, window%ny, window%nz])), medium, error)
  end function Below

  subroutine warn(self, job, scheme, error)
    class(elastic3d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    class(scheme_t), intent(inout) :: scheme
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: doubts
    select type (scheme)
    type is (scheme3d_t)
      call StairsWarn(self%earth, scheme)
      call SeabedWarn(self%earth, scheme, scheme%own%narrow)
      if (self%near > 0) call SchemeWarn(scheme, Str(self%near)//' receiver(s) are closer than 5 cells to their source, the '// &
        'first of them '//self%nearest//', and the medium is not the same for 4 cells around both, has a free surface there or '// &
        'Q below 500, or cells are over 3 times longer than thin: what the grid lacks so close to a source, tens of per '// &
        'cent and more, cannot be added exactly; use a smaller dx, or do not trust them')
      call StressContactsSay(self%beside, scheme)
      if (scheme%own%source%kind == source_fault) then
        doubts = FaultDoubts(scheme%own%source%fault, job%fault, self%release, (scheme%nt_out - 1)*scheme%dt_out)
        if (doubts /= '') call SchemeWarn(scheme, doubts)
      end if
      call Fd3dCheckStrength(scheme, error)
    end select
  end subroutine warn

  function own_words(self, job, scheme) result(words)
    class(elastic3d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    character(:), allocatable :: words
    real(dp), allocatable :: x(:)
    integer :: i
    select type (scheme)
    type is (scheme3d_t)
      associate (c => scheme, j => job)
        words = ' '//Str(c%dy, 17)//' '//j%absorb//' '//j%sides//' '//j%bottom//' '//j%model_at//' '//Str(c%own%attenuates)//' '// &
                Str(c%own%q_band(1), 12)//' '//Str(c%own%q_band(2), 12)//' '//Str(c%own%q_ref, 12)
        if (c%own%attenuates .and. c%own%memory /= memory_coarse2001) words = words//' '//trim(memory_words(c%own%memory))
        if (c%own%narrow) words = words//' narrow'
        if (c%own%source%kind == source_fault) then
          words = words//' '//FaultHash(c%own%source%fault)
          return
        end if
        allocate (x, source=SourceNumbers(c%own%source))
        do i = 1, size(x)
          words = words//' '//Str(x(i), 17)
        end do
      end associate
    end select
  end function own_words

  ! --- what it needs --------------------------------------------------------------------------------------------------------

  !> A cell at a time: what the layers hold besides counts as for every cell. Within some 20 % (measured: t414). Of the ranks of a
  !> group the one with the largest piece tells.
  subroutine memory(self, scheme, window, pictures, worker, master)
    class(elastic3d_t), intent(in) :: self
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    logical, intent(in) :: pictures
    real(dp), intent(out) :: worker, master
    ! Floats a cell: fields, averaged media, memory variables of layers or of attenuation; 1/Q on its way to the engine.
    integer, parameter :: floats(4) = [18, 30, 60, 90], loss(4) = [0, 2, 2, 2]         ! elastic; coarse; all, and so in Fortran
    integer, parameter :: contact = 2                           ! of the medium, where rock, fluid and air meet
    ! Of a point of a fault: six parts of a tensor over 8 x 8 x 8 cells, six numbers each, in the list and in the engine.
    integer, parameter :: bytes_point = 2*6*512*24
    real(dp) :: inner, parts, own, around, box, slab, beside, model
    integer :: kind
    select type (scheme)
    type is (scheme3d_t)
      associate (s => scheme, e => self%earth)
        inner = product(real([window%nx, window%ny, window%nz], dp))
        parts = merge(5, 3, s%own%attenuates)
        kind = merge(2, 1, s%own%attenuates)
        if (kind == 2 .and. s%own%memory == memory_all) kind = merge(4, 3, s%variant == 'fortran')
        call LargestPiece(s, window, own, around)
        box = min(inner, around)                         ! of the window; it comes in slabs
        slab = WindowTray(parts*box, 0.0_dp)
        beside = max(slab, (loss(kind) + merge(contact, 0, e%fluidmin < huge(1.0_sp) .or. HasAir(e)))*around)
        model = product(real(e%n, dp))
        if (e%on_disk) model = 3*min(model, window_at_once)
        if (fd3d_variants%needs_gpu(s%variant)) own = 0         ! they are there
        worker = 4*(floats(kind)*own + parts*box + beside + Filtered(scheme))
        master = 4*(parts*model + slab)
        if (pictures) worker = worker + 16*Fd3dFilmNumbers(s, window)
        if (pictures) master = master + 12*Fd3dFilmNumbers(s, window)
        if (s%own%source%fault%n == 0) return
        worker = worker + real(bytes_point, dp)*s%own%source%fault%n + 8*real(size(s%own%source%fault%rate), dp)
        master = master + 8*real(size(s%own%source%fault%rate), dp)
      end associate
    end select
  end subroutine memory

  !> Some column of the model begins with air.
  pure logical function HasAir(earth)
    type(model3d_t), intent(in) :: earth
    HasAir = .false.
    if (allocated(earth%ground)) HasAir = any(earth%ground > 1)
  end function HasAir

  !> Cells of the largest piece of a shot, and of the box around it whose medium its rank knows.
  subroutine LargestPiece(scheme, window, own, around)
    type(scheme3d_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    real(dp), intent(out) :: own, around
    type(fd3d_grid_t) :: whole, piece, box
    type(cuts_t) :: cuts
    type(error_t), allocatable :: error
    integer :: width(6), p
    own = scheme%cells(window)
    around = own
    if (scheme%ranks == 1) return
    call CutShot(scheme, window, .false., whole, width, cuts, error)
    if (allocated(error)) return                  ! check_shot has told it
    own = 0
    around = 0
    do p = 1, scheme%ranks
      piece = Fd3dPiece(whole, width, cuts, p)
      box = Fd3dAround(whole, piece)
      own = max(own, product(real(piece%n, dp)))
      around = max(around, product(real(box%n, dp)))
    end do
  end subroutine LargestPiece

  !> The grid of a shot with layers of `width` cells, and how it is cut into pieces.
  subroutine CutShot(scheme, window, gpu, whole, width, cuts, error)
    type(scheme3d_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    logical, intent(in) :: gpu
    type(fd3d_grid_t), intent(out) :: whole
    integer, intent(out) :: width(6)
    type(cuts_t), intent(out) :: cuts
    type(error_t), allocatable, intent(inout) :: error
    integer :: pad(3)
    call Fd3dGrid(scheme, scheme%own, window, whole, width, pad)
    call Fd3dCuts(whole, width, scheme%ranks, scheme%own%decomposition, gpu, cuts, error)
  end subroutine CutShot

  subroutine sharing(self, scheme, window, gpu, words, gain, exchange)
    class(elastic3d_t), intent(in) :: self
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    logical, intent(in) :: gpu
    character(:), allocatable, intent(out) :: words
    real(dp), intent(out) :: gain, exchange
    type(fd3d_grid_t) :: whole
    type(cuts_t) :: cuts
    type(error_t), allocatable :: error
    integer :: width(6)
    words = ''
    gain = 1
    exchange = 0
    select type (scheme)
    type is (scheme3d_t)
      call CutShot(scheme, window, gpu, whole, width, cuts, error)
      if (allocated(error)) return                ! check_shot has told it
      call Fd3dGain(whole, width, cuts, gpu, gain, exchange)
      words = CutsWords(cuts)
    end select
  end subroutine sharing

  !> Samples of the histories of a fault at time steps (fault_histories.f90), at most twice at a time.
  pure real(dp) function Filtered(scheme) result(n)
    type(scheme3d_t), intent(in) :: scheme
    integer :: i
    n = 0
    associate (s => scheme, f => scheme%own%source%fault)
      if (.not. s%time_correction) return
      do i = 1, f%n
        n = n + 2*((f%start(i + 1) - f%start(i))*f%dt(i) + 22/s%fband)/s%dt
      end do
    end associate
  end function Filtered

  pure subroutine receiver(component, scheme, cells, sorting)
    character(*), intent(in) :: component
    class(scheme_t), intent(in) :: scheme
    integer, intent(out) :: cells, sorting
    cells = Fd3dCells(component, scheme%half_length)
    sorting = 42
  end subroutine receiver

  pure logical function wants_pictures(job) result(wanted)
    type(job_t), intent(in) :: job
    wanted = job%snapshot > 0 .or. job%pgv
  end function wants_pictures

  real(dp) function picture_numbers(scheme, window) result(numbers)
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    select type (scheme)
    type is (scheme3d_t)
      numbers = Fd3dFilmNumbers(scheme, window)
    end select
  end function picture_numbers

  subroutine check_pictures(self, scheme, shot, window, error)
    class(elastic3d_t), intent(in) :: self
    class(scheme_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    select type (scheme)
    type is (scheme3d_t)
      call Fd3dCheckFilms(scheme, shot, window, error)
    end select
  end subroutine check_pictures

  ! --- in words -------------------------------------------------------------------------------------------------------------

  subroutine describe(self, scheme, list)
    class(elastic3d_t), intent(in) :: self
    class(scheme_t), intent(in) :: scheme
    class(attributes_t), intent(inout) :: list
    select type (scheme)
    type is (scheme3d_t)
      call list%add('title', 'Shot gathers modelled by 3D elastic finite differences')
      call list%add('source', 'SplFd3dmod '//VersionText())
      call list%add('equations', 'rho dv/dt = div s + f;  ds/dt = lambda div v + mu (grad v + its transpose) - what '// &
                    'relaxes - moment rate;  p = -(sxx + syy + szz)/3')
      call list%add('source_term', Acts(self, scheme))
      if (scheme%own%narrow) call list%add('layer_differences', 'narrow')
      call list%add('axes', 'x points x_azimuth degrees clockwise from north, y 90 degrees further, z down')
      if (.not. scheme%own%attenuates) return
      call list%add('band_of_constant_Q_Hz', scheme%own%q_band)
      call list%add('smallest_Q', scheme%own%qmin)
      call list%add('memory_variables', trim(memory_words(scheme%own%memory)))
    end select
  end subroutine describe

  !> Smallest Q, its band, and what the memory variables are and cost, as cells without layers have it (fd3d_cpu.c).
  function Quality(scheme) result(words)
    type(scheme3d_t), intent(in) :: scheme
    character(:), allocatable :: words
    integer, parameter :: elastic = 12, both = 2, variables(3) = [6, 6, 36]        ! numbers of a cell
    associate (s => scheme%own)
      words = 'Q from '//Str(s%qmin, 4)//' on, constant from '//Str(s%q_band(1), 3)//' to '//Str(s%q_band(2), 3)// &
              ' Hz; memory_variables='//trim(memory_words(s%memory))//': '//Str(4*(elastic + both + variables(s%memory)))// &
              ' bytes a cell, '//Str(4*elastic)//' without attenuation'
    end associate
  end function Quality

  !> Lines on the source, and on the moment that a fault releases.
  function Acts(self, scheme) result(s)
    class(elastic3d_t), intent(in) :: self
    type(scheme3d_t), intent(in) :: scheme
    character(:), allocatable :: s
    s = SourceWords(scheme%own%source)
    if (scheme%own%source%kind == source_fault) s = s//nl//FaultLines(scheme%own%source%fault, self%release)
  end function Acts

  function log_lines(self, scheme) result(lines)
    class(elastic3d_t), intent(in) :: self
    class(scheme_t), intent(in) :: scheme
    character(:), allocatable :: lines
    select type (scheme)
    type is (scheme3d_t)
      lines = 'model    '//self%sources//', slowest and fastest wave '//Str(self%vmin)//' and '//Str(self%vmax)//' m/s, rho '// &
              Str(self%rhomin)//' .. '//Str(self%rhomax)//' kg/m3'
      if (self%earth%on_disk) lines = lines//nl//'         more than rank 0 has memory for: parts are read from disk '// &
                                      'as shots need them'
      if (scheme%own%attenuates) lines = lines//nl//'quality  '//Quality(scheme)
      if (scheme%own%narrow) lines = lines//nl//'layers   '//narrow_words
      lines = lines//nl//Labelled('acts     ', Acts(self, scheme))
    end select
  end function log_lines

  function plan_rows(self, scheme) result(lines)
    class(elastic3d_t), intent(in) :: self
    class(scheme_t), intent(in) :: scheme
    character(:), allocatable :: lines
    select type (scheme)
    type is (scheme3d_t)
      associate (e => self%earth)
        if (e%layers%n > 0) then
          lines = 'model      '//Str(e%layers%n)//' flat layers, the first begins at z = '//Str(e%low(3))//' m'
        else
          lines = 'model      '//Str(e%n(1))//' x '//Str(e%n(2))//' x '//Str(e%n(3))//' samples of '//Str(e%d(1))//' x '// &
                  Str(e%d(2))//' x '//Str(e%d(3))//' m, x '//Str(e%low(1))//' .. '//Str(e%high(1))//' m, y '// &
                  Str(e%low(2))//' .. '//Str(e%high(2))//' m, z '//Str(e%low(3))//' .. '//Str(e%high(3))//' m'
        end if
        lines = lines//nl//'velocity   slowest wave '//Str(e%vmin)//' m/s, fastest '//Str(e%vmax)//' m/s'//nl// &
                'density    '//Str(e%rhomin)//' .. '//Str(e%rhomax)//' kg/m3'
        if (e%attenuates) lines = lines//nl//'quality    '//Quality(scheme)
        if (scheme%own%narrow) lines = lines//nl//'layers     '//narrow_words
      end associate
      lines = lines//nl//Labelled('source     ', Acts(self, scheme))
    end select
  end function plan_rows

  !> The label before the first line, and as much room before the others.
  pure function Labelled(label, lines) result(s)
    character(*), intent(in) :: label, lines
    character(:), allocatable :: s
    integer :: i
    s = label
    do i = 1, len(lines)
      s = s//lines(i:i)
      if (lines(i:i) == nl) s = s//repeat(' ', len(label))
    end do
  end function Labelled

  subroutine new_scheme(self, scheme)
    class(elastic3d_t), intent(in) :: self
    class(scheme_t), allocatable, intent(out) :: scheme
    allocate (scheme3d_t :: scheme)
  end subroutine new_scheme

  ! --- what computes --------------------------------------------------------------------------------------------------------

  subroutine NewSolver(solver)
    class(solver_t), allocatable, intent(out) :: solver
    allocate (fd3d_t :: solver)
  end subroutine NewSolver

end module elastic3d_m
