!> Memory that workers lend to rank 0, where both are on one machine: traces are sealed into it, checked and written from it, and
!> do not travel.
!>
!> A worker asks once, as it begins, whether rank 0 can read its memory; on another machine, or in another space of processes, it
!> cannot. Each memory is announced (MEMORY) before anything lies in it: from then on rank 0 has it too, whatever becomes of the
!> worker. It holds the traces of one gather until they are on disk or refused, and is used again for the next. What finds no room,
!> and small gathers, go as messages.
module lent_memory_m
  use checked_m, only: CountOf
  use iso_c_binding, only: c_associated, c_char, c_f_pointer, c_null_char, c_null_ptr, c_ptr
  use kinds_m, only: i8, sp
  use protocol_m, only: message_t, MSG_MEMORY
  use shared_c, only: shared_close, shared_data, shared_name, shared_new, shared_open
  use text_m, only: CString, FString
  implicit none
  private
  public :: lender_t, LenderAsk, LenderAnswered, LenderTake, LenderSent, LenderReturn, LenderEnd
  public :: borrower_t, BorrowerOpen, BorrowerFind, BorrowerForget
  public :: tray_t, TrayNew, TrayFind, TrayFree, TrayOpen, TrayClose

  integer, parameter :: MOST = 16              !< memories of a worker
  integer(i8), parameter :: LEAST = 65536      !< bytes of traces below which a message is as cheap
  integer(i8), parameter :: ROOM = 500000000   !< bytes in use, beyond which traces go as messages, which wait
  integer(i8), parameter :: KEPT = 32000000    !< bytes not in use; beyond that one memory is kept

  type :: memory_t
    type(c_ptr) :: at = c_null_ptr
    integer(i8) :: bytes = 0                   !< 0: there is no memory
    integer :: record = 0                      !< record of the shot whose traces lie in it, 0 = it is not in use
    logical :: sent = .false.                  !< rank 0 was told that they lie there
  end type memory_t

  !> The memory of a worker.
  type :: lender_t
    logical :: on = .false.                    !< rank 0 can read it
    logical, private :: refused = .false.      !< rank 0 could not, once
    type(memory_t), private :: memory(MOST)
  end type lender_t

  type :: borrowed_t
    integer :: rank = 0, number = 0
    type(c_ptr) :: at = c_null_ptr
    integer(i8) :: bytes = 0
  end type borrowed_t

  !> Memory of workers that rank 0 has open, and gathers that came.
  type :: borrower_t
    integer :: read = 0, sent = 0              !< gathers that were read in such memory, and those that came as messages
    type(borrowed_t), allocatable, private :: memory(:)
  end type borrower_t

  !> Memory for media on their way to one rank.
  type :: tray_t
    integer :: number = 0                      !< tells it from other trays of the shot, and of shots before
    logical :: on = .false.                    !< there is memory for it
    logical :: used = .false.                  !< rank 0 has put media into it
    character(:), allocatable :: name
    integer(i8) :: bytes = 0
    integer(i8) :: samples = 0                 !< samples that it has room for
    type(c_ptr), private :: at = c_null_ptr
  end type tray_t

