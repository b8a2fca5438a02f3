!> One holder at a time: a lock refuses the second, is taken over from the dead, and an owner that lost it is told.
program t332_lock
  use check_m, only: Claim, ClaimFails, ClaimFine, Done
  use error_m, only: error_t
  use files_m, only: FileExists, FileText
  use host_c, only: host_nap, host_seconds
  use kinds_m, only: dp
  use lock_m, only: lock_t, LockLook, LockLost, LockRelease, LockTake, LockTell, sight_t
  use text_m, only: Str
  implicit none
  character(*), parameter :: path = 'out.nc.lock', what = 'out.nc'
  real(dp), parameter :: every = 0.05_dp
  type(error_t), allocatable :: error
  character(4096) :: self

  call get_command_argument(0, self)
  if (command_argument_count() == 1) then
    call Racer()
  else if (command_argument_count() == 2) then
    call Look()
  else
    call Simple()
    call Elsewhere()
    call StoodStill()
    call Dead()
    call TakenAway()
    call Unwritable()
    call Race()
    call Left()
    call Done()
  end if

contains

  subroutine Simple()
    type(lock_t) :: one, two
    type(sight_t) :: sight
    character(:), allocatable :: text, again
    call LockTake(one, path, what, error, every)
    call ClaimFine(error, 'a lock is taken')
    call FileText(path, text, error)
    call Claim(index(text, 'lock 1 user=') == 1 .and. index(text, ' host=') > 0 .and. index(text, ' pid=') > 0 .and. &
               index(text, ' beat=') > 0 .and. len(text) < 600, 'it says whose it is: '//text(:len(text) - 1))
    call LockTake(two, path, what, error, every)
    call LockLook(path, sight)
    call ClaimFails(error, sight%holder, 'a second one is refused and told who has it')
    call Claim(.not. LockLost(one), 'the first one still has it')
    call Claim(sight%lives .and. sight%here .and. .not. sight%waits, 'and is seen to live, here, and not to wait')
    call LockTell(one, .true.)
    call Until(waits=.true.)
    call LockTell(one, .false.)
    call Until(waits=.false.)
    call FileText(path, again, error)
    call Claim(len(again) == len(text), 'which changes no length: '//again(:len(again) - 1))
    call LockRelease(one)
    call LockRelease(one)
    call Claim(.not. FileExists(path), 'released, twice: the file is gone')
    call LockTake(two, path, what, error, every)
    call ClaimFine(error, 'and can be taken again')
    call LockRelease(two)
    call LockLook(path, sight)
    call Claim(.not. (sight%there .or. sight%lives), 'where there is none, none is seen')
  end subroutine Simple

  !> The lock shows, soon, whether its owner waits for its disk.
  subroutine Until(waits)
    logical, intent(in) :: waits
    type(sight_t) :: sight
    integer :: i
    do i = 1, 1000
      call LockLook(path, sight)
      if (sight%waits .eqv. waits) exit
      call host_nap(0.01_dp)
    end do
    call Claim(sight%lives .and. (sight%waits .eqv. waits), 'it is seen '//trim(merge('to wait for its disk', 'to deal again       ', &
                                                                                      waits)))
  end subroutine Until

  !> The text of the lock as an owner on another machine would have written it: same length, so its count stays where it is.
  subroutine Move(old)
    character(:), allocatable, intent(out) :: old
    integer :: unit, at
    call FileText(path, old, error)
    at = index(old, ' here=') + 6
    open (newunit=unit, file=path, access='stream', form='unformatted', action='write', status='old')
    write (unit, pos=at) 'ffffffff'
    close (unit)
  end subroutine Move

  !> From elsewhere only the count tells: one that moves is respected however long it takes, one that does not is taken over.
  subroutine Elsewhere()
    type(lock_t) :: one, two
    type(sight_t) :: sight
    character(:), allocatable :: old
    real(dp) :: start
    call LockTake(one, path, what, error, every)
    call Move(old)
    start = host_seconds()
    call LockTake(two, path, what, error, every, 20.0_dp)
    call ClaimFails(error, 'in use by another run', 'an owner elsewhere whose count moves')
    call LockLook(path, sight, 20.0_dp)
    call Claim(sight%lives .and. .not. sight%here, 'it is seen to live, elsewhere')
    call LockRelease(one)
    call LockTake(one, path, what, error, 1.0e6_dp)        ! counts once in a fortnight
    call Move(old)
    call LockLook(path, sight, 0.5_dp)
    call Claim(sight%there .and. .not. sight%lives .and. sight%silence >= 0.5_dp, 'a count that stands still is no sign of life, for '// &
               Str(sight%silence, 3)//' s')
    call LockTake(two, path, what, error, every, 0.5_dp)
    call ClaimFine(error, 'an owner elsewhere whose count stands still for 0.5 s is taken over from')
    call Claim(host_seconds() - start < 60, 'after '//Str(host_seconds() - start, 3)//' s in all')
    one%beat = 0
    call Claim(LockLost(one), 'and is told so')
    call Claim(.not. LockLost(two), 'the other one has it')
    call LockRelease(one)
    call Claim(FileExists(path), 'what the first one releases is not the lock of the second')
    call LockRelease(two)
  end subroutine Elsewhere

  !> A job that looks for an owner elsewhere and stands still meanwhile, stopped or for want of a core, longer than it would look, takes
  !> nothing over if the count has moved by then.
  subroutine StoodStill()
    type(lock_t) :: one
    character(:), allocatable :: old, said
    integer :: status, patience
    patience = 1
    do                                                     ! longer where it was through before it could be stopped
      call LockTake(one, path, what, error, 1.0e6_dp)      ! counts once in a fortnight
      call Move(old)
      call execute_command_line("'"//trim(self)//"' look "//Str(patience)//' > looked 2>&1 & p=$!; '// &
        'while [ -e /proc/$p/exe ] && ! grep -q "is locked from elsewhere" looked; do sleep 0.01; done; kill -STOP $p; '// &
        'sed "s/beat=0/beat=1/" '//path//' > moved; sleep 0.2; grep -q taken looked && { kill -KILL $p; exit 3; }; cat moved > '//path//'; '// &
        'sleep '//Str(patience + 1)//'; kill -CONT $p; wait $p', exitstat=status)
      call LockRelease(one)
      if (status /= 3 .or. patience > 50) exit
      patience = 4*patience
      call execute_command_line('rm -f '//path)
    end do
    call FileText('looked', said, error)
    call Claim(status == 0 .and. index(said, 'refused') > 0, 'one that stood still for longer than the '//Str(patience)// &
               ' s of its look leaves the lock of an owner elsewhere whose count moved: '//said(index(said, new_line('a')) + 1:))
    call execute_command_line('rm -f '//path)
  end subroutine StoodStill

  !> 'look N': tries to take the lock, looking for N seconds whether an owner elsewhere lives, and says what came of it.
  subroutine Look()
    type(lock_t) :: lock
    character(8) :: word
    integer :: patience
    call get_command_argument(2, word)
    read (word, *) patience
    call LockTake(lock, path, what, error, every, real(patience, dp))
    if (allocated(error)) then
      print '(a)', 'refused: '//error%message
    else
      print '(a)', 'taken'
    end if
  end subroutine Look

  !> A process of this machine that is dead, and one whose number somebody else has by now; a text that says nothing.
  subroutine Dead()
    type(lock_t) :: one
    character(:), allocatable :: text
    integer :: unit, status
    call execute_command_line("'"//trim(self)//"' die > /dev/null", exitstat=status)
    call Claim(FileExists(path), 'a process takes the lock and is killed: exit status '//Str(status))
    call FileText(path, text, error)
    call LockTake(one, path, what, error, every, 1000.0_dp)
    call ClaimFine(error, 'a lock whose owner died on this machine is taken over at once')
    call LockRelease(one)
    open (newunit=unit, file=path, status='replace')
    write (unit, '(a)') text(:index(text, ' pid=') + 4)//'1'//text(index(text, ' since='):len(text) - 1)
    close (unit)
    call LockTake(one, path, what, error, every, 1000.0_dp)
    call ClaimFine(error, 'so is one whose process number belongs to another process now')
    call LockRelease(one)
    open (newunit=unit, file=path, status='replace')
    close (unit)
    call LockTake(one, path, what, error, every, 0.3_dp)
    call ClaimFine(error, 'and an empty file, after the wait for an owner elsewhere')
    call LockRelease(one)
  end subroutine Dead

  subroutine TakenAway()
    type(lock_t) :: one, two
    integer :: i
    call LockTake(one, path, what, error, every)
    call execute_command_line('rm '//path)
    do i = 1, 1000
      call host_nap(0.01_dp)
      if (FileExists(path)) exit
    end do
    call Claim(FileExists(path), 'a lock removed by hand is put back')
    call execute_command_line('rm '//path)
    call LockTake(two, path, what, error, every)
    if (allocated(error)) then                     ! it was put back in between
      deallocate (error)
    else
      call host_nap(2*every)
      call Claim(LockLost(one), 'removed by hand and taken by another one: the first is told')
      call Claim(.not. LockLost(two), 'and the other has it')
      call LockRelease(two)
    end if
    call LockRelease(one)
    call Claim(.not. FileExists(path), 'nothing stays')
  end subroutine TakenAway

  subroutine Unwritable()
    type(lock_t) :: one
    call LockTake(one, 'nowhere/lock', what, error, every)
    call ClaimFails(error, "cannot write 'nowhere/lock': No such file", 'a folder that is not there')
    call Claim(.not. LockLost(one), 'a lock that was never taken is nobody''s')
    call LockRelease(one)
  end subroutine Unwritable

  !> Many processes at once, one after the other the owner dies: never two have it.
  subroutine Race()
    character(:), allocatable :: text
    integer :: status, n, i
    call execute_command_line("'"//trim(self)//"' die > /dev/null; for i in 1 2 3 4 5 6 7 8; do '"//trim(self)// &
                              "' race > /dev/null & done; wait", exitstat=status)
    call FileText('ledger', text, error)
    call ClaimFine(error, 'eight processes race for the lock of a dead one')
    n = 0
    do i = 1, len(text) - 1, 2
      if (text(i:i + 1) == '<>') n = n + 1
    end do
    call Claim(2*n == len(text) .and. n == 8, 'each had it alone: '//text)
    call Claim(.not. FileExists(path), 'nothing stays')
  end subroutine Race

  !> Files that a killed process leaves as it makes or takes a lock go with the next lock; those of a living one, and of no lock, stay.
  subroutine Left()
    type(lock_t) :: one
    character(*), parameter :: token = '.0123456789abcdef', gone(*) = [character(40) :: token, token//'.dead', '.unreadable.dead', &
                                                                       token//'.old', token//'.dead'//token, '.f'//token(3:)//'.dead']
    character(*), parameter :: stays(*) = [character(40) :: '.notes', token//'0', token//'.dead.par', '.old', '.f'//token(3:)]
    character(:), allocatable :: text
    integer :: status, i
    logical :: removed, kept
    call execute_command_line("'"//trim(self)//"' die > /dev/null", exitstat=status)
    call FileText(path, text, error)
    call execute_command_line('rm '//path)
    do i = 1, size(gone)
      call Write(path//gone(i), merge(text, repeat(' ', len(text)), i < size(gone)))
    end do
    do i = 1, size(stays) - 1
      call Write(path//trim(stays(i)), text)
    end do
    call LockTake(one, path, what, error, every)
    call FileText(path, text, error)
    call Write(path//trim(stays(size(stays))), text)
    call LockRelease(one)
    call LockTake(one, './'//path, what, error, every)
    call ClaimFine(error, 'a lock beside what dead processes have left is taken')
    removed = .not. any([(FileExists(path//trim(gone(i))), i=1, size(gone))])
    kept = all([(FileExists(path//trim(stays(i))), i=1, size(stays))])
    call Claim(removed, 'what they left is gone')
    call Claim(kept, 'what is of a living one, or has another name, stays')
    call LockRelease(one)
  end subroutine Left

  subroutine Write(name, text)
    character(*), intent(in) :: name, text
    integer :: unit
    open (newunit=unit, file=trim(name), access='stream', form='unformatted', status='replace')
    write (unit) trim(text)
    close (unit)
  end subroutine Write

  !> 'die': takes the lock and is killed. 'race': tries until it has it, and says so in the ledger.
  subroutine Racer()
    type(lock_t) :: lock
    character(4) :: word
    integer :: tries
    call get_command_argument(1, word)
    do tries = 1, 1000
      call LockTake(lock, path, what, error, every)
      if (.not. allocated(error)) exit
      deallocate (error)
    end do
    if (word == 'die ') call execute_command_line('kill -9 $PPID')
    call execute_command_line("printf '<' >> ledger")
    call host_nap(0.05_dp)
    call execute_command_line("printf '>' >> ledger")
    call LockRelease(lock)
  end subroutine Racer

end program t332_lock
