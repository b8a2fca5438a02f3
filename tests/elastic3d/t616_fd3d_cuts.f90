!> Cuts of random grids: pieces are thick enough, take equal time, and no even cut is expected to be faster; on GPUs planes
!> across x stand where warps end; for wide halos pieces are thicker, and periodic axes whole.
program t616_fd3d_cuts
  use check_m, only: Claim, Done
  use error_m, only: error_t
  use fd3d_engine_m, only: fd3d_grid_t, side_free, side_neighbour, side_one_way, side_outside, side_periodic
  use fd3d_pieces_m, only: Fd3dCuts, Fd3dGain, Fd3dMayWiden, Fd3dPiece, Fd3dWiden
  use kinds_m, only: dp
  use subdomain_m, only: cuts_t, CutsEven, CutsWords
  use text_m, only: Str
  implicit none
  integer, parameter :: cases = 600

  call AtRandom()
  call Known()
  call Wide()
  call Done()

contains

  subroutine AtRandom()
    type(fd3d_grid_t) :: grid
    type(cuts_t) :: cuts
    type(error_t), allocatable :: error
    real(dp) :: worst, gain, exchange, other
    integer :: i, n, width(6), refused, thin, covered, unaligned, x, y, a
    logical :: gpu
    refused = 0
    thin = 0
    covered = 0
    unaligned = 0
    worst = 0
    call random_init(.true., .false.)
    do i = 1, cases
      call MakeGrid(grid, width, n, gpu)
      call Fd3dCuts(grid, width, n, [0, 0, 0], gpu, cuts, error)
      if (allocated(error)) then
        refused = refused + 1
        if (any([((all(Thick(grid, CutsEven(grid%n, [x, y, max(1, n/(x*y))]))) .and. modulo(n, x*y) == 0, x=1, n), y=1, n)])) &
          thin = thin + 1                     ! it could be cut
        deallocate (error)
        cycle
      end if
      if (.not. all(Thick(grid, cuts))) thin = thin + 1
      if (product(cuts%parts) == n .and. all([(cuts%last(0, a) == 0 .and. cuts%last(cuts%parts(a), a) == grid%n(a), a=1, 3)])) &
        covered = covered + 1
      if (gpu) then
        if (any(modulo(cuts%last(1:cuts%parts(1) - 1, 1), 32) /= 0) .and. grid%n(1) > 80*cuts%parts(1)) unaligned = unaligned + 1
        cycle
      end if
      call Fd3dGain(grid, width, cuts, gpu, gain, exchange)
      do x = 1, n
        do y = 1, n
          if (modulo(n, x*y) /= 0) cycle
          if (.not. all(Thick(grid, CutsEven(grid%n, [x, y, n/(x*y)])))) cycle
          call Fd3dGain(grid, width, CutsEven(grid%n, [x, y, n/(x*y)]), gpu, other, exchange)
          worst = max(worst, other/gain)
        end do
      end do
    end do
    call Claim(covered == cases - refused .and. refused < cases/4, Str(covered)//' random grids are cut, '//Str(refused)//' are too small')
    call Claim(thin == 0, 'each piece is as thick as its neighbours need, and none is refused that can be cut')
    call Claim(worst < 1 + 1e-6_dp, 'no even cut is expected to be faster: '//Str(worst, 4)//' times as fast at most')
    call Claim(unaligned == 0, 'on GPUs planes across x stand at multiples of 32 cells')
  end subroutine AtRandom

  !> Pieces along each axis that is cut have what their neighbours need, five rows more below a free surface, one above a one-way bottom.
  pure function Thick(grid, cuts) result(ok)
    type(fd3d_grid_t), intent(in) :: grid
    type(cuts_t), intent(in) :: cuts
    logical :: ok(3)
    integer :: a, p, rows
    ok = .true.
    do a = 1, 3
      if (cuts%parts(a) == 1) cycle
      do p = 1, cuts%parts(a)
        rows = grid%half_length
        if (p == 1 .and. grid%side(2*a - 1) == side_free) rows = rows + 5
        if (p == cuts%parts(a) .and. grid%side(2*a) == side_one_way) rows = rows + 1
        if (cuts%last(p, a) - cuts%last(p - 1, a) < rows) ok(a) = .false.
      end do
    end do
  end function Thick

  subroutine MakeGrid(grid, width, n, gpu)
    type(fd3d_grid_t), intent(out) :: grid
    integer, intent(out) :: width(6), n
    logical, intent(out) :: gpu
    real(dp) :: x(8)
    call random_number(x)
    gpu = x(1) < 0.5
    grid%n = 6 + int(x(2:4)**3*merge(600, 200, gpu))
    grid%whole = grid%n
    grid%half_length = 1 + int(4*x(5))
    grid%side = side_outside
    width = min(int(25*x(6)), (minval(grid%n) - 1)/2)
    if (x(7) < 0.3) grid%side(:4) = side_periodic
    if (x(7) < 0.3) width(:4) = 0
    if (x(7) > 0.2) grid%side(5) = side_free
    if (x(7) > 0.2) width(5) = 0
    if (x(7) > 0.8) grid%side(6) = side_one_way
    if (x(7) > 0.8) width(6) = 0
    n = 2 + int(11*x(8))
  end subroutine MakeGrid

  subroutine Known()
    type(fd3d_grid_t) :: grid
    type(cuts_t) :: cuts
    type(error_t), allocatable :: error
    real(dp) :: gain, exchange, even
    grid%n = 384
    grid%whole = 384
    grid%half_length = 2
    grid%side = side_outside
    grid%side(5) = side_free
    call Fd3dCuts(grid, [20, 20, 20, 20, 0, 20], 4, [1, 1, 4], .true., cuts, error)
    call Fd3dGain(grid, [20, 20, 20, 20, 0, 20], cuts, .true., gain, exchange)
    call Fd3dGain(grid, [20, 20, 20, 20, 0, 20], CutsEven(grid%n, [1, 1, 4]), .true., even, exchange)
    call Claim(cuts%last(4, 3) - cuts%last(3, 3) < cuts%last(1, 3) .and. gain > even, &
               'four slices of 384**3 cells below a free surface: the one with the layer at the bottom is the thinner, '// &
               CutsWords(cuts)//', '//Str(gain, 4)//' times as fast as whole; even ones '//Str(even, 4))
    call Fd3dCuts(grid, [20, 20, 20, 20, 0, 20], 8, [0, 0, 0], .true., cuts, error)
    call Claim(all(cuts%parts == 2) .and. modulo(cuts%last(1, 1), 32) == 0, 'eight pieces on GPUs: '//CutsWords(cuts))
    call Fd3dCuts(grid, [20, 20, 20, 20, 0, 20], 2, [0, 0, 0], .true., cuts, error)
    call Claim(cuts%parts(1) == 1, 'two pieces: x is not cut, '//CutsWords(cuts))
    call Fd3dCuts(grid, [20, 20, 20, 20, 0, 20], 200, [1, 1, 200], .false., cuts, error)
    call Claim(allocated(error), 'slices too thin are refused')
    if (allocated(error)) call Claim(index(error%message, '384 x 384 x 384 cells cannot be cut into 200 pieces, 1x1x200, of at least 2 '// &
                                           'cells') > 0, 'with a sentence: '//error%message)
  end subroutine Known

  !> Pieces twice as thick as differentiators are long, margins within the grid, and no periodic axis cut.
  subroutine Wide()
    type(fd3d_grid_t) :: grid, piece
    type(cuts_t) :: cuts
    type(error_t), allocatable :: error
    integer :: width(6), n, p, refused
    logical :: good, gpu
    good = .true.
    refused = 0
    do p = 1, 40
      call MakeGrid(grid, width, n, gpu)
      grid%wide = .true.
      if (allocated(error)) deallocate (error)
      call Fd3dCuts(grid, width, n, [0, 0, 0], .false., cuts, error)
      if (allocated(error)) refused = refused + 1
      if (allocated(error)) good = good .and. index(error%message, 'or halo_wide=n') > 0
      if (allocated(error)) cycle
      good = good .and. Fd3dMayWiden(grid, cuts) .and. all(cuts%parts == 1 .or. grid%side(1::2) /= side_periodic)
      do n = 1, product(cuts%parts)
        piece = Fd3dPiece(grid, width, cuts, n)
        good = good .and. all(piece%n >= 2*grid%half_length .or. cuts%parts == 1) .and. .not. piece%wide
        if (piece%side(6) == side_neighbour .and. piece%side(5) == side_free) good = good .and. piece%n(3) >= grid%half_length + 5
        piece = Fd3dWiden(grid, width, piece)
        good = good .and. piece%wide .and. all(piece%first >= 1) .and. all(piece%first + piece%n - 1 <= grid%n)
      end do
    end do
    call Claim(good .and. refused < 20, 'wide halos: pieces are thick enough, and margins lie in the grid; '//Str(refused)// &
               ' of 40 grids cannot be cut so, and say that narrow halos may do')
  end subroutine Wide

end program t616_fd3d_cuts
