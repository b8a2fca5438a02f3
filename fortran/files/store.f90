!> Output file and journal as one: what is on disk, what the journal says, and that the two agree.
!>
!> Order of a commit: traces, sync, then the journal line. A shot counts as done when both are there and the checksum is right.
!> Gathers that came while another commit was made are committed together: one sync of each file for several gathers.
!> Shots of earlier runs are read and compared while new ones are modelled (StoreVerify). One run at a time: see lock.f90.
!>
!> This file has what is noted of shots; submodules have how both files are opened (store_open.f90), what earlier runs have done
!> (store_verify.f90), and files that were away for a while (store_reopen.f90).
module store_m
  use error_m, only: error_t, Fail
  use fio_m, only: fio_parked, fio_t, FioClose, FioMark, FioPut, FioSync
  use gather_header_m, only: gather_header_t
  use gather_m, only: gather_t
  use journal_line_m, only: event_deal, event_done, event_lost, event_parked, event_stop, event_t, event_todo
  use journal_m, only: journal_parked, journal_t, JournalAppend, JournalClose, JournalHold, JournalRelease
  use keymap_m, only: keymap_t
  use kinds_m, only: dp, i8
  use lock_m, only: lock_t, LockRelease, LockTell
  use shot_m, only: shot_t
  use sides_m, only: SidePath
  implicit none
  private
  public :: store_t, StoreOpen, StorePut, StoreCommit, StoreDeal, StoreLost, StorePark, StoreBack, StoreClose, StoreJournalPath
  public :: StoreVerify, StoreVerified, StoreReopen, StoreOthersDone, StoreResumed, StoreTell, StoreLockPath, StoreStopPath

  type :: store_t
    type(fio_t) :: fio
    type(journal_t) :: journal
    type(lock_t) :: lock
    character(:), allocatable :: path
    character(:), allocatable :: host           !< of the master
    logical :: broken = .false.                 !< files cannot be written: the run must stop; else a problem is the shot's own
    logical :: taken = .false.                  !< another run has the files now: this one must not touch them any more
    logical :: last_only = .false.              !< of shots done in earlier runs only those are read that no run read since
    logical, allocatable :: done(:)             !< shots on disk when the store was opened, (slots)
    integer, allocatable :: redo(:)             !< how often the key-map asks for a shot again, (slots); not allocated: never
    logical, allocatable :: unread(:)           !< shots done that are to be read and compared, (slots)
    integer :: next = 1                         !< no slot before this one is unread
    integer :: read = 0                         !< of them, read and found whole
    real(dp) :: reading = 0                     !< seconds spent on reading them
  end type store_t

  interface
    ! --- store_open.f90

    !> Opens what an earlier run of the same job left, or makes both files. `header` says what the file of gathers holds. Refuses
    !> an output that another run uses, one without its journal, a journal of another job, and files that no run wrote; overwrites
    !> only if told to. `begun`: the note of the run that begins, see runnote.f90. With the `keymap` that the header is of, the
    !> output may be one of this key-map as it was before (grow.f90), and shots that it says to redo are to do.
    module subroutine StoreOpen(store, path, header, host, overwrite, last_only, error, begun, keymap)
      type(store_t), intent(inout) :: store
      character(*), intent(in) :: path, host
      type(gather_header_t), intent(in) :: header
      logical, intent(in) :: overwrite
      logical, intent(in) :: last_only            !< see store_t
      type(error_t), allocatable, intent(inout) :: error
      character(*), intent(in), optional :: begun
      type(keymap_t), intent(in), optional :: keymap
    end subroutine StoreOpen

    ! --- store_verify.f90

    !> Every shot that the journal calls done must be marked so in the output, under the same checksum; its data are read later.
    module subroutine CompareStatus(store, error)
      type(store_t), intent(inout) :: store
      type(error_t), allocatable, intent(inout) :: error
    end subroutine CompareStatus

    !> Shots that the key-map asks for more often than the journal says they were modelled again are to do: what was done of them
    !> goes.
    module subroutine Redo(store, error)
      type(store_t), intent(inout) :: store
      type(error_t), allocatable, intent(inout) :: error
    end subroutine Redo

    !> The first slot from store%next on that is to be read; beyond the last slot if there is none.
    pure module integer function FirstUnread(store) result(slot)
      type(store_t), intent(in) :: store
    end function FirstUnread

    !> Reads shots that earlier runs have done, for some `seconds`. `slot`: one that is damaged and now to do again, 0 = none.
    module subroutine StoreVerify(store, seconds, slot, error)
      type(store_t), intent(inout) :: store
      real(dp), intent(in) :: seconds
      integer, intent(out) :: slot
      type(error_t), allocatable, intent(inout) :: error
    end subroutine StoreVerify

    !> True when no shot is left to be read.
    pure module logical function StoreVerified(store) result(verified)
      type(store_t), intent(in) :: store
    end function StoreVerified

    ! --- store_reopen.f90

    !> Opens the output anew, whatever became of it.
    module subroutine ReopenOutput(store, error)
      type(store_t), intent(inout) :: store
      type(error_t), allocatable, intent(inout) :: error
    end subroutine ReopenOutput

    !> Opens both files again after they could not be written, as far as that is possible now; both must be there, and what the
    !> journal said was done must still stand in it. Shots that this run wrote are read again: see StoreVerify.
    module subroutine StoreReopen(store, error)
      type(store_t), intent(inout) :: store
      type(error_t), allocatable, intent(inout) :: error
    end subroutine StoreReopen

    !> Notes that both files can be written again, after so many seconds. Shots done until then are read once more: a file
    !> system that failed may have lost or changed them.
    module subroutine StoreResumed(store, seconds, why, error)
      type(store_t), intent(inout) :: store
      real(dp), intent(in) :: seconds
      character(*), intent(in) :: why
      type(error_t), allocatable, intent(inout) :: error
    end subroutine StoreResumed

    !> True where another run has taken the output over and done all shots: states that this one's workers still keep serve nobody.
    module logical function StoreOthersDone(store) result(done)
      type(store_t), intent(in) :: store
    end function StoreOthersDone

    !> Fails once another run has the lock, or had it: then nothing may be written any more.
    module subroutine CheckOurs(store, error)
      type(store_t), intent(inout) :: store
      type(error_t), allocatable, intent(inout) :: error
    end subroutine CheckOurs
  end interface

