!> Common parts of the small 3D surveys of the verb verify: the uniform water whose direct waves are known, and the line of
!> receivers.
module trial3d_m
  use kinds_m, only: dp, pi
  use text_m, only: Str
  use wavelet_m, only: wavelet_t
  use wavelet_rate_m, only: rate_t, RateAt, RateNew
  implicit none
  private
  public :: trial_vp, trial_rho, TrialLine, TrialText, TrialWave

  real(dp), parameter :: trial_vp = 2000, trial_rho = 1500       !< [m/s], [kg/m3]

contains

  !> line.keymap: two shots at a depth [m], between nodes, into a cable beside them.
  subroutine TrialLine(folder, depth, shots)
    character(*), intent(in) :: folder
    real(dp), intent(in) :: depth
    integer, intent(out) :: shots
    shots = 2
    call TrialText(folder, 'line.keymap', 'spread cable fixed x0=203.4 interval=13.7 channels=12 depth=52.3 y=41.7'// &
                   new_line('a')//'shots first_record=1 n='//Str(shots)//' x0=253.3 dx=31.1 z='//Str(depth)// &
                   ' y=-12.3 spread=cable')
  end subroutine TrialLine

  subroutine TrialText(folder, name, text)
    character(*), intent(in) :: folder, name, text
    integer :: u
    open (newunit=u, file=folder//'/'//name, action='write')
    write (u, '(a)') text
    close (u)
  end subroutine TrialText

  !> Pressure of an injection of volume in a full space: p = rho Q'(t - r/c)/(4π r).
  function TrialWave(wavelet, r, t) result(wave)
    type(wavelet_t), intent(in) :: wavelet
    real(dp), intent(in) :: r, t(:)
    real(dp) :: wave(size(t))
    type(rate_t) :: rate
    call RateNew(rate, wavelet)
    wave = trial_rho*RateAt(rate, t - r/trial_vp)/(4*pi*r)
  end function TrialWave

end module trial3d_m
