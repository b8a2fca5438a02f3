!> What the master has before it: the survey, its files, who gets which shot, who is there, and what waits.
!> The files master_*.f90 each tell one part of what it does with that; master.f90 puts them together.
module master_type_m
  use workers_m, only: workers_t
  use scheduler_m, only: scheduler_t
  use kinds_m, only: dp
  use lost_workers_m, only: losses_t
  use output_pause_m, only: pause_t
  use peers_m, only: peers_t
  use survey_m, only: survey_t
  use protocol_m, only: listener_t
  use quarantine_m, only: quarantine_t
  use store_m, only: store_t
  use progress_m, only: progress_t
  use windowqueue_m, only: windowqueue_t
  implicit none
  private
  public :: desk_t, DeskStops

  type, abstract, extends(listener_t) :: desk_t
    type(survey_t), pointer :: survey => null()
    type(store_t), pointer :: store => null()   !< output file and journal
    type(scheduler_t) :: scheduler                    !< who gets which shot
    type(progress_t) :: progress                      !< progress and times
    type(workers_t) :: workers                        !< who is there
    type(peers_t) :: peers                      !< the ranks on its machine
    type(losses_t) :: losses                    !< what workers had that are not
    type(quarantine_t) :: quarantine            !< nodes that lose shots
    type(windowqueue_t) :: windows              !< asked for
    integer, allocatable :: held(:)             !< ranks and workers whose READY waits for an answer
    integer, allocatable :: rank(:)             !< that speaks for a worker, (workers)
    real(dp) :: thought = 0, took = 0           !< when the held ones were last thought of, and how long that took [s]
    logical :: stopping = .false.               !< deal no more shots
    type(pause_t) :: pause                      !< while the files cannot be written
    character(:), allocatable :: cause, why     !< of that, see runnote.f90; not allocated: all is to be done
    real(dp) :: stopped = -1                    !< when that was asked for [s], -1 = it was not
    real(dp) :: grace = 0                       !< shots in flight have so long from then [s]
    logical :: hurried = .false.                !< a launcher has given notice that it kills what is left
    integer :: terms = 0                        !< signals to end until then
  end type desk_t

contains

  !> No more shots are dealt. What was the first cause of that is told when the run ends.
  subroutine DeskStops(desk, cause, why)
    class(desk_t), intent(inout) :: desk
    character(*), intent(in) :: cause, why
    desk%stopping = .true.
    if (allocated(desk%cause)) return
    desk%cause = cause
    desk%why = why
  end subroutine DeskStops

end module master_type_m
