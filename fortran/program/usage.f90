!> What a program says of itself: its usage, its manual page, its build.
module usage_m
  use parameter_manual_m, only: Roff, TableManual
  use parameter_table_m, only: SplitList, table_t
  use physics_m, only: physics_t, PhysicsVariants
  use text_m, only: Join
  use version_m, only: VersionNumber, VersionText
  implicit none
  private
  public :: BuildText, Manual, option_list, SelfDescription, verbs, VerbWords

  character(6), parameter :: verbs(4) = [character(6) :: 'run', 'plan', 'status', 'verify']
  character(*), parameter :: verb_does(4) = [character(96) :: &
    'model all shots of the key-map that are not done (default); the same command again continues', &
    'grid, time step, margins, memory, disk, time, and every fault; models nothing', &
    'how far a survey is, also while it runs (--json for programs)', &
    'variants, worker counts and the analytic solution against each other on this machine']
  character(*), parameter :: exit_means(4) = [character(32) :: '0 all shots', '1 input error', '2 some shots failed', &
                                                               '3 stopped, run again to resume']
  character(*), parameter :: option_list = '--help [NAME], --template, --markdown, --man, --completion, --version'
  character(*), parameter :: nl = new_line('a')

contains

  !> 'variants: auto, fortran, cpu; not in this build: global, shared'
  function BuildText(physics, table) result(s)
    class(physics_t), intent(in) :: physics
    type(table_t), intent(in) :: table
    character(:), allocatable :: s
    character(32), allocatable :: words(:), built(:)
    logical, allocatable :: there(:)
    integer :: i
    allocate (words, source=SplitList(trim(table%variants)))
    allocate (built, source=SplitList('auto,'//PhysicsVariants(physics, cores=.false.)))
    there = [(any(built == words(i)), i=1, size(words))]
    s = 'variants: '//Join(pack(words, there))
    if (any(.not. there)) s = s//'; not in this build, which was made without CUDA: '//Join(pack(words, .not. there))
  end function BuildText

  function SelfDescription(physics) result(s)
    class(physics_t), intent(in) :: physics
    character(:), allocatable :: s, name
    integer :: i
    name = physics%program
    s = name//' '//VersionText()//': models the shots of a seismic survey'//nl//nl// &
        '  '//name//' [verb] name=value ... par=FILE'//nl// &
        '  mpirun -n N '//name//' ...      rank 0 deals shots and writes files, the others model'//nl//nl//'verbs'//nl
    do i = 1, size(verbs)
      s = s//'  '//verbs(i)//'   '//trim(verb_does(i))//nl
    end do
    if (physics%verb /= '') s = s//'  '//physics%verb//repeat(' ', 9 - len(physics%verb))//physics%verb_does//nl
    s = s//nl// &
        'a first run:  '//name//' '//physics%example//nl// &
        'parameters:   '//name//' --help [NAME]; a file of all with defaults: '//name//' --template > job.par'//nl// &
        'manual:       '//name//' --man | man -l -; completion of words in bash: source <('//name//' --completion)'//nl// &
        'exit status:  '//Join(exit_means)
  end function SelfDescription

  !> The verbs, joined by blanks.
  function VerbWords(physics) result(s)
    class(physics_t), intent(in) :: physics
    character(:), allocatable :: s
    integer :: i
    s = trim(verbs(1))
    do i = 2, size(verbs)
      s = s//' '//trim(verbs(i))
    end do
    if (physics%verb /= '') s = s//' '//physics%verb
  end function VerbWords

  !> A page for man: what --help says, and every parameter.
  function Manual(physics, table) result(s)
    class(physics_t), intent(in) :: physics
    type(table_t), intent(in) :: table
    character(:), allocatable :: s, name
    integer :: i
    name = physics%program
    s = '.TH '//name//' 1 "" "'//name//' '//Roff(VersionNumber())//'" "Seismic surveys"'//nl//'.ad l'//nl// &
        '.SH NAME'//nl//name//' \- models the shots of a seismic survey'//nl// &
        '.SH SYNOPSIS'//nl//'.B '//name//nl//'[\fIverb\fR] \fIname\fR=\fIvalue\fR ... \fBpar\fR=\fIFILE\fR'//nl// &
        '.br'//nl// &
        '.B mpirun \-n'//nl//'.I N'//nl//'.B '//name//nl//'\&...'//nl// &
        '.SH DESCRIPTION'//nl//'Models the shots of a key\-map, and writes their gathers to one file. On several ranks '// &
        'the first deals shots and writes files, the others model. The command line wins over the file \fBpar\fR, '// &
        'the file over the defaults.'//nl// &
        '.SH VERBS'//nl
    do i = 1, size(verbs)
      s = s//'.TP'//nl//'.B '//trim(verbs(i))//nl//Roff(trim(verb_does(i)))//nl
    end do
    if (physics%verb /= '') s = s//'.TP'//nl//'.B '//physics%verb//nl//Roff(physics%verb_does)//nl
    s = s//'.SH OPTIONS'//nl//Roff(option_list)//nl//TableManual(table)// &
        '.SH EXIT STATUS'//nl
    do i = 1, size(exit_means)
      s = s//'.TP'//nl//'.B '//exit_means(i)(1:1)//nl//trim(exit_means(i)(3:))//nl
    end do
    s = s//'.SH FILES'//nl//'Beside \fIOUTPUT\fR: \fIOUTPUT\fR.journal (what became of each shot), '// &
        '\fIOUTPUT\fR.par (the resolved parameters), \fIOUTPUT\fR.log, and \fIOUTPUT\fR.lock '// &
        'while a job runs; a file \fIOUTPUT\fR.stop stops it.'//nl// &
        '.SH EXAMPLE'//nl//'.nf'//nl//Roff(name//' '//physics%example)//nl//'.fi'//nl// &
        '.SH SEE ALSO'//nl//'spl\-keymap(1), spl\-model(1), spl\-mesh(1), spl\-plot(1), spl\-report(1), spl\-export(1), '// &
        'run\-until\-done(1)'
  end function Manual

end module usage_m
