!> The time by which a job must have ended: as asked for, or as Slurm says.
module deadline_m
  use scheduler_m, only: FOREVER
  use clock_m, only: ClockSeconds
  use host_c, only: host_seconds
  use kinds_m, only: dp
  use log_m, only: LogInfo
  use text_m, only: Duration, Str, ToReal
  implicit none
  private
  public :: DeadlineFind, DeadlineKill, DeadlineMpirun

  real(dp), parameter :: RESERVE = 30.0_dp      !< kept for writing, closing files and ending, at most [s]
  real(dp), parameter :: PART = 0.02_dp         !< and at most this part of what is left
  real(dp), parameter :: KILL_WAIT = 30.0_dp    !< Slurm's default [s]

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
    call LogInfo('time     the job ends in '//Duration(left)//': no shot is dealt that would not be done by then')
  end function DeadlineFind

  !> True where SIGTERM came from mpirun (or its daemon), which then ends the job. `sender`: the result of host_terminator.
  logical function DeadlineMpirun(sender) result(is)
    integer, intent(in) :: sender
    is = Known('OMPI_COMM_WORLD_LOCAL_RANK')                      ! Slurm does not set that
    is = is .and. sender == 2
  end function DeadlineMpirun

  !> The time that shots in flight have after a SIGTERM [s], less than a launcher waits before it kills, and `why`: '' where no
  !> launcher is known to do so. Slurm's KillWait is what SPL_KILL_WAIT says, else its default.
  subroutine DeadlineKill(sender, seconds, why)
    integer, intent(in) :: sender
    real(dp), intent(out) :: seconds
    character(:), allocatable, intent(out) :: why
    real(dp) :: wait
    character(32) :: text
    integer :: status
    logical :: slurm, mpirun, ok
    seconds = huge(seconds)
    slurm = Known('SLURM_JOB_ID')
    mpirun = Known('OMPI_COMM_WORLD_LOCAL_RANK')
    why = ''
    if (mpirun .and. sender == 2) then
      seconds = 0
      why = 'mpirun ends the job and kills what is left within some two seconds'
    else if (slurm .and. (sender == 2 .or. mpirun)) then
      wait = KILL_WAIT
      call get_environment_variable('SPL_KILL_WAIT', text, status=status)
      if (status == 0) call ToReal(trim(text), wait, ok)
      if (status == 0 .and. .not. (ok .and. wait >= 0)) wait = KILL_WAIT
      seconds = max(0.0_dp, wait - max(2.0_dp, wait/6))
      why = 'Slurm may kill the job '//Str(wait, 3)//' s after SIGTERM (KillWait)'
    end if
  end subroutine DeadlineKill

  logical function Known(name)
    character(*), intent(in) :: name
    integer :: length, status
    call get_environment_variable(name, length=length, status=status)
    Known = status == 0 .and. length > 0
  end function Known

end module deadline_m