contains

  !> Notes that a shot went to a worker.
  subroutine StoreDeal(store, slot, attempt, worker, host, error)
    type(store_t), intent(inout) :: store
    integer, intent(in) :: slot, attempt, worker
    character(*), intent(in) :: host
    type(error_t), allocatable, intent(inout) :: error
    call CheckOurs(store, error)
    call JournalAppend(store%journal, event_t(event_deal, store%fio%record(slot), attempt, worker), host, '', error)
  end subroutine StoreDeal

  !> Writes a gather. It counts once StoreCommit has returned without error; if that fails, it is to be put again.
  subroutine StorePut(store, shot, gather, attempt, worker, host, error)
    type(store_t), intent(inout) :: store
    type(shot_t), intent(in) :: shot
    type(gather_t), intent(in) :: gather
    integer, intent(in) :: attempt, worker
    character(*), intent(in) :: host
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: checksum
    integer :: redo
    redo = 0
    if (allocated(store%redo)) redo = store%redo(shot%slot)
    call CheckOurs(store, error)
    if (store%broken) call Fail(error, "'"//store%path//"' cannot be written")
    if (allocated(error)) return
    call FioPut(store%fio, shot, gather, checksum, error)
    store%broken = store%fio%broken
    if (allocated(error)) return
    call JournalHold(store%journal, event_t(event_done, shot%record, attempt, worker, gather%seconds, checksum=checksum, &
                                            redo=redo), host, '', error)
    store%broken = allocated(error)
  end subroutine StorePut

  !> Commits the gathers put since the last time: on return without error all of them are on disk and in the journal, else none is
  !> in the journal.
  subroutine StoreCommit(store, error)
    type(store_t), intent(inout) :: store
    type(error_t), allocatable, intent(inout) :: error
    call CheckOurs(store, error)
    call FioSync(store%fio, error)
    call JournalRelease(store%journal, error)
    store%broken = store%broken .or. allocated(error)
  end subroutine StoreCommit

  !> Notes that a shot was lost and why; a parked one is marked in the output too.
  subroutine StoreLost(store, slot, parked, attempt, worker, host, why, error)
    type(store_t), intent(inout) :: store
    integer, intent(in) :: slot, attempt, worker
    logical, intent(in) :: parked
    character(*), intent(in) :: host, why
    type(error_t), allocatable, intent(inout) :: error
    call CheckOurs(store, error)
    call JournalAppend(store%journal, event_t(event_lost, store%fio%record(slot), attempt, worker), host, why, error)
    if (parked) call StorePark(store, slot, worker, host, why, error, attempt)
  end subroutine StoreLost

  !> Marks a shot as parked in journal and output; without `attempt` only if it is not marked so already.
  subroutine StorePark(store, slot, worker, host, why, error, attempt)
    type(store_t), intent(inout) :: store
    integer, intent(in) :: slot, worker
    character(*), intent(in) :: host, why
    type(error_t), allocatable, intent(inout) :: error
    integer, intent(in), optional :: attempt
    integer :: n
    n = 0
    if (present(attempt)) n = attempt
    if (allocated(error) .or. (.not. present(attempt) .and. store%journal%entry(slot)%status == journal_parked)) return
    call JournalAppend(store%journal, event_t(event_parked, store%fio%record(slot), n, worker), host, why, error)
    call FioMark(store%fio, slot, fio_parked, error)
  end subroutine StorePark

  !> Notes that a shot came back unfinished and is to be modelled later, which counts as no loss.
  subroutine StoreBack(store, slot, worker, host, why, error)
    type(store_t), intent(inout) :: store
    integer, intent(in) :: slot, worker
    character(*), intent(in) :: host, why
    type(error_t), allocatable, intent(inout) :: error
    call CheckOurs(store, error)
    call JournalAppend(store%journal, event_t(event_todo, store%fio%record(slot), 0, worker), host, why, error)
  end subroutine StoreBack

  !> Tells readers of the lock that this run `waits` for its disk, or no longer does.
  subroutine StoreTell(store, waits)
    type(store_t), intent(in) :: store
    logical, intent(in) :: waits
    call LockTell(store%lock, waits)
  end subroutine StoreTell

  !> Notes the end of the run, of `seconds`, as `ended` tells (see runnote.f90), and closes both files.
  subroutine StoreClose(store, seconds, ended, error)
    type(store_t), intent(inout) :: store
    real(dp), intent(in) :: seconds
    character(*), intent(in) :: ended
    type(error_t), allocatable, intent(inout) :: error
    type(error_t), allocatable :: ignored
    call CheckOurs(store, ignored)
    if (store%broken .and. .not. store%taken) call StoreReopen(store, ignored)   ! there may be room for this line again
    if (.not. store%taken) call JournalAppend(store%journal, event_t(event_stop, seconds=seconds), store%host, ended, error)
    call FioClose(store%fio, error)
    call JournalClose(store%journal)
    call LockRelease(store%lock)
  end subroutine StoreClose

  pure function StoreJournalPath(output) result(path)
    character(*), intent(in) :: output
    character(:), allocatable :: path
    path = SidePath(output, 'journal')
  end function StoreJournalPath

  pure function StoreLockPath(output) result(path)
    character(*), intent(in) :: output
    character(:), allocatable :: path
    path = SidePath(output, 'lock')
  end function StoreLockPath

  !> A file that ends the run on this output: who makes it wants that, its contents do not matter.
  pure function StoreStopPath(output) result(path)
    character(*), intent(in) :: output
    character(:), allocatable :: path
    path = SidePath(output, 'stop')
  end function StoreStopPath

end module store_m
