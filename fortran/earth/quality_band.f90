!> The band in which quality factors are constant, as parameters say it.
module quality_band_m
  use kinds_m, only: dp
  use parameters_m, only: job_t
  use wavelet_m, only: wavelet_t
  implicit none
  private
  public :: QualityBand

contains

  !> Band of constant Q [Hz], and the frequency at which the model's velocities are phase velocities.
  pure subroutine QualityBand(job, wavelet, band, reference)
    type(job_t), intent(in) :: job
    type(wavelet_t), intent(in) :: wavelet
    real(dp), intent(out) :: band(2), reference
    band = [job%q_f1, job%q_f2]
    if (.not. band(2) > 0) band(2) = wavelet%fmax
    if (.not. band(1) > 0) band(1) = band(2)/50
    reference = job%q_ref
    if (.not. reference > 0) reference = sqrt(product(band))
  end subroutine QualityBand

end module quality_band_m
