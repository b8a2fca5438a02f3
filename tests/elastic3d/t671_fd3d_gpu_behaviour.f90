!> A GPU variant of the 3D solver as a part of a job: chunks, blocks of histories, shapes of its blocks, a second shot, a saved state and
!> several handles at once change no bit; queues, peaks and slices tell the truth; memory is as announced; what does not work gives a
!> sentence, and the process goes on.
!>
!>     t671_fd3d_gpu_behaviour [VARIANT ...]
program t671_fd3d_gpu_behaviour
  use check_m, only: Claim, ClaimFails, Done
  use error_m, only: error_t, FailFromC
  use fd3d_c, only: fd3d_cfg, fd3d_need, fd3d_new, fd3d_set_field, fd3d_slice, fd3d_tune
  use fd3d_engine_m, only: fd3d_map_t
  use fd3dcase_m, only: case3d_t, Case3dCfg, Case3dDifferent, Case3dHandle, Case3dNative, Case3dNew, Case3dPoints, &
                        Case3dResult, Case3dSource, Case3dSteps, result3d_t
  use fd3d_variants_m, only: fd3d_variants
  use gpu_claims_m, only: AllGridsFit, ClaimGivenBack, ClaimMemory, ClaimQueued, ClaimRefused, ClaimSameNumbers, Fine, FreeMemory, TotalMemory
  use gpu_m, only: GpuAsked
  use handle_c, only: handle_bytes, handle_expect, handle_free, handle_load, handle_maxabs, handle_peak, handle_pending, handle_reset, &
                      handle_save, handle_state_size, handle_timestep
  use host_c, only: host_seconds
  use iso_c_binding, only: c_associated, c_float, c_int, c_long, c_long_long, c_ptr
  use kinds_m, only: dp, sp
  use map3d_m, only: map3d_entries, Map3dMake
  use text_m, only: CString, Str
  use, intrinsic :: ieee_arithmetic, only: ieee_is_finite, ieee_quiet_nan, ieee_value
  implicit none

  character(24), allocatable :: variants(:)
  type(error_t), allocatable :: error
  integer :: n

  call GpuAsked(fd3d_variants, variants)
  do n = 1, size(variants)
    call Chunks(trim(variants(n)))
    call Shapes(trim(variants(n)))
    call SecondShot(trim(variants(n)))
    call SideBySide(trim(variants(n)))
    call SavedState(trim(variants(n)))
    call Peaks(trim(variants(n)))
    call Slices(trim(variants(n)))
    call Queue(trim(variants(n)))
    call Maps(trim(variants(n)))
    call Memory(trim(variants(n)))
    call Traces(trim(variants(n)))
    call TooLarge(trim(variants(n)))
  end do
  deallocate (variants)
  call Done()

