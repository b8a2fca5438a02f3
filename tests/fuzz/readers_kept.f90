!> Readers of what a run leaves for the next one beside output and journal: states of shots, snapshots, the lock, notes.
module readers_kept_m
  use checkpoint_m, only: checkpointer_t, CheckpointerEnd, CheckpointerNew, CheckpointerResume, CheckpointerTurn, shot_states_t
  use checkpoint_rule_m, only: checkpoint_t
  use checksum_c, only: checksum_floats
  use error_m, only: error_t, FailFromC
  use fd2d_m, only: fd2d_t
  use files_m, only: FileText
  use iso_c_binding, only: c_char, c_int
  use kinds_m, only: dp, i8, sp
  use lock_m, only: LockLook, sight_t
  use tuning_cache_c, only: tuning_cache_find
  use readerparts_m, only: Contradiction, lf, Put, refused, Split, taken, Verdict
  use scene_m, only: scene_t, SceneNew, SceneScheme
  use snapshots_m, only: FioSnapshotPath, FioSnapshotsPlace
  use solver_m, only: time_position_t
  use text_m, only: CString, FString, Str
  implicit none
  private
  public :: Lock, Notes, Snapshots, State

  character(*), parameter :: FIRST = 'shot1.a.state', SECOND = 'shot1.b.state'
  integer, parameter :: HEAD = 4096                !< bytes of a heading

  interface
    integer(c_int) function setenv(name, value, overwrite) bind(c)
      import :: c_char, c_int
      implicit none
      character(kind=c_char), intent(in) :: name(*), value(*)
      integer(c_int), value :: overwrite
    end function setenv
  end interface

