!> The data of a worker: its active shots, what it knows of the master, and how it sends messages to the master. Each of the files
!> worker_*.f90 has one part of what it does with that; worker.f90 has the story.
module worker_type_m
  use active_shot_m, only: active_shot_t, HAVE_SHOT, WAIT_MODEL
  use checkpoint_m, only: checkpointer_t
  use checkpoint_rule_m, only: checkpoint_t
  use group_m, only: group_t
  use kinds_m, only: dp
  use lent_memory_m, only: lender_t, LenderReturn
  use master_heartbeat_m, only: heartbeat_t, job_end_t, HeartbeatLook, HeartbeatPeers
  use protocol_m, only: link_t, message_t, LinkSend, MSG_BYE, MSG_MEMORY, MSG_NOTE, MSG_PROGRESS
  use roles_m, only: role_t
  use scheme_m, only: scheme_t
  use text_m, only: Str
  implicit none
  private
  public :: worker_options_t, BEAT, MOST_ACTIVE, worker_t, WorkerFind, WorkerBeat, WorkerKeep, WorkerNote, WorkerSend, WorkerDecline
  public :: WorkerAnnounce, WorkerReturn
  public :: WorkerMayAskModel

  integer, parameter :: MOST_ACTIVE = 64      !< active shots of a worker
  integer, parameter :: AHEAD = 4             !< windows on their way to a worker, at most
  real(dp), parameter :: BEAT = 1.0_dp        !< seconds between reports of progress

  !> The parameters of a job on its workers.
  type :: worker_options_t
    integer :: shots_per_gpu = 0              !< 0 = as many as fill the GPU
    real(dp) :: gpu_memory = 0                !< of a GPU, that a rank may take [bytes]; 0 = what is free
    integer :: shots = 0                      !< at once, wherever they are computed; 0 = one on CPU cores, shots_per_gpu on a GPU
    real(dp) :: lease = 120                   !< a rank that is silent for longer is taken for lost [s]
    logical :: retire = .false.               !< a worker whose GPU failed leaves; else it goes on with CPU cores
    character(:), allocatable :: shape        !< of the blocks of variant=tuned; auto: it chooses
    integer :: steps_a_pass = 0               !< of variant=tuned; 0: it chooses
    type(checkpoint_t) :: checkpoint          !< how often the state of a shot is kept, and where
  end type worker_options_t

  type :: worker_t
    type(role_t) :: role
    type(group_t) :: group                    !< the ranks that model its shots together, where there are several
    type(link_t), pointer :: link => null()   !< to the master
    type(worker_options_t) :: options
    class(scheme_t), allocatable :: scheme
    type(active_shot_t), allocatable :: active(:)
    integer :: wanted = 1                     !< active shots at a time
    integer :: computing = 1                  !< active shots that may have steps on the GPU at a time
    integer :: most = MOST_ACTIVE             !< active shots at most; fewer once the GPU had no memory for one more
    logical :: gpu = .false.                  !< it computes on a GPU, which works
    real(dp) :: gpu_memory = 0                !< memory of the GPU that this rank may take [bytes]
    integer :: unwritten = 0                  !< gathers sent that the master has not answered
    type(lender_t) :: lender                  !< memory in which the master reads traces
    integer :: serial = 0                     !< windows received
    real(dp) :: trial_rate = 0                !< cell updates a second found in a trial, 0 = none was made
    logical :: reported = .false.             !< the master was sent the progress of some shot
    logical :: no_more_shots = .false.        !< the master has none for it any more
    logical :: leaving = .false.              !< it asked to leave, and is not answered yet
    logical :: signalled = .false.            !< it got a signal to end, and acts on it
    integer :: signal = 0                     !< signal to end that another rank of the group got, 0 = none
    logical :: keeps = .false.                !< all ranks of the group keep the state of their shot after the next steps
    logical :: said_bye = .false.
    logical :: master_gone = .false.          !< its process has ended, or it was silent for too long
    logical :: job_over = .false.             !< the master sent END, or is gone
    type(heartbeat_t) :: heartbeat
    type(job_end_t) :: job_end
    character(:), allocatable :: device       !< the GPU that computed the latest shot, and how
    character(:), allocatable :: shared_out   !< how the ranks of the group shared the latest shot
    logical :: too_large = .false.            !< a window did not fit, and the log says so
    real(dp) :: compute = 0, wait = 0, io = 0 !< seconds so far; wait: for a shot; io: for windows and files
    type(checkpointer_t) :: checkpointer
  end type worker_t

