!> Memory variables at 57 of the 125 points of an element: plane P and S waves across lattices of elements in any direction (t828: along
!> an edge) are as with variables at all points. The lattices are cubes, flat or leaning elements, shaken at random; waves have one
!> element a shortest wavelength where elements are cubes, and are read as the mean over a layer of elements, and at one point: within an
!> element the field is as uneven as what relaxes there, which does not grow with the way. WAVES: wavelengths that all of them run, 12 unless given,
!> and 25 at least in one case. Four of the seven cases in a run; SEED: 1 unless given.
program t878_sem_few_any_way
  use check_m, only: Claim, Done, Drawn, GivenSeed, Seed
  use elements_m, only: elements_t, face_absorbs, face_inner, in_element, in_memory
  use elements_points_m, only: ElementsNumber
  use elements_relax_m, only: ElementsShares
  use error_m, only: error_t
  use gll_m, only: gll_w
  use hexahedron_m, only: hex_node, hex_side
  use kinds_m, only: dp, sp
  use sem3d_engine_m, only: field_ux, field_uz, field_vx, field_vz, sem3d_engine_t
  use semcase_m, only: SemEngine, SemFine, SemPlaces, SemRelative
  use text_m, only: Str
  use zener_m, only: ZenerTimes
  implicit none

  real(dp), parameter :: h = 100, vs = 1900, rho = 2500
  real(dp), parameter :: shortest = 1.16_dp*h, wave = 2.5_dp*shortest, begin = 2*wave, a = acos(-1.0_dp)/wave

  !> Corners are at i, j, k times three edges, and waves go across the planes i + b j + c k = constant.
  type :: lattice_t
    integer :: b = 0, c = 0
    real(dp) :: edge(3, 3) = reshape([1, 0, 0, 0, 1, 0, 0, 0, 1], [3, 3])    !< over h; all is turned so that waves go along z
    real(dp) :: shake = 0.08_dp, ratio = 3.0_dp/1.9_dp                       !< of corners, over h; vp/vs
  end type lattice_t

  real(dp), parameter :: flat(3, 3) = reshape([1.0_dp, 0.0_dp, 0.0_dp, 0.0_dp, 1.0_dp, 0.0_dp, 0.0_dp, 0.0_dp, 0.6_dp], [3, 3]), &
                         leaning(3, 3) = reshape([1.0_dp, 0.0_dp, 0.0_dp, 0.0_dp, 1.0_dp, 0.0_dp, 0.4_dp, 0.0_dp, 0.8_dp], [3, 3])
  integer :: waves, longer, number, seen = 0
  logical :: tried(7)
  character(8) :: word

  call get_environment_variable('WAVES', word)
  waves = 12
  if (word /= '') read (word, *) waves
  call get_environment_variable('SEED', word)
  number = 1
  if (word /= '') read (word, *) number
  tried = Drawn(4, size(tried), GivenSeed())
  call Seed(number)
  longer = max(25, waves)                            ! what S waves differ by grows with the way: by 1 % after 50
  call Alike('along a space diagonal', lattice_t(b=1, c=1), 20.0_dp, longer, 0.008_dp, 0.01_dp, longer*0.0002_dp)
  call Alike('along a face diagonal', lattice_t(b=1), 20.0_dp, waves, 0.008_dp, 0.012_dp)
  call Alike('across flat elements', lattice_t(b=1, c=2, edge=flat, shake=0.05_dp), 20.0_dp, waves, 0.008_dp, 0.012_dp)
  call Alike('across leaning elements', lattice_t(b=2, c=1, edge=leaning, shake=0.05_dp), 20.0_dp, waves, 0.008_dp, 0.012_dp)
  call Alike('1 1 2, vp/vs = 2.2', lattice_t(b=1, c=2, ratio=2.2_dp), 40.0_dp, waves, 0.006_dp, 0.01_dp)
  call Alike('1 1 2, far from cubes', lattice_t(b=1, c=2, shake=0.15_dp), 40.0_dp, waves, 0.006_dp, 0.01_dp)
  call Alike('along an edge', lattice_t(), 100.0_dp, waves, 0.002_dp, 0.003_dp)
  call Done()

