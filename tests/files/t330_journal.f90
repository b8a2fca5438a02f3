!> The journal gives back what was appended, survives a cut at every byte, and refuses everything else that is wrong.
program t330_journal
  use check_m, only: Claim, ClaimFails, ClaimFine, Done
  use error_m, only: error_t
  use fio_m, only: fio_todo
  use clock_m, only: ClockParse, ClockSeconds, ClockText
  use files_m, only: FileText
  use text_crc32_m, only: Crc32, Hex
  use journal_line_m, only: event_deal, event_done, event_lost, event_parked, event_start, event_t, event_todo
  use journal_m, only: journal_done, journal_parked, journal_t, JournalAppend, JournalClose, JournalHost, JournalNote, &
    JournalOpen, JournalRead
  use kinds_m, only: dp, i8
  use put_m, only: Put
  use text_m, only: Str
  implicit none
  character(*), parameter :: path = 'survey.journal', job = 'f00d-1'
  integer, parameter :: records(4) = [11, 22, 33, 44]
  type(error_t), allocatable :: error
  type(journal_t) :: journal

  if (command_argument_count() == 1) then
    call AppendUnderLimit()
  else
    call Clock()
    call WriteAndReplay()
    call Refusals()
    call Cuts()
    call Flips()
    call Beginnings()
    call Reading()
    call FullDisk()
  end if
  call Done()

