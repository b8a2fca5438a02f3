!> Files that are missing, unreadable, of the wrong kind or named twice are refused before anything is opened or written.
program t015_job_files
  use acoustic2d_m, only: acoustic2d_t
  use check_m, only: Claim, ClaimFails, ClaimFine, Done, Skip
  use error_m, only: error_t
  use job_m, only: JobFromText, JobRead
  use model_rules_m, only: ModelFormat
  use parameters_m, only: job_t
  use parameter_table_m, only: table_t
  use parameter_help_m, only: TableText
  use put_m, only: Put
  implicit none
  type(acoustic2d_t) :: physics
  character(60), parameter :: raw(5) = [character(60) :: 'keymap=line.map', 'model_nx=5', 'model_nz=4', 'model_dx=10', &
      'model_dz=10']
  type(error_t), allocatable :: error

  call Put('line.map', 'shots')
  call Put('vp.nc', 'velocity')
  call Put('vp.bin', 'velocity')
  call Put('rho.bin', 'density')
  call Put('model.SGY', 'seg-y')
  call Put('empty.bin', '')
  call Put('job.par', 'keymap = line.map')
  call Put('wave.txt', '1')
  call execute_command_line('mkdir -p folder; ln -sf line.map link.map; mkfifo pipe.bin')

  call Given()
  call Inputs()
  call RawModels()
  call Outputs()
  call Locked()
  call Verbs()
  call Done()

