!> Takes the pictures of a shot on elements. Arguments stand in sem3d.f90.
!>
!> Values are those of the polynomials of the element that has the point. Points where there is no mesh have the missing value.
!> Pressure and displacement are half a time step after velocities. Pressure in a fluid is the slope of dchi/dt: its pictures have
!> dchi/dt until the next step is done.
submodule(sem3d_m) sem3d_films_take
  use anisotropy_m, only: AnisoMatrix, voigt
  use elements_m, only: along
  use elements_tensors_m, only: TensorOf
  use gather_m, only: film_missing
  use gll_m, only: gll_d
  use hexahedron_m, only: hex_side_point, HexJacobians, HexWeights, Inverse
  use kinds_m, only: pi
  use sem3d_engine_m, only: field_chi, field_chi_t, field_ux, field_vx
  use zener_m, only: ZenerModulus
  implicit none

  !> Copies of those fields of the engine that a picture needs.
  type :: fields_t
    real(sp), allocatable :: v(:, :), u(:, :)    !< (points of solid, 3)
    real(sp), allocatable :: chi_t(:), chi(:)    !< (points of fluid)
  end type fields_t

contains

  module procedure FilmsHalf
    half = self%later .and. self%taken > 0
    if (half) half = self%steps == self%first_picture + (self%taken - 1)*self%every
  end procedure FilmsHalf

  module procedure FilmsTake
    self%taken = self%taken + 1
    call TakeFields(self, .false., error)
  end procedure FilmsTake

  module procedure FilmsFinish
    call TakeFields(self, .true., error)
  end procedure FilmsFinish

  !> Takes picture number `taken`; `rest`: what it lacks of the pressure in fluids, a step later.
  subroutine TakeFields(self, rest, error)
    class(sem3d_t), intent(inout) :: self
    logical, intent(in) :: rest
    type(error_t), allocatable, intent(inout) :: error
    type(fields_t) :: fields
    integer :: f
    call CopyFields(self, rest, fields, error)
    if (allocated(error)) return
    do f = 1, self%films
      if (rest .and. self%frame(f)%field /= 'p') cycle
      associate (plane => self%plane(self%frame(f)%plane), a => self%film(f)%a(:, :, self%taken))
        if (plane%axis > 0) call TakePlane(self, fields, plane, self%frame(f)%field, rest, a)
        if (plane%axis < 1) call TakeMesh(self, fields, plane, self%frame(f)%field, rest, a)
      end associate
    end do
  end subroutine TakeFields

  subroutine CopyFields(self, rest, fields, error)
    class(sem3d_t), intent(inout) :: self
    logical, intent(in) :: rest
    type(fields_t), intent(out) :: fields
    type(error_t), allocatable, intent(inout) :: error
    integer :: c, f, solid, fluid
    logical :: v, u, p
    solid = self%grid%solid_points
    fluid = self%grid%points - solid
    v = .false.
    u = .false.
    p = .false.
    do f = 1, self%films
      v = v .or. self%frame(f)%field(1:1) == 'v'
      u = u .or. self%frame(f)%field(1:1) == 'u'
      p = p .or. self%frame(f)%field == 'p'
    end do
    if (.not. rest) then
      v = v .or. (p .and. self%own%attenuates)
      allocate (fields%v(merge(solid, 0, v), 3), fields%u(merge(solid, 0, u .or. p), 3), fields%chi(merge(fluid, 0, u)))
      do c = 1, 3
        if (size(fields%v) > 0) call self%engine%field(field_vx + c - 1, fields%v(:, c), error)
        if (size(fields%u) > 0) call self%engine%field(field_ux + c - 1, fields%u(:, c), error)
      end do
      if (size(fields%chi) > 0) call self%engine%field(field_chi, fields%chi, error)
    end if
    allocate (fields%chi_t(merge(fluid, 0, v .or. p)))
    if (size(fields%chi_t) > 0) call self%engine%field(field_chi_t, fields%chi_t, error)
  end subroutine CopyFields

  !> At the regular points of a plane.
  subroutine TakePlane(self, fields, plane, field, rest, a)
    class(sem3d_t), intent(in) :: self
    type(fields_t), intent(in) :: fields
    type(plane_t), intent(in) :: plane
    character(*), intent(in) :: field
    logical, intent(in) :: rest
    real(sp), intent(inout) :: a(:, :)
    real(dp) :: values(in_element), w(in_element)
    integer :: i, j, e, last
    !$omp parallel do private(i, e, last, values, w) schedule(dynamic) num_threads(self%team%threads)
    do j = 1, size(a, 2)
      last = 0
      do i = 1, size(a, 1)
        e = plane%element(i + size(a, 1)*(j - 1))
        if (plane%owner(i + size(a, 1)*(j - 1)) == 0) a(i, j) = film_missing
        if ((rest .and. e <= self%elements%solid) .or. .not. Mine(self, e)) cycle
        if (e /= last) call ElementValues(self, fields, e, field, values)
        last = e
        call HexWeights(plane%xi(:, i + size(a, 1)*(j - 1)), w)
        a(i, j) = Picture(self, rest, dot_product(w, values), a(i, j))
      end do
    end do
    !$omp end parallel do
  end subroutine TakePlane

  !> At all points of sides or elements.
  subroutine TakeMesh(self, fields, plane, field, rest, a)
    class(sem3d_t), intent(in) :: self
    type(fields_t), intent(in) :: fields
    type(plane_t), intent(in) :: plane
    character(*), intent(in) :: field
    logical, intent(in) :: rest
    real(sp), intent(inout) :: a(:, :)
    real(dp) :: values(in_element)
    integer :: m, e
    !$omp parallel do private(e, values) num_threads(self%team%threads)
    do m = 1, size(plane%element)
      e = plane%element(m)
      if (rest .and. e <= self%elements%solid) cycle
      call ElementValues(self, fields, e, field, values)
      associate (picture_of => a(:, plane%at(m)))
        if (plane%axis < 0) picture_of = Picture(self, rest, values, picture_of)
        if (plane%axis == 0) picture_of = Picture(self, rest, values(hex_side_point(:, plane%side(m))), picture_of)
      end associate
    end do
    !$omp end parallel do
  end subroutine TakeMesh

  !> A value of a picture: that of the field in true units, or minus the slope of dchi/dt since the value `before`.
  elemental real(sp) function Picture(self, rest, value, before)
    class(sem3d_t), intent(in) :: self
    logical, intent(in) :: rest
    real(dp), intent(in) :: value
    real(sp), intent(in) :: before
    Picture = real(scale(value, self%exponent2), sp)
    if (rest) Picture = real((before - scale(value, self%exponent2))/self%scheme%dt, sp)
  end function Picture

  !> A field at the points of an element; in a fluid dchi/dt in place of pressure.
  pure subroutine ElementValues(self, fields, e, field, values)
    class(sem3d_t), intent(in) :: self
    type(fields_t), intent(in) :: fields
    integer, intent(in) :: e
    character(*), intent(in) :: field
    real(dp), intent(out) :: values(in_element)
    real(dp) :: slope(in_element, 3), bulk(in_element), of_v
    integer :: c, at(in_element)
    c = 0
    if (len(field) > 1) c = index(letters, field(2:2))
    at = self%elements%at(:, e)
    if (self%grouped()) at = self%piece%place(at)
    associate (m => self%elements, corner => self%elements%corner(:, :, e))
      if (e > m%solid) then
        if (field(1:1) /= 'u') values = fields%chi_t(at - self%grid%solid_points)
        if (field(1:1) == 'u') values = fields%chi(at - self%grid%solid_points)
        if (c == 0) return
        call Slopes(corner, values, slope)
        values = slope(:, c)/Everywhere(m%rho(:, e))
      else if (c > 0) then
        if (field(1:1) == 'v') values = fields%v(at, c)
        if (field(1:1) == 'u') values = fields%u(at, c)
      else
        bulk = Everywhere(m%lambda(:, e)) + 2*Everywhere(m%mu(:, e))/3
        call Relaxed(self, e, bulk, of_v)
        values = 0
        do c = 1, 3
          call Slopes(corner, real(fields%u(at, c), dp), slope)
          values = values - bulk*slope(:, c)
          if (TensorOf(m, e) > 0) values = values - Everywhere(m%mu(:, e))*matmul(slope, Even(m%relative(:, m%tensor(e)), c))
          if (.not. of_v > 0) cycle
          call Slopes(corner, real(fields%v(at, c), dp), slope)
          values = values - of_v*bulk*slope(:, c)
        end do
      end if
    end associate
  end subroutine ElementValues

  !> A picture knows nothing of times before it, but that waves are mostly of the peak frequency: of these a bulk modulus that
  !> relaxes is the smaller one that this becomes, and of_v [s] of it act on the rate of strain.
  pure subroutine Relaxed(self, e, bulk, of_v)
    class(sem3d_t), intent(in) :: self
    integer, intent(in) :: e
    real(dp), intent(inout) :: bulk(in_element)
    real(dp), intent(out) :: of_v
    complex(dp) :: left
    of_v = 0
    if (.not. (self%own%attenuates .and. self%elements%loss(1, e) > 0)) return
    left = ZenerModulus(self%own%q_band, real(self%elements%loss(1, e), dp), self%scheme%fpeak)
    bulk = bulk*real(left)
    of_v = aimag(left)/real(left)/(2*pi*self%scheme%fpeak)
  end subroutine Relaxed

  !> What du(c)/dx(:) bring to the mean stress by constants of an anisotropic medium.
  pure function Even(relative, c)
    real(sp), intent(in) :: relative(:)
    integer, intent(in) :: c
    real(dp) :: Even(3), constants(6, 6)
    constants = AnisoMatrix(real(relative, dp))
    Even = sum(constants(:3, voigt(:, c)), 1)/3
  end function Even

  !> A medium at all points of an element.
  pure function Everywhere(medium)
    real(sp), intent(in) :: medium(:)
    real(dp) :: Everywhere(in_element)
    Everywhere = medium(1)
    if (size(medium) > 1) Everywhere = medium
  end function Everywhere

  !> The derivatives along x, y, z at the points of an element.
  pure subroutine Slopes(corner, values, slope)
    real(dp), intent(in) :: corner(:, :), values(in_element)
    real(dp), intent(out) :: slope(in_element, 3)
    real(dp) :: jacobian(3, 3, in_element), v(along, along, along), d(along, along, along, 3)
    integer :: i, p
    call HexJacobians(corner, jacobian)
    v = reshape(values, shape(v))
    do i = 1, along
      d(:, :, i, 1) = matmul(gll_d, v(:, :, i))
      d(:, :, i, 2) = matmul(v(:, :, i), transpose(gll_d))
      d(:, i, :, 3) = matmul(v(:, i, :), transpose(gll_d))
    end do
    slope = reshape(d, shape(slope))
    do p = 1, in_element
      slope(p, :) = matmul(slope(p, :), Inverse(jacobian(:, :, p)))
    end do
  end subroutine Slopes

end submodule sem3d_films_take
