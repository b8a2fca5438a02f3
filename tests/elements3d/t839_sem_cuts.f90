!> Random unions of boxes cut into 2 to 12 pieces, and a box: whole bricks, no piece empty, what a step gains is what elements and faces
!> of the slowest piece say, at least 0.95 of what slabs would where pieces have ten bricks; METIS, where it is there, is taken for some
!> unions, not for a box. A mesh of more elements than an engine takes is refused on one rank.
!>
!>     t839_sem_cuts [SEED [CASES]]
program t839_sem_cuts
  use check_m, only: Claim, ClaimFails, ClaimFine, Done, Skip
  use elements_cut_m, only: CutCan, CutFewest, cut_t, ElementsCut
  use elements_m, only: elements_t
  use error_m, only: error_t
  use hexahedron_m, only: hex_node
  use kinds_m, only: dp
  use mesh_case_m, only: AnySeed, Chance
  use sem3d_c, only: sem3d_graph_parts
  use text_m, only: Str
  implicit none
  integer, parameter :: n = 16                         !< elements along the lattice, of which bricks are 2 x 2 x 2
  logical :: there(n, n, n)
  integer :: seed, cases, c, by_metis, pieces, io, part(2)
  character(20) :: word
  seed = AnySeed()
  cases = 24
  call get_command_argument(2, word)
  read (word, *, iostat=io) cases
  by_metis = 0
  do c = 1, cases
    call Union(3 + modulo(c, 5))
    pieces = nint(Chance(1.5_dp, 12.5_dp))
    if (OneCut('seed '//Str(seed)//', union '//Str(c))) by_metis = by_metis + 1
  end do
  there = .true.
  pieces = 8
  call Claim(.not. OneCut('a box'), 'a box is cut into boxes')
  if (sem3d_graph_parts(2, [1, 2, 3], [2, 1], [1, 1], [1, 1], 2, 0, 30, part) == 0) then
    call Skip('built without METIS (metis.h)')
  else
    call Claim(by_metis > cases/4, 'of '//Str(cases)//' unions '//Str(by_metis)//' are cut by METIS, more than a quarter')
  end if
  call TooLarge()
  call Done()

contains

  !> Points of an engine's elements have numbers below 2**31 together.
  subroutine TooLarge()
    type(elements_t) :: mesh
    type(error_t), allocatable :: error
    mesh%brick = [1, 33]
    mesh%n = 17179869
    call CutCan(mesh, 1, error)
    call ClaimFine(error, 'one rank may have 17179869 elements')
    mesh%n = 17179870
    call CutCan(mesh, 1, error)
    call ClaimFails(error, '17179870 elements is too large for one rank, which has at most 17179869: give group=2', 'one more')
    mesh%brick = [1, 33, 65]
    call CutCan(mesh, 2, error)
    call ClaimFine(error, 'two ranks may have them')
    call Claim(CutFewest(17179869) == 1 .and. CutFewest(17179870) == 2 .and. CutFewest(1) == 1, 'which group=auto takes at least')
  end subroutine TooLarge

  !> So many random boxes.
  subroutine Union(boxes)
    integer, intent(in) :: boxes
    integer :: i, a, low(3), high(3)
    there = .false.
    do i = 1, boxes
      low = [(1 + 2*int(Chance(0.0_dp, 0.35_dp*n)), a=1, 3)]
      high = [(min(n, low(a) - 1 + 2*nint(Chance(1.0_dp, 0.4_dp*n))), a=1, 3)]
      there(low(1):high(1), low(2):high(2), low(3):high(3)) = .true.
    end do
  end subroutine Union

  !> Cuts what is there; true if METIS did it.
  logical function OneCut(what) result(metis)
    character(*), intent(in) :: what
    type(elements_t) :: mesh
    type(cut_t) :: cut
    type(error_t), allocatable :: error
    integer, allocatable :: at(:, :), slabs(:)
    integer :: bricks, b, e, mixed
    real(dp) :: gain, least
    call Make(mesh, at)
    bricks = size(mesh%brick) - 1
    pieces = min(pieces, bricks)
    call ElementsCut(mesh, pieces, 0, cut, error)
    metis = cut%by_metis
    if (allocated(error)) call ClaimFine(error, what)
    if (allocated(error)) return
    mixed = 0
    allocate (slabs(mesh%n))
    do b = 1, bricks
      e = mesh%brick(b)
      if (any(cut%owner(e:mesh%brick(b + 1) - 1) /= cut%owner(e))) mixed = mixed + 1
      slabs(e:mesh%brick(b + 1) - 1) = 1 + (b - 1)*pieces/bricks
    end do
    gain = Gained(at, cut%owner)
    least = Gained(at, slabs)
    call Claim(mixed == 0 .and. all([(any(cut%owner == b), b=1, pieces)]) .and. abs(cut%gain/gain - 1) < 1e-9_dp &
               .and. (gain >= 0.95_dp*least .or. bricks < 10*pieces), what//', '//Str(mesh%n)//' elements in '//Str(pieces)//' pieces'// &
               trim(merge(' by METIS', '         ', metis))//': '//Str(mixed)//' bricks are in two, a step '//Str(gain, 4)// &
               ' times as fast, told '//Str(cut%gain, 4)//', in slabs '//Str(least, 4))
  end function OneCut

  !> Affine elements of solid take 0.85 us, a face between pieces 0.15 us in each.
  real(dp) function Gained(at, piece) result(gain)
    integer, intent(in) :: at(:, :), piece(:)
    real(dp) :: time(pieces)
    integer :: owner(0:n + 1, 0:n + 1, 0:n + 1), e, a, beside(3, 6)
    owner = 0
    do e = 1, size(piece)
      owner(at(1, e), at(2, e), at(3, e)) = piece(e)
    end do
    time = 0
    do e = 1, size(piece)
      beside = spread(at(:, e), 2, 6) + reshape([1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1], [3, 6])
      time(piece(e)) = time(piece(e)) + 0.85_dp
      do a = 1, 6
        associate (other => owner(beside(1, a), beside(2, a), beside(3, a)))
          if (other /= 0 .and. other /= piece(e)) time(piece(e)) = time(piece(e)) + 0.15_dp
        end associate
      end do
    end do
    gain = 0.85_dp*size(piece)/maxval(time)
  end function Gained

  !> The mesh of it, and where in the lattice its elements are.
  subroutine Make(mesh, at)
    type(elements_t), intent(out) :: mesh
    integer, allocatable, intent(out) :: at(:, :)
    integer :: b(3), i, j, k, e, bricks, a, corner(3)
    mesh%n = count(there)
    mesh%solid = mesh%n
    mesh%per = 8
    allocate (at(3, mesh%n), mesh%brick(0), mesh%node(8, mesh%n), mesh%corner(3, 8, mesh%n))
    allocate (mesh%face(6, mesh%n), source=0)
    e = 0
    do bricks = 0, (n/2)**3 - 1
      b = 2*[modulo(bricks, n/2), modulo(bricks/(n/2), n/2), bricks/(n/2)**2]
      if (.not. any(there(b(1) + 1:b(1) + 2, b(2) + 1:b(2) + 2, b(3) + 1:b(3) + 2))) cycle
      mesh%brick = [mesh%brick, e + 1]
      do k = b(3) + 1, b(3) + 2
        do j = b(2) + 1, b(2) + 2
          do i = b(1) + 1, b(1) + 2
            if (.not. there(i, j, k)) cycle
            e = e + 1
            at(:, e) = [i, j, k]
            do a = 1, 8
              corner = at(:, e) + (hex_node(:, a) - 1)/2
              mesh%corner(:, a, e) = 100.0_dp*corner
              mesh%node(a, e) = 1 + corner(1) + (n + 1)*(corner(2) + (n + 1)*corner(3))
            end do
          end do
        end do
      end do
    end do
    mesh%brick = [mesh%brick, e + 1]
  end subroutine Make

end program t839_sem_cuts
