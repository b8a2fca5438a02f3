!> Snapshots appear whole or not at all, with their axes and checksum.
program t320_snapshots
  use check_m, only: Claim, ClaimFails, ClaimFine, Done
  use error_m, only: error_t
  use files_m, only: FileExists, FileHalf
  use fio_c, only: fio_close, fio_crc_slots, fio_get_doubles, fio_get_floats, fio_get_longs, fio_header_check, fio_open
  use gather_m, only: gather_t
  use iso_c_binding, only: c_int, c_ptr
  use kinds_m, only: dp, i8, sp
  use sides_m, only: SideSnapshots
  use snapshots_m, only: FioSnapshots, FioSnapshotsRemove
  use gather_header_m, only: gather_header_t
  use text_m, only: CString, Str
  implicit none
  integer, parameter :: nx = 7, nz = 5, nt = 3
  type(error_t), allocatable :: error
  type(gather_t) :: gather
  type(gather_header_t) :: about
  type(c_ptr) :: file
  real(sp) :: p(nx, nz, nt)
  real(dp) :: x(nx), t(nt)
  integer(i8) :: crc(1), stored(1)
  integer :: i, n, rc
  integer, allocatable :: record(:)
  logical :: left

  call about%add('title', 'three frames')
  gather%record = 12
  gather%nxs = nx
  gather%nzs = nz
  gather%nsnap = nt
  gather%xs0 = 100
  gather%dxs = 12.5_dp
  gather%dzs = 12.5_dp
  gather%dts = 0.1_dp
  call FioSnapshots('frames.nc', gather, about%attribute, error)
  call ClaimFails(error, 'shot record 12 has no snapshots', 'a gather without snapshots')
  gather%snapshots = reshape([(real(i, sp), i=1, nx*nz*nt)], [nx, nz, nt])
  call FioSnapshots('frames.nc', gather, about%attribute, error)
  call ClaimFine(error, 'snapshots are written')
  rc = fio_header_check(CString('frames.nc'))
  call Claim(rc == 0, 'their header is sealed')
  file = fio_open(CString('frames.nc'), 0_c_int)
  rc = fio_get_floats(file, CString('pressure'), [0_i8, 0_i8, 0_i8], [int(nt, i8), int(nz, i8), int(nx, i8)], p)
  call Claim(rc == 0 .and. all(p == gather%snapshots), 'pressure(time, z, x) comes back bit for bit')
  rc = fio_get_doubles(file, CString('x'), [0_i8], [int(nx, i8)], x) + &
    fio_get_doubles(file, CString('time'), [0_i8], [int(nt, i8)], t)
  call Claim(rc == 0 .and. abs(x(7) - 175) < 1e-9_dp .and. abs(t(3) - 0.2_dp) < 1e-12_dp, 'x ends at '//Str(x(7))// &
    ' m, time at '//Str(t(3))//' s')
  crc = 0
  rc = fio_crc_slots(file, CString('pressure'), -1_i8, 1_i8, crc) + &
    fio_get_longs(file, CString('checksum'), [0_i8], [1_i8], stored)
  call Claim(rc == 0 .and. crc(1) == stored(1), 'the checksum recomputes')
  rc = fio_close(file)
  gather%nsnap = 4
  call FioSnapshots('frames.nc', gather, about%attribute, error)
  call ClaimFails(error, 'are not 7 x 5 nodes x 4 times', 'a shape that does not fit')
  gather%nsnap = nt
  call FioSnapshots('nowhere/frames.nc', gather, about%attribute, error)
  call ClaimFails(error, 'No such file', 'a folder that does not exist')
  left = FileExists(FileHalf('frames.nc'))
  call Claim(.not. left, 'no temporary file stays')
  call execute_command_line('touch o.nc.snap7.nc o.nc.snap07.nc o.nc.snap2147483648.nc o.nc.snap8.nc.half p.nc.snap9.nc; mkdir o.nc.snap3.nc; '// &
                            'ln -s frames.nc o.nc.snap4.nc; cp frames.nc o.nc.snap12.nc; cp frames.nc o.nc.snap2147483647.nc')
  call SideSnapshots('o.nc', record)
  call Claim(size(record) == 3 .and. all([any(record == 7), any(record == 12), any(record == huge(n))]), &
             'three files have names of snapshots of an output: '//Str(size(record)))
  call FioSnapshotsRemove('o.nc', n, error)
  call SideSnapshots('o.nc', record)
  call Claim(n == 2 .and. size(record) == 1 .and. .not. allocated(error), 'the two that are snapshots are removed: '//Str(n))
  call SideSnapshots('nowhere/o.nc', record)
  call Claim(size(record) == 0, 'in a folder that is not there are none')
  call Done()
end program t320_snapshots
