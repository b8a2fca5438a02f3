!> A rank that is sent its share of a mesh alone makes of it the piece that it would make of the whole mesh: the same elements, points,
!> bricks of its variant, contacts, colours and ways to other pieces, bit for bit; the nodes of elements colour them as their 125 points do; shares are
!> small. Random boxes of solid and fluid, of 8 and 27 nodes, in pieces as they are cut or as chance will have it, with and without
!> elements of a fluid in which points of a map lie.
!>
!>     t834_sem_shares [SEED [CASES]]
program t834_sem_shares
  use check_m, only: Claim, ClaimFine, Done
  use elements_cut_m, only: cut_t, ElementsCut
  use elements_m, only: elements_t, face_absorbs, face_free, in_element
  use elements_pieces_m, only: piece_t, PieceMake
  use elements_points_m, only: ElementsNumber
  use elements_share_m, only: share_t, shares_t, SharesMake, ShareSums
  use elements_window_m, only: ElementsFill, ElementsFrom, ElementsOutline, ElementsParts
  use error_m, only: error_t
  use kinds_m, only: dp
  use meetings_m, only: meetings_t, MeetingsMake
  use mesh_case_m, only: AnySeed, Chance
  use sem3d_c, only: sem3d_paint
  use sem3d_variants_m, only: sem3d_variants, sums_t, Sem3dAffine, Sem3dColours, Sem3dSums
  use semcase_m, only: semcase_t, SemBox
  use text_m, only: Str
  use window_m, only: box_t, window_t
  implicit none
  integer :: seed, cases, c, io
  character(20) :: word, variant
  character(*), parameter :: variants(3) = [character(6) :: 'cpu', 'global', 'tuned']
  seed = AnySeed()
  cases = 30
  call get_command_argument(2, word)
  read (word, *, iostat=io) cases
  do c = 1, cases
    call OneCase(c)
  end do
  call Done()

