!> NetCDF models in 2D: a variable with units on coordinate variables that say which axis is x and which is depth. Volumes are read
!> by model3d_netcdf.f90.
module model_netcdf_m
  use checked_m, only: Whole
  use error_m, only: error_t, Fail, FailFromC
  use fio_c, only: fio_close, fio_get_doubles, fio_var_count, fio_var_name, fio_var_rank, fio_var_type
  use iso_c_binding, only: c_char, c_long_long, c_ptr
  use kinds_m, only: dp, sp
  use model_samples_m, only: samples_t, SamplesAllocate
  use netcdf_axes_m, only: side_t, NetcdfSides
  use netcdf_variable_m, only: packing_t, NetcdfHeld, NetcdfMissing, NetcdfOpen, NetcdfPacking, NetcdfText, &
                               NetcdfUnit, NetcdfWhyMissing
  use reading_told_m, only: ReadingTell
  use text_m, only: CString, FString, Lower, Str
  implicit none
  private
  public :: NetcdfRead

contains

  !> Reads variable `name` of s%file into s%a; the caller has set what and file; unit and cure come from the file.
  subroutine NetcdfRead(name, s, error)
    character(*), intent(in) :: name
    type(samples_t), intent(inout) :: s
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: var
    type(side_t) :: side(2)
    type(c_ptr) :: file
    call NetcdfOpen(s, file, error)
    if (allocated(error)) return
    var = FindVariable(file, name, s, error)
    call NetcdfUnit(file, var, s, error)
    call CheckRank(file, var, s, error)
    call NetcdfSides(file, var, s, side, error)
    call Arrange(s, side, error)
    call SamplesAllocate(s, error)
    call ReadValues(file, var, s, side(1)%axis == 'z', any(side%upwards), error)
    if (fio_close(file) /= 0) continue   ! it was only read
  end subroutine NetcdfRead

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
    if (seen == '') call Fail(error, s%what//" model '"//s%file//"' holds no variable, unless in groups, which are not read: "// &
      "put '"//name//"', x and z at its top")
    if (.not. allocated(error)) call Fail(error, s%what//" model '"//s%file// &
      "' has no variable '"//name//"', nor one alone whose long_name says "// &
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
    call NetcdfPacking(file, s%what//" model '"//s%file//"': ", var, packing, error)
    if (allocated(error)) return
    n_slow = merge(s%nz, s%nx, z_is_slow)
    n_fast = merge(s%nx, s%nz, z_is_slow)
    allocate (row(n_fast))
    do j = 1, n_slow
      call FailFromC(fio_get_doubles(file, CString(var), [j - 1_c_long_long, 0_c_long_long], &
        [1_c_long_long, int(n_fast, c_long_long)], row), error)
      if (allocated(error)) return
      do i = 1, n_fast
        if (NetcdfMissing(row(i), packing)) then
          call FailMissing(s, merge(i, j, z_is_slow), merge(j, i, z_is_slow), var, NetcdfWhyMissing(row(i), packing), error)
          return
        end if
        row(i) = NetcdfHeld(row(i), packing)
      end do
      call ReadingTell(s%told, s%file//' is read', j, n_slow)
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

  subroutine FailMissing(s, i, k, var, why, error)
    type(samples_t), intent(in) :: s
    integer, intent(in) :: i, k
    character(*), intent(in) :: var, why
    type(error_t), allocatable, intent(inout) :: error
    call Fail(error, s%what//" model '"//s%file//"': sample ("//Str(i)//', '//Str(k)//') at x = '//Str(s%x0 + (i - 1)*s%dx)// &
      ' m, z = '//Str(s%z0 + (k - 1)*s%dz)//' m of '//var//why)
  end subroutine FailMissing

end module model_netcdf_m
