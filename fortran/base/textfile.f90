!> Text files that people write: read whole in one go, walked line by line and word by word without copying.
!>
!> A line ends with LF, CR LF or CR; a UTF-8 byte-order mark is skipped; blanks and tabs separate words; '#' starts a
!> comment; 'single' or "double" quotes keep blanks in a word. A word that an '=' follows (blanks allowed) is a key.
module textfile_m
  use kinds_m, only: dp, i8
  use error_m, only: error_t, Fail
  use path_c, only: path_folder, path_kind, path_other
  use text_m, only: CString, Lower, Str, ToReal
  implicit none
  private
  public :: textfile_t, TextOpen, TextLine, TextWord, TextNumbers, TextAdvice, TextAdvise, TitleAdvice, NumberOf, IntegerOf, Shown

  integer, parameter :: tab = 9, lf = 10, ff = 12, cr = 13
  integer, parameter :: byte_order_mark(3) = [239, 187, 191]
  integer, parameter :: bytes_max = 2000000000      !< positions in the text are default integers
  real(dp), parameter :: ten(0:22) = [1e0_dp, 1e1_dp, 1e2_dp, 1e3_dp, 1e4_dp, 1e5_dp, 1e6_dp, 1e7_dp, 1e8_dp, 1e9_dp, 1e10_dp, &
                                      1e11_dp, 1e12_dp, 1e13_dp, 1e14_dp, 1e15_dp, 1e16_dp, 1e17_dp, 1e18_dp, 1e19_dp, 1e20_dp, &
                                      1e21_dp, 1e22_dp]   !< powers of ten that are exact

  type :: textfile_t
    character(:), allocatable :: path
    character(:), allocatable :: text         !< the whole file
    integer :: line = 0                       !< number of the present line
    integer :: next = 1                       !< where the line after the present one begins
    integer :: at = 1, last = 0               !< cursor in the present line, and its last character
    logical :: unclosed = .false.             !< the last word began with a quote that never closes
  end type textfile_t

