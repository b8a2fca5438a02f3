!> A piece of a mesh that is cut (elements_cut.f90): the elements that its engine gets, and its points.
!>
!> A piece has the points of its own elements; where fluid and solid meet, those of the other side too, so that each side has what
!> it needs of the other; and around fluid elements in which points of a map lie, those of the elements beside, so that weighted
!> sums there are whole. Its engine also gets the elements of other pieces that touch these points (interfaces/sem3d_c.f90). All
!> keep the order of the whole mesh.
module elements_pieces_m
  use elements_cut_m, only: cut_t
  use elements_m, only: elements_t, in_element, on_face
  use hexahedron_m, only: hex_side_point
  use meetings_m, only: meetings_t
  use sem3d_engine_m, only: sem3d_ways_t
  use sem3d_variants_m, only: sums_t
  implicit none
  private
  public :: piece_t, PieceMake

  type :: piece_t
    integer :: mine = 1                       !< its number
    type(elements_t) :: elements              !< its own, and those that touch its points: `at` is 0 where it has none
    integer, allocatable :: from(:)           !< the element of the whole mesh that each of these is
    integer, allocatable :: point(:)          !< the point of the whole mesh that each of its points is
    integer, allocatable :: place(:)          !< its point that each of the whole mesh is, or 0
    logical, allocatable :: owns(:)           !< its points that no piece with elements before has: each point has one such owner
    integer :: own = 0                        !< its own elements
    type(sem3d_ways_t) :: ways                !< to the other pieces, by their numbers
  end type piece_t

