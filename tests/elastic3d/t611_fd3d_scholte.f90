!> The wave that runs along a flat sea floor has the speed that Scholte's equation gives it, over soft and harder ground.
program t611_fd3d_scholte
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use fd3d_engine_m, only: side_periodic
  use fd3d_point_lists_m, only: Fd3dMoment, Fd3dPressure
  use fullspace_m, only: Ricker
  use kinds_m, only: dp, sp
  use scene3d_m, only: scene3d_t, Scene3dMedium, Scene3dNew, Scene3dTraces
  use scholte_m, only: Scholte
  use text_m, only: Str
  implicit none
  real(dp), parameter :: c = 1500, rho1 = 1000, h = 10, points = 12, bound = 0.005_dp

  call Measure(2, 2300.0_dp, 900.0_dp, 1900.0_dp)
  call Measure(2, 2600.0_dp, 1300.0_dp, 2000.0_dp)
  call Measure(4, 2600.0_dp, 1300.0_dp, 2000.0_dp)
  call Done()

contains

  !> Delay of the last arrival between two hydrophones a cell above the contact, at 12 points to its shortest wavelength.
  subroutine Measure(half_length, vp, vs, rho)
    integer, intent(in) :: half_length
    real(dp), intent(in) :: vp, vs, rho
    type(scene3d_t) :: s
    type(error_t), allocatable :: error
    real(sp), allocatable :: traces(:, :)
    real(dp) :: cs, fpeak, t0, x(3), delay, away(2)
    integer :: n(3), water, j
    cs = Scholte(vp, vs, rho, c, rho1)
    fpeak = cs/(points*h)/2.5_dp
    t0 = 1.2_dp/fpeak
    away = [100, 220]*h
    n = [266, half_length, 84]
    water = 42
    call Scene3dNew(s, n, h, half_length, vp, vs, rho, 0.85_dp)
    call Scene3dMedium(s, [1, 1, 1], [n(1), n(2), water], c, 0.0_dp, rho1)
    s%grid%threads = 1
    s%grid%side(3:4) = side_periodic
    s%width = [12, 12, 0, 0, 12, 12]
    s%fpeak = fpeak
    s%nt = nint((2.2_dp*t0 + away(2)/cs)/s%grid%dt)
    allocate (s%q(1, s%nt))
    s%q(1, :) = [(real(Ricker((j - 0.5_dp)*s%grid%dt, fpeak, t0), sp), j=1, s%nt)]
    do j = 1, n(2)
      x = [24*h, (j - 0.5_dp)*h, (water - 4.5_dp)*h]
      call Fd3dMoment(s%source, s%grid, x, rho1*c**2*h*[1, 1, 1, 0, 0, 0], 1, error)
    end do
    do j = 1, 2
      call Fd3dPressure(s%receivers, s%grid, [x(1) + away(j), 1.5_dp*h, (water - 0.5_dp)*h], error)
    end do
    call Scene3dTraces(s, 'cpu', traces, error)
    if (allocated(error)) call ClaimFine(error, 'waves along the sea floor')
    delay = DelayOf(real(traces(:, 1), dp), real(traces(:, 2), dp), s%grid%dt, t0 + away/cs, 1/fpeak, (away(2) - away(1))/cs)
    associate (seen => (away(2) - away(1))/delay)
      call Claim(abs(seen/cs - 1) <= bound, 'water over rock of vs = '//Str(vs, 4)//' m/s, half-length '//Str(half_length)// &
                 ', 12 points to the shortest wavelength: the wave along the contact runs at '//Str(seen, 5)// &
                 ' m/s, Scholte''s equation says '//Str(cs, 5)//': '//Str(100*abs(seen/cs - 1), 2)//' % off, at most '// &
                 Str(100*bound, 2)//' %')
    end associate
  end subroutine Measure

  !> By which the second trace, tapered around its arrival, fits the first one best; near `guess`.
  real(dp) function DelayOf(a, b, dt, arrival, half, guess) result(delay)
    real(dp), intent(in) :: a(:), b(:), dt, arrival(2), half, guess
    real(dp) :: u(size(a)), v(size(a)), fit(-40:40)
    integer :: i, m, middle
    u = a*Taper([(i*dt - arrival(1), i=1, size(a))], half)
    v = b*Taper([(i*dt - arrival(2), i=1, size(b))], half)
    middle = nint(guess/dt)
    fit = [(sum(u(max(1, 1 - m):min(size(a), size(a) - m))*v(max(1, 1 - m) + m:min(size(a), size(a) - m) + m)), &
            m=middle - 40, middle + 40)]
    m = maxloc(fit, 1) - 41
    m = min(max(m, -39), 39)
    delay = (middle + m + 0.5_dp*(fit(m - 1) - fit(m + 1))/(fit(m - 1) - 2*fit(m) + fit(m + 1)))*dt
  end function DelayOf

  elemental real(dp) function Taper(t, half)
    real(dp), intent(in) :: t, half
    Taper = 0
    if (abs(t) < half) Taper = cos(0.5_dp*acos(-1.0_dp)*t/half)**2
  end function Taper

end program t611_fd3d_scholte
