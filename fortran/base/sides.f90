!> THE list of what a run writes: its output, and what lies beside it under the name of the output and an ending.
!>
!> Every module that writes one of them takes its name from here, and SideOf compares all of them with a file that the run reads,
!> so that none is ever written to. ours.f90 tells which of these files belong to a run.
module sides_m
  use iso_c_binding, only: c_char
  use files_c, only: file_numbers
  use kinds_m, only: i8
  use tuning_cache_c, only: tuning_cache_path
  use path_c, only: path_beside, path_same, path_within
  use text_m, only: CString, FString, Str
  implicit none
  private
  public :: side_t, sides, SidePath, SideSnapshot, SideSnapshots, SideOf

  !> A file of a run beside its output.
  type :: side_t
    character(8) :: ending                    !< OUTPUT.ending
    character(40) :: meaning                  !< in messages
    logical :: by_link = .false.              !< may be a link: it is never replaced, only added to
  end type side_t

  type(side_t), parameter :: sides(*) = [ &
                             side_t('journal', 'the journal', .true.), &
                             side_t('lock', 'the lock'), &
                             side_t('log', 'the log', .true.), &
                             side_t('par', 'the record of the parameters'), &
                             side_t('states', 'the folder of states', .true.), &
                             side_t('stop', 'the stop file')]

contains

  !> Place in the list of the file with this ending; the ending must be one of the list.
  pure integer function SideFind(ending) result(i)
    character(*), intent(in) :: ending
    i = findloc(sides%ending, ending, 1)
  end function SideFind

  !> The path of the file with this ending.
  pure function SidePath(output, ending) result(path)
    character(*), intent(in) :: output, ending
    character(:), allocatable :: path
    path = output//'.'//trim(sides(SideFind(ending))%ending)
  end function SidePath

  !> The path of the snapshots of a shot.
  pure function SideSnapshot(output, record) result(path)
    character(*), intent(in) :: output
    integer, intent(in) :: record
    character(:), allocatable :: path
    path = output//'.snap'//Str(record)//'.nc'
  end function SideSnapshot

  !> Records of the shots that have a file with the name of snapshots beside the output, in any order.
  subroutine SideSnapshots(output, record)
    character(*), intent(in) :: output
    integer, allocatable, intent(out) :: record(:)
    integer(i8) :: n, room
    n = 0
    do
      room = n
      if (allocated(record)) deallocate (record)
      allocate (record(room))
      n = file_numbers(CString(output//'.snap'), CString('.nc'), room, record)
      if (n <= room) exit                       ! else there were more than a moment ago
    end do
    record = record(:n)
  end subroutine SideSnapshots

  !> The meaning of what a run with this output would write over the file `path`, by any of its names: 'the log', ...; '' if
  !> nothing.
  function SideOf(output, path) result(what)
    character(*), intent(in) :: output, path
    character(:), allocatable :: what
    integer, allocatable :: record(:)
    integer :: i
    what = ''
    if (output == '' .or. path == '') return
    if (Same(output, path)) what = 'the gathers'
    do i = 1, size(sides)
      if (Same(SidePath(output, trim(sides(i)%ending)), path)) what = trim(sides(i)%meaning)
    end do
    if (path_within(CString(SidePath(output, 'states')), CString(path)) == 1) what = 'states of shots'
    if (Same(Notes(), path)) what = 'notes of the fastest shapes'
    if (what /= '') return
    what = Beside(output, path)
    if (what /= '') return
    call SideSnapshots(output, record)
    do i = 1, size(record)
      if (Same(SideSnapshot(output, record(i)), path)) what = 'snapshots'
    end do
  end function SideOf

  logical function Same(a, b)
    character(*), intent(in) :: a, b
    Same = .false.
    if (a /= '') Same = path_same(CString(a), CString(b)) == 1
  end function Same

  !> The same for files with a number or a word of their own in the name.
  function Beside(output, path) result(what)
    character(*), intent(in) :: output, path
    character(:), allocatable :: what, ending
    character(kind=c_char, len=300) :: rest
    integer :: behind
    what = ''
    if (path_beside(CString(output), CString(path), len(rest), rest) == 0) return
    ending = FString(rest)
    behind = len(ending) - len('.half')
    if (index(ending, '.lock.') == 1) what = 'the lock'
    if (behind >= 0) then
      if (ending(behind + 1:) == '.half') what = 'files that are not whole yet'
    end if
    if (index(ending, '.snap') == 1 .and. len(ending) > len('.snap.nc')) then
      if (verify(ending(6:len(ending) - 3), '0123456789') == 0 .and. ending(len(ending) - 2:) == '.nc') what = 'snapshots'
    end if
  end function Beside

  !> The file in which `tuned` notes the fastest shape of its blocks; '' where there is no cache folder.
  function Notes() result(path)
    character(:), allocatable :: path
    character(kind=c_char, len=4096) :: buffer
    path = ''
    if (tuning_cache_path(CString('shapes'), len(buffer), buffer) == 0) path = FString(buffer)
  end function Notes

end module sides_m
