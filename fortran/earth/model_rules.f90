!> Rules on the parameters that tell where a model comes from: what a raw file needs, what has no meaning for a NetCDF one, files
!> that are no models.
module model_rules_m
  use error_m, only: error_t, FailFromC
  use files_m, only: FileSame
  use parameter_table_m, only: table_t
  use parameter_words_m, only: Shown
  use kinds_m, only: dp
  use parameters_m, only: job_t
  use path_c, only: path_input
  use text_m, only: CString, Lower, Str
  implicit none
  private
  public :: ModelRules, ModelFormat, NoShearDoubt

contains

  !> Adds to the table's problems what is wrong with the parameters of the model's files. `order`: model_order unless given.
  !> `files`: they are looked at too.
  subroutine ModelRules(job, order, files, t)
    type(job_t), intent(in) :: job
    character(*), intent(in) :: order
    logical, intent(in) :: files
    type(table_t), intent(inout) :: t
    if (job%vp /= '') then
      call CheckRawModel(job, files, t)
      call CheckModelChoice(job, order, t)
      call CheckRules(job, t)
    else if (job%layers /= '' .or. job%materials /= '') then
      call t%idle('model_nx,model_ny,model_nz,model_dx,model_dy,model_dz,model_x0,model_y0,model_z0,model_order,model_endian,'// &
                  'model_format,model_at,vp_var,vs_var,rho_var,qp_var,qs_var,vp_unit,rho_unit,regrid', &
                  'it is of volumes, of which there is no vp=FILE: leave it out')
    end if
    if (.not. files) return
    call CheckConverted('vp', job%vp, t)
    call CheckConverted('rho', job%rho, t)
    if (FileSame(job%keymap, job%vp)) call t%blame('keymap', 'is the velocity model too: a key-map is a text with a line a shot')
    if (FileSame(job%vp, job%rho) .and. (ModelFormat(job, job%vp) /= 'netcdf' .or. job%vp_var == job%rho_var)) &
      call t%blame('rho', 'is the velocity model too: give the density, or leave rho out and choose rho_rule')
  end subroutine ModelRules

  !> 'netcdf', 'raw32' or 'raw64': how the model file `path` is to be read.
  pure function ModelFormat(job, path) result(format)
    type(job_t), intent(in) :: job
    character(*), intent(in) :: path
    character(:), allocatable :: format
    format = job%model_format
    if (format /= 'auto') return
    format = 'raw32'
    if (EndsWith(path, '.nc')) format = 'netcdf'
  end function ModelFormat

  !> A raw model says nothing of its shape, so the job must.
  subroutine CheckRawModel(job, files, t)
    type(job_t), intent(in) :: job
    logical, intent(in) :: files
    type(table_t), intent(inout) :: t
    type(error_t), allocatable :: told
    character(:), allocatable :: path, raw
    path = ''
    if (job%rho /= '' .and. index(ModelFormat(job, job%rho), 'raw') == 1) path = job%rho
    if (index(ModelFormat(job, job%vp), 'raw') == 1) path = job%vp
    if (path == '' .or. .not. t%sound('model_format')) return
    if (files) call FailFromC(path_input(CString(path)), told)
    if (files .and. (allocated(told) .or. IsConverted(path) .and. .not. t%given('model_format'))) return    ! that is told alone
    raw = ' is raw: give '
    if (job%model_format == 'auto') raw = ' is raw, as its name does not end in .nc: give '
    if (job%model_nx == 0) call Need('model_nx', 'the samples along x')
    if (job%axes(2) .and. job%model_ny == 0) call Need('model_ny', 'the samples along y')
    if (job%axes(2) .and. job%model_dy <= 0) call Need('model_dy', 'the spacing along y [m]')
    if (job%model_nz == 0) call Need('model_nz', 'the samples along z')
    if (job%model_dx <= 0) call Need('model_dx', 'the spacing along x [m]')
    if (job%model_dz <= 0) call Need('model_dz', 'the spacing along z [m]')
  contains
    subroutine Need(name, what)
      character(*), intent(in) :: name, what
      if (t%sound(name)) call t%blame(name, 'must be above 0, because the model '//Shown(path)//raw//what)
    end subroutine Need
  end subroutine CheckRawModel

  !> Blames parameters of a raw model that have no meaning for a NetCDF one, where the user did not choose the format himself.
  subroutine CheckModelChoice(job, order, t)
    type(job_t), intent(in) :: job
    character(*), intent(in) :: order           !< of model_order unless given
    type(table_t), intent(inout) :: t
    if (t%given('model_format')) return
    if (ModelFormat(job, job%vp) /= 'netcdf') return
    if (job%rho /= '' .and. ModelFormat(job, job%rho) /= 'netcdf') return
    call Idle('model_nx', job%model_nx /= 0)
    call Idle('model_nz', job%model_nz /= 0)
    call Idle('model_dx', job%model_dx /= 0)
    call Idle('model_dz', job%model_dz /= 0)
    call Idle('model_x0', job%model_x0 /= 0)
    call Idle('model_z0', job%model_z0 /= 0)
    call Idle('model_ny', job%model_ny /= 0)
    call Idle('model_dy', job%model_dy /= 0)
    call Idle('model_y0', job%model_y0 /= 0)
    call Idle('model_order', job%model_order /= order)
    call Idle('model_endian', job%model_endian /= 'little')
    call Idle('vp_unit', job%vp_unit /= 'm/s')
    call Idle('rho_unit', job%rho_unit /= 'kg/m3')
  contains
    subroutine Idle(name, set)
      character(*), intent(in) :: name
      logical, intent(in) :: set
      if (set) call t%blame(name, 'has no effect: the model is NetCDF, which states this itself; leave it out')
    end subroutine Idle
  end subroutine CheckModelChoice

  !> Blames rules for what a file tells.
  subroutine CheckRules(job, t)
    type(job_t), intent(in) :: job
    type(table_t), intent(inout) :: t
    if (job%rho /= '') call t%idle('rho_rule,rho_value', 'rho tells the density: leave it out')
    if (job%vs /= '') call t%idle('vp_vs', 'vs tells that velocity: leave it out')
    if (job%qs /= '') call t%idle('qs_vs', 'qs tells Qs: leave it out')
    if (job%qp /= '') call t%idle('qp_qs', 'qp tells Qp: leave it out')
  end subroutine CheckRules

  !> A warning of volumes in which rock is a fluid, as nothing tells its S waves; '' if that does not matter.
  function NoShearDoubt(job, fastest) result(text)
    type(job_t), intent(in) :: job
    real(dp), intent(in) :: fastest             !< P wave [m/s]
    character(:), allocatable :: text
    real(dp), parameter :: water = 1700         !< no sea or mud is faster [m/s]
    text = ''
    if (job%vp == '' .or. job%vs /= '' .or. job%vp_vs > 0 .or. fastest <= water) return
    text = 'neither vs nor vp_vs is given: all that '//Shown(job%vp)//' tells of is a fluid without S waves, P waves of up to '// &
           Str(fastest, 5)//' m/s too; give vs=FILE or vp_vs where it is rock'
  end function NoShearDoubt

  !> SEG-Y and SU models are converted by a tool; taken for raw samples their headers would become rock.
  subroutine CheckConverted(name, path, t)
    character(*), intent(in) :: name, path
    type(table_t), intent(inout) :: t
    if (t%given('model_format')) return
    if (IsConverted(path)) &
      call t%blame(name, 'is SEG-Y or SU: convert it with tools/spl-model, or give model_format if it is something else')
  end subroutine CheckConverted

  pure logical function IsConverted(path)
    character(*), intent(in) :: path
    IsConverted = EndsWith(path, '.sgy') .or. EndsWith(path, '.segy') .or. EndsWith(path, '.su')
  end function IsConverted

  pure logical function EndsWith(path, ending)
    character(*), intent(in) :: path, ending
    EndsWith = .false.
    if (len(path) >= len(ending)) EndsWith = Lower(path(len(path) - len(ending) + 1:)) == ending
  end function EndsWith

end module model_rules_m
