!> Constant Q by relaxation mechanisms, for the memory variables of the 3D solver (fd3d_quality in interfaces/fd3d_c.f90), in three
!> ways:
!>
!>   coarse       eight mechanisms, one a cell in a 2 x 2 x 2 pattern (Day 1998, BSSA 88, 1051-1062; Day & Bradley 2001, BSSA 91,
!>                520-531), and moduli of each cell such that all are the same, but for their loss, at the frequency where a wavelet
!>                is strongest (Graves & Day 2003, BSSA 93, 283-300)
!>   all          six mechanisms, all of them in each cell (Emmerich & Korn 1987, Geophysics 52, 1252-1264)
!>   coarse2001   coarse with the same unrelaxed modulus in all cells: waves of low Q then see how much cells differ
!>
!> The modulus of a cell with mechanism m is M (1 + stiff_m y_m - y_m/(1 + i w tau_m)), that of the medium what waves much longer
!> than the pattern see of eight such cells. It lies between their arithmetic and their harmonic mean, nearer to one or the other by
!> direction and kind of wave; solutions of the discrete equations with periodic cells, at 10 to 100 points per wavelength in ten
!> directions, say where it is on average. They differ from it, after 10 wavelengths at 0.2 to 0.6 of the upper end of the band, by
!> at most
!>
!>     Q               100      40      20      14      10
!>     coarse         0.12 %   0.6 %   2.0 %   4 %     9 %
!>     coarse2001     0.8 %    5 %    16 %    30 %    60 %
!>
!> With all mechanisms in each cell the modulus is M (1 + sum of (stiff_m y_m - y_m/(1 + i w tau_m))) itself, in all directions.
!> Both have M at the said frequency, and so has what a source of volume does; coarse2001 has it at infinite frequency.
!>
!> The strengths depend on q = 1/Q by polynomials without constant, y_m = q (a + q (b + q c)), fitted by least squares to
!> Q Im M/Re M = 1 for the frequencies of the band and Q = 10 .. infinity at once. Relaxation frequencies are spread evenly in
!> logarithm from below the lower end of the band to above the upper; velocities at its upper end depend on the losses beyond.
module anelastic_m
  use error_m, only: error_t, Fail
  use kinds_m, only: dp, pi
  use linear_m, only: SolveSmall
  use text_m, only: Str
  implicit none
  private
  public :: anelastic_t, AnelasticFit, AnelasticModulus, AnelasticFactor, AnelasticStiffness, AnelasticAuto, &
            AnelasticShares, anelastic_least_q, coarse_least_q

  !> Ways of memory variables, see above.
  integer, parameter, public :: memory_coarse2001 = 1, memory_coarse = 2, memory_all = 3
  character(*), parameter, public :: memory_words(3) = [character(10) :: 'coarse2001', 'coarse', 'all']

  integer, parameter :: mechanisms = 8, powers = 3
  integer, parameter :: number(3) = [8, 8, 6]                    !< of mechanisms
  real(dp), parameter :: anelastic_least_q = 10                  !< smallest Q that is fitted
  real(dp), parameter :: coarse_least_q = 25                     !< where a smaller one is, auto puts all mechanisms everywhere
  real(dp), parameter :: harmonic(3) = [0.43_dp, 0.48_dp, 0.0_dp] !< share of the harmonic mean, see above
  real(dp), parameter :: below(3) = [3, 2, 2], above(3) = [3, 5, 5]     !< relaxation frequencies reach so far beyond the band
  real(dp), parameter :: strongest = 0.4_dp                      !< there is a Ricker wavelet strongest, of its highest frequency
  real(dp), parameter :: least_span = 30                         !< a narrower band is widened, or its fit has negative strengths
  integer, parameter :: order(mechanisms) = [5, 8, 1, 6, 3, 2, 7, 4]    ! place in the pattern of the slowest, second, ... mechanism
  integer, parameter :: frequencies = 40
  real(dp), parameter :: fitted(8) = [10, 14, 20, 30, 50, 100, 200, 1000]    ! Q

  type :: anelastic_t
    real(dp) :: fmin = 0, fmax = 0                               !< band of constant Q [Hz], as asked for or wider
    integer :: way = memory_coarse
    integer :: n = mechanisms                                    !< so many of the following count
    real(dp) :: tau(mechanisms) = 1                              !< relaxation times [s]
    real(dp) :: y(mechanisms, powers) = 0                        !< strength = q (y1 + q (y2 + q y3))
    real(dp) :: stiff(mechanisms) = 0                            !< a cell's unrelaxed modulus is M (1 + stiff strength)
  end type anelastic_t

