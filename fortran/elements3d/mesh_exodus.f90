!> Meshes in Exodus II files (Schoof & Yarberry 1994, SAND92-2137): NetCDF with blocks of HEX8 or HEX27 and sets of sides.
!>
!>     coordx, coordy, coordz(num_nodes), or coord(num_dim, num_nodes)     [m]
!>     connect1(num_el_in_blk1, num_nod_per_el1), connect2, ...            nodes of elements; attribute elem_type
!>     eb_prop1(num_el_blk), eb_names(num_el_blk, len_name)                numbers and names of blocks; may be left out
!>     elem_ss1, side_ss1(num_side_ss1), elem_ss2, ...                     elements and their sides
!>     ss_prop1(num_side_sets), ss_names(num_side_sets, len_name)          numbers and names of sets; may be left out
module mesh_exodus_m
  use checked_m, only: Between, Whole
  use error_m, only: error_t, AddContext, Fail, FailFromC
  use fio_c, only: fio_close, fio_dim_length, fio_get_doubles, fio_get_longs, fio_get_text, fio_open, fio_var_dim, fio_var_rank, &
    fio_var_type
  use iso_c_binding, only: c_associated, c_char, c_int, c_long_long, c_ptr
  use kinds_m, only: dp, i8
  use mesh_m, only: mesh_t
  use netcdf_variable_m, only: NetcdfText
  use text_m, only: CString, FString, Lower, Str
  implicit none
  private
  public :: MeshRead, MeshTurned

  integer, parameter :: most_elements = 30000000          !< the points of more have numbers beyond 32 bits
  integer, parameter :: most_nodes = 900000000
  integer, parameter :: most_lists = 100000               !< blocks, sets
  integer, parameter :: at_once = 100000                  !< elements read at once
  real(dp), parameter :: farthest = 1.0e9_dp              !< [m]
  !> A byte of a file has no more numbers than this: deflate makes 1032 bytes of one at most.
  integer(i8), parameter :: most_in_byte = 1100
  !> The nodes of an element that z changes into each other.
  integer, parameter :: turned(27) = &
    [5, 6, 7, 8, 1, 2, 3, 4, 17, 18, 19, 20, 13, 14, 15, 16, 9, 10, 11, 12, 21, 23, 22, 24, 25, 26, 27]
  integer, parameter :: turned_side(6) = [1, 2, 3, 4, 6, 5]

