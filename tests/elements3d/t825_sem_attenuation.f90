!> Plane P and S waves in anelastic spectral elements lose and delay each frequency as the moduli of their mechanisms tell, through
!> distorted elements; moduli of which nothing relaxes are elastic; what has relaxed at last leaves the relaxed moduli.
program t825_sem_attenuation
  use check_m, only: Claim, Done, Seed
  use elements_m, only: elements_t, face_absorbs
  use error_m, only: error_t
  use kinds_m, only: dp, sp
  use sem3d_engine_m, only: field_ux, field_uz, field_vx, field_vz, sem3d_engine_t
  use semcase_m, only: periodic, semcase_t, SemBox, SemEngine, SemFine, SemPlaces, SemRelative
  use text_m, only: Str
  implicit none

  integer, parameter :: side(6) = [periodic, periodic, periodic, periodic, face_absorbs, face_absorbs]
  real(dp), parameter :: dt = 2e-3_dp, width = 1000, height = 12000, pi = acos(-1.0_dp)
  real(sp), parameter :: tau(3) = [0.03, 0.1, 0.4], of_bulk(3) = [0.02, 0.03, 0.04], of_mu(3) = [0.05, 0.04, 0.06]
  type(semcase_t) :: c
  type(elements_t) :: mesh
  real(dp), allocatable :: x(:, :)
  real(sp), allocatable :: bulk(:, :, :), shear(:, :, :)

  call Seed(825)
  c = semcase_t(n=[3, 3, 32], size=[1100.0_dp, 1100.0_dp, height], shake=0.1_dp, turn=.true., side=side, brick=3)
  call SemBox(c, mesh)
  call SemPlaces(mesh, x)
  bulk = spread(spread(of_bulk, 2, 1), 3, mesh%solid)
  shear = spread(spread(of_mu, 2, 1), 3, mesh%solid)
  call Decays('P', field_uz, field_vz)
  call Decays('S', field_ux, field_vx)
  call Elastic()
  deallocate (x, bulk, shear)
  call Done()

contains

  !> A pulse that goes down as in an elastic medium of the unrelaxed moduli, from a sixth of the height; the medium makes of it what it
  !> makes. Velocity at a third and at two thirds.
  subroutine Run(u, v, s, relaxes, traces)
    integer, intent(in) :: u, v
    real(dp), intent(in) :: s
    logical, intent(in) :: relaxes
    real(sp), intent(out) :: traces(:, :)
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    call SemEngine('cpu', mesh, dt, 1, engine, tau, merge(bulk, 0.0_sp, relaxes), merge(shear, 0.0_sp, relaxes))
    call engine%receivers([1, 2, 3], [v, v], [At(1), At(2)], [1.0_sp, 1.0_sp], error)
    call engine%set_field(u, real(exp(-(3*(x(3, :) - height/6)/width)**2), sp), error)
    call engine%set_field(v, real(s*18*(x(3, :) - height/6 + s*dt/2)/width**2*exp(-(3*(x(3, :) - height/6 + s*dt/2)/width)**2), sp), &
                          error)
    call engine%timestep(1, size(traces, 1), error)
    call engine%traces(1, traces, error)
    call SemFine(error, 'run')
    call engine%free()
  end subroutine Run

  !> The point next to a depth.
  integer function At(n)
    integer, intent(in) :: n
    At = minloc(abs(x(3, :) - merge(height/3, 2*height/3, n == 1)), dim=1)
  end function At

  !> Spectra at two depths: exp(-i w (z2 - z1) sqrt(rho/M)), M = sum of unrelaxed moduli less a/(1 + i w tau) of each.
  subroutine Decays(what, u, v)
    character(*), intent(in) :: what
    integer, intent(in) :: u, v
    real(sp), allocatable :: traces(:, :)
    complex(dp) :: spectrum(2), modulus, mu, k, exact
    real(dp) :: w, worst, loss
    integer :: f, n, i
    allocate (traces(merge(1300, 2100, what == 'P'), 2))              ! before the ends of the column send something back
    call Run(u, v, merge(c%vp, c%vs, what == 'P'), .true., traces)
    worst = 0
    loss = 1
    do f = 1, 4
      w = 2*pi*f*merge(0.7_dp, 0.4_dp, what == 'P')
      do n = 1, 2
        spectrum(n) = sum([(traces(i, n)*exp(cmplx(0, -w*i*dt, dp)), i=1, size(traces, 1))])
      end do
      mu = mesh%mu(1, 1)*(1 - sum(of_mu/cmplx(1, w*tau, dp)))
      k = (mesh%lambda(1, 1) + 2*mesh%mu(1, 1)/3)*(1 - sum(of_bulk/cmplx(1, w*tau, dp)))
      modulus = merge(k + 4*mu/3, mu, what == 'P')
      exact = exp(cmplx(0, -w, dp)*(x(3, At(2)) - x(3, At(1)))*sqrt(mesh%rho(1, 1)/modulus))
      worst = max(worst, abs(spectrum(2)/spectrum(1) - exact)/abs(exact))
      loss = min(loss, abs(exact))
    end do
    call Claim(worst <= 0.01_dp, what//': four frequencies, of which '//Str(loss)//' is left at least, are wrong by '//Str(worst)// &
               ' of what is left at most, bound 0.01')
  end subroutine Decays

  !> Moduli of which nothing relaxes.
  subroutine Elastic()
    real(sp) :: traces(400, 2), elastic_traces(400, 2)
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    real(dp) :: apart
    call Run(field_uz, field_vz, c%vp, .false., traces)
    call SemEngine('cpu', mesh, dt, 1, engine)
    call engine%receivers([1, 2, 3], [field_vz, field_vz], [At(1), At(2)], [1.0_sp, 1.0_sp], error)
    call engine%set_field(field_uz, real(exp(-(3*(x(3, :) - height/6)/width)**2), sp), error)
    associate (away => x(3, :) - height/6 + c%vp*dt/2)
      call engine%set_field(field_vz, real(c%vp*18*away/width**2*exp(-(3*away/width)**2), sp), error)
    end associate
    call engine%timestep(1, size(traces, 1), error)
    call engine%traces(1, elastic_traces, error)
    call SemFine(error, 'elastic')
    apart = SemRelative(traces(:, 1), elastic_traces(:, 1))
    call Claim(apart <= 1e-6_dp .and. maxval(elastic_traces) > 0, 'moduli of which nothing relaxes differ from elastic ones by '// &
               Str(apart)//', bound 1e-6')
    call engine%free()
  end subroutine Elastic

end program t825_sem_attenuation
