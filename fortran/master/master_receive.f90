!> Messages about shots at the master: gathers and snapshots in, shots that are lost.
module master_receive_m
  use commits_m, only: CommitsAdd, CommitsNext
  use scheduler_m, only: SchedulerDone, SchedulerDealt, SchedulerLost, SchedulerParked
  use error_m, only: error_t
  use gather_m, only: gather_t
  use host_c, only: host_seconds
  use lease_m, only: LeaseShotDone
  use shot_messages_m, only: GatherFrom, GatherMessage, SnapsFrom, VerdictMessage
  use log_m, only: LogError, LogInfo, LogWarn
  use master_type_m, only: master_t
  use master_output_m, only: MasterCommit, MasterLastTry, MasterOutputFails, MasterPut
  use output_pause_m, only: PauseKeep
  use survey_m, only: SurveyHeader
  use protocol_m, only: message_t, MSG_GATHER, MSG_SNAPS
  use quarantine_m, only: QuarantineDone, QuarantineLost
  use snapshots_m, only: FioSnapshotPath, FioSnapshots
  use store_m, only: StoreLost
  use gather_header_m, only: gather_header_t
  use text_m, only: Counted, Str
  use progress_m, only: ProgressDone, ProgressLost
  implicit none
  private
  public :: MasterReceiveGather, MasterReceiveSnaps, MasterReceiveLost

contains

  !> A shot is done when its traces are on disk and the journal says so: they are written now, and committed later.
  subroutine MasterReceiveGather(self, message, reply)
    class(master_t), intent(inout) :: self
    type(message_t), intent(inout) :: message, reply
    type(error_t), allocatable :: error
    integer :: worker, i
    logical :: parked, dropped
    call MasterCommit(self)                       ! or there may be no place for it
    if (self%pause%on) then
      call PauseKeep(self%pause, message)
      return
    end if
    worker = int(message%n(12))
    i = CommitsNext(self%commits)
    associate (written => self%commits%written(i))
      written%worker = worker
      written%rank = message%from
      call GatherFrom(message, written%gather, error)
      associate (gather => written%gather)
        if (allocated(error)) then
          call VerdictMessage(MSG_GATHER, gather%record, gather%slot, error%message, reply)
          return
        end if
        if (self%scheduler%finished(gather%slot) .and. .not. SchedulerParked(self%scheduler, gather%slot)) then
          call SchedulerDone(self%scheduler, worker, gather%slot, host_seconds())
          call LogInfo('shot '//Str(gather%record)//': worker '//Str(worker)//' on '//self%progress%host(worker)// &
                       ' came late with it; its gather is not used')
          call ProgressLost(self%progress, worker, gather%record)
          call VerdictMessage(MSG_GATHER, gather%record, gather%slot, '', reply)
          return
        end if
        call MasterLastTry(self)
        written%attempt = self%scheduler%attempts(gather%slot) + 1
        call MasterPut(self, written, error)
        if (allocated(error)) then
          call VerdictMessage(MSG_GATHER, gather%record, gather%slot, error%message, reply)
          if (.not. self%store%broken) return     ! the gather's own fault: its worker will report it lost
          call MasterOutputFails(self, error)
          if (self%pause%on) then                 ! it is written when the files are back
            reply = message_t()
            call GatherMessage(gather, message)
            call PauseKeep(self%pause, message)
            return
          end if
          call SchedulerLost(self%scheduler, worker, gather%slot, .true., host_seconds(), parked, dropped)
          call ProgressLost(self%progress, worker, gather%record)
          call LogWarn('shot '//Str(gather%record)//' was modelled but cannot be written: the next run models it again')
          return
        end if
        call CommitsAdd(self%commits)
        call SchedulerDone(self%scheduler, worker, gather%slot, host_seconds())
        call LeaseShotDone(self%workers%lease, worker)
        call QuarantineDone(self%quarantine, gather%slot, self%progress%host(worker))
        call ProgressDone(self%progress, worker, gather%record, gather%cells*gather%steps, gather%seconds)
      end associate
    end associate
  end subroutine MasterReceiveGather

  !> Snapshots of a shot, each in a file of its own.
  subroutine MasterReceiveSnaps(self, message, reply)
    class(master_t), intent(inout) :: self
    type(message_t), intent(inout) :: message, reply
    type(gather_t) :: gather
    type(gather_header_t) :: header
    type(error_t), allocatable :: error
    call SnapsFrom(message, gather, error)
    call VerdictMessage(MSG_SNAPS, gather%record, gather%slot, '', reply)
    if (allocated(error)) call VerdictMessage(MSG_SNAPS, gather%record, gather%slot, error%message, reply)
    if (allocated(error)) return
    if (self%scheduler%finished(gather%slot) .and. .not. SchedulerParked(self%scheduler, gather%slot)) return  ! another was sooner
    call SurveyHeader(self%survey, '', header)
    call FioSnapshots(FioSnapshotPath(self%survey%job%output, gather%record), gather, header%attribute, error)
    if (.not. allocated(error)) return
    call VerdictMessage(MSG_SNAPS, gather%record, gather%slot, error%message, reply)
    call MasterOutputFails(self, error)
    if (.not. self%pause%on) return
    reply = message_t()
    call PauseKeep(self%pause, message)
  end subroutine MasterReceiveSnaps

  !> A lost shot is dealt again, or parked when it was lost too often.
  subroutine MasterReceiveLost(self, message)
    class(master_t), intent(inout) :: self
    type(message_t), intent(in) :: message
    integer :: worker, slot
    logical :: parked, dropped, innocent
    character(:), allocatable :: where
    type(error_t), allocatable :: error
    worker = int(message%n(12))
    slot = int(message%n(2))
    if (.not. SchedulerDealt(self%scheduler, worker, slot)) return    ! taken back already: the master could not write it
    innocent = message%n(3) == 1                                ! the worker's GPU failed
    call ProgressLost(self%progress, worker, int(message%n(1)))
    call SchedulerLost(self%scheduler, worker, slot, innocent, host_seconds(), parked, dropped)
    if (dropped) return                                         ! another worker has it
    if (.not. innocent) call QuarantineLost(self%quarantine, slot, self%progress%host(worker))
    where = 'shot '//Str(int(message%n(1)))//' lost on '//self%progress%host(worker)//' (worker '//Str(worker)//', attempt '// &
            Str(self%scheduler%attempts(slot) + merge(1, 0, innocent))//'): '//message%text
    call StoreLost(self%store, slot, parked, self%scheduler%attempts(slot), worker, self%progress%host(worker), message%text, error)
    if (allocated(error)) call MasterOutputFails(self, error)
    if (parked) then
      call LogError(where//'; parked after '//Counted(self%scheduler%attempts(slot), 'attempt'))
    else
      call LogWarn(where//'; it is dealt again')
    end if
  end subroutine MasterReceiveLost

end module master_receive_m
