!> An open file of gathers: what every part of its handling shares. See fio.f90 for the layout.
module fiofile_m
  use checked_m, only: Whole
  use error_m, only: error_t, Fail, FailFromC
  use fio_c, only: fio_close, fio_dim_length, fio_get_att_numbers, fio_get_att_text, fio_get_doubles, fio_get_longs, &
                   fio_header_check, fio_open, fio_unstretch, fio_var_dim, fio_var_rank
  use files_m, only: FileHead
  use iso_c_binding, only: c_associated, c_char, c_int, c_long_long, c_null_ptr, c_ptr
  use kinds_m, only: dp, i8
  use text_m, only: CString, FString, Str
  implicit none
  private
  public :: fio_t, FioOpen, FioKnown, FioMade, FioClose, FioAttribute, CheckOpen, CheckSlot, Components, Ordered
  public :: fio_todo, fio_done, fio_parked, words, missing_channel, geometry, with_map, computed, Checked, most_components

  integer, parameter :: fio_todo = 0, fio_done = 1, fio_parked = 2   !< values of status(shot)
  integer, parameter :: words = 80                                  !< characters of variant and device
  integer, parameter :: missing_channel = -2147483647

  character(*), parameter :: geometry = 'record nrec source_x source_y source_z receiver_x receiver_y receiver_z channel '// &
    'source_x_used source_z_used receiver_x_used receiver_z_used'
  character(*), parameter :: with_y = ' source_y_used receiver_y_used'
  character(*), parameter :: with_map = ' source_easting source_northing source_height shot_point source_line receiver_easting '// &
                                        'receiver_northing receiver_height receiver_line receiver_station'
  character(8), parameter :: known(*) = [character(8) :: 'pressure', 'vx', 'vz', 'vy', 'sxx', 'syy', 'szz', 'sxy', 'sxz', &
                                          'syz', 'exx', 'eyy', 'ezz', 'exy', 'exz', 'eyz', 'wx', 'wy', 'wz', 'ux', 'uy', 'uz', &
                                          'ax', 'ay', 'az']
  integer, parameter :: most_components = size(known)
  character(*), parameter :: computed = 'seconds steps cells finished variant device'

  type :: fio_t
    type(c_ptr) :: handle = c_null_ptr
    character(:), allocatable :: path
    integer :: nshots = 0, nrec_max = 0, nt = 0, ncomp = 0
    real(dp) :: dt_out = 0                    !< [s]
    character(8) :: variable(most_components) = ''   !< the components' variables, (ncomp) of them used
    logical :: y_used = .false.              !< positions used have a y too
    character(:), allocatable :: navigation   !< fingerprint of the navigation that the file has, '' = none
    integer :: grown = 0                      !< how often it has taken over shots of the file before it, see grow.f90
    integer, allocatable :: record(:)         !< shot record numbers by slot, (nshots)
    logical :: broken = .false.               !< a write failed: the file must be closed and opened again
  end type fio_t

