!> THE parameter table: every parameter of a job, one line each.
!>
!> The same line reads the value, checks it, prints the help, goes to the other ranks and is recorded with the data.
!> To add a parameter: add a component to job_t and a line to JobTable.
module params_m
  use kinds_m, only: dp
  use table_m, only: table_t
  implicit none
  private
  public :: job_t, JobTable

  !> A job as the user asked for it. SI units. See JobTable for the meaning of each component.
  type :: job_t
    ! files
    character(:), allocatable :: keymap, output
    logical :: overwrite = .false.
    character(:), allocatable :: verify
    real(dp) :: disk_wait = 0
    ! model
    character(:), allocatable :: vp, rho, vp_var, rho_var, model_format, model_order, model_endian, vp_unit, rho_unit
    character(:), allocatable :: rho_rule, regrid
    integer :: model_nx = 0, model_nz = 0
    real(dp) :: model_dx = 0, model_dz = 0, model_x0 = 0, model_z0 = 0, rho_value = 0
    ! grid
    real(dp) :: dx = 0, dz = 0, aperture = 0, depth = 0
    ! time
    real(dp) :: tmax = 0, dt = 0, dt_out = 0
    logical :: time_correction = .true.
    ! source and receivers
    character(:), allocatable :: wavelet, wavelet_file, components, positions
    real(dp) :: fpeak = 0, f1 = 0, f2 = 0, f3 = 0, f4 = 0, delay = 0, amplitude = 0, fmax = 0, wavelet_dt = 0
    ! scheme
    integer :: half_length = 0, npml = 0
    character(:), allocatable :: coeffs, top, variant, shape, dispersion
    real(dp) :: coeffs_error = 0
    ! snapshots
    real(dp) :: snapshot = 0
    integer :: snapshot_step = 0
    character(:), allocatable :: snapshot_shots
    ! cluster
    integer :: group = 0, gpn = 0, ranks_per_gpu = 0, shots_per_gpu = 0, threads = 0, retries = 0
    character(:), allocatable :: on_gpu_error, checkpoint
    real(dp) :: progress = 0, mtbf = 0, lease = 0, grace = 0, deadline = 0
    integer :: quarantine = 0
  end type job_t

