!> Soft layers beside hard rock: layers of PML let grow what they hold; where these are to damp along themselves too.
module soft_ground_m
  use kinds_m, only: dp
  use scheme3d_m, only: scheme3d_t
  use scheme_m, only: SchemeWarn
  use text_m, only: Str
  implicit none
  private
  public :: SoftGroundWarn, WantsDamped

  !> Of 60 random media waves grew in 22, where the fastest wave was 5.6 times as fast as the slowest and more; a tenth of the
  !> first wave is reached after some 1500 steps, the soonest (elastic3d/README.md, 2026-11-27).
  real(dp), parameter :: contrast = 5
  integer, parameter :: steps_most = 1500

contains

  !> Layers are to damp along themselves too: where `word` (absorb) says so; with `auto` where layers of PML might let waves grow
  !> within the record. What comes back in shorter ones is far less without. vmin [m/s]: the slowest wave of the model.
  pure logical function WantsDamped(word, scheme, vmin)
    character(*), intent(in) :: word
    type(scheme3d_t), intent(in) :: scheme
    real(dp), intent(in) :: vmin
    WantsDamped = word == 'damped' .or. (word == 'auto' .and. MayGrow(scheme, vmin))
  end function WantsDamped

  subroutine SoftGroundWarn(scheme, vmin)
    type(scheme3d_t), intent(inout) :: scheme
    real(dp), intent(in) :: vmin
    if (scheme%damped .or. .not. MayGrow(scheme, vmin)) return
    call SchemeWarn(scheme, 'the slowest wave has '//Str(vmin, 4)//' m/s, the fastest '//Str(scheme%vmax, 4)// &
              ': layers of absorb=pml may let waves that soft ground holds grow, up to a hundredfold in 1000 steps, and the '// &
              'record has '//Str(scheme%nt)//'; give absorb=damped or auto, which sends back more, or a shorter tmax')
  end subroutine SoftGroundWarn

  pure logical function MayGrow(scheme, vmin)
    type(scheme3d_t), intent(in) :: scheme
    real(dp), intent(in) :: vmin
    MayGrow = scheme%npml > 0 .and. .not. scheme%sponge .and. scheme%nt > steps_most .and. scheme%vmax > contrast*vmin
  end function MayGrow

end module soft_ground_m
