!> Water over rock with the sea floor in a cell, a line source in the water: what the engine models against the exact answer.
module floor3d_m
  use check_m, only: ClaimFine
  use error_m, only: error_t
  use fd3d_engine_m, only: field_vx, field_vz, side_periodic
  use fd3d_point_lists_m, only: Fd3dMoment, Fd3dPressure, Fd3dRecord
  use fullspace_m, only: Ricker
  use halfspace_m, only: FloorVelocity, ground_t, LineSeries, WaterPressure
  use kinds_m, only: dp, sp
  use mixed_cells_m, only: medium_parts
  use scene3d_m, only: scene3d_t, Scene3dMedium, Scene3dNew, Scene3dTraces
  use sea_floor_m, only: FloorCells
  implicit none
  private
  public :: FloorMisfits

  real(dp), parameter :: pi = acos(-1.0_dp), h = 10, c = 1500, rho1 = 1000
  real(dp), parameter :: up(2) = [11.0_dp, 7.0_dp]*h, deep = 7*h       !< source, hydrophones, geophones from the sea floor
  real(dp), parameter :: away(4) = [0.0_dp, 12.0_dp, 22.0_dp, 40.0_dp]*h, motion(2) = [9.0_dp, 20.0_dp]*h
  integer, parameter :: water = 33

