!> The master: deals shots, sends windows of the model, writes gathers, keeps account of what is done or lost. It computes nothing.
module master_m
  use workers_m, only: WorkersByRank, WorkersNew, WorkersOver
  use scheduler_m, only: SchedulerExpect, SchedulerNew
  use error_m, only: error_t
  use keymap_m, only: KeymapShot
  use kinds_m, only: dp
  use message_check_m, only: MessageProblem
  use shot_messages_m, only: VerdictMessage
  use lent_memory_m, only: BorrowerFind, BorrowerForget
  use log_m, only: LogWarn
  use lost_workers_m, only: LossesNew
  use master_workers_m, only: MasterBeat, MasterFindLost, MasterHeard
  use master_deal_m, only: MasterMayReply, MasterReplyWaiting, MasterSendDrops
  use master_type_m, only: master_t
  use master_model_m, only: MasterModelAgain
  use master_output_m, only: MasterCommit, MasterNothingLeft, MasterReads, MasterReadSome, MasterRecover, MasterVerdict
  use master_stop_m, only: MasterCheckHalt, MasterCheckSignals, MasterEndGrace
  use output_pause_m, only: PauseKept
  use survey_m, only: survey_t, SurveyCells
  use barrier_m, only: Rest
  use protocol_m, only: link_t, LinkBusy, LinkReceive, LinkReply, message_t, MSG_GATHER, MSG_LEAVE, MSG_MEMORY, MSG_MODEL, &
                        MSG_NONE, MSG_NOTE, MSG_PROGRESS, MSG_READY, MSG_SNAPS
  use quarantine_m, only: QuarantineNew
  use roles_m, only: role_t
  use shot_m, only: shot_t
  use store_m, only: store_t
  use text_m, only: Str
  use progress_m, only: ProgressNew
  use windowqueue_m, only: WindowQueueAdd, WindowQueueNew, WindowQueueNext
  implicit none
  private
  public :: master_t, MasterNew, MasterServe

