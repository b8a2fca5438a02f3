!> Relaxation mechanisms that all points have make Q constant in a band, and waves have the velocity asked for at the reference
!> frequency, by the moduli alone.
program t853_sem_quality
  use check_m, only: Claim, Done
  use elements_m, only: elements_t
  use elements_relax_m, only: ElementsShares, ElementsUnrelax
  use kinds_m, only: dp, sp
  use text_m, only: Str
  use zener_m, only: zener_mechanisms, ZenerTimes
  implicit none
  real(dp), parameter :: quality(6) = [10, 20, 40, 80, 200, 500], band(2) = [0.1_dp, 5.0_dp], ref = 0.8_dp
  real(dp), parameter :: vp = 3210, vs = 1730, rho = 2345, pi = acos(-1.0_dp)
  integer :: i
  do i = 1, size(quality)
    call Look(quality(i))
  end do
  call Done()

contains

  subroutine Look(q)
    real(dp), intent(in) :: q
    type(elements_t) :: elements
    real(sp), allocatable :: bulk(:, :, :), shear(:, :, :)
    complex(dp) :: mu, modulus
    real(dp) :: f, worst(2), v(2)
    integer :: k
    elements%n = 1
    elements%solid = 1
    elements%rho = reshape(real([rho], sp), [1, 1])
    elements%mu = reshape(real([rho*vs**2], sp), [1, 1])
    elements%lambda = reshape(real([rho*(vp**2 - 2*vs**2)], sp), [1, 1])
    elements%loss = reshape(real([1/(2.5_dp*q), 1/q], sp), [2, 1])
    call ElementsUnrelax(elements, band, ref)
    call ElementsShares(elements, band, bulk, shear)
    worst = 0
    do k = 0, 100
      f = band(1)*(band(2)/band(1))**(k/100.0_dp)
      call Moduli(elements, bulk, shear, f, mu, modulus)
      worst(1) = max(worst(1), abs(aimag(mu)/real(mu)*q - 1))
      worst(2) = max(worst(2), abs(aimag(modulus - 4*mu/3)/real(modulus - 4*mu/3)*2.5_dp*q - 1))
    end do
    call Moduli(elements, bulk, shear, ref, mu, modulus)
    v = [1/real(sqrt(rho/modulus)), 1/real(sqrt(rho/mu))]
    call Claim(all(worst <= 0.05_dp), 'Q = '//Str(q)//': within '//Str(100*worst(1), 2)//' % of shear and '//Str(100*worst(2), 2)// &
               ' % of the bulk modulus <= 5 % from '//Str(band(1))//' to '//Str(band(2))//' Hz')
    call Claim(all(abs(v/[vp, vs] - 1) <= 1e-6_dp), 'Q = '//Str(q)//': phase velocities at '//Str(ref)//' Hz are '//Str(v(1), 8)// &
               ' and '//Str(v(2), 8)//' m/s')
  end subroutine Look

  !> mu and lambda + 2 mu at a frequency.
  subroutine Moduli(elements, bulk, shear, f, mu, modulus)
    type(elements_t), intent(in) :: elements
    real(sp), intent(in) :: bulk(:, :, :), shear(:, :, :)
    real(dp), intent(in) :: f
    complex(dp), intent(out) :: mu, modulus
    complex(dp) :: relaxing(zener_mechanisms)
    real(dp) :: k
    relaxing = 1/cmplx(1.0_dp, 2*pi*f*ZenerTimes(band), dp)
    k = elements%lambda(1, 1) + 2*real(elements%mu(1, 1), dp)/3
    mu = elements%mu(1, 1)*(1 - sum(real(shear(:, 1, 1), dp)*relaxing))
    modulus = k*(1 - sum(real(bulk(:, 1, 1), dp)*relaxing)) + 4*mu/3
  end subroutine Moduli

end program t853_sem_quality
