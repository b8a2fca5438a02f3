!> Surfaces of layers: a depth, a formula of x and y, or a grid of depths from a NetCDF or text file. `up:` before it: a height.
!>
!> A text grid has a line a point, x, y and depth [m], in any order, on a grid of equal steps. Between its points a grid is
!> bilinear.
module mesh_surface_m
  use checked_m, only: Below, CountOf, Whole
  use error_m, only: error_t, Fail
  use files_m, only: FileHead
  use formula_m, only: formula_t, FormulaAt, FormulaRead
  use kinds_m, only: dp, i8
  use sort_m, only: SortOrder
  use surface_netcdf_m, only: NetcdfReadGrid
  use text_m, only: Lower, Str
  use textfile_m, only: NumberOf, Shown, TextAdvise, TextLine, TextNumbers, TextOpen, textfile_t, TextWord
  implicit none
  private
  public :: surface_t, SurfaceRead, SurfaceAt

  integer, parameter :: is_depth = 0, is_formula = 1, is_grid = 2
  real(dp), parameter :: farthest = 1.0e7_dp              !< depths and places [m]
  real(dp), parameter :: on_grid = 1.0e-3_dp              !< points of a text grid are off by so many steps at most

  type :: surface_t
    character(:), allocatable :: words                    !< as it was given
    integer :: kind = is_depth
    real(dp) :: sign = 1                                  !< -1: heights
    real(dp) :: depth = 0                                 !< [m]
    type(formula_t) :: formula
    integer :: n(2) = 0                                   !< points of a grid along x and y,
    real(dp) :: first(2) = 0, step(2) = 0                 !< their places [m],
    real(dp), allocatable :: z(:, :)                      !< depths or heights there [m]
  end type surface_t

