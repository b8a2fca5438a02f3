!> One job at a time on one output: a lock file beside it, which also works where the file system has no locks (NFS).
!>
!> The owner raises a count in the lock every few seconds. A lock whose owner was a process of this machine and is dead is taken
!> over at once; one from elsewhere when its count has not moved for `patience` seconds of this machine's steady clock: the clocks
!> of two machines are never compared, so neither may jump. An owner that slept longer than that (a stopped process, a file system
!> that hung) finds its lock gone before it writes again.
module lock_m
  use error_m, only: error_t, Fail, FailFromC
  use host_c, only: host_nap, host_seconds, host_signals_end
  use iso_c_binding, only: c_associated, c_char, c_int, c_null_char, c_null_ptr, c_ptr
  use kinds_m, only: dp
  use lock_c, only: lock_age, lock_alive, lock_break, lock_keep, lock_lost, lock_read, lock_release, lock_sweep, lock_tell, &
                    lock_try
  use log_m, only: LogInfo
  use text_m, only: CString, Str
  implicit none
  private
  public :: lock_t, LockTake, LockLost, LockRelease, LockTell, LockKnown, sight_t, LockLook

  real(dp), parameter :: BEAT = 5.0_dp        !< seconds between counts
  real(dp), parameter :: SILENCE = 30.0_dp    !< seconds without a count after which an owner elsewhere is gone
  real(dp), parameter :: DYING = 3.0_dp       !< seconds a living owner on this machine has to end: a job being killed takes a while
  integer, parameter, public :: STOPPED = 3   !< exit status where a signal comes while another's lock is watched
  integer, parameter :: most = 700            !< characters of a lock

  !> The content of a lock, for a reader.
  type :: sight_t
    logical :: there = .false.                !< there is one
    logical :: lives = .false.                !< its owner gives signs of life
    logical :: here = .false.                 !< its owner is, or was, a process of this machine
    logical :: waits = .false.                !< its owner waits for its disk
    real(dp) :: silence = 0                   !< seconds since it was written: watched, or by its file's time
    character(:), allocatable :: holder       !< who has it
  end type sight_t

  type :: lock_t
    type(c_ptr) :: handle = c_null_ptr
    real(dp) :: beat = 0                      !< seconds between counts
    real(dp) :: looked = 0                    !< when it was last seen to be ours [s]
  end type lock_t