contains

  subroutine Given()
    call Bad([character(60) :: 'vp=vp.nc'], 'run', 'is not given: give keymap=FILE, the list of shots')
    call Bad([character(60) :: 'keymap=line.map'], 'plan', 'is not given: give vp=FILE, the velocity model')
    call Fine([character(60) :: 'keymap=line.map', 'vp=vp.nc'], 'run', 'key-map and NetCDF model')
    call Fine([character(60) :: 'par=job.par', 'vp=vp.nc'], 'run', 'key-map from the parameter file')
  end subroutine Given

  subroutine Inputs()
    call Bad([character(60) :: 'keymap=none.map', 'vp=vp.nc'], 'run', &
             'keymap = none.map (command line) cannot be read: there is no such file')
    call Bad([character(60) :: 'keymap=folder', 'vp=vp.nc'], 'run', 'this is a directory, not a file')
    call Bad([character(60) :: 'keymap=line.map/x', 'vp=vp.nc'], 'run', 'the system says Not a directory')
    call Bad([character(60) :: 'keymap=line.map', 'vp=none.nc'], 'run', 'vp = none.nc (command line) cannot be read')
    call Bad([character(60) :: 'keymap=line.map', 'vp=~/vp.nc'], 'run', '~ is not expanded here, write the whole path')
    call Bad([character(60) :: 'keymap=line.map', 'vp=vp.nc', 'rho=none.nc'], 'run', 'rho = none.nc (command line) cannot be read')
    call Bad([character(60) :: 'keymap=line.map', 'vp=vp.nc', 'wavelet=file', 'wavelet_file=none.txt'], 'run', &
             'wavelet_file = none.txt (command line) cannot be read')
    call Bad([character(60) :: 'keymap=line.map', 'vp=vp.nc', 'wavelet_file=wave.txt'], 'run', 'give wavelet=file too')
    call Bad([character(60) :: 'keymap=vp.nc', 'vp=vp.nc'], 'run', 'is the velocity model too: a key-map is a text')
    call Bad([character(60) :: 'keymap=line.map', 'vp=vp.nc', 'rho=vp.nc', 'rho_var=vp'], 'run', &
             'is the velocity model too: give the density')
    call Bad([character(60) :: 'keymap=line.map', 'vp=vp.nc', 'model_nx=5'], 'run', 'has no effect: the model is NetCDF')
    call Bad([character(60) :: 'keymap=line.map', 'vp=vp.nc', 'vp_unit=km/s'], 'run', 'has no effect: the model is NetCDF')
    call Bad([character(6000) :: 'keymap=line.map', 'vp='//repeat('x', 5000)//'.nc'], 'run', 'the system says File name too long')
    call Bad([character(60) :: 'keymap=none.map', 'vp=none.nc', 'rho=none.bin', 'output=none/x.nc', 'dx=10m'], 'run', '5 faults')
    call Fine([character(60) :: 'keymap=line.map', 'vp=vp.nc', 'rho=vp.nc'], 'run', 'velocity and density in one NetCDF file')
    call Fine([character(60) :: 'keymap=line.map', 'vp=vp.nc', 'wavelet=ricker', 'wavelet_file=none.txt'], 'run', &
              'an unused wavelet file')
  end subroutine Inputs

  subroutine RawModels()
    type(job_t) :: job
    call Fine([raw, [character(60) :: 'vp=vp.bin', 'rho=rho.bin']], 'run', 'raw model with its shape')
    call Bad([character(60) :: 'keymap=line.map', 'vp=vp.bin', 'model_nx=5', 'model_nz=4', 'model_dx=10'], 'run', &
             'model_dz = 0 m (default) must be above 0, because the model vp.bin is raw, as its name does not end in '// &
             '.nc: give the spacing along z [m]')
    call Bad([character(60) :: 'keymap=line.map', 'vp=vp.bin'], 'run', '4 faults')
    call BadAlone([character(60) :: 'keymap=line.map', 'vp=none.bin'], 'vp = none.bin (command line) cannot be read')
    call BadAlone([character(60) :: 'keymap=line.map', 'vp=models\vp.nc'], 'folders are parted by /, not by \')
    call BadAlone([character(60) :: 'keymap=line.map', 'vp=.'], 'vp = . (command line) cannot be read: this is a directory')
    call Put('line.segy', 'SEG-Y')
    call BadAlone([character(60) :: 'keymap=line.map', 'vp=line.segy'], 'is SEG-Y or SU: convert it')
    call Bad([character(60) :: 'keymap=line.map', 'vp=vp.nc', 'model_format=raw64'], 'run', '4 faults')
    call Bad([character(60) :: 'keymap=line.map', 'vp=vp.nc', 'rho=rho.bin'], 'run', 'because the model rho.bin is raw')
    call Bad([raw, [character(60) :: 'vp=vp.bin', 'rho=./vp.bin']], 'run', 'is the velocity model too')
    call Bad([raw, [character(60) :: 'vp=empty.bin']], 'run', 'the file is empty')
    call Bad([raw, [character(60) :: 'vp=pipe.bin']], 'run', 'this is a pipe or a device')
    call Bad([raw, [character(60) :: 'vp=model.SGY']], 'run', 'convert it with tools/spl-model')
    job%model_format = 'auto'
    call Claim(ModelFormat(job, 'a.NC') == 'netcdf' .and. ModelFormat(job, 'a.vp') == 'raw32', '.NC is NetCDF, .vp is raw32')
    job%model_format = 'raw64'
    call Claim(ModelFormat(job, 'a.nc') == 'raw64', 'model_format says otherwise')
  end subroutine RawModels

  subroutine Outputs()
    call BadOutput('output=', 'is empty: give output=FILE.nc')
    call BadOutput('output=none/x.nc', 'output = none/x.nc (command line) cannot be written: there is no directory none')
    call BadOutput('output=folder', 'this is a directory, not a file')
    call BadOutput('output=folder/', 'this names a directory, not a file')
    call BadOutput('output=/dev/null', 'this is a pipe or a device')
    call BadOutput('output=vp.nc', 'would overwrite an input, vp = vp.nc (command line)')
    call BadOutput('output=./folder/../vp.nc', 'would overwrite an input, vp = vp.nc')
    call BadOutput('output=link.map', 'would overwrite an input, keymap = line.map')
    call BadOutput('output=job.par', 'is the parameter file too')
    call Fine([character(60) :: 'par=job.par', 'vp=vp.nc', 'output='//repeat('d', 50)], 'run', 'a new output')
  end subroutine Outputs

  subroutine BadOutput(word, words)
    character(*), intent(in) :: word, words
    call Bad([character(60) :: 'par=job.par', 'vp=vp.nc', word], 'run', words)
  end subroutine BadOutput

  !> Files that a user may not read or write; root may do so with all.
  subroutine Locked()
    logical :: there
    call execute_command_line('chmod 000 rho.bin; chmod 500 folder; [ "$(id -u)" = 0 ] && touch is_root')
    inquire (file='is_root', exist=there)
    if (there) then
      call Skip('permissions: root may read and write everything')
    else
      call Bad([raw, [character(60) :: 'vp=rho.bin']], 'run', 'it may not be read (Permission denied)')
      call Bad([character(60) :: 'keymap=line.map', 'vp=vp.nc', 'output=folder/x.nc'], 'run', &
               'nothing may be written into the directory folder')
    end if
    call execute_command_line('chmod 700 folder; chmod 600 rho.bin')
  end subroutine Locked

  !> Other verbs need less; other ranks look at no files.
  subroutine Verbs()
    type(table_t) :: t, t2
    type(job_t) :: job, job2
    call Fine([character(60) :: 'keymap=none.map', 'vp=none.nc'], 'status', 'status of a job whose inputs are gone')
    call Fine([character(60) :: 'half_length=4'], 'verify', 'verify without files')
    call Bad([character(60) :: 'vp=none.nc'], 'verify', 'there is no such file')
    call JobRead(physics, [character(60) :: 'keymap=none.map', 'vp=vp.nc'], 'status', job, t, error)
    call JobFromText(physics, TableText(t), job2, t2, error)
    call ClaimFine(error, 'a rank that sees no files takes the resolved job')
    call Claim(job2%keymap == 'none.map', 'and gets its key-map: '//job2%keymap)
  end subroutine Verbs

  subroutine Bad(args, verb, words)
    character(*), intent(in) :: args(:), verb, words
    type(table_t) :: t
    type(job_t) :: job
    logical :: made
    call JobRead(physics, args, verb, job, t, error)
    call ClaimFails(error, words, verb//' refused')
    inquire (file='gathers.nc', exist=made)
    if (made) call Claim(.false., 'an output file was made')
  end subroutine Bad

  !> Refused by a run with this one sentence.
  subroutine BadAlone(args, words)
    character(*), intent(in) :: args(:), words
    type(table_t) :: t
    type(job_t) :: job
    call JobRead(physics, args, 'run', job, t, error)
    if (allocated(error)) call Claim(index(error%message, 'faults in') == 0, 'one fault: '//error%message)
    call ClaimFails(error, words, 'run refused')
  end subroutine BadAlone

  subroutine Fine(args, verb, what)
    character(*), intent(in) :: args(:), verb, what
    type(table_t) :: t
    type(job_t) :: job
    call JobRead(physics, args, verb, job, t, error)
    call ClaimFine(error, verb//' accepted: '//what)
  end subroutine Fine

end program t015_job_files
