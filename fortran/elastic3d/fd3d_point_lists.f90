!> Sources and receivers of the 3D time loop as lists of fields at cells with weights: forces, moment tensors and records at any
!> point.
!>
!> Positions [m] count from the left front upper corner of the whole grid: cell i is centred at (i - 1/2) dx, a free surface is z =
!> 0. Each field stands elsewhere in its cell, so each gets weights of its own (sinc.f90): nothing is snapped, and the parts of a
!> moment tensor are centred at the same point. Where Q falls below 1000 (grid%even) the weights of stresses, and of velocities
!> whose derivatives are recorded, are even: each of the eight mechanisms of a pattern then has the same share of a source and of
!> what is recorded, wherever in the pattern it stands. Where the eight nodes reach above a free surface others take their place
!> along z (surface_weights.f90), and sources act on the shares of rows of fd3d_surface.f90. Beside contacts of rock, fluid and air
!> points and weights are those of fd3d_ground.f90; a list knows of contacts if its `rho` and `mu` point to the medium.
module fd3d_point_lists_m
  use error_m, only: error_t, Fail
  use fd3d_engine_m, only: fd3d_grid_t, field_sxx, field_sxy, field_sxz, field_syy, field_syz, field_szz, field_vx, field_vy, &
                           field_vz, side_free, side_periodic
  use fd3d_ground_m, only: ground_nodes, GroundHome, GroundNear, GroundWeights, spot_t
  use fd3d_medium_m, only: Fd3dBuoyancy
  use fd3d_surface_m, only: fd3d_surface_t, Fd3dSurface, surface_rows
  use kinds_m, only: dp, i8, sp
  use fd3d_pieces_m, only: Fd3dTouches
  use off_grid_points_m, only: Lengthen
  use sinc_m, only: sinc_nodes, SincEven, SincWeights
  use sort_m, only: SortOrder
  use surface_weights_m, only: SurfaceOfRock, SurfaceOfWater
  use text_m, only: Str
  implicit none
  private
  public :: fd3d_list_t, Fd3dForce, Fd3dMoves, Fd3dMoment, Fd3dRecord, Fd3dPressure, Fd3dRead, Fd3dRoom, Fd3dSum, Fd3dMerge
  public :: Fd3dOwned, Fd3dEven, StandsOnHalf

  !> The stresses in the order of a moment tensor's parts: xx, yy, zz, xy, xz, yz.
  integer, parameter, public :: fd3d_tensor(6) = [field_sxx, field_syy, field_szz, field_sxy, field_sxz, field_syz]

  !> Entries of a list; only the cells that a subdomain owns. Receivers: entries start(r) .. start(r+1)-1 belong to r.
  !>
  !> Of a grid cut into pieces, each rank makes the list of its own cells: first of all points that touch its `piece`, in the box
  !> around it whose medium it knows, then Fd3dOwned leaves out what other ranks own. So ranks need not tell each other weights.
  type :: fd3d_list_t
    integer :: n = 0
    integer, allocatable :: field(:), i(:), j(:), k(:), h(:)
    real(sp), allocatable :: w(:)
    integer :: receivers = 0
    integer, allocatable :: start(:)              !< at least (receivers+1)
    real(sp), pointer, contiguous :: rho(:, :, :) => null(), mu(:, :, :) => null()   !< with a ring, (0:n+1); null: no contact
    logical :: cut = .false.                      !< nodes beyond the grid, where fields are 0, are left out; else refused
    type(fd3d_grid_t), allocatable :: piece
    logical :: partly = .false.                   !< parts of the receiver under way touch other pieces only
    real(dp), allocatable :: share(:, :)          !< of fd3d_surface_t, once a source is below a free surface
    logical, allocatable :: elsewhere(:)          !< other pieces have entries of this receiver too, at least (receivers)
  end type fd3d_list_t

  !> Weights along one axis.
  type :: axis_t
    integer :: n = 0, node(sinc_nodes) = 0
    real(dp) :: w(sinc_nodes) = 0
  end type axis_t

