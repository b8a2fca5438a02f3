!> Checks a 3D shot before anything is computed: its source must act in rock or water, its receivers must not hang in the air,
!> points and planes must lie where the grid can take them.
module fd3d_check_m
  use checked_m, only: Below
  use model3d_m, only: model3d_t
  use model3d_window_m, only: Model3dCell
  use error_m, only: error_t, Fail
  use faultwords_m, only: FaultPoint
  use fd3d_engine_m, only: fd3d_grid_t, side_free
  use fd3d_point_lists_m, only: fd3d_list_t, Fd3dMoment
  use fd3d_components_m, only: Fd3dComponent
  use fd3d_grid_m, only: Fd3dGrid
  use fd3d_pieces_m, only: Fd3dCuts
  use fd3d_variants_m, only: Fd3dGridCheck
  use kinds_m, only: dp, sp
  use mixed_cells_m, only: medium_parts
  use parameters_m, only: job_t
  use scheme3d_m, only: scheme3d_t
  use shot_m, only: shot_t
  use sinc_m, only: sinc_nodes
  use subdomain_m, only: cuts_t
  use source3d_m, only: source_fault, source_moment
  use parameter_table_m, only: SplitList
  use text_m, only: PlaceText, Str, ToReal
  use window_m, only: window_t, WindowCell
  implicit none
  private
  public :: Fd3dCheckShot, Fd3dCheckFilms, Fd3dFilmNumbers, Fd3dWet

  real(dp), parameter :: films_most = 2.0e9_dp    !< numbers of one message
  integer, parameter :: maps = 4                   !< of ground velocity three, and the ground where it has hills

