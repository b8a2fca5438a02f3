!> The verb verify: variants against each other, worker counts against each other, and the analytic solution, on this machine.
!>
!> Small surveys go through the whole program: key-map, model, dealing, solver, files. Each check prints pass or FAIL with its
!> number and bound. Nothing of the user's is touched: all files stand in a scratch folder that is removed.
module verify_m
  use scheduler_m, only: FOREVER
  use early_beats_m, only: EarlyBeatsBegin, EarlyBeatsCan, EarlyBeatsEnd
  use error_m, only: error_t, FailFromC
  use fio_m, only: fio_t, FioClose, FioGet, FioOpen
  use gather_m, only: gather_t
  use kinds_m, only: dp
  use lease_m, only: PATIENCE
  use log_m, only: LogError, LogPrint
  use parameters_m, only: job_t
  use physics_m, only: physics_t, PhysicsTable, PhysicsVariants
  use survey_m, only: survey_t, SurveyRead, SurveyHeader
  use peers_m, only: peers_t
  use barrier_m, only: Barrier, BroadcastInteger, LargestInteger
  use roles_m, only: role_t, RolesDisband, RolesSingle
  use run_m, only: AwaitMaster, RunSurvey
  use scheme_exchange_m, only: PREPARING
  use worker_type_m, only: worker_options_t
  use scratch_c, only: scratch_make, scratch_remove
  use store_m, only: store_t, StoreOpen
  use parameter_table_m, only: SplitList, table_t
  use iso_c_binding, only: c_char
  use job_m, only: JobFromText
  use gather_header_m, only: gather_header_t
  use text_m, only: CString, FString, Str
  use wavelet_m, only: wavelet_t
  implicit none
  private
  public :: Verify

  real(dp), parameter :: variants_bound = 1.0e-5_dp   !< relative RMS of a trace, variant against variant
  real(dp), parameter :: exact_bound = 0.01_dp        !< relative L2 of a trace against the analytic solution
  character, parameter :: nl = new_line('a')

  !> The checks of this run.
  type :: score_t
    character(:), allocatable :: folder
    real(dp) :: lease = 0                      !< of a worker [s]
    integer :: group = 1                       !< ranks of a worker
    integer :: shots = 0                       !< of a survey
    integer :: failed = 0
  end type score_t

