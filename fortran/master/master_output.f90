!> Output and journal from the master's side: gathers written and committed, what happens while the files cannot be written, and
!> what earlier runs have left in them.
module master_output_m
  use commits_m, only: CommitsClear, CommitsDue, CommitsMade, CommitsVerdict, verdict_t, written_t
  use scheduler_m, only: SchedulerAgain, SchedulerIdle, SchedulerParked
  use error_m, only: error_t
  use host_c, only: host_seconds
  use keymap_m, only: KeymapNavigate, KeymapShot
  use kinds_m, only: dp
  use log_m, only: LogError, LogInfo, LogWarn
  use master_type_m, only: master_t, MasterStops
  use output_pause_m, only: PauseBegin, PauseDue, PauseEnd, PauseTake
  use protocol_m, only: message_t, MSG_GATHER
  use runnote_m, only: cause_disk
  use shot_m, only: shot_t
  use shot_messages_m, only: VerdictMessage
  use store_m, only: StoreCommit, StorePark, StorePut, StoreReopen, StoreResumed, StoreTell, StoreVerified, StoreVerify
  use text_m, only: Str
  use progress_m, only: ProgressAgain, ProgressUndone
  use workers_m, only: WorkersLeaves
  implicit none
  private
  public :: MasterPut, MasterCommit, MasterVerdict
  public :: MasterOutputFails, MasterLastTry, MasterRecover, MasterNothingLeft, MasterReads, MasterReadSome

  real(dp), parameter :: READING = 0.02_dp    !< seconds at a time for what earlier runs have done

