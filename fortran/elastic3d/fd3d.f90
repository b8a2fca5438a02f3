!> The 3D elastic and viscoelastic solver: a shot in its window, from geometry to traces, on one rank or on several, each with a
!> piece of the grid.
!>
!>     rho dv/dt = div s + f,   ds/dt = lambda div v + mu (grad v + (grad v)') - what relaxes - moment rate
!>
!> The engine, its grid and where each field stands are described in interfaces/fd3d_c.f90. A worker calls setup, then advance until
!> all steps are done, then gather. These, states and checks of the field are those of every time loop (timeloop.f90), which calls
!> the verbs below. This file tells the story; the submodules hold its parts: the medium with its absorbing layers, sources and
!> receivers (fd3d_setup.f90), what the grid lacks close to the source (fd3d_nearfield.f90, fd3d_flat_near.f90,
!> fd3d_floor_near.f90), pictures (fd3d_films.f90, fd3d_films_take.f90), the ways between pieces of a shot (fd3d_ways.f90), what
!> travels there (fd3d_swaps.f90), and memory of a GPU (fd3d_gpu_memory.f90).
module fd3d_m
  use anelastic_m, only: memory_coarse2001
  use checksum_c, only: checksum_floats
  use engine_m, only: engine_t
  use error_m, only: error_t, Fail
  use fault_histories_m, only: fault_histories_t
  use finite_fault_m, only: finite_fault_t
  use fd3d_engine_m, only: fd3d_engine_t, fd3d_grid_t, fd3d_map_t, side_free
  use fd3d_grid_m, only: Fd3dGrid, Fd3dSameGrid
  use fd3d_manner_m, only: manner_t
  use fd3d_moduli_m, only: fd3d_moduli_t
  use fd3d_point_lists_m, only: fd3d_list_t
  use fd3d_pieces_m, only: Fd3dAround, Fd3dCuts, Fd3dMayWiden, Fd3dPiece, Fd3dWiden
  use fd3d_trial_m, only: Fd3dTrial
  use fd3d_variants_m, only: fd3d_variants, Fd3dEngineNew, Fd3dKernels
  use gather_m, only: film_t, gather_t
  use hash_m, only: hash_t, HashAdd
  use kinds_m, only: dp, i8, sp
  use near_losses_m, only: near_losses_t
  use parameter_table_m, only: SplitList
  use gpu_ways_m, only: GpuWaysClose
  use partners_m, only: halo_host, halo_ipc, halo_mpi
  use scheme3d_m, only: elastic_t, scheme3d_t, wide_auto, wide_yes
  use scheme_m, only: scheme_t
  use shot_m, only: shot_t
  use solver_m, only: time_position_t
  use source3d_m, only: SourceNumbers
  use state_identity_m, only: identity_t
  use subdomain_m, only: cuts_t, CutsWords
  use text_m, only: Str
  use timeloop_m, only: growth, LoopLoad, LoopSetup, timeloop_t
  use window_m, only: box_t, window_t, WindowBox, WindowHas
  implicit none
  private
  public :: fd3d_t

  integer, parameter :: chunk_least = 20, chunk_most = 500   !< steps of a chunk on a GPU
  real(dp), parameter :: chunk_gpu = 5.0e8_dp       !< cell updates of a chunk there: some hundredths of a second
  real(dp), parameter :: chunk_updates = 2.0e7_dp   !< cell updates of a chunk on CPU cores: some tenths of a second

  integer, parameter :: pressure = -1               !< as the field of a film, beside those of fd3d_engine.f90
  integer, parameter :: maps = 3                    !< of ground velocity: horizontal, vertical, vector

  !> The plane of a film: a field across an axis at a cell, or on the top.
  type :: frame_t
    integer :: field = 0, axis = 3, index = 1
    logical :: top = .false.
    logical, allocatable :: even(:, :)            !< points whose pressure is that of all mechanisms; unallocated: none
  end type frame_t

  type, extends(timeloop_t) :: fd3d_t
    class(fd3d_engine_t), allocatable :: engine
    type(fd3d_grid_t) :: piece                    !< this rank's
    type(fd3d_grid_t) :: grid                     !< the same with the margins of wide halos, which the engine computes
    type(fd3d_grid_t) :: whole                    !< of the shot
    type(fd3d_grid_t) :: around                   !< the box around the piece whose medium is known here
    type(cuts_t) :: cuts
    logical :: may_widen = .false.                !< halos are wide, or may become so
    character(:), allocatable :: why_wide         !< the reason that they are, for the log
    type(manner_t) :: manner                      !< of its steps
    type(fd3d_list_t) :: acts                     !< the source, in the box around the piece, until receivers are made
    type(fd3d_list_t) :: records                  !< receivers that touch the piece, in the box around it, while they are made
    integer :: receivers = 0                      !< of the shot, before those that are points of the map
    integer, allocatable :: heard(:), part(:)     !< of the piece's receivers: which of these, and what part of its sum
    type(elastic_t) :: own                        !< what the scheme has of elastic modelling
    integer :: width(6) = 0                       !< of the absorbing layers, PML or sponge
    integer :: pad(3) = 0                         !< cells of the grid before the window
    real(dp) :: corner(3) = 0                     !< where the whole grid begins [m]
    type(fd3d_moduli_t) :: moduli                 !< how the medium around is made from the window's
    logical :: air = .false., contacts = .false.  !< there is some around; rock, fluid and air meet there
    real(sp) :: lightest = 0                      !< density of what is not air
    !> The medium around, with a ring of one cell, (0:n+1): there where they meet, while the shot is set up.
    real(sp), allocatable :: rho(:, :, :), mu(:, :, :)
    type(hash_t) :: medium_hash                   !< of all that the medium and its layers are made of
    real(dp), allocatable :: near(:, :, :, :)     !< what the grid lacks close to the source, (terms, receivers, components), and
                                                  !< its slopes by the logarithms of lambda + 2 mu and mu where these relax
    type(near_losses_t) :: near_losses            !< as they do at the source
    real(dp), allocatable :: near_floor(:, :, :)  !< the same beside a sea floor, (terms, receivers, components),
    real(dp), allocatable :: floor_poles(:)       !< slow motion of the grid there, and the unit of frequency [1/s]
    real(dp) :: floor_unit = 0
    integer :: sources = 0                        !< histories
    type(fault_histories_t) :: histories          !< of points of a fault that act here, if time dispersion is to be removed,
    type(finite_fault_t) :: fault                 !< else these points
    integer(i8) :: rates = 0                      !< checksum of the histories of all points
    integer :: known = 0                          !< last step whose histories the engine has
    type(frame_t), allocatable :: frame(:)        !< of the films
    integer :: nf(3) = 0                          !< their shape
    integer, allocatable :: ground(:, :)          !< uppermost row without air of each column, where there is air
    type(fd3d_map_t) :: top                       !< points of the films of the top that touch the piece, in the box around it
    integer, allocatable :: top_number(:)         !< which they are of all
    integer, allocatable :: map_number(:)         !< which of all points of the map the engine keeps,
    integer, allocatable :: map_shared(:)         !< and those with cells in several pieces: three receivers each, the last ones
  contains
    procedure, nopass :: kernels => Fd3dKernels, trial => Fd3dTrial, need
    procedure :: box => box_needed, setup, make_grid, make_medium, make_source, make_receivers, make_pictures, medium_needs
    procedure :: free, any_engine, choose_chunk, next_chunk, load, blow_up, identify, describe, add_near, take_maps
    procedure :: do_steps, await_steps, samples, swap_once
    procedure :: shared_out, ways_found, exchanged
  end type fd3d_t

  interface
    ! --- fd3d_setup.f90

    !> The medium on the grid and a ring of one cell around, the window's edge values continued outwards, and the absorbing layers.
    module subroutine make_medium(self, window, error)
      class(fd3d_t), intent(inout), target :: self
      type(window_t), intent(in) :: window
      type(error_t), allocatable, intent(inout) :: error
    end subroutine make_medium

    !> Source cells, and the power of two that keeps single precision fields near 1 whatever the strength asked for. Fails on a
    !> source in the air or outside the window.
    module subroutine make_source(self, window, error)
      class(fd3d_t), intent(inout), target :: self
      type(window_t), intent(in) :: window
      type(error_t), allocatable, intent(inout) :: error
    end subroutine make_source

    !> Receiver cells: all receivers of the first component, then of the next.
    module subroutine make_receivers(self, window, error)
      class(fd3d_t), intent(inout), target :: self
      type(window_t), intent(in) :: window
      type(error_t), allocatable, intent(inout) :: error
    end subroutine make_receivers

    !> Gives the engine the receivers with cells in this rank's piece. One that has cells elsewhere too gives the parts of its sum,
    !> a trace each.
    module subroutine GiveReceivers(self, error)
      class(fd3d_t), intent(inout) :: self
      type(error_t), allocatable, intent(inout) :: error
    end subroutine GiveReceivers

    !> Gives the engine the histories of the steps to come, in blocks, so that their memory is bounded. On return those of step
    !> self%steps + 1 up to self%known are there.
    module subroutine GiveHistories(self, error)
      class(fd3d_t), intent(inout) :: self
      type(error_t), allocatable, intent(inout) :: error
    end subroutine GiveHistories

    ! --- fd3d_nearfield.f90

    !> Finds what the grid lacks in each component of each receiver; `window` with its media.
    module subroutine MakeNearfield(self, window, error)
      class(fd3d_t), intent(inout) :: self
      type(window_t), intent(in) :: window
      type(error_t), allocatable, intent(inout) :: error
    end subroutine MakeNearfield

    !> Adds it to the samples (nt, receivers) of component c.
    module subroutine add_near(self, c, samples)
      class(fd3d_t), intent(in) :: self
      integer, intent(in) :: c
      real(sp), intent(inout) :: samples(:, :)
    end subroutine add_near

    ! --- fd3d_flat_near.f90

    !> The same beside a flat contact or a free surface of rock: terms (0:, receivers, components, slopes) of receivers that are
    !> done(:, 1), of strain and rotation done(:, 2), as self%near has them; `quality`: 1/Q of P and S waves at the source. The
    !> lists of receivers and source are at hand.
    module subroutine FlatNear(self, window, terms, done, quality, error)
      class(fd3d_t), intent(inout) :: self
      type(window_t), intent(in) :: window
      real(dp), allocatable, intent(out) :: terms(:, :, :, :)
      logical, allocatable, intent(out) :: done(:, :)
      real(dp), intent(out) :: quality(2)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine FlatNear

    ! --- fd3d_films.f90

    !> Plans the pictures of the shot and makes room for them.
    module subroutine make_pictures(self, window, error)
      class(fd3d_t), intent(inout), target :: self
      type(window_t), intent(in) :: window
      type(error_t), allocatable, intent(inout) :: error
    end subroutine make_pictures

    ! --- fd3d_films_take.f90

    !> Takes the picture that is due.
    module subroutine FilmsTake(self, error)
      class(fd3d_t), intent(inout) :: self
      type(error_t), allocatable, intent(inout) :: error
    end subroutine FilmsTake

    module subroutine take_maps(self, error)
      class(fd3d_t), intent(inout) :: self
      type(error_t), allocatable, intent(inout) :: error
    end subroutine take_maps

    ! --- fd3d_ways.f90

    !> Opens the ways of hosts to the pieces around, and decides whether halos are wide: all partners alike.
    module subroutine MeetPartners(self, wide, error)
      class(fd3d_t), intent(inout) :: self
      logical, intent(out) :: wide
      type(error_t), allocatable, intent(inout) :: error
    end subroutine MeetPartners

    !> Opens the ways by kernels where that can be. Sets `linked`.
    module subroutine OpenWays(self, error)
      class(fd3d_t), intent(inout) :: self
      type(error_t), allocatable, intent(inout) :: error
    end subroutine OpenWays

    module subroutine swap_once(self, n, error)
      class(fd3d_t), intent(inout) :: self
      integer, intent(out) :: n
      type(error_t), allocatable, intent(inout) :: error
    end subroutine swap_once

    module subroutine ways_found(self, words, error)
      class(fd3d_t), intent(inout) :: self
      character(:), allocatable, intent(out) :: words
      type(error_t), allocatable, intent(inout) :: error
    end subroutine ways_found

    module subroutine exchanged(self, words, error)
      class(fd3d_t), intent(inout) :: self
      character(:), allocatable, intent(out) :: words
      type(error_t), allocatable, intent(inout) :: error
    end subroutine exchanged

    ! --- fd3d_swaps.f90

    !> Gives the partners at sides first .. last what they need of the velocities (what = 0) or stresses (1), as numbers of a kind,
    !> 1 or 2, that is not the one before: the partner may not have read those yet.
    module subroutine GiveRims(self, what, kind, first, last, error)
      class(fd3d_t), intent(inout) :: self
      integer, intent(in) :: what, kind, first, last
      type(error_t), allocatable, intent(inout) :: error
    end subroutine GiveRims

    !> Waits for what they give, and puts it into the halo.
    module subroutine TakeHalos(self, what, kind, first, last, error)
      class(fd3d_t), intent(inout) :: self
      integer, intent(in) :: what, kind, first, last
      type(error_t), allocatable, intent(inout) :: error
    end subroutine TakeHalos

    !> The engine does the next n steps; pieces swap what their neighbours need between half steps.
    module subroutine do_steps(self, n, error)
      class(fd3d_t), intent(inout), target :: self
      integer, intent(in) :: n
      type(error_t), allocatable, intent(inout) :: error
    end subroutine do_steps

    !> While GPUs wait for each other, the host looks after the partners' processes.
    module subroutine await_steps(self, most, error)
      class(fd3d_t), intent(inout), target :: self
      integer, intent(in) :: most
      type(error_t), allocatable, intent(inout) :: error
    end subroutine await_steps

    !> Samples of all pieces' receivers.
    module subroutine samples(self, raw, error)
      class(fd3d_t), intent(inout), target :: self
      real(sp), contiguous, intent(out) :: raw(:, :)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine samples

    !> A plane of a field across an axis of the whole grid; only the rank that gathers gets it.
    module subroutine Slice(self, field, axis, index, plane, error)
      class(fd3d_t), intent(inout) :: self
      integer, intent(in) :: field, axis, index
      real(sp), intent(inout) :: plane(:, :)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine Slice

    !> Sums that several pieces have parts of (receiver_sum.f90), to the rank that gathers: mine(parts, samples, sums) of the sums
    !> `number`; each is of part(:) of them, 0: it is whole here. all(sums, samples), untouched where no piece has a part.
    module subroutine Gathered(self, number, part, mine, all, error)
      class(fd3d_t), intent(inout) :: self
      integer, intent(in) :: number(:), part(:)
      real(sp), contiguous, intent(in) :: mine(:, :)
      real(sp), intent(inout) :: all(:, :)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine Gathered

    !> Makes x the total, or the largest, of all pieces; a shot on one rank has it already.
    module subroutine OverAll(self, how, x, error)
      class(fd3d_t), intent(inout) :: self
      character(*), intent(in) :: how
      real(dp), contiguous, intent(inout) :: x(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine OverAll

    ! --- fd3d_gpu_memory.f90

    !> Memory of its GPU that a shot in a window takes [bytes], with `traces` traces, on each of scheme%ranks ranks at most; 0 on
    !> CPU cores, huge() where the grid cannot be cut into so many pieces.
    module real(dp) function need(scheme, window, traces) result(bytes)
      class(scheme_t), intent(in) :: scheme
      type(window_t), intent(in) :: window
      integer, intent(in) :: traces
    end function need
  end interface

contains

  ! --- before the first step -----------------------------------------------------------------------------------------------

  !> As LoopSetup; fails on a scheme of another physics.
  subroutine setup(self, scheme, window, shot, error)
    class(fd3d_t), intent(inout) :: self
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    type(shot_t), intent(in) :: shot
    type(error_t), allocatable, intent(inout) :: error
    select type (scheme)
    type is (scheme3d_t)
      self%own = scheme%own
      call LoopSetup(self, scheme, window, shot, error)
      if (allocated(self%rho)) deallocate (self%rho, self%mu)
    class default
      call Fail(error, 'the scheme is none of 3D elastic modelling')
    end select
  end subroutine setup

  !> The window's cells around this rank's piece.
  subroutine box_needed(self, scheme, window, box, error)
    class(fd3d_t), intent(inout) :: self
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    type(box_t), intent(out) :: box
    type(error_t), allocatable, intent(inout) :: error
    select type (scheme)
    type is (scheme3d_t)
      call PlanGrid(self, scheme, scheme%own, window, error)
      if (.not. allocated(error)) box = BoxAround(self, window)
    class default
      call Fail(error, 'the scheme is none of 3D elastic modelling')
    end select
  end subroutine box_needed

  !> The grid of the shot, how it is cut, this rank's piece, and the box around it and the margins that it may have. Kernels store
  !> narrow halos alone.
  subroutine PlanGrid(self, scheme, own, window, error)
    class(fd3d_t), intent(inout) :: self
    class(scheme_t), intent(in) :: scheme
    type(elastic_t), intent(in) :: own
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    call Fd3dGrid(scheme, own, window, self%whole, self%width, self%pad)
    self%may_widen = .false.
    self%whole%wide = self%whole%wide .and. self%grouped()
    self%piece = self%whole
    self%around = Fd3dAround(self%whole, self%piece)
    if (.not. self%grouped()) return
    call Fd3dCuts(self%whole, self%width, self%partners%n, own%decomposition, fd3d_variants%needs_gpu(scheme%variant), self%cuts, &
                  error)
    if (allocated(error)) return
    self%piece = Fd3dPiece(self%whole, self%width, self%cuts, self%partners%mine)
    self%may_widen = own%wide == wide_yes
    if (own%wide == wide_auto .and. own%halo /= halo_ipc) self%may_widen = Fd3dMayWiden(self%whole, self%cuts)
    self%around = Fd3dAround(self%whole, self%piece)
    if (self%may_widen) self%around = Fd3dAround(self%whole, Fd3dWiden(self%whole, self%width, self%piece))
  end subroutine PlanGrid

  !> The window's cells that the box around the piece and its ring of one cell are made of; beyond the window its outermost ones
  !> stand for those that are not there.
  pure type(box_t) function BoxAround(self, window) result(box)
    class(fd3d_t), intent(in) :: self
    type(window_t), intent(in) :: window
    associate (n => [window%nx, window%ny, window%nz], before => self%around%first - 1 - self%pad)
      box%low = max(1, min(before, n))
      box%high = max(1, min(before + self%around%n + 1, n))
    end associate
  end function BoxAround

  !> Fails on a window on another grid. Rank 0 has checked where source and receivers are (fd3d_check.f90).
  subroutine CheckWindow(self, window, error)
    class(fd3d_t), intent(in) :: self
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    associate (s => self%scheme, w => window)
      if (any(abs([w%dx, w%dy, w%dz]/[s%dx, s%dy, s%dz] - 1) > 1e-9_dp)) then
        call Fail(error, 'the model window has cells of '//Str(w%dx)//' x '//Str(w%dy)//' x '//Str(w%dz)//' m, but the scheme '// &
                  'was made for '//Str(s%dx)//' x '//Str(s%dy)//' x '//Str(s%dz)//' m')
      else if (w%ny < 1 .or. .not. WindowHas(w, merge(5, 3, self%own%attenuates), BoxAround(self, w))) then
        call Fail(error, 'the medium of the model window is not vp, vs, rho and, with attenuation, 1/Qp, 1/Qs')
      end if
    end associate
  end subroutine CheckWindow

  !> The grid around the window, and an engine for it: the one at hand if it fits.
  subroutine make_grid(self, window, error)
    class(fd3d_t), intent(inout), target :: self
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    type(fd3d_grid_t) :: grid
    logical :: keeps, wide
    self%known = 0
    wide = .false.
    if (self%grouped()) call GpuWaysClose(self, error)
    if (.not. allocated(error)) call PlanGrid(self, self%scheme, self%own, window, error)
    if (.not. allocated(error)) call CheckWindow(self, window, error)
    if (self%grouped() .and. .not. allocated(error)) call MeetPartners(self, wide, error)
    if (allocated(error)) return
    grid = self%piece
    if (wide) grid = Fd3dWiden(self%whole, self%width, self%piece)
    self%corner = [window%x0, window%y0, window%z0] - self%pad*self%whole%d
    call self%choose_engine(product(real(grid%n, dp)), Fd3dSameGrid(grid, self%grid), keeps, error)
    grid%threads = self%team%threads
    self%around%threads = grid%threads
    if (.not. keeps) call Fd3dEngineNew(self%variant, self%engine, error)
    if (.not. (keeps .or. allocated(error))) call self%engine%new(grid, error)
    if (.not. keeps) self%manner = manner_t()
    if (allocated(error)) return
    self%grid = grid
    if (.not. self%grouped()) return
    call OpenWays(self, error)
    self%queues = self%linked                     ! else the host swaps between half steps
  end subroutine make_grid

  !> Attenuation has a band [Hz].
  pure function medium_needs(self) result(numbers)
    class(fd3d_t), intent(in) :: self
    real(dp), allocatable :: numbers(:)
    numbers = [self%scheme%fpeak, self%own%q_band]
  end function medium_needs

  ! --- the steps -----------------------------------------------------------------------------------------------------------

  function any_engine(self) result(engine)
    class(fd3d_t), intent(in), target :: self
    class(engine_t), pointer :: engine
    engine => null()
    if (allocated(self%engine)) engine => self%engine
  end function any_engine

  !> Once, by the size of the grid.
  subroutine choose_chunk(self, waited)
    class(fd3d_t), intent(inout) :: self
    logical, intent(in) :: waited
    real(dp) :: cells
    if (self%chunk > 0) return
    cells = product(real(self%whole%n, dp))
    if (self%grouped()) cells = cells/self%partners%n
    if (self%queues .or. self%engine%gpu) then
      self%chunk = int(min(real(chunk_most, dp), max(real(chunk_least, dp), chunk_gpu/cells)))
    else
      self%chunk = int(min(100.0_dp, max(1.0_dp, chunk_updates/cells)))
    end if
  end subroutine choose_chunk

  !> Up to the next pictures.
  subroutine next_chunk(self, error)
    class(fd3d_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    if (self%steps == self%known) call LookUntilDone(self, error)
    if (.not. allocated(error)) call GiveHistories(self, error)
    if (allocated(error)) return
    call self%timestep(min(self%chunk, self%known - self%steps, self%next_picture() - self%steps), error)
    if (allocated(error) .or. self%steps /= self%next_picture()) return
    call LookUntilDone(self, error)
    if (.not. allocated(error)) call FilmsTake(self, error)
  end subroutine next_chunk

  !> Before the host is to sleep until steps are done: a partner that fails is not noticed in such sleep.
  subroutine LookUntilDone(self, error)
    class(fd3d_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    if (self%linked) call self%await_steps(0, error)
  end subroutine LookUntilDone

  subroutine load(self, position, state, error)
    class(fd3d_t), intent(inout), target :: self
    type(time_position_t), intent(in) :: position
    real(sp), contiguous, intent(in) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    call LoopLoad(self, position, state, error)
    if (.not. allocated(error)) self%known = position%step      ! histories are no part of a state: given anew before the next step
  end subroutine load

  subroutine blow_up(self, value, place, error)
    class(fd3d_t), intent(inout) :: self
    real(sp), intent(in) :: value
    integer, intent(in) :: place(3)
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: what
    real(dp) :: x(3)
    integer :: cell(3)
    cell = place + self%grid%first - 1
    x = self%corner + (cell - 0.5_dp)*self%grid%d
    what = Str(scale(value, self%exponent2), 4)//' m/s'
    if (.not. value <= huge(value)) what = 'no number'
    call Fail(error, 'the field blew up within the '//Str(self%chunk)//' steps before step '//Str(self%steps)//': velocity is '// &
              what//' in cell ('//Str(cell(1))//', '//Str(cell(2))//', '//Str(cell(3))//') at x = '//Str(x(1), 7)//', y = '// &
              Str(x(2), 7)//', z = '//Str(x(3), 7)//' m: an instability; use a smaller dt, or look at the contrasts there')
  end subroutine blow_up

  ! --- what comes home -----------------------------------------------------------------------------------------------------

  subroutine describe(self, gather)
    class(fd3d_t), intent(in) :: self
    type(gather_t), intent(inout) :: gather
    gather%sy = self%shot%sy
    gather%ry = self%shot%ry
    gather%cells = product(real(self%whole%n, dp))
    gather%nsnap = size(self%film)
    if (allocated(gather%film)) deallocate (gather%film)
    if (gather%nsnap == 0) return
    gather%film = self%film
    gather%nf = self%nf
    gather%df = self%grid%d*self%scheme%snapshot_step
    gather%xf = self%corner + (self%pad + 0.5_dp)*self%grid%d
    gather%tf = self%scheme%t_start + (self%first_picture - 0.5_dp)*self%scheme%dt
    gather%dtf = self%every*self%scheme%dt
  end subroutine describe

  function shared_out(self) result(words)
    class(fd3d_t), intent(in) :: self
    character(:), allocatable :: words
    words = ''
    if (.not. self%grouped()) return
    words = CutsWords(self%cuts)
    if (self%remark /= '') words = words//'; '//self%remark
    if (self%grid%wide) words = words//'; halos are wide'//self%why_wide
  end function shared_out

  subroutine identify(self, identity)
    class(fd3d_t), intent(in) :: self
    type(identity_t), intent(inout) :: identity
    integer :: f
    associate (g => self%grid, s => self%scheme, o => self%own, id => identity)
      id%shape = Str(g%n(1))//' x '//Str(g%n(2))//' x '//Str(g%n(3))
      call HashAdd(id%grid, [g%side, self%width, g%half_length, merge(1, 0, [g%anelastic, g%even, s%sponge])])
      if (g%anelastic .and. o%memory /= memory_coarse2001) call HashAdd(id%grid, o%memory)
      if (g%narrow) call HashAdd(id%grid, merge(4, 1, g%side(5) == side_free .and. .not. g%wet .and. g%half_length > 1))
      if (s%damped) call HashAdd(id%grid, 2)
      if (g%wide) call HashAdd(id%grid, 3)
      call HashAdd(id%grid, [g%first, g%whole])
      call HashAdd(id%grid, [g%w, g%d, g%dt, self%corner])
      id%medium = self%medium_hash
      call HashAdd(id%positions, [self%shot%sy, self%shot%ry])
      if (allocated(self%shot%at_places)) call HashAdd(id%positions, reshape(self%shot%at_places, [size(self%shot%at_places)]))
      if (allocated(self%shot%at_places)) call HashAdd(id%positions, 1)   ! ends of lines shared before 2026-12-01
      call HashAdd(id%positions, SourceNumbers(o%source))
      if (o%source%fault%n > 0) call HashAdd(id%positions, self%rates)
      call HashAdd(id%times, [self%every, self%first_picture, s%snapshot_step, merge(1, 0, o%pgv)])
      call HashAdd(id%times, o%pgv_depth)
      do f = 1, size(self%frame)
        call HashAdd(id%times, [self%frame(f)%field, self%frame(f)%axis, self%frame(f)%index, merge(1, 0, self%frame(f)%top)])
        if (allocated(self%frame(f)%even)) call HashAdd(id%times, 1)                   ! of single cells before 2026-12-01
      end do
    end associate
  end subroutine identify

  ! --- the end -----------------------------------------------------------------------------------------------------------

  !> Gives back all memory; twice is harmless.
  subroutine free(self)
    class(fd3d_t), intent(inout) :: self
    type(error_t), allocatable :: error       ! where partners are lost the memory is given back all the same
    if (self%linked) call GpuWaysClose(self, error)
    call self%forget()
    if (allocated(self%engine)) deallocate (self%engine)
    if (allocated(self%rho)) deallocate (self%rho, self%mu)
    self%grid = fd3d_grid_t()
  end subroutine free

end module fd3d_m
