!> A pause of the dealing while output or journal cannot be written: gathers that come meanwhile are kept, and the files are tried
!> again now and then. Worth waiting for: a disk that somebody clears, a file server that comes back.
module output_pause_m
  use host_c, only: host_seconds
  use kinds_m, only: dp
  use protocol_m, only: message_t
  implicit none
  private
  public :: pause_t, PauseBegin, PauseDue, PauseEnd, PauseKeep, PauseTake, PauseKept

  real(dp), parameter :: FIRST = 0.5_dp, LONGEST = 15.0_dp    !< seconds between two attempts

  !> A message that waits.
  type :: kept_t
    type(message_t) :: message
    type(kept_t), pointer :: next => null()
  end type kept_t

  type :: pause_t
    logical :: on = .false.                     !< nothing is dealt or written now
    logical :: reported = .false.               !< the log says so, until something was written again
    logical :: given_up = .false.               !< what is kept will not be written
    real(dp) :: since = 0                       !< the first failure [s]
    character(:), allocatable :: why
    real(dp), private :: tried = 0, every = 0   !< last attempt, and how long to the next [s]
    type(kept_t), pointer, private :: head => null(), tail => null()
    integer, private :: n = 0
  end type pause_t

contains

  !> The files cannot be written. `news`: it is not the same failure going on.
  subroutine PauseBegin(pause, why, news)
    type(pause_t), intent(inout) :: pause
    character(*), intent(in) :: why
    logical, intent(out) :: news
    news = .not. pause%reported
    if (news) pause%since = host_seconds()
    if (news) pause%every = FIRST
    if (news) pause%why = why
    pause%reported = .true.
    pause%on = .true.
    pause%tried = host_seconds()
  end subroutine PauseBegin

  !> Time to try again; each attempt waits longer for the next, unless there is `hurry`.
  logical function PauseDue(pause, hurry) result(due)
    type(pause_t), intent(inout) :: pause
    logical, intent(in) :: hurry
    due = .false.
    if (.not. pause%on) return
    if (hurry) pause%every = FIRST
    due = host_seconds() - pause%tried > pause%every
    if (due) pause%every = min(LONGEST, 1.5_dp*pause%every)
    if (due) pause%tried = host_seconds()
  end function PauseDue

  !> The pause ends: all that was kept is written. Its length [s].
  real(dp) function PauseEnd(pause) result(seconds)
    type(pause_t), intent(inout) :: pause
    seconds = host_seconds() - pause%since
    pause%on = .false.
    pause%reported = .false.
  end function PauseEnd

  !> Keeps a message for later; its contents are moved away.
  subroutine PauseKeep(pause, message)
    type(pause_t), intent(inout) :: pause
    type(message_t), intent(inout) :: message
    type(kept_t), pointer :: kept
    allocate (kept)
    call Move(message, kept%message)
    if (associated(pause%tail)) then
      pause%tail%next => kept
    else
      pause%head => kept
    end if
    pause%tail => kept
    pause%n = pause%n + 1
  end subroutine PauseKeep

  !> The message kept longest; false if there is none.
  logical function PauseTake(pause, message) result(there)
    type(pause_t), intent(inout) :: pause
    type(message_t), intent(inout) :: message
    type(kept_t), pointer :: kept
    kept => pause%head
    there = associated(kept)
    if (.not. there) return
    call Move(kept%message, message)
    pause%head => kept%next
    if (.not. associated(pause%head)) pause%tail => null()
    pause%n = pause%n - 1
    deallocate (kept)
  end function PauseTake

  !> The number of messages kept.
  pure integer function PauseKept(pause) result(n)
    type(pause_t), intent(in) :: pause
    n = pause%n
  end function PauseKept

  !> Moves a message without a copy: traces are large.
  subroutine Move(from, to)
    type(message_t), intent(inout) :: from, to
    to%kind = from%kind
    to%from = from%from
    to%n = from%n
    to%x = from%x
    call move_alloc(from%text, to%text)
    call move_alloc(from%places, to%places)
    call move_alloc(from%fields, to%fields)
    to%lent => from%lent
  end subroutine Move

end module output_pause_m