contains

  !> Takes the lock `path` of `what`; an error names who has it. `beat_seconds` and `patience` [s] are for tests.
  subroutine LockTake(lock, path, what, error, beat_seconds, patience)
    type(lock_t), intent(inout) :: lock
    character(*), intent(in) :: path, what
    type(error_t), allocatable, intent(inout) :: error
    real(dp), intent(in), optional :: beat_seconds, patience
    character(:), allocatable :: text
    integer(c_int) :: held
    real(dp) :: silence_most
    logical :: gone
    if (allocated(error)) return
    call LockRelease(lock)
    lock%beat = BEAT
    silence_most = SILENCE
    if (present(beat_seconds)) lock%beat = beat_seconds
    if (present(patience)) silence_most = patience
    do
      lock%handle = lock_try(CString(path), held)
      if (c_associated(lock%handle)) exit
      if (held == 0) then
        call FailFromC(1, error)
        return
      end if
      call Watch(path, what, silence_most, text, gone)
      if (.not. gone) call Fail(error, "'"//what//"' is in use by another run ("//LockHolder(text)// &
                                '): wait for it, stop it, or choose another output')
      if (allocated(error)) return
      if (text == '') cycle                     ! released meanwhile
      call FailFromC(lock_break(CString(path), CString(text)), error)
      if (allocated(error)) return
      call LogInfo("the run that had '"//what//"' ("//LockHolder(text)//') ended without a word: this one takes over')
    end do
    call lock_sweep(CString(path))
    lock%looked = host_seconds()
    call FailFromC(lock_keep(lock%handle, lock%beat), error)
    if (allocated(error)) call LockRelease(lock)
  end subroutine LockTake

  !> Watches a lock until its owner is known to live or to be gone; text empty: it was released. Signals end that as they end what
  !> comes before the lock.
  subroutine Watch(path, what, silence_most, text, gone)
    character(*), intent(in) :: path, what
    real(dp), intent(in) :: silence_most
    character(:), allocatable, intent(out) :: text
    logical, intent(out) :: gone
    character(:), allocatable :: first
    real(dp) :: start, spent, wait
    integer :: alive
    first = LockText(path)
    start = host_seconds()
    alive = lock_alive(CString(first))
    if (alive < 0 .and. first /= '') call LogInfo("'"//what//"' is locked from elsewhere ("//LockHolder(first)// &
                                                  '): looking for '//Str(silence_most)//' s whether that run lives')
    wait = merge(silence_most, DYING, alive < 0)
    spent = 0
    call host_signals_end(STOPPED)
    do
      spent = host_seconds() - start                            ! before the look: this process may stand still for long at any time
      text = LockText(path)
      alive = lock_alive(CString(text))
      gone = text == '' .or. alive == 0
      if (gone .or. spent > wait) exit
      if (alive < 0 .and. text /= first) exit                   ! the count moved, or somebody else has it now
      call host_nap(min(0.1_dp, 0.1_dp*wait))
    end do
    call host_signals_end(0)
    if (spent > wait) gone = gone .or. (alive < 0 .and. text == first)
  end subroutine Watch

  !> Reads the lock at `path`. Where its owner is no process of this machine that takes until its count moves, two beats at
  !> most; `patience` [s] instead is for tests.
  subroutine LockLook(path, sight, patience)
    character(*), intent(in) :: path
    type(sight_t), intent(out) :: sight
    real(dp), intent(in), optional :: patience
    character(:), allocatable :: first, text
    real(dp) :: start, most_wait
    integer :: alive
    first = LockText(path)
    sight%there = first /= ''
    sight%holder = LockHolder(first)
    if (.not. sight%there) return
    text = first
    alive = lock_alive(CString(first))
    sight%here = alive >= 0
    sight%lives = alive == 1
    most_wait = 2.2_dp*BEAT
    if (present(patience)) most_wait = patience
    start = host_seconds()
    do while (alive < 0 .and. sight%silence < most_wait .and. .not. sight%lives)
      call host_nap(min(0.1_dp, 0.1_dp*most_wait))
      sight%silence = host_seconds() - start
      text = LockText(path)
      sight%lives = text /= first
    end do
    sight%there = text /= ''
    sight%lives = sight%lives .and. sight%there       ! it was given back meanwhile
    sight%waits = Word(text, 'does') == 'waits'
    if (sight%lives) sight%silence = 0
    if (sight%there .and. (sight%here .or. .not. sight%lives)) sight%silence = max(sight%silence, lock_age(CString(path)))
  end subroutine LockLook

  !> The text of the lock, '' if there is none.
  function LockText(path) result(text)
    character(*), intent(in) :: path
    character(:), allocatable :: text
    character(kind=c_char) :: buffer(most)
    integer :: n, i
    n = lock_read(CString(path), most, buffer)
    text = ''
    if (n == -1) return
    if (n <= 0) text = 'unreadable'             ! there is one; who made it is not known
    do i = 1, n
      text = text//buffer(i)
    end do
  end function LockText

  !> True of a file that is a lock, as far as it goes: where there are no links a kill may leave a part of one. One that cannot be
  !> read is told by who wants to take it.
  logical function LockKnown(path) result(known)
    character(*), intent(in) :: path
    character(*), parameter :: beginning = 'lock 1 '
    character(:), allocatable :: text
    integer :: n
    text = LockText(path)
    n = min(len(text), len(beginning))
    known = text == 'unreadable' .or. text(:n) == beginning(:n)
  end function LockKnown

  !> The owner of a lock with this text: 'ann on n7, process 4711, since 2026-11-21T09:00:00Z'.
  pure function LockHolder(text) result(s)
    character(*), intent(in) :: text
    character(:), allocatable :: s
    if (index(text, 'lock 1 ') == 1) then
      s = Word(text, 'user')//' on '//Word(text, 'host')//', process '//Word(text, 'pid')//', since '//Word(text, 'since')
    else
      s = 'the lock does not say whose'
    end if
  end function LockHolder

  pure function Word(text, name) result(s)
    character(*), intent(in) :: text, name
    character(:), allocatable :: s
    integer :: from
    s = '?'
    from = index(text, ' '//name//'=')
    if (from == 0) return
    from = from + len(name) + 2
    s = text(from:from + scan(text(from:)//' ', ' '//new_line('a')//c_null_char) - 2)
  end function Word

  !> True if another process has the lock now. Looks at the file at most once a beat, and at once after any pause longer than that,
  !> so it may be asked before every write.
  logical function LockLost(lock) result(lost)
    type(lock_t), intent(inout) :: lock
    lost = .false.
    if (host_seconds() - lock%looked < lock%beat .or. .not. c_associated(lock%handle)) return
    lost = lock_lost(lock%handle) == 1
    lock%looked = host_seconds()
  end function LockLost

  !> Tells readers of the lock that its owner `waits` for its disk, or no longer does.
  subroutine LockTell(lock, waits)
    type(lock_t), intent(in) :: lock
    logical, intent(in) :: waits
    call lock_tell(lock%handle, merge(1_c_int, 0_c_int, waits))
  end subroutine LockTell

  !> Gives the lock back; twice is harmless.
  subroutine LockRelease(lock)
    type(lock_t), intent(inout) :: lock
    call lock_release(lock%handle)
    lock%handle = c_null_ptr
  end subroutine LockRelease

end module lock_m
