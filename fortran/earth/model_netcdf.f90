!> NetCDF models: a 2-D variable with units on coordinate variables that say which axis is x and which is depth.
module model_netcdf_m
  use checked_m, only: Between, Finite, Unpacked, Whole
  use error_m, only: error_t, Fail, FailFromC
  use fio_c, only: fio_close, fio_get_att_number, fio_get_att_text, fio_get_doubles, fio_open, fio_var_count, fio_var_dim, &
    fio_var_name, fio_var_rank, fio_var_type
  use iso_c_binding, only: c_associated, c_char, c_int, c_long_long, c_null_ptr, c_ptr
  use kinds_m, only: dp, i8, sp
  use model_samples_m, only: part_t, samples_t, SamplesAllocate, SamplesVolume, UnitFactor
  use text_m, only: CString, FString, Lower, Str
  implicit none
  private
  public :: NetcdfRead, NetcdfRead3d, NetcdfReadGrid, NetcdfText

  !> One dimension of the variable.
  type :: side_t
    character(:), allocatable :: name
    integer(i8) :: n = 0
    character :: axis = ' '                   !< 'x', 'y', 'z', or ' ' if it cannot be told
    real(dp) :: first = 0, step = 0           !< [m]
    logical :: upwards = .false.              !< heights, read as depths from the last sample to the first
  end type side_t

  !> The packing of a variable's numbers, and those that stand for missing ones.
  type :: packing_t
    real(dp) :: scale = 1, offset = 0, fill(2) = 0
    logical :: has_fill(2) = .false.
  end type packing_t

