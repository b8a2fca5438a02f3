!> Meshes in Exodus II files (Schoof & Yarberry 1994, SAND92-2137): NetCDF with blocks of HEX8 or HEX27 and sets of sides.
module mesh_exodus_m
  use error_m, only: error_t, Fail
  use mesh_m, only: mesh_t
  implicit none
  private
  public :: MeshRead

contains

  !> Reads a mesh. up: z of the file points up, as it does unless said otherwise; node (x, y, z) becomes (x, y, -z), and the corners
  !> below and above change places.
  subroutine MeshRead(path, mesh, error, up)
    character(*), intent(in) :: path
    type(mesh_t), intent(out) :: mesh
    type(error_t), allocatable, intent(inout) :: error
    logical, intent(in), optional :: up
    call Fail(error, 'mesh '//path)
  end subroutine MeshRead

end module mesh_exodus_m
