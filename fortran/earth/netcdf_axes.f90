!> The dimensions of a variable of a NetCDF model: their coordinate variables tell which axis each is, where it begins and how it
!> steps.
module netcdf_axes_m
  use checked_m, only: Between, Unpacked
  use error_m, only: error_t, Fail, FailFromC
  use fio_c, only: fio_get_doubles, fio_var_dim, fio_var_rank, fio_var_real
  use iso_c_binding, only: c_char, c_long_long, c_ptr
  use kinds_m, only: dp, i8, sp
  use model_samples_m, only: samples_t
  use netcdf_variable_m, only: packing_t, LengthFactor, NetcdfPacking, NetcdfText
  use text_m, only: CString, FString, Lower, Str
  implicit none
  private
  public :: side_t, NetcdfSides, NetcdfAxisY, NetcdfPointsUp

  !> One dimension of the variable.
  type :: side_t
    character(:), allocatable :: name
    integer(i8) :: n = 0
    character :: axis = ' '                   !< 'x', 'y', 'z', or ' ' if it cannot be told
    real(dp) :: first = 0, step = 0           !< [m]
    logical :: upwards = .false.              !< heights, read as depths from the last sample to the first
  end type side_t

contains

  !> The dimensions of a variable, slowest first; a model in 3 dimensions may have an axis y.
  subroutine NetcdfSides(file, var, s, side, error)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: var
    type(samples_t), intent(in) :: s
    type(side_t), intent(out) :: side(:)
    type(error_t), allocatable, intent(inout) :: error
    character(kind=c_char, len=257) :: buffer
    character(:), allocatable :: told
    integer :: i
    do i = 1, size(side)
      if (allocated(error)) return
      call FailFromC(fio_var_dim(file, CString(var), i - 1, buffer, side(i)%n), error)
      if (allocated(error)) return
      side(i)%name = FString(buffer)
      call ReadSide(file, s, side(i), error)
      if (size(side) < 3) cycle
      told = Lower(NetcdfText(file, side(i)%name, 'axis'))      ! goes before a name such as inline
      if (told == 'y' .or. side(i)%axis == ' ') side(i)%axis = NetcdfAxisY(file, side(i)%name)
    end do
  end subroutine NetcdfSides

  !> The coordinate variable of a dimension: which axis it is, where it begins, how it steps. Heights become depths.
  subroutine ReadSide(file, s, side, error)
    type(c_ptr), intent(in) :: file
    type(samples_t), intent(in) :: s
    type(side_t), intent(inout) :: side
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: begin
    type(packing_t) :: packing
    real(dp), allocatable :: c(:)
    real(dp) :: factor
    if (allocated(error)) return
    begin = s%what//" model '"//s%file//"': "
    if (side%n < 2 .or. side%n > 10000000) then
      call Fail(error, begin//'dimension '//side%name//' has '//Str(side%n)//' samples, must be 2 .. 1e7')
    else if (fio_var_rank(file, CString(side%name)) /= 1) then
      call Fail(error, begin//'dimension '//side%name//' has no coordinate variable of its name: add one in m or km')
    end if
    if (allocated(error)) return
    factor = LengthFactor(NetcdfText(file, side%name, 'units'))
    if (factor == 0) then
      call Fail(error, begin//"the units of coordinate "//side%name//" are '"//NetcdfText(file, side%name, 'units')// &
        "', must be m or km")
      return
    end if
    side%axis = AxisOf(file, side%name)
    if (NetcdfPointsUp(file, side%name) .and. side%axis /= 'z') then
      call Fail(error, begin//'coordinate '//side%name// &
        " counts upwards, but is no axis z: name it z, or give it the attribute axis = 'Z'")
      return
    end if
    allocate (c(side%n))
    call FailFromC(fio_get_doubles(file, CString(side%name), [0_c_long_long], [side%n], c), error)
    call NetcdfPacking(file, begin, side%name, packing, error)
    c = Unpacked(c, packing%scale, packing%offset)
    if (NetcdfPointsUp(file, side%name)) then             ! heights that fall from sample to sample are depths that rise
      c = -c
      side%upwards = side%n > 1 .and. c(1) > c(size(c))
      if (side%upwards) c = c(size(c):1:-1)
    end if
    if (.not. allocated(error)) call Uniform(Unpacked(c, factor, 0.0_dp), fio_var_real(file, CString(side%name)) == 8, &
                                                begin, side, error)
  end subroutine ReadSide

  !> 'x' or 'z' by the attribute axis, the standard name, or the name of the coordinate; ' ' if none of them tells.
  function AxisOf(file, name) result(axis)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: name
    character :: axis
    axis = Lower(NetcdfText(file, name, 'axis')//' ')
    if (axis == 'x' .or. axis == 'z') return
    axis = ' '
    select case (Lower(NetcdfText(file, name, 'standard_name')))
    case ('depth', 'height', 'altitude')
      axis = 'z'
    case ('projection_x_coordinate', 'distance')
      axis = 'x'
    end select
    if (axis /= ' ') return
    select case (Lower(name))
    case ('x', 'distance', 'offset', 'easting', 'inline')
      axis = 'x'
    case ('z', 'depth')
      axis = 'z'
    end select
  end function AxisOf

  !> 'y' where attribute, standard name or name say so.
  function NetcdfAxisY(file, name) result(axis)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: name
    character :: axis
    axis = ' '
    if (Lower(NetcdfText(file, name, 'axis')) == 'y') axis = 'y'
    if (NetcdfText(file, name, 'standard_name') == 'projection_y_coordinate') axis = 'y'
    if (any(Lower(name) == [character(9) :: 'y', 'northing', 'crossline'])) axis = 'y'
  end function NetcdfAxisY

  !> True where the numbers of a coordinate, or of a grid of depths, count upwards.
  logical function NetcdfPointsUp(file, name)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: name
    character(:), allocatable :: standard
    standard = Lower(NetcdfText(file, name, 'standard_name'))
    NetcdfPointsUp = Lower(NetcdfText(file, name, 'positive')) == 'up' .or. standard == 'height' .or. standard == 'altitude'
  end function NetcdfPointsUp

  !> Coordinates must rise in equal steps: to a thousandth of a step, or as well as single precision can say. `double`: the file has
  !> them in double precision.
  subroutine Uniform(c, double, begin, side, error)
    real(dp), intent(in) :: c(:)                              !< [m]
    logical, intent(in) :: double
    character(*), intent(in) :: begin
    type(side_t), intent(inout) :: side
    type(error_t), allocatable, intent(inout) :: error
    real(dp), parameter :: same = 1.0e-6_dp                   ! of a step: such places are the same
    real(dp) :: off, allowed, whole
    integer :: i, n
    n = size(c)
    do i = 1, n
      if (Between(c(i), -1.0e12_dp, 1.0e12_dp)) cycle
      call Fail(error, begin//'coordinate '//side%name//' holds '//Str(c(i))//' m at sample '// &
        Str(i)//', must be a place on earth')
    end do
    if (allocated(error)) return
    side%first = c(1)
    side%step = (c(n) - c(1))/(n - 1)
    if (.not. side%step >= 1.0e-9_dp) then
      call Fail(error, begin//'coordinate '//side%name//' runs from '//Str(c(1))//' to '//Str(c(n))// &
        ' m, must increase by 1e-9 m or more a sample'//Advice())
      return
    end if
    ! coordinates in single precision carry rounding that is no fault of the spacing
    allowed = 1.0e-3_dp*side%step + 2*epsilon(1.0_sp)*maxval(abs(c))
    do i = 1, n
      off = c(i) - (c(1) + (i - 1)*side%step)
      if (abs(off) <= allowed) cycle
      call Fail(error, begin//'coordinate '//side%name//' is not uniform: sample '//Str(i)//' at '//Str(c(i), 9)//' m is '// &
        Str(off, 3)//' m away from equal steps of '//Str(side%step)//' m: resample the model')
      return
    end do
    ! 12.499999 from rounded coordinates means 12.5; but 8.3333333 from exact ones is a third of 25
    whole = anint(side%step*1000)/1000
    if (abs(side%step - whole) >= allowed/(n - 1) .or. side%step >= 1.0e6_dp) return
    if (.not. double .or. OffMost(whole) <= max(2*OffMost(side%step), same*side%step)) side%step = whole

  contains

    !> The largest distance of a coordinate from such steps [m].
    pure real(dp) function OffMost(step)
      real(dp), intent(in) :: step
      OffMost = maxval(abs(c - c(1) - step*[(i - 1, i=1, n)]))
    end function OffMost

    function Advice()
      character(:), allocatable :: Advice
      Advice = ': give each sample a place of its own'
      if (c(n) < c(1)) Advice = ': turn the model round'
      if (side%name(1:1) /= 'x' .and. c(n) < c(1) .and. c(n) < 0) &
        Advice = ': if these are heights, turn their signs to make them depths, else turn the model round'
    end function Advice
  end subroutine Uniform

end module netcdf_axes_m
