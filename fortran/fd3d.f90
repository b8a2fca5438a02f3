!> The 3D elastic and viscoelastic solver: a shot in its window, from geometry to traces, on one rank.
!>
!>     rho dv/dt = div s + f,   ds/dt = lambda div v + mu (grad v + (grad v)') - what relaxes - moment rate
!>
!> The engine, its grid and where each field stands are described in interfaces/fd3d_c.f90. Fd3dNew lays absorbing layers around the
!> window (its edge values continued) or a free surface on top, and turns source and receivers into cells and weights
!> (fd3d_setup.f90); Fd3dModfd runs the time loop in chunks (fd3d_loop.f90) and takes pictures between (fd3d_films.f90); Fd3dGather
!> makes the traces (fd3d_traces.f90). Between two turns its state can be saved, and loaded into the same shot elsewhere
!> (fd3d_resume.f90).
module fd3d_m
  use error_m, only: error_t, Fail
  use fd3d_engine_m, only: fd3d_grid_t
  use fd3d_loop_m, only: Fd3dTurn
  use fd3d_resume_m, only: Fd3dLoad, Fd3dMoment, Fd3dPassport, Fd3dSave, Fd3dStateSize
  use fd3d_setup_m, only: Fd3dForget, Fd3dGrid, Fd3dSetup
  use fd3d_state_m, only: fd3d_state_t
  use fd3d_traces_m, only: Fd3dTraces
  use fd3d_trial_m, only: Fd3dTrial
  use fd3d_variants_m, only: Fd3dMemory, Fd3dVariantFor
  use gather_m, only: gather_t
  use kinds_m, only: dp, i8, sp
  use scheme_m, only: scheme_t
  use shot_m, only: shot_t
  use solver_m, only: moment_t, progress_i
  use text_m, only: Str
  use window_m, only: window_t
  implicit none
  private
  public :: fd3d_t, Fd3dNew, Fd3dModfd, Fd3dAdvance, Fd3dGather, Fd3dFree

  integer, parameter :: entries = 1024          !< cells that a source or receiver is spread over, about
  integer, parameter :: entries_fault = 3072    !< of a point of a fault: six parts of a tensor, 8 x 8 x 8 cells each

  type, extends(fd3d_state_t) :: fd3d_t
  contains
    procedure :: setup => Fd3dNew
    procedure :: modfd => Fd3dModfd
    procedure :: advance => Fd3dAdvance
    procedure :: fraction => Fd3dFraction
    procedure :: gather => Fd3dGather
    procedure :: need => Fd3dNeed
    procedure, nopass :: choose => Fd3dVariantFor
    procedure :: free => Fd3dFree
    procedure :: trial => Fd3dRate
    procedure :: passport, moment, state_size, save => save_state, load
  end type fd3d_t

contains

  !> Prepares a shot. Memory is kept while the grid stays the same. Fails on a window on another grid, positions outside the window,
  !> a source in the air, no memory.
  subroutine Fd3dNew(self, scheme, window, shot, error)
    class(fd3d_t), intent(inout) :: self
    type(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    type(shot_t), intent(in) :: shot
    type(error_t), allocatable, intent(inout) :: error
    call Fd3dSetup(self, scheme, window, shot, error)
  end subroutine Fd3dNew

  !> All steps of the shot. Fails when the field blows up, and when `progress` asks to stop.
  subroutine Fd3dModfd(self, progress, error)
    class(fd3d_t), intent(inout) :: self
    procedure(progress_i) :: progress
    type(error_t), allocatable, intent(inout) :: error
    logical :: done, stop
    done = .false.
    stop = .false.
    do while (.not. done)
      call Fd3dAdvance(self, done, error)
      if (allocated(error)) return
      call progress(Fd3dFraction(self), stop)
      if (stop) call Fail(error, 'stopped on request at step '//Str(self%steps)//' of '//Str(self%scheme%nt))
      if (allocated(error)) return
    end do
  end subroutine Fd3dModfd

  !> A turn of the time loop: the next chunk of steps is computed, or queued on a GPU while the one before is waited for, asleep.
  !> `done` after the last. Fails when the field blows up.
  subroutine Fd3dAdvance(self, done, error)
    class(fd3d_t), intent(inout) :: self
    logical, intent(out) :: done
    type(error_t), allocatable, intent(inout) :: error
    call Fd3dTurn(self, done, error)
  end subroutine Fd3dAdvance

  !> How much of the time loop is done or queued, 0..1.
  pure real(dp) function Fd3dFraction(self) result(fraction)
    class(fd3d_t), intent(in) :: self
    fraction = real(self%steps, dp)/max(1, self%scheme%nt)
  end function Fd3dFraction

  !> Traces of the finished time loop at the output sampling, corrected for time dispersion, with all that is to be said of them.
  subroutine Fd3dGather(self, gather, error)
    class(fd3d_t), intent(inout) :: self
    type(gather_t), intent(inout) :: gather
    type(error_t), allocatable, intent(inout) :: error
    call Fd3dTraces(self, gather, error)
  end subroutine Fd3dGather

  !> Memory of its GPU that a shot in a window takes [bytes], with `traces` traces; 0 on CPU cores.
  real(dp) function Fd3dNeed(self, scheme, window, traces) result(bytes)
    class(fd3d_t), intent(in) :: self
    type(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    integer, intent(in) :: traces
    type(fd3d_grid_t) :: grid
    real(dp) :: all
    integer :: width(6), pad(3)
    call Fd3dGrid(scheme, window, grid, width, pad)
    all = entries*(1.0_dp + traces) + real(entries_fault, dp)*scheme%source%fault%n
    bytes = Fd3dMemory(scheme%variant, grid, int(min(all, real(huge(1), dp))), traces, scheme%nt)
  end function Fd3dNeed

  !> Cell updates a second on CPU cores, by a trial of some tenths of a second.
  real(dp) function Fd3dRate(self, scheme) result(rate)
    class(fd3d_t), intent(in) :: self
    type(scheme_t), intent(in) :: scheme
    rate = Fd3dTrial(Fd3dVariantFor(scheme%variant, .false.), scheme)
  end function Fd3dRate

  !> Gives back all memory; twice is harmless.
  subroutine Fd3dFree(self)
    class(fd3d_t), intent(inout) :: self
    call Fd3dForget(self)
  end subroutine Fd3dFree

  !> All that must be the same where the shot is to go on from a state; see solver.f90 for these five.
  function passport(self) result(text)
    class(fd3d_t), intent(in) :: self
    character(:), allocatable :: text
    text = Fd3dPassport(self)
  end function passport

  type(moment_t) function moment(self)
    class(fd3d_t), intent(in) :: self
    moment = Fd3dMoment(self)
  end function moment

  integer(i8) function state_size(self, moment) result(n)
    class(fd3d_t), intent(in) :: self
    type(moment_t), intent(in) :: moment
    n = Fd3dStateSize(self, moment)
  end function state_size

  subroutine save_state(self, state, error)
    class(fd3d_t), intent(inout) :: self
    real(sp), contiguous, intent(out) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    call Fd3dSave(self, state, error)
  end subroutine save_state

  subroutine load(self, moment, state, error)
    class(fd3d_t), intent(inout) :: self
    type(moment_t), intent(in) :: moment
    real(sp), contiguous, intent(in) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    call Fd3dLoad(self, moment, state, error)
  end subroutine load

end module fd3d_m
