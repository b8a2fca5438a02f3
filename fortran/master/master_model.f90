!> Windows of the model, out of the master; and what happens while a model on disk cannot be read (a file server that is away, a
!> folder that was renamed): requests wait for it, as gathers wait for the disk of the output (master_output.f90).
module master_model_m
  use error_m, only: error_t, Fail
  use host_c, only: host_seconds
  use iso_c_binding, only: c_ptr
  use keymap_m, only: KeymapShot
  use kinds_m, only: dp, i8
  use lent_memory_m, only: TrayClose, TrayOpen
  use log_m, only: LogError, LogInfo
  use lost_workers_m, only: LossesGiveUp
  use master_output_m, only: MasterOutputFails
  use master_type_m, only: master_t, MasterStops
  use output_pause_m, only: PauseBegin, PauseDue, PauseEnd, PauseKeep, PauseTake
  use protocol_m, only: message_t, MSG_MODEL
  use runnote_m, only: cause_disk
  use scheduler_m, only: SchedulerDealt
  use shot_m, only: shot_t
  use shot_messages_m, only: MediaMessage, ModelFrom, VerdictMessage, WindowMessage
  use survey_m, only: SurveyMedia, SurveyWindow
  use text_m, only: Str
  use window_m, only: box_t, window_t, WindowClip
  use workers_m, only: WorkersByRank
  implicit none
  private
  public :: MasterSendModel, MasterModelAgain

