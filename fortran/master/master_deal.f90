!> Deals shots: a worker that asks for one gets a shot, STOP, or waits for its reply.
module master_deal_m
  use scheduler_m, only: SchedulerDrop, SchedulerNext
  use error_m, only: error_t
  use host_c, only: host_seconds
  use kinds_m, only: dp
  use shot_messages_m, only: ShotMessage
  use log_m, only: LogKeep
  use master_workers_m, only: MasterQuarantine
  use master_type_m, only: master_t
  use master_output_m, only: MasterNothingLeft, MasterOutputFails
  use master_stop_m, only: MasterCheckDeadline
  use survey_m, only: SurveyDealt, SurveySnapshots, SurveyWindow
  use protocol_m, only: LinkReply, link_t, message_t, MSG_DROP, MSG_NONE, MSG_STOP
  use shot_m, only: shot_t
  use store_m, only: StoreDeal
  use text_m, only: Str
  use progress_m, only: ProgressDeal
  use window_m, only: window_t
  implicit none
  private
  public :: MasterDeal, MasterReplyWaiting, MasterReplyFirst, MasterMayReply, MasterSendDrops

  real(dp), parameter :: AGAIN = 0.1_dp       !< seconds after which workers that wait are dealt to without news
  real(dp), parameter :: PART = 9             !< other messages get so many times the time that dealing to waiting workers takes

contains

  !> Replies SHOT if there is one that this worker should take, STOP if all are finished; nothing while others still work on shots
  !> that may be lost, or finish what is left sooner.
  subroutine MasterDeal(self, rank, worker, reply)
    class(master_t), intent(inout) :: self
    integer, intent(in) :: rank, worker
    type(message_t), intent(inout) :: reply
    type(shot_t) :: shot
    type(window_t) :: window
    type(error_t), allocatable :: error
    integer :: slot, from
    slot = 0
    call MasterQuarantine(self, worker)
    if (.not. (self%stopping .or. self%pause%on .or. self%unread%on .or. self%workers%going(worker))) &
      call SchedulerNext(self%scheduler, worker, host_seconds(), slot, from)
    if (slot == 0) call MasterCheckDeadline(self)
    if (slot > 0) then
      call SurveyDealt(self%survey, slot, shot)
      call SurveyWindow(self%survey, shot, .false., window, error)
      if (allocated(error)) deallocate (error)      ! the worker gets it when it asks for the window
      call ShotMessage(shot, window, SurveySnapshots(self%survey, shot%record), reply)
      call StoreDeal(self%store, slot, self%scheduler%attempts(slot) + 1, worker, self%progress%host(worker), error)
      if (allocated(error)) call MasterOutputFails(self, error)
      call ProgressDeal(self%progress, worker, shot%record)
      if (from > 0) call LogKeep('shot '//Str(shot%record)//' goes from worker '//Str(from)//' to worker '//Str(worker)// &
                                 ', which finishes it sooner')
    else if (self%stopping .or. self%workers%going(worker) .or. MasterNothingLeft(self)) then
      reply%kind = MSG_STOP
      self%workers%going(worker) = .true.
    else
      self%waiting = [self%waiting, rank, worker]
    end if
  end subroutine MasterDeal

  !> Deals to the workers that wait: a shot came back, or all are done, or a worker turned out slow.
  subroutine MasterReplyWaiting(self, link)
    class(master_t), intent(inout) :: self
    type(link_t), intent(inout) :: link
    type(message_t) :: reply
    integer, allocatable :: waiting(:)
    integer :: i
    real(dp) :: start
    start = host_seconds()
    call move_alloc(self%waiting, waiting)
    allocate (self%waiting(0))
    do i = 1, size(waiting), 2
      reply = message_t()
      call MasterDeal(self, waiting(i), waiting(i + 1), reply)
      if (reply%kind /= MSG_NONE) call LinkReply(link, waiting(i), reply)
    end do
    self%dealt_at = host_seconds()
    self%deal_time = self%dealt_at - start
  end subroutine MasterReplyWaiting

  !> True when it is time to deal to those that wait: at once where there is `news`, else now and then; with hundreds of workers
  !> dealing never takes more than a part of the time.
  logical function MasterMayReply(self, news) result(may)
    class(master_t), intent(in) :: self
    logical, intent(in) :: news
    real(dp) :: wait
    may = .false.
    if (size(self%waiting) == 0) return
    wait = PART*self%deal_time
    if (.not. (news .or. self%stopping)) wait = max(wait, AGAIN)
    may = host_seconds() - self%dealt_at >= wait
  end function MasterMayReply

  !> Deals in a single process to the active shot that has waited longest.
  subroutine MasterReplyFirst(self, reply)
    class(master_t), intent(inout) :: self
    type(message_t), intent(inout) :: reply
    integer :: first(2)
    if (size(self%waiting) == 0) return
    first = self%waiting(:2)
    self%waiting = self%waiting(3:)
    call MasterDeal(self, first(1), first(2), reply)
  end subroutine MasterReplyFirst

  !> Sends DROP to workers whose shot another one has taken over, or done.
  subroutine MasterSendDrops(self, link)
    class(master_t), intent(inout) :: self
    type(link_t), intent(inout) :: link
    type(message_t) :: message
    integer :: worker, slot
    do while (SchedulerDrop(self%scheduler, worker, slot))
      message = message_t(kind=MSG_DROP)
      message%n(1:2) = [self%survey%keymap%record(slot), slot]
      call LinkReply(link, self%rank(worker), message)
    end do
  end subroutine MasterSendDrops

end module master_deal_m
