!> Messages about a shot between its worker and the master: the worker asks for it, and sends progress, snapshots and gather; the
!> master says what became of them, or that the shot is not wanted any more. Windows: worker_window.f90.
module worker_shot_m
  use active_shot_m, only: active_shot_t, ASKED, HAVE_SHOT, IDLE, LOOPING, MODELLED, READY, WAIT_MODEL, WAIT_SNAPSHOTS
  use checkpoint_m, only: CheckpointerDrop
  use error_m, only: error_t, Fail
  use host_c, only: host_seconds
  use kinds_m, only: dp
  use lent_memory_m, only: LenderSent
  use protocol_m, only: message_t, MSG_GATHER, MSG_MODEL, MSG_PROGRESS, MSG_READY, MSG_REFUSED
  use shot_messages_m, only: GatherMessage, ShotFrom, SnapsMessage, VerdictFrom
  use worker_failure_m, only: ShotReport
  use worker_log_m, only: LogDevice
  use worker_type_m, only: worker_t, BEAT, WorkerFind, WorkerReturn, WorkerSend
  use worker_window_m, only: ModelEnds
  implicit none
  private
  public :: ShotAsk, ShotReceive, ProgressReport, ProgressSend, SOON, GatherSend, VerdictReceive, DropReceive

  real(dp), parameter :: SOON = 0.8_dp        !< a GPU's first report comes so much sooner: CPU ranks wait for its speed [s]

contains

  !> Sends READY, unless the worker wants fewer shots at a time than this one's `number`.
  subroutine ShotAsk(worker, active, number)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(inout) :: active
    integer, intent(in) :: number
    type(message_t) :: message
    if (worker%no_more_shots .or. number > worker%wanted) return
    active%state = ASKED
    message%kind = MSG_READY
    message%n(1:3) = [worker%role%worker_id, merge(1, 0, worker%gpu), worker%scheme%threads]
    message%x(1) = worker%trial_rate
    message%text = worker%role%host
    call WorkerSend(worker, message)
  end subroutine ShotAsk

  !> Takes SHOT. A shot that comes when the worker is about to go is given back.
  subroutine ShotReceive(worker, active, message)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(inout) :: active
    type(message_t), intent(in) :: message
    type(error_t), allocatable :: error
    call ShotFrom(message, active%shot, active%outline, active%snapshots, error)
    active%dropped = .false.
    active%state = HAVE_SHOT
    if ((worker%wanted > 0 .or. worker%signalled) .and. .not. allocated(error)) return
    if (.not. allocated(error)) then
      call Fail(error, 'it came when the worker was about to leave')
      error%device = .true.
    end if
    call ShotReport(worker, active, error)
  end subroutine ShotReceive

  !> Sends the progress of a shot when it is time for that.
  subroutine ProgressReport(worker, active)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(inout) :: active
    if (host_seconds() - active%last_beat < BEAT) return
    active%last_beat = host_seconds()
    worker%reported = .true.
    call ProgressSend(worker, active, .false.)
  end subroutine ProgressReport

  !> Sends the progress of a shot. `waits`: its steps begin when other shots of this worker have done theirs.
  subroutine ProgressSend(worker, active, waits)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(in) :: active
    logical, intent(in) :: waits
    type(message_t) :: message
    message%kind = MSG_PROGRESS
    message%n(1:3) = [worker%role%worker_id, active%shot%record, merge(1, 0, waits)]
    message%x(1:2) = [active%solver%fraction(), active%states%head]
    call WorkerSend(worker, message)
  end subroutine ProgressSend

  !> Sends the gather, after the snapshots if there are any; the next shot is asked for before it is on disk.
  subroutine GatherSend(worker, active)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(inout) :: active
    type(message_t) :: message
    active%gather%record = active%shot%record
    active%gather%slot = active%shot%slot
    if (active%on_gpu) call LogDevice(worker, active)
    active%gather%device = trim(worker%role%processor)
    if (active%on_gpu) active%gather%device = worker%role%gpu_name
    if (active%gather%nsnap > 0 .and. active%state == MODELLED) then
      active%state = WAIT_SNAPSHOTS
      call SnapsMessage(active%gather, message)
    else
      active%state = IDLE
      worker%unwritten = worker%unwritten + 1
      call LenderSent(worker%lender, active%gather%sealed%memory)
      call GatherMessage(active%gather, message)
    end if
    message%n(12) = worker%role%worker_id
    call WorkerSend(worker, message)
  end subroutine GatherSend

  !> Takes WRITTEN or REFUSED: an answer to snapshots, gather, or the request for a window.
  subroutine VerdictReceive(worker, message)
    type(worker_t), intent(inout) :: worker
    type(message_t), intent(in) :: message
    type(error_t), allocatable :: error
    type(active_shot_t) :: sent
    integer :: kind, record, i
    call VerdictFrom(message, kind, record, sent%shot%slot)
    sent%shot%record = record
    if (message%kind == MSG_REFUSED) then
      if (kind == MSG_MODEL) call Fail(error, 'no model window: '//message%text)
      call Fail(error, 'the I/O server could not write: '//message%text)
    end if
    if (kind == MSG_GATHER) then
      worker%unwritten = worker%unwritten - 1
      call WorkerReturn(worker, record, .true.)
      if (.not. allocated(error)) call CheckpointerDrop(worker%checkpointer, record)
      if (allocated(error)) call ShotReport(worker, sent, error)
      return
    end if
    i = WorkerFind(worker, record, merge(WAIT_MODEL, WAIT_SNAPSHOTS, kind == MSG_MODEL))
    if (i == 0) return
    if (kind == MSG_MODEL) then
      call ModelEnds(worker, worker%active(i), error)
    else if (allocated(error)) then
      call ShotReport(worker, worker%active(i), error)
    else
      call GatherSend(worker, worker%active(i))
    end if
  end subroutine VerdictReceive

  !> Takes DROP: another worker has the shot, or has finished it, and the rest of it is not computed here.
  subroutine DropReceive(worker, record, why)
    type(worker_t), intent(inout) :: worker
    integer, intent(in) :: record
    character(*), intent(in) :: why
    type(error_t), allocatable :: error
    integer :: i
    i = WorkerFind(worker, record, WAIT_MODEL)
    if (i > 0) then
      worker%active(i)%dropped = .true.
      worker%active(i)%why_dropped = trim(why)
    end if
    i = max(WorkerFind(worker, record, HAVE_SHOT), WorkerFind(worker, record, READY), WorkerFind(worker, record, LOOPING))
    if (i == 0) return
    call Fail(error, trim(why))
    call ShotReport(worker, worker%active(i), error)
  end subroutine DropReceive

end module worker_shot_m
