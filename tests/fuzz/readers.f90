!> Every reader of files and messages that others may have written, behind one door: any bytes in, read or refused out.
!>
!> tests/fuzz/README.md tells what the bytes mean to each reader. To add one: a procedure here, its name in FuzzReaders and in
!> FuzzOne, and a folder of that name with a few small files in tests/fuzz/corpus.
module readers_m
  use acoustic2d_m, only: acoustic2d_t
  use checked_m, only: Whole
  use elastic3d_m, only: elastic3d_t
  use elements3d_m, only: elements3d_t
  use error_m, only: error_t
  use fio_c, only: fio_put_longs
  use fio_m, only: fio_t, FioClose, FioGet, FioOpen, FioStatus, FioVerify
  use fioget_m, only: SumSlot
  use fiofile_m, only: computed, geometry
  use files_m, only: Crc32, Hex
  use gather_m, only: gather_t
  use iso_c_binding, only: c_char, c_int, c_long
  use job_m, only: JobFromText, JobRead
  use journal_m, only: journal_done, journal_t, JournalAppend, JournalClose, JournalOpen, JournalRead
  use keymap_m, only: keymap_t, KeymapFind, KeymapRead, KeymapShot
  use kinds_m, only: dp, i8, sp
  use message_check_m, only: MessageProblem
  use shot_messages_m, only: GatherFrom, ModelFrom, ChecksumMessage, ShotFrom, SnapsFrom, VerdictFrom, WindowFrom
  use model_m, only: model_t, ModelRead
  use model_window_m, only: ModelGrid, ModelShape, ModelWindow
  use model3d_m, only: model3d_t, Model3dRead
  use model3d_window_m, only: Model3dGrid, Model3dShape, Model3dWindow
  use parameters_m, only: job_t
  use physics_m, only: physics_t
  use protocol_m, only: message_t, MSG_GATHER, MSG_MODEL, MSG_SHOT, MSG_SNAPS, MSG_START, MSG_WRITTEN
  use readerparts_m, only: Contradiction, lf, Put, refused, Split, taken, Text, Verdict
  use readers3d_m, only: Exodus, Fault, Layers, Materials, Stack
  use readers_kept_m, only: Lock, Notes, Snapshots, State
  use runnote_m, only: begun_t, BegunRead, ended_t, EndedRead
  use scheme_m, only: scheme_t, SchemeDerive, SchemeGrid
  use shot_m, only: shot_t
  use source3d_m, only: source3d_t, SourceDerive
  use scheme_message_m, only: SchemeFrom, SchemeMessage
  use parameter_table_m, only: table_t
  use parameter_help_m, only: TableText
  use text_m, only: CString, Lower, NearestName, Str, ToInt, ToReal
  use textfile_m, only: IntegerOf, NumberOf, Shown
  use wavelet_file_m, only: WavefileRead
  use wavelet_m, only: wavelet_t, WaveletMake
  use window_m, only: box_t, window_t
  implicit none
  private
  public :: FuzzOne, FuzzReaders

  character(*), parameter :: FuzzReaders = 'numbers params params3d scheme scheme3d arguments keymap journal raw volumes netcdf '// &
                                         'netcdf3d wavelet gathers snapshots messages start state lock notes fault layers exodus'

  type(acoustic2d_t), target :: acoustic2d
  type(elastic3d_t), target :: elastic3d
  type(elements3d_t), target :: elements3d

  type, bind(c) :: layout_t                      !< struct fio_layout
    integer(c_long) :: header, total, begin, bytes, records
    integer(c_int) :: kind
  end type layout_t

  interface
    integer(c_int) function fio_layout_read(path, var, layout) bind(c)
      import :: c_int, c_char, layout_t
      implicit none
      character(kind=c_char), intent(in) :: path(*), var(*)
      type(layout_t), intent(out) :: layout
    end function fio_layout_read
    integer(c_int) function fio_header_sum(path, n, crc, total) bind(c)
      import :: c_int, c_long, c_char
      implicit none
      character(kind=c_char), intent(in) :: path(*)
      integer(c_long), intent(out) :: n, crc, total
    end function fio_header_sum
  end interface

