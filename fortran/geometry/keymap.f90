!> The key-map: a text file with one line a shot, which a person can read and edit. keymaps/README.md describes it.
!>
!>     spread cable streamer first=163 interval=12.5 channels=468 depth=8
!>     shot   1001  5000.0  6.0  cable
!>     shots  first_record=1002 n=99 x0=5050 dx=50 z=6 spread=cable
!>     skip   1007  1020-1024
!>     redo   1003
!>     navigation crs=EPSG:32618 e0=412000 n0=4498000 azimuth=129.5
module keymap_m
  use, intrinsic :: ieee_arithmetic, only: ieee_is_nan, ieee_quiet_nan, ieee_value
  use kinds_m, only: dp, i8
  use error_m, only: error_t, Fail
  use problems_m, only: problems_t, ProblemAdd, ProblemsRaise
  use hash_m, only: hash_t, HashAdd, HashText
  use keymap_line_m, only: mapline_t, FaultHere, MaplineInt, MaplineKeys, MaplineRead, MaplineReal, MaplineValue, MaplineWord, &
                           RealWord, WholeWord
  use nametable_m, only: name_length
  use navigation_m, only: map_max, navigation_t, NavigationMap, NavigationModel, NavigationRead, NavigationWords
  use receiver_navigation_m, only: height_max, point_max
  use shot_m, only: shot_navigation_t, shot_t
  use sort_m, only: SortFind, SortOrder
  use spread_m, only: spreads_t, SpreadBytes, SpreadExpand, SpreadFiles, SpreadHash, SpreadLists, SpreadRead, SpreadsCheck, &
                      SpreadKnown, SpreadLine, SpreadLines, SpreadMap, SpreadPlace, SpreadSize, SpreadUse, x_max, z_max
  use text_m, only: Lower, NearestName, Str
  use textfile_m, only: textfile_t, Shown, TextLine, TextOpen, TextWord
  implicit none
  private
  public :: keymap_t, KeymapRead, KeymapShot, KeymapFind, KeymapFiles, KeymapBytes
  public :: KeymapNavigate, KeymapLines, KeymapRule, KeymapUnmoved

  integer, parameter :: shots_max = 1000000
  integer(i8), parameter :: traces_max = 1000000000_i8
  character(10), parameter :: first_words(7) = [character(10) :: 'spread', 'lists', 'shot', 'shots', 'skip', 'redo', &
                                                    'navigation']
  real(dp), parameter :: agrees = 0.01_dp     !< map and model may differ by so much [m]

  !> Navigation of a source as its line gives it: what is not given is NaN, line 0.
  type :: source_t
    real(dp) :: e = 0, n = 0, h = 0, point = 0
    integer :: line = 0
  end type source_t

  !> Shots to be modelled, in the order of their record numbers.
  type :: keymap_t
    character(:), allocatable :: path
    integer :: n = 0                          !< shots to be modelled
    integer :: nskipped = 0                   !< shots marked skip
    integer, allocatable :: record(:)         !< shot record numbers, ascending, (n)
    integer, allocatable :: redo(:)           !< how often a shot is to be modelled again, (n)
    integer :: nrec_max = 0                   !< most receivers of a shot
    integer(i8) :: ntraces = 0                !< receivers of all shots together
    integer, private :: length = 0            !< characters of the file
    character(16) :: hash = ''                !< of records, positions and receivers; not of names, comments, spacing
    character(16) :: navigation_hash = ''     !< of all navigation; '' = the key-map has none
    type(navigation_t), private :: navigation
    real(dp), allocatable, private :: sx(:), sy(:), sz(:)
    type(source_t), allocatable, private :: source(:)   !< where there is navigation
    integer, allocatable, private :: spread(:)
    type(spreads_t), private :: spreads
  end type keymap_t

  !> Shots as the lines give them, in the order of the file.
  type :: found_t
    integer :: n = 0
    integer, allocatable :: record(:), line(:), spread(:), redo(:)
    logical, allocatable :: skip(:)
    real(dp), allocatable :: sx(:), sy(:), sz(:)
    type(source_t), allocatable :: source(:)
  end type found_t

  !> "skip FIRST-LAST" lines, or those of redo.
  type :: ranges_t
    character(4) :: word = 'skip'
    integer :: n = 0
    integer, allocatable :: first(:), last(:), line(:)
  end type ranges_t

