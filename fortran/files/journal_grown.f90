!> The journal of a survey that has grown. Arguments stand in journal.f90.
submodule(journal_m) journal_grown
  use journal_line_m, only: event_grow, event_kept, event_todo, line_text
  use sort_m, only: SortFind
  implicit none

contains

  module procedure JournalGrown
    type(error_t), allocatable :: none
    type(entry_t) :: e
    type(event_t) :: line
    integer(i8) :: first, length, at
    integer :: i, slot
    real(dp) :: now
    now = ClockSeconds()
    call Room(grown, len(text, i8) + 128_i8*(size(records) + 2))
    at = 0
    call Put(grown, at, LineOf('journal 1 '//fingerprint//' '//Str(size(records))//' '//ClockText(journal%created)))
    first = index(text, new_line('a'), kind=i8) + 1
    do while (first <= len(text, i8))
      length = index(text(first:), new_line('a'), kind=i8)
      if (length == 0) exit                         ! torn: it does not count
      call LineRead(text(first + line_text - 1:first + length - 2), line, none)
      slot = 1
      if (line%record /= 0) slot = SortFind(records, line%record)
      if (slot > 0) call Put(grown, at, text(first:first + length - 1))
      first = first + length
    end do
    do i = 1, journal%n
      e = journal%entry(i)
      slot = SortFind(records, e%record)
      if (slot == 0 .or. e%status /= journal_done) cycle
      if (done(slot)) then
        call Put(grown, at, LineOf(LineMake(event_t(event_kept, e%record, 0, e%worker, e%seconds, e%time, checksum(slot), &
                                                    e%redo), JournalHost(journal, i), '')))
      else
        call Put(grown, at, LineOf(LineMake(event_t(event_todo, e%record, time=now), host, 'not taken over')))
      end if
    end do
    call Put(grown, at, LineOf(LineMake(event_t(event_grow, time=now), host, note)))
    grown = grown(:at)
  end procedure JournalGrown

  subroutine Room(text, n)
    character(:), allocatable, intent(out) :: text
    integer(i8), intent(in) :: n
    allocate (character(n) :: text)
  end subroutine Room

  !> Adds a piece behind the first `at` characters of a text, which has room.
  subroutine Put(text, at, piece)
    character(:), allocatable, intent(inout) :: text
    integer(i8), intent(inout) :: at
    character(*), intent(in) :: piece
    if (at + len(piece) > len(text, i8)) text = text//repeat(' ', len(text, i8) + len(piece))
    text(at + 1:at + len(piece)) = piece
    at = at + len(piece)
  end subroutine Put

end submodule journal_grown
