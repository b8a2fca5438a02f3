!> Lamb's problem: a line force on a free surface gives the exact motion there, Rayleigh wave and all, at ten points to the shortest
!> Rayleigh wavelength; air instead of a free surface does so too, less exactly.
program t604_fd3d_surface
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use fd3d_engine_m, only: field_vx, field_vz, side_free, side_periodic
  use fd3d_point_lists_m, only: Fd3dForce, Fd3dRecord
  use fullspace_m, only: Ricker
  use halfspace_m, only: ground_t, LambVelocity, LineSeries
  use kinds_m, only: dp, sp
  use scene3d_m, only: scene3d_t, Scene3dMedium, Scene3dNew, Scene3dTraces
  use text_m, only: Str
  implicit none
  real(dp), parameter :: pi = acos(-1.0_dp), h = 10, vp = 3000, vs = 1732, rho = 2200, cr = 0.9194_dp*vs
  real(dp), parameter :: fpeak = cr/(10*h)/2.5_dp, t0 = 1.2_dp/fpeak, away(2) = [15.0_dp, 45.0_dp]*h
  integer, parameter :: n(3) = [106, 4, 70], air = 4

  call Shoot(2, .false., 0.005_dp)
  call Shoot(4, .false., 0.005_dp)
  call Shoot(1, .false., 0.12_dp)
  call Shoot(2, .true., 0.1_dp)
  call Done()

contains

  subroutine Shoot(half_length, airy, bound)
    integer, intent(in) :: half_length
    logical, intent(in) :: airy
    real(dp), intent(in) :: bound
    type(scene3d_t), target :: s
    type(error_t), allocatable :: error
    real(sp), allocatable :: traces(:, :)
    real(dp), allocatable :: exact(:, :)
    real(dp) :: top, x(3), misfit
    integer :: i, j
    call Scene3dNew(s, n, h, half_length, vp, vs, rho, 0.85_dp)
    s%grid%side(3:4) = side_periodic
    s%width = [16, 16, 0, 0, 0, 16]
    s%fpeak = fpeak
    top = 0
    if (airy) then
      call Scene3dMedium(s, [1, 1, 1], [n(1), n(2), air], 0.0_dp, 0.0_dp, 0.0_dp)
      top = air*h
      s%source%rho => s%rho
      s%source%mu => s%mu
      s%receivers%rho => s%rho
      s%receivers%mu => s%mu
    else
      s%grid%side(5) = side_free
    end if
    s%nt = nint((t0 + away(2)/cr + 1.2_dp*t0)/s%grid%dt)
    allocate (s%q(1, s%nt))
    s%q(1, :) = [(real(Ricker((i - 1)*s%grid%dt, fpeak, t0), sp), i=1, s%nt)]
    x = [28.0_dp*h + 0.5_dp*h, 0.0_dp, top]
    do j = 1, n(2)
      x(2) = (j - 0.5_dp)*h
      call Fd3dForce(s%source, s%grid, s%rho, x, [0.0_dp, 0.0_dp, 1.0e6_dp*h], 1, error)
    end do
    do i = 1, size(away)
      call Fd3dRecord(s%receivers, s%grid, [x(1) + away(i), 1.5_dp*h, top], field_vz, error)
      if (.not. airy) call Fd3dRecord(s%receivers, s%grid, [x(1) + away(i), 1.5_dp*h, top], field_vx, error)
    end do
    call Scene3dTraces(s, 'fortran', traces, error)
    call ClaimFine(error, merge('air above, half-length   ', 'free surface, half-length', airy)//' '//Str(half_length)//': '// &
                   Str(s%nt)//' steps')
    do i = 1, size(away)
      j = merge(i, 2*i - 1, airy)
      call Lamb(away(i), [((j - 0.5_dp)*s%grid%dt, j=1, s%nt)], exact)
      exact = exact*1.0e6_dp
      j = merge(i, 2*i - 1, airy)
      misfit = norm2(traces(:, j) - exact(:, 2))
      if (.not. airy) misfit = hypot(misfit, norm2(traces(:, j + 1) - exact(:, 1)))
      misfit = misfit/merge(norm2(exact(:, 2)), norm2(exact), airy)
      call Claim(misfit <= bound, Str(away(i)/h, 3)//' cells away, '//Str(away(i)*2.5_dp*fpeak/cr, 3)// &
                 ' shortest Rayleigh wavelengths: relative L2 '//Str(100*misfit, 3)//' % <= '//Str(100*bound, 2)//' %')
    end do
  end subroutine Shoot

  !> Velocities (x, z) at times t.
  subroutine Lamb(x, t, v)
    real(dp), intent(in) :: x, t(:)
    real(dp), allocatable, intent(out) :: v(:, :)
    type(ground_t) :: g
    complex(dp), allocatable :: spectrum(:, :)
    real(dp) :: df, damping
    integer :: i, nf
    g = ground_t(vp=vp, vs=vs, rho=rho, period=1.3_dp*vp*t(size(t)) + 2*x)
    df = 1/(1.6_dp*t(size(t)))
    damping = 10*df
    nf = nint(3.5_dp*fpeak/df)
    g%waves = nint(16*2*pi*3.5_dp*fpeak/cr*g%period/(2*pi))
    allocate (spectrum(0:nf, 2))
    do i = 0, nf
      spectrum(i, :) = LambVelocity(g, x, cmplx(2*pi*i*df, -damping, dp))
    end do
    v = reshape([LineSeries(spectrum(:, 1), df, damping, fpeak, t0, t), LineSeries(spectrum(:, 2), df, damping, fpeak, t0, t)], &
                [size(t), 2])
  end subroutine Lamb

end program t604_fd3d_surface
