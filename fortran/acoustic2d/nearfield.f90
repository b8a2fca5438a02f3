!> The part of the field that a grid lacks within a few cells of the source, from the exact solution.
!>
!> The field of a line source is singular: waves of all wavenumbers, most of them too short to travel, surround it. Source and
!> receiver between the nodes are spread over eight cells by weights that fade from four points per wavelength on, so within five
!> cells those short waves are lacking: pressures 3 cells away are wrong by some 5 %. But being too short to travel they follow the
!> source at once: what is lacking is rho Q'(t) C and Q(t) dC, with numbers C, dC that depend on the places alone,
!>       C = exact - grid,   exact: K0(κr)/(2π), which solves (κ² - Laplace) g = δ,   grid: the same by the differentiators,
!> a Fourier sum, extrapolated to κ = 0. Adding them leaves 0.1 % of a trace at 3 cells, 0.6 % at 1.2 cells (t210).
module nearfield_m
  use kinds_m, only: dp, pi
  use sinc_m, only: SincWeights
  implicit none
  private
  public :: nearfield_t, BesselK, NearfieldNew, NearfieldTerms, kappa2, near_least, near_most, share

  real(dp), parameter :: near_least = 0.001_dp, near_most = 5.5_dp      !< distances that are corrected [cells]
  real(dp), parameter :: kappa2(2) = [0.1_dp, 0.3_dp]                 !< κ² of the extrapolation [1/cell²]
  real(dp), parameter :: share(2) = [kappa2(2), -kappa2(1)]/(kappa2(2) - kappa2(1))   !< what each counts
  integer, parameter :: reach = 24                                    !< of the table [cells]
  real(dp), parameter :: moved_most = 4                               !< what the table has room for, and a cell more [cells]
  integer, parameter :: waves = 128                                   !< of the Fourier sum, along each axis

  !> The grid's answer to a source on a node, (-reach:reach, -reach:reach).
  type :: nearfield_t
    real(dp) :: dx = 0, dz = 0
    real(dp), allocatable :: g(:, :)               !< potential at (i, k)
    real(dp), allocatable :: vx(:, :), vz(:, :)    !< its negative gradient at (i+½, k) [1/m] and (i, k+½) [1/m]
  end type nearfield_t

