!> The standing of a survey, found from its journal, its lock and its stop file alone: anybody may ask from anywhere, nothing is
!> written, and no process is asked. The words of `state` stand in `status --json`: they stay.
module standing_m
  use checked_m, only: Whole
  use error_m, only: error_t, Fail
  use clock_m, only: ClockParse
  use files_m, only: FileExists, FileText
  use journal_m, only: journal_parked, journal_t, JournalBegun, JournalRead
  use kinds_m, only: dp
  use lock_m, only: LockLook, sight_t
  use runnote_m, only: begun_t, BegunBefore, BegunRead, cause_deadline, cause_disk, cause_launcher, cause_signal, cause_stop_file, &
                       cause_workers, ended_t, EndedRead, OwnFolder, OwnProgram, SlurmStartedAgain
  use store_m, only: StoreJournalPath, StoreLockPath, StoreStopPath
  use text_m, only: NextLine, Str
  implicit none
  private
  public :: standing_t, StandingFind, StandingWords, StandingParked, StandingOwn

  real(dp), parameter :: LATE = 30.0_dp       !< a lock is written every 5 s [s]

  type :: standing_t
    character(:), allocatable :: state        !< not_begun, failed_start, running, waiting_for_disk, complete, parked, stopped,
                                              !< killed, silent (elsewhere, no sign of life)
    character(:), allocatable :: cause        !< why it stopped, a word of runnote.f90, '' = it did not, or that is not known
    character(:), allocatable :: reason       !< in words
    character(:), allocatable :: next         !< what to type, '' = nothing
    integer :: exit_status = -1               !< of the last run, -1 = it has not ended, or nobody knows
    integer :: left = 0, parked = 0           !< shots to do; given up in the last run
    integer :: group = 1                      !< ranks that model a shot together, in the last run
    logical :: stop_file = .false.            !< there is one
    type(journal_t) :: journal
  end type standing_t

