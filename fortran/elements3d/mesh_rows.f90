!> Rows of hexahedra on a lattice of columns and levels. Downwards, elements may become twice as wide, first along x, then along y,
!> by rows of two levels that keep whole faces in common:
!>
!>     t0---t1---t2---t3---t4      along the row: columns as above, four sides above, two below; seen across it: drawn out.
!>     |    |    |    |    |       The same that `spl-mesh chunk` has (tools/spltools/mesh/chunk.py). Two columns and their mirror
!>     |    m1---m2---m3   |       image follow each other, so a number of columns that is even will do.
!>     |   /     |     \   |
!>     |  /      |      \  |
!>     | /       |       \ |
!>     b0--------b2--------b4
module mesh_rows_m
  use hexahedron_m, only: hex_node, hex_side
  use kinds_m, only: dp, i2
  use mesh_m, only: mesh_t
  implicit none
  private
  public :: lattice_t, RowsCount, RowsFill, RowsSides

  integer, parameter, public :: row_even = 0, row_along_x = 1, row_along_y = 2    !< a row, or how it doubles

  !> Columns are the narrowest ones. Nodes lie at twice their places: one place from corner to corner of an element of 8 nodes, two
  !> of one of 27, whose middles may lie between places where they double.
  type :: lattice_t
    integer :: columns(2) = 0                             !< along x and y, a multiple of all that doubles
    integer :: between = 1                                !< places from corner to corner: 1, or 2
    integer, allocatable :: rows(:)                       !< from the top: row_even, row_along_x, row_along_y
    integer, allocatable :: at(:, :)                      !< twice the places of nodes along x, y and down, from 0, (3, nodes)
    integer, allocatable :: row(:)                        !< of each element
  end type lattice_t

  !> Quadrilaterals of a row: corners, along the row and down, at the upper near, upper far, lower far and lower near end.
  integer, parameter :: even(2, 4, 1) = reshape([0, 0, 1, 0, 1, 1, 0, 1], [2, 4, 1])
  integer, parameter :: doubling(2, 4, 3) = reshape( &
    [0, 0, 1, 0, 1, 1, 0, 2, 1, 0, 2, 0, 2, 1, 1, 1, 1, 1, 2, 1, 2, 2, 0, 2], [2, 4, 3])
  integer, parameter :: mirrored(4) = [2, 1, 4, 3]
  integer, parameter :: ends(2, 4) = reshape([-1, -1, 1, -1, 1, 1, -1, 1], [2, 4])   !< along and down, of the corners

