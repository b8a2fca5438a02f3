!> The end of a job: END to every rank, the summary, the exit status.
module master_finish_m
  use workers_m, only: WorkersByRank, WorkersPartners
  use scheduler_m, only: scheduler_t, SchedulerHeldBack, SchedulerParked
  use host_c, only: host_seconds
  use kinds_m, only: dp
  use lent_memory_m, only: BorrowerForget
  use log_m, only: LogError, LogInfo, LogKeep
  use master_type_m, only: master_t
  use peers_m, only: PeersDead, PeersLook
  use barrier_m, only: Rest
  use protocol_m, only: LinkReply, link_t, LinkFlush, LinkForget, message_t, MSG_END, LinkReceive
  use runnote_m, only: cause_workers, EndedNote
  use store_m, only: StoreVerified
  use text_m, only: Str
  use progress_m, only: ProgressSummary
  implicit none
  private
  public :: MasterEndJob, MasterFinish, MasterStatus, MasterNote

  real(dp), parameter :: PARTING = 10.0_dp    !< the ranks have so long to reply to END [s]

contains

  !> Sends END to all ranks, once everything is on disk. `broken`: ranks are lost, and no rank may take part in a collective
  !> operation any more; those that are left have replied then, or had the time to.
  subroutine MasterEndJob(master, link, status, broken)
    class(master_t), intent(inout) :: master
    type(link_t), intent(inout) :: link
    integer, intent(in) :: status
    logical, intent(out) :: broken
    type(message_t) :: message
    logical :: awaited(0:master%workers%ranks - 1)
    real(dp) :: start, nap
    integer :: rank
    call BorrowerForget(master%borrower)
    call PeersLook(master%peers, host_seconds())
    broken = master%workers%broken .or. any(master%workers%lost) .or. PeersDead(master%peers) > 0
    if (any(master%workers%lost)) call LogInfo(Str(count(master%workers%lost))//' worker(s) are lost: the job ends without them')
    awaited = .false.
    awaited(WorkersPartners(master%workers)) = .true.
    do rank = 1, master%workers%ranks - 1
      if (.not. (awaited(rank) .or. broken)) cycle     ! the first rank of a group tells the others, if none is lost
      message = message_t(kind=MSG_END)
      message%n(1:2) = [status, merge(1, 0, broken)]
      call LinkReply(link, rank, message)
      if (.not. Lost(master, rank)) cycle
      call LinkForget(link, rank)
      awaited(rank) = .false.
    end do
    start = host_seconds()
    nap = 0
    do while (broken .and. any(awaited))
      if (host_seconds() - start > PARTING) exit
      if (LinkReceive(link, message)) then
        if (message%kind == MSG_END) awaited(message%from) = .false.
      else
        call PeersLook(master%peers, host_seconds())
        do rank = 1, master%workers%ranks - 1
          if (awaited(rank)) awaited(rank) = PeersDead(master%peers, [rank]) < 0
        end do
        call Rest(nap)
      end if
    end do
    call LinkFlush(link)
  end subroutine MasterEndJob

  !> True where a rank belongs to a worker that is lost.
  logical function Lost(master, rank)
    class(master_t), intent(in) :: master
    integer, intent(in) :: rank
    integer :: worker
    worker = WorkersByRank(master%workers, rank)
    Lost = .false.
    if (worker > 0) Lost = master%workers%lost(worker)
  end function Lost

  !> The summary, and what became of the shots that are not done.
  subroutine MasterFinish(master)
    class(master_t), intent(in) :: master
    character(:), allocatable :: list
    integer :: slot
    call ProgressSummary(master%progress)
    if (.not. master%progress%quiet .and. master%scheduler%left == 0) call LogHeldBack(master%scheduler)
    if (.not. master%progress%quiet .and. master%borrower%read + master%borrower%sent > 0) &
      call LogKeep('gathers: '//Str(master%borrower%read)//' read in memory of their workers, '//Str(master%borrower%sent)// &
                   ' came as messages')
    list = ''
    do slot = 1, size(master%scheduler%finished)
      if (SchedulerParked(master%scheduler, slot)) list = list//' '//Str(master%survey%keymap%record(slot))
    end do
    if (master%scheduler%parked > 0) then
      call LogError(Str(master%scheduler%parked)//' shot(s) parked, lost too often (retries = '//Str(master%survey%job%retries)// &
                    '); record'//list//'; causes stand above and in the journal; run again to try them anew')
    end if
    if (master%store%taken) return                ! what is left is known to the other run
    if (master%scheduler%left > 0) call LogInfo(Str(master%scheduler%left)//' shot(s) left; run the same command again to continue')
  end subroutine MasterFinish

  !> One line when ranks were held back at the end, or lost their shot to others.
  subroutine LogHeldBack(scheduler)
    type(scheduler_t), intent(in) :: scheduler
    character(:), allocatable :: who
    integer :: gpus, cpus
    real(dp) :: seconds
    call SchedulerHeldBack(scheduler, gpus, cpus, seconds)
    if (gpus + cpus == 0) return
    who = ''
    if (gpus > 0) who = Str(gpus)//' GPU worker(s)'
    if (gpus > 0 .and. cpus > 0) who = who//' and '
    if (cpus > 0) who = who//Str(cpus)//' CPU worker(s)'
    who = who//' got no more shots for the last '//Str(seconds, 3)//' s: faster ones finished them sooner'
    if (scheduler%takeovers > 0) who = who//' ('//Str(scheduler%takeovers)//' were taken over)'
    call LogInfo('  '//who)
  end subroutine LogHeldBack

  !> 0 all shots done, 2 some shots failed, 3 stopped before the end.
  integer function MasterStatus(master) result(status)
    class(master_t), intent(in) :: master
    status = 0
    if (master%scheduler%parked > 0) status = 2
    if (master%scheduler%left > 0 .or. .not. StoreVerified(master%store)) status = 3
  end function MasterStatus

  !> The note of the journal on an end with that status.
  function MasterNote(master, status) result(note)
    class(master_t), intent(in) :: master
    integer, intent(in) :: status
    character(:), allocatable :: note
    if (status /= 3) then
      note = EndedNote(status, '', '')
    else if (allocated(master%cause)) then
      note = EndedNote(status, master%cause, master%why)
    else
      note = EndedNote(status, cause_workers, 'no worker was left')
    end if
  end function MasterNote

end module master_finish_m
