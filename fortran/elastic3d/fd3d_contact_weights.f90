!> Sources and receivers beside contacts of rock (fd3d_contacts.f90), as sums over points of the 3D grid. What the place has of the
!> gradient of motion at a point, by that point's moduli, is linear in it, so each point gets a weight.
module fd3d_contact_weights_m
  use fd3d_contacts_m, only: rock_t, rock_reach, RockBends, RockGradient, RockGradientBends
  use fd3d_engine_m, only: fd3d_grid_t, field_vx
  use fd3d_point_lists_m, only: fd3d_list_t, fd3d_tensor, Fd3dSum, StandsOnHalf
  use kinds_m, only: dp, sp
  use sinc_m, only: sinc_nodes, SincEven, SincWeights
  implicit none
  private
  public :: Fd3dRockRead, Fd3dRockMoment, Fd3dRockMotion, rock_cells

  integer, parameter :: wide = 2*rock_reach + 1   !< cells along an axis
  integer, parameter :: rock_cells = 9*(wide + 8)**3   !< that a point may take, at most
  integer, parameter :: pair(2, 6) = reshape([1, 1, 2, 2, 3, 3, 1, 2, 1, 3, 2, 3], [2, 6])   !< axes of fd3d_tensor
  integer, parameter :: of_motion = -1, of_gradient = 0   !< what is read at points; 1 to 3: a derivative of the gradient