contains

  !> The standing of the survey with that output. An error is a journal that cannot be read or believed.
  subroutine StandingFind(output, standing, error)
    character(*), intent(in) :: output
    type(standing_t), intent(out) :: standing
    type(error_t), allocatable, intent(inout) :: error
    type(sight_t) :: sight
    type(begun_t) :: begun
    logical :: there
    standing%stop_file = FileExists(StoreStopPath(output))
    standing%cause = ''
    standing%next = ''
    call Read(output, standing%journal, sight, there, error)
    if (allocated(error)) return
    if (.not. there) then
      call JudgeBeginning(output, standing, sight, error)
      if (allocated(error)) return
    else if (standing%journal%open) then
      call JudgeOpen(output, standing, sight)
    else if (BegunAfter(output, standing%journal, sight)) then
      standing%journal%running = sight%lives
      call JudgeOpen(output, standing, sight)
      if (sight%lives) standing%reason = 'the run after it, which makes its files ('//sight%holder//')'
    else
      call JudgeClosed(output, standing)
    end if
    call BegunRead(standing%journal%begun, begun)
    standing%group = begun%group
    if (any(standing%state == [character(16) :: 'not_begun', 'running', 'waiting_for_disk', 'complete'])) return
    standing%next = Resume(output, begun, standing%stop_file)
  end subroutine StandingFind

  !> The journal, and its lock unless the journal says that the last run has ended. A run that ends between the two looks would
  !> seem dead, so one that does is looked at once more. `there`: a run has begun.
  subroutine Read(output, journal, sight, there, error)
    character(*), intent(in) :: output
    type(journal_t), intent(inout) :: journal
    type(sight_t), intent(out) :: sight
    logical, intent(out) :: there
    type(error_t), allocatable, intent(inout) :: error
    integer :: starts, look
    starts = -1
    do look = 1, 3
      there = JournalBegun(StoreJournalPath(output))
      if (there) call JournalRead(journal, StoreJournalPath(output), error)
      if (allocated(error)) return
      if (.not. there) call NoJournal(output, journal)
      if (starts == journal%starts .or. (there .and. journal%starts > 0 .and. .not. journal%open)) exit
      starts = journal%starts
      if (journal%running) then
        call LockLook(StoreLockPath(output), sight, patience=0.0_dp)
      else
        call LockLook(StoreLockPath(output), sight)
      end if
      if (journal%running .or. sight%lives) exit
    end do
    there = there .and. journal%starts > 0
    journal%running = journal%running .or. sight%lives
  end subroutine Read

  !> True where the lock is that of a run which began after the last line of a journal: it reads, or the output grows, or it was
  !> killed over that. One that lives did, by whatever clock: who has written that line has given its lock back since.
  logical function BegunAfter(output, journal, sight)
    character(*), intent(in) :: output
    type(journal_t), intent(in) :: journal
    type(sight_t), intent(out) :: sight
    call LockLook(StoreLockPath(output), sight)
    BegunAfter = sight%lives
    if (BegunAfter .or. .not. sight%there .or. len(sight%holder) <= 20) return
    BegunAfter = ClockParse(sight%holder(len(sight%holder) - 19:)) > journal%latest
  end function BegunAfter

  !> Sets components one by one: gfortran leaks a function's result in a structure constructor.
  subroutine NoJournal(output, journal)
    character(*), intent(in) :: output
    type(journal_t), intent(out) :: journal
    journal%path = StoreJournalPath(output)
    journal%begun = ''
    journal%ended = ''
  end subroutine NoJournal

  !> The standing where no run has begun. A journal's first line is on the disk before the output is.
  subroutine JudgeBeginning(output, standing, sight, error)
    character(*), intent(in) :: output
    type(standing_t), intent(inout) :: standing
    type(sight_t), intent(in) :: sight
    type(error_t), allocatable, intent(inout) :: error
    logical :: lone
    standing%left = standing%journal%nshots
    lone = .not. JournalBegun(StoreJournalPath(output))
    if (lone) lone = FileExists(output)
    if (standing%journal%running) then
      standing%state = 'running'
      standing%reason = 'it makes its files ('//sight%holder//')'
    else if (lone) then
      call Fail(error, "'"//output//"' exists but its journal '"//StoreJournalPath(output)//"' "// &
                trim(merge('is empty', 'does not', FileExists(StoreJournalPath(output))))//': it is the output of no '// &
                'run, or its journal is lost: give output=FILE as for the run, or restore the journal from a copy')
    else if (FileExists(StoreJournalPath(output))) then
      standing%state = 'failed_start'
      standing%reason = 'it was ended while it made its files: no shot was dealt'
    else
      standing%state = 'not_begun'
      standing%reason = "there is no journal '"//StoreJournalPath(output)//"'"
    end if
  end subroutine JudgeBeginning

  !> The standing where the journal does not say that the last run ended.
  subroutine JudgeOpen(output, standing, sight)
    character(*), intent(in) :: output
    type(standing_t), intent(inout) :: standing
    type(sight_t), intent(in) :: sight
    call Count(standing)
    if (standing%journal%running .and. sight%waits) then
      standing%state = 'waiting_for_disk'
      standing%reason = "output or journal cannot be written, '"//output//".log' says why; dealing goes on when they can"
    else if (standing%journal%running) then
      standing%state = 'running'
      standing%reason = 'on '//trim(standing%journal%host)
      if (sight%there) standing%reason = sight%holder
      if (sight%silence > LATE) standing%reason = standing%reason//', whose lock was last written '//Str(Whole(sight%silence))// &
                                                  ' s ago: it stands still, or cannot write'
    else if (sight%there .and. .not. sight%here) then
      standing%state = 'silent'
      standing%reason = 'there has been no sign of life of it ('//sight%holder//') for '//Str(Whole(sight%silence))// &
                        ' s: it was killed, or its machine or disk is away; the next run takes over if it sees none for 30 s'
    else if (sight%there) then
      standing%state = 'killed'
      standing%reason = 'it ('//sight%holder//') is gone without a word of its end'
    else
      standing%state = 'killed'
      standing%reason = 'there is neither a lock nor a word of its end: it was killed and its lock removed, or '// &
                        'its disk could not be written at its end'
    end if
  end subroutine JudgeOpen

  !> The standing where the journal says how the last run ended.
  subroutine JudgeClosed(output, standing)
    character(*), intent(in) :: output
    type(standing_t), intent(inout) :: standing
    type(ended_t) :: ended
    call Count(standing)
    call EndedRead(standing%journal%ended, ended)
    if (ended%exit_status < 0) then                       ! an older program did not note it
      ended%exit_status = 3
      ended%why = 'its journal does not say why'
      if (standing%left == 0) ended%exit_status = merge(2, 0, standing%parked > 0)
    end if
    standing%exit_status = ended%exit_status
    select case (ended%exit_status)
    case (0)
      standing%state = 'complete'
      standing%reason = 'all shots are done'
    case (2)
      standing%state = 'parked'
      standing%reason = 'all shots are done but '//Str(standing%parked)//", lost too often: '"//output//".log' says why; "// &
                        'a new run tries them anew'
    case default
      standing%state = 'stopped'
      standing%cause = ended%cause
      standing%reason = ended%why
      if (ended%why == '') standing%reason = Str(standing%left)//' shot(s) are to do'
      if (standing%left == 0) standing%reason = ended%why//', before all that earlier runs have done was read again'
    end select
  end subroutine JudgeClosed

  !> Shots parked by an earlier run than the last are tried anew.
  subroutine Count(standing)
    type(standing_t), intent(inout) :: standing
    integer :: i
    standing%parked = 0
    do i = 1, standing%journal%n
      if (StandingParked(standing, i)) standing%parked = standing%parked + 1
    end do
    standing%left = max(0, standing%journal%nshots - standing%journal%done - standing%parked)
  end subroutine Count

  !> True where the last run has given up entry `i` of the journal.
  pure logical function StandingParked(standing, i) result(parked)
    type(standing_t), intent(in) :: standing
    integer, intent(in) :: i
    associate (e => standing%journal%entry(i))
      parked = e%status == journal_parked .and. e%run == standing%journal%starts
    end associate
  end function StandingParked

  !> The state for people: 'stopped by signal 15 (SIGTERM), exit status 3'.
  pure function StandingWords(standing) result(s)
    type(standing_t), intent(in) :: standing
    character(:), allocatable :: s
    select case (standing%state)
    case ('not_begun')
      s = 'not begun'
    case ('failed_start')
      s = 'failed to start'
    case ('waiting_for_disk')
      s = 'waiting for its disk'
    case ('parked')
      s = 'ended, some shots parked'
    case ('silent')
      s = 'silent'
    case ('stopped')
      s = 'stopped'
      select case (standing%cause)
      case (cause_signal)
        s = 'stopped by a signal'
      case (cause_stop_file)
        s = 'stopped by its stop file'
      case (cause_deadline)
        s = 'stopped by its deadline'
      case (cause_disk)
        s = 'stopped by its disk'
      case (cause_workers)
        s = 'stopped by the loss of its workers'
      case (cause_launcher)
        s = 'stopped by its launcher'
      end select
    case default
      s = standing%state
    end select
    if (standing%exit_status >= 0) s = s//', exit status '//Str(standing%exit_status)
  end function StandingWords

  !> True where the last run on the output was of this Slurm job, which was started again since.
  logical function StandingOwn(output) result(own)
    character(*), intent(in) :: output
    type(journal_t) :: journal
    type(begun_t) :: begun
    type(error_t), allocatable :: unreadable
    own = .false.
    if (.not. SlurmStartedAgain()) return
    if (.not. JournalBegun(StoreJournalPath(output))) return
    call JournalRead(journal, StoreJournalPath(output), unreadable)
    if (allocated(unreadable)) return
    call BegunRead(journal%begun, begun)
    own = BegunBefore(begun)
  end function StandingOwn

  ! --- what to type --------------------------------------------------------------------------------------------------

  !> The command that goes on with a run begun like that, in words where it cannot be told.
  function Resume(output, begun, stop_file) result(s)
    character(*), intent(in) :: output
    type(begun_t), intent(in) :: begun
    logical, intent(in) :: stop_file
    character(:), allocatable :: s, first, folder, par
    logical :: recorded
    recorded = FileExists(output//'.par')
    first = ''
    if (stop_file) first = 'rm '//Shell(StoreStopPath(output))
    if (begun%slurm /= '') then
      s = 'sbatch the script of Slurm job '//begun%slurm//' again, unless Slurm does (squeue -j '//begun%slurm//')'
    else if (begun%program == '' .or. begun%ranks < 1 .or. .not. recorded) then
      s = 'the command of that run again'
    else
      folder = OwnFolder()
      par = output//'.par'
      if (begun%folder /= folder .and. begun%folder /= '' .and. par(1:1) /= '/') par = folder//'/'//par
      s = ''
      if (begun%launch /= '') s = 'run-until-done '
      if (begun%ranks > 1) s = s//'mpirun '
      if (begun%nodes > 1) s = s//'--hostfile HOSTS '
      if (begun%ranks > 1) s = s//'-n '//Str(begun%ranks)//' '
      s = s//Shell(Program(begun%program))//' '//Shell('par='//par)
      if (Overwrites(output//'.par')) s = s//' overwrite=n'
      if (begun%folder /= folder .and. begun%folder /= '') s = 'cd '//Shell(begun%folder)//' && '//s
    end if
    if (first /= '' .and. index(s, '&&') + index(s, 'par=') == 0) then
      s = first//', then '//s
    else if (first /= '') then
      s = first//' && '//s
    end if
  end function Resume

  !> The command for the program `name`: as the user called this one, by its whole path where it was called by a path.
  function Program(name) result(s)
    character(*), intent(in) :: name
    character(:), allocatable :: s, own
    character(4096) :: called
    s = name
    call get_command_argument(0, called)
    own = OwnProgram()
    if (index(called, '/') > 0 .and. own /= '') s = own(:index(own, '/', back=.true.))//name
  end function Program

  !> True where the parameters of the last run have overwrite=yes: with that a run would begin anew, not go on.
  logical function Overwrites(par)
    character(*), intent(in) :: par
    character(:), allocatable :: text, line
    type(error_t), allocatable :: error
    integer :: at
    Overwrites = .true.                                   ! no harm if it was not needed
    call FileText(par, text, error)
    if (allocated(error)) return
    at = index(new_line('a')//text, new_line('a')//'overwrite ')
    if (at == 0) return
    call NextLine(text, at, line)
    line = adjustl(line(index(line//'=', '=') + 1:))
    Overwrites = index(line, 'no ') /= 1
  end function Overwrites

  !> A word as a shell takes it.
  pure function Shell(word) result(s)
    character(*), intent(in) :: word
    character(:), allocatable :: s
    character(*), parameter :: plain = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=+,:@%'
    integer :: i
    s = word
    if (verify(word, plain) == 0) return
    s = "'"
    do i = 1, len(word)
      if (word(i:i) == "'") then
        s = s//"'\''"
      else
        s = s//word(i:i)
      end if
    end do
    s = s//"'"
  end function Shell

end module standing_m
