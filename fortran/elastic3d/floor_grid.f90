!> The field of a 3D grid in water over rock, of waves that go as exp(s t), Re s > 0, from a volume in the water as it is spread
!> over its points: what a grid has next to the source and beside a sea floor (fd3d_floor_near.f90). Equations and the sum over
!> waves are those of layers_grid.f90; s is complex here, so what each wave makes of the source has two parts, whose sums are the
!> two parts of the field. Waves of the same wavenumber share a matrix.
module floor_grid_m
  use fd3d_engine_m, only: fd3d_fields, field_sxx, field_sxy, field_sxz, field_syy, field_syz, field_szz, field_vx, field_vy, &
                           field_vz
  use kinds_m, only: dp
  use layers_grid_m, only: Half, Phase, Turns
  implicit none
  private
  public :: floor_grid_t, floor_period, FloorGridField, FloorGridRows

  integer, parameter :: floor_period = 48         !< cells along x and y
  integer, parameter :: half_period = floor_period/2
  integer, parameter :: stretched = 12            !< rows on each end that grow by steps of
  real(dp), parameter :: stretches = 4            !< so many
  complex(dp), parameter :: i1 = (0.0_dp, 1.0_dp)
  integer, parameter :: most = 4                  !< waves of one wavenumber

  !> Rows of a grid whose medium is even along x and y. Far above and below they are ever higher, so that little comes back from
  !> where they end.
  type :: floor_grid_t
    integer :: rows = 0
    integer :: above = 0                          !< rows of the whole grid above them
    integer :: even(2) = 0                        !< rows of the height of cells, first and last
    integer :: half_length = 0
    real(dp) :: d(3) = 1, w(4) = 0
    logical :: free = .false.                     !< row 1 lies below a free surface of water
    real(dp), allocatable :: rho(:), lambda(:), mu(:)
    integer :: threads = 1
  end type floor_grid_t

  !> Matrix of P and SV waves of wavenumber k: a(:, :, 0) + k a(:, :, 1) + k**2 a(:, :, 2) + s**2 a(:, :, 3).
  type :: rows_t
    integer :: bands = 0
    real(dp), allocatable :: a(:, :, :)           !< (-bands:bands, unknowns, 0:3)
    real(dp), allocatable :: forward(:, :)        !< (k, :): difference, at the centre of row k, of what stands at upper faces
    real(dp), allocatable :: backward(:, :)       !< the other way
    real(dp), allocatable :: mu_face(:)
  end type rows_t

