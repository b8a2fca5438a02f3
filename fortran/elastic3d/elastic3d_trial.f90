!> Small 3D surveys for the verb verify: water over rock, to compare variants, and water alone, whose direct waves are known.
module elastic3d_trial_m
  use kinds_m, only: dp
  use text_m, only: Str
  use trial3d_m, only: trial_rho, trial_vp, TrialLine, TrialText
  implicit none
  private
  public :: TrialFiles, TrialJob

  character, parameter :: nl = new_line('a')

contains

  subroutine TrialFiles(folder, shots)
    character(*), intent(in) :: folder
    integer, intent(out) :: shots
    call TrialText(folder, 'layers.layers', '0 1500 0 1000'//nl//'130 2600 1500 2000')
    call TrialText(folder, 'uniform.layers', '0 '//Str(trial_vp)//' 0 '//Str(trial_rho))
    call TrialLine(folder, 111.7_dp, shots)
  end subroutine TrialFiles

  function TrialJob(folder, model) result(settings)
    character(*), intent(in) :: folder, model
    character(:), allocatable :: settings
    settings = "layers = '"//folder//'/'//model//".layers'"//nl//'dx = 20'//nl//'aperture = 60'//nl//'depth = 260'//nl// &
               'npml = 8'//nl//'top = pml'//nl//'half_length = 4'//nl//'components = p,vx,vy,vz'//nl//'fpeak = 5'//nl// &
               'tmax = 0.5'//nl//'dt_out = 0.004'
  end function TrialJob

end module elastic3d_trial_m
