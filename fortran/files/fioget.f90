!> Reading gathers back, never without their checksums. See fio.f90 for the layout.
module fioget_m
  use checked_m, only: Whole
  use error_m, only: error_t, Fail, FailFromC
  use fio_c, only: fio_crc_slots, fio_dim_length, fio_get_doubles, fio_get_floats, fio_get_longs, fio_get_text
  use fiofile_m, only: CheckOpen, CheckSlot, computed, fio_done, fio_t, Checked, words
  use text_crc32_m, only: Hex
  use gather_m, only: gather_t
  use shot_m, only: shot_t
  use iso_c_binding, only: c_null_char
  use kinds_m, only: dp, i8
  use text_m, only: CString, Str
  implicit none
  private
  public :: FioVerify, FioVerifyMany, FioGet, FioShot, FioLines, FioStatus, FioChecksums, FioRuns, FioVariants, SumSlot

contains

  !> Goes on with a CRC-32 over the slot in the variables named, in that order.
  subroutine SumSlot(fio, names, slot, crc, error)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: names
    integer, intent(in) :: slot
    integer(i8), intent(inout) :: crc
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: one(1)
    one = crc
    call SumSlots(fio, names, slot, one, error)
    crc = one(1)
  end subroutine SumSlot

  !> The same for each of some slots, from `first` on. (slots)
  subroutine SumSlots(fio, names, first, crc, error)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: names
    integer, intent(in) :: first
    integer(i8), contiguous, intent(inout) :: crc(:)
    type(error_t), allocatable, intent(inout) :: error
    integer :: a, b
    a = 1
    do while (a <= len_trim(names))
      b = index(names(a:)//' ', ' ') + a - 2
      if (allocated(error)) return
      call FailFromC(fio_crc_slots(fio%handle, CString(names(a:b)), first - 1_i8, size(crc, kind=i8), crc), error)
      a = b + 2
    end do
  end subroutine SumSlots

  !> The sums of what some slots hold, from `first` on: of geometry and traces, and of how they were computed. (slots)
  subroutine SumAll(fio, first, checksum, run, error)
    type(fio_t), intent(in) :: fio
    integer, intent(in) :: first
    integer(i8), contiguous, intent(out) :: checksum(:), run(:)
    type(error_t), allocatable, intent(inout) :: error
    integer :: i
    checksum = 0
    run = 0
    call SumSlots(fio, Checked(fio), first, checksum, error)
    do i = 1, fio%ncomp
      call SumSlots(fio, trim(fio%variable(i)), first, checksum, error)
    end do
    call SumSlots(fio, computed, first, run, error)
  end subroutine SumAll

  !> Reads some slots back, from `first` on, in large pieces: that takes a fraction of the time of FioVerify for each where slots
  !> are small. `whole`: it is marked done and as its checksums say; of one that is not FioVerify tells why. (slots)
  subroutine FioVerifyMany(fio, first, checksum, whole)
    type(fio_t), intent(in) :: fio
    integer, intent(in) :: first
    integer(i8), contiguous, intent(out) :: checksum(:)
    logical, intent(out) :: whole(:)
    type(error_t), allocatable :: error
    integer(i8), dimension(size(checksum)) :: run, status, stored, stored_run
    checksum = 0
    whole = .false.
    call CheckSlot(fio, first, error)
    call CheckSlot(fio, first + size(checksum) - 1, error)
    if (allocated(error)) return
    call GetLongs(fio, 'status', first, status, error)
    call GetLongs(fio, 'checksum', first, stored, error)
    call GetLongs(fio, 'run_checksum', first, stored_run, error)
    call SumAll(fio, first, checksum, run, error)
    if (.not. allocated(error)) whole = status == fio_done .and. checksum == stored .and. run == stored_run
  end subroutine FioVerifyMany

  !> Reads a slot back and compares it with its checksums: an error says what is wrong with it. `checksum` is to be compared with
  !> the one in the journal.
  subroutine FioVerify(fio, slot, checksum, error)
    type(fio_t), intent(in) :: fio
    integer, intent(in) :: slot
    integer(i8), intent(out) :: checksum
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: sums(1), runs(1)
    checksum = 0
    call CheckSlot(fio, slot, error)
    if (allocated(error)) return
    if (GetLong(fio, 'status', slot, error) /= fio_done) call Fail(error, 'shot record '//Str(fio%record(slot))//" of '"// &
      fio%path//"' is not marked done")
    call SumAll(fio, slot, sums, runs, error)
    checksum = sums(1)
    call Compare(fio, 'checksum', slot, checksum, error)
    call Compare(fio, 'run_checksum', slot, runs(1), error)
  end subroutine FioVerify

  subroutine Compare(fio, name, slot, found, error)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: name
    integer, intent(in) :: slot
    integer(i8), intent(in) :: found
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: stored
    stored = GetLong(fio, name, slot, error)
    if (stored /= found) call Fail(error, 'shot record '//Str(fio%record(slot))//" of '"//fio%path//"' is damaged: "//name// &
      ' of its data is '//Hex(found)//', must be '//Hex(stored))
  end subroutine Compare

  integer(i8) function GetLong(fio, name, slot, error) result(value)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: name
    integer, intent(in) :: slot
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: values(1)
    call GetLongs(fio, name, slot, values, error)
    value = values(1)
  end function GetLong

  !> A number of some slots, from `first` on; -1 after an error. (slots)
  subroutine GetLongs(fio, name, first, values, error)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: name
    integer, intent(in) :: first
    integer(i8), contiguous, intent(out) :: values(:)
    type(error_t), allocatable, intent(inout) :: error
    values = -1
    if (.not. allocated(error)) call FailFromC(fio_get_longs(fio%handle, CString(name), [first - 1_i8], &
                                                             [size(values, kind=i8)], values), error)
  end subroutine GetLongs

  !> Status of all slots: fio_todo, fio_done or fio_parked.
  subroutine FioStatus(fio, status, error)
    type(fio_t), intent(in) :: fio
    integer, allocatable, intent(out) :: status(:)
    type(error_t), allocatable, intent(inout) :: error
    integer(i8), allocatable :: values(:)
    call GetSlots(fio, 'status', values, error)
    status = Whole(values, -1, 9)                    ! what is none of the three stays none
  end subroutine FioStatus

  !> The checksum that the file states for each slot, (slots).
  subroutine FioChecksums(fio, checksum, error)
    type(fio_t), intent(in) :: fio
    integer(i8), allocatable, intent(out) :: checksum(:)
    type(error_t), allocatable, intent(inout) :: error
    call GetSlots(fio, 'checksum', checksum, error)
  end subroutine FioChecksums

  !> The checksum that the file states for how each slot was computed, (slots).
  subroutine FioRuns(fio, checksum, error)
    type(fio_t), intent(in) :: fio
    integer(i8), allocatable, intent(out) :: checksum(:)
    type(error_t), allocatable, intent(inout) :: error
    call GetSlots(fio, 'run_checksum', checksum, error)
  end subroutine FioRuns

  !> A number of all slots.
  subroutine GetSlots(fio, name, values, error)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: name
    integer(i8), allocatable, intent(out) :: values(:)
    type(error_t), allocatable, intent(inout) :: error
    allocate (values(fio%nshots))
    call CheckOpen(fio, error)
    call GetLongs(fio, name, 1, values, error)
  end subroutine GetSlots

  !> Reads where source and receivers of a shot that is done were to be, and its navigation, if the file has any. Not verified.
  subroutine FioShot(fio, slot, shot, error)
    type(fio_t), intent(in) :: fio
    integer, intent(in) :: slot
    type(shot_t), intent(out) :: shot
    type(error_t), allocatable, intent(inout) :: error
    integer :: n
    shot%record = fio%record(slot)
    shot%slot = slot
    n = Whole(GetLong(fio, 'nrec', slot, error), 0, fio%nrec_max)
    call GetDoubles(fio, 'source_x', slot, shot%sx, error)
    call GetDoubles(fio, 'source_y', slot, shot%sy, error)
    call GetDoubles(fio, 'source_z', slot, shot%sz, error)
    allocate (shot%rx(n), shot%ry(n), shot%rz(n))
    call GetReceivers(fio, 'receiver_x', slot, shot%rx, error)
    call GetReceivers(fio, 'receiver_y', slot, shot%ry, error)
    call GetReceivers(fio, 'receiver_z', slot, shot%rz, error)
    call GetNumbers(fio, 'channel', slot, n, shot%channel, error)
    if (fio%navigation == '') return
    allocate (shot%navigation)
    associate (nav => shot%navigation)
      call GetDoubles(fio, 'source_easting', slot, nav%e, error)
      call GetDoubles(fio, 'source_northing', slot, nav%n, error)
      call GetDoubles(fio, 'source_height', slot, nav%h, error)
      call GetDoubles(fio, 'shot_point', slot, nav%point, error)
      nav%line = Whole(GetLong(fio, 'source_line', slot, error), 0, huge(1))
      allocate (nav%re(n), nav%rn(n), nav%rh(n), nav%station(n))
      call GetReceivers(fio, 'receiver_easting', slot, nav%re, error)
      call GetReceivers(fio, 'receiver_northing', slot, nav%rn, error)
      call GetReceivers(fio, 'receiver_height', slot, nav%rh, error)
      call GetReceivers(fio, 'receiver_station', slot, nav%station, error)
      call GetNumbers(fio, 'receiver_line', slot, n, nav%rline, error)
    end associate
  end subroutine FioShot

  !> Names of the lines that navigation names by number.
  subroutine FioLines(fio, names, error)
    type(fio_t), intent(in) :: fio
    character(words), allocatable, intent(out) :: names(:)
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: n
    integer :: i
    n = 0
    if (fio%navigation /= '' .and. .not. allocated(error)) call FailFromC(fio_dim_length(fio%handle, CString('line'), n), error)
    allocate (names(Whole(n)))
    do i = 1, size(names)
      names(i) = GetWords(fio, 'line_name', i, error)
    end do
  end subroutine FioLines

  !> The variants that computed the shots, by name, (slots); '' where there is no name.
  subroutine FioVariants(fio, variant, error)
    type(fio_t), intent(in) :: fio
    character(*), intent(out) :: variant(:)
    type(error_t), allocatable, intent(inout) :: error
    integer, parameter :: block = 1000
    character(*), parameter :: letters = 'abcdefghijklmnopqrstuvwxyz_0123456789 '//c_null_char
    character(words) :: text(block)
    integer :: first, n, i
    variant = ''
    do first = 1, size(variant), block
      if (allocated(error)) return
      n = min(block, size(variant) - first + 1)
      call FailFromC(fio_get_text(fio%handle, CString('variant'), [first - 1_i8, 0_i8], [int(n, i8), int(words, i8)], text), error)
      do i = 1, n
        if (allocated(error) .or. verify(text(i), letters) > 0) cycle
        variant(first + i - 1) = text(i)(:index(text(i)//c_null_char, c_null_char) - 1)
      end do
    end do
  end subroutine FioVariants

  !> Reads a gather, verified. Positions are those used.
  subroutine FioGet(fio, slot, gather, error)
    type(fio_t), intent(in) :: fio
    integer, intent(in) :: slot
    type(gather_t), intent(out) :: gather
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: checksum, nrec, steps
    integer :: c, rc
    call FioVerify(fio, slot, checksum, error)
    if (allocated(error)) return
    gather%slot = slot
    gather%record = fio%record(slot)
    gather%nt = fio%nt
    gather%ncomp = fio%ncomp
    nrec = GetLong(fio, 'nrec', slot, error)
    if (.not. allocated(error) .and. (nrec < 1 .or. nrec > fio%nrec_max)) call Fail(error, 'shot record '// &
      Str(fio%record(slot))//" of '"//fio%path//"' has "//Str(nrec)//' receivers, must be 1..'//Str(fio%nrec_max))
    steps = GetLong(fio, 'steps', slot, error)
    if (.not. allocated(error) .and. (steps < 0 .or. steps > huge(1))) call Fail(error, 'shot record '// &
      Str(fio%record(slot))//" of '"//fio%path//"' has "//Str(steps)//' time steps, must be 0..'//Str(huge(1)))
    if (allocated(error)) return
    gather%nrec = Whole(nrec)
    gather%steps = Whole(steps)
    call GetDoubles(fio, 'source_x_used', slot, gather%sx, error)
    call GetDoubles(fio, 'source_z_used', slot, gather%sz, error)
    call GetDoubles(fio, 'seconds', slot, gather%seconds, error)
    call GetDoubles(fio, 'cells', slot, gather%cells, error)
    gather%variant = GetWords(fio, 'variant', slot, error)
    gather%device = GetWords(fio, 'device', slot, error)
    allocate (gather%rx(gather%nrec), gather%rz(gather%nrec), gather%traces(fio%nt, gather%nrec, fio%ncomp), stat=rc)
    if (rc /= 0) call Fail(error, 'shot record '//Str(fio%record(slot))//" of '"//fio%path//"': out of memory for "// &
      Str(fio%nt)//' samples x '//Str(gather%nrec)//' receivers x '//Str(fio%ncomp)//' components')
    if (allocated(error)) return
    call GetReceivers(fio, 'receiver_x_used', slot, gather%rx, error)
    call GetReceivers(fio, 'receiver_z_used', slot, gather%rz, error)
    if (fio%y_used) then
      allocate (gather%ry(gather%nrec))
      call GetDoubles(fio, 'source_y_used', slot, gather%sy, error)
      call GetReceivers(fio, 'receiver_y_used', slot, gather%ry, error)
    end if
    do c = 1, fio%ncomp
      if (allocated(error)) return
      call FailFromC(fio_get_floats(fio%handle, CString(trim(fio%variable(c))), [slot - 1_i8, 0_i8, 0_i8], &
        [1_i8, int(gather%nrec, i8), int(fio%nt, i8)], gather%traces(:, :, c)), error)
    end do
  end subroutine FioGet

  subroutine GetDoubles(fio, name, slot, value, error)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: name
    integer, intent(in) :: slot
    real(dp), intent(inout) :: value
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: values(1)
    if (allocated(error)) return
    values = 0
    call FailFromC(fio_get_doubles(fio%handle, CString(name), [slot - 1_i8], [1_i8], values), error)
    value = values(1)
  end subroutine GetDoubles

  subroutine GetReceivers(fio, name, slot, values, error)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: name
    integer, intent(in) :: slot
    real(dp), intent(inout) :: values(:)
    type(error_t), allocatable, intent(inout) :: error
    if (allocated(error)) return
    call FailFromC(fio_get_doubles(fio%handle, CString(name), [slot - 1_i8, 0_i8], [1_i8, size(values, kind=i8)], values), error)
  end subroutine GetReceivers

  subroutine GetNumbers(fio, name, slot, n, values, error)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: name
    integer, intent(in) :: slot, n
    integer, allocatable, intent(out) :: values(:)
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: found(n)
    found = 0
    if (.not. allocated(error)) call FailFromC(fio_get_longs(fio%handle, CString(name), [slot - 1_i8, 0_i8], [1_i8, int(n, i8)], &
                                                             found), error)
    values = Whole(found, -huge(1), huge(1))
  end subroutine GetNumbers

  function GetWords(fio, name, slot, error) result(text)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: name
    integer, intent(in) :: slot
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: text
    character(words) :: buffer
    buffer = ''
    if (.not. allocated(error)) call FailFromC(fio_get_text(fio%handle, CString(name), [slot - 1_i8, 0_i8], &
      [1_i8, int(words, i8)], buffer), error)
    text = buffer
    if (index(text, c_null_char) > 0) text = text(:index(text, c_null_char) - 1)
  end function GetWords

end module fioget_m
