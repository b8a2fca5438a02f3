!> The largest time step with which elements are stable under central differences, 2/omega.
!>
!> The highest frequency omega of all elements together is not above the highest one of an element alone, however the mass of each
!> point is parted among the elements that share it (Irons & Treharne 1971; Fried 1972). It is parted here in proportion to the
!> diagonal of their stiffness, and components apart. That gives 0.88 .. 1 of the true limit in boxes whose nodes were moved by
!> 10 .. 22 % of an element; masses of their own give 0.6 .. 0.85 there, since corners may be almost flat in one element.
!>
!> Where fluid and solid meet, potential chi and displacement u obey M_f chi'' = -K_f chi - B u, M_s u'' = -K_s u + B^T chi''. That
!> is the motion of masses (K_f, M_s) under the energy u^T K_s u + (K_f chi + B u)^T M_f^-1 (K_f chi + B u), whose second part is
!> not above (1 + t) (K_f chi)^T M_f^-1 K_f chi + (1 + 1/t) u^T B^T M_f^-1 B u for any t > 0: the fluid's masses at contacts are
!> divided by 1 + t, the solid's points there are held by springs; the best t of some is taken.
module elements_dt_m
  use elements_m, only: along, elements_t, face_contact, face_free, in_element, on_face
  use elements_points_m, only: ElementsNumber
  use gll_m, only: gll_d
  use hexahedron_m, only: Determinant, HexJacobian, hex_node, hex_side_point, Inverse
  use kinds_m, only: dp, i8, sp
  use sem3d_element_m, only: ElementGeometry, FluidForce, SideArea, SolidForce
  use sort_m, only: SortOrder
  implicit none
  private
  public :: ElementsDt

  integer, parameter :: most_tried = 256                  !< elements whose frequency is computed
  integer, parameter :: most_steps = 30                   !< of Lanczos's method
  !> t, of the springs at contacts.
  real(dp), parameter :: shares(7) = [0.03_dp, 0.06_dp, 0.12_dp, 0.25_dp, 0.5_dp, 1.0_dp, 2.0_dp]

  !> The elements at each node: at node n, element(first(n)) .. element(first(n+1)-1).
  type :: links_t
    integer, allocatable :: first(:), element(:)
  end type links_t

