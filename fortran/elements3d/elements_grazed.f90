!> Sides that absorb send back waves that graze them: a one-way condition takes waves that meet it upright (Stacey 1988); of one at
!> an angle a to its normal it sends back (1 - cos a)/(1 + cos a). Looked at are sides that end the mesh in a plane across an axis.
module elements_grazed_m
  use element_finder_m, only: finder_t, FinderInside
  use elements_m, only: elements_t, face_absorbs
  use hexahedron_m, only: hex_side_axis, hex_side_end
  use kinds_m, only: dp, pi
  implicit none
  private
  public :: grazed_t, GrazedTake

  real(dp), parameter, public :: grazed_most = 0.3_dp   !< of the peak of what comes directly: more is told
  real(dp), parameter :: on_side = 1.0e-6_dp            !< of half an element

  !> The strongest echo so far, and how many receivers have one over grazed_most.
  type :: grazed_t
    integer :: n = 0
    real(dp) :: echo = 0                                !< of the peak of what comes directly
    real(dp) :: angle = 0                               !< to the normal [degrees]
    character(:), allocatable :: first                  !< which receiver has it
  end type grazed_t

contains

  !> A receiver in a mesh that reaches from low to high [m]. reach: no wave goes farther in the record [m]. worst: none before it
  !> has a stronger echo.
  pure subroutine GrazedTake(grazed, elements, finder, low, high, source, receiver, reach, worst)
    type(grazed_t), intent(inout) :: grazed
    type(elements_t), intent(in) :: elements
    type(finder_t), intent(in) :: finder
    real(dp), intent(in) :: low(3), high(3), source(3), receiver(3), reach
    logical, intent(out) :: worst
    real(dp) :: end, across(2), apart, along, way, cosine, echo, at(3), strongest
    integer :: axis, side
    worst = .false.
    strongest = grazed_most
    apart = norm2(receiver - source)
    do side = 1, 6
      axis = (side + 1)/2
      end = merge(high(axis), low(axis), modulo(side, 2) == 0)
      across = abs([source(axis), receiver(axis)] - end)
      along = sqrt(max(0.0_dp, apart**2 - (receiver(axis) - source(axis))**2))
      way = hypot(along, sum(across))
      if (.not. (along > 0 .and. way <= reach)) cycle
      cosine = sum(across)/way
      echo = (1 - cosine)/(1 + cosine)*apart/way
      if (.not. echo > strongest) cycle
      at = source + (receiver - source)*merge(across(1)/sum(across), 0.5_dp, sum(across) > 0)
      at(axis) = end
      if (.not. Absorbs(elements, finder, at)) cycle
      if (.not. strongest > grazed_most) grazed%n = grazed%n + 1
      strongest = echo
      if (echo <= grazed%echo) cycle
      grazed%echo = echo
      grazed%angle = acos(min(1.0_dp, cosine))*180/pi
      worst = .true.
    end do
  end subroutine GrazedTake

  !> A place on the outside of the mesh lies on a side that absorbs.
  pure logical function Absorbs(elements, finder, at)
    type(elements_t), intent(in) :: elements
    type(finder_t), intent(in) :: finder
    real(dp), intent(in) :: at(3)
    real(dp) :: xi(3)
    integer :: e, s
    call FinderInside(finder, elements%corner, at, e, xi)
    Absorbs = .false.
    if (e == 0) return
    Absorbs = any([(elements%face(s, e) == face_absorbs .and. abs(xi(hex_side_axis(s)) - hex_side_end(s)) < on_side, s=1, 6)])
  end function Absorbs

end module elements_grazed_m
