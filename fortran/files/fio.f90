!> The file of gathers of a survey: one NetCDF CDF-5 file, one slot a shot, sorted by shot record number.
!>
!> Dimensions are fixed at creation, so the header never moves and a killed writer cannot tear it. header_bytes and header_crc32
!> hold length and checksum of the header and the fixed variables (see FioHeaderChecksum); each slot carries two checksums:
!>
!>   checksum(shot)      CRC-32 of what the shot is: geometry and traces, in the order of the variable's attribute `order`
!>   run_checksum(shot)  CRC-32 of how it was computed (seconds, device, ...): these differ from run to run
!>
!> For each name in `order`, one after the other, the bytes of the shot's whole slot as they stand in the file: big-endian,
!> missing receivers included. In Python, without masking:
!>
!>   crc = 0
!>   for name in v.order.split():
!>       a = np.asarray(ds[name][slot], ds[name].dtype.newbyteorder('>'))
!>       crc = zlib.crc32(a.tobytes(), crc)
!>
!> A slot counts only with status 1 and both checksums right.
module fio_m
  use fiocreate_m, only: FioBytes, FioCreate
  use fiofile_m, only: fio_done, fio_parked, fio_t, fio_todo, FioClose, FioOpen
  use fioget_m, only: FioChecksums, FioGet, FioStatus, FioVariants, FioVerify, FioVerifyMany
  use fioput_m, only: FioMark, FioPut, FioSync
  implicit none
  private
  public :: fio_t, FioCreate, FioOpen, FioPut, FioSync, FioGet, FioVerify, FioVerifyMany, FioMark, FioStatus, FioChecksums
  public :: FioVariants, FioClose, FioBytes, fio_todo, fio_done, fio_parked
end module fio_m
