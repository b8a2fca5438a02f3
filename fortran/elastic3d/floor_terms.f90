!> Functions of frequency for the field that a grid lacks next to a source beside a sea floor: numbers at a few complex s become
!> weights of functions of s, and these, times the history, series in time (fd3d_floor_near.f90).
!>
!> Differences of half-length 2 and more reach across the floor: the shear stress of the rock pulls at the lowest rows of water,
!> where nothing else holds vortices. So the grid answers 0 at rest to what the earth answers a constant, by slow motion of
!>
!>     s**2/(s**2 + w**2),    0 < w < w_most = vs sqrt(rho_rock/rho_water) sqrt(sum of squares of the weights that reach across)
!>
!> which few w stand for. The rest is a polynomial. Its odd powers begin with the third, the first that a wave which has left the
!> source leaves behind. Stress goes with the acceleration of what moves: of it nothing is lacking at rest.
module floor_terms_m
  use kinds_m, only: dp
  implicit none
  private
  public :: FloorPoles, FloorFit, FloorSeries
  public :: floor_s, floor_terms

  integer, parameter :: poles = 4, powers(6) = [2, 3, 4, 5, 6, 7]
  integer, parameter :: floor_terms = 1 + poles + size(powers)
  real(dp), parameter :: places(poles) = [0.15_dp, 0.4_dp, 0.7_dp, 0.97_dp]   !< of w, over the largest
  !> Times the least velocity over a cell. So many cells an e-fold that waves of the grid's next image hardly come.
  complex(dp), parameter :: floor_s(7) = [(0.05_dp, 0.0_dp), (0.05_dp, 0.05_dp), (0.05_dp, 0.12_dp), (0.08_dp, 0.2_dp), &
                                          (0.08_dp, 0.3_dp), (0.08_dp, 0.5_dp), (0.08_dp, 0.7_dp)]
  real(dp), parameter :: fine = 0.2_dp, wide = 0.4_dp                         !< steps of differences in time, over that

contains

  !> The w [1/s] for a grid with weights w(:) of differences over cells of d along z, water of density rho and rock; none where no
  !> difference reaches across a floor.
  pure function FloorPoles(weights, d, rho, rock) result(w)
    real(dp), intent(in) :: weights(:), d, rho, rock(3)
    real(dp), allocatable :: w(:)
    allocate (w(0))
    if (size(weights) > 1) w = places*(rock(2)/d*sqrt(rock(3)/rho)*norm2(weights(2:)))
  end function FloorPoles

  !> Weights of the functions, s over `unit`, that come closest to numbers at floor_s; `rests`: of stress.
  pure function FloorFit(numbers, w, unit, rests) result(terms)
    complex(dp), intent(in) :: numbers(:)
    real(dp), intent(in) :: w(:), unit
    logical, intent(in) :: rests
    real(dp) :: terms(floor_terms)
    complex(dp) :: f(size(numbers), floor_terms)
    real(dp) :: a(2*size(numbers), floor_terms), b(2*size(numbers))
    integer :: n
    f = 0
    if (.not. rests) f(:, 1) = 1
    do n = 1, size(w)
      f(:, 1 + n) = floor_s**2/(floor_s**2 + (w(n)/unit)**2)
    end do
    do n = 1, size(powers)
      f(:, 1 + poles + n) = floor_s**powers(n)
    end do
    a(:size(numbers), :) = real(f)
    a(size(numbers) + 1:, :) = aimag(f)
    b = [real(numbers), aimag(numbers)]
    terms = LeastSquares(a, b)
  end function FloorFit

  !> x with the least |a x - b|, by columns made orthogonal one after the other (Golub & Van Loan 2013, section 5.2.8); 0 for
  !> columns of 0.
  pure function LeastSquares(a, b) result(x)
    real(dp), intent(in) :: a(:, :), b(:)
    real(dp) :: x(size(a, 2)), q(size(a, 1), size(a, 2)), r(size(a, 2), size(a, 2)), left(size(b))
    integer :: m, n
    q = a
    r = 0
    x = 0
    left = b
    do n = 1, size(x)
      r(n, n) = norm2(q(:, n))
      if (.not. r(n, n) > 0) cycle
      q(:, n) = q(:, n)/r(n, n)
      do m = n + 1, size(x)
        r(n, m) = dot_product(q(:, n), q(:, m))
        q(:, m) = q(:, m) - r(n, m)*q(:, n)
      end do
      x(n) = dot_product(q(:, n), left)
      left = left - x(n)*q(:, n)
    end do
    do n = size(x), 1, -1
      if (.not. r(n, n) > 0) cycle
      x(n) = (x(n) - dot_product(r(n, n + 1:), x(n + 1:)))/r(n, n)
    end do
  end function LeastSquares

  !> The series(nt, floor_terms) that the weights multiply, of a history of velocity or stress, a step dt [s] apart.
  pure function FloorSeries(history, dt, w, unit) result(series)
    real(dp), intent(in) :: history(:), dt, w(:), unit
    real(dp) :: series(size(history), floor_terms), slow(-1:size(history))
    integer :: n, k, near, far
    series = 0
    series(:, 1) = history
    do n = 1, size(w)                             ! w**2/(s**2 + w**2) is an oscillator
      slow(-1:0) = 0
      do k = 0, size(history) - 1
        slow(k + 1) = 2*cos(w(n)*dt)*slow(k) - slow(k - 1)
        if (k > 0) slow(k + 1) = slow(k + 1) + 2*(1 - cos(w(n)*dt))*history(k)
      end do
      series(:, 1 + n) = history - slow(1:)
    end do
    near = max(1, nint(fine/(unit*dt)))
    far = max(1, nint(wide/(unit*dt)))
    associate (s => series(:, 2 + poles:))
      s(:, 1) = Twice(history, near)/(near*dt*unit)**2
      s(:, 2) = Once(s(:, 1), near)/(near*dt*unit)
      s(:, 3) = Twice(s(:, 1), far)/(far*dt*unit)**2
      s(:, 4) = Once(s(:, 3), near)/(near*dt*unit)
      s(:, 5) = Twice(s(:, 3), far)/(far*dt*unit)**2
      s(:, 6) = Once(s(:, 5), far)/(far*dt*unit)
    end associate
  end function FloorSeries

  !> Second and first differences over n samples to each side.
  pure function Twice(x, n) result(d)
    real(dp), intent(in) :: x(:)
    integer, intent(in) :: n
    real(dp) :: d(size(x))
    d = eoshift(x, n, boundary=x(size(x))) - 2*x + eoshift(x, -n)
  end function Twice

  pure function Once(x, n) result(d)
    real(dp), intent(in) :: x(:)
    integer, intent(in) :: n
    real(dp) :: d(size(x))
    d = (eoshift(x, n, boundary=x(size(x))) - eoshift(x, -n))/2
  end function Once

end module floor_terms_m
