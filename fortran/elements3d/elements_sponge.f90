!> A layer before absorbing sides that damps: forces -rate M v at its points, M their mass, in a fluid likewise of the potential.
!> The rate rises from 0 to 3 T c/L at the side as the square of the way into the layer, L its width and c the velocity of P waves:
!> a P wave across it is left e**(-T/2). The part that the side sends back (Stacey 1988) goes the way again. Waves of all kinds,
!> with attenuation and under any topography, lose energy there, so the layer is stable.
!>
!> The best T of each width leaves plane waves of one frequency, at 0 .. 60 degrees, -32, -44, -52 dB of their energy from layers of
!> 2, 2.5, 3 wavelengths: the rise of the rate sends waves back from thin ones. t829 measures packets of waves.
module elements_sponge_m
  use elements_m, only: along, elements_t, face_absorbs, in_element
  use elements_tensors_m, only: FastestIn, TensorOf
  use gll_m, only: gll_x
  use hexahedron_m, only: hex_node, hex_side
  use kinds_m, only: dp, sp
  implicit none
  private
  public :: SpongeRates, SpongeDistances, SpongeAt

  real(dp), parameter :: across = 4.5_dp                    !< T

contains

  !> The rate of each point [1/s]; width [m] of the layer. Distances are looked for where elements do not know them.
  subroutine SpongeRates(elements, width, rate)
    type(elements_t), intent(in) :: elements
    real(dp), intent(in) :: width
    real(sp), allocatable, intent(out) :: rate(:)
    real(dp), allocatable :: distance(:)
    real(dp) :: way, c, d(8)
    integer :: e, p, m
    allocate (rate(elements%points), source=0.0_sp)
    if (.not. allocated(elements%to_side)) call SpongeDistances(elements, width, distance)
    do e = 1, elements%n
      if (allocated(elements%to_side)) then
        d = elements%to_side(:, e)
      else
        d = distance(elements%node(:, e))
      end if
      if (all(d >= width)) cycle
      do p = 1, in_element
        way = 1 - SpongeAt(min(d, 2*width), gll_x(modulo([p - 1, (p - 1)/along, (p - 1)/along**2], along) + 1))/width
        if (.not. way > 0) cycle
        m = min(p, size(elements%rho, 1))
        c = sqrt((elements%lambda(m, e) + 2*real(elements%mu(m, e), dp))/elements%rho(m, e))
        if (TensorOf(elements, e) > 0) c = FastestIn(elements, e)
        associate (r => rate(elements%at(p, e)))
          r = max(r, real(3*across*c/width*way**2, sp))
        end associate
      end do
    end do
  end subroutine SpongeRates

  !> A value at xi in an element by those at its corners.
  pure real(dp) function SpongeAt(value, xi)
    real(dp), intent(in) :: value(8), xi(3)
    integer :: a
    SpongeAt = 0
    do a = 1, 8
      SpongeAt = SpongeAt + value(a)*product(1 + hex_node(:, a)*xi)/8
    end do
  end function SpongeAt

  !> Distances [m] of the nodes from the nearest absorbing side, as far as they are below `width`; elsewhere something above it.
  !> From the nodes of sides on, those of each element try the nearest sides of each other until no node finds a nearer one.
  subroutine SpongeDistances(elements, width, distance)
    type(elements_t), intent(in) :: elements
    real(dp), intent(in) :: width
    real(dp), allocatable, intent(out) :: distance(:)
    integer, allocatable :: near(:), changed(:)             !< 6 (element - 1) + side; sweep in which that was found
    integer :: nodes, e, s, a, b, sweep
    nodes = maxval(elements%node)
    allocate (distance(nodes), source=huge(width))
    allocate (near(nodes), changed(nodes), source=0)
    do e = 1, elements%n
      do s = 1, 6
        if (elements%face(s, e) /= face_absorbs) cycle
        near(elements%node(hex_side(:, s), e)) = 6*(e - 1) + s
        distance(elements%node(hex_side(:, s), e)) = 0
        changed(elements%node(hex_side(:, s), e)) = 1
      end do
    end do
    sweep = 1
    do while (any(changed == sweep))
      sweep = sweep + 1
      do e = 1, elements%n
        associate (node => elements%node(:, e))
          do a = 1, 8
            if (changed(node(a)) < sweep - 1 .or. distance(node(a)) >= width) cycle
            do b = 1, 8
              if (near(node(b)) /= near(node(a))) call Try(node(b), elements%corner(:, b, e), near(node(a)))
            end do
          end do
        end associate
      end do
    end do

  contains

    subroutine Try(node, x, side)
      integer, intent(in) :: node, side
      real(dp), intent(in) :: x(3)
      real(dp) :: d
      d = ToSide(x, elements%corner(:, hex_side(:, modulo(side - 1, 6) + 1), (side - 1)/6 + 1))
      if (.not. d < distance(node)*(1 - 1.0e-9_dp)) return
      distance(node) = d
      near(node) = side
      changed(node) = sweep
    end subroutine Try
  end subroutine SpongeDistances

  !> From a place to a side, which is taken for a parallelogram around its middle; corner(3, 4) around it.
  pure real(dp) function ToSide(x, corner)
    real(dp), intent(in) :: x(3), corner(3, 4)
    real(dp) :: a(3), b(3), r(3), u, v, det
    a = (corner(:, 2) + corner(:, 3) - corner(:, 1) - corner(:, 4))/4
    b = (corner(:, 3) + corner(:, 4) - corner(:, 1) - corner(:, 2))/4
    r = x - sum(corner, 2)/4
    det = sum(a**2)*sum(b**2) - sum(a*b)**2
    u = (sum(r*a)*sum(b**2) - sum(r*b)*sum(a*b))/det
    v = (sum(r*b)*sum(a**2) - sum(r*a)*sum(a*b))/det
    ToSide = norm2(r - a*max(-1.0_dp, min(1.0_dp, u)) - b*max(-1.0_dp, min(1.0_dp, v)))
  end function ToSide

end module elements_sponge_m