contains

  !> 'p,vx' -> pressure, vx
  subroutine Components(list, variable, n, error)
    character(*), intent(in) :: list
    character(8), intent(out) :: variable(most_components)
    integer, intent(out) :: n
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: rest, word
    integer :: comma
    variable = ''
    n = 0
    rest = trim(adjustl(list))//','
    do while (len(rest) > 0)
      comma = index(rest, ',')
      word = trim(adjustl(rest(:comma - 1)))
      rest = rest(comma + 1:)
      if (word == 'p') word = 'pressure'
      if (all(word /= known) .or. any(word == variable) .or. n == most_components) then
        call Fail(error, "components = '"//list//"', must be any of p, vx, vz, in 3D vy, stresses, strains, rotations too, "// &
          'each once, joined by commas')
        return
      end if
      n = n + 1
      variable(n) = word
    end do
  end subroutine Components

  !> The variables of the geometry of a file, over which its checksums run.
  pure function Checked(fio) result(names)
    type(fio_t), intent(in) :: fio
    character(:), allocatable :: names
    names = Ordered(fio%y_used, fio%navigation /= '')
  end function Checked

  !> The variables of the geometry, in the order of the checksums; with a y that is used, and with navigation.
  pure function Ordered(y_used, navigation) result(names)
    logical, intent(in) :: y_used, navigation
    character(:), allocatable :: names
    names = geometry
    if (y_used) names = names//with_y
    if (navigation) names = names//with_map
  end function Ordered

  !> Opens a file of gathers after checking its length and the checksum of its header. With a `fingerprint` a file of another job is
  !> refused.
  subroutine FioOpen(fio, path, error, fingerprint, readonly)
    type(fio_t), intent(inout) :: fio
    character(*), intent(in) :: path
    type(error_t), allocatable, intent(inout) :: error
    character(*), intent(in), optional :: fingerprint
    logical, intent(in), optional :: readonly
    integer(c_int) :: writable
    call FioClose(fio, error)
    if (allocated(error)) return
    writable = 1
    if (present(readonly)) writable = merge(0, 1, readonly)
    fio%path = path
    if (writable == 1) call FailFromC(fio_unstretch(CString(path)), error)
    if (.not. allocated(error)) call FailFromC(fio_header_check(CString(path)), error)
    if (allocated(error)) then
      if (index(error%message, 'damaged') > 0) error%message = error%message// &
        ' (restore it from a copy, or start anew with overwrite=y)'
      return
    end if
    fio%handle = fio_open(CString(path), writable)
    if (.not. c_associated(fio%handle)) call FailFromC(1, error)
    if (allocated(error)) return
    if (present(fingerprint)) call CheckFingerprint(fio, fingerprint, error)
    call ReadShape(fio, error)
    if (.not. allocated(error)) return
    if (fio_close(fio%handle) /= 0) continue   ! the first error is the one to tell
    fio%handle = c_null_ptr
  end subroutine FioOpen

  !> True of a whole file of gathers, of whatever job.
  logical function FioKnown(path)
    character(*), intent(in) :: path
    type(fio_t) :: fio
    type(error_t), allocatable :: error
    call FioOpen(fio, path, error, readonly=.true.)
    FioKnown = .not. allocated(error)
    call FioClose(fio, error)
  end function FioKnown

  !> True of a file that was one of gathers once, however damaged it is now: it is empty, or its first bytes hold a word of ours.
  logical function FioMade(path)
    character(*), intent(in) :: path
    type(error_t), allocatable :: error
    character(:), allocatable :: text
    call FileHead(path, 1000000_i8, text, error)
    FioMade = .not. allocated(error)
    if (FioMade) FioMade = len(text) == 0 .or. index(text, 'gathers 1') > 0 .or. index(text, 'run_checksum') > 0
  end function FioMade

  subroutine CheckFingerprint(fio, fingerprint, error)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: fingerprint
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: found
    found = FioAttribute(fio, 'fingerprint')
    if (found /= fingerprint) call Fail(error, "'"//fio%path//"' belongs to another job (its fingerprint is '"//found// &
      "', this job's '"//fingerprint//"'): repeat the job that made it, set overwrite=y to start anew, or choose another output")
  end subroutine CheckFingerprint

  !> A text that the file says of itself, its first characters; '' if there is none.
  function FioAttribute(fio, name) result(text)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: name
    character(:), allocatable :: text
    character(kind=c_char, len=65536) :: buffer
    integer(c_long_long) :: n
    n = fio_get_att_text(fio%handle, CString(''), CString(name), len(buffer, c_long_long), buffer)
    text = buffer(:min(max(n, 0_c_long_long), len(buffer, c_long_long)))
  end function FioAttribute

  subroutine ReadShape(fio, error)
    type(fio_t), intent(inout) :: fio
    type(error_t), allocatable, intent(inout) :: error
    integer(i8), allocatable :: record(:)
    real(dp) :: time(2), grown(1)
    integer :: width
    if (allocated(error)) return
    fio%nshots = DimLength(fio, 'shot', error)
    fio%nrec_max = DimLength(fio, 'receiver', error)
    fio%nt = DimLength(fio, 'time', error)
    call Components(FioAttribute(fio, 'components'), fio%variable, fio%ncomp, error)
    fio%y_used = fio_var_rank(fio%handle, CString('source_y_used')) >= 0
    fio%navigation = FioAttribute(fio, 'navigation_hash')
    fio%grown = 0
    if (fio_get_att_numbers(fio%handle, CString(''), CString('grown'), 1, grown, width) == 1) &
      fio%grown = Whole(grown(1), 0, huge(1))
    call CheckVariables(fio, error)
    if (allocated(error)) return
    allocate (record(fio%nshots))
    call FailFromC(fio_get_longs(fio%handle, CString('record'), [0_i8], [int(fio%nshots, i8)], record), error)
    if (.not. allocated(error) .and. any(record < 1 .or. record > huge(1))) call Fail(error, "'"//fio%path// &
      "' holds a shot record number out of 1.."//Str(huge(1))//': it was not made by this program')
    if (allocated(error)) return
    fio%record = Whole(record)
    time = 0
    call FailFromC(fio_get_doubles(fio%handle, CString('time'), [0_i8], [int(min(2, fio%nt), i8)], time), error)
    fio%dt_out = time(2)
  end subroutine ReadShape

  !> Every variable lies on the dimensions it must have: what is read and written later relies on it.
  subroutine CheckVariables(fio, error)
    type(fio_t), intent(in) :: fio
    type(error_t), allocatable, intent(inout) :: error
    character(*), parameter :: by_receiver = ' receiver_x receiver_y receiver_z channel receiver_x_used receiver_z_used '// &
                                             'receiver_y_used receiver_easting receiver_northing receiver_height '// &
                                             'receiver_line receiver_station '
    character(*), parameter :: by_words = ' variant device '
    character(:), allocatable :: names, name
    integer :: i, blank
    if (allocated(error)) return
    if (DimLength(fio, 'words', error) /= words) call Fail(error, "'"//fio%path//"' has texts of another length than "//Str(words))
    call CheckDims(fio, 'time', 'time', error)
    if (fio%navigation /= '') call CheckDims(fio, 'line_name', 'line words', error)
    names = 'status checksum run_checksum '//Checked(fio)//' '//computed//' '
    do while (names /= '')
      blank = index(names, ' ')
      name = names(:blank - 1)
      names = names(blank + 1:)
      if (index(by_receiver, ' '//name//' ') > 0) then
        call CheckDims(fio, name, 'shot receiver', error)
      else if (index(by_words, ' '//name//' ') > 0) then
        call CheckDims(fio, name, 'shot words', error)
      else
        call CheckDims(fio, name, 'shot', error)
      end if
    end do
    do i = 1, fio%ncomp
      call CheckDims(fio, trim(fio%variable(i)), 'shot receiver time', error)
    end do
  end subroutine CheckVariables

  !> `dims`: names joined by blanks, slowest first.
  subroutine CheckDims(fio, name, dims, error)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: name, dims
    type(error_t), allocatable, intent(inout) :: error
    character(kind=c_char, len=257) :: buffer
    character(:), allocatable :: found
    integer(c_long_long) :: length
    integer :: i
    if (allocated(error)) return
    found = ''
    do i = 0, min(fio_var_rank(fio%handle, CString(name)), 4) - 1
      call FailFromC(fio_var_dim(fio%handle, CString(name), i, buffer, length), error)
      found = found//' '//FString(buffer)
    end do
    if (found /= ' '//dims) call Fail(error, "'"//fio%path//"' is no file of gathers: its variable "//name//' must be on '//dims// &
      ', not on '//trim(found//' ')//': choose another output')
  end subroutine CheckDims

  integer function DimLength(fio, name, error) result(n)
    type(fio_t), intent(in) :: fio
    character(*), intent(in) :: name
    type(error_t), allocatable, intent(inout) :: error
    integer(c_long_long) :: length
    length = 0
    call FailFromC(fio_dim_length(fio%handle, CString(name), length), error)
    if (length > huge(n)) call Fail(error, "dimension "//name//" of '"//fio%path//"' has length "//Str(length)// &
      ', must be at most '//Str(huge(n)))
    n = Whole(length)
  end function DimLength

  !> Closes the file; a second call is harmless.
  subroutine FioClose(fio, error)
    type(fio_t), intent(inout) :: fio
    type(error_t), allocatable, intent(inout) :: error
    if (c_associated(fio%handle)) call FailFromC(fio_close(fio%handle), error)
    fio%handle = c_null_ptr
    fio%broken = .false.
  end subroutine FioClose

  subroutine CheckOpen(fio, error)
    type(fio_t), intent(in) :: fio
    type(error_t), allocatable, intent(inout) :: error
    if (.not. c_associated(fio%handle)) then
      call Fail(error, 'the file of gathers is not open')
    else if (fio%broken) then
      call Fail(error, "an earlier write to '"//fio%path//"' failed: nothing more is written until it is opened again")
    end if
  end subroutine CheckOpen

  subroutine CheckSlot(fio, slot, error)
    type(fio_t), intent(in) :: fio
    integer, intent(in) :: slot
    type(error_t), allocatable, intent(inout) :: error
    call CheckOpen(fio, error)
    if (allocated(error)) return
    if (slot < 1 .or. slot > fio%nshots) call Fail(error, 'slot '//Str(slot)//" of '"//fio%path//"', must be 1.."//Str(fio%nshots))
  end subroutine CheckSlot

end module fiofile_m
