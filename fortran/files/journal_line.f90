!> A line of the journal of a survey: an event, made and read.
!>
!>     CRC journal 1 FINGERPRINT NSHOTS TIME
!>     CRC EVENT RECORD ATTEMPT WORKER HOST SECONDS TIME NOTE
!>
!> CRC: CRC-32 of the rest of the line, 8 hexadecimal digits. EVENT: start or stop (of a run; RECORD 0; NOTE as runnote.f90 says),
!> deal (to a worker), done (on the disk; NOTE begins with checksum=CRC of the gather, then redo=N if the key-map asked N times for
!> the shot to be modelled again), kept (done, as it stands in a new output that took it over; NOTE as of done), lost, parked (lost
!> too often), todo (to be modelled again), verified (all shots done in earlier runs were read and found whole; RECORD 0), resume
!> (the files could not be written for SECONDS; RECORD 0), grow (a new output took over what the lines before tell; RECORD 0; see
!> grow.f90).
module journal_line_m
  use error_m, only: error_t, Fail
  use clock_m, only: ClockParse, ClockText
  use text_crc32_m, only: Crc32, Hex
  use iso_c_binding, only: c_int
  use journal_c, only: journal_line, journal_line_length, journal_line_read
  use kinds_m, only: dp, i8
  use text_m, only: Str, ToInt, ToReal
  implicit none
  private
  public :: event_t, LineFind, LineRead, LineMake, LineOf, LineWord, LineTime, LineBegins

  !> Kinds of events: of a shot, then of all.
  integer, parameter, public :: event_deal = 1, event_done = 2, event_kept = 3, event_lost = 4, event_parked = 5, event_todo = 6, &
                                event_start = 7, event_stop = 8, event_verified = 9, event_resume = 10, event_grow = 11
  character(8), parameter :: words(0:11) = [character(8) :: '', 'deal', 'done', 'kept', 'lost', 'parked', 'todo', &
                                            'start', 'stop', 'verified', 'resume', 'grow']
  integer, parameter, public :: longest_note = 400
  integer, parameter, public :: line_text = 10              !< where the text of a line begins, behind its checksum
  character(*), parameter :: digits = '0123456789abcdef'    !< of checksums

  !> An event as a line tells it. The words of one that was read stay in it: line(host(1):host(2)), line(note(1):note(2)).
  type :: event_t
    integer :: kind = 0
    integer :: record = 0, attempt = 0, worker = 0
    real(dp) :: seconds = 0, time = 0         !< that the shot, or the run, took; when it was [s since 1970]
    integer(i8) :: checksum = -1              !< of the gather, if done or kept
    integer :: redo = 0                       !< how often the key-map had asked for it again, if done or kept
    integer :: host(2) = [1, 0], note(2) = [1, 0]
  end type event_t

