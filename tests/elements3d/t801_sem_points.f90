!> Elements of a mesh in any order get the same order, neighbours, and numbers of points as their positions tell.
program t801_sem_points
  use check_m, only: Claim, Done
  use elements_m, only: elements_t, face_contact, face_free, face_inner, in_element, on_face
  use elements_points_m, only: ElementsNumber
  use hexahedron_m, only: HexPoints, hex_side, hex_side_point
  use kinds_m, only: dp
  use mesh_case_m, only: AnySeed, BoxMesh, Chance, MixMesh
  use mesh_m, only: mesh_t, MeshBeside, MeshOrder, MeshSort
  use text_m, only: Str
  implicit none
  character(:), allocatable :: from
  integer :: seed, trial
  seed = AnySeed()
  from = ' (seed '//Str(seed)//')'
  call Neighbours()
  call Bricks()
  call SameOrder()
  do trial = 1, 4
    call Points(trial)
  end do
  deallocate (from)
  call Done()

contains

  function AnyBox(per) result(mesh)
    integer, intent(in) :: per
    type(mesh_t) :: mesh
    integer :: n(3), a
    n = [(2 + int(Chance(0.0_dp, 5.0_dp)), a=1, 3)]
    mesh = BoxMesh(n, [100.0_dp, 80.0_dp, 60.0_dp], [-50.0_dp, 7.0e4_dp, 0.0_dp], 0.2_dp, per, 1 + int(Chance(0.0_dp, n(3) - 1.0_dp)))
    call MixMesh(mesh)
  end function AnyBox

  subroutine Neighbours()
    type(mesh_t) :: mesh
    integer, allocatable :: beside(:, :)
    real(dp), allocatable :: middle(:, :, :)
    integer :: e, s, f, t, wrong, expected
    mesh = AnyBox(8)
    call MeshBeside(mesh%node, beside)
    allocate (middle(3, 6, size(beside, 2)))
    do e = 1, size(beside, 2)
      do s = 1, 6
        middle(:, s, e) = sum(mesh%x(:, mesh%node(hex_side(:, s), e)), 2)/4
      end do
    end do
    wrong = 0
    do e = 1, size(beside, 2)
      do s = 1, 6
        expected = 0
        do f = 1, size(beside, 2)
          do t = 1, 6
            if (f /= e .and. norm2(middle(:, t, f) - middle(:, s, e)) < 1.0e-6_dp) expected = 6*(f - 1) + t
          end do
        end do
        if (beside(s, e) /= expected) wrong = wrong + 1
      end do
    end do
    call Claim(wrong == 0, 'neighbours of '//Str(size(beside, 2))//' elements: '//Str(wrong)//' other than by position, must be none'// &
      from)
  end subroutine Neighbours

  !> A regular box falls into full bricks of 4 x 4 x 4 in leaves of 2 x 2 x 2; any box into bricks of 64 or fewer.
  subroutine Bricks()
    type(mesh_t) :: mesh
    integer, allocatable :: order(:), brick(:)
    real(dp), allocatable :: at(:, :)
    integer :: b, e, l, bad
    mesh = BoxMesh([24, 8, 16], [50.0_dp, 40.0_dp, 30.0_dp], [0.0_dp, 0.0_dp, 0.0_dp], 0.2_dp, 8, 16)
    call MixMesh(mesh)
    call MeshOrder(mesh, spread(.false., 1, 24*8*16), order, brick)
    allocate (at(3, size(order)))
    do e = 1, size(order)
      at(:, e) = sum(mesh%x(:, mesh%node(:, order(e))), 2)/8/[50, 40, 30] + 0.5_dp
    end do
    bad = 0
    do b = 1, size(brick) - 1
      if (brick(b + 1) - brick(b) /= 64) bad = bad + 1
      bad = bad + Rough(at(:, brick(b):brick(b + 1) - 1), 4)
      do l = brick(b), brick(b + 1) - 8, 8
        bad = bad + Rough(at(:, l:l + 7), 2)
      end do
    end do
    call Claim(bad == 0 .and. size(brick) == 49, '24 x 8 x 16 elements are '//Str(size(brick) - 1)// &
      ' bricks of 64 in leaves of 8, all of them cubes but '//Str(bad)//from)
  end subroutine Bricks

  !> 1 unless these middles of elements are those of a cube with so many on each edge.
  integer function Rough(at, many)
    real(dp), intent(in) :: at(:, :)
    integer, intent(in) :: many
    integer :: span(3)
    span = maxval(nint(at), 2) - minval(nint(at), 2) + 1
    Rough = merge(0, 1, all(span == many))
  end function Rough

  !> The order of elements comes from where they are, not from how they were numbered.
  subroutine SameOrder()
    type(mesh_t) :: mesh, mixed
    integer, allocatable :: order(:), other(:), brick(:), brick2(:)
    logical, allocatable :: seen(:)
    real(dp) :: apart
    integer :: e
    logical :: good
    mesh = BoxMesh([7, 5, 9], [100.0_dp, 80.0_dp, 60.0_dp], [-50.0_dp, 7.0e4_dp, 0.0_dp], 0.2_dp, 8, 3)
    mixed = mesh
    call MixMesh(mixed)
    call MeshOrder(mesh, mesh%block == 1, order, brick)
    call MeshOrder(mixed, mixed%block == 1, other, brick2)
    good = size(brick) == size(brick2)
    if (good) good = all(brick == brick2) .and. all(brick(2:) - brick(:size(brick) - 1) <= 64)
    call MeshSort(mesh, order)
    call MeshSort(mixed, other)
    allocate (seen(size(order)), source=.false.)
    seen(mesh%number) = .true.
    apart = 0
    do e = 1, size(order)
      apart = max(apart, norm2(sum(mesh%x(:, mesh%node(:, e)), 2) - sum(mixed%x(:, mixed%node(:, e)), 2)))
    end do
    e = count(mesh%block == 2)
    call Claim(good .and. apart < 1.0e-6_dp .and. all(seen), &
      'renumbered at random, 315 elements get the order they had: middles '//Str(apart/8, 2)//' m apart, must be 1e-6'//from)
    good = all(mesh%block(:e) == 2) .and. all(mesh%block(e + 1:) == 1) .and. any(brick == e + 1)
    call Claim(good, 'solid comes first, and no brick has both solid and fluid')
  end subroutine SameOrder

  !> Numbers of points against their positions, in boxes of which none, a part or all is fluid.
  subroutine Points(trial)
    integer, intent(in) :: trial
    type(mesh_t) :: mesh
    type(elements_t) :: elements
    integer, allocatable :: order(:), brick(:)
    real(dp), allocatable :: x(:, :, :), place(:, :)
    logical, allocatable :: fluid(:)
    character(:), allocatable :: what
    real(dp) :: apart
    integer :: e, p, c, distinct
    mesh = AnyBox(merge(8, 27, trial < 3))
    fluid = mesh%block == 1
    if (trial == 1) fluid = .false.
    if (trial == 4) fluid = .true.
    call MeshOrder(mesh, fluid, order, brick)
    call MeshSort(mesh, order)
    elements%n = size(order)
    elements%solid = count(.not. fluid)
    elements%per = mesh%per
    elements%node = mesh%node(:8, :)
    elements%brick = brick
    allocate (elements%face(6, elements%n), source=face_free)
    call ElementsNumber(elements)
    what = Str(elements%n)//' elements, '//Str(elements%n - elements%solid)//' of fluid, '//Str(mesh%per)//' nodes: '
    allocate (x(3, in_element, elements%n), place(3, elements%points), source=huge(1.0_dp))
    apart = 0
    do e = 1, elements%n
      call HexPoints(mesh%x(:, mesh%node(:, e)), x(:, :, e))
      do p = 1, in_element
        associate (here => place(:, elements%at(p, e)))
          if (here(1) > 1.0e300_dp) here = x(:, p, e)
          apart = max(apart, norm2(here - x(:, p, e)))
        end associate
      end do
    end do
    call Claim(apart < 1.0e-7_dp .and. all(place < 1.0e300_dp), what//'points of one number are at one place to '//Str(apart, 2)// &
      ' m, must be 1e-7, and each number is one'//from)
    distinct = Places(place(:, :elements%solid_points)) + Places(place(:, elements%solid_points + 1:))
    call Claim(distinct == elements%points, what//Str(elements%points)//' points at '//Str(distinct)//' places of either phase')
    call Claim(all(elements%at(:, :elements%solid) <= elements%solid_points) .and. &
      all(elements%at(:, elements%solid + 1:) > elements%solid_points), what//'points of solid come first')
    call Inner(elements, what)
    apart = 0
    do c = 1, size(elements%contact, 2)
      associate (f => elements%contact(1, c), s => elements%contact(2, c))
        apart = max(apart, maxval(abs(x(:, hex_side_point(:, s), f) - place(:, elements%partner(:, c)))))
      end associate
    end do
    call Claim(apart < 1.0e-7_dp .and. all(elements%partner <= elements%solid_points) .and. all(elements%partner > 0), &
      what//Str(size(elements%contact, 2))//' contacts join points '//Str(apart, 2)//' m apart, must be 1e-7')
    call Sides(elements, x, what)
  end subroutine Points

  !> Number of distinct places, by their coordinates alone.
  integer function Places(x)
    real(dp), intent(in) :: x(:, :)
    integer :: i, j
    logical, allocatable :: again(:)
    allocate (again(size(x, 2)), source=.false.)
    do i = 1, size(x, 2)
      if (again(i)) cycle
      do j = i + 1, size(x, 2)
        if (abs(x(1, j) - x(1, i)) > 1.0e-4_dp) cycle
        if (maxval(abs(x(:, j) - x(:, i))) < 1.0e-4_dp) again(j) = .true.
      end do
    end do
    Places = count(.not. again)
  end function Places

  !> Points that one brick alone has come first, brick after brick; then shared ones, each first touched later than the one before.
  subroutine Inner(elements, what)
    type(elements_t), intent(in) :: elements
    character(*), intent(in) :: what
    integer :: brick_of(elements%points), touch(elements%points), b, e, p, i, first, phase
    logical :: good, shared
    brick_of = 0
    touch = 0
    do b = 1, size(elements%brick) - 1
      do e = elements%brick(b), elements%brick(b + 1) - 1
        do p = 1, in_element
          i = elements%at(p, e)
          if (touch(i) == 0) touch(i) = in_element*e + p
          if (brick_of(i) == 0) brick_of(i) = b
          if (brick_of(i) /= b) brick_of(i) = huge(b)
        end do
      end do
    end do
    good = .true.
    do phase = 1, 2
      first = merge(1, elements%solid_points + 1, phase == 1)
      shared = .false.
      do i = first + 1, merge(elements%solid_points, elements%points, phase == 1)
        good = good .and. brick_of(i) >= brick_of(i - 1)
        if (brick_of(i) == brick_of(i - 1)) good = good .and. touch(i) > touch(i - 1)
      end do
    end do
    call Claim(good, what//'points inside bricks are contiguous, shared ones behind, in the order of first touch')
  end subroutine Inner

  !> Kinds of sides: free where the caller said so and nothing else is there.
  subroutine Sides(elements, x, what)
    type(elements_t), intent(in) :: elements
    real(dp), intent(in) :: x(:, :, :)
    character(*), intent(in) :: what
    integer :: e, s, f, t, expected, wrong
    wrong = 0
    do e = 1, elements%n
      do s = 1, 6
        expected = face_free
        do f = 1, elements%n
          do t = 1, 6
            if (f == e .or. norm2(sum(x(:, hex_side_point(:, t), f) - x(:, hex_side_point(:, s), e), 2))/on_face > 1.0e-4_dp) cycle
            expected = merge(face_inner, face_contact, (f <= elements%solid) .eqv. (e <= elements%solid))
          end do
        end do
        if (elements%face(s, e) /= expected) wrong = wrong + 1
      end do
    end do
    call Claim(wrong == 0, what//Str(wrong)//' sides of the wrong kind, must be none')
  end subroutine Sides

end program t801_sem_points
