!> The window of a shot: identity on the model's grid, right means on others, a crop of the whole, every bad geometry named, and no
!> window where a bit of the model has changed in memory.
program t302_model_window
  use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value
  use check_m, only: Claim, ClaimFails, ClaimFine, Done, GivenSeed, Seed
  use error_m, only: error_t
  use kinds_m, only: dp, i8, sp
  use model_m, only: model_t
  use model_window_m, only: ModelGrid, ModelShape, ModelWindow
  use parameters_m, only: job_t
  use model_checksum_m, only: ModelChecksumMake
  use shot_m, only: shot_t
  use text_m, only: Str
  use window_m, only: box_t, window_t, WindowAtOnce, WindowParts
  implicit none
  integer, parameter :: nx = 101, nz = 41
  integer, parameter :: fine = 200                    !< places a cell of a mean by the kernel
  type(error_t), allocatable :: error
  type(model_t) :: model
  type(job_t) :: job
  type(shot_t) :: shot
  logical :: coarse(2)                                !< the grid is coarser than the model along x, along z
  integer :: i, k

  call Fresh()
  call Identity()
  call Coarser()
  call Finer()
  call Nearest()
  call Cells()
  call Between()
  call Directions()
  call InTurns()
  call Crops('average', [2, 2, 2, 2, 2])
  call Crops('cell', [2, 3, 3, 3, 3])
  call ByThreads()
  call AtOnce()
  call Grids()
  call BadGeometry()
  call WrongBit()
  call Done()

