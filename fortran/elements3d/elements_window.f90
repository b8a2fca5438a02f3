!> Elements as the medium of a window: how they go from rank 0 to a rank that computes them. A window has a layer of one cell for
!> each element, in their order, so that a box of it is some of them, and the box around the mesh as its extent. That of a mesh
!> which ranks share has a row of such cells for each of them along y: its share (elements_share.f90), and nothing in those beyond.
!>
!> The parts of a cell are floats: each coordinate of a node, and each node number, is the sum of two, which keeps 48 bits of it.
!> The kinds of the six sides are the digits of one number. This file puts elements there, elements_from_window.f90 takes them.
module elements_window_m
  use elements_cut_m, only: cut_t
  use elements_m, only: elements_t, in_element, tensor_numbers
  use elements_share_m, only: share_t, shares_t, ShareMost
  use error_m, only: error_t, Fail
  use kinds_m, only: dp, sp
  use text_m, only: Str
  use window_m, only: box_t, window_t, WindowClip
  implicit none
  private
  public :: ElementsOutline, ElementsFill, ElementsFrom, ElementsParts

  integer, parameter :: kinds = 4                 !< of sides
  integer, parameter :: nodes = 8                 !< whose numbers tell which elements meet
  integer, parameter :: others = 4                !< parts after nodes: sides, brick, losses; then rho, lambda, mu, and constants
  integer, parameter :: shared = 7                !< of a share: owner, number and sides before it (two each), brick, colour
  integer, parameter :: most = 2**24              !< whole numbers that a float holds
  integer, parameter :: split = 4096              !< larger ones in two parts
  integer, parameter :: bricks = 128              !< a place in a brick, and how many it has, in one number

  !> Numbers that cells have beside nodes and media.
  type :: more_t
    integer :: tensors = 0, ocean = 0, damped = 0, shared = 0   !< numbers of constants, of water, of distances, of a share
  end type more_t

  interface
    ! --- elements_from_window.f90

    !> Numbers of a cell. media: those of an element for each of rho, lambda, mu.
    pure module integer function Parts(per, media, more)
      integer, intent(in) :: per, media
      type(more_t), intent(in) :: more
    end function Parts

    !> The elements of a window that came from rank 0; `share`: of one that several ranks share, whose nodes are then those of these
    !> elements alone. Fails where they are none.
    module subroutine ElementsFrom(window, elements, error, share)
      type(window_t), intent(in) :: window
      type(elements_t), intent(out) :: elements
      type(error_t), allocatable, intent(inout) :: error
      type(share_t), intent(out), optional :: share
    end subroutine ElementsFrom
  end interface

