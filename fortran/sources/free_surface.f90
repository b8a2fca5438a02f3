!> Records and sources that a free surface makes 0: no traction acts on it, so some components are 0 there, and some sources
!> radiate nothing.
!>
!> szz, sxz, syz are 0, in rock the strains exz, eyz too; in a fluid all stresses are, and what only slopes of pressure along the
!> surface move. By reciprocity a moment tensor M does nothing if M : e = 0 for all strains e that can be there: exz = eyz = 0,
!> ezz = -(1 - 2 vs**2/vp**2) (exx + eyy).
module free_surface_m
  use kinds_m, only: dp
  use source3d_m, only: source3d_t, source_fault, source_force, source_volume
  implicit none
  private
  public :: Vanishes, SourceVanishes

contains

  !> A component is 0 on a free surface of rock or of a fluid.
  elemental logical function Vanishes(component, fluid)
    character(*), intent(in) :: component
    logical, intent(in) :: fluid
    if (fluid) then
      Vanishes = component(1:1) == 's' .or. &
                 any(component == [character(3) :: 'p', 'vx', 'vy', 'ux', 'uy', 'ax', 'ay', 'exx', 'eyy', 'exy', 'wz'])
    else
      Vanishes = any(component == [character(3) :: 'szz', 'sxz', 'syz', 'exz', 'eyz'])
    end if
  end function Vanishes

  !> A source on the free surface of a medium vp, vs [m/s], vs = 0 a fluid, radiates nothing. Faults are not looked at.
  pure logical function SourceVanishes(source, vp, vs) result(nothing)
    type(source3d_t), intent(in) :: source
    real(dp), intent(in) :: vp, vs
    real(dp), parameter :: none = 1.0e-6_dp
    real(dp) :: m(6)
    nothing = .false.
    select case (source%kind)
    case (source_fault)
      return
    case (source_force)
      nothing = .not. vs > 0 .and. abs(source%force(3)) <= none*maxval(abs(source%force))
    case default
      m = source%moment
      if (source%kind == source_volume) m = [1, 1, 1, 0, 0, 0]
      nothing = all(abs([m(1:2) - (1 - 2*(vs/vp)**2)*m(3), m(4)]) <= none*maxval(abs(m)))
    end select
  end function SourceVanishes

end module free_surface_m
