!> Motion of a plane slope made of cells of air above rock, against the exact answer of a half-space: an explosion two of the
!> shortest S waves below the ground, stations anywhere along it. A station on the face of a cell is as good as one half a cell
!> deeper and better than one a cell deeper, at 6, 10 and 16 points per shortest S wavelength; a cubic makes it 1.6 times worse.
!> Five of the slopes are tried in a run, two of them at 16 points, which take longest. Errors are of the whole wave field: stairs shake the rock,
!> whatever reads it.
program t620_fd3d_slopes
  use check_m, only: Claim, ClaimFine, Done, Drawn, GivenSeed
  use error_m, only: error_t
  use fd3d_engine_m, only: field_vx, side_periodic
  use fd3d_point_lists_m, only: Fd3dMoment, Fd3dRecord
  use fullspace_m, only: Ricker
  use halfspace_m, only: ExplosionVelocity, ground_t, LineSeries
  use kinds_m, only: dp, i8, sp
  use scene3d_m, only: scene3d_t, Scene3dNew, Scene3dTraces
  use text_m, only: Str
  implicit none
  real(dp), parameter :: pi = acos(-1.0_dp), vp = 3000, vs = 1732, rho = 2200, h = 10, moment = 1e9_dp
  integer, parameter :: layer = 10, stations = 40, places = 4, face = 2, centre = 3, below = 4, seed0 = 20261124
  real(dp), parameter :: points(3) = [6.0_dp, 10.0_dp, 16.0_dp]      !< per shortest S wavelength
  integer(i8) :: seed
  real(dp) :: x0, z0, slope, fpeak, t0, deep                         !< of the scene
  logical :: tried(8), whole(8)                                      !< slopes; those of which all numbers of points are tried
  integer :: number, slopes_seen = 0

  number = GivenSeed()
  tried = Drawn(5, size(tried), number)
  whole = Drawn(2, size(whole), number)
  print '(2(a,i0))', 'SEED=', number, ', stations drawn from ', seed0
  call Slopes(2, 0.0_dp, [0.03_dp, 0.012_dp, 0.01_dp])
  call Slopes(2, 3.0_dp, [0.42_dp, 0.27_dp, 0.16_dp])
  call Slopes(2, 5.0_dp, [0.48_dp, 0.27_dp, 0.1_dp])
  call Slopes(2, 10.0_dp, [0.34_dp, 0.12_dp, 0.07_dp])
  call Slopes(2, 20.0_dp, [0.32_dp, 0.19_dp, 0.12_dp])
  call Slopes(2, 32.0_dp, [0.41_dp, 0.27_dp, 0.16_dp])
  call Slopes(1, 10.0_dp, [0.4_dp, 0.16_dp, 0.09_dp])
  call Slopes(4, 10.0_dp, [0.34_dp, 0.12_dp, 0.07_dp])
  call Done()

