!> The life of workers: heartbeats both ways, workers that are lost, back, or on a node that loses shots.
module master_workers_m
  use workers_m, only: WorkersBeat, WorkersByRank, WorkersBySpeaker, WorkersDied, WorkersEnded, WorkersHeard, WorkersMissed, &
                       WorkersOverstays, WorkersPartners, WorkersRanks, WorkersSilent
  use scheduler_m, only: SchedulerDealt, SchedulerGone, SchedulerHas, SchedulerWaits, SchedulerPut, SchedulerReady, SchedulerTakes
  use error_m, only: error_t
  use host_c, only: host_seconds
  use keymap_m, only: KeymapFind
  use kinds_m, only: dp
  use lease_m, only: LeaseSilence, LeaseSpan
  use log_m, only: LogWarn
  use lost_workers_m, only: LossesAdopt, LossesForgive, LossesTake
  use master_type_m, only: master_t
  use master_output_m, only: MasterNothingLeft, MasterOutputFails
  use peers_m, only: PeersEnded, PeersLook
  use protocol_m, only: LinkReply, link_t, LinkAwaits, LinkDead, LinkForget, message_t, MSG_BEAT, MSG_DROP, MSG_END
  use quarantine_m, only: QuarantineBad, QuarantineLosses
  use text_m, only: Str
  use progress_m, only: ProgressPut
  implicit none
  private
  public :: MasterBeat, MasterHeard, MasterFindLost, MasterReceiveProgress, MasterQuarantine

