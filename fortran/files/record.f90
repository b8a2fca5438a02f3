!> The record of a run beside its output: the log, OUTPUT.log, which is added to, and the resolved parameters, OUTPUT.par,
!> which are replaced: par=OUTPUT.par repeats the run.
!>
!> The record begins with a checksum of all that follows, so that one that somebody edited is known, and never replaced.
module record_m
  use error_m, only: error_t, Fail, FailFromC
  use files_c, only: append_close, append_open, append_write
  use clock_m, only: ClockParse, ClockSeconds, ClockText
  use files_m, only: FileExists, FileHead, FileRemove, FileText, FileWrite
  use text_crc32_m, only: Crc32, Hex
  use iso_c_binding, only: c_associated, c_int, c_ptr
  use kinds_m, only: i8
  use log_m, only: LogFile, LogKeep, LogWarn
  use sides_m, only: SidePath
  use text_m, only: CString
  use version_m, only: VersionText
  implicit none
  private
  public :: RecordKeep, RecordKnown, LogKnown

  character(*), parameter :: nl = new_line('a')
  character(*), parameter :: before = '# Written by ', sum = '; crc32 of what follows: '
  integer(i8), parameter :: longest_head = 400  !< bytes of the first line of a log, at most

contains

  !> From here on the log goes to OUTPUT.log too, and the resolved parameters `settings` stand in OUTPUT.par. Where that cannot be
  !> written the run goes on, with a warning.
  subroutine RecordKeep(output, program, settings)
    character(*), intent(in) :: output, program, settings
    type(error_t), allocatable :: error
    call OpenLog(SidePath(output, 'log'), program//' '//VersionText()//', '//ClockText(ClockSeconds()))
    call LogKeep(settings)
    call FileWrite(SidePath(output, 'par'), before//program//' '//VersionText()//sum//Hex(Crc32(settings//nl))//nl//settings//nl, &
                   error)
    if (allocated(error)) call LogWarn("cannot write '"//SidePath(output, 'par')//"' ("//error%message// &
                                       '); the parameters stand in the output file')
  end subroutine RecordKeep

  !> Opens the log, with the line `first` added and on the disk. A new log without that line is removed: by it the next run knows
  !> whose the file is.
  subroutine OpenLog(path, first)
    character(*), intent(in) :: path, first
    type(error_t), allocatable :: error, ignored
    type(c_ptr) :: handle
    character(200) :: why
    integer :: unit, status
    logical :: made
    made = .not. FileExists(path)
    handle = append_open(CString(path))
    if (.not. c_associated(handle)) call FailFromC(1, error)
    if (.not. allocated(error)) call FailFromC(append_write(handle, first//nl, len(first//nl, i8), 1_c_int), error)
    call append_close(handle)
    status = 0
    if (.not. allocated(error)) open (newunit=unit, file=path, position='append', action='write', status='old', iostat=status, &
                                      iomsg=why)
    if (status /= 0) call Fail(error, "cannot write '"//path//"': "//trim(why))
    if (allocated(error)) then
      if (made) call FileRemove(path, ignored)
      call LogWarn(error%message//': this run has no log')
    else
      call LogFile(unit)
    end if
  end subroutine OpenLog

  !> True of a file that is a record as a run wrote it, to the last byte.
  logical function RecordKnown(path) result(known)
    character(*), intent(in) :: path
    type(error_t), allocatable :: error
    character(:), allocatable :: text
    integer :: at, last
    known = .false.
    call FileHead(path, longest_head, text, error)      ! another file may be larger than the memory
    if (allocated(error) .or. index(text, before) /= 1) return
    call FileText(path, text, error)
    if (allocated(error)) return
    last = index(text, nl)
    at = index(text(:max(last, 0)), sum) + len(sum)
    if (index(text, before) /= 1 .or. at == len(sum) .or. last /= at + 8) return
    known = text(at:last - 1) == Hex(Crc32(text(last + 1:)))
  end function RecordKnown

  !> True of a file that is a log of runs: 'PROGRAM VERSION, TIME' is its first line. An empty one may be: it loses nothing.
  logical function LogKnown(path) result(known)
    character(*), intent(in) :: path
    type(error_t), allocatable :: error
    character(:), allocatable :: text
    integer :: last
    call FileHead(path, longest_head, text, error)
    known = .not. allocated(error) .and. len(text) == 0
    last = index(text, nl) - 1
    if (last < 25) return
    known = index(text, 'Spl') == 1 .and. text(last - 21:last - 20) == ', '
    if (known) known = ClockParse(text(last - 19:last)) >= 0
  end function LogKnown

end module record_m