contains

  subroutine Fresh()
    model%nx = nx
    model%nz = nz
    model%dx = 20
    model%dz = 10
    model%x0 = -500
    model%z0 = 0
    model%vp = reshape([((1500.0_sp + 13*modulo(i*7 + k*k, 101) + k, i=1, nx), k=1, nz)], [nx, nz])
    model%rho = reshape([((1000.0_sp + 3*modulo(i*i + k*5, 97), i=1, nx), k=1, nz)], [nx, nz])
    job = job_t()
    job%regrid = 'average'
    job%top = 'pml'
    job%aperture = -1
    shot = shot_t()
    shot%record = 12
    shot%sx = 203.3_dp
    shot%sz = 7
    shot%rx = [210.0_dp, 310.7_dp, 411.4_dp]
    shot%ry = [0.0_dp, 0.0_dp, 0.0_dp]
    shot%rz = [8.0_dp, 8.0_dp, 8.0_dp]
    shot%channel = [1, 2, 3]
  end subroutine Fresh

  subroutine Identity()
    type(window_t) :: w
    call ModelWindow(model, job, shot, model%dx, model%dz, w, error)
    call ClaimFine(error, 'a window on the grid of the model')
    call Claim(w%nx == nx .and. w%nz == nz .and. all(w%medium(:, 1, :, 1) == model%vp) .and. &
               all(w%medium(:, 1, :, 2) == model%rho), &
      'is the model itself, bit for bit')
    call Claim(w%x0 == model%x0 .and. w%z0 == model%z0 .and. w%dx == 20 .and. w%dz == 10, 'in its place')
  end subroutine Identity

  !> 50 m from 20 m samples: node i stands for 50i - 25 .. 50i + 25, samples for 20j - 10 .. 20j + 10: overlaps of 15, 20, 15 m
  !> around an even i, of 5, 20, 20, 5 m around an odd one. Along z 10 m stay 10 m.
  subroutine Coarser()
    type(window_t) :: w
    real(dp) :: v, r, worst_v, worst_r
    integer :: j
    call ModelWindow(model, job, shot, 50.0_dp, model%dz, w, error)
    call ClaimFine(error, 'a window on 50 m from 20 m')
    call Claim(w%nx == 41 .and. w%nz == nz, 'has 41 x '//Str(w%nz)//' nodes')
    worst_v = 0
    worst_r = 0
    do k = 1, nz
      do i = 2, 38, 2
        j = 5*i/2 + 1   ! the sample at node i, counted from 0
        v = 50/(15/real(model%vp(j - 1, k), dp) + 20/real(model%vp(j, k), dp) + 15/real(model%vp(j + 1, k), dp))
        r = (15*real(model%rho(j - 1, k), dp) + 20*real(model%rho(j, k), dp) + 15*real(model%rho(j + 1, k), dp))/50
        worst_v = max(worst_v, abs(w%medium(i + 1, 1, k, 1)/v - 1))
        worst_r = max(worst_r, abs(w%medium(i + 1, 1, k, 2)/r - 1))
        j = (5*i + 5)/2 + 1   ! sample left of node i + 1
        v = 50/(5/real(model%vp(j - 1, k), dp) + 20/real(model%vp(j, k), dp) + 20/real(model%vp(j + 1, k), dp) + &
          5/real(model%vp(j + 2, k), dp))
        worst_v = max(worst_v, abs(w%medium(i + 2, 1, k, 1)/v - 1))
      end do
    end do
    call Claim(worst_v < 2e-7_dp, 'velocity is the mean slowness by overlap: relative error '//Str(worst_v, 2)//', at most 2e-7')
    call Claim(worst_r < 2e-7_dp, 'density is the mean by overlap: relative error '//Str(worst_r, 2)//', at most 2e-7')
    v = 35/(20/real(model%vp(1, 5), dp) + 15/real(model%vp(2, 5), dp))
    call Claim(abs(w%medium(1, 1, 5, 1)/v - 1) < 2e-7_dp, 'at the side the mean is over what there is: relative error '// &
      Str(abs(w%medium(1, 1, 5, 1)/v - 1), 2))
    call ModelWindow(model, job, shot, 40.0_dp, 30.0_dp, w, error)
    r = sum([((model%rho(i, k)*merge(1, 2, i /= 51)*1.0_dp, i=50, 52), k=30, 32)])/12
    call Claim(abs(w%medium(26, 1, 11, 2)/r - 1) < 2e-7_dp, 'both axes coarser: 3 x 3 samples in one node, relative error '// &
      Str(abs(w%medium(26, 1, 11, 2)/r - 1), 2))
    model%vp = 2345.678_sp
    call ModelWindow(model, job, shot, 33.3_dp, 17.7_dp, w, error)
    call Claim(all(w%medium(:, 1, :, 1) == 2345.678_sp), 'a uniform velocity stays what it is, bit for bit, at any spacing')
    call Fresh()
  end subroutine Coarser

  subroutine Finer()
    type(window_t) :: w
    real(dp) :: x, worst_v, worst_r
    ! slowness and density linear in x and z: linear interpolation is exact
    do k = 1, nz
      do i = 1, nx
        model%vp(i, k) = real(1/(6.0e-4_dp - 2.0e-6_dp*i - 3.0e-6_dp*k), sp)
        model%rho(i, k) = 1000 + 2*i + 3*k
      end do
    end do
    call ModelWindow(model, job, shot, 7.0_dp, 4.0_dp, w, error)
    call ClaimFine(error, 'a window on 7 m x 4 m from 20 m x 10 m')
    worst_v = 0
    worst_r = 0
    do k = 1, 101
      do i = 1, 285
        x = 6.0e-4_dp - 2.0e-6_dp*(1 + (i - 1)*7/20.0_dp) - 3.0e-6_dp*(1 + (k - 1)*4/10.0_dp)
        worst_v = max(worst_v, abs(w%medium(i, 1, k, 1)*x - 1))
        worst_r = max(worst_r, abs(w%medium(i, 1, k, 2)/(1000 + 2*(1 + (i - 1)*7/20.0_dp) + 3*(1 + (k - 1)*4/10.0_dp)) - 1))
      end do
    end do
    call Claim(w%nx == 287 .and. w%nz == 101, 'has '//Str(w%nx)//' x '//Str(w%nz)//' nodes, 287 x 101 cover the model')
    call Claim(worst_v < 3e-7_dp .and. worst_r < 2e-7_dp, 'is linear in slowness and density: relative errors '//Str(worst_v, 2)// &
      ' (at most 3e-7) and '//Str(worst_r, 2)//' (at most 2e-7)')
    call Claim(all(w%medium(1:281:20, 1, 1:101:5, 1) == model%vp(1:99:7, 1:41:2)), &
               'and the samples themselves where nodes fall on them')
    call Fresh()
  end subroutine Finer

  subroutine Nearest()
    type(window_t) :: w
    job%regrid = 'nearest'
    call ModelWindow(model, job, shot, 7.0_dp, 25.0_dp, w, error)
    call Claim(all([(w%medium(i, 1, 4, 1) == model%vp(nint((i - 1)*7/20.0_dp) + 1, 9), i=1, 285)]), &
      'nearest takes the nearest sample')
    call Fresh()
  end subroutine Nearest

  !> What is asked for at once, a number of default size has room for, whatever the window and its cells are.
  subroutine AtOnce()
    type(window_t) :: w
    integer(i8) :: most, numbers
    integer :: parts(4) = [0, 3, 75, 2500], c, layers
    most = 0
    do c = 1, size(parts)
      w = window_t(nx=merge(1, 700, c > 2), ny=merge(1, 900, c > 2), nz=huge(1), parts=parts(c))
      layers = WindowAtOnce(w, box_t([1, 1, 1], [w%nx, w%ny, w%nz]))
      numbers = int(layers, i8)*w%nx*w%ny*max(5, parts(c))
      most = max(most, numbers)
      if (layers < 1 .or. numbers < 40000000) exit
    end do
    call Claim(c > size(parts) .and. most < 270000000, 'cells of 3 to 2500 parts are asked for by at most '//Str(int(most))//' numbers')
    w = window_t(nx=40000, ny=40000, nz=9, parts=5)
    call Claim(WindowAtOnce(w, box_t([1, 1, 1], [w%nx, w%ny, w%nz])) == 1, 'one layer at least')
  end subroutine AtOnce

  !> regrid=cell: compressibility and densities that are linear along their axes come back linear; a step overshoots, but not below
  !> 0.7 of the least compressibility; one number stays what it is; on the grid of the model nothing is changed.
  subroutine Cells()
    type(window_t) :: w, same
    real(dp) :: x, z, worst(3), least, moments(0:3, 2)
    job%regrid = 'cell'
    call ModelWindow(model, job, shot, model%dx, model%dz, w, error)
    job%regrid = 'average'
    call ModelWindow(model, job, shot, model%dx, model%dz, same, error)
    call Claim(size(w%medium, 4) == 2 .and. all(abs(w%medium - same%medium) <= 0), 'cell is average on the grid of the model')
    job%regrid = 'cell'
    call ModelWindow(model, job, shot, 20.0_dp, 15.0_dp, w, error)
    call ModelShape(model, job, shot, 20.0_dp, 15.0_dp, same, error)
    call Claim(size(w%medium, 4) == 3 .and. WindowParts(same) == 3 .and. .not. allocated(same%medium), &
               'coarser along one axis is enough for densities of vx and vz apart, and that is known before the medium is there')
    do k = 1, nz
      do i = 1, nx
        model%rho(i, k) = 1000 + 4*i
        model%vp(i, k) = real(1/sqrt(real(model%rho(i, k), dp)*(3.0e-10_dp - 1.0e-12_dp*i - 2.0e-12_dp*k)), sp)
      end do
    end do
    job%regrid = 'cell'
    call ModelWindow(model, job, shot, 50.0_dp, 25.0_dp, w, error)
    call ClaimFine(error, 'a window on 50 m x 25 m by cells')
    worst = 0
    do k = 5, 12
      do i = 5, 35
        x = 1 + (i - 1)*50/20.0_dp
        z = 1 + (k - 1)*25/10.0_dp
        worst(1) = max(worst(1), abs(w%medium(i, 1, k, 1)*(3.0e-10_dp - 1.0e-12_dp*x - 2.0e-12_dp*z) - 1))
        worst(2) = max(worst(2), abs(w%medium(i, 1, k, 2)/(1000 + 4*(x + 1.25_dp)) - 1))
        worst(3) = max(worst(3), abs(w%medium(i, 1, k, 3)/(1000 + 4*x) - 1))
      end do
    end do
    call Claim(worst(1) < 1e-6_dp .and. worst(2) < 1e-6_dp .and. worst(3) < 1e-4_dp, 'compressibility, density along its difference '// &
               'and across are those of the samples: relative errors '//Str(worst(1), 2)//', '//Str(worst(2), 2)//', '// &
               Str(worst(3), 2)//', at most 1e-6, 1e-6, 1e-4 (its reciprocal is curved)')
    call Step(1.2_dp, moments(:, 1), least)
    call Step(sqrt(10.0_dp), moments(:, 2), least)
    call Claim(abs(least - 0.75_dp) < 1e-5_dp .and. all(abs(moments(:, 2)/moments(:, 1) - 1) < 2e-5_dp), 'a step of compressibility '// &
               '10 : 1 keeps '//Str(least, 4)//' of the least, its moments up to the third being those of one of 1.44 : 1, relative: '// &
               Str(maxval(abs(moments(:, 2)/moments(:, 1) - 1)), 2)//', at most 2e-5')
    call Step(10.0_dp, moments(:, 2), least)
    call Claim(least > 0.7499_dp .and. least < 1, 'one of 100 : 1 keeps '//Str(least, 4)//' of the least, at least 0.75')
    call Fresh()
  end subroutine Cells

  !> A step of vp and none of density, on 50 m x 25 m: the part of compressibility that nodes along z have of its upper side, its
  !> moments around row 8, and the least of compressibilities over that of the lower side.
  subroutine Step(faster, moments, least)
    real(dp), intent(in) :: faster
    real(dp), intent(out) :: moments(0:3), least
    type(window_t) :: w
    real(dp), allocatable :: part(:)
    integer :: k, m
    model%rho = 1000
    model%vp = 1000
    model%vp(:, 21:) = real(1000*faster)
    call ModelWindow(model, job, shot, 50.0_dp, 25.0_dp, w, error)
    call ClaimFine(error, 'a window of a step')
    if (.not. all(w%medium(:, 1, :, 2:) == 1000)) call Claim(.false., 'a density without step stays, bit for bit')
    allocate (part(size(w%medium, 3)))
    part = (1.0e9_dp/w%medium(9, 1, :, 1) - 1/real(model%vp(1, 21)/1000, dp)**2)/(1 - 1/real(model%vp(1, 21)/1000, dp)**2)
    moments = [(sum(part*[((k - 8.0_dp)**m, k=1, size(part))]), m=0, 3)]
    least = minval(1.0e9_dp/w%medium(:, 1, :, 1))*faster**2
  end subroutine Step

  !> regrid=cell on grids finer than the model, or finer along one axis and coarser along the other, at nodes drawn at random: the
  !> means over the kernel of the earth between the samples, by sums over many places. An even earth stays as it is.
  subroutine Between()
    real(dp), parameter :: steps(2, 3) = reshape([7.0_dp, 3.0_dp, 11.3_dp, 25.0_dp, 15.0_dp, 9.9_dp], [2, 3])
    type(window_t) :: w
    real(dp) :: off(3), u(2)
    integer :: n, m, number, at(2)
    number = GivenSeed()
    call Seed(number)
    job%regrid = 'cell'
    do n = 1, 3
      call ModelWindow(model, job, shot, steps(1, n), steps(2, n), w, error)
      call ClaimFine(error, 'a window on '//Str(steps(1, n))//' m x '//Str(steps(2, n))//' m by cells')
      if (size(w%medium, 4) /= 3) exit
      coarse = steps(:, n) > [model%dx, model%dz]
      off = 0
      do m = 1, 6
        call random_number(u)
        at = 1 + int(u*[w%nx, w%nz])
        off = max(off, Apart(w, at, -0.37_dp, 1.37_dp))
      end do
      call Claim(size(w%medium, 4) == 3 .and. maxval(off) < 0.005_dp, 'moduli of 6 nodes are means of what lies between '// &
                 'samples, densities something between masses and flows, on '//Str(steps(1, n))//' m x '//Str(steps(2, n))// &
                 ' m: within '//Str(off(1), 2)//', '//Str(off(2), 2)//', '//Str(off(3), 2)//', at most 0.005 (seed '//Str(number)//')')
    end do
    model%vp = 1777.7_sp
    model%rho = 1013.3_sp
    call ModelWindow(model, job, shot, 7.0_dp, 3.0_dp, w, error)
    call Claim(all(abs(w%medium(:, 1, :, 2:) - 1013.3_sp) <= 0) .and. &
               maxval(abs(w%medium(:, 1, :, 1)/(1013.3_dp*1777.7_dp**2) - 1)) < 2e-7_dp, 'an even earth stays even')
    call Fresh()
  end subroutine Between

  !> Densities where all slopes point along z, along x, or half-way between: masses add across, flows along, and half of each half-way.
  !> Half-way, nodes are so far from the ends of the model, beyond which it goes on evenly, that the slopes around them see none: means
  !> reach over four and a half cells, slopes over two more.
  subroutine Directions()
    type(window_t) :: w
    real(dp) :: off(2), u(2), share(2)
    integer :: d, m, c, at(2), ends
    model%dx = model%dz
    model%nz = nx
    model%vp = spread(model%vp(:, 1), 2, nx)
    job%regrid = 'cell'
    do d = 1, 3
      model%rho = spread(model%rho(:, 1), 2, nx)
      do k = 1, nx
        do i = 1, nx
          m = merge(k, merge(i, i + k, d == 2), d == 1)
          model%rho(i, k) = 1000.0_sp + 900*modulo(m/5, 2) + 300*modulo(m/3, 2)
        end do
      end do
      share = merge([1.0_dp, 0.0_dp], [0.0_dp, 1.0_dp], d == 1)
      if (d == 3) share = 0.5_dp
      ends = merge(7, 4, d == 3)
      call ModelWindow(model, job, shot, 23.3_dp, 23.3_dp, w, error)
      call ClaimFine(error, 'a window of sloping densities')
      off = 0
      do m = 1, 40
        call random_number(u)
        at = ends + 1 + int(u*([w%nx, w%nz] - 2*ends))
        do c = 1, 2
          associate (mean => MeansOfSamples(w%dx, at, c))
            off(c) = max(off(c), abs(w%medium(at(1), 1, at(2), c + 1)*((1 - share(c))/mean(1) + share(c)*mean(2)) - 1))
          end associate
        end do
      end do
      call Claim(maxval(off) < 0.005_dp, 'slopes '//trim(merge('along z ', merge('along x ', 'half-way', d == 2), d == 1))// &
                 ': densities are '//Str(off(1), 2)//' and '//Str(off(2), 2)//' from what they should be, at most 0.005')
    end do
    call Fresh()
  end subroutine Directions

  !> Means of densities, and of their reciprocals, at the point of velocity c of a node, of samples that are cells: d, spacing of the grid.
  function MeansOfSamples(d, at, c) result(mean)
    real(dp), intent(in) :: d
    integer, intent(in) :: at(2), c
    real(dp) :: mean(2)
    real(dp) :: k(-4*fine:4*fine), w(size(model%rho, 1), 2)
    integer :: a, i, j
    k = Kernel()
    w = 0
    do a = 1, 2
      do i = -4*fine, 4*fine
        j = min(nint(((at(a) - 1)*d + (i + merge(fine/2, 0, a == c))*d/fine)/model%dx) + 1, size(w, 1))
        w(j, a) = w(j, a) + k(i)
      end do
    end do
    mean = 0
    do j = 1, size(w, 1)
      mean(1) = mean(1) + w(j, 2)*sum(w(:, 1)*model%rho(:, j))
      mean(2) = mean(2) + w(j, 2)*sum(w(:, 1)/model%rho(:, j))
    end do
  end function MeansOfSamples

  !> K less the mean, and reciprocal densities less those with shares of flows between `first` and `last`, relative.
  function Apart(w, at, first, last) result(off)
    type(window_t), intent(in) :: w
    integer, intent(in) :: at(2)
    real(dp), intent(in) :: first, last
    real(dp) :: off(3), mean(2, 0:2), low(2), high(2), share(2)
    integer :: c
    mean = KernelMeans([w%dx, w%dz], at)
    off(1) = abs(w%medium(at(1), 1, at(2), 1)/mean(1, 0) - 1)
    share = [first, last]
    do c = 1, 2
      low(c) = minval((1 - share)/mean(1, c) + share/mean(2, c))
      high(c) = maxval((1 - share)/mean(1, c) + share/mean(2, c))
      off(c + 1) = max(0.0_dp, low(c)*w%medium(at(1), 1, at(2), c + 1) - 1, 1 - high(c)*w%medium(at(1), 1, at(2), c + 1))
    end do
  end function Apart

  !> Windows of shots that follow each other, from columns that the one before had, are those that are made from the beginning; what
  !> changed in memory since is not used.
  subroutine InTurns()
    type(model_t) :: alone
    type(job_t) :: narrow
    type(shot_t) :: one
    type(window_t) :: w, anew
    real(dp) :: u(2), d(2)
    integer :: n, differ
    narrow = job
    narrow%regrid = 'cell'
    one = shot
    allocate (model%recent)
    alone = model
    nullify (alone%recent)
    differ = 0
    do n = 1, 60
      call random_number(u)
      d = merge([7.0_dp, 3.0_dp], [31.0_dp, 12.5_dp], modulo(n/15, 2) == 0)
      narrow%aperture = 20 + 150*u(1)
      one%sx = model%x0 + u(2)*(model%nx - 1)*model%dx
      one%rx = [one%sx]
      one%rz = [shot%sz]
      if (n == 40) model%recent%medium = 7
      call ModelWindow(model, narrow, one, d(1), d(2), w, error)
      if (.not. allocated(error)) call ModelWindow(alone, narrow, one, d(1), d(2), anew, error)
      if (allocated(error)) exit
      differ = differ + count(.not. w%medium == anew%medium)
    end do
    call ClaimFine(error, '60 windows in turns')
    call Claim(differ == 0, Str(differ)//' numbers of them differ from those made from the beginning')
    deallocate (model%recent)
  end subroutine InTurns

  !> K, and of the densities of vx and vz those of masses and of flows, at node at(1:2) of a grid of spacings d(1:2), from the
  !> model at places closer than samples.
  function KernelMeans(d, at) result(mean)
    real(dp), intent(in) :: d(2)
    integer, intent(in) :: at(2)
    real(dp) :: mean(2, 0:2)
    real(dp) :: k(-4*fine:4*fine), s, r, compliance, mass(2), flow(2)
    integer :: i, j
    k = Kernel()
    compliance = 0
    mass = 0
    flow = 0
    do j = -4*fine, 4*fine
      do i = -4*fine, 4*fine
        call EarthAt((at - 1)*d + [i, j]*d/fine, s, r)
        compliance = compliance + k(i)*k(j)*s**2/r
        call EarthAt((at - 1)*d + [i + fine/2, j]*d/fine, s, r)
        mass(1) = mass(1) + k(i)*k(j)*r
        flow(1) = flow(1) + k(i)*k(j)/r
        call EarthAt((at - 1)*d + [i, j + fine/2]*d/fine, s, r)
        mass(2) = mass(2) + k(i)*k(j)*r
        flow(2) = flow(2) + k(i)*k(j)/r
      end do
    end do
    mean(:, 0) = 1/compliance
    mean(1, 1:) = mass
    mean(2, 1:) = 1/flow
  end function KernelMeans

  !> The kernel at so many places a cell, four cells to each side: cubic B-splines half a cell apart, by truncated powers.
  pure function Kernel() result(k)
    real(dp), parameter :: spline(0:6) = [0.5141333333_dp, 0.3764333333_dp, -0.0295_dp, -0.1792_dp, 0.0438_dp, 0.0585_dp, -0.0271_dp]
    real(dp) :: k(-4*fine:4*fine), y
    integer :: i, j
    k = 0
    do i = -4*fine, 4*fine
      do j = -6, 6
        y = max(0.0_dp, 2 - abs(2*i/real(fine, dp) - j))
        k(i) = k(i) + 2*spline(abs(j))*(y**3 - 4*max(0.0_dp, y - 1)**3)/6/fine
      end do
    end do
  end function Kernel

  !> Slowness and density at a place [m] from the first sample: as it is in cells where the grid is coarser, on lines where it is
  !> finer; beyond the model as at its edge.
  subroutine EarthAt(place, slowness, rho)
    real(dp), intent(in) :: place(2)
    real(dp), intent(out) :: slowness, rho
    real(dp) :: x(2), part(2), w(2, 2)
    integer :: j(2)
    x = min(max(place/[model%dx, model%dz], 0.0_dp), [nx - 1.0_dp, nz - 1.0_dp])
    j = min(int(x), [nx, nz] - 2)
    part = x - j
    where (coarse) part = nint(part)
    w = reshape([(1 - part(1))*(1 - part(2)), part(1)*(1 - part(2)), (1 - part(1))*part(2), part(1)*part(2)], [2, 2])
    associate (v => model%vp(j(1) + 1:j(1) + 2, j(2) + 1:j(2) + 2), r => model%rho(j(1) + 1:j(1) + 2, j(2) + 1:j(2) + 2))
      slowness = sum(w/v)
      rho = sum(w*r)
    end associate
  end subroutine EarthAt

  !> Two densities where the grid is not the model's along x or z, one where it is.
  subroutine Crops(rule, parts)
    character(*), intent(in) :: rule
    integer, intent(in) :: parts(5)                   ! of the medium, on each of these grids
    real(dp), parameter :: steps(2, 5) = reshape([20.0_dp, 10.0_dp, 50.0_dp, 25.0_dp, 7.0_dp, 3.0_dp, 33.3_dp, 11.1_dp, &
      0.1_dp*30, 10.0_dp], [2, 5])
    type(window_t) :: whole, w, piece
    type(box_t) :: box
    integer :: n, i0
    job%regrid = rule
    do n = 1, 5
      job%aperture = -1
      job%depth = 0
      call ModelWindow(model, job, shot, steps(1, n), steps(2, n), whole, error)
      job%aperture = 123.4_dp
      job%depth = 205
      call ModelWindow(model, job, shot, steps(1, n), steps(2, n), w, error)
      call ClaimFine(error, 'a window of aperture 123.4 m and depth 205 m at '//Str(steps(1, n))//' m x '//Str(steps(2, n))//' m')
      i0 = nint((w%x0 - whole%x0)/steps(1, n))
      call Claim(all(w%medium == whole%medium(i0 + 1:i0 + w%nx, :, :w%nz, :)), &
        'equals nodes '//Str(i0 + 1)//' .. '//Str(i0 + w%nx)//' of the whole, bit for bit')
      box = box_t([3, 1, 2], [3 + n, 1, 7])
      call ModelWindow(model, job, shot, steps(1, n), steps(2, n), piece, error, box)
      call Claim(all(lbound(piece%medium) == [3, 1, 2, 1]) .and. all(ubound(piece%medium) == [3 + n, 1, 7, parts(n)]) .and. &
                 all(abs(piece%medium - w%medium(3:3 + n, :, 2:7, :)) <= 0) .and. piece%nx == w%nx .and. piece%x0 == w%x0, &
                 'a box of it has the same bits by the same numbers')
      call Claim(abs(w%x0 - (whole%x0 + i0*steps(1, n))) < 1e-9_dp .and. w%x0 <= shot%sx - 123.4_dp .and. &
        w%x0 > shot%sx - 123.4_dp - steps(1, n) .and. &
        w%x0 + (w%nx - 1)*w%dx >= 411.4_dp + 123.4_dp .and. w%x0 + (w%nx - 2)*w%dx < 411.4_dp + 123.4_dp .and. &
        (w%nz - 1)*w%dz >= 205 .and. (w%nz - 2)*w%dz < 205, 'and reaches no further than needed, from x = '//Str(w%x0)//' m')
    end do
    shot%sx = -499
    call ModelWindow(model, job, shot, 20.0_dp, 10.0_dp, w, error)
    call Claim(w%x0 == model%x0, 'at the side of the model the window ends with it')
    call Fresh()
  end subroutine Crops

  !> A window that is large enough for several threads to bring columns of it to the grid.
  subroutine ByThreads()
    type(window_t) :: one, some
    job%regrid = 'cell'
    job%threads = 1
    call ModelWindow(model, job, shot, 2.3_dp, 0.7_dp, one, error)
    job%threads = 3
    call ModelWindow(model, job, shot, 2.3_dp, 0.7_dp, some, error)
    call Claim(one%nx*one%nz > 3*150000 .and. all(abs(some%medium - one%medium) <= 0), 'three threads make the bits that one makes')
    call Fresh()
  end subroutine ByThreads

  subroutine Grids()
    real(dp) :: dx, dz
    type(window_t) :: w
    call ModelGrid(job, model, dx, dz, error)
    call Claim(dx == 20 .and. dz == 10, 'without dx and dz the grid is that of the model: '//Str(dx)//' x '//Str(dz)//' m')
    job%dx = 20.000000001_dp
    job%dz = 4
    call ModelGrid(job, model, dx, dz, error)
    call Claim(dx == 20 .and. dz == 4, 'a hair off the spacing of the model is that spacing, else what was asked for')
    job%dx = 3000
    call ModelGrid(job, model, dx, dz, error)
    call ClaimFails(error, 'dx = 3000 m is larger than the model, 2000 m', 'a spacing larger than the model')
    job%dx = 1.0e-5_dp
    call ModelGrid(job, model, dx, dz, error)
    call ClaimFails(error, 'more than 1e8 cells', 'an absurdly fine spacing')
    call Fresh()
    call ModelWindow(model, job, shot, 0.01_dp, 0.01_dp, w, error)
    call ClaimFails(error, '200001 x 40001 nodes (64 GB)', 'a window too large to index')
    job%aperture = 0
    shot%rx = [203.3_dp]
    shot%rz = [8.0_dp]
    shot%sx = 200
    shot%rx = [200.0_dp]
    call ModelWindow(model, job, shot, 20.0_dp, 10.0_dp, w, error)
    call ClaimFails(error, '1 x 41 nodes, must have 2 x 2 or more', 'a window of no width')
    call Fresh()
  end subroutine Grids

  subroutine Refused(words, claim)
    character(*), intent(in) :: words, claim
    type(window_t) :: w
    call ModelShape(model, job, shot, 20.0_dp, 10.0_dp, w, error)
    call ClaimFails(error, words, claim)
    call Fresh()
  end subroutine Refused

  subroutine BadGeometry()
    type(window_t) :: w
    call ModelShape(model, job, shot, 20.0_dp, 10.0_dp, w, error)
    call ClaimFine(error, 'a shot within the model')
    shot%sx = -500
    shot%rx(3) = 1500
    shot%rz(3) = 400
    shot%sz = 0
    call ModelShape(model, job, shot, 20.0_dp, 10.0_dp, w, error)
    call ClaimFine(error, 'a shot at the very corners of the model')
    call Fresh()
    shot%sx = -500.1_dp
    call Refused('shot record 12: source at x = -500.1 m lies beside the model, x = -500 .. 1500 m', 'a source beside the model')
    shot%sz = -1
    call Refused('above the top of the model, z = 0 m: depths of key-map and model count from the same zero', 'a source in the air')
    shot%sz = 401
    call Refused('below the model, which ends at z = 400 m', 'a source below the model')
    job%top = 'free'
    shot%sz = 0
    call Refused('would radiate nothing', 'a source on the free surface')
    shot%rx(2:) = [2000.0_dp, 3000.0_dp]
    call Refused('receiver 2 of 3 at x = 2000 m lies beside the model, x = -500 .. 1500 m (and 1 more receiver)', &
      'receivers beside the model')
    shot%rz(1) = -0.5_dp
    call Refused('receiver 1 of 3 at z = -0.5 m lies above', 'a receiver in the air')
    job%depth = 100
    shot%rz(3) = 150
    call Refused('below the modelled part, which depth = 100 m ends at z = 100 m', 'a receiver below the modelled depth')
    shot%rx = shot%rx(:0)
    call Refused('no receivers', 'a shot without receivers')
    shot%rx(2) = ieee_value(1.0_dp, ieee_quiet_nan)
    call Refused('x = NaN m', 'a receiver at no number')
    shot%sx = 5000
    shot%rz = -1
    call Refused('source at x = 5000 m lies beside the model, x = -500 .. 1500 m; receiver 1 of 3', 'all faults of a shot at once')
    shot%sx = 5000
    call Refused('x = -500 .. 1500 m: shift the key-map or the model along x', 'and what to do')
    shot%sx = 5000
    call ModelWindow(model, job, shot, 20.0_dp, 10.0_dp, w, error)
    call ClaimFails(error, 'beside the model', 'no window is cut for a shot outside')
  end subroutine BadGeometry

  !> In each sample that a window is made from, and in samples that it is not.
  subroutine WrongBit()
    type(model_t) :: wide
    type(window_t) :: w
    real(dp) :: dx
    integer :: found, needed, n, m, unneeded
    call Fresh()
    wide = model
    wide%nx = 2000
    wide%vp = spread(model%vp(1, :), 1, 2000)
    wide%rho = spread(model%rho(1, :), 1, 2000)
    call ModelChecksumMake(wide%vp, wide%rho, wide%checksum)
    job%aperture = 3000
    job%depth = 200
    shot%sx = 15000
    shot%rx = [15100.0_dp, 15200.0_dp, 15300.0_dp]
    found = 0
    needed = 0
    unneeded = 0
    do m = 1, 3
      dx = 10.0_dp*m                              ! finer, the same, coarser
      do n = 1, 2000, 9
        call FlipBit(wide%vp(n, 1 + mod(n, 20)))
        call ModelWindow(wide, job, shot, dx, 10.0_dp, w, error)
        if (n > 626 .and. n < 916) needed = needed + 1
        if (n > 626 .and. n < 916 .and. allocated(error)) found = found + 1
        if ((n < 512 .or. n > 1024) .and. allocated(error)) unneeded = unneeded + 1
        if (allocated(error)) then
          if (index(error%message, 'is not what was read') == 0) found = -9999
          deallocate (error)
        end if
        call FlipBit(wide%vp(n, 1 + mod(n, 20)))
      end do
    end do
    call Claim(found == needed .and. needed > 80 .and. unneeded == 0, 'one wrong bit of velocity: '//Str(found)//' of '//Str(needed)// &
               ' found before a window was cut, '//Str(unneeded)//' far from the window refused, must be 0')
    call FlipBit(wide%rho(800, 7))
    call ModelWindow(wide, job, shot, 20.0_dp, 10.0_dp, w, error)
    call ClaimFails(error, 'row 7, samples 513..1024', 'one wrong bit of density')
    call FlipBit(wide%rho(800, 7))
    call FlipBit(wide%rho(800, 40))
    call ModelWindow(wide, job, shot, 20.0_dp, 10.0_dp, w, error)
    call ClaimFine(error, 'one wrong bit below the modelled depth')
  end subroutine WrongBit

  subroutine FlipBit(x)
    real(sp), intent(inout) :: x
    x = transfer(ieor(transfer(x, 1), 1), 1.0_sp)
  end subroutine FlipBit

end program t302_model_window
