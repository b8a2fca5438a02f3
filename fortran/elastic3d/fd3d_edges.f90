!> Fills the halo behind sides without a neighbour: with the other end of a periodic axis, the waves that have just left through a
!> one-way bottom. der3d.h has the formulas. Behind an `outside` the halo stays 0, and so it does above a free surface. Stencils run
!> along one axis, so edges and corners of the halo need nothing.
module fd3d_edges_m
  use fd3d_engine_m, only: Fd3dHaloBox, Fd3dHaloFields, fd3d_grid_t, field_sxz, field_syz, field_szz, field_vx, field_vy, &
                           field_vz, side_periodic
  use kinds_m, only: dp, sp
  implicit none
  private
  public :: volume_t, edges_t, EdgesNew, EdgesFree, FillPeriodic, OneWay

  !> A field with its halo, (1-L:nx+L, 1-L:ny+L, 1-L:nz+L), L the half-length.
  type :: volume_t
    real(sp), allocatable :: a(:, :, :)
  end type volume_t

  integer, parameter :: leaving(6) = [field_vx, field_vy, field_vz, field_sxz, field_syz, field_szz]   ! read across the bottom

  type :: edges_t
    real(sp), allocatable :: gp(:, :), gs(:, :)     !< (c dt - dz)/(c dt + dz) of P and S waves in the last row
    real(sp), allocatable :: before(:, :, :)        !< the last row one step ago, (nx, ny, leaving)
  end type edges_t

contains

  !> Takes from the medium what the edges need; volumes with a ring, (0:nx+1, 0:ny+1, 0:nz+1).
  subroutine EdgesNew(edges, grid, rho, lambda, mu)
    type(edges_t), intent(inout) :: edges
    type(fd3d_grid_t), intent(in) :: grid
    real(sp), intent(in) :: rho(0:, 0:, 0:), lambda(0:, 0:, 0:), mu(0:, 0:, 0:)
    integer :: i, j
    real(dp) :: cp, cs
    call EdgesFree(edges)
    associate (nx => grid%n(1), ny => grid%n(2), nz => grid%n(3))
      allocate (edges%gp(nx, ny), edges%gs(nx, ny), edges%before(nx, ny, size(leaving)), source=0.0_sp)
      do j = 1, ny
        do i = 1, nx
          cp = 0
          if (rho(i, j, nz) > 0) cp = sqrt((real(lambda(i, j, nz), dp) + 2*real(mu(i, j, nz), dp))/rho(i, j, nz))
          cs = cp
          if (mu(i, j, nz) > 0) cs = sqrt(real(mu(i, j, nz), dp)/rho(i, j, nz))
          edges%gp(i, j) = real((cp*grid%dt - grid%d(3))/(cp*grid%dt + grid%d(3)), sp)
          edges%gs(i, j) = real((cs*grid%dt - grid%d(3))/(cs*grid%dt + grid%d(3)), sp)
        end do
      end do
    end associate
  end subroutine EdgesNew

  subroutine EdgesFree(edges)
    type(edges_t), intent(inout) :: edges
    if (allocated(edges%before)) deallocate (edges%gp, edges%gs, edges%before)
  end subroutine EdgesFree

  !> The halo of a periodic axis from its other end; what = 0 velocities, 1 stresses.
  subroutine FillPeriodic(grid, f, what)
    type(fd3d_grid_t), intent(in) :: grid
    type(volume_t), intent(inout) :: f(0:)
    integer, intent(in) :: what
    integer :: side, fields(3), n, lo(3), hi(3), from(3)
    do side = 1, 6
      if (grid%side(side) /= side_periodic) cycle
      call Fd3dHaloBox(grid, side, .false., lo, hi)
      from = 0
      from((side + 1)/2) = merge(1, -1, modulo(side, 2) == 1)*grid%n((side + 1)/2)
      fields = Fd3dHaloFields(what, side)
      do n = 1, 3
        associate (a => f(fields(n))%a)
          a(lo(1):hi(1), lo(2):hi(2), lo(3):hi(3)) = &
            a(lo(1) + from(1):hi(1) + from(1), lo(2) + from(2):hi(2) + from(2), lo(3) + from(3):hi(3) + from(3))
        end associate
      end do
    end do
  end subroutine FillPeriodic

  !> Moves on, row after row, the waves that have come down through a one-way bottom; what = 0 velocities, 1 stresses. To be called
  !> once a half step.
  subroutine OneWay(grid, edges, f, what)
    type(fd3d_grid_t), intent(in) :: grid
    type(edges_t), intent(inout) :: edges
    type(volume_t), intent(inout) :: f(0:)
    integer, intent(in) :: what
    real(sp), dimension(grid%n(1), grid%n(2)) :: g, above, old
    integer :: n, m, nx, ny, nz
    nx = grid%n(1)
    ny = grid%n(2)
    nz = grid%n(3)
    do n = 1 + 3*what, 3 + 3*what
      g = edges%gs
      if (leaving(n) == field_vz .or. leaving(n) == field_szz) g = edges%gp
      associate (a => f(leaving(n))%a)
        above = edges%before(:, :, n)
        edges%before(:, :, n) = a(1:nx, 1:ny, nz)
        do m = nz + 1, nz + grid%half_length
          old = a(1:nx, 1:ny, m)
          a(1:nx, 1:ny, m) = above + g*(a(1:nx, 1:ny, m - 1) - old)
          above = old
        end do
      end associate
    end do
  end subroutine OneWay

end module fd3d_edges_m
