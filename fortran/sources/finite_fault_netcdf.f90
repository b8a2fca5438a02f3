!> Faults in NetCDF, the same as the plain text of finite_fault.f90: points with a moment tensor and a history each.
!>
!>     rate(point, time)   [s-1]       history; step of time * sum(rate) times the tensor is the moment of the point
!>     time(time)          [s]         equally spaced
!>     onset(point)        [s]         added to time; may be left out: 0
!>     x, y, z(point)      [m or km]   from the shot's position, z down
!>     mxx, myy, mzz, mxy, mxz, myz(point)  [N m]   in the model's axes; those left out are 0;
!>     or strike, dip, rake(point) [degrees] and m0(point) [N m]
!>
!> Histories are read a point at a time, and zeros before and after them are dropped, so that a file with one long common time axis
!> takes no more memory than its slip.
module finite_fault_netcdf_m
  use checked_m, only: Between, Unpacked, Whole
  use error_m, only: error_t, Fail, FailFromC
  use finite_fault_m, only: finite_fault_t, FaultBegin, FaultDone, FaultRead, FaultTake, fault_points
  use fio_c, only: fio_close, fio_get_doubles, fio_open, fio_var_dim, fio_var_rank, fio_var_type
  use moment_tensor_m, only: MomentTensor
  use iso_c_binding, only: c_associated, c_char, c_int, c_long_long, c_ptr
  use kinds_m, only: dp, i8, sp
  use netcdf_variable_m, only: packing_t, NetcdfMissing, NetcdfPacking, NetcdfText, NetcdfWhyMissing
  use text_m, only: CString, FString, Lower, Str
  implicit none
  private
  public :: FaultFile

  integer, parameter :: longest = 10000000          !< samples of a history
  real(dp), parameter :: largest = 1.0e30_dp        !< of any number
  character(3), parameter :: parts(6) = ['mxx', 'myy', 'mzz', 'mxy', 'mxz', 'myz']

