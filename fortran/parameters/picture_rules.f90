!> Rules on the pictures of a 3D job: which planes, which fields.
module picture_rules_m
  use kinds_m, only: dp
  use parameter_table_m, only: SplitList, table_t
  use parameters_m, only: job_t
  use text_m, only: Str, ToReal
  implicit none
  private
  public :: PictureRules

  real(dp), parameter :: farthest = 1.0e8_dp       !< a place [m]

contains

  !> Blames planes and fields of snapshots that are none. `planes`: words for planes beside places on an axis; `fields`: those that
  !> there are; both joined by ', '.
  subroutine PictureRules(job, planes, fields, t)
    type(job_t), intent(in) :: job
    character(*), intent(in) :: planes, fields
    type(table_t), intent(inout) :: t
    character(32), allocatable :: list(:)
    real(dp) :: place
    logical :: named, ok
    integer :: i
    if (.not. (job%snapshot > 0 .or. t%given('snapshot'))) then
      call t%idle('snapshot_planes,snapshot_fields', 'there are no pictures: give snapshot=SECONDS too')
      if (.not. (job%pgv .or. t%given('pgv'))) &
        call t%idle('snapshot_dx,snapshot_step', 'there are no pictures: give snapshot=SECONDS or pgv=y too')
    end if
    if (.not. (job%pgv .or. t%given('pgv'))) call t%idle('pgv_depth', 'there are no maps: give pgv=y too')
    allocate (list, source=SplitList(job%snapshot_planes))
    do i = 1, size(list)
      named = Among(list(i), planes)
      ok = named
      if (.not. ok) call ToReal(trim(list(i)(2:)), place, ok)
      if (ok .and. .not. named) ok = abs(place) <= farthest .and. index('xyz', list(i)(1:1)) > 0
      if (.not. ok) then
        call t%blame('snapshot_planes', "holds '"//trim(list(i))//"': give "//planes//', or x, y or z and a place up to '// &
                     Str(farthest)//' m, such as y250, joined by commas')
      else if (any(list(:i - 1) == list(i))) then
        call t%blame('snapshot_planes', 'holds '//trim(list(i))//' twice: give each once')
      else
        cycle
      end if
      exit
    end do
    deallocate (list)
    allocate (list, source=SplitList(job%snapshot_fields))
    do i = 1, size(list)
      if (.not. Among(list(i), fields)) then
        call t%blame('snapshot_fields', "holds '"//trim(list(i))//"': give any of "//fields//', joined by commas')
      else if (any(list(:i - 1) == list(i))) then
        call t%blame('snapshot_fields', 'holds '//trim(list(i))//' twice: give each once')
      else
        cycle
      end if
      exit
    end do
  end subroutine PictureRules

  !> True of a word of a list that is joined by ', '.
  pure logical function Among(word, list)
    character(*), intent(in) :: word, list
    Among = word /= '' .and. index(', '//list//', ', ', '//trim(word)//', ') > 0
  end function Among

end module picture_rules_m
