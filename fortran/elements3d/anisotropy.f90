!> Elastic media of 21 constants: c11 c12 .. c16 c22 .. c66 [Pa] in the order of Voigt, rows and columns 1 xx, 2 yy, 3 zz, 4 yz, 5
!> xz, 6 xy, of strains e1 = du_x/dx, e4 = du_y/dz + du_z/dy and so on.
!>
!> Transverse isotropy is given as Thomsen (1986, Geophysics 51, 1954-1966, eq. 8-9, 17) does: vp and vs along the axis, epsilon,
!> delta, gamma. Phase velocities v and displacements p of plane waves along n obey Christoffel's equation, G p = rho v**2 p, G(i,
!> k) the sum of c(ijkl) n(j) n(l) (Aki & Richards 2002, problem 5.7; Musgrave 1970, Crystal Acoustics).
module anisotropy_m
  use elements_m, only: tensor_numbers
  use hexahedron_m, only: Determinant, Inverse
  use kinds_m, only: dp, pi
  implicit none
  private
  public :: AnisoMatrix, AnisoPacked, AnisoIsotropic, AnisoAverage, AnisoPositive, AnisoUpsideDown, AnisoThomsen, &
            AnisoChristoffel, AnisoSpeeds, AnisoImpedance

  integer, parameter, public :: aniso_constants = tensor_numbers
  integer, parameter, public :: voigt(3, 3) = reshape([1, 6, 5, 6, 2, 4, 5, 4, 3], [3, 3])
  integer, parameter :: circles = 36                !< directions that are tried from pole to equator

