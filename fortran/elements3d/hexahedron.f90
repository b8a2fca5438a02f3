!> Hexahedra of 8 or 27 nodes, numbered as elements_m says: maps from the cube -1 .. 1, its points, and weights of the 125 points of
!> an element for values and derivatives anywhere in it.
module hexahedron_m
  use elements_m, only: along, in_element, on_face
  use gll_m, only: GllPolynomials, gll_x
  use kinds_m, only: dp
  use linear_m, only: SolvePositive
  implicit none
  private
  public :: HexAt, HexJacobian, HexSlopes, HexPoints, HexJacobians, HexBounds, HexFind, HexNearest, HexWeights, HexGradient, HexBox
  public :: HexEdges, HexLongest, HexRounding, Determinant, Inverse

  integer :: i, j

  !> The nodes along xi, eta, zeta: corners, edges, centre, sides.
  integer, parameter, public :: hex_node(3, 27) = reshape([ &
    -1, -1, -1, 1, -1, -1, 1, 1, -1, -1, 1, -1, -1, -1, 1, 1, -1, 1, 1, 1, 1, -1, 1, 1, &
    0, -1, -1, 1, 0, -1, 0, 1, -1, -1, 0, -1, -1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0, 0, -1, 1, 1, 0, 1, 0, 1, 1, -1, 0, 1, &
    0, 0, 0, 0, 0, -1, 0, 0, 1, -1, 0, 0, 1, 0, 0, 0, -1, 0, 0, 1, 0], [3, 27])
  !> Corners of the sides, counterclockwise seen from outside.
  integer, parameter, public :: hex_side(4, 6) = reshape( &
    [1, 2, 6, 5, 2, 3, 7, 6, 3, 4, 8, 7, 1, 5, 8, 4, 1, 4, 3, 2, 5, 6, 7, 8], [4, 6])
  !> The axis across each side, and where on it the side is.
  integer, parameter, public :: hex_side_axis(6) = [2, 1, 2, 1, 3, 3], hex_side_end(6) = [-1, 1, 1, -1, -1, 1]
  !> Corners at the ends of the edges.
  integer, parameter, public :: hex_edge(2, 12) = reshape( &
    [1, 2, 2, 3, 3, 4, 4, 1, 1, 5, 2, 6, 3, 7, 4, 8, 5, 6, 6, 7, 7, 8, 8, 5], [2, 12])
  !> Numbers of the points on each side, rising.
  integer, parameter, public :: hex_side_point(on_face, 6) = reshape([ &
    [((1 + i + 25*j, i=0, 4), j=0, 4)], [((5 + 5*i + 25*j, i=0, 4), j=0, 4)], [((21 + i + 25*j, i=0, 4), j=0, 4)], &
    [((1 + 5*i + 25*j, i=0, 4), j=0, 4)], [((1 + i + 5*j, i=0, 4), j=0, 4)], [((101 + i + 5*j, i=0, 4), j=0, 4)]], [on_face, 6])

  !> Functions of the nodes along one axis at the points, and their slopes.
  real(dp), parameter :: linear(along, 2) = reshape([(1 - gll_x)/2, (1 + gll_x)/2], [along, 2])
  real(dp), parameter :: linear_slope(along, 2) = reshape([(-0.5_dp, i=1, 5), (0.5_dp, i=1, 5)], [along, 2])
  real(dp), parameter :: quadratic(along, 3) = &
    reshape([gll_x*(gll_x - 1)/2, (1 - gll_x)*(1 + gll_x), gll_x*(gll_x + 1)/2], [along, 3])
  real(dp), parameter :: quadratic_slope(along, 3) = reshape([gll_x - 0.5_dp, -2*gll_x, gll_x + 0.5_dp], [along, 3])

