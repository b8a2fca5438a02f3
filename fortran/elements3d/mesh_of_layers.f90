!> The mesh of layers that a job asks for: its box, and elements as large as velocities allow.
module mesh_of_layers_m
  use elements_m, only: degree, least_ppw
  use error_m, only: error_t, Fail
  use kinds_m, only: dp
  use layer_table_m, only: layer_table_t, LayersRead
  use materials_m, only: from_table, material_fastest, material_slowest, material_vs, materials_t, MaterialsOf
  use mesh_doubling_m, only: DoublingRead
  use mesh_layers_m, only: layers_box_t, MeshLayers
  use mesh_m, only: mesh_t
  use parameters_m, only: job_t
  implicit none
  private
  public :: MeshOfLayers

contains

  !> fmax [Hz]: elements by velocity hold so much of the shortest wavelength there as the job says. made: what was made, in words.
  subroutine MeshOfLayers(job, fmax, materials, mesh, made, error)
    type(job_t), intent(in) :: job
    real(dp), intent(in) :: fmax
    type(materials_t), intent(in) :: materials
    type(mesh_t), intent(out) :: mesh
    character(:), allocatable, intent(out) :: made
    type(error_t), allocatable, intent(inout) :: error
    type(layer_table_t) :: table
    type(layers_box_t) :: box
    real(dp), allocatable :: wave(:)
    character(:), allocatable :: why
    made = ''
    call LayersRead(job%layers, table, error)
    if (allocated(error)) return
    call Velocities(table, materials, wave, box%fastest, box%fluid, error)
    if (allocated(error)) return
    box%largest = degree/least_ppw*wave/fmax
    wave = wave/fmax/job%mesh_per_wave
    box%x = job%mesh_x
    box%y = job%mesh_y
    box%bottom = job%mesh_bottom
    box%width = merge(job%mesh_d(:2), minval(wave), job%mesh_d(:2) > 0)
    box%height = wave
    if (job%mesh_d(3) > 0) box%height = job%mesh_d(3)
    where (table%layer%height > 0) box%height = table%layer%height
    box%sponge = job%sponge
    box%thinnest = job%mesh_thinnest
    box%per = job%mesh_nodes
    box%widest = wave
    call DoublingRead(job%mesh_doubling, box, why)    ! sound: LayersRules has looked
    call MeshLayers(table, box, mesh, made, error)
    made = 'layers of '//job%layers//', '//made
  end subroutine MeshOfLayers

  !> The velocity of the slowest and of the fastest wave of each layer [m/s], and whether it is a fluid.
  subroutine Velocities(table, materials, slowest, fastest, fluid, error)
    type(layer_table_t), intent(in) :: table
    type(materials_t), intent(in) :: materials
    real(dp), allocatable, intent(out) :: slowest(:), fastest(:)
    logical, allocatable, intent(out) :: fluid(:)
    type(error_t), allocatable, intent(inout) :: error
    type(mesh_t) :: names
    real(dp), allocatable :: part(:, :)
    integer, allocatable :: from(:)
    integer :: b
    names%path = table%path
    allocate (names%blocks(size(table%layer)))
    do b = 1, size(table%layer)
      names%blocks(b)%id = b
      names%blocks(b)%name = table%layer(b)%name
    end do
    call MaterialsOf(materials, names, part, from, error)
    if (allocated(error)) return
    if (any(from /= from_table)) then
      call Fail(error, 'mesh=layers takes the velocities of layers from the table of materials: give vp, vs and rho of all '// &
                'layers there, not volumes')
      return
    end if
    fluid = .not. part(material_vs, :) > 0
    slowest = part(material_slowest, :)
    fastest = part(material_fastest, :)
  end subroutine Velocities

end module mesh_of_layers_m
