!> Water over rock: plane waves of sound at 0 to 60 degrees, below and beyond critical angles, come back as the reflection coefficient
!> of the contact tells, at five points to the shortest wavelength; a wave along the contact has the speed of Scholte's equation.
program t856_sem_sea_floor
  use check_m, only: Claim, Done, Seed
  use elements_m, only: elements_t, face_absorbs, face_free
  use error_m, only: error_t
  use kinds_m, only: dp, sp
  use scholte_m, only: Scholte
  use sem3d_engine_m, only: field_chi, field_chi_t, field_ux, field_uz, sem3d_engine_t
  use semcase_m, only: periodic, semcase_t, SemBox, SemEngine, SemFine, SemPlaces
  use text_m, only: Str
  implicit none

  real(dp), parameter :: pi = acos(-1.0_dp), h = 100, c = 1500, rho1 = 1000
  integer :: angle

  call Seed(856)
  do angle = 0, 60, 20
    call Reflect(angle, 2600.0_dp, 1300.0_dp, 2000.0_dp)
  end do
  call Reflect(50, 4000.0_dp, 2100.0_dp, 2300.0_dp)
  call Along(2600.0_dp, 1300.0_dp, 2000.0_dp)
  call Along(4000.0_dp, 2100.0_dp, 2300.0_dp)
  call Done()