contains

  !> The symmetric matrix of 21 constants.
  pure function AnisoMatrix(constants) result(c)
    real(dp), intent(in) :: constants(aniso_constants)
    real(dp) :: c(6, 6)
    integer :: i, j, n
    n = 0
    do i = 1, 6
      do j = i, 6
        n = n + 1
        c(i, j) = constants(n)
        c(j, i) = constants(n)
      end do
    end do
  end function AnisoMatrix

  !> The 21 constants of a symmetric matrix: AnisoMatrix backwards.
  pure function AnisoPacked(c) result(constants)
    real(dp), intent(in) :: c(6, 6)
    real(dp) :: constants(aniso_constants)
    integer :: i, n
    n = 0
    do i = 1, 6
      constants(n + 1:n + 7 - i) = c(i, i:)
      n = n + 7 - i
    end do
  end function AnisoPacked

  !> The matrix of an isotropic medium of moduli lambda, mu [Pa].
  pure function AnisoIsotropic(lambda, mu) result(c)
    real(dp), intent(in) :: lambda, mu
    real(dp) :: c(6, 6)
    integer :: i
    c = 0
    c(:3, :3) = lambda
    do i = 1, 6
      c(i, i) = c(i, i) + merge(2*mu, mu, i <= 3)
    end do
  end function AnisoIsotropic

  !> The nearest isotropic medium, whose moduli are the averages of Voigt over all directions (Browaeys & Chevrot 2004, GJI 159,
  !> 667-678).
  pure subroutine AnisoAverage(c, lambda, mu)
    real(dp), intent(in) :: c(6, 6)
    real(dp), intent(out) :: lambda, mu
    real(dp) :: even, beside
    even = c(1, 1) + c(2, 2) + c(3, 3)
    beside = c(1, 2) + c(1, 3) + c(2, 3)
    mu = (even - beside + 3*(c(4, 4) + c(5, 5) + c(6, 6)))/15
    lambda = (even + 2*beside)/9 - 2*mu/3
  end subroutine AnisoAverage

  !> True where any strain stores energy: the pivots of the matrix are positive.
  pure logical function AnisoPositive(c) result(positive)
    real(dp), intent(in) :: c(6, 6)
    real(dp) :: a(6, 6)
    integer :: i, j
    a = c
    positive = .false.
    do i = 1, 6
      if (.not. a(i, i) > 1.0e-9_dp*maxval(abs(c))) return
      do j = i + 1, 6
        a(j, i:) = a(j, i:) - a(j, i)/a(i, i)*a(i, i:)
      end do
    end do
    positive = .true.
  end function AnisoPositive

  !> The constants along other axes: c'(ijkl) = a(ip) a(jq) a(kr) a(ls) c(pqrs), a orthogonal.
  pure function AnisoTurned(c, a) result(turned)
    real(dp), intent(in) :: c(6, 6), a(3, 3)
    real(dp) :: turned(6, 6), bond(6, 6)
    integer, parameter :: first(6) = [1, 2, 3, 2, 1, 1], second(6) = [1, 2, 3, 3, 3, 2]
    integer :: i, j
    do j = 1, 6
      do i = 1, 6
        bond(i, j) = a(first(i), first(j))*a(second(i), second(j))
        if (j > 3) bond(i, j) = bond(i, j) + a(first(i), second(j))*a(second(i), first(j))
      end do
    end do
    turned = matmul(bond, matmul(c, transpose(bond)))
  end function AnisoTurned

  !> The constants where z points the other way: c14, c15, c24, c25, c34, c35, c46 and c56 change their sign.
  pure function AnisoUpsideDown(c) result(other)
    real(dp), intent(in) :: c(6, 6)
    real(dp) :: other(6, 6)
    other = c
    other(4:5, :) = -other(4:5, :)
    other(:, 4:5) = -other(:, 4:5)
  end function AnisoUpsideDown

  !> A transversely isotropic medium, along x, y and z down. Its axis is `tilt` degrees away from the vertical, and its upper end
  !> leans to where `azimuth` degrees from x to y are: layers that dip by `tilt` to there. possible: false where c13 is no real
  !> number.
  pure subroutine AnisoThomsen(vp, vs, rho, epsilon, delta, gamma, tilt, azimuth, c, possible)
    real(dp), intent(in) :: vp, vs, rho, epsilon, delta, gamma, tilt, azimuth
    real(dp), intent(out) :: c(6, 6)
    logical, intent(out) :: possible
    real(dp), parameter :: degree = pi/180
    real(dp) :: p, s, root, a(3, 3)
    p = rho*vp**2
    s = rho*vs**2
    root = (p - s)*(2*delta*p + p - s)
    possible = root >= 0
    c = 0
    c(1, 1) = p*(1 + 2*epsilon)
    c(2, 2) = c(1, 1)
    c(3, 3) = p
    c(4, 4) = s
    c(5, 5) = s
    c(6, 6) = s*(1 + 2*gamma)
    c(1, 2) = c(1, 1) - 2*c(6, 6)
    c(1, 3) = sqrt(max(root, 0.0_dp)) - s
    c(2, 3) = c(1, 3)
    c(2, 1) = c(1, 2)
    c(3, 1:2) = c(1, 3)
    associate (ct => cos(tilt*degree), st => sin(tilt*degree), ca => cos(azimuth*degree), sa => sin(azimuth*degree))
      a(:, 1) = [ct*ca, ct*sa, st]
      a(:, 2) = [-sa, ca, 0.0_dp]
      a(:, 3) = [st*ca, st*sa, -ct]
    end associate
    c = AnisoTurned(c, a)
  end subroutine AnisoThomsen

  ! --- plane waves ----------------------------------------------------------------------------------------------------------

  !> Christoffel's matrix of a direction n, of any length.
  pure function AnisoChristoffel(c, n) result(g)
    real(dp), intent(in) :: c(6, 6), n(3)
    real(dp) :: g(3, 3)
    integer :: i, j, k, l
    g = 0
    do k = 1, 3
      do l = 1, 3
        do j = 1, 3
          do i = 1, 3
            g(i, k) = g(i, k) + c(voigt(i, j), voigt(k, l))*n(j)*n(l)
          end do
        end do
      end do
    end do
  end function AnisoChristoffel

  !> The smallest and the largest phase velocity [m/s] of all directions, right to some parts in ten thousand.
  pure function AnisoSpeeds(c, rho) result(v)
    real(dp), intent(in) :: c(6, 6), rho
    real(dp) :: v(2), range(2), theta, phi
    integer :: i, j, around
    v = [huge(1.0_dp), 0.0_dp]
    do i = 0, circles
      theta = pi/2*i/circles
      around = max(1, nint(4*circles*sin(theta)))
      do j = 1, around
        phi = 2*pi*j/around
        range = Extremes(AnisoChristoffel(c, [sin(theta)*cos(phi), sin(theta)*sin(phi), cos(theta)]))
        v = [min(v(1), range(1)), max(v(2), range(2))]
      end do
    end do
    v = sqrt(max(v, 0.0_dp)/rho)
  end function AnisoSpeeds

  !> The smallest and the largest eigenvalue of a symmetric matrix, by its characteristic polynomial.
  pure function Extremes(a) result(range)
    real(dp), intent(in) :: a(3, 3)
    real(dp) :: range(2), mean, b(3, 3), size, angle
    integer :: i
    mean = (a(1, 1) + a(2, 2) + a(3, 3))/3
    b = a
    do i = 1, 3
      b(i, i) = b(i, i) - mean
    end do
    size = sqrt(sum(b**2)/6)
    range = mean
    if (.not. size > 0) return
    b = b/size
    angle = acos(max(-1.0_dp, min(1.0_dp, Determinant(b)/2)))/3
    range = mean + 2*size*[cos(angle + 2*pi/3), cos(angle)]
  end function Extremes

  !> The root of rho G(n), n of length 1: minus the traction on a side, over the velocity, of plane waves that leave along its
  !> normal n (each of the three has rho v along its displacement). By the iteration of Denman & Beavers (1976).
  pure function AnisoImpedance(c, rho, n) result(z)
    real(dp), intent(in) :: c(6, 6), rho, n(3)
    real(dp) :: z(3, 3), other(3, 3), next(3, 3), scale
    integer :: i
    z = rho*AnisoChristoffel(c, n)
    scale = (z(1, 1) + z(2, 2) + z(3, 3))/3
    z = z/scale
    other = 0
    do i = 1, 3
      other(i, i) = 1
    end do
    do i = 1, 20
      next = (z + Inverse(other))/2
      other = (other + Inverse(z))/2
      z = next
    end do
    z = sqrt(scale)*z
  end function AnisoImpedance

end module anisotropy_m
