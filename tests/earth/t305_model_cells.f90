!> Windows on grids that are not the model's by regrid=cell: modulus and densities are means over a kernel of what lies between samples,
!> whatever the spacings and slopes; windows that follow each other are those made anew.
program t305_model_cells
  use check_m, only: Claim, ClaimFine, Done, GivenSeed, Seed
  use kinds_m, only: dp, sp
  use model_m, only: model_t
  use model_window_m, only: ModelShape, ModelWindow
  use parameters_m, only: job_t
  use shot_m, only: shot_t
  use text_m, only: Str
  use window_case_m, only: error, Fresh, job, model, nx, nz, shot
  use window_m, only: window_t, WindowParts
  implicit none
  integer, parameter :: fine = 200                    !< places a cell of a mean by the kernel
  logical :: coarse(2)                                !< the grid is coarser than the model along x, along z
  integer :: i, k

  call Fresh()
  call Cells()
  call Between()
  call Directions()
  call InTurns()
  call Done()

contains

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
    integer, parameter :: half = fine/2
    real(dp) :: k(-4*fine:4*fine), compliance, mass(2), flow(2)
    real(dp), allocatable :: s(:, :), r(:, :)
    integer :: i, j
    k = Kernel()
    allocate (s(-4*fine:4*fine + half, -4*fine:4*fine + half), r(-4*fine:4*fine + half, -4*fine:4*fine + half))
    do j = -4*fine, 4*fine + half
      do i = -4*fine, 4*fine + half
        call EarthAt((at - 1)*d + [i, j]*d/fine, s(i, j), r(i, j))
      end do
    end do
    compliance = 0
    mass = 0
    flow = 0
    do j = -4*fine, 4*fine
      do i = -4*fine, 4*fine
        compliance = compliance + k(i)*k(j)*s(i, j)**2/r(i, j)
        mass = mass + k(i)*k(j)*[r(i + half, j), r(i, j + half)]
        flow = flow + k(i)*k(j)/[r(i + half, j), r(i, j + half)]
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
    w(1, :) = (1 - part(1))*[1 - part(2), part(2)]        ! so often that reshape would take a third of the test
    w(2, :) = part(1)*[1 - part(2), part(2)]
    associate (v => model%vp(j(1) + 1:j(1) + 2, j(2) + 1:j(2) + 2), r => model%rho(j(1) + 1:j(1) + 2, j(2) + 1:j(2) + 2))
      slowness = sum(w/v)
      rho = sum(w*r)
    end associate
  end subroutine EarthAt

end program t305_model_cells
