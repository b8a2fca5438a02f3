!> What traces may be of, by name: the words of `components`. fd3d_components.f90 tells what those of 3D are.
module components_m
  implicit none
  private
  public :: components_2d, components_3d

  character(2), parameter :: components_2d(3) = [character(2) :: 'p', 'vx', 'vz']
  character(3), parameter :: components_3d(19) = [character(3) :: 'vx', 'vy', 'vz', 'p', 'sxx', 'syy', 'szz', 'sxy', 'sxz', &
                                                  'syz', 'exx', 'eyy', 'ezz', 'exy', 'exz', 'eyz', 'wx', 'wy', 'wz']

end module components_m
