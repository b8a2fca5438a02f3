!> All ranks of a group together agree on an error, combine numbers, bring numbers home. Arguments stand in partners.f90
!> and group.f90.
submodule(group_m) group_together
  implicit none

  integer, parameter :: LONGEST = 4096        !< characters of an error

  !> The status of a partner, the worst of which all get: none of it is a failure of its own in what is OK or FOLLOWS.
  integer, parameter :: OK = 0, FOLLOWS = 1, FAILED = 2, FAILED_DEVICE = 3

contains

  module procedure GroupAgree
    type(MPI_Request) :: request(1)
    integer, pointer, contiguous :: mine(:), worst(:)   ! the status, and of equal ones the first; wishes
    integer :: wished(WISHES)
    wished = 0
    if (present(wish)) then
      wished = wish
      wish = 0
    end if
    if (allocated(error)) then
      if (error%agreed) return
      call WaysAbandon(group)
      if (.not. (group%broken .or. error%followed)) call TellAll(group)
    end if
    allocate (mine, source=[Status(error)*group%n + group%n - group%mine, wished])
    allocate (worst, mold=mine)
    if (.not. group%broken) then
      call MPI_Iallreduce(mine, worst, size(mine), MPI_INTEGER, MPI_MAX, group%comm, request(1))
      call AwaitAll(group, request)
    end if
    if (group%broken) then
      call Fail(error, group%why_broken)
    else
      if (worst(1)/group%n >= FAILED) call TakeError(group, worst(1)/group%n, First(group, worst(1)), error)
      if (present(wish) .and. .not. allocated(error)) wish = worst(2:)
      deallocate (mine, worst)
    end if
    if (allocated(error)) error%agreed = .true.
  end procedure GroupAgree

  !> The first partner that has the largest of what was told as N value + N - partner, N being their number.
  pure integer function First(group, largest)
    class(group_t), intent(in) :: group
    integer, intent(in) :: largest
    First = group%n - modulo(largest, group%n)
  end function First

  pure integer function Status(error)
    type(error_t), allocatable, intent(in) :: error
    Status = OK
    if (.not. allocated(error)) return
    Status = FAILED
    if (error%device) Status = FAILED_DEVICE
    if (error%followed) Status = FOLLOWS
  end function Status

  !> The error of partner `from`, whose status it is.
  subroutine TakeError(group, status, from, error)
    class(group_t), intent(inout) :: group
    integer, intent(in) :: status, from
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: text
    text = ''
    if (from == group%mine) text = error%message
    call Broadcast(group, from, text)
    if (group%broken) return
    if (allocated(error)) deallocate (error)
    call Fail(error, text)
    error%device = status == FAILED_DEVICE
  end subroutine TakeError

  !> The sentence of partner `from` becomes that of all; where the group breaks, nobody's changes.
  subroutine Broadcast(group, from, text)
    class(group_t), intent(inout) :: group
    integer, intent(in) :: from
    character(:), allocatable, intent(inout) :: text
    type(MPI_Request) :: request(1)
    character(LONGEST), pointer :: buffer
    allocate (buffer)
    buffer = text
    call MPI_Ibcast(buffer, LONGEST, MPI_CHARACTER, from - 1, group%comm, request(1))
    call AwaitAll(group, request)
    if (group%broken) return
    text = trim(buffer)
    deallocate (buffer)
  end subroutine Broadcast

  module procedure GroupTell
    real(dp) :: has(1)
    has = merge(group%n - group%mine + 1, 0, text /= '')
    call group%largest(has, error)
    if (allocated(error) .or. nint(has(1)) == 0) return
    call Broadcast(group, group%n - nint(has(1)) + 1, text)
    call GiveUp(group, .false., error)
  end procedure GroupTell

  module procedure GroupShare
    type(message_t), pointer :: kept          ! MPI may still use it when a wait was given up
    integer(i8), pointer, contiguous :: head(:)
    type(MPI_Request), allocatable :: request(:)
    integer(i8) :: n(2)
    integer :: m, r
    if (group%broken) return                  ! as it was made, perhaps: then there is no communicator
    allocate (kept)
    call move_alloc(message%places, kept%places)
    call move_alloc(message%fields, kept%fields)
    n = 0
    if (allocated(kept%places)) n(1) = size(kept%places, kind=i8)
    if (allocated(kept%fields)) n(2) = size(kept%fields, kind=i8)
    allocate (request(1))
    allocate (head, source=[int(message%kind, i8), n, message%n, transfer(message%x, message%n)])
    call MPI_Ibcast(head, size(head), MPI_INTEGER8, 0, group%comm, request(1))
    call AwaitAll(group, request)
    if (group%broken) return
    n = head(2:3)
    if (.not. allocated(kept%places)) allocate (kept%places(n(1)))
    if (.not. allocated(kept%fields)) allocate (kept%fields(n(2)))
    deallocate (request)
    allocate (request(Parts(n(1)) + Parts(n(2))))
    r = 0
    do m = 1, Parts(n(1))
      r = r + 1
      call MPI_Ibcast(kept%places(PartBegin(m):), PartLength(n(1), m), MPI_DOUBLE_PRECISION, 0, group%comm, request(r))
    end do
    do m = 1, Parts(n(2))
      r = r + 1
      call MPI_Ibcast(kept%fields(PartBegin(m):), PartLength(n(2), m), MPI_REAL, 0, group%comm, request(r))
    end do
    call AwaitAll(group, request)
    if (group%broken) return
    message%kind = int(head(1))
    message%n = head(4:3 + size(message%n))
    message%x = transfer(head(4 + size(message%n):), message%x)
    call move_alloc(kept%places, message%places)
    call move_alloc(kept%fields, message%fields)
    if (.not. allocated(message%text)) message%text = ''
    deallocate (kept, head)
  end procedure GroupShare

  module procedure GroupLargest
    real(dp), pointer, contiguous :: mine(:), all(:)
    type(MPI_Request), allocatable :: request(:)
    integer(i8) :: n
    integer :: m
    call GroupAgree(self, error)
    if (allocated(error)) return
    allocate (mine, source=x)
    allocate (all, mold=x)
    n = size(x, kind=i8)
    allocate (request(Parts(n)))
    do m = 1, Parts(n)
      call MPI_Iallreduce(mine(PartBegin(m):), all(PartBegin(m):), PartLength(n, m), MPI_DOUBLE_PRECISION, MPI_MAX, self%comm, &
                          request(m))
    end do
    call Await(self, request, error)
    if (allocated(error)) return
    x = all
    deallocate (mine, all)
  end procedure GroupLargest

  module procedure GroupTotal
    real(dp), pointer, contiguous :: mine(:), all(:, :)
    type(MPI_Request) :: request(1)
    integer(i8) :: at, some
    integer :: n
    call GroupAgree(self, error)
    some = max(1_i8, part_most/self%n)        ! of each partner: all of them are here at once
    do at = 1, size(x, kind=i8), some
      if (allocated(error)) return
      n = int(min(some, size(x, kind=i8) - at + 1))
      allocate (mine, source=x(at:at + n - 1))
      allocate (all(n, self%n))
      call MPI_Iallgather(mine, n, MPI_DOUBLE_PRECISION, all, n, MPI_DOUBLE_PRECISION, self%comm, request(1))
      call Await(self, request, error)
      if (allocated(error)) return
      x(at:at + n - 1) = sum(all, 2)
      deallocate (mine, all)
    end do
  end procedure GroupTotal

  module procedure GroupCollect
    type(MPI_Request) :: request(1)
    real(sp), pointer, contiguous :: numbers(:)
    integer(i8), pointer, contiguous :: sizes(:)
    integer(i8) :: at
    integer :: p
    allocate (count(self%n), source=0_i8)
    allocate (all(0))
    call GroupAgree(self, error)
    if (allocated(error)) return
    allocate (sizes(0:self%n), source=size(mine, kind=i8))
    call MPI_Iallgather(sizes(0), 1, MPI_INTEGER8, sizes(1:), 1, MPI_INTEGER8, self%comm, request(1))
    call Await(self, request, error)
    if (allocated(error)) return
    count = sizes(1:)
    deallocate (sizes)
    if (self%mine > 1) then
      allocate (numbers, source=mine)
      call Travel(.true., numbers, 0)
      if (.not. allocated(error)) deallocate (numbers)
      return
    end if
    deallocate (all)
    allocate (all(sum(count)))
    all(:count(1)) = mine
    at = count(1)
    do p = 2, self%n
      allocate (numbers(count(p)))
      call Travel(.false., numbers, p - 1)
      if (allocated(error)) return
      all(at + 1:at + count(p)) = numbers
      at = at + count(p)
      deallocate (numbers)
    end do

  contains

    !> Numbers to a rank of the group, or from there.
    subroutine Travel(goes, a, rank)
      logical, intent(in) :: goes
      real(sp), contiguous, intent(inout) :: a(:)
      integer, intent(in) :: rank
      type(MPI_Request), allocatable :: parcel(:)
      integer(i8) :: n
      integer :: m
      n = size(a, kind=i8)
      allocate (parcel(Parts(n)))
      do m = 1, Parts(n)
        if (goes) call MPI_Isend(a(PartBegin(m):), PartLength(n, m), MPI_REAL, rank, TagOf(self, 0, 0), self%comm, parcel(m))
        if (.not. goes) call MPI_Irecv(a(PartBegin(m):), PartLength(n, m), MPI_REAL, rank, TagOf(self, 0, 0), self%comm, parcel(m))
      end do
      call Await(self, parcel, error)
    end subroutine Travel
  end procedure GroupCollect

  !> Tells all partners that this one has failed in this shot, and comes no further.
  subroutine TellAll(group)
    class(group_t), intent(inout) :: group
    type(MPI_Request) :: request
    integer, pointer, contiguous :: shot(:)   ! small, and kept: it may arrive at any time
    integer :: p
    allocate (shot(1), source=group%shot)
    do p = 1, group%n
      if (p == group%mine) cycle
      call MPI_Isend(shot, 1, MPI_INTEGER, p - 1, TAG_ABORT, group%comm, request)
      call MPI_Request_free(request)
    end do
  end subroutine TellAll

end submodule group_together
