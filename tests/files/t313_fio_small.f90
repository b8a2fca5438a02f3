!> A file of gathers has the length that its header says, however long that header is and however small the file, and its shots are to
!> do until they are put.
program t313_fio_small
  use check_m, only: Claim, ClaimFails, ClaimFine, Done
  use error_m, only: error_t
  use files_m, only: FileSize
  use fio_m, only: fio_t, fio_todo, FioClose, FioCreate, FioOpen, FioPut, FioStatus, FioVerify
  use gather_m, only: gather_t
  use kinds_m, only: dp, i8, sp
  use shot_m, only: shot_t
  use gather_header_m, only: gather_header_t
  use text_m, only: Str
  implicit none
  character(:), allocatable :: first_fault
  integer :: length, n, wrong, untrue

  n = 0
  wrong = 0
  untrue = 0
  first_fault = 'none'
  do length = 500, 40000, 397                 ! past one, two and more of the blocks that the library writes at once
    call Small(length)
  end do
  call Claim(wrong == 0, Str(n)//' files of one small gather with headers of 500 to 40,000 more characters: '//Str(wrong)// &
             ' could not be opened again or changed their length, first: '//first_fault)
  call Claim(untrue == 0, Str(n)//' files just made, of 40 shots: '//Str(untrue)//' say of a shot that it is not to do')
  deallocate (first_fault)                    ! nothing is left for the leak sanitizer to tell of
  call Stretched()
  call Done()

contains

  !> A writer that was killed left a block of zeros behind the end: who goes on cuts it off, who only reads says so.
  subroutine Stretched()
    type(fio_t) :: fio
    type(error_t), allocatable :: error
    integer(i8) :: before, long, after
    integer :: unit
    call FileSize('small.nc', before, error)
    open (newunit=unit, file='small.nc', access='stream', form='unformatted', status='old', position='append')
    write (unit) repeat(achar(0), 5000)
    close (unit)
    call FileSize('small.nc', long, error)
    call FioOpen(fio, 'small.nc', error, 'small', readonly=.true.)
    call ClaimFails(error, 'is damaged: it has '//Str(long)//' bytes', 'a reader of a file that is too long')
    call FioOpen(fio, 'small.nc', error, 'small')
    call ClaimFine(error, 'a job that goes on opens it')
    call FileSize('small.nc', after, error)
    call FioClose(fio, error)
    call Claim(long == before + 5000 .and. after == before, 'and cuts it: '//Str(before)//', '//Str(long)//', '//Str(after)//' bytes')
  end subroutine Stretched

  subroutine Small(length)
    integer, intent(in) :: length
    type(gather_header_t) :: header
    type(fio_t) :: fio
    type(shot_t) :: shot
    type(gather_t) :: gather
    type(error_t), allocatable :: error
    integer, allocatable :: status(:)
    integer(i8) :: checksum, before, after
    header%record = [7]
    header%nrec_max = 1
    header%nt = 5
    header%dt_out = 0.001_dp
    header%components = 'p'
    header%fingerprint = 'small'
    call header%add('parameters', repeat('x', length))
    shot%record = 7
    shot%slot = 1
    shot%rx = [1.0_dp]
    shot%ry = [2.0_dp]
    shot%rz = [3.0_dp]
    shot%channel = [4]
    gather%record = 7
    gather%nrec = 1
    gather%rx = shot%rx
    gather%rz = shot%rz
    allocate (gather%traces(5, 1, 1), source=1.0_sp)
    call FioCreate(fio, 'many.nc', Many(header), .true., error)
    call FioStatus(fio, status, error)
    call FioClose(fio, error)
    if (.not. allocated(error)) untrue = untrue + merge(1, 0, any(status /= fio_todo))
    call FioCreate(fio, 'small.nc', header, .true., error)
    call FileSize('small.nc', before, error)
    call FioPut(fio, shot, gather, checksum, error)
    call FioClose(fio, error)
    call FileSize('small.nc', after, error)
    call FioOpen(fio, 'small.nc', error, 'small')
    call FioVerify(fio, 1, checksum, error)
    call FioClose(fio, error)
    n = n + 1
    if (.not. allocated(error) .and. before == after) return
    wrong = wrong + 1
    if (wrong > 1) return
    first_fault = 'length '//Str(before)//' -> '//Str(after)
    if (allocated(error)) first_fault = error%message
  end subroutine Small

  !> The same of 40 shots.
  pure type(gather_header_t) function Many(header)
    type(gather_header_t), intent(in) :: header
    integer :: i
    Many = header
    Many%record = [(i, i=1, 40)]
  end function Many

end program t313_fio_small
