!> The silence of ranks, and the leases that it uses up. Silence is measured in seconds of listening: a listener that stood still
!> itself, or was busy with one thing for long, has not listened meanwhile, and takes none for lost because of that. Jumps of the
!> wall clock do not count.
!>
!> A lease is the silence after which a rank is taken for lost. It follows the pace of the shots, as no worker is silent for longer
!> than a shot takes: it is twice the time that its shot should take, at least LEAST, at most what was asked for, and that where the
!> pace is not known yet. And it adapts: a worker that sends again after a silence was only busy, so a lease is never shorter than
!> ADAPT such silences; of these a share is forgotten with each shot done. Pure procedures.
module lease_m
  use kinds_m, only: dp
  implicit none
  private
  public :: lease_t, LeaseNew, LeaseTick, LeaseHeard, LeaseSilence, LeaseSpan, LeaseShotDone

  integer, parameter, public :: PATIENCE = 5  !< leases that all lost workers are waited for, and a worker waits for the master
  real(dp), parameter :: STEP = 1.0_dp        !< the clock goes on by so much between two looks at most [s]
  real(dp), parameter :: ADAPT = 2.0_dp       !< factor on a silence that ended, and on the time of a shot
  real(dp), parameter :: LEAST = 20.0_dp      !< however fast the shots are: a machine may be busy with other things [s]
  real(dp), parameter :: KEPT = 0.75_dp       !< part of a long silence that is still remembered after each shot done

  type :: lease_t
    real(dp) :: seconds = 0                   !< as asked for [s]
    real(dp) :: clock = 0                     !< seconds of listening
    real(dp) :: looked = -1                   !< last look, by the caller's clock [s]
    real(dp), allocatable :: heard(:)         !< when each was heard last, by the clock of listening [s]
    real(dp), allocatable :: longest(:)       !< longest silence of each that ended, what is remembered of it [s]
    real(dp), allocatable :: recent(:)        !< the longest since its last shot [s]
  end type lease_t

contains

  !> A lease of `seconds` for each of n, all heard just now.
  pure subroutine LeaseNew(lease, seconds, n)
    type(lease_t), intent(out) :: lease
    real(dp), intent(in) :: seconds
    integer, intent(in) :: n
    lease%seconds = seconds
    allocate (lease%heard(n), lease%longest(n), lease%recent(n), source=0.0_dp)
  end subroutine LeaseNew

  !> To be called each time a message may have come. `now`: of any clock that never jumps [s].
  pure subroutine LeaseTick(lease, now)
    type(lease_t), intent(inout) :: lease
    real(dp), intent(in) :: now
    if (lease%looked >= 0) lease%clock = lease%clock + min(STEP, max(0.0_dp, now - lease%looked))
    lease%looked = now
  end subroutine LeaseTick

  !> A message of number `i` came.
  pure subroutine LeaseHeard(lease, i)
    type(lease_t), intent(inout) :: lease
    integer, intent(in) :: i
    lease%recent(i) = max(lease%recent(i), LeaseSilence(lease, i))
    lease%longest(i) = max(lease%longest(i), lease%recent(i))
    lease%heard(i) = lease%clock
  end subroutine LeaseHeard

  !> Number `i` has done a shot: how long it was silent in this one tells more than earlier silences.
  pure subroutine LeaseShotDone(lease, i)
    type(lease_t), intent(inout) :: lease
    integer, intent(in) :: i
    lease%longest(i) = max(lease%recent(i), KEPT*lease%longest(i))
    lease%recent(i) = 0
  end subroutine LeaseShotDone

  pure real(dp) function LeaseSilence(lease, i) result(seconds)
    type(lease_t), intent(in) :: lease
    integer, intent(in) :: i
    seconds = lease%clock - lease%heard(i)
  end function LeaseSilence

  !> Silence after which number `i` is taken for lost [s]. `shot`: how long the shots that it has should take it [s], huge() where
  !> that is not known.
  pure real(dp) function LeaseSpan(lease, i, shot) result(seconds)
    type(lease_t), intent(in) :: lease
    integer, intent(in) :: i
    real(dp), intent(in) :: shot
    seconds = min(lease%seconds, max(LEAST, ADAPT*min(shot, lease%seconds)))
    seconds = max(seconds, ADAPT*lease%longest(i))
  end function LeaseSpan

end module lease_m