contains

  !> Elements of the rows.
  pure real(dp) function RowsCount(columns, rows) result(n)
    integer, intent(in) :: columns(2), rows(:)
    integer :: r, step(2)
    step = 1
    n = 0
    do r = 1, size(rows)
      if (rows(r) == row_even) then
        n = n + product(real(columns/step, dp))
      else
        n = n + 1.5_dp*product(real(columns/step, dp))
        step(rows(r)) = 2*step(rows(r))
      end if
    end do
  end function RowsCount

  !> Numbers nodes, level after level, and gives elements theirs, row after row.
  pure subroutine RowsFill(lattice, mesh)
    type(lattice_t), intent(inout) :: lattice
    type(mesh_t), intent(inout) :: mesh                   !< per is known, node is made
    integer, allocatable :: number(:)                     ! of the nodes of a row by their place,
    integer(i2), allocatable :: beyond(:)                 ! and 1, 2, 4: how far they lie beyond it, half a place along x, y, down
    integer :: n(2), plane, elements, nodes, e, first, r, levels, level, step(2)
    n = lattice%between*lattice%columns + 1
    plane = product(n)
    elements = nint(RowsCount(lattice%columns, lattice%rows))
    allocate (mesh%node(mesh%per, elements), lattice%row(elements), lattice%at(3, NodesMost(lattice)))
    allocate (number(0:plane*(2*lattice%between + 1) - 1), beyond(0:plane*(2*lattice%between + 1) - 1))
    number(:plane - 1) = 0
    e = 0
    nodes = 0
    level = 0
    step = 1
    do r = 1, size(lattice%rows)
      levels = lattice%between*merge(1, 2, lattice%rows(r) == row_even)
      number(plane:) = 0
      first = e + 1
      call FillRow(lattice%rows(r), lattice%columns, step, lattice%between, mesh, number, beyond, e)
      call NumberRow(n, level, number, beyond, nodes, lattice%at)
      lattice%row(first:e) = r
      associate (node => mesh%node(:, first:e))
        node = reshape(number(reshape(node, [size(node)])), shape(node))
      end associate
      number(:plane - 1) = number(plane*levels:plane*(levels + 1) - 1)
      level = level + levels
      if (lattice%rows(r) /= row_even) step(lattice%rows(r)) = 2*step(lattice%rows(r))
    end do
    if (nodes < size(lattice%at, 2)) lattice%at = lattice%at(:, :nodes)
  end subroutine RowsFill

  !> Nodes of the lattice; where rows double, more.
  pure integer function NodesMost(lattice) result(most)
    type(lattice_t), intent(in) :: lattice
    integer :: r, step(2)
    step = 1
    most = product(lattice%between*lattice%columns + 1)
    do r = 1, size(lattice%rows)
      most = most + product(lattice%between*lattice%columns/step + 1)*lattice%between*merge(1, 2, lattice%rows(r) == row_even)
      if (lattice%rows(r) /= row_even) step(lattice%rows(r)) = 2*step(lattice%rows(r))
    end do
  end function NodesMost

  !> The elements of a row take the numbers of places for nodes; places without a node are marked -1. e: elements so far.
  pure subroutine FillRow(row, columns, step, between, mesh, number, beyond, e)
    integer, intent(in) :: row, columns(2), step(2), between
    type(mesh_t), intent(inout) :: mesh
    integer, intent(inout) :: number(0:), e
    integer(i2), intent(inout) :: beyond(0:)
    integer, allocatable :: at(:, :, :, :)
    integer :: units(2), width(2), along, n(2), i, j, q, a, x(3), place
    along = max(row_along_x, row)
    width = step
    if (row /= row_even) width(along) = 2*step(along)
    units = columns/width
    n = between*columns + 1
    call Places(row, along, step, between, mesh%per, at)
    do j = 0, units(2) - 1
      do i = 0, units(1) - 1
        do q = 1, size(at, 3)
          e = e + 1
          do a = 1, mesh%per
            x = at(:, a, q, 1 + modulo(merge(i, j, along == 1), size(at, 4))) + 2*between*[width*[i, j], 0]
            place = x(1)/2 + n(1)*(x(2)/2 + n(2)*(x(3)/2))
            mesh%node(a, e) = place
            if (number(place) > 0) cycle
            number(place) = -1
            beyond(place) = int(dot_product(modulo(x, 2), [1, 2, 4]), i2)
          end do
        end do
      end do
    end do
  end subroutine FillRow

  !> Twice the places of the nodes of the elements of a unit of a row, and of its mirror image where it doubles:
  !> (3, per, elements, 1 or 2). step: columns of an element above.
  pure subroutine Places(row, along, step, between, per, at)
    integer, intent(in) :: row, along, step(2), between, per
    integer, allocatable, intent(out) :: at(:, :, :, :)
    integer :: corner(2, 4), a, q, way, c, part(4)
    if (row == row_even) then
      allocate (at(3, per, size(even, 3), 1))
    else
      allocate (at(3, per, size(doubling, 3), 2))
    end if
    do way = 1, size(at, 4)
      do q = 1, size(at, 3)
        if (row == row_even) then
          corner = even(:, :, q)
        else
          corner = doubling(:, :, q)
        end if
        if (way == 2) corner = reshape([(2 - corner(1, mirrored(c)), corner(2, mirrored(c)), c=1, 4)], [2, 4])
        do a = 1, per
          associate (h => hex_node(:, a))
            part = (1 + ends(1, :)*h(along))*(1 + ends(2, :)*h(3))        ! of 4: the node's share in each corner
            at(along, a, q, way) = step(along)*between*dot_product(part, corner(1, :))/2
            at(3 - along, a, q, way) = step(3 - along)*between*(1 + h(3 - along))
            at(3, a, q, way) = between*dot_product(part, corner(2, :))/2
          end associate
        end do
      end do
    end do
  end subroutine Places

  !> Places of a row that are marked get the next numbers. n: places along x and y; level: of the row's upper side.
  pure subroutine NumberRow(n, level, number, beyond, nodes, at)
    integer, intent(in) :: n(2), level
    integer, intent(inout) :: number(0:), nodes, at(:, :)
    integer(i2), intent(in) :: beyond(0:)
    integer :: place
    do place = 0, ubound(number, 1)
      if (number(place) >= 0) cycle
      nodes = nodes + 1
      number(place) = nodes
      at(:, nodes) = 2*[modulo(place, n(1)), modulo(place/n(1), n(2)), place/product(n) + level] + &
                     modulo(beyond(place)/[1, 2, 4], 2)
    end do
  end subroutine NumberRow

  !> Named sets: `free`, the uppermost sides, and `absorbing`, the four sides and the bottom.
  pure subroutine RowsSides(lattice, mesh)
    type(lattice_t), intent(in) :: lattice
    type(mesh_t), intent(inout) :: mesh
    integer, parameter :: top = 1, others = 2
    integer :: last(3), n(2), pass, e, s, set
    last = [2*lattice%between*lattice%columns, maxval(lattice%at(3, :))]
    allocate (mesh%sets(2))
    mesh%sets%id = [1, 2]
    mesh%sets(top)%name = 'free'
    mesh%sets(others)%name = 'absorbing'
    do pass = 1, 2                                        ! sides are counted, then listed
      n = 0
      do e = 1, size(lattice%row)
        do s = 1, 6
          set = SetOf(lattice%at(:, mesh%node(hex_side(:, s), e)))
          if (set == 0) cycle
          n(set) = n(set) + 1
          if (pass == 1) cycle
          mesh%sets(set)%element(n(set)) = e
          mesh%sets(set)%side(n(set)) = s
        end do
      end do
      if (pass == 2) exit
      do set = 1, 2
        allocate (mesh%sets(set)%element(n(set)), mesh%sets(set)%side(n(set)))
      end do
    end do

  contains

    pure integer function SetOf(at)
      integer, intent(in) :: at(3, 4)
      SetOf = 0
      if (any(all(at == 0, 2)) .or. any(all(at == spread(last, 2, 4), 2))) SetOf = others
      if (all(at(3, :) == 0)) SetOf = top
    end function SetOf

  end subroutine RowsSides

end module mesh_rows_m
