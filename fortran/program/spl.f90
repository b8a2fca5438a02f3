!> Start and end of a program: words of the command line, the verb they ask for, the exit status.
module spl_m
  use parameter_file_m, only: DeckCommandLine
  use error_m, only: error_t, Fail, FailFromC
  use host_c, only: host_alarm, host_catch_signals, host_keep_memory, host_outlive_readers, host_seconds, host_signals_end, &
                    host_stack, host_standard_files, posix_exit
  use peers_m, only: PeersAwait, PeersEnded, PeersLook, PeersPart
  use job_m, only: JobFromText, JobRead
  use kinds_m, only: dp
  use launcher_c, only: launcher_hears, launcher_leaves_others
  use log_m, only: LogError, LogInfo, LogPrint, LogPrinted, LogWarn
  use mpi_f08, only: MPI_Abort
  use parameters_m, only: job_t
  use physics_m, only: JobTable, physics_t, PhysicsIntroduce, PhysicsTable
  use plan_m, only: Plan
  use barrier_m, only: Barrier, BroadcastInteger, BroadcastText
  use roles_m, only: role_t, RolesDevices, RolesLaunched, RolesMeet, RolesMet, RolesPlaces, RolesStart, RolesStop
  use run_m, only: Run
  use same_start_m, only: SameStart
  use siblings_c, only: siblings_part
  use status_m, only: StatusPrint
  use parameter_table_m, only: table_t
  use parameter_help_m, only: TableHelp, TableMarkdown, TableTemplate, TableText
  use parameter_manual_m, only: TableCompletion
  use text_m, only: CString, Join, NearestName, Str
  use usage_m, only: BuildText, Manual, option_list, SelfDescription, verbs, VerbWords
  use verify_m, only: Verify
  use version_m, only: VersionText
  implicit none
  private
  public :: SplMain

  real(dp), parameter :: COMING = 60.0_dp     !< seconds that ranks wait for each other at the end
  real(dp), parameter :: ENDING = 10.0_dp     !< seconds that MPI_Finalize has where one that dies in it would keep all others
  real(dp), parameter :: PARTING = 10.0_dp    !< seconds that rank 0 leaves the others to end where nobody else ends them
  integer, parameter :: STOPPED = 3           !< exit status: run again to resume
  integer, parameter :: QUIT = 0, DO_RUN = 1, DO_VERIFY = 2, DO_PLAN = 3, DO_STATUS = 4, DO_OWN = 5

