!> The share of a mesh that rank 0 sends to each rank of a group: the elements of its piece and those beside, all that the rank
!> needs to number its points as the whole mesh has them, to add at these what other pieces add there, and to know who shares them.
!>
!> Beside are elements that share a node with one of the piece. Where a map of ground velocity may lie in a fluid, pieces have the
!> points of the elements beside too (elements_pieces.f90): then those that share a node with a fluid one of these as well.
module elements_share_m
  use elements_cut_m, only: cut_t
  use elements_m, only: elements_t, face_free
  use error_m, only: error_t
  use kinds_m, only: dp
  use meetings_m, only: meetings_t, MeetingsMake
  use sem3d_variants_m, only: Sem3dBricks, Sem3dByColour, Sem3dColours, sem3d_variants, sums_t
  use sort_m, only: SortFind, SortOrder
  implicit none
  private
  public :: share_t, shares_t, SharesMake, ShareMost, ShareGuess, ShareHas, ShareSums

  !> A rank's: of each of its elements, which stand in the order of the whole mesh, ...
  type :: share_t
    integer, allocatable :: number(:)             !< which of the whole mesh it is
    integer, allocatable :: owner(:)              !< its piece
    integer, allocatable :: place(:), brick(:)    !< its place in its brick, and how many elements that has in the whole mesh
    integer, allocatable :: colour(:)             !< in the whole mesh, where forces are summed by colours
    integer, allocatable :: sides(:)              !< free sides of elements before it in the whole mesh
  end type share_t

  !> Those of all ranks, as rank 0 sends them: elements list(start(w)) .. list(start(w+1)-1) to that of piece w.
  type :: shares_t
    integer, allocatable :: start(:), list(:)
    integer, allocatable :: colour(:), sides(:)   !< of all elements of the mesh
    logical :: far = .false.                      !< with those that a map in a fluid needs
  end type shares_t

contains

  !> far: a map of ground velocity may lie in a fluid. coloured: forces may be summed by colours.
  subroutine SharesMake(elements, cut, far, coloured, shares, error)
    type(elements_t), intent(in) :: elements
    type(cut_t), intent(in) :: cut
    logical, intent(in) :: far, coloured
    type(shares_t), intent(out) :: shares
    type(error_t), allocatable, intent(inout) :: error
    type(meetings_t) :: meetings
    integer, allocatable :: own(:), first(:), seen(:), found(:), order(:), list(:)
    integer :: w, e, n, ring, last
    shares%far = far
    call MeetingsMake(elements, meetings)
    call ByOwner(cut, own, first)
    allocate (seen(elements%n), found(elements%n), source=0)
    allocate (shares%start(cut%pieces + 1), list(0))
    shares%start(1) = 1
    do w = 1, cut%pieces
      n = first(w + 1) - first(w)
      found(:n) = own(first(w):first(w + 1) - 1)
      seen(found(:n)) = w
      do ring = 1, merge(2, 1, far)
        last = n
        do e = 1, last
          if (ring == 1 .or. found(e) > elements%solid) call Beside(found(e))
        end do
      end do
      call SortOrder(found(:n), order)
      list = [list, found(order)]
      shares%start(w + 1) = size(list) + 1
    end do
    call move_alloc(list, shares%list)
    allocate (shares%sides(elements%n))
    n = 0
    do e = 1, elements%n
      shares%sides(e) = n
      n = n + count(elements%face(:, e) == face_free)
    end do
    if (coloured) call Sem3dColours(elements, shares%colour, error)

  contains

    subroutine Beside(e)
      integer, intent(in) :: e
      integer :: c, m
      do c = 1, 8
        do m = meetings%start(elements%node(c, e)), meetings%start(elements%node(c, e) + 1) - 1
          associate (other => meetings%list(m))
            if (seen(other) == w) cycle
            seen(other) = w
            n = n + 1
            found(n) = other
          end associate
        end do
      end do
    end subroutine Beside
  end subroutine SharesMake

  !> The elements of piece w: own(first(w)) .. own(first(w+1)-1), rising.
  pure subroutine ByOwner(cut, own, first)
    type(cut_t), intent(in) :: cut
    integer, allocatable, intent(out) :: own(:), first(:)
    integer :: e
    integer :: next(cut%pieces)
    allocate (first(cut%pieces + 1), source=0)
    do e = 1, size(cut%owner)
      first(cut%owner(e) + 1) = first(cut%owner(e) + 1) + 1
    end do
    first(1) = 1
    do e = 1, cut%pieces
      first(e + 1) = first(e) + first(e + 1)
    end do
    next = first(:cut%pieces)
    allocate (own(size(cut%owner)))
    do e = 1, size(cut%owner)
      own(next(cut%owner(e))) = e
      next(cut%owner(e)) = next(cut%owner(e)) + 1
    end do
  end subroutine ByOwner

  !> Elements of the largest share.
  pure integer function ShareMost(shares) result(n)
    type(shares_t), intent(in) :: shares
    integer :: last
    last = size(shares%start) - 1
    n = maxval(shares%start(2:) - shares%start(:last))
  end function ShareMost

  !> Elements of a share of a mesh of n that is not cut yet: those of a cube, and those around it where there are others.
  pure real(dp) function ShareGuess(n, pieces, far) result(most)
    integer, intent(in) :: n, pieces
    logical, intent(in) :: far
    most = min(real(n, dp), ((real(n, dp)/pieces)**(1/3.0_dp) + merge(4, 2, far))**3)
  end function ShareGuess

  !> The element of a rank that has this `number` in the whole mesh, 0: none.
  pure integer function ShareHas(share, number) result(e)
    type(share_t), intent(in) :: share
    integer, intent(in) :: number
    e = SortFind(share%number, number)
  end function ShareHas

  !> The sums of a variant in the whole mesh, as far as elements of a share go. affine: all elements of the whole mesh are.
  subroutine ShareSums(name, sum, share, affine, sums, error)
    character(*), intent(in) :: name
    integer, intent(in) :: sum
    type(share_t), intent(in) :: share
    logical, intent(in) :: affine
    type(sums_t), intent(out) :: sums
    type(error_t), allocatable, intent(inout) :: error
    integer, allocatable :: brick(:)              ! as if these were the mesh, each with all its elements
    integer :: e, b, at, last
    allocate (brick(1), sums%brick(0))
    brick = 1
    do e = 1, size(share%number)
      if (.not. Follows(e)) brick = [brick, brick(size(brick)) + share%brick(e)]
    end do
    call Sem3dBricks(name, brick, error)
    if (allocated(error)) return
    b = 1
    last = 0
    at = 1
    do e = 1, size(share%number)
      if (e > 1 .and. .not. Follows(e)) at = at + share%brick(e - 1)
      do while (brick(b + 1) <= at + share%place(e) - 1)
        b = b + 1
      end do
      if (b /= last) sums%brick = [sums%brick, e]
      last = b
    end do
    sums%brick = [sums%brick, size(share%number) + 1]
    if (sem3d_variants%needs_gpu(name)) sums%piece = merge(2, 1, affine)
    if (Sem3dByColour(name, sum)) sums%colour = share%colour

  contains

    !> The element before is of the same brick.
    pure logical function Follows(e)
      integer, intent(in) :: e
      Follows = .false.
      if (e > 1) Follows = share%number(e) - share%place(e) == share%number(e - 1) - share%place(e - 1)
    end function Follows
  end subroutine ShareSums

end module elements_share_m
