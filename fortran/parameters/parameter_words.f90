!> Characters, words and quotes of a parameter file; what stands where in its text, not what it means.
module parameter_words_m
  implicit none
  private
  public :: cursor_t, blanks, line_ends, Here, LineEnd, SkipBlank, SkipLine, SkipLineEnd, TakeToken
  public :: Quoted, QuotedText, QuoteEnd, Unquoted, IsName, Strip, Controls, Shown

  character(*), parameter :: blanks = ' '//achar(9)
  character(*), parameter :: line_ends = achar(10)//achar(13)
  character(*), parameter :: letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
  character(*), parameter :: digits = '0123456789'

  !> Position of the reader in a text.
  type :: cursor_t
    integer :: at = 1, line = 1
  end type cursor_t

contains

  !> Moves behind blanks, line ends, comments and, if asked, commas.
  subroutine SkipBlank(text, c, commas)
    character(*), intent(in) :: text
    type(cursor_t), intent(inout) :: c
    logical, intent(in), optional :: commas
    do while (c%at <= len(text))
      if (scan(text(c%at:c%at), '#!') > 0) then
        c%at = LineEnd(text, c%at) + 1
      else if (scan(text(c%at:c%at), line_ends) > 0) then
        call SkipLineEnd(text, c)
      else if (scan(text(c%at:c%at), blanks) > 0) then
        c%at = c%at + 1
      else if (text(c%at:c%at) == ',' .and. present(commas)) then
        c%at = c%at + 1
      else
        exit
      end if
    end do
  end subroutine SkipBlank

  !> Moves behind the line, but not behind a slash at its end, which may well close the namelist.
  subroutine SkipLine(text, c)
    character(*), intent(in) :: text
    type(cursor_t), intent(inout) :: c
    integer :: last, end
    end = LineEnd(text, c%at)
    last = c%at - 1 + verify(text(c%at:end), blanks, back=.true.)
    c%at = end + 1
    if (last > 0) c%at = merge(last, end + 1, text(last:last) == '/')
  end subroutine SkipLine

  !> The characters at the cursor up to a blank, line end, comma, =, quote or comment.
  subroutine TakeToken(text, c, token)
    character(*), intent(in) :: text
    type(cursor_t), intent(inout) :: c
    character(:), allocatable, intent(out) :: token
    integer :: n
    n = scan(text(c%at:), blanks//line_ends//',=''"!#') - 1
    if (n < 0) n = len(text) - c%at + 1
    token = text(c%at:c%at + n - 1)
    c%at = c%at + n
  end subroutine TakeToken

  !> The character at the cursor; a blank behind the end.
  pure character function Here(text, c)
    character(*), intent(in) :: text
    type(cursor_t), intent(in) :: c
    Here = ' '
    if (c%at <= len(text)) Here = text(c%at:c%at)
  end function Here

  !> Last character of the line that holds text(from:from); from - 1 if it is a line end.
  pure integer function LineEnd(text, from)
    character(*), intent(in) :: text
    integer, intent(in) :: from
    LineEnd = scan(text(from:), line_ends)
    LineEnd = merge(len(text), from + LineEnd - 2, LineEnd == 0)
  end function LineEnd

  !> Moves behind the line end at the cursor, if there is one.
  pure subroutine SkipLineEnd(text, c)
    character(*), intent(in) :: text
    type(cursor_t), intent(inout) :: c
    if (c%at > len(text)) return
    if (text(c%at:min(len(text), c%at + 1)) == achar(13)//achar(10)) c%at = c%at + 1
    c%at = c%at + 1
    c%line = c%line + 1
  end subroutine SkipLineEnd

  !> Position of the quote that closes the one at s(first:first); 0 = none. Two quotes in a row are one inside the text.
  pure subroutine QuoteEnd(s, first, last)
    character(*), intent(in) :: s
    integer, intent(in) :: first
    integer, intent(out) :: last
    last = first + 1
    do while (last <= len(s))
      if (s(last:last) == s(first:first)) then
        if (last == len(s)) return
        if (s(last + 1:last + 1) /= s(first:first)) return
        last = last + 1
      end if
      last = last + 1
    end do
    last = 0
  end subroutine QuoteEnd

  !> The text inside a pair of quotes.
  pure function Unquoted(s) result(t)
    character(*), intent(in) :: s
    character(:), allocatable :: t
    integer :: i, n
    allocate (character(len(s)) :: t)
    n = 0
    i = 2
    do while (i < len(s))
      n = n + 1
      t(n:n) = s(i:i)
      if (s(i:i) == s(1:1)) i = i + 1
      i = i + 1
    end do
    t = t(:n)
  end function Unquoted

  !> A text in quotes as a parameter file has it; a quote inside is written twice.
  pure function QuotedText(s) result(t)
    character(*), intent(in) :: s
    character(:), allocatable :: t
    integer :: i, n
    n = len(s) + 2 + Quotes(s)
    allocate (character(n) :: t)
    t(1:1) = ''''
    n = 1
    do i = 1, len(s)
      n = n + 1
      t(n:n) = s(i:i)
      if (s(i:i) /= '''') cycle
      n = n + 1
      t(n:n) = ''''
    end do
    t(n + 1:) = ''''
  end function QuotedText

  pure integer function Quotes(s)
    character(*), intent(in) :: s
    integer :: i
    Quotes = 0
    do i = 1, len(s)
      if (s(i:i) == '''') Quotes = Quotes + 1
    end do
  end function Quotes

  pure logical function Quoted(s)
    character(*), intent(in) :: s
    integer :: p
    p = verify(s, blanks)
    Quoted = .false.
    if (p > 0) Quoted = scan(s(p:p), '''"') > 0
  end function Quoted

  pure logical function IsName(s)
    character(*), intent(in) :: s
    IsName = .false.
    if (len(s) == 0) return
    IsName = verify(s(1:1), letters) == 0 .and. verify(s, letters//digits//'_') == 0
  end function IsName

  !> `s` without the blanks and tabs around it.
  pure function Strip(s) result(t)
    character(*), intent(in) :: s
    character(:), allocatable :: t
    integer :: first
    first = verify(s, blanks)
    if (first == 0) then
      t = ''
    else
      t = s(first:verify(s, blanks, back=.true.))
    end if
  end function Strip

  !> Position of the first byte that no text holds; 0 = none.
  pure integer function Controls(s)
    character(*), intent(in) :: s
    integer :: i, code
    do i = 1, len(s)
      code = iachar(s(i:i))
      if (code < 32 .and. scan(s(i:i), blanks//line_ends) == 0 .or. code == 127) then
        Controls = i
        return
      end if
    end do
    Controls = 0
  end function Controls

  !> A value as a message shows it: at most 60 bytes, no control characters.
  pure function Shown(s) result(t)
    character(*), intent(in) :: s
    character(:), allocatable :: t
    integer :: i, n
    n = len(s)
    if (n > 60) then
      n = 57
      do while (n > 1 .and. iachar(s(n + 1:n + 1)) >= 128 .and. iachar(s(n + 1:n + 1)) < 192)   ! not inside a UTF-8 letter
        n = n - 1
      end do
    end if
    t = s(:n)
    do i = 1, n
      if (iachar(t(i:i)) < 32 .or. iachar(t(i:i)) == 127) t(i:i) = '?'
    end do
    if (n < len(s)) t = t//'...'
  end function Shown

end module parameter_words_m
