!> Does a survey fit into the memory of its machines? A sentence before the first shot, not the system's killer in its midst.
module memory_need_m
  use error_m, only: error_t, Fail
  use fd3d_check_m, only: Fd3dFilmNumbers
  use fd3d_components_m, only: Fd3dCells
  use journal_m, only: JournalMemory
  use keymap_m, only: KeymapBytes
  use kinds_m, only: dp, i8
  use node_memory_m, only: node_t
  use survey_m, only: survey_t
  use scheme_m, only: SchemeCells, SchemeGrid
  use sinc_m, only: sinc_nodes
  use parameter_table_m, only: SplitList
  use window_m, only: window_t
  use text_m, only: Str
  implicit none
  private
  public :: memory_t, MemoryNeed, MemoryCheck, MemoryBytes

  ! Floats a cell of the grid: what the engine holds with layers and rims, and modulus and density beside it.
  integer, parameter :: floats_cpu = 7 + 2, floats_fortran = 11 + 2
  ! Floats a node of the window: vp and rho, in the message and out of it.
  integer, parameter :: floats_window = 4
  ! The same in 3D: fields, averaged media, memory variables of layers or of attenuation, and the medium with its ring.
  integer, parameter :: floats_3d = 18 + 5, floats_3d_anelastic = 30 + 8
  ! Of a point of a fault: six parts of a tensor over 8 x 8 x 8 cells, six numbers each, in the list and in the engine.
  integer, parameter :: bytes_point = 2*6*512*24
  real(dp), parameter :: process = 3.0e7_dp       !< of a rank that does nothing: program, MPI, NetCDF [bytes]
  ! Bytes of a trace: a cell that its receiver reads, while cells are sorted, and then; a time step, a sample of the gather.
  integer, parameter :: sorting_2d = 66, sorting_3d = 42, cell = 8, step = 9, sample = 12
  ! Bytes of rank 0 beside model, windows and journal: a shot, a receiver of the largest one.
  integer, parameter :: dealing = 90, receiver = 40

  !> What the ranks of a survey need.
  type :: memory_t
    real(dp) :: worker = 0             !< a rank that models shots, in its largest shot [bytes]
    real(dp) :: master = 0             !< rank 0: model, a window and a gather under way [bytes]
    integer :: record = 0              !< that largest shot
    integer :: nx = 0, nz = 0          !< its grid, layers included
    integer :: ny = 0                  !< of a 3D job
    real(dp) :: traces = 0             !< of worker: for receivers and their traces [bytes]
  end type memory_t

