!> One spectral element, as plainly as it can be written: its geometry, and the forces that its displacements make.
module sem3d_element_m
  use elements_m, only: along, in_element, on_face
  use anisotropy_m, only: voigt
  use gll_m, only: gll_d, gll_w
  use hexahedron_m, only: Determinant, hex_side_point, HexJacobians
  use kinds_m, only: dp, sp
  implicit none
  private
  public :: relaxation_t, FewRelax, ElementGeometry, SideArea, SolidForce, FluidForce, AddAlong

  !> Sides: axis across them, and its sign there.
  integer, parameter :: across(6) = [2, 1, 2, 1, 3, 3], outwards(6) = [-1, 1, 1, -1, -1, 1]

  !> Attenuation of an element. Of mechanism m the share a of a modulus M relaxes, tau dr/dt + r = a M strain. Strain goes straight
  !> from one step to the next (the trapezoidal rule): with e = exp(-dt/tau) and b = a (1 - e)/2 M strain,
  !> r = z + b and then z = e r + b, z being what is known of r before the step. Where few points have memory variables,
  !> `number` and `gain` tell which, and how often a share counts there.
  type :: relaxation_t
    integer :: number(in_element) = 0                     !< of a point in z, 0: none
    real(dp) :: gain(in_element) = 1
    real(dp), allocatable :: decay(:)                     !< e of each mechanism
    real(sp), allocatable :: bulk(:, :), shear(:, :)      !< a of K = lambda + 2/3 mu and of mu, (mechanisms, 1 or 125)
    real(sp), allocatable :: z(:, :, :)                   !< of K, then xx yy xy xz yz of mu, (6, mechanisms, points)
  end type relaxation_t

