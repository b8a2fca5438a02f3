!> Boxes of spectral elements for tests of the time loop: nodes moved at random, elements turned at random, fluid over solid, sides
!> that are free, absorb, or meet the opposite side (periodic).
module semcase_m
  use check_m, only: Claim
  use elements_m, only: elements_t, face_free, face_inner, in_element, tensor_numbers
  use elements_points_m, only: ElementsNumber
  use elements_tensors_m, only: TensorsSet
  use error_m, only: error_t
  use hexahedron_m, only: hex_node, hex_side, HexPoints
  use kinds_m, only: dp, sp
  use sem3d_engine_m, only: sem3d_engine_t, sem3d_grid_t, sem3d_ways_t, Sem3dGrid
  use sem3d_variants_m, only: Sem3dEngineNew
  implicit none
  private
  public :: semcase_t, SemBox, SemEngine, SemFine, SemPlaces, SemRelative

  integer, parameter, public :: periodic = -1

  type :: semcase_t
    integer :: n(3) = 4                      !< elements along x, y, z
    integer :: water = 0                     !< of which so many along z, from the top, are fluid
    real(dp) :: size(3) = 4000               !< [m]
    real(dp) :: shake = 0                    !< of a node, of the distance to the next
    logical :: turn = .false.                !< elements are turned at random
    integer :: side(6) = face_free           !< x low, x high, y low, y high, top, bottom: a kind, or periodic
    integer :: brick(3) = 2                  !< elements of a brick along x, y, z
    integer :: media = 1                     !< numbers of a medium: 1, or 125
    integer :: per = 8                       !< nodes of an element; 27: its sides bend
    real(dp) :: rho = 2500, vp = 4000, vs = 2300, rho_water = 1000, vp_water = 1500
    real(dp) :: vary = 0                     !< media vary by up to this share
    integer :: tensors = 0                   !< anisotropic media of 21 constants at random; a solid element has one of them or none
  end type semcase_t

