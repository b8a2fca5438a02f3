!> Receiver spreads of a key-map: moving streamers, fixed lines, and lists of receivers from a file.
!>
!>     streamer   channel c at  x = sx + direction*(first + (c-1)*interval),  y = sy,  z = depth
!>     fixed      channel c at  x = x0 + (c-1)*interval,                      y = y,   z = depth
!>     list       channel, x, z, y as they stand in the file, and navigation beside them
module spread_m
  use kinds_m, only: dp
  use error_m, only: error_t
  use problems_m, only: problems_t, ProblemAdd
  use hash_m, only: hash_t, HashAdd
  use keymap_line_m, only: mapline_t, FaultHere, MaplineInt, MaplineKeys, MaplineRead, MaplineReal, MaplineWord, RealWord, WholeWord
  use nametable_m, only: name_length, nametable_t, NameNumber
  use receiver_navigation_m, only: receiver_navigation_t, LineNumber, ReceiverBytes, ReceiverGet, ReceiverKnown, ReceiverPut
  use shot_m, only: shot_navigation_t, shot_t
  use sort_m, only: SortOrder
  use text_m, only: Lower, NearestName, Str
  use textfile_m, only: textfile_t, Shown, TextLine, TextOpen, TextWord
  implicit none
  private
  public :: spreads_t, SpreadRead, SpreadLists, SpreadUse, SpreadsCheck, SpreadSize, SpreadExpand, SpreadHash, SpreadFiles
  public :: SpreadBytes, SpreadKnown, SpreadLine, SpreadLines, SpreadMap, SpreadPlace, x_max, z_max

  real(dp), parameter :: x_max = 1.0e8_dp     !< largest position along and across the line [m]
  real(dp), parameter :: z_max = 1.0e6_dp     !< largest depth [m]
  integer, parameter :: channels_max = 1000000 !< of a spread
  integer, parameter :: is_faulty = 0, is_streamer = 1, is_fixed = 2, is_list = 3
  character(8), parameter :: kinds(3) = [character(8) :: 'streamer', 'fixed', 'list']

  type :: spread_t
    integer :: kind = is_faulty
    integer :: n = 0                          !< receivers
    real(dp) :: x0 = 0                        !< first receiver [m]: from the source (streamer) or on the line (fixed)
    real(dp) :: dx = 0                        !< from one receiver to the next [m], signed
    real(dp) :: y = 0, z = 0                  !< [m]
    integer :: start = 0                      !< list: its receivers follow this place in the pool
    integer :: line = 0                       !< where it is defined, 0 = nowhere
    character(:), allocatable :: path         !< ... and in which file
    integer :: uses = 0, used_line = 0        !< lines that name it, and the first of them
  end type spread_t

  type :: spreads_t
    type(nametable_t), private :: names
    type(spread_t), allocatable, private :: item(:)
    logical, private :: incomplete = .false.  !< a definition is faulty: its name may be missing
    integer, private :: npool = 0             !< receivers of all lists
    integer, allocatable, private :: channel(:)
    real(dp), allocatable, private :: x(:), y(:), z(:)
    type(receiver_navigation_t), private :: navigation
    type(path_t), allocatable, private :: files(:)   !< files of lists
    integer, private :: longest = 0           !< characters of the longest of them
  end type spreads_t

  type :: path_t
    character(:), allocatable :: path
  end type path_t

