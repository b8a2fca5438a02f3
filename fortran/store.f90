!> Output file and journal as one: what is on disk, what the journal says, and that the two agree.
!>
!> Order of a commit: traces, sync, then the journal line. A shot counts as done when both are there and the checksum is right.
module store_m
  use error_m, only: AddContext, error_t, Fail
  use files_m, only: FileExists, FileRemove, FileWrite
  use fio_m, only: fio_t, FioClose, FioCreate, FioMark, FioOpen, FioPut, FioVerify
  use gather_m, only: gather_t
  use journal_m, only: journal_t, JournalAppend, JournalClose, JournalOpen
  use keymap_m, only: keymap_t, KeymapShot
  use kinds_m, only: dp, i8
  use log_m, only: LogInfo, LogWarn
  use prospect_m, only: prospect_t
  use shot_m, only: shot_t
  use survey_m, only: survey_t
  use text_m, only: Str
  implicit none
  private
  public :: store_t, StoreOpen, StoreDone, StoreEvent, StoreClose, StoreJournalPath

  type :: store_t
    type(fio_t) :: fio
    type(journal_t) :: journal
    logical, allocatable :: done(:)             !< shots on disk when the store was opened, (slots)
  end type store_t

contains

  !> Opens what an earlier run of the same job left, or makes both files. `survey` describes the file to be made.
  !> Refuses an output without its journal, a journal of another job, and never overwrites unless told to.
  subroutine StoreOpen(store, prospect, survey, host, error)
    type(store_t), intent(inout) :: store
    type(prospect_t), intent(in) :: prospect
    type(survey_t), intent(in) :: survey
    character(*), intent(in) :: host
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: path, log
    path = prospect%job%output
    log = StoreJournalPath(path)
    if (prospect%job%overwrite) call Clear(path, log, error)
    if (FileExists(path) .and. .not. FileExists(log)) call Fail(error, "'"//path// &
      "' exists but its journal '"//log//"' does not: set overwrite=y to start anew, or choose another output")
    call JournalOpen(store%journal, log, survey%fingerprint, survey%record, error)
    if (allocated(error)) return
    if (FileExists(path)) then
      call FioOpen(store%fio, path, error, survey%fingerprint)
    else if (any(store%journal%done)) then
      call Fail(error, "the journal '"//log//"' tells of "//Str(count(store%journal%done))//" finished shots, but the output '"// &
                path//"' is gone: put it back, or set overwrite=y to start anew")
    else
      call FioCreate(store%fio, path, survey, .false., error)
    end if
    if (allocated(error)) return
    call VerifyDone(store, error)
    call JournalAppend(store%journal, 'start', 0, 0, host, 0.0_dp, '', error)
  end subroutine StoreOpen

  !> overwrite=y: the journal goes first, so that a kill in between leaves no journal that promises shots.
  subroutine Clear(path, log, error)
    character(*), intent(in) :: path, log
    type(error_t), allocatable, intent(inout) :: error
    call FileRemove(log, error)
    call FileRemove(path, error)
  end subroutine Clear

  !> Every shot the journal calls done is read and checked; a damaged one is named and dealt again.
  subroutine VerifyDone(store, error)
    type(store_t), intent(inout) :: store
    type(error_t), allocatable, intent(inout) :: error
    type(error_t), allocatable :: fault
    integer(i8) :: checksum
    integer :: slot
    store%done = store%journal%done
    do slot = 1, size(store%done)
      if (.not. store%done(slot)) cycle
      call FioVerify(store%fio, slot, checksum, fault)
      if (.not. allocated(fault) .and. checksum /= store%journal%checksum(slot)) call Fail(fault, 'shot record '// &
        Str(store%fio%record(slot))//': its checksum differs from the journal''s')
      if (.not. allocated(fault)) cycle
      call LogWarn(fault%message//'; it is modelled again')
      deallocate (fault)
      store%done(slot) = .false.
      call FioMark(store%fio, slot, 0, error)
      if (allocated(error)) return
    end do
    if (any(store%done)) call LogInfo(Str(count(store%done))//' shots are done already, verified by checksum')
  end subroutine VerifyDone

  !> Commits a gather: on return without error it is on disk and in the journal.
  subroutine StoreDone(store, keymap, gather, attempt, host, error)
    type(store_t), intent(inout) :: store
    type(keymap_t), intent(in) :: keymap
    type(gather_t), intent(in) :: gather
    integer, intent(in) :: attempt
    character(*), intent(in) :: host
    type(error_t), allocatable, intent(inout) :: error
    type(shot_t) :: shot
    integer(i8) :: checksum
    call KeymapShot(keymap, gather%slot, shot)
    call FioPut(store%fio, shot, gather, checksum, error)
    if (allocated(error)) return
    call JournalAppend(store%journal, 'done', gather%slot, attempt, host, gather%seconds, '', error, checksum)
  end subroutine StoreDone

  !> Notes an event of a shot (deal, lost, parked) or of the job (stop, slot 0).
  subroutine StoreEvent(store, event, slot, attempt, host, note, error)
    type(store_t), intent(inout) :: store
    character(*), intent(in) :: event, host, note
    integer, intent(in) :: slot, attempt
    type(error_t), allocatable, intent(inout) :: error
    call JournalAppend(store%journal, trim(event), slot, attempt, host, 0.0_dp, note, error)
  end subroutine StoreEvent

  subroutine StoreClose(store, error)
    type(store_t), intent(inout) :: store
    type(error_t), allocatable, intent(inout) :: error
    call FioClose(store%fio, error)
    call JournalClose(store%journal)
  end subroutine StoreClose

  pure function StoreJournalPath(output) result(path)
    character(*), intent(in) :: output
    character(:), allocatable :: path
    path = output//'.journal'
  end function StoreJournalPath

end module store_m
