!> Constant Q by eight relaxation mechanisms, one a cell in a 2 x 2 x 2 pattern (Day 1998, BSSA 88, 1051-1062; Day & Bradley 2001,
!> BSSA 91, 520-531), for the memory variables of the 3D solver (fd3d_quality in interfaces/fd3d_c.f90).
!>
!> The modulus of a cell with mechanism m is M_u (1 - y_m/(1 + i w tau_m)), that of the medium what waves much longer than the
!> pattern see of eight such cells. It lies between their arithmetic and their harmonic mean; solutions of the discrete equations
!> with periodic cells, at 16 to 63 points per wavelength along and across the axes, have it 0.43 of the way, 0.2 to 0.6 by
!> direction. The strengths depend on q = 1/Q by polynomials without constant, y_m = q (a + q (b + q c)), fitted by least squares to
!> Q Im M/Re M = 1 for the frequencies of the band and Q = 10 .. infinity at once. Relaxation frequencies are spread evenly in
!> logarithm from a third of the lower end of the band to three times the upper.
module anelastic_m
  use error_m, only: error_t, Fail
  use kinds_m, only: dp
  use linear_m, only: SolveSmall
  use text_m, only: Str
  implicit none
  private
  public :: anelastic_t, AnelasticFit, AnelasticModulus, AnelasticUnrelaxed, anelastic_least_q

  real(dp), parameter :: pi = acos(-1.0_dp)
  integer, parameter :: mechanisms = 8, powers = 3
  real(dp), parameter :: anelastic_least_q = 10                  !< smallest Q that is fitted
  real(dp), parameter :: harmonic = 0.43_dp                      !< share of the harmonic mean, see above
  real(dp), parameter :: beyond = 3                              !< relaxation frequencies reach so far beyond the band
  real(dp), parameter :: least_span = 30                         !< a narrower band is widened, or its fit has negative strengths
  integer, parameter :: order(mechanisms) = [5, 8, 1, 6, 3, 2, 7, 4]    ! place in the pattern of the slowest, second, ... mechanism
  integer, parameter :: frequencies = 40
  real(dp), parameter :: fitted(8) = [10, 14, 20, 30, 50, 100, 200, 1000]    ! Q

  type :: anelastic_t
    real(dp) :: fmin = 0, fmax = 0                               !< band of constant Q [Hz], as asked for or wider
    real(dp) :: tau(mechanisms) = 1                              !< relaxation times [s]
    real(dp) :: y(mechanisms, powers) = 0                        !< strength = q (y1 + q (y2 + q y3))
    real(dp) :: worst = 0                                        !< largest relative error of Q in the band, for all Q fitted
  end type anelastic_t

