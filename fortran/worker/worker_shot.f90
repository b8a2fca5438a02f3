!> Messages about a shot, from its worker: it asks for the shot and its window, and sends progress, snapshots and gather.
module worker_shot_m
  use checkpoint_m, only: CheckpointerDrop
  use error_m, only: error_t, Fail
  use shots_per_gpu_m, only: ShotsAtOnce, ShotsComputing
  use group_m, only: GroupAgree, GroupShotBegins
  use host_c, only: host_nap, host_seconds
  use kinds_m, only: dp, i8
  use lent_memory_m, only: LenderSent, TrayFree, TrayNew
  use shot_messages_m, only: GatherMessage, ModelMessage, ShotFrom, SnapsMessage, VerdictFrom, WindowFrom
  use protocol_m, only: LinkBusy, LinkSend, message_t, MSG_GATHER, MSG_MODEL, MSG_PROGRESS, MSG_READY, MSG_REFUSED
  use scheme_m, only: scheme_t
  use active_shot_m, only: ASKED, HAVE_SHOT, IDLE, LOOPING, MODELLED, READY, WAIT_MODEL, active_shot_t, WAIT_SNAPSHOTS
  use parameter_table_m, only: SplitList
  use text_m, only: Str
  use worker_type_m, only: worker_t, WorkerKeep, WorkerNote, WorkerReturn, WorkerSend, WorkerFind
  use worker_failure_m, only: ShotReport
  use window_m, only: box_t, window_t, WindowAtOnce, WindowBox, WindowClip, WindowSame, WindowTray
  implicit none
  private
  public :: ShotAsk, ShotReceive, ModelAsk, ModelReceive, ModelEnds, ModelAwait, WorkerScheme, ProgressReport, ProgressSend, SOON
  public :: GatherSend, LogShared, LogExchanged, VerdictReceive, DropReceive

  real(dp), parameter :: NAP = 1.0e-3_dp      !< between looks whether all ranks of a group have their media [s]
  real(dp), parameter :: BEAT = 1.0_dp        !< seconds between reports of progress
  real(dp), parameter :: SOON = 0.8_dp        !< the first of a GPU comes so much sooner: CPU ranks wait until it is known [s]

