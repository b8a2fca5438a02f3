!> The own mesher: a box of hexahedra in rows that follow the surfaces of layers.
!>
!> Columns are of equal width. Each layer has as many rows of elements everywhere as it needs where it is thickest. Rows are never
!> thinner than a part (`thinnest`) of what they are there: where a layer is thinner, or ends, its rows reach into the layer below,
!> and each element has the medium in which its middle lies, so that contacts are steps there, of a least height.
!>
!> Surfaces that cross: an upper one cuts those below it; but the floor of water, where it rises above the water, is land.
!> Outside of the box, `sponge` wide at its four sides and below, surfaces go on as they are at its sides.
module mesh_layers_m
  use error_m, only: error_t, Fail
  use hexahedron_m, only: hex_node
  use kinds_m, only: dp
  use layer_table_m, only: layer_table_t
  use mesh_m, only: mesh_block_t, mesh_t, MeshSort
  use mesh_surface_m, only: SurfaceAt
  use text_m, only: Str
  implicit none
  private
  public :: layers_box_t, MeshLayers

  real(dp), parameter :: most_elements = 2.0e7_dp         !< of a mesh
  real(dp), parameter :: no_thickness = 1.0e-6_dp         !< of the depth of the box: a layer that is nowhere thicker is nowhere

  !> A mesh to be made.
  type :: layers_box_t
    real(dp) :: x(2) = 0, y(2) = 0                        !< sides [m]
    real(dp) :: bottom = 0                                !< depth [m]
    real(dp) :: width(2) = 0                              !< of elements along x and y at most [m]
    real(dp), allocatable :: height(:)                    !< of those of each layer at most [m]
    logical, allocatable :: fluid(:)                      !< of each layer
    real(dp) :: sponge = 0                                !< [m]
    real(dp) :: thinnest = 0.4_dp                         !< part of a height
    integer :: per = 8                                    !< nodes of an element
  end type layers_box_t

  !> Places along an axis: columns of elements, nodes, and places of these in the box, where surfaces are asked for.
  type :: axis_t
    integer :: columns = 0
    real(dp), allocatable :: node(:), inside(:)           !< (0:)
  end type axis_t

  !> Surfaces at the nodes, (0:, 0:, layers + 1); the last is the bottom.
  type :: stack_t
    real(dp), allocatable :: true(:, :, :)                !< as the table has them, cut where they cross
    real(dp), allocatable :: used(:, :, :)                !< with room for the rows
    integer, allocatable :: rows(:)                       !< of each layer
    real(dp), allocatable :: least(:)                     !< height of a row of each layer [m]
    real(dp), allocatable :: thick(:)                     !< the largest thickness of each layer [m]
    integer :: below = 0                                  !< rows below the bottom of the box
  end type stack_t

