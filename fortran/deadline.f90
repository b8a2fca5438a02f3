!> When a job must have ended: as asked for, or as Slurm says.
module deadline_m
  use dealer_m, only: FOREVER
  use files_m, only: ClockSeconds
  use host_c, only: host_seconds
  use kinds_m, only: dp
  use log_m, only: LogInfo
  use text_m, only: ToReal
  use watch_m, only: Clock
  implicit none
  private
  public :: DeadlineFind

  real(dp), parameter :: RESERVE = 30.0_dp      !< kept for writing, closing files and ending, at most [s]
  real(dp), parameter :: PART = 0.02_dp         !< and at most this part of what is left

contains

  !> The last moment at which a shot may be done, by host_seconds; FOREVER if there is none. `asked`: seconds after `start`, 0 = by
  !> SLURM_JOB_END_TIME [s since 1970], where that is set.
  real(dp) function DeadlineFind(asked, start) result(deadline)
    real(dp), intent(in) :: asked, start
    real(dp) :: now, left, slurm
    character(32) :: text
    integer :: status
    logical :: ok
    now = host_seconds()
    deadline = FOREVER
    if (asked > 0) then
      left = start + asked - now
    else
      call get_environment_variable('SLURM_JOB_END_TIME', text, status=status)
      if (status /= 0) return
      call ToReal(trim(text), slurm, ok)
      if (.not. ok .or. slurm <= 0) return
      left = slurm - ClockSeconds()
    end if
    deadline = now + left - min(RESERVE, PART*max(0.0_dp, left))
    call LogInfo('time     the job ends in '//Clock(left)//': no shot is dealt that would not be done by then')
  end function DeadlineFind

end module deadline_m
