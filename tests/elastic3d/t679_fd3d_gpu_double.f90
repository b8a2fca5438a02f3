!> The GPU variants of the 3D solver are no further from the same scheme in double precision, after 2,000 steps of a small earthquake,
!> than the readable variant. `tuned` with a core around the source, on the whole grid and on two halves of it, is nearer, as it keeps
!> no stress there, and so the two are to each other. A source beside the plane of the cut lies in no core of the halves: then they are
!> no further from each other than the readable variant is from double precision.
!>
!>     t679_fd3d_gpu_double [VARIANT ...]
program t679_fd3d_gpu_double
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t, FailFromC
  use fd3d_c, only: fd3d_histories
  use fd3d_variants_m, only: fd3d_variants
  use fd3dcase_m, only: case3d_t, Case3dFortran, Case3dHandle, Case3dNative, result3d_t
  use fd3ddouble_m, only: Case3dDouble
  use fd3drounding_m, only: Apart, apart_t, Case3dEarthquake
  use gpu_m, only: GpuAsked
  use handle_c, only: handle_device, handle_free, handle_traces
  use iso_c_binding, only: c_char, c_null_char
  use kinds_m, only: dp, sp
  use pieces3d_m, only: piece_t, PieceHears, PieceOf, PiecesHalfStep
  use text_m, only: FString, Str
  implicit none

  real(dp), parameter :: likely = 2                !< t657 tells why
  real(dp), parameter :: bound = 1e-5_dp           !< of the worst trace
  integer, parameter :: n(3) = [120, 72, 64], at(3) = [22, 20, 28], edge(3) = [22, 35, 28], steps = 2000, cut(3) = [1, 2, 1]

  character(24), allocatable :: variants(:)
  type(error_t), allocatable :: error
  type(case3d_t) :: c
  type(result3d_t) :: double, r
  type(apart_t) :: plain
  integer :: v

  call GpuAsked(fd3d_variants, variants)
  if (size(variants) > 0) then
    call Case3dEarthquake(c, n, at, steps)
    call Case3dDouble(c, double)
    call Case3dFortran(c, r, error)
    plain = Apart(r, double)
    call Claim(plain%all < 1e-3_dp, 'an earthquake, '//Str(steps)//' steps: fortran '//Far(plain))
  end if
  do v = 1, size(variants)
    call Case3dNative(trim(variants(v)), c, steps, r, error)
    call ClaimFine(error, trim(variants(v))//', '//Str(steps)//' steps')
    call ClaimNear(trim(variants(v)), Apart(r, double))
    if (variants(v) == 'tuned') call Core('tuned')
    if (variants(v) == 'tuned') call Beside('tuned')
  end do
  deallocate (variants)
  call Done()

contains

  !> On the whole grid and on two halves, with a core in each.
  subroutine Core(variant)
    character(*), intent(in) :: variant
    type(result3d_t) :: whole, halves
    type(apart_t) :: single, both
    integer :: cores
    c%grid%sparse = .true.
    call Case3dNative(variant, c, steps, whole, error)
    call ClaimFine(error, variant//', sparse')
    cores = merge(1, 0, index(whole%device, 'core of') > 0)
    call InPieces(variant, halves, cores)
    call ClaimFine(error, variant//', sparse, two halves')
    call Claim(cores == 3, variant//': '//Str(cores)//' cores of the whole grid and its halves, must be 3')
    single = Apart(whole, double)
    both = Apart(whole, halves)
    call Claim(single%worst <= bound, variant//' with a core '//Far(single)//', <= 1e-5')
    single = Apart(halves, double)
    call Claim(single%worst <= bound, variant//' with a core in each half '//Far(single)//', <= 1e-5')
    call Claim(both%worst <= bound, variant//', the whole and two halves: '//Str(both%all, 2)//' from each other, the worst trace '// &
               Str(both%worst, 2)//', <= 1e-5')
    c%grid%sparse = .false.
  end subroutine Core

  !> The source one cell before the plane.
  subroutine Beside(variant)
    character(*), intent(in) :: variant
    type(result3d_t) :: whole, halves
    type(apart_t) :: both
    integer :: cores
    call Case3dEarthquake(c, n, edge, steps)
    c%grid%sparse = .true.
    call Case3dNative(variant, c, steps, whole, error)
    cores = 0
    call ClaimFine(error, variant//', sparse, a source beside the cut')
    call InPieces(variant, halves, cores)
    call ClaimFine(error, variant//', sparse, two halves beside the source')
    both = Apart(whole, halves)
    call Claim(both%all <= likely*plain%all .and. both%worst <= likely*plain%worst, variant//', a source beside the cut: whole and '// &
               'halves '//Str(both%all, 2)//' from each other, the worst trace '//Str(both%worst, 2)//', <= 2 times what fortran '// &
               'is from double precision')
  end subroutine Beside

  !> Traces from the piece that hears a receiver. `cores`: how many pieces have one is added.
  subroutine InPieces(variant, r, cores)
    character(*), intent(in) :: variant
    type(result3d_t), intent(out) :: r
    integer, intent(inout) :: cores
    character(kind=c_char, len=256) :: device
    type(piece_t) :: p(product(cut))
    real(sp) :: traces(steps, size(c%rf))
    integer :: m, k, it
    do m = 1, size(p)
      call PieceOf(c, cut, m, p(m))
      p(m)%h = Case3dHandle(variant, c, error, p(m)%grid)
      if (.not. allocated(error)) call FailFromC(fd3d_histories(p(m)%h, 1, size(c%q, 2), c%q), error)
      if (.not. allocated(error)) call FailFromC(fd3d_histories(p(m)%h, size(c%q, 2) + 1, 0, c%q), error)
    end do
    do it = 1, steps
      call PiecesHalfStep(p, it, 0, error)
      call PiecesHalfStep(p, it, 1, error)
    end do
    allocate (r%traces(steps, size(c%rf)), source=0.0_sp)
    do m = 1, size(p)
      device = c_null_char
      if (.not. allocated(error)) call FailFromC(handle_traces(p(m)%h, 1, steps, traces), error)
      if (.not. allocated(error)) call FailFromC(handle_device(p(m)%h, len(device), device), error)
      if (index(FString(device), 'core of') > 0) cores = cores + 1
      do k = 1, size(c%rf)
        if (PieceHears(c, k, p(m))) r%traces(:, k) = traces(:, k)
      end do
      call handle_free(p(m)%h)
    end do
  end subroutine InPieces

  function Far(d) result(words)
    type(apart_t), intent(in) :: d
    character(:), allocatable :: words
    words = 'is '//Str(d%all, 2)//' from double precision, the worst trace '//Str(d%worst, 2)
  end function Far

  subroutine ClaimNear(what, d)
    character(*), intent(in) :: what
    type(apart_t), intent(in) :: d
    call Claim(d%all <= likely*plain%all .and. d%worst <= likely*plain%worst, what//' '//Far(d)//', <= 2 times fortran''s')
  end subroutine ClaimNear

end program t679_fd3d_gpu_double
