!> From the samples of a model to the nodes of a grid, axis by axis.
!>
!> A sample stands for the cell of one spacing around it, a node likewise. Where the grid is coarser than the model, a node takes
!> the mean over the cells it overlaps, weighted by the overlap; where it is finer, the line between the two nearest samples, or, by
!> `cell`, the mean of what such lines are over the cell; where both agree, the sample itself. What is averaged is one of these:
!>   cell       compressibility 1/(rho v²) at the nodes, and density at each velocity point: as it is along the difference that
!>              drives the velocity, where masses add, and then its reciprocal across, where flows do (Backus 1962, for fluids;
!>              Moczo et al. 2002, Bulletin of the Seismological Society of America 92, 3042-3066). The mean is by the kernel of
!>              six points of Keys (1981, IEEE Transactions on Acoustics, Speech, and Signal Processing 29, 1153-1160), three
!>              spacings to each side, which keeps what grows with the second and third power of the distance: a contact anywhere
!>              between nodes becomes a step whose wavenumbers are right as far as a wave of some points per wavelength sees them
!>              (Mittet 2017, Geophysics 82, T335-T355, on steps of limited band). Reflections are a third less wrong than with
!>              his kernel of four points, which made half the error of the mean over a cell. At a step the kernel overshoots
!>              by 5.6 % of it; that is cut where it would make a cell stiffer or lighter than 1/`least_part` of its samples, so
!>              that the time step need not shrink. Where both spacings agree this is the same as `average`.
!> or, with density at the nodes as it is, velocities
!>   average    as slowness 1/v, which keeps the travel time of a ray;
!>   effective  such that compressibility 1/(rho v²) is averaged, which keeps what a wave much longer than the layers sees (Backus
!>              1962, Journal of Geophysical Research 67, 4427-4440, for fluids). Never faster than `average`, and slower than the
!>              slowest sample where densities differ much. For models of layers thinner than the grid and contacts between nodes.
module regrid_m
  use kinds_m, only: dp, sp
  implicit none
  private
  public :: axis_t, BetweenSamples, PlacesBetween, RegridAxis, Regrid, RegridEffective, RegridModulus, RegridAlongX, RegridAlongZ

  real(dp), parameter :: least_part = 0.7_dp      !< of the least sample: a mean by weights of both signs is not below

  integer, parameter :: pieces = 3                !< of the kernel, each a spacing wide, to each side
  real(dp), parameter :: kernel(0:3, 0:2) = reshape([1.0_dp, 0.0_dp, -7/3.0_dp, 4/3.0_dp, 0.0_dp, -2/3.0_dp, 1.25_dp, -7/12.0_dp, &
                                                     0.0_dp, 1/12.0_dp, -1/6.0_dp, 1/12.0_dp], [4, 3])   !< powers of s - j
  real(dp), parameter :: begin(0:3) = [0.0_dp, 5/9.0_dp, 71/144.0_dp, 0.5_dp]           !< its integral from 0 to j
  real(dp), parameter :: twice(0:3) = [0.0_dp, 67/180.0_dp, 107/120.0_dp, 25/18.0_dp]   !< and the integral of that

  !> Node i is the sum of w(1:count(i), i) times the samples first(i), first(i)+1, ...; the weights of a node sum to 1.
  type :: axis_t
    integer, allocatable :: first(:), count(:)   !< (n)
    real(dp), allocatable :: w(:, :)              !< (largest count, n)
  end type axis_t

  !> Rows of samples, brought to the nodes' places along x; one row serves several rows of nodes.
  type :: rows_t
    real(dp), allocatable :: along(:, :)          !< (nodes, as many rows as a node needs at most); row n at modulo(n, ...)
    real(dp), allocatable :: least(:, :)          !< the smallest of the samples there, where it is asked for
    integer :: made = 0                           !< the last row there
  end type rows_t

