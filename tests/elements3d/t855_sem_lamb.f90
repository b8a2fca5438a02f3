!> Lamb's problem: a vertical force at a point of a free surface gives the exact motion there, Rayleigh wave and all, on a mesh of
!> distorted elements at five points to the shortest Rayleigh wavelength in the largest of them, within an edge of the force too. The
!> exact motion, from integrals over wavenumbers, is itself compared with what Pekeris (1955, Proc. Nat. Acad. Sci. 41, 469-480) gives
!> in closed form. SEED may be given.
program t855_sem_lamb
  use check_m, only: Claim, ClaimFine, Done, Seed
  use elements_dt_m, only: ElementsDt
  use elements_m, only: elements_t
  use elements_make_m, only: counts_t, ElementsMake, ElementsSlowest
  use elements_window_m, only: ElementsFill, ElementsOutline
  use error_m, only: error_t
  use gather_m, only: gather_t
  use halfspace_m, only: ground_t, LambPointVelocity, LineSeries
  use kinds_m, only: dp
  use mesh_box_m, only: MeshBox
  use mesh_m, only: mesh_t
  use semshot_m, only: semshot_t, SemShotBegin, SemShotRun
  use source3d_m, only: source_force
  use text_m, only: Str
  use window_m, only: window_t
  implicit none
  real(dp), parameter :: pi = acos(-1.0_dp), h = 100, vs = 1800, vp = sqrt(3.0_dp)*vs, rho = 2300, cr = 0.919402_dp*vs
  real(dp), parameter :: bound = 0.01_dp, away(4) = [3.0_dp, 8.0_dp, 0.4_dp, 1.2_dp]*h
  integer, parameter :: n(3) = [28, 20, 10], stations = 8
  type(mesh_t) :: mesh
  type(window_t) :: window
  type(elements_t) :: elements
  type(gather_t) :: gather
  real(dp) :: at(3), x(3, stations), dt, fmax, fpeak, t0, dt_out, zero
  integer :: i, number
  character(32) :: word

  call get_environment_variable('SEED', word)
  number = 1
  if (word /= '') read (word, *) number
  call Seed(number)
  call MakeMesh()
  call PlaceStations()
  call Shoot()
  do i = 1, size(away)
    call Compare(away(i), i)
  end do
  call Done()

