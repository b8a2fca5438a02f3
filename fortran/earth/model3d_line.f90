!> The 3D model's own medium along lines through a place, whatever the grid is: integrals of what motion and traction
!> beside a contact bend with (fd3d_bends.f90).
module model3d_line_m
  use kinds_m, only: dp
  use model3d_m, only: model3d_t
  implicit none
  private
  public :: Model3dLines, LineParts

  !> Parts of a line, integrals of: 1/mu, 1/(lambda + 2 mu) [m/Pa], lambda/(lambda + 2 mu) [m], mu, and
  !> 2 lambda mu/(lambda + 2 mu) [N/m].
  integer, parameter, public :: line_parts = 5, line_mu = 1, line_p = 2, line_rate = 3, line_free = 4, line_plate = 5

contains

  !> Of the lines through x [m] along each axis, `reach` [m] to each side, the integrals before and behind x. 0 for an axis along
  !> which the medium is even, or not all is rock. It goes on beyond the ends of the model.
  pure function Model3dLines(earth, x, reach) result(lines)
    type(model3d_t), intent(in) :: earth
    real(dp), intent(in) :: x(3), reach(3)
    real(dp) :: lines(2*line_parts, 3)
    integer :: a
    lines = 0
    if (earth%layers%n > 0) then
      lines(:, 3) = OfLayers(earth, x(3), reach(3))
    else
      do a = 1, 3
        lines(:, a) = OfSamples(earth, x, reach(a), a)
      end do
    end if
  end function Model3dLines

  pure function OfLayers(earth, z, reach) result(line)
    type(model3d_t), intent(in) :: earth
    real(dp), intent(in) :: z, reach
    real(dp) :: line(2*line_parts)
    real(dp) :: top, bottom, f(line_parts)
    integer :: l, first, last
    line = 0
    associate (layers => earth%layers)
      first = max(1, count(layers%top(:layers%n) <= z - reach))
      last = max(1, count(layers%top(:layers%n) < z + reach))
      if (first == last .or. .not. all(layers%medium(2, first:last) > 0)) return
      do l = first, last
        top = merge(z - reach, layers%top(l), l == first)
        bottom = z + reach
        if (l < last) bottom = layers%top(l + 1)
        f = OfMedium(layers%medium(:3, l))
        line = line + [f*max(0.0_dp, min(bottom, z) - top), f*max(0.0_dp, bottom - max(top, z))]
      end do
    end associate
  end function OfLayers

  !> Each sample stands for its cell. Between two samples of like steps numbers grow evenly: so a smooth earth has what lies between
  !> its samples, and a step stays one.
  pure function OfSamples(earth, x, reach, a) result(line)
    type(model3d_t), intent(in) :: earth
    real(dp), intent(in) :: x(3), reach
    integer, intent(in) :: a
    real(dp) :: line(2*line_parts)
    real(dp), allocatable :: f(:, :)
    real(dp) :: slope(line_parts), place, wide
    integer :: at(3), low, high, i
    at = min(max(nint((x - earth%x0)/earth%d) + 1, 1), earth%n)
    place = (x(a) - earth%x0(a))/earth%d(a) + 1
    wide = reach/earth%d(a)
    low = nint(place - wide) - 1
    high = nint(place + wide) + 1
    allocate (f(line_parts, low:high))
    line = 0
    do i = low, high
      at(a) = min(max(i, 1), earth%n(a))
      associate (row => (at(3) - 1)*earth%n(2) + at(2))
        if (.not. earth%vs(at(1), row) > 0) return
        f(:, i) = OfMedium(real([earth%vp(at(1), row), earth%vs(at(1), row), earth%rho(at(1), row)], dp))
      end associate
    end do
    if (all(abs(f - spread(f(:, low), 2, size(f, 2))) <= 0)) return
    do i = low + 1, high - 1
      slope = Slopes(f(:, i - 1), f(:, i), f(:, i + 1))
      line = line + [Share(place - wide, place), Share(place, place + wide)]*earth%d(a)
    end do

  contains

    !> The sample's part of the integral from begin to end [samples].
    pure function Share(begin, end)
      real(dp), intent(in) :: begin, end
      real(dp) :: Share(line_parts)
      real(dp) :: from, to
      from = max(begin, i - 0.5_dp) - i
      to = min(end, i + 0.5_dp) - i
      Share = 0
      if (to > from) Share = (to - from)*(f(:, i) + slope*(from + to)/2)
    end function Share

  end function OfSamples

  !> By how much numbers grow from sample to sample: the lesser of both sides.
  elemental real(dp) function Slopes(before, own, behind) result(slope)
    real(dp), intent(in) :: before, own, behind
    slope = 0
    if ((own - before)*(behind - own) > 0) slope = sign(min(abs(own - before), abs(behind - own)), behind - own)
  end function Slopes

  pure function OfMedium(medium) result(parts)
    real(dp), intent(in) :: medium(3)             !< vp, vs, rho
    real(dp) :: parts(line_parts)
    parts = LineParts(medium(3)*(medium(1)**2 - 2*medium(2)**2), medium(3)*medium(2)**2)
  end function OfMedium

  !> The integrands, of Lame's moduli of rock [Pa].
  pure function LineParts(lambda, mu) result(parts)
    real(dp), intent(in) :: lambda, mu
    real(dp) :: parts(line_parts)
    real(dp) :: rate
    rate = lambda/(lambda + 2*mu)
    parts = [1/mu, 1/(lambda + 2*mu), rate, mu, 2*mu*rate]
  end function LineParts

end module model3d_line_m