contains

  !> Writes a gather; it is committed later.
  subroutine MasterPut(self, written, error)
    class(master_t), intent(inout) :: self
    type(written_t), intent(in) :: written
    type(error_t), allocatable, intent(inout) :: error
    type(shot_t) :: shot
    if (allocated(error)) return
    call KeymapShot(self%survey%keymap, written%gather%slot, shot)
    call KeymapNavigate(self%survey%keymap, written%gather%slot, shot)
    call StorePut(self%store, shot, written%gather, written%attempt, written%worker, self%progress%host(written%worker), error)
  end subroutine MasterPut

  !> Commits what is written, if it is time for that. Where that fails it waits, to be written again, or is given up with the
  !> dealing.
  subroutine MasterCommit(self)
    class(master_t), intent(inout) :: self
    type(error_t), allocatable :: error
    character(:), allocatable :: why
    real(dp) :: start
    integer :: i
    logical :: last
    last = self%stopping .or. SchedulerIdle(self%scheduler)
    if (self%pause%on) return
    if (.not. CommitsDue(self%commits, last)) return
    start = host_seconds()
    if (self%commits%again) then
      call StoreReopen(self%store, error)
      do i = 1, self%commits%n
        call MasterPut(self, self%commits%written(i), error)
      end do
    end if
    if (.not. allocated(error)) call StoreCommit(self%store, error)
    if (.not. allocated(error)) then
      call CommitsMade(self%commits, host_seconds() - start)
      return
    end if
    why = error%message
    call MasterOutputFails(self, error)
    if (.not. self%pause%on) call LoseWritten(self, why)
  end subroutine MasterCommit

  !> Shots that were written and cannot be committed are to be modelled by the next run.
  subroutine LoseWritten(self, why)
    class(master_t), intent(inout) :: self
    character(*), intent(in) :: why
    integer :: i
    do i = 1, self%commits%n
      associate (w => self%commits%written(i))
        call SchedulerAgain(self%scheduler, w%gather%slot)
        call ProgressUndone(self%progress, w%worker)
        call LogWarn('shot '//Str(w%gather%record)//' was modelled but cannot be written: the next run models it again')
      end associate
    end do
    call CommitsClear(self%commits, why)
  end subroutine LoseWritten

  !> True where a reply to a gather is due: it is for `rank`.
  logical function MasterVerdict(self, rank, reply) result(there)
    class(master_t), intent(inout) :: self
    integer, intent(out) :: rank
    type(message_t), intent(inout) :: reply
    type(verdict_t) :: verdict
    rank = 0
    there = CommitsVerdict(self%commits, verdict)
    if (.not. there) return
    rank = verdict%rank
    call VerdictMessage(MSG_GATHER, verdict%record, verdict%slot, verdict%why, reply)
  end function MasterVerdict

  !> Output or journal cannot be written: dealing pauses, or stops where there is nothing to wait for. Shots that are done stay so;
  !> those that are not committed are written again, for the files are opened anew and what was held back for them is forgotten.
  subroutine MasterOutputFails(self, error)
    class(master_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: why
    logical :: news
    real(dp) :: left
    why = error%message
    deallocate (error)
    self%commits%again = self%commits%n > 0
    left = TimeLeft(self)
    if (left <= 0) then
      call GiveUp(self, why)
      return
    end if
    call PauseBegin(self%pause, why, news)
    call StoreTell(self%store, .true.)
    if (news) call LogError(why//'; dealing pauses until that is put right, for '//Str(left, 3)// &
                            ' s at most; shots in flight go on and are kept in memory')
  end subroutine MasterOutputFails

  !> The time for which files that cannot be written are waited for [s]: disk_wait, and where the job is to end no longer than the
  !> shots in flight.
  real(dp) function TimeLeft(self) result(left)
    class(master_t), intent(in) :: self
    real(dp) :: now
    now = host_seconds()
    left = self%survey%job%disk_wait
    if (self%pause%reported) left = left - (now - self%pause%since)
    if (self%stopped >= 0) left = min(left, self%stopped + self%grace - now)
    if (self%stopping) left = min(left, self%scheduler%deadline - now)
    if (self%workers%grace_ended .or. self%pause%given_up .or. self%store%taken) left = 0
  end function TimeLeft

  !> Ends the dealing; what waits to be written is not waited for.
  subroutine GiveUp(self, why)
    class(master_t), intent(inout) :: self
    character(*), intent(in) :: why
    if (.not. self%pause%given_up) call LogError(why//'; no more shots are dealt'//trim(merge('                     ', &
                                                                                        ', run again to resume', self%store%taken)))
    self%pause%given_up = .true.
    self%pause%on = .false.
    call StoreTell(self%store, .false.)
    call MasterStops(self, cause_disk, why)
    if (.not. self%store%taken .or. self%stopped >= 0) return
    self%stopped = host_seconds()                ! what is in flight is the other run's: it is given up at once
    self%grace = 0
    call WorkersLeaves(self%workers, self%stopped)
  end subroutine GiveUp

  !> Dealing has ended because the files could not be written. Now a gather is here: tries them once more.
  subroutine MasterLastTry(self)
    class(master_t), intent(inout) :: self
    type(error_t), allocatable :: error
    if (.not. (self%pause%given_up .and. self%store%broken) .or. self%store%taken) return
    call StoreReopen(self%store, error)
    if (.not. allocated(error)) call LogInfo('output and journal can be written again: what is in flight is kept')
  end subroutine MasterLastTry

  !> During a pause tries the files again now and then; after it handles what was kept, one message each time. True if there was
  !> one: its `reply`, if any, is for `rank`.
  logical function MasterRecover(self, rank, reply) result(took)
    class(master_t), intent(inout) :: self
    integer, intent(out) :: rank
    type(message_t), intent(inout) :: reply
    type(message_t) :: message
    type(error_t), allocatable :: error
    real(dp) :: left
    logical :: over
    took = .false.
    rank = 0
    if (.not. (self%pause%reported .or. self%pause%given_up)) return
    left = TimeLeft(self)
    over = self%pause%on .and. left <= 0
    if (PauseDue(self%pause, self%stopping) .or. over) then
      call StoreReopen(self%store, error)
      self%pause%on = allocated(error)
    end if
    if (self%pause%on .and. over) call GiveUp(self, self%pause%why)
    if (self%pause%on) return
    if (self%commits%again) call MasterCommit(self)
    if (self%pause%on) return
    took = PauseTake(self%pause, message)
    rank = message%from
    if (took) then
      call self%handle(message, reply)
    else if (self%pause%reported .and. .not. self%pause%given_up) then
      call Resume(self)
    end if
  end function MasterRecover

  !> All that was kept is written: dealing goes on.
  subroutine Resume(self)
    class(master_t), intent(inout) :: self
    type(error_t), allocatable :: error
    real(dp) :: seconds
    integer :: slot
    call StoreResumed(self%store, host_seconds() - self%pause%since, self%pause%why, error)
    if (allocated(error)) then
      call MasterOutputFails(self, error)
      return
    end if
    do slot = 1, size(self%scheduler%finished)   ! what could not be noted meanwhile
      if (SchedulerParked(self%scheduler, slot)) &
        call StorePark(self%store, slot, 0, '', 'parked while this could not be noted', error)
      if (.not. allocated(error)) cycle
      call MasterOutputFails(self, error)
      return
    end do
    seconds = PauseEnd(self%pause)
    call StoreTell(self%store, .false.)
    call LogInfo('output and journal can be written again after '//Str(seconds, 3)//' s'// &
                 trim(merge('                 ', ': dealing goes on', self%stopping)))
  end subroutine Resume

  !> All shots are done or parked, and those of earlier runs are known to be whole.
  logical function MasterNothingLeft(self)
    class(master_t), intent(in) :: self
    MasterNothingLeft = SchedulerIdle(self%scheduler) .and. StoreVerified(self%store)
  end function MasterNothingLeft

  !> True where there are shots to read, and a file to read them from.
  logical function MasterReads(self)
    class(master_t), intent(in) :: self
    MasterReads = .not. (self%stopping .or. self%pause%on .or. StoreVerified(self%store))
  end function MasterReads

  !> Finished shots are read and compared with their checksums while there is nothing else to do; a damaged one is dealt again.
  subroutine MasterReadSome(self)
    class(master_t), intent(inout) :: self
    type(error_t), allocatable :: error
    integer :: slot
    call StoreVerify(self%store, READING, slot, error)
    if (slot > 0) then
      call SchedulerAgain(self%scheduler, slot)
      call ProgressAgain(self%progress)
    end if
    if (allocated(error)) call MasterOutputFails(self, error)
  end subroutine MasterReadSome

end module master_output_m
