!> Elements as the medium of a window: how they go from rank 0 to a rank that computes them. A window has a layer of one cell for
!> each element, in their order, so that a box of it is some of them, and the box around the mesh as its extent.
!>
!> The parts of a cell are floats: each coordinate of a node, and each node number, is the sum of two, which keeps 48 bits of it.
!> The kinds of the six sides are the digits of one number.
module elements_window_m
  use elements_m, only: elements_t, in_element, tensor_numbers
  use elements_tensors_m, only: TensorsSet
  use error_m, only: error_t, Fail
  use kinds_m, only: dp, i8, sp
  use text_m, only: Str
  use window_m, only: box_t, window_t, WindowClip
  implicit none
  private
  public :: ElementsOutline, ElementsFill, ElementsFrom

  integer, parameter :: kinds = 4                 !< of sides
  integer, parameter :: nodes = 8                 !< whose numbers tell which elements meet
  integer, parameter :: others = 4                !< parts after nodes: sides, brick, losses; then rho, lambda, mu, and constants
  integer, parameter :: most = 2**24              !< whole numbers that a float holds

contains

  !> media: numbers of an element for each of rho, lambda, mu; tensors: of anisotropic media, 0 or tensor_numbers; ocean: 0 or
  !> nodes.
  pure integer function Parts(per, media, tensors, ocean)
    integer, intent(in) :: per, media, tensors, ocean
    Parts = 2*(3*per + nodes) + others + 3*media + tensors + ocean
  end function Parts

  !> The window of a mesh of n elements in the box low .. high [m], without its medium.
  pure subroutine ElementsOutline(n, low, high, window)
    integer, intent(in) :: n
    real(dp), intent(in) :: low(3), high(3)
    type(window_t), intent(out) :: window
    window%nx = 1
    window%ny = 1
    window%nz = n
    window%x0 = low(1)
    window%y0 = low(2)
    window%z0 = low(3)
    window%dx = high(1) - low(1)
    window%dy = high(2) - low(2)
    window%dz = (high(3) - low(3))/n
  end subroutine ElementsOutline

  !> The medium of a window, or of a box of it.
  subroutine ElementsFill(elements, window, error, box)
    type(elements_t), intent(in) :: elements
    type(window_t), intent(inout) :: window
    type(error_t), allocatable, intent(inout) :: error
    type(box_t), intent(in), optional :: box
    type(box_t) :: wanted
    real(sp), allocatable :: constants(:), ocean(:)
    integer :: e, b, status
    allocate (constants(merge(tensor_numbers, 0, allocated(elements%tensor))))
    allocate (ocean(merge(nodes, 0, allocated(elements%ocean))))
    wanted = WindowClip(window, box_t())
    if (present(box)) wanted = WindowClip(window, box)
    allocate (window%medium(1, 1, wanted%low(3):wanted%high(3), &
                            Parts(elements%per, size(elements%rho, 1), size(constants), size(ocean))), stat=status)
    if (status /= 0) then
      call Fail(error, 'no memory to send '//Str(wanted%high(3) - wanted%low(3) + 1)//' elements')
      return
    end if
    b = 1
    do e = wanted%low(3), wanted%high(3)
      do while (elements%brick(b + 1) <= e)
        b = b + 1
      end do
      if (size(constants) > 0) then
        constants = 0
        if (elements%tensor(e) > 0) constants = elements%relative(:, elements%tensor(e))
      end if
      if (size(ocean) > 0) ocean = elements%ocean(:, e)
      window%medium(1, 1, e, :) = [Halves(reshape(elements%corner(:, :, e), [3*elements%per])), &
                                   Halves(real(elements%node(:, e), dp)), &
                                   real([KindsAsNumber(elements%face(:, e)), modulo(b, most)], sp), &
                                   elements%loss(:, e), elements%rho(:, e), elements%lambda(:, e), elements%mu(:, e), constants, &
                                   ocean]
    end do
  end subroutine ElementsFill

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

  !> The elements of a window that came from rank 0. Fails where they are none.
  subroutine ElementsFrom(window, elements, error)
    type(window_t), intent(in) :: window
    type(elements_t), intent(out) :: elements
    type(error_t), allocatable, intent(inout) :: error
    integer, parameter :: shapes(2, 4) = reshape([8, 1, 27, 1, 8, in_element, 27, in_element], [2, 4])
    integer :: n, e, per, media, tensors, ocean, at, s, digits, status
    real(sp) :: last
    n = window%nz
    per = 0
    media = 1
    tensors = 0
    ocean = 0
    if (allocated(window%medium)) then
      do s = 0, 4*size(shapes, 2) - 1
        associate (shape => shapes(:, s/4 + 1), more => merge([tensor_numbers, nodes], 0, [btest(s, 0), btest(s, 1)]))
          if (size(window%medium, 4) /= Parts(shape(1), shape(2), more(1), more(2))) cycle
          per = shape(1)
          media = shape(2)
          tensors = more(1)
          ocean = more(2)
        end associate
      end do
    end if
    if (per == 0 .or. n < 1) then
      call Fail(error, 'the window holds no elements')
      return
    end if
    elements%n = n
    elements%per = per
    allocate (elements%corner(3, per, n), elements%node(nodes, n), elements%face(6, n), elements%rho(media, n), &
              elements%lambda(media, n), elements%mu(media, n), elements%loss(2, n), stat=status)
    if (status /= 0) then
      call Fail(error, 'no memory for '//Str(n)//' elements')
      return
    end if
    allocate (elements%brick(0))
    last = -1
    do e = 1, n
      associate (m => window%medium(1, 1, e, :))
        elements%corner(:, :, e) = reshape(real(m(:3*per), dp) + m(3*per + 1:6*per), [3, per])
        at = 6*per
        elements%node(:, e) = nint(real(m(at + 1:at + nodes), dp) + m(at + nodes + 1:at + 2*nodes))
        at = at + 2*nodes
        digits = nint(m(at + 1))
        do s = 6, 1, -1
          elements%face(s, e) = modulo(digits, kinds)
          digits = digits/kinds
        end do
        if (e == 1 .or. abs(m(at + 2) - last) > 0) elements%brick = [elements%brick, e]
        last = m(at + 2)
        elements%loss(:, e) = m(at + 3:at + 4)
        at = at + others
        elements%rho(:, e) = m(at + 1:at + media)
        elements%lambda(:, e) = m(at + media + 1:at + 2*media)
        elements%mu(:, e) = m(at + 2*media + 1:at + 3*media)
      end associate
    end do
    elements%brick = [elements%brick, n + 1]
    if (any(elements%node < 1) .or. any(elements%node > per*int(n, i8))) then
      call Fail(error, 'the window has a node that is none')
      return
    end if
    elements%solid = count(elements%mu(1, :) > 0)
    if (any(elements%mu(1, elements%solid + 1:) > 0)) call Fail(error, 'the window has fluid before solid')
    if (allocated(error)) return
    at = size(window%medium, 4) - ocean
    if (ocean > 0) elements%ocean = transpose(window%medium(1, 1, :, at + 1:))
    if (tensors > 0) call Anisotropic(window%medium(1, 1, :, at - tensors + 1:at), elements)
  end subroutine ElementsFrom

  !> Media of anisotropic elements, numbered as they come; constants(n, tensor_numbers), 0: isotropic.
  subroutine Anisotropic(constants, elements)
    real(sp), intent(in) :: constants(:, :)
    type(elements_t), intent(inout) :: elements
    real(sp), allocatable :: media(:, :)
    integer :: tensor(size(constants, 1)), e, t, last
    allocate (media(tensor_numbers, 0))
    tensor = 0
    last = 1
    do e = 1, size(tensor)
      if (.not. any(abs(constants(e, :)) > 0)) cycle
      if (last <= size(media, 2)) then
        if (all(abs(media(:, last) - constants(e, :)) <= 0)) tensor(e) = last
      end if
      do t = 1, size(media, 2)
        if (tensor(e) > 0) exit
        if (all(abs(media(:, t) - constants(e, :)) <= 0)) tensor(e) = t
      end do
      if (tensor(e) == 0) then
        media = reshape([media, constants(e, :)], [tensor_numbers, size(media, 2) + 1])
        tensor(e) = size(media, 2)
      end if
      last = tensor(e)
    end do
    call TensorsSet(elements, tensor, media)
  end subroutine Anisotropic

end module elements_window_m