contains

  !> Mechanisms for constant Q from fmin to fmax [Hz].
  subroutine AnelasticFit(fmin, fmax, a, error)
    real(dp), intent(in) :: fmin, fmax
    type(anelastic_t), intent(out) :: a
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: normal(mechanisms*powers, mechanisms*powers), step(mechanisms*powers)
    integer :: m, it
    if (.not. (fmin > 0 .and. fmax >= 2*fmin .and. fmax <= 1000*fmin)) then
      call Fail(error, 'constant Q from '//Str(fmin)//' to '//Str(fmax)//' Hz: the band must span a factor of 2 to 1000')
      return
    end if
    a%fmin = fmin/sqrt(max(1.0_dp, least_span*fmin/fmax))
    a%fmax = fmax*(fmin/a%fmin)
    do m = 1, mechanisms
      a%tau(order(m)) = 1/(2*pi*a%fmin/beyond*(beyond**2*a%fmax/a%fmin)**((m - 1)/real(mechanisms - 1, dp)))
    end do
    a%y(:, 1) = 2/pi*log(beyond**2*a%fmax/a%fmin)
    do it = 1, 30
      call NormalEquations(a, normal, step)
      do m = 1, size(step)
        normal(m, m) = normal(m, m)*(1 + 1.0e-7_dp)
      end do
      call SolveSmall(normal, step)
      a%y = a%y - reshape(step, shape(a%y))/spread(Scaling(), 1, mechanisms)
    end do
    a%worst = WorstError(a)
  end subroutine AnelasticFit

  !> Unknowns are y times this, all of about the same size.
  pure function Scaling() result(s)
    real(dp) :: s(powers)
    integer :: p
    s = [(anelastic_least_q**(1 - p), p=1, powers)]
  end function Scaling

  !> Gauss-Newton: normal equations of the residuals Q Im M/Re M - 1 in the scaled unknowns.
  pure subroutine NormalEquations(a, normal, right)
    type(anelastic_t), intent(in) :: a
    real(dp), intent(out) :: normal(:, :), right(:)
    real(dp) :: slope(size(right)), r, q, scale(powers)
    complex(dp) :: modulus, by_strength(mechanisms)
    integer :: i, n, p
    normal = 0
    right = 0
    scale = Scaling()
    do n = 1, size(fitted)
      q = 1/fitted(n)
      do i = 1, frequencies
        call Effective(a, q, BandFrequency(a, i), modulus, by_strength)
        r = aimag(modulus)/real(modulus)/q - 1
        do p = 1, powers
          slope((p - 1)*mechanisms + 1:p*mechanisms) = &
            q**p/scale(p)*(aimag(by_strength)*real(modulus) - aimag(modulus)*real(by_strength))/(q*real(modulus)**2)
        end do
        right = right + r*slope
        normal = normal + spread(slope, 1, size(slope))*spread(slope, 2, size(slope))
      end do
    end do
  end subroutine NormalEquations

  pure real(dp) function BandFrequency(a, i) result(f)
    type(anelastic_t), intent(in) :: a
    integer, intent(in) :: i
    f = a%fmin*(a%fmax/a%fmin)**((i - 1)/real(frequencies - 1, dp))
  end function BandFrequency

  !> Effective modulus over the unrelaxed one, and its derivatives by the strengths of the mechanisms.
  pure subroutine Effective(a, q, f, modulus, by_strength)
    type(anelastic_t), intent(in) :: a
    real(dp), intent(in) :: q, f
    complex(dp), intent(out) :: modulus, by_strength(mechanisms)
    complex(dp) :: relaxing(mechanisms), cell(mechanisms), mean
    relaxing = 1/cmplx(1.0_dp, 2*pi*f*a%tau, dp)
    cell = 1 - q*(a%y(:, 1) + q*(a%y(:, 2) + q*a%y(:, 3)))*relaxing
    mean = mechanisms/sum(1/cell)
    modulus = (1 - harmonic)*sum(cell)/mechanisms + harmonic*mean
    by_strength = -relaxing*((1 - harmonic) + harmonic*mean**2/cell**2)/mechanisms
  end subroutine Effective

  pure real(dp) function WorstError(a)
    type(anelastic_t), intent(in) :: a
    integer :: i, n
    WorstError = 0
    do n = 1, size(fitted)
      do i = 1, frequencies
        WorstError = max(WorstError, abs(AnelasticQ(a, 1/fitted(n), BandFrequency(a, i))/fitted(n) - 1))
      end do
    end do
  end function WorstError

  !> Modulus at f [Hz] over the unrelaxed one; q = 1/Q that was asked for.
  pure complex(dp) function AnelasticModulus(a, q, f) result(modulus)
    type(anelastic_t), intent(in) :: a
    real(dp), intent(in) :: q, f
    complex(dp) :: unused(mechanisms)
    call Effective(a, q, f, modulus, unused)
  end function AnelasticModulus

  !> The Q that waves of f [Hz] have.
  pure real(dp) function AnelasticQ(a, q, f)
    type(anelastic_t), intent(in) :: a
    real(dp), intent(in) :: q, f
    complex(dp) :: modulus
    modulus = AnelasticModulus(a, q, f)
    AnelasticQ = real(modulus)/aimag(modulus)
  end function AnelasticQ

  !> Unrelaxed modulus over rho c**2, c being the phase velocity at f [Hz]: 1/c = Re sqrt(rho/M).
  pure real(dp) function AnelasticUnrelaxed(a, q, f) result(factor)
    type(anelastic_t), intent(in) :: a
    real(dp), intent(in) :: q, f
    factor = real(1/sqrt(AnelasticModulus(a, q, f)), dp)**2
  end function AnelasticUnrelaxed

end module anelastic_m
