!> A list of faults: everything that is wrong with an input is told at once, a line each.
module faults_m
  use error_m, only: error_t, Fail
  use text_m, only: Str
  implicit none
  private
  public :: faults_t, FaultAdd, FaultsRaise

  integer, parameter :: most = 50            !< faults told; the rest is only counted

  type :: faults_t
    integer :: n = 0                          !< faults found
    character(:), allocatable :: lines        !< their sentences, each after a line break and two blanks
  contains
    procedure :: full
  end type faults_t

  !> FaultAdd(faults, sentence), or FaultAdd(faults, path, line, sentence) for "path, line N: sentence" (line 0: the whole file).
  interface FaultAdd
    module procedure AddSentence, AddAtLine
  end interface FaultAdd

contains

  !> Enough faults are told: sentences that are costly to make may be left out.
  pure logical function full(self)
    class(faults_t), intent(in) :: self
    full = self%n >= most
  end function full

  !> One more fault. `sentence` says the value, the limit and what to do.
  pure subroutine AddSentence(faults, sentence)
    type(faults_t), intent(inout) :: faults
    character(*), intent(in) :: sentence
    faults%n = faults%n + 1
    if (faults%n > most) return
    if (.not. allocated(faults%lines)) faults%lines = ''
    faults%lines = faults%lines//new_line('a')//'  '//sentence
  end subroutine AddSentence

  pure subroutine AddAtLine(faults, path, line, sentence)
    type(faults_t), intent(inout) :: faults
    character(*), intent(in) :: path, sentence
    integer, intent(in) :: line
    if (line > 0) then
      call AddSentence(faults, path//', line '//Str(line)//': '//sentence)
    else
      call AddSentence(faults, path//': '//sentence)
    end if
  end subroutine AddAtLine

  !> Turns the list into one error: the bare sentence if there is one fault, else a heading and a line each. `what` says what
  !> the faults are in, e.g. 'the parameters'.
  pure subroutine FaultsRaise(faults, what, error)
    type(faults_t), intent(in) :: faults
    character(*), intent(in) :: what
    type(error_t), allocatable, intent(inout) :: error
    if (faults%n == 0) return
    if (faults%n == 1) then
      call Fail(error, faults%lines(4:))
    else if (faults%n <= most) then
      call Fail(error, Str(faults%n)//' faults in '//what//':'//faults%lines)
    else
      call Fail(error, Str(faults%n)//' faults in '//what//':'//faults%lines//new_line('a')//'  and '// &
                Str(faults%n - most)//' more')
    end if
  end subroutine FaultsRaise

end module faults_m
