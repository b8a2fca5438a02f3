!> The field of a 3D grid in flat layers, of waves that grow as exp(s t), s > 0, from sources as they are spread over its points:
!> what a grid has next to the source and beside a contact, by its own media, differences and weights (fd3d_flat_near.f90).
!>
!>     s**2 u = 1/rho (div stress) + a,    stress = c : grad u + b
!>
!> with the grid's differences, where a source acts on velocities by a and on stresses by b. Along x and y it is a Fourier sum over
!> waves that change their sign after `layers_period` cells, from whose images next to nothing comes. Of each wave motion along it,
!> down and across it are real but for a factor; P and SV waves are one band matrix across the layers, SH waves another; both are
!> positive but for the shares of rows below a free surface, so no rows are exchanged. Two waves that mirror each other along y have
!> the same matrices.
module layers_grid_m
  use fd3d_engine_m, only: fd3d_fields, field_sxx, field_sxy, field_sxz, field_syy, field_syz, field_szz, field_vx, field_vy, &
                           field_vz
  use fd3d_point_lists_m, only: StandsOnHalf
  use fd3d_surface_m, only: fd3d_surface_t, surface_rows
  use kinds_m, only: dp, pi, sp
  implicit none
  private
  public :: layers_grid_t, LayersGridField, layers_half, Half, Phase, Turns

  integer, parameter :: layers_period = 64        !< cells along x and y
  integer, parameter :: layers_half = layers_period/2
  complex(dp), parameter :: i1 = (0.0_dp, 1.0_dp)

  !> Rows of a grid whose medium is even along x and y.
  type :: layers_grid_t
    integer :: rows = 0
    integer :: half_length = 0
    real(dp) :: d(3) = 1, w(4) = 0
    logical :: free = .false.                     !< row 1 lies below a free surface
    type(fd3d_surface_t) :: surface
    real(dp), allocatable :: rho(:), lambda(:), mu(:)
    integer :: threads = 1
  end type layers_grid_t

  !> Media and differences across the layers, the same for all waves.
  type :: rows_t
    integer :: bands = 0                          !< of the matrix of P and SV waves, to each side
    integer :: reach = 0                          !< rows to each side whose values a difference takes
    real(dp), allocatable :: forward(:, :)        !< (k, :): difference, at the centre of row k, of what stands at upper faces
    real(dp), allocatable :: backward(:, :)       !< the other way
    real(dp), allocatable :: rho_face(:), mu_face(:)
    real(dp), allocatable :: shear(:, :), press(:, :)   !< second derivatives: at centres by mu, at faces by lambda + 2 mu
  end type rows_t

