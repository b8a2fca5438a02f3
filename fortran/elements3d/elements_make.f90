!> Elements from a mesh and the media of its blocks: their order, the kinds of their sides, moduli.
module elements_make_m
  use elements_m, only: elements_t, in_element, face_absorbs, face_contact, face_free, face_inner, looks_up
  use elements_tensors_m, only: SlowestIn, TensorsSet
  use hexahedron_m, only: hex_side, HexEdges
  use joined_m, only: First, Join
  use kinds_m, only: dp, sp
  use materials_m, only: material_bulk, material_rho, material_shear, material_vp, material_vs
  use mesh_m, only: mesh_t, MeshBeside, MeshOrder
  use text_m, only: Lower
  implicit none
  private
  public :: counts_t, ElementsMake, ElementsSlowest

  !> Sides of elements by their kind.
  type :: counts_t
    integer :: free = 0, absorbs = 0, contacts = 0
    integer :: unnamed = 0                        !< of the free and the absorbing ones: no side set tells
    integer :: inside = 0                         !< of those that side sets tell: they lie between elements, and are neither
    integer :: both = 0                           !< side sets tell that they are free and absorb
    integer :: hollow = 0                         !< of the unnamed ones: they lie around hollows inside of the mesh,
    real(dp) :: hollow_at(3) = 0                  !< the first of them here [m]
  end type counts_t


