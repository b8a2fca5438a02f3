!> The way of a shot through the group of ranks that models it:
!>
!>     ask for a shot, ask for its window of the model, set up, time loop, receivers -> traces, send them to the master
!>
!> The active shots of a worker (active_shot.f90) take turns: on CPU cores there is one, on a GPU there are so many that the GPU is
!> full and never waits for the host. No turn waits for the master, which answers one shot while others compute. The time loop of a
!> shot keeps up to two chunks of steps queued on the GPU, so set-up and traces of other shots cost it nothing. Some shots are set
!> up and wait: more than fill the GPU would only push each other out of its cache.
module worker_m
  use active_shot_m, only: active_shot_t, HAVE_SHOT, IDLE, LOOPING, MODELLED, READY, WAIT_MODEL
  use checkpoint_m, only: CheckpointerEnd, CheckpointerNew
  use error_m, only: error_t
  use gather_seal_m, only: GatherSeal
  use group_m, only: GroupAgree, GroupFree, GroupNew, WISHES
  use host_c, only: host_seconds, host_signal
  use kinds_m, only: dp, i8, sp
  use lent_memory_m, only: LenderAsk, LenderEnd, LenderTake
  use master_heartbeat_m, only: job_end_t, HeartbeatNew
  use parameter_table_m, only: SplitList
  use protocol_m, only: link_t, message_t, LinkFlush, MSG_BYE
  use roles_m, only: role_t
  use scheme_m, only: scheme_t
  use solver_m, only: solver_t
  use text_m, only: Str
  use worker_checkpoint_m, only: AwaitDisk, StateDiscard, StateKeep, StateResume, StateWish, NO_STATE, WANTED
  use worker_failure_m, only: ShotLost, WorkerLoseGpu
  use worker_log_m, only: LogExchanged, LogShared
  use worker_receive_m, only: WorkerOpen, WorkerReceive
  use worker_shot_m, only: GatherSend, ProgressReport, ProgressSend, ShotAsk, SOON
  use worker_type_m, only: worker_options_t, worker_t, MOST_ACTIVE, WorkerAnnounce, WorkerMayAskModel, WorkerNote, WorkerSend
  use worker_window_m, only: ModelAsk, ModelAwait, WorkerScheme
  implicit none
  private
  public :: WorkerRun

