!> Ways from GPU to GPU between the pieces of a shot: hosts trade tickets of memory, open each other's, and try that together.
!> Where one of them cannot, or where it takes longer than through the host, as where ranks take turns on one GPU, all go through
!> the host.
!> Linked pieces only queue whole steps; their hosts look after the partners' processes while GPUs wait for each other.
module gpu_ways_m
  use engine_m, only: engine_t, halo_ticket
  use error_m, only: error_t, Fail
  use host_c, only: host_nap, host_seconds
  use iso_c_binding, only: c_char, c_null_char
  use kinds_m, only: dp, i8, sp
  use partners_m, only: by_gpu
  use text_m, only: Str
  use timeloop_m, only: timeloop_t
  implicit none
  private
  public :: GpuWaysOpen, GpuWaysClose, GpuWaysAwait

  real(dp), parameter :: trial = 20              !< the first exchanges between GPUs take at most [s]
  real(dp), parameter :: look_every = 0.1_dp     !< the host looks after partners [s]
  real(dp), parameter :: nap_first = 2.0e-5_dp, nap_last = 1.0e-3_dp   !< between looks at the GPU [s]

contains

  !> After `open` of the partners: from GPU to GPU where all compute on GPUs, and each can open the memory of those beside it;
  !> else says why not in `remark`. must: there is to be no other way. n: numbers that travel at most through each side, in an
  !> exchange. Sets `linked`.
  subroutine GpuWaysOpen(self, must, n, error)
    class(timeloop_t), intent(inout), target :: self
    logical, intent(in) :: must
    integer(i8), intent(in) :: n(:)
    type(error_t), allocatable, intent(inout) :: error
    type(error_t), allocatable :: failure
    class(engine_t), pointer :: engine
    character(:), allocatable :: why
    real(dp) :: bare, full
    engine => self%any_engine()
    self%linked = .false.
    if (SomebodyHas(.not. engine%gpu)) then
      if (must) self%remark = 'halo = ipc is for GPUs'
      return
    end if
    call OpenMemory(self, engine, failure, error)
    if (.not. SomebodyHas(allocated(failure))) then
      if (.not. allocated(error)) call TryLinks(self, engine, must, bare, full, failure, error)
      if (.not. SomebodyHas(allocated(failure))) then
        self%linked = .true.
        self%remark = 'halos go from GPU to GPU'
        self%partners%ways = 0
        where (self%partners%with > 0)
          self%partners%carried = by_gpu
          self%partners%latency = bare
          self%partners%rate = 4*n/max(full - bare, 1.0e-9_dp)
        end where
        return
      end if
    end if
    call engine%halo_close()
    if (allocated(error)) return
    call FirstReason(self, failure, why, error)
    if (allocated(error)) return
    self%remark = 'halos go through the host: '//why
    if (.not. must) return
    if (allocated(failure)) then
      call Fail(error, 'halo = ipc cannot be: '//failure%message)
    else
      call Fail(error, 'halo = ipc cannot be: another rank of the group has no way from GPU to GPU')
      error%followed = .true.
    end if

  contains

    !> Asks all partners; an error is an answer too.
    logical function SomebodyHas(it)
      logical, intent(in) :: it
      real(dp) :: x(1)
      x = merge(1, 0, it)
      call self%partners%largest(x, error)
      SomebodyHas = x(1) > 0 .or. allocated(error)
    end function SomebodyHas
  end subroutine GpuWaysOpen

  !> All partners together: none of them goes on to give memory back before all have closed it.
  subroutine GpuWaysClose(self, error)
    class(timeloop_t), intent(inout), target :: self
    type(error_t), allocatable, intent(inout) :: error
    class(engine_t), pointer :: engine
    real(dp) :: none(1)
    self%linked = .false.
    engine => self%any_engine()
    if (associated(engine)) call engine%halo_close()
    none = 0
    call self%partners%largest(none, error)
  end subroutine GpuWaysClose

  !> Waits until at most `most` chunks of linked pieces are unfinished.
  subroutine GpuWaysAwait(self, most, error)
    class(timeloop_t), intent(inout), target :: self
    integer, intent(in) :: most
    type(error_t), allocatable, intent(inout) :: error
    class(engine_t), pointer :: engine
    real(dp) :: look, nap
    integer :: left
    engine => self%any_engine()
    look = host_seconds() + look_every
    nap = nap_first
    do
      call engine%halo_left(left, error)
      if (allocated(error) .or. left <= most) return
      if (host_seconds() > look) then
        look = host_seconds() + look_every
        call self%partners%look(error)
        if (allocated(error)) call engine%halo_give_up()
        if (allocated(error)) return
      end if
      call host_nap(nap)
      nap = min(1.25_dp*nap, nap_last)
    end do
  end subroutine GpuWaysAwait

  !> Trades tickets and opens the partners' memory. `failure`: there is no way; `error`: partners are no longer there.
  subroutine OpenMemory(self, engine, failure, error)
    class(timeloop_t), intent(inout) :: self
    class(engine_t), intent(inout) :: engine
    type(error_t), allocatable, intent(inout) :: failure, error
    character(kind=c_char), allocatable :: mine(:, :), theirs(:, :)
    integer :: side, sides
    sides = size(self%partners%with)
    allocate (mine(halo_ticket, sides), theirs(halo_ticket, sides))
    mine = c_null_char
    theirs = c_null_char
    call engine%halo_offer(self%overlaps, self%partners%waits(), mine(:, 1), failure)
    if (allocated(failure)) mine(:, 1) = c_null_char
    mine(:, 2:) = spread(mine(:, 1), 2, sides - 1)
    call self%partners%trade(mine, theirs, error)
    do side = 1, sides
      if (self%partners%with(side) > 0 .and. .not. (allocated(failure) .or. allocated(error))) &
        call engine%halo_open(side, theirs(:, side), failure)
    end do
  end subroutine OpenMemory

  !> Exchanges halos, which are 0, from GPU to GPU; fails where nothing comes, or where that is slower than through the host and
  !> nobody asked for it.
  subroutine TryLinks(self, engine, must, bare, full, failure, error)
    class(timeloop_t), intent(inout) :: self
    class(engine_t), intent(inout) :: engine
    logical, intent(in) :: must
    real(dp), intent(out) :: bare, full           !< seconds of an exchange, of nothing and of halos
    type(error_t), allocatable, intent(inout) :: failure, error
    real(dp) :: took(2)
    call engine%halo_try(min(trial, self%partners%waits()/2), bare, full, failure)
    if (must) return
    took(1) = full
    if (allocated(failure)) took(1) = 0           ! nobody fails at being slow where one fails at all
    call HostTakes(self, took(2), error)
    call self%partners%largest(took, error)
    if (allocated(error) .or. allocated(failure) .or. took(1) <= took(2)) return
    call Fail(failure, 'that takes '//Str(1e6_dp*took(2), 3)//' us, from GPU to GPU '//Str(1e6_dp*took(1), 3)// &
              ' us, as where ranks share a GPU')
  end subroutine TryLinks

  !> Seconds that an exchange of halos takes through the host.
  subroutine HostTakes(self, seconds, error)
    class(timeloop_t), intent(inout) :: self
    real(dp), intent(out) :: seconds
    type(error_t), allocatable, intent(inout) :: error
    integer, parameter :: turns = 2
    real(dp) :: start
    integer :: turn, n
    start = 0
    do turn = 0, turns
      if (turn == 1) start = host_seconds()
      call self%swap_once(n, error)
    end do
    seconds = (host_seconds() - start)/(turns*max(1, n))
  end subroutine HostTakes

  !> The sentence of the first partner that has one, on the rank that gathers.
  subroutine FirstReason(self, failure, why, error)
    class(timeloop_t), intent(inout) :: self
    type(error_t), allocatable, intent(in) :: failure
    character(:), allocatable, intent(out) :: why
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: mine
    real(sp), allocatable :: all(:)
    integer, allocatable :: count(:)
    integer :: i, p
    mine = ''
    if (allocated(failure)) mine = failure%message
    call self%partners%collect([(real(ichar(mine(i:i)), sp), i=1, len(mine))], all, count, error)
    why = ''
    if (allocated(error) .or. .not. self%gathers()) return
    p = findloc(count > 0, .true., 1)
    if (p == 0) return
    deallocate (mine)
    allocate (character(count(p)) :: mine)
    do i = 1, count(p)
      mine(i:i) = achar(nint(all(sum(count(:p - 1)) + i)))
    end do
    call move_alloc(mine, why)
  end subroutine FirstReason

end module gpu_ways_m
