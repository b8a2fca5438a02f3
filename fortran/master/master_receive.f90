!> What workers ask for and bring: model windows out, gathers and snapshots in, shots that are lost.
module master_receive_m
  use scheduler_m, only: SchedulerDone, SchedulerFlies, SchedulerLost, SchedulerParked
  use error_m, only: error_t
  use gather_m, only: gather_t
  use host_c, only: host_seconds
  use keymap_m, only: KeymapShot
  use lease_m, only: LeaseShotDone
  use shot_messages_m, only: GatherFrom, GatherMessage, ModelFrom, SnapsFrom, VerdictMessage, WindowMessage
  use log_m, only: LogError, LogInfo, LogWarn
  use master_type_m, only: desk_t
  use master_output_m, only: MasterLastTry, MasterTrouble
  use output_pause_m, only: PauseKeep
  use survey_m, only: SurveyHeader, SurveyShape, SurveyWindow
  use protocol_m, only: Answer, message_t, MSG_GATHER, MSG_MODEL, MSG_SNAPS
  use quarantine_m, only: QuarantineDone, QuarantineLost
  use shot_m, only: shot_t
  use snapshots_m, only: FioSnapshotPath, FioSnapshots
  use store_m, only: StoreDone, StoreLost
  use gather_header_m, only: gather_header_t
  use text_m, only: Str
  use progress_m, only: ProgressDone, ProgressLost
  use window_m, only: window_t
  implicit none
  private
  public :: MasterServeModel, MasterTakeGather, MasterTakeSnaps, MasterTakeLost

