!> A disk that takes no more: one sentence with path and reason, the slot does not count, the others stay whole.
program t312_fio_full
  use check_m, only: Claim, ClaimFails, ClaimFine, Done
  use error_m, only: error_t
  use files_m, only: FileSync, FileText
  use fio_m, only: fio_t, FioClose, FioCreate, FioOpen, FioPut, FioVerify
  use gather_m, only: gather_t
  use kinds_m, only: dp, i8, sp
  use shot_m, only: shot_t
  use gather_header_m, only: gather_header_t
  use text_m, only: Str
  implicit none
  integer, parameter :: nt = 1000, nrec = 20
  type(error_t), allocatable :: error

  if (command_argument_count() == 1) then
    call PutUnderLimit()
  else
    call FillFirst()
    call Limited()
    call Afterwards()
    call FileSync('/dev/null', error)
    call ClaimFails(error, "force '/dev/null' onto the disk", 'a file that cannot be synced')
  end if
  call Done()

contains

  !> Runs this program again under a limit.
  subroutine Limited()
    character(4096) :: self
    character(:), allocatable :: said
    integer :: status
    call get_command_argument(0, self)
    ! bytes beyond this limit cannot be written: the slot of the first shot lies below, that of the third beyond
    ! (its output to a file: two programs that write to one file overwrite each other)
    call execute_command_line("ulimit -f 200; exec '"//trim(self)//"' limited > said", exitstat=status)
    call FileText('said', said, error)
    call Claim(status == 0, 'under a limit of file size: exit status '//Str(status)//', it said: '//said)
  end subroutine Limited

  subroutine MakeShot(slot, shot, gather)
    integer, intent(in) :: slot
    type(shot_t), intent(out) :: shot
    type(gather_t), intent(out) :: gather
    integer :: j
    shot%slot = slot
    shot%record = slot
    shot%rx = [(real(j, dp), j=1, nrec)]
    shot%ry = shot%rx
    shot%rz = shot%rx
    shot%channel = [(j, j=1, nrec)]
    gather%record = slot
    gather%nrec = nrec
    gather%rx = shot%rx
    gather%rz = shot%rz
    allocate (gather%traces(nt, nrec, 1), source=real(slot, sp))
  end subroutine MakeShot

  subroutine FillFirst()
    type(gather_header_t) :: header
    type(fio_t) :: fio
    header%record = [1, 2, 3]
    header%nrec_max = nrec
    header%nt = nt
    header%dt_out = 0.001_dp
    header%components = 'p'
    header%fingerprint = 'full'
    call FioCreate(fio, 'full.nc', header, .true., error)
    call ClaimFine(error, 'a file of 3 gathers of '//Str(4*nt*nrec)//' bytes is made')
    call Put(fio, 1)
    call ClaimFine(error, 'the first is written')
    call FioClose(fio, error)
  end subroutine FillFirst

  subroutine Put(fio, slot)
    type(fio_t), intent(inout) :: fio
    integer, intent(in) :: slot
    type(shot_t) :: shot
    type(gather_t) :: gather
    integer(i8) :: sum
    call MakeShot(slot, shot, gather)
    call FioPut(fio, shot, gather, sum, error)
  end subroutine Put

  subroutine PutUnderLimit()
    type(fio_t) :: fio
    call FioOpen(fio, 'full.nc', error, 'full')
    call ClaimFine(error, 'limited: the file opens')
    call Put(fio, 3)
    call ClaimFails(error, 'writing shot record 3: cannot write', 'limited: the third does not fit')
    call Claim(fio%broken, 'limited: the file is known to be broken')
    call Put(fio, 2)
    call ClaimFails(error, 'earlier write', 'limited: nothing more is tried')
    call FioClose(fio, error)
    call ClaimFine(error, 'limited: closing tells the cause no second time')
  end subroutine PutUnderLimit

  subroutine Afterwards()
    type(fio_t) :: fio
    integer(i8) :: sum
    call FioOpen(fio, 'full.nc', error, 'full')
    call ClaimFine(error, 'afterwards the header is whole')
    call FioVerify(fio, 1, sum, error)
    call ClaimFine(error, 'afterwards shot 1 is whole')
    call FioVerify(fio, 3, sum, error)
    call ClaimFails(error, 'not marked done', 'afterwards shot 3 does not count')
    call Put(fio, 3)
    call ClaimFine(error, 'and is written once there is space')
    call FioVerify(fio, 3, sum, error)
    call ClaimFine(error, 'and verifies')
    call FioClose(fio, error)
  end subroutine Afterwards

end program t312_fio_full
