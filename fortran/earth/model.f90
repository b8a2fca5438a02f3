!> The earth in 2D: velocity and density as the user gave them, read and checked; model_window.f90 cuts out what a shot sees of it.
module model_m
  use earth_m, only: earth_t
  use error_m, only: error_t, Fail
  use files_m, only: FileSize
  use text_crc32_m, only: Crc32, Hex
  use fio_c, only: fio_crc_floats
  use kinds_m, only: dp, i8, sp
  use model_checksum_m, only: model_checksum_t, ModelChecksumMake
  use model_netcdf_m, only: NetcdfRead
  use model_raw_m, only: RawRead
  use model_rules_m, only: ModelFormat
  use model_samples_m, only: samples_t, SamplesAllocate, SamplesCheck, SamplesDoubt, SamplesName
  use parameters_m, only: job_t
  use reading_told_m, only: reading_told_t, ReadingBegin, ReadingTell
  use regrid_axis_m, only: axis_t, RegridAxis
  use regrid_m, only: Regrid
  use text_m, only: Lower, Str
  implicit none
  private
  public :: model_t, recent_t, ModelRead, ModelForget

  real(dp), parameter, public :: same_step = 1.0e-9_dp   !< relative: spacings closer than this are equal
  character(*), parameter :: SUMS = 'ranges and checksums of velocity and density are found'
  real(dp), parameter, public :: on_node = 1.0e-6_dp     !< of a spacing: closer than this is on the node

  !> The medium that was made last by regrid=cell. Shots that follow each other see much of the same.
  type :: recent_t
    integer :: first = 1, last = 0            !< columns of the lattice that begins with the model, from 0
    integer :: rows(2) = 0
    real(dp) :: d(2) = 0                      !< spacings [m]
    real(sp), allocatable :: medium(:, :, :)  !< (columns, rows, parts)
    integer(i8) :: checksum = 0
  end type recent_t

  !> Sample (1, 1) is at (x0, z0); x runs fastest; z points down.
  type, extends(earth_t) :: model_t
    integer :: nx = 0, nz = 0
    real(dp) :: dx = 0, dz = 0, x0 = 0, z0 = 0    !< [m]
    real(sp), allocatable :: vp(:, :)         !< [m/s], (nx, nz)
    real(sp), allocatable :: rho(:, :)        !< [kg/m3], (nx, nz)
    type(model_checksum_t) :: checksum        !< checksums of vp and rho as they were read
    type(recent_t), pointer :: recent => null()   !< null: each window is made from the beginning
  end type model_t

