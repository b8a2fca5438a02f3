!> The ground of a mesh: where a vertical line first meets it, or its first solid, from above.
module mesh_ground_m
  use elements_m, only: elements_t, face_contact, face_inner
  use hexahedron_m, only: HexAt, HexBox, HexJacobian, HexRounding, hex_side, hex_side_axis, hex_side_end
  use kinds_m, only: dp
  implicit none
  private
  public :: ground_t, GroundMake, GroundAt, GroundLower, GroundEnds

  !> From where depths count: z = 0, the surface of the mesh above, the uppermost solid there.
  integer, parameter, public :: from_level = 0, from_surface = 1, from_seafloor = 2
  character(*), parameter, public :: ground_words = 'level,surface,seafloor'

  real(dp), parameter :: steep = 1.0e-3_dp          !< cosine between up and the normal of a side that is no ground
  real(dp), parameter :: margin = 1.0e-6_dp         !< of half a side: a place so close to it is on it
  integer, parameter :: steps_most = 30

  !> Sides that look up, and which of them may lie above and below each cell of a grid of x and y: list(start(c)) ..
  !> list(start(c+1)-1).
  type :: ground_t
    integer :: n(2) = 0                             !< cells
    real(dp) :: low(2) = 0, d(2) = 1                !< corner of the grid, and its spacings [m]
    real(dp) :: ends(3, 2) = 0                      !< of the box around the sides [m]
    real(dp) :: rounding = 0                        !< of a depth [m]
    integer, allocatable :: side(:, :)              !< element and side, (2, sides)
    integer, allocatable :: start(:), list(:)
  end type ground_t