contains

  !> Reads the file at `path`; `what` names its kind in sentences ("key-map").
  subroutine TextOpen(file, path, what, error)
    type(textfile_t), intent(out) :: file
    character(*), intent(in) :: path, what
    type(error_t), allocatable, intent(inout) :: error
    character(5000) :: reason                 !< the runtime's message: the path, then what is wrong
    integer(i8) :: bytes
    integer :: unit, io, i
    file%path = trim(path)
    if (file%path == '') then
      call Fail(error, 'no '//what//' given: name its file')
      return
    end if
    select case (path_kind(CString(file%path)))
    case (path_folder)
      call Fail(error, what//' '//file%path//' is a folder: give the name of a text file')
      return
    case (path_other)                         ! to open a pipe would wait for a writer
      call Fail(error, what//' '//file%path//' is a pipe or a device, not a file on disk: give the name of a text file')
      return
    end select
    open (newunit=unit, file=file%path, access='stream', form='unformatted', status='old', action='read', iostat=io, iomsg=reason)
    if (io /= 0) then
      call Fail(error, what//' '//file%path//' cannot be opened: '//Cause(reason))
      return
    end if
    inquire (unit=unit, size=bytes)
    if (bytes > bytes_max) then
      call Fail(error, what//' '//file%path//' has '//Str(bytes)//' bytes, more than '//Str(bytes_max)//': is this the right file?')
    else if (bytes <= 0) then
      call Fail(error, what//' '//file%path//' is empty')
    else
      allocate (character(bytes) :: file%text)
      read (unit, iostat=io, iomsg=reason) file%text
      if (io /= 0) call Fail(error, what//' '//file%path//' cannot be read: '//Cause(reason))
    end if
    close (unit)
    if (allocated(error)) return
    call CheckText(file, what, error)
    if (len(file%text) >= 3) then
      if (all([(ichar(file%text(i:i)), i=1, 3)] == byte_order_mark)) file%next = 4
    end if
  end subroutine TextOpen

  !> The system's reason without the runtime's "Cannot open file 'x':", which repeats the name.
  pure function Cause(reason) result(short)
    character(*), intent(in) :: reason
    character(:), allocatable :: short
    integer :: p
    p = index(reason, ''': ')
    short = trim(reason)
    if (index(reason, 'Cannot open file') == 1 .and. p > 0) short = trim(reason(p + 3:))
  end function Cause

  !> Refuses control characters that no text has: an SEG-Y, NetCDF or UTF-16 file given by mistake.
  subroutine CheckText(file, what, error)
    type(textfile_t), intent(in) :: file
    character(*), intent(in) :: what
    type(error_t), allocatable, intent(inout) :: error
    integer :: i, c
    do i = 1, len(file%text)
      c = ichar(file%text(i:i))
      if (c >= 32 .or. c == tab .or. c == lf .or. c == ff .or. c == cr) cycle
      call Fail(error, what//' '//file%path//' is not plain text: byte '//Str(i)//' is '//Str(c)// &
                '; is this the right file? (text must be ASCII or UTF-8)')
      return
    end do
  end subroutine CheckText

  !> Goes to the next line that holds a word; false at the end of the file.
  logical function TextLine(file) result(found)
    type(textfile_t), intent(inout) :: file
    integer :: i, n
    found = .false.
    n = len(file%text)
    do while (file%next <= n .and. .not. found)
      file%line = file%line + 1
      file%at = file%next
      i = file%next
      do while (i <= n)
        if (file%text(i:i) == achar(lf) .or. file%text(i:i) == achar(cr)) exit
        i = i + 1
      end do
      file%last = i - 1
      if (i < n) then
        if (file%text(i:i + 1) == achar(cr)//achar(lf)) i = i + 1
      end if
      file%next = i + 1
      call SkipBlanks(file)
      if (file%at <= file%last) found = file%text(file%at:file%at) /= '#'
    end do
  end function TextLine

  pure subroutine SkipBlanks(file)
    type(textfile_t), intent(inout) :: file
    do while (file%at <= file%last)
      if (.not. IsBlank(file%text(file%at:file%at))) exit
      file%at = file%at + 1
    end do
  end subroutine SkipBlanks

  pure logical function IsBlank(c)
    character, intent(in) :: c
    IsBlank = c == ' ' .or. c == achar(tab) .or. c == achar(ff)
  end function IsBlank

  !> The end of a refusal of the present line whose columns commas or semicolons seem to part, or decimals, with blanks or minus
  !> signs that are not ASCII, or a remark as others write it: '' if none of it. What stands in quotes, brackets, comments
  !> and names parts nothing.
  pure function TextAdvice(file) result(advice)
    type(textfile_t), intent(in) :: file
    character(:), allocatable :: advice, line
    character(*), parameter :: remarks(3) = [character(3) :: ' !', ' %', ' //']
    !> UTF-8 of blanks that break no line, wide and narrow, of the minus sign, and of the dash
    character(*), parameter :: printed(4) = [char(194)//char(160)//' ', char(226)//char(128)//char(175), &
                                             char(226)//char(136)//char(146), char(226)//char(128)//char(147)]
    integer :: first, last, start
    advice = ''
    line = BareLine(file%text(scan(file%text(:file%last), achar(lf)//achar(cr), back=.true.) + 1:file%last))//' '
    start = verify(line, ' ')
    last = max(0, start - 1)
    do while (last < len_trim(line))
      first = last + verify(line(last + 1:), ' ')
      last = first - 2 + scan(line(first:), ' ')
      if (.not. Parted(line(first:last), first == start, last == len_trim(line))) cycle
      advice = '; columns are parted by blanks, not by commas or semicolons, and decimals have a point'
      return
    end do
    if (Holds(' '//line, remarks)) advice = '; a remark begins with #'
    if (Holds(line, printed)) advice = '; a blank or a minus sign there is not ASCII, as in printed texts: write plain ones'

  contains

    pure logical function Holds(text, marks)
      character(*), intent(in) :: text, marks(:)
      integer :: i
      Holds = any([(index(text, trim(marks(i))) > 0, i=1, size(marks))])
    end function Holds

  end function TextAdvice

  !> A line without its comment, blanks for tabs and '=', and letters for what stands in quotes or brackets.
  pure function BareLine(text) result(line)
    character(*), intent(in) :: text
    character(:), allocatable :: line
    integer :: i, n, depth
    character :: c, quote
    allocate (character(len(text)) :: line)   ! at once: a line may have a million characters
    n = 0
    depth = 0
    quote = ' '
    do i = 1, len(text)
      c = text(i:i)
      if (quote /= ' ') then
        if (c == quote) quote = ' '
        cycle
      end if
      if (c == '#') exit
      if (IsBlank(c) .or. c == '=') c = ' '
      if (scan(c, '''"') > 0 .and. line(max(1, n):n) == '') then
        quote = c
        c = 'q'
      end if
      depth = max(0, depth + merge(1, 0, c == '(') - merge(1, 0, c == ')'))
      n = n + 1
      line(n:n) = merge(c, 'b', depth == 0)
    end do
    line = line(:n)
  end function BareLine

  !> True for a word that begins as numbers do and holds commas or semicolons, or has them at an end; of the first word of a line
  !> also where a number follows one, or where it is the last word.
  pure logical function Parted(word, at_start, at_end)
    character(*), intent(in) :: word
    logical, intent(in) :: at_start, at_end
    character(*), parameter :: marks = ',;', number = '0123456789+-.'
    integer :: n, i
    n = len(word)
    Parted = .false.
    if (scan(word, marks) == 0) return
    Parted = scan(word(1:1)//word(n:n), marks) > 0 .or. scan(word(1:1), number) > 0
    if (.not. at_start) return
    Parted = Parted .or. at_end .or. any([(scan(word(i:i), marks) > 0 .and. scan(word(i + 1:i + 1), number) > 0, i=1, n - 1)])
  end function Parted

  !> The end of a refusal of a `word` that should be a number and has letters alone: '' if it has others.
  pure function TitleAdvice(word) result(advice)
    character(*), intent(in) :: word
    character(:), allocatable :: advice
    advice = ''
    if (any(Lower(word) == [character(8) :: 'nan', 'inf', 'infinity'])) return
    if (len(word) > 0 .and. verify(word, 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_[](),;/') == 0) &
      advice = '; a line of titles begins with #'
  end function TitleAdvice

  !> Puts TextAdvice behind an error of the present line.
  pure subroutine TextAdvise(file, error)
    type(textfile_t), intent(in) :: file
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: advice
    if (.not. allocated(error)) return
    advice = TextAdvice(file)
    if (index(error%message, advice) == 0) error%message = error%message//advice    ! a file that the line names may have it too
  end subroutine TextAdvise

  !> The numbers of the rest of the line, at most size(v): `found` of them, v is 0 behind. Stops at a word that is none, or whose
  !> absolute value is above `most`: `bad`, as messages show it; '' = there was none.
  subroutine TextNumbers(file, v, found, bad, most)
    type(textfile_t), intent(inout) :: file
    real(dp), intent(out) :: v(:)
    integer, intent(out) :: found
    character(:), allocatable, intent(out) :: bad
    real(dp), intent(in), optional :: most
    integer :: first, last
    logical :: ok
    found = 0
    v = 0
    bad = ''
    do while (found < size(v))
      if (.not. TextWord(file, first, last)) return
      call NumberOf(file%text(first:last), v(found + 1), ok)
      if (ok .and. present(most)) ok = abs(v(found + 1)) <= most
      if (.not. ok) bad = Shown(file%text(first:last))
      if (.not. ok) return
      found = found + 1
    end do
  end subroutine TextNumbers

  !> Next word of the line: file%text(first:last). `key` tells that an '=' follows, which is passed over.
  logical function TextWord(file, first, last, key) result(found)
    type(textfile_t), intent(inout) :: file
    integer, intent(out) :: first, last
    logical, intent(out), optional :: key
    character :: c
    if (present(key)) key = .false.
    file%unclosed = .false.
    call SkipBlanks(file)
    first = file%at
    last = file%at - 1
    found = .false.
    if (file%at > file%last) return
    c = file%text(file%at:file%at)
    if (c == '#') return
    found = .true.
    if (c == '''' .or. c == '"') then
      first = first + 1
      last = index(file%text(first:file%last), c) + first - 2
      file%unclosed = last < first - 1
      if (file%unclosed) last = file%last
      file%at = last + 2
    else if (c == '=') then                   ! an '=' without a key stands for itself
      file%at = file%at + 1
      last = first
    else
      do while (file%at <= file%last)
        c = file%text(file%at:file%at)
        if (IsBlank(c) .or. c == '=' .or. c == '#') exit
        file%at = file%at + 1
      end do
      last = file%at - 1
    end if
    if (.not. present(key)) return
    call SkipBlanks(file)
    if (file%at > file%last) return
    key = file%text(file%at:file%at) == '='
    if (key) file%at = file%at + 1
  end function TextWord

  !> Text to a finite number; false for anything that is not one plain decimal number ("1-2", "2*3", "nan").
  !>
  !> Up to 15 digits without exponent: digits and power of ten are exact, so one division rounds correctly
  !> (Clinger 1990), which is what makes a million receiver lines quick. The rest goes the long way.
  pure subroutine NumberOf(s, value, ok)
    character(*), intent(in) :: s
    real(dp), intent(out) :: value
    logical, intent(out) :: ok
    integer(i8) :: digits
    integer :: i, d, n, decimals
    logical :: negative, point
    value = 0
    digits = 0
    n = 0
    decimals = 0
    point = .false.
    negative = .false.
    ok = .false.
    do i = 1, len(s)
      d = ichar(s(i:i)) - ichar('0')
      if (d >= 0 .and. d <= 9) then
        n = n + 1
        if (n <= 15) digits = 10*digits + d
        if (point) decimals = decimals + 1
      else if (s(i:i) == '.' .and. .not. point) then
        point = .true.
      else if ((s(i:i) == '-' .or. s(i:i) == '+') .and. i == 1) then
        negative = s(i:i) == '-'
      else if (scan(s(i:i), 'eEdD') == 1 .and. n > 0) then
        ok = IsExponent(s(i + 1:), n)
        if (ok) call ToReal(s, value, ok)
        return
      else
        return
      end if
    end do
    ok = n > 0
    if (n > 15) then
      ok = n <= 300
      if (ok) call ToReal(s, value, ok)
    else
      value = real(digits, dp)/ten(decimals)
      if (negative) value = -value
    end if
  end subroutine NumberOf

  !> True where `s` is an exponent that leaves a number of n digits far from overflow.
  pure logical function IsExponent(s, n)
    character(*), intent(in) :: s
    integer, intent(in) :: n
    integer(i8) :: exponent
    call IntegerOf(s, exponent, IsExponent)
    IsExponent = IsExponent .and. n <= 300 .and. exponent <= 300 - n
  end function IsExponent

  !> Text to a whole number of any size up to 18 digits; false for anything else.
  pure subroutine IntegerOf(s, value, ok)
    character(*), intent(in) :: s
    integer(i8), intent(out) :: value
    logical, intent(out) :: ok
    integer :: i, first
    value = 0
    first = 1
    if (len(s) > 0) then
      if (s(1:1) == '-' .or. s(1:1) == '+') first = 2
    end if
    ok = len(s) >= first .and. verify(s(first:), '0123456789') == 0
    if (.not. ok) return
    i = first
    do while (i < len(s) .and. s(i:i) == '0')
      i = i + 1
    end do
    if (len(s) - i >= 18) then
      value = huge(value)                     ! out of every range we ask for
    else
      do i = i, len(s)
        value = 10*value + ichar(s(i:i)) - ichar('0')
      end do
    end if
    if (s(1:1) == '-') value = -value
  end subroutine IntegerOf

  !> A word as it is quoted in a sentence: 'word', shortened when very long.
  pure function Shown(word) result(s)
    character(*), intent(in) :: word
    character(:), allocatable :: s
    integer :: n
    if (len(word) <= 48) then
      s = ''''//word//''''
    else
      n = 40
      do while (n > 1 .and. ichar(word(n + 1:n + 1)) >= 128 .and. ichar(word(n + 1:n + 1)) < 192)    ! not inside a UTF-8 letter
        n = n - 1
      end do
      s = ''''//word(:n)//'...'' ('//Str(len(word))//' characters)'
    end if
  end function Shown

end module textfile_m
