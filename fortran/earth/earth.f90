!> Facts that every model of the earth has once it is read, of whatever dimension and waves.
module earth_m
  use kinds_m, only: dp
  implicit none
  private
  public :: earth_t

  type :: earth_t
    real(dp) :: vmin = 0, vmax = 0            !< slowest and fastest wave: in 3D S waves of rock are, and P waves of fluids [m/s]
    real(dp) :: rhomin = 0, rhomax = 0        !< [kg/m3]
    character(16) :: hash = ''                !< of values and geometry, hexadecimal
    character(:), allocatable :: sources      !< where it came from, for the record
    character(:), allocatable :: doubts       !< what looks wrong with it, a line each
    real(dp) :: low(3) = 0, high(3) = 0       !< where it begins and ends along x, y, z [m]
    logical :: endless = .false.              !< it has no ends
    real(dp) :: beyond = 0                    !< depths may exceed its end by this, where its last sample stands in a cell [m]
  end type earth_t

end module earth_m
