!> All that a 2D shot in modelling is made of: what fd2d_setup.f90 fills, fd2d_loop.f90 steps and fd2d_traces.f90 reads.
module fd2d_state_m
  use fd2d_engine_m, only: fd2d_engine_t, fd2d_grid_t
  use kinds_m, only: dp, sp
  use placement_m, only: axis_t
  use scheme_m, only: scheme_t
  use shot_m, only: shot_t
  use solver_m, only: solver_t
  implicit none
  private
  public :: fd2d_state_t

  type, abstract, extends(solver_t) :: fd2d_state_t
    class(fd2d_engine_t), allocatable :: engine
    character(:), allocatable :: variant          !< of the engine
    logical :: queues = .false.                   !< its time steps are only queued: it computes while the host goes on
    type(fd2d_grid_t) :: grid
    type(scheme_t) :: scheme
    type(shot_t) :: shot                          !< with the positions used
    type(axis_t) :: ax, az                        !< nodes of the grid, layers included
    real(sp), allocatable :: kappa(:, :), rho(:, :)   !< medium, layers included [Pa, kg/m3]
    integer :: medium = 0                         !< serial number of the window they were made from, 0 = of none
    integer, allocatable :: fields(:)             !< of the components asked for
    real(dp), allocatable :: near(:)              !< what the grid lacks at receivers close to the source, (nrec * components)
    integer :: exponent2 = 0                      !< fields are 2**exponent2 times smaller than in Pa and m/s
    real(sp) :: limit = 0                         !< of |σ|, beyond it the field has blown up
    real(sp) :: peak = 0                          !< largest |σ| at the last look
    integer :: steps = 0                          !< steps done or queued
    logical :: finished = .false.                 !< all are done, and the field was looked at
    integer :: chunk = 0                          !< steps of the next chunk, 0 = not chosen yet
    integer :: queued(2) = 0                      !< steps of the two chunks queued last
    integer :: ahead = 0                          !< chunks that may be unfinished
    integer :: unseen = 0                         !< steps since the last look at the field, on CPU cores
    real(dp) :: mark = 0                          !< when a chunk was seen to be done last [s]
    real(dp) :: pace = 0                          !< seconds a step takes, as measured
    integer :: taken = 0                          !< snapshots taken
    real(dp) :: began = 0                         !< when the first step was queued [s]
    real(dp) :: seconds = 0                       !< wall time of the time loop
    integer :: given(0:1) = 0                     !< serial numbers of the filters of traces that the engine has
    real(sp), allocatable :: snapshots(:, :, :)
  end type fd2d_state_t

end module fd2d_state_m
