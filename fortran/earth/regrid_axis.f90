!> Places of nodes along an axis of samples, and what each sample counts there.
!>
!> A sample stands for the cell of one spacing around it, a node likewise. Where the grid is coarser than the model, a node takes
!> the mean over the cells it overlaps, weighted by the overlap or by a kernel of eight points, four spacings to each side; where it
!> is finer, the line between the two nearest samples, or the mean of what such lines are under that kernel; where both agree, the
!> sample itself.
module regrid_axis_m
  use kinds_m, only: dp
  implicit none
  private
  public :: axis_t, RegridAxis, RegridShare

  !> The kernel is a sum of cubic B-splines, half a spacing apart. Their weights but the first two, which make its integral 1 and
  !> its second moment 0, are fitted to what contacts reflect and let through (trials.md of the 2D solver).
  integer, parameter, public :: kernel_reach = 4  !< spacings to each side
  integer, parameter :: pieces = 2*kernel_reach, splines = pieces - 2
  real(dp), parameter :: fitted(2:splines) = [-0.0295_dp, -0.1792_dp, 0.0438_dp, 0.0585_dp, -0.0271_dp]
  real(dp), parameter :: spline_1 = -1/6.0_dp - sum(fitted*[4, 9, 16, 25, 36])
  real(dp), parameter :: spline_0 = 1 - 2*(spline_1 + sum(fitted))
  real(dp), parameter :: spline(-1:pieces + 1) = [spline_1, spline_0, spline_1, fitted, 0.0_dp, 0.0_dp, 0.0_dp]
  integer :: i, j
  real(dp), parameter :: kernel(0:3, 0:pieces - 1) = reshape( &        !< powers of y - j, y = 2 s half spacings from its middle
    [((spline(j - 1) + 4*spline(j) + spline(j + 1))/6, (spline(j + 1) - spline(j - 1))/2, &
      (spline(j - 1) - 2*spline(j) + spline(j + 1))/2, (spline(j + 2) - spline(j - 1) + 3*(spline(j) - spline(j + 1)))/6, &
      j=0, pieces - 1)], [4, pieces])
  real(dp), parameter :: before(0:pieces, 0:pieces - 1) = &            !< 1 where a piece is before j
    reshape([((merge(1.0_dp, 0.0_dp, i < j), j=0, pieces), i=0, pieces - 1)], [pieces + 1, pieces])
  real(dp), parameter :: piece(0:pieces - 1) = kernel(0, :) + kernel(1, :)/2 + kernel(2, :)/3 + kernel(3, :)/4
  real(dp), parameter :: begin(0:pieces) = matmul(before, piece)          !< its integral from 0 to j
  real(dp), parameter :: rise(0:pieces - 1) = kernel(0, :)/2 + kernel(1, :)/6 + kernel(2, :)/12 + kernel(3, :)/20
  real(dp), parameter :: twice(0:pieces) = matmul(before, begin(:pieces - 1) + rise)   !< and the integral of that

  !> Node i is the sum of w(1:count(i), i) times the samples first(i), first(i)+1, ...; the weights of a node sum to 1.
  type :: axis_t
    integer, allocatable :: first(:), count(:)   !< (n)
    real(dp), allocatable :: w(:, :)              !< (largest count, n)
  end type axis_t