contains

  !> Largest relative L2 of pressures in water and of motion in rock (vp, vs, rho), the sea floor `place` of a cell below a face, or
  !> not `inside` the cell but on the nearest face; `fastest`: of the whole model, for the time step. `dip`: the sea floor descends
  !> along x by so much [rad], through the foot of the source, source and receivers are as far from it as from a flat one, and
  !> motion is along and across it.
  function FloorMisfits(medium, points, place, inside, half_length, fastest, dip) result(m)
    real(dp), intent(in) :: medium(3), points, place, fastest
    logical, intent(in) :: inside
    integer, intent(in) :: half_length
    real(dp), intent(in), optional :: dip
    real(dp) :: m(2), along(3), down(3), foot(3), x(3), fpeak, t0
    real(dp), allocatable :: exact(:, :)
    real(sp), allocatable :: traces(:, :)
    type(scene3d_t) :: s
    type(error_t), allocatable :: error
    integer :: n(3), i, j, np
    n = [78, max(2, half_length), 66]                       ! along y all is alike
    call Scene3dNew(s, n, h, half_length, fastest, 0.5_dp*fastest, medium(3), 0.99_dp)
    call Scene3dMedium(s, [1, 1, 1], n, medium(1), medium(2), medium(3))
    s%cpml = medium(1)
    along = [1.0_dp, 0.0_dp, 0.0_dp]
    if (present(dip)) along = [cos(dip), 0.0_dp, sin(dip)]
    down = [-along(3), 0.0_dp, along(1)]
    foot = [20.3_dp*h, 1.5_dp*h, (water + place)*h]
    do i = 1, n(1)
      call Column(s, i, medium, foot(3)/h + along(3)/along(1)*(i - 0.5_dp - foot(1)/h), inside, .not. present(dip), fastest)
    end do
    fpeak = min(c, medium(2))/(points*h)/2.5_dp
    t0 = 1.2_dp/fpeak
    s%grid%side(3:4) = side_periodic
    s%width = [12, 12, 0, 0, 12, 12]
    s%fpeak = fpeak
    s%nt = nint((2*t0 + 48*h/min(c, 0.9_dp*medium(2)))/s%grid%dt)
    allocate (s%q(1, s%nt))
    s%q(1, :) = [(real(Ricker((i - 0.5_dp)*s%grid%dt, fpeak, t0), sp), i=1, s%nt)]
    do j = 1, n(2)
      x = foot - up(1)*down
      x(2) = (j - 0.5_dp)*h
      call Fd3dMoment(s%source, s%grid, x, rho1*c**2*h*[1, 1, 1, 0, 0, 0], 1, error)
    end do
    do i = 1, size(away)
      call Fd3dPressure(s%receivers, s%grid, foot + away(i)*along - up(2)*down, error)
    end do
    do i = 1, size(motion)
      call Fd3dRecord(s%receivers, s%grid, foot + motion(i)*along + deep*down, field_vx, error)
      call Fd3dRecord(s%receivers, s%grid, foot + motion(i)*along + deep*down, field_vz, error)
    end do
    call Scene3dTraces(s, 'cpu', traces, error)
    if (allocated(error)) call ClaimFine(error, 'water over rock')
    m = huge(1.0_dp)
    if (allocated(error)) return
    call Exactly(medium, fpeak, t0, s%nt, s%grid%dt, exact)
    np = size(away)
    do i = np + 1, size(traces, 2), 2
      traces(:, i:i + 1) = matmul(traces(:, i:i + 1), real(reshape([along([1, 3]), down([1, 3])], [2, 2]), sp))
    end do
    m(1) = maxval([(norm2(traces(:, i) - exact(:, i))/norm2(exact(:, i)), i=1, np)])
    m(2) = maxval([(norm2(traces(:, i:i + 1) - exact(:, i:i + 1))/norm2(exact(:, i:i + 1)), i=np + 1, size(exact, 2), 2)])
  end function FloorMisfits

  !> Water over rock in the cells i of x, the sea floor at z [cells] in it, or on the nearest face.
  subroutine Column(s, i, medium, z, inside, flat, fastest)
    type(scene3d_t), intent(inout) :: s
    integer, intent(in) :: i
    real(dp), intent(in) :: medium(3), z, fastest
    logical, intent(in) :: inside, flat
    real(sp) :: cells(medium_parts, -4:2)
    integer :: k, face, top
    top = merge(floor(z), nint(z), inside)
    cells = 0
    cells(1, :-1) = real(c, sp)
    cells(3, :-1) = real(rho1, sp)
    cells(:3, 0:) = spread(real(medium, sp), 2, 3)
    if (inside .and. z > top) then
      if (z - top > 0.5_dp) cells(:, 0) = cells(:, -1)
      call FloorCells(cells, z - top, flat, fastest, 2.0_dp, s%grid%half_length, face)
    end if
    associate (n => s%grid%n)
      call Scene3dMedium(s, [i, 1, 1], [i, n(2), top], c, 0.0_dp, rho1)
      call Scene3dMedium(s, [i, 1, top + 1], [i, n(2), n(3)], medium(1), medium(2), medium(3))
    end associate
    do k = -4, 2
      call Scene3dMedium(s, [i, 1, top + k + 1], [i, s%grid%n(2), top + k + 1], real(cells(1, k), dp), real(cells(2, k), dp), &
                         real(cells(3, k), dp))
    end do
  end subroutine Column

  subroutine Exactly(medium, fpeak, t0, nt, dt, exact)
    real(dp), intent(in) :: medium(3), fpeak, t0, dt
    integer, intent(in) :: nt
    real(dp), allocatable, intent(out) :: exact(:, :)
    type(ground_t) :: g
    complex(dp), allocatable :: spectra(:, :)
    complex(dp) :: w
    real(dp) :: df, damping, times(nt)
    integer :: i, j, m, nf
    g = ground_t(vp=medium(1), vs=medium(2), rho=medium(3), c=c, rho1=rho1, period=1.2_dp*medium(1)*nt*dt + 800)
    df = 1/(1.4_dp*nt*dt)
    damping = 8*df
    nf = nint(3*fpeak/df)
    g%waves = nint(8*3*fpeak/min(c, medium(2))*g%period)
    allocate (spectra(0:nf, size(away) + 2*size(motion)))
    !$omp parallel do private(i, w)
    do m = 0, nf
      w = cmplx(2*pi*m*df, -damping, dp)
      do i = 1, size(away)
        spectra(m, i) = WaterPressure(g, away(i), up(1), up(2), w)
      end do
      do i = 1, size(motion)
        spectra(m, size(away) + 2*i - 1:size(away) + 2*i) = FloorVelocity(g, motion(i), up(1), w, deep)
      end do
    end do
    !$omp end parallel do
    allocate (exact(nt, size(spectra, 2)))
    do i = 1, size(spectra, 2)
      times = [((j - merge(0.0_dp, 0.5_dp, i <= size(away)))*dt, j=1, nt)]
      exact(:, i) = LineSeries(spectra(:, i), df, damping, fpeak, t0, times)
    end do
  end subroutine Exactly

end module floor3d_m
