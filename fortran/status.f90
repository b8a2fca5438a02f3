!> The verb status: how far a survey is, from its journal alone, also while the job runs.
module status_m
  use error_m, only: error_t, Fail
  use files_m, only: ClockSeconds, ClockText, FileExists
  use journal_m, only: entry_t, journal_done, journal_parked, journal_t, JournalRead
  use kinds_m, only: dp
  use lock_m, only: LockLives
  use log_m, only: LogPrint
  use params_m, only: job_t
  use store_m, only: StoreJournalPath, StoreLockPath
  use text_m, only: Str
  use watch_m, only: Clock
  implicit none
  private
  public :: StatusPrint

contains

  !> Prints a table, or one JSON object if `json`, of the survey whose output the job names.
  subroutine StatusPrint(job, json, error)
    type(job_t), intent(in) :: job
    logical, intent(in) :: json
    type(error_t), allocatable, intent(inout) :: error
    type(journal_t) :: journal
    if (.not. FileExists(StoreJournalPath(job%output))) &
      call Fail(error, "no run of '"//job%output//"' has begun: there is no journal '"//StoreJournalPath(job%output)// &
                "'; give output=FILE as for the run")
    if (allocated(error)) return
    call JournalRead(journal, StoreJournalPath(job%output), error)
    if (allocated(error)) return
    ! not every file system has locks that are seen from other machines
    if (journal%open .and. .not. journal%running) journal%running = LockLives(StoreLockPath(job%output))
    if (json) then
      call PrintJson(job%output, journal)
    else
      call PrintTable(job%output, journal)
    end if
  end subroutine StatusPrint

  subroutine PrintTable(output, journal)
    character(*), intent(in) :: output
    type(journal_t), intent(in) :: journal
    integer :: i
    call LogPrint(output//': '//Str(journal%done)//' of '//Str(journal%nshots)//' shots done, '// &
                  Str(journal%parked)//' parked, '// &
                  Str(Left(journal))//' left; run '//Str(journal%starts)//' started '//ClockText(journal%started)// &
                  ', '//State(journal))
    if (Rate(journal) > 0) call LogPrint('  '//Str(Rate(journal), 3)//' shots/h, '// &
                                         Clock(3600*Left(journal)/Rate(journal))//' left')
    if (journal%running) call PrintList(journal, 'with workers', dealt=.true.)
    call PrintList(journal, 'parked', dealt=.false.)
    i = LastLoss(journal)
    if (i > 0) call LogPrint('  last loss: shot '//Str(journal%entry(i)%record)//' on '//trim(journal%entry(i)%host)//': '// &
                             trim(journal%entry(i)%note))
  end subroutine PrintTable

  subroutine PrintList(journal, title, dealt)
    type(journal_t), intent(in) :: journal
    character(*), intent(in) :: title
    logical, intent(in) :: dealt
    character(:), allocatable :: list
    integer :: i
    list = ''
    do i = 1, journal%n
      associate (e => journal%entry(i))
        if (dealt .and. e%dealt) then
          list = list//'  '//Str(e%record)//' ('//trim(e%host)//', '//Clock(ClockSeconds() - e%time)//')'
        else if (.not. dealt .and. e%status == journal_parked) then
          list = list//'  '//Str(e%record)
        end if
      end associate
    end do
    if (list /= '') call LogPrint('  '//title//':'//list)
  end subroutine PrintList

  subroutine PrintJson(output, journal)
    character(*), intent(in) :: output
    type(journal_t), intent(in) :: journal
    character(:), allocatable :: s
    integer :: i
    s = '{"output": '//Quoted(output)//', "total": '//Str(journal%nshots)//', "done": '//Str(journal%done)//', "parked": '// &
        Str(journal%parked)//', "left": '//Str(Left(journal))//', "runs": '//Str(journal%starts)//', "running": '// &
        trim(merge('true ', 'false', journal%running))//', "state": '//Quoted(State(journal))// &
        ', "started": '//Quoted(ClockText(journal%started))//', "shots_per_hour": '//Number(Rate(journal))//', "seconds_left": '
    if (Rate(journal) > 0) then
      s = s//Number(3600*Left(journal)/Rate(journal))
    else
      s = s//'null'
    end if
    s = s//', "dealt": ['//Records(journal, .true.)//'], "parked_records": ['//Records(journal, .false.)//'], "last_loss": '
    i = LastLoss(journal)
    if (i > 0) then
      s = s//'{"record": '//Str(journal%entry(i)%record)//', "host": '//Quoted(trim(journal%entry(i)%host))//', "why": '// &
          Quoted(trim(journal%entry(i)%note))//'}'
    else
      s = s//'null'
    end if
    call LogPrint(s//'}')
  end subroutine PrintJson

  function Records(journal, dealt) result(s)
    type(journal_t), intent(in) :: journal
    logical, intent(in) :: dealt
    character(:), allocatable :: s
    integer :: i
    s = ''
    do i = 1, journal%n
      associate (e => journal%entry(i))
        if (.not. merge(e%dealt .and. journal%running, e%status == journal_parked, dealt)) cycle
        if (s /= '') s = s//', '
        s = s//Str(e%record)
      end associate
    end do
  end function Records

  pure integer function Left(journal)
    type(journal_t), intent(in) :: journal
    Left = journal%nshots - journal%done - journal%parked
  end function Left

  !> running; stopped, as the journal says; or killed before it could say so.
  pure function State(journal)
    type(journal_t), intent(in) :: journal
    character(:), allocatable :: State
    State = 'stopped'
    if (journal%open) State = 'killed'
    if (journal%running) State = 'running'
  end function State

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

  !> A JSON string.
  pure function Quoted(text) result(s)
    character(*), intent(in) :: text
    character(:), allocatable :: s
    character(*), parameter :: hex = '0123456789abcdef'
    integer :: i, c
    s = '"'
    do i = 1, len(text)
      c = iachar(text(i:i))
      if (text(i:i) == '"' .or. text(i:i) == '\') then
        s = s//'\'//text(i:i)
      else if (c >= 0 .and. c < 32) then
        s = s//'\u00'//hex(c/16 + 1:c/16 + 1)//hex(mod(c, 16) + 1:mod(c, 16) + 1)
      else
        s = s//text(i:i)
      end if
    end do
    s = s//'"'
  end function Quoted

end module status_m