contains

  !> Models shots until the master sends STOP, and waits until it sends END. Each active shot gets a solver like `mold`; `scheme`
  !> names the variant asked for.
  subroutine WorkerRun(role, link, mold, scheme, options, job_end)
    type(role_t), intent(in) :: role
    type(link_t), target, intent(inout) :: link
    class(solver_t), intent(in) :: mold
    class(scheme_t), intent(in) :: scheme
    type(worker_options_t), intent(in) :: options
    type(job_end_t), intent(out) :: job_end
    type(worker_t), allocatable, target :: worker
    type(error_t), allocatable :: lost
    character(:), allocatable :: said
    integer :: i
    logical :: computing
    allocate (worker)
    call SetUp(worker, role, link, mold, scheme, options)
    do while (WorkerOpen(worker))
      call WorkerReceive(worker)
      do i = 1, size(worker%active)
        computing = any(worker%active(i)%state == [LOOPING, MODELLED])
        call Turn(worker, worker%active(i), i)
        if (computing .and. worker%gpu) call TurnBetweenShots(worker)
      end do
    end do
    do i = 1, size(worker%active)
      call worker%active(i)%solver%free()
    end do
    call AwaitDisk(worker, lost)                ! a worker that is silent meanwhile would be taken for lost
    call CheckpointerEnd(worker%checkpointer, said)
    if (said /= '' .and. .not. worker%job_over) call WorkerNote(worker, 'worker '//Str(role%worker_id)//': '//said, .true.)
    if (.not. worker%job_over) call Bye(worker)
    worker%said_bye = .true.
    do while (.not. (worker%job_over .or. associated(link%listener)))
      call WorkerReceive(worker)
    end do
    call LenderEnd(worker%lender)
    job_end = worker%job_end
    call GroupFree(worker%group, job_end%broken)
  end subroutine WorkerRun

  !> Makes a worker, which then tells the master that it is there.
  subroutine SetUp(worker, role, link, mold, scheme, options)
    type(worker_t), target, intent(inout) :: worker
    type(role_t), intent(in) :: role
    type(link_t), target, intent(inout) :: link
    class(solver_t), intent(in) :: mold
    class(scheme_t), intent(in) :: scheme
    type(worker_options_t), intent(in) :: options
    type(message_t) :: message
    integer :: i
    worker%role = role
    worker%link => link
    worker%options = options
    allocate (worker%scheme, source=scheme)
    if (allocated(options%shape)) then
      if (options%shape /= 'auto') worker%scheme%shape = options%shape
    end if
    worker%scheme%steps_a_pass = options%steps_a_pass
    worker%gpu = role%gpu >= 0
    worker%gpu_memory = role%gpu_room
    if (options%gpu_memory > 0) worker%gpu_memory = min(role%gpu_room, options%gpu_memory)
    if (options%shots > 0) worker%wanted = min(options%shots, MOST_ACTIVE)
    if (role%group_size > 1) worker%most = 1        ! a shot for several ranks fills them
    worker%wanted = min(worker%wanted, worker%most)
    allocate (worker%active(merge(MOST_ACTIVE, worker%wanted, worker%gpu .and. role%group_size == 1)))
    if (role%group_size > 1) call GroupNew(worker%group, role, options%lease)
    worker%group%link => link
    call CheckpointerNew(worker%checkpointer, options%checkpoint, worker%group)
    do i = 1, size(worker%active)
      allocate (worker%active(i)%solver, mold=mold)
      if (role%group_size > 1) worker%active(i)%solver%partners => worker%group
    end do
    call HeartbeatNew(worker%heartbeat, role, options%lease)
    if (role%gpu_fault /= '') call WorkerLoseGpu(worker, role%gpu_fault)
    if (role%drivers > 0 .and. .not. worker%gpu) &
      worker%trial_rate = role%group_size*worker%active(1)%solver%trial(scheme)
    if (role%group_rank == 0 .and. .not. associated(link%listener)) then
      call LenderAsk(worker%lender, message)
      call WorkerAnnounce(worker, message)
    end if
  end subroutine SetUp

  !> While a GPU computes, lets shots go on that wait for no time steps: they need not wait until all others have had their turn.
  subroutine TurnBetweenShots(worker)
    type(worker_t), intent(inout) :: worker
    integer :: i
    if (all(worker%active%state == LOOPING) .or. .not. WorkerOpen(worker)) return
    call WorkerReceive(worker, .false.)
    do i = 1, size(worker%active)
      if (any(worker%active(i)%state == [IDLE, HAVE_SHOT, READY])) call Turn(worker, worker%active(i), i)
    end do
  end subroutine TurnBetweenShots

  !> Does what an active shot does next, if it can go on without a message.
  subroutine Turn(worker, active, number)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(inout) :: active
    integer, intent(in) :: number
    type(error_t), allocatable :: error
    real(dp) :: start
    logical :: stepped
    if (worker%group%broken) return             ! a rank is lost: the master deals the shot again, and this worker ends
    start = host_seconds()
    stepped = active%state == LOOPING
    select case (active%state)
    case (IDLE)
      call ShotAsk(worker, active, number)
    case (HAVE_SHOT)
      if (WorkerMayAskModel(worker)) call ModelAsk(worker, active)           ! for its window of the model
    case (WAIT_MODEL)
      if (worker%role%group_size > 1) call ModelAwait(worker, active)        ! until all ranks have theirs
      worker%io = worker%io + host_seconds() - start
      return
    case (READY)
      call Begin(worker, active, stepped, error)
      call Agree(worker, active, error)
    case (LOOPING)
      call Steps(worker, active, error)
      call Agree(worker, active, error)
    case (MODELLED)
      call active%solver%gather(active%gather, error)                        ! receivers -> traces
      call LogExchanged(worker, active, error)
      call Seal(worker, active, error)
      call Agree(worker, active, error)
      if (.not. allocated(error)) call GatherSend(worker, active)            ! to the master
    case default
      return
    end select
    worker%compute = worker%compute + host_seconds() - start
    if (worker%group%broken .or. .not. allocated(error)) return
    if (stepped) call StateDiscard(worker, active, error)
    call ShotLost(worker, active, error)
  end subroutine Turn

  !> Seals the traces, where they are, into memory that rank 0 can read if there is any.
  subroutine Seal(worker, active, error)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(inout) :: active
    type(error_t), allocatable, intent(inout) :: error
    type(message_t) :: message
    real(sp), pointer, contiguous :: lent(:)
    integer :: memory
    if (allocated(error) .or. .not. allocated(active%gather%traces)) return
    call LenderTake(worker%lender, active%shot%record, size(active%gather%traces, kind=i8), lent, memory, message)
    call WorkerAnnounce(worker, message)
    call GatherSeal(active%gather, SplitList(worker%scheme%components), error, lent, memory)
  end subroutine Seal

  !> An error of one rank of a group is that of all. They agree too on whether a state is kept after the next steps, and learn of a
  !> signal that one of them got.
  subroutine Agree(worker, active, error)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(in) :: active
    type(error_t), allocatable, intent(inout) :: error
    integer :: wish(WISHES)
    if (worker%role%group_size == 1) return
    wish = [NO_STATE, int(host_signal())]
    if (.not. allocated(error)) wish(1) = StateWish(worker, active)      ! a solver that failed may be half set up
    call GroupAgree(worker%group, error, wish)
    worker%keeps = wish(1) == WANTED
    worker%signal = wish(2)
  end subroutine Agree

  !> Sets a shot up; its time loop begins when the GPU has room for its steps. `stepped`: some of them were asked for.
  subroutine Begin(worker, active, stepped, error)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(inout) :: active
    logical, intent(out) :: stepped
    type(error_t), allocatable, intent(inout) :: error
    class(scheme_t), allocatable :: scheme
    stepped = .false.
    if (.not. active%waits) then
      call WorkerScheme(worker, active, scheme)
      call active%solver%setup(scheme, active%window, active%shot, error)
      active%ready_at = host_seconds()
      active%last_beat = active%ready_at
      if (.not. allocated(error)) call LogShared(worker, active, error)
      if (.not. allocated(error)) call StateResume(worker, active, error)
    end if
    if (.not. (allocated(error) .or. HasRoom(worker, active))) then
      if (.not. active%waits) call ProgressSend(worker, active, .true.)
      active%waits = .true.
      return
    end if
    if (worker%gpu .or. worker%wanted > 1) call ProgressSend(worker, active, .false.)   ! its steps begin
    active%waits = .false.
    active%state = LOOPING
    if (worker%gpu .and. .not. worker%reported) active%last_beat = active%last_beat - SOON
    stepped = worker%gpu .and. .not. allocated(error)
    if (stepped) call Steps(worker, active, error)  ! the GPU has something to do at once
  end subroutine Begin

  !> True where too few shots have steps left to give to the GPU, and none waits longer than this one. CPU cores have room.
  pure logical function HasRoom(worker, active) result(room)
    type(worker_t), intent(in) :: worker
    type(active_shot_t), intent(in) :: active
    integer :: i, computing
    computing = 0
    room = .true.
    do i = 1, size(worker%active)
      associate (other => worker%active(i))
        if (other%state == READY .and. other%waits .and. other%ready_at < active%ready_at) room = .false.
        if (other%state /= LOOPING) cycle
        if (other%solver%fraction() < 1) computing = computing + 1
      end associate
    end do
    room = (room .and. computing < worker%computing) .or. .not. active%on_gpu
  end function HasRoom

  !> Computes some time steps.
  subroutine Steps(worker, active, error)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(inout) :: active
    type(error_t), allocatable, intent(inout) :: error
    logical :: done
    call active%solver%advance(done, error)
    if (.not. allocated(error)) call ProgressReport(worker, active)
    if (.not. (done .or. allocated(error))) call StateKeep(worker, active, error)
    if (done) active%state = MODELLED
  end subroutine Steps

  !> Sends the times spent to the master when nothing is left to do.
  subroutine Bye(worker)
    type(worker_t), intent(in) :: worker
    type(message_t) :: message
    message%kind = MSG_BYE
    message%n(1) = worker%role%worker_id
    message%x(1:3) = [worker%compute, worker%wait, worker%io]
    call WorkerSend(worker, message)
    call LinkFlush(worker%link)
  end subroutine Bye

end module worker_m
