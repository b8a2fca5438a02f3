!> The machinery under the parameter table: one pass over it reads, checks, documents and records every parameter.
!>
!>     call TableArguments(t, args)          ! gather: command line, and the file it names by par=
!>     call JobTable(t, job)                 ! the pass: a row and a value for each line of the table
!>     call TableCheck(t, error)             ! all problems at once
!>
!> The command line wins over the file, the file over the default. A parameter that is wrong keeps its default.
module parameter_table_m
  use checked_m, only: Whole
  use parameter_file_m, only: deck_t, DeckArguments, DeckOrigin, DeckText
  use parameter_words_m, only: QuotedText, Shown, Unquoted
  use error_m, only: error_t
  use problems_m, only: ProblemAdd, ProblemsRaise
  use kinds_m, only: dp
  use text_m, only: IsReal, Join, Lower, NearestName, RealText, Str, ToInt, ToReal
  implicit none
  private
  public :: table_t, row_t, TableArguments, TableReadText, TableUnknown, TableCheck, TableFind, TableNearest
  public :: RangeText, SplitList

  integer, parameter :: name_length = 32     !< of a list of names or words
  real(dp), parameter :: least = 1.0e-30_dp  !< above 0, of a size, a time or a frequency: they are divided by

  !> A parameter: what the table says of it and what it came out as.
  type :: row_t
    character(:), allocatable :: section, name, kind, unit, meaning
    character(:), allocatable :: words        !< of a word: those allowed, joined by commas; of a number or a file: one; else ''
    logical :: limited = .false.              !< a number, lo .. hi
    real(dp) :: lo = 0, hi = 0
    character(:), allocatable :: default, value  !< as text that reads back to the same value
    character(:), allocatable :: shown        !< the value as given, for messages
    character(:), allocatable :: origin       !< 'default', 'command line' or 'FILE:LINE'
    logical :: sound = .true.                 !< the value given was usable
    logical :: written = .false.              !< of a file: a run writes it; others are read
  end type row_t

  type :: table_t
    character(200) :: variants = 'auto,fortran,cpu'   !< kernel variants, joined by commas
    character(200) :: on_gpu = '', unbuilt = ''       !< of these: those that need a GPU, those that are not in this build
    type(deck_t) :: deck                              !< the settings read, and what was found wrong so far
    integer :: n = 0                                  !< rows
    type(row_t), allocatable :: row(:)                !< (at least n), in the order of the table
    character(:), allocatable, private :: title       !< section of the rows to come
  contains
    procedure :: section => AddSection
    procedure :: file => AddFile
    procedure :: output => AddOutput
    procedure :: text => AddText
    procedure :: word => AddWord
    procedure :: flag => AddFlag
    procedure :: int => AddInt
    procedure :: real => AddReal
    procedure :: given, changed, changes, sound, said, blame, idle, input
  end type table_t

