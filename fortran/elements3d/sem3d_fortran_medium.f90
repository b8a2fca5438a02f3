!> Elements and their medium: masses, drags and areas at points. Arguments stand in sem3d_engine.f90.
submodule(sem3d_fortran_m) sem3d_fortran_medium
  use anisotropy_m, only: AnisoImpedance
  use elements_m, only: face_absorbs, face_free, in_element, on_face
  use elements_tensors_m, only: StiffnessOf, TensorOf
  use hexahedron_m, only: hex_side_point
  use sem3d_element_m, only: ElementGeometry, FewRelax, SideArea
  implicit none

contains

  module procedure elements
    integer :: e
    self%mesh = mesh
    if (allocated(self%own)) deallocate (self%own, self%force)
    call ListWays(self)
    allocate (self%own(3, in_element, mesh%n), self%force(3, mesh%points))
    if (allocated(self%slope)) deallocate (self%slope, self%volume)
    allocate (self%slope(3, 3, in_element, mesh%n), self%volume(in_element, mesh%n))
    !$omp parallel do num_threads(ThreadsOf(self%grid%threads))
    do e = 1, mesh%n
      call ElementGeometry(mesh%corner(:, :, e), self%slope(:, :, :, e), self%volume(:, e))
    end do
    !$omp end parallel do
    do e = 1, mesh%n
      if (all(self%volume(:, e) > 0)) cycle
      call Fail(error, 'element '//Str(e)//' has no positive Jacobian at its point '//Str(findloc(self%volume(:, e) > 0, &
                                                        .false., dim=1))//': it is inside out or degenerate')
      return
    end do
    if (allocated(self%relaxation)) deallocate (self%relaxation)
    allocate (self%relaxation(mesh%solid))
    call SumMasses(self)
    call SumDrags(self)
    call Contacts(self)
    call self%reset(error)
    call Forget(self, error)
  end procedure elements

  real(dp) function Medium(a, p, e)
    real(sp), intent(in) :: a(:, :)                      !< (1 or 125, n)
    integer, intent(in) :: p, e
    Medium = a(min(p, size(a, 1)), e)
  end function Medium

  subroutine SumMasses(self)
    class(sem3d_fortran_t), intent(inout) :: self
    real(dp) :: rho, k
    integer :: e, p, side
    self%mass = [(0.0_dp, p=1, self%mesh%points)]
    self%held = [(.false., p=1, self%mesh%points)]
    self%loudness = 0
    do e = 1, self%mesh%n
      do p = 1, in_element
        rho = Medium(self%mesh%rho, p, e)
        k = Medium(self%mesh%lambda, p, e)
        if (self%mesh%at(p, e) > 0) then
          associate (mass => self%mass(self%mesh%at(p, e)))
            mass = mass + merge(rho, 1/k, e <= self%mesh%solid)*self%volume(p, e)
          end associate
        end if
        if (e > self%mesh%solid) self%loudness = max(self%loudness, 1/(sqrt(rho*k)*sum(self%volume(:, e))**(1.0_dp/3)))
      end do
      if (e <= self%mesh%solid) cycle
      do side = 1, 6
        if (self%mesh%face(side, e) /= face_free) cycle
        do p = 1, on_face
          if (self%mesh%at(hex_side_point(p, side), e) > 0) self%held(self%mesh%at(hex_side_point(p, side), e)) = .true.
        end do
      end do
    end do
  end subroutine SumMasses

  !> Sums of rho (vp n n + vs (1 - n n)) over the areas of absorbing sides, in the fluid of 1/(rho c); in an anisotropic medium of
  !> the impedance of waves along the normal.
  subroutine SumDrags(self)
    class(sem3d_fortran_t), intent(inout) :: self
    real(dp) :: area(3, on_face), rho, lambda, mu, size, n(3), z(2)
    integer :: e, side, m, p, drags, i
    self%drag = [(0, p=1, self%mesh%points)]
    if (allocated(self%more)) deallocate (self%more)
    drags = 0
    do i = 1, 2
      if (i == 2) then
        if (allocated(self%b)) deallocate (self%b)
        allocate (self%b(3, 3, drags), source=0.0_dp)
      end if
      do e = 1, self%mesh%n
        do side = 1, 6
          if (self%mesh%face(side, e) /= face_absorbs) cycle
          call SideArea(self%mesh%corner(:, :, e), side, area)
          do m = 1, on_face
            p = hex_side_point(m, side)
            if (self%mesh%at(p, e) == 0) cycle
            associate (drag => self%drag(self%mesh%at(p, e)))
              if (i == 1 .and. drag == 0) then
                drags = drags + 1
                drag = drags
              end if
              if (i == 1) cycle
              rho = Medium(self%mesh%rho, p, e)
              lambda = Medium(self%mesh%lambda, p, e)
              mu = Medium(self%mesh%mu, p, e)
              size = norm2(area(:, m))
              n = area(:, m)/size
              z = sqrt(rho*[lambda + 2*mu, mu])
              if (e > self%mesh%solid) z = 1/z(1)
              if (TensorOf(self%mesh, e) > 0) then
                self%b(:, :, drag) = self%b(:, :, drag) + size*AnisoImpedance(StiffnessOf(self%mesh, e, p), rho, n)
              else
                self%b(:, :, drag) = self%b(:, :, drag) + size*Impedance(z, n)
              end if
            end associate
          end do
        end do
      end do
    end do
  end subroutine SumDrags

  !> z(1) along n, z(2) across.
  pure function Impedance(z, n) result(b)
    real(dp), intent(in) :: z(2), n(3)
    real(dp) :: b(3, 3)
    integer :: c
    do c = 1, 3
      b(:, c) = (z(1) - z(2))*n*n(c)
      b(c, c) = b(c, c) + z(2)
    end do
  end function Impedance

  subroutine Contacts(self)
    class(sem3d_fortran_t), intent(inout) :: self
    integer :: c
    if (allocated(self%area)) deallocate (self%area)
    allocate (self%area(3, on_face, self%grid%contacts))
    do c = 1, self%grid%contacts
      call SideArea(self%mesh%corner(:, :, self%mesh%contact(1, c)), self%mesh%contact(2, c), self%area(:, :, c))
    end do
  end subroutine Contacts

  module procedure quality
    integer :: e, p
    do e = 1, self%mesh%solid
      associate (r => self%relaxation(e))
        r%decay = exp(-self%grid%dt/tau)
        r%bulk = bulk(:, :, e)
        r%shear = shear(:, :, e)
        if (allocated(r%z)) deallocate (r%z)
        allocate (r%z(6, size(tau), self%grid%relaxing), source=0.0_sp)
        r%number = [(p, p=1, in_element)]
        r%gain = 1
        if (self%grid%relaxing < in_element) call FewRelax(r)
      end associate
    end do
  end procedure quality

  module procedure damping
    integer :: p, c
    call MoreDrags(self, pack([(p, p=1, self%mesh%points)], rate > 0))
    do p = 1, self%mesh%points
      if (.not. rate(p) > 0) cycle
      associate (b => self%b(:, :, self%drag(p)))
        do c = 1, 3
          b(c, c) = b(c, c) + rate(p)*self%mass(p)
        end do
      end associate
    end do
  end procedure damping

  !> Makes drags of 0 at points that have none.
  subroutine MoreDrags(self, points)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: points(:)
    real(dp), allocatable :: b(:, :, :)
    integer :: n, drags
    drags = size(self%b, 3)
    do n = 1, size(points)
      if (self%drag(points(n)) > 0) cycle
      drags = drags + 1
      self%drag(points(n)) = drags
    end do
    allocate (b(3, 3, drags), source=0.0_dp)
    b(:, :, :size(self%b, 3)) = self%b
    call move_alloc(b, self%b)
  end subroutine MoreDrags

  module procedure added_mass
    integer, parameter :: place(9) = [1, 4, 5, 4, 2, 6, 5, 6, 3]
    integer :: n
    call MoreDrags(self, point)
    if (allocated(self%more)) deallocate (self%more)
    allocate (self%more(3, 3, size(self%b, 3)), source=0.0_dp)
    do n = 1, size(point)
      self%more(:, :, self%drag(point(n))) = reshape(real(mass(place, n), dp), [3, 3])
    end do
  end procedure added_mass

end submodule sem3d_fortran_medium
