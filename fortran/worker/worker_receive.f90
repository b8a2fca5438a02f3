!> Messages from the master to a worker, which may be a group of ranks, and the end of a worker.
module worker_receive_m
  use error_m, only: error_t, Fail
  use group_m, only: GroupListen, GroupShare
  use host_c, only: host_seconds, host_signal
  use kinds_m, only: dp
  use lent_memory_m, only: LenderAnswered, TrayFind
  use message_check_m, only: MessageProblem
  use peers_m, only: PeersDead
  use barrier_m, only: barrier_t, BarrierBegin, BarrierOver, Rest
  use protocol_m, only: LinkBusy, message_t, MSG_DROP, MSG_END, MSG_LEAVE, MSG_MEMORY, MSG_MODEL, MSG_NONE, MSG_REFUSED, &
                        MSG_SHOT, MSG_STOP, MSG_WRITTEN, LinkReceive
  use active_shot_m, only: ASKED, CLOSED, IDLE, LOOPING, MODELLED, READY, WAIT_MODEL, active_shot_t, WAIT_SNAPSHOTS
  use text_m, only: Str
  use master_heartbeat_m, only: HeartbeatMasterGone, HeartbeatEnd, HeartbeatHeard, HeartbeatPeers
  use worker_type_m, only: worker_t, WorkerBeat, WorkerMayAskModel, WorkerNote, WorkerSend, WorkerFind
  use worker_failure_m, only: ShotReport
  use worker_shot_m, only: DropReceive, ShotReceive, VerdictReceive
  use worker_window_m, only: ModelEnds, ModelReceive
  use worker_checkpoint_m, only: StateKeepLast
  implicit none
  private
  public :: WorkerReceive, WorkerOpen

  real(dp), parameter :: GRACE = 1.0e-2_dp    !< seconds a turn waits for messages on their way while a GPU computes
  real(dp), parameter :: LATE = 0.25_dp       !< seconds after which a rank of the group is missed

