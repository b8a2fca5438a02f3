!> Triclinic media of spectral elements: plane waves keep the speed and displacement of Christoffel's equation and leave through an
!> absorbing end; the energy of a closed box stays; source and receiver may change places; an element of constants that set energy
!> free is refused. The weight of an ocean: a sea floor under it moves as under water of elements, where waves are long, and S waves
!> that come upright feel nothing of it; variants agree on masses that differ by direction.
program t837_sem_triclinic_ocean
  use check_m, only: Claim, ClaimFails, Done
  use elements_m, only: elements_t, face_absorbs, face_free, tensor_numbers
  use elements_ocean_m, only: OceanMass, OceanOver
  use error_m, only: error_t
  use kinds_m, only: dp, sp
  use mesh_case_m, only: AnySeed
  use sem3d_engine_m, only: field_ux, field_vx, sem3d_engine_t
  use semcase_m, only: periodic, semcase_t, SemBox, SemEngine, SemFine, SemPlaces
  use text_m, only: Str
  implicit none
  real(dp), parameter :: dt = 2e-3_dp, width = 1300, height = 9000        ! of a pulse, of the column [m]
  character(:), allocatable :: from
  integer :: seed

  seed = AnySeed()
  from = ', seed '//Str(seed)
  call PlaneWaves()
  call Energy()
  call Reciprocity()
  call Refused()
  call Ocean()
  call AddedMasses()
  deallocate (from)
  call Done()

