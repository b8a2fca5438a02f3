!> What a worker has before it: its slots, what it was told, and how it speaks to the master. The files worker_*.f90 each tell one
!> part of what it does with that; worker.f90 has the story.
module worker_type_m
  use checkpoint_m, only: checkpoint_t, keeper_t
  use kinds_m, only: dp
  use protocol_m, only: link_t, message_t, MSG_BYE, MSG_NOTE, MSG_PROGRESS, Tell
  use roles_m, only: role_t
  use scheme_m, only: scheme_t
  use slot_m, only: HAVE_SHOT, WAIT_MODEL, slot_t
  use text_m, only: Str
  use master_heartbeat_m, only: job_end_t, heartbeat_t, HeartbeatLook, HeartbeatPeers
  implicit none
  private
  public :: worker_options_t, SLOTS, worker_t, WorkerSlot, WorkerBeat, WorkerNote, WorkerSay, WorkerExcuse, WorkerMaySee

  integer, parameter :: SLOTS = 64            !< of a worker, at most
  integer, parameter :: AHEAD = 4             !< windows on their way to a worker, at most

  !> What a job says of its workers.
  type :: worker_options_t
    integer :: shots_per_gpu = 0              !< 0 = as many as fill it
    integer :: shots = 0                      !< at once, wherever they are computed; 0 = one on CPU cores, shots_per_gpu on a GPU
    real(dp) :: lease = 120                   !< a silent rank is taken for lost after that [s]
    logical :: retire = .false.               !< a worker whose GPU failed leaves; else it goes on with CPU cores
    character(:), allocatable :: shape        !< of the blocks of variant=tuned; auto: it chooses
    type(checkpoint_t) :: checkpoint          !< how often the state of a shot is kept, and where
  end type worker_options_t

  type :: worker_t
    type(role_t) :: role
    type(worker_options_t) :: rules
    class(scheme_t), allocatable :: scheme
    type(slot_t), allocatable :: slot(:)
    integer :: wanted = 1                     !< slots that ask for shots
    integer :: computing = 1                  !< of them may have steps on the GPU at a time
    integer :: most = SLOTS                   !< of them, should memory be short
    logical :: gpu = .false.                  !< there is one, and it works
    real(dp) :: room = 0                      !< memory of it for this rank [bytes]
    integer :: unwritten = 0                  !< gathers sent whose fate is unknown
    integer :: serial = 0                     !< windows heard of
    real(dp) :: trial = 0                     !< cell updates a second that it expects to make, 0 = nobody knows
    logical :: told = .false.                 !< has said how far a shot is
    logical :: stopped = .false.              !< the master has no more shots
    logical :: leaving = .false.              !< asked to leave, not answered yet
    logical :: called = .false.               !< got a signal to end, and acts on it
    logical :: parting = .false.              !< has said BYE
    logical :: deserted = .false.             !< nothing is heard of the master
    logical :: ended = .false.                !< the job is over
    type(heartbeat_t) :: heartbeat
    type(message_t), allocatable :: kept(:)   !< messages that came while the group waited for one of its ranks
    type(job_end_t) :: ending
    character(:), allocatable :: device       !< what computed the latest shot on a GPU, and how
    logical :: too_large = .false.            !< a window did not fit, and that was said
    real(dp) :: compute = 0, wait = 0, io = 0 !< seconds so far
    type(keeper_t) :: keeper                  !< of states
  end type worker_t

contains

  !> The slot that has a shot record in a state, 0 if none has.
  pure integer function WorkerSlot(worker, record, state) result(i)
    type(worker_t), intent(in) :: worker
    integer, intent(in) :: record, state
    do i = size(worker%slot), 1, -1
      if (worker%slot(i)%shot%record == record .and. worker%slot(i)%state == state) return
    end do
  end function WorkerSlot

  !> A slot that was given a shot may ask for its window now. A few are on their way at a time, so that shots begin before all
  !> windows are here. Before the first one is here only one slot asks: the others may need the same, which is not sent again.
  pure logical function WorkerMaySee(worker) result(may)
    type(worker_t), intent(in) :: worker
    may = any(worker%slot%state == HAVE_SHOT) .and. &
          count(worker%slot%state == WAIT_MODEL) < merge(AHEAD, 1, any(worker%slot%window%serial > 0))
  end function WorkerMaySee

  !> A sentence for the log, if there is one; a warning unless it is `harmless`.
  subroutine WorkerNote(worker, link, text, harmless)
    type(worker_t), intent(in) :: worker
    type(link_t), intent(inout) :: link
    character(*), intent(in) :: text
    logical, intent(in), optional :: harmless
    type(message_t) :: message
    if (text == '') return
    message%kind = MSG_NOTE
    if (present(harmless)) message%n(1) = merge(1, 0, harmless)
    message%text = text
    call WorkerSay(worker, link, message)
  end subroutine WorkerNote

  !> Says now and then that this worker is here. `deserted`: the master is gone.
  subroutine WorkerBeat(worker, link, deserted)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    logical, intent(out) :: deserted
    type(message_t) :: message
    logical :: due
    deserted = .false.
    if (associated(link%listener) .or. worker%ended) return
    call HeartbeatLook(worker%heartbeat, due, deserted)
    if (deserted) return
    call HeartbeatPeers(worker%heartbeat, link)
    if (.not. due) return
    message%kind = MSG_PROGRESS
    message%n(1) = worker%role%worker_id
    call WorkerSay(worker, link, message)
  end subroutine WorkerBeat

  !> The group's rank 0 speaks for all.
  subroutine WorkerSay(worker, link, message)
    type(worker_t), intent(in) :: worker
    type(link_t), intent(inout) :: link
    type(message_t), intent(inout) :: message
    if (worker%role%group_rank == 0) call Tell(link, message)
  end subroutine WorkerSay

  !> A rank that cannot take part tells why, and that it goes.
  subroutine WorkerExcuse(role, link, why)
    type(role_t), intent(in) :: role
    type(link_t), intent(inout) :: link
    character(*), intent(in) :: why
    type(message_t) :: message
    if (role%group_rank > 0) return
    message%kind = MSG_NOTE
    message%text = 'worker '//Str(role%worker_id)//' on '//role%host//' takes no part: '//why
    call Tell(link, message)
    message = message_t(kind=MSG_BYE)
    message%n(1) = role%worker_id
    call Tell(link, message)
  end subroutine WorkerExcuse

end module worker_type_m
