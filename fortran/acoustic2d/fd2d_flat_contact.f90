!> Short waves that the grid lacks close to a source beside a flat contact of densities. Arguments stand in fd2d.f90.
!>
!> As in nearfield.f90 the short waves around a source follow it at once, so what is lacking is Q'(t) and Q(t) times numbers: the
!> exact static field less that of the grid, as source and receiver read it. Beside a contact the grid's densities change over
!> eight cells, and its short waves with them. So here the grid's field is solved for in its own densities, in 2 ms,
!>
!>     -div (1/rho grad g) + κ²/rho g = δ,
!>
!> a Fourier sum along the contact, a positive definite matrix across it for each of its waves. The exact field is that of the
!> source and of its image: g = rho (K0(κr) + R K0(κr'))/(2π), R = (rho' - rho)/(rho' + rho), and rho (1 + R) K0(κr)/(2π) beyond the
!> contact. Both are extrapolated to κ = 0. The contact is where the slope of the grid's densities has its first moment; the second
!> tells it from several contacts.
submodule(fd2d_m) fd2d_flat_contact
  use kinds_m, only: pi
  use linear_m, only: SolvePositive
  use nearfield_m, only: BesselK, kappa2, near_least, near_most, share
  implicit none

  integer, parameter :: seen = 14                 !< cells around the source that tell of the contact
  integer, parameter :: parted = 2                !< of these, that are even at least on both sides of it
  real(dp), parameter :: same = 1.0e-5_dp         !< relative: densities that differ by less
  real(dp), parameter :: apart = 1.05_dp          !< of densities, the larger over the less: less is no contact
  real(dp), parameter :: thin = 0.01_dp           !< of the second moment of its slope, from that of one contact [cells**2]
  integer, parameter :: half = 32                 !< cells around the source with a field: exp(-κ half) of it is left

  !> A contact across axis `across` (1: x, 2: z), `at` [cells, from the node nearest to the source].
  type :: flat_t
    integer :: across, node(2)
    real(dp) :: at, rho(2)                        !< densities before and beyond it
    real(dp) :: inner(-seen:seen, 2)              !< the grid's, of velocities along and across it, at and half a cell beyond a node
  end type flat_t

contains

  module procedure FlatNear
    type(flat_t) :: contact, also
    real(dp) :: g(1 - half:half, 1 - half:half, 0:2), place(2), from(2)
    integer :: r, c, nrec
    logical :: flat, solved
    nrec = size(self%shot%rx)
    allocate (done(nrec), source=.false.)
    solved = .false.
    if (.not. allocated(self%shot%at_places)) return
    from = [(self%shot%sx - self%ax%x0)/self%ax%h, (self%shot%sz - self%az%x0)/self%az%h] + 1
    do r = 1, nrec
      place = [(self%shot%rx(r) - self%ax%x0)/self%ax%h, (self%shot%rz(r) - self%az%x0)/self%az%h] + 1
      if (norm2(place - from) < near_least .or. norm2(place - from) > near_most) cycle
      if (.not. solved) then
        call FindFlat(self, nint(from), contact, flat)
        if (.not. flat) return
        call GridField(self, contact, source, g)
        solved = .true.
      end if
      call FindFlat(self, nint(place), also, done(r))       ! as if source and receiver had changed places
      if (done(r)) done(r) = SameContact(contact, also)
      if (.not. done(r)) cycle
      do c = 1, size(self%fields)
        self%near(r, c) = Exact(self, contact, from - contact%node, place - contact%node, self%fields(c)) - &
                          Reading((c - 1)*nrec + r)
      end do
    end do

  contains

    !> The grid's field, read by point m and by what is beside it; σ is -p.
    real(dp) function Reading(m)
      integer, intent(in) :: m
      integer :: b, n
      Reading = ReadOne(m)
      do b = 1, self%beside
        n = points%n - self%beside + b
        if (self%whose(b) == m) Reading = Reading + ReadOne(n)
      end do
    end function Reading

    real(dp) function ReadOne(m)
      integer, intent(in) :: m
      integer :: n
      ReadOne = 0
      do n = points%start(m), points%start(m + 1) - 1
        ReadOne = ReadOne + points%w(n)*g(points%i(n) - contact%node(1), points%k(n) - contact%node(2), field(m))
      end do
      if (field(m) == field_sigma) ReadOne = -ReadOne
    end function ReadOne

  end procedure FlatNear

  !> Looks for the flat contact nearest to a node.
  pure subroutine FindFlat(self, node, contact, flat)
    class(fd2d_t), intent(in) :: self
    integer, intent(in) :: node(2)
    type(flat_t), intent(out) :: contact
    logical, intent(out) :: flat
    real(dp) :: rho(-seen:seen, -seen:seen, 2), width
    integer :: i, k, a, low, high
    flat = all(node - seen >= 1) .and. all(node + seen < shape(self%rho))
    if (.not. flat) return
    do k = -seen, seen
      do i = -seen, seen
        rho(i, k, :) = [Density(self, 1, node(1) + i, node(2) + k), Density(self, 2, node(1) + i, node(2) + k)]
      end do
    end do
    contact%node = node
    do a = 1, 2
      contact%across = a
      if (a == 1) contact%inner = rho(:, 0, [2, 1])
      if (a == 2) contact%inner = rho(0, :, :)
      call KeepNearest(contact, low, high, flat)
      if (flat) flat = Even(rho, AlongIt(contact))
      if (flat) exit
    end do
    if (.not. flat) return
    associate (first => contact%rho(1), last => contact%rho(2), rho_at => contact%inner(:, 2))
      flat = max(first, last) > apart*min(first, last)
      if (.not. flat) return
      contact%at = seen - sum(rho_at(:2*seen) - first)/(last - first)
      width = sum((rho_at(2:) - rho_at(:2*seen))*([(i, i=1 - seen, seen)] - contact%at)**2)/(last - first)
      flat = abs(width - merge(1/12.0_dp, 1/4.0_dp, self%grid%apart)) <= thin
    end associate

  contains

    !> True where all columns, or rows, have those densities from before the contact to beyond it.
    pure logical function Even(a, b)
      real(dp), intent(in) :: a(-seen:, -seen:, :), b(-seen:, -seen:, :)
      if (contact%across == 1) then
        Even = all(abs(a(low:high, :, :) - b(low:high, :, :)) <= same*a(low:high, :, :))
      else
        Even = all(abs(a(:, low:high, :) - b(:, low:high, :)) <= same*a(:, low:high, :))
      end if
    end function Even

  end subroutine FindFlat

  !> Keeps of densities across the change nearest to the node, from number `low` to `high`, and goes on level from there. `found`:
  !> they are even on both sides of it.
  pure subroutine KeepNearest(contact, low, high, found)
    type(flat_t), intent(inout) :: contact
    integer, intent(out) :: low, high
    logical, intent(out) :: found
    logical :: changes(-seen:seen - 1)
    integer :: n
    do n = -seen, seen - 1
      changes(n) = any(abs(contact%inner(n + 1, :) - contact%inner(n, :)) > same*contact%inner(n, :))
    end do
    do n = 0, seen - 1
      if (changes(n) .or. changes(-1 - n)) exit
    end do
    found = n < seen
    if (.not. found) return
    low = merge(n, -1 - n, changes(n))
    high = low + 1
    do while (any(changes(max(low - parted, -seen):low - 1)))
      low = low - 1
    end do
    do while (any(changes(high:min(high + parted, seen) - 1)))
      high = high + 1
    end do
    found = low - parted >= -seen .and. high + parted <= seen
    contact%inner(:low, :) = spread(contact%inner(low, :), 1, low + seen + 1)
    contact%inner(high:, :) = spread(contact%inner(high, :), 1, seen - high + 1)
    contact%rho = contact%inner([low, high], 2)
  end subroutine KeepNearest

  !> True of a contact seen from two nodes.
  pure logical function SameContact(one, other)
    type(flat_t), intent(in) :: one, other
    associate (a => one%across)
      SameContact = other%across == a .and. abs(one%node(a) + one%at - other%node(a) - other%at) < 0.01_dp
    end associate
  end function SameContact

  !> The densities of velocities along x and z, were they the same everywhere along the contact.
  pure function AlongIt(contact) result(rho)
    type(flat_t), intent(in) :: contact
    real(dp) :: rho(-seen:seen, -seen:seen, 2)
    integer :: axis
    do axis = 1, 2
      associate (inner => contact%inner(:, merge(2, 1, axis == contact%across)))
        rho(:, :, axis) = spread(inner, 3 - contact%across, 2*seen + 1)
      end associate
    end do
  end function AlongIt

  !> Pressure and velocities of the grid around the node, for the source as it is spread.
  subroutine GridField(self, contact, source, g)
    class(fd2d_t), intent(in) :: self
    type(flat_t), intent(in) :: contact
    type(points_t), intent(in) :: source
    real(dp), intent(out) :: g(1 - half:, 1 - half:, 0:)
    real(dp) :: s(1 - half:half, 1 - half:half), p(1 - half:half, 1 - half:half), v(1 - half:half, 1 - half:half, 2), d(2)
    integer :: n, to(2), m, k
    d = [self%grid%dx, self%grid%dz]
    s = 0
    do n = 1, source%start(2) - 1
      to = [source%i(n), source%k(n)] - contact%node
      if (contact%across == 1) to = to([2, 1])
      s(to(1), to(2)) = s(to(1), to(2)) + source%w(n)/product(d)
    end do
    if (contact%across == 1) d = d([2, 1])
    p = 0
    do m = 1, 2
      call AddWaves(self%grid%w(:self%grid%half_length), contact, d, kappa2(m), share(m), s, p)
    end do
    v = 0
    do n = 1 - half, half
      do m = 1, self%grid%half_length
        v(:, n, 1) = v(:, n, 1) - self%grid%w(m)/(d(1)*DensityAt(contact, n, 1))*(eoshift(p(:, n), m) - eoshift(p(:, n), 1 - m))
        v(n, :, 2) = v(n, :, 2) - self%grid%w(m)/d(2)*(eoshift(p(n, :), m) - eoshift(p(n, :), 1 - m))
      end do
      v(n, :, 2) = v(n, :, 2)/[(DensityAt(contact, k, 2), k=1 - half, half)]
    end do
    if (contact%across == 2) then
      g(:, :, 0) = p
      g(:, :, field_vx) = v(:, :, 1)
      g(:, :, field_vz) = v(:, :, 2)
    else
      g(:, :, 0) = transpose(p)
      g(:, :, field_vx) = transpose(v(:, :, 2))
      g(:, :, field_vz) = transpose(v(:, :, 1))
    end if
  end subroutine GridField

  !> Density of the velocity along (1) or across (2) a contact, at a node across it or half a cell beyond.
  pure real(dp) function DensityAt(contact, n, which)
    type(flat_t), intent(in) :: contact
    integer, intent(in) :: n, which
    if (abs(n) <= seen) then
      DensityAt = contact%inner(n, which)
    else
      DensityAt = contact%rho(merge(1, 2, n < 0))
    end if
  end function DensityAt

  !> Adds `much` times the pressure of a source s (along, across) to p: of each wave along the contact the matrix across it.
  subroutine AddWaves(w, contact, d, kappa_squared, much, s, p)
    real(dp), intent(in) :: w(:), d(2), kappa_squared, much, s(1 - half:, 1 - half:)
    type(flat_t), intent(in) :: contact
    real(dp), intent(inout) :: p(1 - half:, 1 - half:)
    real(dp) :: across(2*half, 2*half), a(2*half, 2*half), x(2*half, 2), wave, along, turn(1 - half:half, 2)
    integer :: j, m, n
    across = MatrixAcross(w, contact, d(2))
    do j = 0, half
      wave = pi*j/half
      turn(:, 1) = [(cos(wave*n), n=1 - half, half)]
      turn(:, 2) = [(sin(wave*n), n=1 - half, half)]
      along = sum(2*w*sin([((m - 0.5_dp)*wave, m=1, size(w))]))/d(1)
      a = across
      do n = 1, 2*half
        a(n, n) = a(n, n) + (along**2 + kappa_squared/product(d))/DensityAt(contact, n - half, 1)
      end do
      x = matmul(transpose(s), turn)
      call SolvePositive(a, x)
      p = p + merge(1, 2, modulo(j, half) == 0)*much/(2*half)*matmul(turn, transpose(x))
    end do
  end subroutine AddWaves

  !> -d/dz 1/rho d/dz across a contact.
  pure function MatrixAcross(w, contact, d) result(a)
    real(dp), intent(in) :: w(:), d
    type(flat_t), intent(in) :: contact
    real(dp) :: a(2*half, 2*half), row(2*half)
    integer :: n, m, i
    a = 0
    do n = 1 - size(w), 2*half + size(w)
      row = 0
      do m = 1, size(w)
        if (n + m >= 1 .and. n + m <= 2*half) row(n + m) = w(m)/d
        if (n - m + 1 >= 1 .and. n - m + 1 <= 2*half) row(n - m + 1) = -w(m)/d
      end do
      do i = max(1, n - size(w)), min(2*half, n + size(w))
        a(:, i) = a(:, i) + row*row(i)/DensityAt(contact, n - half, 2)
      end do
    end do
  end function MatrixAcross

  !> The static field itself, of a component.
  pure real(dp) function Exact(self, contact, from, to, component)
    class(fd2d_t), intent(in) :: self
    type(flat_t), intent(in) :: contact
    real(dp), intent(in) :: from(2), to(2)
    integer, intent(in) :: component
    real(dp) :: d(2), image(2), rho(2), back
    integer :: sides(2), m
    d = [self%grid%dx, self%grid%dz]
    associate (a => contact%across)
      sides = merge(1, 2, [from(a), to(a)] <= contact%at)
      rho = contact%rho(sides)
      image = from
      image(a) = 2*contact%at - from(a)
      associate (other => contact%rho(3 - sides(1)))
        back = (other - rho(1))/(other + rho(1))
      end associate
    end associate
    Exact = 0
    do m = 1, 2
      if (sides(1) == sides(2)) then
        Exact = Exact + share(m)*rho(1)*(StaticField((to - from)*d) + back*StaticField((to - image)*d))
      else
        Exact = Exact + share(m)*rho(1)*(1 + back)*StaticField((to - from)*d)
      end if
    end do
    if (component /= field_sigma) Exact = Exact/rho(2)

  contains

    !> K0/(2π) or its negative gradient.
    pure real(dp) function StaticField(x)
      real(dp), intent(in) :: x(2)
      real(dp) :: kappa
      kappa = sqrt(kappa2(m)/product(d))
      if (component == field_sigma) then
        StaticField = BesselK(kappa*norm2(x), 0)/(2*pi)
      else
        StaticField = kappa*BesselK(kappa*norm2(x), 1)*x(component)/norm2(x)/(2*pi)
      end if
    end function StaticField

  end function Exact

end submodule fd2d_flat_contact
