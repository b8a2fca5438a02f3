!> The story of a shot, told by the group of ranks that models it.
!>
!>     ask for a line of the key-map, ask for the piece of earth it sees, set up, time loop, receivers -> traces, send them home
!>
!> A worker has a slot a shot in flight (slot.f90), and its slots take turns: on CPU cores one, on a GPU so many that the GPU is
!> full and never waits for the host. No turn waits for the master: what a slot asks is answered while others compute. The time
!> loop of a slot keeps up to two chunks of steps queued on the GPU, so set-up and traces of other slots cost it nothing.
module worker_m
  use checkpoint_m, only: checkpoint_t, keeper_t, KeeperBegin, KeeperDrop, KeeperEnd, KeeperNew, KeeperNow, &
                          KeeperTurn
  use error_m, only: error_t, Fail
  use fill_m, only: ShotsAtOnce
  use host_c, only: host_seconds, host_signal
  use kinds_m, only: dp, i8
  use lettercheck_m, only: LetterFault
  use letters_m, only: GatherLetter, ModelLetter, ShotFrom, SnapsLetter, VerdictFrom, WindowFrom
  use protocol_m, only: Barrier, BroadcastFields, BroadcastInteger, BroadcastReals, link_t, LinkBusy, LinkFlush, message_t, &
                        MSG_BYE, MSG_DROP, MSG_END, MSG_GATHER, MSG_LEAVE, MSG_LOST, MSG_MODEL, MSG_NONE, MSG_NOTE, &
                        MSG_PROGRESS, MSG_READY, MSG_REFUSED, MSG_SHOT, MSG_STOP, MSG_WRITTEN, Poll, Rest, Tell
  use roles_m, only: role_t
  use scheme_m, only: scheme_t, SchemeGrid
  use slot_m, only: ASKED, CLOSED, GIVEN, IDLE, LOOPING, MODELLED, READY, SEEING, slot_t, SNAPPED
  use solver_m, only: solver_t
  use table_m, only: SplitList
  use text_m, only: Str
  use vigil_m, only: ending_t, VigilDeserted, VigilEnd, VigilHeard, VigilLook, VigilNew, vigil_t
  implicit none
  private
  public :: WorkerRun, rules_t

  real(dp), parameter :: BEAT = 1.0_dp        !< seconds between reports how far a shot is
  real(dp), parameter :: FIRST_BEAT = 0.2_dp  !< seconds after which the first shot tells it: the master knows the rate then
  real(dp), parameter :: GRACE = 1.0e-2_dp    !< seconds a turn waits for letters on their way while a GPU computes
  integer, parameter :: SLOTS = 64

  !> What a job says of its workers.
  type :: rules_t
    integer :: shots_per_gpu = 0              !< 0 = as many as fill it
    integer :: shots = 0                      !< at once, wherever they are computed; 0 = one on CPU cores, shots_per_gpu on a GPU
    real(dp) :: lease = 120                   !< a silent rank is taken for lost after that [s]
    logical :: retire = .false.               !< a worker whose GPU failed leaves; else it goes on with CPU cores
    type(checkpoint_t) :: checkpoint          !< how often the state of a shot is kept, and where
  end type rules_t

  type :: worker_t
    type(role_t) :: role
    type(rules_t) :: rules
    type(scheme_t) :: scheme
    type(slot_t), allocatable :: slot(:)
    integer :: wanted = 1                     !< slots that ask for shots
    integer :: most = SLOTS                   !< of them, should memory be short
    logical :: gpu = .false.                  !< there is one, and it works
    real(dp) :: room = 0                      !< memory of it for this rank [bytes]
    integer :: unwritten = 0                  !< gathers sent whose fate is unknown
    integer :: serial = 0                     !< windows heard of
    real(dp) :: trial = 0                     !< cell updates a second that it expects to make, 0 = nobody knows
    logical :: told = .false.                 !< has said how far a shot is
    logical :: stopped = .false.              !< the master has no more shots
    logical :: leaving = .false.              !< asked to leave, not answered yet
    logical :: called = .false.               !< got a signal to end, and acts on it
    logical :: parting = .false.              !< has said BYE
    logical :: deserted = .false.             !< nothing is heard of the master
    logical :: ended = .false.                !< the job is over
    type(vigil_t) :: vigil
    type(ending_t) :: ending
    logical :: too_large = .false.            !< a window did not fit, and that was said
    real(dp) :: compute = 0, wait = 0, io = 0 !< seconds so far
    type(keeper_t) :: keeper                  !< of states
  end type worker_t

