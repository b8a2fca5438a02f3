!> Soft layers beside hard rock: layers of PML let grow what they hold; where these are to damp along themselves too.
module soft_ground_m
  use kinds_m, only: dp, sp
  use model3d_m, only: model3d_t
  use scheme3d_m, only: scheme3d_t
  use scheme_m, only: SchemeWarn
  use text_m, only: Str
  implicit none
  private
  public :: SoftGroundWarn, WantsDamped

  !> Of 60 random media waves grew in 22, where the fastest wave was 5.6 times as fast as the slowest and more; a tenth of the
  !> first wave is reached after some 1500 steps, the soonest (elastic3d/accuracy.md, 2026-11-27).
  real(dp), parameter :: contrast = 5
  integer, parameter :: steps_most = 1500

contains

  !> Layers are to damp along themselves too: where `word` (absorb) says so; with `auto` where layers of PML might let waves grow
  !> within the record. What comes back in shorter ones is far less without.
  pure logical function WantsDamped(word, scheme, earth)
    character(*), intent(in) :: word
    type(scheme3d_t), intent(in) :: scheme
    type(model3d_t), intent(in) :: earth
    WantsDamped = word == 'damped' .or. (word == 'auto' .and. MayGrow(scheme, earth))
  end function WantsDamped

  subroutine SoftGroundWarn(scheme, earth)
    type(scheme3d_t), intent(inout) :: scheme
    type(model3d_t), intent(in) :: earth
    if (scheme%damped .or. .not. MayGrow(scheme, earth)) return
    call SchemeWarn(scheme, 'the slowest wave has '//Str(earth%vmin, 4)//' m/s, the fastest '//Str(scheme%vmax, 4)// &
              ': layers of absorb=pml may let waves that soft ground holds grow, up to a hundredfold in 1000 steps, and the '// &
              'record has '//Str(scheme%nt)//'; give absorb=damped or auto, which sends back more, or a shorter tmax')
  end subroutine SoftGroundWarn

  pure logical function MayGrow(scheme, earth)
    type(scheme3d_t), intent(in) :: scheme
    type(model3d_t), intent(in) :: earth
    MayGrow = scheme%npml > 0 .and. .not. scheme%sponge .and. scheme%nt > steps_most .and. &
              scheme%vmax > contrast*earth%vmin .and. .not. IsEven(earth)
  end function MayGrow

  !> One rock everywhere holds no waves, however soft it is: of 39 such media of vp/vs 5 to 20 none grew in 10,000 steps.
  pure logical function IsEven(earth)
    type(model3d_t), intent(in) :: earth
    real(dp), parameter :: rounding = 1.0e-5_dp
    IsEven = earth%vsmin > 0 .and. earth%fluidmin >= real(huge(1.0_sp), dp) .and. &
             all([earth%vmax, earth%vsmax, earth%rhomax] <= (1 + rounding)*[earth%vpmin, earth%vsmin, earth%rhomin])
    if (allocated(earth%ground)) IsEven = IsEven .and. .not. any(earth%ground > 1)
  end function IsEven

end module soft_ground_m
