!> Made-up shots on a grid cut into subdomains, each a handle of this process, which exchange halos through the verbs of fd3d_c.f90
!> and step in halves and parts.
module pieces3d_m
  use error_m, only: error_t, FailFromC
  use fd3d_absorb_m, only: Fd3dLayerWidths
  use fd3d_c, only: fd3d_halo_get, fd3d_halo_put, fd3d_halo_size, fd3d_stress, fd3d_velocity
  use fd3d_engine_m, only: fd3d_grid_t, part_all, part_inner, part_rim, side_neighbour, side_periodic
  use fd3dcase_m, only: case3d_t
  use iso_c_binding, only: c_null_ptr, c_ptr
  use kinds_m, only: sp
  implicit none
  private
  public :: piece_t, PieceOf, PieceHears, PiecesHalfStep

  type :: piece_t
    type(fd3d_grid_t) :: grid
    type(c_ptr) :: h = c_null_ptr
    integer :: neighbour(6) = 0                 !< piece beyond each side
  end type piece_t

contains

  !> Piece m of the grid, from 1, x fastest; of a wide one (c%grid%wide) with its margins.
  subroutine PieceOf(c, cut, m, p)
    type(case3d_t), intent(in) :: c
    integer, intent(in) :: cut(3), m
    type(piece_t), intent(inout) :: p
    integer :: place(3), a, side, next(3)
    place = [modulo(m - 1, cut(1)), modulo((m - 1)/cut(1), cut(2)), (m - 1)/(cut(1)*cut(2))]
    p%grid = c%grid
    p%grid%first = 1 + place*c%grid%n/cut
    p%grid%n = (place + 1)*c%grid%n/cut - place*c%grid%n/cut
    do side = 1, 6
      a = (side + 1)/2
      if (cut(a) == 1) cycle
      next = place
      next(a) = place(a) + merge(-1, 1, modulo(side, 2) == 1)
      if ((next(a) < 0 .or. next(a) >= cut(a)) .and. c%grid%side(side) /= side_periodic) cycle
      next(a) = modulo(next(a), cut(a))
      p%grid%side(side) = side_neighbour
      p%neighbour(side) = 1 + next(1) + cut(1)*(next(2) + cut(2)*next(3))
    end do
    if (c%grid%wide) then
      associate (beside => merge(c%grid%half_length, 0, p%grid%side == side_neighbour))
        p%grid%first = p%grid%first - beside(1::2)
        p%grid%n = p%grid%n + beside(1::2) + beside(2::2)
      end associate
    end if
    p%grid%layer = Fd3dLayerWidths(p%grid, c%width)
  end subroutine PieceOf

  !> Rim first, then the rest while halos would travel; every other step in a piece.
  subroutine PiecesHalfStep(p, it, what, error)
    type(piece_t), intent(inout) :: p(:)
    integer, intent(in) :: it, what
    type(error_t), allocatable, intent(inout) :: error
    integer :: m
    do m = 1, size(p)
      call Advance(p(m)%h, it, what, merge(part_rim, part_all, modulo(it, 2) == 1), error)
    end do
    if (modulo(it, 2) == 0) then
      call Exchange(p, what, error)
      return
    end if
    do m = 1, size(p)
      call Advance(p(m)%h, it, what, part_inner, error)
    end do
    call Exchange(p, what, error)
  end subroutine PiecesHalfStep

  subroutine Advance(h, it, what, part, error)
    type(c_ptr), intent(in) :: h
    integer, intent(in) :: it, what, part
    type(error_t), allocatable, intent(inout) :: error
    if (allocated(error)) return
    if (what == 0) then
      call FailFromC(fd3d_velocity(h, it, part), error)
    else
      call FailFromC(fd3d_stress(h, it, part), error)
    end if
  end subroutine Advance

  !> Axis after axis, as wide halos want it; these are of velocities alone.
  subroutine Exchange(p, what, error)
    type(piece_t), intent(inout) :: p(:)
    integer, intent(in) :: what
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: row(:)
    integer :: m, side, opposite
    if (what == 1 .and. p(1)%grid%wide) return
    do side = 1, 6
      do m = 1, size(p)
        if (p(m)%neighbour(side) == 0 .or. allocated(error)) cycle
        opposite = side + merge(1, -1, modulo(side, 2) == 1)
        allocate (row(fd3d_halo_size(p(m)%h, side - 1)))
        call FailFromC(fd3d_halo_get(p(p(m)%neighbour(side))%h, what, opposite - 1, row), error)
        if (.not. allocated(error)) call FailFromC(fd3d_halo_put(p(m)%h, what, side - 1, row), error)
        deallocate (row)
      end do
    end do
  end subroutine Exchange

  !> All cells of receiver r lie in the piece.
  pure logical function PieceHears(c, r, p)
    type(case3d_t), intent(in) :: c
    integer, intent(in) :: r
    type(piece_t), intent(in) :: p
    integer :: e, lo(3), hi(3)
    lo = p%grid%first
    hi = lo + p%grid%n - 1
    PieceHears = .true.
    do e = c%start(r), c%start(r + 1) - 1
      PieceHears = PieceHears .and. all([c%ri(e), c%rj(e), c%rk(e)] >= lo .and. [c%ri(e), c%rj(e), c%rk(e)] <= hi)
    end do
  end function PieceHears

end module pieces3d_m
