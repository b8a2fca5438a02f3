!> A 3D grid cut into pieces, one for each rank of a group: where the planes are, the subdomain of a rank, and the box around it
!> whose medium the rank must know to make the weights of sources and receivers in its cells.
module fd3d_pieces_m
  use error_m, only: error_t, Fail
  use fd3d_absorb_m, only: Fd3dLayerWidths
  use fd3d_surface_m, only: surface_rows
  use fd3d_engine_m, only: fd3d_grid_t, side_free, side_neighbour, side_one_way, side_periodic
  use kinds_m, only: dp
  use subdomain_m, only: cuts_t, CutsBeside, CutsEven, CutsPiece
  use text_m, only: Str
  implicit none
  private
  public :: Fd3dCuts, Fd3dGain, Fd3dPiece, Fd3dWiden, Fd3dMayWiden, Fd3dAround, Fd3dPartner, Fd3dTouches, touches

  !> A point acts on, or is read from, cells no further away along any axis than this: eight nodes of a sinc, what a differentiator
  !> adds to them, and 7 rows and 3 more beside a contact (fd3d_ground.f90).
  integer, parameter :: touches = 12
  integer, parameter :: depends = 16              !< its weights depend on the medium of cells no further away than this

  !> Costs of a step, in the time of a cell that is neither in a layer nor beside a cut.
  type :: costs_t
    real(dp) :: heavy                             !< a cell in an absorbing layer
    real(dp) :: rim                               !< a cell in the rim at a cut, rim_rows deep
    real(dp) :: swapped                           !< a cell of a cut face: its numbers travel
    real(dp) :: strided                           !< so many times as much across x, where cells do not lie side by side
    integer :: rows                               !< planes across x are put at multiples of so many cells, if that can be
  end type costs_t

  integer, parameter :: rim_rows = 4
  !> H200, variant `tuned`, 384**3 cells, half-length 2, 2026-11-22: 58 ps a cell in layers and rims, 21 ps another one; three
  !> fields of two cells to another process over NVLink in 13..17 us, twice a step: 0.2 ns a cell of the face. A warp is 32 cells.
  type(costs_t), parameter :: on_gpu = costs_t(heavy=2.8_dp, rim=2.8_dp, swapped=10, strided=2, rows=32)
  !> On cores layers are as slow, and what travels is copied through memory twice; estimates.
  type(costs_t), parameter :: on_cores = costs_t(heavy=2.8_dp, rim=2.8_dp, swapped=6, strided=1.5_dp, rows=1)

