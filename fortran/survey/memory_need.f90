!> Tells before the first shot whether a survey fits into the memory of its machines, so that the system does not kill it midway.
module memory_need_m
  use commits_m, only: CommitsMemory
  use error_m, only: error_t, Fail
  use far_stations_m, only: FarAdvice
  use journal_m, only: JournalMemory
  use keymap_m, only: KeymapBytes
  use kinds_m, only: dp
  use mpi_f08, only: OMPI_MAJOR_VERSION
  use node_memory_m, only: node_t
  use scheme_m, only: scheme_t
  use solver_m, only: solver_t
  use survey_m, only: survey_t
  use parameter_table_m, only: SplitList
  use text_m, only: Str
  use time_dispersion_m, only: TraceFilterNumbers
  implicit none
  private
  public :: memory_t, MemoryNeed, MemoryCheck, MemoryBytes

  !> Of a rank that does nothing [bytes]: program, NetCDF, and MPI, of which Open MPI 5 has more.
  real(dp), parameter :: process = merge(3.9e7_dp, 3.0e7_dp, OMPI_MAJOR_VERSION >= 5)
  ! Bytes of a trace: a cell that its receiver reads; a time step; a sample of the gather, as it is and sealed.
  integer, parameter :: cell = 8, step = 9, sample = 8
  ! Bytes of rank 0 beside model, windows and journal: a shot, a receiver of the largest one and in a message, each number of the
  ! earth there, of shots under way and in messages.
  integer, parameter :: dealing = 90, receiver = 200, number = 40

  !> The memory that ranks of a survey need.
  type :: memory_t
    real(dp) :: worker = 0             !< a rank that models shots, in its largest shot [bytes]
    real(dp) :: master = 0             !< rank 0: model, a window and a gather under way [bytes]
    integer :: record = 0              !< that largest shot
    character(:), allocatable :: grid  !< of that shot in words
    character(:), allocatable :: far   !< stations that make it so large, and what to do; '' if none do
    character(80) :: smaller = ''      !< what would make it smaller
    real(dp) :: traces = 0             !< of worker: for receivers and their traces [bytes]
  end type memory_t

