!> Stress and pressure recorded in rock that attenuates, Q of 20 and 40, agree with the exact solutions of a full space in absolute
!> amplitude, those of a source of volume too, which the rock's bulk modulus answers as it relaxes, at five points per shortest
!> wavelength in the largest of distorted elements, source and stations at random places. They do not depend on what else is
!> recorded, nor on whether the rock is told by 21 constants; and with a large Q they are those of elastic rock. Two of force, moment and
!> volume in a run. SEED and VARIANT may be given.
!>
!> The exact stress is K and mu of constant Q (Kjartansson 1979, JGR 84, 4737-4748) times differences of the exact displacement: it
!> knows neither mechanisms, nor unrelaxed moduli, nor steps. Three mechanisms have that Q to 4 %; with the moduli of these at each
!> frequency in its place what is left is what steps, elements and weights do.
program t862_sem_stress_with_q
  use check_m, only: Claim, ClaimFine, Done, Drawn, GivenSeed, Seed
  use elements_dt_m, only: ElementsDt
  use elements_m, only: elements_t, face_absorbs, in_memory, tensor_numbers
  use elements_make_m, only: ElementsSlowest
  use elements_tensors_m, only: TensorsSet
  use elements_window_m, only: ElementsFill, ElementsOutline
  use error_m, only: error_t
  use fullspace_m, only: space_t, ForceVelocity, MomentVelocity, RickerSpectrum, TimeSeries
  use gather_m, only: gather_t
  use kinds_m, only: dp, sp
  use semcase_m, only: semcase_t, SemBox, SemRelative
  use semshot_m, only: semshot_t, SemShotBegin, SemShotRun
  use source3d_m, only: source_force, source_moment, source_volume
  use text_m, only: Str
  use window_m, only: window_t
  use zener_m, only: ZenerModulus
  implicit none
  character(*), parameter :: everything = 'sxy,p,sxx,syy,szz,sxz,syz'
  real(dp), parameter :: h = 100, vp = 3000, vs = 1800, rho = 2300, pi = acos(-1.0_dp)
  integer, parameter :: stations = 5
  type(elements_t) :: elements
  type(gather_t) :: gather, other
  real(dp) :: at(3), x(3, stations), dt, fmax, fpeak, t0, zero, f(3), force(3), m(3, 3)
  integer :: i, n, number                                    !< n: elements of the box along each axis
  logical :: volume = .false., tried(3)                      !< a source of volume; force, moment, volume
  character(32) :: word, variant

  call get_environment_variable('SEED', word)
  number = 1
  if (word /= '') read (word, *) number
  tried = Drawn(2, size(tried), GivenSeed())
  call get_environment_variable('VARIANT', variant)
  if (variant == '') variant = 'cpu'
  call Seed(number)
  f = [0.7_dp, -0.4_dp, 1.1_dp]*1e9_dp
  call random_number(m)
  m = (m + transpose(m) - 1)*1e11_dp
  n = 14
  call MakeMesh()
  call PlaceAll(2.7_dp)
  if (tried(1)) then
    call Shoot('force', everything, [80.0_dp, 40.0_dp], gather)
    call Exact('force, Q of K 80, of mu 40', [80.0_dp, 40.0_dp])
  end if
  force = f
  f = 0
  if (tried(2)) then
    call Shoot('moment', everything, [40.0_dp, 20.0_dp], gather)
    call Exact('moment, Q of K 40, of mu 20', [40.0_dp, 20.0_dp])
  end if
  if (tried(3)) then
    volume = .true.
    call Shoot('volume', everything, [40.0_dp, 20.0_dp], gather)
    call Against(.true., 'volume, Q of K 40, of mu 20, constant Q', [40.0_dp, 20.0_dp], 0.015_dp)
    volume = .false.
  end if
  n = 8
  call MakeMesh()
  call PlaceAll(2.7_dp)
  f = force
  call Shoot('the force in a smaller box', everything, [80.0_dp, 40.0_dp], gather)
  call Shoot('memory variables at 57 points', everything, [80.0_dp, 40.0_dp], other, relaxing=in_memory)
  call Same('memory variables at 57 points and at all', [1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7], 0.025_dp)
  f = 0
  n = 6
  call MakeMesh()
  call PlaceAll(1.5_dp)
  call Shoot('the moment in a small box', everything, [40.0_dp, 20.0_dp], gather)
  call Shoot('a few components', 'vx,szz,sxz', [40.0_dp, 20.0_dp], other)
  call Same('szz, sxz where no pressure is recorded', [5, 6], [2, 3], 1e-5_dp)
  call Shoot('21 constants', everything, [40.0_dp, 20.0_dp], other, constants=.true.)
  call Same('rock of 21 constants', [1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7], 1e-5_dp)
  call Shoot('elastic', everything, [0.0_dp, 0.0_dp], gather)
  call Shoot('Q of 1e6', everything, [1.0e6_dp, 1.0e6_dp], other)
  call Same('Q of 1e6 and elastic rock', [1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7], 5e-5_dp)
  call Done()

