!> What a 2D shot in modelling has beside what every time loop has (timeloop.f90): what fd2d_setup.f90 fills, fd2d_loop.f90
!> steps and fd2d_traces.f90 reads.
module fd2d_state_m
  use engine_m, only: engine_t
  use fd2d_engine_m, only: fd2d_engine_t, fd2d_grid_t
  use kinds_m, only: dp, sp
  use off_grid_points_m, only: axis_t
  use timeloop_m, only: timeloop_t
  implicit none
  private
  public :: fd2d_state_t

  !> Its one film are the snapshots.
  type, abstract, extends(timeloop_t) :: fd2d_state_t
    class(fd2d_engine_t), allocatable :: engine
    type(fd2d_grid_t) :: grid
    type(axis_t) :: ax, az                        !< nodes of the grid, layers included
    real(sp), allocatable :: kappa(:, :), rho(:, :)   !< medium, layers included [Pa, kg/m3]
    integer, allocatable :: fields(:)             !< of the components asked for
    real(dp), allocatable :: near(:)              !< what the grid lacks at receivers close to the source, (nrec * components)
    integer :: given(0:1) = 0                     !< serial numbers of the filters of traces that the engine has
  contains
    procedure :: any_engine
  end type fd2d_state_t

contains

  function any_engine(self) result(engine)
    class(fd2d_state_t), intent(in), target :: self
    class(engine_t), pointer :: engine
    engine => null()
    if (allocated(self%engine)) engine => self%engine
  end function any_engine

end module fd2d_state_m
