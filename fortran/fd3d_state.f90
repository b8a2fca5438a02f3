!> All that a 3D shot in modelling is made of: what fd3d_setup.f90 fills, fd3d_loop.f90 steps and fd3d_traces.f90 reads.
module fd3d_state_m
  use fd3d_engine_m, only: fd3d_engine_t, fd3d_grid_t
  use gather_m, only: film_t
  use kinds_m, only: dp, sp
  use scheme_m, only: scheme_t
  use shot_m, only: shot_t
  use solver_m, only: solver_t
  use timedisp_m, only: tracefilter_t
  use turned_m, only: turned_t
  implicit none
  private
  public :: fd3d_state_t, frame_t

  !> Where a film comes from: a field (fd3d_engine.f90; pressure = -1) across an axis at a cell, or in the uppermost cells
  !> below the air.
  type :: frame_t
    integer :: field = 0, axis = 3, index = 1
    logical :: ground = .false.
  end type frame_t

  type, abstract, extends(solver_t) :: fd3d_state_t
    class(fd3d_engine_t), allocatable :: engine
    character(:), allocatable :: variant          !< of the engine
    logical :: queues = .false.                   !< its time steps are only queued: it computes while the host goes on
    type(fd3d_grid_t) :: grid
    type(scheme_t) :: scheme
    type(shot_t) :: shot
    integer :: width(6) = 0                       !< of the absorbing layers, PML or sponge
    integer :: pad(3) = 0                         !< cells of the grid before the window
    real(dp) :: corner(3) = 0                     !< where the grid begins [m]
    real(sp), allocatable :: rho(:, :, :), lambda(:, :, :), mu(:, :, :)   !< medium with a ring of one cell, (0:n+1)
    integer :: medium = 0                         !< serial number of the window they were made from, 0 = of none
    character(16) :: medium_hash = ''
    logical, allocatable :: at_whole(:)           !< of each component: sampled at whole time steps, as stress is
    real(dp), allocatable :: near(:, :, :)        !< what the grid lacks close to the source, (terms, receivers, components)
    integer :: sources = 0                        !< histories
    type(turned_t) :: turned                      !< those of a fault, if time dispersion is to be removed
    integer :: known = 0                          !< last step whose histories the engine has
    integer :: exponent2 = 0                      !< fields are 2**exponent2 times smaller than in Pa and m/s
    real(sp) :: limit = 0                         !< of velocities, beyond it the field has blown up
    real(sp) :: peak = 0                          !< largest velocity at the last look
    integer :: steps = 0                          !< steps done or queued
    logical :: finished = .false.                 !< all are done, and the field was looked at
    integer :: chunk = 0                          !< steps of the next chunk, 0 = not chosen yet
    integer :: ahead = 0                          !< chunks that may be unfinished
    real(dp) :: began = 0                         !< when the first step was queued [s]
    real(dp) :: seconds = 0                       !< wall time of the time loop
    type(tracefilter_t) :: filter_v, filter_s     !< from raw samples to traces: at half time steps, at whole ones
    type(scheme_t) :: filter_scheme               !< the scheme they were made for
    type(film_t), allocatable :: film(:)          !< those of frame(:), then the maps
    type(frame_t), allocatable :: frame(:)
    integer :: every = 0                          !< steps between two pictures
    integer :: first_picture = 0                  !< the first is taken after this step
    integer :: pictures = 0                       !< how many there will be
    integer :: taken = 0                          !< how many there are
    integer :: nf(3) = 0                          !< their shape
    integer, allocatable :: ground(:, :)          !< uppermost row without air of each column, where there is air
  end type fd3d_state_t

end module fd3d_state_m