contains

  !> Gives `bytes` to the reader called `name`, which may write into `folder`. 1: read; 0: refused with a sentence; -1: neither,
  !> or what was read contradicts itself, `why` on standard output; -2: there is no such reader.
  integer(c_int) function FuzzOne(name, nname, folder, nfolder, bytes, n) result(outcome) bind(c, name='fuzz_one')
    integer(c_int), value :: nname, nfolder, n
    character(kind=c_char), intent(in) :: name(nname), folder(nfolder), bytes(n)
    character(:), allocatable :: input, at
    input = Text(bytes)
    at = Text(folder)//'/'
    select case (Text(name))
    case ('numbers')
      outcome = Numbers(input)
    case ('params')
      outcome = Params(input, acoustic2d)
    case ('params3d')
      outcome = Params(input, elastic3d)
    case ('scheme')
      outcome = Scheme(input, acoustic2d, at)
    case ('scheme3d')
      outcome = Scheme(input, elastic3d, at)
    case ('arguments')
      outcome = Arguments(input, at)
    case ('keymap')
      outcome = Keymap(input, at)
    case ('journal')
      outcome = Journal(input, at)
    case ('raw')
      outcome = Raw(input, at, .false.)
    case ('volumes')
      outcome = Raw(input, at, .true.)
    case ('netcdf')
      outcome = Netcdf(input, at, .false.)
    case ('netcdf3d')
      outcome = Netcdf(input, at, .true.)
    case ('wavelet')
      outcome = Wavelet(input, at)
    case ('gathers')
      outcome = Gathers(input, at)
    case ('messages')
      outcome = Messages(input)
    case ('start')
      outcome = Start(input)
    case ('state')
      outcome = State(input, at)
    case ('lock')
      outcome = Lock(input, at)
    case ('notes')
      outcome = Notes(input, at)
    case ('snapshots')
      outcome = Snapshots(input, at)
    case ('fault')
      outcome = Fault(input, at)
    case ('layers')
      outcome = Layers(input, at)
    case ('exodus')
      outcome = Exodus(input, at)
    case ('materials')
      outcome = Materials(input, at)
    case ('stack')
      outcome = Stack(input, at)
    case ('params-sem')
      outcome = Params(input, elements3d)
    case default
      outcome = -2
    end select
  end function FuzzOne

  ! --- texts ---------------------------------------------------------------------------------------------------------

  !> The two readers of numbers agree, and what is printed reads back.
  integer(c_int) function Numbers(input) result(outcome)
    character(*), intent(in) :: input
    character(:), allocatable :: back
    real(dp) :: a, b
    integer(i8) :: long
    integer :: i
    logical :: ok(4)
    call ToReal(input, a, ok(1))
    call NumberOf(input, b, ok(2))
    call ToInt(input, i, ok(3))
    call IntegerOf(input, long, ok(4))
    outcome = merge(taken, refused, any(ok))
    if (ok(1) .and. ok(2) .and. len_trim(input) == len(input)) then
      if (a /= b) outcome = Contradiction('a number is '//Str(a, 17)//' and '//Str(b, 17))
      call ToReal(Str(a, 17), b, ok(2))
      if (.not. ok(2) .or. abs(a - b) > 1.0e-15_dp*abs(a)) outcome = Contradiction(Str(a, 17)//' does not read back')
    end if
    if (ok(3) .and. ok(4)) then
      if (long /= i) outcome = Contradiction('an integer is '//Str(i)//' and '//Str(long))
    end if
    back = Shown(input)//Lower(input)//NearestName(input(:min(len(input), 32)), ['half_length', 'overwrite  '])
    if (len(back) < len(input)) outcome = Contradiction('a text was lost')
  end function Numbers

  !> A parameter file; the resolved parameters of a job must give the same job again.
  integer(c_int) function Params(input, physics) result(outcome)
    character(*), intent(in) :: input
    class(physics_t), intent(inout) :: physics
    type(table_t) :: t, t2
    type(job_t) :: job, job2
    type(error_t), allocatable :: error
    integer :: i
    call JobFromText(physics, input, job, t, error)
    outcome = Verdict(error)
    if (outcome /= taken) return
    call JobFromText(physics, TableText(t), job2, t2, error)
    if (allocated(error)) then
      outcome = Contradiction('resolved parameters do not read back: '//error%message)
      return
    end if
    do i = 1, t%n
      if (t%row(i)%value /= t2%row(i)%value) outcome = Contradiction(t%row(i)%name//' does not read back')
    end do
  end function Params

  !> A parameter file, for a model of 1500 .. 4500 m/s: wavelet, time step, weights and sizes that follow from it.
  integer(c_int) function Scheme(input, physics, at) result(outcome)
    character(*), intent(in) :: input, at
    class(physics_t), intent(inout) :: physics
    type(table_t) :: t
    type(job_t) :: job
    type(wavelet_t) :: wavelet
    type(scheme_t) :: derived
    type(source3d_t) :: source
    type(error_t), allocatable :: error
    integer :: n(2)
    call JobFromText(physics, input, job, t, error)
    if (.not. allocated(error)) then
      if (job%fault /= '') job%fault = at//'none'
      if (job%wavelet == 'file') job%wavelet = 'ormsby'
      if (job%tmax/job%dt_out > 1.0e5_dp) job%dt_out = job%tmax/1.0e5_dp      ! larger ones only take longer
      call WaveletMake(job, wavelet, error)
    end if
    if (job%axes(2) .and. .not. allocated(error)) call SourceDerive(job, source, error)
    if (.not. allocated(error)) call SchemeDerive(job, wavelet, 1500.0_dp, 4500.0_dp, [10.0_dp, 10.0_dp, 10.0_dp], derived, error)
    outcome = Verdict(error)
    if (outcome /= taken) return
    n = SchemeGrid(derived, 1000, 1000)
    if (.not. (derived%dt > 0 .and. derived%dt <= 1) .or. derived%nt < 1 .or. derived%nt_out < 1 .or. minval(n) < 1000 .or. &
        .not. all(abs(derived%q) <= huge(1.0)) .or. size(derived%q) /= derived%nt) outcome = Contradiction('no scheme')
  end function Scheme

  !> A command line, a word a line, behind the separator the parameter file that par=F names. The verb is plan, or status where
  !> that is the first line: it looks at no files.
  integer(c_int) function Arguments(input, at) result(outcome)
    character(*), intent(in) :: input, at
    character(:), allocatable :: rest, word, file
    character(4200) :: words(64)
    type(table_t) :: t
    type(job_t) :: job
    type(error_t), allocatable :: error
    integer :: n, last
    call Split(input, rest, file)
    if (index(rest, 'status'//lf) == 1) rest = rest(8:)
    n = 0
    do while (n < size(words) .and. rest /= '')
      last = index(rest//lf, lf)
      word = rest(:last - 1)
      rest = rest(min(last, len(rest)) + 1:)
      n = n + 1
      words(n) = word
      if (word /= 'par=F') cycle
      words(n) = 'par='//at//'F'
      call Put(at//'F', file)
    end do
    call JobRead(acoustic2d, words(:n), trim(merge('status', 'plan  ', index(input, 'status') == 1)), job, t, error)
    outcome = Verdict(error)
  end function Arguments

  !> The key-map, behind the separator the file own.txt that it may name. A map that is read must give its shots.
  integer(c_int) function Keymap(input, at) result(outcome)
    character(*), intent(in) :: input, at
    character(:), allocatable :: map, list
    type(keymap_t) :: keys
    type(shot_t) :: shot
    type(error_t), allocatable :: error
    integer, parameter :: few = 3
    integer :: i, step
    integer(i8) :: traces
    call Split(input, map, list)
    call Put(at//'k.map', map)
    call Put(at//'own.txt', list)
    call KeymapRead(keys, at//'k.map', error)
    outcome = Verdict(error)
    if (outcome /= taken) return
    step = merge(1, max(1, keys%n - 1), keys%n <= few)
    traces = 0
    do i = 1, keys%n, step
      call KeymapShot(keys, i, shot)
      traces = traces + size(shot%rx)
      if (size(shot%rx) > keys%nrec_max .or. any(abs(shot%rx) > 3.0e8_dp)) outcome = Contradiction('receivers of shot '//Str(i))
      if (KeymapFind(keys, shot%record) /= i) outcome = Contradiction('shot '//Str(i)//' is not found again')
    end do
    if (step == 1 .and. traces /= keys%ntraces) outcome = Contradiction('receivers of all shots')
  end function Keymap

  !> A journal. Behind a first '+' the lines come without their checksums, which are put in. Reading must not fail where a run goes
  !> on with it, and an event appended must be there afterwards.
  integer(c_int) function Journal(input, at) result(outcome)
    character(*), intent(in) :: input, at
    integer, parameter :: records(5) = [1, 2, 3, 7, 2147483647]
    type(journal_t) :: j
    type(error_t), allocatable :: error
    type(begun_t) :: begun
    type(ended_t) :: ended
    integer :: k
    call Put(at//'j', WithChecksums(input))
    call JournalRead(j, at//'j', error)
    outcome = Verdict(error)
    if (allocated(error)) deallocate (error)
    call BegunRead(j%begun, begun)
    call EndedRead(j%ended, ended)
    if (ended%exit_status < -1 .or. min(begun%ranks, begun%nodes) < 0) then
      outcome = Contradiction('a run has a number that cannot be')
      return
    end if
    call JournalClose(j)
    call JournalOpen(j, at//'j', 'f', records, .false., error)
    if (.not. allocated(error)) call JournalAppend(j, 'done', 7, 1, 1, 'host', 1.0_dp, '', error, int(z'1234', i8))
    call JournalClose(j)
    if (allocated(error)) then
      outcome = min(outcome, Verdict(error))
      return
    end if
    call JournalRead(j, at//'j', error)
    if (allocated(error)) then
      outcome = Contradiction('a journal that a run goes on with cannot be read: '//error%message)
      return
    end if
    k = findloc(j%entry(:j%n)%record, 7, 1)
    if (k == 0) then
      outcome = Contradiction('a shot done is forgotten')
    else if (j%entry(k)%status /= journal_done .or. j%entry(k)%checksum /= int(z'1234', i8)) then
      outcome = Contradiction('a shot done is not done')
    end if
    call JournalClose(j)
  end function Journal

  function WithChecksums(input) result(text)
    character(*), intent(in) :: input
    character(:), allocatable :: text
    integer :: first, last
    text = input
    if (index(input, '+') /= 1) return
    text = ''
    first = 2
    do while (first <= len(input))
      last = index(input(first:), lf) + first - 2
      if (last < first - 1) last = len(input)
      text = text//Hex(Crc32(input(first:last)))//' '//input(first:min(len(input), last + 1))
      first = last + 2
    end do
  end function WithChecksums

  integer(c_int) function Wavelet(input, at) result(outcome)
    character(*), intent(in) :: input, at
    type(error_t), allocatable :: error
    real(dp), allocatable :: samples(:)
    type(job_t), save :: job
    type(table_t) :: t
    type(wavelet_t) :: wave
    real(dp) :: t0, dt
    call Put(at//'w', input)
    call WavefileRead(at//'w', 0.002_dp, samples, t0, dt, error)
    outcome = Verdict(error)
    if (outcome /= taken) return
    if (.not. dt > 0 .or. size(samples) < 4) outcome = Contradiction('a wavelet without interval or samples')
    if (size(samples) > 16) return               ! the spectrum takes long
    if (.not. allocated(job%wavelet)) call JobFromText(acoustic2d, '', job, t, error)
    job%wavelet = 'file'
    job%wavelet_file = at//'w'
    job%wavelet_dt = 0.002_dp
    if (abs(dt - 0.002_dp) > 0) job%wavelet_dt = 0
    call WaveletMake(job, wave, error)
    outcome = min(outcome, Verdict(error))
    if (outcome /= taken) return
    if (.not. (wave%fmax > 0 .and. wave%fband >= wave%fmax .and. wave%t_begin <= 0)) outcome = Contradiction('a wavelet without band')
  end function Wavelet

  ! --- models --------------------------------------------------------------------------------------------------------

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
    type(model_t) :: model
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

  ! --- gathers -------------------------------------------------------------------------------------------------------

  !> A file of gathers. Behind a first '+' its header gets its checksum anew, behind '#' its shots too, so that damage is not seen by
  !> checksums.
  integer(c_int) function Gathers(input, at) result(outcome)
    character(*), intent(in) :: input, at
    character(:), allocatable :: path
    type(fio_t) :: fio
    type(gather_t) :: gather
    type(error_t), allocatable :: error
    integer(i8) :: checksum
    integer, allocatable :: status(:)
    integer :: slot
    path = at//'g.nc'
    if (scan(input(:min(1, len(input))), '+#') == 1) then
      call Put(path, input(2:))
      call ChecksumHeader(path)
      if (input(1:1) == '#') call ChecksumShots(path)
    else
      call Put(path, input)
    end if
    call FioOpen(fio, path, error, readonly=.true.)
    outcome = Verdict(error)
    if (outcome /= taken) return
    call FioStatus(fio, status, error)
    if (allocated(error)) deallocate (error)
    do slot = 1, min(fio%nshots, 20)
      call FioVerify(fio, slot, checksum, error)
      if (.not. allocated(error)) call FioGet(fio, slot, gather, error)
      outcome = min(outcome, Verdict(error))
      if (allocated(error)) deallocate (error)
    end do
    call FioClose(fio, error)
  end function Gathers

  subroutine ChecksumHeader(path)
    character(*), intent(in) :: path
    type(layout_t) :: l
    integer(c_long) :: n, crc, total
    if (fio_header_sum(CString(path), n, crc, total) /= 0) return
    if (fio_layout_read(CString(path), CString('header_bytes'), l) /= 0) return
    if (l%begin >= 0 .and. l%begin < 100000000) call Patch(path, l%begin, n, 8)
    if (fio_layout_read(CString(path), CString('header_crc32'), l) /= 0) return
    if (l%begin >= 0 .and. l%begin < 100000000) call Patch(path, l%begin, crc, 4)
  end subroutine ChecksumHeader

  !> Puts the low bytes of `value`, most significant first, behind the first `at` bytes of the file.
  subroutine Patch(path, at, value, width)
    character(*), intent(in) :: path
    integer(c_long), intent(in) :: at, value
    integer, intent(in) :: width
    character(width) :: bytes
    integer :: unit, i, io
    do i = 1, width
      bytes(i:i) = achar(ibits(value, 8*(width - i), 8))
    end do
    open (newunit=unit, file=path, access='stream', form='unformatted', action='readwrite', status='old', iostat=io)
    if (io == 0) write (unit, pos=at + 1, iostat=io) bytes
    close (unit, iostat=io)
  end subroutine Patch

  subroutine ChecksumShots(path)
    character(*), intent(in) :: path
    type(fio_t) :: fio
    type(error_t), allocatable :: error
    integer(i8) :: crc(2)
    integer :: slot, c
    call FioOpen(fio, path, error)
    if (allocated(error)) return
    do slot = 1, min(fio%nshots, 20)
      crc = 0
      call SumSlot(fio, geometry, slot, crc(1), error)
      do c = 1, fio%ncomp
        call SumSlot(fio, trim(fio%variable(c)), slot, crc(1), error)
      end do
      call SumSlot(fio, computed, slot, crc(2), error)
      if (allocated(error)) exit
      if (fio_put_longs(fio%handle, CString('checksum'), [slot - 1_i8], [1_i8], crc(1:1)) /= 0) exit
      if (fio_put_longs(fio%handle, CString('run_checksum'), [slot - 1_i8], [1_i8], crc(2:2)) /= 0) exit
    end do
    if (allocated(error)) deallocate (error)
    call FioClose(fio, error)
  end subroutine ChecksumShots

  ! --- messages ------------------------------------------------------------------------------------------------------

  !> A message as text: kind, how many positions and samples come with it, its numbers; behind the separator its text, behind the
  !> next its reals, then the positions, which repeat (TakeReals). A message found sound must be understood, on either side, without
  !> a check failing. A checksum of 0 becomes the right one.
  integer(c_int) function Messages(input) result(outcome)
    character(*), intent(in) :: input
    type(message_t) :: m
    type(shot_t) :: shot
    type(window_t) :: window
    type(gather_t) :: gather
    type(error_t), allocatable :: error
    character(:), allocatable :: head, words, rest, reals_text
    integer(i8) :: number(3 + size(m%n))
    real(dp) :: reals(60)
    type(box_t) :: box
    integer :: record, slot, kind, last, n, i
    logical :: flag
    call Split(input, head, rest)
    call Split(rest, words, reals_text)
    call TakeNumbers(head, number)
    call TakeReals(reals_text, reals, n)
    m%kind = int(max(-2_i8, min(99_i8, number(1))))
    m%n = number(4:)
    m%x = 1
    m%x(:min(n, size(m%x))) = reals(:min(n, size(m%x)))
    allocate (m%places(max(0_i8, min(3000_i8, number(2)))), m%fields(max(0_i8, min(3000_i8, number(3)))))
    n = max(1, n - size(m%x))
    if (n > 1) m%places = [(reals(size(m%x) + 1 + mod(i - 1, n)), i=1, size(m%places))]
    if (n == 1) m%places = 7
    m%fields = 1
    m%text = words
    if (m%n(11) == 0) call ChecksumMessage(m)
    outcome = refused
    last = 0
    if (MessageProblem(m) == '') then
      outcome = taken
      if (m%kind == MSG_SHOT) call ShotFrom(m, shot, window, flag, error)
      if (m%kind == MSG_MODEL) call WindowFrom(m, box_t(1, 20), 1, window, last, flag, error)
      if (m%kind == MSG_WRITTEN) call VerdictFrom(m, kind, record, slot)
    end if
    if (MessageProblem(m, 3, 5) == '') then
      outcome = taken
      if (m%kind == MSG_MODEL) call ModelFrom(m, record, slot, box)
      if (m%kind == MSG_SNAPS) call SnapsFrom(m, gather, error)
      if (m%kind == MSG_GATHER) call GatherFrom(m, gather, error)
      if (m%kind == MSG_GATHER .and. (gather%slot < 1 .or. gather%slot > 5)) outcome = Contradiction('a slot of no shot')
    end if
    if (allocated(error) .and. outcome == taken) outcome = refused
  end function Messages

  !> START as text: exit status, samples of the source and of a fault, then its numbers; behind the separator components, variant and
  !> the words of a 3D scheme. A START that is taken must give a scheme that makes the same START again.
  integer(c_int) function Start(input) result(outcome)
    character(*), intent(in) :: input
    type(message_t) :: m, back
    class(scheme_t), allocatable :: scheme
    type(error_t), allocatable :: error
    character(:), allocatable :: head, words
    real(dp) :: number(200)
    integer :: status, n
    call Split(input, head, words)
    call TakeReals(head, number, n)
    m = message_t(kind=MSG_START, text=words)
    allocate (m%places, source=number(4:max(3, n)))
    m%n(1:3) = [Whole(number(1)), max(0, n - 33), Whole(number(3))]
    allocate (m%fields(Whole(number(2), 0, 3000)), source=1.0)
    call ChecksumMessage(m)
    outcome = refused
    if (MessageProblem(m) /= '') return
    call elastic3d%introduce()
    call acoustic2d%introduce()
    if (m%n(2) > 0) then
      call elastic3d%new_scheme(scheme)
      call SchemeFrom(m, elastic3d, status, scheme, error)
    else
      call acoustic2d%new_scheme(scheme)
      call SchemeFrom(m, acoustic2d, status, scheme, error)
    end if
    outcome = Verdict(error)
    if (outcome /= taken .or. status /= 0) return
    call SchemeMessage(0, scheme, back)
    if (size(back%places) /= size(m%places) .or. any(abs(back%places - m%places) > 0) .or. back%text /= m%text .or. scheme%half_length < 1 .or. scheme%nt < 1) &
      outcome = Contradiction('a scheme that is another one')
  end function Start

  !> Whole numbers between blanks; what is none is 0.
  subroutine TakeNumbers(line, number)
    character(*), intent(in) :: line
    integer(i8), intent(out) :: number(:)
    character(:), allocatable :: rest
    integer :: i
    logical :: ok
    rest = line
    number = 0
    do i = 1, size(number)
      if (rest == '') return
      call IntegerOf(NextWord(rest), number(i), ok)
    end do
  end subroutine TakeNumbers

  !> The same for the first `n` real numbers; n, s and i are NaN, a signalling one, and infinity.
  subroutine TakeReals(line, number, n)
    character(*), intent(in) :: line
    real(dp), intent(out) :: number(:)
    integer, intent(out) :: n
    character(:), allocatable :: rest, word
    logical :: ok
    rest = line
    number = 0
    do n = 0, size(number) - 1
      if (rest == '') return
      word = NextWord(rest)
      call NumberOf(word, number(n + 1), ok)
      if (.not. ok .and. word == 'n') number(n + 1) = transfer(int(z'7ff8000000000000', i8), 0.0_dp)
      if (.not. ok .and. word == 's') number(n + 1) = transfer(int(z'7ff0000000000001', i8), 0.0_dp)
      if (.not. ok .and. word == 'i') number(n + 1) = transfer(int(z'7ff0000000000000', i8), 0.0_dp)
    end do
  end subroutine TakeReals

  !> Takes the first word away from a line that is not empty.
  function NextWord(rest) result(word)
    character(:), allocatable, intent(inout) :: rest
    character(:), allocatable :: word
    integer :: last
    rest = rest(verify(rest, ' '):)
    last = index(rest//' ', ' ') - 1
    word = rest(:last)
    rest = rest(last + 1:)
  end function NextWord

end module readers_m
