!> The master: deals shots, serves model windows, writes gathers, hears what is done or lost. It computes nothing.
module master_m
  use workers_m, only: WorkersEnded, WorkersByRank, WorkersNew, WorkersOver
  use scheduler_m, only: SchedulerExpect, SchedulerGone, SchedulerNew, SchedulerReady
  use error_m, only: error_t
  use host_c, only: host_seconds
  use keymap_m, only: KeymapShot
  use kinds_m, only: dp
  use message_check_m, only: MessageProblem
  use shot_messages_m, only: VerdictMessage
  use log_m, only: LogInfo, LogWarn
  use lost_workers_m, only: LossesNew
  use master_workers_m, only: MasterBeat, MasterHeard, MasterMiss, MasterTakeProgress
  use master_deal_m, only: MasterAnswerHeld, MasterAnswerOneHeld, MasterDeal, MasterMayAnswer, MasterTellDrops
  use master_type_m, only: desk_t
  use master_output_m, only: MasterNothingLeft, MasterReads, MasterReadSome, MasterRecover
  use master_stop_m, only: MasterCutShort, MasterLetGo, MasterLook
  use master_receive_m, only: MasterServeModel, MasterTakeGather, MasterTakeLost, MasterTakeSnaps
  use output_pause_m, only: PauseKeep, PauseKept
  use survey_m, only: survey_t, SurveyCells
  use protocol_m, only: Answer, link_t, LinkBusy, message_t, MSG_BYE, MSG_DEAD, MSG_GATHER, MSG_LEAVE, MSG_LOST, &
                        MSG_MODEL, MSG_NONE, MSG_NOTE, MSG_PROGRESS, MSG_READY, MSG_SNAPS, Poll, Rest
  use quarantine_m, only: QuarantineNew
  use roles_m, only: role_t
  use shot_m, only: shot_t
  use store_m, only: store_t
  use text_m, only: Str
  use progress_m, only: ProgressNew, ProgressBye, ProgressReady
  use windowqueue_m, only: WindowQueueAdd, WindowQueueNew, WindowQueueNext
  implicit none
  private
  public :: master_t, MasterNew, MasterServe

  !> A desk with ears.
  type, extends(desk_t) :: master_t
  contains
    procedure :: hear
  end type master_t

