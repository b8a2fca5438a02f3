!> The source of a 3D job: one of several kinds at the shot's position with one history, the wavelet, or a fault of many points.
module source3d_m
  use checked_m, only: Finite, IsWhole, Whole
  use error_m, only: error_t, Fail
  use finite_fault_m, only: finite_fault_t, FaultArea, FaultEnd, FaultSound, FaultStart
  use finite_fault_netcdf_m, only: FaultFile
  use moment_tensor_m, only: MomentScalar, MomentNorm, MomentTensor
  use kinds_m, only: dp, i8, sp
  use parameters_m, only: job_t
  use text_m, only: Str
  implicit none
  private
  public :: source3d_t, SourceDerive, SourceNumbers, SourceFrom, SourceFault, SourceParts, SourceWords
  public :: SourceStrength, source_volume, source_force, source_moment, source_fault

  integer, parameter :: source_volume = 1, source_force = 2, source_moment = 3, source_fault = 4

  type :: source3d_t
    integer :: kind = source_volume
    real(dp) :: force(3) = 0                  !< [N] times the wavelet
    real(dp) :: moment(6) = 0                 !< xx, yy, zz, xy, xz, yz [N m]; times the wavelet [1/s] the moment rate
    type(finite_fault_t) :: fault
  end type source3d_t

  integer, parameter :: fixed = 11            !< numbers before those of the fault's points
  integer, parameter :: per_point = 13        !< place, tensor, potency or not, first time, interval, samples

