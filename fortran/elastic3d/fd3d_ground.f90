!> Sources and receivers beside a contact of rock, fluid and air, where ground and sea floor are made of cells and have any shape.
!>
!> Points in the air stand still, along a sea floor motion is not continuous, and stress put into points that cannot bear it stays
!> for ever: so no sinc goes across a contact. A receiver in rock is read from points that touch rock, a source there acts on them,
!> and likewise in a fluid. Where the contact is flat along z, a polynomial through the nearest four points along z takes the
!> place of the sinc; elsewhere a polynomial of degree 3 (or less) fits the points around best, or a plane beside steps of air.
!>
!> Derivatives of half-length 2 and more reach from rock into air. Rock that moves as a whole is then free of stress only if its
!> outermost points lag behind: at half-length 2, by r = 13 - sqrt(168) = 3.9 % in the first row, r**2 in the second. The motion
!> itself converges, the outermost points do not. So what is read there is divided by the lag (t609); what acts there likewise, as
!> sources and receivers may change places.
module fd3d_ground_m
  use fd3d_engine_m, only: fd3d_grid_t, field_sxx, field_sxy, field_sxz, field_szz, field_vx, field_vz, side_periodic
  use kinds_m, only: dp, sp
  use linear_m, only: SolveSmall
  use sinc_m, only: sinc_nodes, SincWeights
  implicit none
  private
  public :: spot_t, GroundHome, GroundNear, GroundWeights, Lagrange

  integer, parameter :: ground_air = 0
  integer, parameter :: air = ground_air, fluid = 1, rock = 2
  integer, parameter :: tall = 4                       !< points along z: more reach into what a source 8 cells below is spread over
  real(dp), parameter :: on_face = 1e-6_dp             !< closer is on the face of a cell [cells]
  real(dp), parameter :: reach = 3.5_dp + 1e-6_dp      !< points so far away are taken [cells]
  integer, parameter, public :: ground_nodes = 512     !< more than that reach holds
  integer, parameter :: terms(0:3) = [1, 4, 10, 20]    !< of a polynomial
  integer, parameter :: ground_rows = 12       !< into the rock; there nothing is left of the lag
  real(dp), parameter :: wildest = 8                   !< largest sum of the moduli of weights
  real(dp), parameter :: singular = 1e-9_dp
  real(dp), parameter :: plane = 0.8_dp                !< part of the way from the middle of the points to a place on stairs (t620)

  !> A place at which a field is read or acted on, and the points of the field that stand for it.
  type :: spot_t
    integer :: field = 0                               !< of fd3d_engine.f90
    integer :: home = air                              !< kind of medium it belongs to
    real(dp) :: place(3) = 0                           !< counts the field's points in the subdomain
    logical :: acts = .false.                          !< of a source
    integer :: n = 0                                   !< points, at node(:, 1..n)
    integer :: node(3, ground_nodes)
    real(dp) :: w(ground_nodes)                        !< their weights
  end type spot_t

