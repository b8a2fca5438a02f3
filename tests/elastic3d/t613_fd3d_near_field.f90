!> Within a few cells of a force or a moment tensor all that can be recorded agrees with the exact solutions in absolute amplitude,
!> source and receivers off the grid at generic azimuths, once what the grid lacks there is added; without it is wrong by far.
program t613_fd3d_near_field
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use fd3d_point_lists_m, only: Fd3dForce, Fd3dMoment
  use fd3d_components_m, only: Fd3dAtWhole, Fd3dComponent
  use fullspace_m, only: ForceVelocity, MomentVelocity, Ricker, RickerSpectrum, space_t, TimeSeries
  use kinds_m, only: dp, sp
  use nearfield3d_m, only: near3d_place_t, near3d_source_t, near3d_t, Near3dNew, Near3dPlace, Near3dSeries, Near3dSource, &
                           Near3dTerms
  use scene3d_m, only: scene3d_t, Scene3dNew, Scene3dTraces
  use text_m, only: Str
  implicit none
  real(dp), parameter :: vp = 3000, rho = 2300, even(3) = [10.0_dp, 10.0_dp, 10.0_dp], flat(3) = [10.0_dp, 12.5_dp, 8.0_dp]
  real(dp), parameter :: radius(9) = [0.1_dp, 0.5_dp, 1.0_dp, 1.5_dp, 2.0_dp, 3.0_dp, 4.0_dp, 5.0_dp, 6.5_dp]
  integer, parameter :: cells = 48, pml = 9, stations = size(radius)
  character(3), parameter :: names(12) = [character(3) :: 'vx', 'vy', 'vz', 'p', 'sxx', 'sxz', 'syz', 'exx', 'exy', 'wx', 'wy', 'wz']
  integer, parameter :: kind(12) = [1, 1, 1, 2, 3, 3, 3, 4, 4, 5, 5, 5]
  real(dp), parameter :: push(3) = [0.7_dp, -0.4_dp, 1.1_dp]*1e9_dp, still(3) = 0, nothing(6) = 0
  real(dp), parameter :: explosion(6) = [1, 1, 1, 0, 0, 0]*1e12_dp
  real(dp), parameter :: slip(6) = [1.0_dp, -0.3_dp, -0.7_dp, 0.6_dp, -0.8_dp, 0.5_dp]*1e12_dp
  type(error_t), allocatable :: error

  call Shoot('force', 2, 8.0_dp, 1800.0_dp, even, push, nothing)
  call Shoot('explosion', 2, 8.0_dp, 1800.0_dp, even, still, explosion)
  call Shoot('moment tensor', 2, 8.0_dp, 1800.0_dp, even, still, slip)
  call Shoot('moment tensor, cells of 10 x 12.5 x 8 m', 4, 6.0_dp, 1300.0_dp, flat, still, slip + explosion)
  call Shoot('explosion in water', 4, 8.0_dp, 0.0_dp, even, still, explosion)
  call Done()

