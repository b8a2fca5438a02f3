!> A sea floor inside cells of the 3D grid. Along it water slips on rock, so a column of cells is water down to a face and rock
!> below it; where the sea floor is not that face but d of a cell deeper, what lies in between is water that the grid calls rock.
!> The three cells above the face and the one below it make up for that:
!>
!>     water across    the sum of compliances of all four is that of the earth, (3 + d)/K + (1 - d)/M, by K of the three
!>     water along     the sum of 1/rho is that of 3 + d cells with the mass of little more than 3: heavy, light, heavy,
!>                     exp(a), exp(-2 a), exp(a) with 2 exp(-a) + exp(2 a) = 3 + d
!>     rock            less mass and stiffness: rho exp(-p), mu exp(-m), lambda + 2 mu = M exp(-e)
!>
!> p, m, e are polynomials in d, mu/M and K/M, fitted to reflection and transmission of plane waves of P and S from above and
!> below at ten kinds of rock, half-length 2, 10 points per shortest wavelength (2026-11-25). The face is the nearest to the sea
!> floor, over hard rock one up to 0.75 of a cell above it. Rock that hardly differs from water for P waves, K/M above 0.2, gets
!> less of that, and none above 0.45: there the nearest face is as good (t621).
!>
!> Planes of cells are added from the top down. A sea floor is found where water, three cells at least, is followed by one or two
!> cells with both and then by rock; steeper ones and shallower water keep the kind that most of a cell is.
module sea_floor_m
  use kinds_m, only: dp, sp
  use mixed_cells_m, only: medium_parts
  implicit none
  private
  public :: sea_floor_t, FloorBegin, FloorAdd, FloorFinish, FloorCells, floor_reach

  integer, parameter :: floor_reach = 5           !< a cell depends on those so far above and below
  integer, parameter :: kept = 8                  !< planes
  integer, parameter :: water = 3, most_mixed = 2 !< cells
  real(dp), parameter :: rounding = 1.0e-6_dp     !< of a cell
  real(dp), parameter :: stiffest = 1.15_dp       !< times K of water
  real(dp), parameter :: resists = 0.7_dp         !< largest mu/M

  type :: sea_floor_t
    private
    integer :: added = 0                          !< planes
    real(dp) :: fastest = 0                       !< vp in the model [m/s], which the time step was chosen for
    integer, allocatable :: above(:, :)           !< cells of water, one upon the other
    integer, allocatable :: mixed(:, :)           !< and below them cells with rock too,
    real(dp), allocatable :: share(:, :)          !< in which there is so much water [cells]
    logical, allocatable :: found(:, :)           !< the last plane is rock, and there are such cells above it
    real(sp), allocatable :: medium(:, :, :, :)   !< (part, nx, ny, 0:kept-1) by means, plane k at modulo(k, kept)
  end type sea_floor_t

