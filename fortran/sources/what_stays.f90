!> Displacement that stays when all waves have left: of an earthquake, or of volume that is not taken back.
module what_stays_m
  use kinds_m, only: dp
  use source3d_m, only: source3d_t, source_fault, source_force
  use wavelet_m, only: wavelet_t
  implicit none
  private
  public :: LeavesDisplacement

contains

  !> A moment or volume whose rate has a mean, such as wavelet=gauss. A force leaves nothing once it is gone, nor does a Ricker
  !> wavelet.
  pure logical function LeavesDisplacement(source, wavelet)
    type(source3d_t), intent(in) :: source
    type(wavelet_t), intent(in) :: wavelet
    real(dp), parameter :: part = 0.01_dp           !< of what came and went: less is hardly seen
    LeavesDisplacement = source%kind == source_fault
    if (LeavesDisplacement .or. source%kind == source_force) return
    LeavesDisplacement = abs(sum(wavelet%q)) > part*sum(abs(wavelet%q))
  end function LeavesDisplacement

end module what_stays_m