contains

  !> Replies to MODEL with the media of a box of a shot's window; where a model on disk cannot be read now, the request waits.
  subroutine MasterSendModel(self, message, reply)
    class(master_t), intent(inout) :: self
    type(message_t), intent(inout) :: message, reply
    type(shot_t) :: shot
    type(window_t) :: window
    type(box_t) :: box
    type(error_t), allocatable :: error
    integer :: record, slot
    call ModelFrom(message, record, slot, box)
    call KeymapShot(self%survey%keymap, slot, shot)
    call SurveyWindow(self%survey, shot, .false., window, error)
    box = WindowClip(window, box)
    if (any(box%low > box%high)) call Fail(error, 'the cells that were asked for lie outside the window')
    if (.not. allocated(error) .and. window%parts > 0) then
      call SendMedia(self, message, shot, window, box, reply, error)
    else if (.not. allocated(error)) then
      call SurveyWindow(self%survey, shot, .true., window, error, box)
      if (.not. allocated(error)) call WindowMessage(record, window, reply)
    end if
    if (.not. allocated(error)) then
      self%unread%on = .false.
    else if (error%absent) then
      call Wait(self, message, error%message)
    else
      call VerdictMessage(MSG_MODEL, record, slot, error%message, reply)
    end if
  end subroutine MasterSendModel

  !> The dealing pauses, and a request is kept until the files are back.
  subroutine Wait(self, message, why)
    class(master_t), intent(inout) :: self
    type(message_t), intent(inout) :: message
    character(*), intent(in) :: why
    real(dp) :: left
    logical :: news
    call PauseBegin(self%unread, why, news)
    call PauseKeep(self%unread, message)
    left = TimeLeft(self)
    if (news .and. left > 0) call LogError(why//'; it was read when the job began: dealing pauses until it can be read again, '// &
                                           'for '//Str(left, 3)//' s at most; shots in flight go on')
  end subroutine Wait

  !> The time for which a model that cannot be read is waited for [s]: disk_wait, and where the job is to end no longer than shots
  !> in flight.
  real(dp) function TimeLeft(self) result(left)
    class(master_t), intent(in) :: self
    real(dp) :: now
    now = host_seconds()
    left = self%survey%job%disk_wait - (now - self%unread%since)
    if (self%stopped >= 0) left = min(left, self%stopped + self%grace - now)
    if (self%stopping) left = min(left, self%scheduler%deadline - now)
    if (self%workers%grace_ended .or. self%unread%given_up) left = 0
  end function TimeLeft

  !> While requests wait for the model, tries one now and then, and all once that succeeds. True if there was one: its `reply`, if
  !> any, is for `rank`. After disk_wait no more shots are dealt, and those that wait are given up: the next run models them.
  logical function MasterModelAgain(self, rank, reply) result(took)
    class(master_t), intent(inout) :: self
    integer, intent(out) :: rank
    type(message_t), intent(inout) :: reply
    type(message_t) :: message
    real(dp) :: left, seconds
    logical :: over, tells
    took = .false.
    rank = 0
    if (.not. self%unread%reported) return
    left = TimeLeft(self)
    over = self%unread%on .and. left <= 0
    if (self%unread%on .and. .not. over) then
      if (.not. PauseDue(self%unread, self%stopping)) return
    end if
    took = PauseTake(self%unread, message)
    if (.not. took) then
      tells = .not. self%unread%on                  ! else who waited is lost: the next request will see
      seconds = PauseEnd(self%unread)
      if (tells) call LogInfo('the model can be read again after '//Str(seconds, 3)//' s'// &
                              trim(merge('                 ', ': dealing goes on', self%stopping)))
      return
    end if
    rank = message%from
    if (any(self%workers%dead .and. self%workers%speaker == rank)) return
    if (over) then
      call GiveUp(self, message, reply)
    else
      call MasterSendModel(self, message, reply)
    end if
  end function MasterModelAgain

  !> The shot of a request is not waited for any more, and no shot is to blame.
  subroutine GiveUp(self, message, reply)
    class(master_t), intent(inout) :: self
    type(message_t), intent(in) :: message
    type(message_t), intent(inout) :: reply
    type(error_t), allocatable :: error
    type(box_t) :: box
    integer :: record, slot, worker
    if (.not. self%unread%given_up) call LogError(self%unread%why//'; no more shots are dealt, run again to resume')
    self%unread%given_up = .true.
    call MasterStops(self, cause_disk, self%unread%why)
    call ModelFrom(message, record, slot, box)
    worker = WorkersByRank(self%workers, message%from)
    if (worker == 0) worker = 1                     ! one process alone
    if (SchedulerDealt(self%scheduler, worker, slot)) &
      call LossesGiveUp(self%scheduler, self%store, self%progress, worker, slot, 'the model cannot be read', host_seconds(), error)
    if (allocated(error)) call MasterOutputFails(self, error)
    call VerdictMessage(MSG_MODEL, record, slot, self%unread%why, reply)
  end subroutine GiveUp

  !> Media are made where they are to be: in the memory of the rank that asks for them, or in the reply.
  subroutine SendMedia(self, message, shot, window, box, reply, error)
    class(master_t), intent(in) :: self
    type(message_t), intent(in) :: message
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    type(box_t), intent(in) :: box
    type(message_t), intent(inout) :: reply
    type(error_t), allocatable, intent(inout) :: error
    type(c_ptr) :: tray
    integer(i8) :: samples
    integer :: rc
    samples = product(int([box%high - box%low + 1, window%parts], i8))
    call TrayOpen(message, samples, tray, reply%lent)
    if (associated(reply%lent)) then
      call SurveyMedia(self%survey, shot, window, box, reply%lent, error)
      if (.not. allocated(error)) call MediaMessage(shot%record, box, window%parts, int(message%n(6)), reply)
      nullify (reply%lent)
      call TrayClose(message, tray)
      return
    end if
    allocate (reply%fields(samples), stat=rc)
    if (rc /= 0) call Fail(error, 'out of memory for '//Str(4.0e-9_dp*real(samples, dp), 3)//' GB of a window')
    if (.not. allocated(error)) call SurveyMedia(self%survey, shot, window, box, reply%fields, error)
    if (.not. allocated(error)) call MediaMessage(shot%record, box, window%parts, 0, reply)
  end subroutine SendMedia

end module master_model_m
