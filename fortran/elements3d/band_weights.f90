!> Weights of points of elements for the value and the gradient of a field at a place, best for waves up to a frequency.
!>
!> A polynomial of degree 4 has the value of a field at a place right to some parts in a thousand at five points per wavelength,
!> and its gradient to some per cent, worst at the sides of the element. Here a field is taken for a sum of plane waves of all
!> directions and of all wavenumbers up to k, whose covariance over a distance r is 3 (sin kr - kr cos kr)/(kr)**3, and the weights
!> of the nearest points are those of its linear prediction (kriging: Chiles & Delfiner 2012, Geostatistics, ch. 3). Errors are
!> below 0.1 % of the value and 0.3 % of the gradient, in corners of elements too (t852). By reciprocity the same weights spread a
!> force or a moment over points.
!>
!> A field has kinks where rock, fluid and other rock meet: points are taken from elements of the same medium alone, which is one
!> that is almost the same where they meet, however it varies inside of them (t627), whatever its Q (t634). At a plane free side of
!> a fluid, where chi is 0, waves and their images of opposite sign are the field (Morse & Ingard 1968, Theoretical Acoustics, 7.4),
!> whose covariance is that of the waves less that with the images: points on one side alone leave 2 .. 5 % of the gradient across
!> it open, and with the images 0.1 % (t899). Close to a side of rock on which the traction is known, or of water that the rock
!> moves, the derivative of the field across it, at the side, is one more value that the prediction has: points on one side alone
!> leave some per cent of the derivative open up to 0.05 of an element away (t899).
module band_weights_m
  use elements_m, only: elements_t, face_free, in_element
  use elements_tensors_m, only: TensorOf
  use hexahedron_m, only: HexJacobian, HexPoints, Inverse, hex_side, hex_side_point
  use kinds_m, only: dp, pi
  use linear_m, only: SolvePositive
  use meetings_m, only: meetings_t
  use sort_m, only: SortOrder
  implicit none
  private
  public :: BandPoints, BandWeights, band_side_t

  !> A side of the medium close to a place.
  type :: band_side_t
    real(dp) :: x(3) = 0                          !< of it, closest to the place [m]
    real(dp) :: normal(3) = 0                     !< of length 1
    real(dp), allocatable :: w(:, :)              !< weights of points for the derivatives at x [1/m], (points, 3)
    real(dp) :: across = 0                        !< weight of the derivative along the normal, at x, for that at the place
  end type band_side_t

  integer, parameter, public :: band_points = 250   !< points for a place
  real(dp), parameter :: noise = 1.0e-6_dp          !< of a field's variance: of a larger share of weights rounding makes errors
  real(dp), parameter :: longest = 2                !< a wave of so many elements: of longer ones all points say the same
  real(dp), parameter :: flat = 1.0e-4_dp           !< of an element's size, by which a plane side may bend
  real(dp), parameter, public :: band_alike = 2.0e-2_dp   !< part of moduli and densities by which one medium may differ from itself
  real(dp), parameter, public :: band_dispersion = 3      !< times 1/Q: moduli of very high frequencies over those in a band, less 1

