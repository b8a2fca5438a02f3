!> A key-map gives the shots, positions and receivers that its text says, and its fingerprint follows what matters only.
program t340_keymap
  use kinds_m, only: dp, i8
  use check_m, only: Claim, ClaimFine, Done, Seed
  use error_m, only: error_t
  use keymap_m, only: keymap_t, KeymapFind, KeymapRead, KeymapShot
  use put_m, only: Put
  use shot_m, only: shot_t
  use text_m, only: Join, Str
  use textfile_m, only: NumberOf
  implicit none
  character, parameter :: lf = new_line('a')
  character(2), parameter :: crlf = achar(13)//achar(10)
  character(*), parameter :: cable = 'spread cable streamer first=163.5 interval=12.5 channels=468 depth=8'//lf
  character(8), parameter :: bad(17) = [character(8) :: '', '+', '.', '-.', '1-2', '2*3', 'nan', 'inf', '1e', '1e+', 'e5', &
      '1.2.3', &
                                        '0x10', '1,5', '--1', '1e400', '1 2']
  type(error_t), allocatable :: error

  call Seed(20260101)
  call StreamerMoves()
  call SpreadsOfAllKinds()
  call ManySpellings()
  call SkipsAndOrder()
  call HashFollowsWhatMatters()
  call NumbersAreExact()
  call ManyShotsAreQuick()
  call ManyListsAreQuick()
  call Done()

