!> Pictures of a shot on elements: planes of fields at regular points, every so many steps; all points of the free sides or of all
!> elements; and the map of peak ground velocity.
!>
!> Values are those of the polynomials of the element that has the point; of the map's points in a fluid, where a velocity is a
!> gradient, those of a receiver there. The top is the ground: where a vertical line first meets the mesh. Points where there is no
!> mesh have the missing value. Pressure and displacement are half a time step after velocities. Pressure in a fluid is the slope of
!> dchi/dt: its pictures have dchi/dt until the next step is done.
submodule(sem3d_m) sem3d_films
  use anisotropy_m, only: AnisoMatrix, voigt
  use elements_m, only: along, face_free, on_face
  use elements_pictures_m, only: PictureName, PicturePlane, PicturePoints
  use elements_tensors_m, only: TensorOf
  use gather_m, only: film_missing, film_t
  use gll_m, only: gll_d
  use hexahedron_m, only: hex_side_point, HexAt, HexJacobians, HexPoints, HexWeights, Inverse
  use parameter_table_m, only: SplitList
  use sem3d_components_m, only: Sem3dPlace, Sem3dRecord
  use sem3d_engine_m, only: field_chi, field_chi_t, field_ux, field_vx, sem3d_map_t
  use zener_m, only: ZenerModulus
  implicit none

  integer, parameter :: maps = 3                 !< horizontal, vertical, vector
  character(*), parameter :: letters = 'xyz'
  integer, parameter :: split = 4096             !< a number of a side or an element in two parts, each of which a float holds

  !> Copies of those fields of the engine that a picture needs.
  type :: fields_t
    real(sp), allocatable :: v(:, :), u(:, :)    !< (points of solid, 3)
    real(sp), allocatable :: chi_t(:), chi(:)    !< (points of fluid)
  end type fields_t

