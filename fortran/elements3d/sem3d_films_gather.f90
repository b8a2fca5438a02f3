!> Reads the map of peak ground velocity; pictures of all ranks come to the one that gathers. Arguments stand in sem3d.f90.
submodule(sem3d_m) sem3d_films_gather
  use gather_m, only: film_missing
  implicit none

  integer, parameter :: split = 4096             !< a number of a side or an element in two parts, each of which a float holds

contains

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
    integer(i8), allocatable :: count(:)
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
    integer(i8), allocatable :: count(:)
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
    integer, intent(in) :: each
    integer(i8), intent(in) :: n(:)
    real(sp), intent(in) :: spots(:), got(:)
    real(sp), intent(inout) :: a(:, :)
    integer(i8) :: m, at
    integer :: p
    at = 0
    do p = 1, size(n)
      do m = 1, n(p)
        a(:, split*nint(spots(2*at + m)) + nint(spots(2*at + n(p) + m))) = got(each*(at + m - 1) + 1:each*(at + m))
      end do
      at = at + n(p)
    end do
  end subroutine PutMesh

end submodule sem3d_films_gather
