!> The readers of an output and its journal, behind the door of readers.f90.
module readers_output_m
  use error_m, only: error_t
  use fio_c, only: fio_put_longs
  use fio_m, only: fio_t, FioClose, FioGet, FioOpen, FioStatus, FioVerify
  use fioget_m, only: SumSlot
  use fiofile_m, only: computed, geometry
  use text_crc32_m, only: Crc32, Hex
  use gather_m, only: gather_t
  use iso_c_binding, only: c_char, c_int, c_long
  use journal_line_m, only: event_done, event_t
  use journal_m, only: journal_done, journal_t, JournalAppend, JournalClose, JournalOpen, JournalRead
  use kinds_m, only: dp, i8
  use readerparts_m, only: Contradiction, lf, Put, taken, Verdict
  use runnote_m, only: begun_t, BegunRead, ended_t, EndedRead
  use text_m, only: CString
  implicit none
  private
  public :: Gathers, Journal

  type, bind(c) :: layout_t                      !< struct fio_layout
    integer(c_long) :: header, total, least, begin, bytes, records
    integer(c_int) :: kind
  end type layout_t

  interface
    integer(c_int) function fio_layout_read(path, var, layout) bind(c)
      import :: c_int, c_char, layout_t
      implicit none
      character(kind=c_char), intent(in) :: path(*), var(*)
      type(layout_t), intent(out) :: layout
    end function fio_layout_read
    integer(c_int) function fio_header_sum(path, n, crc, fixed, total) bind(c)
      import :: c_int, c_long, c_char
      implicit none
      character(kind=c_char), intent(in) :: path(*)
      integer(c_long), intent(out) :: n, crc, fixed, total
    end function fio_header_sum
  end interface

