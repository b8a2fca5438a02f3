!> Shots as the lines of a key-map give them, in the order of the file: added one by one, then marked by the lines of skip and redo,
!> and checked.
module keymap_shots_m
  use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value
  use kinds_m, only: dp
  use problems_m, only: problems_t, ProblemAdd
  use text_m, only: Str
  implicit none
  private
  public :: keymap_shots_t, record_ranges_t, source_navigation_t, NoNavigation
  public :: ShotsReserve, ShotsAdd, RangesAdd, ShotsCheckRecords, ShotsMark, ShotsCheckLeft

  integer, parameter, public :: shots_max = 1000000   !< of a key-map

  !> Navigation of a source as its line gives it: what is not given is NaN, line 0.
  type :: source_navigation_t
    real(dp) :: e = 0, n = 0, h = 0, point = 0
    integer :: line = 0
  end type source_navigation_t

  !> The first n of each array are in use.
  type :: keymap_shots_t
    integer :: n = 0
    integer, allocatable :: record(:), line(:), spread(:), redo(:)
    logical, allocatable :: skip(:)
    real(dp), allocatable :: sx(:), sy(:), sz(:)
    type(source_navigation_t), allocatable :: source(:)
  end type keymap_shots_t

  !> Record numbers of the lines of skip, or of redo.
  type :: record_ranges_t
    character(4) :: word = 'skip'
    integer :: n = 0
    integer, allocatable :: first(:), last(:), line(:)
  end type record_ranges_t

