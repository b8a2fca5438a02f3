!> A physics, as the framework knows it: one object that has its program, its parameters and their rules, its model of the earth,
!> what a survey of it needs, and its solver. Survey, ranks, worker, master, files and program know physics_t alone.
!>
!> To add a physics extend physics_t (tests/physics/tube.f90 is the smallest that does all), and write a program of ten lines as
!> SplFd2dmod.f90. Rank 0 reads model and parameters and keeps them in the object; what other ranks must know goes to them in the
!> scheme and in the windows of shots.
module physics_m
  use attributes_m, only: attributes_t
  use earth_m, only: earth_t
  use error_m, only: error_t
  use kinds_m, only: dp, i8, sp
  use parameter_table_m, only: SplitList, table_t
  use parameters_m, only: job_t, JobBlank
  use scheme_m, only: scheme_t
  use gather_m, only: gather_t
  use shot_m, only: shot_t
  use solver_m, only: solver_t
  use text_m, only: Str
  use variants_m, only: variants_t
  use version_m, only: VersionText
  use wavelet_m, only: wavelet_t, WaveletMake
  use window_m, only: box_t, window_t
  implicit none
  private
  public :: physics_t, PhysicsIntroduce, JobTable, PhysicsTable, PhysicsVariants, PhysicsKnows

  type, abstract, extends(earth_t) :: physics_t   !< earth_t: of its model, since that was read
    ! Set by `introduce`:
    character(:), allocatable :: program      !< what the user calls
    character(:), allocatable :: components   !< what can be recorded, joined by commas
    character(:), allocatable :: summary      !< the same in few words for a message; '': all of them
    character(:), allocatable :: example      !< parameters of a first run
    character(9) :: pictures = 'snapshots'    !< what its pictures are called
    character(80) :: smaller = 'lower aperture, depth or npml, or raise spacings'     !< what makes its shots smaller
    logical :: attenuates = .false.           !< something of the model does; known once it was read
    integer :: far_field = 0                  !< the far field of its source has, in its power, frequencies as f to this exponent
                                              !< times those of the wavelet
    real(dp) :: cells_to_try = 8.0e6_dp       !< of a shot that `plan` tries on CPU cores, at most
    character(:), allocatable :: verb         !< a verb of its own; '' none
    character(:), allocatable :: verb_does    !< what that does, for the help
    logical :: groups = .false.               !< several ranks may share a shot
    integer :: fewest = 1                     !< ranks that hold a shot at least, whatever memory they have; known with the scheme
    logical :: finds_surface = .false.        !< `silent` knows itself whether a place is on a free surface, which may be anywhere
    logical :: nodes = .false.                !< the n numbers of a window along an axis stand on nodes, n - 1 spacings wide; else
                                              !< they are cells
  contains
    ! --- program and parameters
    procedure(introduce_i), deferred :: introduce
    procedure(parameters_i), deferred :: parameters
    procedure, nopass :: check => NoRules
    procedure :: own_verb => NoVerb
    ! --- a survey, on rank 0
    procedure(read_i), deferred :: read
    procedure :: wavelet => JobWavelet
    procedure(derive_i), deferred :: derive
    procedure :: step_in_doubt => StepKnown
    procedure :: search_step => NoSearch
    procedure(window_i), deferred :: window
    procedure :: media => MediaOfWindow
    procedure :: look_around => NothingAround
    procedure :: velocity => Slowest
    procedure :: check_shot => NoShotRules
    procedure :: silent => NoneSilent
    procedure :: warn => NoWarnings
    procedure :: own_words => NoWords
    ! --- what it needs
    procedure :: memory => SomeMemory
    procedure, nopass :: receiver => OneCell
    procedure :: sharing => NotShared
    procedure :: grid_words => WindowWords
    ! --- pictures
    procedure, nopass :: wants_pictures => WantsSnapshots
    procedure :: check_pictures => NoPictureRules
    procedure, nopass :: picture_numbers => NoPictures
    ! --- in words
    procedure :: describe => DescribeProgram
    procedure :: describe_scheme => DescribeGrid
    procedure :: log_lines => ModelLine
    procedure :: plan_rows => ModelRow
    ! --- what computes
    procedure :: new_scheme => PlainScheme
    procedure(solver_i), deferred, nopass :: solver
    ! --- the verb verify
    procedure(trial_files_i), deferred, nopass :: trial_files
    procedure(trial_job_i), deferred, nopass :: trial_job
    procedure(trial_wave_i), deferred, nopass :: trial_wave
    procedure, non_overridable :: trial_exact
  end type physics_t

  abstract interface
    !> Sets the names above; comes first of all.
    subroutine introduce_i(self)
      import :: physics_t
      class(physics_t), intent(inout) :: self
    end subroutine introduce_i

    !> Its table of parameters, by the sections of parameters.f90 and lines of its own, into `job` or components of its own; and
    !> job%axes.
    subroutine parameters_i(self, t, job)
      import :: physics_t, table_t, job_t
      class(physics_t), intent(inout) :: self
      type(table_t), intent(inout) :: t
      type(job_t), intent(inout) :: job
    end subroutine parameters_i

    !> Reads and checks the model, and sets what stands above of it.
    subroutine read_i(self, job, error)
      import :: physics_t, job_t, error_t
      class(physics_t), intent(inout) :: self
      type(job_t), intent(in) :: job
      type(error_t), allocatable, intent(inout) :: error
    end subroutine read_i

    !> The scheme of the survey. `shot`: one of its shots.
    subroutine derive_i(self, job, wavelet, shot, scheme, error)
      import :: physics_t, job_t, wavelet_t, shot_t, scheme_t, error_t
      class(physics_t), intent(inout) :: self
      type(job_t), intent(in) :: job
      type(wavelet_t), intent(in) :: wavelet
      type(shot_t), intent(in) :: shot
      class(scheme_t), intent(inout) :: scheme
      type(error_t), allocatable, intent(inout) :: error
    end subroutine derive_i

    !> Finds the window of a shot, and, if it is to be `filled`, its medium: of the cells in `box`, where it is there. Fails where
    !> source or receivers lie outside of the model.
    subroutine window_i(self, job, scheme, shot, filled, window, error, box)
      import :: physics_t, job_t, scheme_t, shot_t, window_t, box_t, error_t
      class(physics_t), intent(in) :: self
      type(job_t), intent(in) :: job
      class(scheme_t), intent(in) :: scheme
      type(shot_t), intent(in) :: shot
      logical, intent(in) :: filled
      type(window_t), intent(out) :: window
      type(error_t), allocatable, intent(inout) :: error
      type(box_t), intent(in), optional :: box
    end subroutine window_i

    subroutine solver_i(solver)
      import :: solver_t
      class(solver_t), allocatable, intent(out) :: solver
    end subroutine solver_i

    !> Writes models and a key-map line.keymap of small surveys into a folder: 'layers', to compare, and 'uniform', whose direct
    !> waves are known. Tells how many shots.
    subroutine trial_files_i(folder, shots)
      character(*), intent(in) :: folder
      integer, intent(out) :: shots
    end subroutine trial_files_i

    !> Parameters of such a survey, a line each, but for keymap and output.
    function trial_job_i(folder, model) result(settings)
      character(*), intent(in) :: folder, model
      character(:), allocatable :: settings
    end function trial_job_i

    !> The first component in 'uniform', r [m] from the source at times t [s].
    function trial_wave_i(wavelet, r, t) result(wave)
      import :: wavelet_t, dp
      type(wavelet_t), intent(in) :: wavelet
      real(dp), intent(in) :: r, t(:)
      real(dp) :: wave(size(t))
    end function trial_wave_i
  end interface

