!> THE list of physics: the name of a program's solver to the solver. To add one, extend solver_t and add a case.
module physics_m
  use error_m, only: error_t, Fail
  use fd2d_m, only: fd2d_t
  use solver_m, only: solver_t
  implicit none
  private
  public :: SolverNew

contains

  subroutine SolverNew(physics, solver, error)
    character(*), intent(in) :: physics
    class(solver_t), allocatable, intent(out) :: solver
    type(error_t), allocatable, intent(inout) :: error
    select case (physics)
    case ('fd2d')
      allocate (fd2d_t :: solver)
    case default
      call Fail(error, 'no solver called '//physics)
    end select
  end subroutine SolverNew

end module physics_m