contains

  !> Reads a fault of any known form: NetCDF by its first bytes, else text (FaultRead).
  subroutine FaultFile(path, origin, azimuth, fault, error)
    character(*), intent(in) :: path
    real(dp), intent(in) :: origin(2), azimuth
    type(finite_fault_t), intent(out) :: fault
    type(error_t), allocatable, intent(inout) :: error
    type(c_ptr) :: file
    if (.not. IsNetcdf(path)) then
      call FaultRead(path, origin, azimuth, fault, error)
      return
    end if
    file = fio_open(CString(path), 0_c_int)
    if (.not. c_associated(file)) then
      call FailFromC(1, error)
      error%message = 'fault file: '//error%message//': give an undamaged NetCDF file'
      return
    end if
    call FaultBegin(fault)
    call ReadFault(file, 'fault file '//path//': ', azimuth, fault, error)
    if (fio_close(file) /= 0) continue               ! it was only read
    call FaultDone(fault, path, error)
  end subroutine FaultFile

  !> The classic formats begin with CDF, NetCDF-4 with the mark of HDF5.
  logical function IsNetcdf(path)
    character(*), intent(in) :: path
    character(4) :: first
    integer :: unit, io
    IsNetcdf = .false.
    open (newunit=unit, file=path, access='stream', form='unformatted', status='old', action='read', iostat=io)
    if (io /= 0) return
    read (unit, iostat=io) first
    close (unit)
    if (io == 0) IsNetcdf = first(:3) == 'CDF' .or. first == char(137)//'HDF'
  end function IsNetcdf

  subroutine ReadFault(file, begin, azimuth, fault, error)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: begin
    real(dp), intent(in) :: azimuth
    type(finite_fault_t), intent(inout) :: fault
    type(error_t), allocatable, intent(inout) :: error
    real(dp), allocatable :: x(:, :), m(:, :), onset(:), row(:)
    character(:), allocatable :: point
    real(dp) :: first, step
    integer :: n, nt, i
    call ReadShape(file, begin, point, n, nt, error)
    call ReadTime(file, begin, nt, first, step, error)
    if (allocated(error)) return
    allocate (x(3, n), m(6, n), onset(n), row(nt))
    call Column(file, begin, 'x', point, 'm', x(1, :), error)
    call Column(file, begin, 'y', point, 'm', x(2, :), error)
    call Column(file, begin, 'z', point, 'm', x(3, :), error)
    onset = 0
    if (Has(file, 'onset')) call Column(file, begin, 'onset', point, 's', onset, error)
    call ReadMechanism(file, begin, point, azimuth, m, error)
    do i = 1, n
      call Numbers(file, begin, 'rate', [i - 1_i8, 0_i8], [1_i8, int(nt, i8)], row, error)
      if (allocated(error)) then
        error%message = error%message//' (point '//Str(i)//')'
        return
      end if
      call AddRow(fault, x(:, i), m(:, i), first + onset(i), step, row, error)
      if (allocated(error)) return
    end do
  end subroutine ReadFault

  !> Name of the dimension of points, points and samples.
  subroutine ReadShape(file, begin, point, n, nt, error)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: begin
    character(:), allocatable, intent(out) :: point
    integer, intent(out) :: n, nt
    type(error_t), allocatable, intent(inout) :: error
    character(kind=c_char, len=257) :: buffer
    character(:), allocatable :: second
    integer(c_long_long) :: length(2)
    integer :: rank, width
    n = 0
    nt = 0
    point = ''
    rank = fio_var_rank(file, CString('rate'))
    width = fio_var_type(file, CString('rate'))
    if (rank /= 2 .or. width == 0) then
      call Fail(error, begin//'there is no variable rate of numbers on (point, time), the histories [s-1]')
      return
    end if
    call FailFromC(fio_var_dim(file, CString('rate'), 0, buffer, length(1)), error)
    point = FString(buffer)
    if (.not. allocated(error)) call FailFromC(fio_var_dim(file, CString('rate'), 1, buffer, length(2)), error)
    second = FString(buffer)
    if (allocated(error)) return
    if (second /= 'time' .or. point == 'time') then
      call Fail(error, begin//'rate lies on ('//point//', '//second//'), must be on (point, time), a history after the other')
    else if (length(1) < 1 .or. length(1) > fault_points .or. length(2) < 2 .or. length(2) > longest) then
      call Fail(error, begin//'rate has '//Str(length(1))//' points and '//Str(length(2))//' samples, must be 1 .. '// &
                Str(fault_points)//' and 2 .. '//Str(longest))
    end if
    if (allocated(error)) return
    n = Whole(length(1))
    nt = Whole(length(2))
    call CheckUnits(file, begin, 'rate', 's-1', other='1/s', error=error)
  end subroutine ReadShape

  !> The common time axis: its first value and its step [s].
  subroutine ReadTime(file, begin, nt, first, step, error)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: begin
    integer, intent(in) :: nt
    real(dp), intent(out) :: first, step
    type(error_t), allocatable, intent(inout) :: error
    real(dp), allocatable :: t(:)
    real(dp) :: allowed
    integer :: i
    first = 0
    step = 0
    if (allocated(error)) return
    allocate (t(nt))
    call Column(file, begin, 'time', 'time', 's', t, error)
    if (allocated(error)) return
    first = t(1)
    step = (t(nt) - t(1))/(nt - 1)
    if (.not. step > 0) then
      call Fail(error, begin//'time runs from '//Str(t(1))//' to '//Str(t(nt))//' s, must increase')
      return
    end if
    allowed = 1e-3_dp*step + 4*epsilon(1.0_sp)*maxval(abs(t))        ! times may have been rounded to single precision
    do i = 2, nt
      if (abs(t(i) - (first + (i - 1)*step)) <= allowed) cycle
      call Fail(error, begin//'time is not equally spaced: sample '//Str(i)//' at '//Str(t(i), 9)//' s, must be at '// &
                Str(first + (i - 1)*step, 9)//' s: resample the histories')
      return
    end do
  end subroutine ReadTime

  !> m(6, n) [N m] from a tensor, or from strike, dip, rake and moment.
  subroutine ReadMechanism(file, begin, point, azimuth, m, error)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: begin, point
    real(dp), intent(in) :: azimuth
    real(dp), intent(out) :: m(:, :)
    type(error_t), allocatable, intent(inout) :: error
    character(6), parameter :: words(4) = ['strike', 'dip   ', 'rake  ', 'm0    ']
    real(dp), allocatable :: a(:, :)
    logical :: tensor, couple
    integer :: c, i
    m = 0
    if (allocated(error)) return
    tensor = any([(Has(file, parts(c)), c=1, 6)])
    couple = any([(Has(file, trim(words(c))), c=1, 4)])
    if (tensor .eqv. couple) then
      call Fail(error, begin//trim(merge('tells the mechanism twice', 'tells no mechanism       ', tensor))// &
                ': give either mxx .. myz [N m], or strike, dip, rake [degrees] and m0 [N m]')
    else if (tensor) then
      do c = 1, 6
        if (Has(file, parts(c))) call Column(file, begin, parts(c), point, 'N m', m(c, :), error)
      end do
    else
      allocate (a(4, size(m, 2)))
      do c = 1, 3
        call Column(file, begin, trim(words(c)), point, 'degrees', a(c, :), error)
      end do
      call Column(file, begin, 'm0', point, 'N m', a(4, :), error)
      if (allocated(error)) return
      do i = 1, size(m, 2)
        m(:, i) = a(4, i)*MomentTensor(a(1, i), a(2, i), a(3, i), azimuth)
      end do
    end if
  end subroutine ReadMechanism

  !> A point, without the zeros before and after its history but one at each end.
  subroutine AddRow(fault, x, m, t0, dt, row, error)
    type(finite_fault_t), intent(inout) :: fault
    real(dp), intent(in) :: x(3), m(6), t0, dt, row(:)
    type(error_t), allocatable, intent(inout) :: error
    integer :: from, to
    from = max(findloc(abs(row) > 0, .true., 1) - 1, 1)
    to = min(findloc(abs(row) > 0, .true., 1, back=.true.) + 1, size(row))
    call FaultTake(fault, x, m, t0 + (from - 1)*dt, dt, real(row(from:to), sp), error)
  end subroutine AddRow

  ! --- variables ------------------------------------------------------------------------------------------------------

  logical function Has(file, name)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: name
    Has = fio_var_rank(file, CString(name)) >= 0
  end function Has

  !> A number a point (or a sample of time) in SI units.
  subroutine Column(file, begin, name, dimension, unit, a, error)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: begin, name, dimension, unit
    real(dp), intent(inout) :: a(:)
    type(error_t), allocatable, intent(inout) :: error
    character(kind=c_char, len=257) :: buffer
    character(:), allocatable :: positive
    real(dp), allocatable :: values(:)
    integer(c_long_long) :: length
    real(dp) :: factor
    integer :: rank, width
    length = -1
    if (allocated(error)) return
    rank = fio_var_rank(file, CString(name))
    width = fio_var_type(file, CString(name))
    if (rank == 1 .and. width > 0) call FailFromC(fio_var_dim(file, CString(name), 0, buffer, length), error)
    if (length /= size(a) .and. .not. allocated(error)) &
      call Fail(error, begin//'there is no variable '//name//' of numbers on ('//dimension//'), ['//unit//']')
    if (allocated(error)) return
    if (FString(buffer) /= dimension) &
      call Fail(error, begin//name//' lies on ('//FString(buffer)//'), must be on ('//dimension//')')
    factor = 1
    if (unit == 'm') call CheckUnits(file, begin, name, 'm', 'km', error, factor)
    if (unit == 's') call CheckUnits(file, begin, name, 's', 'seconds', error)
    if (unit == 'N m') call CheckUnits(file, begin, name, 'N m', 'N.m', error)
    if (unit == 'degrees') call CheckUnits(file, begin, name, 'degrees', 'degree', error)
    positive = Lower(NetcdfText(file, name, 'positive'))
    if (name == 'z' .and. positive == 'up') call Fail(error, begin//'z counts upwards, depths count downwards: turn its sign')
    allocate (values(size(a)))
    call Numbers(file, begin, name, [0_i8], [size(a, kind=i8)], values, error)
    if (.not. allocated(error)) a = factor*values
  end subroutine Column

  !> The units must be one of two; `factor` for the second, if it is another unit and not another spelling.
  subroutine CheckUnits(file, begin, name, unit, other, error, factor)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: begin, name, unit, other
    type(error_t), allocatable, intent(inout) :: error
    real(dp), intent(out), optional :: factor
    character(:), allocatable :: found
    if (present(factor)) factor = 1
    if (allocated(error)) return
    found = NetcdfText(file, name, 'units')
    if (found == unit) return
    if (found == other) then
      if (present(factor)) factor = 1000
    else
      call Fail(error, begin//"the units of "//name//" are '"//found//"', must be "//unit//' or '//other)
    end if
  end subroutine CheckUnits

  !> A block of a variable, unpacked; what is missing or no number is refused.
  subroutine Numbers(file, begin, name, start, count, a, error)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: begin, name
    integer(i8), intent(in) :: start(:), count(:)
    real(dp), intent(out) :: a(:)
    type(error_t), allocatable, intent(inout) :: error
    type(packing_t) :: p
    integer :: i
    a = 0
    if (allocated(error)) return
    call FailFromC(fio_get_doubles(file, CString(name), start, count, a), error)
    if (allocated(error)) return
    call NetcdfPacking(file, begin, name, p, error)
    if (allocated(error)) return
    do i = 1, size(a)
      if (NetcdfMissing(a(i), p)) then
        call Fail(error, begin//'number '//Str(i)//' of '//name//NetcdfWhyMissing(a(i), p))
        return
      end if
      if (Between(Unpacked(a(i), p%scale, p%offset), -largest, largest)) cycle
      call Fail(error, begin//'number '//Str(i)//' of '//name//' is '//Str(a(i))//Packing()//', must be there and below 1e30: '// &
                'fill the hole')
      return
    end do
    a = Unpacked(a, p%scale, p%offset)

  contains

    function Packing() result(s)
      character(:), allocatable :: s
      s = ''
      if (p%scale /= 1 .or. p%offset /= 0) s = ' (times '//Str(p%scale)//', plus '//Str(p%offset)//')'
    end function Packing

  end subroutine Numbers

end module finite_fault_netcdf_m
