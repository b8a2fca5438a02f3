!> Reads settings `name = value` from the command line and from a parameter file, plain or Fortran namelist.
!>
!> Knows nothing of what the names mean. Problems are collected, reading goes on behind them.
module parameter_file_m
  use parameter_words_m, only: blanks, Controls, cursor_t, Here, IsName, line_ends, LineEnd, Quoted, QuoteEnd, Shown, SkipBlank, &
                         SkipLine, SkipLineEnd, Strip, TakeToken, Unquoted
  use error_m, only: error_t, FailFromC
  use problems_m, only: problems_t, ProblemAdd
  use path_c, only: path_input
  use text_m, only: CString, Lower, Str
  implicit none
  private
  public :: deck_t, DeckArguments, DeckText, DeckCommandLine, DeckOrigin

  integer, parameter :: file_limit = 1000000   !< bytes of a parameter file: keeps a model from being read as one

  type :: setting_t
    character(:), allocatable :: name         !< lower case
    character(:), allocatable :: value        !< without quotes
    integer :: line = 0                       !< line of the parameter file; 0 = command line
    logical :: used = .false.                 !< some parameter has this name
  end type setting_t

  type :: deck_t
    integer :: n = 0                          !< settings read
    type(setting_t), allocatable :: setting(:)  !< (at least n), in the order read
    character(:), allocatable :: path         !< the parameter file; unallocated = none
    logical :: unread = .false.               !< a parameter file was meant, but its settings are not known
    type(problems_t) :: problems
  end type deck_t