contains

  !> Handles all messages that are here. Waits, asleep, for one when no active shot can go on without, unless `wait` is false.
  subroutine WorkerReceive(worker, wait)
    type(worker_t), intent(inout) :: worker
    logical, intent(in), optional :: wait
    logical :: patient
    type(message_t) :: message
    real(dp) :: start, spent
    logical :: was_computing, shot_awaited
    shot_awaited = worker%unwritten == 0 .and. &
                   .not. any(worker%active%state == WAIT_MODEL .or. worker%active%state == WAIT_SNAPSHOTS)
    was_computing = Computing(worker)
    start = host_seconds()
    patient = .true.
    if (present(wait)) patient = wait
    do while (NextMessage(worker, patient, message))
      call Handle(worker, message)
    end do
    spent = host_seconds() - start
    if (was_computing) then
      worker%compute = worker%compute + spent
    else if (shot_awaited) then
      worker%wait = worker%wait + spent
    else
      worker%io = worker%io + spent
    end if
  end subroutine WorkerReceive

  !> Gets the next message, for all ranks of the group; false if there is none and an active shot can go on without.
  logical function NextMessage(worker, patient, message) result(there)
    type(worker_t), intent(inout) :: worker
    logical, intent(in) :: patient
    type(message_t), intent(out) :: message
    real(dp) :: nap, start
    if (worker%role%group_rank > 0) then
      call TakeOwn(worker)
    else
      nap = 0
      start = host_seconds()
      do while (.not. Fetched(worker, message))
        call LookAround(worker, message)
        if (message%kind /= MSG_NONE .or. .not. patient) exit
        if (Busy(worker)) then
          if (host_seconds() - start > GRACE .or. .not. Computing(worker)) exit
          if (.not. LinkBusy(worker%link)) exit
        end if
        if (LinkBusy(worker%link)) nap = 0
        call Rest(nap)
      end do
      if (.not. worker%master_gone .and. message%kind /= MSG_NONE) call HeartbeatHeard(worker%heartbeat)
    end if
    if (worker%role%group_size > 1) then
      if (.not. worker%master_gone) call AwaitGroup(worker, message)
      if (.not. worker%master_gone) call GroupShare(worker%group, message)
      if (worker%group%broken .and. .not. worker%master_gone) call GroupEnds(worker, worker%group%why_broken, message)
    end if
    there = message%kind /= MSG_NONE
  end function NextMessage

  !> Gets the next message for the worker, if there is one: what was postponed before what comes now. Replies to what the first rank
  !> of a group asked for itself are handled here.
  logical function Fetched(worker, message) result(there)
    type(worker_t), intent(inout) :: worker
    type(message_t), intent(out) :: message
    do
      there = .false.
      if (allocated(worker%group%postponed)) there = size(worker%group%postponed) > 0
      if (there) then
        message = worker%group%postponed(1)
        worker%group%postponed = worker%group%postponed(2:)
      else
        there = LinkReceive(worker%link, message)
      end if
      if (.not. there) return
      if (.not. Own(worker, message)) return
      call HeartbeatHeard(worker%heartbeat)
      call Handle(worker, message)
    end do
  end function Fetched

  !> Handles replies to what this rank has asked for itself, where it is not the first of its group.
  subroutine TakeOwn(worker)
    type(worker_t), intent(inout) :: worker
    type(message_t) :: message
    integer :: i
    call GroupListen(worker%group)
    do i = 1, size(worker%group%postponed)
      message = worker%group%postponed(i)
      if (Own(worker, message)) call Handle(worker, message)
    end do
    deallocate (worker%group%postponed)
  end subroutine TakeOwn

  !> True of a reply to what each rank of a group asks for itself: the media of its piece.
  pure logical function Own(worker, message)
    type(worker_t), intent(in) :: worker
    type(message_t), intent(in) :: message
    Own = worker%role%group_size > 1 .and. (message%kind == MSG_MODEL .or. &
                                            (message%kind == MSG_REFUSED .and. message%n(3) == MSG_MODEL))
  end function Own

  !> No message is here: the worker sends its heartbeat. Where a signal, or the end of the master, asks it to go, `message` is one
  !> that it sends itself.
  subroutine LookAround(worker, message)
    type(worker_t), intent(inout) :: worker
    type(message_t), intent(inout) :: message
    logical :: master_gone
    integer :: signal
    if (associated(worker%link%listener) .or. worker%job_over) return
    call WorkerBeat(worker, master_gone)
    signal = max(int(host_signal()), worker%signal)
    if (master_gone) then
      worker%master_gone = .true.
      call HeartbeatMasterGone(worker%heartbeat, worker%link, message)
    else if (signal /= 0 .and. .not. (worker%signalled .or. worker%said_bye)) then
      message%kind = MSG_LEAVE
      message%n(1:2) = [2, signal]
    end if
  end subroutine LookAround

  !> True where some active shot can go on without a message from the master.
  pure logical function Busy(worker)
    type(worker_t), intent(in) :: worker
    Busy = worker%job_over
    if (worker%said_bye) return
    associate (s => worker%active%state)
      Busy = WorkerMayAskModel(worker) .or. any(s == READY .or. s == LOOPING .or. s == MODELLED) .or. &
             (worker%role%group_size > 1 .and. any(s == WAIT_MODEL)) .or. &
             .not. WorkerOpen(worker) .or. (any(s(:worker%wanted) == IDLE) .and. .not. worker%no_more_shots)
    end associate
  end function Busy

  !> True where some active shot has steps in its queue, or traces to make.
  pure logical function Computing(worker)
    type(worker_t), intent(in) :: worker
    Computing = any(worker%active%state == LOOPING .or. worker%active%state == MODELLED)
  end function Computing

  !> True where the worker has a shot, or may get one.
  pure logical function WorkerOpen(worker)
    type(worker_t), intent(in) :: worker
    logical :: none_wanted
    none_wanted = worker%no_more_shots .or. (worker%wanted == 0 .and. .not. worker%leaving)
    WorkerOpen = .not. (none_wanted .and. worker%unwritten == 0 .and. &
                        all(worker%active%state == IDLE .or. worker%active%state == CLOSED))
    WorkerOpen = WorkerOpen .and. .not. worker%job_over
  end function WorkerOpen

  !> Acts on a message.
  subroutine Handle(worker, message)
    type(worker_t), intent(inout) :: worker
    type(message_t), intent(inout) :: message
    integer :: i
    if (.not. MediaAreHere(worker, message)) return
    if (.not. Usable(worker, message)) return
    i = findloc(worker%active%state, ASKED, 1)
    select case (message%kind)
    case (MSG_SHOT)
      call ShotReceive(worker, worker%active(i), message)
    case (MSG_STOP)
      worker%no_more_shots = .true.
      worker%active(i)%state = CLOSED
    case (MSG_MODEL)
      i = WorkerFind(worker, int(message%n(1)), WAIT_MODEL)
      if (i > 0) call ModelReceive(worker, worker%active(i), message)
    case (MSG_WRITTEN, MSG_REFUSED)
      call VerdictReceive(worker, message)
    case (MSG_MEMORY)
      call LenderAnswered(worker%lender, message)
    case (MSG_DROP)
      if (message%n(3) == 1) call StateKeepLast(worker, int(message%n(1)))
      call DropReceive(worker, int(message%n(1)), merge('the job ends         ', 'another worker has it', message%n(3) >= 1))
    case (MSG_END)
      worker%job_over = .true.
      call HeartbeatEnd(worker%link, message, worker%master_gone .or. worker%role%group_rank > 0, worker%job_end)
    case (MSG_LEAVE)
      if (message%n(1) == 2) call LeaveNow(worker, int(message%n(2)))
      if (message%n(1) == 2) return
      worker%leaving = .false.
      if (message%n(1) == 1) return
      worker%wanted = 1
      call WorkerNote(worker, 'no other worker is left: worker '//Str(worker%role%worker_id)// &
                      ' stays and computes on CPU cores')
    end select
  end subroutine Handle

  !> False of a MODEL whose media lie in a tray that is gone: it answers a request of an earlier shot.
  logical function MediaAreHere(worker, message) result(here)
    type(worker_t), intent(inout) :: worker
    type(message_t), intent(inout) :: message
    integer :: i, t
    here = message%kind /= MSG_MODEL .or. message%n(10) == 0
    if (here .or. abs(message%n(1)) > huge(1)) return
    i = WorkerFind(worker, int(message%n(1)), WAIT_MODEL)
    if (i == 0) return
    do t = 1, size(worker%active(i)%tray)
      if (.not. here) here = TrayFind(worker%active(i)%tray(t), message)
    end do
  end function MediaAreHere

  !> True where a message is what its kind says, and was asked for. If not, its shot is reported lost.
  logical function Usable(worker, message)
    type(worker_t), intent(inout) :: worker
    type(message_t), intent(in) :: message
    type(error_t), allocatable :: error
    type(active_shot_t) :: refused
    character(:), allocatable :: why
    integer :: i
    why = MessageProblem(message)
    if (any(message%kind == [MSG_SHOT, MSG_STOP]) .and. .not. any(worker%active%state == ASKED)) why = 'nobody asked for it'
    Usable = why == ''
    if (Usable) return
    why = 'message '//Str(message%kind)//' of the master is not used: '//why
    if (.not. message%lost) why = why//'; all nodes must run the same build'
    i = 0
    if (message%kind == MSG_SHOT) i = findloc(worker%active%state, ASKED, 1)
    if (message%kind == MSG_MODEL .and. abs(message%n(1)) <= huge(1)) i = WorkerFind(worker, int(message%n(1)), WAIT_MODEL)
    call Fail(error, why)
    if (message%kind == MSG_SHOT .and. all(message%n(1:2) >= 1 .and. message%n(1:2) <= huge(1))) then
      refused%shot%record = int(message%n(1))
      refused%shot%slot = int(message%n(2))
      call ShotReport(worker, refused, error)
      if (i > 0) worker%active(i)%state = IDLE
    else if (i > 0 .and. message%kind == MSG_MODEL) then
      call ModelEnds(worker, worker%active(i), error)
    else
      call WorkerNote(worker, 'worker '//Str(worker%role%worker_id)//': '//why)
    end if
  end function Usable

  !> This rank got a signal to end: it finishes its shots, asks for no more, and goes, even where it is the last.
  subroutine LeaveNow(worker, signal)
    type(worker_t), intent(inout) :: worker
    integer, intent(in) :: signal
    type(message_t) :: message
    worker%signalled = .true.
    worker%wanted = 0
    worker%leaving = .true.
    message%kind = MSG_LEAVE
    message%n(1:2) = [worker%role%worker_id, signal]
    call WorkerSend(worker, message)
  end subroutine LeaveNow

  !> Waits for the other ranks of the group. One that is lost or dead ends the group, which cannot go on without it.
  subroutine AwaitGroup(worker, message)
    type(worker_t), intent(inout) :: worker
    type(message_t), intent(inout) :: message
    type(barrier_t) :: all_here
    character(:), allocatable :: why
    real(dp) :: start, nap
    if (worker%role%group_rank > 0) call HeartbeatPeers(worker%heartbeat, worker%link)
    call BarrierBegin(worker%role%group, all_here)
    start = host_seconds()
    nap = 0
    do while (.not. BarrierOver(all_here))
      if (LinkBusy(worker%link)) nap = 0
      call Rest(nap)
      if (host_seconds() - start < LATE) cycle
      call GroupListen(worker%group)
      call Missing(worker, start, why)
      if (worker%group%end%kind == MSG_END .or. why /= '') call GroupEnds(worker, why, message)
      if (worker%master_gone) exit
    end do
  end subroutine AwaitGroup

  !> Makes the END of a rank whose group is lost, for the reason `why`; where the master has told that, it is the master's.
  subroutine GroupEnds(worker, why, message)
    type(worker_t), intent(inout) :: worker
    character(*), intent(in) :: why
    type(message_t), intent(inout) :: message
    if (worker%group%end%kind == MSG_END) then
      message = worker%group%end
    else
      call HeartbeatMasterGone(worker%heartbeat, worker%link, message, why)
    end if
    worker%master_gone = .true.
  end subroutine GroupEnds

  !> The reason why the group waits in vain, '' if there is none: one of its ranks, or rank 0, is dead, or a rank is silent.
  subroutine Missing(worker, start, why)
    type(worker_t), intent(inout) :: worker
    real(dp), intent(in) :: start             !< waiting since [s]
    character(:), allocatable, intent(out) :: why
    integer :: rank
    call HeartbeatPeers(worker%heartbeat, worker%link)
    associate (v => worker%heartbeat, role => worker%role)
      v%master_dead = PeersDead(v%peers, [0]) == 0
      rank = PeersDead(v%peers, role%ranks)
      why = ''
      if (v%master_dead) then
        why = 'rank 0 is dead'
      else if (rank >= 0) then
        why = 'rank '//Str(rank)//', which worker '//Str(role%worker_id)//' needs, is dead'
      else if (worker%group%broken) then
        why = worker%group%why_broken
      else if (host_seconds() - start > v%master%seconds) then
        why = 'another rank of worker '//Str(role%worker_id)//' was not heard of for '//Str(v%master%seconds)//' s'
      end if
    end associate
  end subroutine Missing

end module worker_receive_m
