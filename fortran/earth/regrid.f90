!> From the samples of a model to the nodes of a grid by weights along both axes (regrid_axis.f90). What is averaged:
!>   cell       compressibility 1/(rho v²) at the nodes, and at each velocity point a density of its own: where it moves across
!>              contacts masses add, along them flows do (Backus 1962, for fluids; Schoenberg & Sen 1983, Journal of the Acoustical
!>              Society of America 73, 61-67); RegridDensity tells how contacts that dip have both. The mean is by a kernel which
!>              keeps what grows with the second and third power of the distance: a contact anywhere between nodes becomes a
!>              step whose wavenumbers are right as far as a wave of some points per wavelength sees them (Mittet 2017,
!>              Geophysics 82, T335-T355, on steps of limited band). Products of field and medium alias on the grid, and lack
!>              what lies beyond its Nyquist wavenumber: the kernel is fitted to make up for both. At a step it overshoots by
!>              9.6 % of it; where that would make a cell stiffer or lighter than 1/`least_part` of its samples it is moved to
!>              cells around (Raise), so that the time step need not shrink. Where both spacings agree this is the same as
!>              `average`.
!> or, with density at the nodes as it is, velocities
!>   average    as slowness 1/v, which keeps the travel time of a ray;
!>   effective  such that compressibility 1/(rho v²) is averaged, which keeps what a wave much longer than the layers sees (Backus
!>              1962, Journal of Geophysical Research 67, 4427-4440, for fluids). Never faster than `average`, and slower than the
!>              slowest sample where densities differ much. For models of layers thinner than the grid and contacts between nodes.
module regrid_m
  use kinds_m, only: dp, sp
  use regrid_axis_m, only: axis_t
  implicit none
  private
  public :: BetweenSamples, PlacesBetween, Regrid, RegridDensity, RegridEffective, RegridModulus

  integer, parameter, public :: ring = 3          !< rows of nodes around its own that a mean looks at

  real(dp), parameter, public :: least_part = 0.75_dp     !< of the least sample: a mean by weights of both signs is not below
  real(dp), parameter, public :: given(-2:2) = [1.0_dp, -4.0_dp, 6.0_dp, -4.0_dp, 1.0_dp]/6   !< to nodes around, of a lack there
  real(dp), parameter :: mild = 0.1_dp            !< of RegridDensity: keeps w within bounds near 45 degrees

  !> Rows of samples, brought to the nodes' places along x; one row serves several rows of nodes.
  type :: rows_t
    real(dp), allocatable :: along(:, :)          !< (nodes, as many rows as a node needs at most); row n at modulo(n, ...)
    real(dp), allocatable :: least(:, :)          !< the smallest of the samples there, where it is asked for
    integer :: made = 0                           !< the last row there
  end type rows_t