contains

  subroutine ClaimSame(a, b, what)
    type(result3d_t), intent(in) :: a, b
    character(*), intent(in) :: what
    call ClaimSameNumbers(what, Case3dDifferent(a, b), size(a%traces) + size(a%fields) + size(a%map))
    if (maxval(abs(b%traces)) <= 0) call Claim(.false., what//': every trace is 0')
  end subroutine ClaimSame

  !> Any way to cut a run into chunks, and histories into blocks: with and without graphs of many steps.
  subroutine Chunks(variant)
    character(*), intent(in) :: variant
    integer, parameter :: pieces(5) = [1, 3, 9, 70, 90], blocks(3) = [1, 7, 64]
    type(case3d_t) :: c
    type(result3d_t) :: all, r
    integer :: p, sides
    do sides = 2, 5, 3
      call Case3dNew(c, [45, 31, 27], 2, sides, sides == 2, 90)
      call Case3dNative(variant, c, c%nt, all, error)
      do p = 1, size(pieces)
        call Case3dNative(variant, c, pieces(p), r, error)
        if (.not. Fine(error, variant//', chunks of '//Str(pieces(p)))) return
        call ClaimSame(r, all, variant//', sides '//Str(sides)//', 90 steps in chunks of '//Str(pieces(p))//' and in one')
      end do
      do p = 1, size(blocks)
        c%block = blocks(p)
        call Case3dNative(variant, c, 40, r, error)
        if (.not. Fine(error, variant//', histories of '//Str(blocks(p))//' steps')) return
        call ClaimSame(r, all, variant//', sides '//Str(sides)//', histories in blocks of '//Str(blocks(p))//' steps and in one')
      end do
    end do
  end subroutine Chunks

  !> Blocks of any shape compute the same.
  subroutine Shapes(variant)
    character(*), intent(in) :: variant
    integer, parameter :: shapes_of(3, 5) = reshape([64, 4, 1, 32, 2, 4, 16, 4, 2, 32, 5, 1, 96, 2, 1], [3, 5])
    type(case3d_t) :: c
    type(result3d_t) :: plain, r
    type(c_ptr) :: h
    logical :: marches
    integer :: s
    marches = .not. any(variant == ['global ', 'texture'])
    call Case3dNew(c, [75, 29, 22], 3, 1, .true., 40)
    call Case3dNative(variant, c, c%nt, plain, error)
    do s = 1, size(shapes_of, 2)
      c%shape = shapes_of(:, s)
      if (marches) c%shape = [0, 0, 2*s*s - 1]
      call Case3dNative(variant, c, c%nt, r, error)
      if (.not. Fine(error, variant//', shape '//Str(s))) return
      call ClaimSame(r, plain, variant//', blocks of '//Str(c%shape(1))//' x '//Str(c%shape(2))//' x '//Str(c%shape(3))//' and as chosen')
    end do
    c%shape = 0
    h = Case3dHandle(variant, c, error)
    if (.not. allocated(error)) call FailFromC(fd3d_tune(h, CString(''), 33, 3, 1), error)
    call ClaimFails(error, 'blocks of 33 x 3 x 1 cells', variant//', a shape there is not')
    call handle_free(h)
  end subroutine Shapes

  !> Another shot in the same handle after reset, other sources too; then the first again.
  subroutine SecondShot(variant)
    character(*), intent(in) :: variant
    type(case3d_t) :: one, two
    type(result3d_t) :: first, second, r
    type(c_ptr) :: h
    call Case3dNew(one, [40, 33, 25], 2, 5, .true., 50)
    call Case3dNew(two, [40, 33, 25], 2, 5, .true., 73)
    two%last = one%last                                      ! the handle's map is not given anew
    deallocate (two%si, two%sj, two%sk, two%sw)
    call Case3dSource(two, 0.3_dp)
    call Case3dNative(variant, one, 37, first, error)
    call Case3dNative(variant, two, 64, second, error)
    h = Case3dHandle(variant, one, error)
    call Case3dSteps(h, one, 37, error)
    if (.not. allocated(error)) call FailFromC(handle_reset(h), error)
    if (.not. allocated(error)) call Case3dPoints(h, two, two%grid, error)
    call Case3dSteps(h, two, 64, error)
    call Case3dResult(h, two, r, error)
    if (Fine(error, variant//', a second shot')) call ClaimSame(r, second, variant//', a second shot in the handle of a first and in a fresh one')
    if (.not. allocated(error)) call FailFromC(handle_reset(h), error)
    if (.not. allocated(error)) call Case3dPoints(h, one, one%grid, error)
    call Case3dSteps(h, one, one%nt, error)
    call Case3dResult(h, one, r, error)
    if (Fine(error, variant//', the first shot again')) call ClaimSame(r, first, variant//', the first shot again after the second')
    call handle_free(h)
  end subroutine SecondShot

  !> Three shots of different half-lengths, sizes and sides in flight at once.
  subroutine SideBySide(variant)
    character(*), intent(in) :: variant
    integer, parameter :: count = 3, nt = 72, chunk = 12
    type(case3d_t), allocatable :: c(:)
    type(result3d_t) :: alone, r
    type(c_ptr) :: h(count)
    integer :: j, it
    allocate (c(count))
    do j = 1, count
      call Case3dNew(c(j), [25 + 20*j, 40 - 5*j, 20 + 3*j], 1 + j, j, j == 2, nt)
      c(j)%block = chunk
      h(j) = Case3dHandle(variant, c(j), error)
    end do
    do it = 1, nt, chunk
      do j = 1, count
        call Case3dSteps(h(j), c(j), chunk, error, it, it + chunk - 1)
      end do
    end do
    do j = 1, count
      call Case3dResult(h(j), c(j), r, error)
      call Case3dNative(variant, c(j), chunk, alone, error)
      if (Fine(error, variant//', side by side')) call ClaimSame(r, alone, variant//', shot '//Str(j)//' of 3 side by side and alone')
      call handle_free(h(j))
    end do
  end subroutine SideBySide

  !> A state taken in the middle of a run and put into another handle goes on to the same bits; one of another size is refused.
  subroutine SavedState(variant)
    character(*), intent(in) :: variant
    integer, parameter :: before = 41
    type(case3d_t) :: c
    type(result3d_t) :: all, r
    type(c_ptr) :: h
    real(sp), allocatable :: state(:)
    integer :: sides
    do sides = 2, 5, 3
      call Case3dNew(c, [38, 27, 24], 2, sides, .true., 80)
      call Case3dNative(variant, c, c%nt, all, error)
      h = Case3dHandle(variant, c, error)
      call Case3dSteps(h, c, before, error, 1, before)
      if (.not. Fine(error, variant//', a state')) return
      allocate (state(handle_state_size(h, before)))
      call FailFromC(handle_save(h, size(state, kind=c_long_long), state), error)
      call handle_free(h)
      h = Case3dHandle(variant, c, error)
      call Case3dSteps(h, c, 7, error, 1, 7)                       ! what is there is forgotten
      if (.not. allocated(error)) call FailFromC(handle_load(h, 1, before, size(state, kind=c_long_long), state), error)
      call Case3dSteps(h, c, 20, error, before + 1)
      call Case3dResult(h, c, r, error)
      if (Fine(error, variant//', a state')) call ClaimSame(r, all, variant//', sides '//Str(sides)//', a run interrupted after '//Str(before)// &
                                                     ' of 80 steps and continued in another handle, and one in a piece')
      call FailFromC(handle_load(h, 1, before + 1, size(state, kind=c_long_long), state), error)
      call ClaimFails(error, 'a state of ', variant//', a state of another length')
      call handle_free(h)
      deallocate (state)
    end do
  end subroutine SavedState

  !> Before a chunk is finished the peak is 0; after it, it is what maxabs finds and what the fields hold; NaN is found.
  subroutine Peaks(variant)
    character(*), intent(in) :: variant
    type(case3d_t) :: c
    type(c_ptr) :: h
    type(result3d_t) :: r
    real(c_float) :: peak, most
    integer(c_int) :: at(3), am(3)
    integer :: place(4)
    call Case3dNew(c, [45, 31, 27], 2, 2, .false., 60)
    h = Case3dHandle(variant, c, error)
    if (.not. allocated(error)) call FailFromC(handle_peak(h, peak, at), error)
    if (Fine(error, variant//', peak')) call Claim(peak == 0, variant//', before the first chunk the peak is '//Str(peak)//', must be 0')
    call Case3dSteps(h, c, 25, error)
    if (.not. allocated(error)) call FailFromC(handle_pending(h, 0), error)
    if (.not. allocated(error)) call FailFromC(handle_peak(h, peak, at), error)
    if (.not. allocated(error)) call FailFromC(handle_maxabs(h, most, am), error)
    call Case3dResult(h, c, r, error)
    if (Fine(error, variant//', peak')) then
      place = maxloc(abs(r%fields(:, :, :, 0:2)))
      call Claim(peak == most .and. all(at == am) .and. peak == maxval(abs(r%fields(:, :, :, 0:2))) .and. all(place(:3) == at + 1) &
                 .and. peak > 0, variant//', peak '//Str(peak)//' at cell '//Str(at(1) + 1)//', '//Str(at(2) + 1)//', '//Str(at(3) + 1)// &
                 ', maxabs '//Str(most)//', in the fields '//Str(maxval(abs(r%fields(:, :, :, 0:2))))//' at '//Str(place(1))//', '// &
                 Str(place(2))//', '//Str(place(3)))
      r%fields(39, 17, 11, 1) = ieee_value(1.0_sp, ieee_quiet_nan)
      call FailFromC(fd3d_set_field(h, 1, r%fields(:, :, :, 1)), error)
      if (.not. allocated(error)) call FailFromC(handle_maxabs(h, most, am), error)
      call Case3dSteps(h, c, 1, error, 1, 1)
      if (.not. allocated(error)) call FailFromC(handle_pending(h, 0), error)
      if (.not. allocated(error)) call FailFromC(handle_peak(h, peak, at), error)
    end if
    if (Fine(error, variant//', not a number')) call Claim(.not. ieee_is_finite(most) .and. all(am == [38, 16, 10]) .and. .not. ieee_is_finite(peak), &
                                                    variant//', not a number in cell 39, 17, 11: maxabs '//Str(most)//' at '//Str(am(1) + 1)// &
                                                    ', '//Str(am(2) + 1)//', '//Str(am(3) + 1)//', and the peak a step later '//Str(peak))
    call handle_free(h)
  end subroutine Peaks

  !> Planes across each axis are those of the field.
  subroutine Slices(variant)
    character(*), intent(in) :: variant
    type(case3d_t) :: c
    type(c_ptr) :: h
    type(result3d_t) :: r
    real(sp) :: x(29, 17), y(33, 17), z(33, 29)
    call Case3dNew(c, [33, 29, 17], 2, 1, .false., 30)
    h = Case3dHandle(variant, c, error)
    call Case3dSteps(h, c, 30, error)
    call Case3dResult(h, c, r, error)
    if (.not. allocated(error)) call FailFromC(fd3d_slice(h, 4, 0, 32, x), error)
    if (.not. allocated(error)) call FailFromC(fd3d_slice(h, 7, 1, 3, y), error)
    if (.not. allocated(error)) call FailFromC(fd3d_slice(h, 2, 2, 0, z), error)
    if (Fine(error, variant//', slices')) call Claim(all(abs(x - r%fields(33, :, :, 4)) <= 0) .and. all(abs(y - r%fields(:, 4, :, 7)) <= 0) .and. &
                                              all(abs(z - r%fields(:, :, 1, 2)) <= 0) .and. maxval(abs(y)) > 0, &
                                              variant//', slices across x, y and z are those of the fields')
    call handle_free(h)
  end subroutine Slices

  !> Timestep only queues; pending waits. The second run of a handle is timed: the first makes graphs.
  subroutine Queue(variant)
    character(*), intent(in) :: variant
    integer, parameter :: steps = 192
    type(case3d_t) :: c
    type(c_ptr) :: h
    real(dp) :: start, queued, finished
    integer :: run
    call Case3dNew(c, [250, 201, 180], 2, 2, .false., 2*steps)
    h = Case3dHandle(variant, c, error)
    queued = 0
    finished = 0
    do run = 1, 2
      if (run == 1) call Case3dSteps(h, c, steps, error, 1, steps)
      if (.not. allocated(error)) call FailFromC(handle_pending(h, 0), error)
      start = host_seconds()
      if (run == 2 .and. .not. allocated(error)) call FailFromC(handle_timestep(h, steps + 1, steps), error)
      queued = host_seconds() - start
      if (.not. allocated(error)) call FailFromC(handle_pending(h, 0), error)
      finished = host_seconds() - start
    end do
    if (Fine(error, variant//', queue')) call ClaimQueued(variant, steps, '250 x 201 x 180', queued, finished)
    call handle_free(h)
  end subroutine Queue

  !> The map has the peaks of what receivers at its points record: those of random columns, with stencils of one and of many cells.
  subroutine Maps(variant)
    character(*), intent(in) :: variant
    integer, parameter :: points = 40
    type(case3d_t) :: c
    type(result3d_t) :: r
    type(fd3d_map_t) :: map
    real(dp) :: chance(points), off
    real(sp) :: recorded(3)
    integer :: at(points), p, n, m, s
    call Case3dNew(c, [45, 31, 27], 2, 2, .false., 120)
    c%watched = 11
    call Map3dMake(map, c%grid%n, reshape([(c%watched, p=1, product(c%grid%n(:2)))], c%grid%n(:2)), .true.)
    call random_number(chance)
    at = 1 + int(chance*size(map%i))
    c%start = [1]
    c%rf = [integer ::]
    c%ri = [integer ::]
    c%rj = [integer ::]
    c%rk = [integer ::]
    c%rw = [real(sp) ::]
    do p = 1, points
      do n = 0, 2
        s = 3*map%stencil(at(p)) - 2 + n
        do m = map%start(s), map%start(s + 1) - 1
          c%rf = [c%rf, n]
          c%ri = [c%ri, map%i(at(p)) + map%di(m)]
          c%rj = [c%rj, map%j(at(p)) + map%dj(m)]
          c%rk = [c%rk, map%k(at(p)) + map%dk(m)]
          c%rw = [c%rw, map%w(m)]
        end do
        c%start = [c%start, size(c%rf) + 1]
      end do
    end do
    call Case3dNative(variant, c, 17, r, error)
    if (.not. Fine(error, variant//', map')) return
    off = 0
    do p = 1, points
      associate (t => r%traces(:c%last, 3*p - 2:3*p))
        recorded = [maxval(norm2(t(:, :2), 2)), maxval(abs(t(:, 3))), maxval(norm2(t, 2))]
      end associate
      do n = 1, 3
        off = max(off, abs(real(r%map(map%i(at(p)), map%j(at(p)), n), dp) - recorded(n))/max(recorded(3), tiny(1.0_sp)))
      end do
    end do
    call Claim(off < 1e-6_dp .and. maxval(r%map) > 0, variant//', the map at '//Str(points)//' of its points (first '//Str(at(1))// &
               ') is within '//Str(off, 2)//' of the peaks recorded there, bound 1e-6')
  end subroutine Maps

  ! --- memory -------------------------------------------------------------------------------------------------------------

  !> A handle takes the memory of the device that fd3d_need announces. A first handle loads the kernels.
  subroutine Memory(variant)
    character(*), intent(in) :: variant
    type(case3d_t) :: c
    type(result3d_t) :: r
    type(c_ptr) :: h
    integer(c_long) :: need, host, before, taken
    real(dp) :: counted
    call Case3dNew(c, [251, 183, 162], 3, 2, .true., 20)
    call Case3dNative(variant, c, 20, r, error)
    before = FreeMemory()
    h = Case3dHandle(variant, c, error)
    call Case3dSteps(h, c, 20, error)
    taken = before - FreeMemory()
    if (.not. allocated(error)) call FailFromC(fd3d_need(CString(variant), Case3dCfg(c%grid), size(c%sf), size(c%start) - 1, c%nt, &
                                                         product(c%grid%n(:2)), map3d_entries, host, need), error)
    counted = real(handle_bytes(h), dp)
    if (Fine(error, variant//', memory')) call ClaimMemory(variant, '251 x 183 x 162', taken, counted, need, host)
    call handle_free(h)
    call ClaimGivenBack(variant//', after free', before)
  end subroutine Memory

  !> Traces take what was announced, in however many chunks they come.
  subroutine Traces(variant)
    character(*), intent(in) :: variant
    real(dp), parameter :: MB = 1e6_dp
    integer, parameter :: receivers = 10000, steps = 4000, chunk = 50
    type(case3d_t) :: c
    type(c_ptr) :: h
    integer(c_long) :: need, host, before, taken
    integer :: m
    call Case3dNew(c, [37, 29, 23], 2, 1, .false., steps)
    c%start = [(m, m=1, receivers + 1)]
    c%rf = [(modulo(m, 3), m=1, receivers)]
    c%ri = [(1 + modulo(m, c%grid%n(1)), m=1, receivers)]
    c%rj = [(1 + modulo(m, c%grid%n(2)), m=1, receivers)]
    c%rk = [(1 + modulo(m, c%grid%n(3)), m=1, receivers)]
    c%rw = [(1.0_sp, m=1, receivers)]
    before = FreeMemory()
    h = Case3dHandle(variant, c, error)
    if (.not. allocated(error)) call FailFromC(handle_expect(h, steps), error)
    call Case3dSteps(h, c, chunk, error)
    if (.not. allocated(error)) call FailFromC(handle_pending(h, 0), error)
    taken = before - FreeMemory()
    if (.not. allocated(error)) call FailFromC(fd3d_need(CString(variant), Case3dCfg(c%grid), size(c%sf), receivers, steps, &
                                                         product(c%grid%n(:2)), map3d_entries, host, need), error)
    if (Fine(error, variant//', traces')) &
      call Claim(taken <= 1.05_dp*need + 16*MB, variant//', '//Str(receivers)//' traces of '//Str(steps)//' steps in chunks of '// &
                 Str(chunk)//': announced '//Str(need/MB, 4)//' MB, taken '//Str(taken/MB, 4)//' MB, at most 5 % and 16 MB more')
    call handle_free(h)
  end subroutine Traces

  !> A grid that needs more than the device has is refused with a sentence, takes nothing, and a small shot runs as before.
  subroutine TooLarge(variant)
    character(*), intent(in) :: variant
    type(case3d_t) :: c
    type(fd3d_cfg) :: cfg
    type(result3d_t) :: before, after
    type(c_ptr) :: h
    integer(c_long) :: need, host, total, left
    integer :: attempt
    call Case3dNew(c, [37, 29, 23], 2, 1, .true., 20)
    call Case3dNative(variant, c, 20, before, error)
    total = TotalMemory(error)
    if (.not. Fine(error, variant//', before a grid that is too large')) return
    cfg = Case3dCfg(c%grid)
    cfg%n = 400
    cfg%layer = 200                                            ! whose memory counts too: cells alone may not be too many before they can be counted
    need = 0
    do while (need <= total .and. cfg%n(1) < 1240)
      cfg%n = cfg%n + 20
      cfg%whole = cfg%n
      if (fd3d_need(CString(variant), cfg, 0, 0, 0, 0, 0, host, need) /= 0) call FailFromC(1, error)
      if (allocated(error)) exit
    end do
    if (.not. Fine(error, variant//', memory of a large grid')) return
    if (AllGridsFit(variant, need, total)) return
    do attempt = 1, 2                                          ! at the first the driver may give up what it kept for itself
      left = FreeMemory()
      h = fd3d_new(CString(variant), cfg)
      call ClaimRefused(variant, Str(cfg%n(1))//' cells on each axis', .not. c_associated(h), need, total)
      call handle_free(h)
      call Case3dNative(variant, c, 20, after, error)
      if (.not. Fine(error, variant//', after a grid that is too large')) return
      call ClaimSame(before, after, variant//', a shot before and after the refusal')
      call Claim(left - FreeMemory() <= 4000000, variant//', refusal '//Str(attempt)//' left '// &
                 Str(1e-6_dp*(left - FreeMemory()), 3)//' MB taken, must be 4 at most')
    end do
    call ClaimGivenBack(variant//', after the refusal', left)
  end subroutine TooLarge

end program t671_fd3d_gpu_behaviour
