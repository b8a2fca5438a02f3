!> The band in which quality factors are constant, as parameters say it.
module quality_band_m
  use error_m, only: error_t, Fail
  use kinds_m, only: dp
  use parameters_m, only: job_t
  use text_m, only: Str
  use wavelet_m, only: wavelet_t
  implicit none
  private
  public :: QualityBand, QualityBandCheck

  real(dp), parameter :: span(2) = [2.0_dp, 1000.0_dp]     !< of the ends of a band, that mechanisms are fitted to

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

  !> Fails on ends that make no band. `doubt`: the wavelet is strongest outside, '' if not.
  subroutine QualityBandCheck(band, wavelet, doubt, error)
    real(dp), intent(in) :: band(2)
    type(wavelet_t), intent(in) :: wavelet
    character(:), allocatable, intent(out) :: doubt
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: those
    those = Str(band(1), 4)//' to '//Str(band(2), 4)//' Hz'
    if (.not. (band(2) >= span(1)*band(1) .and. band(2) <= span(2)*band(1))) &
      call Fail(error, 'Q would be constant from '//those//': the band must span a factor of '//Str(span(1))//' to '// &
                Str(span(2))//'; change q_f1 or q_f2 (0: a fiftieth of q_f2, and fmax)')
    doubt = ''
    if (wavelet%fpeak < 0.99_dp*band(1) .or. wavelet%fpeak > 1.01_dp*band(2)) &
      doubt = 'Q is constant from '//those//', but waves are strongest at '//Str(wavelet%fpeak, 4)// &
              ' Hz, and attenuate less there than the model says, the farther from the band the less: give a band around it, '// &
              'or leave q_f1 and q_f2 out'
  end subroutine QualityBandCheck

end module quality_band_m
