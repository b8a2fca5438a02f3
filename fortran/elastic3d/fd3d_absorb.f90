!> Absorbing layers of the 3D grid for one subdomain of it: profiles as pml.f90 shapes them, and Cerjan's sponge.
module fd3d_absorb_m
  use fd3d_engine_m, only: fd3d_grid_t
  use kinds_m, only: dp, sp
  use pml_m, only: pml_shape_t, PmlProfile
  implicit none
  private
  public :: fd3d_profiles_t, Fd3dLayerWidths, Fd3dProfiles, Fd3dDamping, Fd3dSponge

  type :: fd3d_profiles_t
    real(sp), allocatable :: x(:, :), y(:, :), z(:, :)           !< (nx, 6), (ny, 6), (nz, 6) or, of a sponge, (n, 1)
  end type fd3d_profiles_t

  !> α_max of elastic layers in units of π fpeak. With 1, as in 2D, layers grow beside a free surface over strong contrasts of
  !> vp/vs: a thousandfold in 10,000 steps (t603, half-length 4); with 1.5 and more they do not. 2 costs 4 dB of 82.
  real(dp), parameter :: alpha = 2

  !> Waves that soft layers beside hard rock hold grow all the same (t887, elastic3d/accuracy.md). A larger α stops most of that,
  !> and a little damping of all fields in the layer, this rate in units of fpeak at its end, the rest.
  real(dp), parameter :: alpha_damped = 12, damping = 0.25_dp

contains

  !> Widths of the layers inside a subdomain, from those of the whole grid, width(6): in cells as given. The lower layer counts one
  !> cell more, as the half point of the first cell behind it lies in the layer.
  pure function Fd3dLayerWidths(grid, width) result(layer)
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: width(6)
    integer :: layer(6), a
    do a = 1, 3
      layer(2*a - 1) = merge(width(2*a - 1) + 1, 0, width(2*a - 1) > 0) - (grid%first(a) - 1)
      layer(2*a) = width(2*a) - (grid%whole(a) - (grid%first(a) - 1) - grid%n(a))
      layer(2*a - 1:2*a) = min(max(layer(2*a - 1:2*a), 0), grid%n(a))
      layer(2*a) = min(layer(2*a), grid%n(a) - layer(2*a - 1))
    end do
  end function Fd3dLayerWidths

  !> Profiles for the owned cells: columns a, b, 1/k at the centres, then half a cell before.
  !>   c [m/s]: velocity that the layers are made for, fpeak [Hz]: peak frequency of the source; damped: Fd3dDamping goes with them.
  pure subroutine Fd3dProfiles(grid, width, c, fpeak, profiles, shape, damped)
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: width(6)
    real(dp), intent(in) :: c, fpeak
    type(fd3d_profiles_t), intent(out) :: profiles
    type(pml_shape_t), intent(in), optional :: shape
    logical, intent(in), optional :: damped
    real(dp) :: largest
    largest = alpha
    if (present(damped)) largest = merge(alpha_damped, alpha, damped)
    profiles = fd3d_profiles_t(OneAxis(1), OneAxis(2), OneAxis(3))
  contains
    !> PmlProfile has the half points after the centres: seen from the other end they stand before.
    pure function OneAxis(a) result(p)
      integer, intent(in) :: a
      real(sp) :: p(grid%n(a), 6), whole(grid%whole(a), 6)
      integer :: i, n
      n = grid%whole(a)
      call PmlProfile(n, width(2*a), width(2*a - 1), grid%d(a), grid%dt, c, fpeak, whole, shape, largest)
      p = whole([(n + 1 - i, i=grid%first(a), grid%first(a) + grid%n(a) - 1)], :)
    end function OneAxis
  end subroutine Fd3dProfiles

  !> Factors of a step for all fields that damp what runs along a layer of PML: exp(-damping fpeak dt ξ**4), ξ = 1 at its end.
  pure subroutine Fd3dDamping(grid, width, fpeak, factors)
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: width(6)
    real(dp), intent(in) :: fpeak
    type(fd3d_profiles_t), intent(out) :: factors
    call Fd3dSponge(grid, width, factors, (damping*fpeak*grid%dt)**0.25_dp/max(1, maxval(width)), 4)
  end subroutine Fd3dDamping

  !> Factors of a sponge (Cerjan et al. 1985, Geophysics 50, 705-708): exp(-(strength (width - i))**power), i cells from the end of
  !> the grid; strength 0.015 at 20 cells and power 2 are theirs, so by default it is 0.3/width.
  pure subroutine Fd3dSponge(grid, width, sponge, strength, power)
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: width(6)
    type(fd3d_profiles_t), intent(out) :: sponge
    real(dp), intent(in), optional :: strength
    integer, intent(in), optional :: power
    sponge = fd3d_profiles_t(OneAxis(1), OneAxis(2), OneAxis(3))
  contains
    pure function OneAxis(a) result(g)
      integer, intent(in) :: a
      real(sp) :: g(grid%n(a), 1)
      integer :: i, j
      do i = 1, grid%n(a)
        j = grid%first(a) - 1 + i
        g(i, 1) = real(Factor(width(2*a - 1), j - 1)*Factor(width(2*a), grid%whole(a) - j), sp)
      end do
    end function OneAxis

    pure real(dp) function Factor(cells, i)
      integer, intent(in) :: cells, i
      real(dp) :: s
      integer :: p
      Factor = 1
      if (i >= cells) return
      s = 0.3_dp/cells
      if (present(strength)) s = strength
      p = 2
      if (present(power)) p = power
      Factor = exp(-(s*(cells - i))**p)
    end function Factor
  end subroutine Fd3dSponge

end module fd3d_absorb_m
