!> The parameter table as a manual page and as completion of words in bash.
module parameter_manual_m
  use parameter_help_m, only: DefaultUnit, Values
  use parameter_table_m, only: row_t, SplitList, table_t
  implicit none
  private
  public :: TableManual, TableCompletion, Roff

  character(*), parameter :: nl = new_line('a')

contains

  !> Every parameter, a heading a section: the part PARAMETERS of a page for man.
  function TableManual(t) result(text)
    type(table_t), intent(in) :: t
    character(:), allocatable :: text
    integer :: i
    text = '.SH PARAMETERS'//nl
    do i = 1, t%n
      associate (r => t%row(i))
        if (i == 1) then
          text = text//'.SS "'//Roff(r%section)//'"'//nl
        else if (r%section /= t%row(i - 1)%section) then
          text = text//'.SS "'//Roff(r%section)//'"'//nl
        end if
        text = text//'.TP'//nl//'\fB'//Roff(r%name)//'\fR=\fI'//Roff(Values(r))//'\fR'//nl//Roff(r%meaning)//'.'//nl//'.br'//nl// &
               'Default: '//Roff(DefaultUnit(r))//nl
      end associate
    end do
  end function TableManual

  !> `text` so that roff takes none of it for a command; a hyphen stays one that can be copied.
  pure function Roff(text) result(safe)
    character(*), intent(in) :: text
    character(:), allocatable :: safe
    integer :: i
    safe = ''
    do i = 1, len(text)
      select case (text(i:i))
      case ('\')
        safe = safe//'\e'
      case ('-')
        safe = safe//'\-'
      case ('''')
        safe = safe//'\(aq'
      case ('`')
        safe = safe//'\(ga'
      case ('^')
        safe = safe//'\(ha'
      case ('~')
        safe = safe//'\(ti'
      case ('"')
        safe = safe//'\(dq'
      case default
        safe = safe//text(i:i)
      end select
    end do
    if (index(text, '.') == 1) safe = '\&'//safe
  end function Roff

  !> A script that teaches bash the words of `program`: verbs, options, name= and the values of each name. bash cuts words at =, the
  !> script does not.
  function TableCompletion(t, program, verbs) result(text)
    type(table_t), intent(in) :: t
    character(*), intent(in) :: program, verbs         !< joined by blanks
    character(:), allocatable :: text, names, files, words
    integer :: i
    names = ''
    files = 'par'
    words = ''
    do i = 1, t%n
      associate (r => t%row(i))
        names = names//' '//r%name
        if (r%kind == 'file') then
          files = files//'|'//r%name
        else if (Choices(r) /= '') then
          words = words//'    '//r%name//') words='''//Choices(r)//''' ;;'//nl
        end if
      end associate
    end do
    text = '# Completion of words in bash:  source <('//program//' --completion)'//nl// &
           '_'//program//'() {'//nl// &
           '  local line=${COMP_LINE:0:COMP_POINT} names='''//trim(adjustl(names))//''' word name words before='//nl// &
           '  word=${line##*[[:space:]]}'//nl// &
           '  COMPREPLY=()'//nl// &
           '  case $word in'//nl// &
           '  *=*)'//nl// &
           '    name=${word%%=*} word=${word#*=}'//nl// &
           '    [[ $COMP_WORDBREAKS == *=* ]] || before=$name='//nl// &
           '    case $name in'//nl//words// &
           '    '//files//')'//nl// &
           '      compopt -o filenames'//nl// &
           '      mapfile -t COMPREPLY < <(compgen -P "$before" -f -- "$word")'//nl// &
           '      return ;;'//nl// &
           '    *) return ;;'//nl// &
           '    esac ;;'//nl// &
           '  -*) words=''--help --template --markdown --man --completion --version --json'' ;;'//nl// &
           '  *)'//nl// &
           '    if [[ $line =~ [[:space:]](--help|-h)[[:space:]]+[^[:space:]]*$ ]]; then'//nl// &
           '      words=$names'//nl// &
           '    else'//nl// &
           '      words="'//verbs//' par= ${names// /= }="'//nl// &
           '    fi ;;'//nl// &
           '  esac'//nl// &
           '  mapfile -t COMPREPLY < <(compgen -P "$before" -W "$words" -- "$word")'//nl// &
           '  if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace; fi'//nl// &
           '}'//nl// &
           'complete -F _'//program//' '//program
  end function TableCompletion

  !> The words that a value may be, joined by blanks; '' where it is a number or a text.
  function Choices(r) result(text)
    type(row_t), intent(in) :: r
    character(:), allocatable :: text
    character(32), allocatable :: list(:)
    integer :: i
    text = ''
    if (r%kind == 'flag') text = 'yes no'
    if (r%kind == 'flag' .or. r%words == '') return
    allocate (list, source=SplitList(r%words))
    do i = 1, size(list)
      text = trim(text//' '//list(i))
    end do
    text = adjustl(text)
    text = trim(text)
  end function Choices

end module parameter_manual_m