contains

  !> A source without navigation.
  pure type(source_navigation_t) function NoNavigation()
    real(dp) :: nan
    nan = ieee_value(1.0_dp, ieee_quiet_nan)
    NoNavigation = source_navigation_t(nan, nan, nan, nan, 0)
  end function NoNavigation

  !> Room for n shots; doubles, so that the lines of a long file cost the same each.
  subroutine ShotsReserve(found, n)
    type(keymap_shots_t), intent(inout) :: found
    integer, intent(in) :: n
    type(keymap_shots_t) :: old
    integer :: m
    if (allocated(found%record)) then
      if (n <= size(found%record)) return
    end if
    old = found
    m = max(n, 2*old%n)
    if (allocated(found%record)) &
      deallocate (found%record, found%line, found%spread, found%skip, found%redo, found%sx, found%sy, found%sz, found%source)
    allocate (found%record(m), found%line(m), found%spread(m), found%skip(m), found%redo(m), found%sx(m), found%sy(m), &
              found%sz(m), found%source(m))
    if (old%n == 0) return
    found%record(:old%n) = old%record(:old%n)
    found%line(:old%n) = old%line(:old%n)
    found%spread(:old%n) = old%spread(:old%n)
    found%skip(:old%n) = old%skip(:old%n)
    found%redo(:old%n) = old%redo(:old%n)
    found%sx(:old%n) = old%sx(:old%n)
    found%sy(:old%n) = old%sy(:old%n)
    found%sz(:old%n) = old%sz(:old%n)
    found%source(:old%n) = old%source(:old%n)
  end subroutine ShotsReserve

  !> Adds a shot, for which there is room.
  subroutine ShotsAdd(found, record, x, y, z, spread, skip, redo, line, source)
    type(keymap_shots_t), intent(inout) :: found
    integer, intent(in) :: record, spread, line, redo
    real(dp), intent(in) :: x, y, z
    logical, intent(in) :: skip
    type(source_navigation_t), intent(in) :: source
    found%n = found%n + 1
    found%record(found%n) = record
    found%sx(found%n) = x
    found%sy(found%n) = y
    found%sz(found%n) = z
    found%spread(found%n) = spread
    found%skip(found%n) = skip
    found%redo(found%n) = redo
    found%line(found%n) = line
    found%source(found%n) = source
  end subroutine ShotsAdd

  !> Adds the records first .. last of a line.
  subroutine RangesAdd(ranges, first, last, line)
    type(record_ranges_t), intent(inout) :: ranges
    integer, intent(in) :: first, last, line
    if (.not. allocated(ranges%first)) allocate (ranges%first(16), ranges%last(16), ranges%line(16))
    if (ranges%n == size(ranges%first)) then
      ranges%first = [ranges%first, ranges%first]
      ranges%last = [ranges%last, ranges%last]
      ranges%line = [ranges%line, ranges%line]
    end if
    ranges%n = ranges%n + 1
    ranges%first(ranges%n) = first
    ranges%last(ranges%n) = last
    ranges%line(ranges%n) = line
  end subroutine RangesAdd

  !> Each record number stands once; order: places of the shots by ascending record.
  subroutine ShotsCheckRecords(found, order, path, problems)
    type(keymap_shots_t), intent(in) :: found
    integer, intent(in) :: order(:)
    character(*), intent(in) :: path
    type(problems_t), intent(inout) :: problems
    integer :: i
    do i = 2, found%n
      if (found%record(order(i)) /= found%record(order(i - 1))) cycle
      call ProblemAdd(problems, path, found%line(order(i)), 'record '//Str(found%record(order(i)))//' is in line '// &
                    Str(found%line(order(i - 1)))//' already: each shot needs a record number of its own')
    end do
  end subroutine ShotsCheckRecords

  !> Something is left to model, and not too much.
  subroutine ShotsCheckLeft(found, path, problems)
    type(keymap_shots_t), intent(in) :: found
    character(*), intent(in) :: path
    type(problems_t), intent(inout) :: problems
    if (found%n == 0) then
      call ProblemAdd(problems, path, 0, 'the key-map has no shots: add lines "shot RECORD SX SZ SPREAD"')
    else if (found%n > shots_max) then
      call ProblemAdd(problems, path, 0, 'the key-map has '//Str(found%n)//' shots, at most '//Str(shots_max)//': split the survey')
    else if (all(found%skip(:found%n))) then
      call ProblemAdd(problems, path, 0, 'each of the '//Str(found%n)//' shot(s) is marked skip: nothing is left to model')
    end if
  end subroutine ShotsCheckLeft

  !> Marks the shots that lines of skip, or of redo, name, once for each line. A line that names no shot is a problem, else a typing
  !> error would go unseen.
  subroutine ShotsMark(found, order, ranges, path, problems)
    type(keymap_shots_t), intent(inout) :: found
    integer, intent(in) :: order(:)
    type(record_ranges_t), intent(in) :: ranges
    character(*), intent(in) :: path
    type(problems_t), intent(inout) :: problems
    integer, allocatable :: sorted(:)
    integer :: i, j, start
    if (ranges%n == 0) return
    sorted = found%record(order)
    do i = 1, ranges%n
      start = LowerBound(sorted, ranges%first(i))
      do j = start, found%n
        if (sorted(j) > ranges%last(i)) exit
        if (ranges%word == 'skip') then
          found%skip(order(j)) = .true.
        else
          found%redo(order(j)) = found%redo(order(j)) + 1
        end if
      end do
      if (j == start) call ProblemAdd(problems, path, ranges%line(i), ranges%word//' '// &
                                      RangeText(ranges%first(i), ranges%last(i))//': there is no such shot')
    end do
  end subroutine ShotsMark

  !> First place in ascending numbers that is >= value; size + 1 if there is none.
  pure integer function LowerBound(numbers, value) result(lo)
    integer, intent(in) :: numbers(:), value
    integer :: hi, middle
    lo = 1
    hi = size(numbers) + 1
    do while (lo < hi)
      middle = lo + (hi - lo)/2
      if (numbers(middle) < value) then
        lo = middle + 1
      else
        hi = middle
      end if
    end do
  end function LowerBound

  pure function RangeText(first, last) result(s)
    integer, intent(in) :: first, last
    character(:), allocatable :: s
    s = Str(first)
    if (last > first) s = s//'-'//Str(last)
  end function RangeText

end module keymap_shots_m
