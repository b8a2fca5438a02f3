!> Quality factors that say something: Qs where shear waves are, Qp where anything is. Elsewhere any number may stand in a model, 0,
!> 9999, a negative one, and nothing is made of it: programs differ in what they write there.
module heeded_quality_m
  use kinds_m, only: dp
  implicit none
  private
  public :: QsHeeded, QpHeeded

contains

  !> False in fluids (vs = 0) and air (vp = 0).
  elemental logical function QsHeeded(vp, vs)
    real(dp), intent(in) :: vp, vs
    QsHeeded = vp > 0 .and. vs > 0
  end function QsHeeded

  !> False in air.
  elemental logical function QpHeeded(vp)
    real(dp), intent(in) :: vp
    QpHeeded = vp > 0
  end function QpHeeded

end module heeded_quality_m