contains

  !> A master for the first `nworkers` groups of the job. Shots done in `store` are not dealt again; nothing is dealt that would
  !> not be done at `deadline` [s, of host_seconds].
  subroutine MasterNew(master, survey, store, role, nworkers, deadline, quiet)
    type(master_t), intent(inout) :: master
    type(survey_t), target, intent(in) :: survey
    type(store_t), target, intent(in) :: store
    type(role_t), intent(in) :: role
    integer, intent(in) :: nworkers
    real(dp), intent(in) :: deadline
    logical, intent(in) :: quiet                !< no progress and no summary
    integer :: w
    master%peers = role%peers
    if (allocated(role%hosts)) master%hosts = role%hosts
    master%survey => survey
    master%store => store
    master%grace = survey%job%grace
    allocate (master%waiting(0))
    allocate (master%rank(nworkers), source=0)
    call WorkersNew(master%workers, merge(role%groups%worker, 0, role%groups%worker <= nworkers), survey%job%lease)
    call WindowQueueNew(master%windows, nworkers)
    call LossesNew(master%losses)
    call QuarantineNew(master%quarantine, survey%job%quarantine)
    call SchedulerNew(master%scheduler, store%done, Costs(survey), survey%job%retries, nworkers, &
                   store%journal%entry(:size(store%done))%deals > 0)
    do w = 1, nworkers
      call SchedulerExpect(master%scheduler, w, role%gpus(w), role%threads(w))
    end do
    master%scheduler%deadline = deadline
    call ProgressNew(master%progress, nworkers, survey%keymap%n, count(store%done), survey%job%progress, quiet)
  end subroutine MasterNew

  !> Cell updates of each shot.
  function Costs(survey) result(cost)
    type(survey_t), intent(in) :: survey
    real(dp) :: cost(survey%keymap%n)
    type(shot_t) :: shot
    type(error_t), allocatable :: error
    integer :: i
    do i = 1, survey%keymap%n
      call KeymapShot(survey%keymap, i, shot)
      cost(i) = SurveyCells(survey, shot, error)*max(1, survey%scheme%nt)
      if (allocated(error)) deallocate (error)      ! the shot is checked before; were it not, its worker would report it
    end do
  end function Costs

  !> Receives messages and replies until every group has sent BYE, or is lost.
  subroutine MasterServe(master, link)
    type(master_t), intent(inout) :: master
    type(link_t), intent(inout) :: link
    type(message_t) :: message, reply
    logical :: news, told
    real(dp) :: nap
    nap = 0
    do while (.not. WorkersOver(master%workers, master%stopping .or. MasterNothingLeft(master)) .or. PauseKept(master%pause) > 0 &
              .or. master%commits%n > 0)
      call MasterCheckHalt(master)
      call MasterBeat(master, link)
      call Commit(master, link)
      if (NextMessage(master, link, message)) then
        told = any(message%kind == [MSG_PROGRESS, MSG_MEMORY, MSG_NOTE])     ! which nothing follows soon
        if (.not. told) nap = 0
        news = .not. (told .or. message%kind == MSG_MODEL)
        reply = message_t()
        call HandleChecked(master, message, reply)
        if (reply%kind /= MSG_NONE) call LinkReply(link, message%from, reply)
        if (MasterMayReply(master, news)) call MasterReplyWaiting(master, link)
        call MasterSendDrops(master, link)
      else
        if (LinkBusy(link) .or. MasterReads(master)) nap = 0
        call Rest(nap)
        call Idle(master, link)
      end if
    end do
  end subroutine MasterServe

  !> The next message to act on. Those that ask for windows wait until there is no other one: a worker without windows soon says
  !> nothing else.
  logical function NextMessage(master, link, message) result(there)
    type(master_t), intent(inout) :: master
    type(link_t), intent(inout) :: link
    type(message_t), intent(inout) :: message
    do while (LinkReceive(link, message))
      call MasterHeard(master, message%from)
      there = message%kind /= MSG_MODEL .or. WorkersByRank(master%workers, message%from) == 0
      if (there) return
      call WindowQueueAdd(master%windows, WorkersByRank(master%workers, message%from), message)
    end do
    call WindowQueueNext(master%windows, message, there)
  end function NextMessage

  !> A message from another process is checked before it is used. The shot of one that cannot be right is refused, where it names
  !> one, so that its worker reports it lost and goes on.
  subroutine HandleChecked(master, message, reply)
    class(master_t), intent(inout) :: master
    type(message_t), intent(inout) :: message, reply
    character(:), allocatable :: why, advice
    if (FromDead(master, message)) return
    if (message%kind == MSG_GATHER) call BorrowerFind(master%borrower, message)
    why = MessageProblem(message, master%workers%n, master%survey%keymap%n)
    if (why == '') then
      call master%handle(message, reply)
      return
    end if
    advice = ''
    if (.not. message%lost) advice = '; all nodes must run the same build'
    call LogWarn('message '//Str(message%kind)//' of rank '//Str(message%from)//' is not used: '//why//advice)
    if (all(message%kind /= [MSG_MODEL, MSG_GATHER, MSG_SNAPS])) return
    if (any(message%n(1:2) < 1 .or. message%n(1:2) > huge(1))) return
    call VerdictMessage(message%kind, int(message%n(1)), int(message%n(2)), 'the message did not arrive whole: '//why, reply)
  end subroutine HandleChecked

  !> True of requests and progress of a dead worker: of its late messages only shots that are done, or lost, are of use.
  logical function FromDead(master, message) result(useless)
    class(master_t), intent(in) :: master
    type(message_t), intent(in) :: message
    integer :: worker
    useless = .false.
    worker = WorkersByRank(master%workers, message%from)
    if (worker > 0) useless = master%workers%dead(worker) .and. &
                              any(message%kind == [MSG_READY, MSG_MODEL, MSG_PROGRESS, MSG_LEAVE])
  end function FromDead

  !> Commits what is written when it is time for that, and tells the workers.
  subroutine Commit(self, link)
    class(master_t), intent(inout) :: self
    type(link_t), intent(inout) :: link
    type(message_t) :: reply
    integer :: rank
    call MasterCommit(self)
    do
      reply = message_t()
      if (.not. MasterVerdict(self, rank, reply)) exit
      call LinkReply(link, rank, reply)
    end do
  end subroutine Commit

  !> No message is here: looks after files, the time of grace, silent workers, and those that wait for a shot.
  subroutine Idle(self, link)
    class(master_t), intent(inout) :: self
    type(link_t), intent(inout) :: link
    type(message_t) :: reply
    type(message_t) :: message
    integer :: worker, rank
    call MasterCheckSignals(self)
    if (MasterReads(self)) call MasterReadSome(self)
    do while (MasterRecover(self, rank, reply))
      if (reply%kind /= MSG_NONE) call LinkReply(link, rank, reply)
      reply = message_t()
    end do
    do while (MasterModelAgain(self, rank, reply))
      if (reply%kind /= MSG_NONE) call LinkReply(link, rank, reply)
      reply = message_t()
    end do
    do
      message = message_t()
      call MasterEndGrace(self, message, worker)
      if (message%kind == MSG_NONE) exit
      call LinkReply(link, self%rank(worker), message)
    end do
    call MasterFindLost(self, link)
    associate (w => self%workers)                   ! whose traces are all written send no more
      if (self%commits%n == 0 .and. PauseKept(self%pause) == 0) &
        call BorrowerForget(self%borrower, pack(w%speaker, w%dead .or. w%gone))
    end associate
    if (.not. MasterMayReply(self, .false.)) return
    call MasterReplyWaiting(self, link)
    call MasterSendDrops(self, link)
  end subroutine Idle

end module master_m
