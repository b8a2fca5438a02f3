!> Surfaces of layers at the nodes of columns of elements, with room for the rows of each layer.
!>
!> Surfaces that cross: an upper one cuts those below it; but the floor of water, where it rises above the water, is land.
!> Outside of the box, `sponge` wide at its four sides and below, surfaces go on as they are at its sides.
module mesh_stack_m
  use error_m, only: error_t, Fail
  use kinds_m, only: dp
  use layer_table_m, only: layer_table_t
  use mesh_check_m, only: on_side
  use mesh_surface_m, only: SurfaceAt
  use text_m, only: Str
  implicit none
  private
  public :: layers_box_t, stack_t, StackMake, CountColumns, ElementsIn, Between, Misplaced, Unfollowed

  real(dp), parameter, public :: most_elements = 2.0e7_dp !< of a mesh
  integer, parameter :: looked_at = 200                   !< columns along x and y that Unfollowed looks at
  real(dp), parameter, public :: no_thickness = 1.0e-6_dp !< of the depth of the box: a layer that is nowhere thicker is nowhere

  !> A mesh to be made.
  type :: layers_box_t
    real(dp) :: x(2) = 0, y(2) = 0                        !< sides [m]
    real(dp) :: bottom = 0                                !< depth [m]
    real(dp) :: width(2) = 0                              !< of elements along x and y at most [m]
    real(dp), allocatable :: height(:)                    !< of those of each layer at most [m]
    logical, allocatable :: fluid(:)                      !< of each layer
    real(dp) :: sponge = 0                                !< [m]
    real(dp), allocatable :: largest(:)                   !< elements of each layer that hold waves, where that is known [m]
    real(dp) :: thinnest = 0.4_dp                         !< part of a height
    integer :: per = 8                                    !< nodes of an element
    real(dp), allocatable :: widest(:)                    !< elements of each layer by velocity [m]
    logical :: doubles = .false.                          !< elements double their width downwards wherever that allows it:
    real(dp), allocatable :: fastest(:)                   !< velocity of each layer, where they do [m/s],
    real(dp), allocatable :: doubling(:)                  !< or at these depths [m], which rise, where there are any
  end type layers_box_t

  !> Places along an axis: columns of elements, nodes, and places of these in the box, where surfaces are asked for.
  type :: axis_t
    integer :: columns = 0
    real(dp) :: width = 0                                 !< of an element in the box [m]
    real(dp), allocatable :: node(:), inside(:)           !< (0:)
  end type axis_t

  !> Surfaces at the nodes, (0:, 0:, layers + 1); the last is the bottom.
  type :: stack_t
    type(axis_t) :: x, y
    real(dp), allocatable :: true(:, :, :)                !< as the table has them, cut where they cross
    real(dp), allocatable :: used(:, :, :)                !< with room for the rows
    integer, allocatable :: rows(:)                       !< of each layer
    real(dp), allocatable :: least(:)                     !< height of a row of each layer [m]
    real(dp), allocatable :: thick(:)                     !< the largest thickness of each layer [m]
    integer :: below = 0                                  !< rows below the bottom of the box
  end type stack_t