contains

  ! --- for all physics ------------------------------------------------------------------------------------------------------

  !> A physics before all else: its names, and no model.
  subroutine PhysicsIntroduce(physics)
    class(physics_t), intent(inout) :: physics
    physics%summary = ''
    physics%example = ''
    physics%verb = ''
    physics%verb_does = ''
    physics%sources = ''
    physics%doubts = ''
    call physics%introduce()
  end subroutine PhysicsIntroduce

  !> The pass over the parameters of a physics: `job` from its defaults and what `t` has gathered.
  subroutine JobTable(physics, t, job)
    class(physics_t), intent(inout) :: physics
    type(table_t), intent(inout) :: t
    type(job_t), intent(inout) :: job
    call PhysicsIntroduce(physics)
    call JobBlank(job)
    call physics%parameters(t, job)
  end subroutine JobTable

  !> Tells a table the kernel variants of this build.
  subroutine PhysicsTable(physics, t)
    class(physics_t), intent(in) :: physics
    type(table_t), intent(inout) :: t
    class(variants_t), allocatable :: variants
    call Kernels(physics, variants)
    t%variants = 'auto,'//variants%names()
    t%on_gpu = variants%with('gpu')
    t%unbuilt = variants%with('unbuilt')
  end subroutine PhysicsTable

  !> Its kernel variants are those of its solver.
  subroutine Kernels(physics, variants)
    class(physics_t), intent(in) :: physics
    class(variants_t), allocatable, intent(out) :: variants
    class(solver_t), allocatable :: solver
    call physics%solver(solver)
    call solver%kernels(variants)
  end subroutine Kernels

  !> Its kernel variants, joined by commas: those of this build, or of them those that compute on `cores` alone.
  function PhysicsVariants(physics, cores) result(names)
    class(physics_t), intent(in) :: physics
    logical, intent(in) :: cores
    character(:), allocatable :: names
    class(variants_t), allocatable :: variants
    character(32), allocatable :: word(:)
    integer :: i
    call Kernels(physics, variants)
    allocate (word, source=SplitList(variants%names()))
    names = ''
    do i = 1, size(word)
      if (.not. variants%built(trim(word(i)))) cycle
      if (cores) then
        if (variants%needs_gpu(trim(word(i)))) cycle
      end if
      if (names /= '') names = names//','
      names = names//trim(word(i))
    end do
  end function PhysicsVariants

  !> True of a component that can be recorded.
  logical function PhysicsKnows(physics, component) result(known)
    class(physics_t), intent(in) :: physics
    character(*), intent(in) :: component
    known = any(SplitList(physics%components) == component)
  end function PhysicsKnows

  !> The first component of a gather of 'uniform', (nt, nrec).
  function trial_exact(self, job, wavelet, gather) result(exact)
    class(physics_t), intent(in) :: self
    type(job_t), intent(in) :: job
    type(wavelet_t), intent(in) :: wavelet
    type(gather_t), intent(in) :: gather
    real(dp) :: exact(gather%nt, gather%nrec)
    real(dp) :: away(3)
    integer :: i, r
    do r = 1, gather%nrec
      away = [gather%rx(r) - gather%sx, 0.0_dp, gather%rz(r) - gather%sz]
      if (job%axes(2)) away(2) = gather%ry(r) - gather%sy
      exact(:, r) = self%trial_wave(wavelet, norm2(away), [((i - 1)*job%dt_out, i=1, gather%nt)])
    end do
  end function trial_exact

  ! --- what a physics need not have -----------------------------------------------------------------------------------------

  !> Adds to the table's problems what is wrong with parameters of this physics together. `verb`: as in JobRead.
  subroutine NoRules(job, verb, t)
    type(job_t), intent(in) :: job
    character(*), intent(in) :: verb
    type(table_t), intent(inout) :: t
  end subroutine NoRules

  !> Does what its own verb is for, on rank 0; `text` is printed.
  subroutine NoVerb(self, job, text, error)
    class(physics_t), intent(inout) :: self
    type(job_t), intent(in) :: job
    character(:), allocatable, intent(out) :: text
    type(error_t), allocatable, intent(inout) :: error
    text = ''
  end subroutine NoVerb

  !> The wavelet of a job.
  subroutine JobWavelet(self, job, wavelet, error)
    class(physics_t), intent(in) :: self
    type(job_t), intent(in) :: job
    type(wavelet_t), intent(inout) :: wavelet
    type(error_t), allocatable, intent(inout) :: error
    call WaveletMake(job, wavelet, error)
  end subroutine JobWavelet

  !> Velocity of the slowest wave at a place of the model, 0 where there is none [m/s].
  pure real(dp) function Slowest(self, x) result(v)
    class(physics_t), intent(in) :: self
    real(dp), intent(in) :: x(3)            !< [m]
    v = self%vmin
  end function Slowest

  !> The media of a box of the cells of a shot's `window`, whose parts are known: along x, y, z, then part after part.
  subroutine MediaOfWindow(self, job, scheme, shot, window, box, media, error)
    class(physics_t), intent(in) :: self
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    type(box_t), intent(in) :: box
    real(sp), contiguous, intent(inout) :: media(:)
    type(error_t), allocatable, intent(inout) :: error
    type(window_t) :: filled
    call self%window(job, scheme, shot, .true., filled, error, box)
    if (.not. allocated(error)) media = reshape(filled%medium, [size(filled%medium, kind=i8)])
  end subroutine MediaOfWindow

  !> Sets shot%at_places, what only the model tells of the earth at receivers and source of a shot: here nothing.
  subroutine NothingAround(self, job, scheme, shot)
    class(physics_t), intent(in) :: self
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    type(shot_t), intent(inout) :: shot
  end subroutine NothingAround

  !> Memory for a shot in a window, without its traces, with or without `pictures`: of a worker, and of rank 0 with the model
  !> [bytes].
  subroutine SomeMemory(self, scheme, window, pictures, worker, master)
    class(physics_t), intent(in) :: self
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    logical, intent(in) :: pictures
    real(dp), intent(out) :: worker, master
    master = 16*product(real(max(1, [window%nx, window%ny, window%nz]), dp))
    worker = 4*master
  end subroutine SomeMemory

  !> Tells how scheme%ranks ranks share a shot in a window, on GPUs or on cores: in words; that a step is so many times faster than
  !> on one rank, and the part of it for what they give each other, as expected.
  subroutine NotShared(self, scheme, window, gpu, words, gain, exchange)
    class(physics_t), intent(in) :: self
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    logical, intent(in) :: gpu
    character(:), allocatable, intent(out) :: words
    real(dp), intent(out) :: gain, exchange
    words = ''
    gain = 1
    exchange = 0
  end subroutine NotShared

  !> Cells that a receiver of a component reads, and bytes for each of them while they are sorted.
  pure subroutine OneCell(component, scheme, cells, sorting)
    character(*), intent(in) :: component
    class(scheme_t), intent(in) :: scheme
    integer, intent(out) :: cells, sorting
    cells = 1
    sorting = 0
  end subroutine OneCell

  !> True where the largest stable step of a scheme is to be searched for in the whole model, which may take long.
  pure logical function StepKnown(self, job, scheme) result(in_doubt)
    class(physics_t), intent(in) :: self
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    in_doubt = .false.
  end function StepKnown

  !> Searches for it, and lowers the step of the scheme. `shot`: one of its shots, all of which have their windows.
  subroutine NoSearch(self, job, wavelet, shot, scheme, error)
    class(physics_t), intent(in) :: self
    type(job_t), intent(in) :: job
    type(wavelet_t), intent(in) :: wavelet
    type(shot_t), intent(in) :: shot
    class(scheme_t), intent(inout) :: scheme
    type(error_t), allocatable, intent(inout) :: error
  end subroutine NoSearch

  !> Looks at a shot in its window; fails on the first thing that is wrong with it. Is called for every shot, in their order.
  subroutine NoShotRules(self, job, scheme, shot, window, error)
    class(physics_t), intent(inout) :: self
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
  end subroutine NoShotRules

  !> Tells components that are 0 at a place on a free surface: at the top, or anywhere where the physics `finds_surface`.
  subroutine NoneSilent(self, job, window, component, x, zero, error)
    class(physics_t), intent(in) :: self
    type(job_t), intent(in) :: job
    type(window_t), intent(in) :: window
    character(*), intent(in) :: component(:)
    real(dp), intent(in) :: x(3)
    logical, intent(out) :: zero(:)
    type(error_t), allocatable, intent(inout) :: error
    zero = .false.
  end subroutine NoneSilent

  !> After all shots: adds to scheme%warnings what this physics alone can say; fails on what is wrong with all of them.
  subroutine NoWarnings(self, job, scheme, error)
    class(physics_t), intent(in) :: self
    type(job_t), intent(in) :: job
    class(scheme_t), intent(inout) :: scheme
    type(error_t), allocatable, intent(inout) :: error
  end subroutine NoWarnings

  !> Words on all that decides the traces of a survey beside key-map, model and the scheme (fingerprint.f90).
  function NoWords(self, job, scheme) result(words)
    class(physics_t), intent(in) :: self
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    character(:), allocatable :: words
    words = ''
  end function NoWords

  !> The grid of a shot in a window in words, '121 x 81 cells'.
  function WindowWords(self, scheme, window) result(words)
    class(physics_t), intent(in) :: self
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    character(:), allocatable :: words
    words = Str(window%nx)//' x '
    if (window%ny > 0) words = words//Str(window%ny)//' x '
    words = words//Str(window%nz)//' cells and layers'
  end function WindowWords

  !> True of a job that asks for pictures.
  pure logical function WantsSnapshots(job) result(wanted)
    type(job_t), intent(in) :: job
    wanted = job%snapshot > 0
  end function WantsSnapshots

  !> Fails where pictures of a shot in its window cannot be taken.
  subroutine NoPictureRules(self, scheme, shot, window, error)
    class(physics_t), intent(in) :: self
    class(scheme_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
  end subroutine NoPictureRules

  !> Numbers in the pictures of a shot.
  real(dp) function NoPictures(scheme, window) result(numbers)
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    numbers = 0
  end function NoPictures

  !> Adds the attributes of a file that tell what was modelled.
  subroutine DescribeProgram(self, scheme, list)
    class(physics_t), intent(in) :: self
    class(scheme_t), intent(in) :: scheme
    class(attributes_t), intent(inout) :: list
    call list%add('title', 'Shot gathers modelled by '//self%program)
    call list%add('source', self%program//' '//VersionText())
  end subroutine DescribeProgram

  !> Lines on model and source for the log, each after a label of 9 columns.
  function ModelLine(self, scheme) result(lines)
    class(physics_t), intent(in) :: self
    class(scheme_t), intent(in) :: scheme
    character(:), allocatable :: lines
    lines = 'model    '//self%sources
  end function ModelLine

  !> The same for `plan`, after a label of 11 columns.
  function ModelRow(self, scheme) result(lines)
    class(physics_t), intent(in) :: self
    class(scheme_t), intent(in) :: scheme
    character(:), allocatable :: lines
    lines = 'model      '//self%sources
  end function ModelRow

  !> Adds the attributes of a file that tell the grid, the time step and the weights.
  subroutine DescribeGrid(self, job, scheme, list)
    class(physics_t), intent(in) :: self
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    class(attributes_t), intent(inout) :: list
    call list%add('points_per_shortest_wavelength', scheme%ppw)
    call list%add('grid_spacing_m', pack([scheme%dx, scheme%dy, scheme%dz], job%axes))
    call list%add('time_step_s', scheme%dt)
    call list%add('time_step_limit_s', scheme%dt_limit)
    call list%add('time_steps', scheme%nt)
    call list%add('time_of_first_step_s', scheme%t_start)
    call list%add('time_dispersion_removed', Str(scheme%time_correction))
    call list%add('differentiator_weights', scheme%w(:scheme%half_length))
    call list%add('group_velocity_error', scheme%coeffs_error)
    call list%add('positions', job%positions)
    call list%add('regrid', job%regrid)
  end subroutine DescribeGrid

  !> A scheme of its own type, of which nothing is known yet.
  subroutine PlainScheme(self, scheme)
    class(physics_t), intent(in) :: self
    class(scheme_t), allocatable, intent(out) :: scheme
    allocate (scheme)
  end subroutine PlainScheme

end module physics_m
