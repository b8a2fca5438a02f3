!> Elements of 8 and 27 nodes whose sides bend inside an even half-space, with and without water on top, move as plane elements there:
!> forces and moments at random places, stations between nodes. Across a sea floor that bends, a force or a moment in rock, right on the
!> floor too, and a volume in water may change places: p of the one is -f.v or -M:strain of the other.
program t898_sem_bent_elements
  use check_m, only: Claim, Done, Drawn
  use elements_dt_m, only: ElementsDt
  use elements_m, only: elements_t
  use elements_make_m, only: counts_t, ElementsMake, ElementsSlowest
  use elements_window_m, only: ElementsFill, ElementsOutline
  use error_m, only: error_t
  use gather_m, only: gather_t
  use kinds_m, only: dp
  use mesh_case_m, only: AnySeed, BoxMesh, Chance
  use mesh_ground_m, only: from_level, from_seafloor
  use mesh_m, only: mesh_t
  use semcase_m, only: SemFine
  use semshot_m, only: semshot_t, SemShotBegin, SemShotRun
  use source3d_m, only: source_force, source_moment, source_volume, source3d_t
  use text_m, only: Str
  use window_m, only: window_t
  implicit none

  !> A mesh as solvers get it.
  type :: case_t
    type(window_t) :: window
    real(dp) :: dt, longest, rise                          !< rise: of the sea floor at most [m]
  end type case_t

  real(dp), parameter :: h = 100, vp = 3000, vs = 1800, rho = 2300, sound = 1500, mu = rho*vs**2, lambda = rho*vp**2 - 2*mu
  integer, parameter :: n(3) = [10, 10, 7], stations = 8, nodes(3) = [8, 8, 27]
  real(dp), parameter :: low(3) = [-5, -5, 0]*h
  character(*), parameter :: recorded = 'vx,vy,vz,sxx,syy,szz,sxy,sxz,syz'
  character(:), allocatable :: from
  integer :: number, water, i
  logical :: tried(2)

  number = AnySeed()
  from = ', seed '//Str(number)
  tried = Drawn(1, 2, number)
  do i = 1, 2
    water = 2*(i - 1)
    if (tried(i)) call AsPlane()
  end do
  water = 2
  tried = Drawn(1, 2, number/2)
  if (tried(1)) call ChangePlaces(8, from_level)
  if (tried(2)) call ChangePlaces(27, from_level)
  call ChangePlaces(merge(8, 27, Chance(0.0_dp, 1.0_dp) < 0.5_dp), from_seafloor)
  deallocate (from)
  call Done()