contains

  !> What the ranks of a prepared survey need, within some 20 % (measured: t414).
  subroutine MemoryNeed(survey, memory)
    type(survey_t), intent(in) :: survey
    type(memory_t), intent(out) :: memory
    real(dp) :: inner, most, films
    integer :: n(2), floats
    memory%traces = TraceBytes(survey)
    if (survey%scheme%dy > 0) then
      call Need3d(survey, memory)
      return
    end if
    floats = merge(floats_fortran, floats_cpu, survey%scheme%variant == 'fortran')
    associate (s => survey%scheme, m => survey%model)
      memory%record = survey%largest
      n = SchemeGrid(s, survey%nx, survey%nz)
      memory%nx = n(1)
      memory%nz = n(2)
      most = product(real(n, dp))
      inner = real(survey%nx, dp)*survey%nz
      films = 0
      if (size(survey%snapshot_records) > 0 .and. s%snapshot > 0) &
        films = inner/s%snapshot_step**2*((s%nt_out - 1)*s%dt_out/s%snapshot + 1)
      memory%worker = process + 4*(floats*most + floats_window*inner + 4*films) + memory%traces
      memory%master = process + 4*(2*real(m%nx, dp)*m%nz + floats_window*inner + 3*films) + SurveyBytes(survey)
    end associate
  end subroutine MemoryNeed

  !> Traces of the largest shot, from the cells that receivers read to the samples that are sent home [bytes].
  real(dp) function TraceBytes(survey) result(bytes)
    type(survey_t), intent(in) :: survey
    character(32), allocatable :: list(:)
    real(dp) :: cells
    integer :: i, sorting
    bytes = 0
    associate (s => survey%scheme)
      allocate (list, source=SplitList(s%components))
      sorting = merge(sorting_3d, sorting_2d, s%dy > 0)
      do i = 1, size(list)
        cells = sinc_nodes**2
        if (s%dy > 0) cells = Fd3dCells(trim(list(i)), s%half_length)
        bytes = bytes + survey%keymap%nrec_max*max(sorting*cells, cell*cells + real(step, dp)*s%nt + real(sample, dp)*s%nt_out)
      end do
    end associate
  end function TraceBytes

  !> What rank 0 knows of all shots, or reads to know it, and a gather on its way to the disk [bytes].
  real(dp) function SurveyBytes(survey) result(bytes)
    type(survey_t), intent(in) :: survey
    real(dp) :: held, reading
    associate (s => survey%scheme, k => survey%keymap)
      call KeymapBytes(k, held, reading)
      bytes = held + JournalMemory(k%n) + real(dealing, dp)*k%n + &
              k%nrec_max*(receiver + real(sample, dp)*size(SplitList(s%components))*s%nt_out)
      bytes = max(bytes, reading)
    end associate
  end function SurveyBytes

  !> The same for a 3D job, a cell at a time: what the layers hold besides counts as for every cell.
  subroutine Need3d(survey, memory)
    type(survey_t), intent(in) :: survey
    type(memory_t), intent(inout) :: memory
    type(window_t) :: window
    real(dp) :: cells, inner, window_parts
    window%nx = survey%nx
    window%ny = survey%ny
    window%nz = survey%nz
    associate (s => survey%scheme, e => survey%model%earth)
      cells = SchemeCells(s, window)
      inner = product(real([survey%nx, survey%ny, survey%nz], dp))
      window_parts = merge(5, 3, s%attenuates)
      memory%record = survey%largest
      memory%nx = survey%nx
      memory%ny = survey%ny
      memory%nz = survey%nz
      memory%worker = process + 4*(merge(floats_3d_anelastic, floats_3d, s%attenuates)*cells + 2*window_parts*inner &
                                   + TurnedNumbers(survey)) + memory%traces
      memory%master = process + 4*(window_parts*product(real(e%n, dp)) + 2*window_parts*inner) + SurveyBytes(survey)
      if (size(survey%snapshot_records) > 0) then
        memory%worker = memory%worker + 16*Fd3dFilmNumbers(s, window)
        memory%master = memory%master + 12*Fd3dFilmNumbers(s, window)
      end if
      if (s%source%fault%n == 0) return
      memory%worker = memory%worker + real(bytes_point, dp)*s%source%fault%n + 8*real(size(s%source%fault%rate), dp)
      memory%master = memory%master + 8*real(size(s%source%fault%rate), dp)
    end associate
  end subroutine Need3d

  !> Histories of a fault as turned (fault_histories.f90), at most twice at a time.
  pure real(dp) function TurnedNumbers(survey) result(n)
    type(survey_t), intent(in) :: survey
    integer :: i
    n = 0
    associate (s => survey%scheme, f => survey%scheme%source%fault)
      if (.not. s%time_correction) return
      do i = 1, f%n
        n = n + 2*((f%start(i + 1) - f%start(i))*f%dt(i) + 22/s%fband)/s%dt
      end do
    end associate
  end function TurnedNumbers

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
    advice = 'lower aperture or depth, or raise dx and dz'
    if (memory%traces > memory%worker/2) advice = 'record fewer receivers a shot, for they and their traces take '// &
                                                  MemoryBytes(memory%traces)//' of it, or shorter'
    largest = ' (shot record '//Str(memory%record)//', '//Str(memory%nx)//' x '//Str(memory%nz)//' cells)'
    if (memory%ny > 0) largest = ' (shot record '//Str(memory%record)//', '//Str(memory%nx)//' x '//Str(memory%ny)//' x '// &
                                 Str(memory%nz)//' cells and layers)'
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
    if (n >= 1.0e12_dp) then
      s = Str(1.0e-12_dp*n, 3)//' TB'
    else if (n >= 1.0e9_dp) then
      s = Str(1.0e-9_dp*n, 3)//' GB'
    else
      s = Str(1.0e-6_dp*n, 3)//' MB'
    end if
  end function MemoryBytes

end module memory_need_m
