!> NetCDF models: every spelling of a sound one reads alike; every broken one gives one sentence with value, limit and cure.
program t301_model_netcdf
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t, FailFromC
  use fio_c, only: fio_close, fio_create, fio_enddef, fio_put_doubles
  use fiodef_m, only: FioDim, FioNumbers, FioText
  use fio_c, only: fio_var
  use iso_c_binding, only: c_ptr
  use kinds_m, only: dp, i8, sp
  use model_job_m, only: ClaimRefused, ModelJob
  use model_m, only: model_t, ModelForget, ModelRead
  use parameters_m, only: job_t
  use text_m, only: CString, Str
  implicit none

  !> A NetCDF model as it is to be written; the defaults are a sound one.
  type :: file_t
    character(16) :: var = 'vp', type = 'double', units = 'm/s', dims = 'z x', x = 'x', z = 'z'
    character(16) :: x_units = 'm', z_units = 'm', x_axis = '', z_axis = '', positive = 'down', z_standard = ''
    character(40) :: long_name = ''
    real(dp), allocatable :: xs(:), zs(:), a(:, :)   !< a(nx, nz)
    real(dp) :: scale = 1, offset = 0, fill = 0, x_scale = 1, x_offset = 0
    character(8) :: unsigned = ''
    character(16) :: attribute = '', attribute_type = 'double'    !< one more of the variable: numbers
    real(dp), allocatable :: numbers(:)
    logical :: coordinates = .true.
  end type file_t

  integer, parameter :: nx = 6, nz = 4
  type(error_t), allocatable :: error
  type(job_t) :: job
  type(file_t) :: f
  real(dp) :: vp(nx, nz)
  integer :: i, k

  vp = reshape([((1500.0_dp + 100*i + 10*k, i=1, nx), k=1, nz)], [nx, nz])
  call Spellings()
  call Densities()
  call BadFiles()
  call BadAxes()
  call BadValues()
  call Missing()
  call Done()

