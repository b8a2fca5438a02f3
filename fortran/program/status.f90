!> The verb status: how far a survey is and how it stands, also while the job runs: standing.f90 in words and in JSON.
module status_m
  use error_m, only: error_t, Fail
  use clock_m, only: ClockSeconds, ClockText
  use grow_m, only: GrowWords
  use journal_m, only: journal_done, journal_t, JournalHost, JournalNote
  use kinds_m, only: dp
  use log_m, only: LogPrint
  use parameters_m, only: job_t
  use standing_m, only: StandingFind, StandingParked, StandingWords, standing_t
  use store_m, only: StoreStopPath
  use text_m, only: Duration, Str
  implicit none
  private
  public :: StatusPrint

contains

  !> Prints a table, or one JSON object if `json`, of the survey whose output the job names.
  subroutine StatusPrint(job, json, error)
    type(job_t), intent(in) :: job
    logical, intent(in) :: json
    type(error_t), allocatable, intent(inout) :: error
    type(standing_t) :: standing
    call StandingFind(job%output, standing, error)
    if (allocated(error)) then
      standing%state = 'unreadable'
      standing%reason = error%message
    else if (standing%state == 'not_begun') then
      call Fail(error, "no run of '"//job%output//"' has begun: "//standing%reason//'; give output=FILE as for the run')
    end if
    if (json) then
      call PrintJson(job%output, standing)
    else if (.not. allocated(error)) then
      call PrintTable(job%output, standing)
    end if
  end subroutine StatusPrint

  subroutine PrintTable(output, standing)
    character(*), intent(in) :: output
    type(standing_t), intent(in) :: standing
    integer :: i
    associate (journal => standing%journal)
      call LogPrint(output//': '//Str(journal%done)//' of '//Str(journal%nshots)//' shots done, '// &
                    Str(standing%parked)//' parked, '//Str(standing%left)//' left; '//RunWords(journal, standing%group)// &
                    StandingWords(standing))
      if (Remaining(standing) >= 0) call LogPrint('  '//Str(Rate(journal), 3)//' shots/h, '//Duration(Remaining(standing))//' left')
      if (standing%state == 'running') call LogPrint('  by '//standing%reason)
      if (all(standing%state /= [character(8) :: 'running', 'complete'])) call LogPrint('  reason: '//standing%reason)
      if (GrowWords(journal) /= '') call LogPrint('  '//GrowWords(journal))
      call PrintList('with workers', Records(standing, .true., '  ', details=.true.))
      call PrintList('parked', Records(standing, .false., '  ', details=.false.))
      i = LastLoss(journal)
      if (i > 0) call LogPrint('  last loss: shot '//Str(journal%entry(i)%record)//' on '//JournalHost(journal, i)//': '// &
                               JournalNote(journal, i))
    end associate
    if (standing%stop_file) call LogPrint("  there is a stop file, '"//StoreStopPath(output)//"'")
    if (standing%next /= '') call LogPrint('  to go on: '//standing%next)
  end subroutine PrintTable

  !> 'run 2 started 2026-11-21T09:00:00Z with groups of 4 ranks, ' where there was one.
  function RunWords(journal, group) result(s)
    type(journal_t), intent(in) :: journal
    integer, intent(in) :: group
    character(:), allocatable :: s
    s = ''
    if (journal%starts == 0) return
    s = 'run '//Str(journal%starts)//' started '//ClockText(journal%started)
    if (group > 1) s = s//' with groups of '//Str(group)//' ranks'
    s = s//', '
  end function RunWords

  subroutine PrintList(title, list)
    character(*), intent(in) :: title, list
    if (list /= '') call LogPrint('  '//title//':  '//list)
  end subroutine PrintList

  !> One line; fields and words as inputs/running.md tells them.
  subroutine PrintJson(output, standing)
    character(*), intent(in) :: output
    type(standing_t), intent(in) :: standing
    character(:), allocatable :: s
    integer :: i
    associate (journal => standing%journal)
      s = '{"output": '//Quoted(output)//', "state": '//Quoted(standing%state)//', "cause": '//OrNull(standing%cause)// &
          ', "reason": '//OrNull(standing%reason)//', "exit_status": '//CountOrNull(standing%exit_status, -1)// &
          ', "running": '//trim(merge('true ', 'false', journal%running))// &
          ', "total": '//CountOrNull(journal%nshots, 0)//', "done": '//Str(journal%done)//', "parked": '//Str(standing%parked)// &
          ', "left": '//CountOrNull(merge(standing%left, -1, journal%nshots > 0), -1)// &
          ', "runs": '//Str(journal%starts)// &
          ', "started": '//TimeOrNull(journal%started)// &
          ', "ended": '//TimeOrNull(merge(journal%latest, 0.0_dp, standing%exit_status >= 0))// &
          ', "group": '//CountOrNull(merge(standing%group, 0, journal%starts > 0), 0)// &
          ', "shots_per_hour": '//Number(Rate(journal))//', "seconds_left": '
      if (Remaining(standing) >= 0) then
        s = s//Number(Remaining(standing))
      else
        s = s//'null'
      end if
      s = s//', "dealt": ['//Records(standing, .true., ', ', .false.)//'], "parked_records": ['// &
          Records(standing, .false., ', ', .false.)//'], "last_loss": '
      i = LastLoss(journal)
      if (i > 0) then
        s = s//'{"record": '//Str(journal%entry(i)%record)//', "host": '//Quoted(JournalHost(journal, i))//', "why": '// &
            Quoted(JournalNote(journal, i))//'}'
      else
        s = s//'null'
      end if
    end associate
    s = s//', "stop_file": '//trim(merge('true ', 'false', standing%stop_file))// &
        ', "grown": '//OrNull(GrowWords(standing%journal))//', "next": '//OrNull(standing%next)
    call LogPrint(s//'}')
  end subroutine PrintJson

  function OrNull(text) result(s)
    character(*), intent(in) :: text
    character(:), allocatable :: s
    s = 'null'
    if (text /= '') s = Quoted(text)
  end function OrNull

  function CountOrNull(n, none) result(s)
    integer, intent(in) :: n, none
    character(:), allocatable :: s
    s = 'null'
    if (n /= none) s = Str(n)
  end function CountOrNull

  function TimeOrNull(time) result(s)
    real(dp), intent(in) :: time
    character(:), allocatable :: s
    s = 'null'
    if (time > 0) s = Quoted(ClockText(time))
  end function TimeOrNull

  !> Records of shots that workers have (`dealt`), or that are parked. `details`: the node and the time since the shot was dealt.
  function Records(standing, dealt, between, details) result(s)
    type(standing_t), intent(in) :: standing
    logical, intent(in) :: dealt, details
    character(*), intent(in) :: between
    character(:), allocatable :: s
    integer :: i
    s = ''
    do i = 1, standing%journal%n
      associate (e => standing%journal%entry(i))
        if (.not. merge(e%dealt .and. standing%journal%running, StandingParked(standing, i), dealt)) cycle
        if (s /= '') s = s//between
        s = s//Str(e%record)
        if (details) s = s//' ('//JournalHost(standing%journal, i)//', '//Duration(ClockSeconds() - e%time)//')'
      end associate
    end do
  end function Records

  !> Seconds to the end at the rate of this run; -1 where it does not run, or none is done yet.
  real(dp) function Remaining(standing)
    type(standing_t), intent(in) :: standing
    real(dp) :: pace
    pace = Rate(standing%journal)
    Remaining = -1
    if (standing%state == 'running' .and. pace > 0) Remaining = 3600*standing%left/pace
  end function Remaining

  !> Shots an hour of the last run, 0 if none is done.
  real(dp) function Rate(journal)
    type(journal_t), intent(in) :: journal
    real(dp) :: until
    integer :: n, i
    n = 0
    do i = 1, journal%n
      if (journal%entry(i)%status == journal_done .and. journal%entry(i)%run == journal%starts) n = n + 1
    end do
    until = merge(ClockSeconds(), journal%latest, journal%running)
    Rate = 3600*n/max(until - journal%started, 1.0_dp)
  end function Rate

  !> The entry that was lost or parked last and is not done, 0 if there is none.
  pure integer function LastLoss(journal) result(last)
    type(journal_t), intent(in) :: journal
    integer :: i
    last = 0
    do i = 1, journal%n
      if (journal%entry(i)%losses == 0 .or. journal%entry(i)%status == journal_done .or. journal%entry(i)%dealt) cycle
      if (last > 0) then
        if (journal%entry(i)%time < journal%entry(last)%time) cycle
      end if
      last = i
    end do
  end function LastLoss

  function Number(x) result(s)
    real(dp), intent(in) :: x
    character(:), allocatable :: s
    s = Str(x, 6)
  end function Number

  !> A JSON string; bytes that are no letters of UTF-8, which names of files may hold, become the mark of the unreadable, U+FFFD.
  pure function Quoted(text) result(s)
    character(*), intent(in) :: text
    character(:), allocatable :: s
    character(*), parameter :: hex = '0123456789abcdef'
    integer :: i, c, n
    s = '"'
    i = 1
    do while (i <= len(text))
      c = iachar(text(i:i))
      n = LetterBytes(text(i:))
      if (n == 0) then
        s = s//'\ufffd'
      else if (text(i:i) == '"' .or. text(i:i) == '\') then
        s = s//'\'//text(i:i)
      else if (c < 32) then
        s = s//'\u00'//hex(c/16 + 1:c/16 + 1)//hex(mod(c, 16) + 1:mod(c, 16) + 1)
      else
        s = s//text(i:i + n - 1)
      end if
      i = i + max(n, 1)
    end do
    s = s//'"'
  end function Quoted

  !> Bytes of the letter of UTF-8 that a text begins with (Unicode Standard, table 3-7), 0 where it begins with none.
  pure integer function LetterBytes(text) result(n)
    character(*), intent(in) :: text
    integer :: c(min(len(text), 4)), low, high
    c = iand(ichar(transfer(text, 'a', size(c))), 255)
    low = 128
    high = 191
    select case (c(1))
    case (:127)
      n = 1
      return
    case (194:223)
      n = 2
    case (224:239)
      n = 3
      if (c(1) == 224) low = 160
      if (c(1) == 237) high = 159
    case (240:244)
      n = 4
      if (c(1) == 240) low = 144
      if (c(1) == 244) high = 143
    case default
      n = 0
      return
    end select
    if (size(c) < n) n = 0
    if (n > 0) then
      if (c(2) < low .or. c(2) > high .or. any(c(3:n) < 128 .or. c(3:n) > 191)) n = 0
    end if
  end function LetterBytes

end module status_m
