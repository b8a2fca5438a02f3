!> The master: deals shots, serves model windows, writes gathers, hears what is done or lost. It computes nothing.
module master_m
  use crew_m, only: crew_t, CrewBeat, CrewHeard, CrewLeaves, CrewNew, CrewOver, CrewOverstays, CrewPartners, CrewSilent, CrewWorker
  use dealer_m, only: dealer_t, DealerAgain, DealerDone, DealerDrop, DealerFlies, DealerGone, DealerHeldBack, DealerIdle, &
                      DealerLate, DealerLost, DealerNew, DealerNext, DealerParked, DealerPut, DealerReady
  use error_m, only: error_t
  use gather_m, only: gather_t
  use host_c, only: host_seconds, host_signal, host_terms
  use kinds_m, only: dp
  use keymap_m, only: KeymapShot
  use lease_m, only: LeaseSilence, LeaseSpan
  use lettercheck_m, only: LetterFault
  use letters_m, only: GatherFrom, GatherLetter, ModelFrom, ShotLetter, SnapsFrom, VerdictLetter, WindowLetter
  use log_m, only: LogError, LogInfo, LogKeep, LogWarn
  use losses_m, only: losses_t, LossesAdopt, LossesForgive, LossesGiveUp, LossesTake
  use model_m, only: ModelShape, ModelWindow
  use pause_m, only: pause_t, PauseBegin, PauseDue, PauseEnd, PauseKeep, PauseKept, PauseTake
  use protocol_m
  use quarantine_m, only: quarantine_t, QuarantineBad, QuarantineDone, QuarantineLosses, QuarantineLost, QuarantineNew
  use shot_m, only: shot_t
  use snapshots_m, only: FioSnapshots
  use store_m, only: store_t, StoreDeal, StoreDone, StoreLost, StorePark, StoreReopen, StoreResumed, StoreVerified, StoreVerify
  use prospect_m, only: prospect_t, ProspectCells, ProspectSnapshots, ProspectStopFile, ProspectSurvey
  use survey_m, only: survey_t
  use text_m, only: Str
  use watch_m, only: watch_t, WatchAgain, WatchNew, WatchBye, WatchDeal, WatchDone, WatchLost, WatchPut, WatchReady, WatchShow, &
                     WatchSummary
  use window_m, only: window_t
  implicit none
  private
  public :: master_t, MasterNew, MasterServe, MasterFinish, MasterStatus, MasterPart

  real(dp), parameter :: AGAIN = 0.1_dp       !< seconds after which workers that wait are thought of again
  real(dp), parameter :: READING = 0.02_dp    !< seconds at a time for what earlier runs have done
  real(dp), parameter :: PRESSED = 2.0_dp     !< a signal to end that comes so long after the first means it [s]
  real(dp), parameter :: PARTING = 10.0_dp    !< the ranks have so long to answer END [s]

  type, extends(listener_t) :: master_t
    type(prospect_t), pointer :: prospect => null()
    type(store_t), pointer :: store => null()   !< output file and journal
    type(dealer_t) :: dealer                    !< who gets which shot
    type(watch_t) :: watch                      !< progress and times
    type(crew_t) :: crew                        !< who is there
    type(losses_t) :: losses                    !< what workers had that are not
    type(quarantine_t) :: quarantine            !< nodes that lose shots
    integer, allocatable :: held(:)             !< ranks and workers whose READY waits for an answer
    integer, allocatable :: rank(:)             !< that speaks for a worker, (workers)
    real(dp) :: thought = 0                     !< when the held ones were last thought of [s]
    logical :: stopping = .false.               !< deal no more shots
    type(pause_t) :: pause                      !< while the files cannot be written
    real(dp) :: stopped = -1                    !< when that was asked for [s], -1 = it was not
    integer :: terms = 0                        !< signals to end until then
  contains
    procedure :: hear
  end type master_t

