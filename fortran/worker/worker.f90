!> The story of a shot, told by the group of ranks that models it.
!>
!>     ask for a line of the key-map, ask for the piece of earth it sees, set up, time loop, receivers -> traces, send them home
!>
!> A worker has a slot a shot in flight (slot.f90), and its slots take turns: on CPU cores one, on a GPU so many that the GPU is
!> full and never waits for the host. No turn waits for the master: what a slot asks is answered while others compute. The time
!> loop of a slot keeps up to two chunks of steps queued on the GPU, so set-up and traces of other slots cost it nothing. Some
!> shots are set up and wait: more than fill the GPU would only push each other out of its cache.
module worker_m
  use checkpoint_m, only: KeeperEnd, KeeperNew
  use error_m, only: error_t
  use host_c, only: host_seconds
  use kinds_m, only: dp
  use protocol_m, only: link_t, LinkFlush, message_t, MSG_BYE
  use roles_m, only: role_t
  use scheme_m, only: scheme_t
  use slot_m, only: HAVE_SHOT, IDLE, LOOPING, MODELLED, READY, slot_t
  use solver_m, only: solver_t
  use text_m, only: Str
  use master_heartbeat_m, only: job_end_t, HeartbeatNew
  use worker_type_m, only: worker_options_t, SLOTS, worker_t, WorkerMaySee, WorkerNote, WorkerSay
  use worker_receive_m, only: WorkerHear, WorkerOpen
  use worker_failure_m, only: ShotLost, WorkerLoseGpu
  use worker_shot_m, only: GatherSend, ModelAsk, ShotAsk, ShotBeat, ShotTell, SOON, WorkerScheme
  use worker_checkpoint_m, only: StateDistrust, StateKeep, StateResume
  implicit none
  private
  public :: WorkerRun

