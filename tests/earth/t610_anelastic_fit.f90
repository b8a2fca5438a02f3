!> The relaxation mechanisms of the 3D solver give constant Q in the band they are fitted for, with velocities right at the
!> reference frequency.
program t610_anelastic_fit
  use anelastic_m, only: anelastic_t, AnelasticFactor, AnelasticFit, AnelasticModulus, memory_all, memory_coarse, memory_coarse2001, &
                         memory_words
  use check_m, only: Claim, ClaimFails, ClaimFine, Done
  use error_m, only: error_t
  use kinds_m, only: dp
  use text_m, only: Str
  implicit none
  real(dp), parameter :: pi = acos(-1.0_dp), spans(4) = [3.0_dp, 10.0_dp, 50.0_dp, 200.0_dp]
  type(anelastic_t) :: a
  type(error_t), allocatable :: error
  integer :: n, way

  do way = memory_coarse2001, memory_all
    do n = 1, size(spans)
      call Band(0.1_dp, 0.1_dp*spans(n))
    end do
  end do
  call AnelasticFit(1.0_dp, 1.5_dp, memory_coarse, a, error)
  call ClaimFails(error, 'a factor of 2 to 1000', 'a band that is too narrow')
  call Done()

contains

  subroutine Band(fmin, fmax)
    real(dp), intent(in) :: fmin, fmax
    real(dp), parameter :: quality(6) = [20.0_dp, 35.0_dp, 80.0_dp, 150.0_dp, 500.0_dp, 5000.0_dp]
    real(dp), parameter :: fitted(8) = [10.0_dp, 14.0_dp, 20.0_dp, 30.0_dp, 50.0_dp, 100.0_dp, 200.0_dp, 1000.0_dp]
    real(dp) :: worst, worst_fitted, f, c, ratio, drift, kolsky, strength(8)
    integer :: i
    call AnelasticFit(fmin, fmax, way, a, error)
    call ClaimFine(error, trim(memory_words(way))//': constant Q from '//Str(fmin, 3)//' to '//Str(fmax, 3)//' Hz')
    worst = maxval([(WorstOf(quality(i), fmin, fmax), i=1, size(quality))])
    worst_fitted = maxval([(WorstOf(fitted(i), a%fmin, a%fmax), i=1, size(fitted))])
    call Claim(worst <= 0.01_dp .and. worst_fitted <= 0.05_dp, 'Q = 20 to 5000 is off by at most '//Str(100*worst, 2)// &
               ' % <= 1 % in the band, Q = 10 to 1000 by '//Str(100*worst_fitted, 2)//' % <= 5 %')
    strength(:a%n) = 0.1_dp*(a%y(:a%n, 1) + 0.1_dp*(a%y(:a%n, 2) + 0.1_dp*a%y(:a%n, 3)))
    strength(:a%n) = strength(:a%n)/(1 + a%stiff(:a%n)*strength(:a%n))         ! of the unrelaxed modulus
    call Claim(all(strength(:a%n) > 0 .and. strength(:a%n) < 1) .and. all(a%y(:a%n, 1) > 0), 'no mechanism gives energy or takes a whole modulus '// &
               'at Q = 10: strengths '//Str(minval(strength(:a%n)), 2)//' to '//Str(maxval(strength(:a%n)), 2)//' lie in 0..1')
    f = sqrt(fmin*fmax)
    c = sqrt(AnelasticFactor(a, 0.02_dp, f))/real(1/sqrt(AnelasticModulus(a, 0.02_dp, f)), dp)
    call Claim(abs(c - 1) < 1e-12_dp, 'phase velocity at the reference frequency is off by '//Str(abs(c - 1), 2))
    ratio = 2
    drift = real(1/sqrt(AnelasticModulus(a, 0.02_dp, f)), dp)/real(1/sqrt(AnelasticModulus(a, 0.02_dp, f*sqrt(ratio))), dp)
    kolsky = 1 + 0.02_dp/pi*log(sqrt(ratio))
    call Claim(abs(drift - kolsky) <= 0.05_dp*(kolsky - 1), 'Q = 50: half an octave up the phase velocity grows by '// &
               Str(100*(drift - 1), 3)//' %, within 5 % of ln(f/f0)/(pi Q) = '//Str(100*(kolsky - 1), 3)//' %')
  end subroutine Band

  !> The largest relative error of a Q in a band.
  real(dp) function WorstOf(q, fmin, fmax) result(worst)
    real(dp), intent(in) :: q, fmin, fmax
    complex(dp) :: modulus
    integer :: j
    worst = 0
    do j = 0, 60
      modulus = AnelasticModulus(a, 1/q, fmin*(fmax/fmin)**(j/60.0_dp))
      worst = max(worst, abs(real(modulus)/aimag(modulus)/q - 1))
    end do
  end function WorstOf

end program t610_anelastic_fit
