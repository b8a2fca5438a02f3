!> The master: deals shots, serves model windows, writes gathers, hears what is done or lost. It computes nothing.
module master_m
  use dealer_m, only: dealer_t, DealerDone, DealerDrop, DealerFlies, DealerGone, DealerHeldBack, DealerIdle, DealerLost, &
                      DealerNew, DealerNext, DealerParked, DealerPut, DealerReady
  use error_m, only: error_t
  use gather_m, only: gather_t
  use host_c, only: host_seconds, host_signal
  use kinds_m, only: dp
  use keymap_m, only: KeymapShot
  use lettercheck_m, only: LetterFault
  use letters_m, only: GatherFrom, ModelFrom, ShotLetter, SnapsFrom, VerdictLetter, WindowLetter
  use log_m, only: LogError, LogInfo, LogKeep, LogWarn
  use model_m, only: ModelShape, ModelWindow
  use protocol_m
  use shot_m, only: shot_t
  use snapshots_m, only: FioSnapshots
  use store_m, only: store_t, StoreDeal, StoreDone, StoreLost
  use prospect_m, only: prospect_t, ProspectCells, ProspectSnapshots, ProspectStopFile, ProspectSurvey
  use survey_m, only: survey_t
  use text_m, only: Str
  use watch_m, only: watch_t, WatchNew, WatchBye, WatchDeal, WatchDone, WatchLost, WatchPut, WatchReady, WatchShow, &
                     WatchSummary
  use window_m, only: window_t
  implicit none
  private
  public :: master_t, MasterNew, MasterServe, MasterFinish, MasterStatus

  real(dp), parameter :: AGAIN = 0.1_dp       !< seconds after which workers that wait are thought of again

  type, extends(listener_t) :: master_t
    type(prospect_t), pointer :: prospect => null()
    type(store_t), pointer :: store => null()   !< output file and journal
    type(dealer_t) :: dealer                    !< who gets which shot
    type(watch_t) :: watch                      !< progress and times
    integer, allocatable :: held(:)             !< ranks whose READY waits for an answer
    integer :: nworkers = 0, gone = 0           !< groups in the job; groups that said BYE
    integer, allocatable :: rank(:)             !< that speaks for a worker, (nworkers)
    real(dp) :: thought = 0                     !< when the held ones were last thought of [s]
    logical, allocatable :: going(:)            !< groups that were told to stop, or may leave before the end, (nworkers)
    logical :: stopping = .false.               !< deal no more shots
  contains
    procedure :: hear
  end type master_t

