!> Parameters come from the command line, from a plain file or from a namelist, in any honest spelling, and the right one wins.
program t010_params_sources
  use acoustic2d_m, only: acoustic2d_t
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use kinds_m, only: dp
  use parameters_m, only: job_t
  use physics_m, only: JobTable
  use parameter_table_m, only: table_t, TableArguments, TableCheck, TableFind, TableReadText
  use parameter_help_m, only: TableText
  use put_m, only: Put
  use text_m, only: Str
  implicit none
  type(acoustic2d_t) :: physics
  character(*), parameter :: lf = achar(10), cr = achar(13), tab = achar(9)
  character(*), parameter :: bom = char(239)//char(187)//char(191), umlaut = char(195)//char(188)
  type(job_t) :: job
  type(table_t) :: t
  type(error_t), allocatable :: error

  call Precedence()
  call Spellings()
  call Namelists()
  call LineEnds()
  call BigFiles()
  call Words()
  call Done()

contains

  subroutine Precedence()
    call Put('job file.par', 'dx = 10'//lf//'dz = 5 # half'//lf//'output = from_file.nc'//lf)
    call Fresh()
    call TableArguments(t, [character(40) :: 'par=job file.par', 'DX=12.5', 'components=p, VX'])
    call Pass('command line with par=FILE, blank in the path')
    call Claim(job%dx == 12.5_dp, 'command line over file: dx = '//Str(job%dx)//' of 12.5 and 10')
    call Claim(job%dz == 5 .and. job%output == 'from_file.nc', 'file over default: dz = '//Str(job%dz)//', output = '//job%output)
    call Claim(job%tmax == 4 .and. job%half_length == 8, 'default where nothing is given: tmax = '//Str(job%tmax))
    call Claim(Origin('dx') == 'command line' .and. Origin('dz') == 'job file.par:2' .and. Origin('tmax') == 'default', &
               'origins: '//Origin('dx')//', '//Origin('dz')//', '//Origin('tmax'))
    call Put('faulty.par', 'dx = ten')
    call Fresh()
    call TableArguments(t, [character(40) :: 'dx=5', 'par=faulty.par'])
    call Pass('a faulty value in the file that the command line replaces')
    call Fresh()
    call TableArguments(t, [character(40) :: 'par=job file.par', 'DX=12.5', 'components=p, VX'])
    call Pass('the first command line again')
    call Claim(index(TableText(t), 'job file.par:3; NetCDF file') > 0, 'the resolved text tells file and line')
  end subroutine Precedence

  !> A word that stands for no file is one in capitals too; a path with a folder is none.
  subroutine Words()
    character(:), allocatable :: mesh
    integer :: i
    character(*), parameter :: given(3) = [character(8) :: 'layers', 'Layers', './Layers'], &
                               taken(3) = [character(8) :: 'layers', 'layers', './Layers']
    do i = 1, 3
      call Fresh()
      call TableReadText(t, 'mesh = '//given(i), 'mesh.par')
      call t%file('mesh', mesh, '', 'a mesh, or the word layers', word='layers')
      call Claim(mesh == taken(i) .and. t%row(t%n)%value == ''''//trim(taken(i))//'''' .and. &
                 t%input(t%n) == merge('        ', taken(i), taken(i) == 'layers'), 'mesh = '//trim(given(i))//' is taken as '//mesh// &
                 ', recorded as '//t%row(t%n)%value//', and names the file "'//t%input(t%n)//'"')
    end do
  end subroutine Words

  subroutine Spellings()
    call Read('# comment'//lf//lf//'  dx=10# glued comment'//lf//tab//'dz'//tab//'='//tab//'5'//tab//'# tabs'//lf// &
              'vp = "my model # 2 = new.nc"   # quoted'//lf//'rho = ''it''''s.nc'''// &
                  lf//'keymap = line 7.map # unquoted blank'//lf// &
              'OVERWRITE = .TRUE.'//lf//'Half_Length = 4'//lf//'coeffs = Taylor'//lf//'fpeak = 1.5d1'//lf//'wavelet_file ='//lf// &
              'output = M'//umlaut//'ller.nc'//lf//'tmax = +.5', 'plain file')
    call Claim(job%dx == 10 .and. job%dz == 5 .and. job%half_length == 4, 'comments, tabs, capitals: dx = '//Str(job%dx))
    call Claim(job%vp == 'my model # 2 = new.nc', 'quotes keep # and = and blanks: '//job%vp)
    call Claim(job%rho == 'it''s.nc', 'a doubled quote is one: '//job%rho)
    call Claim(job%keymap == 'line 7.map', 'an unquoted path may hold blanks: '//job%keymap)
    call Claim(job%overwrite .and. job%coeffs == 'taylor', 'flags and words in capitals')
    call Claim(job%fpeak == 15 .and. job%tmax == 0.5_dp, 'numbers: 1.5d1 is '//Str(job%fpeak)//', +.5 is '//Str(job%tmax))
    call Claim(job%wavelet_file == '' .and. job%output == 'M'//umlaut//'ller.nc', 'empty text, UTF-8 text: '//job%output)
  end subroutine Spellings

  subroutine Namelists()
    character(:), allocatable :: plain
    call Read('dx = 10'//lf//'vp = ''a/b c.nc'''//lf//'overwrite = yes'//lf//'components = ''p,vx'''//lf//'fpeak = 20.'//lf// &
              'npml = 30'//lf//'rho = ''''', 'plain text to compare with')
    plain = Values()
    call Read(' ! a comment'//lf//'&job dx=10, vp=''a/b c.nc'' overwrite=T ! comment with = and /'//lf// &
              'components = "p,vx",'//lf//' fpeak ='//lf//' 20.0 , # other comment'//lf//'npml=30, rho='''' /'//lf//'! behind', &
                  'namelist')
    call Claim(Values() == plain, 'a namelist gives the same job as plain text')
    call Claim(Origin('npml') == 'test.par:6' .and. Origin('fpeak') == 'test.par:4', 'lines of a namelist: fpeak at '// &
               Origin('fpeak')//', npml at '// &
               Origin('npml'))
    call Read('&JOB dx=10 vp=''a/b c.nc'' overwrite=.true. components=''p,vx'' fpeak=2D1 npml=30 &END', 'namelist closed by &END')
    call Claim(Values() == plain, 'a namelist closed by &END gives the same job')
    call Read('&job'//lf//'/', 'empty namelist')
    call Read('&job dx=10/', 'namelist closed right behind a number')
    call Claim(job%dx == 10, 'dx=10/ is dx = '//Str(job%dx))
  end subroutine Namelists

  subroutine LineEnds()
    call Read('dx = 10'//cr//lf//'dz = 5'//cr//lf//'vp = a.nc'//cr//lf, 'CRLF')
    call Claim(job%dx == 10 .and. job%vp == 'a.nc' .and. Origin('vp') == 'test.par:3', 'CRLF: vp at '//Origin('vp'))
    call Read('dx = 10'//cr//'dz = 5'//cr//'vp = a.nc', 'CR alone')
    call Claim(job%dz == 5 .and. Origin('vp') == 'test.par:3', 'CR alone ends lines: vp at '//Origin('vp'))
    call Read(bom//'dx = 10'//lf, 'UTF-8 mark')
    call Claim(job%dx == 10, 'a UTF-8 mark before the first name is skipped')
    call Read(bom//'&job dx = 11 /', 'UTF-8 mark before a namelist')
    call Claim(job%dx == 11, 'a UTF-8 mark before a namelist is skipped')
    call Read('', 'empty text')
    call Claim(job%dx == 0, 'an empty text leaves the defaults')
  end subroutine LineEnds

  subroutine BigFiles()
    integer :: i
    character(:), allocatable :: text
    call Read('#'//repeat('x', 5000)//lf//'vp = "'//repeat('d/', 2500)//'vp.nc"'//repeat(' ', 5000)//'# '//repeat('y', 9000)//lf// &
              'dx = 10', 'lines of 15000 characters')
    call Claim(len(job%vp) == 5005 .and. job%dx == 10, 'a path of '//Str(len(job%vp))//' characters arrives whole')
    text = ''
    do i = 1, 2000
      text = text//'# line '//Str(i)//lf
    end do
    call Put('long.par', text//'dx = 10')
    call Fresh()
    call TableArguments(t, ['par=long.par'])
    call Pass('a file of 2001 lines')
    call Claim(Origin('dx') == 'long.par:2001', 'last line without an end: dx at '//Origin('dx'))
  end subroutine BigFiles

  subroutine Fresh()
    type(table_t) :: new_table
    type(job_t) :: new_job
    t = new_table
    job = new_job
  end subroutine Fresh

  subroutine Pass(what)
    character(*), intent(in) :: what
    call JobTable(physics, t, job)
    call TableCheck(t, error)
    call ClaimFine(error, what//' reads without fault')
  end subroutine Pass

  subroutine Read(text, what)
    character(*), intent(in) :: text, what
    call Fresh()
    call TableReadText(t, text, 'test.par')
    call Pass(what)
  end subroutine Read

  function Origin(name) result(where)
    character(*), intent(in) :: name
    character(:), allocatable :: where
    where = t%row(TableFind(t, name))%origin
  end function Origin

  !> All values, without their origins.
  function Values() result(text)
    character(:), allocatable :: text
    integer :: i
    text = ''
    do i = 1, t%n
      text = text//t%row(i)%name//'='//t%row(i)%value//lf
    end do
  end function Values

end program t010_params_sources