contains

  ! --- reading -------------------------------------------------------------------------------------------------------

  !> Length of the line that begins at text(first:), without its end; -1 where that is missing: then it does not count. Fails where
  !> the line does not begin with the checksum of the rest.
  integer(i8) function LineFind(text, first, error) result(length)
    character(*), intent(in) :: text
    integer(i8), intent(in) :: first
    type(error_t), allocatable, intent(inout) :: error
    integer(c_int) :: whole
    length = journal_line_length(len(text, i8) - first + 1, text(first:), whole)
    if (length >= 0 .and. whole == 0) call Fail(error, &
      'its checksum does not fit: the journal is damaged; restore it from a copy, let spl-merge keep the finished shots '// &
      '(inputs/running.md), or start anew with overwrite=y')
  end function LineFind

  !> Takes a line apart; it is without checksum and end.
  subroutine LineRead(line, e, error)
    character(*), intent(in) :: line
    type(event_t), intent(out) :: e
    type(error_t), allocatable, intent(inout) :: error
    type(journal_line) :: l
    integer(i8) :: checksum
    logical :: ok
    if (journal_line_read(len(line, i8), line, l) == 1) then
      e%kind = KindOf(line(:l%event_length))
      e%record = l%record
      e%attempt = l%attempt
      e%worker = l%worker
      e%host = [l%host_at + 1, l%host_at + l%host_length]
      e%note = [l%note_at + 1, len(line)]
      e%seconds = l%seconds
      e%time = l%time
      checksum = l%checksum
      ok = .true.
    else
      call ReadSlowly(line, e, checksum, ok)
    end if
    if (e%kind == event_done .or. e%kind == event_kept) then
      ok = ok .and. checksum >= 0
      e%checksum = checksum
      call ReadRedo(line(e%note(1):e%note(2)), e%redo)
    end if
    ok = ok .and. e%kind > 0 .and. (e%kind < event_start .or. e%record == 0)
    if (.not. ok .or. e%time < 0) call Fail(error, "'"//line//"' is no event")
  end subroutine LineRead

  pure integer function KindOf(word) result(kind)
    character(*), intent(in) :: word
    do kind = 1, ubound(words, 1)                 ! the most frequent ones come first
      if (word == words(kind)) return
    end do
    kind = 0
  end function KindOf

  !> The same for lines with numbers that are written otherwise. `checksum`: that the note begins with, -1: it does not.
  subroutine ReadSlowly(line, e, checksum, ok)
    character(*), intent(in) :: line
    type(event_t), intent(out) :: e
    integer(i8), intent(out) :: checksum
    logical, intent(out) :: ok
    logical :: fine(4)
    integer :: a, b, next
    next = 1
    call LineWord(line, next, a, b)
    e%kind = KindOf(line(a:b))
    call LineWord(line, next, a, b)
    call ToInt(line(a:b), e%record, fine(1))
    call LineWord(line, next, a, b)
    call ToInt(line(a:b), e%attempt, fine(2))
    call LineWord(line, next, a, b)
    call ToInt(line(a:b), e%worker, fine(3))
    call LineWord(line, next, a, b)
    e%host = [a, b]
    call LineWord(line, next, a, b)
    call ToReal(line(a:b), e%seconds, fine(4))
    e%time = LineTime(line, next)
    e%note = [next, len(line)]
    checksum = -1
    if (len(line) >= next + 16) then
      if (line(next:next + 8) == 'checksum=') checksum = FromHex(line(next + 9:next + 16))
    end if
    ok = all(fine)
  end subroutine ReadSlowly

  !> How often the key-map had asked for a shot again, of a note that begins with its checksum.
  pure subroutine ReadRedo(note, redo)
    character(*), intent(in) :: note
    integer, intent(out) :: redo
    logical :: ok
    redo = 0
    if (len(note) < 24) return
    if (note(18:23) /= ' redo=') return
    call ToInt(note(24:22 + index(note(24:)//' ', ' ')), redo, ok)
    if (.not. ok) redo = 0
  end subroutine ReadRedo

  !> The number that Hex has written, -1 if it is none.
  pure integer(i8) function FromHex(text) result(value)
    character(*), intent(in) :: text
    integer :: i
    value = -1
    if (verify(text, digits) /= 0) return
    value = 0
    do i = 1, len(text)
      value = 16*value + index(digits, text(i:i)) - 1
    end do
  end function FromHex

  !> The next word of a line, line(first:last), from character `next` on, which is then the one behind its blank.
  pure subroutine LineWord(line, next, first, last)
    character(*), intent(in) :: line
    integer, intent(inout) :: next
    integer, intent(out) :: first, last
    integer :: blank
    first = next
    blank = index(line(first:), ' ')
    last = merge(len(line), first + blank - 2, blank == 0)
    next = min(last + 2, len(line) + 1)
  end subroutine LineWord

  !> The next word of a line as a time, -1 if it is none.
  real(dp) function LineTime(line, next) result(time)
    character(*), intent(in) :: line
    integer, intent(inout) :: next
    integer :: a, b
    call LineWord(line, next, a, b)
    time = -1
    if (b - a == 19) time = ClockParse(line(a:b))
  end function LineTime

  !> True of a text that begins as the first line of a journal does, as far as it goes.
  pure logical function LineBegins(text)
    character(*), intent(in) :: text
    character(*), parameter :: after = ' journal 1 '
    integer :: n
    n = int(min(len(text, i8), 8_i8 + len(after)))
    LineBegins = verify(text(:min(8, n)), digits) == 0
    if (n > 8) LineBegins = LineBegins .and. text(9:n) == after(:n - 8)
  end function LineBegins

  ! --- making --------------------------------------------------------------------------------------------------------

  !> The line of an event, without its checksum.
  function LineMake(e, host, note) result(line)
    type(event_t), intent(in) :: e
    character(*), intent(in) :: host, note
    character(:), allocatable :: line
    line = trim(words(e%kind))//' '//Str(e%record)//' '//Str(e%attempt)//' '//Str(e%worker)//' '//OneWord(host)//' '// &
      Str(e%seconds)//' '//ClockText(e%time)//' '
    if (e%kind == event_done .or. e%kind == event_kept) then
      line = line//'checksum='//Hex(e%checksum)//' '
      if (e%redo > 0) line = line//'redo='//Str(e%redo)//' '
    end if
    line = line//Plain(note)
  end function LineMake

  !> A line as it stands in the file.
  function LineOf(line) result(whole)
    character(*), intent(in) :: line
    character(:), allocatable :: whole
    whole = Hex(Crc32(line))//' '//line//new_line('a')
  end function LineOf

  pure function OneWord(text) result(word)
    character(*), intent(in) :: text
    character(:), allocatable :: word
    integer :: i
    word = trim(adjustl(text))
    if (word == '') word = '-'
    word = word(:min(len(word), 64))
    do i = 1, len(word)
      if (iachar(word(i:i)) <= 32 .or. iachar(word(i:i)) == 127) word(i:i) = '_'
    end do
  end function OneWord

  !> A note on one line, cut where it is too long.
  pure function Plain(text) result(line)
    character(*), intent(in) :: text
    character(:), allocatable :: line
    integer :: i
    line = trim(adjustl(text))
    line = line(:min(len(line), longest_note - 20))
    do i = 1, len(line)
      if (iachar(line(i:i)) < 32 .or. iachar(line(i:i)) == 127) line(i:i) = ' '
    end do
  end function Plain

end module journal_line_m
