!> Key-maps that spl-keymap writes are read here as they were meant, and the demo's key-map is what it says; spl-keymap info takes and
!> refuses the same maps.
program t342_keymap_tool_agrees
  use kinds_m, only: dp
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use keymap_m, only: keymap_t, KeymapRead, KeymapShot
  use shot_m, only: shot_t
  use text_m, only: Str
  implicit none
  type(error_t), allocatable :: error
  character(:), allocatable :: root, python

  root = Environment('ROOT', '.')
  python = Environment('PYTHON', 'python3')
  call DemoMap()
  call RegularLines()
  call OwnReceivers()
  call SameJudgement()
  deallocate (root, python)                  ! a main program's variables are never freed by themselves
  call Done()

contains

  subroutine DemoMap()
    type(keymap_t) :: map
    type(shot_t) :: shot
    call KeymapRead(map, root//'/keymaps/demo12.keymap', error)
    call ClaimFine(error, 'keymaps/demo12.keymap reads')
    if (map%n /= 12) return
    call KeymapShot(map, 12, shot)
    call Claim(map%n == 12 .and. map%nrec_max == 96 .and. shot%record == 112 .and. shot%sx == 5700 .and. shot%rx(1) == 5575, &
               'it has 12 shots of 96 channels, the last at '//Str(shot%sx)//' m, its near receiver at '//Str(shot%rx(1))//' m')
  end subroutine DemoMap

  subroutine RegularLines()
    type(keymap_t) :: shipped, made
    call Tool('line --shots 12 --first-x 3500 --shot-interval 200 --source-depth 6 --first-record 101 --first-offset 125 '// &
              '--interval 25 --channels 96 --depth 8 -o made.keymap')
    call KeymapRead(shipped, root//'/keymaps/demo12.keymap', error)
    call KeymapRead(made, 'made.keymap', error)
    call ClaimFine(error, 'a line made by spl-keymap reads')
    call Claim(made%hash == shipped%hash, 'and is the same as demo12.keymap: hash '//made%hash//' = '//shipped%hash)
  end subroutine RegularLines

  !> An SU file of two shots with three irregular receivers each: lists of their own, with a y.
  subroutine OwnReceivers()
    type(keymap_t) :: map
    type(shot_t) :: shot
    integer :: unit, i, c
    integer, parameter :: gx(3, 2) = reshape([900, 840, 800, 960, 880, 850], [3, 2]), gy(3) = [0, 3, -4]
    open (newunit=unit, file='own.su', access='stream', form='unformatted', status='replace')
    do i = 1, 2
      do c = 1, 3
        call PutTrace(unit, 70 + i, c, 1000 + 50*(i - 1), gx(c, i), gy(c))
      end do
    end do
    close (unit)
    call Tool('su own.su --azimuth 90 --origin 0 0 --source-depth 7 --depth 9.25 -o own.keymap')
    call KeymapRead(map, 'own.keymap', error)
    call ClaimFine(error, 'shots with receivers of their own, imported from SU, read')
    if (map%n /= 2) return
    call KeymapShot(map, 2, shot)
    call Claim(map%n == 2 .and. shot%record == 72 .and. abs(shot%sx - 1050) < 1e-9_dp .and. all(abs(shot%rx - gx(:, &
        2)) < 1e-9_dp) .and. &
               all(abs(shot%ry + gy) < 1e-9_dp) .and. all(shot%rz == 9.25_dp) .and. shot%sz == 7, &
               'shot 72 is at 1050 m, its receivers at 960, 880, 850 m, y to the right of +x, depths 7 and 9.25 m')
  end subroutine OwnReceivers

  !> A trace of four zeros with its header; byte order of this machine.
  subroutine PutTrace(unit, record, channel, sx, gx, gy)
    use, intrinsic :: iso_fortran_env, only: int16, int32
    integer, intent(in) :: unit, record, channel, sx, gx, gy
    integer(int32) :: words(60)
    integer(int16) :: halves(120)
    words = 0
    words(3) = record
    words(4) = channel
    words(19) = sx
    words(21) = gx
    words(22) = gy
    halves = transfer(words, halves)
    halves(58) = 4_int16
    write (unit) halves, [0_int32, 0_int32, 0_int32, 0_int32]
  end subroutine PutTrace

  !> Odd maps, right and wrong: each is read by both or by neither.
  subroutine SameJudgement()
    character, parameter :: lf = new_line('a')
    character(*), parameter :: shot = 'shot 1 0 6 c'//lf, rest = ' x0=0 dx=25 z=6 spread=c'//lf
    call Both(.true., 'SHOT 0001 .5'//char(12)//'+6.d0 "c" Skip y = -3'//char(13)//'shot 2 5. 0e-99 c#k'//lf)
    call Both(.true., shot//'shot 5 1e8 -1e6 c'//lf//'shot 6 0 6 c'//lf//'skip 1 5-5'//lf)
    call Both(.true., 'shot 1 0 6 c REDO'//lf//'redo 1-9 1'//lf//'shots first_record=2 n=3'//rest(:len(rest) - 1)//' redo'//lf)
    call Both(.false., shot//'redo 2'//lf)
    call Both(.true., '# L'//char(228)//'nge'//lf//shot)
    call Both(.true., 'shots first_record=2147483647 n=1 step=2147483647'//rest)
    call Both(.false., 'shot 3 1_000 6 c'//lf)
    call Both(.false., 'shot 3 0 1000000.1 c'//lf)
    call Both(.false., 'shots first_record=9 n=3 step=-3'//rest)
    call Both(.false., shot//'skip 1-'//lf)
    call Both(.false., shot//'shot 5 0 6 c'//lf//'skip 5-1'//lf)
    call Both(.false., shot//'skip 1 5'//lf)
    call Both(.false., 'shot 3 '//char(217)//char(161)//' 6 c'//lf)      ! a digit of another script, in UTF-8
    call Both(.false., 'shot 3'//char(194)//char(160)//'0 6 c'//lf)      ! a blank that is none here
    call Both(.false., 'shot 0 0 6 c'//lf//'shot 3 x 6 c'//lf)
    call Both(.false., 'shot 3 1e-400 6 c'//lf)
    call Both(.false., 'shot 3 0 6 c y=1 Y=1'//lf)
    call Both(.false., 'shot 3 0 6 c skip'//lf)
    call Both(.false., 'shot 3 0 6 c y=""'//lf)
    call Both(.false., 'shots first_record=1 n=""'//rest)
    call Both(.false., shot//'shot 5 0 6 c'//lf//'skip "5'//lf)
    call Both(.false., 'shots first_record=1 n=1000000'//rest//'shot 2000000 0 6 c'//lf)
  end subroutine SameJudgement

  subroutine Both(right, shots)
    logical, intent(in) :: right
    character(*), intent(in) :: shots
    type(keymap_t) :: map
    integer :: unit, status
    open (newunit=unit, file='odd.keymap', access='stream', form='unformatted', status='replace')
    write (unit) 'spread c streamer first=100 interval=12.5 channels=10 depth=8'//new_line('a')//shots
    close (unit)
    call KeymapRead(map, 'odd.keymap', error)
    call execute_command_line(python//' '//root//'/tools/spl-keymap info odd.keymap > said.txt 2>&1', exitstat=status)
    call Claim((allocated(error) .neqv. right) .and. (status /= 0 .neqv. right), trim(merge('taken  ', 'refused', right))// &
               ' by both: '//shots(:scan(shots, new_line('a')) - 1))
    if (allocated(error)) deallocate (error)
  end subroutine Both

  subroutine Tool(arguments)
    character(*), intent(in) :: arguments
    integer :: status
    call execute_command_line(python//' '//root//'/tools/spl-keymap '//arguments//' > said.txt 2>&1', exitstat=status)
    call Claim(status == 0, 'spl-keymap '//arguments)
  end subroutine Tool

  function Environment(name, default) result(value)
    character(*), intent(in) :: name, default
    character(:), allocatable :: value
    character(1000) :: buffer
    call get_environment_variable(name, buffer)
    value = trim(buffer)
    if (value == '') value = default
  end function Environment

end program t342_keymap_tool_agrees
