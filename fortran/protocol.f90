!> THE protocol: what master and workers say to each other, and how it travels.
!>
!>     message   from     carries                                            answer
!>     READY     worker   worker id, GPU? (1 or 0), CPU threads; host        SHOT or STOP, perhaps later
!>     SHOT      master   record, slot, attempt, snapshots?; positions       -
!>     STOP      master   -                                                  BYE
!>     (drop)    master   record of a shot that another worker has           LOST, or the GATHER that is under way
!>     MODEL     worker   record                                             MODEL (window) or REFUSED
!>     GATHER    worker   traces, positions used, times                      WRITTEN or REFUSED
!>     SNAPS     worker   snapshots of a shot                                WRITTEN or REFUSED
!>     LOST      worker   record and why                                     -
!>     PROGRESS  worker   record, fraction done; also the heartbeat          -
!>     BYE       worker   times spent in compute, wait, I/O                  -
!>
!> The header tells kind, sizes and numbers; text, positions and fields follow in messages of their own.
!> A worker that can model several shots at once says READY for each. A drop comes unasked, on a tag of its own, so that it is
!> never taken for an answer: the worker looks for it (Dropped) while it computes.
!> A single process is both sides: the message goes straight to the listener.
module protocol_m
  use host_c, only: host_nap
  use kinds_m, only: dp, i8, sp
  use mpi_f08
  implicit none
  private
  public :: message_t, listener_t, link_t, Ask, Tell, Poll, Answer, Rest, Barrier, Drop, Dropped
  public :: BroadcastText, BroadcastInteger, BroadcastReals, BroadcastFields
  public :: MSG_NONE, MSG_READY, MSG_SHOT, MSG_STOP, MSG_MODEL, MSG_GATHER, MSG_SNAPS, MSG_WRITTEN, MSG_REFUSED
  public :: MSG_LOST, MSG_PROGRESS, MSG_BYE

  integer, parameter :: MSG_NONE = 0, MSG_READY = 1, MSG_SHOT = 2, MSG_STOP = 3, MSG_MODEL = 4, MSG_GATHER = 5, &
                        MSG_SNAPS = 6, MSG_WRITTEN = 7, MSG_REFUSED = 8, MSG_LOST = 9, MSG_PROGRESS = 10, MSG_BYE = 11

  integer, parameter :: TAG_HEADER = 1, TAG_BODY = 2, TAG_DROP = 3
  integer, parameter :: NUMBERS = 12          !< integers and reals in a header
  integer, parameter :: HEADER = 2*NUMBERS + 5

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
    !> `answer%kind` stays MSG_NONE when there is nothing to say now.
    subroutine hear_i(self, message, answer)
      import :: listener_t, message_t
      class(listener_t), intent(inout) :: self
      type(message_t), intent(inout) :: message, answer
    end subroutine hear_i
  end interface

  !> The way to the master: over MPI, or straight to `listener` in a single process.
  type :: link_t
    type(MPI_Comm) :: world = MPI_COMM_NULL
    class(listener_t), pointer :: listener => null()
  end type link_t

contains

  !> Says `message` to the master and waits, asleep, for its answer.
  subroutine Ask(link, message, reply)
    type(link_t), intent(in) :: link
    type(message_t), intent(inout) :: message
    type(message_t), intent(out) :: reply
    real(dp) :: nap
    if (associated(link%listener)) then
      call link%listener%hear(message, reply)
      return
    end if
    call Send(link, 0, message)
    nap = 0
    do while (.not. Poll(link, reply))
      call Rest(nap)
    end do
  end subroutine Ask

  !> Says `message` to the master; there is no answer.
  subroutine Tell(link, message)
    type(link_t), intent(in) :: link
    type(message_t), intent(inout) :: message
    type(message_t) :: nothing
    if (associated(link%listener)) then
      call link%listener%hear(message, nothing)
    else
      call Send(link, 0, message)
    end if
  end subroutine Tell

  !> Sends an answer to the rank it is for.
  subroutine Answer(link, rank, message)
    type(link_t), intent(in) :: link
    integer, intent(in) :: rank
    type(message_t), intent(in) :: message
    call Send(link, rank, message)
  end subroutine Answer

  !> Tells a rank that it need not go on with the shot of this record: another worker has it.
  subroutine Drop(link, rank, record)
    type(link_t), intent(in) :: link
    integer, intent(in) :: rank, record
    call MPI_Send(record, 1, MPI_INTEGER, rank, TAG_DROP, link%world)
  end subroutine Drop

  !> Record of a shot that this rank need not go on with, 0 if there is none (more); never waits. It may be one that is delivered
  !> already.
  integer function Dropped(link) result(record)
    type(link_t), intent(in) :: link
    logical :: there
    record = 0
    if (associated(link%listener)) return
    call MPI_Iprobe(0, TAG_DROP, link%world, there, MPI_STATUS_IGNORE)
    if (there) call MPI_Recv(record, 1, MPI_INTEGER, 0, TAG_DROP, link%world, MPI_STATUS_IGNORE)
  end function Dropped

  !> True if a message was there; never waits.
  logical function Poll(link, message) result(there)
    type(link_t), intent(in) :: link
    type(message_t), intent(inout) :: message
    type(MPI_Status) :: status
    call MPI_Iprobe(MPI_ANY_SOURCE, TAG_HEADER, link%world, there, status)
    if (there) call Receive(link, status%MPI_SOURCE, message)
  end function Poll

  !> Sleeps a little longer each time it is called: an idle rank costs nothing. Set `nap` to 0 after some work.
  subroutine Rest(nap)
    real(dp), intent(inout) :: nap
    nap = min(max(1.25_dp*nap, 2.0e-5_dp), 5.0e-3_dp)
    call host_nap(nap)
  end subroutine Rest

  subroutine Send(link, rank, message)
    type(link_t), intent(in) :: link
    integer, intent(in) :: rank
    type(message_t), intent(in) :: message
    integer(i8) :: h(HEADER)
    h = 0
    h(1) = message%kind
    h(2:1 + NUMBERS) = message%n
    h(2 + NUMBERS:1 + 2*NUMBERS) = transfer(message%x, h, NUMBERS)
    if (allocated(message%text)) h(HEADER - 2) = len(message%text)
    if (allocated(message%places)) h(HEADER - 1) = size(message%places)
    if (allocated(message%fields)) h(HEADER) = size(message%fields)
    call MPI_Send(h, HEADER, MPI_INTEGER8, rank, TAG_HEADER, link%world)
    if (h(HEADER - 2) > 0) call MPI_Send(message%text, int(h(HEADER - 2)), MPI_CHARACTER, rank, TAG_BODY, link%world)
    if (h(HEADER - 1) > 0) call MPI_Send(message%places, int(h(HEADER - 1)), MPI_DOUBLE_PRECISION, rank, TAG_BODY, link%world)
    if (h(HEADER) > 0) call MPI_Send(message%fields, int(h(HEADER)), MPI_REAL, rank, TAG_BODY, link%world)
  end subroutine Send

  subroutine Receive(link, rank, message)
    type(link_t), intent(in) :: link
    integer, intent(in) :: rank
    type(message_t), intent(out) :: message
    integer(i8) :: h(HEADER)
    call MPI_Recv(h, HEADER, MPI_INTEGER8, rank, TAG_HEADER, link%world, MPI_STATUS_IGNORE)
    message%kind = int(h(1))
    message%from = rank
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
