!> Ways by kernels between the pieces of a shot: hosts trade tickets of memory, open each other's, and try that together: memory
!> of the GPUs, or, where one of them cannot be reached, memory of the machine, which kernels reach too. Where that cannot be
!> either, as between machines, or where it takes longer than swaps by the hosts, as where ranks take turns on one GPU, all hosts
!> swap.
!> Linked pieces only queue whole steps; their hosts look after the partners' processes while GPUs wait for each other.
module gpu_ways_m
  use engine_m, only: engine_t, halo_ticket
  use error_m, only: error_t, Fail
  use host_c, only: host_nap, host_seconds
  use iso_c_binding, only: c_char, c_null_char
  use kinds_m, only: dp, i8, sp
  use partners_m, only: by_gpu, by_pinned, halo_auto, halo_host, halo_ipc
  use text_m, only: Str
  use timeloop_m, only: timeloop_t
  implicit none
  private
  public :: GpuWaysOpen, GpuWaysClose, GpuWaysAwait

  real(dp), parameter :: trial = 20              !< the first exchanges between GPUs take at most [s]
  real(dp), parameter :: look_every = 0.1_dp     !< the host looks after partners [s]
  real(dp), parameter :: nap_first = 2.0e-5_dp, nap_last = 1.0e-3_dp   !< between looks at the GPU [s]

