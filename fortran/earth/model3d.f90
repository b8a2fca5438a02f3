!> The earth of a 3D job: volumes or flat layers, read and checked; model3d_window.f90 cuts out what a shot sees of it.
!>
!> Volumes are cells: a sample is what its cell consists of, the model reaches half a spacing beyond the outermost samples, or, with
!> model_at=nodes, just to them. The grid's cells begin at the model's low sides; of layers at x = y = 0.
!>
!> Volumes that do not fit into memory stay on disk: they are read and checked slab by slab once, and then a part at a time where a
!> window is made of it, which must have the checksums that it had.
module model3d_m
  use checked_m, only: CountOf, Finite, Whole
  use earth_m, only: earth_t
  use error_m, only: error_t, Fail
  use files_m, only: FileSize
  use flat_layers_m, only: flat_layers_t, FlatLayersRead
  use heeded_quality_m, only: QpHeeded, QsHeeded
  use host_c, only: host_memory
  use kinds_m, only: dp, i8, sp
  use model3d_netcdf_m, only: NetcdfRead3d
  use model_checksum_m, only: model_checksum_t
  use model_raw_m, only: RawRead3d
  use model_rules_m, only: ModelFormat
  use model_samples_m, only: part_t, samples_t, SamplesDoubt, SamplesUnit, UnitFactor
  use parameters_m, only: job_t
  use text_m, only: CString, Str
  implicit none
  private
  public :: model3d_t, Model3dRead, Model3dPart, Model3dSlab, Model3dDown

  type, extends(earth_t) :: model3d_t
    integer :: n(3) = 0                       !< samples of volumes
    real(dp) :: d(3) = 0                      !< their spacings [m]
    real(dp) :: x0(3) = 0                     !< the first of them [m]
    logical :: attenuates = .false.
    type(flat_layers_t) :: layers                  !< stand for the earth instead of volumes where n > 0
    integer :: below = 0                      !< of them, or of planes of samples, that no cell of the grid knows, which ends above,
    logical :: deeper = .false.               !< and that would change what is summed up; they are not
    real(sp), allocatable :: vp(:, :), vs(:, :), rho(:, :), qp(:, :), qs(:, :)   !< (nx, ny*nz); q: 1/Q, if it attenuates
    type(part_t) :: part                      !< the samples that these are
    logical :: on_disk = .false.              !< there are none: parts are read as they are needed
    integer :: slow = 3                       !< the slowest axis in the files
    real(dp) :: vsmin = 0, vsmax = 0          !< of rock, 0 if there is none [m/s]
    real(dp) :: vpmin = 0, fluidmin = 0       !< slowest P waves, of all and of fluids, a large number where there is none [m/s]
    real(dp) :: stiffest = 0                  !< largest vs/vp
    real(dp) :: qmin = 0                      !< smallest quality factor, 0 without attenuation
    real(dp) :: gaining(4) = 0                !< vp, vs, 1/Qp, 1/Qs of the rock that gains most as it is compressed evenly, or 0
    type(model_checksum_t) :: checksum(3)     !< of vp and vs, rho and rho, qp and qs
    integer, allocatable :: ground(:, :)      !< the uppermost sample that is not air, 0 = none, (nx, ny)
    real(sp), allocatable :: ground_vs(:, :)  !< S velocity there
    integer, allocatable :: seabed(:, :)      !< the uppermost sample of rock below a fluid that is the ground, 0 = none
    real(sp), allocatable :: thin(:, :, :, :) !< of a model on disk each thin_step-th sample along x, y, z: vp and vs
    integer :: thin_step = 1
  end type model3d_t

  real(dp), parameter :: at_once = 1.6e7_dp       !< samples of a slab of a model on disk
  real(dp), parameter :: held = 0.75_dp           !< of the memory that is available: larger models stay on disk
  real(dp), parameter :: bulk = sqrt(4/3.0_dp)    !< vp/vs above which a rock resists compression

  interface
    ! --- model3d_summary.f90

    !> Sums up volumes in memory, as far down as the cells of the grid know of them.
    module subroutine SummariseVolumes(job, earth)
      type(job_t), intent(in) :: job
      type(model3d_t), intent(inout) :: earth
    end subroutine SummariseVolumes

    !> Begins what is `told` of volumes; `first`: the first slab of them, or all.
    module subroutine BeginSummary(job, first, told)
      type(job_t), intent(in) :: job
      type(model3d_t), intent(in) :: first
      type(model3d_t), intent(inout) :: told
    end subroutine BeginSummary

    !> Adds a slab, the next layers of all samples along x and y. crc: of the volumes so far.
    module subroutine Summarise(slab, told, crc)
      type(model3d_t), intent(in) :: slab
      type(model3d_t), intent(inout) :: told
      integer(i8), intent(inout) :: crc(5)
    end subroutine Summarise

    !> Makes the fingerprint of all that was added.
    module subroutine EndSummary(told, crc)
      type(model3d_t), intent(inout) :: told
      integer(i8), intent(in) :: crc(5)
    end subroutine EndSummary

    !> Sums up flat layers, as far down as the cells of the grid know of them.
    module subroutine SummariseLayers(job, earth)
      type(job_t), intent(in) :: job
      type(model3d_t), intent(inout) :: earth
    end subroutine SummariseLayers
  end interface

