!> Plane P and S waves in an anelastic medium lose amplitude as exp(-pi f t/Q) and travel with the dispersion that goes with it, in the
!> band that the relaxation mechanisms are fitted for; with 1/Q = 0 the medium is elastic to the last digits.
program t605_fd3d_attenuation
  use anelastic_m, only: anelastic_t, AnelasticFactor, AnelasticFit, AnelasticModulus, memory_coarse
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use fd3d_engine_m, only: field_vx, field_vz, side_periodic
  use fullspace_m, only: Ricker
  use kinds_m, only: dp, sp
  use scene3d_m, only: scene3d_t, Scene3dMedium, Scene3dNew, Scene3dTraces
  use text_m, only: Str
  implicit none
  real(dp), parameter :: pi = acos(-1.0_dp), h = 10, vp = 3000, vs = 1700, rho = 2200, fpeak = vs/(25*h), fref = 5
  integer, parameter :: n(3) = [420, 4, 4], from = 24, rows(2) = [90, 390]
  type(anelastic_t) :: a
  type(error_t), allocatable :: error
  real(sp), allocatable :: elastic(:, :), traces(:, :)
  real(dp) :: step

  call AnelasticFit(1.0_dp, 20.0_dp, memory_coarse, a, error)
  call Shoot(0.0_dp, .false., elastic)
  call Shoot(0.0_dp, .true., traces)
  call Claim(norm2(real(traces, dp) - elastic) < 1e-5_dp*norm2(real(elastic, dp)), '1/Q = 0 differs from elastic by '// &
             Str(norm2(real(traces, dp) - elastic)/norm2(real(elastic, dp)), 2)//' < 1e-5')
  call Shoot(1/20.0_dp, .true., traces)
  call Compare('P', vp, 1/20.0_dp, traces(:, 1:2))
  call Compare('S', vs, 1/20.0_dp, traces(:, 3:4))
  call Shoot(1/100.0_dp, .true., traces)
  call Compare('P', vp, 1/100.0_dp, traces(:, 1:2))
  call Compare('S', vs, 1/100.0_dp, traces(:, 3:4))
  call Shoot(1/500.0_dp, .true., traces)
  call Compare('P', vp, 1/500.0_dp, traces(:, 1:2))
  call Compare('S', vs, 1/500.0_dp, traces(:, 3:4))
  deallocate (elastic, traces)
  call Done()

contains

  !> Forces in all cells of a plane x = const, vx and vz; the mean of each of them in two other planes.
  subroutine Shoot(q, anelastic, traces)
    real(dp), intent(in) :: q
    logical, intent(in) :: anelastic
    real(sp), allocatable, intent(out) :: traces(:, :)
    type(scene3d_t) :: s
    integer :: i, r, c, m
    call Scene3dNew(s, n, h, 2, vp, vs, rho, 0.9_dp)
    s%grid%side(3:6) = side_periodic
    s%width = [14, 14, 0, 0, 0, 0]
    s%fpeak = fpeak
    s%grid%anelastic = anelastic
    if (anelastic) then
      call Scene3dMedium(s, [1, 1, 1], n, vp*sqrt(AnelasticFactor(a, q, fref)), vs*sqrt(AnelasticFactor(a, q, fref)), rho)
      s%qp = real(q, sp)
      s%qs = real(q, sp)
      s%tau = real(a%tau, sp)
      s%y = real(a%y, sp)
      s%stiff = real(a%stiff, sp)
    end if
    s%grid%dt = 0.9_dp*s%grid%dt                         ! unrelaxed velocities are larger
    s%nt = nint((2/fpeak + (rows(2) - from)*h/vs + 1.5_dp/fpeak)/s%grid%dt)
    allocate (s%q(1, s%nt))
    s%q(1, :) = [(real(Ricker(i*s%grid%dt, fpeak, 1.5_dp/fpeak), sp), i=1, s%nt)]
    associate (l => s%source)
      l%n = 32
      allocate (l%field(32), l%i(32), l%j(32), l%k(32), l%h(32), l%w(32))
      l%i = from
      l%h = 1
      l%w = 1
      do i = 1, 32
        l%field(i) = merge(field_vx, field_vz, i <= 16)
        l%j(i) = 1 + iand(i - 1, 3)
        l%k(i) = 1 + iand((i - 1)/4, 3)
      end do
    end associate
    associate (l => s%receivers)
      l%n = 64
      l%receivers = 4
      allocate (l%field(64), l%i(64), l%j(64), l%k(64), l%w(64))
      l%start = [(1 + 16*r, r=0, 4)]
      l%w = 1.0_sp/16
      m = 0
      do c = 1, 2
        do r = 1, 2
          do i = 1, 16
            m = m + 1
            l%field(m) = merge(field_vx, field_vz, c == 1)
            l%i(m) = rows(r)
            l%j(m) = 1 + modulo(i - 1, 4)
            l%k(m) = 1 + (i - 1)/4
          end do
        end do
      end do
    end associate
    call Scene3dTraces(s, 'fortran', traces, error)
    call ClaimFine(error, '1/Q = '//Str(q, 3)//merge(', anelastic: ', ', elastic:   ', anelastic)//Str(s%nt)//' steps of '// &
                   Str(s%grid%dt, 3)//' s')
    step = s%grid%dt
  end subroutine Shoot

  !> Spectral ratio of the two planes, at frequencies where there is signal.
  subroutine Compare(wave, c, q, traces)
    character, intent(in) :: wave
    real(dp), intent(in) :: c, q
    real(sp), intent(in) :: traces(:, :)
    real(dp) :: f, worst(2), distance, decay, right, delay, phase, speed
    complex(dp) :: ratio, m
    integer :: i
    distance = (rows(2) - rows(1))*h
    worst = 0
    do i = 0, 8
      f = fpeak*(0.5_dp + 0.125_dp*i)
      ratio = Spectrum(traces(:, 2), f)/Spectrum(traces(:, 1), f)
      m = AnelasticModulus(a, q, f)*AnelasticFactor(a, q, fref)
      speed = c/real(1/sqrt(m), dp)
      right = pi*f*distance/speed*q
      decay = -log(abs(ratio))
      worst(1) = max(worst(1), Off(decay/right - 1))
      delay = distance/speed
      phase = modulo(atan2(aimag(ratio), real(ratio)) + 2*pi*f*delay + pi, 2*pi) - pi
      worst(2) = max(worst(2), Off(phase/(2*pi*f*delay)))
    end do
    call Claim(worst(1) <= 0.05_dp, wave//' waves, Q = '//Str(1/q, 3)//': spectral decay over '//Str(distance/h, 3)// &
               ' cells, half to one and a half times the peak frequency, is off exp(-pi f t/Q) by '//Str(100*worst(1), 2)//' % <= 5 %')
    call Claim(worst(2) <= 0.003_dp, wave//' waves: phase velocity is off by '//Str(100*worst(2), 2)//' % <= 0.3 % of what goes with '// &
               'Q, '//Str(100*abs(speed/c - 1), 2)//' % from that at the reference frequency at the end of the band')
  end subroutine Compare

  !> The size of x, huge() of no number, which max() would pass over.
  pure real(dp) function Off(x)
    real(dp), intent(in) :: x
    Off = huge(x)
    if (abs(x) <= huge(x)) Off = abs(x)
  end function Off

  pure complex(dp) function Spectrum(x, f)
    real(sp), intent(in) :: x(:)
    real(dp), intent(in) :: f
    integer :: i
    Spectrum = sum([(x(i)*exp(cmplx(0.0_dp, -2*pi*f*i*step, dp)), i=1, size(x))])
  end function Spectrum

end program t605_fd3d_attenuation
