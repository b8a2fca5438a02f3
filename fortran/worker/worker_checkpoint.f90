!> States of shots, kept and taken up again (checkpoint.f90).
module worker_checkpoint_m
  use active_shot_m, only: active_shot_t, LOOPING
  use checkpoint_m, only: CheckpointerBusy, CheckpointerDrop, CheckpointerDue, CheckpointerHas, CheckpointerResume, &
                          CheckpointerSettle, CheckpointerTurn
  use error_m, only: error_t
  use group_m, only: GroupAgree, GroupListen, WISHES
  use kinds_m, only: dp
  use barrier_m, only: Rest
  use master_heartbeat_m, only: HeartbeatHeard
  use worker_type_m, only: worker_t, BEAT, WorkerBeat, WorkerFind, WorkerNote
  implicit none
  private
  public :: StateResume, StateWish, StateKeep, StateKeepLast, StateDiscard, AwaitDisk
  public :: NO_STATE, WANTED

  integer, parameter :: NO_STATE = 0, WANTED = 1, NOT_NOW = 2   !< what a rank of a group wishes: the largest decides

contains

  !> A shot that was set up goes on from a state that an earlier worker kept of it, if there is one.
  subroutine StateResume(worker, active, error)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(inout) :: active
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: said
    logical :: waits
    waits = CheckpointerHas(worker%checkpointer, active%shot%record)
    if (waits .or. worker%role%group_size > 1) call AwaitDisk(worker, error)   ! that of another shot, not in silence
    if (allocated(error)) return
    call CheckpointerResume(worker%checkpointer, active%states, active%solver, active%shot%record, said, error)
    call WorkerNote(worker, said, active%states%head > 0)
    if (active%states%head > 0) active%last_beat = active%last_beat - BEAT   ! the master learns at once where it goes on
  end subroutine StateResume

  !> The wish of this rank of a group: the first one, by its clock, that all keep a state; each, that none is kept while its part of
  !> the last one is on its way to the disk.
  integer function StateWish(worker, active) result(wish)
    type(worker_t), intent(in) :: worker
    type(active_shot_t), intent(in) :: active
    wish = NO_STATE
    if (active%state /= LOOPING) return
    if (CheckpointerBusy(worker%checkpointer)) then
      wish = NOT_NOW
    else if (worker%role%group_rank == 0) then
      if (CheckpointerDue(worker%checkpointer, active%states, active%solver)) wish = WANTED
    end if
  end function StateWish

  !> Keeps the state of a shot in its time loop now and then; a group does where it has agreed to.
  subroutine StateKeep(worker, active, error)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(inout) :: active
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: said
    if (worker%role%group_size > 1 .and. .not. worker%keeps) return
    call CheckpointerTurn(worker%checkpointer, active%states, active%solver, active%shot%record, worker%keeps, said, error, &
                          wait=.false.)
    call WorkerNote(worker, said)
  end subroutine StateKeep

  !> The job is about to end: the state of a shot in its time loop is on the disk on return, whenever the last one was kept. In a
  !> group all ranks come here, for they get the same messages.
  subroutine StateKeepLast(worker, record)
    type(worker_t), intent(inout) :: worker
    integer, intent(in) :: record
    type(error_t), allocatable :: error
    character(:), allocatable :: said, late
    integer :: i
    i = WorkerFind(worker, record, LOOPING)
    if (i == 0) return
    associate (active => worker%active(i))
      if (active%solver%fraction() <= 0) return
      said = ''
      call AwaitDisk(worker, error)
      if (.not. allocated(error)) &
        call CheckpointerTurn(worker%checkpointer, active%states, active%solver, record, .true., said, error, wait=.false.)
      call AwaitDisk(worker, error)
      late = ''
      if (.not. allocated(error)) call CheckpointerSettle(worker%checkpointer, active%states, record, late, error)
      if (worker%role%group_size > 1) call GroupAgree(worker%group, error)
      call WorkerNote(worker, said)
      call WorkerNote(worker, late)
    end associate
  end subroutine StateKeepLast

  !> Waits until a state is on the disk, however long, and sends heartbeats meanwhile; messages that come are for later. All ranks
  !> of a group come here.
  subroutine AwaitDisk(worker, error)
    type(worker_t), intent(inout) :: worker
    type(error_t), allocatable, intent(inout) :: error
    logical :: master_gone
    real(dp) :: nap
    nap = 0
    do while (Busy(worker, error))
      call Listen(worker)
      call WorkerBeat(worker, master_gone)
      call Rest(nap)
    end do
  end subroutine AwaitDisk

  !> True while a state of this rank is on its way, or one of a partner: who waited alone would be silent for the others.
  logical function Busy(worker, error)
    type(worker_t), intent(inout) :: worker
    type(error_t), allocatable, intent(inout) :: error
    integer :: wish(WISHES)
    Busy = CheckpointerBusy(worker%checkpointer)
    if (worker%role%group_size == 1 .or. allocated(error)) return
    wish = [merge(WANTED, NO_STATE, Busy), 0]
    call GroupAgree(worker%group, error, wish)
    if (.not. allocated(error)) Busy = wish(1) == WANTED
  end function Busy

  !> Takes what is here: a worker that does not hear rank 0 would give it up.
  subroutine Listen(worker)
    type(worker_t), intent(inout) :: worker
    integer :: before
    if (associated(worker%link%listener)) return
    before = 0
    if (allocated(worker%group%postponed)) before = size(worker%group%postponed)
    call GroupListen(worker%group)
    if (size(worker%group%postponed) > before) call HeartbeatHeard(worker%heartbeat)
  end subroutine Listen

  !> A shot whose time loop failed, and not by a failure of its GPU, begins anew: its states may carry what was wrong.
  subroutine StateDiscard(worker, active, error)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(in) :: active
    type(error_t), intent(in) :: error
    if (.not. error%device) call CheckpointerDrop(worker%checkpointer, active%shot%record)
  end subroutine StateDiscard

end module worker_checkpoint_m
