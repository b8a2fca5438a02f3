!> Points of the map of ground velocity and of the films of the top: at each of them all three velocities, by the weights that a
!> receiver there would have (fd3d_point_lists.f90), so that they show what it records.
!>
!> Weights depend on what is around a point alone. Points with the same surroundings share a stencil, so level ground has one, and
!> its memory and time are next to nothing. On a hill there are 300 to 500 entries a point, for as many different surroundings as
!> there are.
module fd3d_map_m
  use error_m, only: error_t, Fail
  use fd3d_engine_m, only: fd3d_grid_t, fd3d_map_t, field_vx, side_periodic
  use fd3d_point_lists_m, only: fd3d_list_t, Fd3dRecord
  use kinds_m, only: dp, i2, i8, sp
  use text_m, only: Str
  use threads_m, only: ThreadsOf
  implicit none
  private
  public :: Fd3dMapNew, Fd3dMapShare, Fd3dLevels

  integer, parameter :: across = 8, down = 12   !< cells from a point that its weights may depend on, along x and y, along z
  integer, parameter :: outside = 3, inside = 2, fluid = 1, air = 0
  integer, parameter :: bits = 2                !< of one of these, a column of cells is 2 down + 1 of them

  type :: piece_t
    integer, allocatable :: start(:)            !< of vx, vy, vz and the end
    integer(i2), allocatable :: at(:, :)        !< cells from the point's, (3, entries)
    real(sp), allocatable :: w(:)
  end type piece_t

