!> Texts of the parameter table after a pass: resolved parameters, help, template, reference. The texts have many
!> lines; the last has no line end, as the printer adds one.
module parameter_help_m
  use error_m, only: error_t, Fail
  use parameter_table_m, only: RangeText, row_t, table_t, SplitList, TableFind, TableNearest
  use text_m, only: Join, Lower
  implicit none
  private
  public :: TableText, TableTemplate, TableHelp, TableMarkdown, DefaultUnit, Values

  character(*), parameter :: nl = new_line('a')
  integer, parameter :: width = 110          !< columns of a help text
  integer, parameter :: name_columns = 18, default_columns = 18

contains

  !> Every parameter with its value, its origin and its meaning: a parameter file that reads back to the same job, bit for bit.
  function TableText(t) result(text)
    type(table_t), intent(in) :: t
    character(:), allocatable :: text
    integer :: i
    text = '# Resolved parameters; par= this file repeats the job. name = value  # origin; meaning'//nl
    do i = 1, t%n
      associate (r => t%row(i))
        if (NewSection(t, i)) text = text//nl//'# '//r%section//nl
        text = text//Setting(r%name, r%value)//'  # '//r%origin//'; '//Described(r)//nl
      end associate
    end do
    text = Ended(text)
  end function TableText

  !> A parameter file with every parameter at its default, commented out.
  function TableTemplate(t) result(text)
    type(table_t), intent(in) :: t
    character(:), allocatable :: text
    integer :: i
    text = '# Every parameter with its default. Take away the # before a name to set it. SI units; texts may be quoted.'//nl// &
           '# The command line (name=value) wins over this file (par=FILE), the file over the default.'//nl
    do i = 1, t%n
      associate (r => t%row(i))
        if (NewSection(t, i)) text = text//nl//'# --- '//r%section//' '//repeat('-', width - 7 - len(r%section))//nl
        text = text//nl//Wrapped(Described(r), '# ', '# ')
        text = text//'#'//r%name//' = '//r%default//nl
      end associate
    end do
    text = Ended(text)
  end function TableTemplate

  !> The help for the parameter or section `name`, or for all if it is ''. An unknown name is an error that names the nearest.
  subroutine TableHelp(t, name, text, error)
    type(table_t), intent(in) :: t
    character(*), intent(in) :: name
    character(:), allocatable, intent(out) :: text
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: nearest
    integer :: i
    text = ''
    i = TableFind(t, Lower(name))
    if (i > 0) then
      text = Ended(HelpOne(t%row(i)))
      return
    end if
    do i = 1, t%n
      if (name /= '' .and. Lower(t%row(i)%section) /= Lower(name)) cycle
      if (NewSection(t, i) .or. text == '') text = text//repeat(nl, merge(1, 0, text /= ''))//t%row(i)%section//nl
      text = text//HelpRow(t%row(i))
    end do
    text = Ended(text)
    if (text /= '') return
    nearest = TableNearest(t, Lower(name))
    if (nearest /= '') then
      call Fail(error, "no parameter '"//name//"': did you mean "//nearest//'?')
    else
      call Fail(error, "no parameter or section '"//name//"': --help alone lists all")
    end if
  end subroutine TableHelp

  !> `text` without the line end of its last line.
  pure function Ended(text)
    character(*), intent(in) :: text
    character(:), allocatable :: Ended
    Ended = text(:max(0, len(text) - 1))
  end function Ended

  !> One parameter in the list of all: name, default and unit, then meaning and values, wrapped.
  function HelpRow(r) result(text)
    type(row_t), intent(in) :: r
    character(:), allocatable :: text, first
    first = Padded('  '//r%name, name_columns)//' '
    first = Padded(first//DefaultUnit(r), name_columns + default_columns)//' '
    text = Wrapped(Sentence(r), first, repeat(' ', name_columns + default_columns + 1))
  end function HelpRow

  function HelpOne(r) result(text)
    type(row_t), intent(in) :: r
    character(:), allocatable :: text
    text = Wrapped(r%name//': '//r%meaning, '', '  ')
    text = text//Wrapped(KindText(r), '  kind     ', '           ')
    text = text//'  default  '//DefaultUnit(r)//nl
    if (r%limited) text = text//'  range    '//RangeText(r)//Blanked(r%unit)//nl
    text = text//'  section  '//r%section//nl
    text = text//'  example  '//r%name//'='//Example(r)//nl
  end function HelpOne

  function KindText(r) result(text)
    type(row_t), intent(in) :: r
    character(:), allocatable :: text
    select case (r%kind)
    case ('file')
      text = 'path of a file, from the folder the job is started in'
    case ('text')
      text = 'text; quote it where it holds blanks or #'
    case ('word')
      text = 'one of '//Join(SplitList(r%words))
    case ('flag')
      text = 'yes or no'
    case ('int')
      text = 'whole number'
      if (r%words /= '') text = text//', or '//r%words
    case default
      text = 'number'
    end select
    if (r%unit /= '') text = text//' ['//r%unit//']'
  end function KindText

  !> A value to show how the parameter is written: of words one that says something else than the default.
  function Example(r) result(text)
    type(row_t), intent(in) :: r
    character(:), allocatable :: text, words
    text = r%default
    words = r%words
    if (r%kind == 'flag') words = 'yes,no'
    if (r%kind == 'word' .or. r%kind == 'flag') text = NextWord(words, text)
    if (text == "''") text = 'TEXT'
    if (text == 'TEXT' .and. r%kind == 'file') text = 'FILE'
    if (text(1:1) == '''') text = text(2:len(text) - 1)
  end function Example

  !> The first of `words` that is not `default`, which may be quoted.
  pure function NextWord(words, default) result(text)
    character(*), intent(in) :: words, default
    character(:), allocatable :: text
    integer :: i
    text = default
    associate (parts => SplitList(words))
      do i = size(parts), 1, -1
        if (parts(i) /= default .and. "'"//trim(parts(i))//"'" /= default) text = trim(parts(i))
      end do
    end associate
  end function NextWord

  !> Markdown: a table a section.
  function TableMarkdown(t) result(text)
    type(table_t), intent(in) :: t
    character(:), allocatable :: text
    integer :: i
    text = ''
    do i = 1, t%n
      associate (r => t%row(i))
        if (NewSection(t, i)) text = text//repeat(nl, merge(1, 0, i > 1))//'### '//r%section//nl//nl// &
                                     '| name | default | values | meaning |'//nl//'|---|---|---|---|'//nl
        text = text//'| `'//r%name//'` | '//Coded(r%default)//' | '//Escaped(Values(r))//' | '//Escaped(r%meaning)//' |'//nl
      end associate
    end do
    text = Ended(text)
  end function TableMarkdown

  !> A default as code; nothing for an empty text.
  function Coded(default) result(text)
    character(*), intent(in) :: default
    character(:), allocatable :: text
    text = ''
    if (default == "''") return
    text = default
    if (text(1:1) == '''') text = text(2:len(text) - 1)
    text = '`'//text//'`'
  end function Coded

  !> Makes characters plain that have a meaning in Markdown.
  function Escaped(s) result(t)
    character(*), intent(in) :: s
    character(:), allocatable :: t
    integer :: i
    t = ''
    do i = 1, len(s)
      if (scan(s(i:i), '|*<`') > 0) t = t//'\'
      t = t//s(i:i)
    end do
  end function Escaped

  ! --- pieces ---------------------------------------------------------------------------------------------------------

  !> The values allowed: words, yes/no, or range and unit.
  function Values(r) result(text)
    type(row_t), intent(in) :: r
    character(:), allocatable :: text
    select case (r%kind)
    case ('word')
      text = Join(SplitList(r%words))
    case ('int', 'real')
      text = RangeText(r)//Blanked(r%unit)
    case ('flag')
      text = 'yes, no'
    case default
      text = r%kind
    end select
  end function Values

  !> Meaning, and the values allowed where the meaning leaves them open.
  function Sentence(r) result(text)
    type(row_t), intent(in) :: r
    character(:), allocatable :: text
    text = r%meaning
    if (r%kind == 'word' .or. r%kind == 'int' .or. r%kind == 'real') text = text//' ('//Values(r)//')'
  end function Sentence

  !> Meaning with the unit, or with the words allowed.
  function Described(r) result(text)
    type(row_t), intent(in) :: r
    character(:), allocatable :: text
    text = r%meaning
    if (r%kind == 'word') text = text//' ('//Values(r)//')'
    if (r%unit /= '') text = text//' ['//r%unit//']'
  end function Described

  function Setting(name, value) result(text)
    character(*), intent(in) :: name, value
    character(:), allocatable :: text
    text = Padded(Padded(name, 16)//' = '//value, 40)
  end function Setting

  function DefaultUnit(r) result(text)
    type(row_t), intent(in) :: r
    character(:), allocatable :: text
    text = r%default
    if (text(1:1) == '''') text = text(2:len(text) - 1)
    if (text == '') text = '-'
    text = text//Blanked(r%unit)
  end function DefaultUnit

  function Blanked(unit) result(text)
    character(*), intent(in) :: unit
    character(:), allocatable :: text
    text = ''
    if (unit /= '') text = ' '//unit
  end function Blanked

  function Padded(s, columns) result(t)
    character(*), intent(in) :: s
    integer, intent(in) :: columns
    character(:), allocatable :: t
    t = s//repeat(' ', max(0, columns - len(s)))
  end function Padded

  !> `text` in lines of at most 110 columns, broken at blanks; `first` stands before the first line, `next` before the others.
  function Wrapped(text, first, next) result(lines)
    character(*), intent(in) :: text, first, next
    character(:), allocatable :: lines, rest, before
    integer :: cut
    lines = ''
    rest = text
    before = first
    do
      if (len(before) + len(rest) <= width) exit
      cut = index(rest(:width - len(before) + 1), ' ', back=.true.)
      if (cut <= 1) exit
      lines = lines//before//rest(:cut - 1)//nl
      rest = rest(cut + 1:)
      before = next
    end do
    lines = lines//before//rest//nl
  end function Wrapped

  logical function NewSection(t, i)
    type(table_t), intent(in) :: t
    integer, intent(in) :: i
    NewSection = .true.
    if (i > 1) NewSection = t%row(i)%section /= t%row(i - 1)%section
  end function NewSection

end module parameter_help_m