contains

  ! --- gathering ------------------------------------------------------------------------------------------------------

  !> Reads the words `name=value` of the command line and the parameter file that `par=FILE` among them names.
  subroutine TableArguments(t, args)
    type(table_t), intent(inout) :: t
    character(*), intent(in) :: args(:)
    call DeckArguments(t%deck, args)
  end subroutine TableArguments

  !> Reads the text of a parameter file; `name` is what messages call it.
  subroutine TableReadText(t, text, name)
    type(table_t), intent(inout) :: t
    character(*), intent(in) :: text, name
    call DeckText(t%deck, text, name)
  end subroutine TableReadText

  ! --- the pass -------------------------------------------------------------------------------------------------------

  subroutine AddSection(self, title)
    class(table_t), intent(inout) :: self
    character(*), intent(in) :: title
    self%title = title
  end subroutine AddSection

  !> The path of a file that is read; empty = none. A `word`, in upper or lower case, stands for no file.
  subroutine AddFile(self, name, value, default, meaning, word)
    class(table_t), intent(inout) :: self
    character(:), allocatable, intent(inout) :: value
    character(*), intent(in) :: name, default, meaning
    character(*), intent(in), optional :: word
    call TakeText(self, 'file', name, value, default, meaning)
    if (.not. present(word)) return
    self%row(self%n)%words = word
    if (Lower(value) /= word) return
    value = word
    self%row(self%n)%value = QuotedText(word)
  end subroutine AddFile

  !> The path of a file that a run writes.
  subroutine AddOutput(self, name, value, default, meaning)
    class(table_t), intent(inout) :: self
    character(:), allocatable, intent(inout) :: value
    character(*), intent(in) :: name, default, meaning
    call TakeText(self, 'file', name, value, default, meaning)
    self%row(self%n)%written = .true.
  end subroutine AddOutput

  !> Any text.
  subroutine AddText(self, name, value, default, meaning)
    class(table_t), intent(inout) :: self
    character(:), allocatable, intent(inout) :: value
    character(*), intent(in) :: name, default, meaning
    call TakeText(self, 'text', name, value, default, meaning)
  end subroutine AddText

  subroutine TakeText(self, kind, name, value, default, meaning)
    class(table_t), intent(inout) :: self
    character(*), intent(in) :: kind, name, default, meaning
    character(:), allocatable, intent(inout) :: value
    integer :: i
    call Begin(self, i, kind, name, QuotedText(default), meaning)
    value = default
    if (i > 0) value = self%deck%setting(i)%value
    self%row(self%n)%value = QuotedText(value)
  end subroutine TakeText

  !> One of `words` (joined by commas); upper and lower case are the same.
  subroutine AddWord(self, name, value, default, words, meaning)
    class(table_t), intent(inout) :: self
    character(:), allocatable, intent(inout) :: value
    character(*), intent(in) :: name, default, words, meaning
    character(name_length), allocatable :: list(:)
    character(:), allocatable :: nearest
    integer :: i, j
    allocate (list, source=SplitList(words))
    call Begin(self, i, 'word', name, default, meaning, words=words)
    value = default
    if (i > 0) then
      j = findloc(list, Lower(Head(self%deck%setting(i)%value)), dim=1)
      if (j > 0) value = trim(list(j))
      if (j == 0) then
        nearest = NearestName(Head(self%deck%setting(i)%value), list)
        if (nearest /= '') nearest = '; did you mean '//nearest//'?'
        call Refuse(self, 'must be one of '//Join(list)//nearest)
      end if
    end if
    self%row(self%n)%value = value
  end subroutine AddWord

  !> yes or no, in any of the usual spellings.
  subroutine AddFlag(self, name, value, default, meaning)
    class(table_t), intent(inout) :: self
    logical, intent(inout) :: value
    character(*), intent(in) :: name, meaning
    logical, intent(in) :: default
    integer :: i
    call Begin(self, i, 'flag', name, Str(default), meaning)
    value = default
    if (i > 0) then
      select case (Lower(Head(self%deck%setting(i)%value)))
      case ('yes', 'y', 'true', 't', '.true.', '.t.', 'on', '1')
        value = .true.
      case ('no', 'n', 'false', 'f', '.false.', '.f.', 'off', '0')
        value = .false.
      case default
        call Refuse(self, 'must be yes or no')
      end select
    end if
    self%row(self%n)%value = Str(value)
  end subroutine AddFlag

  !> A whole number, lo..hi; or a `word`, which stands for lo - 1.
  subroutine AddInt(self, name, value, default, lo, hi, unit, meaning, word)
    class(table_t), intent(inout) :: self
    integer, intent(inout) :: value
    character(*), intent(in) :: name, unit, meaning
    integer, intent(in) :: default, lo, hi
    character(*), intent(in), optional :: word
    integer :: i, given
    logical :: ok
    call Begin(self, i, 'int', name, Str(default), meaning, words=word, lo=real(lo, dp), hi=real(hi, dp), unit=unit)
    value = default
    if (i > 0 .and. present(word)) then
      if (Lower(Head(self%deck%setting(i)%value)) == word) then
        value = lo - 1
        self%row(self%n)%value = word
        return
      end if
    end if
    if (i > 0) then
      call ToInt(self%deck%setting(i)%value, given, ok)
      if (.not. ok .and. .not. IsWhole(self%deck%setting(i)%value)) then
        call Refuse(self, 'is not a whole number'//NumberAdvice(self%row(self%n), self%deck%setting(i)%value))
      else if (.not. ok .or. given < lo .or. given > hi) then
        call Refuse(self, Outside(self%row(self%n)))
      else
        value = given
      end if
    end if
    self%row(self%n)%value = Str(value)
  end subroutine AddInt

  !> A number, lo..hi, in `unit`.
  subroutine AddReal(self, name, value, default, lo, hi, unit, meaning)
    class(table_t), intent(inout) :: self
    real(dp), intent(inout) :: value
    character(*), intent(in) :: name, unit, meaning
    real(dp), intent(in) :: default, lo, hi
    integer :: i
    real(dp) :: given
    logical :: ok
    call Begin(self, i, 'real', name, RealText(default), meaning, lo=lo, hi=hi, unit=unit)
    value = default
    if (i > 0) then
      call ToReal(self%deck%setting(i)%value, given, ok)
      if (.not. ok .and. .not. IsReal(self%deck%setting(i)%value)) then
        call Refuse(self, 'is not a number'//NumberAdvice(self%row(self%n), self%deck%setting(i)%value))
      else if (.not. ok) then
        call Refuse(self, 'is too large or too small to be computed with: '//InRange(self%row(self%n)))
      else if (given < lo .or. given > hi) then
        call Refuse(self, Outside(self%row(self%n)))
      else if (lo >= 0 .and. given > 0 .and. given < least) then
        call Refuse(self, 'is too small to be computed with: give 0, or '//RealText(least)//' and more')
      else
        value = given
        self%row(self%n)%value = RealText(value)
      end if
    end if
  end subroutine AddReal

  !> Adds a row and finds the setting that holds; i = 0 if none is given.
  subroutine Begin(self, i, kind, name, default, meaning, words, lo, hi, unit)
    class(table_t), intent(inout) :: self
    integer, intent(out) :: i
    character(*), intent(in) :: kind, name, default, meaning
    character(*), intent(in), optional :: words, unit
    real(dp), intent(in), optional :: lo, hi
    type(row_t), allocatable :: more(:)
    if (.not. allocated(self%row)) allocate (self%row(16))
    if (.not. allocated(self%title)) self%title = ''
    if (self%n == size(self%row)) then
      allocate (more(2*self%n))
      more(:self%n) = self%row
      call move_alloc(more, self%row)
    end if
    self%n = self%n + 1
    call FindSetting(self%deck, name, i)
    associate (r => self%row(self%n))
      r%section = self%title
      r%kind = kind
      r%name = name
      r%default = default
      r%meaning = meaning
      call Optional(words, r%words)
      r%limited = present(lo) .and. present(hi)
      if (present(lo)) r%lo = lo
      if (present(hi)) r%hi = hi
      call Optional(unit, r%unit)
      r%origin = 'default'
      r%shown = default
      r%value = default
      if (i == 0) return
      r%origin = DeckOrigin(self%deck, i)
      r%shown = Shown(self%deck%setting(i)%value)
      if (r%shown == '') r%shown = ''''''
    end associate
    if (self%deck%setting(i)%value == '' .and. kind /= 'text' .and. kind /= 'file') then
      call Refuse(self, 'has no value: give one, or leave the name out for the default '//default)
      i = 0
    end if
  end subroutine Begin

  subroutine Optional(given, kept)
    character(*), intent(in), optional :: given
    character(:), allocatable, intent(inout) :: kept
    kept = ''
    if (present(given)) kept = given
  end subroutine Optional

  !> The setting of `name` that holds: the first of the command line, else the first of the file. Others of the same source
  !> are problems.
  subroutine FindSetting(deck, name, found)
    type(deck_t), intent(inout) :: deck
    character(*), intent(in) :: name
    integer, intent(out) :: found
    integer :: i, first(2), source
    first = 0
    do i = 1, deck%n
      if (deck%setting(i)%name /= name) cycle
      deck%setting(i)%used = .true.
      source = merge(1, 2, deck%setting(i)%line == 0)
      if (first(source) == 0) then
        first(source) = i
      else
        call ProblemAdd(deck%problems, name//' = '//Shown(deck%setting(i)%value)//' ('//DeckOrigin(deck, i)// &
                      ') is given twice, '// &
                      'first as '//Shown(deck%setting(first(source))%value)//' ('//DeckOrigin(deck, first(source))//'): keep one')
      end if
    end do
    found = merge(first(1), first(2), first(1) > 0)
  end subroutine FindSetting

  !> A problem of the row just begun.
  subroutine Refuse(self, problem)
    class(table_t), intent(inout) :: self
    character(*), intent(in) :: problem
    call ProblemAdd(self%deck%problems, SaidOf(self%row(self%n))//' '//problem)
    self%row(self%n)%sound = .false.
  end subroutine Refuse

  function Outside(row) result(problem)
    type(row_t), intent(in) :: row
    character(:), allocatable :: problem
    problem = 'is out of range: '//InRange(row)
  end function Outside

  function InRange(row) result(advice)
    type(row_t), intent(in) :: row
    character(:), allocatable :: advice
    advice = 'give '//RangeText(row)
    if (row%unit /= '') advice = advice//' '//row%unit
  end function InRange

  !> '0..1e7', the limits of a number.
  pure function RangeText(row) result(text)
    type(row_t), intent(in) :: row
    character(:), allocatable :: text
    if (row%kind == 'int') then
      text = Str(Whole(row%lo))//'..'//Str(Whole(row%hi))
      if (row%words /= '') text = row%words//' or '//text
    else
      text = RealText(row%lo)//'..'//RealText(row%hi)
    end if
  end function RangeText

  !> Advice on a value that is no number: ": ..." fitting the likeliest slip.
  function NumberAdvice(row, value) result(advice)
    type(row_t), intent(in) :: row
    character(*), intent(in) :: value
    character(:), allocatable :: advice
    integer :: p, i
    p = verify(value, '+-0123456789.')
    if (IsReal(value)) then
      advice = ': '//InRange(row)//' without point and exponent'
    else if (any([(iachar(value(i:i)) >= 128, i=1, len(value))])) then
      advice = ': it holds characters that are not ASCII, type it anew'
    else if (p > 1 .and. index(value, ',') == p) then
      advice = ': write decimals with a point, thousands without a comma, one value a parameter, no comma behind it'
    else if (p > 1 .and. verify(value, '0123456789. ') == 0) then
      advice = ': write one number without blanks inside'
    else if (p > 1 .and. index(value, '!') > 0) then
      advice = ': comments start with # outside a namelist'
    else if (p > 1 .and. row%unit /= '') then
      advice = ': give the number alone, in '//row%unit
    else
      advice = ': '//InRange(row)
    end if
  end function NumberAdvice

  ! --- after the pass -------------------------------------------------------------------------------------------------

  !> Was the parameter given, rather than left at its default?
  logical function given(self, name)
    class(table_t), intent(in) :: self
    character(*), intent(in) :: name
    integer :: at
    at = TableFind(self, name)
    given = at > 0
    if (given) given = self%row(at)%origin /= 'default'
  end function given

  !> The path of the file to read that row i names; '' if it names none.
  function input(self, i) result(path)
    class(table_t), intent(in) :: self
    integer, intent(in) :: i
    character(:), allocatable :: path
    path = ''
    if (self%row(i)%kind == 'file' .and. .not. self%row(i)%written) path = Unquoted(self%row(i)%value)
    if (path == self%row(i)%words) path = ''
  end function input

  !> Given, and as something else than the default: the record of a run gives everything. A parameter that this program does not
  !> have is not.
  logical function changed(self, name)
    class(table_t), intent(in) :: self
    character(*), intent(in) :: name
    integer :: at
    at = TableFind(self, name)
    changed = .false.
    if (at > 0) changed = self%row(at)%origin /= 'default' .and. self%row(at)%value /= self%row(at)%default
  end function changed

  !> Parameters that were changed, "dx = 10 m (job.par:3)", a line break before and after each.
  function changes(self) result(lines)
    class(table_t), intent(in) :: self
    character(:), allocatable :: lines
    integer :: i
    lines = new_line('a')
    do i = 1, self%n
      if (self%changed(self%row(i)%name)) lines = lines//SaidOf(self%row(i))//new_line('a')
    end do
  end function changes

  !> Blames those of `names` (joined by commas) that were changed: they have no effect.
  subroutine idle(self, names, why)
    class(table_t), intent(inout) :: self
    character(*), intent(in) :: names, why
    character(name_length), allocatable :: list(:)
    integer :: i
    allocate (list, source=SplitList(names))
    do i = 1, size(list)
      if (self%changed(trim(list(i)))) call self%blame(trim(list(i)), 'has no effect: '//why)
    end do
  end subroutine idle

  !> Are all of `names` (joined by commas) free of problems of their own? A parameter that this program does not have is.
  logical function sound(self, names)
    class(table_t), intent(in) :: self
    character(*), intent(in) :: names
    character(name_length), allocatable :: list(:)
    integer :: i, at
    allocate (list, source=SplitList(names))
    sound = .true.
    do i = 1, size(list)
      at = TableFind(self, trim(list(i)))
      if (at > 0) sound = sound .and. self%row(at)%sound
    end do
  end function sound

  !> "dx = 10 m (job.par:3)", the way each sentence about a parameter starts.
  function said(self, name) result(phrase)
    class(table_t), intent(in) :: self
    character(*), intent(in) :: name
    character(:), allocatable :: phrase
    phrase = SaidOf(self%row(TableFind(self, name)))
  end function said

  !> Adds "dx = 10 m (job.par:3) PROBLEM" to the problems.
  subroutine blame(self, name, problem)
    class(table_t), intent(inout) :: self
    character(*), intent(in) :: name, problem
    call ProblemAdd(self%deck%problems, self%said(name)//' '//problem)
  end subroutine blame

  function SaidOf(row) result(phrase)
    type(row_t), intent(in) :: row
    character(:), allocatable :: phrase
    phrase = row%name//' = '//row%shown
    if (row%unit /= '' .and. IsReal(row%shown)) phrase = phrase//' '//row%unit
    phrase = phrase//' ('//row%origin//')'
  end function SaidOf

  !> Adds a problem for each setting whose name no row of the table has. `other`: the table of another program, `its_name`.
  subroutine TableUnknown(t, other, its_name)
    type(table_t), intent(inout) :: t
    type(table_t), intent(in), optional :: other
    character(*), intent(in), optional :: its_name
    character(:), allocatable :: nearest
    integer :: i
    do i = 1, t%deck%n
      if (t%deck%setting(i)%used) cycle
      nearest = ''
      if (.not. t%deck%problems%full()) nearest = TableNearest(t, t%deck%setting(i)%name)
      if (nearest /= '') then
        nearest = 'did you mean '//nearest//'?'
      else
        nearest = '--help lists all parameters'
      end if
      if (present(other)) then
        if (TableFind(other, t%deck%setting(i)%name) > 0) nearest = 'it is one of '//its_name//', not of this program: leave it out'
      end if
      call ProblemAdd(t%deck%problems, "unknown parameter '"//Shown(t%deck%setting(i)%name)//"' ("//DeckOrigin(t%deck, i)//'): '// &
                    nearest)
    end do
  end subroutine TableUnknown

  !> All problems of gathering and of the pass, a line each, in one error.
  subroutine TableCheck(t, error)
    type(table_t), intent(inout) :: t
    type(error_t), allocatable, intent(inout) :: error
    call TableUnknown(t)
    call ProblemsRaise(t%deck%problems, 'the parameters', error)
  end subroutine TableCheck

  !> Row of the parameter `name`; 0 = there is none.
  pure integer function TableFind(t, name) result(i)
    class(table_t), intent(in) :: t
    character(*), intent(in) :: name
    do i = t%n, 1, -1
      if (t%row(i)%name == name) return
    end do
  end function TableFind

  !> The parameter whose name is nearest to `name`; '' if none is near.
  function TableNearest(t, name) result(nearest)
    class(table_t), intent(in) :: t
    character(*), intent(in) :: name
    character(:), allocatable :: nearest
    character(name_length) :: names(t%n)
    integer :: i
    do i = 1, t%n
      names(i) = t%row(i)%name
    end do
    nearest = ''
    if (len(name) <= name_length) nearest = NearestName(name, names)
  end function TableNearest

  ! --- pieces ---------------------------------------------------------------------------------------------------------

  !> The parts of a list joined by commas, without the blanks around them, (parts). Parts are cut at 32 characters.
  pure function SplitList(list) result(parts)
    character(*), intent(in) :: list
    character(name_length), allocatable :: parts(:)
    integer :: i, n, start
    allocate (parts(count([(list(i:i) == ',', i=1, len(list))]) + 1))
    start = 1
    do n = 1, size(parts)
      i = index(list(start:), ',')
      i = merge(len(list) + 1, start + i - 1, i == 0)
      parts(n) = adjustl(list(start:i - 1))
      start = i + 1
    end do
  end function SplitList

  !> At most the first 33 characters: enough to tell a word of a list from a longer one.
  pure function Head(s) result(t)
    character(*), intent(in) :: s
    character(:), allocatable :: t
    t = s(:min(len(s), name_length + 1))
  end function Head

  pure logical function IsWhole(s)
    character(*), intent(in) :: s
    integer :: first
    first = 1
    if (len(s) > 1) first = 1 + merge(1, 0, scan(s(1:1), '+-') > 0)
    IsWhole = len(s) >= first .and. verify(s(first:), '0123456789') == 0
  end function IsWhole

end module parameter_table_m