contains

  !> `solid`: the sides of solid elements alone, also those at a fluid.
  pure subroutine GroundMake(elements, solid, ground)
    type(elements_t), intent(in) :: elements
    logical, intent(in) :: solid
    type(ground_t), intent(out) :: ground
    real(dp), allocatable :: low(:, :), high(:, :)
    integer, allocatable :: next(:)
    integer :: s, i, j, c, m, pass
    call FindSides(elements, solid, ground%side)
    m = size(ground%side, 2)
    allocate (low(3, m), high(3, m), ground%list(0))
    ground%n = max(1, int(sqrt(real(m, dp))))
    allocate (ground%start(product(ground%n) + 1), source=0)
    ground%ends = spread([huge(1.0_dp), -huge(1.0_dp)], 1, 3)
    if (m == 0) return
    do s = 1, m
      call HexBox(elements%corner(:, :, ground%side(1, s)), low(:, s), high(:, s))
    end do
    low = low - margin*(high - low)
    high = high + margin*(high - low)
    ground%low = minval(low(:2, :), 2)
    ground%d = max(maxval(high(:2, :), 2) - ground%low, tiny(1.0_dp))/ground%n
    call GroundEnds(ground, minval(low, 2), maxval(high, 2))
    do pass = 1, 2
      do s = 1, m
        do j = Cell(ground, 2, low(2, s)), Cell(ground, 2, high(2, s))
          do i = Cell(ground, 1, low(1, s)), Cell(ground, 1, high(1, s))
            c = i + ground%n(1)*(j - 1)
            if (pass == 2) ground%list(next(c)) = s
            if (pass == 2) next(c) = next(c) + 1
            if (pass == 1) ground%start(c + 1) = ground%start(c + 1) + 1
          end do
        end do
      end do
      if (pass == 2) exit
      ground%start(1) = 1
      do c = 1, product(ground%n)
        ground%start(c + 1) = ground%start(c) + ground%start(c + 1)
      end do
      next = ground%start
      deallocate (ground%list)
      allocate (ground%list(ground%start(size(ground%start)) - 1))
    end do
  end subroutine GroundMake

  !> The box around all sides, or around those of the whole mesh of which `ground` has some.
  pure subroutine GroundEnds(ground, low, high)
    type(ground_t), intent(inout) :: ground
    real(dp), intent(in) :: low(3), high(3)
    ground%ends = reshape([low, high], [3, 2])
    ground%rounding = 1.0e-9_dp*max(0.0_dp, maxval(high - low))
  end subroutine GroundEnds

  !> Sides that look up, of the outside of the mesh or of its solid.
  pure subroutine FindSides(elements, solid, side)
    type(elements_t), intent(in) :: elements
    logical, intent(in) :: solid
    integer, allocatable, intent(out) :: side(:, :)
    integer :: e, s, m, pass
    do pass = 1, 2
      m = 0
      do e = 1, merge(elements%solid, elements%n, solid)
        do s = 1, 6
          if (elements%face(s, e) == face_inner .or. (elements%face(s, e) == face_contact .and. .not. solid)) cycle
          if (.not. LooksUp(elements%corner(:, hex_side(:, s), e))) cycle
          m = m + 1
          if (pass == 2) side(:, m) = [e, s]
        end do
      end do
      if (pass == 1) allocate (side(2, m))
    end do
  end subroutine FindSides

  !> Of a side, corners (3, 4) counterclockwise seen from outside.
  pure logical function LooksUp(x)
    real(dp), intent(in) :: x(3, 4)
    real(dp) :: a(3), b(3), normal(3)
    a = x(:, 3) - x(:, 1)
    b = x(:, 4) - x(:, 2)
    normal = [a(2)*b(3) - a(3)*b(2), a(3)*b(1) - a(1)*b(3), a(1)*b(2) - a(2)*b(1)]
    LooksUp = -normal(3) > steep*norm2(normal)
  end function LooksUp

  pure integer function Cell(ground, axis, x)
    type(ground_t), intent(in) :: ground
    integer, intent(in) :: axis
    real(dp), intent(in) :: x
    Cell = 1 + int(max(0.0_dp, min(ground%n(axis) - 1.0_dp, (x - ground%low(axis))/ground%d(axis))))
  end function Cell

  !> The element whose side a vertical line through x, y [m] meets first from above, where in it, and the depth [m]; element = 0:
  !> none. Of elements that meet there the one of lowest number.
  pure subroutine GroundAt(ground, corner, x, y, element, xi, depth)
    type(ground_t), intent(in) :: ground
    real(dp), intent(in) :: corner(:, :, :), x, y
    integer, intent(out) :: element
    real(dp), intent(out) :: xi(3), depth
    real(dp) :: there(3), at(3)
    integer :: c, m
    logical :: meets
    element = 0
    xi = 0
    depth = huge(depth)
    if (size(ground%list) == 0) return
    c = Cell(ground, 1, x) + ground%n(1)*(Cell(ground, 2, y) - 1)
    do m = ground%start(c), ground%start(c + 1) - 1
      associate (side => ground%side(:, ground%list(m)))
        call Meet(corner(:, :, side(1)), side(2), x, y, there, meets)
        if (.not. meets) cycle
        at = HexAt(corner(:, :, side(1)), there)
        if (at(3) >= depth - ground%rounding) cycle
        element = side(1)
        xi = there
        depth = at(3)
      end associate
    end do
  end subroutine GroundAt

  !> The place where a vertical line meets a side, by Newton's steps along the two axes of the side.
  pure subroutine Meet(corner, side, x, y, xi, meets)
    real(dp), intent(in) :: corner(:, :), x, y
    integer, intent(in) :: side
    real(dp), intent(out) :: xi(3)
    logical, intent(out) :: meets
    real(dp) :: jacobian(3, 3), rest(3), det, step(2), rounding
    integer :: a, b, i
    rounding = HexRounding(corner(:2, :))
    a = merge(2, 1, hex_side_axis(side) == 1)
    b = merge(2, 3, hex_side_axis(side) == 3)
    xi = 0
    xi(hex_side_axis(side)) = hex_side_end(side)
    meets = .false.
    do i = 1, steps_most
      rest = [x, y, 0.0_dp] - HexAt(corner, xi)
      jacobian = HexJacobian(corner, xi)
      det = jacobian(1, a)*jacobian(2, b) - jacobian(1, b)*jacobian(2, a)
      if (.not. abs(det) > 0) return
      step = [rest(1)*jacobian(2, b) - rest(2)*jacobian(1, b), rest(2)*jacobian(1, a) - rest(1)*jacobian(2, a)]/det
      xi([a, b]) = max(-2.0_dp, min(2.0_dp, xi([a, b]) + step))
      meets = all(abs(step) < 1.0e-10_dp) .or. all(abs(rest(:2)) <= rounding)
      if (meets) exit
    end do
    meets = meets .and. all(abs(xi([a, b])) <= 1 + margin)
    xi = max(-1.0_dp, min(1.0_dp, xi))
  end subroutine Meet

  !> Moves a place whose depth x(3) [m] counts from the ground to where it is; found = .false. where there is none above or below.
  pure subroutine GroundLower(ground, corner, x, found)
    type(ground_t), intent(in) :: ground
    real(dp), intent(in) :: corner(:, :, :)
    real(dp), intent(inout) :: x(3)
    logical, intent(out) :: found
    real(dp) :: xi(3), depth
    integer :: e
    call GroundAt(ground, corner, x(1), x(2), e, xi, depth)
    found = e > 0
    if (found) x(3) = depth + x(3)
  end subroutine GroundLower

end module mesh_ground_m