contains

  !> True if any point of the field among the eight along each axis around the place does not belong to the same kind of medium.
  pure logical function GroundNear(grid, rho, mu, spot) result(near)
    type(fd3d_grid_t), intent(in) :: grid
    real(sp), intent(in) :: rho(0:, 0:, 0:), mu(0:, 0:, 0:)
    type(spot_t), intent(in) :: spot
    integer :: i, j, k, lo(3), hi(3)
    near = .true.
    lo = floor(spot%place) - sinc_nodes/2 + 1
    hi = lo + sinc_nodes - 1
    do k = lo(3), hi(3)
      do j = lo(2), hi(2)
        do i = lo(1), hi(1)
          if (Foreign(rho, mu, spot%home, spot%field, Wrapped(grid, [i, j, k]))) return
        end do
      end do
    end do
    near = .false.
  end function GroundNear

  !> The medium of a point at x, in cells of the subdomain (cell i from i-1 to i): on a face rock before fluid before air; within a
  !> cell of the ground not air. Parts of a derivative may be beyond a periodic side or above a free surface: the medium there
  !> is that of the other end or of the surface.
  pure integer function GroundHome(grid, rho, mu, x) result(home)
    type(fd3d_grid_t), intent(in) :: grid
    real(sp), intent(in) :: rho(0:, 0:, 0:), mu(0:, 0:, 0:)
    real(dp), intent(in) :: x(3)
    real(dp) :: place(3)
    integer :: i, j, k, wide, lo(3), hi(3)
    home = air
    place = max(0.0_dp, x)
    where (grid%side([1, 3, 5]) == side_periodic) place = modulo(x, real(grid%n, dp))
    do wide = 0, 1
      lo = max(0, floor(place - on_face) + 1 - wide)
      hi = min(grid%n + 1, floor(place + on_face) + 1 + wide)
      do k = lo(3), hi(3)
        do j = lo(2), hi(2)
          do i = lo(1), hi(1)
            home = max(home, KindOf(rho, mu, [i, j, k]))
          end do
        end do
      end do
      if (home /= air) return
    end do
  end function GroundHome

  !> Finds points and weights of a spot: none if there is nothing of its medium near.
  subroutine GroundWeights(grid, rho, mu, spot)
    type(fd3d_grid_t), intent(in) :: grid
    real(sp), intent(in) :: rho(0:, 0:, 0:), mu(0:, 0:, 0:)
    type(spot_t), intent(inout) :: spot
    real(dp) :: lag(0:ground_rows - 1)
    integer :: m
    spot%n = 0
    spot%w = 0
    call FlatWeights(grid, rho, mu, spot)
    if (spot%n == 0) call RoughWeights(grid, rho, mu, spot)
    if (spot%field > field_vz) return
    lag = GroundLag(grid)
    do m = 1, spot%n
      call FreeOfLag(m)
    end do

  contains

    !> Entry m is to be what it would be without lag: (v - (1 - lag) v beyond)/lag for each of the six sides of its point.
    subroutine FreeOfLag(m)
      integer, intent(in) :: m
      integer :: a, side, rows, beyond(3)
      real(dp) :: share
      do a = 1, 3
        do side = -1, 1, 2
          call LagBehind(grid, rho, mu, spot%field, spot%node(:, m), a, side, rows, beyond)
          if (rows == 0) cycle
          share = lag(rows - 1)
          spot%w(m) = spot%w(m)/share
          if (InAir(rho, spot%field, beyond)) cycle
          call AddNode(spot, beyond, -spot%w(m)*(1 - share))
        end do
      end do
    end subroutine FreeOfLag
  end subroutine GroundWeights

  !> Adds a point and its weight, if there is room.
  pure subroutine AddNode(spot, at, w)
    type(spot_t), intent(inout) :: spot
    integer, intent(in) :: at(3)
    real(dp), intent(in) :: w
    if (spot%n == ground_nodes) return
    spot%n = spot%n + 1
    spot%node(:, spot%n) = at
    spot%w(spot%n) = w
  end subroutine AddNode

  !> Finds the point beyond a contact that makes a velocity point lag, so many rows along axis a; 0 rows: there is none. In air it
  !> is any point, in a fluid one of motion along the contact, beside rock that stiffness ties to it.
  pure subroutine LagBehind(grid, rho, mu, field, at, a, side, rows, beyond)
    type(fd3d_grid_t), intent(in) :: grid
    real(sp), intent(in) :: rho(0:, 0:, 0:), mu(0:, 0:, 0:)
    integer, intent(in) :: field, at(3), a, side
    integer, intent(out) :: rows, beyond(3)
    integer :: own, m
    rows = 0
    beyond = at
    own = field - field_vx + 1
    if (a /= own .and. .not. all([mu(at(1), at(2), at(3)), Before(mu, own, at)] > 0)) return
    do m = 1, 3
      beyond(a) = at(a) + side*m
      beyond = Wrapped(grid, beyond)
      if (any(beyond < 1 .or. beyond > grid%n)) return
      if (InAir(rho, field, beyond) .or. (a /= own .and. Foreign(rho, mu, rock, field, beyond))) then
        rows = m
        return
      end if
    end do
  end subroutine LagBehind

  !> Sincs along x and y and a polynomial along z, if all columns around have the same points; else none.
  pure subroutine FlatWeights(grid, rho, mu, spot)
    type(fd3d_grid_t), intent(in) :: grid
    real(sp), intent(in) :: rho(0:, 0:, 0:), mu(0:, 0:, 0:)
    type(spot_t), intent(inout) :: spot
    integer, parameter :: far = 7
    real(dp) :: wx(sinc_nodes), wy(sinc_nodes), wz(tall), z
    integer :: i, j, k, i0, j0, middle, best, low, high, most
    logical :: there(-far:far), first
    call SincWeights(spot%place(1), i0, wx)
    call SincWeights(spot%place(2), j0, wy)
    z = spot%place(3)
    middle = nint(z)
    first = .true.
    do j = j0, j0 + sinc_nodes - 1
      do i = i0, i0 + sinc_nodes - 1
        if (.not. abs(wx(i - i0 + 1)*wy(j - j0 + 1)) > 0) cycle
        do k = -far, far
          if (first) there(k) = Fits([i, j, middle + k])
          if (there(k) .neqv. Fits([i, j, middle + k])) return
        end do
        first = .false.
      end do
    end do
    if (.not. any(there)) return
    best = minloc([(merge(abs(middle + k - z), huge(1.0_dp), there(k)), k=-far, far)], 1) - far - 1
    low = best
    high = best
    most = tall                                            ! the further out, the fewer: they would be wild
    if (abs(middle + best - z) > 0.5_dp + on_face) most = 3
    if (abs(middle + best - z) > 1 + on_face) most = 2
    do while (high - low + 1 < most)                       ! grows towards the nearer side, as far as the medium goes
      if (Inner(low - 1) .and. (z - middle - low <= high + middle - z .or. .not. Inner(high + 1))) then
        low = low - 1
      else if (Inner(high + 1)) then
        high = high + 1
      else
        exit
      end if
    end do
    wz(:high - low + 1) = Lagrange(z - (middle + low - 1), high - low + 1)
    do k = low, high
      do j = j0, j0 + sinc_nodes - 1
        do i = i0, i0 + sinc_nodes - 1
          if (.not. abs(wx(i - i0 + 1)*wy(j - j0 + 1)) > 0) cycle
          if (BearsNone(mu, spot, Wrapped(grid, [i, j, middle + k]))) cycle
          call AddNode(spot, Wrapped(grid, [i, j, middle + k]), wx(i - i0 + 1)*wy(j - j0 + 1)*wz(k - low + 1))
        end do
      end do
    end do

  contains

    pure logical function Fits(at)
      integer, intent(in) :: at(3)
      Fits = Own(grid, rho, mu, spot, Wrapped(grid, at))
    end function Fits

    pure logical function Inner(k)
      integer, intent(in) :: k
      Inner = .false.
      if (abs(k) <= far) Inner = there(k)
    end function Inner
  end subroutine FlatWeights

  !> A best fit to the points around, whatever the shape of the contact.
  pure subroutine RoughWeights(grid, rho, mu, spot)
    type(fd3d_grid_t), intent(in) :: grid
    real(sp), intent(in) :: rho(0:, 0:, 0:), mu(0:, 0:, 0:)
    type(spot_t), intent(inout) :: spot
    real(dp) :: away(3, ground_nodes), wide
    integer :: i, j, k, lo(3), hi(3), at(3), degree, most
    lo = ceiling(spot%place - reach)
    hi = floor(spot%place + reach)
    do k = lo(3), hi(3)
      do j = lo(2), hi(2)
        do i = lo(1), hi(1)
          at = Wrapped(grid, [i, j, k])
          if (.not. Own(grid, rho, mu, spot, at) .or. BearsNone(mu, spot, at)) cycle
          call AddNode(spot, at, 0.0_dp)
          away(:, spot%n) = [i, j, k] - spot%place
        end do
      end do
    end do
    most = 3
    wide = 4
    if (OnStairs(grid, rho, spot)) then
      most = 1
      wide = 40
      do i = 1, 3
        away(i, :spot%n) = away(i, :spot%n) - (1 - plane)*sum(away(i, :spot%n))/spot%n
      end do
    end if
    associate (n => spot%n)
      do degree = most, 0, -1
        if (n < terms(degree)) cycle
        call Fit(away(:, :n), degree, wide, spot%w(:n))
        if (sum(abs(spot%w(:n))) > 0 .and. sum(abs(spot%w(:n))) <= wildest) exit
      end do
    end associate
  end subroutine RoughWeights

  !> True of motion of rock within two cells of air, where the ground has steps. Each step shakes the points around it by itself:
  !> a plane through all points in reach averages that away, a cubic takes it for motion of the ground and makes it larger. The
  !> plane is taken a part of the way from the middle of the points to the place: the full way brings back some of what it averages.
  pure logical function OnStairs(grid, rho, spot)
    type(fd3d_grid_t), intent(in) :: grid
    real(sp), intent(in) :: rho(0:, 0:, 0:)
    type(spot_t), intent(in) :: spot
    integer :: i, j, k, at(3), lo(3), hi(3)
    logical :: near, steps, airy, solid
    OnStairs = .false.
    if (spot%home /= rock .or. spot%field > field_vz) return
    near = .false.
    steps = .false.
    lo = ceiling(spot%place - reach)
    hi = floor(spot%place + reach)
    do k = lo(3), hi(3)
      airy = .false.
      solid = .false.
      do j = lo(2), hi(2)
        do i = lo(1), hi(1)
          at = Wrapped(grid, [i, j, k])
          if (any(at < 1 .or. at > grid%n)) cycle
          if (InAir(rho, spot%field, at)) then
            airy = .true.
            near = near .or. all(abs([i, j, k] - floor(spot%place) - 0.5_dp) < 2)
          else
            solid = .true.
          end if
        end do
      end do
      steps = steps .or. (airy .and. solid)
    end do
    OnStairs = near .and. steps
  end function OnStairs

  !> True of a point of the spot's medium.
  pure logical function Own(grid, rho, mu, spot, at)
    type(fd3d_grid_t), intent(in) :: grid
    real(sp), intent(in) :: rho(0:, 0:, 0:), mu(0:, 0:, 0:)
    type(spot_t), intent(in) :: spot
    integer, intent(in) :: at(3)
    Own = .false.
    if (.not. any(at < 1 .or. at > grid%n)) Own = .not. Foreign(rho, mu, spot%home, spot%field, at)
  end function Own

  !> True of a shear point that a source cannot act on: it is in a contact, where that stress is 0.
  pure logical function BearsNone(mu, spot, at)
    real(sp), intent(in) :: mu(0:, 0:, 0:)
    type(spot_t), intent(in) :: spot
    integer, intent(in) :: at(3)
    BearsNone = .false.
    if (spot%acts .and. spot%field >= field_sxy) BearsNone = Slack(mu, spot%field, at)
  end function BearsNone

  !> Lagrange weights of nodes 1..n.
  pure function Lagrange(x, n) result(w)
    real(dp), intent(in) :: x
    integer, intent(in) :: n
    real(dp) :: w(n)
    integer :: i, j
    w = 1
    do i = 1, n
      do j = 1, n
        if (j /= i) w(i) = w(i)*(x - j)/(i - j)
      end do
    end do
  end function Lagrange

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

  !> Weights that give polynomials of a degree exactly and are small, most where far away, beyond sqrt(wide) cells; 0 where the
  !> points do not suffice.
  pure subroutine Fit(away, degree, wide, w)
    real(dp), intent(in) :: away(:, :), wide
    integer, intent(in) :: degree
    real(dp), intent(out) :: w(:)
    real(dp) :: p(terms(degree), size(w)), a(terms(degree), terms(degree)), c(terms(degree)), trust(size(w))
    integer :: m
    do m = 1, size(w)
      p(:, m) = Powers(away(:, m)/2, degree)
      trust(m) = exp(-sum(away(:, m)**2)/wide)
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

  pure integer function KindOf(rho, mu, at) result(kind)
    real(sp), intent(in) :: rho(0:, 0:, 0:), mu(0:, 0:, 0:)
    integer, intent(in) :: at(3)
    kind = air
    if (rho(at(1), at(2), at(3)) > 0) kind = merge(rock, fluid, mu(at(1), at(2), at(3)) > 0)
  end function KindOf

  !> True if none of the cells around a point of `field` is of kind `home`; cells outside the subdomain are.
  pure logical function Foreign(rho, mu, home, field, at)
    real(sp), intent(in) :: rho(0:, 0:, 0:), mu(0:, 0:, 0:)
    integer, intent(in) :: home, field, at(3)
    integer :: axes(2), to(3)
    Foreign = .false.
    if (any(at < 1) .or. any(at >= shape(rho) - 1)) return
    if (KindOf(rho, mu, at) == home) return
    if (field >= field_sxx .and. field <= field_szz) then
      Foreign = .true.
      return
    end if
    axes = field - field_vx + 1
    if (field > field_vz) axes = Axes2(field)
    to = at
    to(axes(1)) = at(axes(1)) - 1
    if (KindOf(rho, mu, to) == home) return
    if (field > field_vz) then
      to(axes(2)) = at(axes(2)) - 1
      if (KindOf(rho, mu, to) == home) return
      to(axes(1)) = at(axes(1))
      if (KindOf(rho, mu, to) == home) return
    end if
    Foreign = .true.
  end function Foreign

  !> True of a velocity point between air and air.
  pure logical function InAir(rho, field, at)
    real(sp), intent(in) :: rho(0:, 0:, 0:)
    integer, intent(in) :: field, at(3)
    InAir = .not. (rho(at(1), at(2), at(3)) > 0 .or. Before(rho, field - field_vx + 1, at) > 0)
  end function InAir

  !> True of a shear point that bears no stress: a cell around it is air or fluid.
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
