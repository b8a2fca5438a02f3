!> The 2D acoustic solver: a shot in its window, from geometry to traces.
!>
!>     rho dv/dt = grad σ,   dσ/dt = K div v - K q,   σ = -p,   K = rho vp²,   q(x, t) = Q(t) δ(x - xs) δ(z - zs), Q in m2/s
!>
!> A worker calls setup, then advance until all steps are done, then gather. These, states and checks of the field are those of
!> every time loop (timeloop.f90), which calls the verbs below. This file tells the story; the submodules hold its parts: the medium
!> with its absorbing layers, source and receivers (fd2d_setup.f90), these beside contacts (fd2d_contacts.f90 and
!> fd2d_flat_contact.f90), snapshots (fd2d_snapshots.f90), traces (fd2d_traces.f90), the sentence on a field that blows up
!> (fd2d_blowup.f90).
!>
!> A source spread over cells with weights w gives σ(i,k) the increment -dt K(i,k) w/(dx dz) Q each step: with K of the cell itself
!> source and receiver may change places in any medium and the pressure trace stays the same.
module fd2d_m
  use checksum_c, only: checksum_floats
  use engine_m, only: engine_t
  use error_m, only: error_t, Fail
  use fd2d_engine_m, only: fd2d_engine_t, fd2d_grid_t, field_sigma, field_vx, field_vz
  use fd2d_grid_m, only: Fd2dGrid, Fd2dSameGrid
  use fd2d_trial_m, only: Fd2dTrial
  use fd2d_variants_m, only: Fd2dEngineNew, Fd2dKernels, Fd2dMemory
  use gather_m, only: gather_t
  use hash_m, only: HashAdd
  use host_c, only: host_seconds
  use kinds_m, only: dp, i8, sp
  use off_grid_points_m, only: axis_t, points_t
  use scheme_m, only: scheme_t, SchemePad
  use sinc_m, only: sinc_nodes
  use state_identity_m, only: identity_t
  use text_m, only: Str
  use timeloop_m, only: growth, LoopTraces, timeloop_t
  use window_m, only: window_t, WindowHas, WindowParts
  implicit none
  private
  public :: fd2d_t

  integer, parameter :: check_steps = 100         !< between checks of the field on CPU cores, and of a chunk at most
  real(dp), parameter :: cpu_seconds = 0.1_dp     !< of a chunk there: a shot that another worker has taken is given up so soon
  integer, parameter :: cpu_least = 24            !< steps at least: fewer would cost the `cpu` variant its sweeps of several steps
  integer, parameter :: chunk_least = 20          !< steps of the first; on a GPU at least so many, times a power of two
  real(dp), parameter :: gpu_seconds = 0.03_dp    !< of a chunk on a GPU at most: each shot there is looked after once in this time

  integer, parameter :: contact_slopes = 2        !< half-length of differences beside contacts
  integer, parameter, public :: contact_cells = sinc_nodes*(sinc_nodes + 4*contact_slopes)   !< that a receiver reads there

  !> Weights of the cells around a place in the fields σ, vx, vz, and in the volume injection rate of the source.
  type :: contact_point_t
    integer :: low(2)
    real(dp), allocatable :: w(:, :, :)           !< from cell `low` on
    real(dp) :: q = 0                             !< [m2/s]
    real(dp) :: moved(2) = 0                      !< of pressure: the grid has it so many cells away along x and z
    real(dp) :: bent(2, 0:2) = 0                  !< and adds so much of second differences along them, and of their differences
  end type contact_point_t

  !> Its one film are the snapshots.
  type, extends(timeloop_t) :: fd2d_t
    class(fd2d_engine_t), allocatable :: engine
    type(fd2d_grid_t) :: grid
    type(axis_t) :: ax, az                        !< nodes of the grid, layers included
    real(sp), allocatable :: kappa(:, :), rho(:, :)   !< medium, layers included [Pa, kg/m3]
    real(sp), allocatable :: rho_z(:, :)          !< at the points of vz; rho is then at those of vx, else at those of sigma
    integer, allocatable :: fields(:)             !< of the components asked for
    real(dp), allocatable :: moved(:, :)          !< contact_point_t's, of receivers and, the last, source, (2, nrec+1)
    real(dp), allocatable :: bent(:, :, :, :)     !< the same, of the three fields, (2, 0:2, 0:2, nrec+1)
    real(dp), allocatable :: near(:, :)           !< what the grid lacks at receivers close to the source, (nrec, components)
    integer, allocatable :: whose(:)              !< the trace that each of those beside is a part of, by its number
    integer :: given(0:1) = 0                     !< serial numbers of the filters of traces that the engine has
  contains
    procedure, nopass :: kernels => Fd2dKernels, trial => Fd2dTrial, need
    procedure :: make_grid, make_medium, make_source, make_receivers, make_pictures
    procedure :: free, any_engine, choose_chunk, next_chunk, blow_up, identify, describe, make_traces, add_near
    procedure :: samples => WithBeside
  end type fd2d_t

  interface
    ! --- fd2d_setup.f90

    !> Fails on a window on another grid, positions outside it, a source on the free surface.
    module subroutine CheckWindow(self, window, error)
      class(fd2d_t), intent(in) :: self
      type(window_t), intent(in) :: window
      type(error_t), allocatable, intent(inout) :: error
    end subroutine CheckWindow

    !> The medium on the grid, the window's edge values continued to the outer end of the layers, and the layers.
    module subroutine make_medium(self, window, error)
      class(fd2d_t), intent(inout), target :: self
      type(window_t), intent(in) :: window
      type(error_t), allocatable, intent(inout) :: error
    end subroutine make_medium

    !> Source cells, and the power of two that keeps single precision fields near 1 whatever the amplitude asked for.
    module subroutine make_source(self, window, error)
      class(fd2d_t), intent(inout), target :: self
      type(window_t), intent(in) :: window
      type(error_t), allocatable, intent(inout) :: error
    end subroutine make_source

    !> Receiver cells: all receivers of the first component, then of the next; what the grid lacks close to the source.
    module subroutine make_receivers(self, window, error)
      class(fd2d_t), intent(inout), target :: self
      type(window_t), intent(in) :: window
      type(error_t), allocatable, intent(inout) :: error
    end subroutine make_receivers

    ! --- fd2d_contacts.f90

    !> The sum that `field` is at (x, z) [m]. `beside` is false where no contact is near that matters: then it is what the weights
    !> of OffGridAdd make of the field.
    module subroutine ContactPoint(self, field, x, z, lacks, source, point, beside)
      class(fd2d_t), intent(in) :: self
      integer, intent(in) :: field
      real(dp), intent(in) :: x, z, lacks(:)      !< lacks: of receiver_earth.f90
      type(points_t), intent(in) :: source        !< its cells
      type(contact_point_t), intent(out) :: point
      logical, intent(out) :: beside
    end subroutine ContactPoint

    !> Density of the velocity along an axis of a cell.
    pure module real(dp) function Density(self, axis, i, k)
      class(fd2d_t), intent(in) :: self
      integer, intent(in) :: axis, i, k
    end function Density

    ! --- fd2d_flat_contact.f90

    !> `near` of receivers close to the source where both are beside one flat contact of densities; of which receivers, `done` says.
    !> source: its cells; points: the receivers, those beside last; field: of each.
    module subroutine FlatNear(self, source, points, field, done)
      class(fd2d_t), intent(inout) :: self
      type(points_t), intent(in) :: source, points
      integer, intent(in) :: field(:)
      logical, allocatable, intent(out) :: done(:)
    end subroutine FlatNear

    ! --- fd2d_snapshots.f90

    !> Room for the snapshots of the shot.
    module subroutine make_pictures(self, window, error)
      class(fd2d_t), intent(inout), target :: self
      type(window_t), intent(in) :: window
      type(error_t), allocatable, intent(inout) :: error
    end subroutine make_pictures

    !> Steps until the next snapshot is due, 0 if it is now; huge if there is none.
    pure module integer function StepsToSnapshot(self) result(n)
      class(fd2d_t), intent(in) :: self
    end function StepsToSnapshot

    !> Takes the snapshots that are due between the step just done and the next, and does that step.
    module subroutine TakeSnapshots(self, error)
      class(fd2d_t), intent(inout) :: self
      type(error_t), allocatable, intent(inout) :: error
    end subroutine TakeSnapshots

    ! --- fd2d_traces.f90

    module subroutine make_traces(self, traces, error)
      class(fd2d_t), intent(inout), target :: self
      real(sp), contiguous, intent(out) :: traces(:, :, :)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine make_traces

    module subroutine WithBeside(self, raw, error)
      class(fd2d_t), intent(inout), target :: self
      real(sp), contiguous, intent(out) :: raw(:, :)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine WithBeside

    module subroutine add_near(self, c, samples)
      class(fd2d_t), intent(in) :: self
      integer, intent(in) :: c
      real(sp), intent(inout) :: samples(:, :)
    end subroutine add_near

    ! --- fd2d_blowup.f90

    module subroutine blow_up(self, value, place, error)
      class(fd2d_t), intent(inout) :: self
      real(sp), intent(in) :: value
      integer, intent(in) :: place(3)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine blow_up
  end interface

