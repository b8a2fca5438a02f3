!> The medium of a cell of the grid that holds several pieces of earth. A cell is what most of it is: air, a fluid or rock. It has
!> the mean density of that part, and elastic moduli by the mean of their reciprocals, which is what a wave across thin layers
!> sees; 1/Q by its mean. So a coast or a sea floor on the grid runs along faces of cells, and no cell is half water.
module mixed_cells_m
  use kinds_m, only: dp, sp
  implicit none
  private
  public :: mixed_cell_t, MixedCellAdd, MixedCellMedium, medium_parts

  integer, parameter :: medium_parts = 5      !< vp, vs [m/s], rho [kg/m3], 1/Qp, 1/Qs; all 0 in air
  integer, parameter :: air = 1, fluid = 2, rock = 3

  type :: mixed_cell_t
    private
    real(dp) :: weight(3) = 0
    real(dp) :: rho(3) = 0, p(3) = 0, s(3) = 0, qp(3) = 0, qs(3) = 0
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

end module mixed_cells_m
