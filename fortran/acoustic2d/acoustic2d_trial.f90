!> Small 2D surveys for the verb verify: layers, to compare variants, and a uniform medium, whose direct waves are known.
module acoustic2d_trial_m
  use exact_acoustic_m, only: GreenPressure
  use kinds_m, only: dp, sp
  use text_m, only: Str
  use wavelet_m, only: wavelet_t
  use wavelet_rate_m, only: rate_t, RateNew
  implicit none
  private
  public :: TrialFiles, TrialJob, TrialWave

  integer, parameter :: nx = 121, nz = 81
  real(sp), parameter :: uniform_vp = 2000, uniform_rho = 1500

contains

  !> Two models as raw files, and a key-map with positions off the grid.
  subroutine TrialFiles(folder, shots)
    character(*), intent(in) :: folder
    integer, intent(out) :: shots
    real(sp) :: vp(nz, nx), rho(nz, nx)
    integer :: i, k, u
    shots = 4
    do i = 1, nx
      do k = 1, nz
        vp(k, i) = merge(2500.0_sp, 1500.0_sp, k > 35 + i/10)
        rho(k, i) = merge(1800.0_sp, 1000.0_sp, k > 35 + i/10)
      end do
    end do
    call PutRaw('layers.vp', vp)
    call PutRaw('layers.rho', rho)
    vp = uniform_vp
    rho = uniform_rho
    call PutRaw('uniform.vp', vp)
    call PutRaw('uniform.rho', rho)
    open (newunit=u, file=folder//'/line.keymap', action='write')
    write (u, '(a)') 'spread cable fixed x0=123.4 interval=83.7 channels=12 depth=212.3'
    write (u, '(a)') 'shots first_record=1 n='//Str(shots)//' x0=333.3 dx=171.1 z=301.7 spread=cable'
    close (u)

  contains

    subroutine PutRaw(name, a)
      character(*), intent(in) :: name
      real(sp), intent(in) :: a(:, :)
      open (newunit=u, file=folder//'/'//name, access='stream', form='unformatted', action='write')
      write (u) a
      close (u)
    end subroutine PutRaw

  end subroutine TrialFiles

  function TrialJob(folder, model) result(settings)
    character(*), intent(in) :: folder, model
    character(:), allocatable :: settings
    character, parameter :: nl = new_line('a')
    settings = "vp = '"//folder//'/'//model//".vp'"//nl//"rho = '"//folder//'/'//model//".rho'"//nl// &
               'model_nx = '//Str(nx)//nl//'model_nz = '//Str(nz)//nl//'model_dx = 10'//nl//'model_dz = 10'//nl// &
               'fpeak = 10'//nl//'tmax = 0.7'//nl//'dt_out = 0.002'
  end function TrialJob

  !> Pressure of a line source in a full space.
  function TrialWave(wavelet, r, t) result(wave)
    type(wavelet_t), intent(in) :: wavelet
    real(dp), intent(in) :: r, t(:)
    real(dp) :: wave(size(t))
    type(rate_t) :: rate
    call RateNew(rate, wavelet)
    call GreenPressure(rate, real(uniform_vp, dp), real(uniform_rho, dp), r, t, wave)
  end function TrialWave

end module acoustic2d_trial_m