contains

  !> Reads variable `name` of s%file into s%a; the caller has set what and file; unit and cure come from the file.
  subroutine NetcdfRead(name, s, error)
    character(*), intent(in) :: name
    type(samples_t), intent(inout) :: s
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: var
    type(side_t) :: side(2)
    type(c_ptr) :: file
    call OpenModel(s, file, error)
    if (allocated(error)) return
    var = FindVariable(file, name, s, error)
    call ReadUnit(file, var, s, error)
    call CheckRank(file, var, s, error)
    call ReadSides(file, var, s, side, error)
    call Arrange(s, side, error)
    call SamplesAllocate(s, error)
    call ReadValues(file, var, s, side(1)%axis == 'z', any(side%upwards), error)
    if (fio_close(file) /= 0) continue   ! it was only read
  end subroutine NetcdfRead

  subroutine OpenModel(s, file, error)
    type(samples_t), intent(in) :: s
    type(c_ptr), intent(out) :: file
    type(error_t), allocatable, intent(inout) :: error
    file = c_null_ptr
    if (allocated(error)) return
    file = fio_open(CString(s%file), 0_c_int)
    if (c_associated(file)) return
    call FailFromC(1, error)
    error%message = s%what//' model: '//error%message// &
      ': give an undamaged NetCDF file, or model_format=raw32 if its samples are raw'
  end subroutine OpenModel

  !> The variable asked for; else the only 2-D one whose standard_name or long_name says what it is; else a list of what there is.
  function FindVariable(file, name, s, error) result(var)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: name
    type(samples_t), intent(in) :: s
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: var, seen
    character(kind=c_char, len=257) :: buffer
    integer :: i, hits
    var = name
    if (fio_var_rank(file, CString(name)) >= 0) return
    hits = 0
    seen = ''
    do i = 0, fio_var_count(file) - 1
      call FailFromC(fio_var_name(file, i, buffer), error)
      if (allocated(error)) return
      seen = seen//', '//FString(buffer)
      if (.not. Hinted(file, FString(buffer), s%what)) cycle
      hits = hits + 1
      var = FString(buffer)
    end do
    if (hits == 1) return
    if (seen == '') seen = '  none at all'
    call Fail(error, s%what//" model '"//s%file//"' has no variable '"//name//"', nor one alone whose long_name says "// &
      trim(merge('P-wave velocity', 'density        ', s%what == 'velocity'))//': set '// &
      trim(merge('vp_var ', 'rho_var', s%what == 'velocity'))//' to one of '//seen(3:))
  end function FindVariable

  logical function Hinted(file, var, what)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: var, what
    character(:), allocatable :: text
    Hinted = .false.
    if (fio_var_rank(file, CString(var)) /= 2) return
    text = Lower(NetcdfText(file, var, 'standard_name')//' '//NetcdfText(file, var, 'long_name'))
    if (what == 'density') then
      Hinted = index(text, 'density') > 0
    else
      Hinted = index(text, 'velocity') > 0 .and. (index(text, 'p_wave') > 0 .or. index(text, 'p-wave') > 0 .or. &
        index(text, 'p wave') > 0 .or. index(text, 'compressional') > 0 .or. index(text, 'p velocity') > 0 .or. &
        index(text, 'acoustic') > 0)
    end if
  end function Hinted

  !> Text attribute of a variable, '' if it has none; its first 256 characters.
  function NetcdfText(file, var, name) result(text)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: var, name
    character(:), allocatable :: text
    character(kind=c_char, len=256) :: buffer
    integer(c_long_long) :: n
    n = fio_get_att_text(file, CString(var), CString(name), len(buffer, c_long_long), buffer)
    text = trim(adjustl(FString(buffer(:min(max(n, 0_c_long_long), len(buffer, c_long_long))))))
  end function NetcdfText

  subroutine ReadUnit(file, var, s, error)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: var
    type(samples_t), intent(inout) :: s
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: known
    if (allocated(error)) return
    known = trim(merge('m/s, m s-1, km/s, km s-1 or ft/s    ', 'kg/m3, kg m-3, g/cm3 or g cm-3      ', s%what == 'velocity'))
    s%unit = NetcdfText(file, var, 'units')
    s%cure = 'correct the units attribute of '//var//' to '
    if (s%unit == '') then
      call Fail(error, s%what//" model '"//s%file//"': variable "//var//' has no units attribute: give it one of '//known)
    else if (UnitFactor(s%what, s%unit) == 0) then
      call Fail(error, s%what//" model '"//s%file//"': the units of "//var//" are '"//s%unit//"', must be "//known)
    end if
  end subroutine ReadUnit

  ! --- axes ----------------------------------------------------------------------------------------------------------

  subroutine CheckRank(file, var, s, error)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: var
    type(samples_t), intent(in) :: s
    type(error_t), allocatable, intent(inout) :: error
    integer :: rank, width
    if (allocated(error)) return
    rank = fio_var_rank(file, CString(var))
    width = fio_var_type(file, CString(var))
    if (rank /= 2 .or. width == 0) call Fail(error, s%what//" model '"//s%file//"': variable "//var//' has '//Str(rank)// &
      ' dimensions, must be numbers in 2: x and z')
  end subroutine CheckRank

  !> The dimensions of a variable, slowest first; a model in 3 dimensions may have an axis y.
  subroutine ReadSides(file, var, s, side, error)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: var
    type(samples_t), intent(in) :: s
    type(side_t), intent(out) :: side(:)
    type(error_t), allocatable, intent(inout) :: error
    character(kind=c_char, len=257) :: buffer
    integer :: i
    do i = 1, size(side)
      if (allocated(error)) return
      call FailFromC(fio_var_dim(file, CString(var), i - 1, buffer, side(i)%n), error)
      if (allocated(error)) return
      side(i)%name = FString(buffer)
      call ReadSide(file, s, size(side) == 3, side(i), error)
      if (size(side) == 3 .and. side(i)%axis == ' ') side(i)%axis = AxisY(file, side(i)%name)
    end do
  end subroutine ReadSides

  !> The coordinate variable of a dimension: which axis it is, where it begins, how it steps. Heights become depths, not in volumes.
  subroutine ReadSide(file, s, volume, side, error)
    type(c_ptr), intent(in) :: file
    type(samples_t), intent(in) :: s
    logical, intent(in) :: volume
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
    select case (NetcdfText(file, side%name, 'units'))
    case ('m', 'meter', 'meters', 'metre', 'metres')
      factor = 1
    case ('km', 'kilometer', 'kilometers', 'kilometre', 'kilometres')
      factor = 1000
    case default
      call Fail(error, begin//"the units of coordinate "//side%name//" are '"//NetcdfText(file, side%name, 'units')// &
        "', must be m or km")
      return
    end select
    side%axis = AxisOf(file, side%name)
    if (PointsUp(file, side%name) .and. (volume .or. side%axis /= 'z')) then
      call Fail(error, begin//'coordinate '//side%name// &
        ' counts upwards, depths must increase downwards: turn its sign and the model')
      return
    end if
    allocate (c(side%n))
    call FailFromC(fio_get_doubles(file, CString(side%name), [0_c_long_long], [side%n], c), error)
    call ReadPacking(file, s, side%name, packing, error)
    c = Unpacked(c, packing%scale, packing%offset)
    if (PointsUp(file, side%name)) then             ! heights that fall from sample to sample are depths that rise
      c = -c
      side%upwards = side%n > 1 .and. c(1) > c(size(c))
      if (side%upwards) c = c(size(c):1:-1)
    end if
    if (.not. allocated(error)) call Uniform(Unpacked(c, factor, 0.0_dp), begin, side, error)
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

  logical function PointsUp(file, name)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: name
    character(:), allocatable :: standard
    standard = Lower(NetcdfText(file, name, 'standard_name'))
    PointsUp = Lower(NetcdfText(file, name, 'positive')) == 'up' .or. standard == 'height' .or. standard == 'altitude'
  end function PointsUp

  !> Coordinates must rise in equal steps: to a thousandth of a step, or as well as single precision can say.
  subroutine Uniform(c, begin, side, error)
    real(dp), intent(in) :: c(:)                              !< [m]
    character(*), intent(in) :: begin
    type(side_t), intent(inout) :: side
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: off, allowed
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
    ! 12.499999 from rounded coordinates means 12.5
    if (abs(side%step - anint(side%step*1000)/1000) < allowed/(n - 1) .and. side%step < 1.0e6_dp) &
      side%step = anint(side%step*1000)/1000

  contains

    function Advice()
      character(:), allocatable :: Advice
      Advice = ': give each sample a place of its own'
      if (c(n) < c(1)) Advice = ': turn the model round'
      if (side%name(1:1) /= 'x' .and. c(n) < c(1) .and. c(n) < 0) &
        Advice = ': if these are heights, turn their signs to make them depths, else turn the model round'
    end function Advice
  end subroutine Uniform

  !> Puts shape and place of the model in terms of x and z.
  subroutine Arrange(s, side, error)
    type(samples_t), intent(inout) :: s
    type(side_t), intent(inout) :: side(2)
    type(error_t), allocatable, intent(inout) :: error
    integer :: x, z
    if (allocated(error)) return
    if (side(1)%axis == side(2)%axis .or. any(side%axis == ' ')) then
      call Fail(error, s%what//" model '"//s%file//"': cannot tell x from depth by the coordinates "//side(1)%name//' and '// &
        side(2)%name//': name them x and z, or give them the attribute axis = X and Z')
      return
    end if
    x = merge(1, 2, side(1)%axis == 'x')
    z = 3 - x
    s%nx = Whole(side(x)%n)
    s%x0 = side(x)%first
    s%dx = side(x)%step
    s%nz = Whole(side(z)%n)
    s%z0 = side(z)%first
    s%dz = side(z)%step
  end subroutine Arrange

  ! --- values --------------------------------------------------------------------------------------------------------

  !> Row by row, so that no second copy of the model is needed; packed values are unpacked, missing ones refused. Upwards: the last
  !> sample along z is the shallowest.
  subroutine ReadValues(file, var, s, z_is_slow, upwards, error)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: var
    type(samples_t), intent(inout) :: s
    logical, intent(in) :: z_is_slow, upwards
    type(error_t), allocatable, intent(inout) :: error
    type(packing_t) :: packing
    real(dp), allocatable :: row(:)
    integer :: i, j, n_slow, n_fast
    if (allocated(error)) return
    call ReadPacking(file, s, var, packing, error)
    if (allocated(error)) return
    n_slow = merge(s%nz, s%nx, z_is_slow)
    n_fast = merge(s%nx, s%nz, z_is_slow)
    allocate (row(n_fast))
    do j = 1, n_slow
      call FailFromC(fio_get_doubles(file, CString(var), [j - 1_c_long_long, 0_c_long_long], &
        [1_c_long_long, int(n_fast, c_long_long)], row), error)
      if (allocated(error)) return
      do i = 1, n_fast
        if (Missing(row(i), packing)) then
          call FailMissing(s, merge(i, j, z_is_slow), merge(j, i, z_is_slow), var, row(i), error)
          return
        end if
        row(i) = Held(row(i), packing)
      end do
      if (z_is_slow) then
        s%a(:, merge(n_slow + 1 - j, j, upwards)) = real(row, sp)
      else if (upwards) then
        s%a(j, :) = real(row(n_fast:1:-1), sp)
      else
        s%a(j, :) = real(row, sp)
      end if
    end do
    if (upwards) s%read_as = ', z counts upwards there: turned'
    if (all(row == 0)) call Fail(error, s%what//" model '"//s%file//"': the last row of "//var// &
      ' is nothing but zeros, as in a file that was cut short: copy it again')
  end subroutine ReadValues

  subroutine ReadPacking(file, s, var, p, error)
    type(c_ptr), intent(in) :: file
    type(samples_t), intent(in) :: s
    character(*), intent(in) :: var
    type(packing_t), intent(out) :: p
    type(error_t), allocatable, intent(inout) :: error
    if (allocated(error)) return
    if (fio_get_att_number(file, CString(var), CString('scale_factor'), p%scale) == 0) p%scale = 1
    if (fio_get_att_number(file, CString(var), CString('add_offset'), p%offset) == 0) p%offset = 0
    p%has_fill(1) = fio_get_att_number(file, CString(var), CString('_FillValue'), p%fill(1)) == 1
    p%has_fill(2) = fio_get_att_number(file, CString(var), CString('missing_value'), p%fill(2)) == 1
    if (Lower(NetcdfText(file, var, '_Unsigned')) == 'true') call Fail(error, s%what//" model '"//s%file//"': the attribute "// &
      '_Unsigned of '//var//' says that its integers are meant without their sign: write them as unsigned ones, or as floats')
  end subroutine ReadPacking

  elemental logical function Missing(stored, packing)
    real(dp), intent(in) :: stored
    type(packing_t), intent(in) :: packing
    Missing = any(packing%has_fill .and. stored == packing%fill)
  end function Missing

  !> The value of a packed number, limited to single precision; an infinite one stays, for the check of values.
  elemental real(dp) function Held(stored, packing)
    real(dp), intent(in) :: stored
    type(packing_t), intent(in) :: packing
    Held = Unpacked(stored, packing%scale, packing%offset)
    if (Finite(Held)) Held = max(-1.0e38_dp, min(1.0e38_dp, Held))
  end function Held

  subroutine FailMissing(s, i, k, var, value, error)
    type(samples_t), intent(in) :: s
    integer, intent(in) :: i, k
    character(*), intent(in) :: var
    real(dp), intent(in) :: value
    type(error_t), allocatable, intent(inout) :: error
    call Fail(error, s%what//" model '"//s%file//"': sample ("//Str(i)//', '//Str(k)//') at x = '//Str(s%x0 + (i - 1)*s%dx)// &
      ' m, z = '//Str(s%z0 + (k - 1)*s%dz)//' m of '//var//' is missing (fill value '//Str(value)//'): fill the hole')
  end subroutine FailMissing

  ! --- volumes -------------------------------------------------------------------------------------------------------

  !> Reads a part of the variable `name` of s%file into a(nx, ny*nz); n, d, x0: samples of all, spacings and place of the first
  !> one along x, y, z. The caller has set what and file of s; unit and cure come from the file, but for a quality factor, which has
  !> none.
  subroutine NetcdfRead3d(name, s, part, n, d, x0, a, error)
    character(*), intent(in) :: name
    type(samples_t), intent(inout) :: s
    type(part_t), intent(in) :: part
    integer, intent(out) :: n(3)
    real(dp), intent(out) :: d(3), x0(3)             !< [m]
    real(sp), allocatable, intent(out) :: a(:, :)
    type(error_t), allocatable, intent(inout) :: error
    type(side_t) :: side(3)
    type(c_ptr) :: file
    integer :: i, of(3), rank, width
    n = 0
    d = 0
    x0 = 0
    call OpenModel(s, file, error)
    if (allocated(error)) return
    rank = fio_var_rank(file, CString(name))
    width = fio_var_type(file, CString(name))
    if (rank /= 3 .or. width == 0) then
      call Fail(error, s%what//" model '"//s%file//"' has no variable '"//name//"' of numbers in 3 dimensions, x, y and z: "// &
        'name it by the parameter that ends in _var')
    else if (s%what /= 'quality factor') then
      call ReadUnit(file, name, s, error)
    end if
    call ReadSides3d(file, name, s, side, of, error)
    if (.not. allocated(error)) then
      s%slow = findloc(of, 1, 1)
      do i = 1, 3
        n(i) = Whole(side(of(i))%n)
        d(i) = side(of(i))%step
        x0(i) = side(of(i))%first
      end do
      call ReadVolume(file, name, s, part_t(max(1, part%low), min(n, part%high)), of, a, error)
    end if
    if (fio_close(file) /= 0) continue   ! it was only read
  end subroutine NetcdfRead3d

  !> of(1:3): the dimensions of the variable, slowest first, that are x, y and z.
  subroutine ReadSides3d(file, name, s, side, of, error)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: name
    type(samples_t), intent(in) :: s
    type(side_t), intent(out) :: side(3)
    integer, intent(out) :: of(3)
    type(error_t), allocatable, intent(inout) :: error
    of = 0
    call ReadSides(file, name, s, side, error)
    if (allocated(error)) return
    of = [findloc(side%axis, 'x', 1), findloc(side%axis, 'y', 1), findloc(side%axis, 'z', 1)]
    if (any(of == 0)) call Fail(error, s%what//" model '"//s%file//"': cannot tell x, y and depth by the coordinates "// &
      side(1)%name//', '//side(2)%name//' and '//side(3)%name//': name them x, y and z, or give them the attribute axis = X, Y, Z')
  end subroutine ReadSides3d

  !> 'y' where attribute, standard name or name say so.
  function AxisY(file, name) result(axis)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: name
    character :: axis
    axis = ' '
    if (Lower(NetcdfText(file, name, 'axis')) == 'y') axis = 'y'
    if (NetcdfText(file, name, 'standard_name') == 'projection_y_coordinate') axis = 'y'
    if (any(Lower(name) == [character(9) :: 'y', 'northing', 'crossline'])) axis = 'y'
  end function AxisY

  !> Plane by plane of the slowest dimension.
  subroutine ReadVolume(file, name, s, part, of, a, error)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: name
    type(samples_t), intent(in) :: s
    type(part_t), intent(in) :: part
    integer, intent(in) :: of(3)
    real(sp), allocatable, intent(out) :: a(:, :)
    type(error_t), allocatable, intent(inout) :: error
    type(packing_t) :: packing
    real(dp), allocatable :: plane(:, :)
    integer :: n(3), first(3), m(3), at(3), l, i, j
    n = part%high - part%low + 1
    first(of) = part%low - 1
    m(of) = n
    call SamplesVolume(s, n, a, error)
    if (allocated(error)) return
    allocate (plane(m(3), m(2)))
    call ReadPacking(file, s, name, packing, error)
    if (allocated(error)) return
    do l = 1, m(1)
      call FailFromC(fio_get_doubles(file, CString(name), int(first + [l - 1, 0, 0], c_long_long), &
        int([1, m(2), m(3)], c_long_long), plane), error)
      if (allocated(error)) return
      do j = 1, m(2)
        do i = 1, m(3)
          at = [l, j, i]
          at = at(of)
          if (Missing(plane(i, j), packing)) then
            at = at + part%low - 1
            call Fail(error, s%what//" model '"//s%file//"': sample ("//Str(at(1))//', '//Str(at(2))//', '//Str(at(3))//') of '// &
              name//' is missing (fill value '//Str(plane(i, j))//'): fill the hole')
            return
          end if
          a(at(1), (at(3) - 1)*n(2) + at(2)) = real(Held(plane(i, j), packing), sp)
        end do
      end do
    end do
  end subroutine ReadVolume

  ! --- surfaces ------------------------------------------------------------------------------------------------------

  !> Reads a grid of depths [m], its only variable of numbers on x and y, into z(nx, ny); n, d, x0: points, spacings and place of
  !> the first one along x and y. up: they are heights.
  subroutine NetcdfReadGrid(path, n, d, x0, z, up, error)
    character(*), intent(in) :: path
    integer, intent(out) :: n(2)
    real(dp), intent(out) :: d(2), x0(2)             !< [m]
    real(dp), allocatable, intent(out) :: z(:, :)
    logical, intent(out) :: up
    type(error_t), allocatable, intent(inout) :: error
    type(samples_t) :: s
    type(side_t) :: side(2)
    type(c_ptr) :: file
    character(:), allocatable :: var
    integer :: i
    n = 0
    d = 0
    x0 = 0
    up = .false.
    s%what = 'surface'
    s%file = path
    call OpenModel(s, file, error)
    if (allocated(error)) return
    call FindGrid(file, s, var, error)
    call ReadSides(file, var, s, side, error)
    if (.not. allocated(error)) then
      do i = 1, 2
        if (side(i)%axis == ' ') side(i)%axis = AxisY(file, side(i)%name)
      end do
      if (any(side%axis == 'x') .and. any(side%axis == 'y')) then
        n = [(Whole(side(findloc(side%axis, 'xy'(i:i), 1))%n), i=1, 2)]
        d = [(side(findloc(side%axis, 'xy'(i:i), 1))%step, i=1, 2)]
        x0 = [(side(findloc(side%axis, 'xy'(i:i), 1))%first, i=1, 2)]
        up = PointsUp(file, var)
        call ReadGrid(file, s, var, n, side(1)%axis == 'y', z, error)
      else
        call Fail(error, "surface '"//path//"': cannot tell x from y by the coordinates "//side(1)%name//' and '// &
          side(2)%name//' of '//var//': name them x and y, or give them the attribute axis = X and Y')
      end if
    end if
    if (fio_close(file) /= 0) continue   ! it was only read
  end subroutine NetcdfReadGrid

  subroutine FindGrid(file, s, var, error)
    type(c_ptr), intent(in) :: file
    type(samples_t), intent(in) :: s
    character(:), allocatable, intent(out) :: var
    type(error_t), allocatable, intent(inout) :: error
    character(kind=c_char, len=257) :: buffer
    character(:), allocatable :: seen
    integer :: i, hits
    hits = 0
    seen = ''
    var = ''
    do i = 0, fio_var_count(file) - 1
      call FailFromC(fio_var_name(file, i, buffer), error)
      if (allocated(error)) return
      if (fio_var_rank(file, CString(FString(buffer))) /= 2) cycle
      if (fio_var_type(file, CString(FString(buffer))) == 0) cycle
      hits = hits + 1
      var = FString(buffer)
      seen = seen//' '//var
    end do
    if (hits /= 1) call Fail(error, "surface '"//s%file//"' has "//Str(hits)//' variables of numbers in 2 dimensions, x and y'// &
      merge(':', ',', hits > 0)//seen//' must be one')
  end subroutine FindGrid

  !> Row by row; packed values are unpacked, missing ones refused.
  subroutine ReadGrid(file, s, var, n, y_is_slow, z, error)
    type(c_ptr), intent(in) :: file
    type(samples_t), intent(in) :: s
    character(*), intent(in) :: var
    integer, intent(in) :: n(2)
    logical, intent(in) :: y_is_slow
    real(dp), allocatable, intent(out) :: z(:, :)
    type(error_t), allocatable, intent(inout) :: error
    type(packing_t) :: packing
    real(dp), allocatable :: row(:)
    real(dp) :: factor
    integer :: j, m(2), status
    select case (NetcdfText(file, var, 'units'))
    case ('', 'm', 'meter', 'meters', 'metre', 'metres')
      factor = 1
    case ('km', 'kilometer', 'kilometers', 'kilometre', 'kilometres')
      factor = 1000
    case default
      call Fail(error, "surface '"//s%file//"': the units of "//var//" are '"//NetcdfText(file, var, 'units')//"', must be m or km")
      return
    end select
    m = merge(n, n([2, 1]), y_is_slow)
    call ReadPacking(file, s, var, packing, error)
    if (allocated(error)) return
    allocate (row(m(1)), z(n(1), n(2)), stat=status)
    if (status /= 0) then
      call Fail(error, "no memory for the surface '"//s%file//"', "//Str(n(1))//' x '//Str(n(2))//' points')
      return
    end if
    do j = 1, m(2)
      call FailFromC(fio_get_doubles(file, CString(var), [j - 1_c_long_long, 0_c_long_long], &
        [1_c_long_long, int(m(1), c_long_long)], row), error)
      if (allocated(error)) return
      if (any(Missing(row, packing)) .or. .not. all(Finite(row))) then
        call Fail(error, "surface '"//s%file//"': a point of row "//Str(j)//' of '//var//' is missing: fill the hole')
        return
      end if
      row = Unpacked(Held(row, packing), factor, 0.0_dp)
      if (y_is_slow) then
        z(:, j) = row
      else
        z(j, :) = row
      end if
    end do
  end subroutine ReadGrid

end module model_netcdf_m
