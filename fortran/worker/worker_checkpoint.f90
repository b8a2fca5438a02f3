!> States of shots, kept and taken up again (checkpoint.f90).
module worker_checkpoint_m
  use checkpoint_m, only: KeeperBegin, KeeperBusy, KeeperDrop, KeeperLand, KeeperTurn
  use error_m, only: error_t
  use kinds_m, only: dp
  use protocol_m, only: link_t, Rest
  use slot_m, only: LOOPING, slot_t
  use worker_type_m, only: worker_t, WorkerBeat, WorkerNote, WorkerSlot
  implicit none
  private
  public :: StateResume, StateKeep, StateKeepLast, StateDistrust

  real(dp), parameter :: BEAT = 1.0_dp        !< seconds between reports how far a shot is

contains

  !> A shot that was set up goes on from a state that an earlier worker kept of it, if there is one.
  subroutine StateResume(worker, link, slot, error)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(slot_t), intent(inout) :: slot
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: said
    call KeeperBegin(worker%keeper, slot%trail, slot%solver, slot%shot%record, said, error)
    call WorkerNote(worker, link, said, slot%trail%head > 0)
    if (slot%trail%head > 0) slot%last_beat = slot%last_beat - BEAT   ! the master hears at once that the rest was done elsewhere
  end subroutine StateResume

  !> Keeps the state of a shot in its time loop now and then.
  subroutine StateKeep(worker, link, slot, error)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(slot_t), intent(inout) :: slot
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: said
    call KeeperTurn(worker%keeper, slot%trail, slot%solver, slot%shot%record, .false., said, error)
    call WorkerNote(worker, link, said)
  end subroutine StateKeep

  !> The job is about to end: the state of a shot in its time loop is on the disk on return, whenever the last one was kept.
  subroutine StateKeepLast(worker, link, record)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    integer, intent(in) :: record
    type(error_t), allocatable :: ignored
    character(:), allocatable :: said
    integer :: i
    i = WorkerSlot(worker, record, LOOPING)
    if (i == 0) return
    associate (slot => worker%slot(i))
      if (slot%solver%fraction() <= 0) return
      call AwaitDisk(worker, link)
      call KeeperTurn(worker%keeper, slot%trail, slot%solver, record, .true., said, ignored, wait=.false.)
      call AwaitDisk(worker, link)
      call KeeperLand(worker%keeper, said)
      call WorkerNote(worker, link, said)
    end associate
  end subroutine StateKeepLast

  !> Waits until a state is on the disk, and says meanwhile that this worker is here.
  subroutine AwaitDisk(worker, link)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    logical :: deserted
    real(dp) :: nap
    nap = 0
    do while (KeeperBusy(worker%keeper))
      call WorkerBeat(worker, link, deserted)
      call Rest(nap)
    end do
  end subroutine AwaitDisk

  !> A shot whose time loop failed, and not by a fault of its GPU, begins anew: its states may carry the fault.
  subroutine StateDistrust(worker, slot, error)
    type(worker_t), intent(inout) :: worker
    type(slot_t), intent(in) :: slot
    type(error_t), intent(in) :: error
    if (.not. error%device) call KeeperDrop(worker%keeper, slot%shot%record)
  end subroutine StateDistrust

end module worker_checkpoint_m
