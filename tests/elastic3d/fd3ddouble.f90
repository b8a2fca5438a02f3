!> The 3D scheme in double precision, for elastic shots of fd3dcase.f90: plain loops over a grid with a rim. It says how much of a
!> difference between variants is their rounding: numbers that variants get in single precision (medium, weights, spacing, step,
!> profiles, histories) are taken as they get them, all else is double, also averages of the medium.
!>
!> Sides: outside, free, periodic; layers and sponge. No neighbours, no one-way bottom, no narrow differences, no attenuation.
module fd3ddouble_m
  use fd3d_absorb_m, only: fd3d_profiles_t, Fd3dSponge
  use fd3d_engine_m, only: side_free, side_neighbour, side_one_way, side_periodic
  use fd3d_surface_m, only: fd3d_surface_t, Fd3dSurface, surface_rows
  use fd3dcase_m, only: case3d_t, Case3dProfiles, result3d_t
  use kinds_m, only: dp, sp
  use threads_m, only: ThreadsOf
  implicit none
  private
  public :: Case3dDouble

  integer, parameter :: rim = 4
  integer, parameter :: xx = 4, yy = 5, zz = 6, xy = 7, xz = 8, yz = 9      !< fields after the three velocities
  integer, parameter :: of(3, 3) = reshape([xx, xy, xz, xy, yy, yz, xz, yz, zz], [3, 3])

  type :: wave_t
    integer :: n(3) = 0, half_length = 0, threads = 1
    real(dp) :: w(rim) = 0, t(3) = 0                       !< t: dt/dx, dt/dy, dt/dz
    real(dp), allocatable :: f(:, :, :, :)                 !< (1-rim:nx+rim, ..., 9), zero outside
    real(dp), allocatable :: b(:, :, :, :)                 !< 1/rho at vx, vy, vz
    real(dp), allocatable :: lambda(:, :, :), mu(:, :, :)
    real(dp), allocatable :: edge(:, :, :, :)              !< mu at sxy, sxz, syz
    real(dp), allocatable :: p(:, :, :)                    !< profiles of layers, (cells, 6, axis); a, b, 1/k
    real(dp), allocatable :: g(:, :)                       !< of the sponge, (cells, axis)
    real(dp), allocatable :: psi(:, :, :, :, :, :)         !< (nx, ny, nz, axis, c, what) of layers
    logical :: layers = .false.
    integer :: own_rows = 0                                !< below a free surface, whose differences along z are those of
    type(fd3d_surface_t) :: top
  end type wave_t

