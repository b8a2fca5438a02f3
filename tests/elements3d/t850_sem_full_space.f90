!> Spectral elements in a full space agree with the exact solutions of forces, explosions and double couples in absolute amplitude,
!> near and far field, on a mesh of distorted elements, at five points per shortest wavelength in the largest of them: source and
!> stations at random places, in corners of elements, on edges and faces; with constant Q too. A force or an explosion in a run. SEED
!> and VARIANT may be given.
program t850_sem_full_space
  use check_m, only: Claim, ClaimFine, Done, Drawn, GivenSeed, Seed
  use elements_dt_m, only: ElementsDt
  use elements_m, only: elements_t
  use elements_make_m, only: counts_t, ElementsMake, ElementsSlowest
  use elements_window_m, only: ElementsFill, ElementsOutline
  use error_m, only: error_t
  use fullspace_m, only: space_t, ForceVelocity, MomentVelocity, RickerSpectrum, TimeSeries
  use gather_m, only: gather_t
  use kinds_m, only: dp, sp
  use mesh_box_m, only: MeshBox
  use mesh_m, only: mesh_sides_t, mesh_t
  use semshot_m, only: semshot_t, SemShotBegin, SemShotRun
  use source3d_m, only: source_force, source_moment
  use text_m, only: Str
  use window_m, only: window_t
  implicit none
  real(dp), parameter :: h = 100, vp = 3000, vs = 1800, rho = 2300
  real(dp), parameter :: bound = 0.01_dp
  integer, parameter :: stations = 12, n = 16
  type(mesh_t) :: mesh
  type(window_t) :: window
  type(elements_t) :: elements
  real(dp) :: at(3), x(3, stations), xi(3), dt, fmax, fpeak, t0, loss(2) = 0
  integer :: i, e, number, middle
  character(32) :: word, variant
  logical :: elastic(2)                                       !< a force, an explosion

  call get_environment_variable('SEED', word)
  number = 1
  if (word /= '') read (word, *) number
  elastic = Drawn(1, 2, GivenSeed())
  call get_environment_variable('VARIANT', variant)
  if (variant == '') variant = 'cpu'
  call Seed(number)
  call MakeMesh()
  middle = 1 + n/2 + (n + 1)*(n/2 + (n + 1)*(n/2))           ! the node in the middle
  call PlaceStations()
  call random_number(xi)
  at = mesh%x(:, middle) + (xi - 0.5_dp)*h
  if (elastic(1)) call Shoot('force at a random place', [0.7_dp, -0.4_dp, 1.1_dp]*1e9_dp, reshape([real(dp) ::], [0, 0]))
  at = mesh%x(:, middle)
  if (elastic(2)) call Shoot('explosion in a corner of elements', [real(dp) ::], reshape([1, 0, 0, 0, 1, 0, 0, 0, 1]*1e12_dp, [3, 3]))
  e = findloc(mesh%node(1, :), middle, 1)
  at = sum(mesh%x(:, mesh%node([1, 2, 6, 5], e)), 2)/4
  loss = 1/[60.0_dp, 40.0_dp]                               ! of the bulk modulus and of mu
  call Attenuate()
  call Shoot('double couple on a face, Q', [real(dp) ::], DoubleCouple()*1e12_dp)
  call Done()