contains

  !> The whole program of a physics. `sibling`: another one, whose parameters a user may take for this one's.
  !> Exit status: 0 all shots, 1 input error, 2 some shots failed, 3 stopped before the end: run again to resume.
  subroutine SplMain(physics, sibling)
    class(physics_t), target, intent(inout) :: physics
    class(physics_t), intent(inout), optional :: sibling
    type(role_t) :: role
    type(job_t) :: job
    type(error_t), allocatable :: error
    character(:), allocatable :: settings
    integer :: action, exit_status, stack
    logical :: alone, broken, json
    call PhysicsIntroduce(physics)
    call host_standard_files()
    call host_keep_memory()
    stack = host_stack()
    action = QUIT
    exit_status = 0
    broken = .false.
    settings = ''
    if (AsksRun(DeckCommandLine())) call host_catch_signals()
    alone = .not. RolesLaunched()
    if (alone) then
      call host_signals_end(STOPPED)
      if (.not. AsksStatus(DeckCommandLine())) call FailFromC(stack, error)
      if (.not. allocated(error)) call Understand(physics, DeckCommandLine(), job, settings, action, json, error, sibling)
      if (allocated(error) .or. action == QUIT .or. action == DO_STATUS) call AnswerAlone(action, job, json, error)
    end if
    call RolesMeet()
    call RolesStart(role)
    if (role%master) call host_signals_end(STOPPED)
    if (role%master .and. .not. alone) then
      call FailFromC(stack, error)
      if (.not. allocated(error)) call Understand(physics, DeckCommandLine(), job, settings, action, json, error, sibling)
    end if
    call BroadcastInteger(role%world, action)
    if (action == DO_RUN) call host_outlive_readers()
    if (action == DO_RUN .or. action == DO_VERIFY) then
      call ModelShots(role, physics, action, job, settings, exit_status, broken, error)
    else
      call RolesMet()
      if (role%master .and. action == DO_PLAN) call Plan(role, physics, job, settings, error)
      if (role%master .and. action == DO_STATUS) call StatusPrint(job, json, error)
      if (role%master .and. action == DO_OWN) call OwnVerb(physics, job, error)
      call BroadcastInteger(role%world, action)   ! rank 0 may have been busy for long
    end if
    if (role%master) call LogPrinted(error)
    if (allocated(error)) then
      exit_status = 1
      if (role%master) call LogError(error%message)
    end if
    if (role%master .and. exit_status /= 0) call TellStatus(exit_status)
    call EndTogether(role, broken, exit_status)
    stop exit_status, quiet=.true.
  end subroutine SplMain

  !> The verbs run and verify, which need every rank: each gets the settings of rank 0 and its device. `broken`: ranks were lost.
  subroutine ModelShots(role, physics, action, job, settings, exit_status, broken, error)
    type(role_t), intent(inout) :: role
    class(physics_t), target, intent(inout) :: physics
    integer, intent(in) :: action
    type(job_t), intent(inout) :: job
    character(:), allocatable, intent(inout) :: settings
    integer, intent(inout) :: exit_status
    logical, intent(inout) :: broken
    type(error_t), allocatable, intent(inout) :: error
    type(table_t) :: table
    character(:), allocatable :: warning
    call BroadcastText(role%world, settings)
    call PhysicsTable(physics, table)
    call SameStart(role, physics%program//' '//VersionText(), DeckCommandLine(), warning, error)
    if (role%master .and. warning /= '') call LogWarn(warning)
    if (.not. allocated(error)) call JobFromText(physics, settings, job, table, error)
    if (allocated(error)) then
      continue
    else if (job%group == 0 .and. action == DO_RUN) then     ! found when rank 0 knows the shots
      call RolesPlaces(role, job%gpn, job%ranks_per_gpu)
    else
      call RolesDevices(role, max(1, job%group), job%gpn, job%ranks_per_gpu, job%threads, error)
    end if
    call RolesMet()
    if (.not. allocated(error) .and. action == DO_RUN) call Run(role, physics, job, settings, exit_status, broken)
    if (.not. allocated(error) .and. action == DO_VERIFY) call Verify(role, physics, job%lease, exit_status, broken)
    if (action == DO_VERIFY .and. broken) exit_status = max(exit_status, 2)
  end subroutine ModelShots

  !> All ranks end with the status of rank 0, or this one alone where others were lost.
  subroutine EndTogether(role, broken, exit_status)
    type(role_t), intent(inout) :: role
    logical, intent(in) :: broken
    integer, intent(inout) :: exit_status
    logical :: all_here
    all_here = .false.
    if (.not. broken) call Barrier(role%world, COMING, role%peers, all_here)
    if (.not. all_here) call Leave(role, exit_status)
    call EndBy(COMING, exit_status)
    call BroadcastInteger(role%world, exit_status)
    call EndBy(merge(ENDING, COMING, launcher_leaves_others() == 1), exit_status)
    call siblings_part(0)
    call RolesStop(role)
  end subroutine EndTogether

  subroutine OwnVerb(physics, job, error)
    class(physics_t), intent(inout) :: physics
    type(job_t), intent(in) :: job
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: text
    call physics%own_verb(job, text, error)
    if (.not. allocated(error)) call LogPrint(text)
  end subroutine OwnVerb

  !> The end of a process alone that only has to say something: without MPI, whose start would take longer than the answer.
  subroutine AnswerAlone(action, job, json, error)
    integer, intent(in) :: action
    type(job_t), intent(in) :: job
    logical, intent(in) :: json
    type(error_t), allocatable, intent(inout) :: error
    if (.not. allocated(error) .and. action == DO_STATUS) call StatusPrint(job, json, error)
    call LogPrinted(error)
    if (allocated(error)) call LogError(error%message)
    stop merge(1, 0, allocated(error)), quiet=.true.
  end subroutine AnswerAlone

  !> True of a command line that asks for the status, which needs no large stack.
  pure logical function AsksStatus(args) result(asks)
    character(*), intent(in) :: args(:)
    integer :: i
    i = findloc(args /= '--json', .true., 1)
    asks = i > 0
    if (asks) asks = args(i) == 'status'
  end function AsksStatus

  !> True of a command line that asks for a run: signals end no run as they end other programs.
  logical function AsksRun(args) result(asks)
    character(*), intent(in) :: args(:)
    asks = size(args) > 0
    if (asks) asks = args(1) == 'run' .or. (index(args(1), '=') > 0 .and. index(args(1), '-') /= 1)
  end function AsksRun

  !> This rank ends within so many seconds, whoever dies meanwhile.
  subroutine EndBy(seconds, exit_status)
    real(dp), intent(in) :: seconds
    integer, intent(in) :: exit_status
    call host_alarm(nint(seconds), exit_status, CString('warning: a rank died at the end; all files are closed'))
  end subroutine EndBy

  !> The launcher that leaves others alone does not hand on the exit status.
  subroutine TellStatus(exit_status)
    integer, intent(in) :: exit_status
    if (launcher_leaves_others() == 1) call LogInfo('exit status '//Str(exit_status)// &
                                       ', whatever mpirun --enable-recovery says (0, mostly): go by the journal, or status')
  end subroutine TellStatus

  !> The end where ranks are lost: MPI cannot be ended properly any more, and everything is on disk. Under a launcher that lets the
  !> others live each rank just ends. Any other launcher would take that for a crash, or wait for a rank that stands still: so
  !> rank 0 ends the job, with its exit status, and the others wait for that unless it is dead, stopped or silent. The one that
  !> lets others live would wait, too, and nothing stops it: so rank 0 kills who is left on its machine. Where it is dead or
  !> stopped itself the others there kill who is stopped, and does not even hear of that. Where it is on another machine, silent
  !> before its first shot, the launcher ends, and kills who is left, where all others have called MPI_Abort. Who ends before rank 0
  !> says 0: mpirun of Open MPI 5.0.7 counts a rank with another exit status twice, and ends the job once it has counted as many as
  !> there were.
  subroutine Leave(role, exit_status)
    type(role_t), intent(inout) :: role
    integer, intent(inout) :: exit_status
    integer, allocatable :: killed(:)
    integer :: i
    call launcher_hears()
    if (launcher_leaves_others() == 1 .and. role%master_silent) then
      call MPI_Abort(role%world, exit_status)
    else if (launcher_leaves_others() == 0) then
      if (role%master) call MPI_Abort(role%world, exit_status)
      call PeersLook(role%peers, host_seconds())
      if (.not. (role%peers%stopped .or. role%master_silent)) call PeersAwait(role%peers, 0, COMING)
    else if (role%master) then
      call PeersPart(role%peers, PARTING, killed)
      do i = 1, size(killed)
        call LogWarn('rank '//Str(killed(i))//' was still there '//Str(PARTING, 3)//' s after the end of the job: it is killed')
      end do
    else
      call PeersLook(role%peers, host_seconds())
      if (PeersEnded(role%peers, [0]) .or. role%peers%stopped) then
        call siblings_part(1)
      else
        exit_status = 0
      end if
    end if
    call launcher_hears()
    call posix_exit(exit_status)
  end subroutine Leave

  !> Rank 0 reads the command line, answers what it can at once, and tells what is to be done: `action`, `job`, `settings`.
  subroutine Understand(physics, args, job, settings, action, json, error, sibling)
    class(physics_t), intent(inout) :: physics
    class(physics_t), intent(inout), optional :: sibling
    character(*), intent(in) :: args(:)
    type(job_t), intent(inout) :: job
    character(:), allocatable, intent(inout) :: settings
    integer, intent(inout) :: action
    logical, intent(out) :: json
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: verb
    type(table_t) :: table
    logical :: setting(size(args))
    integer :: help
    json = .false.
    call PhysicsTable(physics, table)
    help = findloc(args == '--help' .or. args == '-h', .true., 1)
    if (help > 1) then                               ! behind a verb or settings: the same help
      call Options(physics, args(help:), table, error)
      return
    end if
    if (size(args) == 0) then
      call LogPrint(SelfDescription(physics))
      return
    end if
    if (index(args(1), '-') == 1 .and. args(1) /= '--json') then
      call Options(physics, args, table, error)
      return
    end if
    call TakeVerb(physics, args, verb, json, setting, error)
    if (allocated(error)) return
    call JobRead(physics, pack(args, setting), verb, job, table, error, sibling)
    if (allocated(error)) return
    settings = TableText(table)
    select case (verb)
    case ('run')
      action = DO_RUN
    case ('verify')
      action = DO_VERIFY
    case ('plan')
      action = DO_PLAN
    case ('status')
      action = DO_STATUS
    case default
      action = DO_OWN
    end select
  end subroutine Understand

  !> The verb (the first word if it is no name=value; default run), whether --json was said, and which words are settings.
  subroutine TakeVerb(physics, args, verb, json, setting, error)
    class(physics_t), intent(in) :: physics
    character(*), intent(in) :: args(:)
    character(:), allocatable, intent(out) :: verb
    logical, intent(out) :: json, setting(:)
    type(error_t), allocatable, intent(inout) :: error
    character(6), allocatable :: known(:)
    integer :: first
    allocate (known, source=verbs)
    if (physics%verb /= '') known = [character(6) :: known, physics%verb]
    verb = 'run'
    setting = args /= '--json'
    json = .not. all(setting)
    first = findloc(setting, .true., 1)
    if (first > 0) then
      if (index(args(first), '=') == 0) then
        verb = trim(args(first))
        setting(first) = .false.
      end if
    end if
    if (all(verb /= known)) &
      call Fail(error, "'"//verb//"' is neither a verb ("//Join(known)//") nor name=value"//Near(verb, known))
    if (json .and. verb /= 'status') call Fail(error, '--json goes with the verb status')
  end subroutine TakeVerb

  function Near(verb, known) result(s)
    character(*), intent(in) :: verb, known(:)
    character(:), allocatable :: s
    s = NearestName(verb, known)
    if (s /= '') s = ': did you mean '//s//'?'
    if (index(verb, '.par') > 0) s = ': a parameter file is given as par='//verb
    if (index(verb, '.nc') > 0) s = ': the output of a run is given as output='//verb//', a model as vp='//verb
  end function Near

  !> What can be answered without a job: option_list.
  subroutine Options(physics, args, table, error)
    class(physics_t), intent(inout) :: physics
    character(*), intent(in) :: args(:)
    type(table_t), intent(inout) :: table
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: text, about
    type(job_t) :: job
    call JobTable(physics, table, job)
    about = ''
    if (size(args) > 1) about = trim(args(2))
    if (index(about, '=') > 0) about = ''             ! a setting, of which nothing is asked
    select case (args(1))
    case ('--help', '-h')
      call TableHelp(table, about, text, error)
      if (about == '') text = SelfDescription(physics)//new_line('a')//new_line('a')//text
    case ('--template')
      text = TableTemplate(table)
    case ('--markdown')
      text = TableMarkdown(table)
    case ('--man')
      text = Manual(physics, table)
    case ('--completion')
      text = TableCompletion(table, physics%program, VerbWords(physics))
    case ('--version')
      text = physics%program//' '//VersionText()//new_line('a')//BuildText(physics, table)
    case default
      call Fail(error, "'"//trim(args(1))//"' is no option; there are "//option_list)
    end select
    if (.not. allocated(error)) call LogPrint(text)
  end subroutine Options

end module spl_m
