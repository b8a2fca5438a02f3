!> What earlier runs have done: output and journal must agree on it, and its data are read while new shots are modelled. Arguments
!> stand in store.f90.
submodule(store_m) store_verify
  use checked_m, only: Whole
  use fio_m, only: fio_done, fio_todo, FioChecksums, FioStatus, FioVerify, FioVerifyMany
  use host_c, only: host_seconds
  use journal_line_m, only: event_verified
  use log_m, only: LogInfo, LogWarn
  use snapshots_m, only: FioSnapshotsDrop
  use text_m, only: Counted, Str
  implicit none

  integer, parameter :: MANY = 256              !< slots that are verified at once, of so many samples
  real(dp), parameter :: AT_ONCE = 5.0e5_dp

contains

  module procedure CompareStatus
    integer, allocatable :: status(:)
    integer(i8), allocatable :: checksum(:)
    integer :: slot
    if (allocated(error)) return
    store%unread = store%done
    if (store%last_only) store%unread = store%done .and. store%journal%entry(:store%journal%n)%run >= store%journal%whole
    call FioStatus(store%fio, status, error)
    call FioChecksums(store%fio, checksum, error)
    associate (entry => store%journal%entry(:store%journal%n))
      if (.not. allocated(error)) call WarnOfCut(store, count(status == fio_done .and. .not. store%done .and. &
                                                             .not. (entry%dealt .or. entry%orphan)))
    end associate
    do slot = 1, size(store%done)
      if (allocated(error)) return
      if (.not. store%done(slot)) cycle
      if (status(slot) == fio_done .and. checksum(slot) == store%journal%entry(slot)%checksum) cycle
      call Damaged(store, slot, 'shot record '//Str(store%fio%record(slot))//" of '"//store%path// &
                   "' is not what its journal says was written", error)
    end do
    store%next = FirstUnread(store)
  end procedure CompareStatus

  module procedure Redo
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
      call JournalAppend(store%journal, event_t(event_todo, store%fio%record(slot)), store%host, 'the key-map says redo', error)
      call FioMark(store%fio, slot, fio_todo, error)
      store%done(slot) = .false.
      store%unread(slot) = .false.
      n = n + 1
    end do
    if (n > 0) call LogInfo(Counted(n, 'finished shot is', 'finished shots are')//' modelled again, as the key-map says')
    if (before > 0) call LogInfo(Counted(before, 'shot was', 'shots were')// &
                                 ' modelled again already as often as the key-map says redo, the first '// &
                                 'of them '//Str(first)//": another line 'redo "//Str(first)//"' models that one once more")
    store%next = 1
    store%next = FirstUnread(store)
  end procedure Redo

  !> Warns of shots that the output marks as done and that the journal neither knows nor left with a worker, in whatever run. A kill
  !> between the two writes of a commit leaves some that were with one; a power cut may take the line that says so from one or the
  !> other.
  subroutine WarnOfCut(store, unknown)
    type(store_t), intent(in) :: store
    integer, intent(in) :: unknown              !< shots so marked
    if (unknown > 1) call LogWarn(Str(unknown)//" shots are done by '"//store%path//"', not by its journal, which was cut or "// &
                                  'is an older copy; they are to do again')
  end subroutine WarnOfCut

  module procedure FirstUnread
    do slot = store%next, size(store%unread)
      if (store%unread(slot)) return
    end do
  end procedure FirstUnread

  !> Marks a shot that was done as to do again, and names it in the log.
  subroutine Damaged(store, slot, why, error)
    type(store_t), intent(inout) :: store
    integer, intent(in) :: slot
    character(*), intent(in) :: why
    type(error_t), allocatable, intent(inout) :: error
    call JournalAppend(store%journal, event_t(event_todo, store%fio%record(slot)), store%host, why, error)
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

  module procedure StoreVerify
    type(error_t), allocatable :: damage
    real(dp) :: start
    integer :: n
    slot = 0
    start = host_seconds()
    do while (host_seconds() - start < seconds .and. .not. StoreVerified(store))
      call CheckOurs(store, error)
      if (allocated(error)) exit
      call VerifyMany(store, n)
      if (n == 0) call CheckSlot(store, store%next, damage, error)
      if (allocated(error)) exit
      if (n > 0) then
        continue
      else if (allocated(damage)) then
        call Damaged(store, store%next, damage%message, error)
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
    call JournalAppend(store%journal, event_t(event_verified, seconds=store%reading), store%host, '', error)
    call LogInfo(Counted(store%read, 'finished shot')//' verified by checksum')
    store%read = 0
  end procedure StoreVerify

  module procedure StoreVerified
    verified = store%next > size(store%unread)
  end procedure StoreVerified

  !> `damage`: the slot is damaged. `error`: the file cannot be read at all, which says nothing about the slot.
  subroutine CheckSlot(store, slot, damage, error)
    type(store_t), intent(inout) :: store
    integer, intent(in) :: slot
    type(error_t), allocatable, intent(inout) :: damage, error
    integer(i8) :: checksum
    integer :: attempt
    if (allocated(error)) return
    do attempt = 1, 2
      call FioVerify(store%fio, slot, checksum, damage)
      if (.not. allocated(damage)) exit
      if (attempt == 2) return
      call ReopenOutput(store, error)               ! else a file system that is away would look like a damaged shot
      if (allocated(error)) return
      deallocate (damage)
    end do
    if (checksum /= store%journal%entry(slot)%checksum) &
      call Fail(damage, 'shot record '//Str(store%fio%record(slot))//": its checksum is not the journal's")
  end subroutine CheckSlot

end submodule store_verify