contains

  !> The same mesh of a medium that attenuates.
  subroutine Attenuate()
    type(error_t), allocatable :: error
    deallocate (window%medium)
    elements%loss = spread(real(loss, sp), 2, elements%n)
    call ElementsFill(elements, window, error)
    call ClaimFine(error, 'a window of all elements, with Q')
  end subroutine Attenuate


  !> Nodes are moved by up to a sixth of an edge; all sides absorb.
  subroutine MakeMesh()
    type(error_t), allocatable :: error
    type(counts_t) :: counts
    integer, allocatable :: numbers(:)
    real(dp) :: shake(3), v, edge, longest, shortest
    integer :: a
    call MeshBox(spread(-n*h/2, 1, 3), spread(n*h/2, 1, 3), spread(n, 1, 3), mesh)
    do a = 1, size(mesh%x, 2)
      call random_number(shake)
      if (all(abs(mesh%x(:, a)) < (n/2 - 0.5_dp)*h)) mesh%x(:, a) = mesh%x(:, a) + (2*shake - 1)*h/6
    end do
    mesh%sets = [mesh_sides_t(id=1, name='absorbing', element=[(e, e=1, n**2)], side=spread(5, 1, n**2))]
    call ElementsMake(mesh, reshape([vp, vs, rho, 0.0_dp, 0.0_dp], [5, 1]), elements, numbers, counts)
    call Claim(counts%absorbs == 6*n**2 .and. counts%free == 0, 'seed '//Str(number)//': '//Str(elements%n)//' elements, '// &
               Str(counts%absorbs)//' sides absorb')
    call ElementsDt(elements, dt, e)
    call ElementsSlowest(elements, e, v, edge, shortest, longest)
    fmax = 4*vs/(5*longest)
    fpeak = fmax/2.5_dp                                      ! the Ricker's spectrum is 2 % of its peak at fmax
    t0 = 1.2_dp/fpeak
    call ElementsOutline(elements%n, minval(mesh%x, 2), maxval(mesh%x, 2), window)
    call ElementsFill(elements, window, error)
    call ClaimFine(error, 'a window of all elements')
  end subroutine MakeMesh

  !> Two to three and a half elements away: a node, an edge, a face, and random places.
  subroutine PlaceStations()
    real(dp) :: d(3), r(2)
    integer :: near
    do i = 1, stations
      call random_number(r)
      d = [sqrt(1 - (2*r(1) - 1)**2)*[cos(6.2831853_dp*r(2)), sin(6.2831853_dp*r(2))], 2*r(1) - 1]
      x(:, i) = mesh%x(:, middle) + h*(2.4_dp + 0.8_dp*(i - 1)/(stations - 1))*d
      near = minloc(norm2(mesh%x - spread(x(:, i), 2, size(mesh%x, 2)), 1), 1)
      e = findloc(mesh%node(1, :), near, 1)
      if (i == 10) x(:, i) = mesh%x(:, near)
      if (i == 11) x(:, i) = sum(mesh%x(:, mesh%node([1, 2], e)), 2)/2
      if (i == 12) x(:, i) = sum(mesh%x(:, mesh%node([1, 4, 8, 5], e)), 2)/4
    end do
  end subroutine PlaceStations

  !> Slip along b on the plane across a.
  function DoubleCouple() result(m)
    real(dp) :: m(3, 3), a(3), b(3)
    a = [0.36_dp, 0.48_dp, 0.8_dp]
    b = [0.8_dp, -0.6_dp, 0.0_dp]
    m = spread(a, 2, 3)*spread(b, 1, 3) + spread(b, 2, 3)*spread(a, 1, 3)
  end function DoubleCouple

  subroutine Shoot(what, f, m)
    character(*), intent(in) :: what
    real(dp), intent(in) :: f(:), m(:, :)
    type(semshot_t) :: s
    type(gather_t) :: gather
    call SemShotBegin(s, fpeak, fmax, t0, 3.3_dp*h/vs + 1.75_dp*t0, 'vx,vy,vz', variant)
    associate (scheme => s%scheme)
      scheme%dt = 0.88_dp*dt                                 ! waves are faster where they attenuate
      scheme%attenuates = any(loss > 0)
      scheme%q_band = [fmax/50, fmax]
      scheme%q_ref = fpeak
      if (size(f) > 0) then
        scheme%source%kind = source_force
        scheme%source%force = f
        scheme%early = 0.5_dp
      else
        scheme%source%kind = source_moment
        scheme%source%moment = [m(1, 1), m(2, 2), m(3, 3), m(1, 2), m(1, 3), m(2, 3)]
      end if
    end associate
    call SemShotRun(s, what, window, at, x, gather)
    call Claim(maxval(abs(gather%rx - x(1, :)) + abs(gather%ry - x(2, :)) + abs(gather%rz - x(3, :))) <= 1e-6_dp*h, &
               'stations are where they were asked for')
    do i = 1, stations
      call Compare(what, f, m, real(gather%traces(:, i, :), dp), s%scheme%dt_out, s%wavelet%t_zero)
    end do
  end subroutine Shoot

  !> The velocity of waves of constant Q (Kjartansson 1979, JGR 84, 4737-4748), v at the peak frequency.
  complex(dp) function ConstantQ(v, loss, f) result(c)
    real(dp), intent(in) :: v, loss, f
    real(dp) :: gamma
    gamma = atan(loss)/acos(-1.0_dp)
    c = v*(f/fpeak)**gamma/cos(acos(-1.0_dp)*gamma/2)*exp(cmplx(0.0_dp, acos(-1.0_dp)*gamma/2, dp))
    c = c*cos(acos(-1.0_dp)*gamma/2)**2                      ! the phase velocity is v
  end function ConstantQ

  !> Of station i: misfit of each component, relative to a fifth of the vector where a component is near a node of the radiation.
  subroutine Compare(what, f, m, traces, dt_out, zero)
    character(*), intent(in) :: what
    real(dp), intent(in) :: f(:), m(:, :), traces(:, :), dt_out, zero
    type(space_t) :: space
    complex(dp), allocatable :: spectrum(:, :), wavelet(:)
    real(dp) :: exact(size(traces, 1), 3), misfit(3), all_of_it
    integer :: k, c, nf
    space%rho = rho
    space%df = 1/(3*size(traces, 1)*dt_out)
    nf = nint(6*fpeak/space%df)
    allocate (space%a(nf), space%b(nf))
    space%a = [(ConstantQ(vp, loss(1) + 4*(vs/vp)**2/3*(loss(2) - loss(1)), k*space%df), k=1, nf)]
    space%b = [(ConstantQ(vs, loss(2), k*space%df), k=1, nf)]
    allocate (spectrum(nf, 3), source=(0.0_dp, 0.0_dp))
    wavelet = RickerSpectrum([(k*space%df, k=1, nf)], fpeak, zero)
    do k = 1, nf
      if (size(f) > 0) then
        spectrum(k, :) = wavelet(k)*ForceVelocity(space, k, x(:, i) - at, f)
      else
        spectrum(k, :) = wavelet(k)*MomentVelocity(space, k, x(:, i) - at, m)
      end if
    end do
    do k = 1, size(traces, 1)
      do c = 1, 3
        exact(k, c) = TimeSeries(spectrum(:, c), space%df, (k - 1)*dt_out)
      end do
    end do
    do c = 1, 3
      misfit(c) = norm2(traces(:, c) - exact(:, c))/max(norm2(exact(:, c)), 0.2_dp*norm2(exact))
    end do
    all_of_it = norm2(traces - exact)/norm2(exact)
    call Claim(all_of_it <= bound .and. all(misfit <= 2*bound), what//', '//Str(norm2(x(:, i) - at)/h, 3)// &
               ' elements away: relative L2 '//Str(100*all_of_it, 3)//' % <= '//Str(100*bound)//' %, of vx, vy, vz '// &
               Str(100*misfit(1), 3)//', '//Str(100*misfit(2), 3)//', '//Str(100*misfit(3), 3)//' % <= '//Str(200*bound)//' %')
  end subroutine Compare

end program t850_sem_full_space
