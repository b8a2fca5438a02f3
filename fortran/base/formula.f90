!> Formulas of x and y as people write them: 120 - 80*exp(-((x-3000)^2+y^2)/500^2).
!>
!> Numbers, x, y, pi; + - * / ^ (or **), brackets; sin, cos, tan, atan, tanh, exp, log, sqrt, abs of one value, min, max of two.
!> Angles are radians. A power binds closer than a sign, and powers are taken from the right, as in Fortran.
module formula_m
  use checked_m, only: Whole
  use kinds_m, only: dp, pi
  use text_m, only: Join, Lower, Str
  use textfile_m, only: NumberOf
  implicit none
  private
  public :: formula_t, FormulaRead, FormulaAt

  integer, parameter :: most_steps = 400                  !< of a formula
  integer, parameter :: deepest = 40                      !< brackets in brackets
  integer, parameter :: do_number = 1, do_x = 2, do_y = 3, do_minus = 4, do_function = 5, do_pair = 20
  character(4), parameter :: functions(9) = [character(4) :: 'sin', 'cos', 'tan', 'atan', 'tanh', 'exp', 'log', 'sqrt', 'abs']
  character(3), parameter :: pairs(2) = [character(3) :: 'min', 'max']
  character, parameter :: signs(5) = ['+', '-', '*', '/', '^']
  real(dp), parameter :: largest = 1.0e100_dp             !< of values on the way: no product of two overflows
  real(dp), parameter :: exponents = 230.0_dp             !< log(largest)

  !> Steps on a stack, operands first.
  type :: formula_t
    integer :: n = 0
    integer :: step(most_steps) = 0
    real(dp) :: number(most_steps) = 0
  end type formula_t

  !> Place of the reader in the text.
  type :: cursor_t
    character(:), allocatable :: text
    integer :: at = 1, depth = 0
    character(:), allocatable :: why                      !< what is wrong, '' so far nothing
  end type cursor_t