contains

  !> A master for the first `nworkers` groups of the job. What is done in `store` is not dealt again; nothing is dealt that would
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
    master%survey => survey
    master%store => store
    master%grace = survey%job%grace
    allocate (master%held(0))
    allocate (master%rank(nworkers), source=0)
    call WorkersNew(master%workers, nworkers, max(1, survey%job%group), role%size, survey%job%lease)
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

  !> Listens and answers until every group has said BYE, or is lost.
  subroutine MasterServe(master, link)
    type(master_t), intent(inout) :: master
    type(link_t), intent(inout) :: link
    type(message_t) :: message, reply
    logical :: news
    real(dp) :: nap
    nap = 0
    do while (.not. WorkersOver(master%workers, master%stopping .or. MasterNothingLeft(master)) .or. PauseKept(master%pause) > 0)
      call MasterBeat(master, link)
      if (NextMessage(master, link, message)) then
        nap = 0
        news = .not. any(message%kind == [MSG_PROGRESS, MSG_MODEL, MSG_NOTE])
        reply = message_t()
        call HearChecked(master, message, reply)
        if (reply%kind /= MSG_NONE) call Answer(link, message%from, reply)
        if (MasterMayAnswer(master, news)) call MasterAnswerHeld(master, link)
        call MasterTellDrops(master, link)
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
    do while (Poll(link, message))
      call MasterHeard(master, message%from)
      there = message%kind /= MSG_MODEL .or. WorkersByRank(master%workers, message%from) == 0
      if (there) return
      call WindowQueueAdd(master%windows, WorkersByRank(master%workers, message%from), message)
    end do
    call WindowQueueNext(master%windows, message, there)
  end function NextMessage

  !> A message from another process is looked at before it is believed; one that cannot be is not used. Its shot, where one can be
  !> made out, is refused, so that its worker reports it lost and goes on.
  subroutine HearChecked(master, message, answer)
    class(master_t), intent(inout) :: master
    type(message_t), intent(inout) :: message, answer
    character(:), allocatable :: why
    if (OfTheDead(master, message)) return
    why = MessageProblem(message, master%workers%n, master%survey%keymap%n)
    if (why == '') then
      call master%hear(message, answer)
      return
    end if
    call LogWarn('message '//Str(message%kind)//' of rank '//Str(message%from)//' is not used: '//why// &
                 '; all nodes must run the same build')
    if (all(message%kind /= [MSG_MODEL, MSG_GATHER, MSG_SNAPS])) return
    if (any(message%n(1:2) < 1 .or. message%n(1:2) > huge(1))) return
    call VerdictMessage(message%kind, int(message%n(1)), int(message%n(2)), 'the message did not arrive whole: '//why, answer)
  end subroutine HearChecked

  !> A worker that is dead asks for nothing: of what comes late only shots that are done, or lost, are of use.
  logical function OfTheDead(master, message) result(useless)
    class(master_t), intent(in) :: master
    type(message_t), intent(in) :: message
    integer :: worker
    useless = .false.
    worker = WorkersByRank(master%workers, message%from)
    if (worker > 0) useless = master%workers%dead(worker) .and. &
                              any(message%kind == [MSG_READY, MSG_MODEL, MSG_PROGRESS, MSG_LEAVE])
  end function OfTheDead

  !> One message in, perhaps an answer out.
  subroutine hear(self, message, answer)
    class(master_t), intent(inout) :: self
    type(message_t), intent(inout) :: message, answer
    integer :: rank
    if (self%pause%on .and. any(message%kind == [MSG_GATHER, MSG_SNAPS, MSG_LOST])) then
      call PauseKeep(self%pause, message)
      call MasterLook(self)
      return
    end if
    select case (message%kind)
    case (MSG_READY)
      call ProgressReady(self%progress, int(message%n(1)), message%text)
      call SchedulerReady(self%scheduler, int(message%n(1)), message%n(2) == 1, int(message%n(3)), host_seconds(), &
                       message%x(1))
      self%rank(int(message%n(1))) = message%from
      call MasterDeal(self, message%from, int(message%n(1)), answer)
    case (MSG_MODEL)
      call MasterServeModel(self, message, answer)
    case (MSG_GATHER)
      call MasterTakeGather(self, message, answer)
    case (MSG_SNAPS)
      call MasterTakeSnaps(self, message, answer)
    case (MSG_LOST)
      call MasterTakeLost(self, message)
    case (MSG_PROGRESS)
      if (message%n(2) > 0) call MasterTakeProgress(self, message, answer)
    case (MSG_NOTE)
      if (message%n(1) == 1) call LogInfo(message%text)
      if (message%n(1) /= 1) call LogWarn(message%text)
    case (MSG_LEAVE)
      call MasterLetGo(self, int(message%n(1)), int(message%n(2)), answer)
    case (MSG_NONE)
      if (.not. MasterRecover(self, rank, answer)) then
        call MasterCutShort(self, answer)
        if (answer%kind == MSG_NONE .and. MasterReads(self)) call MasterReadSome(self)
        if (answer%kind == MSG_NONE) call MasterAnswerOneHeld(self, answer)
      end if
    case (MSG_DEAD)
      if (all(self%peers%rank /= message%n(1))) call WorkersEnded(self%workers, int(message%n(1)), int(message%n(2)))
    case (MSG_BYE)
      self%workers%going(int(message%n(1))) = .true.
      self%workers%gone(int(message%n(1))) = .true.
      call SchedulerGone(self%scheduler, int(message%n(1)))
      call ProgressBye(self%progress, int(message%n(1)), message%x(1:3))
    end select
    call MasterLook(self)
  end subroutine hear

  !> Nobody spoke: files, time and those who wait are looked after.
  subroutine Idle(self, link)
    class(master_t), intent(inout) :: self
    type(link_t), intent(inout) :: link
    type(message_t) :: reply
    type(message_t) :: message
    integer :: worker, rank
    call MasterLook(self)
    if (MasterReads(self)) call MasterReadSome(self)
    do while (MasterRecover(self, rank, reply))
      if (reply%kind /= MSG_NONE) call Answer(link, rank, reply)
      reply = message_t()
    end do
    do
      message = message_t()
      call MasterCutShort(self, message, worker)
      if (message%kind == MSG_NONE) exit
      call Answer(link, self%rank(worker), message)
    end do
    call MasterMiss(self, link)
    if (.not. MasterMayAnswer(self, .false.)) return
    call MasterAnswerHeld(self, link)
    call MasterTellDrops(self, link)
  end subroutine Idle

end module master_m
