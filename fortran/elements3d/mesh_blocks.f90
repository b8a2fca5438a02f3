!> Facts on the blocks of a mesh: numbers, sizes, shapes and points per shortest wavelength.
module mesh_blocks_m
  use elements_m, only: degree, in_element
  use hexahedron_m, only: Determinant, HexBounds, HexEdges, HexJacobians
  use kinds_m, only: dp
  use materials_m, only: material_slowest
  use mesh_m, only: mesh_t
  use text_m, only: Counted, Str
  implicit none
  private
  public :: block_t, BlocksOf, BlockRows, ShapeOf

  type :: block_t
    character(:), allocatable :: name
    integer :: elements = 0
    real(dp) :: shortest = huge(1.0_dp), longest = 0      !< edges [m]
    real(dp) :: shape = 1                                 !< the worst Jacobian over the lengths of its columns: 1 at right angles
    real(dp) :: v = 0                                     !< velocity of its slowest wave [m/s]
  end type block_t

contains

  !> part: media of the blocks (materials_m).
  subroutine BlocksOf(mesh, part, blocks)
    type(mesh_t), intent(in) :: mesh
    real(dp), intent(in) :: part(:, :)
    type(block_t), allocatable, intent(out) :: blocks(:)
    real(dp), dimension(size(mesh%blocks)) :: shortest, longest, shape
    integer :: b, e
    allocate (blocks(size(mesh%blocks)))
    shortest = huge(shortest)
    longest = 0
    shape = 1
    !$omp parallel do private(b) reduction(min: shortest, shape) reduction(max: longest)
    do e = 1, size(mesh%node, 2)
      b = mesh%block(e)
      call Measure(mesh%x(:, mesh%node(:, e)), shortest(b), longest(b), shape(b))
    end do
    !$omp end parallel do
    do e = 1, size(mesh%block)
      blocks(mesh%block(e))%elements = blocks(mesh%block(e))%elements + 1
    end do
    do b = 1, size(blocks)
      blocks(b)%name = mesh%blocks(b)%name
      if (blocks(b)%name == '') blocks(b)%name = Str(mesh%blocks(b)%id)
      blocks(b)%v = part(material_slowest, b)
      blocks(b)%shortest = shortest(b)
      blocks(b)%longest = longest(b)
      blocks(b)%shape = min(1.0_dp, shape(b))
    end do
  end subroutine BlocksOf

  !> Shortest and longest edge [m], and worst shape, of an element and those before it.
  pure subroutine Measure(x, shortest, longest, shape)
    real(dp), intent(in) :: x(:, :)
    real(dp), intent(inout) :: shortest, longest, shape
    real(dp) :: length(12), least, most, squares
    length = HexEdges(x)
    shortest = min(shortest, minval(length))
    longest = max(longest, maxval(length))
    if (size(x, 2) == 8) then                             ! most are surely not the worst
      call HexBounds(x, least, most, squares)
      if (least > 1.01_dp*shape*sqrt(squares) .and. shape > 0) return
    end if
    shape = min(shape, ShapeOf(x))
  end subroutine Measure

  !> The worst Jacobian of an element over the lengths of its columns.
  pure real(dp) function ShapeOf(x) result(shape)
    real(dp), intent(in) :: x(:, :)
    real(dp) :: jacobian(3, 3, in_element)
    integer :: p
    call HexJacobians(x, jacobian)
    shape = 1
    do p = 1, in_element
      associate (j => jacobian(:, :, p))
        shape = min(shape, Determinant(j)/max(sqrt(sum(j(:, 1)**2)*sum(j(:, 2)**2)*sum(j(:, 3)**2)), tiny(1.0_dp)))
      end associate
    end do
  end function ShapeOf

  !> A line a block, as `plan` prints.
  function BlockRows(blocks, fmax) result(rows)
    type(block_t), intent(in) :: blocks(:)
    real(dp), intent(in) :: fmax                          !< [Hz]
    character(:), allocatable :: rows
    integer :: b
    rows = ''
    do b = 1, size(blocks)
      associate (a => blocks(b))
        rows = rows//merge('block      ', '           ', b == 1)//a%name//': '//Counted(a%elements, 'element')
        if (b < size(blocks) .and. a%elements == 0) rows = rows//new_line('a')
        if (a%elements == 0) cycle
        rows = rows//', edges '//Str(a%shortest, 4)//' .. '//Str(a%longest, 4)//' m, worst shape '// &
               Str(a%shape, 2)//' of 1, '
        if (a%v > 0) then
          rows = rows//Str(degree*a%v/(fmax*a%longest), 3)//' points per wavelength at '//Str(fmax, 4)//' Hz'
        else
          rows = rows//'media from volumes'
        end if
        if (b < size(blocks)) rows = rows//new_line('a')
      end associate
    end do
  end function BlockRows

end module mesh_blocks_m
