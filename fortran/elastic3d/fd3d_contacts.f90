!> Motion, stress, strain and rotation at a place beside contacts of rock, of those at points of the 3D grid around it; the weights
!> of the points stand in fd3d_contact_weights.f90.
!>
!> Weights over eight points read a field as if it were smooth. Across a contact only motion, its derivatives along the contact and
!> the stress on it are. Each point of the grid has them, by its own moduli: let G be the gradient of velocity there, G_ab =
!> dv_b/dx_a, n the direction across the contact, l and m Lame's moduli, p those of the place. What the place has of it is
!>
!>     G + n w,  with   m_p w_t = ((l - l_p) tr G n + (m - m_p) (G + G') n)_t,   (l_p + 2 m_p) w_n = (...)_n
!>
!> t along the contact and n across it: so the stress on it is that of the point. Stress itself is a strain by the moduli of its
!> point first, and by those of the place then. What is continuous bends at a contact, more than weights over eight points can
!> read: motion, its derivatives along the contact and the stress on it get what they lack (fd3d_bends.f90). All of it is linear in
!> the fields, and where the medium is even it is the weights alone. Beside fluids and air, and below a free surface, other weights
!> are taken (fd3d_ground.f90, surface_weights.f90).
module fd3d_contacts_m
  use fd3d_bends_m, only: bend_reach, Fd3dBends, line_reach
  use fd3d_engine_m, only: fd3d_grid_t, side_periodic
  use fd3d_moduli_m, only: fd3d_moduli_t, Fd3dLame, Fd3dModuli
  use kinds_m, only: dp, sp
  use model3d_line_m, only: line_free, line_mu, line_p, line_parts, line_plate, line_rate
  use model3d_place_m, only: LinesOf
  use window_m, only: window_t
  implicit none
  private
  public :: rock_t, Fd3dRock, RockBends, RockGradient, RockGradientBends, rock_even, rock_reach

  integer, parameter :: rock_reach = bend_reach   !< cells to each side of a place whose moduli count
  real(dp), parameter :: rock_even = 1.02_dp      !< moduli there, the largest over the least: less is no contact
  real(dp), parameter :: bent_least = 1e-3_dp     !< of a cell of the mean medium: bends by less are none
  real(dp), parameter :: flat = 0.9_dp            !< part of the squares of changes that is along one direction: less is no contact

  !> Of n along an axis, the least for what velocity lacks, 8 degrees, and for the others, 2.5: on a line across contacts that dip
  !> more it is not what the place lacks (accuracy.md).
  real(dp), parameter :: level(2) = [0.99_dp, 0.999_dp]

  !> The rock around a place.
  type :: rock_t
    logical :: beside = .false.                   !< of a contact,
    logical :: bent = .false.                     !< at which velocity bends
    real(dp) :: n(3) = 0                          !< across it
    real(dp) :: lambda = 0, mu = 0                !< of the place
    real(dp) :: bends(line_parts, 2) = 0          !< there (fd3d_bends.f90), by the weights of velocities, and by others
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
    real(dp) :: lines(2*line_parts, 3)
    integer :: c(3), low(3), high(3), a, axis, of
    c = floor(x/grid%d*(1 - 1e-12_dp)) + 2 - grid%first
    low = c - rock_reach
    high = c + rock_reach
    do a = 1, 3                                   ! it has fields there, and its medium is known here, of all points near the piece
      if (grid%side(2*a - 1) == side_periodic) cycle
      if (low(a) - grid%half_length < 2 - grid%first(a)) return
      if (high(a) + grid%half_length > grid%whole(a) + 1 - grid%first(a)) return
      if (low(a) < 0 .or. high(a) > grid%n(a) + 1) return
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
    if (.not. rock%beside) return
    axis = maxloc(abs(rock%n), dim=1)
    lines = LinesOf(numbers)
    if (.not. lines(line_mu, axis) > 0) return
    do of = 1, 2
      if (abs(rock%n(axis)) < level(of)) cycle
      rock%bends(:, of) = rock%n(axis)*Fd3dBends(moduli, window, grid, x, c, axis, lines(:, axis), grid%even .and. of == 2)
      associate (own => abs(lines(:line_parts, axis) + lines(line_parts + 1:, axis))/(2*line_reach))    ! of a cell
        if (all(abs(rock%bends(:, of)) < bent_least*own)) rock%bends(:, of) = 0
      end associate
    end do
    rock%bent = any(abs(rock%bends(:, 1)) > 0)
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

  !> The gradient of motion at the place, of that at a point with such moduli.
  pure function RockGradient(rock, g, lambda, mu) result(gradient)
    type(rock_t), intent(in) :: rock
    real(dp), intent(in) :: g(3, 3), lambda, mu
    real(dp) :: gradient(3, 3)
    gradient = g + Slopes(rock, Traction(rock%n, g, lambda, mu) - Traction(rock%n, g, rock%lambda, rock%mu))
  end function RockGradient

  !> By how much motion at the place is more than weights have it, of its gradient at a point.
  pure function RockBends(rock, g, lambda, mu, of) result(more)
    type(rock_t), intent(in) :: rock
    real(dp), intent(in) :: g(3, 3), lambda, mu
    integer, intent(in) :: of                     !< 1: of velocity; 2: of what its derivatives along the contact are made of
    real(dp) :: more(3), t(3), across
    associate (n => rock%n, bends => rock%bends(:, of))
      t = Traction(n, g, lambda, mu)
      across = dot_product(n, t)
      more = bends(line_mu)*(t - across*n) + &
             (bends(line_p)*across - bends(line_rate)*(Trace(g) - dot_product(n, matmul(g, n))))*n
    end associate
  end function RockBends

  !> By how much the gradient there is more than weights have it, of what the derivative of gradients at points along an axis is.
  pure function RockGradientBends(rock, g, lambda, mu, axis) result(more)
    type(rock_t), intent(in) :: rock
    real(dp), intent(in) :: g(3, 3), lambda, mu
    integer, intent(in) :: axis
    real(dp) :: more(3, 3), along(3), flat_g(3, 3), t(3), across
    associate (n => rock%n, bends => rock%bends(:, 2))
      along = -n(axis)*n
      along(axis) = along(axis) + 1
      more = Outer(along, RockBends(rock, g, lambda, mu, 2))
      t = Traction(n, g, lambda, mu)
      across = dot_product(n, t)
      flat_g = g + transpose(g)
      flat_g = flat_g - Outer(n, matmul(n, flat_g))
      flat_g = flat_g - Outer(matmul(flat_g, n), n)
      t = bends(line_free)*matmul(flat_g, along) + (bends(line_plate)*Trace(flat_g)/2 + bends(line_rate)*across)*along
      more = more - Slopes(rock, t + Traction(n, more, rock%lambda, rock%mu))
    end associate
  end function RockGradientBends

  !> The gradient that a traction makes at the place where nothing moves along the contact.
  pure function Slopes(rock, t) result(gradient)
    type(rock_t), intent(in) :: rock
    real(dp), intent(in) :: t(3)
    real(dp) :: gradient(3, 3), across
    associate (n => rock%n)
      across = dot_product(n, t)
      gradient = Outer(n, (t - across*n)/rock%mu + across*n/(rock%lambda + 2*rock%mu))
    end associate
  end function Slopes

  !> The traction on a plane across n of a gradient in a medium.
  pure function Traction(n, g, lambda, mu) result(t)
    real(dp), intent(in) :: n(3), g(3, 3), lambda, mu
    real(dp) :: t(3)
    t = lambda*Trace(g)*n + mu*matmul(g + transpose(g), n)
  end function Traction

  pure real(dp) function Trace(g)
    real(dp), intent(in) :: g(3, 3)
    Trace = g(1, 1) + g(2, 2) + g(3, 3)
  end function Trace

  pure function Outer(a, b) result(c)
    real(dp), intent(in) :: a(3), b(3)
    real(dp) :: c(3, 3)
    c = spread(a, 2, 3)*spread(b, 1, 3)
  end function Outer

end module fd3d_contacts_m
