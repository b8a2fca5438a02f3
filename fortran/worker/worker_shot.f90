!> What a shot asks for and is given: its line of the key-map, its window, a slot of the right kind; what it sends home.
module worker_shot_m
  use checkpoint_m, only: KeeperDrop
  use error_m, only: error_t, Fail
  use shots_per_gpu_m, only: ShotsAtOnce, ShotsComputing
  use host_c, only: host_seconds
  use kinds_m, only: dp
  use shot_messages_m, only: GatherMessage, ModelMessage, ShotFrom, SnapsMessage, VerdictFrom, WindowFrom
  use protocol_m, only: link_t, message_t, MSG_GATHER, MSG_MODEL, MSG_PROGRESS, MSG_READY, MSG_REFUSED
  use scheme_m, only: scheme_t, SchemeCells
  use slot_m, only: ASKED, HAVE_SHOT, IDLE, LOOPING, MODELLED, READY, WAIT_MODEL, slot_t, WAIT_SNAPSHOTS
  use parameter_table_m, only: SplitList
  use text_m, only: Str
  use worker_type_m, only: worker_t, WorkerNote, WorkerSay, WorkerSlot
  use worker_failure_m, only: ShotReport
  implicit none
  private
  public :: ShotAsk, ShotTake, ModelAsk, ModelTake, WorkerScheme, ShotBeat, ShotTell, SOON, GatherSend, VerdictTake, DropTake

  real(dp), parameter :: BEAT = 1.0_dp        !< seconds between reports how far a shot is
  real(dp), parameter :: SOON = 0.8_dp        !< the first of a GPU comes so much sooner: CPU ranks wait until it is known [s]

