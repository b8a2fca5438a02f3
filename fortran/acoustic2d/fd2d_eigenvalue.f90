!> The largest eigenvalue λ of K Dᵀ (1/rho) D, the operator of the 2D scheme in any medium: a cheap bound, and the number itself;
!> and, where each velocity has a density of its own, a bound as close as it needs to be.
module fd2d_eigenvalue_m
  use der_m, only: DerDifxba, DerDifxfw, DerDifyba, DerDifyfw
  use fd2d_engine_m, only: fd2d_grid_t
  use kinds_m, only: dp, sp
  use threads_m, only: ThreadsOf
  implicit none
  private
  public :: EigenvalueAbove, EigenvalueBound, EigenvalueLargest

contains

  !> An upper bound of λ [1/s²]: by Cauchy's inequality (sum w √K x)² <= (sum |w| K)(sum |w| x²) at every velocity point, then the
  !> largest sum of what falls to one cell. Equal to λ in a homogeneous medium.
  real(dp) function EigenvalueBound(kappa, rho, grid) result(bound)
    real(sp), intent(in) :: kappa(:, :), rho(:, :)
    type(fd2d_grid_t), intent(in) :: grid
    real(dp), allocatable :: share(:, :), row(:)
    integer :: i, k
    allocate (share(size(kappa, 1), size(kappa, 2)), source=0.0_dp)
    allocate (row(size(kappa, 2)))
    associate (w => abs(grid%w(:grid%half_length)))
      do k = 1, size(kappa, 2)
        call AddShare(real(kappa(:, k), dp), real(rho(:, k), dp), w, grid%dx, share(:, k))
      end do
      do i = 1, size(kappa, 1)
        row = share(i, :)
        call AddShare(real(kappa(i, :), dp), real(rho(i, :), dp), w, grid%dz, row)
        share(i, :) = row
      end do
    end associate
    bound = maxval(share)
  end function EigenvalueBound

  !> Adds to `share` what falls to the cells of one line of the grid.
  pure subroutine AddShare(kappa, rho, w, h, share)
    real(dp), intent(in) :: kappa(:), rho(:), w(:), h
    real(dp), intent(inout) :: share(:)
    real(dp) :: at_point
    integer :: i, m, n
    n = size(kappa)
    do i = 1 - size(w), n + size(w)                        ! velocity point i + ½
      at_point = 0
      do m = 1, size(w)
        if (i + m >= 1 .and. i + m <= n) at_point = at_point + w(m)*kappa(i + m)
        if (i - m + 1 >= 1 .and. i - m + 1 <= n) at_point = at_point + w(m)*kappa(i - m + 1)
      end do
      at_point = 2*at_point/(rho(min(max(i, 1), n)) + rho(min(max(i + 1, 1), n)))/h**2
      do m = 1, size(w)
        if (i + m >= 1 .and. i + m <= n) share(i + m) = share(i + m) + w(m)*at_point
        if (i - m + 1 >= 1 .and. i - m + 1 <= n) share(i - m + 1) = share(i - m + 1) + w(m)*at_point
      end do
    end do
  end subroutine AddShare

  !> λ [1/s²] by power iteration, started from a pattern that alternates from cell to cell.
  real(dp) function EigenvalueLargest(kappa, rho, grid) result(eigenvalue)
    real(sp), intent(in) :: kappa(:, :), rho(:, :)
    type(fd2d_grid_t), intent(in) :: grid
    integer, parameter :: iterations = 60
    real(sp), allocatable :: x(:, :), y(:, :), w(:)
    integer :: i, k, it
    allocate (x(size(kappa, 1), size(kappa, 2)), y(size(kappa, 1), size(kappa, 2)))
    w = real(grid%w(:grid%half_length), sp)
    do k = 1, size(x, 2)
      do i = 1, size(x, 1)
        x(i, k) = real((-1)**(i + k)*(1 + 0.3_dp*sin(1.7_dp*i*i + 2.3_dp*k*k)), sp)
      end do
    end do
    eigenvalue = 0
    do it = 1, iterations
      x = x/real(sqrt(sum(real(x, dp)**2/kappa)), sp)
      call Operate(x, kappa, rho, w, grid, y)
      eigenvalue = -sum(real(x, dp)*y/kappa)
      x = y
    end do
  end function EigenvalueLargest

  !> y = K div((1/rho) grad x)
  subroutine Operate(x, kappa, rho, w, grid, y)
    real(sp), intent(in) :: x(:, :), kappa(:, :), rho(:, :), w(:)
    type(fd2d_grid_t), intent(in) :: grid
    real(sp), intent(out) :: y(:, :)
    real(sp), allocatable :: d(:, :), v(:, :)
    integer :: nx, nz
    nx = size(x, 1)
    nz = size(x, 2)
    allocate (d(nx, nz), v(nx, nz))
    call DerDifxfw(x, w, grid%dx, v)
    v(:nx - 1, :) = 2*v(:nx - 1, :)/(rho(:nx - 1, :) + rho(2:, :))
    v(nx, :) = v(nx, :)/rho(nx, :)
    call DerDifxba(v, w, grid%dx, y)
    call DerDifyfw(x, w, grid%dz, v)
    v(:, :nz - 1) = 2*v(:, :nz - 1)/(rho(:, :nz - 1) + rho(:, 2:))
    v(:, nz) = v(:, nz)/rho(:, nz)
    call DerDifyba(v, w, grid%dz, d)
    y = kappa*(y + d)
  end subroutine Operate

  !> An upper bound of λ [1/s²], rho_x at the points of vx and rho_z at those of vz. Weights change their sign from one to the next,
  !> so with the sign of every other cell turned all numbers of the operator are positive; and of such a one no eigenvalue is above
  !> the largest of (A x)/x, whatever x > 0 is (Collatz 1942, Mathematische Zeitschrift 48, 221-226). That falls with x = A x from
  !> one time to the next: until it is `enough`, or falls no more. `level`: above those of the media that go on level along x from
  !> one column each, with the density half a cell right or left of it.
  real(dp) function EigenvalueAbove(kappa, rho_x, rho_z, grid, enough, level) result(above)
    real(sp), intent(in) :: kappa(:, :), rho_x(:, :), rho_z(:, :)
    type(fd2d_grid_t), intent(in) :: grid
    real(dp), intent(in) :: enough
    logical, intent(in) :: level
    integer, parameter :: most = 60
    real(dp), parameter :: hardly = 5.0e-4_dp            ! a bound that falls by less stays
    real(sp), parameter :: least = 1.0e-20_sp
    real(sp), allocatable :: x(:, :), y(:, :), vz(:, :)
    real(sp) :: w(grid%half_length)
    real(dp) :: now
    integer :: it
    w = real(abs(grid%w(:grid%half_length)), sp)
    associate (l => grid%half_length, nx => size(kappa, 1), nz => size(kappa, 2))
      allocate (x(1 - l:nx + l, 1 - l:nz + l), vz(nx, 1 - l:nz + l), source=0.0_sp)
      allocate (y(nx, nz))
      x(1:nx, 1:nz) = 1
      above = huge(above)
      do it = 1, most
        call Grow(x, kappa, rho_x, rho_z, w, grid, level, vz, y, now)
        x(1:nx, 1:nz) = max(y/maxval(y), least)
        if (now > above*(1 - hardly) .or. now <= enough) exit
        above = now
      end do
      above = min(above, now)
    end associate
  end function EigenvalueAbove

  !> y = A x of those positive numbers, and the largest y/x.
  subroutine Grow(x, kappa, rho_x, rho_z, w, grid, level, vz, y, largest)
    real(sp), intent(in) :: kappa(:, :), rho_x(:, :), rho_z(:, :), w(:)
    real(sp), intent(in) :: x(1 - size(w):, 1 - size(w):)            !< zeros beyond the grid
    type(fd2d_grid_t), intent(in) :: grid
    logical, intent(in) :: level
    real(sp), intent(inout) :: vz(:, 1 - size(w):)                   !< the same
    real(sp), intent(out) :: y(:, :)
    real(dp), intent(out) :: largest
    real(sp) :: vx(1 - size(w):size(y, 1) + size(w)), most, across, along
    integer :: k, m, nx, nz
    nx = size(y, 1)
    nz = size(y, 2)
    across = real(1/grid%dz**2, sp)
    along = real(1/grid%dx**2, sp)
    most = 0
    !$omp parallel num_threads(ThreadsOf(grid%threads)) private(vx)
    !$omp do
    do k = 1, nz
      vz(:, k) = 0
      do m = 1, size(w)
        vz(:, k) = vz(:, k) + w(m)*(x(1:nx, k + m) + x(1:nx, k - m + 1))
      end do
      vz(:, k) = vz(:, k)/rho_z(:, k)
    end do
    !$omp end do
    !$omp do reduction(max: most)
    do k = 1, nz
      y(:, k) = 0
      do m = 1, size(w)
        y(:, k) = y(:, k) + w(m)*(vz(:, k + m - 1) + vz(:, k - m))
      end do
      y(:, k) = across*y(:, k)
      if (level) then
        y(:, k) = y(:, k) + along*(2*sum(w))**2*x(1:nx, k)/min(rho_x(:, k), [rho_x(1, k), rho_x(:nx - 1, k)])
      else
        vx = 0
        do m = 1, size(w)
          vx(1:nx) = vx(1:nx) + w(m)*(x(1 + m:nx + m, k) + x(2 - m:nx - m + 1, k))
        end do
        vx(1:nx) = along*vx(1:nx)/rho_x(:, k)
        do m = 1, size(w)
          y(:, k) = y(:, k) + w(m)*(vx(m:nx + m - 1) + vx(1 - m:nx - m))
        end do
      end if
      y(:, k) = kappa(:, k)*y(:, k)
      most = max(most, maxval(y(:, k)/x(1:nx, k)))
    end do
    !$omp end do
    !$omp end parallel
    largest = most
  end subroutine Grow

end module fd2d_eigenvalue_m