contains

  !> The rows for a source and receivers in rows `low` to `high` of the whole grid, whose media are still to come; `free`: this one
  !> has a free surface of water.
  pure subroutine FloorGridRows(grid, low, high, free)
    type(floor_grid_t), intent(inout) :: grid
    integer, intent(in) :: low, high
    logical, intent(in) :: free
    grid%above = low - grid%half_length - stretched - 1
    if (free) grid%above = max(0, grid%above)
    grid%free = free .and. grid%above == 0
    grid%even = [low - grid%half_length, high + grid%half_length] - grid%above
    if (grid%free) grid%even(1) = 1
    grid%rows = grid%even(2) + stretched
    allocate (grid%rho(grid%rows), grid%lambda(grid%rows), grid%mu(grid%rows))
  end subroutine FloorGridRows

  !> The field(x, y, row, field), cells from low(1:3) on, of the source(x, y, row), cells of the whole grid from first(1:3) on: what
  !> it adds to the normal stresses, per unit of the history. wanted(row, field): of the rows of `field`.
  subroutine FloorGridField(grid, s, first, source, wanted, low, field)
    type(floor_grid_t), intent(in) :: grid
    complex(dp), intent(in) :: s
    integer, intent(in) :: first(3), low(3)
    real(dp), intent(in) :: source(:, :, :)
    logical, intent(in) :: wanted(:, 0:)
    complex(dp), intent(out) :: field(:, :, :, 0:)
    complex(dp), allocatable :: sent(:, :, :), all(:, :, :, :, :), turn_x(:, :, :), turn_y(:, :, :)
    type(rows_t) :: rows
    complex(dp) :: both(size(field, 1), size(field, 2), 2)
    logical :: square
    integer :: a, b, n, k, members, wave(2, most), part
    call RowsMake(grid, rows)
    call Turns(floor_period, first(1), size(source, 1), turn_x)
    call Turns(floor_period, first(2), size(source, 2), turn_y)
    allocate (sent(size(source, 3), 0:half_period - 1, -half_period:half_period - 1))
    do k = 1, size(source, 3)
      sent(k, :, :) = matmul(matmul(conjg(turn_x(0:, :, 0)), cmplx(source(:, :, k), 0, dp)), transpose(conjg(turn_y(:, :, 0))))
    end do
    allocate (all(0:half_period - 1, -half_period:half_period - 1, size(field, 3), 0:fd3d_fields - 1, 2))
    square = .not. abs(grid%d(1) - grid%d(2)) > 0
    !$omp parallel do private(b, wave, members) schedule(dynamic) num_threads(grid%threads)
    do a = 0, half_period - 1
      do b = 0, merge(a, half_period - 1, square)
        wave(:, :2) = reshape([a, b, a, -b - 1], [2, 2])
        members = 2
        if (square .and. a /= b) then
          wave(:, 3:) = reshape([b, a, b, -a - 1], [2, 2])
          members = 4
        end if
        call Waves(grid, rows, s, wave(:, :members), first(3) - grid%above, sent, wanted, low(3) - grid%above, all)
      end do
    end do
    !$omp end parallel do
    call Turns(floor_period, low(1), size(field, 1), turn_x)
    call Turns(floor_period, low(2), size(field, 2), turn_y)
    !$omp parallel do collapse(2) private(both, part) num_threads(grid%threads)
    do n = 0, fd3d_fields - 1
      do k = 1, size(field, 3)
        if (.not. wanted(k, n)) cycle
        do part = 1, 2
          both(:, :, part) = matmul(matmul(transpose(turn_x(0:, :, Half(n, 1))), all(:, :, k, n, part)), turn_y(:, :, Half(n, 2)))
        end do
        field(:, :, k, n) = 2.0_dp/floor_period**2*cmplx(real(both(:, :, 1)), real(both(:, :, 2)), dp)
      end do
    end do
    !$omp end parallel do
  end subroutine FloorGridField

  subroutine RowsMake(grid, rows)
    type(floor_grid_t), intent(in) :: grid
    type(rows_t), intent(out) :: rows
    real(dp), dimension(grid%rows, grid%rows) :: shear, press
    real(dp) :: rho_face(grid%rows)
    integer :: n, r, c
    n = grid%rows
    rows%bands = 4*grid%half_length - 1
    allocate (rows%forward(n, n), rows%backward(n, n), rows%mu_face(n), source=0.0_dp)
    call Differences(grid, rows%forward, rows%backward)
    rho_face(1) = grid%rho(1)
    rho_face(2:) = (grid%rho(2:) + grid%rho(:n - 1))/2
    do r = 2, n
      if (min(grid%mu(r), grid%mu(r - 1)) > 0) rows%mu_face(r) = 2/(1/grid%mu(r) + 1/grid%mu(r - 1))
    end do
    shear = matmul(rows%forward, spread(rows%mu_face, 2, n)*rows%backward)
    press = matmul(rows%backward, spread(grid%lambda + 2*grid%mu, 2, n)*rows%forward)
    allocate (rows%a(-rows%bands:rows%bands, 2*n, 0:3), source=0.0_dp)
    do r = 1, n
      do c = max(1, r - 2*grid%half_length), min(n, r + 2*grid%half_length)
        call Put(2*r - 1, 2*c - 1, 0, -shear(r, c))
        call Put(2*r, 2*c, 0, -press(r, c))
        call Put(2*r - 1, 2*c, 1, -rows%forward(r, c)*(grid%lambda(r) + rows%mu_face(c)))
        call Put(2*r, 2*c - 1, 1, rows%backward(r, c)*(rows%mu_face(r) + grid%lambda(c)))
      end do
      call Put(2*r - 1, 2*r - 1, 2, grid%lambda(r) + 2*grid%mu(r))
      call Put(2*r, 2*r, 2, rows%mu_face(r))
      call Put(2*r - 1, 2*r - 1, 3, grid%rho(r))
      call Put(2*r, 2*r, 3, rho_face(r))
    end do

  contains

    subroutine Put(row, column, of, value)
      integer, intent(in) :: row, column, of
      real(dp), intent(in) :: value
      if (abs(column - row) <= rows%bands) rows%a(column - row, row, of) = value
    end subroutine Put

  end subroutine RowsMake

  !> Above a free surface of water normal stress is odd and vz even about it.
  pure subroutine Differences(grid, forward, backward)
    type(floor_grid_t), intent(in) :: grid
    real(dp), intent(inout), dimension(:, :) :: forward, backward
    integer :: k, m
    do k = 1, grid%rows
      do m = 1, grid%half_length
        call Put(forward, k + m, 2, 1, grid%w(m))
        call Put(forward, k - m + 1, 2, 1, -grid%w(m))
        call Put(backward, k + m - 1, 1, -1, grid%w(m))
        call Put(backward, k - m, 1, -1, -grid%w(m))
      end do
    end do
    do k = 1, grid%rows
      forward(k, :) = forward(k, :)/(grid%d(3)*Stretch(real(k, dp)))
      backward(k, :) = backward(k, :)/(grid%d(3)*Stretch(k - 0.5_dp))
    end do

  contains

    pure real(dp) function Stretch(row)
      real(dp), intent(in) :: row
      Stretch = 1 + (max(0.0_dp, grid%even(1) - row, row - grid%even(2))/stretches)**2
    end function Stretch

    pure subroutine Put(to, at, about, sign, w)
      real(dp), intent(inout) :: to(:, :)
      integer, intent(in) :: at, about, sign
      real(dp), intent(in) :: w
      if (at >= 1 .and. at <= grid%rows) to(k, at) = to(k, at) + w
      if (at < 1 .and. grid%free) to(k, about - at) = to(k, about - at) + sign*w
    end subroutine Put

  end subroutine Differences

  !> Fields of waves of one wavenumber, rows from `low` on, from the spectrum of the source, rows from `first` on.
  subroutine Waves(grid, rows, s, wave, first, sent, wanted, low, all)
    type(floor_grid_t), intent(in) :: grid
    type(rows_t), intent(in) :: rows
    complex(dp), intent(in) :: s
    integer, intent(in) :: wave(:, :), first, low
    complex(dp), intent(in) :: sent(:, 0:, -half_period:)
    logical, intent(in) :: wanted(:, 0:)
    complex(dp), intent(inout) :: all(0:, -half_period:, :, 0:, :)
    complex(dp) :: x(2*size(wave, 2), 2*grid%rows), a(-rows%bands:rows%bands, 2*grid%rows), along(grid%rows), down(grid%rows)
    real(dp) :: k(2), total, b(grid%rows)
    integer :: n, m, l, part
    k = [(Difference(grid, n, wave(n, 1)), n=1, 2)]
    total = norm2(k)
    a = rows%a(:, :, 0) + total*rows%a(:, :, 1) + total**2*rows%a(:, :, 2) + s**2*rows%a(:, :, 3)
    do m = 1, size(wave, 2)
      do part = 0, 1
        b = 0
        associate (given => sent(:, wave(1, m), wave(2, m)))
          b(first:first + size(given) - 1) = merge(real(given), aimag(given), part == 0)
        end associate
        x(2*m - 1 + part, 1::2) = total*b
        x(2*m - 1 + part, 2::2) = matmul(rows%backward, b)
      end do
    end do
    call SolveBand(a, rows%bands, x)
    do m = 1, size(wave, 2)
      k = [(Difference(grid, n, wave(n, m)), n=1, 2)]
      do part = 1, 2
        if (part == 1) then
          along = cmplx(real(x(2*m - 1, 1::2)), real(x(2*m, 1::2)), dp)
          down = cmplx(real(x(2*m - 1, 2::2)), real(x(2*m, 2::2)), dp)
        else
          along = cmplx(aimag(x(2*m - 1, 1::2)), aimag(x(2*m, 1::2)), dp)
          down = cmplx(aimag(x(2*m - 1, 2::2)), aimag(x(2*m, 2::2)), dp)
        end if
        do l = 1, size(wanted, 1)
          if (any(wanted(l, :))) call OneRow(low + l - 1, all(wave(1, m), wave(2, m), l, :, part), part == 1, &
                                             sent(:, wave(1, m), wave(2, m)))
        end do
      end do
    end do

  contains

    !> Fields of row r.
    subroutine OneRow(r, f, acts, given)
      integer, intent(in) :: r
      complex(dp), intent(out) :: f(0:)
      logical, intent(in) :: acts
      complex(dp), intent(in) :: given(:)
      complex(dp) :: ez, slope, own
      integer :: lo, hi
      lo = max(1, r - grid%half_length)
      hi = min(grid%rows, r + grid%half_length)
      f = 0
      f(field_vx) = i1*k(1)/total*along(r)
      f(field_vy) = i1*k(2)/total*along(r)
      f(field_vz) = down(r)
      own = 0
      if (acts .and. r >= first .and. r < first + size(given)) own = given(r - first + 1)
      ez = sum(rows%forward(r, lo:hi)*down(lo:hi))
      own = own + grid%lambda(r)*(ez - total*along(r))
      f(field_sxx) = own - 2*grid%mu(r)*k(1)**2/total*along(r)
      f(field_syy) = own - 2*grid%mu(r)*k(2)**2/total*along(r)
      f(field_szz) = own + 2*grid%mu(r)*ez
      f(field_sxy) = -2*grid%mu(r)*k(1)*k(2)/total*along(r)
      slope = sum(rows%backward(r, lo:hi)*along(lo:hi))
      f(field_sxz) = rows%mu_face(r)*i1*k(1)*(down(r) + slope/total)
      f(field_syz) = rows%mu_face(r)*i1*k(2)*(down(r) + slope/total)
    end subroutine OneRow

  end subroutine Waves

  !> The wavenumber of the grid's differences along an axis.
  pure real(dp) function Difference(grid, axis, wave) result(k)
    type(floor_grid_t), intent(in) :: grid
    integer, intent(in) :: axis, wave
    integer :: l
    k = 2*sum([(grid%w(l)*sin((l - 0.5_dp)*Phase(floor_period, wave)), l=1, grid%half_length)])/grid%d(axis)
  end function Difference

  !> Solves a x = b for each row of b, handed over in x, without exchange of rows; a(c - r, r): of row r and column c.
  pure subroutine SolveBand(a, bands, x)
    integer, intent(in) :: bands
    complex(dp), intent(inout) :: a(-bands:, :), x(:, :)
    complex(dp) :: f, over
    integer :: i, j, n, last
    n = size(a, 2)
    do i = 1, n
      last = min(n, i + bands)
      over = 1/a(0, i)
      do j = i + 1, last
        f = a(i - j, j)*over
        if (.not. abs(real(f)) + abs(aimag(f)) > 0) cycle
        a(i - j + 1:last - j, j) = a(i - j + 1:last - j, j) - f*a(1:last - i, i)
        x(:, j) = x(:, j) - f*x(:, i)
      end do
    end do
    do i = n, 1, -1
      do j = i + 1, min(n, i + bands)
        x(:, i) = x(:, i) - a(j - i, i)*x(:, j)
      end do
      x(:, i) = x(:, i)/a(0, i)
    end do
  end subroutine SolveBand

end module floor_grid_m