contains

  !> Nodes are moved by up to a sixth of an edge, those of the surface within it; the surface is free, the other sides absorb.
  subroutine MakeMesh()
    type(error_t), allocatable :: error
    type(counts_t) :: counts
    integer, allocatable :: numbers(:)
    real(dp) :: shake(3), low(3), v, edge, longest, shortest
    integer :: a, e
    low = -[10, 10, 0]*h
    call MeshBox(low, low + n*h, n, mesh)
    do a = 1, size(mesh%x, 2)
      call random_number(shake)
      if (mesh%x(3, a) <= 0) shake(3) = 0.5_dp
      if (all(abs(mesh%x(:2, a) - low(:2) - n(:2)*h/2) < (n(:2)/2 - 0.5_dp)*h) .and. mesh%x(3, a) < (n(3) - 0.5_dp)*h) &
        mesh%x(:, a) = mesh%x(:, a) + (2*shake - 1)*h/6
    end do
    call ElementsMake(mesh, reshape([vp, vs, rho, 0.0_dp, 0.0_dp], [5, 1]), elements, numbers, counts)
    call Claim(counts%free == n(1)*n(2), 'seed '//Str(number)//': '//Str(elements%n)//' elements, '//Str(counts%free)//' sides are free')
    call ElementsDt(elements, dt, e)
    call ElementsSlowest(elements, e, v, edge, shortest, longest)
    fmax = 4*cr/(5*longest)
    fpeak = fmax/2.5_dp                                      ! the Ricker's spectrum is 2 % of its peak at fmax
    t0 = 1.2_dp/fpeak
    call ElementsOutline(elements%n, minval(mesh%x, 2), maxval(mesh%x, 2), window)
    call ElementsFill(elements, window, error)
    call ClaimFine(error, 'a window of all elements')
  end subroutine MakeMesh

  !> The force at a random place of the surface; stations at four distances, in random directions towards the long side of the box.
  subroutine PlaceStations()
    real(dp) :: r(2), d
    call random_number(r)
    at = [(r - 0.5_dp)*h, 0.0_dp]
    do i = 1, stations
      call random_number(d)
      d = (2*d - 1)*pi/6
      x(:, i) = at + away(1 + modulo(i - 1, size(away)))*[cos(d), sin(d), 0.0_dp]
    end do
  end subroutine PlaceStations

  subroutine Shoot()
    type(semshot_t) :: s
    call SemShotBegin(s, fpeak, fmax, t0, maxval(away)/cr + 2*t0, 'vx,vy,vz', 'cpu')
    s%scheme%dt = 0.95_dp*dt
    s%scheme%source%kind = source_force
    s%scheme%source%force = [0.0_dp, 0.0_dp, 1.0e9_dp]
    s%scheme%early = 0.5_dp
    call SemShotRun(s, 'a force on the surface', window, at, x, gather)
    dt_out = s%scheme%dt_out
    zero = s%wavelet%t_zero
  end subroutine Shoot

  !> The stations at distance r, every second from number `first` on.
  subroutine Compare(r, first)
    real(dp), intent(in) :: r
    integer, intent(in) :: first
    type(ground_t) :: g
    complex(dp), allocatable :: spectrum(:, :)
    real(dp) :: t(size(gather%traces, 1)), closed(size(t)), exact(size(t), 2), run(size(t), 2)
    real(dp) :: df, damping, misfit(2)
    integer :: j, nf, s
    t = [((j - 1)*dt_out, j=1, size(t))]
    g = ground_t(vp=vp, vs=vs, rho=rho, period=1.3_dp*vp*t(size(t)) + 2*r)
    df = 1/(1.6_dp*t(size(t)))
    damping = 10*df
    nf = nint(3.5_dp*fpeak/df)
    g%waves = nint(24*3.5_dp*fpeak/cr*g%period)
    allocate (spectrum(0:nf, 2))
    do j = 0, nf
      spectrum(j, :) = LambPointVelocity(g, r, cmplx(2*pi*j*df, -damping, dp))*1.0e9_dp
    end do
    exact = reshape([LineSeries(spectrum(:, 1), df, damping, fpeak, zero, t), &
                     LineSeries(spectrum(:, 2), df, damping, fpeak, zero, t)], [size(t), 2])
    closed = [(Pekeris(r, t(j)), j=1, size(t))]
    call Claim(norm2(exact(:, 2) - closed) <= 2.0e-3_dp*norm2(closed), 'integral over wavenumbers and closed form differ by '// &
               Str(norm2(exact(:, 2) - closed)/norm2(closed), 2)//', bound 0.002')
    do s = first, stations, size(away)
      run = reshape([matmul(real(gather%traces(:, s, :2), dp), x(:2, s) - at(:2))/r, real(gather%traces(:, s, 3), dp)], [size(t), 2])
      misfit = norm2(run - exact, 1)/norm2(exact, 1)
      call Claim(all(misfit <= bound), Str(r/h, 3)//' elements away, '//Str(r*fmax/cr, 3)//' shortest Rayleigh wavelengths: relative L2 '// &
                 Str(100*misfit(1), 3)//' % radial, '//Str(100*misfit(2), 3)//' % vertical, bound '//Str(100*bound)//' %')
    end do
  end subroutine Compare

  !> Vertical velocity where the force is 1e9 N times a Ricker wavelet, for vp = sqrt(3) vs: the answer to a step of the force times the
  !> second derivative of the wavelet, substituted so that the wave's end, where the answer is infinite, is at s = 0.
  real(dp) function Pekeris(r, t) result(v)
    real(dp), intent(in) :: r, t
    integer, parameter :: steps = 400
    real(dp) :: tau, ends(4), s, ds
    integer :: k
    ends = [1/sqrt(3.0_dp), 1.0_dp, sqrt(3 + sqrt(3.0_dp))/2, 0.0_dp]
    v = -6*FirstDerivative(t - zero - ends(3)*r/vs)*vs/r     ! the answer is constant from the Rayleigh wave on
    do k = 1, steps
      ds = sqrt(ends(3) - ends(2))/steps
      s = (k - 0.5_dp)*ds
      tau = ends(3) - s**2
      v = v + (-6 + sqrt((3*sqrt(3.0_dp) + 5)/((ends(3) + tau)*s**2)))*SecondDerivative(t - zero - tau*r/vs)*2*s*ds
      ds = (ends(2) - ends(1))/steps
      tau = ends(1) + (k - 0.5_dp)*ds
      v = v + 0.5_dp*(-6 + sqrt(3/(tau**2 - 0.25_dp)) + sqrt((3*sqrt(3.0_dp) + 5)/(ends(3)**2 - tau**2)) &
                      - sqrt((3*sqrt(3.0_dp) - 5)/(tau**2 + (sqrt(3.0_dp) - 3)/4)))*SecondDerivative(t - zero - tau*r/vs)*ds
    end do
    v = -v/(16*pi*rho*vs**2*vs)*1.0e9_dp
  end function Pekeris

  !> Of exp(-a t**2)(1 - 2 a t**2), a = (pi fpeak)**2.
  elemental real(dp) function FirstDerivative(t)
    real(dp), intent(in) :: t
    associate (a => (pi*fpeak)**2)
      FirstDerivative = exp(-a*t**2)*a*t*(4*a*t**2 - 6)
    end associate
  end function FirstDerivative

  elemental real(dp) function SecondDerivative(t)
    real(dp), intent(in) :: t
    associate (a => (pi*fpeak)**2)
      SecondDerivative = exp(-a*t**2)*a*(24*a*t**2 - 6 - 8*a**2*t**4)
    end associate
  end function SecondDerivative

end program t855_sem_lamb
