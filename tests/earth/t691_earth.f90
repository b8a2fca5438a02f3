!> The earth of a 3D job: flat layers, volumes from NetCDF and raw files in any order of indices, what a cell is that holds several
!> media, windows, and one sentence for each fault.
program t691_earth
  use elastic3d_m, only: elastic3d_t
  use check_m, only: Claim, ClaimFails, ClaimFine, Done, Seed
  use model3d_m, only: model3d_t, Model3dRead
  use model3d_window_m, only: Model3dAround, Model3dGrid, Model3dRow, Model3dShape, Model3dWindow
  use error_m, only: error_t, FailFromC
  use fio_c, only: fio_close, fio_create, fio_enddef, fio_put_doubles, fio_var
  use fiodef_m, only: FioDim, FioText
  use iso_c_binding, only: c_ptr
  use job_m, only: JobFromText
  use kinds_m, only: dp, i8, sp
  use parameters_m, only: job_t
  use put_m, only: Put
  use shot_m, only: shot_t
  use parameter_table_m, only: table_t
  use text_m, only: CString, Str
  use window_m, only: box_t, window_t, WindowBox, WindowCell, WindowClip, WindowSame
  implicit none
  type(elastic3d_t) :: physics
  character, parameter :: nl = new_line('a')
  integer, parameter :: n(3) = [14, 11, 12]
  type(error_t), allocatable :: error
  type(model3d_t) :: earth
  type(window_t) :: window, piece
  type(shot_t) :: shot
  type(job_t) :: job
  real(dp) :: vp(n(1), n(2), n(3)), d(3)
  character(3), parameter :: orders(6) = [character(3) :: 'xyz', 'xzy', 'yxz', 'yzx', 'zxy', 'zyx']
  integer :: i, j, k

  vp = reshape([(((2000.0_dp + 100*i + 10*j + k, i=1, n(1)), j=1, n(2)), k=1, n(3))], n)
  shot%record = 7
  call Geometry(60.0_dp, 55.0_dp, 30.0_dp)
  call Layers()
  call LayersByRule()
  call Volumes()
  call DeepVolumes()
  call TopsInKilometres()
  call Mixtures()
  call Contacts()
  call Windows()
  call Faults()
  call Done()

