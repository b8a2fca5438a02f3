!> The differentiators of the staggered grid: their weights, their errors, and the plain reference form of the four of them.
!>
!>       σ---vx--σ---vx--σ      σ (i,k)  at (i,   k  )     DerDifxfw: σ  -> vx      DerDifyfw: σ  -> vz
!>       |       |       |      vx(i,k)  at (i+½, k  )     DerDifxba: vx -> σ       DerDifyba: vz -> σ
!>       vz      vz      vz     vz(i,k)  at (i,   k+½)     x runs along i, y of the names is the second index, depth
!>
!> With weights w(1:L) a plane wave exp(i k x) on spacing h is differentiated to the numerical wavenumber
!>       K(kh) h = 2 sum_m w(m) sin((m-½) kh),
!> so its relative phase-velocity error is K/k - 1 and its relative group-velocity error
!>       e(kh) = dK/dk - 1 = sum_m (2m-1) w(m) cos((m-½) kh) - 1.
module der_m
  use kinds_m, only: dp, pi, sp
  use error_m, only: error_t, Fail
  use linear_m, only: SolveSmall
  use text_m, only: Str
  implicit none
  private
  public :: DerWeights, DerBand, DerLargestError, DerPhaseError, DerSumAbs
  public :: DerDifxfw, DerDifxba, DerDifyfw, DerDifyba

  integer, parameter :: der_max_half_length = 8
  real(dp), parameter :: least_error = 1.0e-5_dp    !< below this a wider band is worth more than a smaller error
  real(dp), parameter :: narrow = 0.01_dp           !< a band that all weights cover with less; fits to less are noise

