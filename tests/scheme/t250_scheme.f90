!> The scheme is derived with margins stated, and refuses with the limit what would not work.
program t250_scheme
  use check_m, only: Claim, ClaimFails, ClaimFine, Done
  use der_m, only: DerBand
  use error_m, only: error_t
  use kinds_m, only: dp, sp
  use scene_m, only: scene_t, SceneNew, SceneScheme
  use fd2d_stability_m, only: StabilityCheck
  use fd2d_eigenvalue_m, only: EigenvalueBound, EigenvalueLargest
  use fd2d_engine_m, only: fd2d_grid_t
  use text_m, only: Str
  implicit none
  type(error_t), allocatable :: error
  type(scene_t) :: scene

  call Defaults()
  call TwoSpacings()
  call RefusedSteps()
  call Dispersion()
  call Times()
  call BadNumbers()
  call DensityContrast()
  call Done()

contains

  !> A window with velocities 1500..4500 m/s.
  subroutine Fresh(h)
    real(dp), intent(in) :: h
    call SceneNew(scene, 10, 10, h, 1500.0_dp, 1000.0_dp)
    scene%window%medium(:, 1, 5:, 1) = 4500
  end subroutine Fresh

  subroutine Defaults()
    real(dp) :: last
    call Fresh(4.2_dp)
    call SceneScheme(scene, error)
    call ClaimFine(error, 'a scheme with the defaults')
    associate (s => scene%scheme)
      call Claim(abs(s%ppw - 1500/(s%fmax*4.2_dp)) < 1e-9_dp .and. s%ppw > 5, 'points per shortest wavelength: '//Str(s%ppw))
      call Claim(s%coeffs_error < 1e-4_dp, 'group velocity right to '//Str(100*s%coeffs_error, 2)//' % in band, < 0.01 %')
      call Claim(abs(s%dt/s%dt_limit - 0.99_dp) < 1e-12_dp .and. abs(s%dt_limit - 0.99_dp*4.2_dp/(4500*sqrt(2.0_dp)*sum(abs(s%w)))) < &
                 1e-12_dp, 'dt = '//Str(s%dt)//' s is 0.98 of what a homogeneous medium of 4500 m/s allows')
      last = s%t_start + s%nt*s%dt
      call Claim(s%t_start <= 0 .and. last > scene%job%tmax .and. last < scene%job%tmax + 0.3_dp, 'steps reach from '// &
                 Str(s%t_start)//' to '//Str(last)//' s for a record of '//Str(scene%job%tmax)//' s')
      call Claim(s%nt_out == 501 .and. size(s%q) == s%nt, Str(s%nt_out)//' output samples, '//Str(s%nt)//' steps')
      call Claim(maxval(abs(s%q)) > 0.99 .and. abs(s%q(1)) < 1e-3 .and. abs(s%q(s%nt)) < 1e-6, 'the wavelet starts and ends quietly')
      call Claim(s%warnings == '', 'no warnings')
    end associate
  end subroutine Defaults

  subroutine TwoSpacings()
    real(dp) :: limit
    call Fresh(4.0_dp)
    scene%window%dz = 2.5_dp
    call SceneScheme(scene, error)
    call ClaimFine(error, 'cells of 4 x 2.5 m')
    limit = 0.99_dp/(4500*sum(abs(scene%scheme%w))*sqrt(1/16.0_dp + 1/6.25_dp))
    call Claim(abs(scene%scheme%dt_limit/limit - 1) < 1e-12_dp, 'stability limit of two spacings: '//Str(scene%scheme%dt_limit)//' s')
    scene%job%dx = 3
    scene%job%dz = 3
    call SceneScheme(scene, error)
    call ClaimFine(error, 'the job''s spacing')
    call Claim(scene%scheme%dx == 3 .and. scene%scheme%dz == 3, 'the job''s spacing goes before that of the model')
  end subroutine TwoSpacings

  subroutine RefusedSteps()
    call Fresh(4.5_dp)
    scene%job%dt = 1.0e-3_dp
    call SceneScheme(scene, error)
    if (allocated(error)) call Told('the limit is ', scene%job%dt)
    call ClaimFails(error, 'is unstable: the limit is', 'an unstable time step')
    call SceneScheme(scene, error)
    call ClaimFine(error, 'the limit that was told, '//Str(scene%job%dt)//' s')
    scene%job%dt = 2.0e-4_dp
    call SceneScheme(scene, error)
    call ClaimFine(error, 'a small time step')
    call Claim(scene%scheme%dt == 2.0e-4_dp, 'the user''s time step is kept')
  end subroutine RefusedSteps

  !> The number that the error has after `words`.
  subroutine Told(words, value)
    character(*), intent(in) :: words
    real(dp), intent(out) :: value
    character(30) :: number
    number = error%message(index(error%message, words) + len(words):)
    number = number(:scan(number, ' ,;') - 1)
    read (number, *) value
  end subroutine Told

  subroutine Dispersion()
    real(dp) :: h
    integer :: i, wrong(2)
    call Fresh(20.0_dp)
    call SceneScheme(scene, error)
    if (allocated(error)) then
      call Told('at most ', h)
      call ClaimFails(error, 'is too coarse for fmax', 'a coarse grid')
      call Fresh(h)
      call SceneScheme(scene, error)
      call ClaimFine(error, 'the spacing told by the error, '//Str(h)//' m, does')
      call Fresh(1.001_dp*h)
      call SceneScheme(scene, error)
      call ClaimFails(error, 'is too coarse for fmax', 'a spacing a little larger does not')
    else
      call Claim(.false., 'a grid of 20 m must be refused')
    end if
    scene%job%dispersion = 'warn'
    call SceneScheme(scene, error)
    call ClaimFine(error, 'dispersion=warn goes on')
    call Claim(index(scene%scheme%warnings, 'too coarse') > 0, 'but warns')
    call Fresh(20.0_dp)
    scene%job%dispersion = 'warn'
    call SceneScheme(scene, error)
    call ClaimFails(error, 'needs more than', 'fewer than two points per wavelength are refused even so')
    call Fresh(6.0_dp)
    scene%job%half_length = 2
    scene%job%coeffs = 'taylor'
    call SceneScheme(scene, error)
    call ClaimFails(error, 'larger half_length', 'half-length 2 at 4 points')
    call Fresh(4.5_dp)
    scene%job%coeffs_error = 0.1_dp
    call SceneScheme(scene, error)
    call ClaimFine(error, 'weights of a stated error')
    call Claim(DerBand(scene%scheme%w, 0.001_dp) > 1.8_dp .and. scene%scheme%coeffs_error <= 1.0001e-3_dp, &
               'weights of 0.1 % cover kh = '//Str(DerBand(scene%scheme%w, 0.001_dp), 4))
    wrong = 0
    do i = 1, 40                                             ! what is told is rounded, and has to do all the same
      call Fresh(7.6_dp + 0.0731_dp*i)
      scene%job%half_length = 4
      call SceneScheme(scene, error)
      wrong(2) = wrong(2) + merge(0, 1, allocated(error))
      if (.not. allocated(error)) cycle
      call Told('at most ', h)
      call Told(' or fmax = ', scene%job%fmax)
      deallocate (error)
      call SceneScheme(scene, error)
      wrong(1) = wrong(1) + merge(1, 0, allocated(error))
      if (allocated(error)) deallocate (error)
      call Fresh(h)
      scene%job%half_length = 4
      call SceneScheme(scene, error)
      wrong(1) = wrong(1) + merge(1, 0, allocated(error))
      if (allocated(error)) deallocate (error)
    end do
    call Claim(all(wrong == 0), '40 coarse grids: '//Str(wrong(2))//' taken, '//Str(wrong(1))// &
               ' of the spacings and frequencies that were told do not do')
    call Fresh(20.0_dp)
    scene%job%half_length = 1
    call SceneScheme(scene, error)
    call ClaimFails(error, 'or a wavelet that ends at', 'a grid for frequencies below the peak of the wavelet')
  end subroutine Dispersion

  subroutine Times()
    call Fresh(4.5_dp)
    scene%job%dt_out = 0.01_dp
    call SceneScheme(scene, error)
    call ClaimFine(error, 'a coarse output interval')
    call Claim(index(scene%scheme%warnings, 'cannot hold frequencies') > 0, 'warns: '//scene%scheme%warnings)
    call Fresh(4.5_dp)
    scene%job%time_correction = .false.
    scene%job%tmax = 8
    scene%window%medium(:, 1, :, 1) = 1500
    call SceneScheme(scene, error)
    call ClaimFine(error, 'no time correction over 8 s')
    call Claim(index(scene%scheme%warnings, 'too early') > 0, 'warns: '//scene%scheme%warnings)
    scene%job%npml = 0
    call SceneScheme(scene, error)
    call Claim(index(scene%scheme%warnings, 'npml = 0') > 0, 'no layers: warns')
    call Fresh(4.5_dp)
    scene%job%dt_out = 2
    call SceneScheme(scene, error)
    call ClaimFails(error, 'longer than the record', 'dt_out beyond tmax')
    scene%job%dt_out = 1e-7_dp
    scene%job%tmax = 1e5_dp
    call SceneScheme(scene, error)
    call ClaimFails(error, 'more than can be counted', '1e12 output samples')
    scene%job%dt_out = 1e-3_dp
    call SceneScheme(scene, error)
    call ClaimFails(error, 'tmax, and what dt follows from', '1e5 s of record')
  end subroutine Times

  subroutine BadNumbers()
    call Fresh(0.0_dp)
    call SceneScheme(scene, error)
    call ClaimFails(error, 'dx = 0 m must be above 0', 'no spacing')
    call Fresh(4.5_dp)
    scene%window%medium(1, 1, 1, 1) = 0
    call SceneScheme(scene, error)
    call ClaimFails(error, 'smallest velocity', 'velocity 0')
    call Fresh(4.5_dp)
    scene%window%dz = 450.5_dp
    call SceneScheme(scene, error)
    call ClaimFails(error, 'hundredfold', 'cells of 4.5 x 450.5 m')
    call Fresh(4.5_dp)
    scene%job%tmax = 0
    call SceneScheme(scene, error)
    call ClaimFails(error, 'tmax', 'tmax = 0')
  end subroutine BadNumbers

  !> The bound is exact in a homogeneous medium, never below the eigenvalue elsewhere, and a contrast as of air is refused.
  subroutine DensityContrast()
    integer, parameter :: n = 40
    type(fd2d_grid_t) :: g
    real(sp) :: kappa(n, n), rho(n, n)
    real(dp) :: exact, bound, eigenvalue
    call Fresh(4.5_dp)
    call SceneScheme(scene, error)
    g = fd2d_grid_t(nx=n, nz=n, half_length=8, dx=4.5_dp, dz=4.5_dp, dt=scene%scheme%dt, w=scene%scheme%w)
    rho = 1000
    kappa = rho*4500.0**2
    exact = 4*(4500*sum(abs(g%w)))**2*2/4.5_dp**2
    bound = EigenvalueBound(kappa, rho, g)
    eigenvalue = EigenvalueLargest(kappa, rho, g)
    call Claim(abs(bound/exact - 1) < 1e-6_dp .and. eigenvalue < bound .and. eigenvalue > 0.98_dp*exact, &
               'homogeneous: bound '//Str(bound/exact, 6)//' and eigenvalue '//Str(eigenvalue/exact, 6)//' of the exact one')
    rho(:, 21:) = 4000
    kappa(:, 21:) = 4000*4500.0**2
    bound = EigenvalueBound(kappa, rho, g)
    eigenvalue = EigenvalueLargest(kappa, rho, g)
    call Claim(eigenvalue < bound .and. g%dt**2*eigenvalue < 4, 'density ratio 4: eigenvalue '//Str(eigenvalue/exact, 6)// &
               ', bound '//Str(bound/exact, 6)//' of the homogeneous: dt stays stable')
    call StabilityCheck(kappa, rho, g, error)
    call ClaimFine(error, 'density ratio 4 is accepted')
    rho(:, :20) = 2
    kappa(:, :20) = 2*340.0**2
    call StabilityCheck(kappa, rho, g, error)
    call ClaimFails(error, 'the density contrasts of this window', 'air over rock')
  end subroutine DensityContrast

end program t250_scheme
