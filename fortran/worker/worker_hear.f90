!> What a worker hears of the master, alone or as a group of ranks, and whether it has a reason to go on.
module worker_hear_m
  use error_m, only: error_t, Fail
  use host_c, only: host_seconds, host_signal
  use kinds_m, only: dp
  use lettercheck_m, only: LetterFault
  use peers_m, only: PeersDead
  use protocol_m, only: barrier_t, BarrierBegin, BarrierOver, BroadcastFields, BroadcastInteger, BroadcastReals, link_t, &
                        LinkBusy, message_t, MSG_DROP, MSG_END, MSG_LEAVE, MSG_MODEL, MSG_NONE, MSG_REFUSED, MSG_SHOT, MSG_STOP, &
                        MSG_WRITTEN, Poll, Rest
  use roles_m, only: role_t
  use slot_m, only: ASKED, CLOSED, IDLE, LOOPING, MODELLED, READY, SEEING, slot_t, SNAPPED
  use text_m, only: Str
  use vigil_m, only: VigilDeserted, VigilEnd, VigilHeard, VigilPeers
  use worker_desk_m, only: worker_t, WorkerBeat, WorkerMaySee, WorkerNote, WorkerSay, WorkerSlot
  use worker_lose_m, only: ShotReport
  use worker_shot_m, only: DropTake, ModelTake, ShotTake, VerdictTake
  use worker_state_m, only: StateKeepLast
  implicit none
  private
  public :: WorkerHear, WorkerOpen

  real(dp), parameter :: GRACE = 1.0e-2_dp    !< seconds a turn waits for letters on their way while a GPU computes
  real(dp), parameter :: LATE = 0.25_dp       !< seconds after which a rank of the group is missed

