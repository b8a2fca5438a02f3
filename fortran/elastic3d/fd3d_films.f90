!> Pictures of a 3D shot: planes of fields every so many steps, and the map of peak ground velocity.
!>
!> On the top and in the map all velocities are those of one point, in the centre of a cell's upper face, as a receiver there
!> records them (fd3d_map.f90); the top is the ground: where there is air, the uppermost cells below it. In other planes each
!> velocity is taken as it stands in its cell, half a cell off the centre. Pressure is that of cells, half a time step after the
!> velocities; where each has one mechanism of attenuation, of rock it is the mean over cells around that a receiver takes.
submodule(fd3d_m) fd3d_films
  use checked_m, only: Below, Whole
  use fd3d_engine_m, only: field_vx, side_periodic
  use fd3d_map_m, only: Fd3dMapNew, Fd3dMapShare
  use fd3d_moduli_m, only: Fd3dCell
  use fd3d_pieces_m, only: Fd3dTouches
  use fd3d_point_lists_m, only: Fd3dRead
  use sinc_m, only: sinc_nodes
  use textfile_m, only: NumberOf
  implicit none

  real(sp), parameter :: alike = 1.05_sp          !< moduli of neighbours, one over the other: more is a contact

contains

  module procedure make_pictures
    character(32), allocatable :: planes(:), fields(:)
    type(frame_t) :: frame
    integer :: p, f, cells(3)
    logical :: hills
    cells = [window%nx, window%ny, window%nz]
    if (allocated(self%film)) deallocate (self%film)
    if (allocated(self%frame)) deallocate (self%frame)
    allocate (self%frame(0))
    call self%plan_pictures()
    call FindGround(self, error)
    if (allocated(error)) return
    associate (s => self%scheme)
      self%nf = (cells - 1)/s%snapshot_step + 1
      if (s%snapshot > 0) then
        allocate (planes, source=SplitList(self%own%planes))
        allocate (fields, source=SplitList(self%own%fields))
        self%films = size(planes)*size(fields)
      end if
      hills = GroundHasHills(self) .and. self%own%pgv .and. OnTop(self)
      if (self%films > 0) hills = hills .or. (GroundHasHills(self) .and. any(planes == 'top'))
      allocate (self%film(self%films + merge(maps, 0, self%own%pgv) + merge(1, 0, hills)))
      if (self%films > 0) then
        do p = 1, size(planes)
          do f = 1, size(fields)
            call ReadPlane(self, trim(planes(p)), cells, frame, error)
            call ReadField(trim(fields(f)), frame, error)
            if (.not. allocated(error)) call FindEven(self, window, frame, error)
            if (allocated(error)) return
            self%frame = [self%frame, frame]
            call NewFilm(self, frame, trim(fields(f)), self%film(size(self%frame)))
          end do
        end do
      end if
      if (self%own%pgv) then
        call MapFilm(self, 'pgv_horizontal', 'largest horizontal velocity', self%film(self%films + 1))
        call MapFilm(self, 'pgv_vertical', 'largest vertical velocity', self%film(self%films + 2))
        call MapFilm(self, 'pgv_vector', 'largest velocity in any direction', self%film(self%films + maps))
      end if
      if (hills) call HillFilm(self, self%film(size(self%film)))
    end associate
    call FindPoints(self, error)
    if (allocated(error)) return
    call self%room_for_films('snapshot_step', error)
    if (hills .and. .not. allocated(error)) self%film(size(self%film))%a(:, :, 1) = GroundDepth(self)
  end procedure make_pictures

  !> The uppermost row of each column that is not air; of a column of nothing else the top.
  subroutine FindGround(self, error)
    class(fd3d_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    real(dp), allocatable :: above(:)                         ! rows of the grid from the ground of each column downwards
    real(dp) :: air(1)
    integer(i8) :: at
    integer :: i, j, k, away(3)
    if (allocated(self%ground)) deallocate (self%ground)
    air = merge(1, 0, self%air)
    call OverAll(self, 'largest', air, error)
    if (allocated(error) .or. .not. air(1) > 0) return
    allocate (above(int(self%whole%n(1), i8)*self%whole%n(2)), source=0.0_dp)
    away = self%around%first - 1
    do j = 1, self%around%n(2)
      do i = 1, self%around%n(1)
        at = i + away(1) + int(self%whole%n(1), i8)*(j + away(2) - 1)
        do k = max(1, self%pad(3) + 1 - away(3)), self%around%n(3)
          if (self%air) then                                  ! else all here is rock or fluid, and its density not kept
            if (.not. self%rho(i, j, k) > 0) cycle
          end if
          above(at) = self%whole%n(3) - (k + away(3)) + 1
          exit
        end do
      end do
    end do
    call OverAll(self, 'largest', above, error)
    if (allocated(error)) return
    where (.not. above > 0) above = self%whole%n(3) - self%pad(3)
    self%ground = reshape(self%whole%n(3) + 1 - Whole(above), self%whole%n(:2))
  end subroutine FindGround

  !> Finds the points of a film of pressure that are rock as far as the weights of a mean over mechanisms reach. Across a contact
  !> pressure jumps, and a mean is farther off than the mechanism of a cell. In fluids none relaxes.
  subroutine FindEven(self, window, frame, error)
    class(fd3d_t), intent(inout) :: self
    type(window_t), intent(in) :: window
    type(frame_t), intent(inout) :: frame
    type(error_t), allocatable, intent(inout) :: error
    real(dp), allocatable :: flag(:)
    integer :: across(2), a, b, cell(3)
    if (allocated(frame%even)) deallocate (frame%even)
    if (frame%field /= pressure .or. .not. self%whole%even .or. (frame%top .and. allocated(self%ground))) return
    across = pack([1, 2, 3], [1, 2, 3] /= frame%axis)
    associate (n => self%nf(across), step => self%scheme%snapshot_step, piece => self%piece)
      allocate (flag(n(1)*n(2)), source=0.0_dp)
      !$omp parallel do private(a, cell) num_threads(self%around%threads)
      do b = 1, n(2)
        do a = 1, n(1)
          cell(frame%axis) = frame%index
          cell(across) = self%pad(across) + 1 + ([a, b] - 1)*step
          if (any(cell < piece%first .or. cell >= piece%first + piece%n)) cycle
          if (AllAlike(self, window, cell)) flag(a + n(1)*(b - 1)) = 1
        end do
      end do
      !$omp end parallel do
      call OverAll(self, 'largest', flag, error)
      if (any(flag > 0)) frame%even = reshape(flag > 0, [n(1), n(2)])
    end associate
  end subroutine FindEven

  !> True of a cell from which along all axes neighbours are rock of much the same moduli.
  pure logical function AllAlike(self, window, cell)
    class(fd3d_t), intent(in) :: self
    type(window_t), intent(in) :: window
    integer, intent(in) :: cell(3)
    integer :: axis, c, at(3)
    real(sp) :: rho, moduli(2), before(2)
    AllAlike = .false.
    do axis = 1, 3
      before = 0
      do c = cell(axis) - sinc_nodes/2, cell(axis) + sinc_nodes/2
        at = cell
        at(axis) = c
        if (self%whole%side(2*axis) == side_periodic) at(axis) = 1 + modulo(c - 1, self%whole%n(axis))
        if (axis == 3 .and. c < 1 .and. self%whole%side(5) == side_free) cycle
        if (at(axis) < 1 .or. at(axis) > self%whole%n(axis)) return
        call Fd3dCell(self%moduli, window, at - self%around%first + 1, rho, moduli(1), moduli(2))
        moduli(1) = moduli(1) + 2*moduli(2)
        if (.not. moduli(2) > 0) return
        if (all(before > 0) .and. any(max(moduli, before) > alike*min(moduli, before))) return
        before = moduli
      end do
    end do
    AllAlike = .true.
  end function AllAlike

  !> True if the maps are of the top, not of a plane.
  pure logical function OnTop(self)
    class(fd3d_t), intent(in) :: self
    OnTop = self%own%pgv_depth <= self%corner(3) + self%pad(3)*self%grid%d(3)
  end function OnTop

  !> The depth of the ground at the points of maps and films [m].
  pure function GroundDepth(self) result(depth)
    class(fd3d_t), intent(in) :: self
    real(sp), allocatable :: depth(:, :)
    integer :: lo(2), hi(2)
    associate (step => self%scheme%snapshot_step)
      lo = self%pad(:2) + 1
      hi = lo + (self%nf(:2) - 1)*step
      depth = real(self%corner(3) + (self%ground(lo(1):hi(1):step, lo(2):hi(2):step) - 1)*self%grid%d(3), sp)
    end associate
  end function GroundDepth

  !> True if the ground is not level.
  pure logical function GroundHasHills(self)
    class(fd3d_t), intent(in) :: self
    GroundHasHills = .false.
    if (allocated(self%ground)) GroundHasHills = any(self%ground /= self%ground(1, 1))
  end function GroundHasHills

  !> Points of the map and of the films of the top, and how all velocities are read there.
  subroutine FindPoints(self, error)
    class(fd3d_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    type(fd3d_map_t) :: points
    integer, allocatable :: number(:)
    integer :: row
    real(dp) :: cells
    if (self%own%pgv .and. .not. OnTop(self)) then
      cells = (self%own%pgv_depth - self%corner(3))/self%grid%d(3)
      row = Whole(Below(cells) + 1, 1, self%whole%n(3))
      call NewPoints(self, row, cells - (row - 1), points, number, error)
    else if (self%own%pgv) then
      call NewPoints(self, 0, 0.0_dp, points, number, error)
    end if
    points%last = self%last_recorded()
    if (allocated(self%map_shared)) deallocate (self%map_shared)
    if (.not. allocated(error)) call Watch(self, points, number, error)
    self%top = fd3d_map_t()
    if (allocated(error) .or. .not. any(self%frame%top .and. self%frame%field /= pressure)) return
    if (self%own%pgv .and. OnTop(self)) then
      self%top = points
      self%top_number = number
    else
      call NewPoints(self, 0, 0.0_dp, self%top, self%top_number, error)
    end if
  end subroutine FindPoints

  !> The engine keeps the largest at points whose cells are all in this rank's piece. Others become receivers, three each, whose
  !> samples come home with the map.
  subroutine Watch(self, points, number, error)
    class(fd3d_t), intent(inout) :: self
    type(fd3d_map_t), intent(in) :: points
    integer, allocatable, intent(in) :: number(:)
    type(error_t), allocatable, intent(inout) :: error
    type(fd3d_map_t) :: own
    real(dp), allocatable :: flag(:)
    integer, allocatable :: kept(:), shared(:)
    integer :: p
    if (.not. (self%grouped() .and. self%own%pgv)) then
      call self%engine%watch(points, error)
      return
    end if
    call Fd3dMapShare(points, self%around, self%piece, own, kept, shared)
    associate (margin => self%piece%first - self%grid%first)
      own%i = margin(1) + own%i
      own%j = margin(2) + own%j
      own%k = margin(3) + own%k
    end associate
    if (size(kept) == 0) own = fd3d_map_t()
    call self%engine%watch(own, error)
    self%map_number = number(kept)
    allocate (flag(self%nf(1)*self%nf(2)), source=0.0_dp)
    flag(number(shared)) = 1
    call OverAll(self, 'largest', flag, error)
    if (allocated(error)) return
    self%map_shared = pack([(p, p=1, size(flag))], flag > 0)
    self%receivers = self%records%receivers
    call ReadShared(self, points, number(shared), shared)
    call GiveReceivers(self, error)
  end subroutine Watch

  !> Adds the points number(:) of the map, points at(:) of the list, to the receivers, and nothing for other shared points.
  subroutine ReadShared(self, points, number, at)
    class(fd3d_t), intent(inout) :: self
    type(fd3d_map_t), intent(in) :: points
    integer, intent(in) :: number(:), at(:)
    integer :: q, p, c, m, first, last, which(self%nf(1)*self%nf(2))
    which = 0
    which(number) = at
    associate (t => points)
      do q = 1, size(self%map_shared)
        p = which(self%map_shared(q))
        do c = 1, 3
          first = 1
          last = 0
          if (p > 0) first = t%start(3*(t%stencil(p) - 1) + c)
          if (p > 0) last = t%start(3*(t%stencil(p) - 1) + c + 1) - 1
          call Fd3dRead(self%records, field_vx + c - 1, &
                        reshape([(t%i(p) + t%di(m), t%j(p) + t%dj(m), t%k(p) + t%dk(m), m=first, last)], &
                                [3, last - first + 1]), t%w(first:last))
        end do
      end do
    end associate
  end subroutine ReadShared

  !> Points that pictures show, `below` cells under the upper faces of a row of cells; row 0: of the top. Of a grid in pieces only
  !> those that touch this rank's. Their cells are counted in the box around it; `number`: which they are of all.
  subroutine NewPoints(self, row, below, points, number, error)
    class(fd3d_t), intent(inout), target :: self
    integer, intent(in) :: row
    real(dp), intent(in) :: below
    type(fd3d_map_t), intent(out) :: points
    integer, allocatable, intent(out) :: number(:)
    type(error_t), allocatable, intent(inout) :: error
    integer, allocatable :: cell(:, :)
    integer :: a, b, m
    allocate (cell(3, self%nf(1)*self%nf(2)))
    m = 0
    do b = 1, self%nf(2)
      do a = 1, self%nf(1)
        m = m + 1
        cell(:2, m) = self%pad(:2) + 1 + ([a, b] - 1)*self%scheme%snapshot_step
        cell(3, m) = row
        if (row > 0) cycle
        cell(3, m) = self%pad(3) + 1
        if (allocated(self%ground)) cell(3, m) = self%ground(cell(1, m), cell(2, m))
      end do
    end do
    number = pack([(m, m=1, size(cell, 2))], [(Fd3dTouches(self%piece, self%around, (cell(:, m) - 0.5_dp)*self%grid%d), &
                                               m=1, size(cell, 2))])
    associate (f => self%around%first - 1)
      call Fd3dMapNew(points, self%around, cell(1, number) - f(1), cell(2, number) - f(2), cell(3, number) - f(3), below, error, &
                      self%rho, self%mu)
    end associate
  end subroutine NewPoints

  !> 'top', 'x1200': axis and cell of the grid.
  subroutine ReadPlane(self, word, window, frame, error)
    class(fd3d_t), intent(in) :: self
    character(*), intent(in) :: word
    integer, intent(in) :: window(3)
    type(frame_t), intent(inout) :: frame
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: place
    logical :: ok
    frame%axis = 3
    frame%index = self%pad(3) + 1
    frame%top = word == 'top'
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

  !> A film without its pictures. Different cells have different names, whatever the spacing.
  subroutine NewFilm(self, frame, field, film)
    class(fd3d_t), intent(in) :: self
    type(frame_t), intent(in) :: frame
    character(*), intent(in) :: field
    type(film_t), intent(inout) :: film
    character(*), parameter :: letters = 'xyz'
    character :: axis, along
    real(dp) :: parts                         ! of a metre that the name counts in
    axis = letters(frame%axis:frame%axis)
    along = field(len(field):)
    film%axis = frame%axis
    film%place = self%corner(frame%axis) + (frame%index - 0.5_dp)*self%grid%d(frame%axis)
    film%n = pack(self%nf, [1, 2, 3] /= frame%axis)
    film%nt = self%pictures
    film%unit = trim(merge('Pa   ', 'm s-1', field == 'p'))
    film%about = 'pressure in the '
    if (field /= 'p') film%about = 'velocity v'//along//' '
    if (frame%top) then
      film%name = field//'_top'
      if (field == 'p') then
        film%about = film%about//'uppermost cells'
        if (allocated(self%ground)) film%about = film%about//' below the air'
      else
        film%place = TopDepth(self)
        film%about = film%about//TopText(self)
      end if
      return
    end if
    parts = merge(1.0_dp, 1000.0_dp, self%grid%d(frame%axis) >= 1)
    film%name = field//'_'//axis//trim(merge('m', ' ', film%place < 0))//Str(nint(parts*abs(film%place), i8))
    if (parts > 1) film%name = film%name//'mm'
    if (field == 'p') then
      film%about = film%about//'plane '//axis//' = '//Str(film%place, 9)//' m'
    else if (along == axis) then
      film%about = film%about//'in the plane '//axis//' = '//Str(film%place - 0.5_dp*self%grid%d(frame%axis), 9)// &
                   ' m, where it stands in the cells of '//axis//' = '//Str(film%place, 9)//' m'
    else
      film%about = film%about//'in the plane '//axis//' = '//Str(film%place, 9)//' m, where it stands in the cells: '// &
                   Str(0.5_dp*self%grid%d(index(letters, along)), 9)//' m before their centres along '//along
    end if
  end subroutine NewFilm

  !> Depth of the top [m]; where it has hills, of the highest.
  pure real(dp) function TopDepth(self) result(depth)
    class(fd3d_t), intent(in) :: self
    integer :: row
    row = self%pad(3) + 1
    if (allocated(self%ground)) row = minval(self%ground)
    depth = self%corner(3) + (row - 1)*self%grid%d(3)
  end function TopDepth

  pure function TopText(self) result(text)
    class(fd3d_t), intent(in) :: self
    character(:), allocatable :: text
    text = 'at the top, z = '//Str(TopDepth(self), 9)//' m'
    if (allocated(self%ground)) text = 'of the ground below the air, z = '//Str(TopDepth(self), 9)//' m'
    if (GroundHasHills(self)) text = 'of the ground below the air, on the upper faces of its cells'
  end function TopText

  subroutine MapFilm(self, name, about, film)
    class(fd3d_t), intent(in) :: self
    character(*), intent(in) :: name, about
    type(film_t), intent(inout) :: film
    film%name = name
    film%unit = 'm s-1'
    film%axis = 3
    film%n = self%nf(:2)
    if (OnTop(self)) then
      film%place = TopDepth(self)
      film%about = about//' '//TopText(self)
    else
      film%place = self%own%pgv_depth
      film%about = about//' in the plane z = '//Str(film%place, 9)//' m'
    end if
  end subroutine MapFilm

  !> The map of the depths of points on hills.
  subroutine HillFilm(self, film)
    class(fd3d_t), intent(in) :: self
    type(film_t), intent(inout) :: film
    film%name = 'ground'
    film%about = 'depth of the ground, the upper faces of its cells, where its velocities are taken'
    film%unit = 'm'
    film%axis = 3
    film%n = self%nf(:2)
    film%place = TopDepth(self)
  end subroutine HillFilm

end submodule fd3d_films
