!> Rows of cells of the grid that hold several samples of a model, all of a row at once where a cell holds one kind of earth: the
!> means of mixed_cells.f90. Sums are made axis by axis: down, then from front to back, then along the row; a row of samples of one
!> plane serves all rows of cells that it lies in.
module mixed_rows_m
  use iso_c_binding, only: c_int, c_int8_t
  use kinds_m, only: dp, sp
  use mixed_rows_c, only: mixed_row_add, mixed_row_cells, mixed_row_weigh
  use regrid_axis_m, only: axis_t
  implicit none
  private
  public :: mixed_rows_t, MixedRowsBegin, MixedRowsBare, MixedRowsAdd, MixedRowsCells, one_air, one_fluid, one_rock

  integer(c_int8_t), parameter :: one_air = 1, one_fluid = 2, one_rock = 4      !< kinds of samples; cells that mix them have sums
  integer, parameter :: sums = 9

  type :: mixed_rows_t
    integer :: i0 = 0, i1 = 0                           !< samples along x that cells are made from
    integer :: made = 0                                 !< the last row of samples along y that is there
    integer, private :: places = 0
    logical, private :: bare = .true.                   !< nothing is in that row
    integer(c_int), allocatable, private :: at(:, :)    !< (cells, widest): the samples of a cell, from 0,
    real(dp), allocatable, private :: w(:, :)           !< and their weights, 0 where it has fewer
    real(dp), allocatable, private :: row(:, :, :), all(:, :), room(:, :)        !< (samples, sums, places); (, sums); (cells, sums)
    integer(c_int8_t), allocatable, private :: kinds(:, :), of_all(:)
  end type mixed_rows_t

contains

  !> Makes room for rows of cells: x, y tell which samples each cell holds along these axes, and their weights.
  pure subroutine MixedRowsBegin(rows, x, y)
    type(mixed_rows_t), intent(inout) :: rows
    type(axis_t), intent(in) :: x, y
    integer :: i, l, widest
    rows%i0 = minval(x%first)
    rows%i1 = maxval(x%first + x%count - 1)
    rows%places = maxval(y%count)
    widest = maxval(x%count)
    allocate (rows%at(size(x%first), widest), rows%w(size(x%first), widest))
    do l = 1, widest
      do i = 1, size(x%first)
        rows%at(i, l) = x%first(i) + min(l, x%count(i)) - 1 - rows%i0
        rows%w(i, l) = merge(x%w(min(l, x%count(i)), i), 0.0_dp, l <= x%count(i))
      end do
    end do
    associate (n => rows%i1 - rows%i0 + 1)
      allocate (rows%row(n, sums, 0:rows%places - 1), rows%all(n, sums), rows%room(size(x%first), sums), source=0.0_dp)
      allocate (rows%kinds(n, 0:rows%places - 1), rows%of_all(n), source=0_c_int8_t)
    end associate
  end subroutine MixedRowsBegin

  !> Row m of samples is to come; of a plane of cells rows come one after the other.
  pure subroutine MixedRowsBare(rows, m)
    type(mixed_rows_t), intent(inout) :: rows
    integer, intent(in) :: m
    rows%made = m
    rows%bare = .true.
  end subroutine MixedRowsBare

  !> Adds `weight` of the samples i0 .. i1 of a plane to the row; without qp and qs they do not attenuate.
  subroutine MixedRowsAdd(rows, weight, vp, vs, rho, qp, qs)
    type(mixed_rows_t), intent(inout) :: rows
    real(dp), intent(in) :: weight
    real(sp), contiguous, intent(in) :: vp(:), vs(:), rho(:)
    real(sp), contiguous, intent(in), optional :: qp(:), qs(:)
    associate (p => modulo(rows%made, rows%places))
      if (present(qp)) then
        call mixed_row_add(size(vp), merge(1, 0, rows%bare), 1, weight, vp, vs, rho, qp, qs, rows%row(:, :, p), rows%kinds(:, p))
      else
        call mixed_row_add(size(vp), merge(1, 0, rows%bare), 0, weight, vp, vs, rho, vp, vs, rows%row(:, :, p), rows%kinds(:, p))
      end if
    end associate
    rows%bare = .false.
  end subroutine MixedRowsAdd

  !> Row j of cells from the rows of samples that they lie in: medium, means and variances of logarithms of cells of one kind.
  subroutine MixedRowsCells(rows, y, j, kind, medium, u, v)
    type(mixed_rows_t), intent(inout) :: rows
    type(axis_t), intent(in) :: y
    integer, intent(in) :: j
    integer(c_int8_t), intent(inout) :: kind(:)                          !< (cells)
    real(sp), contiguous, intent(inout) :: medium(:, :), u(:, :), v(:, :)   !< (parts, cells), (cells, 2)
    integer :: m, p
    do m = 1, y%count(j)
      p = modulo(y%first(j) + m - 1, rows%places)
      call mixed_row_weigh(size(rows%all, 1), merge(1, 0, m == 1), y%w(m, j), rows%row(:, :, p), rows%kinds(:, p), rows%all, &
                           rows%of_all)
    end do
    call mixed_row_cells(size(kind), size(rows%all, 1), size(rows%w, 2), rows%at, rows%w, rows%all, rows%of_all, rows%room, kind, &
                         medium, u, v)
  end subroutine MixedRowsCells

end module mixed_rows_m
