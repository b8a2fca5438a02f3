!> The 2D acoustic solver: a shot in its window, from geometry to traces.
!>
!>     rho dv/dt = grad σ,   dσ/dt = K div v - K q,   σ = -p,   K = rho vp²,   q(x, t) = Q(t) δ(x - xs) δ(z - zs), Q in m2/s
!>
!> Fd2dNew lays absorbing layers around the window (its edge values continued) or a free surface along its top row, and turns
!> positions into cells and weights (fd2d_setup.f90); Fd2dModfd runs the time loop in chunks of Fd2dTimestep (fd2d_loop.f90);
!> Fd2dGather makes the traces (fd2d_traces.f90).
!> Between two turns its state can be saved, and loaded into the same shot elsewhere (fd2d_resume.f90).
!> A source spread over cells with weights w gives σ(i,k) the increment -dt K(i,k) w/(dx dz) Q each step: with K of the cell itself
!> source and receiver may change places in any medium and the pressure trace stays the same.
module fd2d_m
  use error_m, only: error_t, Fail
  use fd2d_loop_m, only: Fd2dSteps, Fd2dTurn
  use fd2d_resume_m, only: Fd2dLoad, Fd2dMoment, Fd2dPassport, Fd2dSave, Fd2dStateSize
  use fd2d_setup_m, only: Fd2dForget, Fd2dGrid, Fd2dSetup
  use fd2d_state_m, only: fd2d_state_t
  use fd2d_traces_m, only: Fd2dTraces
  use fd2d_trial_m, only: Fd2dTrial
  use fd2d_variants_m, only: Fd2dMemory, Fd2dVariantFor
  use gather_m, only: gather_t
  use kinds_m, only: dp, i8, sp
  use scheme_m, only: scheme_t
  use shot_m, only: shot_t
  use solver_m, only: moment_t, progress_i
  use text_m, only: Str
  use window_m, only: window_t
  implicit none
  private
  public :: fd2d_t, Fd2dNew, Fd2dModfd, Fd2dAdvance, Fd2dTimestep, Fd2dGather, Fd2dFree

  type, extends(fd2d_state_t) :: fd2d_t
  contains
    procedure :: setup => Fd2dNew
    procedure :: modfd => Fd2dModfd
    procedure :: advance => Fd2dAdvance
    procedure :: fraction => Fd2dFraction
    procedure :: gather => Fd2dGather
    procedure :: need => Fd2dNeed
    procedure, nopass :: choose => Fd2dVariantFor
    procedure :: free => Fd2dFree
    procedure :: trial => Fd2dRate
    procedure :: passport, moment, state_size, save => save_state, load
  end type fd2d_t

contains

  !> Prepares a shot. Memory is kept while the grid stays the same.
  !> Fails on a window on another grid, positions outside the window, a source on the free surface, a medium that needs a smaller
  !> time step, no memory.
  subroutine Fd2dNew(self, scheme, window, shot, error)
    class(fd2d_t), intent(inout) :: self
    type(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    type(shot_t), intent(in) :: shot
    type(error_t), allocatable, intent(inout) :: error
    call Fd2dSetup(self, scheme, window, shot, error)
  end subroutine Fd2dNew

  !> All steps of the shot. Fails when the field blows up, and when `progress` asks to stop.
  subroutine Fd2dModfd(self, progress, error)
    class(fd2d_t), intent(inout) :: self
    procedure(progress_i) :: progress
    type(error_t), allocatable, intent(inout) :: error
    logical :: done, stop
    done = .false.
    stop = .false.
    do while (.not. done)
      call Fd2dAdvance(self, done, error)
      if (allocated(error)) return
      call progress(Fd2dFraction(self), stop)
      if (stop) call Fail(error, 'stopped on request at step '//Str(self%steps)//' of '//Str(self%scheme%nt))
      if (allocated(error)) return
    end do
  end subroutine Fd2dModfd

  !> A turn of the time loop: the next chunk of steps is computed, or queued on a GPU while the one before is waited for, asleep.
  !> `done` after the last. Fails when the field blows up.
  subroutine Fd2dAdvance(self, done, error)
    class(fd2d_t), intent(inout) :: self
    logical, intent(out) :: done
    type(error_t), allocatable, intent(inout) :: error
    call Fd2dTurn(self, done, error)
  end subroutine Fd2dAdvance

  !> The next n steps, and a look at the field.
  subroutine Fd2dTimestep(self, n, error)
    class(fd2d_t), intent(inout) :: self
    integer, intent(in) :: n
    type(error_t), allocatable, intent(inout) :: error
    call Fd2dSteps(self, n, error)
  end subroutine Fd2dTimestep

  !> How much of the time loop is done or queued, 0..1.
  pure real(dp) function Fd2dFraction(self) result(fraction)
    class(fd2d_t), intent(in) :: self
    fraction = real(self%steps, dp)/max(1, self%scheme%nt)
  end function Fd2dFraction

  !> Traces of the finished time loop at the output sampling, corrected for time dispersion, with all that is to be said of them.
  subroutine Fd2dGather(self, gather, error)
    class(fd2d_t), intent(inout) :: self
    type(gather_t), intent(inout) :: gather
    type(error_t), allocatable, intent(inout) :: error
    call Fd2dTraces(self, gather, error)
  end subroutine Fd2dGather

  !> Memory of its GPU that a shot in a window takes [bytes], with `traces` traces; 0 on CPU cores.
  real(dp) function Fd2dNeed(self, scheme, window, traces) result(bytes)
    class(fd2d_t), intent(in) :: self
    type(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    integer, intent(in) :: traces
    bytes = Fd2dMemory(scheme%variant, Fd2dGrid(scheme, window%nx, window%nz), traces, scheme%nt)
  end function Fd2dNeed

  !> Cell updates a second on CPU cores, by a trial of a tenth of a second.
  real(dp) function Fd2dRate(self, scheme) result(rate)
    class(fd2d_t), intent(in) :: self
    type(scheme_t), intent(in) :: scheme
    rate = Fd2dTrial(Fd2dVariantFor(scheme%variant, .false.), scheme)
  end function Fd2dRate

  !> Gives back all memory; twice is harmless.
  subroutine Fd2dFree(self)
    class(fd2d_t), intent(inout) :: self
    call Fd2dForget(self)
  end subroutine Fd2dFree

  !> All that must be the same where the shot is to go on from a state; see solver.f90 for these five.
  function passport(self) result(text)
    class(fd2d_t), intent(in) :: self
    character(:), allocatable :: text
    text = Fd2dPassport(self)
  end function passport

  type(moment_t) function moment(self)
    class(fd2d_t), intent(in) :: self
    moment = Fd2dMoment(self)
  end function moment

  integer(i8) function state_size(self, moment) result(n)
    class(fd2d_t), intent(in) :: self
    type(moment_t), intent(in) :: moment
    n = Fd2dStateSize(self, moment)
  end function state_size

  subroutine save_state(self, state, error)
    class(fd2d_t), intent(inout) :: self
    real(sp), contiguous, intent(out) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    call Fd2dSave(self, state, error)
  end subroutine save_state

  subroutine load(self, moment, state, error)
    class(fd2d_t), intent(inout) :: self
    type(moment_t), intent(in) :: moment
    real(sp), contiguous, intent(in) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    call Fd2dLoad(self, moment, state, error)
  end subroutine load

end module fd2d_m