contains

  ! --- the worker ----------------------------------------------------------------------------------------------------

  !> Makes the message that asks whether rank 0 can read memory of this process; none where it has no memory that can be shared.
  subroutine LenderAsk(lender, message)
    type(lender_t), intent(inout) :: lender
    type(message_t), intent(out) :: message
    call Renew(lender%memory(1), 1, int(shared_data, i8), message)
  end subroutine LenderAsk

  !> Takes the answer, which comes for each memory. After a 'no' all traces go as messages.
  subroutine LenderAnswered(lender, message)
    type(lender_t), intent(inout) :: lender
    type(message_t), intent(in) :: message
    lender%refused = lender%refused .or. message%n(1) == 0
    lender%on = .not. lender%refused
  end subroutine LenderAnswered

  !> Room for the traces of shot `record` in memory number `number`; null and 0 where they are to go as a message. A `message` goes
  !> to rank 0 if it has a kind.
  subroutine LenderTake(lender, record, samples, lent, number, message)
    type(lender_t), target, intent(inout) :: lender
    integer, intent(in) :: record
    integer(i8), intent(in) :: samples
    real(sp), pointer, contiguous, intent(out) :: lent(:)
    integer, intent(out) :: number
    type(message_t), intent(out) :: message
    integer(i8) :: bytes
    nullify (lent)
    number = 0
    if (.not. lender%on .or. 4*samples < LEAST) return
    bytes = shared_data + 4*samples
    associate (m => lender%memory)
      if (sum(m%bytes, mask=m%record > 0) > ROOM) return
      number = findloc(m%record == 0 .and. m%bytes >= bytes, .true., 1)
      if (number == 0) number = findloc(m%record == 0 .and. m%bytes > 0, .true., 1)
      if (number == 0) number = findloc(m%bytes == 0, .true., 1)
      if (number == 0) return
      if (m(number)%bytes < bytes) call Renew(m(number), number, bytes, message)
      if (m(number)%bytes == 0) number = 0
      if (number == 0) return
      call Within(m(number)%at, samples, lent)
      m(number)%record = record
      m(number)%sent = .false.
    end associate
  end subroutine LenderTake

  !> Notes that rank 0 is told of the traces in memory number `number`.
  subroutine LenderSent(lender, number)
    type(lender_t), intent(inout) :: lender
    integer, intent(in) :: number
    if (number > 0) lender%memory(number)%sent = .true.
  end subroutine LenderSent

  !> The traces of shot `record` that rank 0 was told of (`sent`), or was not, are not needed any more. As LenderTake a `message`.
  subroutine LenderReturn(lender, record, sent, message)
    type(lender_t), intent(inout) :: lender
    integer, intent(in) :: record
    logical, intent(in) :: sent
    type(message_t), intent(out) :: message
    integer :: i
    associate (m => lender%memory)
      i = findloc(m%record == record .and. m%record > 0 .and. (m%sent .eqv. sent), .true., 1)
      if (i == 0) return
      m(i)%record = 0
      if (count(m%record == 0 .and. m%bytes > 0) == 1 .or. sum(m%bytes, mask=m%record == 0) <= KEPT) return
      call Close(m(i))
      message%kind = MSG_MEMORY
      message%n(2) = i
      message%text = ''
    end associate
  end subroutine LenderReturn

  subroutine LenderEnd(lender)
    type(lender_t), intent(inout) :: lender
    integer :: i
    do i = 1, MOST
      call Close(lender%memory(i))
    end do
    lender%on = .false.
  end subroutine LenderEnd

  !> Makes memory number i anew, with so many bytes, and announces it. Where there is none it has 0 bytes, and no message.
  subroutine Renew(memory, i, bytes, message)
    type(memory_t), intent(inout) :: memory
    integer, intent(in) :: i
    integer(i8), intent(in) :: bytes
    type(message_t), intent(inout) :: message
    character(kind=c_char, len=shared_name) :: name
    call Close(memory)
    name = c_null_char
    memory%at = shared_new(bytes, shared_name, name)
    if (.not. c_associated(memory%at)) return
    memory%bytes = bytes
    message%kind = MSG_MEMORY
    message%n(2:3) = [int(i, i8), bytes]
    message%text = FString(name)
  end subroutine Renew

  subroutine Close(memory)
    type(memory_t), intent(inout) :: memory
    call shared_close(memory%at, memory%bytes)
    memory = memory_t()
  end subroutine Close

  !> Tray number `number` for so many samples, in place of what was there; none where memory cannot be shared.
  subroutine TrayNew(tray, number, samples)
    type(tray_t), intent(inout) :: tray
    integer, intent(in) :: number
    integer(i8), intent(in) :: samples
    character(kind=c_char, len=shared_name) :: name
    call TrayFree(tray)
    name = c_null_char
    tray%bytes = shared_data + 4*samples
    tray%at = shared_new(tray%bytes, shared_name, name)
    tray%on = c_associated(tray%at)
    if (.not. tray%on) return
    tray%number = number
    tray%samples = samples
    tray%name = FString(name)
  end subroutine TrayNew

  !> Points message%lent at the media of a MODEL that says that they lie in the tray. False of one whose tray is gone: it answers a
  !> request of an earlier shot.
  logical function TrayFind(tray, message) result(there)
    type(tray_t), intent(inout) :: tray
    type(message_t), intent(inout) :: message
    integer(i8) :: samples
    there = all(message%n(3:9) >= 0 .and. message%n(3:9) <= huge(1))
    if (.not. there) return
    samples = CountOf([message%n(7:9) - message%n(3:5) + 1, message%n(6)])
    there = tray%on .and. message%n(10) == tray%number .and. samples >= 1 .and. samples <= tray%samples
    if (.not. there) return
    tray%used = .true.
    call Within(tray%at, samples, message%lent)
  end function TrayFind

  subroutine TrayFree(tray)
    type(tray_t), intent(inout) :: tray
    if (tray%on) call shared_close(tray%at, tray%bytes)
    tray%at = c_null_ptr
    tray%on = .false.
    tray%used = .false.
  end subroutine TrayFree

  ! --- rank 0 --------------------------------------------------------------------------------------------------------

  !> Opens memory that a worker announces, in place of what had its number, or closes it; the worker waits with neither until what
  !> lay there is written or refused.
  subroutine BorrowerOpen(borrower, message, reply)
    type(borrower_t), intent(inout) :: borrower
    type(message_t), intent(in) :: message
    type(message_t), intent(inout) :: reply
    type(borrowed_t) :: new
    integer :: i
    new%rank = message%from
    new%number = int(message%n(2))
    new%bytes = message%n(3)
    i = Known(borrower, new%rank, new%number)
    if (i > 0) call shared_close(borrower%memory(i)%at, borrower%memory(i)%bytes)
    if (new%bytes > 0) new%at = shared_open(CString(message%text), new%bytes)
    if (i > 0) then
      borrower%memory(i) = new
    else
      borrower%memory = [borrower%memory, new]
    end if
    if (new%bytes == 0) return
    reply%kind = MSG_MEMORY
    reply%n(1:2) = [merge(1, 0, c_associated(new%at)), new%number]
  end subroutine BorrowerOpen

  !> Points message%lent at the traces of a GATHER, where it says that they lie in memory that is known here.
  subroutine BorrowerFind(borrower, message)
    type(borrower_t), intent(inout) :: borrower
    type(message_t), intent(inout) :: message
    integer(i8) :: samples
    integer :: i
    if (message%n(7) == 0) borrower%sent = borrower%sent + 1
    if (message%n(7) < 1 .or. message%n(7) > MOST) return
    i = Known(borrower, message%from, int(message%n(7)))
    samples = CountOf(message%n(3:5))
    if (i == 0 .or. samples < 1) return
    associate (m => borrower%memory(i))
      if (.not. c_associated(m%at) .or. samples > (m%bytes - shared_data)/4) return
      call Within(m%at, samples, message%lent)
    end associate
    borrower%read = borrower%read + 1
  end subroutine BorrowerFind

  !> Closes the memory of these ranks, whose processes have ended or send no more gathers; without `ranks` all.
  subroutine BorrowerForget(borrower, ranks)
    type(borrower_t), intent(inout) :: borrower
    integer, intent(in), optional :: ranks(:)
    integer :: i
    if (.not. allocated(borrower%memory)) return
    do i = 1, size(borrower%memory)
      if (present(ranks)) then
        if (all(ranks /= borrower%memory(i)%rank)) cycle
      end if
      call shared_close(borrower%memory(i)%at, borrower%memory(i)%bytes)
      borrower%memory(i)%at = c_null_ptr
    end do
    borrower%memory = pack(borrower%memory, [(c_associated(borrower%memory(i)%at), i=1, size(borrower%memory))])
  end subroutine BorrowerForget

  !> Room for so many samples in the tray that a MODEL names; null where there is none here. `at`: for TrayClose.
  subroutine TrayOpen(message, samples, at, media)
    type(message_t), intent(in) :: message
    integer(i8), intent(in) :: samples
    type(c_ptr), intent(out) :: at
    real(sp), pointer, contiguous, intent(out) :: media(:)
    nullify (media)
    at = c_null_ptr
    if (message%n(10) <= shared_data .or. samples < 1 .or. samples > (message%n(10) - shared_data)/4) return
    at = shared_open(CString(message%text), message%n(10))
    if (c_associated(at)) call Within(at, samples, media)
  end subroutine TrayOpen

  subroutine TrayClose(message, at)
    type(message_t), intent(in) :: message
    type(c_ptr), intent(in) :: at
    call shared_close(at, message%n(10))
  end subroutine TrayClose

  !> Place of a memory in the list, which is made if there is none yet; 0: it is not there.
  integer function Known(borrower, rank, number) result(i)
    type(borrower_t), intent(inout) :: borrower
    integer, intent(in) :: rank, number
    if (.not. allocated(borrower%memory)) allocate (borrower%memory(0))
    i = findloc(borrower%memory%rank == rank .and. borrower%memory%number == number, .true., 1)
  end function Known

  !> The first samples in a memory.
  subroutine Within(at, samples, lent)
    type(c_ptr), intent(in) :: at
    integer(i8), intent(in) :: samples
    real(sp), pointer, contiguous, intent(out) :: lent(:)
    real(sp), pointer, contiguous :: all(:)
    call c_f_pointer(at, all, [shared_data/4 + samples])
    lent => all(shared_data/4 + 1:)
  end subroutine Within

end module lent_memory_m