contains

  !> Weights for n nodes, number `start`, start+1, ... (from 0) of the lattice shift + i*d_out, from n_in samples at
  !> 0, d_in, 2 d_in, ... [m]. Beyond the outermost samples the model goes on unchanged. rule: 'cell', 'lines' (the same
  !> where lines join the samples), 'average', 'effective' or 'nearest'.
  !> The weights of a node depend on its number alone, so a piece of the lattice equals the same piece of the whole.
  subroutine RegridAxis(n_in, d_in, start, n, d_out, shift, rule, axis)
    integer, intent(in) :: n_in, start, n
    real(dp), intent(in) :: d_in, d_out, shift
    character(*), intent(in) :: rule
    type(axis_t), intent(out) :: axis
    real(dp), parameter :: tiny_part = 1.0e-9_dp   ! of a spacing: closer than this is the same place
    real(dp) :: x
    integer :: i, widest
    widest = 2
    if (rule /= 'nearest' .and. d_out > d_in*(1 + tiny_part)) widest = int(d_out/d_in) + 3
    if (rule == 'cell' .and. widest > 2) widest = int(2*pieces*d_out/d_in) + 3
    if (rule == 'lines') widest = int(2*pieces*d_out/d_in) + 4
    allocate (axis%first(n), axis%count(n), axis%w(widest, n))
    axis%w = 0
    do i = 1, n
      x = (shift + (start + i - 1)*d_out)/d_in
      if (abs(x - nint(x)) < tiny_part*max(1.0_dp, abs(x))) x = nint(x)
      if (rule == 'nearest') then
        call One(nint(x))
      else if (rule == 'lines') then
        call KeysOfLines(x, d_out/d_in)
      else if (widest > 2 .and. rule == 'cell') then
        call Keys(x, d_out/d_in)
      else if (widest > 2) then
        call Overlap(x, d_out/d_in)
      else
        call Line(x)
      end if
    end do

  contains

    subroutine One(j)
      integer, intent(in) :: j
      axis%first(i) = min(max(j, 0), n_in - 1) + 1
      axis%count(i) = 1
      axis%w(1, i) = 1
    end subroutine One

    subroutine Line(x)
      real(dp), intent(in) :: x
      integer :: j
      j = floor(x)
      if (x == j .or. j < 0 .or. j >= n_in - 1) then
        call One(j)
      else
        axis%first(i) = j + 1
        axis%count(i) = 2
        axis%w(:2, i) = [1 - (x - j), x - j]
      end if
    end subroutine Line

    !> All in cells of the model: its cell j reaches from j - 1/2 to j + 1/2, the node's from x - width/2 to x + width/2.
    subroutine Overlap(x, width)
      real(dp), intent(in) :: x, width
      real(dp) :: lo, hi, part
      integer :: j
      lo = max(x - width/2, -0.5_dp)
      hi = min(x + width/2, n_in - 0.5_dp)
      axis%first(i) = min(max(floor(lo + 0.5_dp), 0), n_in - 1) + 1
      axis%count(i) = 0
      do j = axis%first(i) - 1, n_in - 1
        part = min(hi, j + 0.5_dp) - max(lo, j - 0.5_dp)
        if (part <= tiny_part) exit
        axis%count(i) = axis%count(i) + 1
        axis%w(axis%count(i), i) = part
      end do
      if (axis%count(i) == 0) then
        call One(nint(x))
      else
        axis%w(:, i) = axis%w(:, i)/sum(axis%w(:axis%count(i), i))
      end if
    end subroutine Overlap

    !> Each cell of the model counts what the kernel has over it; those beyond the model are the outermost ones.
    subroutine Keys(x, width)
      real(dp), intent(in) :: x, width
      real(dp) :: below, above
      integer :: j, at, last
      axis%first(i) = min(max(nint(x - pieces*width), 0), n_in - 1) + 1
      last = min(max(nint(x + pieces*width), 0), n_in - 1)
      axis%count(i) = last - axis%first(i) + 2
      below = -0.5_dp
      do at = 1, axis%count(i)
        j = axis%first(i) + at - 2
        above = 0.5_dp
        if (j < last) above = KeysBelow((j + 0.5_dp - x)/width)
        axis%w(at, i) = above - below
        below = above
      end do
    end subroutine Keys

    !> The same where lines join the samples: each counts what the kernel has over its hat, those at the ends what lies beyond, too.
    subroutine KeysOfLines(x, width)
      real(dp), intent(in) :: x, width
      real(dp) :: below, above
      integer :: j, at, last
      axis%first(i) = min(max(floor(x - pieces*width), 0), n_in - 1) + 1
      last = min(max(ceiling(x + pieces*width), 0), n_in - 1)
      axis%count(i) = last - axis%first(i) + 2
      below = -0.5_dp
      do at = 1, axis%count(i)
        j = axis%first(i) + at - 2
        above = 0.5_dp
        if (j < last) above = (KeysTwice((j + 1 - x)/width) - KeysTwice((j - x)/width))*width
        axis%w(at, i) = above - below
        below = above
      end do
    end subroutine KeysOfLines

  end subroutine RegridAxis

  !> The integral of Keys' kernel from 0 to s.
  pure real(dp) function KeysBelow(s) result(total)
    real(dp), intent(in) :: s
    real(dp) :: x
    integer :: j
    total = 0.5_dp
    if (abs(s) < pieces) then
      j = int(abs(s))
      x = abs(s) - j
      total = begin(j) + x*(kernel(0, j) + x*(kernel(1, j)/2 + x*(kernel(2, j)/3 + x*kernel(3, j)/4)))
    end if
    total = sign(total, s)
  end function KeysBelow

  !> The integral of KeysBelow from 0 to s.
  pure real(dp) function KeysTwice(s) result(total)
    real(dp), intent(in) :: s
    real(dp) :: x
    integer :: j
    if (abs(s) < pieces) then
      j = int(abs(s))
      x = abs(s) - j
      total = twice(j) + x*(begin(j) + x*(kernel(0, j)/2 + x*(kernel(1, j)/6 + x*(kernel(2, j)/12 + x*kernel(3, j)/20))))
    else
      total = twice(pieces) + 0.5_dp*(abs(s) - pieces)
    end if
  end function KeysTwice

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
    type(axis_t), intent(in) :: x, z
    real(sp), intent(out) :: modulus(:, :)         !< (size(x%first), size(z%first))
    type(rows_t) :: rows
    real(dp) :: mean(size(modulus, 1))
    integer :: k
    allocate (rows%least(size(modulus, 1), 0:size(z%w, 1) - 1))
    do k = 1, size(modulus, 2)
      call NodeRow(vp, x, z, k, .true., rows, mean, rho)
      modulus(:, k) = real(1/max(mean, least_part*LeastOf(rows, z, k)), sp)
    end do
  end subroutine RegridModulus

  !> The mean of a along x, then, across, that of its reciprocal.
  subroutine RegridAlongX(a, x, z, b)
    real(sp), intent(in) :: a(:, :)
    type(axis_t), intent(in) :: x, z
    real(sp), intent(out) :: b(:, :)               !< (size(x%first), size(z%first))
    type(rows_t) :: rows
    real(dp) :: mean(size(b, 1)), least(size(b, 1)), over(size(b, 1), 0:size(z%w, 1) - 1)
    integer :: k, m, n, made
    allocate (rows%least(size(b, 1), 0:size(z%w, 1) - 1))
    do k = 1, size(b, 2)
      made = rows%made
      call NodeRow(a, x, z, k, .false., rows, mean)
      mean = 0
      least = huge(least)
      do m = z%first(k), z%first(k) + z%count(k) - 1
        n = modulo(m, size(z%w, 1))
        if (m > made) over(:, n) = 1/max(rows%along(:, n), least_part*rows%least(:, n))
        mean = mean + z%w(m - z%first(k) + 1, k)*over(:, n)
        least = min(least, over(:, n))
      end do
      b(:, k) = real(1/max(mean, least_part*least), sp)
    end do
  end subroutine RegridAlongX

  !> The mean of a along z, then, across, that of its reciprocal.
  subroutine RegridAlongZ(a, x, z, b)
    real(sp), intent(in) :: a(:, :)
    type(axis_t), intent(in) :: x, z
    real(sp), intent(out) :: b(:, :)               !< (size(x%first), size(z%first))
    real(dp), allocatable :: over(:)
    real(sp), allocatable :: least(:)
    integer :: first, last, k, m, i, j
    first = minval(x%first)
    last = maxval(x%first + x%count - 1)
    allocate (over(first:last), least(first:last))
    do k = 1, size(b, 2)
      over = 0
      least = huge(least)
      do m = 1, z%count(k)
        j = z%first(k) + m - 1
        over = over + z%w(m, k)*a(first:last, j)
        least = min(least, a(first:last, j))
      end do
      over = 1/max(over, least_part*least)
      do i = 1, size(b, 1)
        associate (f => x%first(i), n => x%count(i))
          b(i, k) = real(1/max(dot_product(x%w(:n, i), over(f:f + n - 1)), least_part*minval(over(f:f + n - 1))), sp)
        end associate
      end do
    end do
  end subroutine RegridAlongZ

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