contains

  pure subroutine FloorBegin(state, nx, ny, fastest)
    type(sea_floor_t), intent(out) :: state
    integer, intent(in) :: nx, ny
    real(dp), intent(in) :: fastest
    state%fastest = fastest
    allocate (state%above(nx, ny), state%mixed(nx, ny), source=0)
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
        associate (above => state%above(i, j), mixed => state%mixed(i, j))
          if (state%found(i, j)) above = 0
          state%found(i, j) = .false.
          if (share(i, j) > 1 - rounding) then
            above = merge(above + 1, 1, mixed == 0)
            mixed = 0
            state%share(i, j) = 0
          else if (share(i, j) > rounding) then
            mixed = mixed + 1
            state%share(i, j) = state%share(i, j) + share(i, j)
          else if (above >= water .and. mixed > 0 .and. mixed <= most_mixed .and. share(i, j) >= 0) then
            state%found(i, j) = .true.
          else
            above = 0
          end if
          if (above == 0) then
            mixed = 0
            state%share(i, j) = 0
          end if
        end associate
      end do
    end do
  end subroutine FloorAdd

  !> Changes cells around sea floors that the last plane has ended, in columns (i0, j0) and on; medium (nx, ny, planes, parts)
  !> begins at plane k0.
  pure subroutine FloorFinish(state, i0, j0, k0, medium)
    type(sea_floor_t), intent(inout) :: state
    integer, intent(in) :: i0, j0, k0
    real(sp), intent(inout) :: medium(:, :, :, :)
    real(sp) :: cells(medium_parts, -water:most_mixed)
    integer :: i, j, k, face, at(2), top
    if (.not. any(state%found)) return
    do j = 1, size(medium, 2)
      do i = 1, size(medium, 1)
        at = [i0 + i - 1, j0 + j - 1]
        if (.not. state%found(at(1), at(2))) cycle
        top = state%added - state%mixed(at(1), at(2))
        do k = -water, state%added - top
          cells(:, k) = state%medium(:, at(1), at(2), modulo(top + k, kept))
        end do
        call FloorCells(cells(:, :state%added - top), state%share(at(1), at(2)), state%fastest, face)
        do k = -water, state%added - top
          if (top + k >= k0 .and. top + k < k0 + size(medium, 3)) &
            medium(i, j, top + k - k0 + 1, :) = cells(:size(medium, 4), k)
        end do
      end do
    end do
  end subroutine FloorFinish

  !> Of a column of cells, from three of water (-3 .. -1) through those with both, from 0 on, to one of rock, the sea floor `place`
  !> cells below the top of cell 0; `face`: the first that is rock then.
  pure subroutine FloorCells(cells, place, fastest, face)
    real(sp), intent(inout) :: cells(:, -water:)
    real(dp), intent(in) :: place, fastest
    integer, intent(out) :: face
    real(dp) :: k, m, mu, ratio, kappa, strength, d, a, e, p, s, c
    integer :: i, last
    last = ubound(cells, 2)
    k = real(cells(3, -1), dp)*real(cells(1, -1), dp)**2
    m = real(cells(3, last), dp)*real(cells(1, last), dp)**2
    strength = min(1.0_dp, max(0.0_dp, (0.45_dp - k/m)/0.25_dp))
    face = ceiling(place - min(0.75_dp, max(0.5_dp, 1.1_dp - 3*k/m)))
    do i = 0, last - 1
      if (i < face .and. cells(2, i) > 0) cells(:, i) = cells(:, i - 1)
      if (i >= face .and. .not. cells(2, i) > 0) cells(:, i) = cells(:, last)
    end do
    d = max(0.0_dp, place - face)*strength
    if (.not. d > 0) return
    m = real(cells(3, face), dp)*real(cells(1, face), dp)**2
    mu = real(cells(3, face), dp)*real(cells(2, face), dp)**2
    ratio = mu/m
    kappa = k/m
    e = max(1.2_dp, 3.9_dp - 13.5_dp*ratio + 18.4_dp*ratio**2 - 2.2_dp*kappa)*d
    e = max(0.0_dp, min(e, log(max(1.0_dp, (3 + d - 3/stiffest)/kappa + 1 - d))))
    p = min(e, (0.2_dp + 1.9_dp*ratio)*d + (1.25_dp - 1.9_dp*ratio)*d**2)
    s = (-0.3_dp + 2.2_dp*ratio)*d + (-0.5_dp + 4.2_dp*ratio)*d**2
    c = 3/(3 + d + kappa*(1 - d - exp(e)))                                  ! K over that of water
    a = min(Lightness(min(1.0_dp, 1.35_dp - 1.9_dp*kappa)*d), &
            0.5_dp*log(max(1.0_dp, fastest**2/(c*maxval(real(cells(1, face - water:face - 1), dp))**2))))
    do i = 1, water
      call Change(cells(:, face - i), [c, 0.0_dp, exp(merge(-2, 1, i == 2)*a)])
    end do
    call Change(cells(:, face), [exp(-e), min(exp(-s), resists*exp(-e)/ratio), exp(-p)])
  end subroutine FloorCells

  !> vp, vs, rho with moduli and density so many times as large.
  pure subroutine Change(medium, times)
    real(sp), intent(inout) :: medium(:)
    real(dp), intent(in) :: times(3)
    medium(:2) = real(medium(:2)*sqrt(times(:2)/times(3)), sp)
    medium(3) = real(medium(3)*times(3), sp)
  end subroutine Change

  !> a >= 0 of 2 exp(-a) + exp(2 a) = 3 + d.
  pure real(dp) function Lightness(d) result(a)
    real(dp), intent(in) :: d
    integer :: i
    a = sqrt(d/3)
    if (.not. d > 0) return
    do i = 1, 6                                                             ! Newton's
      a = a - (2*exp(-a) + exp(2*a) - 3 - d)/(2*exp(2*a) - 2*exp(-a))
    end do
  end function Lightness

end module sea_floor_m
