!> The 3D elastic and viscoelastic solver: a shot in its window, from geometry to traces, on one rank.
!>
!>     rho dv/dt = div s + f,   ds/dt = lambda div v + mu (grad v + (grad v)') - what relaxes - moment rate
!>
!> The engine, its grid and where each field stands are described in interfaces/fd3d_c.f90. fd3d_t is made in layers, each of which
!> adds its verbs: what all time loops share (timeloop.f90: advance, save, load, gather), a shot's data (fd3d_state.f90), absorbing
!> layers around the window (its edge values continued) or a free surface on top, source and receivers as cells and weights
!> (fd3d_setup.f90), chunks of steps (fd3d_loop.f90) with pictures between (fd3d_films.f90), traces (fd3d_traces.f90).
module fd3d_m
  use checksum_c, only: checksum_floats
  use fd3d_engine_m, only: fd3d_grid_t
  use fd3d_setup_m, only: Fd3dGrid
  use fd3d_traces_m, only: fd3d_traces_t
  use fd3d_trial_m, only: Fd3dTrial
  use fd3d_variants_m, only: Fd3dMemory, Fd3dVariantFor
  use hash_m, only: hash_t, HashAdd
  use kinds_m, only: dp, i8
  use state_identity_m, only: StateIdentity
  use scheme3d_m, only: scheme3d_t
  use scheme_m, only: scheme_t
  use source3d_m, only: SourceNumbers
  use text_m, only: Str
  use window_m, only: window_t
  implicit none
  private
  public :: fd3d_t

  integer, parameter :: entries = 1024          !< cells that a source or receiver is spread over, about
  integer, parameter :: entries_fault = 3072    !< of a point of a fault: six parts of a tensor, 8 x 8 x 8 cells each
  integer, parameter :: entries_hill = 640      !< of the stencil of a map's point on a hill, about

  type, extends(fd3d_traces_t) :: fd3d_t
  contains
    procedure, nopass :: choose => Fd3dVariantFor, trial => Fd3dTrial, need
    procedure :: state_identity
  end type fd3d_t

contains

  !> Memory of its GPU that a shot in a window takes [bytes], with `traces` traces; 0 on CPU cores.
  real(dp) function need(scheme, window, traces) result(bytes)
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    integer, intent(in) :: traces
    bytes = 0
    select type (scheme)
    type is (scheme3d_t)
      bytes = Memory(scheme, window, traces)
    end select
  end function need

  real(dp) function Memory(scheme, window, traces) result(bytes)
    type(scheme3d_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    integer, intent(in) :: traces
    type(fd3d_grid_t) :: grid
    real(dp) :: all, points
    integer :: width(6), pad(3), stencils
    call Fd3dGrid(scheme, scheme%own, window, grid, width, pad)
    all = entries*(1.0_dp + traces) + real(entries_fault, dp)*scheme%own%source%fault%n
    points = 0
    if (scheme%own%pgv) points = product(([window%nx, window%ny] - 1)/scheme%snapshot_step + 1.0_dp)
    stencils = entries
    if (HasHills(window)) stencils = Whole(points*entries_hill)
    bytes = Fd3dMemory(scheme%variant, grid, Whole(all), traces, scheme%nt, Whole(points), merge(stencils, 0, scheme%own%pgv))
  end function Memory

  !> Whether air makes ground of any shape, as far as the window is known.
  pure logical function HasHills(window)
    type(window_t), intent(in) :: window
    integer, allocatable :: rows(:, :)
    HasHills = .false.
    if (.not. allocated(window%medium)) return
    rows = count(window%medium(:, :, :, 3) > 0, dim=3)
    HasHills = any(rows /= rows(1, 1))
  end function HasHills

  pure integer function Whole(x)
    real(dp), intent(in) :: x
    Whole = int(min(x, real(huge(1), dp)))
  end function Whole

  function state_identity(self) result(text)
    class(fd3d_t), intent(in) :: self
    character(:), allocatable :: text
    text = StateIdentity(self, Str(self%grid%n(1))//' x '//Str(self%grid%n(2))//' x '//Str(self%grid%n(3)), GridHash(self), &
                        self%medium_hash, PositionsHash(self), TimesHash(self))
  end function state_identity

  function GridHash(self) result(hash)
    class(fd3d_t), intent(in) :: self
    type(hash_t) :: hash
    integer :: m
    associate (g => self%grid)
      do m = 1, 6
        call HashAdd(hash, g%side(m))
        call HashAdd(hash, self%width(m))
      end do
      call HashAdd(hash, g%half_length)
      call HashAdd(hash, merge(1, 0, g%anelastic))
      call HashAdd(hash, merge(1, 0, g%even))
      call HashAdd(hash, merge(1, 0, self%scheme%sponge))
      do m = 1, size(g%w)
        call HashAdd(hash, g%w(m))
      end do
      do m = 1, 3
        call HashAdd(hash, g%d(m))
        call HashAdd(hash, self%corner(m))
      end do
      call HashAdd(hash, g%dt)
    end associate
  end function GridHash

  !> Source and receivers, and what is recorded there.
  function PositionsHash(self) result(hash)
    class(fd3d_t), intent(in) :: self
    type(hash_t) :: hash
    real(dp), allocatable :: x(:)
    integer :: r
    call HashAdd(hash, self%shot%record)
    call HashAdd(hash, self%shot%sx)
    call HashAdd(hash, self%shot%sy)
    call HashAdd(hash, self%shot%sz)
    do r = 1, size(self%shot%rx)
      call HashAdd(hash, self%shot%rx(r))
      call HashAdd(hash, self%shot%ry(r))
      call HashAdd(hash, self%shot%rz(r))
    end do
    do r = 1, len(self%scheme%components)
      call HashAdd(hash, ichar(self%scheme%components(r:r)))
    end do
    allocate (x, source=SourceNumbers(self%own%source))
    do r = 1, size(x)
      call HashAdd(hash, x(r))
    end do
    associate (fault => self%own%source%fault)
      if (fault%n > 0) call HashAdd(hash, checksum_floats(0_i8, size(fault%rate, kind=i8), fault%rate))
    end associate
  end function PositionsHash

  !> Wavelet, time steps and pictures.
  function TimesHash(self) result(hash)
    class(fd3d_t), intent(in) :: self
    type(hash_t) :: hash
    integer :: f
    call HashAdd(hash, checksum_floats(0_i8, size(self%scheme%q, kind=i8), self%scheme%q))
    call HashAdd(hash, self%scheme%nt)
    call HashAdd(hash, self%scheme%t_start)
    call HashAdd(hash, merge(1, 0, self%scheme%time_correction))
    call HashAdd(hash, self%every)
    call HashAdd(hash, self%first_picture)
    call HashAdd(hash, self%scheme%snapshot_step)
    call HashAdd(hash, merge(1, 0, self%own%pgv))
    call HashAdd(hash, self%own%pgv_depth)
    do f = 1, size(self%frame)
      call HashAdd(hash, self%frame(f)%field)
      call HashAdd(hash, self%frame(f)%axis)
      call HashAdd(hash, self%frame(f)%index)
      call HashAdd(hash, merge(1, 0, self%frame(f)%top))
    end do
  end function TimesHash

end module fd3d_m
