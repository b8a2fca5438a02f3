!> Plans the pictures of a shot on elements: planes of fields at regular points, every so many steps; all points of the free sides
!> or of all elements; and the map of peak ground velocity. Arguments stand in sem3d.f90.
!>
!> The top is the ground: where a vertical line first meets the mesh. Points where there is no mesh have the missing value. Values
!> of the map's points in a fluid, where a velocity is a gradient, are those of a receiver there.
submodule(sem3d_m) sem3d_films
  use elements_m, only: face_free, on_face
  use elements_pictures_m, only: PictureName, PicturePlane, PicturePoints
  use gather_m, only: film_missing, film_t
  use hexahedron_m, only: hex_side_point, HexAt, HexPoints
  use parameter_table_m, only: SplitList
  use sem3d_components_m, only: Sem3dPlace, Sem3dRecord
  use sem3d_engine_m, only: sem3d_map_t
  implicit none

contains

  module procedure make_pictures
    type(plane_t) :: ground
    real(sp), allocatable :: depth(:, :)
    integer :: p
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
    if (self%every > 0) call FieldFilms(self, error)
    if (allocated(error)) return
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

  !> A film of each field at each plane.
  subroutine FieldFilms(self, error)
    class(sem3d_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    character(32), allocatable :: planes(:), fields(:)
    integer :: p, f
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
  end subroutine FieldFilms

  module procedure MapElements
    type(plane_t) :: plane
    allocate (inside(self%elements%n), source=.false.)
    if (.not. self%own%pgv) return
    call PicturePoints(window, self%own%spacing, self%first_point, self%nf)
    call MapPlane(self, plane, error)
    if (.not. allocated(error)) inside(pack(plane%element, plane%element > self%elements%solid)) = .true.
  end procedure MapElements

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

  module procedure FirstPlaces
    do first = 1, size(self%film)
      if (self%film(first)%name == trim(merge('surface_x', 'volume_x ', plane%axis == 0))) exit
    end do
  end procedure FirstPlaces

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

  module procedure Mine
    Mine = element > 0
    if (Mine) Mine = self%cut%owner(element) == self%partners_mine()
  end procedure Mine

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
      map%start(3*m - 2:3*m + 1) = at + list(m)%start(:4)
      map%field(at + 1:at + n) = list(m)%field(:n)
      map%point(at + 1:at + n) = list(m)%point(:n)
      map%w(at + 1:at + n) = list(m)%w(:n)
      at = at + n
    end do
    call engine%watch(map, error)
  end subroutine Join

end submodule sem3d_films
