!> The parameters of 2D acoustic modelling, and the rules that only it has.
module acoustic2d_parameters_m
  use kinds_m, only: dp
  use model_rules_m, only: ModelRules
  use parameter_table_m, only: table_t
  use parameters_m, only: ClusterTable, DispersionTable, FilesTable, GridTable, job_t, RawTable, SnapshotTable, TimeTable, &
                          VariantTable, WaveletTable, WeightsTable
  use problems_m, only: ProblemAdd
  implicit none
  private
  public :: Acoustic2dTable, Acoustic2dRules, acoustic2d_components

  character(*), parameter :: acoustic2d_components = 'p,vx,vz'

contains

  subroutine Acoustic2dTable(t, job)
    type(table_t), intent(inout) :: t
    type(job_t), intent(inout) :: job
    job%axes = [.true., .false., .true.]
    ! @format(off)
    call FilesTable(t, job)
    call ModelTable(t, job)
    call GridTable(t, job, 'model window: this far beyond the outermost of source and receivers; -1 = whole model for each shot')
    call TimeTable(t, job)
    call t%section('Source and receivers')
    call WaveletTable(t, job, 'ricker,ormsby,ormsby-rounded,file', 'volume injection rate Q(t)', 'm2/s', 'the wavelet is multiplied by this')
    call t%text('components', job%components, 'p', 'recorded: any of p, vx, vz, joined by commas')
    call t%word('positions', job%positions, 'exact', 'exact,nearest', 'off-grid positions: honoured by a Kaiser-windowed sinc, or moved to the nearest node')
    call WeightsTable(t, job, 8, 8, 'holberg', 'pml')
    call VariantTable(t, job)
    call t%word('shape', job%shape, 'auto', 'auto,strips-256,strips-512,tiles-32,tiles-64,stay-16,stay-32', 'blocks of variant=tuned: strips of so many columns that march down (components=p only), tiles of so many rows, or such tiles that stay on the processors for many steps (components=p, small grids); others are taken where these do not fit; decides speed, not numbers; auto = the fastest, timed once where a shot has its GPU for itself')
    call t%word('steps_a_pass', job%steps_a_pass, 'auto', 'auto,1,2,3,4', 'time steps of variant=tuned in one pass through memory, more than one at half_length up to 4 and components=p only; decides speed, not numbers; auto = the fastest, timed once where a shot has its GPU for itself')
    call DispersionTable(t, job)
    call SnapshotTable(t, job, 'pressure of the whole window every so often, with the time dispersion of dt; 0 = none', 'every so many cells in x and z')
    call ClusterTable(t, job, 'ranks that share one shot (2D: 1)')
    ! @format(on)
  end subroutine Acoustic2dTable

  !> The earth of a 2D job.
  subroutine ModelTable(t, job)
    type(table_t), intent(inout) :: t
    type(job_t), intent(inout) :: job
    ! @format(off)
    call t%section('Model')
    call t%file('vp', job%vp, '', 'P velocity: NetCDF or raw file')
    call t%file('rho', job%rho, '', 'density: NetCDF or raw file; empty = by rho_rule')
    call t%word('rho_rule', job%rho_rule, 'constant', 'constant,gardner', 'density without a file: rho_value everywhere, or Gardner 310*vp**0.25 where vp > 1600 m/s and rho_value elsewhere')
    call t%real('rho_value', job%rho_value, 1000.0_dp, 1.0_dp, 30000.0_dp, 'kg/m3', 'density used by rho_rule')
    call t%word('model_format', job%model_format, 'auto', 'auto,netcdf,raw32,raw64', 'auto = netcdf for .nc, raw32 otherwise')
    call t%text('vp_var', job%vp_var, 'vp', 'name of the velocity variable in a NetCDF model')
    call t%text('rho_var', job%rho_var, 'rho', 'name of the density variable in a NetCDF model')
    call RawTable(t, job, 'a raw model', 'a raw velocity', 'zfast,xfast', 'which index of a raw model runs fastest in the file')
    call t%word('regrid', job%regrid, 'cell', 'cell,average,effective,nearest', 'model to grid: cell (mean compressibility of the cell, density of each velocity in its own cell: contacts anywhere), average (mean slowness and density), effective (mean compressibility and density) or nearest sample')
    ! @format(on)
  end subroutine ModelTable

  !> Adds to the table's problems what is wrong with parameters together. `verb`: run, plan, status or verify.
  subroutine Acoustic2dRules(job, verb, t)
    type(job_t), intent(in) :: job
    character(*), intent(in) :: verb
    type(table_t), intent(inout) :: t
    if ((verb == 'run' .or. verb == 'plan') .and. job%vp == '' .and. .not. t%deck%unread) &
      call ProblemAdd(t%deck%problems, 'vp is not given: give vp=FILE, the velocity model')
    call ModelRules(job, 'zfast', verb /= 'status', t)
    if (t%sound('group') .and. job%group /= 1) &
      call t%blame('group', 'is for 3D: a 2D shot is computed by one rank, give group=1 (or threads for more cores a shot)')
    if (t%sound('variant,gpn,shape')) call ShapeRules(job, t)
    if (t%sound('variant,gpn,steps_a_pass')) call PassRules(job, t)
  end subroutine Acoustic2dRules

  subroutine ShapeRules(job, t)
    type(job_t), intent(in) :: job
    type(table_t), intent(inout) :: t
    if (job%shape /= 'auto' .and. job%gpn == 0) then
      call t%blame('shape', 'has no effect without GPUs: give gpn=1 or more too')
    else if (job%shape /= 'auto' .and. .not. (job%variant == 'auto' .or. job%variant == 'tuned')) then
      call t%blame('shape', 'has an effect on variant=tuned only, but '//t%said('variant')//': leave it out')
    else if ((index(job%shape, 'strips') == 1 .or. index(job%shape, 'stay') == 1) .and. index(job%components, 'v') > 0) then
      call t%blame('shape', 'keeps no velocities, but '//t%said('components')//': choose tiles-32, tiles-64 or auto')
    end if
  end subroutine ShapeRules

  subroutine PassRules(job, t)
    type(job_t), intent(in) :: job
    type(table_t), intent(inout) :: t
    if (job%steps_a_pass == 'auto') return
    if (job%gpn == 0) then
      call t%blame('steps_a_pass', 'has no effect without GPUs: give gpn=1 or more too')
    else if (.not. (job%variant == 'auto' .or. job%variant == 'tuned')) then
      call t%blame('steps_a_pass', 'has an effect on variant=tuned only, but '//t%said('variant')//': leave it out')
    else if (index(job%shape, 'stay') == 1) then
      call t%blame('steps_a_pass', 'is for blocks that move on, but '//t%said('shape')//': leave one of them out')
    else if (job%steps_a_pass == '1') then
      return
    else if (job%half_length > 4) then
      call t%blame('steps_a_pass', 'is for half-lengths up to 4, but '//t%said('half_length')//': give steps_a_pass=1 or auto')
    else if (index(job%components, 'v') > 0) then
      call t%blame('steps_a_pass', 'keeps no velocities, but '//t%said('components')//': give steps_a_pass=1 or auto')
    else if (job%shape /= 'auto') then
      call t%blame('steps_a_pass', 'has strips of its own, but '//t%said('shape')//': leave one of them out')
    end if
  end subroutine PassRules

end module acoustic2d_parameters_m
