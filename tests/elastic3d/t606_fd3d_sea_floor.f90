!> Water over rock: the pressure above the sea floor is the exact one, direct, reflected at 0 to 71 degrees, beyond the critical
!> angle, and the waves that run along the contact; nothing special is done at it.
program t606_fd3d_sea_floor
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use fd3d_engine_m, only: side_periodic
  use fd3d_point_lists_m, only: Fd3dMoment, Fd3dPressure
  use fullspace_m, only: Ricker
  use halfspace_m, only: ground_t, LineSeries, WaterPressure
  use kinds_m, only: dp, sp
  use scene3d_m, only: scene3d_t, Scene3dMedium, Scene3dNew, Scene3dTraces
  use text_m, only: Str
  implicit none
  real(dp), parameter :: pi = acos(-1.0_dp), h = 10, vp = 2600, vs = 1300, rho = 2000, c = 1500, rho1 = 1000
  real(dp), parameter :: fpeak = vs/(10*h)/2.5_dp, t0 = 1.2_dp/fpeak, up(2) = [10.0_dp, 4.0_dp]*h
  real(dp), parameter :: away(6) = [0.0_dp, 5.0_dp, 10.0_dp, 16.0_dp, 24.2487_dp, 40.0_dp]*h, bound = 0.03_dp
  integer, parameter :: n(3) = [88, 4, 72], water = 34
  type(scene3d_t) :: s
  type(error_t), allocatable :: error
  real(sp), allocatable :: traces(:, :)
  real(dp), allocatable :: exact(:)
  real(dp) :: x(3), misfit
  integer :: i, j

  call Scene3dNew(s, n, h, 2, vp, vs, rho, 0.85_dp)
  call Scene3dMedium(s, [1, 1, 1], [n(1), n(2), water], c, 0.0_dp, rho1)
  s%grid%side(3:4) = side_periodic
  s%width = [14, 14, 0, 0, 14, 14]
  s%fpeak = fpeak
  s%nt = nint((t0 + 48*h/1200 + t0)/s%grid%dt)
  allocate (s%q(1, s%nt))
  s%q(1, :) = [(real(Ricker((i - 0.5_dp)*s%grid%dt, fpeak, t0), sp), i=1, s%nt)]
  do j = 1, n(2)
    x = [24.5_dp*h, (j - 0.5_dp)*h, water*h - up(1)]
    call Fd3dMoment(s%source, s%grid, x, rho1*c**2*h*[1, 1, 1, 0, 0, 0], 1, error)
  end do
  do i = 1, size(away)
    call Fd3dPressure(s%receivers, s%grid, [x(1) + away(i), 1.5_dp*h, water*h - up(2)], error)
  end do
  call Scene3dTraces(s, 'fortran', traces, error)
  call ClaimFine(error, Str(s%nt)//' steps, ten points to the shortest S wavelength')
  do i = 1, size(away)
    call Exactly(away(i), [(j*s%grid%dt, j=1, s%nt)], exact)
    misfit = norm2(traces(:, i) - exact)/norm2(exact)
    call Claim(misfit <= bound, Str(away(i)/h, 3)//' cells away, reflected at '//Str(atan2(away(i), sum(up))*180/pi, 3)// &
               ' degrees: relative L2 of the pressure '//Str(100*misfit, 3)//' % <= '//Str(100*bound, 2)//' %')
  end do
  deallocate (traces, exact)
  call Done()

contains

  subroutine Exactly(x, t, p)
    real(dp), intent(in) :: x, t(:)
    real(dp), allocatable, intent(out) :: p(:)
    type(ground_t) :: g
    complex(dp), allocatable :: spectrum(:)
    real(dp) :: df, damping
    integer :: n, nf
    g = ground_t(vp=vp, vs=vs, rho=rho, c=c, rho1=rho1, period=1.3_dp*vp*t(size(t)) + 2*x)
    df = 1/(1.6_dp*t(size(t)))
    damping = 10*df
    nf = nint(3.5_dp*fpeak/df)
    g%waves = nint(8*3.5_dp*fpeak/1100*g%period)
    allocate (spectrum(0:nf))
    do n = 0, nf
      spectrum(n) = WaterPressure(g, x, up(1), up(2), cmplx(2*pi*n*df, -damping, dp))
    end do
    p = LineSeries(spectrum, df, damping, fpeak, t0, t)
  end subroutine Exactly

end program t606_fd3d_sea_floor
