!> A free side of the mesh makes 0: records there, and sources that radiate nothing. Arguments stand in elements3d.f90.
submodule(elements3d_m) elements3d_surface
  use elements_m, only: face_contact, face_free
  use elements_tensors_m, only: TensorOf
  use free_surface_m, only: SourceVanishes, Vanishes
  use hexahedron_m, only: HexJacobian, hex_side_axis, hex_side_end
  implicit none

  real(dp), parameter :: close = 1.0e-6_dp           !< of half an element, where the search moves places into it

contains

  !> Pressure and stresses are 0 on a fluid's free side however it leans, the others where it is level.
  module procedure silent
    real(dp) :: at(3), xi(3), away
    integer :: e
    logical :: on, level, fluid, found
    zero = .false.
    fluid = self%elements%n > self%elements%solid
    if (.not. any(Vanishes(component, .false.) .or. fluid .and. Vanishes(component, .true.))) return
    at = x
    if (job%receiver_z == 'surface') call GroundLower(self%surface, self%elements%corner, at, found)
    if (job%receiver_z == 'seafloor') call GroundLower(self%seafloor, self%elements%corner, at, found)
    call FinderFind(self%finder, self%elements%corner, at, e, xi, away)
    call OnFreeSide(self%elements, e, xi, on, level)
    if (.not. on) return
    fluid = e > self%elements%solid
    zero = Vanishes(component, fluid) .and. (level .or. fluid .and. (component(:)(1:1) == 's' .or. component == 'p'))
    if (TensorOf(self%elements, e) > 0) zero = zero .and. component(:)(1:1) == 's'        ! there shear goes with other strains
  end procedure silent

  module procedure OnContact
    integer :: s
    on = .false.
    if (e > self%elements%solid) return
    do s = 1, 6
      on = on .or. self%elements%face(s, e) == face_contact .and. abs(xi(hex_side_axis(s)) - hex_side_end(s)) <= close
    end do
  end procedure OnContact

  module procedure RadiatesNothing
    real(dp) :: vp, vs
    logical :: on, level
    nothing = .false.
    call OnFreeSide(self%elements, e, xi, on, level)
    if (.not. level .or. TensorOf(self%elements, e) > 0) return
    associate (m => self%elements)
      vp = sqrt((m%lambda(1, e) + 2*m%mu(1, e))/m%rho(1, e))
      vs = sqrt(m%mu(1, e)/m%rho(1, e))
    end associate
    nothing = SourceVanishes(source, vp, vs)
  end procedure RadiatesNothing

  !> A place xi of element e is on a side that is free, and that is level there.
  pure subroutine OnFreeSide(elements, e, xi, on, level)
    type(elements_t), intent(in) :: elements
    integer, intent(in) :: e
    real(dp), intent(in) :: xi(3)
    logical, intent(out) :: on, level
    real(dp), parameter :: slope = 1.0e-3_dp
    real(dp) :: j(3, 3), a(3), b(3)
    integer :: s
    on = .false.
    level = .false.
    if (allocated(elements%ocean)) then              ! its weight presses on the side
      if (any(elements%ocean(:, e) > 0)) return
    end if
    do s = 1, 6
      if (elements%face(s, e) /= face_free) cycle
      if (abs(xi(hex_side_axis(s)) - hex_side_end(s)) > close) cycle
      on = .true.
      j = HexJacobian(elements%corner(:, :, e), xi)
      a = j(:, modulo(hex_side_axis(s), 3) + 1)
      b = j(:, modulo(hex_side_axis(s) + 1, 3) + 1)
      level = level .or. max(abs(a(3))/norm2(a), abs(b(3))/norm2(b)) < slope
    end do
  end subroutine OnFreeSide

end submodule elements3d_surface
