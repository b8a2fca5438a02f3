!> A line of a journal is read as it was made, also where its numbers are written otherwise; times are the calendar's; what has one
!> wrong byte is refused, also where its checksum was made to fit a line that is none.
program t339_journal_lines
  use check_m, only: GivenSeed, Claim, Done, RandomBelow, Seed
  use error_m, only: error_t
  use clock_m, only: ClockParse, ClockText
  use journal_line_m, only: event_done, event_kept, event_start, event_t, LineFind, LineMake, LineOf, LineRead
  use kinds_m, only: dp, i8
  use text_m, only: Str
  implicit none
  character(8), parameter :: words(11) = [character(8) :: 'deal', 'done', 'kept', 'lost', 'parked', 'todo', 'start', 'stop', &
                                          'verified', 'resume', 'grow']
  integer :: number

  number = GivenSeed()
  call Seed(number)
  call AsMade()
  call Times()
  call Otherwise()
  call WrongBytes()
  call Done()

contains

  !> A random line, and what it says.
  subroutine MakeRandom(line, e, host, note)
    character(:), allocatable, intent(out) :: line, host, note
    type(event_t), intent(out) :: e
    character(:), allocatable :: shown
    real(dp) :: x
    integer :: i
    e%kind = 1 + RandomBelow(size(words))
    if (e%kind < event_start) e%record = 1 + RandomBelow(merge(9, huge(1) - 1, RandomBelow(2) == 0))
    e%attempt = RandomBelow(5)
    e%worker = RandomBelow(5000)
    call random_number(x)
    e%seconds = merge(0.0_dp, 10.0_dp**(12*x - 6), RandomBelow(3) == 0)
    shown = Str(e%seconds)
    read (shown, *) e%seconds
    e%time = RandomBelow(huge(1))
    host = repeat('x', 1 + RandomBelow(64))
    note = ''
    do i = 1, RandomBelow(30)
      note = note//achar(33 + RandomBelow(94))
    end do
    if (e%kind == event_done .or. e%kind == event_kept) then
      e%checksum = ior(shiftl(int(RandomBelow(65536), i8), 16), int(RandomBelow(65536), i8))
      e%redo = RandomBelow(3)
    end if
    line = LineMake(e, host, note)
  end subroutine MakeRandom

  logical function Same(line, e, host, note)
    character(*), intent(in) :: line, host, note
    type(event_t), intent(in) :: e
    type(error_t), allocatable :: error
    type(event_t) :: r
    call LineRead(line, r, error)
    Same = .not. allocated(error)
    if (.not. Same) return
    Same = r%kind == e%kind .and. r%record == e%record .and. r%attempt == e%attempt .and. r%worker == e%worker .and. &
           transfer(r%seconds, 1_i8) == transfer(e%seconds, 1_i8) .and. transfer(r%time, 1_i8) == transfer(e%time, 1_i8) .and. &
           r%checksum == e%checksum .and. r%redo == e%redo .and. index(line, trim(words(e%kind))//' ') == 1 .and. line(r%host(1):r%host(2)) == host
    if (Same .and. note /= '') Same = index(line(r%note(1):r%note(2)), note, back=.true.) == r%note(2) - r%note(1) + 2 - len(note)
  end function Same

  subroutine AsMade()
    character(:), allocatable :: line, host, note
    type(event_t) :: e
    integer :: i, good
    good = 0
    do i = 1, 20000
      call MakeRandom(line, e, host, note)
      if (RandomBelow(2) == 0 .and. note == '') line = trim(line)     ! spl-merge writes none behind the last word
      if (Same(line, e, host, note)) good = good + 1
    end do
    call Claim(good == 20000, 'seed '//Str(number)//': '//Str(good)//' of 20000 random lines are read as they were made')
  end subroutine AsMade

  !> A second of each day of 130 years.
  subroutine Times()
    type(error_t), allocatable :: error
    type(event_t) :: e
    real(dp) :: time, parsed
    integer :: day, good
    good = 0
    do day = 0, 47480
      time = 86400.0_dp*day + RandomBelow(86400)
      call LineRead('deal 1 1 1 h 0 '//ClockText(time)//' ', e, error)
      parsed = ClockParse(ClockText(time))
      if (.not. allocated(error) .and. abs(e%time - time) <= 0 .and. abs(parsed - time) <= 0) good = good + 1
    end do
    call Claim(good == 47481, 'a second of each day to the end of 2099: '//Str(good)//' of 47481 times are right')
  end subroutine Times

  !> Numbers that people or other programs write.
  subroutine Otherwise()
    character(*), parameter :: at = ' 2026-11-25T17:00:00Z '
    character(80) :: right(5), wrong(16)
    type(event_t) :: e
    integer :: i, n
    logical :: fine
    e%kind = 4
    e%record = 7
    e%attempt = 2
    e%worker = 3
    e%seconds = 15
    e%time = ClockParse('2026-11-25T17:00:00Z')
    right = [character(80) :: 'lost +7 002 3 h 1.5E+01', 'lost 0000000007 2 +3 h 15.', 'lost 7 2 3 h 1.5d1', 'lost 7 2 3 h 15', &
             'lost 7 2 3 h 150e-1']
    n = 0
    do i = 1, size(right)
      fine = Same(trim(right(i))//at//'why', e, 'h', 'why')
      if (fine) n = n + 1
    end do
    call Claim(n == size(right), Str(n)//' of '//Str(size(right))//' lines with numbers that are written otherwise are read')
    wrong = [character(80) :: 'lost 7 2 3 h 15 2026-13-25T17:00:00Z x', 'lost 7 2 3 h 15 2026-11-25T24:00:00Z x', &
             'lost 7 2 3 h 15 2026-11-25 17:00:00Z x', 'lost 7 2 3 h 15', '', 'lost', 'lost 7 2 3 h 1-5'//at, &
             'lost 7 2 3 h 1e400'//at, 'lost 7a 2 3 h 15'//at, 'lost 7 2 3 h '//achar(0)//at, 'lost 99999999999 2 3 h 15'//at, &
             'losts 7 2 3 h 15'//at, 'start 7 2 3 h 15'//at, 'done 7 2 3 h 15'//at, &
             'done 7 2 3 h 15'//at//'checksum=1234567g', 'done 7 2 3 h 15'//at//'checksum=1234567']
    n = 0
    do i = 1, size(wrong)
      fine = Bad(trim(wrong(i)))
      if (fine) n = n + 1
    end do
    call Claim(n == size(wrong), Str(n)//' of '//Str(size(wrong))//' lines that are no event are refused')
  end subroutine Otherwise

  logical function Bad(line)
    character(*), intent(in) :: line
    type(error_t), allocatable :: error
    type(event_t) :: e
    call LineRead(line, e, error)
    Bad = allocated(error)
    if (.not. Bad) print *, line
  end function Bad

  subroutine WrongBytes()
    character(:), allocatable :: line, host, note, text
    type(error_t), allocatable :: error
    type(event_t) :: e
    integer(i8) :: length
    integer :: i, at, refused, torn, other
    refused = 0
    torn = 0
    other = 0
    do i = 1, 5000
      call MakeRandom(line, e, host, note)
      text = LineOf(line)
      at = 1 + RandomBelow(len(text) - 1)
      text(at:at) = achar(modulo(iachar(text(at:at)) + 1 + RandomBelow(126), 128))
      length = LineFind(text, 1_i8, error)
      if (allocated(error)) refused = refused + 1
      if (allocated(error)) deallocate (error)
      length = LineFind(LineOf(line), 1_i8, error)
      if (length == len(line) + 9 .and. .not. allocated(error)) length = LineFind(line, 1_i8, error)
      if (length == -1) torn = torn + 1
      at = 1 + RandomBelow(len(line))
      line(at:at) = achar(33 + RandomBelow(94))
      call LineRead(line, e, error)                ! whatever it says: its places lie in the line
      if (allocated(error)) deallocate (error)
      if (all([e%host, e%note(1)] >= 1) .and. all([e%host(2), e%note(2)] <= len(line))) other = other + 1
    end do
    call Claim(refused == 5000 .and. torn == 5000, 'seed '//Str(number)//': '//Str(refused)// &
               ' of 5000 lines with one wrong byte are refused, '//Str(torn)//' without an end do not count')
    call Claim(other == 5000, Str(other)//' of 5000 with another byte under a checksum that fits stay within themselves')
  end subroutine WrongBytes

end program t339_journal_lines
