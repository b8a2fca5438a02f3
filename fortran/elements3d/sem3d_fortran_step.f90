!> A step: forces of the elements of a phase, then the points of it move. Arguments stand in sem3d_engine.f90.
submodule(sem3d_fortran_m) sem3d_fortran_step
  use anisotropy_m, only: AnisoMatrix
  use elements_m, only: in_element, on_face
  use elements_tensors_m, only: TensorOf
  use hexahedron_m, only: hex_side_point
  use sem3d_element_m, only: FluidForce, SolidForce
  use sem3d_engine_m, only: part_rim, part_shared, phase_fluid, phase_solid
  implicit none

contains

  module procedure timestep
    integer :: it
    call EngineRoom(self, self%steps + n)
    do it = first, first + n - 1
      call BeginStep(self, it, error)
      if (allocated(error)) return
      call Phase(self, it, phase_fluid)
      call Phase(self, it, phase_solid)
      call EndStep(self, it)
    end do

  contains

    subroutine Phase(self, it, which)
      class(sem3d_fortran_t), intent(inout) :: self
      integer, intent(in) :: it, which
      call ElementForces(self, which)
      call MovePoints(self, it, which)
    end subroutine Phase
  end procedure timestep

  !> Fails where a step cannot come now.
  subroutine BeginStep(self, it, error)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: it
    type(error_t), allocatable, intent(inout) :: error
    if (.not. allocated(self%mass)) then
      call Fail(error, 'time stepping before the medium was set')
    else if (self%grid%mechanisms > 0 .and. self%mesh%solid > 0) then
      if (.not. allocated(self%relaxation(1)%z)) call Fail(error, 'time stepping before the attenuation was set')
    end if
    if (allocated(error)) return
    if (self%steps == 0) self%first = it
    call EngineRoom(self, self%steps + 1)
    if (self%nh > 0 .and. it < self%silent .and. (it < self%q_first .or. it >= self%q_first + size(self%q, 2))) &
      call Fail(error, 'step '//Str(it)//' needs histories of the sources, which are known for steps '//Str(self%q_first)// &
                '..'//Str(self%q_first + size(self%q, 2) - 1))
  end subroutine BeginStep

  !> Of the elements of a phase, by the displacements and potentials as they are; of the fluid own(1, :, :). Not of those of other
  !> pieces.
  subroutine ElementForces(self, phase)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: phase
    integer :: e
    !$omp parallel do num_threads(ThreadsOf(self%grid%threads))
    do e = 1, self%mesh%n
      if (self%elsewhere(e) .or. (phase == phase_solid .neqv. e <= self%mesh%solid)) cycle
      associate (at => self%mesh%at(:, e), slope => self%slope(:, :, :, e), volume => self%volume(:, e), own => self%own(:, :, e))
        if (e <= self%mesh%solid) then
          associate (u => real(self%u(:, at), dp), lambda => real(self%mesh%lambda(:, e), dp), mu => real(self%mesh%mu(:, e), dp))
            if (TensorOf(self%mesh, e) > 0) then
              call SolidForce(u, slope, volume, lambda, mu, own, self%relaxation(e), &
                              AnisoMatrix(real(self%mesh%relative(:, self%mesh%tensor(e)), dp)))
            else
              call SolidForce(u, slope, volume, lambda, mu, own, self%relaxation(e))
            end if
          end associate
        else
          call FluidForce(real(self%chi(at), dp), slope, volume, real(self%mesh%rho(:, e), dp), own(1, :))
          own(2:, :) = 0
        end if
      end associate
    end do
    !$omp end parallel do
  end subroutine ElementForces

  !> All points of a phase take their step. The fluid first: its acceleration d2chi/dt2, which then stands in force(1, :), is what
  !> presses on the solid.
  subroutine MovePoints(self, it, phase)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: it, phase
    real(dp) :: before
    integer :: c, p, e, point, first, last
    first = merge(1, self%grid%solid_points + 1, phase == phase_solid)
    last = merge(self%grid%solid_points, self%grid%points, phase == phase_solid)
    self%force(:, first:last) = 0
    do e = 1, self%mesh%n
      if (phase == phase_solid .neqv. e <= self%mesh%solid) cycle
      do p = 1, in_element
        if (self%mesh%at(p, e) == 0) cycle
        associate (at => self%mesh%at(p, e))
          self%force(:, at) = self%force(:, at) + self%own(:, p, e)
        end associate
      end do
    end do
    if (phase == phase_fluid) call AtContacts()
    call AddSources(self, it, phase)
    if (phase == phase_solid) call AtContacts()
    do point = first, last
      if (phase == phase_solid) then
        call MoveSolid(self, point, self%force(:, point))
      else
        before = self%chi_t(point)
        call MoveFluid(self, point, self%force(1, point))
        self%force(1, point) = (self%chi_t(point) - before)/self%grid%dt
      end if
    end do

  contains

    !> The solid's normal displacement drives the fluid, whose pressure loads the solid.
    subroutine AtContacts()
      integer :: solid
      do c = 1, self%grid%contacts
        do p = 1, on_face
          point = self%mesh%at(hex_side_point(p, self%mesh%contact(2, c)), self%mesh%contact(1, c))
          solid = self%mesh%partner(p, c)
          if (point == 0) cycle
          associate (area => self%area(:, p, c), force => self%force)
            if (phase == phase_fluid) force(1, point) = force(1, point) + dot_product(area, real(self%u(:, solid), dp))
            if (phase == phase_solid) force(:, solid) = force(:, solid) - area*force(1, point)
          end associate
        end do
      end do
    end subroutine AtContacts
  end subroutine MovePoints

  !> (M + A) (v+ - v-)/dt + B (v+ + v-)/2 = F, A: added mass.
  subroutine MoveSolid(self, point, force)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: point
    real(dp), intent(in) :: force(3)
    real(dp) :: v(3), a(3, 3), dt
    dt = self%grid%dt
    v = self%v(:, point) + dt/self%mass(point)*force
    if (self%drag(point) > 0) then
      associate (half => dt/(2*self%mass(point))*self%b(:, :, self%drag(point)))
        a = 0
        if (allocated(self%more)) a = self%more(:, :, self%drag(point))/self%mass(point)
        v = Solved(a + half, v + matmul(a - half, real(self%v(:, point), dp)))
      end associate
    end if
    self%v(:, point) = real(v, sp)
    self%u(:, point) = real(self%u(:, point) + dt*v, sp)
  end subroutine MoveSolid

  subroutine MoveFluid(self, point, force)
    class(sem3d_fortran_t), intent(inout) :: self
    integer, intent(in) :: point
    real(dp), intent(in) :: force
    real(dp) :: v, half, dt
    if (self%held(point)) return
    dt = self%grid%dt
    v = self%chi_t(point) + dt/self%mass(point)*force
    if (self%drag(point) > 0) then
      half = dt/(2*self%mass(point))*self%b(1, 1, self%drag(point))
      v = (v - half*self%chi_t(point))/(1 + half)
    end if
    self%chi_t(point) = real(v, sp)
    self%chi(point) = real(self%chi(point) + dt*v, sp)
  end subroutine MoveFluid

  !> x of (1 + a) x = y, a symmetric.
  pure function Solved(a, y) result(x)
    real(dp), intent(in) :: a(3, 3), y(3)
    real(dp) :: x(3), m(3, 3), c(3, 3)
    integer :: i
    m = a
    do i = 1, 3
      m(i, i) = m(i, i) + 1
    end do
    c(:, 1) = Cross(m(:, 2), m(:, 3))
    c(:, 2) = Cross(m(:, 3), m(:, 1))
    c(:, 3) = Cross(m(:, 1), m(:, 2))
    x = matmul(y, c)/dot_product(m(:, 1), c(:, 1))
  end function Solved

  pure function Cross(a, b) result(c)
    real(dp), intent(in) :: a(3), b(3)
    real(dp) :: c(3)
    c = [a(2)*b(3) - a(3)*b(2), a(3)*b(1) - a(1)*b(3), a(1)*b(2) - a(2)*b(1)]
  end function Cross

  module procedure step_part
    if (phase == phase_fluid .and. which == part_rim) call BeginStep(self, it, error)
    if (allocated(error)) return
    if (which == part_rim) call ElementForces(self, phase)
    if (which == part_shared) call MovePoints(self, it, phase)
    if (which == part_shared .and. phase == phase_solid) call EndStep(self, it)
  end procedure step_part

end submodule sem3d_fortran_step
