!> Stress, strain and rotation at a place beside contacts of rock, as sums over points of the 3D grid.
!>
!> Weights over eight points read a field as if it were smooth. Across a contact only motion, its derivatives along the contact and
!> the stress on it are. Each point of the grid has them, by its own moduli: let G be the gradient of velocity there, G_ab =
!> dv_b/dx_a, n the direction across the contact, l and m Lame's moduli, p those of the place. What the place has of it is
!>
!>     G + n w,  with   m_p w_t = ((l - l_p) tr G n + (m - m_p) (G + G') n)_t,   (l_p + 2 m_p) w_n = (...)_n
!>
!> t along the contact and n across it: so the stress on it is that of the point. Stress itself is a strain by the moduli of its
!> point first, and by those of the place then. All of it is linear in the fields, and where the medium is even it is the weights
!> alone. Beside fluids and air, and below a free surface, other weights are taken (fd3d_ground.f90, surface_weights.f90).
module fd3d_contacts_m
  use fd3d_bends_m, only: bend_reach, Fd3dBends
  use fd3d_engine_m, only: fd3d_grid_t, field_vx, side_periodic
  use fd3d_moduli_m, only: fd3d_moduli_t, Fd3dLame, Fd3dModuli
  use fd3d_point_lists_m, only: fd3d_list_t, fd3d_tensor, Fd3dSum, StandsOnHalf
  use kinds_m, only: dp, sp
  use model3d_line_m, only: line_parts
  use model3d_place_m, only: LinesOf
  use sinc_m, only: sinc_nodes, SincEven, SincWeights
  use window_m, only: window_t
  implicit none
  private
  public :: rock_t, Fd3dRock, Fd3dRockRead, Fd3dRockMoment, Fd3dRockMotion, rock_even, rock_reach

  integer, parameter :: rock_reach = bend_reach   !< cells to each side of a place whose moduli count
  real(dp), parameter :: rock_even = 1.02_dp      !< moduli there, the largest over the least: less is no contact
  real(dp), parameter :: flat = 0.9_dp            !< part of the squares of changes that is along one direction: less is no contact
  integer, parameter :: of_stress = 1, of_slopes = 2, of_velocity = 3   !< weights of points are for
  integer, parameter :: pair(2, 6) = reshape([1, 1, 2, 2, 3, 3, 1, 2, 1, 3, 2, 3], [2, 6])   !< axes of fd3d_tensor

  !> The rock around a place.
  type :: rock_t
    logical :: beside = .false.                   !< of a contact
    real(dp) :: n(3) = 0                          !< across it
    real(dp) :: lambda = 0, mu = 0                !< of the place
    real(dp) :: bends(line_parts) = 0             !< of velocity there (fd3d_bends.f90)
    real(sp), allocatable, dimension(:, :, :) :: lambdas, mus !< of cells of the box around the piece
  end type rock_t

contains

  !> The rock around x [m], whose own medium is known.
  subroutine Fd3dRock(moduli, window, grid, x, numbers, rock)
    type(fd3d_moduli_t), intent(in) :: moduli
    type(window_t), intent(in) :: window
    type(fd3d_grid_t), intent(in) :: grid         !< the box around the piece
    real(dp), intent(in) :: x(3)
    real(dp), intent(in) :: numbers(:)            !< of the place (model3d_place.f90)
    type(rock_t), intent(out) :: rock
    real(sp), allocatable :: rho(:, :, :)
    integer :: c(3), low(3), high(3), a
    c = floor(x/grid%d*(1 - 1e-12_dp)) + 2 - grid%first
    low = c - rock_reach
    high = c + rock_reach
    do a = 1, 3                                   ! it has fields there
      if (grid%side(2*a - 1) == side_periodic) cycle
      if (low(a) - grid%half_length < 2 - grid%first(a)) return
      if (high(a) + grid%half_length > grid%whole(a) + 1 - grid%first(a)) return
    end do
    allocate (rho(low(1):high(1), low(2):high(2), low(3):high(3)))
    allocate (rock%lambdas, rock%mus, mold=rho)
    call Fd3dModuli(moduli, window, low, high, rho, rock%lambdas, rock%mus)
    if (.not. minval(rock%mus) > 0) return
    if (maxval(rock%mus) < rock_even*minval(rock%mus) .and. &
        maxval(rock%lambdas + 2*rock%mus) < rock_even*minval(rock%lambdas + 2*rock%mus)) return
    associate (lame => Fd3dLame(moduli, numbers))
      rock%lambda = lame(1)
      rock%mu = lame(2)
    end associate
    rock%n = Across(rock, grid%d, x/grid%d - (grid%first - 1) + 0.5_dp)
    rock%beside = rock%mu > 0 .and. norm2(rock%n) > 0
    if (rock%beside) rock%bends = Fd3dBends(moduli, window, grid, x, c, rock%n, LinesOf(numbers))
  end subroutine Fd3dRock

  !> The direction in which the logarithms of moduli change most from cell to cell around a place; 0 if none do, or they do in all.
  pure function Across(rock, d, place) result(n)
    type(rock_t), intent(in) :: rock
    real(dp), intent(in) :: d(3), place(3)
    real(dp) :: n(3)
    real(dp) :: changes(3, 3), powers(3, 3), slope(3)
    real(sp), allocatable :: u(:, :, :)
    integer :: i, j, k, wave, times
    changes = 0
    allocate (u, mold=rock%mus)
    do wave = 1, 2
      if (wave == 1) u = log(rock%mus)
      if (wave == 2) u = log(rock%lambdas + 2*rock%mus)
      do k = lbound(u, 3) + 1, ubound(u, 3) - 1
        do j = lbound(u, 2) + 1, ubound(u, 2) - 1
          do i = lbound(u, 1) + 1, ubound(u, 1) - 1
            slope = [u(i + 1, j, k) - u(i - 1, j, k), u(i, j + 1, k) - u(i, j - 1, k), u(i, j, k + 1) - u(i, j, k - 1)]/d
            if (all(abs(slope) <= 0)) cycle
            changes = changes + exp(-0.25_dp*sum((place - [i, j, k])**2))*spread(slope, 1, 3)*spread(slope, 2, 3)
          end do
        end do
      end do
    end do
    powers = changes
    do times = 1, 12                              ! of a matrix, which tend to its largest direction
      powers = powers/max(maxval(abs(powers)), tiny(1.0_dp))
      powers = matmul(powers, powers)
    end do
    n = powers(:, maxloc([(powers(i, i), i=1, 3)], dim=1))
    n = n/max(norm2(n), tiny(1.0_dp))
    if (dot_product(n, matmul(changes, n)) < flat*(changes(1, 1) + changes(2, 2) + changes(3, 3))) n = 0
  end function Across

  !> One more receiver: the sum of part times stress, or of part(a, b) times dv_b/dx_a.
  subroutine Fd3dRockRead(list, grid, x, rock, part, slopes)
    type(fd3d_list_t), intent(inout) :: list
    type(fd3d_grid_t), intent(in) :: grid
    real(dp), intent(in) :: x(3), part(3, 3)
    type(rock_t), intent(in) :: rock
    logical, intent(in) :: slopes
    real(dp), allocatable :: w(:, :, :, :)
    integer :: low(3)
    call RockWeights(grid, x, rock, part, merge(of_slopes, of_stress, slopes), low, w)
    if (slopes) call SumOfSlopes(grid, low, w)
    call Fd3dSum(list, grid, x, low, w, .not. slopes, 0)
  end subroutine Fd3dRockRead

  !> A moment tensor times history h of its rate, as Fd3dMoment adds it. Each point has of it what a receiver of strain at the place
  !> would read from it, so both may change places.
  subroutine Fd3dRockMoment(list, grid, x, rock, moment, h)
    type(fd3d_list_t), intent(inout) :: list
    type(fd3d_grid_t), intent(in) :: grid
    real(dp), intent(in) :: x(3), moment(3, 3)    !< [N m]
    type(rock_t), intent(in) :: rock
    integer, intent(in) :: h
    real(dp), allocatable :: w(:, :, :, :)
    integer :: low(3)
    call RockWeights(grid, x, rock, -moment*grid%dt/product(grid%d), of_slopes, low, w)
    call Fd3dSum(list, grid, x, low, w(:, :, :, :size(fd3d_tensor)), .true., h)
  end subroutine Fd3dRockMoment

  !> The sum of part times velocity: of one more receiver, or, of a force with history h > 0, what it gives its points.
  subroutine Fd3dRockMotion(list, grid, x, rock, part, h)
    type(fd3d_list_t), intent(inout) :: list
    type(fd3d_grid_t), intent(in) :: grid
    real(dp), intent(in) :: x(3), part(3)
    type(rock_t), intent(in) :: rock
    integer, intent(in) :: h
    real(dp), allocatable :: w(:, :, :, :)
    real(dp) :: along(sinc_nodes, 3), place
    integer :: low(3), first(3), at(3), c, i, j, k, axis
    call RockWeights(grid, x, rock, spread(part, 2, 3), of_velocity, low, w)
    call SumOfSlopes(grid, low, w)
    do c = 1, 3
      if (.not. abs(part(c)) > 0) cycle
      do axis = 1, 3
        place = x(axis)/grid%d(axis) + merge(1.0_dp, 0.5_dp, StandsOnHalf(field_vx + c - 1, axis)) - grid%first(axis) + 1
        call SincWeights(place, first(axis), along(:, axis))
      end do
      do k = 1, sinc_nodes
        do j = 1, sinc_nodes
          do i = 1, sinc_nodes
            at = first + [i, j, k] - low
            w(at(1), at(2), at(3), c) = w(at(1), at(2), at(3), c) + part(c)*along(i, 1)*along(j, 2)*along(k, 3)
          end do
        end do
      end do
    end do
    call Fd3dSum(list, grid, x, low, w, .false., h)
  end subroutine Fd3dRockMotion

  !> The weights of points, cells from `low` on: of stress in the order of fd3d_tensor; of slopes dv_b/dx_a, a <= b, in its order,
  !> then those of a > b.
  subroutine RockWeights(grid, x, rock, part, of, low, weight)
    type(fd3d_grid_t), intent(in) :: grid
    real(dp), intent(in) :: x(3), part(3, 3)
    type(rock_t), intent(in) :: rock
    integer, intent(in) :: of
    integer, intent(out) :: low(3)
    real(dp), allocatable, intent(out) :: weight(:, :, :, :)
    logical :: slopes
    real(dp) :: w(sinc_nodes, 3), place, lambda, mu, known(2), each(2)
    integer :: first(3), at(3), c, i, j, k, axis
    slopes = of /= of_stress
    low = lbound(rock%mus)
    associate (high => ubound(rock%mus))
      allocate (weight(low(1):high(1), low(2):high(2), low(3):high(3), size(pair, 2) + merge(3, 0, slopes)), source=0.0_dp)
    end associate
    do c = 1, size(pair, 2)
      do axis = 1, 3
        place = x(axis)/grid%d(axis) + merge(1.0_dp, 0.5_dp, StandsOnHalf(fd3d_tensor(c), axis)) - grid%first(axis) + 1
        if (grid%even) call SincEven(place, first(axis), w(:, axis))
        if (.not. grid%even) call SincWeights(place, first(axis), w(:, axis))
      end do
      known = 0
      do k = 1, sinc_nodes
        do j = 1, sinc_nodes
          do i = 1, sinc_nodes
            at = first + [i, j, k] - 1
            lambda = real(rock%lambdas(at(1), at(2), at(3)), dp)
            mu = ShearModulus(rock%mus(at(1) - 1:at(1), at(2) - 1:at(2), at(3) - 1:at(3)), pair(1, c), pair(2, c))
            if (any(abs([lambda, mu] - known) > 0)) each = Shares(rock, part, pair(:, c), lambda, mu, of)
            known = [lambda, mu]
            weight(at(1), at(2), at(3), c) = w(i, 1)*w(j, 2)*w(k, 3)*each(1)
            if (slopes .and. c > 3) weight(at(1), at(2), at(3), c + 3) = w(i, 1)*w(j, 2)*w(k, 3)*each(2)
          end do
        end do
      end do
    end do
  end subroutine RockWeights

  !> Weights of slopes become those of the velocities that they are differences of.
  subroutine SumOfSlopes(grid, low, w)
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(inout) :: low(3)
    real(dp), allocatable, intent(inout) :: w(:, :, :, :)
    real(dp), allocatable :: v(:, :, :, :)        !< (cells, velocities)
    integer :: n(3), at(3), a, b, c, l, m, side
    n = shape(w(:, :, :, 1))
    l = grid%half_length
    allocate (v(n(1) + 2*l, n(2) + 2*l, n(3) + 2*l, 3), source=0.0_dp)
    do c = 1, size(w, 4)
      a = merge(pair(1, min(c, 6)), pair(2, max(c - 3, 1)), c <= 6)
      b = merge(pair(2, min(c, 6)), pair(1, max(c - 3, 1)), c <= 6)
      do m = 1, l
        do side = -1, 1, 2
          at = l
          at(a) = l + merge(m, 1 - m, side > 0) - merge(0, 1, a == b)
          associate (to => v(at(1) + 1:at(1) + n(1), at(2) + 1:at(2) + n(2), at(3) + 1:at(3) + n(3), b))
            to = to + side*grid%w(m)/grid%d(a)*w(:, :, :, c)
          end associate
        end do
      end do
    end do
    low = low - l
    call move_alloc(v, w)
  end subroutine SumOfSlopes

  !> mu at a point of s_ab, of the cells before and at it: the mean that the engines take (fd3d_medium.f90).
  pure real(dp) function ShearModulus(mu, a, b) result(m)
    real(sp), intent(in) :: mu(0:, 0:, 0:)
    integer, intent(in) :: a, b
    integer :: i, j, at(3)
    m = 0
    if (a == b) then
      m = real(mu(1, 1, 1), dp)
      return
    end if
    do j = 0, 1
      do i = 0, 1
        at = 1
        at(a) = i
        at(b) = j
        m = m + 1/real(mu(at(1), at(2), at(3)), dp)
      end do
    end do
    m = 4/m
  end function ShearModulus

  !> The sum of part times what the place has: of s_ab = 1 at a point with such moduli, or of dv_b/dx_a = 1 and of dv_a/dx_b = 1.
  pure function Shares(rock, part, ab, lambda, mu, of) result(share)
    type(rock_t), intent(in) :: rock
    real(dp), intent(in) :: part(3, 3), lambda, mu
    integer, intent(in) :: ab(2), of
    real(dp) :: share(2), g(3, 3)
    integer :: i
    g = 0
    if (of == of_velocity) then
      g(ab(1), ab(2)) = 1
      share = [sum(part(:, 1)*Bend(rock, g, lambda, mu)), sum(part(:, 1)*Bend(rock, transpose(g), lambda, mu))]
    else if (of == of_slopes) then
      g(ab(1), ab(2)) = 1
      share = [sum(part*Here(rock, g, lambda, mu)), sum(part*Here(rock, transpose(g), lambda, mu))]
    else
      if (ab(1) == ab(2)) g = reshape([(merge(-lambda/(3*lambda + 2*mu), 0.0_dp, modulo(i, 4) == 0), i=0, 8)], [3, 3])
      g(ab(1), ab(2)) = g(ab(1), ab(2)) + 1
      g(ab(2), ab(1)) = g(ab(1), ab(2))
      g = Here(rock, g/(2*mu), lambda, mu)
      share = rock%mu*sum(part*(g + transpose(g))) + &
              rock%lambda*(g(1, 1) + g(2, 2) + g(3, 3))*(part(1, 1) + part(2, 2) + part(3, 3))
    end if
  end function Shares

  !> The gradient of motion at the place, of that at a point.
  pure function Here(rock, g, lambda, mu) result(gradient)
    type(rock_t), intent(in) :: rock
    real(dp), intent(in) :: g(3, 3), lambda, mu
    real(dp) :: gradient(3, 3), t(3), along(3)
    associate (n => rock%n)
      t = (lambda - rock%lambda)*(g(1, 1) + g(2, 2) + g(3, 3))*n + (mu - rock%mu)*matmul(g + transpose(g), n)
      along = t - dot_product(n, t)*n
      gradient = g + matmul(reshape(n, [3, 1]), &
                            reshape(along/rock%mu + dot_product(n, t)*n/(rock%lambda + 2*rock%mu), [1, 3]))
    end associate
  end function Here

  !> By how much velocity at the place is more than weights have it, of the gradient of motion at a point.
  pure function Bend(rock, g, lambda, mu) result(more)
    type(rock_t), intent(in) :: rock
    real(dp), intent(in) :: g(3, 3), lambda, mu
    real(dp) :: more(3), t(3), across
    associate (n => rock%n, trace => g(1, 1) + g(2, 2) + g(3, 3))
      t = lambda*trace*n + mu*matmul(g + transpose(g), n)
      across = dot_product(n, t)
      more = rock%bends(1)*(t - across*n) + (rock%bends(2)*across - rock%bends(3)*(trace - dot_product(n, matmul(g, n))))*n
    end associate
  end function Bend

end module fd3d_contacts_m
