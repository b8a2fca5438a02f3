!> Reads a journal line by line: what each event says of the survey and of its shot. Arguments stand in journal.f90.
submodule(journal_m) journal_replay
  use error_m, only: AddContext
  use journal_line_m, only: event_deal, event_done, event_grow, event_kept, event_lost, event_parked, event_resume, event_start, &
                            event_stop, event_todo, event_verified, line_text, LineTime, longest_note
  use text_m, only: Counted, ToInt
  implicit none

contains

  module procedure Replay
    integer(i8) :: first, length
    integer :: number
    first = 1
    number = 0
    good = 0
    do while (first <= len(text, i8))
      length = LineFind(text, first, error)
      if (length < 0) exit
      number = number + 1
      if (number == 1) then
        call TakeHeader(journal, text(first + line_text - 1:first + length - 1), error)
      else
        call TakeEvent(journal, text(first + line_text - 1:first + length - 1), error)
      end if
      if (allocated(error)) then
        call AddContext(error, "journal '"//journal%path//"', line "//Str(number))
        return
      end if
      ! before any event: those of another job would only be told as unknown shots
      if (number == 1 .and. allocated(journal%job)) call CheckJob(journal, journal%job, error)
      if (allocated(error)) return
      first = first + length + 1
      good = first - 1
    end do
    if (good == 0 .and. len(text, i8) > 0) then
      if (.not. TornHeader(text)) call Fail(error, "'"//journal%path//"' is no journal: choose another output")
    end if
  end procedure Replay

  module procedure TornHeader
    TornHeader = len(text, i8) < longest_first_line .and. LineBegins(text)
  end procedure TornHeader

  subroutine TakeHeader(journal, line, error)
    type(journal_t), intent(inout) :: journal
    character(*), intent(in) :: line
    type(error_t), allocatable, intent(inout) :: error
    integer :: a, b, next
    logical :: ok
    if (allocated(error)) return
    next = 1
    call LineWord(line, next, a, b)
    ok = line(a:b) == 'journal'
    if (ok) then
      call LineWord(line, next, a, b)
      if (line(a:b) /= '1') then
        call Fail(error, 'it was written by another version of this program: use that one, or start anew with overwrite=y')
        return
      end if
      call LineWord(line, next, a, b)
      journal%fingerprint = line(a:b)
      call LineWord(line, next, a, b)
      call ToInt(line(a:b), journal%nshots, ok)
      journal%created = LineTime(line, next)
    end if
    if (.not. ok) call Fail(error, 'this is no journal: choose another output')
  end subroutine TakeHeader

  module procedure TakeEvent
    type(event_t) :: e
    integer :: i, host, note
    if (allocated(error)) return
    call LineRead(line, e, error)
    if (allocated(error)) return
    journal%latest = e%time
    select case (e%kind)
    case (event_start)
      journal%starts = journal%starts + 1
      journal%started = e%time
      journal%open = .true.
      journal%begun = NoteOf(line, e)
      journal%ended = ''
      journal%host = line(e%host(1):e%host(2))
      journal%entry%orphan = journal%entry%orphan .or. journal%entry%dealt
      journal%entry%dealt = .false.   ! whatever an earlier run had dealt died with it
    case (event_stop)
      journal%open = .false.
      journal%ended = NoteOf(line, e)
      journal%entry%dealt = .false.
    case (event_verified)
      journal%whole = journal%starts
    case (event_resume)
    case (event_grow)
      journal%grown = journal%grown + 1
      journal%open = .true.           ! no run has ended since, as the one that grows has yet to begin
      journal%growth = NoteOf(line, e)
    case default
      i = JournalFind(journal, e%record)
      if (i == 0 .and. .not. allocated(journal%job)) i = Insert(journal, e%record)
      if (i == 0) then
        call Fail(error, 'shot record '//Str(e%record)//' is not one of this job: set overwrite=y to start anew')
      else
        call TakeHost(journal, line(e%host(1):e%host(2)), e%worker, host)
        call TakeNote(journal, line, e, note)
        journal%entry(i)%host = host
        journal%entry(i)%note = note
        call Change(journal, journal%entry(i), e)
      end if
    end select
  end procedure TakeEvent

  pure function NoteOf(line, e) result(note)
    character(*), intent(in) :: line
    type(event_t), intent(in) :: e
    character(:), allocatable :: note
    note = trim(line(e%note(1):min(e%note(2), e%note(1) + longest_note - 1)))
  end function NoteOf

  !> The number of a host; those on which workers of that number were last are looked at first.
  subroutine TakeHost(journal, host, worker, number)
    type(journal_t), intent(inout) :: journal
    character(*), intent(in) :: host
    integer, intent(in) :: worker
    integer, intent(out) :: number
    integer :: i
    associate (seat => journal%seat(modulo(worker, SEATS)))
      if (Known(seat)) then
        number = seat
        return
      end if
      do i = 1, journal%nhosts
        if (Known(i)) exit
      end do
      if (i > journal%nhosts) call AddText(journal%hosts, journal%nhosts, host)
      seat = i
      number = i
    end associate
  contains
    pure logical function Known(i)
      integer, intent(in) :: i
      Known = i > 0
      if (Known) Known = journal%hosts(i)%text == host
    end function Known
  end subroutine TakeHost

  !> The number of the note of a loss, or of a shot that is to do again; 0: there is none.
  subroutine TakeNote(journal, line, e, number)
    type(journal_t), intent(inout) :: journal
    character(*), intent(in) :: line
    type(event_t), intent(in) :: e
    integer, intent(out) :: number
    number = 0
    if (all(e%kind /= [event_lost, event_parked, event_todo])) return
    if (NoteOf(line, e) == '') return
    call AddText(journal%notes, journal%nnotes, NoteOf(line, e))
    number = journal%nnotes
  end subroutine TakeNote

  !> Applies an event to what is known of its shot; host and note are taken already.
  subroutine Change(journal, old, e)
    type(journal_t), intent(inout) :: journal
    type(entry_t), intent(inout) :: old
    type(event_t), intent(in) :: e
    integer :: before
    before = old%status
    old%worker = e%worker
    old%seconds = e%seconds
    old%time = e%time
    old%run = journal%starts
    old%dealt = e%kind == event_deal
    select case (e%kind)
    case (event_deal)
      old%deals = old%deals + 1
      if (old%status == journal_parked) old%status = journal_todo     ! a later run tries it anew
    case (event_done, event_kept)
      old%status = journal_done
      old%orphan = .false.
      old%checksum = e%checksum
      old%redo = e%redo
    case (event_lost)
      old%losses = old%losses + 1
    case (event_parked)
      old%status = journal_parked
    case (event_todo)
      old%status = journal_todo
      old%losses = 0
      old%checksum = 0
    end select
    journal%done = journal%done + merge(1, 0, old%status == journal_done) - merge(1, 0, before == journal_done)
    journal%parked = journal%parked + merge(1, 0, old%status == journal_parked) - merge(1, 0, before == journal_parked)
  end subroutine Change

  !> Makes room for a record seen for the first time.
  integer function Insert(journal, record) result(at)
    type(journal_t), intent(inout) :: journal
    integer, intent(in) :: record
    type(entry_t), allocatable :: more(:)
    integer :: i
    if (journal%n == size(journal%entry)) then
      allocate (more(2*journal%n))
      more(:journal%n) = journal%entry
      call move_alloc(more, journal%entry)
    end if
    at = Below(journal, record) + 1
    do i = journal%n, at, -1
      journal%entry(i + 1) = journal%entry(i)
    end do
    journal%entry(at) = entry_t()
    journal%entry(at)%record = record
    journal%n = journal%n + 1
  end function Insert

  subroutine CheckJob(journal, fingerprint, error)
    type(journal_t), intent(in) :: journal
    character(*), intent(in) :: fingerprint
    type(error_t), allocatable, intent(inout) :: error
    if (journal%fingerprint /= fingerprint) then
      call Fail(error, "journal '"//journal%path//"' belongs to another job (its fingerprint is '"//journal%fingerprint// &
        "', this job's '"//fingerprint//"'): repeat the job that made it, set overwrite=y to start anew, or choose another output")
    else if (journal%nshots /= journal%n) then
      call Fail(error, "journal '"//journal%path//"' is of "//Counted(journal%nshots, 'shot')// &
                ', this job has '//Str(journal%n)// &
        ': set overwrite=y to start anew, or choose another output')
    end if
  end subroutine CheckJob

  module procedure Below
    integer :: high, middle
    n = 0
    high = journal%n
    if (high > 0) then                          ! shots are mostly dealt in the order of their records
      if (journal%entry(high)%record < record) n = high
    end if
    do while (n < high)
      middle = (n + high)/2
      if (journal%entry(middle + 1)%record < record) then
        n = middle + 1
      else
        high = middle
      end if
    end do
  end procedure Below

  module procedure AddText
    type(line_t), allocatable :: more(:)
    if (.not. allocated(list)) allocate (list(16))
    if (n == size(list)) then
      allocate (more(2*n))
      more(:n) = list
      call move_alloc(more, list)
    end if
    n = n + 1
    list(n)%text = text
  end procedure AddText

end submodule journal_replay