contains

  !> Finds the memory that ranks of a prepared survey need, within some 20 % (measured: t414).
  subroutine MemoryNeed(survey, memory, gpu)
    type(survey_t), intent(in) :: survey
    type(memory_t), intent(out) :: memory
    logical, intent(in), optional :: gpu          !< workers have their fields on GPUs
    class(scheme_t), allocatable :: scheme
    class(solver_t), allocatable :: solver
    logical :: on_gpu
    allocate (scheme, source=survey%scheme)
    call survey%physics%solver(solver)
    on_gpu = .false.
    if (present(gpu)) on_gpu = gpu
    scheme%variant = solver%choose(scheme%variant, on_gpu)
    associate (physics => survey%physics)
      call physics%memory(scheme, survey%window, size(survey%snapshot_records) > 0, memory%worker, memory%master)
      memory%grid = physics%grid_words(survey%scheme, survey%window)
      memory%smaller = physics%smaller
    end associate
    memory%record = survey%largest
    memory%far = FarAdvice(survey%far)
    memory%traces = TraceBytes(survey)
    memory%worker = process + memory%worker + memory%traces
    memory%master = process + memory%master + SurveyBytes(survey)
  end subroutine MemoryNeed

  !> Traces of the largest shot, from the cells that receivers read to the samples that are sent home, and their filters [bytes].
  real(dp) function TraceBytes(survey) result(bytes)
    type(survey_t), intent(in) :: survey
    character(32), allocatable :: list(:)
    integer :: i, cells, sorting, filters
    bytes = 0
    associate (s => survey%scheme)
      allocate (list, source=SplitList(s%components))
      do i = 1, size(list)
        call survey%physics%receiver(trim(list(i)), s, cells, sorting)
        bytes = bytes + survey%keymap%nrec_max*max(real(sorting, dp)*cells, &
                                                   cell*cells + real(step, dp)*s%nt + real(sample, dp)*s%nt_out)
      end do
      bytes = bytes + survey%keymap%nrec_max*s%beside*s%at_contacts*(cell*cells + real(step, dp)*s%nt)
      filters = count([any(scan(list, 'ps') == 1), any(scan(list, 'ps') /= 1)])      ! of whole steps, and of half ones
      bytes = bytes + 4*filters*TraceFilterNumbers(s%nt, s%dt, s%t_start, s%nt_out, s%dt_out, s%fband, s%time_correction)
    end associate
  end function TraceBytes

  !> Memory of rank 0 for all shots, or for the key-map while it is read, and for gathers that wait for their commit and one more
  !> that comes meanwhile: in memory of its own, or of workers that lend it, where they do not count once more [bytes].
  real(dp) function SurveyBytes(survey) result(bytes)
    type(survey_t), intent(in) :: survey
    real(dp) :: held, reading, gather
    associate (s => survey%scheme, k => survey%keymap)
      call KeymapBytes(k, held, reading)
      gather = 4.0_dp*k%nrec_max*size(SplitList(s%components))*s%nt_out
      bytes = held + JournalMemory(k%n) + real(dealing, dp)*k%n + real(k%nrec_max, dp)*(receiver + number*s%places) + &
              min(CommitsMemory(gather) + gather, k%n*gather)
      bytes = max(bytes, reading)
    end associate
  end function SurveyBytes

  !> Compares the need with what the nodes have. `warning`: a line a node whose ranks together need more than is available, '' if
  !> all fit. Fails where one rank alone needs more than its node has.
  pure subroutine MemoryCheck(memory, nodes, warning, error)
    type(memory_t), intent(in) :: memory
    type(node_t), intent(in) :: nodes(:)
    character(:), allocatable, intent(out) :: warning
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: largest, advice
    real(dp) :: need
    integer :: i
    warning = ''
    advice = trim(memory%smaller)
    if (memory%traces > memory%worker/2) advice = 'record fewer receivers a shot, for they and their traces take '// &
                                                  MemoryBytes(memory%traces)//' of it, or shorter'
    if (allocated(memory%far)) then
      if (memory%far /= '') advice = memory%far
    end if
    largest = ' (shot record '//Str(memory%record)//', '//memory%grid//')'
    do i = 1, size(nodes)
      associate (n => nodes(i))
        if (n%total <= 0) cycle
        if (n%workers > 0 .and. memory%worker > real(n%total, dp)) then
          call Fail(error, 'one worker needs '//MemoryBytes(memory%worker)//largest//', but '//trim(n%host)//' has '// &
                    MemoryBytes(real(n%total, dp))//' of memory: '//advice)
        else if (n%master .and. memory%master > real(n%total, dp)) then
          call Fail(error, 'rank 0 needs '//MemoryBytes(memory%master)//' for the model and what it sends, but '// &
                    trim(n%host)//' has '//MemoryBytes(real(n%total, dp))//' of memory: start it on a larger machine')
        end if
        need = n%workers*memory%worker + merge(memory%master, 0.0_dp, n%master)
        if (need <= real(n%available, dp)) cycle
        if (warning /= '') warning = warning//new_line('a')
        warning = warning//Str(n%workers)//' worker(s) on '//trim(n%host)//' need '//MemoryBytes(need)//', '// &
                  MemoryBytes(memory%worker)//' each'//largest//', but '//MemoryBytes(real(n%available, dp))// &
                  ' are available there: start fewer ranks a node, '//advice
      end associate
    end do
  end subroutine MemoryCheck

  !> 1.23 TB, 45.6 GB, 789 MB.
  pure function MemoryBytes(n) result(s)
    real(dp), intent(in) :: n
    character(:), allocatable :: s
    if (n > 1.0e24_dp) then
      s = 'more than any memory'
    else if (n >= 1.0e12_dp) then
      s = Str(1.0e-12_dp*n, 3)//' TB'
    else if (n >= 1.0e9_dp) then
      s = Str(1.0e-9_dp*n, 3)//' GB'
    else
      s = Str(1.0e-6_dp*n, 3)//' MB'
    end if
  end function MemoryBytes

end module memory_need_m
