!> The 2D scheme in double precision, for shots of fdcase.f90 with no free surface: plain loops over a grid with a rim of zeros.
!> It says how much of a difference between variants is their rounding.
module fddouble_m
  use fd2d_engine_m, only: field_sigma, field_vx
  use fdcase_m, only: case_t, result_t
  use kinds_m, only: dp, sp
  implicit none
  private
  public :: CaseDouble

  integer, parameter :: rim = 8

  type :: grid_t
    real(dp), allocatable, dimension(:, :) :: sigma, vx, vz         !< (1-rim:nx+rim, 1-rim:nz+rim), zero outside the grid
    real(dp), allocatable, dimension(:, :) :: sx, sz, vxx, vzz      !< memory variables of the four derivatives, (nx, nz)
  end type grid_t

contains

  !> Traces and last field of sigma of the whole shot, rounded once, at the end.
  subroutine CaseDouble(c, r)
    type(case_t), intent(in) :: c
    type(result_t), intent(out) :: r
    type(grid_t) :: g
    integer :: it, n
    associate (nx => c%cfg%nx, nz => c%cfg%nz)
      allocate (g%sigma(1 - rim:nx + rim, 1 - rim:nz + rim), source=0.0_dp)
      allocate (g%vx, g%vz, source=g%sigma)
      allocate (g%sx(nx, nz), source=0.0_dp)
      allocate (g%sz, g%vxx, g%vzz, source=g%sx)
      allocate (r%traces(c%nt, size(c%field)))
      do it = 1, c%nt
        call Velocities(c, g)
        call Pressure(c, g)
        if (it <= size(c%q)) then
          do n = 1, size(c%sw)
            g%sigma(c%si(n), c%sk(n)) = g%sigma(c%si(n), c%sk(n)) + real(c%sw(n), dp)*c%q(it)
          end do
        end if
        call Record(c, g, r%traces(it, :))
      end do
      r%sigma = real(g%sigma(1:nx, 1:nz), sp)
    end associate
    r%device = 'double precision'
  end subroutine CaseDouble

  subroutine Velocities(c, g)
    type(case_t), intent(in) :: c
    type(grid_t), intent(inout) :: g
    real(dp) :: dx, dz
    integer :: i, k, m
    do k = 1, c%cfg%nz
      do i = 1, c%cfg%nx
        dx = 0
        dz = 0
        do m = 1, c%cfg%half_length
          dx = dx + real(c%cfg%w(m), dp)*(g%sigma(i + m, k) - g%sigma(i + 1 - m, k))/c%cfg%dx
          dz = dz + real(c%cfg%w(m), dp)*(g%sigma(i, k + m) - g%sigma(i, k + 1 - m))/c%cfg%dz
        end do
        call Stretch(c%px(i, 4:6), g%sx(i, k), dx)
        call Stretch(c%pz(k, 4:6), g%sz(i, k), dz)
        g%vx(i, k) = g%vx(i, k) + 2*real(c%cfg%dt, dp)*dx/(real(c%rho(i, k), dp) + c%rho(min(i + 1, c%cfg%nx), k))
        g%vz(i, k) = g%vz(i, k) + 2*real(c%cfg%dt, dp)*dz/(real(c%rho(i, k), dp) + c%rho(i, min(k + 1, c%cfg%nz)))
      end do
    end do
  end subroutine Velocities

  subroutine Pressure(c, g)
    type(case_t), intent(in) :: c
    type(grid_t), intent(inout) :: g
    real(dp) :: dx, dz
    integer :: i, k, m
    do k = 1, c%cfg%nz
      do i = 1, c%cfg%nx
        dx = 0
        dz = 0
        do m = 1, c%cfg%half_length
          dx = dx + real(c%cfg%w(m), dp)*(g%vx(i + m - 1, k) - g%vx(i - m, k))/c%cfg%dx
          dz = dz + real(c%cfg%w(m), dp)*(g%vz(i, k + m - 1) - g%vz(i, k - m))/c%cfg%dz
        end do
        call Stretch(c%px(i, 1:3), g%vxx(i, k), dx)
        call Stretch(c%pz(k, 1:3), g%vzz(i, k), dz)
        g%sigma(i, k) = g%sigma(i, k) + real(c%cfg%dt, dp)*c%kappa(i, k)*(dx + dz)
      end do
    end do
  end subroutine Pressure

  !> d becomes d/k + psi, psi = b psi + a d; p: a, b, 1/k.
  pure subroutine Stretch(p, psi, d)
    real(sp), intent(in) :: p(3)
    real(dp), intent(inout) :: psi, d
    psi = p(2)*psi + p(1)*d
    d = p(3)*d + psi
  end subroutine Stretch

  pure subroutine Record(c, g, values)
    type(case_t), intent(in) :: c
    type(grid_t), intent(in) :: g
    real(sp), intent(out) :: values(:)
    real(dp) :: total
    integer :: r, n
    do r = 1, size(values)
      total = 0
      do n = c%start(r), c%start(r + 1) - 1
        select case (c%field(r))
        case (field_sigma)
          total = total + c%rw(n)*g%sigma(c%ri(n), c%rk(n))
        case (field_vx)
          total = total + c%rw(n)*g%vx(c%ri(n), c%rk(n))
        case default
          total = total + c%rw(n)*g%vz(c%ri(n), c%rk(n))
        end select
      end do
      values(r) = real(total, sp)
    end do
  end subroutine Record

end module fddouble_m