contains

  subroutine MakeMesh()
    real(dp) :: v, edge, longest, shortest
    integer :: e
    call SemBox(semcase_t(n=n, size=n*h, shake=1/12.0_dp, side=face_absorbs, rho=rho, vp=vp, vs=vs), elements)
    call ElementsDt(elements, dt, e)
    call ElementsSlowest(elements, e, v, edge, shortest, longest)
    fmax = 4*vs/(5*longest)
    fpeak = fmax/2.5_dp                                      ! the Ricker's spectrum is 2 % of its peak at fmax
    t0 = 1.2_dp/fpeak
    call Claim(elements%n == n**3, 'seed '//Str(number)//': '//Str(elements%n)//' elements, edges of '//Str(shortest, 3)//' .. '// &
               Str(longest, 3)//' m')
  end subroutine MakeMesh

  !> The source near the middle, stations from so many elements away to 0.6 further.
  subroutine PlaceAll(nearest)
    real(dp), intent(in) :: nearest
    real(dp) :: r(3)
    call random_number(r)
    at = n*h/2 + (r - 0.5_dp)*h
    do i = 1, stations
      call random_number(r)
      x(:, i) = at + h*(nearest + 0.6_dp*r(3))*[sqrt(1 - (2*r(1) - 1)**2)*[cos(2*pi*r(2)), sin(2*pi*r(2))], 2*r(1) - 1]
    end do
  end subroutine PlaceAll

  !> A shot of the force, or where it is 0 of the moment, in rock of quality factors q of bulk modulus and mu, 0: elastic.
  subroutine Shoot(what, components, q, gather, constants, relaxing)
    character(*), intent(in) :: what, components
    real(dp), intent(in) :: q(2)
    type(gather_t), intent(inout) :: gather
    logical, intent(in), optional :: constants
    integer, intent(in), optional :: relaxing
    type(error_t), allocatable :: error
    type(elements_t) :: rock
    type(semshot_t) :: s
    type(window_t) :: window
    real(sp) :: relative(tensor_numbers, 1)
    rock = elements
    relative = 1.0e-9_sp                                     ! isotropic, but for rounding
    if (present(constants)) call TensorsSet(rock, [(1, i=1, rock%n)], relative)
    allocate (rock%loss(2, rock%n), source=0.0_sp)
    if (all(q > 0)) rock%loss = spread(real(1/q, sp), 2, rock%n)
    call ElementsOutline(rock%n, [0.0_dp, 0.0_dp, 0.0_dp], spread(n*h, 1, 3), window)
    call ElementsFill(rock, window, error)
    if (allocated(error)) call ClaimFine(error, 'window')
    call SemShotBegin(s, fpeak, fmax, t0, 3.3_dp*h/vs + 1.7_dp*t0, components, variant)   ! ends before what the sides send back
    s%scheme%dt = 0.85_dp*dt                                   ! waves are faster where they attenuate
    s%scheme%attenuates = all(q > 0)
    s%scheme%q_band = [fmax/50, fmax]
    s%scheme%q_ref = fpeak
    if (present(relaxing)) s%scheme%relaxing = relaxing
    s%scheme%source%kind = source_moment
    s%scheme%source%moment = [m(1, 1), m(2, 2), m(3, 3), m(1, 2), m(1, 3), m(2, 3)]
    if (volume) then
      s%scheme%source%kind = source_volume
    else if (any(abs(f) > 0)) then
      s%scheme%source%kind = source_force
      s%scheme%source%force = f
      s%scheme%early = 0.5_dp
    end if
    call SemShotRun(s, what, window, at, x, gather)
    zero = s%wavelet%t_zero
  end subroutine Shoot

  !> Components `one` of `gather` and `two` of `other` agree.
  subroutine Same(what, one, two, most)
    character(*), intent(in) :: what
    integer, intent(in) :: one(:), two(:)
    real(dp), intent(in) :: most
    real(dp) :: off
    integer :: c, last
    last = gather%nt
    off = 0
    do c = 1, size(one)
      off = max(off, SemRelative(reshape(other%traces(:last, :, two(c)), [last*stations]), &
                                 reshape(gather%traces(:last, :, one(c)), [last*stations])))
    end do
    call Claim(off <= most, what//': the largest difference of a component is '//Str(off, 3)//' <= '//Str(most))
  end subroutine Same

  ! --- exact -------------------------------------------------------------------------------------------------------------------

  !> Of a modulus with a loss 1/Q, relative to what is real of it at the peak frequency: Q is constant, or that of mechanisms.
  elemental complex(dp) function Modulus(constant, q, f)
    logical, intent(in) :: constant
    real(dp), intent(in) :: q, f
    if (constant) then
      Modulus = (cmplx(0.0_dp, f/fpeak, dp))**(2*atan(1/q)/pi)
    else
      Modulus = ZenerModulus([fmax/50, fmax], 1/q, f)
    end if
  end function Modulus

  !> Bulk modulus and mu over rho at frequencies [m2/s2]: with phase velocities vp and vs at the peak.
  subroutine Moduli(constant, q, f, bulk, mu)
    logical, intent(in) :: constant
    real(dp), intent(in) :: q(2), f(:)
    complex(dp), intent(out) :: bulk(:), mu(:)
    complex(dp) :: one
    real(dp) :: low, high, shear
    integer :: k
    shear = (vs*real(1/sqrt(Modulus(constant, q(2), fpeak))))**2
    low = 0
    high = 2*vp**2
    do k = 1, 60                                              ! a larger bulk modulus makes P waves faster
      one = (low + high)/2*Modulus(constant, q(1), fpeak) + 4*shear/3*Modulus(constant, q(2), fpeak)
      if (1/real(1/sqrt(one)) < vp) low = (low + high)/2
      if (1/real(1/sqrt(one)) >= vp) high = (low + high)/2
    end do
    bulk = low*Modulus(constant, q(1), f)
    mu = shear*Modulus(constant, q(2), f)
  end subroutine Moduli

  subroutine Exact(what, q)
    character(*), intent(in) :: what
    real(dp), intent(in) :: q(2)
    call Against(.true., what//', constant Q', q, 0.015_dp)
    call Against(.false., what//', mechanisms', q, 0.01_dp)
  end subroutine Exact

  !> Traces of `gather`, all components of a station together, and each, relative to an average one where it is weak.
  subroutine Against(constant, what, q, bound)
    logical, intent(in) :: constant
    character(*), intent(in) :: what
    real(dp), intent(in) :: q(2), bound
    type(space_t) :: space
    complex(dp), allocatable :: spectrum(:, :), wavelet(:), bulk(:), mu(:)
    real(dp) :: stress(gather%nt, 7), misfit(7), all_of_it, worst
    integer :: k, c, nf
    space%rho = rho
    space%df = 1/(3*gather%nt*0.1_dp/fmax)
    nf = nint(6*fpeak/space%df)
    allocate (bulk(nf), mu(nf), spectrum(nf, 7))
    call Moduli(constant, q, [(k*space%df, k=1, nf)], bulk, mu)
    space%a = sqrt(bulk + 4*mu/3)
    space%b = sqrt(mu)
    wavelet = RickerSpectrum([(k*space%df, k=1, nf)], fpeak, zero)
    worst = 0
    all_of_it = 0
    do i = 1, stations
      do k = 1, nf
        spectrum(k, :) = wavelet(k)*Stress7(Gradient(space, k, x(:, i) - at), rho*bulk(k), rho*mu(k))
        if (volume) spectrum(k, :) = rho*bulk(k)*spectrum(k, :)
      end do
      do k = 1, gather%nt
        do c = 1, 7
          stress(k, c) = TimeSeries(spectrum(:, c), space%df, (k - 1)*0.1_dp/fmax)
        end do
      end do
      do c = 1, 7
        misfit(c) = norm2(gather%traces(:, i, c) - stress(:, c))/max(norm2(stress(:, c)), norm2(stress)/sqrt(7.0_dp))
      end do
      worst = max(worst, maxval(misfit))
      all_of_it = max(all_of_it, norm2(gather%traces(:, i, :) - stress)/norm2(stress))
    end do
    call Claim(all_of_it <= bound .and. worst <= 2.5_dp*bound, what//': relative L2 of pressure and stresses at the worst station '// &
               Str(100*all_of_it, 3)//' % <= '//Str(100*bound)//' %, of the worst component '//Str(100*worst, 3)//' % <= '// &
               Str(250*bound)//' %')
  end subroutine Against

  !> Spectra of du(c)/dx(d) at y from the source, by differences of fourth order.
  function Gradient(space, k, y) result(g)
    type(space_t), intent(in) :: space
    integer, intent(in) :: k
    real(dp), intent(in) :: y(3)
    complex(dp) :: g(3, 3)
    real(dp), parameter :: step = 0.01_dp*h
    real(dp) :: away(3)
    integer :: d
    do d = 1, 3
      away = 0
      away(d) = step
      g(:, d) = (8*(Velocity(space, k, y + away) - Velocity(space, k, y - away)) - &
                 (Velocity(space, k, y + 2*away) - Velocity(space, k, y - 2*away)))/(12*step)
    end do
    g = g/cmplx(0.0_dp, 2*pi*k*space%df, dp)
  end function Gradient

  function Velocity(space, k, y) result(v)
    type(space_t), intent(in) :: space
    integer, intent(in) :: k
    real(dp), intent(in) :: y(3)
    complex(dp) :: v(3)
    if (volume) then
      v = MomentVelocity(space, k, y, reshape([1, 0, 0, 0, 1, 0, 0, 0, 1]*1.0_dp, [3, 3]))
    else if (any(abs(f) > 0)) then
      v = ForceVelocity(space, k, y, f)
    else
      v = MomentVelocity(space, k, y, m)
    end if
  end function Velocity

  !> As in `everything`.
  pure function Stress7(g, bulk, mu) result(s)
    complex(dp), intent(in) :: g(3, 3), bulk, mu
    complex(dp) :: s(7), t(3, 3), trace
    integer :: c
    trace = g(1, 1) + g(2, 2) + g(3, 3)
    t = mu*(g + transpose(g))
    do c = 1, 3
      t(c, c) = t(c, c) + (bulk - 2*mu/3)*trace
    end do
    s = [t(1, 2), -bulk*trace, t(1, 1), t(2, 2), t(3, 3), t(1, 3), t(2, 3)]
  end function Stress7

end program t862_sem_stress_with_q