contains

  !> Reads the rest of a line "spread NAME KIND ...".
  subroutine SpreadRead(spreads, file, problems)
    type(spreads_t), intent(inout) :: spreads
    type(textfile_t), intent(inout) :: file
    type(problems_t), intent(inout) :: problems
    type(mapline_t) :: line
    type(spread_t) :: s
    character(:), allocatable :: name, kind, near
    integer :: i, before
    call MaplineRead(line, file, problems)
    name = MaplineWord(line, file, 1)
    kind = Lower(MaplineWord(line, file, 2))
    before = problems%n
    i = Define(spreads, name, file, problems)
    spreads%incomplete = spreads%incomplete .or. i == 0
    if (i == 0) return
    if (any(kind == kinds(:2))) call NoMoreWords(line, file, 2, problems)
    select case (kind)
    case ('streamer')
      s%kind = is_streamer
      call ReadStreamer()
    case ('fixed')
      s%kind = is_fixed
      call ReadFixed()
    case ('list')
      if (line%nwords /= 3 .or. line%nkeys > 0) then
        call FaultHere(problems, file, 'a list is written: spread NAME list FILE')
      else
        call ReadListFile(spreads, MaplineWord(line, file, 3), name, file, problems)
      end if
      return
    case ('')
      call FaultHere(problems, file, 'spread '//Shown(name)//' needs a kind: streamer, fixed or list')
    case default
      near = NearestName(kind, kinds)
      if (near /= '') near = ' (did you mean '//near//'?)'
      call FaultHere(problems, file, 'unknown kind of spread '//Shown(kind)//near//': must be streamer, fixed or list')
    end select
    if (problems%n > before) return
    s%line = file%line
    s%path = file%path
    s%uses = spreads%item(i)%uses
    s%used_line = spreads%item(i)%used_line
    spreads%item(i) = s

  contains

    subroutine ReadStreamer()
      integer :: direction
      call MaplineKeys(line, file, 'a streamer', [character(9) :: 'first', 'interval', 'channels', 'depth', 'direction'], &
                       [character(8) :: 'first', 'interval', 'channels', 'depth'], problems)
      direction = -1
      call MaplineReal(line, file, 'first', -x_max, x_max, 'm', s%x0, problems)
      call ReadRegular()
      call MaplineInt(line, file, 'direction', -1, 1, direction, problems)
      if (direction == 0) call FaultHere(problems, file, 'direction = 0: must be -1 (receivers at smaller x than the '// &
                                        'source) or 1 (larger x)')
      s%x0 = direction*s%x0
      s%dx = direction*s%dx
      call CheckEnd()
    end subroutine ReadStreamer

    subroutine ReadFixed()
      call MaplineKeys(line, file, 'a fixed spread', [character(9) :: 'x0', 'interval', 'channels', 'depth', 'y'], &
                       [character(8) :: 'x0', 'interval', 'channels', 'depth'], problems)
      call MaplineReal(line, file, 'x0', -x_max, x_max, 'm', s%x0, problems)
      call MaplineReal(line, file, 'y', -x_max, x_max, 'm', s%y, problems)
      call ReadRegular()
      call CheckEnd()
    end subroutine ReadFixed

    !> Parameters that streamers and fixed lines have in common.
    subroutine ReadRegular()
      call MaplineReal(line, file, 'interval', 1.0e-3_dp, 1.0e6_dp, 'm', s%dx, problems)
      call MaplineInt(line, file, 'channels', 1, channels_max, s%n, problems)
      call MaplineReal(line, file, 'depth', -z_max, z_max, 'm', s%z, problems)
    end subroutine ReadRegular

    subroutine CheckEnd()
      if (abs(s%x0 + (s%n - 1)*s%dx) > x_max) &
        call FaultHere(problems, file, Str(s%n)//' channels '//Str(abs(s%dx))//' m apart end beyond '//Str(x_max)// &
                      ' m: check channels= and interval=')
    end subroutine CheckEnd

  end subroutine SpreadRead

  subroutine NoMoreWords(line, file, n, problems)
    type(mapline_t), intent(in) :: line
    type(textfile_t), intent(in) :: file
    integer, intent(in) :: n
    type(problems_t), intent(inout) :: problems
    if (line%nwords > n) call FaultHere(problems, file, 'unexpected word '// &
                                       Shown(MaplineWord(line, file, n + 1))//': values are written name=value')
  end subroutine NoMoreWords

  !> Enters a new spread of this name; 0 if it cannot be (the problem is reported).
  integer function Define(spreads, name, file, problems) result(i)
    type(spreads_t), intent(inout) :: spreads
    character(*), intent(in) :: name
    type(textfile_t), intent(in) :: file
    type(problems_t), intent(inout) :: problems
    i = 0
    if (name == '') then
      call FaultHere(problems, file, 'a name is missing: spread NAME KIND ..., or list NAME')
      return
    else if (len(name) > name_length) then
      call FaultHere(problems, file, 'the name '//Shown(name)//' is longer than '//Str(name_length)//' characters')
      return
    end if
    i = Number(spreads, name)
    if (spreads%item(i)%line == 0) then
      spreads%item(i)%line = file%line
      spreads%item(i)%path = file%path
    else
      call FaultHere(problems, file, 'spread '//Shown(name)//' is defined already ('//spreads%item(i)%path// &
                    ', line '//Str(spreads%item(i)%line)//'): give one of them another name')
      i = 0
    end if
  end function Define

  !> Number of the spread `name`, defined or not.
  integer function Number(spreads, name)
    type(spreads_t), intent(inout) :: spreads
    character(*), intent(in) :: name
    type(spread_t), allocatable :: old(:)
    Number = NameNumber(spreads%names, name)
    if (.not. allocated(spreads%item)) allocate (spreads%item(32))
    if (Number <= size(spreads%item)) return
    call move_alloc(spreads%item, old)
    allocate (spreads%item(2*size(old)))
    spreads%item(:size(old)) = old
  end function Number

  !> Number of the spread that a line of shots names; it may be defined later.
  integer function SpreadUse(spreads, name, line) result(i)
    type(spreads_t), intent(inout) :: spreads
    character(*), intent(in) :: name
    integer, intent(in) :: line
    i = Number(spreads, name(:min(len(name), name_length)))
    if (spreads%item(i)%uses == 0) spreads%item(i)%used_line = line
    spreads%item(i)%uses = spreads%item(i)%uses + 1
  end function SpreadUse

  !> Faults of names that are used but nowhere defined.
  subroutine SpreadsCheck(spreads, path, problems)
    type(spreads_t), intent(in) :: spreads
    character(*), intent(in) :: path
    type(problems_t), intent(inout) :: problems
    character(:), allocatable :: sentence, near
    integer :: i, j, n
    if (spreads%incomplete) return            ! that is reported; names missing by it would only be noise
    n = spreads%names%n
    do i = 1, n
      if (spreads%item(i)%line > 0) cycle
      sentence = ''
      if (.not. problems%full()) then
        near = NearestName(trim(spreads%names%name(i)), pack(spreads%names%name(:n), [(spreads%item(j)%line > 0, j=1, n)]))
        sentence = 'unknown spread '//Shown(trim(spreads%names%name(i)))
        if (spreads%item(i)%uses > 1) sentence = sentence//' (in '//Str(spreads%item(i)%uses)//' lines)'
        if (near /= '') then
          sentence = sentence//': did you mean '//near//'?'
        else
          sentence = sentence//': define it in a line "spread NAME ..." or read it with "lists FILE"'
        end if
      end if
      call ProblemAdd(problems, path, spreads%item(i)%used_line, sentence)
    end do
  end subroutine SpreadsCheck

  !> Reads the rest of a line "lists FILE": every list of the file becomes a spread of its name.
  subroutine SpreadLists(spreads, file, problems)
    type(spreads_t), intent(inout) :: spreads
    type(textfile_t), intent(inout) :: file
    type(problems_t), intent(inout) :: problems
    type(mapline_t) :: line
    integer :: before
    before = problems%n
    call MaplineRead(line, file, problems)
    if (line%nwords /= 1 .or. line%nkeys > 0) then
      call FaultHere(problems, file, 'the file of receiver lists is written: lists FILE (in quotes if it has blanks or =)')
    else
      call ReadListFile(spreads, MaplineWord(line, file, 1), '', file, problems)
    end if
    spreads%incomplete = spreads%incomplete .or. problems%n > before
  end subroutine SpreadLists

  !> One more file of lists. Not by an array constructor: gfortran leaves what that holds of allocatable parts behind.
  subroutine Remember(spreads, path)
    type(spreads_t), intent(inout) :: spreads
    character(*), intent(in) :: path
    type(path_t), allocatable :: files(:)
    integer :: n
    n = 0
    if (allocated(spreads%files)) n = size(spreads%files)
    allocate (files(n + 1))
    if (n > 0) files(:n) = spreads%files
    files(n + 1)%path = path
    call move_alloc(files, spreads%files)
  end subroutine Remember

  !> Reads lists from `name_of_file` (relative to the folder of the key-map): all of them, or the one called `only`.
  subroutine ReadListFile(spreads, name_of_file, only, map, problems)
    type(spreads_t), intent(inout) :: spreads
    character(*), intent(in) :: name_of_file, only
    type(textfile_t), intent(in) :: map
    type(problems_t), intent(inout) :: problems
    type(textfile_t) :: file
    type(error_t), allocatable :: error
    character(:), allocatable :: path
    integer :: word(2), current, nlists, before
    path = name_of_file
    if (index(path, '/') /= 1) path = map%path(:index(map%path, '/', back=.true.))//path
    call Remember(spreads, path)
    call TextOpen(file, path, 'receiver list', error)
    if (allocated(error)) then
      call FaultHere(problems, map, error%message)
      return
    end if
    spreads%longest = max(spreads%longest, len(file%text))
    before = problems%n
    nlists = 0
    current = 0
    do while (TextLine(file))
      if (.not. TextWord(file, word(1), word(2))) cycle
      if (Lower(file%text(word(1):word(2))) == 'list') then
        call EndList(spreads, current, problems)
        call NextList(spreads, only, file, current, problems)
        nlists = nlists + 1
      else
        if (nlists == 0) then                 ! a file of bare rows is the one list asked for
          if (only == '') then
            call FaultHere(problems, file, 'receivers before the first line "list NAME": whose are they?')
            return
          end if
          nlists = 1
          current = Number(spreads, only)
          call BeginList(spreads, current, file)
        end if
        call ReadReceiver(spreads, current, file, word, problems)
      end if
    end do
    call EndList(spreads, current, problems)
    if (problems%n > before) return
    if (nlists == 0) then
      call ProblemAdd(problems, path, 0, 'holds no receivers: lines "list NAME", then "channel x z [y]"')
    else if (only /= '') then
      if (spreads%item(Number(spreads, only))%kind == is_faulty) &
        call FaultHere(problems, map, 'no list '//Shown(only)//' in '//path// &
                       ': its lists have other names, give the spread one of these')
    end if
  end subroutine ReadListFile

  !> Begins the list of a line "list NAME": its number goes to `current`, 0 if it is not wanted or faulty.
  subroutine NextList(spreads, only, file, current, problems)
    type(spreads_t), intent(inout) :: spreads
    character(*), intent(in) :: only
    type(textfile_t), intent(inout) :: file
    integer, intent(out) :: current
    type(problems_t), intent(inout) :: problems
    character(:), allocatable :: name
    current = 0
    call ListName(file, name, problems)
    if (only == '') then
      current = Define(spreads, name, file, problems)
    else if (name == only) then
      current = Number(spreads, only)
      if (spreads%item(current)%kind == is_list) then
        call FaultHere(problems, file, 'list '//Shown(name)//' stands in this file twice')
        current = 0
      end if
    end if
    if (current > 0) call BeginList(spreads, current, file)
  end subroutine NextList

  !> The name in a line "list NAME".
  subroutine ListName(file, name, problems)
    type(textfile_t), intent(inout) :: file
    character(:), allocatable, intent(out) :: name
    type(problems_t), intent(inout) :: problems
    integer :: first, last
    name = ''
    if (TextWord(file, first, last)) name = file%text(first:last)
    if (TextWord(file, first, last)) &
      call FaultHere(problems, file, 'unexpected word '//Shown(file%text(first:last))//' after list NAME')
  end subroutine ListName

  subroutine BeginList(spreads, i, file)
    type(spreads_t), intent(inout) :: spreads
    integer, intent(in) :: i
    type(textfile_t), intent(in) :: file
    associate (s => spreads%item(i))
      s%kind = is_list
      s%start = spreads%npool
      s%n = 0
      s%line = file%line
      s%path = file%path
    end associate
  end subroutine BeginList

  !> Checks the list that ends here: not empty, no channel twice.
  subroutine EndList(spreads, i, problems)
    type(spreads_t), intent(inout) :: spreads
    integer, intent(in) :: i
    type(problems_t), intent(inout) :: problems
    integer, allocatable :: channels(:), order(:)
    character(:), allocatable :: name
    integer :: j, n
    if (i == 0) return
    name = trim(spreads%names%name(i))
    n = spreads%item(i)%n
    if (n == 0) then
      call ProblemAdd(problems, spreads%item(i)%path, spreads%item(i)%line, 'list '//Shown(name)//' has no receivers')
      return
    else if (n > channels_max) then
      call ProblemAdd(problems, spreads%item(i)%path, spreads%item(i)%line, 'list '//Shown(name)//' has '//Str(n)// &
                    ' receivers, at most '//Str(channels_max)//': split it, and its shots')
      return
    end if
    channels = spreads%channel(spreads%item(i)%start + 1:spreads%item(i)%start + n)
    if (all(channels(2:) > channels(:n - 1)) .or. all(channels(2:) < channels(:n - 1))) return
    call SortOrder(channels, order)
    do j = 2, n
      if (channels(order(j)) /= channels(order(j - 1))) cycle
      call ProblemAdd(problems, spreads%item(i)%path, spreads%item(i)%line, 'list '//Shown(name)//' has channel '// &
                    Str(channels(order(j)))//' more than once')
      return
    end do
  end subroutine EndList

  !> A line "channel x z [y [e n [h [line [station]]]]]" whose first word is at `first`; list 0 is checked but not kept.
  subroutine ReadReceiver(spreads, i, file, first, problems)
    type(spreads_t), intent(inout) :: spreads
    integer, intent(in) :: i, first(2)
    type(textfile_t), intent(inout) :: file
    type(problems_t), intent(inout) :: problems
    integer, parameter :: most = 8
    real(dp) :: x(3)
    integer :: word(2), words(2, most), channel, n, before
    character(1), parameter :: names(3) = ['x', 'z', 'y']
    before = problems%n
    channel = 0
    x = 0
    call WholeWord(file, first, 'channel', 1, huge(1), channel, problems)
    n = 0
    do while (TextWord(file, word(1), word(2)))
      n = n + 1
      if (n <= most) words(:, n) = word
      if (n <= 3) call RealWord(file, word, names(n), merge(-z_max, -x_max, n == 2), merge(z_max, x_max, n == 2), 'm', x(n), &
                                problems)
    end do
    if ((n < 2 .or. n == 4 .or. n > most) .and. problems%n == before) &
      call FaultHere(problems, file, Str(n + 1)//' columns; a receiver has 3 or 4: channel x z [y], or up to 9 with '// &
                     'navigation: channel x z y e n [h [line [station]]]')
    if (i == 0) return
    call Reserve(spreads)
    spreads%npool = spreads%npool + 1
    spreads%item(i)%n = spreads%item(i)%n + 1
    spreads%channel(spreads%npool) = merge(channel, spreads%item(i)%n, problems%n == before)
    spreads%x(spreads%npool) = x(1)
    spreads%z(spreads%npool) = x(2)
    spreads%y(spreads%npool) = x(3)
    if (n > 4 .and. problems%n == before) &
      call ReceiverPut(spreads%navigation, spreads%npool, size(spreads%x), file, words(:, 4:n), n - 3, problems)
  end subroutine ReadReceiver

  !> Room for one more receiver of a list.
  subroutine Reserve(spreads)
    type(spreads_t), intent(inout) :: spreads
    integer, allocatable :: whole(:)
    if (.not. allocated(spreads%channel)) allocate (spreads%channel(1024), spreads%x(1024), spreads%y(1024), spreads%z(1024))
    if (spreads%npool < size(spreads%channel)) return
    call move_alloc(spreads%channel, whole)
    allocate (spreads%channel(2*size(whole)))
    spreads%channel(:size(whole)) = whole
    call GrowReal(spreads%x)
    call GrowReal(spreads%y)
    call GrowReal(spreads%z)
  end subroutine Reserve

  subroutine GrowReal(a)
    real(dp), allocatable, intent(inout) :: a(:)
    real(dp), allocatable :: old(:)
    call move_alloc(a, old)
    allocate (a(2*size(old)))
    a(:size(old)) = old
  end subroutine GrowReal

  !> Number of receivers of spread i.
  pure integer function SpreadSize(spreads, i)
    type(spreads_t), intent(in) :: spreads
    integer, intent(in) :: i
    SpreadSize = spreads%item(i)%n
  end function SpreadSize

  !> Receivers of spread i for the source of `shot`: fills rx, ry, rz [m] and channel, each (n).
  subroutine SpreadExpand(spreads, i, shot)
    type(spreads_t), intent(in) :: spreads
    integer, intent(in) :: i
    type(shot_t), intent(inout) :: shot
    integer :: c, n
    associate (s => spreads%item(i))
      n = s%n
      if (s%kind == is_list) then
        shot%channel = spreads%channel(s%start + 1:s%start + n)
        shot%rx = spreads%x(s%start + 1:s%start + n)
        shot%ry = spreads%y(s%start + 1:s%start + n)
        shot%rz = spreads%z(s%start + 1:s%start + n)
      else
        shot%channel = [(c, c=1, n)]
        shot%rx = [(s%x0 + (c - 1)*s%dx, c=1, n)]
        shot%ry = [(s%y, c=1, n)]
        shot%rz = [(s%z, c=1, n)]
        if (s%kind == is_streamer) then
          shot%rx = shot%sx + shot%rx
          shot%ry = shot%sy
        end if
      end if
    end associate
  end subroutine SpreadExpand

  !> Receivers of spread i whose map coordinates its list gives.
  pure integer function SpreadKnown(spreads, i) result(known)
    type(spreads_t), intent(in) :: spreads
    integer, intent(in) :: i
    known = 0
    associate (s => spreads%item(i))
      if (s%kind == is_list) known = ReceiverKnown(spreads%navigation, s%start + 1, s%start + s%n)
    end associate
  end function SpreadKnown

  !> Navigation of the receivers of spread i, all of which must be known: what its list does not give stays as it is.
  pure subroutine SpreadMap(spreads, i, nav)
    type(spreads_t), intent(in) :: spreads
    integer, intent(in) :: i
    type(shot_navigation_t), intent(inout) :: nav
    call ReceiverGet(spreads%navigation, spreads%item(i)%start + 1, nav%re, nav%rn, nav%rh, nav%rline, nav%station)
  end subroutine SpreadMap

  !> Number of the line `name` of a shot, 0 for ''.
  integer function SpreadLine(spreads, name, file, problems) result(number)
    type(spreads_t), intent(inout) :: spreads
    character(*), intent(in) :: name
    type(textfile_t), intent(in) :: file
    type(problems_t), intent(inout) :: problems
    number = LineNumber(spreads%navigation%lines, name, file, problems)
  end function SpreadLine

  !> Names of the lines of sources and receivers, by their numbers.
  pure function SpreadLines(spreads) result(names)
    type(spreads_t), intent(in) :: spreads
    character(name_length), allocatable :: names(:)
    allocate (names(0))
    associate (t => spreads%navigation%lines)
      if (t%n > 0) names = t%name(:t%n)
    end associate
  end function SpreadLines

  !> File, line and name of a list, for faults of it.
  pure subroutine SpreadPlace(spreads, i, path, line, name)
    type(spreads_t), intent(in) :: spreads
    integer, intent(in) :: i
    character(:), allocatable, intent(out) :: path, name
    integer, intent(out) :: line
    path = spreads%item(i)%path
    line = spreads%item(i)%line
    name = trim(spreads%names%name(i))
  end subroutine SpreadPlace

  !> The i-th file of receiver lists that was read; '' beyond the last.
  function SpreadFiles(spreads, i) result(path)
    type(spreads_t), intent(in) :: spreads
    integer, intent(in) :: i
    character(:), allocatable :: path
    path = ''
    if (.not. allocated(spreads%files)) return
    if (i <= size(spreads%files)) path = spreads%files(i)%path
  end function SpreadFiles

  !> Memory that receiver lists take, and took while they were read [bytes].
  pure subroutine SpreadBytes(spreads, held, reading)
    type(spreads_t), intent(in) :: spreads
    real(dp), intent(out) :: held, reading
    integer, parameter :: receiver = 4 + 3*8
    held = ReceiverBytes(spreads%navigation)
    if (allocated(spreads%channel)) held = held + real(receiver, dp)*size(spreads%channel)
    reading = 1.15_dp*held + spreads%longest        ! x, y and z grow one after the other
  end subroutine SpreadBytes

  !> Fingerprint of the receivers of spread i: channels and positions, not the name.
  type(hash_t) function SpreadHash(spreads, i) result(hash)
    type(spreads_t), intent(in) :: spreads
    integer, intent(in) :: i
    type(shot_t) :: at_zero
    integer :: c
    call SpreadExpand(spreads, i, at_zero)
    call HashAdd(hash, merge(1, 0, spreads%item(i)%kind == is_streamer))   ! moves with the source
    do c = 1, size(at_zero%rx)
      call HashAdd(hash, at_zero%channel(c))
      call HashAdd(hash, at_zero%rx(c))
      call HashAdd(hash, at_zero%ry(c))
      call HashAdd(hash, at_zero%rz(c))
    end do
  end function SpreadHash

end module spread_m
