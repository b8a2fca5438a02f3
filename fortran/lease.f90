!> Who has been heard of lately. Silence is measured in seconds of listening: a listener that stood still itself, or was busy with
!> one thing for long, has not listened meanwhile, and takes nobody for lost because of that. Jumps of the wall clock do not count.
!>
!> A lease is the silence after which somebody is taken for lost. It is asked for, but adapts: somebody who was heard again after a
!> silence was only busy, with the slowest shot so far, so a lease is never shorter than ADAPT such silences. Pure procedures.
module lease_m
  use kinds_m, only: dp
  implicit none
  private
  public :: lease_t, LeaseNew, LeaseTick, LeaseHeard, LeaseSilence, LeaseSpan

  real(dp), parameter :: STEP = 1.0_dp        !< the clock goes on by so much between two looks at most [s]
  real(dp), parameter :: ADAPT = 2.0_dp

  type :: lease_t
    real(dp) :: seconds = 0                   !< as asked for [s]
    real(dp) :: clock = 0                     !< seconds of listening
    real(dp) :: looked = -1                   !< last look, by the caller's clock [s]
    real(dp) :: longest = 0                   !< longest silence that ended [s]
    real(dp), allocatable :: heard(:)         !< when each was heard last, by the clock of listening [s]
  end type lease_t

contains

  !> A lease of `seconds` for each of n, all heard just now.
  pure subroutine LeaseNew(lease, seconds, n)
    type(lease_t), intent(out) :: lease
    real(dp), intent(in) :: seconds
    integer, intent(in) :: n
    lease%seconds = seconds
    allocate (lease%heard(n), source=0.0_dp)
  end subroutine LeaseNew

  !> To be called each time somebody may have been heard. `now`: of any clock that never jumps [s].
  pure subroutine LeaseTick(lease, now)
    type(lease_t), intent(inout) :: lease
    real(dp), intent(in) :: now
    if (lease%looked >= 0) lease%clock = lease%clock + min(STEP, max(0.0_dp, now - lease%looked))
    lease%looked = now
  end subroutine LeaseTick

  !> Number `i` said something.
  pure subroutine LeaseHeard(lease, i)
    type(lease_t), intent(inout) :: lease
    integer, intent(in) :: i
    lease%longest = max(lease%longest, LeaseSilence(lease, i))
    lease%heard(i) = lease%clock
  end subroutine LeaseHeard

  pure real(dp) function LeaseSilence(lease, i) result(seconds)
    type(lease_t), intent(in) :: lease
    integer, intent(in) :: i
    seconds = lease%clock - lease%heard(i)
  end function LeaseSilence

  !> Silence after which one is taken for lost [s].
  pure real(dp) function LeaseSpan(lease) result(seconds)
    type(lease_t), intent(in) :: lease
    seconds = max(lease%seconds, ADAPT*lease%longest)
  end function LeaseSpan

end module lease_m
