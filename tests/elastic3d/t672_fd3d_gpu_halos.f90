!> A grid cut into subdomains, each a handle of a GPU variant, which exchange halos through the verbs of fd3d_c.f90, steps in halves and
!> parts: bit for bit what the undivided grid gives, with narrow differences along layers too, narrow halos and wide ones.
!>
!>     t672_fd3d_gpu_halos [tiny] [VARIANT ...]
program t672_fd3d_gpu_halos
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t, FailFromC
  use fd3d_c, only: fd3d_field, fd3d_histories, fd3d_map
  use fd3dcase_m, only: case3d_t, Case3dHandle, Case3dNative, Case3dNew, kinds_of_sides, result3d_t, SidesName
  use fd3d_engine_m, only: side_periodic
  use fd3d_variants_m, only: fd3d_variants
  use gpu_m, only: GpuAsked
  use handle_c, only: handle_free, handle_traces
  use kinds_m, only: sp
  use pieces3d_m, only: piece_t, PieceHears, PieceOf, PiecesHalfStep
  use text_m, only: Str
  implicit none

  character(24), allocatable :: variants(:)
  type(error_t), allocatable :: error
  integer :: n, sides
  logical :: tiny(1)

  call GpuAsked(fd3d_variants, variants, [character(24) :: 'tiny'], tiny)
  do n = 1, size(variants)
    do sides = 1, kinds_of_sides
      if (tiny(1)) then
        if (sides == 2 .or. sides == 5) call Compare(trim(variants(n)), sides, [2, 2, 2], 2, sides == 5, [23, 18, 17], 4)
      else
        call Compare(trim(variants(n)), sides, [2, 2, 2], 2, .true., [47, 30, 29], 40)
        call Compare(trim(variants(n)), sides, [1, 3, 2], 4, .false., [33, 37, 26], 40)
        call Compare(trim(variants(n)), sides, [3, 1, 1], 1, .true., [40, 17, 19], 40)
        if (any(sides == [1, 2, 7, 8])) call Compare(trim(variants(n)), sides, [3, 2, 2], 3, .true., [47, 30, 29], 40, .true.)
        call Compare(trim(variants(n)), sides, [2, 2, 2], 2, .true., [47, 30, 29], 40, wide=.true.)
        call Compare(trim(variants(n)), sides, [1, 3, 2], 4, .false., [33, 37, 26], 40, wide=.true.)
        call Compare(trim(variants(n)), sides, [1, 1, 2], 3, .false., [33, 27, 26], 40, wide=.true.)
      end if
    end do
  end do
  deallocate (variants)
  call Done()

contains

  !> `narrow`: differences along layers are. `wide`: halos are, which a cut periodic axis has none of.
  subroutine Compare(variant, sides, cut, half_length, anelastic, cells, nt, narrow, wide)
    character(*), intent(in) :: variant
    integer, intent(in) :: sides, cut(3), half_length, cells(3), nt
    logical, intent(in) :: anelastic
    logical, intent(in), optional :: narrow, wide
    type(case3d_t) :: c
    type(result3d_t) :: all
    type(piece_t) :: p(product(cut))
    character(:), allocatable :: what
    integer :: m, it, different
    what = variant//', '//SidesName(sides)//', half-length '//Str(half_length)//', cut into '//Str(cut(1))//' x '//Str(cut(2))//' x '//Str(cut(3))
    call Case3dNew(c, cells, half_length, sides, anelastic, nt)
    if (present(narrow)) c%grid%narrow = narrow
    if (present(wide)) then
      if (any(c%grid%side(1::2) == side_periodic .and. cut > 1)) return
      what = what//', wide halos'
    end if
    if (c%grid%narrow) what = what//', narrow differences along layers'
    c%narrow = .true.                                          ! as points beside a cut have no cells beyond it
    call Case3dNative(variant, c, nt, all, error)
    if (present(wide)) c%grid%wide = wide
    do m = 1, size(p)
      call PieceOf(c, cut, m, p(m))
      p(m)%h = Case3dHandle(variant, c, error, p(m)%grid)
      if (.not. allocated(error)) call FailFromC(fd3d_histories(p(m)%h, 1, size(c%q, 2), c%q), error)
      if (.not. allocated(error)) call FailFromC(fd3d_histories(p(m)%h, size(c%q, 2) + 1, 0, c%q), error)
    end do
    do it = 1, nt
      call PiecesHalfStep(p, it, 0, error)
      call PiecesHalfStep(p, it, 1, error)
    end do
    different = Differing(c, p, all)
    do m = 1, size(p)
      call handle_free(p(m)%h)
    end do
    if (allocated(error)) then
      call ClaimFine(error, what)
    else
      call Claim(different == 0 .and. maxval(abs(all%traces)) > 0, what//': '//Str(different)//' of '//Str(size(all%fields) + size(all%map) + &
                 nt)//' numbers of fields, map and traces differ from those of the undivided grid, must be 0')
    end if
  end subroutine Compare

  !> Numbers of the pieces that differ from those of the whole: fields, map, and traces of receivers that lie in one piece.
  integer function Differing(c, p, all) result(different)
    type(case3d_t), intent(in) :: c
    type(piece_t), intent(inout) :: p(:)
    type(result3d_t), intent(in) :: all
    real(sp), allocatable :: a(:, :, :), traces(:, :)
    integer :: m, f, r, lo(3), hi(3)
    different = 0
    do m = 1, size(p)
      lo = p(m)%grid%first
      hi = lo + p(m)%grid%n - 1
      allocate (a(p(m)%grid%n(1), p(m)%grid%n(2), p(m)%grid%n(3)), traces(c%nt, size(c%start) - 1))
      do f = 0, 8
        if (.not. allocated(error)) call FailFromC(fd3d_field(p(m)%h, f, a), error)
        different = different + count(a /= all%fields(lo(1):hi(1), lo(2):hi(2), lo(3):hi(3), f))
      end do
      if (c%watched >= lo(3) .and. c%watched <= hi(3) .and. .not. allocated(error)) then
        deallocate (a)
        allocate (a(p(m)%grid%n(1), p(m)%grid%n(2), 3))
        call FailFromC(fd3d_map(p(m)%h, a), error)
        different = different + count(a /= all%map(lo(1):hi(1), lo(2):hi(2), :))
      end if
      if (.not. allocated(error)) call FailFromC(handle_traces(p(m)%h, 1, c%nt, traces), error)
      do r = 1, size(c%start) - 1
        if (PieceHears(c, r, p(m))) different = different + count(traces(:, r) /= all%traces(:, r))
      end do
      deallocate (a, traces)
    end do
  end function Differing

end program t672_fd3d_gpu_halos