contains

  !> d xi(d) / d x(c) [1/m], (d, c, 125), and the volume of each point [m3].
  pure subroutine ElementGeometry(corner, slope, volume)
    real(dp), intent(in) :: corner(:, :)
    real(dp), intent(out) :: slope(3, 3, in_element), volume(in_element)
    real(dp) :: jacobian(3, 3, in_element)
    integer :: p, at(3)
    call HexJacobians(corner, jacobian)
    do p = 1, in_element
      at = Indices(p)
      volume(p) = product(gll_w(at))*Determinant(jacobian(:, :, p))
      slope(:, :, p) = Cofactors(jacobian(:, :, p))/Determinant(jacobian(:, :, p))
    end do
  end subroutine ElementGeometry

  pure function Indices(p) result(at)
    integer, intent(in) :: p
    integer :: at(3)
    at = 1 + modulo([p - 1, (p - 1)/along, (p - 1)/along**2], along)
  end function Indices

  !> Row d: the area [m2] that two edges dx/dxi span, towards higher xi(d).
  pure function Cofactors(jacobian) result(a)
    real(dp), intent(in) :: jacobian(3, 3)
    real(dp) :: a(3, 3)
    integer :: d
    do d = 1, 3
      associate (u => jacobian(:, modulo(d, 3) + 1), v => jacobian(:, modulo(d + 1, 3) + 1))
        a(d, :) = [u(2)*v(3) - u(3)*v(2), u(3)*v(1) - u(1)*v(3), u(1)*v(2) - u(2)*v(1)]
      end associate
    end do
  end function Cofactors

  !> The areas [m2] of the points of a side, outwards.
  pure subroutine SideArea(corner, side, area)
    real(dp), intent(in) :: corner(:, :)
    integer, intent(in) :: side
    real(dp), intent(out) :: area(3, on_face)
    real(dp) :: jacobian(3, 3, in_element), a(3, 3), w(3)
    integer :: m
    call HexJacobians(corner, jacobian)
    do m = 1, on_face
      a = Cofactors(jacobian(:, :, hex_side_point(m, side)))
      w = gll_w(Indices(hex_side_point(m, side)))
      w(across(side)) = outwards(side)
      area(:, m) = product(w)*a(across(side), :)
    end do
  end subroutine SideArea

  !> Forces [N] that displacements u [m] make: minus the integral of the stress over the slope of each point's polynomial.
  !> Of an anisotropic medium mu times `relative` is what its constants differ from lambda and mu (elements.f90); it does not relax.
  pure subroutine SolidForce(u, slope, volume, lambda, mu, force, relaxation, relative)
    real(dp), intent(in) :: u(3, in_element), slope(3, 3, in_element), volume(in_element)
    real(dp), intent(in) :: lambda(:), mu(:)              !< (1 or 125) [Pa]
    real(dp), intent(out) :: force(3, in_element)
    type(relaxation_t), intent(inout), optional :: relaxation
    real(dp), intent(in), optional :: relative(6, 6)
    real(dp) :: d(3, in_element, 3), flux(3, in_element, 3), gradient(3, 3), stress(3, 3), twice
    integer :: p, c, m
    call Derivatives(3, u, d)
    do p = 1, in_element
      gradient = matmul(d(:, p, :), slope(:, :, p))                          ! du(c)/dx(m)
      m = min(p, size(mu))
      twice = mu(m)
      stress = twice*(gradient + transpose(gradient))
      do c = 1, 3
        stress(c, c) = stress(c, c) + lambda(m)*(gradient(1, 1) + gradient(2, 2) + gradient(3, 3))
      end do
      if (present(relaxation)) then
        if (allocated(relaxation%z)) call Relax(relaxation, p, stress)
      end if
      if (present(relative)) stress = stress + mu(m)*Differs(relative, gradient)
      flux(:, p, :) = -volume(p)*matmul(stress, transpose(slope(:, :, p)))   ! (c, d)
    end do
    call Collect(3, flux, force)
  end subroutine SolidForce

  !> The stress that constants (6, 6) make of du(c)/dx(m).
  pure function Differs(constants, gradient) result(stress)
    real(dp), intent(in) :: constants(6, 6), gradient(3, 3)
    real(dp) :: stress(3, 3), strain(6), packed(6)
    integer :: c
    strain = [gradient(1, 1), gradient(2, 2), gradient(3, 3), gradient(2, 3) + gradient(3, 2), gradient(1, 3) + gradient(3, 1), &
              gradient(1, 2) + gradient(2, 1)]
    packed = matmul(constants, strain)
    do c = 1, 3
      stress(:, c) = packed(voigt(:, c))
    end do
  end function Differs

  !> Memory variables at points inside the element, and in the middle and on the diagonals of its sides (sem3d_geometry.h).
  pure subroutine FewRelax(relaxation)
    type(relaxation_t), intent(inout) :: relaxation
    real(dp), parameter :: gain(0:3, 0:1) = reshape([1.0_dp, 1.095_dp, 1.09_dp, 1.26_dp, &
                                                     1.652_dp, 0.0_dp, 1.681874855324_dp, 0.0_dp], [4, 2])
    integer :: p, ends, n
    n = 0
    do p = 1, in_element
      ends = count(modulo(Indices(p), 4) == 1)
      relaxation%gain(p) = 0
      if (ends <= 1) relaxation%gain(p) = gain(count(Indices(p) == 3), ends)
      relaxation%number(p) = 0
      if (.not. relaxation%gain(p) > 0) cycle
      n = n + 1
      relaxation%number(p) = n
    end do
  end subroutine FewRelax

  !> Takes from the stress of the unrelaxed moduli what has relaxed at point p.
  pure subroutine Relax(relaxation, p, stress)
    type(relaxation_t), intent(inout) :: relaxation
    integer, intent(in) :: p
    real(dp), intent(inout) :: stress(3, 3)
    real(dp) :: unrelaxed(6), r(6), b(6), mean
    integer :: m, at
    if (relaxation%number(p) == 0) return
    mean = (stress(1, 1) + stress(2, 2) + stress(3, 3))/3
    unrelaxed = [mean, stress(1, 1) - mean, stress(2, 2) - mean, stress(1, 2), stress(1, 3), stress(2, 3)]
    at = min(p, size(relaxation%shear, 2))
    do m = 1, size(relaxation%decay)
      associate (e => relaxation%decay(m), z => relaxation%z(:, m, relaxation%number(p)))
        b(1) = relaxation%bulk(m, at)*unrelaxed(1)
        b(2:) = relaxation%shear(m, at)*unrelaxed(2:)
        b = (1 - e)/2*relaxation%gain(p)*b
        r = z + b
        z = real(e*r + b, sp)
      end associate
      stress(1, 1) = stress(1, 1) - r(1) - r(2)
      stress(2, 2) = stress(2, 2) - r(1) - r(3)
      stress(3, 3) = stress(3, 3) - r(1) + r(2) + r(3)
      stress(1, 2) = stress(1, 2) - r(4)
      stress(1, 3) = stress(1, 3) - r(5)
      stress(2, 3) = stress(2, 3) - r(6)
    end do
    stress(2, 1) = stress(1, 2)
    stress(3, 1) = stress(1, 3)
    stress(3, 2) = stress(2, 3)
  end subroutine Relax

  !> The same of a potential: minus the integral of 1/rho grad chi over the slope of each point's polynomial.
  pure subroutine FluidForce(chi, slope, volume, rho, force)
    real(dp), intent(in) :: chi(in_element), slope(3, 3, in_element), volume(in_element)
    real(dp), intent(in) :: rho(:)                        !< (1 or 125) [kg/m3]
    real(dp), intent(out) :: force(in_element)
    real(dp) :: d(in_element, 3), flux(in_element, 3)
    integer :: p
    call Derivatives(1, chi, d)
    do p = 1, in_element
      flux(p, :) = -volume(p)/rho(min(p, size(rho)))*matmul(slope(:, :, p), matmul(d(p, :), slope(:, :, p)))
    end do
    call Collect(1, flux, force)
  end subroutine FluidForce

  !> Derivatives of n components along xi, eta, zeta at all points.
  pure subroutine Derivatives(n, u, d)
    integer, intent(in) :: n
    real(dp), intent(in) :: u(n, in_element)
    real(dp), intent(out) :: d(n, in_element, 3)
    real(dp), parameter :: of_all(along, along) = transpose(gll_d)
    integer :: a
    d = 0
    do a = 1, 3
      call AddAlong(n*along**(a - 1), along**(3 - a), of_all, u, d(:, :, a))
    end do
  end subroutine Derivatives

  !> The transpose: fluxes along xi, then eta, then zeta through all points to each of them.
  pure subroutine Collect(n, flux, total)
    integer, intent(in) :: n
    real(dp), intent(in) :: flux(n, in_element, 3)
    real(dp), intent(out) :: total(n, in_element)
    integer :: a
    total = 0
    do a = 1, 3
      call AddAlong(n*along**(a - 1), along**(3 - a), gll_d, flux(:, :, a), total)
    end do
  end subroutine Collect

  !> Adds to each point of a line, the middle index, what all points of the line give it: `factor(l, m)` of point l to point m.
  pure subroutine AddAlong(before, after, factor, u, total)
    integer, intent(in) :: before, after
    real(dp), intent(in) :: factor(along, along), u(before, along, after)
    real(dp), intent(inout) :: total(before, along, after)
    integer :: k, m
    do k = 1, after
      do m = 1, along
        total(:, m, k) = total(:, m, k) + factor(1, m)*u(:, 1, k) + factor(2, m)*u(:, 2, k) + factor(3, m)*u(:, 3, k) + &
                         factor(4, m)*u(:, 4, k) + factor(5, m)*u(:, 5, k)
      end do
    end do
  end subroutine AddAlong

end module sem3d_element_m
