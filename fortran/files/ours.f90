!> Tells files of a run from others: a run adds to, replaces and removes only files that a run has written, which their content
!> shows. Any other file under one of its names is reported before the first file is opened for writing.
module ours_m
  use error_m, only: error_t
  use problems_m, only: problems_t, ProblemAdd
  use files_m, only: FileExists, FileHead
  use fiofile_m, only: FioKnown, FioMade
  use iso_c_binding, only: c_char
  use journal_m, only: JournalKnown
  use kinds_m, only: i8
  use lock_m, only: LockKnown
  use path_c, only: path_file, path_file_by_link, path_folder, path_kind, path_loose_link, path_nothing
  use record_m, only: LogKnown, RecordKnown
  use sides_m, only: side_t, SidePath, sides
  use statefile_c, only: statefile_foreign
  use text_m, only: CString, FString
  implicit none
  private
  public :: OursCheck

contains

  !> Adds a problem for everything that has the name of a file of a run with this output, and is none. `overwrite`: the output is to
  !> be replaced. `told`: a file that was reported already.
  subroutine OursCheck(output, overwrite, problems, told)
    character(*), intent(in) :: output
    logical, intent(in) :: overwrite
    type(problems_t), intent(inout) :: problems
    character(*), intent(in), optional :: told
    integer :: i
    call CheckOutput(output, overwrite, problems)
    do i = 1, size(sides)
      if (sides(i)%ending == 'stop') cycle          ! the user's own
      if (present(told)) then
        if (SidePath(output, trim(sides(i)%ending)) == told) cycle
      end if
      call CheckSide(output, sides(i), problems)
    end do
  end subroutine OursCheck

  !> Without a journal beside it only a whole file of gathers is recognised. With one, whoever opens a damaged output reports it; a
  !> file that is to be replaced must at least have been one of gathers.
  subroutine CheckOutput(output, overwrite, problems)
    character(*), intent(in) :: output
    logical, intent(in) :: overwrite
    type(problems_t), intent(inout) :: problems
    character(:), allocatable :: link
    logical :: known, journal
    integer :: kind
    known = .true.
    kind = path_kind(CString(output))
    if (kind == path_nothing) return
    journal = FileExists(SidePath(output, 'journal'))
    link = ''
    if (kind == path_loose_link) then
      link = ' that leads nowhere'
    else if (kind == path_file_by_link .and. overwrite) then
      link = ', in whose place overwrite=y would put a new file'
    else if (kind == path_file_by_link .and. .not. journal) then
      link = ', and its journal is not beside the link'
    end if
    if (link /= '') then
      call ProblemAdd(problems, "'"//output//"' is a link"//link//': give the output by the name of the file itself')
      return
    end if
    if (.not. journal) then
      known = FioKnown(output)
    else if (overwrite) then
      known = FioMade(output)
    end if
    if (.not. known) call ProblemAdd(problems, "'"//output//"' is not a file of gathers, or a damaged one without its journal: "// &
                                   'choose another output, or remove it yourself')
  end subroutine CheckOutput

  subroutine CheckSide(output, side, problems)
    character(*), intent(in) :: output
    type(side_t), intent(in) :: side
    type(problems_t), intent(inout) :: problems
    character(:), allocatable :: path, wrong, start
    type(error_t), allocatable :: error
    integer :: kind
    path = SidePath(output, trim(side%ending))
    wrong = ''
    kind = path_kind(CString(path))
    if (kind == path_nothing) return
    if (kind == path_loose_link) then
      wrong = 'is a link that leads nowhere'
    else if (side%ending == 'states') then
      if (kind /= path_folder) wrong = 'is no folder'
      if (kind == path_folder) call LookInside(path, wrong)
    else if (kind == path_folder) then
      wrong = 'is a folder'
    else if (kind == path_file_by_link .and. .not. side%by_link) then
      wrong = 'is a link'
    else if (kind /= path_file .and. kind /= path_file_by_link) then
      wrong = 'is a pipe or a device, not a file on disk'
    else if (.not. Known(side, path)) then
      call FileHead(path, 1_i8, start, error)
      if (allocated(error)) then
        call ProblemAdd(problems, error%message//'; it has the name of '//trim(side%meaning)//' of this run: make it readable, '// &
                        'or choose another output')
        return
      end if
      wrong = 'was not written by a run'
      if (side%ending == 'par') wrong = wrong//', or was changed since'
    end if
    if (wrong /= '') call ProblemAdd(problems, "'"//path//"', the name of "//trim(side%meaning)//' of this run, '//wrong// &
                                   ': move it away, or choose another output')
  end subroutine CheckSide

  logical function Known(side, path)
    type(side_t), intent(in) :: side
    character(*), intent(in) :: path
    select case (side%ending)
    case ('journal')
      Known = JournalKnown(path)
    case ('lock')
      Known = LockKnown(path)
    case ('log')
      Known = LogKnown(path)
    case default
      Known = RecordKnown(path)
    end select
  end function Known

  subroutine LookInside(path, wrong)
    character(*), intent(in) :: path
    character(:), allocatable, intent(inout) :: wrong
    character(kind=c_char, len=256) :: name
    if (statefile_foreign(CString(path), len(name), name) == 1) wrong = "holds '"//FString(name)//"', which is no state of a shot"
  end subroutine LookInside

end module ours_m
