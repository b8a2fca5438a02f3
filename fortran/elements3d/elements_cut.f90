!> A mesh cut into pieces, one for each rank of a group: whole bricks of elements, by bisection along x, y or z again and again, so
!> that all pieces take the same time and few faces lie between them; or by METIS, where it is there and the slowest piece would be
!> faster. Rank 0 cuts the mesh and sends each rank its share.
module elements_cut_m
  use elements_m, only: elements_t, face_absorbs, face_contact
  use error_m, only: error_t, Fail
  use kinds_m, only: dp, i8
  use mesh_m, only: MeshBeside
  use sem3d_c, only: sem3d_graph_parts
  use sort_m, only: SortOrder
  use text_m, only: Str
  implicit none
  private
  public :: cut_t, ElementsCut, CutCan, CutFewest, CutWords

  type :: cut_t
    integer :: pieces = 1
    integer, allocatable :: owner(:)          !< the piece of each element, 1..pieces
    integer :: least = 0, most = 0            !< elements of a piece
    real(dp) :: gain = 1                      !< a step is so many times faster than in one piece, as expected
    real(dp) :: exchange = 0                  !< part of it for what pieces give each other, as expected
    logical :: by_metis = .false.
  end type cut_t

  !> Microseconds on a core (tools/bench/cores.md, 2026-11-23).
  real(dp), parameter :: solid_affine = 0.85_dp, solid_map = 1.0_dp, solid_stored = 1.4_dp   !< of an element
  real(dp), parameter :: fluid_part = 0.45_dp     !< a fluid element takes this part of a solid one
  real(dp), parameter :: relaxing_point = 0.013_dp    !< more for each of its points that has memory variables
  real(dp), parameter :: side = 0.03_dp           !< more for a side that absorbs or where fluid and solid meet
  real(dp), parameter :: between = 0.15_dp        !< for a face between two pieces, in each of them

  !> Elements of a piece, and those that touch them, for one of its own, at most in meshes worth a cut.
  real(dp), parameter, public :: touching = 1.2_dp

  integer, parameter :: most_of_one = 17179869    !< elements of an engine: 125 points of each have numbers below 2**31 (sem3d.c)

  !> Bricks to be divided.
  type :: bricks_t
    real(dp), allocatable :: cost(:)
    integer, allocatable :: at(:, :)          !< middles, (3, bricks), whole so that rounding parts no layer
    integer, allocatable :: start(:), next(:), faces(:)   !< those beside b: next(start(b):start(b+1)-1), by so many faces
    integer, allocatable :: list(:)           !< bricks, those of a piece one after the other
    integer, allocatable :: piece(:)
  end type bricks_t