contains

  !> whole: numbers of columns are multiples of this.
  subroutine StackMake(table, box, whole, stack, error)
    type(layer_table_t), intent(in) :: table
    type(layers_box_t), intent(in) :: box
    integer, intent(in) :: whole
    type(stack_t), intent(out) :: stack
    type(error_t), allocatable, intent(inout) :: error
    call CheckColumns(table, box, error)
    if (allocated(error)) return
    call MakeAxis(box, 1, whole, stack%x)
    call MakeAxis(box, 2, whole, stack%y)
    call Surfaces(table, box, stack, error)
    if (allocated(error)) return
    call Cut(box%fluid, stack%true)
    call Rows(table, box, stack, error)
    if (.not. allocated(error)) call MakeRoom(table, stack, error)
    if (.not. allocated(error)) call CheckThin(table, stack, error)
  end subroutine StackMake

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

  !> Along axis a, x or y. whole: columns are a multiple of this.
  pure subroutine MakeAxis(box, a, whole, axis)
    type(layers_box_t), intent(in) :: box
    integer, intent(in) :: a, whole
    type(axis_t), intent(out) :: axis
    integer :: n, outside, i, between
    real(dp) :: at, ends(2)
    call CountColumns(box, a, whole, axis%columns, n)
    ends = EndsOf(box, a)
    between = merge(1, 2, box%per == 8)
    outside = (axis%columns - n)/2
    axis%width = (ends(2) - ends(1))/n
    allocate (axis%node(0:between*axis%columns), axis%inside(0:between*axis%columns))
    do i = 0, between*axis%columns
      at = real(i, dp)/between - outside                  ! in elements of the box
      if (at < 0) then
        axis%node(i) = ends(1) + at*box%sponge/outside
      else if (at > n) then
        axis%node(i) = ends(2) + (at - n)*box%sponge/outside
      else
        axis%node(i) = ends(1) + (ends(2) - ends(1))*(at/n)
      end if
      axis%inside(i) = max(ends(1), min(ends(2), axis%node(i)))
    end do
  end subroutine MakeAxis

  pure function EndsOf(box, a) result(ends)
    type(layers_box_t), intent(in) :: box
    integer, intent(in) :: a
    real(dp) :: ends(2)
    ends = merge(box%x, box%y, a == 1)
  end function EndsOf

  !> Columns along axis a, a multiple of `whole`, of which `inside` are in the box.
  pure subroutine CountColumns(box, a, whole, columns, inside)
    type(layers_box_t), intent(in) :: box
    integer, intent(in) :: a, whole
    integer, intent(out) :: columns, inside
    real(dp) :: ends(2)
    ends = EndsOf(box, a)
    inside = ElementsIn(ends(2) - ends(1), box%width(a))
    do
      columns = inside + 2*Outside(box, ends(2) - ends(1), inside, 1)
      if (modulo(columns, whole) == 0) return
      inside = inside + 1
    end do
  end subroutine CountColumns

  !> Elements of the sponge beside n of a length: about as large, and not larger than layers from k on bear where those n are not.
  pure integer function Outside(box, length, n, k)
    type(layers_box_t), intent(in) :: box
    real(dp), intent(in) :: length
    integer, intent(in) :: n, k
    Outside = 0
    if (.not. box%sponge > 0) return
    Outside = max(1, nint(box%sponge*n/length))
    if (.not. allocated(box%largest)) return
    if (box%sponge/Outside > minval(box%largest(k:)) .and. length/n <= minval(box%largest(k:))) Outside = Outside + 1
  end function Outside

  !> Elements of at most this size in a length; a millionth more is no more.
  pure integer function ElementsIn(length, most)
    real(dp), intent(in) :: length, most
    ElementsIn = max(1, ceiling(length/most*(1 - 1.0e-6_dp)))
  end function ElementsIn

  ! --- surfaces -------------------------------------------------------------------------------------------------------------

  subroutine Surfaces(table, box, stack, error)
    type(layer_table_t), intent(in) :: table
    type(layers_box_t), intent(in) :: box
    type(stack_t), intent(inout) :: stack
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: why
    integer :: i, j, k, n, status
    logical :: ok
    n = size(table%layer)
    allocate (stack%true(0:ubound(stack%x%node, 1), 0:ubound(stack%y%node, 1), n + 1), stat=status)
    if (status == 0) allocate (stack%used, mold=stack%true, stat=status)
    if (status /= 0) then
      call Fail(error, 'no memory for the surfaces of '//Str(n)//' layers at '//Str(size(stack%x%node))//' x '// &
                Str(size(stack%y%node))//' places')
      return
    end if
    stack%true(:, :, n + 1) = box%bottom
    do k = 1, n
      do j = 0, ubound(stack%y%node, 1)
        do i = 0, ubound(stack%x%node, 1)
          call SurfaceAt(table%layer(k)%top, stack%x%inside(i), stack%y%inside(j), stack%true(i, j, k), ok, why)
          if (ok) cycle
          call Fail(error, 'table of layers '//table%path//': at '//Place(stack%x%inside(i), stack%y%inside(j))// &
                    ' the upper side of layer '//table%layer(k)%name//', '//table%layer(k)%top%words//', '//why)
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
  subroutine Rows(table, box, stack, error)
    type(layer_table_t), intent(in) :: table
    type(layers_box_t), intent(in) :: box
    type(stack_t), intent(inout) :: stack
    type(error_t), allocatable, intent(inout) :: error
    integer :: k, n
    n = size(table%layer)
    allocate (stack%rows(n), stack%least(n), stack%thick(n))
    do k = 1, n
      stack%thick(k) = maxval(stack%true(:, :, k + 1) - stack%true(:, :, k))
      if (.not. stack%thick(k) > no_thickness*max(1.0_dp, box%bottom - minval(stack%true(:, :, 1)))) then
        call Fail(error, 'table of layers '//table%path//': layer '//table%layer(k)%name//' is nowhere in the box, from x = '// &
                  Str(box%x(1))//' to '//Str(box%x(2))//', y = '//Str(box%y(1))//' to '//Str(box%y(2))//' m and down to '// &
                  Str(box%bottom)//' m: '//Next(k)//' begins nowhere deeper than it: leave it out, or check the order of '// &
                  'layers and mesh_bottom')
        return
      end if
      if (stack%thick(k)/box%height(k) > most_elements) then
        call Fail(error, 'mesh=layers: layer '//table%layer(k)%name//' would have more than 2e7 rows of elements: use higher ones')
        return
      end if
      stack%rows(k) = ElementsIn(stack%thick(k), box%height(k))
      stack%least(k) = box%thinnest*stack%thick(k)/stack%rows(k)
    end do
    stack%below = Outside(box, stack%thick(n), stack%rows(n), n)

  contains

    function Next(k) result(words)
      integer, intent(in) :: k
      character(:), allocatable :: words
      words = 'what is below'
      if (k < size(table%layer)) words = 'layer '//table%layer(k + 1)%name
    end function Next
  end subroutine Rows

  !> Moves surfaces, down first, so that there is room for all rows.
  subroutine MakeRoom(table, stack, error)
    type(layer_table_t), intent(in) :: table
    type(stack_t), intent(inout) :: stack
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: room
    integer :: i, j, k, n
    n = size(stack%rows)
    do j = 0, ubound(stack%y%node, 1)
      do i = 0, ubound(stack%x%node, 1)
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
            call Fail(error, 'mesh=layers: at '//Place(stack%x%inside(i), stack%y%inside(j))//' there are '// &
                      Str(z(n + 1) - z(1), 5)//' m from the ground to the bottom, and the '//Str(sum(stack%rows))// &
                      ' rows of elements of '//table%path//' need '//Str(sum(stack%rows*stack%least), 5)//' m at least: '// &
                      'make mesh_bottom deeper, mesh_thinnest smaller, or elements higher')
            return
          end if
        end associate
      end do
    end do
  end subroutine MakeRoom

  !> Rows beside each other whose heights differ so much that the nodes of one lie on the far side of the other, by MeshCheck.
  subroutine CheckThin(table, stack, error)
    type(layer_table_t), intent(in) :: table
    type(stack_t), intent(in) :: stack
    type(error_t), allocatable, intent(inout) :: error
    real(dp), parameter :: thinnest = on_side/2           !< part of the height beside it
    real(dp) :: height(2), part, worst(2)
    integer :: i, j, k, low, high, at(2)
    part = 1
    do k = 1, size(stack%rows) - 1
      do j = 0, ubound(stack%used, 2)
        do i = 0, ubound(stack%used, 1)
          height = (stack%used(i, j, k + 1:k + 2) - stack%used(i, j, k:k + 1))/stack%rows(k:k + 1)
          if (minval(height) >= part*maxval(height)) cycle
          part = minval(height)/maxval(height)
          worst = height
          low = k - 1 + minloc(height, 1)
          high = k - 1 + maxloc(height, 1)
          at = [i, j]
        end do
      end do
    end do
    if (part > thinnest) return
    call Fail(error, 'mesh=layers: at '//Place(stack%x%inside(at(1)), stack%y%inside(at(2)))//' elements of layer '// &
              table%layer(low)%name//' are '//Str(minval(worst), 3)//' m high beside those of '//table%layer(high)%name//', '// &
              Str(maxval(worst), 3)//' m; they must have '//Str(thinnest, 1)//' of that at least, '// &
              Str(thinnest*maxval(worst), 3)//' m: leave layer '//table%layer(low)%name//' out of '//table%path// &
              ', make it or its elements higher, or give a smaller height of elements of layer '//table%layer(high)%name)
  end subroutine CheckThin

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
          if (stack%rows(l) == 0) cycle             ! a layer that is nowhere
          height = (stack%used(i, j, l + 1) - stack%used(i, j, l))/stack%rows(l)
          z = (z - stack%used(i, j, l))/height
          off = max(off, abs(z - anint(z))*height)
        end do
      end do
    end do
  end function Misplaced

  !> The largest distance of surfaces from what the nodes of elements make of them [m], relative to the height of elements there, in
  !> words that name the worst; '' where that is little. Four points of a column are looked at, of many columns some.
  function Unfollowed(table, box, stack) result(words)
    type(layer_table_t), intent(in) :: table
    type(layers_box_t), intent(in) :: box
    type(stack_t), intent(in) :: stack
    character(:), allocatable :: words
    real(dp), parameter :: little = 0.05_dp, part(2, 4) = reshape([0.29_dp, 0.41_dp, 0.71_dp, 0.59_dp, 0.5_dp, 0.13_dp, 0.17_dp, &
                                                                   0.83_dp], [2, 4])
    real(dp) :: off, worst, at(2)
    integer :: i, j, k, p, step(2)
    words = ''
    worst = little
    step = 1 + [stack%x%columns, stack%y%columns]/looked_at
    do j = 0, stack%y%columns - 1, step(2)
      do i = 0, stack%x%columns - 1, step(1)
        do p = 1, size(part, 2)
          at = [Inside(stack%x, i, part(1, p), Between(box)), Inside(stack%y, j, part(2, p), Between(box))]
          call Beside(at, [i, j], part(:, p), k, off)
          if (off <= worst) cycle
          worst = off
          words = 'between nodes the upper side of '//table%layer(k)%name//' lies up to '//Str(off*box%height(k), 3)// &
                  ' m from the mesh, at '//Place(at(1), at(2))//', where elements are up to '//Str(box%height(k), 4)//' m high'
        end do
      end do
    end do

  contains

    !> The layer whose upper side is off most at a place, relative to the height of its elements.
    subroutine Beside(at, column, part, worst, off)
      real(dp), intent(in) :: at(2), part(2)
      integer, intent(in) :: column(2)
      integer, intent(out) :: worst
      real(dp), intent(out) :: off
      real(dp) :: z(1, 1, size(stack%rows) + 1), between_nodes
      integer :: k, n(2)
      logical :: ok
      character(:), allocatable :: why
      off = 0
      worst = 1
      z = box%bottom
      do k = 1, size(stack%rows)
        call SurfaceAt(table%layer(k)%top, at(1), at(2), z(1, 1, k), ok, why)
        if (.not. ok) return
      end do
      call Cut(box%fluid, z)
      n = column*Between(box)
      do k = 1, size(stack%rows)
        associate (nodes => stack%true(n(1):n(1) + Between(box), n(2):n(2) + Between(box), k))
          between_nodes = dot_product(Weights(part(1)), matmul(nodes, Weights(part(2))))
        end associate
        if (abs(z(1, 1, k) - between_nodes)/box%height(k) <= off) cycle
        off = abs(z(1, 1, k) - between_nodes)/box%height(k)
        worst = k
      end do
    end subroutine Beside

    !> Of the two or three nodes along a side of an element, for a place between them, 0 .. 1.
    pure function Weights(t) result(w)
      real(dp), intent(in) :: t
      real(dp), allocatable :: w(:)
      if (box%per == 8) then
        w = [1 - t, t]
      else
        w = [(1 - t)*(1 - 2*t), 4*t*(1 - t), t*(2*t - 1)]
      end if
    end function Weights
  end function Unfollowed

  !> The place in the box of a point of column i, 0 .. 1 along it.
  pure real(dp) function Inside(axis, i, t, nodes)
    type(axis_t), intent(in) :: axis
    integer, intent(in) :: i, nodes
    real(dp), intent(in) :: t
    Inside = (1 - t)*axis%inside(i*nodes) + t*axis%inside((i + 1)*nodes)
  end function Inside

end module mesh_stack_m
