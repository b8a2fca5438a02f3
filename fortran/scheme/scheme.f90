!> The numerical scheme of a survey, derived once from the job, the wavelet and the model, the same for every shot.
module scheme_m
  use checked_m, only: Above, Below, Whole
  use der_m, only: DerBand, DerLargestError, DerWeights
  use error_m, only: error_t, Fail
  use kinds_m, only: dp, pi, sp
  use parameters_m, only: job_t
  use parcel_m, only: parcel_t
  use time_step_m, only: StabilityLimit, SurfaceLimit
  use text_m, only: Str, StrAtMost
  use time_dispersion_m, only: TimedispReach, TimedispSource, TraceMargin
  use wavelet_m, only: wavelet_t, WaveletPeak, WaveletSpectrum, WaveletValue
  use window_m, only: window_t
  implicit none
  private
  public :: scheme_t, SchemeNew, SchemeDerive, SchemeTimes, SchemePad, SchemeGrid, SchemeSpacing
  public :: SchemeHalfMost, SchemeLower, SchemeWarn

  type :: scheme_t
    real(dp) :: dx = 0, dz = 0                !< grid spacing [m]
    real(dp) :: dy = 0                        !< [m]; 0: there is no such axis
    real(dp) :: dt = 0                        !< time step [s]
    integer :: nt = 0                         !< time steps of a shot
    real(dp) :: t_start = 0                   !< time of step 0 [s], <= 0
    real(dp) :: dt_out = 0                    !< sample interval of the gathers [s]
    integer :: nt_out = 0                     !< samples of a trace; the first is at t = 0
    real(dp) :: fmax = 0, fband = 0, fpeak = 0  !< highest frequency that must be right, end of the band, peak [Hz]
    real(dp) :: vmin = 0, vmax = 0            !< velocities of the whole model [m/s]
    real(dp) :: dt_limit = 0                  !< largest stable time step [s]
    real(dp) :: ppw = 0                       !< points per shortest wavelength
    real(dp) :: coeffs_error = 0              !< largest group-velocity error of the weights in band, 0.01 = 1 %
    integer :: half_length = 0                !< of the differentiators; 0: there are none
    integer :: npml = 0                       !< width of the absorbing layers [cells]
    real(dp) :: w(8) = 0                      !< weights of the differentiators
    logical :: free_top = .false.             !< free surface at the top of the model
    logical :: rock_top = .false.             !< that of an elastic medium, whose rows are stiffer than inner ones
    logical :: time_correction = .true.       !< traces are corrected for time dispersion
    logical :: exact_positions = .true.       !< off-grid positions by sinc, else nearest node
    integer :: ranks = 1                      !< that model a shot together
    integer :: threads = 1
    integer :: share = 0                      !< shots that the GPU of this rank computes side by side; 0: one alone
    real(dp) :: gpu_room = 0                  !< memory of its GPU that this rank may take [bytes]; 0: not known
    character(15) :: shape = ''               !< shape of the blocks that variant=tuned cuts the grid into, '' = it chooses
    integer :: steps_a_pass = 0              !< time steps of variant=tuned in one pass through memory, 0 = it chooses
    real(dp) :: snapshot = 0                  !< time between snapshots [s], 0 = none for this shot
    integer :: snapshot_step = 1              !< [cells]
    logical :: histories = .false.            !< points act with histories of their own, not with the wavelet
    real(dp) :: acts = 0                      !< time at which histories begin to act [s]
    real(dp) :: early = 0                     !< steps by which a force acts earlier than a source of stress
    logical :: sponge = .false.               !< the layers are Cerjan's sponge
    logical :: damped = .false.               !< layers of PML damp along themselves too
    logical :: periodic = .false.             !< the four sides follow each other
    logical :: one_way = .false.              !< the bottom lets waves out by Clayton & Engquist
    character(:), allocatable :: components   !< of the gathers, e.g. 'p,vx,vz'
    integer :: beside = 0                     !< traces that a receiver samples beside these, at most
    ! Of receivers, known on rank 0 alone, for its forecast of memory:
    real(dp) :: at_contacts = 1               !< the part of them that samples these
    integer :: places = 0                     !< numbers of the earth that rank 0 tells of each
    character(:), allocatable :: variant      !< kernel variant
    real(sp), allocatable :: q(:)             !< volume injection rate [m2/s], (nt), sample n at t_start + (n - 1/2) dt; in 3D the
                                              !< history of the source, of a force at t_start + (n - 1) dt
    character(:), allocatable :: warnings     !< what the user should know, one sentence a line; '' = nothing
  contains
    procedure :: cells => GridCells
    procedure :: gpu_busy => CellsInCache
    procedure :: grid_words => GridWords
    procedure :: layer_words => LayerWords
    procedure :: accuracy_words => AccuracyWords
    procedure :: no_pictures => NoPictures
    procedure :: pack => PackNothing
    procedure :: unpack => UnpackNothing
  end type scheme_t

  real(dp), parameter :: tolerance = 0.01_dp        !< largest group-velocity error, unless the job says another
  real(dp), parameter :: part_of_limit = 0.99_dp    !< default time step
  real(dp), parameter :: least_ppw = 2.05_dp        !< with fewer points a grid carries no wave at all
  integer, parameter :: most_steps = 100000000
  integer, parameter :: guard = 4                   !< cells that a position between the nodes reaches beyond the window, at most

