!> Setting up a 3D shot: grid and layers around its window, the medium on it, source and receivers as cells and weights.
module fd3d_setup_m
  use anelastic_m, only: anelastic_t, AnelasticFit, AnelasticUnrelaxed
  use checksum_c, only: checksum_floats
  use error_m, only: error_t, Fail
  use finite_fault_m, only: FaultSample, FaultSlip
  use fd3d_engine_m, only: fd3d_grid_t, side_free, side_one_way, side_outside, side_periodic
  use fd3d_films_m, only: FilmsPlan
  use fd3d_absorb_m, only: fd3d_profiles_t, Fd3dLayerWidths, Fd3dProfiles, Fd3dSponge
  use fd3d_point_lists_m, only: fd3d_list_t, Fd3dForce, Fd3dMoment
  use fd3d_nearfield_m, only: Fd3dNearMake
  use fd3d_components_m, only: Fd3dAtWhole, Fd3dComponent
  use fd3d_state_m, only: fd3d_state_t
  use fd3d_variants_m, only: fd3d_variants, Fd3dEngineNew, Fd3dVariantFor
  use hash_m, only: hash_t, HashAdd
  use kinds_m, only: dp, i8, sp
  use scheme3d_m, only: elastic_t, scheme3d_t
  use scheme_m, only: scheme_t, SchemePad
  use shot_m, only: shot_t
  use source3d_m, only: source_fault, source_force, source_volume
  use parameter_table_m, only: SplitList
  use text_m, only: Str
  use team_m, only: TeamFor
  use time_dispersion_m, only: tracefilter_t
  use timeloop_m, only: growth
  use fault_histories_m, only: FaultHistoriesMake, FaultHistoriesSample
  use window_m, only: window_t, WindowCell
  implicit none
  private
  public :: fd3d_setup_t, Fd3dGrid, Fd3dHistories

  integer, parameter :: numbers_at_once = 4000000 !< of histories in the engine's memory, unless a step needs more
  integer, parameter :: q_steps = 500             !< of the table of unrelaxed moduli

  type, abstract, extends(fd3d_state_t) :: fd3d_setup_t
  contains
    procedure :: setup, free
  end type fd3d_setup_t

  real(dp), parameter :: even_q = 1000   !< a smallest Q beyond: mechanisms differ by less than even weights do from the best ones