contains

  subroutine JobTable(t, job)
    type(table_t), intent(inout) :: t
    type(job_t), intent(inout) :: job
    ! @format(off): one parameter a line
    call t%section('Files')
    call t%file('keymap', job%keymap, '', 'key-map: one line a shot (keymaps/README.md)')
    call t%file('output', job%output, 'gathers.nc', 'NetCDF file of all gathers; journal and log stand beside it')
    call t%flag('overwrite', job%overwrite, .false., 'start anew where the output exists already; without it finished shots are kept')

    call t%word('verify', job%verify, 'all', 'all,last', 'finished shots read and compared with their checksums when a job goes on: all, or those that no earlier run read (last, for huge files); new shots are dealt meanwhile')
    call t%real('disk_wait', job%disk_wait, 1800.0_dp, 0.0_dp, 1.0e6_dp, 's', 'where output or journal cannot be written dealing pauses so long at most for them to come back; 0 = stop at once')

    call t%section('Model')
    call t%file('vp', job%vp, '', 'P velocity: NetCDF or raw file')
    call t%file('rho', job%rho, '', 'density: NetCDF or raw file; empty = by rho_rule')
    call t%word('rho_rule', job%rho_rule, 'constant', 'constant,gardner', 'density without a file: rho_value everywhere, or Gardner 310*vp**0.25 where vp > 1600 m/s and rho_value elsewhere')
    call t%real('rho_value', job%rho_value, 1000.0_dp, 1.0_dp, 30000.0_dp, 'kg/m3', 'density used by rho_rule')
    call t%word('model_format', job%model_format, 'auto', 'auto,netcdf,raw32,raw64', 'auto = netcdf for .nc, raw32 otherwise')
    call t%text('vp_var', job%vp_var, 'vp', 'name of the velocity variable in a NetCDF model')
    call t%text('rho_var', job%rho_var, 'rho', 'name of the density variable in a NetCDF model')
    call t%word('vp_unit', job%vp_unit, 'm/s', 'm/s,km/s', 'unit of a raw velocity (NetCDF states its own)')
    call t%word('rho_unit', job%rho_unit, 'kg/m3', 'kg/m3,g/cm3', 'unit of a raw density (NetCDF states its own)')
    call t%int('model_nx', job%model_nx, 0, 0, 10000000, '', 'samples of a raw model along x')
    call t%int('model_nz', job%model_nz, 0, 0, 10000000, '', 'samples of a raw model along z (depth)')
    call t%real('model_dx', job%model_dx, 0.0_dp, 0.0_dp, 1.0e5_dp, 'm', 'spacing of a raw model along x')
    call t%real('model_dz', job%model_dz, 0.0_dp, 0.0_dp, 1.0e5_dp, 'm', 'spacing of a raw model along z')
    call t%real('model_x0', job%model_x0, 0.0_dp, -1.0e8_dp, 1.0e8_dp, 'm', 'x of the first sample of a raw model')
    call t%real('model_z0', job%model_z0, 0.0_dp, -1.0e6_dp, 1.0e6_dp, 'm', 'depth of the first sample of a raw model')
    call t%word('model_order', job%model_order, 'zfast', 'zfast,xfast', 'which index of a raw model runs fastest in the file')
    call t%word('model_endian', job%model_endian, 'little', 'little,big', 'byte order of a raw model')
    call t%word('regrid', job%regrid, 'average', 'average,effective,nearest', 'model to grid: average (mean slowness and density of the cell, linear where the grid is finer), effective (mean compressibility and density: for layers thinner than the grid) or nearest sample')

    call t%section('Grid')
    call t%real('dx', job%dx, 0.0_dp, 0.0_dp, 1.0e4_dp, 'm', 'grid spacing along x; 0 = that of the model')
    call t%real('dz', job%dz, 0.0_dp, 0.0_dp, 1.0e4_dp, 'm', 'grid spacing along z; 0 = that of the model')
    call t%real('aperture', job%aperture, -1.0_dp, -1.0_dp, 1.0e7_dp, 'm', 'model window: this far beyond the outermost of source and receivers; -1 = whole model for each shot')
    call t%real('depth', job%depth, 0.0_dp, 0.0_dp, 1.0e6_dp, 'm', 'depth of the modelled window below the top of the model; 0 = whole model')

    call t%section('Time')
    call t%real('tmax', job%tmax, 4.0_dp, 1.0e-6_dp, 1.0e5_dp, 's', 'record length')
    call t%real('dt', job%dt, 0.0_dp, 0.0_dp, 1.0_dp, 's', 'time step; 0 = largest stable')
    call t%real('dt_out', job%dt_out, 0.004_dp, 1.0e-7_dp, 10.0_dp, 's', 'sample interval of the gathers')
    call t%flag('time_correction', job%time_correction, .true., 'remove the time dispersion of the scheme from wavelet and traces')

    call t%section('Source and receivers')
    call t%word('wavelet', job%wavelet, 'ricker', 'ricker,ormsby,file', 'volume injection rate Q(t)')
    call t%real('fpeak', job%fpeak, 25.0_dp, 1.0e-6_dp, 1.0e6_dp, 'Hz', 'peak frequency of the Ricker wavelet')
    call t%real('f1', job%f1, 3.0_dp, 0.0_dp, 1.0e6_dp, 'Hz', 'Ormsby: low cut')
    call t%real('f2', job%f2, 8.0_dp, 0.0_dp, 1.0e6_dp, 'Hz', 'Ormsby: low pass')
    call t%real('f3', job%f3, 40.0_dp, 0.0_dp, 1.0e6_dp, 'Hz', 'Ormsby: high pass')
    call t%real('f4', job%f4, 60.0_dp, 0.0_dp, 1.0e6_dp, 'Hz', 'Ormsby: high cut')
    call t%file('wavelet_file', job%wavelet_file, '', 'wavelet=file: text, one sample a line, or two columns time [s] and value')
    call t%real('wavelet_dt', job%wavelet_dt, 0.0_dp, 0.0_dp, 1.0_dp, 's', 'sample interval of a one-column wavelet file')
    call t%real('delay', job%delay, -1.0_dp, -1.0_dp, 1.0e3_dp, 's', 'time of the wavelet''s time zero; -1 = so late that it starts at t = 0')
    call t%real('amplitude', job%amplitude, 1.0_dp, -1.0e30_dp, 1.0e30_dp, 'm2/s', 'the wavelet is multiplied by this')
    call t%real('fmax', job%fmax, 0.0_dp, 0.0_dp, 1.0e6_dp, 'Hz', 'highest frequency that must be right; 0 = where the wavelet''s spectrum falls to 1 %')
    call t%text('components', job%components, 'p', 'recorded: any of p, vx, vz, joined by commas')
    call t%word('positions', job%positions, 'exact', 'exact,nearest', 'off-grid positions: honoured by a Kaiser-windowed sinc, or moved to the nearest node')

    call t%section('Scheme')
    call t%int('half_length', job%half_length, 8, 1, 8, 'cells', 'half-length of the differentiators')
    call t%word('coeffs', job%coeffs, 'holberg', 'holberg,taylor', 'weights of the differentiators')
    call t%real('coeffs_error', job%coeffs_error, 0.0_dp, 0.0_dp, 5.0_dp, '%', 'Holberg: largest group-velocity error; 0 = smallest that covers fmax')
    call t%int('npml', job%npml, 20, 0, 1000, 'cells', 'width of the absorbing layers')
    call t%word('top', job%top, 'pml', 'pml,free', 'upper side: absorbing, or free surface at the top of the model')
    call t%word('variant', job%variant, 'auto', trim(t%variants), 'kernel variant; auto = tuned on ranks with a GPU (see gpn), cpu on the others')
    call t%word('shape', job%shape, 'auto', 'auto,strips-256,strips-512,tiles-16,tiles-24,tiles-32', 'blocks of variant=tuned: strips of so many columns that march down, or tiles of so many rows; decides speed, not numbers; auto = the fastest, timed once where a shot has its GPU for itself')
    call t%word('dispersion', job%dispersion, 'error', 'error,warn', 'what to do when the grid is too coarse for fmax')

    call t%section('Snapshots')
    call t%real('snapshot', job%snapshot, 0.0_dp, 0.0_dp, 1.0e5_dp, 's', 'pressure of the whole window every so often, with the time dispersion of dt; 0 = none')
    call t%int('snapshot_step', job%snapshot_step, 1, 1, 1000, 'cells', 'every so many cells in x and z')
    call t%text('snapshot_shots', job%snapshot_shots, '', 'shot record numbers to take them of, joined by commas; empty = first shot')

    call t%section('Cluster')
    call t%int('group', job%group, 1, 1, 100000, 'ranks', 'ranks that share one shot (2D: 1)')
    call t%int('gpn', job%gpn, 0, 0, 64, 'GPUs', 'GPUs per node: the first gpn worker ranks of a node compute on one each, the others on CPU cores; 0 = CPU only')
    call t%int('ranks_per_gpu', job%ranks_per_gpu, 1, 1, 64, 'ranks', 'ranks that share a GPU: the first gpn*ranks_per_gpu ranks of a node')
    call t%int('shots_per_gpu', job%shots_per_gpu, 0, 0, 64, 'shots', 'shots a GPU rank models at once; 0 = as many as fill the GPU, at least 2, if they fit into its memory')
    call t%word('on_gpu_error', job%on_gpu_error, 'cpu', 'cpu,retire', 'a rank whose GPU fails goes on with CPU cores, or leaves the job; its shots are dealt again')
    call t%int('threads', job%threads, 0, 0, 1024, '', 'threads a rank; 0 = the cores of the node shared among its ranks, one for each that drives a GPU')
    call t%int('retries', job%retries, 2, 0, 100, '', 'how often a lost shot is dealt again before it is parked')
    call t%text('checkpoint', job%checkpoint, 'auto', 'minutes of compute after which the state of a long shot goes to disk (OUTPUT.states), so that a lost shot goes on from there; 0 = never; auto = by what a state costs and mtbf')
    call t%real('mtbf', job%mtbf, 24.0_dp, 0.01_dp, 1.0e6_dp, 'h', 'mean time between two losses of a worker, for checkpoint=auto')
    call t%real('progress', job%progress, 10.0_dp, 0.1_dp, 86400.0_dp, 's', 'time between progress lines in a batch log')
    call t%real('lease', job%lease, 120.0_dp, 1.0_dp, 86400.0_dp, 's', 'a worker not heard of for so long is taken for lost and its shots are dealt again; grows to twice the longest silence of a worker that came back or was busy')
    call t%int('quarantine', job%quarantine, 3, 0, 1000000, 'losses', 'a node that lost so many workers, or shots that others then modelled, gets no more shots as long as there are other nodes; 0 = never')
    call t%real('grace', job%grace, 600.0_dp, 0.0_dp, 1.0e6_dp, 's', 'after SIGTERM, SIGUSR1 or a stop file shots in flight may go on for so long; then they are given up and the program ends')
    call t%real('deadline', job%deadline, 0.0_dp, 0.0_dp, 1.0e8_dp, 's', 'the job ends so long after its start: no shot is dealt that would take longer; 0 = the end of the Slurm job, where there is one (SLURM_JOB_END_TIME)')
    ! @format(on)
  end subroutine JobTable

end module params_m
