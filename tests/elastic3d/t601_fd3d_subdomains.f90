!> A grid cut into 2 x 2 x 2 subdomains, whose halos are copied between the half steps, gives the same bits as the whole: elastic
!> and anelastic, layers and sponge, free surface, one-way bottom, periodic sides, half-lengths 1 to 4, narrow differences along
!> layers, rims and inner cells apart; narrow halos, and wide ones, whose margins are right in all nine fields too.
program t601_fd3d_subdomains
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use fd3d_engine_m, only: fd3d_engine_t, fd3d_fields, fd3d_grid_t, field_vx, part_all, part_inner, &
                           side_free, side_neighbour, side_one_way, side_outside, side_periodic
  use fd3d_point_lists_m, only: Fd3dForce, fd3d_list_t, Fd3dMoment, Fd3dRecord
  use kinds_m, only: dp, sp
  use scene3d_m, only: scene3d_t, Scene3dEngine, Scene3dNew, Scene3dStart, Scene3dSteps
  use text_m, only: Str
  implicit none
  integer, parameter :: n(3) = [26, 23, 25], cut(3) = [12, 11, 14], steps = 40

  logical, parameter :: narrow_halos = .false., wide_halos = .true.

  type :: piece_t
    class(fd3d_engine_t), allocatable :: engine
    type(fd3d_grid_t) :: grid
  end type piece_t

  call Compare('layers on six sides', 2, .false., spread(side_outside, 1, 6), spread(5, 1, 6), 0)
  call Compare('free surface and layers, anelastic', 2, .true., [1, 1, 1, 1, side_free, 1], [5, 4, 5, 5, 0, 6], 0)
  call Compare('free surface, one-way bottom, periodic sides, sponge', 2, .false., &
               [side_periodic, side_periodic, side_periodic, side_periodic, side_free, side_one_way], spread(0, 1, 6), 4)
  call Compare('half-length 4, free surface, anelastic', 4, .true., [1, 1, 1, 1, side_free, 1], [4, 5, 0, 5, 0, 5], 0)
  call Compare('half-length 1', 1, .false., [1, 1, 1, 1, side_free, side_one_way], [3, 3, 3, 3, 0, 0], 0)
  call Compare('half-length 3', 3, .true., spread(side_outside, 1, 6), [4, 0, 4, 0, 4, 0], 3)
  call Compare('half-length 4, narrow differences along layers', 4, .true., [1, 1, 1, 1, side_free, 1], [13, 5, 6, 15, 0, 5], 0, .true.)
  call Done()