contains

  ! --- reading --------------------------------------------------------------------------------------------------------

  !> Reads the model that the job names, layers or volumes, or looks through one that has no room in memory and stays on disk. Fails
  !> where it cannot be read or used, and where all of it is air.
  subroutine Model3dRead(job, earth, error)
    type(job_t), intent(in) :: job
    type(model3d_t), intent(inout) :: earth
    type(error_t), allocatable, intent(inout) :: error
    earth = model3d_t()
    earth%doubts = ''
    if (job%layers /= '') then
      call FlatLayersRead(job%layers, earth%layers, error)
      if (earth%layers%attenuates .and. job%qs_vs > 0) &
        call Fail(error, 'qs_vs = '//Str(job%qs_vs)//' s/m has no effect: the table of layers '//job%layers// &
                  ' tells Q: leave it out')
      if (allocated(error)) return
      if (job%qs_vs > 0) call LayersByRule(job, earth%layers)
      earth%attenuates = earth%layers%attenuates .and. job%attenuation
      earth%low = [-huge(1.0_dp), -huge(1.0_dp), earth%layers%top(1)]
      earth%high = huge(1.0_dp)
      earth%sources = 'layers: '//job%layers
      call SummariseLayers(job, earth)
    else
      earth%on_disk = TooLarge(job)
      if (earth%on_disk) then
        call ScanVolumes(job, earth, error)
      else
        call ReadVolumes(job, earth, part_t(), error)
        if (.not. allocated(error)) call SummariseVolumes(job, earth)
      end if
      if (allocated(error)) return
      if (.not. any(earth%ground > 0)) call Fail(error, "the model '"//job%vp//"' is nothing but air: give vp above 0 somewhere")
      if (.not. (earth%vmax > 0 .or. allocated(error))) &
        call Fail(error, "the model '"//job%vp//"' is nothing but air down to depth = "//Str(job%depth)//' m: raise depth')
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

  !> Reads a part of the volumes, and checks it.
  subroutine ReadVolumes(job, earth, part, error)
    type(job_t), intent(in) :: job
    type(model3d_t), intent(inout) :: earth
    type(part_t), intent(in) :: part
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: half
    if (job%vp == '') call Fail(error, 'the earth is not given: set vp=FILE (and vs, rho), or layers=FILE')
    earth%sources = ''
    call OneVolume(job, 'P velocity', job%vp, job%vp_var, part, earth, earth%vp, error)
    if (job%vs /= '') then
      call OneVolume(job, 'S velocity', job%vs, job%vs_var, part, earth, earth%vs, error)
    else if (.not. allocated(error)) then
      allocate (earth%vs(size(earth%vp, 1), size(earth%vp, 2)), source=0.0_sp)
      if (job%vp_vs > 0) earth%vs = real(earth%vp/job%vp_vs, sp)
    end if
    if (job%rho /= '') then
      call OneVolume(job, 'density', job%rho, job%rho_var, part, earth, earth%rho, error)
    else if (.not. allocated(error)) then
      allocate (earth%rho(size(earth%vp, 1), size(earth%vp, 2)), source=real(job%rho_value, sp))
      if (job%rho_rule == 'gardner') then
        where (earth%vp > 1600) earth%rho = 310*earth%vp**0.25_sp
      end if
    end if
    if (.not. allocated(error)) call ReadQuality(job, part, earth, error)
    if (.not. allocated(error)) call CheckMedium(earth, job%vp, error)
    if (allocated(error)) return
    half = merge(0.5_dp, 0.0_dp, job%model_at == 'centres')
    earth%low = earth%x0 - half*earth%d
    earth%high = earth%x0 + (earth%n - 1 + half)*earth%d
  end subroutine ReadVolumes

  !> 1/Q from files, or by rule from vs.
  subroutine ReadQuality(job, part, earth, error)
    type(job_t), intent(in) :: job
    type(part_t), intent(in) :: part
    type(model3d_t), intent(inout) :: earth
    type(error_t), allocatable, intent(inout) :: error
    earth%attenuates = Attenuates(job)
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

    !> 1/Q from a file of Q. There 0 stands for no attenuation in fluids; in rock it is a hole.
    subroutine ReadLoss(wave, path, var, q)
      character(*), intent(in) :: wave, path, var
      real(sp), allocatable, intent(inout) :: q(:, :)
      integer :: at(2)
      if (allocated(error)) return
      call OneVolume(job, 'quality factor', path, var, part, earth, q, error, wave)
      if (allocated(error)) return
      if (.not. any(earth%vs > 0 .and. earth%vp > 0 .and. .not. q > 0)) then
        where (q > 0) q = 1/q
        return
      end if
      at = findloc(earth%vs > 0 .and. earth%vp > 0 .and. .not. q > 0, .true.)
      call Fail(error, "quality factor model '"//path//"': sample "//SampleAt(earth%part, at(1), at(2))// &
                ' is 0 in rock (vs = '//Str(earth%vs(at(1), at(2)))// &
                ' m/s): give the Q of '//wave//' waves there, 1e9 for none')
    end subroutine ReadLoss

  end subroutine ReadQuality

  !> A part of a volume in SI units, on the grid of the first one read. wave: P or S, of a quality factor.
  subroutine OneVolume(job, what, path, var, part, earth, a, error, wave)
    type(job_t), intent(in) :: job
    character(*), intent(in) :: what, path, var
    type(part_t), intent(in) :: part
    type(model3d_t), intent(inout) :: earth
    real(sp), allocatable, intent(out) :: a(:, :)
    type(error_t), allocatable, intent(inout) :: error
    character(*), intent(in), optional :: wave
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
      call NetcdfRead3d(var, s, part, n, d, x0, a, error)
    else
      s%unit = job%vp_unit
      if (what == 'density') s%unit = job%rho_unit
      s%cure = 'set '//trim(merge('rho_unit', 'vp_unit ', what == 'density'))//'='
      n = [job%model_nx, job%model_ny, job%model_nz]
      d = [job%model_dx, job%model_dy, job%model_dz]
      x0 = [job%model_x0, job%model_y0, job%model_z0]
      call RawRead3d(job, format, s, part, a, error)
    end if
    if (allocated(error)) return
    factor = 1
    if (what /= 'quality factor') factor = UnitFactor(s%what, s%unit)
    if (what /= 'quality factor') call CheckUnit(s, factor, a, error)
    earth%part = part_t(max(1, part%low), min(n, part%high))
    call CheckPlace(what, path, n, d, x0, earth, error)
    if (present(wave) .and. .not. allocated(error)) call ClearUnheeded(wave, earth, a)
    call CheckValues(what, path, earth%part, factor, a, error)
    if (allocated(error)) return
    earth%n = n
    earth%d = d
    earth%x0 = x0
    if (s%slow /= 3) earth%slow = s%slow
    if (earth%sources /= '') earth%sources = earth%sources//'; '
    earth%sources = earth%sources//what//': '//path
    if (allocated(s%read_as)) earth%sources = earth%sources//s%read_as
    call SamplesDoubt(s, earth%doubts)
  end subroutine OneVolume

  !> Sets quality factors to 0 where they say nothing.
  subroutine ClearUnheeded(wave, earth, q)
    character(*), intent(in) :: wave
    type(model3d_t), intent(in) :: earth
    real(sp), intent(inout) :: q(:, :)
    integer :: i, k
    do k = 1, size(q, 2)
      do i = 1, size(q, 1)
        if (wave == 'S') then
          if (.not. QsHeeded(real(earth%vp(i, k), dp), real(earth%vs(i, k), dp))) q(i, k) = 0
        else
          if (.not. QpHeeded(real(earth%vp(i, k), dp))) q(i, k) = 0
        end if
      end do
    end do
  end subroutine ClearUnheeded

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
  subroutine CheckValues(what, path, part, factor, a, error)
    character(*), intent(in) :: what, path
    type(part_t), intent(in) :: part
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
        call Fail(error, what//" model '"//path//"': sample "//SampleAt(part, i, k)//' is '//Value()// &
                  ', must be 0 or '//Str(lo)//' .. '//Str(hi)//': check unit and byte order')
        return
      end do
    end do
    if (factor /= 1) a = real(a*factor, sp)

  contains

    function Value() result(text)
      character(:), allocatable :: text
      text = Str(a(i, k)*factor)
      if (what == 'quality factor' .and. .not. Finite(a(i, k))) text = 'missing or no number'
    end function Value

  end subroutine CheckValues

  !> '(1, 2, 3)', the sample i of row k of a part.
  pure function SampleAt(part, i, k) result(text)
    type(part_t), intent(in) :: part
    integer, intent(in) :: i, k
    character(:), allocatable :: text
    integer :: rows
    rows = part%high(2) - part%low(2) + 1
    text = '('//Str(i + part%low(1) - 1)//', '//Str(modulo(k - 1, rows) + part%low(2))//', '//Str((k - 1)/rows + part%low(3))//')'
  end function SampleAt

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
  contains
    function At(problem) result(s)
      character(*), intent(in) :: problem
      character(:), allocatable :: s
      s = "the model of '"//path//"': sample "//SampleAt(earth%part, i, k)//' '//problem
    end function At
  end subroutine CheckMedium

  ! --- models on disk ---------------------------------------------------------------------------------------------------

  !> The volumes of a job take more memory than there is.
  logical function TooLarge(job)
    type(job_t), intent(in) :: job
    type(error_t), allocatable :: ignored              ! who reads them tells it
    type(model3d_t) :: corner
    integer(i8) :: total, available
    call host_memory(CString(''), total, available)
    corner%sources = ''
    call OneVolume(job, 'P velocity', job%vp, job%vp_var, part_t([1, 1, 1], [1, 1, 1]), corner, corner%vp, ignored)
    TooLarge = total > 0 .and. 4*merge(5, 3, Attenuates(job))*product(real(corner%n, dp)) > held*available
  end function TooLarge

  pure logical function Attenuates(job)
    type(job_t), intent(in) :: job
    Attenuates = job%attenuation .and. (job%qs /= '' .or. job%qp /= '' .or. job%qs_vs > 0)
  end function Attenuates

  !> Reads volumes on disk slab by slab: `earth` gets what is told of them, and no samples.
  subroutine ScanVolumes(job, earth, error)
    type(job_t), intent(in) :: job
    type(model3d_t), intent(inout) :: earth
    type(error_t), allocatable, intent(inout) :: error
    type(model3d_t) :: slab
    integer(i8) :: crc(5)
    integer :: k, last
    crc = 0
    k = 0
    last = 1
    do
      slab = model3d_t()
      slab%doubts = ''
      call ReadVolumes(job, slab, part_t([1, 1, k + 1], [huge(1), huge(1), last]), error)
      if (.not. allocated(error) .and. slab%slow /= 3) &
        call Fail(error, "the model '"//job%vp//"' is larger than the memory of rank 0, and can be read in parts only where "// &
                  'its slowest index is z: bring all volumes into the order xyz, or start rank 0 on a larger machine')
      if (.not. allocated(error) .and. CountOf(slab%n(2:)) > huge(1)) &
        call Fail(error, "the model '"//job%vp//"' has more than "//Str(huge(1))//' samples along y and z together')
      if (allocated(error)) return
      if (k == 0) call BeginSummary(job, slab, earth)
      call Summarise(slab, earth, crc)
      k = last
      if (k == earth%n(3)) exit
      last = min(earth%n(3), k + Model3dSlab(earth, earth%n(2)))
    end do
    call EndSummary(earth, crc)
  end subroutine ScanVolumes

  !> A part of a model on disk. Fails where it cannot be read any more.
  subroutine Model3dPart(job, earth, part, slab, error)
    type(job_t), intent(in) :: job
    type(model3d_t), intent(in) :: earth
    type(part_t), intent(in) :: part
    type(model3d_t), intent(out) :: slab
    type(error_t), allocatable, intent(inout) :: error
    slab%doubts = ''
    call ReadVolumes(job, slab, part, error)
    if (allocated(error)) return
    if (any(slab%n /= earth%n)) call Fail(error, "the model '"//job%vp//"' is not what it was when the job began")
  end subroutine Model3dPart

  !> The depth below the top of volumes at which sample k along z begins [m]: they begin with sample 1, or in its middle.
  elemental real(dp) function Model3dDown(earth, k) result(down)
    type(model3d_t), intent(in) :: earth
    integer, intent(in) :: k
    down = (k - 1)*earth%d(3) - (earth%low(3) - (earth%x0(3) - earth%d(3)/2))
  end function Model3dDown

  !> Layers of samples of a model on disk that are read at once, of so many rows each.
  pure integer function Model3dSlab(earth, rows) result(layers)
    type(model3d_t), intent(in) :: earth
    integer, intent(in) :: rows
    layers = Whole(at_once/(real(earth%n(1), dp)*rows), 1, earth%n(3))
  end function Model3dSlab

end module model3d_m
