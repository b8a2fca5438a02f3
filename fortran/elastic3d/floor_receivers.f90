!> Receivers at a sea floor that lies in a cell or right above it, said before the first shot: the cells of water that make up for
!> it (earth/sea_floor.f90) are right for waves that are long against them. Pressure within two of them is not the earth's: off by a
!> tenth of its RMS, within three quarters of a cell of the face by three tenths, at most. Nor is motion within all four, as these
!> are heavy or light: along the floor it is off by more than its RMS, across by three tenths (accuracy.md, t881).
module floor_receivers_m
  use error_m, only: error_t
  use kinds_m, only: dp, sp
  use model3d_m, only: model3d_t
  use model3d_window_m, only: Model3dCutsFloor, Model3dRow
  use parameters_m, only: job_t
  use scheme3d_m, only: scheme3d_t
  use scheme_m, only: scheme_t, SchemeWarn
  use shot_m, only: shot_t
  use text_m, only: Str
  use told_receivers_m, only: told_receivers_t, ToldAdd, ToldAgain, ToldBegin
  use window_m, only: window_t, WindowCell
  implicit none
  private
  public :: FloorReceivers, FloorReceiversSay

  integer, parameter :: water = 4                 !< cells above the face that make up for it
  real(dp), parameter :: reach = 2.25_dp, close = 0.75_dp      !< cells above the face
  real(dp), parameter :: reach_motion = 4.25_dp                !< the same of velocity, strain and rotation
  real(dp), parameter :: other = 0.01_dp          !< part by which densities of water differ where they do make up for it

contains

  !> Looks at a shot in its window: receivers of pressure, of motion; not at those that stand there `again`.
  subroutine FloorReceivers(told, earth, job, scheme, shot, window, again, error)
    type(told_receivers_t), intent(inout) :: told(2)
    type(model3d_t), intent(in) :: earth
    type(job_t), intent(in) :: job
    type(scheme3d_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(window_t), intent(in) :: window
    logical, intent(in) :: again
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: column(:, :)
    real(dp) :: over
    integer :: c(3), low, r
    logical :: pressure, motion
    pressure = scan(scheme%components, 'p') > 0
    motion = scan(scheme%components, 'vew') > 0
    if (.not. (pressure .or. motion)) return
    if (.not. Model3dCutsFloor(job, earth, [window%dx, window%dy, window%dz])) return
    if (again) then
      call ToldAgain(told)
      return
    end if
    call ToldBegin(told)
    do r = 1, size(shot%rx)
      c = WindowCell(window, [shot%rx(r), shot%ry(r), shot%rz(r)])
      if (any(c < 1 .or. c > [window%nx, window%ny, window%nz])) cycle
      call Model3dRow(earth, job, window, c, 3, water + 1, ceiling(reach_motion), column, low, error)
      if (allocated(error)) return
      over = CellsAbove(column, (shot%rz(r) - window%z0)/window%dz - low + 1)
      if (pressure .and. over <= reach) call ToldAdd(told(1), shot, r, merge(0.3_dp, 0.1_dp, over <= close), .true.)
      if (motion .and. over > 0 .and. over <= reach_motion) call ToldAdd(told(2), shot, r, 1.0_dp, .true.)
    end do
  end subroutine FloorReceivers

  !> Cells from a place `down` cells below the top of a column with vp, vs, rho to the face of a sea floor that its water makes up
  !> for, 0 within the cell below the face; huge where there is none below it, or water is as it is.
  pure real(dp) function CellsAbove(medium, down) result(cells)
    real(sp), intent(in) :: medium(:, :)
    real(dp), intent(in) :: down
    integer :: face
    cells = huge(cells)
    face = findloc(medium(:, 2) > 0, .true., 1) - 1         ! cells of water above it
    if (face < water .or. down > face + 1) return
    if (abs(medium(face, 3)/medium(max(1, face - water), 3) - 1) > other .or. &
        abs(medium(face, 3)/medium(face - 1, 3) - 1) > other) cells = max(0.0_dp, face - down)
  end function CellsAbove

  !> Adds to scheme%warnings what should be known.
  subroutine FloorReceiversSay(told, scheme)
    type(told_receivers_t), intent(in) :: told(2)
    class(scheme_t), intent(inout) :: scheme
    character(*), parameter :: cure = '; take a spacing with which the sea floor is on a face of the cells, or a smaller one'
    if (told(1)%n > 0) call SchemeWarn(scheme, Str(told(1)%n)//' receiver(s) of pressure stand in a cell that a sea floor '// &
      'lies in, or within two above it, the first of them '//told(1)%first//': cells there make up for it, which is right '// &
      'farther away; pressure is off by up to '//Str(nint(100*told(1)%off))//' %'//cure)
    if (told(2)%n > 0) call SchemeWarn(scheme, Str(told(2)%n)//' receiver(s) of velocity, strain or rotation stand in the '// &
      'water within four cells above a sea floor that lies in a cell, the first of them '//told(2)%first//': cells there '// &
      'make up for it by other densities; motion along the floor is off by up to its size and more, motion across it by up '// &
      'to 30 %'//cure//', or record pressure')
  end subroutine FloorReceiversSay

end module floor_receivers_m
