!> A file of gathers gives back what was put, refuses what does not belong, and shows every flipped bit and every cut.
program t310_fio_roundtrip
  use, intrinsic :: iso_fortran_env, only: int8
  use check_m, only: Claim, ClaimFails, ClaimFine, Done
  use error_m, only: error_t
  use files_m, only: FileExists, FileHalf, FileSize
  use text_crc32_m, only: Hex
  use fio_m, only: fio_done, fio_parked, fio_t, fio_todo, FioClose, FioCreate, FioGet, &
    FioMark, FioOpen, FioPut, FioStatus, FioVerify
  use gather_m, only: gather_t
  use kinds_m, only: dp, i8, sp
  use put_m, only: Put
  use shot_m, only: shot_t
  use gather_header_m, only: gather_header_t
  use text_m, only: Str
  implicit none
  integer, parameter :: nt = 41, nrec_max = 5
  character(*), parameter :: path = 'gathers.nc'
  type(error_t), allocatable :: error
  type(gather_header_t) :: header
  type(fio_t) :: fio
  integer(i8) :: sums(3)

  call MakeSurvey()
  call WriteAll()
  call ReadAll()
  call LongHeaders()
  call Refusals()
  call Flips()
  call Cuts()
  call Done()

contains

  subroutine MakeSurvey()
    header%record = [101, 205, 309]
    header%nrec_max = nrec_max
    header%nt = nt
    header%dt_out = 0.004_dp
    header%components = 'p,vz'
    header%fingerprint = 'job-one'
    call header%add('title', 'three small shots')
    call header%add('dt', 0.001_dp)
    call header%add('weights', [1.125_dp, -1.0_dp/24])
    call header%add('half_length', 2)
  end subroutine MakeSurvey

  !> A shot whose every number depends on its record, so that a mix-up shows.
  subroutine MakeShot(slot, shot, gather)
    integer, intent(in) :: slot
    type(shot_t), intent(out) :: shot
    type(gather_t), intent(out) :: gather
    integer :: j, n, i, c
    n = nrec_max + 1 - slot
    shot%slot = slot
    shot%record = header%record(slot)
    shot%sx = 1000.25_dp*slot
    shot%sy = -3
    shot%sz = 7.5_dp
    shot%rx = [(shot%sx + 100 + 12.5_dp*j, j=1, n)]
    shot%ry = [(0.1_dp*j, j=1, n)]
    shot%rz = [(9.0_dp + j, j=1, n)]
    shot%channel = [(10*j, j=1, n)]
    gather%record = shot%record
    gather%slot = slot
    gather%nt = nt
    gather%nrec = n
    gather%ncomp = 2
    gather%sx = shot%sx + 0.001_dp
    gather%sz = shot%sz
    gather%rx = shot%rx
    gather%rz = shot%rz
    gather%seconds = 0.5_dp*slot
    gather%steps = 1000 + slot
    gather%cells = 1.0e5_dp
    gather%variant = 'fortran'
    gather%device = 'a processor'
    allocate (gather%traces(nt, n, 2))
    gather%traces = reshape([(((sin(0.1_sp*i*j) + c*slot, i=1, nt), j=1, n), c=1, 2)], [nt, n, 2])
  end subroutine MakeShot

  subroutine WriteAll()
    type(shot_t) :: shot
    type(gather_t) :: gather
    integer, allocatable :: status(:)
    integer :: slot
    call FioCreate(fio, path, header, .false., error)
    call ClaimFine(error, 'a file of 3 shots is made')
    call Claim(.not. FileExists(FileHalf(path)), 'no temporary file stays')
    do slot = 1, 3
      call MakeShot(slot, shot, gather)
      call FioPut(fio, shot, gather, sums(slot), error)
      call ClaimFine(error, 'shot '//Str(shot%record)//' is put, checksum '//Hex(sums(slot)))
    end do
    call FioStatus(fio, status, error)
    call Claim(all(status == fio_done), 'all 3 slots are done')
    call FioMark(fio, 2, fio_parked, error)
    call FioStatus(fio, status, error)
    call Claim(all(status == [fio_done, fio_parked, fio_done]), 'slot 2 is parked')
    call FioMark(fio, 2, fio_todo, error)
    call MakeShot(2, shot, gather)
    call FioPut(fio, shot, gather, sums(2), error)
    call ClaimFine(error, 'a slot is written again')
    call FioClose(fio, error)
    call FioClose(fio, error)
    call ClaimFine(error, 'closing twice is harmless')
  end subroutine WriteAll

  subroutine ReadAll()
    type(shot_t) :: shot
    type(gather_t) :: gather, back
    integer(i8) :: sum
    integer :: slot
    call FioOpen(fio, path, error, 'job-one', readonly=.true.)
    call ClaimFine(error, 'the file opens for the job that made it')
    call Claim(all(fio%record == header%record) .and. fio%nt == nt .and. fio%nrec_max == nrec_max .and. fio%ncomp == 2 .and. &
      abs(fio%dt_out - 0.004_dp) < 1e-15_dp, 'its shape is read back: '//Str(fio%nshots)//' shots, dt_out '//Str(fio%dt_out)//' s')
    do slot = 1, 3
      call MakeShot(slot, shot, gather)
      call FioVerify(fio, slot, sum, error)
      call Claim(.not. allocated(error) .and. sum == sums(slot), 'slot '//Str(slot)//' verifies with checksum '//Hex(sum))
      call FioGet(fio, slot, back, error)
      call ClaimFine(error, 'slot '//Str(slot)//' reads')
      call Claim(all(back%traces == gather%traces) .and. all(back%rx == gather%rx) .and. back%sx == gather%sx .and. &
        back%variant == 'fortran' .and. back%device == 'a processor' .and. back%steps == gather%steps, &
        'shot '//Str(back%record)//': traces and positions come back bit for bit')
    end do
    call FioClose(fio, error)
  end subroutine ReadAll

  !> Whatever the length of the header, a file made, written and closed opens again and verifies.
  subroutine LongHeaders()
    type(fio_t) :: f
    type(gather_header_t) :: s
    type(shot_t) :: shot
    type(gather_t) :: gather
    integer(i8) :: sum, found
    integer :: length, slot, files
    files = 0
    do length = 1, 70000, 1999
      s = header
      call s%add('parameters', repeat('x', length))
      call FioCreate(f, 'long.nc', s, .true., error)
      do slot = 1, 3
        call MakeShot(slot, shot, gather)
        call FioPut(f, shot, gather, sum, error)
        call FioClose(f, error)
        call FioOpen(f, 'long.nc', error, 'job-one')
        call FioVerify(f, slot, found, error)
      end do
      call FioClose(f, error)
      if (allocated(error)) exit
      files = files + 1
    end do
    call ClaimFine(error, 'headers with 1 to 70000 bytes of text in '//Str(files)//' files')
  end subroutine LongHeaders

  subroutine Refusals()
    type(gather_header_t) :: s
    type(shot_t) :: shot
    type(gather_t) :: gather
    integer(i8) :: sum
    integer :: i
    logical :: left
    call FioCreate(fio, path, header, .false., error)
    call ClaimFails(error, 'overwrite=y', 'a file that exists is not replaced')
    call FioOpen(fio, path, error, 'job-two')
    call ClaimFails(error, 'another job', 'a file of another job is refused')
    call FioOpen(fio, 'missing.nc', error)
    call ClaimFails(error, 'No such file', 'a missing file')
    call FioCreate(fio, 'nowhere/gathers.nc', header, .false., error)
    call ClaimFails(error, 'No such file', 'a folder that does not exist')
    call FioCreate(fio, path//'/gathers.nc', header, .false., error)
    call ClaimFails(error, 'Not a directory', 'a file used as a folder')
    s = header
    s%nrec_max = 2000000000
    s%nt = 2000000000
    call FioCreate(fio, 'huge.nc', s, .false., error)
    call ClaimFails(error, 'bytes', 'products that overflow are refused')
    s%nrec_max = 60000
    s%nt = 60000
    s%record = [(i, i=1, 20000)]
    call FioCreate(fio, 'huge.nc', s, .false., error)
    call ClaimFails(error, 'GB are free', 'a file larger than the disk is refused before the first shot')
    left = FileExists('huge.nc')
    if (.not. left) left = FileExists(FileHalf('huge.nc'))
    call Claim(.not. left, 'and leaves nothing behind')
    s = header
    s%components = 'p,q'
    call FioCreate(fio, 'bad.nc', s, .false., error)
    call ClaimFails(error, 'components', 'an unknown component')
    s = header
    s%record = [3, 2, 7]
    call FioCreate(fio, 'bad.nc', s, .false., error)
    call ClaimFails(error, '2 comes after 3', 'records that do not rise')
    call FioOpen(fio, path, error, 'job-one')
    call MakeShot(2, shot, gather)
    gather%record = 309
    call FioPut(fio, shot, gather, sum, error)
    call ClaimFails(error, '205', 'a gather of another shot')
    call MakeShot(2, shot, gather)
    gather%traces = gather%traces(:, :, :1)
    call FioPut(fio, shot, gather, sum, error)
    call ClaimFails(error, 'components', 'a gather of another shape')
    call MakeShot(2, shot, gather)
    gather%traces(7, 2, 2) = huge(1.0_sp)
    gather%traces(7, 2, 2) = transfer(2139095040, 1.0_sp)
    call FioPut(fio, shot, gather, sum, error)
    call ClaimFails(error, 'vz of receiver 2', 'a trace that is not finite')
    call FioVerify(fio, 2, sum, error)
    call ClaimFine(error, 'refused gathers leave the slot as it was')
    call FioClose(fio, error)
    call FioVerify(fio, 2, sum, error)
    call ClaimFails(error, 'not open', 'a closed file')
  end subroutine Refusals

  !> 0: all of it verifies, else something is wrong with the header or a slot.
  integer function Damage(name) result(n)
    character(*), intent(in) :: name
    type(error_t), allocatable :: e
    type(fio_t) :: f
    integer(i8) :: sum
    integer :: slot
    n = 0
    call FioOpen(f, name, e, 'job-one', readonly=.true.)
    if (allocated(e)) then
      n = 1
      return
    end if
    do slot = 1, 3
      call FioVerify(f, slot, sum, e)
      if (allocated(e)) n = n + 1
      if (allocated(e)) deallocate (e)
    end do
    call FioClose(f, e)
  end function Damage

  subroutine ReadBytes(bytes)
    integer(int8), allocatable, intent(out) :: bytes(:)
    integer(i8) :: n
    integer :: unit
    call FileSize(path, n, error)
    allocate (bytes(n))
    open (newunit=unit, file=path, access='stream', form='unformatted', status='old')
    read (unit) bytes
    close (unit)
  end subroutine ReadBytes

  subroutine Flips()
    integer(int8), allocatable :: bytes(:), bad(:)
    integer :: i, at, bit, found
    integer(i8) :: n
    call ReadBytes(bytes)
    call Claim(Damage(path) == 0, 'the undamaged file of '//Str(size(bytes))//' bytes verifies')
    allocate (bad(size(bytes)))
    found = 0
    n = 12345
    do i = 1, 300
      n = mod(n*1103515245_i8 + 12345_i8, 2147483648_i8)
      at = int(mod(n/8, size(bytes, kind=i8))) + 1
      if (mod(i, 3) == 0) at = mod(at, 4000) + 1     ! every third one in or near the header
      bit = mod(i, 8)
      bad(:) = bytes
      bad(at) = ieor(bad(at), int(ishft(1, bit) - merge(256, 0, bit == 7), int8))
      call Put('flipped.nc', bad)
      if (Damage('flipped.nc') > 0) then
        found = found + 1
      else
        call Claim(.false., 'bit '//Str(bit)//' of byte '//Str(at)//' flipped without notice')
      end if
    end do
    call Claim(found == 300, Str(found)//' of 300 flipped bits noticed, must be all')
  end subroutine Flips

  subroutine Cuts()
    integer(int8), allocatable :: bytes(:)
    integer :: i, n, found
    call ReadBytes(bytes)
    found = 0
    do i = 0, 59
      n = int(size(bytes)*(i/60.0_dp)**2)
      if (i > 50) n = size(bytes) - (i - 50)
      call Put('cut.nc', bytes(:n))
      if (Damage('cut.nc') > 0) found = found + 1
    end do
    call Claim(found == 60, Str(found)//' of 60 truncations noticed')
    call Put('cut.nc', [bytes, 0_int8])
    call Claim(Damage('cut.nc') > 0, 'a byte too many is noticed')
  end subroutine Cuts

end program t310_fio_roundtrip
