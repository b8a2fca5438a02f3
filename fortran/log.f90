!> The one printer. Log lines and progress go to stderr, what a user asked to see goes to stdout.
module log_m
  use, intrinsic :: iso_fortran_env, only: error_unit, output_unit
  implicit none
  private
  public :: LogInfo, LogWarn, LogError, LogProgress, LogPrint, LogFile, LogKeep

  integer :: file_unit = -1          !< unit of a log file beside the data, -1 = none (newunit= gives other negative numbers)
  integer :: live_length = 0         !< length of the live line on the terminal, 0 = none

contains

  !> Also writes every log line to the file on `unit` (opened by the caller); -1 stops that.
  subroutine LogFile(unit)
    integer, intent(in) :: unit
    file_unit = unit
  end subroutine LogFile

  !> A line for the log file alone.
  subroutine LogKeep(message)
    character(*), intent(in) :: message
    if (file_unit == -1) return
    write (file_unit, '(a)') message
    flush (file_unit)
  end subroutine LogKeep

  subroutine LogInfo(message)
    character(*), intent(in) :: message
    call PutLine(message)
  end subroutine LogInfo

  subroutine LogWarn(message)
    character(*), intent(in) :: message
    call PutLine('warning: '//message)
  end subroutine LogWarn

  subroutine LogError(message)
    character(*), intent(in) :: message
    call PutLine('error: '//message)
  end subroutine LogError

  !> Output that was asked for (help, plan, status): stdout, never the log.
  subroutine LogPrint(message)
    character(*), intent(in) :: message
    write (output_unit, '(a)') message
  end subroutine LogPrint

  !> One line of progress: rewritten in place when `live`, else an ordinary line.
  subroutine LogProgress(message, live)
    character(*), intent(in) :: message
    logical, intent(in) :: live
    if (live) then
      write (error_unit, '(a)', advance='no') achar(13)//message//repeat(' ', max(0, live_length - len(message)))
      flush (error_unit)
      live_length = len(message)
    else
      call PutLine(message)
    end if
  end subroutine LogProgress

  subroutine PutLine(message)
    character(*), intent(in) :: message
    if (live_length > 0) then
      write (error_unit, '(a)', advance='no') achar(13)//repeat(' ', live_length)//achar(13)
      live_length = 0
    end if
    write (error_unit, '(a)') message
    flush (error_unit)
    call LogKeep(message)
  end subroutine PutLine

end module log_m
