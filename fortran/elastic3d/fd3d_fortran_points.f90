!> Sources, receivers and maps of the readable 3D time loop: lists of fields at cells.
module fd3d_fortran_points_m
  use error_m, only: error_t, Fail
  use fd3d_edges_m, only: volume_t
  use fd3d_engine_m, only: Fd3dInnerBox, fd3d_fields, fd3d_grid_t, fd3d_map_t, field_sxz, field_syz, part_all, part_inner, side_free
  use fd3d_map_m, only: Fd3dLevels
  use kinds_m, only: dp, sp
  use receiver_sum_m, only: receiver_sum_t, ReceiverAdd, ReceiverPart
  use text_m, only: Str
  implicit none
  private
  public :: points_t, PointsNew, PointsInject, PointsSample, PointsCheckMap, PointsKeep

  type :: points_t
    integer, allocatable :: field(:), i(:), j(:), k(:)
    real(sp), allocatable :: w(:)
  end type points_t

contains

  !> Entries of a list, weights w(:) of fields (from 0) at cells (i, j, k) (from 1). Fails on a field that there is not and a cell
  !> outside of the grid; `what` names the list in the sentence.
  subroutine PointsNew(points, grid, field, i, j, k, w, what, error)
    type(points_t), intent(out) :: points
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: field(:), i(:), j(:), k(:)
    real(sp), intent(in) :: w(:)
    character(*), intent(in) :: what
    type(error_t), allocatable, intent(inout) :: error
    integer :: m
    points%field = field
    points%i = i
    points%j = j
    points%k = k
    points%w = w
    do m = 1, size(w)
      if (field(m) < 0 .or. field(m) >= fd3d_fields) then
        call Fail(error, 'field '//Str(field(m))//' of cell '//Str(m)//' of the '//what//', must be 0..'//Str(fd3d_fields - 1))
        return
      end if
      if (any([i(m), j(m), k(m)] < 1) .or. any([i(m), j(m), k(m)] > grid%n)) then
        call Fail(error, 'cell '//Str(m)//' of the '//what//' is ('//Str(i(m))//', '//Str(j(m))//', '//Str(k(m))// &
                  '), must lie in 1..'//Str(grid%n(1))//', 1..'//Str(grid%n(2))//', 1..'//Str(grid%n(3)))
        return
      end if
    end do
  end subroutine PointsNew

  !> Fields from..to at the cells of a part grow by w q(h), in the order given.
  subroutine PointsInject(points, h, q, grid, part, from, to, f)
    type(points_t), intent(in) :: points
    integer, intent(in) :: h(:), part, from, to
    real(sp), intent(in) :: q(:)
    type(fd3d_grid_t), intent(in) :: grid
    type(volume_t), intent(inout) :: f(0:)
    integer :: m, lo(3), hi(3), at(3)
    logical :: inner
    call Fd3dInnerBox(grid, lo, hi)
    do m = 1, size(points%w)
      if (points%field(m) < from .or. points%field(m) > to) cycle
      at = [points%i(m), points%j(m), points%k(m)]
      inner = all(at >= lo .and. at <= hi)
      if (part /= part_all .and. (inner .neqv. part == part_inner)) cycle
      if (OnSurface(points%field(m), at(3), grid)) cycle
      associate (value => f(points%field(m))%a(at(1), at(2), at(3)))
        value = value + points%w(m)*q(h(m))
      end associate
    end do
  end subroutine PointsInject

  !> sxz and syz are 0 on a free surface, whatever is added there.
  pure logical function OnSurface(field, k, grid)
    integer, intent(in) :: field, k
    type(fd3d_grid_t), intent(in) :: grid
    OnSurface = k == 1 .and. grid%side(5) == side_free .and. (field == field_sxz .or. field == field_syz)
  end function OnSurface

  !> The parts of receivers' sums (receiver_sum.f90).
  subroutine PointsSample(points, start, part, f, values)
    type(points_t), intent(in) :: points
    integer, intent(in) :: start(:), part(:)
    type(volume_t), intent(in) :: f(0:)
    real(sp), intent(out) :: values(:)
    type(receiver_sum_t) :: total
    integer :: r, m
    do r = 1, size(values)
      total = receiver_sum_t()
      do m = start(r), start(r + 1) - 1
        call ReceiverAdd(total, real(points%w(m), dp)*f(points%field(m))%a(points%i(m), points%j(m), points%k(m)))
      end do
      values(r) = ReceiverPart(total, part(r))
    end do
  end subroutine PointsSample

  !> All cells of a map's stencils must be owned.
  subroutine PointsCheckMap(map, grid, error)
    type(fd3d_map_t), intent(in) :: map
    type(fd3d_grid_t), intent(in) :: grid
    type(error_t), allocatable, intent(inout) :: error
    integer :: p, m, at(3)
    do p = 1, size(map%i)
      do m = map%start(3*map%stencil(p) - 2), map%start(3*map%stencil(p) + 1) - 1
        at = [map%i(p) + map%di(m), map%j(p) + map%dj(m), map%k(p) + map%dk(m)]
        if (all(at >= 1 .and. at <= grid%n)) cycle
        call Fail(error, 'point '//Str(p)//' of the map needs the cell ('//Str(at(1))//', '//Str(at(2))//', '//Str(at(3))// &
                  '), must lie in 1..'//Str(grid%n(1))//', 1..'//Str(grid%n(2))//', 1..'//Str(grid%n(3)))
        return
      end do
    end do
  end subroutine PointsCheckMap

  !> The largest horizontal and vertical velocity and vector at the points of a map, peak(points, 3), as receivers there would
  !> record them.
  subroutine PointsKeep(map, f, peak, threads)
    type(fd3d_map_t), intent(in) :: map
    type(volume_t), intent(in) :: f(0:)
    real(sp), intent(inout) :: peak(:, :)
    integer, intent(in) :: threads
    type(receiver_sum_t) :: sum(3)
    integer :: p, c, m, first
    !$omp parallel do private(sum, c, m, first) num_threads(threads)
    do p = 1, size(map%i)
      sum = receiver_sum_t()
      do c = 1, 3
        first = 3*(map%stencil(p) - 1) + c
        do m = map%start(first), map%start(first + 1) - 1
          call ReceiverAdd(sum(c), real(map%w(m), dp)*f(c - 1)%a(map%i(p) + map%di(m), map%j(p) + map%dj(m), map%k(p) + map%dk(m)))
        end do
      end do
      peak(p, :) = max(peak(p, :), Fd3dLevels(ReceiverPart(sum, 0)))
    end do
    !$omp end parallel do
  end subroutine PointsKeep

end module fd3d_fortran_points_m
