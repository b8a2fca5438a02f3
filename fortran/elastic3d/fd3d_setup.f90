!> Sets up a 3D shot: the medium on its grid and the absorbing layers, source and receivers as cells and weights, the histories of
!> the sources. Arguments stand in fd3d.f90.
submodule(fd3d_m) fd3d_setup
  use anelastic_m, only: anelastic_t, AnelasticFactor, AnelasticFit
  use fault_histories_m, only: FaultHistoriesMake, FaultHistoriesSample
  use fd3d_absorb_m, only: fd3d_profiles_t, Fd3dProfiles, Fd3dSponge
  use fd3d_components_m, only: Fd3dAtWhole, Fd3dComponent
  use fd3d_pieces_m, only: Fd3dTouches
  use fd3d_point_lists_m, only: fd3d_list_t, Fd3dForce, Fd3dMoment, Fd3dOwned
  use finite_fault_m, only: FaultSample, FaultSlip, FaultSome
  use receiver_sum_m, only: receiver_parts
  use source3d_m, only: source_fault, source_force, source_volume
  use window_m, only: WindowCell
  implicit none

  integer, parameter :: numbers_at_once = 4000000 !< of histories in the engine's memory, unless a step needs more
  integer, parameter :: q_steps = 500             !< of the table of moduli