contains

  subroutine Fresh()
    f = file_t()
    f%xs = [(-50 + 12.5_dp*i, i=1, nx)]
    f%zs = [(10.0_dp*(i - 1), i=1, nz)]
    f%a = vp
    job = ModelJob('model.nc')
  end subroutine Fresh

  subroutine Write(name)
    character(*), intent(in) :: name
    type(c_ptr) :: h
    type(error_t), allocatable :: e
    h = fio_create(CString(name))
    call FioDim(h, trim(f%x), size(f%xs), e)
    call FioDim(h, trim(f%z), size(f%zs), e)
    call FailFromC(fio_var(h, CString(trim(f%var)), CString(trim(f%type)), CString(trim(f%dims))), e)
    if (f%units /= '') call FioText(h, trim(f%var), 'units', trim(f%units), e)
    if (f%long_name /= '') call FioText(h, trim(f%var), 'long_name', trim(f%long_name), e)
    if (f%scale /= 1) call FioNumbers(h, trim(f%var), 'scale_factor', 'double', [f%scale], e)
    if (f%offset /= 0) call FioNumbers(h, trim(f%var), 'add_offset', 'double', [f%offset], e)
    if (f%fill /= 0) call FioNumbers(h, trim(f%var), '_FillValue', trim(f%type), [f%fill], e)
    if (f%attribute /= '') call FioNumbers(h, trim(f%var), trim(f%attribute), trim(f%attribute_type), f%numbers, e)
    if (f%unsigned /= '') call FioText(h, trim(f%var), '_Unsigned', trim(f%unsigned), e)
    if (f%coordinates) then
      call Coordinate(h, f%x, f%x_units, f%x_axis, '', '', e)
      if (f%x_scale /= 1) call FioNumbers(h, trim(f%x), 'scale_factor', 'double', [f%x_scale], e)
      if (f%x_offset /= 0) call FioNumbers(h, trim(f%x), 'add_offset', 'double', [f%x_offset], e)
      call Coordinate(h, f%z, f%z_units, f%z_axis, f%positive, f%z_standard, e)
    end if
    call FailFromC(fio_enddef(h), e)
    if (f%coordinates) then
      call FailFromC(fio_put_doubles(h, CString(trim(f%x)), [0_i8], [size(f%xs, kind=i8)], f%xs), e)
      call FailFromC(fio_put_doubles(h, CString(trim(f%z)), [0_i8], [size(f%zs, kind=i8)], f%zs), e)
    end if
    call WriteValues(h, e)
    call FailFromC(fio_close(h), e)
    if (allocated(e)) call Claim(.false., 'writing a test model: '//e%message)
  end subroutine Write

  subroutine Coordinate(h, name, units, axis, positive, standard, e)
    type(c_ptr), intent(in) :: h
    character(*), intent(in) :: name, units, axis, positive, standard
    type(error_t), allocatable, intent(inout) :: e
    call FailFromC(fio_var(h, CString(trim(name)), CString('double'), CString(trim(name))), e)
    if (units /= '') call FioText(h, trim(name), 'units', trim(units), e)
    if (axis /= '') call FioText(h, trim(name), 'axis', trim(axis), e)
    if (positive /= '') call FioText(h, trim(name), 'positive', trim(positive), e)
    if (standard /= '') call FioText(h, trim(name), 'standard_name', trim(standard), e)
  end subroutine Coordinate

  subroutine WriteValues(h, e)
    type(c_ptr), intent(in) :: h
    type(error_t), allocatable, intent(inout) :: e
    integer(i8) :: n(2), reversed(2), zero(2)
    n = [size(f%xs), size(f%zs)]
    reversed = [size(f%zs), size(f%xs)]
    zero = 0
    if (f%dims == trim(f%z)//' '//f%x) then
      call FailFromC(fio_put_doubles(h, CString(trim(f%var)), zero, reversed, reshape(f%a, [size(f%a)])), e)
    else if (f%dims == trim(f%x)//' '//f%z) then
      call FailFromC(fio_put_doubles(h, CString(trim(f%var)), zero, n, reshape(transpose(f%a), [size(f%a)])), e)
    end if
  end subroutine WriteValues

  subroutine Reads(how)
    character(*), intent(in) :: how
    type(model_t) :: m
    real(dp) :: worst
    call Write('model.nc')
    call ModelRead(job, m, error)
    if (allocated(error)) then
      call ClaimFine(error, how)
    else if (m%nx /= nx .or. m%nz /= nz) then
      call Claim(.false., how//': '//Str(m%nx)//' x '//Str(m%nz)//' samples')
    else
      worst = maxval(abs(m%vp - vp))
      call Claim(worst < 1.0e-3_dp .and. abs(m%x0 + 37.5_dp) < 1e-9_dp .and. abs(m%dx - 12.5_dp) < 1e-9_dp .and. &
        m%z0 == 0 .and. abs(m%dz - 10) < 1e-9_dp, how//': samples to '//Str(worst, 2)//' m/s (limit 1e-3), first at x = '// &
        Str(m%x0)//' m, dx = '// &
        Str(m%dx)//' m')
    end if
    call Fresh()
    call ModelForget(m)
  end subroutine Reads

  subroutine Spellings()
    call Fresh()
    call Reads('a model of double, z slow')
    f%type = 'float'
    f%dims = 'x z'
    call Reads('a model of float, x slow')
    f%units = 'km/s'
    f%a = vp/1000
    f%x_units = 'km'
    f%xs = f%xs/1000
    call Reads('km/s and x in km')
    f%units = 'm s-1'
    f%x = 'distance'
    f%z = 'depth'
    f%dims = 'depth distance'
    call Reads('distance and depth')
    f%x = 'a'
    f%z = 'b'
    f%x_axis = 'X'
    f%z_axis = 'Z'
    f%dims = 'b a'
    call Reads('axes told by their attributes')
    f%x = 'distance'
    f%z = 'b'
    f%z_standard = 'depth'
    f%dims = 'b distance'
    call Reads('depth told by its standard name')
    f%type = 'int'
    f%scale = 0.5_dp
    f%offset = 100
    f%fill = -999
    f%a = (vp - 100)/0.5_dp
    call Reads('packed integers')
    f%var = 'speed'
    f%long_name = 'P-wave velocity'
    call Reads('another name, told by its long_name')
    f%xs = real(real(f%xs/3, sp), dp)*3
    call Reads('coordinates with rounding of single precision')
    f%xs = [(real(i, dp), i=0, nx - 1)]
    f%x_scale = 12.5_dp
    f%x_offset = -37.5_dp
    call Reads('packed coordinates')
    f%xs = [(3*real(i, dp), i=0, nx - 1)]/1000
    f%x_scale = 12.5_dp/3
    f%x_offset = -0.0375_dp
    f%x_units = 'km'
    call Reads('the same in km')
    f%unsigned = 'false'
    call Reads('integers said to have a sign')
    call Third()
  end subroutine Spellings

  !> No whole number of millimetres, but exactly so.
  subroutine Third()
    type(model_t) :: m
    f%xs = [(-50 + 25*i/3.0_dp, i=1, nx)]
    call Write('model.nc')
    call ModelRead(job, m, error)
    call ClaimFine(error, 'coordinates a third of 25 m apart')
    call Claim(abs(m%dx - 25/3.0_dp) < 1.0e-9_dp, 'are '//Str(m%dx, 12)//' m apart, to 1e-9 m')
    call ModelForget(m)
    call Fresh()
  end subroutine Third

  subroutine Densities()
    type(model_t) :: m
    real(dp) :: expected(nx, nz)
    call Fresh()
    call Write('model.nc')
    f%var = 'rho'
    f%units = 'g/cm3'
    f%a = vp/1000
    call Write('rho.nc')
    job%rho = 'rho.nc'
    call ModelRead(job, m, error)
    call ClaimFine(error, 'density in a file of its own, g/cm3')
    call Claim(maxval(abs(m%rho - vp)) < 1.0e-3_dp, 'becomes kg/m3 to '//Str(maxval(abs(m%rho - vp)), 2)//', at most 1e-3')
    ! density linear in x and z on a grid of twice the spacing that covers more: linear interpolation is exact
    f%xs = [(-50 + 25.0_dp*i, i=0, 5)]
    f%zs = [(-20 + 20.0_dp*i, i=0, 4)]
    f%a = reshape([((2000 + f%xs(i) + 3*f%zs(k), i=1, 6), k=1, 5)], [6, 5])/1000
    call Write('rho.nc')
    call ModelRead(job, m, error)
    call ClaimFine(error, 'density on another grid that covers velocity''s')
    expected = reshape([((2000 + (-50 + 12.5_dp*i) + 3*(10.0_dp*(k - 1)), i=1, nx), k=1, nz)], [nx, nz])
    call Claim(maxval(abs(m%rho - expected)) < 1.0e-3_dp, 'is brought there to '//Str(maxval(abs(m%rho - expected)), 2)// &
      ' kg/m3, at most 1e-3')
    f%xs = f%xs + 30
    call Write('rho.nc')
    call Refused('density must cover all of it', 'density that does not cover the velocity', .false.)
    f%units = 'm/s'
    call Write('rho.nc')
    job%rho = 'rho.nc'
    call Refused("the units of rho are 'm/s', must be kg/m3", 'density in m/s', .false.)
    call ModelForget(m)
  end subroutine Densities

  subroutine Refused(words, claim, rewrite)
    character(*), intent(in) :: words, claim
    logical, intent(in), optional :: rewrite
    logical :: again
    again = .true.
    if (present(rewrite)) again = rewrite
    if (again) call Write('model.nc')
    call ClaimRefused(job, words, claim)
    if (again) call Fresh()
  end subroutine Refused

  subroutine BadFiles()
    integer :: unit
    call Fresh()
    open (newunit=unit, file='text.nc')
    write (unit, '(a)') 'this is no NetCDF file'
    close (unit)
    job%vp = 'text.nc'
    call Refused("cannot read 'text.nc'", 'a text file')
    open (newunit=unit, file='empty.nc')
    close (unit)
    job%vp = 'empty.nc'
    call Refused("cannot read 'empty.nc'", 'an empty file')
    job%vp_var = 'velocity'
    call Refused('set vp_var to one of vp, x, z', 'a variable that is not there')
    f%var = 'a'
    f%long_name = 'S-wave velocity'
    call Refused("has no variable 'vp'", 'a velocity that is not that of P waves')
    job%vp_var = 'x'
    call Refused("the units of x are 'm'", 'a coordinate asked for as the model')
    f%units = ''
    call Refused('vp has no units attribute', 'no units')
    f%units = 'mph'
    call Refused("the units of vp are 'mph', must be m/s", 'unknown units')
    f%units = 'kg/m3'
    call Refused("'kg/m3'", 'units of density')
    f%dims = 'x'
    call Refused('has 1 dimensions, must be numbers in 2', 'a variable of one dimension')
  end subroutine BadFiles

  subroutine BadAxes()
    call Fresh()
    f%coordinates = .false.
    call Refused('no coordinate variable', 'no coordinates')
    f%x_units = ''
    call Refused("the units of coordinate x are '', must be m or km", 'a coordinate without units')
    f%z_units = 'ms'
    call Refused("the units of coordinate z are 'ms'", 'depth in milliseconds')
    f%x = 'a'
    f%dims = 'z a'
    call Refused('cannot tell x from depth', 'an axis of an unknown name')
    f%positive = 'up'
    f%zs = -f%zs(size(f%zs):1:-1)
    f%a = vp(:, size(f%zs):1:-1)
    call Reads('z that counts upwards, the deepest row first')
    f%positive = 'up'
    f%zs = -f%zs(size(f%zs):1:-1)
    f%a = vp(:, size(f%zs):1:-1)
    f%dims = trim(f%x)//' '//f%z
    call Reads('the same, z fastest')
    f%z_standard = 'height'
    f%zs = -f%zs
    call Reads('heights, the shallowest row first')
    f%x_axis = 'X'
    f%positive = 'up'
    f%zs = [0.0_dp, 0.0_dp, 0.0_dp, 0.0_dp]
    call Refused('must increase', 'heights all equal')
    f%zs = -f%zs
    call Refused('must increase', 'depth that decreases')
    f%xs(4) = f%xs(4) + 1
    call Refused('sample 4 at 1 m is 1 m away from equal steps of 12.5 m', 'uneven spacing')
    f%xs(:) = 7
    call Refused('must increase', 'coordinates all equal')
    f%xs(2) = transfer(9221120237041090560_i8, 1.0_dp)
    call Refused('holds NaN m at sample 2', 'a coordinate that is NaN')
    f%zs = [0.0_dp]
    f%a = vp(:, :1)
    call Refused('has 1 samples, must be 2', 'one depth only')
  end subroutine BadAxes

  subroutine BadValues()
    call Fresh()
    f%a(2, 3) = transfer(9221120237041090560_i8, 1.0_dp)
    call Refused('sample (2, 3) of (6, 4) at x = -25 m, z = 20 m is NaN', 'a NaN')
    f%a(2, 3) = 1.0e300_dp
    call Refused('is 1e38', 'a number beyond single precision')
    f%a(2, 3) = 9.96921e36_dp
    f%fill = 9.96921e36_dp
    call Refused('sample (2, 3) at x = -25 m, z = 20 m of vp is missing', 'a hole')
    f%a(2, 3) = 0
    call Refused('is 0, must be a number above 0', 'a zero')
    f%unsigned = 'true'
    call Refused('the attribute _Unsigned of vp says', 'integers meant without their sign')
    f%a = vp/1000
    call Refused('look like km/s: correct the units attribute of vp to km/s', 'km/s said to be m/s')
    f%units = 'km/s'
    call Refused('look like m/s: correct the units attribute of vp to m/s', 'm/s said to be km/s')
    f%a(1, 1) = 16000
    call Refused('sample (1, 1) of (6, 4) at x = -37.5 m, z = 0 m is 16000 m/s, must be 50 .. 15000 m/s', 'too fast')
  end subroutine BadValues

  !> Numbers that attributes call missing ones, as the conventions of NetCDF have it.
  subroutine Missing()
    character(*), parameter :: hole = 'sample (2, 3) at x = -25 m, z = 20 m of vp is missing'
    call Fresh()
    f%a(2, 3) = 3000
    call With('valid_range', [1500.0_dp, 2500.0_dp])
    call Refused(hole//': the file holds 3000 there, beyond its valid_range, 1500 .. 2500', 'a value beyond valid_range')
    call With('valid_min', [minval(vp) + 1])
    call Refused('beyond its valid_min 1611', 'a value below valid_min')
    call With('valid_max', [maxval(vp)])
    call Reads('values up to valid_max')
    f%type = 'float'
    f%units = 'km/s'
    f%a = vp/1000
    call With('valid_max', [maxval(vp)/1000])
    call Reads('the same in single precision, valid_max in double')
    call Pack()
    f%a(2, 3) = 6000
    call With('valid_range', [0.0_dp, 5000.0_dp], 'int')
    call Refused('the file holds 6000 there, beyond its valid_range, 0 .. 5000', 'a packed value beyond a packed valid_range')
    call Pack()
    call With('valid_range', [minval(vp), maxval(vp)])
    call Reads('a valid_range of unpacked values around packed ones')
    call Pack()
    f%scale = -f%scale
    f%a = -f%a
    call With('valid_range', [minval(vp), maxval(vp)])
    call Reads('the same, scale_factor below 0')
    call Pack()
    f%a(2, 3) = 6000
    call With('valid_range', [minval(vp), maxval(vp)])
    call Refused('the file holds 6000 there, beyond its valid_range, 1610', 'a packed value beyond an unpacked valid_range')
    f%type = 'float'
    f%units = 'km/s'
    f%a = vp/1000
    f%a(2, 3) = 1.9_dp
    call With('missing_value', [1.7_dp, 1.9_dp])
    call Refused(hole//' (fill value 1.9', 'the second of two missing_values, which are in double, in single precision')
    call Pack()
    f%a(2, 3) = -2147483647
    f%offset = 1.0e9_dp
    call Refused(hole//' (fill value -2.14748e9', 'what nobody wrote')
    call With('valid_range', [1500.0_dp])
    call Refused('the attribute valid_range of vp is 1 number, must be 2 of them', 'half a valid_range')
    call With('scale_factor', [1.0_dp, 2.0_dp])
    call Refused('the attribute scale_factor of vp is 2 numbers, must be 1 of them', 'two scale factors')
  end subroutine Missing

  subroutine With(name, numbers, type)
    character(*), intent(in) :: name
    real(dp), intent(in) :: numbers(:)
    character(*), intent(in), optional :: type
    f%attribute = name
    f%numbers = numbers
    f%attribute_type = 'double'
    if (present(type)) f%attribute_type = type
  end subroutine With

  !> Integers: half a metre a second each, from 100 m/s on.
  subroutine Pack()
    f%type = 'int'
    f%scale = 0.5_dp
    f%offset = 100
    f%a = (vp - 100)/0.5_dp
  end subroutine Pack

end program t301_model_netcdf
