!> Two manners of the steps of a piece: several at once in one sweep through memory, as far as can be before neighbours' halos come
!> (fd3d_ahead in interfaces/fd3d_c.f90), or half step by half step, while halos travel. The faster one depends on caches, on memory
!> that other cores use too, and on the way of halos. So both take turns at first, and again after many turns; the faster stays.
!> Neighbours need not agree, and bits do not depend on it.
module fd3d_manner_m
  use kinds_m, only: dp
  implicit none
  private
  public :: manner_t, MannerTurn, MannerTake

  integer, parameter :: trials = 6              !< turns of a trial, of both by turns; a disturbed turn is no harm
  integer, parameter :: every = 200             !< turns from one trial to the next
  integer, parameter :: long = 12               !< steps of a turn, at most

  type :: manner_t
    logical :: ahead = .true.                   !< of this turn
    integer :: turn = 0                         !< of these `every`
    real(dp) :: pace(0:1) = huge(1.0_dp)        !< seconds a step of the fastest turn: half steps, ahead
  end type manner_t

contains

  !> Begins a turn of the next n steps, or fewer: so many.
  pure subroutine MannerTurn(manner, n, steps)
    type(manner_t), intent(inout) :: manner
    integer, intent(in) :: n
    integer, intent(out) :: steps
    integer :: turns
    turns = (n + long - 1)/long
    steps = (n + turns - 1)/turns
    if (manner%turn == 0) manner%pace = huge(1.0_dp)
    manner%turn = manner%turn + 1
    if (manner%turn <= trials) then
      manner%ahead = modulo(manner%turn, 2) == 1
    else
      manner%ahead = manner%pace(1) <= manner%pace(0)
    end if
    if (manner%turn == every) manner%turn = 0
  end subroutine MannerTurn

  !> Its steps took so long, each.
  pure subroutine MannerTake(manner, pace)
    type(manner_t), intent(inout) :: manner
    real(dp), intent(in) :: pace
    associate (best => manner%pace(merge(1, 0, manner%ahead)))
      best = min(best, pace)
    end associate
  end subroutine MannerTake

end module fd3d_manner_m
