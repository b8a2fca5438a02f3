!> Receivers close to their source get what the mesh lacks there, where the medium around both is even, or there are two with a
!> plane between them. Arguments stand in sem3d.f90.
!>
!> Points around the source make it as wide as an element. Waves too short to travel, which such a source lacks, follow it as if at
!> rest, and their inertia makes polynomials of frequency. So the exact field (even_medium.f90) and that of the mesh, by its own
!> matrices, from the points of the source to those of receivers (near_patch.f90), are computed for waves that grow as exp(s t), at
!> a few s. Of long waves they differ by next to nothing, and what is left is a polynomial in w**2 = -s**2:
!>
!>     exact - mesh = sum_j w**2j T_j
!>
!> T_j times the history of the source and its even derivatives by time is added to the samples. In rock below a source in water
!> the sum begins with j = 1, as slow water has no pressure that would move it; there two terms meet the numbers at three s best:
!> farther away the mesh is almost right, and what it lacks is no polynomial. Where moduli relax motion is larger by as much, by the
!> modulus of S waves, or of P waves where the source pushes to all sides.
submodule(sem3d_m) sem3d_near
  use element_finder_m, only: FinderInside
  use hexahedron_m, only: HexLongest
  use kinds_m, only: pi
  use linear_m, only: SolvePositive, SolveSmall
  use near_exact_m, only: NearFields
  use near_patch_m, only: patch_most, patch_numbers, patch_tries, PatchAsks, PatchBeside, PatchHas, PatchList, PatchMake, &
                          PatchMedium, PatchRange, PatchReach
  use near_solve_m, only: near_times, PatchSolve
  use sem3d_components_m, only: Sem3dOfGradient, Sem3dPlace, Sem3dPressed, Sem3dRecord, Sem3dRecords, Sem3dSource
  use sem3d_engine_m, only: field_chi_t
  use sort_m, only: SortOrder
  use source3d_m, only: source3d_t, source_force, source_volume, SourceParts
  use zener_m, only: zener_mechanisms, ZenerShares, ZenerTimes
  implicit none

  integer, parameter :: orders = near_times - 1
  real(dp), parameter :: kappa(near_times) = [0.26_dp, 0.45_dp, 0.65_dp]   !< s over that of the shortest waves there are
  real(dp), parameter :: smooth = 0.5_dp          !< of a radian of fmax: steps of derivatives by time

