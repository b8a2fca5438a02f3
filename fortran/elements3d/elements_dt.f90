!> The largest time step with which elements are stable under central differences, 2/omega.
!>
!> The highest frequency omega of all elements together is not above the highest one of an element alone, however the mass of each
!> point is parted among the elements that share it (Irons & Treharne 1971; Fried 1972). It is parted here in proportion to the
!> diagonal of their stiffness, and components apart; masses of their own would give 0.6 .. 0.85 of the true limit in boxes whose
!> nodes were moved by 10 .. 22 % of an element, since corners may be almost flat in one element. The same holds of patches of
!> elements, in which masses are whole: the worst elements are looked at with those around them. That gives 0.91 .. 1 of the true
!> limit in such boxes (60 seeds of t804), 0.88 .. 1 where water lies over a slow solid; elements alone gave 0.79 .. 1.
!>
!> Where fluid and solid meet, potential chi and displacement u obey M_f chi'' = -K_f chi - B u, M_s u'' = -K_s u + B^T chi''. That
!> is the motion of masses (K_f, M_s) under the energy u^T K_s u + (K_f chi + B u)^T M_f^-1 (K_f chi + B u), whose second part is
!> not above (1 + t) (K_f chi)^T M_f^-1 K_f chi + (1 + 1/t) u^T B^T M_f^-1 B u for any t > 0: the fluid's masses at contacts are
!> divided by 1 + t, the solid's points there are held by springs; the best t of some is taken.
module elements_dt_m
  use anisotropy_m, only: AnisoChristoffel, AnisoMatrix
  use elements_m, only: along, elements_t, face_free, in_element, on_face
  use elements_points_m, only: ElementsNumber
  use elements_tensors_m, only: FastestIn, TensorOf
  use gll_m, only: gll_d
  use hexahedron_m, only: Determinant, hex_node, hex_side_point, HexSlopes, Inverse
  use kinds_m, only: dp, i8, sp
  use meetings_m, only: meetings_t, MeetingsMake
  use sem3d_element_m, only: ElementGeometry, FluidForce, SideArea, SolidForce
  use sort_m, only: SortOrder
  implicit none
  private
  public :: ElementsDt

  integer, parameter :: most_tried = 256                  !< elements whose frequency is computed
  integer, parameter :: most_front = 32                   !< of each kind, those by which t of the springs is chosen
  integer, parameter :: most_patches = 32
  integer, parameter :: one_steps = 30, most_steps = 60   !< of Lanczos's method for one element, for a patch
  !> t, of the springs at contacts.
  real(dp), parameter :: shares(7) = [0.03_dp, 0.06_dp, 0.12_dp, 0.25_dp, 0.5_dp, 1.0_dp, 2.0_dp]

  !> At the points of a group of elements: whether some elements of it have a contact there; B^T M_f^-1 B [N/m] as far as it is of
  !> sides of these, and the diagonal of all of it.
  type :: contacts_t
    logical, allocatable :: wet(:)
    real(dp), allocatable :: spring(:, :, :), whole(:, :)
  end type contacts_t

