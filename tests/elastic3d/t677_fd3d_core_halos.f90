!> A sparse grid cut into subdomains, of which `tuned` has a core in each where there is room for one: random cuts, sides, half-lengths,
!> points, and widths of halos give what the undivided grid gives, which rounds otherwise, and the same bits again from a state in their
!> midst.
!>
!>     t677_fd3d_core_halos [SEED]
program t677_fd3d_core_halos
  use check_m, only: Claim, ClaimFine, Done, GivenSeed, Seed
  use error_m, only: error_t, FailFromC
  use fd3d_c, only: fd3d_field, fd3d_histories, fd3d_map
  use fd3dcase_m, only: case3d_t, Case3dDifferent, Case3dDiffers, Case3dHandle, Case3dNative, Case3dNew, Case3dSource, result3d_t, &
                        SidesName
  use fd3d_engine_m, only: side_periodic
  use gpu_m, only: GpuThere
  use handle_c, only: handle_device, handle_free, handle_load, handle_save, handle_state_size, handle_traces
  use iso_c_binding, only: c_char, c_long_long, c_null_char
  use kinds_m, only: dp, sp
  use pieces3d_m, only: piece_t, PieceHears, PieceOf, PiecesHalfStep
  use text_m, only: FString, Str
  implicit none

  integer, parameter :: cases = 12, steps = 60, half = 25
  integer, parameter :: kinds(6) = [1, 2, 3, 4, 6, 8]                  !< of sides
  integer, parameter :: cuts(3, 5) = reshape([2, 1, 1, 1, 2, 1, 1, 1, 2, 2, 2, 1, 1, 2, 2], [3, 5])
  real(dp), parameter :: bound = 1.0e-5_dp

  character(16) :: word
  integer :: first, n, cores

  call get_command_argument(1, word)
  first = GivenSeed()
  if (word /= '') read (word, *) first
  if (GpuThere()) then
    cores = 0
    do n = 1, cases
      call Seed(first + n)
      call Compare(cores)
    end do
    call Claim(cores >= cases, 'from seed '//Str(first)//': '//Str(cores)//' pieces of '//Str(cases)//' cases have a core')
  end if
  call Done()

contains

  integer function Pick(from, to)
    integer, intent(in) :: from, to
    real(dp) :: r
    call random_number(r)
    Pick = from + min(int(r*(to - from + 1)), to - from)
  end function Pick

  subroutine Compare(cores)
    integer, intent(inout) :: cores
    type(case3d_t) :: c
    type(result3d_t) :: whole, pieces, again
    type(error_t), allocatable :: error
    character(:), allocatable :: what, worst
    real(dp) :: difference
    integer :: sides, cut(3), cells(3), length, here
    sides = kinds(Pick(1, size(kinds)))
    cut = cuts(:, Pick(1, size(cuts, 2)))
    cells = [Pick(110, 140), Pick(62, 80), Pick(70, 90)]
    length = Pick(1, 2)
    what = SidesName(sides)//', half-length '//Str(length)//', '//Str(cells(1))//' x '//Str(cells(2))//' x '//Str(cells(3))// &
           ' cut into '//Str(cut(1))//' x '//Str(cut(2))//' x '//Str(cut(3))
    call Case3dNew(c, cells, length, sides, .false., steps)
    c%grid%sparse = .true.
    c%narrow = .true.                                          ! as points beside a cut have no cells beyond it
    deallocate (c%si, c%sj, c%sk, c%sw)
    call Case3dSource(c, Pick(30, 70)/100.0_dp)
    call Case3dNative('tuned', c, steps, whole, error)
    c%grid%wide = Pick(0, 1) == 1 .and. .not. any(c%grid%side(1::2) == side_periodic .and. cut > 1)
    if (c%grid%wide) what = what//', wide halos'
    call InPieces(c, cut, whole, .false., pieces, here, error)
    call InPieces(c, cut, whole, .true., again, here, error)
    cores = cores + here
    if (allocated(error)) then
      call ClaimFine(error, what)
      return
    end if
    call Case3dDiffers(c, pieces, whole, difference, worst)
    call Claim(difference <= bound, what//': traces, velocities and map differ from those of the undivided grid by '// &
               Str(difference, 2)//' relative RMS at most ('//worst//'), <= 1e-5')
    call Claim(Case3dDifferent(pieces, again) == 0, what//': from the states of step '//Str(half)//' the same bits follow')
  end subroutine Compare

  !> A shot in pieces, which on request go on in other handles from a state. Receivers that lie in several pieces get the samples
  !> of the undivided grid. `cores`: pieces that have one.
  subroutine InPieces(c, cut, whole, broken, r, cores, error)
    type(case3d_t), intent(in) :: c
    integer, intent(in) :: cut(3)
    type(result3d_t), intent(in) :: whole
    logical, intent(in) :: broken
    type(result3d_t), intent(out) :: r
    integer, intent(out) :: cores
    type(error_t), allocatable, intent(inout) :: error
    type(piece_t) :: p(product(cut))
    integer :: m, it
    cores = 0
    r = whole
    do m = 1, size(p)
      call PieceOf(c, cut, m, p(m))
      call Begin(c, p(m), 1, error)
    end do
    do it = 1, steps
      do m = 1, size(p)
        if (broken .and. it == half + 1) call Renew(c, p(m), error)
      end do
      call PiecesHalfStep(p, it, 0, error)
      call PiecesHalfStep(p, it, 1, error)
    end do
    do m = 1, size(p)
      call Collect(c, p(m), r, cores, error)
      call handle_free(p(m)%h)
    end do
  end subroutine InPieces

  !> A handle, on request with a state, and the histories of steps from `it` on.
  subroutine Begin(c, p, it, error, state)
    type(case3d_t), intent(in) :: c
    type(piece_t), intent(inout) :: p
    integer, intent(in) :: it
    type(error_t), allocatable, intent(inout) :: error
    real(sp), intent(in), optional :: state(:)
    p%h = Case3dHandle('tuned', c, error, p%grid)
    if (present(state) .and. .not. allocated(error)) &
      call FailFromC(handle_load(p%h, 1, it - 1, size(state, kind=c_long_long), state), error)
    if (it <= size(c%q, 2) .and. .not. allocated(error)) &
      call FailFromC(fd3d_histories(p%h, it, size(c%q, 2) - it + 1, c%q(:, it:)), error)
    if (.not. allocated(error)) call FailFromC(fd3d_histories(p%h, max(it, size(c%q, 2) + 1), 0, c%q), error)
  end subroutine Begin

  subroutine Renew(c, p, error)
    type(case3d_t), intent(in) :: c
    type(piece_t), intent(inout) :: p
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: state(:)
    if (allocated(error)) return
    allocate (state(handle_state_size(p%h, half)))
    call FailFromC(handle_save(p%h, size(state, kind=c_long_long), state), error)
    call handle_free(p%h)
    call Begin(c, p, half + 1, error, state)
  end subroutine Renew

  subroutine Collect(c, p, r, cores, error)
    type(case3d_t), intent(in) :: c
    type(piece_t), intent(in) :: p
    type(result3d_t), intent(inout) :: r
    integer, intent(inout) :: cores
    type(error_t), allocatable, intent(inout) :: error
    character(kind=c_char, len=256) :: device
    real(sp), allocatable :: a(:, :, :), traces(:, :)
    integer :: f, k, lo(3), hi(3)
    lo = p%grid%first
    hi = lo + p%grid%n - 1
    device = c_null_char
    if (.not. allocated(error)) call FailFromC(handle_device(p%h, len(device), device), error)
    if (index(FString(device), 'core of') > 0) cores = cores + 1
    allocate (a(p%grid%n(1), p%grid%n(2), p%grid%n(3)), traces(c%nt, size(c%start) - 1), source=0.0_sp)
    do f = 0, 2
      if (.not. allocated(error)) call FailFromC(fd3d_field(p%h, f, a), error)
      r%fields(lo(1):hi(1), lo(2):hi(2), lo(3):hi(3), f) = a
    end do
    if (c%watched >= lo(3) .and. c%watched <= hi(3) .and. .not. allocated(error)) then
      call FailFromC(fd3d_map(p%h, a(:, :, :3)), error)
      r%map(lo(1):hi(1), lo(2):hi(2), :) = a(:, :, :3)
    end if
    if (.not. allocated(error)) call FailFromC(handle_traces(p%h, 1, c%nt, traces), error)
    do k = 1, size(c%start) - 1
      if (PieceHears(c, k, p)) r%traces(:, k) = traces(:, k)
    end do
  end subroutine Collect

end program t677_fd3d_core_halos
