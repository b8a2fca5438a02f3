!> A list of problems: everything that is wrong with an input is reported at once, a line each.
module problems_m
  use error_m, only: error_t, Fail
  use text_m, only: Str
  implicit none
  private
  public :: problems_t, ProblemAdd, ProblemsRaise

  integer, parameter :: most = 50            !< problems reported; the rest is only counted

  type :: problems_t
    integer :: n = 0                          !< problems found
    character(:), allocatable :: lines        !< their sentences, each after a line break and two blanks
  contains
    procedure :: full
  end type problems_t

  !> ProblemAdd(problems, sentence), or ProblemAdd(problems, path, line, sentence) for "path, line N: sentence" (line 0: the
  !> whole file).
  interface ProblemAdd
    module procedure AddSentence, AddAtLine
  end interface ProblemAdd

contains

  !> True when enough problems are reported: sentences that are costly to make may be left out.
  pure logical function full(self)
    class(problems_t), intent(in) :: self
    full = self%n >= most
  end function full

  !> One more problem. `sentence` says the value, the limit and what to do.
  pure subroutine AddSentence(problems, sentence)
    type(problems_t), intent(inout) :: problems
    character(*), intent(in) :: sentence
    problems%n = problems%n + 1
    if (problems%n > most) return
    if (.not. allocated(problems%lines)) problems%lines = ''
    problems%lines = problems%lines//new_line('a')//'  '//sentence
  end subroutine AddSentence

  pure subroutine AddAtLine(problems, path, line, sentence)
    type(problems_t), intent(inout) :: problems
    character(*), intent(in) :: path, sentence
    integer, intent(in) :: line
    if (line > 0) then
      call AddSentence(problems, path//', line '//Str(line)//': '//sentence)
    else
      call AddSentence(problems, path//': '//sentence)
    end if
  end subroutine AddAtLine

  !> Turns the list into one error: the bare sentence if there is one problem, else a heading and a line each. `what` says what
  !> the problems are in, e.g. 'the parameters'.
  pure subroutine ProblemsRaise(problems, what, error)
    type(problems_t), intent(in) :: problems
    character(*), intent(in) :: what
    type(error_t), allocatable, intent(inout) :: error
    if (problems%n == 0) return
    if (problems%n == 1) then
      call Fail(error, problems%lines(4:))
    else if (problems%n <= most) then
      call Fail(error, Str(problems%n)//' faults in '//what//':'//problems%lines)
    else
      call Fail(error, Str(problems%n)//' faults in '//what//':'//problems%lines//new_line('a')//'  and '// &
                Str(problems%n - most)//' more')
    end if
  end subroutine ProblemsRaise

end module problems_m
