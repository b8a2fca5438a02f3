!> Memory variables at 57 of the 125 points of an element: plane P and S waves through distorted elements, at one element a shortest
!> wavelength, are as with variables at all points; a wave loses what Q says at each frequency of the band; moduli of which nothing
!> relaxes are elastic; fields decay at the smallest Q that is allowed. WAVES: wavelengths that waves run, 12 unless given.
program t828_sem_few_memory
  use check_m, only: Claim, Done, Seed
  use elements_m, only: elements_t, face_absorbs, face_free, in_element, in_memory
  use elements_relax_m, only: ElementsShares
  use error_m, only: error_t
  use kinds_m, only: dp, sp
  use sem3d_engine_m, only: field_ux, field_uz, field_vx, field_vz, sem3d_engine_t
  use semcase_m, only: periodic, semcase_t, SemBox, SemEngine, SemFine, SemPlaces, SemRelative
  use text_m, only: Str
  use zener_m, only: ZenerModulus, ZenerTimes
  implicit none

  integer, parameter :: side(6) = [periodic, periodic, periodic, periodic, face_absorbs, face_absorbs]
  real(dp), parameter :: h = 100, wave = 2.5_dp*1.16_dp*h, a = acos(-1.0_dp)/wave, begin = 5*h, pi = acos(-1.0_dp)
  type(semcase_t) :: c
  type(elements_t) :: mesh
  real(dp), allocatable :: x(:, :)
  real(dp) :: dt, band(2), finish
  integer :: waves, layers
  character(8) :: word

  call get_environment_variable('WAVES', word)
  waves = 12
  if (word /= '') read (word, *) waves
  finish = begin + waves*wave
  layers = ceiling(finish/h) + 8
  call Seed(828)
  c = semcase_t(n=[3, 3, layers], size=[3*h, 3*h, layers*h], shake=0.08_dp, turn=.true., side=side, brick=3, vp=3000, vs=1900)
  call SemBox(c, mesh)
  call SemPlaces(mesh, x)
  dt = 0.06_dp*h/c%vp
  band = c%vs/h*[1/50.0_dp, 1.0_dp]
  call Alike(20.0_dp, waves*0.001_dp)
  call Alike(40.0_dp, min(0.01_dp, waves*0.004_dp/12))
  call Alike(100.0_dp, waves*0.01_dp/50)
  if (waves >= 50) call Alike(500.0_dp, 0.01_dp)
  call Lossless()
  call Decay()
  deallocate (x)
  call Done()

