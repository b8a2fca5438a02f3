!> All ranks of a group together agree on an error, combine numbers, bring numbers home. Arguments stand in partners.f90
!> and group.f90.
submodule(group_m) group_together
  implicit none

  integer, parameter :: AT_ONCE = 2**29       !< numbers of a message, at most
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
    type(MPI_Request) :: request(2)
    integer :: n(2)
    if (group%broken) return                  ! as it was made, perhaps: then there is no communicator
    allocate (kept)
    call move_alloc(message%places, kept%places)
    call move_alloc(message%fields, kept%fields)
    n = 0
    if (allocated(kept%places)) n(1) = size(kept%places)
    if (allocated(kept%fields)) n(2) = size(kept%fields)
    allocate (head, source=[int([message%kind, n], i8), message%n, transfer(message%x, message%n)])
    call MPI_Ibcast(head, size(head), MPI_INTEGER8, 0, group%comm, request(1))
    call AwaitAll(group, request(:1))
    if (group%broken) return
    n = int(head(2:3))
    if (.not. allocated(kept%places)) allocate (kept%places(n(1)))
    if (.not. allocated(kept%fields)) allocate (kept%fields(n(2)))
    request = MPI_REQUEST_NULL
    if (n(1) > 0) call MPI_Ibcast(kept%places, n(1), MPI_DOUBLE_PRECISION, 0, group%comm, request(1))
    if (n(2) > 0) call MPI_Ibcast(kept%fields, n(2), MPI_REAL, 0, group%comm, request(2))
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
    type(MPI_Request) :: request(1)
    call GroupAgree(self, error)
    if (allocated(error)) return
    allocate (mine, source=x)
    allocate (all, mold=x)
    call MPI_Iallreduce(mine, all, size(x), MPI_DOUBLE_PRECISION, MPI_MAX, self%comm, request(1))
    call Await(self, request, error)
    if (allocated(error)) return
    x = all
    deallocate (mine, all)
  end procedure GroupLargest

  module procedure GroupTotal
    real(dp), pointer, contiguous :: mine(:), all(:, :)
    type(MPI_Request) :: request(1)
    call GroupAgree(self, error)
    if (allocated(error)) return
    allocate (mine, source=x)
    allocate (all(size(x), self%n))
    call MPI_Iallgather(mine, size(x), MPI_DOUBLE_PRECISION, all, size(x), MPI_DOUBLE_PRECISION, self%comm, request(1))
    call Await(self, request, error)
    if (allocated(error)) return
    x = sum(all, 2)
    deallocate (mine, all)
  end procedure GroupTotal

  module procedure GroupCollect
    type(MPI_Request) :: request(1)
    real(sp), pointer, contiguous :: numbers(:)
    integer, pointer, contiguous :: sizes(:)
    integer :: p, at
    allocate (count(self%n), source=0)
    allocate (all(0))
    if (size(mine, kind=i8) > AT_ONCE) &
      call Fail(error, Str(size(mine, kind=i8))//' numbers are more than a message of a group can be')
    call GroupAgree(self, error)
    if (allocated(error)) return
    allocate (sizes(0:self%n), source=size(mine))
    call MPI_Iallgather(sizes(0), 1, MPI_INTEGER, sizes(1:), 1, MPI_INTEGER, self%comm, request(1))
    call Await(self, request, error)
    if (allocated(error)) return
    count = sizes(1:)
    deallocate (sizes)
    if (self%mine > 1) then
      allocate (numbers, source=mine)
      call MPI_Isend(numbers, size(mine), MPI_REAL, 0, TagOf(self, 0, 0), self%comm, request(1))
      call Await(self, request, error)
      if (.not. allocated(error)) deallocate (numbers)
      return
    end if
    deallocate (all)
    allocate (all(sum(count)))
    all(:count(1)) = mine
    at = count(1)
    do p = 2, self%n
      allocate (numbers(count(p)))
      call MPI_Irecv(numbers, count(p), MPI_REAL, p - 1, TagOf(self, 0, 0), self%comm, request(1))
      call Await(self, request, error)
      if (allocated(error)) return
      all(at + 1:at + count(p)) = numbers
      at = at + count(p)
      deallocate (numbers)
    end do
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
