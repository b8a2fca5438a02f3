!> Receivers of velocity, strain or rotation in the water right above a source in rock, or right above the sea floor, said before
!> the first shot: differences along z that reach across the sea floor take the stress of the rock for the water's, which gives
!> velocity above it a curl. Pressure hardly sees it, and half-length 1 does not reach across (accuracy.md, t885, t655).
module water_receivers_m
  use error_m, only: error_t
  use kinds_m, only: dp, sp
  use mixed_cells_m, only: medium_parts
  use model3d_m, only: model3d_t
  use model3d_window_m, only: Model3dCell, Model3dCutsFloor, Model3dRow
  use parameters_m, only: job_t
  use scheme3d_m, only: scheme3d_t
  use scheme_m, only: scheme_t, SchemeWarn
  use shallow_water_m, only: WaterDepth
  use shot_m, only: shot_t
  use source3d_m, only: source_fault
  use text_m, only: Str
  use told_receivers_m, only: told_receivers_t, ToldAdd, ToldAgain, ToldBegin
  use window_m, only: window_t, WindowCell
  implicit none
  private
  public :: in_water_t, WaterReceivers, WaterReceiversSay

  integer, parameter :: reach = 10                !< cells above the floor
  real(dp), parameter :: slant = 0.75_dp          !< farther beside the source than this times the height above it
  real(dp), parameter :: beside = 10              !< and than so many cells: not told
  integer, parameter :: at_floor(4) = [0, 2, 4, 5]   !< but, by half-length, of those within so many cells above the floor

  type :: in_water_t
    type(told_receivers_t) :: over_source, over_floor
    logical :: by_place = .false.                 !< the source of the shot before was in water, where receivers alone decide
  end type in_water_t

contains

  !> Looks at a shot in its window: receivers above its source, and others at the floor; not at those that stand there `again`
  !> where the source is in the water. Of faults points are not looked at.
  subroutine WaterReceivers(told, earth, job, scheme, shot, window, again, error)
    type(in_water_t), intent(inout) :: told
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(scheme3d_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    logical, intent(in) :: again
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: column(:, :)
    real(sp) :: medium(medium_parts)
    real(dp) :: apart, over, depth
    integer :: c(3), n(3), low, r, near
    logical :: in_rock, above, cut
    if (.not. again) told%by_place = .false.
    if (scheme%half_length == 1 .or. scan(scheme%components, 'vew') == 0) return
    if (scheme%own%source%kind == source_fault) return
    n = [window%nx, window%ny, window%nz]
    c = WindowCell(window, [shot%sx, shot%sy, shot%sz])
    if (any(c < 1 .or. c > n)) return
    call Model3dCell(earth, job, window, c, medium, error)
    if (allocated(error)) return
    in_rock = medium(2) > 0
    if (again .and. told%by_place .and. .not. in_rock) then
      call ToldAgain(told%over_floor)
      return
    end if
    call ToldBegin(told%over_floor)
    told%by_place = .not. in_rock
    near = at_floor(scheme%half_length)
    cut = Model3dCutsFloor(job, earth, [window%dx, window%dy, window%dz])      ! then floor_receivers.f90 tells of more
    do r = 1, size(shot%rx)
      apart = hypot(shot%rx(r) - shot%sx, shot%ry(r) - shot%sy)
      above = in_rock .and. apart <= max(slant*(shot%sz - shot%rz(r)), beside*max(window%dx, window%dy))
      c = WindowCell(window, [shot%rx(r), shot%ry(r), shot%rz(r)])
      if (any(c < 1 .or. c > n)) cycle
      if (.not. above) then                       ! of 10**5 receivers none is looked up cell by cell that is far from the floor
        if (cut) cycle
        depth = WaterDepth(earth, shot%rx(r), shot%ry(r))
        if (.not. depth > 0) cycle
        if (abs(shot%rz(r) - earth%low(3) - depth) > (near + 1)*window%dz + earth%d(3)) cycle
      end if
      call Model3dRow(earth, job, window, c, 3, 0, merge(reach, near, above), column, low, error)
      if (allocated(error)) return
      over = OverFloor(column, (shot%rz(r) - window%z0)/window%dz - low + 1)
      if (above .and. over <= reach) then
        call ToldAdd(told%over_source, shot, r, 0.1_dp, .true.)
      else if (over <= near .and. .not. cut) then
        call ToldAdd(told%over_floor, shot, r, 0.1_dp, .true.)
      end if
    end do
  end subroutine WaterReceivers

  !> Cells from a place `down` cells below the top of a column of vp and vs to rock below it; huge where its first cell is no water,
  !> or no rock is the first below that is not.
  pure real(dp) function OverFloor(medium, down) result(cells)
    real(sp), intent(in) :: medium(:, :)
    real(dp), intent(in) :: down
    integer :: k
    cells = huge(cells)
    do k = 1, size(medium, 1)
      if (k > 1 .and. medium(k, 2) > 0) cells = k - 1 - down
      if (medium(k, 2) > 0 .or. .not. medium(k, 1) > 0) return
    end do
  end function OverFloor

  !> Adds to scheme%warnings what should be known.
  subroutine WaterReceiversSay(told, scheme)
    type(in_water_t), intent(in) :: told
    class(scheme_t), intent(inout) :: scheme
    character(:), allocatable :: begin, across
    begin = ' receiver(s) of velocity, strain or rotation stand in the water within '
    across = ': half-length '//Str(scheme%half_length)//' reaches across the sea floor, and velocity there is off by '
    associate (here => told%over_floor)
      if (here%n > 0) call SchemeWarn(scheme, Str(here%n)//begin// &
        Str(at_floor(scheme%half_length))//' cell(s) above rock, the first of them '//here%first//across//'5 to 12 %, within '// &
        'half a cell and of sources in rock by tens of per cent; take half_length=1, put them higher above the floor, or '// &
        'record pressure')
    end associate
    associate (here => told%over_source)
      if (here%n > 0) call SchemeWarn(scheme, Str(here%n)//begin//Str(reach)//' cells above rock, right above a source in '// &
        'it, the first of them '//here%first//across//'several per cent near the highest frequency, tens of per cent at '// &
        'half of it; take half_length=1, or record pressure')
    end associate
  end subroutine WaterReceiversSay

end module water_receivers_m
