!> Rows of differences below a free surface: transposed to each other by positive shares, exact for what they are to be, and no stiffer
!> than the rows inside, for Taylor's weights and for Holberg's of any error; those of narrow columns have the same shares.
program t882_fd3d_surface_rows
  use check_m, only: Claim, ClaimFine, Done
  use der_m, only: DerWeights
  use error_m, only: error_t
  use fd3d_engine_m, only: fd3d_grid_t
  use fd3d_surface_m, only: fd3d_surface_t, Fd3dSurface, surface_rows
  use kinds_m, only: dp, sp
  use text_m, only: Str
  implicit none
  integer, parameter :: rows = 40
  real(dp), parameter :: errors(6) = [0.0_dp, 0.01_dp, 0.1_dp, 0.5_dp, 2.0_dp, 5.0_dp]   ! 0: Taylor
  type(error_t), allocatable :: error
  integer :: half_length, n

  do half_length = 1, 4
    do n = 1, size(errors)
      call Rows_of(half_length, errors(n), .false., .false.)
      if (half_length > 1) call Rows_of(half_length, errors(n), .false., .true.)
      call Rows_of(half_length, errors(n), .true., .false.)
    end do
  end do
  call Done()

contains

  subroutine Rows_of(half_length, percent, wet, narrow)
    integer, intent(in) :: half_length
    real(dp), intent(in) :: percent
    logical, intent(in) :: wet, narrow
    type(fd3d_grid_t) :: grid
    type(fd3d_surface_t) :: s, wide
    real(dp) :: w(half_length), d(0:rows - 1, 0:rows - 1), g(0:rows - 1, 0:rows - 1), p(0:rows - 1), r(0:rows - 1), used, off, stiff, exact
    character(:), allocatable :: what
    integer :: i, j
    if (percent > 0) then
      call DerWeights(half_length, 'holberg', percent, 1.0_dp, w, used, error)
      what = 'Holberg''s weights of '//Str(percent)//' %'
    else
      call DerWeights(half_length, 'taylor', 0.0_dp, 1.0_dp, w, used, error)
      what = 'Taylor''s weights'
    end if
    if (allocated(error)) call ClaimFine(error, what)
    what = what//', half-length '//Str(half_length)//trim(merge(', a fluid', '         ', wet))//trim(merge(', narrow', '        ', narrow))
    grid%half_length = half_length
    grid%w(:half_length) = w(:half_length)
    grid%wet = wet
    wide = Fd3dSurface(grid, .false.)
    s = Fd3dSurface(grid, narrow)
    if (narrow) w = 0
    if (narrow) w(1) = 1
    p = 1
    r = 1
    p(:surface_rows - 1) = s%share(:, 1)
    r(:surface_rows - 1) = s%share(:, 2)
    call Matrices(s, real(real(w, sp), dp), d, g)
    off = 0
    do i = 0, rows - 10                                       ! the last rows reach beyond the matrices
      do j = 0, rows - 10
        off = max(off, abs(p(i)*d(i, j) + r(j)*g(j, i)))
      end do
    end do
    stiff = Stiffest(d, p, r)/(2*sum(abs(grid%w)))               ! the time step is that of wide differences
    exact = 0
    if (.not. percent > 0 .and. .not. wet .and. .not. narrow) exact = Inexact(d, g, half_length)
    call Claim(off < 1e-12_dp .and. all(p > 0.2_dp) .and. all(r > 0.2_dp) .and. all(abs(s%share - wide%share) < 1e-14_dp) .and. &
               exact < 1e-6_dp .and. stiff < merge(1.03_dp, 1.0_dp, half_length == 1), what//': transposed to '// &
               Str(off, 2)//', shares from '//Str(min(minval(p), minval(r)), 3)//', exact to '//Str(exact, 2)//', '// &
               Str(stiff, 4)//' times as stiff as inside')
  end subroutine Rows_of

  !> All rows: d from faces to centres, g from centres to faces.
  subroutine Matrices(s, w, d, g)
    type(fd3d_surface_t), intent(in) :: s
    real(dp), intent(in) :: w(:)
    real(dp), intent(out) :: d(0:, 0:), g(0:, 0:)
    integer :: k, m
    d = 0
    g = 0
    do k = 0, rows - 1
      if (k < surface_rows) then
        g(k, :s%taps - 1) = s%w(:s%taps, k + 1, 1)
        d(k, :s%taps - 1) = s%w(:s%taps, k + 1, 2)
        cycle
      end if
      do m = 1, size(w)
        if (k + m < rows) d(k, k + m) = w(m)
        d(k, k + 1 - m) = -w(m)
        if (k + m - 1 < rows) g(k, k + m - 1) = w(m)
        g(k, k - m) = -w(m)
      end do
    end do
  end subroutine Matrices

  !> Largest singular value of d in sums weighted by the shares.
  real(dp) function Stiffest(d, p, r)
    real(dp), intent(in) :: d(:, :), p(:), r(:)
    real(dp) :: x(size(r)), y(size(p))
    integer :: turn, i
    x = [(1 + 0.3_dp*sin(1.7_dp*i) - 2*modulo(i, 2), i=1, size(x))]
    do turn = 1, 3000
      x = x/norm2(x)
      y = sqrt(p)*matmul(d, x/sqrt(r))
      x = matmul(transpose(d), sqrt(p)*y)/sqrt(r)
    end do
    Stiffest = norm2(y)
  end function Stiffest

  !> The largest error of d and g for 1, z, z**2, (z**3); g of row 0 acts on what is 0 at the surface.
  real(dp) function Inexact(d, g, half_length) result(off)
    real(dp), intent(in) :: d(0:, 0:), g(0:, 0:)
    integer, intent(in) :: half_length
    real(dp) :: face(0:rows - 1), centre(0:rows - 1), z
    integer :: power, k
    face = [(real(k, dp), k=0, rows - 1)]
    centre = face + 0.5_dp
    off = 0
    do k = 0, surface_rows - 1
      do power = 0, merge(3, 2, half_length > 1)
        z = 0
        if (power > 0) z = power*face(k)**(power - 1)
        if (k > 0 .or. power > 0) off = max(off, abs(dot_product(g(k, :), centre**power) - z))
        if (power > merge(2, 1, half_length > 1)) cycle
        z = 0
        if (power > 0) z = power*centre(k)**(power - 1)
        off = max(off, abs(dot_product(d(k, :), face**power) - z))
      end do
    end do
  end function Inexact

end program t882_fd3d_surface_rows
