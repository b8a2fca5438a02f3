!> Layers of the earth by their upper surfaces, from a table for the mesher:
!>
!>     # name      upper side                                      height of elements [m], where not by velocity
!>     lake        -20
!>     sediment    120-140*exp(-((x-3000)^2+(y-2000)^2)/900^2)     150
!>     rock        basin.nc
!>
!> A line a layer from the top down. The upper side is a depth, a formula of x and y or a grid (mesh_surface.f90).
module layer_table_m
  use error_m, only: error_t, Fail
  use kinds_m, only: dp
  use mesh_surface_m, only: surface_t, SurfaceRead
  use text_m, only: Str
  use textfile_m, only: NumberOf, Shown, TextAdvise, TextLine, TextOpen, textfile_t, TextWord
  implicit none
  private
  public :: layer_table_t, LayersRead

  integer, parameter :: layer_name_most = 32      !< characters of a name: those of a block of Exodus II
  integer, parameter :: layers_most = 200

  type :: layer_t
    character(:), allocatable :: name
    type(surface_t) :: top
    real(dp) :: height = 0                                !< of its elements [m], 0: by velocity
  end type layer_t

  type :: layer_table_t
    character(:), allocatable :: path
    type(layer_t), allocatable :: layer(:)
  end type layer_table_t

contains

  !> Fails on a line that is no layer, a name that stands twice, more than layers_most layers, and a file without one.
  subroutine LayersRead(path, table, error)
    character(*), intent(in) :: path
    type(layer_table_t), intent(out) :: table
    type(error_t), allocatable, intent(inout) :: error
    type(textfile_t) :: file
    type(layer_t) :: layer
    integer :: i
    table%path = path
    allocate (table%layer(0))
    call TextOpen(file, path, 'table of layers', error)
    if (allocated(error)) return
    do while (TextLine(file))
      call ReadLayer(file, layer, error)
      call TextAdvise(file, error)
      if (allocated(error)) return
      do i = 1, size(table%layer)
        if (table%layer(i)%name == layer%name) call Fail(error, Here(file)//'layer '//layer%name//' stands there twice')
      end do
      if (size(table%layer) == layers_most) call Fail(error, Here(file)//'more than '//Str(layers_most)//' layers')
      if (allocated(error)) return
      table%layer = [table%layer, layer]
    end do
    if (size(table%layer) == 0) &
      call Fail(error, 'table of layers '//path//' holds no layer: give a line a layer, name and upper side')
  end subroutine LayersRead

  subroutine ReadLayer(file, layer, error)
    type(textfile_t), intent(inout) :: file
    type(layer_t), intent(out) :: layer
    type(error_t), allocatable, intent(inout) :: error
    integer :: first, last
    real(dp) :: x
    logical :: ok
    if (.not. TextWord(file, first, last)) return         ! a line has a word
    layer%name = file%text(first:last)
    call NumberOf(layer%name, x, ok)
    if (ok) then
      call Fail(error, Here(file)//'begins with a number: a line is the name of a layer, its upper side and, where not by '// &
                'velocity, the height of its elements; its medium stands in the table of materials')
    else if (len(layer%name) > layer_name_most .or. len(layer%name) < 1) then
      call Fail(error, Here(file)//'the name of a layer has '//Str(len(layer%name))//' characters, must be 1 .. '// &
                Str(layer_name_most))
    else if (.not. TextWord(file, first, last)) then
      call Fail(error, Here(file)//'layer '//layer%name//' has no upper side: give a depth, a formula of x and y, or a grid')
    end if
    if (allocated(error)) return
    if (file%unclosed) then
      call Fail(error, Here(file)//'a quote is not closed')
      return
    end if
    call SurfaceRead(file%text(first:last), Here(file), layer%top, error)
    if (allocated(error)) return
    if (.not. TextWord(file, first, last)) return
    call NumberOf(file%text(first:last), layer%height, ok)
    if (ok) ok = layer%height >= 1.0e-3_dp .and. layer%height <= 1.0e6_dp
    if (.not. ok) then
      call Fail(error, Here(file)//Shown(file%text(first:last))//' is no height of elements, which must be 0.001 .. 1e6 m; '// &
                'a formula with blanks stands in quotes')
    else if (TextWord(file, first, last)) then
      call Fail(error, Here(file)//'has more than a name, an upper side and a height: '//Shown(file%text(first:last)))
    end if
  end subroutine ReadLayer

  function Here(file) result(s)
    type(textfile_t), intent(in) :: file
    character(:), allocatable :: s
    s = 'table of layers '//file%path//', line '//Str(file%line)//': '
  end function Here

end module layer_table_m
