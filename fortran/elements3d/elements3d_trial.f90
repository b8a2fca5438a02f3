!> Small surveys of spectral elements for the verb verify: water over rock, to compare variants, and water alone, whose direct waves
!> are known.
module elements3d_trial_m
  use error_m, only: error_t
  use kinds_m, only: dp
  use mesh_box_m, only: MeshBox
  use mesh_exodus_write_m, only: MeshWrite
  use mesh_m, only: mesh_block_t, mesh_t
  use text_m, only: Str
  use trial3d_m, only: trial_rho, trial_vp, TrialLine, TrialText
  implicit none
  private
  public :: TrialFiles, TrialJob

  character, parameter :: nl = new_line('a')

contains

  !> Sides are so far away that what they send back comes after the record.
  subroutine TrialFiles(folder, shots)
    character(*), intent(in) :: folder
    integer, intent(out) :: shots
    type(error_t), allocatable :: ignored             ! the job that wants the mesh tells it
    type(mesh_t) :: mesh
    integer :: e, i
    call MeshBox([-290.0_dp, -500.0_dp, -390.0_dp], [710.0_dp, 500.0_dp, 610.0_dp], [10, 10, 10], mesh)
    mesh%x(3, :) = mesh%x(3, :) + 4*sin(mesh%x(1, :)/97)                  ! no element is a cube
    deallocate (mesh%sets)
    allocate (mesh%sets(1))
    mesh%sets(1)%id = 1
    mesh%sets(1)%name = 'absorbing'
    mesh%sets(1)%element = [(e, e=1, 100)]            ! the uppermost: the others have no name, and absorb
    mesh%sets(1)%side = spread(5, 1, 100)
    call MeshWrite(folder//'/uniform.exo', mesh, .false., ignored)
    deallocate (mesh%blocks)
    allocate (mesh%blocks(2))
    do i = 1, 2
      mesh%blocks(i) = mesh_block_t(id=i, name=trim(merge('water', 'rock ', i == 1)), elements=500)
    end do
    mesh%block = [(merge(1, 2, e <= 500), e=1, 1000)]
    call MeshWrite(folder//'/layers.exo', mesh, .false., ignored)
    call TrialText(folder, 'layers.materials', 'water 1500 0 1000'//nl//'rock 2600 1500 2000')
    call TrialText(folder, 'uniform.materials', '* '//Str(trial_vp)//' 0 '//Str(trial_rho))
    call TrialLine(folder, 301.7_dp, shots)
  end subroutine TrialFiles

  function TrialJob(folder, model) result(settings)
    character(*), intent(in) :: folder, model
    character(:), allocatable :: settings
    settings = "mesh = '"//folder//'/'//model//".exo'"//nl//"materials = '"//folder//'/'//model//".materials'"//nl// &
               'mesh_z = down'//nl//'components = p,vx,vy,vz'//nl//'fpeak = 4'//nl//'tmax = 0.5'//nl//'dt_out = 0.004'//nl// &
               'dispersion = warn'
  end function TrialJob

end module elements3d_trial_m
