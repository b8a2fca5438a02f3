!> What no mesh may have: elements inside out or almost flat, faces that do not match, loose and double nodes.
module mesh_check_m
  use error_m, only: error_t, Fail
  use mesh_m, only: mesh_t
  implicit none
  private
  public :: MeshCheck

contains

  !> Refuses a mesh in one sentence with the element, by its number in the file, and the place.
  subroutine MeshCheck(mesh, error)
    type(mesh_t), intent(in) :: mesh
    type(error_t), allocatable, intent(inout) :: error
  end subroutine MeshCheck

end module mesh_check_m
