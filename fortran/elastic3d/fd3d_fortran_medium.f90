!> The medium of the readable 3D time loop, its attenuation and its absorbing layers. Arguments stand in fd3d_engine.f90.
submodule(fd3d_fortran_m) fd3d_fortran_medium
  use fd3d_edges_m, only: EdgesNew
  use fd3d_engine_m, only: field_sxz, side_free
  use fd3d_medium_m, only: Fd3dBuoyancy, Fd3dShearMean, Fd3dShearModulus
  implicit none

contains

  module procedure model
    integer :: before
    before = 0
    if (present(first)) before = first - 1
    associate (n => self%grid%n + 2, last => before + size(rho, 3))
      if (.not. allocated(self%given)) allocate (self%given(n(1), n(2), n(3), 3))
      self%given(:, :, before + 1:last, 1) = rho
      self%given(:, :, before + 1:last, 2) = lambda
      self%given(:, :, before + 1:last, 3) = mu
      if (last < n(3)) return
    end associate
    call Averages(self, self%given(:, :, :, 1), self%given(:, :, :, 2), self%given(:, :, :, 3), error)
    deallocate (self%given)
  end procedure model

  subroutine Averages(self, rho, lambda, mu, error)
    class(fd3d_fortran_t), intent(inout) :: self
    real(sp), contiguous, intent(in) :: rho(:, :, :), lambda(:, :, :), mu(:, :, :)
    type(error_t), allocatable, intent(inout) :: error
    integer :: i, j, k, c
    if (.not. all(rho >= 0 .and. mu >= 0 .and. ((rho > 0 .and. 3*lambda + 2*mu > 0) .or. &
                                                (.not. abs(lambda) > 0 .and. .not. mu > 0)))) then
      call Fail(error, 'the medium must be rock or fluid (rho > 0, mu >= 0, 3 lambda + 2 mu > 0) or air (moduli 0) everywhere')
      return
    end if
    associate (n => self%grid%n)
      self%lambda = lambda(2:n(1) + 1, 2:n(2) + 1, 2:n(3) + 1)
      self%mu = mu(2:n(1) + 1, 2:n(2) + 1, 2:n(3) + 1)
      do k = 1, n(3)
        do j = 1, n(2)
          do i = 1, n(1)
            do c = field_vx, field_vz
              self%b(c)%a(i, j, k) = Fd3dBuoyancy(rho, c, i, j, k)
            end do
            do c = field_sxy, field_syz
              self%mue(c)%a(i, j, k) = Fd3dShearModulus(mu, c, i, j, k)
            end do
          end do
        end do
      end do
    end associate
    if (self%grid%side(5) == side_free) self%mue(field_sxz)%a(:, :, 1) = 0     ! on the surface
    if (self%grid%side(5) == side_free) self%mue(field_syz)%a(:, :, 1) = 0
    call EdgesNew(self%edges, self%grid, rho, lambda, mu)
  end subroutine Averages

  module procedure quality
    integer :: i, j, k, c, n
    if (.not. self%grid%anelastic) then
      call Fail(error, 'attenuation of a grid made without memory variables')
      return
    end if
    self%decay = real(exp(-self%grid%dt/tau), sp)
    self%stiff = stiff
    do n = 1, self%each
      do k = 1, self%grid%n(3)
        do j = 1, self%grid%n(2)
          do i = 1, self%grid%n(1)
            self%relax_p(n)%a(i, j, k) = Strength(qp(i + 1, j + 1, k + 1))*(self%lambda(i, j, k) + 2*self%mu(i, j, k))
            self%relax_s(n)%a(i, j, k) = Strength(qs(i + 1, j + 1, k + 1))*2*self%mu(i, j, k)
            do c = field_sxy, field_syz
              self%strength(c, n)%a(i, j, k) = Strength(Fd3dShearMean(qs, c, i, j, k))
            end do
          end do
        end do
      end do
    end do
  contains
    real(sp) function Strength(q)
      real(sp), intent(in) :: q
      integer :: m
      m = Mechanism(self%grid, n, i, j, k)
      Strength = q*(y(m, 1) + q*(y(m, 2) + q*y(m, 3)))
    end function Strength
  end procedure quality

  module procedure Mechanism
    m = n
    if (.not. grid%together) &
      m = 1 + modulo(grid%first(1) + i, 2) + 2*modulo(grid%first(2) + j, 2) + 4*modulo(grid%first(3) + k, 2)
  end procedure Mechanism

  module procedure pml
    self%px = px
    self%py = py
    self%pz = pz
  end procedure pml

  module procedure sponge
    self%gx = gx
    self%gy = gy
    self%gz = gz
  end procedure sponge

end submodule fd3d_fortran_medium