contains

  !> Velocity of a P and an S wave that begin together, after 2/3 of the way and after `waves` wavelengths: vz, vx; with a quality
  !> factor of bulk modulus and mu, 0: infinite.
  subroutine Run(q, relaxing, traces)
    real(dp), intent(in) :: q
    integer, intent(in) :: relaxing
    real(sp), allocatable, intent(out) :: traces(:, :)
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    real(sp), allocatable :: bulk(:, :, :), shear(:, :, :)
    integer :: at(2)
    mesh%loss = spread([0.0_sp, 0.0_sp], 2, mesh%solid)
    if (q > 0) mesh%loss = real(1/q, sp)
    call ElementsShares(mesh, band, bulk, shear, few=relaxing < in_element)
    call SemEngine('cpu', mesh, dt, 1, engine, real(ZenerTimes(band), sp), bulk, shear, relaxing)
    at = [minloc(abs(x(3, :) - (2*finish + begin)/3), dim=1), minloc(abs(x(3, :) - finish), dim=1)]
    call engine%receivers([1, 2, 3, 4, 5], [field_vz, field_vz, field_vx, field_vx], [at, at], spread(1.0_sp, 1, 4), error)
    call SetPulse(engine, field_uz, field_vz, c%vp, error)
    call SetPulse(engine, field_ux, field_vx, c%vs, error)
    allocate (traces(nint((finish - begin + 3*wave)/(c%vs*dt)), 4))
    call engine%timestep(1, size(traces, 1), error)
    call engine%traces(1, traces, error)
    call SemFine(error, 'run')
    call engine%free()
  end subroutine Run

  !> A Ricker pulse that goes down from `begin`.
  subroutine SetPulse(engine, u, v, speed, error)
    class(sem3d_engine_t), intent(inout) :: engine
    integer, intent(in) :: u, v
    real(dp), intent(in) :: speed
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: away(size(x, 2))
    away = x(3, :) - begin
    call engine%set_field(u, real(away*exp(-(a*away)**2), sp), error)
    away = away + speed*dt/2
    call engine%set_field(v, real(-speed*(1 - 2*(a*away)**2)*exp(-(a*away)**2), sp), error)
  end subroutine SetPulse

  !> 1 % after 50 wavelengths is 0.2 % after 10.
  subroutine Alike(q, bound)
    real(dp), intent(in) :: q, bound
    real(sp), allocatable :: few(:, :), full(:, :)
    real(dp) :: apart(2)
    call Run(q, in_memory, few)
    call Run(q, in_element, full)
    apart = [SemRelative(few(:, 2), full(:, 2)), SemRelative(few(:, 4), full(:, 4))]
    call Claim(all(apart <= bound), 'Q = '//Str(q)//': after '//Str(waves)//' wavelengths P and S differ by '// &
               Str(100*apart(1), 3)//' and '//Str(100*apart(2), 3)//' % from variables at all points, bound '//Str(100*bound)//' %')
    if (pi*waves/q < 2) call Spectra(q, few(:, 3:4))         ! else too little is left of high frequencies
  end subroutine Alike

  !> Decay of S waves between the receivers, at frequencies from a fifth to twice that of the pulse: exp(-pi f t/Q).
  subroutine Spectra(q, traces)
    real(dp), intent(in) :: q
    real(sp), intent(in) :: traces(:, :)
    complex(dp) :: spectrum(2)
    real(dp) :: f, worst, path, v, exact
    integer :: k, n, i
    worst = 0
    path = x(3, minloc(abs(x(3, :) - finish), dim=1)) - x(3, minloc(abs(x(3, :) - (2*finish + begin)/3), dim=1))
    do k = 1, 4
      f = 0.3_dp*k*c%vs/wave
      do n = 1, 2
        spectrum(n) = sum([(traces(i, n)*exp(cmplx(0, -2*pi*f*i*dt, dp)), i=1, size(traces, 1))])
      end do
      v = real(sqrt(ZenerModulus(band, 1/q, f)))*c%vs
      exact = pi*f*path/(q*v)
      worst = max(worst, abs(-log(abs(spectrum(2)/spectrum(1)))/exact - 1))
    end do
    call Claim(worst <= 0.05_dp, 'Q = '//Str(q)//': 1/Q of four frequencies from 0.3 to 1.2 of that of the pulse is wrong by '// &
               Str(100*worst, 3)//' % at most, bound 5 %')
  end subroutine Spectra

  subroutine Lossless()
    real(sp), allocatable :: few(:, :), full(:, :)
    real(dp) :: apart
    call Run(0.0_dp, in_memory, few)
    call Run(1.0e9_dp, in_memory, full)
    apart = max(SemRelative(few(:, 2), full(:, 2)), SemRelative(few(:, 4), full(:, 4)))
    call Claim(apart <= 1e-5_dp .and. maxval(few) > 0, 'Q = 1e9 differs from an elastic medium by '//Str(apart)//', bound 1e-5')
  end subroutine Lossless

  !> 0.95 of the modulus relaxes at the points that have the largest share: random fields, free sides.
  subroutine Decay()
    type(semcase_t) :: small
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    real(sp), allocatable :: shares(:, :, :), start(:)
    real(dp) :: before, after
    integer :: i
    small = semcase_t(n=4, size=spread(4*h, 1, 3), shake=0.15_dp, turn=.true., side=face_free)
    call SemBox(small, mesh)
    allocate (shares(3, 1, mesh%solid), start(mesh%points))
    shares = real(0.95_dp/1.69_dp/3, sp)
    call SemEngine('cpu', mesh, 0.3e-3_dp, 2, engine, real([0.002, 0.02, 0.2], sp), shares, shares, in_memory)
    do i = 0, 2
      call random_number(start)
      call engine%set_field(field_vx + i, start - 0.5, error)
    end do
    call Largest(engine, before)
    call engine%timestep(1, 4000, error)
    call Largest(engine, after)
    call SemFine(error, 'decay')
    call engine%free()
    call Claim(after < before, 'random fields at the smallest Q decay: velocity, rms, from '//Str(before, 3)//' to '//Str(after, 3)// &
               ' m/s in 4000 steps')
    call engine%free()
  end subroutine Decay

  subroutine Largest(engine, rms)
    class(sem3d_engine_t), intent(inout) :: engine
    real(dp), intent(out) :: rms
    type(error_t), allocatable :: error
    real(sp) :: field(mesh%points, 3)
    integer :: i
    do i = 0, 2
      call engine%field(field_vx + i, field(:, i + 1), error)
    end do
    call SemFine(error, 'fields')
    rms = norm2(real(field, dp))/sqrt(real(size(field), dp))
  end subroutine Largest

end program t828_sem_few_memory