contains

  !> words: what was made.
  subroutine MeshLayers(table, box, mesh, words, error)
    type(layer_table_t), intent(in) :: table
    type(layers_box_t), intent(in) :: box
    type(mesh_t), intent(out) :: mesh
    character(:), allocatable, intent(out) :: words
    type(error_t), allocatable, intent(inout) :: error
    type(axis_t) :: x, y
    type(stack_t) :: stack
    integer :: moved
    call CheckColumns(table, box, error)
    if (allocated(error)) return
    call MakeAxis(box%x, box%width(1), box%sponge, Between(box), x)
    call MakeAxis(box%y, box%width(2), box%sponge, Between(box), y)
    call Surfaces(table, box, x, y, stack, error)
    if (allocated(error)) return
    call Cut(box%fluid, stack%true)
    call Rows(table, box, x, y, stack, error)
    if (.not. allocated(error)) call MakeRoom(table, x, y, stack, error)
    if (allocated(error)) return
    call Nodes(box, x, y, stack, mesh, error)
    if (allocated(error)) return
    call Elements(table, box, x, y, stack, mesh, moved)
    call OuterSides(x%columns, y%columns, mesh)
    call SortByBlock(mesh)
    words = InWords(table, x, y, stack, mesh, moved)
  end subroutine MeshLayers

  !> Nodes from corner to corner of an element.
  pure integer function Between(box)
    type(layers_box_t), intent(in) :: box
    Between = merge(1, 2, box%per == 8)
  end function Between

  ! --- columns --------------------------------------------------------------------------------------------------------------

  subroutine CheckColumns(table, box, error)
    type(layer_table_t), intent(in) :: table
    type(layers_box_t), intent(in) :: box
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: columns
    columns = (1 + (box%x(2) - box%x(1) + 2*box%sponge)/box%width(1))*(1 + (box%y(2) - box%y(1) + 2*box%sponge)/box%width(2))
    if (columns > most_elements/2) call Fail(error, 'mesh=layers: elements '//Str(box%width(1), 4)//' x '// &
      Str(box%width(2), 4)//' m wide make '//Str(columns, 3)//' columns of the box of '//table%path//', at most '// &
      Str(most_elements/2)//' are possible: use wider elements (mesh_dx, mesh_dy, or a lower fmax) or a smaller box')
  end subroutine CheckColumns

  !> between: nodes from one end of an element to the other.
  pure subroutine MakeAxis(ends, width, sponge, between, axis)
    real(dp), intent(in) :: ends(2), width, sponge
    integer, intent(in) :: between
    type(axis_t), intent(out) :: axis
    integer :: n, outside, i
    real(dp) :: at
    n = Count_(ends(2) - ends(1), width)
    outside = 0
    if (sponge > 0) outside = max(1, nint(sponge*n/(ends(2) - ends(1))))
    axis%columns = n + 2*outside
    allocate (axis%node(0:between*axis%columns), axis%inside(0:between*axis%columns))
    do i = 0, between*axis%columns
      at = real(i, dp)/between - outside                  ! in elements of the box
      if (at < 0) then
        axis%node(i) = ends(1) + at*sponge/outside
      else if (at > n) then
        axis%node(i) = ends(2) + (at - n)*sponge/outside
      else
        axis%node(i) = ends(1) + (ends(2) - ends(1))*(at/n)
      end if
      axis%inside(i) = max(ends(1), min(ends(2), axis%node(i)))
    end do
  end subroutine MakeAxis

  !> Elements of at most this size in a length; a millionth more is no more.
  pure integer function Count_(length, most)
    real(dp), intent(in) :: length, most
    Count_ = max(1, ceiling(length/most*(1 - 1.0e-6_dp)))
  end function Count_

  ! --- surfaces -------------------------------------------------------------------------------------------------------------

  subroutine Surfaces(table, box, x, y, stack, error)
    type(layer_table_t), intent(in) :: table
    type(layers_box_t), intent(in) :: box
    type(axis_t), intent(in) :: x, y
    type(stack_t), intent(inout) :: stack
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: why
    integer :: i, j, k, n, status
    logical :: ok
    n = size(table%layer)
    allocate (stack%true(0:ubound(x%node, 1), 0:ubound(y%node, 1), n + 1), stat=status)
    if (status == 0) allocate (stack%used, mold=stack%true, stat=status)
    if (status /= 0) then
      call Fail(error, 'no memory for the surfaces of '//Str(n)//' layers at '//Str(size(x%node))//' x '//Str(size(y%node))// &
                ' places')
      return
    end if
    stack%true(:, :, n + 1) = box%bottom
    do k = 1, n
      do j = 0, ubound(y%node, 1)
        do i = 0, ubound(x%node, 1)
          call SurfaceAt(table%layer(k)%top, x%inside(i), y%inside(j), stack%true(i, j, k), ok, why)
          if (ok) cycle
          call Fail(error, 'table of layers '//table%path//': at '//Place(x%inside(i), y%inside(j))//' the upper side of layer '// &
                    table%layer(k)%name//', '//table%layer(k)%top%words//', '//why)
          return
        end do
      end do
    end do
  end subroutine Surfaces

  pure function Place(x, y)
    real(dp), intent(in) :: x, y
    character(:), allocatable :: Place
    Place = 'x = '//Str(x, 7)//', y = '//Str(y, 7)//' m'
  end function Place

  !> An upper surface cuts those below it, the bottom all; a floor above its water is land.
  pure subroutine Cut(fluid, z)
    logical, intent(in) :: fluid(:)
    real(dp), intent(inout) :: z(:, :, :)
    integer :: k, l, n
    n = size(fluid)
    do k = 2, n
      if (all(fluid(:k - 1)) .and. .not. fluid(k)) then
        do l = 1, k - 1
          z(:, :, l) = min(z(:, :, l), z(:, :, k))
        end do
      else
        z(:, :, k) = max(z(:, :, k), z(:, :, k - 1))
      end if
    end do
    do k = 1, n
      z(:, :, k) = min(z(:, :, k), z(:, :, n + 1))
    end do
  end subroutine Cut

  !> The rows of each layer, as many as it needs where it is thickest.
  subroutine Rows(table, box, x, y, stack, error)
    type(layer_table_t), intent(in) :: table
    type(layers_box_t), intent(in) :: box
    type(axis_t), intent(in) :: x, y
    type(stack_t), intent(inout) :: stack
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: elements
    integer :: k, n
    n = size(table%layer)
    allocate (stack%rows(n), stack%least(n), stack%thick(n))
    do k = 1, n
      stack%thick(k) = maxval(stack%true(:, :, k + 1) - stack%true(:, :, k))
      if (.not. stack%thick(k) > no_thickness*max(1.0_dp, box%bottom - minval(stack%true(:, :, 1)))) then
        call Fail(error, 'table of layers '//table%path//': layer '//table%layer(k)%name//' is nowhere in the box, from x = '// &
                  Str(box%x(1))//' to '//Str(box%x(2))//', y = '//Str(box%y(1))//' to '//Str(box%y(2))//' m and down to '// &
                  Str(box%bottom)//' m: leave it out, or make mesh_bottom deeper')
        return
      end if
      if (stack%thick(k)/box%height(k) > most_elements) then
        call Fail(error, 'mesh=layers: layer '//table%layer(k)%name//' would have more than 2e7 rows of elements: use higher ones')
        return
      end if
      stack%rows(k) = Count_(stack%thick(k), box%height(k))
      stack%least(k) = box%thinnest*stack%thick(k)/stack%rows(k)
    end do
    if (box%sponge > 0) stack%below = max(1, nint(box%sponge*stack%rows(n)/stack%thick(n)))
    elements = real(x%columns, dp)*y%columns*(sum(real(stack%rows, dp)) + stack%below)
    if (elements > most_elements) call Fail(error, 'mesh=layers: '//Str(x%columns)//' x '//Str(y%columns)//' columns of '// &
      Str(sum(stack%rows) + stack%below)//' elements are '//Str(elements, 3)//', at most '//Str(most_elements)// &
      ' are possible: use larger elements (mesh_dx, mesh_dy, heights, or a lower fmax) or a smaller box')
  end subroutine Rows

  !> Moves surfaces, down first, so that there is room for all rows.
  subroutine MakeRoom(table, x, y, stack, error)
    type(layer_table_t), intent(in) :: table
    type(axis_t), intent(in) :: x, y
    type(stack_t), intent(inout) :: stack
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: room
    integer :: i, j, k, n
    n = size(stack%rows)
    do j = 0, ubound(y%node, 1)
      do i = 0, ubound(x%node, 1)
        associate (z => stack%used(i, j, :))
          z = stack%true(i, j, :)
          do k = 2, n
            z(k) = max(z(k), z(k - 1) + stack%rows(k - 1)*stack%least(k - 1))
          end do
          do k = n, 2, -1
            z(k) = min(z(k), z(k + 1) - stack%rows(k)*stack%least(k))
          end do
          room = z(2) - z(1) - stack%rows(1)*stack%least(1)*(1 - 1.0e-9_dp)
          if (room < 0) then
            call Fail(error, 'mesh=layers: at '//Place(x%inside(i), y%inside(j))//' there are '//Str(z(n + 1) - z(1), 5)// &
                      ' m from the ground to the bottom, and the '//Str(sum(stack%rows))//' rows of elements of '//table%path// &
                      ' need '//Str(sum(stack%rows*stack%least), 5)//' m at least: make mesh_bottom deeper, mesh_thinnest '// &
                      'smaller, or elements higher')
            return
          end if
        end associate
      end do
    end do
  end subroutine MakeRoom

  ! --- nodes and elements ---------------------------------------------------------------------------------------------------

  subroutine Nodes(box, x, y, stack, mesh, error)
    type(layers_box_t), intent(in) :: box
    type(axis_t), intent(in) :: x, y
    type(stack_t), intent(in) :: stack
    type(mesh_t), intent(inout) :: mesh
    type(error_t), allocatable, intent(inout) :: error
    integer :: i, j, k, l, at, m, levels, status
    real(dp) :: z
    m = Between(box)
    levels = m*(sum(stack%rows) + stack%below) + 1
    allocate (mesh%x(3, size(x%node)*size(y%node)*levels), stat=status)
    if (status /= 0) then
      call Fail(error, 'no memory for '//Str(real(size(x%node), dp)*size(y%node)*levels, 3)//' nodes of the mesh')
      return
    end if
    at = 0
    do k = 1, size(stack%rows) + 1
      do l = 0, LastLevel(k)
        do j = 0, ubound(y%node, 1)
          do i = 0, ubound(x%node, 1)
            if (k > size(stack%rows)) then
              z = stack%used(i, j, k)
              if (stack%below > 0) z = z + box%sponge*l/(m*stack%below)
            else
              z = stack%used(i, j, k) + (stack%used(i, j, k + 1) - stack%used(i, j, k))*(real(l, dp)/(m*stack%rows(k)))
            end if
            at = at + 1
            mesh%x(:, at) = [x%node(i), y%node(j), z]
          end do
        end do
      end do
    end do

  contains

    !> Of a layer, without the surface below it.
    pure integer function LastLevel(k)
      integer, intent(in) :: k
      LastLevel = m*stack%below
      if (k <= size(stack%rows)) LastLevel = m*stack%rows(k) - 1
    end function LastLevel

  end subroutine Nodes

  !> moved: elements that have another medium than their row.
  subroutine Elements(table, box, x, y, stack, mesh, moved)
    type(layer_table_t), intent(in) :: table
    type(layers_box_t), intent(in) :: box
    type(axis_t), intent(in) :: x, y
    type(stack_t), intent(in) :: stack
    type(mesh_t), intent(inout) :: mesh
    integer, intent(out) :: moved
    integer :: e, i, j, k, a, b, m, layer, n(3), at(3), own
    m = Between(box)
    n = [size(x%node), size(y%node), 0]
    mesh%path = table%path
    mesh%per = box%per
    a = x%columns*y%columns*(sum(stack%rows) + stack%below)
    allocate (mesh%node(box%per, a), mesh%block(a), mesh%blocks(size(table%layer)))
    do b = 1, size(table%layer)
      mesh%blocks(b)%id = b
      mesh%blocks(b)%name = table%layer(b)%name
    end do
    e = 0
    moved = 0
    do k = 1, sum(stack%rows) + stack%below
      layer = min(size(stack%rows), 1 + count([(k > sum(stack%rows(:b)), b=1, size(stack%rows))]))
      do j = 1, y%columns
        do i = 1, x%columns
          e = e + 1
          do a = 1, box%per
            at = m*([i, j, k] - 1) + (hex_node(:, a) + 1)*m/2
            mesh%node(a, e) = 1 + at(1) + n(1)*(at(2) + n(2)*at(3))
          end do
          own = LayerAt(sum(mesh%x(3, mesh%node(:8, e)))/8)
          if (own /= layer) moved = moved + 1
          mesh%block(e) = own
        end do
      end do
    end do

  contains

    !> The layer at depth z in the middle of the column.
    pure integer function LayerAt(z)
      real(dp), intent(in) :: z
      integer :: b
      do b = size(stack%rows), 2, -1
        if (sum(stack%true(m*(i - 1):m*i:m, m*(j - 1):m*j:m, b))/4 <= z) exit
      end do
      LayerAt = b
    end function LayerAt

  end subroutine Elements

  !> Named sets: `free`, the ground, and `absorbing`, the four sides and the bottom.
  subroutine OuterSides(nx, ny, mesh)
    integer, intent(in) :: nx, ny
    type(mesh_t), intent(inout) :: mesh
    integer :: e, i, j, k, nz, s
    nz = size(mesh%block)/(nx*ny)
    allocate (mesh%sets(2))
    mesh%sets(1)%id = 1
    mesh%sets(1)%name = 'free'
    mesh%sets(1)%element = [(e, e=1, nx*ny)]
    mesh%sets(1)%side = spread(5, 1, nx*ny)
    mesh%sets(2)%id = 2
    mesh%sets(2)%name = 'absorbing'
    allocate (mesh%sets(2)%element(2*nz*(nx + ny) + nx*ny), mesh%sets(2)%side(2*nz*(nx + ny) + nx*ny))
    s = 0
    do k = 1, nz
      do j = 1, ny
        do i = 1, nx
          e = i + nx*(j - 1 + ny*(k - 1))
          if (j == 1) call Add(1)
          if (i == nx) call Add(2)
          if (j == ny) call Add(3)
          if (i == 1) call Add(4)
          if (k == nz) call Add(6)
        end do
      end do
    end do

  contains

    subroutine Add(side)
      integer, intent(in) :: side
      s = s + 1
      mesh%sets(2)%element(s) = e
      mesh%sets(2)%side(s) = side
    end subroutine Add

  end subroutine OuterSides

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

  function InWords(table, x, y, stack, mesh, moved) result(words)
    type(layer_table_t), intent(in) :: table
    type(axis_t), intent(in) :: x, y
    type(stack_t), intent(in) :: stack
    type(mesh_t), intent(in) :: mesh
    integer, intent(in) :: moved
    character(:), allocatable :: words
    real(dp) :: off
    integer :: k
    words = Str(x%columns)//' x '//Str(y%columns)//' columns; rows:'
    do k = 1, size(stack%rows)
      words = words//' '//Str(stack%rows(k))//' of '//table%layer(k)%name
      if (k < size(stack%rows)) words = words//','
    end do
    if (stack%below > 0) words = words//', '//Str(stack%below)//' below'
    if (moved > 0) words = words//'; '//Str(moved)//' of '//Str(size(mesh%block))//' elements lie in another layer than their '// &
                           'row, which is thin or ends there, and have its medium'
    off = Misplaced(stack)
    if (off > no_thickness*stack%thick(size(stack%thick))) words = words//'; contacts lie up to '//Str(off, 3)// &
      ' m from where the table has them, as rows are not thinner (mesh_thinnest)'
  end function InWords

  !> The largest distance of a contact from the nearest boundary of rows [m].
  pure real(dp) function Misplaced(stack) result(off)
    type(stack_t), intent(in) :: stack
    real(dp) :: z, height
    integer :: i, j, k, l
    off = 0
    do k = 2, size(stack%rows)
      do j = 0, ubound(stack%used, 2)
        do i = 0, ubound(stack%used, 1)
          z = stack%true(i, j, k)
          do l = size(stack%rows), 2, -1
            if (stack%used(i, j, l) <= z) exit
          end do
          height = (stack%used(i, j, l + 1) - stack%used(i, j, l))/stack%rows(l)
          z = (z - stack%used(i, j, l))/height
          off = max(off, abs(z - anint(z))*height)
        end do
      end do
    end do
  end function Misplaced

end module mesh_layers_m
