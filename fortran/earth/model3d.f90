!> The earth of a 3D job: volumes or flat layers, read and checked; model3d_window.f90 cuts out what a shot sees of it.
!>
!> Volumes are cells: a sample is what its cell consists of, the model reaches half a spacing beyond the outermost samples, or, with
!> model_at=nodes, just to them. The grid's cells begin at the model's low sides; of layers at x = y = 0.
module model3d_m
  use checked_m, only: Finite
  use earth_m, only: earth_t
  use error_m, only: error_t, Fail
  use fio_c, only: fio_crc_floats
  use files_m, only: FileSize
  use hash_m, only: hash_t, HashAdd, HashText
  use kinds_m, only: dp, i8, sp
  use flat_layers_m, only: flat_layers_t, FlatLayersRead
  use model_netcdf_m, only: NetcdfRead3d
  use model_raw_m, only: RawRead3d
  use model_rules_m, only: ModelFormat
  use parameters_m, only: job_t
  use model_samples_m, only: samples_t, SamplesDoubt, SamplesUnit, UnitFactor
  use model_checksum_m, only: model_checksum_t, ModelChecksumMake
  use text_m, only: Str
  implicit none
  private
  public :: model3d_t, Model3dRead

  type, extends(earth_t) :: model3d_t
    integer :: n(3) = 0                       !< samples of volumes
    real(dp) :: d(3) = 0                      !< their spacings [m]
    real(dp) :: x0(3) = 0                     !< the first of them [m]
    logical :: attenuates = .false.
    type(flat_layers_t) :: layers                  !< stand for the earth instead of volumes where n > 0
    real(sp), allocatable :: vp(:, :), vs(:, :), rho(:, :), qp(:, :), qs(:, :)   !< (nx, ny*nz); q: 1/Q, if it attenuates
    real(dp) :: vsmin = 0                     !< of rock, 0 if there is none [m/s]
    real(dp) :: qmin = 0                      !< smallest quality factor, 0 without attenuation
    type(model_checksum_t) :: checksum(3)     !< of vp and vs, rho and rho, qp and qs
  end type model3d_t

  real(dp), parameter :: bulk = sqrt(4/3.0_dp)    !< vp/vs above which a rock resists compression

