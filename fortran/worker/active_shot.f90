!> A place for one shot in flight. A worker on CPU cores has one, a worker on a GPU several that take turns.
module slot_m
  use checkpoint_m, only: trail_t
  use gather_m, only: gather_t
  use kinds_m, only: dp
  use shot_m, only: shot_t
  use solver_m, only: solver_t
  use window_m, only: window_t
  implicit none
  private
  public :: slot_t, IDLE, ASKED, HAVE_SHOT, WAIT_MODEL, READY, LOOPING, MODELLED, WAIT_SNAPSHOTS, CLOSED

  !> What a slot waits for or is about to do:
  integer, parameter :: IDLE = 0        !< ask for a shot
  integer, parameter :: ASKED = 1       !< hear of a shot
  integer, parameter :: HAVE_SHOT = 2       !< ask for the model
  integer, parameter :: WAIT_MODEL = 3      !< hear of the model
  integer, parameter :: READY = 4       !< set up, then begin
  integer, parameter :: LOOPING = 5     !< the time loop
  integer, parameter :: MODELLED = 6    !< make the traces, after the other slots have given the GPU work for as long as that takes
  integer, parameter :: WAIT_SNAPSHOTS = 7     !< hear that the snapshots are on disk
  integer, parameter :: CLOSED = 8      !< nothing more

  type :: slot_t
    integer :: state = IDLE
    class(solver_t), allocatable :: solver
    type(shot_t) :: shot
    logical :: snapshots = .false.        !< are wanted
    logical :: dropped = .false.          !< its shot is not to be computed here any more, and why
    character(:), allocatable :: why_dropped
    logical :: on_gpu = .false.           !< computes this shot
    logical :: waits = .false.            !< set up, until the GPU has room for its steps
    real(dp) :: ready_at = 0              !< when it was set up [s]
    type(window_t) :: window              !< the last one heard of
    type(gather_t) :: gather
    real(dp) :: last_beat = 0
    type(trail_t) :: trail                !< of the states kept of this shot
  end type slot_t

end module slot_m
