!> Seismometers on a flat sea floor record the exact motion of the ground, hydrophones between the nodes just above it the exact
!> pressure; what slips just below it leaves nothing behind in the water.
program t612_fd3d_sea_bed
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use fd3d_engine_m, only: field_vx, field_vz, side_periodic
  use fd3d_point_lists_m, only: Fd3dMoment, Fd3dPressure, Fd3dRecord
  use fullspace_m, only: Ricker
  use halfspace_m, only: FloorVelocity, ground_t, LineSeries, WaterPressure
  use kinds_m, only: dp, sp
  use scene3d_m, only: scene3d_t, Scene3dMedium, Scene3dNew, Scene3dTraces
  use text_m, only: Str
  implicit none
  real(dp), parameter :: pi = acos(-1.0_dp), h = 10, vp = 2600, vs = 1300, rho = 2000, c = 1500, rho1 = 1000, bound = 0.05_dp
  real(dp), parameter :: fpeak = vs/(12*h)/2.5_dp, t0 = 1.2_dp/fpeak, up = 96, above = 7
  real(dp), parameter :: away(3) = [3.3_dp, 12.7_dp, 28.2_dp]*h
  integer, parameter :: n(3) = [80, 4, 72], water = 36
  type(error_t), allocatable :: error

  call Exactness()
  call Slip()
  call Done()

