!> Writing gathers into their slots. See fio.f90 for the layout.
module fioput_m
  use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value
  use checked_m, only: CountOf
  use error_m, only: error_t, AddContext, Fail, FailFromC
  use fio_c, only: fio_put_doubles, fio_put_longs, fio_put_sealed, fio_put_summed, fio_put_text, fio_sync
  use fiofile_m, only: CheckOpen, CheckSlot, computed, fio_done, fio_parked, fio_t, fio_todo, Checked, missing_channel, words
  use fioget_m, only: SumSlot
  use clock_m, only: ClockSeconds
  use gather_m, only: gather_t, sealed_t, SealedCount
  use gather_seal_m, only: TracesSeal
  use iso_c_binding, only: c_null_char
  use kinds_m, only: dp, i8, sp
  use sealed_c, only: crc32_joined
  use shot_m, only: shot_t
  use text_m, only: CString, Str
  implicit none
  private
  public :: FioPut, FioSync, FioMark, FioNavigate, FioSeal

contains

  !> Writes a gather into the slot of its shot, checksums and status too. `checksum` is the one in the file: of the traces it has
  !> the sums that they were sealed with, so it fits only what was sealed. Traces that are not sealed are sealed first. After an
  !> error the slot does not count; if fio%broken, nothing more can be written until the file is closed and opened again.
  subroutine FioPut(fio, shot, gather, checksum, error)
    type(fio_t), intent(inout) :: fio
    type(shot_t), intent(in) :: shot
    type(gather_t), intent(in) :: gather
    integer(i8), intent(out) :: checksum
    type(error_t), allocatable, intent(inout) :: error
    type(sealed_t) :: sealed
    integer(i8) :: run_checksum
    integer :: slot
    checksum = 0
    slot = shot%slot
    call CheckOpen(fio, error)
    call CheckGather(fio, shot, gather, error)
    if (.not. allocated(error) .and. allocated(gather%traces)) &
      call TracesSeal(gather%traces, gather%record, fio%variable, sealed, error)
    if (allocated(error)) return
    fio%broken = .true.   ! until all of it succeeded
    call PutLong(fio, 'status', slot, int(fio_todo, i8), error)
    call PutGeometry(fio, shot, gather, error)
    call PutComputed(fio, slot, gather, error)
    call SumSlot(fio, Checked(fio), slot, checksum, error)
    if (allocated(gather%traces)) then
      call PutTraces(fio, slot, gather%nrec, sealed, checksum, error)
    else
      call PutTraces(fio, slot, gather%nrec, gather%sealed, checksum, error)
    end if
    run_checksum = 0
    call SumSlot(fio, computed, slot, run_checksum, error)
    call PutLong(fio, 'checksum', slot, checksum, error)
    call PutLong(fio, 'run_checksum', slot, run_checksum, error)
    call PutLong(fio, 'status', slot, int(fio_done, i8), error)
    call AddContext(error, 'writing shot record '//Str(shot%record))
    fio%broken = allocated(error)
  end subroutine FioPut

  !> On return all gathers that were put are on the disk; only then may they be journalled as done. After an error it is not known
  !> which of them are: all are to be put again.
  subroutine FioSync(fio, error)
    type(fio_t), intent(inout) :: fio
    type(error_t), allocatable, intent(inout) :: error
    call CheckOpen(fio, error)
    if (.not. allocated(error)) call FailFromC(fio_sync(fio%handle), error)
    fio%broken = fio%broken .or. allocated(error)
  end subroutine FioSync

  !> Writes the navigation of a shot into its slot, which is to be taken over from another file. Not on the disk yet.
  subroutine FioNavigate(fio, shot, error)
    type(fio_t), intent(inout) :: fio
    type(shot_t), intent(in) :: shot
    type(error_t), allocatable, intent(inout) :: error
    call CheckSlot(fio, shot%slot, error)
    if (.not. allocated(error)) call PutNavigation(fio, shot, error)
    fio%broken = allocated(error)
  end subroutine FioNavigate

  !> Marks slots as done, under these checksums; on return that and all they hold is on the disk. All slots must be to do. (slots)
  subroutine FioSeal(fio, done, checksum, run_checksum, error)
    type(fio_t), intent(inout) :: fio
    logical, intent(in) :: done(:)
    integer(i8), intent(in) :: checksum(:), run_checksum(:)
    type(error_t), allocatable, intent(inout) :: error
    call CheckOpen(fio, error)
    if (allocated(error)) return
    call PutSlots(fio, 'checksum', checksum, error)
    call PutSlots(fio, 'run_checksum', run_checksum, error)
    call PutSlots(fio, 'status', merge(int(fio_done, i8), int(fio_todo, i8), done), error)
    if (.not. allocated(error)) call FailFromC(fio_sync(fio%handle), error)
    fio%broken = allocated(error)
  end subroutine FioSeal

  subroutine PutSlots(fio, name, values, error)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: name
    integer(i8), intent(in) :: values(:)
    type(error_t), allocatable, intent(inout) :: error
    if (.not. allocated(error)) call FailFromC(fio_put_longs(fio%handle, CString(name), [0_i8], [size(values, kind=i8)], values), &
                                               error)
  end subroutine PutSlots

  !> Notes another state of a slot (fio_todo: its traces turned out damaged; fio_parked: given up), durably.
  subroutine FioMark(fio, slot, status, error)
    type(fio_t), intent(inout) :: fio
    integer, intent(in) :: slot, status
    type(error_t), allocatable, intent(inout) :: error
    call CheckSlot(fio, slot, error)
    if (status /= fio_todo .and. status /= fio_parked) call Fail(error, 'status '//Str(status)//' cannot be set by hand')
    if (allocated(error)) return
    fio%broken = .true.
    call PutLong(fio, 'status', slot, int(status, i8), error)
    if (.not. allocated(error)) call FailFromC(fio_sync(fio%handle), error)
    fio%broken = allocated(error)
  end subroutine FioMark

  !> A gather that does not belong to its slot must not be written. One that is sealed holds finite numbers.
  subroutine CheckGather(fio, shot, gather, error)
    type(fio_t), intent(in) :: fio
    type(shot_t), intent(in) :: shot
    type(gather_t), intent(in) :: gather
    type(error_t), allocatable, intent(inout) :: error
    integer :: n(3)
    logical :: fits
    if (allocated(error)) return
    if (shot%slot < 1 .or. shot%slot > fio%nshots) then
      call Fail(error, 'shot record '//Str(shot%record)//' has slot '//Str(shot%slot)//', must be 1..'//Str(fio%nshots))
      return
    end if
    if (fio%record(shot%slot) /= shot%record .or. gather%record /= shot%record) call Fail(error, 'slot '//Str(shot%slot)// &
      ' is for shot record '//Str(fio%record(shot%slot))//', not for shot '//Str(shot%record)//' with gather '//Str(gather%record))
    if (.not. ((allocated(gather%traces) .or. SealedCount(gather%sealed) > 0) .and. allocated(gather%rx) .and. &
               allocated(gather%rz) .and. allocated(shot%rx) .and. &
               allocated(shot%ry) .and. allocated(shot%rz) .and. allocated(shot%channel))) then
      call Fail(error, 'the gather of shot record '//Str(shot%record)//' is incomplete')
      return
    end if
    n = [gather%nt, gather%nrec, gather%ncomp]
    if (allocated(gather%traces)) n = shape(gather%traces)
    fits = all(n == [fio%nt, gather%nrec, fio%ncomp]) .and. size(gather%rx) == gather%nrec .and. size(gather%rz) == gather%nrec &
           .and. size(shot%rx) == gather%nrec .and. size(shot%ry) == gather%nrec .and. size(shot%rz) == gather%nrec .and. &
           size(shot%channel) == gather%nrec .and. gather%nrec <= fio%nrec_max
    if (fits .and. .not. allocated(gather%traces)) fits = SealedCount(gather%sealed) == CountOf(int(n, i8)) .and. &
                                                          size(gather%sealed%crc) == fio%ncomp
    if (.not. fits) then
      call Fail(error, 'the gather of shot record '//Str(shot%record)//' has '//Str(n(1))//' samples x '//Str(gather%nrec)// &
        ' receivers x '//Str(n(3))//' components, its slot is for '//Str(fio%nt)//' x '// &
        Str(size(shot%rx))//' (at most '//Str(fio%nrec_max)//') x '//Str(fio%ncomp))
      return
    end if
    if (fio%y_used .and. .not. allocated(gather%ry)) call Fail(error, 'the gather of shot record '//Str(shot%record)//' has no y')
  end subroutine CheckGather

  subroutine PutGeometry(fio, shot, gather, error)
    type(fio_t), intent(in) :: fio
    type(shot_t), intent(in) :: shot
    type(gather_t), intent(in) :: gather
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: channel(fio%nrec_max)
    integer :: slot
    slot = shot%slot
    call PutLong(fio, 'nrec', slot, int(gather%nrec, i8), error)
    call PutDouble(fio, 'source_x', slot, shot%sx, error)
    call PutDouble(fio, 'source_y', slot, shot%sy, error)
    call PutDouble(fio, 'source_z', slot, shot%sz, error)
    call PutDouble(fio, 'source_x_used', slot, gather%sx, error)
    call PutDouble(fio, 'source_z_used', slot, gather%sz, error)
    call PutReceivers(fio, 'receiver_x', slot, shot%rx, error)
    call PutReceivers(fio, 'receiver_y', slot, shot%ry, error)
    call PutReceivers(fio, 'receiver_z', slot, shot%rz, error)
    call PutReceivers(fio, 'receiver_x_used', slot, gather%rx, error)
    call PutReceivers(fio, 'receiver_z_used', slot, gather%rz, error)
    if (fio%y_used) then
      call PutDouble(fio, 'source_y_used', slot, gather%sy, error)
      call PutReceivers(fio, 'receiver_y_used', slot, gather%ry, error)
    end if
    if (fio%navigation /= '') call PutNavigation(fio, shot, error)
    channel = missing_channel
    channel(:gather%nrec) = shot%channel
    if (.not. allocated(error)) call FailFromC(fio_put_longs(fio%handle, CString('channel'), [slot - 1_i8, 0_i8], &
      [1_i8, int(fio%nrec_max, i8)], channel), error)
  end subroutine PutGeometry

  subroutine PutNavigation(fio, shot, error)
    type(fio_t), intent(in) :: fio
    type(shot_t), intent(in) :: shot
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: line(fio%nrec_max)
    if (.not. allocated(shot%navigation)) call Fail(error, 'shot record '//Str(shot%record)//" has no navigation, which '"// &
      fio%path//"' holds of every shot")
    if (allocated(error)) return
    associate (nav => shot%navigation)
      call PutDouble(fio, 'source_easting', shot%slot, nav%e, error)
      call PutDouble(fio, 'source_northing', shot%slot, nav%n, error)
      call PutDouble(fio, 'source_height', shot%slot, nav%h, error)
      call PutDouble(fio, 'shot_point', shot%slot, nav%point, error)
      call PutLong(fio, 'source_line', shot%slot, int(nav%line, i8), error)
      call PutReceivers(fio, 'receiver_easting', shot%slot, nav%re, error)
      call PutReceivers(fio, 'receiver_northing', shot%slot, nav%rn, error)
      call PutReceivers(fio, 'receiver_height', shot%slot, nav%rh, error)
      call PutReceivers(fio, 'receiver_station', shot%slot, nav%station, error)
      line = 0
      line(:size(nav%rline)) = nav%rline
      if (.not. allocated(error)) call FailFromC(fio_put_longs(fio%handle, CString('receiver_line'), [shot%slot - 1_i8, 0_i8], &
        [1_i8, int(fio%nrec_max, i8)], line), error)
    end associate
  end subroutine PutNavigation

  subroutine PutComputed(fio, slot, gather, error)
    type(fio_t), intent(in) :: fio
    integer, intent(in) :: slot
    type(gather_t), intent(in) :: gather
    type(error_t), allocatable, intent(inout) :: error
    call PutDouble(fio, 'seconds', slot, gather%seconds, error)
    call PutLong(fio, 'steps', slot, int(gather%steps, i8), error)
    call PutDouble(fio, 'cells', slot, gather%cells, error)
    call PutDouble(fio, 'finished', slot, ClockSeconds(), error)
    call PutWords(fio, 'variant', slot, gather%variant, error)
    call PutWords(fio, 'device', slot, gather%device, error)
  end subroutine PutComputed

  !> The traces as sealed, then NaN for the receivers that are not there; goes on with the checksum over what was sealed and these.
  subroutine PutTraces(fio, slot, nrec, sealed, crc, error)
    type(fio_t), intent(in) :: fio
    integer, intent(in) :: slot, nrec
    type(sealed_t), target, intent(in) :: sealed
    integer(i8), intent(inout) :: crc
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: none(:, :)
    real(sp), pointer, contiguous :: bytes(:)
    integer(i8) :: n, at(3), counts(3)
    integer :: c
    n = int(fio%nt, i8)*nrec
    bytes => sealed%lent
    if (.not. associated(bytes)) bytes => sealed%bytes
    allocate (none(fio%nt, fio%nrec_max - nrec), source=ieee_value(1.0_sp, ieee_quiet_nan))
    do c = 1, fio%ncomp
      at = [slot - 1_i8, 0_i8, 0_i8]
      counts = [1_i8, int(nrec, i8), int(fio%nt, i8)]
      if (.not. allocated(error)) call FailFromC(fio_put_sealed(fio%handle, CString(trim(fio%variable(c))), at, counts, &
                                                                bytes((c - 1)*n + 1:c*n)), error)
      crc = crc32_joined(crc, sealed%crc(c), 4*n)
      at(2) = nrec
      counts(2) = fio%nrec_max - nrec
      if (.not. allocated(error) .and. counts(2) > 0) &
        call FailFromC(fio_put_summed(fio%handle, CString(trim(fio%variable(c))), at, counts, none, crc), error)
    end do
  end subroutine PutTraces

  subroutine PutLong(fio, name, slot, value, error)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: name
    integer, intent(in) :: slot
    integer(i8), intent(in) :: value
    type(error_t), allocatable, intent(inout) :: error
    if (allocated(error)) return
    call FailFromC(fio_put_longs(fio%handle, CString(name), [slot - 1_i8], [1_i8], [value]), error)
  end subroutine PutLong

  subroutine PutDouble(fio, name, slot, value, error)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: name
    integer, intent(in) :: slot
    real(dp), intent(in) :: value
    type(error_t), allocatable, intent(inout) :: error
    if (allocated(error)) return
    call FailFromC(fio_put_doubles(fio%handle, CString(name), [slot - 1_i8], [1_i8], [value]), error)
  end subroutine PutDouble

  subroutine PutReceivers(fio, name, slot, values, error)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: name
    integer, intent(in) :: slot
    real(dp), intent(in) :: values(:)
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: all_of_them(fio%nrec_max)
    if (allocated(error)) return
    all_of_them = ieee_value(1.0_dp, ieee_quiet_nan)
    all_of_them(:size(values)) = values
    call FailFromC(fio_put_doubles(fio%handle, CString(name), [slot - 1_i8, 0_i8], [1_i8, int(fio%nrec_max, i8)], &
      all_of_them), error)
  end subroutine PutReceivers

  subroutine PutWords(fio, name, slot, text, error)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: name
    integer, intent(in) :: slot
    character(:), allocatable, intent(in) :: text
    type(error_t), allocatable, intent(inout) :: error
    character(words) :: buffer
    if (allocated(error)) return
    buffer = repeat(c_null_char, words)
    if (allocated(text)) buffer(:min(words, len(text))) = text(:min(words, len(text)))
    call FailFromC(fio_put_text(fio%handle, CString(name), [slot - 1_i8, 0_i8], [1_i8, int(words, i8)], buffer), error)
  end subroutine PutWords

end module fioput_m
