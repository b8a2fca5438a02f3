!> Forces, an explosion and a moment tensor in a homogeneous elastic full space agree with the exact solutions in absolute
!> amplitude, near and far field, source and receivers off the grid at generic azimuths, eight points to the shortest wavelength.
!> Closer than six cells source and receiver overlap, as both are spread over eight cells.
program t600_fd3d_full_space
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use fd3d_engine_m, only: field_vx
  use fd3d_point_lists_m, only: Fd3dForce, Fd3dMoment, Fd3dPressure, Fd3dRecord
  use fullspace_m, only: ForceVelocity, MomentPressure, MomentVelocity, Ricker, RickerSpectrum, space_t, TimeSeries
  use kinds_m, only: dp, sp
  use scene3d_m, only: scene3d_t, Scene3dNew, Scene3dTraces
  use text_m, only: Str
  implicit none
  real(dp), parameter :: h = 10, vp = 3000, vs = 1800, rho = 2300, bound = 0.02_dp
  integer, parameter :: stations = 12, cells = 60, pml = 9
  real(dp), parameter :: fmax = vs/(8*h), fpeak = fmax/2.5_dp, t0 = 1.2_dp/fpeak   ! 2 % of the Ricker's peak spectrum at fmax
  type(error_t), allocatable :: error
  real(dp) :: at(3), x(3, stations)
  integer :: i

  at = 0.5_dp*cells*h + [1.37_dp, -2.2_dp, 3.9_dp]
  do i = 1, stations                                     ! 6 to 16 cells away, spread over the sphere
    x(:, i) = at + h*6*2.7_dp**((i - 1)/real(stations - 1, dp))*Direction(i)
  end do
  call Shoot('force', [0.7_dp, -0.4_dp, 1.1_dp]*1e9_dp, reshape([real(dp) ::], [0, 0]))
  call Shoot('explosion', [real(dp) ::], reshape([1, 0, 0, 0, 1, 0, 0, 0, 1]*1e12_dp, [3, 3]))
  call Shoot('moment tensor', [real(dp) ::], reshape([1.0_dp, 0.6_dp, -0.8_dp, 0.6_dp, -0.3_dp, 0.5_dp, -0.8_dp, 0.5_dp, 0.2_dp] &
                                                     *1e12_dp, [3, 3]))
  call Done()

contains

  pure function Direction(i) result(d)
    integer, intent(in) :: i
    real(dp) :: d(3), z, azimuth
    z = -1 + (2*i - 1)/real(stations, dp)
    azimuth = 2.4_dp*i + 0.3_dp
    d = [sqrt(1 - z**2)*cos(azimuth), sqrt(1 - z**2)*sin(azimuth), z]
  end function Direction

  subroutine Shoot(what, f, m)
    character(*), intent(in) :: what
    real(dp), intent(in) :: f(:), m(:, :)
    type(scene3d_t) :: scene
    real(sp), allocatable :: traces(:, :)
    integer :: n, c
    call Scene3dNew(scene, [cells, cells, cells], h, 2, vp, vs, rho, 0.9_dp)
    scene%width = pml
    scene%fpeak = fpeak
    scene%nt = nint((t0 + 17*h/vs + 1.5_dp*t0)/scene%grid%dt)
    allocate (scene%q(1, scene%nt))
    do n = 1, scene%nt
      scene%q(1, n) = real(Ricker((n - merge(1.0_dp, 0.5_dp, size(f) > 0))*scene%grid%dt, fpeak, t0), sp)
    end do
    if (size(f) > 0) then
      call Fd3dForce(scene%source, scene%grid, scene%rho, at, f, 1, error)
    else
      call Fd3dMoment(scene%source, scene%grid, at, [m(1, 1), m(2, 2), m(3, 3), m(1, 2), m(1, 3), m(2, 3)], 1, error)
    end if
    do i = 1, stations
      do c = 0, 2
        call Fd3dRecord(scene%receivers, scene%grid, x(:, i), field_vx + c, error)
      end do
      call Fd3dPressure(scene%receivers, scene%grid, x(:, i), error)
    end do
    call Scene3dTraces(scene, trim(merge('fortran', 'cpu    ', what == 'moment tensor')), traces, error)    ! the same (t651), the one slow
    call ClaimFine(error, what//': '//Str(scene%nt)//' steps of '//Str(scene%grid%dt, 3)//' s')
    do i = 1, stations
      call Compare(what, f, m, real(traces(:, 4*i - 3:4*i), dp), scene%grid%dt)
    end do
  end subroutine Shoot

  !> Of station i: misfit of each component, relative to the whole vector where a component is near a node of the radiation.
  subroutine Compare(what, f, m, traces, dt)
    character(*), intent(in) :: what
    real(dp), intent(in) :: f(:), m(:, :), traces(:, :), dt
    type(space_t) :: space
    complex(dp), allocatable :: spectrum(:, :), wavelet(:)
    real(dp) :: exact(size(traces, 1), 4), misfit(4)
    integer :: n, c, nf, shown
    character(:), allocatable :: pressure
    space%rho = rho
    space%df = 1/(3*size(traces, 1)*dt)
    nf = nint(6*fpeak/space%df)
    allocate (space%a(nf), source=cmplx(vp, kind=dp))
    allocate (space%b(nf), source=cmplx(vs, kind=dp))
    allocate (spectrum(nf, 4), source=(0.0_dp, 0.0_dp))
    wavelet = RickerSpectrum([(n*space%df, n=1, nf)], fpeak, t0)
    do n = 1, nf
      if (size(f) > 0) then
        spectrum(n, :3) = wavelet(n)*ForceVelocity(space, n, x(:, i) - at, f)
      else
        spectrum(n, :3) = wavelet(n)*MomentVelocity(space, n, x(:, i) - at, m)
        if (what == 'explosion') spectrum(n, 4) = wavelet(n)*MomentPressure(space, n, x(:, i) - at, m(1, 1))*(1 - 4*(vs/vp)**2/3)
      end if
    end do
    do n = 1, size(traces, 1)
      do c = 1, 4
        exact(n, c) = TimeSeries(spectrum(:, c), space%df, (n - merge(0.0_dp, 0.5_dp, c == 4))*dt)
      end do
    end do
    shown = merge(4, 3, what == 'explosion')
    do c = 1, shown
      misfit(c) = norm2(traces(:, c) - exact(:, c))/max(norm2(exact(:, c)), merge(0.0_dp, 0.2_dp, c == 4)*norm2(exact(:, :3)))
    end do
    pressure = ''
    if (shown == 4) pressure = ' and '//Str(100*misfit(4), 3)//' % of the pressure'
    call Claim(all(misfit(:shown) <= bound), what//', '//Str(norm2(x(:, i) - at)/h, 3)//' cells away: relative L2 of vx, vy, vz '// &
               Str(100*misfit(1), 3)//', '//Str(100*misfit(2), 3)//', '//Str(100*misfit(3), 3)//' %'//pressure//' <= '// &
               Str(100*bound)//' %')
  end subroutine Compare

end program t600_fd3d_full_space
