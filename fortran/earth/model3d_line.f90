!> The 3D model's own medium along lines through a place, whatever the grid is: integrals of what velocity beside a contact bends
!> with (fd3d_bends.f90).
module model3d_line_m
  use kinds_m, only: dp
  use model3d_m, only: model3d_t
  implicit none
  private
  public :: Model3dLines, LineParts

  !> Parts of a line, integrals of: 1/mu, 1/(lambda + 2 mu) [m/Pa], lambda/(lambda + 2 mu) [m], mu, 2 lambda mu/(lambda + 2 mu) [N/m].
  integer, parameter, public :: line_parts = 5, line_mu = 1, line_p = 2, line_rate = 3, line_free = 4, line_plate = 5

contains

  !> Of the lines through x [m] along each axis, `reach` [m] to each side, the integrals [m/Pa, m/Pa, m] before and behind x. 0 for an
  !> axis along which not all is rock. The medium goes on beyond the ends of the model.
  pure function Model3dLines(earth, x, reach) result(lines)
    type(model3d_t), intent(in) :: earth
    real(dp), intent(in) :: x(3), reach(3)
    real(dp) :: lines(2*line_parts, 3)
    integer :: a
    do a = 1, 3
      if (earth%layers%n > 0) lines(:, a) = OfLayers(earth, x(3), reach(a), a == 3)
      if (earth%layers%n == 0) lines(:, a) = OfSamples(earth, x, reach(a), a)
    end do
  end function Model3dLines

  pure function OfLayers(earth, z, reach, down) result(line)
    type(model3d_t), intent(in) :: earth
    real(dp), intent(in) :: z, reach
    logical, intent(in) :: down
    real(dp) :: line(2*line_parts)
    real(dp) :: top, bottom
    integer :: l
    line = 0
    associate (layers => earth%layers)
      do l = 1, layers%n
        top = layers%top(l)
        if (l == 1) top = -huge(1.0_dp)
        bottom = huge(1.0_dp)
        if (l < layers%n) bottom = layers%top(l + 1)
        if (.not. down) then
          if (z > top .and. z <= bottom) line = reach*[Parts(layers%medium(:3, l)), Parts(layers%medium(:3, l))]
          cycle
        end if
        if (bottom <= z - reach .or. top >= z + reach) cycle
        if (.not. layers%medium(2, l) > 0) then
          line = 0
          return
        end if
        line = line + [Parts(layers%medium(:3, l))*max(0.0_dp, min(bottom, z) - max(top, z - reach)), &
                       Parts(layers%medium(:3, l))*max(0.0_dp, min(bottom, z + reach) - max(top, z))]
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
        f(:, i) = Parts(real([earth%vp(at(1), row), earth%vs(at(1), row), earth%rho(at(1), row)], dp))
      end associate
    end do
    do i = low + 1, high - 1
      slope = Slope3(f(:, i - 1), f(:, i), f(:, i + 1))
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
  elemental real(dp) function Slope3(before, own, behind) result(slope)
    real(dp), intent(in) :: before, own, behind
    slope = 0
    if ((own - before)*(behind - own) > 0) slope = sign(min(abs(own - before), abs(behind - own)), behind - own)
  end function Slope3

  !> What is integrated, of vp, vs, rho.
  pure function Parts(medium)
    real(dp), intent(in) :: medium(3)
    real(dp) :: Parts(line_parts)
    Parts = LineParts(medium(3)*(medium(1)**2 - 2*medium(2)**2), medium(3)*medium(2)**2)
  end function Parts

  !> The same, of Lame's moduli.
  pure function LineParts(lambda, mu) result(parts)
    real(dp), intent(in) :: lambda, mu
    real(dp) :: parts(line_parts)
    real(dp) :: rate
    rate = lambda/max(lambda + 2*mu, tiny(mu))
    parts = [1/max(mu, tiny(mu)), 1/max(lambda + 2*mu, tiny(mu)), rate, mu, 2*mu*rate]
  end function LineParts

end module model3d_line_m