contains

  !> Sends the master's heartbeat when it is time for one.
  subroutine MasterBeat(self, link)
    class(master_t), intent(inout) :: self
    type(link_t), intent(inout) :: link
    type(message_t) :: message
    integer, allocatable :: partners(:)
    integer :: i, worker
    logical :: due
    call WorkersBeat(self%workers, host_seconds(), due)
    if (.not. due) return
    allocate (partners, source=WorkersPartners(self%workers))
    do i = 1, size(partners)
      worker = WorkersBySpeaker(self%workers, partners(i))
      if (worker > 0) then
        if (self%workers%lost(worker)) cycle
      end if
      message = message_t(kind=MSG_BEAT)
      call LinkReply(link, partners(i), message)
    end do
  end subroutine MasterBeat

  !> A message of a rank came. A worker that was taken for lost goes on: its READYs wait for a reply again.
  subroutine MasterHeard(self, rank)
    class(master_t), intent(inout) :: self
    integer, intent(in) :: rank
    real(dp) :: silence
    integer :: worker, i
    logical :: back
    worker = WorkersBySpeaker(self%workers, rank)
    if (worker == 0) return
    call WorkersHeard(self%workers, worker, back, silence)
    if (.not. back .or. self%workers%gone(worker)) return
    call LossesForgive(self%losses, self%scheduler, self%progress, self%quarantine, worker, silence, &
                       LeaseSpan(self%workers%lease, worker, SchedulerTakes(self%scheduler, worker)))
    do i = 1, self%workers%unanswered(worker)
      call SchedulerReady(self%scheduler, worker, self%scheduler%rates%gpu(worker), self%scheduler%rates%threads(worker), &
                          host_seconds())
      self%waiting = [self%waiting, rank, worker]
    end do
    self%workers%unanswered(worker) = 0
  end subroutine MasterHeard

  !> Workers that are dead, were not heard for too long, or do not go though they should, are taken for lost. One whose process was
  !> seen to have ended is not silent but dead: the next look says so.
  subroutine MasterFindLost(self, link)
    class(master_t), intent(inout) :: self
    type(link_t), intent(inout) :: link
    integer :: worker
    logical :: idle
    call FindDead(self, link)
    worker = 0
    do
      worker = WorkersSilent(self%workers, worker)
      if (worker == 0) exit
      if (PeersEnded(self%peers, WorkersRanks(self%workers, worker))) cycle
      idle = NotNeeded(self, worker)
      if (WorkersMissed(self%workers, worker, ShotSeconds(self, link, worker), idle)) &
        call Lose(self, link, worker, 'was not heard of for '//Str(LeaseSilence(self%workers%lease, worker), 3)// &
                  ' s and is taken for lost', idle)
    end do
    do
      worker = WorkersOverstays(self%workers, host_seconds(), self%grace)
      if (worker == 0) exit
      call Lose(self, link, worker, 'did not go when it was asked to and is taken for lost', .true.)
    end do
  end subroutine MasterFindLost

  !> Finds ranks whose process has ended. One of them ends its worker, whose other ranks get END. After a signal to end it may be
  !> the launcher that kills them: no shot is to blame.
  subroutine FindDead(self, link)
    class(master_t), intent(inout) :: self
    type(link_t), intent(inout) :: link
    type(message_t) :: message
    integer, allocatable :: ranks(:)
    integer :: rank, worker, i
    call PeersLook(self%peers, host_seconds())
    do i = 1, size(self%peers%rank)
      if (self%peers%dead(i)) call WorkersEnded(self%workers, self%peers%rank(i), self%peers%pid(i))
    end do
    do
      call WorkersDied(self%workers, rank)
      if (rank == 0) exit
      call LinkDead(link, rank)
      worker = WorkersByRank(self%workers, rank)
      if (worker == 0) call LogWarn('rank '//Str(rank)//', which models no shots, is dead: its process '// &
                                    Str(self%workers%pid(rank))//' has ended')
      if (worker == 0) cycle
      if (.not. self%workers%lost(worker)) &
        call Lose(self, link, worker, 'is dead: process '//Str(self%workers%pid(rank))//' of rank '//Str(rank)//' has ended', &
                  self%stopped >= 0, rank)
      ranks = WorkersRanks(self%workers, worker)
      do i = 1, size(ranks)
        message = message_t(kind=MSG_END)
        message%n(1:2) = [3, 1]
        call LinkReply(link, ranks(i), message)
        call LinkForget(link, ranks(i))
      end do
    end do
  end subroutine FindDead

  !> A worker is not waited for: all is done, or nothing is dealt any more, and it has no shot that others have not done.
  logical function NotNeeded(self, worker)
    class(master_t), intent(in) :: self
    integer, intent(in) :: worker
    NotNeeded = (self%stopping .or. MasterNothingLeft(self)) .and. self%rank(worker) > 0 .and. &
               .not. SchedulerHas(self%scheduler, worker)
  end function NotNeeded

  !> The time that a worker's shots should take it [s], for LeaseSpan: huge() if its rate is not known, or a message of it is on its
  !> way.
  real(dp) function ShotSeconds(self, link, worker) result(seconds)
    class(master_t), intent(in) :: self
    type(link_t), intent(in) :: link
    integer, intent(in) :: worker
    seconds = SchedulerTakes(self%scheduler, worker)
    if (LinkAwaits(link, self%rank(worker))) seconds = huge(seconds)
  end function ShotSeconds

  subroutine Lose(self, link, worker, why, innocent, dead)
    class(master_t), intent(inout) :: self
    type(link_t), intent(inout) :: link
    integer, intent(in) :: worker
    character(*), intent(in) :: why
    logical, intent(in) :: innocent
    integer, intent(in), optional :: dead     !< the rank to blame, where it is known: a group may be on several nodes
    type(error_t), allocatable :: error
    character(:), allocatable :: host
    logical :: waits(size(self%waiting)/2)
    integer :: i
    self%workers%lost(worker) = .true.
    do i = 1, self%workers%ranks - 1
      if (self%workers%worker(i) == worker) call LinkForget(link, i)
    end do
    waits = self%waiting(2::2) == worker
    self%workers%unanswered(worker) = count(waits)
    self%waiting = pack(self%waiting, [(.not. waits((i + 1)/2), i=1, size(self%waiting))])
    if (self%workers%gone(worker)) return
    host = self%progress%host(worker)
    if (present(dead) .and. allocated(self%hosts)) host = trim(self%hosts(dead + 1))
    call LossesTake(self%losses, self%scheduler, self%store, self%progress, self%quarantine, worker, host, why, innocent, &
                    host_seconds(), error)
    if (allocated(error)) call MasterOutputFails(self, error)
  end subroutine Lose

  !> Takes PROGRESS. A worker that was taken for lost may still model a shot that another one has now: it gets DROP.
  subroutine MasterReceiveProgress(self, message, reply)
    class(master_t), intent(inout) :: self
    type(message_t), intent(in) :: message
    type(message_t), intent(inout) :: reply
    type(error_t), allocatable :: error
    integer :: worker, slot
    logical :: its
    worker = int(message%n(1))
    slot = KeymapFind(self%survey%keymap, int(message%n(2)))
    if (slot == 0) return
    its = SchedulerDealt(self%scheduler, worker, slot)
    if (.not. (its .or. self%stopping .or. self%workers%going(worker))) &
      call LossesAdopt(self%scheduler, self%store, self%progress, worker, slot, host_seconds(), its, error)
    if (allocated(error)) call MasterOutputFails(self, error)
    if (its) then
      call ProgressPut(self%progress, worker, int(message%n(2)), message%x(1))
      call SchedulerWaits(self%scheduler, worker, slot, message%n(3) == 1, host_seconds())
      call SchedulerPut(self%scheduler, worker, slot, message%x(1), host_seconds(), message%x(2))
    else
      reply%kind = MSG_DROP
      reply%n(1:2) = [self%survey%keymap%record(slot), slot]
    end if
  end subroutine MasterReceiveProgress

  !> A worker on a node that loses shots again and again gets no more as long as there is a worker on another node.
  subroutine MasterQuarantine(self, worker)
    class(master_t), intent(inout) :: self
    integer, intent(in) :: worker
    character(:), allocatable :: host
    integer :: w
    logical :: others
    host = self%progress%host(worker)
    if (self%workers%going(worker) .or. .not. QuarantineBad(self%quarantine, host)) return
    others = .false.
    do w = 1, self%workers%n
      if (self%workers%going(w) .or. self%workers%lost(w)) cycle
      others = others .or. .not. QuarantineBad(self%quarantine, self%progress%host(w))
    end do
    if (.not. others) return
    call LogWarn('node '//host//' is quarantined after '//Str(QuarantineLosses(self%quarantine, host))// &
                 ' losses: worker '//Str(worker)//' gets no more shots')
    self%workers%going(worker) = .true.
    call SchedulerGone(self%scheduler, worker)
  end subroutine MasterQuarantine

end module master_workers_m
