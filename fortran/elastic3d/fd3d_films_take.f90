!> Takes the pictures of a 3D shot that fd3d_films.f90 has planned: planes of fields, and the map when all steps are done. Arguments
!> stand in fd3d.f90.
submodule(fd3d_m) fd3d_films_take
  use fd3d_engine_m, only: field_sxx, field_vx
  use fd3d_map_m, only: Fd3dLevels
  use fd3d_point_lists_m, only: Fd3dEven
  use receiver_sum_m, only: receiver_parts, receiver_sum_t, ReceiverAdd, ReceiverPart
  use sinc_m, only: sinc_nodes
  implicit none

contains

  module procedure FilmsTake
    real(sp), allocatable :: plane(:, :)
    integer :: f, across(2)
    self%taken = self%taken + 1
    do f = 1, self%films
      associate (frame => self%frame(f), film => self%film(f))
        across = pack([1, 2, 3], [1, 2, 3] /= frame%axis)
        if (allocated(plane)) deallocate (plane)
        allocate (plane(self%whole%n(across(1)), self%whole%n(across(2))))
        if (frame%top .and. frame%field /= pressure) then
          call AtTop(self, frame%field, film%a(:, :, self%taken), error)
          if (allocated(error)) return
          cycle
        end if
        if (frame%field /= pressure) then
          call Section(self, frame, frame%field, plane, error)
        else
          call PressureOf(self, frame, plane, error)
        end if
        if (allocated(error)) return
        film%a(:, :, self%taken) = Thinned(self, plane, across)
        if (allocated(frame%even)) call ByAllMechanisms(self, frame, across, film%a(:, :, self%taken), error)
        if (allocated(error)) return
      end associate
    end do
  end procedure FilmsTake

  !> Pressure of the cells of a plane.
  subroutine PressureOf(self, frame, plane, error)
    class(fd3d_t), intent(inout) :: self
    type(frame_t), intent(in) :: frame
    real(sp), intent(inout) :: plane(:, :)
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: part(:, :)
    integer :: c
    allocate (part, source=plane)
    plane = 0
    do c = 0, 2
      call Section(self, frame, field_sxx + c, part, error)
      if (allocated(error)) return
      plane = plane - part/3
    end do
  end subroutine PressureOf

  !> Gives points of rock the mean of the pressure around them that a receiver in the middle of a cell would take, in true units.
  subroutine ByAllMechanisms(self, frame, across, out, error)
    class(fd3d_t), intent(inout) :: self
    type(frame_t), intent(in) :: frame
    integer, intent(in) :: across(2)
    real(sp), intent(inout) :: out(:, :)
    type(error_t), allocatable, intent(inout) :: error
    type(frame_t) :: one
    real(dp), allocatable :: mean(:, :)
    real(sp), allocatable :: plane(:, :)
    real(dp) :: w(sinc_nodes), u(sinc_nodes, size(out, 1)), v(sinc_nodes)
    integer :: node(sinc_nodes), i(sinc_nodes, size(out, 1)), j(sinc_nodes), m, a, b
    allocate (mean(self%whole%n(across(1)), self%whole%n(across(2))), source=0.0_dp)
    allocate (plane(size(mean, 1), size(mean, 2)), source=0.0_sp)
    call Fd3dEven(self%whole, frame%axis, frame%index, node, w)
    one = frame_t(axis=frame%axis)
    do m = 1, sinc_nodes
      if (.not. abs(w(m)) > 0) cycle
      one%index = node(m)
      call PressureOf(self, one, plane, error)
      if (allocated(error)) return
      mean = mean + w(m)*plane
    end do
    if (.not. self%gathers()) return
    do a = 1, size(out, 1)
      call Fd3dEven(self%whole, across(1), Cell(across(1), a), i(:, a), u(:, a))
    end do
    do b = 1, size(out, 2)
      if (.not. any(frame%even(:, b))) cycle
      call Fd3dEven(self%whole, across(2), Cell(across(2), b), j, v)
      do a = 1, size(out, 1)
        if (frame%even(a, b)) out(a, b) = scale(real(dot_product(u(:, a), matmul(mean(i(:, a), j), v)), sp), self%exponent2)
      end do
    end do

  contains

    !> The cell of the grid that the n-th point along an axis is.
    pure integer function Cell(axis, n)
      integer, intent(in) :: axis, n
      Cell = self%pad(axis) + 1 + (n - 1)*self%scheme%snapshot_step
    end function Cell
  end subroutine ByAllMechanisms

  !> A velocity at the points of the top, in true units. The cells of a point may lie in several pieces: each has a part of its sum.
  subroutine AtTop(self, field, out, error)
    class(fd3d_t), intent(inout) :: self
    integer, intent(in) :: field
    real(sp), intent(out) :: out(:, :)
    type(error_t), allocatable, intent(inout) :: error
    type(receiver_sum_t), allocatable :: sum(:)
    real(sp), allocatable :: all(:, :)
    integer :: p, m
    allocate (sum(size(self%top%i)))
    allocate (all(1, size(out)), source=0.0_sp)
    call SumsAtTop(self, field, sum, error)
    if (self%grouped()) then
      call Gathered(self, [((self%top_number(p), m=1, receiver_parts), p=1, size(sum))], &
                    [((m, m=1, receiver_parts), p=1, size(sum))], &
                    reshape([((ReceiverPart(sum(p), m), m=1, receiver_parts), p=1, size(sum))], [1, receiver_parts*size(sum)]), &
                    all, error)
    else
      all(1, self%top_number) = ReceiverPart(sum, 0)
    end if
    out = scale(reshape(all, shape(out)), self%exponent2)
  end subroutine AtTop

  !> Sums over the cells of this rank's piece at the points of the top.
  subroutine SumsAtTop(self, field, sum, error)
    class(fd3d_t), intent(inout) :: self
    integer, intent(in) :: field
    type(receiver_sum_t), intent(inout) :: sum(:)
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: rows(:, :, :)
    integer :: p, m, k, c, low, high, status, away(3), at(3), before(3), last(3)
    low = huge(1)
    high = 0
    away = self%grid%first - self%around%first
    before = self%piece%first - self%grid%first                ! cells of the margins, which others take
    last = before + self%piece%n
    associate (t => self%top, n => self%grid%n)
      do p = 1, size(t%i)
        c = 3*(t%stencil(p) - 1) + 1 + field - field_vx
        if (t%start(c) == t%start(c + 1)) cycle
        low = min(low, t%k(p) - away(3) + minval(t%dk(t%start(c):t%start(c + 1) - 1)))
        high = max(high, t%k(p) - away(3) + maxval(t%dk(t%start(c):t%start(c + 1) - 1)))
      end do
      low = max(low, before(3) + 1)
      high = min(high, last(3))
      allocate (rows(n(1), n(2), low:high), stat=status)
      if (status /= 0) then
        call Fail(error, 'no memory for the '//Str(high - low + 1)//' planes that a picture of the top is made of')
        return
      end if
      do k = low, high
        call self%engine%slice(field, 3, k, rows(:, :, k), error)
        if (allocated(error)) return
      end do
      do p = 1, size(t%i)
        c = 3*(t%stencil(p) - 1) + 1 + field - field_vx
        do m = t%start(c), t%start(c + 1) - 1
          at = [t%i(p) + t%di(m), t%j(p) + t%dj(m), t%k(p) + t%dk(m)] - away
          if (all(at > before .and. at <= last)) call ReceiverAdd(sum(p), real(t%w(m), dp)*rows(at(1), at(2), at(3)))
        end do
      end do
    end associate
  end subroutine SumsAtTop

  !> A field across an axis, or in the rows of the ground.
  subroutine Section(self, frame, field, plane, error)
    class(fd3d_t), intent(inout) :: self
    type(frame_t), intent(in) :: frame
    integer, intent(in) :: field
    real(sp), intent(inout) :: plane(:, :)
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: row(:, :)
    integer :: k
    if (allocated(error)) return
    if (.not. (frame%top .and. allocated(self%ground))) then
      call Slice(self, field, frame%axis, frame%index, plane, error)
      return
    end if
    allocate (row, mold=plane)
    do k = minval(self%ground), maxval(self%ground)
      if (.not. any(self%ground == k)) cycle
      call Slice(self, field, 3, k, row, error)
      if (allocated(error)) return
      where (self%ground == k) plane = row
    end do
  end subroutine Section

  !> The window's part of a plane of the grid, every so many cells, in true units.
  pure function Thinned(self, plane, across) result(out)
    class(fd3d_t), intent(in) :: self
    real(sp), intent(in) :: plane(:, :)
    integer, intent(in) :: across(2)
    real(sp), allocatable :: out(:, :)
    integer :: lo(2), hi(2), step
    step = self%scheme%snapshot_step
    lo = self%pad(across) + 1
    hi = lo + (self%nf(across) - 1)*step
    out = scale(plane(lo(1):hi(1):step, lo(2):hi(2):step), self%exponent2)
  end function Thinned

  module procedure take_maps
    real(sp), allocatable :: map(:, :)
    integer :: m
    if (.not. self%own%pgv .or. allocated(error)) return
    allocate (map(self%nf(1)*self%nf(2), maps))
    if (self%grouped()) then
      call TakePieces(self, map, error)
    else
      call self%engine%map(map, error)
    end if
    if (allocated(error) .or. .not. self%gathers()) return
    do m = 1, maps
      self%film(self%films + m)%a(:, :, 1) = reshape(scale(map(:, m), self%exponent2), self%nf(:2))
    end do
  end procedure take_maps

  !> The map of all pieces, and of the points between them.
  subroutine TakePieces(self, map, error)
    class(fd3d_t), intent(inout) :: self
    real(sp), intent(out) :: map(:, :)
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: mine(:, :), all(:, :)
    integer :: q, p
    allocate (mine(size(self%map_number), maps))
    if (size(mine) > 0) call self%engine%map(mine, error)
    allocate (all(maps, size(map, 1)), source=0.0_sp)
    call Gathered(self, self%map_number, [(0, q=1, size(self%map_number))], transpose(mine), all, error)
    call TakeShared(self, all, error)
    do p = 1, size(map, 1)
      map(p, :) = all(:, p)
    end do
  end subroutine TakePieces

  !> The largest at points whose cells lie in several pieces, from their samples, so many steps at a time.
  subroutine TakeShared(self, all, error)
    class(fd3d_t), intent(inout) :: self
    real(sp), intent(inout) :: all(:, :)
    type(error_t), allocatable, intent(inout) :: error
    integer, parameter :: at_once = 100
    real(sp), allocatable :: samples(:, :), v(:, :)
    integer, allocatable :: here(:)
    integer :: it, q, s, n, before
    before = self%receivers
    here = pack([(q, q=1, size(self%heard))], self%heard > before)
    do it = 1, min(self%last_recorded(), self%scheme%nt), at_once
      n = min(at_once, min(self%last_recorded(), self%scheme%nt) - it + 1)
      if (allocated(samples)) deallocate (samples, v)
      allocate (samples(n, size(self%heard)))
      allocate (v(n, 3*size(self%map_shared)), source=0.0_sp)
      if (.not. allocated(error)) call self%engine%traces(it, samples, error)
      call Gathered(self, self%heard(here) - before, self%part(here), samples(:, here), v, error)
      if (allocated(error)) return
      do q = 1, size(self%map_shared)
        do s = 1, n
          associate (at => all(:, self%map_shared(q)))
            at = max(at, Fd3dLevels(v(s, 3*q - 2:3*q)))
          end associate
        end do
      end do
    end do
  end subroutine TakeShared

end submodule fd3d_films_take