contains

  !> Weights of the differentiator of half-length L.
  !>   coeffs         'taylor' (order 2L at kh = 0) or 'holberg' (equiripple group-velocity error)
  !>   error_percent  holberg: > 0: the largest group-velocity error [%], over the widest band that allows it;
  !>                  0: the smallest error that covers `band`, though never below 0.001 % (then the band is wider)
  !>   band           kh that must be covered [radians per cell], 0 < band < pi; used by holberg with error_percent = 0 and
  !>                  for the error reported of taylor weights
  !>   w              at least (L) long; what is behind L is set to 0
  !>   used_error     largest |group-velocity error| in band, 0.01 = 1 %
  !> Fails on L outside 1..8, an unknown word, an error outside 0 .. 50 % and a band outside (0, pi).
  subroutine DerWeights(half_length, coeffs, error_percent, band, w, used_error, error)
    integer, intent(in) :: half_length
    character(*), intent(in) :: coeffs
    real(dp), intent(in) :: error_percent, band
    real(dp), intent(out) :: w(:), used_error
    type(error_t), allocatable, intent(inout) :: error
    logical :: band_needed
    w = 0
    used_error = 0
    if (half_length < 1 .or. half_length > min(der_max_half_length, size(w))) then
      call Fail(error, 'half_length = '//Str(half_length)//' is outside 1..'//Str(min(der_max_half_length, size(w))))
      return
    end if
    band_needed = coeffs == 'taylor' .or. error_percent == 0
    if (band_needed .and. .not. (band > 0 .and. band < pi)) then
      call Fail(error, 'the differentiator cannot cover a band of '//Str(band)//' radians per cell: it must be above 0 and '// &
                'below pi (2 points per wavelength); use a finer grid or a lower fmax')
      return
    end if
    select case (coeffs)
    case ('taylor')
      w(:half_length) = DerTaylor(half_length)
      used_error = DerLargestError(w(:half_length), band)
    case ('holberg')
      if (.not. (error_percent >= 0 .and. error_percent <= 50)) then
        call Fail(error, 'coeffs_error = '//Str(error_percent)//' % is outside 0..50 %')
        return
      end if
      if (error_percent > 0) then
        used_error = error_percent/100
      else
        if (band > narrow) call DerHolbergBand(band, w(:half_length), used_error)
        if (used_error >= least_error) return
        used_error = least_error
      end if
      call DerHolberg(used_error, w(:half_length))
    case default
      call Fail(error, 'coeffs = '//coeffs//' is unknown: use holberg or taylor')
    end select
  end subroutine DerWeights

  !> Weights exact for polynomials up to degree 2L, by Lagrange interpolation on the 2L nearest points:
  !>   w(m) = (-1)^(m+1)/(2m-1) prod_{j/=m} (2j-1)^2/|(2j-1)^2 - (2m-1)^2|     (Fornberg 1988, Math. Comp. 51, 699-706)
  pure function DerTaylor(half_length) result(w)
    integer, intent(in) :: half_length
    real(dp) :: w(half_length), a, b
    integer :: m, j
    do m = 1, half_length
      a = real(2*m - 1, dp)**2
      w(m) = (-1)**(m + 1)/real(2*m - 1, dp)
      do j = 1, half_length
        b = real(2*j - 1, dp)**2
        if (j /= m) w(m) = w(m)*b/abs(b - a)
      end do
    end do
  end function DerTaylor

  !> Weights w(:) whose group-velocity error stays within `tolerance` (0.01 = 1 %, 0 < tolerance < 1) over the widest band
  !> 0..band of kh (Holberg 1987, Geophysical Prospecting 35, 629-655). It grows with the band, which is bisected.
  subroutine DerHolberg(tolerance, w)
    real(dp), intent(in) :: tolerance
    real(dp), intent(out) :: w(:)
    real(dp) :: lo, hi, band, e
    integer :: i
    lo = 0
    hi = pi
    do i = 1, 60
      band = 0.5_dp*(lo + hi)
      call DerHolbergBand(band, w, e, tolerance)
      if (abs(e/tolerance - 1) < 1.0e-11_dp) exit
      if (e < tolerance) then
        lo = band
      else
        hi = band
      end if
    end do
  end subroutine DerHolberg

  !> Weights w(:) with the smallest largest |group-velocity error| over 0 <= kh <= band (0 < band < pi), and that error. With
  !> `tolerance` the search ends where that error is sure to be on one side of it; `largest` then is on that side.
  !>
  !> Remez exchange. With y = cos(kh/2) the functions cos((m-½)kh) are the odd Chebyshev polynomials T_{2m-1}(y), a Haar system
  !> on (0, 1]: the best fit of 1 has L+1 alternating extrema, both ends among them, and every trial fit that alternates at
  !> L+1 points has exactly L-1 extrema between the ends, so the exchange takes all extrema at once and always converges.
  !> The smallest error lies between that at the points and the largest of the fit (de la Vallee Poussin).
  subroutine DerHolbergBand(band, w, largest, tolerance)
    real(dp), intent(in) :: band
    real(dp), intent(out) :: w(:), largest
    real(dp), intent(in), optional :: tolerance
    real(dp), parameter :: clearly = 1.0e-8_dp
    real(dp) :: kh(0:size(w)), level
    integer :: it, j, n
    n = size(w)
    do j = 0, n
      kh(j) = band*sin(0.5_dp*pi*j/n)
    end do
    largest = 0
    do it = 1, 50
      call FitAlternating(kh, w, level)
      call FindExtrema(w, kh)
      largest = 0
      do j = 0, n
        largest = max(largest, abs(GroupError(w, kh(j))))
      end do
      if (largest - abs(level) <= 1.0e-12_dp*largest + 1.0e-15_dp) exit
      if (.not. present(tolerance)) cycle
      if (abs(level) > tolerance*(1 + clearly) .or. largest < tolerance*(1 - clearly)) exit
    end do
  end subroutine DerHolbergBand

  !> Weights whose group-velocity error is +-level, alternating, at the points kh(0:L).
  subroutine FitAlternating(kh, w, level)
    real(dp), intent(in) :: kh(0:)
    real(dp), intent(out) :: w(:), level
    real(dp) :: a(size(kh), size(kh)), x(size(kh))
    integer :: m, n
    n = size(w)
    do m = 1, n
      a(:, m) = (2*m - 1)*cos((m - 0.5_dp)*kh)
    end do
    a(1::2, n + 1) = -1
    a(2::2, n + 1) = 1
    x = 1
    call SolveSmall(a, x)
    w = x(:n)
    level = x(n + 1)
  end subroutine FitAlternating

  !> Moves the inner points kh(1:L-1) to the extrema of the group-velocity error between kh(0) and kh(L): zeros of its slope.
  subroutine FindExtrema(w, kh)
    real(dp), intent(in) :: w(:)
    real(dp), intent(inout) :: kh(0:)
    integer, parameter :: per_extremum = 32
    real(dp) :: a, b, fa, fb, factor(size(w))
    integer :: i, m, found, n
    factor = [((2*m - 1)*(m - 0.5_dp)*w(m), m=1, size(w))]
    n = size(w)*per_extremum
    found = 0
    a = 0.25_dp*kh(size(w))/n
    fa = Slope(a)
    do i = 1, n
      if (found == size(w) - 1) exit
      b = kh(size(w))*sin(0.5_dp*pi*i/n)          ! extrema crowd towards the end of the band
      fb = Slope(b)
      if (fa*fb < 0) then
        found = found + 1
        kh(found) = ZeroOfSlope(a, b)
      end if
      a = b
      fa = fb
    end do

  contains

    !> Its sign counts. A recurrence of the sines takes a fifth of their time; where its rounding may matter they are computed.
    pure real(dp) function Slope(x)
      real(dp), intent(in) :: x
      real(dp), parameter :: rounding = 1.0e-12_dp
      real(dp) :: before, now, next, twice, most
      integer :: m
      now = sin(0.5_dp*x)
      before = -now
      twice = 2 - 4*now**2
      Slope = 0
      most = 0
      do m = 1, size(w)
        Slope = Slope - factor(m)*now
        most = most + abs(factor(m))
        next = twice*now - before
        before = now
        now = next
      end do
      if (abs(Slope) > rounding*most) return
      Slope = 0
      do m = 1, size(w)
        Slope = Slope - (2*m - 1)*(m - 0.5_dp)*w(m)*sin((m - 0.5_dp)*x)
      end do
    end function Slope

    pure real(dp) function ZeroOfSlope(left, right) result(mid)
      real(dp), intent(in) :: left, right
      real(dp) :: lo, hi, f_lo
      integer :: step
      lo = left
      hi = right
      f_lo = Slope(lo)
      do step = 1, 30                              ! an extremum is flat: 1e-10 in its place is 1e-20 in its height
        mid = 0.5_dp*(lo + hi)
        if (f_lo*Slope(mid) > 0) then
          lo = mid
        else
          hi = mid
        end if
      end do
    end function ZeroOfSlope

  end subroutine FindExtrema

  !> Relative phase-velocity error K/k - 1 of weights w(:) at kh [radians per cell].
  pure real(dp) function DerPhaseError(w, kh) result(e)
    real(dp), intent(in) :: w(:), kh
    integer :: m
    if (abs(kh) < 1.0e-8_dp) then
      e = GroupError(w, 0.0_dp)
      return
    end if
    e = 0
    do m = 1, size(w)
      e = e + 2*w(m)*sin((m - 0.5_dp)*kh)
    end do
    e = e/kh - 1
  end function DerPhaseError

  !> Relative group-velocity error dK/dk - 1 of weights w(:) at kh [radians per cell].
  pure real(dp) function GroupError(w, kh) result(e)
    real(dp), intent(in) :: w(:), kh
    integer :: m
    e = -1
    do m = 1, size(w)
      e = e + (2*m - 1)*w(m)*cos((m - 0.5_dp)*kh)
    end do
  end function GroupError

  !> Largest kh [radians per cell] up to which the relative group-velocity error of w(:) stays within `tolerance`; 0 if nowhere.
  pure real(dp) function DerBand(w, tolerance) result(band)
    real(dp), intent(in) :: w(:), tolerance
    integer, parameter :: n = 4096
    real(dp) :: lo, hi, mid, limit
    integer :: i
    limit = tolerance*(1 + 1.0e-9_dp) + 1.0e-14_dp  ! an equiripple fit touches its tolerance: rounding is no excess
    band = 0
    if (abs(GroupError(w, 0.0_dp)) > limit) return
    do i = 1, n
      if (abs(GroupError(w, i*pi/n)) > limit) exit
    end do
    lo = (i - 1)*pi/n
    hi = min(i*pi/n, pi)
    do i = 1, 50
      mid = 0.5_dp*(lo + hi)
      if (abs(GroupError(w, mid)) > limit) then
        hi = mid
      else
        lo = mid
      end if
    end do
    band = lo
  end function DerBand

  !> Sum of |w(m)|: the stability limit of the leap-frog scheme is dt <= 1/(c sum |w| sqrt(1/dx^2 + 1/dz^2)).
  pure real(dp) function DerSumAbs(w) result(s)
    real(dp), intent(in) :: w(:)
    s = sum(abs(w))
  end function DerSumAbs

  !> Largest |group-velocity error| of weights w(:) over kh = 0..band.
  pure real(dp) function DerLargestError(w, band) result(e)
    real(dp), intent(in) :: w(:), band
    integer, parameter :: n = 2000
    integer :: i
    e = 0
    do i = 0, n
      e = max(e, abs(GroupError(w, band*i/n)))
    end do
  end function DerLargestError

  !> d(i,k) ~ da/dx at (i+½, k) = sum_m w(m) (a(i+m, k) - a(i-m+1, k))/dx; a is 0 outside (1:nx, 1:nz). dx [m].
  pure subroutine DerDifxfw(a, w, dx, d)
    real(sp), intent(in) :: a(:, :), w(:)
    real(dp), intent(in) :: dx
    real(sp), intent(out) :: d(:, :)
    call DifferencesX(a, w, dx, 0, d)
  end subroutine DerDifxfw

  !> d(i,k) ~ da/dx at (i, k), a at (i+½, k) = sum_m w(m) (a(i+m-1, k) - a(i-m, k))/dx; a is 0 outside. dx [m].
  pure subroutine DerDifxba(a, w, dx, d)
    real(sp), intent(in) :: a(:, :), w(:)
    real(dp), intent(in) :: dx
    real(sp), intent(out) :: d(:, :)
    call DifferencesX(a, w, dx, -1, d)
  end subroutine DerDifxba

  !> d(i,k) ~ da/dz at (i, k+½) = sum_m w(m) (a(i, k+m) - a(i, k-m+1))/dz; a is 0 outside (1:nx, 1:nz). dz [m].
  pure subroutine DerDifyfw(a, w, dz, d)
    real(sp), intent(in) :: a(:, :), w(:)
    real(dp), intent(in) :: dz
    real(sp), intent(out) :: d(:, :)
    call DifferencesZ(a, w, dz, 0, d)
  end subroutine DerDifyfw

  !> d(i,k) ~ da/dz at (i, k), a at (i, k+½) = sum_m w(m) (a(i, k+m-1) - a(i, k-m))/dz; a is 0 outside. dz [m].
  pure subroutine DerDifyba(a, w, dz, d)
    real(sp), intent(in) :: a(:, :), w(:)
    real(dp), intent(in) :: dz
    real(sp), intent(out) :: d(:, :)
    call DifferencesZ(a, w, dz, -1, d)
  end subroutine DerDifyba

  !> The antisymmetric sum along x about i + ½ + shift.
  pure subroutine DifferencesX(a, w, dx, shift, d)
    real(sp), intent(in) :: a(:, :), w(:)
    real(dp), intent(in) :: dx
    integer, intent(in) :: shift
    real(sp), intent(out) :: d(:, :)
    real(sp) :: row(-size(w):size(a, 1) + size(w)), scale
    integer :: i, k, m
    scale = real(1/dx, sp)
    row = 0
    do k = 1, size(a, 2)
      row(1:size(a, 1)) = a(:, k)
      do i = 1, size(a, 1)
        d(i, k) = 0
        do m = 1, size(w)
          d(i, k) = d(i, k) + w(m)*(row(i + m + shift) - row(i - m + 1 + shift))
        end do
        d(i, k) = scale*d(i, k)
      end do
    end do
  end subroutine DifferencesX

  !> The antisymmetric sum along z about k + ½ + shift.
  pure subroutine DifferencesZ(a, w, dz, shift, d)
    real(sp), intent(in) :: a(:, :), w(:)
    real(dp), intent(in) :: dz
    integer, intent(in) :: shift
    real(sp), intent(out) :: d(:, :)
    real(sp) :: scale
    integer :: k, m, below, above
    logical :: has_below, has_above
    scale = real(1/dz, sp)
    do k = 1, size(a, 2)
      d(:, k) = 0
      do m = 1, size(w)
        below = k + m + shift
        above = k - m + 1 + shift
        has_below = below <= size(a, 2)
        has_above = above >= 1
        if (has_below .and. has_above) then
          d(:, k) = d(:, k) + w(m)*(a(:, below) - a(:, above))
        else if (has_below) then
          d(:, k) = d(:, k) + w(m)*a(:, below)
        else if (has_above) then
          d(:, k) = d(:, k) - w(m)*a(:, above)
        end if
      end do
      d(:, k) = scale*d(:, k)
    end do
  end subroutine DifferencesZ

end module der_m
