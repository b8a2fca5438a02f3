!> Sets up a 3D shot: the medium on its grid and the absorbing layers, source and receivers as cells and weights, the histories of
!> the sources. Arguments stand in fd3d.f90.
submodule(fd3d_m) fd3d_setup
  use anelastic_m, only: anelastic_t, AnelasticFactor, AnelasticFit
  use checked_m, only: Whole
  use faultwords_m, only: FaultPoint
  use fault_histories_m, only: FaultHistoriesMake, FaultHistoriesSample
  use fd3d_absorb_m, only: fd3d_profiles_t, Fd3dDamping, Fd3dProfiles, Fd3dSponge
  use fd3d_engine_m, only: side_periodic
  use fd3d_contact_weights_m, only: Fd3dRockMoment, Fd3dRockMotion
  use fd3d_contacts_m, only: rock_t, Fd3dRock
  use fd3d_components_m, only: Fd3dAtWhole, Fd3dComponent
  use fd3d_moduli_m, only: Fd3dBulk, Fd3dCell, Fd3dModuli, Fd3dPart, Fd3dRange, fd3d_range_t
  use fd3d_pieces_m, only: Fd3dTouches, touches
  use fd3d_point_lists_m, only: fd3d_list_t, Fd3dForce, Fd3dMoment, Fd3dMoves, Fd3dOwned
  use finite_fault_m, only: FaultSample, FaultSlip, FaultSome
  use model3d_place_m, only: LinesOf
  use receiver_sum_m, only: receiver_parts
  use source3d_m, only: source_fault, source_force, source_volume
  use window_m, only: WindowCell
  implicit none

  integer, parameter :: numbers_at_once = 4000000 !< of histories in the engine's memory, unless a step needs more
  real(dp), parameter :: at_once = 2.5e5_dp       !< cells whose moduli are made at a time

