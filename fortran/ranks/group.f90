!> A group: the ranks of a worker, which model a shot together. They are partners (partners.f90): ranks of a machine share the memory
!> that numbers travel in, so that nobody copies them; others send them by MPI.
!>
!> A partner may die, stand still, or fail at something of its own at any moment. So every wait here is asleep, and it ends when a
!> process of this machine is seen to be dead, when a partner says that it has failed (ABORT), or after a lease. Messages carry the
!> number of the shot: what is late belongs to no other shot. What MPI may still write to when a wait was given up is never given
!> back.
module group_m
  use error_m, only: error_t, Fail
  use host_c, only: host_nap, host_seconds
  use iso_c_binding, only: c_associated, c_char, c_f_pointer, c_loc, c_null_char, c_null_ptr, c_ptr
  use kinds_m, only: dp, i8, sp
  use mpi_f08
  use partners_m, only: partners_t
  use peers_m, only: peers_t, PeersDead, PeersLook
  use protocol_m, only: link_t, message_t, MSG_END, LinkReceive
  use roles_m, only: role_t
  use shared_c, only: shared_close, shared_data, shared_new, shared_open, shared_post, shared_wait
  use text_m, only: FString, Str
  implicit none
  private
  public :: group_t, GroupNew, GroupFree, GroupShotBegins, GroupAgree, GroupListen

  integer, parameter :: SIDES = 6, WHATS = 2
  integer, parameter :: TAG_ABORT = 1, TAG_OPEN = 2, TAG_SHOTS = 16
  integer, parameter :: TAGS = SIDES*WHATS + 1    !< of a shot: what travels through sides, and what is collected
  integer, parameter :: SHOTS = 1000          !< numbers of shots, then from the first again
  integer, parameter :: TURNS = 2000000       !< that a flag counts within a shot, then from the first again
  integer, parameter :: AT_ONCE = 2**29       !< numbers of a message, at most
  integer, parameter :: LONGEST = 4096        !< characters of an error
  integer, parameter :: PATH = 64             !< characters that name shared memory
  real(dp), parameter :: LATE = 0.1_dp        !< seconds after which a wait looks at processes and their failures
  real(dp), parameter :: NAP_FIRST = 5.0e-6_dp, NAP_LAST = 5.0e-4_dp   !< of waits for messages [s]

  !> The status of a partner, the worst of which all get: none of it is a failure of its own in what is OK or FOLLOWS.
  integer, parameter :: OK = 0, FOLLOWS = 1, FAILED = 2, FAILED_DEVICE = 3

  !> A way through a side of a piece.
  type :: way_t
    logical :: shared = .false.               !< the partner reads this rank's memory, and this rank the partner's
    type(c_ptr) :: memory = c_null_ptr        !< the partner's
    integer(i8) :: bytes = 0                  !< of it
    integer :: flag = 0                       !< first of the flags there that tell of this side, one for each kind
    integer :: sent(WHATS) = 0, got(WHATS) = 0   !< times, in this shot
    type(MPI_Request) :: sending(WHATS) = MPI_Request(0), getting(WHATS) = MPI_Request(0)
  end type way_t

  type, extends(partners_t) :: group_t
    type(MPI_Comm) :: comm = MPI_COMM_NULL
    real(dp) :: patience = huge(1.0_dp)       !< a partner is waited for so long [s]
    type(peers_t) :: peers                    !< ranks on this machine
    integer :: first_rank = 0                 !< of the job, that the first partner is
    integer :: worker = 1                     !< the number of this worker
    logical :: broken = .false.               !< a partner is dead or silent: nothing can be done together any more
    character(:), allocatable :: why_broken
    type(link_t), pointer :: link => null()   !< to the master, whose messages may come while partners are waited for
    type(message_t), allocatable :: postponed(:)   !< such messages
    type(message_t) :: end                    !< END of a job that has lost ranks: for this rank alone, and at once
    integer :: shot = 0                       !< its number
    type(way_t), private :: way(SIDES)
    type(c_ptr), private :: memory = c_null_ptr   !< this rank's, which its partners read
    integer(i8), private :: bytes = 0         !< of it
  contains
    procedure :: open => GroupOpen
    procedure :: send => GroupSend
    procedure :: await => GroupAwait
    procedure :: largest => GroupLargest
    procedure :: total => GroupTotal
    procedure :: collect => GroupCollect
  end type group_t

