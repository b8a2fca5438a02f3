!> The medium of a cell of the grid that holds several pieces of earth. A cell is what most of it is: air, a fluid or rock. It has
!> the mean density of that part, and elastic moduli by the mean of their reciprocals, which is what a wave across thin layers
!> sees; 1/Q by its mean. So a coast or a sea floor on the grid runs along faces of cells, and no cell is half water. The spread of
!> moduli in it tells what waves along a contact miss, which contact_cells.f90 gives to the cells beside it; the share of fluid
!> where a sea floor is, which sea_floor.f90 makes up for.
module mixed_cells_m
  use kinds_m, only: dp, sp
  implicit none
  private
  public :: mixed_cell_t, MixedCellAdd, MixedCellMedium, MixedCellSpread, MixedCellWater, medium_parts

  integer, parameter :: medium_parts = 5      !< vp, vs [m/s], rho [kg/m3], 1/Qp, 1/Qs; all 0 in air
  integer, parameter :: air = 1, fluid = 2, rock = 3

  type :: mixed_cell_t
    private
    real(dp) :: weight(3) = 0
    real(dp) :: rho(3) = 0, p(3) = 0, s(3) = 0, qp(3) = 0, qs(3) = 0
    real(dp) :: known(3) = 0                  !< the rock that was added last,
    real(dp) :: logs(2) = 0, first(2) = 0     !< logarithms of its moduli, of P and S waves, and those of the first rock
    real(dp) :: mean(2) = 0, square(2) = 0    !< of rock: of logarithms over the first ones, times weights
  end type mixed_cell_t

contains

  !> Adds `weight` of a medium.
  pure subroutine MixedCellAdd(mixture, weight, medium)
    type(mixed_cell_t), intent(inout) :: mixture
    real(dp), intent(in) :: weight, medium(medium_parts)
    integer :: kind
    kind = rock
    if (.not. medium(2) > 0) kind = fluid
    if (.not. medium(1) > 0) kind = air
    if (kind == rock) call AddLogarithms(mixture, weight, medium(:3))
    associate (m => mixture)
      m%weight(kind) = m%weight(kind) + weight
      if (kind == air) return
      m%rho(kind) = m%rho(kind) + weight*medium(3)
      m%p(kind) = m%p(kind) + weight/(medium(3)*medium(1)**2)
      if (kind == rock) m%s(kind) = m%s(kind) + weight/(medium(3)*medium(2)**2)
      m%qp(kind) = m%qp(kind) + weight*medium(4)
      m%qs(kind) = m%qs(kind) + weight*medium(5)
    end associate
  end subroutine MixedCellAdd

  !> Most rock is the rock before, which costs no logarithm.
  pure subroutine AddLogarithms(m, weight, medium)
    type(mixed_cell_t), intent(inout) :: m
    real(dp), intent(in) :: weight, medium(3)
    if (any(abs(medium - m%known) > 0)) then
      m%known = medium
      m%logs = log(medium(3)*medium(:2)**2)
      if (.not. m%weight(rock) > 0) m%first = m%logs
    end if
    m%mean = m%mean + weight*(m%logs - m%first)
    m%square = m%square + weight*(m%logs - m%first)**2
  end subroutine AddLogarithms

  !> The medium of the cell.
  pure function MixedCellMedium(mixture) result(medium)
    type(mixed_cell_t), intent(in) :: mixture
    real(sp) :: medium(medium_parts)
    real(dp) :: rho, w
    integer :: kind
    medium = 0
    kind = maxloc(mixture%weight, 1, back=.true.)
    if (kind == air) return
    w = mixture%weight(kind)
    rho = mixture%rho(kind)/w
    medium(1) = real(sqrt(w/mixture%p(kind)/rho), sp)
    if (kind == rock) medium(2) = real(sqrt(w/mixture%s(kind)/rho), sp)
    medium(3) = real(rho, sp)
    medium(4) = real(mixture%qp(kind)/w, sp)
    medium(5) = real(mixture%qs(kind)/w, sp)
  end function MixedCellMedium

  !> Of a cell of rock: mean and variance of the logarithms of its moduli rho vp**2 and rho vs**2; a variance that is but rounding
  !> is 0. Of others 0.
  pure subroutine MixedCellSpread(mixture, mean, variance)
    type(mixed_cell_t), intent(in) :: mixture
    real(dp), intent(out) :: mean(2), variance(2)
    real(dp), parameter :: rounding = 1e-10_dp
    real(dp) :: w, off(2)
    mean = 0
    variance = 0
    if (maxloc(mixture%weight, 1, back=.true.) /= rock) return
    w = mixture%weight(rock)
    off = mixture%mean/w
    mean = mixture%first + off
    variance = mixture%square/w - off**2
    where (variance < rounding) variance = 0
  end subroutine MixedCellSpread

  !> Share of fluid in the cell; -1 where air is in it.
  pure real(dp) function MixedCellWater(mixture) result(share)
    type(mixed_cell_t), intent(in) :: mixture
    share = -1
    if (.not. mixture%weight(air) > 0 .and. sum(mixture%weight) > 0) share = mixture%weight(fluid)/sum(mixture%weight)
  end function MixedCellWater

end module mixed_cells_m