contains

  !> Two files of states, parted by the separator, of a shot of a tiny medium. Behind a first '+' a file is the head of a heading,
  !> to which the right identity is put, and as many samples as such a state has; its end is right then, and '@' its step. A shot
  !> goes on or begins anew; it is never at a step that it does not have, and its whole state never refused.
  integer(c_int) function State(input, at) result(outcome)
    character(*), intent(in) :: input, at
    type(scene_t), save :: scene
    character(:), allocatable, save :: good
    type(checkpoint_t) :: rule
    type(checkpointer_t) :: checkpointer
    type(shot_states_t) :: states
    type(fd2d_t), save :: solver
    logical, save :: fresh = .false.             !< the solver is at the first step
    type(error_t), allocatable :: error
    character(:), allocatable :: one, two, said
    type(time_position_t) :: position
    rule%interval = 1.0e9_dp
    rule%folder = at//'states'
    if (.not. allocated(scene%window%medium)) call MakeScene(scene)
    call CheckpointerNew(checkpointer, rule)
    if (.not. allocated(good)) then
      call solver%setup(scene%scheme, scene%window, scene%shot, error)
      call MakeState(checkpointer, solver, rule%folder, good)
    end if
    call Split(input, one, two)
    call Put(rule%folder//'/'//FIRST, Made(one, good))
    call Put(rule%folder//'/'//SECOND, Made(two, good))
    if (.not. fresh) call solver%setup(scene%scheme, scene%window, scene%shot, error)
    call CheckpointerResume(checkpointer, states, solver, 1, said, error)
    outcome = merge(taken, refused, states%head > 0)
    position = solver%time_position()
    if (position%step < 0 .or. position%step > scene%scheme%nt) outcome = Contradiction('step '//Str(position%step))
    if (.not. allocated(error) .and. (states%head > 0 .neqv. position%step > 0)) outcome = Contradiction('a step from nowhere')
    if (len(said) < 15 .and. .not. allocated(error)) outcome = Contradiction("'"//said//"' is no sentence")
    call CheckpointerEnd(checkpointer, said)
    fresh = position%step == 0 .and. .not. allocated(error)
  end function State

  subroutine MakeScene(scene)
    type(scene_t), intent(inout) :: scene
    type(error_t), allocatable :: error
    call SceneNew(scene, 12, 10, 8.0_dp, 2000.0_dp, 1000.0_dp)
    scene%job%tmax = 0.2_dp
    scene%job%npml = 0
    scene%job%half_length = 2
    scene%job%variant = 'cpu'
    scene%job%dispersion = 'warn'
    scene%shot%record = 1
    scene%shot%sx = 40
    scene%shot%sz = 40
    scene%shot%rx = [88.0_dp]                    ! far enough for no correction of the near field, which takes long
    scene%shot%rz = [72.0_dp]
    call SceneScheme(scene, error)
    if (allocated(error)) error stop 'the tiny scene is none'
  end subroutine MakeScene

  !> The file of a state after some steps.
  subroutine MakeState(checkpointer, solver, folder, good)
    type(checkpointer_t), intent(inout) :: checkpointer
    type(fd2d_t), intent(inout) :: solver
    character(*), intent(in) :: folder
    character(:), allocatable, intent(out) :: good
    type(shot_states_t) :: states
    type(error_t), allocatable :: error
    character(:), allocatable :: said
    logical :: done
    call solver%advance(done, error)
    call CheckpointerTurn(checkpointer, states, solver, 1, .true., said, error)
    call FileText(folder//'/'//FIRST, good, error)
    if (allocated(error)) error stop 'no state was made'
  end subroutine MakeState

  !> A file from a part of an input.
  function Made(part, good) result(file)
    character(*), intent(in) :: part, good
    character(:), allocatable :: file, heading
    integer(i8) :: sum
    integer :: identity, n, i, keep
    file = part
    if (index(part, '+') /= 1) return
    identity = index(good, achar(10)//achar(10))
    keep = index(part, achar(0)) - 1             ! samples may follow
    if (keep < 0) keep = len(part)
    heading = part(2:keep)
    i = index(heading, '@')
    n = index(good, 'step ') + 5
    if (i > 0) heading = heading(:i - 1)//good(n:n + index(good(n:), achar(10)) - 2)//heading(i + 1:)
    heading = heading//good(identity:HEAD)
    if (len(heading) < HEAD) heading = heading//repeat(' ', HEAD - len(heading))
    file = good
    file(:HEAD) = heading(:HEAD)
    do i = keep + 2, min(len(part), len(good) - HEAD - 24 + keep + 1)
      file(HEAD + i - keep - 1:HEAD + i - keep - 1) = part(i:i)
    end do
    sum = 0
    do i = 1, HEAD, 4
      sum = checksum_floats(sum, 1_i8, transfer(file(i:i + 3), [0.0_sp]))
    end do
    n = (len(file) - HEAD - 24)/4
    sum = checksum_floats(sum, int(n, i8), transfer(file(HEAD + 1:HEAD + 4*n), [0.0_sp]))
    file(len(file) - 7:) = transfer(sum, repeat(' ', 8))
  end function Made

  !> A lock: whose it is can be said, and it is not taken for alive.
  integer(c_int) function Lock(input, at) result(outcome)
    character(*), intent(in) :: input, at
    character(:), allocatable :: said
    type(sight_t) :: sight
    call Put(at//'k.map', input)
    call LockLook(at//'k.map', sight, 0.0_dp)
    said = sight%holder
    outcome = merge(taken, refused, index(said, ', process ') > 0 .and. index(said, '?') == 0)
    if (len(said) < 15) outcome = Contradiction("'"//said//"' is no sentence")
    if (sight%lives) outcome = Contradiction('a lock that nobody made lives')
  end function Lock

  !> A file that has the name of snapshots: it is known for one, or left alone.
  integer(c_int) function Snapshots(input, at) result(outcome)
    character(*), intent(in) :: input, at
    type(error_t), allocatable :: error
    call Put(FioSnapshotPath(at//'s', 7), input)
    call FioSnapshotsPlace(at//'s', 7, error)
    outcome = Verdict(error)
  end function Snapshots

  !> Notes in the cache folder: what is found for a key is one line.
  integer(c_int) function Notes(input, at) result(outcome)
    character(*), intent(in) :: input, at
    integer(c_int), parameter :: room = 24
    character(kind=c_char, len=room) :: text
    type(error_t), allocatable :: error
    character(:), allocatable :: found
    if (setenv(CString('XDG_CACHE_HOME'), CString(at), 1_c_int) /= 0) error stop 'no environment'
    call Put(at//'SplFd2dmod-fuzz', input)
    text = repeat('x', room)
    call FailFromC(tuning_cache_find(CString('fuzz'), CString('key'), room, text), error)
    outcome = Verdict(error)
    if (outcome /= taken) return
    found = FString(text)
    if (index(text, achar(0)) == 0 .or. index(found, lf) > 0) outcome = Contradiction('a note without an end')
  end function Notes

end module readers_kept_m