contains

  !> A journal. Behind a first '+' the lines come without their checksums, which are put in. Reading must not fail where a run goes
  !> on with it, and an event appended must be there afterwards.
  integer(c_int) function Journal(input, at) result(outcome)
    character(*), intent(in) :: input, at
    integer, parameter :: records(5) = [1, 2, 3, 7, 2147483647]
    type(journal_t) :: j
    type(error_t), allocatable :: error
    type(begun_t) :: begun
    type(ended_t) :: ended
    integer :: k
    call Put(at//'j', WithChecksums(input))
    call JournalRead(j, at//'j', error)
    outcome = Verdict(error)
    if (allocated(error)) deallocate (error)
    call BegunRead(j%begun, begun)
    call EndedRead(j%ended, ended)
    if (ended%exit_status < -1 .or. min(begun%ranks, begun%nodes) < 0) then
      outcome = Contradiction('a run has a number that cannot be')
      return
    end if
    call JournalClose(j)
    call JournalOpen(j, at//'j', 'f', records, .false., error)
    if (.not. allocated(error)) call JournalAppend(j, event_t(event_done, 7, 1, 1, 1.0_dp, checksum=int(z'1234', i8)), 'host', '', error)
    call JournalClose(j)
    if (allocated(error)) then
      outcome = min(outcome, Verdict(error))
      return
    end if
    call JournalRead(j, at//'j', error)
    if (allocated(error)) then
      outcome = Contradiction('a journal that a run goes on with cannot be read: '//error%message)
      return
    end if
    k = findloc(j%entry(:j%n)%record, 7, 1)
    if (k == 0) then
      outcome = Contradiction('a shot done is forgotten')
    else if (j%entry(k)%status /= journal_done .or. j%entry(k)%checksum /= int(z'1234', i8)) then
      outcome = Contradiction('a shot done is not done')
    end if
    call JournalClose(j)
  end function Journal

  function WithChecksums(input) result(text)
    character(*), intent(in) :: input
    character(:), allocatable :: text
    integer :: first, last
    text = input
    if (index(input, '+') /= 1) return
    text = ''
    first = 2
    do while (first <= len(input))
      last = index(input(first:), lf) + first - 2
      if (last < first - 1) last = len(input)
      text = text//Hex(Crc32(input(first:last)))//' '//input(first:min(len(input), last + 1))
      first = last + 2
    end do
  end function WithChecksums

  !> A file of gathers. Behind a first '+' its header gets its checksum anew, behind '#' its shots too, so that damage is not seen by
  !> checksums.
  integer(c_int) function Gathers(input, at) result(outcome)
    character(*), intent(in) :: input, at
    character(:), allocatable :: path
    type(fio_t) :: fio
    type(gather_t) :: gather
    type(error_t), allocatable :: error
    integer(i8) :: checksum
    integer, allocatable :: status(:)
    integer :: slot
    path = at//'g.nc'
    if (scan(input(:min(1, len(input))), '+#') == 1) then
      call Put(path, input(2:))
      call ChecksumHeader(path)
      if (input(1:1) == '#') call ChecksumShots(path)
    else
      call Put(path, input)
    end if
    call FioOpen(fio, path, error, readonly=.true.)
    outcome = Verdict(error)
    if (outcome /= taken) return
    call FioStatus(fio, status, error)
    if (allocated(error)) deallocate (error)
    do slot = 1, min(fio%nshots, 20)
      call FioVerify(fio, slot, checksum, error)
      if (.not. allocated(error)) call FioGet(fio, slot, gather, error)
      outcome = min(outcome, Verdict(error))
      if (allocated(error)) deallocate (error)
    end do
    call FioClose(fio, error)
  end function Gathers

  subroutine ChecksumHeader(path)
    character(*), intent(in) :: path
    type(layout_t) :: l
    integer(c_long) :: n, crc, fixed, total
    if (fio_header_sum(CString(path), n, crc, fixed, total) /= 0) return
    if (fio_layout_read(CString(path), CString('header_bytes'), l) /= 0) return
    if (l%begin >= 0 .and. l%begin < 100000000) call Patch(path, l%begin, n, 8)
    if (fio_layout_read(CString(path), CString('header_crc32'), l) /= 0) return
    if (l%begin >= 0 .and. l%begin < 100000000) call Patch(path, l%begin, crc, 4)
  end subroutine ChecksumHeader

  !> Puts the low bytes of `value`, most significant first, behind the first `at` bytes of the file.
  subroutine Patch(path, at, value, width)
    character(*), intent(in) :: path
    integer(c_long), intent(in) :: at, value
    integer, intent(in) :: width
    character(width) :: bytes
    integer :: unit, i, io
    do i = 1, width
      bytes(i:i) = achar(ibits(value, 8*(width - i), 8))
    end do
    open (newunit=unit, file=path, access='stream', form='unformatted', action='readwrite', status='old', iostat=io)
    if (io == 0) write (unit, pos=at + 1, iostat=io) bytes
    close (unit, iostat=io)
  end subroutine Patch

  subroutine ChecksumShots(path)
    character(*), intent(in) :: path
    type(fio_t) :: fio
    type(error_t), allocatable :: error
    integer(i8) :: crc(2)
    integer :: slot, c
    call FioOpen(fio, path, error)
    if (allocated(error)) return
    do slot = 1, min(fio%nshots, 20)
      crc = 0
      call SumSlot(fio, geometry, slot, crc(1), error)
      do c = 1, fio%ncomp
        call SumSlot(fio, trim(fio%variable(c)), slot, crc(1), error)
      end do
      call SumSlot(fio, computed, slot, crc(2), error)
      if (allocated(error)) exit
      if (fio_put_longs(fio%handle, CString('checksum'), [slot - 1_i8], [1_i8], crc(1:1)) /= 0) exit
      if (fio_put_longs(fio%handle, CString('run_checksum'), [slot - 1_i8], [1_i8], crc(2:2)) /= 0) exit
    end do
    if (allocated(error)) deallocate (error)
    call FioClose(fio, error)
  end subroutine ChecksumShots

end module readers_output_m