contains

  !> Cuts a grid into n pieces, with layers of `width` cells around it, for GPUs or for cores; asked: pieces along x, y, z, or 0 to
  !> choose, as where they are not n. Fails where a piece would be thinner than the differentiators are long, or twice as long where
  !> halos are wide, which no cut periodic axis has.
  subroutine Fd3dCuts(grid, width, n, asked, gpu, cuts, error)
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: width(6), n, asked(3)
    logical, intent(in) :: gpu
    type(cuts_t), intent(out) :: cuts
    type(error_t), allocatable, intent(inout) :: error
    type(cuts_t) :: tried
    type(costs_t) :: costs
    real(dp) :: best, time, swaps
    integer :: x, y
    best = huge(best)
    costs = CostsOn(gpu)
    do x = 1, n
      if (modulo(n, x) /= 0) cycle
      do y = 1, n/x
        if (modulo(n/x, y) /= 0) cycle
        if (product(asked) == n .and. any([x, y, n/(x*y)] /= asked)) cycle
        if (any([x, y, n/(x*y)] > grid%n)) cycle
        call Try(Placed(grid, width, costs, [x, y, n/(x*y)]))
        call Try(CutsEven(grid%n, [x, y, n/(x*y)]))   ! what is best along each axis need not be so where pieces are small
      end do
    end do
    if (best < huge(best)) return
    call Fail(error, 'a grid of '//Str(grid%n(1))//' x '//Str(grid%n(2))//' x '//Str(grid%n(3))//' cells cannot be cut into '// &
              Str(n)//' pieces'//Asking()//' of at least '//Str(minval(Least(grid, 1, 2)))//' cells along a cut axis'//Below()// &
              ': give a smaller group'//Wide())

  contains

    !> Of equally fast ones the first is taken: x is cut last.
    subroutine Try(candidate)
      type(cuts_t), intent(in) :: candidate
      if (.not. Thick(grid, candidate)) return
      tried = candidate
      call Align(grid, costs, tried)
      call TimeOf(grid, width, costs, tried, time, swaps)
      if (time >= best*(1 - 1e-9_dp)) return
      best = time
      cuts = tried
    end subroutine Try

    pure function Below() result(text)
      character(:), allocatable :: text
      text = ''
      if (grid%side(5) == side_free) text = ', '//Str(maxval(Least(grid, 3, 1)))//' below a free surface'
    end function Below

    pure function Wide() result(text)
      character(:), allocatable :: text
      text = ''
      if (grid%wide) text = ', or halo_wide=n'
      if (grid%wide .and. any(grid%side == side_periodic)) text = text//', as wide halos leave periodic axes whole'
    end function Wide

    pure function Asking() result(text)
      character(:), allocatable :: text
      text = ''
      if (product(asked) == n) text = ', '//Str(asked(1))//'x'//Str(asked(2))//'x'//Str(asked(3))//','
    end function Asking
  end subroutine Fd3dCuts

  !> A step in pieces, as expected: `gain`, so many times faster than in one; `exchange`, part of it for what pieces give each
  !> other.
  pure subroutine Fd3dGain(grid, width, cuts, gpu, gain, exchange)
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: width(6)
    type(cuts_t), intent(in) :: cuts
    logical, intent(in) :: gpu
    real(dp), intent(out) :: gain, exchange
    real(dp) :: whole, pieces, swaps
    call TimeOf(grid, width, CostsOn(gpu), CutsEven(grid%n, [1, 1, 1]), whole, swaps)
    call TimeOf(grid, width, CostsOn(gpu), cuts, pieces, swaps)
    gain = whole/pieces
    exchange = swaps/pieces
  end subroutine Fd3dGain

  pure type(costs_t) function CostsOn(gpu) result(costs)
    logical, intent(in) :: gpu
    costs = on_cores
    if (gpu) costs = on_gpu
  end function CostsOn

  !> Cells that each of the pieces along an axis must have: what a neighbour needs, and more below a free surface or above a one-way
  !> bottom. The rows below a free surface are no part of a margin.
  pure function Least(grid, axis, parts) result(cells)
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: axis, parts
    integer :: cells(parts)
    cells = grid%half_length
    if (grid%side(2*axis - 1) == side_free) cells(1) = cells(1) + surface_rows
    if (grid%side(2*axis) == side_one_way) cells(parts) = cells(parts) + 1
    if (grid%wide) cells = max(cells, 2*grid%half_length)
  end function Least

  pure logical function Thick(grid, cuts)
    type(fd3d_grid_t), intent(in) :: grid
    type(cuts_t), intent(in) :: cuts
    integer :: a, p
    Thick = .true.
    do a = 1, 3
      p = cuts%parts(a)
      if (p > 1) Thick = Thick .and. all(cuts%last(1:p, a) - cuts%last(0:p - 1, a) >= Least(grid, a, p))
      if (p > 1 .and. grid%side(2*a) == side_periodic) Thick = Thick .and. .not. grid%wide
    end do
  end function Thick

  !> Planes so that all pieces along an axis take the same time.
  pure function Placed(grid, width, costs, parts) result(cuts)
    type(fd3d_grid_t), intent(in) :: grid
    type(costs_t), intent(in) :: costs
    integer, intent(in) :: width(6), parts(3)
    type(cuts_t) :: cuts
    real(dp) :: low, high, middle, row(maxval(grid%n)), cut
    integer :: a, turn, used, last(0:maxval(parts))
    logical :: round(3)
    round = grid%side(1::2) == side_periodic .and. parts > 1
    cuts%parts = parts
    allocate (cuts%last(0:maxval(parts), 3), source=0)
    do a = 1, 3
      call Rows(grid%n, width, costs, a, row(:grid%n(a)), cut)
      low = 0
      high = sum(row(:grid%n(a))) + 2*cut
      do turn = 1, 60
        middle = (low + high)/2
        call Fill(row(:grid%n(a)), Least(grid, a, parts(a)), cut, round(a), middle, parts(a), used, last)
        if (used > parts(a)) low = middle
        if (used <= parts(a)) high = middle
      end do
      call Fill(row(:grid%n(a)), Least(grid, a, parts(a)), cut, round(a), high, parts(a), used, last)
      cuts%last(:parts(a), a) = last(:parts(a))
    end do
  end function Placed

  !> Moves planes across x to multiples of costs%rows, unless pieces get too thin.
  pure subroutine Align(grid, costs, cuts)
    type(fd3d_grid_t), intent(in) :: grid
    type(costs_t), intent(in) :: costs
    type(cuts_t), intent(inout) :: cuts
    type(cuts_t) :: moved
    integer :: p
    moved = cuts
    do p = 1, cuts%parts(1) - 1
      moved%last(p, 1) = nint(real(cuts%last(p, 1), dp)/costs%rows)*costs%rows
    end do
    if (Thick(grid, moved)) cuts = moved
  end subroutine Align

  !> The time of each row along an axis, all cells across it, and what a cut adds to a piece, in the time of an inner row: of its
  !> cells too some are in the layers of the other axes.
  pure subroutine Rows(n, width, costs, axis, row, cut)
    integer, intent(in) :: n(3), width(6), axis
    type(costs_t), intent(in) :: costs
    real(dp), intent(out) :: row(:), cut
    real(dp) :: light(3), plain, inner
    light = real(max(0, n - width(1::2) - width(2::2)), dp)/n
    light(axis) = 1
    plain = product(light)
    inner = plain + costs%heavy*(1 - plain)
    cut = (rim_rows*(costs%rim - 1)*plain + costs%swapped*merge(costs%strided, 1.0_dp, axis == 1))/inner
    row = 1
    row(:min(n(axis), width(2*axis - 1))) = costs%heavy/inner
    row(max(1, n(axis) - width(2*axis) + 1):) = costs%heavy/inner
  end subroutine Rows

  !> Fills piece after piece up to `most`, each with `least` rows or more; a `cut` takes time too, of which each piece of a ring has
  !> two (`round`). `used`: pieces that takes.
  pure subroutine Fill(row, least, cut, round, most, parts, used, last)
    real(dp), intent(in) :: row(:), cut, most
    integer, intent(in) :: least(:), parts
    logical, intent(in) :: round
    integer, intent(out) :: used, last(0:)
    real(dp) :: time, slowest
    integer :: i
    used = 1
    last = 0
    slowest = 0
    time = Beside(1)
    do i = 1, size(row)
      if (used < parts .and. i - 1 - last(used - 1) >= least(used)) then
        if (time + row(i) > most .or. size(row) - (i - 1) <= sum(least(used + 1:))) then
          slowest = max(slowest, time)
          last(used) = i - 1
          used = used + 1
          time = Beside(used)
        end if
      end if
      time = time + row(i)
    end do
    if (max(slowest, time) > most) used = parts + 1
    last(parts) = size(row)

  contains

    !> The cost of a piece's cuts.
    pure real(dp) function Beside(p)
      integer, intent(in) :: p
      Beside = count([p > 1 .or. round, p < parts .or. round])*cut
    end function Beside
  end subroutine Fill

  !> The time of the slowest piece, and that of its swaps in it, in that of an inner cell.
  pure subroutine TimeOf(grid, width, costs, cuts, slowest, swaps)
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: width(6)
    type(costs_t), intent(in) :: costs
    type(cuts_t), intent(in) :: cuts
    real(dp), intent(out) :: slowest, swaps
    integer :: p, a, first(3), last(3), n(3), low(3), high(3), side
    real(dp) :: cells, light, plain, faces, time
    slowest = 0
    swaps = 0
    do p = 1, product(cuts%parts)
      call CutsPiece(cuts, p, first, last)
      n = last - first + 1
      cells = product(real(n, dp))
      low = max(first, width(1::2) + 1)
      high = min(last, grid%n - width(2::2))
      light = product(real(max(0, high - low + 1), dp))       ! in no layer
      faces = 0
      do side = 1, 6
        a = (side + 1)/2
        if (Fd3dPartner(grid, cuts, p, side) == 0) cycle
        faces = faces + cells/n(a)*merge(costs%strided, 1.0_dp, a == 1)
        if (modulo(side, 2) == 1) low(a) = max(low(a), first(a) + rim_rows)
        if (modulo(side, 2) == 0) high(a) = min(high(a), last(a) - rim_rows)
      end do
      plain = product(real(max(0, high - low + 1), dp))       ! nor in a rim
      time = costs%heavy*(cells - light) + costs%rim*(light - plain) + plain + costs%swapped*faces
      if (time <= slowest) cycle
      slowest = time
      swaps = costs%swapped*faces
    end do
  end subroutine TimeOf

  !> The subdomain of a piece of the whole grid with layers of `width` cells.
  pure function Fd3dPiece(whole, width, cuts, piece) result(grid)
    type(fd3d_grid_t), intent(in) :: whole
    integer, intent(in) :: width(6), piece
    type(cuts_t), intent(in) :: cuts
    type(fd3d_grid_t) :: grid
    integer :: last(3), side
    grid = whole
    grid%wide = .false.
    call CutsPiece(cuts, piece, grid%first, last)
    grid%n = last - grid%first + 1
    do side = 1, 6
      if (Fd3dPartner(whole, cuts, piece, side) > 0) grid%side(side) = side_neighbour
    end do
    if (any(whole%layer > 0)) grid%layer = Fd3dLayerWidths(grid, width)
  end function Fd3dPiece

  !> A piece of the whole grid with the margins of wide halos.
  pure function Fd3dWiden(whole, width, piece) result(grid)
    type(fd3d_grid_t), intent(in) :: whole, piece
    integer, intent(in) :: width(6)
    type(fd3d_grid_t) :: grid
    integer :: margin(6)
    grid = piece
    grid%wide = .true.
    margin = merge(piece%half_length, 0, piece%side == side_neighbour)
    grid%first = piece%first - margin(1::2)
    grid%n = piece%n + margin(1::2) + margin(2::2)
    if (any(whole%layer > 0)) grid%layer = Fd3dLayerWidths(grid, width)
  end function Fd3dWiden

  !> The pieces of a grid are thick enough for wide halos, and no periodic axis is cut.
  pure logical function Fd3dMayWiden(whole, cuts)
    type(fd3d_grid_t), intent(in) :: whole
    type(cuts_t), intent(in) :: cuts
    type(fd3d_grid_t) :: grid
    grid = whole
    grid%wide = .true.
    Fd3dMayWiden = Thick(grid, cuts)
  end function Fd3dMayWiden

  !> The piece beside another at a side, 0 if there is none: the end of the grid, or a periodic axis that is not cut.
  pure integer function Fd3dPartner(whole, cuts, piece, side) result(partner)
    type(fd3d_grid_t), intent(in) :: whole
    type(cuts_t), intent(in) :: cuts
    integer, intent(in) :: piece, side
    partner = CutsBeside(cuts, piece, side, whole%side(side) == side_periodic)
    if (cuts%parts((side + 1)/2) == 1) partner = 0
  end function Fd3dPartner

  !> The box around a piece whose medium decides the weights of all points that touch its cells. A periodic axis is taken whole.
  pure function Fd3dAround(whole, piece) result(box)
    type(fd3d_grid_t), intent(in) :: whole, piece
    type(fd3d_grid_t) :: box
    integer :: last(3)
    box = whole
    box%first = max(1, piece%first - touches - depends)
    last = min(whole%n, piece%first + piece%n - 1 + touches + depends)
    where (whole%side(1::2) == side_periodic)
      box%first = 1
      last = whole%n
    end where
    box%n = last - box%first + 1
  end function Fd3dAround

  !> A point at x [m] from the corner of the whole grid may act on cells of a piece, or be read from them; `box`: that around it,
  !> which has the sides of the whole grid. One outside the grid is the business of all ranks, which refuse it alike.
  pure logical function Fd3dTouches(piece, box, x)
    type(fd3d_grid_t), intent(in) :: piece, box
    real(dp), intent(in) :: x(3)
    integer :: a
    real(dp) :: cell
    Fd3dTouches = .true.
    if (any(x < 0 .or. x > piece%whole*piece%d)) return
    do a = 1, 3
      cell = x(a)/piece%d(a) + 1
      if (cell >= piece%first(a) - touches .and. cell <= piece%first(a) + piece%n(a) + touches) cycle
      if (box%side(2*a) == side_periodic .and. (piece%n(a) == piece%whole(a) .or. NearEnd(a))) cycle
      Fd3dTouches = .false.
    end do

  contains

    !> A place across the ends of a periodic axis is near both.
    pure logical function NearEnd(a)
      integer, intent(in) :: a
      NearEnd = cell <= touches .or. cell >= piece%whole(a) - touches
    end function NearEnd
  end function Fd3dTouches

end module fd3d_pieces_m
