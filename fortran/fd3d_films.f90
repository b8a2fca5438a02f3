!> Pictures of a 3D shot: planes of fields every so many steps, and the map of peak ground velocity. Each velocity is taken as it
!> stands in its cell, half a cell off the centre; pressure half a time step after the velocities. The top is the ground: where
!> there is air, the uppermost cells below it, whose velocities are freed of their lag (fd3d_ground.f90).
module fd3d_films_m
  use checked_m, only: Above, Below, Whole
  use error_m, only: error_t, Fail
  use fd3d_engine_m, only: field_sxx, field_vx, field_vz
  use fd3d_state_m, only: fd3d_state_t, frame_t
  use fd3d_ground_m, only: ground_rows, GroundLag
  use gather_m, only: film_t
  use kinds_m, only: dp, i8, sp
  use table_m, only: SplitList
  use text_m, only: Str
  use textfile_m, only: NumberOf
  implicit none
  private
  public :: FilmsPlan, FilmsNext, FilmsTake, FilmsMap

  integer, parameter :: pressure = -1
  real(dp), parameter :: numbers_most = 2.0e9_dp

contains

  !> Which pictures there will be of this shot; `window`: its cells.
  subroutine FilmsPlan(self, window, error)
    class(fd3d_state_t), intent(inout) :: self
    integer, intent(in) :: window(3)
    type(error_t), allocatable, intent(inout) :: error
    character(32), allocatable :: planes(:), fields(:)
    type(frame_t) :: frame
    real(dp) :: end_time
    integer :: p, f, status
    if (allocated(self%film)) deallocate (self%film)
    if (allocated(self%frame)) deallocate (self%frame)
    allocate (self%frame(0))
    self%every = 0
    self%films = 0
    self%pictures = 0
    call FindGround(self)
    associate (s => self%scheme)
      self%nf = (window - 1)/s%snapshot_step + 1
      if (s%snapshot > 0) then
        self%every = Whole(s%snapshot/s%dt, 1)
        self%first_picture = Whole(Above(-s%t_start/s%dt + 0.5_dp - 1e-9_dp), 1)
        end_time = (s%nt_out - 1)*s%dt_out
        self%pictures = max(0, (Whole(Below((end_time - s%t_start)/s%dt + 0.5_dp)) - self%first_picture)/self%every + 1)
        allocate (planes, source=SplitList(s%planes))
        allocate (fields, source=SplitList(s%fields))
        self%films = size(planes)*size(fields)
      end if
      allocate (self%film(self%films + merge(2, 0, s%pgv)))
      if (self%films > 0) then
        do p = 1, size(planes)
          do f = 1, size(fields)
            call ReadPlane(self, trim(planes(p)), window, frame, error)
            call ReadField(trim(fields(f)), frame, error)
            if (allocated(error)) return
            self%frame = [self%frame, frame]
            call NewFilm(self, frame, trim(fields(f)), planes(p) == 'top', self%film(size(self%frame)))
          end do
        end do
      end if
      if (s%pgv) then
        call MapFilm(self, window, 'pgv_horizontal', 'largest horizontal ground velocity', self%film(self%films + 1))
        call MapFilm(self, window, 'pgv_vertical', 'largest vertical ground velocity', self%film(self%films + 2))
      end if
      if (s%pgv .and. OnGround(self)) then
        call self%engine%watch_rows(self%ground, error)
      else
        call self%engine%watch(merge(MapRow(self, window), 0, s%pgv), error)
      end if
    end associate
    if (real(self%picture_size(), dp)*max(1, self%pictures) > numbers_most) then
      call Fail(error, Str(self%pictures)//' pictures of '//Str(self%picture_size())//' numbers are too large, at most 2e9: '// &
                'take fewer (snapshot) or coarser ones (snapshot_step)')
      return
    end if
    do p = 1, size(self%film)
      associate (film => self%film(p))
        allocate (film%a(film%n(1), film%n(2), max(1, film%nt)), source=0.0_sp, stat=status)
        if (status /= 0) call Fail(error, 'no memory for '//Str(film%nt)//' pictures of '//Str(film%n(1))//' x '//Str(film%n(2))// &
                                   ' cells: take fewer (snapshot) or coarser ones (snapshot_step)')
      end associate
    end do
  end subroutine FilmsPlan

  !> The uppermost row of each column that is not air; of a column of nothing else the top.
  subroutine FindGround(self)
    class(fd3d_state_t), intent(inout) :: self
    integer :: i, j, k
    if (allocated(self%ground)) deallocate (self%ground)
    if (all(self%rho > 0)) return
    allocate (self%ground(self%grid%n(1), self%grid%n(2)), source=self%pad(3) + 1)
    do j = 1, self%grid%n(2)
      do i = 1, self%grid%n(1)
        do k = self%pad(3) + 1, self%grid%n(3)
          if (.not. self%rho(i, j, k) > 0) cycle
          self%ground(i, j) = k
          exit
        end do
      end do
    end do
  end subroutine FindGround

  !> Whether the maps are of the ground, not of a plane.
  pure logical function OnGround(self)
    class(fd3d_state_t), intent(in) :: self
    OnGround = allocated(self%ground) .and. self%scheme%pgv_depth <= self%corner(3) + self%pad(3)*self%grid%d(3)
  end function OnGround

  !> What velocities of the ground are to be multiplied by; `along`: along it, where a fluid does not lag.
  pure function Lead(self, along) result(factor)
    class(fd3d_state_t), intent(in) :: self
    logical, intent(in) :: along
    real(sp) :: factor(self%grid%n(1), self%grid%n(2))
    real(dp) :: lag(ground_rows)
    integer :: i, j
    lag = GroundLag(self%grid)
    factor = 1
    do j = 1, self%grid%n(2)
      do i = 1, self%grid%n(1)
        associate (k => self%ground(i, j))
          if (self%rho(i, j, k - 1) > 0 .or. (along .and. .not. self%mu(i, j, k) > 0)) cycle
          factor(i, j) = real(1/lag(1), sp)
        end associate
      end do
    end do
  end function Lead

  !> 'top', 'x1200': axis and cell of the grid.
  subroutine ReadPlane(self, word, window, frame, error)
    class(fd3d_state_t), intent(in) :: self
    character(*), intent(in) :: word
    integer, intent(in) :: window(3)
    type(frame_t), intent(inout) :: frame
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: place
    logical :: ok
    frame%axis = 3
    frame%index = self%pad(3) + 1
    frame%ground = word == 'top' .and. allocated(self%ground)
    if (word == 'top') return
    frame%axis = index('xyz', word(1:1))
    call NumberOf(word(2:), place, ok)
    if (.not. ok .or. frame%axis == 0) then
      call Fail(error, "snapshot_planes holds '"//word//"': give top, or x, y or z and a place [m]")
      return
    end if
    frame%index = Whole(Below((place - self%corner(frame%axis))/self%grid%d(frame%axis)) + 1)
    if (frame%index <= self%pad(frame%axis) .or. frame%index > self%pad(frame%axis) + window(frame%axis)) &
      call Fail(error, "snapshot_planes: '"//word//"' lies outside the window of shot record "//Str(self%shot%record)//', '// &
                Str(self%corner(frame%axis) + self%pad(frame%axis)*self%grid%d(frame%axis), 9)//' .. '// &
                Str(self%corner(frame%axis) + (self%pad(frame%axis) + window(frame%axis))*self%grid%d(frame%axis), 9)//' m')
  end subroutine ReadPlane

  subroutine ReadField(word, frame, error)
    character(*), intent(in) :: word
    type(frame_t), intent(inout) :: frame
    type(error_t), allocatable, intent(inout) :: error
    select case (word)
    case ('vx', 'vy', 'vz')
      frame%field = field_vx + index('xyz', word(2:2)) - 1
    case ('p')
      frame%field = pressure
    case default
      call Fail(error, "snapshot_fields holds '"//word//"': give any of vx, vy, vz, p, joined by commas")
    end select
  end subroutine ReadField

  !> A film without its pictures; `top`: asked for as the top. Different cells have different names, whatever the spacing.
  subroutine NewFilm(self, frame, field, top, film)
    class(fd3d_state_t), intent(in) :: self
    type(frame_t), intent(in) :: frame
    character(*), intent(in) :: field
    logical, intent(in) :: top
    type(film_t), intent(inout) :: film
    character(*), parameter :: letters = 'xyz'
    real(dp) :: parts                         ! of a metre that the name counts in
    film%axis = frame%axis
    film%place = self%corner(frame%axis) + (frame%index - 0.5_dp)*self%grid%d(frame%axis)
    film%n = pack(self%nf, [1, 2, 3] /= frame%axis)
    film%nt = self%pictures
    film%unit = trim(merge('Pa   ', 'm s-1', field == 'p'))
    film%name = field//'_top'
    film%about = 'velocity v'//field(len(field):)//' in the uppermost cells'
    if (field == 'p') film%about = 'pressure in the uppermost cells'
    if (frame%ground) film%about = film%about//' below the air'
    if (top) return
    parts = merge(1.0_dp, 1000.0_dp, self%grid%d(frame%axis) >= 1)
    film%name = field//'_'//letters(frame%axis:frame%axis)//trim(merge('m', ' ', film%place < 0))// &
                Str(nint(parts*abs(film%place), i8))
    if (parts > 1) film%name = film%name//'mm'
    film%about = film%about(:index(film%about, ' in the'))//'in the plane '//letters(frame%axis:frame%axis)//' = '// &
                 Str(film%place, 9)//' m'
  end subroutine NewFilm

  !> The row of cells that the maps are of.
  pure integer function MapRow(self, window) result(k)
    class(fd3d_state_t), intent(in) :: self
    integer, intent(in) :: window(3)
    k = self%pad(3) + 1
    if (self%scheme%pgv_depth > self%corner(3) + self%pad(3)*self%grid%d(3)) &
      k = Whole(Below((self%scheme%pgv_depth - self%corner(3))/self%grid%d(3)) + 1, 1, self%pad(3) + window(3))
  end function MapRow

  subroutine MapFilm(self, window, name, about, film)
    class(fd3d_state_t), intent(in) :: self
    integer, intent(in) :: window(3)
    character(*), intent(in) :: name, about
    type(film_t), intent(inout) :: film
    film%name = name
    film%unit = 'm s-1'
    film%axis = 3
    film%n = self%nf(:2)
    film%place = self%corner(3) + (MapRow(self, window) - 0.5_dp)*self%grid%d(3)
    film%about = about//' in the cells at z = '//Str(film%place, 9)//' m'
    if (OnGround(self)) film%about = about//' in the uppermost cells below the air'
  end subroutine MapFilm

  !> The step after which the next picture is due; huge if none is.
  pure integer function FilmsNext(self) result(step)
    class(fd3d_state_t), intent(in) :: self
    step = huge(step)
    if (self%every > 0 .and. self%taken < self%pictures) step = self%first_picture + self%taken*self%every
  end function FilmsNext

  !> Takes the picture that is due.
  subroutine FilmsTake(self, error)
    class(fd3d_state_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: plane(:, :), part(:, :)
    integer :: f, c, across(2)
    self%taken = self%taken + 1
    do f = 1, self%films
      associate (frame => self%frame(f), film => self%film(f))
        across = pack([1, 2, 3], [1, 2, 3] /= frame%axis)
        if (allocated(plane)) deallocate (plane)
        allocate (plane(self%grid%n(across(1)), self%grid%n(across(2))))
        if (frame%field /= pressure) then
          call Section(self, frame, frame%field, plane, error)
          if (frame%ground) plane = plane*Lead(self, frame%field /= field_vz)
        else
          part = plane
          plane = 0
          do c = 0, 2
            call Section(self, frame, field_sxx + c, part, error)
            if (allocated(error)) return
            plane = plane - part/3
          end do
        end if
        if (allocated(error)) return
        film%a(:, :, self%taken) = Thinned(self, plane, across)
      end associate
    end do
  end subroutine FilmsTake

  !> A field across an axis, or in the rows of the ground.
  subroutine Section(self, frame, field, plane, error)
    class(fd3d_state_t), intent(inout) :: self
    type(frame_t), intent(in) :: frame
    integer, intent(in) :: field
    real(sp), intent(inout) :: plane(:, :)
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: row(:, :)
    integer :: k
    if (allocated(error)) return
    if (.not. frame%ground) then
      call self%engine%slice(field, frame%axis, frame%index, plane, error)
      return
    end if
    allocate (row, mold=plane)
    do k = minval(self%ground), maxval(self%ground)
      if (.not. any(self%ground == k)) cycle
      call self%engine%slice(field, 3, k, row, error)
      if (allocated(error)) return
      where (self%ground == k) plane = row
    end do
  end subroutine Section

  !> The window's part of a plane of the grid, every so many cells, in true units.
  pure function Thinned(self, plane, across) result(out)
    class(fd3d_state_t), intent(in) :: self
    real(sp), intent(in) :: plane(:, :)
    integer, intent(in) :: across(2)
    real(sp), allocatable :: out(:, :)
    integer :: lo(2), hi(2), step
    step = self%scheme%snapshot_step
    lo = self%pad(across) + 1
    hi = lo + (self%nf(across) - 1)*step
    out = scale(plane(lo(1):hi(1):step, lo(2):hi(2):step), self%exponent2)
  end function Thinned

  !> The maps, after the last step.
  subroutine FilmsMap(self, error)
    class(fd3d_state_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: map(:, :, :)
    integer :: f, m
    if (.not. self%scheme%pgv .or. allocated(error)) return
    allocate (map(self%grid%n(1), self%grid%n(2), 2))
    call self%engine%map(map, error)
    if (allocated(error)) return
    if (OnGround(self)) then
      map(:, :, 1) = map(:, :, 1)*Lead(self, .true.)
      map(:, :, 2) = map(:, :, 2)*Lead(self, .false.)
    end if
    do m = 1, 2
      f = self%films + m
      self%film(f)%a(:, :, 1) = Thinned(self, map(:, :, m), [1, 2])
    end do
  end subroutine FilmsMap

end module fd3d_films_m
