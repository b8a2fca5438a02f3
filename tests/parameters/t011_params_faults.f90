!> Every bad deck is refused with one sentence a fault that tells the value, the limit and what to do; all faults at once.
program t011_params_faults
  use acoustic2d_m, only: acoustic2d_t
  use check_m, only: Claim, ClaimFails, ClaimFine, Done
  use error_m, only: error_t
  use job_m, only: JobRead
  use parameters_m, only: job_t
  use physics_m, only: JobTable
  use parameter_table_m, only: table_t, TableCheck, TableReadText
  use put_m, only: Put
  use text_m, only: Join, Str
  implicit none
  type(acoustic2d_t) :: physics
  character(*), parameter :: lf = achar(10)
  type(error_t), allocatable :: error
  integer :: distinct = 0

  call Numbers()
  call WordsAndFlags()
  call PlainText()
  call NamelistText()
  call CommandLine()
  call Together()
  call Scheme()
  call Builds()
  call Many()
  call Claim(distinct >= 70, Str(distinct)//' distinct faults (at least 70)')
  call Done()

contains

  subroutine Numbers()
    call Bad('dx = 10m', 'give the number alone, in m')
    call Bad('dx = 10 m', 'give the number alone, in m')
    call Bad('tmax = 4s', 'give the number alone, in s')
    call Bad('dx = ten', 'is not a number: give 0..10000 m')
    call Bad('dx = 10,5', 'write decimals with a point')
    call Bad('dx = 10,', 'no comma behind it')
    call Bad('depth = 1,000', 'thousands without a comma')
    call Bad('depth = 1 000', 'write one number without blanks inside')
    call Bad('dx = 1-3', 'is not a number')
    call Bad('dx = 3*10', 'is not a number')
    call Bad('dx = nan', 'is not a number')
    call Bad('dx = inf', 'is not a number')
    call Bad('dx = 1e', 'is not a number')
    call Bad('dx = --1', 'is not a number')
    call Bad('amplitude = 1e400', 'is too large or too small')
    call Bad('amplitude = 1e-400', 'is too large or too small')
    call Bad('dx = -5', 'dx = -5 m (bad.par:1) is out of range: give 0..10000 m')
    call Bad('tmax = 0', 'is out of range: give 1e-6..100000 s')
    call Bad('dx =', 'has no value: give one, or leave the name out for the default 0')
    call Bad('dx = '//char(194)//char(160)//'10', 'holds characters that are not ASCII')
    call Bad('dx = 10 ! metres', 'comments start with # outside a namelist')
    call Bad('half_length = 9', 'half_length = 9 cells (bad.par:1) is out of range: give 1..8 cells')
    call Bad('half_length = 0', 'is out of range: give 1..8')
    call Bad('half_length = 4.0', 'is not a whole number: give 1..8 cells without point')
    call Bad('model_nx = 1e3', 'without point and exponent')
    call Bad('model_nx = 99999999999999999999', 'is out of range: give 0..10000000')
    call Bad('npml = twenty', 'is not a whole number')
    call Bad('npml = 20 cells', 'give the number alone, in cells')
    call Bad('threads = +', 'is not a whole number')
    call Bad('dx = '//repeat('9', 5000), '999...')
  end subroutine Numbers

  subroutine WordsAndFlags()
    call Bad('coeffs = holbreg', 'must be one of holberg, taylor; did you mean holberg?')
    call Bad('variant = tuned', 'must be one of auto, fortran, cpu')
    call Bad('vp_unit = mph', 'must be one of m/s, km/s, ft/s')
    call Bad('model_format = segy', 'must be one of auto, netcdf, raw32, raw64')
    call Bad('top = ', 'has no value')
    call Bad('coeffs = holberg'//repeat('x', 100), 'must be one of')
    call Bad('overwrite = maybe', 'must be yes or no')
    call Bad('time_correction = ''''', 'has no value')
  end subroutine WordsAndFlags

  subroutine PlainText()
    call Bad('half_lenght = 8', "unknown parameter 'half_lenght' (bad.par:1): did you mean half_length?")
    call Bad('ischeme = 1', "unknown parameter 'ischeme' (bad.par:1): --help lists all parameters")
    call Bad(repeat('n', 4000)//' = 1', '--help lists all parameters')
    call Bad('dx = 10'//lf//'dz = 10'//lf//'dx = 20', 'dx = 20 (bad.par:3) is given twice, first as 10 (bad.par:1): keep one')
    call Bad('dx = 10'//lf//'DX = 10', 'is given twice')
    call Bad('dx 10', '''dx 10'' (bad.par:1) is not name = value')
    call Bad('dx: 10', 'is not name = value')
    call Bad('= 10', 'is not name = value')
    call Bad('2dx = 10', 'is not name = value')
    call Bad('! dx', 'comments start with #')
    call Bad('output = line.nc ! gathers', 'output = line.nc ! gathers (bad.par:1) goes on with !: comments start with #')
    call Bad('output = line.nc'//achar(9)//'!gathers', 'goes on with !: comments start with #')
    call Bad('output = line.nc // gathers', 'goes on with //: comments start with #')
    call Bad('output = line.nc ; dx = 5', 'goes on with ;: comments start with #')
    call Bad('output = ''line.nc'' ! gathers', 'behind the closing quote: comments start with #')
    call Bad('output = line.nc,', 'ends with ,: one value a line, no comma behind it')
    call Bad('output = ''line.nc'',', 'behind the closing quote: one value a line, no comma behind it')
    call Output('line.nc # gathers', 'line.nc')
    call Output('''line.nc,''', 'line.nc,')
    call Output('''line.nc ! gathers''  # x', 'line.nc ! gathers')
    call Output('line!.nc', 'line!.nc')
    call Output('''line#2.nc''', 'line#2.nc')
    call Bad('dx = 10 dz = 10', 'holds a second =: one parameter a line')
    call Bad('vp = "model.nc', 'has no closing quote: end the text with "')
    call Bad('vp = ''model.nc'' new', 'goes on behind the closing quote')
    call Bad('par = other.par', 'a parameter file cannot name another')
    call Bad('dx = 10'//achar(0), 'is not a plain text file: byte 8 has the code 0')
    call Bad(char(255)//char(254)//'d'//achar(0)//'x'//achar(0), 'is not a plain text file: byte 4')
    call Bad(achar(27)//'[1mdx = 10', 'is not a plain text file: byte 1 has the code 27')
  end subroutine PlainText

  subroutine NamelistText()
    call Bad('&job dx = 10', 'is not closed: end it with /')
    call Bad('&params dx = 10 /', 'the namelist group &params (bad.par:1) is not known: call it &job')
    call Bad('&job dx 10 /', 'is not name = value')
    call Bad('&job dx = /', 'dx (bad.par:1) has no value')
    call Bad('&job dx = , dz = 5 /', 'has no value')
    call Bad('&job dx = dz = 5 /', 'dx (bad.par:1) has no value')
    call Bad('&job dx = = 5 /', 'has no value')
    call Bad('&job vp = a/b.nc, dx = 10 /', 'vp = a/b.nc (bad.par:1) holds a /, which ends a namelist: quote the value')
    call Bad('&job vp = "a.nc'//lf//'dx = 10 /', 'has no closing quote in its line')
    call Bad('&job components = ''p'', ''vx'' /', 'a parameter has one value, a list is one quoted text')
    call Bad('&job dx(1) = 10 /', 'is not name = value')
    call Bad('&job dx = 10 /'//lf//'&more dz = 10 /', 'stands behind the end of the namelist')
    call Bad('&job dx = 10, dx = 10 /', 'is given twice')
    call Bad('&job dx = 2*10 /', 'is not a number')
    call Bad('&job lenght = 10 /', "unknown parameter 'lenght'")
  end subroutine NamelistText

  subroutine CommandLine()
    call BadWords([character(20) :: 'plan'], 'a verb stands before all parameters')
    call BadWords([character(20) :: '--jsn'], 'such an option is not known here')
    call BadWords([character(20) :: '--dx=10'], 'write name=value without dashes')
    call BadWords([character(20) :: 'marmousi.par'], 'a parameter file is given as par=marmousi.par')
    call BadWords([character(20) :: 'line.nc'], 'the output of a run is given as output=line.nc')
    call BadWords([character(20) :: 'a b'], 'write parameters as name=value')
    call BadWords([character(20) :: 'par='], 'write par=FILE')
    call BadWords([character(20) :: 'par=none.par'], 'par = none.par (command line): there is no such file')
    call BadWords([character(20) :: 'par=.'], 'this is a directory, not a file')
    call BadWords([character(20) :: 'par=/dev/zero'], 'this is a pipe or a device')
    call BadWords([character(20) :: 'dx=10', 'dx=10'], 'is given twice, first as 10 (command line)')
    call BadWords([character(20) :: 'dx=10'//lf], 'holds a control character')
    call BadWords([character(20) :: 'vp=''a b'], 'has no closing quote')
    call Put('one.par', 'dx = 10')
    call BadWords([character(20) :: 'par=one.par', 'par=one.par'], 'is a second parameter file after one.par')
    call Put('empty.par', '')
    call BadWords([character(20) :: 'par=empty.par'], 'the file is empty')
    call Put('big.par', repeat('# a line of a comment'//lf, 50000))
    call BadWords([character(20) :: 'par=big.par'], 'has more than 1000000 bytes: a parameter file is a short text')
  end subroutine CommandLine

  !> Faults of several parameters together.
  subroutine Together()
    call BadWords(['dt_out=5'], 'dt_out = 5 s (command line) is longer than the record, tmax = 4 s (default)')
    call BadWords([character(20) :: 'dt=0.5', 'tmax=0.1'], 'dt = 0.5 s (command line) is longer than the record')
    call BadWords([character(20) :: 'dt_out=1e-7', 'tmax=100'], 'makes 1e9 samples a trace')
    call BadWords(['delay=-0.5'], 'delay = -0.5 s (command line) is negative: give 0 or more, or -1')
    call BadWords(['aperture=-0.5'], 'aperture = -0.5 m (command line) is negative')
    call BadWords(['amplitude=0'], 'makes every trace zero')
    call BadWords(['fmax=20'], 'fmax = 20 Hz (command line) is below the peak frequency, fpeak = 25 Hz (default)')
    call BadWords(['wavelet=file'], 'needs the samples: give wavelet_file=FILE')
    call BadWords(['f2=9'], 'f2 = 9 Hz (command line) has no effect on a Ricker wavelet: give wavelet=ormsby too')
    call BadWords([character(20) :: 'wavelet=ormsby', 'f1=8'], 'f1 = 8 Hz (command line) must be below f2 = 8 Hz (default)')
    call BadWords([character(20) :: 'wavelet=ormsby', 'f2=50'], 'must not be above f3 = 40 Hz (default)')
    call BadWords([character(20) :: 'wavelet=ormsby', 'f4=40'], 'f3 = 40 Hz (default) must be below f4 = 40 Hz (command line)')
    call BadWords([character(20) :: 'wavelet=ormsby', 'fmax=5'], 'is below the pass band')
    call BadWords(['components='], 'is empty: give any of p, vx, vz')
    call BadWords(['components=p,q'], "holds 'q': give any of p, vx, vz")
    call BadWords(['components=p,,vx'], "holds ''")
    call BadWords(['components=p,vx,p'], 'holds p twice')
    call BadWords(['components=p vx'], "holds 'p vx': give any of p, vx, vz, joined by commas")
    call Fine([character(20) :: 'wavelet=ormsby', 'f2=40'], 'f2 = f3')
    call Fine([character(20) :: 'wavelet=ricker', 'f2=9'], 'f2 beside an explicit Ricker wavelet')
    call Fine([character(20) :: 'fmax=25', 'components=VZ, p', 'delay=-1'], 'fmax = fpeak, components in any order')
  end subroutine Together

  subroutine Scheme()
    call BadWords([character(20) :: 'npml=7'], &
                  'npml = 7 cells (command line) is narrower than the differentiators, half_length = 8')
    call BadWords([character(20) :: 'gpn=1'], 'asks for GPUs, but this build was made without CUDA')
    call BadWords([character(20) :: 'group=2'], 'a 2D shot is computed by one rank, give group=1')
    call BadWords([character(20) :: 'snapshot=5'], 'snapshot = 5 s (command line) is longer than the record')
    call BadWords([character(20) :: 'snapshot_shots=1'], 'has no effect without snapshots: give snapshot=SECONDS too')
    call BadWords([character(40) :: 'snapshot=1', 'snapshot_shots=1,x'], "holds 'x', which is no shot record number")
    call BadWords([character(40) :: 'snapshot=1', 'snapshot_shots=1 2'], "holds '1 2', which is no shot record number")
    call BadWords([character(40) :: 'snapshot=1', 'snapshot_shots=1.5'], "holds '1.5', which is no shot")
    call BadWords([character(40) :: 'snapshot=1', 'snapshot_shots=7,8,7'], 'holds 7 twice')
    call Fine([character(40) :: 'npml=0', 'snapshot=1', 'snapshot_shots=101, 102'], 'no layers, two snapshot shots')
    call Fine([character(40) :: 'npml=4', 'half_length=4'], 'npml = half_length')
  end subroutine Scheme

  !> A build with more kernels takes their words, and GPUs.
  subroutine Builds()
    type(table_t) :: t
    type(job_t) :: job
    t%variants = 'auto,fortran,cpu,global'
    t%on_gpu = 'global'
    call JobRead(physics, [character(20) :: 'variant=Global', 'gpn=2'], 'verify', job, t, error)
    call ClaimFine(error, 'accepted: variant=Global and gpn=2 in a build that has them')
    call Claim(job%variant == 'global' .and. job%gpn == 2, 'and the job has variant '//job%variant)
    call RefusedIn([character(20) :: 'variant=global'], '', 'computes on GPUs, but gpn = 0')
    call RefusedIn([character(20) :: 'variant=cpu', 'gpn=1'], '', 'computes on CPU cores, but gpn = 1')
    call RefusedIn([character(20) :: 'variant=fortran', 'gpn=4'], '', 'give variant=auto, or gpn=0')
    call RefusedIn([character(20) :: 'ranks_per_gpu=2'], '', 'ranks_per_gpu = 2 ranks (command line) has no effect without GPUs')
    call RefusedIn([character(20) :: 'shots_per_gpu=2'], '', 'shots_per_gpu = 2 shots (command line) has no effect without GPUs')
    call RefusedIn([character(20) :: 'steps_a_pass=2'], '', 'steps_a_pass = 2 (command line) has no effect without GPUs')
    call RefusedIn([character(20) :: 'steps_a_pass=2', 'variant=global', 'gpn=1'], '', 'has an effect on variant=tuned only')
    call RefusedIn([character(20) :: 'steps_a_pass=5', 'gpn=1'], '', 'steps_a_pass = 5')
    call RefusedIn([character(20) :: 'steps_a_pass=2', 'gpn=1'], '', 'is for half-lengths up to 4')
    call RefusedIn([character(20) :: 'steps_a_pass=3', 'gpn=1', 'half_length=4', 'components=p,vx'], '', 'keeps no velocities, but components')
    call RefusedIn([character(20) :: 'shape=tiles-32'], '', 'shape = tiles-32 (command line) has no effect without GPUs')
    call RefusedIn([character(20) :: 'shape=tiles-32', 'variant=global', 'gpn=1'], '', 'has an effect on variant=tuned only')
    call RefusedIn([character(20) :: 'shape=tiles-25', 'gpn=1'], '', 'shape = tiles-25')
    call RefusedIn([character(20) :: 'shape=strips-256', 'gpn=1', 'components=p,vz'], '', 'keeps no velocities, but components = p,vz')
    call RefusedIn([character(20) :: 'shape=stay-32', 'gpn=1', 'components=p,vz'], '', 'keeps no velocities, but components = p,vz')
    call RefusedIn([character(20) :: 'shape=stay-32', 'gpn=1', 'steps_a_pass=1'], '', 'is for blocks that move on, but shape = stay-32')
    call RefusedIn([character(20) :: 'variant=global', 'gpn=1'], 'global', 'variant = global (command line) is not in this build')
    call RefusedIn([character(20) :: 'variant=global', 'gpn=1'], 'global', 'choose auto, fortran or cpu')
  end subroutine Builds

  !> Refused with `sentence` in a build that knows the variant global, but lacks `unbuilt`.
  subroutine RefusedIn(words, unbuilt, sentence)
    character(*), intent(in) :: words(:), unbuilt, sentence
    type(table_t) :: t
    type(job_t) :: job
    type(error_t), allocatable :: error
    t%variants = 'auto,fortran,cpu,global'
    t%on_gpu = 'global'
    t%unbuilt = unbuilt
    call JobRead(physics, words, 'verify', job, t, error)
    call ClaimFails(error, sentence, Join(words))
  end subroutine RefusedIn

  !> All faults in one error, and no end of them in a wall of text.
  subroutine Many()
    character(:), allocatable :: text
    integer :: i
    call ReadText('dx = 10m'//lf//'half_lenght = 8'//lf//'coeffs = x'//lf//'tmax = -1'//lf//'tmax = 2'//lf//'nonsense')
    call Claim(allocated(error), 'a deck with six faults is refused')
    if (.not. allocated(error)) return
    call Claim(index(error%message, '6 faults in the parameters:') == 1 .and. Lines(error%message) == 7, &
               'six faults, a heading and '//Str(Lines(error%message) - 1)//' lines: '//error%message)
    deallocate (error)
    text = ''
    do i = 1, 3000
      text = text//'name'//Str(i)//' = 1'//lf
    end do
    call ReadText(text)
    call Claim(Lines(error%message) == 52 .and. index(error%message, '2950 more') > 0, &
               '3000 faults are told in '//Str(Lines(error%message))//' lines')
    deallocate (error)
    call BadWords([character(40) :: 'dt_out=x', 'tmax=y', 'npml=7'], '3 faults in the parameters')
  end subroutine Many

  !> Claims that the text of a parameter file is refused and that its only or first fault contains `words`.
  subroutine Bad(text, words)
    character(*), intent(in) :: text, words
    call ReadText(text)
    call Refused(words)
  end subroutine Bad

  subroutine ReadText(text)
    character(*), intent(in) :: text
    type(table_t) :: t
    type(job_t) :: job
    call TableReadText(t, text, 'bad.par')
    call JobTable(physics, t, job)
    call TableCheck(t, error)
  end subroutine ReadText

  !> Claims that the line `output = text` names the file `path`.
  subroutine Output(text, path)
    character(*), intent(in) :: text, path
    type(table_t) :: t
    type(job_t) :: job
    call TableReadText(t, 'output = '//text, 'good.par')
    call JobTable(physics, t, job)
    call Claim(job%output == path, 'output = '//text//' names '//job%output)
  end subroutine Output

  !> The same for words of a command line; with the verb verify no files need be there.
  subroutine BadWords(args, words)
    character(*), intent(in) :: args(:), words
    type(table_t) :: t
    type(job_t) :: job
    call JobRead(physics, args, 'verify', job, t, error)
    call Refused(words)
  end subroutine BadWords

  subroutine Fine(args, what)
    character(*), intent(in) :: args(:), what
    type(table_t) :: t
    type(job_t) :: job
    call JobRead(physics, args, 'verify', job, t, error)
    call ClaimFine(error, 'accepted: '//what)
  end subroutine Fine

  subroutine Refused(words)
    character(*), intent(in) :: words
    distinct = distinct + 1
    if (allocated(error)) then
      if (Longest(error%message) > 400) call Claim(.false., 'a line of '//Str(Longest(error%message))//' bytes (at most 400)')
    end if
    call ClaimFails(error, words, 'refused')
  end subroutine Refused

  integer function Lines(text)
    character(*), intent(in) :: text
    integer :: i
    Lines = 1 + count([(text(i:i) == lf, i=1, len(text))])
  end function Lines

  integer function Longest(text)
    character(*), intent(in) :: text
    integer :: i, start
    Longest = 0
    start = 1
    do i = 1, len(text)
      if (text(i:i) == lf) start = i + 1
      Longest = max(Longest, i - start + 1)
    end do
  end function Longest

end program t011_params_faults
