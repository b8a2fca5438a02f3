!> The ways between the pieces of a shot: opened before the first step, closed before anybody gives memory back, and what went
!> through them, for the log. Arguments stand in fd3d.f90.
!>
!> Between GPUs, hosts trade tickets of memory, open each other's, and try that together: memory of the GPUs, or, where one of them
!> cannot be reached, memory of the machine, which kernels reach too. Where that cannot be either, as between machines, or where it
!> takes longer than half steps with a swap by the hosts, as where ranks take turns on one GPU, all hosts swap.
submodule(fd3d_m) fd3d_ways
  use fd3d_c, only: fd3d_ticket
  use fd3d_pieces_m, only: Fd3dPartner
  use host_c, only: host_seconds
  use iso_c_binding, only: c_char, c_funloc, c_null_char, c_null_funptr
  use partners_m, only: by_gpu, by_pinned, carried_words, traffic_t
  use travelling_m, only: MessagesOn
  implicit none

  integer, parameter :: sides = 6
  character(*), parameter :: side_words(sides) = [character(6) :: 'left', 'right', 'front', 'back', 'top', 'bottom']
  real(dp), parameter :: trial = 20              !< the first exchanges between GPUs take at most [s]

contains

  !> All partners together: none of them goes on to give memory back before all have closed it.
  module procedure CloseLinks
    real(dp) :: none(1)
    self%linked = .false.
    if (allocated(self%engine)) call self%engine%halo_close()
    none = 0
    call self%partners%largest(none, error)
  end procedure CloseLinks

  module procedure OpenWays
    integer :: side, with(sides)
    integer(i8) :: n(sides)
    n = 0
    self%linked = .false.
    self%remark = ''
    self%partners%messages = self%own%halo == halo_mpi
    do side = 1, sides
      with(side) = Fd3dPartner(self%whole, self%cuts, self%partners%mine, side)
      if (with(side) > 0) n(side) = self%engine%halo_size(side)
    end do
    call self%partners%open(with, [(merge(side + 1, side - 1, modulo(side, 2) == 1), side=1, sides)], n, error)
    if (self%own%halo /= halo_mpi) call OpenLinks(self, n, error)
    self%partners%traffic = traffic_t()
    if (allocated(error)) return
    call self%engine%between(merge(c_funloc(MessagesOn), c_null_funptr, self%partners%ways(2) > 0), error)
  end procedure OpenWays

  !> By kernels, where all partners compute on GPUs: through memory of the GPUs or of the machine; else says why not.
  subroutine OpenLinks(self, n, error)
    class(fd3d_t), intent(inout) :: self
    integer(i8), intent(in) :: n(:)
    type(error_t), allocatable, intent(inout) :: error
    type(error_t), allocatable :: failure
    character(:), allocatable :: why
    logical :: host, slow
    if (SomebodyHas(self, .not. self%engine%gpu, error)) then
      if (self%own%halo == halo_ipc) self%remark = 'halo = ipc is for GPUs'
      return
    end if
    host = self%own%halo == halo_host
    call OpenLink(self, host, n, slow, failure, why, error)
    if (self%own%halo == halo_auto .and. .not. (self%linked .or. slow .or. allocated(error))) then
      host = .true.
      if (allocated(failure)) deallocate (failure)
      call OpenLink(self, host, n, slow, failure, why, error)
    end if
    if (self%linked .or. allocated(error)) return
    self%remark = 'halos are swapped by the hosts: '//why
    if (self%own%halo /= halo_ipc) return
    if (allocated(failure)) then
      call Fail(error, 'halo = ipc cannot be: '//failure%message)
    else
      call Fail(error, 'halo = ipc cannot be: another rank of the group has no way from GPU to GPU')
      error%followed = .true.
    end if
  end subroutine OpenLinks

  !> Through memory of the machine (`host`) or of the GPUs. Sets `linked`; else `failure` of this rank, if it has one, and `why`, on
  !> the rank that gathers: the reason of this way and the one before. `slow`: it can be, but hosts are faster.
  subroutine OpenLink(self, host, n, slow, failure, why, error)
    class(fd3d_t), intent(inout) :: self
    logical, intent(in) :: host
    integer(i8), intent(in) :: n(:)
    logical, intent(out) :: slow
    type(error_t), allocatable, intent(inout) :: failure, error
    character(:), allocatable, intent(inout) :: why
    character(:), allocatable :: reason
    real(dp) :: bare, full
    slow = .false.
    call OpenMemory(self, host, failure, error)
    if (.not. SomebodyHas(self, allocated(failure), error)) then
      if (.not. allocated(error)) call TryLinks(self, bare, full, slow, failure, error)
      if (.not. SomebodyHas(self, allocated(failure), error)) then
        self%linked = .true.
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
    call self%engine%halo_close()
    if (.not. allocated(error)) call FirstReason(self, failure, reason, error)
    if (allocated(error)) return
    if (allocated(why)) reason = why//'; '//reason
    why = reason
  end subroutine OpenLink

  !> Asks all partners; an error is an answer too.
  logical function SomebodyHas(self, it, error)
    class(fd3d_t), intent(inout) :: self
    logical, intent(in) :: it
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: x(1)
    x = merge(1, 0, it)
    call self%partners%largest(x, error)
    SomebodyHas = x(1) > 0 .or. allocated(error)
  end function SomebodyHas

  !> Trades tickets and opens the partners' memory. `failure`: there is no way; `error`: partners are no longer there.
  subroutine OpenMemory(self, host, failure, error)
    class(fd3d_t), intent(inout) :: self
    logical, intent(in) :: host
    type(error_t), allocatable, intent(inout) :: failure, error
    character(kind=c_char) :: mine(fd3d_ticket, sides), theirs(fd3d_ticket, sides)
    integer :: side
    mine = c_null_char
    theirs = c_null_char
    call self%engine%halo_offer(self%overlaps, host, self%partners%waits(), mine(:, 1), failure)
    if (allocated(failure)) mine(:, 1) = c_null_char
    mine(:, 2:) = spread(mine(:, 1), 2, sides - 1)
    call self%partners%trade(mine, theirs, error)
    do side = 1, sides
      if (self%partners%with(side) > 0 .and. .not. (allocated(failure) .or. allocated(error))) &
        call self%engine%halo_open(side, theirs(:, side), failure)
    end do
  end subroutine OpenMemory

  !> Exchanges halos, which are 0, by kernels; fails where nothing comes, or where that is slower than by the hosts (`slow`) and
  !> nobody asked for it.
  subroutine TryLinks(self, bare, full, slow, failure, error)
    class(fd3d_t), intent(inout) :: self
    real(dp), intent(out) :: bare, full           !< seconds of an exchange, of nothing and of halos
    logical, intent(out) :: slow
    type(error_t), allocatable, intent(inout) :: failure, error
    real(dp) :: took(2)
    slow = .false.
    call self%engine%halo_try(min(trial, self%partners%waits()/2), bare, full, failure)
    if (self%own%halo == halo_ipc) return
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
    class(fd3d_t), intent(inout) :: self
    real(dp), intent(out) :: seconds
    type(error_t), allocatable, intent(inout) :: error
    integer, parameter :: turns = 2
    real(dp) :: start
    integer :: turn, what
    start = 0
    do turn = 0, turns
      if (turn == 1) start = host_seconds()
      do what = 0, 1
        call GiveRims(self, what, error)
        call TakeHalos(self, what, error)
      end do
    end do
    seconds = (host_seconds() - start)/(2*turns)
  end subroutine HostTakes

  !> The sentence of the first partner that has one, on the rank that gathers.
  subroutine FirstReason(self, failure, why, error)
    class(fd3d_t), intent(inout) :: self
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

  ! --- in numbers -----------------------------------------------------------------------------------------------------

  module procedure ways_found
    real(dp), allocatable :: x(:, :, :)
    integer :: p, side, with
    words = ''
    if (.not. self%grouped()) return
    associate (all => self%partners)
      allocate (x(4, sides, all%n), source=0.0_dp)
      x(1, :, all%mine) = all%with
      x(2, :, all%mine) = all%carried
      x(3, :, all%mine) = all%latency
      x(4, :, all%mine) = all%rate
    end associate
    call OfAll(self, x, error)
    if (allocated(error) .or. .not. self%gathers()) return
    do p = 1, self%partners%n
      do side = 1, sides
        with = nint(x(1, side, p))
        if (with < p) cycle                   ! a pair is told once
        words = Line(words, 'pieces '//Str(p)//' and '//Str(with)//', '//trim(side_words(side))//': '// &
                     trim(carried_words(nint(x(2, side, p))))//', '//Str(1e6_dp*x(3, side, p), 3)//' us and '// &
                     Str(1e-9_dp*x(4, side, p), 3)//' GB/s')
      end do
    end do
  end procedure ways_found

  module procedure exchanged
    real(dp), allocatable :: x(:, :, :)
    integer :: p, side, steps
    words = ''
    if (.not. self%grouped()) return
    associate (all => self%partners)
      allocate (x(3, sides, all%n), source=0.0_dp)
      x(1, :, all%mine) = real(all%traffic%bytes, dp)
      x(2, :, all%mine) = real(all%traffic%messages, dp)
      x(3, :, all%mine) = all%traffic%seconds
    end associate
    call OfAll(self, x, error)
    steps = nint(maxval(x(2, :, :))/2)         ! velocities and stresses
    if (allocated(error) .or. .not. self%gathers() .or. steps == 0) return
    do p = 1, self%partners%n
      do side = 1, sides
        if (nint(x(2, side, p)) == 0) cycle
        words = Line(words, 'piece '//Str(p)//', '//trim(side_words(side))//': '//Figures(x(:, side, p)))
      end do
    end do
    words = Line(Str(steps)//' steps; a step: '//Figures([sum(x(1, :, :)), sum(x(2, :, :)), maxval(sum(x(3, :, :), 1))])// &
                 ' where most', words)

  contains

    function Figures(sum) result(text)
      real(dp), intent(in) :: sum(:)
      character(:), allocatable :: text
      text = Str(nint(sum(1)/steps, i8))//' bytes, '//Str(nint(sum(2)/steps))//' messages, '//Str(1e6_dp*sum(3)/steps, 3)//' us'
    end function Figures
  end procedure exchanged

  !> Numbers of which each rank knows its own, and the others of which are 0, to all.
  subroutine OfAll(self, x, error)
    class(fd3d_t), intent(inout) :: self
    real(dp), intent(inout) :: x(:, :, :)
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: flat(size(x))
    flat = reshape(x, [size(x)])
    call self%partners%total(flat, error)
    x = reshape(flat, shape(x))
  end subroutine OfAll

  pure function Line(text, more) result(both)
    character(*), intent(in) :: text, more
    character(:), allocatable :: both
    both = text
    if (text /= '') both = both//new_line('a')
    both = both//more
  end function Line

end submodule fd3d_ways
