!> Small helpers for sentences and for reading text: numbers to words and back, lists, nearest names.
module text_m
  use checked_m, only: Below, Finite, Whole
  use kinds_m, only: sp, dp, i4, i8
  implicit none
  private
  public :: Str, StrAtMost, Counted, Duration, PlaceText, Lower, Join, Ranges, NearestName, NextLine, RealText, ToInt, ToReal
  public :: IsReal, CString, FString

  !> A number as short text: Str(12), Str(0.5_dp) = "0.5", Str(2.5_dp, 3) = 3 significant digits.
  interface Str
    module procedure StrInt, StrLong, StrReal, StrSingle, StrLogical
  end interface Str

contains

  !> A place x, y, z [m] in words.
  pure function PlaceText(x) result(s)
    real(dp), intent(in) :: x(3)
    character(:), allocatable :: s
    s = 'x = '//Str(x(1), 9)//', y = '//Str(x(2), 9)//', z = '//Str(x(3), 9)//' m'
  end function PlaceText

  pure function StrInt(i) result(s)
    integer, intent(in) :: i
    character(:), allocatable :: s
    s = StrLong(int(i, i8))
  end function StrInt

  pure function StrLong(i) result(s)
    integer(i8), intent(in) :: i
    character(:), allocatable :: s
    character(24) :: buffer
    write (buffer, '(i0)') i
    s = trim(buffer)
  end function StrLong

  pure function StrLogical(l) result(s)
    logical, intent(in) :: l
    character(:), allocatable :: s
    s = merge('yes', 'no ', l)
    s = trim(s)
  end function StrLogical

  pure function StrSingle(x, digits) result(s)
    real(sp), intent(in) :: x
    integer, intent(in), optional :: digits
    character(:), allocatable :: s
    if (.not. Finite(x)) then
      s = 'NaN'
      if (iand(transfer(x, 0_i4), maskr(23, i4)) == 0) s = trim(adjustl(merge('-Infinity', ' Infinity', x < 0)))
    else if (present(digits)) then
      s = StrReal(real(x, dp), digits)
    else
      s = StrReal(real(x, dp), 7)
    end if
  end function StrSingle

  !> Shortest text with `digits` significant digits (default 6); exponent form outside 1e-4 .. 1e7.
  pure function StrReal(x, digits) result(s)
    real(dp), intent(in) :: x
    integer, intent(in), optional :: digits
    character(:), allocatable :: s
    character(40) :: buffer, form
    integer :: n, e, p
    n = 6
    if (present(digits)) n = min(max(digits, 1), 17)
    if (.not. Finite(x)) then
      s = 'NaN'
      if (iand(transfer(x, 0_i8), maskr(52, i8)) == 0) s = trim(adjustl(merge('-Infinity', ' Infinity', x < 0)))
      return
    else if (x == 0) then
      s = '0'
      return
    end if
    e = Whole(Below(log10(abs(x)) + 1e-12_dp))
    if (e >= -4 .and. e < max(7, n)) then
      write (form, '(a,i0,a)') '(f40.', max(0, n - 1 - e), ')'
      write (buffer, form) x
      s = trim(adjustl(buffer))
      if (index(s, '.') > 0) then
        p = verify(s, '0', back=.true.)
        if (s(p:p) == '.') p = p - 1
        s = s(:p)
      end if
      if (s(1:1) == '.') s = '0'//s
      if (len(s) > 1) then
        if (s(1:2) == '-.') s = '-0'//s(2:)
      end if
    else
      write (form, '(a,i0,a)') '(es40.', n - 1, 'e3)'
      write (buffer, form) x
      s = trim(adjustl(buffer))
      s = TrimExponent(s)
    end if
  end function StrReal

  !> A limit that a user can give back: `digits` significant digits, rounded down, so that what is read is not above x.
  pure function StrAtMost(x, digits) result(s)
    real(dp), intent(in) :: x
    integer, intent(in) :: digits
    character(:), allocatable :: s
    real(dp) :: back
    logical :: ok
    s = Str(x, digits)
    call ToReal(s, back, ok)
    if (ok .and. back > x) s = Str(x - 0.5_dp*10.0_dp**(Whole(Below(log10(abs(x)))) - digits + 1), digits)
  end function StrAtMost

  !> The shortest decimal text that reads back to the same bits.
  pure function RealText(x) result(s)
    real(dp), intent(in) :: x
    character(:), allocatable :: s
    character(32) :: buffer
    real(dp) :: back
    integer :: n
    logical :: ok
    do n = 1, 17
      s = Str(x, n)
      call ToReal(s, back, ok)
      if (ok .and. transfer(back, 0_i8) == transfer(x, 0_i8)) return
    end do
    write (buffer, '(es25.16e3)') x
    s = trim(adjustl(buffer))
    if (x == 0) s = '-0'
  end function RealText

  !> "1.500000E+007" -> "1.5e7"
  pure function TrimExponent(s) result(t)
    character(*), intent(in) :: s
    character(:), allocatable :: t
    integer :: p, q, e
    p = scan(s, 'Ee')
    read (s(p + 1:), *) e
    q = verify(s(:p - 1), '0', back=.true.)
    if (s(q:q) == '.') q = q - 1
    t = s(:q)//'e'//StrInt(e)
  end function TrimExponent

  !> '1 shot', '12 shots'; `many` where that is not `one` with an s.
  pure function Counted(n, one, many) result(s)
    integer, intent(in) :: n
    character(*), intent(in) :: one
    character(*), intent(in), optional :: many
    character(:), allocatable :: s
    s = one//'s'
    if (present(many)) s = many
    if (n == 1) s = one
    s = Str(n)//' '//s
  end function Counted

  !> Seconds as h:mm:ss.
  pure function Duration(seconds) result(s)
    real(dp), intent(in) :: seconds
    character(:), allocatable :: s
    character(24) :: buffer
    integer :: n
    n = nint(min(max(seconds, 0.0_dp), 3.0e8_dp))
    write (buffer, '(i0,":",i2.2,":",i2.2)') n/3600, mod(n, 3600)/60, mod(n, 60)
    s = trim(buffer)
  end function Duration

  pure function Lower(s) result(t)
    character(*), intent(in) :: s
    character(len(s)) :: t
    integer :: i, c
    t = s
    do i = 1, len(s)
      c = iachar(s(i:i))
      if (c >= iachar('A') .and. c <= iachar('Z')) t(i:i) = achar(c + 32)
    end do
  end function Lower

  !> The line of `text` that begins at `at`, which moves on to the next one: beyond len(text) after the last.
  pure subroutine NextLine(text, at, line)
    character(*), intent(in) :: text
    integer, intent(inout) :: at
    character(:), allocatable, intent(out) :: line
    line = text(at:at + index(text(at:)//new_line('a'), new_line('a')) - 2)
    at = at + len(line) + 1
  end subroutine NextLine

  !> Names of a list joined with ", ".
  pure function Join(names) result(s)
    character(*), intent(in) :: names(:)
    character(:), allocatable :: s
    integer :: i
    s = ''
    do i = 1, size(names)
      if (i > 1) s = s//', '
      s = s//trim(names(i))
    end do
  end function Join

  !> '1-4, 7' of whole numbers in rising order; after so many characters, `most`, '...' stands for the others.
  pure function Ranges(n, most) result(text)
    integer, intent(in) :: n(:)
    integer, intent(in), optional :: most
    character(:), allocatable :: text
    integer :: i, from
    text = ''
    from = 1
    do i = 1, size(n)
      if (i < size(n)) then
        if (n(i + 1) == n(i) .or. n(i + 1) == n(i) + 1) cycle
      end if
      if (text /= '') text = text//', '
      text = text//Str(n(from))
      if (n(i) > n(from)) text = text//'-'//Str(n(i))
      from = i + 1
      if (.not. present(most) .or. i == size(n)) cycle
      if (len(text) > most) then
        text = text//', ...'
        return
      end if
    end do
  end function Ranges

  !> The name of `names` nearest to `word` by edit distance; '' if none is near.
  pure function NearestName(word, names) result(nearest)
    character(*), intent(in) :: word, names(:)
    character(:), allocatable :: nearest
    integer :: i, d, best
    nearest = ''
    best = min(max(2, len_trim(word)/3), len_trim(word) - 1) + 1      ! of a short word something must remain
    do i = 1, size(names)
      d = EditDistance(Lower(trim(word)), Lower(trim(names(i))))
      if (len_trim(word) >= 3 .and. index(Lower(names(i)), Lower(trim(word))) == 1) d = min(d, 1)
      if (d < best) then
        best = d
        nearest = trim(names(i))
      end if
    end do
  end function NearestName

  !> Optimal string alignment distance: insert, delete, change, swap of neighbours.
  pure integer function EditDistance(a, b) result(d)
    character(*), intent(in) :: a, b
    integer :: m(0:len(a), 0:len(b)), i, j, cost
    do i = 0, len(a)
      m(i, 0) = i
    end do
    do j = 0, len(b)
      m(0, j) = j
    end do
    do j = 1, len(b)
      do i = 1, len(a)
        cost = merge(0, 1, a(i:i) == b(j:j))
        m(i, j) = min(m(i - 1, j) + 1, m(i, j - 1) + 1, m(i - 1, j - 1) + cost)
        if (i > 1 .and. j > 1) then
          if (a(i:i) == b(j - 1:j - 1) .and. a(i - 1:i - 1) == b(j:j)) m(i, j) = min(m(i, j), m(i - 2, j - 2) + 1)
        end if
      end do
    end do
    d = m(len(a), len(b))
  end function EditDistance

  !> Whole text to integer; `ok` is false for anything but one plain integer in range.
  pure subroutine ToInt(s, value, ok)
    character(*), intent(in) :: s
    integer, intent(out) :: value
    logical, intent(out) :: ok
    integer :: io
    value = 0
    ok = len_trim(s) > 0 .and. verify(trim(s), '+-0123456789') == 0
    if (.not. ok) return
    read (s, *, iostat=io) value
    ok = io == 0
  end subroutine ToInt

  !> Whole text to a finite real; `ok` is false for anything that is no number (list-directed oddities such as "2*3" and "1-3"
  !> too) and for numbers of 1e308 and more or too small for a double.
  pure subroutine ToReal(s, value, ok)
    character(*), intent(in) :: s
    real(dp), intent(out) :: value
    logical, intent(out) :: ok
    integer :: io, e, first
    value = 0
    ok = IsReal(s)
    if (.not. ok) return
    ! The size is judged before reading: reading 1e400 would raise a floating-point exception.
    e = scan(s, 'eEdD')
    if (e == 0) e = len_trim(s) + 1
    first = scan(s(:e - 1), '123456789')
    if (first > 0) ok = abs(DecimalExponent(trim(s), first, e)) < 308
    if (first > 0 .and. .not. ok) return
    read (s(:merge(len_trim(s), e - 1, first > 0)), *, iostat=io) value
    ok = io == 0
  end subroutine ToReal

  !> Power of ten of the first non-zero digit, s(first:first), of a number whose exponent letter is at s(e:e).
  pure integer function DecimalExponent(s, first, e) result(power)
    character(*), intent(in) :: s
    integer, intent(in) :: first, e
    integer :: point
    logical :: ok
    power = 0
    if (e < len(s)) then
      call ToInt(s(e + 1:), power, ok)
      power = min(max(power, -1000000), 1000000)
      if (.not. ok) power = 1000000
    end if
    point = index(s(:e - 1), '.')
    if (point == 0) point = e
    power = power + point - first - merge(1, 0, first < point)
  end function DecimalExponent

  !> Is the whole text a decimal number: sign, digits with at most one point, exponent by e or d?
  pure logical function IsReal(s)
    character(*), intent(in) :: s
    integer :: i, n, before, after
    IsReal = .false.
    n = len_trim(s)
    i = 1
    if (i <= n) i = i + merge(1, 0, scan(s(i:i), '+-') > 0)
    call SkipDigits(s(:n), i, before)
    after = 0
    if (i <= n) then
      if (s(i:i) == '.') then
        i = i + 1
        call SkipDigits(s(:n), i, after)
      end if
    end if
    if (before + after == 0) return
    if (i <= n) then
      if (scan(s(i:i), 'eEdD') == 0) return
      i = i + 1
      if (i <= n) i = i + merge(1, 0, scan(s(i:i), '+-') > 0)
      call SkipDigits(s(:n), i, after)
      if (after == 0) return
    end if
    IsReal = i > n
  end function IsReal

  !> Moves `i` behind the digits that start at s(i:i); `n` counts them.
  pure subroutine SkipDigits(s, i, n)
    character(*), intent(in) :: s
    integer, intent(inout) :: i
    integer, intent(out) :: n
    n = 0
    do while (i <= len(s))
      if (scan(s(i:i), '0123456789') == 0) exit
      i = i + 1
      n = n + 1
    end do
  end subroutine SkipDigits

  !> Text with the ending null that C expects.
  pure function CString(s) result(c)
    use iso_c_binding, only: c_char, c_null_char
    character(*), intent(in) :: s
    character(kind=c_char, len=:), allocatable :: c
    c = s//c_null_char
  end function CString

  !> Text up to the first null.
  pure function FString(c) result(s)
    use iso_c_binding, only: c_char, c_null_char
    character(kind=c_char, len=*), intent(in) :: c
    character(:), allocatable :: s
    integer :: n
    n = index(c, c_null_char) - 1
    if (n < 0) n = len_trim(c)
    s = c(:n)
  end function FString

end module text_m
