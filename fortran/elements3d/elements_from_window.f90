!> The elements of a window that came from rank 0, as elements_window.f90 puts them there. Arguments stand there.
submodule(elements_window_m) elements_from_window
  use checked_m, only: Whole
  use elements_tensors_m, only: TensorsSet
  use kinds_m, only: i8
  use sort_m, only: SortOrder
  implicit none

contains

  module procedure ElementsFrom
    type(more_t) :: more
    integer :: n, per, media, at, w
    call Shapes(window, present(share), per, media, more)
    n = window%nz
    w = 1
    if (per > 0 .and. present(share)) then
      w = lbound(window%medium, 2)
      n = count(window%medium(1, w, :, size(window%medium, 4) - shared + 1) > 0)
    end if
    if (per == 0 .or. n < 1) then
      call Fail(error, 'the window holds no elements')
      return
    end if
    call MakeRoom(n, per, media, more%damped > 0, elements, error)
    if (allocated(error)) return
    call TakeAll(window%medium(1, w, :n, :), media, more, elements)
    if (present(share)) then
      call ShareFrom(window, size(window%medium, 4) - shared, n, share, error)
      call OwnNodes(elements%node)
    end if
    if (any(elements%node < 1) .or. any(elements%node > per*int(n, i8))) &
      call Fail(error, 'the window has a node that is none')
    elements%solid = count(elements%mu(1, :) > 0)
    if (any(elements%mu(1, elements%solid + 1:) > 0)) call Fail(error, 'the window has fluid before solid')
    if (allocated(error)) return
    at = 6*per + 2*nodes + others + 3*media
    if (more%ocean > 0) elements%ocean = transpose(window%medium(1, w, :n, at + more%tensors + 1:at + more%tensors + nodes))
    if (more%tensors > 0) call Anisotropic(window%medium(1, w, :n, at + 1:at + more%tensors), elements)
  end procedure ElementsFrom

  subroutine MakeRoom(n, per, media, damped, elements, error)
    integer, intent(in) :: n, per, media
    logical, intent(in) :: damped
    type(elements_t), intent(inout) :: elements
    type(error_t), allocatable, intent(inout) :: error
    integer :: status
    elements%n = n
    elements%per = per
    allocate (elements%corner(3, per, n), elements%node(nodes, n), elements%face(6, n), elements%rho(media, n), &
              elements%lambda(media, n), elements%mu(media, n), elements%loss(2, n), &
              elements%to_side(nodes, merge(n, 0, damped)), stat=status)
    if (status /= 0) then
      call Fail(error, 'no memory for '//Str(n)//' elements')
      return
    end if
    if (.not. damped) deallocate (elements%to_side)
  end subroutine MakeRoom

  !> Elements from their cells, and the bricks that they make.
  subroutine TakeAll(cell, media, more, elements)
    real(sp), intent(in) :: cell(:, :)            !< (elements, parts)
    integer, intent(in) :: media
    type(more_t), intent(in) :: more
    type(elements_t), intent(inout) :: elements
    integer, allocatable :: brick(:)
    integer :: b, e, in_brick
    in_brick = 6*elements%per + 2*nodes + 2       ! the part that tells the brick
    allocate (brick(elements%n))
    b = 0
    do e = 1, elements%n
      call TakeOne(cell(e, :), media, more, e, elements)
      if (e > 1) then
        if (.not. abs(cell(e, in_brick) - cell(e - 1, in_brick)) > 0) cycle
      end if
      b = b + 1
      brick(b) = e
    end do
    elements%brick = [brick(:b), elements%n + 1]
  end subroutine TakeAll

  pure subroutine TakeOne(m, media, more, e, elements)
    real(sp), intent(in) :: m(:)                  !< its cell
    integer, intent(in) :: media, e
    type(more_t), intent(in) :: more
    type(elements_t), intent(inout) :: elements
    integer :: at, digits, s
    associate (per => elements%per)
      elements%corner(:, :, e) = reshape(real(m(:3*per), dp) + m(3*per + 1:6*per), [3, per])
      at = 6*per
    end associate
    elements%node(:, e) = Whole(real(m(at + 1:at + nodes), dp) + m(at + nodes + 1:at + 2*nodes), 0)
    at = at + 2*nodes
    digits = nint(m(at + 1))
    do s = 6, 1, -1
      elements%face(s, e) = modulo(digits, kinds)
      digits = digits/kinds
    end do
    elements%loss(:, e) = m(at + 3:at + 4)
    at = at + others
    elements%rho(:, e) = m(at + 1:at + media)
    elements%lambda(:, e) = m(at + media + 1:at + 2*media)
    elements%mu(:, e) = m(at + 2*media + 1:at + 3*media)
    at = at + 3*media + more%tensors + more%ocean
    if (more%damped > 0) elements%to_side(:, e) = real(m(at + 1:at + nodes), dp) + m(at + nodes + 1:at + 2*nodes)
  end subroutine TakeOne

  module procedure Parts
    Parts = 2*(3*per + nodes) + others + 3*media + more%tensors + more%ocean + more%damped + more%shared
  end procedure Parts

  !> Finds what cells of so many numbers hold; per = 0: nothing of an element, or not what is `wanted`.
  pure subroutine Shapes(window, wanted, per, media, more)
    type(window_t), intent(in) :: window
    logical, intent(in) :: wanted                 !< shares
    integer, intent(out) :: per, media
    type(more_t), intent(out) :: more
    integer, parameter :: shape(2, 4) = reshape([8, 1, 27, 1, 8, in_element, 27, in_element], [2, 4])
    type(more_t) :: these
    integer :: s
    per = 0
    media = 1
    if (.not. allocated(window%medium)) return
    if (size(window%medium, 1) /= 1 .or. size(window%medium, 2) /= 1 .or. lbound(window%medium, 3) /= 1) return
    do s = 0, 8*size(shape, 2) - 1
      these = more_t(merge(tensor_numbers, 0, btest(s, 0)), merge(nodes, 0, btest(s, 1)), merge(2*nodes, 0, btest(s, 2)), &
                     merge(shared, 0, wanted))
      if (size(window%medium, 4) /= Parts(shape(1, s/8 + 1), shape(2, s/8 + 1), these)) cycle
      per = shape(1, s/8 + 1)
      media = shape(2, s/8 + 1)
      more = these
    end do
  end subroutine Shapes

  !> Numbers of a share begin after number `before` of each cell.
  subroutine ShareFrom(window, before, n, share, error)
    type(window_t), intent(in) :: window
    integer, intent(in) :: before, n
    type(share_t), intent(out) :: share
    type(error_t), allocatable, intent(inout) :: error
    real(dp), allocatable :: m(:, :)
    integer, allocatable :: both(:)
    allocate (m(n, shared), both(n))
    m(:, :) = window%medium(1, lbound(window%medium, 2), :n, before + 1:before + shared)
    share%owner = Whole(m(:, 1), 0)
    share%number = Whole(split*m(:, 2) + m(:, 3), 0)
    share%sides = Whole(split*m(:, 4) + m(:, 5), 0)
    both(:) = Whole(m(:, 6), 0)
    share%place = modulo(both, bricks)
    share%brick = both/bricks
    share%colour = Whole(m(:, 7), 0)
    if (any(share%owner < 1) .or. any(share%owner > window%ny) .or. any(share%number(2:) <= share%number(:n - 1)) .or. &
        any(share%number < share%place) .or. any(share%place < 1) .or. any(share%place > share%brick)) &
      call Fail(error, 'the window has elements of no piece of a mesh')
  end subroutine ShareFrom

  !> Nodes of a mesh become those of some of its elements, numbered from 1 in the same order.
  subroutine OwnNodes(node)
    integer, intent(inout) :: node(:, :)
    integer, allocatable :: all(:), order(:)
    integer :: i, n, last
    all = reshape(node, [size(node)])
    call SortOrder(all, order)
    n = 0
    last = 0
    do i = 1, size(order)
      associate (this => all(order(i)))
        if (i == 1 .or. this /= last) n = n + 1
        last = this
        this = merge(n, 0, this > 0)
      end associate
    end do
    node = reshape(all, shape(node))
  end subroutine OwnNodes

  !> Media of anisotropic elements, numbered as they come; constants(n, tensor_numbers), 0: isotropic. Ranks of a mesh that has some
  !> may have none. Blocks with the same constants over mu are media of their own where velocities or losses differ: constants are
  !> unrelaxed, and have a slowest and a fastest wave, by medium.
  subroutine Anisotropic(constants, elements)
    real(sp), intent(in) :: constants(:, :)
    type(elements_t), intent(inout) :: elements
    real(sp), allocatable :: media(:, :)
    real(sp) :: this(tensor_numbers + 5)
    integer :: tensor(size(constants, 1)), e, t, last
    allocate (media(size(this), 0))
    tensor = 0
    last = 0
    do e = 1, size(tensor)
      if (.not. any(abs(constants(e, :)) > 0)) cycle
      this = [constants(e, :), elements%rho(1, e), elements%lambda(1, e), elements%mu(1, e), real(elements%loss(:, e), sp)]
      if (last > 0) then
        if (all(abs(media(:, last) - this) <= 0)) tensor(e) = last
      end if
      do t = 1, size(media, 2)
        if (tensor(e) > 0) exit
        if (all(abs(media(:, t) - this) <= 0)) tensor(e) = t
      end do
      if (tensor(e) == 0) then
        media = reshape([media, this], [size(this), size(media, 2) + 1])
        tensor(e) = size(media, 2)
      end if
      last = tensor(e)
    end do
    if (last > 0) call TensorsSet(elements, tensor, media(:tensor_numbers, :))
  end subroutine Anisotropic

end submodule elements_from_window
