!> The elements around a source as a small mesh of their own, of one medium or two, whose field is the exact one at its outer
!> points: what the whole mesh makes there of waves that grow as exp(s t), s > 0, by its own matrices (near_solve.f90). Elements are
!> those whose middle lies within some edges of the source. They may have a plane free side, or a plane contact of rock, or, where
!> the source is in water, a plane floor of rock, with a free side parallel to it or without (near_exact.f90).
module near_patch_m
  use band_weights_m, only: band_points, BandPoints
  use element_finder_m, only: finder_t, FinderInside, FinderMake, FinderWithin
  use elements_m, only: elements_t, face_absorbs, face_free, face_inner, in_element
  use elements_points_m, only: ElementsNumber
  use elements_tensors_m, only: TensorOf
  use floor_exact_m, only: floor_layers_t
  use hexahedron_m, only: HexLongest, HexPoints, hex_side_point
  use kinds_m, only: dp, sp
  use layers_waves_m, only: near_layers_t
  use meetings_m, only: meetings_t, MeetingsMake
  use near_exact_m, only: near_source_t
  use source3d_m, only: source3d_t, source_force
  implicit none
  private
  public :: near_patch_t, PatchReach, PatchAsks, PatchList, PatchRange, PatchMake, PatchHas, PatchHelps
  public :: PatchBeside, PatchMedium

  integer, parameter, public :: patch_numbers = 11   !< of PatchRange
  integer, parameter, public :: patch_most = 1500 !< elements
  integer, parameter, public :: patch_bytes = 40000 !< of an element, where its field is found: fields of about 72 points, geometry
  real(dp), parameter :: around = 1.9_dp          !< edges around receivers that a patch has
  integer, parameter, public :: patch_tries = 4   !< of patches, each for receivers closer to the source
  real(dp), parameter :: closer(2:patch_tries) = [2.0_dp, 1.3_dp, 0.7_dp]  !< edges
  real(dp), parameter, public :: near_edges = 2           !< closer than so many edges a source is not yet a point (accuracy.md),
  real(dp), parameter :: near_moment = 2.6_dp     !< nor a moment in rock for velocities,
  real(dp), parameter, public :: near_slopes = 3          !< nor for gradients of motion
  real(dp), parameter :: near_least = 0.01_dp     !< edges: closer is on the source
  real(dp), parameter :: alike = 5.0e-2_dp        !< part of moduli, densities and losses by which an even medium may vary
  integer, parameter :: middle = 13               !< of the points of a side
  integer, parameter :: corners(8) = [1, 5, 21, 25, 101, 105, 121, 125]
  real(dp), parameter :: flat = 1.0e-4_dp         !< of an edge, by which a free side may bend
  real(dp), parameter :: heavier = 1.1_dp         !< times water's density and impedance a floor has, or more (near_solve.f90)

  type :: near_patch_t
    type(elements_t) :: mesh
    type(meetings_t) :: meetings
    type(finder_t) :: finder
    real(dp), allocatable :: x(:, :)              !< of points [m], (3, points)
    logical, allocatable :: outer(:)              !< points,
    logical, allocatable :: free(:)               !< and those on a free side
    real(dp) :: medium(3, 2) = 0                  !< rho, lambda, mu around the source, and beyond a contact
    integer, allocatable :: kind(:)               !< which of them an element has
    logical :: fits = .false.                     !< all these media are even; the free side, or the contact, is plane,
    real(dp) :: normal(3) = 0, level = 0          !< x with normal.x = level [m]; 0: there is none
    logical :: floored = .false.                  !< it is a floor of rock below water,
    real(dp) :: water = 0                         !< so far below a free side [m]; 0: there is none
  end type near_patch_t

