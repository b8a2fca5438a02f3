!> What the set-up of spectral elements takes, stage by stage, as rank 0 and a rank that computes go through it:
!>
!>     OMP_WAIT_POLICY=passive sem3d_setup MESH.exo [THREADS [q]]
!>
!> of one rock (3000 and 1700 m/s, 2200 kg/m3; q: Q of 200 and 100), `variant=cpu`. Seconds of a clock and of processor time of
!> all threads, and the most memory so far, bytes an element. Colours are those that the GPU variants take with sum=colour.
program sem3d_setup
  use, intrinsic :: iso_fortran_env, only: output_unit
  use element_finder_m, only: finder_t, FinderMake
  use elements_dt_m, only: ElementsDt
  use elements_m, only: elements_t
  use elements_make_m, only: counts_t, ElementsMake
  use elements_points_m, only: ElementsNumber
  use elements_relax_m, only: ElementsShares, ElementsUnrelax
  use elements_window_m, only: ElementsFill, ElementsFrom, ElementsOutline
  use error_m, only: error_t
  use host_c, only: host_seconds
  use kinds_m, only: dp, sp
  use meetings_m, only: meetings_t, MeetingsMake
  use mesh_check_m, only: MeshCheck
  use mesh_exodus_m, only: MeshRead
  use mesh_ground_m, only: ground_t, GroundMake
  use mesh_m, only: mesh_t
  use omp_lib, only: omp_set_num_threads
  use sem3d_engine_m, only: sem3d_engine_t, sem3d_grid_t, Sem3dGrid
  use sem3d_variants_m, only: Sem3dColours, Sem3dEngineNew
  use text_m, only: Str
  use window_m, only: window_t
  use zener_m, only: zener_mechanisms, ZenerTimes
  implicit none

  real(dp), parameter :: band(2) = [0.2_dp, 10.0_dp]
  real(dp) :: clock = 0, processor = 0, first(2) = 0
  integer :: n = 1

  call SetUp()

contains

  subroutine SetUp()
    type(mesh_t) :: mesh
    type(elements_t) :: all, elements
    type(counts_t) :: counts
    type(window_t) :: window
    type(finder_t) :: finder
    type(ground_t) :: ground
    type(meetings_t) :: meetings
    type(sem3d_grid_t) :: grid
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    integer, allocatable :: number(:), colour(:)
    real(sp), allocatable :: bulk(:, :, :), shear(:, :, :)
    character(1000) :: path
    character(20) :: word
    real(dp) :: loss(2)
    integer :: threads, e, io
    call get_command_argument(1, path)
    call get_command_argument(2, word)
    threads = 2
    if (word /= '') read (word, *, iostat=io) threads
    call omp_set_num_threads(max(1, threads))
    call get_command_argument(3, word)
    loss = merge([1/300.0_dp, 1/100.0_dp], 0.0_dp, word == 'q')
    call Lap('')
    first = [clock, processor]
    call MeshRead(trim(path), mesh, error)
    call Must(error)
    n = size(mesh%block)
    call Lap('read')
    call MeshCheck(mesh, error)
    call Must(error)
    call Lap('checked')
    call ElementsMake(mesh, spread([3000.0_dp, 1700.0_dp, 2200.0_dp, loss], 2, size(mesh%blocks)), all, number, counts)
    call Lap('put in order, sides')
    deallocate (mesh%x, mesh%node)
    call FinderMake(finder, all%corner)
    call Lap('boxes for places')
    call ElementsDt(all, grid%dt, e)
    call Lap('time step')
    call ElementsOutline(all%n, all%corner(:, 1, 1), all%corner(:, 7, all%n), window)
    call ElementsFill(all, window, error)
    call Must(error)
    call Lap('put into a window')
    call ElementsFrom(window, elements, error)
    call Must(error)
    deallocate (window%medium)
    call Lap('taken from it')
    if (any(loss > 0)) call ElementsUnrelax(elements, band, 1.0_dp)
    call ElementsNumber(elements)
    call Lap('points numbered')
    call FinderMake(finder, elements%corner)
    call GroundMake(elements, .false., ground)
    call MeetingsMake(elements, meetings)
    call Lap('boxes, ground, meetings')
    grid = Sem3dGrid(elements)
    grid%dt = 1.0e-3_dp
    grid%threads = max(1, threads)
    if (any(loss > 0)) grid%mechanisms = zener_mechanisms
    call Sem3dEngineNew('cpu', engine, error)
    call Must(error)
    call engine%new(grid, error)
    call Must(error)
    call engine%elements(elements, error)
    call Must(error)
    call Lap('engine')
    if (any(loss > 0)) then
      call ElementsShares(elements, band, bulk, shear, few=.false.)
      call engine%quality(real(ZenerTimes(band), sp), bulk, shear, error)
      call Must(error)
      call Lap('attenuation')
    end if
    write (output_unit, '(a)') 'all '//Str(n)//' elements: '//Str(clock - first(1), 4)//' s, '//Str(processor - first(2), 4)// &
      ' s of processor time'
    call Sem3dColours(elements, colour, error)
    call Must(error)
    call Lap('colours')
    call engine%free()
  end subroutine SetUp

  subroutine Must(error)
    type(error_t), allocatable, intent(in) :: error
    if (.not. allocated(error)) return
    write (output_unit, '(a)') 'sem3d_setup: '//error%message
    stop 1
  end subroutine Must

  !> What came since the last call.
  subroutine Lap(what)
    character(*), intent(in) :: what
    real(dp) :: now(2)
    now(1) = host_seconds()
    call cpu_time(now(2))
    if (what /= '') write (output_unit, '(a24, 2(f9.2, a), f9.0, a)') what, now(1) - clock, ' s', now(2) - processor, &
      ' s of processor time', MostMemory()/n, ' bytes an element'
    flush (output_unit)
    clock = now(1)
    processor = now(2)
  end subroutine Lap

  !> [bytes]
  real(dp) function MostMemory() result(bytes)
    character(200) :: line
    integer :: unit, io
    bytes = 0
    open (newunit=unit, file='/proc/self/status', action='read', iostat=io)
    do while (io == 0)
      read (unit, '(a)', iostat=io) line
      if (line(:6) == 'VmHWM:') read (line(7:index(line, 'kB') - 1), *) bytes
    end do
    close (unit)
    bytes = 1024*bytes
  end function MostMemory

end program sem3d_setup
