!> The own mesher: a box of hexahedra in rows that follow the surfaces of layers.
!>
!> Columns are of equal width. Each layer has as many rows of elements everywhere as it needs where it is thickest. Rows are never
!> thinner than a part (`thinnest`) of what they are there: where a layer is thinner, or ends, its rows reach into the layer below,
!> and each element has the medium in which its middle lies, so that contacts are steps there, of a least height. Deep elements may
!> be twice, four and eight times as wide (mesh_doubling.f90).
module mesh_layers_m
  use error_m, only: error_t, Fail
  use kinds_m, only: dp
  use layer_table_m, only: layer_table_t
  use mesh_blocks_m, only: ShapeOf
  use mesh_doubling_m, only: doublings_most, LevelsMake, levels_t
  use mesh_m, only: mesh_block_t, mesh_t, MeshSort
  use mesh_rows_m, only: lattice_t, row_even, RowsCount, RowsFill, RowsSides
  use mesh_stack_m, only: Between, layers_box_t, Misplaced, most_elements, no_thickness, stack_t, StackMake, Unfollowed
  use text_m, only: Str
  implicit none
  private
  public :: layers_box_t, MeshLayers

  real(dp), parameter :: worth_it = 0.9_dp                !< of the time with fewer doubling layers is worth one more

