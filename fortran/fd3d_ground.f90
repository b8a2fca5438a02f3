!> Sources and receivers beside air, where the ground is made of cells and has any shape.
!>
!> Points in the air stand still, so a sinc across the ground would take zeros for motion. In its place stands the polynomial of
!> degree 3 (where too few points are left, less) that fits the points around in rock and water best.
!>
!> Derivatives of half-length 2 and more reach from rock into air. Rock that moves as a whole is then free of stress only if its
!> outermost points lag behind: at half-length 2, by r = 13 - sqrt(168) = 3.9 % in the first row, r**2 in the second. The motion
!> itself converges, the outermost points do not. So what is read there is divided by the lag (t609); what acts there likewise, as
!> sources and receivers may change places.
module fd3d_ground_m
  use fd3d_engine_m, only: fd3d_grid_t, field_sxx, field_sxy, field_sxz, field_szz, field_vx, field_vz, side_periodic
  use kinds_m, only: dp, sp
  use linear_m, only: SolveSmall
  implicit none
  private
  public :: GroundNear, GroundWeights, GroundLag

  real(dp), parameter :: reach = 3.5_dp + 1e-6_dp      !< points so far away are taken [cells]
  integer, parameter, public :: ground_nodes = 512     !< more than that reach holds
  integer, parameter :: terms(0:3) = [1, 4, 10, 20]    !< of a polynomial
  integer, parameter, public :: ground_rows = 12       !< into the rock; there nothing is left of the lag
  real(dp), parameter :: wildest = 8                   !< largest sum of the moduli of weights
  real(dp), parameter :: singular = 1e-9_dp