contains

  !> Chi of a packet of plane waves, all with the same wavenumber along the contact, that goes down; when it has come back in full,
  !> dchi/dt in the water is compared with the sum of the plane waves times their coefficients. The column is one wavelength wide.
  subroutine Reflect(angle, vp, vs, rho)
    integer, intent(in) :: angle
    real(dp), intent(in) :: vp, vs, rho
    integer, parameter :: waves = 120
    type(semcase_t) :: box
    type(elements_t) :: mesh
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    real(dp), allocatable :: x(:, :)
    real(sp), allocatable :: chi(:)
    complex(dp) :: amplitude(waves), back(waves), rate(waves)
    real(dp) :: theta, f, k0, kx, q(waves), w(waves), half, sigma, water, rock, across, dt, start, misfit, slow
    integer :: m, n, steps
    theta = angle*pi/180
    slow = min(c, vs)
    f = slow/(1.5_dp*1.25_dp*h)                             ! at 1.5 f the packet has 3 % of its peak
    k0 = 2*pi*f/c
    kx = k0*sin(theta)
    sigma = 0.9_dp*c/f/cos(theta)
    half = 4.2_dp*sigma
    water = 2*half
    rock = half*1.2_dp
    if (kx/k0*vp < c) rock = half*vp/c
    across = 3*h
    if (angle > 0) across = 2*pi/kx
    box = semcase_t(n=[max(3, ceiling(across/h)), 3, 0], brick=3, turn=.true., vp=vp, vs=vs, rho=rho, vp_water=c, &
                    rho_water=rho1, side=[periodic, periodic, periodic, periodic, face_absorbs, face_absorbs])
    box%water = ceiling(water/h)
    box%n(3) = box%water + ceiling(rock/h)
    water = box%water*h
    box%size = [across, 3*h, box%n(3)*h]
    call SemBox(box, mesh)
    call SemPlaces(mesh, x)
    n = mesh%solid_points
    dt = 0.09_dp*min(h, across/box%n(1))/vp
    start = water - half
    do m = 1, waves
      q(m) = k0*cos(theta) + (m - 0.5_dp - waves/2)*8.4_dp/(waves*sigma)
      w(m) = c*hypot(kx, q(m))
      amplitude(m) = exp(-((q(m) - k0*cos(theta))*sigma)**2/2 - (0, 1)*q(m)*start)
      back(m) = amplitude(m)*Coefficient(kx/w(m), vp, vs, rho)*exp((0, 2)*q(m)*water)
      w(m) = 2/dt*asin(w(m)*dt/2)                           ! in steps of dt
    end do
    rate = (0, -2)/dt*sin(w*dt/2)*exp((0, 0.5_dp)*w*dt)     ! dchi/dt is half a step earlier
    call SemEngine('cpu', mesh, dt, 2, engine)
    call engine%set_field(field_chi, real(Sum_(x(:, n + 1:), kx, q, amplitude), sp), error)
    call engine%set_field(field_chi_t, real(Sum_(x(:, n + 1:), kx, q, rate*amplitude), sp), error)
    steps = nint(2*half/(c*cos(theta)*dt))
    call engine%timestep(1, steps, error)
    allocate (chi(mesh%points - n))
    call engine%field(field_chi_t, chi, error)
    call SemFine(error, 'reflect')
    call engine%free()
    associate (exact => Sum_(x(:, n + 1:), kx, q, rate*amplitude*exp((0, -1)*w*steps*dt)) &
               + Sum_(x(:, n + 1:), kx, -q, rate*back*exp((0, -1)*w*steps*dt)))
      misfit = norm2(chi - exact)/norm2(exact)
      call Claim(misfit <= 0.02_dp, Str(angle)//' degrees, rock of '//Str(vp, 4)//' and '//Str(vs, 4)//' m/s, coefficient '// &
                 Str(abs(Coefficient(sin(theta)/c, vp, vs, rho)), 3)//': what comes back is wrong by '//Str(100*misfit, 2)// &
                 ' % in relative L2, bound 2 %')
    end associate
  end subroutine Reflect

  !> The real part of the sum of plane waves.
  function Sum_(x, kx, q, amplitude) result(s)
    real(dp), intent(in) :: x(:, :), kx, q(:)
    complex(dp), intent(in) :: amplitude(:)
    real(dp) :: s(size(x, 2))
    integer :: i
    do i = 1, size(s)
      s(i) = real(exp((0, 1)*kx*x(1, i))*sum(amplitude*exp((0, 1)*q*x(3, i))))
    end do
  end function Sum_

  !> Of pressure, for slowness p along the contact, from impedances of sound, P and S waves (Brekhovskikh 1980, Waves in layered media,
  !> section 4.2); waves that are no more waves below decay downwards.
  complex(dp) function Coefficient(p, vp, vs, rho) result(r)
    real(dp), intent(in) :: p, vp, vs, rho
    complex(dp) :: z, sound, cosine(2)
    cosine = sqrt(cmplx(1 - (p*[vp, vs])**2, 0.0_dp, dp))
    sound = rho1*c/sqrt(1 - (p*c)**2)
    z = rho*vp/cosine(1)*(1 - 2*(p*vs)**2)**2 + rho*vs/cosine(2)*(2*p*vs*cosine(2))**2
    r = (z - sound)/(z + sound)
  end function Coefficient

  !> The motion of a Scholte wave stands in a box of four wavelengths along x, five points to each; its frequency.
  subroutine Along(vp, vs, rho)
    real(dp), intent(in) :: vp, vs, rho
    integer, parameter :: periods = 20
    type(semcase_t) :: box
    type(elements_t) :: mesh
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    real(dp), allocatable :: x(:, :)
    real(sp), allocatable :: trace(:, :)
    real(dp) :: cs, k, w, g(3), a, b, floor, dt, seen
    integer :: n, steps
    cs = Scholte(vp, vs, rho, c, rho1)
    k = 2*pi/(1.25_dp*h)
    w = k*cs
    g = k*sqrt(1 - (cs/[vp, vs, c])**2)
    box = semcase_t(n=[5, 3, 0], brick=3, turn=.true., vp=vp, vs=vs, rho=rho, vp_water=c, rho_water=rho1, &
                    side=[periodic, periodic, periodic, periodic, face_free, face_free])
    box%water = ceiling(7/(g(3)*h))
    box%n(3) = box%water + ceiling(7/(min(g(1), g(2))*h))
    box%size = box%n*h
    floor = box%water*h
    call SemBox(box, mesh)
    call SemPlaces(mesh, x)
    n = mesh%solid_points
    x(3, :) = x(3, :) - floor
    dt = 0.09_dp*h/vp
    a = g(3)/rho1/(g(1)*(k**2 - g(2)**2)/(k**2 + g(2)**2))
    b = 2*k*g(1)/(k**2 + g(2)**2)*a
    call SemEngine('cpu', mesh, dt, 2, engine)
    call engine%set_field(field_chi, real(exp(g(3)*x(3, n + 1:))*cos(k*x(1, n + 1:)), sp), error)
    call engine%set_field(field_ux, real((g(2)*b*exp(-g(2)*x(3, :n)) - k*a*exp(-g(1)*x(3, :n)))*sin(k*x(1, :n)), sp), error)
    call engine%set_field(field_uz, real((k*b*exp(-g(2)*x(3, :n)) - g(1)*a*exp(-g(1)*x(3, :n)))*cos(k*x(1, :n)), sp), error)
    call engine%set_field(field_chi_t, real(w*sin(w*dt/2)*exp(g(3)*x(3, n + 1:))*cos(k*x(1, n + 1:)), sp), error)
    call engine%receivers([1, 2], [field_chi], [n + minloc(norm2(x(:, n + 1:), 1), 1)], [1.0_sp], error)
    steps = nint(periods*2*pi/w/dt)
    allocate (trace(steps, 1))
    call engine%timestep(1, steps, error)
    call engine%traces(1, trace, error)
    call SemFine(error, 'along')
    call engine%free()
    seen = 2/dt*sin(Frequency(real(trace(:, 1), dp), dt, w)*dt/2)/k
    call Claim(abs(seen/cs - 1) <= 0.005_dp, 'water over rock of '//Str(vp, 4)//' and '//Str(vs, 4)//' m/s: the wave along the contact runs '// &
               'at '//Str(seen, 6)//' m/s, Scholte''s equation says '//Str(cs, 6)//': '//Str(100*abs(seen/cs - 1), 2)//' % off, bound 0.5 %')
  end subroutine Along

  !> With which cos(w t) fits the trace best, within 5 % of a guess.
  real(dp) function Frequency(trace, dt, guess) result(w)
    real(dp), intent(in) :: trace(:), dt, guess
    real(dp) :: low, high, middle(2), fit(2)
    integer :: i, m
    low = guess*0.95_dp
    high = guess*1.05_dp
    w = guess
    do m = -100, 100                                        ! the highest of all maxima, then its place
      fit(1) = sum(trace*cos(guess*(1 + m*5e-4_dp)*dt*[(i, i=1, size(trace))]))
      if (m > -100 .and. fit(1) <= fit(2)) cycle
      fit(2) = fit(1)
      w = guess*(1 + m*5e-4_dp)
    end do
    low = w - guess*5e-4_dp
    high = w + guess*5e-4_dp
    do while (high - low > 1e-9_dp*guess)
      middle = low + (high - low)*[1, 2]/3
      fit = [(sum(trace*cos(middle(m)*dt*[(i, i=1, size(trace))])), m=1, 2)]
      if (fit(1) < fit(2)) low = middle(1)
      if (fit(1) >= fit(2)) high = middle(2)
    end do
    w = (low + high)/2
  end function Frequency

end program t856_sem_sea_floor
