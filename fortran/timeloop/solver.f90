!> A solver models shots: the verbs that every physics offers the framework. A group of ranks holds one solver and models shot after
!> shot with it.
module solver_m
  use error_m, only: error_t, Fail
  use kinds_m, only: dp, i8, sp
  use partners_m, only: partners_t
  use gather_m, only: gather_t
  use scheme_m, only: scheme_t
  use shot_m, only: shot_t
  use text_m, only: Str
  use variants_m, only: variants_t
  use window_m, only: box_t, window_t
  implicit none
  private
  public :: solver_t, time_position_t, progress_i

  !> The place of a shot in its time loop.
  type :: time_position_t
    integer :: step = 0                       !< steps done
    integer :: films = 0                      !< snapshots taken
    real(dp) :: seconds = 0                   !< of the time loop so far
  end type time_position_t

  !> `self` is a target where a solver may point to its engine (timeloop.f90).
  type, abstract :: solver_t
    class(partners_t), pointer :: partners => null()   !< the ranks that model the shot together; null: this one alone
  contains
    procedure :: box => WholeWindow
    procedure(setup_i), deferred :: setup
    procedure :: modfd => AllChunks
    procedure(advance_i), deferred :: advance
    procedure(fraction_i), deferred :: fraction
    procedure(gather_i), deferred :: gather
    procedure, nopass :: need => NoNeed
    procedure, nopass :: need_words => NoWords
    procedure :: shared_out => NotShared
    procedure :: ways_found => NothingBetween
    procedure :: exchanged => NothingBetween
    procedure, nopass :: kernels => PlainKernels
    procedure :: choose
    procedure :: free => NothingToFree
    procedure, nopass :: trial => NoTrial
    procedure :: state_identity => NoIdentity
    procedure :: time_position => NoPosition
    procedure :: state_size => NoState
    procedure :: save => NoSave
    procedure :: load => NoLoad
  end type solver_t

  abstract interface
    !> Is told after every chunk of steps which part of the time loop is done, 0..1; sets `stop` to end the shot early.
    subroutine progress_i(fraction, stop)
      import :: dp
      real(dp), intent(in) :: fraction
      logical, intent(inout) :: stop
    end subroutine progress_i

    !> Prepares a shot in its window, with the media of the `box` that it needs; memory is kept from shot to shot.
    subroutine setup_i(self, scheme, window, shot, error)
      import :: solver_t, scheme_t, window_t, shot_t, error_t
      class(solver_t), intent(inout) :: self
      class(scheme_t), intent(in) :: scheme
      type(window_t), intent(in) :: window
      type(shot_t), intent(in) :: shot
      type(error_t), allocatable, intent(inout) :: error
    end subroutine setup_i

    !> The next chunk of steps; `done` after the last. modfd calls this until then. A device is handed a chunk and computes it while
    !> the host goes on; the call waits, asleep, for the chunk before, so that several shots can share one device.
    subroutine advance_i(self, done, error)
      import :: solver_t, error_t
      class(solver_t), intent(inout) :: self
      logical, intent(out) :: done
      type(error_t), allocatable, intent(inout) :: error
    end subroutine advance_i

    !> The part of the time loop that is done, 0..1.
    pure real(dp) function fraction_i(self) result(fraction)
      import :: solver_t, dp
      class(solver_t), intent(in) :: self
    end function fraction_i

    !> Traces at the output sampling.
    subroutine gather_i(self, gather, error)
      import :: solver_t, gather_t, error_t
      class(solver_t), intent(inout), target :: self
      type(gather_t), intent(inout) :: gather
      type(error_t), allocatable, intent(inout) :: error
    end subroutine gather_i
  end interface

