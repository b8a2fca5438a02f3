!> Reads the lines of a key-map: shots, one or a row of them, and records to skip or to model again. Lines of spreads and of
!> navigation have readers of their own (spread.f90, navigation.f90).
module keymap_reader_m
  use keymap_line_m, only: mapline_t, FaultHere, MaplineInt, MaplineKeys, MaplineRead, MaplineReal, MaplineValue, MaplineWord, &
                           QuoteEnds, RealWord, WholeWord
  use keymap_shots_m, only: keymap_shots_t, record_ranges_t, shots_max, source_navigation_t, NoNavigation, RangesAdd, ShotsAdd, &
                            ShotsReserve
  use kinds_m, only: dp, i8
  use navigation_m, only: map_max, navigation_t, NavigationRead
  use problems_m, only: problems_t
  use receiver_navigation_m, only: height_max, point_max
  use spread_m, only: spreads_t, x_max, z_max, SpreadLine, SpreadLists, SpreadRead, SpreadUse
  use text_m, only: Lower, NearestName, Str
  use textfile_m, only: textfile_t, Shown, TextWord
  implicit none
  private
  public :: KeymapLine

  character(10), parameter :: first_words(7) = [character(10) :: 'spread', 'lists', 'shot', 'shots', 'skip', 'redo', &
                                                    'navigation']

contains

  !> Reads the present line of `file`.
  subroutine KeymapLine(spreads, navigation, found, skips, redos, file, problems)
    type(spreads_t), intent(inout) :: spreads
    type(navigation_t), intent(inout) :: navigation
    type(keymap_shots_t), intent(inout) :: found
    type(record_ranges_t), intent(inout) :: skips, redos
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
      if (Lower(word) == 'list') near = ' (a file of receiver lists? the key-map names it: lists FILE)'
      call FaultHere(problems, file, 'unknown word '//Shown(word)//near// &
                    ': a line begins with spread, lists, shot, shots, skip, redo or navigation')
    end select

  contains

    !> "shot RECORD SX SZ SPREAD [todo|skip|redo] [y=SY] [e=E n=N] [h=H] [point=POINT] [line=LINE]"
    subroutine ReadShot()
      type(mapline_t) :: line
      type(source_navigation_t) :: source
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
      call ShotsReserve(found, found%n + 1)
      call ShotsAdd(found, record, x, y, z, SpreadUse(spreads, MaplineWord(line, file, 4), file, problems), skip, redo, file%line, &
                source)
    end subroutine ReadShot

    !> Navigation of a shot.
    subroutine ReadSource(line, source)
      type(mapline_t), intent(in) :: line
      type(source_navigation_t), intent(out) :: source
      source = NoNavigation()
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
      spread = SpreadUse(spreads, MaplineValue(line, file, 'spread'), file, problems)
      call ShotsReserve(found, found%n + n)
      do i = 0, n - 1
        call ShotsAdd(found, record + i*step, x0 + i*dx, y, z, spread, skip, redo, file%line, NoNavigation())
      end do
    end subroutine ReadShots

  end subroutine KeymapLine

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

  !> The word todo, skip or redo at place i, if it is there; anything else there is a problem. `redo`: how often it says redo.
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
    type(record_ranges_t), intent(inout) :: ranges
    type(textfile_t), intent(inout) :: file
    type(problems_t), intent(inout) :: problems
    integer :: at(2), dash, first, last, before, words
    words = 0
    do while (TextWord(file, at(1), at(2)))
      words = words + 1
      before = problems%n
      call QuoteEnds(file, at, problems)
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
        call RangesAdd(ranges, first, last, file%line)
      end if
    end do
    if (words == 0) call FaultHere(problems, file, ranges%word//' needs record numbers: '//ranges%word//' 12 20-25')
  end subroutine ReadRanges

end module keymap_reader_m