contains

  !> Waves of bends of 2.5 to 4 elements, and each node by itself; nodes of the box and of the sea floor stay in these, unless the
  !> floor bends too.
  subroutine Make(per, bends, floor_bends, c)
    integer, intent(in) :: per
    logical, intent(in) :: bends, floor_bends
    type(case_t), intent(out) :: c
    type(mesh_t) :: mesh
    type(elements_t) :: elements
    type(counts_t) :: counts
    type(error_t), allocatable :: error
    integer, allocatable :: numbers(:)
    real(dp) :: k(3, 3), phase(3), moved(3), v, shortest, longest
    logical :: inside
    integer :: a, d, e
    mesh = BoxMesh(n, spread(h, 1, 3), low, 0.0_dp, per, max(water, 1))
    if (water == 0) mesh%block = 2
    do d = 1, 3
      k(:, d) = [(2*acos(-1.0_dp)/(Chance(2.5_dp, 4.0_dp)*h), a=1, 3)]
      phase(d) = Chance(0.0_dp, 6.28_dp)
    end do
    c%rise = 0
    do a = 1, size(mesh%x, 2)
      if (.not. bends) exit
      do d = 1, 3
        inside = abs(mesh%x(d, a) - low(d)) > 1 .and. abs(mesh%x(d, a) - low(d) - n(d)*h) > 1
        if (d == 3 .and. water > 0 .and. .not. floor_bends) inside = inside .and. abs(mesh%x(3, a) - water*h) > 1
        moved(d) = h*(0.06_dp*sin(dot_product(k(:, d), mesh%x(:, a)) + phase(d)) + merge(0.06_dp, 0.025_dp, per == 8)*Chance(-1.0_dp, 1.0_dp))
        if (.not. inside) moved(d) = 0
      end do
      if (abs(mesh%x(3, a) - water*h) < 1) c%rise = max(c%rise, abs(moved(3)))
      mesh%x(:, a) = mesh%x(:, a) + moved
    end do
    call ElementsMake(mesh, reshape([sound, 0.0_dp, 1000.0_dp, 0.0_dp, 0.0_dp, vp, vs, rho, 0.0_dp, 0.0_dp], [5, 2]), elements, numbers, &
                      counts)
    call ElementsDt(elements, c%dt, e)
    call ElementsSlowest(elements, e, v, c%longest, shortest, longest)
    call ElementsOutline(elements%n, minval(mesh%x, 2), maxval(mesh%x, 2), c%window)
    call ElementsFill(elements, c%window, error)
    call SemFine(error, 'window')
  end subroutine Make

  !> A shot at five points to the shortest wavelength of the longest edge.
  subroutine Shoot(what, c, longest, dt, source, at, x, components, s, gather, from_where)
    character(*), intent(in) :: what, components
    type(case_t), intent(in) :: c
    real(dp), intent(in) :: longest, dt, at(3), x(:, :)
    type(source3d_t), intent(in) :: source
    type(semshot_t), intent(out) :: s
    type(gather_t), intent(out) :: gather
    integer, intent(in), optional :: from_where(2)         !< depths of source and receivers count
    real(dp) :: fmax
    fmax = 4*merge(sound, 0.92_dp*vs, water > 0)/(5*longest)
    call SemShotBegin(s, fmax/2.5_dp, fmax, 3/fmax, 5*h/vs + 6/fmax, components, 'cpu')
    s%scheme%dt = dt
    s%scheme%early = merge(0.5_dp, 0.0_dp, source%kind == source_force)
    s%scheme%source = source
    if (present(from_where)) s%scheme%source_from = from_where(1)
    if (present(from_where)) s%scheme%receivers_from = from_where(2)
    call SemShotRun(s, what//from, c%window, at, x, gather)
  end subroutine Shoot

  !> A force or a moment of random numbers.
  function AnySource(kind) result(source)
    integer, intent(in) :: kind
    type(source3d_t) :: source
    integer :: a
    source%kind = kind
    if (kind == source_force) source%force = [(Chance(-1.0_dp, 1.0_dp), a=1, 3)]*1e9_dp
    if (kind == source_moment) source%moment = [(Chance(-1.0_dp, 1.0_dp), a=1, 6)]*1e12_dp
  end function AnySource

  !> Velocities at all stations, stresses where they are a fifth of an element and more away from the surface and the sea floor.
  subroutine AsPlane()
    real(dp), parameter :: bound(2) = [0.02_dp, 0.02_dp]
    type(case_t) :: c(3)
    type(semshot_t) :: s
    type(gather_t), allocatable :: gather(:)
    type(source3d_t) :: source
    real(dp) :: at(3), x(3, stations), worst(2), apart(2)
    integer :: i, k
    allocate (gather(3))
    do k = 1, 3
      call Make(nodes(k), k > 1, .false., c(k))
    end do
    at = [Chance(-h, h), Chance(-h, h), (water + Chance(0.3_dp, 1.5_dp))*h]
    do i = 1, stations
      do
        x(:, i) = [Chance(-3.5_dp, 3.5_dp), Chance(-3.5_dp, 3.5_dp), Chance(0.2_dp, 4.5_dp)]*h
        if (water == 0 .and. i == 1) x(3, i) = 0
        if (norm2(x(:, i) - at) > 2.4_dp*h .and. (water == 0 .or. abs(x(3, i) - water*h) > 0.2_dp*h)) exit
      end do
    end do
    source = AnySource(merge(source_force, source_moment, Chance(0.0_dp, 1.0_dp) < 0.5_dp))
    do k = 1, 3
      call Shoot(trim(merge('bent ', 'plane', k > 1)), c(k), maxval(c%longest), 0.9_dp*minval(c%dt), source, at, x, recorded, s, gather(k))
      if (k == 1) cycle
      worst = 0
      do i = 1, stations
        associate (a => real(gather(k)%traces(:, i, :), dp), b => real(gather(1)%traces(:, i, :), dp))
          apart = [norm2(a(:, :3) - b(:, :3))/norm2(b(:, :3)), norm2(a(:, 4:) - b(:, 4:))/norm2(b(:, 4:))]
        end associate
        if (x(3, i) < 0.2_dp*h) apart(2) = 0
        worst = max(worst, apart)
      end do
      call Claim(all(worst <= bound), trim(merge('force ', 'moment', source%kind == source_force))//', '//Str(water)// &
                 ' rows of water, elements of '//Str(nodes(k))//' nodes that bend against plane ones: velocities '//Str(100*worst(1), 2)// &
                 ' % off at most, bound '//Str(100*bound(1))//' %, stresses '//Str(100*worst(2), 2)//' %, bound '//Str(100*bound(2))//' %'//from)
    end do
  end subroutine AsPlane

  subroutine ChangePlaces(per, depth_from)
    integer, intent(in) :: per, depth_from
    real(dp), parameter :: bound = 1e-4_dp
    type(case_t) :: c
    type(semshot_t) :: s
    type(gather_t) :: there, back
    type(source3d_t) :: source, volume
    real(dp), allocatable :: p(:), q(:)
    real(dp) :: rock(3, 1), wet(3, 1), strain(6)
    integer :: kind, a
    call Make(per, .true., .true., c)
    rock(:, 1) = [Chance(-3.0_dp, -1.5_dp), Chance(-3.0_dp, 3.0_dp), water + Chance(0.1_dp, 2.5_dp)]*h
    wet(:, 1) = [Chance(1.5_dp, 3.0_dp), Chance(-3.0_dp, 3.0_dp), Chance(0.3_dp, water - 0.1_dp)]*h
    rock(3, 1) = rock(3, 1) + c%rise
    if (depth_from == from_seafloor) rock(3, 1) = 0
    wet(3, 1) = wet(3, 1) - c%rise
    volume%kind = source_volume
    call Shoot('volume', c, c%longest, 0.9_dp*c%dt, volume, wet(:, 1), rock, recorded, s, back, [from_level, depth_from])
    do kind = source_force, source_moment, source_moment - source_force
      source = AnySource(kind)
      call Shoot('force or moment', c, c%longest, 0.9_dp*c%dt, source, rock(:, 1), wet, 'p', s, there, [depth_from, from_level])
      p = real(there%traces(:, 1, 1), dp)
      if (kind == source_force) then
        q = -matmul(real(back%traces(:, 1, :3), dp), source%force)
      else                                                  ! M:strain is the stress's product with the strain that M would make
        strain = (source%moment - lambda*sum(source%moment(:3))/(3*lambda + 2*mu)*[1, 1, 1, 0, 0, 0])/(2*mu)
        strain(4:) = 2*strain(4:)
        q = -matmul(real(back%traces(:, 1, 4:), dp), strain)
      end if
      a = min(size(p), size(q))
      call Claim(norm2(p(:a) - q(:a)) <= bound*norm2(p(:a)), trim(merge('a force ', 'a moment', kind == source_force))// &
                 trim(merge(' on it', '      ', depth_from == from_seafloor))//' and a volume change places across a sea floor that '// &
                 'bends by '//Str(c%rise, 2)//' m, elements of '//Str(per)//' nodes: '// &
                 Str(norm2(p(:a) - q(:a))/norm2(p(:a)), 2)//' off, bound '//Str(bound)//from)
    end do
  end subroutine ChangePlaces

end program t898_sem_bent_elements
