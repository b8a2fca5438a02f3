!> The protocol: the messages between master and workers, and how they travel.
!>
!>     message   from     carries                                            reply
!>     START     master   exit status if there is nothing to do; the scheme  -
!>     READY     worker   worker id, GPU? (1 or 0), CPU threads; host        SHOT or STOP, perhaps later
!>     SHOT      master   record, slot, snapshots?; positions, where its     -
!>                        window of the model lies, and what the model
!>                        tells of the earth at receivers and source
!>     STOP      master   -                                                  BYE
!>     DROP      master   record of a shot that another worker has, or       LOST, or the GATHER that is under way
!>                        (1) that is given up as the job ends
!>     MODEL     worker   record, which box of the window; each rank of a    MODEL (the media of the box, or that they lie
!>                        group asks for its own; name of memory for it      in that memory) or REFUSED
!>     MEMORY    worker   worker id, number, bytes; name of memory of its    MEMORY: number, can be read? (1 or 0)
!>                        own that traces are to be read in
!>     GATHER    worker   traces, or where in that memory they lie;          WRITTEN or REFUSED
!>                        positions used, times
!>     SNAPS     worker   snapshots of a shot                                WRITTEN or REFUSED
!>     LOST      worker   record, why, whether the shot is innocent          -
!>     PROGRESS  worker   record, fraction done, fraction it began at,       -
!>                        waits for the GPU? (1 or 0; at the first step 0); the heartbeat, record 0
!>     BEAT      master   I am here                                          -
!>     NOTE      worker   sentences for the log: a warning, none, for a file  -
!>     LEAVE     worker   may I go before the end? or: I have to             LEAVE: yes or no
!>     DEAD      worker   rank of this machine whose process has ended, and  -
!>                        the number of that
!>     BYE       worker   times spent in compute, wait, I/O                  END
!>     END       master   exit status, whether ranks are lost                END
!>
!> Before START early_beats.f90 sends words of its own.
!>
!> The header has kind, sizes and numbers; text, positions and fields follow in messages of their own, long ones in parts. No rank
!> waits for a message to arrive or for a reply: both sides send, go on, and receive; replies name the record they are about. A
!> worker that can model several shots at once sends READY for each.
!>
!> A rank may die or stand still at any moment, half-way through a message too, and MPI does not tell. So nothing here waits for
!> one rank: a message is delivered when all of it is here, others are received meanwhile, and what is on its way to or from a rank
!> that is taken for lost (LinkForget) keeps nothing waiting. Should that rank come back, its messages go on where they stood.
!> A single process is both sides: the message goes straight to the listener.
module protocol_m
  use barrier_m, only: Rest
  use host_c, only: host_seconds
  use kinds_m, only: dp, i8, sp
  use message_parts_m, only: PartBegin, PartLength, Parts
  use mpi_f08
  implicit none
  private
  public :: message_t, listener_t, link_t, LinkSend, LinkReply, LinkReceive, LinkAwaits, LinkBusy, LinkDead, LinkFlush, LinkForget
  public :: MSG_NONE, MSG_READY, MSG_SHOT, MSG_STOP, MSG_MODEL, MSG_GATHER, MSG_SNAPS, MSG_WRITTEN, MSG_REFUSED
  public :: MSG_LOST, MSG_PROGRESS, MSG_BYE, MSG_NOTE, MSG_LEAVE, MSG_DROP, MSG_BEAT, MSG_END, MSG_START, MSG_DEAD, MSG_MEMORY

  integer, parameter :: MSG_NONE = 0, MSG_READY = 1, MSG_SHOT = 2, MSG_STOP = 3, MSG_MODEL = 4, MSG_GATHER = 5, &
                        MSG_SNAPS = 6, MSG_WRITTEN = 7, MSG_REFUSED = 8, MSG_LOST = 9, MSG_PROGRESS = 10, MSG_BYE = 11, &
                        MSG_NOTE = 12, MSG_LEAVE = 13, MSG_DROP = 14, MSG_BEAT = 15, MSG_END = 16, MSG_START = 17, MSG_DEAD = 18, &
                        MSG_MEMORY = 19
  integer, parameter :: MSG_LAST = MSG_MEMORY, MSG_GARBLED = -1  !< the highest; kind of a message with an impossible header

  integer, parameter :: TAG_HEADER = 1, TAG_BODY = 2
  integer, parameter :: NUMBERS = 12          !< integers and reals in a header
  integer, parameter :: HEADER = 2*NUMBERS + 5
  integer(i8), parameter :: ROOM = 500000000  !< bytes on their way, beyond which a sender of fields waits
  real(dp), parameter :: STUCK = 1.0_dp       !< seconds without an arrival after which a sender waits no longer
  integer(i8), parameter :: ROOM_IN = 64000000  !< bytes awaited, beyond which no more headers are read,
  real(dp), parameter :: STILL = 5.0_dp       !< unless none of these messages came in so many seconds: a sender stands still
  integer(i8), parameter :: LONGEST = 2_i8**38  !< numbers of a kind in a message, beyond which a header is garbled
  real(dp), asynchronous :: nowhere           !< where lost messages go

  type :: message_t
    integer :: kind = MSG_NONE
    integer :: from = 0                       !< rank of the sender
    integer(i8) :: n(NUMBERS) = 0
    real(dp) :: x(NUMBERS) = 0
    character(:), allocatable :: text
    real(dp), allocatable :: places(:)        !< positions and other double numbers
    real(sp), allocatable :: fields(:)        !< model window or traces
    real(sp), pointer, contiguous :: lent(:) => null()   !< traces that stay where they are: lent_memory.f90
    logical :: lost = .false.                 !< there was no memory for text, positions and fields, which are empty
  end type message_t

  !> The master as a link sees it: it handles messages and replies.
  type, abstract :: listener_t
  contains
    procedure(handle_i), deferred :: handle
  end type listener_t

  abstract interface
    !> `reply%kind` stays MSG_NONE where there is no reply now. MSG_NONE asks for replies that were due from earlier.
    subroutine handle_i(self, message, reply)
      import :: listener_t, message_t
      class(listener_t), intent(inout) :: self
      type(message_t), intent(inout) :: message, reply
    end subroutine handle_i
  end interface

  !> A message on its way: kept until MPI is done with it.
  type :: outgoing_t
    integer(i8) :: h(HEADER) = 0
    type(message_t) :: message
    integer :: to = 0                         !< rank
    logical :: forgotten = .false.            !< that rank is taken for lost
    type(MPI_Request), allocatable :: request(:)   !< of the header, then of all parts
    type(outgoing_t), pointer :: next => null()
  end type outgoing_t

  !> A message whose header is here and whose rest may not be yet.
  type :: incoming_t
    type(message_t) :: message
    integer(i8) :: bytes = 0                  !< that are awaited of it, 0 where it does not come, or is lost
    logical :: forgotten = .false.            !< its sender is taken for lost
    type(MPI_Request), allocatable :: request(:)   !< of all parts
    type(incoming_t), pointer :: next => null()
  end type incoming_t

  !> The way to the other side: over MPI, or straight to `listener` in a single process.
  type :: link_t
    type(MPI_Comm) :: world = MPI_COMM_NULL
    class(listener_t), pointer :: listener => null()
    type(outgoing_t), pointer, private :: first => null(), last => null()       !< on their way, oldest first
    integer(i8), private :: bytes = 0                                           !< in them
    type(incoming_t), pointer, private :: first_in => null(), last_in => null() !< awaited, oldest header first
    integer(i8), private :: bytes_in = 0                                        !< of these, but for those that do not come
    real(dp), private :: waited = 0, looked = 0                                 !< for one of them, listening; latest look [s]
    real(dp) :: patience = 0.5_dp*huge(1.0_dp)                                  !< time that messages are waited for at the end [s]
    type(message_t), allocatable, private :: inbox(:)                           !< replies of `listener` not yet received
    integer, allocatable, private :: dead(:)                                    !< ranks that are dead
  end type link_t

