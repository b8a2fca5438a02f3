!> Every GPU variant gives what the readable Fortran gives: half-lengths 1..8, every kind of absorbing layer and free surface, odd grid
!> sizes down to a single cell wide; and where it computes in the same order as `cpu`, the same bits.
!>
!>     t241_fd2d_gpu [small | tiny] [VARIANT ...]   small: a few small grids and 21 steps, tiny: one kind of layers and 9 steps, for
!>                                                  checkers that slow everything down
!>     t241_fd2d_gpu device                     says only why there is no GPU, or nothing
program t241_fd2d_gpu
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use fdcase_m, only: case_t, CaseFortran, CaseNative, CaseNew, CaseSigmaOnly, CountDifferent, kinds_of_layers, LayerName, result_t, &
                      SigmaDiffers, TracesDiffer
  use fd2d_variants_m, only: fd2d_variants
  use gpu_m, only: GpuAsked
  use kinds_m, only: dp
  use text_m, only: Str
  implicit none

  real(dp), parameter :: bound = 1.0e-5_dp
  integer, parameter :: sizes(2, 10) = reshape([61, 47, 257, 130, 300, 97, 33, 500, 245, 64, 9, 7, 1, 17, 19, 1, 1, 1, 5, 23], [2, 10])
  integer, parameter :: small_sizes(2, 5) = reshape([61, 47, 257, 33, 9, 7, 70, 40, 33, 35], [2, 5])
  integer, parameter :: large(2, 1) = reshape([1021, 503], [2, 1])
  !> Width and rows of the blocks of tuned, each in its turn, 0 = as it chooses; blocks that march keep no velocities.
  integer, parameter :: blocks(2, 5) = reshape([0, 0, 64, 32, 64, 64, 256, 0, 512, 0], [2, 5])

  !> Results of a variant on the grids of one claim.
  type :: score_t
    real(dp) :: traces = 0, sigma = 0      !< largest difference to fortran
    integer :: different = 0               !< numbers that differ from those of cpu
    character(32) :: worst = ''
    character(:), allocatable :: device
  end type score_t

  type(error_t), allocatable :: error
  character(24), allocatable :: variants(:)
  logical :: small, tiny, has(3)

  call GpuAsked(fd2d_variants, variants, [character(24) :: 'small', 'tiny', 'device'], has)
  small = has(1) .or. has(2)
  tiny = has(2)
  if (has(3)) variants = [character(24) ::]
  if (size(variants) > 0) call Walk()
  deallocate (variants)
  call Done()

contains

  subroutine Walk()
    integer :: half_length, layers
    do half_length = 1, 8
      if (small .and. half_length /= 2 .and. half_length /= 8) cycle
      if (tiny .and. half_length /= 8) cycle
      do layers = 1, kinds_of_layers
        if (small .and. .not. any(layers == [1, 2, 4])) cycle
        if (tiny .and. layers /= 2) cycle
        if (small) then
          call Compare(half_length, layers, small_sizes, merge(9, 21, tiny))
        else
          call Compare(half_length, layers, sizes, 170)
        end if
        if (half_length == 8 .and. .not. small) call Compare(half_length, layers, large, 80)
      end do
    end do
  end subroutine Walk

  !> One shot on each of the grids by fortran, by cpu and by every variant. Tiny grids ring like bells, on notes that depend on the
  !> last bit of the coefficients: after 170 steps fortran and cpu are 2e-5 apart there; 50 steps are enough to see every cell at work.
  subroutine Compare(half_length, layers, grids, nt)
    integer, intent(in) :: half_length, layers, grids(:, :), nt
    type(score_t) :: score(size(variants))
    type(case_t) :: c
    type(result_t) :: reference, cpu, r
    integer :: n, v, b
    do n = 1, size(grids, 2)
      call CaseNew(c, grids(1, n), grids(2, n), half_length, layers, merge(nt, min(nt, 50), minval(grids(:, n)) > 25), error)
      if (small) c%cfg%share = 2                         ! spares the search for the fastest shape of blocks
      b = mod(5*(n - 1) + layers, 8)       ! five grids see every kernel of tuned, eight every shape with and without velocities
      if (b >= 3) call CaseSigmaOnly(c)
      c%width = blocks(1, merge(b + 1, b - 2, b < 3))
      c%rows = blocks(2, merge(b + 1, b - 2, b < 3))
      if (.not. allocated(error)) call CaseFortran(c, reference, error)
      if (.not. allocated(error)) call CaseNative('cpu', c, c%nt, cpu, error)
      do v = 1, size(variants)
        if (.not. allocated(error)) call CaseNative(trim(variants(v)), c, c%nt, r, error)
        if (allocated(error)) then
          call ClaimFine(error, trim(variants(v))//', half-length '//Str(half_length)//', '//LayerName(layers)//', '// &
                         Str(grids(1, n))//' x '//Str(grids(2, n)))
          return
        end if
        call Judge(score(v), c, r, reference, cpu, Str(grids(1, n))//' x '//Str(grids(2, n)))
      end do
    end do
    do v = 1, size(variants)
      call Report(trim(variants(v)), score(v), half_length, layers, size(grids, 2), cpu%device)
    end do
  end subroutine Compare

  subroutine Judge(score, c, r, reference, cpu, grid)
    type(score_t), intent(inout) :: score
    type(case_t), intent(in) :: c
    type(result_t), intent(in) :: r, reference, cpu
    character(*), intent(in) :: grid
    real(dp) :: difference
    integer :: worst
    call TracesDiffer(c, r, reference, difference, worst)
    if (difference > score%traces) score%worst = grid//', receiver '//Str(worst)
    score%traces = max(score%traces, difference)
    score%sigma = max(score%sigma, SigmaDiffers(c, r, reference))
    score%different = score%different + CountDifferent(r, cpu)
    score%device = r%device
  end subroutine Judge

  !> A claim on the difference to fortran; and on the bits of cpu where both have fused multiply-adds and the same order.
  subroutine Report(variant, score, half_length, layers, grids, cpu)
    character(*), intent(in) :: variant, cpu
    type(score_t), intent(in) :: score
    integer, intent(in) :: half_length, layers, grids
    character(:), allocatable :: what
    what = variant//' ('//score%device//'), half-length '//Str(half_length)//', '//LayerName(layers)//', '//Str(grids)//' grid(s)'
    call Claim(score%traces <= bound .and. score%sigma <= bound, what//': traces differ from fortran by '//Str(score%traces, 2)// &
               ' relative RMS at most'//' ('//trim(score%worst)//'), sigma by '//Str(score%sigma, 2)//', <= 1e-5')
    if (variant == 'tuned' .or. index(cpu, 'AVX') == 0) return
    call Claim(score%different == 0, what//': '//Str(score%different)//' numbers differ from those of cpu ('//cpu//'), must be 0')
  end subroutine Report

end program t241_fd2d_gpu