contains

  !> Adds the field of the source(x, y, row, field), cells from first(1:2) on, to field(x, y, row, field), cells from
  !> low(1:3) on. source: a and b, per unit of the history.
  subroutine LayersGridField(grid, s, first, source, wanted, low, field)
    type(layers_grid_t), intent(in) :: grid
    real(dp), intent(in) :: s
    integer, intent(in) :: first(3), low(3)
    real(dp), intent(in) :: source(:, :, :, 0:)
    logical, intent(in) :: wanted(0:)
    real(dp), intent(inout) :: field(:, :, :, 0:)
    complex(dp), allocatable :: sent(:, :, :, :), all(:, :, :, :), turn_x(:, :, :), turn_y(:, :, :), along(:, :)
    type(rows_t) :: rows
    integer :: ix, iy, n, k
    call RowsMake(grid, rows)
    allocate (all(0:layers_half - 1, -layers_half:layers_half - 1, size(field, 3), 0:fd3d_fields - 1))
    call Turns(layers_period, first(1), size(source, 1), turn_x)
    call Turns(layers_period, first(2), size(source, 2), turn_y)
    allocate (sent(0:layers_half - 1, -layers_half:layers_half - 1, size(source, 3), 0:fd3d_fields - 1), source=(0.0_dp, 0.0_dp))
    !$omp parallel do collapse(2) num_threads(grid%threads)
    do n = 0, fd3d_fields - 1
      do k = 1, size(source, 3)
        if (.not. any(abs(source(:, :, k, n)) > 0)) cycle
        sent(:, :, k, n) = matmul(matmul(conjg(turn_x(0:, :, Half(n, 1))), cmplx(source(:, :, k, n), 0, dp)), &
                                    transpose(conjg(turn_y(:, :, Half(n, 2)))))
      end do
    end do
    !$omp end parallel do
    !$omp parallel do private(ix) schedule(dynamic) num_threads(grid%threads)
    do iy = 0, layers_half - 1
      do ix = 0, layers_half - 1
        call TwoWaves(grid, rows, s, [ix, iy], first(3), sent(ix, iy:-1 - iy:-1 - 2*iy, :, :), wanted, low(3), &
                      all(ix, iy:-1 - iy:-1 - 2*iy, :, :))
      end do
    end do
    !$omp end parallel do
    call Turns(layers_period, low(1), size(field, 1), turn_x)
    call Turns(layers_period, low(2), size(field, 2), turn_y)
    !$omp parallel do collapse(2) num_threads(grid%threads) private(along, ix, iy)
    do n = 0, fd3d_fields - 1
      do k = 1, size(field, 3)
        if (.not. wanted(n)) cycle
        along = matmul(all(:, :, k, n), turn_y(:, :, Half(n, 2)))
        do iy = 1, size(field, 2)
          do ix = 1, size(field, 1)
            field(ix, iy, k, n) = field(ix, iy, k, n) + 2.0_dp/layers_period**2* &
                                  real(sum(turn_x(0:, ix, Half(n, 1))*along(:, iy)), dp)
          end do
        end do
      end do
    end do
    !$omp end parallel do
  end subroutine LayersGridField

  pure integer function Half(field, axis)
    integer, intent(in) :: field, axis
    Half = merge(1, 0, StandsOnHalf(field, axis))
  end function Half

  !> exp(i k x) of waves that change their sign after `period` cells, at cells from `first` on, at their centres (0) and half a cell
  !> before (1).
  pure subroutine Turns(period, first, n, turn)
    integer, intent(in) :: period, first, n
    complex(dp), allocatable, intent(out) :: turn(:, :, :)
    integer :: j, i, before
    allocate (turn(-period/2:period/2 - 1, n, 0:1))
    do before = 0, 1
      do i = 1, n
        do j = -period/2, period/2 - 1
          turn(j, i, before) = exp(i1*Phase(period, j)*(first + i - 1 - 0.5_dp*before))
        end do
      end do
    end do
  end subroutine Turns

  elemental real(dp) function Phase(period, j)
    integer, intent(in) :: period, j
    Phase = 2*pi*(j + 0.5_dp)/period
  end function Phase

  pure subroutine RowsMake(grid, rows)
    type(layers_grid_t), intent(in) :: grid
    type(rows_t), intent(out) :: rows
    integer :: n
    n = grid%rows
    rows%bands = 4*grid%half_length - 1
    rows%reach = grid%half_length
    if (grid%free) rows%bands = 4*grid%half_length + 2*surface_rows + 1
    if (grid%free) rows%reach = max(rows%reach, grid%surface%taps - 1)
    allocate (rows%forward(n, n), rows%backward(n, n), rows%rho_face(n), rows%mu_face(n))
    call Differences(grid, rows%forward, rows%backward)
    rows%rho_face(1) = grid%rho(1)
    rows%rho_face(2:) = (grid%rho(2:) + grid%rho(:n - 1))/2
    rows%mu_face(1) = merge(0.0_dp, grid%mu(1), grid%free)
    rows%mu_face(2:) = 2/(1/grid%mu(2:) + 1/grid%mu(:n - 1))
    rows%shear = matmul(rows%forward, spread(rows%mu_face, 2, n)*rows%backward)
    rows%press = matmul(rows%backward, spread(grid%lambda + 2*grid%mu, 2, n)*rows%forward)
  end subroutine RowsMake

  pure subroutine Differences(grid, forward, backward)
    type(layers_grid_t), intent(in) :: grid
    real(dp), intent(out), dimension(:, :) :: forward, backward
    integer :: k, m
    forward = 0
    backward = 0
    do k = 1, grid%rows
      do m = 1, grid%half_length
        call Put(forward, k + m, grid%w(m))
        call Put(forward, k - m + 1, -grid%w(m))
        call Put(backward, k + m - 1, grid%w(m))
        call Put(backward, k - m, -grid%w(m))
      end do
    end do
    if (grid%free) then
      do k = 1, surface_rows
        forward(k, :) = 0
        backward(k, :) = 0
        forward(k, :grid%surface%taps) = grid%surface%w(:grid%surface%taps, k, 2)
        backward(k, :grid%surface%taps) = grid%surface%w(:grid%surface%taps, k, 1)
      end do
    end if
    forward = forward/grid%d(3)
    backward = backward/grid%d(3)

  contains

    pure subroutine Put(to, at, w)
      real(dp), intent(inout) :: to(:, :)
      integer, intent(in) :: at
      real(dp), intent(in) :: w
      if (at >= 1 .and. at <= grid%rows) to(k, at) = to(k, at) + w
    end subroutine Put

  end subroutine Differences

  !> Fields of a wave (1) and of its mirror image along y (2), rows from `low` on, from their spectra of the source, rows from
  !> `first` on.
  subroutine TwoWaves(grid, rows, s, wave, first, source, wanted, low, all)
    type(layers_grid_t), intent(in) :: grid
    type(rows_t), intent(in) :: rows
    real(dp), intent(in) :: s
    integer, intent(in) :: wave(2), first, low
    complex(dp), intent(in) :: source(:, :, 0:)
    logical, intent(in) :: wanted(0:)
    complex(dp), intent(inout) :: all(:, :, 0:)
    complex(dp), dimension(grid%rows, 0:fd3d_fields - 1, 2) :: b
    complex(dp) :: along(grid%rows), across(grid%rows), u(grid%rows, 3)
    real(dp) :: k(2), kw(2), total, x(4, 2*grid%rows), y(4, grid%rows)
    real(dp) :: psv(-rows%bands:rows%bands, 2*grid%rows), sh(-rows%bands:rows%bands, grid%rows)
    integer :: a, l, w, n
    do a = 1, 2
      k(a) = 2*sum([(grid%w(l)*sin((l - 0.5_dp)*Phase(layers_period, wave(a))), l=1, grid%half_length)])/grid%d(a)
    end do
    total = norm2(k)
    do w = 1, 2
      kw = [k(1), merge(k(2), -k(2), w == 1)]
      b(:, :, w) = 0
      b(first:first + size(source, 2) - 1, :, w) = source(w, :, :)
      if (grid%free) b(1, [field_sxz, field_syz], w) = 0   ! whatever is added there
      call Push(grid, rows, kw, b(:, :, w), u)
      along = -i1*(kw(1)*u(:, 1) + kw(2)*u(:, 2))/total    ! the wave, over i
      across = (kw(1)*u(:, 2) - kw(2)*u(:, 1))/total
      x(2*w - 1, 1::2) = real(along, dp)
      x(2*w, 1::2) = aimag(along)
      x(2*w - 1, 2::2) = real(u(:, 3), dp)
      x(2*w, 2::2) = aimag(u(:, 3))
      y(2*w - 1, :) = real(across, dp)
      y(2*w, :) = aimag(across)
    end do
    call Matrices(grid, rows, s, total, psv, sh)
    call SolveBand(psv, rows%bands, x)
    call SolveBand(sh, rows%bands, y)
    do w = 1, 2
      kw = [k(1), merge(k(2), -k(2), w == 1)]
      along = i1*cmplx(x(2*w - 1, 1::2), x(2*w, 1::2), dp)
      across = cmplx(y(2*w - 1, :), y(2*w, :), dp)
      u(:, 1) = (kw(1)*along - kw(2)*across)/total
      u(:, 2) = (kw(2)*along + kw(1)*across)/total
      u(:, 3) = cmplx(x(2*w - 1, 2::2), x(2*w, 2::2), dp)
      b(:, field_vx:field_vz, w) = u
      call AddStress(grid, rows, kw, u, b(:, :, w))
      do n = 0, fd3d_fields - 1
        if (wanted(n)) all(w, :, n) = b(low:low + size(all, 2) - 1, n, w)
      end do
    end do
  end subroutine TwoWaves

  !> Force on motion along x, y, z, in a wave of wavenumbers k, of sources b of velocities and stresses.
  pure subroutine Push(grid, rows, k, b, f)
    type(layers_grid_t), intent(in) :: grid
    type(rows_t), intent(in) :: rows
    real(dp), intent(in) :: k(2)
    complex(dp), contiguous, intent(in) :: b(:, 0:)
    complex(dp), contiguous, intent(out) :: f(:, :)
    f(:, 1) = grid%rho*b(:, field_vx) + i1*k(1)*b(:, field_sxx) + i1*k(2)*b(:, field_sxy)
    f(:, 2) = grid%rho*b(:, field_vy) + i1*k(1)*b(:, field_sxy) + i1*k(2)*b(:, field_syy)
    f(:, 3) = rows%rho_face*b(:, field_vz) + i1*k(1)*b(:, field_sxz) + i1*k(2)*b(:, field_syz)
    call AddSlope(rows%forward, rows%reach, b(:, field_sxz), f(:, 1))
    call AddSlope(rows%forward, rows%reach, b(:, field_syz), f(:, 2))
    call AddSlope(rows%backward, rows%reach, b(:, field_szz), f(:, 3))
  end subroutine Push

  !> Adds the difference of u across the layers to f.
  pure subroutine AddSlope(difference, reach, u, f)
    real(dp), intent(in) :: difference(:, :)
    integer, intent(in) :: reach
    complex(dp), contiguous, intent(in) :: u(:)
    complex(dp), contiguous, intent(inout) :: f(:)
    integer :: r, c
    do r = 1, size(u)
      do c = max(1, r - reach), min(size(u), r + reach)
        f(r) = f(r) + difference(r, c)*u(c)
      end do
    end do
  end subroutine AddSlope

  !> Matrices of P and SV waves, whose motion along the wave and down take turns, and of SH waves, of wavenumber `total`.
  subroutine Matrices(grid, rows, s, total, psv, sh)
    type(layers_grid_t), intent(in) :: grid
    type(rows_t), intent(in) :: rows
    real(dp), intent(in) :: s, total
    real(dp), intent(out) :: psv(-rows%bands:, :), sh(-rows%bands:, :)
    integer :: c, r, span
    psv = 0
    sh = 0
    span = (rows%bands + 1)/2
    do r = 1, grid%rows
      do c = max(1, r - span), min(grid%rows, r + span)
        sh(c - r, r) = -rows%shear(r, c)
        call Put(2*r - 1, 2*c - 1, -rows%shear(r, c))
        call Put(2*r, 2*c, -rows%press(r, c))
        call Put(2*r - 1, 2*c, -total*rows%forward(r, c)*(grid%lambda(r) + rows%mu_face(c)))
        call Put(2*r, 2*c - 1, total*rows%backward(r, c)*(rows%mu_face(r) + grid%lambda(c)))
      end do
      psv(0, 2*r - 1) = psv(0, 2*r - 1) + s**2*grid%rho(r) + total**2*(grid%lambda(r) + 2*grid%mu(r))
      psv(0, 2*r) = psv(0, 2*r) + s**2*rows%rho_face(r) + total**2*rows%mu_face(r)
      sh(0, r) = sh(0, r) + s**2*grid%rho(r) + total**2*grid%mu(r)
    end do

  contains

    subroutine Put(row, column, value)
      integer, intent(in) :: row, column
      real(dp), intent(in) :: value
      if (abs(column - row) <= rows%bands) psv(column - row, row) = value
    end subroutine Put

  end subroutine Matrices

  !> Adds the stress that motion u of wavenumbers k makes to that of the source.
  pure subroutine AddStress(grid, rows, k, u, all)
    type(layers_grid_t), intent(in) :: grid
    type(rows_t), intent(in) :: rows
    real(dp), intent(in) :: k(2)
    complex(dp), contiguous, intent(in) :: u(:, :)
    complex(dp), intent(inout) :: all(:, 0:)
    complex(dp), dimension(grid%rows) :: ex, ey, ez, xz, yz, sum_of
    ex = i1*k(1)*u(:, 1)
    ey = i1*k(2)*u(:, 2)
    ez = 0
    xz = i1*k(1)*u(:, 3)
    yz = i1*k(2)*u(:, 3)
    call AddSlope(rows%forward, rows%reach, u(:, 3), ez)
    call AddSlope(rows%backward, rows%reach, u(:, 1), xz)
    call AddSlope(rows%backward, rows%reach, u(:, 2), yz)
    sum_of = grid%lambda*(ex + ey + ez)
    associate (mu => grid%mu, mu_face => rows%mu_face)
      all(:, field_sxx) = all(:, field_sxx) + sum_of + 2*mu*ex
      all(:, field_syy) = all(:, field_syy) + sum_of + 2*mu*ey
      all(:, field_szz) = all(:, field_szz) + sum_of + 2*mu*ez
      all(:, field_sxy) = all(:, field_sxy) + mu*i1*(k(1)*u(:, 2) + k(2)*u(:, 1))
      all(:, field_sxz) = all(:, field_sxz) + mu_face*xz
      all(:, field_syz) = all(:, field_syz) + mu_face*yz
    end associate
  end subroutine AddStress

  !> Solves a x = b, b(which, row) handed over in x, without exchange of rows; a(c - r, r): of row r and column c.
  pure subroutine SolveBand(a, bands, x)
    integer, intent(in) :: bands
    real(dp), intent(inout) :: a(-bands:, :), x(:, :)
    real(dp) :: f
    integer :: i, j, n, last
    n = size(a, 2)
    do i = 1, n
      last = min(n, i + bands)
      do j = i + 1, last
        if (.not. abs(a(i - j, j)) > 0) cycle
        f = a(i - j, j)/a(0, i)
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

end module layers_grid_m