contains

  !> The elements of a mesh, without points, and their numbers in its file. part: of materials_m, (material_parts, blocks). wet:
  !> which
  !> elements of the mesh are fluid, whatever `part` says; those of solid and fluid then have room for a medium at each point, and
  !> `places`, which element of the mesh each is, is told too. relative: of anisotropic blocks, else 0, (aniso_constants, blocks).
  subroutine ElementsMake(mesh, part, elements, number, counts, wet, places, relative)
    type(mesh_t), intent(in) :: mesh
    real(dp), intent(in) :: part(:, :)
    type(elements_t), intent(out) :: elements
    integer, allocatable, intent(out) :: number(:)
    type(counts_t), intent(out) :: counts
    logical, intent(in), optional :: wet(:)
    integer, allocatable, intent(out), optional :: places(:)
    real(dp), intent(in), optional :: relative(:, :)
    integer, allocatable :: order(:), named(:, :)
    integer :: both
    logical :: fluid(size(mesh%block))
    integer :: i, e, media
    fluid = .not. part(material_vs, mesh%block) > 0
    media = 1
    if (present(wet)) then
      fluid = wet
      media = in_element
    end if
    call MeshOrder(mesh, fluid, order, elements%brick)
    elements%n = size(order)
    elements%solid = count(.not. fluid)
    elements%per = mesh%per
    associate (n => elements%n)
      allocate (elements%corner(3, mesh%per, n), elements%node(8, n), elements%rho(media, n), elements%lambda(media, n), &
                elements%mu(media, n), elements%loss(2, n))
    end associate
    do i = 1, elements%n
      e = order(i)
      elements%corner(:, :, i) = mesh%x(:, mesh%node(:, e))
      elements%node(:, i) = mesh%node(:8, e)
      associate (m => part(:, mesh%block(e)))
        elements%rho(:, i) = real(m(material_rho), sp)
        elements%loss(:, i) = real(m(material_bulk:material_shear), sp)
        if (.not. m(material_vs) > 0) elements%loss(:, i) = 0
        elements%mu(:, i) = real(m(material_rho)*m(material_vs)**2, sp)
        elements%lambda(:, i) = real(m(material_rho)*(m(material_vp)**2 - 2*m(material_vs)**2), sp)
      end associate
    end do
    if (present(relative)) call Anisotropic(elements, mesh%block(order), relative)
    number = mesh%number(order)
    if (present(places)) places = order
    call NamedSides(mesh, order, named, both)
    call Sides(elements, named, counts)
    counts%both = both
  end subroutine ElementsMake

  !> The media of anisotropic blocks; block: of each element.
  subroutine Anisotropic(elements, block, relative)
    type(elements_t), intent(inout) :: elements
    integer, intent(in) :: block(:)
    real(dp), intent(in) :: relative(:, :)
    integer :: number(size(relative, 2)), b, n
    n = 0
    number = 0
    do b = 1, size(relative, 2)
      if (.not. any(abs(relative(:, b)) > 0)) cycle
      n = n + 1
      number(b) = n
    end do
    if (n > 0) call TensorsSet(elements, number(block), real(relative(:, pack([(b, b=1, size(number))], number > 0)), sp))
  end subroutine Anisotropic

  !> The kinds of sides that side sets tell by their names, (6, elements); face_inner: none tells. both: so many are told to be
  !> both.
  subroutine NamedSides(mesh, order, kind, both)
    type(mesh_t), intent(in) :: mesh
    integer, intent(in) :: order(:)
    integer, allocatable, intent(out) :: kind(:, :)
    integer, intent(out) :: both
    integer :: place(size(order)), s, i, what
    logical :: absorbs
    place(order) = [(i, i=1, size(order))]
    allocate (kind(6, size(order)), source=face_inner)
    both = 0
    do s = 1, size(mesh%sets)
      what = face_inner
      absorbs = index(Lower(mesh%sets(s)%name), 'abs') > 0
      if (absorbs) what = face_absorbs
      if (index(Lower(mesh%sets(s)%name), 'free') > 0) what = face_free
      if (what == face_inner) cycle
      do i = 1, size(mesh%sets(s)%element)
        associate (k => kind(mesh%sets(s)%side(i), place(mesh%sets(s)%element(i))))
          if (absorbs .and. what == face_free .or. k /= face_inner .and. k /= what) both = both + 1
          k = what
        end associate
      end do
    end do
  end subroutine NamedSides

  !> Kinds of all sides: those where elements meet are inner or contacts.
  subroutine Sides(elements, named, counts)
    type(elements_t), intent(inout) :: elements
    integer, intent(in) :: named(:, :)
    type(counts_t), intent(out) :: counts
    integer, allocatable :: beside(:, :)
    integer :: e, s
    logical :: fluid, other
    call MeshBeside(elements%node, beside)
    allocate (elements%face(6, elements%n), source=face_inner)
    do e = 1, elements%n
      do s = 1, 6
        if (beside(s, e) > 0) then
          fluid = e > elements%solid
          other = (beside(s, e) - 1)/6 + 1 > elements%solid
          if (fluid .neqv. other) elements%face(s, e) = face_contact
          if (fluid .and. .not. other) counts%contacts = counts%contacts + 1
          if (named(s, e) /= face_inner) counts%inside = counts%inside + 1
          cycle
        end if
        elements%face(s, e) = named(s, e)
        if (named(s, e) == face_inner) then
          counts%unnamed = counts%unnamed + 1
          elements%face(s, e) = merge(face_free, face_absorbs, Up(elements%corner(:, hex_side(:, s), e)) > looks_up)
        end if
        if (elements%face(s, e) == face_free) counts%free = counts%free + 1
        if (elements%face(s, e) == face_absorbs) counts%absorbs = counts%absorbs + 1
      end do
    end do
    call Hollows(elements, named, beside, counts)
  end subroutine Sides

  !> Outer sides that hang together by their corners are a surface; those not on that of the node farthest along x lie inside.
  subroutine Hollows(elements, named, beside, counts)
    type(elements_t), intent(in) :: elements
    integer, intent(in) :: named(:, :), beside(:, :)
    type(counts_t), intent(inout) :: counts
    integer, allocatable :: surface(:)
    real(dp) :: farthest
    integer :: e, s, c, n, outside
    allocate (surface, source=[(n, n=1, maxval(elements%node))])
    farthest = -huge(farthest)
    outside = 1
    do e = 1, elements%n
      do s = 1, 6
        if (beside(s, e) > 0) cycle
        do c = 1, 4
          n = hex_side(c, s)
          call Join(surface, elements%node(hex_side(1, s), e), elements%node(n, e))
          if (elements%corner(1, n, e) <= farthest) cycle
          farthest = elements%corner(1, n, e)
          outside = elements%node(n, e)
        end do
      end do
    end do
    call First(surface, outside, n)
    outside = n
    do e = 1, elements%n
      do s = 1, 6
        if (beside(s, e) > 0 .or. named(s, e) /= face_inner) cycle
        call First(surface, elements%node(hex_side(1, s), e), n)
        if (n == outside) cycle
        if (counts%hollow == 0) counts%hollow_at = sum(elements%corner(:, hex_side(:, s), e), 2)/4
        counts%hollow = counts%hollow + 1
      end do
    end do
  end subroutine Hollows

  !> Cosine between up and the outward normal of a side, corners (3, 4) counterclockwise seen from outside.
  pure real(dp) function Up(x)
    real(dp), intent(in) :: x(3, 4)
    real(dp) :: a(3), b(3), normal(3)
    a = x(:, 3) - x(:, 1)
    b = x(:, 4) - x(:, 2)
    normal = [a(2)*b(3) - a(3)*b(2), a(3)*b(1) - a(1)*b(3), a(1)*b(2) - a(2)*b(1)]
    Up = -normal(3)/max(norm2(normal), tiny(Up))
  end function Up

  !> The element with the fewest points per wavelength, the velocity [m/s] of its slowest wave and its longest edge [m]; and the
  !> shortest and the longest edge of all [m].
  subroutine ElementsSlowest(elements, slowest, v, edge, shortest, longest)
    type(elements_t), intent(in) :: elements
    integer, intent(out) :: slowest
    real(dp), intent(out) :: v, edge, shortest, longest
    real(dp) :: length(12), wave, most
    integer :: e
    slowest = 1
    v = 0
    edge = 0
    shortest = huge(shortest)
    longest = 0
    do e = 1, elements%n
      length = HexEdges(elements%corner(:, :, e))
      most = maxval(length)
      shortest = min(shortest, minval(length))
      longest = max(longest, most)
      wave = SlowestIn(elements, e)
      if (e > 1 .and. most*v <= edge*wave) cycle
      slowest = e
      edge = most
      v = wave
    end do
  end subroutine ElementsSlowest

end module elements_make_m