contains

  !> The place [m] of (xi, eta, zeta); corner (3, 8 or 27) [m].
  pure function HexAt(corner, xi) result(x)
    real(dp), intent(in) :: corner(:, :), xi(3)
    real(dp) :: x(3)
    real(dp) :: value(size(corner, 2)), slope(size(corner, 2), 3)
    call Shapes(xi, value, slope)
    x = matmul(corner, value)
  end function HexAt

  !> The Jacobian at (xi, eta, zeta): (i, j) is d x(i) / d xi(j) [m].
  pure function HexJacobian(corner, xi) result(jacobian)
    real(dp), intent(in) :: corner(:, :), xi(3)
    real(dp) :: jacobian(3, 3)
    real(dp) :: slope(size(corner, 2), 3)
    slope = HexSlopes(size(corner, 2), xi)
    jacobian = matmul(corner, slope)
  end function HexJacobian

  !> The derivatives along xi, eta, zeta of the functions of 8 or 27 nodes at a place.
  pure function HexSlopes(per, xi) result(slope)
    integer, intent(in) :: per
    real(dp), intent(in) :: xi(3)
    real(dp) :: slope(per, 3)
    real(dp) :: value(per)
    call Shapes(xi, value, slope)
  end function HexSlopes

  !> Functions of the nodes at a place, and their derivatives along xi, eta, zeta.
  pure subroutine Shapes(xi, value, slope)
    real(dp), intent(in) :: xi(3)
    real(dp), intent(out) :: value(:), slope(:, :)
    real(dp) :: v(-1:1, 3), s(-1:1, 3)
    integer :: a
    do a = 1, 3
      call Along1(size(value), xi(a), v(:, a), s(:, a))
    end do
    do a = 1, size(value)
      associate (n => hex_node(:, a))
        value(a) = v(n(1), 1)*v(n(2), 2)*v(n(3), 3)
        slope(a, 1) = s(n(1), 1)*v(n(2), 2)*v(n(3), 3)
        slope(a, 2) = v(n(1), 1)*s(n(2), 2)*v(n(3), 3)
        slope(a, 3) = v(n(1), 1)*v(n(2), 2)*s(n(3), 3)
      end associate
    end do
  end subroutine Shapes

  !> Along one axis: the functions of the nodes at -1, 0, 1, linear for 8 nodes, else quadratic.
  pure subroutine Along1(per, xi, value, slope)
    integer, intent(in) :: per
    real(dp), intent(in) :: xi
    real(dp), intent(out) :: value(-1:1), slope(-1:1)
    if (per == 8) then
      value = [(1 - xi)/2, 0.0_dp, (1 + xi)/2]
      slope = [-0.5_dp, 0.0_dp, 0.5_dp]
    else
      value = [xi*(xi - 1)/2, (1 - xi)*(1 + xi), xi*(xi + 1)/2]
      slope = [xi - 0.5_dp, -2*xi, xi + 0.5_dp]
    end if
  end subroutine Along1

  !> The 125 points [m], (3, 125).
  pure subroutine HexPoints(corner, x)
    real(dp), intent(in) :: corner(:, :)
    real(dp), intent(out) :: x(3, in_element)
    real(dp) :: all(in_element, 3)
    if (size(corner, 2) == 8) then
      all = Spread3(Lattice(corner, 2), linear, linear, linear)
    else
      all = Spread3(Lattice(corner, 3), quadratic, quadratic, quadratic)
    end if
    x = transpose(all)
  end subroutine HexPoints

  !> The Jacobians at the 125 points [m], (3, 3, 125), as HexJacobian has them.
  pure subroutine HexJacobians(corner, jacobian)
    real(dp), intent(in) :: corner(:, :)
    real(dp), intent(out) :: jacobian(3, 3, in_element)
    if (size(corner, 2) == 8) then
      jacobian(:, 1, :) = transpose(Spread3(Lattice(corner, 2), linear_slope, linear, linear))
      jacobian(:, 2, :) = transpose(Spread3(Lattice(corner, 2), linear, linear_slope, linear))
      jacobian(:, 3, :) = transpose(Spread3(Lattice(corner, 2), linear, linear, linear_slope))
    else
      jacobian(:, 1, :) = transpose(Spread3(Lattice(corner, 3), quadratic_slope, quadratic, quadratic))
      jacobian(:, 2, :) = transpose(Spread3(Lattice(corner, 3), quadratic, quadratic_slope, quadratic))
      jacobian(:, 3, :) = transpose(Spread3(Lattice(corner, 3), quadratic, quadratic, quadratic_slope))
    end if
  end subroutine HexJacobians

  !> Nodes as they lie along xi, eta, zeta, 2 or 3 each, then x, y, z.
  pure function Lattice(corner, m) result(t)
    real(dp), intent(in) :: corner(:, :)
    integer, intent(in) :: m
    real(dp) :: t(m, m, m, 3)
    integer :: a, at(3)
    do a = 1, m**3
      at = (hex_node(:, a) + 1)*(m - 1)/2 + 1
      t(at(1), at(2), at(3), :) = corner(:, a)
    end do
  end function Lattice

  !> From nodes to points, an axis after the other; a, b, c (5, nodes along xi, eta, zeta).
  pure function Spread3(t, a, b, c) result(x)
    real(dp), intent(in) :: t(:, :, :, :), a(:, :), b(:, :), c(:, :)
    real(dp) :: x(in_element, 3)
    real(dp) :: u(along, size(t, 2), size(t, 3)), v(along, along, size(t, 3)), w(along, along, along)
    integer :: d, i, j, k
    do d = 1, 3
      u = 0
      v = 0
      w = 0
      do k = 1, size(t, 3)
        do j = 1, size(t, 2)
          do i = 1, size(t, 1)
            u(:, j, k) = u(:, j, k) + a(:, i)*t(i, j, k, d)
          end do
          do i = 1, along
            v(:, i, k) = v(:, i, k) + b(i, j)*u(:, j, k)
          end do
        end do
        do i = 1, along
          w(:, :, i) = w(:, :, i) + c(i, k)*v(:, :, k)
        end do
      end do
      x(:, d) = reshape(w, [in_element])
    end do
  end function Spread3

  pure real(dp) function Determinant(a)
    real(dp), intent(in) :: a(3, 3)
    Determinant = a(1, 1)*(a(2, 2)*a(3, 3) - a(2, 3)*a(3, 2)) + a(1, 2)*(a(2, 3)*a(3, 1) - a(2, 1)*a(3, 3)) &
      + a(1, 3)*(a(2, 1)*a(3, 2) - a(2, 2)*a(3, 1))
  end function Determinant

  !> By minors; a singular matrix gives infinities.
  pure function Inverse(a) result(b)
    real(dp), intent(in) :: a(3, 3)
    real(dp) :: b(3, 3)
    integer :: i, j, i1, i2, j1, j2
    do j = 1, 3
      j1 = modulo(j, 3) + 1
      j2 = modulo(j + 1, 3) + 1
      do i = 1, 3
        i1 = modulo(i, 3) + 1
        i2 = modulo(i + 1, 3) + 1
        b(i, j) = a(j1, i1)*a(j2, i2) - a(j1, i2)*a(j2, i1)
      end do
    end do
    b = b/Determinant(a)
  end function Inverse

  !> Bounds of the Jacobian of an element of 8 nodes, and of the product of squared lengths of its columns: each column is a mean
  !> of the four edges along an axis, so the determinant is a mean of the products of any three edges, and no column is longer than
  !> the longest edge.
  pure subroutine HexBounds(x, least, most, longest)
    real(dp), intent(in) :: x(3, 8)
    real(dp), intent(out) :: least, most, longest
    integer, parameter :: low(4, 3) = reshape([1, 4, 5, 8, 1, 2, 5, 6, 1, 2, 3, 4], [4, 3]), &
                          high(4, 3) = reshape([2, 3, 6, 7, 4, 3, 8, 7, 5, 6, 7, 8], [4, 3])
    real(dp) :: edge(3, 4, 3), cross(3), volume
    integer :: a, b, c
    do c = 1, 3
      edge(:, :, c) = x(:, high(:, c)) - x(:, low(:, c))
    end do
    least = huge(least)
    most = -huge(most)
    do a = 1, 4
      do b = 1, 4
        associate (u => edge(:, a, 1), v => edge(:, b, 2))
          cross = [u(2)*v(3) - u(3)*v(2), u(3)*v(1) - u(1)*v(3), u(1)*v(2) - u(2)*v(1)]
        end associate
        do c = 1, 4
          volume = sum(cross*edge(:, c, 3))
          least = min(least, volume)
          most = max(most, volume)
        end do
      end do
    end do
    longest = maxval(sum(edge(:, :, 1)**2, 1))*maxval(sum(edge(:, :, 2)**2, 1))*maxval(sum(edge(:, :, 3)**2, 1))
  end subroutine HexBounds

  !> The box [m] around all of an element: low and high.
  !> A polynomial stays among its Bezier ordinates; those of trilinear elements are their corners.
  pure subroutine HexBox(corner, low, high)
    real(dp), intent(in) :: corner(:, :)
    real(dp), intent(out) :: low(3), high(3)
    real(dp) :: b(3, -1:1, -1:1, -1:1)
    integer :: a
    low = minval(corner(:, :8), 2)
    high = maxval(corner(:, :8), 2)
    if (size(corner, 2) == 8) return
    do a = 1, 27
      b(:, hex_node(1, a), hex_node(2, a), hex_node(3, a)) = corner(:, a)
    end do
    b(:, 0, :, :) = 2*b(:, 0, :, :) - (b(:, -1, :, :) + b(:, 1, :, :))/2
    b(:, :, 0, :) = 2*b(:, :, 0, :) - (b(:, :, -1, :) + b(:, :, 1, :))/2
    b(:, :, :, 0) = 2*b(:, :, :, 0) - (b(:, :, :, -1) + b(:, :, :, 1))/2
    do a = 1, 3
      low(a) = minval(b(a, :, :, :))
      high(a) = maxval(b(a, :, :, :))
    end do
  end subroutine HexBox

  !> The longest edge [m], from corner to corner.
  pure real(dp) function HexLongest(corner) result(longest)
    real(dp), intent(in) :: corner(:, :)
    longest = maxval(HexEdges(corner))
  end function HexLongest

  !> The lengths [m] of the edges of an element: twice that of the longer half where nodes in their middle bend or stretch them, as
  !> points are that far apart there.
  pure function HexEdges(corner) result(length)
    real(dp), intent(in) :: corner(:, :)                  !< (3, 8 or 27) [m]
    real(dp) :: length(12)
    integer :: k
    do k = 1, 12
      associate (one => corner(:, hex_edge(1, k)), other => corner(:, hex_edge(2, k)))
        length(k) = norm2(other - one)
        if (size(corner, 2) == 27) length(k) = 2*max(norm2(corner(:, 8 + k) - one), norm2(other - corner(:, 8 + k)))
      end associate
    end do
  end function HexEdges

  !> Rounding moves a place by so much from where an element has it [m]: 2e-8 in coordinates of maps, of 5e6 m.
  pure real(dp) function HexRounding(corner) result(off)
    real(dp), intent(in) :: corner(:, :)
    off = 16*epsilon(off)*maxval(abs(corner))
  end function HexRounding

  !> The xi, eta, zeta of place x [m]. found: x is there, to rounding; xi may then lie outside of -1 .. 1, by up to 0.5.
  pure subroutine HexFind(corner, x, xi, found)
    real(dp), intent(in) :: corner(:, :), x(3)
    real(dp), intent(out) :: xi(3)
    logical, intent(out) :: found
    ! The map of a distorted element may fold outside of it, and have the place there once more.
    xi = Nearby(corner, x)
    call Descend(corner, x, 1 + 1.0e-6_dp, xi, found)
    if (.not. found) call Descend(corner, x, 1.5_dp, xi, found)
  end subroutine HexFind

  !> The xi, eta, zeta in the element that is nearest to a place outside, and how far away [m] it is.
  pure subroutine HexNearest(corner, x, xi, away)
    real(dp), intent(in) :: corner(:, :), x(3)
    real(dp), intent(out) :: xi(3), away
    real(dp) :: at(3, in_element), from(3, size(corner, 2) + 6), distance
    logical :: found
    integer :: a, n, p
    n = size(corner, 2)
    from(:, :n) = 0.8_dp*hex_node(:, :n)                  ! from one alone a place that is nearest on one side only may be found
    call HexPoints(corner, at)
    do a = 1, 6                                           ! a curved side may come near twice
      p = hex_side_point(minloc(sum((at(:, hex_side_point(:, a)) - spread(x, 2, on_face))**2, 1), 1), a) - 1
      from(:, n + a) = gll_x([modulo(p, along), modulo(p/along, along), p/along**2] + 1)
    end do
    away = huge(away)
    do a = 1, size(from, 2)
      call Descend(corner, x, 1.0_dp, from(:, a), found)
      distance = norm2(HexAt(corner, from(:, a)) - x)
      if (distance >= away) cycle
      away = distance
      xi = from(:, a)
    end do
  end subroutine HexNearest

  !> A rough place to begin with: the nearest of 27.
  pure function Nearby(corner, x) result(xi)
    real(dp), intent(in) :: corner(:, :), x(3)
    real(dp) :: xi(3)
    real(dp) :: distance, best
    integer :: a
    best = huge(best)
    do a = 1, 27
      distance = norm2(HexAt(corner, 0.8_dp*hex_node(:, a)) - x)
      if (distance >= best) cycle
      best = distance
      xi = 0.8_dp*hex_node(:, a)
    end do
  end function Nearby

  !> From xi, eta, zeta to those, each within -most .. most, where |position - x| is smallest: steps of Gauss and Newton,
  !> halved until they lead down, along those of xi, eta, zeta that can move. found: x is there.
  pure subroutine Descend(corner, x, most, xi, found)
    real(dp), intent(in) :: corner(:, :), x(3), most
    real(dp), intent(inout) :: xi(3)
    logical, intent(out) :: found
    real(dp), parameter :: close = 1.0e-9_dp, closest = 1.0e-13_dp
    real(dp) :: jacobian(3, 3), rest(3), step(3), room(3), tried(3), before, after, rounding
    logical :: free(3)
    integer :: i, halves
    rounding = HexRounding(corner)
    do i = 1, 100
      rest = x - HexAt(corner, xi)
      jacobian = HexJacobian(corner, xi)
      free = abs(xi) < most .or. xi*matmul(rest, jacobian) < 0
      do
        step = Downhill(jacobian, rest, free)
        if (all(abs(xi) < most .or. xi*step <= 0)) exit
        free = free .and. (abs(xi) < most .or. xi*step <= 0)
      end do
      found = all(free) .and. (all(abs(step) < close) .or. all(abs(rest) <= rounding))
      if (all(abs(step) < closest)) exit
      room = most - sign(1.0_dp, step)*xi
      step = step*minval(room/max(room, abs(step), tiny(1.0_dp)), abs(step) > 0)      ! as far as the first bound
      before = sum(rest**2)
      do halves = 0, 40
        tried = xi + step
        where (abs(tried) > most - closest) tried = sign(most, tried)
        after = sum((x - HexAt(corner, tried))**2)
        if (after < before) exit
        step = step/2
      end do
      if (after >= before) exit
      xi = tried
    end do
  end subroutine Descend

  !> The step along the free ones of xi, eta, zeta that leaves least of `rest` where the map is linear. Columns are scaled, so that
  !> thin elements do as well as cubes.
  pure function Downhill(jacobian, rest, free) result(step)
    real(dp), intent(in) :: jacobian(3, 3), rest(3)
    logical, intent(in) :: free(3)
    real(dp) :: step(3)
    real(dp) :: a(3, 3), scaled(3, 3), scale(3)
    integer :: i
    scale = sqrt(max(sum(jacobian**2, 1), tiny(1.0_dp)))
    do i = 1, 3
      scaled(:, i) = merge(jacobian(:, i)/scale(i), 0.0_dp, free(i))
    end do
    a = matmul(transpose(scaled), scaled)
    do i = 1, 3
      a(i, i) = merge(a(i, i) + 1.0e-14_dp, 1.0_dp, free(i))    ! so that it has a solution in flat elements too
    end do
    step = matmul(rest, scaled)
    call SolvePositive(a, step)
    step = step/scale
  end function Downhill

  !> Weights of the 125 points for the value at (xi, eta, zeta).
  pure subroutine HexWeights(xi, w)
    real(dp), intent(in) :: xi(3)
    real(dp), intent(out) :: w(in_element)
    real(dp) :: d(in_element, 3)
    call Weights(xi, w, d)
  end subroutine HexWeights

  !> Weights of the 125 points for the derivatives along x, y, z [1/m] at (xi, eta, zeta).
  pure subroutine HexGradient(corner, xi, w)
    real(dp), intent(in) :: corner(:, :), xi(3)
    real(dp), intent(out) :: w(in_element, 3)
    real(dp) :: value(in_element), d(in_element, 3)
    call Weights(xi, value, d)
    w = matmul(d, Inverse(HexJacobian(corner, xi)))
  end subroutine HexGradient

  pure subroutine Weights(xi, w, d)
    real(dp), intent(in) :: xi(3)
    real(dp), intent(out) :: w(in_element), d(in_element, 3)
    real(dp) :: v(along, 3), s(along, 3)
    integer :: i, j, k, p
    do i = 1, 3
      call GllPolynomials(xi(i), v(:, i), s(:, i))
    end do
    do k = 1, along
      do j = 1, along
        do i = 1, along
          p = i + along*(j - 1 + along*(k - 1))
          w(p) = v(i, 1)*v(j, 2)*v(k, 3)
          d(p, :) = [s(i, 1)*v(j, 2)*v(k, 3), v(i, 1)*s(j, 2)*v(k, 3), v(i, 1)*v(j, 2)*s(k, 3)]
        end do
      end do
    end do
  end subroutine Weights

end module hexahedron_m