contains

  !> Number of the active shot with this record and state, 0 if none has them.
  pure integer function WorkerFind(worker, record, state) result(i)
    type(worker_t), intent(in) :: worker
    integer, intent(in) :: record, state
    do i = size(worker%active), 1, -1
      if (worker%active(i)%shot%record == record .and. worker%active(i)%state == state) return
    end do
  end function WorkerFind

  !> An active shot may ask for its window now. A few windows are on their way at a time, so that shots begin before all windows
  !> are here. Before the first one is here only one shot asks: the others may need the same, which is not sent again.
  pure logical function WorkerMayAskModel(worker) result(may)
    type(worker_t), intent(in) :: worker
    may = any(worker%active%state == HAVE_SHOT) .and. &
          count(worker%active%state == WAIT_MODEL) < merge(AHEAD, 1, any(worker%active%window%serial > 0))
  end function WorkerMayAskModel

  !> Sends a sentence for the log, if there is one; it is a warning unless it is `harmless`.
  subroutine WorkerNote(worker, text, harmless)
    type(worker_t), intent(in) :: worker
    character(*), intent(in) :: text
    logical, intent(in), optional :: harmless
    type(message_t) :: message
    if (text == '') return
    message%kind = MSG_NOTE
    if (present(harmless)) message%n(1) = merge(1, 0, harmless)
    message%text = text
    call WorkerSend(worker, message)
  end subroutine WorkerNote

  !> Sends lines for the log file alone, below a first one.
  subroutine WorkerKeep(worker, first, lines)
    type(worker_t), intent(in) :: worker
    character(*), intent(in) :: first, lines
    type(message_t) :: message
    if (lines == '') return
    message%kind = MSG_NOTE
    message%n(1) = 2
    message%text = first//new_line('a')//lines
    call WorkerSend(worker, message)
  end subroutine WorkerKeep

  !> Sends a message about lent memory, if there is one.
  subroutine WorkerAnnounce(worker, message)
    type(worker_t), intent(in) :: worker
    type(message_t), intent(inout) :: message
    if (message%kind /= MSG_MEMORY) return
    message%n(1) = worker%role%worker_id
    call WorkerSend(worker, message)
  end subroutine WorkerAnnounce

  !> The traces of a shot are not needed any more; `sent`: they are those that rank 0 knows of.
  subroutine WorkerReturn(worker, record, sent)
    type(worker_t), intent(inout) :: worker
    integer, intent(in) :: record
    logical, intent(in) :: sent
    type(message_t) :: message
    call LenderReturn(worker%lender, record, sent, message)
    call WorkerAnnounce(worker, message)
  end subroutine WorkerReturn

  !> Sends a heartbeat when it is time for one. `master_gone`: nothing was heard of the master for too long.
  subroutine WorkerBeat(worker, master_gone)
    type(worker_t), intent(inout) :: worker
    logical, intent(out) :: master_gone
    type(message_t) :: message
    logical :: due
    master_gone = .false.
    if (associated(worker%link%listener) .or. worker%job_over) return
    call HeartbeatLook(worker%heartbeat, due, master_gone)
    if (master_gone) return
    call HeartbeatPeers(worker%heartbeat, worker%link)
    if (.not. due) return
    message%kind = MSG_PROGRESS
    message%n(1) = worker%role%worker_id
    call WorkerSend(worker, message)
  end subroutine WorkerBeat

  !> Sends a message to the master; the first rank of a group does for all of its ranks.
  subroutine WorkerSend(worker, message)
    type(worker_t), intent(in) :: worker
    type(message_t), intent(inout) :: message
    if (worker%role%group_rank == 0) call LinkSend(worker%link, message)
  end subroutine WorkerSend

  !> A rank that cannot take part sends the reason, and BYE.
  subroutine WorkerDecline(role, link, why)
    type(role_t), intent(in) :: role
    type(link_t), intent(inout) :: link
    character(*), intent(in) :: why
    type(message_t) :: message
    if (role%group_rank > 0) return
    message%kind = MSG_NOTE
    message%text = 'worker '//Str(role%worker_id)//' on '//role%host//' takes no part: '//why
    call LinkSend(link, message)
    message = message_t(kind=MSG_BYE)
    message%n(1) = role%worker_id
    call LinkSend(link, message)
  end subroutine WorkerDecline

end module worker_type_m
