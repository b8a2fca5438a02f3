!> What a wave meets on the straight way from a source to a receiver: the slowest wave's slowness at places along it.
module straightpath_m
  use kinds_m, only: dp
  use model_m, only: model_t
  implicit none
  private
  public :: StraightPath, path_places

  integer, parameter :: path_places = 64      !< places looked at; each stands for as much of the way

contains

  !> Slowness [s/m], (path_places), between the points `from` and `to` (x, y, z) [m], from the nearest samples of the model: of S
  !> waves in rock, of P waves in fluids and in 2D. Air counts as what lies before it on the way.
  pure function StraightPath(model, from, to) result(slowness)
    type(model_t), intent(in) :: model
    real(dp), intent(in) :: from(3), to(3)
    real(dp) :: slowness(path_places), v, x(3)
    integer :: i
    v = model%vmin
    do i = 1, path_places
      x = from + (i - 0.5_dp)/path_places*(to - from)
      if (.not. allocated(model%vp)) then
        call InEarth(model, x, v)
      else
        v = model%vp(Sample(x(1), model%x0, model%dx, model%nx), Sample(x(3), model%z0, model%dz, model%nz))
      end if
      slowness(i) = 1/v
    end do
  end function StraightPath

  !> v stays as it was in air.
  pure subroutine InEarth(model, x, v)
    type(model_t), intent(in) :: model
    real(dp), intent(in) :: x(3)
    real(dp), intent(inout) :: v
    real(dp) :: vp, vs
    integer :: a, at(3), row
    associate (e => model%earth)
      if (e%layers%n > 0) then
        row = max(1, count(e%layers%top <= x(3)))
        vp = e%layers%medium(1, row)
        vs = e%layers%medium(2, row)
      else
        at = [(Sample(x(a), e%x0(a), e%d(a), e%n(a)), a=1, 3)]
        row = (at(3) - 1)*e%n(2) + at(2)
        vp = e%vp(at(1), row)
        vs = e%vs(at(1), row)
      end if
    end associate
    if (vp > 0) v = merge(vs, vp, vs > 0)
  end subroutine InEarth

  !> The sample nearest to x.
  pure integer function Sample(x, x0, d, n)
    real(dp), intent(in) :: x, x0, d
    integer, intent(in) :: n
    Sample = min(max(nint((x - x0)/d) + 1, 1), n)
  end function Sample

end module straightpath_m
