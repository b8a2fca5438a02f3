!> Output file and journal as one: what is on disk, what the journal says, and that the two agree.
!>
!> Order of a commit: traces, sync, then the journal line. A shot counts as done when both are there and the checksum is right.
!> Gathers that came while another commit was made are committed together: one sync of each file for several gathers.
!> Shots of earlier runs are read and compared while new ones are modelled (StoreVerify). One run at a time: see lock.f90.
module store_m
  use checked_m, only: Whole
  use parameter_changes_m, only: Changes
  use error_m, only: error_t, Fail
  use problems_m, only: problems_t, ProblemsRaise
  use files_m, only: FileExists, FileHalvesRemove, FileRemove, FileText
  use fio_m, only: fio_done, fio_t, fio_parked, fio_todo, FioChecksums, FioClose, FioCreate, FioMark, FioOpen, FioPut, FioStatus, &
                   FioSync, FioVerify, FioVerifyMany
  use gather_m, only: gather_t
  use grow_m, only: Grow
  use host_c, only: host_seconds
  use journal_m, only: journal_done, journal_parked, journal_t, JournalAppend, JournalClose, JournalHold, JournalOpen, &
                       JournalRelease
  use keymap_m, only: keymap_t
  use kinds_m, only: dp, i8
  use lock_m, only: lock_t, LockLost, LockRelease, LockTake, LockTell
  use log_m, only: LogInfo, LogWarn
  use ours_m, only: OursCheck
  use shot_m, only: shot_t
  use sides_m, only: SidePath
  use snapshots_m, only: FioSnapshotsDrop, FioSnapshotsRemove
  use gather_header_m, only: gather_header_t
  use text_m, only: Str
  implicit none
  private
  public :: store_t, StoreOpen, StorePut, StoreCommit, StoreDeal, StoreLost, StorePark, StoreBack, StoreClose, StoreJournalPath
  public :: StoreVerify, StoreVerified, StoreReopen, StoreResumed, StoreTell, StoreLockPath, StoreStopPath

  integer, parameter :: MANY = 256              !< slots that are verified at once, of so many samples
  real(dp), parameter :: AT_ONCE = 5.0e5_dp

  type :: store_t
    type(fio_t) :: fio
    type(journal_t) :: journal
    type(lock_t) :: lock
    character(:), allocatable :: path
    character(:), allocatable :: host           !< of the master
    logical :: broken = .false.                 !< files cannot be written: the run must stop; else a fault is the shot's own
    logical :: taken = .false.                  !< another run has the files now: this one must not touch them any more
    logical :: last_only = .false.              !< of shots done in earlier runs only those are read that no run read since
    logical, allocatable :: done(:)             !< shots on disk when the store was opened, (slots)
    integer, allocatable :: redo(:)             !< how often the key-map asks for a shot again, (slots); not allocated: never
    logical, allocatable :: unread(:)           !< of these, to be read and compared, (slots)
    integer :: next = 1                         !< no slot before this one is to be read
    integer :: read = 0                         !< read and found whole
    real(dp) :: reading = 0                     !< seconds spent on it
  end type store_t

