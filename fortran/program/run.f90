!> The verb run: prepare the survey on rank 0, then master and workers do their parts.
module run_m
  use checkpoint_rule_m, only: CheckpointRule, CheckpointSweep
  use early_beats_m, only: early_beats_t, EarlyBeatsBegin, EarlyBeatsCan, EarlyBeatsEnd, EarlyBeatsNew, EarlyBeatsStopped
  use disk_m, only: disk_t, DiskNeed, DiskText
  use error_m, only: error_t, Fail
  use lease_m, only: PATIENCE
  use scheduler_m, only: FOREVER
  use deadline_m, only: DeadlineFind
  use files_m, only: FileExists, FileSpace
  use fio_m, only: FioVariants
  use host_c, only: host_seconds, host_signals_end
  use keymap_m, only: KeymapFind
  use kinds_m, only: dp
  use log_m, only: LogError, LogInfo, LogLines, LogWarn
  use memory_need_m, only: memory_t, MemoryBytes, MemoryCheck, MemoryNeed
  use master_finish_m, only: MasterFinish, MasterNote, MasterEndJob, MasterStatus
  use master_m, only: master_t, MasterNew, MasterServe
  use nametable_m, only: name_length
  use parameters_m, only: job_t
  use physics_m, only: physics_t
  use barrier_m, only: Barrier, BroadcastInteger
  use protocol_m, only: link_t
  use record_m, only: RecordKeep
  use roles_m, only: role_t, RolesDevices, RolesMeet, RolesMet, RolesThreads
  use runnote_m, only: BegunNote
  use scheme_m, only: scheme_t
  use snapshots_m, only: FioSnapshotPath
  use standing_m, only: StandingOwn
  use scheme_exchange_m, only: PREPARING, SchemeReceive, SchemeSend, SIGNALLED
  use store_m, only: store_t, StoreClose, StoreOpen, StoreOthersDone, StoreStopPath
  use survey_m, only: survey_t, SurveyFilmBytes, SurveyLog, SurveyRead, SurveyHeader
  use gather_header_m, only: gather_header_t
  use group_size_m, only: GroupAdvise, GroupSize
  use text_m, only: Counted, Ranges, Str
  use solver_m, only: solver_t
  use master_heartbeat_m, only: job_end_t, HeartbeatWait
  use worker_type_m, only: worker_options_t, WorkerDecline
  use worker_m, only: WorkerRun
  implicit none
  private
  public :: Run, RunSurvey, AwaitMaster