contains

  !> After `open` of the partners: by kernels, where all compute on GPUs, through the memory that `halo` asks for, or the best that
  !> can be (halo_auto); else says why not in `remark`. n: numbers that travel at most through each side, in an exchange. Sets
  !> `linked`. Fails only where halo_ipc cannot be, and where partners are no longer there.
  subroutine GpuWaysOpen(self, halo, n, error)
    class(timeloop_t), intent(inout), target :: self
    integer, intent(in) :: halo
    integer(i8), intent(in) :: n(:)
    type(error_t), allocatable, intent(inout) :: error
    type(error_t), allocatable :: failure
    class(engine_t), pointer :: engine
    character(:), allocatable :: why
    logical :: host, slow
    engine => self%any_engine()
    self%linked = .false.
    if (SomebodyHas(self, .not. engine%gpu, error)) then
      if (halo == halo_ipc) self%remark = 'halo = ipc is for GPUs'
      return
    end if
    host = halo == halo_host
    call OpenLink(self, engine, host, halo == halo_ipc, n, slow, failure, why, error)
    if (halo == halo_auto .and. .not. (self%linked .or. slow .or. allocated(error))) then
      host = .true.
      if (allocated(failure)) deallocate (failure)
      call OpenLink(self, engine, host, .false., n, slow, failure, why, error)
    end if
    if (self%linked .or. allocated(error)) return
    self%remark = 'halos are swapped by the hosts: '//why
    if (halo /= halo_ipc) return
    if (allocated(failure)) then
      call Fail(error, 'halo = ipc cannot be: '//failure%message)
    else
      call Fail(error, 'halo = ipc cannot be: another rank of the group has no way from GPU to GPU')
      error%followed = .true.
    end if
  end subroutine GpuWaysOpen

  !> Through memory of the machine (`host`) or of the GPUs. Sets `linked`; else `failure` of this rank, if it has one, and `why`, on
  !> the rank that gathers: the reason of this way and the one before. must: also where that is slower than by the hosts; `slow`: it
  !> is. With an error all ranks are linked where tickets were traded: all close the memory (GpuWaysClose) before one gives it back.
  subroutine OpenLink(self, engine, host, must, n, slow, failure, why, error)
    class(timeloop_t), intent(inout) :: self
    class(engine_t), intent(inout) :: engine
    logical, intent(in) :: host, must
    integer(i8), intent(in) :: n(:)
    logical, intent(out) :: slow
    type(error_t), allocatable, intent(inout) :: failure, error
    character(:), allocatable, intent(inout) :: why
    character(:), allocatable :: reason
    real(dp) :: bare, full
    slow = .false.
    call OpenMemory(self, engine, host, failure, error)
    if (.not. SomebodyHas(self, allocated(failure), error)) then
      if (.not. allocated(error)) call TryLinks(self, engine, must, bare, full, slow, failure, error)
      if (.not. SomebodyHas(self, allocated(failure), error)) then
        self%remark = 'halos go from GPU to GPU'
        if (host) self%remark = 'halos go through memory of the machine, which GPUs read and write'
        if (allocated(why)) self%remark = self%remark//': '//why
        self%partners%ways = 0
        where (self%partners%with > 0)
          self%partners%carried = merge(by_pinned, by_gpu, host)
          self%partners%latency = bare
          self%partners%rate = 4*n/max(full - bare, 1.0e-9_dp)
        end where
        return
      end if
    end if
    call engine%halo_close()
    if (allocated(error)) return
    self%linked = .false.
    call FirstReason(self, failure, reason, error)
    if (allocated(error)) return
    if (allocated(why)) reason = why//'; '//reason
    why = reason
  end subroutine OpenLink

  !> Asks all partners; an error is an answer too.
  logical function SomebodyHas(self, it, error)
    class(timeloop_t), intent(inout) :: self
    logical, intent(in) :: it
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: x(1)
    x = merge(1, 0, it)
    call self%partners%largest(x, error)
    SomebodyHas = x(1) > 0 .or. allocated(error)
  end function SomebodyHas

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

  !> Trades tickets and opens the partners' memory. `failure`: there is no way; `error`: partners are no longer there. Sets `linked`
  !> on all ranks, or on none: where the trade fails as it begins, all have that error.
  subroutine OpenMemory(self, engine, host, failure, error)
    class(timeloop_t), intent(inout) :: self
    class(engine_t), intent(inout) :: engine
    logical, intent(in) :: host
    type(error_t), allocatable, intent(inout) :: failure, error
    character(kind=c_char), allocatable :: mine(:, :), theirs(:, :)
    integer :: side, sides
    sides = size(self%partners%with)
    allocate (mine(halo_ticket, sides), theirs(halo_ticket, sides))
    mine = c_null_char
    theirs = c_null_char
    call engine%halo_offer(self%overlaps, host, self%partners%waits(), mine(:, 1), failure)
    if (allocated(failure)) mine(:, 1) = c_null_char
    mine(:, 2:) = spread(mine(:, 1), 2, sides - 1)
    call self%partners%trade(mine, theirs, error)
    self%linked = .true.
    if (allocated(error)) self%linked = .not. error%agreed
    do side = 1, sides
      if (self%partners%with(side) > 0 .and. .not. (allocated(failure) .or. allocated(error))) &
        call engine%halo_open(side, theirs(:, side), failure)
    end do
  end subroutine OpenMemory

  !> Exchanges halos, which are 0, by kernels; fails where nothing comes, or where that is slower than by the hosts (`slow`),
  !> unless it must be.
  subroutine TryLinks(self, engine, must, bare, full, slow, failure, error)
    class(timeloop_t), intent(inout) :: self
    class(engine_t), intent(inout) :: engine
    logical, intent(in) :: must
    real(dp), intent(out) :: bare, full           !< seconds of an exchange, of nothing and of halos
    logical, intent(out) :: slow
    type(error_t), allocatable, intent(inout) :: failure, error
    real(dp) :: took(2)
    slow = .false.
    call engine%halo_try(min(trial, self%partners%waits()/2), bare, full, failure)
    if (must) return
    took(1) = full
    if (allocated(failure)) took(1) = 0           ! nobody fails at being slow where one fails at all
    call HostTakes(self, took(2), error)
    call self%partners%largest(took, error)
    slow = .not. allocated(error) .and. took(1) > took(2)
    if (slow .and. .not. allocated(failure)) &
      call Fail(failure, 'that takes '//Str(1e6_dp*took(2), 3)//' us, by kernels '//Str(1e6_dp*took(1), 3)// &
                ' us, as where ranks share a GPU')
  end subroutine TryLinks

  !> Seconds that an exchange of halos by the hosts takes.
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
    integer(i8), allocatable :: count(:)
    integer(i8) :: i
    integer :: p
    mine = ''
    if (allocated(failure)) mine = failure%message
    call self%partners%collect([(real(ichar(mine(i:i)), sp), i=1, len(mine, i8))], all, count, error)
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
