!> Made-up maps for tests of the 3D time loop: a point a column of the grid, in a row of its own, with stencils of one and of many cells.
module map3d_m
  use fd3d_engine_m, only: fd3d_map_t
  use kinds_m, only: i2, sp
  implicit none
  private
  public :: Map3dMake, map3d_entries

  integer, parameter :: stencils = 4, reach = 3
  integer, parameter :: entries(3, stencils) = reshape([1, 1, 1, 11, 40, 1, 0, 3, 200, 33, 32, 5], [3, stencils])
  integer, parameter :: map3d_entries = sum(entries)

contains

  !> Point (i, j), the i running fastest, in row k(i, j) of a grid of n cells. `wide`: of all stencils, side by side and by runs, where
  !> they fit in; else a cell's own velocities.
  subroutine Map3dMake(map, n, k, wide)
    type(fd3d_map_t), intent(out) :: map
    integer, intent(in) :: n(3), k(:, :)
    logical, intent(in) :: wide
    integer :: i, j, m, e, total
    total = sum(entries)
    map%i = [((i, i=1, n(1)), j=1, n(2))]
    map%j = [((j, i=1, n(1)), j=1, n(2))]
    map%k = reshape(k, [size(k)])
    map%stencil = [((1 + modulo(i/5 + j, stencils), i=1, n(1)), j=1, n(2))]
    do m = 1, size(map%i)
      if (.not. wide .or. any([map%i(m), map%j(m), map%k(m)] <= reach .or. [map%i(m), map%j(m), map%k(m)] > n - reach)) &
        map%stencil(m) = 1
    end do
    map%start = [1, (1 + sum(reshape(entries, [3*stencils])*merge(1, 0, [(j, j=1, 3*stencils)] <= i)), i=1, 3*stencils)]
    map%di = int([0, 0, 0, (Away(e, 1), e=4, total)], i2)
    map%dj = int([0, 0, 0, (Away(e, 2), e=4, total)], i2)
    map%dk = int([0, 0, 0, (Away(e, 3), e=4, total)], i2)
    map%w = [1.0_sp, 1.0_sp, 1.0_sp, (0.2_sp*sin(0.9_sp*e), e=4, total)]
  end subroutine Map3dMake

  pure integer function Away(e, axis)
    integer, intent(in) :: e, axis
    Away = modulo(5*e*axis + e/(3 + axis), 2*reach + 1) - reach
  end function Away

end module map3d_m
