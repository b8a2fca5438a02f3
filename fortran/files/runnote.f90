!> Notes of the journal on a run, beside its times: with `start` who runs it, and where; with `stop` how it ended, and why.
!>
!>     start   program=SplFd2dmod ranks=9 nodes=2 group=4 variant=tuned,cpu launch=0f3a slurm=4711 folder=/data/my line
!>     stop    exit=3 cause=signal signal 10 (SIGUSR1)
!>
!> group: ranks that model a shot together, if not 1; variant: of the kernels, on GPUs and on cores; launch: the word in SPL_LAUNCH,
!> by which run-until-done knows its own; slurm: the job. These, and the folder, may be missing, and journals of older programs have
!> no such notes.
module runnote_m
  use host_c, only: host_folder, host_program
  use iso_c_binding, only: c_char
  use text_m, only: FString, Str, ToInt
  implicit none
  private
  public :: begun_t, ended_t, BegunNote, BegunRead, BegunBefore, EndedNote, EndedRead, OwnFolder, OwnProgram, SlurmStartedAgain

  integer, parameter :: most = 370            !< characters of a note: see journal.f90
  integer, parameter :: path_most = 4096

  !> Causes of a run's end before all was done. The words stand in journals and in `status --json`: they stay.
  character(*), parameter, public :: cause_signal = 'signal', cause_stop_file = 'stop_file', &
                                     cause_deadline = 'deadline', cause_disk = 'disk', &
                                     cause_workers = 'workers', cause_launcher = 'launcher'
  character(9), parameter :: causes(6) = [character(9) :: cause_signal, cause_stop_file, cause_deadline, cause_disk, &
                                          cause_workers, cause_launcher]

  !> The start of a run; '' and 0: not noted.
  type :: begun_t
    character(:), allocatable :: program, launch, slurm, folder
    integer :: ranks = 0, nodes = 0, group = 1
  end type begun_t

  !> The end of a run.
  type :: ended_t
    integer :: exit_status = -1                 !< -1 = not noted
    character(:), allocatable :: cause          !< one of the words above, '' = all was done, or not noted
    character(:), allocatable :: why            !< in words
  end type ended_t

contains

  !> The note of a run of this process that begins now.
  function BegunNote(program, ranks, nodes, group, variant) result(note)
    character(*), intent(in) :: program, variant
    integer, intent(in) :: ranks, nodes, group
    character(:), allocatable :: note, folder
    note = 'program='//program//' ranks='//Str(ranks)//' nodes='//Str(nodes)
    if (group > 1) note = note//' group='//Str(group)
    note = note//' variant='//variant
    note = note//Named(' launch=', Environment('SPL_LAUNCH'))
    note = note//Named(' slurm=', SlurmJob())
    folder = OwnFolder()
    if (len(note) + len(folder) + 8 < most .and. Printable(folder)) note = note//Named(' folder=', folder)
  end function BegunNote

  !> Reads the note of a start.
  pure subroutine BegunRead(note, begun)
    character(*), intent(in) :: note
    type(begun_t), intent(out) :: begun
    integer :: at
    at = index(note//' folder=/', ' folder=/')
    begun%folder = trim(note(min(at + 8, len(note) + 1):))
    begun%program = Word(note(:at - 1), 'program')
    begun%launch = Word(note(:at - 1), 'launch')
    begun%slurm = Word(note(:at - 1), 'slurm')
    begun%ranks = Number(Word(note(:at - 1), 'ranks'), 0)
    begun%nodes = Number(Word(note(:at - 1), 'nodes'), 0)
    begun%group = max(1, Number(Word(note(:at - 1), 'group'), 1))
  end subroutine BegunRead

  !> True of a Slurm job that Slurm has started again.
  logical function SlurmStartedAgain() result(again)
    character(:), allocatable :: job, restarts
    job = SlurmJob()
    restarts = Environment('SLURM_RESTART_COUNT')
    again = job /= '' .and. Number(restarts, 0) > 0
  end function SlurmStartedAgain

  !> True if that run was of this Slurm job.
  logical function BegunBefore(begun) result(before)
    type(begun_t), intent(in) :: begun
    character(:), allocatable :: job
    job = SlurmJob()
    before = job /= '' .and. begun%slurm == job
  end function BegunBefore

  !> The number of the Slurm job, of a heterogeneous one as a whole, '' where there is none.
  function SlurmJob() result(job)
    character(:), allocatable :: job
    job = Environment('SLURM_HET_JOB_ID')
    if (job == '') job = Environment('SLURM_JOB_ID')
  end function SlurmJob

  !> The note of a run that ends now. `cause`: one of the words above, '' where all was done.
  pure function EndedNote(exit_status, cause, why) result(note)
    integer, intent(in) :: exit_status
    character(*), intent(in) :: cause, why
    character(:), allocatable :: note
    note = 'exit='//Str(exit_status)
    if (cause /= '') note = note//' cause='//cause//' '//why
    note = note(:min(len(note), most))
  end function EndedNote

  !> Reads the note of a stop.
  pure subroutine EndedRead(note, ended)
    character(*), intent(in) :: note
    type(ended_t), intent(out) :: ended
    integer :: at
    ended%exit_status = Number(Word(note, 'exit'), -1)
    ended%cause = Word(note, 'cause')
    ended%why = ''
    if (all(ended%cause /= causes)) ended%cause = ''
    at = index(note, ' cause=')
    if (at > 0 .and. ended%cause /= '') ended%why = trim(adjustl(note(at + 7 + len(ended%cause):)))
  end subroutine EndedRead

  !> The word after 'name=' in a note, '' if there is none.
  pure function Word(note, name) result(s)
    character(*), intent(in) :: note, name
    character(:), allocatable :: s
    integer :: from
    s = ''
    from = index(' '//note, ' '//name//'=')
    if (from == 0) return
    from = from + len(name) + 1
    s = note(from:from + index(note(from:)//' ', ' ') - 2)
  end function Word

  pure integer function Number(text, otherwise)
    character(*), intent(in) :: text
    integer, intent(in) :: otherwise
    logical :: ok
    call ToInt(text, Number, ok)
    if (ok) ok = Number >= 0
    if (.not. ok) Number = otherwise
  end function Number

  pure function Named(name, value) result(s)
    character(*), intent(in) :: name, value
    character(:), allocatable :: s
    s = ''
    if (value /= '') s = name//value
  end function Named

  !> A short plain word from the environment; '' where there is none, or none that may stand in a note.
  function Environment(name) result(s)
    character(*), intent(in) :: name
    character(:), allocatable :: s
    character(*), parameter :: plain = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.'
    character(40) :: value
    integer :: status
    call get_environment_variable(name, value, status=status)
    s = ''
    if (status == 0 .and. verify(trim(value), plain) == 0) s = trim(value)
  end function Environment

  pure logical function Printable(text)
    character(*), intent(in) :: text
    integer :: i
    Printable = len_trim(text) == len(text)
    do i = 1, len(text)
      Printable = Printable .and. iachar(text(i:i)) >= 32 .and. iachar(text(i:i)) /= 127
    end do
  end function Printable

  !> The folder this process works in, '' where it cannot be told.
  function OwnFolder() result(path)
    character(:), allocatable :: path
    character(kind=c_char, len=path_most) :: buffer
    call host_folder(len(buffer), buffer)
    path = FString(buffer)
  end function OwnFolder

  !> The file of this program, '' where it cannot be told.
  function OwnProgram() result(path)
    character(:), allocatable :: path
    character(kind=c_char, len=path_most) :: buffer
    call host_program(len(buffer), buffer)
    path = FString(buffer)
  end function OwnProgram

end module runnote_m
