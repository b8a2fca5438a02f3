!> What rank 0 tells of a place of a 3D model: integrals of moduli along lines before and behind it, against sums over many short
!> pieces; of random flat layers, and of volumes of two media, whose samples stand for their cells. Nothing where the
!> medium is even along a line, or where not all is rock.
program t693_lines_through_places
  use check_m, only: Claim, Done, GivenSeed, RandomBelow, Seed
  use kinds_m, only: dp, sp
  use mixed_cells_m, only: medium_parts
  use model3d_line_m, only: line_parts
  use model3d_m, only: model3d_t
  use model3d_place_m, only: LinesOf, Model3dAt, place_numbers
  use text_m, only: Str
  implicit none

  integer, parameter :: pieces = 40000, draws = 40
  type(model3d_t) :: earth
  real(dp) :: worst(2)
  logical :: none(2)
  integer :: number, draw

  number = GivenSeed()
  call Seed(number)
  worst = 0
  none = .true.
  do draw = 1, draws
    call OfLayers()
    call OfVolumes()
  end do
  call Claim(worst(1) < 1e-4_dp, 'lines through flat layers are within '//Str(worst(1), 2)//' of sums over pieces, bound 1e-4 '// &
             '(seed '//Str(number)//')')
  call Claim(worst(2) < 1e-4_dp, 'and through volumes '//Str(worst(2), 2)//', bound 1e-4')
  call Claim(none(1), 'along lines in even rock there is nothing')
  call Claim(none(2), 'nor where there is water on them')
  call Done()

contains

  real(dp) function Uniform(low, high)
    real(dp), intent(in) :: low, high
    call random_number(Uniform)
    Uniform = low + (high - low)*Uniform
  end function Uniform

  function Rock() result(medium)
    real(dp) :: medium(medium_parts)
    medium = [Uniform(3000.0_dp, 6000.0_dp), Uniform(1200.0_dp, 2000.0_dp), Uniform(2000.0_dp, 2800.0_dp), 0.0_dp, 0.0_dp]
  end function Rock

  subroutine OfLayers()
    real(dp) :: x(3), reach(3), lines(2*line_parts, 3)
    integer :: l
    earth = model3d_t()
    earth%layers%n = 1 + RandomBelow(5)
    allocate (earth%layers%top(earth%layers%n), earth%layers%medium(medium_parts, earth%layers%n))
    do l = 1, earth%layers%n
      earth%layers%top(l) = merge(0.0_dp, earth%layers%top(max(1, l - 1)) + Uniform(20.0_dp, 200.0_dp), l == 1)
      earth%layers%medium(:, l) = Rock()
    end do
    x = [0.0_dp, 0.0_dp, Uniform(0.0_dp, 600.0_dp)]
    reach = Uniform(50.0_dp, 500.0_dp)
    lines = LinesOf(Model3dAt(earth, x, reach))
    none(1) = none(1) .and. all(abs(lines(:, :2)) <= 0)
    call Compare(lines(:, 3), 3, x, reach(3), worst(1))
    if (RandomBelow(2) == 0) return
    l = max(1, count(earth%layers%top < x(3)))
    earth%layers%medium(2, l) = 0
    lines = LinesOf(Model3dAt(earth, x, reach))
    none(2) = none(2) .and. all(abs(lines) <= 0)
  end subroutine OfLayers

  subroutine OfVolumes()
    real(dp) :: x(3), reach(3), lines(2*line_parts, 3), one(medium_parts), other(medium_parts), place
    integer :: a, axis, i, j, k
    earth = model3d_t()
    earth%n = [14, 15, 16]
    earth%d = [20.0_dp, 30.0_dp, 25.0_dp]
    earth%x0 = [100.0_dp, -40.0_dp, 12.5_dp]
    one = Rock()
    other = Rock()
    axis = 1 + RandomBelow(3)
    place = Uniform(4.0_dp, 10.0_dp)
    allocate (earth%vp(14, 15*16), earth%vs(14, 15*16), earth%rho(14, 15*16))
    do k = 1, 16
      do j = 1, 15
        do i = 1, 14
          associate (here => merge(one, other, merge(i, merge(j, k, axis == 2), axis == 1) < place), row => (k - 1)*15 + j)
            earth%vp(i, row) = real(here(1), sp)
            earth%vs(i, row) = real(here(2), sp)
            earth%rho(i, row) = real(here(3), sp)
          end associate
        end do
      end do
    end do
    x = earth%x0 + [(Uniform(0.0_dp, 13.0_dp), a=1, 3)]*earth%d
    reach = [(Uniform(50.0_dp, 200.0_dp), a=1, 3)]
    lines = LinesOf(Model3dAt(earth, x, reach))
    do a = 1, 3
      if (a == axis) call Compare(lines(:, a), a, x, reach(a), worst(2))
      if (a /= axis) none(1) = none(1) .and. all(abs(lines(:, a)) <= 0)
    end do
    earth%vs = 0
    lines = LinesOf(Model3dAt(earth, x, reach))
    none(2) = none(2) .and. all(abs(lines) <= 0)
  end subroutine OfVolumes

  !> How far a line is from sums over pieces with the medium in their middle, where that changes.
  subroutine Compare(line, axis, x, reach, off)
    real(dp), intent(in) :: line(:), x(3), reach
    integer, intent(in) :: axis
    real(dp), intent(inout) :: off
    real(dp) :: sums(line_parts, 2), y(3), numbers(place_numbers), m, p, first, last
    integer :: i, side
    sums = 0
    first = 0
    last = 0
    do side = 1, 2
      do i = 1, pieces
        y = x
        y(axis) = x(axis) + (2*side - 3)*reach*(i - 0.5_dp)/pieces
        numbers = Model3dAt(earth, y, [1e-9_dp, 1e-9_dp, 1e-9_dp])
        p = numbers(3)*numbers(1)**2
        m = numbers(3)*numbers(2)**2
        sums(:, side) = sums(:, side) + [1/m, 1/p, 1 - 2*m/p, m, 2*m*(1 - 2*m/p)]*reach/pieces
        if (i == pieces .and. side == 1) first = m
        if (i == pieces .and. side == 2) last = m
      end do
    end do
    if (all(abs(line) <= 0)) then                 ! even
      if (abs(sums(1, 1) - sums(1, 2)) > 1e-6_dp*sums(1, 1) .or. abs(first - last) > 0) off = 1
    else
      off = max(off, maxval(abs(line - [sums(:, 1), sums(:, 2)])/[sums(:, 1), sums(:, 2)]))
    end if
  end subroutine Compare

end program t693_lines_through_places