contains

  !> Whether any point of `field` at lo .. hi, cells of the subdomain, is in the air.
  pure logical function GroundNear(grid, rho, field, lo, hi) result(near)
    type(fd3d_grid_t), intent(in) :: grid
    real(sp), intent(in) :: rho(0:, 0:, 0:)
    integer, intent(in) :: field, lo(3), hi(3)
    integer :: i, j, k
    near = .true.
    do k = max(lo(3), 1), min(hi(3), grid%n(3))
      do j = lo(2), hi(2)
        do i = lo(1), hi(1)
          if (InAir(rho, field, Wrapped(grid, [i, j, k]))) return
        end do
      end do
    end do
    near = .false.
  end function GroundNear

  !> Points and weights for `place`, which counts the points of `field` in the subdomain along each axis: n of them, at
  !> node(:, 1..n); n = 0 if there is no rock or water near. `acts`: of a source; stress that acts
  !> where nothing can bear it would stay for ever.
  pure subroutine GroundWeights(grid, rho, mu, field, place, acts, n, node, w)
    type(fd3d_grid_t), intent(in) :: grid
    real(sp), intent(in) :: rho(0:, 0:, 0:), mu(0:, 0:, 0:)
    integer, intent(in) :: field
    real(dp), intent(in) :: place(3)
    logical, intent(in) :: acts
    integer, intent(out) :: n, node(3, ground_nodes)
    real(dp), intent(out) :: w(ground_nodes)
    real(dp) :: away(3, ground_nodes), lag(0:ground_rows - 1)
    integer :: i, j, k, at(3), degree, m
    n = 0
    w = 0
    do k = ceiling(place(3) - reach), floor(place(3) + reach)
      do j = ceiling(place(2) - reach), floor(place(2) + reach)
        do i = ceiling(place(1) - reach), floor(place(1) + reach)
          at = Wrapped(grid, [i, j, k])
          if (any(at < 1 .or. at > grid%n)) cycle
          if (InAir(rho, field, at) .or. (acts .and. field >= field_sxy .and. Slack(mu, field, at))) cycle
          n = n + 1
          node(:, n) = at
          away(:, n) = [i, j, k] - place
        end do
      end do
    end do
    do degree = 3, 0, -1
      if (n < terms(degree)) cycle
      call Fit(away(:, :n), degree, w(:n))
      if (sum(abs(w(:n))) > 0 .and. sum(abs(w(:n))) <= wildest) exit
    end do
    if (field > field_vz) return
    lag = GroundLag(grid)
    do m = 1, n
      w(m) = w(m)/NodeLag(grid, rho, mu, field, node(:, m), lag)
    end do
  end subroutine GroundWeights

  !> Motion of the rows below a flat ground, the first of them first, where the ground moves by 1 as a whole: all derivatives
  !> along the normal are 0, motion above the ground is.
  pure function GroundLag(grid) result(lag)
    type(fd3d_grid_t), intent(in) :: grid
    real(dp) :: lag(0:ground_rows - 1), a(0:ground_rows - 1, 0:ground_rows - 1)
    integer :: k, m, side, at
    a = 0
    lag = 0
    do k = 0, ground_rows - 1                       ! between rows k and k+1
      do m = 1, grid%half_length
        do side = 0, 1
          at = merge(k + m, k - m + 1, side == 1)
          if (at < 0) cycle
          if (at >= ground_rows) lag(k) = lag(k) - merge(1, -1, side == 1)*grid%w(m)
          if (at < ground_rows) a(k, at) = a(k, at) + merge(1, -1, side == 1)*grid%w(m)
        end do
      end do
    end do
    call SolveSmall(a, lag)
  end function GroundLag

  !> The lag of a velocity point: air may be on each of its six sides. Along the faces of a fluid nothing holds it.
  pure real(dp) function NodeLag(grid, rho, mu, field, at, lag) result(total)
    type(fd3d_grid_t), intent(in) :: grid
    real(sp), intent(in) :: rho(0:, 0:, 0:), mu(0:, 0:, 0:)
    integer, intent(in) :: field, at(3)
    real(dp), intent(in) :: lag(0:)
    integer :: a, side, m, to(3), own
    total = 1
    own = field - field_vx + 1
    do a = 1, 3
      if (a /= own .and. .not. all([mu(at(1), at(2), at(3)), Before(mu, own, at)] > 0)) cycle
      do side = -1, 1, 2
        do m = 1, 3
          to = at
          to(a) = at(a) + side*m
          to = Wrapped(grid, to)
          if (any(to < 1 .or. to > grid%n)) exit
          if (.not. InAir(rho, field, to)) cycle
          total = total*lag(m - 1)
          exit
        end do
      end do
    end do
  end function NodeLag

  !> Weights that give polynomials of a degree exactly and are small, most where far away; 0 where the points do not suffice.
  pure subroutine Fit(away, degree, w)
    real(dp), intent(in) :: away(:, :)
    integer, intent(in) :: degree
    real(dp), intent(out) :: w(:)
    real(dp) :: p(terms(degree), size(w)), a(terms(degree), terms(degree)), c(terms(degree)), trust(size(w))
    integer :: m
    do m = 1, size(w)
      p(:, m) = Powers(away(:, m)/2, degree)
      trust(m) = exp(-sum(away(:, m)**2)/4)
    end do
    a = matmul(p*spread(trust, 1, terms(degree)), transpose(p))
    w = 0
    if (IsSingular(a)) return
    c = 0
    c(1) = 1
    call SolveSmall(a, c)
    w = trust*matmul(c, p)
  end subroutine Fit

  pure function Powers(x, degree) result(p)
    real(dp), intent(in) :: x(3)
    integer, intent(in) :: degree
    real(dp) :: p(terms(degree))
    integer :: i, j, k, n, total
    n = 0
    do total = 0, degree
      do k = 0, total
        do j = 0, total - k
          i = total - j - k
          n = n + 1
          p(n) = x(1)**i*x(2)**j*x(3)**k
        end do
      end do
    end do
  end function Powers

  !> By the pivots of Cholesky's method.
  pure logical function IsSingular(matrix)
    real(dp), intent(in) :: matrix(:, :)
    real(dp) :: a(size(matrix, 1), size(matrix, 1))
    integer :: i, j
    a = matrix
    IsSingular = .true.
    do i = 1, size(a, 1)
      if (.not. a(i, i) > singular*matrix(i, i)) return
      do j = i + 1, size(a, 1)
        a(j:, j) = a(j:, j) - a(j:, i)*a(j, i)/a(i, i)
      end do
    end do
    IsSingular = .false.
  end function IsSingular

  !> The cell that stands for one beyond a periodic side.
  pure function Wrapped(grid, at) result(in)
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: at(3)
    integer :: in(3)
    in = at
    where (grid%side([1, 3, 5]) == side_periodic) in = 1 + modulo(at - 1, grid%n)
  end function Wrapped

  !> Whether all cells around a point of `field` are air; cells outside the subdomain's ring are none.
  pure logical function InAir(rho, field, at)
    real(sp), intent(in) :: rho(0:, 0:, 0:)
    integer, intent(in) :: field, at(3)
    integer :: axes(2)
    InAir = .false.
    if (any(at < 1) .or. any(at >= shape(rho) - 1)) return
    if (rho(at(1), at(2), at(3)) > 0) return
    InAir = .true.
    if (field >= field_sxx .and. field <= field_szz) return
    if (field <= field_vz) then
      InAir = .not. Before(rho, field - field_vx + 1, at) > 0
    else
      axes = Axes2(field)
      InAir = .not. (Before(rho, axes(1), at) > 0 .or. Before(rho, axes(2), at) > 0 .or. Corner(rho, axes, at) > 0)
    end if
  end function InAir

  !> Whether a shear point bears no stress: a cell around it is air or fluid.
  pure logical function Slack(mu, field, at)
    real(sp), intent(in) :: mu(0:, 0:, 0:)
    integer, intent(in) :: field, at(3)
    integer :: axes(2)
    axes = Axes2(field)
    Slack = .not. all([mu(at(1), at(2), at(3)), Before(mu, axes(1), at), Before(mu, axes(2), at), Corner(mu, axes, at)] > 0)
  end function Slack

  pure function Axes2(field) result(axes)
    integer, intent(in) :: field
    integer :: axes(2)
    axes = [2, 3]
    if (field == field_sxy) axes = [1, 2]
    if (field == field_sxz) axes = [1, 3]
  end function Axes2

  !> The cell before `at` along an axis.
  pure real(sp) function Before(a, axis, at)
    real(sp), intent(in) :: a(0:, 0:, 0:)
    integer, intent(in) :: axis, at(3)
    integer :: to(3)
    to = at
    to(axis) = to(axis) - 1
    Before = a(to(1), to(2), to(3))
  end function Before

  pure real(sp) function Corner(a, axes, at)
    real(sp), intent(in) :: a(0:, 0:, 0:)
    integer, intent(in) :: axes(2), at(3)
    integer :: to(3)
    to = at
    to(axes) = to(axes) - 1
    Corner = a(to(1), to(2), to(3))
  end function Corner

end module fd3d_ground_m