contains

  !> A force (fx, fy, fz) times history h [N]: dv = dt f/(rho V). rho as for the model, (0:nx+1, 0:ny+1, 0:nz+1), or of the cells
  !> from `low` on, as far as the force acts.
  subroutine Fd3dForce(list, grid, rho, x, f, h, error, low)
    type(fd3d_list_t), intent(inout) :: list
    type(fd3d_grid_t), intent(in) :: grid
    real(sp), intent(in) :: rho(0:, 0:, 0:)
    real(dp), intent(in) :: x(3), f(3)
    integer, intent(in) :: h
    type(error_t), allocatable, intent(inout) :: error
    integer, intent(in), optional :: low(3)
    integer :: c, first
    do c = 1, 3
      first = list%n + 1
      if (abs(f(c)) > 0) call AddPoint(list, grid, field_vx + c - 1, x, f(c)*grid%dt/product(grid%d), h, .true., error)
      call Fd3dMoves(list, rho, first, low)
    end do
  end subroutine Fd3dForce

  !> Entries from `first` on, of forces, become those of velocities.
  subroutine Fd3dMoves(list, rho, first, low)
    type(fd3d_list_t), intent(inout) :: list
    real(sp), intent(in) :: rho(0:, 0:, 0:)
    integer, intent(in) :: first
    integer, intent(in), optional :: low(3)
    integer :: m, at(3)
    do m = first, list%n
      at = [list%i(m), list%j(m), list%k(m)]
      if (present(low)) at = at - low
      list%w(m) = list%w(m)*Fd3dBuoyancy(rho, list%field(m), at(1), at(2), at(3))
    end do
  end subroutine Fd3dMoves

  !> A moment tensor m (xx, yy, zz, xy, xz, yz) times history h of its rate [N m/s]: ds = -dt m/V.
  subroutine Fd3dMoment(list, grid, x, m, h, error)
    type(fd3d_list_t), intent(inout) :: list
    type(fd3d_grid_t), intent(in) :: grid
    real(dp), intent(in) :: x(3), m(6)
    integer, intent(in) :: h
    type(error_t), allocatable, intent(inout) :: error
    integer :: c
    do c = 1, 6
      if (abs(m(c)) > 0) call AddPoint(list, grid, fd3d_tensor(c), x, -m(c)*grid%dt/product(grid%d), h, .true., error)
    end do
  end subroutine Fd3dMoment

  !> One more receiver: the value of a field at x; `of`: of a velocity, as a part of a derivative there. It is that of the medium at
  !> `of`: along a sea floor water slips, and a difference across it would take the slip for strain.
  subroutine Fd3dRecord(list, grid, x, field, error, of)
    type(fd3d_list_t), intent(inout) :: list
    type(fd3d_grid_t), intent(in) :: grid
    real(dp), intent(in) :: x(3)
    integer, intent(in) :: field
    type(error_t), allocatable, intent(inout) :: error
    real(dp), intent(in), optional :: of(3)
    call AddPoint(list, grid, field, x, 1.0_dp, 0, .false., error, of)
    call CloseReceiver(list)
  end subroutine Fd3dRecord

  !> One more receiver: pressure, -(sxx + syy + szz)/3, at x.
  subroutine Fd3dPressure(list, grid, x, error)
    type(fd3d_list_t), intent(inout) :: list
    type(fd3d_grid_t), intent(in) :: grid
    real(dp), intent(in) :: x(3)
    type(error_t), allocatable, intent(inout) :: error
    integer :: c
    do c = 1, 3
      call AddPoint(list, grid, fd3d_tensor(c), x, -1.0_dp/3, 0, .false., error)
    end do
    call CloseReceiver(list)
  end subroutine Fd3dPressure

  !> One more receiver: the sum of w times `field` of the cells at(:, m).
  subroutine Fd3dRead(list, field, at, w)
    type(fd3d_list_t), intent(inout) :: list
    integer, intent(in) :: field, at(:, :)
    real(sp), intent(in) :: w(:)
    integer :: m
    if (.not. allocated(list%w)) call Grow(list)
    do m = 1, size(w)
      call AddEntry(list, field, at(:, m), real(w(m), dp), 0)
    end do
    call CloseReceiver(list)
  end subroutine Fd3dRead

  !> Entries w of stresses, in the order of fd3d_tensor, or velocities of cells from `low` on, for a point at x: of history h of a
  !> source, or for h = 0 of one more receiver.
  subroutine Fd3dSum(list, grid, x, low, w, stress, h)
    type(fd3d_list_t), intent(inout) :: list
    type(fd3d_grid_t), intent(in) :: grid
    real(dp), intent(in) :: x(3)
    integer, intent(in) :: low(3)
    real(dp), intent(in) :: w(:, :, :, :)         !< (cells along x, y, z, fields)
    logical, intent(in) :: stress
    integer, intent(in) :: h
    integer :: at(3), c, i, j, k, a
    if (.not. allocated(list%w)) call Grow(list)
    if (allocated(list%piece)) list%partly = .not. Fd3dTouches(list%piece, grid, x)
    if (.not. list%partly) then
      do c = 1, size(w, 4)
        do k = 1, size(w, 3)
          do j = 1, size(w, 2)
            do i = 1, size(w, 1)
              if (abs(w(i, j, k, c)) <= 0) cycle
              at = low + [i, j, k] - 1
              do a = 1, 3
                if (grid%side(2*a) == side_periodic) at(a) = 1 + modulo(at(a) - 1, grid%whole(a))
              end do
              if (any(at < 1 .or. at > grid%n)) cycle
              if (stress) call AddEntry(list, fd3d_tensor(c), at, w(i, j, k, c), h)
              if (.not. stress) call AddEntry(list, field_vx + c - 1, at, w(i, j, k, c), h)
            end do
          end do
        end do
      end do
    end if
    if (h == 0) call CloseReceiver(list)
  end subroutine Fd3dSum

  !> Entries of the newest receiver that read the same cell become one, in the order of cells: differences read most cells several
  !> times.
  subroutine Fd3dMerge(list)
    type(fd3d_list_t), intent(inout) :: list
    integer(i8), allocatable :: cell(:)
    integer, allocatable :: order(:), at(:, :)
    real(dp), allocatable :: w(:)
    integer :: n(3), first, last, m
    first = list%start(list%receivers)
    at = reshape([list%i(first:list%n), list%j(first:list%n), list%k(first:list%n), list%field(first:list%n)], &
                 [list%n - first + 1, 4])
    w = real(list%w(first:list%n), dp)
    n = maxval(at(:, :3), dim=1)
    cell = at(:, 1) + (n(1) + 1_i8)*(at(:, 2) + (n(2) + 1_i8)*(at(:, 3) + (n(3) + 1_i8)*at(:, 4)))
    call SortOrder(cell, order)
    list%n = first - 1
    last = 0
    do m = 1, size(order)
      if (m > 1) then
        if (cell(order(m)) == cell(last)) then
          w(last) = w(last) + w(order(m))
          list%w(list%n) = real(w(last), sp)
          cycle
        end if
      end if
      last = order(m)
      call AddEntry(list, at(last, 4), at(last, :3), w(last), 0)
    end do
    list%start(list%receivers + 1) = list%n + 1
  end subroutine Fd3dMerge

  !> Fails where a list cannot have so many more cells: default integers count them.
  subroutine Fd3dRoom(list, cells, error)
    type(fd3d_list_t), intent(in) :: list
    integer, intent(in) :: cells
    type(error_t), allocatable, intent(inout) :: error
    if (list%n > huge(1) - cells .and. .not. allocated(error)) &
      call Fail(error, 'the cells that it takes and those of the points before it are more than 2.1e9: take fewer receivers, '// &
                'fewer components, or fewer points of a fault')
  end subroutine Fd3dRoom

  !> The receiver under way ends. Where there is no room for it there will be for twice as many: 10**5 of them are not copied for
  !> each one more.
  subroutine CloseReceiver(list)
    type(fd3d_list_t), intent(inout) :: list
    if (.not. allocated(list%start)) list%start = [1]
    if (.not. allocated(list%elsewhere)) allocate (list%elsewhere(0))
    if (list%receivers == size(list%elsewhere)) list%elsewhere = [list%elsewhere, list%partly, list%elsewhere]
    if (list%receivers + 1 == size(list%start)) call Lengthen(list%start, 2*size(list%start))
    list%receivers = list%receivers + 1
    list%start(list%receivers + 1) = list%n + 1
    list%elsewhere(list%receivers) = list%partly
    list%partly = .false.
  end subroutine CloseReceiver

  !> Entries for a field at x, times `scale`; `acts`: of a source; `of`: as for Fd3dRecord.
  subroutine AddPoint(list, grid, field, x, scale, h, acts, error, of)
    type(fd3d_list_t), intent(inout) :: list
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: field, h
    real(dp), intent(in) :: x(3), scale
    logical, intent(in) :: acts
    type(error_t), allocatable, intent(inout) :: error
    real(dp), intent(in), optional :: of(3)
    type(axis_t) :: along(3)
    real(dp), allocatable :: share(:)
    integer :: a, l, m, n, at(3)
    logical :: beside, even
    call Fd3dRoom(list, max(sinc_nodes**3, ground_nodes), error)
    if (allocated(error)) return
    if (.not. allocated(list%w)) call Grow(list)
    if (allocated(list%piece)) then
      if (.not. Fd3dTouches(list%piece, grid, x)) then
        list%partly = .true.
        return
      end if
    end if
    even = grid%even .and. (field >= field_sxx .or. present(of))
    if (acts .and. grid%side(5) == side_free) share = Shares(list, grid, field)
    do a = 1, 3
      call AxisWeights(grid, field, a, x(a), even, list%cut, along(a), error)
      if (allocated(error)) return
    end do
    if (allocated(share)) call ActOnShares(share, along(3)%node, along(3)%w)
    if (associated(list%rho)) then
      call AddBeside(list, grid, field, x, scale, h, acts, beside, share, of)
      if (beside) return
    end if
    do n = 1, along(3)%n
      do m = 1, along(2)%n
        do l = 1, along(1)%n
          at = [along(1)%node(l), along(2)%node(m), along(3)%node(n)] - grid%first + 1
          if (any(at < 1 .or. at > grid%n)) cycle
          call AddEntry(list, field, at, scale*along(1)%w(l)*along(2)%w(m)*along(3)%w(n), h)
        end do
      end do
    end do
  end subroutine AddPoint

  !> The same beside a contact; not `beside`: there is none within reach of the sinc.
  subroutine AddBeside(list, grid, field, x, scale, h, acts, beside, share, of)
    type(fd3d_list_t), intent(inout) :: list
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: field, h
    real(dp), intent(in) :: x(3), scale
    logical, intent(in) :: acts
    logical, intent(out) :: beside
    real(dp), intent(in), optional :: share(:), of(3)
    type(spot_t) :: spot
    integer :: m, a
    spot%field = field
    spot%acts = acts
    spot%place = x/grid%d - (grid%first - 1) + [(merge(1.0_dp, 0.5_dp, StandsOnHalf(field, a)), a=1, 3)]
    if (present(of)) spot%home = GroundHome(grid, list%rho, list%mu, of/grid%d - (grid%first - 1))
    if (.not. present(of)) spot%home = GroundHome(grid, list%rho, list%mu, x/grid%d - (grid%first - 1))
    beside = GroundNear(grid, list%rho, list%mu, spot)
    if (.not. beside) return
    call GroundWeights(grid, list%rho, list%mu, spot)
    if (present(share)) call ActOnShares(share, spot%node(3, :spot%n) + grid%first(3) - 1, spot%w(:spot%n))
    do m = 1, spot%n
      if (abs(spot%w(m)) > 0) call AddEntry(list, field, spot%node(:, m), scale*spot%w(m), h)
    end do
  end subroutine AddBeside

  !> Of the first rows below a free surface, for a field; found once a list, as a fault has 10**5 points.
  function Shares(list, grid, field) result(share)
    type(fd3d_list_t), intent(inout) :: list
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: field
    real(dp) :: share(surface_rows)
    type(fd3d_surface_t) :: surface
    if (.not. allocated(list%share)) then
      surface = Fd3dSurface(grid, .false.)
      list%share = surface%share
    end if
    share = list%share(:, merge(2, 1, StandsOnHalf(field, 3)))
  end function Shares

  !> Cells along an axis of the whole grid, and even weights, by which the middle of cell c has of what stands in centres the same
  !> share of all mechanisms. Cells may lie outside.
  subroutine Fd3dEven(grid, axis, c, node, w)
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: axis, c
    integer, intent(out) :: node(sinc_nodes)
    real(dp), intent(out) :: w(sinc_nodes)
    type(axis_t) :: along
    type(error_t), allocatable :: error           ! none, as cells outside are no fault
    call AxisWeights(grid, field_sxx, axis, (c - 0.5_dp)*grid%d(axis), .true., .true., along, error)
    node = c
    node(:along%n) = along%node(:along%n)
    w = along%w
  end subroutine Fd3dEven

  !> Weights of a source in rows, from 1, that have less than a cell, or more.
  pure subroutine ActOnShares(share, row, w)
    real(dp), intent(in) :: share(:)
    integer, intent(in) :: row(:)
    real(dp), intent(inout) :: w(:)
    integer :: m
    do m = 1, size(w)
      if (row(m) >= 1 .and. row(m) <= size(share)) w(m) = w(m)/share(row(m))
    end do
  end subroutine ActOnShares

  !> Nodes, counted in the whole grid, and their weights for a point at x along an axis.
  subroutine AxisWeights(grid, field, axis, x, even, cut, along, error)
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: field, axis
    real(dp), intent(in) :: x
    logical, intent(in) :: even, cut
    type(axis_t), intent(out) :: along
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: place, w(sinc_nodes)
    integer :: first, m, nodes
    place = x/grid%d(axis) + merge(1.0_dp, 0.5_dp, StandsOnHalf(field, axis))
    nodes = sinc_nodes
    if (even) then
      call SincEven(place, first, w)
    else
      call SincWeights(place, first, w)
    end if
    if (axis == 3 .and. grid%side(5) == side_free) then
      if (grid%wet) call SurfaceOfWater(StandsOnHalf(field, axis), first, nodes, w)
      if (.not. grid%wet) call SurfaceOfRock(place, even, first, nodes, w)
    end if
    do m = 1, nodes
      if (.not. abs(w(m)) > 0) cycle
      along%n = along%n + 1
      along%node(along%n) = first + m - 1
      along%w(along%n) = w(m)
    end do
    if (grid%side(2*axis) == side_periodic) along%node = 1 + modulo(along%node - 1, grid%whole(axis))
    if (.not. cut .and. any(along%node(:along%n) < 1 .or. along%node(:along%n) > grid%whole(axis))) &
      call Fail(error, 'a source or receiver at '//Str(x, 6)//' m along axis '//Str(axis)//' is within '//Str(sinc_nodes/2)// &
                ' cells of the end of the grid, which is '//Str(grid%whole(axis)*grid%d(axis), 6)//' m long')
  end subroutine AxisWeights

  !> True if a field stands half a cell before the centre along an axis.
  pure logical function StandsOnHalf(field, axis)
    integer, intent(in) :: field, axis
    select case (axis)
    case (1)
      StandsOnHalf = any(field == [field_vx, field_sxy, field_sxz])
    case (2)
      StandsOnHalf = any(field == [field_vy, field_sxy, field_syz])
    case default
      StandsOnHalf = any(field == [field_vz, field_sxz, field_syz])
    end select
  end function StandsOnHalf

  subroutine AddEntry(list, field, at, w, h)
    type(fd3d_list_t), intent(inout) :: list
    integer, intent(in) :: field, at(3), h
    real(dp), intent(in) :: w
    if (list%n == size(list%w)) call Grow(list)
    list%n = list%n + 1
    list%field(list%n) = field
    list%i(list%n) = at(1)
    list%j(list%n) = at(2)
    list%k(list%n) = at(3)
    list%h(list%n) = h
    list%w(list%n) = real(w, sp)
  end subroutine AddEntry

  !> Leaves the entries that the list's piece owns, counted in it, of a list made in the box around it.
  subroutine Fd3dOwned(list, around)
    type(fd3d_list_t), intent(inout) :: list
    type(fd3d_grid_t), intent(in) :: around
    integer :: away(3), at(3), kept, m, r, first
    away = list%piece%first - around%first
    kept = 0
    r = 1
    first = 1
    do m = 1, list%n + 1
      if (allocated(list%start)) call CloseBefore()
      if (m > list%n) exit
      at = [list%i(m), list%j(m), list%k(m)] - away
      if (any(at < 1 .or. at > list%piece%n)) then
        if (allocated(list%start)) list%elsewhere(r) = .true.
        cycle
      end if
      kept = kept + 1
      list%field(kept) = list%field(m)
      list%i(kept) = at(1)
      list%j(kept) = at(2)
      list%k(kept) = at(3)
      list%h(kept) = list%h(m)
      list%w(kept) = list%w(m)
    end do
    list%n = kept

  contains

    !> Receivers that end before entry m.
    subroutine CloseBefore()
      do while (r <= list%receivers)
        if (list%start(r + 1) > m) exit
        list%start(r) = first
        first = kept + 1
        r = r + 1
      end do
      if (r > list%receivers) list%start(r) = kept + 1
    end subroutine CloseBefore
  end subroutine Fd3dOwned

  !> Makes room for half as many entries more.
  subroutine Grow(list)
    type(fd3d_list_t), intent(inout) :: list
    integer :: room
    room = max(1024, list%n + min(list%n/2, huge(1) - list%n))
    call Lengthen(list%field, room)
    call Lengthen(list%i, room)
    call Lengthen(list%j, room)
    call Lengthen(list%k, room)
    call Lengthen(list%h, room)
    call Lengthen(list%w, room)
  end subroutine Grow

end module fd3d_point_lists_m