contains

  !> dt [s], the largest stable time step or somewhat less, and the element that sets it. Of many elements those are tried
  !> that a rough rule puts first (Candidates).
  subroutine ElementsDt(elements, dt, element)
    type(elements_t), intent(in) :: elements
    real(dp), intent(out) :: dt
    integer, intent(out) :: element
    type(meetings_t) :: meetings
    integer, allocatable :: order(:)
    logical, allocatable :: others(:), front(:)
    real(dp), allocatable :: square(:, :)
    real(dp) :: largest
    integer :: i, t
    call Candidates(elements, order, others, front)
    call MeetingsMake(elements, meetings)
    allocate (square(size(shares), size(order)), source=0.0_dp)
    !$omp parallel do schedule(dynamic)
    do i = 1, size(order)
      if (front(i)) call Highest(elements, meetings, order(i:i), shares, square(:, i))
    end do
    t = minloc(maxval(square, 2), 1)
    !$omp parallel do schedule(dynamic)
    do i = 1, size(order)
      if (.not. front(i)) call Highest(elements, meetings, order(i:i), shares(t:t), square(t:t, i))
    end do
    element = order(maxloc(square(t, :), 1))
    call Join(elements, meetings, order, others, shares(t), square(t, :), largest)
    dt = 2/sqrt(largest)
  end subroutine ElementsDt

  !> The elements to try: of each phase, beside the other one and elsewhere, those that a rough rule puts first. All four kinds must
  !> be among them: what springs take from the fluid they give to the solid. others: such an element is as good as some not tried.
  !> front: those of a kind that come first.
  subroutine Candidates(elements, order, others, front)
    type(elements_t), intent(in) :: elements
    integer, allocatable, intent(out) :: order(:)
    logical, allocatable, intent(out) :: others(:), front(:)
    logical, allocatable :: of_solid(:), of_fluid(:)
    integer, allocatable :: kind(:), members(:), sorted(:)
    real(dp), allocatable :: rough(:)
    integer :: e, i, k, few
    allocate (kind(elements%n), of_solid(maxval(elements%node)), of_fluid(maxval(elements%node)))
    of_solid = .false.
    of_fluid = .false.
    do e = 1, elements%n
      if (e <= elements%solid) of_solid(elements%node(:, e)) = .true.
      if (e > elements%solid) of_fluid(elements%node(:, e)) = .true.
    end do
    do e = 1, elements%n
      kind(e) = merge(1, 3, e <= elements%solid)
      if (any(of_solid(elements%node(:, e)) .and. of_fluid(elements%node(:, e)))) kind(e) = kind(e) + 1
    end do
    call Screen(elements, rough)
    few = merge(most_tried, most_tried/2, all(kind == kind(1)))
    allocate (order(0), others(0), front(0))
    do k = 1, 4
      members = pack([(e, e=1, elements%n)], kind == k)
      call SortOrder(huge(0_i8) - transfer(rough(members), [0_i8]), sorted)    ! bits of positive reals rise as these do
      associate (tried => min(few, size(members)))
        order = [order, members(sorted(:tried))]
        others = [others, [(tried < size(members) .and. i >= tried*3/4, i=1, tried)]]
        front = [front, [(i <= most_front, i=1, tried)]]
      end associate
    end do
  end subroutine Candidates

  !> An element that is much worse than its neighbours is held by their masses, which its part of them does not show: it is looked
  !> at together with those of its phase around it. The worst first, until the highest of all is that of such a patch, or of an
  !> element as good as those that were not tried.
  subroutine Join(elements, meetings, order, others, share, square, largest)
    type(elements_t), intent(in) :: elements
    type(meetings_t), intent(in) :: meetings
    integer, intent(in) :: order(:)
    logical, intent(in) :: others(:)
    real(dp), intent(in) :: share
    real(dp), intent(inout) :: square(:)                  !< of each element of `order`
    real(dp), intent(out) :: largest
    integer, allocatable :: patch(:)
    logical, allocatable :: joined(:)
    real(dp) :: together(1)
    integer :: i, patches
    allocate (joined(elements%n), source=.false.)
    largest = max(0.0_dp, maxval(square, others))
    do patches = 1, most_patches
      i = maxloc(square, 1)
      if (square(i) <= largest) return
      call Surrounding(elements, meetings, order(i:i), patch)
      patch = pack(patch, .not. joined(patch) .and. ((patch <= elements%solid) .eqv. (order(i) <= elements%solid)))
      call Highest(elements, meetings, patch, [share], together)
      largest = max(largest, together(1))
      joined(patch) = .true.
      where (joined(order)) square = 0
    end do
    largest = max(largest, maxval(square))
  end subroutine Join

  !> A rough rule for the square of an element's highest frequency: stiffness over mass at its corners, both summed over the
  !> elements of its phase there, and in its middle.
  subroutine Screen(elements, rough)
    type(elements_t), intent(in) :: elements
    real(dp), allocatable, intent(out) :: rough(:)
    real(dp), allocatable :: k(:, :), m(:, :), stiffness(:), mass(:)
    real(dp) :: slope(elements%per, 3, 0:8)
    integer :: e, a, from, to, phase
    allocate (rough(elements%n), k(0:8, elements%n), m(0:8, elements%n))
    allocate (stiffness(maxval(elements%node)), mass(maxval(elements%node)))
    slope(:, :, 0) = HexSlopes(elements%per, [0.0_dp, 0.0_dp, 0.0_dp])
    do a = 1, 8
      slope(:, :, a) = HexSlopes(elements%per, real(hex_node(:, a), dp))
    end do
    !$omp parallel do
    do e = 1, elements%n
      call AtCorners(elements, e, slope, k(:, e), m(:, e))
    end do
    do phase = 1, 2
      from = merge(1, elements%solid + 1, phase == 1)
      to = merge(elements%solid, elements%n, phase == 1)
      stiffness = 0
      mass = tiny(1.0_dp)
      do e = from, to
        stiffness(elements%node(:, e)) = stiffness(elements%node(:, e)) + k(1:, e)
        mass(elements%node(:, e)) = mass(elements%node(:, e)) + m(1:, e)
      end do
      !$omp parallel do
      do e = from, to
        rough(e) = max(0.0_dp, k(0, e)/m(0, e), maxval(stiffness(elements%node(:, e))/mass(elements%node(:, e))))
      end do
    end do
  end subroutine Screen

  !> Stiffness and mass in the middle of an element (0) and at its corners, up to common factors. slope: as of HexSlopes there.
  pure subroutine AtCorners(elements, e, slope, k, m)
    type(elements_t), intent(in) :: elements
    integer, intent(in) :: e
    real(dp), intent(in) :: slope(:, :, 0:)
    real(dp), intent(out) :: k(0:8), m(0:8)
    real(dp) :: jacobian(3, 3)
    integer :: a, i, xi(3)
    do a = 0, 8
      xi = 0
      if (a > 0) xi = hex_node(:, max(a, 1))
      jacobian = matmul(elements%corner(:, :, e), slope(:, :, a))
      associate (rho => elements%rho(:, e), lambda => elements%lambda(:, e), mu => elements%mu(:, e))
        i = 1
        if (size(rho) > 1) i = 63 + dot_product([2, 10, 50], xi)
        k(a) = Determinant(jacobian)*sum(Inverse(jacobian)**2)
        m(a) = Determinant(jacobian)
        if (e > elements%solid) then
          k(a) = k(a)/rho(i)
          m(a) = m(a)/lambda(i)
        else
          if (TensorOf(elements, e) > 0) then
            k(a) = k(a)*rho(i)*FastestIn(elements, e)**2
          else
            k(a) = k(a)*(lambda(i) + 2*mu(i))
          end if
          m(a) = m(a)*rho(i)
        end if
      end associate
    end do
  end subroutine AtCorners

  ! --- some elements -------------------------------------------------------------------------------------------------

  !> The square of the highest frequency [1/s2] of some elements of one phase with their part of the masses, for each of the shares.
  subroutine Highest(elements, meetings, members, shares, square)
    type(elements_t), intent(in) :: elements
    type(meetings_t), intent(in) :: meetings
    integer, intent(in) :: members(:)
    real(dp), intent(in) :: shares(:)
    real(dp), intent(out) :: square(:)
    type(elements_t) :: near
    type(contacts_t) :: contacts
    integer, allocatable :: group(:), mine(:), own_points(:), number(:), place(:, :)
    logical, allocatable :: of_mine(:)
    real(dp), allocatable :: stiffness(:, :), own(:, :), mass(:), part(:, :), slope(:, :, :, :), volume(:, :)
    real(dp) :: push, k(3, in_element)
    integer :: g, c, m, p, t
    call Surrounding(elements, meetings, members, group)
    call Pick(elements, group, near)
    call ElementsNumber(near)
    mine = [(findloc(group, members(m), 1), m=1, size(members))]
    allocate (of_mine(near%points), source=.false.)
    do m = 1, size(mine)
      of_mine(near%at(:, mine(m))) = .true.
    end do
    allocate (own(3, near%points), mass(near%points), part(3, near%points), source=0.0_dp)
    stiffness = spread(merge(0.0_dp, 1.0_dp, of_mine), 1, 3)
    allocate (slope(3, 3, in_element, size(group)), volume(in_element, size(group)))
    do g = 1, size(group)
      call ElementGeometry(elements%corner(:, :, group(g)), slope(:, :, :, g), volume(:, g))
      k = Diagonal(elements, group(g), slope(:, :, :, g), volume(:, g), of_mine(near%at(:, g)))
      stiffness(:, near%at(:, g)) = stiffness(:, near%at(:, g)) + k
      if (any(mine == g)) own(:, near%at(:, g)) = own(:, near%at(:, g)) + k
      if (g <= near%solid) then
        mass(near%at(:, g)) = mass(near%at(:, g)) + volume(:, g)*At(elements%rho(:, group(g)))
      else
        mass(near%at(:, g)) = mass(near%at(:, g)) + volume(:, g)/At(elements%lambda(:, group(g)))
      end if
    end do
    own_points = pack([(p, p=1, near%points)], of_mine)
    allocate (number(near%points), source=0)
    number(own_points) = [(p, p=1, size(own_points))]
    place = reshape([(number(near%at(:, mine(m))), m=1, size(mine))], [in_element, size(mine)])
    call Touch(elements, group, near, mine, of_mine, mass, contacts)
    do t = 1, size(shares)
      push = merge(1 + 1/shares(t), 0.0_dp, mine(1) <= near%solid)
      do c = 1, 3
        part(c, :) = (own(c, :) + push*contacts%spring(c, c, :))/(stiffness(c, :) + push*contacts%whole(c, :))*mass
        if (mine(1) > near%solid) part(c, :) = part(c, :)/merge(1 + shares(t), 1.0_dp, contacts%wet)
      end do
      square(t) = Lanczos(elements, members, place, slope(:, :, :, mine), volume(:, mine), part(:, own_points), &
                          push*contacts%spring(:, :, own_points))
      if (any(contacts%wet)) cycle
      square = square(t)
      exit
    end do
  end subroutine Highest

  !> The contacts of the elements `mine` of a group. mass: of the points of the group.
  pure subroutine Touch(elements, group, near, mine, of_mine, mass, contacts)
    type(elements_t), intent(in) :: elements
    integer, intent(in) :: group(:), mine(:)
    type(elements_t), intent(in) :: near
    logical, intent(in) :: of_mine(:)                         !< points of `mine`
    real(dp), intent(in) :: mass(:)
    type(contacts_t), intent(out) :: contacts
    real(dp) :: area(3, on_face), total(3, near%points), size_own(near%points), size_all(near%points), fluid(near%points)
    integer :: c, i, p
    allocate (contacts%wet(near%points), source=.false.)
    allocate (contacts%spring(3, 3, near%points), contacts%whole(3, near%points), source=0.0_dp)
    total = 0
    size_own = 0
    size_all = 0
    fluid = 1
    do c = 1, size(near%contact, 2)
      associate (f => near%contact(1, c), s => near%contact(2, c), to => near%partner(:, c))
        call SideArea(elements%corner(:, :, group(f)), s, area)
        total(:, to) = total(:, to) + area
        size_all(to) = size_all(to) + norm2(area, 1)
        if (of_mine(to(13))) size_own(to) = size_own(to) + norm2(area, 1)
        fluid(to) = mass(near%at(hex_side_point(:, s), f))
        contacts%wet(to) = of_mine(to)
        contacts%wet(near%at(hex_side_point(:, s), f)) = of_mine(near%at(hex_side_point(:, s), f))
      end associate
    end do
    if (mine(1) > near%solid) return
    do p = 1, near%points
      if (.not. contacts%wet(p)) cycle
      do i = 1, 3
        contacts%whole(i, p) = total(i, p)**2/fluid(p)
        contacts%spring(:, i, p) = size_own(p)/size_all(p)*total(:, p)*total(i, p)/fluid(p)
      end do
    end do
  end subroutine Touch

  pure function At(values) result(all)
    real(sp), intent(in) :: values(:)                         !< (1 or 125)
    real(dp) :: all(in_element)
    all = values(1)
    if (size(values) > 1) all = values
  end function At

  !> All elements that share a node with some, these too, those of solid first.
  pure subroutine Surrounding(elements, meetings, members, group)
    type(elements_t), intent(in) :: elements
    type(meetings_t), intent(in) :: meetings
    integer, intent(in) :: members(:)
    integer, allocatable, intent(out) :: group(:)
    integer :: a, i, m
    allocate (group(0))
    do m = 1, size(members)
      do a = 1, 8
        associate (n => elements%node(a, members(m)))
          do i = meetings%start(n), meetings%start(n + 1) - 1
            if (any(group == meetings%list(i))) cycle
            if (meetings%list(i) <= elements%solid) then
              group = [meetings%list(i), group]
            else
              group = [group, meetings%list(i)]
            end if
          end do
        end associate
      end do
    end do
  end subroutine Surrounding

  !> Some elements with their nodes, from which their points are numbered.
  pure subroutine Pick(elements, group, near)
    type(elements_t), intent(in) :: elements
    integer, intent(in) :: group(:)
    type(elements_t), intent(out) :: near
    integer, allocatable :: nodes(:)
    integer :: g, a, n
    near%n = size(group)
    near%solid = count(group <= elements%solid)
    near%brick = [1, near%n + 1]
    if (near%solid > 0 .and. near%solid < near%n) near%brick = [1, near%solid + 1, near%n + 1]
    allocate (near%node(8, near%n), nodes(8*near%n))
    allocate (near%face(6, near%n), source=face_free)
    n = 0
    do g = 1, near%n
      do a = 1, 8
        nodes(n + 1) = elements%node(a, group(g))
        near%node(a, g) = findloc(nodes(:n + 1), nodes(n + 1), 1)
        if (near%node(a, g) > n) n = n + 1
      end do
    end do
  end subroutine Pick

  !> The diagonal of the stiffness of an element, (3, 125), at the points wanted; of a fluid all three components are the same.
  pure function Diagonal(elements, e, slope, volume, wanted) result(k)
    type(elements_t), intent(in) :: elements
    integer, intent(in) :: e
    real(dp), intent(in) :: slope(3, 3, in_element), volume(in_element)
    logical, intent(in) :: wanted(in_element)
    real(dp) :: k(3, in_element)
    integer, parameter :: step(3) = [1, along, along**2]
    real(dp) :: first(in_element), second(in_element), constants(6, 6)
    integer :: p, a, l, n(3)
    logical :: anisotropic
    anisotropic = TensorOf(elements, e) > 0
    if (anisotropic) constants = AnisoMatrix(real(elements%relative(:, elements%tensor(e)), dp))
    first = 0
    second = At(1/elements%rho(:, e))
    if (e <= elements%solid) then
      first = At(elements%lambda(:, e) + elements%mu(:, e))
      second = At(elements%mu(:, e))
    end if
    k = 0
    do p = 1, in_element
      if (.not. wanted(p)) cycle
      n = modulo([p - 1, (p - 1)/along, (p - 1)/along**2], along) + 1
      call Add(p, matmul([gll_d(n(1), n(1)), gll_d(n(2), n(2)), gll_d(n(3), n(3))], slope(:, :, p)))
      do a = 1, 3                                         ! the point itself, then the others on its lines
        do l = 1, along
          if (l /= n(a)) call Add(p + (l - n(a))*step(a), gll_d(l, n(a))*slope(a, :, p + (l - n(a))*step(a)))
        end do
      end do
    end do

  contains

    !> The strain of point q by the motion of point p, by the slopes g.
    pure subroutine Add(q, g)
      integer, intent(in) :: q
      real(dp), intent(in) :: g(3)
      real(dp) :: more(3, 3)
      integer :: c
      k(:, p) = k(:, p) + volume(q)*(first(q)*g**2 + second(q)*sum(g**2))
      if (.not. anisotropic) return
      more = AnisoChristoffel(constants, g)
      k(:, p) = k(:, p) + volume(q)*second(q)*[(more(c, c), c=1, 3)]
    end subroutine Add

  end function Diagonal

  !> The largest eigenvalue of stiffness and springs over mass, raised by 1 %: after these steps it is that or up to 1 % less.
  pure real(dp) function Lanczos(elements, members, at, slope, volume, mass, spring) result(largest)
    type(elements_t), intent(in) :: elements
    integer, intent(in) :: members(:), at(:, :)
    real(dp), intent(in) :: slope(:, :, :, :), volume(:, :), mass(:, :), spring(:, :, :)
    real(dp), dimension(3, size(mass, 2)) :: v, before, w, root, u
    real(dp) :: diagonal(most_steps), beside(0:most_steps), moved(3, in_element), force(3, in_element)
    integer :: i, m, p, steps
    logical :: held
    held = any(abs(spring) > 0)
    root = sqrt(mass)
    v = reshape([(modulo(0.618_dp*i*i, 1.0_dp) - 0.45_dp, i=1, size(v))], shape(v))
    if (members(1) > elements%solid) v(2:, :) = 0
    v = v/norm2(v)
    before = 0
    beside = 0
    do steps = 1, merge(most_steps, one_steps, size(members) > 1)
      u = v/root
      w = 0
      if (held) then
        do p = 1, size(w, 2)
          w(:, p) = -matmul(spring(:, :, p), u(:, p))
        end do
      end if
      do m = 1, size(members)
        moved = u(:, at(:, m))
        associate (rho => elements%rho(:, members(m)), lambda => elements%lambda(:, members(m)), mu => elements%mu(:, members(m)))
          if (members(m) > elements%solid) then
            force = 0
            call FluidForce(moved(1, :), slope(:, :, :, m), volume(:, m), real(rho, dp), force(1, :))
          else if (TensorOf(elements, members(m)) > 0) then
            call SolidForce(moved, slope(:, :, :, m), volume(:, m), real(lambda, dp), real(mu, dp), force, &
              relative=AnisoMatrix(real(elements%relative(:, elements%tensor(members(m))), dp)))
          else
            call SolidForce(moved, slope(:, :, :, m), volume(:, m), real(lambda, dp), real(mu, dp), force)
          end if
        end associate
        w(:, at(:, m)) = w(:, at(:, m)) + force
      end do
      w = -w/root - beside(steps - 1)*before
      diagonal(steps) = sum(w*v)
      w = w - diagonal(steps)*v
      beside(steps) = norm2(w)
      before = v
      if (.not. beside(steps) > 1.0e-9_dp*diagonal(steps)) exit
      v = w/beside(steps)
    end do
    steps = min(steps, merge(most_steps, one_steps, size(members) > 1))
    largest = 1.01_dp*Tridiagonal(diagonal(:steps), beside(1:steps - 1))
  end function Lanczos

  !> The largest eigenvalue of a symmetric tridiagonal matrix, by halving: those below x are as many as negative pivots.
  pure real(dp) function Tridiagonal(diagonal, beside) result(high)
    real(dp), intent(in) :: diagonal(:), beside(:)
    real(dp) :: low, x, pivot
    integer :: i, j, below
    low = maxval(diagonal)
    high = low + 2*maxval([0.0_dp, beside])
    do i = 1, 60
      x = (low + high)/2
      below = 0
      pivot = 1
      do j = 1, size(diagonal)
        if (j == 1) then
          pivot = diagonal(j) - x
        else
          pivot = diagonal(j) - x - beside(j - 1)**2/pivot
        end if
        if (abs(pivot) < 1.0e-30_dp*high) pivot = -1.0e-30_dp*high
        if (pivot < 0) below = below + 1
      end do
      if (below == size(diagonal)) then
        high = x
      else
        low = x
      end if
    end do
  end function Tridiagonal

end module elements_dt_m
