!> THE protocol: what master and workers say to each other, and how it travels.
!>
!>     message   from     carries                                            answer
!>     READY     worker   worker id, GPU? (1 or 0), CPU threads; host        SHOT or STOP, perhaps later
!>     SHOT      master   record, slot, attempt, snapshots?; positions       -
!>     STOP      master   -                                                  BYE
!>     DROP      master   record of a shot that another worker has           LOST, or the GATHER that is under way
!>     MODEL     worker   record, window it holds already                    MODEL (window, or "the same") or REFUSED
!>     GATHER    worker   traces, positions used, times                      WRITTEN or REFUSED
!>     SNAPS     worker   snapshots of a shot                                WRITTEN or REFUSED
!>     LOST      worker   record, why, whether the shot is innocent          -
!>     PROGRESS  worker   record, fraction done; also the heartbeat          -
!>     NOTE      worker   a sentence for the log                             -
!>     LEAVE     worker   may I go before the end?                           LEAVE: yes or no
!>     BYE       worker   times spent in compute, wait, I/O                  -
!>
!> The header tells kind, sizes and numbers; text, positions and fields follow in messages of their own. Nobody waits for a
!> message to arrive or for an answer: both sides send, go on, and poll; answers name the record they are about. A worker that can
!> model several shots at once says READY for each.
!> A single process is both sides: the message goes straight to the listener.
module protocol_m
  use host_c, only: host_nap
  use kinds_m, only: dp, i8, sp
  use mpi_f08
  implicit none
  private
  public :: message_t, listener_t, link_t, Tell, Poll, Answer, LinkBusy, LinkFlush, Rest, Barrier
  public :: BroadcastText, BroadcastInteger, BroadcastReals, BroadcastFields, LargestInteger
  public :: MSG_NONE, MSG_READY, MSG_SHOT, MSG_STOP, MSG_MODEL, MSG_GATHER, MSG_SNAPS, MSG_WRITTEN, MSG_REFUSED
  public :: MSG_LOST, MSG_PROGRESS, MSG_BYE, MSG_NOTE, MSG_LEAVE, MSG_DROP

  integer, parameter :: MSG_NONE = 0, MSG_READY = 1, MSG_SHOT = 2, MSG_STOP = 3, MSG_MODEL = 4, MSG_GATHER = 5, &
                        MSG_SNAPS = 6, MSG_WRITTEN = 7, MSG_REFUSED = 8, MSG_LOST = 9, MSG_PROGRESS = 10, MSG_BYE = 11, &
                        MSG_NOTE = 12, MSG_LEAVE = 13, MSG_DROP = 14
  integer, parameter :: MSG_LAST = MSG_DROP, MSG_GARBLED = -1   !< the highest; what a message becomes whose header cannot be

  integer, parameter :: TAG_HEADER = 1, TAG_BODY = 2
  integer, parameter :: NUMBERS = 12          !< integers and reals in a header
  integer, parameter :: HEADER = 2*NUMBERS + 5
  integer(i8), parameter :: ROOM = 500000000  !< bytes on their way, beyond which a sender waits

  type :: message_t
    integer :: kind = MSG_NONE
    integer :: from = 0                       !< rank of the sender
    integer(i8) :: n(NUMBERS) = 0
    real(dp) :: x(NUMBERS) = 0
    character(:), allocatable :: text
    real(dp), allocatable :: places(:)        !< positions and other double numbers
    real(sp), allocatable :: fields(:)        !< model window or traces
  end type message_t

  !> What hears messages and answers them: the master.
  type, abstract :: listener_t
  contains
    procedure(hear_i), deferred :: hear
  end type listener_t

  abstract interface
    !> `answer%kind` stays MSG_NONE when there is nothing to say now. MSG_NONE asks for answers that were due from earlier.
    subroutine hear_i(self, message, answer)
      import :: listener_t, message_t
      class(listener_t), intent(inout) :: self
      type(message_t), intent(inout) :: message, answer
    end subroutine hear_i
  end interface

  !> A message on its way: kept until MPI is done with it.
  type :: parcel_t
    integer(i8) :: h(HEADER) = 0
    type(message_t) :: message
    type(MPI_Request) :: request(4)
    type(parcel_t), pointer :: next => null()
  end type parcel_t

  !> The way to the other side: over MPI, or straight to `listener` in a single process.
  type :: link_t
    type(MPI_Comm) :: world = MPI_COMM_NULL
    class(listener_t), pointer :: listener => null()
    type(parcel_t), pointer, private :: first => null(), last => null()   !< on their way, oldest first
    integer(i8), private :: bytes = 0                                     !< in them
    type(message_t), allocatable, private :: inbox(:)                     !< answers of `listener` not yet polled
  end type link_t