contains

  !> Exit status 0 if every check passed, 2 if not; the caller's where ranks were lost. `lease`: of a worker [s]. Rank 0 sends early
  !> heartbeats while it writes and reads what a survey needs. Collective over all ranks.
  subroutine Verify(role, physics, lease, exit_status, broken)
    type(role_t), intent(inout) :: role
    class(physics_t), target, intent(inout) :: physics
    real(dp), intent(in) :: lease
    integer, intent(inout) :: exit_status
    logical, intent(out) :: broken            !< ranks were lost
    type(score_t) :: score
    type(error_t), allocatable :: error
    character(32), allocatable :: variants(:)
    character(kind=c_char, len=1024) :: buffer
    integer :: i
    role%early_beats = EarlyBeatsCan()
    score%lease = lease
    score%group = role%groups%ranks
    if (role%master) then
      call EarlyBeatsBegin(role%world, lease)
      call FailFromC(scratch_make(buffer, len(buffer)), error)
      score%folder = FString(buffer)
      if (.not. allocated(error)) call physics%trial_files(score%folder, score%shots)
      if (allocated(error)) call LogError(error%message)
      if (allocated(error)) exit_status = 1
    end if
    call AwaitMaster(role, PATIENCE*lease, broken)
    if (broken) return
    call BroadcastInteger(role%world, exit_status)
    if (exit_status /= 0) return
    variants = Usable(role, physics)
    do i = 1, size(variants)
      call Model(role, physics, score, trim(variants(i)), 'layers variant='//trim(variants(i)), 1, broken)
      if (broken) return
      if (role%master .and. i > 1) call Compare(score, trim(variants(i))//' against '//trim(variants(1)), trim(variants(1)), &
                                                trim(variants(i)), variants_bound)
    end do
    do i = 1, role%nworkers
      call Model(role, physics, score, 'workers'//Str(i), 'layers', i, broken)
      if (broken) return
      if (role%master .and. i > 1) call Compare(score, Str(i)//' workers against 1', 'workers1', 'workers'//Str(i), 0.0_dp)
    end do
    if (score%group > 1) call AgainstOne(role, physics, score, broken)
    if (broken) return
    call Model(role, physics, score, 'uniform', 'uniform', role%nworkers, broken)
    if (broken) return
    if (role%master) then
      call CompareExact(physics, score)
      call FailFromC(scratch_remove(CString(score%folder)), error)
      if (allocated(error)) call LogError(error%message)
      call LogPrint(merge('verify: every check passed ', 'verify: some checks FAILED ', score%failed == 0))
      exit_status = merge(0, 2, score%failed == 0)
    end if
  end subroutine Verify

  !> The built-in survey on a group of ranks against that on one rank. Each cell is computed by the same operations, but for those
  !> of a variant on a GPU that has a faster way where no neighbour is.
  subroutine AgainstOne(role, physics, score, broken)
    type(role_t), intent(inout) :: role
    class(physics_t), target, intent(inout) :: physics
    type(score_t), intent(inout) :: score
    logical, intent(out) :: broken
    type(role_t) :: single
    integer :: group
    group = score%group
    call RolesSingle(role, single)
    score%group = 1
    call Model(single, physics, score, 'single', 'layers', 1, broken)
    score%group = group
    role%master_silent = single%master_silent
    if (broken) return
    call RolesDisband(single)
    if (role%master) call Compare(score, 'a group of '//Str(group)//' ranks against one rank', 'single', 'workers1', &
                                  merge(variants_bound, 0.0_dp, any(role%gpus)))
  end subroutine AgainstOne

  !> The variants that can be computed here: those for GPUs if worker 1, which computes the comparison, has one.
  function Usable(role, physics) result(variants)
    type(role_t), intent(in) :: role
    class(physics_t), intent(in) :: physics
    character(32), allocatable :: variants(:)
    integer :: gpu
    gpu = merge(1, 0, role%gpu >= 0 .and. role%worker_id == 1)
    call LargestInteger(role%world, gpu)
    variants = SplitList(PhysicsVariants(physics, cores=gpu == 0))
  end function Usable

  !> The built-in job: a name of a model, perhaps followed by a further setting.
  subroutine BuiltIn(physics, score, output, what, job, error)
    class(physics_t), intent(inout) :: physics
    type(score_t), intent(in) :: score
    character(*), intent(in) :: output, what
    type(job_t), intent(inout) :: job
    type(error_t), allocatable, intent(inout) :: error
    type(table_t) :: table
    character(:), allocatable :: text
    integer :: p
    p = index(what//' ', ' ')
    associate (folder => score%folder)
      text = "keymap = '"//folder//"/line.keymap'"//nl//"output = '"//folder//'/'//output//".nc'"//nl// &
             physics%trial_job(folder, what(:p - 1))//nl
    end associate
    if (p <= len(what)) text = text//what(p + 1:)//nl
    if (score%group > 1) text = text//'group = '//Str(score%group)//nl
    call PhysicsTable(physics, table)
    call JobFromText(physics, text, job, table, error)
  end subroutine BuiltIn

  !> Models a built-in survey with `nworkers` groups into folder/output.nc. Collective.
  subroutine Model(role, physics, score, output, what, nworkers, broken)
    type(role_t), intent(inout) :: role
    class(physics_t), target, intent(inout) :: physics
    character(*), intent(in) :: output, what
    type(score_t), intent(inout) :: score
    integer, intent(in) :: nworkers
    logical, intent(out) :: broken
    type(job_t) :: job
    type(survey_t), target :: survey
    type(store_t), target :: store
    type(gather_header_t) :: header
    type(error_t), allocatable :: error
    integer :: status
    status = 0
    broken = .false.
    if (role%master) then
      call EarlyBeatsBegin(role%world, score%lease)
      call BuiltIn(physics, score, output, what, job, error)
      if (.not. allocated(error)) call SurveyRead(physics, job, survey, error)
      if (.not. allocated(error)) call SurveyHeader(survey, '', header)
      if (.not. allocated(error)) call StoreOpen(store, job%output, header, role%host, .true., .false., error)
      if (allocated(error)) status = 1
      call EarlyBeatsEnd()
    end if
    call RunSurvey(role, physics, 0, worker_options_t(lease=score%lease), survey, store, nworkers, FOREVER, .true., status, &
                   broken)
    if (.not. broken) call AllEnd(role, broken)
    if (.not. role%master) return
    if (allocated(error)) then
      call Result(score, .false., output//': '//error%message)
    else if (status /= 0) then
      call Result(score, .false., output//': not all shots were modelled')
    end if
  end subroutine Model

  !> Waits until all ranks have ended a survey. Rank 0 may be ready for the next one while ranks of a group still learn from its
  !> first rank that this one is over: they would take the next one's START for a message of this one, and forget it. `broken`: a
  !> rank died meanwhile.
  subroutine AllEnd(role, broken)
    type(role_t), intent(in) :: role
    logical, intent(out) :: broken
    type(peers_t) :: peers
    logical :: all_here
    peers = role%peers
    call Barrier(role%world, PREPARING, peers, all_here)
    broken = .not. all_here
  end subroutine AllEnd

  !> The largest relative RMS difference of a trace between two files must not exceed `bound`.
  subroutine Compare(score, title, one, two, bound)
    type(score_t), intent(inout) :: score
    character(*), intent(in) :: title, one, two
    real(dp), intent(in) :: bound
    type(gather_t) :: a, b
    type(error_t), allocatable :: error
    real(dp) :: worst
    integer :: slot, r
    worst = 0
    do slot = 1, score%shots
      call Gather(score, one, slot, a, error)
      call Gather(score, two, slot, b, error)
      if (allocated(error)) exit
      do r = 1, a%nrec
        worst = max(worst, Misfit(real(b%traces(:, r, 1), dp), real(a%traces(:, r, 1), dp)))
      end do
    end do
    if (allocated(error)) then
      call Result(score, .false., title//': '//error%message)
    else
      call Result(score, worst <= bound, title//': largest relative RMS of a trace '//Str(worst, 3)//', bound '//Str(bound, 3))
    end if
  end subroutine Compare

  !> Direct waves in the uniform model against the analytic solution, in absolute amplitude.
  subroutine CompareExact(physics, score)
    class(physics_t), intent(inout) :: physics
    type(score_t), intent(inout) :: score
    type(job_t) :: job
    type(wavelet_t) :: wavelet
    type(gather_t) :: g
    type(error_t), allocatable :: error
    real(dp), allocatable :: exact(:, :)
    real(dp) :: worst
    integer :: slot, i
    call BuiltIn(physics, score, 'uniform', 'uniform', job, error)
    if (.not. allocated(error)) call physics%wavelet(job, wavelet, error)
    worst = 0
    do slot = 1, score%shots
      call Gather(score, 'uniform', slot, g, error)
      if (allocated(error)) exit
      exact = physics%trial_exact(job, wavelet, g)
      do i = 1, g%nrec
        worst = max(worst, Misfit(real(g%traces(:, i, 1), dp), exact(:, i)))
      end do
    end do
    if (allocated(error)) then
      call Result(score, .false., 'analytic solution: '//error%message)
    else
      call Result(score, worst <= exact_bound, 'analytic solution, direct waves off the grid: largest relative L2 of a trace '// &
                  Str(worst, 3)//', bound '//Str(exact_bound, 3))
    end if
  end subroutine CompareExact

  subroutine Gather(score, name, slot, g, error)
    type(score_t), intent(in) :: score
    character(*), intent(in) :: name
    integer, intent(in) :: slot
    type(gather_t), intent(out) :: g
    type(error_t), allocatable, intent(inout) :: error
    type(fio_t) :: fio
    if (allocated(error)) return
    call FioOpen(fio, score%folder//'/'//name//'.nc', error, readonly=.true.)
    if (.not. allocated(error)) call FioGet(fio, slot, g, error)
    call FioClose(fio, error)
  end subroutine Gather

  pure real(dp) function Misfit(a, reference) result(e)
    real(dp), intent(in) :: a(:), reference(:)
    e = norm2(a - reference)
    if (e > 0) e = e/norm2(reference)
  end function Misfit

  subroutine Result(score, ok, sentence)
    type(score_t), intent(inout) :: score
    logical, intent(in) :: ok
    character(*), intent(in) :: sentence
    if (.not. ok) score%failed = score%failed + 1
    call LogPrint(merge('pass  ', 'FAIL  ', ok)//sentence)
  end subroutine Result

end module verify_m
