!> The data of the master: the survey, its files, the scheduler, the workers, and what waits. Each of the files master_*.f90 has one
!> part of what it does with that; master.f90 has the story.
module master_type_m
  use commits_m, only: commits_t
  use workers_m, only: workers_t
  use scheduler_m, only: scheduler_t
  use kinds_m, only: dp
  use lent_memory_m, only: borrower_t
  use lost_workers_m, only: losses_t
  use output_pause_m, only: pause_t
  use peers_m, only: peers_t
  use survey_m, only: survey_t
  use protocol_m, only: listener_t, message_t
  use quarantine_m, only: quarantine_t
  use store_m, only: store_t
  use progress_m, only: progress_t
  use windowqueue_m, only: windowqueue_t
  implicit none
  private
  public :: master_t, MasterStops

  type, extends(listener_t) :: master_t
    type(survey_t), pointer :: survey => null()
    type(store_t), pointer :: store => null()   !< output file and journal
    type(scheduler_t) :: scheduler              !< which worker gets which shot
    type(commits_t) :: commits                  !< gathers written and not committed yet
    type(progress_t) :: progress                !< progress and times
    type(workers_t) :: workers                  !< who is here, lost, dead, or gone
    type(peers_t) :: peers                      !< processes of the job on the master's machine
    type(losses_t) :: losses                    !< shots that were taken back from lost workers
    type(quarantine_t) :: quarantine            !< nodes that lose shots
    type(windowqueue_t) :: windows              !< requests for windows of the model
    type(borrower_t) :: borrower                !< memory of workers in which it reads traces
    integer, allocatable :: waiting(:)          !< ranks and workers whose READY is not answered yet
    integer, allocatable :: rank(:)             !< the rank that speaks for a worker, (workers)
    character(64), allocatable :: hosts(:)      !< of ranks 0, 1, ..., where they are known
    real(dp) :: dealt_at = 0, deal_time = 0     !< when those that wait were last dealt to, and how long that took [s]
    logical :: stopping = .false.               !< deal no more shots
    type(pause_t) :: pause                      !< pause of the dealing, while the files cannot be written
    type(pause_t) :: unread                     !< pause of the dealing, while the model on disk cannot be read
    character(:), allocatable :: cause, why     !< of the stop, see runnote.f90; not allocated: all is to be done
    real(dp) :: stopped = -1                    !< when a stop was asked for [s], -1 = it was not
    real(dp) :: looked = -huge(1.0_dp)          !< when a stop file was looked for [s]
    real(dp) :: awake = huge(1.0_dp)            !< when this process was last seen to run [s]
    integer :: resumed = 0                      !< signals SIGCONT by then
    real(dp) :: grace = 0                       !< shots in flight have so long once a stop was asked for [s]
    logical :: kill_announced = .false.         !< a launcher has given notice that it kills what is left
    integer :: term_signals = 0                 !< signals to end when the launcher gave that notice
  contains
    procedure :: handle => MasterHandle
  end type master_t

  interface
    !> Acts on a message; `reply%kind` stays MSG_NONE where there is no reply now.
    module subroutine MasterHandle(self, message, reply)
      class(master_t), intent(inout) :: self
      type(message_t), intent(inout) :: message, reply
    end subroutine MasterHandle
  end interface

contains

  !> No more shots are dealt. The note on the end of the run names the first cause.
  subroutine MasterStops(self, cause, why)
    class(master_t), intent(inout) :: self
    character(*), intent(in) :: cause, why
    self%stopping = .true.
    if (allocated(self%cause)) return
    self%cause = cause
    self%why = why
  end subroutine MasterStops

end module master_type_m
