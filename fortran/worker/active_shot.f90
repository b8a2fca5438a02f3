!> A shot that a worker models. A worker on CPU cores has one at a time, a worker on a GPU several that take turns.
module active_shot_m
  use checkpoint_m, only: shot_states_t
  use error_m, only: error_t
  use gather_m, only: gather_t
  use kinds_m, only: dp
  use lent_memory_m, only: tray_t
  use shot_m, only: shot_t
  use solver_m, only: solver_t
  use window_m, only: box_t, window_t
  implicit none
  private
  public :: active_shot_t, IDLE, ASKED, HAVE_SHOT, WAIT_MODEL, READY, LOOPING, MODELLED, WAIT_SNAPSHOTS, CLOSED

  ! States of an active shot: it ...
  integer, parameter :: IDLE = 0            !< asks for a shot
  integer, parameter :: ASKED = 1           !< waits for a shot
  integer, parameter :: HAVE_SHOT = 2       !< asks for its window of the model
  integer, parameter :: WAIT_MODEL = 3      !< waits for the window
  integer, parameter :: READY = 4           !< is set up, then begins
  integer, parameter :: LOOPING = 5         !< is in the time loop
  integer, parameter :: MODELLED = 6        !< makes its traces, after the others have given the GPU work for as long as that takes
  integer, parameter :: WAIT_SNAPSHOTS = 7  !< waits until its snapshots are on disk
  integer, parameter :: CLOSED = 8          !< does nothing more

  type :: active_shot_t
    integer :: state = IDLE
    class(solver_t), allocatable :: solver
    type(shot_t) :: shot
    logical :: snapshots = .false.        !< snapshots are wanted
    logical :: dropped = .false.          !< the shot is not to be computed here any more,
    character(:), allocatable :: why_dropped          !< and why
    logical :: on_gpu = .false.           !< the GPU computes this shot
    logical :: waits = .false.            !< it is set up and waits until the GPU has room for its steps
    real(dp) :: ready_at = 0              !< when it was set up [s]
    type(window_t) :: outline             !< where the shot's window lies, as SHOT says
    type(box_t) :: box                    !< the cells of the window whose media this rank needs
    type(window_t) :: window              !< the latest window, as much of it as is here
    integer :: layers = 0                 !< layers of the box, along z, up to this one are here
    integer :: asked = 0                  !< layers up to this one were asked for
    integer :: asks = 0, answers = 0      !< requests for layers, and replies
    type(tray_t) :: tray(2)               !< the master puts media into one while they are taken out of the other
    integer :: trays = 0                  !< trays that there have been
    logical :: here = .false.             !< all media are here, or `trouble` says why they are not
    type(error_t), allocatable :: trouble
    type(gather_t) :: gather
    real(dp) :: last_beat = 0             !< when its progress was last sent to the master [s]
    type(shot_states_t) :: states         !< states kept of this shot
  end type active_shot_t

end module active_shot_m
