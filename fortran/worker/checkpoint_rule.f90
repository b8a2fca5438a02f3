!> How often the states of a shot are kept: what a job says of checkpoints, and the interval that follows.
!>
!> The interval balances the compute that a failure loses against the cost of the states (Young 1974; Daly 2006,
!> doi 10.1016/j.future.2004.11.016, equation 37), the cost being the time from the stop until the state is on the disk, as if
!> nothing were overlapped.
module checkpoint_rule_m
  use kinds_m, only: dp
  use sides_m, only: SidePath
  use statefile_c, only: statefile_sweep
  use text_m, only: CString, ToReal
  implicit none
  private
  public :: checkpoint_t, CheckpointRule, CheckpointEvery, CheckpointSweep

  real(dp), parameter :: PRESUMED = 3.0e8_dp       !< bytes a second to disk, until measured
  real(dp), parameter :: LEAST = 0.01_dp           !< a state costs no less [s]

  !> The parameters of a job on checkpoints.
  type :: checkpoint_t
    real(dp) :: interval = 0                       !< seconds of compute from state to state; 0 = none are kept, < 0 = by their cost
    real(dp) :: mtbf = 86400                       !< mean time between two losses of a worker [s]
    character(:), allocatable :: folder            !< of the states
  end type checkpoint_t

contains

  !> From the parameters `checkpoint` (minutes or auto), `mtbf` [h] and `output`. `ok` is false where the first is neither.
  subroutine CheckpointRule(checkpoint, mtbf, output, rule, ok)
    character(*), intent(in) :: checkpoint, output
    real(dp), intent(in) :: mtbf
    type(checkpoint_t), intent(out) :: rule
    logical, intent(out) :: ok
    rule%folder = SidePath(output, 'states')
    rule%mtbf = 3600*mtbf
    rule%interval = -1
    ok = .true.
    if (checkpoint == 'auto') return
    call ToReal(checkpoint, rule%interval, ok)
    ok = ok .and. rule%interval >= 0 .and. rule%interval <= 1.0e5_dp
    rule%interval = 60*rule%interval
  end subroutine CheckpointRule

  !> Compute between two states [s] of so many numbers by a rule; 0: none are kept. `price`: what a number costs [s], 0 = not known.
  pure real(dp) function CheckpointEvery(rule, numbers, price) result(interval)
    type(checkpoint_t), intent(in) :: rule
    real(dp), intent(in) :: numbers, price
    interval = rule%interval
    if (interval >= 0) return
    interval = LeastWaste(max(LEAST, numbers*merge(price, 4/PRESUMED, price > 0)), rule%mtbf)
  end function CheckpointEvery

  !> Compute between two states [s] that wastes least, where a state costs `cost` [s] and failures come every `mtbf` [s].
  pure real(dp) function LeastWaste(cost, mtbf) result(interval)
    real(dp), intent(in) :: cost, mtbf
    real(dp) :: part
    interval = mtbf
    if (cost >= 2*mtbf) return
    part = cost/(2*mtbf)
    interval = sqrt(2*cost*mtbf)*(1 + sqrt(part)/3 + part/9) - cost
  end function LeastWaste

  !> Removes what killed writers left; with `everything` all states, as all shots are done or the survey starts anew.
  subroutine CheckpointSweep(rule, everything)
    type(checkpoint_t), intent(in) :: rule
    logical, intent(in) :: everything
    integer :: ignored
    if (allocated(rule%folder)) ignored = statefile_sweep(CString(rule%folder), merge(1, 0, everything))
  end subroutine CheckpointSweep

end module checkpoint_rule_m