contains

  !> A master for `nworkers` groups among `ranks` ranks. What is done in `store` is not dealt again; nothing is dealt that would not
  !> be done at `deadline` [s, of host_seconds].
  subroutine MasterNew(master, prospect, store, nworkers, ranks, deadline, quiet)
    type(master_t), intent(inout) :: master
    type(prospect_t), target, intent(in) :: prospect
    type(store_t), target, intent(in) :: store
    integer, intent(in) :: nworkers, ranks
    real(dp), intent(in) :: deadline
    logical, intent(in) :: quiet                !< no progress and no summary
    master%prospect => prospect
    master%store => store
    allocate (master%held(0))
    allocate (master%rank(nworkers), source=0)
    call CrewNew(master%crew, nworkers, max(1, prospect%job%group), ranks, prospect%job%lease)
    call QuarantineNew(master%quarantine, prospect%job%quarantine)
    call DealerNew(master%dealer, store%done, Costs(prospect), prospect%job%retries, nworkers, &
                   store%journal%entry(:size(store%done))%deals > 0)
    master%dealer%deadline = deadline
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

  !> Listens and answers until every group has said BYE, or is lost.
  subroutine MasterServe(master, link)
    type(master_t), intent(inout) :: master
    type(link_t), intent(inout) :: link
    type(message_t) :: message, reply
    real(dp) :: nap
    nap = 0
    do while (.not. CrewOver(master%crew, master%stopping .or. NothingLeft(master)) .or. PauseKept(master%pause) > 0)
      call Beat(master, link)
      if (Poll(link, message)) then
        nap = 0
        reply = message_t()
        call Heard(master, message%from)
        call HearChecked(master, message, reply)
        if (reply%kind /= MSG_NONE) call Answer(link, message%from, reply)
        call AnswerHeld(master, link)
        call TellDrops(master, link)
      else
        if (LinkBusy(link) .or. Reads(master)) nap = 0
        call Rest(nap)
        call Idle(master, link)
      end if
    end do
  end subroutine MasterServe

  !> Tells all ranks that the job ends, once everything is on disk. `broken`: ranks are lost, and no rank may take part in a
  !> collective operation any more; those that are left have said then that they know, or had the time to.
  subroutine MasterPart(master, link, status, broken)
    type(master_t), intent(inout) :: master
    type(link_t), intent(inout) :: link
    integer, intent(in) :: status
    logical, intent(out) :: broken
    type(message_t) :: message
    integer, allocatable :: partners(:)
    real(dp) :: start, nap
    integer :: i, worker
    broken = any(master%crew%lost)
    if (broken) call LogInfo(Str(count(master%crew%lost))//' worker(s) are lost: the job ends without them')
    allocate (partners, source=CrewPartners(master%crew))
    do i = 1, size(partners)
      message = message_t(kind=MSG_END)
      message%n(1:2) = [status, merge(1, 0, broken)]
      call Answer(link, partners(i), message)
      worker = CrewWorker(master%crew, partners(i))
      if (worker == 0) cycle
      if (.not. master%crew%lost(worker)) cycle
      call LinkForget(link, partners(i))
      partners(i) = 0
    end do
    start = host_seconds()
    nap = 0
    do while (broken .and. any(partners > 0))
      if (host_seconds() - start > PARTING) exit
      if (Poll(link, message)) then
        where (partners == message%from .and. message%kind == MSG_END) partners = 0
      else
        call Rest(nap)
      end if
    end do
    call LinkFlush(link)
  end subroutine MasterPart

  !> The summary, and what became of the shots that are not done.
  subroutine MasterFinish(master)
    type(master_t), intent(in) :: master
    character(:), allocatable :: list
    integer :: slot
    call WatchSummary(master%watch)
    if (.not. master%watch%quiet .and. master%dealer%left == 0) call TellHeldBack(master%dealer)
    list = ''
    do slot = 1, size(master%dealer%finished)
      if (DealerParked(master%dealer, slot)) list = list//' '//Str(master%prospect%keymap%record(slot))
    end do
    if (master%dealer%parked > 0) then
      call LogError(Str(master%dealer%parked)//' shot(s) parked, lost too often (retries = '//Str(master%prospect%job%retries)// &
                    '); record'//list//'; causes stand above and in the journal; run again to try them anew')
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
    if (master%dealer%left > 0 .or. .not. StoreVerified(master%store)) status = 3
  end function MasterStatus

  !> A message from another process is looked at before it is believed; one that cannot be is not used. Its shot, where one can be
  !> made out, is refused, so that its worker reports it lost and goes on.
  subroutine HearChecked(master, message, answer)
    class(master_t), intent(inout) :: master
    type(message_t), intent(inout) :: message, answer
    character(:), allocatable :: why
    why = LetterFault(message, master%crew%n, master%prospect%keymap%n)
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
    integer :: rank
    if (self%pause%on .and. any(message%kind == [MSG_GATHER, MSG_SNAPS, MSG_LOST])) then
      call PauseKeep(self%pause, message)
      call Look(self)
      return
    end if
    select case (message%kind)
    case (MSG_READY)
      call WatchReady(self%watch, int(message%n(1)), message%text)
      call DealerReady(self%dealer, int(message%n(1)), message%n(2) == 1, int(message%n(3)), host_seconds(), &
                       message%x(1))
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
      if (message%n(2) > 0) call TakeProgress(self, message, answer)
    case (MSG_NOTE)
      if (message%n(1) == 1) call LogInfo(message%text)
      if (message%n(1) /= 1) call LogWarn(message%text)
    case (MSG_LEAVE)
      call LetGo(self, int(message%n(1)), int(message%n(2)), answer)
    case (MSG_NONE)
      call CutShort(self, answer)
      if (answer%kind == MSG_NONE .and. Reads(self)) call ReadSome(self)
      if (answer%kind == MSG_NONE) then
        if (.not. Recover(self, rank, answer)) call AnswerOneHeld(self, answer)
      end if
    case (MSG_BYE)
      self%crew%going(int(message%n(1))) = .true.
      self%crew%gone(int(message%n(1))) = .true.
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
    call Judge(self, worker)
    if (.not. (self%stopping .or. self%pause%on .or. self%crew%going(worker))) &
      call DealerNext(self%dealer, worker, host_seconds(), slot, from)
    if (slot == 0) call LookAtClock(self)
    if (slot > 0) then
      call KeymapShot(self%prospect%keymap, slot, shot)
      call ShotLetter(shot, ProspectSnapshots(self%prospect, shot%record), answer)
      call StoreDeal(self%store, slot, self%dealer%attempts(slot) + 1, worker, self%watch%host(worker), error)
      if (allocated(error)) call Trouble(self, error)
      call WatchDeal(self%watch, worker, shot%record)
      if (from > 0) call LogKeep('shot '//Str(shot%record)//' goes from worker '//Str(from)//' to worker '//Str(worker)// &
                                 ', which finishes it sooner')
    else if (self%stopping .or. self%crew%going(worker) .or. NothingLeft(self)) then
      answer%kind = MSG_STOP
      self%crew%going(worker) = .true.
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

  !> A worker may leave before the end as long as another one stays. One that got a signal has to, whoever stays.
  subroutine LetGo(self, worker, signal, answer)
    class(master_t), intent(inout) :: self
    integer, intent(in) :: worker, signal
    type(message_t), intent(inout) :: answer
    logical :: may
    integer :: i
    may = any(.not. self%crew%going .and. [(i, i=1, self%crew%n)] /= worker)
    if (signal > 0) then
      call Look(self)                           ! most often all ranks got it
      if (.not. self%stopping) call LogWarn('worker '//Str(worker)//' on '//self%watch%host(worker)//' got signal '//Str(signal)// &
                                            ': it finishes what it has and leaves')
      call CrewLeaves(self%crew, host_seconds(), worker)
      may = .true.
    end if
    if (may) then
      self%crew%going(worker) = .true.
      call DealerGone(self%dealer, worker)
    end if
    answer%kind = MSG_LEAVE
    answer%n(1) = merge(1, 0, may)
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
    call GatherFrom(message, gather, error)
    if (allocated(error)) then
      call VerdictLetter(MSG_GATHER, gather%record, gather%slot, error%message, answer)
      return
    end if
    if (self%dealer%finished(gather%slot) .and. .not. DealerParked(self%dealer, gather%slot)) then
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
      call Trouble(self, error)
      if (self%pause%on) then                 ! it is written when the files are back
        answer = message_t()
        call GatherLetter(gather, message)
        call PauseKeep(self%pause, message)
        return
      end if
      call DealerLost(self%dealer, worker, gather%slot, .true., host_seconds(), parked, dropped)
      call WatchLost(self%watch, worker, gather%record)
      return
    end if
    call DealerDone(self%dealer, worker, gather%slot, host_seconds())
    call QuarantineDone(self%quarantine, gather%slot, self%watch%host(worker))
    call WatchDone(self%watch, worker, gather%record, gather%cells*gather%steps, gather%seconds)
    call VerdictLetter(MSG_GATHER, gather%record, gather%slot, '', answer)
  end subroutine TakeGather

  subroutine TakeSnaps(self, message, answer)
    class(master_t), intent(inout) :: self
    type(message_t), intent(inout) :: message, answer
    type(gather_t) :: gather
    type(survey_t) :: survey
    type(error_t), allocatable :: error
    call SnapsFrom(message, gather, error)
    call VerdictLetter(MSG_SNAPS, gather%record, gather%slot, '', answer)
    if (allocated(error)) call VerdictLetter(MSG_SNAPS, gather%record, gather%slot, error%message, answer)
    if (allocated(error)) return
    if (self%dealer%finished(gather%slot)) return           ! another worker was sooner
    call ProspectSurvey(self%prospect, '', survey)
    call FioSnapshots(self%prospect%job%output//'.snap'//Str(gather%record)//'.nc', gather, survey%attribute, error)
    if (.not. allocated(error)) return
    call VerdictLetter(MSG_SNAPS, gather%record, gather%slot, error%message, answer)
    call Trouble(self, error)
    if (.not. self%pause%on) return
    answer = message_t()
    call PauseKeep(self%pause, message)
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
    if (.not. innocent) call QuarantineLost(self%quarantine, slot, self%watch%host(worker))
    where = 'shot '//Str(int(message%n(1)))//' lost on '//self%watch%host(worker)//' (worker '//Str(worker)//', attempt '// &
            Str(self%dealer%attempts(slot) + merge(1, 0, innocent))//'): '//message%text
    call StoreLost(self%store, slot, parked, self%dealer%attempts(slot), worker, self%watch%host(worker), message%text, error)
    if (allocated(error)) call Trouble(self, error)
    if (parked) then
      call LogError(where//'; parked after '//Str(self%dealer%attempts(slot))//' attempts')
    else
      call LogWarn(where//'; it is dealt again')
    end if
  end subroutine TakeLost

  ! --- files that cannot be written ----------------------------------------------------------------------------------

  !> Output or journal cannot be written: dealing pauses, or stops where there is nothing to wait for. What is done stays done.
  subroutine Trouble(self, error)
    class(master_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: why
    logical :: news
    why = error%message
    deallocate (error)
    if (self%stopping .or. self%store%taken .or. self%prospect%job%disk_wait <= 0) then
      call GiveUp(self, why)
      return
    end if
    call PauseBegin(self%pause, why, news)
    if (news) call LogError(why//'; dealing pauses until that is put right, for '//Str(self%prospect%job%disk_wait)// &
                            ' s at most; shots in flight go on and are kept in memory')
  end subroutine Trouble

  !> No more shots are dealt, and what waits to be written is not waited for.
  subroutine GiveUp(self, why)
    class(master_t), intent(inout) :: self
    character(*), intent(in) :: why
    if (.not. self%pause%given_up) call LogError(why//'; no more shots are dealt, run again to resume')
    self%pause%given_up = .true.
    self%pause%on = .false.
    self%stopping = .true.
  end subroutine GiveUp

  !> During a pause tries the files again now and then; after it takes up what was kept, one message each time. True if there was
  !> one: its `answer`, if any, is for `rank`.
  logical function Recover(self, rank, answer) result(took)
    class(master_t), intent(inout) :: self
    integer, intent(out) :: rank
    type(message_t), intent(inout) :: answer
    type(message_t) :: message
    type(error_t), allocatable :: error
    real(dp) :: waited
    took = .false.
    rank = 0
    if (.not. (self%pause%told .or. self%pause%given_up)) return
    if (PauseDue(self%pause) .or. (self%pause%on .and. self%stopping)) then
      call StoreReopen(self%store, error)
      self%pause%on = allocated(error)
    end if
    waited = host_seconds() - self%pause%since
    if (self%pause%on .and. (self%stopping .or. self%store%taken .or. waited > self%prospect%job%disk_wait)) &
      call GiveUp(self, self%pause%why)
    if (self%pause%on) return
    took = PauseTake(self%pause, message)
    rank = message%from
    if (took) then
      call self%hear(message, answer)
    else if (self%pause%told .and. .not. self%pause%given_up) then
      call Resume(self)
    end if
  end function Recover

  !> All that was kept is written: dealing goes on.
  subroutine Resume(self)
    class(master_t), intent(inout) :: self
    type(error_t), allocatable :: error
    real(dp) :: seconds
    integer :: slot
    call StoreResumed(self%store, host_seconds() - self%pause%since, self%pause%why, error)
    if (allocated(error)) then
      call Trouble(self, error)
      return
    end if
    do slot = 1, size(self%dealer%finished)   ! what could not be noted meanwhile
      if (DealerParked(self%dealer, slot)) call StorePark(self%store, slot, 0, '', 'parked while this could not be noted', error)
      if (.not. allocated(error)) cycle
      call Trouble(self, error)
      return
    end do
    seconds = PauseEnd(self%pause)
    call LogInfo('output and journal can be written again after '//Str(seconds, 3)//' s: dealing goes on')
  end subroutine Resume

  ! --- what earlier runs have done -----------------------------------------------------------------------------------

  !> All shots are done or parked, and those of earlier runs are known to be whole.
  logical function NothingLeft(self)
    class(master_t), intent(in) :: self
    NothingLeft = DealerIdle(self%dealer) .and. StoreVerified(self%store)
  end function NothingLeft

  !> There is something to read, and a file to read it from.
  logical function Reads(self)
    class(master_t), intent(in) :: self
    Reads = .not. (self%stopping .or. self%pause%on .or. StoreVerified(self%store))
  end function Reads

  !> Finished shots are read and compared with their checksums while there is nothing else to do; a damaged one is dealt again.
  subroutine ReadSome(self)
    class(master_t), intent(inout) :: self
    type(error_t), allocatable :: error
    integer :: slot
    call StoreVerify(self%store, READING, slot, error)
    if (slot > 0) then
      call DealerAgain(self%dealer, slot)
      call WatchAgain(self%watch)
    end if
    if (allocated(error)) call Trouble(self, error)
  end subroutine ReadSome

  !> Signals, the stop file, and the progress line.
  subroutine Look(self)
    class(master_t), intent(inout) :: self
    real(dp) :: now
    integer :: terms
    if (self%stopped < 0) then
      if (host_signal() /= 0) then
        call AskedToStop(self, 'signal '//Str(int(host_signal())))
      else if (ProspectStopFile(self%prospect)) then
        call AskedToStop(self, 'stop file found')
      end if
    else if (.not. self%crew%quick) then
      now = host_seconds()
      terms = int(host_terms())
      self%crew%quick = terms > self%terms .and. now - self%stopped > PRESSED
      if (self%crew%quick) call LogInfo('another signal to end: shots in flight are given up')
    end if
    call WatchShow(self%watch, self%dealer%parked)
  end subroutine Look

  subroutine AskedToStop(self, why)
    class(master_t), intent(inout) :: self
    character(*), intent(in) :: why
    call LogInfo(why//': no more shots are dealt; those in flight have '//Str(self%prospect%job%grace)//' s to finish')
    self%stopping = .true.
    self%stopped = host_seconds()
    self%terms = int(host_terms())
    call CrewLeaves(self%crew, self%stopped)
  end subroutine AskedToStop

  subroutine Idle(self, link)
    class(master_t), intent(inout) :: self
    type(link_t), intent(inout) :: link
    type(message_t) :: reply
    real(dp) :: now
    type(message_t) :: letter
    integer :: worker, rank
    call Look(self)
    if (Reads(self)) call ReadSome(self)
    do while (Recover(self, rank, reply))
      if (reply%kind /= MSG_NONE) call Answer(link, rank, reply)
      reply = message_t()
    end do
    do
      letter = message_t()
      call CutShort(self, letter, worker)
      if (letter%kind == MSG_NONE) exit
      call Answer(link, self%rank(worker), letter)
    end do
    call Miss(self, link)
    if (size(self%held) == 0) return
    now = host_seconds()
    if (self%stopping .or. now > self%thought + AGAIN) call AnswerHeld(self, link)
    call TellDrops(self, link)
  end subroutine Idle

  ! --- who is there --------------------------------------------------------------------------------------------------

  !> The master says now and then that it is there.
  subroutine Beat(self, link)
    type(master_t), intent(inout) :: self
    type(link_t), intent(inout) :: link
    type(message_t) :: message
    integer, allocatable :: partners(:)
    integer :: i, worker
    logical :: due
    call CrewBeat(self%crew, host_seconds(), due)
    if (.not. due) return
    allocate (partners, source=CrewPartners(self%crew))
    do i = 1, size(partners)
      worker = CrewWorker(self%crew, partners(i))
      if (worker > 0) then
        if (self%crew%lost(worker)) cycle
      end if
      message = message_t(kind=MSG_BEAT)
      call Answer(link, partners(i), message)
    end do
  end subroutine Beat

  !> A rank was heard. A worker that was taken for lost goes on where it stood: what it asked for is answered now.
  subroutine Heard(self, rank)
    type(master_t), intent(inout) :: self
    integer, intent(in) :: rank
    real(dp) :: silence
    integer :: worker, i
    logical :: back
    worker = CrewWorker(self%crew, rank)
    if (worker == 0) return
    call CrewHeard(self%crew, worker, back, silence)
    if (.not. back) return
    call LossesForgive(self%losses, self%dealer, self%watch, self%quarantine, worker, silence, LeaseSpan(self%crew%lease))
    do i = 1, self%crew%asks(worker)
      call DealerReady(self%dealer, worker, self%dealer%rates%gpu(worker), self%dealer%rates%threads(worker), host_seconds())
      self%held = [self%held, rank, worker]
    end do
    self%crew%asks(worker) = 0
  end subroutine Heard

  !> Workers that were not heard for too long, or do not go though they should, are taken for lost.
  subroutine Miss(self, link)
    type(master_t), intent(inout) :: self
    type(link_t), intent(inout) :: link
    integer :: worker
    do
      worker = CrewSilent(self%crew)
      if (worker == 0) exit
      call Lose(self, link, worker, 'was not heard of for '//Str(LeaseSilence(self%crew%lease, worker), 3)//' s', .false.)
    end do
    do
      worker = CrewOverstays(self%crew, host_seconds(), self%prospect%job%grace)
      if (worker == 0) exit
      call Lose(self, link, worker, 'did not go when it was asked to', .true.)
    end do
  end subroutine Miss

  subroutine Lose(self, link, worker, why, innocent)
    type(master_t), intent(inout) :: self
    type(link_t), intent(inout) :: link
    integer, intent(in) :: worker
    character(*), intent(in) :: why
    logical, intent(in) :: innocent
    type(error_t), allocatable :: error
    logical :: waits(size(self%held)/2)
    integer :: i
    self%crew%lost(worker) = .true.
    call LinkForget(link, (worker - 1)*self%crew%group + 1)
    waits = self%held(2::2) == worker
    self%crew%asks(worker) = count(waits)
    self%held = pack(self%held, [(.not. waits((i + 1)/2), i=1, size(self%held))])
    if (self%crew%gone(worker)) return
    call LossesTake(self%losses, self%dealer, self%store, self%watch, self%quarantine, worker, why, innocent, host_seconds(), error)
    if (allocated(error)) call Trouble(self, error)
  end subroutine Lose

  !> How far a shot is. A worker that was taken for lost may still model one that is another's now: it is told to drop it.
  subroutine TakeProgress(self, message, answer)
    class(master_t), intent(inout) :: self
    type(message_t), intent(in) :: message
    type(message_t), intent(inout) :: answer
    type(error_t), allocatable :: error
    integer :: worker, slot
    logical :: its
    worker = int(message%n(1))
    slot = findloc(self%prospect%keymap%record, int(message%n(2)), 1)
    if (slot == 0) return
    its = DealerFlies(self%dealer, worker, slot)
    if (.not. (its .or. self%stopping .or. self%crew%going(worker))) &
      call LossesAdopt(self%dealer, self%store, self%watch, worker, slot, host_seconds(), its, error)
    if (allocated(error)) call Trouble(self, error)
    if (its) then
      call WatchPut(self%watch, worker, int(message%n(2)), message%x(1))
      call DealerPut(self%dealer, worker, slot, message%x(1), host_seconds(), message%x(2))
    else
      answer%kind = MSG_DROP
      answer%n(1:2) = [self%prospect%keymap%record(slot), slot]
    end if
  end subroutine TakeProgress

  !> The next worker whose time of grace is over: its shots are taken back, and it is told to drop them, one letter a call.
  subroutine CutShort(self, answer, worker)
    class(master_t), intent(inout) :: self
    type(message_t), intent(inout) :: answer
    integer, intent(out), optional :: worker
    type(error_t), allocatable :: error
    integer :: w, i, slot
    do
      w = CrewOverstays(self%crew, host_seconds(), self%prospect%job%grace)
      if (present(worker)) worker = w
      if (w == 0) return
      if (self%crew%cut(w)) return              ! Miss sees to it
      i = findloc(self%dealer%flight%worker, w, 1)
      if (i > 0) exit
      self%crew%cut(w) = .true.
      self%crew%leaves(w) = host_seconds()
    end do
    slot = self%dealer%flight(i)%slot
    call LossesGiveUp(self%dealer, self%store, self%watch, w, slot, host_seconds(), error)
    if (allocated(error)) call Trouble(self, error)
    answer%kind = MSG_DROP
    answer%n(1:3) = [self%prospect%keymap%record(slot), slot, 1]
  end subroutine CutShort

  !> No shot is dealt that would not be done at the deadline: the rest is for the next run.
  subroutine LookAtClock(self)
    class(master_t), intent(inout) :: self
    real(dp) :: now
    now = host_seconds()
    if (self%stopping .or. .not. DealerLate(self%dealer, now)) return
    call LogInfo('no further shot would be done before the deadline, in '//Str(max(0.0_dp, self%dealer%deadline - now), 3)// &
                 ' s: no more shots are dealt')
    self%stopping = .true.
  end subroutine LookAtClock

  !> A worker on a node that loses shots again and again gets no more as long as there is a worker on another node.
  subroutine Judge(self, worker)
    class(master_t), intent(inout) :: self
    integer, intent(in) :: worker
    character(:), allocatable :: host
    integer :: w
    logical :: others
    host = self%watch%host(worker)
    if (self%crew%going(worker) .or. .not. QuarantineBad(self%quarantine, host)) return
    others = .false.
    do w = 1, self%crew%n
      if (self%crew%going(w) .or. self%crew%lost(w)) cycle
      others = others .or. .not. QuarantineBad(self%quarantine, self%watch%host(w))
    end do
    if (.not. others) return
    call LogWarn('node '//host//' is quarantined after '//Str(QuarantineLosses(self%quarantine, host))// &
                 ' losses: worker '//Str(worker)//' gets no more shots')
    self%crew%going(worker) = .true.
    call DealerGone(self%dealer, worker)
  end subroutine Judge

end module master_m
