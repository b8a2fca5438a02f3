!> The window of a shot: identity on the model's grid, right means on others, a crop of the whole, every bad geometry named, and no
!> window where a bit of the model has changed in memory.
program t302_model_window
  use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value
  use check_m, only: Claim, ClaimFails, ClaimFine, Done
  use kinds_m, only: dp, i8, sp
  use model_checksum_m, only: ModelChecksumMake
  use model_m, only: model_t
  use model_window_m, only: ModelGrid, ModelShape, ModelWindow
  use text_m, only: Str
  use window_case_m, only: error, Fresh, job, model, nx, nz, shot
  use window_m, only: box_t, window_t, WindowAtOnce
  implicit none
  integer :: i, k

  call Fresh()
  call Identity()
  call Coarser()
  call Finer()
  call Nearest()
  call Crops('average', [2, 2, 2, 2, 2])
  call Crops('cell', [2, 3, 3, 3, 3])
  call ByThreads()
  call AtOnce()
  call Grids()
  call BadGeometry()
  call WrongBit()
  call Done()

contains

  subroutine Identity()
    type(window_t) :: w
    call ModelWindow(model, job, shot, model%dx, model%dz, w, error)
    call ClaimFine(error, 'a window on the grid of the model')
    call Claim(w%nx == nx .and. w%nz == nz .and. all(w%medium(:, 1, :, 1) == model%vp) .and. &
               all(w%medium(:, 1, :, 2) == model%rho), &
      'is the model itself, bit for bit')
    call Claim(w%x0 == model%x0 .and. w%z0 == model%z0 .and. w%dx == 20 .and. w%dz == 10, 'in its place')
  end subroutine Identity

  !> 50 m from 20 m samples: node i stands for 50i - 25 .. 50i + 25, samples for 20j - 10 .. 20j + 10: overlaps of 15, 20, 15 m
  !> around an even i, of 5, 20, 20, 5 m around an odd one. Along z 10 m stay 10 m.
  subroutine Coarser()
    type(window_t) :: w
    real(dp) :: v, r, worst_v, worst_r
    integer :: j
    call ModelWindow(model, job, shot, 50.0_dp, model%dz, w, error)
    call ClaimFine(error, 'a window on 50 m from 20 m')
    call Claim(w%nx == 41 .and. w%nz == nz, 'has 41 x '//Str(w%nz)//' nodes')
    worst_v = 0
    worst_r = 0
    do k = 1, nz
      do i = 2, 38, 2
        j = 5*i/2 + 1   ! the sample at node i, counted from 0
        v = 50/(15/real(model%vp(j - 1, k), dp) + 20/real(model%vp(j, k), dp) + 15/real(model%vp(j + 1, k), dp))
        r = (15*real(model%rho(j - 1, k), dp) + 20*real(model%rho(j, k), dp) + 15*real(model%rho(j + 1, k), dp))/50
        worst_v = max(worst_v, abs(w%medium(i + 1, 1, k, 1)/v - 1))
        worst_r = max(worst_r, abs(w%medium(i + 1, 1, k, 2)/r - 1))
        j = (5*i + 5)/2 + 1   ! sample left of node i + 1
        v = 50/(5/real(model%vp(j - 1, k), dp) + 20/real(model%vp(j, k), dp) + 20/real(model%vp(j + 1, k), dp) + &
          5/real(model%vp(j + 2, k), dp))
        worst_v = max(worst_v, abs(w%medium(i + 2, 1, k, 1)/v - 1))
      end do
    end do
    call Claim(worst_v < 2e-7_dp, 'velocity is the mean slowness by overlap: relative error '//Str(worst_v, 2)//', at most 2e-7')
    call Claim(worst_r < 2e-7_dp, 'density is the mean by overlap: relative error '//Str(worst_r, 2)//', at most 2e-7')
    v = 35/(20/real(model%vp(1, 5), dp) + 15/real(model%vp(2, 5), dp))
    call Claim(abs(w%medium(1, 1, 5, 1)/v - 1) < 2e-7_dp, 'at the side the mean is over what there is: relative error '// &
      Str(abs(w%medium(1, 1, 5, 1)/v - 1), 2))
    call ModelWindow(model, job, shot, 40.0_dp, 30.0_dp, w, error)
    r = sum([((model%rho(i, k)*merge(1, 2, i /= 51)*1.0_dp, i=50, 52), k=30, 32)])/12
    call Claim(abs(w%medium(26, 1, 11, 2)/r - 1) < 2e-7_dp, 'both axes coarser: 3 x 3 samples in one node, relative error '// &
      Str(abs(w%medium(26, 1, 11, 2)/r - 1), 2))
    model%vp = 2345.678_sp
    call ModelWindow(model, job, shot, 33.3_dp, 17.7_dp, w, error)
    call Claim(all(w%medium(:, 1, :, 1) == 2345.678_sp), 'a uniform velocity stays what it is, bit for bit, at any spacing')
    call Fresh()
  end subroutine Coarser

  subroutine Finer()
    type(window_t) :: w
    real(dp) :: x, worst_v, worst_r
    ! slowness and density linear in x and z: linear interpolation is exact
    do k = 1, nz
      do i = 1, nx
        model%vp(i, k) = real(1/(6.0e-4_dp - 2.0e-6_dp*i - 3.0e-6_dp*k), sp)
        model%rho(i, k) = 1000 + 2*i + 3*k
      end do
    end do
    call ModelWindow(model, job, shot, 7.0_dp, 4.0_dp, w, error)
    call ClaimFine(error, 'a window on 7 m x 4 m from 20 m x 10 m')
    worst_v = 0
    worst_r = 0
    do k = 1, 101
      do i = 1, 285
        x = 6.0e-4_dp - 2.0e-6_dp*(1 + (i - 1)*7/20.0_dp) - 3.0e-6_dp*(1 + (k - 1)*4/10.0_dp)
        worst_v = max(worst_v, abs(w%medium(i, 1, k, 1)*x - 1))
        worst_r = max(worst_r, abs(w%medium(i, 1, k, 2)/(1000 + 2*(1 + (i - 1)*7/20.0_dp) + 3*(1 + (k - 1)*4/10.0_dp)) - 1))
      end do
    end do
    call Claim(w%nx == 287 .and. w%nz == 101, 'has '//Str(w%nx)//' x '//Str(w%nz)//' nodes, 287 x 101 cover the model')
    call Claim(worst_v < 3e-7_dp .and. worst_r < 2e-7_dp, 'is linear in slowness and density: relative errors '//Str(worst_v, 2)// &
      ' (at most 3e-7) and '//Str(worst_r, 2)//' (at most 2e-7)')
    call Claim(all(w%medium(1:281:20, 1, 1:101:5, 1) == model%vp(1:99:7, 1:41:2)), &
               'and the samples themselves where nodes fall on them')
    call Fresh()
  end subroutine Finer

  subroutine Nearest()
    type(window_t) :: w
    job%regrid = 'nearest'
    call ModelWindow(model, job, shot, 7.0_dp, 25.0_dp, w, error)
    call Claim(all([(w%medium(i, 1, 4, 1) == model%vp(nint((i - 1)*7/20.0_dp) + 1, 9), i=1, 285)]), &
      'nearest takes the nearest sample')
    call Fresh()
  end subroutine Nearest

  !> What is asked for at once, a number of default size has room for, whatever the window and its cells are.
  subroutine AtOnce()
    type(window_t) :: w
    integer(i8) :: most, numbers
    integer :: parts(4) = [0, 3, 75, 2500], c, layers
    most = 0
    do c = 1, size(parts)
      w = window_t(nx=merge(1, 700, c > 2), ny=merge(1, 900, c > 2), nz=huge(1), parts=parts(c))
      layers = WindowAtOnce(w, box_t([1, 1, 1], [w%nx, w%ny, w%nz]))
      numbers = int(layers, i8)*w%nx*w%ny*max(5, parts(c))
      most = max(most, numbers)
      if (layers < 1 .or. numbers < 40000000) exit
    end do
    call Claim(c > size(parts) .and. most < 270000000, 'cells of 3 to 2500 parts are asked for by at most '//Str(int(most))//' numbers')
    w = window_t(nx=40000, ny=40000, nz=9, parts=5)
    call Claim(WindowAtOnce(w, box_t([1, 1, 1], [w%nx, w%ny, w%nz])) == 1, 'one layer at least')
  end subroutine AtOnce

  !> Two densities where the grid is not the model's along x or z, one where it is.
  subroutine Crops(rule, parts)
    character(*), intent(in) :: rule
    integer, intent(in) :: parts(5)                   ! of the medium, on each of these grids
    real(dp), parameter :: steps(2, 5) = reshape([20.0_dp, 10.0_dp, 50.0_dp, 25.0_dp, 7.0_dp, 3.0_dp, 33.3_dp, 11.1_dp, &
      0.1_dp*30, 10.0_dp], [2, 5])
    type(window_t) :: whole, w, piece
    type(box_t) :: box
    integer :: n, i0
    job%regrid = rule
    do n = 1, 5
      job%aperture = -1
      job%depth = 0
      call ModelWindow(model, job, shot, steps(1, n), steps(2, n), whole, error)
      job%aperture = 123.4_dp
      job%depth = 205
      call ModelWindow(model, job, shot, steps(1, n), steps(2, n), w, error)
      call ClaimFine(error, 'a window of aperture 123.4 m and depth 205 m at '//Str(steps(1, n))//' m x '//Str(steps(2, n))//' m')
      i0 = nint((w%x0 - whole%x0)/steps(1, n))
      call Claim(all(w%medium == whole%medium(i0 + 1:i0 + w%nx, :, :w%nz, :)), &
        'equals nodes '//Str(i0 + 1)//' .. '//Str(i0 + w%nx)//' of the whole, bit for bit')
      box = box_t([3, 1, 2], [3 + n, 1, 7])
      call ModelWindow(model, job, shot, steps(1, n), steps(2, n), piece, error, box)
      call Claim(all(lbound(piece%medium) == [3, 1, 2, 1]) .and. all(ubound(piece%medium) == [3 + n, 1, 7, parts(n)]) .and. &
                 all(abs(piece%medium - w%medium(3:3 + n, :, 2:7, :)) <= 0) .and. piece%nx == w%nx .and. piece%x0 == w%x0, &
                 'a box of it has the same bits by the same numbers')
      call Claim(abs(w%x0 - (whole%x0 + i0*steps(1, n))) < 1e-9_dp .and. w%x0 <= shot%sx - 123.4_dp .and. &
        w%x0 > shot%sx - 123.4_dp - steps(1, n) .and. &
        w%x0 + (w%nx - 1)*w%dx >= 411.4_dp + 123.4_dp .and. w%x0 + (w%nx - 2)*w%dx < 411.4_dp + 123.4_dp .and. &
        (w%nz - 1)*w%dz >= 205 .and. (w%nz - 2)*w%dz < 205, 'and reaches no further than needed, from x = '//Str(w%x0)//' m')
    end do
    shot%sx = -499
    call ModelWindow(model, job, shot, 20.0_dp, 10.0_dp, w, error)
    call Claim(w%x0 == model%x0, 'at the side of the model the window ends with it')
    call Fresh()
  end subroutine Crops

  !> A window that is large enough for several threads to bring columns of it to the grid.
  subroutine ByThreads()
    type(window_t) :: one, some
    job%regrid = 'cell'
    job%threads = 1
    call ModelWindow(model, job, shot, 2.3_dp, 0.7_dp, one, error)
    job%threads = 3
    call ModelWindow(model, job, shot, 2.3_dp, 0.7_dp, some, error)
    call Claim(one%nx*one%nz > 3*150000 .and. all(abs(some%medium - one%medium) <= 0), 'three threads make the bits that one makes')
    call Fresh()
  end subroutine ByThreads

  subroutine Grids()
    real(dp) :: dx, dz
    type(window_t) :: w
    call ModelGrid(job, model, dx, dz, error)
    call Claim(dx == 20 .and. dz == 10, 'without dx and dz the grid is that of the model: '//Str(dx)//' x '//Str(dz)//' m')
    job%dx = 20.000000001_dp
    job%dz = 4
    call ModelGrid(job, model, dx, dz, error)
    call Claim(dx == 20 .and. dz == 4, 'a hair off the spacing of the model is that spacing, else what was asked for')
    job%dx = 3000
    call ModelGrid(job, model, dx, dz, error)
    call ClaimFails(error, 'dx = 3000 m is larger than the model, 2000 m', 'a spacing larger than the model')
    job%dx = 1.0e-5_dp
    call ModelGrid(job, model, dx, dz, error)
    call ClaimFails(error, 'more than 1e8 cells', 'an absurdly fine spacing')
    call Fresh()
    call ModelWindow(model, job, shot, 0.01_dp, 0.01_dp, w, error)
    call ClaimFails(error, '200001 x 40001 nodes (64 GB)', 'a window too large to index')
    job%aperture = 0
    shot%rx = [203.3_dp]
    shot%rz = [8.0_dp]
    shot%sx = 200
    shot%rx = [200.0_dp]
    call ModelWindow(model, job, shot, 20.0_dp, 10.0_dp, w, error)
    call ClaimFails(error, '1 x 41 nodes, must have 2 x 2 or more', 'a window of no width')
    call Fresh()
  end subroutine Grids

  subroutine Refused(words, claim)
    character(*), intent(in) :: words, claim
    type(window_t) :: w
    call ModelShape(model, job, shot, 20.0_dp, 10.0_dp, w, error)
    call ClaimFails(error, words, claim)
    call Fresh()
  end subroutine Refused

  subroutine BadGeometry()
    type(window_t) :: w
    call ModelShape(model, job, shot, 20.0_dp, 10.0_dp, w, error)
    call ClaimFine(error, 'a shot within the model')
    shot%sx = -500
    shot%rx(3) = 1500
    shot%rz(3) = 400
    shot%sz = 0
    call ModelShape(model, job, shot, 20.0_dp, 10.0_dp, w, error)
    call ClaimFine(error, 'a shot at the very corners of the model')
    call Fresh()
    shot%sx = -500.1_dp
    call Refused('shot record 12: source at x = -500.1 m lies beside the model, x = -500 .. 1500 m', 'a source beside the model')
    shot%sz = -1
    call Refused('above the top of the model, z = 0 m: depths of key-map and model count from the same zero', 'a source in the air')
    shot%sz = 401
    call Refused('below the model, which ends at z = 400 m', 'a source below the model')
    job%top = 'free'
    shot%sz = 0
    call Refused('would radiate nothing', 'a source on the free surface')
    shot%rx(2:) = [2000.0_dp, 3000.0_dp]
    call Refused('receiver 2 of 3 at x = 2000 m lies beside the model, x = -500 .. 1500 m (and 1 more receiver)', &
      'receivers beside the model')
    shot%rz(1) = -0.5_dp
    call Refused('receiver 1 of 3 at z = -0.5 m lies above', 'a receiver in the air')
    job%depth = 100
    shot%rz(3) = 150
    call Refused('below the modelled part, which depth = 100 m ends at z = 100 m', 'a receiver below the modelled depth')
    shot%rx = shot%rx(:0)
    call Refused('no receivers', 'a shot without receivers')
    shot%rx(2) = ieee_value(1.0_dp, ieee_quiet_nan)
    call Refused('x = NaN m', 'a receiver at no number')
    shot%sx = 5000
    shot%rz = -1
    call Refused('source at x = 5000 m lies beside the model, x = -500 .. 1500 m; receiver 1 of 3', 'all faults of a shot at once')
    shot%sx = 5000
    call Refused('x = -500 .. 1500 m: shift the key-map or the model along x', 'and what to do')
    shot%sx = 5000
    call ModelWindow(model, job, shot, 20.0_dp, 10.0_dp, w, error)
    call ClaimFails(error, 'beside the model', 'no window is cut for a shot outside')
  end subroutine BadGeometry

  !> In each sample that a window is made from, and in samples that it is not.
  subroutine WrongBit()
    type(model_t) :: wide
    type(window_t) :: w
    real(dp) :: dx
    integer :: found, needed, n, m, unneeded
    call Fresh()
    wide = model
    wide%nx = 2000
    wide%vp = spread(model%vp(1, :), 1, 2000)
    wide%rho = spread(model%rho(1, :), 1, 2000)
    call ModelChecksumMake(wide%vp, wide%rho, wide%checksum)
    job%aperture = 3000
    job%depth = 200
    shot%sx = 15000
    shot%rx = [15100.0_dp, 15200.0_dp, 15300.0_dp]
    found = 0
    needed = 0
    unneeded = 0
    do m = 1, 3
      dx = 10.0_dp*m                              ! finer, the same, coarser
      do n = 1, 2000, 9
        call FlipBit(wide%vp(n, 1 + mod(n, 20)))
        call ModelWindow(wide, job, shot, dx, 10.0_dp, w, error)
        if (n > 626 .and. n < 916) needed = needed + 1
        if (n > 626 .and. n < 916 .and. allocated(error)) found = found + 1
        if ((n < 512 .or. n > 1024) .and. allocated(error)) unneeded = unneeded + 1
        if (allocated(error)) then
          if (index(error%message, 'is not what was read') == 0) found = -9999
          deallocate (error)
        end if
        call FlipBit(wide%vp(n, 1 + mod(n, 20)))
      end do
    end do
    call Claim(found == needed .and. needed > 80 .and. unneeded == 0, 'one wrong bit of velocity: '//Str(found)//' of '//Str(needed)// &
               ' found before a window was cut, '//Str(unneeded)//' far from the window refused, must be 0')
    call FlipBit(wide%rho(800, 7))
    call ModelWindow(wide, job, shot, 20.0_dp, 10.0_dp, w, error)
    call ClaimFails(error, 'row 7, samples 513..1024', 'one wrong bit of density')
    call FlipBit(wide%rho(800, 7))
    call FlipBit(wide%rho(800, 40))
    call ModelWindow(wide, job, shot, 20.0_dp, 10.0_dp, w, error)
    call ClaimFine(error, 'one wrong bit below the modelled depth')
  end subroutine WrongBit

  subroutine FlipBit(x)
    real(sp), intent(inout) :: x
    x = transfer(ieor(transfer(x, 1), 1), 1.0_sp)
  end subroutine FlipBit

end program t302_model_window
