!> The smallest physics, an example of how one is added: sound in a tube, in one dimension.
!>
!>     dp/dt = -rho c**2 (dv/dx - Q(t) delta(x-xs)),   rho dv/dt = -dp/dx
!>
!> 1. A solver extends solver_t (timeloop/solver.f90): one shot in its window, step by step. One that has kernels in C and on GPUs
!>    extends timeloop_t instead, which has chunks, checks, traces and pictures already.
!> 2. A physics extends physics_t (physics/physics.f90) by its parameters, model, scheme, windows, and a way to try it; what it
!>    does not tell has a plain answer there.
!> 3. A program hands it to SplMain (t480_third_physics.f90). Dealing, workers, restarts, files, plan and verify need no line more.
module tube_m
  use error_m, only: error_t
  use gather_m, only: gather_t
  use host_c, only: host_seconds
  use kinds_m, only: dp, i8, sp
  use parameter_table_m, only: table_t
  use parameters_m, only: ClusterTable, FilesTable, job_t, VariantTable, WaveletTable
  use physics_m, only: physics_t
  use scheme_m, only: scheme_t, SchemeNew, SchemeTimes
  use shot_m, only: shot_t
  use solver_m, only: solver_t, time_position_t
  use text_m, only: Str
  use time_dispersion_m, only: TraceFilterApply, tracefilter_t, TraceFilterNew
  use version_m, only: VersionText
  use wavelet_m, only: wavelet_t, WaveletValue
  use window_m, only: box_t, window_t
  implicit none
  private
  public :: tube_t, tube_solver_t

  !> Pressure at nodes, velocity half a cell to the right; with dt = dx/c the steps are exact.
  type, extends(solver_t) :: tube_solver_t
    type(scheme_t) :: scheme
    real(dp) :: x0 = 0, seconds = 0
    real(sp) :: modulus = 0                           !< rho c: so many times the slope of v changes p in a step
    real(sp), allocatable :: p(:), v(:), record(:, :)  !< (nodes), (nodes), (receivers, steps)
    integer, allocatable :: at(:)                     !< nodes of the source, then of the receivers
    integer :: steps = 0
  contains
    procedure :: setup, advance, fraction => Part, gather => MakeGather
    procedure :: state_identity, time_position, state_size, save, load
  end type tube_solver_t

  type, extends(physics_t) :: tube_t                  !< its density is 1000 kg/m3
  contains
    procedure :: introduce, parameters, read, derive, window => WindowOf
    procedure, nopass :: solver => NewSolver, trial_files, trial_job, trial_wave
  end type tube_t

