!> The window of a shot on its way to a worker: each rank asks for the media of the cells that it needs, some layers at a time. When
!> all are here the shot can be set up, and it is known how many of that size the GPU takes at once.
module worker_window_m
  use active_shot_m, only: active_shot_t, ASKED, READY, WAIT_MODEL
  use error_m, only: error_t, Fail
  use group_m, only: GroupAgree, GroupShotBegins
  use host_c, only: host_nap
  use kinds_m, only: dp, i8
  use lent_memory_m, only: TrayFree, TrayNew
  use parameter_table_m, only: SplitList
  use protocol_m, only: message_t, LinkBusy, LinkSend
  use scheme_m, only: scheme_t
  use shot_messages_m, only: ModelMessage, WindowFrom
  use shots_per_gpu_m, only: ShotsAtOnce, ShotsComputing
  use text_m, only: Str
  use window_m, only: box_t, window_t, WindowAtOnce, WindowBox, WindowClip, WindowSame, WindowTray
  use worker_failure_m, only: ShotReport
  use worker_type_m, only: worker_t, WorkerNote
  implicit none
  private
  public :: ModelAsk, ModelReceive, ModelEnds, ModelAwait, WorkerScheme

  real(dp), parameter :: NAP = 1.0e-3_dp      !< between looks whether all ranks of a group have their media [s]

contains

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

  !> Gives the trays back.
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

  !> Asks for the next layers of the box, if there are more and no reply is awaited, or only one for the other tray. Once the master
  !> has used a tray, a request is for as many layers as it has room for; else for no more than a message may carry, as both sides
  !> hold the reply for a moment.
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
    character(:), allocatable :: then, much
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
    much = Str(1.0e-9_dp*need, 3)//' GB'
    if (.not. need < huge(need)) much = 'more than any amount'
    call WorkerNote(worker, 'shot '//Str(active%shot%record)//' on '//worker%role%host//' needs '//much// &
                    ' of GPU memory, there are '//Str(1.0e-9_dp*worker%gpu_memory, 3)// &
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

end module worker_window_m
