!> A third physics, tube.f90, models, stops, goes on in mid-shot and verifies with no line changed elsewhere.
!>
!> With words this is the program SplTube; without, the test that calls it.
program t480_third_physics
  use check_m, only: Claim, Done
  use error_m, only: error_t
  use fio_m, only: fio_t, FioClose, FioGet, FioOpen
  use gather_m, only: gather_t
  use spl_m, only: SplMain
  use tube_m, only: tube_t
  implicit none
  type(tube_t), target :: tube
  character(4096) :: me
  integer :: attempt, killed, stopped, unit
  if (command_argument_count() > 0) call SplMain(tube)
  call get_command_argument(0, me)
  open (newunit=unit, file='line.keymap', action='write')
  write (unit, '(a)') 'spread line fixed x0=-87.3 interval=41.9 channels=9 depth=0', &
    'shots first_record=11 n=4 x0=3.7 dx=29.3 z=0 spread=line'
  close (unit)
  call Claim(Spl('', 'plan') == 0, 'plan')
  call Claim(Spl('', 'run output=one.nc') == 0, 'four shots in one process')
  call Claim(Spl('mpirun -n 3 ', 'run output=three.nc') == 0, 'the same with two workers')
  call Claim(Same('three.nc'), 'the same traces, bit for bit')
  ! The survey takes under a second. It may be through before a signal comes: then it begins anew.
  do attempt = 1, 40
    call execute_command_line('rm -rf killed.nc*')
    killed = Signalled('KILL', 'ls killed.nc.states/*.state')
    stopped = Signalled('TERM', 'grep "goes on after step" said.txt')
    if (killed /= 0 .and. stopped /= 0) exit
  end do
  call Claim(killed == 137, 'killed in mid-shot')
  call Claim(stopped == 3, 'gone on in mid-shot, and stopped again')
  call Claim(Spl('', 'status output=killed.nc') == 0, 'status')
  call Claim(Spl('', 'run output=killed.nc checkpoint=0.0005') == 0, 'gone on to the end')
  call Claim(Same('killed.nc'), 'the traces of the undisturbed run, bit for bit')
  call Claim(Spl('', 'run output=killed.nc speed=1600') == 1, 'an output of another job is refused')
  call Claim(Spl('', 'run output=new.nc speed=0') == 1, 'a parameter of this physics out of its range is refused')
  call Claim(Spl('mpirun -n 3 ', 'verify') == 0, 'verify: workers against each other, and the exact solution')
  call Done()

contains

  !> Exit status of SplTube. A shot of the survey takes some 0.2 s.
  integer function Spl(launcher, words) result(status)
    character(*), intent(in) :: launcher, words
    character(:), allocatable :: survey
    survey = ''
    if (index(words, 'verify') == 0) survey = ' keymap=line.keymap dx=0.08 tmax=0.8'
    call execute_command_line(launcher//trim(me)//' '//words//survey//' > said.txt 2>&1; s=$?; cat said.txt; exit $s', &
                              exitstat=status)
  end function Spl

  !> The same of a run that gets a signal when a command succeeds; the run stands still while the command looks. 0 if it was
  !> through before.
  integer function Signalled(signal, when) result(status)
    character(*), intent(in) :: signal, when
    call execute_command_line(': > said.txt; '//trim(me)// &
      ' run output=killed.nc checkpoint=0.0005 grace=0 keymap=line.keymap dx=0.08 tmax=0.8 >> said.txt 2>&1 & p=$!; '// &
      'while kill -STOP $p; ! { '//when//'; } > found.txt 2>&1 && ! grep -q "^State:.Z" /proc/$p/status; '// &
      'do kill -CONT $p; sleep 0.02; done; kill -'//signal//' $p; kill -CONT $p; wait $p; s=$?; cat said.txt; exit $s', &
      exitstat=status)
  end function Signalled

  logical function Same(file)
    character(*), intent(in) :: file
    type(fio_t) :: a, b
    type(gather_t) :: g, h
    type(error_t), allocatable :: error
    integer :: slot
    call FioOpen(a, 'one.nc', error, readonly=.true.)
    if (.not. allocated(error)) call FioOpen(b, file, error, readonly=.true.)
    Same = .not. allocated(error)
    do slot = 1, 4
      if (.not. Same) exit
      call FioGet(a, slot, g, error)
      if (.not. allocated(error)) call FioGet(b, slot, h, error)
      Same = .not. allocated(error)
      if (Same) Same = all(abs(g%traces - h%traces) <= 0) .and. maxval(abs(g%traces)) > 0
    end do
    call FioClose(a, error)
    call FioClose(b, error)
  end function Same

end program t480_third_physics