contains

  !> Piece `mine` of a mesh whose points are numbered. wide: elements of a fluid whose piece has the points of those beside too.
  !> sums: how forces are added in the whole mesh.
  subroutine PieceMake(whole, meetings, cut, mine, wide, sums, piece)
    type(elements_t), intent(in) :: whole
    type(meetings_t), intent(in) :: meetings
    type(cut_t), intent(in) :: cut
    integer, intent(in) :: mine
    logical, intent(in) :: wide(:)
    type(sums_t), intent(in) :: sums
    type(piece_t), intent(out) :: piece
    integer, allocatable :: mate(:), first(:)
    logical, allocatable :: held(:), own(:), theirs(:)
    integer :: e, p, w, n
    piece%mine = mine
    piece%own = count(cut%owner == mine)
    call Mates(whole, mate)
    allocate (own(whole%points), source=.false.)
    allocate (first(whole%points), source=0)
    do e = 1, whole%n
      do p = 1, in_element
        associate (at => whole%at(p, e))
          if (first(at) == 0) first(at) = cut%owner(e)
          if (cut%owner(e) == mine) own(at) = .true.
        end associate
      end do
    end do
    call Holds(whole, meetings, cut, mine, wide, mate, held)
    piece%point = pack([(p, p=1, whole%points)], held)
    allocate (piece%place(whole%points), source=0)
    piece%place(piece%point) = [(p, p=1, size(piece%point))]
    piece%owns = first(piece%point) == mine
    call TakeElements(whole, cut, sums, piece)
    n = cut%pieces
    piece%ways%n = n
    piece%ways%mine = mine
    allocate (piece%ways%start(n + 1), piece%ways%point(0))
    piece%ways%start(1) = 1
    do w = 1, n
      if (w /= mine) then
        call Holds(whole, meetings, cut, w, wide, mate, theirs)
        piece%ways%point = [piece%ways%point, piece%place(pack([(p, p=1, whole%points)], own .and. theirs))]
      end if
      piece%ways%start(w + 1) = size(piece%ways%point) + 1
    end do
  end subroutine PieceMake

  !> The point on the other side of each at a contact, 0 elsewhere.
  subroutine Mates(whole, mate)
    type(elements_t), intent(in) :: whole
    integer, allocatable, intent(out) :: mate(:)
    integer :: c
    allocate (mate(whole%points), source=0)
    do c = 1, size(whole%contact, 2)
      associate (fluid => whole%at(hex_side_point(:, whole%contact(2, c)), whole%contact(1, c)), solid => whole%partner(:, c))
        mate(fluid) = solid
        mate(solid) = fluid
      end associate
    end do
  end subroutine Mates

  !> The points that a piece has.
  subroutine Holds(whole, meetings, cut, piece, wide, mate, held)
    type(elements_t), intent(in) :: whole
    type(meetings_t), intent(in) :: meetings
    type(cut_t), intent(in) :: cut
    integer, intent(in) :: piece, mate(:)
    logical, intent(in) :: wide(:)
    logical, allocatable, intent(out) :: held(:)
    integer :: e, c, m, p
    allocate (held(whole%points), source=.false.)
    do e = 1, whole%n
      if (cut%owner(e) /= piece) cycle
      held(whole%at(:, e)) = .true.
      if (.not. wide(e)) cycle
      do c = 1, 8
        do m = meetings%start(whole%node(c, e)), meetings%start(whole%node(c, e) + 1) - 1
          if (meetings%list(m) > whole%solid) held(whole%at(:, meetings%list(m))) = .true.
        end do
      end do
    end do
    do p = 1, whole%points
      if (mate(p) == 0) cycle
      if (held(p)) held(mate(p)) = .true.
    end do
  end subroutine Holds

  !> The elements of the piece and those that touch its points, with their bricks and contacts.
  subroutine TakeElements(whole, cut, sums, piece)
    type(elements_t), intent(in) :: whole
    type(cut_t), intent(in) :: cut
    type(sums_t), intent(in) :: sums
    type(piece_t), intent(inout) :: piece
    logical :: wanted(whole%n)
    integer :: place(whole%n), e
    do e = 1, whole%n
      wanted(e) = any(piece%place(whole%at(:, e)) > 0)
    end do
    piece%from = pack([(e, e=1, whole%n)], wanted)
    place = 0
    place(piece%from) = [(e, e=1, size(piece%from))]
    associate (part => piece%elements, from => piece%from)
      part%n = size(from)
      part%solid = count(from <= whole%solid)
      part%per = whole%per
      part%corner = whole%corner(:, :, from)
      part%node = whole%node(:, from)
      part%face = whole%face(:, from)
      part%rho = whole%rho(:, from)
      part%lambda = whole%lambda(:, from)
      part%mu = whole%mu(:, from)
      if (allocated(whole%loss)) part%loss = whole%loss(:, from)
      if (allocated(whole%ocean)) part%ocean = whole%ocean(:, from)
      if (allocated(whole%tensor)) then
        part%tensor = whole%tensor(from)
        part%relative = whole%relative
        part%speeds = whole%speeds
      end if
      part%points = size(piece%point)
      part%solid_points = count(piece%point <= whole%solid_points)
      allocate (part%at(in_element, part%n))
      do e = 1, part%n
        part%at(:, e) = piece%place(whole%at(:, from(e)))
      end do
    end associate
    call TakeBricks(cut, sums, wanted, place, piece)
    call TakeContacts(whole, place, piece)
  end subroutine TakeElements

  !> The bricks of the elements that are `wanted`, and whose they are; place: of each element in the piece.
  subroutine TakeBricks(cut, sums, wanted, place, piece)
    type(cut_t), intent(in) :: cut
    type(sums_t), intent(in) :: sums
    logical, intent(in) :: wanted(:)
    integer, intent(in) :: place(:)
    type(piece_t), intent(inout) :: piece
    integer :: e, b, n
    associate (part => piece%elements, from => piece%from)
      allocate (part%brick(size(sums%brick)), piece%ways%way(size(sums%brick) - 1))
      n = 0
      do b = 1, size(sums%brick) - 1
        e = findloc(wanted(sums%brick(b):sums%brick(b + 1) - 1), .true., 1) + sums%brick(b) - 1
        if (e < sums%brick(b)) cycle
        n = n + 1
        part%brick(n) = place(e)
        piece%ways%way(n) = merge(0, cut%owner(e), cut%owner(e) == piece%mine)
      end do
      part%brick = [part%brick(:n), part%n + 1]
      piece%ways%way = piece%ways%way(:n)
      piece%ways%piece = sums%piece
      if (allocated(sums%colour)) piece%ways%colour = sums%colour(from)
    end associate
  end subroutine TakeBricks

  !> Contacts that have points of the piece: they have them on both sides.
  subroutine TakeContacts(whole, place, piece)
    type(elements_t), intent(in) :: whole
    integer, intent(in) :: place(:)
    type(piece_t), intent(inout) :: piece
    logical, allocatable :: met(:)
    integer :: c, n
    associate (part => piece%elements)
      allocate (met(size(whole%contact, 2)))
      do c = 1, size(met)
        met(c) = any(piece%place(whole%partner(:, c)) > 0)
      end do
      n = count(met)
      allocate (part%contact(2, n), part%partner(on_face, n))
      n = 0
      do c = 1, size(met)
        if (.not. met(c)) cycle
        n = n + 1
        part%contact(:, n) = [place(whole%contact(1, c)), whole%contact(2, c)]
        part%partner(:, n) = piece%place(whole%partner(:, c))
      end do
    end associate
  end subroutine TakeContacts

end module elements_pieces_m
