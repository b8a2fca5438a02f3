!> Holberg and Taylor weights: published tables, error in band, bands, their inverse.
program t100_der_weights
  use check_m, only: Claim, ClaimFails, ClaimFine, Done
  use der_inverse_m, only: DerInverseRipples
  use der_m, only: DerBand, DerPhaseError, DerSumAbs, DerWeights
  use error_m, only: error_t
  use kinds_m, only: dp
  use text_m, only: Str
  implicit none
  real(dp), parameter :: classes(4) = [0.1_dp, 0.5_dp, 1.0_dp, 3.0_dp]
  type(error_t), allocatable :: error

  call TaylorIsExact()
  call PublishedTables()
  call ErrorStaysInClass()
  call BandForm()
  call NarrowBands()
  call BadRequests()
  call InverseIsAStep()
  call Done()

contains

  !> Some cells from a step the inverse is half a sign and no more, whatever the weights make of long waves (Holberg's: faster).
  subroutine InverseIsAStep()
    real(dp) :: w(8), used, ripple(0:24), far
    integer :: n
    far = 0
    do n = 1, 8
      call DerWeights(n, 'holberg', 1.0_dp, 1.0_dp, w, used, error)
      call DerInverseRipples(w(:n), 256, ripple)
      far = max(far, maxval(abs(ripple(16:))))
    end do
    call ClaimFine(error, 'Holberg weights of 1 % are made')
    call Claim(far < 1e-3_dp, 'the inverse of Holberg weights of 1 %, half-lengths 1 to 8, is '//Str(far, 2)// &
               ' off a step 16 cells away, at most 0.001')
  end subroutine InverseIsAStep

  !> Half-length 1, 2, 4 as printed in textbooks (Fornberg 1988, table 2).
  subroutine TaylorIsExact()
    real(dp) :: w(8), used, worst
    integer :: n
    worst = 0
    call DerWeights(2, 'taylor', 0.0_dp, 1.0_dp, w, used, error)
    worst = max(worst, maxval(abs(w(:2) - [9/8.0_dp, -1/24.0_dp])))
    call DerWeights(4, 'taylor', 0.0_dp, 1.0_dp, w, used, error)
    worst = max(worst, maxval(abs(w(:4) - [1225/1024.0_dp, -245/3072.0_dp, 49/5120.0_dp, -5/7168.0_dp])))
    call ClaimFine(error, 'Taylor weights are made')
    call Claim(worst < 1e-15_dp, 'Taylor weights of half-length 2 and 4: off the textbook fractions by '// &
               Str(worst, 2)//' <= 1e-15')
    worst = 0
    do n = 1, 8
      call DerWeights(n, 'taylor', 0.0_dp, 1.0_dp, w, used, error)
      worst = max(worst, abs(GroupError(w(:n), 0.0_dp)))
    end do
    call Claim(worst < 1e-14_dp, 'Taylor weights of half-length 1..8 have no error at kh = 0: '//Str(worst, 2)//' <= 1e-14')
  end subroutine TaylorIsExact

  !> Weights printed in DENISE and SOFI (holbergcoeff.c, after Holberg 1987), half-lengths 1..6, for the four classes.
  subroutine PublishedTables()
    real(dp), parameter :: published(21, 4) = reshape([real(dp) :: &
      1.001, 1.1382, -0.046414, 1.1965, -0.078804, 0.0081781, 1.2257, -0.099537, 0.018063, -0.0026274, &
      1.2415, -0.11231, 0.026191, -0.0064682, 0.001191, 1.2508, -0.12034, 0.032131, -0.010142, 0.0029857, -0.00066667, &
      1.005, 1.1534, -0.052806, 1.2111, -0.088313, 0.011768, 1.2367, -0.10815, 0.023113, -0.0046905, &
      1.2496, -0.11921, 0.03113, -0.0093272, 0.0025161, 1.2568, -0.12573, 0.036423, -0.013132, 0.0047484, -0.0015979, &
      1.01, 1.164, -0.057991, 1.2192, -0.09407, 0.014608, 1.2422, -0.11269, 0.02614, -0.0064054, &
      1.2534, -0.12257, 0.033755, -0.011081, 0.0036784, 1.2596, -0.12825, 0.03855, -0.014763, 0.0058619, -0.0024538, &
      1.03, 1.1876, -0.072518, 1.2341, -0.10569, 0.022589, 1.2516, -0.12085, 0.032236, -0.011459, &
      1.2596, -0.12829, 0.038533, -0.014681, 0.007258, 1.264, -0.13239, 0.042217, -0.017803, 0.0081959, -0.0051848], [21, 4])
    real(dp) :: w(8), used, worst
    integer :: c, n, first
    do c = 1, 4
      worst = 0
      first = 1
      do n = 1, 6
        call DerWeights(n, 'holberg', classes(c), 0.0_dp, w, used, error)
        call StopOnError()
        worst = max(worst, maxval(abs(w(:n) - published(first:first + n - 1, c))))
        first = first + n
      end do
      call Claim(worst <= 5e-5_dp, 'class '//Str(classes(c))//' %: half-lengths 1..6 differ from the published weights by '// &
                 Str(worst, 2)//' <= 5e-5')
    end do
  end subroutine PublishedTables

  !> Over the band where the weights promise it, |dK/dk - 1| sampled finely is within the class, and touches it.
  subroutine ErrorStaysInClass()
    real(dp) :: w(8), used, band, worst, seen, narrowest, previous
    integer :: c, n, i
    do c = 1, 4
      worst = 0
      narrowest = 4
      previous = 0
      do n = 1, 8
        call DerWeights(n, 'holberg', classes(c), 0.0_dp, w, used, error)
        call StopOnError()
        band = DerBand(w(:n), classes(c)/100)
        seen = 0
        do i = 0, 5000
          seen = max(seen, abs(GroupError(w(:n), band*i/5000)))
        end do
        worst = max(worst, abs(seen/(classes(c)/100) - 1))
        narrowest = min(narrowest, band - previous)
        previous = band
      end do
      call Claim(worst <= 1e-6_dp .and. narrowest > 0, 'class '//Str(classes(c))//' %, half-lengths 1..8: largest '// &
                 'group-velocity error in band is the class to '//Str(worst, 2)//' <= 1e-6; the band grows with '// &
                 'the half-length, to kh = '//Str(band, 4)//' ('//Str(2*acos(-1.0_dp)/band, 3)//' points per '// &
                 'wavelength), sum |w| = '//Str(DerSumAbs(w), 5))
    end do
  end subroutine ErrorStaysInClass

  !> coeffs_error = 0: the given band is covered with the least error; no weights of the widest-band family do better.
  subroutine BandForm()
    real(dp) :: w(8), v(8), used, seen, reached, phase, kh
    integer :: i
    kh = 2*acos(-1.0_dp)/3
    call DerWeights(8, 'holberg', 0.0_dp, kh, w, used, error)
    call StopOnError()
    seen = 0
    phase = 0
    do i = 0, 5000
      seen = max(seen, abs(GroupError(w, kh*i/5000)))
      phase = max(phase, abs(DerPhaseError(w, kh*i/5000)))
    end do
    call Claim(abs(seen/used - 1) < 1e-6_dp .and. used < 3e-4_dp .and. phase < seen*1.000001_dp, &
               'half-length 8 covers 3 points per wavelength with group-velocity error '//Str(seen, 4)//' < 3e-4, reported '// &
               Str(used, 4)//'; phase-velocity error '//Str(phase, 3))
    call DerWeights(8, 'holberg', 100*used, kh, v, reached, error)
    call StopOnError()
    call Claim(maxval(abs(v - w)) < 1e-8_dp, 'least error for a band and widest band for that error are the same weights to '// &
               Str(maxval(abs(v - w)), 2)//' <= 1e-8')
    call DerWeights(8, 'holberg', 0.0_dp, 0.5_dp, w, used, error)
    call StopOnError()
    reached = DerBand(w, 1.0e-5_dp)
    call Claim(abs(used - 1e-5_dp) < 1e-12_dp .and. reached > 0.5_dp, 'a narrow band kh = 0.5 is widened to '//Str(reached, 4)// &
               ' where the error is 1e-5')
    call DerWeights(4, 'taylor', 0.0_dp, 1.0_dp, w, used, error)
    call Claim(abs(used - abs(GroupError(w, 1.0_dp))) < 1e-12_dp .and. used > 1e-5_dp, &
               'Taylor half-length 4 reports its error at the end of the band kh = 1: '//Str(used, 3))
  end subroutine BandForm

  !> However fine the grid is, weights are those of the narrowest band that matters. In some bands fits of weights were noise.
  subroutine NarrowBands()
    real(dp), parameter :: noisy(3:8) = [1.2165256063451518e-4_dp, 6.5331293170594777e-5_dp, 3.2145579157128178e-5_dp, &
                                         3.2443018538938127e-6_dp, 2.3939840618039304e-6_dp, 2.0096538282495776e-6_dp]
    real(dp) :: w(8), narrow(8), used, worst
    integer :: n, i
    worst = 0
    do n = 1, 8
      call DerWeights(n, 'holberg', 0.0_dp, 0.0101_dp, w, used, error)
      do i = 0, 14
        call DerWeights(n, 'holberg', 0.0_dp, 0.01_dp*10.0_dp**(-i), narrow, used, error)
        worst = max(worst, maxval(abs(narrow - w)))
      end do
      if (n > 2) call DerWeights(n, 'holberg', 0.0_dp, noisy(max(n, 3)), narrow, used, error)
      worst = max(worst, maxval(abs(narrow - w)))
    end do
    call StopOnError()
    call Claim(worst < 1e-12_dp, 'grids of 600 to 1e16 points per wavelength have the same weights, to '//Str(worst, 2)//' <= 1e-12')
  end subroutine NarrowBands

  subroutine BadRequests()
    real(dp) :: w(8), used
    call DerWeights(9, 'holberg', 1.0_dp, 1.0_dp, w, used, error)
    call ClaimFails(error, 'half_length = 9 is outside 1..8', 'half-length 9')
    call DerWeights(0, 'taylor', 1.0_dp, 1.0_dp, w, used, error)
    call ClaimFails(error, 'half_length = 0', 'half-length 0')
    call DerWeights(4, 'holberg', 0.0_dp, 3.2_dp, w, used, error)
    call ClaimFails(error, 'below pi', 'a band beyond 2 points per wavelength')
    call DerWeights(4, 'spline', 0.0_dp, 1.0_dp, w, used, error)
    call ClaimFails(error, 'use holberg or taylor', 'an unknown word')
    call DerWeights(4, 'holberg', -1.0_dp, 1.0_dp, w, used, error)
    call ClaimFails(error, 'outside 0..50', 'a negative error')
  end subroutine BadRequests

  subroutine StopOnError()
    if (allocated(error)) call ClaimFine(error, 'weights are made')
  end subroutine StopOnError

  !> Relative group-velocity error dK/dk - 1 of weights w(:) at kh [radians per cell].
  pure real(dp) function GroupError(w, kh)
    real(dp), intent(in) :: w(:), kh
    integer :: m
    GroupError = sum([((2*m - 1)*w(m)*cos((m - 0.5_dp)*kh), m=1, size(w))]) - 1
  end function GroupError

end program t100_der_weights