contains

  !> Models shots until the master says stop, and waits until it says END. Each slot gets a solver like `mold`; `scheme` names the
  !> variant asked for.
  subroutine WorkerRun(role, link, mold, scheme, rules, ending)
    type(role_t), intent(in) :: role
    type(link_t), intent(inout) :: link
    class(solver_t), intent(in) :: mold
    type(scheme_t), intent(in) :: scheme
    type(rules_t), intent(in) :: rules
    type(ending_t), intent(out) :: ending
    type(worker_t), allocatable :: worker
    character(:), allocatable :: said
    integer :: i
    allocate (worker)
    worker%role = role
    worker%rules = rules
    worker%scheme = scheme
    worker%gpu = role%gpu >= 0
    worker%room = role%gpu_room
    if (role%group_size == 1) call KeeperNew(worker%keeper, rules%checkpoint)
    if (rules%shots > 0) worker%wanted = min(rules%shots, SLOTS)
    allocate (worker%slot(merge(SLOTS, worker%wanted, worker%gpu)))
    do i = 1, size(worker%slot)
      allocate (worker%slot(i)%solver, mold=mold)
    end do
    call VigilNew(worker%vigil, rules%lease)
    if (role%gpu_fault /= '') call LoseGpu(worker, link, role%gpu_fault)
    if (role%drivers > 0 .and. .not. worker%gpu) worker%trial = worker%slot(1)%solver%trial(scheme)
    do while (Open(worker))
      call Hear(worker, link)
      do i = 1, size(worker%slot)
        call Turn(worker, link, worker%slot(i), i)
      end do
    end do
    do i = 1, size(worker%slot)
      call worker%slot(i)%solver%free()
    end do
    call KeeperEnd(worker%keeper, said)
    if (said /= '' .and. .not. worker%ended) call Note(worker, link, 'worker '//Str(role%worker_id)//': '//said, .true.)
    if (.not. worker%ended) call Bye(worker, link)
    worker%parting = .true.
    do while (.not. (worker%ended .or. associated(link%listener)))
      call Hear(worker, link)
    end do
    ending = worker%ending
  end subroutine WorkerRun

  !> A slot's next step, if it can go on by itself.
  subroutine Turn(worker, link, slot, number)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(slot_t), intent(inout) :: slot
    integer, intent(in) :: number
    type(error_t), allocatable :: error
    real(dp) :: start
    logical :: done
    start = host_seconds()
    select case (slot%state)
    case (IDLE)
      call ShotAsk(worker, link, slot, number)                                   ! a line of the key-map, from the master
    case (GIVEN)
      call ModelAsk(worker, link, slot)                                          ! the piece of earth it sees
    case (READY)
      call slot%solver%setup(SchemeOf(worker, slot), slot%window, slot%shot, error)
      slot%last_beat = start - merge(0.0_dp, BEAT - FIRST_BEAT, worker%told)
      if (.not. allocated(error)) call Resume(worker, link, slot, error)
      slot%state = LOOPING
    case (LOOPING)
      call slot%solver%advance(done, error)                                      ! some time steps
      if (.not. allocated(error)) call Heartbeat(worker, link, slot)
      if (.not. (done .or. allocated(error))) call Keep(worker, link, slot, error)
      if (done) slot%state = MODELLED
      if (allocated(error)) call Distrust(worker, slot, error)
    case (MODELLED)
      call slot%solver%gather(slot%gather, error)                                ! receivers -> traces
      if (.not. allocated(error)) call GatherSend(worker, link, slot)            ! to the I/O server
    case default
      return
    end select
    worker%compute = worker%compute + host_seconds() - start
    if (allocated(error)) call ShotLost(worker, link, slot, error)               ! and why
  end subroutine Turn

  !> Something is in flight, or may come.
  pure logical function Open(worker)
    type(worker_t), intent(in) :: worker
    logical :: none_wanted
    none_wanted = worker%stopped .or. (worker%wanted == 0 .and. .not. worker%leaving)
    Open = .not. (none_wanted .and. worker%unwritten == 0 .and. all(worker%slot%state == IDLE .or. worker%slot%state == CLOSED))
    Open = Open .and. .not. worker%ended
  end function Open

  ! --- hearing -------------------------------------------------------------------------------------------------------

  !> All that the master has said; waits, asleep, for something when no slot can go on by itself.
  subroutine Hear(worker, link)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(message_t) :: letter
    real(dp) :: start, spent
    logical :: computing, shot_awaited
    shot_awaited = worker%unwritten == 0 .and. .not. any(worker%slot%state == SEEING .or. worker%slot%state == SNAPPED)
    computing = any(worker%slot%state == LOOPING .or. worker%slot%state == MODELLED)
    start = host_seconds()
    do while (NextLetter(worker, link, letter))
      call Understand(worker, link, letter)
    end do
    spent = host_seconds() - start
    if (computing) then
      worker%compute = worker%compute + spent
    else if (shot_awaited) then
      worker%wait = worker%wait + spent
    else
      worker%io = worker%io + spent
    end if
  end subroutine Hear

  !> A letter, known to all ranks of the group; false if there is none and a slot can go on by itself.
  logical function NextLetter(worker, link, letter) result(there)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(message_t), intent(out) :: letter
    real(dp) :: nap, start
    integer :: kind
    if (worker%role%group_rank == 0) then
      nap = 0
      start = host_seconds()
      do while (.not. Poll(link, letter))
        call LookAround(worker, link, letter)
        if (letter%kind /= MSG_NONE) exit
        if (Busy(worker)) then
          if (host_seconds() - start > GRACE) exit
          if (.not. LinkBusy(link)) exit
        end if
        if (LinkBusy(link)) nap = 0
        call Rest(nap)
      end do
      if (.not. worker%deserted .and. letter%kind /= MSG_NONE) call VigilHeard(worker%vigil)
    end if
    kind = letter%kind
    if (worker%role%group_size > 1) then
      if (.not. worker%deserted) call Muster(worker, letter, kind)
    end if
    if (worker%role%group_size > 1 .and. .not. worker%deserted) then
      call BroadcastInteger(worker%role%group, kind)
      if (kind /= MSG_NONE) call ShareMessage(worker%role, letter)
      letter%kind = kind
    end if
    there = kind /= MSG_NONE
  end function NextLetter

  !> No letter is there: the worker says that it is here, and looks whether it is to go: a letter to itself.
  subroutine LookAround(worker, link, letter)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(message_t), intent(inout) :: letter
    type(message_t) :: message
    logical :: due, deserted
    if (associated(link%listener) .or. worker%ended) return
    call VigilLook(worker%vigil, due, deserted)
    if (deserted) then
      worker%deserted = .true.
      call VigilDeserted(worker%vigil, letter)
    else if (host_signal() /= 0 .and. .not. (worker%called .or. worker%parting)) then
      letter%kind = MSG_LEAVE
      letter%n(1:2) = [2, int(host_signal())]
    else if (due) then
      message%kind = MSG_PROGRESS
      message%n(1) = worker%role%worker_id
      call Say(worker, link, message)
    end if
  end subroutine LookAround

  !> Some slot can go on without a word from the master.
  pure logical function Busy(worker)
    type(worker_t), intent(in) :: worker
    Busy = worker%ended
    if (worker%parting) return
    associate (s => worker%slot%state)
      Busy = any(s == GIVEN .or. s == READY .or. s == LOOPING .or. s == MODELLED) .or. .not. Open(worker) .or. &
             (any(s(:worker%wanted) == IDLE) .and. .not. worker%stopped)
    end associate
  end function Busy

  subroutine Understand(worker, link, letter)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(message_t), intent(inout) :: letter
    integer :: i
    if (.not. Sound(worker, link, letter)) return
    i = findloc(worker%slot%state, ASKED, 1)
    select case (letter%kind)
    case (MSG_SHOT)
      call TakeShot(worker, link, worker%slot(i), letter)
    case (MSG_STOP)
      worker%stopped = .true.
      worker%slot(i)%state = CLOSED
    case (MSG_MODEL)
      i = SlotOf(worker, int(letter%n(1)), SEEING)
      if (i > 0) call TakeModel(worker, link, worker%slot(i), letter)
    case (MSG_WRITTEN, MSG_REFUSED)
      call TakeVerdict(worker, link, letter)
    case (MSG_DROP)
      if (letter%n(3) == 1) call KeepLast(worker, link, int(letter%n(1)))
      call TakeDrop(worker, link, int(letter%n(1)), merge('the job ends         ', 'another worker has it', letter%n(3) == 1))
    case (MSG_END)
      worker%ended = .true.
      call VigilEnd(link, letter, worker%deserted .or. worker%role%group_rank > 0, worker%ending)
    case (MSG_LEAVE)
      if (letter%n(1) == 2) call LeaveNow(worker, link, int(letter%n(2)))
      if (letter%n(1) == 2) return
      worker%leaving = .false.
      if (letter%n(1) == 1) return
      worker%wanted = 1
      call Note(worker, link, 'no other worker is left: worker '//Str(worker%role%worker_id)//' stays and computes on CPU cores')
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
    if (letter%kind == MSG_MODEL .and. abs(letter%n(1)) <= huge(1)) i = SlotOf(worker, int(letter%n(1)), SEEING)
    call Fail(error, why)
    if (letter%kind == MSG_SHOT .and. all(letter%n(1:2) >= 1 .and. letter%n(1:2) <= huge(1))) then
      gone%shot%record = int(letter%n(1))
      gone%shot%slot = int(letter%n(2))
      call ReportLost(worker, link, gone, error)
      if (i > 0) worker%slot(i)%state = IDLE
    else if (i > 0 .and. letter%kind == MSG_MODEL) then
      call ReportLost(worker, link, worker%slot(i), error)
    else
      call Note(worker, link, 'worker '//Str(worker%role%worker_id)//': '//why)
    end if
  end function Sound

  !> The slot that has a shot record in a state, 0 if none has.
  pure integer function SlotOf(worker, record, state) result(i)
    type(worker_t), intent(in) :: worker
    integer, intent(in) :: record, state
    do i = size(worker%slot), 1, -1
      if (worker%slot(i)%shot%record == record .and. worker%slot(i)%state == state) return
    end do
  end function SlotOf

  ! --- a shot --------------------------------------------------------------------------------------------------------

  subroutine ShotAsk(worker, link, slot, number)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(slot_t), intent(inout) :: slot
    integer, intent(in) :: number
    type(message_t) :: message
    if (worker%stopped .or. number > worker%wanted) return
    slot%state = ASKED
    message%kind = MSG_READY
    message%n(1:3) = [worker%role%worker_id, merge(1, 0, worker%gpu), worker%scheme%threads]
    message%x(1) = worker%trial
    message%text = worker%role%host
    call Say(worker, link, message)
  end subroutine ShotAsk

  subroutine TakeShot(worker, link, slot, letter)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(slot_t), intent(inout) :: slot
    type(message_t), intent(in) :: letter
    type(error_t), allocatable :: error
    call ShotFrom(letter, slot%shot, slot%snapshots, error)
    slot%dropped = .false.
    slot%state = GIVEN
    if ((worker%wanted > 0 .or. worker%called) .and. .not. allocated(error)) return
    if (.not. allocated(error)) then
      call Fail(error, 'it came when the worker was about to leave')
      error%device = .true.
    end if
    call ReportLost(worker, link, slot, error)
  end subroutine TakeShot

  subroutine ModelAsk(worker, link, slot)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(slot_t), intent(inout) :: slot
    type(message_t) :: message
    slot%state = SEEING
    call ModelLetter(slot%shot, slot%window, message)
    call Say(worker, link, message)
  end subroutine ModelAsk

  !> The window is here. How many of that size the GPU takes decides how many slots ask for more.
  subroutine TakeModel(worker, link, slot, letter)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(slot_t), intent(inout) :: slot
    type(message_t), intent(in) :: letter
    type(error_t), allocatable :: error
    call WindowFrom(letter, worker%serial, slot%window, error)
    slot%state = READY
    if (slot%dropped .or. allocated(error)) then
      call Fail(error, 'another worker has it')
      call ReportLost(worker, link, slot, error)
      return
    end if
    slot%on_gpu = worker%gpu
    if (worker%gpu) call Fill(worker, link, slot)
  end subroutine TakeModel

  !> Sets the number of slots; a window that is too large for the GPU is computed on CPU cores.
  subroutine Fill(worker, link, slot)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(slot_t), intent(inout) :: slot
    real(dp) :: cells, need
    integer :: shots
    associate (s => worker%scheme, w => slot%window)
      cells = product(real(SchemeGrid(s, w%nx, w%nz), dp))
      need = slot%solver%need(SchemeOf(worker, slot), w%nx, w%nz, size(slot%shot%rx)*size(SplitList(s%components)))
    end associate
    shots = ShotsAtOnce(worker%rules%shots_per_gpu, cells, need, worker%room)
    slot%on_gpu = shots > 0
    if (worker%rules%shots == 0 .and. worker%wanted > 0) worker%wanted = min(max(1, shots), worker%most)
    if (shots > 0 .or. worker%too_large) return
    worker%too_large = .true.
    call Note(worker, link, 'shot '//Str(slot%shot%record)//' on '//worker%role%host//' needs '//Str(1.0e-9_dp*need, 3)// &
              ' GB of GPU memory, there are '//Str(1.0e-9_dp*worker%room, 3)//' GB: it is computed on CPU cores, as are '// &
              'others of that size')
  end subroutine Fill

  !> The scheme as a slot computes it: its variant, beside how many others, and snapshots only where they are wanted.
  type(scheme_t) function SchemeOf(worker, slot) result(scheme)
    type(worker_t), intent(in) :: worker
    type(slot_t), intent(in) :: slot
    scheme = worker%scheme
    scheme%variant = slot%solver%choose(worker%scheme%variant, slot%on_gpu)
    scheme%share = merge((3*worker%wanted*worker%role%gpu_users + 3)/4, 0, slot%on_gpu)  ! some are set up or make traces
    if (.not. slot%snapshots) scheme%snapshot = 0
  end function SchemeOf

  !> A shot that was set up goes on from a state that an earlier worker kept of it, if there is one.
  subroutine Resume(worker, link, slot, error)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(slot_t), intent(inout) :: slot
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: said
    call KeeperBegin(worker%keeper, slot%trail, slot%solver, slot%shot%record, said, error)
    if (said /= '') call Note(worker, link, said, slot%trail%head > 0)
    if (slot%trail%head > 0) slot%last_beat = slot%last_beat - BEAT   ! the master hears at once that the rest was done elsewhere
  end subroutine Resume

  !> Keeps the state of a shot in its time loop now and then.
  subroutine Keep(worker, link, slot, error)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(slot_t), intent(inout) :: slot
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: said
    call KeeperTurn(worker%keeper, slot%trail, slot%solver, slot%shot%record, said, error)
    if (said /= '') call Note(worker, link, said)
  end subroutine Keep

  !> The job is about to end: the state of a shot in its time loop is on the disk on return, whenever the last one was kept.
  subroutine KeepLast(worker, link, record)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    integer, intent(in) :: record
    type(error_t), allocatable :: ignored
    character(:), allocatable :: said
    integer :: i
    i = SlotOf(worker, record, LOOPING)
    if (i == 0) return
    associate (slot => worker%slot(i))
      if (slot%solver%fraction() > 0) call KeeperNow(worker%keeper, slot%trail, slot%solver, record, said, ignored)
    end associate
    if (allocated(said)) then
      if (said /= '') call Note(worker, link, said)
    end if
  end subroutine KeepLast

  !> A shot whose time loop failed, and not by a fault of its GPU, begins anew: its states may carry the fault.
  subroutine Distrust(worker, slot, error)
    type(worker_t), intent(inout) :: worker
    type(slot_t), intent(in) :: slot
    type(error_t), intent(in) :: error
    if (.not. error%device) call KeeperDrop(worker%keeper, slot%shot%record)
  end subroutine Distrust

  !> Tells the master now and then how far a shot is.
  subroutine Heartbeat(worker, link, slot)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(slot_t), intent(inout) :: slot
    type(message_t) :: message
    if (host_seconds() - slot%last_beat < BEAT) return
    slot%last_beat = host_seconds()
    worker%told = .true.
    message%kind = MSG_PROGRESS
    message%n(1:2) = [worker%role%worker_id, slot%shot%record]
    message%x(1:2) = [slot%solver%fraction(), slot%trail%head]
    call Say(worker, link, message)
  end subroutine Heartbeat

  !> The gather goes home, after the snapshots if there are any; the slot is free for the next shot before it is on disk.
  subroutine GatherSend(worker, link, slot)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(slot_t), intent(inout) :: slot
    type(message_t) :: message
    slot%gather%record = slot%shot%record
    slot%gather%slot = slot%shot%slot
    slot%gather%device = trim(worker%role%processor)
    if (slot%on_gpu) slot%gather%device = worker%role%gpu_name
    if (slot%gather%nsnap > 0 .and. slot%state == MODELLED) then
      slot%state = SNAPPED
      call SnapsLetter(slot%gather, message)
    else
      slot%state = IDLE
      worker%unwritten = worker%unwritten + 1
      call GatherLetter(slot%gather, message)
    end if
    message%n(12) = worker%role%worker_id
    call Say(worker, link, message)
  end subroutine GatherSend

  !> What became of snapshots or gather.
  subroutine TakeVerdict(worker, link, letter)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(message_t), intent(in) :: letter
    type(error_t), allocatable :: error
    type(slot_t) :: gone
    integer :: kind, record, i
    call VerdictFrom(letter, kind, record, gone%shot%slot)
    gone%shot%record = record
    if (letter%kind == MSG_REFUSED) then
      if (kind == MSG_MODEL) call Fail(error, 'no model window: '//letter%text)
      call Fail(error, 'the I/O server could not write: '//letter%text)
    end if
    if (kind == MSG_GATHER) then
      worker%unwritten = worker%unwritten - 1
      if (.not. allocated(error)) call KeeperDrop(worker%keeper, record)
      if (allocated(error)) call ReportLost(worker, link, gone, error)
      return
    end if
    i = SlotOf(worker, record, merge(SEEING, SNAPPED, kind == MSG_MODEL))
    if (i == 0) return
    if (allocated(error)) then
      call ReportLost(worker, link, worker%slot(i), error)
    else
      call GatherSend(worker, link, worker%slot(i))
    end if
  end subroutine TakeVerdict

  !> Another worker has a shot, or has finished it: what is left of it is not computed.
  subroutine TakeDrop(worker, link, record, why)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    integer, intent(in) :: record
    character(*), intent(in) :: why
    type(error_t), allocatable :: error
    integer :: i
    i = SlotOf(worker, record, SEEING)
    if (i > 0) worker%slot(i)%dropped = .true.
    i = max(SlotOf(worker, record, GIVEN), SlotOf(worker, record, READY), SlotOf(worker, record, LOOPING))
    if (i == 0) return
    call Fail(error, trim(why))
    call ReportLost(worker, link, worker%slot(i), error)
  end subroutine TakeDrop

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
    call Say(worker, link, message)
  end subroutine LeaveNow

  ! --- losses --------------------------------------------------------------------------------------------------------

  !> A lost shot is reported with its cause; where a GPU is to blame, it is not the shot's loss.
  subroutine ShotLost(worker, link, slot, error)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(slot_t), intent(inout) :: slot
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: why
    logical :: device
    integer :: i
    why = error%message
    device = error%device
    i = count(worker%slot%state == LOOPING)
    call ReportLost(worker, link, slot, error)
    call slot%solver%free()
    if (.not. device) return
    if (i > 1 .and. slot%solver%fraction() <= 0) then
      worker%most = i - 1
      worker%wanted = min(worker%wanted, worker%most)
      call Note(worker, link, 'the GPU of worker '//Str(worker%role%worker_id)//' on '//worker%role%host//' takes no more than '// &
                Str(worker%most)//' shot(s) at once: '//why)
    else if (worker%gpu) then
      call LoseGpu(worker, link, why)
    end if
  end subroutine ShotLost

  !> Says LOST; the slot is free.
  subroutine ReportLost(worker, link, slot, error)
    type(worker_t), intent(in) :: worker
    type(link_t), intent(inout) :: link
    type(slot_t), intent(inout) :: slot
    type(error_t), allocatable, intent(inout) :: error
    type(message_t) :: message
    message%kind = MSG_LOST
    message%n(1:3) = [slot%shot%record, slot%shot%slot, merge(1, 0, error%device)]
    message%n(12) = worker%role%worker_id
    message%text = error%message
    call Say(worker, link, message)
    slot%state = IDLE
    deallocate (error)
  end subroutine ReportLost

  !> The GPU is not used any more. What it computed is dealt again; the worker goes on with CPU cores, or asks to leave.
  subroutine LoseGpu(worker, link, why)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    character(*), intent(in) :: why
    type(message_t) :: message
    type(error_t), allocatable :: error
    integer :: i
    worker%gpu = .false.
    call Note(worker, link, 'the GPU of worker '//Str(worker%role%worker_id)//' on '//worker%role%host//' failed ('//why//'): '// &
              'the worker '//trim(merge('leaves the job        ', 'goes on with CPU cores', worker%rules%retire)))
    do i = 1, size(worker%slot)
      associate (slot => worker%slot(i))
        if (.not. slot%on_gpu) cycle
        slot%on_gpu = .false.
        if (slot%state /= READY .and. slot%state /= LOOPING .and. slot%state /= MODELLED) cycle
        call Fail(error, 'it was on the GPU that failed')
        error%device = .true.
        call ReportLost(worker, link, slot, error)
        call slot%solver%free()
      end associate
    end do
    worker%wanted = 1
    if (.not. worker%rules%retire) return
    worker%wanted = 0
    worker%leaving = .true.
    message%kind = MSG_LEAVE
    message%n(1) = worker%role%worker_id
    call Say(worker, link, message)
  end subroutine LoseGpu

  ! --- saying --------------------------------------------------------------------------------------------------------

  !> A sentence for the log; a warning unless it is `harmless`.
  subroutine Note(worker, link, text, harmless)
    type(worker_t), intent(in) :: worker
    type(link_t), intent(inout) :: link
    character(*), intent(in) :: text
    logical, intent(in), optional :: harmless
    type(message_t) :: message
    message%kind = MSG_NOTE
    if (present(harmless)) message%n(1) = merge(1, 0, harmless)
    message%text = text
    call Say(worker, link, message)
  end subroutine Note

  subroutine Bye(worker, link)
    type(worker_t), intent(in) :: worker
    type(link_t), intent(inout) :: link
    type(message_t) :: message
    message%kind = MSG_BYE
    message%n(1) = worker%role%worker_id
    message%x(1:3) = [worker%compute, worker%wait, worker%io]
    call Say(worker, link, message)
    call LinkFlush(link)
  end subroutine Bye

  !> The group's rank 0 speaks for all.
  subroutine Say(worker, link, message)
    type(worker_t), intent(in) :: worker
    type(link_t), intent(inout) :: link
    type(message_t), intent(inout) :: message
    if (worker%role%group_rank == 0) call Tell(link, message)
  end subroutine Say

  !> Waits for the ranks of the group. One that is lost retires the group: nobody can go on without it.
  subroutine Muster(worker, letter, kind)
    type(worker_t), intent(inout) :: worker
    type(message_t), intent(inout) :: letter
    integer, intent(inout) :: kind
    logical :: all_here
    call Barrier(worker%role%group, worker%vigil%master%seconds, all_here)
    if (all_here) return
    worker%deserted = .true.
    call VigilDeserted(worker%vigil, letter)
    kind = letter%kind
  end subroutine Muster

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
    numbers = [real(message%n, dp), message%x]
    call BroadcastReals(role%group, numbers)
    message%n = nint(numbers(:size(message%n)), i8)
    message%x = numbers(size(message%n) + 1:)
    if (.not. allocated(message%text)) message%text = ''
    if (.not. allocated(message%places)) allocate (message%places(n(1)))
    if (.not. allocated(message%fields)) allocate (message%fields(n(2)))
    call BroadcastReals(role%group, message%places)
    call BroadcastFields(role%group, message%fields)
  end subroutine ShareMessage

end module worker_m