contains

  !> READY: a slot that is free and wanted asks for a shot.
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
    call WorkerSay(worker, link, message)
  end subroutine ShotAsk

  !> The shot is here. One that comes when the worker is about to go is given back.
  subroutine ShotTake(worker, link, slot, message)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(slot_t), intent(inout) :: slot
    type(message_t), intent(in) :: message
    type(error_t), allocatable :: error
    call ShotFrom(message, slot%shot, slot%snapshots, error)
    slot%dropped = .false.
    slot%state = HAVE_SHOT
    if ((worker%wanted > 0 .or. worker%called) .and. .not. allocated(error)) return
    if (.not. allocated(error)) then
      call Fail(error, 'it came when the worker was about to leave')
      error%device = .true.
    end if
    call ShotReport(worker, link, slot, error)
  end subroutine ShotTake

  !> Asks for the window of a shot, and says which one the slot holds already.
  !> A slot that has none yet offers the window of another one: often it is the same.
  subroutine ModelAsk(worker, link, slot)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(slot_t), intent(inout) :: slot
    type(message_t) :: message
    integer :: i
    slot%state = WAIT_MODEL
    i = maxloc(worker%slot%window%serial, 1)
    if (slot%window%serial == 0 .and. worker%slot(i)%window%serial > 0) slot%window = worker%slot(i)%window
    call ModelMessage(slot%shot, slot%window, message)
    call WorkerSay(worker, link, message)
  end subroutine ModelAsk

  !> The window is here. How many of that size the GPU takes decides how many slots ask for more.
  subroutine ModelTake(worker, link, slot, message)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(slot_t), intent(inout) :: slot
    type(message_t), intent(in) :: message
    type(error_t), allocatable :: error
    call WindowFrom(message, worker%serial, slot%window, error)
    slot%state = READY
    slot%waits = .false.
    if (slot%dropped .or. allocated(error)) then
      if (slot%dropped .and. .not. allocated(error)) call Fail(error, slot%why_dropped)
      call ShotReport(worker, link, slot, error)
      return
    end if
    slot%on_gpu = worker%gpu
    if (worker%gpu) call Fill(worker, link, slot)
  end subroutine ModelTake

  !> Sets the number of slots; a window that is too large for the GPU is computed on CPU cores.
  subroutine Fill(worker, link, slot)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(slot_t), intent(inout) :: slot
    class(scheme_t), allocatable :: scheme
    real(dp) :: cells, need
    integer :: shots
    call WorkerScheme(worker, slot, scheme)
    cells = SchemeCells(scheme, slot%window)
    need = slot%solver%need(scheme, slot%window, size(slot%shot%rx)*size(SplitList(scheme%components)))
    shots = ShotsAtOnce(worker%rules%shots_per_gpu, cells, need, worker%room)
    slot%on_gpu = shots > 0
    if (worker%rules%shots == 0 .and. worker%wanted > 0) worker%wanted = min(max(1, shots), worker%most)
    worker%computing = ShotsComputing(worker%rules%shots_per_gpu, cells, max(1, min(shots, worker%most)))
    if (shots > 0 .or. worker%too_large) return
    worker%too_large = .true.
    call WorkerNote(worker, link, 'shot '//Str(slot%shot%record)//' on '//worker%role%host//' needs '//Str(1.0e-9_dp*need, 3)// &
                    ' GB of GPU memory, there are '//Str(1.0e-9_dp*worker%room, 3)//' GB: it is computed on CPU cores, as are '// &
                    'others of that size')
  end subroutine Fill

  !> The scheme as a slot computes it: its variant, beside how many others, and snapshots only where they are wanted.
  subroutine WorkerScheme(worker, slot, scheme)
    type(worker_t), intent(in) :: worker
    type(slot_t), intent(in) :: slot
    class(scheme_t), allocatable, intent(out) :: scheme
    allocate (scheme, source=worker%scheme)
    scheme%variant = slot%solver%choose(worker%scheme%variant, slot%on_gpu)
    scheme%share = merge(worker%computing*worker%role%gpu_users, 0, slot%on_gpu)
    if (.not. slot%snapshots) call scheme%no_pictures()
  end subroutine WorkerScheme

  !> Tells the master now and then how far a shot is.
  subroutine ShotBeat(worker, link, slot)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(slot_t), intent(inout) :: slot
    if (host_seconds() - slot%last_beat < BEAT) return
    slot%last_beat = host_seconds()
    worker%told = .true.
    call ShotTell(worker, link, slot, .false.)
  end subroutine ShotBeat

  !> Tells the master how far a shot is, and whether it `waits` until other shots of this worker have done their steps.
  subroutine ShotTell(worker, link, slot, waits)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(slot_t), intent(in) :: slot
    logical, intent(in) :: waits
    type(message_t) :: message
    message%kind = MSG_PROGRESS
    message%n(1:3) = [worker%role%worker_id, slot%shot%record, merge(1, 0, waits)]
    message%x(1:2) = [slot%solver%fraction(), slot%trail%head]
    call WorkerSay(worker, link, message)
  end subroutine ShotTell

  !> The gather goes home, after the snapshots if there are any; the slot is free for the next shot before it is on disk.
  subroutine GatherSend(worker, link, slot)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(slot_t), intent(inout) :: slot
    type(message_t) :: message
    slot%gather%record = slot%shot%record
    slot%gather%slot = slot%shot%slot
    if (slot%on_gpu) call TellDevice(worker, link, slot)
    slot%gather%device = trim(worker%role%processor)
    if (slot%on_gpu) slot%gather%device = worker%role%gpu_name
    if (slot%gather%nsnap > 0 .and. slot%state == MODELLED) then
      slot%state = WAIT_SNAPSHOTS
      call SnapsMessage(slot%gather, message)
    else
      slot%state = IDLE
      worker%unwritten = worker%unwritten + 1
      call GatherMessage(slot%gather, message)
    end if
    message%n(12) = worker%role%worker_id
    call WorkerSay(worker, link, message)
  end subroutine GatherSend

  !> The log says once how a GPU computes, where there is more to say than its name, and again when it changes.
  subroutine TellDevice(worker, link, slot)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(slot_t), intent(in) :: slot
    character(:), allocatable :: text
    if (.not. allocated(slot%gather%device)) return
    if (slot%gather%device == worker%role%gpu_name) return
    text = slot%gather%variant//' on '//slot%gather%device
    if (allocated(worker%device)) then
      if (worker%device == text) return
    end if
    worker%device = text
    call WorkerNote(worker, link, 'worker '//Str(worker%role%worker_id)//': '//Str(nint(slot%gather%cells*1.0e-6_dp))// &
                    ' million cells by '//text, .true.)
  end subroutine TellDevice

  !> What became of snapshots or gather.
  subroutine VerdictTake(worker, link, message)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(message_t), intent(in) :: message
    type(error_t), allocatable :: error
    type(slot_t) :: gone
    integer :: kind, record, i
    call VerdictFrom(message, kind, record, gone%shot%slot)
    gone%shot%record = record
    if (message%kind == MSG_REFUSED) then
      if (kind == MSG_MODEL) call Fail(error, 'no model window: '//message%text)
      call Fail(error, 'the I/O server could not write: '//message%text)
    end if
    if (kind == MSG_GATHER) then
      worker%unwritten = worker%unwritten - 1
      if (.not. allocated(error)) call KeeperDrop(worker%keeper, record)
      if (allocated(error)) call ShotReport(worker, link, gone, error)
      return
    end if
    i = WorkerSlot(worker, record, merge(WAIT_MODEL, WAIT_SNAPSHOTS, kind == MSG_MODEL))
    if (i == 0) return
    if (allocated(error)) then
      call ShotReport(worker, link, worker%slot(i), error)
    else
      call GatherSend(worker, link, worker%slot(i))
    end if
  end subroutine VerdictTake

  !> Another worker has a shot, or has finished it: what is left of it is not computed.
  subroutine DropTake(worker, link, record, why)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    integer, intent(in) :: record
    character(*), intent(in) :: why
    type(error_t), allocatable :: error
    integer :: i
    i = WorkerSlot(worker, record, WAIT_MODEL)
    if (i > 0) then
      worker%slot(i)%dropped = .true.
      worker%slot(i)%why_dropped = trim(why)
    end if
    i = max(WorkerSlot(worker, record, HAVE_SHOT), WorkerSlot(worker, record, READY), WorkerSlot(worker, record, LOOPING))
    if (i == 0) return
    call Fail(error, trim(why))
    call ShotReport(worker, link, worker%slot(i), error)
  end subroutine DropTake

end module worker_shot_m