contains

  !> Traces and last fields of the whole shot, rounded once, at the end.
  subroutine Case3dDouble(c, r)
    type(case3d_t), intent(in) :: c
    type(result3d_t), intent(out) :: r
    type(wave_t) :: a
    integer :: it
    if (c%grid%anelastic .or. c%grid%narrow .or. any(c%grid%side == side_neighbour) .or. any(c%grid%side == side_one_way)) &
      error stop 'Case3dDouble: a shot that it does not know'
    call Prepare(c, a)
    allocate (r%traces(c%nt, size(c%start) - 1), r%fields(a%n(1), a%n(2), a%n(3), 0:8))
    do it = 1, c%nt
      call Surroundings(c, a, 1)
      call Velocities(a)
      call Inject(c, a, it, 1, 3)
      call Surroundings(c, a, 0)
      call Stresses(a)
      call Inject(c, a, it, 4, 9)
      call Record(c, a, r%traces(it, :))
    end do
    r%fields(:, :, :, :) = real(a%f(1:a%n(1), 1:a%n(2), 1:a%n(3), :), sp)
    r%device = 'double precision'
  end subroutine Case3dDouble

  ! --- what stays ------------------------------------------------------------------------------------------------------------

  subroutine Prepare(c, a)
    type(case3d_t), intent(in) :: c
    type(wave_t), intent(inout) :: a
    integer :: n(3), m
    n = c%grid%n
    a%n = n
    a%half_length = c%grid%half_length
    a%threads = ThreadsOf(c%grid%threads)
    a%w = real(c%grid%w, sp)
    a%t = real(real(c%grid%dt, sp), dp)/real(c%grid%d, sp)
    allocate (a%f(1 - rim:n(1) + rim, 1 - rim:n(2) + rim, 1 - rim:n(3) + rim, 9), source=0.0_dp)
    allocate (a%b(n(1), n(2), n(3), 3), a%edge(n(1), n(2), n(3), 3), a%p(maxval(n), 6, 3), a%g(maxval(n), 3))
    do m = 1, 3
      a%b(:, :, :, m) = Lightness(n, c%rho, m)
    end do
    a%lambda = c%lambda(1:n(1), 1:n(2), 1:n(3))
    a%mu = c%mu(1:n(1), 1:n(2), 1:n(3))
    a%edge(:, :, :, 1) = EdgeModulus(n, c%mu, [1, 1, 0])
    a%edge(:, :, :, 2) = EdgeModulus(n, c%mu, [1, 0, 1])
    a%edge(:, :, :, 3) = EdgeModulus(n, c%mu, [0, 1, 1])
    if (c%grid%side(5) == side_free) then
      a%edge(:, :, 1, 2:3) = 0
      a%own_rows = surface_rows
      a%top = Fd3dSurface(c%grid, .false.)
    end if
    call Damping(c, a)
  end subroutine Prepare

  !> 2/(rho + rho of the cell before along an axis); 0 in air.
  pure function Lightness(n, rho, axis) result(b)
    integer, intent(in) :: n(3), axis
    real(sp), intent(in) :: rho(0:, 0:, 0:)
    real(dp) :: b(n(1), n(2), n(3))
    integer :: s(3)
    s = merge(1, 0, [1, 2, 3] == axis)
    b = rho(1:n(1), 1:n(2), 1:n(3))
    b = b + rho(1 - s(1):n(1) - s(1), 1 - s(2):n(2) - s(2), 1 - s(3):n(3) - s(3))
    where (b > 0) b = 2/b
  end function Lightness

  !> Four over the sum of 1/mu of the four cells around an edge, one before another along the axes with s = 1; 0 beside a fluid.
  pure function EdgeModulus(n, mu, s) result(m)
    integer, intent(in) :: n(3), s(3)
    real(sp), intent(in) :: mu(0:, 0:, 0:)
    real(dp) :: m(n(1), n(2), n(3)), four(0:1, 0:1)
    integer :: i, j, k
    do k = 1, n(3)
      do j = 1, n(2)
        do i = 1, n(1)
          if (s(1) == 0) four = mu(i, j - 1:j, k - 1:k)
          if (s(2) == 0) four = mu(i - 1:i, j, k - 1:k)
          if (s(3) == 0) four = mu(i - 1:i, j - 1:j, k)
          m(i, j, k) = 0
          if (all(four > 0)) m(i, j, k) = 4/sum(1/four)
        end do
      end do
    end do
  end function EdgeModulus

  subroutine Damping(c, a)
    type(case3d_t), intent(in) :: c
    type(wave_t), intent(inout) :: a
    type(fd3d_profiles_t) :: p
    a%g = 1
    if (any(c%sponge > 0)) then
      call Fd3dSponge(c%grid, c%sponge, p, 0.03_dp)
      a%g(:a%n(1), 1) = p%x(:, 1)
      a%g(:a%n(2), 2) = p%y(:, 1)
      a%g(:a%n(3), 3) = p%z(:, 1)
    end if
    a%layers = any(c%width > 0)
    if (.not. a%layers) return
    call Case3dProfiles(c, c%grid, p)
    a%p(:a%n(1), :, 1) = p%x
    a%p(:a%n(2), :, 2) = p%y
    a%p(:a%n(3), :, 3) = p%z
    allocate (a%psi(a%n(1), a%n(2), a%n(3), 3, 3, 0:1), source=0.0_dp)
  end subroutine Damping

  ! --- a step ----------------------------------------------------------------------------------------------------------------

  subroutine Velocities(a)
    type(wave_t), intent(inout) :: a
    real(dp) :: d(a%n(1), 3)
    integer :: j, k, c, axis
    associate (nx => a%n(1))
      !$omp parallel do num_threads(a%threads) private(j, c, axis, d) schedule(static)
      do k = 1, a%n(3)
        do j = 1, a%n(2)
          do c = 1, 3
            do axis = 1, 3
              call Difference(a, a%f(:, :, :, of(axis, c)), axis, merge(-1, 0, axis == c), j, k, c, 1, d(:, axis))
            end do
            a%f(1:nx, j, k, c) = (a%f(1:nx, j, k, c) + a%b(:, j, k, c)*(d(:, 1) + d(:, 2) + d(:, 3)))*a%g(:nx, 1)*a%g(j, 2)*a%g(k, 3)
          end do
        end do
      end do
    end associate
  end subroutine Velocities

  subroutine Stresses(a)
    type(wave_t), intent(inout) :: a
    real(dp) :: d(a%n(1), 3, 3), more(a%n(1), 4:9), g(a%n(1))    ! d: (, axis, c)
    integer :: j, k, c, axis
    associate (nx => a%n(1))
      !$omp parallel do num_threads(a%threads) private(j, c, axis, d, more, g) schedule(static)
      do k = 1, a%n(3)
        do j = 1, a%n(2)
          do c = 1, 3
            do axis = 1, 3
              call Difference(a, a%f(:, :, :, c), axis, merge(0, -1, axis == c), j, k, c, 0, d(:, axis, c))
            end do
          end do
          do c = 1, 3
            more(:, of(c, c)) = a%lambda(:, j, k)*(d(:, 1, 1) + d(:, 2, 2) + d(:, 3, 3)) + 2*a%mu(:, j, k)*d(:, c, c)
          end do
          more(:, xy) = a%edge(:, j, k, 1)*(d(:, 1, 2) + d(:, 2, 1))
          more(:, xz) = a%edge(:, j, k, 2)*(d(:, 1, 3) + d(:, 3, 1))
          more(:, yz) = a%edge(:, j, k, 3)*(d(:, 2, 3) + d(:, 3, 2))
          g = a%g(:nx, 1)*a%g(j, 2)*a%g(k, 3)
          do c = 4, 9
            a%f(1:nx, j, k, c) = (a%f(1:nx, j, k, c) + more(:, c))*g
          end do
        end do
      end do
    end associate
  end subroutine Stresses

  !> dt/dx times the difference along an axis for row (j, k): at -1 half a cell before the cells, at 0 half a cell behind where the
  !> values stand, which is in the cells. Through layers it is stretched; c, what: its memory.
  subroutine Difference(a, f, axis, at, j, k, c, what, d)
    type(wave_t), intent(inout) :: a
    real(dp), intent(in) :: f(1 - rim:, 1 - rim:, 1 - rim:)
    integer, intent(in) :: axis, at, j, k, c, what
    real(dp), intent(inout) :: d(:)
    integer :: m, up, down
    d = 0
    associate (nx => a%n(1))
      do m = 1, a%half_length
        up = m + at
        down = 1 - m + at
        if (axis == 1) d = d + a%w(m)*(f(1 + up:nx + up, j, k) - f(1 + down:nx + down, j, k))
        if (axis == 2) d = d + a%w(m)*(f(1:nx, j + up, k) - f(1:nx, j + down, k))
        if (axis == 3) d = d + a%w(m)*(f(1:nx, j, k + up) - f(1:nx, j, k + down))
      end do
      if (axis == 3 .and. k <= a%own_rows) then
        d = 0
        do m = 1, a%top%taps
          d = d + real(a%top%w(m, k, 2 + at), sp)*f(1:nx, j, m)
        end do
      end if
      d = d*a%t(axis)
      if (.not. a%layers) return
      associate (psi => a%psi(:, j, k, axis, c, what), n => merge(3, 0, at < 0), row => merge(j, k, axis == 2))
        if (axis == 1) then
          psi = a%p(:nx, n + 2, 1)*psi + a%p(:nx, n + 1, 1)*d
          d = a%p(:nx, n + 3, 1)*d + psi
        else if (abs(a%p(row, n + 1, axis)) > 0 .or. abs(a%p(row, n + 3, axis) - 1) > 0) then
          psi = a%p(row, n + 2, axis)*psi + a%p(row, n + 1, axis)*d
          d = a%p(row, n + 3, axis)*d + psi
        end if
      end associate
    end associate
  end subroutine Difference

  ! --- sides -----------------------------------------------------------------------------------------------------------------

  !> Fills the rim with what stands beyond the sides; what = 0 velocities, 1 stresses.
  subroutine Surroundings(c, a, what)
    type(case3d_t), intent(in) :: c
    type(wave_t), intent(inout) :: a
    integer, intent(in) :: what
    call Wrap(c%grid%side, a%n, a%f(:, :, :, 1 + 3*what:3 + 6*what))
  end subroutine Surroundings

  !> Periodic axes.
  pure subroutine Wrap(side, n, f)
    integer, intent(in) :: side(6), n(3)
    real(dp), intent(inout) :: f(1 - rim:, 1 - rim:, 1 - rim:, :)
    integer :: i
    do i = 1 - rim, 0
      if (side(1) == side_periodic) f(i, :, :, :) = f(n(1) + i, :, :, :)
      if (side(2) == side_periodic) f(n(1) + 1 - i, :, :, :) = f(1 - i, :, :, :)
      if (side(3) == side_periodic) f(:, i, :, :) = f(:, n(2) + i, :, :)
      if (side(4) == side_periodic) f(:, n(2) + 1 - i, :, :) = f(:, 1 - i, :, :)
      if (side(5) == side_periodic) f(:, :, i, :) = f(:, :, n(3) + i, :)
      if (side(6) == side_periodic) f(:, :, n(3) + 1 - i, :) = f(:, :, 1 - i, :)
    end do
  end subroutine Wrap

  ! --- source and receivers ----------------------------------------------------------------------------------------------------

  !> Shear stresses on a free surface stay 0.
  subroutine Inject(c, a, it, from, to)
    type(case3d_t), intent(in) :: c
    type(wave_t), intent(inout) :: a
    integer, intent(in) :: it, from, to
    integer :: n
    if (it > size(c%q, 2)) return
    do n = 1, size(c%sw)
      if (c%sf(n) + 1 < from .or. c%sf(n) + 1 > to) cycle
      associate (cell => a%f(c%si(n), c%sj(n), c%sk(n), c%sf(n) + 1))
        cell = cell + real(c%sw(n), dp)*c%q(c%sh(n), it)
      end associate
    end do
    if (c%grid%side(5) == side_free) a%f(:, :, 1, xz:yz) = 0
  end subroutine Inject

  pure subroutine Record(c, a, values)
    type(case3d_t), intent(in) :: c
    type(wave_t), intent(in) :: a
    real(sp), intent(out) :: values(:)
    real(dp) :: total
    integer :: r, n
    do r = 1, size(values)
      total = 0
      do n = c%start(r), c%start(r + 1) - 1
        total = total + c%rw(n)*a%f(c%ri(n), c%rj(n), c%rk(n), c%rf(n) + 1)
      end do
      values(r) = real(total, sp)
    end do
  end subroutine Record

end module fd3ddouble_m
