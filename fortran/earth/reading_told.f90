!> Progress of the reading of a large model, told now and then: to read and check some thousand million samples takes minutes.
module reading_told_m
  use host_c, only: host_seconds
  use kinds_m, only: dp
  use log_m, only: LogInfo
  use text_m, only: Str
  implicit none
  private
  public :: reading_told_t, ReadingBegin, ReadingTell

  real(dp), parameter :: patience = 5         !< seconds after which the log tells how far it is

  type :: reading_told_t
    real(dp) :: due = huge(1.0_dp)            !< when something is told next [s]
  end type reading_told_t

contains

  subroutine ReadingBegin(told)
    type(reading_told_t), intent(out) :: told
    told%due = host_seconds() + patience
  end subroutine ReadingBegin

  !> `words` say what is done now, or was done, with part i of n where these are given. Told where nothing was for long.
  subroutine ReadingTell(told, words, i, n)
    type(reading_told_t), intent(inout) :: told
    character(*), intent(in) :: words
    integer, intent(in), optional :: i, n
    if (host_seconds() < told%due) return
    told%due = host_seconds() + patience
    if (present(i) .and. present(n)) then
      call LogInfo('model    '//Str(nint(100.0_dp*i/n))//' % of '//words)
    else
      call LogInfo('model    '//words)
    end if
  end subroutine ReadingTell

end module reading_told_m
