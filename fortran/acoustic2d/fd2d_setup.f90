!> Setting up a 2D shot: grid and layers around its window, the medium on it, source and receivers as cells and weights.
module fd2d_setup_m
  use checked_m, only: Below, Whole
  use error_m, only: error_t, Fail
  use fd2d_engine_m, only: fd2d_grid_t, field_sigma, field_vx, field_vz
  use fd2d_state_m, only: fd2d_state_t
  use fd2d_variants_m, only: fd2d_variants, Fd2dEngineNew, Fd2dVariantFor
  use kinds_m, only: dp, sp
  use nearfield_m, only: nearfield_t, NearfieldNew, NearfieldTerms, near_most
  use off_grid_points_m, only: axis_t, OffGridAdd, OffGridNearest, OffGridStart, points_t
  use pml_m, only: PmlProfile
  use scheme_m, only: scheme_t, SchemeGrid, SchemePad
  use shot_m, only: shot_t
  use fd2d_stability_m, only: StabilityCheck
  use text_m, only: Str
  use team_m, only: TeamFor
  use timeloop_m, only: growth
  use window_m, only: window_t
  implicit none
  private
  public :: fd2d_setup_t, Fd2dGrid

  type, abstract, extends(fd2d_state_t) :: fd2d_setup_t
  contains
    procedure :: setup, free
  end type fd2d_setup_t

