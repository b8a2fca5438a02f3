!> The end of a job: every rank is told, the summary, the exit status.
module master_end_m
  use crew_m, only: CrewMember, CrewPartners
  use dealer_m, only: dealer_t, DealerHeldBack, DealerParked
  use host_c, only: host_seconds
  use kinds_m, only: dp
  use log_m, only: LogError, LogInfo
  use master_desk_m, only: desk_t
  use peers_m, only: PeersDead, PeersLook
  use protocol_m, only: Answer, link_t, LinkFlush, LinkForget, message_t, MSG_END, Poll, Rest
  use runnote_m, only: cause_workers, EndedNote
  use store_m, only: StoreVerified
  use text_m, only: Str
  use watch_m, only: WatchSummary
  implicit none
  private
  public :: MasterPart, MasterFinish, MasterStatus, MasterNote

  real(dp), parameter :: PARTING = 10.0_dp    !< the ranks have so long to answer END [s]

contains

  !> Tells all ranks that the job ends, once everything is on disk. `broken`: ranks are lost, and no rank may take part in a
  !> collective operation any more; those that are left have said then that they know, or had the time to.
  subroutine MasterPart(master, link, status, broken)
    class(desk_t), intent(inout) :: master
    type(link_t), intent(inout) :: link
    integer, intent(in) :: status
    logical, intent(out) :: broken
    type(message_t) :: message
    logical :: awaited(0:master%crew%ranks - 1)
    real(dp) :: start, nap
    integer :: rank
    call PeersLook(master%peers, host_seconds())
    broken = master%crew%broken .or. any(master%crew%lost) .or. PeersDead(master%peers, 1, huge(1)) > 0
    if (any(master%crew%lost)) call LogInfo(Str(count(master%crew%lost))//' worker(s) are lost: the job ends without them')
    awaited = .false.
    awaited(CrewPartners(master%crew)) = .true.
    do rank = 1, master%crew%ranks - 1
      if (.not. (awaited(rank) .or. broken)) cycle     ! the first rank of a group tells the others, if none is lost
      message = message_t(kind=MSG_END)
      message%n(1:2) = [status, merge(1, 0, broken)]
      call Answer(link, rank, message)
      if (.not. Lost(master, rank)) cycle
      call LinkForget(link, rank)
      awaited(rank) = .false.
    end do
    start = host_seconds()
    nap = 0
    do while (broken .and. any(awaited))
      if (host_seconds() - start > PARTING) exit
      if (Poll(link, message)) then
        if (message%kind == MSG_END) awaited(message%from) = .false.
      else
        call PeersLook(master%peers, host_seconds())
        do rank = 1, master%crew%ranks - 1
          if (awaited(rank)) awaited(rank) = PeersDead(master%peers, rank, rank) < 0
        end do
        call Rest(nap)
      end if
    end do
    call LinkFlush(link)
  end subroutine MasterPart

  !> Whether a rank belongs to a worker that is lost.
  logical function Lost(master, rank)
    class(desk_t), intent(in) :: master
    integer, intent(in) :: rank
    integer :: worker
    worker = CrewMember(master%crew, rank)
    Lost = .false.
    if (worker > 0) Lost = master%crew%lost(worker)
  end function Lost

  !> The summary, and what became of the shots that are not done.
  subroutine MasterFinish(master)
    class(desk_t), intent(in) :: master
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
    class(desk_t), intent(in) :: master
    status = 0
    if (master%dealer%parked > 0) status = 2
    if (master%dealer%left > 0 .or. .not. StoreVerified(master%store)) status = 3
  end function MasterStatus

  !> What the journal is to say of the end with that status.
  function MasterNote(master, status) result(note)
    class(desk_t), intent(in) :: master
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

end module master_end_m
