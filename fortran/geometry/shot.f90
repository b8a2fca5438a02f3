!> THE geometry of a shot: where the source and the receivers are, as asked for.
module shot_m
  use kinds_m, only: dp
  implicit none
  private
  public :: shot_t, shot_navigation_t

  !> Positions on the map, and the numbers that the survey gave. What is not known: NaN, line 0.
  type :: shot_navigation_t
    real(dp) :: e = 0, n = 0, h = 0           !< source: easting, northing, height [m]
    real(dp) :: point = 0                     !< shot point
    integer :: line = 0                       !< its line, by its number among the names of lines
    real(dp), allocatable :: re(:), rn(:), rh(:)  !< receivers [m], (nrec)
    real(dp), allocatable :: station(:)       !< their stations, (nrec)
    integer, allocatable :: rline(:)          !< their lines, (nrec)
  end type shot_navigation_t

  !> Positions in metres: x along the line, y across it (recorded, not modelled in 2D), z down.
  type :: shot_t
    integer :: record = 0                     !< shot record number
    integer :: slot = 0                       !< place in the output, 1..n in the order of record numbers
    real(dp) :: sx = 0, sy = 0, sz = 0        !< source [m]
    real(dp), allocatable :: rx(:), ry(:), rz(:)  !< receivers [m], (nrec)
    integer, allocatable :: channel(:)        !< channel numbers, (nrec)
    real(dp), allocatable :: at_places(:, :)  !< what only the model tells of receivers and source, (.., nrec+1): in
                                              !< 2D what the grid lacks of the earth there, in 3D the medium
    type(shot_navigation_t), allocatable :: navigation   !< on its way to the output
  end type shot_t

end module shot_m
