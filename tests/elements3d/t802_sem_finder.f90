!> The element of any place is found: inside, on faces, edges and corners by rule, outside with the distance; in coordinates of maps, which
!> round to a nanometre, as well; and the ground above it.
program t802_sem_finder
  use check_m, only: Claim, Done
  use element_finder_m, only: finder_t, FinderFind, FinderMake
  use elements_m, only: elements_t, face_free, face_inner
  use hexahedron_m, only: HexAt, HexFind, HexNearest
  use kinds_m, only: dp
  use mesh_case_m, only: AnySeed, BoxMesh, Chance, MixMesh
  use mesh_ground_m, only: ground_t, GroundAt, GroundMake
  use mesh_m, only: mesh_t, MeshBeside, MeshOrder, MeshSort
  use text_m, only: Str
  implicit none
  character(:), allocatable :: from
  integer :: seed
  seed = AnySeed()
  from = ' (seed '//Str(seed)//')'
  call Inside(8, .true.)
  call Inside(27, .true.)
  call Inside(8, .false.)
  call Beyond(8)
  call Beyond(27)
  call OneElement()
  call OnMaps(8)
  call OnMaps(27)
  deallocate (from)
  call Done()

contains

  !> Corners of the elements of a box of 1 km, put in order or not.
  subroutine Corners(per, sorted, corner)
    integer, intent(in) :: per
    logical, intent(in) :: sorted
    real(dp), allocatable, intent(out) :: corner(:, :, :)
    type(mesh_t) :: mesh
    integer, allocatable :: order(:), brick(:)
    integer :: e
    mesh = BoxMesh([10, 8, 9], [100.0_dp, 125.0_dp, 110.0_dp], [4.0e5_dp, 3.0e5_dp, -200.0_dp], 0.2_dp, per, 4)
    call MixMesh(mesh)
    if (sorted) then
      call MeshOrder(mesh, mesh%block == 1, order, brick)
      call MeshSort(mesh, order)
    end if
    allocate (corner(3, per, size(mesh%node, 2)))
    do e = 1, size(mesh%node, 2)
      corner(:, :, e) = mesh%x(:, mesh%node(:, e))
    end do
  end subroutine Corners

  !> Random places of random elements, half of them on faces, edges or corners.
  subroutine Inside(per, sorted)
    integer, intent(in) :: per
    logical, intent(in) :: sorted
    real(dp), allocatable :: corner(:, :, :)
    type(finder_t) :: finder
    real(dp) :: xi(3), back(3), x(3), away, off, worst
    integer :: trial, e, f, lowest, element, lost, shared
    logical :: found
    call Corners(per, sorted, corner)
    call FinderMake(finder, corner)
    worst = 0
    lost = 0
    shared = 0
    do trial = 1, 2000
      e = 1 + int(Chance(0.0_dp, real(size(corner, 3), dp)))
      do f = 1, 3
        xi(f) = max(-1.0_dp, min(1.0_dp, Chance(-1.5_dp, 1.5_dp)))
      end do
      x = HexAt(corner(:, :, e), xi)
      call FinderFind(finder, corner, x, element, back, away)
      lowest = e
      do f = 1, e - 1                                     ! by looking at all
        if (any(x < minval(corner(:, :, f), 2) - 20) .or. any(x > maxval(corner(:, :, f), 2) + 20)) cycle
        call HexFind(corner(:, :, f), x, back, found)
        off = maxval(abs(back)) - 1
        if (.not. found .or. off > 1.0e-8_dp) cycle
        lowest = f
        exit
      end do
      if (lowest < e) shared = shared + 1
      call FinderFind(finder, corner, x, element, back, away)
      if (element /= lowest .or. away > 0) lost = lost + 1
      if (element > 0) worst = max(worst, norm2(HexAt(corner(:, :, element), back) - x))
    end do
    call Claim(lost == 0 .and. shared > 100, Str(per)//' nodes: 2000 places, '//Str(shared)//' of them also in an element before, '// &
      Str(lost)//' not in the first of their elements, must be none'//from)
    call Claim(worst < 1.0e-5_dp, Str(per)//' nodes: found places are '//Str(worst, 2)//' m off, must be 1e-5 (1e-7 of an element)')
  end subroutine Inside

  !> Places around the box: as far from the nearest element as from any; just outside: moved in.
  subroutine Beyond(per)
    integer, intent(in) :: per
    real(dp), allocatable :: corner(:, :, :)
    type(finder_t) :: finder
    real(dp) :: xi(3), x(3), away, nearest, other, worst
    integer :: trial, e, element, inside_
    call Corners(per, .true., corner)
    call FinderMake(finder, corner)
    worst = 0
    inside_ = 0
    do trial = 1, 12
      x = [4.0e5_dp, 3.0e5_dp, -200.0_dp] + [Chance(-300.0_dp, 1300.0_dp), Chance(-300.0_dp, 1300.0_dp), Chance(-300.0_dp, -40.0_dp)]
      call FinderFind(finder, corner, x, element, xi, away)
      nearest = huge(nearest)
      do e = 1, size(corner, 3)
        if (norm2(corner(:, 1, e) - x) > away + 500) cycle
        call HexNearest(corner(:, :, e), x, xi, other)
        nearest = min(nearest, other)
      end do
      worst = max(worst, abs(away - nearest))
      if (away <= 10 .or. element < 1) inside_ = inside_ + 1
    end do
    call Claim(worst < 1.0e-6_dp .and. inside_ == 0, Str(per)//' nodes: distances of 12 places outside to '//Str(worst, 2)// &
      ' m, must be 1e-6'//from)
    x = sum(corner(:, :, 1), 2)/per
    e = 0
    do trial = 1, 6
      x = HexAt(corner(:, :, 1), [0.3_dp, 0.2_dp, -0.1_dp])
      call FinderFind(finder, corner, x + [0.0_dp, 0.0_dp, -1.0e5_dp], element, xi, away)
      x = HexAt(corner(:, :, element), xi)                ! on the outermost side
      call FinderFind(finder, corner, x + [0.0_dp, 0.0_dp, -1.0e-5_dp], element, xi, away)
      if (away > 0) e = e + 1
      call FinderFind(finder, corner, x + [0.0_dp, 0.0_dp, -1.0e-2_dp], element, xi, away)
      if (abs(away - 1.0e-2_dp) > 5.0e-3_dp) e = e + 1
    end do
    call Claim(e == 0, Str(per)//' nodes: 1e-5 m above the top is in the element, 1e-2 m is outside by that much')
  end subroutine Beyond

  subroutine OneElement()
    type(finder_t) :: finder
    type(mesh_t) :: mesh
    real(dp) :: corner(3, 8, 1), none(3, 8, 0), xi(3), away
    integer :: element
    mesh = BoxMesh([1, 1, 1], [2.0_dp, 2.0_dp, 2.0_dp], [-1.0_dp, -1.0_dp, -1.0_dp], 0.0_dp, 8, 1)
    corner(:, :, 1) = mesh%x(:, mesh%node(:, 1))
    call FinderMake(finder, corner)
    call FinderFind(finder, corner, [0.5_dp, -0.25_dp, 1.0_dp], element, xi, away)
    call Claim(element == 1 .and. maxval(abs(xi - [0.5_dp, -0.25_dp, 1.0_dp])) < 1.0e-12_dp .and. away == 0, 'one element has its places')
    call FinderFind(finder, corner, [3.0_dp, -0.25_dp, 2.0_dp], element, xi, away)
    call Claim(element == 1 .and. abs(away - sqrt(5.0_dp)) < 1.0e-12_dp .and. maxval(abs(xi - [1.0_dp, -0.25_dp, 1.0_dp])) < 1.0e-6_dp, &
      'from outside the nearest of them, '//Str(away, 8)//' m away')
    call FinderMake(finder, none)
    call FinderFind(finder, none, [3.0_dp, -0.25_dp, 2.0_dp], element, xi, away)
    call Claim(element == 0, 'no element has a place of none')
  end subroutine OneElement

  !> Random places in, and on the ground of, a box of distorted elements of 0.2 to 1 m, 500 km east and 5000 km north.
  subroutine OnMaps(per)
    integer, intent(in) :: per
    type(elements_t) :: elements
    type(mesh_t) :: mesh
    type(finder_t) :: finder
    type(ground_t) :: ground
    integer, allocatable :: beside(:, :)
    real(dp) :: low(3), size_of, x(3), xi(3), away, depth, worst
    integer :: trial, element, e, lost, groundless
    size_of = Chance(0.2_dp, 1.0_dp)
    low = [5.0e5_dp + Chance(0.0_dp, 1.0_dp), 5.0e6_dp + Chance(0.0_dp, 1.0_dp), -2.0_dp]
    mesh = BoxMesh([6, 6, 4], spread(size_of, 1, 3), low, 0.1_dp, per, 4)
    elements%n = size(mesh%node, 2)
    elements%solid = elements%n
    elements%corner = reshape([(mesh%x(:, mesh%node(:, e)), e=1, elements%n)], [3, per, elements%n])
    call MeshBeside(mesh%node, beside)
    elements%face = merge(face_inner, face_free, beside > 0)
    call FinderMake(finder, elements%corner)
    call GroundMake(elements, .false., ground)
    lost = 0
    groundless = 0
    worst = 0
    do trial = 1, 1000
      x = low + size_of*[Chance(0.5_dp, 5.5_dp), Chance(0.5_dp, 5.5_dp), Chance(0.5_dp, 3.5_dp)]
      call FinderFind(finder, elements%corner, x, element, xi, away)
      if (element == 0 .or. away > 0) lost = lost + 1
      if (element > 0) worst = max(worst, norm2(HexAt(elements%corner(:, :, element), xi) - x))
      call GroundAt(ground, elements%corner, x(1), x(2), element, xi, depth)
      if (element == 0) groundless = groundless + 1
      if (element == 0) cycle
      worst = max(worst, norm2(HexAt(elements%corner(:, :, element), xi) - [x(1), x(2), depth]))
      call FinderFind(finder, elements%corner, [x(1), x(2), depth], element, xi, away)
      if (element == 0 .or. away > 0) lost = lost + 1
    end do
    call Claim(lost == 0 .and. groundless == 0 .and. worst < 1.0e-6_dp*size_of, Str(per)//' nodes: of 1000 places in elements of '// &
      Str(size_of, 2)//' m at y = 5e6 m, and on their ground, '//Str(lost)//' are outside, '//Str(groundless)//' have no ground, others are '// &
      Str(worst, 2)//' m off, must be none and 1e-6 of an element'//from)
  end subroutine OnMaps

end program t802_sem_finder