contains

  !> Point p is in the centre of column (i, j)(p) of the grid, `below` cells (0 .. 1) below the upper face of cell k(p). Where
  !> rock, fluid and air meet it takes rho and mu, with a ring of one cell, (0:n+1).
  subroutine Fd3dMapNew(map, grid, i, j, k, below, error, rho, mu)
    type(fd3d_map_t), intent(out) :: map
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: i(:), j(:), k(:)
    real(dp), intent(in) :: below
    type(error_t), allocatable, intent(inout) :: error
    real(sp), intent(in), optional, target, contiguous, dimension(0:, 0:, 0:) :: rho, mu
    real(sp), pointer, contiguous, dimension(:, :, :) :: density, rigidity   ! of what is absent gfortran hands on a null array,
    integer(i8), allocatable :: key(:, :)                                    ! which sanitizers take for a load
    type(piece_t), allocatable :: piece(:)
    integer, allocatable :: one(:)
    type(error_t), allocatable :: failed
    integer :: s
    map%i = i
    map%j = j
    map%k = k
    density => null()
    rigidity => null()
    if (present(rho)) density(0:, 0:, 0:) => rho
    if (present(mu)) rigidity(0:, 0:, 0:) => mu
    if (size(i) == 0) then
      allocate (map%stencil(0), map%di(0), map%dj(0), map%dk(0), map%w(0))
      map%start = [1]
      return
    end if
    allocate (key(2, size(i)), map%stencil(size(i)))
    call MakeKeys(grid, i, j, k, key, density, rigidity)
    call FindAlike(key, map%stencil, one)
    deallocate (key)
    allocate (piece(size(one)))
    !$omp parallel do schedule(dynamic) private(failed) num_threads(ThreadsOf(grid%threads))
    do s = 1, size(one)
      call MakePiece(piece(s), grid, [i(one(s)), j(one(s)), k(one(s))], below, failed, density, rigidity)
      if (.not. allocated(failed)) cycle
      !$omp critical(fd3d_map_failed)
      if (.not. allocated(error)) error = failed
      !$omp end critical(fd3d_map_failed)
      deallocate (failed)
    end do
    !$omp end parallel do
    if (.not. allocated(error)) call Join(map, piece, error)
  end subroutine Fd3dMapNew

  !> The weights of one point.
  subroutine MakePiece(piece, grid, cell, below, error, rho, mu)
    type(piece_t), intent(out) :: piece
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: cell(3)
    real(dp), intent(in) :: below
    type(error_t), allocatable, intent(inout) :: error
    real(sp), intent(in), pointer, contiguous, dimension(:, :, :) :: rho, mu
    type(fd3d_list_t) :: list
    integer :: c
    list%cut = .true.
    list%rho => rho
    list%mu => mu
    if (any(grid%n > huge(1_i2))) then
      call Fail(error, 'a map of ground velocity on a grid of more than '//Str(int(huge(1_i2)))// &
                ' cells along an axis: leave it out (pgv=n)')
      return
    end if
    do c = 0, 2
      call Fd3dRecord(list, grid, (cell + grid%first - 2 + [0.5_dp, 0.5_dp, below])*grid%d, field_vx + c, error)
      if (allocated(error)) return
    end do
    piece%start = list%start(:list%receivers + 1)
    allocate (piece%at(3, list%n))
    piece%at(1, :) = int(list%i(:list%n) - cell(1), i2)
    piece%at(2, :) = int(list%j(:list%n) - cell(2), i2)
    piece%at(3, :) = int(list%k(:list%n) - cell(3), i2)
    piece%w = list%w(:list%n)
  end subroutine MakePiece

  !> All stencils in one list; the pieces are gone then.
  subroutine Join(map, piece, error)
    type(fd3d_map_t), intent(inout) :: map
    type(piece_t), intent(inout) :: piece(:)
    type(error_t), allocatable, intent(inout) :: error
    integer(i8) :: total
    integer :: s, n, at, status
    total = 0
    do s = 1, size(piece)
      total = total + size(piece(s)%w)
    end do
    if (total >= huge(1)) then
      call Fail(error, 'the map of ground velocity at '//Str(size(map%i))//' points of rough ground takes '// &
                Str(real(total, dp), 3)//' weights, at most 2.1e9 can be: take fewer points (snapshot_step)')
      return
    end if
    n = int(total)
    allocate (map%start(3*size(piece) + 1), map%di(n), map%dj(n), map%dk(n), map%w(n), stat=status)
    if (status /= 0) then
      call Fail(error, 'no memory for the '//Str(n)//' weights of the map of ground velocity: take fewer points (snapshot_step)')
      return
    end if
    at = 0
    do s = 1, size(piece)
      map%start(3*s - 2:3*s + 1) = at + piece(s)%start
      n = size(piece(s)%w)
      map%di(at + 1:at + n) = piece(s)%at(1, :)
      map%dj(at + 1:at + n) = piece(s)%at(2, :)
      map%dk(at + 1:at + n) = piece(s)%at(3, :)
      map%w(at + 1:at + n) = piece(s)%w
      deallocate (piece(s)%at, piece(s)%w)
      at = at + n
    end do
  end subroutine Join

  !> Points of a map whose cells a rank's piece owns, all that they are read from and their own: `own`, counted in the piece, number
  !> `kept` of them. Of the others those that have some: `shared`.
  subroutine Fd3dMapShare(map, around, piece, own, kept, shared)
    type(fd3d_map_t), intent(in) :: map             !< cells counted in the box around the piece
    type(fd3d_grid_t), intent(in) :: around, piece
    type(fd3d_map_t), intent(out) :: own
    integer, allocatable, intent(out) :: kept(:), shared(:)
    logical :: all_owned(size(map%i)), some(size(map%i))
    integer :: p, m, away(3), at(3)
    away = piece%first - around%first
    some = .false.
    do p = 1, size(map%i)
      at = [map%i(p), map%j(p), map%k(p)] - away
      all_owned(p) = all(at >= 1 .and. at <= piece%n)
      do m = map%start(3*map%stencil(p) - 2), map%start(3*map%stencil(p) + 1) - 1
        at = [map%i(p) + map%di(m), map%j(p) + map%dj(m), map%k(p) + map%dk(m)] - away
        if (all(at >= 1 .and. at <= piece%n)) then
          some(p) = .true.
        else
          all_owned(p) = .false.
        end if
      end do
    end do
    kept = pack([(p, p=1, size(map%i))], all_owned .and. some)
    shared = pack([(p, p=1, size(map%i))], some .and. .not. all_owned)
    own = map
    own%i = map%i(kept) - away(1)
    own%j = map%j(kept) - away(2)
    own%k = map%k(kept) - away(3)
    own%stencil = map%stencil(kept)
  end subroutine Fd3dMapShare

  !> The levels whose largest a map keeps: horizontal and vertical velocity, and the vector.
  pure function Fd3dLevels(v)
    real(sp), intent(in) :: v(3)
    real(sp) :: Fd3dLevels(3)
    real(dp) :: level
    level = real(v(1), dp)**2 + real(v(2), dp)**2
    Fd3dLevels = real([sqrt(level), abs(real(v(3), dp)), sqrt(level + real(v(3), dp)**2)], sp)
  end function Fd3dLevels

  ! --- points alike ---------------------------------------------------------------------------------------------------

  !> Fingerprints of 128 bits of what is around each point. Row after row of the grid: a column of cells is one number, which moves
  !> on by a cell from row to row.
  subroutine MakeKeys(grid, i, j, k, key, rho, mu)
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: i(:), j(:), k(:)
    integer(i8), intent(out) :: key(:, :)
    real(sp), intent(in), pointer, contiguous, dimension(:, :, :) :: rho, mu
    integer(i8), allocatable :: column(:, :)
    integer, allocatable :: order(:), first(:)
    integer :: a, b, row, m
    call SortByRow(k, order, first)
    allocate (column(1 - across:grid%n(1) + across, 1 - across:grid%n(2) + across), source=0_i8)
    do row = lbound(first, 1) - 2*down, ubound(first, 1) - 1
      !$omp parallel do private(a) num_threads(ThreadsOf(grid%threads))
      do b = lbound(column, 2), ubound(column, 2)
        do a = lbound(column, 1), ubound(column, 1)
          column(a, b) = ishft(column(a, b), -bits) + ishft(What([a, b, row + down]), 2*down*bits)
        end do
      end do
      !$omp end parallel do
      if (row < lbound(first, 1)) cycle
      !$omp parallel do num_threads(ThreadsOf(grid%threads))
      do m = first(row), first(row + 1) - 1
        call Mix(column(i(order(m)) - across:i(order(m)) + across, j(order(m)) - across:j(order(m)) + across), &
                 [Side(1, i(order(m))), Side(2, j(order(m))), Side(3, k(order(m)))], key(:, order(m)))
      end do
      !$omp end parallel do
    end do

  contains

    !> A number that cells of the same medium share.
    pure integer(i8) function What(cell)
      integer, intent(in) :: cell(3)
      integer :: at(3)
      at = cell
      where (grid%side([1, 3, 5]) == side_periodic) at = 1 + modulo(at - 1, grid%n)
      What = outside
      if (any(at < 1 .or. at > grid%n)) return
      What = inside
      if (.not. (associated(rho) .and. associated(mu))) return
      if (.not. rho(at(1), at(2), at(3)) > 0) then
        What = air
      else if (.not. mu(at(1), at(2), at(3)) > 0) then
        What = fluid
      end if
    end function What

    !> Near a periodic side cells at the other end are further away, so points there are not like others.
    pure integer(i8) function Side(axis, place)
      integer, intent(in) :: axis, place
      Side = 0
      if (grid%side(2*axis) /= side_periodic) return
      if (place <= down .or. place > grid%n(axis) - down) Side = place
    end function Side
  end subroutine MakeKeys

  !> Two shift registers of different taps.
  pure subroutine Mix(column, more, key)
    integer(i8), intent(in) :: column(:, :), more(3)
    integer(i8), intent(out) :: key(2)
    integer :: a, b
    key = [88172645463325252_i8, 3935559000370003845_i8]
    do b = 1, size(column, 2)
      do a = 1, size(column, 1)
        call Add(key, column(a, b))
      end do
    end do
    do a = 1, 3
      call Add(key, more(a))
    end do
  end subroutine Mix

  pure subroutine Add(key, value)
    integer(i8), intent(inout) :: key(2)
    integer(i8), intent(in) :: value
    key = ieor(key, value)
    key = ieor(key, ishft(key, [13, 21]))
    key = ieor(key, ishft(key, [-7, -35]))
    key = ieor(key, ishft(key, [17, 4]))
  end subroutine Add

  !> Points by rows: those of row r are order(first(r)) .. order(first(r+1)-1).
  pure subroutine SortByRow(k, order, first)
    integer, intent(in) :: k(:)
    integer, allocatable, intent(out) :: order(:), first(:)
    integer, allocatable :: next(:)
    integer :: p, r
    allocate (order(size(k)), first(minval(k):maxval(k) + 1), source=0)
    do p = 1, size(k)
      first(k(p) + 1) = first(k(p) + 1) + 1
    end do
    first(lbound(first, 1)) = 1
    do r = lbound(first, 1) + 1, ubound(first, 1)
      first(r) = first(r - 1) + first(r)
    end do
    next = first
    do p = 1, size(k)
      order(next(k(p))) = p
      next(k(p)) = next(k(p)) + 1
    end do
  end subroutine SortByRow

  !> Numbers points of the same key alike, from 1; one(s): a point of number s. A table of keys, half empty at least.
  subroutine FindAlike(key, number, one)
    integer(i8), intent(in) :: key(:, :)
    integer, intent(out) :: number(:)
    integer, allocatable, intent(out) :: one(:)
    integer, allocatable :: table(:), found(:)
    integer(i8) :: mask
    integer :: p, at, n
    mask = 2
    do while (mask < 2*size(key, 2, i8))
      mask = 2*mask
    end do
    mask = mask - 1
    allocate (table(0:mask), source=0)
    allocate (found(size(key, 2)))
    n = 0
    do p = 1, size(key, 2)
      at = int(iand(key(1, p), mask))
      do while (table(at) > 0)
        if (all(key(:, found(table(at))) == key(:, p))) exit
        at = int(iand(at + 1_i8, mask))
      end do
      if (table(at) == 0) then
        n = n + 1
        found(n) = p
        table(at) = n
      end if
      number(p) = table(at)
    end do
    one = found(:n)
  end subroutine FindAlike

end module fd3d_map_m