contains

  !> Waves along z of a medium: displacements (3, wave) and speeds, slowest first, by squaring Christoffel's matrix again and again.
  subroutine Waves(mesh, p, v)
    type(elements_t), intent(in) :: mesh
    real(dp), intent(out) :: p(3, 3), v(3)
    integer, parameter :: place(3, 3) = reshape([19, 17, 14, 17, 16, 13, 14, 13, 12], [3, 3])   ! c55 c45 c35, c45 c44 c34, ..
    real(dp) :: g(3, 3), power(3, 3)
    integer :: i, w
    do i = 1, 3
      g(:, i) = mesh%mu(1, 1)*real(mesh%relative(place(:, i), 1), dp)
      g(i, i) = g(i, i) + merge(mesh%lambda(1, 1) + 2*real(mesh%mu(1, 1), dp), real(mesh%mu(1, 1), dp), i == 3)
    end do
    do w = 3, 1, -1
      power = g/maxval(abs(g))
      do i = 1, 40
        power = matmul(power, power)
        power = power/maxval(abs(power))
      end do
      i = maxloc(sum(power**2, 1), 1)
      p(:, w) = power(:, i)/norm2(power(:, i))
      v(w) = dot_product(p(:, w), matmul(g, p(:, w)))
      do i = 1, 3
        g(:, i) = g(:, i) - v(w)*p(:, w)*p(i, w)
      end do
    end do
    v = sqrt(v/mesh%rho(1, 1))
  end subroutine Waves

  elemental real(dp) function Pulse(z)
    real(dp), intent(in) :: z
    Pulse = exp(-(3*z/width)**2)
  end function Pulse

  elemental real(dp) function Slope(z)
    real(dp), intent(in) :: z
    Slope = -18*z/width**2*Pulse(z)
  end function Slope

  subroutine PlaneWaves()
    type(elements_t) :: mesh
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    real(dp), allocatable :: x(:, :)
    real(sp), allocatable :: got(:, :), rest(:, :)
    real(dp) :: p(3, 3), v(3), apart, back
    integer :: w, c, there, gone
    call SemBox(semcase_t(n=[3, 3, 22], size=[1200.0_dp, 1200.0_dp, height], shake=0.1_dp, turn=.true., brick=3, &
                          side=[periodic, periodic, periodic, periodic, face_absorbs, face_absorbs], tensors=1), mesh)
    mesh%tensor(:) = 1
    call SemPlaces(mesh, x)
    call Waves(mesh, p, v)
    allocate (got(mesh%points, 3), rest(mesh%points, 3))
    do w = 1, 3
      call SemEngine('cpu', mesh, dt, 1, engine)
      do c = 1, 3
        call engine%set_field(field_ux + c - 1, real(p(c, w)*Pulse(x(3, :) - height/4), sp), error)
        call engine%set_field(field_vx + c - 1, real(-v(w)*p(c, w)*Slope(x(3, :) - height/4 + v(w)*dt/2), sp), error)
      end do
      there = nint(height/2/(v(w)*dt))
      gone = nint((height - height/4 + 2*width)/(v(w)*dt))
      call engine%timestep(1, there, error)
      do c = 1, 3
        call engine%field(field_ux + c - 1, got(:, c), error)
      end do
      call engine%timestep(there + 1, gone - there, error)
      apart = 0
      do c = 1, 3
        call engine%field(field_vx + c - 1, rest(:, c), error)
        apart = apart + sum((got(:, c) - p(c, w)*Pulse(x(3, :) - height/4 - v(w)*there*dt))**2)
      end do
      call SemFine(error, 'steps')
      apart = sqrt(apart/sum(real(got, dp)**2))
      back = maxval(abs(rest))/(v(w)*maxval(abs(Slope(x(3, :) - height/2))))
      call Claim(apart <= 0.01_dp, 'wave '//Str(w)//' of '//Str(v(w), 5)//' m/s keeps its speed, displacement and shape over '// &
                 Str(height/2/width, 2)//' widths to '//Str(apart, 3)//' rms, bound 0.01'//from)
      call Claim(back <= 0.01_dp, 'wave '//Str(w)//': an absorbing end sends back '//Str(back, 3)//' of it, bound 0.01'//from)
      call engine%free()
    end do
  end subroutine PlaneWaves

  !> v M v + u(n) K u(n+1), which steps leave unchanged, K u by the change of v that a step makes of it.
  subroutine Energy()
    type(elements_t) :: mesh
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    real(dp), allocatable :: x(:, :), mass(:)
    real(dp) :: first, last
    integer, parameter :: steps = 3000
    integer :: c
    call SemBox(semcase_t(n=3, brick=3, shake=0.2_dp, turn=.true., tensors=3), mesh)
    call SemPlaces(mesh, x)
    call SemEngine('cpu', mesh, 9e-3_dp, 1, engine)
    call Masses(mesh, mass)
    do c = 1, 3
      call engine%set_field(field_vx + c - 1, real((c - 1.7_dp)*exp(-sum((x - 1500)**2, 1)/500.0_dp**2), sp), error)
    end do
    call Measure(engine, mass, 0, first)
    call engine%timestep(3, steps, error)
    call SemFine(error, 'steps')
    call Measure(engine, mass, steps + 2, last)
    call Claim(abs(last/first - 1) <= 1e-4_dp .and. first > 0, 'the energy of a closed box changes by '//Str(last/first - 1, 3)// &
               ' of itself in '//Str(steps)//' steps, bound 1e-4'//from)
    call engine%free()
  end subroutine Energy

  subroutine Masses(mesh, mass)
    use elements_m, only: in_element
    use sem3d_element_m, only: ElementGeometry
    type(elements_t), intent(in) :: mesh
    real(dp), allocatable, intent(out) :: mass(:)
    real(dp) :: slopes(3, 3, in_element), volume(in_element)
    integer :: e
    allocate (mass(mesh%points), source=0.0_dp)
    do e = 1, mesh%n
      call ElementGeometry(mesh%corner(:, :, e), slopes, volume)
      mass(mesh%at(:, e)) = mass(mesh%at(:, e)) + mesh%rho(1, e)*volume
    end do
  end subroutine Masses

  subroutine Measure(engine, mass, before, energy)
    class(sem3d_engine_t), intent(inout) :: engine
    real(dp), intent(in) :: mass(:)
    integer, intent(in) :: before
    real(dp), intent(out) :: energy
    type(error_t), allocatable :: error
    real(sp) :: v(size(mass), 3, 0:2), u(size(mass), 3)
    integer :: c, it
    do it = 0, 2
      if (it > 0) call engine%timestep(before + it, 1, error)
      do c = 1, 3
        call engine%field(field_vx + c - 1, v(:, c, it), error)
        if (it == 1) call engine%field(field_ux + c - 1, u(:, c), error)
      end do
    end do
    call SemFine(error, 'steps')
    energy = sum(spread(mass, 2, 3)*(real(v(:, :, 1), dp)**2 - u*(real(v(:, :, 1), dp) - v(:, :, 0))/9e-3_sp))
  end subroutine Measure

  !> A force along a at A moves B along b as one along b at B moves A along a.
  subroutine Reciprocity()
    type(elements_t) :: mesh
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    integer, parameter :: steps = 150
    real(sp) :: q(1, steps), trace(steps, 2), one(steps, 1)
    integer :: place(2), along(2), it, way
    call SemBox(semcase_t(n=[4, 3, 3], shake=0.2_dp, turn=.true., vary=0.1_dp, tensors=3, side=[2, 2, 2, 2, 1, 2]), mesh)
    place = [mesh%at(57, 3), mesh%at(31, mesh%n - 2)]
    along = [0, 2]
    q(1, :) = [(exp(-min(80.0, ((it - 25)/9.0)**2)), it=1, steps)]
    do way = 1, 2
      call SemEngine('cpu', mesh, 5e-3_dp, 1, engine)
      call engine%source(1, along(way:way), place(way:way), [1], [1e9], error)
      call engine%receivers([1, 2], along(3 - way:3 - way), place(3 - way:3 - way), [1.0], error)
      call engine%histories(1, q, error)
      call engine%timestep(1, steps, error)
      call engine%traces(1, one, error)
      call SemFine(error, 'steps')
      trace(:, way) = one(:, 1)
      call engine%free()
    end do
    associate (differs => norm2(real(trace(:, 1), dp) - trace(:, 2))/norm2(real(trace(:, 1), dp)))
      call Claim(differs <= 2e-5_dp, 'source and receiver change places: traces differ by '//Str(differs, 3)//', bound 2e-5'//from)
    end associate
  end subroutine Reciprocity

  subroutine Refused()
    use sem3d_engine_m, only: sem3d_grid_t, Sem3dGrid
    use sem3d_variants_m, only: Sem3dEngineNew
    type(elements_t) :: mesh
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    type(sem3d_grid_t) :: grid
    call SemBox(semcase_t(n=2, tensors=1), mesh)
    mesh%relative(tensor_numbers, 1) = -1.01_sp
    grid = Sem3dGrid(mesh)
    grid%dt = 1e-3_dp
    call Sem3dEngineNew('cpu', engine, error)
    call engine%new(grid, error)
    call engine%elements(mesh, error)
    call ClaimFails(error, 'energy free', 'an element that a shear would set free')
    call engine%free()
  end subroutine Refused

  ! --- the weight of an ocean -----------------------------------------------------------------------------------------------

  !> A column of rock whose opposite walls are one, its floor at z = h, under nothing, a layer of elements of water, or a load.
  subroutine Column(h, wet, mesh)
    real(dp), intent(in) :: h
    logical, intent(in) :: wet
    type(elements_t), intent(out) :: mesh
    real(dp), parameter :: row = 400
    integer :: rows
    rows = 22 + merge(1, 0, wet)
    call SemBox(semcase_t(n=[3, 3, rows], size=[1200.0_dp, 1200.0_dp, row*rows], turn=.true., brick=3, water=rows - 22, &
                          side=[periodic, periodic, periodic, periodic, face_free, face_absorbs]), mesh)
    associate (z => mesh%corner(3, :, :))
      if (wet) z = merge(z*h/row, z - row + h, z < 1.01_dp*row)
      if (.not. wet) z = z + h
    end associate
  end subroutine Column

  !> The displacement along `c` of the floor as a pulse comes up that moves along it.
  subroutine Floor(mesh, h, c, speed, water, trace)
    type(elements_t), intent(inout) :: mesh
    real(dp), intent(in) :: h, speed
    integer, intent(in) :: c
    character(*), intent(in) :: water                     !< ocean_load; '': none
    real(sp), intent(out) :: trace(:)
    real(dp), parameter :: longer = 2.5_dp                !< than a pulse elsewhere
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    real(dp), allocatable :: x(:, :)
    real(sp), allocatable :: mass(:, :)
    real(sp) :: one(size(trace), 1)
    integer, allocatable :: point(:)
    call SemPlaces(mesh, x)
    call SemEngine('cpu', mesh, dt, 1, engine)
    if (water /= '') then
      call OceanOver(mesh, water, 1000.0_dp, error)
      call SemFine(error, 'ocean')
      call OceanMass(mesh, point, mass)
      call engine%added_mass(point, mass, error)
      call SemFine(error, 'added mass')
    end if
    associate (z => x(3, :mesh%solid_points))
      call engine%set_field(field_ux + c - 1, real(Pulse((z - height/2)/longer), sp), error)
      call engine%set_field(field_vx + c - 1, real(speed/longer*Slope((z - height/2 - speed*dt/2)/longer), sp), error)
      call engine%receivers([1, 2], [field_ux + c - 1], minloc(abs(z - h)), [1.0], error)
    end associate
    call engine%timestep(1, size(trace), error)
    call engine%traces(1, one, error)
    call SemFine(error, 'steps')
    trace = one(:, 1)
    call engine%free()
  end subroutine Floor

  subroutine Ocean()
    type(elements_t) :: mesh
    type(semcase_t) :: rock
    real(dp), parameter :: h(2) = [40.0_dp, 80.0_dp], most(2) = [0.02_dp, 0.07_dp]
    real(sp) :: free(1000), water(1000), loaded(1000)
    real(dp) :: share(2)
    integer :: i
    do i = 1, 2
      call Column(h(i), .true., mesh)
      call Floor(mesh, h(i), 3, rock%vp, '', water)
      call Column(h(i), .false., mesh)
      call Floor(mesh, h(i), 3, rock%vp, '', free)
      call Floor(mesh, h(i), 3, rock%vp, 'topography', loaded)
      share(i) = norm2(real(loaded, dp) - water)/norm2(real(free, dp) - water)
      call Claim(share(i) <= most(i), 'under '//Str(h(i), 3)//' m of water a floor moves other than free by '// &
                 Str(norm2(real(free, dp) - water)/norm2(real(water, dp)), 3)//'; with the load of the water '//Str(share(i), 3)// &
                 ' of that is left, bound '//Str(most(i)))
    end do
    call Claim(share(2)/share(1) > 3, 'which falls as the square of the depth: '//Str(share(2)/share(1), 3)//' times for twice the depth')
    call Column(h(2), .false., mesh)
    call Floor(mesh, h(2), 1, rock%vs, '', free)
    call Floor(mesh, h(2), 1, rock%vs, '80 + 0*x', loaded)
    call Claim(maxval(abs(loaded - free)) <= 1e-5*maxval(abs(free)), 'an S wave that comes upright does not feel the load: '// &
               Str(real(maxval(abs(loaded - free))/maxval(abs(free)), dp), 3)//', bound 1e-5')
  end subroutine Ocean

  !> Masses at points of all sorts, of free and absorbing sides that damp too: `fortran` and `cpu` agree.
  subroutine AddedMasses()
    type(elements_t) :: mesh
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    character(7), parameter :: variants(2) = ['fortran', 'cpu    ']
    integer, parameter :: points = 60, steps = 40
    integer :: point(points), v, m, c
    real(sp) :: mass(6, points), a(3), q(1, steps)
    real(sp), allocatable :: field(:, :, :), rate(:)
    call SemBox(semcase_t(n=[3, 4, 3], shake=0.2_dp, turn=.true., vary=0.1_dp, tensors=2, side=[2, 2, 2, 2, 1, 2]), mesh)
    allocate (field(mesh%solid_points, 3, 2), rate(mesh%points))
    call random_number(rate)
    rate = 20*max(0.0_sp, rate - 0.5_sp)
    do m = 1, points
      point(m) = 1 + (m - 1)*(mesh%points/points)
      call random_number(a)
      mass(:, m) = 1e10*[a**2, a(1)*a(2), a(1)*a(3), a(2)*a(3)]
    end do
    q = 1
    do v = 1, 2
      call SemEngine(trim(variants(v)), mesh, 4e-3_dp, 1, engine)
      call engine%damping(rate, error)
      call engine%added_mass(point, mass, error)
      call engine%source(1, [0, 2], [point(30), point(31) + 1], [1, 1], [1e9, -2e9], error)
      call engine%histories(1, q, error)
      call engine%timestep(1, steps, error)
      do c = 1, 3
        call engine%field(field_vx + c - 1, field(:, c, v), error)
      end do
      call SemFine(error, 'added masses')
      call engine%free()
    end do
    associate (differs => norm2(real(field(:, :, 2), dp) - field(:, :, 1))/norm2(real(field(:, :, 1), dp)))
      call Claim(differs <= 1e-5_dp, 'masses that differ by direction: cpu differs from fortran by '//Str(differs, 3)// &
                 ', bound 1e-5'//from)
    end associate
  end subroutine AddedMasses

end program t837_sem_triclinic_ocean