contains

  !> Cuts elements into n pieces. relaxing: points of a solid element that have memory variables, or 0. Fails where there are not as
  !> many bricks.
  subroutine ElementsCut(elements, n, relaxing, cut, error)
    type(elements_t), intent(in) :: elements
    integer, intent(in) :: n, relaxing
    type(cut_t), intent(out) :: cut
    type(error_t), allocatable, intent(inout) :: error
    type(bricks_t) :: b
    integer :: i
    call CutCan(elements, n, error)
    if (allocated(error)) return
    call Weigh(elements, relaxing, b)
    call Neighbours(elements, b)
    b%list = [(i, i=1, size(b%cost))]
    allocate (b%piece(size(b%cost)), source=0)
    call Divide(b, 1, size(b%list), 1, n)
    call Judge(b, elements%brick, n, cut)
    if (n > 1) call TryMetis(b, elements%brick, n, cut)
  end subroutine ElementsCut

  !> The best of what METIS finds, where that is better. Bisection stands where it is as good: it cuts boxes into boxes.
  subroutine TryMetis(b, brick, n, cut)
    type(bricks_t), intent(inout) :: b
    integer, intent(in) :: brick(:), n
    type(cut_t), intent(inout) :: cut
    integer, parameter :: uneven(5) = [2, 10, 30, 60, 120]       ! in thousands: pieces of few bricks cannot be even
    real(dp), parameter :: better = 1.005_dp                      ! less is not known of their costs
    type(cut_t) :: other
    integer :: cost(size(b%cost)), i, p, recursive
    real(dp) :: scale
    scale = min(100.0_dp, 1e9_dp/sum(b%cost))
    cost = max(1, nint(scale*b%cost))
    do recursive = 0, 1
      do i = 1, size(uneven)
        if (sem3d_graph_parts(size(cost), b%start, b%next, b%faces, cost, n, recursive, uneven(i), b%piece) == 0) return
        if (any([(count(b%piece == p) == 0, p=1, n)])) cycle
        call Judge(b, brick, n, other)
        if (.not. other%gain > cut%gain*merge(1.0_dp, better, cut%by_metis)) cycle
        cut = other
        cut%by_metis = .true.
      end do
    end do
  end subroutine TryMetis

  !> Fails where there are not as many bricks as pieces, or one rank would have more elements than an engine numbers the points of.
  subroutine CutCan(elements, n, error)
    type(elements_t), intent(in) :: elements
    integer, intent(in) :: n
    type(error_t), allocatable, intent(inout) :: error
    if (size(elements%brick) - 1 < n) &
      call Fail(error, 'a mesh of '//Str(elements%n)//' elements, in '//Str(size(elements%brick) - 1)// &
                ' bricks of 64 at most, cannot be cut into '//Str(n)//' pieces: give a smaller group')
    if (n == 1 .and. elements%n > most_of_one) &
      call Fail(error, 'a mesh of '//Str(elements%n)//' elements is too large for one rank, which has at most '// &
                Str(most_of_one)//': give group=2 or more')
  end subroutine CutCan

  !> The fewest ranks that number the points of so many elements.
  pure integer function CutFewest(elements)
    integer, intent(in) :: elements
    CutFewest = (elements - 1)/most_of_one + 1
  end function CutFewest

  !> Costs and places of bricks.
  subroutine Weigh(elements, relaxing, b)
    type(elements_t), intent(in) :: elements
    integer, intent(in) :: relaxing
    type(bricks_t), intent(out) :: b
    integer, parameter :: levels = 2**20 - 1
    real(dp) :: low(3), high(3), x(3), one, solid
    integer :: k, e, a, bricks
    bricks = size(elements%brick) - 1
    allocate (b%cost(bricks), b%at(3, bricks))
    low = huge(low)
    high = -low
    do e = 1, elements%n
      low = min(low, minval(elements%corner(:, :8, e), 2))
      high = max(high, maxval(elements%corner(:, :8, e), 2))
    end do
    do k = 1, bricks
      b%cost(k) = 0
      x = 0
      do e = elements%brick(k), elements%brick(k + 1) - 1
        solid = merge(solid_map, solid_stored, elements%per == 8)
        if (elements%per == 8 .and. IsAffine(elements%corner(:, :, e))) solid = solid_affine
        one = solid*merge(1.0_dp, fluid_part, e <= elements%solid)
        if (e <= elements%solid) one = one + relaxing_point*relaxing
        b%cost(k) = b%cost(k) + one + side*count(elements%face(:, e) == face_absorbs .or. elements%face(:, e) == face_contact)
        x = x + sum(elements%corner(:, :8, e), 2)/8
      end do
      x = x/(elements%brick(k + 1) - elements%brick(k))
      do a = 1, 3
        b%at(a, k) = nint((x(a) - low(a))/max(maxval(high - low), tiny(x))*levels)
      end do
    end do
  end subroutine Weigh

  !> The map of an element of 8 nodes is affine.
  pure logical function IsAffine(corner)
    real(dp), intent(in) :: corner(:, :)
    real(dp) :: off(3, 4)
    off(:, 1) = corner(:, 1) - corner(:, 2) + corner(:, 3) - corner(:, 4)
    off(:, 2) = corner(:, 5) - corner(:, 6) + corner(:, 7) - corner(:, 8)
    off(:, 3) = corner(:, 1) - corner(:, 2) + corner(:, 6) - corner(:, 5)
    off(:, 4) = corner(:, 1) - corner(:, 4) + corner(:, 8) - corner(:, 5)
    IsAffine = maxval(abs(off)) <= 1e-6_dp*norm2(corner(:, 7) - corner(:, 1))
  end function IsAffine

  !> Which bricks share faces, and how many.
  subroutine Neighbours(elements, b)
    type(elements_t), intent(in) :: elements
    type(bricks_t), intent(inout) :: b
    integer, allocatable :: beside(:, :), brick(:), order(:)
    integer(i8), allocatable :: key(:)
    integer :: bricks, e, s, k, n
    bricks = size(b%cost)
    allocate (brick(elements%n))
    do k = 1, bricks
      brick(elements%brick(k):elements%brick(k + 1) - 1) = k
    end do
    call MeshBeside(elements%node, beside)
    n = 0
    allocate (key(6*elements%n))
    do e = 1, elements%n
      do s = 1, 6
        if (beside(s, e) == 0) cycle
        k = brick((beside(s, e) - 1)/6 + 1)
        if (k == brick(e)) cycle
        n = n + 1
        key(n) = int(brick(e), i8)*(bricks + 1) + k
      end do
    end do
    key = key(:n)
    call SortOrder(key, order)
    key = key(order)
    allocate (b%start(bricks + 1), b%next(n), b%faces(n))
    b%start = 0
    k = 0
    do s = 1, n
      if (s > 1) then
        if (key(s) == key(s - 1)) then
          b%faces(k) = b%faces(k) + 1
          cycle
        end if
      end if
      k = k + 1
      b%faces(k) = 1
      b%next(k) = int(modulo(key(s), int(bricks + 1, i8)))
      e = int(key(s)/(bricks + 1))
      b%start(e + 1) = b%start(e + 1) + 1
    end do
    b%start(1) = 1
    do e = 1, bricks
      b%start(e + 1) = b%start(e + 1) + b%start(e)
    end do
  end subroutine Neighbours

  !> Bricks list(from:to) become the pieces first .. first+n-1.
  recursive subroutine Divide(b, from, to, first, n)
    type(bricks_t), intent(inout) :: b
    integer, intent(in) :: from, to, first, n
    integer, allocatable :: list(:), best(:)
    real(dp) :: time, least
    integer :: axis, cut, last, low
    if (n == 1) then
      b%piece(b%list(from:to)) = first
      return
    end if
    low = n/2
    least = huge(least)
    last = 0
    do axis = 1, 3
      call Sweep(b, from, to, axis, low, n - low, list, cut, time)
      if (time >= least*(1 - 1e-9_dp)) cycle
      least = time
      best = list
      last = cut
    end do
    b%list(from:to) = best
    call Divide(b, from, from + last - 1, first, low)
    call Divide(b, from + last, to, first + low, n - low)
  end subroutine Divide

  !> The best cut across an axis into so many pieces on both sides: bricks in their order, how many are before the cut, and the time
  !> of a piece beside it.
  subroutine Sweep(b, from, to, axis, low, high, list, cut, best)
    type(bricks_t), intent(in) :: b
    integer, intent(in) :: from, to, axis, low, high
    integer, allocatable, intent(out) :: list(:)
    integer, intent(out) :: cut
    real(dp), intent(out) :: best
    integer(i8), parameter :: base = 2**20
    integer, allocatable :: order(:)
    integer :: there(size(b%cost))            ! 0: in other pieces, 1: beyond the cut, 2: before it
    real(dp) :: before, all, time
    integer :: i, k, m, faces, n
    n = to - from + 1
    list = b%list(from:to)
    associate (at => b%at(:, list), x => axis, y => modulo(axis, 3) + 1, z => modulo(axis + 1, 3) + 1)
      call SortOrder((at(x, :)*base + at(y, :))*base + at(z, :), order)
    end associate
    list = list(order)
    there = 0
    there(list) = 1
    all = sum(b%cost(list))
    before = 0
    faces = 0
    best = huge(best)
    cut = low
    do i = 1, n - high
      k = list(i)
      there(k) = 2
      before = before + b%cost(k)
      do m = b%start(k), b%start(k + 1) - 1
        if (there(b%next(m)) == 1) faces = faces + b%faces(m)
        if (there(b%next(m)) == 2) faces = faces - b%faces(m)
      end do
      if (i < low) cycle
      time = max(before/low, (all - before)/high) + between*faces
      if (time >= best*(1 - 1e-9_dp)) cycle
      best = time
      cut = i
    end do
  end subroutine Sweep

  !> The cut by the pieces of bricks, and what it is worth. brick: first element of each, and of one more.
  subroutine Judge(b, brick, n, cut)
    type(bricks_t), intent(in) :: b
    integer, intent(in) :: brick(:), n
    type(cut_t), intent(out) :: cut
    real(dp) :: cost(n), swaps(n)
    integer :: count_of(n), k, m, p
    cut%pieces = n
    allocate (cut%owner(brick(size(brick)) - 1))
    count_of = 0
    cost = 0
    swaps = 0
    do k = 1, size(b%cost)
      cut%owner(brick(k):brick(k + 1) - 1) = b%piece(k)
      count_of(b%piece(k)) = count_of(b%piece(k)) + brick(k + 1) - brick(k)
      cost(b%piece(k)) = cost(b%piece(k)) + b%cost(k)
      do m = b%start(k), b%start(k + 1) - 1
        if (b%piece(b%next(m)) /= b%piece(k)) swaps(b%piece(k)) = swaps(b%piece(k)) + between*b%faces(m)
      end do
    end do
    cut%least = minval(count_of)
    cut%most = maxval(count_of)
    p = maxloc(cost + swaps, 1)
    cut%gain = sum(b%cost)/(cost(p) + swaps(p))
    cut%exchange = swaps(p)/(cost(p) + swaps(p))
  end subroutine Judge

  !> 'into 4 pieces of 500 to 512 elements, by METIS'
  function CutWords(cut) result(words)
    type(cut_t), intent(in) :: cut
    character(:), allocatable :: words
    words = 'into '//Str(cut%pieces)//' pieces of '//Str(cut%least)
    if (cut%most > cut%least) words = words//' to '//Str(cut%most)
    words = words//' elements'
    if (cut%by_metis) words = words//', by METIS'
  end function CutWords

end module elements_cut_m
