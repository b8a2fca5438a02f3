!> A sparse 3D grid, where stresses are kept only where somebody asks for them, gives what the readable Fortran gives: every GPU
!> variant, half-lengths 1 and 2 (3, 4 and anelastic rock keep all stresses), every kind of side, sources and receivers of stresses in
!> the middle and beside the core, sources by chance all over it; in chunks and from a saved state to the same bits.
!>
!>     SEED=n t674_fd3d_core [small | tiny] [VARIANT ...]   small: tuned on one small grid, 20 steps; tiny: two kinds of
!>                                                   sides, 4 steps, for checkers that slow everything down
!>     t674_fd3d_core device                         says only why there is no GPU, or nothing
program t674_fd3d_core
  use check_m, only: Claim, ClaimFails, ClaimFine, Done, GivenSeed, RandomBelow, Seed
  use error_m, only: error_t, FailFromC
  use fd3d_c, only: fd3d_field, fd3d_receivers
  use fd3d_variants_m, only: fd3d_variants
  use fd3dcase_m, only: case3d_t, Case3dDifferent, Case3dDiffers, Case3dFortran, Case3dHandle, Case3dNative, Case3dNew, &
                        Case3dPoints, Case3dResult, Case3dSource, Case3dSteps, kinds_of_sides, result3d_t, SidesName
  use gpu_m, only: GpuAsked
  use handle_c, only: handle_free, handle_load, handle_reset, handle_save, handle_state_size
  use iso_c_binding, only: c_long_long, c_ptr
  use kinds_m, only: dp, sp
  use text_m, only: Str
  implicit none

  real(dp), parameter :: bound = 1.0e-5_dp
  integer, parameter :: sizes(3, 3) = reshape([131, 50, 60, 108, 61, 57, 77, 47, 91], [3, 3])
  integer, parameter :: small_sizes(3, 1) = reshape([108, 45, 41], [3, 1])

  type(error_t), allocatable :: error
  character(24), allocatable :: variants(:)
  logical :: small, tiny, has(3)
  integer :: v

  call GpuAsked(fd3d_variants, variants, [character(24) :: 'small', 'tiny', 'device'], has)
  small = has(1) .or. has(2)
  tiny = has(2)
  if (has(3)) variants = [character(24) ::]
  if (small) variants = pack(variants, variants == 'tuned')
  if (size(variants) > 0) call Walk()
  do v = 1, size(variants)
    if (small) exit
    call Places(trim(variants(v)))
    if (variants(v) == 'tuned') call Fault('tuned')
    call Chunks(trim(variants(v)))
    if (variants(v) == 'tuned') call MidShot()
    if (variants(v) == 'tuned') call Refused()
    call Long(trim(variants(v)), .false.)
    call Long(trim(variants(v)), .true.)
  end do
  deallocate (variants)
  call Done()

