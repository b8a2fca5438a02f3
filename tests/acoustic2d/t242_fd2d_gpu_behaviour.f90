!> A GPU variant as a part of a job: chunks, shapes of its blocks, a second shot and several handles at once change no bit; queues and
!> peaks tell the truth; memory is as announced; what does not work gives a sentence, and the process goes on.
!>
!>     t242_fd2d_gpu_behaviour [VARIANT ...]
program t242_fd2d_gpu_behaviour
  use check_m, only: Claim, ClaimFails, Done
  use device_c, only: device_count, device_id
  use error_m, only: error_t, FailFromC
  use fd2d_c, only: fd2d_cfg, fd2d_field, fd2d_need, fd2d_new, fd2d_receivers, fd2d_set_field, fd2d_tune
  use fdcase_m, only: case_t, CaseFortran, CaseHandle, CaseNative, CaseNew, CasePoints, CaseResult, CaseSigmaOnly, CaseSource, CaseSteps, CountDifferent, &
                      result_t, TracesDiffer
  use fd2d_engine_m, only: fd2d_grid_t
  use fd2d_variants_m, only: fd2d_variants, Fd2dMemory
  use fddouble_m, only: CaseDouble
  use gpu_claims_m, only: AllGridsFit, ClaimGivenBack, ClaimMemory, ClaimQueued, ClaimRefused, ClaimSameNumbers, Fine, FreeMemory, TotalMemory
  use gpu_assignment_m, only: id_length
  use gpu_m, only: GpuAsked
  use handle_c, only: handle_bytes, handle_free, handle_maxabs, handle_peak, handle_pending, handle_reset, handle_timestep
  use host_c, only: host_seconds
  use iso_c_binding, only: c_associated, c_char, c_float, c_int, c_long, c_null_char, c_ptr
  use kinds_m, only: dp, sp
  use text_m, only: CString, Str
  use, intrinsic :: ieee_arithmetic, only: ieee_is_finite, ieee_quiet_nan, ieee_value
  implicit none

  character(24), allocatable :: variants(:)
  type(error_t), allocatable :: error
  integer :: n, turn
  logical :: keeps = .true.              ! cases have receivers of velocities, which tuned keeps only then

  call GpuAsked(fd2d_variants, variants)
  do n = 1, size(variants)
    do turn = 1, merge(2, 1, variants(n) == 'tuned')
      keeps = turn == 1
      call Chunks(trim(variants(n)))
      call SecondShot(trim(variants(n)))
      call SideBySide(trim(variants(n)))
      call LongRun(trim(variants(n)))
    end do
    keeps = .true.
    call Queue(trim(variants(n)))
    call Peaks(trim(variants(n)))
    if (variants(n) == 'cpu') cycle
    call Memory(trim(variants(n)))
    call TooLarge(trim(variants(n)))
    call TooMany(trim(variants(n)))
  end do
  if (any(variants == 'tuned')) then
    call Shapes(.true.)
    call Shapes(.false.)
    call Pinned()
    call ForeignNotes()
    call Fields()
    call Refusals()
    call Addresses()
  end if
  deallocate (variants)
  call Done()

