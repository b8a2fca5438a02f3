!> Sets up a 2D shot: the medium on its grid and the absorbing layers, source and receivers as cells and weights. Arguments stand in
!> fd2d.f90.
submodule(fd2d_m) fd2d_setup
  use fd2d_stability_m, only: StabilityCheck
  use nearfield_m, only: near_most, nearfield_t, NearfieldNew, NearfieldTerms
  use off_grid_points_m, only: OffGridAdd, OffGridBox, OffGridJoin, OffGridNearest, OffGridStart
  use pml_m, only: PmlProfile
  implicit none

  integer, parameter :: at_once = 1024            !< receivers near contacts whose sums, of 4 kB, are there together
  integer, parameter :: few = 16                  !< of them for which another thread is worth while

contains

  module procedure CheckWindow
    integer :: r
    associate (scheme => self%scheme, shot => self%shot)
      if (abs(window%dx/scheme%dx - 1) > 1e-9_dp .or. abs(window%dz/scheme%dz - 1) > 1e-9_dp) then
        call Fail(error, 'the model window has cells of '//Str(window%dx)//' x '//Str(window%dz)//' m, but the scheme was made '// &
                  'for '//Str(scheme%dx)//' x '//Str(scheme%dz)//' m')
      else if (window%nx < 2 .or. window%nz < 2) then
        call Fail(error, 'the model window has '//Str(window%nx)//' x '//Str(window%nz)//' nodes, at least 2 x 2 are needed')
      else if (window%ny > 0 .or. .not. (WindowHas(window, 2) .or. WindowHas(window, 3))) then
        call Fail(error, 'the medium of the model window is not velocity and density, nor a modulus and two densities')
      else if (.not. allocated(shot%rx)) then
        call Fail(error, 'the shot has no receivers')
      end if
      if (allocated(error)) return
      call CheckInside(window, shot%sx, shot%sz, 'source', error)
      if (scheme%free_top .and. abs(shot%sz - window%z0) < 1e-6_dp*window%dz) &
        call Fail(error, 'source at depth '//Str(shot%sz)//' m lies on the free surface, where the pressure is 0 and no wave '// &
                  'starts: give it a depth')
      do r = 1, size(shot%rx)
        call CheckInside(window, shot%rx(r), shot%rz(r), 'receiver '//Str(r), error)
      end do
    end associate
  end procedure CheckWindow

  !> A place on the edge of the model may be off by 1e-6 of the model's spacing, which may be many of the grid's.
  subroutine CheckInside(window, x, z, what, error)
    type(window_t), intent(in) :: window
    real(dp), intent(in) :: x, z
    character(*), intent(in) :: what
    type(error_t), allocatable, intent(inout) :: error
    real(dp), parameter :: slack = 1e-3_dp          ! of a cell
    real(dp) :: x1, z1
    if (allocated(error)) return
    x1 = window%x0 + (window%nx - 1)*window%dx
    z1 = window%z0 + (window%nz - 1)*window%dz
    if (x >= window%x0 - slack*window%dx .and. x <= x1 + slack*window%dx .and. &
        z >= window%z0 - slack*window%dz .and. z <= z1 + slack*window%dz) return
    call Fail(error, what//' at x = '//Str(x, 9)//' m, z = '//Str(z, 9)//' m lies outside the model window, x = '// &
              Str(window%x0, 9)//'..'//Str(x1, 9)//' m, z = '//Str(window%z0, 9)//'..'//Str(z1, 9)//' m')
  end subroutine CheckInside

  ! --- medium ----------------------------------------------------------------------------------------------------------------

  module procedure make_medium
    logical :: positive
    integer :: pad(2), k, kw, right
    if (allocated(self%kappa)) then
      if (any(shape(self%kappa) /= [self%grid%nx, self%grid%nz])) deallocate (self%kappa, self%rho)
    end if
    if (.not. allocated(self%kappa)) allocate (self%kappa(self%grid%nx, self%grid%nz), self%rho(self%grid%nx, self%grid%nz))
    if (allocated(self%rho_z)) deallocate (self%rho_z)
    if (self%grid%apart) then
      call MediumApart(self, window, error)
      return
    end if
    positive = .true.
    pad = SchemePad(self%scheme)
    associate (left => pad(1), nx => window%nx, kappa => self%kappa, rho => self%rho, vp => window%medium(:, 1, :, 1))
      right = left + nx + 1
      !$omp parallel do private(kw) reduction(.and.: positive) num_threads(self%grid%threads)
      do k = 1, self%grid%nz
        kw = min(max(k - pad(2), 1), window%nz)
        positive = positive .and. all(vp(:, kw) > 0) .and. all(window%medium(:, 1, kw, 2) > 0)
        rho(left + 1:left + nx, k) = window%medium(:, 1, kw, 2)
        kappa(left + 1:left + nx, k) = window%medium(:, 1, kw, 2)*vp(:, kw)**2
        rho(:left, k) = rho(left + 1, k)
        kappa(:left, k) = kappa(left + 1, k)
        rho(right:, k) = rho(left + nx, k)
        kappa(right:, k) = kappa(left + nx, k)
      end do
      !$omp end parallel do
    end associate
    if (.not. positive) then
      call Fail(error, 'the model window has velocities from '//Str(minval(window%medium(:, 1, :, 1)))// &
                ' m/s and densities from '//Str(minval(window%medium(:, 1, :, 2)))//' kg/m3, all must be positive')
      return
    end if
    call StabilityCheck(self%kappa, self%rho, self%grid, error)
    if (.not. allocated(error)) call self%engine%model(self%kappa, self%rho, error)
    if (.not. allocated(error)) call MakeLayers(self, real(maxval(window%medium(:, 1, :, 1)), dp), error)
  end procedure make_medium

  !> The same of a window with K and the densities at vx and vz. In the layers the density is that half a cell within the window, on
  !> all sides: so what is mirrored has mirrored traces.
  subroutine MediumApart(self, window, error)
    class(fd2d_t), intent(inout) :: self
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    integer :: pad(2)
    allocate (self%rho_z(self%grid%nx, self%grid%nz))
    pad = SchemePad(self%scheme)
    call Extend(window%medium(:, 1, :, 1), [0, 0], pad, self%grid%threads, self%kappa)
    call Extend(window%medium(:, 1, :, 2), [1, 0], pad, self%grid%threads, self%rho)
    call Extend(window%medium(:, 1, :, 3), [0, 1], pad, self%grid%threads, self%rho_z)
    if (.not. minval(window%medium) > 0) then
      call Fail(error, 'the model window has moduli from '//Str(minval(window%medium(:, 1, :, 1)))//' Pa and densities from '// &
                Str(minval(window%medium(:, 1, :, 2:)))//' kg/m3, all must be positive')
      return
    end if
    call StabilityCheck(self%kappa, self%rho, self%grid, error, self%rho_z)
    if (.not. allocated(error)) call self%engine%model(self%kappa, self%rho, error, self%rho_z)
    if (.not. allocated(error)) call MakeLayers(self, self%scheme%vmax, error)
  end subroutine MediumApart

  !> Part a of a window on the whole grid, its edge values continued; the last `beyond` along x and z lie beyond the window.
  subroutine Extend(a, beyond, pad, threads, b)
    real(sp), intent(in) :: a(:, :)
    integer, intent(in) :: beyond(2), pad(2), threads
    real(sp), intent(out) :: b(:, :)
    integer :: k, kw, n(2)
    n = shape(a) - beyond
    !$omp parallel do private(kw) num_threads(threads)
    do k = 1, size(b, 2)
      kw = min(max(k - pad(2), 1), n(2))
      b(:pad(1), k) = a(1, kw)
      b(pad(1) + 1:pad(1) + n(1), k) = a(:n(1), kw)
      b(pad(1) + n(1) + 1:, k) = a(n(1), kw)
    end do
    !$omp end parallel do
  end subroutine Extend

  subroutine MakeLayers(self, c, error)
    class(fd2d_t), intent(inout) :: self
    real(dp), intent(in) :: c
    type(error_t), allocatable, intent(inout) :: error
    real(sp) :: px(self%grid%nx, 6), pz(self%grid%nz, 6)
    associate (g => self%grid)
      call PmlProfile(g%nx, g%nleft, g%nright, g%dx, g%dt, c, self%scheme%fpeak, px)
      call PmlProfile(g%nz, g%ntop, g%nbottom, g%dz, g%dt, c, self%scheme%fpeak, pz)
    end associate
    call self%engine%pml(px, pz, error)
  end subroutine MakeLayers

  ! --- source and receivers --------------------------------------------------------------------------------------------------

  module procedure make_source
    type(points_t) :: points
    real(sp), allocatable :: w(:)
    real(dp) :: peak, moved(2), bent(2, 0:2)
    integer :: n, cells
    if (.not. self%scheme%exact_positions) then
      self%shot%sx = OffGridNearest(self%ax, self%shot%sx)
      self%shot%sz = OffGridNearest(self%az, self%shot%sz)
      if (self%scheme%free_top .and. self%shot%sz < self%az%x0 + 0.5_dp*self%az%h) then
        call Fail(error, 'positions=nearest moves the source onto the free surface, where no wave starts: use positions=exact, '// &
                  'or a source deeper than '//Str(self%az%x0 + 0.5_dp*self%az%h)//' m')
        return
      end if
    end if
    points = SourcePoint(self, -self%grid%dt/(self%grid%dx*self%grid%dz), moved, bent)
    cells = points%start(2) - 1
    allocate (w(cells))
    do n = 1, cells
      w(n) = points%w(n)*self%kappa(points%i(n), points%k(n))
    end do
    peak = real(maxval(abs(w)), dp)*maxval(abs(self%scheme%q))
    if (.not. peak <= huge(1.0_sp)) then
      call Fail(error, 'the source is too strong for single precision: make amplitude smaller')
      return
    end if
    self%exponent2 = exponent(peak)
    self%limit = growth*sum(abs(w))*sum(abs(scale(self%scheme%q, -self%exponent2)))
    call self%engine%source(scale(self%scheme%q, -self%exponent2), points%i(:cells), points%k(:cells), w, error)
  end procedure make_source

  !> The cells of the source, with their weights times a factor.
  type(points_t) function SourcePoint(self, factor, moved, bent) result(points)
    class(fd2d_t), intent(in) :: self
    real(dp), intent(in) :: factor
    real(dp), intent(out) :: moved(2), bent(2, 0:2)   !< contact_point_t's
    type(contact_point_t) :: sums
    logical :: contact
    call OffGridStart(points)
    moved = 0
    bent = 0
    contact = allocated(self%shot%at_places)
    if (contact) call ContactPoint(self, field_sigma, self%shot%sx, self%shot%sz, &
                                   self%shot%at_places(:, size(self%shot%at_places, 2)), points, sums, contact)
    if (contact) then
      moved = sums%moved
      bent = sums%bent
      call OffGridBox(points, sums%low, factor*sums%w(:, :, field_sigma))
    else
      call OffGridAdd(points, self%ax, self%az, self%shot%sx, self%shot%sz, 0.0_dp, 0.0_dp, factor)
    end if
  end function SourcePoint

  module procedure make_receivers
    type(points_t) :: points, beside, source
    integer, allocatable :: field(:)
    integer :: c, r, n, cells
    logical, allocatable :: done(:)
    if (.not. self%scheme%exact_positions) then
      self%shot%rx = OffGridNearest(self%ax, self%shot%rx)
      self%shot%rz = OffGridNearest(self%az, self%shot%rz)
    end if
    call ReadComponents(self%scheme%components, self%fields, error)
    if (allocated(error)) return
    self%at_whole = self%fields == field_sigma
    n = size(self%shot%rx)
    self%near = reshape([real(dp) ::], [n, size(self%fields)], [0.0_dp])
    self%moved = reshape([real(dp) ::], [2, n + 1], [0.0_dp])
    if (allocated(self%bent)) deallocate (self%bent)
    allocate (self%bent(2, 0:2, 0:2, n + 1), source=0.0_dp)
    self%whose = spread(0, 1, n*size(self%fields))
    source = SourcePoint(self, 1.0_dp, self%moved(:, n + 1), self%bent(:, :, field_sigma, n + 1))
    call OffGridStart(points)
    call OffGridStart(beside)
    do c = 1, size(self%fields)
      call AddReceivers(self, c, source, points, beside)
    end do
    self%beside = beside%n
    self%whose = self%whose(:beside%n)
    field = [((self%fields(c), r=1, n), c=1, size(self%fields)), &
             (field_vx + field_vz - self%fields(1 + (self%whose(r) - 1)/n), r=1, beside%n)]
    call OffGridJoin(points, beside)
    cells = points%start(points%n + 1) - 1
    call self%engine%receivers(points%start(:points%n + 1), field, points%i(:cells), points%k(:cells), points%w(:cells), error)
    if (allocated(error)) return
    call FlatNear(self, source, points, field, done)
    call MakeNearfield(self, done)
  end procedure make_receivers

  !> Adds the receivers of component c as points; all threads make the sums of those near contacts, thousands on a sea floor.
  subroutine AddReceivers(self, c, source, points, beside)
    class(fd2d_t), intent(inout) :: self
    integer, intent(in) :: c
    type(points_t), intent(in) :: source
    type(points_t), intent(inout) :: points, beside
    type(contact_point_t) :: sums(at_once)
    logical :: contact(at_once)
    integer :: first, last, m, n
    n = size(self%shot%rx)
    contact = .false.
    do first = 1, n, at_once
      last = min(at_once, n - first + 1)
      if (allocated(self%shot%at_places)) then
        associate (shot => self%shot, field => self%fields(c))
          !$omp parallel do schedule(dynamic, few) num_threads(min(self%scheme%threads, 1 + last/few))
          do m = 1, last
            call ContactPoint(self, field, shot%rx(first + m - 1), shot%rz(first + m - 1), shot%at_places(:, first + m - 1), &
                              source, sums(m), contact(m))
          end do
          !$omp end parallel do
        end associate
      end if
      do m = 1, last
        call AddReceiver(self, first + m - 1, c, sums(m), contact(m), points, beside)
      end do
    end do
  end subroutine AddReceivers

  !> Adds receiver r of component c as a point; near contacts what it has of the other velocity is a point of those beside.
  subroutine AddReceiver(self, r, c, sums, contact, points, beside)
    class(fd2d_t), intent(inout) :: self
    integer, intent(in) :: r, c
    type(contact_point_t), intent(in) :: sums
    logical, intent(in) :: contact
    type(points_t), intent(inout) :: points, beside
    real(dp) :: sign
    associate (field => self%fields(c))
      sign = merge(-1.0_dp, 1.0_dp, field == field_sigma)
      if (.not. contact) then
        call OffGridAdd(points, self%ax, self%az, self%shot%rx(r), self%shot%rz(r), merge(0.5_dp, 0.0_dp, field == field_vx), &
                        merge(0.5_dp, 0.0_dp, field == field_vz), sign)
        return
      end if
      self%near(r, c) = sums%q
      if (field == field_sigma) self%moved(:, r) = sums%moved
      self%bent(:, :, field, r) = sums%bent
      call OffGridBox(points, sums%low, sign*sums%w(:, :, field))
      if (field == field_sigma) return
      associate (other => sums%w(:, :, field_vx + field_vz - field))
        if (all(abs(other) <= 0)) return
        call OffGridBox(beside, sums%low, other)
      end associate
      self%whose(beside%n) = points%n
    end associate
  end subroutine AddReceiver

  !> 'p,vx,vz' -> fields.
  pure subroutine ReadComponents(text, fields, error)
    character(*), intent(in) :: text
    integer, allocatable, intent(out) :: fields(:)
    type(error_t), allocatable, intent(inout) :: error
    integer :: from, to
    fields = [integer ::]
    from = 1
    do while (from <= len(text))
      to = index(text(from:)//',', ',') + from - 2
      select case (adjustl(text(from:to)))
      case ('p')
        fields = [fields, field_sigma]
      case ('vx')
        fields = [fields, field_vx]
      case ('vz')
        fields = [fields, field_vz]
      case default
        call Fail(error, 'components = '//text//': "'//text(from:to)//'" is unknown, use p, vx, vz joined by commas')
      end select
      from = to + 2
    end do
    if (size(fields) == 0) call Fail(error, 'components is empty: use p, vx, vz joined by commas')
  end subroutine ReadComponents

  !> Terms of the near field, for receivers within a few cells of the source or of its image in a free surface, at the places used:
  !> with positions=nearest the grid lacks less of the pressure, but velocities lie between nodes there too. They are those of a
  !> medium that is even all around.
  !> Beside a contact of densities they are right next to the source: velocity depends on no density there, pressure on that of the
  !> source. A receiver beyond the contact has the harmonic mean of both densities, as the static field has; so source and receiver
  !> may change places. What a contact nearer than the receiver changes in the short waves is not there, but beside a single flat
  !> contact, where they are done already (fd2d_flat_contact.f90).
  subroutine MakeNearfield(self, done)
    class(fd2d_t), intent(inout) :: self
    logical, intent(in) :: done(:)
    real(dp), parameter :: mirror(2, 0:2) = reshape([1, 1, 1, 1, -1, -1], [2, 3])
    type(nearfield_t) :: table
    real(dp) :: source(2), image(2), receiver(2), terms(3), more(3)
    integer :: r, c, nrec
    nrec = size(self%shot%rx)
    source = [(self%shot%sx - self%ax%x0)/self%ax%h, (self%shot%sz - self%az%x0)/self%az%h] + 1
    image = [source(1), 2 - source(2)]
    do r = 1, nrec
      receiver = [(self%shot%rx(r) - self%ax%x0)/self%ax%h, (self%shot%rz(r) - self%az%x0)/self%az%h] + 1
      if (done(r) .or. norm2(receiver - source) > near_most) cycle
      if (.not. allocated(table%g)) call NearfieldNew(table, self%grid%w(:self%grid%half_length), self%grid%dx, self%grid%dz)
      associate (moved => self%moved, bent => self%bent)
        call NearfieldTerms(table, source, moved(:, nrec + 1), bent(:, :, 0, nrec + 1), receiver, moved(:, r), bent(:, :, :, r), &
                            terms)
        if (self%grid%free_top) call NearfieldTerms(table, image, moved(:, nrec + 1)*[1, -1], bent(:, :, 0, nrec + 1)*mirror, &
                                                    receiver, moved(:, r), bent(:, :, :, r), more)
      end associate
      if (self%grid%free_top) terms = terms - more
      terms(1) = terms(1)*2/(1/DensityAt(self, source) + 1/DensityAt(self, receiver))
      do c = 1, size(self%fields)
        self%near(r, c) = self%near(r, c) + terms(1 + self%fields(c))
      end do
    end do
  end subroutine MakeNearfield

  !> Density next to a place [cells: node n is at n], of the nearest points of the grid that have one.
  pure real(dp) function DensityAt(self, place) result(rho)
    class(fd2d_t), intent(in) :: self
    real(dp), intent(in) :: place(2)
    integer :: at(2), half(2)
    at = nint(place)
    rho = self%rho(at(1), at(2))
    if (.not. self%grid%apart) return
    half = max(1, nint(place - 0.5_dp))
    rho = 0.5_dp*(real(self%rho(half(1), at(2)), dp) + self%rho_z(at(1), half(2)))
  end function DensityAt

end submodule fd2d_setup
