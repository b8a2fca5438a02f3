!> Reads lines of spreads, streamers and fixed lines, and knows which names are defined and used. Arguments stand in spread.f90.
submodule(spread_m) spread_read
  use keymap_line_m, only: mapline_t, FaultHere, MaplineInt, MaplineKeys, MaplineRead, MaplineReal, MaplineWord
  use nametable_m, only: NameNumber
  use problems_m, only: ProblemAdd
  use text_m, only: Lower, NearestName, Str
  use textfile_m, only: Shown
  implicit none

  character(8), parameter :: kinds(3) = [character(8) :: 'streamer', 'fixed', 'list']

contains

  module procedure SpreadRead
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

  end procedure SpreadRead

  subroutine NoMoreWords(line, file, n, problems)
    type(mapline_t), intent(in) :: line
    type(textfile_t), intent(in) :: file
    integer, intent(in) :: n
    type(problems_t), intent(inout) :: problems
    if (line%nwords > n) call FaultHere(problems, file, 'unexpected word '// &
                                       Shown(MaplineWord(line, file, n + 1))//': values are written name=value')
  end subroutine NoMoreWords

  module procedure Define
    i = 0
    if (name == '') then
      call FaultHere(problems, file, 'a name is missing: spread NAME KIND ..., or list NAME')
      return
    else if (TooLong(name, file, problems)) then
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
  end procedure Define

  module procedure Number
    type(spread_t), allocatable :: old(:)
    Number = NameNumber(spreads%names, name)
    if (.not. allocated(spreads%item)) allocate (spreads%item(32))
    if (Number <= size(spreads%item)) return
    call move_alloc(spreads%item, old)
    allocate (spreads%item(2*size(old)))
    spreads%item(:size(old)) = old
  end procedure Number

  !> A name of more characters than are kept, which is a problem.
  logical function TooLong(name, file, problems)
    character(*), intent(in) :: name
    type(textfile_t), intent(in) :: file
    type(problems_t), intent(inout) :: problems
    TooLong = len(name) > name_length
    if (TooLong) call FaultHere(problems, file, 'the name '//Shown(name)//' is longer than '//Str(name_length)//' characters')
  end function TooLong

  module procedure SpreadUse
    i = 0
    if (TooLong(name, file, problems)) return
    i = Number(spreads, name)
    if (spreads%item(i)%uses == 0) spreads%item(i)%used_line = file%line
    spreads%item(i)%uses = spreads%item(i)%uses + 1
  end procedure SpreadUse

  module procedure SpreadsCheck
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
  end procedure SpreadsCheck

end submodule spread_read