contains

  !> here: what begins sentences on what is wrong.
  subroutine SurfaceRead(words, here, surface, error)
    character(*), intent(in) :: words, here
    type(surface_t), intent(out) :: surface
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: what, why
    logical :: is_number, is_file
    surface%words = words
    what = words
    if (index(Lower(words), 'up:') == 1) then
      surface%sign = -1
      what = words(4:)
    end if
    call NumberOf(what, surface%depth, is_number)
    if (is_number) then
      if (abs(surface%depth) > farthest) call Fail(error, here//'depth '//Shown(what)//' m is beyond '//Str(farthest)//' m')
      return
    end if
    is_file = .false.
    if (len(what) > 0) inquire (file=what, exist=is_file)
    if (is_file) then
      surface%kind = is_grid
      call ReadGrid(what, here, surface, error)
    else
      surface%kind = is_formula
      call FormulaRead(what, surface%formula, why)
      if (why /= '') call Fail(error, here//'surface '//Shown(words)//' is no depth, no file that is there, and no formula: '//why)
    end if
  end subroutine SurfaceRead

  subroutine ReadGrid(path, here, surface, error)
    character(*), intent(in) :: path, here
    type(surface_t), intent(inout) :: surface
    type(error_t), allocatable, intent(inout) :: error
    logical :: up
    if (IsNetcdf(path)) then
      call NetcdfReadGrid(path, surface%n, surface%step, surface%first, surface%z, up, error)
      if (up) surface%sign = -1
    else
      call ReadText(path, surface, error)
    end if
    if (allocated(error)) return
    if (any(.not. abs(surface%z) <= farthest)) &
      call Fail(error, here//'grid '//path//' has a depth beyond '//Str(farthest)//' m: fill its holes, and give depths in m')
  end subroutine ReadGrid

  logical function IsNetcdf(path)
    character(*), intent(in) :: path
    character(:), allocatable :: head
    type(error_t), allocatable :: ignored
    call FileHead(path, 4_i8, head, ignored)
    IsNetcdf = .false.
    if (allocated(ignored)) return
    if (len(head) >= 4) IsNetcdf = head(:3) == 'CDF' .or. head(2:4) == 'HDF'
  end function IsNetcdf

  subroutine ReadText(path, surface, error)
    character(*), intent(in) :: path
    type(surface_t), intent(inout) :: surface
    type(error_t), allocatable, intent(inout) :: error
    type(textfile_t) :: file
    real(dp), allocatable :: point(:, :), more(:, :)
    character(:), allocatable :: bad
    real(dp) :: v(3)
    integer :: n, found, first, last
    call TextOpen(file, path, 'grid', error)
    if (allocated(error)) return
    allocate (point(3, 1000))
    n = 0
    do while (TextLine(file))
      call TextNumbers(file, v, found, bad, most=farthest)
      if (bad /= '' .or. found /= 3) then
        call Fail(error, 'grid '//path//', line '//Str(file%line)//': must hold x, y and depth [m], numbers up to 1e7')
        call TextAdvise(file, error)
        return
      else if (TextWord(file, first, last)) then
        call Fail(error, 'grid '//path//', line '//Str(file%line)//': more than three numbers, must be x, y and depth [m]')
        return
      end if
      if (n == size(point, 2)) then
        allocate (more(3, 2*n))
        more(:, :n) = point
        call move_alloc(more, point)
      end if
      n = n + 1
      point(:, n) = v
    end do
    call Arrange(path, point(:, :n), surface, error)
  end subroutine ReadText

  !> Puts points onto their grid.
  subroutine Arrange(path, point, surface, error)
    character(*), intent(in) :: path
    real(dp), intent(in) :: point(:, :)
    type(surface_t), intent(inout) :: surface
    type(error_t), allocatable, intent(inout) :: error
    logical, allocatable :: there(:, :)
    real(dp) :: at(2)
    integer :: i, ij(2), a
    if (size(point, 2) < 4) then
      call Fail(error, 'grid '//path//' has '//Str(size(point, 2))//' points: give a line a point, at least 2 x 2 of them')
      return
    end if
    do a = 1, 2
      surface%first(a) = minval(point(a, :))
      surface%step(a) = StepOf(point(a, :))
      surface%n(a) = Whole((maxval(point(a, :)) - surface%first(a))/surface%step(a), 0, huge(1) - 1) + 1
    end do
    if (any(surface%n < 2) .or. CountOf(surface%n) /= size(point, 2)) then
      call Fail(error, 'grid '//path//' has '//Str(size(point, 2))//' points, and by their steps of '//Str(surface%step(1), 6)// &
                ' m along x and '//Str(surface%step(2), 6)//' m along y it must have '//Str(surface%n(1))//' x '// &
                Str(surface%n(2))//': give each point of a regular grid once')
      return
    end if
    allocate (surface%z(surface%n(1), surface%n(2)), there(surface%n(1), surface%n(2)))
    there = .false.
    do i = 1, size(point, 2)
      at = (point(:2, i) - surface%first)/surface%step
      ij = Whole(at) + 1
      if (any(abs(at - (ij - 1)) > on_grid) .or. there(ij(1), ij(2))) then
        call Fail(error, 'grid '//path//': the point at x = '//Str(point(1, i), 9)//', y = '//Str(point(2, i), 9)// &
                  ' m stands there twice, or not on a grid of steps of '//Str(surface%step(1), 6)//' and '// &
                  Str(surface%step(2), 6)//' m from x = '//Str(surface%first(1), 9)//', y = '//Str(surface%first(2), 9)//' m')
        return
      end if
      there(ij(1), ij(2)) = .true.
      surface%z(ij(1), ij(2)) = point(3, i)
    end do
  end subroutine Arrange

  !> The smallest difference of coordinates that are not the same.
  pure real(dp) function StepOf(x) result(step)
    real(dp), intent(in) :: x(:)
    real(dp), parameter :: parts = 2.0_dp**52
    integer, allocatable :: order(:)
    real(dp) :: apart(size(x) - 1), extent
    step = huge(step)
    extent = maxval(x) - minval(x)
    if (.not. extent > 1.0e-12_dp) return
    call SortOrder(nint((x - minval(x))/extent*parts, i8), order)
    apart = x(order(2:)) - x(order(:size(x) - 1))
    step = minval(apart, apart > on_grid*maxval(apart))
  end function StepOf

  !> The depth [m] at x, y [m]. ok: there is one; else `why` says what is wrong.
  subroutine SurfaceAt(surface, x, y, z, ok, why)
    type(surface_t), intent(in) :: surface
    real(dp), intent(in) :: x, y
    real(dp), intent(out) :: z
    logical, intent(out) :: ok
    character(:), allocatable, intent(out) :: why
    real(dp) :: at(2), part(2)
    integer :: i(2)
    ok = .true.
    select case (surface%kind)
    case (is_depth)
      z = surface%depth
    case (is_formula)
      call FormulaAt(surface%formula, x, y, z, ok)
      if (ok) ok = abs(z) <= farthest
      if (.not. ok) why = 'has no value there, or one beyond 1e7 m'
    case default
      at = ([x, y] - surface%first)/surface%step
      z = 0
      ok = all(at >= -on_grid) .and. all(at <= surface%n - 1 + on_grid)
      if (ok) then
        i = max(1, min(surface%n - 1, Whole(Below(at)) + 1))
        part = max(0.0_dp, min(1.0_dp, at - (i - 1)))
        associate (a => surface%z(i(1):i(1) + 1, i(2):i(2) + 1))
          z = (1 - part(2))*((1 - part(1))*a(1, 1) + part(1)*a(2, 1)) + part(2)*((1 - part(1))*a(1, 2) + part(1)*a(2, 2))
        end associate
      else
        why = 'ends at x = '//Str(surface%first(1), 9)//' .. '//Str(surface%first(1) + (surface%n(1) - 1)*surface%step(1), 9)// &
              ', y = '//Str(surface%first(2), 9)//' .. '//Str(surface%first(2) + (surface%n(2) - 1)*surface%step(2), 9)// &
              ' m: give a larger grid, or a smaller box'
      end if
    end select
    z = surface%sign*z
  end subroutine SurfaceAt

end module mesh_surface_m