contains

  !> The way for a model whose smallest Q is `least`, by what directions differ, see above: points per wavelength hardly matter.
  pure integer function AnelasticAuto(least) result(way)
    real(dp), intent(in) :: least
    way = merge(memory_all, memory_coarse, least > 0 .and. least < coarse_least_q)     ! 0: nothing attenuates
  end function AnelasticAuto

  !> Mechanisms for constant Q from fmin to fmax [Hz].
  subroutine AnelasticFit(fmin, fmax, way, a, error)
    real(dp), intent(in) :: fmin, fmax
    integer, intent(in) :: way
    type(anelastic_t), intent(out) :: a
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: normal(mechanisms*powers, mechanisms*powers), right(mechanisms*powers), low, span
    integer :: m, it, at, unknowns
    if (.not. (fmin > 0 .and. fmax >= 2*fmin .and. fmax <= 1000*fmin)) then
      call Fail(error, 'constant Q from '//Str(fmin)//' to '//Str(fmax)//' Hz: the band must span a factor of 2 to 1000')
      return
    end if
    a%way = way
    a%n = number(way)
    a%fmin = fmin/sqrt(max(1.0_dp, least_span*fmin/fmax))
    a%fmax = fmax*(fmin/a%fmin)
    low = a%fmin/below(way)
    span = a%fmax*above(way)/low
    do m = 1, a%n
      at = m
      if (way /= memory_all) at = order(m)
      a%tau(at) = 1/(2*pi*low*span**((m - 1)/real(a%n - 1, dp)))
    end do
    if (way /= memory_coarse2001) a%stiff(:a%n) = 1/(1 + (2*pi*strongest*fmax*a%tau(:a%n))**2)
    a%y(:a%n, 1) = 2/pi*log(span)/merge(a%n, 1, way == memory_all)
    unknowns = a%n*powers
    do it = 1, 30
      call NormalEquations(a, normal(:unknowns, :unknowns), right(:unknowns))
      do m = 1, unknowns
        normal(m, m) = normal(m, m)*(1 + 1.0e-7_dp)
      end do
      call SolveSmall(normal(:unknowns, :unknowns), right(:unknowns))
      a%y(:a%n, :) = a%y(:a%n, :) - reshape(right(:unknowns), [a%n, powers])/spread(Scaling(), 1, a%n)
    end do
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
          slope((p - 1)*a%n + 1:p*a%n) = q**p/scale(p)*(aimag(by_strength(:a%n))*real(modulus) - &
                                                        aimag(modulus)*real(by_strength(:a%n)))/(q*real(modulus)**2)
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

  !> Effective modulus over M, and its derivatives by the strengths of the mechanisms.
  pure subroutine Effective(a, q, f, modulus, by_strength)
    type(anelastic_t), intent(in) :: a
    real(dp), intent(in) :: q, f
    complex(dp), intent(out) :: modulus, by_strength(mechanisms)
    complex(dp) :: by_own(mechanisms), cell(mechanisms), mean
    by_own = a%stiff - 1/cmplx(1.0_dp, 2*pi*f*a%tau, dp)
    if (a%way == memory_all) then
      modulus = 1 + sum(Strengths(a, q)*by_own)
      by_strength = by_own
      return
    end if
    cell = 1 + Strengths(a, q)*by_own
    mean = mechanisms/sum(1/cell)
    modulus = (1 - harmonic(a%way))*sum(cell)/mechanisms + harmonic(a%way)*mean
    by_strength = by_own*((1 - harmonic(a%way)) + harmonic(a%way)*mean**2/cell**2)/mechanisms
  end subroutine Effective

  pure function Strengths(a, q) result(y)
    type(anelastic_t), intent(in) :: a
    real(dp), intent(in) :: q
    real(dp) :: y(mechanisms)
    y = q*(a%y(:, 1) + q*(a%y(:, 2) + q*a%y(:, 3)))
  end function Strengths

  !> Strengths of the mechanisms in the mean of all cells, to the first order: the modulus is M (1 + sum of these times
  !> (stiff - 1/(1 + i w tau))).
  pure function AnelasticShares(a, q) result(y)
    type(anelastic_t), intent(in) :: a
    real(dp), intent(in) :: q
    real(dp) :: y(mechanisms)
    y = Strengths(a, q)/merge(1, mechanisms, a%way == memory_all)
  end function AnelasticShares

  !> Modulus at f [Hz] over M; q = 1/Q that was asked for.
  pure complex(dp) function AnelasticModulus(a, q, f) result(modulus)
    type(anelastic_t), intent(in) :: a
    real(dp), intent(in) :: q, f
    complex(dp) :: unused(mechanisms)
    call Effective(a, q, f, modulus, unused)
  end function AnelasticModulus

  !> M over rho c**2, c being the phase velocity at f [Hz]: 1/c = Re sqrt(rho/modulus).
  pure real(dp) function AnelasticFactor(a, q, f) result(factor)
    type(anelastic_t), intent(in) :: a
    real(dp), intent(in) :: q, f
    factor = real(1/sqrt(AnelasticModulus(a, q, f)), dp)**2
  end function AnelasticFactor

  !> Likewise the modulus of the waves that bound the time step, the shortest: their motion prefers the stiffer cells. The largest
  !> eigenvalue of the discrete equations with such cells lies below this, by 2 % at Q = 10 and 0.1 % at Q = 40.
  pure real(dp) function AnelasticStiffness(a, q, f) result(factor)
    type(anelastic_t), intent(in) :: a
    real(dp), intent(in) :: q, f
    real(dp) :: cell(mechanisms)
    cell = 1 + a%stiff*Strengths(a, q)
    if (a%way == memory_all) cell = 1 + sum(a%stiff*Strengths(a, q))
    factor = AnelasticFactor(a, q, f)*sum(cell**2)/sum(cell)
  end function AnelasticStiffness

end module anelastic_m