contains

  !> Opens what an earlier run of the same job left, or makes both files. `survey` says what the file of gathers holds.
  !> Refuses an output that another run uses, one without its journal, a journal of another job, and files that no run wrote;
  !> overwrites only if told to. `begun`: the note of the run that begins, see runnote.f90. With the `keymap` that the header is of
  !> the output may be one of this key-map as it was before: see grow.f90; and shots that it says to redo are to do.
  subroutine StoreOpen(store, path, header, host, overwrite, last_only, error, begun, keymap)
    type(store_t), intent(inout) :: store
    character(*), intent(in) :: path, host
    type(gather_header_t), intent(in) :: header
    logical, intent(in) :: overwrite
    logical, intent(in) :: last_only            !< see store_t
    type(error_t), allocatable, intent(inout) :: error
    character(*), intent(in), optional :: begun
    type(keymap_t), intent(in), optional :: keymap
    character(:), allocatable :: log
    type(error_t), allocatable :: ignored
    type(gather_header_t) :: head
    type(problems_t) :: problems
    logical :: fresh, made
    log = StoreJournalPath(path)
    fresh = .not. FileExists(log)
    store%path = path
    store%host = host
    store%last_only = last_only
    call OursCheck(path, overwrite, problems)
    call ProblemsRaise(problems, "what lies beside '"//path//"'", error)
    if (FileExists(path) .and. fresh .and. .not. overwrite) call Fail(error, "'"//path//"' exists but its journal '"//log// &
      "' does not: restore it from a copy, set overwrite=y to start anew, or choose another output")
    call LockTake(store%lock, StoreLockPath(path), path, error)
    if (allocated(error)) return
    call FileHalvesRemove(path)
    if (FileExists(path) .and. .not. overwrite) call RefuseEmpty(path, log, error)
    head = header
    if (present(keymap)) store%redo = keymap%redo
    if (present(keymap) .and. .not. overwrite) call Grow(path, head, keymap, host, store%lock, error)
    made = .false.
    if (.not. allocated(error)) call OpenBoth(store, path, log, head, overwrite, begun, made, error)
    if (.not. allocated(error)) return
    call JournalClose(store%journal)
    call FioClose(store%fio, ignored)
    if (fresh .and. made) call FileRemove(path, ignored)
    if (fresh) call FileRemove(log, ignored)        ! nothing has begun
    call LockRelease(store%lock)
  end subroutine StoreOpen

  !> The journal's first line is on the disk before the output is: one without any beside an output has lost what it said.
  subroutine RefuseEmpty(path, log, error)
    character(*), intent(in) :: path, log
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: text
    call FileText(log, text, error)
    if (allocated(error)) return
    if (index(text, new_line('a')) == 0) call Fail(error, "'"//path//"' exists but its journal '"//log// &
      "' is empty: restore it from a copy, set overwrite=y to start anew, or choose another output")
  end subroutine RefuseEmpty

  subroutine OpenBoth(store, path, log, header, overwrite, begun, made, error)
    type(store_t), intent(inout) :: store
    character(*), intent(in) :: path, log
    type(gather_header_t), intent(in) :: header
    logical, intent(in) :: overwrite
    character(*), intent(in), optional :: begun
    logical, intent(out) :: made                !< the output is new
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: note
    note = ''
    if (present(begun)) note = begun
    made = .false.
    call JournalOpen(store%journal, log, header%fingerprint, header%record, overwrite, error)
    call TellChanges(store, path, header, error)
    if (allocated(error)) return
    if (overwrite) call RemoveOutput(path, error)   ! after the journal: a kill in between leaves nothing that promises shots
    if (FileExists(path)) then
      call FioOpen(store%fio, path, error, header%fingerprint)
      call CompareNavigation(store%fio, header%navigation, error)
    else if (store%journal%done > 0) then
      call Fail(error, "the journal '"//log//"' tells of "//Str(store%journal%done)//" finished shots, but the output '"//path// &
                "' is gone: put it back, or set overwrite=y to start anew")
    else
      call FioCreate(store%fio, path, header, .false., error)
      made = FileExists(path)
    end if
    if (allocated(error)) return
    store%done = store%journal%entry(:store%journal%n)%status == journal_done
    call CompareStatus(store, error)
    call Redo(store, error)
    call JournalAppend(store%journal, 'start', 0, 0, 0, store%host, 0.0_dp, note, error)
    if (any(store%done) .and. .not. allocated(error)) call LogInfo(Str(count(store%done))//' shots are done already; '// &
                                                                  Str(count(store%unread))//' of them are read and verified')
  end subroutine OpenBoth

  !> One file has one navigation, which grow.f90 has seen to where there is a key-map. An output from before there was any goes on
  !> without it.
  subroutine CompareNavigation(fio, navigation, error)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: navigation
    type(error_t), allocatable, intent(inout) :: error
    if (allocated(error)) return
    if (fio%navigation == navigation) return
    if (fio%navigation == '') then
      call LogWarn("'"//fio%path//"' was begun without navigation and goes on without it: its map coordinates and shot points "// &
                   'stay in the key-map alone (overwrite=y begins anew with them)')
    else
      call Fail(error, "'"//fio%path//"' holds another navigation of its shots than the key-map: repeat the job with the "// &
                'key-map that made it, or set overwrite=y to start anew')
    end if
  end subroutine CompareNavigation

  !> Removes the output and its snapshots, which beside new gathers would pass for theirs. The output goes last: after a run that is
  !> killed in between, the next one still asks for overwrite=y.
  subroutine RemoveOutput(path, error)
    character(*), intent(in) :: path
    type(error_t), allocatable, intent(inout) :: error
    integer :: films
    call FioSnapshotsRemove(path, films, error)
    if (.not. allocated(error)) call FileRemove(path, error)
    if (films > 0 .and. .not. allocated(error)) call LogInfo('removed with the old output: '//Str(films)//' file(s) of snapshots')
  end subroutine RemoveOutput

  !> To the refusal of a journal of another job: what is other here, by the parameters that the last run kept and by what the
  !> fingerprint KEY-MAP-MODEL-SCHEME is made of.
  subroutine TellChanges(store, path, header, error)
    type(store_t), intent(in) :: store
    character(*), intent(in) :: path
    type(gather_header_t), intent(in) :: header
    type(error_t), allocatable, intent(inout) :: error
    character(*), parameter :: parts(3) = [character(10) :: 'key-map', 'model', 'parameters']
    type(error_t), allocatable :: none
    character(:), allocatable :: before, what, list
    character(16) :: was(3), is(3)
    integer :: i
    if (.not. allocated(error) .or. .not. allocated(store%journal%fingerprint)) return
    if (store%journal%fingerprint == header%fingerprint) return
    was = Parted(store%journal%fingerprint)
    is = Parted(header%fingerprint)
    what = ''
    do i = 1, 3
      if (was(i) /= is(i)) what = what//', '//trim(parts(i))
    end do
    error%message = error%message//'; other here: '//what(3:)
    call FileText(SidePath(path, 'par'), before, none)
    if (allocated(none) .or. .not. allocated(header%attribute)) return
    list = ''
    do i = 1, size(header%attribute)
      if (header%attribute(i)%name == 'parameters') list = Changes(before, header%attribute(i)%text)
    end do
    if (list == '' .and. was(3) /= is(3)) list = 'all as before: then a wavelet or fault file, or the program'
    if (index(list, 'all as before') == 1 .and. was(2) /= is(2)) list = 'given as before; the time step follows from the model'
    if (list /= '') error%message = error%message//' ('//list//')'
  end subroutine TellChanges

  !> The three parts of a fingerprint; what stands behind the third counts to it.
  pure function Parted(fingerprint) result(part)
    character(*), intent(in) :: fingerprint
    character(16) :: part(3)
    integer :: first, second
    first = index(fingerprint//'-', '-')
    second = first + index(fingerprint(min(first, len(fingerprint)) + 1:)//'-', '-')
    part(1) = fingerprint(:first - 1)
    part(2) = fingerprint(first + 1:second - 1)
    part(3) = fingerprint(second + 1:)
  end function Parted

  ! --- what earlier runs have done -----------------------------------------------------------------------------------

  !> Every shot that the journal calls done must be marked so in the output, under the same checksum; its data are read later.
  subroutine CompareStatus(store, error)
    type(store_t), intent(inout) :: store
    type(error_t), allocatable, intent(inout) :: error
    integer, allocatable :: status(:)
    integer(i8), allocatable :: checksum(:)
    integer :: slot
    if (allocated(error)) return
    store%unread = store%done
    if (store%last_only) store%unread = store%done .and. store%journal%entry(:store%journal%n)%run >= store%journal%whole
    call FioStatus(store%fio, status, error)
    call FioChecksums(store%fio, checksum, error)
    if (.not. allocated(error)) call WarnOfCut(store, count(status == fio_done .and. .not. store%done .and. &
                                                           .not. store%journal%entry(:store%journal%n)%dealt))
    do slot = 1, size(store%done)
      if (allocated(error)) return
      if (.not. store%done(slot)) cycle
      if (status(slot) == fio_done .and. checksum(slot) == store%journal%entry(slot)%checksum) cycle
      call Damaged(store, slot, 'shot record '//Str(store%fio%record(slot))//" of '"//store%path// &
                   "' is not what its journal says was written", error)
    end do
    store%next = FirstUnread(store)
  end subroutine CompareStatus

  !> Shots that the key-map asks for once more than the journal says they were modelled again are to do. What was done of them goes.
  subroutine Redo(store, error)
    type(store_t), intent(inout) :: store
    type(error_t), allocatable, intent(inout) :: error
    integer :: slot, before, first, n
    before = 0
    n = 0
    first = 0
    if (.not. allocated(store%redo)) return
    do slot = 1, size(store%done)
      if (allocated(error)) return
      if (.not. store%done(slot) .or. store%redo(slot) == 0) cycle
      if (store%journal%entry(slot)%redo >= store%redo(slot)) then
        before = before + 1
        if (before == 1) first = store%fio%record(slot)
        cycle
      end if
      call FioSnapshotsDrop(store%path, store%fio%record(slot), error)
      call JournalAppend(store%journal, 'todo', store%fio%record(slot), 0, 0, store%host, 0.0_dp, 'the key-map says redo', error)
      call FioMark(store%fio, slot, fio_todo, error)
      store%done(slot) = .false.
      store%unread(slot) = .false.
      n = n + 1
    end do
    if (n > 0) call LogInfo(Str(n)//' finished shots are modelled again, as the key-map says')
    if (before > 0) call LogInfo(Str(before)//' shots were modelled again already as often as the key-map says redo, the first '// &
                                 'of them '//Str(first)//": another line 'redo "//Str(first)//"' models that one once more")
    store%next = 1
    store%next = FirstUnread(store)
  end subroutine Redo

  !> Warns of shots that the output marks as done and that the journal neither knows nor left with a worker. A kill between the two
  !> writes of a commit leaves some that were with one; a power cut may take the line that says so from one or the other.
  subroutine WarnOfCut(store, unknown)
    type(store_t), intent(in) :: store
    integer, intent(in) :: unknown              !< shots so marked
    if (unknown > 1) call LogWarn(Str(unknown)//" shots are done by '"//store%path//"', not by its journal, which was cut or "// &
                                  'is an older copy; they are to do again')
  end subroutine WarnOfCut

  !> The first slot from store%next on that is to be read; beyond the last slot if there is none.
  pure integer function FirstUnread(store) result(slot)
    type(store_t), intent(in) :: store
    do slot = store%next, size(store%unread)
      if (store%unread(slot)) return
    end do
  end function FirstUnread

  !> Marks a shot that was done as to do again, and names it in the log.
  subroutine Damaged(store, slot, why, error)
    type(store_t), intent(inout) :: store
    integer, intent(in) :: slot
    character(*), intent(in) :: why
    type(error_t), allocatable, intent(inout) :: error
    call JournalAppend(store%journal, 'todo', store%fio%record(slot), 0, 0, store%host, 0.0_dp, why, error)
    call FioMark(store%fio, slot, fio_todo, error)
    store%broken = allocated(error)
    if (allocated(error)) return
    call LogWarn(why//'; it is modelled again')
    store%done(slot) = .false.
    store%unread(slot) = .false.
  end subroutine Damaged

  !> Reads the next shots that are to be read, those side by side at once. `n` of them are found whole, up to one that is to be
  !> looked at by itself.
  subroutine VerifyMany(store, n)
    type(store_t), intent(inout) :: store
    integer, intent(out) :: n
    integer(i8) :: checksum(MANY)
    logical :: right(MANY)
    integer :: first, last, most
    associate (fio => store%fio)
      most = Whole(AT_ONCE/(real(fio%nt, dp)*fio%nrec_max*fio%ncomp), 1, MANY)
    end associate
    first = store%next
    last = first + findloc([store%unread(first:min(first + most - 1, size(store%unread))), .false.], .false., 1) - 2
    n = last - first + 1
    call FioVerifyMany(store%fio, first, checksum(:n), right(:n))
    right(:n) = right(:n) .and. checksum(:n) == store%journal%entry(first:last)%checksum
    n = findloc([right(:n), .false.], .false., 1) - 1
    store%unread(first:first + n - 1) = .false.
    store%read = store%read + n
  end subroutine VerifyMany

  !> Reads shots that earlier runs have done, for some `seconds`. `slot`: one that is damaged and now to do again, 0 = none.
  subroutine StoreVerify(store, seconds, slot, error)
    type(store_t), intent(inout) :: store
    real(dp), intent(in) :: seconds
    integer, intent(out) :: slot
    type(error_t), allocatable, intent(inout) :: error
    type(error_t), allocatable :: fault
    real(dp) :: start
    integer :: n
    slot = 0
    start = host_seconds()
    do while (host_seconds() - start < seconds .and. .not. StoreVerified(store))
      call CheckOurs(store, error)
      if (allocated(error)) exit
      call VerifyMany(store, n)
      if (n == 0) call CheckSlot(store, store%next, fault, error)
      if (allocated(error)) exit
      if (n > 0) then
        continue
      else if (allocated(fault)) then
        call Damaged(store, store%next, fault%message, error)
        if (.not. allocated(error)) slot = store%next
      else
        store%read = store%read + 1
        store%unread(store%next) = .false.
      end if
      store%next = FirstUnread(store)
      if (slot > 0) exit
    end do
    store%reading = store%reading + host_seconds() - start
    if (allocated(error) .or. .not. StoreVerified(store)) return
    call JournalAppend(store%journal, 'verified', 0, 0, 0, store%host, store%reading, '', error)
    call LogInfo(Str(store%read)//' finished shots verified by checksum')
    store%read = 0
  end subroutine StoreVerify

  !> True when no shot is left to be read.
  pure logical function StoreVerified(store) result(verified)
    type(store_t), intent(in) :: store
    verified = store%next > size(store%unread)
  end function StoreVerified

  !> `fault`: the slot is damaged. `error`: the file cannot be read at all, which says nothing about the slot.
  subroutine CheckSlot(store, slot, fault, error)
    type(store_t), intent(inout) :: store
    integer, intent(in) :: slot
    type(error_t), allocatable, intent(inout) :: fault, error
    integer(i8) :: checksum
    integer :: attempt
    if (allocated(error)) return
    do attempt = 1, 2
      call FioVerify(store%fio, slot, checksum, fault)
      if (.not. allocated(fault)) exit
      if (attempt == 2) return
      call ReopenOutput(store, error)               ! else a file system that is away would look like a damaged shot
      if (allocated(error)) return
      deallocate (fault)
    end do
    if (checksum /= store%journal%entry(slot)%checksum) &
      call Fail(fault, 'shot record '//Str(store%fio%record(slot))//": its checksum is not the journal's")
  end subroutine CheckSlot

  ! --- files that were away ------------------------------------------------------------------------------------------

  subroutine ReopenOutput(store, error)
    type(store_t), intent(inout) :: store
    type(error_t), allocatable, intent(inout) :: error
    type(error_t), allocatable :: ignored
    store%broken = .true.
    store%fio%broken = .true.                       ! what cannot be closed is of no interest any more
    call FioClose(store%fio, ignored)
    call FioOpen(store%fio, store%path, error, store%journal%fingerprint)
    store%broken = allocated(error)
  end subroutine ReopenOutput

  !> Opens both files again after they could not be written, as far as that is possible now; both must be there, and what the
  !> journal said was done must still stand in it. Shots that this run wrote are read again: see StoreVerify.
  subroutine StoreReopen(store, error)
    type(store_t), intent(inout) :: store
    type(error_t), allocatable, intent(inout) :: error
    type(journal_t) :: before
    integer :: i
    call CheckOurs(store, error)
    if (allocated(error)) return
    call MustBeThere(store%path, error)
    call MustBeThere(StoreJournalPath(store%path), error)
    if (allocated(error)) return
    call JournalClose(store%journal)
    before = store%journal
    call JournalOpen(store%journal, before%path, before%fingerprint, before%entry%record, .false., error)
    if (.not. allocated(error)) then
      do i = 1, before%n
        if (before%entry(i)%status /= journal_done) cycle
        if (store%journal%entry(i)%status == journal_done .and. store%journal%entry(i)%checksum == before%entry(i)%checksum) cycle
        call Fail(error, "the journal '"//before%path//"' came back without shot record "//Str(before%entry(i)%record)// &
                  ', which stood in it: put the right one back')
        exit
      end do
    end if
    if (.not. allocated(error)) call ReopenOutput(store, error)
    if (.not. allocated(error)) return
    call JournalClose(store%journal)
    store%journal = before
    store%broken = .true.
  end subroutine StoreReopen

  subroutine MustBeThere(path, error)
    character(*), intent(in) :: path
    type(error_t), allocatable, intent(inout) :: error
    if (.not. FileExists(path)) call Fail(error, "'"//path//"' is gone: put it back")
  end subroutine MustBeThere

  !> Tells readers of the lock that this run `waits` for its disk, or no longer does.
  subroutine StoreTell(store, waits)
    type(store_t), intent(in) :: store
    logical, intent(in) :: waits
    call LockTell(store%lock, waits)
  end subroutine StoreTell

  !> Notes that both files can be written again, after so many seconds. Shots done until then are read once more: a file
  !> system that failed may have lost or changed them.
  subroutine StoreResumed(store, seconds, why, error)
    type(store_t), intent(inout) :: store
    real(dp), intent(in) :: seconds
    character(*), intent(in) :: why
    type(error_t), allocatable, intent(inout) :: error
    call JournalAppend(store%journal, 'resume', 0, 0, 0, store%host, seconds, why, error)
    store%broken = allocated(error)
    if (allocated(error)) return
    store%done = store%journal%entry(:store%journal%n)%status == journal_done
    store%unread = store%unread .or. (store%done .and. .not. store%last_only)
    where (store%journal%entry(:store%journal%n)%run == store%journal%starts) store%unread = store%unread .or. store%done
    store%next = 1
    store%next = FirstUnread(store)
  end subroutine StoreResumed

  !> Fails once another run has the lock: then nothing may be written any more.
  subroutine CheckOurs(store, error)
    type(store_t), intent(inout) :: store
    type(error_t), allocatable, intent(inout) :: error
    if (allocated(error)) return
    if (.not. store%taken) store%taken = LockLost(store%lock)
    if (store%taken) call Fail(error, "another run has taken '"//store%path//"' over, as this one had long not been heard of: "// &
                               'this one writes nothing more')
    store%broken = store%broken .or. store%taken
  end subroutine CheckOurs

  ! --- shots -----------------------------------------------------------------------------------------------------------

  !> Notes that a shot went to a worker.
  subroutine StoreDeal(store, slot, attempt, worker, host, error)
    type(store_t), intent(inout) :: store
    integer, intent(in) :: slot, attempt, worker
    character(*), intent(in) :: host
    type(error_t), allocatable, intent(inout) :: error
    call CheckOurs(store, error)
    call JournalAppend(store%journal, 'deal', store%fio%record(slot), attempt, worker, host, 0.0_dp, '', error)
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
    call JournalHold(store%journal, 'done', shot%record, attempt, worker, host, gather%seconds, '', error, checksum, redo)
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
    call JournalAppend(store%journal, 'lost', store%fio%record(slot), attempt, worker, host, 0.0_dp, why, error)
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
    call JournalAppend(store%journal, 'parked', store%fio%record(slot), n, worker, host, 0.0_dp, why, error)
    call FioMark(store%fio, slot, fio_parked, error)
  end subroutine StorePark

  !> Notes that a shot came back unfinished and is to be modelled later, which counts as no loss.
  subroutine StoreBack(store, slot, worker, host, why, error)
    type(store_t), intent(inout) :: store
    integer, intent(in) :: slot, worker
    character(*), intent(in) :: host, why
    type(error_t), allocatable, intent(inout) :: error
    call JournalAppend(store%journal, 'todo', store%fio%record(slot), 0, worker, host, 0.0_dp, why, error)
  end subroutine StoreBack

  !> Notes the end of the run, of `seconds`, as `ended` tells (see runnote.f90), and closes both files.
  subroutine StoreClose(store, seconds, ended, error)
    type(store_t), intent(inout) :: store
    real(dp), intent(in) :: seconds
    character(*), intent(in) :: ended
    type(error_t), allocatable, intent(inout) :: error
    type(error_t), allocatable :: ignored
    if (store%broken .and. .not. store%taken) call StoreReopen(store, ignored)   ! there may be room for this line again
    if (.not. store%taken) call JournalAppend(store%journal, 'stop', 0, 0, 0, store%host, seconds, ended, error)
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