contains

  subroutine Scene(s, half_length, seconds)
    type(scene3d_t), intent(out), target :: s
    integer, intent(in) :: half_length
    real(dp), intent(in) :: seconds
    integer :: i
    call Scene3dNew(s, n, h, half_length, vp, vs, rho, 0.85_dp)
    call Scene3dMedium(s, [1, 1, 1], [n(1), n(2), water], c, 0.0_dp, rho1)
    s%grid%threads = 1
    s%grid%side(3:4) = side_periodic
    s%width = [14, 14, 0, 0, 14, 14]
    s%fpeak = fpeak
    s%nt = nint(seconds/s%grid%dt)
    allocate (s%q(1, s%nt))
    s%q(1, :) = [(real(Ricker((i - 0.5_dp)*s%grid%dt, fpeak, t0), sp), i=1, s%nt)]
  end subroutine Scene

  subroutine Exactness()
    type(scene3d_t), target :: s
    real(sp), allocatable :: traces(:, :)
    real(dp), allocatable :: exact(:, :)
    real(dp) :: x(3), misfit(3)
    integer :: i, j
    call Scene(s, 2, 2*t0 + 38*h/1100)
    call Tell(s)
    do j = 1, n(2)
      x = [24.3_dp*h, (j - 0.5_dp)*h, water*h - up]
      call Fd3dMoment(s%source, s%grid, x, rho1*c**2*h*[1, 1, 1, 0, 0, 0], 1, error)
    end do
    do i = 1, size(away)
      call Fd3dRecord(s%receivers, s%grid, [x(1) + away(i), 1.5_dp*h, water*h], field_vx, error)
      call Fd3dRecord(s%receivers, s%grid, [x(1) + away(i), 1.5_dp*h, water*h], field_vz, error)
      call Fd3dPressure(s%receivers, s%grid, [x(1) + away(i), 1.5_dp*h, water*h - above], error)
    end do
    call Scene3dTraces(s, 'cpu', traces, error)
    call ClaimFine(error, Str(s%nt)//' steps, twelve points to the shortest S wavelength')
    do i = 1, size(away)
      call Exactly(away(i), s%nt, s%grid%dt, exact)
      do j = 1, 3
        misfit(j) = 100*norm2(traces(:, 3*i - 3 + j) - exact(:, j))/merge(norm2(exact(:, :2)), norm2(exact(:, 3)), j < 3)
      end do
      call Claim(all(misfit <= 100*bound), Str(away(i)/h, 3)//' cells away: vx and vz of the ground are off by '// &
                 Str(misfit(1), 3)//' and '//Str(misfit(2), 3)//' % of L2 of both, the pressure 7 m above by '//Str(misfit(3), 3)//' %, at most '// &
                 Str(100*bound, 2)//' %')
    end do
  end subroutine Exactness

  subroutine Tell(s)
    type(scene3d_t), intent(inout), target :: s
    s%source%rho => s%rho
    s%source%mu => s%mu
    s%receivers%rho => s%rho
    s%receivers%mu => s%mu
  end subroutine Tell

  !> Velocities of the ground and the pressure, (nt, 3), at half and at whole steps.
  subroutine Exactly(x, nt, dt, series)
    real(dp), intent(in) :: x, dt
    integer, intent(in) :: nt
    real(dp), allocatable, intent(out) :: series(:, :)
    type(ground_t) :: g
    complex(dp), allocatable :: spectrum(:, :)
    real(dp) :: df, damping, t(nt)
    integer :: i, nf
    t = [(i*dt, i=1, nt)]
    g = ground_t(vp=vp, vs=vs, rho=rho, c=c, rho1=rho1, period=1.3_dp*vp*t(nt) + 2*x)
    df = 1/(1.6_dp*t(nt))
    damping = 10*df
    nf = nint(3.5_dp*fpeak/df)
    g%waves = nint(8*3.5_dp*fpeak/1100*g%period)
    allocate (spectrum(0:nf, 3), series(nt, 3))
    do i = 0, nf
      spectrum(i, :2) = FloorVelocity(g, x, up, cmplx(2*pi*i*df, -damping, dp))
      spectrum(i, 3) = WaterPressure(g, x, up, above, cmplx(2*pi*i*df, -damping, dp))
    end do
    do i = 1, 3
      series(:, i) = LineSeries(spectrum(:, i), df, damping, fpeak, t0, t - merge(0.5_dp, 0.0_dp, i < 3)*dt)
    end do
  end subroutine Exactly

  !> A slip 12 m below the sea floor, whose moment stays: long after, the water is at rest. Half-length 1, see fortran/elastic3d/README.md.
  subroutine Slip()
    type(scene3d_t), target :: s
    real(sp), allocatable :: traces(:, :)
    real(dp) :: x(3), rest(2, 0:1), peak(2)
    integer :: j, told
    do told = 0, 1
      call Scene(s, 1, 8*t0)
      s%q(1, :) = [(real(exp(-0.5_dp*((j*s%grid%dt - t0)*4*fpeak)**2), sp), j=1, s%nt)]
      if (told == 1) call Tell(s)
      do j = 1, n(2)
        x = [38.3_dp*h, (j - 0.5_dp)*h, water*h + 12]
        call Fd3dMoment(s%source, s%grid, x, 1e9_dp*h*[0, 0, 0, 0, 1, 0], 1, error)
      end do
      call Fd3dRecord(s%receivers, s%grid, [x(1) + 40, 1.5_dp*h, water*h], field_vz, error)
      call Fd3dPressure(s%receivers, s%grid, [x(1) + 40, 1.5_dp*h, (water - 2.5_dp)*h], error)
      call Scene3dTraces(s, 'cpu', traces, error)
      call ClaimFine(error, 'slip below the sea floor')
      rest(:, told) = maxval(abs(traces(s%nt - 50:, :)), 1)
      peak = maxval(abs(traces), 1)                                 ! of the second run in the end
    end do
    rest = rest/spread(peak, 2, 2)
    call Claim(all(rest(:, 1) <= 1e-3_dp) .and. rest(2, 0) > 1, 'slip 12 m below the sea floor: after '//Str(s%nt)// &
               ' steps '//Str(rest(1, 1), 2)//' and '//Str(rest(2, 1), 2)//' of vertical motion and pressure are left, at most '// &
               '0.001; sincs across the contact would leave '//Str(rest(2, 0), 2)//' of the pressure')
  end subroutine Slip

end program t612_fd3d_sea_bed
