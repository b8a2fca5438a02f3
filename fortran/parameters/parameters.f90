!> The parameters that all programs share, by sections of their table: one line each.
!>
!> The same line reads the value, checks it, prints the help, goes to the other ranks and is recorded with the data.
!> A physics puts its table together from these sections and lines of its own (physics.f90, `parameters`).
!> To add a parameter: add a component to job_t and a line to its section here or in the physics that alone has it.
module parameters_m
  use kinds_m, only: dp
  use parameter_table_m, only: table_t
  implicit none
  private
  public :: job_t, JobBlank, FilesTable, RawTable, GridTable, TimeTable, WaveletTable, WeightsTable, VariantTable, DispersionTable
  public :: SnapshotTable, ClusterTable, VolumeTable, VolumeFormatTable

  !> A job as the user asked for it. SI units. See JobTable for the meaning of each component.
  type :: job_t
    logical :: axes(3) = [.true., .false., .true.]   !< set by the program: waves travel along x, y, z; a coordinate along
                                                     !< another axis is only recorded
    character(:), allocatable :: changed             !< what was not left at its default, see table_t%changes; for the master
    ! files
    character(:), allocatable :: keymap, output
    logical :: overwrite = .false.
    character(:), allocatable :: verify
    real(dp) :: disk_wait = 0
    ! model
    character(:), allocatable :: layers, vs, qp, qs, vs_var, qp_var, qs_var, model_at
    integer :: model_ny = 0
    real(dp) :: model_dy = 0, model_y0 = 0, vp_vs = 0, qs_vs = 0, qp_qs = 0, q_f1 = 0, q_f2 = 0, q_ref = 0
    logical :: attenuation = .true.
    character(:), allocatable :: mesh, mesh_z, materials, memory_variables, ocean_load, resident
    real(dp) :: ocean_rho = 0                                !< [kg/m3]
    real(dp) :: gpu_memory = 0
    character(:), allocatable :: mesh_out, mesh_doubling
    real(dp) :: mesh_x(2) = 0, mesh_y(2) = 0, mesh_bottom = 0, mesh_d(3) = 0, mesh_per_wave = 0, mesh_thinnest = 0
    integer :: mesh_nodes = 8
    real(dp) :: sponge = 0
    character(:), allocatable :: vp, rho, vp_var, rho_var, model_format, model_order, model_endian, vp_unit, rho_unit
    character(:), allocatable :: rho_rule, regrid, model_check
    integer :: model_nx = 0, model_nz = 0
    real(dp) :: model_dx = 0, model_dz = 0, model_x0 = 0, model_z0 = 0, rho_value = 0
    ! grid
    real(dp) :: dx = 0, dy = 0, dz = 0, aperture = 0, depth = 0
    ! time
    real(dp) :: tmax = 0, dt = 0, dt_out = 0
    logical :: time_correction = .true.
    ! source and receivers
    character(:), allocatable :: wavelet, wavelet_file, components, positions
    real(dp) :: fpeak = 0, f1 = 0, f2 = 0, f3 = 0, f4 = 0, delay = 0, amplitude = 0, fmax = 0, wavelet_dt = 0
    character(:), allocatable :: source, fault, source_z, receiver_z
    real(dp) :: fx = 0, fy = 0, fz = 0, mxx = 0, myy = 0, mzz = 0, mxy = 0, mxz = 0, myz = 0, strike = 0, dip = 0, rake = 0
    real(dp) :: m0 = 0, mw = 0, fault_lon = 0, fault_lat = 0, x_azimuth = 0, sigma = 0
    ! scheme
    character(:), allocatable :: absorb, sides, bottom
    integer :: half_length = 0, npml = 0
    character(:), allocatable :: coeffs, top, variant, shape, steps_a_pass, sum, dispersion
    real(dp) :: coeffs_error = 0
    ! snapshots
    real(dp) :: snapshot = 0
    integer :: snapshot_step = 1
    real(dp) :: snapshot_dx = 0
    character(:), allocatable :: snapshot_shots, snapshot_planes, snapshot_fields
    character(:), allocatable :: decomposition, halo, halo_wide, layer_differences
    logical :: pgv = .false.
    real(dp) :: pgv_depth = 0
    ! cluster
    integer :: group = 0, gpn = 0, ranks_per_gpu = 0, shots_per_gpu = 0, threads = 0, retries = 0
    character(:), allocatable :: on_gpu_error, checkpoint
    real(dp) :: progress = 0, mtbf = 0, lease = 0, grace = 0, deadline = 0, forecast = 0
    integer :: quarantine = 0
  end type job_t

