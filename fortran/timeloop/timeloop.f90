!> A shot that an engine steps through time, whatever the physics: chunks of steps, checks of the field, states, traces.
!>
!> A solver extends timeloop_t by its grid, medium and engine. The verbs that are deferred here prepare a shot, tell how long a
!> chunk of steps is, do what is due between chunks, and tell what its numbers mean. This file has the loop over steps; the
!> submodules hold the rest: set-up (timeloop_setup.f90), check of the field (timeloop_check.f90), pictures
!> (timeloop_pictures.f90), states (timeloop_state.f90), traces (timeloop_gather.f90).
!>
!> A GPU only queues the steps: `advance` waits until one chunk of the shot is left unfinished, then queues the next. So on return
!> the GPU has work for one to two chunks, during which the host sets up other shots or makes their traces, and a field that blows
!> up is noticed soon.
module timeloop_m
  use engine_m, only: engine_t
  use error_m, only: error_t
  use gather_m, only: film_t, gather_t
  use host_c, only: host_seconds
  use kinds_m, only: dp, i8, sp
  use scheme_m, only: scheme_t
  use shot_m, only: shot_t
  use solver_m, only: time_position_t, solver_t
  use state_identity_m, only: identity_t
  use team_m, only: team_t, TeamTake
  use window_m, only: window_t
  implicit none
  private
  public :: timeloop_t, LoopSetup, LoopLoad, LoopTraces, growth

  real(sp), parameter :: growth = 1000            !< a field this many times what the source can bring has blown up

  type, abstract, extends(solver_t) :: timeloop_t
    type(scheme_t) :: scheme
    type(shot_t) :: shot                          !< with the positions used
    character(:), allocatable :: variant          !< of the engine
    logical :: queues = .false.                   !< its time steps are only queued: it computes while the host goes on
    integer :: medium = 0                         !< serial number of the window the medium was made from, 0 = of none
    real(dp), allocatable :: made_for(:)          !< what else medium and layers were made from (medium_needs)
    integer :: exponent2 = 0                      !< fields are 2**exponent2 times smaller than in SI units
    real(sp) :: limit = 0                         !< of the largest value, beyond it the field has blown up
    real(sp) :: peak = 0                          !< largest value at the last check
    integer :: steps = 0                          !< steps done or queued
    logical :: finished = .false.                 !< all are done, and the field was checked
    type(team_t) :: team                          !< threads of set-up, steps and traces on CPU cores
    integer :: chunk = 0                          !< steps of the next chunk, 0 = not chosen yet
    integer :: ahead = 0                          !< chunks that may be unfinished
    integer :: queued(2) = 0                      !< steps of the two chunks queued last
    integer :: unchecked = 0                      !< steps since the last check of the field, on CPU cores
    real(dp) :: pace = 0                          !< seconds a step takes, as measured
    real(dp) :: mark = 0                          !< when a chunk was seen to be done last [s]
    real(dp) :: began = 0                         !< when the first step was queued [s]
    real(dp) :: seconds = 0                       !< wall time of the time loop
    logical, allocatable :: at_whole(:)           !< of each component: sampled at whole time steps, as stress is, not at half ones
    integer :: beside = 0                         !< traces that are sampled after those asked for, as these are made from them
    type(film_t), allocatable :: film(:)          !< pictures: films, then maps
    integer :: films = 0                          !< how many of them are films
    integer :: pictures = 0                       !< of each film there will be
    integer :: taken = 0                          !< of each film there are
    integer :: every = 0                          !< steps between two of them
    integer :: first_picture = 0                  !< the first is taken after this step
    logical :: overlaps = .true.                  !< what pieces give each other travels while the rest is computed
    logical :: linked = .false.                   !< it goes from GPU to GPU, and no host waits for it (gpu_ways.f90)
    character(:), allocatable :: remark           !< on its way, for the log
  contains
    procedure :: setup => LoopSetup, advance, fraction => PartDone, gather => LoopGather
    procedure :: state_identity, time_position, state_size, save => LoopSave, load => LoopLoad
    procedure, non_overridable :: choose_engine, forget, scale_fields, timestep, picture_size
    procedure, non_overridable :: plan_pictures, next_picture, last_recorded, room_for_films
    procedure(make_i), deferred :: make_grid, make_medium, make_source, make_receivers, make_pictures
    procedure :: medium_needs => PeakFrequency
    procedure(any_engine_i), deferred :: any_engine
    procedure(choose_chunk_i), deferred :: choose_chunk
    procedure(next_chunk_i), deferred :: next_chunk
    procedure :: take_maps => NoMaps
    procedure :: do_steps => EngineSteps
    procedure :: await_steps => EnginePending
    procedure :: samples => EngineSamples
    procedure :: swap_once => NothingSwapped
    procedure, non_overridable :: gathers, grouped
    procedure(blow_up_i), deferred :: blow_up
    procedure(identify_i), deferred :: identify
    procedure(describe_i), deferred :: describe
    procedure :: make_traces => LoopTraces
    procedure :: add_near => NothingNear
  end type timeloop_t

  abstract interface
    !> Make a part each of a shot by `shot` and `scheme`, which stand in self: the grid around the window, which is checked, and its
    !> engine (by `choose_engine`); the medium on the grid and its layers; the source; the receivers; room for pictures.
    subroutine make_i(self, window, error)
      import :: timeloop_t, window_t, error_t
      class(timeloop_t), intent(inout), target :: self
      type(window_t), intent(in) :: window
      type(error_t), allocatable, intent(inout) :: error
    end subroutine make_i

    !> The solver's engine, null before the first set-up.
    function any_engine_i(self) result(engine)
      import :: timeloop_t, engine_t
      class(timeloop_t), intent(in), target :: self
      class(engine_t), pointer :: engine
    end function any_engine_i

    !> Sets `chunk`. `waited`: the chunk before the one queued last was finished just now.
    subroutine choose_chunk_i(self, waited)
      import :: timeloop_t
      class(timeloop_t), intent(inout) :: self
      logical, intent(in) :: waited
    end subroutine choose_chunk_i

    !> Does one step or more by `timestep`, at most `chunk` and what pictures need, and takes the pictures that are then due.
    subroutine next_chunk_i(self, error)
      import :: timeloop_t, error_t
      class(timeloop_t), intent(inout) :: self
      type(error_t), allocatable, intent(inout) :: error
    end subroutine next_chunk_i

    !> Always fails, with a sentence on a field whose largest value, in a cell, is above `limit` or no number.
    subroutine blow_up_i(self, value, place, error)
      import :: timeloop_t, error_t, sp
      class(timeloop_t), intent(inout) :: self
      real(sp), intent(in) :: value
      integer, intent(in) :: place(3)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine blow_up_i

    !> Adds grid and medium to the identity of the shot, and what else the later steps depend on.
    subroutine identify_i(self, identity)
      import :: timeloop_t, identity_t
      class(timeloop_t), intent(in) :: self
      type(identity_t), intent(inout) :: identity
    end subroutine identify_i

    !> Fills in what only this physics can say of a gather: cells, pictures.
    subroutine describe_i(self, gather)
      import :: timeloop_t, gather_t
      class(timeloop_t), intent(in) :: self
      type(gather_t), intent(inout) :: gather
    end subroutine describe_i
  end interface

  interface
    ! --- timeloop_setup.f90

    !> Prepares a shot. The engine's memory is kept while the grid stays the same, medium and layers too while the window has the
    !> same serial number. Fails on what the solver cannot model, and where memory does not suffice.
    module subroutine LoopSetup(self, scheme, window, shot, error)
      class(timeloop_t), intent(inout) :: self
      class(scheme_t), intent(in) :: scheme
      type(window_t), intent(in) :: window
      type(shot_t), intent(in) :: shot
      type(error_t), allocatable, intent(inout) :: error
    end subroutine LoopSetup

    !> Chooses threads and kernel variant for a grid of so many cells. `same`: the engine at hand is of the same grid. `keeps`: it
    !> is of the chosen variant too, so it serves this shot, and its fields are 0 now. Else all memory is given back, and the
    !> solver makes an engine.
    module subroutine choose_engine(self, cells, same, keeps, error)
      class(timeloop_t), intent(inout), target :: self
      real(dp), intent(in) :: cells
      logical, intent(in) :: same
      logical, intent(out) :: keeps
      type(error_t), allocatable, intent(inout) :: error
    end subroutine choose_engine

    !> Gives the engine's memory back: nothing is known of medium, pictures and pace.
    module subroutine forget(self)
      class(timeloop_t), intent(inout), target :: self
    end subroutine forget

    !> Sets exponent2 so that the largest number that a step of the source brings is near 1. Fails where that is nothing, or beyond
    !> single precision.
    module subroutine scale_fields(self, strongest, error)
      class(timeloop_t), intent(inout) :: self
      real(dp), intent(in) :: strongest
      type(error_t), allocatable, intent(inout) :: error
    end subroutine scale_fields

    ! --- timeloop_check.f90

    !> Waits until at most `most` chunks are unfinished; the field must be sound at the end of the newest finished one.
    module subroutine CheckField(self, most, error)
      class(timeloop_t), intent(inout), target :: self
      integer, intent(in) :: most
      type(error_t), allocatable, intent(inout) :: error
    end subroutine CheckField

    !> Waits, asleep, until all steps are done, checks the field a last time, and takes the maps.
    module subroutine Finish(self, error)
      class(timeloop_t), intent(inout) :: self
      type(error_t), allocatable, intent(inout) :: error
    end subroutine Finish

    ! --- timeloop_pictures.f90

    !> Plans pictures of velocities half-way before whole steps, from time zero of the source to the end of the record; none where
    !> the scheme asks for none.
    module subroutine plan_pictures(self)
      class(timeloop_t), intent(inout) :: self
    end subroutine plan_pictures

    !> The step after which the next picture is due; huge if none is.
    pure module integer function next_picture(self) result(step)
      class(timeloop_t), intent(in) :: self
    end function next_picture

    !> The last step whose velocities are within the record: some more are done for the filters of traces.
    pure module integer function last_recorded(self) result(step)
      class(timeloop_t), intent(in) :: self
    end function last_recorded

    !> Numbers of one picture of each film.
    pure module integer(i8) function picture_size(self) result(n)
      class(timeloop_t), intent(in) :: self
    end function picture_size

    !> Takes memory for films and maps whose shapes are known. `coarser`: the parameter that tells how far their points are apart.
    module subroutine room_for_films(self, coarser, error)
      class(timeloop_t), intent(inout) :: self
      character(*), intent(in) :: coarser
      type(error_t), allocatable, intent(inout) :: error
    end subroutine room_for_films

    ! --- timeloop_state.f90

    !> All that the numbers of a state follow from; see solver.f90.
    module function state_identity(self) result(text)
      class(timeloop_t), intent(in) :: self
      character(:), allocatable :: text
    end function state_identity

    module type(time_position_t) function time_position(self) result(position)
      class(timeloop_t), intent(in) :: self
    end function time_position

    module integer(i8) function state_size(self, position) result(n)
      class(timeloop_t), intent(in), target :: self
      type(time_position_t), intent(in) :: position
    end function state_size

    !> Waits for the steps that are queued and checks the field: a field that has blown up is not saved.
    module subroutine LoopSave(self, state, error)
      class(timeloop_t), intent(inout), target :: self
      real(sp), contiguous, intent(out) :: state(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine LoopSave

    !> Goes on from a state of the same identity as this shot, which is set up.
    module subroutine LoopLoad(self, position, state, error)
      class(timeloop_t), intent(inout), target :: self
      type(time_position_t), intent(in) :: position
      real(sp), contiguous, intent(in) :: state(:)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine LoopLoad

    ! --- timeloop_gather.f90

    !> Traces of the finished time loop at the output sampling, with all that is to be said of them.
    module subroutine LoopGather(self, gather, error)
      class(timeloop_t), intent(inout), target :: self
      type(gather_t), intent(inout) :: gather
      type(error_t), allocatable, intent(inout) :: error
    end subroutine LoopGather

    !> Traces at the output sampling, corrected for time dispersion, in the unit of the fields, (nt_out, nrec, ncomp): the samples
    !> of all steps come home and are filtered by this rank.
    module subroutine LoopTraces(self, traces, error)
      class(timeloop_t), intent(inout), target :: self
      real(sp), contiguous, intent(out) :: traces(:, :, :)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine LoopTraces

    !> The samples of all steps, (nt, receivers of all components and what is beside them); on a rank that gathers nothing there is
    !> no room for them.
    module subroutine EngineSamples(self, raw, error)
      class(timeloop_t), intent(inout), target :: self
      real(sp), contiguous, intent(out) :: raw(:, :)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine EngineSamples
  end interface

contains

  !> Does the next chunk; on a GPU, where none is left, waits for the last but one, then for the last. `done` when all steps are
  !> done and the field is sound. Fails when the field blows up.
  subroutine advance(self, done, error)
    class(timeloop_t), intent(inout) :: self
    logical, intent(out) :: done
    type(error_t), allocatable, intent(inout) :: error
    logical :: waited
    done = .false.
    waited = self%queues .and. self%ahead > 1
    if (waited) call CheckField(self, 1, error)
    if (allocated(error)) return
    call self%choose_chunk(waited)
    if (waited .and. self%steps == self%scheme%nt) return
    if (self%steps < self%scheme%nt) then
      call self%next_chunk(error)
      if (self%queues .or. allocated(error)) return
    end if
    if (self%steps == self%scheme%nt) call Finish(self, error)
    done = self%finished
  end subroutine advance

  !> The part of the time loop that is done or queued, 0..1.
  pure real(dp) function PartDone(self) result(fraction)
    class(timeloop_t), intent(in) :: self
    fraction = real(self%steps, dp)/max(1, self%scheme%nt)
  end function PartDone

  !> Does the next n steps, and checks the whole field, except on a GPU and where `check` is false.
  subroutine timestep(self, n, error, check)
    class(timeloop_t), intent(inout), target :: self
    integer, intent(in) :: n
    type(error_t), allocatable, intent(inout) :: error
    logical, intent(in), optional :: check
    class(engine_t), pointer :: engine
    real(dp) :: from
    logical :: due
    from = host_seconds()
    if (self%steps == 0) self%began = from
    if (self%queues .and. self%ahead > 1) call CheckField(self, 1, error)
    if (allocated(error)) return
    engine => self%any_engine()
    if (.not. self%queues) call engine%threads(self%team%threads, error)
    if (.not. allocated(error)) call self%do_steps(n, error)
    if (allocated(error)) return
    self%steps = self%steps + n
    if (self%queues) then
      self%ahead = self%ahead + 1
      self%queued = [self%queued(2:2), n]
    else
      self%pace = (host_seconds() - from)/n
      if (n >= min(self%chunk, self%scheme%nt/2)) call TeamTake(self%team, n*self%pace, n*self%team%cells)
      self%unchecked = self%unchecked + n
      due = .true.
      if (present(check)) due = check
      if (due) call CheckField(self, 0, error)
      self%seconds = self%seconds + host_seconds() - from
    end if
  end subroutine timestep

  !> The engine does the next n steps.
  subroutine EngineSteps(self, n, error)
    class(timeloop_t), intent(inout), target :: self
    integer, intent(in) :: n
    type(error_t), allocatable, intent(inout) :: error
    class(engine_t), pointer :: engine
    engine => self%any_engine()
    call engine%timestep(self%steps + 1, n, error)
  end subroutine EngineSteps

  !> Waits, asleep, until at most `most` chunks are unfinished.
  subroutine EnginePending(self, most, error)
    class(timeloop_t), intent(inout), target :: self
    integer, intent(in) :: most
    type(error_t), allocatable, intent(inout) :: error
    class(engine_t), pointer :: engine
    engine => self%any_engine()
    call engine%pending(most, error)
  end subroutine EnginePending

  !> This rank gathers what comes home of the shot: the first of those that model it together.
  pure logical function gathers(self)
    class(timeloop_t), intent(in) :: self
    gathers = .true.
    if (associated(self%partners)) gathers = self%partners%mine == 1
  end function gathers

  !> Several ranks model the shot together.
  pure logical function grouped(self)
    class(timeloop_t), intent(in) :: self
    grouped = associated(self%partners)
    if (grouped) grouped = self%partners%n > 1
  end function grouped

  ! --- what a physics has unless it says otherwise --------------------------------------------------------------------

  !> The numbers that medium and layers depend on beside grid and window: layers are made for a frequency [Hz].
  pure function PeakFrequency(self) result(numbers)
    class(timeloop_t), intent(in) :: self
    real(dp), allocatable :: numbers(:)
    numbers = [self%scheme%fpeak]
  end function PeakFrequency

  !> Takes the maps, after the last step; here there are none.
  subroutine NoMaps(self, error)
    class(timeloop_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
  end subroutine NoMaps

  !> Exchanges once what the pieces of a shot give each other in a step, through their hosts, so that this can be timed. n: how many
  !> exchanges that were, none where the shot is in one piece.
  subroutine NothingSwapped(self, n, error)
    class(timeloop_t), intent(inout) :: self
    integer, intent(out) :: n
    type(error_t), allocatable, intent(inout) :: error
    n = 0
  end subroutine NothingSwapped

  !> Adds what the grid lacks close to the source to the samples (nt, nrec) of component c; here it lacks nothing.
  subroutine NothingNear(self, c, samples)
    class(timeloop_t), intent(in) :: self
    integer, intent(in) :: c
    real(sp), intent(inout) :: samples(:, :)
  end subroutine NothingNear

end module timeloop_m
