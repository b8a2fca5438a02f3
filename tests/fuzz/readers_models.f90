!> The readers of models, behind the door of readers.f90: raw numbers and NetCDF, sections and volumes.
module readers_models_m
  use acoustic2d_m, only: acoustic2d_t
  use elastic3d_m, only: elastic3d_t
  use error_m, only: error_t
  use iso_c_binding, only: c_int
  use job_m, only: JobFromText
  use kinds_m, only: dp, sp
  use model_m, only: model_t, ModelRead
  use model_window_m, only: ModelGrid, ModelShape, ModelWindow
  use model3d_m, only: model3d_t, Model3dRead
  use model3d_window_m, only: Model3dGrid, Model3dShape, Model3dWindow
  use parameters_m, only: job_t
  use readerparts_m, only: Contradiction, Put, Split, taken, Verdict
  use shot_m, only: shot_t
  use parameter_table_m, only: table_t
  use window_m, only: window_t
  implicit none
  private
  public :: Raw, Netcdf

  type(acoustic2d_t), target :: acoustic2d
  type(elastic3d_t), target :: elastic3d

contains

  !> Parameters, and behind the separator the samples of velocity, which serve for the other volumes named too.
  integer(c_int) function Raw(input, at, three_d) result(outcome)
    character(*), intent(in) :: input, at
    logical, intent(in) :: three_d
    character(:), allocatable :: params, samples
    character(:), allocatable, save :: before
    type(job_t), save :: same
    integer(c_int), save :: verdict_before
    type(table_t) :: t
    type(job_t) :: job
    type(error_t), allocatable :: error
    logical :: known
    call Split(input, params, samples)
    known = allocated(before)
    if (known) known = before == params .and. (same%axes(2) .eqv. three_d)
    if (.not. known) then                        ! most inputs differ in their samples alone
      if (three_d) call JobFromText(elastic3d, params, same, t, error)
      if (.not. three_d) call JobFromText(acoustic2d, params, same, t, error)
      verdict_before = Verdict(error)
      before = params
    end if
    outcome = verdict_before
    if (outcome /= taken) return
    job = same
    call Put(at//'m.bin', samples)
    if (job%model_format == 'netcdf' .or. job%model_format == 'auto') job%model_format = 'raw32'
    job%vp = at//'m.bin'
    if (job%rho /= '') job%rho = job%vp
    if (three_d) call OneFile(job)
    outcome = TakeModel(job)
  end function Raw

  !> A NetCDF model, its variables vp and rho.
  integer(c_int) function Netcdf(input, at, three_d) result(outcome)
    character(*), intent(in) :: input, at
    logical, intent(in) :: three_d
    type(table_t) :: t
    type(job_t), save :: plain(2)
    type(job_t) :: job
    type(error_t), allocatable :: error
    integer :: d
    d = merge(2, 1, three_d)
    if (.not. allocated(plain(d)%vp)) then
      if (three_d) call JobFromText(elastic3d, '', plain(d), t, error)
      if (.not. three_d) call JobFromText(acoustic2d, '', plain(d), t, error)
    end if
    job = plain(d)
    call Put(at//'m.nc', input)
    job%vp = at//'m.nc'
    if (index(input, 'density') > 0) job%rho = job%vp
    if (index(input, 'shear') > 0) job%vs = job%vp
    if (index(input, 'quality') > 0) job%qs = job%vp
    if (three_d) call OneFile(job)
    outcome = TakeModel(job)
  end function Netcdf

  !> Every volume named is in the file of the first.
  subroutine OneFile(job)
    type(job_t), intent(inout) :: job
    job%layers = ''
    if (job%rho /= '') job%rho = job%vp
    if (job%vs /= '') job%vs = job%vp
    if (job%qs /= '') job%qs = job%vp
    if (job%qp /= '') job%qp = job%vp
  end subroutine OneFile

  !> Reads the model of a job, and the window of a shot in its middle where that is small.
  integer(c_int) function TakeModel(job) result(outcome)
    type(job_t), intent(in) :: job
    type(model_t), save :: model               ! what it holds is given back by the next read
    type(shot_t) :: shot
    type(window_t) :: window
    type(error_t), allocatable :: error
    real(dp) :: dx, dz
    if (job%axes(2)) then
      outcome = TakeEarth(job)
      return
    end if
    call ModelRead(job, model, error)
    outcome = Verdict(error)
    if (outcome /= taken) return
    if (minval(model%vp) < 40 .or. maxval(model%vp) > 20000 .or. minval(model%rho) <= 0) outcome = Contradiction('no rock')
    call ModelGrid(job, model, dx, dz, error)
    if (allocated(error)) return
    shot%record = 1
    shot%sx = model%x0 + 0.5_dp*(model%nx - 1)*model%dx
    shot%sz = model%z0 + 0.5_dp*(model%nz - 1)*model%dz
    shot%rx = [shot%sx]
    shot%rz = [shot%sz]
    call ModelShape(model, job, shot, dx, dz, window, error)
    if (allocated(error)) return
    if (real(window%nx, dp)*window%nz > 1.0e4_dp) return
    call ModelWindow(model, job, shot, dx, dz, window, error)
    if (allocated(error)) return
    if (.not. RockInWindow()) outcome = Contradiction('no rock in the window')

  contains

    !> Velocities of rocks; or modulus and densities of the samples but for what means by weights of both signs overshoot: 18 % of
    !> compressibility upwards, 20 % down, 8 and 20 % of densities along each axis.
    logical function RockInWindow()
      real(sp), allocatable :: modulus(:, :)
      associate (first => window%medium(:, 1, :, 1))
        RockInWindow = minval(first) >= 40 .and. maxval(first) <= 20000
        if (size(window%medium, 4) == 2) return
        modulus = model%rho*model%vp**2
        RockInWindow = minval(first) >= minval(modulus)/1.19_sp .and. maxval(first) <= maxval(modulus)/0.79_sp .and. &
                       minval(window%medium(:, :, :, 2:)) >= 0.73_sp*minval(model%rho) .and. &
                       maxval(window%medium(:, :, :, 2:)) <= 1.36_sp*maxval(model%rho)
      end associate
    end function RockInWindow

  end function TakeModel

  !> The same of volumes or layers; the shot lies in the middle of volumes, at 0 m below the top of layers.
  integer(c_int) function TakeEarth(job) result(outcome)
    type(job_t), intent(in) :: job
    type(model3d_t) :: earth
    type(shot_t) :: shot
    type(window_t) :: window
    type(error_t), allocatable :: error
    real(dp) :: d(3), middle(3)
    call Model3dRead(job, earth, error)
    outcome = Verdict(error)
    if (outcome /= taken) return
    middle = [0.0_dp, 0.0_dp, earth%low(3)]
    if (earth%layers%n == 0) middle = 0.5_dp*(earth%low + earth%high)
    call Model3dGrid(job, earth, d, error)
    if (allocated(error)) return
    shot%record = 1
    shot%sx = middle(1)
    shot%sy = middle(2)
    shot%sz = middle(3)
    shot%rx = [middle(1)]
    shot%ry = [middle(2)]
    shot%rz = [middle(3)]
    shot%channel = [1]
    call Model3dShape(earth, job, shot, window, error)
    if (allocated(error)) return
    if (min(window%nx, window%ny, window%nz) < 1 .or. .not. minval(d) > 0) outcome = Contradiction('a window without cells')
    if (product(real([window%nx, window%ny, window%nz], dp)) > 1.0e4_dp) return
    call Model3dWindow(earth, job, shot, window, error)
    if (allocated(error)) return
    if (minval(window%medium(:, :, :, 1)) < 0 .or. maxval(window%medium(:, :, :, 1)) > 20000) &
      outcome = Contradiction('no rock in the window')
  end function TakeEarth

end module readers_models_m
