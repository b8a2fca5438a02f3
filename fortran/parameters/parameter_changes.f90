!> Names the parameters that differ between two jobs, for a refusal.
module parameter_changes_m
  use text_m, only: NextLine, Str
  implicit none
  private
  public :: Changes

  integer, parameter :: told_most = 6
  !> Parameters without effect on traces: they may change from run to run.
  character(*), parameter :: free = ' output overwrite verify disk_wait model_check dispersion variant shape steps_a_pass sum '// &
    'snapshot snapshot_step snapshot_dx snapshot_shots snapshot_planes snapshot_fields pgv pgv_depth group decomposition '// &
    'halo halo_wide gpn ranks_per_gpu shots_per_gpu gpu_memory resident on_gpu_error threads retries checkpoint mtbf '// &
    'progress lease quarantine grace deadline forecast mesh_out '

contains

  !> 'fpeak = 14, was 15; ...': parameters that decide traces and differ, in the order of `now`; '' if none does. Both are texts
  !> such as OUTPUT.par: lines `name = value  # origin; meaning`.
  pure function Changes(before, now) result(s)
    character(*), intent(in) :: before, now
    character(:), allocatable :: s, name, value, old
    integer :: at, n
    s = ''
    n = 0
    at = 1
    do while (at <= len(now))
      call Setting(now, at, name, value)
      if (name == '' .or. index(free, ' '//name//' ') > 0) cycle
      old = ValueOf(before, name)
      if (old == value .or. old == '') cycle
      n = n + 1
      if (n > told_most) cycle
      if (s /= '') s = s//'; '
      s = s//name//' = '//value//', was '//old
    end do
    if (n > told_most) s = s//'; and '//Str(n - told_most)//' more'
  end function Changes

  !> '' if there is none of that name.
  pure function ValueOf(text, wanted) result(value)
    character(*), intent(in) :: text, wanted
    character(:), allocatable :: value, name
    integer :: at
    at = 1
    do while (at <= len(text))
      call Setting(text, at, name, value)
      if (name == wanted) return
    end do
    value = ''
  end function ValueOf

  !> The setting of the line that begins at `at`, '' if it has none; `at` moves on to the next line.
  pure subroutine Setting(text, at, name, value)
    character(*), intent(in) :: text
    integer, intent(inout) :: at
    character(:), allocatable, intent(out) :: name, value
    character(:), allocatable :: line
    integer :: equals, behind
    call NextLine(text, at, line)
    name = ''
    value = ''
    equals = index(line, '=')
    if (equals < 2 .or. index(adjustl(line), '#') == 1) return
    name = trim(adjustl(line(:equals - 1)))
    value = trim(adjustl(line(equals + 1:)))
    if (value == '') return
    behind = index(value, ' #')
    if (value(1:1) == "'") behind = index(value(2:)//' ', "' ") + 2    ! what stands in quotes may hold #
    if (behind > 1) value = trim(value(:behind - 1))
  end subroutine Setting

end module parameter_changes_m
