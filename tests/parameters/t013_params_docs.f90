!> Help, template and reference are printed from the table, whole, and the decks that are shipped agree with it.
program t013_params_docs
  use acoustic2d_m, only: acoustic2d_t
  use check_m, only: Claim, ClaimFails, ClaimFine, Done
  use error_m, only: error_t
  use fd2d_variants_m, only: fd2d_variants
  use job_m, only: JobFromText
  use parameters_m, only: job_t
  use physics_m, only: JobTable
  use parameter_table_m, only: table_t, TableArguments, TableCheck, TableFind
  use parameter_help_m, only: TableHelp, TableMarkdown, TableTemplate, TableText
  use text_m, only: Str
  implicit none
  type(acoustic2d_t) :: physics
  character(*), parameter :: nl = new_line('a')
  character(:), allocatable :: root
  type(table_t) :: t
  type(job_t) :: job
  type(error_t), allocatable :: error

  root = Environment('ROOT')
  t%variants = 'auto,'//fd2d_variants%names()
  call JobTable(physics, t, job)
  call Whole()
  call HelpOfOne()
  call Template()
  call Decks()
  deallocate (root)
  call Done()

contains

  !> Every parameter stands in every document, and no line of the help is too long for a terminal.
  subroutine Whole()
    character(:), allocatable :: help, markdown
    integer :: i, missing
    call TableHelp(t, '', help, error)
    call ClaimFine(error, 'help for all parameters')
    markdown = TableMarkdown(t)
    missing = 0
    do i = 1, t%n
      if (index(help, nl//'  '//t%row(i)%name//' ') == 0) missing = missing + 1
      if (index(markdown, nl//'| `'//t%row(i)%name//'` | ') == 0) missing = missing + 1
      if (Occurs(TableTemplate(t), nl//'#'//t%row(i)%name//' = ') /= 1) missing = missing + 1
      if (Occurs(TableText(t), nl//t%row(i)%name//' ') /= 1) missing = missing + 1
    end do
    call Claim(t%n > 40 .and. missing == 0, Str(t%n)//' parameters, '// &
               Str(missing)//' missing in help, reference, template or resolved text')
    call Claim(Longest(help) <= 110, 'longest line of the help: '//Str(Longest(help))//' of 110 columns')
    call Claim(Longest(TableTemplate(t)) <= 110, 'longest line of the template: '// &
               Str(Longest(TableTemplate(t)))//' of 110 columns')
    call Claim(Occurs(markdown, '### ') == 8, 'the reference has '//Str(Occurs(markdown, '### '))//' sections of 8')
    call Claim(Columns(markdown//nl), 'each line of the reference has four columns')
  end subroutine Whole

  subroutine HelpOfOne()
    character(:), allocatable :: text
    call TableHelp(t, 'dt_out', text, error)
    call ClaimFine(error, 'help for dt_out')
    call Claim(index(text, 'sample interval') > 0 .and. index(text, '1e-7..10 s') > 0 .and. index(text, '0.004 s') > 0, &
               'help for dt_out tells meaning, default and range')
    call TableHelp(t, 'VARIANT', text, error)
    call Claim(index(text, 'auto, fortran, cpu') > 0, 'help for VARIANT lists its words')
    call Claim(index(text//nl, 'example  variant=fortran'//nl) > 0, &
               'and shows another than the default: '//text(index(text, 'example'):))
    call TableHelp(t, 'time_correction', text, error)
    call Claim(index(text//nl, 'example  time_correction=no'//nl) > 0, 'and of a yes the no')
    call TableHelp(t, 'time', text, error)
    call Claim(index(text, 'tmax') > 0 .and. index(text, 'fpeak') == 0, 'help for the section time lists it alone')
    call TableHelp(t, 'half_lenght', text, error)
    call ClaimFails(error, 'did you mean half_length?', 'help for half_lenght')
    call TableHelp(t, 'quux_quux', text, error)
    call ClaimFails(error, '--help alone lists all', 'help for quux_quux')
    call TableHelp(t, repeat('x', 5000), text, error)
    call Claim(allocated(error), 'help for a name of 5000 characters is refused')
    deallocate (error)
  end subroutine HelpOfOne

  !> The template leaves the defaults; with the # before the names taken away it still does.
  subroutine Template()
    type(table_t) :: t2, t3
    type(job_t) :: job2
    character(:), allocatable :: live
    integer :: i, differ
    call JobFromText(physics, TableTemplate(t), job2, t2, error)
    call ClaimFine(error, 'the template reads without fault')
    live = Uncommented(TableTemplate(t))
    call JobFromText(physics, live, job2, t3, error)
    call ClaimFine(error, 'the template with all names set reads without fault')
    differ = 0
    do i = 1, t%n
      if (t%row(i)%value /= t2%row(i)%value .or. t%row(i)%value /= t3%row(i)%value) differ = differ + 1
      if (t3%row(i)%origin == 'default') differ = differ + 1
    end do
    call Claim(differ == 0, 'of '//Str(t%n)//' defaults '//Str(differ)//' differ or are missing in the template')
  end subroutine Template

  !> The decks that are shipped: defaults.par is the template, the others hold nothing unknown.
  subroutine Decks()
    call Claim(Contents(root//'/inputs/defaults.par') == TableTemplate(t)//nl, &
               'inputs/defaults.par is the template (if not: SplFd2dmod --template > inputs/defaults.par)')
    call Deck('marmousi2.par')
    call Deck('demo.par')
  end subroutine Decks

  subroutine Deck(name)
    character(*), intent(in) :: name
    type(table_t) :: td
    type(job_t) :: jd
    call TableArguments(td, ['par='//root//'/inputs/'//name])
    call JobTable(physics, td, jd)
    call TableCheck(td, error)
    call ClaimFine(error, 'inputs/'//name//' reads without fault')
    call Claim(jd%vp /= '' .and. jd%keymap /= '', 'inputs/'//name//' names a model and a key-map: '//jd%vp//', '//jd%keymap)
    call Claim(td%row(TableFind(td, 'vp'))%origin /= 'default', 'inputs/'//name//' sets vp')
  end subroutine Deck

  ! --- pieces ---------------------------------------------------------------------------------------------------------

  function Uncommented(text) result(live)
    character(*), intent(in) :: text
    character(:), allocatable :: live
    integer :: i
    live = ''
    do i = 1, len(text)
      if (i > 1 .and. i < len(text)) then
        if (text(i - 1:i - 1) == nl .and. text(i:i) == '#' .and. text(i + 1:i + 1) /= ' ') cycle
      end if
      live = live//text(i:i)
    end do
  end function Uncommented

  logical function Columns(markdown)
    character(*), intent(in) :: markdown
    integer :: start, last, i, bars
    Columns = .true.
    start = 1
    do while (start <= len(markdown))
      last = start + index(markdown(start:), nl) - 2
      bars = 0
      do i = start, last
        if (markdown(i:i) == '|') bars = bars + 1
      end do
      if (bars /= 0 .and. bars /= 5) Columns = .false.
      start = last + 2
    end do
  end function Columns

  integer function Occurs(text, word)
    character(*), intent(in) :: text, word
    integer :: i
    Occurs = 0
    do i = 1, len(text) - len(word) + 1
      if (text(i:i + len(word) - 1) == word) Occurs = Occurs + 1
    end do
  end function Occurs

  integer function Longest(text)
    character(*), intent(in) :: text
    integer :: i, start
    Longest = 0
    start = 1
    do i = 1, len(text)
      if (text(i:i) == nl) start = i + 1
      Longest = max(Longest, i - start + 1)
    end do
  end function Longest

  function Contents(path) result(text)
    character(*), intent(in) :: path
    character(:), allocatable :: text
    integer :: unit, size
    logical :: there
    text = ''
    inquire (file=path, exist=there, size=size)
    if (.not. there) return
    deallocate (text)
    allocate (character(size) :: text)
    open (newunit=unit, file=path, access='stream', form='unformatted', status='old', action='read')
    read (unit) text
    close (unit)
  end function Contents

  function Environment(name) result(value)
    character(*), intent(in) :: name
    character(:), allocatable :: value
    integer :: n
    call get_environment_variable(name, length=n)
    allocate (character(n) :: value)
    call get_environment_variable(name, value)
  end function Environment

end program t013_params_docs