contains

  module procedure MakePatch
    real(dp) :: medium(7), reach, wide, xi(3)
    integer :: r, try, e
    self%near = near_t()
    helped = .false.
    associate (source => self%near%source, edge => self%near%edge)
      source%x = [self%shot%sx, self%shot%sy, self%shot%sz]
      medium = 0
      e = self%source_in
      if (e > 0) medium = [HexLongest(self%elements%corner(:, :, e)), merge(1.0_dp, 0.0_dp, e <= self%elements%solid), &
                           PatchMedium(self%elements, e), real(self%elements%loss(:, e), dp)]
      call OfAll(self, medium, error)
      if (allocated(error)) return
      edge = medium(1)
      source%solid = medium(2) > 0
      source%medium = medium(3:5)
      reach = PatchReach(source%solid, self%own%source, names)
      do try = 1, patch_tries
        call PatchAsks(norm2(x - spread(source%x, 2, size(helped)), 1)/edge, reach, try, helped, wide)
        if (.not. any(helped)) return
        call GatherPatch(self, source, wide*edge, error)
        if (allocated(error)) return
        if (self%near%patch%fits) exit
      end do
      if (try > patch_tries) then
        helped = .false.
        return
      end if
      do r = 1, size(helped)
        if (.not. helped(r)) cycle
        call PatchHas(self%near%patch, x(:, r), self%band() > 0, e, xi)
        helped(r) = e > 0
      end do
      if (self%own%attenuates) self%near%loss = LossOf(self%own%source, source%medium, medium(6:7))
    end associate
  end procedure MakePatch

  !> 1/Q of the modulus that tells how large the motion is.
  pure real(dp) function LossOf(of, medium, loss)
    type(source3d_t), intent(in) :: of
    real(dp), intent(in) :: medium(3), loss(2)
    real(dp) :: bulk
    LossOf = loss(2)
    if (.not. (of%kind == source_volume .or. of%kind /= source_force .and. all(abs(of%moment(2:3) - of%moment(1)) <= 0) .and. &
               all(abs(of%moment(4:)) <= 0))) return
    bulk = medium(2) + 2*medium(3)/3
    LossOf = (bulk*loss(1) + 4*medium(3)/3*loss(2))/(bulk + 4*medium(3)/3)
  end function LossOf

  !> Makes self%near%patch of the elements within a radius [m] of the source, in the order of the whole mesh.
  subroutine GatherPatch(self, source, radius, error)
    class(sem3d_t), intent(inout) :: self
    type(near_source_t), intent(in) :: source
    real(dp), intent(in) :: radius
    type(error_t), allocatable, intent(inout) :: error
    real(dp), allocatable :: told(:), number(:), x(:, :), flat(:)
    integer, allocatable :: list(:), order(:)
    integer :: i, before, n, each
    self%near%patch = near_patch_t()
    call PatchList(self%elements, self%finder, source%x, radius, list)
    list = pack(list, self%cut%owner(list) == self%partners_mine())
    allocate (told(merge(self%partners%n, 1, self%grouped())), source=0.0_dp)
    told(self%partners_mine()) = size(list)
    call OfAll(self, told, error)
    n = nint(sum(told))
    if (allocated(error) .or. n > patch_most) return
    before = nint(sum(told(:self%partners_mine() - 1)))
    each = 3*self%elements%per + 6 + patch_numbers
    allocate (number(n), source=0.0_dp)
    allocate (x(each, n), source=0.0_dp)
    do i = 1, size(list)
      number(before + i) = list(i)
      if (self%grouped()) number(before + i) = self%share%number(list(i))
      x(:, before + i) = [self%elements%corner(:, :, list(i)), real(self%elements%face(:, list(i)), dp), &
                          PatchRange(self%elements, list(i))]
    end do
    flat = reshape(x, [size(x)])
    call OfAll(self, number, error)
    call OfAll(self, flat, error)
    if (allocated(error)) return
    call SortOrder(nint(number), order)
    x = reshape(flat, shape(x))
    x = x(:, order)
    associate (corner => reshape(x(:3*self%elements%per, :), [3, self%elements%per, n]), range => x(each - patch_numbers + 1:, :), &
               face => nint(x(3*self%elements%per + 1:each - patch_numbers, :)))
      call PatchMake(corner, face, range, source%solid, source%medium, self%near%patch)
    end associate
  end subroutine GatherPatch

  module procedure MakeNear
    type(sem3d_list_t) :: acts, reads
    type(sem3d_place_t) :: at_source, place(size(helped))
    real(dp), allocatable :: b(:, :), u(:, :, :), exact(:, :), motion(:, :, :), gradient(:, :, :, :)
    real(dp) :: xi(3), six(6), bulk, s(near_times), v
    integer, allocatable :: nearby(:)             !< receivers that are helped
    real(dp), allocatable :: pressed(:)           !< weights of the water's pressure in traces (water_pressure.f90)
    integer, allocatable :: of(:)                 !< their receivers
    type(near_source_t) :: source
    logical :: beyond(size(helped))               !< of a contact
    integer :: e, r, m, k, n
    allocate (self%near%terms(0:orders, 0), self%near%trace(0), self%near%order(0))
    if (.not. any(helped) .or. .not. self%gathers()) return
    source = self%near%source
    associate (patch => self%near%patch)
      call FinderInside(patch%finder, patch%mesh%corner, source%x, e, xi)
      call Sem3dPlace(patch%mesh, patch%meetings, e, xi, source%x, self%band(), at_source)
      call Sem3dSource(acts, at_source, self%own%source, error)
      bulk = at_source%lambda + 2*at_source%mu/3
      call SourceParts(self%own%source, bulk, source%force, six)
      source%moment = reshape(six([1, 4, 5, 4, 2, 6, 5, 6, 3]), [3, 3])
      source%volume = six(1)/bulk
      call PatchBeside(patch, source)
      v = sqrt(merge(source%medium(3), source%medium(2), source%solid)/source%medium(1))
      if (source%layered) v = minval(source%layers%medium(2, :))
      if (source%floored) v = min(v, source%floor%rock(2))
      s = kappa*max(2*pi*self%scheme%fmax, pi*v/self%near%edge)
      n = count(helped)*(size(names) + 1)
      deallocate (self%near%trace, self%near%order)
      allocate (exact(near_times, n), self%near%trace(n), self%near%order(n), pressed(n), of(n))
      n = 0
      !$omp parallel do private(e, xi) schedule(dynamic) num_threads(max(1, self%team%threads))
      do r = 1, size(helped)
        if (.not. helped(r)) cycle
        call FinderInside(patch%finder, patch%mesh%corner, At(r), e, xi)
        beyond(r) = patch%kind(e) > 1
        call Sem3dPlace(patch%mesh, patch%meetings, e, xi, At(r), self%band(), place(r))
      end do
      !$omp end parallel do
      nearby = pack([(r, r=1, size(helped))], helped)
      allocate (motion(3, size(nearby), near_times), gradient(3, 3, size(nearby), near_times))
      do k = 1, near_times
        call NearFields(source, s(k), reshape([(At(nearby(m)), m=1, size(nearby))], [3, size(nearby)]), &
                        beyond(nearby), max(1, self%team%threads), motion(:, :, k), gradient(:, :, :, k))
      end do
      do r = 1, size(helped)
        if (.not. helped(r) .or. allocated(error)) cycle
        do m = 1, size(names)
          call Record((m - 1)*size(helped) + r, trim(names(m)))
        end do
        do m = size(names)*size(helped) + 1, list%receivers           ! the pressure of isotropic rock that relaxes
          if (.not. allocated(self%relaxing%from)) exit
          k = findloc(self%relaxing%from(:self%relaxing%n), m, 1)
          if (k == 0) cycle
          if (modulo(self%relaxing%trace(k) - 1, size(helped)) + 1 == r) call Record(m, 'p')
        end do
      end do
      self%near%trace = self%near%trace(:n)
      self%near%order = self%near%order(:n)
      if (allocated(error)) self%near%trace = [integer ::]
      if (allocated(error) .or. n == 0) return
      allocate (b(merge(3, 1, patch%mesh%solid > 0), patch%mesh%points), source=0.0_dp)
      do m = 1, acts%n
        k = Part(acts%field(m))
        b(k, acts%point(m)) = b(k, acts%point(m)) + acts%w(m)
      end do
      call PatchSolve(patch, source, s, b, self%near%edge, max(1, self%team%threads), u)
      deallocate (self%near%terms)
      allocate (self%near%terms(0:orders, size(self%near%trace)))
      do k = 1, size(self%near%trace)
        do m = reads%start(k), reads%start(k + 1) - 1
          exact(:, k) = exact(:, k) - reads%w(m)*u(:, Part(reads%field(m)), reads%point(m))
        end do
        if (abs(pressed(k)) > 0) exact(:, k) = exact(:, k) + pressed(k)*s**2*Water(place(of(k)))
        self%near%terms(:, k) = Polynomial(s, exact(:, k), merge(1, 0, source%floored .and. place(of(k))%solid))
      end do
    end associate
    self%near%patch = near_patch_t()

  contains

    subroutine Record(trace, name)
      integer, intent(in) :: trace
      character(*), intent(in) :: name
      integer :: k, m
      call Sem3dRecord(reads, place(r), name, error)
      if (allocated(error)) return
      n = n + 1
      self%near%trace(n) = trace
      pressed(n) = 0
      if (place(r)%solid .and. allocated(place(r)%beyond)) pressed(n) = Sem3dPressed(place(r), name)
      of(n) = r
      self%near%order(n) = merge(1, 0, scan(name(1:1), 'vaew') > 0 .or. reads%slope(reads%receivers) .and. &
                                 scan(name(1:1), 'ps') > 0) + merge(1, 0, reads%slope(reads%receivers))
      m = findloc(nearby, r, 1)
      exact(:, n) = [(Exactly(motion(:, m, k), gradient(:, :, m, k), name), k=1, near_times)]
    end subroutine Record

    pure function At(r) result(x)
      integer, intent(in) :: r
      real(dp) :: x(3)
      x = [self%shot%rx(r), self%shot%ry(r), self%shot%rz(r)]
    end function At

    !> The component that follows from the exact field and its gradient.
    real(dp) function Exactly(u, g, name)
      real(dp), intent(in) :: u(:), g(:, :)
      character(*), intent(in) :: name
      integer :: axis
      axis = index('xyz', name(2:2))
      if (place(r)%solid) then
        if (scan(name(1:1), 'vua') > 0) Exactly = u(axis)
        if (scan(name(1:1), 'vua') == 0) Exactly = sum(Sem3dOfGradient(place(r), name)*g)
      else if (scan(name(1:1), 'vua') > 0) then
        Exactly = g(1, axis)/source%medium(1)
      else if (name == 'p') then
        Exactly = -u(1)
      else
        Exactly = merge(u(1), 0.0_dp, name(2:2) == name(3:3))
      end if
    end function Exactly

    !> chi of the mesh beyond a contact.
    pure function Water(beside) result(chi)
      type(sem3d_place_t), intent(in) :: beside
      real(dp) :: chi(near_times)
      integer :: i
      chi = 0
      do i = 1, size(beside%beyond)
        chi = chi + beside%beyond(i)*u(:, 1, beside%point(i))
      end do
    end function Water

    !> Of the fields of an engine.
    pure integer function Part(field)
      integer, intent(in) :: field
      Part = merge(modulo(field, 3) + 1, 1, field < field_chi_t)
    end function Part

  end procedure MakeNear

  !> T_j of numbers at s, those below j = least are 0; with fewer than there are numbers by least squares.
  pure function Polynomial(s, numbers, least) result(t)
    real(dp), intent(in) :: s(:), numbers(:)
    integer, intent(in) :: least
    real(dp) :: t(0:orders), a(near_times, least:orders), squares(least:orders, least:orders), unit
    integer :: n, j
    unit = s(near_times)**2
    do n = 1, near_times
      a(n, :) = [((-s(n)**2/unit)**j, j=least, orders)]
    end do
    t = 0
    if (least == 0) then
      t = numbers
      call SolveSmall(a, t)
    else
      squares = matmul(transpose(a), a)
      t(least:) = matmul(transpose(a), numbers)
      call SolvePositive(squares, t(least:))
    end if
    t = t/[(unit**j, j=0, orders)]
  end function Polynomial

  module procedure AddNear
    real(sp), allocatable :: q(:, :)
    real(dp), allocatable :: series(:, :, :), history(:)
    integer :: n, k, j, wide
    if (.not. allocated(self%near%trace)) return
    if (size(self%near%trace) == 0) return
    call Histories(self, q)
    n = size(q, 2)
    associate (dt => self%scheme%dt)
      allocate (series(n, 0:orders, 0:2))
      history = [scale(real(q(1, :), dp), -self%exponent2), 0.0_dp, 0.0_dp]       ! the beginning of each step
      history(n + 1:) = history(n)
      if (self%near%loss > 0) call Creep(self%own%q_band, self%near%loss, dt, history)
      series(:, 0, 0) = history(2:n + 1)
      series(:, 0, 1) = (history(2:n + 1) - history(:n))/dt
      series(:, 0, 2) = (history(3:) - 2*history(2:n + 1) + history(:n))/dt**2
      wide = max(1, nint(smooth/(2*pi*self%scheme%fmax*dt)))
      do k = 0, 2
        do j = 1, orders
          series(:, j, k) = MinusBend(series(:, j - 1, k), dt, wide)
        end do
      end do
      do k = 1, size(self%near%trace)
        associate (trace => raw(:, self%near%trace(k)))
          trace = real(trace + matmul(series(:, :, self%near%order(k)), self%near%terms(:, k)), sp)
        end associate
      end do
    end associate
  end procedure AddNear

  !> Minus the second derivative by time, from samples `wide` steps apart, as rounding would show from step to step.
  pure function MinusBend(x, dt, wide) result(bend)
    real(dp), intent(in) :: x(:), dt
    integer, intent(in) :: wide
    real(dp) :: bend(size(x)), more(1 - 2*wide:size(x) + 2*wide)
    integer :: n, i
    n = size(x)
    more(:0) = x(1)
    more(1:n) = x
    more(n + 1:) = x(n)
    do i = 1, n
      bend(i) = (2.5_dp*more(i) - 4/3.0_dp*(more(i - wide) + more(i + wide)) + (more(i - 2*wide) + more(i + 2*wide))/12)/ &
                (wide*dt)**2
    end do
  end function MinusBend

  !> Makes of a history that which by an unrelaxed modulus moves as much as it does by the modulus that relaxes
  !> (stress_relaxation.f90).
  pure subroutine Creep(band, loss, dt, history)
    real(dp), intent(in) :: band(2), loss, dt
    real(dp), intent(inout) :: history(:)
    real(dp), dimension(zener_mechanisms) :: decay, gain, z
    integer :: n
    decay = exp(-dt/ZenerTimes(band))
    gain = (1 - decay)/2*ZenerShares(band, loss)
    z = 0
    do n = 1, size(history)
      history(n) = (history(n) + sum(z))/(1 - sum(gain))
      z = decay*(z + gain*history(n)) + gain*history(n)
    end do
  end subroutine Creep

end submodule sem3d_near