contains

  pure function Either(first, yes, no) result(words)
    logical, intent(in) :: first
    character(*), intent(in) :: yes, no
    character(:), allocatable :: words
    if (first) then
      words = yes
    else
      words = no
    end if
  end function Either

  function Keeping() result(words)
    character(:), allocatable :: words
    words = Either(keeps, '', ', no velocities')
  end function Keeping

  subroutine NewCase(c, nx, nz, half_length, layers, nt)
    type(case_t), intent(out) :: c
    integer, intent(in) :: nx, nz, half_length, layers, nt
    call CaseNew(c, nx, nz, half_length, layers, nt, error)
    if (.not. keeps) call CaseSigmaOnly(c)
  end subroutine NewCase

  subroutine ClaimSame(a, b, what)
    type(result_t), intent(in) :: a, b
    character(*), intent(in) :: what
    call ClaimSameNumbers(what//Keeping(), CountDifferent(a, b), size(a%traces) + size(a%sigma))
  end subroutine ClaimSame

  !> Any way to cut a run into chunks: odd and even, with and without graphs of many steps.
  subroutine Chunks(variant)
    character(*), intent(in) :: variant
    integer, parameter :: pieces(6) = [1, 2, 3, 37, 130, 301]
    type(case_t) :: c
    type(result_t) :: all, r
    integer :: layers, p
    do layers = 1, 2
      call NewCase(c, 257, 130, 8, layers, 301)
      call CaseNative(variant, c, c%nt, all, error)
      do p = 1, size(pieces)
        call CaseNative(variant, c, pieces(p), r, error)
        if (.not. Fine(error, variant//', chunks of '//Str(pieces(p)))) return
        call ClaimSame(r, all, variant//Either(layers == 2, ', free surface', '')//', 301 steps in chunks of '// &
                       Str(pieces(p))//' and in one')
      end do
    end do
  end subroutine Chunks

  !> Another shot in the same handle after reset, other receivers too; then the first again.
  subroutine SecondShot(variant)
    character(*), intent(in) :: variant
    type(case_t) :: one, two
    type(result_t) :: first, second, r
    type(c_ptr) :: h
    call NewCase(one, 300, 97, 5, 1, 120)
    call NewCase(two, 300, 97, 5, 1, 203)
    call CaseSource(two, 40, 60)
    two%field = two%field(:6)
    two%start = two%start(:7)
    two%ri = modulo(two%ri(:two%start(7) - 1)*3, 300) + 1
    two%rk = two%rk(:size(two%ri))
    two%rw = two%rw(:size(two%ri))
    call CaseNative(variant, one, 37, first, error)
    call CaseNative(variant, two, 64, second, error)
    h = CaseHandle(variant, one, error)
    call CaseSteps(h, one, 37, error)
    if (.not. allocated(error)) call FailFromC(handle_reset(h), error)
    call CasePoints(h, two, error)
    call CaseSteps(h, two, 64, error)
    call CaseResult(h, two, r, error)
    if (Fine(error, variant//', a second shot')) call ClaimSame(r, second, variant//', a second shot in the handle of a first and in a fresh one')
    if (.not. allocated(error)) call FailFromC(handle_reset(h), error)
    call CasePoints(h, one, error)
    call CaseSteps(h, one, one%nt, error)
    call CaseResult(h, one, r, error)
    if (Fine(error, variant//', the first shot again')) call ClaimSame(r, first, variant//', the first shot again after the second')
    call handle_free(h)
  end subroutine SecondShot

  !> Three shots of different half-lengths, sizes and layers in flight at once.
  subroutine SideBySide(variant)
    character(*), intent(in) :: variant
    integer, parameter :: count = 3, nt = 240, chunk = 24
    type(case_t) :: c(count)
    type(result_t) :: alone, r
    type(c_ptr) :: h(count)
    integer :: j, it
    do j = 1, count
      call NewCase(c(j), 150 + 131*j, 300 - 61*j, merge(8, 2*j, j == 3), j, nt)
      c(j)%cfg%share = count
      h(j) = CaseHandle(variant, c(j), error)
    end do
    do it = 1, nt, chunk
      do j = 1, count
        if (.not. allocated(error)) call FailFromC(handle_timestep(h(j), it, chunk), error)
      end do
    end do
    do j = 1, count
      call CaseResult(h(j), c(j), r, error)
      c(j)%cfg%share = 1
      call CaseNative(variant, c(j), chunk, alone, error)
      if (Fine(error, variant//', side by side')) call ClaimSame(r, alone, variant//', shot '//Str(j)//' of 3 side by side and alone')
      call handle_free(h(j))
    end do
  end subroutine SideBySide

  !> Timestep only queues; pending waits. The second run of a handle is timed: the first makes graphs.
  subroutine Queue(variant)
    character(*), intent(in) :: variant
    integer, parameter :: steps = 640
    type(case_t) :: c
    type(c_ptr) :: h
    real(dp) :: start, queued, finished
    integer :: run
    call CaseNew(c, 3000, 1500, 8, 1, 4*steps, error)
    if (variant == 'cpu') return
    h = CaseHandle(variant, c, error)
    queued = 0
    finished = 0
    do run = 1, 2
      start = host_seconds()
      if (.not. allocated(error)) call FailFromC(handle_timestep(h, 1 + (run - 1)*steps, steps), error)
      queued = host_seconds() - start
      if (.not. allocated(error)) call FailFromC(handle_pending(h, 0), error)
      finished = host_seconds() - start
    end do
    if (Fine(error, variant//', queue')) call ClaimQueued(variant, steps, '3000 x 1500', queued, finished)
    call handle_free(h)
  end subroutine Queue

  !> Before a chunk is finished the peak is 0; after it, it is what maxabs finds and what the field holds; NaN is found.
  subroutine Peaks(variant)
    character(*), intent(in) :: variant
    type(case_t) :: c
    type(c_ptr) :: h
    type(result_t) :: r
    real(c_float) :: peak, most
    integer(c_int) :: at(3), am(3)
    integer :: place(2)
    call CaseNew(c, 257, 130, 4, 2, 90, error)
    h = CaseHandle(variant, c, error)
    if (.not. allocated(error)) call FailFromC(handle_peak(h, peak, at), error)
    if (Fine(error, variant//', peak')) call Claim(peak == 0, variant//', before the first chunk the peak is '//Str(peak)//', must be 0')
    if (.not. allocated(error)) call FailFromC(handle_timestep(h, 1, 40), error)
    if (.not. allocated(error)) call FailFromC(handle_timestep(h, 41, 50), error)
    if (.not. allocated(error)) call FailFromC(handle_pending(h, 0), error)
    if (.not. allocated(error)) call FailFromC(handle_peak(h, peak, at), error)
    if (.not. allocated(error)) call FailFromC(handle_maxabs(h, most, am), error)
    call CaseResult(h, c, r, error)
    if (Fine(error, variant//', peak')) then
      place = maxloc(abs(r%sigma))
      call Claim(peak == most .and. all(at == am) .and. peak == maxval(abs(r%sigma)) .and. all(place == at(1::2) + 1) .and. &
                 peak > 0, variant//', peak '//Str(peak)//' at cell '//Str(at(1) + 1)//', '//Str(at(3) + 1)//', maxabs '//Str(most)//' at '// &
                 Str(am(1) + 1)//', '//Str(am(3) + 1)//', in the field '//Str(maxval(abs(r%sigma)))//' at '//Str(place(1))//', '//Str(place(2)))
      r%sigma(199, 77) = ieee_value(1.0_sp, ieee_quiet_nan)
      call FailFromC(fd2d_set_field(h, 0, r%sigma), error)
      if (.not. allocated(error)) call FailFromC(handle_maxabs(h, most, am), error)
      if (.not. allocated(error)) call FailFromC(handle_timestep(h, 1, 1), error)
      if (.not. allocated(error)) call FailFromC(handle_pending(h, 0), error)
      if (.not. allocated(error)) call FailFromC(handle_peak(h, peak, at), error)
    end if
    if (Fine(error, variant//', not a number')) call Claim(.not. ieee_is_finite(most) .and. all(am == [198, 0, 76]) .and. &
                                                    .not. ieee_is_finite(peak), variant//', not a number in cell 199, 77: maxabs '// &
                                                    Str(most)//' at '//Str(am(1) + 1)//', '//Str(am(3) + 1)//', and the peak a step later '//Str(peak))
    call handle_free(h)
  end subroutine Peaks

  !> 20,000 steps: in a closed rough box sigma neither grows nor fades, with layers it fades; traces are no further from those of the
  !> same scheme in double precision than those of the readable variant, of which 2.5e-5 is left in layers after so many steps: what float
  !> leaves at the lowest frequencies no layer takes.
  subroutine LongRun(variant)
    character(*), intent(in) :: variant
    integer, parameter :: nt = 20000, at_first = 500
    type(case_t) :: c
    type(result_t) :: r, plain, double
    real(dp) :: early, late
    integer :: closed
    do closed = 0, 1
      call NewCase(c, 61, 47, 8, merge(4, 1, closed == 1), nt)
      c%q(200:) = 0
      call CaseDouble(c, double)
      call CaseFortran(c, plain, error)
      call CaseNative(variant, c, 1000, r, error)
      if (.not. Fine(error, variant//', 20000 steps')) return
      early = maxval(abs(r%traces(:at_first, 3::3)))
      late = maxval(abs(r%traces(nt - at_first:, 3::3)))
      call Claim(late <= merge(3.0_dp, 1.0e-3_dp, closed == 1)*early .and. (closed == 0 .or. late >= 0.01_dp*early), &
                 variant//Keeping()//Either(closed == 1, ', closed box', ', layers')//', 20000 steps: largest sigma '//Str(early, 3)// &
                 ' in the first 500, '//Str(late, 3)//' in the last, must be '//Either(closed == 1, '0.01 to 3 times as much', &
                                                                                     '0.001 of it at most'))
      call ClaimStays(variant//Either(closed == 1, ', closed box', ', layers'), c, r, plain, double, 2000)
      call ClaimStays(variant//Either(closed == 1, ', closed box', ', layers'), c, r, plain, double, nt)
    end do
  end subroutine LongRun

  subroutine ClaimStays(what, c, r, plain, double, steps)
    character(*), intent(in) :: what
    type(case_t), intent(in) :: c
    type(result_t), intent(in) :: r, plain, double
    integer, intent(in) :: steps
    real(dp) :: difference, rounding
    difference = FromDouble(c, r, double, steps)
    rounding = FromDouble(c, plain, double, steps)
    call Claim(difference <= rounding .and. rounding <= 1.0e-4_dp, what//Keeping()//', '//Str(steps)//' steps: traces differ by '// &
               Str(difference, 2)//' relative RMS from those in double precision, those of fortran by '//Str(rounding, 2)//', must be no further')
  end subroutine ClaimStays

  !> The largest difference of the first `steps` samples of a trace.
  real(dp) function FromDouble(c, r, double, steps) result(difference)
    type(case_t), intent(in) :: c
    type(result_t), intent(in) :: r, double
    integer, intent(in) :: steps
    type(result_t) :: a, b
    integer :: worst
    allocate (a%traces, source=r%traces(:steps, :))
    allocate (b%traces, source=double%traces(:steps, :))
    call TracesDiffer(c, a, b, difference, worst)
  end function FromDouble

  ! --- memory -------------------------------------------------------------------------------------------------------------

  !> A handle takes the memory of the device that fd2d_need announces. A first handle loads the kernels.
  subroutine Memory(variant)
    character(*), intent(in) :: variant
    type(case_t) :: c
    type(result_t) :: r
    type(c_ptr) :: h
    integer(c_long) :: need, before, taken
    real(dp) :: counted
    call CaseNew(c, 3001, 1999, 8, 1, 140, error)
    call CaseNative(variant, c, 70, r, error)
    before = FreeMemory()
    h = CaseHandle(variant, c, error)
    call CaseSteps(h, c, 70, error)
    taken = before - FreeMemory()
    if (.not. allocated(error)) call FailFromC(fd2d_need(CString(variant), c%cfg, size(c%field), c%nt, need), error)
    counted = real(handle_bytes(h), dp)
    if (Fine(error, variant//', memory')) call ClaimMemory(variant, '3001 x 1999', taken, counted, need, 0_c_long)
    call handle_free(h)
    call ClaimGivenBack(variant//', after free', before)
  end subroutine Memory

  !> A grid that needs more than the device has is refused with a sentence, takes nothing, and a small shot runs as before.
  subroutine TooLarge(variant)
    character(*), intent(in) :: variant
    type(case_t) :: c
    type(fd2d_cfg) :: cfg
    type(result_t) :: before, after
    type(c_ptr) :: h
    integer(c_long) :: need, total, left
    call CaseNew(c, 61, 47, 8, 1, 80, error)
    call CaseNative(variant, c, 80, before, error)
    total = TotalMemory(error)
    if (.not. Fine(error, variant//', before a grid that is too large')) return
    cfg = c%cfg
    cfg%nx = 20000
    need = 0
    do while (need <= total .and. cfg%nx < 92600)
      cfg%nx = cfg%nx + 100
      cfg%nz = cfg%nx
      if (fd2d_need(CString(variant), cfg, 0, 0, need) /= 0) call FailFromC(1, error)
      if (allocated(error)) exit
    end do
    if (.not. Fine(error, variant//', memory of a large grid')) return
    if (AllGridsFit(variant, need, total)) return
    left = FreeMemory()
    h = fd2d_new(CString(variant), cfg)
    call ClaimRefused(variant, Str(cfg%nx)//' x '//Str(cfg%nz)//' cells', .not. c_associated(h), need, total)
    call handle_free(h)
    call CaseNative(variant, c, 80, after, error)
    if (Fine(error, variant//', after a grid that is too large')) then
      call ClaimSame(before, after, variant//', a shot before and after the refusal')
      call ClaimGivenBack(variant//', after the refusal', left)
    end if
  end subroutine TooLarge

  !> A grid of more cells than a GPU variant can count, which the largest memories would hold: it is not even tried.
  subroutine TooMany(variant)
    character(*), intent(in) :: variant
    type(case_t) :: c
    type(fd2d_grid_t) :: grid
    real(dp) :: need
    call CaseNew(c, 61, 47, 8, 1, 80, error)
    if (.not. Fine(error, variant//', before a grid of too many cells')) return
    grid = fd2d_grid_t(nx=100000, nz=100000, half_length=8, dx=c%cfg%dx, dz=c%cfg%dz, dt=c%cfg%dt, w=c%cfg%w)
    need = Fd2dMemory(variant, grid, 0, 80)
    call Claim(need > 1.0e20_dp, variant//': 100000 x 100000 cells need '//Str(need, 3)//' bytes, more than any GPU has')
  end subroutine TooMany

  ! --- tuned only ---------------------------------------------------------------------------------------------------------

  !> Blocks of any width and length, and handles that make room for others, compute the same.
  subroutine Shapes(velocities)
    logical, intent(in) :: velocities
    integer, parameter :: widths(3) = [64, 256, 512], rows(6) = [0, 5, 32, 33, 64, 1000], shares(2) = [1, 8], half_lengths(3) = [1, 5, 8]
    type(case_t) :: c
    type(result_t) :: plain, r
    type(c_ptr) :: h
    character(:), allocatable :: shape
    integer :: l, w, p, s, layers, different
    keeps = velocities
    do l = 1, size(half_lengths)
      do layers = 1, 8, 7
        call NewCase(c, 1021, 203, half_lengths(l), layers, 66)
        call CaseNative('tuned', c, c%nt, plain, error)
        do s = 1, size(shares)
          c%cfg%share = shares(s)
          different = 0
          shape = ''
          do w = 1, size(widths)
            do p = 1, size(rows)
              if (widths(w) == 64 .and. .not. any(rows(p) == [0, 32, 64])) cycle
              if (widths(w) > 64 .and. keeps) cycle
              h = CaseHandle('tuned', c, error)
              if (.not. allocated(error)) call FailFromC(fd2d_tune(h, CString(''), widths(w), 0, rows(p)), error)
              call CaseSteps(h, c, 33, error)
              call CaseResult(h, c, r, error)
              call handle_free(h)
              if (.not. Fine(error, 'tuned, width '//Str(widths(w))//', rows '//Str(rows(p)))) return
              if (CountDifferent(r, plain) > 0) shape = shape//' '//Str(widths(w))//' x '//Str(rows(p))
              different = different + CountDifferent(r, plain)
            end do
          end do
          call Claim(different == 0, 'tuned, half-length '//Str(c%cfg%half_length)//Either(layers == 8, ', layers of 70 cells', ', layers')// &
                     ', share '//Str(shares(s))//Keeping()//', all shapes of blocks: '//Str(different)// &
                     ' numbers differ from the shape chosen'//shape)
        end do
      end do
    end do
    h = CaseHandle('tuned', c, error)
    if (.not. allocated(error)) call FailFromC(fd2d_tune(h, CString(''), 100, 0, 0), error)
    call ClaimFails(error, 'width = 100, must be', 'tuned, a width there is not')
    call FailFromC(fd2d_tune(h, CString(''), 64, 0, 17), error)
    call ClaimFails(error, 'rows = 17, tiles have 32 or 64', 'tuned, tiles there are not')
    if (keeps) then
      call FailFromC(fd2d_tune(h, CString(''), 256, 0, 0), error)
      call ClaimFails(error, 'blocks of 256 columns', 'tuned, blocks that march keep no velocities')
    end if
    keeps = .true.
    call handle_free(h)
  end subroutine Shapes

  !> A shape asked for by name is the one that computes, alone or beside others, where it fits; one found by the clock is noted.
  subroutine Pinned()
    character(15), parameter :: names(6) = [character(15) :: 'strips-256', 'strips-512', 'tiles-32', 'tiles-64', 'stay-16', 'stay-32']
    type(case_t) :: c
    type(result_t) :: plain, r
    integer :: s, n
    logical :: there
    call CaseNew(c, 1021, 203, 8, 1, 21, error)
    call CaseSigmaOnly(c)
    call CaseNative('tuned', c, c%nt, plain, error)
    inquire (file='SplFd2dmod-shapes', exist=there)
    call Claim(there, 'tuned, alone: what the clock found ('//plain%device//') is noted in the cache folder')
    do n = 1, size(names)
      do s = 0, 4, 4
        c%cfg%share = s
        call SetShape(c%cfg, names(n))
        call CaseNative('tuned', c, c%nt, r, error)
        if (.not. Fine(error, 'tuned, shape='//trim(names(n)))) return
        call Claim(index(r%device, trim(names(n))) > 0 .and. CountDifferent(r, plain) == 0, 'tuned, shape='//trim(names(n))// &
                   ', share '//Str(s)//': '//r%device//', the same numbers')
      end do
    end do
    call SetShape(c%cfg, 'tiles-17')
    call CaseNative('tuned', c, c%nt, r, error)
    call ClaimFails(error, 'there is no shape "tiles-17", there are strips-256', 'tuned, a shape there is not')
    call SetShape(c%cfg, 'strips-256')
    c%cfg%velocities = 1
    call CaseNative('tuned', c, c%nt, r, error)
    call ClaimFails(error, 'shape=strips-256 keeps no velocities: choose another one', 'tuned, blocks that march, by name')
    call CaseNew(c, 4100, 2050, 2, 1, 21, error)
    call CaseSigmaOnly(c)
    call CaseNative('tuned', c, c%nt, plain, error)
    call SetShape(c%cfg, 'stay-16')
    call CaseNative('tuned', c, c%nt, r, error)
    if (.not. Fine(error, 'tuned, tiles that stay on a large grid')) return
    call Claim(index(r%device, 'shape=stay-16 does not fit') > 0 .and. CountDifferent(r, plain) == 0, &
               'tuned, a shape too small for the grid is not used, and that is told: '//r%device//', the same numbers')
  end subroutine Pinned

  !> A note in the cache that no run leaves is not believed: one of single steps whose blocks take both sides, which they would not.
  subroutine ForeignNotes()
    character(*), parameter :: known = ', 1021 x 203 cells', new = ', 1019 x 203 cells'
    type(case_t) :: c
    type(result_t) :: plain, r
    character(512) :: line
    character(:), allocatable :: notes
    integer :: unit, at, wrong
    call CaseNew(c, 1019, 203, 8, 1, 21, error)
    call CaseSigmaOnly(c)
    call CaseSource(c, 1000, 100)            ! at the side that would be left out
    c%cfg%share = 4
    call CaseNative('tuned', c, c%nt, plain, error)
    c%cfg%share = 0
    notes = ''
    open (newunit=unit, file='SplFd2dmod-shapes', action='read')
    do
      read (unit, '(a)', iostat=wrong) line
      if (wrong /= 0) exit
      at = index(line, known)
      if (at == 0 .or. index(line, 'steps a pass') > 0) cycle
      notes = notes//line(:at - 1)//new//line(at + len(known):index(line, ' = ') + 2)//'strips-256 1 1.6 3 1'//new_line('a')
    end do
    close (unit)
    open (newunit=unit, file='SplFd2dmod-shapes', action='write', position='append')
    write (unit, '(a)', advance='no') notes
    close (unit)
    call CaseNative('tuned', c, c%nt, r, error)
    if (.not. Fine(error, 'tuned, notes of others')) return
    call Claim(notes /= '' .and. CountDifferent(r, plain) == 0, 'tuned, a note that leaves out a side is not believed: '//r%device// &
               ', the same numbers')
  end subroutine ForeignNotes

  subroutine SetShape(cfg, name)
    type(fd2d_cfg), intent(inout) :: cfg
    character(*), intent(in) :: name
    integer :: i
    cfg%shape = c_null_char
    do i = 1, len_trim(name)
      cfg%shape(i) = name(i:i)
    end do
  end subroutine SetShape

  !> The fields that tuned keeps are those of cpu, in m/s too; and a shot goes on from fields that were given.
  subroutine Fields()
    type(case_t) :: c
    type(c_ptr) :: h(2)
    real(sp), allocatable :: a(:, :, :, :)
    character(5), parameter :: variant(2) = ['cpu  ', 'tuned']
    real(dp) :: differ(0:2, 2)
    integer :: f, v, half
    call CaseNew(c, 257, 130, 4, 2, 120, error)
    allocate (a(257, 130, 0:2, 2))
    do v = 1, 2
      h(v) = CaseHandle(trim(variant(v)), c, error)
    end do
    do half = 1, 2
      do v = 1, 2
        if (.not. allocated(error)) call FailFromC(handle_timestep(h(v), 1, 60), error)
        if (.not. allocated(error)) call FailFromC(handle_pending(h(v), 0), error)
        do f = 0, 2
          if (.not. allocated(error)) call FailFromC(fd2d_field(h(v), f, a(:, :, f, v)), error)
        end do
      end do
      do f = 0, 2
        differ(f, half) = norm2(real(a(:, :, f, 2) - a(:, :, f, 1), dp))/norm2(real(a(:, :, f, 1), dp))
      end do
      do v = 1, 2                        ! on from the fields of cpu, without what the layers remember
        if (.not. allocated(error)) call FailFromC(handle_reset(h(v)), error)
        do f = 0, 2
          if (.not. allocated(error)) call FailFromC(fd2d_set_field(h(v), f, a(:, :, f, 1)), error)
        end do
      end do
    end do
    if (Fine(error, 'tuned, fields')) call Claim(all(differ <= 1e-5_dp), 'tuned, fields of sigma, vx and vz: from those of cpu by '// &
                                         Str(maxval(differ(:, 1)), 2)//' after 60 steps, and by '//Str(maxval(differ(:, 2)), 2)// &
                                         ' after 60 from fields given, <= 1e-5')
    do v = 1, 2
      call handle_free(h(v))
    end do
  end subroutine Fields

  !> Fields that tuned does not keep are refused with the way out.
  subroutine Refusals()
    type(case_t) :: c
    type(c_ptr) :: h
    type(result_t) :: r, plain
    real(sp), allocatable :: a(:, :)
    integer, allocatable :: receivers(:)
    integer :: f
    character(*), parameter :: words = 'keeps velocities only where its configuration says so'
    call CaseNew(c, 61, 47, 4, 1, 50, error)
    allocate (receivers, source=c%field)
    call CaseSigmaOnly(c)
    call CaseNative('tuned', c, 25, plain, error)
    allocate (a(61, 47), source=0.0_sp)
    h = CaseHandle('tuned', c, error)
    call CaseSteps(h, c, 25, error)
    if (Fine(error, 'tuned, a shot')) then
      do f = 1, 2
        call FailFromC(fd2d_field(h, f, a), error)
        call ClaimFails(error, words, 'tuned without velocities, '//Either(f == 1, 'vx', 'vz')//' asked for')
        call FailFromC(fd2d_set_field(h, f, a), error)
        call ClaimFails(error, words, 'tuned without velocities, '//Either(f == 1, 'vx', 'vz')//' given')
      end do
      call FailFromC(fd2d_receivers(h, size(c%field), c%start - 1, receivers, c%ri - 1, c%rk - 1, c%rw), error)
      call ClaimFails(error, words, 'tuned without velocities, receivers of them')
      call CasePoints(h, c, error)
      if (.not. allocated(error)) call FailFromC(handle_reset(h), error)
      call CaseSteps(h, c, 25, error)
      call CaseResult(h, c, r, error)
      if (Fine(error, 'tuned, after five refusals')) call ClaimSame(r, plain, 'tuned, after five refusals a shot as before')
    end if
    call handle_free(h)
  end subroutine Refusals

  !> What GPUs are told apart by: all of it finds room where ranks keep it.
  subroutine Addresses()
    character(kind=c_char, len=id_length), allocatable :: text(:)
    integer :: d
    allocate (text(device_count()))
    do d = 1, size(text)
      if (.not. allocated(error)) call FailFromC(device_id(d - 1, len(text), text(d)), error)
    end do
    if (Fine(error, 'addresses of GPUs')) &
      call Claim(all(index(text, c_null_char) > len('0000:3b:00.0 ') + 32) .and. &
                 all([(count(text == text(d)) == 1, d=1, size(text))]), 'each of '//Str(size(text))// &
                 ' GPU(s) has an address and a UUID of its own: '//text(1)(:max(1, index(text(1), c_null_char)) - 1))
  end subroutine Addresses

end program t242_fd2d_gpu_behaviour
