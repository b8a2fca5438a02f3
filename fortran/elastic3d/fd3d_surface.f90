!> Weights along z of forces near a free surface.
!>
!> The first rows below a free surface are not moved alike by a force: images above it (der3d.h) make derivatives of stress there
!> which are not those of velocity transposed. A force in row k of vz moves the medium as `gain(k)` times the force would
!> elsewhere: 0.42, 1.08, 1.003 at half-length 2, 3/8, 9/8, 1 at half-length 1. So motions y exist that no stress resists, and y is
!> not the motion itself. They follow from the transposed derivatives for the three motions that a free surface allows, each deep
!> down what it is elsewhere:
!>
!>   vertical shift                y_z(k) = gain(k)
!>   stretching with szz = 0       y_z(k) = depth(k), of vz
!>   rotation                      y_x(k) = depth(k), of vx, vy; shifts and stretches need nothing
!>
!> A force spread by weights that give 1, z, z**2, z**3 exactly in terms of y then does to the medium what it would do at z: to the
!> first order in the spacing, where weights that take y for the motion leave 13 % of it whatever the spacing.
module fd3d_surface_m
  use fd3d_engine_m, only: fd3d_grid_t, field_vz
  use kinds_m, only: dp
  use linear_m, only: SolveSmall
  implicit none
  private
  public :: fd3d_surface_t, Fd3dSurface, Fd3dSurfaceGain, Fd3dSurfaceWeights

  integer, parameter :: rows = 14                      !< where y differs from the motion itself
  integer, parameter :: beyond = rows + 8              !< further than derivatives of rows reach

  type :: fd3d_surface_t
    real(dp) :: gain(0:rows - 1) = 1, depth(0:rows - 1) = 0
  end type fd3d_surface_t

contains

  !> Of a velocity below a free surface of rock or of a fluid.
  pure function Fd3dSurface(grid, field, fluid) result(s)
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: field
    logical, intent(in) :: fluid
    type(fd3d_surface_t) :: s
    real(dp) :: d(0:beyond - 1, 0:beyond - 1), none(rows), one(0:beyond - 1), z(0:beyond - 1)
    integer :: k
    none = 0
    one = 1
    z = [(real(k, dp), k=0, beyond - 1)]
    d = OfNormalStress(grid, fluid)
    s%gain = Resistless(d(:, :rows - 1), none, one)
    if (field == field_vz) then
      s%depth = Resistless(d(:, :rows - 1), none - 1, z)
    else if (fluid) then
      s%depth = z(:rows - 1) + 0.5_dp
      s%gain = 1
    else                                               ! sxz of rows 1, 2, ..: its lateral derivative moves vz, by the gain there
      s%depth = Resistless(OfShearStress(grid), [-s%gain(1:), -1.0_dp], z + 0.5_dp)
      s%gain = 1
    end if
  end function Fd3dSurface

  !> Changes weights w of rows first, first + 1, .. (row 1 is k = 0) for a force at z [rows]: what they give of polynomials to the
  !> third degree they then give in terms of y. The four nodes in the middle make up for what all lack.
  pure subroutine Fd3dSurfaceWeights(s, field, first, w)
    type(fd3d_surface_t), intent(in) :: s
    integer, intent(in) :: field, first
    real(dp), intent(inout) :: w(:)
    real(dp) :: z, powers(size(w), 0:3), y(size(w), 0:3), off(size(w), 4), a(4, 4), lacks(4)
    integer :: k, m, p, middle
    do m = 1, size(w)
      k = first + m - 2
      z = k + merge(0.0_dp, 0.5_dp, field == field_vz)
      powers(m, :) = [(z**p, p=0, 3)]
      y(m, :) = powers(m, :)
      if (k < rows) y(m, :1) = [s%gain(k), s%depth(k)]
    end do
    off = powers - y
    lacks = matmul(w, off)
    middle = (size(w) - 4)/2
    a = transpose(y(middle + 1:middle + 4, :))
    call SolveSmall(a, lacks)
    w(middle + 1:middle + 4) = w(middle + 1:middle + 4) + lacks
  end subroutine Fd3dSurfaceWeights

  !> What a force in row `row`, from 1, moves as a whole.
  pure real(dp) function Fd3dSurfaceGain(s, row) result(gain)
    type(fd3d_surface_t), intent(in) :: s
    integer, intent(in) :: row
    gain = 1
    if (row >= 1 .and. row <= rows) gain = s%gain(row - 1)
  end function Fd3dSurfaceGain

  !> Solves sum_k y(k) d(k, j) = pull(j), y = far(k) from k = rows on.
  pure function Resistless(d, pull, far) result(y)
    real(dp), intent(in) :: d(0:, :), pull(:), far(0:)
    real(dp) :: y(rows), a(rows, rows)
    a = transpose(d(:rows - 1, :))
    y = pull - matmul(far(rows:), d(rows:, :))
    call SolveSmall(a, y)
  end function Resistless

  !> d(k, j): what szz of row j adds to its derivative at vz of row k; above the surface it is on the parabola through 0 there, odd
  !> in a fluid.
  pure function OfNormalStress(grid, fluid) result(d)
    type(fd3d_grid_t), intent(in) :: grid
    logical, intent(in) :: fluid
    real(dp) :: d(0:beyond - 1, 0:beyond - 1)
    integer :: k, m, above
    d = 0
    do k = 0, beyond - 1
      do m = 1, grid%half_length
        if (k + m - 1 < beyond) d(k, k + m - 1) = d(k, k + m - 1) + grid%w(m)
        above = m - k - 1
        if (above < 0) then
          d(k, k - m) = d(k, k - m) - grid%w(m)
        else if (fluid) then
          d(k, above) = d(k, above) + grid%w(m)
        else
          d(k, 0) = d(k, 0) + grid%w(m)*2*(above + 0.5_dp)*(above + 2)
          d(k, 1) = d(k, 1) - grid%w(m)*(above + 0.5_dp)*(above + 1)*2/3
        end if
      end do
    end do
  end function OfNormalStress

  !> d(k, j): what sxz of row j = 1 .. rows adds to its derivative at vx of row k; it is odd.
  pure function OfShearStress(grid) result(d)
    type(fd3d_grid_t), intent(in) :: grid
    real(dp) :: d(0:beyond - 1, rows)
    integer :: k, m
    d = 0
    do k = 0, beyond - 1
      do m = 1, grid%half_length
        call Add(k + m, grid%w(m))
        call Add(k - m + 1, -grid%w(m))
      end do
    end do

  contains

    pure subroutine Add(j, w)
      integer, intent(in) :: j
      real(dp), intent(in) :: w
      if (j /= 0 .and. abs(j) <= rows) d(k, abs(j)) = d(k, abs(j)) + merge(w, -w, j > 0)
    end subroutine Add
  end function OfShearStress

end module fd3d_surface_m
