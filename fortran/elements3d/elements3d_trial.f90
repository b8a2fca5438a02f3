!> Small surveys of spectral elements for the verb verify: water over rock, to compare variants, and water alone, whose direct waves
!> are known.
module elements3d_trial_m
  use error_m, only: error_t
  use kinds_m, only: dp
  use mesh_box_m, only: MeshBox
  use mesh_exodus_write_m, only: MeshWrite
  use mesh_m, only: mesh_block_t, mesh_t
  use text_m, only: Str
  use wavelet_m, only: wavelet_t
  use wavelet_rate_m, only: rate_t, RateAt, RateNew
  implicit none
  private
  public :: TrialFiles, TrialJob, TrialWave

  character, parameter :: nl = new_line('a')
  real(dp), parameter :: uniform_vp = 2000, uniform_rho = 1500

contains

  !> Sides are so far away that what they send back comes after the record.
  subroutine TrialFiles(folder, shots)
    character(*), intent(in) :: folder
    integer, intent(out) :: shots
    type(error_t), allocatable :: ignored             ! the job that wants the mesh tells it
    type(mesh_t) :: mesh
    integer :: e, i
    shots = 2
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
    call PutText('layers.materials', 'water 1500 0 1000'//nl//'rock 2600 1500 2000')
    call PutText('uniform.materials', '* '//Str(uniform_vp)//' 0 '//Str(uniform_rho))
    call PutText('line.keymap', 'spread cable fixed x0=203.4 interval=13.7 channels=12 depth=52.3 y=41.7'//nl// &
                 'shots first_record=1 n='//Str(shots)//' x0=253.3 dx=31.1 z=301.7 y=-12.3 spread=cable')

  contains

    subroutine PutText(name, text)
      character(*), intent(in) :: name, text
      integer :: u
      open (newunit=u, file=folder//'/'//name, action='write')
      write (u, '(a)') text
      close (u)
    end subroutine PutText

  end subroutine TrialFiles

  function TrialJob(folder, model) result(settings)
    character(*), intent(in) :: folder, model
    character(:), allocatable :: settings
    settings = "mesh = '"//folder//'/'//model//".exo'"//nl//"materials = '"//folder//'/'//model//".materials'"//nl// &
               'mesh_z = down'//nl//'components = p,vx,vy,vz'//nl//'fpeak = 4'//nl//'tmax = 0.5'//nl//'dt_out = 0.004'//nl// &
               'dispersion = warn'
  end function TrialJob

  !> Pressure of an injection of volume in a full space: p = rho Q'(t - r/c)/(4π r).
  function TrialWave(wavelet, r, t) result(wave)
    type(wavelet_t), intent(in) :: wavelet
    real(dp), intent(in) :: r, t(:)
    real(dp) :: wave(size(t))
    type(rate_t) :: rate
    call RateNew(rate, wavelet)
    wave = uniform_rho*RateAt(rate, t - r/uniform_vp)/(4*acos(-1.0_dp)*r)
  end function TrialWave

end module elements3d_trial_m
