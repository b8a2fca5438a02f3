!> The needs of a shot are checked, positions used are told, memory serves shot after shot, snapshots come when asked for, and a field
!> that blows up is caught and named.
module impatient_m
  use kinds_m, only: dp
  implicit none
  private
  public :: AskToStop

  integer :: calls = 0

contains

  !> Stops at the second call.
  subroutine AskToStop(fraction, stop)
    real(dp), intent(in) :: fraction
    logical, intent(inout) :: stop
    calls = calls + 1
    if (calls == 2) stop = fraction > 0
  end subroutine AskToStop

end module impatient_m

program t251_fd2d_shots
  use, intrinsic :: ieee_exceptions, only: ieee_set_flag, ieee_set_halting_mode, ieee_usual
  use check_m, only: Claim, ClaimFails, ClaimFine, Done
  use error_m, only: error_t
  use fd2d_m, only: fd2d_t
  use fd2d_variants_m, only: fd2d_variants
  use gather_m, only: gather_t
  use exact_acoustic_m, only: GreenPressure
  use wavelet_rate_m, only: rate_t, RateNew
  use kinds_m, only: dp, sp
  use impatient_m, only: AskToStop
  use scene_m, only: scene_t, SceneNew, SceneRun, SceneScheme
  use text_m, only: Str
  implicit none
  type(error_t), allocatable :: error
  type(scene_t) :: scene
  type(gather_t) :: gather, again
  type(fd2d_t) :: solver

  call BadShots()
  call Positions()
  call ShotAfterShot()
  call Amplitudes()
  call Snapshots()
  call Trial()
  call StopEarly()
  call BlowUps()
  call WrongNumbers()
  call Done()

