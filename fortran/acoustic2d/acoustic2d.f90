!> 2D acoustic modelling as the framework sees it (physics.f90): everything but its numbers, which fd2d.f90 computes.
module acoustic2d_m
  use acoustic2d_parameters_m, only: acoustic2d_components, Acoustic2dRules, Acoustic2dTable
  use acoustic2d_trial_m, only: TrialFiles, TrialJob, TrialWave
  use attributes_m, only: attributes_t
  use checked_m, only: Below, Whole
  use contacts_near_m, only: contacts_near_t, ContactsSay, ContactsShot
  use error_m, only: error_t, Fail
  use fd2d_engine_m, only: fd2d_grid_t
  use fd2d_m, only: contact_cells, fd2d_t
  use fd2d_stability_m, only: ContrastCure, ContrastWords, StabilityStep, StabilityStepApart
  use kinds_m, only: dp, sp
  use model_m, only: model_t, ModelRead
  use model_window_m, only: ModelApart, ModelGrid, ModelShape, ModelWindow
  use modelcheck_m, only: ModelCheck, ranges_t
  use parameter_table_m, only: table_t
  use parameters_m, only: job_t
  use physics_m, only: physics_t
  use receiver_earth_m, only: EarthOfShot, EarthTold
  use scheme_m, only: scheme_t, SchemeDerive, SchemeGrid, SchemePad, SchemeWarn
  use shot_m, only: shot_t
  use sinc_m, only: sinc_nodes
  use solver_m, only: solver_t
  use text_m, only: Str, StrAtMost
  use version_m, only: VersionText
  use wavelet_m, only: wavelet_t
  use window_m, only: box_t, window_t, WindowHas, WindowParts
  use gather_m, only: numbers_most
  implicit none
  private
  public :: acoustic2d_t


  type, extends(physics_t) :: acoustic2d_t
    type(model_t) :: model
    type(contacts_near_t) :: near             !< receivers and sources too close to a contact, as the shots are looked at
  contains
    procedure :: introduce
    procedure :: parameters => Table
    procedure, nopass :: check => Acoustic2dRules
    procedure :: read => ReadModel
    procedure :: derive, step_in_doubt, search_step, window => WindowOf, velocity, look_around, check_shot, silent, warn, own_words
    procedure, nopass :: receiver
    procedure :: memory, grid_words
    procedure :: check_pictures
    procedure, nopass :: picture_numbers
    procedure :: describe, log_lines, plan_rows
    procedure, nopass :: solver => NewSolver
    procedure, nopass :: trial_files => TrialFiles, trial_job => TrialJob, trial_wave => TrialWave
  end type acoustic2d_t

