!> Threads of a shot: one where it is tiny, all where it is large, and where that is not plain as many as turn out fastest, on
!> machines pretended by formulas: idle, in use, with many cores, with noise, with load that comes and goes.
program t424_team
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use fd2d_m, only: fd2d_t
  use fd3d_m, only: fd3d_t
  use kinds_m, only: dp, sp
  use scene_m, only: scene_t, SceneNew, SceneScheme, SceneSolid
  use team_m, only: team_t, TeamFor, TeamTake
  use text_m, only: Str
  implicit none
  real(dp), parameter :: grain = 25000              ! cells that a thread has at least

  integer :: kind
  type(team_t) :: team

  call TeamFor(team, 2, 9438.0_dp)
  call Claim(team%threads == 1 .and. team%most == 1, 'a grid of 9438 cells gets one thread of two')
  call TeamFor(team, 2, 2.0e6_dp)
  call Claim(team%threads == 2, 'one of two million cells gets both')
  call TeamFor(team, 64, 1.0e7_dp)
  call Claim(team%threads == 64, 'one of ten million cells begins with 64 of 64')
  call TeamFor(team, 64, 3.3_dp*grain)
  call Claim(team%threads == 3, 'one of '//Str(int(3.3_dp*grain))//' cells with 3 of 64')
  call TeamFor(team, 1, 1.0e9_dp)
  call Claim(team%threads == 1, 'no more than asked for')
  call TeamFor(team, 8, 0.0_dp)
  call Claim(team%threads == 1, 'at least one')
  do kind = 1, 7
    call Machine(kind, 1000, 1.04_dp)
    call Machine(kind, 60, 1.2_dp)
  end do
  call Changes()
  call Kept()
  call Wired2d(60, 4, 1)
  call Wired2d(420, 4, 4)
  call Wired3d(20, 4, 1)
  call Wired3d(44, 4, 3)
  call Done()

contains

  !> Seconds of a chunk of 100 steps of `cells` cells with so many threads. `x`: noise, 0..1.
  real(dp) function Chunk(kind, threads, cells, x) result(seconds)
    integer, intent(in) :: kind, threads
    real(dp), intent(in) :: cells, x
    real(dp) :: one
    one = cells*100/6.0e8_dp
    select case (kind)
    case (1)                                    ! idle: threads meet in 10 us
      seconds = one/threads + 1.0e-5_dp*(threads - 1)
    case (2)                                    ! in use: threads wait for one that does not run
      seconds = 2*one
      if (threads > 1) seconds = 2*one + 8.0e-3_dp*threads
    case (3)                                    ! no more than 12 threads find work
      seconds = one/min(threads, 12) + 3.0e-5_dp*(threads - 1)
    case (4)                                    ! idle, with noise
      seconds = (one/threads + 1.0e-5_dp*(threads - 1))*(0.85_dp + 0.3_dp*x)
    case (5)                                    ! in use, with more
      seconds = merge(2*one, 2*one + 8.0e-3_dp*threads, threads == 1)*(0.7_dp + 0.6_dp*x)
    case (6)                                    ! the memory is saturated by 4
      seconds = one/min(threads, 4)
    case default                                ! cores that are two threads each
      seconds = one/(min(threads, 8) + 0.2_dp*max(0, threads - 8))
    end select
  end function Chunk

  character(60) function Name(kind)
    integer, intent(in) :: kind
    character(60), parameter :: names(7) = [character(60) :: 'an idle machine', 'a machine in use', '12 threads find work', &
                                           'an idle machine with noise', 'a machine in use with noise', 'the memory feeds 4', &
                                           '8 cores of two threads']
    Name = names(kind)
  end function Name

  !> So many chunks, in shots of 60: against the best number of threads throughout.
  subroutine Machine(kind, chunks, bound)
    integer, intent(in) :: kind, chunks
    real(dp), intent(in) :: bound
    type(team_t) :: team
    real(dp) :: total, best, all, cells, x
    integer :: n, p, cores
    cores = 16
    if (kind == 2 .or. kind == 5) cores = 2
    cells = 4.1e5_dp
    if (kind == 2 .or. kind == 5) cells = 5.1e4_dp
    total = 0
    do n = 1, chunks
      if (mod(n - 1, 60) == 0) call TeamFor(team, cores, cells)
      call Add(team, kind, cells, total)
    end do
    best = huge(best)
    do p = 1, cores
      all = 0
      do n = 1, chunks
        call random_number(x)
        all = all + Chunk(kind, p, cells, x)
      end do
      best = min(best, all)
    end do
    call Claim(total <= bound*best, trim(Name(kind))//', '//Str(cores)//' cores, '//Str(chunks)//' chunks: '//Str(total/best, 4)// &
               ' of the time with the best number of threads, bound '//Str(bound, 3)//'; '//Str(team%threads)//' in the end')
  end subroutine Machine

  subroutine Add(team, kind, cells, total)
    type(team_t), intent(inout) :: team
    integer, intent(in) :: kind
    real(dp), intent(in) :: cells
    real(dp), intent(inout) :: total
    real(dp) :: seconds, x
    call random_number(x)
    seconds = Chunk(kind, team%threads, cells, x)
    total = total + seconds
    call TeamTake(team, seconds, 100*cells)
  end subroutine Add

  !> Other programs come and go.
  subroutine Changes()
    type(team_t) :: team
    real(dp) :: total
    integer :: n
    total = 0
    call TeamFor(team, 2, 5.1e4_dp)
    do n = 1, 500
      call Add(team, 2, 5.1e4_dp, total)
    end do
    call Claim(team%threads == 1, 'in use: one thread in the end')
    do n = 1, 3000
      call Add(team, 1, 5.1e4_dp, total)
      if (team%threads == 2 .and. team%home == 0) exit
    end do
    call Claim(n <= 2100, 'the others are gone: two threads after '//Str(n)//' chunks')
    do n = 1, 3000
      call Add(team, 2, 5.1e4_dp, total)
      if (team%threads == 1 .and. team%home == 1) exit
    end do
    call Claim(n <= 100, 'they are back: one thread after '//Str(n)//' chunks')
  end subroutine Changes

  !> The number found stays from shot to shot, for grids about as large.
  subroutine Kept()
    type(team_t) :: team
    real(dp) :: total
    integer :: n
    total = 0
    call TeamFor(team, 2, 5.1e4_dp)
    do n = 1, 20
      call Add(team, 2, 5.1e4_dp, total)
    end do
    call TeamFor(team, 2, 5.3e4_dp)
    call Claim(team%threads == 1, 'a machine in use: the next shot, 4 % larger, begins with one thread')
    call TeamFor(team, 2, 5.3e5_dp)
    call Claim(team%threads == 2, 'one ten times as large begins with both')
    do n = 1, 50
      call Add(team, 2, 5.3e6_dp, total)
    end do
    call Claim(team%threads == 2, 'where a chunk takes a second nothing is tried')
  end subroutine Kept

  !> A 2D shot of about n x n cells, for which `asked` threads are given, gets `expected` of them.
  subroutine Wired2d(n, asked, expected)
    integer, intent(in) :: n, asked, expected
    type(scene_t) :: scene
    type(fd2d_t) :: solver
    type(error_t), allocatable :: error
    character(:), allocatable :: device
    call SceneNew(scene, n, n, 10.0_dp, 2000.0_dp, 1000.0_dp)
    scene%job%tmax = 0.02_dp
    scene%shot%sx = 300
    scene%shot%sz = 300
    call SceneScheme(scene, error)
    scene%scheme%threads = asked
    if (.not. allocated(error)) call solver%setup(scene%scheme, scene%window, scene%shot, error)
    call ClaimFine(error, 'a 2D shot of '//Str(n)//' x '//Str(n)//' cells is set up')
    device = solver%engine%device()
    call Claim(solver%grid%threads == expected .and. Says(device, expected), '  of '//Str(asked)//' threads it gets '// &
               Str(expected)//': '//device)
    call solver%modfd(error)
    call ClaimFine(error, '  and is computed')
    solver%team%threads = 2                     ! as if that had turned out best
    solver%team%home = 1
    solver%team%level = 1
    if (expected > 1) then
      call solver%setup(scene%scheme, scene%window, scene%shot, error)
      call solver%modfd(error)
      device = solver%engine%device()
      call Claim(solver%grid%threads == 2 .and. Says(device, 2), '  the next shot gets what turned out best: '//device)
    end if
    call solver%free()
  end subroutine Wired2d

  !> The same in 3D, set up only: n x n x n cells without layers.
  subroutine Wired3d(n, asked, expected)
    integer, intent(in) :: n, asked, expected
    type(scene_t) :: scene
    type(fd3d_t) :: solver
    type(error_t), allocatable :: error
    character(:), allocatable :: device
    integer :: i
    call SceneSolid(scene, n - 8, 20)           ! four cells more on each side
    associate (s => scene%scheme)
      s%dt_out = s%dt
      s%nt_out = s%nt
      s%components = 'p'
      s%variant = 'cpu'
      s%q = [(real(i, sp), i=1, s%nt)]
      s%threads = asked
    end associate
    scene%shot%sx = 50
    scene%shot%sy = 50
    scene%shot%sz = 50
    scene%shot%rx = [60.0_dp]
    scene%shot%ry = [60.0_dp]
    scene%shot%rz = [60.0_dp]
    call solver%setup(scene%scheme, scene%window, scene%shot, error)
    call ClaimFine(error, 'a 3D shot of '//Str(n)//' x '//Str(n)//' x '//Str(n)//' cells is set up')
    if (allocated(error)) return
    device = solver%engine%device()
    call Claim(solver%grid%threads == expected .and. Says(device, expected), '  of '//Str(asked)//' threads it gets '// &
               Str(expected)//': '//device)
    call solver%free()
  end subroutine Wired3d

  !> '..., 2 threads'
  pure logical function Says(device, threads)
    character(*), intent(in) :: device
    integer, intent(in) :: threads
    Says = index(device//' ', ', '//achar(iachar('0') + threads)//' thread') > 0
  end function Says

end program t424_team
