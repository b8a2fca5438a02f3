!> A group of ranks one of which dies in a shot retires: its first rank, which speaks for it, sees that on its machine and ends at once;
!> where it cannot see it, it falls silent, so that the master misses it, and ends when the master says so, long before its own patience
!> is at an end. Where one of its ranks fails, without dying, the shot is lost with the cause that this rank knows, and the group goes
!> on. Three ranks: one plays the master, two are a worker. Started without a launcher the program launches itself.
module doomed_m
  use error_m, only: error_t, Fail
  use gather_m, only: gather_t
  use host_c, only: host_nap, posix_exit
  use kinds_m, only: dp
  use scheme_m, only: scheme_t
  use shot_m, only: shot_t
  use solver_m, only: solver_t
  use window_m, only: window_t
  implicit none
  private
  public :: doomed_t

  !> A shot that never ends; in its 40th turn a `victim` ends without a word, or fails.
  type, extends(solver_t) :: doomed_t
    integer :: turns = 0
    logical :: victim = .false., fails = .false.
  contains
    procedure :: setup, advance, fraction => PartDone, gather => MakeGather
  end type doomed_t

contains

  subroutine setup(self, scheme, window, shot, error)
    class(doomed_t), intent(inout) :: self
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    type(shot_t), intent(in) :: shot
    type(error_t), allocatable, intent(inout) :: error
    character(8) :: rank
    call get_environment_variable('OMPI_COMM_WORLD_RANK', rank)
    self%victim = rank == '2'
    call get_command_argument(1, rank)
    self%fails = rank == 'fails'
    self%turns = 0
  end subroutine setup

  subroutine advance(self, done, error)
    class(doomed_t), intent(inout) :: self
    logical, intent(out) :: done
    type(error_t), allocatable, intent(inout) :: error
    integer :: n
    call host_nap(0.05_dp)
    self%turns = self%turns + 1
    done = .false.
    if (.not. self%victim .or. self%turns < 40) return
    if (.not. self%fails) then
      call get_environment_variable('PRTE_LAUNCHED', length=n)      ! mpirun of Open MPI 5 counts a rank that exits with 9 twice
      if (n > 0) call execute_command_line('kill -9 $PPID')
      call posix_exit(9)
    end if
    call Fail(error, 'cell 17 of the other rank has blown up')
  end subroutine advance

  pure real(dp) function PartDone(self) result(fraction)
    class(doomed_t), intent(in) :: self
    fraction = min(0.9_dp, 0.001_dp*self%turns)
  end function PartDone

  subroutine MakeGather(self, gather, error)
    class(doomed_t), intent(inout), target :: self
    type(gather_t), intent(inout) :: gather
    type(error_t), allocatable, intent(inout) :: error
    call Fail(error, 'a shot that never ends has no gather')
  end subroutine MakeGather

end module doomed_m

program t434_group_dies
  use check_m, only: Claim, Done
  use doomed_m, only: doomed_t
  use error_m, only: error_t
  use files_m, only: FileText
  use host_c, only: host_seconds, posix_exit
  use kinds_m, only: dp
  use launcher_c, only: launcher_hears
  use shot_messages_m, only: ShotMessage, WindowMessage
  use peers_m, only: peers_t
  use barrier_m, only: Rest
  use protocol_m, only: LinkReply, link_t, LinkFlush, message_t, MSG_BEAT, MSG_END, MSG_LOST, MSG_MODEL, MSG_PROGRESS, MSG_READY, LinkReceive
  use roles_m, only: role_t, RolesGroups, RolesStart
  use scheme_m, only: scheme_t
  use shot_m, only: shot_t
  use text_m, only: Str
  use master_heartbeat_m, only: job_end_t
  use window_m, only: window_t
  use worker_type_m, only: worker_options_t
  use worker_m, only: WorkerRun
  implicit none
  real(dp), parameter :: LEASE = 20.0_dp, SILENCE = 4.0_dp, PATIENCE = 60.0_dp
  character(4096) :: self
  character(8) :: rank, word
  integer :: status

  call get_environment_variable('OMPI_COMM_WORLD_RANK', rank, status=status)
  if (status == 0) then
    call Take()
  else
    call get_command_argument(0, self)
    call Launch('seen', 'status 3, ranks are lost', 'rank 2, which worker 1 needs, is dead')
    call Launch('unseen', 'status 7, ranks are lost', '')
    call LaunchFailing()
    call Done()
  end if

