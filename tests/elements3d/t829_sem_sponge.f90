!> The layer that damps before absorbing sides: plane SH waves come back from one of four wavelengths with -50 dB of their energy or
!> less, at 0 and at 60 degrees; with attenuation, water over rock, a sea floor of hills and distorted elements it is stable for
!> 20,000 steps, 50,000 where DRAWS=all; variants agree.
program t829_sem_sponge
  use check_m, only: Claim, Done, Drawn, Seed
  use elements_m, only: elements_t, face_absorbs, face_free, in_memory
  use elements_sponge_m, only: SpongeRates
  use error_m, only: error_t
  use kinds_m, only: dp, sp
  use sem3d_engine_m, only: field_chi_t, field_ux, field_vx, sem3d_engine_t
  use semcase_m, only: periodic, semcase_t, SemBox, SemEngine, SemFine, SemPlaces, SemRelative
  use text_m, only: Str
  implicit none
  real(dp), parameter :: pi = acos(-1.0_dp), vp = 2800, vs = 1750
  integer :: angle

  call Seed(829)
  do angle = 0, 60, 60
    call Reflect(angle)
  end do
  call Agree()
  call Stable()
  call Done()

contains

  !> SH waves begin in the middle of a column, half of them up and half down, layers at both ends; the largest kinetic energy between
  !> the layers once these waves have left, over that of when they part.
  subroutine Reflect(angle)
    integer, intent(in) :: angle
    real(dp), parameter :: wave = 250, layer = 4*wave
    type(semcase_t) :: c
    type(elements_t) :: mesh
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    real(dp), allocatable :: x(:, :)
    real(sp), allocatable :: rate(:)
    real(dp) :: theta, sigma, half, k(3), across, dt, speed, first, energy, worst, length
    integer :: begin, step, last
    theta = angle*pi/180
    sigma = 1.6_dp*wave/cos(theta)                          ! so that of the packet's waves few are much steeper or flatter
    half = 3.6_dp*sigma
    k = 2*pi/wave*[sin(theta), 0.0_dp, cos(theta)]
    across = 300
    if (angle > 0) across = wave/sin(theta)
    length = 2*(half + layer)
    c = semcase_t(n=[max(3, ceiling(across/120)), 3, nint(length/100)], size=[across, 300.0_dp, length], brick=3, vp=vp, &
                  vs=vs, side=[periodic, periodic, periodic, periodic, face_absorbs, face_absorbs])
    call SemBox(c, mesh)
    call SemPlaces(mesh, x)
    dt = 0.085_dp*min(100.0_dp, across/c%n(1))/c%vp         ! stable to 0.097
    call SemEngine('cpu', mesh, dt, 1, engine)
    call SpongeRates(mesh, layer, rate)
    rate = rate*real(vs/vp, sp)                             ! as if these waves were P waves
    call engine%damping(rate, error)
    call engine%set_field(field_ux + 1, real(exp(-((x(3, :) - length/2)/sigma)**2/2)*cos(k(1)*x(1, :))* &
                                             cos(k(3)*(x(3, :) - length/2)), sp), error)
    speed = vs*cos(theta)
    begin = nint((half + 3.6_dp*sigma)/(speed*dt))
    last = nint((half + 3.6_dp*sigma + 2*layer)/(speed*dt))
    call engine%timestep(1, begin/4, error)
    first = Kinetic(engine, x, layer, length)
    call engine%timestep(begin/4 + 1, begin - begin/4, error)
    worst = 0
    step = begin
    do while (step < last .and. .not. allocated(error))
      energy = Kinetic(engine, x, layer, length)
      worst = max(worst, energy)
      call engine%timestep(step + 1, (last - begin)/20, error)
      step = step + (last - begin)/20
    end do
    call SemFine(error, 'reflect')
    call engine%free()
    call Claim(worst > 0 .and. 10*log10(worst/first) <= -50, Str(angle)//' degrees: a layer of four wavelengths sends back '// &
               Str(10*log10(worst/first), 3)//' dB of the energy, bound -50 dB')
  end subroutine Reflect

  !> Of points between the layers, up to a factor.
  real(dp) function Kinetic(engine, x, layer, length)
    class(sem3d_engine_t), intent(inout) :: engine
    real(dp), intent(in) :: x(:, :), layer, length
    type(error_t), allocatable :: error
    real(sp) :: v(size(x, 2))
    call engine%field(field_vx + 1, v, error)
    call SemFine(error, 'field')
    Kinetic = sum(real(v, dp)**2, x(3, :) > layer .and. x(3, :) < length - layer)
  end function Kinetic

  !> Random fields; water over rock, sides that absorb, a layer of a third of the box.
  subroutine Prepare(variant, quality, mesh, engine)
    character(*), intent(in) :: variant
    logical, intent(in) :: quality
    type(elements_t), intent(in) :: mesh
    class(sem3d_engine_t), allocatable, intent(out) :: engine
    type(error_t), allocatable :: error
    real(sp), allocatable :: start(:), rate(:), shares(:, :, :)
    integer :: i
    allocate (shares(3, 1, mesh%solid), source=0.03_sp)
    if (quality) then
      call SemEngine(variant, mesh, 2e-3_dp, 1, engine, real([0.005, 0.05, 0.5], sp), shares, shares, in_memory)
    else
      call SemEngine(variant, mesh, 2e-3_dp, 1, engine)
    end if
    call SpongeRates(mesh, 1300.0_dp, rate)
    call engine%damping(rate, error)
    call Seed(830)
    allocate (start(mesh%solid_points))
    do i = 0, 2
      call random_number(start)
      call engine%set_field(field_vx + i, start - 0.5, error)
    end do
    deallocate (start)
    allocate (start(mesh%points - mesh%solid_points))
    call random_number(start)
    call engine%set_field(field_chi_t, 1e6*(start - 0.5), error)
    call SemFine(error, 'prepare')
  end subroutine Prepare

  subroutine MakeBox(mesh)
    type(elements_t), intent(out) :: mesh
    type(semcase_t) :: c
    c = semcase_t(n=[3, 3, 4], water=1, shake=0.15_dp, turn=.true., vary=0.1_dp, vp=3500, vs=1800, &
                  side=[face_absorbs, face_absorbs, face_absorbs, face_absorbs, face_free, face_absorbs])
    call SemBox(c, mesh)
  end subroutine MakeBox

  !> Hills and valleys of 15 % of the depth, everywhere but at the bottom.
  subroutine Bend(mesh)
    type(elements_t), intent(inout) :: mesh
    associate (x => mesh%corner(1, :, :), y => mesh%corner(2, :, :), z => mesh%corner(3, :, :))
      mesh%corner(3, :, :) = z + 0.15_dp*(4000 - z)*sin(x/700)*cos(y/900)
    end associate
  end subroutine Bend

  subroutine Agree()
    type(elements_t) :: mesh
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    real(sp), allocatable :: field(:, :)
    integer :: i
    call MakeBox(mesh)
    allocate (field(mesh%solid_points, 2))
    do i = 1, 2
      call Prepare(trim(merge('fortran', 'cpu    ', i == 1)), .false., mesh, engine)
      call engine%timestep(1, 50, error)
      call engine%field(field_vx, field(:, i), error)
      call SemFine(error, 'agree')
      call engine%free()
    end do
    call Claim(SemRelative(field(:, 2), field(:, 1)) <= 1e-5_dp, 'fortran and cpu differ by '// &
               Str(SemRelative(field(:, 2), field(:, 1)), 3)//', bound 1e-5')
  end subroutine Agree

  subroutine Stable()
    type(elements_t) :: mesh
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    real(sp) :: before, between, after
    integer :: place(3), steps
    steps = 10000*count(Drawn(2, 5, 0))
    call MakeBox(mesh)
    call Bend(mesh)
    call Prepare('cpu', .true., mesh, engine)
    call engine%maxabs(before, place, error)
    call engine%timestep(1, 10000, error)
    call engine%maxabs(between, place, error)
    call engine%timestep(10001, steps - 10000, error)
    call engine%maxabs(after, place, error)
    call SemFine(error, 'stable')
    call engine%free()
    call Claim(after <= between .and. after <= 1e-2*before, 'water over rock, hills, Q and the layer: the largest velocity is '// &
               Str(before, 3)//' m/s, after 10,000 steps '//Str(between, 3)//', after '//Str(steps)//' '//Str(after, 3))
  end subroutine Stable

end program t829_sem_sponge
