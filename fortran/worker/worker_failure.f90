!> Shots and GPUs that a worker loses.
module worker_failure_m
  use error_m, only: error_t, Fail
  use protocol_m, only: message_t, MSG_LEAVE, MSG_LOST
  use active_shot_m, only: IDLE, LOOPING, MODELLED, READY, active_shot_t
  use text_m, only: Str
  use worker_type_m, only: worker_t, WorkerNote, WorkerReturn, WorkerSend
  implicit none
  private
  public :: ShotLost, ShotReport, WorkerLoseGpu

contains

  !> Reports a lost shot with its cause. Where a GPU failed, the loss does not count against the shot.
  subroutine ShotLost(worker, active, error)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(inout) :: active
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: why
    logical :: device
    integer :: i
    why = error%message
    device = error%device
    i = count(worker%active%state == LOOPING)
    call ShotReport(worker, active, error)
    call active%solver%free()
    if (.not. device) return
    if (i > 1 .and. active%solver%fraction() <= 0) then
      worker%most = i - 1
      worker%wanted = min(worker%wanted, worker%most)
      call WorkerNote(worker, 'the GPU of worker '//Str(worker%role%worker_id)//' on '//worker%role%host// &
                      ' takes no more than '//Str(worker%most)//' shot(s) at once: '//why)
    else if (worker%gpu) then
      call WorkerLoseGpu(worker, why)
    end if
  end subroutine ShotLost

  !> Sends LOST; the active shot is free for another.
  subroutine ShotReport(worker, active, error)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(inout) :: active
    type(error_t), allocatable, intent(inout) :: error
    type(message_t) :: message
    message%kind = MSG_LOST
    message%n(1:3) = [active%shot%record, active%shot%slot, merge(1, 0, error%device)]
    message%n(12) = worker%role%worker_id
    message%text = error%message
    call WorkerSend(worker, message)
    call WorkerReturn(worker, active%shot%record, .false.)
    active%state = IDLE
    deallocate (error)
  end subroutine ShotReport

  !> The GPU is not used any more. Its shots are dealt again; the worker goes on with CPU cores, or asks to leave.
  subroutine WorkerLoseGpu(worker, why)
    type(worker_t), intent(inout) :: worker
    character(*), intent(in) :: why
    type(message_t) :: message
    type(error_t), allocatable :: error
    integer :: i
    worker%gpu = .false.
    call WorkerNote(worker, 'the GPU of worker '//Str(worker%role%worker_id)//' on '//worker%role%host//' failed ('//why// &
                    '): the worker '//trim(merge('leaves the job        ', 'goes on with CPU cores', worker%options%retire)))
    do i = 1, size(worker%active)
      associate (active => worker%active(i))
        if (.not. active%on_gpu) cycle
        active%on_gpu = .false.
        if (active%state /= READY .and. active%state /= LOOPING .and. active%state /= MODELLED) cycle
        call Fail(error, 'it was on the GPU that failed')
        error%device = .true.
        call ShotReport(worker, active, error)
        call active%solver%free()
      end associate
    end do
    worker%wanted = 1
    if (.not. worker%options%retire) return
    worker%wanted = 0
    worker%leaving = .true.
    message%kind = MSG_LEAVE
    message%n(1) = worker%role%worker_id
    call WorkerSend(worker, message)
  end subroutine WorkerLoseGpu

end module worker_failure_m
