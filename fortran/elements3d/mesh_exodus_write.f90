!> Writes a mesh as an Exodus II file, which mesh_exodus.f90 reads, and ParaView. It has each node, block and side set as the mesh
!> has them, z turned back where it points up. Of blocks and sets without elements it has number and name.
module mesh_exodus_write_m
  use error_m, only: error_t, AddContext, FailFromC
  use files_m, only: FileHalf, FileRemove, FileRename, FileSync
  use fio_c, only: fio_abandon, fio_close, fio_create, fio_dim, fio_enddef, fio_numbers, fio_put_doubles, fio_put_longs, &
                   fio_put_text, fio_text, fio_var
  use iso_c_binding, only: c_associated, c_long_long, c_null_char, c_ptr
  use kinds_m, only: dp, i8
  use mesh_exodus_m, only: MeshTurned
  use mesh_m, only: mesh_t
  use text_m, only: CString, Str
  implicit none
  private
  public :: MeshWrite

  integer, parameter :: shortest_room = 33          !< for a name, with the end that C wants
  integer, parameter :: at_once = 100000            !< elements written at once

contains

  !> up: z of the file points up. A file that is there is replaced, once the new one is whole and on the disk.
  subroutine MeshWrite(path, mesh, up, error)
    character(*), intent(in) :: path
    type(mesh_t), intent(in) :: mesh
    logical, intent(in) :: up
    type(error_t), allocatable, intent(inout) :: error
    type(error_t), allocatable :: ignored
    type(c_ptr) :: file
    character(:), allocatable :: half
    half = FileHalf(path)
    file = fio_create(CString(half))
    if (.not. c_associated(file)) call FailFromC(1, error)
    if (.not. allocated(error)) then
      call Define(file, mesh, up, error)
      call PutNodes(file, mesh, up, error)
      call PutBlocks(file, mesh, up, error)
      call PutSets(file, mesh, up, error)
      if (allocated(error)) then
        if (fio_abandon(file) /= 0) continue        ! the first failure is told
      else
        call FailFromC(fio_close(file), error)
      end if
      if (.not. allocated(error)) call FileSync(half, error)
      if (.not. allocated(error)) call FileRename(half, path, error)
      if (allocated(error)) call FileRemove(half, ignored)
    end if
    if (allocated(error)) call AddContext(error, "mesh '"//path//"'")
  end subroutine MeshWrite

  subroutine Define(file, mesh, up, error)
    type(c_ptr), intent(in) :: file
    type(mesh_t), intent(in) :: mesh
    logical, intent(in) :: up
    type(error_t), allocatable, intent(inout) :: error
    integer :: b
    call FailFromC(fio_text(file, CString(''), CString('title'), &
                            CString('Hexahedra, z points '//trim(merge('up  ', 'down', up)))), error)
    call Numbers('api_version', 'float', 5.0_dp)
    call Numbers('version', 'float', 5.0_dp)
    call Numbers('floating_point_word_size', 'int', 8.0_dp)
    call Numbers('file_size', 'int', 1.0_dp)
    call Dim('len_name', NameRoom(mesh))
    call Dim('num_dim', 3)
    call Dim('num_nodes', size(mesh%x, 2))
    call Dim('num_elem', size(mesh%node, 2))
    call Dim('num_el_blk', size(mesh%blocks))
    call Var('coordx', 'double', 'num_nodes')
    call Var('coordy', 'double', 'num_nodes')
    call Var('coordz', 'double', 'num_nodes')
    call Var('eb_status', 'int', 'num_el_blk')
    call Var('eb_prop1', 'int', 'num_el_blk')
    call FailFromC(fio_text(file, CString('eb_prop1'), CString('name'), CString('ID')), error)
    call Var('eb_names', 'char', 'num_el_blk len_name')
    do b = 1, size(mesh%blocks)
      if (all(mesh%block /= b)) cycle
      call Dim('num_el_in_blk'//Str(b), count(mesh%block == b))
      call Dim('num_nod_per_el'//Str(b), mesh%per)
      call Var('connect'//Str(b), 'int', 'num_el_in_blk'//Str(b)//' num_nod_per_el'//Str(b))
      call FailFromC(fio_text(file, CString('connect'//Str(b)), CString('elem_type'), CString('HEX'//Str(mesh%per))), error)
    end do
    if (size(mesh%sets) > 0) then
      call Dim('num_side_sets', size(mesh%sets))
      call Var('ss_status', 'int', 'num_side_sets')
      call Var('ss_prop1', 'int', 'num_side_sets')
      call FailFromC(fio_text(file, CString('ss_prop1'), CString('name'), CString('ID')), error)
      call Var('ss_names', 'char', 'num_side_sets len_name')
    end if
    do b = 1, size(mesh%sets)
      if (size(mesh%sets(b)%element) == 0) cycle
      call Dim('num_side_ss'//Str(b), size(mesh%sets(b)%element))
      call Var('elem_ss'//Str(b), 'int', 'num_side_ss'//Str(b))
      call Var('side_ss'//Str(b), 'int', 'num_side_ss'//Str(b))
    end do
    if (.not. allocated(error)) call FailFromC(fio_enddef(file), error)

  contains

    subroutine Numbers(name, type, value)
      character(*), intent(in) :: name, type
      real(dp), intent(in) :: value
      if (.not. allocated(error)) call FailFromC(fio_numbers(file, CString(''), CString(name), CString(type), 1, [value]), error)
    end subroutine Numbers

    subroutine Dim(name, n)
      character(*), intent(in) :: name
      integer, intent(in) :: n
      if (.not. allocated(error)) call FailFromC(fio_dim(file, CString(name), int(n, c_long_long)), error)
    end subroutine Dim

    subroutine Var(name, type, dims)
      character(*), intent(in) :: name, type, dims
      if (.not. allocated(error)) call FailFromC(fio_var(file, CString(name), CString(type), CString(dims)), error)
    end subroutine Var

  end subroutine Define

  subroutine PutNodes(file, mesh, up, error)
    type(c_ptr), intent(in) :: file
    type(mesh_t), intent(in) :: mesh
    logical, intent(in) :: up
    type(error_t), allocatable, intent(inout) :: error
    integer(c_long_long) :: n(1)
    integer :: a
    n = size(mesh%x, 2)
    do a = 1, 3
      if (allocated(error)) return
      call FailFromC(fio_put_doubles(file, CString('coord'//'xyz'(a:a)), [0_c_long_long], n, &
                                     merge(-1, 1, up .and. a == 3)*mesh%x(a, :)), error)
    end do
  end subroutine PutNodes

  subroutine PutBlocks(file, mesh, up, error)
    type(c_ptr), intent(in) :: file
    type(mesh_t), intent(in) :: mesh
    logical, intent(in) :: up
    type(error_t), allocatable, intent(inout) :: error
    integer, allocatable :: mine(:)
    integer :: turned(mesh%per), b, i, from, to
    turned = [(i, i=1, mesh%per)]
    if (up) turned = MeshTurned(mesh%per)
    do b = 1, size(mesh%blocks)
      mine = pack([(i, i=1, size(mesh%block))], mesh%block == b)
      call PutName(file, 'eb', b, mesh%blocks(b)%id, mesh%blocks(b)%name, NameRoom(mesh), size(mine) > 0, error)
      do from = 1, size(mine), at_once
        to = min(size(mine), from + at_once - 1)
        if (allocated(error)) return
        call FailFromC(fio_put_longs(file, CString('connect'//Str(b)), [from - 1_c_long_long, 0_c_long_long], &
                                     [int(to - from + 1, c_long_long), int(mesh%per, c_long_long)], &
                                     int(reshape(mesh%node(turned, mine(from:to)), [(to - from + 1)*mesh%per]), i8)), error)
      end do
    end do
  end subroutine PutBlocks

  !> Elements of the file are numbered as their blocks follow each other.
  subroutine PutSets(file, mesh, up, error)
    type(c_ptr), intent(in) :: file
    type(mesh_t), intent(in) :: mesh
    logical, intent(in) :: up
    type(error_t), allocatable, intent(inout) :: error
    integer, parameter :: other(6) = [1, 2, 3, 4, 6, 5]
    integer :: place(size(mesh%block)), s, b, i
    integer(c_long_long) :: n(1)
    place([((pack([(i, i=1, size(mesh%block))], mesh%block == b)), b=1, size(mesh%blocks))]) = [(i, i=1, size(mesh%block))]
    do s = 1, size(mesh%sets)
      n = size(mesh%sets(s)%element)
      call PutName(file, 'ss', s, mesh%sets(s)%id, mesh%sets(s)%name, NameRoom(mesh), all(n > 0), error)
      if (all(n == 0)) cycle
      associate (side => merge(other(mesh%sets(s)%side), mesh%sets(s)%side, up))
        if (.not. allocated(error)) call FailFromC(fio_put_longs(file, CString('elem_ss'//Str(s)), [0_c_long_long], n, &
                                                                 int(place(mesh%sets(s)%element), i8)), error)
        if (.not. allocated(error)) call FailFromC(fio_put_longs(file, CString('side_ss'//Str(s)), [0_c_long_long], n, &
                                                                 int(side, i8)), error)
      end associate
    end do
  end subroutine PutSets

  !> For the longest name and the end that C wants.
  pure integer function NameRoom(mesh) result(room)
    type(mesh_t), intent(in) :: mesh
    integer :: i
    room = maxval([shortest_room, (1 + len(mesh%blocks(i)%name), i=1, size(mesh%blocks)), &
                   (1 + len(mesh%sets(i)%name), i=1, size(mesh%sets))])
  end function NameRoom

  !> Number, state and name of block or set number i; there: it has elements.
  subroutine PutName(file, kind, i, id, name, room, there, error)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: kind, name
    integer, intent(in) :: i, id, room
    logical, intent(in) :: there
    type(error_t), allocatable, intent(inout) :: error
    character(room) :: text
    integer(c_long_long) :: at(1)
    integer(i8) :: status(1)
    at = i - 1
    status = merge(1, 0, there)
    text = name
    text = text(:len_trim(text))//repeat(c_null_char, room)
    if (.not. allocated(error)) call FailFromC(fio_put_longs(file, CString(kind//'_status'), at, [1_c_long_long], status), error)
    if (.not. allocated(error)) &
      call FailFromC(fio_put_longs(file, CString(kind//'_prop1'), at, [1_c_long_long], [int(id, i8)]), error)
    if (.not. allocated(error)) call FailFromC(fio_put_text(file, CString(kind//'_names'), [at, 0_c_long_long], &
                                                            [1_c_long_long, int(room, c_long_long)], text), error)
  end subroutine PutName

end module mesh_exodus_write_m
