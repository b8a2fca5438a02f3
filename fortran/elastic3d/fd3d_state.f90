!> What a 3D shot in modelling has beside what every time loop has (timeloop.f90): what fd3d_setup.f90 fills, fd3d_loop.f90
!> steps and fd3d_traces.f90 reads.
module fd3d_state_m
  use engine_m, only: engine_t
  use fd3d_engine_m, only: fd3d_engine_t, fd3d_grid_t, fd3d_map_t
  use hash_m, only: hash_t
  use kinds_m, only: dp, sp
  use scheme3d_m, only: elastic_t
  use scheme_m, only: scheme_t
  use time_dispersion_m, only: tracefilter_t
  use timeloop_m, only: timeloop_t
  use fault_histories_m, only: fault_histories_t
  implicit none
  private
  public :: fd3d_state_t, frame_t

  !> Where a film comes from: a field (fd3d_engine.f90; pressure = -1) across an axis at a cell, or on the top.
  type :: frame_t
    integer :: field = 0, axis = 3, index = 1
    logical :: top = .false.
  end type frame_t

  type, abstract, extends(timeloop_t) :: fd3d_state_t
    class(fd3d_engine_t), allocatable :: engine
    type(fd3d_grid_t) :: grid
    type(elastic_t) :: own                        !< what the scheme has of elastic modelling
    integer :: width(6) = 0                       !< of the absorbing layers, PML or sponge
    integer :: pad(3) = 0                         !< cells of the grid before the window
    real(dp) :: corner(3) = 0                     !< where the grid begins [m]
    real(sp), allocatable :: rho(:, :, :), lambda(:, :, :), mu(:, :, :)   !< medium with a ring of one cell, (0:n+1)
    type(hash_t) :: medium_hash                   !< of all that the medium and its layers are made of
    logical, allocatable :: at_whole(:)           !< of each component: sampled at whole time steps, as stress is
    real(dp), allocatable :: near(:, :, :)        !< what the grid lacks close to the source, (terms, receivers, components)
    integer :: sources = 0                        !< histories
    type(fault_histories_t) :: turned                      !< those of a fault, if time dispersion is to be removed
    integer :: known = 0                          !< last step whose histories the engine has
    type(tracefilter_t) :: filter_v, filter_s     !< from raw samples to traces: at half time steps, at whole ones
    type(scheme_t) :: filter_scheme               !< the scheme they were made for
    type(frame_t), allocatable :: frame(:)        !< of the films
    integer :: every = 0                          !< steps between two pictures
    integer :: first_picture = 0                  !< the first is taken after this step
    integer :: nf(3) = 0                          !< their shape
    integer, allocatable :: ground(:, :)          !< uppermost row without air of each column, where there is air
    type(fd3d_map_t) :: top                       !< points of the films of the top
  contains
    procedure :: any_engine, has_contacts
  end type fd3d_state_t

contains

  function any_engine(self) result(engine)
    class(fd3d_state_t), intent(in), target :: self
    class(engine_t), pointer :: engine
    engine => null()
    if (allocated(self%engine)) engine => self%engine
  end function any_engine

  !> Whether rock, fluid and air meet.
  pure logical function has_contacts(self)
    class(fd3d_state_t), intent(in) :: self
    has_contacts = .not. (all(self%rho > 0) .and. (all(self%mu > 0) .or. .not. any(self%mu > 0)))
  end function has_contacts

end module fd3d_state_m