contains

  !> Parts of the cells of a window. `damped`: a layer damps before absorbing sides; `split_up`: ranks share the mesh.
  pure integer function ElementsParts(elements, damped, split_up)
    type(elements_t), intent(in) :: elements
    logical, intent(in) :: damped, split_up
    ElementsParts = Parts(elements%per, size(elements%rho, 1), MoreOf(elements, damped, split_up))
  end function ElementsParts

  pure type(more_t) function MoreOf(elements, damped, split_up) result(more)
    type(elements_t), intent(in) :: elements
    logical, intent(in) :: damped, split_up
    more%tensors = merge(tensor_numbers, 0, allocated(elements%tensor))
    more%ocean = merge(nodes, 0, allocated(elements%ocean))
    more%damped = merge(2*nodes, 0, damped)
    more%shared = merge(shared, 0, split_up)
  end function MoreOf

  !> The window of a mesh of n elements in the box low .. high [m], without its medium; `shares`: of ranks that share the mesh.
  pure subroutine ElementsOutline(n, low, high, window, shares)
    integer, intent(in) :: n
    real(dp), intent(in) :: low(3), high(3)
    type(window_t), intent(out) :: window
    type(shares_t), intent(in), optional :: shares
    window%nx = 1
    window%ny = 1
    window%nz = n
    if (present(shares)) then
      window%ny = size(shares%start) - 1
      window%nz = max(1, ShareMost(shares))
    end if
    window%x0 = low(1)
    window%y0 = low(2)
    window%z0 = low(3)
    window%dx = high(1) - low(1)
    window%dy = (high(2) - low(2))/window%ny
    window%dz = (high(3) - low(3))/window%nz
  end subroutine ElementsOutline

  !> The medium of a window, or of a box of it. to_side: of each node, from absorbing sides where a layer there damps [m]. cut,
  !> shares: of ranks that share the mesh.
  subroutine ElementsFill(elements, window, error, box, to_side, cut, shares)
    type(elements_t), intent(in) :: elements
    type(window_t), intent(inout) :: window
    type(error_t), allocatable, intent(inout) :: error
    type(box_t), intent(in), optional :: box
    real(dp), intent(in), optional :: to_side(:)
    type(cut_t), intent(in), optional :: cut
    type(shares_t), intent(in), optional :: shares
    type(box_t) :: wanted
    type(more_t) :: more
    real(sp), allocatable :: cell(:)
    integer :: e, k, w, at, status
    more = MoreOf(elements, present(to_side), present(shares))
    wanted = WindowClip(window, box_t())
    if (present(box)) wanted = WindowClip(window, box)
    allocate (window%medium(1, wanted%low(2):wanted%high(2), wanted%low(3):wanted%high(3), &
                            Parts(elements%per, size(elements%rho, 1), more)), stat=status)
    if (status /= 0) then
      call Fail(error, 'no memory to send '//Str(wanted%high(3) - wanted%low(3) + 1)//' elements')
      return
    end if
    allocate (cell(size(window%medium, 4)))
    do w = wanted%low(2), wanted%high(2)
      do k = wanted%low(3), wanted%high(3)
        e = k
        cell = 0
        if (present(shares)) e = Sent(shares, w, k)
        at = 0
        if (e > 0) call FillCell()
        window%medium(1, w, k, :) = cell
      end do
    end do

  contains

    subroutine FillCell()
      integer :: b
      b = BrickOf(elements%brick, e)
      call Put(Halves(reshape(elements%corner(:, :, e), [3*elements%per])))
      call Put(Halves(real(elements%node(:, e), dp)))
      call Put(real([KindsAsNumber(elements%face(:, e)), modulo(b, most)], sp))
      call Put(elements%loss(:, e))
      call Put(elements%rho(:, e))
      call Put(elements%lambda(:, e))
      call Put(elements%mu(:, e))
      if (more%tensors > 0) then
        if (elements%tensor(e) > 0) cell(at + 1:at + tensor_numbers) = elements%relative(:, elements%tensor(e))
        at = at + tensor_numbers
      end if
      if (more%ocean > 0) call Put(elements%ocean(:, e))
      if (present(to_side)) call Put(Halves(to_side(elements%node(:, e))))
      if (.not. (present(cut) .and. present(shares))) return
      call Put(real([cut%owner(e), e/split, modulo(e, split), shares%sides(e)/split, modulo(shares%sides(e), split), &
                     e - elements%brick(b) + 1 + bricks*(elements%brick(b + 1) - elements%brick(b))], sp))
      if (allocated(shares%colour)) cell(at + 1) = shares%colour(e)
    end subroutine FillCell

    subroutine Put(numbers)
      real(sp), intent(in) :: numbers(:)
      cell(at + 1:at + size(numbers)) = numbers
      at = at + size(numbers)
    end subroutine Put
  end subroutine ElementsFill

  !> The element that layer k of share w holds, 0: none.
  pure integer function Sent(shares, w, k) result(e)
    type(shares_t), intent(in) :: shares
    integer, intent(in) :: w, k
    e = 0
    if (shares%start(w) + k - 1 < shares%start(w + 1)) e = shares%list(shares%start(w) + k - 1)
  end function Sent

  !> The brick that has element e.
  pure integer function BrickOf(brick, e) result(b)
    integer, intent(in) :: brick(:), e
    integer :: high, middle
    b = 1
    high = size(brick) - 1
    do while (b < high)
      middle = (b + high + 1)/2
      if (brick(middle) <= e) b = middle
      if (brick(middle) > e) high = middle - 1
    end do
  end function BrickOf

  !> Each number as the sum of two floats.
  pure function Halves(x) result(h)
    real(dp), intent(in) :: x(:)
    real(sp) :: h(2*size(x))
    integer :: n
    n = size(x)
    h(:n) = real(x, sp)
    h(n + 1:) = real(x - h(:n), sp)
  end function Halves

  pure integer function KindsAsNumber(face)
    integer, intent(in) :: face(6)
    integer :: s
    KindsAsNumber = 0
    do s = 1, 6
      KindsAsNumber = kinds*KindsAsNumber + face(s)
    end do
  end function KindsAsNumber

end module elements_window_m
