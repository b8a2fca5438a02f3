!> The 3D model's own medium at a place, whatever the grid is: a cell of the grid may hold several media, a place has one.
module model3d_place_m
  use kinds_m, only: dp
  use mixed_cells_m, only: medium_parts
  use model3d_line_m, only: line_parts, Model3dLines
  use model3d_m, only: model3d_t
  implicit none
  private
  public :: Model3dTells, Model3dAt, LinesOf, place_numbers

  integer, parameter :: place_numbers = medium_parts + 3*2*line_parts   !< of a place: its medium, and its lines

contains

  !> True of a model that can be asked for single places: layers, and volumes in memory.
  pure logical function Model3dTells(earth) result(tells)
    type(model3d_t), intent(in) :: earth
    tells = .not. earth%on_disk
  end function Model3dTells

  !> The numbers of the place x [m]: the medium there, and of lines so far through it (model3d_line.f90).
  pure function Model3dAt(earth, x, reach) result(numbers)
    type(model3d_t), intent(in) :: earth
    real(dp), intent(in) :: x(3), reach(3)
    real(dp) :: numbers(place_numbers)
    numbers = [MediumAt(earth, x), Model3dLines(earth, x, reach)]
  end function Model3dAt

  !> The lines of such numbers, (parts before and behind the place, axis). Numbers of the medium alone are of places around which it
  !> is even.
  pure function LinesOf(numbers) result(lines)
    real(dp), intent(in) :: numbers(:)
    real(dp) :: lines(2*line_parts, 3)
    lines = 0
    if (size(numbers) == place_numbers) lines = reshape(numbers(medium_parts + 1:), shape(lines))
  end function LinesOf

  !> The medium at x [m]; of the layer above on the top of one. Without attenuation the last two parts are 0.
  pure function MediumAt(earth, x) result(medium)
    type(model3d_t), intent(in) :: earth
    real(dp), intent(in) :: x(3)
    real(dp) :: medium(medium_parts)
    integer :: at(3), row, l
    medium = 0
    if (earth%layers%n > 0) then
      l = max(1, count(earth%layers%top < x(3)))
      medium = earth%layers%medium(:, l)
    else
      at = min(max(nint((x - earth%x0)/earth%d) + 1, 1), earth%n)
      row = (at(3) - 1)*earth%n(2) + at(2)
      medium(:3) = [earth%vp(at(1), row), earth%vs(at(1), row), earth%rho(at(1), row)]
      if (earth%attenuates) medium(4:) = [earth%qp(at(1), row), earth%qs(at(1), row)]
    end if
    if (.not. earth%attenuates) medium(4:) = 0
  end function MediumAt

end module model3d_place_m
