!> THE list of physics: the name of a program's solver to the solver. To add one, extend solver_t and add a case.
module physics_m
  use error_m, only: error_t, Fail
  use fd2d_m, only: fd2d_t
  use fd2d_variants_m, only: fd2d_variants_t
  use fd3d_m, only: fd3d_t
  use fd3d_variants_m, only: fd3d_variants_t
  use solver_m, only: solver_t
  use parameter_table_m, only: table_t
  use variants_m, only: variants_t
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

  subroutine Kernels(physics, variants)
    character(*), intent(in) :: physics
    class(variants_t), allocatable, intent(out) :: variants
    if (physics == 'fd3d') then
      allocate (fd3d_variants_t :: variants)
    else
      allocate (fd2d_variants_t :: variants)
    end if
  end subroutine Kernels

  !> Its kernel variants, joined by commas, those that are not in this build too.
  function PhysicsVariants(physics) result(names)
    character(*), intent(in) :: physics
    character(:), allocatable :: names
    class(variants_t), allocatable :: variants
    call Kernels(physics, variants)
    names = variants%names()
  end function PhysicsVariants

  logical function PhysicsVariantBuilt(physics, name) result(built)
    character(*), intent(in) :: physics, name
    class(variants_t), allocatable :: variants
    call Kernels(physics, variants)
    built = variants%built(name)
  end function PhysicsVariantBuilt

  logical function PhysicsVariantNeedsGpu(physics, name) result(needs)
    character(*), intent(in) :: physics, name
    class(variants_t), allocatable :: variants
    call Kernels(physics, variants)
    needs = variants%needs_gpu(name)
  end function PhysicsVariantNeedsGpu

  !> What the parameter table must know of a physics and of the kernel variants of this build.
  subroutine PhysicsTable(physics, table)
    character(*), intent(in) :: physics
    type(table_t), intent(inout) :: table
    class(variants_t), allocatable :: variants
    call Kernels(physics, variants)
    table%three_d = physics == 'fd3d'
    table%variants = 'auto,'//variants%names()
    table%on_gpu = variants%with('gpu')
    table%unbuilt = variants%with('unbuilt')
  end subroutine PhysicsTable

end module physics_m
