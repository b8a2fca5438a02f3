!> The disk that a survey takes: `plan` foretells it, and a run says it before the first shot.
module disk_m
  use error_m, only: error_t
  use fio_m, only: FioBytes
  use journal_m, only: JournalSpace
  use kinds_m, only: dp
  use memory_need_m, only: MemoryBytes
  use survey_m, only: survey_t, SurveyFilmBytes
  use gather_header_m, only: gather_header_t
  use text_m, only: Str
  implicit none
  private
  public :: disk_t, DiskNeed, DiskText

  ! Bytes of the heading of a file of snapshots, and of a log beside the parameters: some of what is said there varies.
  real(dp), parameter :: film_head = 5000, log_lines = 2000

  !> Bytes of the files of a survey. States of long shots are not among them: they come and go.
  type :: disk_t
    real(dp) :: gathers = 0            !< the output, to the last byte
    real(dp) :: beside = 0             !< journal, with the space it takes at the start, record and log
    real(dp) :: films = 0              !< snapshots, films and maps
    integer :: nfilms = 0              !< their files
  end type disk_t

contains

  !> `survey`: what the file of gathers holds (SurveyHeader), its parameters among it.
  subroutine DiskNeed(survey, header, disk, error)
    type(survey_t), intent(in) :: survey
    type(gather_header_t), intent(in) :: header
    type(disk_t), intent(out) :: disk
    type(error_t), allocatable, intent(inout) :: error
    integer :: i
    disk%gathers = FioBytes(header, error)
    disk%beside = JournalSpace(survey%keymap%n) + log_lines
    do i = 1, size(header%attribute)
      if (header%attribute(i)%name == 'parameters') disk%beside = disk%beside + 2*len(header%attribute(i)%text)
    end do
    disk%nfilms = size(survey%snapshot_records)
    do i = 1, disk%nfilms
      disk%films = disk%films + SurveyFilmBytes(survey, survey%snapshot_records(i)) + film_head
    end do
  end subroutine DiskNeed

  !> '34.9 MB for out.nc, 0.4 MB for journal, record and log'; `pictures` are told by that name on a line of their own.
  function DiskText(disk, output, pictures) result(text)
    type(disk_t), intent(in) :: disk
    character(*), intent(in) :: output, pictures
    character(:), allocatable :: text
    text = MemoryBytes(disk%gathers)//' for '//output//', '//MemoryBytes(disk%beside)//' for journal, record and log'
    if (disk%nfilms > 0) text = text//new_line('a')//MemoryBytes(disk%films)//' for '// &
                                trim(pictures)//' of '//Str(disk%nfilms)//' shot(s)'
  end function DiskText

end module disk_m
