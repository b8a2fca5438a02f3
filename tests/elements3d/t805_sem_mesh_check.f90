!> Sound meshes pass; a broken one of each kind is refused with the element and the place.
program t805_sem_mesh_check
  use check_m, only: ClaimFails, ClaimFine, Done
  use error_m, only: error_t
  use hexahedron_m, only: hex_node, HexAt
  use kinds_m, only: dp
  use mesh_case_m, only: AnySeed, BoxMesh, MixMesh
  use mesh_check_m, only: MeshCheck
  use mesh_m, only: mesh_t
  use text_m, only: Str
  implicit none
  character(:), allocatable :: from
  type(error_t), allocatable :: error
  integer :: seed
  seed = AnySeed()
  from = ' (seed '//Str(seed)//')'
  call Sound()
  call Jacobians()
  call Nodes()
  call Faces()
  deallocate (from)
  call Done()

contains

  subroutine Box(per, shake, mesh)
    integer, intent(in) :: per
    real(dp), intent(in) :: shake
    type(mesh_t), intent(out) :: mesh
    mesh = BoxMesh([5, 4, 3], [100.0_dp, 80.0_dp, 60.0_dp], [1.0e5_dp, 2.0e5_dp, -100.0_dp], shake, per, 1)
  end subroutine Box

  subroutine Sound()
    type(mesh_t) :: mesh
    integer :: n
    call Box(8, 0.2_dp, mesh)
    call MixMesh(mesh)
    call MeshCheck(mesh, error)
    call ClaimFine(error, 'a box of distorted elements of 8 nodes passes'//from)
    call Box(27, 0.1_dp, mesh)
    call MixMesh(mesh)
    call MeshCheck(mesh, error)
    call ClaimFine(error, 'a box of distorted elements of 27 nodes passes'//from)
    call Box(8, 0.0_dp, mesh)
    mesh%x(1, :) = 1.0e5_dp + (mesh%x(1, :) - 1.0e5_dp)**3/1.0e3_dp
    call MeshCheck(mesh, error)
    call ClaimFine(error, 'edges from 1e3 to 6e4 m pass')
    call Box(8, 0.0_dp, mesh)
    mesh%x(3, :) = mesh%x(3, :)/1000
    call MeshCheck(mesh, error)
    call ClaimFine(error, 'elements a thousand times as wide as high pass')
    n = size(mesh%x, 2)
    mesh%x = mesh%x*1.0e-3_dp
    call MeshCheck(mesh, error)
    call ClaimFine(error, 'so do elements of centimetres')
  end subroutine Sound

  subroutine Jacobians()
    type(mesh_t) :: mesh
    call Box(8, 0.1_dp, mesh)
    mesh%x(1, mesh%node(7, 17)) = mesh%x(1, mesh%node(7, 17)) - 130
    call MeshCheck(mesh, error)
    call ClaimFails(error, "mesh 'box': element 17 of block 10 'above', at x = ", 'a corner moved beyond its neighbours')
    call Box(8, 0.0_dp, mesh)
    mesh%number = 100 + mesh%number
    mesh%node(:, 23) = mesh%node([5, 6, 7, 8, 1, 2, 3, 4], 23)
    call MeshCheck(mesh, error)
    call ClaimFails(error, "element 123 of block 20 'below', at x = 100250, y = 200040, z = -10 m (z down), is inside out at "// &
      'x = 100200, y = 200000, z = ', 'the corners of one element in wrong order')
    call Box(8, 0.0_dp, mesh)
    mesh%x(3, :) = -mesh%x(3, :)
    call MeshCheck(mesh, error)
    call ClaimFails(error, '60 of 60 elements are, or are almost flat): their nodes are numbered upside down, spl-mesh convert '// &
      'turns them', 'all of them')
    call Box(27, 0.0_dp, mesh)
    mesh%x(:, mesh%node(9, 5)) = mesh%x(:, mesh%node(1, 5)) + [1.0_dp, 0.0_dp, 0.0_dp]
    call MeshCheck(mesh, error)
    call ClaimFails(error, "element 5 of block 10 'above', ", 'a node of an edge too near to its end')
    call Box(8, 0.0_dp, mesh)
    mesh%x(:, mesh%node(1, 1)) = sum(mesh%x(:, mesh%node([2, 4, 5], 1)), 2)/3 - 0.1_dp
    call MeshCheck(mesh, error)
    call ClaimFails(error, 'element 1 of block 10', 'a corner in the plane of its neighbours')
  end subroutine Jacobians

  subroutine Nodes()
    type(mesh_t) :: mesh
    integer :: n, e
    call Box(8, 0.2_dp, mesh)
    mesh%x = reshape([mesh%x, [1.0e5_dp, 2.0e5_dp, 7.0_dp], [1.0e5_dp, 2.0e5_dp, 9.0_dp]], [3, size(mesh%x, 2) + 2])
    call MeshCheck(mesh, error)
    call ClaimFails(error, 'node 121 at x = 100000, y = 200000, z = 7 m (z down) belongs to no element (2 such node(s))', 'loose nodes')
    call Box(8, 0.1_dp, mesh)
    mesh%node(7:8, 8) = mesh%node([3, 4], 8)
    call MeshCheck(mesh, error)
    call ClaimFails(error, "element 8 of block 10 'above', at x = ", 'a wedge')
    ! the lower two layers have nodes of their own at the places of the upper one's
    call Box(8, 0.2_dp, mesh)
    n = size(mesh%x, 2)
    mesh%x = reshape([mesh%x, mesh%x + 1.0e-4_dp], [3, 2*n])
    do e = 21, 60
      mesh%node(:, e) = mesh%node(:, e) + n
    end do
    call Unloose(mesh)
    call MeshCheck(mesh, error)
    call ClaimFails(error, ', 0.000173 m apart: elements that meet must have common nodes', 'two parts not joined'//from)
  end subroutine Nodes

  !> Leaves out the nodes that no element has.
  subroutine Unloose(mesh)
    type(mesh_t), intent(inout) :: mesh
    integer :: new(size(mesh%x, 2)), n, i
    n = 0
    do i = 1, size(new)
      new(i) = 0
      if (.not. any(mesh%node == i)) cycle
      n = n + 1
      new(i) = n
      mesh%x(:, n) = mesh%x(:, i)
    end do
    mesh%x = mesh%x(:, :n)
    do i = 1, size(mesh%node, 2)
      mesh%node(:, i) = new(mesh%node(:, i))
    end do
  end subroutine Unloose

  subroutine Faces()
    type(mesh_t) :: mesh, fine
    integer :: n, per
    do per = 8, 27, 19
      ! four elements below the side of one
      mesh = BoxMesh([1, 1, 1], [200.0_dp, 200.0_dp, 200.0_dp], [0.0_dp, 0.0_dp, 0.0_dp], 0.0_dp, per, 1)
      fine = BoxMesh([2, 2, 1], [100.0_dp, 100.0_dp, 100.0_dp], [0.0_dp, 0.0_dp, 200.0_dp], 0.0_dp, per, 1)
      call Join(mesh, fine)
      call MeshCheck(mesh, error)
      call ClaimFails(error, 'elements that meet must have common nodes', 'four elements of '//Str(per)//' nodes on one, nodes double')
      ! the same where no corner falls on a corner
      mesh = BoxMesh([1, 1, 1], [200.0_dp, 200.0_dp, 200.0_dp], [0.0_dp, 0.0_dp, 0.0_dp], 0.0_dp, per, 1)
      fine = BoxMesh([1, 1, 1], [200.0_dp, 200.0_dp, 200.0_dp], [30.0_dp, -40.0_dp, 200.0_dp], 0.0_dp, per, 1)
      call Join(mesh, fine)
      call MeshCheck(mesh, error)
      call ClaimFails(error, "on its side or edge, at x = ", 'two elements of '//Str(per)//' nodes that touch')
      fine = BoxMesh([1, 1, 1], [200.0_dp, 200.0_dp, 200.0_dp], [30.0_dp, -40.0_dp, 203.0_dp], 0.0_dp, per, 1)
      mesh = BoxMesh([1, 1, 1], [200.0_dp, 200.0_dp, 200.0_dp], [0.0_dp, 0.0_dp, 0.0_dp], 0.0_dp, per, 1)
      call Join(mesh, fine)
      call MeshCheck(mesh, error)
      call ClaimFine(error, 'two that are 3 m apart pass')
      call MeshCheck(mesh, error, whole=.true.)
      call ClaimFails(error, 'shares no side with element 1 or those joined to it: the mesh is in 2 parts', 'but not as one mesh')
    end do
    call Box(8, 0.1_dp, mesh)
    n = size(mesh%node, 2)
    mesh%node = reshape([mesh%node, mesh%node(:, 31)], [8, n + 1])
    mesh%block = [mesh%block, 2]
    mesh%number = [mesh%number, n + 1]
    call MeshCheck(mesh, error)
    call ClaimFails(error, "element 61 of block 20 'below', at x = ", 'an element that is there twice')
    ! joined but for one corner of a refined element
    call Box(8, 0.0_dp, mesh)
    call Split(mesh)
    call MeshCheck(mesh, error)
    call ClaimFails(error, 'of another one on its side or edge, at x = 100250, y = 200', 'an element halved, its neighbours not')
    call Box(27, 0.05_dp, mesh)
    call Halve(mesh)
    call MeshCheck(mesh, error)
    call ClaimFails(error, 'of another one on its side or edge, at x = 1002', 'one of 27 nodes halved where its neighbours have theirs'//from)
    call Middles()
  end subroutine Faces

  !> The middle node of an edge, or of a side, is another one in one of the elements that have it.
  subroutine Middles()
    type(mesh_t) :: mesh
    integer :: n, a, last
    integer, parameter :: middle(2) = [17, 25]
    character(*), parameter :: what(2) = ['an edge', 'a side ']
    do a = 1, 2
      call Box(27, 0.1_dp, mesh)
      last = size(mesh%x, 2)
      n = mesh%node(middle(a), 28)
      mesh%x = reshape([mesh%x, mesh%x(:, n) + [3.0_dp, 4.0_dp, -5.0_dp]], [3, last + 1])
      mesh%node(middle(a), 28) = last + 1
      call MeshCheck(mesh, error)
      call ClaimFails(error, 'in the middle of '//trim(what(a))//', at x = ', 'one of 27 nodes with a middle of '//trim(what(a))// &
        ' that its neighbours have not'//from)
    end do
  end subroutine Middles

  !> Halves element 28 of 27 nodes across x: both halves have its nodes, and others at a quarter.
  subroutine Halve(mesh)
    type(mesh_t), intent(inout) :: mesh
    integer :: n, a, b, half, whole(27), number(-1:1, 27), here(27)
    n = size(mesh%x, 2)
    whole = mesh%node(:, 28)
    do half = -1, 1, 2
      do a = 1, 27
        ! nodes along x at -1, 0, 1 of the half lie at (half + that)/2 of the whole
        if (hex_node(1, a) == 0) then
          n = n + 1
          number(half, a) = n
        else
          do b = 1, 27
            if (all(hex_node(:, b) == [(half + hex_node(1, a))/2, hex_node(2, a), hex_node(3, a)])) number(half, a) = whole(b)
          end do
        end if
      end do
    end do
    mesh%x = reshape([mesh%x, [(0.0_dp, a=1, 3*(n - size(mesh%x, 2)))]], [3, n])
    do half = -1, 1, 2
      do a = 1, 27
        if (hex_node(1, a) == 0) mesh%x(:, number(half, a)) = HexAt(mesh%x(:, whole), [0.5_dp*half, real(hex_node(2:, a), dp)])
      end do
    end do
    mesh%node(:, 28) = number(-1, :)
    here = number(1, :)
    mesh%node = reshape([mesh%node, here], [27, 61])
    mesh%block = [mesh%block, 2]
    mesh%number = [mesh%number, 61]
  end subroutine Halve

  subroutine Join(mesh, other)
    type(mesh_t), intent(inout) :: mesh
    type(mesh_t), intent(in) :: other
    integer :: n
    n = size(mesh%x, 2)
    mesh%x = reshape([mesh%x, other%x], [3, n + size(other%x, 2)])
    mesh%node = reshape([mesh%node, other%node + n], [mesh%per, size(mesh%node, 2) + size(other%node, 2)])
    mesh%block = [mesh%block, other%block]
    mesh%number = [(n, n=1, size(mesh%node, 2))]
  end subroutine Join

  !> Halves element 28, at x = 100200 .. 100300, across x, with four nodes of its own.
  subroutine Split(mesh)
    type(mesh_t), intent(inout) :: mesh
    integer :: n, a, left(4), right(4), upper(8), lower(8)
    left = [1, 4, 8, 5]
    right = [2, 3, 7, 6]
    n = size(mesh%x, 2)
    mesh%x = reshape([mesh%x, (mesh%x(:, mesh%node(left, 28)) + mesh%x(:, mesh%node(right, 28)))/2], [3, n + 4])
    upper = mesh%node(:, 28)
    lower = upper
    upper(right) = [(n + a, a=1, 4)]
    lower(left) = [(n + a, a=1, 4)]
    mesh%node(:, 28) = upper
    mesh%node = reshape([mesh%node, lower], [8, 61])
    mesh%block = [mesh%block, 2]
    mesh%number = [mesh%number, 61]
  end subroutine Split

end program t805_sem_mesh_check
