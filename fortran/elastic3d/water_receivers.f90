!> Receivers of velocity, strain or rotation in the water right above a source in rock, said before the first shot: differences
!> along z that reach across the sea floor take the stress of the rock for the water's, which gives velocity above it a curl.
!> Pressure hardly sees it, and half-length 1 does not reach across (README.md, t885).
module water_receivers_m
  use error_m, only: error_t
  use kinds_m, only: dp, sp
  use mixed_cells_m, only: medium_parts
  use model3d_m, only: model3d_t
  use model3d_window_m, only: Model3dCell, Model3dRow
  use parameters_m, only: job_t
  use scheme3d_m, only: scheme3d_t
  use scheme_m, only: scheme_t, SchemeWarn
  use shot_m, only: shot_t
  use source3d_m, only: source_fault
  use text_m, only: Str
  use told_receivers_m, only: told_receivers_t, ToldAdd
  use window_m, only: window_t, WindowCell
  implicit none
  private
  public :: WaterReceivers, WaterReceiversSay

  integer, parameter :: reach = 10                !< cells above the floor
  real(dp), parameter :: slant = 0.75_dp          !< farther beside the source than this times the height above it: not told

contains

  !> Looks at a shot in its window. Of faults points are not looked at.
  subroutine WaterReceivers(told, earth, job, scheme, shot, window, error)
    type(told_receivers_t), intent(inout) :: told
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(scheme3d_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: column(:, :)
    real(sp) :: medium(medium_parts)
    integer :: c(3), n(3), low, r
    if (scheme%half_length == 1 .or. scan(scheme%components, 'vew') == 0) return
    if (scheme%own%source%kind == source_fault) return
    n = [window%nx, window%ny, window%nz]
    c = WindowCell(window, [shot%sx, shot%sy, shot%sz])
    if (any(c < 1 .or. c > n)) return
    call Model3dCell(earth, job, window, c, medium, error)
    if (allocated(error) .or. .not. medium(2) > 0) return
    do r = 1, size(shot%rx)
      if (hypot(shot%rx(r) - shot%sx, shot%ry(r) - shot%sy) > slant*(shot%sz - shot%rz(r))) cycle
      c = WindowCell(window, [shot%rx(r), shot%ry(r), shot%rz(r)])
      if (any(c < 1 .or. c > n)) cycle
      call Model3dRow(earth, job, window, c, 3, 0, reach, column, low, error)
      if (allocated(error)) return
      if (FloorBelow(column)) call ToldAdd(told, shot, r, 0.1_dp, .true.)
    end do
  end subroutine WaterReceivers

  !> The first cell of a column of vp and vs is water, and rock the first below that is not.
  pure logical function FloorBelow(medium) result(yes)
    real(sp), intent(in) :: medium(:, :)
    integer :: k
    yes = .false.
    do k = 1, size(medium, 1)
      yes = k > 1 .and. medium(k, 2) > 0
      if (medium(k, 2) > 0 .or. .not. medium(k, 1) > 0) return
    end do
  end function FloorBelow

  !> Adds to scheme%warnings what should be known.
  subroutine WaterReceiversSay(told, scheme)
    type(told_receivers_t), intent(in) :: told
    class(scheme_t), intent(inout) :: scheme
    if (told%n == 0) return
    call SchemeWarn(scheme, Str(told%n)//' receiver(s) of velocity, strain or rotation stand in the water within '//Str(reach)// &
              ' cells above rock, right above a source in it, the first of them '//told%first//': half-length '// &
              Str(scheme%half_length)//' reaches across the sea floor, and velocity there is off by several per cent near the '// &
              'highest frequency, tens of per cent at half of it; take half_length=1, or record pressure')
  end subroutine WaterReceiversSay

end module water_receivers_m
