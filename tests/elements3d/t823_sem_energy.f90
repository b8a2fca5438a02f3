!> The energy of closed boxes of spectral elements stays what it is for 5000 steps, of rock, of water, of water over rock, there for
!> 50,000 too, of bent elements of anisotropic media that differ from point to point for 10,000; with absorbing sides it only falls.
!> Distorted, free sides, a time step close to the largest. SEED may be given.
program t823_sem_energy
  use check_m, only: Claim, Done, Seed
  use elements_dt_m, only: ElementsDt
  use elements_m, only: elements_t, face_absorbs, face_free, in_element, on_face
  use error_m, only: error_t
  use hexahedron_m, only: hex_side_point
  use kinds_m, only: dp, sp
  use sem3d_element_m, only: ElementGeometry, SideArea
  use sem3d_engine_m, only: field_chi_t, field_ux, field_vx, sem3d_engine_t
  use semcase_m, only: semcase_t, SemBox, SemEngine, SemFine, SemPlaces
  use text_m, only: Str
  implicit none

  integer, parameter :: steps = 5000
  type(elements_t) :: mesh
  real(dp), allocatable :: mass(:)                       !< (points): of solid [kg], of fluid [m3/Pa]
  real(dp), allocatable :: area(:, :, :)                 !< of contacts, out of the fluid
  integer :: engine_steps = 0                            !< done
  real(dp) :: dt
  integer :: number
  character(32) :: word

  call get_environment_variable('SEED', word)
  number = 823
  if (word /= '') read (word, *) number
  call Seed(number)
  call Closed('rock', semcase_t(n=3, brick=3, shake=0.2_dp, turn=.true., vary=0.15_dp), 1e-4_dp)
  call Closed('water', semcase_t(n=3, brick=3, water=3, shake=0.2_dp, turn=.true., vary=0.15_dp), 1e-4_dp)
  call Closed('water over rock', semcase_t(n=[3, 3, 4], water=2, shake=0.2_dp, turn=.true., vary=0.15_dp), 1e-4_dp)
  call Closed('water over rock', semcase_t(n=[2, 2, 4], water=2, shake=0.2_dp, turn=.true., vary=0.15_dp, size=[2700.0_dp, 2700.0_dp, 4000.0_dp]), &
              1e-3_dp, 50000)
  call Closed('rock, anisotropic, bent', semcase_t(n=3, brick=3, shake=0.04_dp, turn=.true., vary=0.15_dp, per=27, tensors=3, &
                                                    media=in_element), 1e-4_dp, 10000)
  call Closed('water over rock, anisotropic, bent', semcase_t(n=[3, 3, 4], water=2, shake=0.04_dp, turn=.true., vary=0.15_dp, per=27, &
                                                               tensors=3, media=in_element), 1e-4_dp, 10000)
  call Open('rock', semcase_t(n=3, brick=3, shake=0.2_dp, turn=.true., vary=0.15_dp, side=face_absorbs))
  call Open('water over rock', semcase_t(n=[3, 3, 4], water=2, brick=3, shake=0.2_dp, turn=.true., vary=0.15_dp, &
                                         side=[face_absorbs, face_absorbs, face_absorbs, face_absorbs, face_free, face_absorbs]))
  deallocate (mass, area)
  call Done()