contains

  !> The points nearest to a place x in element e, `most` at most, of it and of the elements of the same medium that meet it; their
  !> places (3, points) [m] and numbers. Near is by the extents of the element: of a flat one points reach as far in all directions.
  !> image: where these elements are of fluid and have free sides, all in one plane, the images of the points in it; else none. No
  !> images are taken unless it is there.
  pure subroutine BandPoints(elements, meetings, e, x, most, at, point, image)
    type(elements_t), intent(in) :: elements
    type(meetings_t), intent(in) :: meetings
    integer, intent(in) :: e, most
    real(dp), intent(in) :: x(3)
    real(dp), allocatable, intent(out) :: at(:, :)
    integer, allocatable, intent(out) :: point(:)
    real(dp), allocatable, intent(out), optional :: image(:, :)
    integer, allocatable :: near(:), number(:), order(:)
    real(dp), allocatable :: place(:, :), away(:), depth(:)
    real(dp) :: normal(3)
    integer :: i, p
    allocate (near, source=Neighbours(elements, meetings, e))
    allocate (place(3, in_element*size(near)))
    number = reshape(elements%at(:, near), [in_element*size(near)])
    do i = 1, size(near)
      call HexPoints(elements%corner(:, :, near(i)), place(:, in_element*(i - 1) + 1:in_element*i))
    end do
    away = norm2(matmul(Inverse(HexJacobian(elements%corner(:, :, e), [0.0_dp, 0.0_dp, 0.0_dp])), &
                        place - spread(x, 2, size(place, 2))), 1)
    call SortOrder(nint(away/maxval(away)*1.0e9_dp), order)
    if (present(image) .and. e > elements%solid) call FreePlane(elements, near, place, normal, depth)
    allocate (at(3, 0), point(0))
    if (allocated(depth)) allocate (image(3, 0))
    do i = 1, size(order)
      p = order(i)
      if (allocated(depth)) then
        if (.not. depth(p) > 0) cycle                         ! chi is 0 there
      end if
      if (any(point == number(p))) cycle
      point = [point, number(p)]
      at = reshape([at, place(:, p)], [3, size(point)])
      if (allocated(depth)) image = reshape([image, place(:, p) - 2*depth(p)*normal], [3, size(point)])
      if (size(point) == most) exit
    end do
  end subroutine BandPoints

  !> The plane of the free sides of elements `near`, whose points are at `place`: its normal, and how far inside of it points are
  !> [m], 0 on it. No depth where there are no such sides, or where they lie in several planes.
  pure subroutine FreePlane(elements, near, place, normal, depth)
    type(elements_t), intent(in) :: elements
    integer, intent(in) :: near(:)
    real(dp), intent(in) :: place(:, :)
    real(dp), intent(out) :: normal(3)
    real(dp), allocatable, intent(out) :: depth(:)
    real(dp) :: a(3), b(3), size_of_side
    integer :: i, s
    do i = 1, size(near)
      do s = 1, 6
        if (elements%face(s, near(i)) /= face_free) cycle
        if (.not. allocated(depth)) then
          associate (corner => elements%corner(:, hex_side(:, s), near(i)))
            a = corner(:, 1) - corner(:, 3)
            b = corner(:, 2) - corner(:, 4)
            normal = [a(2)*b(3) - a(3)*b(2), a(3)*b(1) - a(1)*b(3), a(1)*b(2) - a(2)*b(1)]
            normal = -normal/norm2(normal)                    ! corners go round counterclockwise as seen from outside
            depth = matmul(normal, place - spread(sum(corner, 2)/4, 2, size(place, 2)))
            size_of_side = max(norm2(a), norm2(b))
          end associate
        end if
        if (any(abs(depth(in_element*(i - 1) + hex_side_point(:, s))) > flat*size_of_side)) then
          deallocate (depth)
          return
        end if
      end do
    end do
    if (allocated(depth)) then
      where (abs(depth) <= flat*size_of_side) depth = 0
    end if
  end subroutine FreePlane

  !> Element e and those that meet it at a node and go on with its medium.
  pure function Neighbours(elements, meetings, e) result(near)
    type(elements_t), intent(in) :: elements
    type(meetings_t), intent(in) :: meetings
    integer, intent(in) :: e
    integer, allocatable :: near(:)
    integer :: c, m, other
    near = [e]
    do c = 1, 8
      do m = meetings%start(elements%node(c, e)), meetings%start(elements%node(c, e) + 1) - 1
        other = meetings%list(m)
        if (any(near == other) .or. (e <= elements%solid .neqv. other <= elements%solid)) cycle
        if (TensorOf(elements, e) == TensorOf(elements, other) .and. GoesOn(other)) near = [near, other]
      end do
    end do

  contains

    !> Media of both elements are the same at the points that these share, though they may vary inside: 1 or 125 numbers of each.
    pure logical function GoesOn(other)
      integer, intent(in) :: other
      integer :: i, j, n
      n = size(elements%rho, 1)
      GoesOn = .true.
      do i = 1, in_element
        j = findloc(elements%at(:, other), elements%at(i, e), 1)
        if (j == 0) cycle
        GoesOn = Same(Medium(e, min(i, n)), Medium(other, min(j, n)))
        if (.not. GoesOn) return
      end do
    end function GoesOn

    !> Density and the moduli of P and S waves, which where they attenuate are those of very high frequencies.
    pure function Medium(e, i)
      integer, intent(in) :: e, i
      real(dp) :: Medium(3)
      Medium = [elements%rho(i, e), elements%lambda(i, e) + 2*elements%mu(i, e), elements%mu(i, e)]
    end function Medium

    !> Media may differ by so little that their contact bends the field less than points on one side alone leave of its derivative
    !> (by 0.4 % in velocities: 3 % of stress at the contact, with points of both sides 0.4 %), and by what an element with a Q of
    !> its own makes of moduli that are the same.
    pure logical function Same(a, b)
      real(dp), intent(in) :: a(3), b(3)
      real(dp) :: room(3)
      room = band_alike
      if (allocated(elements%loss)) &
        room(2:) = band_alike + band_dispersion*maxval(abs(elements%loss(:, e) - elements%loss(:, other)))
      Same = all(abs(a - b) <= room*max(a, b))
    end function Same

  end function Neighbours

  !> Weights of points at (3, points) for the value at x, and for the derivatives along x, y, z [1/m], (points, 0:3). k: the largest
  !> wavenumber [rad/m]. size: an element's [m]. image: of points, where the field has the opposite value (BandPoints). side: the
  !> derivative across it is known beside the points, and serves that along its normal at x.
  pure subroutine BandWeights(at, x, k, size_of_element, w, image, side)
    real(dp), intent(in) :: at(:, :), x(3), k, size_of_element
    real(dp), allocatable, intent(out) :: w(:, :)
    real(dp), intent(in), optional :: image(:, :)
    type(band_side_t), intent(inout), optional :: side
    real(dp), allocatable :: a(:, :), all(:, :), beside(:), v(:)
    real(dp) :: wavenumber, r(3)
    integer :: i, j, n
    n = size(at, 2)
    wavenumber = max(k, 2*pi/(longest*size_of_element))
    allocate (a(n, n), w(n, 0:3))
    if (present(side)) allocate (side%w(n, 3), beside(n))
    do j = 1, n
      do i = j, n
        a(i, j) = Covariance(wavenumber*norm2(at(:, i) - at(:, j)))
        if (present(image)) a(i, j) = a(i, j) - Covariance(wavenumber*norm2(at(:, i) - image(:, j)))
      end do
      a(j, j) = a(j, j) + noise
      w(j, :) = ToPlace(at(:, j), x)
      if (present(image)) w(j, :) = w(j, :) - ToPlace(image(:, j), x)
      if (.not. present(side)) cycle
      side%w(j, :) = Slopes(at(:, j), side%x)
      beside(j) = dot_product(side%w(j, :), side%normal)
    end do
    if (.not. present(side)) then
      call SolvePositive(a, w)
      return
    end if
    allocate (all(n, 7))
    all(:, :4) = w
    all(:, 5:) = side%w
    call SolvePositive(a, all)
    w(:, :) = all(:, :4)
    side%w = all(:, 5:)
    ! The derivative across the side is a further value: by Schur's complement its weight is what the points leave of its covariance
    ! with the derivative along the normal at x, over what they leave of its variance.
    v = matmul(side%w, side%normal)
    r = wavenumber*(x - side%x)
    side%across = wavenumber**2*(Slope(norm2(r)) + Bend(norm2(r))*dot_product(r, side%normal)**2)
    side%across = (side%across - dot_product(matmul(beside, w(:, 1:)), side%normal))/ &
                  (wavenumber**2*Slope(0.0_dp) - dot_product(v, beside))
    do j = 1, 3
      w(:, j) = w(:, j) - side%normal(j)*side%across*v
    end do

  contains

    !> Covariances of the field at a point with its value and derivatives at a place.
    pure function ToPlace(point, place) result(c)
      real(dp), intent(in) :: point(3), place(3)
      real(dp) :: c(0:3)
      c = [Covariance(wavenumber*norm2(point - place)), Slopes(point, place)]
    end function ToPlace

    pure function Slopes(point, place) result(c)
      real(dp), intent(in) :: point(3), place(3)
      real(dp) :: c(3)
      c = Slope(wavenumber*norm2(point - place))*wavenumber**2*(point - place)
    end function Slopes
  end subroutine BandWeights

  !> 3 (sin z - z cos z)/z**3.
  pure real(dp) function Covariance(z) result(c)
    real(dp), intent(in) :: z
    if (z < 0.03_dp) then
      c = 1 - z**2/10 + z**4/280
    else
      c = 3*(sin(z) - z*cos(z))/z**3
    end if
  end function Covariance

  !> Minus its derivative, over z.
  pure real(dp) function Slope(z) result(s)
    real(dp), intent(in) :: z
    if (z < 0.1_dp) then
      s = 0.2_dp - z**2/70 + z**4/2520
    else
      s = 3*((3 - z**2)*sin(z) - 3*z*cos(z))/z**5
    end if
  end function Slope

  !> The derivative of that, over z.
  pure real(dp) function Bend(z) result(b)
    real(dp), intent(in) :: z
    if (z < 0.1_dp) then
      b = -1/35.0_dp + z**2/630
    else
      b = 3*(z**2*(sin(z) - z*cos(z)) - 5*((3 - z**2)*sin(z) - 3*z*cos(z)))/z**7
    end if
  end function Bend

end module band_weights_m