contains

  subroutine Geometry(x, y, z)
    real(dp), intent(in) :: x, y, z
    shot%sx = x
    shot%sy = y
    shot%sz = z
    shot%rx = [x + 10, x + 20]
    shot%ry = [y - 5, y - 5]
    shot%rz = [z, z]
    shot%channel = [1, 2]
  end subroutine Geometry

  subroutine Settings(text)
    character(*), intent(in) :: text
    type(table_t) :: t
    job = job_t()
    call JobFromText(physics, text, job, t, error)
    if (allocated(error)) call ClaimFine(error, 'settings '//text)
  end subroutine Settings

  !> Layers that tell no Q get it by rule, where something is solid.
  subroutine LayersByRule()
    call Put('a.layers', '0 1500 0 1000'//nl//'100 4000 2000 2600'//nl)
    call Settings('layers = a.layers'//nl//'dx = 200'//nl//'aperture = 1000'//nl//'depth = 3000'//nl//'qs_vs = 0.02'//nl// &
                  'qp_qs = 1.5'//nl)
    call Model3dRead(job, earth, error)
    call ClaimFine(error, 'flat layers and qs_vs')
    call Claim(earth%attenuates .and. abs(earth%qmin - 40) < 1e-9_dp, 'Qs = 0.02*2000: the smallest Q is '//Str(earth%qmin, 4))
    call Claim(all(abs(earth%layers%medium(4:5, 1)) <= 0) .and. &
               all(abs(earth%layers%medium(4:5, 2) - [1/60.0_dp, 1/40.0_dp]) < 1e-12_dp), 'Qp = 60 there, and none in the water')
  end subroutine LayersByRule

  !> Layers below the grid: where no cell knows of them they set neither time step nor spacing nor memory variables.
  subroutine DeepLayers()
    character(*), parameter :: upper = '0 4000 2000 2600 155 40'//nl//'1000 6000 3464 2700 180 69.3'//nl
    real(sp), allocatable :: medium(:, :, :, :)
    integer :: deep
    do deep = 3600, 7600, 4000
      call Put('deep.layers', upper//Str(deep)//' 9000 500 3000 20 12'//nl)
      call Settings('layers = deep.layers'//nl//'dx = 200'//nl//'aperture = 1000'//nl//'depth = 3000'//nl)
      call Model3dRead(job, earth, error)
      call ClaimFine(error, 'a layer at '//Str(deep)//' m, the grid ends at 3000 m')
      call Claim((abs(earth%vmax - 6000) < 1e-9 .and. abs(earth%vmin - 2000) < 1e-9 .and. abs(earth%qmin - 40) < 1e-9 .and. &
                  earth%below == 1) .eqv. deep == 7600, 'vp to '//Str(earth%vmax)//', vs from '//Str(earth%vmin)//' m/s, Q from '// &
                 Str(earth%qmin)//': it counts as far as contacts reach into the grid')
    end do
    call Model3dWindow(earth, job, shot, window, error)
    call move_alloc(window%medium, medium)
    call Put('deep.layers', upper)
    call Model3dRead(job, earth, error)
    call Model3dWindow(earth, job, shot, window, error)
    call Claim(all(abs(medium - window%medium) <= 0) .and. earth%below == 0, 'the cells are those without it')
  end subroutine DeepLayers

  !> Tops in km: all contacts lie in a skin.
  subroutine TopsInKilometres()
    integer :: last
    do last = 3, 3000, 2997
      call Put('km.layers', '0 4000 2000 2600'//nl//'1 6000 3464 2700'//nl//Str(last)//' 7000 4000 2900'//nl)
      call Settings('layers = km.layers'//nl//'dx = 200'//nl//'aperture = 1000'//nl//'depth = 5000'//nl)
      call physics%read(job, error)
      call ClaimFine(error, 'the last layer at '//Str(last)//' m')
      call Claim((index(physics%doubts, 'give tops in metres if these are kilometres') > 0) .eqv. last == 3, &
                 'tops to '//Str(last)//' m of 5000 m: '//physics%doubts)
    end do
  end subroutine TopsInKilometres

  !> The same of samples of volumes, which on disk are looked through slab by slab.
  subroutine DeepVolumes()
    character(:), allocatable :: text
    real(sp) :: v(4, 4, 40), q(4, 4, 40)
    integer :: deep, at
    text = 'vp = v.raw'//nl//'vp_vs = 2'//nl//'qs = q.raw'//nl//'model_nx = 4'//nl//'model_ny = 4'//nl//'model_nz = 40'//nl// &
           'model_dx = 500'//nl//'model_dy = 500'//nl//'model_dz = 100'//nl//'dx = 200'//nl//'dy = 200'//nl//'dz = 200'//nl
    do deep = 1, 4
      at = merge(22, 40, deep == 2)
      v = 4000
      q = 50
      v(3, 2, at) = 9000
      q(2, 3, at) = 12
      if (deep == 4) v(3, 2, at) = 4000
      if (deep == 4) q(2, 3, at) = 50
      call Put('v.raw', [v])
      call Put('q.raw', [q])
      call Settings(text//trim(merge('depth = 1500'//nl, repeat(' ', 13), deep /= 3)))
      call Model3dRead(job, earth, error)
      call ClaimFine(error, 'a volume with a fast sample in plane '//Str(at))
      call Claim((abs(earth%vmax - 4000) < 1e-9 .and. abs(earth%qmin - 50) < 1e-4) .eqv. any(deep == [1, 4]), &
                 'depth '//Str(job%depth)//' m: vp to '//Str(earth%vmax)//' m/s, Q from '//Str(earth%qmin, 4)// &
                 ': samples count that cells of the grid know')
      call Claim((earth%deeper .eqv. deep == 1) .and. earth%below == merge(7, 0, deep /= 3), &
                 Str(earth%below)//' planes below the grid change what is told only where they differ')
    end do
    v(:, :, :36) = 0
    call Put('v.raw', [v])
    call Settings(text//'depth = 1500'//nl)
    call Model3dRead(job, earth, error)
    call ClaimFails(error, 'is nothing but air down to depth = 1500 m: raise depth', 'rock below the grid alone')
  end subroutine DeepVolumes

  !> One thinner than its cell is no step: the cell has harmonic moduli, mean density, and those beside it are as they are.
  subroutine ThinLayer()
    call Put('thin.layers', '0 4000 2000 2600'//nl//'1000 6000 3464 2700'//nl//'1100 4000 2000 2600'//nl)
    call Settings('layers = thin.layers'//nl//'dx = 200'//nl//'dz = 300'//nl//'aperture = 1000'//nl//'depth = 3000'//nl)
    call Model3dRead(job, earth, error)
    call Model3dWindow(earth, job, shot, window, error)
    call ClaimFine(error, 'a layer thinner than a cell')
    call Claim(abs(window%medium(1, 1, 4, 3) - (2*2600 + 2700)/3.0_dp) < 0.01_dp .and. &
               abs(window%medium(1, 1, 4, 2)**2*window%medium(1, 1, 4, 3)/ &
                   (3/(2/(2600*2000.0_dp**2) + 1/(2700*3464.0_dp**2))) - 1) < 1e-5_dp .and. &
               all(abs(window%medium(1, 1, 3:5:2, 2) - 2000) < 0.01_dp), 'its cell has the mean density and the mean compliance')
  end subroutine ThinLayer

  subroutine Layers()
    real(dp) :: mu(3)
    call Put('a.layers', '# LOH'//nl//'0 4000 2000 2600 155 40'//nl//'1000 6000 3464 2700 180 69.3'//nl)
    call Settings('layers = a.layers'//nl//'dx = 200'//nl//'aperture = 1000'//nl//'depth = 3000'//nl)
    call Model3dRead(job, earth, error)
    call ClaimFine(error, 'flat layers')
    call Claim(earth%attenuates .and. abs(earth%vsmin - 2000) < 1e-9 .and. abs(earth%vmax - 6000) < 1e-9 .and. &
               abs(earth%qmin - 40) < 1e-9, 'vs from '//Str(earth%vsmin)//', vp to '//Str(earth%vmax)//' m/s, Q from '// &
               Str(earth%qmin))
    call Model3dWindow(earth, job, shot, window, error)
    call ClaimFine(error, 'their window')
    call Claim(window%nx == 11 .and. window%ny == 11 .and. window%nz == 15 .and. abs(window%x0 + 1000) < 1e-9_dp .and. &
               abs(window%z0) < 1e-9_dp, 'covers source and receivers 1000 m beyond: '//Str(window%nx)//' x '// &
               Str(window%ny)//' x '//Str(window%nz)//' cells from x = '//Str(window%x0)//' m')
    call Claim(all(abs(window%medium(:, :, 5, 1) - 4000) < 0.01) .and. all(abs(window%medium(:, :, 6, 1) - 6000) < 0.01) .and. &
               all(abs(window%medium(:, :, 6, 5)*69.3 - 1) < 1e-5), 'the contact at 1000 m lies between cells 5 and 6')
    job%dz = 300
    call Model3dWindow(earth, job, shot, window, error)
    ! cell 4: 900..1200, one third above: cells 3 to 5 together have the mean of densities, compliances and stiffnesses
    mu = real(window%medium(1, 1, 3:5, 2), dp)**2*window%medium(1, 1, 3:5, 3)
    call Claim(abs(window%medium(1, 1, 4, 3) - (2600 + 2*2700)/3.0_dp) < 0.01_dp .and. &
               abs(sum(1/mu)/((4/(2600*2000.0_dp**2) + 5/(2700*3464.0_dp**2))/3) - 1) < 1e-5_dp, &
               'a cell across the contact has the mean density, and with those beside it the mean compliance')
    call Claim(abs(sum(mu)/((4*2600*2000.0_dp**2 + 5*2700*3464.0_dp**2)/3) - 1) < 0.01_dp .and. &
               abs(window%medium(1, 1, 2, 2) - 2000) < 0.01_dp .and. abs(window%medium(1, 1, 6, 2) - 3464) < 0.01_dp, &
               'and the mean stiffness, '//Str(100*sum(mu)/((4*2600*2000.0_dp**2 + 5*2700*3464.0_dp**2)/3), 5)// &
               ' % of it; those further away are as they are')
    call Boxes('of layers')
    call DeepLayers()
    call ThinLayer()
    call Settings('layers = a.layers'//nl//'dx = 200'//nl//'aperture = 1000'//nl//'depth = 3000'//nl)
    call Boxes('of layers')
    job%attenuation = .false.
    call Model3dRead(job, earth, error)
    call Model3dWindow(earth, job, shot, window, error)
    call Claim(size(window%medium, 4) == 3, 'without attenuation: 3 parts')
  end subroutine Layers

  subroutine Volumes()
    character(:), allocatable :: text
    integer :: o, of(3), m(3)
    character(1) :: names(3)
    logical :: same
    text = 'vp = v.raw'//nl//'vp_vs = 2'//nl//'model_nx = 14'//nl//'model_ny = 11'//nl//'model_nz = 12'//nl//'model_dx = 10'//nl// &
           'model_dy = 12'//nl//'model_dz = 8'//nl//'model_x0 = 5'//nl//'model_z0 = 4'//nl
    do o = 1, 6
      of = [(index('xyz', orders(o)(i:i)), i=1, 3)]
      call Put('v.raw', real([reshape(vp, n(of), order=Inverse(of))], sp))
      call Settings(text//'model_order = '//orders(o)//nl)
      call Model3dRead(job, earth, error)
      call Same3('raw, fastest first '//orders(o))
      call FromDisk('raw '//orders(o))
      m = n(of)
      do i = 1, 3
        names(i) = orders(o)(4 - i:4 - i)
      end do
      call PutNetcdf('v.nc', names, reshape(vp, m, order=Inverse(of)))
      call Settings('vp = v.nc'//nl//'vp_vs = 2'//nl)
      call Model3dRead(job, earth, error)
      call Same3('NetCDF ('//names(1)//', '//names(2)//', '//names(3)//')')
      call FromDisk('NetCDF ('//names(1)//', '//names(2)//', '//names(3)//')')
      call PutNetcdf('v.nc', names, reshape(vp, m, order=Inverse(of)), up='falling')
      call Model3dRead(job, earth, error)
      call Same3('the same with heights, the shallowest first')
      call PutNetcdf('v.nc', names, reshape(vp(:, :, n(3):1:-1), m, order=Inverse(of)), up='rising')
      call Model3dRead(job, earth, error)
      call Same3('the same with heights, the deepest first')
      call Claim(index(earth%sources, 'v.nc, z counts upwards there: turned') > 0, 'which is told: '//earth%sources)
      call FromDisk('heights, the deepest first ('//names(1)//', '//names(2)//', '//names(3)//')')
    end do
    call PutNetcdf('v.nc', names, reshape(vp, m, order=Inverse(of)), called=[character(9) :: 'crossline', 'inline', 'z'])
    call Model3dRead(job, earth, error)
    call Same3('x called crossline, y called inline, as the attribute axis tells')
    job%vp_var = 'speed'
    call Model3dRead(job, earth, error)
    call ClaimFails(error, "has no variable 'speed' of numbers in 3 dimensions, x, y and z: name one by the parameter that ends "// &
      'in _var; it has vp', 'a variable that is not there')
    job%vp_var = 'vp'
    call Model3dRead(job, earth, error)
    same = abs(earth%low(1)) < 1e-9_dp .and. abs(earth%low(3)) < 1e-9_dp .and. abs(earth%high(1) - 140) < 1e-9_dp
    call Claim(same, 'cells centred at 5, 15 .. 135 m cover '//Str(earth%low(1))//' .. '//Str(earth%high(1))//' m')
    job%model_at = 'nodes'
    call Model3dRead(job, earth, error)
    call Model3dWindow(earth, job, shot, window, error)
    call Claim(window%nx == 13 .and. abs(window%x0 - 5) < 1e-9_dp .and. &
               abs(window%medium(3, 4, 5, 3) - 1000) < 1e-3_dp .and. abs(window%medium(3, 4, 5, 1) - (vp(3, 4, 5) + 55.5_dp)) < 2, &
               'samples on nodes: '//Str(window%nx)//' cells between 14 samples, each the mean of its eight')
  end subroutine Volumes

  !> Boxes of windows, on the model's grid and on another one, whose samples are read when they are needed.
  subroutine FromDisk(what)
    character(*), intent(in) :: what
    type(model3d_t) :: disk
    type(box_t) :: box
    real(dp) :: r(3, 2)
    integer :: turn, good
    if (allocated(error)) return
    disk = earth
    disk%on_disk = .true.
    deallocate (disk%vp, disk%vs, disk%rho)
    good = 0
    do turn = 1, 8
      job%dx = merge(0, 7 + turn, turn < 4)
      job%dy = merge(0.0_dp, job%dx*1.5_dp, turn < 4)
      job%dz = job%dx
      call random_number(r)
      call Model3dWindow(earth, job, shot, window, error)
      box%low = 1 + int(minval(r, 2)*[window%nx, window%ny, window%nz])
      box%high = 1 + int(maxval(r, 2)*[window%nx, window%ny, window%nz])
      call Model3dWindow(disk, job, shot, piece, error, box)
      if (allocated(error)) exit
      box = WindowClip(window, box)
      associate (l => box%low, h => box%high)
        if (all(abs(piece%medium - window%medium(l(1):h(1), l(2):h(2), l(3):h(3), :)) <= 0)) good = good + 1
      end associate
    end do
    job%dx = 0
    job%dy = 0
    job%dz = 0
    if (allocated(error)) call ClaimFine(error, 'boxes from disk, '//what)
    call Claim(good == 8, Str(good)//' of 8 boxes read from disk have the bits of the model in memory: '//what)
  end subroutine FromDisk

  pure function Inverse(of) result(back)
    integer, intent(in) :: of(3)
    integer :: back(3)
    back = [findloc(of, 1, 1), findloc(of, 2, 1), findloc(of, 3, 1)]
  end function Inverse

  subroutine Same3(what)
    character(*), intent(in) :: what
    if (allocated(error)) then
      call ClaimFine(error, what)
      return
    end if
    call Claim(all(earth%n == n) .and. maxval(abs(reshape(earth%vp, n) - vp)) < 1e-2_dp .and. &
               maxval(abs(2*earth%vs - earth%vp)) < 1e-2, what//': every sample where it belongs, vs = vp/2')
  end subroutine Same3

  !> A variable vp on (axes(1), axes(2), axes(3)), slowest first.
  !> called: what x, y, z are called in the file, which then tells them by their attribute axis.
  !> up: z are heights that rise or fall from sample to sample.
  subroutine PutNetcdf(path, axes, a, called, up)
    character(*), intent(in) :: path
    character(1), intent(in) :: axes(3)
    real(dp), intent(in) :: a(:, :, :)
    character(*), intent(in), optional :: called(3), up
    type(c_ptr) :: h
    character(9) :: names(3)
    integer :: s, length
    real(dp), allocatable :: places(:)
    real(dp) :: step
    names = axes
    h = fio_create(CString(path))
    do s = 1, 3
      length = size(a, 4 - s)
      if (present(called)) names(s) = called(index('xyz', axes(s)))
      call FioDim(h, trim(names(s)), length, error)
      call FailFromC(fio_var(h, CString(trim(names(s))), CString('double'), CString(trim(names(s)))), error)
      call FioText(h, trim(names(s)), 'units', 'm', error)
      if (present(called)) call FioText(h, trim(names(s)), 'axis', axes(s), error)
      if (present(up) .and. axes(s) == 'z') call FioText(h, trim(names(s)), 'positive', 'up', error)
    end do
    call FailFromC(fio_var(h, CString('vp'), CString('float'), &
                           CString(trim(names(1))//' '//trim(names(2))//' '//trim(names(3)))), error)
    call FioText(h, 'vp', 'units', 'm/s', error)
    call FailFromC(fio_enddef(h), error)
    do s = 1, 3
      length = size(a, 4 - s)
      step = merge(10, merge(12, 8, axes(s) == 'y'), axes(s) == 'x')
      places = [(step*(i - 0.5_dp), i=1, length)]
      if (present(up) .and. axes(s) == 'z') then
        places = -places
        if (up == 'rising') places = places(length:1:-1)
      end if
      call FailFromC(fio_put_doubles(h, CString(trim(names(s))), [0_i8], [int(length, i8)], places), error)
    end do
    call FailFromC(fio_put_doubles(h, CString('vp'), [0_i8, 0_i8, 0_i8], int([size(a, 3), size(a, 2), size(a, 1)], i8), a), error)
    call FailFromC(fio_close(h), error)
    if (allocated(error)) call ClaimFine(error, 'writing '//path)
  end subroutine PutNetcdf

  !> The same contact in layers and in volumes finer than the grid, horizontal and upright; a piece of them from disk.
  subroutine Contacts()
    integer, parameter :: m = 40
    real(sp) :: v(m, m, m), column(m/4, 3), here(m/4, 3)
    type(model3d_t) :: disk
    type(box_t) :: box
    character(:), allocatable :: text
    integer :: a, k
    call Geometry(60.0_dp, 55.0_dp, 30.0_dp)
    text = 'dx = 20'//nl//'dy = 20'//nl//'dz = 20'//nl//'aperture = 40'//nl//'depth = 200'//nl
    call Put('a.layers', '0 3000 1500 2200'//nl//'105 4500 2250 2200'//nl)
    call Settings('layers = a.layers'//nl//text)
    call Model3dRead(job, earth, error)
    call Model3dWindow(earth, job, shot, window, error)
    column = window%medium(1, 1, :, :)
    text = 'vp = v.raw'//nl//'vp_vs = 2'//nl//'rho_value = 2200'//nl//'model_nx = 40'//nl//'model_ny = 40'//nl//'model_nz = 40'//nl// &
           'model_dx = 5'//nl//'model_dy = 5'//nl//'model_dz = 5'//nl//'model_at = centres'//nl//'dx = 20'//nl//'dy = 20'//nl// &
           'dz = 20'//nl
    do a = 1, 3
      do k = 1, m
        if (a == 1) v(k, :, :) = merge(3000, 4500, k <= 21)
        if (a == 2) v(:, k, :) = merge(3000, 4500, k <= 21)
        if (a == 3) v(:, :, k) = merge(3000, 4500, k <= 21)
      end do
      call Put('v.raw', [v])
      call Settings(text)
      call Model3dRead(job, earth, error)
      call Model3dWindow(earth, job, shot, window, error)
      call ClaimFine(error, 'a contact in a cell, across axis '//Str(a))
      if (allocated(error)) return
      if (a == 1) here = window%medium(:, 5, 4, :)
      if (a == 2) here = window%medium(5, :, 4, :)
      if (a == 3) here = window%medium(5, 4, :, :)
      call Claim(all(abs(here/column - 1) < 1e-5), 'volumes have there the medium of layers, across axis '//Str(a))
      disk = earth
      disk%on_disk = .true.
      deallocate (disk%vp, disk%vs, disk%rho)
      box%low = [3, 4, 5]
      do k = 1, 3
        box%low = cshift(box%low, 1)
        box%high = box%low + [2, 0, 1]
        call Model3dWindow(disk, job, shot, piece, error, box)
        if (.not. allocated(error)) call Claim(all(abs(piece%medium - window%medium(box%low(1):box%high(1), box%low(2):box%high(2), &
                                                   box%low(3):box%high(3), :)) <= 0), 'a piece of it from disk has the same bits')
      end do
    end do
  end subroutine Contacts

  !> Water over rock over air pockets, on a grid twice as coarse: cells are what most of them is.
  subroutine Mixtures()
    real(sp) :: v(16, 16, 16), s(16, 16, 16), r(16, 16, 16)
    v = 3000
    s = 1500
    r = 2200
    v(:, :, 1:5) = 1500                     ! water: cells 1, 2 and half of 3
    s(:, :, 1:5) = 0
    r(:, :, 1:5) = 1000
    v(1:3, :, 9:10) = 0                     ! air: cell 1 and half of 2
    call Put('v.raw', [v])
    call Put('s.raw', [s])
    call Put('r.raw', [r])
    call Settings('vp = v.raw'//nl//'vs = s.raw'//nl//'rho = r.raw'//nl//'model_nx = 16'//nl//'model_ny = 16'//nl// &
                  'model_nz = 16'//nl//'model_dx = 10'//nl//'model_dy = 10'//nl//'model_dz = 10'//nl//'dx = 20'//nl// &
                  'dy = 20'//nl//'dz = 20'//nl//'model_at = centres'//nl)
    call Model3dRead(job, earth, error)
    call Model3dWindow(earth, job, shot, window, error)
    call ClaimFine(error, 'water, rock and air, two samples to a cell')
    call Claim(all(window%medium(:, :, 1:2, 2) <= 0) .and. all(abs(window%medium(5:, :, 3, 1) - 3000) < 0.01) .and. &
               all(abs(window%medium(5:, :, 3, 3) - 2200) < 0.01), 'half water, half rock is rock, with its own velocity and density')
    call Claim(all(window%medium(1, :, 5, :) <= 0) .and. all(abs(window%medium(2, :, 5, 1) - 3000) < 0.01), &
               'air is air; half air is rock')
    call Claim(abs(earth%vmin - 1500) < 1e-3 .and. abs(earth%vsmin - 1500) < 1e-3 .and. abs(earth%rhomin - 1000) < 1e-3, &
               'the slowest wave is '//Str(earth%vmin)//' m/s: air does not count')
    call LookedUp()
  end subroutine Mixtures

  !> Cells around receivers, read at once, are those of the window, and so are those that lie beyond and are read one by one.
  subroutine LookedUp()
    type(window_t) :: around, bare
    type(box_t) :: known
    real(sp), allocatable :: row(:, :), alone(:, :)
    integer :: c(3), low, low_alone, a, r
    logical :: same
    bare = window
    deallocate (bare%medium)
    call Model3dAround(earth, job, shot, bare, around)
    known = WindowBox(around)
    call Claim(all(known%high - known%low >= [5, 4, 3]) .and. any(known%high < [window%nx, window%ny, window%nz]), &
               'cells around the receivers are known, not all of the window')
    same = .true.
    do r = 1, size(shot%rx)
      c = WindowCell(window, [shot%rx(r), shot%ry(r), shot%rz(r)])
      do a = 1, 3
        call Model3dRow(earth, job, around, c, a, 2, 2 + 5*(r - 1), row, low, error)
        call Model3dRow(earth, job, bare, c, a, 2, 2 + 5*(r - 1), alone, low_alone, error)
        same = same .and. low == low_alone .and. all(shape(row) == shape(alone))
        if (same) same = all(abs(row - alone) <= 0) .and. all(abs(row(c(a) - low + 1, :) - window%medium(c(1), c(2), c(3), :)) <= 0)
      end do
    end do
    call ClaimFine(error, 'rows of cells through receivers')
    call Claim(same, 'are the same whether they were known or not')
    shot%rx(2) = shot%rx(2) + 1e5
    call Model3dAround(earth, job, shot, bare, around)
    call Claim(allocated(around%medium), 'receivers beyond the window are cut off at its end')
    shot%rx(2) = shot%rx(2) - 1e5
  end subroutine LookedUp

  subroutine Windows()
    logical :: same
    integer :: di, dj
    call Put('v.raw', real([vp], sp))
    call Settings('vp = v.raw'//nl//'vp_vs = 2'//nl//'model_nx = 14'//nl//'model_ny = 11'//nl//'model_nz = 12'//nl// &
                  'model_dx = 10'//nl//'model_dy = 12'//nl//'model_dz = 8'//nl//'dx = 7'//nl//'dy = 7'//nl//'dz = 7'//nl)
    call Model3dRead(job, earth, error)
    call Model3dWindow(earth, job, shot, window, error)
    job%aperture = 28
    call Model3dWindow(earth, job, shot, piece, error)
    call ClaimFine(error, 'a window of some aperture')
    di = nint((piece%x0 - window%x0)/7)
    dj = nint((piece%y0 - window%y0)/7)
    same = di > 0 .and. dj > 0
    if (same) same = all(abs(piece%medium - window%medium(di + 1:di + piece%nx, dj + 1:dj + piece%ny, :, :)) <= 0)
    call Claim(same, Str(piece%nx)//' x '//Str(piece%ny)//' x '//Str(piece%nz)//' cells equal that piece of the whole')
    call Boxes('of volumes')
    earth%vs(7, 25) = earth%vs(7, 25) + 1
    call Model3dWindow(earth, job, shot, window, error)
    call ClaimFails(error, 'not what was read', 'a sample that changed in memory')
  end subroutine Windows

  !> Boxes of the window have the bits of the whole, by the numbers of its cells.
  subroutine Boxes(what)
    character(*), intent(in) :: what
    type(box_t) :: box, known
    real(dp) :: r(3, 2)
    integer :: turn, good
    call Model3dWindow(earth, job, shot, window, error)
    good = 0
    call Seed(6910)
    do turn = 1, 40
      call random_number(r)
      box%low = 1 + int(minval(r, 2)*[window%nx, window%ny, window%nz])
      box%high = 1 + int(maxval(r, 2)*[window%nx, window%ny, window%nz])
      if (turn < 3) box%high = huge(1)                      ! as far as it goes
      call Model3dWindow(earth, job, shot, piece, error, box)
      if (allocated(error)) exit
      box = WindowClip(window, box)
      known = WindowBox(piece)
      associate (l => box%low, h => box%high)
        if (.not. (WindowSame(piece, window) .and. all(known%low == l) .and. all(known%high == h))) cycle
        if (all(abs(piece%medium - window%medium(l(1):h(1), l(2):h(2), l(3):h(3), :)) <= 0)) good = good + 1
      end associate
    end do
    call ClaimFine(error, 'boxes of a window '//what)
    call Claim(good == 40, Str(good)//' of 40 boxes of a window '//what//' have the bits of the whole')
  end subroutine Boxes

  subroutine Faults()
    call Refused('0 4000 2000 2600'//nl//'0 4000 2000 2600'//nl, 'must be below the layer before', 'two layers at one depth')
    call Refused('0 4000 3700 2600'//nl, 'less than 0.866 vp', 'a layer that cannot be')
    call Refused('# none'//nl, 'holds no layer: give a line a layer', 'a table without a layer')
    call Refused('0 4000 2000'//nl, '3 numbers', 'too few numbers')
    call Refused('0 4000 2000 2600'//nl//'5 4000 2000 2600 100 50'//nl, 'every line alike', 'Q in some lines')
    call Refused('0 4000 rock 2600'//nl, 'line 1: ''rock'' is no number', 'a word')
    call Put('a.layers', '0 4000 2000 2600'//nl)
    call Settings('layers = a.layers'//nl//'dx = 100'//nl)
    call Model3dRead(job, earth, error)
    call Model3dGrid(job, earth, d, error)
    call ClaimFails(error, 'give aperture', 'layers without an end')
    call Settings('vp = v.raw'//nl//'model_nx = 14'//nl//'model_ny = 11'//nl//'model_nz = 13'//nl//'model_dx = 10'//nl// &
                  'model_dy = 12'//nl//'model_dz = 8'//nl)
    call Model3dRead(job, earth, error)
    call ClaimFails(error, 'check model_nx', 'a file of another size')
    job%model_nz = 12
    job%vp_vs = 1.1_dp
    call Model3dRead(job, earth, error)
    call ClaimFails(error, 'below 0.866 vp', 'a rock that would swell when pressed')
    job%vp_vs = 2
    call Model3dRead(job, earth, error)
    call Geometry(60.0_dp, 255.0_dp, 30.0_dp)
    call Model3dShape(earth, job, shot, window, error)
    call ClaimFails(error, 'lies outside the model', 'a source outside')
    call Geometry(60.0_dp, 55.0_dp, 30.0_dp)
    shot%rz(2) = 200
    call Model3dShape(earth, job, shot, window, error)
    call ClaimFails(error, '1 receiver(s), the first of them channel 2', 'a receiver outside')
    call Put('a.layers', '100.1 4000 2000 2600'//nl)
    call Settings('layers = a.layers'//nl//'dx = 20'//nl//'aperture = 60'//nl//'depth = 200.2'//nl)
    call Model3dRead(job, earth, error)
    call Geometry(60.0_dp, 55.0_dp, 300.3_dp)
    shot%rz = 300.3_dp
    call Model3dShape(earth, job, shot, window, error)
    call ClaimFine(error, 'a source and receivers at the bottom of layers from 100.1 m down, 200.2 m deep')
  end subroutine Faults

  subroutine Refused(text, words, sentence)
    character(*), intent(in) :: text, words, sentence
    call Put('bad.layers', text)
    call Settings('layers = bad.layers'//nl)
    call Model3dRead(job, earth, error)
    call ClaimFails(error, words, sentence)
  end subroutine Refused

end program t691_earth