contains

  !> All words of the command line, (number of words), blank-padded.
  function DeckCommandLine() result(args)
    character(:), allocatable :: args(:)
    integer :: i, n, longest
    longest = 1
    do i = 1, command_argument_count()
      call get_command_argument(i, length=n)
      longest = max(longest, n)
    end do
    allocate (character(longest) :: args(command_argument_count()))
    do i = 1, size(args)
      call get_command_argument(i, args(i))
    end do
  end function DeckCommandLine

  !> Words `name=value` of a command line; `par=FILE`, once, names the parameter file, which is read too.
  subroutine DeckArguments(deck, args)
    type(deck_t), intent(inout) :: deck
    character(*), intent(in) :: args(:)
    integer :: i
    do i = 1, size(args)
      call ReadArgument(deck, trim(args(i)))
    end do
  end subroutine DeckArguments

  subroutine ReadArgument(deck, arg)
    type(deck_t), intent(inout) :: deck
    character(*), intent(in) :: arg
    character(:), allocatable :: name, value, problem
    integer :: p
    p = index(arg, '=')
    if (p == 0) then
      call NoSetting(deck, arg)
      return
    end if
    name = Lower(Strip(arg(:p - 1)))
    value = Strip(arg(p + 1:))
    if (Controls(arg) > 0 .or. scan(arg, line_ends) > 0) then
      call ProblemAdd(deck%problems, "'"//Shown(arg)//"' (command line) holds a control character: give plain text")
    else if (.not. IsName(name)) then
      call ProblemAdd(deck%problems, "'"//Shown(arg)// &
                      "' (command line) does not start with a name: write name=value without dashes")
    else
      if (Quoted(value)) then
        call TakeQuoted(arg(p + 1:), value, problem)
        if (allocated(problem)) then
          call ProblemAdd(deck%problems, name//' = '//Shown(arg(p + 1:))//' (command line) '//problem)
          return
        end if
      end if
      if (name == 'par') then
        call ParameterFile(deck, value)
      else
        call Put(deck, name, value, 0)
      end if
    end if
  end subroutine ReadArgument

  subroutine ParameterFile(deck, path)
    type(deck_t), intent(inout) :: deck
    character(*), intent(in) :: path
    if (allocated(deck%path)) then
      call ProblemAdd(deck%problems, 'par = '//Shown(path)//' (command line) is a second parameter file after '// &
                    Shown(deck%path)//': give one, and change single parameters by name=value')
    else if (path == '') then
      call ProblemAdd(deck%problems, 'par (command line) has no value: write par=FILE')
    else
      call DeckFile(deck, path)
    end if
  end subroutine ParameterFile

  !> A word of the command line without '=': says what may have been meant.
  subroutine NoSetting(deck, arg)
    type(deck_t), intent(inout) :: deck
    character(*), intent(in) :: arg
    character(:), allocatable :: advice
    integer :: n
    n = len(arg)
    if (index(arg, '-') == 1) then
      advice = 'such an option is not known here; --help tells what is'
    else if (arg(max(1, n - 3):) == '.par') then
      advice = 'a parameter file is given as par='//Shown(arg)
      deck%unread = .true.
    else if (arg(max(1, n - 2):) == '.nc') then
      advice = 'the output of a run is given as output='//Shown(arg)//', a model as vp='//Shown(arg)
    else if (IsName(arg)) then
      advice = 'give it a value, '//Shown(arg)//'=...; a verb stands before all parameters'
    else
      advice = 'write parameters as name=value without blanks around ='
    end if
    call ProblemAdd(deck%problems, "'"//Shown(arg)//"' (command line) is not name=value: "//advice)
  end subroutine NoSetting

  !> Reads the parameter file `path`, plain or namelist.
  subroutine DeckFile(deck, path)
    type(deck_t), intent(inout) :: deck
    character(*), intent(in) :: path
    type(error_t), allocatable :: error
    character(:), allocatable :: text
    character(5000) :: reason                !< holds a path
    integer :: unit, size, io
    deck%path = path
    call FailFromC(path_input(CString(path)), error)
    deck%unread = .true.
    if (allocated(error)) then
      call ProblemAdd(deck%problems, 'par = '//Shown(path)//' (command line): '//error%message//'; give the path of a text file')
      return
    end if
    inquire (file=path, size=size)
    if (size > file_limit .or. size < 0) then
      call ProblemAdd(deck%problems, 'par = '//Shown(path)//' (command line) has more than '//Str(file_limit)// &
                    ' bytes: a parameter file is a short text')
      return
    end if
    allocate (character(size) :: text)
    open (newunit=unit, file=path, access='stream', form='unformatted', action='read', status='old', iostat=io, iomsg=reason)
    if (io == 0) then
      read (unit, iostat=io, iomsg=reason) text
      close (unit)
    end if
    if (io == 0) then
      call DeckText(deck, text, path)
    else
      call ProblemAdd(deck%problems, 'par = '//Shown(path)//' (command line) cannot be read: '//trim(reason))
    end if
  end subroutine DeckFile

  !> Reads the text of a parameter file; `path` is what messages call it. CRLF, CR or LF end a line; a UTF-8 mark is skipped.
  subroutine DeckText(deck, text, path)
    type(deck_t), intent(inout) :: deck
    character(*), intent(in) :: text, path
    type(cursor_t) :: c
    integer :: bad
    deck%path = path
    if (index(text, char(239)//char(187)//char(191)) == 1) c%at = 4
    bad = Controls(text)
    if (bad > 0) then
      call ProblemAdd(deck%problems, Shown(path)//' is not a plain text file: byte '//Str(bad)//' has the code '// &
                    Str(iachar(text(bad:bad)))//'; save it as ASCII or UTF-8 text')
      return
    end if
    deck%unread = .false.
    if (IsNamelist(text, c)) then
      call ReadNamelist(deck, text, c)
    else
      call ReadPlain(deck, text, c)
    end if
  end subroutine DeckText

  ! --- plain text -----------------------------------------------------------------------------------------------------

  subroutine ReadPlain(deck, text, c)
    type(deck_t), intent(inout) :: deck
    character(*), intent(in) :: text
    type(cursor_t), intent(inout) :: c
    integer :: last
    do while (c%at <= len(text))
      last = LineEnd(text, c%at)
      call ReadLine(deck, Strip(text(c%at:last)), c%line)
      c%at = last + 1
      call SkipLineEnd(text, c)
    end do
  end subroutine ReadPlain

  !> `name = value # comment`; `line` has no blanks around it.
  subroutine ReadLine(deck, line, number)
    type(deck_t), intent(inout) :: deck
    character(*), intent(in) :: line
    integer, intent(in) :: number
    character(:), allocatable :: name, value, rest, problem
    integer :: p
    if (line == '') return
    if (line(1:1) == '#') return
    p = index(line, '=')
    name = ''
    if (p > 0) name = Lower(Strip(line(:p - 1)))
    if (.not. IsName(name)) then
      problem = ' is not name = value'
      if (scan(line(1:1), '!%;/') > 0) problem = problem//'; comments start with #'
      call ProblemAdd(deck%problems, "'"//Shown(line)//"' ("//At(deck, number)//')'//problem)
      return
    end if
    rest = Strip(line(p + 1:))
    if (Quoted(rest)) then
      call TakeQuoted(rest, value, problem)
    else
      call TakeBare(rest, value, problem)
    end if
    if (allocated(problem)) then
      call ProblemAdd(deck%problems, name//' = '//Shown(rest)//' ('//At(deck, number)//') '//problem)
    else
      call PutFromFile(deck, name, value, number)
    end if
  end subroutine ReadLine

  !> The value of a quoted text `rest`; a quote inside is written twice. Only a comment may follow.
  pure subroutine TakeQuoted(rest, value, problem)
    character(*), intent(in) :: rest
    character(:), allocatable, intent(out) :: value, problem
    character(:), allocatable :: tail
    integer :: i, first
    first = verify(rest, blanks)
    call QuoteEnd(rest, first, i)
    if (i == 0) then
      problem = 'has no closing quote: end the text with '//rest(first:first)
      return
    end if
    value = Unquoted(rest(first:i))
    tail = Strip(rest(i + 1:))
    if (tail == '') return
    if (tail(1:1) /= '#') problem = 'goes on behind the closing quote: write a quote inside the text twice'
    if (scan(tail(1:1), '!%;') > 0 .or. index(tail, '//') == 1) &
      problem = 'goes on behind the closing quote: comments start with # outside a namelist'
    if (tail(1:1) == ',' .or. tail == ';') problem = 'goes on behind the closing quote: one value a line, no comma behind it'
  end subroutine TakeQuoted

  pure subroutine TakeBare(rest, value, problem)
    character(*), intent(in) :: rest
    character(:), allocatable, intent(out) :: value, problem
    integer :: p
    p = index(rest, '#')
    value = rest
    if (p > 0) value = rest(:p - 1)
    value = Strip(value)
    p = ForeignComment(value)
    if (p > 0) then
      problem = 'goes on with '//value(p:p + merge(1, 0, value(p:p) == '/'))// &
                ': comments start with # outside a namelist; quote the value if this belongs to it'
    else if (index(value, '=') > 0) then
      problem = 'holds a second =: one parameter a line; quote the value if = belongs to it'
    else if (value /= '' .and. scan(value, ',;', back=.true.) == len(value)) then
      problem = 'ends with '//value(len(value):)//': one value a line, no comma behind it; quote the value if this belongs to it'
    end if
  end subroutine TakeBare

  !> The place at which a comment of other languages begins, a blank before ! % ; or //; 0 = there is none.
  pure integer function ForeignComment(value) result(p)
    character(*), intent(in) :: value
    do p = 2, len(value)
      if (scan(value(p - 1:p - 1), blanks) == 0) cycle
      if (scan(value(p:p), '!%;') > 0 .or. index(value(p:), '//') == 1) return
    end do
    p = 0
  end function ForeignComment

  ! --- namelist -------------------------------------------------------------------------------------------------------

  !> Does the first character behind blanks and comments open a namelist group? Leaves `c` where it is.
  logical function IsNamelist(text, c)
    character(*), intent(in) :: text
    type(cursor_t), intent(in) :: c
    type(cursor_t) :: d
    d = c
    call SkipBlank(text, d)
    IsNamelist = scan(Here(text, d), '&$') > 0
  end function IsNamelist

  !> `&job  name = value, ...  /`; values are single, texts may be quoted.
  subroutine ReadNamelist(deck, text, c)
    type(deck_t), intent(inout) :: deck
    character(*), intent(in) :: text
    type(cursor_t), intent(inout) :: c
    character(:), allocatable :: group
    call SkipBlank(text, c)
    c%at = c%at + 1
    call TakeToken(text, c, group)
    if (Lower(group) /= 'job') call ProblemAdd(deck%problems, 'the namelist group '//Shown('&'//group)//' ('//At(deck, c%line)// &
                                             ') is not known: call it &job')
    do
      call SkipBlank(text, c, commas=.true.)
      if (c%at > len(text)) then
        call ProblemAdd(deck%problems, 'the namelist &job in '//Shown(deck%path)//' is not closed: end it with /')
        return
      end if
      if (Here(text, c) == '/') exit
      if (scan(Here(text, c), '&$') > 0) then
        if (Lower(text(c%at + 1:min(len(text), c%at + 3))) == 'end') exit
      end if
      call ReadPair(deck, text, c)
    end do
    c%at = c%at + merge(1, 4, Here(text, c) == '/')
    call SkipBlank(text, c)
    if (c%at <= len(text)) call ProblemAdd(deck%problems, Shown(text(c%at:LineEnd(text, c%at)))//' ('//At(deck, c%line)// &
                                         ') stands behind the end of the namelist: keep all parameters in one group')
  end subroutine ReadNamelist

  !> One `name = value` of a namelist. Anything else is told and skipped to the end of its line.
  subroutine ReadPair(deck, text, c)
    type(deck_t), intent(inout) :: deck
    character(*), intent(in) :: text
    type(cursor_t), intent(inout) :: c
    character(:), allocatable :: name, value, problem
    type(cursor_t) :: start
    start = c
    call TakeToken(text, c, name)
    name = Lower(name)
    call SkipBlank(text, c)
    if (Here(text, c) /= '=' .or. .not. IsName(name)) then
      c = start
      call ProblemAdd(deck%problems, Shown(text(c%at:LineEnd(text, c%at)))//' ('//At(deck, c%line)// &
                    ') is not name = value; a parameter has one value, a list is one quoted text')
      call SkipLine(text, c)
      return
    end if
    c%at = c%at + 1
    call SkipBlank(text, c)
    call TakeValue(text, c, value, problem)
    if (allocated(problem)) then
      call ProblemAdd(deck%problems, name//value//' ('//At(deck, start%line)//') '//problem)
    else
      call PutFromFile(deck, name, value, start%line)
    end if
  end subroutine ReadPair

  !> The value at the cursor, up to a comma, a blank, a comment or the closing slash. With a problem: what to show of it.
  subroutine TakeValue(text, c, value, problem)
    character(*), intent(in) :: text
    type(cursor_t), intent(inout) :: c
    character(:), allocatable, intent(out) :: value, problem
    type(cursor_t) :: next
    integer :: last, p
    if (Quoted(Here(text, c))) then
      call QuoteEnd(text(:LineEnd(text, c%at)), c%at, last)
      if (last == 0) then
        problem = 'has no closing quote in its line: end the text with '//Here(text, c)
        value = ' = '//Shown(text(c%at:LineEnd(text, c%at)))
        call SkipLine(text, c)
      else
        value = Unquoted(text(c%at:last))
        c%at = last + 1
      end if
      return
    end if
    next = c
    call TakeToken(text, next, value)
    p = index(value, '/')
    if (p > 0 .and. p < len(value)) then
      problem = 'holds a /, which ends a namelist: quote the value'
      value = ' = '//Shown(value)
      c = next
      return
    end if
    if (p > 0) then
      value = value(:p - 1)
      next%at = next%at - 1
    end if
    last = next%at
    call SkipBlank(text, next)
    if (value == '' .or. Here(text, next) == '=') then
      problem = 'has no value: write one, or '''' for an empty text'
      value = ''
    else
      c%at = last
    end if
  end subroutine TakeValue

  ! --- settings -------------------------------------------------------------------------------------------------------

  subroutine PutFromFile(deck, name, value, line)
    type(deck_t), intent(inout) :: deck
    character(*), intent(in) :: name, value
    integer, intent(in) :: line
    if (name == 'par') then
      call ProblemAdd(deck%problems, 'par = '//Shown(value)//' ('//At(deck, line)// &
                    '): a parameter file cannot name another; put all into one file')
    else
      call Put(deck, name, value, line)
    end if
  end subroutine PutFromFile

  subroutine Put(deck, name, value, line)
    type(deck_t), intent(inout) :: deck
    character(*), intent(in) :: name, value
    integer, intent(in) :: line
    type(setting_t), allocatable :: more(:)
    if (.not. allocated(deck%setting)) allocate (deck%setting(16))
    if (deck%n == size(deck%setting)) then
      allocate (more(2*deck%n))
      more(:deck%n) = deck%setting
      call move_alloc(more, deck%setting)
    end if
    deck%n = deck%n + 1
    deck%setting(deck%n) = setting_t(name=name, value=value, line=line)
  end subroutine Put

  !> 'command line' or 'FILE:LINE'.
  pure function DeckOrigin(deck, i) result(origin)
    type(deck_t), intent(in) :: deck
    integer, intent(in) :: i
    character(:), allocatable :: origin
    origin = 'command line'
    if (deck%setting(i)%line > 0) origin = At(deck, deck%setting(i)%line)
  end function DeckOrigin

  pure function At(deck, line) result(place)
    type(deck_t), intent(in) :: deck
    integer, intent(in) :: line
    character(:), allocatable :: place
    place = Shown(deck%path)//':'//Str(line)
  end function At

end module parameter_file_m