contains

  !> The table for weights w(:) and spacings dx, dz [m].
  subroutine NearfieldNew(near, w, dx, dz)
    type(nearfield_t), intent(inout) :: near
    real(dp), intent(in) :: w(:), dx, dz
    real(dp) :: quarter(0:reach + 8, 0:reach + 8)
    integer :: i, k, m
    if (allocated(near%g)) deallocate (near%g, near%vx, near%vz)
    allocate (near%g(-reach:reach, -reach:reach), near%vx(-reach:reach, -reach:reach), near%vz(-reach:reach, -reach:reach))
    near%dx = dx
    near%dz = dz
    quarter = share(1)*FourierSum(w, dx, dz, kappa2(1)/(dx*dz)) + share(2)*FourierSum(w, dx, dz, kappa2(2)/(dx*dz))
    near%vx = 0
    near%vz = 0
    do k = -reach, reach
      do i = -reach, reach
        near%g(i, k) = quarter(abs(i), abs(k))
        do m = 1, size(w)
          near%vx(i, k) = near%vx(i, k) - w(m)/dx*(quarter(abs(i + m), abs(k)) - quarter(abs(i - m + 1), abs(k)))
          near%vz(i, k) = near%vz(i, k) - w(m)/dz*(quarter(abs(i), abs(k + m)) - quarter(abs(i), abs(k - m + 1)))
        end do
      end do
    end do
  end subroutine NearfieldNew

  !> Answer of the grid at (i, k) cells, 0 <= i, k: mean over all its waves of cos(kx i) cos(kz k)/(Kx² + Kz² + κ²).
  pure function FourierSum(w, dx, dz, kappa_squared) result(g)
    real(dp), intent(in) :: w(:), dx, dz, kappa_squared
    real(dp) :: g(0:reach + 8, 0:reach + 8)
    real(dp) :: numerical(waves), cosines(waves, 0:reach + 8), part(0:reach + 8)
    integer :: j, n, m
    numerical = 0
    do j = 1, waves
      do m = 1, size(w)
        numerical(j) = numerical(j) + 2*w(m)*sin((m - 0.5_dp)*2*pi*j/waves)
      end do
      do n = 0, reach + 8
        cosines(j, n) = cos(2*pi*j*n/waves)
      end do
    end do
    g = 0
    do j = 1, waves
      part = matmul(1/((numerical(j)/dx)**2 + (numerical/dz)**2 + kappa_squared), cosines)
      do n = 0, reach + 8
        g(:, n) = g(:, n) + cosines(j, :)*part(n)
      end do
    end do
    g = g/(real(waves, dp)**2*dx*dz)
  end function FourierSum

  !> The terms that the grid lacks at a receiver, terms(1:3): C for pressure, dC/dx and dC/dz [1/m] with the sign of velocity; 0
  !> where the distance is not near_least .. near_most cells. Positions in cells: node n is at n. Beside contacts the grid has
  !> the source, and a receiver of pressure, so many cells off, and adds second differences between them and the differences of
  !> these, so `bent` (fd2d_contacts.f90).
  subroutine NearfieldTerms(near, source, source_moved, source_bent, receiver, receiver_moved, receiver_bent, terms)
    type(nearfield_t), intent(in) :: near
    real(dp), intent(in), dimension(2) :: source, receiver, source_moved, receiver_moved
    real(dp), intent(in) :: source_bent(2, 0:2), receiver_bent(2, 0:2, 0:2)      !< the last: of pressure, vx, vz
    real(dp), intent(out) :: terms(3)
    real(dp) :: x, z, r, kappa
    integer :: j
    terms = 0
    r = norm2(receiver - source)
    if (r < near_least .or. r > near_most) return
    x = (receiver(1) - source(1))*near%dx
    z = (receiver(2) - source(2))*near%dz
    r = hypot(x, z)
    do j = 1, 2
      kappa = sqrt(kappa2(j)/(near%dx*near%dz))
      terms = terms + share(j)*[BesselK(kappa*r, 0), kappa*BesselK(kappa*r, 1)*x/r, kappa*BesselK(kappa*r, 1)*z/r]/(2*pi)
    end do
    associate (from => source + Bounded(source_moved))
      terms(1) = terms(1) - Bent(near%g, from, receiver + Bounded(receiver_moved), 0)
      terms(2) = terms(2) - Bent(near%vx, from, receiver - [0.5_dp, 0.0_dp], 1)
      terms(3) = terms(3) - Bent(near%vz, from, receiver - [0.0_dp, 0.5_dp], 2)
    end associate

  contains

    !> The table's answer for a field, with what source and receiver add of differences: those of odd order have the other sign of
    !> the source.
    pure real(dp) function Bent(table, from, to, field)
      real(dp), intent(in) :: table(-reach:, -reach:), from(2), to(2)
      integer, intent(in) :: field
      real(dp) :: much(2), half(2)
      integer :: a
      Bent = SpreadOver(table, from, to) + Seconds(table, from, to, source_bent(:, 0) + receiver_bent(:, 0, field))
      do a = 1, 2
        much = receiver_bent(:, a, field) - source_bent(:, a)
        if (all(abs(much) <= 0)) cycle
        half = 0.5_dp*[2 - a, a - 1]
        Bent = Bent + Seconds(table, from, to + half, much) - Seconds(table, from, to - half, much)
      end do
    end function Bent

    !> So much of second differences along x and z.
    pure real(dp) function Seconds(table, from, to, much)
      real(dp), intent(in) :: table(-reach:, -reach:), from(2), to(2), much(2)
      integer :: b, step(2)
      Seconds = 0
      if (all(abs(much) <= 0)) return
      Seconds = -2*sum(much)*SpreadOver(table, from, to)
      do b = 1, 2
        if (abs(much(b)) <= 0) cycle
        step = [2 - b, b - 1]
        Seconds = Seconds + much(b)*(SpreadOver(table, from, to + step) + SpreadOver(table, from, to - step))
      end do
    end function Seconds

    elemental real(dp) function Bounded(moved)
      real(dp), intent(in) :: moved
      Bounded = min(max(moved, -moved_most), moved_most)
    end function Bounded

  end subroutine NearfieldTerms

  !> The table's answer with source and receiver spread over their cells.
  pure real(dp) function SpreadOver(table, source, receiver) result(total)
    real(dp), intent(in) :: table(-reach:, -reach:), source(2), receiver(2)
    real(dp), dimension(8) :: sx, sz, rx, rz
    integer :: is, ks, ir, kr, a, b, i, k
    call SincWeights(source(1), is, sx)
    call SincWeights(source(2), ks, sz)
    call SincWeights(receiver(1), ir, rx)
    call SincWeights(receiver(2), kr, rz)
    total = 0
    do b = 1, 8
      do a = 1, 8
        if (abs(sx(a)*sz(b)) <= 0) cycle
        do k = 1, 8
          do i = 1, 8
            total = total + sx(a)*sz(b)*rx(i)*rz(k)*table(ir + i - is - a, kr + k - ks - b)
          end do
        end do
      end do
    end do
  end function SpreadOver

  !> Modified Bessel function K of order 0 or 1: ∫ exp(-x cosh u) cosh(order u) du from 0 on, by trapezoids.
  pure real(dp) function BesselK(x, order) result(total)
    real(dp), intent(in) :: x
    integer, intent(in) :: order
    real(dp), parameter :: du = 0.05_dp
    integer :: j
    total = 0.5_dp*exp(-x)*du
    do j = 1, 400
      if (x*cosh(j*du) > 60) exit
      total = total + exp(-x*cosh(j*du))*cosh(order*j*du)*du
    end do
  end function BesselK

end module nearfield_m
