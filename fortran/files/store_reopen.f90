!> Output and journal that could not be written for a while are opened again, or another run has taken them meanwhile. Arguments
!> stand in store.f90.
submodule(store_m) store_reopen
  use files_m, only: FileExists
  use fio_m, only: FioOpen
  use journal_line_m, only: event_resume
  use journal_m, only: journal_done, JournalOpen, JournalRead, JournalTaken
  use lock_m, only: LockLost
  use text_m, only: Str
  implicit none

contains

  module procedure ReopenOutput
    type(error_t), allocatable :: ignored
    store%broken = .true.
    store%fio%broken = .true.                       ! what cannot be closed is of no interest any more
    call FioClose(store%fio, ignored)
    call FioOpen(store%fio, store%path, error, store%journal%fingerprint)
    store%broken = allocated(error)
  end procedure ReopenOutput

  module procedure StoreReopen
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
  end procedure StoreReopen

  subroutine MustBeThere(path, error)
    character(*), intent(in) :: path
    type(error_t), allocatable, intent(inout) :: error
    if (.not. FileExists(path)) call Fail(error, "'"//path//"' is gone: put it back")
  end subroutine MustBeThere

  module procedure StoreResumed
    call JournalAppend(store%journal, event_t(event_resume, seconds=seconds), store%host, why, error)
    store%broken = allocated(error)
    if (allocated(error)) return
    store%done = store%journal%entry(:store%journal%n)%status == journal_done
    store%unread = store%unread .or. (store%done .and. .not. store%last_only)
    where (store%journal%entry(:store%journal%n)%run == store%journal%starts) store%unread = store%unread .or. store%done
    store%next = 1
    store%next = FirstUnread(store)
  end procedure StoreResumed

  module procedure StoreOthersDone
    type(journal_t) :: journal
    type(error_t), allocatable :: error
    done = .false.
    if (.not. store%taken) return
    call JournalRead(journal, StoreJournalPath(store%path), error)
    if (.not. allocated(error)) done = journal%done == journal%n .and. .not. journal%open
  end procedure StoreOthersDone

  module procedure CheckOurs
    if (allocated(error)) return
    if (.not. store%taken) store%taken = LockLost(store%lock)
    if (.not. store%taken) store%taken = JournalTaken(store%journal)      ! by one that has ended since: its lock is gone, too
    if (store%taken) call Fail(error, "another run has taken '"//store%path//"' over, as this one had long not been heard of: "// &
                               'this one writes nothing more')
    store%broken = store%broken .or. store%taken
  end procedure CheckOurs

end submodule store_reopen
