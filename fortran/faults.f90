!> All faults of a text file in one error: the first twenty, a line each, and how many more there are.
module faults_m
  use error_m, only: error_t, Fail
  use text_m, only: Str
  implicit none
  private
  public :: faults_t, FaultAdd, FaultsWanted, FaultsFail

  integer, parameter :: shown_max = 20

  type :: faults_t
    integer :: n = 0                          !< faults found
    character(:), allocatable :: lines        !< the first of them, joined by line ends
  end type faults_t

contains

  !> Adds "path, line N: sentence"; line 0 stands for the file as a whole.
  subroutine FaultAdd(faults, path, line, sentence)
    type(faults_t), intent(inout) :: faults
    character(*), intent(in) :: path, sentence
    integer, intent(in) :: line
    character(:), allocatable :: place
    if (.not. allocated(faults%lines)) faults%lines = ''
    faults%n = faults%n + 1
    if (faults%n > shown_max) return
    place = path
    if (line > 0) place = place//', line '//Str(line)
    if (faults%n > 1) faults%lines = faults%lines//new_line('a')
    faults%lines = faults%lines//place//': '//sentence
  end subroutine FaultAdd

  !> Whether the next fault will be shown: worth the work of a helpful sentence.
  pure logical function FaultsWanted(faults)
    type(faults_t), intent(in) :: faults
    FaultsWanted = faults%n < shown_max
  end function FaultsWanted

  !> Turns the faults, if any, into `error`; `title` is what has them ("key-map line.keymap").
  subroutine FaultsFail(faults, title, error)
    type(faults_t), intent(in) :: faults
    character(*), intent(in) :: title
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: message
    if (faults%n == 0) return
    if (faults%n == 1) then
      call Fail(error, faults%lines)
      return
    end if
    message = title//' has '//Str(faults%n)//' faults:'//new_line('a')//faults%lines
    if (faults%n > shown_max) message = message//new_line('a')//'... and '//Str(faults%n - shown_max)//' more'
    call Fail(error, message)
  end subroutine FaultsFail

end module faults_m
