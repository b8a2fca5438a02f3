!> Places of sources, receivers and pictures in the mesh. Arguments stand in sem3d.f90.
!>
!> Where ranks share the mesh each looks in its share, and together they take the element that one rank would: the first that has
!> the place, else the one that almost has it; of the ground the uppermost. The rank whose piece has the element finds points and
!> weights around it, all of which are in its share, and tells the others, by element of the whole mesh and point in it.
submodule(sem3d_m) sem3d_places
  use element_finder_m, only: FinderFind, FinderInside, rounding
  use elements_share_m, only: ShareHas
  use hexahedron_m, only: HexAt
  use mesh_ground_m, only: from_seafloor, from_surface, GroundAt, GroundEnds, GroundMake
  use sem3d_components_m, only: place_points, Sem3dPlace
  use sort_m, only: SortFind, SortOrder
  implicit none

  real(dp), parameter :: none = -huge(1.0_dp)
  integer, parameter :: begin = 49               !< numbers of a place before those of its points, ...
  integer, parameter :: each = 10                !< and of each point: element, number in it, weights
  integer, parameter :: at_once = 2**20          !< numbers that all ranks tell each other at a time, unless one place has more

contains

  module procedure FindPlaces
    real(dp), dimension(size(e)) :: off, depth
    real(dp) :: place(3, size(e)), flat(3*size(e))
    integer :: owner(size(e)), i
    place = asked
    if (from == from_seafloor .and. .not. allocated(self%seafloor%side)) call MakeGround(self, .true., self%seafloor, error)
    if (allocated(error)) return
    if (from == from_surface) call Uppermost(self, self%surface, place, e, xi, owner, depth, error)
    if (from == from_seafloor) call Uppermost(self, self%seafloor, place, e, xi, owner, depth, error)
    if (allocated(error)) return
    if (from == from_surface .or. from == from_seafloor) then
      i = findloc(owner, 0, 1)
      if (i > 0) call Fail(error, Named(i)//' m lies beside the ground that its depth counts from')
      if (allocated(error)) return
      place(3, :) = depth + place(3, :)
    end if
    do i = 1, size(e)
      call FinderInside(self%finder, self%elements%corner, place(:, i), e(i), xi(:, i), off(i))
    end do
    call Choose(self, e, off, owner, error)
    if (allocated(error)) return
    if (any(owner == 0)) then
      call Outside(findloc(owner, 0, 1))
      return
    end if
    used = 0
    do i = 1, size(e)
      if (owner(i) /= self%partners_mine()) e(i) = 0
      if (e(i) > 0) used(:, i) = HexAt(self%elements%corner(:, :, e(i)), xi(:, i))
    end do
    flat = reshape(used, [size(used)])
    call OfAll(self, flat, error)
    used = reshape(flat, shape(used))

  contains

    function Named(i) result(words)
      integer, intent(in) :: i
      character(:), allocatable :: words
      words = what
      if (what == 'receiver') words = words//' '//Str(i)
      words = words//' of shot record '//Str(self%shot%record)//' at x = '//Str(asked(1, i), 9)//', y = '//Str(asked(2, i), 9)
    end function Named

    !> How far away the mesh is.
    subroutine Outside(i)
      integer, intent(in) :: i
      real(dp) :: away(1), there(3)
      integer :: nearest
      call FinderFind(self%finder, self%elements%corner, place(:, i), nearest, there, away(1))
      away = -away
      call Largest(self, away, error)
      if (.not. allocated(error)) call Fail(error, Named(i)//', z = '//Str(asked(3, i), 9)//' m lies '//Str(-away(1), 4)// &
                                            ' m outside of the mesh')
    end subroutine Outside
  end procedure FindPlaces

  module procedure FindPoints
    real(dp) :: off(size(x, 2))
    integer :: m
    if (allocated(plane%element)) deallocate (plane%element, plane%xi, plane%owner)
    allocate (plane%element(size(x, 2)), plane%owner(size(x, 2)), plane%xi(3, size(x, 2)))
    depth = 0
    if (top) then
      call Uppermost(self, self%surface, x, plane%element, plane%xi, plane%owner, depth, error)
      return
    end if
    !$omp parallel do schedule(dynamic, 64) num_threads(self%team%threads)
    do m = 1, size(x, 2)
      call FinderInside(self%finder, self%elements%corner, x(:, m), plane%element(m), plane%xi(:, m), off(m))
    end do
    !$omp end parallel do
    call Choose(self, plane%element, off, plane%owner, error)
  end procedure FindPoints

  !> Of the elements that ranks have found for places, 0: none, off by so much of half an element, each rank keeps the one that the
  !> whole mesh would have found where it is in its share; owner: its piece, 0: no rank has found any.
  subroutine Choose(self, e, off, owner, error)
    class(sem3d_t), intent(inout) :: self
    integer, intent(inout) :: e(:)
    real(dp), intent(in) :: off(:)
    integer, intent(out) :: owner(:)
    type(error_t), allocatable, intent(inout) :: error
    real(dp), allocatable :: number(:), nearest(:), some(:)
    integer, allocatable :: left(:)
    integer :: i
    owner = merge(1, 0, e > 0)
    if (.not. self%grouped()) return
    number = Numbers(self, e)
    nearest = [merge(number, none, off <= rounding), merge(-off, none, e > 0)]
    call Largest(self, nearest, error)
    if (allocated(error)) return
    associate (first => nearest(:size(e)), best => nearest(size(e) + 1:))
      left = pack([(i, i=1, size(e))], .not. first > none .and. best > none)
      if (size(left) > 0) then
        some = merge(number(left), none, e(left) > 0 .and. off(left) <= -best(left))
        call Largest(self, some, error)
        first(left) = some
      end if
      if (.not. allocated(error)) call Keep(self, e, number, first, owner, error)
    end associate
  end subroutine Choose

  !> Minus the numbers in the whole mesh of elements of the share; so the largest is the first.
  pure function Numbers(self, e) result(number)
    class(sem3d_t), intent(in) :: self
    integer, intent(in) :: e(:)
    real(dp) :: number(size(e))
    integer :: i
    number = none
    do i = 1, size(e)
      if (e(i) > 0) number(i) = -self%share%number(e(i))
    end do
  end function Numbers

  !> Those that are `chosen` stay, alone: a rank whose share lacks the chosen one may have found one before it that is deeper, or
  !> that only almost has the place.
  subroutine Keep(self, e, number, chosen, owner, error)
    class(sem3d_t), intent(inout) :: self
    integer, intent(inout) :: e(:)
    real(dp), intent(in) :: number(:), chosen(:)
    integer, intent(out) :: owner(:)
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: pieces(size(e))
    integer :: i
    pieces = 0
    do i = 1, size(e)
      if (abs(number(i) - chosen(i)) > 0) e(i) = 0
      if (e(i) > 0) pieces(i) = self%share%owner(e(i))
    end do
    call Largest(self, pieces, error)
    owner = nint(pieces)
  end subroutine Keep

  !> The elements whose sides vertical lines through places meet first, and the depths there [m], those on all ranks.
  subroutine Uppermost(self, ground, x, e, xi, owner, depth, error)
    class(sem3d_t), intent(inout) :: self
    type(ground_t), intent(in) :: ground
    real(dp), intent(in) :: x(:, :)
    integer, intent(out) :: e(:), owner(:)
    real(dp), intent(out) :: xi(:, :), depth(:)
    type(error_t), allocatable, intent(inout) :: error
    real(dp), allocatable :: highest(:), number(:), chosen(:)
    integer :: m
    !$omp parallel do schedule(dynamic, 64) num_threads(self%team%threads)
    do m = 1, size(e)
      call GroundAt(ground, self%elements%corner, x(1, m), x(2, m), e(m), xi(:, m), depth(m))
    end do
    !$omp end parallel do
    owner = merge(1, 0, e > 0)
    if (.not. self%grouped()) return
    highest = merge(-depth, none, e > 0)
    call Largest(self, highest, error)
    if (allocated(error)) return
    number = Numbers(self, e)
    chosen = merge(number, none, e > 0 .and. depth < ground%rounding - highest)
    call Largest(self, chosen, error)
    if (.not. allocated(error)) call Keep(self, e, number, chosen, owner, error)
    highest = merge(depth, none, e > 0)
    if (.not. allocated(error)) call Largest(self, highest, error)
    depth = merge(highest, huge(1.0_dp), owner > 0)
  end subroutine Uppermost

  ! --- points around places --------------------------------------------------------------------------------------------------

  module procedure MakePlaces
    real(dp), allocatable :: told(:, :), flat(:)
    integer :: r, first, last, some
    if (.not. self%grouped()) then
      !$omp parallel do schedule(dynamic) num_threads(self%team%threads)
      do r = 1, size(e)
        if (present(known)) then
          if (known(r)) cycle
        end if
        call Place1(r)
      end do
      !$omp end parallel do
      return
    end if
    some = max(1, at_once/((begin + each*place_points)*self%partners%n))
    do first = 1, size(e), some
      last = min(size(e), first + some - 1)
      if (allocated(told)) deallocate (told)
      allocate (told(begin + each*place_points, first:last), source=0.0_dp)
      !$omp parallel do schedule(dynamic) num_threads(self%team%threads)
      do r = first, last
        if (e(r) == 0) cycle
        call Place1(r)
        call TellPlace(self, e(r), place(r), told(:, r))
      end do
      !$omp end parallel do
      flat = reshape(told, [size(told)])
      call OfAll(self, flat, error)
      if (allocated(error)) return
      told = reshape(flat, shape(told))
      do r = first, last
        call HearPlace(self, told(:, r), present(source), place(r))
      end do
    end do

  contains

    subroutine Place1(r)
      integer, intent(in) :: r
      logical :: alone
      alone = present(source)
      if (present(helped)) alone = alone .and. .not. helped(r)
      if (alone) call Sem3dPlace(self%elements, self%meetings, e(r), xi(:, r), x(:, r), self%band(), place(r), source)
      if (.not. alone) call Sem3dPlace(self%elements, self%meetings, e(r), xi(:, r), x(:, r), self%band(), place(r))
    end subroutine Place1
  end procedure MakePlaces

  !> A place around element e as numbers that other ranks understand.
  subroutine TellPlace(self, e, place, told)
    class(sem3d_t), intent(in) :: self
    integer, intent(in) :: e
    type(sem3d_place_t), intent(in) :: place
    real(dp), intent(out) :: told(:)
    integer, allocatable :: order(:), sorted(:)
    integer :: n, c, k, found
    n = size(place%point)
    told = 0
    told(:5) = [real(n, dp), merge(1.0_dp, 0.0_dp, place%solid), place%rho, place%lambda, place%mu]
    if (allocated(place%stiffness)) told(6:42) = [1.0_dp, reshape(place%stiffness, [36])]
    told(43:begin) = [place%loss, place%normal, place%across, merge(1.0_dp, 0.0_dp, allocated(place%beyond))]
    call SortOrder(place%point, order)
    sorted = place%point(order)
    found = 0
    call PointsOf(e)
    do c = 1, 8
      do k = self%meetings%start(self%elements%node(c, e)), self%meetings%start(self%elements%node(c, e) + 1) - 1
        if (found < n) call PointsOf(self%meetings%list(k))
      end do
    end do

  contains

    !> Those of an element that are of the place, unless they are told.
    subroutine PointsOf(near)
      integer, intent(in) :: near
      integer :: p, m, at
      do p = 1, in_element
        m = SortFind(sorted, self%elements%at(p, near))
        if (m == 0) cycle
        at = begin + each*(order(m) - 1)
        if (told(at + 1) > 0) cycle
        told(at + 1:at + 2) = real([self%share%number(near), p], dp)
        if (order(m) <= size(place%w, 1)) told(at + 3:at + 6) = place%w(order(m), :)
        if (allocated(place%side) .and. order(m) <= size(place%w, 1)) told(at + 7:at + 9) = place%side(order(m), :)
        if (allocated(place%beyond)) told(at + each) = place%beyond(order(m))
        found = found + 1
      end do
    end subroutine PointsOf
  end subroutine TellPlace

  !> The same on all ranks; few: where none of its points is here, it has none.
  subroutine HearPlace(self, told, few, place)
    class(sem3d_t), intent(in) :: self
    real(dp), intent(in) :: told(:)
    logical, intent(in) :: few
    type(sem3d_place_t), intent(out) :: place
    integer :: m, n, e
    n = nint(told(1))
    place%solid = told(2) > 0
    place%rho = told(3)
    place%lambda = told(4)
    place%mu = told(5)
    if (told(6) > 0) place%stiffness = reshape(told(7:42), [6, 6])
    place%loss = told(43:44)
    place%normal = told(45:47)
    place%across = told(48)
    allocate (place%point(n), source=0)
    allocate (place%w(n, 0:3))
    if (any(abs(place%normal) > 0)) allocate (place%side(n, 3))
    if (told(begin) > 0) allocate (place%beyond(n))
    do m = 1, n
      associate (one => told(begin + each*(m - 1) + 1:begin + each*m))
        e = ShareHas(self%share, nint(one(1)))
        if (e > 0) place%point(m) = self%piece%place(self%elements%at(nint(one(2)), e))
        place%w(m, :) = one(3:6)
        if (allocated(place%side)) place%side(m, :) = one(7:9)
        if (allocated(place%beyond)) place%beyond(m) = one(each)
      end associate
    end do
    if (any(place%point > 0) .or. .not. few) return
    deallocate (place%point, place%w)
    allocate (place%point(0), place%w(0, 0:3))
    if (allocated(place%side)) place%side = place%w(:, 1:3)
    if (allocated(place%beyond)) place%beyond = place%w(:, 0)
  end subroutine HearPlace

  ! --- among ranks -----------------------------------------------------------------------------------------------------------

  module procedure MakeGround
    real(dp) :: ends(6)
    call GroundMake(self%elements, solid, ground)
    ends = [-ground%ends(:, 1), ground%ends(:, 2)]
    call Largest(self, ends, error)
    call GroundEnds(ground, -ends(:3), ends(4:))
  end procedure MakeGround

  module procedure OfAll
    if (self%grouped()) call self%partners%total(x, error)
  end procedure OfAll

  module procedure Largest
    if (self%grouped()) call self%partners%largest(x, error)
  end procedure Largest

end submodule sem3d_places