contains

  ! --- medium ---------------------------------------------------------------------------------------------------------

  module procedure make_medium
    type(fd3d_range_t) :: range
    type(anelastic_t) :: a
    real(dp) :: most(2)
    integer :: i
    call Fd3dRange(window, self%around%threads, range)
    most = [range%vp, range%q]
    call OverAll(self, 'largest', most, error)                ! of all pieces
    self%air = range%air
    self%lightest = range%lightest
    self%contacts = range%air .or. (range%soft .and. range%rigid)
    associate (m => self%moduli)
      m%before = self%around%first - 1 - self%pad
      m%periodic = self%scheme%periodic
      m%anelastic = self%grid%anelastic
      m%threads = self%around%threads
      m%most = max(1e-6_dp, most(2))
      m%table = 1
      if (m%anelastic .and. .not. allocated(error)) then
        call AnelasticFit(self%own%q_band(1), self%own%q_band(2), self%own%memory, a, error)
        if (allocated(error)) return
        m%table = [(AnelasticFactor(a, i*m%most/ubound(m%table, 1), self%own%q_ref), i=0, ubound(m%table, 1))]
      end if
    end associate
    if (.not. allocated(error)) call GiveMedium(self, window, error)
    if (self%grid%anelastic .and. .not. allocated(error)) call GiveQuality(self, window, a, error)
    self%medium_hash = hash_t()
    call HashAdd(self%medium_hash, range%checksum)
    call HashAdd(self%medium_hash, [self%medium_needs(), self%own%q_ref, self%moduli%most])
    if (.not. allocated(error) .and. any(self%width > 0)) call MakeLayers(self, most(1), error)
  end procedure make_medium

  !> Gives the engine the moduli of its cells and a ring of one cell around, some planes at a time.
  subroutine GiveMedium(self, window, error)
    class(fd3d_t), intent(inout) :: self
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable, dimension(:, :, :) :: rho, lambda, mu
    integer :: low(3), high(3), k, last, planes
    low = self%grid%first - self%around%first
    high = low + self%grid%n + 1
    planes = Whole(at_once/product(high(:2) - low(:2) + 1.0_dp), 1, high(3) - low(3) + 1)
    allocate (rho(low(1):high(1), low(2):high(2), planes), mold=0.0_sp)
    allocate (lambda, mu, mold=rho)
    do k = low(3), high(3), planes
      last = min(k + planes - 1, high(3))
      call Fd3dModuli(self%moduli, window, [low(:2), k], [high(:2), last], rho, lambda, mu)
      associate (n => last - k + 1)
        call self%engine%model(rho(:, :, :n), lambda(:, :, :n), mu(:, :, :n), error, k - low(3) + 1)
      end associate
      if (allocated(error)) return
    end do
  end subroutine GiveMedium

  !> Gives it 1/Q of P and S waves, and what the memory variables do with it.
  subroutine GiveQuality(self, window, a, error)
    class(fd3d_t), intent(inout) :: self
    type(window_t), intent(in) :: window
    type(anelastic_t), intent(in) :: a
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable, dimension(:, :, :) :: qp, qs
    integer :: low(3), high(3)
    low = self%grid%first - self%around%first
    high = low + self%grid%n + 1
    allocate (qp(low(1):high(1), low(2):high(2), low(3):high(3)))
    allocate (qs, mold=qp)
    call Fd3dPart(self%moduli, window, 4, low, high, qp)
    call Fd3dPart(self%moduli, window, 5, low, high, qs)
    call self%engine%quality(real(a%tau, sp), real(a%y, sp), real(a%stiff, sp), qp, qs, error)
  end subroutine GiveQuality

  !> Where rock, fluid and air meet, weights of points depend on the medium around: it is known from here on until all are made.
  subroutine KnowContacts(self, window, error)
    class(fd3d_t), intent(inout) :: self
    type(window_t), intent(in) :: window
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: lambda(:, :, :)
    integer :: k, status
    if (allocated(self%rho)) deallocate (self%rho, self%mu)
    if (.not. self%contacts) return
    associate (m => self%around%n + 1)
      allocate (self%rho(0:m(1), 0:m(2), 0:m(3)), self%mu(0:m(1), 0:m(2), 0:m(3)), lambda(0:m(1), 0:m(2), 1), stat=status)
      if (status /= 0) then
        call Fail(error, 'no memory for the medium of '//Str(m(1) - 1)//' x '//Str(m(2) - 1)//' x '//Str(m(3) - 1)//' cells')
        return
      end if
      do k = 0, m(3)
        call Fd3dModuli(self%moduli, window, [0, 0, k], [m(:2), k], self%rho(:, :, k:k), lambda, self%mu(:, :, k:k))
      end do
    end associate
  end subroutine KnowContacts

  subroutine MakeLayers(self, c, error)
    class(fd3d_t), intent(inout) :: self
    real(dp), intent(in) :: c
    type(error_t), allocatable, intent(inout) :: error
    type(fd3d_profiles_t) :: p
    if (self%scheme%sponge) then
      call Fd3dSponge(self%grid, self%width, p)
      call self%engine%sponge(p%x(:, 1), p%y(:, 1), p%z(:, 1), error)
    else
      call Fd3dProfiles(self%grid, self%width, c, self%scheme%fpeak, p, damped=self%scheme%damped)
      call self%engine%pml(p%x, p%y, p%z, error)
      if (.not. self%scheme%damped .or. allocated(error)) return
      call Fd3dDamping(self%grid, self%width, self%scheme%fpeak, p)
      call self%engine%sponge(p%x(:, 1), p%y(:, 1), p%z(:, 1), error)
    end if
  end subroutine MakeLayers

  ! --- source ---------------------------------------------------------------------------------------------------------

  module procedure make_source
    type(fd3d_list_t) :: list
    real(dp) :: at(3), largest(2), sums(1), strongest, total
    integer :: i
    at = [self%shot%sx, self%shot%sy, self%shot%sz] - self%corner
    self%sources = 1
    call KnowContacts(self, window, error)
    if (allocated(error)) return
    call BeginList(self, self%grid, list)
    associate (s => self%own%source)
      if (s%kind /= source_fault) call CheckPlace(self, window, at, 'source', error)
      if (allocated(error)) return
      select case (s%kind)
      case (source_force)
        call AddForce(self, window, list, at, error)
      case (source_fault)
        do i = 1, s%fault%n
          call AddFaultPoint(self, window, list, i, at + s%fault%x(:, i), error)
        end do
      case default
        call AddMoment(self, window, list, at, error)
      end select
      if (allocated(error)) return
      if (.not. allocated(list%w)) allocate (list%field(0), list%i(0), list%j(0), list%k(0), list%h(0), list%w(0))
      self%acts = fd3d_list_t()
      if (s%kind /= source_fault) self%acts = list
      call Fd3dOwned(list, self%around)
      largest = [real(maxval(abs(list%w(:list%n))), dp), -real(self%lightest, dp)]
      sums = sum(abs(real(list%w(:list%n), dp)))
      call OverAll(self, 'largest', largest, error)
      call OverAll(self, 'total', sums, error)
      if (allocated(error)) return
      strongest = real(maxval(abs(self%scheme%q)), dp)
      total = sum(abs(real(self%scheme%q, dp)))
      if (s%kind == source_fault) then
        strongest = real(maxval(abs(s%fault%rate)), dp)
        total = FaultSlip(s%fault)/self%scheme%dt
      end if
      strongest = strongest*max(0.0_dp, largest(1))
      call self%scale_fields(strongest, error)
      if (allocated(error)) return
      total = growth*scale(total, -self%exponent2)*sums(1)
      if (s%kind /= source_force) total = total/(-largest(2)*self%scheme%vmin)
      self%limit = real(min(total, 1e37_dp), sp)
      if (s%kind == source_fault) call KeepHistories(self, list)
      call self%engine%source(self%sources, list%field(:list%n), list%i(:list%n), list%j(:list%n), list%k(:list%n), &
                              list%h(:list%n), list%w(:list%n), error)
    end associate
  end procedure make_source

  !> A moment, or a volume, whose moment is that times the bulk modulus of the place or, beside no contact, of each cell: then
  !> source and receiver of pressure may change places.
  subroutine AddMoment(self, window, list, at, error)
    class(fd3d_t), intent(inout) :: self
    type(window_t), intent(in) :: window
    type(fd3d_list_t), intent(inout) :: list
    real(dp), intent(in) :: at(3)
    type(error_t), allocatable, intent(inout) :: error
    real(dp), parameter :: even(6) = [1, 1, 1, 0, 0, 0]
    type(rock_t) :: rock
    real(dp) :: m(6)
    integer :: i
    call RockOf(self, window, at, size(self%shot%rx) + 1, .false., rock)
    m = self%own%source%moment
    if (self%own%source%kind == source_volume) m = even
    if (rock%beside) then
      if (self%own%source%kind == source_volume) m = m*(rock%lambda + rock%mu*2/3)
      call Fd3dRockMoment(list, self%around, at, rock, reshape(m([1, 4, 5, 4, 2, 6, 5, 6, 3]), [3, 3]), 1)
    else
      call Fd3dMoment(list, self%around, at, m, 1, error)
      if (self%own%source%kind /= source_volume) return
      do i = 1, list%n
        list%w(i) = list%w(i)*Fd3dBulk(self%moduli, window, [list%i(i), list%j(i), list%k(i)])
      end do
    end if
  end subroutine AddMoment

  !> A force, which moves each cell by its density.
  subroutine AddForce(self, window, list, at, error)
    class(fd3d_t), intent(inout) :: self
    type(window_t), intent(in) :: window
    type(fd3d_list_t), intent(inout) :: list
    real(dp), intent(in) :: at(3)
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable, dimension(:, :, :) :: rho, lambda, mu
    type(rock_t) :: rock
    integer :: c(3), low(3), high(3)
    c = floor(at/self%whole%d) + 2 - self%around%first
    c = min(max(1, c), self%around%n)
    low = max(0, c - touches - 1)
    high = min(self%around%n + 1, c + touches + 1)
    where (self%whole%side(1::2) == side_periodic) low = 0
    where (self%whole%side(1::2) == side_periodic) high = self%around%n + 1
    allocate (rho(low(1):high(1), low(2):high(2), low(3):high(3)))
    allocate (lambda, mu, mold=rho)
    call Fd3dModuli(self%moduli, window, low, high, rho, lambda, mu)
    call RockOf(self, window, at, size(self%shot%rx) + 1, .true., rock)
    if (rock%bent) then
      call Fd3dRockMotion(list, self%around, at, rock, self%own%source%force*self%grid%dt/product(self%grid%d), 1)
      call Fd3dMoves(list, rho, 1, low)
    else
      call Fd3dForce(list, self%around, rho, at, self%own%source%force, 1, error, low=low)
    end if
  end subroutine AddForce

  !> Of a fault this rank keeps the histories of the points that act on its cells, and counts these points alone.
  subroutine KeepHistories(self, list)
    class(fd3d_t), intent(inout) :: self
    type(fd3d_list_t), intent(inout) :: list
    integer, allocatable :: points(:), number(:)
    integer :: i
    associate (fault => self%own%source%fault, s => self%scheme)
      allocate (number(fault%n), source=0)
      number(list%h(:list%n)) = 1
      if (list%n == 0) number(1) = 1                   ! an engine has one history at least
      points = pack([(i, i=1, fault%n)], number > 0)
      number(points) = [(i, i=1, size(points))]
      list%h(:list%n) = number(list%h(:list%n))
      self%sources = size(points)
      self%fault = FaultSome(fault, points)
      if (s%time_correction) then
        call FaultHistoriesMake(self%fault, s%t_start, s%dt, s%fband, s%threads, self%histories)
        self%fault = finite_fault_t()
      end if
      self%rates = checksum_floats(0_i8, size(fault%rate, kind=i8), fault%rate)
      deallocate (fault%rate)
    end associate
  end subroutine KeepHistories

  !> A list for this rank's piece, of sources with its margins. Where rock, fluid and air meet it gets the medium: sources and
  !> receivers then keep to their side of the contacts.
  subroutine BeginList(self, piece, list)
    class(fd3d_t), intent(in), target :: self
    type(fd3d_grid_t), intent(in) :: piece
    type(fd3d_list_t), intent(inout) :: list
    list%piece = piece
    if (.not. self%contacts) return
    list%rho => self%rho
    list%mu => self%mu
  end subroutine BeginList

  !> Point i of the fault; if the file did not tell its rigidity, that of the model: rho vs**2 with the phase velocity at the
  !> reference frequency, as a file would tell it, also where waves attenuate.
  subroutine AddFaultPoint(self, window, list, i, at, error)
    class(fd3d_t), intent(inout) :: self
    type(window_t), intent(in) :: window
    type(fd3d_list_t), intent(inout) :: list
    integer, intent(in) :: i
    real(dp), intent(in) :: at(3)
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: m(6)
    integer :: c(3)
    if (.not. Fd3dTouches(self%grid, self%around, at)) return
    call CheckPlace(self, window, at, 'point '//Str(self%own%source%fault%point(i))//' of the fault', error)
    if (allocated(error)) error%message = error%message//' ('//FaultPoint(self%own%source%fault, i)//')'
    if (allocated(error)) return
    m = self%own%source%fault%m(:, i)
    if (self%own%source%fault%potency(i)) then
      c = WindowCell(window, at + self%corner)
      m = m*real(window%medium(c(1), c(2), c(3), 3), dp)*real(window%medium(c(1), c(2), c(3), 2), dp)**2
    end if
    call Fd3dMoment(list, self%around, at, m, i, error)
  end subroutine AddFaultPoint

  !> A source must lie in the window, and in rock or water.
  subroutine CheckPlace(self, window, at, what, error)
    class(fd3d_t), intent(in) :: self
    type(window_t), intent(in) :: window
    real(dp), intent(in) :: at(3)
    character(*), intent(in) :: what
    type(error_t), allocatable, intent(inout) :: error
    real(sp) :: rho, lambda, mu
    integer :: c(3)
    if (allocated(error)) return
    c = floor(at/self%whole%d*(1 - 1e-12_dp)) + 1
    if (any(c < 1 .or. c > self%whole%n)) then
      call Fail(error, what//' of shot record '//Str(self%shot%record)//' at x = '//Str(at(1) + self%corner(1), 9)//', y = '// &
                Str(at(2) + self%corner(2), 9)//', z = '//Str(at(3) + self%corner(3), 9)//' m lies outside the window: widen '// &
                'aperture or depth')
      return
    end if
    c = c - self%around%first + 1
    if (any(c < 1 .or. c > self%around%n)) return      ! other ranks look there
    call Fd3dCell(self%moduli, window, c, rho, lambda, mu)
    if (.not. rho > 0) &
      call Fail(error, what//' of shot record '//Str(self%shot%record)//' at z = '//Str(at(3) + self%corner(3), 9)// &
                ' m lies in the air: give it a greater depth')
  end subroutine CheckPlace

  module procedure GiveHistories
    real(sp), allocatable :: q(:, :)
    integer :: n, first
    if (self%steps < self%known .or. allocated(error)) return
    first = self%steps + 1
    n = min(self%scheme%nt - self%steps, max(1, numbers_at_once/max(1, self%own%source%fault%n)))   ! the same on all ranks
    allocate (q(self%sources, n))
    if (self%own%source%kind == source_fault .and. self%scheme%time_correction) then
      call FaultHistoriesSample(self%histories, first, q)
    else if (self%own%source%kind == source_fault) then
      call FaultSample(self%fault, self%scheme%t_start, self%scheme%dt, first, q)
    else
      q(1, :) = self%scheme%q(first:first + n - 1)
    end if
    q = scale(q, -self%exponent2)
    call self%engine%histories(first, q, error)
    self%known = self%steps + n
  end procedure GiveHistories

  ! --- receivers ------------------------------------------------------------------------------------------------------

  module procedure make_receivers
    character(32), allocatable :: names(:)
    type(rock_t) :: rock
    real(dp) :: at(3)
    integer :: c, r
    self%records = fd3d_list_t()
    call BeginList(self, self%piece, self%records)
    allocate (names, source=SplitList(self%scheme%components))
    self%at_whole = [(Fd3dAtWhole(trim(names(c))), c=1, size(names))]
    do c = 1, size(names)
      do r = 1, size(self%shot%rx)
        at = [self%shot%rx(r), self%shot%ry(r), self%shot%rz(r)] - self%corner
        call RockOf(self, window, at, r, names(c)(1:1) == 'v', rock)
        call Fd3dComponent(self%records, self%around, trim(names(c)), at, error, rock)
        if (allocated(error)) then
          error%message = 'receiver '//Str(r)//' of shot record '//Str(self%shot%record)//': '//error%message
          return
        end if
      end do
    end do
    call MakeNearfield(self, window, error)
    self%acts = fd3d_list_t()
    if (allocated(error) .or. (self%grouped() .and. self%own%pgv)) return            ! points of the map follow
    call GiveReceivers(self, error)
  end procedure make_receivers

  !> The rock around receiver r, or the source behind the last one, at a place whose own medium the model told. `motion` alone is as
  !> it is in even rock where the lines through the place are even.
  subroutine RockOf(self, window, at, r, motion, rock)
    class(fd3d_t), intent(in) :: self
    type(window_t), intent(in) :: window
    real(dp), intent(in) :: at(3)
    integer, intent(in) :: r
    logical, intent(in) :: motion
    type(rock_t), intent(out) :: rock
    if (.not. allocated(self%shot%at_places)) return
    associate (numbers => self%shot%at_places(:, r))
      if (motion .and. all(abs(LinesOf(numbers)) <= 0)) return
      call Fd3dRock(self%moduli, window, self%around, at, numbers, rock)
    end associate
  end subroutine RockOf

  module procedure GiveReceivers
    associate (list => self%records)
      if (.not. allocated(list%w)) allocate (list%field(0), list%i(0), list%j(0), list%k(0), list%h(0), list%w(0))
      if (self%grouped()) then
        call GiveOwn(self, list, error)
      else
        call self%engine%receivers(list%start(:list%receivers + 1), list%field(:list%n), list%i(:list%n), list%j(:list%n), &
                                   list%k(:list%n), list%w(:list%n), error)
      end if
    end associate
    if (.not. allocated(error)) call self%engine%expect(self%scheme%nt, error)
    self%records = fd3d_list_t()
  end procedure GiveReceivers

  !> Receivers with cells in this rank's piece. One that has cells elsewhere too gives the parts of its sum, a trace each.
  subroutine GiveOwn(self, list, error)
    class(fd3d_t), intent(inout) :: self
    type(fd3d_list_t), intent(inout) :: list
    type(error_t), allocatable, intent(inout) :: error
    integer, allocatable :: start(:), from(:)
    integer :: times(list%receivers), r, p, n, m, at, margin(3)
    margin = self%piece%first - self%grid%first
    call Fd3dOwned(list, self%around)
    associate (s => list%start)
      n = list%receivers
      times = merge(merge(receiver_parts, 1, list%elsewhere(:n)), 0, s(2:n + 1) > s(:n))
      if (sum(real(times, dp)*(s(2:n + 1) - s(:n))) > huge(1)) then
        call Fail(error, 'receivers take more than 2.1e9 cells of a rank: take fewer receivers, fewer components, or more ranks')
        return
      end if
      self%heard = [((r, p=1, times(r)), r=1, n)]
      self%part = [((merge(p, 0, times(r) > 1), p=1, times(r)), r=1, n)]
      allocate (start(size(self%heard) + 1), from(sum(times*(s(2:n + 1) - s(:n)))))
      start(1) = 1
      do r = 1, size(self%heard)
        at = start(r) - s(self%heard(r))
        start(r + 1) = at + s(self%heard(r) + 1)
        from(start(r):start(r + 1) - 1) = [(m, m=s(self%heard(r)), s(self%heard(r) + 1) - 1)]
      end do
    end associate
    call self%engine%receivers(start, list%field(from), margin(1) + list%i(from), margin(2) + list%j(from), &
                               margin(3) + list%k(from), list%w(from), error)
    if (.not. allocated(error)) call self%engine%receiver_part(self%part, error)
  end subroutine GiveOwn

end submodule fd3d_setup