contains

  !> The whole run. `settings`: the resolved parameters as text. Exit status as in SplMain. Collective over all ranks, until
  !> `broken`: ranks were lost.
  subroutine Run(role, physics, job, settings, exit_status, broken)
    type(role_t), intent(inout) :: role
    class(physics_t), target, intent(inout) :: physics
    character(*), intent(in) :: settings
    type(job_t), intent(in) :: job
    integer, intent(inout) :: exit_status
    logical, intent(out) :: broken
    type(survey_t), target :: survey
    type(store_t), target :: store
    type(worker_options_t) :: options
    type(error_t), allocatable :: error
    character(:), allocatable :: why
    real(dp) :: start, deadline
    logical :: ok, overwrite
    start = host_seconds()
    deadline = FOREVER
    broken = .false.
    why = ''
    role%early_beats = EarlyBeatsCan()
    if (role%master) call EarlyBeatsBegin(role%world, job%lease)
    if (role%master) call SurveyRead(physics, job, survey, error)     ! which refuses an input of the stop file's name
    if (job%group == 0) call FindGroups(role, job, survey, why, broken, error)
    if (broken) exit_status = 3
    if (job%group == 0 .and. allocated(error)) then
      if (role%master) call LogError(error%message)
      exit_status = 1
    end if
    if (broken .or. exit_status /= 0) return
    if (role%master) then
      if (job%group == 0) call EarlyBeatsBegin(role%world, job%lease)
      overwrite = job%overwrite
      if (overwrite) overwrite = .not. StandingOwn(job%output)     ! what it did before it was started again is not to be lost
      if (job%overwrite .and. .not. overwrite) &
        call LogInfo('this Slurm job was started again and goes on: overwrite=yes was for its first start')
      call Prepare(role, physics, job, settings, overwrite, start, why, survey, store, deadline, exit_status, error)
    end if
    options%shots_per_gpu = job%shots_per_gpu
    options%gpu_memory = 1.0e9_dp*job%gpu_memory
    options%retire = job%on_gpu_error == 'retire'
    options%shape = job%shape
    if (job%steps_a_pass /= 'auto') options%steps_a_pass = iachar(job%steps_a_pass) - iachar('0')
    options%lease = job%lease
    call CheckpointRule(job%checkpoint, job%mtbf, job%output, options%checkpoint, ok)
    if (role%master .and. exit_status == 0) call CheckpointSweep(options%checkpoint, overwrite)   ! else they may be another's
    if (role%master) call EarlyBeatsEnd()
    call RunSurvey(role, physics, job%threads, options, survey, store, role%nworkers, deadline, .false., exit_status, broken)
    if (.not. role%master) return
    ok = StoreOthersDone(store)
    if (ok .or. exit_status == 0) call CheckpointSweep(options%checkpoint, .true.)
  end subroutine Run

  !> Rank 0 checks what the job needs, opens its output and tells what will be done. `overwrite`: what is there is not gone on with;
  !> `why`: of the ranks that share a shot; `start` of the run and `deadline` [s].
  subroutine Prepare(role, physics, job, settings, overwrite, start, why, survey, store, deadline, exit_status, error)
    type(role_t), intent(in) :: role
    class(physics_t), intent(in) :: physics
    type(job_t), intent(in) :: job
    character(*), intent(in) :: settings, why
    logical, intent(in) :: overwrite
    real(dp), intent(in) :: start
    type(survey_t), target, intent(inout) :: survey
    type(store_t), target, intent(inout) :: store
    real(dp), intent(inout) :: deadline
    integer, intent(inout) :: exit_status
    type(error_t), allocatable, intent(inout) :: error
    type(gather_header_t) :: header
    type(memory_t) :: memory
    type(disk_t) :: disk
    character(:), allocatable :: warning
    if (.not. allocated(error)) call RefuseStopFile(job%output, error)
    if (.not. allocated(error)) call MemoryNeed(survey, memory, role%groups%ranks > 1 .and. all(role%gpus))
    if (.not. allocated(error)) then
      call MemoryCheck(memory, role%nodes, warning, error)
      call GroupAdvise(survey, role%nodes, error)
    end if
    if (.not. allocated(error)) call SurveyHeader(survey, settings, header)
    if (.not. allocated(error)) call DiskNeed(survey, header, disk, error)
    call host_signals_end(0)                  ! from here on the master sees to them: there are files to be closed
    if (.not. allocated(error)) call StoreOpen(store, job%output, header, role%host, overwrite, job%verify == 'last', error, &
                                               BegunNote(physics%program, role%size, size(role%nodes), role%groups%ranks, &
                                                         VariantsOf(role, survey)), &
                                               survey%keymap)
    if (allocated(error)) then
      call LogError(error%message)
      exit_status = 1
    else
      call RecordKeep(job%output, physics%program, settings)
      call SurveyLog(survey)
      if (why /= '') call LogInfo('group    '//why)
      call LogLines(role%map, .false.)
      call LogLines(role%warnings, .true.)
      call LogInfo('memory   '//MemoryBytes(memory%worker)//' a worker, '//MemoryBytes(memory%master)//' rank 0')
      call LogLines('disk     '//DiskText(disk, job%output, physics%pictures), .false.)
      if (warning /= '') call LogWarn(warning)
      call WarnOfVariants(VariantsOf(role, survey), store)
      call WarnOfSnapshots(survey, store, job%output)
      call WarnOfDisk(survey, store, job%output)
      deadline = DeadlineFind(job%deadline, start)
      call LogInfo('shots to do: '//Str(count(.not. store%done))//' of '//Str(survey%keymap%n)//', on '// &
                   Str(role%nworkers)//' worker(s)'//Groups(role%groups%ranks))
    end if
  end subroutine Prepare

  !> Rank 0 finds how many ranks share a shot, `why` tells the reason, and all take their places in such groups. Fails on all where
  !> no group holds the largest shot, and rank 0 knows why. `broken`: a rank died meanwhile. Collective over all ranks.
  subroutine FindGroups(role, job, survey, why, broken, error)
    type(role_t), intent(inout) :: role
    type(job_t), intent(in) :: job
    type(survey_t), intent(inout) :: survey
    character(:), allocatable, intent(inout) :: why
    logical, intent(out) :: broken
    type(error_t), allocatable, intent(inout) :: error
    integer :: group
    group = 0
    if (role%master .and. .not. allocated(error)) call GroupSize(survey, role%places, group, why, error)
    call AwaitMaster(role, PATIENCE*job%lease, broken)
    if (broken) return
    call RolesMeet()
    call BroadcastInteger(role%world, group)
    if (group > 0) then
      call RolesDevices(role, group, job%gpn, job%ranks_per_gpu, job%threads, error)
    else if (.not. role%master) then
      call Fail(error, 'there are no groups')
    end if
    call RolesMet()
  end subroutine FindGroups

  !> All ranks wait for rank 0, which has begun to send early heartbeats and ends that here, at most so many `seconds` for one.
  !> `broken`: a rank died meanwhile, or rank 0 stands still. Collective over all ranks.
  subroutine AwaitMaster(role, seconds, broken)
    type(role_t), intent(inout) :: role
    real(dp), intent(in) :: seconds
    logical, intent(out) :: broken
    type(early_beats_t) :: beats
    character(:), allocatable :: missing
    logical :: all_here
    if (role%master) then
      call EarlyBeatsEnd()
      call Barrier(role%world, PREPARING, role%peers, all_here, SIGNALLED, seconds, why=missing)
    else
      call EarlyBeatsNew(beats, role%world, role%early_beats, seconds, role%peers)
      call Barrier(role%world, PREPARING, role%peers, all_here, SIGNALLED, seconds, beats, missing)
    end if
    broken = .not. all_here
    if (.not. broken) return
    if (.not. role%master) role%master_silent = EarlyBeatsStopped(beats)
    call LogError(missing//' before the first shot; this rank ends; run the same command again to continue')
  end subroutine AwaitMaster

  pure function Groups(ranks) result(words)
    integer, intent(in) :: ranks
    character(:), allocatable :: words
    words = ''
    if (ranks > 1) words = ' of '//Str(ranks)//' ranks each'
  end function Groups

  !> Refuses a stop file of an earlier run: it would end this one at once.
  subroutine RefuseStopFile(output, error)
    character(*), intent(in) :: output
    type(error_t), allocatable, intent(inout) :: error
    if (FileExists(StoreStopPath(output))) call Fail(error, "there is a stop file, '"//StoreStopPath(output)// &
      "', so no shot would be dealt: remove it and run again")
  end subroutine RefuseStopFile

  !> The variants by which this run models shots, joined by commas.
  function VariantsOf(role, survey) result(names)
    type(role_t), intent(in) :: role
    type(survey_t), intent(in) :: survey
    character(:), allocatable :: names
    class(solver_t), allocatable :: solver
    call survey%physics%solver(solver)
    names = solver%choose(survey%scheme%variant, any(role%gpus))
    if (any(role%gpus) .and. .not. all(role%gpus)) names = names//','//solver%choose(survey%scheme%variant, .false.)
  end function VariantsOf

  !> Shots done by variants that this run does not have stay as they are: a warning names them, for the others come out otherwise
  !> in their last digits. `names`: the variants of this run.
  subroutine WarnOfVariants(names, store)
    character(*), intent(in) :: names
    type(store_t), intent(in) :: store
    character(name_length), allocatable :: variant(:)
    logical, allocatable :: other(:), alike(:)
    type(error_t), allocatable :: error
    character(:), allocatable :: name
    integer :: i
    if (all(store%done) .or. .not. any(store%done)) return
    allocate (variant(size(store%done)))
    call FioVariants(store%fio, variant, error)
    if (allocated(error)) return                           ! the slots are read and compared later, and the problem is told
    other = store%done .and. variant /= ''
    do i = 1, size(other)
      if (other(i)) other(i) = index(','//names//',', ','//trim(variant(i))//',') == 0
    end do
    do while (any(other))
      name = trim(variant(findloc(other, .true., 1)))
      alike = other .and. variant == name
      call LogWarn('done with variant '//name//' by earlier runs: '//Counted(count(alike), 'shot', 'shots')//' ('// &
                   Ranges(pack(store%fio%record, alike), 100)//'); the '//Str(count(.not. store%done))// &
                   ' left are modelled with '//names//', and agree with what '//name//' makes of them to 1e-5, not bit for '// &
                   'bit; the variable variant in the output tells each, overwrite=y models all anew')
      other = other .and. .not. alike
    end do
  end subroutine WarnOfVariants

  !> Shots that are done are not modelled again for the sake of snapshots: a warning says so where they are asked for later.
  subroutine WarnOfSnapshots(survey, store, output)
    type(survey_t), intent(in) :: survey
    type(store_t), intent(in) :: store
    character(*), intent(in) :: output
    integer :: i, n, first
    n = 0
    first = 0
    do i = 1, size(survey%snapshot_records)
      if (.not. store%done(findloc(survey%keymap%record, survey%snapshot_records(i), 1))) cycle
      if (FileExists(FioSnapshotPath(output, survey%snapshot_records(i)))) cycle
      n = n + 1
      if (first == 0) first = survey%snapshot_records(i)
    end do
    if (n > 0) call LogWarn('snapshots were asked for of '//Str(n)//' shot(s) that are done already without, the first of them '// &
                            Str(first)//": there will be none; give another output for them, with the other shots as 'skip'")
  end subroutine WarnOfSnapshots

  !> Warns where the disk has no room for snapshots; the output has its space reserved already.
  subroutine WarnOfDisk(survey, store, output)
    type(survey_t), intent(in) :: survey
    type(store_t), intent(in) :: store
    character(*), intent(in) :: output
    real(dp) :: need, free
    integer :: i
    need = 0
    do i = 1, size(survey%snapshot_records)
      if (store%done(KeymapFind(survey%keymap, survey%snapshot_records(i)))) cycle
      need = need + SurveyFilmBytes(survey, survey%snapshot_records(i))
    end do
    free = FileSpace(output)
    if (need > free .and. free >= 0) &
      call LogWarn('snapshots or films to come take '//MemoryBytes(need)//', and '//MemoryBytes(free)//' are free where '// &
                   output//' is: make room, or take fewer; without room the dealing pauses')
  end subroutine WarnOfDisk

  !> Models what is left of a prepared survey (rank 0 has it) with the first `nworkers` groups, until `deadline` [s, of
  !> host_seconds] at the latest, and closes its files. With an `exit_status` other than 0 it only tells all ranks that.
  !> Collective over all ranks, until `broken`: ranks were lost.
  subroutine RunSurvey(role, physics, threads, options, survey, store, nworkers, deadline, quiet, exit_status, broken)
    type(role_t), intent(inout) :: role
    class(physics_t), intent(in) :: physics
    integer, intent(in) :: threads, nworkers
    type(worker_options_t), intent(in) :: options
    real(dp), intent(in) :: deadline
    logical, intent(in) :: quiet                !< no progress and no summary
    type(survey_t), target, intent(inout) :: survey
    type(store_t), target, intent(inout) :: store
    integer, intent(inout) :: exit_status
    logical, intent(out) :: broken
    type(master_t), target :: master
    type(link_t) :: link
    type(job_end_t) :: job_end
    real(dp) :: start
    type(error_t), allocatable :: error
    start = host_seconds()
    link%world = role%world
    link%patience = merge(options%lease, PATIENCE*options%lease, role%master)
    broken = .false.
    if (role%master) then
      call SchemeSend(link, role%size, exit_status, survey%scheme)
    else
      call SchemeReceive(role, link, physics, exit_status, survey%scheme, broken, error)
    end if
    if (exit_status /= 0) return
    if (role%worker) survey%scheme%ranks = role%group_size
    survey%scheme%threads = RolesThreads(role, threads)
    if (role%master) call MasterNew(master, survey, store, role, nworkers, deadline, quiet)
    if (role%alone) link%listener => master
    call Work(role, link, physics, survey%scheme, options, nworkers, job_end, error)
    exit_status = job_end%status
    broken = job_end%broken
    if (.not. role%master) return
    if (.not. role%alone) call MasterServe(master, link)
    call MasterFinish(master)
    exit_status = MasterStatus(master)
    call StoreClose(store, host_seconds() - start, MasterNote(master, exit_status), error)
    if (allocated(error)) call LogError(error%message)
    if (.not. role%alone) call MasterEndJob(master, link, exit_status, broken)
  end subroutine RunSurvey

  !> The work of a rank apart from the master's: it models shots, or waits for the end. One that cannot take part, for the
  !> reason `error`, tells it, says good-bye, and waits too.
  subroutine Work(role, link, physics, scheme, options, nworkers, job_end, error)
    type(role_t), intent(in) :: role
    type(link_t), intent(inout) :: link
    class(physics_t), intent(in) :: physics
    class(scheme_t), intent(in) :: scheme
    type(worker_options_t), intent(in) :: options
    integer, intent(in) :: nworkers
    type(job_end_t), intent(out) :: job_end
    type(error_t), allocatable, intent(inout) :: error
    class(solver_t), allocatable :: solver
    logical :: worker
    worker = role%worker .and. role%worker_id <= nworkers
    if (worker .and. .not. allocated(error)) then
      call physics%solver(solver)
      call WorkerRun(role, link, solver, scheme, options, job_end)
      return
    end if
    if (worker) call WorkerDecline(role, link, error%message)
    if (.not. role%master) call HeartbeatWait(role, link, options%lease, job_end)
    if (allocated(error)) deallocate (error)
  end subroutine Work

end module run_m
