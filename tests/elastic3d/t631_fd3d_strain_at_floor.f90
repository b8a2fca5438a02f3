!> Strain and rotation within two cells of a sea floor are those of their own side of it: in rock the exact ones, in water without
!> rotation. Differences that reach across the floor took the slip of the water for strain: 4 to 6 times the whole within half a cell.
program t631_fd3d_strain_at_floor
  use check_m, only: Claim, ClaimFine, Done, GivenSeed, Seed
  use error_m, only: error_t
  use fd3d_components_m, only: Fd3dComponent
  use fd3d_engine_m, only: side_periodic
  use fd3d_point_lists_m, only: Fd3dMoment
  use fullspace_m, only: Ricker
  use halfspace_m, only: FloorVelocity, ground_t, LineSeries
  use kinds_m, only: dp, sp
  use scene3d_m, only: scene3d_t, Scene3dMedium, Scene3dNew, Scene3dTraces
  use text_m, only: Str
  implicit none
  real(dp), parameter :: pi = acos(-1.0_dp), h = 10, c = 1500, rho1 = 1000, points = 10
  integer, parameter :: n(3) = [78, 4, 66], water = 33, below = 5, above = 3
  character(3), parameter :: names(4) = [character(3) :: 'exx', 'ezz', 'exz', 'wy']
  real(dp) :: u(below + above), deep(below + above), away
  integer :: number, half_length

  number = GivenSeed()
  call Seed(number)
  print '(a, i0)', 'SEED=', number
  do half_length = 1, 4
    call random_number(u)
    away = (8 + 10*u(1))*h
    deep(:below) = ([0.02_dp, 0.4_dp, 0.8_dp, 1.2_dp, 1.6_dp] + 0.4_dp*u(:below))*h
    deep(below + 1:) = -([0.1_dp, 0.7_dp, 1.4_dp] + 0.6_dp*u(below + 1:))*h
    call Floor(half_length, 2600.0_dp + 1400*u(2), 1.7_dp + 0.4_dp*u(3))
  end do
  call Done()

