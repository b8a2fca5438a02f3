!> Output file and journal as one: what is on disk, what the journal says, and that the two agree.
!>
!> Order of a commit: traces, sync, then the journal line. A shot counts as done when both are there and the checksum is right.
module store_m
  use error_m, only: error_t, Fail
  use files_m, only: FileExists, FileRemove
  use fio_m, only: fio_t, fio_parked, fio_todo, FioClose, FioCreate, FioMark, FioOpen, FioPut, FioVerify
  use gather_m, only: gather_t
  use journal_m, only: journal_done, journal_t, JournalAppend, JournalClose, JournalOpen
  use kinds_m, only: dp, i8
  use log_m, only: LogInfo, LogWarn
  use shot_m, only: shot_t
  use survey_m, only: survey_t
  use text_m, only: Str
  implicit none
  private
  public :: store_t, StoreOpen, StoreDone, StoreDeal, StoreLost, StoreBack, StoreClose, StoreJournalPath

  type :: store_t
    type(fio_t) :: fio
    type(journal_t) :: journal
    character(:), allocatable :: host           !< of the master
    logical :: broken = .false.                 !< files cannot be written: the run must stop; else a fault is the shot's own
    logical, allocatable :: done(:)             !< shots on disk when the store was opened, (slots)
  end type store_t

contains

  !> Opens what an earlier run of the same job left, or makes both files. `survey` says what the file of gathers holds.
  !> Refuses an output without its journal and a journal of another job; overwrites only if told to.
  subroutine StoreOpen(store, path, survey, host, overwrite, error)
    type(store_t), intent(inout) :: store
    character(*), intent(in) :: path, host
    type(survey_t), intent(in) :: survey
    logical, intent(in) :: overwrite
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: log
    type(error_t), allocatable :: ignored
    logical :: fresh
    log = StoreJournalPath(path)
    fresh = .not. FileExists(log)
    store%host = host
    if (FileExists(path) .and. .not. overwrite) then
      if (.not. FileExists(log)) call Fail(error, "'"//path//"' exists but its journal '"//log// &
                                           "' does not: set overwrite=y to start anew, or choose another output")
    end if
    if (allocated(error)) return
    call JournalOpen(store%journal, log, survey%fingerprint, survey%record, overwrite, error)
    if (allocated(error)) return
    if (overwrite) call FileRemove(path, error)     ! after the journal: a kill in between leaves nothing that promises shots
    if (FileExists(path)) then
      call FioOpen(store%fio, path, error, survey%fingerprint)
    else if (store%journal%done > 0) then
      call Fail(error, "the journal '"//log//"' tells of "//Str(store%journal%done)//" finished shots, but the output '"//path// &
                "' is gone: put it back, or set overwrite=y to start anew")
    else
      call FioCreate(store%fio, path, survey, .false., error)
    end if
    call VerifyDone(store, error)
    call JournalAppend(store%journal, 'start', 0, 0, 0, host, 0.0_dp, '', error)
    if (.not. allocated(error)) return
    call JournalClose(store%journal)
    if (fresh) call FileRemove(log, ignored)        ! nothing has begun
  end subroutine StoreOpen

  !> Every shot the journal calls done is read and checked; a damaged one is named and modelled again.
  subroutine VerifyDone(store, error)
    type(store_t), intent(inout) :: store
    type(error_t), allocatable, intent(inout) :: error
    type(error_t), allocatable :: fault
    integer(i8) :: checksum
    integer :: slot
    if (allocated(error)) return
    store%done = store%journal%entry(:store%journal%n)%status == journal_done
    do slot = 1, size(store%done)
      if (.not. store%done(slot)) cycle
      call FioVerify(store%fio, slot, checksum, fault)
      if (.not. allocated(fault)) then
        if (checksum == store%journal%entry(slot)%checksum) cycle
        call Fail(fault, 'shot record '//Str(store%fio%record(slot))//": its checksum is not the journal's")
      end if
      call LogWarn(fault%message//'; it is modelled again')
      store%done(slot) = .false.
      call JournalAppend(store%journal, 'todo', store%fio%record(slot), 0, 0, store%host, 0.0_dp, fault%message, error)
      call FioMark(store%fio, slot, fio_todo, error)
      deallocate (fault)
      if (allocated(error)) return
    end do
    if (any(store%done)) call LogInfo(Str(count(store%done))//' shots are done already, verified by checksum')
  end subroutine VerifyDone

  !> Notes that a shot went to a worker.
  subroutine StoreDeal(store, slot, attempt, worker, host, error)
    type(store_t), intent(inout) :: store
    integer, intent(in) :: slot, attempt, worker
    character(*), intent(in) :: host
    type(error_t), allocatable, intent(inout) :: error
    call JournalAppend(store%journal, 'deal', store%fio%record(slot), attempt, worker, host, 0.0_dp, '', error)
  end subroutine StoreDeal

  !> Commits a gather: on return without error it is on disk and in the journal.
  subroutine StoreDone(store, shot, gather, attempt, worker, host, error)
    type(store_t), intent(inout) :: store
    type(shot_t), intent(in) :: shot
    type(gather_t), intent(in) :: gather
    integer, intent(in) :: attempt, worker
    character(*), intent(in) :: host
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: checksum
    call FioPut(store%fio, shot, gather, checksum, error)
    store%broken = store%fio%broken
    if (allocated(error)) return
    call JournalAppend(store%journal, 'done', shot%record, attempt, worker, host, gather%seconds, '', error, checksum)
    store%broken = allocated(error)
  end subroutine StoreDone

  !> Notes that a shot was lost and why; a parked one is marked in the output too.
  subroutine StoreLost(store, slot, parked, attempt, worker, host, why, error)
    type(store_t), intent(inout) :: store
    integer, intent(in) :: slot, attempt, worker
    logical, intent(in) :: parked
    character(*), intent(in) :: host, why
    type(error_t), allocatable, intent(inout) :: error
    call JournalAppend(store%journal, 'lost', store%fio%record(slot), attempt, worker, host, 0.0_dp, why, error)
    if (.not. parked) return
    call JournalAppend(store%journal, 'parked', store%fio%record(slot), attempt, worker, host, 0.0_dp, why, error)
    call FioMark(store%fio, slot, fio_parked, error)
  end subroutine StoreLost

  !> Notes that a shot came back unfinished and is to be modelled later, which counts as no loss.
  subroutine StoreBack(store, slot, worker, host, why, error)
    type(store_t), intent(inout) :: store
    integer, intent(in) :: slot, worker
    character(*), intent(in) :: host, why
    type(error_t), allocatable, intent(inout) :: error
    call JournalAppend(store%journal, 'todo', store%fio%record(slot), 0, worker, host, 0.0_dp, why, error)
  end subroutine StoreBack

  !> Notes the end of the run, of `seconds`, and closes both files.
  subroutine StoreClose(store, seconds, error)
    type(store_t), intent(inout) :: store
    real(dp), intent(in) :: seconds
    type(error_t), allocatable, intent(inout) :: error
    call JournalAppend(store%journal, 'stop', 0, 0, 0, store%host, seconds, '', error)
    call FioClose(store%fio, error)
    call JournalClose(store%journal)
  end subroutine StoreClose

  pure function StoreJournalPath(output) result(path)
    character(*), intent(in) :: output
    character(:), allocatable :: path
    path = output//'.journal'
  end function StoreJournalPath

end module store_m