contains

  !> All that the master has said; waits, asleep, for something when no slot can go on by itself, unless `wait` is false.
  subroutine WorkerHear(worker, link, wait)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    logical, intent(in), optional :: wait
    logical :: patient
    type(message_t) :: letter
    real(dp) :: start, spent
    logical :: was_computing, shot_awaited
    shot_awaited = worker%unwritten == 0 .and. .not. any(worker%slot%state == SEEING .or. worker%slot%state == SNAPPED)
    was_computing = Computing(worker)
    start = host_seconds()
    patient = .true.
    if (present(wait)) patient = wait
    do while (NextLetter(worker, link, patient, letter))
      call Understand(worker, link, letter)
    end do
    spent = host_seconds() - start
    if (was_computing) then
      worker%compute = worker%compute + spent
    else if (shot_awaited) then
      worker%wait = worker%wait + spent
    else
      worker%io = worker%io + spent
    end if
  end subroutine WorkerHear

  !> A letter, known to all ranks of the group; false if there is none and a slot can go on by itself.
  logical function NextLetter(worker, link, patient, letter) result(there)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    logical, intent(in) :: patient
    type(message_t), intent(out) :: letter
    real(dp) :: nap, start
    integer :: kind
    if (worker%role%group_rank == 0) then
      nap = 0
      start = host_seconds()
      do while (.not. Fetched(worker, link, letter))
        call LookAround(worker, link, letter)
        if (letter%kind /= MSG_NONE .or. .not. patient) exit
        if (Busy(worker)) then
          if (host_seconds() - start > GRACE .or. .not. Computing(worker)) exit
          if (.not. LinkBusy(link)) exit
        end if
        if (LinkBusy(link)) nap = 0
        call Rest(nap)
      end do
      if (.not. worker%deserted .and. letter%kind /= MSG_NONE) call VigilHeard(worker%vigil)
    end if
    kind = letter%kind
    if (worker%role%group_size > 1) then
      if (.not. worker%deserted) call Muster(worker, link, letter, kind)
    end if
    if (worker%role%group_size > 1 .and. .not. worker%deserted) then
      call BroadcastInteger(worker%role%group, kind)
      if (kind /= MSG_NONE) call ShareMessage(worker%role, letter)
      letter%kind = kind
    end if
    there = kind /= MSG_NONE
  end function NextLetter

  !> The next letter, if there is one: those that were kept came first.
  logical function Fetched(worker, link, letter) result(there)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(message_t), intent(out) :: letter
    there = .false.
    if (allocated(worker%kept)) there = size(worker%kept) > 0
    if (there) then
      letter = worker%kept(1)
      worker%kept = worker%kept(2:)
    else
      there = Poll(link, letter)
    end if
  end function Fetched

  !> No letter is there: the worker says that it is here, and looks whether it is to go: a letter to itself.
  subroutine LookAround(worker, link, letter)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(message_t), intent(inout) :: letter
    logical :: deserted
    if (associated(link%listener) .or. worker%ended) return
    call WorkerBeat(worker, link, deserted)
    if (deserted) then
      worker%deserted = .true.
      call VigilDeserted(worker%vigil, link, letter)
    else if (host_signal() /= 0 .and. .not. (worker%called .or. worker%parting)) then
      letter%kind = MSG_LEAVE
      letter%n(1:2) = [2, int(host_signal())]
    end if
  end subroutine LookAround

  !> Some slot can go on without a word from the master.
  pure logical function Busy(worker)
    type(worker_t), intent(in) :: worker
    Busy = worker%ended
    if (worker%parting) return
    associate (s => worker%slot%state)
      Busy = WorkerMaySee(worker) .or. any(s == READY .or. s == LOOPING .or. s == MODELLED) .or. .not. WorkerOpen(worker) .or. &
                   (any(s(:worker%wanted) == IDLE) .and. .not. worker%stopped)
    end associate
  end function Busy

  !> Some slot has steps in its queue, or traces to make.
  pure logical function Computing(worker)
    type(worker_t), intent(in) :: worker
    Computing = any(worker%slot%state == LOOPING .or. worker%slot%state == MODELLED)
  end function Computing

  !> Something is in flight, or may come.
  pure logical function WorkerOpen(worker)
    type(worker_t), intent(in) :: worker
    logical :: none_wanted
    none_wanted = worker%stopped .or. (worker%wanted == 0 .and. .not. worker%leaving)
    WorkerOpen = .not. (none_wanted .and. worker%unwritten == 0 .and. &
                        all(worker%slot%state == IDLE .or. worker%slot%state == CLOSED))
    WorkerOpen = WorkerOpen .and. .not. worker%ended
  end function WorkerOpen

  !> One letter is heard: what it is about goes on.
  subroutine Understand(worker, link, letter)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(message_t), intent(inout) :: letter
    integer :: i
    if (.not. Sound(worker, link, letter)) return
    i = findloc(worker%slot%state, ASKED, 1)
    select case (letter%kind)
    case (MSG_SHOT)
      call ShotTake(worker, link, worker%slot(i), letter)
    case (MSG_STOP)
      worker%stopped = .true.
      worker%slot(i)%state = CLOSED
    case (MSG_MODEL)
      i = WorkerSlot(worker, int(letter%n(1)), SEEING)
      if (i > 0) call ModelTake(worker, link, worker%slot(i), letter)
    case (MSG_WRITTEN, MSG_REFUSED)
      call VerdictTake(worker, link, letter)
    case (MSG_DROP)
      if (letter%n(3) == 1) call StateKeepLast(worker, link, int(letter%n(1)))
      call DropTake(worker, link, int(letter%n(1)), merge('the job ends         ', 'another worker has it', letter%n(3) == 1))
    case (MSG_END)
      worker%ended = .true.
      call VigilEnd(link, letter, worker%deserted .or. worker%role%group_rank > 0, worker%ending)
    case (MSG_LEAVE)
      if (letter%n(1) == 2) call LeaveNow(worker, link, int(letter%n(2)))
      if (letter%n(1) == 2) return
      worker%leaving = .false.
      if (letter%n(1) == 1) return
      worker%wanted = 1
      call WorkerNote(worker, link, 'no other worker is left: worker '//Str(worker%role%worker_id)// &
                      ' stays and computes on CPU cores')
    end select
  end subroutine Understand

  !> Whether a letter can be what it says it is, and was asked for. If not, the shot it is about is reported lost.
  logical function Sound(worker, link, letter)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(message_t), intent(in) :: letter
    type(error_t), allocatable :: error
    type(slot_t) :: gone
    character(:), allocatable :: why
    integer :: i
    why = LetterFault(letter)
    if (any(letter%kind == [MSG_SHOT, MSG_STOP]) .and. .not. any(worker%slot%state == ASKED)) why = 'nobody asked for it'
    Sound = why == ''
    if (Sound) return
    why = 'message '//Str(letter%kind)//' of the master is not used: '//why//'; all nodes must run the same build'
    i = 0
    if (letter%kind == MSG_SHOT) i = findloc(worker%slot%state, ASKED, 1)
    if (letter%kind == MSG_MODEL .and. abs(letter%n(1)) <= huge(1)) i = WorkerSlot(worker, int(letter%n(1)), SEEING)
    call Fail(error, why)
    if (letter%kind == MSG_SHOT .and. all(letter%n(1:2) >= 1 .and. letter%n(1:2) <= huge(1))) then
      gone%shot%record = int(letter%n(1))
      gone%shot%slot = int(letter%n(2))
      call ShotReport(worker, link, gone, error)
      if (i > 0) worker%slot(i)%state = IDLE
    else if (i > 0 .and. letter%kind == MSG_MODEL) then
      call ShotReport(worker, link, worker%slot(i), error)
    else
      call WorkerNote(worker, link, 'worker '//Str(worker%role%worker_id)//': '//why)
    end if
  end function Sound

  !> This rank got a signal to end: it finishes what it has, asks for nothing more, and goes, whoever stays.
  subroutine LeaveNow(worker, link, signal)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    integer, intent(in) :: signal
    type(message_t) :: message
    worker%called = .true.
    worker%wanted = 0
    worker%leaving = .true.
    message%kind = MSG_LEAVE
    message%n(1:2) = [worker%role%worker_id, signal]
    call WorkerSay(worker, link, message)
  end subroutine LeaveNow

  !> Waits for the ranks of the group. One that is lost or dead retires the group: nobody can go on without it.
  subroutine Muster(worker, link, letter, kind)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(message_t), intent(inout) :: letter
    integer, intent(inout) :: kind
    type(barrier_t) :: all_here
    type(message_t) :: other
    character(:), allocatable :: why
    real(dp) :: start, nap
    if (worker%role%group_rank > 0) call VigilPeers(worker%vigil, link)
    call BarrierBegin(worker%role%group, all_here)
    start = host_seconds()
    nap = 0
    why = ''
    do while (.not. BarrierOver(all_here))
      call Rest(nap)
      if (host_seconds() - start < LATE) cycle
      call Missing(worker, link, start, why)
      if (why /= '') then
        call VigilDeserted(worker%vigil, link, letter, why)
      else if (Poll(link, other)) then
        call Keep(worker, other, letter)
      end if
      worker%deserted = letter%kind == MSG_END .and. letter%n(2) == 1
      kind = letter%kind
      if (worker%deserted) exit
    end do
  end subroutine Muster

  !> Why the group waits in vain, '' as long as it may not: one of its ranks is dead, or rank 0, or they are not heard of.
  subroutine Missing(worker, link, start, why)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    real(dp), intent(in) :: start             !< waiting since [s]
    character(:), allocatable, intent(out) :: why
    integer :: first, rank
    call VigilPeers(worker%vigil, link)
    associate (v => worker%vigil, role => worker%role)
      v%dead = PeersDead(v%peers, 0, 0) == 0
      first = role%rank - role%group_rank
      rank = PeersDead(v%peers, first, first + role%group_size - 1)
      why = ''
      if (v%dead) then
        why = 'rank 0 is dead'
      else if (rank >= 0) then
        why = 'rank '//Str(rank)//', which worker '//Str(role%worker_id)//' needs, is dead'
      else if (host_seconds() - start > v%master%seconds) then
        why = 'another rank of worker '//Str(role%worker_id)//' was not heard of for '//Str(v%master%seconds)//' s'
      end if
    end associate
  end subroutine Missing

  !> A letter that came while the group waits: END where ranks are lost is for each rank alone, any other has to wait.
  subroutine Keep(worker, other, letter)
    type(worker_t), intent(inout) :: worker
    type(message_t), intent(in) :: other
    type(message_t), intent(inout) :: letter
    if (other%kind == MSG_END .and. other%n(2) == 1) then
      letter = other
    else
      if (.not. allocated(worker%kept)) allocate (worker%kept(0))
      worker%kept = [worker%kept, other]
    end if
  end subroutine Keep

  !> The group's rank 0 shares what the master said with the others.
  subroutine ShareMessage(role, message)
    type(role_t), intent(in) :: role
    type(message_t), intent(inout) :: message
    integer :: n(2)
    integer :: i
    real(dp) :: numbers(2*size(message%n))
    n = 0
    if (allocated(message%places)) n(1) = size(message%places)
    if (allocated(message%fields)) n(2) = size(message%fields)
    do i = 1, 2
      call BroadcastInteger(role%group, n(i))
    end do
    numbers = [transfer(message%n, message%x), message%x]     ! bit for bit: a checksum has more of them than a real
    call BroadcastReals(role%group, numbers)
    message%n = transfer(numbers(:size(message%n)), message%n)
    message%x = numbers(size(message%n) + 1:)
    if (.not. allocated(message%text)) message%text = ''
    if (.not. allocated(message%places)) allocate (message%places(n(1)))
    if (.not. allocated(message%fields)) allocate (message%fields(n(2)))
    call BroadcastReals(role%group, message%places)
    call BroadcastFields(role%group, message%fields)
  end subroutine ShareMessage

end module worker_hear_m
