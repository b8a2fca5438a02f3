!> The 2D acoustic solver: a shot in its window, from geometry to traces.
!>
!>     rho dv/dt = grad σ,   dσ/dt = K div v - K q,   σ = -p,   K = rho vp²,   q(x, t) = Q(t) δ(x - xs) δ(z - zs), Q in m2/s
!>
!> Fd2dNew lays absorbing layers around the window (its edge values continued) or a free surface along its top row, and turns
!> positions into cells and weights; Fd2dModfd runs the time loop in chunks of Fd2dTimestep; Fd2dGather makes the traces.
!> A source spread over cells with weights w gives σ(i,k) the increment -dt K(i,k) w/(dx dz) Q each step: with K of the cell itself
!> source and receiver may change places in any medium and the pressure trace stays the same.
module fd2d_m
  use, intrinsic :: iso_fortran_env, only: int64
  use error_m, only: AddContext, error_t, Fail
  use fd2d_engine_m, only: fd2d_engine_t, fd2d_grid_t, field_sigma, field_vx, field_vz
  use fd2d_variants_m, only: Fd2dEngineNew, Fd2dVariantAuto, Fd2dVariantNames
  use gather_m, only: gather_t
  use kinds_m, only: dp, sp
  use nearfield_m, only: nearfield_t, NearfieldNew, NearfieldTerms, near_most
  use placement_m, only: axis_t, PlacementAdd, PlacementNearest, PlacementStart, points_t
  use pml_m, only: PmlProfile
  use scheme_m, only: scheme_t
  use shot_m, only: shot_t
  use solver_m, only: progress_i, solver_t
  use stability_m, only: StabilityCheck
  use text_m, only: Str
  use timedisp_m, only: TraceFilterApply, TraceFilterNew, tracefilter_t
  use window_m, only: window_t
  implicit none
  private
  public :: fd2d_t, Fd2dNew, Fd2dModfd, Fd2dTimestep, Fd2dGather, Fd2dFree, Fd2dVariantNames

  integer, parameter :: chunk = 100        !< steps between looks at the field and reports of progress
  real(sp), parameter :: growth = 1000     !< a field this many times what the source can bring has blown up

  type, extends(solver_t) :: fd2d_t
    private
    class(fd2d_engine_t), allocatable :: engine
    character(:), allocatable :: variant          !< of the engine
    type(fd2d_grid_t) :: grid
    type(scheme_t) :: scheme
    type(shot_t) :: shot                          !< with the positions used
    type(axis_t) :: ax, az                        !< nodes of the grid, layers included
    real(sp), allocatable :: kappa(:, :), rho(:, :)   !< medium, layers included [Pa, kg/m3]
    integer, allocatable :: fields(:)             !< of the components asked for
    real(dp), allocatable :: near(:)              !< what the grid lacks at receivers close to the source, (nrec * components)
    integer :: exponent2 = 0                      !< fields are 2**exponent2 times smaller than in Pa and m/s
    real(sp) :: limit = 0                         !< of |σ|, beyond it the field has blown up
    integer :: steps = 0                          !< steps done
    real(dp) :: seconds = 0                       !< wall time they took
    type(tracefilter_t) :: filter_p, filter_v     !< from raw samples to traces: pressure, velocity
    type(scheme_t) :: filter_scheme               !< the scheme they were made for
    real(sp), allocatable :: snapshots(:, :, :)
  contains
    procedure :: setup => Fd2dNew
    procedure :: modfd => Fd2dModfd
    procedure :: gather => Fd2dGather
    procedure :: free => Fd2dFree
  end type fd2d_t

