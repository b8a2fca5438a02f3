!> A rank's watch over the master: it says now and then that it is here, and ends when nothing is heard of the master for long. On
!> the master's machine a rank sees at once that the process is gone, and tells all others.
module vigil_m
  use checked_m, only: Whole
  use crew_m, only: PATIENCE
  use host_c, only: host_seconds
  use kinds_m, only: dp
  use lease_m, only: lease_t, LeaseHeard, LeaseNew, LeaseSilence, LeaseTick
  use lock_c, only: lock_alive
  use log_m, only: LogError
  use protocol_m, only: Answer, link_t, LinkFlush, message_t, MSG_END, Poll, Rest, Tell
  use roles_m, only: role_t
  use text_m, only: CString, Str
  implicit none
  private
  public :: vigil_t, ending_t, VigilNew, VigilHeard, VigilLook, VigilDeserted, VigilEnd, VigilWait

  real(dp), parameter :: BEAT = 1.0_dp        !< seconds between heartbeats, at most

  type :: vigil_t
    type(lease_t) :: master
    real(dp) :: every = BEAT, beat = -1       !< seconds between heartbeats; the latest
    character(:), allocatable :: chief        !< the master's process
    integer :: rank = 0, ranks = 1            !< this one, and how many there are
    logical :: dead = .false.                 !< the master's process is gone: seen here
  end type vigil_t

  !> How a rank is told that the job ends.
  type :: ending_t
    integer :: status = 0                     !< exit status
    logical :: broken = .false.               !< ranks are lost: no collective operation any more
  end type ending_t

contains

  subroutine VigilNew(vigil, role, lease)
    type(vigil_t), intent(out) :: vigil
    type(role_t), intent(in) :: role
    real(dp), intent(in) :: lease             !< of a worker [s]; the master has PATIENCE of them
    call LeaseNew(vigil%master, PATIENCE*lease, 1)
    vigil%every = min(BEAT, lease/5)
    vigil%chief = CString('')
    if (allocated(role%chief)) vigil%chief = CString(role%chief)
    vigil%rank = role%rank
    vigil%ranks = role%size
  end subroutine VigilNew

  subroutine VigilHeard(vigil)
    type(vigil_t), intent(inout) :: vigil
    call LeaseHeard(vigil%master, 1)
  end subroutine VigilHeard

  !> `due`: a heartbeat; `deserted`: the master is gone.
  subroutine VigilLook(vigil, due, deserted)
    type(vigil_t), intent(inout) :: vigil
    logical, intent(out) :: due, deserted
    real(dp) :: now
    now = host_seconds()
    call LeaseTick(vigil%master, now)
    due = now - vigil%beat > vigil%every
    if (due) vigil%beat = now
    if (due) vigil%dead = lock_alive(vigil%chief) == 0
    deserted = vigil%dead .or. LeaseSilence(vigil%master, 1) > vigil%master%seconds
  end subroutine VigilLook

  !> What a rank makes of END, which it answers where that is waited for; or of being deserted: the letter is its own then.
  subroutine VigilEnd(link, letter, deserted, ending)
    type(link_t), intent(inout) :: link
    type(message_t), intent(in) :: letter
    logical, intent(in) :: deserted
    type(ending_t), intent(out) :: ending
    type(message_t) :: message
    ending%status = Whole(letter%n(1), 0, 255)
    ending%broken = letter%n(2) == 1
    if (deserted .or. letter%from > 0 .or. .not. ending%broken) return   ! nobody is there to answer
    message%kind = MSG_END
    call Tell(link, message)
    call LinkFlush(link)
  end subroutine VigilEnd

  !> The letter of a rank that is deserted, to itself: stopped before the end, and ranks are lost. If it knows for sure, all others
  !> get it too. `whose`: another rank's silence.
  subroutine VigilDeserted(vigil, link, letter, whose)
    type(vigil_t), intent(in) :: vigil
    type(link_t), intent(inout) :: link
    type(message_t), intent(inout) :: letter
    character(*), intent(in), optional :: whose
    type(message_t) :: message
    character(:), allocatable :: why
    integer :: r
    if (vigil%dead) then
      why = 'rank 0 is dead'
    else if (present(whose)) then
      why = whose//' was not heard of for '//Str(vigil%master%seconds)//' s'
    else
      why = 'nothing was heard of rank 0 for '//Str(vigil%master%seconds)//' s: it is taken for dead'
    end if
    call LogError(why//'; this rank ends; run the same command again to continue')
    letter%kind = MSG_END
    letter%n(1:2) = [3, 1]
    do r = 1, merge(vigil%ranks - 1, 0, vigil%dead)
      if (r == vigil%rank) cycle
      message = letter
      call Answer(link, r, message)
    end do
  end subroutine VigilDeserted

  !> A rank that has nothing to do waits for the end.
  subroutine VigilWait(role, link, lease, ending)
    type(role_t), intent(in) :: role
    type(link_t), intent(inout) :: link
    real(dp), intent(in) :: lease
    type(ending_t), intent(out) :: ending
    type(vigil_t) :: vigil
    type(message_t) :: letter
    real(dp) :: nap
    logical :: due, gone
    call VigilNew(vigil, role, lease)
    nap = 0
    gone = .false.
    do while (letter%kind /= MSG_END)
      if (Poll(link, letter)) then
        call VigilHeard(vigil)
      else
        call Rest(nap)
        call VigilLook(vigil, due, gone)
        if (gone) call VigilDeserted(vigil, link, letter)
      end if
    end do
    call VigilEnd(link, letter, gone, ending)
  end subroutine VigilWait

end module vigil_m