contains

  subroutine StreamerMoves()
    type(keymap_t) :: map
    type(shot_t) :: shot
    call Put('a.keymap', '# record sx sz spread'//lf//cable//'shot 7 5000 6 cable y=-3.5'//lf// &
        'shots first_record=101 n=3 x0=6000 '// &
             'dx=-25 z=5.5 spread=cable step=2'//lf)
    call KeymapRead(map, 'a.keymap', error)
    call ClaimFine(error, 'a streamer map reads')
    call Claim(map%n == 4 .and. all(map%record == [7, 101, 103, 105]) .and. map%nrec_max == 468 .and. map%ntraces == 4*468_i8, &
               'four shots 7, 101, 103, 105 of 468 receivers: n = '//Str(map%n)//', nrec_max = '//Str(map%nrec_max))
    call KeymapShot(map, 1, shot)
    call Claim(shot%record == 7 .and. shot%slot == 1 .and. shot%sx == 5000 .and. shot%sz == 6 .and. shot%sy == -3.5_dp, &
               'shot 7 is at x 5000, z 6, y -3.5')
    call Claim(shot%rx(1) == 4836.5_dp .and. abs(shot%rx(468) - (5000 - 163.5_dp - 467*12.5_dp)) == 0 .and. &
               all(shot%rz == 8) .and. &
               all(shot%ry == -3.5_dp) .and. shot%channel(468) == 468, 'its streamer trails at smaller x: '//Str(shot%rx(1))// &
               ' .. '// &
               Str(shot%rx(468))//' m')
    call KeymapShot(map, 4, shot)
    call Claim(shot%sx == 5950 .and. shot%rx(1) == 5786.5_dp .and. shot%sz == 5.5_dp, 'shot 105 has moved by 2 x -25 m to '// &
        Str(shot%sx))
    call Claim(KeymapFind(map, 103) == 3 .and. KeymapFind(map, 102) == 0 .and. KeymapFind(map, 1) == 0 .and. KeymapFind(map, &
        999) == 0, &
               'shots are found by record number')
  end subroutine StreamerMoves

  subroutine SpreadsOfAllKinds()
    type(keymap_t) :: map
    type(shot_t) :: shot
    call execute_command_line('mkdir -p sub')
    call Put('sub/nodes.txt', '12 100.25 50.5 -7'//lf//'3 90 51'//lf)
    call Put('sub/own.txt', 'list s1 # of shot 1'//lf//'1 10 2'//lf//'2 20 2 5'//lf//'list s2'//lf//'9 30 2'//lf)
    call Put('sub/all.keymap', 'shot 1 0 5 s1'//lf//'shot 2 0 5 s2'//lf//'shot 3 500 5 nodes'//lf//'shot 4 500 5 ocean'//lf// &
             'shot 5 500 5 split'//lf//'shot 6 500 5 picked'//lf// &
             'spread nodes list nodes.txt'//lf//'lists "own.txt"'//lf// &
             'spread ocean fixed x0=1000 interval=25 channels=240 depth=50 y=3'// &
             lf//'spread split streamer first=-100 interval=50 channels=5 depth=0 direction=+1'//lf)
    call Put('sub/all2.txt', 'list other'//lf//'4 1 1'//lf//'list picked'//lf//'5 2 1'//lf)
    call Append('sub/all.keymap', 'spread picked list all2.txt'//lf)
    call KeymapRead(map, 'sub/all.keymap', error)
    call ClaimFine(error, 'streamer, fixed and list spreads in one map, files relative to the map''s folder, defined after use')
    call KeymapShot(map, 1, shot)
    call Claim(size(shot%rx) == 2 .and. all(shot%rx == [10, 20]) .and. all(shot%ry == [0, 5]), &
        'shot 1 has its own list s1 of two receivers')
    call KeymapShot(map, 2, shot)
    call Claim(size(shot%rx) == 1 .and. shot%channel(1) == 9, 'shot 2 has its own list s2: channel '//Str(shot%channel(1)))
    call KeymapShot(map, 3, shot)
    call Claim(all(shot%channel == [12, 3]) .and. all(shot%rx == [100.25_dp, 90.0_dp]) .and. &
               all(shot%rz == [50.5_dp, 51.0_dp]) .and. &
               all(shot%ry == [-7, 0]), 'a list of bare rows keeps channel, x, z, y and their order')
    call KeymapShot(map, 4, shot)
    call Claim(shot%rx(1) == 1000 .and. shot%rx(240) == 6975 .and. all(shot%rz == 50) .and. all(shot%ry == 3), &
        'a fixed spread stays: '// &
               Str(shot%rx(1))//' .. '//Str(shot%rx(240))//' m')
    call KeymapShot(map, 5, shot)
    call Claim(all(shot%rx == [400, 450, 500, 550, 600]), 'a split spread goes along')
    call KeymapShot(map, 6, shot)
    call Claim(size(shot%rx) == 1 .and. shot%channel(1) == 5, 'one list is picked from a file of several')
    call KeymapShot(map, 4, shot)
    call Claim(size(shot%rx) == 240 .and. map%nrec_max == 240, 'the largest spread has 240 receivers')
  end subroutine SpreadsOfAllKinds

  !> Byte-order mark, CRLF, tabs, capitals, blanks around '=', a line of 100,000 characters, no end of the last line.
  subroutine ManySpellings()
    type(keymap_t) :: plain, odd
    call Put('plain.keymap', cable//'shot 1 5000 6 cable'//lf//'shot 2 5025.25 6 cable'//lf)
    call KeymapRead(plain, 'plain.keymap', error)
    call ClaimFine(error, 'the plain spelling reads')
    call Put('odd.keymap', char(239)//char(187)//char(191)//'# '//repeat('long ', 20000)//crlf//crlf//achar(9)// &
             'SPREAD'//achar(9)//'cable Streamer First = 163.50 interval= 1.25e1 channels =468 depth=+8.0 # m'//crlf// &
             'Shot 2'//achar(9)//'5025.25 6 cable TODO#'//crlf//'   '//crlf//'shot 0001 5.0d3 6. '//'''cable''')
    call KeymapRead(odd, 'odd.keymap', error)
    call ClaimFine(error, 'mark, CRLF, tabs, capitals, blanks around =, quotes and a comment of 100,000 characters read')
    call Claim(odd%hash == plain%hash .and. odd%n == 2, 'and mean the same: '//odd%hash//' = '//plain%hash)
  end subroutine ManySpellings

  subroutine SkipsAndOrder()
    type(keymap_t) :: map, again
    call Put('skip.keymap', cable//'shot 30 0 6 cable'//lf//'shot 10 100 6 cable'//lf//'shot 20 200 6 cable skip'//lf// &
             'shots first_record=40 n=10 x0=0 dx=10 z=6 spread=cable'//lf//'skip 41 43-45 48-60'//lf)
    call KeymapRead(map, 'skip.keymap', error)
    call ClaimFine(error, 'shots in any order, some marked skip')
    call Claim(map%n == 6 .and. map%nskipped == 7, '6 shots stay, 7 are skipped: '//Str(map%n)//', '//Str(map%nskipped))
    if (map%n == 6) call Claim(all(map%record == [10, 30, 40, 42, 46, 47]), 'they are 10, 30, 40, 42, 46, 47 in this order')
    call Put('redo.keymap', cable//'shot 30 0 6 cable redo'//lf//'shots first_record=1 n=5 x0=0 dx=10 z=6 spread=cable'//lf// &
             'redo 2-3 30'//lf//'skip 5'//lf//'redo 3'//lf)
    call KeymapRead(again, 'redo.keymap', error)
    call ClaimFine(error, 'shots to be modelled again')
    call Claim(all(again%redo == [0, 1, 2, 0, 2]), 'each redo counts once for each shot it names')
    call Claim(KeymapFind(map, 43) == 0 .and. KeymapFind(map, 46) == 5, 'a skipped shot is not found, shot 46 is in slot 5')
  end subroutine SkipsAndOrder

  subroutine HashFollowsWhatMatters()
    character(16) :: first
    first = HashOf(cable//'shot 1 5000 6 cable'//lf)
    call Claim(first == HashOf('spread x streamer depth=8 first=163.5  interval=12.50 channels=468 # x'//lf// &
        'shot 1 5e3 6 x y=-0'//lf// &
                               'shot 2 0 0 x skip'//lf), &
                               'names, order, comments, spelling and skipped shots do not change the hash '//first)
    call Claim(first /= HashOf(cable//'shot 1 5000.001 6 cable'//lf), 'a source moved by 1 mm does')
    call Claim(first /= HashOf(cable//'shot 2 5000 6 cable'//lf), 'another record number does')
    call Claim(first /= HashOf(cable//'shot 1 5000 6 cable y=1'//lf), 'another y does')
    call Claim(first /= HashOf(cable//'shot 1 5000 6.5 cable'//lf), 'another source depth does')
    call Claim(first /= HashOf('spread cable streamer first=163.5 interval=12.5 channels=467 depth=8'//lf// &
        'shot 1 5000 6 cable'//lf), &
               'one channel fewer does')
    call Claim(first /= HashOf('spread cable streamer first=163.5 interval=12.5 channels=468 depth=8.1'//lf// &
        'shot 1 5000 6 cable'//lf), &
               'another streamer depth does')
    call Claim(first /= HashOf(cable//'shots first_record=1 n=2 x0=5000 dx=5 z=6 spread=cable'//lf), 'one shot more does')
    call Put('h1.txt', 'list a'//lf//'1 10 5'//lf//'2 20 5'//lf)
    first = HashOf('lists h1.txt'//lf//'shot 1 0 5 a'//lf)
    call Claim(first == HashOf('spread a fixed x0=10 interval=10 channels=2 depth=5'//lf//'shot 1 0 5 a'//lf), &
               'the same receivers as a list or as a fixed spread are the same: '//first)
  end subroutine HashFollowsWhatMatters

  character(16) function HashOf(text)
    character(*), intent(in) :: text
    type(keymap_t) :: map
    call Put('hash.keymap', text)
    call KeymapRead(map, 'hash.keymap', error)
    if (allocated(error)) call ClaimFine(error, 'a map to be hashed reads')
    HashOf = map%hash
  end function HashOf

  !> The quick way of reading numbers gives the same bits as the compiler's.
  subroutine NumbersAreExact()
    character(40) :: text
    real(dp) :: value, wanted, u(3)
    integer :: i, wrong
    logical :: ok
    wrong = 0
    do i = 1, 20000
      call random_number(u)
      if (mod(i, 2) == 0) then
        write (text, '(f0.5)') (u(1) - 0.5_dp)*10**(9*u(2))
      else
        write (text, '(es24.16)') (u(1) - 0.5_dp)*10**(9*u(2))
      end if
      text = adjustl(text)
      read (text, *) wanted
      call NumberOf(trim(text), value, ok)
      if (.not. ok .or. transfer(value, 0_i8) /= transfer(wanted, 0_i8)) wrong = wrong + 1
    end do
    call Claim(wrong == 0, '20000 random numbers read bit by bit as the compiler reads them; '//Str(wrong)//' differ')
    call Claim(.not. any([(IsNumber(trim(bad(i))), i=1, size(bad))]), 'none of these is a number: '//Join(bad))
  end subroutine NumbersAreExact

  logical function IsNumber(text)
    character(*), intent(in) :: text
    real(dp) :: value
    call NumberOf(text, value, IsNumber)
  end function IsNumber

  !> 10,000 shots of a 480-channel streamer, a line each.
  subroutine ManyShotsAreQuick()
    type(keymap_t) :: map
    type(shot_t) :: shot
    real(dp) :: seconds
    integer :: unit, i
    open (newunit=unit, file='many.keymap', status='replace', action='write')
    write (unit, '(a)') 'spread cable streamer first=163.5 interval=12.5 channels=480 depth=8'
    do i = 10000, 1, -1
      write (unit, '(a,i0,1x,f0.2,a)') 'shot ', i, 50.25_dp*i, ' 6.0 cable todo # shot by shot'
    end do
    close (unit)
    seconds = Clock()
    call KeymapRead(map, 'many.keymap', error)
    seconds = Clock() - seconds
    call ClaimFine(error, '10,000 shots of a 480-channel streamer read')
    call Claim(seconds < seconds_max(0.5_dp), 'in '//Str(seconds, 3)//' s (bound '//Str(seconds_max(0.5_dp))//' s)')
    call KeymapShot(map, 10000, shot)
    call Claim(map%n == 10000 .and. map%ntraces == 4800000 .and. abs(shot%sx - 502500) < 1e-6_dp, 'all are there, sorted')
  end subroutine ManyShotsAreQuick

  !> 10,000 shots with a list of 120 receivers each: 1.2 million lines.
  subroutine ManyListsAreQuick()
    type(keymap_t) :: map
    type(shot_t) :: shot
    character(:), allocatable :: text
    character(40) :: row
    real(dp) :: seconds
    integer :: i, c, at, unit
    integer, parameter :: nshots = 10000, width = 27
    allocate (character(nshots*(120*width + 12)) :: text)
    at = 0
    do i = 1, nshots
      write (row, '(a,i6.6)') 'list s', i
      text(at + 1:at + 13) = row(:12)//lf
      at = at + 13
      do c = 1, 119
        write (row, '(i3,1x,f9.2,1x,f5.2,1x,f6.1)') c, 25.0_dp*i + 12.5_dp*c, 8.25_dp, -3.5_dp
        text(at + 1:at + width) = row(:width - 1)//lf
        at = at + width
      end do
      text(at + 1:at + 8) = '120 0 8'//lf
      at = at + 8
    end do
    call Put('own.receivers', text(:at))
    open (newunit=unit, file='own.keymap', status='replace', action='write')
    write (unit, '(a)') 'lists own.receivers'
    do i = 1, nshots
      write (unit, '(a,i0,1x,f0.2,a,i6.6)') 'shot ', i, 25.0_dp*i, ' 6 s', i
    end do
    close (unit)
    seconds = Clock()
    call KeymapRead(map, 'own.keymap', error)
    seconds = Clock() - seconds
    call ClaimFine(error, '10,000 shots with lists of 120 receivers of their own read ('//Str(at/1000000)//' MB)')
    call Claim(seconds < seconds_max(5.0_dp), 'in '//Str(seconds, 3)//' s (bound '//Str(seconds_max(5.0_dp))//' s)')
    call KeymapShot(map, 777, shot)
    call Claim(map%nrec_max == 120 .and. shot%rx(4) == 777*25 + 50 .and. shot%rx(120) == 0 .and. shot%ry(4) == -3.5_dp, &
               'shot 777 has its own receivers')
    call execute_command_line('rm -f own.receivers')
  end subroutine ManyListsAreQuick

  !> Sanitizers make the same work several times slower.
  real(dp) function seconds_max(bound)
    real(dp), intent(in) :: bound
    character(200) :: folder
    call get_environment_variable('B', folder)
    seconds_max = merge(10*bound, bound, index(folder, 'debug') > 0)
  end function seconds_max

  !> Processor time [s].
  real(dp) function Clock()
    call cpu_time(Clock)
  end function Clock

  subroutine Append(path, text)
    character(*), intent(in) :: path, text
    integer :: unit
    open (newunit=unit, file=path, access='stream', form='unformatted', status='old', position='append', action='write')
    write (unit) text
    close (unit)
  end subroutine Append

end program t340_keymap
