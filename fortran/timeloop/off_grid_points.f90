!> Sources and receivers between the nodes, as cells and weights of the grid.
module off_grid_points_m
  use kinds_m, only: dp, sp
  use sinc_m, only: SincWeights
  implicit none
  private
  public :: axis_t, points_t, OffGridStart, OffGridAdd, OffGridBox, OffGridJoin, OffGridNearest, Lengthen

  !> The nodes along one axis: node n (1..n) is at x0 + (n-1) h.
  type :: axis_t
    integer :: n = 0
    real(dp) :: x0 = 0, h = 0             !< [m]
    logical :: surface = .false.          !< node 1 is on a free surface
  end type axis_t

  !> Points one after another: the cells of point r are start(r) .. start(r+1)-1.
  type :: points_t
    integer :: n = 0                      !< points
    integer, allocatable :: start(:)      !< at least (n+1)
    integer, allocatable :: i(:), k(:)    !< at least (start(n+1)-1)
    real(sp), allocatable :: w(:)
  end type points_t

  !> Makes an array longer, at least n; what it holds stays.
  interface Lengthen
    module procedure LengthenIntegers, LengthenReals
  end interface Lengthen

contains

  !> No points yet; room for some.
  pure subroutine OffGridStart(points)
    type(points_t), intent(inout) :: points
    points%n = 0
    points%start = [1]
    points%i = [integer ::]
    points%k = [integer ::]
    points%w = [real(sp) ::]
  end subroutine OffGridStart

  !> The node nearest to x [m], as a position [m].
  elemental real(dp) function OffGridNearest(axis, x)
    type(axis_t), intent(in) :: axis
    real(dp), intent(in) :: x
    OffGridNearest = axis%x0 + axis%h*min(max(nint((x - axis%x0)/axis%h), 0), axis%n - 1)
  end function OffGridNearest

  !> Adds the point (x, z) [m] for a field whose nodes are shifted by (half_x, half_z) cells from the σ nodes (vx: ½, 0; vz: 0, ½).
  !> Cells outside the grid, where the field is 0, are left out; those above a free surface count for their image below with the
  !> field's sign there: σ and vx antisymmetric about the surface, vz symmetric. `factor` multiplies all weights.
  subroutine OffGridAdd(points, ax, az, x, z, half_x, half_z, factor)
    type(points_t), intent(inout) :: points
    type(axis_t), intent(in) :: ax, az
    real(dp), intent(in) :: x, z, half_x, half_z, factor
    integer :: ix(8), kz(8), i, k, n
    real(dp) :: wx(8), wz(8), w
    call Along(ax, x, half_x, ix, wx)
    call Along(az, z, half_z, kz, wz)
    n = 0
    call Reserve(points, points%start(points%n + 1) + 63)
    do k = 1, 8
      do i = 1, 8
        w = factor*wx(i)*wz(k)
        if (abs(w) <= 0) cycle
        call AddCell(ix(i), kz(k), real(w, sp))
      end do
    end do
    call EndPoint(points, points%start(points%n + 1) + n)

  contains

    subroutine AddCell(i, k, w)
      integer, intent(in) :: i, k
      real(sp), intent(in) :: w
      integer :: at
      at = points%start(points%n + 1) + n
      points%i(at) = i
      points%k(at) = k
      points%w(at) = w
      n = n + 1
    end subroutine AddCell

  end subroutine OffGridAdd

  !> Adds a point that is a sum over a box of cells, the first of which is (low(1), low(2)).
  pure subroutine OffGridBox(points, low, w)
    type(points_t), intent(inout) :: points
    integer, intent(in) :: low(2)
    real(dp), intent(in) :: w(:, :)
    integer :: i, k, at
    at = points%start(points%n + 1)
    call Reserve(points, at + size(w) - 1)
    do k = 1, size(w, 2)
      do i = 1, size(w, 1)
        if (abs(w(i, k)) <= 0) cycle
        points%i(at) = low(1) + i - 1
        points%k(at) = low(2) + k - 1
        points%w(at) = real(w(i, k), sp)
        at = at + 1
      end do
    end do
    call EndPoint(points, at)
  end subroutine OffGridBox

  !> Adds all points of another list.
  pure subroutine OffGridJoin(points, more)
    type(points_t), intent(inout) :: points
    type(points_t), intent(in) :: more
    integer :: cells, own
    cells = more%start(more%n + 1) - 1
    own = points%start(points%n + 1) - 1
    points%i = [points%i(:own), more%i(:cells)]
    points%k = [points%k(:own), more%k(:cells)]
    points%w = [points%w(:own), more%w(:cells)]
    points%start = [points%start(:points%n + 1), own + more%start(2:more%n + 1)]
    points%n = points%n + more%n
  end subroutine OffGridJoin

  !> The cells of the next point end before number `next`.
  pure subroutine EndPoint(points, next)
    type(points_t), intent(inout) :: points
    integer, intent(in) :: next
    points%n = points%n + 1
    if (points%n + 1 > size(points%start)) points%start = [points%start, points%start]
    points%start(points%n + 1) = next
  end subroutine EndPoint

  !> Nodes and weights along one axis; weights of nodes outside are 0, or added to their image in a free surface.
  pure subroutine Along(axis, x, half, node, w)
    type(axis_t), intent(in) :: axis
    real(dp), intent(in) :: x, half
    integer, intent(out) :: node(8)
    real(dp), intent(out) :: w(8)
    integer :: first, m, image, to
    call SincWeights((x - axis%x0)/axis%h + 1 - half, first, w)
    node = [(first + m - 1, m=1, 8)]
    do m = 1, 8
      if (node(m) >= 1 .and. node(m) <= axis%n) cycle
      if (axis%surface .and. node(m) < 1) then
        image = merge(1, 2, half > 0) - node(m)
        to = findloc(node, image, dim=1)
        if (to > 0) w(to) = w(to) + merge(1, -1, half > 0)*w(m)
      end if
      w(m) = 0
    end do
  end subroutine Along

  pure subroutine Reserve(points, n)
    type(points_t), intent(inout) :: points
    integer, intent(in) :: n
    integer :: room
    if (n <= size(points%i)) return
    room = max(n, 2*size(points%i))
    call Lengthen(points%i, room)
    call Lengthen(points%k, room)
    call Lengthen(points%w, room)
  end subroutine Reserve

  pure subroutine LengthenIntegers(a, n)
    integer, allocatable, intent(inout) :: a(:)
    integer, intent(in) :: n
    integer, allocatable :: longer(:)
    if (.not. allocated(a)) allocate (a(0))
    allocate (longer(n), source=0)
    longer(:size(a)) = a
    call move_alloc(longer, a)
  end subroutine LengthenIntegers

  pure subroutine LengthenReals(a, n)
    real(sp), allocatable, intent(inout) :: a(:)
    integer, intent(in) :: n
    real(sp), allocatable :: longer(:)
    if (.not. allocated(a)) allocate (a(0))
    allocate (longer(n), source=0.0_sp)
    longer(:size(a)) = a
    call move_alloc(longer, a)
  end subroutine LengthenReals

end module off_grid_points_m