contains

  !> Says `message` to the master, whose answer will be polled. The contents of `message` are moved away.
  subroutine Tell(link, message)
    type(link_t), intent(inout) :: link
    type(message_t), intent(inout) :: message
    type(message_t) :: reply
    if (.not. associated(link%listener)) then
      call Send(link, 0, message)
    else
      call link%listener%hear(message, reply)
      if (.not. allocated(link%inbox)) allocate (link%inbox(0))
      if (reply%kind /= MSG_NONE) link%inbox = [link%inbox, reply]
    end if
  end subroutine Tell

  !> Sends an answer to the rank it is for. The contents of `message` are moved away.
  subroutine Answer(link, rank, message)
    type(link_t), intent(inout) :: link
    integer, intent(in) :: rank
    type(message_t), intent(inout) :: message
    call Send(link, rank, message)
  end subroutine Answer

  !> True if a message was there; never waits. Must be called now and then for messages to get on their way.
  logical function Poll(link, message) result(there)
    type(link_t), intent(inout) :: link
    type(message_t), intent(out) :: message
    type(message_t) :: nothing
    type(MPI_Status) :: status
    if (associated(link%listener)) then
      if (.not. allocated(link%inbox)) allocate (link%inbox(0))
      if (size(link%inbox) > 0) then
        message = link%inbox(1)
        link%inbox = link%inbox(2:)
      else
        call link%listener%hear(nothing, message)
      end if
      there = message%kind /= MSG_NONE
    else
      call MoveOn(link)
      call MPI_Iprobe(MPI_ANY_SOURCE, TAG_HEADER, link%world, there, status)
      if (there) call Receive(link, status%MPI_SOURCE, message)
    end if
  end function Poll

  !> Whether messages are still on their way.
  logical function LinkBusy(link) result(busy)
    type(link_t), intent(inout) :: link
    call MoveOn(link)
    busy = associated(link%first)
  end function LinkBusy

  !> Waits until all messages have gone.
  subroutine LinkFlush(link)
    type(link_t), intent(inout) :: link
    real(dp) :: nap
    nap = 0
    do while (LinkBusy(link))
      call Rest(nap)
    end do
  end subroutine LinkFlush

  !> Sleeps a little longer each time it is called: an idle rank costs nothing. Set `nap` to 0 after some work.
  subroutine Rest(nap)
    real(dp), intent(inout) :: nap
    nap = min(max(1.25_dp*nap, 2.0e-5_dp), 5.0e-3_dp)
    call host_nap(nap)
  end subroutine Rest

  subroutine Send(link, rank, message)
    type(link_t), intent(inout) :: link
    integer, intent(in) :: rank
    type(message_t), intent(inout) :: message
    type(parcel_t), pointer :: p
    real(dp) :: nap
    nap = 0
    do while (link%bytes > ROOM)
      call Rest(nap)
      call MoveOn(link)
    end do
    allocate (p)
    p%request = MPI_REQUEST_NULL
    p%h(1) = message%kind
    p%h(2:1 + NUMBERS) = message%n
    p%h(2 + NUMBERS:1 + 2*NUMBERS) = transfer(message%x, p%h, NUMBERS)
    call move_alloc(message%text, p%message%text)
    call move_alloc(message%places, p%message%places)
    call move_alloc(message%fields, p%message%fields)
    if (allocated(p%message%text)) p%h(HEADER - 2) = len(p%message%text)
    if (allocated(p%message%places)) p%h(HEADER - 1) = size(p%message%places)
    if (allocated(p%message%fields)) p%h(HEADER) = size(p%message%fields)
    associate (n => int(p%h(HEADER - 2:)), r => p%request, w => link%world)
      call MPI_Isend(p%h, HEADER, MPI_INTEGER8, rank, TAG_HEADER, w, r(1))
      if (n(1) > 0) call MPI_Isend(p%message%text, n(1), MPI_CHARACTER, rank, TAG_BODY, w, r(2))
      if (n(2) > 0) call MPI_Isend(p%message%places, n(2), MPI_DOUBLE_PRECISION, rank, TAG_BODY, w, r(3))
      if (n(3) > 0) call MPI_Isend(p%message%fields, n(3), MPI_REAL, rank, TAG_BODY, w, r(4))
    end associate
    link%bytes = link%bytes + 4*p%h(HEADER)
    if (associated(link%last)) then
      link%last%next => p
    else
      link%first => p
    end if
    link%last => p
  end subroutine Send

  !> Lets messages travel, and forgets those that have arrived.
  subroutine MoveOn(link)
    type(link_t), intent(inout) :: link
    type(parcel_t), pointer :: p, next, before
    logical :: gone
    before => null()
    p => link%first
    do while (associated(p))
      next => p%next
      call MPI_Testall(4, p%request, gone, MPI_STATUSES_IGNORE)
      if (gone) then
        link%bytes = link%bytes - 4*p%h(HEADER)
        if (associated(before)) then
          before%next => next
        else
          link%first => next
        end if
        if (.not. associated(next)) link%last => before
        deallocate (p)
      else
        before => p
      end if
      p => next
    end do
  end subroutine MoveOn

  subroutine Receive(link, rank, message)
    type(link_t), intent(in) :: link
    integer, intent(in) :: rank
    type(message_t), intent(out) :: message
    integer(i8) :: h(HEADER)
    call MPI_Recv(h, HEADER, MPI_INTEGER8, rank, TAG_HEADER, link%world, MPI_STATUS_IGNORE)
    message%from = rank
    message%kind = MSG_GARBLED
    if (.not. HeaderSound(h)) return
    message%kind = int(h(1))
    message%n = h(2:1 + NUMBERS)
    message%x = transfer(h(2 + NUMBERS:1 + 2*NUMBERS), message%x, NUMBERS)
    allocate (character(h(HEADER - 2)) :: message%text)
    allocate (message%places(h(HEADER - 1)), message%fields(h(HEADER)))
    if (h(HEADER - 2) > 0) then
      call MPI_Recv(message%text, int(h(HEADER - 2)), MPI_CHARACTER, rank, TAG_BODY, link%world, MPI_STATUS_IGNORE)
    end if
    if (h(HEADER - 1) > 0) then
      call MPI_Recv(message%places, int(h(HEADER - 1)), MPI_DOUBLE_PRECISION, rank, TAG_BODY, link%world, MPI_STATUS_IGNORE)
    end if
    if (h(HEADER) > 0) then
      call MPI_Recv(message%fields, int(h(HEADER)), MPI_REAL, rank, TAG_BODY, link%world, MPI_STATUS_IGNORE)
    end if
  end subroutine Receive

  !> Whether the kind and the lengths of text, positions and fields that a header tells can be.
  pure logical function HeaderSound(h) result(sound)
    integer(i8), intent(in) :: h(HEADER)
    sound = h(1) > MSG_NONE .and. h(1) <= MSG_LAST .and. all(h(HEADER - 2:) >= 0 .and. h(HEADER - 2:) <= huge(1))
  end function HeaderSound

  !> Waits, asleep, until every rank of `comm` is here: MPI_Barrier would burn a core.
  subroutine Barrier(comm)
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Request) :: request
    logical :: there
    real(dp) :: nap
    call MPI_Ibarrier(comm, request)
    call MPI_Test(request, there, MPI_STATUS_IGNORE)
    nap = 0
    do while (.not. there)
      call Rest(nap)
      call MPI_Test(request, there, MPI_STATUS_IGNORE)
    end do
  end subroutine Barrier

  !> Rank 0's text to all ranks of `comm`.
  subroutine BroadcastText(comm, text)
    type(MPI_Comm), intent(in) :: comm
    character(:), allocatable, intent(inout) :: text
    integer :: n, rank
    call MPI_Comm_rank(comm, rank)
    n = 0
    if (rank == 0) n = len(text)
    call BroadcastInteger(comm, n)
    if (rank /= 0) then
      if (allocated(text)) deallocate (text)
      allocate (character(n) :: text)
    end if
    if (n > 0) call MPI_Bcast(text, n, MPI_CHARACTER, 0, comm)
  end subroutine BroadcastText

  !> Rank 0's integer to all ranks of `comm`; the others wait asleep.
  subroutine BroadcastInteger(comm, i)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(inout) :: i
    call Barrier(comm)
    call MPI_Bcast(i, 1, MPI_INTEGER, 0, comm)
  end subroutine BroadcastInteger

  !> The largest of what the ranks of `comm` have, to all of them.
  subroutine LargestInteger(comm, i)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(inout) :: i
    integer :: largest
    call MPI_Allreduce(i, largest, 1, MPI_INTEGER, MPI_MAX, comm)
    i = largest
  end subroutine LargestInteger

  !> Rank 0's double numbers to all ranks of `comm`, same shape everywhere.
  subroutine BroadcastReals(comm, x)
    type(MPI_Comm), intent(in) :: comm
    real(dp), intent(inout) :: x(:)
    if (size(x) > 0) call MPI_Bcast(x, size(x), MPI_DOUBLE_PRECISION, 0, comm)
  end subroutine BroadcastReals

  !> Rank 0's single numbers to all ranks of `comm`, same shape everywhere.
  subroutine BroadcastFields(comm, x)
    type(MPI_Comm), intent(in) :: comm
    real(sp), intent(inout) :: x(:)
    if (size(x) > 0) call MPI_Bcast(x, size(x), MPI_REAL, 0, comm)
  end subroutine BroadcastFields

end module protocol_m
