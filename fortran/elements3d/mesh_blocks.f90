!> Facts on the blocks of a mesh: numbers, sizes, shapes and points per shortest wavelength.
module mesh_blocks_m
  use elements_m, only: degree, in_element
  use hexahedron_m, only: Determinant, hex_edge, HexJacobians
  use kinds_m, only: dp
  use materials_m, only: material_slowest
  use mesh_m, only: mesh_t
  use text_m, only: Str
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
    real(dp), allocatable :: edge(:, :), shape(:)
    integer :: b, e, n
    n = size(mesh%node, 2)
    allocate (edge(2, n), shape(n), blocks(size(mesh%blocks)))
    !$omp parallel do
    do e = 1, n
      call Measure(mesh%x(:, mesh%node(:, e)), edge(:, e), shape(e))
    end do
    do b = 1, size(blocks)
      blocks(b)%name = mesh%blocks(b)%name
      if (blocks(b)%name == '') blocks(b)%name = Str(mesh%blocks(b)%id)
      blocks(b)%v = part(material_slowest, b)
    end do
    do e = 1, n
      associate (block => blocks(mesh%block(e)))
        block%elements = block%elements + 1
        block%shortest = min(block%shortest, edge(1, e))
        block%longest = max(block%longest, edge(2, e))
        block%shape = min(block%shape, shape(e))
      end associate
    end do
  end subroutine BlocksOf

  !> Shortest and longest edge [m], and shape of an element.
  pure subroutine Measure(x, edge, shape)
    real(dp), intent(in) :: x(:, :)
    real(dp), intent(out) :: edge(2), shape
    real(dp) :: length(12)
    integer :: k
    do k = 1, 12
      length(k) = norm2(x(:, hex_edge(2, k)) - x(:, hex_edge(1, k)))
    end do
    edge = [minval(length), maxval(length)]
    shape = ShapeOf(x)
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
        rows = rows//merge('block      ', '           ', b == 1)//a%name//': '// &
               Str(a%elements)//' elements, edges '//Str(a%shortest, 4)//' .. '//Str(a%longest, 4)//' m, worst shape '// &
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
