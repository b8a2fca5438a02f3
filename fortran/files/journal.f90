!> The journal of a survey: what became of each shot, one line an event (journal_line.f90), appended and never changed.
!>
!> All but deal are on the disk when JournalAppend returns. A last line without its end was being written when the power went: it
!> does not count. Anything else that is wrong is refused. What is known of a shot holds no text: hosts have numbers, and so have
!> the notes that somebody may ask for, so that the journal of many shots is soon read. How lines are read stands in
!> journal_replay.f90, the journal of a survey that has grown is made in journal_grown.f90.
module journal_m
  use error_m, only: error_t, Fail, FailFromC
  use files_c, only: append_close, append_locked, append_open, append_others, append_reserve, append_truncate, append_write
  use clock_m, only: ClockSeconds, ClockText
  use files_m, only: FileHead, FileText
  use text_crc32_m, only: Crc32, Hex
  use iso_c_binding, only: c_associated, c_int, c_null_ptr, c_ptr
  use journal_line_m, only: event_deal, event_done, event_t, LineBegins, LineFind, LineMake, LineOf, LineRead, LineWord
  use kinds_m, only: dp, i8
  use path_c, only: path_kind, path_nothing
  use text_m, only: CString, Str
  implicit none
  private
  public :: journal_t, JournalOpen, JournalBegun, JournalRead, JournalKnown, JournalAppend, JournalClose, JournalFind
  public :: JournalHold, JournalRelease, JournalGrown, JournalHead, JournalHost, JournalMark, JournalNote, JournalTaken
  public :: JournalMemory, JournalSpace
  public :: journal_done, journal_parked

  integer, parameter :: journal_todo = 0, journal_done = 1, journal_parked = 2   !< values of entry_t%status, as in the output
  integer, parameter :: SEATS = 256             !< workers whose hosts are found at once
  integer, parameter :: longest_first_line = 400
  integer(i8), parameter :: line_bytes = 400    !< of a shot that is dealt and done, with room for a loss

  !> The state of a shot.
  type :: entry_t
    integer :: record = 0
    integer :: status = journal_todo
    logical :: dealt = .false.                !< the journal says that a worker has it
    logical :: orphan = .false.               !< one had it when a run was killed, and it was not done since
    integer :: deals = 0                      !< how often it was dealt
    integer :: losses = 0                     !< how often it was lost since it was last set to do again
    integer :: worker = 0                     !< of the last event
    integer :: host = 0                       !< number of the host of the last event, see JournalHost
    real(dp) :: seconds = 0                   !< of the last event
    real(dp) :: time = 0                      !< of the last event [s since 1970]
    integer :: run = 0                        !< run of the last event, 1 = the first
    integer(i8) :: checksum = 0               !< of the gather, if done
    integer :: redo = 0                       !< how often the key-map had asked for it again when it was last done
    integer :: note = 0                       !< number of the note of the last event, see JournalNote
  end type entry_t

  type :: line_t
    character(:), allocatable :: text
  end type line_t

  type :: journal_t
    type(c_ptr) :: handle = c_null_ptr
    character(:), allocatable :: path, fingerprint
    integer :: nshots = 0                     !< shots of the survey
    integer :: n = 0                          !< shots known, the first n entries
    type(entry_t), allocatable :: entry(:)    !< sorted by record; opened for writing: one for each shot
    integer :: done = 0, parked = 0           !< shots in these states
    integer :: starts = 0                     !< runs so far
    integer :: grown = 0                      !< how often the survey has grown
    character(:), allocatable :: growth       !< note of the last time, '' = never
    integer :: whole = 0                      !< shots done before this run were all found whole later
    real(dp) :: created = 0, started = 0, latest = 0   !< first line, last start, last event [s since 1970], 0 = never
    character(:), allocatable :: begun, ended !< notes of the last start and of its stop, see runnote.f90; '' = none
    character(64) :: host = ''                !< of the last start
    logical :: open = .false.                 !< the last start, or growth, was followed by no stop: running, or killed
    logical :: taken = .false.                !< another run has made what was to be forgotten
    logical :: running = .false.              !< as JournalRead found it: somebody holds the file
    character(:), allocatable :: job          !< opened for writing: the fingerprint and the records must be this job's
    type(line_t), allocatable, private :: hosts(:), notes(:)   !< those that have numbers, (nhosts) and (nnotes) of them used
    integer, private :: nhosts = 0, nnotes = 0
    integer, private :: seat(0:SEATS - 1) = 0 !< host that a worker was last on, by its number modulo SEATS
    type(line_t), allocatable :: held(:)      !< lines that JournalRelease will write, (nheld) of them used
    integer :: nheld = 0
  end type journal_t

  interface
    ! --- journal_replay.f90

    !> Goes through all whole lines; `good` is their length in bytes, 0 if there is not even a first one.
    module subroutine Replay(journal, text, good, error)
      type(journal_t), intent(inout) :: journal
      character(*), intent(in) :: text
      integer(i8), intent(out) :: good
      type(error_t), allocatable, intent(inout) :: error
    end subroutine Replay

    !> True of a text without an end of line that can be the beginning of a first line.
    pure module logical function TornHeader(text)
      character(*), intent(in) :: text
    end function TornHeader

    module subroutine TakeEvent(journal, line, error)
      type(journal_t), intent(inout) :: journal
      character(*), intent(in) :: line
      type(error_t), allocatable, intent(inout) :: error
    end subroutine TakeEvent

    !> The number of known records that are smaller.
    pure module integer function Below(journal, record) result(n)
      type(journal_t), intent(in) :: journal
      integer, intent(in) :: record
    end function Below

    module subroutine AddText(list, n, text)
      type(line_t), allocatable, intent(inout) :: list(:)
      integer, intent(inout) :: n
      character(*), intent(in) :: text
    end subroutine AddText

    ! --- journal_grown.f90

    !> The text of the journal of an output that has taken over shots of the one whose journal this is, as JournalRead found it in
    !> `text`: its lines on shots that are still there, and, for each of these that was done, what the new output holds of it.
    !> `done`, `checksum`: of the shots `records` in the new output; `host`: who does it; `note`: of the growth.
    module function JournalGrown(journal, text, fingerprint, records, done, checksum, host, note) result(grown)
      type(journal_t), intent(in) :: journal
      character(*), intent(in) :: text, fingerprint, host, note
      integer, intent(in) :: records(:)
      logical, intent(in) :: done(:)
      integer(i8), intent(in) :: checksum(:)
      character(:), allocatable :: grown
    end function JournalGrown
  end interface

