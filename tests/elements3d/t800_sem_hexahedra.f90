!> Points, weights and derivatives of degree 4 are those of their definitions; maps of distorted elements, and their inverses, agree.
program t800_sem_hexahedra
  use check_m, only: Claim, Done
  use elements_m, only: along, in_element
  use gll_m, only: GllPolynomials, gll_d, gll_w, gll_x
  use hexahedron_m, only: Determinant, HexAt, HexBox, HexEdges, HexFind, HexGradient, HexJacobian, HexJacobians, HexNearest, HexPoints, &
    HexWeights, hex_edge, hex_node, hex_side, hex_side_point
  use kinds_m, only: dp
  use mesh_case_m, only: AnySeed, BoxMesh, Chance
  use mesh_m, only: mesh_t
  use text_m, only: Str
  implicit none
  character(:), allocatable :: from
  integer :: seed
  seed = AnySeed()
  from = ' (seed '//Str(seed)//')'
  call Definitions()
  call Numbering()
  call Maps(8)
  call Maps(27)
  call Inverses(8)
  call Inverses(27)
  call Outside(8)
  call Outside(27)
  call Interpolation(8)
  call Interpolation(27)
  call Edges(8)
  call Edges(27)
  deallocate (from)
  call Done()

contains

  subroutine Definitions()
    real(dp) :: worst, value(along), slope(along), legendre(0:4), p, x
    integer :: i, j, power
    worst = 0
    do i = 2, along - 1
      legendre(:1) = [1.0_dp, gll_x(i)]
      do j = 2, 4
        legendre(j) = ((2*j - 1)*gll_x(i)*legendre(j - 1) - (j - 1)*legendre(j - 2))/j
      end do
      worst = max(worst, abs(4*(gll_x(i)*legendre(4) - legendre(3))/(gll_x(i)**2 - 1)))
    end do
    call Claim(worst < 1.0e-14_dp .and. gll_x(1) == -1 .and. gll_x(5) == 1, &
      "points of degree 4: the slope of Legendre's polynomial is "//Str(worst, 2)//' there, must be below 1e-14')
    worst = 0
    do power = 0, 7
      worst = max(worst, abs(sum(gll_w*gll_x**power) - merge(2.0_dp/(power + 1), 0.0_dp, modulo(power, 2) == 0)))
    end do
    call Claim(worst < 1.0e-15_dp, 'weights integrate powers 0 .. 7 to '//Str(worst, 2)//', must be below 1e-15')
    call Claim(abs(sum(gll_w*gll_x**8) - 2.0_dp/9) > 1.0e-3_dp, 'but not power 8: off by '//Str(sum(gll_w*gll_x**8) - 2.0_dp/9, 2))
    worst = 0
    do power = 0, 4
      worst = max(worst, maxval(abs(matmul(gll_d, gll_x**power) - power*gll_x**max(power - 1, 0))))
    end do
    call Claim(worst < 1.0e-14_dp, 'derivatives of powers 0 .. 4 at the points: off by '//Str(worst, 2)//', must be below 1e-14')
    worst = 0
    do i = 1, 100
      x = Chance(-1.2_dp, 1.2_dp)
      call GllPolynomials(x, value, slope)
      do power = 0, 4
        p = merge(1.0_dp, x**power, power == 0)
        worst = max(worst, abs(sum(value*gll_x**power) - p), abs(sum(slope*gll_x**power) - power*x**max(power - 1, 0)))
      end do
    end do
    call Claim(worst < 1.0e-13_dp, 'polynomials at 100 random places give powers 0 .. 4 and their slopes to '//Str(worst, 2)// &
      ', must be below 1e-13'//from)
  end subroutine Definitions

  !> Corners of sides and edges, points of sides.
  subroutine Numbering()
    real(dp) :: x(3, in_element), corner(3, 8), normal(3)
    logical :: good
    integer :: s, i
    corner = hex_node(:, :8)
    call HexPoints(corner, x)
    good = all(x(:, 1) == [-1, -1, -1]) .and. all(x(:, 5) == [1, -1, -1]) .and. all(x(:, 21) == [-1, 1, -1]) &
      .and. all(x(:, 101) == [-1, -1, 1])
    call Claim(good, 'points run along xi, then eta, then zeta')
    good = .true.
    do s = 1, 6
      associate (c => corner(:, hex_side(:, s)), p => x(:, hex_side_point(:, s)))
        normal = sum(c, 2)/4
        good = good .and. all(matmul(normal, c) == 1) .and. all(abs(matmul(normal, p) - 1) < 1.0e-15_dp)
        good = good .and. all(hex_side_point(2:, s) > hex_side_point(:24, s))
        good = good .and. dot_product(Cross(c(:, 2) - c(:, 1), c(:, 3) - c(:, 2)), normal) > 0
      end associate
    end do
    call Claim(good, 'each side has its four corners, counterclockwise from outside, and its 25 points')
    good = all([(maxloc(abs(sum(corner(:, hex_side(:, s)), 2)), 1), s=1, 6)] == [2, 1, 2, 1, 3, 3])
    call Claim(good, 'sides lie across eta, xi, eta, xi, zeta, zeta')
    good = .true.
    do i = 1, 12
      good = good .and. all(2*hex_node(:, 8 + i) == hex_node(:, hex_edge(1, i)) + hex_node(:, hex_edge(2, i)))
    end do
    call Claim(good, 'nodes 9 .. 20 lie in the middle of edges 1 .. 12')
  end subroutine Numbering

  pure function Cross(a, b) result(c)
    real(dp), intent(in) :: a(3), b(3)
    real(dp) :: c(3)
    c = [a(2)*b(3) - a(3)*b(2), a(3)*b(1) - a(1)*b(3), a(1)*b(2) - a(2)*b(1)]
  end function Cross

  !> One distorted element, 100 x 50 x 20 m, far from the origin; none that is inside out somewhere.
  function Element(per) result(corner)
    integer, intent(in) :: per
    real(dp) :: corner(3, per), least
    type(mesh_t) :: mesh
    integer :: i, j, k
    do
      mesh = BoxMesh([1, 1, 1], [100.0_dp, 50.0_dp, 20.0_dp], [5.0e5_dp, 4.0e6_dp, 100.0_dp], &
        merge(0.22_dp, 0.15_dp, per == 8), per, 1)
      corner = mesh%x(:, mesh%node(:, 1))
      least = huge(least)
      do k = -8, 8
        do j = -8, 8
          do i = -8, 8
            least = min(least, Determinant(HexJacobian(corner, [i, j, k]/8.0_dp)))
          end do
        end do
      end do
      if (least > 0.05_dp*100*50*20/8) return
    end do
  end function Element

  subroutine Maps(per)
    integer, intent(in) :: per
    real(dp) :: corner(3, per), x(3, in_element), jacobian(3, 3, in_element), xi(3), step(3), worst(5), low(3), high(3)
    integer :: trial, a, p
    worst = 0
    do trial = 1, 20
      corner = Element(per)
      do a = 1, per
        worst(1) = max(worst(1), norm2(HexAt(corner, real(hex_node(:, a), dp)) - corner(:, a)))
      end do
      call HexPoints(corner, x)
      call HexJacobians(corner, jacobian)
      do p = 1, in_element
        xi = gll_x([modulo(p - 1, 5), modulo((p - 1)/5, 5), (p - 1)/25] + 1)
        worst(2) = max(worst(2), norm2(HexAt(corner, xi) - x(:, p)))
        worst(3) = max(worst(3), maxval(abs(HexJacobian(corner, xi) - jacobian(:, :, p))))
      end do
      call HexBox(corner, low, high)
      do p = 1, 100
        xi = [(Chance(-1.0_dp, 1.0_dp), a=1, 3)]
        do a = 1, 3
          step = 0
          step(a) = 1.0e-3_dp
          worst(4) = max(worst(4), norm2((HexAt(corner, xi + step) - HexAt(corner, xi - step))/2.0e-3_dp &
            - matmul(HexJacobian(corner, xi), step/1.0e-3_dp)))
        end do
        xi = max(-1.0_dp, min(1.0_dp, 1.5_dp*xi))
        worst(5) = max(worst(5), maxval(low - HexAt(corner, xi)), maxval(HexAt(corner, xi) - high))
      end do
    end do
    call Claim(worst(1) < 1.0e-8_dp, Str(per)//' nodes: the map has them in their places to '//Str(worst(1), 2)//' m, must be 1e-8'//from)
    call Claim(worst(2) < 1.0e-8_dp, Str(per)//' nodes: points to '//Str(worst(2), 2)//' m, must be 1e-8')
    call Claim(worst(3) < 1.0e-8_dp, Str(per)//' nodes: Jacobians of the points to '//Str(worst(3), 2)//' m, must be 1e-8')
    call Claim(worst(4) < 1.0e-5_dp, Str(per)//' nodes: Jacobians agree with differences of the map to '//Str(worst(4), 2)// &
      ' m, must be 1e-5')
    call Claim(worst(5) < 1.0e-8_dp, Str(per)//' nodes: no place sticks out of the box by more than '//Str(worst(5), 2)// &
      ' m, must be 1e-8')
  end subroutine Maps

  !> Places inside, on faces, on edges and in corners are found again.
  subroutine Inverses(per)
    integer, intent(in) :: per
    real(dp) :: corner(3, per), xi(3), back(3), worst
    integer :: trial, p, a, lost
    logical :: found
    worst = 0
    lost = 0
    do trial = 1, 100
      corner = Element(per)
      do p = 1, 100
        xi = [(max(-1.0_dp, min(1.0_dp, Chance(-1.4_dp, 1.4_dp))), a=1, 3)]
        call HexFind(corner, HexAt(corner, xi), back, found)
        if (.not. found) lost = lost + 1
        if (found) worst = max(worst, maxval(abs(back - xi)))
      end do
    end do
    call Claim(lost == 0, Str(per)//' nodes: of 10000 places in 100 distorted elements '//Str(lost)//' were lost, must be none'//from)
    call Claim(worst < 1.0e-6_dp, Str(per)//' nodes: the others found to '//Str(worst, 2)//' of an element, must be 1e-6')
  end subroutine Inverses

  !> The nearest place of an element to one outside is no further than any of 9261 places of it.
  subroutine Outside(per)
    integer, intent(in) :: per
    real(dp) :: corner(3, per), x(3), xi(3), away, nearest, worst
    integer :: trial, i, j, k
    worst = 0
    do trial = 1, 40
      corner = Element(per)
      x = sum(corner(:, :8), 2)/8 + [Chance(-150.0_dp, 150.0_dp), Chance(-80.0_dp, 80.0_dp), Chance(-30.0_dp, 30.0_dp)]
      call HexNearest(corner, x, xi, away)
      nearest = huge(nearest)
      do k = -10, 10
        do j = -10, 10
          do i = -10, 10
            nearest = min(nearest, norm2(HexAt(corner, [i, j, k]/10.0_dp) - x))
          end do
        end do
      end do
      worst = max(worst, away - nearest, maxval(abs(xi)) - 1, abs(norm2(HexAt(corner, xi) - x) - away))
    end do
    call Claim(worst < 1.0e-3_dp, Str(per)//' nodes: a place of an element at most '//Str(worst, 2)// &
      ' m further away than the nearest of 9261, must be 1e-3 m'//from)
  end subroutine Outside

  !> Values and slopes of a field known at the 125 points.
  !> No points along an edge of an element are farther apart than those of a straight edge of the length told, by more than 2 %, and of
  !> straight ones none nearer.
  subroutine Edges(per)
    integer, intent(in) :: per
    real(dp) :: corner(3, per), x(3, 0:along - 1), length(12), gap(12, 100), xi(3)
    integer :: trial, k, p
    do trial = 1, size(gap, 2)
      corner = Element(per)
      length = HexEdges(corner)
      do k = 1, 12
        do p = 0, along - 1
          xi = 0.5_dp*((1 - gll_x(p + 1))*hex_node(:, hex_edge(1, k)) + (1 + gll_x(p + 1))*hex_node(:, hex_edge(2, k)))
          x(:, p) = HexAt(corner, xi)
        end do
        gap(k, trial) = max(norm2(x(:, 2) - x(:, 1)), norm2(x(:, 3) - x(:, 2)))/(0.5_dp*(gll_x(4) - gll_x(3))*length(k))
      end do
    end do
    call Claim(maxval(gap) < 1.02_dp .and. (per == 27 .or. minval(gap) > 1 - 1.0e-9_dp), Str(per)//' nodes: points along edges are '// &
               Str(minval(gap), 4)//' .. '//Str(maxval(gap), 4)//' times as far apart as those of straight ones of the length told, <= 1.02')
  end subroutine Edges

  subroutine Interpolation(per)
    integer, intent(in) :: per
    real(dp) :: corner(3, per), x(3, in_element), xi(3), w(in_element), g(in_element, 3), a(3), b, field(in_element), worst(3), f(3)
    integer :: trial, i
    worst = 0
    do trial = 1, 100
      corner = Element(per)
      call HexPoints(corner, x)
      xi = [(Chance(-1.0_dp, 1.0_dp), i=1, 3)]
      a = [(Chance(-1.0_dp, 1.0_dp), i=1, 3)]
      b = Chance(-1.0_dp, 1.0_dp)
      call HexWeights(xi, w)
      call HexGradient(corner, xi, g)
      field = matmul(a, x - spread(corner(:, 1), 2, in_element)) + b
      worst(1) = max(worst(1), abs(sum(w*field) - dot_product(a, HexAt(corner, xi) - corner(:, 1)) - b))
      worst(2) = max(worst(2), maxval(abs(matmul(field, g) - a)))
    end do
    call Claim(worst(1) < 1.0e-8_dp, Str(per)//' nodes: a linear field is interpolated to '//Str(worst(1), 2)//', must be 1e-8'//from)
    call Claim(worst(2) < 1.0e-8_dp, Str(per)//' nodes: its slopes to '//Str(worst(2), 2)//', must be 1e-8')
    ! a field of degree 4 in a skewed, not distorted element: exact as well
    do trial = 1, 20
      corner = hex_node(:, :per)
      corner = matmul(reshape([40.0_dp, 5.0_dp, -3.0_dp, 8.0_dp, 30.0_dp, 2.0_dp, Chance(-9.0_dp, 9.0_dp), 4.0_dp, 20.0_dp], [3, 3]), &
        corner)
      call HexPoints(corner, x)
      xi = [(Chance(-1.0_dp, 1.0_dp), i=1, 3)]
      f = HexAt(corner, xi)
      call HexWeights(xi, w)
      call HexGradient(corner, xi, g)
      field = (x(1, :)**2*x(2, :) - x(3, :)**3 + x(1, :)*x(2, :)**2*x(3, :))/1.0e4_dp
      worst(1) = abs(sum(w*field) - (f(1)**2*f(2) - f(3)**3 + f(1)*f(2)**2*f(3))/1.0e4_dp)
      worst(2) = maxval(abs(matmul(field, g) - [2*f(1)*f(2) + f(2)**2*f(3), f(1)**2 + 2*f(1)*f(2)*f(3), &
        -3*f(3)**2 + f(1)*f(2)**2]/1.0e4_dp))
      worst(3) = max(worst(3), worst(1), worst(2))
    end do
    call Claim(worst(3) < 1.0e-11_dp, Str(per)//' nodes: a field of degree 4 in skewed elements and its slopes to '//Str(worst(3), 2)// &
      ', must be 1e-11')
  end subroutine Interpolation

end program t800_sem_hexahedra
