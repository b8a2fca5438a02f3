!> A worker is taken for lost, or comes back: what that means for its shots, the journal, the log and its node.
module lost_workers_m
  use suspect_shots_m, only: DeathsAdopt, DeathsTake, DeathsUndo, loss_t
  use scheduler_m, only: scheduler_t, SchedulerLost
  use error_m, only: error_t
  use kinds_m, only: dp
  use log_m, only: LogError, LogInfo, LogWarn
  use quarantine_m, only: quarantine_t, QuarantineBack, QuarantineDied
  use store_m, only: store_t, StoreBack, StoreDeal, StoreLost
  use text_m, only: Str
  use progress_m, only: progress_t, ProgressDeal, ProgressLost
  implicit none
  private
  public :: losses_t, LossesNew, LossesTake, LossesForgive, LossesAdopt, LossesGiveUp

  !> The shots that were taken back from lost workers.
  type :: losses_t
    type(loss_t), allocatable :: list(:)
    integer, allocatable :: charged(:)        !< workers whose loss counts against their nodes
  end type losses_t

contains

  pure subroutine LossesNew(losses)
    type(losses_t), intent(out) :: losses
    allocate (losses%list(0), losses%charged(0))
  end subroutine LossesNew

  !> Takes back the shots of a worker that is dead, or was silent for too long: they are dealt again, or parked where they may kill
  !> workers. `innocent`: no shot is to blame, as the worker was asked to go and did not, or is not needed any more.
  subroutine LossesTake(losses, scheduler, store, progress, quarantine, worker, host, why, innocent, now, error)
    type(losses_t), intent(inout) :: losses
    type(scheduler_t), intent(inout) :: scheduler
    type(store_t), intent(inout) :: store
    type(progress_t), intent(inout) :: progress
    type(quarantine_t), intent(inout) :: quarantine
    integer, intent(in) :: worker
    character(*), intent(in) :: host          !< where it was lost
    character(*), intent(in) :: why           !< 'was not heard of for 12 s and is taken for lost'
    logical, intent(in) :: innocent
    real(dp), intent(in) :: now
    type(error_t), allocatable, intent(inout) :: error
    type(loss_t), allocatable :: new(:)
    character(:), allocatable :: list
    integer :: i
    do i = 1, size(scheduler%dealt)
      if (scheduler%dealt(i)%worker == worker) call ProgressLost(progress, worker, store%fio%record(scheduler%dealt(i)%slot))
    end do
    call DeathsTake(scheduler, worker, innocent, now, new)
    losses%list = [losses%list, new]
    list = ''
    do i = 1, size(new)
      associate (slot => new(i)%slot, record => store%fio%record(new(i)%slot))
        call StoreLost(store, slot, new(i)%parked, scheduler%attempts(slot), worker, host, &
                       'worker '//Str(worker)//' on '//host//' '//why, error)
        if (new(i)%parked) then
          call LogError('shot '//Str(record)//' may have killed '//Str(scheduler%deaths(slot))//' worker(s): it is parked')
        else
          list = list//' '//Str(record)
        end if
      end associate
    end do
    if (list /= '') list = '; dealt again: shot'//list
    call LogWarn('worker '//Str(worker)//' on '//host//' '//why//list)
    if (innocent .or. any(new%known)) return
    call QuarantineDied(quarantine, host)
    losses%charged = [losses%charged, worker]
  end subroutine LossesTake

  !> A worker that was taken for lost sends messages again.
  subroutine LossesForgive(losses, scheduler, progress, quarantine, worker, silence, lease)
    type(losses_t), intent(inout) :: losses
    type(scheduler_t), intent(inout) :: scheduler
    type(progress_t), intent(in) :: progress
    type(quarantine_t), intent(inout) :: quarantine
    integer, intent(in) :: worker
    real(dp), intent(in) :: silence, lease    !< how long it was silent; the lease from now on [s]
    call LogInfo('worker '//Str(worker)//' on '//progress%host(worker)//' is back after '//Str(silence, 3)// &
                 ' s; the lease is '//Str(lease, 3)//' s now')
    if (any(losses%charged == worker)) call QuarantineBack(quarantine, progress%host(worker))
    losses%charged = pack(losses%charged, losses%charged /= worker)
    call DeathsUndo(scheduler, pack(losses%list, losses%list%worker == worker))
    losses%list = pack(losses%list, losses%list%worker /= worker)
  end subroutine LossesForgive

  !> A worker that was taken for lost still models a shot. It keeps the shot if no other worker has it.
  subroutine LossesAdopt(scheduler, store, progress, worker, slot, now, adopted, error)
    type(scheduler_t), intent(inout) :: scheduler
    type(store_t), intent(inout) :: store
    type(progress_t), intent(inout) :: progress
    integer, intent(in) :: worker, slot
    real(dp), intent(in) :: now
    logical, intent(out) :: adopted
    type(error_t), allocatable, intent(inout) :: error
    call DeathsAdopt(scheduler, worker, slot, now, adopted)
    if (.not. adopted) return
    call ProgressDeal(progress, worker, store%fio%record(slot))
    call StoreDeal(store, slot, scheduler%attempts(slot) + 1, worker, progress%host(worker), error)
    call LogInfo('shot '//Str(store%fio%record(slot))//' stays with worker '//Str(worker)//', which still models it')
  end subroutine LossesAdopt

  !> The time of grace is over: a worker's shot is taken back, to be modelled by a later run.
  subroutine LossesGiveUp(scheduler, store, progress, worker, slot, why, now, error)
    type(scheduler_t), intent(inout) :: scheduler
    type(store_t), intent(inout) :: store
    type(progress_t), intent(inout) :: progress
    integer, intent(in) :: worker, slot
    character(*), intent(in) :: why
    real(dp), intent(in) :: now
    type(error_t), allocatable, intent(inout) :: error
    logical :: parked, dropped
    call SchedulerLost(scheduler, worker, slot, .true., now, parked, dropped)
    call ProgressLost(progress, worker, store%fio%record(slot))
    if (dropped) return
    call StoreBack(store, slot, worker, progress%host(worker), 'given up: '//why, error)
    call LogInfo('shot '//Str(store%fio%record(slot))//' is given up: '//why)
  end subroutine LossesGiveUp

end module lost_workers_m