contains

  subroutine Make(c, engine)
    type(semcase_t), intent(in) :: c
    class(sem3d_engine_t), allocatable, intent(out) :: engine
    type(error_t), allocatable :: error
    real(dp), allocatable :: x(:, :)
    real(dp) :: slope(3, 3, in_element), volume(in_element)
    integer :: e, p, k
    call SemBox(c, mesh)
    call ElementsDt(mesh, dt, e)
    dt = real(0.98_dp*dt, sp)
    call SemEngine('cpu', mesh, dt, 1, engine)
    mass = [(0.0_dp, p=1, mesh%points)]
    do e = 1, mesh%n
      call ElementGeometry(mesh%corner(:, :, e), slope, volume)
      do p = 1, in_element
        k = min(p, c%media)
        mass(mesh%at(p, e)) = mass(mesh%at(p, e)) &
          + volume(p)*merge(real(mesh%rho(k, e), dp), 1/real(mesh%lambda(k, e), dp), e <= mesh%solid)
      end do
    end do
    if (allocated(area)) deallocate (area)
    allocate (area(3, on_face, size(mesh%contact, 2)))
    do k = 1, size(mesh%contact, 2)
      call SideArea(mesh%corner(:, :, mesh%contact(1, k)), mesh%contact(2, k), area(:, :, k))
    end do
    call SemPlaces(mesh, x)
    associate (solid => mesh%solid_points, bump => real(exp(-sum((x - 1500)**2, 1)/500.0_dp**2), sp))
      if (mesh%solid > 0) call engine%set_field(field_vx, bump(:solid), error)
      if (mesh%solid < mesh%n) call engine%set_field(field_chi_t, 2.5e6_sp*bump(solid + 1:)*real(sin(x(3, solid + 1:)/300), sp), error)
    end associate
    call SemFine(error, 'fields')
  end subroutine Make

  !> A sum that steps leave unchanged: with v and dchi/dt at halves of steps, p = d2chi/dt2 and u at whole ones, as M dv = -(K u + C' p)
  !> and m dp = -(k dchi/dt - C v) tell,
  !>   2 E(n+1/2) = v M v + u(n) K u(n+1) + p(n) m p(n+1) + dchi/dt k dchi/dt.
  subroutine Measure(engine, energy)
    class(sem3d_engine_t), intent(inout) :: engine
    real(dp), intent(out) :: energy
    type(error_t), allocatable :: error
    real(sp), allocatable :: v(:, :, :), u(:, :), chi(:, :)
    real(dp), allocatable :: force(:, :), p(:, :), stiff(:)
    integer :: c, k, n, it
    n = mesh%solid_points
    allocate (v(n, 3, 0:2), u(n, 3), chi(n + 1:mesh%points, 0:2))
    do it = 0, 2
      if (it > 0) call engine%timestep(engine_steps + it, 1, error)
      do c = 1, 3
        if (n > 0) call engine%field(field_vx + c - 1, v(:, c, it), error)
        if (n > 0 .and. it == 1) call engine%field(field_ux + c - 1, u(:, c), error)
      end do
      if (n < mesh%points) call engine%field(field_chi_t, chi(:, it), error)
    end do
    engine_steps = engine_steps + 2
    call SemFine(error, 'steps')
    allocate (p(n + 1:mesh%points, 2), stiff(n + 1:mesh%points), force(n, 3))
    p = (real(chi(:, 1:), dp) - chi(:, :1))/dt
    force = spread(mass(:n), 2, 3)*(real(v(:, :, 1), dp) - v(:, :, 0))/dt        ! -(K u + C' p)
    stiff = -mass(n + 1:)*(p(:, 2) - p(:, 1))/dt                                 ! k dchi/dt - C v
    do k = 1, size(mesh%contact, 2)
      do c = 1, on_face
        associate (fluid => mesh%at(hex_side_point(c, mesh%contact(2, k)), mesh%contact(1, k)), solid => mesh%partner(c, k))
          force(solid, :) = force(solid, :) + area(:, c, k)*p(fluid, 1)
          stiff(fluid) = stiff(fluid) + dot_product(area(:, c, k), v(solid, :, 1))
        end associate
      end do
    end do
    energy = sum(spread(mass(:n), 2, 3)*real(v(:, :, 1), dp)**2) - sum(u*force) + sum(mass(n + 1:)*p(:, 1)*p(:, 2)) &
             + sum(chi(:, 1)*stiff)
  end subroutine Measure

  subroutine Closed(what, c, bound, more)
    character(*), intent(in) :: what
    type(semcase_t), intent(in) :: c
    real(dp), intent(in) :: bound
    integer, intent(in), optional :: more                   !< steps
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    real(dp) :: first, last
    integer :: n
    n = steps
    if (present(more)) n = more
    call Make(c, engine)
    engine_steps = 0
    call Measure(engine, first)
    call engine%timestep(engine_steps + 1, n, error)
    engine_steps = engine_steps + n
    call SemFine(error, 'steps')
    call Measure(engine, last)
    call Claim(abs(last/first - 1) <= bound .and. first > 0, what//': the energy of a closed box changes by '// &
               Str(last/first - 1)//' of itself in '//Str(n)//' steps, bound '//Str(bound))
    call engine%free()
  end subroutine Closed

  subroutine Open(what, c)
    character(*), intent(in) :: what
    type(semcase_t), intent(in) :: c
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    real(dp) :: before, now
    integer :: i, rises
    real(dp) :: first
    call Make(c, engine)
    engine_steps = 0
    call Measure(engine, first)
    before = first
    rises = 0
    do i = 1, 10
      call engine%timestep(engine_steps + 1, 8, error)
      engine_steps = engine_steps + 8
      call Measure(engine, now)
      if (now > before*(1 + 1e-6_dp)) rises = rises + 1
      before = now
    end do
    call engine%timestep(engine_steps + 1, steps, error)
    engine_steps = engine_steps + steps
    call SemFine(error, 'steps')
    call Measure(engine, now)
    call Claim(rises == 0 .and. now >= -1e-6_dp*first .and. now <= 0.01_dp*first, what//': the energy of a box that absorbs rises in '// &
               Str(rises)//' of 10 times 10 steps and is '//Str(now/first)//' of itself after '//Str(steps)//', bounds 0 and 0.01')
    call engine%free()
  end subroutine Open

end program t823_sem_energy
