!> A worker puts traces into memory that it lends to rank 0: never two gathers into one, never beyond its number and size, and again
!> and again into the same. Rank 0 finds in it what was sealed, and sees every wrong bit; the file has the bytes that it has of a
!> message. Both are played by one process.
program t532_lent_traces
  use check_m, only: GivenSeed, Claim, Done, RandomBelow, Seed
  use error_m, only: error_t
  use gather_m, only: gather_t
  use gather_seal_m, only: GatherSeal
  use kinds_m, only: dp, i8, sp
  use lent_memory_m, only: borrower_t, BorrowerFind, BorrowerForget, BorrowerOpen, LenderAnswered, LenderAsk, LenderEnd, LenderReturn, &
                           LenderSent, LenderTake, lender_t
  use message_check_m, only: MessageProblem
  use protocol_m, only: message_t, MSG_MEMORY, MSG_NONE
  use shot_messages_m, only: GatherFrom, GatherMessage
  use text_m, only: Str
  implicit none
  integer, parameter :: RANK = 3              !< of the worker
  integer, parameter :: MOST = 16             !< memories that it may have
  integer(i8), parameter :: SMALL = 65536/4   !< samples of the least gather that is worth one

  !> A gather under way, and what its memory was filled with.
  type :: flight_t
    integer :: record = 0, number = 0
    logical :: sent = .false.
    real(sp), pointer, contiguous :: lent(:) => null()
  end type flight_t

  integer :: number
  number = GivenSeed()
  call Seed(number)
  call Asked()
  call UsedAgain()
  call Travels()
  call Done()

