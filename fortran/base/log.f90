!> The one printer. Log lines and progress go to stderr, what a user asked to see goes to stdout.
module log_m
  use, intrinsic :: iso_fortran_env, only: error_unit
  use error_m, only: error_t, FailFromC
  use host_c, only: host_print
  use iso_c_binding, only: c_long
  use text_m, only: NextLine
  implicit none
  private
  public :: LogInfo, LogWarn, LogError, LogLines, LogProgress, LogPrint, LogPrinted, LogFile, LogKeep

  integer, parameter :: none = -1    !< no unit: newunit= gives negative numbers, but never this one
  integer :: file_unit = none        !< unit of a log file beside the data
  integer :: live_length = 0         !< length of the live line on the terminal, 0 = none
  type(error_t), allocatable :: unprinted   !< why output that was asked for is not whole

contains

  !> Also writes every log line to the file on `unit` (opened by the caller); -1 stops that.
  subroutine LogFile(unit)
    integer, intent(in) :: unit
    file_unit = unit
  end subroutine LogFile

  !> A line for the log file alone.
  subroutine LogKeep(message)
    character(*), intent(in) :: message
    integer :: ignored                            ! a full disk costs lines of the log, never the run
    if (file_unit == none) return
    write (file_unit, '(a)', iostat=ignored) message
    flush (file_unit, iostat=ignored)
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

  !> Each line of `text` to the log, as a warning or not; nothing of ''. `label` stands before the first, blanks before the others.
  subroutine LogLines(text, warn, label)
    character(*), intent(in) :: text
    logical, intent(in) :: warn
    character(*), intent(in), optional :: label
    character(:), allocatable :: before, line
    integer :: at
    before = ''
    if (present(label)) before = label
    at = 1
    do while (at <= len(text))
      call NextLine(text, at, line)
      if (warn) then
        call LogWarn(before//line)
      else
        call LogInfo(before//line)
      end if
      before = repeat(' ', len(before))
    end do
  end subroutine LogLines

  !> Output that was asked for (help, plan, status): stdout, never the log.
  subroutine LogPrint(message)
    character(*), intent(in) :: message
    if (.not. allocated(unprinted)) call FailFromC(host_print(len(message) + 1_c_long, message//new_line('a')), unprinted)
  end subroutine LogPrint

  !> Fails where some of the output that was asked for could not be written.
  subroutine LogPrinted(error)
    type(error_t), allocatable, intent(inout) :: error
    if (allocated(unprinted) .and. .not. allocated(error)) call move_alloc(unprinted, error)
  end subroutine LogPrinted

  !> One line of progress: rewritten in place when `live`, else an ordinary line.
  subroutine LogProgress(message, live)
    character(*), intent(in) :: message
    logical, intent(in) :: live
    integer :: ignored
    if (live) then
      write (error_unit, '(a)', advance='no', iostat=ignored) achar(13)//message//repeat(' ', max(0, live_length - len(message)))
      flush (error_unit, iostat=ignored)
      live_length = len(message)
    else
      call PutLine(message)
    end if
  end subroutine LogProgress

  subroutine PutLine(message)
    character(*), intent(in) :: message
    integer :: ignored
    if (live_length > 0) then
      write (error_unit, '(a)', advance='no', iostat=ignored) achar(13)//repeat(' ', live_length)//achar(13)
      live_length = 0
    end if
    write (error_unit, '(a)', iostat=ignored) message
    flush (error_unit, iostat=ignored)
    call LogKeep(message)
  end subroutine PutLine

end module log_m
