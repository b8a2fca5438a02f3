!> What all ranks of a group do together: agree on an error, combine numbers, bring numbers home. Arguments stand in partners.f90
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
    integer, pointer, contiguous :: worst(:)  ! mine, then of all: the status, and of equal ones the first
    if (allocated(error)) then
      if (error%agreed) return
      call WaysAbandon(group)
      if (.not. (group%broken .or. error%followed)) call TellAll(group)
    end if
    allocate (worst(2), source=Status(error)*group%n + group%n - group%mine)
    if (.not. group%broken) then
      call MPI_Iallreduce(worst(1:1), worst(2:2), 1, MPI_INTEGER, MPI_MAX, group%comm, request(1))
      call AwaitAll(group, request)
    end if
    if (group%broken) then
      call Fail(error, group%why_broken)
    else
      if (worst(2)/group%n >= FAILED) call TakeError(group, worst(2)/group%n, group%n - modulo(worst(2), group%n), error)
      deallocate (worst)
    end if
    if (allocated(error)) error%agreed = .true.
  end procedure GroupAgree

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
    type(MPI_Request) :: request(1)
    character(LONGEST), pointer :: buffer
    allocate (buffer)
    buffer = ''
    if (from == group%mine) buffer = error%message
    call MPI_Ibcast(buffer, LONGEST, MPI_CHARACTER, from - 1, group%comm, request(1))
    call AwaitAll(group, request)
    if (group%broken) return
    text = trim(buffer)
    deallocate (buffer)
    if (allocated(error)) deallocate (error)
    call Fail(error, text)
    error%device = status == FAILED_DEVICE
  end subroutine TakeError

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