contains

  subroutine OneCase(c)
    integer, intent(in) :: c
    type(semcase_t) :: box
    type(elements_t) :: mesh, whole
    type(window_t) :: window
    type(cut_t) :: cut
    type(shares_t) :: shares
    type(sums_t) :: sums
    type(meetings_t) :: meetings
    type(piece_t) :: expected, got
    type(error_t), allocatable :: error
    integer, allocatable :: colour(:)
    logical, allocatable :: wide(:)
    logical :: chosen, far
    integer :: a, b, n, wrong, bad, rc
    variant = variants(1 + modulo(c, 3))
    if (.not. sem3d_variants%built(trim(variant))) variant = 'cpu'
    box%n = [(nint(Chance(2.0_dp, 7.0_dp)), a=1, 3)]
    box%water = nint(Chance(0.0_dp, real(box%n(3), dp)))
    box%size = 800.0_dp*box%n
    box%shake = 0.05_dp
    box%turn = .true.
    box%side = [(merge(face_free, face_absorbs, Chance(0.0_dp, 1.0_dp) < 0.4_dp), a=1, 6)]
    box%brick = [(nint(Chance(1.0_dp, 4.0_dp)), a=1, 3)]
    box%media = merge(1, in_element, Chance(0.0_dp, 1.0_dp) < 0.8_dp)
    box%per = merge(8, 27, Chance(0.0_dp, 1.0_dp) < 0.7_dp)
    if (box%per == 27) box%shake = box%shake/3
    box%vary = 0.05_dp
    call SemBox(box, mesh)
    mesh%loss = spread([0.01, 0.02], 2, mesh%n)
    n = min(1 + int(Chance(1.0_dp, 6.0_dp)), size(mesh%brick) - 1)
    if (n < 2) return
    call ElementsCut(mesh, n, 0, cut, error)
    chosen = Chance(0.0_dp, 1.0_dp) < 0.6_dp
    do b = 1, size(mesh%brick) - 1
      if (chosen) exit
      cut%owner(mesh%brick(b):mesh%brick(b + 1) - 1) = merge(b, min(n, 1 + int(Chance(0.0_dp, real(n, dp)))), b <= n)
    end do
    ! the whole mesh as one rank gets it
    call ElementsOutline(mesh%n, minval(mesh%corner(:, 1, :), 2), maxval(mesh%corner(:, 7, :), 2), window)
    call ElementsFill(mesh, window, error)
    if (.not. allocated(error)) call ElementsFrom(window, whole, error)
    if (allocated(error)) call ClaimFine(error, 'the whole mesh')
    call ElementsNumber(whole)
    call MeetingsMake(whole, meetings)
    call Sem3dSums(trim(variant), 1, whole, sums, error)
    if (.not. allocated(error)) call Sem3dColours(whole, sums%colour, error)
    if (allocated(error)) call ClaimFine(error, 'sums of the whole mesh')
    far = Chance(0.0_dp, 1.0_dp) < 0.5_dp
    far = far .and. whole%n > whole%solid
    allocate (wide(whole%n), source=.false.)
    do a = whole%solid + 1, whole%n
      if (far) wide(a) = Chance(0.0_dp, 1.0_dp) < 0.4_dp
    end do
    call SharesMake(mesh, cut, far, .true., shares, error)
    if (allocated(error)) call ClaimFine(error, 'shares')
    wrong = 0
    do a = 1, n
      call PieceMake(whole, meetings, cut, a, wide, sums, expected)
      call Shared(mesh, cut, shares, a, wide, got)
      wrong = wrong + Differences(expected, got)
    end do
    allocate (colour(whole%n))
    rc = sem3d_paint(whole%solid, in_element, whole%at - 1, whole%points, colour)
    rc = rc + sem3d_paint(whole%n - whole%solid, in_element, whole%at(:, whole%solid + 1:) - 1, whole%points, colour(whole%solid + 1:))
    bad = count(colour /= sums%colour) + rc
    call Claim(wrong == 0 .and. bad == 0, 'seed '//Str(seed)//', case '//Str(c)//', '//trim(variant)//', '//Str(box%n(1))//' x '//Str(box%n(2))//' x '// &
               Str(box%n(3))//' elements of '//Str(box%per)//' nodes, '//Str(box%water)//' layers of water, '// &
               Str(n)//trim(merge(' pieces       ', ' random pieces', chosen))//trim(merge(' with a map', '           ', far))//': '// &
               Str(wrong)//' things of pieces differ, '//Str(bad)//' colours; shares of '//Str(size(shares%list))//' elements in all')
  end subroutine OneCase

  !> The piece of a rank that is sent its share, as the solver makes it.
  subroutine Shared(mesh, cut, shares, mine, wide, piece)
    type(elements_t), intent(in) :: mesh
    type(cut_t), intent(in) :: cut
    type(shares_t), intent(in) :: shares
    integer, intent(in) :: mine
    logical, intent(in) :: wide(:)
    type(piece_t), intent(out) :: piece
    type(window_t) :: window
    type(elements_t) :: elements
    type(share_t) :: share
    type(cut_t) :: owners
    type(sums_t) :: sums
    type(meetings_t) :: meetings
    type(error_t), allocatable :: error
    call ElementsOutline(mesh%n, minval(mesh%corner(:, 1, :), 2), maxval(mesh%corner(:, 7, :), 2), window, shares)
    call ElementsFill(mesh, window, error, box_t([1, mine, 1], [1, mine, window%nz]), cut=cut, shares=shares)
    if (.not. allocated(error)) call ElementsFrom(window, elements, error, share)
    if (allocated(error)) call ClaimFine(error, 'a share')
    if (size(window%medium, 4) /= ElementsParts(mesh, .false., .true.)) call Claim(.false., 'parts of a share are known before it is there')
    call ElementsNumber(elements)
    call MeetingsMake(elements, meetings)
    owners%pieces = cut%pieces
    owners%owner = share%owner
    call ShareSums(trim(variant), 1, share, Sem3dAffine(mesh), sums, error)
    if (allocated(error)) call ClaimFine(error, 'sums of a share')
    sums%colour = share%colour
    call PieceMake(elements, meetings, owners, mine, wide(share%number), sums, piece)
    piece%from = share%number(piece%from)
  end subroutine Shared

  integer function Differences(a, b) result(n)
    type(piece_t), intent(in) :: a, b
    n = 0
    if (a%own /= b%own .or. size(a%from) /= size(b%from) .or. size(a%point) /= size(b%point) .or. &
        size(a%ways%point) /= size(b%ways%point)) then
      n = 1
      return
    end if
    n = count(a%from /= b%from) + count(a%owns .neqv. b%owns) + count(a%ways%start /= b%ways%start) + &
        count(a%ways%point /= b%ways%point) + merge(0, 1, size(a%ways%way) == size(b%ways%way))
    if (n > 0) return
    n = count(a%ways%way /= b%ways%way) + merge(0, 1, a%ways%piece == b%ways%piece) + count(a%ways%colour /= b%ways%colour)
    associate (x => a%elements, y => b%elements)
      n = n + count(x%at /= y%at) + count(abs(x%corner - y%corner) > 0) + count(x%face /= y%face) + count(x%brick /= y%brick) + &
          count(x%contact /= y%contact) + count(x%partner /= y%partner) + count(abs(x%rho - y%rho) > 0) + &
          count(abs(x%lambda - y%lambda) > 0) + count(abs(x%mu - y%mu) > 0) + count(abs(x%loss - y%loss) > 0) + &
          count([x%n, x%solid, x%per, x%points, x%solid_points] /= [y%n, y%solid, y%per, y%points, y%solid_points])
    end associate
  end function Differences

end program t834_sem_shares