contains

  pure function Direction(i) result(d)
    integer, intent(in) :: i
    real(dp) :: d(3), z, azimuth
    z = -1 + 2*modulo(0.618034_dp*i + 0.2_dp, 1.0_dp)
    azimuth = 2.4_dp*i + 0.3_dp
    d = [sqrt(1 - z**2)*cos(azimuth), sqrt(1 - z**2)*sin(azimuth), z]
  end function Direction

  !> ppw: cells to the shortest wavelength, of S waves but in water.
  subroutine Shoot(what, half_length, ppw, vs, d, f, m)
    character(*), intent(in) :: what
    integer, intent(in) :: half_length
    real(dp), intent(in) :: ppw, vs, d(3), f(3), m(6)
    real(dp), parameter :: bound = 0.5_dp
    type(scene3d_t) :: scene
    real(sp), allocatable :: traces(:, :)
    real(dp), allocatable :: exact(:, :), lacking(:, :)
    real(dp) :: at(3), x(3), slow, fpeak, t0, before(5), after(5)
    logical :: force
    integer :: n, i, c
    force = any(abs(f) > 0)
    slow = merge(vs, vp, vs > 0)
    fpeak = slow/(ppw*maxval(d))/2.5_dp                  ! 2 % of the Ricker's peak spectrum at fmax
    t0 = 1.2_dp/fpeak
    call Scene3dNew(scene, [cells, cells, cells], minval(d), half_length, vp, vs, rho, 0.6_dp)
    scene%grid%d = d
    scene%width = pml
    scene%fpeak = fpeak
    scene%nt = nint((2*t0 + 7*maxval(d)/slow)/scene%grid%dt)
    allocate (scene%q(1, scene%nt))
    do n = 1, scene%nt
      scene%q(1, n) = real(Ricker((n - merge(1.0_dp, 0.5_dp, force))*scene%grid%dt, fpeak, t0), sp)
    end do
    at = 0.5_dp*cells*d + [1.37_dp, -2.2_dp, 3.9_dp]
    if (force) call Fd3dForce(scene%source, scene%grid, scene%rho, at, f, 1, error)
    if (.not. force) call Fd3dMoment(scene%source, scene%grid, at, m, 1, error)
    do i = 1, stations
      do c = 1, size(names)
        call Fd3dComponent(scene%receivers, scene%grid, trim(names(c)), at + radius(i)*d*Direction(i), error)
      end do
    end do
    call Scene3dTraces(scene, 'cpu', traces, error)
    call ClaimFine(error, what//', half-length '//Str(half_length)//', '//Str(ppw)//' points per shortest wavelength')
    do i = 1, stations
      x = radius(i)*d*Direction(i)
      call Exactly(f, m, vs, x, scene%nt, scene%grid%dt, fpeak, t0, exact)
      call Near(scene, f, m, vs, at, x, lacking)
      associate (got => real(traces(:, (i - 1)*size(names) + 1:i*size(names)), dp))
        before = Misfit(got - exact, exact)
        after = Misfit(got + lacking - exact, exact)
      end associate
      call Claim(all(after <= bound) .and. (radius(i) > 3.5_dp .or. maxval(before) > 10), Str(radius(i))// &
                 ' cells away: relative L2 of v, p, stress, strain, rotation '//List(after)//' % <= '//Str(bound)// &
                 ' %; the grid''s own answer is '//List(before)//' % off')
    end do
  end subroutine Shoot

  function List(a) result(s)
    real(dp), intent(in) :: a(:)
    character(:), allocatable :: s
    integer :: i
    s = Str(a(1), 2)
    do i = 2, size(a)
      s = s//', '//Str(a(i), 2)
    end do
  end function List

  !> Largest misfit [%] of a component of each kind, relative to all components of that kind, but no less than a fifth of stress for
  !> pressure and of strain for rotation, which have nodes or are 0.
  pure function Misfit(off, exact) result(misfits)
    real(dp), intent(in) :: off(:, :), exact(:, :)
    real(dp) :: misfits(5), whole(5)
    integer :: c
    misfits = 0
    whole = 0
    do c = 1, size(kind)
      misfits(kind(c)) = max(misfits(kind(c)), 100*norm2(off(:, c)))
      whole(kind(c)) = hypot(whole(kind(c)), norm2(exact(:, c)))
    end do
    whole([2, 5]) = max(whole([2, 5]), whole([3, 4])/5)
    misfits = misfits/whole
  end function Misfit

  !> Traces to be added to those of all components (nt, component).
  subroutine Near(scene, f, m, vs, at, x, lacking)
    type(scene3d_t), intent(in) :: scene
    real(dp), intent(in) :: f(3), m(6), vs, at(3), x(3)
    real(dp), allocatable, intent(out) :: lacking(:, :)
    type(near3d_t) :: table
    type(near3d_source_t) :: source
    type(near3d_place_t) :: place
    integer :: c
    associate (g => scene%grid)
      call Near3dNew(table, g%w(:g%half_length), g%d)
      call Near3dSource(table, at/g%d, .false., f, m, [vp, vs, rho], source)
      call Near3dPlace(table, (at + x)/g%d, .false., place)
      allocate (lacking(scene%nt, size(names)))
      do c = 1, size(names)
        lacking(:, c) = matmul(Near3dSeries(scene%q(1, :), g%dt, any(abs(f) > 0), Fd3dAtWhole(trim(names(c)))), &
                               Near3dTerms(table, source, place, trim(names(c))))
      end do
    end associate
  end subroutine Near

  !> All components (nt, component), strains and stresses by differences of velocity over a fiftieth of the distance.
  subroutine Exactly(f, m, vs, x, nt, dt, fpeak, t0, exact)
    real(dp), intent(in) :: f(3), m(6), vs, x(3), dt, fpeak, t0
    integer, intent(in) :: nt
    real(dp), allocatable, intent(out) :: exact(:, :)
    complex(dp), parameter :: i1 = (0.0_dp, 1.0_dp)
    real(dp), parameter :: pi = acos(-1.0_dp), w(3) = [45, -9, 1]/60.0_dp
    type(space_t) :: space
    complex(dp), allocatable :: spectrum(:, :), wavelet(:)
    complex(dp) :: g(3, 3), growth
    real(dp) :: e(3), lambda, mu
    integer :: n, nf, a, c
    space%rho = rho
    space%df = 1/(6*nt*dt)
    nf = nint(5*fpeak/space%df)
    allocate (space%a(nf), source=cmplx(vp, kind=dp))
    allocate (space%b(nf), source=cmplx(merge(vs, vp/2, vs > 0), kind=dp))      ! in water it does not matter
    allocate (spectrum(nf, size(names)), exact(nt, size(names)))
    wavelet = RickerSpectrum([(n*space%df, n=1, nf)], fpeak, t0)
    mu = rho*vs**2
    lambda = rho*vp**2 - 2*mu
    do n = 1, nf
      g = 0
      do a = 1, 3
        do c = 1, 3
          e = 0
          e(a) = 0.02_dp*c*norm2(x)
          g(:, a) = g(:, a) + w(c)*(Velocity(space, n, x + e, f, m) - Velocity(space, n, x - e, f, m))/(0.02_dp*norm2(x))
        end do
      end do
      growth = g(1, 1) + g(2, 2) + g(3, 3)
      spectrum(n, :3) = Velocity(space, n, x, f, m)
      spectrum(n, 4:7) = [-(lambda + 2*mu/3)*growth, lambda*growth + 2*mu*g(1, 1), mu*(g(1, 3) + g(3, 1)), &
                          mu*(g(2, 3) + g(3, 2))]/(i1*2*pi*n*space%df)
      spectrum(n, 8:) = [2*g(1, 1), g(1, 2) + g(2, 1), g(3, 2) - g(2, 3), g(1, 3) - g(3, 1), g(2, 1) - g(1, 2)]/2
      spectrum(n, :) = spectrum(n, :)*wavelet(n)
    end do
    do c = 1, size(names)
      do n = 1, nt
        exact(n, c) = TimeSeries(spectrum(:, c), space%df, (n - merge(0.0_dp, 0.5_dp, Fd3dAtWhole(trim(names(c)))))*dt)
      end do
    end do
  end subroutine Exactly

  function Velocity(space, n, x, f, m) result(v)
    type(space_t), intent(in) :: space
    integer, intent(in) :: n
    real(dp), intent(in) :: x(3), f(3), m(6)
    complex(dp) :: v(3)
    if (any(abs(f) > 0)) then
      v = ForceVelocity(space, n, x, f)
    else
      v = MomentVelocity(space, n, x, reshape(m([1, 4, 5, 4, 2, 6, 5, 6, 3]), [3, 3]))
    end if
  end function Velocity

end program t613_fd3d_near_field
