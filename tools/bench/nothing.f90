!> A physics that does nothing, so that what a shot costs is the framework's: the tube without its steps.
module nothing_m
  use error_m, only: error_t
  use gather_m, only: gather_t
  use kinds_m, only: dp, sp
  use scheme_m, only: scheme_t
  use shot_m, only: shot_t
  use solver_m, only: solver_t
  use tube_m, only: tube_solver_t, tube_t
  use window_m, only: window_t
  implicit none
  private
  public :: nothing_t

  type, extends(tube_solver_t) :: nothing_solver_t
  contains
    procedure :: setup, advance, gather => Pattern
  end type nothing_solver_t

  type, extends(tube_t) :: nothing_t
  contains
    procedure, nopass :: solver => NewSolver
  end type nothing_t

contains

  subroutine NewSolver(solver)
    class(solver_t), allocatable, intent(out) :: solver
    allocate (nothing_solver_t :: solver)
  end subroutine NewSolver

  !> As the tube, without room for what receivers record.
  subroutine setup(self, scheme, window, shot, error)
    class(nothing_solver_t), intent(inout) :: self
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    type(shot_t), intent(in) :: shot
    type(error_t), allocatable, intent(inout) :: error
    class(scheme_t), allocatable :: short
    allocate (short, source=scheme)
    short%nt = 0
    call self%tube_solver_t%setup(short, window, shot, error)
    self%scheme%nt = scheme%nt
  end subroutine setup

  subroutine advance(self, done, error)
    class(nothing_solver_t), intent(inout) :: self
    logical, intent(out) :: done
    type(error_t), allocatable, intent(inout) :: error
    self%steps = self%scheme%nt
    done = .true.
  end subroutine advance

  !> Numbers that differ from sample to sample and from shot to shot.
  subroutine Pattern(self, gather, error)
    class(nothing_solver_t), intent(inout), target :: self
    type(gather_t), intent(inout) :: gather
    type(error_t), allocatable, intent(inout) :: error
    integer :: i, j
    associate (s => self%scheme, x => self%x0 + (self%at - 1)*self%scheme%dx)
      gather = gather_t(nt=s%nt_out, nrec=size(x) - 1, ncomp=1, seconds=1.0e-6_dp, steps=self%steps, cells=real(size(self%p), dp), &
                        variant='fortran', sx=x(1), rx=x(2:), rz=0*x(2:))
      allocate (gather%traces(s%nt_out, size(x) - 1, 1))
    end associate
    do j = 1, gather%nrec
      do i = 1, gather%nt
        gather%traces(i, j, 1) = real(i + self%at(1), sp) + j
      end do
    end do
  end subroutine Pattern

end module nothing_m