contains

  subroutine setup(self, scheme, window, shot, error)
    class(tube_solver_t), intent(inout) :: self
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    type(shot_t), intent(in) :: shot
    type(error_t), allocatable, intent(inout) :: error
    self%scheme = scheme
    self%x0 = window%x0
    self%steps = 0
    self%seconds = 0
    self%modulus = real(window%medium(1, 1, 1, 1)*scheme%vmax, sp)
    self%at = nint(([shot%sx, shot%rx] - self%x0)/scheme%dx) + 1
    self%p = 0*window%medium(:, 1, 1, 1)
    self%v = self%p
    self%record = reshape([0.0_sp], [size(shot%rx), scheme%nt], [0.0_sp])
  end subroutine setup

  subroutine advance(self, done, error)
    class(tube_solver_t), intent(inout) :: self
    logical, intent(out) :: done
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: start
    integer :: k
    start = host_seconds()
    do k = self%steps + 1, min(self%steps + 100, self%scheme%nt)
      self%v = self%v - (eoshift(self%p, 1) - self%p)/self%modulus
      self%p = self%p - self%modulus*(self%v - eoshift(self%v, -1))
      self%p(self%at(1)) = self%p(self%at(1)) + self%modulus*self%scheme%q(k)
      self%record(:, k) = self%p(self%at(2:))
    end do
    self%steps = k - 1
    done = self%steps == self%scheme%nt
    self%seconds = self%seconds + host_seconds() - start
  end subroutine advance

  pure real(dp) function Part(self)
    class(tube_solver_t), intent(in) :: self
    Part = real(self%steps, dp)/self%scheme%nt
  end function Part

  subroutine MakeGather(self, gather, error)
    class(tube_solver_t), intent(inout), target :: self
    type(gather_t), intent(inout) :: gather
    type(error_t), allocatable, intent(inout) :: error
    type(tracefilter_t) :: filter
    associate (s => self%scheme, x => self%x0 + (self%at - 1)*self%scheme%dx)
      gather = gather_t(nt=s%nt_out, nrec=size(x) - 1, ncomp=1, seconds=self%seconds, steps=self%steps, &
                        cells=real(size(self%p), dp), variant='fortran', sx=x(1), rx=x(2:), rz=0*x(2:))
      allocate (gather%traces(s%nt_out, size(x) - 1, 1))
      call TraceFilterNew(filter, s%nt, s%dt, s%t_start, 0.0_dp, s%nt_out, s%dt_out, s%fband, .false., error)
    end associate
    if (.not. allocated(error)) call TraceFilterApply(filter, transpose(self%record), gather%traces(:, :, 1))
  end subroutine MakeGather

  !> A state is the fields and what was recorded so far.
  function state_identity(self) result(text)
    class(tube_solver_t), intent(in) :: self
    character(:), allocatable :: text
    text = 'code '//VersionText()//new_line('a')//'tube '//Str(size(self%p))//' '//Str(self%scheme%dt, 17)//' '// &
           Str(self%modulus)//' '//Str(self%scheme%nt)//' '//Str(size(self%at))//' '//Str(dot_product(self%at, self%at))
  end function state_identity

  type(time_position_t) function time_position(self) result(position)
    class(tube_solver_t), intent(in) :: self
    position = time_position_t(step=self%steps, seconds=self%seconds)
  end function time_position

  integer(i8) function state_size(self, position) result(n)
    class(tube_solver_t), intent(in), target :: self
    type(time_position_t), intent(in) :: position
    n = 2*size(self%p, kind=i8) + size(self%record, 1, i8)*position%step
  end function state_size

  subroutine save(self, state, error)
    class(tube_solver_t), intent(inout), target :: self
    real(sp), contiguous, intent(out) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    state = [self%p, self%v, self%record(:, :self%steps)]
  end subroutine save

  subroutine load(self, position, state, error)
    class(tube_solver_t), intent(inout), target :: self
    type(time_position_t), intent(in) :: position
    real(sp), contiguous, intent(in) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    associate (n => size(self%p))
      self%p = state(:n)
      self%v = state(n + 1:2*n)
      self%record(:, :position%step) = reshape(state(2*n + 1:), [size(self%record, 1), position%step])
    end associate
    self%steps = position%step
    self%seconds = position%seconds
  end subroutine load

  ! --- the physics --------------------------------------------------------------------------------------------------

  subroutine introduce(self)
    class(tube_t), intent(inout) :: self
    self%program = 'SplTube'
    self%components = 'p'
  end subroutine introduce

  subroutine parameters(self, t, job)
    class(tube_t), intent(inout) :: self
    type(table_t), intent(inout) :: t
    type(job_t), intent(inout) :: job
    job%axes = [.true., .false., .false.]
    job%time_correction = .false.                     ! there is nothing to correct
    job%components = 'p'
    job%dt_out = 0.002_dp
    call FilesTable(t, job)
    call t%real('speed', self%vmin, 1500.0_dp, 1.0_dp, 1.0e5_dp, 'm/s', 'of sound')
    call t%real('dx', job%dx, 5.0_dp, 1.0e-3_dp, 1.0e3_dp, 'm', 'spacing')
    call t%real('tmax', job%tmax, 1.0_dp, 1.0e-3_dp, 1.0e3_dp, 's', 'record length')
    call WaveletTable(t, job, 'ricker', 'volume injection rate Q(t)', 'm/s', 'the wavelet is multiplied by this')
    call VariantTable(t, job)
    call ClusterTable(t, job, 'ranks that share one shot')
  end subroutine parameters

  subroutine read(self, job, error)
    class(tube_t), intent(inout) :: self
    type(job_t), intent(in) :: job
    type(error_t), allocatable, intent(inout) :: error
    self%vmax = self%vmin
    self%sources = 'a tube'
    self%endless = .true.
    write (self%hash, '(z16.16)') transfer(self%vmin, 1_i8)
  end subroutine read

  subroutine derive(self, job, wavelet, shot, scheme, error)
    class(tube_t), intent(inout) :: self
    type(job_t), intent(in) :: job
    type(wavelet_t), intent(in) :: wavelet
    type(shot_t), intent(in) :: shot
    class(scheme_t), intent(inout) :: scheme
    type(error_t), allocatable, intent(inout) :: error
    call SchemeNew(scheme, job, wavelet)
    scheme%dx = job%dx
    scheme%dz = job%dx
    scheme%vmin = self%vmin
    scheme%vmax = self%vmax
    scheme%dt = job%dx/self%vmin
    scheme%dt_limit = scheme%dt
    scheme%ppw = self%vmin/(scheme%fmax*job%dx)
    scheme%half_length = 1
    scheme%w(1) = 1
    call SchemeTimes(scheme, job, wavelet, error)
  end subroutine derive

  !> So much of the tube that no wave comes back from its ends.
  subroutine WindowOf(self, job, scheme, shot, filled, window, error, box)
    class(tube_t), intent(in) :: self
    type(job_t), intent(in) :: job
    class(scheme_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    logical, intent(in) :: filled
    type(window_t), intent(out) :: window
    type(error_t), allocatable, intent(inout) :: error
    type(box_t), intent(in), optional :: box
    integer :: ends(2)
    ends = nint([min(shot%sx, minval(shot%rx)), max(shot%sx, maxval(shot%rx))]/scheme%dx) + (scheme%nt/2 + 2)*[-1, 1]
    window%x0 = ends(1)*scheme%dx
    window%nx = ends(2) - ends(1) + 1
    window%nz = 1
    if (filled) allocate (window%medium(window%nx, 1, 1, 1), source=1000.0_sp)
  end subroutine WindowOf

  subroutine NewSolver(solver)
    class(solver_t), allocatable, intent(out) :: solver
    allocate (tube_solver_t :: solver)
  end subroutine NewSolver

  subroutine trial_files(folder, shots)
    character(*), intent(in) :: folder
    integer, intent(out) :: shots
    integer :: unit
    shots = 3
    open (newunit=unit, file=folder//'/line.keymap', action='write')
    write (unit, '(a)') 'spread line fixed x0=-203.4 interval=53.7 channels=12 depth=0', &
      'shots first_record=1 n=3 x0=13.3 dx=71.1 z=0 spread=line'
    close (unit)
  end subroutine trial_files

  function trial_job(folder, model) result(settings)
    character(*), intent(in) :: folder, model
    character(:), allocatable :: settings
    settings = 'dx = 2'//new_line('a')//'tmax = 0.6'
  end function trial_job

  !> p = rho c/2 Q(t - r/c)
  function trial_wave(wavelet, r, t) result(wave)
    type(wavelet_t), intent(in) :: wavelet
    real(dp), intent(in) :: r, t(:)
    real(dp) :: wave(size(t))
    wave = 0.5_dp*1000*1500*WaveletValue(wavelet, t - r/1500)
  end function trial_wave

end module tube_m