contains

  module procedure make_pictures
    character(32), allocatable :: planes(:), fields(:)
    type(plane_t) :: ground
    real(sp), allocatable :: depth(:, :)
    integer :: p, f
    if (allocated(self%film)) deallocate (self%film)
    if (allocated(self%plane)) deallocate (self%plane)
    if (allocated(self%frame)) deallocate (self%frame)
    allocate (self%film(0), self%frame(0), self%plane(0))
    call self%engine%watch(sem3d_map_t(), error)                    ! the map of the shot before
    self%map_points = 0
    self%later = .false.
    call self%plan_pictures()
    if (allocated(error) .or. .not. (self%every > 0 .or. self%own%pgv)) return
    call PicturePoints(window, self%own%spacing, self%first_point, self%nf)
    if (self%every > 0) then
      allocate (planes, source=SplitList(self%own%planes))
      allocate (fields, source=SplitList(self%own%fields))
      self%films = size(planes)*size(fields)
      deallocate (self%plane, self%film)
      allocate (self%plane(size(planes)), self%film(self%films))
      do p = 1, size(planes)
        call MakePlane(self, trim(planes(p)), self%plane(p), error)
        if (allocated(error)) return
        do f = 1, size(fields)
          self%frame = [self%frame, frame_t(p, trim(fields(f)))]
          call NewFilm(self, trim(planes(p)), self%plane(p), trim(fields(f)), self%film(size(self%frame)))
        end do
      end do
      self%later = any(fields == 'p') .and. self%there(phase_fluid)
      if (self%later) self%pictures = min(self%pictures, (self%scheme%nt - 1 - self%first_picture)/self%every + 1)
      self%film%nt = self%pictures
    end if
    if (self%own%pgv) then
      call MapFilms(self)
      call Watch(self, error)
    end if
    do p = 1, size(self%plane)
      if (self%plane(p)%axis < 1) call PlaceFilms(self, self%plane(p))
    end do
    if ((self%own%pgv .and. OnTop(self)) .or. any([(self%plane(p)%top, p=1, size(self%plane))])) then
      call MakePlane(self, 'top', ground, error, depth)
      if (.not. allocated(error)) call GroundFilm(self, depth)
    end if
    if (.not. allocated(error)) call self%room_for_films('snapshot_dx', error)
    if (allocated(error)) return
    do p = self%films + 1, size(self%film)
      if (self%film(p)%name == 'ground') self%film(p)%a(:, :, 1) = depth
    end do
    do p = 1, size(self%plane)
      if (self%plane(p)%axis < 1) call FillPlaces(self, self%plane(p))
    end do
  end procedure make_pictures

  module procedure MapElements
    type(plane_t) :: plane
    allocate (inside(self%elements%n), source=.false.)
    if (.not. self%own%pgv) return
    call PicturePoints(window, self%own%spacing, self%first_point, self%nf)
    call MapPlane(self, plane, error)
    if (.not. allocated(error)) inside(pack(plane%element, plane%element > self%elements%solid)) = .true.
  end procedure MapElements

  ! --- where pictures are ----------------------------------------------------------------------------------------------------

  !> The elements of the points of a plane; of the top the depths too, missing where there is no mesh. A surface has sides, a volume
  !> elements, of those that this rank computes.
  subroutine MakePlane(self, word, plane, error, depth)
    class(sem3d_t), intent(inout) :: self
    character(*), intent(in) :: word
    type(plane_t), intent(out) :: plane
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable, intent(out), optional :: depth(:, :)
    real(dp), allocatable :: x(:, :), level(:)
    integer :: n(2), across(2), i, j
    plane%top = word == 'top'
    call PicturePlane(word, plane%axis, plane%place)
    if (plane%axis < 1) then
      call MeshPlane(self, plane)
      return
    end if
    across = pack([1, 2, 3], [1, 2, 3] /= plane%axis)
    n = self%nf(across)
    allocate (x(3, product(n)), level(product(n)))
    x = plane%place
    do j = 1, n(2)
      do i = 1, n(1)
        x(across, i + n(1)*(j - 1)) = self%first_point(across) + ([i, j] - 1)*self%own%spacing
      end do
    end do
    call FindPoints(self, x, plane%top, plane, level, error)
    if (present(depth)) depth = reshape(merge(real(min(level, real(film_missing, dp)), sp), film_missing, plane%owner > 0), n)
  end subroutine MakePlane

  !> The free sides of the elements that this rank computes, or these elements, and which they are of all. Pictures of the rank that
  !> gathers have room for all, those of others for their own.
  subroutine MeshPlane(self, plane)
    class(sem3d_t), intent(in) :: self
    type(plane_t), intent(inout) :: plane
    integer, allocatable :: own(:), before(:)
    integer :: e, m, s
    own = pack([(e, e=1, self%elements%n)], self%cut%owner == self%partners_mine())
    if (plane%axis < 0) then
      plane%element = own
      plane%spot = own
      if (self%grouped()) plane%spot = self%share%number(own)
    else
      associate (free => self%elements%face(:, own) == face_free)
        plane%element = [((own(m), s=1, count(free(:, m))), m=1, size(own))]
        plane%side = [(pack([(s, s=1, 6)], free(:, m)), m=1, size(own))]
        plane%spot = [(m, m=1, size(plane%element))]
        if (self%grouped()) then
          before = self%share%sides(own)
          plane%spot = [((before(m) + s, s=1, count(free(:, m))), m=1, size(own))]
        end if
      end associate
    end if
    plane%at = plane%spot
    if (.not. self%gathers()) plane%at = [(m, m=1, size(plane%spot))]
  end subroutine MeshPlane

  !> Points of a side or an element, and how many of these a picture has here.
  pure function MeshShape(self, plane) result(n)
    class(sem3d_t), intent(in) :: self
    type(plane_t), intent(in) :: plane
    integer :: n(2)
    n = [in_element, self%all]
    if (plane%axis == 0) n = [on_face, self%free_sides]
    if (.not. self%gathers()) n(2) = size(plane%element)
  end function MeshShape

  !> True if the maps are of the top, not of a plane.
  pure logical function OnTop(self)
    class(sem3d_t), intent(in) :: self
    OnTop = self%own%pgv_depth <= self%low(3)
  end function OnTop

  !> A film without its pictures.
  subroutine NewFilm(self, word, plane, field, film)
    class(sem3d_t), intent(in) :: self
    character(*), intent(in) :: word, field
    type(plane_t), intent(in) :: plane
    type(film_t), intent(inout) :: film
    film%name = PictureName(field, word)
    film%axis = plane%axis
    film%place = plane%place
    select case (field(1:1))
    case ('v')
      film%unit = 'm s-1'
      film%about = 'velocity '//field
    case ('u')
      film%unit = 'm'
      film%about = 'displacement '//field
    case default
      film%unit = 'Pa'
      film%about = 'pressure'
    end select
    if (plane%top) then
      film%place = self%low(3)
      film%about = film%about//' at the uppermost points of the mesh'
    else if (plane%axis > 0) then
      film%about = film%about//' in the plane '//word(1:1)//' = '//Str(plane%place, 9)//' m'
    else
      film%about = film%about//' at the points of '//trim(merge('the free sides', 'all elements  ', plane%axis == 0))
    end if
    if (plane%axis < 1) film%n = MeshShape(self, plane)
    if (plane%axis > 0) film%n = pack(self%nf, [1, 2, 3] /= plane%axis)
  end subroutine NewFilm

  subroutine MapFilms(self)
    class(sem3d_t), intent(inout) :: self
    character(*), parameter :: name(maps) = [character(10) :: 'horizontal', 'vertical', 'vector']
    character(*), parameter :: what(maps) = [character(25) :: 'horizontal velocity', 'vertical velocity', &
                                             'velocity in any direction']
    type(film_t) :: film
    integer :: m
    do m = 1, maps
      film%name = 'pgv_'//trim(name(m))
      film%unit = 'm s-1'
      film%axis = 3
      film%n = self%nf(:2)
      film%place = merge(self%low(3), self%own%pgv_depth, OnTop(self))
      film%about = 'largest '//trim(what(m))//' in the plane z = '//Str(film%place, 9)//' m'
      if (OnTop(self)) film%about = 'largest '//trim(what(m))//' at the uppermost points of the mesh'
      self%film = [self%film, film]
    end do
  end subroutine MapFilms

  !> Depths of the points of the top, where they are not all the same.
  subroutine GroundFilm(self, depth)
    class(sem3d_t), intent(inout) :: self
    real(sp), intent(in) :: depth(:, :)
    type(film_t) :: film
    real(sp), allocatable :: known(:)
    known = pack(depth, depth < film_missing)
    if (size(known) == 0) return
    if (maxval(known) - minval(known) <= 1.0e-6_dp*self%own%spacing) return
    film%name = 'ground'
    film%about = 'depth of the uppermost points of the mesh'
    film%unit = 'm'
    film%n = self%nf(:2)
    film%place = self%low(3)
    self%film = [self%film, film]
  end subroutine GroundFilm

  !> Places of the points of a surface or volume.
  subroutine PlaceFilms(self, plane)
    class(sem3d_t), intent(inout) :: self
    type(plane_t), intent(in) :: plane
    type(film_t) :: film
    integer :: a
    do a = 1, 3
      film%name = trim(merge('surface_', 'volume_ ', plane%axis == 0))//letters(a:a)
      film%about = letters(a:a)//' of the points of '//trim(merge('free sides', 'elements  ', plane%axis == 0))
      film%unit = 'm'
      film%axis = plane%axis
      film%n = MeshShape(self, plane)
      film%place = self%low(a)
      self%film = [self%film, film]
    end do
  end subroutine PlaceFilms

  subroutine FillPlaces(self, plane)
    class(sem3d_t), intent(inout) :: self
    type(plane_t), intent(in) :: plane
    real(dp) :: x(3, in_element)
    integer :: first, m, a
    first = FirstPlaces(self, plane)
    do m = 1, size(plane%element)
      call HexPoints(self%elements%corner(:, :, plane%element(m)), x)
      do a = 1, 3
        associate (film => self%film(first + a - 1))
          if (plane%axis == 0) film%a(:, plane%at(m), 1) = real(x(a, hex_side_point(:, plane%side(m))) - film%place, sp)
          if (plane%axis < 0) film%a(:, plane%at(m), 1) = real(x(a, :) - film%place, sp)
        end associate
      end do
    end do
  end subroutine FillPlaces

  !> Which film has the x of the points of a surface or volume; those of y and z follow.
  pure integer function FirstPlaces(self, plane) result(first)
    class(sem3d_t), intent(in) :: self
    type(plane_t), intent(in) :: plane
    do first = 1, size(self%film)
      if (self%film(first)%name == trim(merge('surface_x', 'volume_x ', plane%axis == 0))) exit
    end do
  end function FirstPlaces

  !> The points of the map.
  subroutine MapPlane(self, plane, error)
    class(sem3d_t), intent(inout) :: self
    type(plane_t), intent(out) :: plane
    type(error_t), allocatable, intent(inout) :: error
    if (OnTop(self)) then
      call MakePlane(self, 'top', plane, error)
    else
      call MakePlane(self, 'z'//Str(self%own%pgv_depth, 17), plane, error)
    end if
  end subroutine MapPlane

  !> This rank has the element.
  pure logical function Mine(self, element)
    class(sem3d_t), intent(in) :: self
    integer, intent(in) :: element
    Mine = element > 0
    if (Mine) Mine = self%cut%owner(element) == self%partners_mine()
  end function Mine

  !> The engine keeps the largest velocities at the points of the map that lie in the mesh.
  subroutine Watch(self, error)
    class(sem3d_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    type(sem3d_list_t), allocatable :: list(:)
    type(sem3d_place_t) :: place
    type(error_t), allocatable :: failed
    integer :: p, m, c, e
    call MapPlane(self, self%map_plane, error)
    if (allocated(error)) return
    associate (at => self%map_plane%element)
      self%map_number = pack([(p, p=1, size(at))], at > 0)
      self%map_number = pack(self%map_number, [(Mine(self, at(self%map_number(p))), p=1, size(self%map_number))])
    end associate
    self%map_points = size(self%map_number)
    if (self%map_points == 0) return
    allocate (list(self%map_points))
    !$omp parallel do private(p, c, e, place, failed) schedule(dynamic) num_threads(self%team%threads)
    do m = 1, size(list)
      p = self%map_number(m)
      e = self%map_plane%element(p)
      associate (xi => self%map_plane%xi(:, p))
        call Sem3dPlace(self%elements, self%meetings, e, xi, HexAt(self%elements%corner(:, :, e), xi), &
                        merge(0.0_dp, self%band(), e <= self%elements%solid), place)
      end associate
      if (self%grouped()) place%point = self%piece%place(place%point)
      do c = 1, 3
        call Sem3dRecord(list(m), place, 'v'//letters(c:c), failed)       ! fails of no velocity
      end do
    end do
    !$omp end parallel do
    call Join(list, self%last_recorded(), self%engine, error)
  end subroutine Watch

  !> The lists of all points in one.
  subroutine Join(list, last, engine, error)
    type(sem3d_list_t), intent(in) :: list(:)
    integer, intent(in) :: last
    class(sem3d_engine_t), intent(inout) :: engine
    type(error_t), allocatable, intent(inout) :: error
    type(sem3d_map_t) :: map
    integer(i8) :: total
    integer :: m, at, n, status
    total = sum(int(list%n, i8))
    if (total >= huge(1)) then
      call Fail(error, 'the map of ground velocity takes '//Str(real(total, dp), 3)//' weights, at most 2.1e9 can be: take '// &
                'fewer points (snapshot_dx)')
      return
    end if
    map%last = last
    allocate (map%start(3*size(list) + 1), map%field(total), map%point(total), map%w(total), stat=status)
    if (status /= 0) then
      call Fail(error, 'no memory for the '//Str(total)//' weights of the map of ground velocity: take fewer points (snapshot_dx)')
      return
    end if
    at = 0
    do m = 1, size(list)
      n = list(m)%n
      map%start(3*m - 2:3*m + 1) = at + list(m)%start
      map%field(at + 1:at + n) = list(m)%field
      map%point(at + 1:at + n) = list(m)%point
      map%w(at + 1:at + n) = list(m)%w
      at = at + n
    end do
    call engine%watch(map, error)
  end subroutine Join

  ! --- taking them -----------------------------------------------------------------------------------------------------------

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
    of_v = aimag(left)/real(left)/(2*acos(-1.0_dp)*self%scheme%fpeak)
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

  module procedure take_maps
    real(sp), allocatable :: map(:, :), whole(:)
    integer :: m
    if (self%grouped()) call GatherFilms(self, error)
    if (.not. self%own%pgv .or. allocated(error)) return
    allocate (map(self%map_points, maps), whole(self%nf(1)*self%nf(2)))
    if (self%map_points > 0) call self%engine%map(map, error)
    if (allocated(error)) return
    do m = 1, maps
      whole = film_missing
      whole(self%map_number) = scale(map(:, m), self%exponent2)
      self%film(self%films + m)%a(:, :, 1) = reshape(whole, self%nf(:2))
      if (self%grouped()) call GatherFilm(self, self%map_plane, self%film(self%films + m)%a(:, :, 1), error)
    end do
  end procedure take_maps

  !> Each rank has taken what it has of the pictures: they come to the rank that gathers.
  subroutine GatherFilms(self, error)
    class(sem3d_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    integer :: f, k, p, first
    do f = 1, self%films
      associate (plane => self%plane(self%frame(f)%plane))
        do k = 1, self%taken
          if (plane%axis > 0) call GatherFilm(self, plane, self%film(f)%a(:, :, k), error)
          if (plane%axis < 1) call GatherMesh(self, plane, self%film(f)%a(:, :, k), error)
        end do
      end associate
    end do
    do p = 1, size(self%plane)
      if (self%plane(p)%axis > 0) cycle
      first = FirstPlaces(self, self%plane(p))
      do f = first, first + 2
        call GatherMesh(self, self%plane(p), self%film(f)%a(:, :, 1), error)
      end do
    end do
  end subroutine GatherFilms

  !> A picture of regular points.
  subroutine GatherFilm(self, plane, a, error)
    class(sem3d_t), intent(inout) :: self
    type(plane_t), intent(in) :: plane
    real(sp), intent(inout) :: a(:, :)
    type(error_t), allocatable, intent(inout) :: error
    real(sp) :: picture(size(plane%owner))
    real(sp), allocatable :: got(:)
    integer, allocatable :: count(:)
    integer :: p, m, at
    if (allocated(error)) return
    picture = reshape(a, shape(picture))
    call self%partners%collect(pack(picture, plane%owner == self%piece%mine), got, count, error)
    if (allocated(error) .or. .not. self%gathers()) return
    at = 0
    do p = 1, self%partners%n
      do m = 1, size(picture)
        if (plane%owner(m) /= p) cycle
        at = at + 1
        picture(m) = got(at)
      end do
    end do
    a = reshape(picture, shape(a))
  end subroutine GatherFilm

  !> A picture of sides or elements: which they are of all, each as two numbers that a float holds, then their values.
  subroutine GatherMesh(self, plane, a, error)
    class(sem3d_t), intent(inout) :: self
    type(plane_t), intent(in) :: plane
    real(sp), intent(inout) :: a(:, :)
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: got(:), spots(:)
    integer, allocatable :: count(:)
    integer :: m, each
    if (allocated(error)) return
    each = size(a, 1)
    call self%partners%collect([real(plane%spot/split, sp), real(modulo(plane%spot, split), sp)], spots, count, error)
    if (.not. allocated(error)) &
      call self%partners%collect([(a(:, plane%at(m)), m=1, size(plane%at))], got, count, error)
    if (allocated(error) .or. .not. self%gathers()) return
    call PutMesh(each, count/each, spots, got, a)
  end subroutine GatherMesh

  !> Those of all ranks, of so many sides or elements each.
  pure subroutine PutMesh(each, n, spots, got, a)
    integer, intent(in) :: each, n(:)
    real(sp), intent(in) :: spots(:), got(:)
    real(sp), intent(inout) :: a(:, :)
    integer :: p, m, at
    at = 0
    do p = 1, size(n)
      do m = 1, n(p)
        a(:, split*nint(spots(2*at + m)) + nint(spots(2*at + n(p) + m))) = got(each*(at + m - 1) + 1:each*(at + m))
      end do
      at = at + n(p)
    end do
  end subroutine PutMesh

end submodule sem3d_films