contains

  !> `words`: what its first rank says as it ends.
  subroutine Launch(how, ends, words)
    character(*), intent(in) :: how, ends, words
    real(dp) :: start
    start = host_seconds()
    call execute_command_line("rm -f master leader; mpirun --enable-recovery -n 3 '"//trim(self)//"' "//how//' 2> said', &
                              exitstat=status)
    call Judge(how, ends, words)
    call Claim(host_seconds() - start < 5*LEASE, how//': nobody waits for 5 leases of '//Str(LEASE)//' s: '// &
               Str(host_seconds() - start, 3)//' s in all')
  end subroutine Launch

  !> The other rank alone fails in a shot: its first rank says so, and asks for the next.
  subroutine LaunchFailing()
    character(:), allocatable :: master, leader
    type(error_t), allocatable :: error
    call execute_command_line("rm -f master leader; mpirun --enable-recovery -n 3 '"//trim(self)//"' fails 2> said", exitstat=status)
    call FileText('master', master, error)
    if (.not. allocated(error)) call FileText('leader', leader, error)
    call Claim(.not. allocated(error), 'fails: the master and the first rank of the group end by themselves')
    if (allocated(error)) return
    call Claim(index(master, 'asked again, losses: cell 17 of the other rank has blown up') > 0, 'one rank alone fails: '//master)
    call Claim(index(leader, 'status 7') == 1, 'and its first rank ends with the job, '//leader)
  end subroutine LaunchFailing

  subroutine Judge(how, ends, words)
    character(*), intent(in) :: how, ends, words
    character(:), allocatable :: master, leader, said
    type(error_t), allocatable :: error
    call FileText('master', master, error)
    if (.not. allocated(error)) call FileText('leader', leader, error)
    if (.not. allocated(error)) call FileText('said', said, error)
    call Claim(.not. allocated(error), how//': the master and the first rank of the group end by themselves')
    if (allocated(error)) return
    call Claim(index(master, 'shot begun, silent, losses: '//new_line('a')) == 1, 'the group is silent once one of its ranks is dead: '//master)
    call Claim(index(leader, ends) == 1, 'its first rank ends, '//leader)
    if (words /= '') call Claim(index(said, words) > 0 .and. index(said, 'not heard of') == 0, 'and says why: '//words)
    if (words == '') call Claim(index(said, 'this rank ends') == 0, 'without a word: the master has told')
  end subroutine Judge

  !> The part of one of the three.
  subroutine Take()
    type(role_t) :: role
    type(link_t) :: link
    type(error_t), allocatable :: error
    type(doomed_t) :: mold
    type(scheme_t) :: scheme
    type(worker_options_t) :: rules
    type(job_end_t) :: job_end
    call RolesStart(role)
    call RolesGroups(role, 2, error)
    link%world = role%world
    link%patience = 1
    scheme%variant = 'cpu'
    scheme%components = 'p'
    rules%lease = LEASE
    call get_command_argument(1, word)
    if (word == 'unseen') role%peers = peers_t()      ! as if each were on a machine of its own
    if (role%master) then
      call Master(link)
    else
      call WorkerRun(role, link, mold, scheme, rules, job_end)
      if (role%group_rank == 0) call Write('leader', 'status '//Str(job_end%status)//', '// &
                                           trim(merge('ranks are lost', 'all are well  ', job_end%broken)))
    end if
    call launcher_hears()
    call posix_exit(0)
  end subroutine Take

  !> Deals one shot, says that it is there, and notes when nothing more is heard.
  subroutine Master(link)
    type(link_t), intent(inout) :: link
    type(message_t) :: message, reply
    character(:), allocatable :: lost
    logical :: begun, silent, again
    real(dp) :: start, heard, now, nap
    begun = .false.
    again = .false.
    lost = ''
    start = host_seconds()
    heard = start
    silent = .false.
    do
      now = host_seconds()
      if (silent .or. now > start + PATIENCE) exit
      nap = 0.02_dp
      if (.not. LinkReceive(link, message)) then
        call Rest(nap)
        silent = begun .and. now > heard + SILENCE
        cycle
      end if
      heard = host_seconds()
      reply = message_t(kind=MSG_BEAT)
      again = message%kind == MSG_READY .and. lost /= ''
      if (again) exit
      if (message%kind == MSG_READY) call Deal(reply)
      if (message%kind == MSG_MODEL) call Serve(reply)
      if (message%kind == MSG_PROGRESS) begun = begun .or. message%n(2) > 0
      if (message%kind == MSG_LOST) lost = message%text
      call LinkReply(link, message%from, reply)
    end do
    if (again) then
      call Write('master', 'asked again, losses: '//lost)
    else
      call Write('master', trim(merge('shot begun', 'no shot   ', begun))//', '// &
                 trim(merge('silent ', 'goes on', silent))//', losses: '//lost)
    end if
    reply = message_t(kind=MSG_END)
    reply%n(1:2) = [7, 1]
    if (word /= 'seen') call LinkReply(link, 1, reply)
    call LinkFlush(link)
    start = host_seconds()
    do while (host_seconds() < start + PATIENCE/20)      ! the answer may still come
      if (.not. LinkReceive(link, message)) call Rest(nap)
    end do
  end subroutine Master

  subroutine Deal(message)
    type(message_t), intent(inout) :: message
    type(shot_t) :: shot
    shot = shot_t(record=101, slot=1, sx=1.0_dp, sz=2.0_dp, rx=[1.0_dp], ry=[0.0_dp], rz=[3.0_dp], channel=[1])
    call ShotMessage(shot, Window(), .false., message)
  end subroutine Deal

  subroutine Serve(message)
    type(message_t), intent(inout) :: message
    call WindowMessage(101, Window(), message)
  end subroutine Serve

  type(window_t) function Window()
    Window%nx = 2
    Window%nz = 2
    allocate (Window%medium(2, 1, 2, 2), source=1500.0)
  end function Window

  subroutine Write(path, text)
    character(*), intent(in) :: path, text
    integer :: unit
    open (newunit=unit, file=path, status='replace', action='write')
    write (unit, '(a)') text
    close (unit)
  end subroutine Write

end program t434_group_dies