contains

  !> Weights for n nodes, number `start`, start+1, ... (from 0) of the lattice shift + i*d_out, from n_in samples at
  !> 0, d_in, 2 d_in, ... [m]. Beyond the outermost samples the model goes on unchanged. rule: 'cell', 'lines' (the same
  !> where lines join the samples), 'average', 'effective' or 'nearest'. `mirrored`: before the first sample, where a free surface
  !> is, the model goes on as its own image for means by the kernel, as waves there do.
  !> The weights of a node depend on its number alone, so a piece of the lattice equals the same piece of the whole.
  subroutine RegridAxis(n_in, d_in, start, n, d_out, shift, rule, axis, mirrored)
    integer, intent(in) :: n_in, start, n
    real(dp), intent(in) :: d_in, d_out, shift
    character(*), intent(in) :: rule
    type(axis_t), intent(out) :: axis
    logical, intent(in), optional :: mirrored
    real(dp), parameter :: tiny_part = 1.0e-9_dp   ! of a spacing: closer than this is the same place
    real(dp) :: x
    integer :: i, widest, lowest
    lowest = 0
    if (present(mirrored)) lowest = merge(1 - n_in, 0, mirrored)
    widest = 2
    if (rule /= 'nearest' .and. d_out > d_in*(1 + tiny_part)) widest = int(d_out/d_in) + 3
    if (rule == 'cell' .and. widest > 2) widest = int(2*kernel_reach*d_out/d_in) + 3
    if (rule == 'lines') widest = int(2*kernel_reach*d_out/d_in) + 4
    allocate (axis%first(n), axis%count(n), axis%w(widest, n))
    axis%w = 0
    do i = 1, n
      x = (shift + (start + i - 1)*d_out)/d_in
      if (abs(x - nint(x)) < tiny_part*max(1.0_dp, abs(x))) x = nint(x)
      if (rule == 'nearest') then
        call One(nint(x))
      else if (rule == 'lines' .or. (widest > 2 .and. rule == 'cell')) then
        call Wide(x, d_out/d_in)
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

    !> Each sample counts what the kernel has over its cell or, where lines join the samples, over its hat, and what it has over its
    !> image; the outermost ones count what lies beyond the model, too.
    subroutine Wide(x, width)
      real(dp), intent(in) :: x, width
      real(dp) :: below, above
      integer :: low, high, j
      if (rule == 'lines') then
        low = floor(x - kernel_reach*width)
        high = ceiling(x + kernel_reach*width)
      else
        low = nint(x - kernel_reach*width)
        high = nint(x + kernel_reach*width)
      end if
      low = min(max(low, lowest), n_in - 1)
      high = min(max(high, 0), n_in - 1)
      axis%first(i) = max(low, 0) + 1
      axis%count(i) = max(high, -low) + 2 - axis%first(i)
      below = -0.5_dp
      do j = low, high
        above = 0.5_dp
        if (j < high) above = UpTo(j, x, width)
        associate (w => axis%w(abs(j) + 2 - axis%first(i), i))
          w = w + above - below
        end associate
        below = above
      end do
    end subroutine Wide

    !> The share of the kernel around x that the samples up to j have, less one half.
    real(dp) function UpTo(j, x, width)
      integer, intent(in) :: j
      real(dp), intent(in) :: x, width
      if (rule == 'lines') then
        UpTo = (KernelTwice((j + 1 - x)/width) - KernelTwice((j - x)/width))*width
      else
        UpTo = KernelBelow((j + 0.5_dp - x)/width)
      end if
    end function UpTo

  end subroutine RegridAxis

  !> The part that a sample of spacing d_in has of a node of spacing d_out, by the kernel, `away` from it [m]; `lines` join samples.
  pure real(dp) function RegridShare(d_in, d_out, away, lines) result(share)
    real(dp), intent(in) :: d_in, d_out, away
    logical, intent(in) :: lines
    if (lines) then
      share = (KernelTwice((away + d_in)/d_out) - 2*KernelTwice(away/d_out) + KernelTwice((away - d_in)/d_out))*d_out/d_in
    else
      share = KernelBelow((away + d_in/2)/d_out) - KernelBelow((away - d_in/2)/d_out)
    end if
  end function RegridShare

  !> The integral of the kernel from 0 to s spacings.
  pure real(dp) function KernelBelow(s) result(total)
    real(dp), intent(in) :: s
    real(dp) :: y
    integer :: j
    total = 0.5_dp
    if (abs(s) < kernel_reach) then
      j = int(2*abs(s))
      y = 2*abs(s) - j
      total = begin(j) + y*(kernel(0, j) + y*(kernel(1, j)/2 + y*(kernel(2, j)/3 + y*kernel(3, j)/4)))
    end if
    total = sign(total, s)
  end function KernelBelow

  !> The integral of KernelBelow from 0 to s.
  pure real(dp) function KernelTwice(s) result(total)
    real(dp), intent(in) :: s
    real(dp) :: y
    integer :: j
    if (abs(s) < kernel_reach) then
      j = int(2*abs(s))
      y = 2*abs(s) - j
      total = twice(j) + y*(begin(j) + y*(kernel(0, j)/2 + y*(kernel(1, j)/6 + y*(kernel(2, j)/12 + y*kernel(3, j)/20))))
    else
      total = twice(pieces) + abs(s) - kernel_reach
    end if
    total = total/2
  end function KernelTwice

end module regrid_axis_m