contains

  !> Fails with a sentence on the first thing that is wrong with a shot in its window. `rigidity` [Pa]: of the model at each point
  !> of a fault, of size 0 for another source. `again`: its receivers stand where those of the shot before do.
  subroutine Fd3dCheckShot(earth, job, scheme, shot, window, again, rigidity, error)
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(scheme3d_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    logical, intent(in) :: again
    real(dp), allocatable, intent(out) :: rigidity(:)
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: mu
    integer :: i
    allocate (rigidity(scheme%own%source%fault%n), source=0.0_dp)
    if (scheme%own%source%kind /= source_fault) then
      call CheckSource(0, [shot%sx, shot%sy, shot%sz], any(abs(scheme%own%source%moment(4:)) > 0) .or. &
                       any(abs(scheme%own%source%moment(2:3) - scheme%own%source%moment(1)) > 0), .false., mu)
    else
      do i = 1, scheme%own%source%fault%n
        call CheckSource(i, [shot%sx, shot%sy, shot%sz] + scheme%own%source%fault%x(:, i), .true., &
                         scheme%own%source%fault%potency(i), rigidity(i))
        if (allocated(error)) exit
      end do
    end if
    if (.not. (allocated(error) .or. again)) call CheckReceivers(earth, job, shot, window, error)
    if (.not. allocated(error)) call CheckEnds(scheme, shot, window, error)
    if (.not. allocated(error) .and. scheme%ranks > 1) call CheckCuts(scheme, shot, window, error)

  contains

    !> i: number of the point of a fault, else 0. `shears`: it does more than push to all sides. `rigid`: it needs the rigidity of
    !> the rock. mu: that rigidity [Pa].
    subroutine CheckSource(i, x, shears, rigid, mu)
      integer, intent(in) :: i
      real(dp), intent(in) :: x(3)
      logical, intent(in) :: shears, rigid
      real(dp), intent(out) :: mu
      real(sp) :: medium(medium_parts)
      integer :: c(3)
      mu = 0
      c = WindowCell(window, x)
      if (any(c < 1 .or. c > [window%nx, window%ny, window%nz])) then
        if (c(3) < 1) call Fail(error, Begin(i, x)//'above the top of the model, z = '//Str(window%z0, 9)//' m: lower it'// &
                                trim(merge(', its file counts from the depth of the shot', repeat(' ', 44), i > 0)))
        if (i > 0) call Fail(error, Begin(i, x)//'outside the window, '//Extent(window)//': widen aperture or depth, or look '// &
                             'at the shot''s place, fault_lon and fault_lat')
        call Fail(error, Begin(i, x)//'outside the window, '//Extent(window)//': widen aperture or depth, or look at its place')
        return
      end if
      call Model3dCell(earth, job, window, c, medium, error)
      if (allocated(error)) return
      mu = real(medium(3), dp)*real(medium(2), dp)**2
      if (.not. medium(1) > 0) then
        call Fail(error, Begin(i, x)//'in the air: '//Ground(earth, job, window, c))
      else if (rigid .and. .not. medium(2) > 0) then
        call Fail(error, Begin(i, x)//'in a fluid, but the file leaves its rigidity to the model: give SRF 2.0, or a place in rock')
      else if (shears .and. .not. medium(2) > 0 .and. (scheme%own%source%kind == source_moment .or. &
                                                       scheme%own%source%kind == source_fault)) then
        call Fail(error, Begin(i, x)//'in a fluid (vs = 0 there), which cannot shear: give source=explosion or volume, or a '// &
                  'place in rock')
      end if
    end subroutine CheckSource

    !> Made only where it is needed: faults have 10**6 points.
    function Begin(i, x) result(s)
      integer, intent(in) :: i
      real(dp), intent(in) :: x(3)
      character(:), allocatable :: s
      s = 'shot record '//Str(shot%record)//': '
      if (i == 0) s = s//'the source at '//PlaceText(x)//' lies '
      associate (fault => scheme%own%source%fault)
        if (i > 0) s = s//'point '//Str(fault%point(i))//' of the fault at '//PlaceText(x)//' ('//FaultPoint(fault, i)//') lies '
      end associate
    end function Begin

  end subroutine Fd3dCheckShot

  !> Receivers in the air would record nothing. They may stand on the ground, which on the grid is up to a cell off.
  subroutine CheckReceivers(earth, job, shot, window, error)
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: x(3)
    integer :: r, n, first
    if (earth%layers%n > 0) return                ! none of them is air
    n = 0
    first = 0
    do r = 1, size(shot%rx)
      x = [shot%rx(r), shot%ry(r), shot%rz(r)]
      if (NearGround(WindowCell(window, x))) cycle
      if (allocated(error)) return
      n = n + 1
      if (first == 0) first = r
    end do
    if (n == 0) return
    x = [shot%rx(first), shot%ry(first), shot%rz(first)]
    call Fail(error, 'shot record '//Str(shot%record)//': '//Str(n)//' receiver(s), the first of them channel '// &
              Str(shot%channel(first))//' at '//PlaceText(x)//', stand in the air and would record nothing: '// &
              Ground(earth, job, window, WindowCell(window, x)))

  contains

    !> True if the cell or one beside it is not air.
    logical function NearGround(c) result(near)
      integer, intent(in) :: c(3)
      real(sp) :: medium(medium_parts)
      integer :: i, j, k
      near = .false.
      do k = max(c(3) - 1, 1), min(c(3) + 1, window%nz)
        do j = max(c(2) - 1, 1), min(c(2) + 1, window%ny)
          do i = max(c(1) - 1, 1), min(c(1) + 1, window%nx)
            call Model3dCell(earth, job, window, [i, j, k], medium, error)
            near = medium(1) > 0
            if (near .or. allocated(error)) return
          end do
        end do
      end do
    end function NearGround

  end subroutine CheckReceivers

  !> Sources and receivers are spread over cells to all sides, which must be there; the outermost tell.
  subroutine CheckEnds(scheme, shot, window, error)
    type(scheme3d_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    type(fd3d_grid_t) :: grid
    type(fd3d_list_t) :: list
    character(32), allocatable :: names(:)
    character(*), parameter :: advice = ': give it more room (aperture, depth, npml, or a smaller dx)'
    real(dp) :: corner(3), at(3)
    integer :: width(6), pad(3), c, i
    call Fd3dGrid(scheme, scheme%own, window, grid, width, pad)
    corner = [window%x0, window%y0, window%z0] - pad*grid%d
    call Fd3dGridCheck(grid, error)
    if (allocated(error)) then
      error%message = 'the grid of shot record '//Str(shot%record)//': '//error%message//advice
      return
    end if
    if (FarFromEnds()) return
    do i = 1, 2
      at = [shot%sx, shot%sy, shot%sz] - corner
      if (scheme%own%source%fault%n > 0 .and. i == 1) at = at + minval(scheme%own%source%fault%x, 2)
      if (scheme%own%source%fault%n > 0 .and. i == 2) at = at + maxval(scheme%own%source%fault%x, 2)
      call Fd3dMoment(list, grid, at, [1, 1, 1, 1, 1, 1]*1.0_dp, 1, error)
      if (allocated(error)) then
        error%message = 'shot record '//Str(shot%record)//': the source comes too close to the end of the window, '// &
          Extent(window)//': it takes 4 cells to all sides'//advice
        return
      end if
    end do
    list = fd3d_list_t()
    allocate (names, source=SplitList(scheme%components))
    do c = 1, size(names)
      do i = 1, 2
        at = [minval(shot%rx), minval(shot%ry), minval(shot%rz)] - corner
        if (i == 2) at = [maxval(shot%rx), maxval(shot%ry), maxval(shot%rz)] - corner
        call Fd3dComponent(list, grid, trim(names(c)), at, error)
        if (allocated(error)) then
          error%message = 'shot record '//Str(shot%record)//': receivers of '//trim(names(c))//', '// &
            PlaceText([minval(shot%rx), minval(shot%ry), minval(shot%rz)])//' to '// &
            PlaceText([maxval(shot%rx), maxval(shot%ry), maxval(shot%rz)])//', come too close to the end of the window, '// &
            Extent(window)//': each takes 4 cells to all sides, rates of strain and rotation half_length more'//advice
          return
        end if
        list%n = 0
        list%receivers = 0
      end do
    end do

  contains

    !> True where nothing that source and receivers take can be beyond an end, as in most of a million shots.
    logical function FarFromEnds() result(far)
      real(dp) :: low(3), high(3)
      integer :: room, upper
      low = [min(shot%sx, minval(shot%rx)), min(shot%sy, minval(shot%ry)), min(shot%sz, minval(shot%rz))] - corner
      high = [max(shot%sx, maxval(shot%rx)), max(shot%sy, maxval(shot%ry)), max(shot%sz, maxval(shot%rz))] - corner
      room = sinc_nodes/2 + 2
      if (scan(scheme%components, 'ew') > 0) room = room + grid%half_length
      upper = merge(0, room, grid%side(5) == side_free)             ! weights end at a free surface
      far = scheme%own%source%fault%n == 0 .and. all(low >= [room, room, upper]*grid%d) .and. &
            all(high <= (grid%whole - room)*grid%d)
    end function FarFromEnds
  end subroutine CheckEnds

  !> Receivers that stand in a fluid.
  subroutine Fd3dWet(earth, job, shot, window, wet, error)
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    logical, allocatable, intent(out) :: wet(:)
    type(error_t), allocatable, intent(inout) :: error
    real(sp) :: medium(medium_parts)
    integer :: r, c(3)
    allocate (wet(size(shot%rx)), source=.false.)
    do r = 1, size(wet)
      c = WindowCell(window, [shot%rx(r), shot%ry(r), shot%rz(r)])
      call Model3dCell(earth, job, window, max(1, min(c, [window%nx, window%ny, window%nz])), medium, error)
      if (allocated(error)) return
      wet(r) = medium(1) > 0 .and. .not. medium(2) > 0
    end do
  end subroutine Fd3dWet

  !> A group needs a piece of the grid for each of its ranks.
  subroutine CheckCuts(scheme, shot, window, error)
    type(scheme3d_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    type(fd3d_grid_t) :: grid
    type(cuts_t) :: cuts
    integer :: width(6), pad(3)
    call Fd3dGrid(scheme, scheme%own, window, grid, width, pad)
    call Fd3dCuts(grid, width, scheme%ranks, scheme%own%decomposition, .false., cuts, error)   ! on GPUs it fails for no other
    if (allocated(error)) error%message = 'shot record '//Str(shot%record)//': '//error%message
  end subroutine CheckCuts

  !> Planes of snapshots must lie in the window, and all pictures fit into one message.
  subroutine Fd3dCheckFilms(scheme, shot, window, error)
    type(scheme3d_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    character(32), allocatable :: planes(:)
    real(dp) :: place, low(3), high(3), d(3)
    logical :: ok
    integer :: p, a
    integer, allocatable :: cell(:)
    if (scheme%own%pgv .and. scheme%own%pgv_depth >= window%z0 + window%nz*window%dz) &
      call Fail(error, 'pgv_depth = '//Str(scheme%own%pgv_depth)//' m lies below the window of shot record '//Str(shot%record)// &
                ', which ends at '//Str(window%z0 + window%nz*window%dz, 9)//' m: give a depth inside')
    if (.not. scheme%snapshot > 0 .or. allocated(error)) return
    low = [window%x0, window%y0, window%z0]
    d = [window%dx, window%dy, window%dz]
    high = low + [window%nx, window%ny, window%nz]*d
    allocate (planes, source=SplitList(scheme%own%planes))
    allocate (cell(size(planes)), source=-1)
    do p = 1, size(planes)
      if (planes(p) == 'top') cycle
      a = index('xyz', planes(p)(1:1))
      call ToReal(trim(planes(p)(2:)), place, ok)
      if (place < low(a) .or. place >= high(a)) then
        call Fail(error, "snapshot_planes: '"//trim(planes(p))//"' lies outside the window of shot record "//Str(shot%record)// &
                  ', '//Str(low(a), 9)//' .. '//Str(high(a), 9)//' m along '//planes(p)(1:1))
        return
      end if
      cell(p) = floor((place - low(a))/d(a))
      if (.not. any(planes(:p - 1)(1:1) == planes(p)(1:1) .and. cell(:p - 1) == cell(p))) cycle
      call Fail(error, "snapshot_planes: '"//trim(planes(p))//"' and another plane lie in the same cells of shot record "// &
                Str(shot%record)//', '//Str(low(a) + cell(p)*d(a), 9)//' .. '//Str(low(a) + (cell(p) + 1)*d(a), 9)//' m along '// &
                planes(p)(1:1)//': leave one of them out')
      return
    end do
    if (Fd3dFilmNumbers(scheme, window) > films_most) &
      call Fail(error, 'the pictures of shot record '//Str(shot%record)//' are '//Str(Fd3dFilmNumbers(scheme, window), 3)// &
                ' numbers, which are too large, at most 2e9: take fewer (snapshot), coarser (snapshot_step) or fewer planes')
  end subroutine Fd3dCheckFilms

  !> Numbers of all pictures of a shot.
  pure real(dp) function Fd3dFilmNumbers(scheme, window) result(numbers)
    type(scheme3d_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    character(32), allocatable :: planes(:)
    real(dp) :: n(3)
    integer :: p, a
    n = ([window%nx, window%ny, window%nz] - 1)/scheme%snapshot_step + 1
    numbers = 0
    if (scheme%snapshot > 0) then
      allocate (planes, source=SplitList(scheme%own%planes))
      do p = 1, size(planes)
        a = max(1, index('xyz', planes(p)(1:1)))
        if (planes(p) == 'top') a = 3
        numbers = numbers + product(n)/n(a)
      end do
      numbers = numbers*size(SplitList(scheme%own%fields))*(Below((scheme%nt_out - 1)*scheme%dt_out/scheme%snapshot) + 1)
    end if
    if (scheme%own%pgv) numbers = numbers + maps*n(1)*n(2)
  end function Fd3dFilmNumbers

  ! --- pieces ---------------------------------------------------------------------------------------------------------

  !> Words on the depth of the ground below a cell in the air.
  function Ground(earth, job, window, c) result(s)
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(window_t), intent(in) :: window
    integer, intent(in) :: c(3)
    character(:), allocatable :: s
    type(error_t), allocatable :: error
    real(sp) :: medium(medium_parts)
    integer :: k
    s = 'there is no ground below it; look at the model'
    do k = c(3) + 1, window%nz
      call Model3dCell(earth, job, window, [c(1), c(2), k], medium, error)
      if (allocated(error)) return
      if (.not. medium(1) > 0) cycle
      s = 'on the grid the ground there begins at z = '//Str(window%z0 + (k - 1)*window%dz, 9)//' m, give that or more'
      return
    end do
  end function Ground

  pure function Extent(window) result(s)
    type(window_t), intent(in) :: window
    character(:), allocatable :: s
    s = 'x = '//Str(window%x0, 9)//' .. '//Str(window%x0 + window%nx*window%dx, 9)//', y = '//Str(window%y0, 9)//' .. '// &
        Str(window%y0 + window%ny*window%dy, 9)//', z = '//Str(window%z0, 9)//' .. '//Str(window%z0 + window%nz*window%dz, 9)//' m'
  end function Extent

end module fd3d_check_m
