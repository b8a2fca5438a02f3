!> Shots whose worker is lost, and shots that kill workers.
!>
!> All that a lost worker had is dealt again. One of its shots may have killed it. The first time all of them are suspected; a
!> suspect is dealt when nothing else is left to deal, never beside another suspect on the same worker, and never to two workers at
!> once. So if a worker dies with a suspect, that one alone is to blame. A shot that was to blame for `retries` lost workers (at
!> least two) is poison, and parked; without retries after the first.
module suspect_shots_m
  use scheduler_m, only: scheduler_t, SchedulerDealt, SchedulerGone, SchedulerLost, SchedulerPark, SchedulerTake, SchedulerUnpark
  use kinds_m, only: dp
  implicit none
  private
  public :: loss_t, DeathsTake, DeathsUndo, DeathsAdopt

  !> A shot of a lost worker, and what was done about it.
  type :: loss_t
    integer :: worker = 0, slot = 0
    logical :: blamed = .false.               !< it may have been the cause
    logical :: alone = .false.                !< no other shot may have been the cause
    logical :: parked = .false.
    logical :: known = .false.                !< it was suspected before
  end type loss_t

contains

  !> Takes back all that a worker has, and counts on it no more until it asks again. `losses`: what another worker does not have
  !> already. `innocent`: none of them is to blame.
  subroutine DeathsTake(scheduler, worker, innocent, now, losses)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: worker
    logical, intent(in) :: innocent
    real(dp), intent(in) :: now
    type(loss_t), allocatable, intent(out) :: losses(:)
    integer, allocatable :: slots(:)
    logical, allocatable :: blamed(:)
    logical :: parked, dropped
    integer :: i
    call SchedulerGone(scheduler, worker)
    slots = pack(scheduler%dealt%slot, scheduler%dealt%worker == worker)
    allocate (losses(0), blamed(size(slots)))
    blamed = scheduler%deaths(slots) > 0
    if (.not. any(blamed)) blamed = .true.
    if (innocent) blamed = .false.
    do i = 1, size(slots)
      associate (known => scheduler%deaths(slots(i)) > 0, alone => blamed(i) .and. count(blamed) == 1)
        call SchedulerLost(scheduler, worker, slots(i), .not. alone, now, parked, dropped)
        if (dropped) cycle
        losses = [losses, loss_t(worker, slots(i), blamed(i), alone, parked, known)]
      end associate
      if (blamed(i)) scheduler%deaths(slots(i)) = scheduler%deaths(slots(i)) + 1
      if (parked .or. scheduler%deaths(slots(i)) < max(2, scheduler%retries)) cycle
      call SchedulerPark(scheduler, slots(i))
      losses(size(losses))%parked = .true.
    end do
  end subroutine DeathsTake

  !> The worker was not dead: what its silence was held against its shots is forgiven. One that was parked for it, or for it and the
  !> loss of others together, is dealt again.
  subroutine DeathsUndo(scheduler, losses)
    type(scheduler_t), intent(inout) :: scheduler
    type(loss_t), intent(in) :: losses(:)
    integer :: i
    do i = 1, size(losses)
      associate (slot => losses(i)%slot)
        if (losses(i)%blamed) scheduler%deaths(slot) = max(0, scheduler%deaths(slot) - 1)
        if (losses(i)%alone) scheduler%attempts(slot) = max(0, scheduler%attempts(slot) - 1)
        if (losses(i)%parked .or. .not. IsPoison(scheduler, slot)) call SchedulerUnpark(scheduler, slot)
      end associate
    end do
  end subroutine DeathsUndo

  !> A shot was to blame for too many lost workers, or lost too often.
  pure logical function IsPoison(scheduler, slot)
    type(scheduler_t), intent(in) :: scheduler
    integer, intent(in) :: slot
    IsPoison = scheduler%deaths(slot) >= max(2, scheduler%retries) .or. scheduler%attempts(slot) > scheduler%retries
  end function IsPoison

  !> A worker that was taken for lost still works on a shot: it keeps it if the shot waits to be dealt again. Else `adopted` is
  !> false, and the worker should drop it.
  subroutine DeathsAdopt(scheduler, worker, slot, now, adopted)
    type(scheduler_t), intent(inout) :: scheduler
    integer, intent(in) :: worker, slot
    real(dp), intent(in) :: now
    logical, intent(out) :: adopted
    adopted = any(scheduler%again == slot) .and. .not. SchedulerDealt(scheduler, worker, slot)
    if (.not. adopted) return
    scheduler%again = pack(scheduler%again, scheduler%again /= slot)
    call SchedulerTake(scheduler, worker, slot, now)
  end subroutine DeathsAdopt

end module suspect_shots_m