contains

  subroutine Walk()
    integer :: half_length, sides, q
    do half_length = 1, 4
      if (half_length /= 2 .and. tiny) cycle
      do sides = 1, kinds_of_sides
        if (tiny .and. sides /= 2 .and. sides /= 3) cycle
        if (half_length /= 2 .and. sides /= 2 .and. sides /= 6) cycle
        do q = 0, merge(1, 0, half_length == 2 .and. sides == 2)
          if (small) then
            call Compare(half_length, sides, q == 1, small_sizes, merge(4, 20, tiny))
          else
            call Compare(half_length, sides, q == 1, sizes, 50)
          end if
        end do
      end do
    end do
  end subroutine Walk

  !> One sparse shot on each of the grids by fortran and by every variant. Of `tuned` the core must be there where there can be one.
  subroutine Compare(half_length, sides, anelastic, grids, nt)
    integer, intent(in) :: half_length, sides, grids(:, :), nt
    logical, intent(in) :: anelastic
    type(case3d_t) :: c
    type(result3d_t) :: reference, r
    real(dp) :: most(size(variants)), difference
    character(64) :: where_worst(size(variants))
    character(:), allocatable :: what, worst, grid
    logical :: core, wanted
    integer :: n, v
    most = -1
    core = .true.
    what = ', sparse, half-length '//Str(half_length)//', '//SidesName(sides)
    if (anelastic) what = what//', anelastic'
    do n = 1, size(grids, 2)
      grid = Str(grids(1, n))//' x '//Str(grids(2, n))//' x '//Str(grids(3, n))
      call Case3dNew(c, grids(:, n), half_length, sides, anelastic, nt)
      c%grid%sparse = .true.
      c%hilly = modulo(sides, 2) == 0
      call Case3dFortran(c, reference, error)
      do v = 1, size(variants)
        if (.not. allocated(error)) call Case3dNative(trim(variants(v)), c, c%nt, r, error)
        if (allocated(error)) then
          call ClaimFine(error, trim(variants(v))//what//', '//grid)
          return
        end if
        wanted = variants(v) == 'tuned' .and. half_length <= 2 .and. all(sides /= [5, 7]) .and. .not. anelastic
        core = core .and. ((index(r%device, 'core of') > 0) .eqv. wanted)
        call Case3dDiffers(c, r, reference, difference, worst)
        if (difference > most(v)) where_worst(v) = worst//' of '//grid
        most(v) = max(most(v), difference)
      end do
    end do
    do v = 1, size(variants)
      call Claim(most(v) <= bound, trim(variants(v))//what//', '//Str(size(grids, 2))//' grid(s), '//Str(nt)// &
                 ' steps: traces, velocities and map differ from fortran by '//Str(most(v), 2)//' relative RMS at most ('// &
                 trim(where_worst(v))//'), <= 1e-5')
    end do
    call Claim(core, 'a core'//what//': of tuned only, where half-length, sides and rock allow one')
  end subroutine Compare

  !> Sources at many places, also at and beside the corners of the core; receivers of one field only, or of stresses all over.
  subroutine Places(variant)
    character(*), intent(in) :: variant
    type(case3d_t) :: c
    type(result3d_t) :: reference, r
    real(dp), parameter :: part(6) = [0.02_dp, 0.1_dp, 0.26_dp, 0.32_dp, 0.74_dp, 0.97_dp]
    real(dp) :: difference, most
    character(:), allocatable :: worst
    integer :: p
    most = 0
    do p = 1, size(part)
      call Case3dNew(c, [108, 61, 57], 2, 2, .false., 40)
      c%grid%sparse = .true.
      deallocate (c%si, c%sj, c%sk, c%sw)
      call Case3dSource(c, part(p))
      if (p > 3) c%rf = modulo(c%rf, 3)
      if (p == 2) c%ri = 1 + modulo(29*c%ri, c%grid%n(1))              ! too many holes for a core
      call Case3dFortran(c, reference, error)
      if (.not. allocated(error)) call Case3dNative(variant, c, c%nt, r, error)
      if (allocated(error)) exit
      call Case3dDiffers(c, r, reference, difference, worst)
      most = max(most, difference)
    end do
    call ClaimFine(error, variant//', sparse: sources at '//Str(size(part))//' places')
    call Claim(most <= bound, variant//', sparse: sources at '//Str(size(part))//' places, receivers of velocities only, or of '// &
               'stresses all over: traces and velocities differ from fortran by '//Str(most, 2)//' at most, <= 1e-5')
  end subroutine Places

  !> Sources of all fields in many cells by chance, as of a fault: in the core, in the hole around receivers of stresses, at the edges
  !> of both, where stresses are kept too, and outside; in some cells several.
  subroutine Fault(variant)
    character(*), intent(in) :: variant
    integer, parameter :: entries = 900
    type(case3d_t) :: c
    type(result3d_t) :: reference, r
    real(dp) :: difference
    character(:), allocatable :: worst, what
    integer :: half_length, number, n
    number = GivenSeed()
    call Seed(number)
    do half_length = 1, 2
      what = variant//', sparse, half-length '//Str(half_length)//', SEED='//Str(number)//': sources in '//Str(entries)//' cells'
      call Case3dNew(c, [131, 50, 60], half_length, 2, .false., 60)
      c%grid%sparse = .true.
      c%sf = [(RandomBelow(9), n=1, entries)]
      c%sh = [(1 + RandomBelow(3), n=1, entries)]
      c%si = [(1 + RandomBelow(c%grid%n(1)), n=1, entries)]
      c%sj = [(1 + RandomBelow(c%grid%n(2)), n=1, entries)]
      c%sk = [(1 + RandomBelow(c%grid%n(3)), n=1, entries)]
      c%si(:100) = 40 + modulo(c%si(:100), 6)                  ! one upon the other
      c%sj(:100) = 20 + modulo(c%sj(:100), 4)
      c%sk(:100) = 30
      c%sw = [(real((RandomBelow(21) - 10)*merge(5e6_dp, 1.0_dp, c%sf(n) >= 3), sp), n=1, entries)]
      call Case3dFortran(c, reference, error)
      if (.not. allocated(error)) call Case3dNative(variant, c, c%nt, r, error)
      call ClaimFine(error, what)
      if (allocated(error)) return
      call Case3dDiffers(c, r, reference, difference, worst)
      call Claim(difference <= bound .and. index(r%device, 'core of') > 0, what//', with a core: traces, velocities and map differ '// &
                 'from fortran by '//Str(difference, 2)//' relative RMS at most ('//worst//'), <= 1e-5')
    end do
  end subroutine Fault

  !> Chunks of any length, a second shot after reset and a state loaded half way give the same bits; other places do not.
  subroutine Chunks(variant)
    character(*), intent(in) :: variant
    type(case3d_t) :: c
    type(result3d_t) :: whole, r
    real(sp), allocatable :: state(:)
    real(sp) :: stress(131, 50, 60)
    type(c_ptr) :: h
    character(:), allocatable :: what
    integer, parameter :: chunk(3) = [1, 9, 64], half = 33
    integer :: n
    what = variant//', sparse'
    call Case3dNew(c, [131, 50, 60], 2, 2, .false., 70)
    c%grid%sparse = .true.
    call Case3dNative(variant, c, c%nt, whole, error)
    do n = 1, size(chunk)
      if (.not. allocated(error)) call Case3dNative(variant, c, chunk(n), r, error)
      if (allocated(error)) exit
      call Claim(Case3dDifferent(r, whole) == 0, what//': chunks of '//Str(chunk(n))//' steps give the same bits')
    end do
    call ClaimFine(error, what//': chunks')
    h = Case3dHandle(variant, c, error)
    call Case3dSteps(h, c, 20, error, last=half)
    if (.not. allocated(error)) then
      allocate (state(handle_state_size(h, half)))
      call FailFromC(handle_save(h, size(state, kind=c_long_long), state), error)
    end if
    call Case3dSteps(h, c, 20, error, first=half + 1)
    call ClaimFine(error, what//': a saved state')
    if (variant == 'tuned') then
      call FailFromC(fd3d_receivers(h, 1, [0, 1], [3], [60], [30], [50], [1.0]), error)
      call ClaimFails(error, 'reset comes first', what//': stress asked for elsewhere in the middle of a shot')
    end if
    call FailFromC(fd3d_field(h, 3, stress), error)
    call ClaimFails(error, 'only receivers', what//': a field of stresses is refused')
    call FailFromC(handle_reset(h), error)
    if (.not. allocated(error)) call Case3dPoints(h, c, c%grid, error)
    if (.not. allocated(error)) call FailFromC(handle_load(h, 1, half, size(state, kind=c_long_long), state), error)
    call Case3dSteps(h, c, 20, error, first=half + 1)
    call Case3dResult(h, c, r, error)
    call ClaimFine(error, what//': a loaded state')
    call Claim(Case3dDifferent(r, whole) == 0, what//': from a state of step '//Str(half)//' the same bits follow')
    call FailFromC(handle_reset(h), error)
    if (.not. allocated(error)) call Case3dPoints(h, c, c%grid, error)
    call Case3dSteps(h, c, 7, error)
    call Case3dResult(h, c, r, error)
    call ClaimFine(error, what//': a second shot')
    call Claim(Case3dDifferent(r, whole) == 0, what//': a second shot after reset gives the same bits')
    call handle_free(h)
  end subroutine Chunks

  !> A shot that began without a core, as a receiver has velocities and stresses, gets none in its middle, when receivers no longer
  !> forbid it: its stresses there would begin anew.
  subroutine MidShot()
    type(case3d_t) :: c
    type(c_ptr) :: h
    call Case3dNew(c, [131, 50, 60], 2, 2, .false., 40)
    c%grid%sparse = .true.
    c%start = [1, 3]
    c%rf = [0, 3]
    c%ri = [60, 60]
    c%rj = [25, 25]
    c%rk = [30, 30]
    c%rw = [1.0_sp, 1.0_sp]
    h = Case3dHandle('tuned', c, error)
    call Case3dSteps(h, c, 20, error, last=20)
    if (allocated(error)) then
      call ClaimFine(error, 'tuned, sparse: a shot without a core')
    else
      call FailFromC(fd3d_receivers(h, 1, [0, 1], [0], [60], [25], [30], [1.0]), error)
      call ClaimFails(error, 'reset comes first', 'tuned, sparse: receivers that would let a core begin in the middle of a shot')
      call FailFromC(handle_reset(h), error)
      if (.not. allocated(error)) call FailFromC(fd3d_receivers(h, 1, [0, 1], [0], [60], [25], [30], [1.0]), error)
      call ClaimFine(error, 'tuned, sparse: the same receivers after reset')
    end if
    call handle_free(h)
  end subroutine MidShot

  !> Receivers that are refused in the middle of a shot leave no trace: after reset and receivers as before, without new sources, a
  !> shot has the same bits. They ask for a stress of a source in the core, which would then have a hole around it.
  subroutine Refused()
    type(case3d_t) :: c
    type(result3d_t) :: whole, r
    type(c_ptr) :: h
    character(*), parameter :: what = 'tuned, sparse: after receivers that were refused in the middle of a shot'
    integer, parameter :: at(3) = [61, 26, 31]
    call Case3dNew(c, [131, 50, 60], 2, 2, .false., 40)
    c%grid%sparse = .true.
    c%sf = [3, 6]
    c%sh = [1, 1]
    c%si = at(1) + [0, 1]
    c%sj = at(2) + [0, 0]
    c%sk = at(3) + [0, 1]
    c%sw = [1e7_sp, -2e7_sp]
    call Case3dNative('tuned', c, c%nt, whole, error)
    h = Case3dHandle('tuned', c, error)
    call Case3dSteps(h, c, 20, error, last=20)
    call ClaimFine(error, what)
    call FailFromC(fd3d_receivers(h, 1, [0, 1], [3], at(1:1) - 1, at(2:2) - 1, at(3:3) - 1, [1.0_sp]), error)
    call ClaimFails(error, 'reset comes first', what)
    call FailFromC(handle_reset(h), error)
    if (.not. allocated(error)) &
      call FailFromC(fd3d_receivers(h, size(c%start) - 1, c%start - 1, c%rf, c%ri - 1, c%rj - 1, c%rk - 1, c%rw), error)
    if (.not. allocated(error)) call Case3dSteps(h, c, 20, error)
    if (.not. allocated(error)) call Case3dResult(h, c, r, error)
    call ClaimFine(error, what//', reset, and receivers as before')
    call Claim(index(r%device, 'core of') > 0 .and. Case3dDifferent(r, whole) == 0, what//': the same bits as of a new handle')
    call handle_free(h)
  end subroutine Refused

  !> Thousands of steps, most of them silent: what rounding leaves behind must not grow, in the water and the air neither.
  subroutine Long(variant, anelastic)
    character(*), intent(in) :: variant
    logical, intent(in) :: anelastic
    type(case3d_t) :: c
    type(result3d_t) :: reference, r
    real(dp) :: difference
    character(:), allocatable :: worst, what
    integer, parameter :: steps = 2000
    call Case3dNew(c, [108, 45, 41], 2, 2, anelastic, 200)
    c%nt = steps
    c%grid%sparse = .true.
    what = variant//', sparse, '//trim(merge('anelastic, ', '           ', anelastic))//' '//Str(steps)//' steps'
    call Case3dNative('cpu', c, 500, reference, error)
    if (.not. allocated(error)) call Case3dNative(variant, c, 500, r, error)
    if (.not. allocated(error)) then
      call Case3dDiffers(c, r, reference, difference, worst)
      call Claim(difference <= bound, what//': traces, velocities and map differ from cpu by '// &
                 Str(difference, 2)//' relative RMS at most ('//worst//'), <= 1e-5')
    end if
    call ClaimFine(error, what)
  end subroutine Long

end program t674_fd3d_core
