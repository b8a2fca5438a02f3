!> Exodus II files of every NetCDF kind give the same mesh, turned z down; broken ones give one sentence.
program t803_sem_exodus
  use check_m, only: Claim, ClaimFails, ClaimFine, Done
  use elements_m, only: in_element
  use error_m, only: error_t
  use hexahedron_m, only: Determinant, HexJacobians, hex_side
  use kinds_m, only: dp
  use mesh_case_m, only: AnySeed, BoxMesh, MixMesh
  use mesh_exodus_m, only: MeshRead
  use mesh_exodus_write_m, only: MeshWrite
  use mesh_m, only: mesh_t
  use text_m, only: RealText, Str
  implicit none
  character(*), parameter :: kinds(6) = [character(20) :: 'NETCDF3_CLASSIC', 'NETCDF3_64BIT_OFFSET', 'NETCDF3_64BIT_DATA', &
                                         'NETCDF4', 'joined', 'int64']
  character(:), allocatable :: from
  type(error_t), allocatable :: error
  integer :: seed, i
  seed = AnySeed()
  from = ' (seed '//Str(seed)//')'
  do i = 1, 2
    call Sound(merge(8, 27, i == 1))
  end do
  call Unnamed()
  call Sound(8)
  call Broken()
  deallocate (from)
  call Done()

