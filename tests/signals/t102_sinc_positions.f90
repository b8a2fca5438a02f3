!> Positions between the nodes: plane waves are interpolated to a few 1e-4, a node is itself.
program t102_sinc_positions
  use check_m, only: Claim, Done
  use kinds_m, only: dp
  use sinc_m, only: SincEven, SincWeights
  use text_m, only: Str
  implicit none
  real(dp) :: w(8), v(8), e
  integer :: first, second, m

  e = PlaneWaveError(4.0_dp)
  call Claim(e <= 1e-3_dp, 'plane waves of 4 and more points per wavelength at 400 offsets: largest error '//Str(e, 3)//' <= 1e-3')
  e = PlaneWaveError(5.0_dp)
  call Claim(e <= 4e-4_dp, 'plane waves of 5 and more points per wavelength at 400 offsets: largest error '//Str(e, 3)//' <= 4e-4')
  call SincWeights(7.0_dp, first, w)
  call Claim(count(w /= 0) == 1 .and. w(7 - first + 1) == 1 .and. first == 4, &
             'on node 7: weight 1 there, 0 elsewhere, nodes from '//Str(first))
  call SincWeights(7 - 1e-12_dp, first, w)
  call Claim(count(w /= 0) == 1 .and. w(7 - first + 1) == 1, 'a rounding error off node 7 is node 7')
  call SincWeights(-2.25_dp, first, w)
  call SincWeights(3.25_dp, second, v)
  call Claim(first == -6 .and. second == 0 .and. maxval(abs(w - v(8:1:-1))) < 1e-10_dp, &
             'offsets of a quarter to the left and to the right have mirrored weights to '// &
             Str(maxval(abs(w - v(8:1:-1))), 2)//' <= 1e-10')
  call SincWeights(5 + 1e-7_dp, first, w)
  call SincWeights(5.0_dp, second, v)
  call Claim(maxval(abs(w - v)) < 1e-6_dp, 'weights are continuous at a node: '//Str(maxval(abs(w - v)), 2)//' <= 1e-6')
  call SincWeights(20.3_dp, first, w)
  e = sum([((first - 1 + m - 20.3_dp)*w(m), m=1, 8)])
  call Claim(abs(sum(w) - 1) < 4e-4_dp .and. abs(e) < 1e-3_dp, 'weights sum to 1 to '//Str(abs(sum(w) - 1), 2)// &
             ' <= 4e-4, their centre is off by '//Str(abs(e), 2)//' <= 1e-3 cells')
  e = EvenError(8.0_dp, 0.0_dp)
  call Claim(e <= 2e-3_dp, 'even weights: plane waves of 8 and more points per wavelength at 400 offsets within '//Str(e, 3)// &
             ' <= 2e-3')
  e = EvenError(0.0_dp, 0.0_dp)
  call Claim(e <= 2e-4_dp, 'even weights: what changes its sign from node to node is left out to '//Str(e, 2)//' <= 2e-4')
  e = EvenError(0.0_dp, 0.3_dp)
  call Claim(e <= 0.02_dp, 'even weights: within 0.3 of kh = pi to '//Str(e, 2)//' <= 0.02')
  call Done()

contains

  real(dp) function PlaneWaveError(per_wave) result(worst)
    real(dp), intent(in) :: per_wave
    real(dp) :: kh, position, w(8)
    integer :: i, k, first, m
    worst = 0
    do i = 0, 400
      position = 10 + i/400.0_dp
      call SincWeights(position, first, w)
      do k = 0, 60
        kh = 2*acos(-1.0_dp)/per_wave*k/60
        worst = max(worst, abs(sum([(w(m)*exp(cmplx(0.0_dp, kh*(first - 1 + m - position), dp)), m=1, 8)]) - 1))
      end do
    end do
  end function PlaneWaveError

  !> The same of even weights; per_wave = 0: what they pass of waves within `reach` of kh = pi.
  real(dp) function EvenError(per_wave, reach) result(worst)
    real(dp), intent(in) :: per_wave, reach
    real(dp) :: kh, position, w(8)
    complex(dp) :: passed
    integer :: i, k, first, m
    worst = 0
    do i = 0, 400
      position = 10 + i/400.0_dp
      call SincEven(position, first, w)
      do k = 0, 30
        kh = acos(-1.0_dp) - reach*k/30
        if (per_wave > 0) kh = 2*acos(-1.0_dp)/per_wave*k/30
        passed = sum([(w(m)*exp(cmplx(0.0_dp, kh*(first - 1 + m - position), dp)), m=1, 8)])
        worst = max(worst, abs(passed - merge(1, 0, per_wave > 0)))
      end do
    end do
  end function EvenError

end program t102_sinc_positions
