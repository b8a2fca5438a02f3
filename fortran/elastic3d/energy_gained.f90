!> Rock whose quality factors give it energy as it is compressed evenly: what P waves lose is less than what shear in them loses.
module energy_gained_m
  use kinds_m, only: dp
  use model3d_m, only: model3d_t
  use scheme_m, only: scheme_t, SchemeWarn
  use text_m, only: Str
  implicit none
  private
  public :: EnergyGainedWarn

contains

  !> The bulk modulus loses 1/Qp - 4/3 (vs/vp)**2/Qs, times a positive factor.
  subroutine EnergyGainedWarn(earth, scheme)
    type(model3d_t), intent(in) :: earth
    class(scheme_t), intent(inout) :: scheme
    real(dp), parameter :: endless = 1.0e-9_dp
    if (.not. earth%gaining(1) > 0) return
    associate (vp => earth%gaining(1), vs => earth%gaining(2), qs => 1/earth%gaining(4))
      call SchemeWarn(scheme, 'where vp = '//Str(vp, 5)//' m/s, vs = '//Str(vs, 5)//' m/s, Qp = '// &
                Str(1/max(earth%gaining(3), endless), 4)//' and Qs = '//Str(qs, 4)//' rock gains energy when it is compressed '// &
                'evenly, as Qp is larger than 3/4 (vp/vs)**2 Qs = '//Str(0.75_dp*(vp/vs)**2*qs, 4)//': traces may grow; lower '// &
                'Qp, or raise Qs')
    end associate
  end subroutine EnergyGainedWarn

end module energy_gained_m