contains

  !> So many places for each sample of spacing `own` show to a grid of spacing d what lies between samples: what a wave sees is no
  !> line between them. With 4 of them traces are two to five times as far from those of a fine grid (t206). 1 where the grid is not
  !> finer.
  pure integer function PlacesBetween(own, d) result(places)
    real(dp), intent(in) :: own, d
    places = merge(8, 1, d < own*(1 - 1.0e-9_dp))
  end function PlacesBetween

  !> The earth between the samples a(:, :): b, its numbers low(1) .. high(1), low(2) .. high(2) on the lattice that has more(1:2)
  !> places for each sample, the first of which is number 1. Lines along x, then along z, of a or, `slowness`, of 1/a.
  subroutine BetweenSamples(a, slowness, more, low, high, b)
    real(sp), intent(in) :: a(:, :)
    logical, intent(in) :: slowness
    integer, intent(in) :: more(2), low(2), high(2)
    real(sp), allocatable, intent(inout) :: b(:, :)
    real(dp), allocatable :: over(:), line(:)
    real(dp) :: part
    integer :: j0, j1, k, n, p
    if (allocated(b)) deallocate (b)
    allocate (b(high(1) - low(1) + 1, high(2) - low(2) + 1))
    j0 = (low(1) - 1)/more(1) + 1
    j1 = (high(1) - 1)/more(1) + 1
    allocate (over(j0:j1 + 1), line((j0 - 1)*more(1) + 1:j1*more(1)))
    do k = low(2), high(2)
      n = (k - 1)/more(2) + 1
      part = real(modulo(k - 1, more(2)), dp)/more(2)
      over(:j1) = Numbers(n)
      if (part > 0) over(:j1) = (1 - part)*over(:j1) + part*Numbers(n + 1)
      over(j1 + 1) = over(j1)
      if (j1 < size(a, 1)) over(j1 + 1) = Number(j1 + 1, n)
      if (j1 < size(a, 1) .and. part > 0) over(j1 + 1) = (1 - part)*over(j1 + 1) + part*Number(j1 + 1, n + 1)
      do p = 0, more(1) - 1
        part = real(p, dp)/more(1)
        line(lbound(line, 1) + p::more(1)) = (1 - part)*over(:j1) + part*over(j0 + 1:)
      end do
      if (slowness) line = 1/line
      b(:, k - low(2) + 1) = real(line(low(1):high(1)), sp)
    end do

  contains

    pure function Numbers(n)
      integer, intent(in) :: n
      real(dp) :: Numbers(j1 - j0 + 1)
      Numbers = a(j0:j1, n)
      if (slowness) Numbers = 1/Numbers
    end function Numbers

    pure real(dp) function Number(j, n)
      integer, intent(in) :: j, n
      Number = a(j, n)
      if (slowness) Number = 1/Number
    end function Number

  end subroutine BetweenSamples

  !> b(i, k) from the samples a(:, :) with the weights of both axes; `slowness`: the mean is taken of 1/a.
  subroutine Regrid(a, x, z, slowness, b)
    real(sp), intent(in) :: a(:, :)
    type(axis_t), intent(in) :: x, z
    logical, intent(in) :: slowness
    real(sp), intent(out) :: b(:, :)               !< (size(x%first), size(z%first))
    type(rows_t) :: rows
    real(dp) :: mean(size(b, 1))
    integer :: i, k
    do k = 1, size(b, 2)
      call NodeRow(a, x, z, k, slowness, rows, mean)
      do i = 1, size(b, 1)
        if (x%count(i) == 1 .and. z%count(k) == 1) then
          b(i, k) = a(x%first(i), z%first(k))
        else
          b(i, k) = real(merge(1/mean(i), mean(i), slowness), sp)
        end if
      end do
    end do
  end subroutine Regrid

  !> Velocity v(i, k) by the mean of compressibility: 1/(r v²) = mean of 1/(rho vp²), r(i, k) the density already brought there.
  !> A node that is one sample keeps its velocity.
  subroutine RegridEffective(vp, rho, x, z, r, v)
    real(sp), intent(in) :: vp(:, :), rho(:, :)
    type(axis_t), intent(in) :: x, z
    real(sp), intent(in) :: r(:, :)                !< (size(x%first), size(z%first))
    real(sp), intent(out) :: v(:, :)               !< the same
    type(rows_t) :: rows
    real(dp) :: mean(size(v, 1))
    integer :: i, k
    do k = 1, size(v, 2)
      call NodeRow(vp, x, z, k, .true., rows, mean, rho)
      do i = 1, size(v, 1)
        if (x%count(i) == 1 .and. z%count(k) == 1) then
          v(i, k) = vp(x%first(i), z%first(k))
        else
          v(i, k) = real(1/sqrt(r(i, k)*mean(i)), sp)
        end if
      end do
    end do
  end subroutine RegridEffective

  !> Modulus K(i, k): 1/K = mean of 1/(rho vp²).
  subroutine RegridModulus(vp, rho, x, z, modulus)
    real(sp), intent(in) :: vp(:, :), rho(:, :)
    type(axis_t), intent(in) :: x, z               !< of `ring` nodes more to each side
    real(sp), intent(out) :: modulus(:, :)         !< (size(x%first) - 2 ring, size(z%first) - 2 ring)
    type(rows_t) :: rows
    real(dp), allocatable, dimension(:, :) :: mean, least
    integer :: k
    allocate (mean(size(x%first), size(z%first)), least(size(x%first), size(z%first)))
    allocate (rows%least(size(x%first), 0:size(z%w, 1) - 1))
    do k = 1, size(z%first)
      call NodeRow(vp, x, z, k, .true., rows, mean(:, k), rho)
      least(:, k) = least_part*LeastOf(rows, z, k)
    end do
    call Raise(mean, least)
    modulus = real(1/mean(ring + 1:size(x%first) - ring, ring + 1:size(z%first) - ring), sp)
  end subroutine RegridModulus

  !> Density at the points of vx (axis 1) or vz (2), so that 1/rho is that of a contact in the direction of the velocity.
  !>
  !> Across a contact 1/rho is 1/<rho>, along it <1/rho>, D more. With s = sin² of its dip and c = cos of twice the dip, seen from
  !> the velocity's axis, 1/<rho> + w D for this velocity and <1/rho> - w D for the other make both wrong by D (s + c w): what is
  !> reflected is right at any angle with w = -s/c, which has no bounds at 45 degrees, where none is right. So w makes
  !> (s + c w)² + mild (w - s)² least, which is 1/2 there, as it must be. The dip is that of slopes of <rho> around, so a thin layer
  !> has one too, and in rock without a direction all points have 1/2.
  subroutine RegridDensity(a, x, z, d, axis, b)
    real(sp), intent(in) :: a(:, :)
    type(axis_t), intent(in) :: x, z               !< of `ring` nodes more to each side
    real(dp), intent(in) :: d(2)                   !< spacings of the nodes, along x, z [m]
    integer, intent(in) :: axis
    real(sp), intent(out) :: b(:, :)               !< (size(x%first) - 2 ring, size(z%first) - 2 ring)
    type(rows_t) :: masses, flows
    real(dp), allocatable, dimension(:, :) :: rho, flow, most, least, along, across
    real(dp) :: s, c, w, mean
    integer :: i, k, n(2)
    n = [size(x%first), size(z%first)]
    allocate (rho(n(1), n(2)), flow(n(1), n(2)), most(n(1), n(2)), least(n(1), n(2)))
    allocate (masses%least(n(1), 0:size(z%w, 1) - 1), flows%least(n(1), 0:size(z%w, 1) - 1))
    do k = 1, n(2)
      call NodeRow(a, x, z, k, .false., masses, rho(:, k))
      call NodeRow(a, x, z, k, .true., flows, flow(:, k))
      most(:, k) = 1/(least_part*LeastOf(masses, z, k))
      least(:, k) = least_part*LeastOf(flows, z, k)
    end do
    along = Slopes(rho, d, axis)
    across = Slopes(rho, d, 3 - axis)
    call Raise(rho, 1/most)
    call Raise(flow, least)
    do k = ring + 1, n(2) - ring
      do i = ring + 1, n(1) - ring
        s = across(i, k)/max(across(i, k) + along(i, k), tiny(s))
        c = 1 - 2*s
        w = s*(mild - c)/(mild + c**2)
        mean = (1 - w)/rho(i, k) + w*flow(i, k)
        b(i - ring, k - ring) = real(1/min(max(mean, least(i, k)), most(i, k)), sp)
      end do
    end do
  end subroutine RegridDensity

  !> Raises means to their least. What is added to one node is taken from those around it along an axis such that no moment below
  !> the fourth is another than before, so a contact stays where it is and reflects what it did; axes have shares as means bend
  !> along them, all of it that across a flat contact. Nodes in the ring are not to be used then.
  pure subroutine Raise(mean, least)
    real(dp), intent(inout) :: mean(:, :)
    real(dp), intent(in) :: least(:, :)
    real(dp), allocatable :: more(:, :)
    real(dp) :: x, z
    integer :: i, k
    if (all(mean >= least)) return
    allocate (more(0:size(mean, 1) + 1, 0:size(mean, 2) + 1), source=0.0_dp)
    do k = 2, size(mean, 2) - 1
      do i = 2, size(mean, 1) - 1
        if (mean(i, k) >= least(i, k)) cycle
        x = (mean(i - 1, k) - 2*mean(i, k) + mean(i + 1, k))**2
        z = (mean(i, k - 1) - 2*mean(i, k) + mean(i, k + 1))**2
        x = x/max(x + z, tiny(x))
        more(i - 2:i + 2, k) = more(i - 2:i + 2, k) + x*given*(least(i, k) - mean(i, k))
        more(i, k - 2:k + 2) = more(i, k - 2:k + 2) + (1 - x)*given*(least(i, k) - mean(i, k))
      end do
    end do
    mean = max(mean + more(1:size(mean, 1), 1:size(mean, 2)), least)
  end subroutine Raise

  !> The mean square of slopes along an axis, over the cells around each node that is not in the ring.
  pure function Slopes(rho, d, axis) result(mean)
    real(dp), intent(in) :: rho(:, :), d(2)
    integer, intent(in) :: axis
    real(dp) :: mean(size(rho, 1), size(rho, 2))
    real(dp) :: square(size(rho, 1), size(rho, 2))
    integer :: m, n
    m = size(rho, 1)
    n = size(rho, 2)
    square = 0
    if (axis == 1) square(2:m - 1, :) = ((rho(3:, :) - rho(:m - 2, :))/d(1))**2
    if (axis == 2) square(:, 2:n - 1) = ((rho(:, 3:) - rho(:, :n - 2))/d(2))**2
    square(2:m - 1, :) = (square(:m - 2, :) + 2*square(2:m - 1, :) + square(3:, :))/4
    mean = 0
    mean(:, 2:n - 1) = (square(:, :n - 2) + 2*square(:, 2:n - 1) + square(:, 3:))/4
  end function Slopes

  !> The smallest of the samples that a row of nodes is made of.
  pure function LeastOf(rows, z, k) result(least)
    type(rows_t), intent(in) :: rows
    type(axis_t), intent(in) :: z
    integer, intent(in) :: k
    real(dp) :: least(size(rows%least, 1))
    integer :: m
    least = rows%least(:, modulo(z%first(k), size(z%w, 1)))
    do m = 2, z%count(k)
      least = min(least, rows%least(:, modulo(z%first(k) + m - 1, size(z%w, 1))))
    end do
  end function LeastOf

  !> The mean of a, of 1/a, or of 1/(rho a²), at the nodes of row k; rows are asked for one after the other.
  subroutine NodeRow(a, x, z, k, over, rows, mean, rho)
    real(sp), intent(in) :: a(:, :)
    type(axis_t), intent(in) :: x, z
    integer, intent(in) :: k
    logical, intent(in) :: over
    type(rows_t), intent(inout) :: rows
    real(dp), intent(out) :: mean(:)
    real(sp), intent(in), optional :: rho(:, :)
    real(dp), allocatable :: row(:)
    integer :: n, first, last, places, low, high
    places = size(z%w, 1)
    if (.not. allocated(rows%along)) allocate (rows%along(size(mean), 0:places - 1))
    first = max(rows%made + 1, z%first(k))
    last = z%first(k) + z%count(k) - 1
    if (first <= last) then
      low = minval(x%first)
      high = maxval(x%first + x%count) - 1
      allocate (row(low:high))
    end if
    do n = first, last
      row = a(low:high, n)
      if (present(rho)) row = real(rho(low:high, n), dp)*row**2
      if (over) row = 1/row
      call SampleRow(row, low, x, rows%along(:, modulo(n, places)))
      if (allocated(rows%least)) call LeastRow(row, low, x, rows%least(:, modulo(n, places)))
      rows%made = n
    end do
    mean = 0
    do n = z%first(k), last
      mean = mean + z%w(n - z%first(k) + 1, k)*rows%along(:, modulo(n, places))
    end do
  end subroutine NodeRow

  !> The smallest number of each node along one row, that of samples from `low` on.
  pure subroutine LeastRow(row, low, x, least)
    integer, intent(in) :: low
    real(dp), intent(in) :: row(low:)
    type(axis_t), intent(in) :: x
    real(dp), intent(out) :: least(:)
    integer :: i
    do i = 1, size(least)
      least(i) = minval(row(x%first(i):x%first(i) + x%count(i) - 1))
    end do
  end subroutine LeastRow

  !> The mean of such numbers at each node.
  pure subroutine SampleRow(row, low, x, mean)
    integer, intent(in) :: low
    real(dp), intent(in) :: row(low:)
    type(axis_t), intent(in) :: x
    real(dp), intent(out) :: mean(:)
    real(dp) :: part
    integer :: i, m
    do i = 1, size(mean)
      part = 0
      do m = 1, x%count(i)
        part = part + x%w(m, i)*row(x%first(i) + m - 1)
      end do
      mean(i) = part
    end do
  end subroutine SampleRow

end module regrid_m
