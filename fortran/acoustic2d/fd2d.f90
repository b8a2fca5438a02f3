!> The 2D acoustic solver: a shot in its window, from geometry to traces.
!>
!>     rho dv/dt = grad σ,   dσ/dt = K div v - K q,   σ = -p,   K = rho vp²,   q(x, t) = Q(t) δ(x - xs) δ(z - zs), Q in m2/s
!>
!> fd2d_t is made in layers, each of which adds its verbs: what all time loops share (timeloop.f90: advance, save, load, gather),
!> a shot's data (fd2d_state.f90), absorbing layers around the window (its edge values continued) or a free surface along its top
!> row, positions as cells and weights (fd2d_setup.f90), chunks of steps and snapshots (fd2d_loop.f90), traces (fd2d_traces.f90).
!> A source spread over cells with weights w gives σ(i,k) the increment -dt K(i,k) w/(dx dz) Q each step: with K of the cell itself
!> source and receiver may change places in any medium and the pressure trace stays the same.
module fd2d_m
  use checksum_c, only: checksum_floats
  use fd2d_setup_m, only: Fd2dGrid
  use fd2d_traces_m, only: fd2d_traces_t
  use fd2d_trial_m, only: Fd2dTrial
  use fd2d_variants_m, only: Fd2dMemory, Fd2dVariantFor
  use hash_m, only: hash_t, HashAdd
  use kinds_m, only: dp, i8
  use state_identity_m, only: StateIdentity
  use scheme_m, only: scheme_t
  use text_m, only: Str
  use window_m, only: window_t
  implicit none
  private
  public :: fd2d_t

  type, extends(fd2d_traces_t) :: fd2d_t
  contains
    procedure, nopass :: choose => Fd2dVariantFor, trial => Fd2dTrial, need
    procedure :: state_identity
  end type fd2d_t

contains

  !> Memory of its GPU that a shot in a window takes [bytes], with `traces` traces; 0 on CPU cores.
  real(dp) function need(scheme, window, traces) result(bytes)
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    integer, intent(in) :: traces
    bytes = Fd2dMemory(scheme%variant, Fd2dGrid(scheme, window%nx, window%nz), traces, scheme%nt)
  end function need

  function state_identity(self) result(text)
    class(fd2d_t), intent(in) :: self
    character(:), allocatable :: text
    text = StateIdentity(self, Str(self%grid%nx)//' x '//Str(self%grid%nz), GridHash(self), MediumHash(self), &
                        PositionsHash(self), TimesHash(self))
  end function state_identity

  function GridHash(self) result(hash)
    class(fd2d_t), intent(in) :: self
    type(hash_t) :: hash
    integer :: m
    associate (g => self%grid)
      call HashAdd(hash, g%nleft)
      call HashAdd(hash, g%nright)
      call HashAdd(hash, g%ntop)
      call HashAdd(hash, g%nbottom)
      call HashAdd(hash, merge(1, 0, g%free_top))
      call HashAdd(hash, g%half_length)
      do m = 1, size(g%w)
        call HashAdd(hash, g%w(m))
      end do
      call HashAdd(hash, g%dx)
      call HashAdd(hash, g%dz)
      call HashAdd(hash, g%dt)
    end associate
  end function GridHash

  !> With what the absorbing layers are made from.
  function MediumHash(self) result(hash)
    class(fd2d_t), intent(in) :: self
    type(hash_t) :: hash
    call HashAdd(hash, checksum_floats(0_i8, size(self%kappa, kind=i8), self%kappa))
    call HashAdd(hash, checksum_floats(0_i8, size(self%rho, kind=i8), self%rho))
    call HashAdd(hash, self%scheme%fpeak)
  end function MediumHash

  !> Source and receivers, and what is recorded there.
  function PositionsHash(self) result(hash)
    class(fd2d_t), intent(in) :: self
    type(hash_t) :: hash
    integer :: r
    call HashAdd(hash, self%shot%record)
    call HashAdd(hash, self%ax%x0)
    call HashAdd(hash, self%az%x0)
    call HashAdd(hash, self%shot%sx)
    call HashAdd(hash, self%shot%sz)
    call HashAdd(hash, merge(1, 0, self%scheme%exact_positions))
    do r = 1, size(self%shot%rx)
      call HashAdd(hash, self%shot%rx(r))
      call HashAdd(hash, self%shot%rz(r))
    end do
    do r = 1, size(self%fields)
      call HashAdd(hash, self%fields(r))
    end do
  end function PositionsHash

  !> Wavelet, time steps and snapshots.
  function TimesHash(self) result(hash)
    class(fd2d_t), intent(in) :: self
    type(hash_t) :: hash
    call HashAdd(hash, checksum_floats(0_i8, size(self%scheme%q, kind=i8), self%scheme%q))
    call HashAdd(hash, self%scheme%nt)
    call HashAdd(hash, self%scheme%t_start)
    call HashAdd(hash, self%scheme%snapshot)
    call HashAdd(hash, self%scheme%snapshot_step)
    call HashAdd(hash, self%pictures)
  end function TimesHash

end module fd2d_m
