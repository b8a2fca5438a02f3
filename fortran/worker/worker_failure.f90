!> Shots that are lost on a worker, and GPUs.
module worker_failure_m
  use error_m, only: error_t, Fail
  use protocol_m, only: link_t, message_t, MSG_LEAVE, MSG_LOST
  use slot_m, only: IDLE, LOOPING, MODELLED, READY, slot_t
  use text_m, only: Str
  use worker_type_m, only: worker_t, WorkerNote, WorkerSay
  implicit none
  private
  public :: ShotLost, ShotReport, WorkerLoseGpu

contains

  !> A lost shot is reported with its cause; where a GPU is to blame, it is not the shot's loss.
  subroutine ShotLost(worker, link, slot, error)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    type(slot_t), intent(inout) :: slot
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: why
    logical :: device
    integer :: i
    why = error%message
    device = error%device
    i = count(worker%slot%state == LOOPING)
    call ShotReport(worker, link, slot, error)
    call slot%solver%free()
    if (.not. device) return
    if (i > 1 .and. slot%solver%fraction() <= 0) then
      worker%most = i - 1
      worker%wanted = min(worker%wanted, worker%most)
      call WorkerNote(worker, link, 'the GPU of worker '//Str(worker%role%worker_id)//' on '//worker%role%host// &
                      ' takes no more than '//Str(worker%most)//' shot(s) at once: '//why)
    else if (worker%gpu) then
      call WorkerLoseGpu(worker, link, why)
    end if
  end subroutine ShotLost

  !> Says LOST; the slot is free.
  subroutine ShotReport(worker, link, slot, error)
    type(worker_t), intent(in) :: worker
    type(link_t), intent(inout) :: link
    type(slot_t), intent(inout) :: slot
    type(error_t), allocatable, intent(inout) :: error
    type(message_t) :: message
    message%kind = MSG_LOST
    message%n(1:3) = [slot%shot%record, slot%shot%slot, merge(1, 0, error%device)]
    message%n(12) = worker%role%worker_id
    message%text = error%message
    call WorkerSay(worker, link, message)
    slot%state = IDLE
    deallocate (error)
  end subroutine ShotReport

  !> The GPU is not used any more. What it computed is dealt again; the worker goes on with CPU cores, or asks to leave.
  subroutine WorkerLoseGpu(worker, link, why)
    type(worker_t), intent(inout) :: worker
    type(link_t), intent(inout) :: link
    character(*), intent(in) :: why
    type(message_t) :: message
    type(error_t), allocatable :: error
    integer :: i
    worker%gpu = .false.
    call WorkerNote(worker, link, 'the GPU of worker '//Str(worker%role%worker_id)//' on '//worker%role%host//' failed ('//why// &
                    '): the worker '//trim(merge('leaves the job        ', 'goes on with CPU cores', worker%rules%retire)))
    do i = 1, size(worker%slot)
      associate (slot => worker%slot(i))
        if (.not. slot%on_gpu) cycle
        slot%on_gpu = .false.
        if (slot%state /= READY .and. slot%state /= LOOPING .and. slot%state /= MODELLED) cycle
        call Fail(error, 'it was on the GPU that failed')
        error%device = .true.
        call ShotReport(worker, link, slot, error)
        call slot%solver%free()
      end associate
    end do
    worker%wanted = 1
    if (.not. worker%rules%retire) return
    worker%wanted = 0
    worker%leaving = .true.
    message%kind = MSG_LEAVE
    message%n(1) = worker%role%worker_id
    call WorkerSay(worker, link, message)
  end subroutine WorkerLoseGpu

end module worker_failure_m