contains

  !> Reads velocity and density as the job says. Density on another grid than velocity's (NetCDF) is brought onto velocity's, which
  !> it must cover. Every problem of the files is one sentence.
  subroutine ModelRead(job, model, error)
    type(job_t), intent(in) :: job
    type(model_t), intent(inout) :: model
    type(error_t), allocatable, intent(inout) :: error
    type(samples_t) :: vp, rho
    call ModelForget(model)
    if (job%vp == '') call Fail(error, 'vp is not set: name the file of the velocity model, vp=FILE')
    call ReadSamples(job, 'velocity', job%vp, vp, error)
    if (allocated(error)) return
    model%nx = vp%nx
    model%nz = vp%nz
    model%dx = vp%dx
    model%dz = vp%dz
    model%x0 = vp%x0
    model%z0 = vp%z0
    call move_alloc(vp%a, model%vp)
    model%sources = 'vp: '//SamplesName(vp)
    call SamplesDoubt(vp, model%doubts)
    if (job%rho /= '') then
      call ReadSamples(job, 'density', job%rho, rho, error)
      call SamplesDoubt(rho, model%doubts)
      call FitDensity(job, rho, model, error)
      if (.not. allocated(error)) model%sources = model%sources//'; rho: '//SamplesName(rho)
    else
      call RuleDensity(job, model, error)
    end if
    if (allocated(error)) return
    call Summarise(model)
    allocate (model%recent)
  end subroutine ModelRead

  !> Gives back all that a model holds. One whose `recent` is another's too must not be forgotten.
  subroutine ModelForget(model)
    type(model_t), intent(inout) :: model
    if (associated(model%recent)) deallocate (model%recent)
    model = model_t()
  end subroutine ModelForget

  subroutine ReadSamples(job, what, path, s, error)
    type(job_t), intent(in) :: job
    character(*), intent(in) :: what, path
    type(samples_t), intent(inout) :: s
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: format
    integer(i8) :: bytes
    if (allocated(error)) return
    s%what = what
    s%file = path
    call ReadingBegin(s%told)
    call FileSize(path, bytes, error)
    call CheckSuffix(path, error)
    format = ModelFormat(job, path)
    if (allocated(error)) then
      error%message = what//' model: '//error%message
    else if (format == 'netcdf') then
      if (what == 'velocity') then
        call NetcdfRead(job%vp_var, s, error)
      else
        call NetcdfRead(job%rho_var, s, error)
      end if
    else
      s%unit = job%rho_unit
      if (what == 'velocity') s%unit = job%vp_unit
      s%cure = 'set '//trim(merge('vp_unit ', 'rho_unit', what == 'velocity'))//'='
      call RawRead(job, format, s, error)
    end if
    call SamplesCheck(s, error)
  end subroutine ReadSamples

  pure function Suffix(path) result(word)
    character(*), intent(in) :: path
    character(:), allocatable :: word
    integer :: dot
    dot = index(path, '.', back=.true.)
    word = Lower(path(dot + 1:))
    if (dot == 0) word = ''
  end function Suffix

  subroutine CheckSuffix(path, error)
    character(*), intent(in) :: path
    type(error_t), allocatable, intent(inout) :: error
    select case (Suffix(path))
    case ('segy', 'sgy', 'su', 'rsf')
      call Fail(error, "'"//path//"' is no model file as it is: convert it with spl-model to NetCDF")
    end select
  end subroutine CheckSuffix

  !> Density from a file: as it is if it lies on velocity's grid, else brought there.
  subroutine FitDensity(job, rho, model, error)
    type(job_t), intent(in) :: job
    type(samples_t), intent(inout) :: rho
    type(model_t), intent(inout) :: model
    type(error_t), allocatable, intent(inout) :: error
    type(axis_t) :: x, z
    real(dp) :: left, right, top, bottom
    character(:), allocatable :: rule
    if (allocated(error)) return
    if (rho%nx == model%nx .and. rho%nz == model%nz .and. abs(rho%dx - model%dx) <= same_step*model%dx .and. &
      abs(rho%dz - model%dz) <= same_step*model%dz .and. abs(rho%x0 - model%x0) <= on_node*model%dx .and. &
      abs(rho%z0 - model%z0) <= on_node*model%dz) then
      call move_alloc(rho%a, model%rho)
      return
    end if
    left = model%x0 - rho%x0
    right = rho%x0 + (rho%nx - 1)*rho%dx - (model%x0 + (model%nx - 1)*model%dx)
    top = model%z0 - rho%z0
    bottom = rho%z0 + (rho%nz - 1)*rho%dz - (model%z0 + (model%nz - 1)*model%dz)
    if (min(left, right) < -on_node*model%dx .or. min(top, bottom) < -on_node*model%dz) then
      call Fail(error, "density model '"//rho%file//"' covers "//Extent(rho%x0, rho%z0, rho%nx, rho%nz, rho%dx, rho%dz)// &
        ', the velocity model '//Extent(model%x0, model%z0, model%nx, model%nz, model%dx, model%dz)// &
        ': density must cover all of it')
      return
    end if
    rule = job%regrid
    if (rule == 'cell') rule = 'average'
    call RegridAxis(rho%nx, rho%dx, 0, model%nx, model%dx, left, rule, x)
    call RegridAxis(rho%nz, rho%dz, 0, model%nz, model%dz, top, rule, z)
    allocate (model%rho(model%nx, model%nz))
    call Regrid(rho%a, x, z, .false., model%rho)
  end subroutine FitDensity

  pure function Extent(x0, z0, nx, nz, dx, dz) result(text)
    real(dp), intent(in) :: x0, z0, dx, dz
    integer, intent(in) :: nx, nz
    character(:), allocatable :: text
    text = 'x = '//Str(x0, 9)//' .. '//Str(x0 + (nx - 1)*dx, 9)//' m, z = '//Str(z0, 9)//' .. '//Str(z0 + (nz - 1)*dz, 9)//' m'
  end function Extent

  !> Density without a file: one value, or 310*vp**0.25 (Gardner et al. 1974, in SI units) where it is faster than 1600 m/s.
  subroutine RuleDensity(job, model, error)
    type(job_t), intent(in) :: job
    type(model_t), intent(inout) :: model
    type(error_t), allocatable, intent(inout) :: error
    type(samples_t) :: rho
    integer :: k
    call ReadingBegin(rho%told)
    rho%what = 'density'
    rho%file = job%rho_rule
    rho%nx = model%nx
    rho%nz = model%nz
    call SamplesAllocate(rho, error)
    if (allocated(error)) return
    do k = 1, rho%nz
      rho%a(:, k) = real(job%rho_value, sp)
      if (job%rho_rule == 'gardner') then
        where (model%vp(:, k) > 1600) rho%a(:, k) = 310*model%vp(:, k)**0.25_sp
      end if
      call ReadingTell(rho%told, 'density is made', k, rho%nz)
    end do
    model%sources = model%sources//'; rho: '//Str(job%rho_value)//' kg/m3'
    if (job%rho_rule == 'gardner') model%sources = model%sources//', 310*vp**0.25 kg/m3 where vp > 1600 m/s'
    call move_alloc(rho%a, model%rho)
  end subroutine RuleDensity

  !> Ranges, and a hash that changes with any value or the geometry.
  subroutine Summarise(model)
    type(model_t), intent(inout) :: model
    type(reading_told_t) :: told
    character(:), allocatable :: geometry
    integer(i8) :: crc
    integer :: k
    geometry = Str(model%nx)//' '//Str(model%nz)//' '//Str(model%dx, 17)//' '//Str(model%dz, 17)//' '//Str(model%x0, 17)//' '// &
      Str(model%z0, 17)
    call ReadingBegin(told)
    model%vmin = huge(1.0_dp)
    model%rhomin = huge(1.0_dp)
    model%vmax = 0
    model%rhomax = 0
    do k = 1, model%nz
      model%vmin = min(model%vmin, real(minval(model%vp(:, k)), dp))
      model%vmax = max(model%vmax, real(maxval(model%vp(:, k)), dp))
      model%rhomin = min(model%rhomin, real(minval(model%rho(:, k)), dp))
      model%rhomax = max(model%rhomax, real(maxval(model%rho(:, k)), dp))
    end do
    call ReadingTell(told, SUMS)
    crc = fio_crc_floats(Crc32(geometry), int(model%nx, i8)*model%nz, model%vp)
    model%hash(1:8) = Hex(crc)
    call ReadingTell(told, SUMS)
    crc = fio_crc_floats(Crc32(geometry), int(model%nx, i8)*model%nz, model%rho)
    model%hash(9:16) = Hex(crc)
    call ReadingTell(told, SUMS)
    call ModelChecksumMake(model%vp, model%rho, model%checksum)
  end subroutine Summarise

end module model_m