contains

  !> Sends `message` to the master, whose reply LinkReceive will bring. The contents of `message` are moved away.
  subroutine LinkSend(link, message)
    type(link_t), intent(inout) :: link
    type(message_t), intent(inout) :: message
    type(message_t) :: reply
    if (.not. associated(link%listener)) then
      call Send(link, 0, message)
    else
      call link%listener%handle(message, reply)
      if (.not. allocated(link%inbox)) allocate (link%inbox(0))
      if (reply%kind /= MSG_NONE) link%inbox = [link%inbox, reply]
    end if
  end subroutine LinkSend

  !> Sends a reply of the master to a rank. The contents of `message` are moved away.
  subroutine LinkReply(link, rank, message)
    type(link_t), intent(inout) :: link
    integer, intent(in) :: rank
    type(message_t), intent(inout) :: message
    call Send(link, rank, message)
  end subroutine LinkReply

  !> True if a message was there; never waits. Must be called now and then, or messages do not travel.
  logical function LinkReceive(link, message) result(there)
    type(link_t), intent(inout) :: link
    type(message_t), intent(out) :: message
    type(message_t) :: nothing
    if (associated(link%listener)) then
      if (.not. allocated(link%inbox)) allocate (link%inbox(0))
      if (size(link%inbox) > 0) then
        message = link%inbox(1)
        link%inbox = link%inbox(2:)
      else
        call link%listener%handle(nothing, message)
      end if
      there = message%kind /= MSG_NONE
    else
      call FreeSent(link)
      call ReceiveHeaders(link)
      call ReceiveWhole(link, there, message)
    end if
  end function LinkReceive

  !> True while messages are on their way, to or from ranks that are not taken for lost.
  logical function LinkBusy(link) result(busy)
    type(link_t), intent(inout) :: link
    type(incoming_t), pointer :: a
    busy = Sending(link)
    a => link%first_in
    do while (associated(a) .and. .not. busy)
      busy = .not. a%forgotten
      a => a%next
    end do
  end function LinkBusy

  logical function Sending(link)
    type(link_t), intent(inout) :: link
    type(outgoing_t), pointer :: p
    call FreeSent(link)
    Sending = .false.
    p => link%first
    do while (associated(p) .and. .not. Sending)
      Sending = .not. p%forgotten
      p => p%next
    end do
  end function Sending

  !> Waits until all messages have gone, or link%patience seconds have passed.
  subroutine LinkFlush(link)
    type(link_t), intent(inout) :: link
    real(dp) :: nap, start
    start = host_seconds()
    do while (Sending(link))
      if (host_seconds() - start > link%patience) exit
      nap = 0
      call Rest(nap)
    end do
  end subroutine LinkFlush

  !> `rank` is taken for lost: what is on its way to or from it keeps nothing waiting.
  subroutine LinkForget(link, rank)
    type(link_t), intent(inout) :: link
    integer, intent(in) :: rank
    type(outgoing_t), pointer :: p
    type(incoming_t), pointer :: a
    p => link%first
    do while (associated(p))
      if (p%to == rank .and. .not. p%forgotten) then
        p%forgotten = .true.
        link%bytes = link%bytes - 4*p%h(HEADER)
      end if
      p => p%next
    end do
    a => link%first_in
    do while (associated(a))
      if (a%message%from == rank .and. .not. a%forgotten) then
        a%forgotten = .true.
        link%bytes_in = link%bytes_in - a%bytes
      end if
      a => a%next
    end do
  end subroutine LinkForget

  !> `rank` is dead: nothing is sent to it any more, and what is on its way to or from it keeps nothing waiting.
  subroutine LinkDead(link, rank)
    type(link_t), intent(inout) :: link
    integer, intent(in) :: rank
    call LinkForget(link, rank)
    if (.not. allocated(link%dead)) allocate (link%dead(0))
    if (all(link%dead /= rank)) link%dead = [link%dead, rank]
  end subroutine LinkDead

  !> True where part of a message of `rank` is here: the rank is not silent, though the message is not delivered yet.
  logical function LinkAwaits(link, rank) result(awaits)
    type(link_t), intent(in) :: link
    integer, intent(in) :: rank
    type(incoming_t), pointer :: a
    awaits = .false.
    a => link%first_in
    do while (associated(a) .and. .not. awaits)
      awaits = a%message%from == rank
      a => a%next
    end do
  end function LinkAwaits

  subroutine Send(link, rank, message)
    type(link_t), intent(inout) :: link
    integer, intent(in) :: rank
    type(message_t), intent(inout) :: message
    type(outgoing_t), pointer :: p
    integer :: m, r
    if (allocated(link%dead)) then
      if (any(link%dead == rank)) return
    end if
    if (allocated(message%fields)) call AwaitRoom(link)
    allocate (p)
    p%to = rank
    p%h(1) = message%kind
    p%h(2:1 + NUMBERS) = message%n
    p%h(2 + NUMBERS:1 + 2*NUMBERS) = transfer(message%x, p%h, NUMBERS)
    call move_alloc(message%text, p%message%text)
    call move_alloc(message%places, p%message%places)
    call move_alloc(message%fields, p%message%fields)
    if (allocated(p%message%text)) p%h(HEADER - 2) = len(p%message%text, i8)
    if (allocated(p%message%places)) p%h(HEADER - 1) = size(p%message%places, kind=i8)
    if (allocated(p%message%fields)) p%h(HEADER) = size(p%message%fields, kind=i8)
    associate (n => p%h(HEADER - 2:), text => p%message%text, places => p%message%places, fields => p%message%fields, &
               w => link%world)
      allocate (p%request(1 + Parts(n(1)) + Parts(n(2)) + Parts(n(3))))
      call MPI_Isend(p%h, HEADER, MPI_INTEGER8, rank, TAG_HEADER, w, p%request(1))
      r = 1
      do m = 1, Parts(n(1))
        r = r + 1
        call MPI_Isend(text(PartBegin(m):), PartLength(n(1), m), MPI_CHARACTER, rank, TAG_BODY, w, p%request(r))
      end do
      do m = 1, Parts(n(2))
        r = r + 1
        call MPI_Isend(places(PartBegin(m):), PartLength(n(2), m), MPI_DOUBLE_PRECISION, rank, TAG_BODY, w, p%request(r))
      end do
      do m = 1, Parts(n(3))
        r = r + 1
        call MPI_Isend(fields(PartBegin(m):), PartLength(n(3), m), MPI_REAL, rank, TAG_BODY, w, p%request(r))
      end do
    end associate
    link%bytes = link%bytes + 4*p%h(HEADER)
    if (associated(link%last)) then
      link%last%next => p
    else
      link%first => p
    end if
    link%last => p
  end subroutine Send

  !> Waits while much is on its way, and arrives. Where nothing arrives a receiver stands still, and other ranks must not wait for
  !> it.
  subroutine AwaitRoom(link)
    type(link_t), intent(inout) :: link
    integer(i8) :: before
    real(dp) :: nap, since
    before = link%bytes
    since = host_seconds()
    do while (link%bytes > ROOM)
      nap = 0
      call Rest(nap)
      call FreeSent(link)
      if (link%bytes < before) then
        before = link%bytes
        since = host_seconds()
      else if (host_seconds() - since > STUCK) then
        exit
      end if
    end do
  end subroutine AwaitRoom

  !> Lets messages travel, and forgets those that have arrived.
  subroutine FreeSent(link)
    type(link_t), intent(inout) :: link
    type(outgoing_t), pointer :: p, next, before
    logical :: gone
    before => null()
    p => link%first
    do while (associated(p))
      next => p%next
      call MPI_Testall(size(p%request), p%request, gone, MPI_STATUSES_IGNORE)
      if (gone) then
        if (.not. p%forgotten) link%bytes = link%bytes - 4*p%h(HEADER)
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
  end subroutine FreeSent

  !> Reads the headers that are here, and makes room for the rest of their messages.
  subroutine ReceiveHeaders(link)
    type(link_t), intent(inout) :: link
    type(MPI_Status) :: status
    logical :: there
    call ListenOn(link)
    do while (link%bytes_in < ROOM_IN)
      call MPI_Iprobe(MPI_ANY_SOURCE, TAG_HEADER, link%world, there, status)
      if (.not. there) exit
      call ReceiveHeader(link, status%MPI_SOURCE)
    end do
  end subroutine ReceiveHeaders

  !> Messages that do not come, as their senders stand still or are gone, take no room from those of others. A rank that stood still
  !> itself, or was busy, has not listened meanwhile.
  subroutine ListenOn(link)
    type(link_t), intent(inout) :: link
    type(incoming_t), pointer :: a
    real(dp) :: now
    now = host_seconds()
    link%waited = link%waited + min(1.0_dp, now - link%looked)
    link%looked = now
    if (link%bytes_in < ROOM_IN .or. link%waited < STILL) return
    a => link%first_in
    do while (associated(a))
      a%bytes = 0
      a => a%next
    end do
    link%bytes_in = 0
  end subroutine ListenOn

  subroutine ReceiveHeader(link, rank)
    type(link_t), intent(inout) :: link
    integer, intent(in) :: rank
    type(incoming_t), pointer :: a
    integer(i8) :: h(HEADER)
    integer :: i, r
    call MPI_Recv(h, HEADER, MPI_INTEGER8, rank, TAG_HEADER, link%world, MPI_STATUS_IGNORE)
    allocate (a)
    if (.not. HeaderUsable(h)) then
      h = 0
      h(1) = MSG_GARBLED
    end if
    call MakeRoom(a%message, h(HEADER - 2:))
    if (.not. a%message%lost) a%bytes = 4*h(HEADER)
    associate (m => a%message, n => h(HEADER - 2:), w => link%world)
      m%kind = int(h(1))
      m%from = rank
      m%n = h(2:1 + NUMBERS)
      m%x = transfer(h(2 + NUMBERS:1 + 2*NUMBERS), m%x, NUMBERS)
      allocate (a%request(Parts(n(1)) + Parts(n(2)) + Parts(n(3))))
      if (m%lost) call Drop(link, rank, n, a%request)
      if (m%lost) n = 0
      r = 0
      do i = 1, Parts(n(1))
        r = r + 1
        call MPI_Irecv(m%text(PartBegin(i):), PartLength(n(1), i), MPI_CHARACTER, rank, TAG_BODY, w, a%request(r))
      end do
      do i = 1, Parts(n(2))
        r = r + 1
        call MPI_Irecv(m%places(PartBegin(i):), PartLength(n(2), i), MPI_DOUBLE_PRECISION, rank, TAG_BODY, w, a%request(r))
      end do
      do i = 1, Parts(n(3))
        r = r + 1
        call MPI_Irecv(m%fields(PartBegin(i):), PartLength(n(3), i), MPI_REAL, rank, TAG_BODY, w, a%request(r))
      end do
    end associate
    link%bytes_in = link%bytes_in + a%bytes
    link%waited = 0
    if (associated(link%last_in)) then
      link%last_in%next => a
    else
      link%first_in => a
    end if
    link%last_in => a
  end subroutine ReceiveHeader

  !> Room for text, positions and fields of a new message; without memory for them it is lost.
  subroutine MakeRoom(message, n)
    type(message_t), intent(inout) :: message
    integer(i8), intent(in) :: n(3)
    integer :: status
    allocate (character(n(1)) :: message%text, stat=status)
    if (status == 0) allocate (message%places(n(2)), stat=status)
    if (status == 0) allocate (message%fields(n(3)), stat=status)
    message%lost = status /= 0
    if (.not. message%lost) return
    if (allocated(message%text)) deallocate (message%text)
    if (allocated(message%places)) deallocate (message%places)
    allocate (character(0) :: message%text)
    allocate (message%places(0), message%fields(0))
  end subroutine MakeRoom

  !> Receives all parts of a lost message, before those of later ones, into one number: MPI has no other way to be rid of them, and
  !> one that is shorter than what comes makes Open MPI write behind it.
  subroutine Drop(link, rank, n, request)
    type(link_t), intent(in) :: link
    integer, intent(in) :: rank
    integer(i8), intent(in) :: n(3)
    type(MPI_Request), intent(inout) :: request(:)
    type(MPI_Datatype) :: of(3), folded
    integer :: kind, i, r
    of = [MPI_CHARACTER, MPI_DOUBLE_PRECISION, MPI_REAL]
    r = 0
    do kind = 1, 3
      do i = 1, Parts(n(kind))
        r = r + 1
        call MPI_Type_create_hvector(PartLength(n(kind), i), 1, 0_MPI_ADDRESS_KIND, of(kind), folded)
        call MPI_Type_commit(folded)
        call MPI_Irecv(nowhere, 1, folded, rank, TAG_BODY, link%world, request(r))
        call MPI_Type_free(folded)
      end do
    end do
  end subroutine Drop

  !> True where the kind and the lengths of text, positions and fields in a header are possible.
  pure logical function HeaderUsable(h) result(usable)
    integer(i8), intent(in) :: h(HEADER)
    usable = h(1) > MSG_NONE .and. h(1) <= MSG_LAST .and. all(h(HEADER - 2:) >= 0 .and. h(HEADER - 2:) <= LONGEST)
  end function HeaderUsable

  !> The oldest message that is wholly here. Those of one sender stay in order.
  subroutine ReceiveWhole(link, there, message)
    type(link_t), intent(inout) :: link
    logical, intent(out) :: there
    type(message_t), intent(inout) :: message
    type(incoming_t), pointer :: a, before, older
    logical :: behind
    there = .false.
    before => null()
    a => link%first_in
    do while (associated(a))
      call MPI_Testall(size(a%request), a%request, there, MPI_STATUSES_IGNORE)
      behind = .false.
      older => link%first_in
      do while (there .and. .not. associated(older, a) .and. .not. behind)
        behind = older%message%from == a%message%from
        older => older%next
      end do
      there = there .and. .not. behind
      if (there) exit
      before => a
      a => a%next
    end do
    if (.not. there) return
    if (associated(before)) then
      before%next => a%next
    else
      link%first_in => a%next
    end if
    if (.not. associated(a%next)) link%last_in => before
    if (.not. a%forgotten) link%bytes_in = link%bytes_in - a%bytes
    link%waited = 0
    message%kind = a%message%kind
    message%from = a%message%from
    message%n = a%message%n
    message%x = a%message%x
    call move_alloc(a%message%text, message%text)
    call move_alloc(a%message%places, message%places)
    call move_alloc(a%message%fields, message%fields)
    message%lost = a%message%lost
    deallocate (a)
  end subroutine ReceiveWhole

end module protocol_m