contains

  subroutine Fresh()
    call SceneNew(scene, 60, 50, 8.0_dp, 2000.0_dp, 1000.0_dp)
    scene%window%x0 = 5000
    scene%job%tmax = 0.4_dp
    scene%shot%sx = 5100.3_dp
    scene%shot%sz = 33.1_dp
    scene%shot%rx = [5200.7_dp, 5400.0_dp]
    scene%shot%rz = [90.9_dp, 160.0_dp]
    call SceneScheme(scene, error)
  end subroutine Fresh

  subroutine BadShots()
    character(:), allocatable :: names
    call Fresh()
    scene%shot%sx = 4999
    call SceneRun(scene, gather, error)
    call ClaimFails(error, 'source at x = 4999 m', 'source outside the window')
    call Fresh()
    scene%shot%rz(2) = 393
    call SceneRun(scene, gather, error)
    call ClaimFails(error, 'receiver 2 at', 'receiver below the window')
    call Fresh()
    scene%window%medium = scene%window%medium(:, :, :, :1)
    call SceneRun(scene, gather, error)
    call ClaimFails(error, 'is not velocity and density', 'window without density')
    call Fresh()
    scene%window%medium = scene%window%medium(:, :, :20, :)
    call SceneRun(scene, gather, error)
    call ClaimFails(error, 'is not velocity and density', 'window with a medium that ends before it')
    call Fresh()
    scene%job%top = 'free'
    call SceneScheme(scene, error)
    scene%shot%sz = 0
    call SceneRun(scene, gather, error)
    call ClaimFails(error, 'lies on the free surface', 'source on a free surface')
    scene%shot%sz = 3.9_dp
    scene%scheme%exact_positions = .false.
    call SceneRun(scene, gather, error)
    call ClaimFails(error, 'onto the free surface', 'source moved onto a free surface')
    call Fresh()
    scene%window%dx = 9
    call SceneRun(scene, gather, error)
    call ClaimFails(error, 'cells of 9 x 8 m', 'window on another grid')
    call Fresh()
    scene%window%medium(7, 1, 7, 1) = 2100
    call SceneRun(scene, gather, error)
    call ClaimFails(error, 'is unstable where vp = 2100', 'window faster than the scheme was made for')
    call Fresh()
    scene%window%medium(7, 1, 7, 2) = 0
    call SceneRun(scene, gather, error)
    call ClaimFails(error, 'must be positive', 'density 0')
    call Fresh()
    scene%scheme%variant = 'turbo'
    call SceneRun(scene, gather, error)
    call ClaimFails(error, 'no kernel variant "turbo"', 'unknown variant')
    call Fresh()
    scene%scheme%components = 'p,vy'
    call SceneRun(scene, gather, error)
    call ClaimFails(error, '"vy" is unknown', 'unknown component')
    call solver%gather(gather, error)
    call ClaimFails(error, 'asked for after step 0', 'traces before the time loop')
    names = ','//fd2d_variants%names()//','
    call Claim(index(names, ',cpu,') > 0 .and. index(names, ',fortran,') > 0, 'variants: '//names(2:len(names) - 1))
  end subroutine BadShots

  subroutine Positions()
    real(sp) :: off
    call Fresh()
    call SceneRun(scene, gather, error)
    call ClaimFine(error, 'a shot with exact positions')
    call Claim(gather%sx == 5100.3_dp .and. all(gather%rx == scene%shot%rx), 'exact positions are used as asked')
    scene%scheme%exact_positions = .false.
    scene%scheme%components = 'p, vz'
    call SceneRun(scene, gather, error)
    call ClaimFine(error, 'a shot with the nearest nodes')
    call Claim(abs(gather%sx - 5104) + abs(gather%sz - 32) < 1e-9_dp .and. all(abs(gather%rx - [5200, 5400]) < 1e-9_dp) .and. &
               all(abs(gather%rz - [88, 160]) < 1e-9_dp) .and. gather%ncomp == 2, 'nearest nodes are told as the positions used')
    call Fresh()
    scene%shot%rx(1) = 5000
    scene%shot%rz(2) = 0
    call SceneRun(scene, again, error)
    scene%shot%rx(1) = 5000 - 7e-5_dp
    scene%shot%rz(2) = -7e-5_dp
    call SceneRun(scene, gather, error)
    call ClaimFine(error, 'receivers 0.07 mm beside the window, which a model with a sample every 70 m lets pass')
    off = norm2(gather%traces - again%traces)/norm2(again%traces)
    call Claim(off < 1e-4_sp, 'they record what is on its edge, to '//Str(off, 2)//' of it, at most 1e-4')
  end subroutine Positions

  !> The same solver object: another shot between changes nothing.
  subroutine ShotAfterShot()
    type(scene_t) :: other
    call Fresh()
    call OneShot(scene, gather)
    other = scene
    other%shot%sx = 5300
    call OneShot(other, again)
    call Claim(any(again%traces /= gather%traces), 'another shot gives other traces')
    other%window%nx = 55
    other%window%medium = other%window%medium(:55, :, :, :)
    call OneShot(other, again)
    call OneShot(scene, again)
    call ClaimFine(error, 'four shots by one solver')
    call Claim(all(gather%traces == again%traces), 'the first shot comes out the same bit for bit')
    call solver%free()
    call solver%free()
  end subroutine ShotAfterShot

  subroutine OneShot(scene, gather)
    type(scene_t), intent(in) :: scene
    type(gather_t), intent(inout) :: gather
    if (.not. allocated(error)) call solver%setup(scene%scheme, scene%window, scene%shot, error)
    if (.not. allocated(error)) call solver%modfd(error)
    if (.not. allocated(error)) call solver%gather(gather, error)
  end subroutine OneShot

  !> Traces follow the amplitude, however large or small.
  subroutine Amplitudes()
    call Fresh()
    call SceneRun(scene, gather, error)
    scene%job%amplitude = 2.0_dp**(-90)
    call SceneScheme(scene, error)
    call SceneRun(scene, again, error)
    call ClaimFine(error, 'a source of 1e-27 m2/s')
    call Claim(all(gather%traces == again%traces*2.0_sp**90), 'its traces are those of 1 m2/s times the factor, bit for bit')
  end subroutine Amplitudes

  !> Snapshots: shape, times, and pressure as of the exact solution; the same however many a step.
  subroutine Snapshots()
    type(rate_t) :: rate
    real(dp) :: p(1), r
    real(dp), parameter :: steps(4) = [0.5_dp, 0.8_dp, 1.0_dp, 1.6_dp]
    real(sp) :: off
    integer :: n
    call Fresh()
    scene%job%snapshot = 0.05_dp
    scene%job%snapshot_step = 3
    scene%job%dt = 2e-4_dp
    call SceneScheme(scene, error)
    call SceneRun(scene, gather, error)
    call ClaimFine(error, 'a shot with snapshots')
    call Claim(gather%nsnap == 9 .and. gather%nxs == 20 .and. gather%nzs == 17 .and. abs(gather%dxs - 24) < 1e-12_dp .and. &
               abs(gather%xs0 - 5000) < 1e-9_dp .and. abs(gather%zs0) < 1e-9_dp, Str(gather%nsnap)//' snapshots of '//Str(gather%nxs)// &
               ' x '//Str(gather%nzs)//' nodes')
    call RateNew(rate, scene%wavelet)
    r = hypot(5000 + 12*24 - scene%shot%sx, 8*24 - scene%shot%sz)
    call GreenPressure(rate, 2000.0_dp, 1000.0_dp, r, [0.15_dp], p)
    call Claim(abs(gather%snapshots(13, 9, 4) - p(1)) < 0.02_dp*abs(p(1)), 'pressure at a node of snapshot 4: '// &
               Str(gather%snapshots(13, 9, 4), 4)//' Pa, exact '//Str(p(1), 4)//' Pa')
    call Fresh()
    call SceneRun(scene, again, error)
    scene%scheme%snapshot = 0.0317_dp
    call SceneRun(scene, gather, error)
    call Claim(all(gather%traces == again%traces), 'snapshots change no bit of the traces')
    scene%scheme%snapshot = 8*scene%scheme%dt
    call SceneRun(scene, again, error)
    do n = 1, size(steps)
      scene%scheme%snapshot = steps(n)*scene%scheme%dt
      call SceneRun(scene, gather, error)
      off = maxval(abs(gather%snapshots(:, :, ::nint(8/steps(n))) - again%snapshots))/maxval(abs(again%snapshots))
      call Claim(off < 1e-6_sp, 'snapshots every '//Str(steps(n))//' time steps, at the times of those every 8: off by '// &
                 Str(off, 2)//' of the largest, at most 1e-6')
    end do
  end subroutine Snapshots

  !> The trial of a rank's speed before its first shot leaves nothing behind.
  subroutine Trial()
    character(7), parameter :: variants(2) = ['fortran', 'cpu    ']
    real(dp) :: rate
    integer :: n
    call Fresh()
    call SceneRun(scene, again, error)
    do n = 1, 2
      scene%scheme%variant = trim(variants(n))
      rate = solver%trial(scene%scheme)
      call Claim(rate > 1.0e4_dp .and. rate < 1.0e13_dp, trim(variants(n))//': a trial says '//Str(1e-6_dp*rate, 4)// &
                 ' million cell updates a second')
    end do
    call Fresh()
    call SceneRun(scene, gather, error)
    call Claim(all(gather%traces == again%traces), 'a trial changes no bit of the traces')
  end subroutine Trial

  subroutine StopEarly()
    call Fresh()
    call solver%setup(scene%scheme, scene%window, scene%shot, error)
    call solver%modfd(error, AskToStop)
    call ClaimFails(error, 'stopped on request at step ', 'progress asked to stop')
    call solver%free()
  end subroutine StopEarly

  !> Layers that amplify (a negative frequency turns their decay around).
  subroutine BlowUps()
    character(7), parameter :: variants(2) = ['fortran', 'cpu    ']
    integer :: n
    do n = 1, 2
      call Fresh()
      scene%scheme%variant = trim(variants(n))
      scene%scheme%fpeak = -60
      call SceneRun(scene, gather, error)
      call ClaimFails(error, 'absorbing layer', trim(variants(n))//': layers that amplify')
    end do
  end subroutine BlowUps

  !> A number that goes bad after step 100 in the midst of a shot: step and cell are told while the bad cells do not fill the grid, and
  !> that it did not come again when the shot was repeated. A long shot is not repeated.
  subroutine WrongNumbers()
    integer, parameter :: cell(2, 4) = reshape([121, 70, 5, 70, 121, 3, 100, 141], [2, 4])
    real(sp) :: bad(4)
    integer :: n
    call ieee_set_halting_mode(ieee_usual, .false.)
    bad = [transfer(2143289344, 1.0_sp), 1e38_sp, -huge(1.0_sp), transfer(2139095040, 1.0_sp)]   ! NaN, ..., infinite
    call SceneNew(scene, 180, 110, 8.0_dp, 2000.0_dp, 1000.0_dp)
    scene%job%tmax = 0.4_dp
    scene%shot%sx = 700
    scene%shot%sz = 300
    call SceneScheme(scene, error)
    do n = 1, size(bad)
      call WrongNumber(cell(:, n), bad(n), 3, 0.0_dp)
      call Claim(index(error%message, 'stayed sound when they were repeated') > 0, 'number '//Str(n)//' goes bad, and not again')
      deallocate (error)
      call WrongNumber(cell(:, n), bad(n), 3, 3600.0_dp)
      call ClaimFails(error, 'a wrong bit in memory or processor', 'number '//Str(n)//' goes bad in a long shot')
    end do
    call WrongNumber(cell(:, 1), bad(1), 100, 3600.0_dp)
    call ClaimFails(error, 'by step 200 of ', 'a number goes bad, a look 100 steps later')
    call solver%free()
    call ieee_set_flag(ieee_usual, .false.)
  end subroutine WrongNumbers

  !> Makes `error` hold the sentence, and claims that it names step and cell while they can be known. `seconds`: said to have been
  !> spent on the shot.
  subroutine WrongNumber(cell, bad, steps, seconds)
    integer, intent(in) :: cell(2), steps
    real(sp), intent(in) :: bad
    real(dp), intent(in) :: seconds
    real(sp), allocatable :: sigma(:, :)
    call solver%setup(scene%scheme, scene%window, scene%shot, error)
    if (.not. allocated(error)) call solver%timestep(100, error)
    call ClaimFine(error, 'a hundred sound steps')
    solver%seconds = seconds
    allocate (sigma(solver%grid%nx, solver%grid%nz))
    call solver%engine%field(0, sigma, error)
    sigma(cell(1), cell(2)) = bad
    call solver%engine%set_field(0, sigma, error)
    call solver%timestep(steps, error)
    if (steps < 10 .and. allocated(error)) &
      call Claim(index(error%message, 'step 100 of ') > 0 .and. index(error%message, '(cell '//Str(cell(1))//', '// &
                 Str(cell(2))//' of ') > 0, 'bad since step 100 at cell '//Str(cell(1))//', '//Str(cell(2))//': '//error%message)
  end subroutine WrongNumber

end program t251_fd2d_shots