contains

  ! --- program and parameters -----------------------------------------------------------------------------------------------

  subroutine introduce(self)
    class(acoustic2d_t), intent(inout) :: self
    self%program = 'SplFd2dmod'
    self%components = acoustic2d_components
    self%example = 'keymap=line.keymap vp=vp.nc rho=rho.nc fpeak=25 tmax=4 output=line.nc'
    self%far_field = 1                        ! the tail of waves in 2D takes half a power of f
    self%nodes = .true.
  end subroutine introduce

  subroutine Table(self, t, job)
    class(acoustic2d_t), intent(inout) :: self
    type(table_t), intent(inout) :: t
    type(job_t), intent(inout) :: job
    call Acoustic2dTable(t, job)
  end subroutine Table

  ! --- a survey -------------------------------------------------------------------------------------------------------------

  subroutine ReadModel(self, job, error)
    class(acoustic2d_t), intent(inout) :: self
    type(job_t), intent(in) :: job
    type(error_t), allocatable, intent(inout) :: error
    type(ranges_t) :: ranges
    self%near = contacts_near_t()
    call ModelRead(job, self%model, error)
    if (allocated(error)) return
    associate (m => self%model)
      self%earth_t = m%earth_t
      self%beyond = m%dz
      self%low = [m%x0, 0.0_dp, m%z0]
      self%high = self%low + [(m%nx - 1)*m%dx, 0.0_dp, (m%nz - 1)*m%dz]
      ranges = ranges_t(slowest=m%vmin, fastest=m%vmax, fluid=m%vmin, bottom=self%high(3), rhomin=m%rhomin, rhomax=m%rhomax, &
                        told=job%rho /= '')
    end associate
    call ModelCheck(job, ranges, self%doubts, error)
  end subroutine ReadModel

  subroutine derive(self, job, wavelet, shot, scheme, error)
    class(acoustic2d_t), intent(inout) :: self
    type(job_t), intent(in) :: job
    type(wavelet_t), intent(in) :: wavelet
    type(shot_t), intent(in) :: shot
    class(scheme_t), intent(inout) :: scheme
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: d(3)
    d = 0
    call ModelGrid(job, self%model, d(1), d(3), error)
    if (.not. allocated(error)) call SchemeDerive(job, wavelet, self%vmin, self%vmax, d, scheme, error)
    if (allocated(error)) return
    scheme%beside = 0
    if (EarthTold(self%model, job, scheme) .and. (self%vmin < self%vmax .or. self%rhomin < self%rhomax)) &
      scheme%beside = count([index(scheme%components, 'vx'), index(scheme%components, 'vz')] > 0)
  end subroutine derive

  !> The largest stable step may be smaller than the fastest wave alone would have it: densities differ much, as of air and rock, or
  !> modulus and density are means of different cells.
  pure logical function step_in_doubt(self, job, scheme) result(in_doubt)
    class(acoustic2d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    in_doubt = self%rhomax > 4*self%rhomin .or. ModelApart(self%model, job, scheme%dx, scheme%dz)
  end function step_in_doubt

  !> Lowers the time step to what the whole model tells. A larger one that the user gave is refused.
  subroutine search_step(self, job, wavelet, shot, scheme, error)
    class(acoustic2d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    type(wavelet_t), intent(in) :: wavelet
    type(shot_t), intent(in) :: shot
    class(scheme_t), intent(inout) :: scheme
    type(error_t), allocatable, intent(inout) :: error
    type(job_t) :: other
    real(dp) :: limit
    logical :: apart
    character(:), allocatable :: text
    limit = 0.98_dp*StableStep(self, job, shot, scheme)      ! each shot's own window is looked at again
    if (scheme%dt <= limit) return
    apart = ModelApart(self%model, job, scheme%dx, scheme%dz)
    text = ContrastWords('the model', apart, real(self%rhomin, sp), real(self%rhomax, sp))//' '
    if (job%dt > 0) then
      call Fail(error, text//'make dt = '//Str(scheme%dt)//' s unstable: set dt to at most '//StrAtMost(limit, 4)//' s, '// &
                'or 0 for the largest stable step, '//ContrastCure(apart))
      return
    end if
    other = job
    other%dt = limit
    text = text//'need a step of '//Str(1000*limit, 4)//' ms, where the velocities alone would allow '//Str(1000*scheme%dt, 4)// &
           ' ms'
    if (.not. apart) text = text//'; half_length=1 does not, and is more exact at such a contrast'
    call SchemeDerive(other, wavelet, self%vmin, self%vmax, [scheme%dx, 0.0_dp, scheme%dz], scheme, error)
    call SchemeWarn(scheme, text)
  end subroutine search_step

  !> The largest stable step [s] of the model, seen strip by strip; huge if that of the velocities will do.
  real(dp) function StableStep(self, job, any_shot, scheme) result(limit)
    class(acoustic2d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    type(shot_t), intent(in) :: any_shot
    class(scheme_t), intent(in) :: scheme
    real(dp), parameter :: cells = 1.0e6_dp              ! of a strip
    type(error_t), allocatable :: outside                ! told with the other problems of the geometry
    type(job_t) :: narrow
    type(shot_t) :: shot
    type(window_t) :: window
    type(fd2d_grid_t) :: grid
    real(dp) :: width
    integer :: strips, i
    limit = huge(limit)
    associate (m => self%model)
      strips = Whole(1 + Below((m%nx*m%dx/scheme%dx)*(m%nz*m%dz/scheme%dz)/cells))
      width = (m%nx - 1)*m%dx/strips
      shot = any_shot
      narrow = job
      narrow%aperture = 0.5_dp*width + 16*scheme%dx      ! strips overlap by what differentiators reach
      grid%half_length = scheme%half_length
      grid%dx = scheme%dx
      grid%dz = scheme%dz
      grid%dt = scheme%dt
      grid%threads = job%threads
      grid%w = scheme%w
      do i = 1, strips
        shot%sx = m%x0 + (i - 0.5_dp)*width
        shot%rx = [shot%sx]
        shot%rz = [shot%sz]
        call ModelWindow(m, narrow, shot, scheme%dx, scheme%dz, window, outside)
        if (allocated(outside)) return
        associate (first => window%medium(:, 1, :, 1), rho => window%medium(:, 1, :, 2))
          if (WindowHas(window, 3)) then
            limit = min(limit, StabilityStepApart(WithEdges(first, [0, 0]), WithEdges(rho, [1, 0]), &
                                                  WithEdges(window%medium(:, 1, :, 3), [0, 1]), grid, job%aperture >= 0))
          else
            limit = min(limit, StabilityStep(rho*first**2, rho, grid))
          end if
        end associate
        grid%dt = min(grid%dt, limit)                    ! what is stable then needs no closer look
      end do
    end associate

  contains

    !> The strip as shots have it in the layers around (fd2d_setup.f90), where it goes on level: that is another medium.
    function WithEdges(a, beyond) result(b)
      real(sp), intent(in) :: a(:, :)
      integer, intent(in) :: beyond(2)
      real(sp), allocatable :: b(:, :)
      integer :: pad(2), n(2), k
      pad = SchemePad(scheme)
      n = shape(a) - beyond
      allocate (b(size(a, 1) + 2*pad(1), size(a, 2) + sum(pad)))
      do k = 1, size(b, 2)
        b(pad(1) + 1:pad(1) + n(1), k) = a(:n(1), min(max(k - pad(2), 1), n(2)))
        b(:pad(1), k) = b(pad(1) + 1, k)
        b(pad(1) + n(1) + 1:, k) = b(pad(1) + n(1), k)
      end do
    end function WithEdges

  end function StableStep

  subroutine WindowOf(self, job, scheme, shot, filled, window, error, box)
    class(acoustic2d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    logical, intent(in) :: filled
    type(window_t), intent(out) :: window
    type(error_t), allocatable, intent(inout) :: error
    type(box_t), intent(in), optional :: box
    if (filled) then
      call ModelWindow(self%model, job, shot, scheme%dx, scheme%dz, window, error, box)
    else
      call ModelShape(self%model, job, shot, scheme%dx, scheme%dz, window, error)
    end if
  end subroutine WindowOf

  !> P velocity of the nearest sample [m/s].
  pure real(dp) function velocity(self, x) result(v)
    class(acoustic2d_t), intent(in) :: self
    real(dp), intent(in) :: x(3)
    associate (m => self%model)
      v = m%vp(Sample(x(1), m%x0, m%dx, m%nx), Sample(x(3), m%z0, m%dz, m%nz))
    end associate
  contains
    pure integer function Sample(x, x0, d, n)
      real(dp), intent(in) :: x, x0, d
      integer, intent(in) :: n
      Sample = min(max(nint((x - x0)/d) + 1, 1), n)
    end function Sample
  end function velocity

  subroutine look_around(self, job, scheme, shot)
    class(acoustic2d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    type(shot_t), intent(inout) :: shot
    call EarthOfShot(self%model, job, scheme, shot)
  end subroutine look_around

  subroutine check_shot(self, job, scheme, shot, window, error)
    class(acoustic2d_t), intent(inout) :: self
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    call ContactsShot(self%near, self%model, job, scheme, shot)
  end subroutine check_shot

  subroutine warn(self, job, scheme, error)
    class(acoustic2d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    class(scheme_t), intent(inout) :: scheme
    type(error_t), allocatable, intent(inout) :: error
    call ContactsSay(self%near, scheme)
  end subroutine warn

  !> Pressure is 0 along a free surface, and so is its slope along it: vx.
  subroutine silent(self, job, window, component, x, zero, error)
    class(acoustic2d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    type(window_t), intent(in) :: window
    character(*), intent(in) :: component(:)
    real(dp), intent(in) :: x(3)
    logical, intent(out) :: zero(:)
    type(error_t), allocatable, intent(inout) :: error
    zero = component == 'p' .or. component == 'vx'
  end subroutine silent

  !> Media that are means over four cells to each side: an output that was begun with fewer has others; right of and below a window
  !> they once went on otherwise than left of it, above a free surface level. Beside contacts sources and receivers once were what
  !> the weights of an even medium make of them, then without third integrals; close to a source beside a flat contact they lacked
  !> what that changes in short waves, at last where there was another one. What Holberg's weights are off at long waves counted as
  !> a bend.
  function own_words(self, job, scheme) result(words)
    class(acoustic2d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    character(:), allocatable :: words
    words = ''
    if (ModelApart(self%model, job, scheme%dx, scheme%dz)) words = ' eight points, third integrals, sides alike'
    if (EarthTold(self%model, job, scheme)) words = words//' contacts bend, short waves too, of one among others'
    if (EarthTold(self%model, job, scheme) .and. job%coeffs == 'holberg') words = words//', long ones not'
    if (EarthTold(self%model, job, scheme) .and. scheme%free_top) words = words//', image above'
  end function own_words

  ! --- what it needs --------------------------------------------------------------------------------------------------------

  !> Within some 20 % (measured: t414).
  subroutine memory(self, scheme, window, pictures, worker, master)
    class(acoustic2d_t), intent(in) :: self
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    logical, intent(in) :: pictures
    real(dp), intent(out) :: worker, master
    ! Floats a cell of the grid: what the engine holds with layers and rims, and modulus and density beside it.
    integer, parameter :: floats_cpu = 7 + 2, floats_fortran = 11 + 2
    real(dp) :: inner, films
    integer :: floats, floats_window
    floats = merge(floats_fortran, floats_cpu, scheme%variant == 'fortran')
    if (WindowParts(window) == 3) floats = floats + 1                          ! the density of vz
    floats_window = 2*max(2, WindowParts(window))          ! a node of the window, in the message and out of it
    inner = real(window%nx, dp)*window%nz
    films = 0
    if (pictures .and. scheme%snapshot > 0) &
      films = inner/scheme%snapshot_step**2*((scheme%nt_out - 1)*scheme%dt_out/scheme%snapshot + 1)
    worker = 4*(floats*product(real(SchemeGrid(scheme, window%nx, window%nz), dp)) + floats_window*inner + 4*films)
    master = 4*(2*real(self%model%nx, dp)*self%model%nz + floats_window*inner + 3*films)
    if (WindowParts(window) == 3) master = master + 4*3*inner                  ! that of the shot before
  end subroutine memory

  pure subroutine receiver(component, scheme, cells, sorting)
    character(*), intent(in) :: component
    class(scheme_t), intent(in) :: scheme
    integer, intent(out) :: cells, sorting
    cells = sinc_nodes**2 + nint(scheme%at_contacts*(contact_cells - sinc_nodes**2))
    if (component(1:1) == 'v') cells = cells + nint(0.6_dp*scheme%at_contacts*contact_cells)    ! of the other one, if it dips
    sorting = 66
  end subroutine receiver

  function grid_words(self, scheme, window) result(words)
    class(acoustic2d_t), intent(in) :: self
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    character(:), allocatable :: words
    integer :: n(2)
    n = SchemeGrid(scheme, window%nx, window%nz)
    words = Str(n(1))//' x '//Str(n(2))//' cells'
  end function grid_words

  subroutine check_pictures(self, scheme, shot, window, error)
    class(acoustic2d_t), intent(in) :: self
    class(scheme_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    if (picture_numbers(scheme, window) > numbers_most) &
      call Fail(error, 'the snapshots of shot record '//Str(shot%record)//' are '//Str(picture_numbers(scheme, window), 3)// &
                ' numbers, at most 2e9 can be: take fewer (snapshot) or coarser ones (snapshot_step)')
  end subroutine check_pictures

  real(dp) function picture_numbers(scheme, window) result(numbers)
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    numbers = 0
    if (scheme%snapshot > 0) &
      numbers = ((window%nx - 1)/scheme%snapshot_step + 1.0_dp)*((window%nz - 1)/scheme%snapshot_step + 1) &
                *((scheme%nt_out - 1)*scheme%dt_out/scheme%snapshot + 1)
  end function picture_numbers

  ! --- in words -------------------------------------------------------------------------------------------------------------

  subroutine describe(self, scheme, list)
    class(acoustic2d_t), intent(in) :: self
    class(scheme_t), intent(in) :: scheme
    class(attributes_t), intent(inout) :: list
    call list%add('title', 'Shot gathers modelled by 2D acoustic finite differences')
    call list%add('source', 'SplFd2dmod '//VersionText())
    call list%add('equations', 'rho dv/dt = -grad p;  dp/dt = -K div v + K q;  K = rho vp**2;  q = Q(t) delta(x-xs) delta(z-zs)')
    call list%add('source_term', 'volume injection rate Q [m2/s] per metre of line; direct wave p = rho dQ/dt * '// &
                  'H(t-r/c)/(2 pi sqrt(t**2-r**2/c**2))')
  end subroutine describe

  function log_lines(self, scheme) result(lines)
    class(acoustic2d_t), intent(in) :: self
    class(scheme_t), intent(in) :: scheme
    character(:), allocatable :: lines
    lines = 'model    '//Str(self%model%nx)//' x '//Str(self%model%nz)//' samples, vp '//Str(self%vmin)//' .. '// &
            Str(self%vmax)//' m/s, rho '//Str(self%rhomin)//' .. '//Str(self%rhomax)//' kg/m3'
  end function log_lines

  function plan_rows(self, scheme) result(lines)
    class(acoustic2d_t), intent(in) :: self
    class(scheme_t), intent(in) :: scheme
    character(:), allocatable :: lines
    character, parameter :: nl = new_line('a')
    associate (m => self%model)
      lines = 'model      '//Str(m%nx)//' x '//Str(m%nz)//' samples of '//Str(m%dx)//' x '//Str(m%dz)//' m, x '// &
              Str(self%low(1))//' .. '//Str(self%high(1))//' m, z '//Str(self%low(3))//' .. '//Str(self%high(3))//' m'//nl// &
              'velocity   '//Str(m%vmin)//' .. '//Str(m%vmax)//' m/s'//nl// &
              'density    '//Str(m%rhomin)//' .. '//Str(m%rhomax)//' kg/m3'
    end associate
  end function plan_rows

  ! --- what computes --------------------------------------------------------------------------------------------------------

  subroutine NewSolver(solver)
    class(solver_t), allocatable, intent(out) :: solver
    allocate (fd2d_t :: solver)
  end subroutine NewSolver

end module acoustic2d_m