contains

  !> Closer than so many edges of its element a source is not yet a point for these components.
  pure real(dp) function PatchReach(solid, source, names) result(reach)
    logical, intent(in) :: solid
    type(source3d_t), intent(in) :: source
    character(*), intent(in) :: names(:)
    reach = near_edges
    if (solid .and. source%kind /= source_force) reach = merge(near_slopes, near_moment, any(scan(names, 'psew') == 1))
  end function PatchReach

  !> Receivers so many edges away from their source that are asked for in a try, and how wide the patch for them is [edges].
  pure subroutine PatchAsks(apart, reach, try, asks, wide)
    real(dp), intent(in) :: apart(:), reach
    integer, intent(in) :: try
    logical, intent(out) :: asks(:)
    real(dp), intent(out) :: wide
    asks = apart > near_least .and. apart < reach
    if (try > 1) asks = asks .and. apart < closer(try)
    wide = around + maxval(apart, asks)
  end subroutine PatchAsks

  !> The mean medium of an element: rho, lambda, mu.
  pure function PatchMedium(elements, e) result(medium)
    type(elements_t), intent(in) :: elements
    integer, intent(in) :: e
    real(dp) :: medium(3)
    medium = [sum(real(elements%rho(:, e), dp)), sum(real(elements%lambda(:, e), dp)), sum(real(elements%mu(:, e), dp))]/ &
             size(elements%rho, 1)
  end function PatchMedium

  !> Elements whose middle lies within a radius [m] of x, rising.
  pure subroutine PatchList(elements, finder, x, radius, list)
    type(elements_t), intent(in) :: elements
    type(finder_t), intent(in) :: finder
    real(dp), intent(in) :: x(3), radius
    integer, allocatable, intent(out) :: list(:)
    integer :: i
    call FinderWithin(finder, x, radius, list)
    list = pack(list, [(norm2(sum(elements%corner(:, :8, list(i)), 2)/8 - x) <= radius, i=1, size(list))])
  end subroutine PatchList

  !> The largest of each part of the medium of an element, and of its negative; above 0 last: it has a side of the mesh that
  !> absorbs, or an ocean on it, or is anisotropic.
  pure function PatchRange(elements, e) result(range)
    type(elements_t), intent(in) :: elements
    integer, intent(in) :: e
    real(dp) :: range(patch_numbers)
    real(dp) :: loss(2), ocean
    loss = 0
    if (allocated(elements%loss)) loss = elements%loss(:, e)
    ocean = 0
    if (allocated(elements%ocean)) ocean = maxval(elements%ocean(:, e))
    associate (rho => real(elements%rho(:, e), dp), p => real(elements%lambda(:, e) + 2*elements%mu(:, e), dp), &
               mu => real(elements%mu(:, e), dp))
      range = [maxval(rho), maxval(p), maxval(mu), loss, -minval(rho), -minval(p), -minval(mu), -loss, &
               merge(1.0_dp, -1.0_dp, any(elements%face(:, e) == face_absorbs) .or. ocean > 0 .or. TensorOf(elements, e) > 0)]
    end associate
  end function PatchRange

  !> Sorts elements by medium, 1: that of the source, rho, lambda, mu: there is one more of rock at most, and each is even. Those of
  !> rock come first.
  pure subroutine SortMedia(range, medium, solid, patch)
    real(dp), intent(in) :: range(:, :), medium(3)
    logical, intent(in) :: solid
    type(near_patch_t), intent(inout) :: patch
    real(dp) :: own(3), room(5), all_of(10)
    integer :: e, k
    own = [medium(1), medium(2) + 2*medium(3), medium(3)]
    patch%kind = 1 + merge(1, 0, any(abs((range(:3, :) - range(6:8, :))/2 - spread(own, 2, size(range, 2))) > &
                                     alike*spread(own, 2, size(range, 2)), 1))
    patch%fits = .not. any(range(patch_numbers, :) > 0)
    patch%medium(:, 1) = medium
    do k = 1, 2
      associate (of => range(:, pack([(e, e=1, size(range, 2))], patch%kind == k)))
        if (size(of, 2) == 0) cycle
        all_of = maxval(of(:10, :), 2)
        room = alike*all_of(:5)
        room(4:5) = max(room(4:5), 1.0e-3_dp)
        patch%fits = patch%fits .and. all(all_of(:5) + all_of(6:) <= room)
        if (k == 1) cycle
        own = (sum(of(:3, :), 2) - sum(of(6:8, :), 2))/(2*size(of, 2))
        patch%medium(:, 2) = [own(1), own(2) - 2*own(3), own(3)]
        patch%fits = patch%fits .and. own(3) > 0
        patch%floored = .not. solid
        if (patch%floored) patch%fits = patch%fits .and. own(1) >= heavier*medium(1) .and. &
                                        own(1)*own(2) >= heavier**2*medium(1)*medium(2)
      end associate
    end do
  end subroutine SortMedia

  !> corner: of its elements, in the order of the whole mesh (3, per, n) [m], kinds of their sides face(6, n) and their media
  !> (PatchRange); medium: rho, lambda, mu around the source. Of one that does not fit no more is known.
  subroutine PatchMake(corner, face, range, solid, medium, patch)
    real(dp), intent(in) :: corner(:, :, :), range(:, :), medium(3)
    integer, intent(in) :: face(:, :)
    logical, intent(in) :: solid
    type(near_patch_t), intent(out) :: patch
    integer, allocatable :: first(:)              !< element at a point
    real(dp) :: place(3, in_element), above(3), top
    integer :: e, s, c
    call SortMedia(range, medium, solid, patch)
    if (.not. patch%fits) return
    associate (mesh => patch%mesh)
      mesh%n = size(corner, 3)
      mesh%solid = merge(mesh%n, 0, solid)
      if (patch%floored) mesh%solid = count(patch%kind == 2)
      mesh%per = size(corner, 2)
      mesh%corner = corner
      mesh%brick = [1, mesh%n + 1]
      if (patch%floored) mesh%brick = [1, mesh%solid + 1, mesh%n + 1]
      allocate (mesh%node(8, mesh%n))
      mesh%face = merge(face_free, face_absorbs, face == face_free)
      mesh%rho = real(patch%medium(1:1, patch%kind), sp)
      mesh%lambda = real(patch%medium(2:2, patch%kind), sp)
      mesh%mu = real(patch%medium(3:3, patch%kind), sp)
      call NumberNodes(mesh)
      call ElementsNumber(mesh)
      call MeetingsMake(mesh, patch%meetings)
      call FinderMake(patch%finder, mesh%corner)
      allocate (patch%x(3, mesh%points), first(mesh%points))
      allocate (patch%outer(mesh%points), patch%free(mesh%points), source=.false.)
      first = 0
      above = 0
      do e = 1, mesh%n
        call HexPoints(mesh%corner(:, :, e), place)
        patch%x(:, mesh%at(:, e)) = place
        do s = 1, 6
          associate (at => mesh%at(hex_side_point(:, s), e))
            if (mesh%face(s, e) == face_absorbs) patch%outer(at) = .true.
            if (mesh%face(s, e) == face_free) patch%free(at) = .true.
            if (mesh%face(s, e) == face_free) call OnPlane(at, above, top)
            if (first(at(middle)) > 0) then
              if (patch%kind(first(at(middle))) /= patch%kind(e)) call OnPlane(at, patch%normal, patch%level)
            end if
            first(at(middle)) = e
          end associate
        end do
      end do
      do c = 1, size(mesh%contact, 2)
        e = mesh%contact(1, c)
        call OnPlane(mesh%at(hex_side_point(:, mesh%contact(2, c)), e), patch%normal, patch%level)
      end do
      where (mesh%face == face_absorbs) mesh%face = face_inner
      if (any(patch%free)) call Free()
      call Direct()
    end associate

  contains

    !> A side has to be in the plane of the others: the first tells it by three of its points.
    subroutine OnPlane(at, normal, level)
      integer, intent(in) :: at(:)
      real(dp), intent(inout) :: normal(3), level
      associate (x => patch%x(:, at([1, 5, 21])))
        if (all(abs(normal) <= 0)) then
          associate (a => x(:, 2) - x(:, 1), b => x(:, 3) - x(:, 1))
            normal = [a(2)*b(3) - a(3)*b(2), a(3)*b(1) - a(1)*b(3), a(1)*b(2) - a(2)*b(1)]
          end associate
          normal = normal/norm2(normal)
          level = dot_product(normal, x(:, 1))
        end if
      end associate
      patch%fits = patch%fits .and. all(abs(matmul(normal, patch%x(:, at)) - level) <= flat*HexLongest(patch%mesh%corner(:, :, e)))
    end subroutine OnPlane

    !> A free side is the only plane, or that of the water, parallel to the floor.
    subroutine Free()
      if (all(abs(patch%normal) <= 0)) then
        patch%normal = above
        patch%level = top
        return
      end if
      patch%water = abs(patch%level - top*dot_product(patch%normal, above))
      patch%fits = patch%fits .and. patch%floored .and. abs(dot_product(patch%normal, above)) >= cos(flat) .and. &
                   .not. any(patch%free(:patch%mesh%solid_points))
    end subroutine Free

    !> The normal looks from a free side into the patch, at a contact away from the source's medium, all of which is on one side.
    subroutine Direct()
      real(dp) :: depth(size(patch%kind))
      if (all(abs(patch%normal) <= 0)) return
      depth = matmul(patch%normal, sum(corner(:, :8, :), 2)/8) - patch%level
      if (depth(1) < 0 .neqv. patch%kind(1) == 1 .and. any(patch%kind > 1)) then
        depth = -depth
        patch%normal = -patch%normal
        patch%level = -patch%level
      end if
      if (any(patch%kind > 1)) patch%fits = patch%fits .and. all(depth > 0 .eqv. patch%kind > 1)
      if (.not. any(patch%kind > 1)) patch%fits = patch%fits .and. all(depth > 0)
    end subroutine Direct

  end subroutine PatchMake

  !> Corners at one place are one node.
  pure subroutine NumberNodes(mesh)
    type(elements_t), intent(inout) :: mesh
    real(dp) :: x(3, 8*mesh%n)
    integer :: c, e, i, nodes
    nodes = 0
    do e = 1, mesh%n
      do c = 1, 8
        do i = nodes, 1, -1
          if (all(abs(x(:, i) - mesh%corner(:, c, e)) <= 0)) exit
        end do
        if (i == 0) then
          nodes = nodes + 1
          x(:, nodes) = mesh%corner(:, c, e)
          i = nodes
        end if
        mesh%node(c, e) = i
      end do
    end do
  end subroutine NumberNodes

  !> The element of place x [m], which is at xi in it; 0 where it is not in the patch, or one of the points is not that a receiver
  !> there reads; banded: with weights for waves up to a frequency (Sem3dPlace). Where none is an outer one, none nearer is missing.
  pure subroutine PatchHas(patch, x, banded, e, xi)
    type(near_patch_t), intent(in) :: patch
    real(dp), intent(in) :: x(3)
    logical, intent(in) :: banded
    integer, intent(out) :: e
    real(dp), intent(out) :: xi(3)
    real(dp), allocatable :: at(:, :)
    integer, allocatable :: point(:)
    call FinderInside(patch%finder, patch%mesh%corner, x, e, xi)
    if (e == 0 .or. .not. banded) return
    if (.not. any(patch%outer(patch%mesh%at(corners, e)))) return        ! all elements are there that meet it
    call BandPoints(patch%mesh, patch%meetings, e, x, band_points, at, point)
    if (any(patch%outer(point))) e = 0
  end subroutine PatchHas

  !> The receivers at places x(3, :) [m] that get what the mesh lacks near the source in element e, as all of a mesh tells; and the
  !> elements of the patch.
  subroutine PatchHelps(elements, finder, e, source, x, banded, reach, helped, n)
    type(elements_t), intent(in) :: elements
    type(finder_t), intent(in) :: finder
    integer, intent(in) :: e
    real(dp), intent(in) :: source(3), x(:, :), reach
    logical, intent(in) :: banded
    logical, intent(out) :: helped(:)
    integer, intent(out) :: n
    type(near_patch_t) :: patch
    integer, allocatable :: list(:)
    real(dp) :: edge, wide, xi(3)
    integer :: try, r, at
    n = 0
    edge = HexLongest(elements%corner(:, :, e))
    do try = 1, patch_tries
      call PatchAsks(norm2(x - spread(source, 2, size(helped)), 1)/edge, reach, try, helped, wide)
      if (.not. any(helped)) return
      call PatchList(elements, finder, source, wide*edge, list)
      if (size(list) > patch_most) cycle
      call PatchMake(elements%corner(:, :, list), elements%face(:, list), &
                     reshape([(PatchRange(elements, list(r)), r=1, size(list))], [patch_numbers, size(list)]), &
                     e <= elements%solid, PatchMedium(elements, e), patch)
      if (patch%fits) exit
    end do
    if (try > patch_tries) then
      helped = .false.
      return
    end if
    n = size(list)
    do r = 1, size(helped)
      if (.not. helped(r)) cycle
      call PatchHas(patch, x(:, r), banded, at, xi)
      helped(r) = at > 0
    end do
  end subroutine PatchHelps

  !> A source in a patch gets its image beyond the free side of a fluid, the floor below it, or the layers of rock that it is in.
  pure subroutine PatchBeside(patch, source)
    type(near_patch_t), intent(in) :: patch
    type(near_source_t), intent(inout) :: source
    real(dp) :: depth
    if (all(abs(patch%normal) <= 0)) return
    depth = dot_product(patch%normal, source%x) - patch%level + patch%water
    source%axes = Axes(patch%normal)
    source%origin = source%x - depth*patch%normal
    source%image = source%x - 2*depth*patch%normal
    source%layered = source%solid
    source%floored = patch%floored
    source%mirrored = .not. source%solid .and. any(patch%free)
    if (patch%floored) then
      source%floor = floor_layers_t(sqrt(patch%medium(2, 1)/patch%medium(1, 1)), patch%medium(1, 1), Speeds(2), patch%water, &
                                    any(patch%free))
    else if (any(patch%kind > 1)) then
      source%layers = near_layers_t(2, .false., [-huge(1.0_dp), 0.0_dp], reshape([Speeds(1), Speeds(2)], [3, 2]))
    else
      source%layers = near_layers_t(1, .true., [0.0_dp], reshape(Speeds(1), [3, 1]))
    end if

  contains

    !> vp, vs, rho.
    pure function Speeds(kind)
      integer, intent(in) :: kind
      real(dp) :: Speeds(3)
      associate (rho => patch%medium(1, kind), lambda => patch%medium(2, kind), mu => patch%medium(3, kind))
        Speeds = [sqrt([lambda + 2*mu, mu]/rho), rho]
      end associate
    end function Speeds
  end subroutine PatchBeside

  !> Three directions at right angles, the last of which is given.
  pure function Axes(last)
    real(dp), intent(in) :: last(3)
    real(dp) :: Axes(3, 3)
    integer :: least
    least = minloc(abs(last), 1)
    Axes(3, :) = last
    Axes(1, :) = -last(least)*last
    Axes(1, least) = Axes(1, least) + 1
    Axes(1, :) = Axes(1, :)/norm2(Axes(1, :))
    Axes(2, :) = [last(2)*Axes(1, 3) - last(3)*Axes(1, 2), last(3)*Axes(1, 1) - last(1)*Axes(1, 3), &
                  last(1)*Axes(1, 2) - last(2)*Axes(1, 1)]
  end function Axes

end module near_patch_m
