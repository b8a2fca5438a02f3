!> Components that can be recorded at a point of the 3D grid, by name, as weighted sums of fields.
!>
!>     vx vy vz           velocity [m/s]              sxx .. syz   stress [Pa]           p   pressure, -(sxx + syy + szz)/3 [Pa]
!>     exx .. eyz         rate of strain [1/s]: exy = (dvx/dy + dvy/dx)/2
!>     wx wy wz           rate of rotation [1/s]: wz = (dvy/dx - dvx/dy)/2, x, y, z in this order
!>
!> Derivatives are those of the scheme, between velocities half a cell and further to both sides of the point. Within two cells of a
!> free surface those along z reach above it, where velocities are continued by a cubic, less exact, or, of water, by images. Beyond
!> a sea floor or ground velocities of the point's own medium are continued likewise.
module fd3d_components_m
  use error_m, only: error_t, Fail
  use fd3d_contact_weights_m, only: Fd3dRockMotion, Fd3dRockRead, rock_cells
  use fd3d_contacts_m, only: rock_t
  use fd3d_engine_m, only: fd3d_grid_t, field_sxx, field_sxy, field_sxz, field_syy, field_syz, field_szz, field_vx
  use fd3d_point_lists_m, only: fd3d_list_t, Fd3dMerge, Fd3dPressure, Fd3dRecord, Fd3dRoom
  use kinds_m, only: dp, sp
  use sinc_m, only: sinc_nodes
  implicit none
  private
  public :: Fd3dComponent, Fd3dAtWhole, Fd3dCells

contains

  !> True of a component that is sampled at whole time steps, as stress is; others are at half ones, as velocity.
  pure logical function Fd3dAtWhole(name)
    character(*), intent(in) :: name
    Fd3dAtWhole = name == 'p' .or. name(1:1) == 's'
  end function Fd3dAtWhole

  !> Cells that a receiver of a component reads, where none is left out and no contact is near: beside one stress takes up to nine
  !> times as many, velocity four, slopes three (receiver_cells.f90 counts them).
  pure integer function Fd3dCells(name, half_length) result(cells)
    character(*), intent(in) :: name
    integer, intent(in) :: half_length
    cells = sinc_nodes**3
    if (name == 'p') cells = 3*cells
    if (scan(name(1:1), 'ew') > 0) cells = 2*sinc_nodes**2*(sinc_nodes + 2*half_length - 1)
    if (any(name == ['exx', 'eyy', 'ezz'])) cells = cells/2
  end function Fd3dCells

  !> One more receiver in the list: component `name` at x, measured as in fd3d_point_lists.f90.
  subroutine Fd3dComponent(list, grid, name, x, error, rock)
    type(fd3d_list_t), intent(inout) :: list
    type(fd3d_grid_t), intent(in) :: grid
    character(*), intent(in) :: name
    real(dp), intent(in) :: x(3)
    type(error_t), allocatable, intent(inout) :: error
    type(rock_t), intent(in), optional :: rock    !< around it; without it no contact is
    integer :: a, b
    if (present(rock)) then
      if (merge(rock%bent, rock%beside, name(1:1) == 'v')) then
        call Fd3dRoom(list, rock_cells, error)
        if (.not. allocated(error)) call BesideContact(list, grid, name, x, rock)
        return
      end if
    end if
    select case (name(1:1))
    case ('v')
      call Fd3dRecord(list, grid, x, field_vx + AxisOf(name(2:2)) - 1, error)
    case ('p')
      call Fd3dPressure(list, grid, x, error)
    case ('s')
      call Fd3dRecord(list, grid, x, StressOf(name(2:3)), error)
    case ('e')
      a = AxisOf(name(2:2))
      b = AxisOf(name(3:3))
      call AddDerivative(list, grid, a, b, x, 0.5_dp, .false., error)
      call AddDerivative(list, grid, b, a, x, 0.5_dp, .true., error)
      if (.not. allocated(error)) call Fd3dMerge(list)
    case ('w')
      a = modulo(AxisOf(name(2:2)), 3) + 1
      b = modulo(a, 3) + 1
      call AddDerivative(list, grid, a, b, x, 0.5_dp, .false., error)
      call AddDerivative(list, grid, b, a, x, -0.5_dp, .true., error)
      if (.not. allocated(error)) call Fd3dMerge(list)
    case default
      call Fail(error, 'component '//name//' is unknown')
    end select
  end subroutine Fd3dComponent

  !> The same beside a contact of rock.
  subroutine BesideContact(list, grid, name, x, rock)
    type(fd3d_list_t), intent(inout) :: list
    type(fd3d_grid_t), intent(in) :: grid
    character(*), intent(in) :: name
    real(dp), intent(in) :: x(3)
    type(rock_t), intent(in) :: rock
    real(dp) :: part(3, 3)
    integer :: a, b
    part = 0
    select case (name(1:1))
    case ('v')
      a = AxisOf(name(2:2))
      call Fd3dRockMotion(list, grid, x, rock, real([(merge(1, 0, b == a), b=1, 3)], dp), 0)
      return
    case ('p')
      do a = 1, 3
        part(a, a) = -1.0_dp/3
      end do
    case ('w')
      a = modulo(AxisOf(name(2:2)), 3) + 1
      b = modulo(a, 3) + 1
      part(a, b) = 0.5_dp
      part(b, a) = -0.5_dp
    case default
      a = AxisOf(name(2:2))
      b = AxisOf(name(3:3))
      part(a, b) = 0.5_dp
      part(b, a) = part(b, a) + 0.5_dp
    end select
    call Fd3dRockRead(list, grid, x, rock, part, slopes=scan(name(1:1), 'ew') > 0)
  end subroutine BesideContact

  pure integer function AxisOf(letter)
    character, intent(in) :: letter
    AxisOf = index('xyz', letter)
  end function AxisOf

  pure integer function StressOf(letters) result(field)
    character(2), intent(in) :: letters
    select case (letters)
    case ('xx')
      field = field_sxx
    case ('yy')
      field = field_syy
    case ('zz')
      field = field_szz
    case ('xy')
      field = field_sxy
    case ('xz')
      field = field_sxz
    case default
      field = field_syz
    end select
  end function StressOf

  !> Adds `factor` times dv_b/dx_a to the receiver under way; `last`: it ends here.
  subroutine AddDerivative(list, grid, a, b, x, factor, last, error)
    type(fd3d_list_t), intent(inout) :: list
    type(fd3d_grid_t), intent(in) :: grid
    integer, intent(in) :: a, b
    real(dp), intent(in) :: x(3), factor
    logical, intent(in) :: last
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: there(3)
    integer :: m, side
    do m = 1, grid%half_length
      do side = -1, 1, 2
        there = x
        there(a) = x(a) + side*(m - 0.5_dp)*grid%d(a)
        call AddScaled(there, side*factor*grid%w(m)/grid%d(a), last .and. m == grid%half_length .and. side == 1)
        if (allocated(error)) return
      end do
    end do

  contains

    subroutine AddScaled(place, scale, close)
      real(dp), intent(in) :: place(3), scale
      logical, intent(in) :: close
      integer :: before
      before = list%n
      call Fd3dRecord(list, grid, place, field_vx + b - 1, error, of=x)
      if (allocated(error)) return
      list%w(before + 1:list%n) = real(scale*list%w(before + 1:list%n), sp)
      if (close) return
      list%partly = list%elsewhere(list%receivers)             ! the receiver goes on
      list%receivers = list%receivers - 1
    end subroutine AddScaled

  end subroutine AddDerivative

end module fd3d_components_m
