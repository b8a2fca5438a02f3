!> Who asks for a shot gets one, is told to stop, or waits.
module master_deal_m
  use scheduler_m, only: SchedulerDrop, SchedulerNext
  use error_m, only: error_t
  use host_c, only: host_seconds
  use keymap_m, only: KeymapShot
  use kinds_m, only: dp
  use shot_messages_m, only: ShotMessage
  use log_m, only: LogKeep
  use master_workers_m, only: MasterJudge
  use master_type_m, only: desk_t
  use master_output_m, only: MasterNothingLeft, MasterTrouble
  use master_stop_m, only: MasterLookAtClock
  use survey_m, only: SurveySnapshots
  use protocol_m, only: Answer, link_t, message_t, MSG_DROP, MSG_NONE, MSG_STOP
  use shot_m, only: shot_t
  use store_m, only: StoreDeal
  use text_m, only: Str
  use progress_m, only: ProgressDeal
  implicit none
  private
  public :: MasterDeal, MasterAnswerHeld, MasterAnswerOneHeld, MasterMayAnswer, MasterTellDrops

  real(dp), parameter :: AGAIN = 0.1_dp       !< seconds after which workers that wait are thought of without news
  real(dp), parameter :: PART = 9             !< so many times as long as that takes is for other things

contains

  !> SHOT if there is one that this worker should take, STOP if all are finished; nothing while others still work on what may come
  !> back, or finish it sooner.
  subroutine MasterDeal(self, rank, worker, answer)
    class(desk_t), intent(inout) :: self
    integer, intent(in) :: rank, worker
    type(message_t), intent(inout) :: answer
    type(shot_t) :: shot
    type(error_t), allocatable :: error
    integer :: slot, from
    slot = 0
    call MasterJudge(self, worker)
    if (.not. (self%stopping .or. self%pause%on .or. self%workers%going(worker))) &
      call SchedulerNext(self%scheduler, worker, host_seconds(), slot, from)
    if (slot == 0) call MasterLookAtClock(self)
    if (slot > 0) then
      call KeymapShot(self%survey%keymap, slot, shot)
      call ShotMessage(shot, SurveySnapshots(self%survey, shot%record), answer)
      call StoreDeal(self%store, slot, self%scheduler%attempts(slot) + 1, worker, self%progress%host(worker), error)
      if (allocated(error)) call MasterTrouble(self, error)
      call ProgressDeal(self%progress, worker, shot%record)
      if (from > 0) call LogKeep('shot '//Str(shot%record)//' goes from worker '//Str(from)//' to worker '//Str(worker)// &
                                 ', which finishes it sooner')
    else if (self%stopping .or. self%workers%going(worker) .or. MasterNothingLeft(self)) then
      answer%kind = MSG_STOP
      self%workers%going(worker) = .true.
    else
      self%held = [self%held, rank, worker]
    end if
  end subroutine MasterDeal

  !> A shot came back, or all are done, or a worker turned out slow: those who waited get their answer.
  subroutine MasterAnswerHeld(self, link)
    class(desk_t), intent(inout) :: self
    type(link_t), intent(inout) :: link
    type(message_t) :: reply
    integer, allocatable :: held(:)
    integer :: i
    real(dp) :: start
    start = host_seconds()
    call move_alloc(self%held, held)
    allocate (self%held(0))
    do i = 1, size(held), 2
      reply = message_t()
      call MasterDeal(self, held(i), held(i + 1), reply)
      if (reply%kind /= MSG_NONE) call Answer(link, held(i), reply)
    end do
    self%thought = host_seconds()
    self%took = self%thought - start
  end subroutine MasterAnswerHeld

  !> Whether those who wait are to be thought of again: at once where there is `news` for them, else now and then; of hundreds of
  !> workers never for more than a part of the time.
  logical function MasterMayAnswer(self, news) result(may)
    class(desk_t), intent(in) :: self
    logical, intent(in) :: news
    real(dp) :: wait
    may = .false.
    if (size(self%held) == 0) return
    wait = PART*self%took
    if (.not. (news .or. self%stopping)) wait = max(wait, AGAIN)
    may = host_seconds() - self%thought >= wait
  end function MasterMayAnswer

  !> The same for the listener of a single process: the one that waited longest.
  subroutine MasterAnswerOneHeld(self, answer)
    class(desk_t), intent(inout) :: self
    type(message_t), intent(inout) :: answer
    integer :: first(2)
    if (size(self%held) == 0) return
    first = self%held(:2)
    self%held = self%held(3:)
    call MasterDeal(self, first(1), first(2), answer)
  end subroutine MasterAnswerOneHeld

  !> Workers whose shot another one has taken over, or done, hear of it.
  subroutine MasterTellDrops(self, link)
    class(desk_t), intent(inout) :: self
    type(link_t), intent(inout) :: link
    type(message_t) :: message
    integer :: worker, slot
    do while (SchedulerDrop(self%scheduler, worker, slot))
      message = message_t(kind=MSG_DROP)
      message%n(1:2) = [self%survey%keymap%record(slot), slot]
      call Answer(link, self%rank(worker), message)
    end do
  end subroutine MasterTellDrops

end module master_deal_m
