!> THE list of physics: the name of a program's solver to the solver. To add one, extend solver_t and add a case.
module physics_m
  use error_m, only: error_t, Fail
  use fd2d_m, only: fd2d_t
  use fd2d_variants_m, only: Fd2dVariantBuilt, Fd2dVariantNames, Fd2dVariantNeedsGpu, Fd2dVariantsWith
  use fd3d_m, only: fd3d_t
  use fd3d_variants_m, only: Fd3dVariantBuilt, Fd3dVariantNames, Fd3dVariantNeedsGpu, Fd3dVariantsWith
  use solver_m, only: solver_t
  use table_m, only: table_t
  implicit none
  private
  public :: SolverNew, PhysicsProgram, PhysicsVariants, PhysicsVariantBuilt, PhysicsVariantNeedsGpu, PhysicsTable

contains

  subroutine SolverNew(physics, solver, error)
    character(*), intent(in) :: physics
    class(solver_t), allocatable, intent(out) :: solver
    type(error_t), allocatable, intent(inout) :: error
    select case (physics)
    case ('fd2d')
      allocate (fd2d_t :: solver)
    case ('fd3d')
      allocate (fd3d_t :: solver)
    case default
      call Fail(error, 'no solver called '//physics)
    end select
  end subroutine SolverNew

  !> The program of a physics.
  pure function PhysicsProgram(physics) result(name)
    character(*), intent(in) :: physics
    character(:), allocatable :: name
    name = trim(merge('SplFd3dmod', 'SplFd2dmod', physics == 'fd3d'))
  end function PhysicsProgram

  !> Its kernel variants, joined by commas, those that are not in this build too.
  function PhysicsVariants(physics) result(names)
    character(*), intent(in) :: physics
    character(:), allocatable :: names
    if (physics == 'fd3d') then
      names = Fd3dVariantNames()
    else
      names = Fd2dVariantNames()
    end if
  end function PhysicsVariants

  logical function PhysicsVariantBuilt(physics, name) result(built)
    character(*), intent(in) :: physics, name
    if (physics == 'fd3d') then
      built = Fd3dVariantBuilt(name)
    else
      built = Fd2dVariantBuilt(name)
    end if
  end function PhysicsVariantBuilt

  logical function PhysicsVariantNeedsGpu(physics, name) result(needs)
    character(*), intent(in) :: physics, name
    if (physics == 'fd3d') then
      needs = Fd3dVariantNeedsGpu(name)
    else
      needs = Fd2dVariantNeedsGpu(name)
    end if
  end function PhysicsVariantNeedsGpu

  !> What the parameter table must know of a physics and of the kernel variants of this build.
  subroutine PhysicsTable(physics, table)
    character(*), intent(in) :: physics
    type(table_t), intent(inout) :: table
    table%three_d = physics == 'fd3d'
    table%variants = 'auto,'//PhysicsVariants(physics)
    if (table%three_d) then
      table%on_gpu = Fd3dVariantsWith('gpu')
      table%unbuilt = Fd3dVariantsWith('unbuilt')
    else
      table%on_gpu = Fd2dVariantsWith('gpu')
      table%unbuilt = Fd2dVariantsWith('unbuilt')
    end if
  end subroutine PhysicsTable

end module physics_m