contains

  !> Prepares a shot. The engine's memory is kept while the grid stays the same, medium and layers too while the window has the same
  !> serial number. Fails on a window on another grid, a source in the air or outside the window, no memory.
  subroutine setup(self, scheme, window, shot, error)
    class(fd3d_setup_t), intent(inout) :: self
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    type(shot_t), intent(in) :: shot
    type(error_t), allocatable, intent(inout) :: error
    select type (scheme)
    type is (scheme3d_t)
      call SetUp3d(self, scheme, window, shot, error)
    class default
      call Fail(error, 'the scheme is none of 3D elastic modelling')
    end select
  end subroutine setup

  subroutine SetUp3d(self, scheme, window, shot, error)
    class(fd3d_setup_t), intent(inout) :: self
    type(scheme3d_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    type(shot_t), intent(in) :: shot
    type(error_t), allocatable, intent(inout) :: error
    if (any(abs([window%dx, window%dy, window%dz]/[scheme%dx, scheme%dy, scheme%dz] - 1) > 1e-9_dp) .or. &
        .not. allocated(window%medium)) then
      call Fail(error, 'the model window has cells of '//Str(window%dx)//' x '//Str(window%dy)//' x '//Str(window%dz)// &
                ' m, but the scheme was made for '//Str(scheme%dx)//' x '//Str(scheme%dy)//' x '//Str(scheme%dz)//' m')
      return
    end if
    if (scheme%fpeak /= self%scheme%fpeak .or. any(scheme%own%q_band /= self%own%q_band)) self%medium = 0
    self%own = scheme%own
    call self%begin(scheme, shot)
    self%known = 0
    call MakeGrid(self, window, error)
    if (.not. allocated(error)) call MakeEarth(self, window, error)
    if (.not. allocated(error)) call MakeSource(self, window, error)
    if (.not. allocated(error)) call MakeReceivers(self, error)
    if (.not. allocated(error)) call Fd3dNearMake(self, window)
    if (.not. allocated(error)) call FilmsPlan(self, [window%nx, window%ny, window%nz], error)
  end subroutine SetUp3d

  !> Gives back all memory; twice is harmless.
  subroutine free(self)
    class(fd3d_setup_t), intent(inout) :: self
    if (allocated(self%engine)) then
      call self%engine%free()
      deallocate (self%engine)
    end if
    if (allocated(self%rho)) deallocate (self%rho, self%lambda, self%mu)
    if (allocated(self%film)) deallocate (self%film)
    self%grid = fd3d_grid_t()
    self%medium = 0
    self%chunk = 0
    self%pace = 0
    self%filter_v = tracefilter_t()
    self%filter_s = tracefilter_t()
    self%filter_scheme = scheme_t()
  end subroutine free

  !> The grid around a window, all of it one subdomain; `width` of its layers, `pad`: its cells before the window.
  pure subroutine Fd3dGrid(scheme, own, window, grid, width, pad)
    class(scheme_t), intent(in) :: scheme
    type(elastic_t), intent(in) :: own
    type(window_t), intent(in) :: window
    type(fd3d_grid_t), intent(out) :: grid
    integer, intent(out) :: width(6), pad(3)
    integer :: both(2)
    both = SchemePad(scheme)
    pad = [both(1), both(1), both(2)]
    width = scheme%npml
    grid%side = side_outside
    if (scheme%periodic) then
      pad(:2) = 0
      width(:4) = 0
      grid%side(:4) = side_periodic
    end if
    if (scheme%free_top) then
      width(5) = 0
      grid%side(5) = side_free
    end if
    grid%n = [window%nx + 2*pad(1), window%ny + 2*pad(2), window%nz + pad(3) + both(1)]
    if (scheme%one_way) then
      width(6) = 0
      grid%side(6) = side_one_way
      grid%n(3) = window%nz + pad(3)
    end if
    grid%whole = grid%n
    grid%half_length = scheme%half_length
    grid%anelastic = own%attenuates
    grid%even = own%attenuates .and. own%qmin < even_q
    grid%threads = scheme%threads
    grid%share = scheme%share
    grid%sparse = .true.
    if (scheme%snapshot > 0) grid%sparse = index(own%fields, 'p') == 0
    grid%d = [scheme%dx, scheme%dy, scheme%dz]
    grid%dt = scheme%dt
    grid%w = scheme%w(:4)
    if (.not. scheme%sponge) grid%layer = Fd3dLayerWidths(grid, width)
  end subroutine Fd3dGrid

  !> The grid around the window, and an engine for it: the one at hand if it fits.
  subroutine MakeGrid(self, window, error)
    class(fd3d_setup_t), intent(inout) :: self
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    type(fd3d_grid_t) :: grid
    character(:), allocatable :: variant
    call Fd3dGrid(self%scheme, self%own, window, grid, self%width, self%pad)
    call TeamFor(self%team, grid%threads, product(real(grid%n, dp)))
    grid%threads = self%team%threads
    variant = self%scheme%variant
    if (variant == 'auto') variant = Fd3dVariantFor(variant, .false.)
    self%corner = [window%x0, window%y0, window%z0] - self%pad*grid%d
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
    self%queues = fd3d_variants%needs_gpu(variant)
    call Fd3dEngineNew(variant, self%engine, error)
    if (allocated(error)) return
    call self%engine%new(grid, error)
    if (.not. allocated(error)) self%grid = grid
  end subroutine MakeGrid

  !> An engine for grid b serves a. The threads and the users of the GPU matter only to its speed.
  pure logical function SameGrid(a, b)
    type(fd3d_grid_t), intent(in) :: a, b
    SameGrid = all(a%n == b%n) .and. all(a%side == b%side) .and. all(a%layer == b%layer) .and. a%half_length == b%half_length &
               .and. (a%anelastic .eqv. b%anelastic) .and. (a%even .eqv. b%even) .and. (a%sparse .eqv. b%sparse) &
               .and. all(a%d == b%d) .and. a%dt == b%dt .and. all(a%w == b%w)
  end function SameGrid

  ! --- medium ---------------------------------------------------------------------------------------------------------

  !> Medium and absorbing layers; nothing to do when they were made from the same window.
  subroutine MakeEarth(self, window, error)
    class(fd3d_setup_t), intent(inout) :: self
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    if (window%serial /= 0 .and. window%serial == self%medium) return
    self%medium = 0
    call MakeMedium(self, window, error)
    if (.not. allocated(error)) call MakeLayers(self, real(maxval(window%medium(:, :, :, 1)), dp), error)
    if (.not. allocated(error)) self%medium = window%serial
  end subroutine MakeEarth

  !> The medium on the grid and a ring of one cell around, the window's edge values continued outwards.
  subroutine MakeMedium(self, window, error)
    class(fd3d_setup_t), intent(inout) :: self
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    type(anelastic_t) :: a
    real(sp), allocatable :: qp(:, :, :), qs(:, :, :)
    real(dp) :: table(0:q_steps), q_most, vp2, vs2
    integer :: i, j, k, iw, jw, kw, status
    logical :: same
    associate (n => self%grid%n)
      if (allocated(self%rho)) then
        same = all(shape(self%rho) == n + 2)
        if (.not. same) deallocate (self%rho, self%lambda, self%mu)
      end if
      status = 0
      if (.not. allocated(self%rho)) allocate (self%rho(0:n(1) + 1, 0:n(2) + 1, 0:n(3) + 1), &
                                               self%lambda(0:n(1) + 1, 0:n(2) + 1, 0:n(3) + 1), &
                                               self%mu(0:n(1) + 1, 0:n(2) + 1, 0:n(3) + 1), stat=status)
      if (status == 0 .and. self%grid%anelastic) allocate (qp, qs, mold=self%rho, stat=status)
      if (status /= 0) then
        call Fail(error, 'no memory for the medium of '//Str(n(1))//' x '//Str(n(2))//' x '//Str(n(3))//' cells')
        return
      end if
      table = 1
      q_most = 1
      if (self%grid%anelastic) then
        q_most = max(1e-6_dp, real(maxval(window%medium(:, :, :, 4:5)), dp))
        call AnelasticFit(self%own%q_band(1), self%own%q_band(2), a, error)
        if (allocated(error)) return
        do i = 0, q_steps
          table(i) = AnelasticUnrelaxed(a, i*q_most/q_steps, self%own%q_ref)
        end do
      end if
      !$omp parallel do private(j, i, kw, jw, iw, vp2, vs2) num_threads(self%grid%threads)
      do k = 0, n(3) + 1
        kw = Inside(k - self%pad(3), window%nz, .false.)
        do j = 0, n(2) + 1
          jw = Inside(j - self%pad(2), window%ny, self%scheme%periodic)
          do i = 0, n(1) + 1
            iw = Inside(i - self%pad(1), window%nx, self%scheme%periodic)
            associate (m => window%medium(iw, jw, kw, :))
              vp2 = real(m(1), dp)**2
              vs2 = real(m(2), dp)**2
              if (self%grid%anelastic) then
                qp(i, j, k) = m(4)
                qs(i, j, k) = m(5)
                vp2 = vp2*Unrelaxed(real(m(4), dp))
                vs2 = vs2*Unrelaxed(real(m(5), dp))
              end if
              self%rho(i, j, k) = m(3)
              self%mu(i, j, k) = real(m(3)*vs2, sp)
              self%lambda(i, j, k) = real(m(3)*(vp2 - 2*vs2), sp)
            end associate
          end do
        end do
      end do
      !$omp end parallel do
      call self%engine%model(self%rho, self%lambda, self%mu, error)
      if (self%grid%anelastic .and. .not. allocated(error)) &
        call self%engine%quality(real(a%tau, sp), real(a%y, sp), qp, qs, error)
      self%medium_hash = MediumHash()
    end associate

  contains

    !> The window's cell that stands for cell i.
    pure integer function Inside(i, n, periodic)
      integer, intent(in) :: i, n
      logical, intent(in) :: periodic
      Inside = min(max(i, 1), n)
      if (periodic) Inside = modulo(i - 1, n) + 1
    end function Inside

    pure real(dp) function Unrelaxed(q)
      real(dp), intent(in) :: q
      real(dp) :: place
      integer :: at
      place = min(1.0_dp, q/q_most)*q_steps
      at = min(int(place), q_steps - 1)
      Unrelaxed = table(at) + (place - at)*(table(at + 1) - table(at))
    end function Unrelaxed

    !> Of all that the medium and its layers are made of.
    function MediumHash() result(hash)
      type(hash_t) :: hash
      integer(i8) :: total, count
      count = size(self%rho, kind=i8)
      total = checksum_floats(0_i8, count, self%rho)
      total = checksum_floats(total, count, self%lambda)
      total = checksum_floats(total, count, self%mu)
      if (self%grid%anelastic) total = checksum_floats(checksum_floats(total, count, qp), count, qs)
      call HashAdd(hash, total)
      call HashAdd(hash, self%scheme%fpeak)
      call HashAdd(hash, self%own%q_band(1))
      call HashAdd(hash, self%own%q_band(2))
    end function MediumHash
  end subroutine MakeMedium

  subroutine MakeLayers(self, c, error)
    class(fd3d_setup_t), intent(inout) :: self
    real(dp), intent(in) :: c
    type(error_t), allocatable, intent(inout) :: error
    type(fd3d_profiles_t) :: p
    if (all(self%width == 0)) return
    if (self%scheme%sponge) then
      call Fd3dSponge(self%grid, self%width, p)
      call self%engine%sponge(p%x(:, 1), p%y(:, 1), p%z(:, 1), error)
    else
      call Fd3dProfiles(self%grid, self%width, c, self%scheme%fpeak, p)
      call self%engine%pml(p%x, p%y, p%z, error)
    end if
  end subroutine MakeLayers

  ! --- source ---------------------------------------------------------------------------------------------------------

  !> Source cells, and the power of two that keeps single precision fields near 1 whatever the strength asked for.
  subroutine MakeSource(self, window, error)
    class(fd3d_setup_t), intent(inout), target :: self
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    type(fd3d_list_t) :: list
    real(dp) :: at(3), strongest, total, slow
    integer :: i
    at = [self%shot%sx, self%shot%sy, self%shot%sz] - self%corner
    self%sources = 1
    call TellOfContacts(self, list)
    associate (s => self%own%source)
      if (s%kind /= source_fault) call CheckPlace(self, at, 'source', error)
      if (allocated(error)) return
      select case (s%kind)
      case (source_volume)
        call Fd3dMoment(list, self%grid, at, [1, 1, 1, 0, 0, 0]*1.0_dp, 1, error)
        do i = 1, list%n                        ! of the cell itself: then source and pressure receiver may change places
          list%w(i) = list%w(i)*(self%lambda(list%i(i), list%j(i), list%k(i)) + self%mu(list%i(i), list%j(i), list%k(i))*2/3)
        end do
      case (source_force)
        call Fd3dForce(list, self%grid, self%rho, at, s%force, 1, error)
      case (source_fault)
        self%sources = s%fault%n
        if (self%scheme%time_correction) &
          call FaultHistoriesMake(s%fault, self%scheme%t_start, self%scheme%dt, self%scheme%fband, self%scheme%threads, &
                          self%turned)
        do i = 1, s%fault%n
          call AddFaultPoint(self, window, list, i, at + s%fault%x(:, i), error)
        end do
      case default
        call Fd3dMoment(list, self%grid, at, s%moment, 1, error)
      end select
      if (allocated(error)) return
      strongest = real(maxval(abs(self%scheme%q)), dp)
      total = sum(abs(real(self%scheme%q, dp)))
      if (s%kind == source_fault) then
        strongest = real(maxval(abs(s%fault%rate)), dp)
        total = FaultSlip(s%fault)/self%scheme%dt
      end if
      strongest = strongest*maxval(abs(list%w(:list%n)))
      if (.not. (strongest > 0 .and. strongest <= huge(1.0_sp))) then
        call Fail(error, 'the source is '//trim(merge('nothing                        ', 'too strong for single precision', &
                                                      strongest <= 0))//': check amplitude and moment')
        return
      end if
      self%exponent2 = exponent(strongest)
      total = growth*scale(total, -self%exponent2)*sum(abs(real(list%w(:list%n), dp)))
      slow = real(minval(self%rho, self%rho > 0), dp)*self%scheme%vmin
      if (s%kind /= source_force) total = total/slow
      self%limit = real(min(total, 1e37_dp), sp)
      call self%engine%source(self%sources, list%field(:list%n), list%i(:list%n), list%j(:list%n), list%k(:list%n), &
                              list%h(:list%n), list%w(:list%n), error)
    end associate
  end subroutine MakeSource

  !> Where there are contacts of rock, fluid and air, sources and receivers keep to their side.
  subroutine TellOfContacts(self, list)
    class(fd3d_setup_t), intent(in), target :: self
    type(fd3d_list_t), intent(inout) :: list
    if (.not. self%has_contacts()) return
    list%rho => self%rho
    list%mu => self%mu
  end subroutine TellOfContacts

  !> Point i of the fault; if the file did not tell its rigidity, that of the model: rho vs**2 with the phase velocity at the
  !> reference frequency, as a file would tell it, also where waves attenuate.
  subroutine AddFaultPoint(self, window, list, i, at, error)
    class(fd3d_setup_t), intent(inout) :: self
    type(window_t), intent(in) :: window
    type(fd3d_list_t), intent(inout) :: list
    integer, intent(in) :: i
    real(dp), intent(in) :: at(3)
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: m(6)
    integer :: c(3)
    call CheckPlace(self, at, 'point '//Str(self%own%source%fault%point(i))//' of the fault', error)
    if (allocated(error)) return
    m = self%own%source%fault%m(:, i)
    if (self%own%source%fault%potency(i)) then
      c = WindowCell(window, at + self%corner)
      m = m*real(window%medium(c(1), c(2), c(3), 3), dp)*real(window%medium(c(1), c(2), c(3), 2), dp)**2
    end if
    call Fd3dMoment(list, self%grid, at, m, i, error)
  end subroutine AddFaultPoint

  !> A source must lie in the window, and in rock or water.
  subroutine CheckPlace(self, at, what, error)
    class(fd3d_setup_t), intent(in) :: self
    real(dp), intent(in) :: at(3)
    character(*), intent(in) :: what
    type(error_t), allocatable, intent(inout) :: error
    integer :: c(3)
    if (allocated(error)) return
    c = floor(at/self%grid%d*(1 - 1e-12_dp)) + 1
    if (any(c < 1 .or. c > self%grid%n)) then
      call Fail(error, what//' of shot record '//Str(self%shot%record)//' at x = '//Str(at(1) + self%corner(1), 9)//', y = '// &
                Str(at(2) + self%corner(2), 9)//', z = '//Str(at(3) + self%corner(3), 9)//' m lies outside the window: widen '// &
                'aperture or depth')
    else if (.not. self%rho(c(1), c(2), c(3)) > 0) then
      call Fail(error, what//' of shot record '//Str(self%shot%record)//' at z = '//Str(at(3) + self%corner(3), 9)// &
                ' m lies in the air: give it a greater depth')
    end if
  end subroutine CheckPlace

  !> Gives the engine the histories of the steps to come, in blocks, so that their memory is bounded. On return those of step
  !> self%steps + 1 up to self%known are there.
  subroutine Fd3dHistories(self, error)
    class(fd3d_setup_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: q(:, :)
    integer :: n, first
    if (self%steps < self%known .or. allocated(error)) return
    first = self%steps + 1
    n = min(self%scheme%nt - self%steps, max(1, numbers_at_once/self%sources))
    allocate (q(self%sources, n))
    if (self%own%source%kind == source_fault .and. self%scheme%time_correction) then
      call FaultHistoriesSample(self%turned, first, q)
    else if (self%own%source%kind == source_fault) then
      call FaultSample(self%own%source%fault, self%scheme%t_start, self%scheme%dt, first, q)
    else
      q(1, :) = self%scheme%q(first:first + n - 1)
    end if
    q = scale(q, -self%exponent2)
    call self%engine%histories(first, q, error)
    self%known = self%steps + n
  end subroutine Fd3dHistories

  ! --- receivers ------------------------------------------------------------------------------------------------------

  !> All receivers of the first component, then of the next.
  subroutine MakeReceivers(self, error)
    class(fd3d_setup_t), intent(inout), target :: self
    type(error_t), allocatable, intent(inout) :: error
    type(fd3d_list_t) :: list
    character(32), allocatable :: names(:)
    real(dp) :: at(3)
    integer :: c, r
    call TellOfContacts(self, list)
    allocate (names, source=SplitList(self%scheme%components))
    self%at_whole = [(Fd3dAtWhole(trim(names(c))), c=1, size(names))]
    do c = 1, size(names)
      do r = 1, size(self%shot%rx)
        at = [self%shot%rx(r), self%shot%ry(r), self%shot%rz(r)] - self%corner
        call Fd3dComponent(list, self%grid, trim(names(c)), at, error)
        if (allocated(error)) then
          error%message = 'receiver '//Str(r)//' of shot record '//Str(self%shot%record)//': '//error%message
          return
        end if
      end do
    end do
    call self%engine%receivers(list%start, list%field(:list%n), list%i(:list%n), list%j(:list%n), list%k(:list%n), &
                               list%w(:list%n), error)
    if (.not. allocated(error)) call self%engine%expect(self%scheme%nt, error)
  end subroutine MakeReceivers

end module fd3d_setup_m