contains

  !> words: what was made.
  subroutine MeshLayers(table, box, mesh, words, error)
    type(layer_table_t), intent(in) :: table
    type(layers_box_t), intent(in) :: box
    type(mesh_t), intent(out) :: mesh
    character(:), allocatable, intent(out) :: words
    type(error_t), allocatable, intent(inout) :: error
    type(stack_t) :: stack
    type(levels_t) :: levels
    type(lattice_t) :: lattice
    character(:), allocatable :: unfollowed_words
    integer :: moved
    call Choose(table, box, stack, levels, error)
    if (allocated(error)) return
    lattice%columns = [stack%x%columns, stack%y%columns]
    lattice%between = Between(box)
    lattice%rows = levels%rows
    mesh%path = table%path
    mesh%per = box%per
    call RowsFill(lattice, mesh)
    call Nodes(stack, levels, lattice%at, mesh, error)
    if (allocated(error)) return
    call Media(table, stack, levels, lattice, mesh, moved)
    call RowsSides(lattice, mesh)
    words = InWords(table, stack, levels, lattice, mesh, moved)
    unfollowed_words = Unfollowed(table, box, stack)
    if (unfollowed_words /= '') words = words//'; '//unfollowed_words
    call SortByBlock(mesh)
  end subroutine MeshLayers

  !> Surfaces, and levels of rows between them: as many doublings as are asked for, or as are worth it, since they may need more
  !> columns and a smaller time step.
  subroutine Choose(table, box, stack, levels, error)
    type(layer_table_t), intent(in) :: table
    type(layers_box_t), intent(in) :: box
    type(stack_t), intent(out) :: stack
    type(levels_t), intent(out) :: levels
    type(error_t), allocatable, intent(inout) :: error
    type(stack_t) :: other
    type(levels_t) :: its
    integer :: doublings
    doublings = 0
    if (allocated(box%doubling)) doublings = size(box%doubling)
    do
      call StackMake(table, box, 2**doublings, other, error)
      if (.not. allocated(error)) call LevelsMake(table, box, doublings, other, its, error)
      if (allocated(error) .and. .not. allocated(levels%rows)) return
      if (allocated(error)) then                          ! its other columns do not do: fewer doublings are made
        deallocate (error)
        exit
      end if
      if (.not. its%fit) exit
      if (.not. allocated(levels%rows) .or. its%cost < worth_it*levels%cost) then
        stack = other
        levels = its
      end if
      doublings = doublings + 1
      if (.not. box%doubles .or. doublings > doublings_most) exit
    end do
    associate (columns => [stack%x%columns, stack%y%columns])
      if (RowsCount(columns, levels%rows) > most_elements) call Fail(error, 'mesh=layers: '//Str(columns(1))//' x '// &
        Str(columns(2))//' columns of '//Str(size(levels%rows))//' elements are '//Str(RowsCount(columns, levels%rows), 3)// &
        ', at most '//Str(most_elements)//' are possible: use larger elements (mesh_dx, mesh_dy, heights, or a lower fmax) or '// &
        'a smaller box')
    end associate
  end subroutine Choose

  ! --- nodes and elements ---------------------------------------------------------------------------------------------------

  !> at: twice the places of nodes on the lattice.
  subroutine Nodes(stack, levels, at, mesh, error)
    type(stack_t), intent(in) :: stack
    type(levels_t), intent(in) :: levels
    integer, intent(in) :: at(:, :)
    type(mesh_t), intent(inout) :: mesh
    type(error_t), allocatable, intent(inout) :: error
    integer :: n, status, low(3), high(3)
    allocate (mesh%x(3, size(at, 2)), stat=status)
    if (status /= 0) then
      call Fail(error, 'no memory for '//Str(size(at, 2))//' nodes of the mesh')
      return
    end if
    do n = 1, size(at, 2)
      low = at(:, n)/2
      high = (at(:, n) + 1)/2
      associate (x => stack%x%node, y => stack%y%node)
        if (all(low == high)) then
          mesh%x(:, n) = [x(low(1)), y(low(2)), Depth(low(1), low(2), low(3))]
        else
          mesh%x(:, n) = [(x(low(1)) + x(high(1)))/2, (y(low(2)) + y(high(2)))/2, (Mean(low(3)) + Mean(high(3)))/2]
        end if
      end associate
    end do

  contains

    !> Of the places around a node that lies between them, in a level.
    pure real(dp) function Mean(level)
      integer, intent(in) :: level
      Mean = (Depth(low(1), low(2), level) + Depth(high(1), low(2), level) + Depth(low(1), high(2), level) + &
              Depth(high(1), high(2), level))/4
    end function Mean

    pure real(dp) function Depth(i, j, level)
      integer, intent(in) :: i, j, level
      associate (k => levels%layer(level + 1), part => levels%part(level + 1))
        if (k > size(stack%rows)) then
          Depth = stack%used(i, j, k) + part
        else
          Depth = stack%used(i, j, k) + (stack%used(i, j, k + 1) - stack%used(i, j, k))*part
        end if
      end associate
    end function Depth

  end subroutine Nodes

  !> The block of each element: the layer in which its middle lies. moved: elements that have another medium than their row.
  subroutine Media(table, stack, levels, lattice, mesh, moved)
    type(layer_table_t), intent(in) :: table
    type(stack_t), intent(in) :: stack
    type(levels_t), intent(in) :: levels
    type(lattice_t), intent(in) :: lattice
    type(mesh_t), intent(inout) :: mesh
    integer, intent(out) :: moved
    integer, parameter :: above(4) = [1, 2, 4, 3]
    integer :: e, b
    allocate (mesh%block(size(lattice%row)), mesh%blocks(size(table%layer)))
    do b = 1, size(table%layer)
      mesh%blocks(b)%id = b
      mesh%blocks(b)%name = table%layer(b)%name
    end do
    moved = 0
    do e = 1, size(mesh%block)
      if (lattice%rows(lattice%row(e)) == row_even) then
        mesh%block(e) = LayerAt(sum(mesh%x(3, mesh%node(:8, e)))/8, lattice%at(:2, mesh%node(above, e))/2)
      else
        mesh%block(e) = LayerAt(sum(mesh%x(3, mesh%node(:8, e)))/8, lattice%at(:2, mesh%node(:8, e))/2)
      end if
      if (mesh%block(e) /= levels%own(lattice%row(e))) moved = moved + 1
    end do

  contains

    !> The layer at depth z amid these places.
    pure integer function LayerAt(z, places) result(b)
      real(dp), intent(in) :: z
      integer, intent(in) :: places(:, :)
      real(dp) :: depth
      integer :: a
      do b = size(stack%rows), 2, -1
        depth = 0
        do a = 1, size(places, 2)
          depth = depth + stack%true(places(1, a), places(2, a), b)
        end do
        if (depth/size(places, 2) <= z) exit
      end do
    end function LayerAt

  end subroutine Media

  !> Elements in the order of their blocks, as a file has them.
  subroutine SortByBlock(mesh)
    type(mesh_t), intent(inout) :: mesh
    integer, allocatable :: order(:)
    integer :: b, e, last
    allocate (order(size(mesh%block)))
    last = 0
    do b = 1, size(mesh%blocks)
      do e = 1, size(mesh%block)
        if (mesh%block(e) /= b) cycle
        last = last + 1
        order(last) = e
      end do
      mesh%blocks(b)%elements = count(mesh%block == b)
    end do
    mesh%number = [(e, e=1, size(order))]
    call MeshSort(mesh, order)
    mesh%number = [(e, e=1, size(order))]
    call DropEmpty(mesh)
  end subroutine SortByBlock

  !> Leaves out blocks without an element: all rows of a thin layer may lie in others.
  subroutine DropEmpty(mesh)
    type(mesh_t), intent(inout) :: mesh
    type(mesh_block_t), allocatable :: blocks(:)
    integer :: b, place(size(mesh%blocks)), kept
    allocate (blocks(count(mesh%blocks%elements > 0)))
    kept = 0
    do b = 1, size(mesh%blocks)
      if (mesh%blocks(b)%elements > 0) then
        kept = kept + 1
        blocks(kept) = mesh%blocks(b)
      end if
      place(b) = kept
    end do
    mesh%block = place(mesh%block)
    call move_alloc(blocks, mesh%blocks)
  end subroutine DropEmpty

  ! --- in words -------------------------------------------------------------------------------------------------------------

  function InWords(table, stack, levels, lattice, mesh, moved) result(words)
    type(layer_table_t), intent(in) :: table
    type(stack_t), intent(in) :: stack
    type(levels_t), intent(in) :: levels
    type(lattice_t), intent(in) :: lattice
    type(mesh_t), intent(in) :: mesh
    integer, intent(in) :: moved
    character(:), allocatable :: words
    real(dp) :: off
    integer :: k, rows
    rows = size(lattice%rows) - stack%below
    words = Str(stack%x%columns)//' x '//Str(stack%y%columns)//' columns; rows:'
    do k = 1, size(stack%rows)
      words = words//' '//Str(count(levels%own(:rows) == k .and. lattice%rows(:rows) == row_even))//' of '//table%layer(k)%name
      if (k < size(stack%rows)) words = words//','
    end do
    if (stack%below > 0) words = words//', '//Str(stack%below)//' below'
    if (moved > 0) words = words//'; '//Str(moved)//' of '//Str(size(mesh%block))//' elements lie in another layer than their '// &
                           'row, which is thin or ends there, and have its medium'
    if (size(levels%within) > 0) words = words//'; '//Doubled()
    off = Misplaced(stack)
    if (off > no_thickness*stack%thick(size(stack%thick))) words = words//'; contacts lie up to '//Str(off, 3)// &
      ' m from where the table has them, as rows are not thinner (mesh_thinnest)'

  contains

    !> 'elements double their width in rock at 1200 m and in mantle at 5100 m, ...'
    function Doubled() result(words)
      character(:), allocatable :: words
      real(dp) :: shape
      integer :: d, e
      words = 'elements double their width in '
      do d = 1, size(levels%within)
        words = words//table%layer(levels%within(d))%name//' at '//Str(levels%from(d), 4)//' m'
        if (d < size(levels%within)) words = words//' and in '
      end do
      shape = 1
      do e = 1, size(mesh%block)
        if (lattice%rows(lattice%row(e)) /= row_even) shape = min(shape, ShapeOf(mesh%x(:, mesh%node(:, e))))
      end do
      words = words//', worst shape there '//Str(shape, 2)//' of 1, and are '//Str(size(mesh%block))//' in place of '// &
              Str(levels%undoubled, 9)
    end function Doubled

  end function InWords

end module mesh_layers_m