contains

  ! --- before the first step -----------------------------------------------------------------------------------------------

  !> The grid around the window, and an engine for it: the one at hand if it fits.
  subroutine make_grid(self, window, error)
    class(fd2d_t), intent(inout), target :: self
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    type(fd2d_grid_t) :: grid
    integer :: pad(2)
    logical :: keeps
    call CheckWindow(self, window, error)
    if (allocated(error)) return
    grid = Fd2dGrid(self%scheme, window%nx, window%nz)
    grid%apart = WindowHas(window, 3)
    pad = SchemePad(self%scheme)
    self%ax = axis_t(grid%nx, window%x0 - pad(1)*grid%dx, grid%dx, .false.)
    self%az = axis_t(grid%nz, window%z0 - pad(2)*grid%dz, grid%dz, grid%free_top)
    call self%choose_engine(real(grid%nx, dp)*grid%nz, Fd2dSameGrid(grid, self%grid), keeps, error)
    grid%threads = self%team%threads
    if (.not. keeps) call Fd2dEngineNew(self%variant, self%engine, error)
    if (.not. (keeps .or. allocated(error))) call self%engine%new(grid, error)
    if (.not. allocated(error)) self%grid = grid
  end subroutine make_grid

  ! --- the steps -----------------------------------------------------------------------------------------------------------

  function any_engine(self) result(engine)
    class(fd2d_t), intent(in), target :: self
    class(engine_t), pointer :: engine
    engine => null()
    if (allocated(self%engine)) engine => self%engine
  end function any_engine

  !> By the pace of the steps before.
  subroutine choose_chunk(self, waited)
    class(fd2d_t), intent(inout) :: self
    logical, intent(in) :: waited
    if (self%chunk == 0) then
      self%chunk = chunk_least
    else if (.not. self%queues) then
      self%chunk = max(cpu_least, min(check_steps, int(cpu_seconds/max(self%pace, 1.0e-9_dp))))
    end if
    if (waited) call ChooseQueued(self)
  end subroutine choose_chunk

  !> The next chunk on a GPU: as many steps as take `gpu_seconds` at the pace measured, at most a quarter of the shot. A pace that
  !> drops at once is the host's, which was late.
  subroutine ChooseQueued(self)
    class(fd2d_t), intent(inout) :: self
    real(dp) :: now, seen
    integer :: most
    now = host_seconds()
    seen = (now - max(self%mark, self%began))/self%queued(1)
    if (self%pace > 0) seen = min(seen, 1.25_dp*self%pace)
    self%pace = seen
    self%mark = now
    most = min(2*self%chunk, self%scheme%nt/4)
    if (seen*most > gpu_seconds) most = int(gpu_seconds/seen)
    self%chunk = chunk_least
    do while (2*self%chunk <= most)
      self%chunk = 2*self%chunk
    end do
  end subroutine ChooseQueued

  !> Up to the next snapshot. On CPU cores the field is checked when a hundred steps are done since the last check.
  subroutine next_chunk(self, error)
    class(fd2d_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    integer :: n
    n = min(self%chunk, self%scheme%nt - self%steps, StepsToSnapshot(self))
    if (n > 0) call self%timestep(n, error, check=self%unchecked + n >= check_steps .or. self%steps + n == self%scheme%nt)
    if (.not. allocated(error)) call TakeSnapshots(self, error)
  end subroutine next_chunk

  ! --- what comes home -----------------------------------------------------------------------------------------------------

  subroutine describe(self, gather)
    class(fd2d_t), intent(in) :: self
    type(gather_t), intent(inout) :: gather
    integer :: pad(2)
    pad = SchemePad(self%scheme)
    gather%cells = real(self%grid%nx, dp)*self%grid%nz
    gather%nxs = self%film(1)%n(1)
    gather%nzs = self%film(1)%n(2)
    gather%nsnap = self%pictures
    gather%xs0 = self%ax%x0 + pad(1)*self%ax%h
    gather%zs0 = self%az%x0 + pad(2)*self%az%h
    gather%dxs = self%ax%h*self%scheme%snapshot_step
    gather%dzs = self%az%h*self%scheme%snapshot_step
    gather%dts = self%scheme%snapshot
    gather%snapshots = self%film(1)%a
  end subroutine describe

  subroutine identify(self, identity)
    class(fd2d_t), intent(in) :: self
    type(identity_t), intent(inout) :: identity
    associate (g => self%grid, id => identity)
      id%shape = Str(g%nx)//' x '//Str(g%nz)
      call HashAdd(id%grid, [g%nleft, g%nright, g%ntop, g%nbottom, merge(1, 0, g%free_top), g%half_length])
      call HashAdd(id%grid, [g%w, g%dx, g%dz, g%dt])
      call HashAdd(id%medium, checksum_floats(0_i8, size(self%kappa, kind=i8), self%kappa))
      call HashAdd(id%medium, checksum_floats(0_i8, size(self%rho, kind=i8), self%rho))
      if (g%apart) call HashAdd(id%medium, checksum_floats(0_i8, size(self%rho_z, kind=i8), self%rho_z))
      call HashAdd(id%medium, self%scheme%fpeak)                  ! of the layers
      call HashAdd(id%positions, [self%ax%x0, self%az%x0])
      if (allocated(self%shot%at_places)) call HashAdd(id%positions, reshape(self%shot%at_places, [size(self%shot%at_places)]))
      call HashAdd(id%positions, merge(1, 0, self%scheme%exact_positions))
      call HashAdd(id%times, self%scheme%snapshot)
      call HashAdd(id%times, [self%scheme%snapshot_step, self%pictures])
    end associate
  end subroutine identify

  ! --- memory --------------------------------------------------------------------------------------------------------------

  !> Memory of its GPU that a shot in a window takes [bytes], with `traces` traces and, of velocities, one beside each; 0 on CPU
  !> cores, huge() where no GPU takes it.
  real(dp) function need(scheme, window, traces) result(bytes)
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    integer, intent(in) :: traces
    type(fd2d_grid_t) :: grid
    grid = Fd2dGrid(scheme, window%nx, window%nz)
    grid%apart = WindowParts(window) == 3
    bytes = Fd2dMemory(scheme%variant, grid, merge(2*traces, traces, grid%velocities), scheme%nt)
  end function need

  !> Gives back all memory; twice is harmless.
  subroutine free(self)
    class(fd2d_t), intent(inout) :: self
    call self%forget()
    if (allocated(self%engine)) deallocate (self%engine)
    if (allocated(self%kappa)) deallocate (self%kappa, self%rho)
    if (allocated(self%rho_z)) deallocate (self%rho_z)
    self%grid = fd2d_grid_t()
    self%given = 0
  end subroutine free

end module fd2d_m