contains

  ! --- medium ---------------------------------------------------------------------------------------------------------

  module procedure make_medium
    type(anelastic_t) :: a
    real(sp), allocatable :: qp(:, :, :), qs(:, :, :)
    real(dp) :: table(0:q_steps), most(2), vp2, vs2
    integer :: i, j, k, iw, jw, kw, lo(3), hi(3), status
    integer(i8) :: total
    logical :: same
    most = real(maxval(window%medium(:, :, :, 1)), dp)        ! of vp and of 1/Q, in all pieces
    if (self%grid%anelastic) most(2) = real(maxval(window%medium(:, :, :, 4:5)), dp)
    call OverAll(self, 'largest', most, error)
    if (allocated(error)) return
    associate (n => self%around%n, before => self%around%first - 1 - self%pad)
      if (allocated(self%rho)) then
        same = all(shape(self%rho) == n + 2)
        if (.not. same) deallocate (self%rho, self%lambda, self%mu)
      end if
      status = 0
      if (.not. allocated(self%rho)) allocate (self%rho(0:n(1) + 1, 0:n(2) + 1, 0:n(3) + 1), &
                                               self%lambda(0:n(1) + 1, 0:n(2) + 1, 0:n(3) + 1), &
                                               self%mu(0:n(1) + 1, 0:n(2) + 1, 0:n(3) + 1), stat=status)
      if (status /= 0) then
        call Fail(error, 'no memory for the medium of '//Str(n(1))//' x '//Str(n(2))//' x '//Str(n(3))//' cells')
        return
      end if
      table = 1
      if (self%grid%anelastic) then
        most(2) = max(1e-6_dp, most(2))
        call AnelasticFit(self%own%q_band(1), self%own%q_band(2), self%own%memory, a, error)
        if (allocated(error)) return
        do i = 0, q_steps
          table(i) = AnelasticFactor(a, i*most(2)/q_steps, self%own%q_ref)
        end do
      end if
      !$omp parallel do private(j, i, kw, jw, iw, vp2, vs2) num_threads(self%around%threads)
      do k = 0, n(3) + 1
        kw = Inside(k + before(3), window%nz, .false.)
        do j = 0, n(2) + 1
          jw = Inside(j + before(2), window%ny, self%scheme%periodic)
          do i = 0, n(1) + 1
            iw = Inside(i + before(1), window%nx, self%scheme%periodic)
            associate (m => window%medium(iw, jw, kw, :))
              vp2 = real(m(1), dp)**2
              vs2 = real(m(2), dp)**2
              if (self%grid%anelastic) then
                vp2 = vp2*Factor(real(m(4), dp))
                vs2 = vs2*Factor(real(m(5), dp))
              end if
              self%rho(i, j, k) = m(3)
              self%mu(i, j, k) = real(m(3)*vs2, sp)
              self%lambda(i, j, k) = real(m(3)*(vp2 - 2*vs2), sp)
            end associate
          end do
        end do
      end do
      !$omp end parallel do
      lo = self%grid%first - self%around%first
      hi = lo + self%grid%n + 1
      call self%engine%model(self%rho(lo(1):hi(1), lo(2):hi(2), lo(3):hi(3)), self%lambda(lo(1):hi(1), lo(2):hi(2), lo(3):hi(3)), &
                             self%mu(lo(1):hi(1), lo(2):hi(2), lo(3):hi(3)), error)
      total = AddSum(AddSum(AddSum(0_i8, self%rho), self%lambda), self%mu)
      if (self%grid%anelastic) then                 ! after the copies that the engine was given are gone
        call Loss(4, lo, hi, qp, total)
        call Loss(5, lo, hi, qs, total)
        if (.not. allocated(error)) call self%engine%quality(real(a%tau, sp), real(a%y, sp), real(a%stiff, sp), qp, qs, error)
      end if
      self%medium_hash = hash_t()
      call HashAdd(self%medium_hash, total)
      call HashAdd(self%medium_hash, self%medium_needs())
      if (.not. allocated(error) .and. any(self%width > 0)) call MakeLayers(self, most(1), error)
    end associate

  contains

    !> The window's cell that stands for cell i.
    pure integer function Inside(i, n, periodic)
      integer, intent(in) :: i, n
      logical, intent(in) :: periodic
      Inside = min(max(i, 1), n)
      if (periodic) Inside = modulo(i - 1, n) + 1
    end function Inside

    pure real(dp) function Factor(q)
      real(dp), intent(in) :: q
      real(dp) :: place
      integer :: at
      place = min(1.0_dp, q/most(2))*q_steps
      at = min(int(place), q_steps - 1)
      Factor = table(at) + (place - at)*(table(at + 1) - table(at))
    end function Factor

    !> 1/Q of P or S waves, part m of the window: q of the piece, cells lo .. hi around it, and the checksum goes on with all.
    subroutine Loss(m, lo, hi, q, total)
      integer, intent(in) :: m, lo(3), hi(3)
      real(sp), allocatable, intent(out) :: q(:, :, :)
      integer(i8), intent(inout) :: total
      real(sp), allocatable :: plane(:, :)
      integer :: i, j, k, kw
      associate (n => self%around%n, before => self%around%first - 1 - self%pad)
        allocate (q(lo(1):hi(1), lo(2):hi(2), lo(3):hi(3)), plane(0:n(1) + 1, 0:n(2) + 1))
        do k = 0, n(3) + 1
          kw = Inside(k + before(3), window%nz, .false.)
          do j = 0, n(2) + 1
            do i = 0, n(1) + 1
              plane(i, j) = window%medium(Inside(i + before(1), window%nx, self%scheme%periodic), &
                                          Inside(j + before(2), window%ny, self%scheme%periodic), kw, m)
            end do
          end do
          total = checksum_floats(total, size(plane, kind=i8), plane)
          if (k >= lo(3) .and. k <= hi(3)) q(:, :, k) = plane(lo(1):hi(1), lo(2):hi(2))
        end do
      end associate
    end subroutine Loss

    integer(i8) function AddSum(before, volume) result(total)
      integer(i8), intent(in) :: before
      real(sp), contiguous, intent(in) :: volume(:, :, :)
      total = checksum_floats(before, size(volume, kind=i8), volume)
    end function AddSum
  end procedure make_medium

  subroutine MakeLayers(self, c, error)
    class(fd3d_t), intent(inout) :: self
    real(dp), intent(in) :: c
    type(error_t), allocatable, intent(inout) :: error
    type(fd3d_profiles_t) :: p
    if (self%scheme%sponge) then
      call Fd3dSponge(self%grid, self%width, p)
      call self%engine%sponge(p%x(:, 1), p%y(:, 1), p%z(:, 1), error)
    else
      call Fd3dProfiles(self%grid, self%width, c, self%scheme%fpeak, p)
      call self%engine%pml(p%x, p%y, p%z, error)
    end if
  end subroutine MakeLayers

  ! --- source ---------------------------------------------------------------------------------------------------------

  module procedure make_source
    type(fd3d_list_t) :: list
    real(dp) :: at(3), largest(2), sums(1), strongest, total
    integer :: i, j
    at = [self%shot%sx, self%shot%sy, self%shot%sz] - self%corner
    self%sources = 1
    call BeginList(self, list)
    associate (s => self%own%source)
      if (s%kind /= source_fault) call CheckPlace(self, at, 'source', error)
      if (allocated(error)) return
      select case (s%kind)
      case (source_volume)
        call Fd3dMoment(list, self%around, at, [1, 1, 1, 0, 0, 0]*1.0_dp, 1, error)
        do i = 1, list%n                        ! of the cell itself: then source and pressure receiver may change places
          list%w(i) = list%w(i)*(self%lambda(list%i(i), list%j(i), list%k(i)) + self%mu(list%i(i), list%j(i), list%k(i))*2/3)
        end do
      case (source_force)
        i = min(max(1, floor(at(1)/self%whole%d(1)) + 2 - self%around%first(1)), self%around%n(1))
        j = min(max(1, floor(at(2)/self%whole%d(2)) + 2 - self%around%first(2)), self%around%n(2))
        call Fd3dForce(list, self%around, self%rho, at, s%force, 1, error, fluid=.not. self%mu(i, j, 1) > 0)
      case (source_fault)
        do i = 1, s%fault%n
          call AddFaultPoint(self, window, list, i, at + s%fault%x(:, i), error)
        end do
      case default
        call Fd3dMoment(list, self%around, at, s%moment, 1, error)
      end select
      if (allocated(error)) return
      if (.not. allocated(list%w)) allocate (list%field(0), list%i(0), list%j(0), list%k(0), list%h(0), list%w(0))
      call Fd3dOwned(list, self%around)
      largest = [real(maxval(abs(list%w(:list%n))), dp), -real(minval(self%rho, self%rho > 0), dp)]
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
      if (.not. (strongest > 0 .and. strongest <= huge(1.0_sp))) then
        call Fail(error, 'the source is '//trim(merge('nothing                        ', 'too strong for single precision', &
                                                      strongest <= 0))//': check amplitude and moment')
        return
      end if
      self%exponent2 = exponent(strongest)
      total = growth*scale(total, -self%exponent2)*sums(1)
      if (s%kind /= source_force) total = total/(-largest(2)*self%scheme%vmin)
      self%limit = real(min(total, 1e37_dp), sp)
      if (s%kind == source_fault) call KeepHistories(self, list)
      call self%engine%source(self%sources, list%field(:list%n), list%i(:list%n), list%j(:list%n), list%k(:list%n), &
                              list%h(:list%n), list%w(:list%n), error)
    end associate
  end procedure make_source

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

  !> A list for this rank's piece. Where rock, fluid and air meet it gets the medium: sources and receivers then keep to their side
  !> of the contacts.
  subroutine BeginList(self, list)
    class(fd3d_t), intent(in), target :: self
    type(fd3d_list_t), intent(inout) :: list
    list%piece = self%grid
    if (.not. self%has_contacts()) return
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
    if (.not. Fd3dTouches(self%grid, at)) return
    call CheckPlace(self, at, 'point '//Str(self%own%source%fault%point(i))//' of the fault', error)
    if (allocated(error)) return
    m = self%own%source%fault%m(:, i)
    if (self%own%source%fault%potency(i)) then
      c = WindowCell(window, at + self%corner)
      m = m*real(window%medium(c(1), c(2), c(3), 3), dp)*real(window%medium(c(1), c(2), c(3), 2), dp)**2
    end if
    call Fd3dMoment(list, self%around, at, m, i, error)
  end subroutine AddFaultPoint

  !> A source must lie in the window, and in rock or water.
  subroutine CheckPlace(self, at, what, error)
    class(fd3d_t), intent(in) :: self
    real(dp), intent(in) :: at(3)
    character(*), intent(in) :: what
    type(error_t), allocatable, intent(inout) :: error
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
    if (.not. self%rho(c(1), c(2), c(3)) > 0) &
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
    real(dp) :: at(3)
    integer :: c, r
    self%records = fd3d_list_t()
    call BeginList(self, self%records)
    allocate (names, source=SplitList(self%scheme%components))
    self%at_whole = [(Fd3dAtWhole(trim(names(c))), c=1, size(names))]
    do c = 1, size(names)
      do r = 1, size(self%shot%rx)
        at = [self%shot%rx(r), self%shot%ry(r), self%shot%rz(r)] - self%corner
        call Fd3dComponent(self%records, self%around, trim(names(c)), at, error)
        if (allocated(error)) then
          error%message = 'receiver '//Str(r)//' of shot record '//Str(self%shot%record)//': '//error%message
          return
        end if
      end do
    end do
    if (.not. (self%grouped() .and. self%own%pgv)) call GiveReceivers(self, error)   ! else points of the map follow
    if (.not. allocated(error)) call MakeNearfield(self, window, error)
  end procedure make_receivers

  module procedure GiveReceivers
    associate (list => self%records)
      if (.not. allocated(list%w)) allocate (list%field(0), list%i(0), list%j(0), list%k(0), list%h(0), list%w(0))
      if (self%grouped()) then
        call GiveOwn(self, list, error)
      else
        call self%engine%receivers(list%start, list%field(:list%n), list%i(:list%n), list%j(:list%n), list%k(:list%n), &
                                   list%w(:list%n), error)
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
    integer :: times(size(list%start) - 1), r, p, n, m, at
    call Fd3dOwned(list, self%around)
    associate (s => list%start)
      n = size(s) - 1
      times = merge(merge(receiver_parts, 1, list%elsewhere), 0, s(2:) > s(:n))
      self%heard = [((r, p=1, times(r)), r=1, n)]
      self%part = [((merge(p, 0, times(r) > 1), p=1, times(r)), r=1, n)]
      allocate (start(size(self%heard) + 1), from(sum(times*(s(2:) - s(:n)))))
      start(1) = 1
      do r = 1, size(self%heard)
        at = start(r) - s(self%heard(r))
        start(r + 1) = at + s(self%heard(r) + 1)
        from(start(r):start(r + 1) - 1) = [(m, m=s(self%heard(r)), s(self%heard(r) + 1) - 1)]
      end do
    end associate
    call self%engine%receivers(start, list%field(from), list%i(from), list%j(from), list%k(from), list%w(from), error)
    if (.not. allocated(error)) call self%engine%receiver_part(self%part, error)
  end subroutine GiveOwn

end submodule fd3d_setup
