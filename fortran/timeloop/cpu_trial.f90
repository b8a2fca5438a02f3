!> The speed of CPU cores, measured in a moment before the first shot.
!>
!> Beside GPUs a shot may take a CPU rank longer than the GPUs take for the whole survey. A rank that tells its speed at once need
!> not begin a shot for the master to notice that.
module cpu_trial_m
  use engine_m, only: engine_t
  use error_m, only: error_t
  use host_c, only: host_seconds
  use kinds_m, only: dp
  implicit none
  private
  public :: TrialRate

contains

  !> Cell updates a second of an engine of so many cells that is ready for its first step; 0 if it is not, or fails. It does `steps`
  !> at a time, for `seconds` at least after a first time for the caches, and gives its memory back.
  real(dp) function TrialRate(engine, cells, steps, seconds, error) result(rate)
    class(engine_t), intent(inout) :: engine
    real(dp), intent(in) :: cells, seconds
    integer, intent(in) :: steps
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: start, spent
    integer :: done
    rate = 0
    done = -steps
    spent = 0
    do while (spent < seconds .and. .not. allocated(error))
      start = host_seconds()
      call engine%timestep(done + steps + 1, steps, error)
      done = done + steps
      if (done > 0) spent = spent + host_seconds() - start
    end do
    if (.not. allocated(error)) rate = done*cells/spent
    call engine%free()
  end function TrialRate

end module cpu_trial_m
