!> The number of threads that step a shot: as many as make it fastest, and no more than asked for.
!>
!> A grid of few cells is done before several threads have met, so each gets a minimum of cells. Beyond that the best number is not
!> known beforehand: beside other programs on the same cores threads wait for one of them that does not run, and of a hundred cores
!> a grid may keep thirty busy. So while chunks of steps are short, a chunk is done with half the threads now and then, or with
!> twice as many, and the faster number stays. Where it changes nothing the trials become rare. Results do not depend on any of
!> this.
module team_m
  use kinds_m, only: dp
  implicit none
  private
  public :: team_t, TeamFor, TeamTake

  integer, parameter :: grain = 25000           !< cells that a thread has at least
  real(dp), parameter :: long = 0.3_dp          !< after a chunk of so many seconds that threads waited for each other hardly counts
  real(dp), parameter :: alike = 0.25_dp        !< a grid larger or smaller by that part is another one
  real(dp), parameter :: clearly = 0.03_dp      !< more threads must be faster by that part, fewer may be slower by it
  real(dp), parameter :: doubtful = 0.25_dp     !< a difference below that is looked at twice
  real(dp), parameter :: newest = 0.25_dp       !< weight of the newest chunk in the pace of a number of threads
  integer, parameter :: first = 16, last = 2048 !< chunks from one trial to the next, at first and at most
  integer, parameter :: levels = 12             !< as often a number of threads can be halved

  type :: team_t
    integer :: threads = 1                      !< of the next steps
    integer :: most = 1
    real(dp) :: cells = 0                       !< of the grid
    integer :: level = 0, home = 0              !< times that `most` is halved: now, and where nothing is tried
    real(dp) :: pace(0:levels) = 0              !< seconds an update with so many, 0 = not known
    integer :: looks = 0                        !< chunks of this trial
    integer :: left = 0, every = first          !< chunks until the next trial, and between two
    logical :: upward = .false.                 !< the next trial is of more threads
    logical :: cold = .true.                    !< the next chunk is the first of a shot: its pace says little
  end type team_t

contains

  !> A shot of so many cells begins, for which `asked` threads (at least 1) may be taken. Paces measured on a grid as large are
  !> kept.
  pure subroutine TeamFor(team, asked, cells)
    type(team_t), intent(inout) :: team
    integer, intent(in) :: asked
    real(dp), intent(in) :: cells
    integer :: most
    most = int(max(1.0_dp, min(real(asked, dp), aint(cells/grain))))
    if (most /= team%most .or. abs(cells - team%cells) > alike*team%cells) then
      team = team_t(most=most, cells=cells)
      call Settle(team, 0)
    end if
    team%cold = .true.
  end subroutine TeamFor

  !> A chunk of steps took `seconds` for so many cell updates: sets the threads of the next one.
  pure subroutine TeamTake(team, seconds, updates)
    type(team_t), intent(inout) :: team
    real(dp), intent(in) :: seconds, updates
    real(dp) :: pace
    logical :: cold
    cold = team%cold
    team%cold = .false.
    if (team%most == 1 .or. cold .or. updates <= 0) return
    pace = seconds/updates
    associate (known => team%pace(team%level))
      if (known > 0) pace = known + newest*(pace - known)
      known = pace
    end associate
    if (team%level /= team%home) then
      call Judge(team)
    else if (seconds < long) then
      team%left = team%left - 1
      if (team%left <= 0) call Try(team)
    end if
  end subroutine TeamTake

  !> Decides on a trial: the number of threads tried is taken, or left, or measured once more.
  pure subroutine Judge(team)
    type(team_t), intent(inout) :: team
    real(dp) :: gain
    logical :: better
    gain = 1 - team%pace(team%level)/team%pace(team%home)        ! part of the time that is saved
    better = gain > merge(clearly, -clearly, team%level < team%home)
    team%looks = team%looks + 1
    if (abs(gain) < doubtful .and. team%looks < 3) return
    if (better) then
      team%upward = team%level < team%home
      team%every = first
      call Settle(team, team%level)
      team%left = 1                                              ! perhaps the next one is better still
    else
      team%upward = .not. team%upward
      team%every = min(2*team%every, last)
      call Settle(team, team%home)
    end if
  end subroutine Judge

  pure subroutine Try(team)
    type(team_t), intent(inout) :: team
    integer :: there
    there = team%home + merge(-1, 1, team%upward)
    if (there < 0 .or. Threads(team, team%home) == 1 .and. there > team%home) there = team%home - merge(-1, 1, team%upward)
    team%looks = 0
    team%level = there
    team%pace(there) = 0                                         ! what was known of it is old
    team%threads = Threads(team, there)
  end subroutine Try

  pure subroutine Settle(team, level)
    type(team_t), intent(inout) :: team
    integer, intent(in) :: level
    team%home = level
    team%level = level
    team%left = team%every
    if (team%pace(level) <= 0) team%left = 3
    team%threads = Threads(team, level)
  end subroutine Settle

  !> `most`, halved so often, rounded up.
  pure integer function Threads(team, level)
    type(team_t), intent(in) :: team
    integer, intent(in) :: level
    integer :: l
    Threads = team%most
    do l = 1, level
      Threads = (Threads + 1)/2
    end do
  end function Threads

end module team_m