contains

  !> Prepares a shot: grid, medium, layers, source and receivers. The engine's memory is kept while the grid stays the same.
  !> Fails on a window on another grid, positions outside the window, a source on the free surface, a medium that needs a smaller
  !> time step, no memory.
  subroutine Fd2dNew(self, scheme, window, shot, error)
    class(fd2d_t), intent(inout) :: self
    type(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    type(shot_t), intent(in) :: shot
    type(error_t), allocatable, intent(inout) :: error
    call CheckWindow(scheme, window, shot, error)
    if (allocated(error)) return
    self%scheme = scheme
    self%shot = shot
    self%steps = 0
    self%seconds = 0
    call MakeGrid(self, window, error)
    if (.not. allocated(error)) call MakeMedium(self, window, error)
    if (.not. allocated(error)) call MakeLayers(self, real(maxval(window%vp), dp), error)
    if (.not. allocated(error)) call MakeSource(self, error)
    if (.not. allocated(error)) call MakeReceivers(self, error)
    if (.not. allocated(error)) call MakeNearfield(self)
    if (.not. allocated(error)) call MakeSnapshots(self, window, error)
  end subroutine Fd2dNew

  !> Gives back all memory; twice is harmless.
  subroutine Fd2dFree(self)
    class(fd2d_t), intent(inout) :: self
    if (allocated(self%engine)) then
      call self%engine%free()
      deallocate (self%engine)
    end if
    if (allocated(self%kappa)) deallocate (self%kappa, self%rho)
    if (allocated(self%snapshots)) deallocate (self%snapshots)
    self%grid = fd2d_grid_t()
    self%filter_scheme = scheme_t()
  end subroutine Fd2dFree

  ! --- setting up ----------------------------------------------------------------------------------------------------

  subroutine CheckWindow(scheme, window, shot, error)
    type(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    type(shot_t), intent(in) :: shot
    type(error_t), allocatable, intent(inout) :: error
    integer :: r
    if (abs(window%dx/scheme%dx - 1) > 1e-9_dp .or. abs(window%dz/scheme%dz - 1) > 1e-9_dp) then
      call Fail(error, 'the model window has cells of '//Str(window%dx)//' x '//Str(window%dz)//' m, but the scheme was made '// &
                'for '//Str(scheme%dx)//' x '//Str(scheme%dz)//' m')
    else if (window%nx < 2 .or. window%nz < 2) then
      call Fail(error, 'the model window has '//Str(window%nx)//' x '//Str(window%nz)//' nodes, at least 2 x 2 are needed')
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
  end subroutine CheckWindow

  subroutine CheckInside(window, x, z, what, error)
    type(window_t), intent(in) :: window
    real(dp), intent(in) :: x, z
    character(*), intent(in) :: what
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: x1, z1, slack
    if (allocated(error)) return
    x1 = window%x0 + (window%nx - 1)*window%dx
    z1 = window%z0 + (window%nz - 1)*window%dz
    slack = 1e-6_dp*window%dx
    if (x >= window%x0 - slack .and. x <= x1 + slack .and. z >= window%z0 - slack .and. z <= z1 + slack) return
    call Fail(error, what//' at x = '//Str(x, 9)//' m, z = '//Str(z, 9)//' m lies outside the model window, x = '// &
              Str(window%x0, 9)//'..'//Str(x1, 9)//' m, z = '//Str(window%z0, 9)//'..'//Str(z1, 9)//' m')
  end subroutine CheckInside

  !> The grid around the window, and an engine for it: the one at hand if it fits.
  subroutine MakeGrid(self, window, error)
    class(fd2d_t), intent(inout) :: self
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    type(fd2d_grid_t) :: grid
    associate (s => self%scheme)
      grid%nleft = s%npml
      grid%nright = s%npml
      grid%nbottom = s%npml
      grid%ntop = merge(0, s%npml, s%free_top)
      grid%nx = window%nx + 2*s%npml
      grid%nz = window%nz + grid%ntop + s%npml
      grid%free_top = s%free_top
      grid%threads = s%threads
      grid%half_length = s%half_length
      grid%dx = s%dx
      grid%dz = s%dz
      grid%dt = s%dt
      grid%w = s%w
    end associate
    self%ax = axis_t(grid%nx, window%x0 - grid%nleft*grid%dx, grid%dx, .false.)
    self%az = axis_t(grid%nz, window%z0 - grid%ntop*grid%dz, grid%dz, grid%free_top)
    if (allocated(self%engine) .and. self%variant == Variant(self%scheme) .and. SameGrid(grid, self%grid)) then
      call self%engine%reset(error)
      return
    end if
    call Fd2dFree(self)
    self%variant = Variant(self%scheme)
    call Fd2dEngineNew(self%variant, self%engine, error)
    if (allocated(error)) return
    call self%engine%new(grid, error)
    if (.not. allocated(error)) self%grid = grid
  end subroutine MakeGrid

  function Variant(scheme)
    type(scheme_t), intent(in) :: scheme
    character(:), allocatable :: Variant
    Variant = scheme%variant
    if (Variant == 'auto') Variant = Fd2dVariantAuto()
  end function Variant

  pure logical function SameGrid(a, b)
    type(fd2d_grid_t), intent(in) :: a, b
    SameGrid = a%nx == b%nx .and. a%nz == b%nz .and. a%nleft == b%nleft .and. a%nright == b%nright .and. a%ntop == b%ntop &
               .and. a%nbottom == b%nbottom .and. (a%free_top .eqv. b%free_top) .and. a%threads == b%threads &
               .and. a%half_length == b%half_length .and. a%dx == b%dx .and. a%dz == b%dz .and. a%dt == b%dt .and. all(a%w == b%w)
  end function SameGrid

  !> The medium on the grid, the window's edge values continued through the layers.
  subroutine MakeMedium(self, window, error)
    class(fd2d_t), intent(inout) :: self
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    integer :: i, k, iw, kw
    if (.not. (all(window%vp > 0) .and. all(window%rho > 0))) then
      call Fail(error, 'the model window has velocities from '//Str(minval(window%vp))//' m/s and densities from '// &
                Str(minval(window%rho))//' kg/m3, all must be positive')
      return
    end if
    if (allocated(self%kappa)) deallocate (self%kappa, self%rho)
    allocate (self%kappa(self%grid%nx, self%grid%nz), self%rho(self%grid%nx, self%grid%nz))
    do k = 1, self%grid%nz
      kw = min(max(k - self%grid%ntop, 1), window%nz)
      do i = 1, self%grid%nx
        iw = min(max(i - self%grid%nleft, 1), window%nx)
        self%rho(i, k) = window%rho(iw, kw)
        self%kappa(i, k) = window%rho(iw, kw)*window%vp(iw, kw)**2
      end do
    end do
    call StabilityCheck(self%kappa, self%rho, self%grid, error)
    if (.not. allocated(error)) call self%engine%model(self%kappa, self%rho, error)
  end subroutine MakeMedium

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

  !> Source cells, and the power of two that keeps single precision fields near 1 whatever the amplitude asked for.
  subroutine MakeSource(self, error)
    class(fd2d_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    type(points_t) :: points
    real(sp), allocatable :: w(:)
    real(dp) :: peak
    integer :: n, cells
    if (.not. self%scheme%exact_positions) then
      self%shot%sx = PlacementNearest(self%ax, self%shot%sx)
      self%shot%sz = PlacementNearest(self%az, self%shot%sz)
      if (self%scheme%free_top .and. self%shot%sz < self%az%x0 + 0.5_dp*self%az%h) then
        call Fail(error, 'positions=nearest moves the source onto the free surface, where no wave starts: use positions=exact, '// &
                  'or a source deeper than '//Str(self%az%x0 + 0.5_dp*self%az%h)//' m')
        return
      end if
    end if
    call PlacementStart(points)
    call PlacementAdd(points, self%ax, self%az, self%shot%sx, self%shot%sz, 0.0_dp, 0.0_dp, &
                      -self%grid%dt/(self%grid%dx*self%grid%dz))
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
  end subroutine MakeSource

  !> Receiver cells: all receivers of the first component, then of the next. Pressure is -σ.
  subroutine MakeReceivers(self, error)
    class(fd2d_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    type(points_t) :: points
    integer, allocatable :: field(:)
    integer :: c, r, cells
    if (.not. self%scheme%exact_positions) then
      self%shot%rx = PlacementNearest(self%ax, self%shot%rx)
      self%shot%rz = PlacementNearest(self%az, self%shot%rz)
    end if
    call ReadComponents(self%scheme%components, self%fields, error)
    if (allocated(error)) return
    call PlacementStart(points)
    allocate (field(size(self%shot%rx)*size(self%fields)))
    do c = 1, size(self%fields)
      do r = 1, size(self%shot%rx)
        call PlacementAdd(points, self%ax, self%az, self%shot%rx(r), self%shot%rz(r), &
                          merge(0.5_dp, 0.0_dp, self%fields(c) == field_vx), merge(0.5_dp, 0.0_dp, self%fields(c) == field_vz), &
                          merge(-1.0_dp, 1.0_dp, self%fields(c) == field_sigma))
        field(points%n) = self%fields(c)
      end do
    end do
    cells = points%start(points%n + 1) - 1
    call self%engine%receivers(points%start(:points%n + 1), field, points%i(:cells), points%k(:cells), points%w(:cells), error)
  end subroutine MakeReceivers

  !> Terms of the near field, for receivers within a few cells of the source or of its image in a free surface, where the density is
  !> the same all around; with positions=nearest nothing is between the nodes and nothing is lacking.
  subroutine MakeNearfield(self)
    class(fd2d_t), intent(inout) :: self
    type(nearfield_t) :: table
    real(dp) :: source(2), image(2), receiver(2), terms(3), more(3), rho
    integer :: r, c, nrec
    nrec = size(self%shot%rx)
    self%near = spread(0.0_dp, 1, nrec*size(self%fields))
    if (.not. self%scheme%exact_positions) return
    source = [(self%shot%sx - self%ax%x0)/self%ax%h, (self%shot%sz - self%az%x0)/self%az%h] + 1
    image = [source(1), 2 - source(2)]
    do r = 1, nrec
      receiver = [(self%shot%rx(r) - self%ax%x0)/self%ax%h, (self%shot%rz(r) - self%az%x0)/self%az%h] + 1
      if (norm2(receiver - source) > near_most) cycle
      if (.not. UniformAround(self, source, receiver)) cycle
      if (.not. allocated(table%g)) call NearfieldNew(table, self%grid%w(:self%grid%half_length), self%grid%dx, self%grid%dz)
      call NearfieldTerms(table, source, receiver, terms)
      if (self%grid%free_top) then
        call NearfieldTerms(table, image, receiver, more)
        terms = terms - more
      end if
      rho = self%rho(nint(source(1)), nint(source(2)))
      terms(1) = terms(1)*rho
      do c = 1, size(self%fields)
        self%near((c - 1)*nrec + r) = terms(1 + self%fields(c))
      end do
    end do
  end subroutine MakeNearfield

  !> Whether the density is the same in all cells that source and receiver are spread over and between.
  pure logical function UniformAround(self, a, b)
    class(fd2d_t), intent(in) :: self
    real(dp), intent(in) :: a(2), b(2)
    integer :: low(2), high(2)
    low = max(1, floor(min(a, b)) - 4)
    high = min([self%grid%nx, self%grid%nz], ceiling(max(a, b)) + 4)
    associate (rho => self%rho(low(1):high(1), low(2):high(2)))
      UniformAround = maxval(rho) - minval(rho) <= 1e-5*maxval(rho)
    end associate
  end function UniformAround

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

  subroutine MakeSnapshots(self, window, error)
    class(fd2d_t), intent(inout) :: self
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    integer :: nx, nz, n, status
    if (allocated(self%snapshots)) deallocate (self%snapshots)
    nx = (window%nx - 1)/self%scheme%snapshot_step + 1
    nz = (window%nz - 1)/self%scheme%snapshot_step + 1
    n = 0
    if (self%scheme%snapshot > 0) n = floor((self%scheme%nt_out - 1)*self%scheme%dt_out/self%scheme%snapshot*(1 + 1e-9_dp)) + 1
    allocate (self%snapshots(nx, nz, n), source=0.0_sp, stat=status)
    if (status /= 0) call Fail(error, 'no memory for '//Str(n)//' snapshots of '//Str(nx)//' x '//Str(nz)//' nodes ('// &
                               Str(4e-9_dp*nx*nz*n, 3)//' GB): take fewer (snapshot) or coarser ones (snapshot_step)')
  end subroutine MakeSnapshots

  ! --- the time loop -------------------------------------------------------------------------------------------------

  !> All steps of the shot. Fails when the field blows up, and when `progress` asks to stop.
  subroutine Fd2dModfd(self, progress, error)
    class(fd2d_t), intent(inout) :: self
    procedure(progress_i) :: progress
    type(error_t), allocatable, intent(inout) :: error
    logical :: stop
    integer :: n, taken
    stop = .false.
    taken = 0
    do while (self%steps < self%scheme%nt)
      n = min(chunk, self%scheme%nt - self%steps)
      if (taken < size(self%snapshots, 3)) n = min(n, max(1, SnapshotStep(self, taken + 1) - self%steps))
      call Fd2dTimestep(self, n, error)
      if (allocated(error)) return
      call TakeSnapshots(self, taken, error)
      call progress(real(self%steps, dp)/self%scheme%nt, stop)
      if (stop) call Fail(error, 'stopped on request at step '//Str(self%steps)//' of '//Str(self%scheme%nt))
      if (allocated(error)) return
    end do
  end subroutine Fd2dModfd

  !> The next n steps, and a look at the whole field.
  subroutine Fd2dTimestep(self, n, error)
    class(fd2d_t), intent(inout) :: self
    integer, intent(in) :: n
    type(error_t), allocatable, intent(inout) :: error
    integer(int64) :: from, to, rate
    real(sp) :: value
    integer :: i, k
    call system_clock(from, rate)
    call self%engine%timestep(self%steps + 1, n, error)
    if (allocated(error)) return
    self%steps = self%steps + n
    call self%engine%maxabs(value, i, k, error)
    if (allocated(error)) return
    call system_clock(to)
    self%seconds = self%seconds + real(to - from, dp)/rate
    if (.not. value <= self%limit) call Fail(error, BlowUp(self, value, i, k))
  end subroutine Fd2dTimestep

  !> One sentence: what happened, where, when, and the likely cause.
  function BlowUp(self, value, i, k) result(text)
    class(fd2d_t), intent(in) :: self
    real(sp), intent(in) :: value
    integer, intent(in) :: i, k
    character(:), allocatable :: text, cause
    real(dp) :: c, dt_limit
    logical :: in_layer
    c = sqrt(real(self%kappa(i, k), dp)/self%rho(i, k))
    in_layer = i <= self%grid%nleft .or. i > self%grid%nx - self%grid%nright .or. k <= self%grid%ntop .or. &
               k > self%grid%nz - self%grid%nbottom
    dt_limit = 1/(maxval(sqrt(self%kappa/self%rho))*sum(abs(self%grid%w))*sqrt(1/self%grid%dx**2 + 1/self%grid%dz**2))
    if (self%grid%dt > dt_limit) then
      cause = 'dt = '//Str(self%grid%dt)//' s exceeds the stability limit of '//Str(dt_limit)//' s of this window'
    else if (in_layer) then
      cause = 'an instability of the absorbing layer it lies in: try another npml or a slightly smaller dt'
    else
      cause = 'a contrast of velocity or density near this place, or a fault of the processor: try a smaller dt'
    end if
    text = 'the field blew up by step '//Str(self%steps)//' of '//Str(self%scheme%nt)//' (t = '// &
           Str(self%scheme%t_start + self%steps*self%scheme%dt)//' s): |p| = '//Str(scale(value, self%exponent2), 3)// &
           ' Pa at x = '//Str(self%ax%x0 + (i - 1)*self%ax%h, 8)//' m, z = '//Str(self%az%x0 + (k - 1)*self%az%h, 8)// &
           ' m, where vp = '//Str(c, 5)//' m/s; likely cause: '//cause
  end function BlowUp

  !> Last step at or before snapshot j; the snapshot lies between it and the next.
  pure integer function SnapshotStep(self, j) result(n)
    class(fd2d_t), intent(in) :: self
    integer, intent(in) :: j
    n = floor(((j - 1)*self%scheme%snapshot - self%scheme%t_start)/self%scheme%dt*(1 + 1e-12_dp))
  end function SnapshotStep

  !> Snapshots due between the step just done and the next: the mean of both, weighted by how near they are.
  subroutine TakeSnapshots(self, taken, error)
    class(fd2d_t), intent(inout) :: self
    integer, intent(inout) :: taken
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: part
    integer :: j, from
    from = taken + 1
    do while (taken < size(self%snapshots, 3))
      if (SnapshotStep(self, taken + 1) > self%steps) exit
      taken = taken + 1
    end do
    if (taken < from) return
    do j = from, taken
      part = ((j - 1)*self%scheme%snapshot - self%scheme%t_start)/self%scheme%dt - self%steps
      call AddSnapshot(self, j, 1 - part, error)
    end do
    if (allocated(error) .or. self%steps == self%scheme%nt) return
    call Fd2dTimestep(self, 1, error)
    do j = from, taken
      part = ((j - 1)*self%scheme%snapshot - self%scheme%t_start)/self%scheme%dt - (self%steps - 1)
      call AddSnapshot(self, j, part, error)
    end do
  end subroutine TakeSnapshots

  !> Adds `part` of the pressure of this moment to snapshot j.
  subroutine AddSnapshot(self, j, part, error)
    class(fd2d_t), intent(inout) :: self
    integer, intent(in) :: j
    real(dp), intent(in) :: part
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: sigma(:, :)
    integer :: step
    if (allocated(error)) return
    allocate (sigma(self%grid%nx, self%grid%nz))
    call self%engine%field(field_sigma, sigma, error)
    step = self%scheme%snapshot_step
    associate (g => self%grid, s => self%snapshots(:, :, j))
      s = s - real(part, sp)*scale(sigma(g%nleft + 1:g%nx - g%nright:step, g%ntop + 1:g%nz - g%nbottom:step), self%exponent2)
    end associate
  end subroutine AddSnapshot

  ! --- traces --------------------------------------------------------------------------------------------------------

  !> Traces of the finished time loop at the output sampling, corrected for time dispersion, with all that is to be said of them.
  subroutine Fd2dGather(self, gather, error)
    class(fd2d_t), intent(inout) :: self
    type(gather_t), intent(inout) :: gather
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: raw(:, :)
    integer :: c, nrec
    if (.not. allocated(self%engine) .or. self%steps < self%scheme%nt) then
      call Fail(error, 'traces asked for after step '//Str(self%steps)//' of '//Str(self%scheme%nt))
      return
    end if
    call MakeFilters(self, error)
    if (allocated(error)) return
    nrec = size(self%shot%rx)
    allocate (raw(self%scheme%nt, nrec*size(self%fields)))
    call self%engine%traces(1, raw, error)
    if (allocated(error)) return
    call AddNearfield(self, raw)
    call Describe(self, gather)
    if (allocated(gather%traces)) deallocate (gather%traces)
    allocate (gather%traces(self%scheme%nt_out, nrec, size(self%fields)))
    do c = 1, size(self%fields)
      associate (samples => raw(:, (c - 1)*nrec + 1:c*nrec))
        if (self%fields(c) == field_sigma) then
          call TraceFilterApply(self%filter_p, samples, gather%traces(:, :, c))
        else
          call TraceFilterApply(self%filter_v, samples, gather%traces(:, :, c))
        end if
      end associate
    end do
    gather%traces = scale(gather%traces, self%exponent2)
    if (.not. all(abs(gather%traces) <= huge(1.0_sp))) &
      call Fail(error, 'the traces are too large for single precision: make amplitude smaller')
  end subroutine Fd2dGather

  !> The near field follows the source at once: pressure Q'(t) at step n, velocity Q(t) at step n-½.
  subroutine AddNearfield(self, raw)
    class(fd2d_t), intent(in) :: self
    real(sp), intent(inout) :: raw(:, :)
    real(sp) :: q(size(raw, 1))
    integer :: j, nrec
    q = scale(self%scheme%q, -self%exponent2)
    nrec = size(self%shot%rx)
    do j = 1, size(raw, 2)
      if (abs(self%near(j)) <= 0) cycle
      if (self%fields((j - 1)/nrec + 1) == field_sigma) then
        raw(:, j) = raw(:, j) + real(self%near(j)/self%grid%dt, sp)*(eoshift(q, 1) - q)
      else
        raw(:, j) = raw(:, j) + real(self%near(j), sp)*q
      end if
    end do
  end subroutine AddNearfield

  subroutine MakeFilters(self, error)
    class(fd2d_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    associate (s => self%scheme, f => self%filter_scheme)
      if (s%nt == f%nt .and. s%dt == f%dt .and. s%t_start == f%t_start .and. s%nt_out == f%nt_out .and. s%dt_out == f%dt_out &
          .and. s%fband == f%fband .and. (s%time_correction .eqv. f%time_correction)) return
      call TraceFilterNew(self%filter_p, s%nt, s%dt, s%t_start, 0.0_dp, s%nt_out, s%dt_out, s%fband, s%time_correction, error)
      call TraceFilterNew(self%filter_v, s%nt, s%dt, s%t_start, -0.5_dp, s%nt_out, s%dt_out, s%fband, s%time_correction, error)
    end associate
    if (.not. allocated(error)) self%filter_scheme = self%scheme
  end subroutine MakeFilters

  !> Everything of the gather but the traces.
  subroutine Describe(self, gather)
    class(fd2d_t), intent(in) :: self
    type(gather_t), intent(inout) :: gather
    gather%record = self%shot%record
    gather%slot = self%shot%slot
    gather%nt = self%scheme%nt_out
    gather%nrec = size(self%shot%rx)
    gather%ncomp = size(self%fields)
    gather%sx = self%shot%sx
    gather%sz = self%shot%sz
    gather%rx = self%shot%rx
    gather%rz = self%shot%rz
    gather%seconds = self%seconds
    gather%steps = self%steps
    gather%cells = real(self%grid%nx, dp)*self%grid%nz
    gather%variant = self%variant
    gather%device = self%engine%device()
    gather%nxs = size(self%snapshots, 1)
    gather%nzs = size(self%snapshots, 2)
    gather%nsnap = size(self%snapshots, 3)
    gather%xs0 = self%ax%x0 + self%grid%nleft*self%ax%h
    gather%zs0 = self%az%x0 + self%grid%ntop*self%az%h
    gather%dxs = self%ax%h*self%scheme%snapshot_step
    gather%dzs = self%az%h*self%scheme%snapshot_step
    gather%dts = self%scheme%snapshot
    gather%snapshots = self%snapshots
  end subroutine Describe

end module fd2d_m