contains

  !> One more receiver: the sum of part times stress, or of part(a, b) times dv_b/dx_a.
  subroutine Fd3dRockRead(list, grid, x, rock, part, slopes)
    type(fd3d_list_t), intent(inout) :: list
    type(fd3d_grid_t), intent(in) :: grid
    real(dp), intent(in) :: x(3), part(3, 3)
    type(rock_t), intent(in) :: rock
    logical, intent(in) :: slopes
    real(dp), allocatable :: w(:, :, :, :)
    real(dp) :: of_slopes(3, 3)
    integer :: low(3), a
    of_slopes = part
    if (.not. slopes) then                        ! stress is made of slopes at the place
      of_slopes = rock%mu*(part + transpose(part))
      do a = 1, 3
        of_slopes(a, a) = of_slopes(a, a) + rock%lambda*(part(1, 1) + part(2, 2) + part(3, 3))
      end do
    end if
    call Begin(rock, slopes, low, w)
    call AddGradient(grid, x, rock, of_slopes, slopes, w)
    if (slopes) call SumOfSlopes(grid, low, w, grid%w(:grid%half_length))
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
    call Begin(rock, .true., low, w)
    call AddGradient(grid, x, rock, -moment*grid%dt/product(grid%d), .true., w)
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
    real(dp) :: along(wide, 3)
    integer :: low(3), first(3), c, j, k, axis
    call Begin(rock, .true., low, w)
    first = low
    call AddWeights(grid, x, rock, spread(part, 2, 3), .true., of_motion, w)
    call SumOfSlopes(grid, low, w, [1.0_dp])      ! short differences, in what is a small part
    first = first - low
    do c = 1, 3
      do axis = 1, 3
        along(:, axis) = AlongAxis(grid, field_vx + c - 1, axis, x(axis), low(axis) + first(axis), .false., .false.)
      end do
      do k = 1, wide
        do j = 1, wide
          associate (to => w(first(1) + 1:first(1) + wide, first(2) + j, first(3) + k, c))
            to = to + part(c)*along(:, 1)*along(j, 2)*along(k, 3)
          end associate
        end do
      end do
    end do
    call Fd3dSum(list, grid, x, low, w, .false., h)
  end subroutine Fd3dRockMotion

  !> Weights of cells from `low` on: of stress in the order of fd3d_tensor; of slopes dv_b/dx_a, a <= b, in its order, then those of
  !> a > b.
  subroutine Begin(rock, slopes, low, w)
    type(rock_t), intent(in) :: rock
    logical, intent(in) :: slopes
    integer, intent(out) :: low(3)
    real(dp), allocatable, intent(out) :: w(:, :, :, :)
    low = lbound(rock%mus)
    allocate (w(wide, wide, wide, size(pair, 2) + merge(3, 0, slopes)), source=0.0_dp)
  end subroutine Begin

  !> Adds those of the sum of part times the gradient at the place.
  subroutine AddGradient(grid, x, rock, part, slopes, weight)
    type(fd3d_grid_t), intent(in) :: grid
    real(dp), intent(in) :: x(3), part(3, 3)
    type(rock_t), intent(in) :: rock
    logical, intent(in) :: slopes
    real(dp), intent(inout) :: weight(:, :, :, :)
    integer :: axis
    call AddWeights(grid, x, rock, part, slopes, of_gradient, weight)
    if (all(abs(rock%bends(:, 2)) <= 0)) return
    do axis = 1, 3                                ! along the contact
      if (abs(rock%n(axis)) < 1) call AddWeights(grid, x, rock, part, slopes, axis, weight)
    end do
  end subroutine AddGradient

  !> Adds those of what is read at points; of motion part(:, 1) is that of its components.
  subroutine AddWeights(grid, x, rock, part, slopes, of, weight)
    type(fd3d_grid_t), intent(in) :: grid
    real(dp), intent(in) :: x(3), part(3, 3)
    type(rock_t), intent(in) :: rock
    logical, intent(in) :: slopes
    integer, intent(in) :: of
    real(dp), intent(inout) :: weight(:, :, :, :)
    real(dp) :: w(wide, 3), lambda, mu, known(2), each(2)
    integer :: low(3), at(3), c, i, j, k, axis
    low = lbound(rock%mus)
    do c = 1, size(pair, 2)
      do axis = 1, 3
        w(:, axis) = AlongAxis(grid, fd3d_tensor(c), axis, x(axis), low(axis), grid%even, axis == of)
      end do
      known = 0
      do k = 1, wide
        do j = 1, wide
          if (.not. abs(w(j, 2)*w(k, 3)) > 0) cycle
          do i = 1, wide
            if (.not. abs(w(i, 1)) > 0) cycle
            at = low + [i, j, k] - 1
            lambda = real(rock%lambdas(at(1), at(2), at(3)), dp)
            mu = ShearModulus(rock%mus(at(1) - 1:at(1), at(2) - 1:at(2), at(3) - 1:at(3)), pair(1, c), pair(2, c))
            if (any(abs([lambda, mu] - known) > 0)) each = Shares(rock, part, pair(:, c), lambda, mu, slopes, of)
            known = [lambda, mu]
            weight(i, j, k, c) = weight(i, j, k, c) + w(i, 1)*w(j, 2)*w(k, 3)*each(1)
            if (slopes .and. c > 3) weight(i, j, k, c + 3) = weight(i, j, k, c + 3) + w(i, 1)*w(j, 2)*w(k, 3)*each(2)
          end do
        end do
      end do
    end do
  end subroutine AddWeights

  !> Weights of a field's nodes along an axis, of cells from `low` on, for a point at x, or the derivative there.
  pure function AlongAxis(grid, field, axis, x, low, even, derivative) result(along)
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: field, axis, low
    real(dp), intent(in) :: x
    logical, intent(in) :: even, derivative
    real(dp) :: along(wide)
    real(dp) :: place, w(sinc_nodes)
    integer :: first, side
    place = x/grid%d(axis) + merge(1.0_dp, 0.5_dp, StandsOnHalf(field, axis)) - grid%first(axis) + 1
    along = 0
    do side = merge(-1, 1, derivative), 1, 2
      associate (at => place + merge(0.5_dp*side, 0.0_dp, derivative))
        if (even) call SincEven(at, first, w)
        if (.not. even) call SincWeights(at, first, w)
      end associate
      if (derivative) w = w*side/grid%d(axis)
      first = first - low
      along(first + 1:first + sinc_nodes) = along(first + 1:first + sinc_nodes) + w
    end do
  end function AlongAxis

  !> Weights of slopes become those of the velocities that they are differences of, by the weights of these.
  subroutine SumOfSlopes(grid, low, w, of)
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(inout) :: low(3)
    real(dp), allocatable, intent(inout) :: w(:, :, :, :)
    real(dp), intent(in) :: of(:)
    real(dp), allocatable :: v(:, :, :, :)        !< (cells, velocities)
    integer :: n(3), at(3), a, b, c, l, m, side
    n = shape(w(:, :, :, 1))
    l = size(of)
    allocate (v(n(1) + 2*l, n(2) + 2*l, n(3) + 2*l, 3), source=0.0_dp)
    do c = 1, size(w, 4)
      a = merge(pair(1, min(c, 6)), pair(2, max(c - 3, 1)), c <= 6)
      b = merge(pair(2, min(c, 6)), pair(1, max(c - 3, 1)), c <= 6)
      do m = 1, l
        do side = -1, 1, 2
          at = l
          at(a) = l + merge(m, 1 - m, side > 0) - merge(0, 1, a == b)
          associate (to => v(at(1) + 1:at(1) + n(1), at(2) + 1:at(2) + n(2), at(3) + 1:at(3) + n(3), b))
            to = to + side*of(m)/grid%d(a)*w(:, :, :, c)
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

  !> The share of a point with such moduli in what is read: of s_ab = 1, or of dv_b/dx_a = 1 and of dv_a/dx_b = 1.
  pure function Shares(rock, part, ab, lambda, mu, slopes, of) result(share)
    type(rock_t), intent(in) :: rock
    real(dp), intent(in) :: part(3, 3), lambda, mu
    integer, intent(in) :: ab(2), of
    logical, intent(in) :: slopes
    real(dp) :: share(2), g(3, 3)
    integer :: a
    g = 0
    if (.not. slopes) then                        ! the gradient of such a stress
      do a = 1, 3
        if (ab(1) == ab(2)) g(a, a) = -lambda/(3*lambda + 2*mu)/(2*mu)
      end do
      g(ab(1), ab(2)) = g(ab(1), ab(2)) + 1/(2*mu)
      g(ab(2), ab(1)) = g(ab(1), ab(2))
    else
      g(ab(1), ab(2)) = 1
    end if
    share(1) = OfGradient(g)
    share(2) = OfGradient(transpose(g))

  contains

    pure real(dp) function OfGradient(g)
      real(dp), intent(in) :: g(3, 3)
      select case (of)
      case (of_motion)
        OfGradient = sum(part(:, 1)*RockBends(rock, g, lambda, mu, 1))
      case (of_gradient)
        OfGradient = sum(part*RockGradient(rock, g, lambda, mu))
      case default
        OfGradient = sum(part*RockGradientBends(rock, g, lambda, mu, of))
      end select
    end function OfGradient

  end function Shares

end module fd3d_contact_weights_m
