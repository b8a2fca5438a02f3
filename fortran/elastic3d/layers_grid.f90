!> The field of a 3D grid in flat layers, of waves that grow as exp(s t), s > 0, from sources as they are spread over its points:
!> what a grid has next to the source and beside a contact, by its own media, differences and weights (fd3d_flat_near.f90).
!>
!>     s**2 u = 1/rho (div stress) + a,    stress = c : grad u + b
!>
!> with the grid's differences, where a source acts on velocities by a and on stresses by b. Along x and y it is a Fourier sum over
!> waves that change their sign after `layers_period` cells, from whose images next to nothing comes. Of each wave motion along it,
!> down and across it are real but for a factor; P and SV waves are one band matrix across the layers, SH waves another; both are
!> positive but for the shares of rows below a free surface, so no rows are exchanged.
module layers_grid_m
  use fd3d_engine_m, only: fd3d_fields, field_sxx, field_sxy, field_sxz, field_syy, field_syz, field_szz, field_vx, field_vy, &
                           field_vz
  use fd3d_point_lists_m, only: StandsOnHalf
  use fd3d_surface_m, only: fd3d_surface_t, surface_rows
  use kinds_m, only: dp, pi, sp
  implicit none
  private
  public :: layers_grid_t, LayersGridField, layers_period, layers_half

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
    complex(dp), allocatable :: spread(:, :, :, :), all(:, :, :, :), turn_x(:, :, :), turn_y(:, :, :)
    real(dp), allocatable, dimension(:, :) :: forward, backward
    integer :: ix, iy, n, k, bands
    allocate (forward(grid%rows, grid%rows), backward(grid%rows, grid%rows))
    call Differences(grid, forward, backward)
    allocate (all(0:layers_half - 1, -layers_half:layers_half - 1, grid%rows, 0:fd3d_fields - 1))
    call Turns(first(1), size(source, 1), turn_x)
    call Turns(first(2), size(source, 2), turn_y)
    allocate (spread(0:layers_half - 1, -layers_half:layers_half - 1, size(source, 3), 0:fd3d_fields - 1), source=(0.0_dp, 0.0_dp))
    !$omp parallel do collapse(2) num_threads(grid%threads)
    do n = 0, fd3d_fields - 1
      do k = 1, size(source, 3)
        if (.not. any(abs(source(:, :, k, n)) > 0)) cycle
        spread(:, :, k, n) = matmul(matmul(conjg(turn_x(0:, :, Half(n, 1))), cmplx(source(:, :, k, n), 0, dp)), &
                                    transpose(conjg(turn_y(:, :, Half(n, 2)))))
      end do
    end do
    !$omp end parallel do
    bands = 4*grid%half_length - 1
    if (grid%free) bands = 4*grid%half_length + 2*surface_rows + 1
    !$omp parallel do private(ix) schedule(dynamic) num_threads(grid%threads)
    do iy = -layers_half, layers_half - 1
      do ix = 0, layers_half - 1
        call OneWave(grid, s, bands, forward, backward, [ix, iy], first(3), spread(ix, iy, :, :), all(ix, iy, :, :))
      end do
    end do
    !$omp end parallel do
    call Turns(low(1), size(field, 1), turn_x)
    call Turns(low(2), size(field, 2), turn_y)
    !$omp parallel do collapse(2) num_threads(grid%threads)
    do n = 0, fd3d_fields - 1
      do k = 1, size(field, 3)
        if (.not. wanted(n)) cycle
        field(:, :, k, n) = field(:, :, k, n) + 2.0_dp/layers_period**2* &
                            real(matmul(matmul(transpose(turn_x(0:, :, Half(n, 1))), all(:, :, low(3) + k - 1, n)), &
                                        turn_y(:, :, Half(n, 2))), dp)
      end do
    end do
    !$omp end parallel do
  end subroutine LayersGridField

  pure integer function Half(field, axis)
    integer, intent(in) :: field, axis
    Half = merge(1, 0, StandsOnHalf(field, axis))
  end function Half

  !> exp(i k x) of waves at cells from `first` on, at their centres (0) and half a cell before (1).
  pure subroutine Turns(first, n, turn)
    integer, intent(in) :: first, n
    complex(dp), allocatable, intent(out) :: turn(:, :, :)
    integer :: j, i, before
    allocate (turn(-layers_half:layers_half - 1, n, 0:1))
    do before = 0, 1
      do i = 1, n
        do j = -layers_half, layers_half - 1
          turn(j, i, before) = exp(i1*Phase(j)*(first + i - 1 - 0.5_dp*before))
        end do
      end do
    end do
  end subroutine Turns

  elemental real(dp) function Phase(j)
    integer, intent(in) :: j
    Phase = 2*pi*(j + 0.5_dp)/layers_period
  end function Phase

  !> Differences across the layers: forward(k, :), of what stands at upper faces, at the centre of row k; backward the other way.
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

  !> Fields of one wave from the spectrum of the source.
  subroutine OneWave(grid, s, bands, forward, backward, wave, first, source, all)
    type(layers_grid_t), intent(in) :: grid
    real(dp), intent(in) :: s, forward(:, :), backward(:, :)
    integer, intent(in) :: bands, wave(2), first
    complex(dp), intent(in) :: source(:, 0:)
    complex(dp), intent(out) :: all(:, 0:)
    complex(dp) :: b(grid%rows, 0:fd3d_fields - 1), f(grid%rows, 3), u(grid%rows, 3), slope(grid%rows, 3)
    real(dp) :: k(2), total, psv(-bands:bands, 2*grid%rows), sh(-bands:bands, grid%rows), x(2*grid%rows, 2), y(grid%rows, 2)
    real(dp), dimension(grid%rows) :: mu_face, rho_face, m
    real(dp) :: mdt
    integer :: a, c, l, r, span, from, to
    do a = 1, 2
      k(a) = 2*sum([(grid%w(l)*sin((l - 0.5_dp)*Phase(wave(a))), l=1, grid%half_length)])/grid%d(a)
    end do
    total = norm2(k)
    b = 0
    b(first:first + size(source, 1) - 1, :) = source
    if (grid%free) b(1, [field_sxz, field_syz]) = 0        ! whatever is added there
    rho_face(1) = grid%rho(1)
    mu_face(1) = merge(0.0_dp, grid%mu(1), grid%free)
    rho_face(2:) = (grid%rho(2:) + grid%rho(:grid%rows - 1))/2
    mu_face(2:) = 0
    where (min(grid%mu(2:), grid%mu(:grid%rows - 1)) > 0) mu_face(2:) = 2/(1/grid%mu(2:) + 1/grid%mu(:grid%rows - 1))
    f(:, 1) = grid%rho*b(:, field_vx) + i1*k(1)*b(:, field_sxx) + i1*k(2)*b(:, field_sxy) + matmul(forward, b(:, field_sxz))
    f(:, 2) = grid%rho*b(:, field_vy) + i1*k(1)*b(:, field_sxy) + i1*k(2)*b(:, field_syy) + matmul(forward, b(:, field_syz))
    f(:, 3) = rho_face*b(:, field_vz) + i1*k(1)*b(:, field_sxz) + i1*k(2)*b(:, field_syz) + matmul(backward, b(:, field_szz))
    u(:, 1) = -i1*(k(1)*f(:, 1) + k(2)*f(:, 2))/total      ! along the wave, over i
    u(:, 2) = (k(1)*f(:, 2) - k(2)*f(:, 1))/total          ! across it
    x(1::2, 1) = real(u(:, 1), dp)
    x(1::2, 2) = aimag(u(:, 1))
    x(2::2, 1) = real(f(:, 3), dp)
    x(2::2, 2) = aimag(f(:, 3))
    y(:, 1) = real(u(:, 2), dp)
    y(:, 2) = aimag(u(:, 2))
    psv = 0
    sh = 0
    m = grid%lambda + 2*grid%mu
    span = (bands + 1)/2
    do r = 1, grid%rows
      from = max(1, r - span)
      to = min(grid%rows, r + span)
      do c = from, to
        mdt = dot_product(forward(r, from:to), mu_face(from:to)*backward(from:to, c))
        call Put(psv, 2*r - 1, 2*c - 1, -mdt)
        if (abs(c - r) <= bands) sh(c - r, r) = -mdt
        call Put(psv, 2*r, 2*c, -dot_product(backward(r, from:to), m(from:to)*forward(from:to, c)))
        call Put(psv, 2*r - 1, 2*c, -total*(grid%lambda(r)*forward(r, c) + forward(r, c)*mu_face(c)))
        call Put(psv, 2*r, 2*c - 1, total*(mu_face(r)*backward(r, c) + backward(r, c)*grid%lambda(c)))
      end do
      psv(0, 2*r - 1) = psv(0, 2*r - 1) + s**2*grid%rho(r) + total**2*m(r)
      psv(0, 2*r) = psv(0, 2*r) + s**2*rho_face(r) + total**2*mu_face(r)
      sh(0, r) = sh(0, r) + s**2*grid%rho(r) + total**2*grid%mu(r)
    end do
    call SolveBand(psv, bands, x)
    call SolveBand(sh, bands, y)
    associate (along => i1*cmplx(x(1::2, 1), x(1::2, 2), dp), across => cmplx(y(:, 1), y(:, 2), dp))
      u(:, 1) = (k(1)*along - k(2)*across)/total
      u(:, 2) = (k(2)*along + k(1)*across)/total
      u(:, 3) = cmplx(x(2::2, 1), x(2::2, 2), dp)
    end associate
    slope(:, 1) = matmul(backward, u(:, 1))
    slope(:, 2) = matmul(backward, u(:, 2))
    slope(:, 3) = matmul(forward, u(:, 3))
    all(:, field_vx:field_vz) = u
    associate (ex => i1*k(1)*u(:, 1), ey => i1*k(2)*u(:, 2), ez => slope(:, 3), lambda => grid%lambda, mu => grid%mu)
      all(:, field_sxx) = m*ex + lambda*(ey + ez) + b(:, field_sxx)
      all(:, field_syy) = m*ey + lambda*(ex + ez) + b(:, field_syy)
      all(:, field_szz) = m*ez + lambda*(ex + ey) + b(:, field_szz)
      all(:, field_sxy) = mu*i1*(k(1)*u(:, 2) + k(2)*u(:, 1)) + b(:, field_sxy)
      all(:, field_sxz) = mu_face*(i1*k(1)*u(:, 3) + slope(:, 1)) + b(:, field_sxz)
      all(:, field_syz) = mu_face*(i1*k(2)*u(:, 3) + slope(:, 2)) + b(:, field_syz)
    end associate

  contains

    pure subroutine Put(band, row, column, value)
      real(dp), intent(inout) :: band(-bands:, :)
      integer, intent(in) :: row, column
      real(dp), intent(in) :: value
      if (abs(column - row) <= bands) band(column - row, row) = band(column - row, row) + value
    end subroutine Put

  end subroutine OneWave

  !> Solves a x = b, b handed over in x, without exchange of rows; a(c - r, r): of row r and column c.
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
        x(j, :) = x(j, :) - f*x(i, :)
      end do
    end do
    do i = n, 1, -1
      do j = i + 1, min(n, i + bands)
        x(i, :) = x(i, :) - a(j - i, i)*x(j, :)
      end do
      x(i, :) = x(i, :)/a(0, i)
    end do
  end subroutine SolveBand

end module layers_grid_m