contains

  subroutine Compare(what, half_length, anelastic, side, width, sponge, narrow)
    character(*), intent(in) :: what
    integer, intent(in) :: half_length, side(6), width(6), sponge
    logical, intent(in) :: anelastic
    logical, intent(in), optional :: narrow
    type(scene3d_t) :: scene
    type(error_t), allocatable :: error
    class(fd3d_engine_t), allocatable :: whole
    call MakeScene(scene, half_length, anelastic, side, width, sponge)
    if (present(narrow)) scene%grid%narrow = narrow
    call Scene3dEngine('fortran', whole, error)
    scene%nt = steps
    call Scene3dSteps(scene, whole, error)
    call ClaimFine(error, what//': '//Str(steps)//' steps')
    call ComparePieces(what, scene, whole, narrow_halos)
    if (.not. any(side == side_periodic)) call ComparePieces(what//', wide halos', scene, whole, wide_halos)
    call whole%free()
  end subroutine Compare

  subroutine ComparePieces(what, scene, whole, wide)
    character(*), intent(in) :: what
    type(scene3d_t), intent(in) :: scene
    class(fd3d_engine_t), intent(inout) :: whole
    logical, intent(in) :: wide
    type(error_t), allocatable :: error
    type(piece_t) :: piece(8)
    integer :: it, p, wrong
    real(sp) :: peak
    integer :: place(3)
    call Start(scene, wide, piece, error)
    do it = 1, steps
      call Half(piece, it, 0, error)
      call Half(piece, it, 1, error)
    end do
    call ClaimFine(error, what//': '//Str(steps)//' steps of the pieces')
    call whole%maxabs(peak, place, error)
    wrong = CountDifferent(whole, piece, error)
    call Claim(wrong == 0 .and. peak > 0 .and. peak < huge(peak), what//': '//Str(wrong)// &
               ' numbers of nine fields in eight subdomains differ from the whole')
    do p = 1, size(piece)
      call piece(p)%engine%free()
    end do
  end subroutine ComparePieces

  !> A rough medium with water and air in it, a force and a moment tensor across the cuts.
  subroutine MakeScene(s, half_length, anelastic, side, width, sponge)
    type(scene3d_t), intent(out) :: s
    integer, intent(in) :: half_length, side(6), width(6), sponge
    logical, intent(in) :: anelastic
    type(error_t), allocatable :: error
    integer :: i, j, k
    real(sp) :: vs
    call Scene3dNew(s, n, 10.0_dp, half_length, 3000.0_dp, 1500.0_dp, 2000.0_dp, 0.6_dp)
    s%grid%side = side
    s%grid%anelastic = anelastic
    s%width = width
    s%sponge = sponge
    s%fpeak = 20
    do k = 0, n(3) + 1
      do j = 0, n(2) + 1
        do i = 0, n(1) + 1
          vs = 1000 + 500*Rough(i, j, k, 13)
          s%rho(i, j, k) = 1800 + 700*Rough(i, j, k, 17)
          s%mu(i, j, k) = s%rho(i, j, k)*vs**2
          s%lambda(i, j, k) = 1.2_sp*s%mu(i, j, k)
          s%qp(i, j, k) = 0.02_sp + 0.03_sp*Rough(i, j, k, 11)
          s%qs(i, j, k) = 2*s%qp(i, j, k)
          if (k < 9 .and. i > 14) s%mu(i, j, k) = 0
          if (k < 7 .and. i < 7) s%mu(i, j, k) = 0
          if (k < 7 .and. i < 7) s%lambda(i, j, k) = 0
          if (k < 7 .and. i < 7) s%rho(i, j, k) = 0
        end do
      end do
    end do
    s%tau = [(0.1_sp*0.5_sp**i, i=1, 8)]
    s%y(:, 1) = [(1 + 0.1_sp*i, i=1, 8)]
    allocate (s%q(2, steps))
    do i = 1, steps
      s%q(:, i) = [sin(0.3_sp*i), cos(0.2_sp*i)]*exp(-0.05_sp*i)
    end do
    call Sources(s, s%grid, s%source, error)
    call Fd3dRecord(s%receivers, s%grid, [90.0_dp, 100.0_dp, 130.0_dp], field_vx, error)
    if (allocated(error)) call Claim(.false., error%message)
  end subroutine MakeScene

  elemental real(sp) function Rough(i, j, k, m)
    integer, intent(in) :: i, j, k, m
    Rough = real(modulo(modulo(i, n(1))*i*7 + j*29 + k*k*11 + i*j*3, m), sp)/(m - 1)
  end function Rough

  !> One place across all cuts, for the list of a subdomain.
  subroutine Sources(s, grid, list, error)
    type(scene3d_t), intent(in) :: s
    type(fd3d_grid_t), intent(in) :: grid
    type(fd3d_list_t), intent(inout) :: list
    type(error_t), allocatable, intent(inout) :: error
    real(dp), parameter :: x(3) = [123.4_dp, 111.1_dp, 137.7_dp]
    integer :: a(3), b(3)
    a = grid%first - 1
    b = grid%first + grid%n
    call Fd3dForce(list, grid, s%rho(a(1):b(1), a(2):b(2), a(3):b(3)), x, [1.0e9_dp, -2.0e9_dp, 0.5e9_dp], 1, error)
    call Fd3dMoment(list, grid, x, [1.0_dp, 0.5_dp, -0.3_dp, 0.7_dp, -0.2_dp, 0.4_dp]*1e10_dp, 2, error)
  end subroutine Sources

  subroutine Start(s, wide, piece, error)
    type(scene3d_t), intent(in) :: s
    logical, intent(in) :: wide
    type(piece_t), intent(inout) :: piece(8)
    type(error_t), allocatable, intent(inout) :: error
    type(fd3d_list_t) :: source, none
    integer :: p, a, high
    do p = 1, 8
      associate (g => piece(p)%grid)
        g = s%grid
        do a = 1, 3
          high = iand((p - 1)/2**(a - 1), 1)
          g%first(a) = merge(1, 1 + cut(a), high == 0)
          g%n(a) = merge(cut(a), n(a) - cut(a), high == 0)
          g%side(2*a - high) = side_neighbour
          if (g%side(2*a - 1 + high) == side_periodic) g%side(2*a - 1 + high) = side_neighbour
          if (wide) g%n(a) = g%n(a) + g%half_length
          if (wide .and. high == 1) g%first(a) = g%first(a) - g%half_length
        end do
        g%wide = wide
        source = none
        call Sources(s, g, source, error)
        call Scene3dEngine('fortran', piece(p)%engine, error)
        call Scene3dStart(s, g, source, none, piece(p)%engine, error)
      end associate
    end do
  end subroutine Start

  !> Velocities (what = 0) or stresses of all pieces, rims first; then every halo from its neighbour, axis after axis; wide ones are
  !> of velocities alone.
  subroutine Half(piece, it, what, error)
    type(piece_t), intent(inout) :: piece(8)
    integer, intent(in) :: it, what
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: halo(:)
    integer :: p, q, side, part, a
    do part = part_all, part_inner
      do p = 1, 8
        if ((part == part_all) .neqv. (p == 3)) cycle              ! one of them in one go, the others in parts
        if (what == 0) call piece(p)%engine%velocity(it, part, error)
        if (what == 1) call piece(p)%engine%stress(it, part, error)
      end do
    end do
    if (what == 1 .and. piece(1)%grid%wide) return
    do side = 1, 6
      do p = 1, 8
        if (piece(p)%grid%side(side) /= side_neighbour) cycle
        a = (side + 1)/2
        q = 1 + ieor(p - 1, 2**(a - 1))                             ! the other half along the axis, on either side
        allocate (halo(piece(p)%engine%halo_size(side)))
        call piece(q)%engine%halo_get(what, merge(side + 1, side - 1, modulo(side, 2) == 1), halo, error)
        call piece(p)%engine%halo_put(what, side, halo, error)
        deallocate (halo)
      end do
    end do
  end subroutine Half

  integer function CountDifferent(whole, piece, error)
    class(fd3d_engine_t), intent(inout) :: whole
    type(piece_t), intent(inout) :: piece(8)
    type(error_t), allocatable, intent(inout) :: error
    real(sp) :: all_of_it(n(1), n(2), n(3))
    real(sp), allocatable :: part(:, :, :)
    integer :: f, p, a(3), b(3)
    CountDifferent = 0
    do f = 0, fd3d_fields - 1
      call whole%field(f, all_of_it, error)
      do p = 1, 8
        a = piece(p)%grid%first
        b = a + piece(p)%grid%n - 1
        allocate (part(piece(p)%grid%n(1), piece(p)%grid%n(2), piece(p)%grid%n(3)))
        call piece(p)%engine%field(f, part, error)
        CountDifferent = CountDifferent + count(transfer(part, [1]) /= transfer(all_of_it(a(1):b(1), a(2):b(2), a(3):b(3)), [1]))
        deallocate (part)
      end do
    end do
  end function CountDifferent

end program t601_fd3d_subdomains
