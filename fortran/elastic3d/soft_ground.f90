!> Soft ground on hard rock: layers of PML let grow what it holds; where they are to damp along themselves too.
module soft_ground_m
  use kinds_m, only: dp
  use model3d_m, only: model3d_t
  use scheme3d_m, only: scheme3d_t
  use scheme_m, only: SchemeWarn
  use text_m, only: Str
  implicit none
  private
  public :: SoftGroundWarn, WantsDamped

  !> Waves grow with vp/vs of the ground from 3.2 on, 2.5 and less are stable; over rock of 3000, not of 2000 m/s, with 1600 in the
  !> ground; a tenth of the first wave is reached after some 1500 steps, the soonest (elastic3d/README.md, 2026-11-27).
  real(dp), parameter :: ratio_least = 2.8_dp, harder = 1.5_dp
  integer, parameter :: steps_most = 1500

contains

  !> Layers are to damp along themselves too: where `word` (absorb) says so; with `auto` where layers of PML might let waves of soft
  !> ground grow within the record. What comes back in shorter ones is far less without.
  pure logical function WantsDamped(word, earth, scheme)
    character(*), intent(in) :: word
    type(model3d_t), intent(in) :: earth
    type(scheme3d_t), intent(in) :: scheme
    WantsDamped = word == 'damped'
    if (word == 'auto') WantsDamped = MayGrow(scheme, Softest(earth, scheme%free_top))
  end function WantsDamped

  subroutine SoftGroundWarn(earth, scheme)
    type(model3d_t), intent(in) :: earth
    type(scheme3d_t), intent(inout) :: scheme
    real(dp) :: v(2)
    if (scheme%own%damped) return
    v = Softest(earth, scheme%free_top)
    if (.not. MayGrow(scheme, v)) return
    call SchemeWarn(scheme, 'the ground has vp = '//Str(v(1), 4)//' and vs = '//Str(v(2), 4)//' m/s, a ratio of '// &
              Str(v(1)/v(2), 2)//', and there is rock of '//Str(scheme%vmax, 4)//' m/s: layers of absorb=pml may let waves '// &
              'that such ground holds grow, up to a hundredfold in 1000 steps, and the record has '//Str(scheme%nt)// &
              '; give absorb=damped or auto, which sends back more, or a shorter tmax')
  end subroutine SoftGroundWarn

  !> Layers of PML may let grow what ground of v = [vp, vs] holds.
  pure logical function MayGrow(scheme, v)
    type(scheme3d_t), intent(in) :: scheme
    real(dp), intent(in) :: v(2)
    MayGrow = v(2) > 0 .and. scheme%npml > 0 .and. .not. scheme%sponge .and. scheme%nt > steps_most
    if (MayGrow) MayGrow = v(1) > ratio_least*v(2) .and. scheme%vmax > harder*v(1)
  end function MayGrow

  !> vp and vs of solid ground below a free surface where vp/vs is largest, 0 where there is none. `free`: the top of the model is
  !> one; else ground below air has one.
  pure function Softest(earth, free) result(v)
    type(model3d_t), intent(in) :: earth
    logical, intent(in) :: free
    real(dp) :: v(2)
    integer :: i, j, k, s
    v = 0
    if (earth%layers%n > 0) then
      if (free) call Softer(v, earth%layers%medium(1, 1), earth%layers%medium(2, 1))
      return
    end if
    if (.not. allocated(earth%ground)) return
    s = merge(earth%thin_step, 1, earth%on_disk)
    do j = 1, earth%n(2), s
      do i = 1, earth%n(1), s
        k = earth%ground(i, j)
        if (k == 0 .or. (k == 1 .and. .not. free)) cycle
        if (earth%on_disk) then
          call Softer(v, real(earth%thin((i - 1)/s + 1, (j - 1)/s + 1, (k - 1)/s + 1, 1), dp), &
                      real(earth%thin((i - 1)/s + 1, (j - 1)/s + 1, (k - 1)/s + 1, 2), dp))
        else if (allocated(earth%vp) .and. allocated(earth%vs)) then
          call Softer(v, real(earth%vp(i, (k - 1)*earth%n(2) + j), dp), real(earth%vs(i, (k - 1)*earth%n(2) + j), dp))
        end if
      end do
    end do
  end function Softest

  pure subroutine Softer(v, vp, vs)
    real(dp), intent(inout) :: v(2)
    real(dp), intent(in) :: vp, vs
    if (.not. vs > 0) return
    if (v(2) > 0 .and. .not. vp*v(2) > v(1)*vs) return
    v = [vp, vs]
  end subroutine Softer

end module soft_ground_m