contains

  subroutine SemBox(c, mesh)
    type(semcase_t), intent(in) :: c
    type(elements_t), intent(out) :: mesh
    real(dp), allocatable :: x(:, :, :, :)
    integer :: phase, from(3), i, j, k
    call Nodes(c, x)
    mesh%per = c%per
    mesh%n = product(c%n)
    mesh%solid = mesh%n - c%n(1)*c%n(2)*c%water
    allocate (mesh%corner(3, c%per, mesh%n), mesh%node(8, mesh%n), mesh%face(6, mesh%n), mesh%brick(1))
    mesh%brick = 1
    mesh%n = 0
    do phase = 1, 2                                                     ! solid, fluid
      do k = 0, c%n(3) - 1, c%brick(3)
        do j = 0, c%n(2) - 1, c%brick(2)
          do i = 0, c%n(1) - 1, c%brick(1)
            from = [i, j, k]
            call Brick(c, x, from, min(from + c%brick, c%n) - 1, phase, mesh)
          end do
        end do
      end do
    end do
    call ElementsNumber(mesh)
    call Media(c, mesh)
    if (c%tensors > 0) call Tensors(c%tensors, mesh)
  end subroutine SemBox

  !> Places of nodes, of sides and middles too, in steps of half an element. Those on sides stay there.
  subroutine Nodes(c, x)
    type(semcase_t), intent(in) :: c
    real(dp), allocatable, intent(out) :: x(:, :, :, :)
    real(dp) :: away(3), h(3)
    integer :: at(3), last(3), i, j, k
    last = 2*c%n
    h = c%size/last
    allocate (x(3, 0:last(1), 0:last(2), 0:last(3)))
    do k = 0, last(3)
      do j = 0, last(2)
        do i = 0, last(1)
          at = [i, j, k]
          call random_number(away)
          where (at == 0 .or. at == last) away = 0.5_dp
          x(:, i, j, k) = h*(at + 2*c%shake*(2*away - 1)*merge(1, 0, c%per == 27 .or. all(modulo(at, 2) == 0)))
        end do
      end do
    end do
    if (c%side(1) == periodic) then
      x(:, last(1), :, :) = x(:, 0, :, :)
      x(1, last(1), :, :) = c%size(1)
    end if
    if (c%side(3) == periodic) then
      x(:, :, last(2), :) = x(:, :, 0, :)
      x(2, :, last(2), :) = c%size(2)
    end if
  end subroutine Nodes

  subroutine Brick(c, x, first, last, phase, mesh)
    type(semcase_t), intent(in) :: c
    real(dp), intent(in) :: x(:, 0:, 0:, 0:)
    integer, intent(in) :: first(3), last(3), phase
    type(elements_t), intent(inout) :: mesh
    integer :: i, j, k, before
    before = mesh%n
    do k = first(3), last(3)
      if (k < c%water .neqv. phase == 2) cycle
      do j = first(2), last(2)
        do i = first(1), last(1)
          mesh%n = mesh%n + 1
          call Element(c, x, [i, j, k], mesh)
        end do
      end do
    end do
    if (mesh%n > before) mesh%brick = [mesh%brick, mesh%n + 1]
  end subroutine Brick

  subroutine Element(c, x, at, mesh)
    type(semcase_t), intent(in) :: c
    real(dp), intent(in) :: x(:, 0:, 0:, 0:)
    integer, intent(in) :: at(3)
    type(elements_t), intent(inout) :: mesh
    integer :: turned(3, 3), a, h(3), corner(3, 8), side, axis, low(4)
    turned = reshape([1, 0, 0, 0, 1, 0, 0, 0, 1], [3, 3])
    if (c%turn) call Turn(turned)
    do a = 1, c%per
      h = 2*at + 1 + matmul(turned, hex_node(:, a))
      mesh%corner(:, a, mesh%n) = x(:, h(1), h(2), h(3))
      if (a > 8) cycle
      h = h/2
      corner(:, a) = h
      if (c%side(1) == periodic) h(1) = modulo(h(1), c%n(1))
      if (c%side(3) == periodic) h(2) = modulo(h(2), c%n(2))
      mesh%node(a, mesh%n) = 1 + h(1) + (c%n(1) + 1)*(h(2) + (c%n(2) + 1)*h(3))
    end do
    mesh%face(:, mesh%n) = face_inner
    do side = 1, 6
      do axis = 1, 3
        low = corner(axis, hex_side(:, side))
        if (all(low == 0)) mesh%face(side, mesh%n) = max(face_inner, c%side(2*axis - 1))
        if (all(low == c%n(axis))) mesh%face(side, mesh%n) = max(face_inner, c%side(2*axis))
      end do
    end do
  end subroutine Element

  !> One of the 24 rotations of a cube.
  subroutine Turn(turned)
    integer, intent(inout) :: turned(3, 3)
    integer, parameter :: about_z(3, 3) = reshape([0, 1, 0, -1, 0, 0, 0, 0, 1], [3, 3]), &
                          about_x(3, 3) = reshape([1, 0, 0, 0, 0, 1, 0, -1, 0], [3, 3])
    real(dp) :: r
    integer :: n
    do n = 1, 12
      call random_number(r)
      turned = matmul(merge(about_z, about_x, r < 0.5_dp), turned)
    end do
  end subroutine Turn

  subroutine Media(c, mesh)
    type(semcase_t), intent(in) :: c
    type(elements_t), intent(inout) :: mesh
    real(dp) :: r(3), rho, vp, vs
    integer :: e, p
    allocate (mesh%rho(c%media, mesh%n), mesh%lambda(c%media, mesh%n), mesh%mu(c%media, mesh%n))
    do e = 1, mesh%n
      do p = 1, c%media
        call random_number(r)
        r = 1 + c%vary*(2*r - 1)
        rho = r(1)*merge(c%rho, c%rho_water, e <= mesh%solid)
        vp = r(2)*merge(c%vp, c%vp_water, e <= mesh%solid)
        vs = r(3)*merge(c%vs, 0.0_dp, e <= mesh%solid)
        mesh%rho(p, e) = real(rho, sp)
        mesh%mu(p, e) = real(rho*vs**2, sp)
        mesh%lambda(p, e) = real(rho*(vp**2 - 2*vs**2), sp)
      end do
    end do
  end subroutine Media

  !> Random constants that are up to 0.16 of mu away from isotropic ones: those of a row by less than mu in all, so that the matrix is
  !> positive. Speeds are those at first points of elements: to find them at all points takes longer than the tests that come here.
  subroutine Tensors(media, mesh)
    integer, intent(in) :: media
    type(elements_t), intent(inout) :: mesh
    real(sp) :: relative(tensor_numbers, media)
    real(dp) :: r
    integer :: tensor(mesh%n), e
    type(elements_t) :: first
    call random_number(relative)
    relative = 0.16_sp*(2*relative - 1)
    tensor = 0
    do e = 1, mesh%solid
      call random_number(r)
      tensor(e) = int(r*(media + 1))
    end do
    tensor(1) = 1
    first%solid = mesh%solid
    first%rho = mesh%rho(:1, :)
    first%lambda = mesh%lambda(:1, :)
    first%mu = mesh%mu(:1, :)
    call TensorsSet(first, tensor, relative)
    mesh%tensor = first%tensor
    mesh%relative = first%relative
    mesh%speeds = first%speeds
  end subroutine Tensors

  !> An engine of a variant with these elements; with shares (mechanisms, media, solid) of moduli that relax.
  subroutine SemEngine(variant, mesh, dt, threads, engine, tau, bulk, shear, relaxing, sum, resident, room, ways)
    character(*), intent(in) :: variant
    type(elements_t), intent(in) :: mesh
    real(dp), intent(in) :: dt
    integer, intent(in) :: threads
    class(sem3d_engine_t), allocatable, intent(out) :: engine
    real(sp), intent(in), optional :: tau(:), bulk(:, :, :), shear(:, :, :)
    integer, intent(in), optional :: relaxing             !< points of an element that have memory variables
    integer, intent(in), optional :: sum                  !< of forces, as in sem3d_grid_t
    integer, intent(in), optional :: resident             !< likewise
    real(dp), intent(in), optional :: room                !< likewise
    type(sem3d_ways_t), intent(in), optional :: ways      !< to other pieces of the mesh
    type(sem3d_grid_t) :: grid
    type(error_t), allocatable :: error
    call Sem3dEngineNew(variant, engine, error)
    grid = Sem3dGrid(mesh)
    grid%dt = dt
    grid%threads = threads
    if (present(tau)) grid%mechanisms = size(tau)
    if (present(bulk)) grid%shares = size(bulk, 2)
    if (present(relaxing)) grid%relaxing = relaxing
    if (present(sum)) grid%sum = sum
    if (present(resident)) grid%resident = resident
    if (present(room)) grid%room = room
    if (present(ways)) grid%piece = ways%piece
    if (.not. allocated(error)) call engine%new(grid, error)
    if (present(ways) .and. .not. allocated(error)) call engine%ways(ways, error)
    if (.not. allocated(error)) call engine%elements(mesh, error)
    if (present(tau) .and. .not. allocated(error)) call engine%quality(tau, bulk, shear, error)
    call SemFine(error, 'engine '//variant)
  end subroutine SemEngine

  !> Ends the test where something failed.
  subroutine SemFine(error, what)
    type(error_t), allocatable, intent(in) :: error
    character(*), intent(in) :: what
    if (.not. allocated(error)) return
    call Claim(.false., what//': '//error%message)
    error stop 1
  end subroutine SemFine

  !> Places of all points [m].
  subroutine SemPlaces(mesh, x)
    type(elements_t), intent(in) :: mesh
    real(dp), allocatable, intent(out) :: x(:, :)
    real(dp) :: own(3, in_element)
    integer :: e
    allocate (x(3, mesh%points))
    do e = 1, mesh%n
      call HexPoints(mesh%corner(:, :, e), own)
      x(:, mesh%at(:, e)) = own
    end do
  end subroutine SemPlaces

  !> Relative difference of two sets of numbers, rms.
  pure real(dp) function SemRelative(a, b)
    real(sp), intent(in) :: a(:), b(:)
    SemRelative = sqrt(sum((real(a, dp) - b)**2)/max(sum(real(b, dp)**2), tiny(1.0_dp)))
  end function SemRelative

end module semcase_m