contains

  !> A line source in water over rock of vp and vp/vs, floor on a face.
  subroutine Floor(half_length, vp, ratio)
    integer, intent(in) :: half_length
    real(dp), intent(in) :: vp, ratio
    type(scene3d_t) :: s
    type(error_t), allocatable :: error
    real(sp), allocatable :: traces(:, :)
    real(dp), allocatable :: exact(:, :)
    real(dp) :: x(3), fpeak, t0, vs, most(2), whole, off
    integer :: i, j, k
    vs = vp/ratio
    call Scene3dNew(s, n, h, half_length, vp, vs, 2100.0_dp, 0.85_dp)
    call Scene3dMedium(s, [1, 1, 1], [n(1), n(2), water], c, 0.0_dp, rho1)
    fpeak = min(c, vs)/(points*h)/2.5_dp
    t0 = 1.2_dp/fpeak
    s%grid%side(3:4) = side_periodic
    s%width = [12, 12, 0, 0, 12, 12]
    s%fpeak = fpeak
    s%nt = nint((2*t0 + 40*h/min(c, 0.9_dp*vs))/s%grid%dt)
    allocate (s%q(1, s%nt))
    s%q(1, :) = [(real(Ricker((i - 0.5_dp)*s%grid%dt, fpeak, t0), sp), i=1, s%nt)]
    do j = 1, n(2)
      x = [24.3_dp*h, (j - 0.5_dp)*h, (water - 9)*h]
      call Fd3dMoment(s%source, s%grid, x, rho1*c**2*h*[1, 1, 1, 0, 0, 0], 1, error)
    end do
    call Know(s)
    do i = 1, size(deep)
      do k = 1, size(names)
        call Fd3dComponent(s%receivers, s%grid, trim(names(k)), [x(1) + away, 1.7_dp*h, water*h + deep(i)], error)
      end do
    end do
    call Scene3dTraces(s, 'cpu', traces, error)
    call ClaimFine(error, 'half-length '//Str(half_length)//', rock of '//Str(vp, 4)//', '//Str(vs, 4)//' m/s')
    if (allocated(error)) return
    most = 0
    do i = 1, size(deep)
      associate (got => traces(:, (i - 1)*size(names) + 1:i*size(names)))
        if (deep(i) > 0) then
          call Exactly(vp, vs, 9*h, deep(i), fpeak, t0, s%nt, s%grid%dt, exact)
          whole = norm2(exact)
          off = maxval([(norm2(got(:, k) - exact(:, k)), k=1, size(names))])/whole
          most(1) = max(most(1), off)
        else
          off = norm2(got(:, 4))/norm2(real(got(:, :3), dp))
          most(2) = max(most(2), off)
        end if
      end associate
    end do
    call Claim(most(1) <= 0.2_dp .and. most(2) <= 0.4_dp, 'half-length '//Str(half_length)//', rock of '//Str(vp, 4)//', '//Str(vs, 4)// &
               ' m/s, within two cells: strain and rotation in rock at most '//Str(100*most(1), 2)// &
               ' % of the whole off, rotation in water '//Str(100*most(2), 2)//' % of strain, bounds 20, 40 %')
    deallocate (s%receivers%rho, s%receivers%mu)       ! of Know
  end subroutine Floor

  !> Lets the list of receivers know where water and rock meet.
  subroutine Know(s)
    type(scene3d_t), intent(inout), target :: s
    real(sp), pointer, contiguous :: a(:, :, :)
    allocate (a(0:n(1) + 1, 0:n(2) + 1, 0:n(3) + 1))
    a = s%rho
    s%receivers%rho => a
    nullify (a)
    allocate (a(0:n(1) + 1, 0:n(2) + 1, 0:n(3) + 1))
    a = s%mu
    s%receivers%mu => a
  end subroutine Know

  !> exx, ezz, exz, wy in rock, from differences of the exact velocity.
  subroutine Exactly(vp, vs, up, deep, fpeak, t0, nt, dt, exact)
    real(dp), intent(in) :: vp, vs, up, deep, fpeak, t0, dt
    integer, intent(in) :: nt
    real(dp), allocatable, intent(out) :: exact(:, :)
    type(ground_t) :: g
    complex(dp), allocatable :: spectra(:, :)
    complex(dp) :: w, dx(2), dz(2)
    real(dp), parameter :: e = 0.02_dp*h
    real(dp) :: df, damping, times(nt)
    integer :: i, j, m, nf
    g = ground_t(vp=vp, vs=vs, rho=2100.0_dp, c=c, rho1=rho1, period=1.2_dp*vp*nt*dt + 800)
    df = 1/(1.4_dp*nt*dt)
    damping = 8*df
    nf = nint(3*fpeak/df)
    g%waves = nint(8*3*fpeak/min(c, vs)*g%period)
    allocate (spectra(0:nf, 4))
    !$omp parallel do private(w, dx, dz)
    do m = 0, nf
      w = cmplx(2*pi*m*df, -damping, dp)
      dx = (FloorVelocity(g, away + e, up, w, deep) - FloorVelocity(g, away - e, up, w, deep))/(2*e)
      dz = (FloorVelocity(g, away, up, w, deep + e) - FloorVelocity(g, away, up, w, deep - e))/(2*e)
      spectra(m, :) = [dx(1), dz(2), (dx(2) + dz(1))/2, (dz(1) - dx(2))/2]
    end do
    !$omp end parallel do
    allocate (exact(nt, 4))
    times = [((j - 0.5_dp)*dt, j=1, nt)]
    do i = 1, 4
      exact(:, i) = LineSeries(spectra(:, i), df, damping, fpeak, t0, times)
    end do
  end subroutine Exactly

end program t631_fd3d_strain_at_floor