contains

  !> Sends READY, where the worker wants so many shots.
  subroutine ShotAsk(worker, active, number)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(inout) :: active
    integer, intent(in) :: number
    type(message_t) :: message
    if (worker%no_more_shots .or. number > worker%wanted) return
    active%state = ASKED
    message%kind = MSG_READY
    message%n(1:3) = [worker%role%worker_id, merge(1, 0, worker%gpu), worker%scheme%threads]
    message%x(1) = worker%trial_rate
    message%text = worker%role%host
    call WorkerSend(worker, message)
  end subroutine ShotAsk

  !> Takes SHOT. A shot that comes when the worker is about to go is given back.
  subroutine ShotReceive(worker, active, message)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(inout) :: active
    type(message_t), intent(in) :: message
    type(error_t), allocatable :: error
    call ShotFrom(message, active%shot, active%outline, active%snapshots, error)
    active%dropped = .false.
    active%state = HAVE_SHOT
    if ((worker%wanted > 0 .or. worker%signalled) .and. .not. allocated(error)) return
    if (.not. allocated(error)) then
      call Fail(error, 'it came when the worker was about to leave')
      error%device = .true.
    end if
    call ShotReport(worker, active, error)
  end subroutine ShotReceive

  !> Asks for the media of the box of a shot's window that this rank needs, unless they are here: from the shot before, or from
  !> another active shot, which often has the same window.
  subroutine ModelAsk(worker, active)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(inout) :: active
    type(error_t), allocatable :: error
    class(scheme_t), allocatable :: scheme
    integer :: i
    call GroupShotBegins(worker%group)
    active%state = WAIT_MODEL
    active%here = .false.
    active%on_gpu = worker%gpu
    if (worker%gpu .and. worker%role%group_size > 1) call SetShotsAtOnce(worker, active, active%outline)
    call WorkerScheme(worker, active, scheme)
    call active%solver%box(scheme, active%outline, active%box, error)
    if (allocated(error)) then
      call ModelEnds(worker, active, error)
      return
    end if
    active%box = WindowClip(active%outline, active%box)
    i = findloc([(AtHand(active, worker%active(i)%window), i=1, size(worker%active))], .true., 1)
    if (AtHand(active, active%window)) then
      call ModelEnds(worker, active, error)
    else if (i > 0) then
      active%window = worker%active(i)%window
      call ModelEnds(worker, active, error)
    else
      active%window = active%outline
      active%layers = active%box%low(3) - 1
      active%asked = active%layers
      active%asks = 0
      active%answers = 0
      if (.not. associated(worker%link%listener)) call TraysForWindow(active)
      call ModelAskNext(worker, active)
      call ModelAskNext(worker, active)
    end if
  end subroutine ModelAsk

  !> Trays for media of the box, if these are many: both or none.
  subroutine TraysForWindow(active)
    type(active_shot_t), intent(inout) :: active
    real(dp) :: numbers
    integer :: t
    associate (b => active%box, w => active%outline)
      numbers = WindowTray(WindowSamples(w, b, b%high(3) - b%low(3) + 1), WindowSamples(w, b, 1))
      if (numbers > 0) numbers = max(numbers/size(active%tray), WindowSamples(w, b, 1))
    end associate
    if (.not. numbers > 0) return
    do t = 1, size(active%tray)
      active%trays = active%trays + 1
      call TrayNew(active%tray(t), active%trays, int(numbers, i8))
    end do
    if (.not. all(active%tray%on)) call FreeTrays(active)
  end subroutine TraysForWindow

  subroutine FreeTrays(active)
    type(active_shot_t), intent(inout) :: active
    integer :: t
    do t = 1, size(active%tray)
      call TrayFree(active%tray(t))
    end do
  end subroutine FreeTrays

  !> Numbers of so many layers of a box.
  pure real(dp) function WindowSamples(window, box, layers) result(samples)
    type(window_t), intent(in) :: window
    type(box_t), intent(in) :: box
    integer, intent(in) :: layers
    samples = product(real(box%high(:2) - box%low(:2) + 1, dp))*layers*window%parts
  end function WindowSamples

  !> A window that is here is the one that a shot needs, with the media of its box.
  pure logical function AtHand(active, window) result(same)
    type(active_shot_t), intent(in) :: active
    type(window_t), intent(in) :: window
    type(box_t) :: known
    same = window%serial > 0 .and. WindowSame(window, active%outline)
    if (.not. same) return
    known = WindowBox(window)
    same = all(known%low == active%box%low) .and. all(known%high == active%box%high)
  end function AtHand

  !> Asks for the next layers of the box, if there are more and no reply is awaited, or one for the other tray: for so many as the
  !> tray has room for, once rank 0 has put some there; else the reply is held twice for a moment, so no request is for very many.
  subroutine ModelAskNext(worker, active)
    type(worker_t), intent(in) :: worker
    type(active_shot_t), intent(inout) :: active
    type(message_t) :: message
    type(box_t) :: slab
    integer :: layers, room, t
    if (active%asks > active%answers .and. (.not. active%tray(1)%on .or. active%asked >= active%box%high(3))) return
    slab = active%box
    t = 1 + modulo(active%asks, size(active%tray))
    associate (tray => active%tray(t))
      if (active%outline%nx > 0) then
        layers = WindowAtOnce(active%outline, slab)
        if (tray%on) then
          room = int(tray%samples/WindowSamples(active%outline, slab, 1))
          layers = merge(room, min(room, layers), any(active%tray%used))
        end if
        slab%low(3) = active%asked + 1
        slab%high(3) = min(slab%high(3), active%asked + layers)
        active%asked = slab%high(3)
      else
        slab = box_t()                        ! the master could not find the window, and will say why
      end if
      if (tray%on) then
        call ModelMessage(active%shot, slab, message, tray%number, tray%name, tray%bytes)
      else
        call ModelMessage(active%shot, slab, message)
      end if
    end associate
    active%asks = active%asks + 1
    call LinkSend(worker%link, message)
  end subroutine ModelAskNext

  !> Takes MODEL.
  subroutine ModelReceive(worker, active, message)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(inout) :: active
    type(message_t), intent(in) :: message
    type(error_t), allocatable :: error
    logical :: next
    call WindowFrom(message, active%box, worker%scheme%threads, active%window, active%layers, next, error)
    if (.not. (next .or. allocated(error))) return
    active%answers = active%answers + 1
    if (.not. allocated(error) .and. active%layers < active%box%high(3)) then
      if (active%asked < active%box%high(3)) call ModelAskNext(worker, active)
      return
    end if
    worker%serial = worker%serial + 1
    active%window%serial = worker%serial
    call ModelEnds(worker, active, error)
  end subroutine ModelReceive

  !> The media that this rank asked for are here, or `error` says why not.
  subroutine ModelEnds(worker, active, error)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(inout) :: active
    type(error_t), allocatable, intent(inout) :: error
    call FreeTrays(active)
    if (allocated(error)) active%window = window_t()
    call move_alloc(error, active%trouble)
    active%here = .true.
    if (worker%role%group_size == 1) call ModelReady(worker, active)
  end subroutine ModelEnds

  !> Looks whether the media of all ranks of the group are there: no rank goes on before. Each asks for its own, and the master's
  !> other messages come to the first rank meanwhile.
  subroutine ModelAwait(worker, active)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(inout) :: active
    type(error_t), allocatable :: error
    real(dp) :: missing(1)
    missing = merge(0, 1, active%here)
    call worker%group%largest(missing, error)
    if (allocated(error)) then
      call move_alloc(error, active%trouble)
    else if (missing(1) > 0) then
      if (.not. LinkBusy(worker%link)) call host_nap(NAP)
      return
    end if
    call GroupAgree(worker%group, active%trouble)
    if (.not. worker%group%broken) call ModelReady(worker, active)
  end subroutine ModelAwait

  !> The shot can be set up, or is reported lost. The number of windows of that size that the GPU takes decides how many shots the
  !> worker wants.
  subroutine ModelReady(worker, active)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(inout) :: active
    type(error_t), allocatable :: error
    call move_alloc(active%trouble, error)
    active%state = READY
    active%waits = .false.
    if (active%dropped .or. allocated(error)) then
      if (active%dropped .and. .not. allocated(error)) call Fail(error, active%why_dropped)
      call ShotReport(worker, active, error)
      return
    end if
    active%on_gpu = worker%gpu
    if (worker%role%group_size > 1) return    ! shots at once were set as the box was asked for
    if (worker%gpu) call SetShotsAtOnce(worker, active, active%window)
  end subroutine ModelReady

  !> Sets the number of shots at once; a window that is too large for the GPU is computed on CPU cores, unless by a group, which has
  !> GPUs or none: it tries, as what is needed is counted with a margin.
  subroutine SetShotsAtOnce(worker, active, window)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(inout) :: active
    type(window_t), intent(in) :: window      !< its media may not be here yet
    class(scheme_t), allocatable :: scheme
    character(:), allocatable :: then
    real(dp) :: cells, need
    integer :: shots
    call WorkerScheme(worker, active, scheme)
    cells = scheme%cells(window)
    need = active%solver%need(scheme, window, size(active%shot%rx)*size(SplitList(scheme%components)))
    shots = ShotsAtOnce(worker%options%shots_per_gpu, cells, need, worker%gpu_memory)
    active%on_gpu = shots > 0 .or. worker%role%group_size > 1
    if (worker%options%shots == 0 .and. worker%wanted > 0) worker%wanted = min(max(1, shots), worker%most)   ! a group has one
    worker%computing = ShotsComputing(worker%options%shots_per_gpu, scheme%gpu_busy(), cells, max(1, min(shots, worker%most)))
    if (shots > 0 .or. worker%too_large) return
    worker%too_large = .true.
    then = 'it is computed on CPU cores, as are others of that size'
    if (active%on_gpu) then = 'that may be too little; a larger group has smaller pieces'
    call WorkerNote(worker, 'shot '//Str(active%shot%record)//' on '//worker%role%host//' needs '//Str(1.0e-9_dp*need, 3)// &
                    ' GB of GPU memory, there are '//Str(1.0e-9_dp*worker%gpu_memory, 3)// &
                    ' GB: '//then)
  end subroutine SetShotsAtOnce

  !> The scheme of one shot: its variant, how many shots share the GPU, and snapshots only where they are wanted.
  subroutine WorkerScheme(worker, active, scheme)
    type(worker_t), intent(in) :: worker
    type(active_shot_t), intent(in) :: active
    class(scheme_t), allocatable, intent(out) :: scheme
    allocate (scheme, source=worker%scheme)
    scheme%variant = active%solver%choose(worker%scheme%variant, active%on_gpu)
    scheme%share = merge(worker%computing*worker%role%gpu_users, 0, active%on_gpu)
    scheme%gpu_room = worker%gpu_memory
    if (.not. active%snapshots) call scheme%no_pictures()
  end subroutine WorkerScheme

  !> Sends the progress of a shot when it is time for that.
  subroutine ProgressReport(worker, active)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(inout) :: active
    if (host_seconds() - active%last_beat < BEAT) return
    active%last_beat = host_seconds()
    worker%reported = .true.
    call ProgressSend(worker, active, .false.)
  end subroutine ProgressReport

  !> Sends the progress of a shot. `waits`: it does, until other shots of this worker have done their steps.
  subroutine ProgressSend(worker, active, waits)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(in) :: active
    logical, intent(in) :: waits
    type(message_t) :: message
    message%kind = MSG_PROGRESS
    message%n(1:3) = [worker%role%worker_id, active%shot%record, merge(1, 0, waits)]
    message%x(1:2) = [active%solver%fraction(), active%states%head]
    call WorkerSend(worker, message)
  end subroutine ProgressSend

  !> Sends the gather, after the snapshots if there are any; the next shot is asked for before it is on disk.
  subroutine GatherSend(worker, active)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(inout) :: active
    type(message_t) :: message
    active%gather%record = active%shot%record
    active%gather%slot = active%shot%slot
    if (active%on_gpu) call LogDevice(worker, active)
    active%gather%device = trim(worker%role%processor)
    if (active%on_gpu) active%gather%device = worker%role%gpu_name
    if (active%gather%nsnap > 0 .and. active%state == MODELLED) then
      active%state = WAIT_SNAPSHOTS
      call SnapsMessage(active%gather, message)
    else
      active%state = IDLE
      worker%unwritten = worker%unwritten + 1
      call LenderSent(worker%lender, active%gather%sealed%memory)
      call GatherMessage(active%gather, message)
    end if
    message%n(12) = worker%role%worker_id
    call WorkerSend(worker, message)
  end subroutine GatherSend

  !> The log says once how a GPU computes, where that is more than its name, and again when it changes.
  subroutine LogDevice(worker, active)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(in) :: active
    character(:), allocatable :: text
    if (.not. allocated(active%gather%device)) return
    if (active%gather%device == worker%role%gpu_name) return
    text = active%gather%variant//' on '//active%gather%device
    if (allocated(worker%device)) then
      if (worker%device == text) return
    end if
    worker%device = text
    call WorkerNote(worker, 'worker '//Str(worker%role%worker_id)//': '//Str(nint(active%gather%cells*1.0e-6_dp))// &
                    ' million cells by '//text, .true.)
  end subroutine LogDevice

  !> The log says once how the ranks of a group share a shot, and again when that changes.
  subroutine LogShared(worker, active, error)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(inout) :: active
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: words, ways_found
    words = active%solver%shared_out()
    if (words == '') return
    call active%solver%ways_found(ways_found, error)
    if (allocated(error)) return
    associate (ways => worker%group%ways)
      if (ways(1) > 0) words = words//'; '//Str(ways(1))//' sides through shared memory'
      if (ways(2) > 0) words = words//'; '//Str(ways(2))//' sides by messages'
    end associate
    if (allocated(worker%shared_out)) then
      if (worker%shared_out == words) return
    end if
    worker%shared_out = words
    call WorkerNote(worker, 'worker '//Str(worker%role%worker_id)//', '//Str(worker%role%group_size)//' ranks: shots cut '// &
                    words, .true.)
    call WorkerKeep(worker, 'worker '//Str(worker%role%worker_id)//', ways:', ways_found)
  end subroutine LogShared

  !> Notes the traffic between the ranks of a group during a shot in the log file.
  subroutine LogExchanged(worker, active, error)
    type(worker_t), intent(in) :: worker
    type(active_shot_t), intent(inout) :: active
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: words
    if (worker%role%group_size == 1 .or. allocated(error)) return
    call active%solver%exchanged(words, error)
    if (allocated(error)) return
    call WorkerKeep(worker, 'shot record '//Str(active%shot%record)//', worker '//Str(worker%role%worker_id)//' exchanged:', words)
  end subroutine LogExchanged

  !> Takes WRITTEN or REFUSED: an answer to snapshots, gather, or the request for a window.
  subroutine VerdictReceive(worker, message)
    type(worker_t), intent(inout) :: worker
    type(message_t), intent(in) :: message
    type(error_t), allocatable :: error
    type(active_shot_t) :: sent
    integer :: kind, record, i
    call VerdictFrom(message, kind, record, sent%shot%slot)
    sent%shot%record = record
    if (message%kind == MSG_REFUSED) then
      if (kind == MSG_MODEL) call Fail(error, 'no model window: '//message%text)
      call Fail(error, 'the I/O server could not write: '//message%text)
    end if
    if (kind == MSG_GATHER) then
      worker%unwritten = worker%unwritten - 1
      call WorkerReturn(worker, record, .true.)
      if (.not. allocated(error)) call CheckpointerDrop(worker%checkpointer, record)
      if (allocated(error)) call ShotReport(worker, sent, error)
      return
    end if
    i = WorkerFind(worker, record, merge(WAIT_MODEL, WAIT_SNAPSHOTS, kind == MSG_MODEL))
    if (i == 0) return
    if (kind == MSG_MODEL) then
      call ModelEnds(worker, worker%active(i), error)
    else if (allocated(error)) then
      call ShotReport(worker, worker%active(i), error)
    else
      call GatherSend(worker, worker%active(i))
    end if
  end subroutine VerdictReceive

  !> Takes DROP: another worker has the shot, or has finished it, and the rest of it is not computed here.
  subroutine DropReceive(worker, record, why)
    type(worker_t), intent(inout) :: worker
    integer, intent(in) :: record
    character(*), intent(in) :: why
    type(error_t), allocatable :: error
    integer :: i
    i = WorkerFind(worker, record, WAIT_MODEL)
    if (i > 0) then
      worker%active(i)%dropped = .true.
      worker%active(i)%why_dropped = trim(why)
    end if
    i = max(WorkerFind(worker, record, HAVE_SHOT), WorkerFind(worker, record, READY), WorkerFind(worker, record, LOOPING))
    if (i == 0) return
    call Fail(error, trim(why))
    call ShotReport(worker, worker%active(i), error)
  end subroutine DropReceive

end module worker_shot_m