contains

  !> Errors at each number of points are at most `bound`, on the face at most what they are in the cell below it.
  subroutine Slopes(half_length, degrees, bound)
    integer, intent(in) :: half_length
    real(dp), intent(in) :: degrees, bound(:)
    real(dp), parameter :: as_good = 1.05_dp
    real(dp) :: off(places, stations), all(places)
    integer :: p
    character(:), allocatable :: claimed
    slopes_seen = slopes_seen + 1
    if (.not. tried(slopes_seen)) return
    do p = 1, merge(3, 2, whole(slopes_seen))
      call Shoot(half_length, points(p), degrees*pi/180, off)
      all = sqrt(sum(off**2, 2)/stations)
      claimed = 'half-length '//Str(half_length)//', '//Str(degrees, 2)//' degrees, '//Str(points(p), 2)//' points: '
      call Claim(all(face) <= bound(p) .and. all(1) <= bound(p), claimed//'stations on the ground and on the face of its cell '// &
                 'are off by '//Str(100*all(1), 3)//' and '//Str(100*all(face), 3)//' %, the worst by '// &
                 Str(100*maxval(off(face, :)), 3)//' %: at most '//Str(100*bound(p), 3)//' % of all')
      call Claim(all(face) <= min(as_good*all(centre), all(below)), claimed//'half a cell and a cell below the face '// &
                 Str(100*all(centre), 3)//' and '//Str(100*all(below), 3)//' %: on it at most '//Str(as_good, 3)// &
                 ' times the one, and the other')
    end do
  end subroutine Slopes

  !> A line source below a slope that falls along x, and how far off stations are: on the ground, on the face of the uppermost
  !> cell, at its centre, and on its lower face.
  subroutine Shoot(half_length, per_wave, angle, off)
    integer, intent(in) :: half_length
    real(dp), intent(in) :: per_wave, angle
    real(dp), intent(out) :: off(places, stations)
    type(scene3d_t), target :: s
    type(error_t), allocatable :: error
    real(sp), allocatable :: traces(:, :)
    real(dp) :: wave, x(3), top, at(2), away(stations), spot(places)
    real(dp), allocatable :: exact(:, :), turned(:, :)
    integer :: n(3), i, j, k, m, c
    slope = angle
    wave = per_wave*h
    fpeak = vs/wave/2.5_dp
    t0 = 1.2_dp/fpeak
    deep = 2*wave
    n = [nint(11*wave/h) + 2*layer + 8, half_length, nint((5*wave + 11*wave*tan(slope))/h) + layer + 8]
    x0 = layer*h + 6*h + 3*wave
    z0 = 6*h + 3*wave*tan(slope)
    call Scene3dNew(s, n, h, half_length, vp, vs, rho, 0.85_dp)
    s%grid%threads = 1
    s%grid%side(3:4) = side_periodic
    s%width = layer*[1, 1, 0, 0, 0, 1]
    s%fpeak = fpeak
    do k = 0, n(3) + 1
      do i = 0, n(1) + 1
        if ((k - 0.5_dp)*h > Ground((i - 0.5_dp)*h)) cycle
        s%rho(i, :, k) = 0
        s%lambda(i, :, k) = 0
        s%mu(i, :, k) = 0
      end do
    end do
    s%source%rho => s%rho
    s%source%mu => s%mu
    s%receivers%rho => s%rho
    s%receivers%mu => s%mu
    s%nt = nint((2*t0 + 7.5_dp*wave/1500)/s%grid%dt)
    allocate (s%q(1, s%nt))
    s%q(1, :) = [(real(Ricker((i - 0.5_dp)*s%grid%dt, fpeak, t0), sp), i=1, s%nt)]
    at = [x0, z0] + deep*[-sin(slope), cos(slope)]
    do j = 1, n(2)
      call Fd3dMoment(s%source, s%grid, [at(1), (j - 0.5_dp)*h, at(2)], moment*h*[1, 1, 1, 0, 0, 0], 1, error)
    end do
    seed = seed0
    do m = 1, stations
      away(m) = (m - 1 + Chance())/stations*6*wave
      x = [x0 + away(m)*cos(slope), 0.5_dp*h, 0.0_dp]
      i = floor(x(1)/h) + 1
      top = (count(.not. s%rho(i, 1, 1:) > 0))*h
      spot = [Ground(x(1)), top, top + h/2, top + h]
      do c = 1, places
        x(3) = spot(c)
        call Fd3dRecord(s%receivers, s%grid, x, field_vx, error)
        call Fd3dRecord(s%receivers, s%grid, x, field_vx + 2, error)
      end do
    end do
    call Scene3dTraces(s, 'cpu', traces, error)
    if (allocated(error)) call ClaimFine(error, Str(slope*180/pi, 2)//' degrees, '//Str(per_wave)//' points')
    do m = 1, stations
      call Exactly(away(m), s%nt, s%grid%dt, exact)
      turned = reshape([exact(:, 1)*cos(slope) - exact(:, 2)*sin(slope), exact(:, 1)*sin(slope) + exact(:, 2)*cos(slope)], &
                       shape(exact))
      do c = 1, places
        k = 2*(places*(m - 1) + c)
        off(c, m) = norm2(traces(:, k - 1:k) - turned)/norm2(exact)
      end do
    end do
  end subroutine Shoot

  pure real(dp) function Ground(x)
    real(dp), intent(in) :: x
    Ground = z0 + tan(slope)*(x - x0)
  end function Ground

  !> Motion along the slope and into it, a distance along the slope away from above the source.
  subroutine Exactly(x, nt, dt, series)
    real(dp), intent(in) :: x, dt
    integer, intent(in) :: nt
    real(dp), allocatable, intent(out) :: series(:, :)
    type(ground_t) :: g
    complex(dp), allocatable :: spectrum(:, :)
    real(dp) :: df, damping, t(nt)
    integer :: i, nf
    t = [((i - 0.5_dp)*dt, i=1, nt)]
    g = ground_t(vp=vp, vs=vs, rho=rho, period=1.3_dp*vp*t(nt) + 2*x)
    df = 1/(1.6_dp*t(nt))
    damping = 10*df
    nf = nint(3.5_dp*fpeak/df)
    g%waves = nint(8*3.5_dp*fpeak/1600*g%period)
    allocate (spectrum(0:nf, 2), series(nt, 2))
    do i = 0, nf
      spectrum(i, :) = moment*ExplosionVelocity(g, x, deep, cmplx(2*pi*i*df, -damping, dp))
    end do
    do i = 1, 2
      series(:, i) = LineSeries(spectrum(:, i), df, damping, fpeak, t0, t)
    end do
  end subroutine Exactly

  !> A number from 0 to 1.
  real(dp) function Chance()
    seed = modulo(seed*16807_i8, 2147483647_i8)
    Chance = real(seed, dp)/2147483647.0_dp
  end function Chance

end program t620_fd3d_slopes
