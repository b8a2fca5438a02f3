!> A sea floor inside cells of the 3D grid. Along it water slips on rock, so a column of cells is water down to a face and rock
!> below it; where the sea floor is not that face but d of a cell deeper, what lies in between is water that the grid calls rock.
!> Waves that are long against cells see sums alone, so the four cells of water above the face stand for 4 + d cells of water and
!> the three below it for 3 - d cells of rock:
!>
!>     across the floor    the sum of rho of all, and of 1/(lambda + 2 mu) of all: motion across and pressure are common
!>     water along it      the sum of 1/rho is 4 + d of that of the water: cells are heavy, light, heavy, light
!>     rock along it       the sums of rho, of 4 mu (lambda + mu)/(lambda + 2 mu), of lambda/(lambda + 2 mu) are 3 - d of rock:
!>                         it gets lighter and softer, with a larger mu/(lambda + 2 mu)
!>
!> Waves of 5 and 10 points see more: which of these cells are so. Therefore the logarithms of what cells are multiplied by are
!> polynomials in d, K/(lambda + 2 mu), mu/(lambda + 2 mu), K of water, all else of rock. They were fitted to the exact waves that
!> a source in water and two in rock, of P and S, send to both sides, near and far along the floor, of 11 and 12 kinds of rock,
!> 10 and 5 points per shortest wavelength, half-lengths 1, 2, 4 together, and 1 by itself, each error over that of a floor on a
!> face, so that none needs a shorter time step; the farthest cell of water hardly changes its density (2026-11-30;
!> elastic3d/trials.md).
!>
!> The face is the one above the sea floor, with d up to what the fit and the time step allow, or the one below where that is
!> nearer: d ends at 0.85 where the sea floor is flat, at 0.25 elsewhere, as beside a step of the face larger ones hold waves that
!> ring for long (t622); earlier over rock that hardly differs from water for P waves or has next to no rigidity.
!>
!> Planes of cells are added from the top down. A sea floor is found where water, four cells at least, is followed by one or two
!> cells with both and then by two of rock; steeper ones and shallower water keep the kind that most of a cell is.
module sea_floor_m
  use kinds_m, only: dp, sp
  use mixed_cells_m, only: medium_parts
  implicit none
  private
  public :: sea_floor_t, FloorBegin, FloorAdd, FloorFinish, FloorCells, floor_reach

  integer, parameter :: floor_reach = 7           !< a cell depends on those so far above and below
  integer, parameter :: kept = 8                  !< planes
  integer, parameter :: water = 4, most_mixed = 2 !< cells
  real(dp), parameter :: rounding = 1.0e-6_dp     !< of a cell
  real(dp), parameter :: level = 1.0e-3_dp        !< of a cell: columns that differ by less are flat
  integer, parameter :: below = 3                 !< cells of rock that help
  real(dp), parameter :: stiffest = 0.7_dp        !< largest mu/(lambda + 2 mu)
  integer, parameter :: terms = 11                !< of the polynomials (Changed)
  !> Rows: density of cells -4 .. 2, counted from the face; lambda + 2 mu of these; mu of cells 0 to 2.
  real(dp), parameter :: fitted(terms, 2*(water + below) + below) = reshape([ &
    0.12_dp, 0.28_dp, -0.04_dp, -0.07_dp, -0.39_dp, -0.02_dp, -0.80_dp, 0.27_dp, 0.28_dp, -0.11_dp, 1.11_dp, &
    -1.19_dp, 2.23_dp, -0.05_dp, 0.97_dp, -0.85_dp, 0.25_dp, -3.98_dp, 0.47_dp, -0.58_dp, 0.23_dp, -0.81_dp, &
    1.64_dp, -0.68_dp, 0.40_dp, -1.09_dp, -1.93_dp, -1.01_dp, -0.41_dp, 1.47_dp, 0.50_dp, 0.19_dp, 5.18_dp, &
    -1.06_dp, -2.38_dp, -0.10_dp, 0.65_dp, 2.76_dp, 0.41_dp, 4.98_dp, -1.87_dp, -0.24_dp, -0.70_dp, -2.57_dp, &
    -3.02_dp, 0.29_dp, -0.76_dp, 1.76_dp, -2.05_dp, 1.87_dp, -0.26_dp, 13.32_dp, -0.81_dp, -1.00_dp, 1.93_dp, &
    1.75_dp, 2.71_dp, 0.15_dp, -3.76_dp, 0.78_dp, 1.37_dp, -1.61_dp, -11.87_dp, 1.09_dp, 1.97_dp, -2.17_dp, &
    -0.34_dp, -0.53_dp, -0.71_dp, 1.48_dp, 0.02_dp, -0.22_dp, -0.50_dp, 5.57_dp, -0.65_dp, -0.42_dp, -2.40_dp, &
    -0.01_dp, -1.60_dp, 0.87_dp, -0.22_dp, 3.45_dp, -1.42_dp, 1.10_dp, 3.01_dp, 0.11_dp, -0.23_dp, -5.43_dp, &
    0.11_dp, -1.12_dp, -0.54_dp, -0.29_dp, 0.93_dp, 1.59_dp, 0.43_dp, -2.39_dp, 0.00_dp, -1.56_dp, 1.46_dp, &
    -0.16_dp, 4.13_dp, 0.02_dp, -1.15_dp, -1.20_dp, 1.42_dp, 3.76_dp, -11.85_dp, 0.46_dp, 2.01_dp, -4.30_dp, &
    -0.93_dp, 2.11_dp, 0.68_dp, 1.57_dp, 5.11_dp, -2.60_dp, -5.00_dp, 2.91_dp, -0.24_dp, -2.85_dp, -6.19_dp, &
    -3.85_dp, 1.26_dp, 1.70_dp, 1.46_dp, 1.87_dp, -1.98_dp, 2.19_dp, 9.22_dp, 0.23_dp, -1.39_dp, -2.88_dp, &
    1.31_dp, 5.40_dp, 2.81_dp, -3.55_dp, 0.81_dp, -0.57_dp, -9.32_dp, -19.84_dp, 1.10_dp, 1.23_dp, 6.13_dp, &
    -1.48_dp, 1.89_dp, -0.10_dp, 3.82_dp, -6.22_dp, -1.25_dp, -1.95_dp, 5.02_dp, -1.72_dp, 1.52_dp, 7.05_dp, &
    -1.78_dp, 8.24_dp, -3.16_dp, 0.68_dp, 0.26_dp, -0.06_dp, -6.95_dp, -6.42_dp, 0.30_dp, -2.39_dp, 3.39_dp, &
    2.49_dp, -10.39_dp, -0.43_dp, -3.45_dp, 7.32_dp, -0.34_dp, 7.37_dp, 11.68_dp, 0.99_dp, 0.41_dp, -4.57_dp, &
    -1.30_dp, 5.67_dp, 0.45_dp, 1.70_dp, -2.09_dp, 1.24_dp, -0.31_dp, -10.69_dp, -0.82_dp, 0.28_dp, -4.73_dp], &
    [terms, 2*(water + below) + below])
  !> The same for half-length 1.
  real(dp), parameter :: fitted_1(terms, 2*(water + below) + below) = reshape([ &
    0.08_dp, 0.17_dp, -0.07_dp, -0.04_dp, -0.38_dp, 0.05_dp, -0.70_dp, -0.34_dp, 0.28_dp, -0.11_dp, 1.54_dp, &
    -1.42_dp, 2.53_dp, -0.37_dp, 1.12_dp, -0.77_dp, 0.43_dp, -5.06_dp, -1.35_dp, -0.58_dp, -0.08_dp, 0.32_dp, &
    1.69_dp, -0.57_dp, 0.58_dp, -1.10_dp, -2.04_dp, -1.33_dp, -0.22_dp, 2.31_dp, 0.50_dp, 0.14_dp, 5.31_dp, &
    -1.11_dp, -2.00_dp, -0.12_dp, 0.83_dp, 2.28_dp, 0.42_dp, 4.04_dp, -0.85_dp, -0.29_dp, -0.83_dp, -0.80_dp, &
    -3.16_dp, -0.82_dp, -0.76_dp, 2.27_dp, -3.02_dp, 0.80_dp, 0.26_dp, 13.92_dp, -0.85_dp, -0.23_dp, 3.48_dp, &
    1.86_dp, 2.92_dp, 0.15_dp, -4.09_dp, 0.30_dp, 1.65_dp, -1.22_dp, -13.33_dp, 1.14_dp, 2.29_dp, -2.53_dp, &
    -0.35_dp, -0.15_dp, -0.86_dp, 1.60_dp, 0.00_dp, -0.10_dp, -0.88_dp, 6.21_dp, -0.74_dp, -0.44_dp, -3.04_dp, &
    0.00_dp, -1.49_dp, 1.18_dp, -0.18_dp, 3.51_dp, -1.74_dp, 1.27_dp, 2.45_dp, 0.22_dp, -0.82_dp, -5.65_dp, &
    0.18_dp, -0.78_dp, -1.05_dp, -0.44_dp, 0.81_dp, 2.19_dp, -0.82_dp, -4.09_dp, -0.13_dp, -1.07_dp, 2.20_dp, &
    -0.21_dp, 3.88_dp, -0.29_dp, -1.20_dp, -1.64_dp, 1.50_dp, 6.48_dp, -9.89_dp, 0.62_dp, 2.28_dp, -4.84_dp, &
    -1.01_dp, 1.87_dp, 0.94_dp, 1.84_dp, 6.06_dp, -2.88_dp, -5.04_dp, 3.02_dp, -0.43_dp, -2.99_dp, -6.61_dp, &
    -3.75_dp, 0.83_dp, 2.06_dp, 1.26_dp, 1.80_dp, -2.42_dp, 1.63_dp, 9.23_dp, 0.40_dp, -1.16_dp, -2.61_dp, &
    1.37_dp, 5.98_dp, 2.43_dp, -3.76_dp, -0.61_dp, 0.17_dp, -11.13_dp, -22.30_dp, 1.08_dp, 1.28_dp, 10.84_dp, &
    -1.41_dp, 1.57_dp, -0.05_dp, 3.55_dp, -4.58_dp, -1.29_dp, -1.85_dp, 5.37_dp, -1.49_dp, 0.66_dp, 7.04_dp, &
    -1.72_dp, 10.87_dp, -3.22_dp, 0.41_dp, -1.89_dp, 0.24_dp, -9.35_dp, -14.24_dp, 0.46_dp, -0.90_dp, 3.45_dp, &
    2.49_dp, -12.34_dp, -0.93_dp, -3.40_dp, 8.96_dp, -1.00_dp, 8.69_dp, 18.78_dp, 0.85_dp, -0.78_dp, -3.87_dp, &
    -0.93_dp, 6.00_dp, 0.93_dp, 1.31_dp, -2.85_dp, 2.08_dp, -1.16_dp, -12.64_dp, -0.80_dp, 1.16_dp, -6.55_dp], &
    [terms, 2*(water + below) + below])

  type :: sea_floor_t
    private
    integer :: added = 0                          !< planes
    real(dp) :: fastest = 0                       !< vp in the model [m/s], which the time step was chosen for
    real(dp) :: thin = 2                          !< (dz/dx)**2 + (dz/dy)**2
    integer :: half_length = 2
    integer, allocatable :: above(:, :)           !< cells of water, one upon the other
    integer, allocatable :: mixed(:, :)           !< below them cells with rock too,
    real(dp), allocatable :: share(:, :)          !< in which there is so much water [cells],
    integer, allocatable :: rock(:, :)            !< and below these cells of rock
    logical, allocatable :: found(:, :)           !< the last plane is the last one that changes with a sea floor
    real(sp), allocatable :: medium(:, :, :, :)   !< (part, nx, ny, 0:kept-1) by means, plane k at modulo(k, kept)
  end type sea_floor_t