contains

  !> The source of a job. Fails where nothing would act, or the moment is given twice.
  subroutine SourceDerive(job, source, error)
    type(job_t), intent(in) :: job
    type(source3d_t), intent(out) :: source
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: m0
    m0 = job%m0
    if (abs(job%mw) > 0) m0 = MomentScalar(job%mw)
    select case (job%source)
    case ('volume')
      source%kind = source_volume
    case ('force')
      source%kind = source_force
      source%force = [job%fx, job%fy, job%fz]
      if (all(abs(source%force) <= 0)) call Fail(error, 'source=force: the force is 0, give fx, fy or fz [N]')
    case ('explosion', 'dc')
      source%kind = source_moment
      source%moment = m0*[1, 1, 1, 0, 0, 0]
      if (job%source == 'dc') source%moment = m0*MomentTensor(job%strike, job%dip, job%rake, job%x_azimuth)
      if (job%m0 > 0 .and. abs(job%mw) > 0) then
        call Fail(error, 'm0 and mw both tell the moment: give one of them')
      else if (.not. m0 > 0) then
        call Fail(error, 'source='//job%source//': the moment is 0, give m0 [N m] or mw')
      end if
    case ('moment')
      source%kind = source_moment
      source%moment = [job%mxx, job%myy, job%mzz, job%mxy, job%mxz, job%myz]
      if (all(abs(source%moment) <= 0)) call Fail(error, 'source=moment: all its parts are 0, give mxx, .. myz [N m]')
    case default
      source%kind = source_fault
      if (job%fault == '') then
        call Fail(error, 'source=fault: give fault=FILE')
      else
        call FaultFile(job%fault, [job%fault_lon, job%fault_lat], job%x_azimuth, source%fault, error)
      end if
    end select
  end subroutine SourceDerive

  !> Force [N] and moment tensor [N m] (xx, yy, zz, xy, xz, yz) of a source that is no fault, in a medium of bulk modulus `bulk`
  !> [Pa], by which a volume pushes to all sides.
  pure subroutine SourceParts(source, bulk, force, moment)
    type(source3d_t), intent(in) :: source
    real(dp), intent(in) :: bulk
    real(dp), intent(out) :: force(3), moment(6)
    force = 0
    moment = 0
    select case (source%kind)
    case (source_force)
      force = source%force
    case (source_volume)
      moment(:3) = bulk
    case default
      moment = source%moment
    end select
  end subroutine SourceParts

  !> One line on the source. faultwords.f90 has the release of a fault, whose rigidity may be the model's.
  function SourceWords(source) result(s)
    type(source3d_t), intent(in) :: source
    character(:), allocatable :: s
    select case (source%kind)
    case (source_volume)
      s = 'injection of volume [m3/s]'
    case (source_force)
      s = 'force ('//Str(source%force(1))//', '//Str(source%force(2))//', '//Str(source%force(3))//') N'
    case (source_moment)
      if (all(abs(source%moment(2:3) - source%moment(1)) <= 0) .and. all(abs(source%moment(4:)) <= 0)) then
        s = 'explosion, moment '//Str(source%moment(1), 5)//' N m (xx = yy = zz)'
        return
      end if
      s = 'moment tensor, moment '//Str(MomentNorm(source%moment), 5)//' N m'
    case default
      s = 'fault of '//Str(source%fault%points)//' points, slips from '//Str(FaultStart(source%fault), 5)//' to '// &
          Str(FaultEnd(source%fault), 5)//' s'
    end select
  end function SourceWords

  !> Fails on a source of which a step of `dt` [s] adds no number of single precision to a cell of a `volume` [m3], with room above
  !> and below. `q`: samples of its wavelet.
  subroutine SourceStrength(source, q, dt, volume, error)
    type(source3d_t), intent(in) :: source
    real(sp), intent(in) :: q(:)
    real(dp), intent(in) :: dt, volume
    type(error_t), allocatable, intent(inout) :: error
    real(dp), parameter :: least = 1e-30_dp, most = 1e30_dp
    real(dp) :: added
    if (source%kind == source_volume) return          ! its wavelet is checked
    if (source%kind == source_fault) then
      added = maxval(abs(source%fault%m))*maxval(abs(source%fault%rate))
    else
      added = maxval(abs([source%force, source%moment]))*maxval(abs(q))
    end if
    added = added*dt/volume
    if (added >= least .and. added <= most) return
    call Fail(error, 'the source is too '//trim(merge('weak  ', 'strong', added < least))//' for single precision, '// &
              SourceWords(source)//': a step adds '//Str(added, 3)//' to a cell, must be '//Str(least)//' .. '// &
              Str(most)//'; results are linear, so model another strength and scale them')
  end subroutine SourceStrength

  !> All of it as numbers: how it goes to other ranks. The samples of a fault are source%fault%rate.
  pure function SourceNumbers(source) result(x)
    type(source3d_t), intent(in) :: source
    real(dp), allocatable :: x(:)
    integer :: i, at
    allocate (x(fixed + per_point*source%fault%n), source=0.0_dp)
    x(1:2) = [source%kind, source%fault%n]
    x(3:5) = source%force
    x(6:11) = source%moment
    do i = 1, source%fault%n
      at = fixed + per_point*(i - 1)
      associate (f => source%fault)
        x(at + 1:at + 3) = f%x(:, i)
        x(at + 4:at + 9) = f%m(:, i)
        x(at + 10) = merge(1, 0, f%potency(i))
        x(at + 11) = f%t0(i)
        x(at + 12) = f%dt(i)
        x(at + 13) = f%start(i + 1) - f%start(i)
      end associate
    end do
  end function SourceNumbers

  !> The reason why these numbers and so many samples can be no source, '' if they can.
  pure function SourceFault(x, samples) result(why)
    real(dp), intent(in) :: x(:)
    integer, intent(in) :: samples
    character(:), allocatable :: why
    integer(i8) :: total
    integer :: i
    why = 'the numbers of the source are none'
    if (size(x) < fixed) return
    if (.not. (all(Finite(x)) .and. IsWhole(x(1), source_volume, source_fault) .and. IsWhole(x(2), 0, huge(1)))) return
    if (fixed + per_point*int(Whole(x(2)), i8) /= size(x, kind=i8)) return
    total = 0
    do i = 1, Whole(x(2))
      associate (p => x(fixed + per_point*(i - 1) + 1:fixed + per_point*i))
        if (.not. (IsWhole(p(10), 0, 1) .and. IsWhole(p(13), 1, samples))) return
        if (.not. FaultSound(p(1:3), p(4:9), p(11), p(12), Whole(p(13)))) return
        total = total + Whole(p(13))
      end associate
    end do
    if (total == samples) why = ''
  end function SourceFault

  !> The way back; `rate`: the samples of the fault.
  pure subroutine SourceFrom(x, rate, source)
    real(dp), intent(in) :: x(:)
    real(sp), intent(in) :: rate(:)
    type(source3d_t), intent(out) :: source
    integer :: i, at, n
    source%kind = Whole(x(1))
    n = Whole(x(2))
    source%force = x(3:5)
    source%moment = x(6:11)
    if (n == 0) return
    associate (f => source%fault)
      f%n = n
      f%points = n                              ! only rank 0 has seen the file
      f%point = [(i, i=1, n)]
      allocate (f%x(3, n), f%m(6, n), f%potency(n), f%t0(n), f%dt(n), f%area(n), f%start(n + 1))
      f%rate = rate
      f%start(1) = 1
      do i = 1, n
        at = fixed + per_point*(i - 1)
        f%x(:, i) = x(at + 1:at + 3)
        f%m(:, i) = x(at + 4:at + 9)
        f%potency(i) = Whole(x(at + 10)) == 1
        f%t0(i) = x(at + 11)
        f%dt(i) = x(at + 12)
        f%start(i + 1) = f%start(i) + Whole(x(at + 13))
        f%area(i) = FaultArea(rate(f%start(i):f%start(i + 1) - 1), f%dt(i))
      end do
    end associate
  end subroutine SourceFrom

end module source3d_m