contains

  !> Opens the journal at `path` for the shots `records` (rising), replaying what is there; made if missing. One writer at a time.
  !> A journal of another job is refused. `overwrite`: whatever is there is forgotten; `mark`: if it still is what JournalMark has
  !> found, else another run has made it meanwhile.
  subroutine JournalOpen(journal, path, fingerprint, records, overwrite, error, mark)
    type(journal_t), intent(inout) :: journal
    character(*), intent(in) :: path, fingerprint
    integer, intent(in) :: records(:)
    logical, intent(in) :: overwrite
    type(error_t), allocatable, intent(inout) :: error
    character(*), intent(in), optional :: mark
    character(:), allocatable :: text
    integer(i8) :: good
    call JournalClose(journal)
    if (allocated(error)) return
    call Reset(journal, path)
    if (fingerprint == '' .or. index(fingerprint, ' ') > 0) call Fail(error, &
      "a fingerprint must be one word, not '"//fingerprint//"'")
    if (allocated(error)) return
    allocate (journal%entry(size(records)))
    journal%entry%record = records
    journal%n = size(records)
    journal%job = fingerprint
    journal%handle = append_open(CString(path))
    if (.not. c_associated(journal%handle)) call FailFromC(1, error)
    if (allocated(error)) return
    if (overwrite .and. present(mark)) journal%taken = JournalMark(path) /= mark
    if (journal%taken) call Fail(error, "journal '"//path//"' is another run's")
    if (overwrite .and. .not. allocated(error)) call FailFromC(append_truncate(journal%handle, 0_i8), error)
    if (.not. allocated(error)) call FileText(path, text, error)
    if (.not. allocated(error)) call Replay(journal, text, good, error)
    if (.not. allocated(error) .and. good < len(text, i8)) call FailFromC(append_truncate(journal%handle, good), error)
    if (.not. allocated(error)) call append_reserve(journal%handle, size(records)*line_bytes)
    if (.not. allocated(error) .and. good == 0) call Begin(journal, fingerprint, error)
    if (allocated(error)) call JournalClose(journal)
  end subroutine JournalOpen

  !> A word that tells what a journal holds, to see later whether it still does.
  function JournalMark(path) result(mark)
    character(*), intent(in) :: path
    character(:), allocatable :: mark, text
    type(error_t), allocatable :: none
    call FileText(path, text, none)             ! one that is not there holds as much as an empty one
    mark = Str(len(text, i8))//' '//Hex(Crc32(text))
  end function JournalMark

  !> True of a journal that has its first line. One that cannot be read counts as one that has: JournalRead says what is wrong.
  logical function JournalBegun(path) result(begun)
    character(*), intent(in) :: path
    character(:), allocatable :: text
    type(error_t), allocatable :: error
    begun = path_kind(CString(path)) /= path_nothing
    if (begun) call FileHead(path, int(longest_first_line, i8), text, error)
    if (begun .and. .not. allocated(error)) begun = index(text, new_line('a')) > 0 .or. .not. TornHeader(text)
  end function JournalBegun

  !> The fingerprint and the lines `grow` of the text of a journal, which is not checked; '' if it has no first line.
  subroutine JournalHead(text, fingerprint, grown)
    character(*), intent(in) :: text
    character(:), allocatable, intent(out) :: fingerprint
    integer, intent(out) :: grown
    integer(i8) :: first, length
    integer :: a, b, next
    grown = 0
    first = 1
    fingerprint = ''
    do
      length = index(text(first:), new_line('a'), kind=i8)
      if (length == 0) exit
      if (first == 1) then
        associate (line => text(min(10_i8, length):min(length - 1, int(longest_first_line, i8))))
          next = merge(11, 1, index(line, 'journal 1 ') == 1)
          call LineWord(line, next, a, b)
          fingerprint = line(a:b)
        end associate
      else if (length > 15) then
        if (text(first + 9:first + 13) == 'grow ') grown = grown + 1
      end if
      first = first + length
    end do
  end subroutine JournalHead

  !> Reads a journal without touching it, also while it is being written. `records`: of most of its shots, rising, where they are
  !> known; else it takes long to find the places of many shots that were dealt in no order.
  subroutine JournalRead(journal, path, error, records)
    type(journal_t), intent(inout) :: journal
    character(*), intent(in) :: path
    type(error_t), allocatable, intent(inout) :: error
    integer, intent(in), optional :: records(:)
    character(:), allocatable :: text
    integer(i8) :: good
    integer :: locked
    call JournalClose(journal)
    call Reset(journal, path)
    if (present(records)) journal%n = size(records)
    allocate (journal%entry(max(64, journal%n)))
    if (present(records)) journal%entry(:journal%n)%record = records
    call FileText(path, text, error)
    if (allocated(error)) return
    call Replay(journal, text, good, error)
    if (good == 0) call Fail(error, "journal '"//path//"' has no first line yet: the run has only just begun")
    locked = append_locked(CString(path))
    journal%running = locked == 1
  end subroutine JournalRead

  !> Memory that the journal of so many shots takes, that which is read to go on with it included [bytes].
  pure real(dp) function JournalMemory(shots) result(bytes)
    integer, intent(in) :: shots
    type(entry_t) :: e
    bytes = shots*(storage_size(e)/8 + line_bytes/3.0_dp)
  end function JournalMemory

  !> Disk space that the journal of so many shots takes at the start [bytes].
  pure real(dp) function JournalSpace(shots) result(bytes)
    integer, intent(in) :: shots
    bytes = real(shots, dp)*line_bytes
  end function JournalSpace

  !> True of a file that is a journal, whole or damaged, or one to which nothing has been written yet.
  logical function JournalKnown(path) result(known)
    character(*), intent(in) :: path
    type(error_t), allocatable :: error, damaged
    character(:), allocatable :: text
    integer(i8) :: first, length
    call FileHead(path, 1000000_i8, text, error)        ! another file may be larger than the memory
    known = .false.
    if (allocated(error)) return
    known = LineBegins(text)                            ! an empty file does, and a first line that is torn
    first = 1
    do while (.not. known .and. first <= len(text, i8)) ! its first line may be damaged beyond recognition, but hardly all of them
      length = LineFind(text, first, damaged)
      if (length < 0) exit
      known = .not. allocated(damaged)
      if (allocated(damaged)) deallocate (damaged)
      first = first + length + 1
    end do
  end function JournalKnown

  subroutine Reset(journal, path)
    type(journal_t), intent(inout) :: journal
    character(*), intent(in) :: path
    journal = journal_t()
    journal%path = path
    journal%begun = ''
    journal%ended = ''
    journal%growth = ''
  end subroutine Reset

  !> Closes and unlocks; what was read stays. Twice is harmless.
  subroutine JournalClose(journal)
    type(journal_t), intent(inout) :: journal
    call append_close(journal%handle)
    journal%handle = c_null_ptr
  end subroutine JournalClose

  ! --- writing -------------------------------------------------------------------------------------------------------

  !> First line of a new journal.
  subroutine Begin(journal, fingerprint, error)
    type(journal_t), intent(inout) :: journal
    character(*), intent(in) :: fingerprint
    type(error_t), allocatable, intent(inout) :: error
    journal%nshots = journal%n
    journal%fingerprint = fingerprint
    journal%created = ClockSeconds()
    call PutText(journal, LineOf('journal 1 '//fingerprint//' '//Str(journal%nshots)//' '//ClockText(journal%created)), .true., &
                 error)
  end subroutine Begin

  !> Appends an event of now and takes it into account. Returns after the line is on the disk, except for deal, which may be
  !> forgotten without harm.
  subroutine JournalAppend(journal, event, host, note, error)
    type(journal_t), intent(inout) :: journal
    type(event_t), intent(in) :: event
    character(*), intent(in) :: host, note
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: line
    call MakeLine(journal, event, host, note, line, error)
    call PutText(journal, LineOf(line), event%kind /= event_deal, error)
    call TakeEvent(journal, line, error)
  end subroutine JournalAppend

  !> The same, but the line is written together with others, and only then taken into account, by JournalRelease.
  subroutine JournalHold(journal, event, host, note, error)
    type(journal_t), intent(inout) :: journal
    type(event_t), intent(in) :: event
    character(*), intent(in) :: host, note
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: line
    call MakeLine(journal, event, host, note, line, error)
    if (allocated(error)) return
    call AddText(journal%held, journal%nheld, line)
  end subroutine JournalHold

  !> Returns after all lines held back are on the disk. After an error none of them counts, and they are forgotten.
  subroutine JournalRelease(journal, error)
    type(journal_t), intent(inout) :: journal
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: text
    integer :: i, n
    n = journal%nheld
    journal%nheld = 0
    text = ''
    do i = 1, n
      text = text//LineOf(journal%held(i)%text)
    end do
    if (n > 0) call PutText(journal, text, .true., error)
    do i = 1, n
      call TakeEvent(journal, journal%held(i)%text, error)
    end do
  end subroutine JournalRelease

  !> The line of an event of now, rehearsed: none is written that a replay would refuse.
  subroutine MakeLine(journal, event, host, note, line, error)
    type(journal_t), intent(in) :: journal
    type(event_t), intent(in) :: event
    character(*), intent(in) :: host, note
    character(:), allocatable, intent(out) :: line
    type(error_t), allocatable, intent(inout) :: error
    type(event_t) :: e
    line = ''
    if (allocated(error)) return
    if (.not. c_associated(journal%handle)) call Fail(error, 'the journal is not open')
    if (event%kind == event_done .and. event%checksum < 0) &
      call Fail(error, 'a shot is done only with the checksum of its gather')
    e = event
    e%time = ClockSeconds()
    line = LineMake(e, host, note)
    call Rehearse(journal, line, error)
  end subroutine MakeLine

  subroutine Rehearse(journal, line, error)
    type(journal_t), intent(in) :: journal
    character(*), intent(in) :: line
    type(error_t), allocatable, intent(inout) :: error
    type(event_t) :: e
    if (allocated(error)) return
    call LineRead(line, e, error)
    if (allocated(error)) return
    if (e%record /= 0) then
      if (JournalFind(journal, e%record) == 0) call Fail(error, 'shot record '//Str(e%record)//' is not in the journal')
    end if
  end subroutine Rehearse

  subroutine PutText(journal, text, sync, error)
    type(journal_t), intent(in) :: journal
    character(*), intent(in) :: text
    logical, intent(in) :: sync
    type(error_t), allocatable, intent(inout) :: error
    if (allocated(error)) return
    call FailFromC(append_write(journal%handle, text, len(text, i8), merge(1_c_int, 0_c_int, sync)), error)
  end subroutine PutText

  !> True if another run has written to the journal since this one opened it, or came to it before.
  logical function JournalTaken(journal) result(taken)
    type(journal_t), intent(in) :: journal
    taken = journal%taken
    if (c_associated(journal%handle)) taken = append_others(journal%handle, CString(' start 0 ')) == 1
  end function JournalTaken

  ! --- what is known -------------------------------------------------------------------------------------------------

  !> The host of the last event of entry `i`, '' if there was none.
  pure function JournalHost(journal, i) result(host)
    type(journal_t), intent(in) :: journal
    integer, intent(in) :: i
    character(:), allocatable :: host
    host = ''
    if (journal%entry(i)%host > 0) host = journal%hosts(journal%entry(i)%host)%text
  end function JournalHost

  !> The note of the last event of entry `i`, if that was a loss, or set the shot to do again; else ''.
  pure function JournalNote(journal, i) result(note)
    type(journal_t), intent(in) :: journal
    integer, intent(in) :: i
    character(:), allocatable :: note
    note = ''
    if (journal%entry(i)%note > 0) note = journal%notes(journal%entry(i)%note)%text
  end function JournalNote

  !> Number of the entry of a shot record, 0 if it is unknown.
  pure integer function JournalFind(journal, record) result(at)
    type(journal_t), intent(in) :: journal
    integer, intent(in) :: record
    at = Below(journal, record) + 1
    if (at > journal%n) then
      at = 0
    else if (journal%entry(at)%record /= record) then
      at = 0
    end if
  end function JournalFind

end module journal_m