contains

  !> Reads the key-map at `path` and the receiver lists it names; all problems come in one error.
  subroutine KeymapRead(keymap, path, error)
    type(keymap_t), intent(out) :: keymap
    character(*), intent(in) :: path
    type(error_t), allocatable, intent(inout) :: error
    type(textfile_t) :: file
    type(problems_t) :: problems
    type(found_t) :: found
    type(ranges_t) :: skips, redos
    integer, allocatable :: order(:)
    redos%word = 'redo'
    keymap%path = trim(path)
    call TextOpen(file, path, 'key-map', error)
    if (allocated(error)) return
    call Reserve(found, 1024)
    allocate (skips%first(16), skips%last(16), skips%line(16))
    allocate (redos%first(16), redos%last(16), redos%line(16))
    do while (TextLine(file))
      call ReadLine(keymap%spreads, keymap%navigation, found, skips, redos, file, problems)
    end do
    call SpreadsCheck(keymap%spreads, file%path, problems)
    call SortOrder(found%record(:found%n), order)
    call CheckDuplicates(found, order, file%path, problems)
    call ApplyRanges(found, order, skips, file%path, problems)
    call ApplyRanges(found, order, redos, file%path, problems)
    if (problems%n == 0) call CheckSomeLeft(found, file%path, problems)
    if (problems%n == 0) call CheckNavigation(keymap%navigation, keymap%spreads, found, file%path, problems)
    call ProblemsRaise(problems, 'key-map '//file%path, error)
    if (allocated(error)) return
    call KeepShots(keymap, found, order)
    keymap%length = len(file%text)
    if (keymap%ntraces > traces_max) call Fail(error, 'key-map '//file%path//': '//Str(keymap%n)//' shots with '// &
      Str(keymap%ntraces)//' receivers together, at most '//Str(traces_max)//': split the survey')
    if (allocated(error)) return
    call Fingerprint(keymap)
    if (keymap%navigation%given) call MapFingerprint(keymap)
  end subroutine KeymapRead

  !> Shot i, 1..keymap%n, with its receivers.
  subroutine KeymapShot(keymap, i, shot)
    type(keymap_t), intent(in) :: keymap
    integer, intent(in) :: i
    type(shot_t), intent(inout) :: shot
    shot%record = keymap%record(i)
    shot%slot = i
    shot%sx = keymap%sx(i)
    shot%sy = keymap%sy(i)
    shot%sz = keymap%sz(i)
    call SpreadExpand(keymap%spreads, keymap%spread(i), shot)
  end subroutine KeymapShot

  !> Gives shot i, as KeymapShot fills it, its navigation; without any in the key-map it gets none.
  subroutine KeymapNavigate(keymap, i, shot)
    type(keymap_t), intent(in) :: keymap
    integer, intent(in) :: i
    type(shot_t), intent(inout) :: shot
    if (allocated(shot%navigation)) deallocate (shot%navigation)
    if (.not. keymap%navigation%given) return
    allocate (shot%navigation)
    call Navigate(keymap%navigation, keymap%spreads, keymap%spread(i), keymap%source(i), shot, shot%navigation)
  end subroutine KeymapNavigate

  !> Navigation of a shot: what its lines give, and the rest by the rule.
  subroutine Navigate(rule, spreads, spread, source, shot, nav)
    type(navigation_t), intent(in) :: rule
    type(spreads_t), intent(in) :: spreads
    integer, intent(in) :: spread
    type(source_t), intent(in) :: source
    type(shot_t), intent(in) :: shot
    type(shot_navigation_t), intent(out) :: nav
    integer :: n
    n = size(shot%rx)
    call NavigationMap(rule, shot%sx, shot%sy, nav%e, nav%n)
    if (.not. ieee_is_nan(source%e)) nav%e = source%e
    if (.not. ieee_is_nan(source%e)) nav%n = source%n
    nav%h = merge(-shot%sz, source%h, ieee_is_nan(source%h))
    nav%point = source%point
    nav%line = source%line
    allocate (nav%re(n), nav%rn(n), nav%rline(n), nav%station(n))
    nav%rh = -shot%rz
    nav%rline = 0
    nav%station = ieee_value(1.0_dp, ieee_quiet_nan)
    if (SpreadKnown(spreads, spread) == n) then
      call SpreadMap(spreads, spread, nav)
    else
      call NavigationMap(rule, shot%rx, shot%ry, nav%re, nav%rn)
    end if
  end subroutine Navigate

  !> Moves receivers that were moved to their true offset back to where they are, in x and y of the model. What 2D modelling leaves
  !> out shows there only.
  subroutine KeymapUnmoved(keymap, i, shot)
    type(keymap_t), intent(in) :: keymap
    integer, intent(in) :: i
    type(shot_t), intent(inout) :: shot
    if (.not. (keymap%navigation%ruled .and. keymap%navigation%kept)) return
    call KeymapNavigate(keymap, i, shot)
    call NavigationModel(keymap%navigation, shot%navigation%re, shot%navigation%rn, shot%rx, shot%ry)
  end subroutine KeymapUnmoved

  !> The rule from map to model: system of coordinates, easting and northing of x = y = 0 [m], azimuth of +x [degrees], whether y is
  !> positive to the left of +x, and whether offsets were kept. `ruled`: there is one; `words` say it in any case.
  subroutine KeymapRule(keymap, ruled, crs, origin, azimuth, left, kept, words)
    type(keymap_t), intent(in) :: keymap
    logical, intent(out) :: ruled, left, kept
    character(:), allocatable, intent(out) :: crs, words
    real(dp), intent(out) :: origin(2), azimuth
    associate (nav => keymap%navigation)
      ruled = nav%ruled
      left = nav%left
      kept = nav%kept
      origin = [nav%e0, nav%n0]
      azimuth = nav%azimuth
      crs = ''
      if (allocated(nav%crs)) crs = nav%crs
      words = NavigationWords(nav)
    end associate
  end subroutine KeymapRule

  !> Names of the lines of sources and receivers, by the numbers that a shot's navigation has.
  pure function KeymapLines(keymap) result(names)
    type(keymap_t), intent(in) :: keymap
    character(name_length), allocatable :: names(:)
    names = SpreadLines(keymap%spreads)
  end function KeymapLines

  !> The i-th file that the key-map names; '' beyond the last.
  function KeymapFiles(keymap, i) result(path)
    type(keymap_t), intent(in) :: keymap
    integer, intent(in) :: i
    character(:), allocatable :: path
    path = SpreadFiles(keymap%spreads, i)
  end function KeymapFiles

  !> Memory that a key-map takes, and took while it was read [bytes].
  pure subroutine KeymapBytes(keymap, held, reading)
    type(keymap_t), intent(in) :: keymap
    real(dp), intent(out) :: held, reading
    integer, parameter :: shot = 3*4 + 3*8, source = 5*8, line = 5*4 + 3*8 + source
    call SpreadBytes(keymap%spreads, held, reading)
    held = held + real(shot + merge(source, 0, keymap%navigation%given), dp)*keymap%n
    reading = reading + keymap%length + real(shot + 2*line, dp)*(keymap%n + keymap%nskipped)
  end subroutine KeymapBytes

  !> Slot of the shot with this record number, 0 if it is not to be modelled.
  pure integer function KeymapFind(keymap, record) result(slot)
    type(keymap_t), intent(in) :: keymap
    integer, intent(in) :: record
    slot = SortFind(keymap%record, record)
  end function KeymapFind

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

  subroutine ReadLine(spreads, navigation, found, skips, redos, file, problems)
    type(spreads_t), intent(inout) :: spreads
    type(navigation_t), intent(inout) :: navigation
    type(found_t), intent(inout) :: found
    type(ranges_t), intent(inout) :: skips, redos
    type(textfile_t), intent(inout) :: file
    type(problems_t), intent(inout) :: problems
    character(:), allocatable :: word, near
    integer :: first, last
    if (.not. TextWord(file, first, last)) return
    word = file%text(first:last)
    select case (Lower(word))
    case ('shot')
      call ReadShot()
    case ('shots')
      call ReadShots()
    case ('spread')
      call SpreadRead(spreads, file, problems)
    case ('lists')
      call SpreadLists(spreads, file, problems)
    case ('skip')
      call ReadRanges(skips, file, problems)
    case ('redo')
      call ReadRanges(redos, file, problems)
    case ('navigation')
      call NavigationRead(navigation, file, problems)
    case default
      near = ''
      if (.not. problems%full()) near = NearestName(word, first_words)
      if (near /= '') near = ' (did you mean '//near//'?)'
      call FaultHere(problems, file, 'unknown word '//Shown(word)//near// &
                    ': a line begins with spread, lists, shot, shots, skip, redo or navigation')
    end select

  contains

    !> "shot RECORD SX SZ SPREAD [todo|skip|redo] [y=SY] [e=E n=N] [h=H] [point=POINT] [line=LINE]"
    subroutine ReadShot()
      type(mapline_t) :: line
      type(source_t) :: source
      character(*), parameter :: columns = 'shot RECORD SX SZ SPREAD [todo|skip|redo] [y=SY]'
      integer :: record, before, redo
      real(dp) :: x, y, z
      logical :: skip
      before = problems%n
      record = 0
      x = 0
      y = 0
      z = 0
      call MaplineRead(line, file, problems)
      if (line%nwords < 4 .or. line%nwords > 5) then
        call FaultHere(problems, file, Str(line%nwords)//' column(s) after '// &
                      'the word shot; the line is written: '//columns)
        return
      end if
      call WholeWord(file, line%w(:, 1), 'record', 1, huge(1), record, problems)
      call RealWord(file, line%w(:, 2), 'sx', -x_max, x_max, 'm', x, problems)
      call RealWord(file, line%w(:, 3), 'sz', -z_max, z_max, 'm', z, problems)
      call MaplineKeys(line, file, 'a shot', [character(5) :: 'y', 'e', 'n', 'h', 'point', 'line'], [character(1) ::], problems)
      call MaplineReal(line, file, 'y', -x_max, x_max, 'm', y, problems)
      call ReadSource(line, source)
      call ReadStatus(line, 5, file, skip, redo, problems)
      if (problems%n > before) return
      call Reserve(found, found%n + 1)
      call Keep(found, record, x, y, z, SpreadUse(spreads, MaplineWord(line, file, 4), file%line), skip, redo, file%line, &
                source)
    end subroutine ReadShot

    !> Navigation of a shot.
    subroutine ReadSource(line, source)
      type(mapline_t), intent(in) :: line
      type(source_t), intent(out) :: source
      source = Unknown()
      call MaplineReal(line, file, 'e', -map_max, map_max, 'm', source%e, problems)
      call MaplineReal(line, file, 'n', -map_max, map_max, 'm', source%n, problems)
      call MaplineReal(line, file, 'h', -height_max, height_max, 'm', source%h, problems)
      call MaplineReal(line, file, 'point', -point_max, point_max, '', source%point, problems)
      source%line = SpreadLine(spreads, MaplineValue(line, file, 'line'), file, problems)
      if ((MaplineValue(line, file, 'e') /= '') .neqv. (MaplineValue(line, file, 'n') /= '')) &
        call FaultHere(problems, file, 'e= and n= belong together: easting and northing of the source [m]')
    end subroutine ReadSource

    !> "shots first_record=1 n=100 x0=2000 dx=50 z=6 spread=NAME [step=1] [y=0] [todo|skip|redo]"
    subroutine ReadShots()
      type(mapline_t) :: line
      character(12), parameter :: needed(6) = [character(12) :: 'first_record', 'n', 'x0', 'dx', 'z', 'spread']
      integer :: record, n, step, i, spread, before, redo
      real(dp) :: x0, dx, y, z
      logical :: skip
      before = problems%n
      record = 1
      n = 1
      step = 1
      x0 = 0
      dx = 0
      y = 0
      z = 0
      call MaplineRead(line, file, problems)
      call MaplineKeys(line, file, 'a line of shots', [needed, [character(12) :: 'step', 'y']], needed, problems)
      call MaplineInt(line, file, 'first_record', 1, huge(1), record, problems)
      call MaplineInt(line, file, 'n', 1, shots_max, n, problems)
      call MaplineInt(line, file, 'step', 1, huge(1), step, problems)
      call MaplineReal(line, file, 'x0', -x_max, x_max, 'm', x0, problems)
      call MaplineReal(line, file, 'dx', -x_max, x_max, 'm', dx, problems)
      call MaplineReal(line, file, 'z', -z_max, z_max, 'm', z, problems)
      call MaplineReal(line, file, 'y', -x_max, x_max, 'm', y, problems)
      call ReadStatus(line, 1, file, skip, redo, problems)
      if (problems%n > before) return
      call CheckShots(found%n, record, n, step, x0, dx, file, problems)
      if (problems%n > before) return
      spread = SpreadUse(spreads, MaplineValue(line, file, 'spread'), file%line)
      call Reserve(found, found%n + n)
      do i = 0, n - 1
        call Keep(found, record + i*step, x0 + i*dx, y, z, spread, skip, redo, file%line, Unknown())
      end do
    end subroutine ReadShots

  end subroutine ReadLine

  !> A source without navigation.
  pure type(source_t) function Unknown()
    real(dp) :: nan
    nan = ieee_value(1.0_dp, ieee_quiet_nan)
    Unknown = source_t(nan, nan, nan, nan, 0)
  end function Unknown

  !> Checks the limits of a line of shots: record numbers, positions, and shots in all.
  subroutine CheckShots(nbefore, record, n, step, x0, dx, file, problems)
    integer, intent(in) :: nbefore, record, n, step
    real(dp), intent(in) :: x0, dx
    type(textfile_t), intent(in) :: file
    type(problems_t), intent(inout) :: problems
    integer(i8) :: last
    last = record + (n - 1_i8)*step
    if (last > huge(1)) call FaultHere(problems, file, 'the last record would be '//Str(last)//', above the limit '// &
                                      Str(huge(1))//': lower first_record, n or step')
    if (abs(x0 + (n - 1)*dx) > x_max) &
      call FaultHere(problems, file, 'the last shot would be at x = '//Str(x0 + (n - 1)*dx)//' m, beyond '//Str(x_max)// &
                    ' m: check x0, dx and n')
    if (dx == 0 .and. n > 1) call FaultHere(problems, file, 'dx = 0 puts '//Str(n)//' shots at the same place: '// &
                                           'give the distance from one shot to the next')
    if (nbefore > shots_max - n) call FaultHere(problems, file, 'more than '//Str(shots_max)//' shots: split the survey')
  end subroutine CheckShots

  !> The word todo, skip or redo at place i, if it is there; anything else there is a fault. `redo`: how often it says redo.
  subroutine ReadStatus(line, i, file, skip, redo, problems)
    type(mapline_t), intent(in) :: line
    integer, intent(in) :: i
    type(textfile_t), intent(in) :: file
    logical, intent(out) :: skip
    integer, intent(out) :: redo
    type(problems_t), intent(inout) :: problems
    character(:), allocatable :: word
    skip = .false.
    redo = 0
    if (line%nwords < i) return
    word = MaplineWord(line, file, i)
    skip = Lower(word) == 'skip'
    redo = merge(1, 0, Lower(word) == 'redo')
    if (all(Lower(word) /= [character(4) :: 'todo', 'skip', 'redo'])) &
      call FaultHere(problems, file, 'unknown status '//Shown(word)//': must be todo, skip or redo')
    if (line%nwords > i) call FaultHere(problems, file, 'unexpected word '//Shown(MaplineWord(line, file, i + 1)))
  end subroutine ReadStatus

  !> "skip RECORD ... FIRST-LAST ...", and the same with redo.
  subroutine ReadRanges(ranges, file, problems)
    type(ranges_t), intent(inout) :: ranges
    type(textfile_t), intent(inout) :: file
    type(problems_t), intent(inout) :: problems
    integer :: at(2), dash, first, last, before, words
    words = 0
    do while (TextWord(file, at(1), at(2)))
      words = words + 1
      before = problems%n
      dash = index(file%text(at(1):at(2)), '-')
      if (dash <= 1) dash = at(2) - at(1) + 2
      first = 0
      last = 0
      call WholeWord(file, [at(1), at(1) + dash - 2], 'record', 1, huge(1), first, problems)
      last = first
      if (at(1) + dash <= at(2) + 1 .and. problems%n == before) &
        call WholeWord(file, [at(1) + dash, at(2)], 'record', 1, huge(1), last, problems)
      if (problems%n > before) cycle
      if (last < first) then
        call FaultHere(problems, file, ranges%word//' '//file%text(at(1):at(2))//': the first record is above the last')
      else
        call KeepRange(ranges, first, last, file%line)
      end if
    end do
    if (words == 0) call FaultHere(problems, file, ranges%word//' needs record numbers: '//ranges%word//' 12 20-25')
  end subroutine ReadRanges

  subroutine KeepRange(ranges, first, last, line)
    type(ranges_t), intent(inout) :: ranges
    integer, intent(in) :: first, last, line
    if (ranges%n == size(ranges%first)) then
      ranges%first = [ranges%first, ranges%first]
      ranges%last = [ranges%last, ranges%last]
      ranges%line = [ranges%line, ranges%line]
    end if
    ranges%n = ranges%n + 1
    ranges%first(ranges%n) = first
    ranges%last(ranges%n) = last
    ranges%line(ranges%n) = line
  end subroutine KeepRange

  subroutine Keep(found, record, x, y, z, spread, skip, redo, line, source)
    type(found_t), intent(inout) :: found
    integer, intent(in) :: record, spread, line, redo
    real(dp), intent(in) :: x, y, z
    logical, intent(in) :: skip
    type(source_t), intent(in) :: source
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
  end subroutine Keep

  !> Room for n shots; doubles, so that the lines of a long file cost the same each.
  subroutine Reserve(found, n)
    type(found_t), intent(inout) :: found
    integer, intent(in) :: n
    type(found_t) :: old
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
  end subroutine Reserve

  subroutine CheckDuplicates(found, order, path, problems)
    type(found_t), intent(in) :: found
    integer, intent(in) :: order(:)
    character(*), intent(in) :: path
    type(problems_t), intent(inout) :: problems
    integer :: i
    do i = 2, found%n
      if (found%record(order(i)) /= found%record(order(i - 1))) cycle
      call ProblemAdd(problems, path, found%line(order(i)), 'record '//Str(found%record(order(i)))//' is in line '// &
                    Str(found%line(order(i - 1)))//' already: each shot needs a record number of its own')
    end do
  end subroutine CheckDuplicates

  !> Marks the shots of the lines of skip, or of redo, once for each line that names them; a line that meets no shot is a fault (a
  !> typing error would go unseen).
  subroutine ApplyRanges(found, order, ranges, path, problems)
    type(found_t), intent(inout) :: found
    integer, intent(in) :: order(:)
    type(ranges_t), intent(in) :: ranges
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
  end subroutine ApplyRanges

  pure function RangeText(first, last) result(s)
    integer, intent(in) :: first, last
    character(:), allocatable :: s
    s = Str(first)
    if (last > first) s = s//'-'//Str(last)
  end function RangeText

  !> Checks that navigation is complete and that positions follow from it by the rule. Once for each list, unless offsets were kept.
  subroutine CheckNavigation(rule, spreads, found, path, problems)
    type(navigation_t), intent(in) :: rule
    type(spreads_t), intent(in) :: spreads
    type(found_t), intent(in) :: found
    character(*), intent(in) :: path
    type(problems_t), intent(inout) :: problems
    logical, allocatable :: looked(:)
    type(shot_t) :: shot
    integer :: i
    allocate (looked(maxval(found%spread(:found%n))), source=.false.)
    do i = 1, found%n
      if (problems%full()) return
      associate (s => found%spread(i), source => found%source(i))
        if (.not. rule%given) then
          call CheckNone(spreads, found, i, path, problems)
          if (problems%n > 0) return
        else
          if (.not. rule%ruled .and. ieee_is_nan(source%e)) call ProblemAdd(problems, path, found%line(i), 'shot record '// &
            Str(found%record(i))//' has no e= n=, and navigation no rule to find them by: give them, or e0= n0= azimuth=')
          if (rule%ruled) call CheckSource(rule, found, i, path, problems)
          if (.not. looked(s)) call CheckList(rule, spreads, s, found%line(i), path, problems)
          if (rule%ruled .and. SpreadKnown(spreads, s) > 0 .and. (rule%kept .or. .not. looked(s))) then
            shot%sx = found%sx(i)
            shot%sy = found%sy(i)
            shot%sz = found%sz(i)
            shot%record = found%record(i)
            call SpreadExpand(spreads, s, shot)
            if (SpreadKnown(spreads, s) == size(shot%rx)) call CheckReceivers(rule, spreads, s, source, shot, problems)
          end if
        end if
        looked(s) = .true.
      end associate
    end do
  end subroutine CheckNavigation

  !> Fails where a shot has navigation, but the key-map none.
  subroutine CheckNone(spreads, found, i, path, problems)
    type(spreads_t), intent(in) :: spreads
    type(found_t), intent(in) :: found
    integer, intent(in) :: i
    character(*), intent(in) :: path
    type(problems_t), intent(inout) :: problems
    associate (source => found%source(i))
      if (all(ieee_is_nan([source%e, source%h, source%point])) .and. source%line == 0 .and. &
          SpreadKnown(spreads, found%spread(i)) == 0) return
    end associate
    call ProblemAdd(problems, path, found%line(i), 'shot record '//Str(found%record(i))//' or its receivers have navigation '// &
                    '(e, n, point ...), but the key-map has no line navigation: add "navigation crs=EPSG:CODE"')
  end subroutine CheckNone

  !> Checks that the list of a spread gives map coordinates for all of its receivers or for none.
  subroutine CheckList(rule, spreads, spread, line, path, problems)
    type(navigation_t), intent(in) :: rule
    type(spreads_t), intent(in) :: spreads
    integer, intent(in) :: spread, line
    character(*), intent(in) :: path
    type(problems_t), intent(inout) :: problems
    character(:), allocatable :: file, name
    integer :: known, n, at
    known = SpreadKnown(spreads, spread)
    n = SpreadSize(spreads, spread)
    if (known == n .or. (known == 0 .and. rule%ruled)) return
    call SpreadPlace(spreads, spread, file, at, name)
    if (known > 0) then
      call ProblemAdd(problems, file, at, 'list '//Shown(name)//' gives e and n of '//Str(known)//' of its '//Str(n)// &
                      ' receivers: give them for all, or for none')
    else
      call ProblemAdd(problems, path, line, 'the receivers of '//Shown(name)//' have no e and n, and navigation no rule to '// &
                      'find them by: give them in a list, or e0= n0= azimuth=')
    end if
  end subroutine CheckList

  subroutine CheckSource(rule, found, i, path, problems)
    type(navigation_t), intent(in) :: rule
    type(found_t), intent(in) :: found
    integer, intent(in) :: i
    character(*), intent(in) :: path
    type(problems_t), intent(inout) :: problems
    real(dp) :: x, y
    if (ieee_is_nan(found%source(i)%e)) return
    call NavigationModel(rule, found%source(i)%e, found%source(i)%n, x, y)
    if (hypot(x - found%sx(i), y - found%sy(i)) > agrees) call ProblemAdd(problems, path, found%line(i), 'shot record '// &
      Str(found%record(i))//' is at '//Place(found%sx(i), found%sy(i))//', but by navigation, line '//Str(rule%line)//', at '// &
      Place(x, y)//Advice())
  end subroutine CheckSource

  !> Checks that the receivers of a shot are where the rule puts them, or as far from the source.
  subroutine CheckReceivers(rule, spreads, spread, source, shot, problems)
    type(navigation_t), intent(in) :: rule
    type(spreads_t), intent(in) :: spreads
    integer, intent(in) :: spread
    type(source_t), intent(in) :: source
    type(shot_t), intent(in) :: shot
    type(problems_t), intent(inout) :: problems
    type(shot_navigation_t) :: nav
    character(:), allocatable :: file, name, sentence
    real(dp), allocatable :: x(:), y(:), off(:)
    integer :: at, r
    call Navigate(rule, spreads, spread, source, shot, nav)
    allocate (x(size(shot%rx)), y(size(shot%rx)))
    if (rule%kept) then
      x = shot%sx + sign(hypot(nav%re - nav%e, nav%rn - nav%n), shot%rx - shot%sx)
      y = shot%sy
    else
      call NavigationModel(rule, nav%re, nav%rn, x, y)
    end if
    off = hypot(x - shot%rx, y - shot%ry)
    r = maxloc(off, 1)
    if (off(r) <= agrees) return
    call SpreadPlace(spreads, spread, file, at, name)
    sentence = 'channel '//Str(shot%channel(r))//' of list '//Shown(name)//' is at '//Place(shot%rx(r), shot%ry(r))//', but by '// &
               'navigation, line '//Str(rule%line)//' of the key-map, at '//Place(x(r), y(r))
    if (rule%kept) sentence = sentence//', for shot record '//Str(shot%record)
    call ProblemAdd(problems, file, at, sentence//Advice())
  end subroutine CheckReceivers

  pure function Place(x, y) result(words)
    real(dp), intent(in) :: x, y
    character(:), allocatable :: words
    words = 'x '//Str(x, 11)//' y '//Str(y, 11)//' m'
  end function Place

  pure function Advice() result(words)
    character(:), allocatable :: words
    words = '; they may differ by '//Str(agrees)//' m: make the key-map anew, or leave e0=, n0= and azimuth= out'
  end function Advice

  subroutine CheckSomeLeft(found, path, problems)
    type(found_t), intent(in) :: found
    character(*), intent(in) :: path
    type(problems_t), intent(inout) :: problems
    if (found%n == 0) then
      call ProblemAdd(problems, path, 0, 'the key-map has no shots: add lines "shot RECORD SX SZ SPREAD"')
    else if (all(found%skip(:found%n))) then
      call ProblemAdd(problems, path, 0, 'each of the '//Str(found%n)//' shot(s) is marked skip: nothing is left to model')
    end if
  end subroutine CheckSomeLeft

  !> Shots to be modelled go to the key-map in the order of their records.
  subroutine KeepShots(keymap, found, order)
    type(keymap_t), intent(inout) :: keymap
    type(found_t), intent(in) :: found
    integer, intent(in) :: order(:)
    integer, allocatable :: kept(:)
    integer :: i
    kept = pack(order, .not. found%skip(order))
    keymap%n = size(kept)
    keymap%nskipped = found%n - keymap%n
    keymap%record = found%record(kept)
    keymap%redo = found%redo(kept)
    keymap%sx = found%sx(kept)
    keymap%sy = found%sy(kept)
    keymap%sz = found%sz(kept)
    keymap%spread = found%spread(kept)
    if (keymap%navigation%given) keymap%source = found%source(kept)
    do i = 1, keymap%n
      keymap%nrec_max = max(keymap%nrec_max, SpreadSize(keymap%spreads, keymap%spread(i)))
      keymap%ntraces = keymap%ntraces + SpreadSize(keymap%spreads, keymap%spread(i))
    end do
  end subroutine KeepShots

  !> Fingerprint of all that decides which traces come out. Each spread is mixed once, then by its own fingerprint.
  subroutine Fingerprint(keymap)
    type(keymap_t), intent(inout) :: keymap
    type(hash_t), allocatable :: spreads(:)
    logical, allocatable :: known(:)
    type(hash_t) :: hash
    integer :: i
    allocate (spreads(maxval(keymap%spread)))
    allocate (known(size(spreads)), source=.false.)
    do i = 1, keymap%n
      associate (s => keymap%spread(i))
        if (.not. known(s)) spreads(s) = SpreadHash(keymap%spreads, s)
        known(s) = .true.
        call HashAdd(hash, keymap%record(i))
        call HashAdd(hash, keymap%sx(i))
        call HashAdd(hash, keymap%sy(i))
        call HashAdd(hash, keymap%sz(i))
        call HashAdd(hash, spreads(s))
      end associate
    end do
    keymap%hash = HashText(hash)
  end subroutine Fingerprint

  !> Fingerprint of all navigation. Names of lines count by their letters, lists once.
  subroutine MapFingerprint(keymap)
    type(keymap_t), intent(inout) :: keymap
    type(hash_t), allocatable :: spreads(:)
    logical, allocatable :: known(:)
    type(hash_t) :: hash
    type(shot_t) :: shot
    character(name_length), allocatable :: names(:)
    integer :: i, j
    associate (nav => keymap%navigation)
      call HashAdd(hash, [(ichar(nav%crs(j:j)), j=1, len(nav%crs))])
      call HashAdd(hash, [nav%e0, nav%n0, nav%azimuth])
      call HashAdd(hash, merge(1, 0, [nav%ruled, nav%left, nav%kept]))
    end associate
    allocate (spreads(maxval(keymap%spread)))
    allocate (known(size(spreads)), source=.false.)
    do i = 1, keymap%n
      associate (s => keymap%spread(i), source => keymap%source(i))
        if (.not. known(s) .and. SpreadKnown(keymap%spreads, s) > 0) then
          call KeymapShot(keymap, i, shot)
          call KeymapNavigate(keymap, i, shot)
          call HashAdd(spreads(s), shot%navigation%re)
          call HashAdd(spreads(s), shot%navigation%rn)
          call HashAdd(spreads(s), shot%navigation%rh)
          call HashAdd(spreads(s), shot%navigation%rline)
          call HashAdd(spreads(s), shot%navigation%station)
        end if
        known(s) = .true.
        call HashAdd(hash, [source%e, source%n, source%h, source%point])
        call HashAdd(hash, source%line)
        call HashAdd(hash, spreads(s))
      end associate
    end do
    names = KeymapLines(keymap)
    do i = 1, size(names)
      call HashAdd(hash, [(ichar(names(i)(j:j)), j=1, len(names))])
    end do
    keymap%navigation_hash = HashText(hash)
  end subroutine MapFingerprint

end module keymap_m
