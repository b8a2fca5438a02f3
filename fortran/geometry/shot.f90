!> THE geometry of a shot: where the source and the receivers are, as asked for.
module shot_m
  use kinds_m, only: dp
  implicit none
  private
  public :: shot_t

  !> Positions in metres: x along the line, y across it (recorded, not modelled in 2D), z down.
  type :: shot_t
    integer :: record = 0                     !< shot record number
    integer :: slot = 0                       !< place in the output, 1..n in the order of record numbers
    real(dp) :: sx = 0, sy = 0, sz = 0        !< source [m]
    real(dp), allocatable :: rx(:), ry(:), rz(:)  !< receivers [m], (nrec)
    integer, allocatable :: channel(:)        !< channel numbers, (nrec)
  end type shot_t

end module shot_m