contains

  !> dt [s], the largest stable time step or up to about 10 % less, and the element that sets it. Of many elements those are tried
  !> that a rough rule puts first.
  subroutine ElementsDt(elements, dt, element)
    type(elements_t), intent(in) :: elements
    real(dp), intent(out) :: dt
    integer, intent(out) :: element
    type(links_t) :: links
    integer, allocatable :: order(:)
    real(dp), allocatable :: rough(:), square(:, :)
    integer :: i, t
    call Screen(elements, rough)
    call SortOrder(huge(0_i8) - transfer(rough, [0_i8]), order)    ! bits of positive reals rise as these do
    order = order(:min(size(order), most_tried))
    call Link(elements, links)
    allocate (square(size(order), size(shares)))
    !$omp parallel do schedule(dynamic)
    do i = 1, size(order)
      square(i, :) = Highest(elements, links, order(i))
    end do
    t = minloc(maxval(square, 1), 1)
    i = maxloc(square(:, t), 1)
    element = order(i)
    dt = 2/sqrt(square(i, t))
  end subroutine ElementsDt

  !> A rough rule for the square of an element's highest frequency: stiffness over mass at its corners, both summed over the
  !> elements of its phase there, and in its middle.
  subroutine Screen(elements, rough)
    type(elements_t), intent(in) :: elements
    real(dp), allocatable, intent(out) :: rough(:)
    real(dp), allocatable :: k(:, :), m(:, :), stiffness(:), mass(:)
    integer :: e, from, to, phase
    allocate (rough(elements%n), k(0:8, elements%n), m(0:8, elements%n))
    allocate (stiffness(maxval(elements%node)), mass(maxval(elements%node)))
    !$omp parallel do
    do e = 1, elements%n
      call AtCorners(elements, e, k(:, e), m(:, e))
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
      do e = from, to
        rough(e) = max(0.0_dp, k(0, e)/m(0, e), maxval(stiffness(elements%node(:, e))/mass(elements%node(:, e))))
        if (any(elements%face(:, e) == face_contact)) rough(e) = 1.5_dp*rough(e)       ! with its springs
      end do
    end do
  end subroutine Screen

  !> Stiffness and mass in the middle of an element (0) and at its corners, up to common factors.
  pure subroutine AtCorners(elements, e, k, m)
    type(elements_t), intent(in) :: elements
    integer, intent(in) :: e
    real(dp), intent(out) :: k(0:8), m(0:8)
    real(dp) :: jacobian(3, 3), xi(3)
    integer :: a, i
    do a = 0, 8
      xi = 0
      if (a > 0) xi = hex_node(:, max(a, 1))
      jacobian = HexJacobian(elements%corner(:, :, e), xi)
      associate (rho => elements%rho(:, e), lambda => elements%lambda(:, e), mu => elements%mu(:, e))
        i = 1
        if (size(rho) > 1) i = 63 + dot_product([2, 10, 50], nint(xi))
        k(a) = Determinant(jacobian)*sum(Inverse(jacobian)**2)
        m(a) = Determinant(jacobian)
        if (e > elements%solid) then
          k(a) = k(a)/rho(i)
          m(a) = m(a)/lambda(i)
        else
          k(a) = k(a)*(lambda(i) + 2*mu(i))
          m(a) = m(a)*rho(i)
        end if
      end associate
    end do
  end subroutine AtCorners

  pure subroutine Link(elements, links)
    type(elements_t), intent(in) :: elements
    type(links_t), intent(out) :: links
    integer :: e, a, n
    n = maxval(elements%node)
    allocate (links%first(n + 2), source=0)
    allocate (links%element(8*elements%n))
    do e = 1, elements%n
      do a = 1, 8
        n = elements%node(a, e) + 2
        links%first(n) = links%first(n) + 1
      end do
    end do
    links%first(1) = 1
    do n = 2, size(links%first)
      links%first(n) = links%first(n) + links%first(n - 1)
    end do
    do e = 1, elements%n                                  ! first(n+1), the beginning of node n's, moves to their end
      do a = 1, 8
        n = elements%node(a, e) + 1
        links%element(links%first(n)) = e
        links%first(n) = links%first(n) + 1
      end do
    end do
  end subroutine Link

  ! --- one element ---------------------------------------------------------------------------------------------------

  !> The square of the highest frequency [1/s2] of element e with its part of the masses, for each of the shares.
  function Highest(elements, links, e) result(square)
    type(elements_t), intent(in) :: elements
    type(links_t), intent(in) :: links
    integer, intent(in) :: e
    real(dp) :: square(size(shares))
    type(elements_t) :: near
    integer, allocatable :: group(:)
    real(dp), allocatable :: stiffness(:, :), mass(:)
    real(dp) :: slope(3, 3, in_element), volume(in_element), own(3, in_element), part(3, in_element)
    real(dp) :: spring(3, 3, in_element), whole(3, in_element), push
    logical :: wet(in_element)
    integer :: g, c, i, t, mine
    call Surrounding(elements, links, e, group)
    call Pick(elements, group, near)
    call ElementsNumber(near)
    mine = findloc(group, e, 1)
    allocate (stiffness(3, near%points), mass(near%points), source=0.0_dp)
    do i = 1, size(group)
      g = modulo(mine + i - 1, size(group)) + 1           ! e is the last one
      call ElementGeometry(elements%corner(:, :, group(g)), slope, volume)
      own = Diagonal(elements, group(g), slope, volume)
      stiffness(:, near%at(:, g)) = stiffness(:, near%at(:, g)) + own
      if (g <= near%solid) then
        mass(near%at(:, g)) = mass(near%at(:, g)) + volume*At(elements%rho(:, group(g)))
      else
        mass(near%at(:, g)) = mass(near%at(:, g)) + volume/At(elements%lambda(:, group(g)))
      end if
    end do
    call Springs(elements, group, near, mine, mass, wet, spring, whole)
    do t = 1, size(shares)
      push = merge(1 + 1/shares(t), 0.0_dp, mine <= near%solid)
      do c = 1, 3
        part(c, :) = (own(c, :) + push*spring(c, c, :))/(stiffness(c, near%at(:, mine)) + push*whole(c, :))*mass(near%at(:, mine))
        if (mine > near%solid) part(c, :) = part(c, :)/merge(1 + shares(t), 1.0_dp, wet)
      end do
      square(t) = Lanczos(elements, e, slope, volume, part, push*spring)
      if (any(wet)) cycle
      square = square(t)
      exit
    end do
  end function Highest

  !> Contacts at the points of element `mine` of a group: wet, whether there is one; spring, B^T M_f^-1 B [N/m] as far as it is of
  !> sides of this element; whole, the diagonal of all of it. mass: of the points of the group.
  pure subroutine Springs(elements, group, near, mine, mass, wet, spring, whole)
    type(elements_t), intent(in) :: elements
    integer, intent(in) :: group(:), mine
    type(elements_t), intent(in) :: near
    real(dp), intent(in) :: mass(:)
    logical, intent(out) :: wet(in_element)
    real(dp), intent(out) :: spring(3, 3, in_element), whole(3, in_element)
    real(dp) :: area(3, on_face), total(3, near%points), size_own(near%points), size_all(near%points), fluid(near%points)
    integer :: c, i, p
    total = 0
    size_own = 0
    size_all = 0
    fluid = 1
    spring = 0
    whole = 0
    wet = .false.
    do c = 1, size(near%contact, 2)
      associate (f => near%contact(1, c), s => near%contact(2, c), to => near%partner(:, c))
        call SideArea(elements%corner(:, :, group(f)), s, area)
        total(:, to) = total(:, to) + area
        size_all(to) = size_all(to) + norm2(area, 1)
        if (any(near%at(:, mine) == to(13))) size_own(to) = size_own(to) + norm2(area, 1)
        fluid(to) = mass(near%at(hex_side_point(:, s), f))
        do p = 1, in_element
          wet(p) = wet(p) .or. any(near%at(hex_side_point(:, s), f) == near%at(p, mine)) .or. any(to == near%at(p, mine))
        end do
      end associate
    end do
    if (mine > near%solid) return
    do p = 1, in_element
      if (.not. wet(p)) cycle
      associate (n => near%at(p, mine))
        do i = 1, 3
          whole(i, p) = total(i, n)**2/fluid(n)
          spring(:, i, p) = size_own(n)/size_all(n)*total(:, n)*total(i, n)/fluid(n)
        end do
      end associate
    end do
  end subroutine Springs

  pure function At(values) result(all)
    real(sp), intent(in) :: values(:)                         !< (1 or 125)
    real(dp) :: all(in_element)
    all = values(1)
    if (size(values) > 1) all = values
  end function At

  !> All elements that share a node with element e, itself too, those of solid first.
  pure subroutine Surrounding(elements, links, e, group)
    type(elements_t), intent(in) :: elements
    type(links_t), intent(in) :: links
    integer, intent(in) :: e
    integer, allocatable, intent(out) :: group(:)
    integer :: a, i
    allocate (group(0))
    do a = 1, 8
      associate (n => elements%node(a, e))
        do i = links%first(n), links%first(n + 1) - 1
          if (any(group == links%element(i))) cycle
          if (links%element(i) <= elements%solid) then
            group = [links%element(i), group]
          else
            group = [group, links%element(i)]
          end if
        end do
      end associate
    end do
  end subroutine Surrounding

  !> What numbers the points of some elements.
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

  !> The diagonal of the stiffness of an element, (3, 125); of a fluid all three components are the same.
  pure function Diagonal(elements, e, slope, volume) result(k)
    type(elements_t), intent(in) :: elements
    integer, intent(in) :: e
    real(dp), intent(in) :: slope(3, 3, in_element), volume(in_element)
    real(dp) :: k(3, in_element)
    real(dp) :: g(3), first, second
    integer :: p, q, a, l, at(3), m
    k = 0
    do p = 1, in_element
      at = modulo([p - 1, (p - 1)/along, (p - 1)/along**2], along) + 1
      do a = 0, 3                                         ! the point itself, then the others on its lines
        do l = 1, merge(1, along, a == 0)
          if (a == 0) then
            q = p
            g = matmul([gll_d(at(1), at(1)), gll_d(at(2), at(2)), gll_d(at(3), at(3))], slope(:, :, p))
          else
            if (l == at(a)) cycle
            q = p + (l - at(a))*along**(a - 1)
            g = gll_d(l, at(a))*slope(a, :, q)
          end if
          m = min(q, size(elements%rho, 1))
          first = 0
          second = 1/elements%rho(m, e)
          if (e <= elements%solid) then
            first = elements%lambda(m, e) + elements%mu(m, e)
            second = elements%mu(m, e)
          end if
          k(:, p) = k(:, p) + volume(q)*(first*g**2 + second*sum(g**2))
        end do
      end do
    end do
  end function Diagonal

  !> The largest eigenvalue of stiffness and springs over mass, raised by 1 %: after 30 steps it is that or up to 1 % less.
  pure real(dp) function Lanczos(elements, e, slope, volume, mass, spring) result(largest)
    type(elements_t), intent(in) :: elements
    integer, intent(in) :: e
    real(dp), intent(in) :: slope(3, 3, in_element), volume(in_element), mass(3, in_element), spring(3, 3, in_element)
    real(dp) :: v(3, in_element), before(3, in_element), w(3, in_element), root(3, in_element), diagonal(most_steps), &
      beside(0:most_steps), force(in_element)
    integer :: i, p, steps
    root = sqrt(mass)
    v = reshape([(modulo(0.618_dp*i*i, 1.0_dp) - 0.45_dp, i=1, 3*in_element)], [3, in_element])
    if (e > elements%solid) v(2:, :) = 0
    v = v/norm2(v)
    before = 0
    beside = 0
    do steps = 1, most_steps
      associate (rho => elements%rho(:, e), lambda => elements%lambda(:, e), mu => elements%mu(:, e))
        if (e <= elements%solid) then
          call SolidForce(v/root, slope, volume, real(lambda, dp), real(mu, dp), w)
          do p = 1, in_element
            w(:, p) = w(:, p) - matmul(spring(:, :, p), v(:, p)/root(:, p))
          end do
        else
          call FluidForce(v(1, :)/root(1, :), slope, volume, real(rho, dp), force)
          w = 0
          w(1, :) = force
        end if
      end associate
      w = -w/root - beside(steps - 1)*before
      diagonal(steps) = sum(w*v)
      w = w - diagonal(steps)*v
      beside(steps) = norm2(w)
      before = v
      if (.not. beside(steps) > 1.0e-9_dp*diagonal(steps)) exit
      v = w/beside(steps)
    end do
    steps = min(steps, most_steps)
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