contains

  !> Bounds of the mean over a layer and of one point; bound_s: of S waves, where it is another one.
  subroutine Alike(what, lattice, q, wavelengths, bound, bound_point, bound_s)
    character(*), intent(in) :: what
    type(lattice_t), intent(in) :: lattice
    real(dp), intent(in) :: q, bound, bound_point
    integer, intent(in) :: wavelengths
    real(dp), intent(in), optional :: bound_s
    type(elements_t) :: mesh
    real(sp), allocatable :: few(:, :), full(:, :)
    real(dp) :: apart(6), most(2), most_point(2)
    integer :: t
    seen = seen + 1
    if (.not. tried(seen)) return
    call MakeMesh(lattice, begin + (wavelengths + 2)*wave, mesh)
    mesh%loss = spread(spread(real(1/q, sp), 1, 2), 2, mesh%n)
    call Run(mesh, lattice, wavelengths, in_memory, few)
    call Run(mesh, lattice, wavelengths, in_element, full)
    apart = [(SemRelative(few(:, t), full(:, t)), t=1, 6)]
    most = bound
    most_point = bound_point
    if (present(bound_s)) most(2) = bound_s
    if (present(bound_s)) most_point(2) = bound_s
    call Claim(all(apart(:3) <= most([1, 2, 2])), what//', Q = '//Str(q)//': after '//Str(wavelengths)//' wavelengths P and two S waves differ by '// &
               Str(100*apart(1), 3)//', '//Str(100*apart(2), 3)//' and '//Str(100*apart(3), 3)// &
               ' % from variables at all points, bounds '//Str(100*most(1))//' and '//Str(100*most(2))//' %, seed '//Str(number))
    call Claim(all(apart(4:) <= most_point([1, 2, 2])), 'and at one point by '//Str(100*apart(4), 3)//', '//Str(100*apart(5), 3)//' and '// &
               Str(100*apart(6), 3)//' %, bounds '//Str(100*most_point(1))//' and '//Str(100*most_point(2))//' %')
  end subroutine Alike

  !> Velocity along z, x and y after so many wavelengths of waves that begin together: means over a layer of elements, then at a point.
  subroutine Run(mesh, lattice, wavelengths, relaxing, traces)
    type(elements_t), intent(in) :: mesh
    type(lattice_t), intent(in) :: lattice
    integer, intent(in) :: wavelengths, relaxing
    real(sp), allocatable, intent(out) :: traces(:, :)
    real(dp), parameter :: band(2) = vs/shortest*[1/50.0_dp, 1.0_dp]
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    real(sp), allocatable :: bulk(:, :, :), shear(:, :, :), w(:)
    real(dp), allocatable :: x(:, :)
    integer, allocatable :: points(:)
    real(dp) :: dt
    integer :: n, c, at
    dt = 0.07_dp*h*lattice%edge(3, 3)/(lattice%ratio*vs)*(1 - 2*lattice%shake)   ! elements that are bent are thinner
    call ElementsShares(mesh, band, bulk, shear, few=relaxing < in_element)
    call SemEngine('cpu', mesh, dt, 1, engine, real(ZenerTimes(band), sp), bulk, shear, relaxing)
    call SemPlaces(mesh, x)
    call LayerMean(mesh, lattice, begin + wavelengths*wave, points, w)
    n = size(w)
    at = minloc(abs(x(3, :) - begin - wavelengths*wave), dim=1)
    call engine%receivers([1, 1 + n, 1 + 2*n, 1 + 3*n, 2 + 3*n, 3 + 3*n, 4 + 3*n], &
                          [spread(field_vz, 1, n), spread(field_vx, 1, n), spread(field_vx + 1, 1, n), field_vz, field_vx, field_vx + 1], &
                          [points, points, points, at, at, at], [w, w, w, 1.0_sp, 1.0_sp, 1.0_sp], error)
    call SetPulse(engine, x(3, :), field_uz, field_vz, lattice%ratio*vs, dt, error)
    do c = 0, 1
      call SetPulse(engine, x(3, :), field_ux + c, field_vx + c, vs, dt, error)
    end do
    allocate (traces(nint((wavelengths + 2.5_dp)*wave/(vs*dt)), 6))
    call engine%timestep(1, size(traces, 1), error)
    call engine%traces(1, traces, error)
    call SemFine(error, 'run')
    call engine%free()
  end subroutine Run

  !> Points and weights of the mean over the layer of elements whose middle is nearest to a depth, elements counting alike.
  subroutine LayerMean(mesh, lattice, z, points, w)
    type(elements_t), intent(in) :: mesh
    type(lattice_t), intent(in) :: lattice
    real(dp), intent(in) :: z
    integer, allocatable, intent(out) :: points(:)
    real(sp), allocatable, intent(out) :: w(:)
    integer :: columns, first, e, i, j, k
    columns = product(merge(2, 3, [lattice%b, lattice%c] > 0))
    first = minloc([(abs(sum(mesh%corner(3, :, e:e + columns - 1))/(8*columns) - z), e=1, mesh%n, columns)], 1)
    first = 1 + (first - 1)*columns
    points = [mesh%at(:, first:first + columns - 1)]
    w = [(real([(((gll_w(i)*gll_w(j)*gll_w(k), i=1, 5), j=1, 5), k=1, 5)]/columns, sp), e=1, columns)]
  end subroutine LayerMean

  !> A Ricker pulse of velocity that goes along z from `begin`.
  subroutine SetPulse(engine, z, u, v, speed, dt, error)
    class(sem3d_engine_t), intent(inout) :: engine
    real(dp), intent(in) :: z(:), speed, dt
    integer, intent(in) :: u, v
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: away(size(z))
    away = z - begin
    call engine%set_field(u, real(away*exp(-(a*away)**2), sp), error)
    away = away + speed*dt/2
    call engine%set_field(v, real(-speed*(1 - 2*(a*away)**2)*exp(-(a*away)**2), sp), error)
  end subroutine SetPulse

  ! --- lattice ----------------------------------------------------------------------------------------------------------------

  !> Elements from z = 0 to `depth`. Along j and k they come again after three, or after two where planes lean along that axis, so that
  !> no two elements share more than a side. Corner i, j, k is in layer i + b j + c k.
  subroutine MakeMesh(lattice, depth, mesh)
    type(lattice_t), intent(in) :: lattice
    real(dp), intent(in) :: depth
    type(elements_t), intent(out) :: mesh
    real(dp) :: edges(3, 3), low
    real(dp), allocatable :: moved(:, :, :, :)
    integer :: d(3), again(2), layers, n, j, k, i
    d = [1, lattice%b, lattice%c]
    again = merge(2, 3, d(2:) > 0)
    edges = Turned(lattice)
    low = edges(3, 1)                                                     ! from layer to layer
    layers = ceiling(depth/low)
    mesh%n = layers*product(again)
    mesh%solid = mesh%n
    allocate (mesh%corner(3, 8, mesh%n), mesh%node(8, mesh%n), mesh%face(6, mesh%n))
    allocate (moved(3, 0:again(1) - 1, 0:again(2) - 1, 0:layers + sum(d)))
    call random_number(moved)
    moved = lattice%shake*h*(2*moved - 1)
    mesh%n = 0
    do n = 0, layers - 1
      do k = 0, again(2) - 1
        do j = 0, again(1) - 1
          mesh%n = mesh%n + 1
          call Element([n - lattice%b*j - lattice%c*k, j, k], d, edges, moved, mesh)
          call Faces(n, d, layers, mesh%face(:, mesh%n))
        end do
      end do
    end do
    mesh%brick = [(min(1 + 27*i, mesh%n + 1), i=0, (mesh%n + 26)/27)]
    allocate (mesh%rho(1, mesh%n), mesh%lambda(1, mesh%n), mesh%mu(1, mesh%n))
    mesh%rho = real(rho, sp)
    mesh%mu = real(rho*vs**2, sp)
    mesh%lambda = real(rho*vs**2*(lattice%ratio**2 - 2), sp)
    call ElementsNumber(mesh)
  end subroutine MakeMesh

  !> The three edges [m], turned so that all layers are level.
  function Turned(lattice)
    type(lattice_t), intent(in) :: lattice
    real(dp) :: Turned(3, 3), axis(3, 3)
    associate (e => lattice%edge)
      axis(3, :) = Unit(Cross(e(:, 2), e(:, 3)) + lattice%b*Cross(e(:, 3), e(:, 1)) + lattice%c*Cross(e(:, 1), e(:, 2)))
      axis(1, :) = Unit(Cross(axis(3, :), [0.3_dp, 0.5_dp, -0.8_dp]))
      axis(2, :) = Cross(axis(3, :), axis(1, :))
      Turned = h*matmul(axis, e)
    end associate
  end function Turned

  pure function Cross(u, v)
    real(dp), intent(in) :: u(3), v(3)
    real(dp) :: Cross(3)
    Cross = [u(2)*v(3) - u(3)*v(2), u(3)*v(1) - u(1)*v(3), u(1)*v(2) - u(2)*v(1)]
  end function Cross

  pure function Unit(u)
    real(dp), intent(in) :: u(3)
    real(dp) :: Unit(3)
    Unit = u/norm2(u)
  end function Unit

  !> The element whose lowest corner is i, j, k.
  subroutine Element(at, d, edges, moved, mesh)
    integer, intent(in) :: at(3), d(3)
    real(dp), intent(in) :: edges(3, 3)
    real(dp), intent(in) :: moved(:, 0:, 0:, 0:)
    type(elements_t), intent(inout) :: mesh
    integer :: n, ijk(3), here(3), again(2)
    again = [size(moved, 2), size(moved, 3)]
    do n = 1, 8
      ijk = at + (hex_node(:, n) + 1)/2
      here = [modulo(ijk(2:), again), dot_product(ijk, d)]
      mesh%corner(:, n, mesh%n) = matmul(edges, real(ijk, dp)) + moved(:, here(1), here(2), here(3))
      mesh%node(n, mesh%n) = 1 + here(1) + again(1)*(here(2) + again(2)*here(3))
    end do
  end subroutine Element

  !> Sides of an element in layer n; those without neighbour absorb.
  pure subroutine Faces(n, d, layers, face)
    integer, intent(in) :: n, d(3), layers
    integer, intent(out) :: face(6)
    integer :: side, axis
    face = face_inner
    do side = 1, 6
      do axis = 1, 3
        associate (end => hex_node(axis, hex_side(:, side)))
          if (all(end < 0) .and. n < d(axis) .or. all(end > 0) .and. n + d(axis) >= layers) face(side) = face_absorbs
        end associate
      end do
    end do
  end subroutine Faces

end program t878_sem_few_any_way