contains

  !> A job of which nothing is known: parameters that a program does not have keep these values.
  subroutine JobBlank(job)
    type(job_t), intent(out) :: job
    job%keymap = ''
    job%output = ''
    job%verify = ''
    job%layers = ''
    job%mesh = ''
    job%mesh_z = ''
    job%materials = ''
    job%ocean_load = ''
    job%mesh_out = ''
    job%mesh_doubling = ''
    job%memory_variables = ''
    job%layer_differences = ''
    job%resident = ''
    job%vp = ''
    job%vs = ''
    job%rho = ''
    job%qp = ''
    job%qs = ''
    job%vp_var = ''
    job%vs_var = ''
    job%rho_var = ''
    job%qp_var = ''
    job%qs_var = ''
    job%model_at = ''
    job%model_format = ''
    job%model_order = ''
    job%model_endian = ''
    job%vp_unit = ''
    job%rho_unit = ''
    job%rho_rule = ''
    job%regrid = ''
    job%model_check = ''
    job%wavelet = ''
    job%wavelet_file = ''
    job%components = ''
    job%positions = 'exact'
    job%source = ''
    job%source_z = ''
    job%receiver_z = ''
    job%fault = ''
    job%absorb = ''
    job%sides = ''
    job%bottom = ''
    job%coeffs = ''
    job%top = ''
    job%variant = ''
    job%shape = 'auto'
    job%steps_a_pass = 'auto'
    job%sum = 'gather'
    job%dispersion = ''
    job%snapshot_shots = ''
    job%snapshot_planes = ''
    job%snapshot_fields = ''
    job%on_gpu_error = ''
    job%checkpoint = ''
  end subroutine JobBlank

  ! @format(off): one parameter a line

  subroutine FilesTable(t, job)
    type(table_t), intent(inout) :: t
    type(job_t), intent(inout) :: job
    call t%section('Files')
    call t%file('keymap', job%keymap, '', 'key-map: one line a shot (keymaps/README.md)')
    call t%output('output', job%output, 'gathers.nc', 'NetCDF file of all gathers; journal and log stand beside it')
    call t%flag('overwrite', job%overwrite, .false., 'start anew where the output exists already; without it finished shots are kept')

    call t%word('verify', job%verify, 'all', 'all,last', 'finished shots read and compared with their checksums when a job goes on: all, or those that no earlier run read (last, for huge files); new shots are dealt meanwhile')
    call t%real('disk_wait', job%disk_wait, 1800.0_dp, 0.0_dp, 1.0e6_dp, 's', 'where output or journal cannot be written, or a model on disk not be read any more, dealing pauses so long at most for them to come back; 0 = stop at once')
  end subroutine FilesTable

  !> Spacings, and how much of the model a shot sees. `aperture`: its meaning.
  subroutine GridTable(t, job, aperture)
    type(table_t), intent(inout) :: t
    type(job_t), intent(inout) :: job
    character(*), intent(in) :: aperture
    call t%section('Grid')
    call t%real('dx', job%dx, 0.0_dp, 0.0_dp, 1.0e4_dp, 'm', 'grid spacing along x; 0 = that of the model')
    if (job%axes(2)) call t%real('dy', job%dy, 0.0_dp, 0.0_dp, 1.0e4_dp, 'm', 'grid spacing along y; 0 = that of the model')
    call t%real('dz', job%dz, 0.0_dp, 0.0_dp, 1.0e4_dp, 'm', 'grid spacing along z; 0 = that of the model')
    call t%real('aperture', job%aperture, -1.0_dp, -1.0_dp, 1.0e7_dp, 'm', aperture)
    call t%real('depth', job%depth, 0.0_dp, 0.0_dp, 1.0e6_dp, 'm', 'depth of the modelled window below the top of the model; 0 = whole model')
  end subroutine GridTable

  !> Raw files of a model, which texts call `what`, its velocity `velocity`. `orders`: words for the order of its numbers, the first
  !> if none is given, and what they mean.
  subroutine RawTable(t, job, what, velocity, orders, meaning)
    type(table_t), intent(inout) :: t
    type(job_t), intent(inout) :: job
    character(*), intent(in) :: what, velocity, orders, meaning
    integer, parameter :: most = 10000000
    call t%word('vp_unit', job%vp_unit, 'm/s', 'm/s,km/s,ft/s', 'unit of '//velocity//' (NetCDF states its own)')
    call t%word('rho_unit', job%rho_unit, 'kg/m3', 'kg/m3,g/cm3', 'unit of a raw density (NetCDF states its own)')
    call t%int('model_nx', job%model_nx, 0, 0, most, '', 'samples of '//what//' along x')
    if (job%axes(2)) call t%int('model_ny', job%model_ny, 0, 0, most, '', 'samples of '//what//' along y')
    call t%int('model_nz', job%model_nz, 0, 0, most, '', 'samples of '//what//' along z (depth)')
    call t%real('model_dx', job%model_dx, 0.0_dp, 0.0_dp, 1.0e5_dp, 'm', 'spacing of '//what//' along x')
    if (job%axes(2)) call t%real('model_dy', job%model_dy, 0.0_dp, 0.0_dp, 1.0e5_dp, 'm', 'spacing of '//what//' along y')
    call t%real('model_dz', job%model_dz, 0.0_dp, 0.0_dp, 1.0e5_dp, 'm', 'spacing of '//what//' along z')
    call t%real('model_x0', job%model_x0, 0.0_dp, -1.0e8_dp, 1.0e8_dp, 'm', 'x of the first sample of '//what)
    if (job%axes(2)) call t%real('model_y0', job%model_y0, 0.0_dp, -1.0e8_dp, 1.0e8_dp, 'm', 'y of the first sample of '//what)
    call t%real('model_z0', job%model_z0, 0.0_dp, -1.0e6_dp, 1.0e6_dp, 'm', 'depth of the first sample of '//what)
    call t%word('model_order', job%model_order, orders(:index(orders, ',') - 1), orders, meaning)
    call t%word('model_endian', job%model_endian, 'little', 'little,big', 'byte order of '//what)
    call t%word('model_check', job%model_check, 'error', 'error,warn', 'what to do where axes or units of the model look wrong')
  end subroutine RawTable

  !> Volumes of the earth.
  subroutine VolumeTable(t, job)
    type(table_t), intent(inout) :: t
    type(job_t), intent(inout) :: job
    call t%file('vp', job%vp, '', 'P velocity: NetCDF or raw volume; 0 = air')
    call t%file('vs', job%vs, '', 'S velocity: NetCDF or raw volume; 0 = fluid; empty = by vp_vs')
    call t%file('rho', job%rho, '', 'density: NetCDF or raw volume; empty = by rho_rule')
    call t%file('qp', job%qp, '', 'quality factor of P waves: NetCDF or raw volume; 0 = none in fluids, any number in air; empty = by qp_qs')
    call t%file('qs', job%qs, '', 'quality factor of S waves: NetCDF or raw volume; in fluids and air it may be any number, or missing; empty = by qs_vs')
    call t%real('vp_vs', job%vp_vs, 0.0_dp, 0.0_dp, 20.0_dp, '', 'vp/vs where no file tells vs; 0 = everything is fluid')
    call t%word('rho_rule', job%rho_rule, 'constant', 'constant,gardner', 'density without a file: rho_value everywhere, or Gardner 310*vp**0.25 where vp > 1600 m/s and rho_value elsewhere')
    call t%real('rho_value', job%rho_value, 1000.0_dp, 1.0_dp, 30000.0_dp, 'kg/m3', 'density used by rho_rule')
  end subroutine VolumeTable

  !> Format of the files of volumes.
  subroutine VolumeFormatTable(t, job)
    type(table_t), intent(inout) :: t
    type(job_t), intent(inout) :: job
    call t%word('model_format', job%model_format, 'auto', 'auto,netcdf,raw32,raw64', 'auto = netcdf for .nc, raw32 otherwise')
    call t%text('vp_var', job%vp_var, 'vp', 'name of the variable in a NetCDF model')
    call t%text('vs_var', job%vs_var, 'vs', 'name of the variable in a NetCDF model')
    call t%text('rho_var', job%rho_var, 'rho', 'name of the variable in a NetCDF model')
    call t%text('qp_var', job%qp_var, 'qp', 'name of the variable in a NetCDF model')
    call t%text('qs_var', job%qs_var, 'qs', 'name of the variable in a NetCDF model')
    call RawTable(t, job, 'raw volumes', 'raw velocities', 'xyz,xzy,yxz,yzx,zxy,zyx', 'indices of raw volumes, the one that runs fastest in the file first')
    call t%word('model_at', job%model_at, 'centres', 'centres,nodes', 'samples of volumes, NetCDF too, stand at centres of cells, so that the earth begins half a spacing before the first; or on nodes: it begins at the first')
  end subroutine VolumeFormatTable

  subroutine TimeTable(t, job)
    type(table_t), intent(inout) :: t
    type(job_t), intent(inout) :: job
    call t%section('Time')
    call t%real('tmax', job%tmax, 4.0_dp, 1.0e-6_dp, 1.0e5_dp, 's', 'record length')
    call t%real('dt', job%dt, 0.0_dp, 0.0_dp, 1.0_dp, 's', 'time step; 0 = largest stable')
    call t%real('dt_out', job%dt_out, 0.004_dp, 1.0e-7_dp, 10.0_dp, 's', 'sample interval of the gathers')
    call t%flag('time_correction', job%time_correction, .true., 'remove the time dispersion of the scheme from wavelet and traces')
  end subroutine TimeTable

  !> `words`: the wavelets there are, `meaning`: of a wavelet; of its amplitude: unit and meaning.
  subroutine WaveletTable(t, job, words, meaning, amplitude_unit, amplitude)
    type(table_t), intent(inout) :: t
    type(job_t), intent(inout) :: job
    character(*), intent(in) :: words, meaning, amplitude_unit, amplitude
    call t%word('wavelet', job%wavelet, 'ricker', words, meaning)
    call t%real('fpeak', job%fpeak, 25.0_dp, 1.0e-6_dp, 1.0e6_dp, 'Hz', 'peak frequency of the Ricker wavelet')
    if (index(words, 'gauss') > 0) call t%real('sigma', job%sigma, 0.1_dp, 1.0e-6_dp, 1.0e4_dp, 's', 'wavelet=gauss: exp(-t**2/(2 sigma**2)) of area 1: as a moment rate its integral is the moment')
    call t%real('f1', job%f1, 3.0_dp, 0.0_dp, 1.0e6_dp, 'Hz', 'Ormsby: low cut')
    call t%real('f2', job%f2, 8.0_dp, 0.0_dp, 1.0e6_dp, 'Hz', 'Ormsby: low pass')
    call t%real('f3', job%f3, 40.0_dp, 0.0_dp, 1.0e6_dp, 'Hz', 'Ormsby: high pass')
    call t%real('f4', job%f4, 60.0_dp, 0.0_dp, 1.0e6_dp, 'Hz', 'Ormsby: high cut')
    call t%file('wavelet_file', job%wavelet_file, '', 'wavelet=file: text, one sample a line, or two columns time [s] and value, from 0 to 0; its time 0 is time zero, see delay: delay=0 keeps the times')
    call t%real('wavelet_dt', job%wavelet_dt, 0.0_dp, 0.0_dp, 1.0_dp, 's', 'sample interval of a one-column wavelet file')
    call t%real('delay', job%delay, -1.0_dp, -1.0_dp, 1.0e3_dp, 's', 'time of the wavelet''s time zero; -1 = so late that it starts at t = 0')
    call t%real('amplitude', job%amplitude, 1.0_dp, -1.0e30_dp, 1.0e30_dp, amplitude_unit, amplitude)
    call t%real('fmax', job%fmax, 0.0_dp, 0.0_dp, 1.0e6_dp, 'Hz', 'highest frequency that must be right; 0 = where the wavelet''s spectrum falls to 1 %')
  end subroutine WaveletTable

  !> Weights of the differentiators up to a half-length of `most`, and the layers. `half_length`, `coeffs`, `top`: the defaults.
  subroutine WeightsTable(t, job, half_length, most, coeffs, top)
    type(table_t), intent(inout) :: t
    type(job_t), intent(inout) :: job
    integer, intent(in) :: half_length, most
    character(*), intent(in) :: coeffs, top
    call t%section('Scheme')
    call t%int('half_length', job%half_length, half_length, 1, most, 'cells', 'half-length of the differentiators')
    call t%word('coeffs', job%coeffs, coeffs, 'holberg,taylor', 'weights of the differentiators')
    call t%real('coeffs_error', job%coeffs_error, 0.0_dp, 0.0_dp, 5.0_dp, '%', 'Holberg: largest group-velocity error; 0 = smallest that covers fmax')
    call t%int('npml', job%npml, 20, 0, 1000, 'cells', 'width of the absorbing layers')
    call t%word('top', job%top, top, 'pml,free', 'upper side: absorbing, or free surface at the top of the model')
  end subroutine WeightsTable

  subroutine VariantTable(t, job)
    type(table_t), intent(inout) :: t
    type(job_t), intent(inout) :: job
    call t%word('variant', job%variant, 'auto', trim(t%variants), 'kernel variant; auto = the fastest of them on ranks with a GPU (see gpn), cpu on the others')
  end subroutine VariantTable

  subroutine DispersionTable(t, job)
    type(table_t), intent(inout) :: t
    type(job_t), intent(inout) :: job
    call t%word('dispersion', job%dispersion, 'error', 'error,warn', 'what to do when the grid is too coarse for fmax')
  end subroutine DispersionTable

  !> `what`: the meaning of the snapshots; `cells`: that of their step, where there are cells.
  subroutine SnapshotTable(t, job, what, cells)
    type(table_t), intent(inout) :: t
    type(job_t), intent(inout) :: job
    character(*), intent(in) :: what
    character(*), intent(in), optional :: cells
    call t%section('Snapshots')
    call t%real('snapshot', job%snapshot, 0.0_dp, 0.0_dp, 1.0e5_dp, 's', what)
    if (present(cells)) call t%int('snapshot_step', job%snapshot_step, 1, 1, 1000, 'cells', cells)
    call t%text('snapshot_shots', job%snapshot_shots, '', 'shot record numbers to take them of, joined by commas; empty = first shot')
  end subroutine SnapshotTable

  !> `group`: the meaning of that parameter.
  subroutine ClusterTable(t, job, group)
    type(table_t), intent(inout) :: t
    type(job_t), intent(inout) :: job
    character(*), intent(in) :: group
    call t%section('Cluster')
    call t%int('group', job%group, 1, 1, 100000, 'ranks', group, word='auto')
    call t%int('gpn', job%gpn, 0, 0, 64, 'GPUs', 'GPUs per node: the first gpn worker ranks of a node compute on one each, the others on CPU cores; 0 = CPU only')
    call t%int('ranks_per_gpu', job%ranks_per_gpu, 1, 1, 64, 'ranks', 'ranks that share a GPU: the first gpn*ranks_per_gpu ranks of a node')
    call t%int('shots_per_gpu', job%shots_per_gpu, 0, 0, 64, 'shots', 'shots a GPU rank models at once; 0 = as many as fill the GPU, at least 2, if they fit into its memory; some then wait, set up, for its time')
    call t%word('on_gpu_error', job%on_gpu_error, 'cpu', 'cpu,retire', 'a rank whose GPU fails goes on with CPU cores, or leaves the job; its shots are dealt again')
    call t%int('threads', job%threads, 0, 0, 1024, '', 'threads a rank at most, a small shot gets fewer; 0 = the cores of the node shared among its ranks, one for each that drives a GPU')
    call t%int('retries', job%retries, 2, 0, 100, '', 'how often a lost shot is dealt again before it is parked')
    call t%text('checkpoint', job%checkpoint, 'auto', 'minutes of compute after which the state of a long shot goes to disk (OUTPUT.states), so that a lost shot goes on from there; 0 = never; auto = by what a state costs and mtbf')
    call t%real('mtbf', job%mtbf, 24.0_dp, 0.01_dp, 1.0e6_dp, 'h', 'mean time between two losses of a worker, for checkpoint=auto')
    call t%real('forecast', job%forecast, 1.5_dp, 0.0_dp, 86400.0_dp, 's', 'plan models shots for so long, three times as long on a busy machine, to forecast the time of the survey; 0 = no forecast of time')
    call t%real('progress', job%progress, 10.0_dp, 0.1_dp, 86400.0_dp, 's', 'time between progress lines in a batch log')
    call t%real('lease', job%lease, 120.0_dp, 1.0_dp, 86400.0_dp, 's', 'a worker not heard of for so long is taken for lost and its shots are dealt again; sooner, after twice the time of its shots (at least 20 s), once that is known; later where it came back, or was busy, after more than half of that; one that is seen to be dead is not waited for')
    call t%int('quarantine', job%quarantine, 3, 0, 1000000, 'losses', 'a node that lost so many workers, or shots that others then modelled, gets no more shots as long as there are other nodes; 0 = never')
    call t%real('grace', job%grace, 600.0_dp, 0.0_dp, 1.0e6_dp, 's', 'after SIGTERM, SIGUSR1 or a stop file shots in flight may go on for so long, or until the job ends or its launcher kills it; then they are given up and the program ends')
    call t%real('deadline', job%deadline, 0.0_dp, 0.0_dp, 1.0e8_dp, 's', 'the job ends so long after its start: no shot is dealt that would take longer; 0 = the end of the Slurm job, where there is one (SLURM_JOB_END_TIME)')
  end subroutine ClusterTable

  ! @format(on)

end module parameters_m
