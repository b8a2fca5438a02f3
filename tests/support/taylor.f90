!> Weights of the Taylor differentiator, as the modelling makes them.
module taylor_m
  use der_m, only: DerWeights
  use error_m, only: error_t
  use kinds_m, only: dp
  implicit none
  private
  public :: Taylor

contains

  function Taylor(half_length) result(w)
    integer, intent(in) :: half_length
    real(dp) :: w(half_length), used
    type(error_t), allocatable :: error
    call DerWeights(half_length, 'taylor', 0.0_dp, 1.0_dp, w, used, error)
    if (allocated(error)) error stop 'no Taylor weights'
  end function Taylor

end module taylor_m
