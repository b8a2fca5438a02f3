!> Slots that one file of gathers takes over from another: their bytes are copied, compared with the checksums they had, and summed
!> up anew, for a slot changes with the most receivers of a survey and with its navigation.
module fiotake_m
  use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value
  use error_m, only: error_t, Fail, FailFromC
  use fio_c, only: fio_var_rank
  use fioget_m, only: FioRuns, FioChecksums
  use fiofile_m, only: Checked, computed, fio_t, missing_channel, with_map
  use files_m, only: FileSync
  use text_crc32_m, only: Hex
  use host_c, only: host_seconds
  use iso_c_binding, only: c_associated, c_int, c_null_ptr, c_ptr
  use kinds_m, only: dp, i8, sp
  use log_m, only: LogInfo, LogWarn
  use raw_c, only: raw_close, raw_copy, raw_fill, raw_find, raw_open, raw_sum
  use text_m, only: CString, Str
  implicit none
  private
  public :: FioTake

  real(dp), parameter :: TELL = 20.0_dp         !< seconds between two lines of the log

  !> A variable in both files.
  type :: both_t
    character(:), allocatable :: name
    integer(i8) :: begin(2) = -1, bytes(2) = 0  !< the first byte, bytes of a slot; begin -1: it is not there
    logical :: given = .false.                  !< it stands in the new file already
    integer(c_int) :: width = 8
    integer(i8) :: missing = 0                  !< of a receiver that is not there, as bits
  end type both_t