contains

  !> Writes a mesh, z up, and what mesh_files.py makes of it.
  subroutine Make(per, mesh)
    integer, intent(in) :: per
    type(mesh_t), intent(out) :: mesh
    character(4096) :: root, python
    integer :: unit, i, status
    mesh = BoxMesh([4, 3, 2], [100.0_dp, 80.0_dp, 60.0_dp], [-50.0_dp, 7.0e4_dp, -300.0_dp], merge(0.2_dp, 0.1_dp, per == 8), per, 1)
    call MixMesh(mesh)
    call get_environment_variable('ROOT', root)
    call get_environment_variable('PYTHON', python)
    open (newunit=unit, file='mesh.txt', action='write', status='replace')
    write (unit, '(4(1x,i0))') size(mesh%x, 2), size(mesh%node, 2), per, 3
    do i = 1, size(mesh%x, 2)
      write (unit, '(5a)') RealText(mesh%x(1, i)), ' ', RealText(mesh%x(2, i)), ' ', RealText(mesh%x(3, i))
    end do
    do i = 1, size(mesh%node, 2)
      write (unit, '(*(1x,i0))') mesh%block(i), mesh%node(:, i)
    end do
    write (unit, '(2(1x,i0))') 24, 5, 1, 6, 13, 2
    close (unit)
    call execute_command_line(trim(python)//' '//trim(root)//'/tests/elements3d/mesh_files.py', exitstat=status)
    call Claim(status == 0, 'mesh_files.py writes meshes of '//Str(per)//' nodes an element: exit status '//Str(status))
  end subroutine Make

  subroutine Sound(per)
    integer, intent(in) :: per
    type(mesh_t) :: mesh, first, read
    real(dp) :: jacobian(3, 3, in_element)
    logical :: same
    real(dp) :: least
    integer :: i, e, p, last, old
    call Make(per, mesh)
    call MeshRead(trim(kinds(1))//'.exo', first, error)
    call ClaimFine(error, trim(kinds(1))//' of '//Str(per)//' nodes reads')
    do i = 1, size(kinds)
      call MeshRead(trim(kinds(i))//'.exo', read, error)
      call ClaimFine(error, trim(kinds(i))//' reads')
      if (allocated(error)) return
      same = read%per == per .and. all(shape(read%x) == shape(mesh%x)) .and. all(shape(read%node) == shape(mesh%node))
      if (same) same = all(read%x == first%x) .and. all(read%node == first%node) .and. all(read%block == first%block)
      call Claim(same .and. SameNames(read), trim(kinds(i))//' has the same mesh')
      if (.not. same) return
    end do
    call Claim(all(first%x(:2, :) == mesh%x(:2, :)) .and. all(first%x(3, :) == -mesh%x(3, :)), 'z of the file is turned'//from)
    call Claim(all(first%number == [(e, e=1, 24)]) .and. all(first%block == [(1, e=1, 12), (2, e=13, 24)]), &
      'elements follow each other as their blocks do')
    least = huge(least)
    same = .true.
    last = 0
    do i = 1, 2
      do old = 1, 24
        if (mesh%block(old) /= i) cycle
        last = last + 1
        call HexJacobians(first%x(:, first%node(:, last)), jacobian)
        least = min(least, minval([(Determinant(jacobian(:, :, p)), p=1, in_element)]))
        do p = 1, per
          same = same .and. any(first%node(:, last) == mesh%node(p, old))
        end do
        if (last == 24) same = same .and. SameCorners(first%node(hex_side(:, first%sets(1)%side(1)), 24), mesh%node([1, 4, 3, 2], old))
        if (last == 1) same = same .and. SameCorners(first%node(hex_side(:, first%sets(1)%side(2)), 1), mesh%node(5:8, old))
        if (last == 13) same = same .and. SameCorners(first%node(hex_side(:, first%sets(1)%side(3)), 13), mesh%node([2, 3, 7, 6], old))
      end do
    end do
    call Claim(least > 1000, 'Jacobians stay positive, the least is '//Str(least, 4)//' m3, must be above 1000')
    call Claim(same .and. all(first%sets(1)%element == [24, 1, 13]), 'elements and sides of the set keep their nodes')
    call MeshRead('joined.exo', read, error, up=.false.)
    call ClaimFine(error, 'a mesh with z down reads')
    same = all(read%x == mesh%x) .and. all(read%sets(1)%side == [5, 6, 2])
    last = 0
    do i = 1, 2
      do old = 1, 24
        if (mesh%block(old) /= i) cycle
        last = last + 1
        same = same .and. all(read%node(:, last) == mesh%node(:, old))
      end do
    end do
    call Claim(same, 'and nothing of it is turned')
    call MeshRead('behind.exo', read, error)
    call ClaimFine(error, 'a mesh whose first block has no elements reads')
    if (allocated(error)) return
    call Claim(read%per == per .and. size(read%node, 2) == 24 .and. all(read%block == 2), 'and has elements of '//Str(per)//' nodes')
    call Written(first)
  end subroutine Sound

  !> A mesh with a block and a set without elements, and a name longer than Exodus II had once, is written and read again.
  subroutine Written(mesh)
    type(mesh_t), intent(inout) :: mesh
    type(mesh_t) :: read
    logical :: same
    integer :: i
    mesh%blocks(1)%name = 'water of a lake, its name is longer than 32'
    call MeshWrite('written.exo', mesh, .true., error)
    if (.not. allocated(error)) call MeshRead('written.exo', read, error)
    call ClaimFine(error, 'a mesh with a block and a set without elements is written and read')
    if (allocated(error)) return
    same = size(read%blocks) == 3 .and. size(read%sets) == 2
    if (same) same = all([(read%blocks(i)%name == mesh%blocks(i)%name .and. read%blocks(i)%elements == mesh%blocks(i)%elements, i=1, 3)]) &
      .and. all([(read%sets(i)%name == mesh%sets(i)%name .and. size(read%sets(i)%side) == size(mesh%sets(i)%side), i=1, 2)]) &
      .and. all(read%blocks%id == mesh%blocks%id) .and. all(read%sets%id == mesh%sets%id) .and. all(read%node == mesh%node) &
      .and. all(read%x == mesh%x)
    call Claim(same, 'with its nodes, elements, numbers and whole names')
  end subroutine Written

  pure logical function SameCorners(a, b)
    integer, intent(in) :: a(4), b(4)
    integer :: i
    SameCorners = all([(any(a == b(i)), i=1, 4)])
  end function SameCorners

  logical function SameNames(mesh)
    type(mesh_t), intent(in) :: mesh
    SameNames = size(mesh%blocks) == 3 .and. size(mesh%sets) == 2
    if (.not. SameNames) return
    SameNames = mesh%blocks(1)%name == 'water' .and. mesh%blocks(2)%name == 'rock?[2J' .and. mesh%blocks(3)%name == 'nothing' &
      .and. all(mesh%blocks%id == [10, 20, 30]) .and. all(mesh%blocks%elements == [12, 12, 0]) &
      .and. mesh%sets(1)%name == 'seaside' .and. mesh%sets(2)%name == '' .and. all(mesh%sets%id == [7, 8]) &
      .and. size(mesh%sets(1)%side) == 3 .and. size(mesh%sets(2)%side) == 0
  end function SameNames

  subroutine Unnamed()
    type(mesh_t) :: mesh
    call MeshRead('unnamed.exo', mesh, error)
    call ClaimFine(error, 'a mesh without names reads')
    call Claim(mesh%blocks(2)%name == '' .and. mesh%blocks(2)%id == 20 .and. mesh%sets(1)%name == '', 'its blocks have numbers alone')
  end subroutine Unnamed

  subroutine Broken()
    call Refused('nodim', 'there is no dimension num_dim, so it is no mesh in Exodus II')
    call Refused('flat', 'num_dim is 2, must be 3 .. 3')
    call Refused('tetra', "block 10 'water', from element 1 on, has elements of type 'TETRA4' with 8 nodes")
    call Refused('twenty', "block 20 'rock?[2J', from element 13 on, has elements of type 'HEX20' with 20 nodes")
    call Refused('mixed', 'from element 13 on, has elements of 27 nodes, blocks before it of 8')
    call Refused('fewer', 'the blocks have 24 elements or more, num_elem says 23')
    call Refused('more', 'the blocks have 24 elements together, num_elem says 25')
    call Refused('huge', '899999999 nodes and 24 elements cannot be in')
    call Refused('beyond', 'num_nodes is 1099511627776, must be 8 .. 900000000')
    call Refused('zero', 'element 2 has node 0, must be 1 .. 60')
    call Refused('high', 'element 13 has node 61, must be 1 .. 60')
    call Refused('nan', 'coordinate y of node 5 is NaN m')
    call Refused('far', 'coordinate z of node 6 is 1e30 m, must be within 1e9 m')
    call Refused('side', 'number 1 of side_ss1 is 7, must be 1 .. 6')
    call Refused('element', 'number 2 of elem_ss1 is 25, must be 1 .. 24')
    call Refused('cut', 'was cut short')
    call Refused('text', 'give an undamaged Exodus II file')
    call Refused('missing', "'missing.exo'")
  end subroutine Broken

  subroutine Refused(name, words)
    character(*), intent(in) :: name, words
    type(mesh_t) :: mesh
    call MeshRead(name//'.exo', mesh, error)
    call ClaimFails(error, words, name)
  end subroutine Refused

end program t803_sem_exodus