contains

  !> The window of a shot, or "the same" where the worker holds it already.
  subroutine MasterServeModel(self, message, answer)
    class(desk_t), intent(inout) :: self
    type(message_t), intent(in) :: message
    type(message_t), intent(inout) :: answer
    type(shot_t) :: shot
    type(window_t) :: window, held
    type(error_t), allocatable :: error
    integer :: record, slot
    logical :: same
    call ModelFrom(message, record, slot, held)
    call KeymapShot(self%survey%keymap, slot, shot)
    associate (p => self%survey)
      call SurveyShape(p, shot, window, error)
      same = window%nx == held%nx .and. window%nz == held%nz .and. window%x0 == held%x0 .and. window%z0 == held%z0 .and. &
             window%ny == held%ny .and. window%y0 == held%y0
      if (.not. (same .or. allocated(error))) call SurveyWindow(p, shot, window, error)
    end associate
    if (allocated(error)) then
      call VerdictMessage(MSG_MODEL, record, slot, error%message, answer)
    else
      call WindowMessage(record, window, answer)
    end if
  end subroutine MasterServeModel

  !> A shot is done when its traces are on disk and the journal says so.
  subroutine MasterTakeGather(self, message, answer)
    class(desk_t), intent(inout) :: self
    type(message_t), intent(inout) :: message, answer
    type(gather_t) :: gather
    type(shot_t) :: shot
    type(error_t), allocatable :: error
    integer :: worker
    logical :: parked, dropped
    worker = int(message%n(12))
    call GatherFrom(message, gather, error)
    if (allocated(error)) then
      call VerdictMessage(MSG_GATHER, gather%record, gather%slot, error%message, answer)
      return
    end if
    if (self%scheduler%finished(gather%slot) .and. .not. SchedulerParked(self%scheduler, gather%slot)) then
      call SchedulerDone(self%scheduler, worker, gather%slot, host_seconds())
      call LogInfo('shot '//Str(gather%record)//': worker '//Str(worker)//' on '//self%progress%host(worker)// &
                   ' came late with it; its answer is not used')
      call ProgressLost(self%progress, worker, gather%record)
      call VerdictMessage(MSG_GATHER, gather%record, gather%slot, '', answer)
      return
    end if
    call MasterLastTry(self)
    call KeymapShot(self%survey%keymap, gather%slot, shot)
    call StoreDone(self%store, shot, gather, self%scheduler%attempts(gather%slot) + 1, worker, self%progress%host(worker), error)
    if (allocated(error)) then
      call VerdictMessage(MSG_GATHER, gather%record, gather%slot, error%message, answer)
      if (.not. self%store%broken) return     ! the gather's own fault: its worker will report it lost
      call MasterTrouble(self, error)
      if (self%pause%on) then                 ! it is written when the files are back
        answer = message_t()
        call GatherMessage(gather, message)
        call PauseKeep(self%pause, message)
        return
      end if
      call SchedulerLost(self%scheduler, worker, gather%slot, .true., host_seconds(), parked, dropped)
      call ProgressLost(self%progress, worker, gather%record)
      call LogWarn('shot '//Str(gather%record)//' was modelled but cannot be written: the next run models it again')
      return
    end if
    call SchedulerDone(self%scheduler, worker, gather%slot, host_seconds())
    call LeaseShotDone(self%workers%lease, worker)
    call QuarantineDone(self%quarantine, gather%slot, self%progress%host(worker))
    call ProgressDone(self%progress, worker, gather%record, gather%cells*gather%steps, gather%seconds)
    call VerdictMessage(MSG_GATHER, gather%record, gather%slot, '', answer)
  end subroutine MasterTakeGather

  !> Snapshots of a shot, each in a file of its own.
  subroutine MasterTakeSnaps(self, message, answer)
    class(desk_t), intent(inout) :: self
    type(message_t), intent(inout) :: message, answer
    type(gather_t) :: gather
    type(gather_header_t) :: header
    type(error_t), allocatable :: error
    call SnapsFrom(message, gather, error)
    call VerdictMessage(MSG_SNAPS, gather%record, gather%slot, '', answer)
    if (allocated(error)) call VerdictMessage(MSG_SNAPS, gather%record, gather%slot, error%message, answer)
    if (allocated(error)) return
    if (self%scheduler%finished(gather%slot) .and. .not. SchedulerParked(self%scheduler, gather%slot)) return  ! another was sooner
    call SurveyHeader(self%survey, '', header)
    call FioSnapshots(FioSnapshotPath(self%survey%job%output, gather%record), gather, header%attribute, error)
    if (.not. allocated(error)) return
    call VerdictMessage(MSG_SNAPS, gather%record, gather%slot, error%message, answer)
    call MasterTrouble(self, error)
    if (.not. self%pause%on) return
    answer = message_t()
    call PauseKeep(self%pause, message)
  end subroutine MasterTakeSnaps

  !> A lost shot is dealt again, or parked when it was lost too often.
  subroutine MasterTakeLost(self, message)
    class(desk_t), intent(inout) :: self
    type(message_t), intent(in) :: message
    integer :: worker, slot
    logical :: parked, dropped, innocent
    character(:), allocatable :: where
    type(error_t), allocatable :: error
    worker = int(message%n(12))
    slot = int(message%n(2))
    if (.not. SchedulerFlies(self%scheduler, worker, slot)) return    ! taken back already: the I/O server could not write it
    innocent = message%n(3) == 1                                ! the worker's GPU failed
    call ProgressLost(self%progress, worker, int(message%n(1)))
    call SchedulerLost(self%scheduler, worker, slot, innocent, host_seconds(), parked, dropped)
    if (dropped) return                                         ! another worker has it
    if (.not. innocent) call QuarantineLost(self%quarantine, slot, self%progress%host(worker))
    where = 'shot '//Str(int(message%n(1)))//' lost on '//self%progress%host(worker)//' (worker '//Str(worker)//', attempt '// &
            Str(self%scheduler%attempts(slot) + merge(1, 0, innocent))//'): '//message%text
    call StoreLost(self%store, slot, parked, self%scheduler%attempts(slot), worker, self%progress%host(worker), message%text, error)
    if (allocated(error)) call MasterTrouble(self, error)
    if (parked) then
      call LogError(where//'; parked after '//Str(self%scheduler%attempts(slot))//' attempts')
    else
      call LogWarn(where//'; it is dealt again')
    end if
  end subroutine MasterTakeLost

end module master_receive_m