contains

  !> Copies the slots `slot` of the open file `from`, (slots of the new one; 0 = none), to the new file `path`, whose navigation is
  !> written, and which nobody has open. `journal`: the checksums that they must have. `taken`: those that were whole; a damaged one
  !> is named in the log. `checksum`, `run_checksum`: of these in the new file, to be put there by FioSeal. All of it is on the disk
  !> on return.
  subroutine FioTake(from, to, slot, journal, taken, checksum, run_checksum, error)
    type(fio_t), intent(in) :: from, to           !< `to`: closed, its shape counts
    integer, intent(in) :: slot(:)
    integer(i8), intent(in) :: journal(:)
    logical, allocatable, intent(out) :: taken(:)
    integer(i8), allocatable, intent(out) :: checksum(:), run_checksum(:)
    type(error_t), allocatable, intent(inout) :: error
    type(both_t), allocatable :: gather(:), run(:)
    integer(i8), allocatable :: stored(:), stored_run(:)
    type(c_ptr) :: file(2)
    integer(i8) :: old, old_run
    real(dp) :: told
    integer :: i
    allocate (taken(size(slot)), source=.false.)
    allocate (checksum(size(slot)), run_checksum(size(slot)), source=0_i8)
    file = c_null_ptr
    call FioChecksums(from, stored, error)
    call FioRuns(from, stored_run, error)
    if (.not. allocated(error)) file(1) = raw_open(CString(from%path), 0_c_int)
    if (.not. allocated(error)) file(2) = raw_open(CString(to%path), 1_c_int)
    if (.not. allocated(error) .and. .not. all([c_associated(file(1)), c_associated(file(2))])) call FailFromC(1, error)
    call Find(file, from, to, Checked(to)//Components(to), gather, error)
    call Find(file, from, to, computed, run, error)
    told = host_seconds()
    do i = 1, size(slot)
      if (allocated(error)) exit
      if (slot(i) == 0) cycle
      old = 0
      old_run = 0
      call TakeSlot(file, gather, slot(i), i, old, checksum(i), error)
      call TakeSlot(file, run, slot(i), i, old_run, run_checksum(i), error)
      if (allocated(error)) exit
      taken(i) = old == stored(slot(i)) .and. old == journal(i) .and. old_run == stored_run(slot(i))
      if (.not. taken(i)) call LogWarn('shot record '//Str(to%record(i))//" of '"//from%path//"' is damaged: checksum of its "// &
        'data is '//Hex(old)//', must be '//Hex(journal(i))//'; it is modelled again')
      if (host_seconds() - told < TELL) cycle
      call LogInfo(Str(i)//' of '//Str(size(slot))//' shots are gone through')
      told = host_seconds()
    end do
    call raw_close(file(1))
    call raw_close(file(2))
    if (.not. allocated(error)) call FileSync(to%path, error)
  end subroutine FioTake

  !> Names of the variables of the traces, each after a blank.
  pure function Components(fio) result(names)
    type(fio_t), intent(in) :: fio
    character(:), allocatable :: names
    integer :: i
    names = ''
    do i = 1, fio%ncomp
      names = names//' '//trim(fio%variable(i))
    end do
  end function Components

  !> Finds the places of the variables `names` in both files.
  subroutine Find(file, from, to, names, both, error)
    type(c_ptr), intent(in) :: file(2)
    type(fio_t), intent(in) :: from, to
    character(*), intent(in) :: names
    type(both_t), allocatable, intent(out) :: both(:)
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: rest
    type(both_t) :: b
    integer :: rank
    allocate (both(0))
    rest = names//' '
    do while (rest /= '' .and. .not. allocated(error))
      b = both_t()
      b%name = rest(:index(rest, ' ') - 1)              ! gfortran 13 leaves a part of a text in a constructor empty
      rest = rest(index(rest, ' ') + 1:)
      b%given = b%name == 'record' .or. index(with_map//' ', ' '//b%name//' ') > 0
      call Missing(b)
      call FailFromC(raw_find(file(2), CString(b%name), int(to%nshots, i8), b%begin(2), b%bytes(2)), error)
      rank = fio_var_rank(from%handle, CString(b%name))
      if (.not. allocated(error) .and. rank >= 0) &
        call FailFromC(raw_find(file(1), CString(b%name), int(from%nshots, i8), b%begin(1), b%bytes(1)), error)
      if (b%begin(1) < 0 .and. .not. b%given) call Fail(error, "'"//from%path//"' has no variable "//b%name)
      both = [both, b]
    end do
  end subroutine Find

  !> The bits of what stands for a receiver that is not there.
  pure subroutine Missing(b)
    type(both_t), intent(inout) :: b
    if (index(b%name, 'receiver_') == 1) then
      b%missing = transfer(ieee_value(1.0_dp, ieee_quiet_nan), b%missing)
    else if (b%name == 'channel') then
      b%width = 4
      b%missing = missing_channel
    else
      b%width = 4
      b%missing = transfer(ieee_value(1.0_sp, ieee_quiet_nan), 1)
    end if
  end subroutine Missing

  !> Copies slot `i` to slot `j`, and goes on with the checksums of both.
  subroutine TakeSlot(file, both, i, j, old, new, error)
    type(c_ptr), intent(in) :: file(2)
    type(both_t), intent(in) :: both(:)
    integer, intent(in) :: i, j
    integer(i8), intent(inout) :: old, new
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: at(2), n
    integer :: v
    do v = 1, size(both)
      if (allocated(error)) return
      associate (b => both(v))
        at = b%begin + b%bytes*[i - 1, j - 1]
        n = minval(b%bytes)
        if (b%given) then
          if (b%begin(1) >= 0) call FailFromC(raw_sum(file(1), at(1), b%bytes(1), old), error)
          if (.not. allocated(error)) call FailFromC(raw_sum(file(2), at(2), b%bytes(2), new), error)
        else
          call FailFromC(raw_copy(file(1), at(1), file(2), at(2), n, old, new), error)
          if (.not. allocated(error)) call FailFromC(raw_sum(file(1), at(1) + n, b%bytes(1) - n, old), error)
          if (.not. allocated(error)) call FailFromC(raw_fill(file(2), at(2) + n, b%bytes(2) - n, b%width, b%missing, new), error)
        end if
      end associate
    end do
  end subroutine TakeSlot

end module fiotake_m