contains

  !> Models shots until the master says stop, and waits until it says END. Each slot gets a solver like `mold`; `scheme` names the
  !> variant asked for.
  subroutine WorkerRun(role, link, mold, scheme, rules, ending)
    type(role_t), intent(in) :: role
    type(link_t), intent(inout) :: link
    class(solver_t), intent(in) :: mold
    class(scheme_t), intent(in) :: scheme
    type(worker_options_t), intent(in) :: rules
    type(job_end_t), intent(out) :: ending
    type(worker_t), allocatable :: worker
    character(:), allocatable :: said
    integer :: i
    logical :: computing
    allocate (worker)
    worker%role = role
    worker%rules = rules
    allocate (worker%scheme, source=scheme)
    if (allocated(rules%shape)) then
      if (rules%shape /= 'auto') worker%scheme%shape = rules%shape
    end if
    worker%gpu = role%gpu >= 0
    worker%room = role%gpu_room
    if (role%group_size == 1) call KeeperNew(worker%keeper, rules%checkpoint)
    if (rules%shots > 0) worker%wanted = min(rules%shots, SLOTS)
    allocate (worker%slot(merge(SLOTS, worker%wanted, worker%gpu)))
    do i = 1, size(worker%slot)
      allocate (worker%slot(i)%solver, mold=mold)
    end do
    call HeartbeatNew(worker%heartbeat, role, rules%lease)
    if (role%gpu_fault /= '') call WorkerLoseGpu(worker, link, role%gpu_fault)
    if (role%drivers > 0 .and. .not. worker%gpu) worker%trial = worker%slot(1)%solver%trial(scheme)
    do while (WorkerOpen(worker))
      call WorkerHear(worker, link)
      do i = 1, size(worker%slot)
        computing = any(worker%slot(i)%state == [LOOPING, MODELLED])
        call Turn(worker, link, worker%slot(i), i)
        if (computing .and. worker%gpu) call Attend(worker, link)
      end do
    end do
    do i = 1, size(worker%slot)
      call worker%slot(i)%solver%free()
    end do
    call KeeperEnd(worker%keeper, said)
    if (said /= '' .and. .not. worker%ended) call WorkerNote(worker, link, 'worker '//Str(role%worker_id)//': '//said, .true.)
    if (.not. worker%ended) call Bye(worker, link)
    worker%parting = .true.
    do while (.not. (worker%ended .or. associated(link%listener)))
      call WorkerHear(worker, link)
    end do
    ending = worker%ending
  end subroutine WorkerRun

  !> While a GPU computes: slots between two shots need not wait until all others have had their turn.
  subroutine Attend(worker, link)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    integer :: i
    if (all(worker%slot%state == LOOPING) .or. .not. WorkerOpen(worker)) return
    call WorkerHear(worker, link, .false.)
    do i = 1, size(worker%slot)
      if (any(worker%slot(i)%state == [IDLE, HAVE_SHOT, READY])) call Turn(worker, link, worker%slot(i), i)
    end do
  end subroutine Attend

  !> A slot's next step, if it can go on by itself.
  subroutine Turn(worker, link, slot, number)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(slot_t), intent(inout) :: slot
    integer, intent(in) :: number
    type(error_t), allocatable :: error
    real(dp) :: start
    start = host_seconds()
    select case (slot%state)
    case (IDLE)
      call ShotAsk(worker, link, slot, number)                                   ! a line of the key-map, from the master
    case (HAVE_SHOT)
      if (WorkerMaySee(worker)) call ModelAsk(worker, link, slot)                ! the piece of earth it sees
    case (READY)
      call Begin(worker, link, slot, error)                                      ! set up
    case (LOOPING)
      call Steps(worker, link, slot, error)
    case (MODELLED)
      call slot%solver%gather(slot%gather, error)                                ! receivers -> traces
      if (.not. allocated(error)) call GatherSend(worker, link, slot)            ! to the I/O server
    case default
      return
    end select
    worker%compute = worker%compute + host_seconds() - start
    if (allocated(error)) call ShotLost(worker, link, slot, error)               ! and why
  end subroutine Turn

  !> Sets a shot up; its time loop begins when the GPU has room for its steps.
  subroutine Begin(worker, link, slot, error)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(slot_t), intent(inout) :: slot
    type(error_t), allocatable, intent(inout) :: error
    class(scheme_t), allocatable :: scheme
    if (.not. slot%waits) then
      call WorkerScheme(worker, slot, scheme)
      call slot%solver%setup(scheme, slot%window, slot%shot, error)
      slot%ready_at = host_seconds()
      slot%last_beat = slot%ready_at
      if (.not. allocated(error)) call StateResume(worker, link, slot, error)
    end if
    if (.not. (allocated(error) .or. HasRoom(worker, slot))) then
      if (.not. slot%waits) call ShotTell(worker, link, slot, .true.)
      slot%waits = .true.
      return
    end if
    if (worker%gpu .or. worker%wanted > 1) call ShotTell(worker, link, slot, .false.)   ! its steps begin
    slot%waits = .false.
    slot%state = LOOPING
    if (worker%gpu .and. .not. worker%told) slot%last_beat = slot%last_beat - SOON
    if (worker%gpu .and. .not. allocated(error)) call Steps(worker, link, slot, error)  ! the GPU has something to do at once
  end subroutine Begin

  !> Whether too few shots have steps left to give to the GPU, and none waits longer than this one. CPU cores have room.
  pure logical function HasRoom(worker, slot) result(room)
    type(worker_t), intent(in) :: worker
    type(slot_t), intent(in) :: slot
    integer :: i, computing
    computing = 0
    room = .true.
    do i = 1, size(worker%slot)
      associate (other => worker%slot(i))
        if (other%state == READY .and. other%waits .and. other%ready_at < slot%ready_at) room = .false.
        if (other%state /= LOOPING) cycle
        if (other%solver%fraction() < 1) computing = computing + 1
      end associate
    end do
    room = (room .and. computing < worker%computing) .or. .not. slot%on_gpu
  end function HasRoom

  !> Some time steps.
  subroutine Steps(worker, link, slot, error)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(slot_t), intent(inout) :: slot
    type(error_t), allocatable, intent(inout) :: error
    logical :: done
    call slot%solver%advance(done, error)
    if (.not. allocated(error)) call ShotBeat(worker, link, slot)
    if (.not. (done .or. allocated(error))) call StateKeep(worker, link, slot, error)
    if (done) slot%state = MODELLED
    if (allocated(error)) call StateDistrust(worker, slot, error)
  end subroutine Steps

  !> Nothing is left to do: the times spent go home.
  subroutine Bye(worker, link)
    type(worker_t), intent(in) :: worker
    type(link_t), intent(inout) :: link
    type(message_t) :: message
    message%kind = MSG_BYE
    message%n(1) = worker%role%worker_id
    message%x(1:3) = [worker%compute, worker%wait, worker%io]
    call WorkerSay(worker, link, message)
    call LinkFlush(link)
  end subroutine Bye

end module worker_m
