!> Small 3D surveys for the verb verify: water over rock, to compare variants, and water alone, whose direct waves are known.
module elastic3d_trial_m
  use kinds_m, only: dp
  use text_m, only: Str
  use wavelet_m, only: wavelet_t
  use wavelet_rate_m, only: rate_t, RateAt, RateNew
  implicit none
  private
  public :: TrialFiles, TrialJob, TrialWave

  character, parameter :: nl = new_line('a')
  real(dp), parameter :: uniform_vp = 2000, uniform_rho = 1500

contains

  subroutine TrialFiles(folder, shots)
    character(*), intent(in) :: folder
    integer, intent(out) :: shots
    shots = 2
    call PutText('layers.layers', '0 1500 0 1000'//nl//'130 2600 1500 2000')
    call PutText('uniform.layers', '0 '//Str(uniform_vp)//' 0 '//Str(uniform_rho))
    call PutText('line.keymap', 'spread cable fixed x0=203.4 interval=13.7 channels=12 depth=52.3 y=41.7'//nl// &
                 'shots first_record=1 n='//Str(shots)//' x0=253.3 dx=31.1 z=111.7 y=-12.3 spread=cable')

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
    settings = "layers = '"//folder//'/'//model//".layers'"//nl//'dx = 20'//nl//'aperture = 60'//nl//'depth = 260'//nl// &
               'npml = 8'//nl//'top = pml'//nl//'half_length = 4'//nl//'components = p,vx,vy,vz'//nl//'fpeak = 5'//nl// &
               'tmax = 0.5'//nl//'dt_out = 0.004'
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

end module elastic3d_trial_m
