!> NetCDF surfaces: depths on a grid in x and y.
module surface_netcdf_m
  use checked_m, only: Finite, Unpacked, Whole
  use error_m, only: error_t, Fail, FailFromC
  use fio_c, only: fio_close, fio_get_doubles, fio_var_count, fio_var_name, fio_var_rank, fio_var_type
  use iso_c_binding, only: c_char, c_long_long, c_ptr
  use kinds_m, only: dp
  use model_samples_m, only: samples_t
  use netcdf_axes_m, only: side_t, NetcdfAxisY, NetcdfPointsUp, NetcdfSides
  use netcdf_variable_m, only: packing_t, LengthFactor, NetcdfHeld, NetcdfMissing, NetcdfOpen, NetcdfPacking, NetcdfText, &
                               NetcdfWhyMissing
  use text_m, only: CString, FString, Str
  implicit none
  private
  public :: NetcdfReadGrid

contains

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
    call NetcdfOpen(s, file, error)
    if (allocated(error)) return
    call FindGrid(file, s, var, error)
    call NetcdfSides(file, var, s, side, error)
    if (.not. allocated(error)) then
      do i = 1, 2
        if (side(i)%axis == ' ') side(i)%axis = NetcdfAxisY(file, side(i)%name)
      end do
      if (any(side%axis == 'x') .and. any(side%axis == 'y')) then
        n = [(Whole(side(findloc(side%axis, 'xy'(i:i), 1))%n), i=1, 2)]
        d = [(side(findloc(side%axis, 'xy'(i:i), 1))%step, i=1, 2)]
        x0 = [(side(findloc(side%axis, 'xy'(i:i), 1))%first, i=1, 2)]
        up = NetcdfPointsUp(file, var)
        call ReadGrid(file, s, var, n, side(1)%axis == 'y', z, error)
      else
        call Fail(error, "surface '"//path//"': cannot tell x from y by the coordinates "//side(1)%name//' and '// &
          side(2)%name//' of '//var//': name them x and y, or give them the attribute axis = X and Y')
      end if
    end if
    if (fio_close(file) /= 0) continue   ! it was only read
  end subroutine NetcdfReadGrid

  !> The only variable of numbers in 2 dimensions.
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
    character(:), allocatable :: unit, why
    real(dp) :: factor
    integer :: i, j, m(2), status
    unit = NetcdfText(file, var, 'units')
    factor = 1
    if (unit /= '') factor = LengthFactor(unit)
    if (factor == 0) then
      call Fail(error, "surface '"//s%file//"': the units of "//var//" are '"//unit//"', must be m or km")
      return
    end if
    m = merge(n, n([2, 1]), y_is_slow)
    call NetcdfPacking(file, "surface '"//s%file//"': ", var, packing, error)
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
      i = findloc(NetcdfMissing(row, packing) .or. .not. Finite(row), .true., 1)
      if (i > 0) then
        why = ' is '//Str(row(i))//': fill the hole'
        if (NetcdfMissing(row(i), packing)) why = NetcdfWhyMissing(row(i), packing)
        call Fail(error, "surface '"//s%file//"': point "//Str(i)//' of row '//Str(j)//' of '//var//why)
        return
      end if
      row = Unpacked(NetcdfHeld(row, packing), factor, 0.0_dp)
      if (y_is_slow) then
        z(:, j) = row
      else
        z(j, :) = row
      end if
    end do
  end subroutine ReadGrid

end module surface_netcdf_m