contains

  !> Switches pictures off, for a shot of which none are wanted.
  subroutine NoPictures(self)
    class(scheme_t), intent(inout) :: self
    self%snapshot = 0
  end subroutine NoPictures

  !> Packs what a physics adds to the scheme, for other ranks.
  subroutine PackNothing(self, parcel)
    class(scheme_t), intent(in) :: self
    type(parcel_t), intent(out) :: parcel
  end subroutine PackNothing

  !> Takes what a physics added to the scheme on another rank; `why`: the reason why that cannot be, '' if it can.
  subroutine UnpackNothing(self, parcel, why)
    class(scheme_t), intent(inout) :: self
    type(parcel_t), intent(in) :: parcel
    character(:), allocatable, intent(out) :: why
    why = ''
    if (size(parcel%numbers) + size(parcel%samples) + len(parcel%text) > 0) why = 'it holds what is of another physics'
    if (self%half_length < 1) why = 'half_length = 0 is impossible'
  end subroutine UnpackNothing

  !> Cells of the grid beyond the window: on the left, on the right and below; on top. An absorbing layer and a few undamped cells
  !> before it: a source or receiver beside the layer must not be spread into it, or the two could not change places.
  pure function SchemePad(scheme) result(pad)
    class(scheme_t), intent(in) :: scheme
    integer :: pad(2)
    pad(1) = scheme%npml + merge(guard, 0, scheme%npml > 0 .or. scheme%dy > 0)
    pad(2) = merge(0, pad(1), scheme%free_top)
  end function SchemePad

  !> Cells along x and z of the grid around a window of nx x nz nodes.
  pure function SchemeGrid(scheme, nx, nz) result(n)
    class(scheme_t), intent(in) :: scheme
    integer, intent(in) :: nx, nz
    integer :: n(2), pad(2)
    pad = SchemePad(scheme)
    n = [nx + 2*pad(1), nz + pad(1) + pad(2)]
  end function SchemeGrid

  !> Cells of shots whose steps keep a large GPU busy; those of more would push each other out of its cache.
  pure real(dp) function CellsInCache(self) result(cells)
    class(scheme_t), intent(in) :: self
    cells = 2.0e6_dp
  end function CellsInCache

  !> Cells of the grid of a shot in its window, layers included.
  pure real(dp) function GridCells(self, window) result(cells)
    class(scheme_t), intent(in) :: self
    type(window_t), intent(in) :: window
    integer :: pad(2)
    pad = SchemePad(self)
    if (window%ny == 0) then
      cells = product(real(SchemeGrid(self, window%nx, window%nz), dp))
    else
      cells = product(real([window%nx, window%ny], dp) + merge(0, 2*pad(1), self%periodic))* &
              (window%nz + pad(2) + merge(0, pad(1), self%one_way))
    end if
  end function GridCells

  !> In words: the spacings, the layers, how well waves are carried.
  function GridWords(self) result(words)
    class(scheme_t), intent(in) :: self
    character(:), allocatable :: words
    words = SchemeSpacing(self)//' m'
  end function GridWords

  function LayerWords(self) result(words)
    class(scheme_t), intent(in) :: self
    character(:), allocatable :: words
    words = 'layers of '//Str(self%npml)//' cells, '//trim(merge('free surface on top ', 'absorbing on top    ', self%free_top))
  end function LayerWords

  function AccuracyWords(self) result(words)
    class(scheme_t), intent(in) :: self
    character(:), allocatable :: words
    words = 'half-length '//Str(self%half_length)//', group velocity within '//Str(100*self%coeffs_error, 2)//' %'
  end function AccuracyWords

  !> The longest differentiators there are kernels for: half-length 8 in 2D, 4 in 3D.
  pure integer function SchemeHalfMost(scheme) result(most)
    class(scheme_t), intent(in) :: scheme
    most = merge(4, 8, scheme%dy > 0)
  end function SchemeHalfMost

  !> 10 x 10 or 10 x 10 x 10: the spacings in words.
  pure function SchemeSpacing(scheme) result(s)
    class(scheme_t), intent(in) :: scheme
    character(:), allocatable :: s
    s = Str(scheme%dx)
    if (scheme%dy > 0) s = s//' x '//Str(scheme%dy)
    if (scheme%dz > 0) s = s//' x '//Str(scheme%dz)
  end function SchemeSpacing

  !> The scheme of a job (grid, time, scheme and snapshot parameters; threads are left to the caller) for a wavelet and a model with
  !> velocities vmin..vmax [m/s]. model_d [m]: spacings along x, y, z where the job gives none.
  !>   dt      the largest stable one (less 2 % of what a homogeneous medium allows), unless given
  !>   weights those with the smallest group-velocity error up to fmax in vmin, unless coeffs_error or taylor are given
  !>   nt      from the begin of the wavelet to tmax and as far beyond as resampling and time correction look
  !> Fails on a time step above the limit, a grid too coarse for fmax (warns if dispersion=warn) and times without meaning, each
  !> with what would do. scheme%warnings holds what is allowed but should be known.
  !> Enters with what the physics alone knows: kinds of layers, histories, early, rock_top.
  subroutine SchemeDerive(job, wavelet, vmin, vmax, model_d, scheme, error)
    type(job_t), intent(in) :: job
    type(wavelet_t), intent(in) :: wavelet
    real(dp), intent(in) :: vmin, vmax, model_d(3)
    class(scheme_t), intent(inout) :: scheme
    type(error_t), allocatable, intent(inout) :: error
    call SchemeNew(scheme, job, wavelet)
    scheme%dx = merge(job%dx, model_d(1), job%dx > 0)
    if (job%axes(2)) scheme%dy = merge(job%dy, model_d(2), job%dy > 0)
    scheme%dz = merge(job%dz, model_d(3), job%dz > 0)
    scheme%vmin = vmin
    scheme%vmax = vmax
    call CheckNumbers(scheme, job, error)
    if (.not. allocated(error)) call ChooseWeights(scheme, job, error)
    if (.not. allocated(error)) call ChooseStep(scheme, job, error)
    call SchemeTimes(scheme, job, wavelet, error)
    if (.not. allocated(error)) call WarnOfGrid(scheme, job)
  end subroutine SchemeDerive

  !> First step, number of steps, output samples, and the samples of the source: for a time step and a band that are known.
  subroutine SchemeTimes(scheme, job, wavelet, error)
    class(scheme_t), intent(inout) :: scheme
    type(job_t), intent(in) :: job
    type(wavelet_t), intent(in) :: wavelet
    type(error_t), allocatable, intent(inout) :: error
    if (.not. allocated(error)) call ChooseTimes(scheme, job, wavelet, error)
    if (allocated(error)) return
    call WarnOfTimes(scheme, job)
    call WarnOfBand(scheme, wavelet)
    call SampleSource(scheme, wavelet)
  end subroutine SchemeTimes

  !> Copies what job and wavelet determine without the model.
  subroutine SchemeNew(scheme, job, wavelet)
    class(scheme_t), intent(inout) :: scheme
    type(job_t), intent(in) :: job
    type(wavelet_t), intent(in) :: wavelet
    scheme%warnings = ''
    scheme%fmax = wavelet%fmax
    scheme%fband = wavelet%fband
    scheme%fpeak = wavelet%fpeak
    scheme%dt_out = job%dt_out
    scheme%half_length = job%half_length
    scheme%npml = job%npml
    scheme%free_top = job%top == 'free'
    scheme%time_correction = job%time_correction
    scheme%exact_positions = job%positions == 'exact'
    scheme%ranks = max(1, job%group)
    scheme%threads = max(1, job%threads)
    scheme%snapshot = job%snapshot
    scheme%snapshot_step = job%snapshot_step
    scheme%components = job%components
    scheme%variant = job%variant
  end subroutine SchemeNew

  subroutine CheckNumbers(scheme, job, error)
    class(scheme_t), intent(in) :: scheme
    type(job_t), intent(in) :: job
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: least
    call Positive(scheme%dx, 'grid spacing dx', 'm')
    call Positive(scheme%dz, 'grid spacing dz', 'm')
    call Positive(scheme%vmin, 'smallest velocity of the model', 'm/s')
    call Positive(scheme%vmax, 'largest velocity of the model', 'm/s')
    call Positive(scheme%fmax, 'highest frequency fmax', 'Hz')
    call Positive(job%tmax, 'record length tmax', 's')
    call Positive(job%dt_out, 'sample interval dt_out', 's')
    if (allocated(error)) return
    if (scheme%vmin > scheme%vmax) call Fail(error, 'the smallest velocity of the model, '//Str(scheme%vmin)// &
                                             ' m/s, is above the largest, '//Str(scheme%vmax)//' m/s')
    least = min(scheme%dx, scheme%dz, merge(scheme%dy, scheme%dx, scheme%dy > 0))
    if (max(scheme%dx, scheme%dy, scheme%dz) > 100*least) &
      call Fail(error, 'spacings of '//SchemeSpacing(scheme)//' m differ more than a hundredfold: one of them must be a mistake')

  contains

    subroutine Positive(value, what, unit)
      real(dp), intent(in) :: value
      character(*), intent(in) :: what, unit
      if (.not. (value > 0 .and. value <= huge(value))) call Fail(error, what//' = '//Str(value)//' '//unit//' must be above 0')
    end subroutine Positive

  end subroutine CheckNumbers

  !> Weights, their error in band, points per wavelength; fails or warns where fmax in vmin is beyond what the weights carry.
  subroutine ChooseWeights(scheme, job, error)
    class(scheme_t), intent(inout) :: scheme
    type(job_t), intent(in) :: job
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: h, band, allowed, used, widest, best(8)
    character(:), allocatable :: text
    h = max(scheme%dx, scheme%dy, scheme%dz)
    scheme%ppw = scheme%vmin/(scheme%fmax*h)
    band = min(2*pi/scheme%ppw, 2*pi/least_ppw)
    call DerWeights(scheme%half_length, job%coeffs, job%coeffs_error, band, scheme%w, used, error)
    if (allocated(error)) return
    scheme%coeffs_error = DerLargestError(scheme%w(:scheme%half_length), band)
    allowed = merge(job%coeffs_error/100, tolerance, job%coeffs_error > 0)
    if (scheme%coeffs_error < 0.99_dp*allowed .and. scheme%ppw > least_ppw) return     ! the best weights reach further still
    call DerWeights(scheme%half_length, job%coeffs, 100*allowed, band, best, used, error)
    if (allocated(error)) return
    widest = DerBand(best(:scheme%half_length), allowed)
    if (2*pi/scheme%ppw <= widest*(1 + 1e-6_dp)) return
    text = 'the grid of '//SchemeSpacing(scheme)//' m is too coarse for fmax = '//Str(scheme%fmax, 4)// &
           ' Hz where '//trim(merge('v ', 'vp', scheme%dy > 0))//' = '//Str(scheme%vmin)//' m/s: '// &
           Str(scheme%ppw, 3)//' points per wavelength, but '//job%coeffs// &
           ' weights of half-length '//Str(scheme%half_length)//' need '//Str(2*pi/widest, 3)// &
           ' to keep the group velocity right to '//Str(100*allowed, 3)//' %; use a spacing of at most '// &
           StrAtMost(widest*scheme%vmin/(2*pi*scheme%fmax), 4)//' m, or '//SchemeLower(scheme, widest*scheme%vmin/(2*pi*h))
    if (scheme%half_length < SchemeHalfMost(scheme)) text = text//', or a larger half_length'
    if (scheme%ppw <= least_ppw) then
      call Fail(error, text//' (even dispersion=warn needs more than '//Str(least_ppw)//' points per wavelength)')
    else if (job%dispersion == 'warn') then
      call SchemeWarn(scheme, text)
    else
      call Fail(error, text//'; dispersion=warn models all the same')
    end if
  end subroutine ChooseWeights

  !> The remedy that lowers fmax to `carried` [Hz], in words: fmax itself, which a job takes down to the wavelet's peak.
  pure function SchemeLower(scheme, carried) result(words)
    class(scheme_t), intent(in) :: scheme
    real(dp), intent(in) :: carried
    character(:), allocatable :: words
    words = 'a wavelet that ends at '//StrAtMost(carried, 4)//' Hz'
    if (carried >= scheme%fpeak) words = 'fmax = '//StrAtMost(carried, 4)//' Hz or lower'
  end function SchemeLower

  !> The time step: the user's, or a little below the limit, and such that the source's band can be carried.
  subroutine ChooseStep(scheme, job, error)
    class(scheme_t), intent(inout) :: scheme
    type(job_t), intent(in) :: job
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: nyquist_limit
    if (scheme%rock_top) then
      scheme%dt_limit = SurfaceLimit(scheme%w(:scheme%half_length), scheme%dx, scheme%dy, scheme%dz, scheme%vmax)
    else if (scheme%dy > 0) then
      scheme%dt_limit = StabilityLimit(scheme%w(:scheme%half_length), scheme%dx, scheme%dz, scheme%vmax, scheme%dy)
    else
      scheme%dt_limit = StabilityLimit(scheme%w(:scheme%half_length), scheme%dx, scheme%dz, scheme%vmax)
    end if
    nyquist_limit = 0.28_dp/scheme%fmax                     ! the numerical frequency of fmax stays below 0.34/dt
    scheme%dt = job%dt
    if (job%dt <= 0) scheme%dt = min(part_of_limit*scheme%dt_limit, nyquist_limit)
    if (scheme%dt > scheme%dt_limit) then
      call Fail(error, 'dt = '//Str(scheme%dt)//' s is unstable: the limit is '//StrAtMost(scheme%dt_limit, 5)// &
                ' s for vp up to '//Str(scheme%vmax)//' m/s on a grid of '//SchemeSpacing(scheme)//' m; use dt=0 for the '// &
                'largest stable step')
    else if (scheme%dt > nyquist_limit) then
      call Fail(error, 'dt = '//Str(scheme%dt)//' s is too large for fmax = '//Str(scheme%fmax, 4)//' Hz: at most '// &
                StrAtMost(nyquist_limit, 4)//' s')
    end if
  end subroutine ChooseStep

  !> Start, number of steps, output samples.
  subroutine ChooseTimes(scheme, job, wavelet, error)
    class(scheme_t), intent(inout) :: scheme
    type(job_t), intent(in) :: job
    type(wavelet_t), intent(in) :: wavelet
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: tlast, begin, margin, steps
    if (job%tmax/job%dt_out >= 0.5_dp*huge(1)) then
      call Fail(error, 'tmax = '//Str(job%tmax)//' s at dt_out = '//Str(job%dt_out)//' s makes '//Str(job%tmax/job%dt_out)// &
                ' samples, more than can be counted: use a larger dt_out')
      return
    end if
    if (job%dt_out > job%tmax) then
      call Fail(error, 'dt_out = '//Str(job%dt_out)//' s is longer than the record, tmax = '//Str(job%tmax)//' s')
      return
    end if
    scheme%nt_out = Whole(Below(job%tmax/job%dt_out*(1 + 1e-9_dp)) + 1)
    tlast = (scheme%nt_out - 1)*scheme%dt_out
    if (wavelet%t0 >= tlast) then
      call Fail(error, 'the wavelet begins at '//Str(wavelet%t0, 4)//' s, after the record''s end at '//Str(tlast, 4)// &
                ' s, and every trace would be zero: use a smaller delay (now '//Str(job%delay)//' s) or a larger tmax')
      return
    end if
    if (scheme%histories .and. scheme%acts >= tlast) then
      call Fail(error, 'the fault begins to slip at '//Str(scheme%acts, 6)//' s, after the record''s end '// &
                'at '//Str(tlast, 4)//' s, and every trace would be zero: give a larger tmax, or times that begin near 0')
      return
    end if
    begin = wavelet%t_begin - 4/(1.25_dp*scheme%fband)                           ! the wavelet's filtered foot
    if (scheme%histories) begin = min(begin, HistoriesFoot(scheme))
    scheme%t_start = -scheme%dt*Above(-begin/scheme%dt)
    margin = TraceMargin(scheme%fband, scheme%dt, scheme%dt_out, tlast - scheme%t_start, scheme%time_correction)
    steps = (tlast + margin - scheme%t_start)/scheme%dt + 1
    if (steps > most_steps) then
      call Fail(error, 'from '//Str(scheme%t_start, 3)//' s, where the '// &
                trim(merge('fault  ', 'wavelet', scheme%histories))//' begins, to tmax = '//Str(job%tmax)// &
                ' s it is '// &
                Str(steps, 3)//' steps of dt = '//Str(scheme%dt)// &
                ' s, more than '//Str(most_steps)//Advice())
      return
    end if
    scheme%nt = Whole(Above(steps))
    if (.not. allocated(wavelet%q)) return
    if (wavelet%t0 + (maxloc(abs(wavelet%q), 1) - 1)*wavelet%dt > tlast) &
      call SchemeWarn(scheme, 'the peak of the wavelet, at '//Str(wavelet%t0 + (maxloc(abs(wavelet%q), 1) - 1)*wavelet%dt, 4)// &
                ' s, comes after the record''s end at '//Str(tlast, 4)//' s: the traces show its beginning at most; give a '// &
                'larger tmax or a smaller delay, and times of a wavelet file in s')

  contains

    function Advice()
      character(:), allocatable :: Advice
      Advice = ': check the length of the wavelet (its frequency, delay), tmax, and what dt follows from: the velocities and '// &
               'the grid spacing'
      if (job%dt > 0) Advice = ': check dt, the length of the wavelet (its frequency, delay) and tmax'
    end function Advice
  end subroutine ChooseTimes

  !> The time when histories begin to act [s]: filtered ones begin earlier, and those that begin with a jump would lose 1 % of
  !> their moment were that cut off.
  pure real(dp) function HistoriesFoot(scheme) result(t)
    class(scheme_t), intent(in) :: scheme
    t = scheme%acts
    if (scheme%time_correction) t = t - TimedispReach(scheme%fband, scheme%dt)
  end function HistoriesFoot

  !> Warns of what is allowed but should be known.
  subroutine WarnOfTimes(scheme, job)
    class(scheme_t), intent(inout) :: scheme
    type(job_t), intent(in) :: job
    real(dp) :: turns
    if (scheme%fmax > 0.4_dp/scheme%dt_out) &
      call SchemeWarn(scheme, 'dt_out = '//Str(scheme%dt_out)//' s cannot hold frequencies up to fmax = '//Str(scheme%fmax, 4)// &
                ' Hz: the traces are cut above '//Str(0.4_dp/scheme%dt_out, 4)//' Hz; dt_out = '// &
                StrAtMost(0.4_dp/scheme%fmax, 3)//' s or less keeps all')
    turns = scheme%fmax*job%tmax*(2*pi*scheme%fmax*scheme%dt)**2/24
    if (.not. scheme%time_correction .and. turns > 0.05_dp) &
      call SchemeWarn(scheme, 'without time_correction the time step of '//Str(scheme%dt, 4)//' s brings the end of the record '// &
                Str(turns, 2)//' periods of fmax too early: use time_correction=yes or a smaller dt')
  end subroutine WarnOfTimes

  !> Warns of a wavelet that goes on, above an fmax that was given, where the grid carries no wave or the steps no source.
  subroutine WarnOfBand(scheme, wavelet)
    class(scheme_t), intent(inout) :: scheme
    type(wavelet_t), intent(in) :: wavelet
    integer, parameter :: places = 100
    real(dp), parameter :: little = 0.01_dp       ! of the peak: where fmax is, unless it is given
    real(dp) :: ends, part
    integer :: i
    if (scheme%histories .or. .not. scheme%ppw > 0 .or. .not. allocated(wavelet%q)) return
    ends = min(0.5_dp*scheme%ppw*scheme%fmax, merge(0.31_dp, 0.5_dp, scheme%time_correction)/scheme%dt)
    if (.not. wavelet%fband > ends) return
    part = maxval(abs(WaveletSpectrum(wavelet, [(ends + (wavelet%fband - ends)*i/places, i=0, places)])))/ &
           max(WaveletPeak(wavelet), tiny(part))
    if (part > little) call SchemeWarn(scheme, 'the wavelet goes on above fmax = '//Str(scheme%fmax, 4)//' Hz: from '// &
      Str(ends, 4)//' Hz on, with up to '//Str(100*part, 2)//' % of the peak of its spectrum, where '// &
      'the grid carries no wave right, and traces have noise there; low-pass wavelet or traces, or use a finer grid')
  end subroutine WarnOfBand

  !> Warns of grids and layers that are allowed but should be known.
  subroutine WarnOfGrid(scheme, job)
    class(scheme_t), intent(inout) :: scheme
    type(job_t), intent(in) :: job
    real(dp) :: turns, wide
    turns = scheme%coeffs_error*scheme%fmax*job%tmax
    if (turns > 0.25_dp) &
      call SchemeWarn(scheme, 'the weights of half-length '//Str(scheme%half_length)//' keep the group velocity right to '// &
                Str(100*scheme%coeffs_error, 2)//' % up to fmax: at the end of the record that is '//Str(turns, 2)// &
                ' periods of fmax; a finer grid or a larger half_length makes it less')
    if (scheme%npml == 0) &
      call SchemeWarn(scheme, 'npml = 0: the sides of the model reflect everything')
    if (scheme%npml > 0 .and. scheme%npml < 8) &
      call SchemeWarn(scheme, 'npml = '//Str(scheme%npml)//' cells absorb little: 20 keep reflections below -60 dB')
    wide = scheme%npml*max(scheme%dx, scheme%dy, scheme%dz)
    if (scheme%sponge .and. scheme%npml > 0 .and. wide < 0.5_dp*scheme%vmax/scheme%fpeak) &
      call SchemeWarn(scheme, 'absorb=sponge: its '//Str(scheme%npml)//' cells, at most '//Str(wide, 4)// &
                ' m, are less than half of the longest wavelength at the peak frequency, '// &
                Str(scheme%vmax/scheme%fpeak, 4)//' m: they reflect some per cent, the thinner the more; use absorb=pml, '// &
                'or a larger npml')
  end subroutine WarnOfGrid

  !> One more line of warnings.
  subroutine SchemeWarn(scheme, text)
    class(scheme_t), intent(inout) :: scheme
    character(*), intent(in) :: text
    if (len(scheme%warnings) > 0) scheme%warnings = scheme%warnings//new_line('a')
    scheme%warnings = scheme%warnings//text
  end subroutine SchemeWarn

  !> Q at t_start + (n-½) dt; its spectrum such that the scheme's time error cancels, if that is wanted.
  subroutine SampleSource(scheme, wavelet)
    class(scheme_t), intent(inout) :: scheme
    type(wavelet_t), intent(in) :: wavelet
    integer :: n
    if (allocated(scheme%q)) deallocate (scheme%q)
    allocate (scheme%q(scheme%nt), source=0.0_sp)
    if (scheme%histories) return
    if (scheme%time_correction) then
      call TimedispSource(wavelet, scheme%t_start, scheme%dt, scheme%q, scheme%early*scheme%dt)
    else
      do n = 1, scheme%nt
        scheme%q(n) = real(WaveletValue(wavelet, scheme%t_start + (n - 0.5_dp)*scheme%dt - scheme%early*scheme%dt), sp)
      end do
    end if
  end subroutine SampleSource

end module scheme_m