contains

  !> Prepares a shot: grid, medium, layers, source and receivers. The engine's memory is kept while the grid stays the same, and
  !> medium and layers too while the window has the same serial number.
  !> Fails on a window on another grid, positions outside the window, a source on the free surface, a medium that needs a smaller
  !> time step, no memory.
  subroutine setup(self, scheme, window, shot, error)
    class(fd2d_setup_t), intent(inout) :: self
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    type(shot_t), intent(in) :: shot
    type(error_t), allocatable, intent(inout) :: error
    call CheckWindow(scheme, window, shot, error)
    if (allocated(error)) return
    if (scheme%fpeak /= self%scheme%fpeak) self%medium = 0
    call self%begin(scheme, shot)
    call MakeGrid(self, window, error)
    if (.not. allocated(error)) call MakeEarth(self, window, error)
    if (.not. allocated(error)) call MakeSource(self, error)
    if (.not. allocated(error)) call MakeReceivers(self, error)
    if (.not. allocated(error)) call MakeNearfield(self)
    if (.not. allocated(error)) call MakeSnapshots(self, window, error)
  end subroutine setup

  !> Gives back all memory; twice is harmless.
  subroutine free(self)
    class(fd2d_setup_t), intent(inout) :: self
    if (allocated(self%engine)) then
      call self%engine%free()
      deallocate (self%engine)
    end if
    if (allocated(self%kappa)) deallocate (self%kappa, self%rho)
    if (allocated(self%film)) deallocate (self%film)
    self%grid = fd2d_grid_t()
    self%medium = 0
    self%given = 0
    self%chunk = 0
    self%pace = 0
  end subroutine free

  subroutine CheckWindow(scheme, window, shot, error)
    class(scheme_t), intent(in) :: scheme
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
    class(fd2d_setup_t), intent(inout) :: self
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    type(fd2d_grid_t) :: grid
    character(:), allocatable :: variant
    integer :: pad(2)
    grid = Fd2dGrid(self%scheme, window%nx, window%nz)
    call TeamFor(self%team, grid%threads, real(grid%nx, dp)*grid%nz)
    grid%threads = self%team%threads
    variant = self%scheme%variant
    if (variant == 'auto') variant = Fd2dVariantFor(variant, .false.)
    pad = SchemePad(self%scheme)
    self%ax = axis_t(grid%nx, window%x0 - pad(1)*grid%dx, grid%dx, .false.)
    self%az = axis_t(grid%nz, window%z0 - pad(2)*grid%dz, grid%dz, grid%free_top)
    if (allocated(self%engine)) then
      if (self%variant == variant .and. SameGrid(grid, self%grid)) then
        self%grid%threads = grid%threads
        call self%engine%threads(grid%threads, error)
        if (.not. allocated(error)) call self%engine%reset(error)
        return
      end if
    end if
    call self%free()
    self%variant = variant
    self%queues = fd2d_variants%needs_gpu(variant)
    call Fd2dEngineNew(variant, self%engine, error)
    if (allocated(error)) return
    call self%engine%new(grid, error)
    if (.not. allocated(error)) self%grid = grid
  end subroutine MakeGrid

  !> The grid of a window of nx x nz nodes: absorbing layers around it, some cells away, or a free surface along its top row.
  pure type(fd2d_grid_t) function Fd2dGrid(scheme, nx, nz) result(grid)
    class(scheme_t), intent(in) :: scheme
    integer, intent(in) :: nx, nz
    integer :: n(2)
    grid%nleft = scheme%npml
    grid%nright = scheme%npml
    grid%nbottom = scheme%npml
    grid%ntop = merge(0, scheme%npml, scheme%free_top)
    n = SchemeGrid(scheme, nx, nz)
    grid%nx = n(1)
    grid%nz = n(2)
    grid%free_top = scheme%free_top
    grid%threads = scheme%threads
    grid%velocities = index(scheme%components, 'v') > 0
    grid%share = scheme%share
    grid%shape = scheme%shape
    grid%half_length = scheme%half_length
    grid%dx = scheme%dx
    grid%dz = scheme%dz
    grid%dt = scheme%dt
    grid%w = scheme%w
  end function Fd2dGrid

  !> An engine for grid b serves a. The threads and the users of the GPU matter only to its speed.
  pure logical function SameGrid(a, b)
    type(fd2d_grid_t), intent(in) :: a, b
    SameGrid = a%nx == b%nx .and. a%nz == b%nz .and. a%nleft == b%nleft .and. a%nright == b%nright .and. a%ntop == b%ntop &
               .and. a%nbottom == b%nbottom .and. (a%free_top .eqv. b%free_top) .and. (a%velocities .eqv. b%velocities) &
               .and. a%half_length == b%half_length .and. a%dx == b%dx .and. a%dz == b%dz .and. a%dt == b%dt .and. &
               all(a%w == b%w) .and. a%shape == b%shape
  end function SameGrid

  !> Medium and absorbing layers; nothing to do when they were made from the same window.
  subroutine MakeEarth(self, window, error)
    class(fd2d_setup_t), intent(inout) :: self
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    if (window%serial /= 0 .and. window%serial == self%medium) return
    self%medium = 0
    call MakeMedium(self, window, error)
    if (.not. allocated(error)) call MakeLayers(self, real(maxval(window%medium(:, 1, :, 1)), dp), error)
    if (.not. allocated(error)) self%medium = window%serial
  end subroutine MakeEarth

  !> The medium on the grid, the window's edge values continued to the outer end of the layers.
  subroutine MakeMedium(self, window, error)
    class(fd2d_setup_t), intent(inout) :: self
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    logical :: positive
    integer :: pad(2), k, kw, right
    if (allocated(self%kappa)) then
      if (any(shape(self%kappa) /= [self%grid%nx, self%grid%nz])) deallocate (self%kappa, self%rho)
    end if
    if (.not. allocated(self%kappa)) allocate (self%kappa(self%grid%nx, self%grid%nz), self%rho(self%grid%nx, self%grid%nz))
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
  end subroutine MakeMedium

  subroutine MakeLayers(self, c, error)
    class(fd2d_setup_t), intent(inout) :: self
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
    class(fd2d_setup_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    type(points_t) :: points
    real(sp), allocatable :: w(:)
    real(dp) :: peak
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
    call OffGridStart(points)
    call OffGridAdd(points, self%ax, self%az, self%shot%sx, self%shot%sz, 0.0_dp, 0.0_dp, &
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
    class(fd2d_setup_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    type(points_t) :: points
    integer, allocatable :: field(:)
    integer :: c, r, cells
    if (.not. self%scheme%exact_positions) then
      self%shot%rx = OffGridNearest(self%ax, self%shot%rx)
      self%shot%rz = OffGridNearest(self%az, self%shot%rz)
    end if
    call ReadComponents(self%scheme%components, self%fields, error)
    if (allocated(error)) return
    call OffGridStart(points)
    allocate (field(size(self%shot%rx)*size(self%fields)))
    do c = 1, size(self%fields)
      do r = 1, size(self%shot%rx)
        call OffGridAdd(points, self%ax, self%az, self%shot%rx(r), self%shot%rz(r), &
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
    class(fd2d_setup_t), intent(inout) :: self
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
    class(fd2d_setup_t), intent(in) :: self
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
    class(fd2d_setup_t), intent(inout) :: self
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    integer :: n(2), status
    if (allocated(self%film)) deallocate (self%film)
    n = ([window%nx, window%nz] - 1)/self%scheme%snapshot_step + 1
    self%films = 1
    self%pictures = 0
    if (self%scheme%snapshot > 0) &
      self%pictures = Whole(Below((self%scheme%nt_out - 1)*self%scheme%dt_out/self%scheme%snapshot*(1 + 1e-9_dp)) + 1)
    allocate (self%film(1))
    self%film(1)%n = n
    self%film(1)%nt = self%pictures
    allocate (self%film(1)%a(n(1), n(2), self%pictures), source=0.0_sp, stat=status)
    if (status /= 0) call Fail(error, 'no memory for '//Str(self%pictures)//' snapshots of '//Str(n(1))//' x '//Str(n(2))// &
                               ' nodes ('//Str(4e-9_dp*n(1)*n(2)*self%pictures, 3)//' GB): take fewer (snapshot) or coarser '// &
                               'ones (snapshot_step)')
  end subroutine MakeSnapshots

end module fd2d_setup_m
