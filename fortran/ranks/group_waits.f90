!> The waits of a group: asleep, and none for ever. Arguments stand in group.f90.
submodule(group_m) group_waits
  implicit none

  real(dp), parameter :: NAP_FIRST = 5.0e-6_dp, NAP_LAST = 5.0e-4_dp   !< of waits for messages [s]
  !> A large message comes in parts, each of which waits for a call of MPI: for so long naps are short [s].
  real(dp), parameter :: FLOWING = 2.0e-2_dp

contains

  module procedure Await
    logical :: aborted
    aborted = .false.
    call AwaitAll(group, request, aborted)
    call GiveUp(group, aborted, error)
  end procedure Await

  module procedure GiveUp
    if (allocated(error)) return
    if (group%broken) then
      call Fail(error, group%why_broken)
    else if (aborted) then
      call Fail(error, 'another rank of the group has failed')
      error%followed = .true.
    end if
  end procedure GiveUp

  module procedure AwaitAll
    type(MPI_Status) :: status(size(request))
    real(dp) :: start, look, now, nap
    logical :: done
    start = host_seconds()
    look = start + LATE
    nap = NAP_FIRST
    do while (.not. group%broken)
      call MPI_Testall(size(request), request, done, status)
      if (done) return
      now = host_seconds()
      if (now > look) then
        look = now + LATE
        call LookAround(group, now - start, aborted)
        if (present(aborted)) then
          if (aborted) return
        end if
      end if
      call host_nap(nap)
      if (now - start > FLOWING) nap = min(1.25_dp*nap, NAP_LAST)
    end do
  end procedure AwaitAll

  module procedure GroupListen
    type(message_t) :: message
    if (.not. associated(group%link)) return
    if (.not. allocated(group%postponed)) allocate (group%postponed(0))
    do while (LinkReceive(group%link, message))
      if (group%n > 1 .and. message%kind == MSG_END .and. message%n(2) == 1) then
        group%end = message
        group%why_broken = 'the job has lost ranks'
        group%broken = .true.
      else
        group%postponed = [group%postponed, message]
      end if
    end do
  end procedure GroupListen

  module procedure GroupLook
    logical :: aborted
    aborted = .false.
    call LookAround(self, 0.0_dp, aborted)
    call GiveUp(self, aborted, error)
  end procedure GroupLook

  module procedure LookAround
    integer :: rank
    call GroupListen(group)
    if (present(aborted)) aborted = Aborts(group)
    call PeersLook(group%peers, host_seconds())
    rank = PeersDead(group%peers, group%ranks)
    if (rank >= 0) then
      group%why_broken = 'rank '//Str(rank)//', which worker '//Str(group%worker)//' needs, is dead'
    else if (waited > group%patience) then
      group%why_broken = 'another rank of worker '//Str(group%worker)//' was not heard of for '//Str(group%patience)//' s'
    end if
    group%broken = allocated(group%why_broken)
  end procedure LookAround

  !> A partner has said that it failed in this shot.
  logical function Aborts(group) result(aborted)
    class(group_t), intent(inout) :: group
    type(MPI_Status) :: status
    integer :: shot(1)
    logical :: there
    aborted = .false.
    do
      call MPI_Iprobe(MPI_ANY_SOURCE, TAG_ABORT, group%comm, there, status)
      if (.not. there) exit
      call MPI_Recv(shot, 1, MPI_INTEGER, status%MPI_SOURCE, TAG_ABORT, group%comm, status)
      aborted = aborted .or. shot(1) == group%shot
    end do
  end function Aborts

end submodule group_waits
