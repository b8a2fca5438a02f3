!> A message whose numbers cannot be is found out before they are taken for sizes and places, and what is wrong is said.
program t472_wrong_messages
  use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value
  use check_m, only: Claim, Done
  use error_m, only: error_t
  use gather_m, only: gather_t
  use gather_seal_m, only: GatherSeal
  use kinds_m, only: dp, i8, sp
  use message_check_m, only: MessageProblem
  use shot_messages_m, only: GatherMessage, ModelMessage, ShotMessage, SnapsMessage, VerdictMessage, WindowMessage
  use protocol_m, only: message_t, MSG_BEAT, MSG_BYE, MSG_DEAD, MSG_DROP, MSG_END, MSG_GATHER, MSG_LEAVE, MSG_LOST, MSG_MEMORY, &
                        MSG_PROGRESS, MSG_READY
  use shot_m, only: shot_t
  use window_m, only: box_t, window_t
  implicit none
  integer, parameter :: workers = 3, shots = 5
  type(message_t) :: m
  type(shot_t) :: shot
  type(window_t) :: window
  type(gather_t) :: gather

  call MakeThings()
  call Right()
  call WrongShots()
  call WrongGathers()
  call WrongOthers()
  call Clean()
  call Done()

contains

  subroutine MakeThings()
    shot = shot_t(record=101, slot=2, sx=1.0_dp, sz=2.0_dp, rx=[1.0_dp, 2.0_dp], ry=[0.0_dp, 0.0_dp], rz=[3.0_dp, 3.0_dp], &
                  channel=[1, 2])
    window%nx = 4
    window%nz = 3
    allocate (window%medium(4, 1, 3, 2))
    window%medium(:, 1, :, 1) = 1500
    window%medium(:, 1, :, 2) = 1000
    gather%record = 101
    gather%slot = 2
    gather%nt = 5
    gather%nrec = 2
    gather%ncomp = 1
    gather%steps = 10
    gather%rx = shot%rx
    gather%rz = shot%rz
    gather%variant = 'cpu'
    gather%device = 'a processor'
    gather%nxs = 2
    gather%nzs = 2
    gather%nsnap = 3
    allocate (gather%snapshots(2, 2, 3))
    gather%snapshots = 0
  end subroutine MakeThings

  !> A GATHER of worker 3.
  subroutine NewGather()
    type(error_t), allocatable :: error
    allocate (gather%traces(5, 2, 1), source=0.0_sp)
    call GatherSeal(gather, ['p'], error)
    m = message_t()
    call GatherMessage(gather, m)
    m%n(12) = 3
  end subroutine NewGather

  subroutine NewShot()
    m = message_t()
    call ShotMessage(shot, window, .false., m)
  end subroutine NewShot

  subroutine Right()
    character(:), allocatable :: why
    call NewShot()
    why = MessageProblem(m)
    m = message_t()
    call ModelMessage(shot, box_t(), m)
    why = why//MessageProblem(m, workers, shots)
    m = message_t()
    call WindowMessage(101, window, m)
    why = why//MessageProblem(m)
    call NewGather()
    why = why//MessageProblem(m, workers, shots)
    m = message_t()
    call SnapsMessage(gather, m)
    m%n(12) = 1
    why = why//MessageProblem(m, workers, shots)
    m = message_t()
    call VerdictMessage(MSG_GATHER, 101, 2, 'no', m)
    why = why//MessageProblem(m)
    m = message_t(kind=MSG_BEAT)
    why = why//MessageProblem(m)
    m = message_t(kind=MSG_DROP)
    m%n(1:3) = [101, 2, 1]
    why = why//MessageProblem(m)
    m = message_t(kind=MSG_END)
    m%n(1:2) = [3, 1]
    why = why//MessageProblem(m)
    m = message_t(kind=MSG_PROGRESS)
    m%n(1) = 2
    why = why//MessageProblem(m, workers, shots)
    call Claim(why == '', 'messages as they are made are sound, all of ten'//why)
  end subroutine Right

  subroutine WrongShots()
    integer :: i
    call NewShot()
    m%n(3) = 3
    call Found('a shot with fewer positions than receivers', '8 positions, must be 4 x 3')
    call NewShot()
    m%n(3) = 2_i8**62
    call Found('a shot of 2**62 receivers', 'receivers = 4611686018427387904')
    call NewShot()
    m%n(1) = 2_i8**31
    call Found('record 2**31', 'record = 2147483648')
    call NewShot()
    m%places(8) = 1e300_dp
    call Found('a channel of 1e300', 'channel')
    call NewShot()
    m%n(9) = 2_i8**62
    call Found('a shot with 2**62 numbers besides of a receiver', 'numbers besides of a receiver = 4611686018427387904')
    call NewShot()
    m%n(9) = 3
    call Found('a shot without its numbers besides', '0 numbers besides, must be 3 x 3')
    m%places = [m%places, [(ieee_value(1.0_dp, ieee_quiet_nan), i=1, 9)]]
    call Found('a shot with numbers besides that are none', 'numbers besides')
    m = message_t()
    call WindowMessage(101, window, m)
    m%n([7, 9]) = [2_i8**31 - 1, 2_i8**31 - 1]
    call Found('a window of 2**31 x 2**31 nodes', '24 samples, must be 2147483647 x 2147483647 x 1 x 2')
    m%n(7) = -4
    call Found('a window that ends at node -4', 'first cell along x = 1, must be 1 .. -4')
    m%n([3, 7]) = [-2_i8**62, 2_i8**62]
    call Found('a window of 2**63 nodes', 'first cell along x = -4611686018427387904')
    m%n([3, 7]) = [1_i8, 4_i8]
    m%n([5, 9]) = [3_i8, 2_i8]
    call Found('a window that ends before it begins', 'first cell along z = 3, must be 1 .. 2')
    call NewShot()
    m%n(7) = -1
    call Found('a shot in a window of -1 rows', 'cells of the window along z = -1')
    call NewShot()
    m%n(8) = 2_i8**40
    call Found('a medium of 2**40 parts', 'parts of the medium = 1099511627776')
    call NewShot()
    m%x(8) = ieee_value(1.0_dp, ieee_quiet_nan)
    call Found('a shot in a window without a spacing', 'a window at no place')
  end subroutine WrongShots

  subroutine WrongGathers()
    call NewGather()
    m%n(3) = 6
    call Found('a gather with too few samples', '10 samples, must be 6 x 2 x 1', .true.)
    call NewGather()
    m%n(3:5) = [4294967296_i8, 4294967296_i8, 1_i8]
    call Found('a gather whose sizes multiply to 0 in 64 bits', 'along a side', .true.)
    call NewGather()
    m%n(2) = shots + 1
    call Found('a gather for a slot behind the last', 'slot = 6, must be 1 .. 5', .true.)
    call NewGather()
    m%n(7) = 1
    call Found('a gather in memory that nobody announced', 'memory that is not known', .true.)
    call NewGather()
    m%n(12) = 0
    call Found('a gather of nobody', 'worker = 0, must be 1 .. 3', .true.)
    call NewGather()
    m%text = 'cpu'
    call Found('a gather without a device', 'device', .true.)
    m = message_t()
    call SnapsMessage(gather, m)
    m%n(12) = 1
    m%n(5) = 4
    call Found('snapshots that are too few', '12 samples, must be 2 x 2 x 4', .true.)
  end subroutine WrongGathers

  subroutine WrongOthers()
    m = message_t(kind=MSG_READY, text='host')
    m%n(1) = workers + 1
    call Found('a worker that there is not', 'worker = 4', .true.)
    m%n(1) = 1
    m%x(1) = -1
    call Found('a worker that makes -1 cell updates a second', 'a rate that is none', .true.)
    m = message_t(kind=MSG_BYE)
    m%n(1) = -1
    call Found('the good-bye of worker -1', 'worker = -1', .true.)
    m = message_t(kind=MSG_PROGRESS)
    m%n(1:2) = [1, 101]
    m%x(1) = -huge(1.0_dp)
    call Found('a fraction done of -1e308', 'fraction', .true.)
    m = message_t(kind=MSG_LOST, text='why')
    m%n(1:2) = [101, 2]
    m%n(12) = workers + 1
    call Found('a loss told by nobody', 'worker = 4', .true.)
    m%kind = MSG_PROGRESS
    m%n(1:2) = [1, 101]
    m%x(1:2) = [0.5_dp, -1.0_dp]
    call Found('a shot that began at a fraction of -1', 'fraction', .true.)
    m = message_t(kind=MSG_LEAVE)
    m%n(1:2) = [1, -15]
    call Found('a worker that got signal -15', 'signal = -15', .true.)
    m = message_t(kind=MSG_DEAD)
    m%n(1:2) = [0, 4711]
    call Found('rank 0 is told that it is dead', 'rank = 0', .true.)
    m%n(1:2) = [2, -1]
    call Found('a dead process of number -1', 'process = -1', .true.)
    m = message_t(kind=MSG_MEMORY)
    m%n(1:3) = [1, 1, 4096]
    call Found('memory without a name', 'the name is missing', .true.)
    m%text = '/proc/1/fd/3 0'
    m%n(2) = 0
    call Found('memory number 0', 'number = 0', .true.)
    m%n(2:3) = [1, -1]
    call Found('memory of -1 bytes', 'bytes = -1', .true.)
    m%n(1) = 2
    call Found('an answer that is neither yes nor no', 'yes or no = 2')
    m = message_t(kind=MSG_END)
    m%n(1) = 2_i8**33
    call Found('an end with exit status 2**33', 'exit status = 8589934592')
    m = message_t(kind=77)
    call Found('a message of kind 77', 'no such message', .true.)
    m = message_t(kind=-1)
    call Found('a message whose header did not arrive', 'no such message')
  end subroutine WrongOthers

  subroutine Found(what, words, home)
    character(*), intent(in) :: what, words
    logical, intent(in), optional :: home
    character(:), allocatable :: why
    if (present(home)) then
      why = MessageProblem(m, workers, shots)
    else
      why = MessageProblem(m)
    end if
    call Claim(index(why, words) > 0, what//': '//why)
  end subroutine Found

  !> Nothing is left for the leak sanitizer to tell of.
  subroutine Clean()
    m = message_t()
    shot = shot_t()
    window = window_t()
    gather = gather_t()
  end subroutine Clean

end program t472_wrong_messages
