!> Lines for the log on how a worker computes its shots: on what device, cut into what pieces, with how much traffic between ranks.
module worker_log_m
  use active_shot_m, only: active_shot_t
  use error_m, only: error_t
  use kinds_m, only: dp
  use text_m, only: Str
  use worker_type_m, only: worker_t, WorkerKeep, WorkerNote
  implicit none
  private
  public :: LogDevice, LogShared, LogExchanged

contains

  !> The log says once how a GPU computes, where that is more than its name, and again when it changes.
  subroutine LogDevice(worker, active)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(in) :: active
    character(:), allocatable :: text
    if (.not. allocated(active%gather%device)) return
    if (active%gather%device == worker%role%gpu_name) return
    text = active%gather%variant//' on '//active%gather%device
    if (allocated(worker%device)) then
      if (worker%device == text) return
    end if
    worker%device = text
    call WorkerNote(worker, 'worker '//Str(worker%role%worker_id)//': '//Str(active%gather%cells*1.0e-6_dp, 3)// &
                    ' million cells by '//text, .true.)
  end subroutine LogDevice

  !> The log says once how the ranks of a group share a shot, and again when that changes.
  subroutine LogShared(worker, active, error)
    type(worker_t), intent(inout) :: worker
    type(active_shot_t), intent(inout) :: active
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: words, ways_found
    words = active%solver%shared_out()
    if (words == '') return
    call active%solver%ways_found(ways_found, error)
    if (allocated(error)) return
    associate (ways => worker%group%ways)
      if (ways(1) > 0) words = words//'; '//Str(ways(1))//' sides through shared memory'
      if (ways(2) > 0) words = words//'; '//Str(ways(2))//' sides by messages'
    end associate
    if (allocated(worker%shared_out)) then
      if (worker%shared_out == words) return
    end if
    worker%shared_out = words
    call WorkerNote(worker, 'worker '//Str(worker%role%worker_id)//', '//Str(worker%role%group_size)//' ranks: shots cut '// &
                    words, .true.)
    call WorkerKeep(worker, 'worker '//Str(worker%role%worker_id)//', ways:', ways_found)
  end subroutine LogShared

  !> Notes the traffic between the ranks of a group during a shot in the log file.
  subroutine LogExchanged(worker, active, error)
    type(worker_t), intent(in) :: worker
    type(active_shot_t), intent(inout) :: active
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: words
    if (worker%role%group_size == 1 .or. allocated(error)) return
    call active%solver%exchanged(words, error)
    if (allocated(error)) return
    call WorkerKeep(worker, 'shot record '//Str(active%shot%record)//', worker '//Str(worker%role%worker_id)//' exchanged:', words)
  end subroutine LogExchanged

end module worker_log_m