contains

  ! --- reading --------------------------------------------------------------------------------------------------------

  subroutine Model3dRead(job, earth, error)
    type(job_t), intent(in) :: job
    type(model3d_t), intent(inout) :: earth
    type(error_t), allocatable, intent(inout) :: error
    earth = model3d_t()
    earth%doubts = ''
    if (job%layers /= '') then
      call FlatLayersRead(job%layers, earth%layers, error)
      if (allocated(error)) return
      if (.not. earth%layers%attenuates .and. job%qs_vs > 0) call LayersByRule(job, earth%layers)
      earth%attenuates = earth%layers%attenuates .and. job%attenuation
      earth%low = [-huge(1.0_dp), -huge(1.0_dp), earth%layers%top(1)]
      earth%high = huge(1.0_dp)
      earth%sources = 'layers: '//job%layers
      call SummariseLayers(earth)
    else
      call ReadVolumes(job, earth, error)
    end if
  end subroutine Model3dRead

  !> Sets 1/Q by the rule qs_vs in layers whose file has none.
  pure subroutine LayersByRule(job, layers)
    type(job_t), intent(in) :: job
    type(flat_layers_t), intent(inout) :: layers
    associate (vs => layers%medium(2, :))
      where (vs > 0) layers%medium(5, :) = 1/(job%qs_vs*vs)
    end associate
    layers%medium(4, :) = layers%medium(5, :)/job%qp_qs
    layers%attenuates = .true.
  end subroutine LayersByRule

  subroutine ReadVolumes(job, earth, error)
    type(job_t), intent(in) :: job
    type(model3d_t), intent(inout) :: earth
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: half
    if (job%vp == '') call Fail(error, 'the earth is not given: set vp=FILE (and vs, rho), or layers=FILE')
    earth%sources = ''
    call OneVolume(job, 'P velocity', job%vp, job%vp_var, earth, earth%vp, error)
    if (job%vs /= '') then
      call OneVolume(job, 'S velocity', job%vs, job%vs_var, earth, earth%vs, error)
    else if (.not. allocated(error)) then
      allocate (earth%vs(size(earth%vp, 1), size(earth%vp, 2)), source=0.0_sp)
      if (job%vp_vs > 0) earth%vs = real(earth%vp/job%vp_vs, sp)
    end if
    if (job%rho /= '') then
      call OneVolume(job, 'density', job%rho, job%rho_var, earth, earth%rho, error)
    else if (.not. allocated(error)) then
      allocate (earth%rho(size(earth%vp, 1), size(earth%vp, 2)), source=real(job%rho_value, sp))
      if (job%rho_rule == 'gardner') then
        where (earth%vp > 1600) earth%rho = 310*earth%vp**0.25_sp
      end if
    end if
    if (.not. allocated(error)) call ReadQuality(job, earth, error)
    if (.not. allocated(error)) call CheckMedium(earth, job%vp, error)
    if (allocated(error)) return
    half = merge(0.5_dp, 0.0_dp, job%model_at == 'centres')
    earth%low = earth%x0 - half*earth%d
    earth%high = earth%x0 + (earth%n - 1 + half)*earth%d
    call SummariseVolumes(earth)
  end subroutine ReadVolumes

  !> 1/Q from files, or by rule from vs.
  subroutine ReadQuality(job, earth, error)
    type(job_t), intent(in) :: job
    type(model3d_t), intent(inout) :: earth
    type(error_t), allocatable, intent(inout) :: error
    earth%attenuates = job%attenuation .and. (job%qs /= '' .or. job%qp /= '' .or. job%qs_vs > 0)
    if (.not. earth%attenuates) return
    if (job%qs /= '') then
      call ReadLoss('S', job%qs, job%qs_var, earth%qs)
    else
      allocate (earth%qs(size(earth%vp, 1), size(earth%vp, 2)), source=0.0_sp)
      where (earth%vs > 0 .and. job%qs_vs > 0) earth%qs = real(1/(job%qs_vs*max(earth%vs, tiny(1.0_sp))), sp)
    end if
    if (job%qp /= '') then
      call ReadLoss('P', job%qp, job%qp_var, earth%qp)
    else if (.not. allocated(error)) then
      earth%qp = real(earth%qs/job%qp_qs, sp)
    end if

  contains

    !> 1/Q from a file of Q. There 0 stands for no attenuation in air and fluids; in rock it is a hole.
    subroutine ReadLoss(wave, path, var, q)
      character(*), intent(in) :: wave, path, var
      real(sp), allocatable, intent(inout) :: q(:, :)
      integer :: at(2)
      if (allocated(error)) return
      call OneVolume(job, 'quality factor', path, var, earth, q, error)
      if (allocated(error)) return
      if (.not. any(earth%vs > 0 .and. earth%vp > 0 .and. .not. q > 0)) then
        where (q > 0) q = 1/q
        return
      end if
      at = findloc(earth%vs > 0 .and. earth%vp > 0 .and. .not. q > 0, .true.)
      call Fail(error, "quality factor model '"//path//"': sample ("//Str(at(1))//', '//Str(modulo(at(2) - 1, earth%n(2)) + 1)// &
                ', '//Str((at(2) - 1)/earth%n(2) + 1)//') is 0 in rock (vs = '//Str(earth%vs(at(1), at(2)))// &
                ' m/s): give the Q of '//wave//' waves there, 1e9 for none')
    end subroutine ReadLoss

  end subroutine ReadQuality

  !> A volume in SI units, on the grid of the first one read.
  subroutine OneVolume(job, what, path, var, earth, a, error)
    type(job_t), intent(in) :: job
    character(*), intent(in) :: what, path, var
    type(model3d_t), intent(inout) :: earth
    real(sp), allocatable, intent(out) :: a(:, :)
    type(error_t), allocatable, intent(inout) :: error
    type(samples_t) :: s
    character(:), allocatable :: format
    real(dp) :: d(3), x0(3), factor
    integer(i8) :: bytes
    integer :: n(3)
    if (allocated(error)) return
    s%what = what
    s%file = path
    if (index(what, 'velocity') > 0) s%what = 'velocity'
    call FileSize(path, bytes, error)
    if (allocated(error)) return
    format = ModelFormat(job, path)
    if (format == 'netcdf') then
      call NetcdfRead3d(var, s, n, d, x0, a, error)
    else
      s%unit = job%vp_unit
      if (what == 'density') s%unit = job%rho_unit
      s%cure = 'set '//trim(merge('rho_unit', 'vp_unit ', what == 'density'))//'='
      n = [job%model_nx, job%model_ny, job%model_nz]
      d = [job%model_dx, job%model_dy, job%model_dz]
      x0 = [job%model_x0, job%model_y0, job%model_z0]
      call RawRead3d(job, format, s, a, error)
    end if
    if (allocated(error)) return
    factor = 1
    if (what /= 'quality factor') factor = UnitFactor(s%what, s%unit)
    if (what /= 'quality factor') call CheckUnit(s, factor, a, error)
    call CheckValues(what, path, n, factor, a, error)
    if (.not. allocated(error)) call CheckPlace(what, path, n, d, x0, earth, error)
    if (allocated(error)) return
    earth%n = n
    earth%d = d
    earth%x0 = x0
    if (earth%sources /= '') earth%sources = earth%sources//'; '
    earth%sources = earth%sources//what//': '//path
    call SamplesDoubt(s, earth%doubts)
  end subroutine OneVolume

  !> Refuses values that make sense in the other unit alone: velocities in km/s or m/s, densities in g/cm3 or kg/m3. 0 is air or a
  !> fluid.
  subroutine CheckUnit(s, factor, a, error)
    type(samples_t), intent(in) :: s
    real(dp), intent(in) :: factor
    real(sp), intent(in) :: a(:, :)
    type(error_t), allocatable, intent(inout) :: error
    if (.not. all(Finite(a))) return
    if (.not. any(a > 0)) return
    call SamplesUnit(s, factor, real(minval(a, a > 0), dp), real(maxval(a), dp), error)
  end subroutine CheckUnit

  !> Checks that all values are finite and possible, and converts them to SI units. 0 is air, a fluid, or no attenuation.
  subroutine CheckValues(what, path, n, factor, a, error)
    character(*), intent(in) :: what, path
    integer, intent(in) :: n(3)
    real(dp), intent(in) :: factor
    real(sp), intent(inout) :: a(:, :)
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: lo, hi
    integer :: i, k
    if (allocated(error)) return
    select case (what)
    case ('density')
      lo = 0.1_dp
      hi = 30000
    case ('quality factor')
      lo = 1
      hi = 1e30_dp
    case default
      lo = 20
      hi = 15000
    end select
    do k = 1, size(a, 2)
      do i = 1, size(a, 1)
        if (Finite(a(i, k))) then
          if (abs(a(i, k)) <= 0) cycle
          if (a(i, k)*factor >= lo .and. a(i, k)*factor <= hi*(1 + 1e-6_dp)) cycle
        end if
        call Fail(error, what//" model '"//path//"': sample ("//Str(i)//', '//Str(modulo(k - 1, n(2)) + 1)//', '// &
                  Str((k - 1)/n(2) + 1)//') is '//Str(a(i, k)*factor)//', must be 0 or '//Str(lo)//' .. '//Str(hi)//': check '// &
                  'unit and byte order')
        return
      end do
    end do
    if (factor /= 1) a = real(a*factor, sp)
  end subroutine CheckValues

  subroutine CheckPlace(what, path, n, d, x0, earth, error)
    character(*), intent(in) :: what, path
    integer, intent(in) :: n(3)
    real(dp), intent(in) :: d(3), x0(3)
    type(model3d_t), intent(in) :: earth
    type(error_t), allocatable, intent(inout) :: error
    if (any(n < 1) .or. any(.not. d > 0)) then
      call Fail(error, what//" model '"//path//"' has "//Str(n(1))//' x '//Str(n(2))//' x '//Str(n(3))//' samples of '// &
                Str(d(1))//' x '//Str(d(2))//' x '//Str(d(3))//' m: all must be above 0')
    else if (all(earth%n == 0)) then
      return
    else if (any(n /= earth%n) .or. any(abs(d - earth%d) > 1e-6_dp*earth%d) .or. any(abs(x0 - earth%x0) > 1e-3_dp*earth%d)) then
      call Fail(error, what//" model '"//path//"' has other samples or another place than the first volume, "//Str(earth%n(1))// &
                ' x '//Str(earth%n(2))//' x '//Str(earth%n(3))//' samples: give volumes on one grid')
    end if
  end subroutine CheckPlace

  !> Checks the volumes against each other: air has no density, rock resists compression.
  subroutine CheckMedium(earth, path, error)
    type(model3d_t), intent(inout) :: earth
    character(*), intent(in) :: path
    type(error_t), allocatable, intent(inout) :: error
    integer :: i, k
    do k = 1, size(earth%vp, 2)
      do i = 1, size(earth%vp, 1)
        if (.not. earth%vp(i, k) > 0) then
          earth%vs(i, k) = 0
          earth%rho(i, k) = 0
        else if (.not. earth%rho(i, k) > 0) then
          call Fail(error, At('has a velocity but no density: give it one, or vp = 0 for air'))
        else if (earth%vs(i, k)*bulk > earth%vp(i, k)*(1 + 1e-6_dp)) then
          call Fail(error, At('has vp = '//Str(earth%vp(i, k))//' and vs = '//Str(earth%vs(i, k))//' m/s; vs must be below '// &
                              '0.866 vp, or 0 in a fluid: correct the volumes'))
        end if
        if (allocated(error)) return
      end do
    end do
    if (.not. any(earth%vp > 0)) call Fail(error, "the model '"//path//"' is nothing but air")
  contains
    function At(fault) result(s)
      character(*), intent(in) :: fault
      character(:), allocatable :: s
      s = "the model of '"//path//"': sample ("//Str(i)//', '//Str(modulo(k - 1, earth%n(2)) + 1)//', '// &
          Str((k - 1)/earth%n(2) + 1)//') '//fault
    end function At
  end subroutine CheckMedium

  subroutine SummariseVolumes(earth)
    type(model3d_t), intent(inout) :: earth
    type(hash_t) :: hash
    integer(i8) :: n
    integer :: a, k
    call StartSummary(earth)
    do k = 1, size(earth%vp, 2)
      do a = 1, size(earth%vp, 1)
        if (.not. earth%vp(a, k) > 0) cycle
        call Widen(earth, real(earth%vp(a, k), dp), real(earth%vs(a, k), dp), real(earth%rho(a, k), dp))
        if (earth%attenuates) call WidenQ(earth, max(real(earth%qp(a, k), dp), real(earth%qs(a, k), dp)))
      end do
    end do
    n = size(earth%vp, kind=i8)
    do a = 1, 3
      call HashAdd(hash, earth%n(a))
      call HashAdd(hash, earth%d(a))
      call HashAdd(hash, earth%low(a))
    end do
    call AddSum(earth%vp)
    call AddSum(earth%vs)
    call AddSum(earth%rho)
    call ModelChecksumMake(earth%vp, earth%vs, earth%checksum(1))
    call ModelChecksumMake(earth%rho, earth%rho, earth%checksum(2))
    if (earth%attenuates) then
      call AddSum(earth%qp)
      call AddSum(earth%qs)
      call ModelChecksumMake(earth%qp, earth%qs, earth%checksum(3))
    end if
    earth%hash = HashText(hash)
  contains
    subroutine AddSum(values)
      real(sp), contiguous, intent(in) :: values(:, :)
      integer(i8) :: crc
      crc = fio_crc_floats(0_i8, n, values)
      call HashAdd(hash, int(ibits(crc, 0, 31)))
      call HashAdd(hash, int(ibits(crc, 31, 1)))
    end subroutine AddSum
  end subroutine SummariseVolumes

  subroutine SummariseLayers(earth)
    type(model3d_t), intent(inout) :: earth
    type(hash_t) :: hash
    integer :: l, p
    call StartSummary(earth)
    do l = 1, earth%layers%n
      associate (m => earth%layers%medium(:, l))
        call Widen(earth, m(1), m(2), m(3))
        if (earth%attenuates) call WidenQ(earth, maxval(m(4:5)))
        call HashAdd(hash, earth%layers%top(l))
        do p = 1, merge(5, 3, earth%attenuates)
          call HashAdd(hash, m(p))
        end do
      end associate
    end do
    earth%hash = HashText(hash)
  end subroutine SummariseLayers

  pure subroutine StartSummary(earth)
    type(model3d_t), intent(inout) :: earth
    earth%vmin = huge(1.0_dp)
    earth%vmax = 0
    earth%vsmin = 0
    earth%rhomin = huge(1.0_dp)
    earth%rhomax = 0
    earth%qmin = 0
  end subroutine StartSummary

  pure subroutine Widen(earth, vp, vs, rho)
    type(model3d_t), intent(inout) :: earth
    real(dp), intent(in) :: vp, vs, rho
    earth%vmax = max(earth%vmax, vp)
    earth%vmin = min(earth%vmin, merge(vs, vp, vs > 0))
    if (vs > 0) earth%vsmin = merge(min(earth%vsmin, vs), vs, earth%vsmin > 0)
    earth%rhomin = min(earth%rhomin, rho)
    earth%rhomax = max(earth%rhomax, rho)
  end subroutine Widen

  pure subroutine WidenQ(earth, inverse)
    type(model3d_t), intent(inout) :: earth
    real(dp), intent(in) :: inverse
    if (inverse > 0) earth%qmin = merge(min(earth%qmin, 1/inverse), 1/inverse, earth%qmin > 0)
  end subroutine WidenQ

end module model3d_m
