!> Every reader of files and messages that others may have written, behind one door: any bytes in, read or refused out.
!>
!> tests/fuzz/README.md tells what the bytes mean to each reader. To add one: a procedure here or in a file beside, its name in
!> FuzzOne, and a folder of that name with a few small files in tests/fuzz/corpus.
module readers_m
  use acoustic2d_m, only: acoustic2d_t
  use elastic3d_m, only: elastic3d_t
  use elements3d_m, only: elements3d_t
  use error_m, only: error_t
  use iso_c_binding, only: c_char, c_int
  use job_m, only: JobFromText, JobRead
  use keymap_m, only: keymap_t, KeymapFind, KeymapRead, KeymapShot
  use kinds_m, only: dp, i8
  use parameters_m, only: job_t
  use physics_m, only: physics_t
  use readerparts_m, only: Contradiction, lf, Put, refused, Split, taken, Text, Verdict
  use readers3d_m, only: Exodus, Fault, Layers, Materials, Stack
  use readers_kept_m, only: Lock, Notes, Snapshots, State
  use scheme_m, only: scheme_t, SchemeDerive, SchemeGrid
  use shot_m, only: shot_t
  use source3d_m, only: source3d_t, SourceDerive
  use parameter_table_m, only: table_t
  use parameter_help_m, only: TableText
  use text_m, only: Lower, NearestName, Str, ToInt, ToReal
  use textfile_m, only: IntegerOf, NumberOf, Shown
  use wavelet_file_m, only: WavefileRead
  use wavelet_m, only: wavelet_t, WaveletMake
  use readers_models_m, only: Netcdf, Raw
  use readers_output_m, only: Gathers, Journal
  use readers_messages_m, only: Messages, Start
  implicit none
  private
  public :: FuzzOne

  type(acoustic2d_t), target :: acoustic2d
  type(elastic3d_t), target :: elastic3d
  type(elements3d_t), target :: elements3d

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

end module readers_m
