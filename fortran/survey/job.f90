!> From the words of the command line to a checked job: the one entry a program calls.
!>
!> The table checks each parameter by itself; here stands what needs several of them, or a look at the disk. All problems of
!> both are told at once. A check is left out where a parameter it needs is wrong already.
module job_m
  use checkpoint_rule_m, only: checkpoint_t, CheckpointRule
  use parameter_words_m, only: Shown
  use error_m, only: error_t, FailFromC
  use files_m, only: FileSame
  use problems_m, only: ProblemAdd, ProblemsRaise
  use kinds_m, only: dp
  use ours_m, only: OursCheck
  use parameters_m, only: job_t
  use path_c, only: path_input, path_output
  use physics_m, only: JobTable, physics_t, PhysicsKnows
  use record_m, only: RecordKnown
  use sides_m, only: SideOf, SidePath
  use parameter_table_m, only: table_t, SplitList, TableArguments, TableCheck, TableReadText, TableUnknown
  use text_m, only: CString, Join, Lower, Str, ToInt
  implicit none
  private
  public :: JobRead, JobFromText

  integer, parameter :: samples_limit = 10000000   !< of a trace

contains

  !> Reads and checks a job. `args`: the words name=value of the command line, without verb and options, (words).
  !> `verb`: run, plan, status, verify or that of the physics; it decides what must be given. `table` leaves with a row for each
  !> parameter (TableText, TableHelp). `error` tells all problems, a line each. `sibling`: a physics whose parameters may be taken
  !> for this one's.
  subroutine JobRead(physics, args, verb, job, table, error, sibling)
    class(physics_t), intent(inout) :: physics
    character(*), intent(in) :: args(:), verb
    type(job_t), intent(inout) :: job
    type(table_t), intent(inout) :: table
    type(error_t), allocatable, intent(inout) :: error
    class(physics_t), intent(inout), optional :: sibling
    type(table_t) :: other
    type(job_t) :: ignored
    call TableArguments(table, args)
    call JobTable(physics, table, job)
    if (present(sibling)) then
      call JobTable(sibling, other, ignored)
      call TableUnknown(table, other, sibling%program)
    else
      call TableUnknown(table, other, '')
    end if
    job%changed = table%changes()
    call JobNormalise(job)
    call JobCheck(physics, job, verb, table)
    call ProblemsRaise(table%deck%problems, 'the parameters', error)
  end subroutine JobRead

  !> The job that TableText wrote: how other ranks get it. Looks at no files.
  subroutine JobFromText(physics, text, job, table, error)
    class(physics_t), intent(inout) :: physics
    character(*), intent(in) :: text
    type(job_t), intent(inout) :: job
    type(table_t), intent(inout) :: table
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: changed
    call move_alloc(job%changed, changed)
    call TableReadText(table, text, 'resolved parameters')
    call JobTable(physics, table, job)
    call move_alloc(changed, job%changed)           ! as rank 0 has read it, with the lines of the deck
    call JobNormalise(job)
    call TableCheck(table, error)
  end subroutine JobFromText

  !> Lists without idle blanks, in lower case.
  subroutine JobNormalise(job)
    type(job_t), intent(inout) :: job
    job%components = Lower(Dense(job%components))
    job%checkpoint = Lower(Dense(job%checkpoint))
    job%snapshot_shots = Dense(job%snapshot_shots)
    job%snapshot_planes = Lower(Dense(job%snapshot_planes))
    job%snapshot_fields = Lower(Dense(job%snapshot_fields))
  end subroutine JobNormalise

  !> Adds to the table's problems what is wrong with parameters together. `job` has passed JobTable with `t`.
  subroutine JobCheck(physics, job, verb, t)
    class(physics_t), intent(in) :: physics
    type(job_t), intent(in) :: job
    character(*), intent(in) :: verb
    type(table_t), intent(inout) :: t
    logical :: clash
    call CheckTime(job, t)
    call CheckWavelet(job, t)
    call CheckSpectrum(job, t)
    call CheckComponents(physics, job, t)
    call CheckScheme(job, t)
    call CheckSnapshots(physics, job, t)
    call CheckCluster(job, t)
    call CheckClashes(job, t, clash)
    call physics%check(job, verb, t)
    if (verb /= 'status') call CheckFiles(job, verb, clash, t)
  end subroutine JobCheck

  ! --- time, source and receivers -------------------------------------------------------------------------------------

  subroutine CheckTime(job, t)
    type(job_t), intent(in) :: job
    type(table_t), intent(inout) :: t
    if (t%sound('aperture')) call CheckMinusOne('aperture', job%aperture, t)
    if (t%sound('delay')) call CheckMinusOne('delay', job%delay, t)
    if (.not. t%sound('tmax,dt_out')) return
    if (job%dt_out > job%tmax) then
      call t%blame('dt_out', 'is longer than the record, '//t%said('tmax')//': give at most tmax')
    else if (job%tmax/job%dt_out > samples_limit) then
      call t%blame('dt_out', 'makes '//Str(job%tmax/job%dt_out, 3)//' samples a trace with '//t%said('tmax')// &
                   ': at most '//Str(samples_limit)//' are stored, give a longer interval')
    end if
    if (t%sound('dt') .and. job%dt > job%tmax) &
      call t%blame('dt', 'is longer than the record, '//t%said('tmax')//': give at most tmax, or 0 for the largest stable step')
  end subroutine CheckTime

  !> -1 stands for "automatic"; other negative values stand for nothing.
  subroutine CheckMinusOne(name, value, t)
    character(*), intent(in) :: name
    real(dp), intent(in) :: value
    type(table_t), intent(inout) :: t
    if (value < 0 .and. value /= -1) call t%blame(name, 'is negative: give 0 or more, or -1 for automatic')
  end subroutine CheckMinusOne

  subroutine CheckWavelet(job, t)
    type(job_t), intent(in) :: job
    type(table_t), intent(inout) :: t
    integer :: i
    if (t%sound('amplitude') .and. job%amplitude == 0) &
      call t%blame('amplitude', 'makes every trace zero: give another value, 1 leaves the wavelet as it is')
    if (.not. t%sound('wavelet')) return
    if (job%wavelet == 'file' .and. job%wavelet_file == '') &
      call t%blame('wavelet', 'needs the samples: give wavelet_file=FILE')
    if (t%given('wavelet')) return
    ! The choice was left open, so parameters of another choice show that it was forgotten.
    do i = 1, 4
      if (t%given('f'//Str(i))) call t%blame('f'//Str(i), 'has no effect on a Ricker wavelet: give wavelet=ormsby too')
    end do
    if (t%changed('sigma') .and. job%source /= 'fault') &
      call t%blame('sigma', 'has no effect on a Ricker wavelet: give wavelet=gauss too')
    if (job%wavelet_file /= '') call t%blame('wavelet_file', 'has no effect on a Ricker wavelet: give wavelet=file too')
  end subroutine CheckWavelet

  subroutine CheckSpectrum(job, t)
    type(job_t), intent(in) :: job
    type(table_t), intent(inout) :: t
    if (.not. t%sound('wavelet')) return
    if (job%source == 'fault') return               ! its histories take the place of the wavelet
    if (job%wavelet == 'ricker' .and. t%sound('fpeak,fmax')) then
      if (job%fmax > 0 .and. job%fmax < job%fpeak) call t%blame('fmax', 'is below the peak frequency, '//t%said('fpeak')// &
                                                                ': give at least fpeak, or 0 for the end of the spectrum')
    end if
    if (job%wavelet /= 'ormsby' .and. job%wavelet /= 'ormsby-rounded') return
    if (t%sound('f1,f2') .and. job%f1 >= job%f2) call t%blame('f1', 'must be below '//t%said('f2')//Order())
    if (t%sound('f2,f3') .and. job%f2 > job%f3) call t%blame('f2', 'must not be above '//t%said('f3')//Order())
    if (t%sound('f3,f4') .and. job%f3 >= job%f4) call t%blame('f3', 'must be below '//t%said('f4')//Order())
    if (t%sound('f2,fmax') .and. job%fmax > 0 .and. job%fmax < job%f2) &
      call t%blame('fmax', 'is below the pass band, which starts at '//t%said('f2')//': give at least f2, or 0')
  contains
    function Order() result(advice)
      character(:), allocatable :: advice
      advice = ': an Ormsby wavelet has f1 < f2 <= f3 < f4'
    end function Order
  end subroutine CheckSpectrum

  !> Components must be known to the physics, each given once.
  subroutine CheckComponents(physics, job, t)
    class(physics_t), intent(in) :: physics
    type(job_t), intent(in) :: job
    type(table_t), intent(inout) :: t
    character(32), allocatable :: list(:)
    character(:), allocatable :: those
    integer :: i
    those = physics%summary
    if (those == '') those = Join(SplitList(physics%components))
    if (job%components == '') then
      call t%blame('components', 'is empty: give any of '//those//', joined by commas')
      return
    end if
    allocate (list, source=SplitList(job%components))
    do i = 1, size(list)
      if (.not. PhysicsKnows(physics, trim(list(i)))) then
        call t%blame('components', "holds '"//trim(list(i))//"': give any of "//those//', joined by commas')
      else if (any(list(:i - 1) == list(i))) then
        call t%blame('components', 'holds '//trim(list(i))//' twice: give each once')
      else
        cycle
      end if
      return
    end do
  end subroutine CheckComponents

  ! --- scheme, snapshots, cluster -------------------------------------------------------------------------------------

  subroutine CheckScheme(job, t)
    type(job_t), intent(in) :: job
    type(table_t), intent(inout) :: t
    if (t%sound('npml,half_length') .and. job%npml > 0 .and. job%npml < job%half_length) &
      call t%blame('npml', 'is narrower than the differentiators, '//t%said('half_length')// &
                   ': give 0 for none, or at least half_length')
    call CheckVariant(job, t)
  end subroutine CheckScheme

  !> Checks that variant, gpn and build fit together.
  subroutine CheckVariant(job, t)
    type(job_t), intent(in) :: job
    type(table_t), intent(inout) :: t
    character(*), parameter :: without = 'made without CUDA (no nvcc, or GPU=0 or DEBUG=1): install the CUDA toolkit where it '// &
                               'is missing, and run make without GPU=0 and DEBUG=1, or '
    character(32), allocatable :: of_gpus(:)
    integer :: i
    if (.not. t%sound('variant,gpn')) return
    if (Holds(t%unbuilt, job%variant)) then
      call t%blame('variant', 'is not in this build, which was '//without//'choose auto, fortran or cpu')
    else if (Holds(t%on_gpu, job%variant) .and. job%gpn == 0) then
      call t%blame('variant', 'computes on GPUs, but '//t%said('gpn')//': give gpn=1 or more, or choose auto, fortran or cpu')
    else if (job%gpn > 0 .and. t%unbuilt == t%on_gpu) then
      call t%blame('gpn', 'asks for GPUs, but this build was '//without//'give gpn=0')
    else if (job%gpn > 0 .and. job%variant /= 'auto' .and. .not. Holds(t%on_gpu, job%variant)) then
      call t%blame('variant', 'computes on CPU cores, but '//t%said('gpn')//' asks for GPUs: give variant=auto, or gpn=0')
    end if
    if (job%gpn > 0) return
    allocate (of_gpus, source=SplitList('ranks_per_gpu,shots_per_gpu,sum,resident'))
    do i = 1, size(of_gpus)
      if (t%changed(trim(of_gpus(i))) .and. t%sound(trim(of_gpus(i)))) &
        call t%blame(trim(of_gpus(i)), 'has no effect without GPUs: give gpn=1 or more too')
    end do
  end subroutine CheckVariant

  !> True of a list joined by commas that holds a word.
  pure logical function Holds(list, word)
    character(*), intent(in) :: list, word
    Holds = index(','//trim(list)//',', ','//word//',') > 0
  end function Holds

  subroutine CheckSnapshots(physics, job, t)
    class(physics_t), intent(in) :: physics
    type(job_t), intent(in) :: job
    type(table_t), intent(inout) :: t
    if (t%sound('snapshot,tmax') .and. job%snapshot > job%tmax) &
      call t%blame('snapshot', 'is longer than the record, '//t%said('tmax')//': give at most tmax, or 0 for none')
    if (job%snapshot_shots == '') return
    if (t%sound('snapshot') .and. .not. t%given('snapshot') .and. .not. physics%wants_pictures(job)) &
      call t%blame('snapshot_shots', 'has no effect without snapshots: give snapshot=SECONDS too')
    call CheckShotList(job, t)
  end subroutine CheckSnapshots

  !> snapshot_shots must be whole numbers joined by commas, each given once.
  subroutine CheckShotList(job, t)
    type(job_t), intent(in) :: job
    type(table_t), intent(inout) :: t
    character(32), allocatable :: list(:)
    integer, allocatable :: record(:)
    logical :: ok
    integer :: i
    allocate (list, source=SplitList(job%snapshot_shots))
    allocate (record(size(list)))
    do i = 1, size(list)
      call ToInt(trim(list(i)), record(i), ok)
      if (.not. ok) then
        call t%blame('snapshot_shots', "holds '"//trim(list(i))//"', which is no shot record number: give whole numbers joined "// &
                     'by commas')
      else if (any(record(:i - 1) == record(i))) then
        call t%blame('snapshot_shots', 'holds '//Str(record(i))//' twice: give each once')
      else
        cycle
      end if
      return
    end do
  end subroutine CheckShotList

  subroutine CheckCluster(job, t)
    type(job_t), intent(in) :: job
    type(table_t), intent(inout) :: t
    type(checkpoint_t) :: rule
    logical :: ok
    call CheckpointRule(job%checkpoint, job%mtbf, job%output, rule, ok)
    if (.not. ok) call t%blame('checkpoint', 'is neither auto nor a number of minutes from 0 to 100000')
    if (ok .and. rule%interval >= 0 .and. t%sound('mtbf') .and. t%changed('mtbf')) &
      call t%blame('mtbf', 'has no effect unless checkpoint=auto: leave one of them out')
    if (t%sound('group,halo') .and. job%group == 1 .and. .not. t%given('group')) &    ! a deck for groups may stay
      call t%idle('halo', 'each shot has one rank: leave it out, or give group too')
  end subroutine CheckCluster

  ! --- files ----------------------------------------------------------------------------------------------------------

  subroutine CheckFiles(job, verb, clash, t)
    type(job_t), intent(in) :: job
    character(*), intent(in) :: verb
    logical, intent(in) :: clash                !< see CheckClashes
    type(table_t), intent(inout) :: t
    integer :: i
    if (verb == 'run' .or. verb == 'plan') then
      if (.not. t%deck%unread) then
        if (job%keymap == '') call ProblemAdd(t%deck%problems, 'keymap is not given: give keymap=FILE, the list of shots')
      end if
      call CheckOutput(job, clash, t)
    end if
    do i = 1, t%n
      if (t%row(i)%name == 'wavelet_file' .and. job%wavelet /= 'file' .and. t%given('wavelet')) cycle
      call CheckInput(t%row(i)%name, t%input(i), t)
    end do
  end subroutine CheckFiles

  !> The output must be writable, and what lies there already a run's.
  subroutine CheckOutput(job, clash, t)
    type(job_t), intent(in) :: job
    logical, intent(in) :: clash
    type(table_t), intent(inout) :: t
    type(error_t), allocatable :: error
    if (job%output == '') then
      call t%blame('output', 'is empty: give output=FILE.nc')
      return
    end if
    call FailFromC(path_output(CString(job%output)), error)
    if (allocated(error)) then
      call t%blame('output', 'cannot be written: '//error%message//'; give the path of a file in an existing directory')
      return
    end if
    if (t%sound('overwrite') .and. .not. clash) call OursCheck(job%output, job%overwrite, t%deck%problems)
  end subroutine CheckOutput

  !> No file that a run writes may be one that it reads. `clash`: one is. The record of an earlier run of the same output may be the
  !> parameter file: what it says stays.
  subroutine CheckClashes(job, t, clash)
    type(job_t), intent(in) :: job
    type(table_t), intent(inout) :: t
    logical, intent(out) :: clash
    integer :: i, problems
    problems = t%deck%problems%n
    do i = 1, t%n
      call Compare(t%input(i), 'would overwrite an input, '//t%said(t%row(i)%name)//',')
    end do
    if (allocated(t%deck%path) .and. .not. t%deck%unread) then
      if (FileSame(job%output, t%deck%path)) then
        call t%blame('output', 'is the parameter file too: give another name')
      else if (.not. FileSame(SidePath(job%output, 'par'), t%deck%path)) then
        call Compare(t%deck%path, 'would overwrite the parameter file '//Shown(t%deck%path))
      else if (.not. RecordKnown(t%deck%path)) then
        call t%blame('output', 'would replace the parameter file '//Shown(t%deck%path)//' by the record of the parameters, '// &
                     'which has that name, and no run wrote it, or it was changed since: give it another name, or another output')
      end if
    end if
    clash = t%deck%problems%n > problems
  contains
    subroutine Compare(path, problem)
      character(*), intent(in) :: path, problem
      character(:), allocatable :: what
      what = SideOf(job%output, path)
      if (what /= '') call t%blame('output', problem//' with '//what//' of the run: give another output')
    end subroutine Compare
  end subroutine CheckClashes

  !> The file `path` of the parameter `name` must be there and readable; an empty path is no problem.
  subroutine CheckInput(name, path, t)
    character(*), intent(in) :: name, path
    type(table_t), intent(inout) :: t
    type(error_t), allocatable :: error
    character(:), allocatable :: advice
    if (path == '') return
    call FailFromC(path_input(CString(path)), error)
    if (.not. allocated(error)) return
    advice = '; give the path from the folder the job is started in, or from /'
    if (path(1:1) == '~') advice = '; ~ is not expanded here, write the whole path'
    if (index(path, achar(92)) > 0) advice = '; folders are parted by /, not by '//achar(92)
    call t%blame(name, 'cannot be read: '//error%message//advice)
  end subroutine CheckInput

  ! --- pieces ---------------------------------------------------------------------------------------------------------

  !> A list without blanks and tabs at its ends and beside commas, one for several elsewhere.
  pure function Dense(s) result(t)
    character(*), intent(in) :: s
    character(:), allocatable :: t
    logical :: blank
    integer :: i
    t = ''
    blank = .false.
    do i = 1, len(s)
      blank = s(i:i) == ' ' .or. s(i:i) == achar(9) .or. blank
      if (s(i:i) == ' ' .or. s(i:i) == achar(9)) cycle
      if (blank .and. t /= '' .and. s(i:i) /= ',' .and. t(max(1, len(t)):) /= ',') t = t//' '
      t = t//s(i:i)
      blank = .false.
    end do
  end function Dense

end module job_m