contains

  subroutine Clock()
    real(dp) :: now, back, none
    character(20) :: epoch, leap
    now = ClockSeconds()
    epoch = ClockText(0.0_dp)
    leap = ClockText(951868799.5_dp)
    back = ClockParse(ClockText(now))
    none = ClockParse('2000-02-29 23:59:59Z')
    call Claim(epoch == '1970-01-01T00:00:00Z' .and. leap == '2000-02-29T23:59:59Z', 'times print as UTC: '//epoch//', '//leap)
    call Claim(back == floor(now, i8) .and. none < 0, 'and read back')
    call Claim(Hex(Crc32('123456789')) == 'cbf43926', 'CRC-32 of 123456789 is '//Hex(Crc32('123456789'))//', must be cbf43926')
  end subroutine Clock

  !> 11 done at the first attempt, 22 lost and then done, 33 lost and parked, 44 dealt and never heard of again.
  subroutine WriteAndReplay()
    call JournalOpen(journal, path, job, records, .false., error)
    call ClaimFine(error, 'a journal is made')
    call JournalAppend(journal, event_t(event_start), 'a host', '3 ranks', error)
    call JournalAppend(journal, event_t(event_deal, 11, 1, 1), 'node1', '', error)
    call JournalAppend(journal, event_t(event_deal, 22, 1, 2), 'node2', '', error)
    call JournalAppend(journal, event_t(event_done, 11, 1, 1, 12.5_dp, checksum=4000000001_i8), 'node1', '', error)
    call JournalAppend(journal, event_t(event_lost, 22, 1, 2, 3.25_dp), 'node2', 'out of memory:'//new_line('a')//' 3 GB', error)
    call JournalAppend(journal, event_t(event_deal, 33, 1, 2), 'node2', '', error)
    call JournalAppend(journal, event_t(event_lost, 33, 1, 2, 1.0_dp), 'node2', 'blew up', error)
    call JournalAppend(journal, event_t(event_parked, 33, 1, 2, 1.0_dp), 'node2', 'blew up', error)
    call JournalAppend(journal, event_t(event_deal, 44, 1, 1), 'node1', '', error)
    call JournalAppend(journal, event_t(event_deal, 22, 2, 1), 'node1', '', error)
    call JournalAppend(journal, event_t(event_done, 22, 2, 1, 7.0_dp, checksum=77_i8), 'node1', 'second time', error)
    call ClaimFine(error, 'eleven events are appended')
    call State('as written', .true.)
    call JournalClose(journal)
    call JournalOpen(journal, path, job, records, .false., error)
    call ClaimFine(error, 'it opens again')
    call State('replayed', .true.)
    call JournalAppend(journal, event_t(event_start), 'a host', '', error)
    call State('after another start', .false.)
    call JournalAppend(journal, event_t(event_todo, 33), '', 'tried anew', error)
    call Claim(journal%entry(3)%status == fio_todo .and. journal%entry(3)%losses == 0 .and. journal%parked == 0, &
      'a parked shot can be put back')
    call JournalClose(journal)
  end subroutine WriteAndReplay

  subroutine State(when, dealt)
    character(*), intent(in) :: when
    logical, intent(in) :: dealt
    associate (e => journal%entry)
      call Claim(all(e%status == [journal_done, journal_done, journal_parked, fio_todo]) .and. journal%done == 2 .and. &
        journal%parked == 1, when//': 2 done, 1 parked, 1 to do')
      call Claim(all(e%deals == [1, 2, 1, 1]) .and. all(e%losses == [0, 1, 1, 0]) .and. (e(4)%dealt .eqv. dealt) .and. &
        .not. any(e(:3)%dealt), when//': deals 1 2 1 1, losses 0 1 1 0, the last one '// &
        trim(merge('with a worker', 'free         ', dealt)))
      call Claim(e(1)%checksum == 4000000001_i8 .and. e(2)%checksum == 77 .and. e(1)%seconds == 12.5_dp .and. &
        e(1)%worker == 1 .and. JournalHost(journal, 3) == 'node2' .and. JournalNote(journal, 3) == 'blew up', &
        when//': checksums, seconds, worker, host, note')
      call Claim(abs(e(1)%time - ClockSeconds()) < 60, when//': times within '// &
        Str(abs(e(1)%time - ClockSeconds()), 2)//' s of now')
    end associate
  end subroutine State

  subroutine Refusals()
    type(journal_t) :: second
    call JournalOpen(journal, path, 'other', records, .false., error)
    call ClaimFails(error, 'overwrite=y', 'a journal of another job')
    call JournalOpen(journal, path, 'other', [1, 2], .false., error)
    call ClaimFails(error, 'belongs to another job', 'a journal of another job with other shots')
    call JournalOpen(journal, path, job, [11, 22, 33, 45], .false., error)
    call ClaimFails(error, 'line 10: shot record 44 is not one of this job', 'a journal with a shot that the job does not have')
    call JournalOpen(journal, path, job, [records, 55], .false., error)
    call ClaimFails(error, 'is of 4 shots, this job has 5', 'a journal with fewer shots')
    call JournalOpen(journal, path, 'two words', records, .false., error)
    call ClaimFails(error, 'one word', 'a fingerprint with a blank')
    call JournalOpen(journal, 'nowhere/j', job, records, .false., error)
    call ClaimFails(error, "'nowhere/j': No such file", 'a folder that does not exist')
    call JournalOpen(journal, '.', job, records, .false., error)
    call ClaimFails(error, 'Is a directory', 'a folder')
    call JournalOpen(journal, path, job, records, .false., error)
    call JournalOpen(second, path, job, records, .false., error)
    call ClaimFails(error, 'in use by another run', 'a journal that another run writes')
    call JournalAppend(journal, event_t(event_deal, 99, 1, 1), '', '', error)
    call ClaimFails(error, 'shot record 99 is not', 'an unknown record')
    call JournalAppend(journal, event_t(0, 11, 1, 1), '', '', error)
    call ClaimFails(error, 'is no event', 'an event of no kind')
    call JournalAppend(journal, event_t(event_done, 11, 1, 1), '', '', error)
    call ClaimFails(error, 'checksum', 'done without a checksum')
    call JournalClose(journal)
    call JournalAppend(journal, event_t(event_deal, 11, 1, 1), '', '', error)
    call ClaimFails(error, 'not open', 'a closed journal')
    call JournalOpen(journal, path, job, records, .false., error)
    call ClaimFine(error, 'after all that it still opens')
    call JournalClose(journal)
    call Put('text', 'some text of the user')
    call JournalOpen(journal, 'text', job, records, .false., error)
    call ClaimFails(error, 'is no journal', 'a text without an end of line')
    call Put('text', 'some text of the user'//new_line('a'))
    call JournalOpen(journal, 'text', job, records, .false., error)
    call ClaimFails(error, 'line 1', 'any text')
    call Put('text', Line('journal 2 '//job//' 4 '//ClockText(0.0_dp)))
    call JournalOpen(journal, 'text', job, records, .false., error)
    call ClaimFails(error, 'another version', 'a journal of another version')
    call Put('text', Line('journal 1 '//job//' 4 '//ClockText(0.0_dp))//Line('deal 11 1 1 host 0 yesterday '))
    call JournalOpen(journal, 'text', job, records, .false., error)
    call ClaimFails(error, 'line 2', 'a line with a right checksum that is no event')
  end subroutine Refusals

  function Line(text) result(whole)
    character(*), intent(in) :: text
    character(:), allocatable :: whole
    whole = Hex(Crc32(text))//' '//text//new_line('a')
  end function Line

  !> Cut anywhere in its last three lines, a journal replays its whole lines, and goes on from there.
  subroutine Cuts()
    character(:), allocatable :: text, again
    integer :: cut, first, lines, n, good, wrong_read
    call FileText(path, text, error)
    first = len(text)
    do lines = 1, 3
      first = index(text(:first - 1), new_line('a'), back=.true.)
    end do
    n = 0
    good = 0
    wrong_read = 0
    do cut = first, len(text)
      n = n + 1
      call Put('cut', text(:cut))
      call JournalRead(journal, 'cut', error)
      if (allocated(error)) wrong_read = wrong_read + 1
      if (allocated(error)) deallocate (error)
      call JournalOpen(journal, 'cut', job, records, .false., error)
      if (.not. Expected(text(:cut))) cycle
      call JournalAppend(journal, event_t(event_done, 44, 1, 1, 1.0_dp, checksum=5_i8), 'h', '', error)
      call JournalClose(journal)
      call JournalOpen(journal, 'cut', job, records, .false., error)
      call JournalClose(journal)
      call FileText('cut', again, error)
      if (allocated(error)) exit
      lines = index(text(:cut), new_line('a'), back=.true.)
      if (journal%entry(4)%status == journal_done .and. index(again, text(:lines)) == 1) good = good + 1
    end do
    call ClaimFine(error, 'cut journals open')
    call Claim(good == n .and. n > 150, Str(good)//' of '//Str(n)// &
      ' cuts in the last three lines replay their whole lines and go on')
    call Claim(wrong_read == 0, 'and can be read while in that state')
  end subroutine Cuts

  !> The last three lines are: done 22, start, todo 33.
  logical function Expected(text)
    character(*), intent(in) :: text
    integer :: i, n
    n = 0
    do i = 1, len(text)
      if (text(i:i) == new_line('a')) n = n + 1
    end do
    Expected = .not. allocated(error) .and. n >= 11 .and. n <= 14
    if (.not. Expected) return
    Expected = (journal%entry(2)%status == journal_done) .eqv. n >= 12
    Expected = Expected .and. journal%starts == merge(2, 1, n >= 13) .and. (journal%entry(3)%status == journal_parked .eqv. n < 14)
  end function Expected

  !> A flipped bit is refused with its line, unless it takes the end off the last line, which then does not count.
  subroutine Flips()
    character(:), allocatable :: text, bad
    integer :: i, at, found, torn
    call FileText(path, text, error)
    found = 0
    torn = 0
    do i = 1, 300
      at = 1 + mod(i*7919, len(text))
      bad = text
      bad(at:at) = achar(ieor(iachar(text(at:at)), ishft(1, mod(i, 7))))
      call Put('flip', bad)
      call JournalOpen(journal, 'flip', job, records, .false., error)
      if (allocated(error)) then
        if (index(error%message, 'line') > 0) found = found + 1
        deallocate (error)
      else if (at == len(text)) then
        torn = torn + 1
      end if
      call JournalClose(journal)
    end do
    call Claim(found + torn == 300 .and. torn <= 1, Str(found)//' of 300 flipped bits are refused with the line, '//Str(torn)// &
      ' took the end off the last line')
  end subroutine Flips

  subroutine Beginnings()
    character(:), allocatable :: header
    integer :: cut, good
    call Put('new', '')
    call JournalOpen(journal, 'new', job, records, .false., error)
    call ClaimFine(error, 'an empty journal is a new one')
    call JournalClose(journal)
    call FileText('new', header, error)
    call JournalOpen(journal, 'new', job, records, .false., error)
    call Claim(.not. allocated(error) .and. journal%n == 4 .and. journal%done == 0 .and. journal%starts == 0, &
      'a journal of its first line alone: nothing done yet')
    call JournalClose(journal)
    good = 0
    do cut = 0, len(header) - 1
      call Put('new', header(:cut))
      call JournalOpen(journal, 'new', job, records, .false., error)
      call JournalAppend(journal, event_t(event_deal, 11, 1, 1), 'h', '', error)
      call JournalClose(journal)
      call JournalOpen(journal, 'new', job, records, .false., error)
      if (.not. allocated(error) .and. journal%entry(1)%deals == 1) good = good + 1
      call JournalClose(journal)
    end do
    call ClaimFine(error, 'torn first lines are written again')
    call Claim(good == len(header), Str(good)//' of '//Str(len(header))//' cuts of the first line')
    call JournalOpen(journal, path, 'other', records(2:3), .true., error)
    call ClaimFine(error, 'overwrite starts anew, also for another job')
    call Claim(journal%n == 2 .and. journal%nshots == 2 .and. journal%parked == 0, 'with nothing done')
    call JournalClose(journal)
  end subroutine Beginnings

  subroutine Reading()
    type(journal_t) :: reader
    integer, parameter :: many = 500
    integer :: i, r(many)
    call JournalRead(reader, 'missing', error)
    call ClaimFails(error, 'No such file', 'reading a journal that is not there')
    call Put('empty', '')
    call JournalRead(reader, 'empty', error)
    call ClaimFails(error, 'only just begun', 'reading an empty journal')
    r = [(3*i, i=1, many)]
    call JournalOpen(journal, 'long', 'long', r, .false., error)
    do i = many, 1, -1
      call JournalAppend(journal, event_t(event_deal, r(1 + mod(i*7, many)), 1, i), 'h', '', error)
    end do
    call JournalAppend(journal, event_t(event_done, 300, 1, 1, 2.0_dp, checksum=9_i8), 'h', '', error)
    call JournalRead(reader, 'long', error)
    call ClaimFine(error, 'a journal is read while it is open for writing, shots in any order')
    i = findloc(reader%entry(:many)%record, 300, 1)
    call Claim(reader%n == many .and. reader%nshots == many .and. reader%done == 1 .and. &
      all(reader%entry(:many)%record == r) .and. reader%entry(i)%checksum == 9 .and. &
      count(reader%entry(:many)%dealt) == many - 1, Str(reader%n)//' shots, '// &
      Str(count(reader%entry(:many)%dealt))//' with workers, '//Str(reader%done)//' done')
    call JournalClose(journal)
  end subroutine Reading

  subroutine FullDisk()
    character(4096) :: self
    character(:), allocatable :: said
    integer :: status
    call JournalOpen(journal, '/dev/full', job, records, .false., error)
    call ClaimFails(error, '/dev/full', 'a journal that is no ordinary file')
    call get_command_argument(0, self)
    ! its output to a file: two programs that write to one file overwrite each other
    call execute_command_line("ulimit -f 2; exec '"//trim(self)//"' limited > said", exitstat=status)
    call FileText('said', said, error)
    call Claim(status == 0, 'under a limit of file size: exit status '//Str(status)//', it said: '//said)
  end subroutine FullDisk

  !> Appends until the limit of file size is met, which cuts a line short.
  subroutine AppendUnderLimit()
    character(:), allocatable :: text
    integer :: n
    call JournalOpen(journal, 'limited', job, records, .true., error)
    do n = 1, 40
      call JournalAppend(journal, event_t(event_lost, 11, n, 1, 1.0_dp), 'h', 'lost again', error)
      if (allocated(error)) exit
    end do
    call ClaimFails(error, "to 'limited': ", 'limited: line '//Str(n)//' does not fit')
    call Claim(journal%entry(1)%losses == n - 1, 'limited: it is not taken into account: '//Str(journal%entry(1)%losses)//' losses')
    call JournalClose(journal)
    call FileText('limited', text, error)
    call Claim(text(len(text):) == new_line('a') .and. len(text) < 2048, 'limited: half a line does not stay: '//Str(len(text))// &
      ' bytes')
    call JournalOpen(journal, 'limited', job, records, .false., error)
    call ClaimFine(error, 'limited: the journal opens')
    call Claim(journal%entry(1)%losses == n - 1, 'limited: with '//Str(journal%entry(1)%losses)//' losses')
  end subroutine AppendUnderLimit

end program t330_journal