contains

  !> why: what is wrong with the text, '' nothing.
  pure subroutine FormulaRead(text, formula, why)
    character(*), intent(in) :: text
    type(formula_t), intent(out) :: formula
    character(:), allocatable, intent(out) :: why
    type(cursor_t) :: c
    c%text = Lower(text)
    c%why = ''
    call Total(c, formula)
    if (c%why == '' .and. Next(c) /= ' ') c%why = "'"//Rest(c)//"' is not understood"
    why = c%why
  end subroutine FormulaRead

  !> Terms added.
  pure recursive subroutine Total(c, f)
    type(cursor_t), intent(inout) :: c
    type(formula_t), intent(inout) :: f
    character :: sign
    sign = Next(c)
    if (sign == '-' .or. sign == '+') call Pass(c, 1)
    call Product_(c, f)
    if (sign == '-') call Add(c, f, do_minus)
    do while (c%why == '')
      sign = Next(c)
      if (sign /= '+' .and. sign /= '-') exit
      call Pass(c, 1)
      call Product_(c, f)
      call Add(c, f, do_pair + size(pairs) + merge(1, 2, sign == '+'))
    end do
  end subroutine Total

  !> Factors multiplied.
  pure recursive subroutine Product_(c, f)
    type(cursor_t), intent(inout) :: c
    type(formula_t), intent(inout) :: f
    character :: sign
    call Power(c, f)
    do while (c%why == '')
      sign = Next(c)
      if (sign /= '*' .and. sign /= '/') exit
      call Pass(c, 1)
      call Power(c, f)
      call Add(c, f, do_pair + size(pairs) + merge(3, 4, sign == '*'))
    end do
  end subroutine Product_

  pure recursive subroutine Power(c, f)
    type(cursor_t), intent(inout) :: c
    type(formula_t), intent(inout) :: f
    logical :: minus
    call Value(c, f)
    if (c%why /= '' .or. .not. IsPower(c)) return
    call Pass(c, merge(1, 2, Next(c) == '^'))
    c%depth = c%depth + 1
    if (c%depth > deepest) c%why = 'it has more than '//Str(deepest)//' brackets in brackets'
    if (c%why /= '') return
    minus = Next(c) == '-'
    if (minus) call Pass(c, 1)
    call Power(c, f)
    c%depth = c%depth - 1
    if (minus) call Add(c, f, do_minus)
    call Add(c, f, do_pair + size(pairs) + 5)
  end subroutine Power

  !> A number, x, y, a bracket or a function.
  pure recursive subroutine Value(c, f)
    type(cursor_t), intent(inout) :: c
    type(formula_t), intent(inout) :: f
    character(:), allocatable :: word
    integer :: last, which
    if (c%why /= '') return
    call Pass(c, 0)
    if (Next(c) == '(') then
      call Bracket(c, f, 1)
      return
    end if
    last = c%at
    if (scan(Next(c), '0123456789.') == 1) then
      call ReadNumber(c, f)
      return
    end if
    do while (last <= len(c%text))
      if (scan(c%text(last:last), 'abcdefghijklmnopqrstuvwxyz') == 0) exit
      last = last + 1
    end do
    word = c%text(c%at:last - 1)
    if (word == '') then
      c%why = 'a number, x, y or a bracket is missing'
      if (Next(c) /= ' ') c%why = c%why//" before '"//Rest(c)//"'"
      return
    end if
    c%at = last
    if (word == 'x' .or. word == 'y') then
      call Add(c, f, merge(do_x, do_y, word == 'x'))
    else if (word == 'pi') then
      call Add(c, f, do_number, pi)
    else if (any(functions == word)) then
      which = findloc(functions == word, .true., 1)
      call Bracket(c, f, 1)
      call Add(c, f, do_function + which)
    else if (any(pairs == word)) then
      which = findloc(pairs == word, .true., 1)
      call Bracket(c, f, 2)
      call Add(c, f, do_pair + which)
    else
      c%why = "'"//word(:min(len(word), 40))//"' is unknown: there are x, y, pi, "//Join(functions)//' and min, max'
    end if
  end subroutine Value

  pure subroutine ReadNumber(c, f)
    type(cursor_t), intent(inout) :: c
    type(formula_t), intent(inout) :: f
    integer :: last
    real(dp) :: x
    logical :: ok
    last = c%at
    do while (last <= len(c%text))
      if (scan(c%text(last:last), '0123456789.e') == 0) then
        if (scan(c%text(last:last), '+-') == 0 .or. c%text(last - 1:last - 1) /= 'e') exit
      end if
      last = last + 1
    end do
    call NumberOf(c%text(c%at:last - 1), x, ok)
    if (ok) ok = abs(x) <= largest
    if (.not. ok) c%why = "'"//c%text(c%at:min(last - 1, c%at + 40))//"' is no number"
    c%at = last
    call Add(c, f, do_number, x)
  end subroutine ReadNumber

  !> A bracket with so many values.
  pure recursive subroutine Bracket(c, f, values)
    type(cursor_t), intent(inout) :: c
    type(formula_t), intent(inout) :: f
    integer, intent(in) :: values
    integer :: v
    c%depth = c%depth + 1
    if (c%depth > deepest) c%why = 'it has more than '//Str(deepest)//' brackets in brackets'
    do v = 1, values
      if (c%why /= '') return
      if (Next(c) /= merge('(', ',', v == 1)) then
        c%why = trim(merge("a bracket '('      ", "a comma and a value", v == 1))//" is missing before '"//Rest(c)//"'"
        return
      end if
      call Pass(c, 1)
      call Total(c, f)
    end do
    if (c%why == '' .and. Next(c) /= ')') c%why = "a bracket ')' is missing"
    call Pass(c, 1)
    c%depth = c%depth - 1
  end subroutine Bracket

  pure subroutine Add(c, f, step, number)
    type(cursor_t), intent(inout) :: c
    type(formula_t), intent(inout) :: f
    integer, intent(in) :: step
    real(dp), intent(in), optional :: number
    if (c%why /= '') return
    if (f%n == most_steps) then
      c%why = 'it is longer than '//Str(most_steps)//' steps'
      return
    end if
    f%n = f%n + 1
    f%step(f%n) = step
    if (present(number)) f%number(f%n) = number
  end subroutine Add

  !> The next character that is no blank; ' ' at the end.
  pure character function Next(c)
    type(cursor_t), intent(in) :: c
    integer :: i
    Next = ' '
    i = Ahead(c)
    if (i <= len(c%text)) Next = c%text(i:i)
  end function Next

  !> Goes beyond so many characters, and the blanks before them.
  pure subroutine Pass(c, n)
    type(cursor_t), intent(inout) :: c
    integer, intent(in) :: n
    c%at = Ahead(c) + n
  end subroutine Pass

  pure integer function Ahead(c) result(i)
    type(cursor_t), intent(in) :: c
    i = min(c%at, len(c%text) + 1)
    do while (i <= len(c%text))
      if (c%text(i:i) /= ' ') exit
      i = i + 1
    end do
  end function Ahead

  pure logical function IsPower(c)
    type(cursor_t), intent(in) :: c
    integer :: i
    i = Ahead(c)
    IsPower = Next(c) == '^'
    if (i < len(c%text)) IsPower = IsPower .or. c%text(i:i + 1) == '**'
  end function IsPower

  pure function Rest(c) result(text)
    type(cursor_t), intent(in) :: c
    character(:), allocatable :: text
    text = c%text(Ahead(c):min(len(c%text), Ahead(c) + 20))
  end function Rest

  !> The value at x, y; ok: there is one. Nothing overflows or traps.
  pure subroutine FormulaAt(formula, x, y, value, ok)
    type(formula_t), intent(in) :: formula
    real(dp), intent(in) :: x, y
    real(dp), intent(out) :: value
    logical, intent(out) :: ok
    real(dp) :: s(most_steps)
    integer :: i, n
    n = 0
    s(1) = 0
    ok = abs(x) <= largest .and. abs(y) <= largest
    do i = 1, formula%n
      if (.not. ok) exit
      select case (formula%step(i))
      case (do_number)
        n = n + 1
        s(n) = formula%number(i)
      case (do_x)
        n = n + 1
        s(n) = x
      case (do_y)
        n = n + 1
        s(n) = y
      case (do_minus)
        s(n) = -s(n)
      case (do_function + 1:do_pair)
        call OfOne(formula%step(i) - do_function, s(n), ok)
      case default
        n = n - 1
        call OfTwo(formula%step(i) - do_pair, s(n), s(n + 1), ok)
      end select
      if (ok) ok = abs(s(n)) <= largest
    end do
    value = 0
    if (ok) value = s(1)
  end subroutine FormulaAt

  pure subroutine OfOne(which, a, ok)
    integer, intent(in) :: which
    real(dp), intent(inout) :: a
    logical, intent(inout) :: ok
    select case (trim(functions(which)))
    case ('sin')
      a = sin(a)
    case ('cos')
      a = cos(a)
    case ('tan')
      a = tan(a)
    case ('atan')
      a = atan(a)
    case ('tanh')
      a = tanh(a)
    case ('exp')
      ok = a <= exponents
      if (ok) a = exp(max(a, -exponents))
    case ('log')
      ok = a > 0
      if (ok) a = log(a)
    case ('sqrt')
      ok = a >= 0
      if (ok) a = sqrt(a)
    case ('abs')
      a = abs(a)
    end select
  end subroutine OfOne

  pure subroutine OfTwo(which, a, b, ok)
    integer, intent(in) :: which
    real(dp), intent(inout) :: a
    real(dp), intent(in) :: b
    logical, intent(inout) :: ok
    if (which <= size(pairs)) then
      a = merge(min(a, b), max(a, b), which == 1)
      return
    end if
    select case (signs(which - size(pairs)))
    case ('+')
      a = a + b
    case ('-')
      a = a - b
    case ('*')
      a = a*b
    case ('/')
      ok = abs(b) >= 1/largest
      if (ok) a = a/b
    case ('^')
      call RaiseTo(a, b, ok)
    end select
  end subroutine OfTwo

  !> a**b: of a negative a with whole b alone.
  pure subroutine RaiseTo(a, b, ok)
    real(dp), intent(inout) :: a
    real(dp), intent(in) :: b
    logical, intent(inout) :: ok
    real(dp) :: size_of
    if (abs(a) <= 1/largest) then
      ok = b >= 0
      if (ok) a = merge(0.0_dp, 1.0_dp, b > 0)
      return
    end if
    ok = abs(b) <= 1000
    if (.not. ok) return
    size_of = b*log(abs(a))
    ok = size_of <= exponents .and. (a > 0 .or. abs(b - anint(b)) <= 0)
    if (.not. ok) return
    if (size_of < -exponents) then
      a = 0
    else if (abs(b - anint(b)) <= 0) then
      a = a**Whole(b)
    else
      a = exp(size_of)
    end if
  end subroutine RaiseTo

end module formula_m
