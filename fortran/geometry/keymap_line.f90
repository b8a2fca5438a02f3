!> One line of a key-map: words and key=value pairs, and the taking of their values, which reports all problems.
module keymap_line_m
  use checked_m, only: Whole
  use kinds_m, only: dp, i8
  use problems_m, only: problems_t, ProblemAdd
  use textfile_m, only: textfile_t, IntegerOf, NumberOf, Shown, TextAdvice, TextWord
  use text_m, only: Lower, NearestName, Str
  implicit none
  private
  public :: mapline_t, FaultHere, MaplineRead, MaplineKeys, MaplineInt, MaplineReal, MaplineValue, MaplineWord, QuoteEnds, &
            WholeWord, RealWord

  integer, parameter :: words_max = 16

  !> Places in the text of the file: word i is text(w(1,i):w(2,i)), key i is text(k(1,i):k(2,i)) with value text(v(1,i):v(2,i)).
  type :: mapline_t
    integer :: nwords = 0, nkeys = 0
    integer :: w(2, words_max) = 0, k(2, words_max) = 0, v(2, words_max) = 0
  end type mapline_t

contains

  !> A problem of the present line of `file`.
  subroutine FaultHere(problems, file, sentence)
    type(problems_t), intent(inout) :: problems
    type(textfile_t), intent(in) :: file
    character(*), intent(in) :: sentence
    if (problems%full()) then                 ! the advice reads the line, which may be long and have a problem in each word
      call ProblemAdd(problems, file%path, file%line, sentence)
    else
      call ProblemAdd(problems, file%path, file%line, sentence//TextAdvice(file))
    end if
  end subroutine FaultHere

  !> Reads the rest of the present line.
  subroutine MaplineRead(line, file, problems)
    type(mapline_t), intent(out) :: line
    type(textfile_t), intent(inout) :: file
    type(problems_t), intent(inout) :: problems
    integer :: word(2)
    logical :: key
    do while (TextWord(file, word(1), word(2), key))
      if (line%nwords == words_max .or. line%nkeys == words_max) then
        call FaultHere(problems, file, 'more than '//Str(words_max)//' words; is a line end missing?')
        return
      end if
      if (key) then
        line%nkeys = line%nkeys + 1
        line%k(:, line%nkeys) = word
        if (.not. TextWord(file, word(1), word(2))) then
          word = line%k(:, line%nkeys)
          call FaultHere(problems, file, 'a value is missing after '//file%text(word(1):word(2))//'=')
          word = [1, 0]
        end if
        line%v(:, line%nkeys) = word
      else
        line%nwords = line%nwords + 1
        line%w(:, line%nwords) = word
      end if
      call QuoteEnds(file, word, problems)
    end do
  end subroutine MaplineRead

  !> The word at `at`, the last one read, may begin with a quote, which must end.
  subroutine QuoteEnds(file, at, problems)
    type(textfile_t), intent(in) :: file
    integer, intent(in) :: at(2)
    type(problems_t), intent(inout) :: problems
    if (file%unclosed) call FaultHere(problems, file, 'the quote that opens at '//Shown(file%text(at(1):at(2)))//' is never closed')
  end subroutine QuoteEnds

  !> Problems of the keys: unknown ones (with the nearest of `allowed`), repeated ones, missing ones of `needed`.
  subroutine MaplineKeys(line, file, what, allowed, needed, problems)
    type(mapline_t), intent(in) :: line
    type(textfile_t), intent(in) :: file
    character(*), intent(in) :: what, allowed(:), needed(:)
    type(problems_t), intent(inout) :: problems
    character(:), allocatable :: key, near
    integer :: i, j
    do i = 1, line%nkeys
      key = Lower(file%text(line%k(1, i):line%k(2, i)))
      if (FindKey(line, file, key) /= i) then
        call FaultHere(problems, file, key//'= is given twice')
      else if (.not. any(allowed == key)) then
        near = ''
        if (.not. problems%full()) near = NearestName(key, allowed)
        if (near /= '') near = ' (did you mean '//near//'=?)'
        call FaultHere(problems, file, 'unknown word '//Shown(key)//' in '//what//near//'; known: '//List(allowed))
      end if
    end do
    do j = 1, size(needed)
      if (FindKey(line, file, trim(needed(j))) > 0) cycle
      call FaultHere(problems, file, what//' needs '//List(needed)//'; '//trim(needed(j))//'= is missing')
    end do
  end subroutine MaplineKeys

  pure function List(names) result(s)
    character(*), intent(in) :: names(:)
    character(:), allocatable :: s
    integer :: i
    s = ''
    do i = 1, size(names)
      s = s//trim(names(i))//'= '
    end do
    s = trim(s)
  end function List

  !> Number of the (first) pair with this key, 0 = none. Keys may be in capitals.
  pure integer function FindKey(line, file, key) result(i)
    type(mapline_t), intent(in) :: line
    type(textfile_t), intent(in) :: file
    character(*), intent(in) :: key
    do i = 1, line%nkeys
      if (Lower(file%text(line%k(1, i):line%k(2, i))) == key) return
    end do
    i = 0
  end function FindKey

  !> First and last character of the value of key= in the text; [1, 0] if there is no such key, or no value (reported already). A
  !> value of two quotes is there, and empty.
  pure function ValueAt(line, file, key) result(at)
    type(mapline_t), intent(in) :: line
    type(textfile_t), intent(in) :: file
    character(*), intent(in) :: key
    integer :: at(2), i
    at = [1, 0]
    i = FindKey(line, file, key)
    if (i > 0) at = line%v(:, i)
  end function ValueAt

  !> The value of key=, '' if it is not there.
  pure function MaplineValue(line, file, key) result(value)
    type(mapline_t), intent(in) :: line
    type(textfile_t), intent(in) :: file
    character(*), intent(in) :: key
    character(:), allocatable :: value
    integer :: at(2)
    at = ValueAt(line, file, key)
    value = file%text(at(1):at(2))
  end function MaplineValue

  !> Word number i of the line, '' if there are fewer.
  pure function MaplineWord(line, file, i) result(word)
    type(mapline_t), intent(in) :: line
    type(textfile_t), intent(in) :: file
    integer, intent(in) :: i
    character(:), allocatable :: word
    word = ''
    if (i <= line%nwords) word = file%text(line%w(1, i):line%w(2, i))
  end function MaplineWord

  !> The whole number of key= in lo..hi; `value` keeps what it is where the key is not given or faulty.
  subroutine MaplineInt(line, file, key, lo, hi, value, problems)
    type(mapline_t), intent(in) :: line
    type(textfile_t), intent(in) :: file
    character(*), intent(in) :: key
    integer, intent(in) :: lo, hi
    integer, intent(inout) :: value
    type(problems_t), intent(inout) :: problems
    integer :: at(2)
    at = ValueAt(line, file, key)
    if (at(1) > 1) call WholeWord(file, at, key, lo, hi, value, problems)
  end subroutine MaplineInt

  !> The number of key= in lo..hi; `value` keeps what it is where the key is not given or faulty.
  subroutine MaplineReal(line, file, key, lo, hi, unit, value, problems)
    type(mapline_t), intent(in) :: line
    type(textfile_t), intent(in) :: file
    character(*), intent(in) :: key, unit
    real(dp), intent(in) :: lo, hi
    real(dp), intent(inout) :: value
    type(problems_t), intent(inout) :: problems
    integer :: at(2)
    at = ValueAt(line, file, key)
    if (at(1) > 1) call RealWord(file, at, key, lo, hi, unit, value, problems)
  end subroutine MaplineReal

  !> The word at `at` as a whole number in lo..hi.
  subroutine WholeWord(file, at, name, lo, hi, value, problems)
    type(textfile_t), intent(in) :: file
    integer, intent(in) :: at(2), lo, hi
    character(*), intent(in) :: name
    integer, intent(inout) :: value
    type(problems_t), intent(inout) :: problems
    integer(i8) :: number
    logical :: ok
    call IntegerOf(file%text(at(1):at(2)), number, ok)
    if (.not. ok) then
      call FaultHere(problems, file, name//' is '//Shown(file%text(at(1):at(2)))//': a whole number is needed')
    else if (number < lo .or. number > hi) then
      call FaultHere(problems, file, name//' = '//file%text(at(1):min(at(2), at(1) + 40))//' is out of range '// &
                    Str(lo)//'..'//Str(hi))
    else
      value = Whole(number)
    end if
  end subroutine WholeWord

  !> The word at `at` as a number in lo..hi.
  subroutine RealWord(file, at, name, lo, hi, unit, value, problems)
    type(textfile_t), intent(in) :: file
    integer, intent(in) :: at(2)
    character(*), intent(in) :: name, unit
    real(dp), intent(in) :: lo, hi
    real(dp), intent(inout) :: value
    type(problems_t), intent(inout) :: problems
    real(dp) :: x
    logical :: ok
    call NumberOf(file%text(at(1):at(2)), x, ok)
    if (.not. ok) then
      call FaultHere(problems, file, name//' is '//Shown(file%text(at(1):at(2)))//': a finite decimal number is needed'// &
                    trim(merge(', in '//unit, repeat(' ', 5 + len(unit)), unit /= '')))
    else if (x < lo .or. x > hi) then
      call FaultHere(problems, file, name//' = '//file%text(at(1):min(at(2), at(1) + 40))//' is out of range '// &
                    Str(lo)//'..'//Str(hi)//' '//unit)
    else
      value = x
    end if
  end subroutine RealWord

end module keymap_line_m
