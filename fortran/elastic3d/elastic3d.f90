!> 3D (visco)elastic modelling as the framework sees it (physics.f90): everything but its numbers, which fd3d.f90 computes. The
!> submodules hold the scheme of a survey (elastic3d_derive.f90), what a shot needs (elastic3d_needs.f90), and what is said of it
!> (elastic3d_words.f90).
module elastic3d_m
  use attributes_m, only: attributes_t
  use elastic3d_parameters_m, only: elastic3d_components, Elastic3dRules, Elastic3dTable
  use elastic3d_trial_m, only: TrialFiles, TrialJob
  use energy_gained_m, only: EnergyGainedWarn
  use error_m, only: error_t, Fail
  use faultwords_m, only: FaultDoubts, FaultRelease, release_t
  use fd3d_bends_m, only: line_reach
  use fd3d_check_m, only: Fd3dCheckShot, Fd3dWet
  use fd3d_m, only: fd3d_t
  use near_receivers_m, only: varies_little, Fd3dNear, Fd3dNearAway, Fd3dNearShears, Fd3dNearTold, Fd3dOnSource
  use floor_receivers_m, only: FloorReceivers, FloorReceiversSay
  use floor_sources_m, only: floor_sources_t, FloorSources, FloorSourcesSay
  use free_surface_m, only: SourceVanishes, Vanishes
  use kinds_m, only: dp, sp
  use mixed_cells_m, only: medium_parts
  use model3d_m, only: model3d_t, Model3dRead
  use model3d_place_m, only: Model3dAt, Model3dTells, place_numbers
  use model3d_window_m, only: Model3dAround, Model3dCell, Model3dCutsFloor, Model3dMedia, Model3dShape, Model3dWindow
  use model_rules_m, only: NoShearDoubt
  use modelcheck_m, only: ModelCheck, ranges_t
  use parameter_table_m, only: SplitList, table_t
  use parameters_m, only: job_t
  use physics_m, only: physics_t
  use receiver_cells_m, only: receiver_cells_t, ReceiverCells
  use scheme3d_m, only: scheme3d_t
  use scheme_m, only: scheme_t, SchemeSpacing, SchemeWarn
  use shear_in_fluids_m, only: RecordsShear, ShearInFluids, ShearInFluidsWords
  use shallow_water_m, only: ShallowWater, ShallowWaterSay
  use shot_m, only: shot_t
  use solver_m, only: solver_t
  use source3d_m, only: source_fault, SourceStrength
  use soft_ground_m, only: SoftGroundWarn
  use standing_receivers_m, only: standing_t, StandAgain
  use stairs_m, only: FloorStairsWarn, SeabedWarn, StairsWarn
  use stress_contacts_m, only: beside_t, StressContacts, StressContactsSay
  use text_m, only: Str
  use nearfield3d_m, only: near3d_least
  use told_receivers_m, only: told_receivers_t, ToldAdd
  use trial3d_m, only: TrialWave
  use water_receivers_m, only: in_water_t, WaterReceivers, WaterReceiversSay
  use wavelet_m, only: wavelet_t
  use window_m, only: box_t, window_t
  implicit none
  private
  public :: elastic3d_t

  !> Receivers and sources that are to be told of, of the shots looked at; receivers where nothing else is said.
  type :: told_t
    type(release_t) :: release                !< moments of a fault
    type(told_receivers_t) :: near            !< too close to their source
    logical :: layered = .false.              !< some get what the grid lacks there in flat layers
    type(told_receivers_t) :: on_source
    type(beside_t) :: beside                  !< sources, and receivers of stress and strain, beside a contact
    type(floor_sources_t) :: below_floor      !< sources of moment right below water
    type(told_receivers_t) :: over_floor(2)   !< of pressure and of motion right above a sea floor in a cell
    type(in_water_t) :: in_water              !< of velocity in water right above a source in rock, or a sea floor
    type(told_receivers_t) :: in_shallows     !< in or right below shallow water
    type(told_receivers_t) :: shearless       !< of shear stress in water
    type(receiver_cells_t) :: cells           !< that receivers read
    type(standing_t) :: standing              !< receivers of the shot before
  end type told_t

  type, extends(physics_t) :: elastic3d_t
    type(model3d_t) :: earth
    type(told_t) :: told
  contains
    procedure :: introduce
    procedure :: parameters => Table
    procedure, nopass :: check => Elastic3dRules
    procedure :: read => ReadModel
    procedure :: wavelet => OwnWavelet
    procedure :: derive, window => WindowOf, media => MediaOf, velocity, look_around, check_shot, silent, warn, own_words
    procedure, nopass :: receiver
    procedure :: memory, sharing
    procedure, nopass :: wants_pictures, picture_numbers
    procedure :: check_pictures
    procedure :: describe, log_lines, plan_rows, new_scheme
    procedure, nopass :: solver => NewSolver
    procedure, nopass :: trial_files => TrialFiles, trial_job => TrialJob, trial_wave => TrialWave
  end type elastic3d_t

  interface
    ! --- elastic3d_derive.f90

    !> The histories of a fault have no wavelet, but a band that must be right.
    module subroutine OwnWavelet(self, job, wavelet, error)
      class(elastic3d_t), intent(in) :: self
      type(job_t), intent(in) :: job
      type(wavelet_t), intent(inout) :: wavelet
      type(error_t), allocatable, intent(inout) :: error
    end subroutine OwnWavelet

    module subroutine derive(self, job, wavelet, shot, scheme, error)
      class(elastic3d_t), intent(inout) :: self
      type(job_t), intent(in) :: job
      type(wavelet_t), intent(in) :: wavelet
      type(shot_t), intent(in) :: shot
      class(scheme_t), intent(inout) :: scheme
      type(error_t), allocatable, intent(inout) :: error
    end subroutine derive

    ! --- elastic3d_needs.f90

    !> A cell at a time: what the layers hold besides counts as for every cell. Within some 20 % (measured: t414). Of the ranks of a
    !> group the one with the largest piece tells.
    module subroutine memory(self, scheme, window, pictures, worker, master)
      class(elastic3d_t), intent(in) :: self
      class(scheme_t), intent(in) :: scheme
      type(window_t), intent(in) :: window
      logical, intent(in) :: pictures
      real(dp), intent(out) :: worker, master
    end subroutine memory

    module subroutine sharing(self, scheme, window, gpu, words, gain, exchange)
      class(elastic3d_t), intent(in) :: self
      class(scheme_t), intent(in) :: scheme
      type(window_t), intent(in) :: window
      logical, intent(in) :: gpu
      character(:), allocatable, intent(out) :: words
      real(dp), intent(out) :: gain, exchange
    end subroutine sharing

    pure module subroutine receiver(component, scheme, cells, sorting)
      character(*), intent(in) :: component
      class(scheme_t), intent(in) :: scheme
      integer, intent(out) :: cells, sorting
    end subroutine receiver

    pure module logical function wants_pictures(job) result(wanted)
      type(job_t), intent(in) :: job
    end function wants_pictures

    module real(dp) function picture_numbers(scheme, window) result(numbers)
      class(scheme_t), intent(in) :: scheme
      type(window_t), intent(in) :: window
    end function picture_numbers

    module subroutine check_pictures(self, scheme, shot, window, error)
      class(elastic3d_t), intent(in) :: self
      class(scheme_t), intent(in) :: scheme
      type(shot_t), intent(in) :: shot
      type(window_t), intent(in) :: window
      type(error_t), allocatable, intent(inout) :: error
    end subroutine check_pictures

    ! --- elastic3d_words.f90

    module function own_words(self, job, scheme) result(words)
      class(elastic3d_t), intent(in) :: self
      type(job_t), intent(in) :: job
      class(scheme_t), intent(in) :: scheme
      character(:), allocatable :: words
    end function own_words

    module subroutine describe(self, scheme, list)
      class(elastic3d_t), intent(in) :: self
      class(scheme_t), intent(in) :: scheme
      class(attributes_t), intent(inout) :: list
    end subroutine describe

    module function log_lines(self, scheme) result(lines)
      class(elastic3d_t), intent(in) :: self
      class(scheme_t), intent(in) :: scheme
      character(:), allocatable :: lines
    end function log_lines

    module function plan_rows(self, scheme) result(lines)
      class(elastic3d_t), intent(in) :: self
      class(scheme_t), intent(in) :: scheme
      character(:), allocatable :: lines
    end function plan_rows
  end interface

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

  ! --- a survey -------------------------------------------------------------------------------------------------------------

  subroutine ReadModel(self, job, error)
    class(elastic3d_t), intent(inout) :: self
    type(job_t), intent(in) :: job
    type(error_t), allocatable, intent(inout) :: error
    self%told = told_t()
    call Model3dRead(job, self%earth, error)
    if (allocated(error)) return
    self%earth_t = self%earth%earth_t
    self%endless = self%earth%layers%n > 0
    self%attenuates = self%earth%attenuates
    call ModelCheck(job, Ranges(self%earth, job), self%doubts, error)
    if (self%endless .and. .not. allocated(error)) call DoubtTops(self, job)
  end subroutine ReadModel

  !> Flat layers that all begin at the very top of what is modelled: tops in km, perhaps.
  subroutine DoubtTops(self, job)
    class(elastic3d_t), intent(inout) :: self
    type(job_t), intent(in) :: job
    real(dp), parameter :: skin = 0.01_dp, cells = 2        ! of what is modelled
    real(dp) :: span
    associate (l => self%earth%layers, dz => merge(job%dz, job%dx, job%dz > 0))
      span = l%top(l%n) - l%top(1)
      if (l%n == 1 .or. span > min(skin*job%depth, cells*dz)) return
      if (self%doubts /= '') self%doubts = self%doubts//new_line('a')
      self%doubts = self%doubts//'all '//Str(l%n)//' layers of '//job%layers//' begin within '//Str(span)//' m, of '// &
                    Str(job%depth)//' m that are modelled: give tops in metres if these are kilometres'
    end associate
  end subroutine DoubtTops

  pure type(ranges_t) function Ranges(earth, job)
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    Ranges%fastest = earth%vmax
    Ranges%rhomin = earth%rhomin
    Ranges%rhomax = earth%rhomax
    Ranges%told = job%rho /= '' .or. job%layers /= ''
    Ranges%stiffest = earth%stiffest
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

  !> The model's own media at receivers and source and around them, by which fields are read beside contacts (fd3d_contacts.f90).
  subroutine look_around(self, job, scheme, shot)
    class(elastic3d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    type(shot_t), intent(inout) :: shot
    integer :: r
    if (allocated(shot%at_places)) deallocate (shot%at_places)
    if (.not. Model3dTells(self%earth)) return
    allocate (shot%at_places(place_numbers, size(shot%rx) + 1))
    do r = 1, size(shot%rx)
      shot%at_places(:, r) = At([shot%rx(r), shot%ry(r), shot%rz(r)])
    end do
    shot%at_places(:, r) = At([shot%sx, shot%sy, shot%sz])
    if (all(abs(shot%at_places(medium_parts + 1:, :)) <= 0)) shot%at_places = shot%at_places(:medium_parts, :)

  contains

    pure function At(x) result(numbers)
      real(dp), intent(in) :: x(3)
      real(dp) :: numbers(place_numbers)
      numbers = Model3dAt(self%earth, x, line_reach*[scheme%dx, scheme%dy, scheme%dz])
    end function At

  end subroutine look_around

  !> Source and receivers in their places, what a fault releases there, receivers too close to their source, and a source on a free
  !> surface.
  subroutine check_shot(self, job, scheme, shot, window, error)
    class(elastic3d_t), intent(inout) :: self
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    type(window_t) :: around
    real(dp), allocatable :: rigidity(:)
    integer :: n, r
    logical :: told, again
    select type (scheme)
    type is (scheme3d_t)
      call Model3dAround(self%earth, job, shot, window, around)
      again = StandAgain(self%told%standing, shot, around)
      call Fd3dCheckShot(self%earth, job, scheme, shot, around, again, rigidity, error)
      if (allocated(error)) then
        self%told%standing = standing_t()         ! the rest was not looked at
        return
      end if
      if (scheme%own%source%kind == source_fault) call FaultRelease(scheme%own%source%fault, rigidity, shot%record, &
                                                                    [shot%sx, shot%sy, shot%sz], self%told%release)
      call Fd3dNear(self%earth, job, scheme, shot, around, n, r, told, error)
      self%told%layered = self%told%layered .or. told
      if (n > 0 .and. self%told%near%n == 0) &
        self%told%near%first = 'channel '//Str(shot%channel(r))//' of shot record '//Str(shot%record)//', '// &
                       Str(norm2(Fd3dNearAway(around, shot, r, scheme%periodic)), 4)//' m away with cells of '// &
                       SchemeSpacing(scheme)//' m'
      self%told%near%n = self%told%near%n + n
      if (scheme%own%source%kind /= source_fault) then
        do r = 1, size(shot%rx)
          if (Fd3dOnSource(window, shot, r)) call ToldAdd(self%told%on_source, shot, r, 1.0_dp, .true.)
        end do
      end if
      if (.not. allocated(error)) call FloorSources(self%told%below_floor, self%earth, job, scheme, shot, around, told, error)
      if (.not. allocated(error)) call StressContacts(self%told%beside, self%earth, job, scheme, shot, around, told, again, error)
      if (.not. allocated(error)) call FloorReceivers(self%told%over_floor, self%earth, job, scheme, shot, around, again, error)
      if (.not. allocated(error)) call ShallowWater(self%told%in_shallows, self%earth, job, scheme, shot)
      if (.not. allocated(error)) call WaterReceivers(self%told%in_water, self%earth, job, scheme, shot, around, again, error)
      if (.not. allocated(error)) call CheckShear(self, job, scheme, shot, around, error)
      if (scheme%free_top .and. .not. allocated(error)) call CheckDepth(self, job, scheme, shot, around, error)
      if (.not. allocated(error)) call ReceiverCells(self%told%cells, self%earth, job, scheme, shot, window)
      if (allocated(error)) self%told%standing = standing_t()
    end select
  end subroutine check_shot

  subroutine CheckShear(self, job, scheme, shot, window, error)
    class(elastic3d_t), intent(inout) :: self
    type(job_t), intent(in) :: job
    type(scheme3d_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    logical, allocatable :: wet(:)
    associate (names => SplitList(scheme%components))
      if (.not. any(RecordsShear(names))) return
      call Fd3dWet(self%earth, job, shot, window, wet, error)
      if (.not. allocated(error)) call ShearInFluids(self%told%shearless, shot, names, wet, error)
    end associate
  end subroutine CheckShear

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
    character(:), allocatable :: doubts, farther
    select type (scheme)
    type is (scheme3d_t)
      scheme%own%reads = self%told%cells%times()
      scheme%own%layered = self%told%layered
      if (Model3dTells(self%earth)) scheme%places = merge(place_numbers, medium_parts, scheme%own%reads > 1)
      farther = ''
      if (scheme%half_length == 1) farther = 'from 6 cells on with half-length 1, 5 to 30 % of stress and strain, '
      call StairsWarn(self%earth, scheme)
      call FloorStairsWarn(self%earth, scheme)
      call SeabedWarn(self%earth, scheme, scheme%own%narrow)
      call SoftGroundWarn(scheme, self%earth)
      if (scheme%own%attenuates) call EnergyGainedWarn(self%earth, scheme)
      if (self%told%near%n > 0) call SchemeWarn(scheme, Str(self%told%near%n)//' receiver(s) are closer than '// &
        Str(nint(Fd3dNearTold(scheme%half_length)))//' cells to their source, the first of them '//self%told%near%first// &
        ', and the medium varies by over '//Str(nint(100*varies_little))//' % within 4 cells of '// &
        'both or has a free surface there, other than flat layers of rock with one contact, a flat sea floor below a source '// &
        'of volume in the water and a model all under water, there is a periodic side between them or '// &
        'within 5 cells of one, or Q below 500 without memory_variables=all, cells are over 3 times longer than thin, '// &
        'or a source in water does more than push to all sides: what the grid lacks so close to a '// &
        'source, tens of per cent and more, '//farther// &
        'cannot be added exactly; use a smaller dx, or do not trust them')
      if (self%told%on_source%n > 0) call SchemeWarn(scheme, Str(self%told%on_source%n)//' receiver(s) stand on their source, '// &
        'the first of them '//self%told%on_source%first//': the field there is infinite, and the traces hold what the spacing '// &
        'makes of it; put them '//Str(near3d_least*max(scheme%dx, scheme%dy, scheme%dz), 2)//' m or more away from the source')
      call StressContactsSay(self%told%beside, scheme)
      call FloorSourcesSay(self%told%below_floor, scheme)
      call FloorReceiversSay(self%told%over_floor, scheme)
      call WaterReceiversSay(self%told%in_water, scheme)
      call ShallowWaterSay(self%told%in_shallows, scheme)
      if (self%told%shearless%n > 0) call SchemeWarn(scheme, ShearInFluidsWords(self%told%shearless))
      if (scheme%own%source%kind == source_fault) then
        doubts = FaultDoubts(scheme%own%source%fault, job%fault, self%told%release, (scheme%nt_out - 1)*scheme%dt_out)
        if (doubts /= '') call SchemeWarn(scheme, doubts)
      end if
      doubts = NoShearDoubt(job, self%vmax)
      if (doubts /= '') call SchemeWarn(scheme, doubts)
      call SourceStrength(scheme%own%source, scheme%q, scheme%dt, scheme%dx*scheme%dy*scheme%dz, error)
    end select
  end subroutine warn

  ! --- what computes --------------------------------------------------------------------------------------------------------

  subroutine new_scheme(self, scheme)
    class(elastic3d_t), intent(in) :: self
    class(scheme_t), allocatable, intent(out) :: scheme
    allocate (scheme3d_t :: scheme)
  end subroutine new_scheme

  subroutine NewSolver(solver)
    class(solver_t), allocatable, intent(out) :: solver
    allocate (fd3d_t :: solver)
  end subroutine NewSolver

end module elastic3d_m