contains

  !> The group of a rank, which waits `patience` seconds for its partners. Collective over the group.
  subroutine GroupNew(group, role, patience)
    type(group_t), intent(out) :: group
    type(role_t), intent(in) :: role
    real(dp), intent(in) :: patience
    group%n = role%group_size
    group%mine = role%group_rank + 1
    group%patience = patience
    group%peers = role%peers
    group%first_rank = role%rank - role%group_rank
    group%worker = role%worker_id
    call MPI_Comm_dup(role%group, group%comm)
    call Close(group)
  end subroutine GroupNew

  !> Where ranks are lost, nothing is given back.
  subroutine GroupFree(group, broken)
    type(group_t), intent(inout) :: group
    logical, intent(in) :: broken
    if (broken .or. group%broken) return
    call Close(group)
    if (group%comm /= MPI_COMM_NULL) call MPI_Comm_free(group%comm)
  end subroutine GroupFree

  !> Another shot begins: messages of the one before are of no use any more.
  subroutine GroupShotBegins(group)
    type(group_t), intent(inout) :: group
    integer :: side
    group%shot = modulo(group%shot + 1, SHOTS)
    do side = 1, SIDES
      group%way(side)%sent = 0
      group%way(side)%got = 0
    end do
  end subroutine GroupShotBegins

  ! --- ways through sides ---------------------------------------------------------------------------------------------

  subroutine GroupOpen(self, with, n, error)
    class(group_t), intent(inout) :: self
    integer, intent(in) :: with(:)
    integer(i8), intent(in) :: n(:)
    type(error_t), allocatable, intent(inout) :: error
    character(PATH) :: mine
    if (PartnerFailed(self, error)) return
    call Close(self)
    self%with = with
    call MakeMemory(self, n, mine)
    call Meet(self, n, mine, error)
  end subroutine GroupOpen

  subroutine Close(group)
    class(group_t), intent(inout) :: group
    integer :: side, what
    do side = 1, SIDES
      do what = 1, WHATS
        if (.not. group%way(side)%shared .and. associated(group%in(side, what)%a)) deallocate (group%in(side, what)%a)
        if (.not. c_associated(group%memory) .and. associated(group%out(side, what)%a)) deallocate (group%out(side, what)%a)
        nullify (group%in(side, what)%a, group%out(side, what)%a)
      end do
      call shared_close(group%way(side)%memory, group%way(side)%bytes)
      call Unused(group%way(side))
    end do
    call shared_close(group%memory, group%bytes)
    group%memory = c_null_ptr
    group%with = 0
  end subroutine Close

  subroutine Unused(way)
    type(way_t), intent(out) :: way
    way%sending = MPI_REQUEST_NULL
    way%getting = MPI_REQUEST_NULL
  end subroutine Unused

  !> What goes out is kept in memory that others can read, named `mine`; where there is none, '', in memory of this rank alone.
  subroutine MakeMemory(group, n, mine)
    class(group_t), intent(inout) :: group
    integer(i8), intent(in) :: n(:)
    character(PATH), intent(out) :: mine
    character(kind=c_char, len=PATH) :: buffer
    integer :: side, what
    buffer = c_null_char
    group%bytes = shared_data + 4*WHATS*sum(n)
    group%memory = shared_new(group%bytes, PATH, buffer)
    mine = FString(buffer)
    do side = 1, SIDES
      do what = 1, WHATS
        if (c_associated(group%memory)) then
          call Within(group%memory, shared_data/4 + WHATS*sum(n(:side - 1)) + (what - 1)*n(side), n(side), group%out(side, what)%a)
        else
          allocate (group%out(side, what)%a(n(side)))
        end if
      end do
    end do
  end subroutine MakeMemory

  !> n numbers after the first `from` of a memory.
  subroutine Within(memory, from, n, a)
    type(c_ptr), intent(in) :: memory
    integer(i8), intent(in) :: from, n
    real(sp), pointer, contiguous, intent(out) :: a(:)
    real(sp), pointer, contiguous :: all(:)
    call c_f_pointer(memory, all, [from + n])
    a => all(from + 1:from + n)
  end subroutine Within

  !> Partners tell each other where their memory is, and whether they can read it.
  subroutine Meet(group, n, mine, error)
    class(group_t), intent(inout) :: group
    integer(i8), intent(in) :: n(:)
    character(PATH), intent(in) :: mine
    type(error_t), allocatable, intent(inout) :: error
    character(PATH), pointer, contiguous :: names(:)
    integer(i8), pointer, contiguous :: sizes(:, :)
    type(MPI_Request) :: request(1)
    integer :: side, what
    allocate (names(0:group%n), sizes(SIDES, 0:group%n))
    names(0) = mine
    sizes(:, 0) = n
    call MPI_Iallgather(names(0), PATH, MPI_CHARACTER, names(1:), PATH, MPI_CHARACTER, group%comm, request(1))
    call Await(group, request, error)
    if (allocated(error)) return
    call MPI_Iallgather(sizes(:, 0), SIDES, MPI_INTEGER8, sizes(:, 1:), SIDES, MPI_INTEGER8, group%comm, request(1))
    call Await(group, request, error)
    if (allocated(error)) return
    call Attach(group, names(1:), sizes(:, 1:))
    call Confirm(group, error)
    if (allocated(error)) return
    do side = 1, SIDES
      do what = 1, WHATS
        if (.not. group%way(side)%shared) allocate (group%in(side, what)%a(n(side)))
      end do
    end do
    deallocate (names, sizes)
  end subroutine Meet

  !> Opens the memory of the partners.
  subroutine Attach(group, names, sizes)
    class(group_t), intent(inout) :: group
    character(PATH), intent(in) :: names(:)
    integer(i8), intent(in) :: sizes(:, :)
    integer :: side, what, theirs
    integer(i8) :: from
    do side = 1, SIDES
      if (group%with(side) == 0) cycle
      associate (way => group%way(side), size => sizes(:, group%with(side)))
        theirs = Opposite(side)
        way%bytes = shared_data + 4*WHATS*sum(size)
        way%memory = shared_open(trim(names(group%with(side)))//c_null_char, way%bytes)
        way%shared = c_associated(way%memory) .and. c_associated(group%memory)
        way%flag = WHATS*(theirs - 1)
        from = shared_data/4 + WHATS*sum(size(:theirs - 1))
        do what = 1, WHATS
          if (way%shared) call Within(way%memory, from + (what - 1)*size(theirs), size(theirs), group%in(side, what)%a)
        end do
      end associate
    end do
  end subroutine Attach

  !> A way is shared if both partners can read the other's memory.
  subroutine Confirm(group, error)
    class(group_t), intent(inout) :: group
    type(error_t), allocatable, intent(inout) :: error
    integer, pointer, contiguous :: mine(:), theirs(:)
    type(MPI_Request) :: request(2*SIDES)
    integer :: side, what
    allocate (mine(SIDES), theirs(SIDES))
    mine = merge(1, 0, group%way%shared)
    theirs = 0
    request = MPI_REQUEST_NULL
    do side = 1, SIDES
      if (group%with(side) == 0) cycle
      call MPI_Irecv(theirs(side:side), 1, MPI_INTEGER, group%with(side) - 1, TAG_OPEN + side, group%comm, request(2*side - 1))
      call MPI_Isend(mine(side:side), 1, MPI_INTEGER, group%with(side) - 1, TAG_OPEN + Opposite(side), group%comm, request(2*side))
    end do
    call Await(group, request, error)
    if (allocated(error)) return
    do side = 1, SIDES
      if (group%way(side)%shared .and. theirs(side) == 0) then
        group%way(side)%shared = .false.
        do what = 1, WHATS
          nullify (group%in(side, what)%a)
        end do
      end if
    end do
    deallocate (mine, theirs)
  end subroutine Confirm

  pure integer function Opposite(side)
    integer, intent(in) :: side
    Opposite = merge(side + 1, side - 1, modulo(side, 2) == 1)
  end function Opposite

  subroutine GroupSend(self, side, what, error)
    class(group_t), intent(inout) :: self
    integer, intent(in) :: side, what
    type(error_t), allocatable, intent(inout) :: error
    associate (way => self%way(side), out => self%out(side, what)%a, in => self%in(side, what)%a)
      way%sent(what) = modulo(way%sent(what), TURNS) + 1
      if (way%shared) then
        call shared_post(self%memory, WHATS*(side - 1) + what - 1, FlagOf(self, way%sent(what)))
      else
        call MPI_Irecv(in, size(in), MPI_REAL, self%with(side) - 1, TagOf(self, side, what), self%comm, way%getting(what))
        call MPI_Isend(out, size(out), MPI_REAL, self%with(side) - 1, TagOf(self, Opposite(side), what), self%comm, &
                       way%sending(what))
      end if
    end associate
  end subroutine GroupSend

  subroutine GroupAwait(self, side, what, error)
    class(group_t), intent(inout) :: self
    integer, intent(in) :: side, what
    type(error_t), allocatable, intent(inout) :: error
    type(MPI_Request) :: request(2)
    if (allocated(error)) return
    associate (way => self%way(side))
      way%got(what) = modulo(way%got(what), TURNS) + 1
      if (way%shared) then
        call AwaitFlag(self, way, what, error)
      else
        request = [way%getting(what), way%sending(what)]
        call Await(self, request, error)
        way%getting(what) = request(1)
        way%sending(what) = request(2)
      end if
    end associate
  end subroutine GroupAwait

  !> Turn number `turn` of this shot, as flags tell it.
  pure integer function FlagOf(group, turn) result(value)
    class(group_t), intent(in) :: group
    integer, intent(in) :: turn
    value = group%shot*TURNS + turn
  end function FlagOf

  !> Of what a partner receives through a side; side 0: of what is collected.
  pure integer function TagOf(group, side, what) result(tag)
    class(group_t), intent(in) :: group
    integer, intent(in) :: side, what
    tag = TAG_SHOTS + TAGS*group%shot
    if (side > 0) tag = tag + WHATS*(side - 1) + what
  end function TagOf

  !> Gives up what travels. What a partner does send arrives first; what it never asked for stays here.
  subroutine Abandon(group)
    class(group_t), intent(inout) :: group
    integer :: side, what
    logical :: done
    do side = 1, SIDES
      if (group%with(side) == 0 .or. group%way(side)%shared) cycle
      associate (way => group%way(side))
        do what = 1, WHATS
          call MPI_Test(way%getting(what), done, MPI_STATUS_IGNORE)
          if (.not. done) call MPI_Cancel(way%getting(what))
          if (.not. done) call AwaitAll(group, way%getting(what:what))
          call MPI_Test(way%sending(what), done, MPI_STATUS_IGNORE)
          if (.not. done) call MPI_Request_free(way%sending(what))
        end do
      end associate
    end do
  end subroutine Abandon

  ! --- all together ---------------------------------------------------------------------------------------------------

  !> The error of the first partner that has one of its own becomes that of all. Whoever has agreed on it already does not ask again.
  subroutine GroupAgree(group, error)
    class(group_t), intent(inout) :: group
    type(error_t), allocatable, intent(inout) :: error
    type(MPI_Request) :: request(1)
    integer, pointer, contiguous :: worst(:)  ! mine, then of all: the status, and of equal ones the first
    if (allocated(error)) then
      if (error%agreed) return
      call Abandon(group)
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
  end subroutine GroupAgree

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

  subroutine GroupLargest(self, x, error)
    class(group_t), intent(inout) :: self
    real(dp), contiguous, intent(inout) :: x(:)
    type(error_t), allocatable, intent(inout) :: error
    real(dp), pointer, contiguous :: mine(:), all(:)
    type(MPI_Request) :: request(1)
    if (PartnerFailed(self, error)) return
    allocate (mine, source=x)
    allocate (all, mold=x)
    call MPI_Iallreduce(mine, all, size(x), MPI_DOUBLE_PRECISION, MPI_MAX, self%comm, request(1))
    call Await(self, request, error)
    if (allocated(error)) return
    x = all
    deallocate (mine, all)
  end subroutine GroupLargest

  subroutine GroupTotal(self, x, error)
    class(group_t), intent(inout) :: self
    real(dp), contiguous, intent(inout) :: x(:)
    type(error_t), allocatable, intent(inout) :: error
    real(dp), pointer, contiguous :: mine(:), all(:, :)
    type(MPI_Request) :: request(1)
    if (PartnerFailed(self, error)) return
    allocate (mine, source=x)
    allocate (all(size(x), self%n))
    call MPI_Iallgather(mine, size(x), MPI_DOUBLE_PRECISION, all, size(x), MPI_DOUBLE_PRECISION, self%comm, request(1))
    call Await(self, request, error)
    if (allocated(error)) return
    x = sum(all, 2)
    deallocate (mine, all)
  end subroutine GroupTotal

  subroutine GroupCollect(self, mine, all, count, error)
    class(group_t), intent(inout) :: self
    real(sp), contiguous, intent(in) :: mine(:)
    real(sp), allocatable, intent(out) :: all(:)
    integer, allocatable, intent(out) :: count(:)
    type(error_t), allocatable, intent(inout) :: error
    type(MPI_Request) :: request(1)
    real(sp), pointer, contiguous :: numbers(:)
    integer, pointer, contiguous :: sizes(:)
    integer :: p, at
    allocate (count(self%n), source=0)
    allocate (all(0))
    if (size(mine, kind=i8) > AT_ONCE) call Fail(error, Str(size(mine, kind=i8))//' numbers are more than a message of a group can be')
    if (PartnerFailed(self, error)) return
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
  end subroutine GroupCollect

  !> A collective operation begins: true, with an error that all have, if a partner has failed.
  logical function PartnerFailed(group, error) result(yes)
    class(group_t), intent(inout) :: group
    type(error_t), allocatable, intent(inout) :: error
    call GroupAgree(group, error)
    yes = allocated(error)
  end function PartnerFailed

  ! --- waits ----------------------------------------------------------------------------------------------------------

  !> Waits until the partner has sent what this rank is to receive next.
  subroutine AwaitFlag(group, way, what, error)
    class(group_t), intent(inout) :: group
    type(way_t), intent(in) :: way
    integer, intent(in) :: what
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: start
    logical :: aborted
    aborted = .false.
    start = host_seconds()
    do while (shared_wait(way%memory, way%flag + what - 1, FlagOf(group, way%got(what)), LATE) == 0)
      call LookAround(group, host_seconds() - start, aborted)
      if (aborted .or. group%broken) exit
    end do
    call GiveUp(group, aborted, error)
  end subroutine AwaitFlag

  !> Waits, asleep, until all requests are done. Fails where that cannot be, or a partner has failed at something else.
  subroutine Await(group, request, error)
    class(group_t), intent(inout) :: group
    type(MPI_Request), intent(inout) :: request(:)
    type(error_t), allocatable, intent(inout) :: error
    logical :: aborted
    aborted = .false.
    call AwaitAll(group, request, aborted)
    call GiveUp(group, aborted, error)
  end subroutine Await

  !> The error of a wait in vain, if it is one.
  subroutine GiveUp(group, aborted, error)
    class(group_t), intent(in) :: group
    logical, intent(in) :: aborted
    type(error_t), allocatable, intent(inout) :: error
    if (allocated(error)) return
    if (group%broken) then
      call Fail(error, group%why_broken)
    else if (aborted) then
      call Fail(error, 'another rank of the group has failed')
      error%followed = .true.
    end if
  end subroutine GiveUp

  !> Waits, asleep, until all requests are done, or the group is broken, or, where `aborted` is there, a partner has failed.
  subroutine AwaitAll(group, request, aborted)
    class(group_t), intent(inout) :: group
    type(MPI_Request), intent(inout) :: request(:)
    logical, intent(inout), optional :: aborted
    real(dp) :: start, look, now, nap
    logical :: done
    start = host_seconds()
    look = start + LATE
    nap = NAP_FIRST
    do while (.not. group%broken)
      call MPI_Testall(size(request), request, done, MPI_STATUSES_IGNORE)
      if (done) return
      now = host_seconds()
      if (now > look) then
        look = now + LATE
        call LookAround(group, now - start, aborted)
        if (present(aborted)) then
          if (aborted) return
        end if
      end if
      call host_nap(nap)
      nap = min(1.25_dp*nap, NAP_LAST)
    end do
  end subroutine AwaitAll

  !> Takes the messages of the master that are here.
  subroutine GroupListen(group)
    class(group_t), intent(inout) :: group
    type(message_t) :: message
    if (.not. associated(group%link)) return
    if (.not. allocated(group%postponed)) allocate (group%postponed(0))
    do while (LinkReceive(group%link, message))
      if (message%kind == MSG_END .and. message%n(2) == 1) then
        group%end = message
        group%why_broken = 'the job has lost ranks'
        group%broken = .true.
      else
        group%postponed = [group%postponed, message]
      end if
    end do
  end subroutine GroupListen

  !> Looks for a dead partner of this machine, for one that is silent for too long, and for one that says that it has failed.
  subroutine LookAround(group, waited, aborted)
    class(group_t), intent(inout) :: group
    real(dp), intent(in) :: waited
    logical, intent(inout), optional :: aborted
    integer :: rank
    call GroupListen(group)
    if (present(aborted)) aborted = Aborts(group)
    call PeersLook(group%peers, host_seconds())
    rank = PeersDead(group%peers, group%first_rank, group%first_rank + group%n - 1)
    if (rank >= 0) then
      group%why_broken = 'rank '//Str(rank)//', which worker '//Str(group%worker)//' needs, is dead'
    else if (waited > group%patience) then
      group%why_broken = 'another rank of worker '//Str(group%worker)//' was not heard of for '//Str(group%patience)//' s'
    end if
    group%broken = allocated(group%why_broken)
  end subroutine LookAround

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

  !> A partner has said that it failed in this shot.
  logical function Aborts(group) result(aborted)
    class(group_t), intent(inout) :: group
    type(MPI_Status) :: status
    integer :: shot(1)
    logical :: there
    aborted = .false.
    do
      call MPI_Iprobe(MPI_ANY_SOURCE, TAG_ABORT, group%comm, there, status)
      if (.not. there) exit
      call MPI_Recv(shot, 1, MPI_INTEGER, status%MPI_SOURCE, TAG_ABORT, group%comm, MPI_STATUS_IGNORE)
      aborted = aborted .or. shot(1) == group%shot
    end do
  end function Aborts

end module group_m
