!> A free side of the mesh makes 0: records there, and sources that radiate nothing; places on contacts. Arguments stand in
!> elements3d.f90.
submodule(elements3d_m) elements3d_surface
  use band_weights_m, only: band_alike
  use elements_m, only: face_contact, face_free, face_inner, in_element
  use elements_tensors_m, only: TensorOf
  use free_surface_m, only: SourceVanishes, Vanishes
  use hexahedron_m, only: HexAt, HexJacobian, HexWeights, hex_side_axis, hex_side_end
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

  module procedure AtOther
    real(dp), parameter :: near = 0.04_dp            ! of half an element
    real(dp) :: beyond(3), there(3), away
    integer :: other, s
    at = .false.
    do s = 1, 6
      associate (along => hex_side_axis(s), end => hex_side_end(s))
        if (self%elements%face(s, e) /= face_inner .or. abs(xi(along) - end) > near) cycle
        beyond = xi
        beyond(along) = end*(1 + near)
      end associate
      call FinderFind(self%finder, self%elements%corner, HexAt(self%elements%corner(:, :, e), beyond), other, there, away)
      if ((other > self%elements%solid .neqv. e > self%elements%solid) .or. away > 0) cycle
      at = at .or. Others(self%elements, e, xi, other, there)
    end do
  end procedure AtOther

  !> Media at a place of element e and right beside it, in another, differ by more than those by point do over so short a way, and
  !> than those that count as one (band_weights.f90).
  pure logical function Others(elements, e, xi, other, there)
    type(elements_t), intent(in) :: elements
    integer, intent(in) :: e, other
    real(dp), intent(in) :: xi(3), there(3)
    Others = TensorOf(elements, e) /= TensorOf(elements, other) .or. &
                Differ(elements%rho(:, e), xi, elements%rho(:, other), there) .or. &
                Differ(elements%lambda(:, e), xi, elements%lambda(:, other), there) .or. &
                Differ(elements%mu(:, e), xi, elements%mu(:, other), there)
  end function Others

  !> A medium a at xi and b at eta, (1 or 125) numbers of an element each.
  pure logical function Differ(a, xi, b, eta)
    use kinds_m, only: sp
    real(sp), intent(in) :: a(:), b(:)
    real(dp), intent(in) :: xi(3), eta(3)
    real(dp) :: w(in_element, 2), x, y
    x = a(1)
    y = b(1)
    if (size(a) > 1) then
      call HexWeights(xi, w(:, 1))
      call HexWeights(eta, w(:, 2))
      x = dot_product(w(:, 1), real(a, dp))
      y = dot_product(w(:, 2), real(b, dp))
    end if
    Differ = abs(x - y) > band_alike*max(abs(x), abs(y))
  end function Differ

  module procedure RadiatesNothing
    real(dp) :: vp, vs
    logical :: on, level
    nothing = .false.
    call OnFreeSide(self%elements, e, xi, on, level)
    if (on .and. e > self%elements%solid) level = .true.     ! there chi is 0 however the side leans
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