contains

  !> All steps of the shot. Fails when `progress` asks to stop.
  subroutine AllChunks(self, error, progress)
    class(solver_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    procedure(progress_i), optional :: progress
    type(time_position_t) :: position
    logical :: done, stop
    done = .false.
    stop = .false.
    do while (.not. (done .or. allocated(error)))
      call self%advance(done, error)
      if (present(progress) .and. .not. allocated(error)) call progress(self%fraction(), stop)
      position = self%time_position()
      if (stop) call Fail(error, 'stopped on request at step '//Str(position%step))
    end do
  end subroutine AllChunks

  !> Gives back all memory that is not the object's own; twice is harmless.
  subroutine NothingToFree(self)
    class(solver_t), intent(inout) :: self
  end subroutine NothingToFree

  !> The cells of a shot's window whose media this rank needs; `window`: where it lies, without its medium.
  subroutine WholeWindow(self, scheme, window, box, error)
    class(solver_t), intent(inout) :: self
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    type(box_t), intent(out) :: box
    type(error_t), allocatable, intent(inout) :: error
  end subroutine WholeWindow

  !> What `plan` says of that memory beside its size.
  function NoWords(scheme, window) result(words)
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    character(:), allocatable :: words
    words = ''
  end function NoWords

  !> Memory of its device that a shot takes [bytes], in a window with `traces` traces; 0: the host's.
  real(dp) function NoNeed(scheme, window, traces) result(bytes)
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    integer, intent(in) :: traces
    bytes = 0
  end function NoNeed

  !> After setup: how the ranks of a group share the shot, in words; '': it is on one rank.
  function NotShared(self) result(words)
    class(solver_t), intent(in) :: self
    character(:), allocatable :: words
    words = ''
  end function NotShared

  !> Collective over the group, to its first rank, a line each. ways_found: after setup, how each pair of pieces is joined, by what
  !> was measured. exchanged: after the last step, what went through each side.
  subroutine NothingBetween(self, words, error)
    class(solver_t), intent(inout) :: self
    character(:), allocatable, intent(out) :: words
    type(error_t), allocatable, intent(inout) :: error
    words = ''
  end subroutine NothingBetween

  !> Its kernel variants.
  subroutine PlainKernels(variants)
    class(variants_t), allocatable, intent(out) :: variants
    allocate (variants)
  end subroutine PlainKernels

  !> The kernel variant that a rank computes with when `asked` is asked for, on a GPU or without one.
  function choose(self, asked, has_gpu) result(name)
    class(solver_t), intent(in) :: self
    character(*), intent(in) :: asked
    logical, intent(in) :: has_gpu
    character(:), allocatable :: name
    class(variants_t), allocatable :: variants
    call self%kernels(variants)
    name = variants%for_rank(asked, has_gpu)
  end function choose

  !> Cell updates a second that this rank may be expected to make on its CPU cores, 0 = not known.
  real(dp) function NoTrial(scheme) result(rate)
    class(scheme_t), intent(in) :: scheme
    rate = 0
  end function NoTrial

  ! These stand for a physics without states, whose shots always begin at the first step.

  !> The identity of the shot: all that must be the same where it is to go on from a state, `name value` a line; '': this physics
  !> has no states.
  function NoIdentity(self) result(text)
    class(solver_t), intent(in) :: self
    character(:), allocatable :: text
    text = ''
  end function NoIdentity

  !> The place of the shot in its time loop; steps that are queued count as done.
  type(time_position_t) function NoPosition(self) result(position)
    class(solver_t), intent(in) :: self
    position = time_position_t()
  end function NoPosition

  !> Numbers in the state at a position of the time loop.
  integer(i8) function NoState(self, position) result(n)
    class(solver_t), intent(in), target :: self
    type(time_position_t), intent(in) :: position
    n = 0
  end function NoState

  !> Waits for the steps that are queued, and copies the state, (state_size). Fails when the field is not sound.
  subroutine NoSave(self, state, error)
    class(solver_t), intent(inout), target :: self
    real(sp), contiguous, intent(out) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    call Fail(error, 'this physics has no states')
  end subroutine NoSave

  !> After setup: goes on from a state of the same identity, with the same bits as without interruption.
  subroutine NoLoad(self, position, state, error)
    class(solver_t), intent(inout), target :: self
    type(time_position_t), intent(in) :: position
    real(sp), contiguous, intent(in) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    call Fail(error, 'this physics has no states')
  end subroutine NoLoad

end module solver_m
