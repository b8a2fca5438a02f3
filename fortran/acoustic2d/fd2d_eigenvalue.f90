!> The largest eigenvalue λ of K Dᵀ (1/rho) D, the operator of the 2D scheme in any medium: a cheap bound, and the number itself.
!> Densities are at the points of σ; or, with rho_z, rho is at those of vx and rho_z at those of vz.
module fd2d_eigenvalue_m
  use der_m, only: DerDifxba, DerDifxfw, DerDifyba, DerDifyfw
  use fd2d_engine_m, only: fd2d_grid_t
  use kinds_m, only: dp, sp
  implicit none
  private
  public :: EigenvalueBound, EigenvalueLargest

contains

  !> An upper bound of λ [1/s²]: by Cauchy's inequality (sum w √K x)² <= (sum |w| K)(sum |w| x²) at every velocity point, then the
  !> largest sum of what falls to one cell. Equal to λ in a homogeneous medium.
  real(dp) function EigenvalueBound(kappa, rho, grid, rho_z) result(bound)
    real(sp), intent(in) :: kappa(:, :), rho(:, :)
    type(fd2d_grid_t), intent(in) :: grid
    real(sp), intent(in), optional :: rho_z(:, :)
    real(dp), allocatable :: share(:, :), row(:)
    integer :: i, k
    allocate (share(size(kappa, 1), size(kappa, 2)), source=0.0_dp)
    allocate (row(size(kappa, 2)))
    associate (w => abs(grid%w(:grid%half_length)))
      do k = 1, size(kappa, 2)
        call AddShare(real(kappa(:, k), dp), real(rho(:, k), dp), present(rho_z), w, grid%dx, share(:, k))
      end do
      do i = 1, size(kappa, 1)
        row = share(i, :)
        if (present(rho_z)) then
          call AddShare(real(kappa(i, :), dp), real(rho_z(i, :), dp), .true., w, grid%dz, row)
        else
          call AddShare(real(kappa(i, :), dp), real(rho(i, :), dp), .false., w, grid%dz, row)
        end if
        share(i, :) = row
      end do
    end associate
    bound = maxval(share)
  end function EigenvalueBound

  !> Adds to `share` what falls to the cells of one line of the grid; rho is between them or, not apart, at them.
  pure subroutine AddShare(kappa, rho, apart, w, h, share)
    real(dp), intent(in) :: kappa(:), rho(:), w(:), h
    logical, intent(in) :: apart
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
      if (apart) then
        at_point = at_point/rho(min(max(i, 1), n))/h**2
      else
        at_point = 2*at_point/(rho(min(max(i, 1), n)) + rho(min(max(i + 1, 1), n)))/h**2
      end if
      do m = 1, size(w)
        if (i + m >= 1 .and. i + m <= n) share(i + m) = share(i + m) + w(m)*at_point
        if (i - m + 1 >= 1 .and. i - m + 1 <= n) share(i - m + 1) = share(i - m + 1) + w(m)*at_point
      end do
    end do
  end subroutine AddShare

  !> λ [1/s²] by power iteration, started from a pattern that alternates from cell to cell.
  real(dp) function EigenvalueLargest(kappa, rho, grid, rho_z) result(eigenvalue)
    real(sp), intent(in) :: kappa(:, :), rho(:, :)
    type(fd2d_grid_t), intent(in) :: grid
    real(sp), intent(in), optional :: rho_z(:, :)
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
      if (present(rho_z)) then
        call Operate(x, kappa, rho, w, grid, y, rho_z)
      else
        call Operate(x, kappa, rho, w, grid, y)
      end if
      eigenvalue = -sum(real(x, dp)*y/kappa)
      x = y
    end do
  end function EigenvalueLargest

  !> y = K div((1/rho) grad x)
  subroutine Operate(x, kappa, rho, w, grid, y, rho_z)
    real(sp), intent(in) :: x(:, :), kappa(:, :), rho(:, :), w(:)
    type(fd2d_grid_t), intent(in) :: grid
    real(sp), intent(out) :: y(:, :)
    real(sp), intent(in), optional :: rho_z(:, :)
    real(sp), allocatable :: d(:, :), v(:, :)
    integer :: nx, nz
    nx = size(x, 1)
    nz = size(x, 2)
    allocate (d(nx, nz), v(nx, nz))
    call DerDifxfw(x, w, grid%dx, v)
    if (present(rho_z)) then
      v = v/rho
    else
      v(:nx - 1, :) = 2*v(:nx - 1, :)/(rho(:nx - 1, :) + rho(2:, :))
      v(nx, :) = v(nx, :)/rho(nx, :)
    end if
    call DerDifxba(v, w, grid%dx, y)
    call DerDifyfw(x, w, grid%dz, v)
    if (present(rho_z)) then
      v = v/rho_z
    else
      v(:, :nz - 1) = 2*v(:, :nz - 1)/(rho(:, :nz - 1) + rho(:, 2:))
      v(:, nz) = v(:, nz)/rho(:, nz)
    end if
    call DerDifyba(v, w, grid%dz, d)
    y = kappa*(y + d)
  end subroutine Operate

end module fd2d_eigenvalue_m
