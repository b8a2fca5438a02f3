!> A key-map that was damaged anyhow is read or refused with a sentence, never a crash.
program t343_keymap_mutated
  use kinds_m, only: dp
  use check_m, only: Claim, Done, Seed
  use error_m, only: error_t
  use keymap_m, only: keymap_t, KeymapRead, KeymapShot
  use put_m, only: Put
  use shot_m, only: shot_t
  use text_m, only: Str
  implicit none
  character, parameter :: lf = new_line('a')
  character(*), parameter :: good = &
    '# record sx sz spread'//lf//'spread cable streamer first=163.5 interval=12.5 channels=48 depth=8 direction=-1'//lf// &
    'spread ocean fixed x0=1000 interval=25 channels=24 depth=50 y=3'//lf//'spread nodes list nodes.txt'//lf//'lists "own.txt"'// &
    lf// &
    'shot 7 5000 6 cable y=-3.5'//lf//'shot 8 5e3 6 ocean todo'//lf//'shot 9 5000 6 s1 skip'//lf//'shot 10 5 6 nodes'//lf// &
    'shots first_record=101 n=30 x0=6000 dx=-25 z=5.5 spread=cable step=2'//lf//'skip 101 103-107'//lf
  character(*), parameter :: list = 'list s1 # of shot 1'//lf//'1 10 2'//lf//'2 20 2 5'//lf//'list s2'//lf//'9 30 2'//lf
  character(*), parameter :: pieces = ' '//achar(9)//achar(13)//lf//'=#''"-+.eE0123456789999xyz'//achar(0)//achar(127)
  integer, parameter :: rounds = 1500
  integer :: i, nread, nrefused, nodd

  call Seed(20240501)
  nread = 0
  nrefused = 0
  nodd = 0
  call Put('nodes.txt', '12 100.25 50.5 -7'//lf//'3 90 51'//lf)
  do i = 1, rounds
    if (mod(i, 3) == 0) then
      call Put('m.keymap', good)
      call Put('own.txt', Damaged(list))
    else
      call Put('own.txt', list)
      call Put('m.keymap', Damaged(good))
    end if
    call TryRead()
  end do
  call Claim(nodd == 0 .and. nread > rounds/20 .and. nrefused > rounds/4, Str(rounds)//' damaged maps: '//Str(nread)// &
      ' still read, '// &
             Str(nrefused)//' refused with a sentence, '//Str(nodd)//' neither')
  call Done()

contains

  !> Counts what becomes of the map: read (then its last shot must be sound), or refused with a sentence.
  subroutine TryRead()
    type(keymap_t) :: map
    type(error_t), allocatable :: error
    type(shot_t) :: shot
    call KeymapRead(map, 'm.keymap', error)
    if (allocated(error)) then
      nrefused = nrefused + 1
      if (len(error%message) < 20) nodd = nodd + 1
    else
      call KeymapShot(map, map%n, shot)
      nread = nread + 1
      if (size(shot%rx) < 1 .or. any(abs(shot%rx) > 3.0e8_dp) .or. shot%record /= map%record(map%n)) nodd = nodd + 1
    end if
  end subroutine TryRead

  !> One to four bytes changed, cut out, put in, or the rest cut off.
  function Damaged(text) result(bad)
    character(*), intent(in) :: text
    character(:), allocatable :: bad
    integer :: j, at
    bad = text
    do j = 1, Pick(4)
      if (len(bad) < 2) return
      at = Pick(len(bad) - 1)
      select case (Pick(8))
      case (1:3)
        bad(at:at) = pieces(Pick(len(pieces)):)
      case (4:5)
        bad = bad(:at)//bad(at + min(Pick(12), len(bad) - at):)
      case (6:7)
        bad = bad(:at)//repeat(pieces(at - at/len(pieces)*len(pieces) + 1:at - at/len(pieces)*len(pieces) + 1), Pick(20))// &
            bad(at + 1:)
      case default
        if (Pick(5) == 1) bad = bad(:at)
      end select
    end do
  end function Damaged

  integer function Pick(n)
    integer, intent(in) :: n
    real(dp) :: u
    call random_number(u)
    Pick = min(n, 1 + int(n*u))
  end function Pick

end program t343_keymap_mutated