contains

  !> A master for `nworkers` groups. What is done in `store` is not dealt again.
  subroutine MasterNew(master, prospect, store, nworkers, quiet)
    type(master_t), intent(inout) :: master
    type(prospect_t), target, intent(in) :: prospect
    type(store_t), target, intent(in) :: store
    integer, intent(in) :: nworkers
    logical, intent(in) :: quiet                !< no progress and no summary
    master%prospect => prospect
    master%store => store
    master%nworkers = nworkers
    allocate (master%held(0))
    allocate (master%rank(nworkers), source=0)
    allocate (master%going(nworkers), source=.false.)
    call DealerNew(master%dealer, store%done, Costs(prospect), prospect%job%retries, nworkers)
    call WatchNew(master%watch, nworkers, prospect%keymap%n, count(store%done), prospect%job%progress, quiet)
  end subroutine MasterNew

  !> Cell updates of each shot.
  function Costs(prospect) result(cost)
    type(prospect_t), intent(in) :: prospect
    real(dp) :: cost(prospect%keymap%n)
    type(shot_t) :: shot
    type(error_t), allocatable :: error
    integer :: i
    do i = 1, prospect%keymap%n
      call KeymapShot(prospect%keymap, i, shot)
      cost(i) = ProspectCells(prospect, shot, error)*max(1, prospect%scheme%nt)
      if (allocated(error)) deallocate (error)      ! the shot is checked before; were it not, its worker would report it
    end do
  end function Costs

  !> Listens and answers until every group has said BYE.
  subroutine MasterServe(master, link)
    type(master_t), intent(inout) :: master
    type(link_t), intent(inout) :: link
    type(message_t) :: message, reply
    real(dp) :: nap
    nap = 0
    do while (master%gone < master%nworkers)
      if (Poll(link, message)) then
        nap = 0
        reply = message_t()
        call HearChecked(master, message, reply)
        if (reply%kind /= MSG_NONE) call Answer(link, message%from, reply)
        call AnswerHeld(master, link)
        call TellDrops(master, link)
      else
        if (LinkBusy(link)) nap = 0
        call Rest(nap)
        call Idle(master, link)
      end if
    end do
    call LinkFlush(link)
  end subroutine MasterServe

  !> The summary, and what became of the shots that are not done.
  subroutine MasterFinish(master)
    type(master_t), intent(in) :: master
    character(:), allocatable :: list
    integer :: slot
    call WatchSummary(master%watch)
    if (.not. master%watch%quiet) call TellHeldBack(master%dealer)
    list = ''
    do slot = 1, size(master%dealer%finished)
      if (DealerParked(master%dealer, slot)) list = list//' '//Str(master%prospect%keymap%record(slot))
    end do
    if (master%dealer%parked > 0) then
      call LogError(Str(master%dealer%parked)//' shot(s) parked, lost '//Str(master%prospect%job%retries + 1)// &
                    ' time(s) each; record'//list//'; causes stand above and in the journal; run again to try them anew')
    end if
    if (master%dealer%left > 0) call LogInfo(Str(master%dealer%left)//' shot(s) left; run the same command again to continue')
  end subroutine MasterFinish

  !> One line when ranks were held back at the end, or lost their shot to others.
  subroutine TellHeldBack(dealer)
    type(dealer_t), intent(in) :: dealer
    character(:), allocatable :: who
    integer :: gpus, cpus
    real(dp) :: seconds
    call DealerHeldBack(dealer, gpus, cpus, seconds)
    if (gpus + cpus == 0) return
    who = ''
    if (gpus > 0) who = Str(gpus)//' GPU worker(s)'
    if (gpus > 0 .and. cpus > 0) who = who//' and '
    if (cpus > 0) who = who//Str(cpus)//' CPU worker(s)'
    who = who//' got no more shots for the last '//Str(seconds, 3)//' s: faster ones finished them sooner'
    if (dealer%takeovers > 0) who = who//' ('//Str(dealer%takeovers)//' were taken over)'
    call LogInfo('  '//who)
  end subroutine TellHeldBack

  !> 0 all shots done, 2 some shots failed, 3 stopped before the end.
  integer function MasterStatus(master) result(status)
    type(master_t), intent(in) :: master
    status = 0
    if (master%dealer%parked > 0) status = 2
    if (master%dealer%left > 0) status = 3
  end function MasterStatus

  !> A message from another process is looked at before it is believed; one that cannot be is not used. Its shot, where one can be
  !> made out, is refused, so that its worker reports it lost and goes on.
  subroutine HearChecked(master, message, answer)
    class(master_t), intent(inout) :: master
    type(message_t), intent(inout) :: message, answer
    character(:), allocatable :: why
    why = LetterFault(message, master%nworkers, master%prospect%keymap%n)
    if (why == '') then
      call master%hear(message, answer)
      return
    end if
    call LogWarn('message '//Str(message%kind)//' of rank '//Str(message%from)//' is not used: '//why// &
                 '; all nodes must run the same build')
    if (all(message%kind /= [MSG_MODEL, MSG_GATHER, MSG_SNAPS])) return
    if (any(message%n(1:2) < 1 .or. message%n(1:2) > huge(1))) return
    call VerdictLetter(message%kind, int(message%n(1)), int(message%n(2)), 'the message did not arrive whole: '//why, answer)
  end subroutine HearChecked

  !> One message in, perhaps an answer out.
  subroutine hear(self, message, answer)
    class(master_t), intent(inout) :: self
    type(message_t), intent(inout) :: message, answer
    select case (message%kind)
    case (MSG_READY)
      call WatchReady(self%watch, int(message%n(1)), message%text)
      call DealerReady(self%dealer, int(message%n(1)), message%n(2) == 1, int(message%n(3)), host_seconds())
      self%rank(int(message%n(1))) = message%from
      call Deal(self, message%from, int(message%n(1)), answer)
    case (MSG_MODEL)
      call ServeModel(self, message, answer)
    case (MSG_GATHER)
      call TakeGather(self, message, answer)
    case (MSG_SNAPS)
      call TakeSnaps(self, message, answer)
    case (MSG_LOST)
      call TakeLost(self, message)
    case (MSG_PROGRESS)
      call WatchPut(self%watch, int(message%n(1)), int(message%n(2)), message%x(1))
      call DealerPut(self%dealer, int(message%n(1)), findloc(self%prospect%keymap%record, int(message%n(2)), 1), message%x(1), &
                     host_seconds())
    case (MSG_NOTE)
      call LogWarn(message%text)
    case (MSG_LEAVE)
      call LetGo(self, int(message%n(1)), answer)
    case (MSG_NONE)
      call AnswerOneHeld(self, answer)
    case (MSG_BYE)
      self%going(int(message%n(1))) = .true.
      self%gone = self%gone + 1
      call DealerGone(self%dealer, int(message%n(1)))
      call WatchBye(self%watch, int(message%n(1)), message%x(1:3))
    end select
    call Look(self)
  end subroutine hear

  !> SHOT if there is one that this worker should take, STOP if all are finished; nothing while others still work on what may come
  !> back, or finish it sooner.
  subroutine Deal(self, rank, worker, answer)
    class(master_t), intent(inout) :: self
    integer, intent(in) :: rank, worker
    type(message_t), intent(inout) :: answer
    type(shot_t) :: shot
    type(error_t), allocatable :: error
    integer :: slot, from
    slot = 0
    if (.not. (self%stopping .or. self%going(worker))) call DealerNext(self%dealer, worker, host_seconds(), slot, from)
    if (slot > 0) then
      call KeymapShot(self%prospect%keymap, slot, shot)
      call ShotLetter(shot, ProspectSnapshots(self%prospect, shot%record), answer)
      call StoreDeal(self%store, slot, self%dealer%attempts(slot) + 1, worker, self%watch%host(worker), error)
      if (allocated(error)) call Halt(self, error)
      call WatchDeal(self%watch, worker, shot%record)
      if (from > 0) call LogKeep('shot '//Str(shot%record)//' goes from worker '//Str(from)//' to worker '//Str(worker)// &
                                 ', which finishes it sooner')
    else if (self%stopping .or. self%going(worker) .or. DealerIdle(self%dealer)) then
      answer%kind = MSG_STOP
      self%going(worker) = .true.
    else
      self%held = [self%held, rank, worker]
    end if
  end subroutine Deal

  !> A shot came back, or all are done, or a worker turned out slow: those who waited get their answer.
  subroutine AnswerHeld(self, link)
    class(master_t), intent(inout) :: self
    type(link_t), intent(inout) :: link
    type(message_t) :: reply
    integer, allocatable :: held(:)
    integer :: i
    self%thought = host_seconds()
    call move_alloc(self%held, held)
    allocate (self%held(0))
    do i = 1, size(held), 2
      reply = message_t()
      call Deal(self, held(i), held(i + 1), reply)
      if (reply%kind /= MSG_NONE) call Answer(link, held(i), reply)
    end do
  end subroutine AnswerHeld

  !> The same for the listener of a single process: the one that waited longest.
  subroutine AnswerOneHeld(self, answer)
    class(master_t), intent(inout) :: self
    type(message_t), intent(inout) :: answer
    integer :: first(2)
    if (size(self%held) == 0) return
    first = self%held(:2)
    self%held = self%held(3:)
    call Deal(self, first(1), first(2), answer)
  end subroutine AnswerOneHeld

  !> Workers whose shot another one has taken over, or done, hear of it.
  subroutine TellDrops(self, link)
    class(master_t), intent(inout) :: self
    type(link_t), intent(inout) :: link
    type(message_t) :: message
    integer :: worker, slot
    do while (DealerDrop(self%dealer, worker, slot))
      message = message_t(kind=MSG_DROP)
      message%n(1:2) = [self%prospect%keymap%record(slot), slot]
      call Answer(link, self%rank(worker), message)
    end do
  end subroutine TellDrops

  !> A worker may leave before the end as long as another one stays.
  subroutine LetGo(self, worker, answer)
    class(master_t), intent(inout) :: self
    integer, intent(in) :: worker
    type(message_t), intent(inout) :: answer
    logical :: others(self%nworkers)
    others = .not. self%going
    others(worker) = .false.
    if (any(others)) then
      self%going(worker) = .true.
      call DealerGone(self%dealer, worker)
    end if
    answer%kind = MSG_LEAVE
    answer%n(1) = merge(1, 0, any(others))
  end subroutine LetGo

  !> The window of a shot, or "the same" where the worker holds it already.
  subroutine ServeModel(self, message, answer)
    class(master_t), intent(inout) :: self
    type(message_t), intent(in) :: message
    type(message_t), intent(inout) :: answer
    type(shot_t) :: shot
    type(window_t) :: window, held
    type(error_t), allocatable :: error
    integer :: record, slot
    logical :: same
    call ModelFrom(message, record, slot, held)
    call KeymapShot(self%prospect%keymap, slot, shot)
    associate (p => self%prospect, s => self%prospect%scheme)
      call ModelShape(p%model, p%job, shot, s%dx, s%dz, window, error)
      same = window%nx == held%nx .and. window%nz == held%nz .and. window%x0 == held%x0 .and. window%z0 == held%z0
      if (.not. (same .or. allocated(error))) call ModelWindow(p%model, p%job, shot, s%dx, s%dz, window, error)
    end associate
    if (allocated(error)) then
      call VerdictLetter(MSG_MODEL, record, slot, error%message, answer)
    else
      call WindowLetter(record, window, answer)
    end if
  end subroutine ServeModel

  !> A shot is done when its traces are on disk and the journal says so.
  subroutine TakeGather(self, message, answer)
    class(master_t), intent(inout) :: self
    type(message_t), intent(inout) :: message, answer
    type(gather_t) :: gather
    type(shot_t) :: shot
    type(error_t), allocatable :: error
    integer :: worker
    logical :: parked, dropped
    worker = int(message%n(12))
    call GatherFrom(message, gather)
    if (self%dealer%finished(gather%slot)) then
      call DealerDone(self%dealer, worker, gather%slot, host_seconds())
      call LogInfo('shot '//Str(gather%record)//': worker '//Str(worker)//' on '//self%watch%host(worker)// &
                   ' came late with it; its answer is not used')
      call WatchLost(self%watch, worker, gather%record)
      call VerdictLetter(MSG_GATHER, gather%record, gather%slot, '', answer)
      return
    end if
    call KeymapShot(self%prospect%keymap, gather%slot, shot)
    call StoreDone(self%store, shot, gather, self%dealer%attempts(gather%slot) + 1, worker, self%watch%host(worker), error)
    if (allocated(error)) then
      call VerdictLetter(MSG_GATHER, gather%record, gather%slot, error%message, answer)
      if (.not. self%store%broken) return     ! the gather's own fault: its worker will report it lost
      call DealerLost(self%dealer, worker, gather%slot, .true., host_seconds(), parked, dropped)
      call WatchLost(self%watch, worker, gather%record)
      call Halt(self, error)
      return
    end if
    call DealerDone(self%dealer, worker, gather%slot, host_seconds())
    call WatchDone(self%watch, worker, gather%record, gather%cells*gather%steps, gather%seconds)
    call VerdictLetter(MSG_GATHER, gather%record, gather%slot, '', answer)
  end subroutine TakeGather

  subroutine TakeSnaps(self, message, answer)
    class(master_t), intent(inout) :: self
    type(message_t), intent(inout) :: message, answer
    type(gather_t) :: gather
    type(survey_t) :: survey
    type(error_t), allocatable :: error
    call SnapsFrom(message, gather)
    call VerdictLetter(MSG_SNAPS, gather%record, gather%slot, '', answer)
    if (self%dealer%finished(gather%slot)) return           ! another worker was sooner
    call ProspectSurvey(self%prospect, '', survey)
    call FioSnapshots(self%prospect%job%output//'.snap'//Str(gather%record)//'.nc', gather, survey%attribute, error)
    if (allocated(error)) call VerdictLetter(MSG_SNAPS, gather%record, gather%slot, error%message, answer)
  end subroutine TakeSnaps

  !> A lost shot is dealt again, or parked when it was lost too often.
  subroutine TakeLost(self, message)
    class(master_t), intent(inout) :: self
    type(message_t), intent(in) :: message
    integer :: worker, slot
    logical :: parked, dropped, innocent
    character(:), allocatable :: where
    type(error_t), allocatable :: error
    worker = int(message%n(12))
    slot = int(message%n(2))
    if (.not. DealerFlies(self%dealer, worker, slot)) return    ! taken back already: the I/O server could not write it
    innocent = message%n(3) == 1                                ! the worker's GPU failed
    call WatchLost(self%watch, worker, int(message%n(1)))
    call DealerLost(self%dealer, worker, slot, innocent, host_seconds(), parked, dropped)
    if (dropped) return                                         ! another worker has it
    where = 'shot '//Str(int(message%n(1)))//' lost on '//self%watch%host(worker)//' (worker '//Str(worker)//', attempt '// &
            Str(self%dealer%attempts(slot) + merge(1, 0, innocent))//'): '//message%text
    call StoreLost(self%store, slot, parked, self%dealer%attempts(slot), worker, self%watch%host(worker), message%text, error)
    if (allocated(error)) call Halt(self, error)
    if (parked) then
      call LogError(where//'; parked after '//Str(self%dealer%attempts(slot))//' attempts')
    else
      call LogWarn(where//'; it is dealt again')
    end if
  end subroutine TakeLost

  !> Output or journal cannot be written: no more shots are dealt, what is done stays done.
  subroutine Halt(self, error)
    class(master_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    call LogError(error%message//'; no more shots are dealt, run again to resume')
    deallocate (error)
    self%stopping = .true.
  end subroutine Halt

  !> Signals, the stop file, and the progress line.
  subroutine Look(self)
    class(master_t), intent(inout) :: self
    if (.not. self%stopping) then
      if (host_signal() /= 0) then
        call LogInfo('signal '//Str(int(host_signal()))//': no more shots are dealt; those in flight finish')
        self%stopping = .true.
      else if (ProspectStopFile(self%prospect)) then
        call LogInfo('stop file found: no more shots are dealt; those in flight finish')
        self%stopping = .true.
      end if
    end if
    call WatchShow(self%watch, self%dealer%parked)
  end subroutine Look

  subroutine Idle(self, link)
    class(master_t), intent(inout) :: self
    type(link_t), intent(inout) :: link
    real(dp) :: now
    call Look(self)
    if (size(self%held) == 0) return
    now = host_seconds()
    if (self%stopping .or. now > self%thought + AGAIN) call AnswerHeld(self, link)
    call TellDrops(self, link)
  end subroutine Idle

end module master_m
