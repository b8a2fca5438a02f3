!> Relative difference of two series.
module differs_m
  use kinds_m, only: dp, sp
  implicit none
  private
  public :: Differs

contains

  !> RMS difference of a to b relative to b, or to `least` if that is larger; 0 to 0 is no difference, infinities and NaN differ
  !> infinitely.
  pure real(dp) function Differs(a, b, least)
    real(sp), intent(in) :: a(:), b(:)
    real(dp), intent(in) :: least
    real(dp) :: difference
    difference = norm2(real(a, dp) - b)
    Differs = 0
    if (difference > 0) Differs = difference/max(norm2(real(b, dp)), least, tiny(least))
    if (.not. difference <= huge(difference)) Differs = huge(difference)
  end function Differs

end module differs_m
