!> What every physics offers the framework. A group of ranks holds one solver and models shot after shot with it.
module solver_m
  use error_m, only: error_t
  use kinds_m, only: dp
  use gather_m, only: gather_t
  use scheme_m, only: scheme_t
  use shot_m, only: shot_t
  use window_m, only: window_t
  implicit none
  private
  public :: solver_t, progress_i

  type, abstract :: solver_t
  contains
    procedure(setup_i), deferred :: setup
    procedure(modfd_i), deferred :: modfd
    procedure(gather_i), deferred :: gather
    procedure(free_i), deferred :: free
  end type solver_t

  abstract interface
    !> Hears how far the time loop is, 0..1, every chunk of steps; sets `stop` to end the shot early.
    subroutine progress_i(fraction, stop)
      import :: dp
      real(dp), intent(in) :: fraction
      logical, intent(inout) :: stop
    end subroutine progress_i

    !> Prepares a shot in its window; memory is kept from shot to shot.
    subroutine setup_i(self, scheme, window, shot, error)
      import :: solver_t, scheme_t, window_t, shot_t, error_t
      class(solver_t), intent(inout) :: self
      type(scheme_t), intent(in) :: scheme
      type(window_t), intent(in) :: window
      type(shot_t), intent(in) :: shot
      type(error_t), allocatable, intent(inout) :: error
    end subroutine setup_i

    !> The time loop.
    subroutine modfd_i(self, progress, error)
      import :: solver_t, progress_i, error_t
      class(solver_t), intent(inout) :: self
      procedure(progress_i) :: progress
      type(error_t), allocatable, intent(inout) :: error
    end subroutine modfd_i

    !> Traces at the output sampling.
    subroutine gather_i(self, gather, error)
      import :: solver_t, gather_t, error_t
      class(solver_t), intent(inout) :: self
      type(gather_t), intent(inout) :: gather
      type(error_t), allocatable, intent(inout) :: error
    end subroutine gather_i

    !> Gives back all memory; twice is harmless.
    subroutine free_i(self)
      import :: solver_t
      class(solver_t), intent(inout) :: self
    end subroutine free_i
  end interface

end module solver_m