contains

  !> d: spacings [m].
  pure subroutine FloorBegin(state, nx, ny, fastest, d, half_length)
    type(sea_floor_t), intent(out) :: state
    integer, intent(in) :: nx, ny, half_length
    real(dp), intent(in) :: fastest, d(3)
    state%fastest = fastest
    state%half_length = half_length
    state%thin = sum((d(3)/d(:2))**2)
    allocate (state%above(nx, ny), state%mixed(nx, ny), state%rock(nx, ny), source=0)
    allocate (state%share(nx, ny), source=0.0_dp)
    allocate (state%found(nx, ny), source=.false.)
    allocate (state%medium(medium_parts, nx, ny, 0:kept - 1), source=0.0_sp)
  end subroutine FloorBegin

  !> The next plane below: the medium of its cells by means, and the share of water in them, less than 0 beside air.
  pure subroutine FloorAdd(state, share, medium)
    type(sea_floor_t), intent(inout) :: state
    real(dp), intent(in) :: share(:, :)
    real(sp), intent(in) :: medium(:, :, :)
    integer :: i, j
    state%added = state%added + 1
    state%medium(:, :, :, modulo(state%added, kept)) = medium
    do j = 1, size(share, 2)
      do i = 1, size(share, 1)
        call Follow(share(i, j), state%above(i, j), state%mixed(i, j), state%share(i, j), state%rock(i, j), state%found(i, j))
      end do
    end do
  end subroutine FloorAdd

  !> A column gets one cell more below it, which has this share of water.
  elemental subroutine Follow(share, above, mixed, wet, rock, found)
    real(dp), intent(in) :: share
    integer, intent(inout) :: above, mixed, rock
    real(dp), intent(inout) :: wet
    logical, intent(inout) :: found
    if (found .or. (rock > 0 .and. share > rounding) .or. share < 0) above = 0
    if (share > 1 - rounding) then
      above = merge(above + 1, 1, mixed == 0)
      mixed = 0
    else if (share > rounding) then
      mixed = mixed + 1
      wet = wet + share
    else if (above >= water .and. mixed > 0 .and. mixed <= most_mixed) then
      rock = rock + 1
    else
      above = 0
    end if
    if (above == 0) mixed = 0
    if (mixed == 0) wet = 0
    if (mixed == 0) rock = 0
    found = rock == below - 1
  end subroutine Follow

  !> Changes cells around sea floors that the last plane has ended, in columns (i0, j0) and on; medium (nx, ny, planes, parts)
  !> begins at plane k0.
  pure subroutine FloorFinish(state, i0, j0, k0, medium)
    type(sea_floor_t), intent(inout) :: state
    integer, intent(in) :: i0, j0, k0
    real(sp), intent(inout) :: medium(:, :, :, :)
    real(sp) :: cells(medium_parts, -water:most_mixed + below - 2), before(medium_parts, -water:most_mixed + below - 2)
    integer :: i, j, k, face, at(2), top, last
    if (.not. any(state%found)) return
    do j = 1, size(medium, 2)
      do i = 1, size(medium, 1)
        at = [i0 + i - 1, j0 + j - 1]
        if (.not. state%found(at(1), at(2))) cycle
        last = state%mixed(at(1), at(2)) + below - 2
        top = state%added - last
        do k = -water, last
          before(:, k) = state%medium(:, at(1), at(2), modulo(top + k, kept))
        end do
        cells = before
        call FloorCells(cells(:, :last), state%share(at(1), at(2)), Flat(state, at), state%fastest, state%thin, &
                       state%half_length, face)
        do k = max(-water, k0 - top), min(last, k0 + size(medium, 3) - 1 - top)
          call Change(medium(i, j, top + k - k0 + 1, :), before(:, k), cells(:, k))
        end do
      end do
    end do
  end subroutine FloorFinish

  !> Of a cell as the sea floor has changed it, which contacts of rock may have changed too if it is rock and was.
  pure subroutine Change(medium, before, after)
    real(sp), intent(inout) :: medium(:)
    real(sp), intent(in) :: before(:), after(:)
    if (before(2) > 0 .and. after(2) > 0) then
      medium(:3) = medium(:3)*(after(:3)/before(:3))
    else
      medium = after(:size(medium))
    end if
  end subroutine Change

  !> The sea floor is as deep in the columns beside it, as far as there are any.
  pure logical function Flat(state, at)
    type(sea_floor_t), intent(in) :: state
    integer, intent(in) :: at(2)
    integer :: low(2), high(2)
    low = max(at - 1, 1)
    high = min(at + 1, shape(state%found))
    associate (found => state%found(low(1):high(1), low(2):high(2)), share => state%share(low(1):high(1), low(2):high(2)), &
               mixed => state%mixed(low(1):high(1), low(2):high(2)))
      Flat = all(found .and. mixed == state%mixed(at(1), at(2)) .and. abs(share - state%share(at(1), at(2))) <= level)
    end associate
  end function Flat

  !> Of a column of cells, from four of water (-4 .. -1) through those with both, from 0 on, to two of rock, the sea floor `place`
  !> cells below the top of cell 0, as beside it if `flat`; `face`: the first that is rock then; `thin`: (dz/dx)**2 + (dz/dy)**2.
  pure subroutine FloorCells(cells, place, flat, fastest, thin, half_length, face)
    real(sp), intent(inout) :: cells(:, -water:)
    real(dp), intent(in) :: place, fastest, thin
    logical, intent(in) :: flat
    integer, intent(in) :: half_length
    integer, intent(out) :: face
    real(dp) :: d, reach, moduli(3, -water:below - 1)                       ! density, lambda + 2 mu, mu
    integer :: i
    face = floor(place + rounding)
    d = place - face
    call Split(cells, face)
    if (.not. d > rounding) return
    do i = -water, below - 1
      moduli(:, i) = real(cells(3, face + i), dp)*[1.0_dp, real(cells(1:2, face + i), dp)**2]
    end do
    reach = Reached(moduli, min(d, merge(0.85_dp, 0.25_dp, flat)), fastest, thin, half_length)
    if (d - reach > 1 - d) then
      face = face + 1
      call Split(cells, face)
      return
    end if
    moduli = Changed(moduli, reach, half_length)
    do i = -water, below - 1
      cells(1:3, face + i) = real([sqrt(moduli(2:3, i)/moduli(1, i)), moduli(1, i)], sp)
    end do
  end subroutine FloorCells

  !> Water above a face, rock below it.
  pure subroutine Split(cells, face)
    real(sp), intent(inout) :: cells(:, -water:)
    integer, intent(in) :: face
    integer :: i
    do i = 0, face - 1
      if (cells(2, i) > 0) cells(:, i) = cells(:, i - 1)
    end do
    do i = ubound(cells, 2) - 1, face, -1
      if (.not. cells(2, i) > 0) cells(:, i) = cells(:, i + 1)
    end do
  end subroutine Split

  !> The largest distance below the face, up to d, that the sea floor can be made to have.
  pure real(dp) function Reached(moduli, d, fastest, thin, half_length) result(reach)
    real(dp), intent(in) :: moduli(:, -water:), d, fastest, thin
    integer, intent(in) :: half_length
    real(dp) :: low, high
    integer :: i
    reach = max(0.0_dp, min(d, 0.35_dp + 4*moduli(3, 0)/moduli(2, 0), 5*(0.53_dp - moduli(2, -1)/moduli(2, 0))))
    if (StepSpeed(moduli, reach, thin, half_length) <= fastest) return
    low = 0
    high = reach
    do i = 1, 8
      reach = (low + high)/2
      if (StepSpeed(moduli, reach, thin, half_length) <= fastest) low = reach
      if (low < reach) high = reach
    end do
    reach = low
  end function Reached

  !> Cells whose sea floor is d below the face between cells -1 and 0.
  pure function Changed(moduli, d, half_length) result(c)
    real(dp), intent(in) :: moduli(:, -water:), d
    integer, intent(in) :: half_length
    real(dp) :: c(3, -water:below - 1)
    real(dp) :: k, r, x(size(fitted, 2))
    integer, parameter :: n = water + below
    k = min(0.4_dp, moduli(2, -1)/moduli(2, 0))                             ! the kinds of rock it was fitted to
    r = max(0.035_dp, min(0.34_dp, moduli(3, 0)/moduli(2, 0)))
    x = matmul(d*[1.0_dp, k, r, d, d*k, d*r, k*k, k*r, d*d, d*d*k, d*k*k], merge(fitted_1, fitted, half_length == 1))
    c = moduli
    c(1, :) = c(1, :)*exp(x(:n))
    c(2, :) = c(2, :)*exp(x(n + 1:2*n))
    c(3, 0:) = min(c(3, 0:)*exp(x(2*n + 1:)), stiffest*c(2, 0:))
    if (.not. d > 0) c = moduli
  end function Changed

  !> P velocity of an even medium that needs as short a time step as these cells do, water and rock as they are beyond: the largest
  !> eigenvalue of the scheme of half-length 1 for waves of two cells along x and y, of which each step of the power method is a
  !> bound (Collatz 1942, Mathematische Zeitschrift 48, 221-226). Longer differences need less (t658).
  pure real(dp) function StepSpeed(moduli, d, thin, half_length) result(speed)
    real(dp), intent(in) :: moduli(:, -water:), d, thin
    integer, intent(in) :: half_length
    integer, parameter :: n = water + below + 4, steps = 10
    real(dp) :: c(3, n), lambda(n), shear(0:n), mass(n - 1), vx(n), vz(0:n), sxz(0:n), exx(n), ezz(n), szz(n), fx(n), fz(n - 1)
    real(dp) :: along
    integer :: i
    along = 2*sqrt(thin)                                                    ! the largest wavenumber, in cells along z
    c(:, :2) = spread(moduli(:, -water), 2, 2)
    c(:, 3:n - 2) = Changed(moduli, d, half_length)
    c(:, n - 1:) = spread(moduli(:, below - 1), 2, 2)
    lambda = abs(c(2, :) - 2*c(3, :))
    mass = (c(1, :n - 1) + c(1, 2:))/2
    shear = 0
    where (min(c(3, :n - 1), c(3, 2:)) > 0) shear(1:n - 1) = 2*c(3, :n - 1)*c(3, 2:)/(c(3, :n - 1) + c(3, 2:))
    vx = 1
    vz = 1
    vz([0, n]) = 0
    sxz = 0
    speed = huge(1.0_dp)
    do i = 1, steps
      exx = along*vx
      ezz = vz(:n - 1) + vz(1:)
      szz = lambda*exx + c(2, :)*ezz
      sxz(1:n - 1) = shear(1:n - 1)*(vx(:n - 1) + vx(2:) + along*vz(1:n - 1))
      fx = (along*(c(2, :)*exx + lambda*ezz) + sxz(:n - 1) + sxz(1:))/c(1, :)
      fz = (szz(:n - 1) + szz(2:) + along*sxz(1:n - 1))/mass
      speed = min(speed, sqrt(max(maxval(fx/vx), maxval(fz/vz(1:n - 1)))/(4*(1 + thin))))
      vx = fx/maxval(fx)
      vz(1:n - 1) = fz/maxval(fx)
    end do
  end function StepSpeed

end module sea_floor_m