contains

  !> Reads a mesh. up: z of the file points up, as it does unless said otherwise; node (x, y, z) becomes (x, y, -z), and the corners
  !> below and above change places. Elements are numbered as their blocks follow each other.
  subroutine MeshRead(path, mesh, error, up)
    character(*), intent(in) :: path
    type(mesh_t), intent(out) :: mesh
    type(error_t), allocatable, intent(inout) :: error
    logical, intent(in), optional :: up
    type(c_ptr) :: file
    mesh%path = path
    file = fio_open(CString(path), 0_c_int)
    if (.not. c_associated(file)) then
      call FailFromC(1, error)
      call AddContext(error, 'mesh')
      error%message = error%message// &
        ': give an undamaged Exodus II file; spl-mesh convert makes one of files of Gmsh, Abaqus, VTK ...'
      return
    end if
    call ReadCounts(file, mesh, error)
    call ReadNodes(file, mesh, error)
    call ReadBlocks(file, mesh, error)
    call ReadSets(file, mesh, error)
    if (fio_close(file) /= 0) continue                    ! it was only read
    if (allocated(error)) then
      call AddContext(error, "mesh '"//path//"'")
      return
    end if
    if (present(up)) then
      if (.not. up) return
    end if
    call Turn(mesh)
  end subroutine MeshRead

  !> The order of the nodes of an element whose z was turned.
  pure function MeshTurned(per) result(order)
    integer, intent(in) :: per
    integer :: order(per)
    order = turned(:per)
  end function MeshTurned

  subroutine Turn(mesh)
    type(mesh_t), intent(inout) :: mesh
    integer :: i
    mesh%x(3, :) = -mesh%x(3, :)
    mesh%node = mesh%node(turned(:mesh%per), :)
    do i = 1, size(mesh%sets)
      mesh%sets(i)%side = turned_side(mesh%sets(i)%side)
    end do
  end subroutine Turn

  !> Allocates nodes, elements, blocks and sets.
  subroutine ReadCounts(file, mesh, error)
    type(c_ptr), intent(in) :: file
    type(mesh_t), intent(inout) :: mesh
    type(error_t), allocatable, intent(inout) :: error
    integer :: dimensions, nodes, elements, blocks, sets, status, b
    integer(i8) :: bytes
    dimensions = Length(file, 'num_dim', 3, 3, error)
    nodes = Length(file, 'num_nodes', 8, most_nodes, error)
    elements = Length(file, 'num_elem', 1, most_elements, error)
    blocks = Length(file, 'num_el_blk', 1, most_lists, error)
    sets = 0
    if (Known(file, 'num_side_sets')) sets = Length(file, 'num_side_sets', 0, most_lists, error)
    if (allocated(error)) return
    mesh%per = 8
    do b = 1, blocks                                      ! the first of which there is more than a name
      if (.not. Known(file, 'num_nod_per_el'//Str(b))) cycle
      mesh%per = Length(file, 'num_nod_per_el'//Str(b), 0, 1000, error)
      exit
    end do
    if (mesh%per /= 27) mesh%per = 8                      ! each block is looked at when it is read
    inquire (file=mesh%path, size=bytes)
    if (3_i8*nodes + 8_i8*elements > most_in_byte*max(bytes, 1_i8)) then
      call Fail(error, Str(nodes)//' nodes and '//Str(elements)//' elements cannot be in '//Str(bytes)//' bytes: copy it again')
      return
    end if
    allocate (mesh%x(3, nodes), mesh%node(mesh%per, elements), mesh%block(elements), mesh%number(elements), mesh%blocks(blocks), &
      mesh%sets(sets), stat=status)
    if (status /= 0) call Fail(error, 'not enough memory for '//Str(nodes)//' nodes and '//Str(elements)//' elements')
  end subroutine ReadCounts

  logical function Known(file, dimension)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: dimension
    integer(c_long_long) :: n
    Known = fio_dim_length(file, CString(dimension), n) == 0
  end function Known

  integer function Length(file, dimension, least, most, error)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: dimension
    integer, intent(in) :: least, most
    type(error_t), allocatable, intent(inout) :: error
    integer(c_long_long) :: n
    Length = 0
    if (allocated(error)) return
    n = 0
    if (fio_dim_length(file, CString(dimension), n) /= 0) then
      call Fail(error, 'there is no dimension '//dimension//', so it is no mesh in Exodus II: convert it with spl-mesh')
    else if (n < least .or. n > most) then
      call Fail(error, dimension//' is '//Str(n)//', must be '//Str(least)//' .. '//Str(most))
    end if
    if (.not. allocated(error)) Length = Whole(n)
  end function Length

  !> True where there is a variable of numbers with these lengths, slowest first.
  logical function Has(file, name, lengths)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: name
    integer, intent(in) :: lengths(:)
    character(kind=c_char, len=257) :: buffer
    integer(c_long_long) :: n
    integer :: i, rank, width
    rank = fio_var_rank(file, CString(name))
    width = fio_var_type(file, CString(name))
    Has = rank == size(lengths) .and. width > 0
    do i = 1, size(lengths)
      if (.not. Has) return
      Has = fio_var_dim(file, CString(name), i - 1, buffer, n) == 0
      if (Has) Has = n == lengths(i)
    end do
  end function Has

  ! --- nodes ---------------------------------------------------------------------------------------------------------

  subroutine ReadNodes(file, mesh, error)
    type(c_ptr), intent(in) :: file
    type(mesh_t), intent(inout) :: mesh
    type(error_t), allocatable, intent(inout) :: error
    character(*), parameter :: names(3) = ['coordx', 'coordy', 'coordz']
    real(dp), allocatable :: values(:)
    integer :: a, i, n
    if (allocated(error)) return
    n = size(mesh%x, 2)
    allocate (values(n))
    do a = 1, 3
      if (Has(file, names(a), [n])) then
        call FailFromC(fio_get_doubles(file, CString(names(a)), [0_i8], [int(n, i8)], values), error)
      else if (Has(file, 'coord', [3, n])) then
        call FailFromC(fio_get_doubles(file, CString('coord'), [a - 1_i8, 0_i8], [1_i8, int(n, i8)], values), error)
      else
        call Fail(error, 'there is no variable '//names(a)//' of '//Str(n)//' numbers, nor coord of 3 x '//Str(n))
      end if
      if (allocated(error)) return
      do i = 1, n
        if (Between(values(i), -farthest, farthest)) cycle
        call Fail(error, 'coordinate '//'xyz' (a:a)//' of node '//Str(i)//' is '//Str(values(i))//' m, must be within 1e9 m')
        return
      end do
      mesh%x(a, :) = values
    end do
  end subroutine ReadNodes

  ! --- blocks --------------------------------------------------------------------------------------------------------

  subroutine ReadBlocks(file, mesh, error)
    type(c_ptr), intent(in) :: file
    type(mesh_t), intent(inout) :: mesh
    type(error_t), allocatable, intent(inout) :: error
    integer, allocatable :: ids(:)
    integer :: b, i, last
    if (allocated(error)) return
    call ReadIds(file, 'eb_prop1', size(mesh%blocks), ids, error)
    last = 0
    do b = 1, size(mesh%blocks)
      if (allocated(error)) return
      mesh%blocks(b)%id = ids(b)
      mesh%blocks(b)%name = NameOf(file, 'eb_names', size(mesh%blocks), b)
      mesh%blocks(b)%elements = 0
      if (fio_var_rank(file, CString('connect'//Str(b))) < 0) cycle          ! it has no elements
      call ReadBlock(file, mesh, b, last, error)
      mesh%block(last + 1:last + mesh%blocks(b)%elements) = b
      last = last + mesh%blocks(b)%elements
    end do
    if (allocated(error)) return
    if (last /= size(mesh%block)) call Fail(error, 'the blocks have '//Str(last)//' elements together, num_elem says '// &
      Str(size(mesh%block))//': export it again')
    mesh%number = [(i, i=1, last)]
  end subroutine ReadBlocks

  !> The nodes of a block's elements, which follow the last one so far.
  subroutine ReadBlock(file, mesh, b, last, error)
    type(c_ptr), intent(in) :: file
    type(mesh_t), intent(inout) :: mesh
    integer, intent(in) :: b, last
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: which, name, kind
    integer(i8), allocatable :: node(:, :)
    integer :: n, per, first, some, e, a
    which = 'block '//Str(mesh%blocks(b)%id)
    if (mesh%blocks(b)%name /= '') which = which//" '"//mesh%blocks(b)%name//"'"
    n = Length(file, 'num_el_in_blk'//Str(b), 0, size(mesh%block), error)
    per = Length(file, 'num_nod_per_el'//Str(b), 0, 1000, error)
    if (allocated(error)) return
    name = 'connect'//Str(b)
    kind = NetcdfText(file, name, 'elem_type')
    if (index(Lower(kind), 'hex') /= 1 .or. (per /= 8 .and. per /= 27)) then
      call Fail(error, which//", from element "//Str(last + 1)//" on, has elements of type '"//Printable(kind)//"' with "// &
        Str(per)//' nodes, must be hexahedra of 8 or 27: mesh it with hexahedra alone')
    else if (per /= mesh%per) then
      call Fail(error, which//', from element '//Str(last + 1)//' on, has elements of '//Str(per)// &
        ' nodes, blocks before it of '//Str(mesh%per)//': give all elements the same number of nodes')
    else if (.not. Has(file, name, [n, per])) then
      call Fail(error, name//' is no variable of '//Str(n)//' x '//Str(per)//' numbers: export it again')
    else if (n > size(mesh%block) - last) then
      call Fail(error, 'the blocks have '//Str(last + int(n, i8))//' elements or more, num_elem says '//Str(size(mesh%block)))
    end if
    if (allocated(error)) return
    allocate (node(per, min(n, at_once)))
    do first = 0, n - 1, at_once
      some = min(at_once, n - first)
      call FailFromC(fio_get_longs(file, CString(name), [int(first, i8), 0_i8], [int(some, i8), int(per, i8)], node), error)
      if (allocated(error)) return
      do e = 1, some
        do a = 1, per
          if (node(a, e) >= 1 .and. node(a, e) <= size(mesh%x, 2)) cycle
          call Fail(error, 'element '//Str(last + first + e)//' has node '//Str(node(a, e))//', must be 1 .. '// &
            Str(size(mesh%x, 2))//': export it again')
          return
        end do
        mesh%node(:, last + first + e) = Whole(node(:, e))
      end do
    end do
    mesh%blocks(b)%elements = n
  end subroutine ReadBlock

  ! --- sets of sides -------------------------------------------------------------------------------------------------

  subroutine ReadSets(file, mesh, error)
    type(c_ptr), intent(in) :: file
    type(mesh_t), intent(inout) :: mesh
    type(error_t), allocatable, intent(inout) :: error
    integer, allocatable :: ids(:)
    integer :: i, n
    if (allocated(error)) return
    call ReadIds(file, 'ss_prop1', size(mesh%sets), ids, error)
    do i = 1, size(mesh%sets)
      if (allocated(error)) return
      mesh%sets(i)%id = ids(i)
      mesh%sets(i)%name = NameOf(file, 'ss_names', size(mesh%sets), i)
      n = 0
      if (fio_var_rank(file, CString('elem_ss'//Str(i))) >= 0) &
        n = Length(file, 'num_side_ss'//Str(i), 0, 6*size(mesh%block), error)
      call ReadNumbers(file, 'elem_ss'//Str(i), n, size(mesh%block), mesh%sets(i)%element, error)
      call ReadNumbers(file, 'side_ss'//Str(i), n, 6, mesh%sets(i)%side, error)
    end do
  end subroutine ReadSets

  !> n numbers of a variable, each of them 1 .. most.
  subroutine ReadNumbers(file, name, n, most, numbers, error)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: name
    integer, intent(in) :: n, most
    integer, allocatable, intent(out) :: numbers(:)
    type(error_t), allocatable, intent(inout) :: error
    integer(i8), allocatable :: values(:)
    integer :: i
    if (allocated(error)) return
    allocate (numbers(n), values(n))
    if (n == 0) return
    if (.not. Has(file, name, [n])) then
      call Fail(error, name//' is no variable of '//Str(n)//' numbers: export it again')
      return
    end if
    call FailFromC(fio_get_longs(file, CString(name), [0_i8], [int(n, i8)], values), error)
    if (allocated(error)) return
    do i = 1, n
      if (values(i) >= 1 .and. values(i) <= most) cycle
      call Fail(error, 'number '//Str(i)//' of '//name//' is '//Str(values(i))//', must be 1 .. '//Str(most)//': export it again')
      return
    end do
    numbers = Whole(values)
  end subroutine ReadNumbers

  !> Numbers of blocks or sets: as they follow each other where the file has none.
  subroutine ReadIds(file, name, n, ids, error)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: name
    integer, intent(in) :: n
    integer, allocatable, intent(out) :: ids(:)
    type(error_t), allocatable, intent(inout) :: error
    integer(i8), allocatable :: values(:)
    logical :: there
    integer :: i
    ids = [(i, i=1, n)]
    there = Has(file, name, [n])
    if (n == 0 .or. .not. there) return
    allocate (values(n))
    call FailFromC(fio_get_longs(file, CString(name), [0_i8], [int(n, i8)], values), error)
    if (.not. allocated(error)) ids = Whole(values)
  end subroutine ReadIds

  !> Name i of n; '' where there is none.
  function NameOf(file, var, n, i) result(name)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: var
    integer, intent(in) :: n, i
    character(:), allocatable :: name
    character(kind=c_char, len=1000) :: text
    character(kind=c_char, len=257) :: buffer
    integer(c_long_long) :: length(2)
    integer :: a
    name = ''
    if (fio_var_rank(file, CString(var)) /= 2) return
    do a = 1, 2
      if (fio_var_dim(file, CString(var), a - 1, buffer, length(a)) /= 0) return
    end do
    if (length(1) /= n .or. length(2) < 1 .or. length(2) > len(text)) return
    text = ''
    if (fio_get_text(file, CString(var), [i - 1_i8, 0_i8], [1_i8, length(2)], text) /= 0) return
    name = Printable(FString(text))
  end function NameOf

  !> A text as it may stand in a sentence.
  pure function Printable(text) result(clean)
    character(*), intent(in) :: text
    character(:), allocatable :: clean
    integer :: i
    clean = trim(adjustl(text))
    do i = 1, len(clean)
      if (iachar(clean(i:i)) < 32 .or. iachar(clean(i:i)) == 127) clean(i:i) = '?'
    end do
  end function Printable

end module mesh_exodus_m