contains

  !> A worker that has asked, and got a yes.
  subroutine Begin(lender, borrower)
    type(lender_t), intent(out) :: lender
    type(borrower_t), intent(out) :: borrower
    type(message_t) :: message
    call LenderAsk(lender, message)
    call Tell(lender, borrower, message)
  end subroutine Begin

  !> A message about memory goes to rank 0, and its answer back.
  subroutine Tell(lender, borrower, message)
    type(lender_t), intent(inout) :: lender
    type(borrower_t), intent(inout) :: borrower
    type(message_t), intent(inout) :: message
    type(message_t) :: reply
    if (message%kind == MSG_NONE) return
    message%n(1) = 1
    message%from = RANK
    if (MessageProblem(message, 1, 9) /= '') call Claim(.false., 'a message about memory: '//MessageProblem(message, 1, 9))
    call BorrowerOpen(borrower, message, reply)
    if (reply%kind == MSG_MEMORY) call LenderAnswered(lender, reply)
  end subroutine Tell

  subroutine Asked()
    type(lender_t) :: lender
    type(borrower_t) :: borrower
    type(message_t) :: message, no
    real(sp), pointer, contiguous :: lent(:)
    integer :: memory
    logical :: before, small_too, after
    call LenderAsk(lender, message)
    call LenderTake(lender, 1, 10*SMALL, lent, memory, no)
    before = associated(lent) .or. memory /= 0
    message%text = message%text(:len_trim(message%text) - 1)//merge('1', '0', message%text(len_trim(message%text):) == '0')
    call Tell(lender, borrower, message)      ! the name is another memory's
    call LenderTake(lender, 1, 10*SMALL, lent, memory, no)
    before = before .or. associated(lent)
    call Claim(.not. before, 'before rank 0 said yes, and after it said no, nothing is lent')
    call LenderEnd(lender)
    call Begin(lender, borrower)
    call LenderTake(lender, 1, SMALL - 1, lent, memory, no)
    small_too = associated(lent)
    call LenderTake(lender, 1, SMALL, lent, memory, message)
    call Claim(associated(lent) .and. .not. small_too, 'then it is, of gathers from 64 kB on')
    call Tell(lender, borrower, message)
    no%kind = MSG_MEMORY
    no%n(1:2) = [0, memory]
    call LenderAnswered(lender, no)
    call LenderTake(lender, 2, SMALL, lent, memory, message)
    after = associated(lent)
    call Claim(.not. after, 'after a later no nothing is lent any more')
    call LenderEnd(lender)
    call BorrowerForget(borrower)
  end subroutine Asked

  !> Gathers of all sizes come and go, many at a time.
  subroutine UsedAgain()
    integer, parameter :: TURNS = 4000, LARGE = 100
    type(lender_t) :: lender
    type(borrower_t) :: borrower
    type(message_t) :: message
    type(flight_t) :: flight(2*MOST)
    integer :: turn, i, memory, record, lost, shared, announced, lent_at_all, most_lent, high
    integer(i8) :: n
    real(sp), pointer, contiguous :: lent(:)
    call Begin(lender, borrower)
    lost = 0
    shared = 0
    announced = 0
    lent_at_all = 0
    most_lent = 0
    record = 0
    do turn = 1, TURNS
      high = merge(3, size(flight), turn > TURNS/2)       ! first many are under way, then few
      i = 1 + RandomBelow(size(flight))
      if (flight(i)%record > 0) then
        if (associated(flight(i)%lent)) lost = lost + count(flight(i)%lent /= real(flight(i)%record, sp))
        call LenderReturn(lender, flight(i)%record, .not. flight(i)%sent, message)
        if (message%kind /= MSG_NONE) shared = shared + 1 ! it was the other's
        call LenderReturn(lender, flight(i)%record, flight(i)%sent, message)
        call Tell(lender, borrower, message)
        flight(i) = flight_t()
      else if (count(flight%record > 0) < high) then
        record = record + 1
        n = SMALL + RandomBelow(merge(LARGE, 1, RandomBelow(20) == 0)*int(SMALL))
        call LenderTake(lender, record, n, lent, memory, message)
        if (message%kind /= MSG_NONE) announced = announced + 1
        call Tell(lender, borrower, message)
        flight(i) = flight_t(record, memory, RandomBelow(2) == 0, lent)
        if (.not. associated(lent)) cycle
        lent_at_all = lent_at_all + 1
        lent = real(record, sp)
        if (count(flight%number == memory) > 1) shared = shared + 1
        if (flight(i)%sent) call LenderSent(lender, memory)
      end if
      most_lent = max(most_lent, count(flight%number > 0))
    end do
    call Claim(lost == 0 .and. shared == 0, 'seed '//Str(number)//': of '//Str(record)//' gathers '//Str(lent_at_all)// &
               ' lay in lent memory, '//Str(lost)//' samples of them were overwritten, '//Str(shared)//' times two had the same')
    call Claim(most_lent == MOST .and. announced < lent_at_all/2, Str(most_lent)//' at a time, must be '//Str(MOST)// &
               '; memory was made '//Str(announced)//' times for '//Str(lent_at_all)//' gathers')
    do i = 1, size(flight)
      if (flight(i)%record > 0) call LenderReturn(lender, flight(i)%record, flight(i)%sent, message)
      if (flight(i)%record > 0) call Tell(lender, borrower, message)
    end do
    n = Mapped()
    call Claim(n <= 2*32000000_i8 + 2*MOST*4096, 'of what is not in use '//Str(n/2)//' bytes are kept, must be 32 MB at most')
    call LenderEnd(lender)
    call BorrowerForget(borrower)
    call Claim(Mapped() == 0, 'at the end '//Str(Mapped())//' bytes are mapped')
  end subroutine UsedAgain

  !> Bytes of shared memory that this process has mapped, on both sides.
  integer(i8) function Mapped() result(bytes)
    character(400) :: line
    integer(i8) :: from, to
    integer :: unit, status, dash
    bytes = 0
    open (newunit=unit, file='/proc/self/maps', action='read')
    do
      read (unit, '(a)', iostat=status) line
      if (status /= 0) exit
      if (index(line, '/memfd:shared') == 0) cycle
      dash = index(line, '-')
      read (line(:dash - 1), '(z16)') from
      read (line(dash + 1:index(line, ' ') - 1), '(z16)') to
      bytes = bytes + to - from
    end do
    close (unit)
  end function Mapped

  !> A gather on its way: nothing of its traces is in the message, all of them are found, and a wrong bit is.
  subroutine Travels()
    integer, parameter :: TRIED = 60
    type(lender_t) :: lender
    type(borrower_t) :: borrower
    type(message_t) :: message
    type(gather_t) :: gather, came
    type(error_t), allocatable :: error
    real(sp), allocatable :: traces(:, :, :), alone(:)
    real(sp), pointer, contiguous :: lent(:)
    integer :: i, memory, whole, refused, unknown, at, nt, ncomp
    character(:), allocatable :: why
    call Begin(lender, borrower)
    whole = 0
    refused = 0
    unknown = 0
    do i = 1, TRIED
      nt = 100 + RandomBelow(100)
      ncomp = 1 + RandomBelow(3)
      allocate (traces(nt, 200, ncomp))
      call random_number(traces)
      gather = Of(traces)
      call GatherSeal(gather, ['p ', 'vx', 'vz'], error)
      alone = gather%sealed%bytes
      gather = Of(traces)
      call LenderTake(lender, i, size(traces, kind=i8), lent, memory, message)
      call Tell(lender, borrower, message)
      call GatherSeal(gather, ['p ', 'vx', 'vz'], error, lent, memory)
      call LenderSent(lender, memory)
      message = message_t()
      call GatherMessage(gather, message)
      message%n(12) = 1
      message%from = RANK
      if (allocated(message%fields)) call Claim(.false., 'traces travel with the message')
      nullify (message%lent)                  ! as it arrives
      message%n(7) = memory + MOST
      call BorrowerFind(borrower, message)
      why = MessageProblem(message, 1, 9)
      message%n(7) = memory
      message%n(3) = message%n(3)*1000        ! more than there is
      call BorrowerFind(borrower, message)
      message%n(3) = message%n(3)/1000
      if (index(why, 'memory that is not known') > 0 .and. .not. associated(message%lent)) unknown = unknown + 1
      call BorrowerFind(borrower, message)
      why = MessageProblem(message, 1, 9)
      if (why /= '') call Claim(.false., 'a gather in lent memory: '//why)
      at = 1 + RandomBelow(size(traces))
      if (modulo(i, 2) == 0) lent(at) = transfer(ieor(transfer(lent(at), 1), shiftl(1, RandomBelow(32))), 1.0_sp)
      call GatherFrom(message, came, error)
      if (allocated(error)) then
        if (modulo(i, 2) == 0 .and. index(error%message, 'wrong bits') > 0 .and. .not. associated(came%sealed%lent)) refused = refused + 1
        deallocate (error)
      else if (associated(came%sealed%lent)) then
        if (size(came%sealed%lent) == size(alone)) then
          if (all(transfer(came%sealed%lent, [0]) == transfer(alone, [0])) .and. came%sealed%memory == memory) whole = whole + 1
        end if
      end if
      call LenderReturn(lender, i, .true., message)
      call Tell(lender, borrower, message)
      deallocate (traces)
    end do
    call Claim(whole == TRIED/2 .and. refused == TRIED/2, 'seed '//Str(number)//': '//Str(whole)//' of '//Str(TRIED/2)// &
               ' gathers are the bytes of a message, '//Str(refused)//' of as many with a wrong bit are refused')
    call Claim(unknown == TRIED, Str(unknown)//' of '//Str(TRIED)//' that name other memory, or more than there is, are found out')
    call LenderEnd(lender)
    call BorrowerForget(borrower)
  end subroutine Travels

  function Of(traces) result(gather)
    real(sp), intent(in) :: traces(:, :, :)
    type(gather_t) :: gather
    gather%record = 5
    gather%slot = 1
    gather%nt = size(traces, 1)
    gather%nrec = size(traces, 2)
    gather%ncomp = size(traces, 3)
    allocate (gather%rx(gather%nrec), gather%rz(gather%nrec), source=1.0_dp)
    gather%variant = 'cpu'
    gather%device = 'a processor'
    gather%traces = traces
  end function Of

end program t532_lent_traces
