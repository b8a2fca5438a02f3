!> A 2D time loop: the verbs that it has beside those of engine.f90. They call a variant in C, by interfaces/fd2d_c.f90; the
!> readable Fortran of fd2d_fortran.f90 extends this and brings all of them itself. `maxabs` and `peak` are of |σ|.
!>
!>       σ---vx--σ---vx--σ      σ (i,k)  at (i,   k  ), at whole time steps, σ = -pressure
!>       |       |       |      vx(i,k)  at (i+½, k  ), at half time steps
!>       vz      vz      vz     vz(i,k)  at (i,   k+½), at half time steps
!>
!> Step n takes the velocities to (n-½) dt and σ to n dt, then adds the source to σ, then samples the receivers.
!> Fields are 0 outside the grid. Indices count from 1, x runs fastest.
module fd2d_engine_m
  use engine_m, only: engine_t, EngineCheck
  use error_m, only: error_t
  use fd2d_c, only: fd2d_cfg, fd2d_field, fd2d_model, fd2d_model_apart, fd2d_new, fd2d_pml, fd2d_receivers, fd2d_set_field, &
    fd2d_source
  use iso_c_binding, only: c_associated, c_float
  use kinds_m, only: dp, sp
  use text_m, only: CString
  implicit none
  private
  public :: fd2d_engine_t, fd2d_grid_t, Fd2dCfg, field_sigma, field_vx, field_vz

  integer, parameter :: field_sigma = 0, field_vx = 1, field_vz = 2

  !> A grid. Two grids that are equal in all of this but `share` can have the same engine from shot to shot.
  type :: fd2d_grid_t
    integer :: nx = 0, nz = 0                                 !< nodes, absorbing layers included
    integer :: nleft = 0, nright = 0, ntop = 0, nbottom = 0   !< widths of the absorbing layers [cells]
    logical :: velocities = .false.                           !< they are recorded or asked for: `tuned` keeps them only then
    integer :: share = 0                                      !< engines that compute on this GPU side by side; 0: this alone
    logical :: free_top = .false.                             !< row 1 is a free surface (then ntop = 0)
    integer :: threads = 0                                    !< 0: as many as there are
    integer :: half_length = 0
    real(dp) :: dx = 0, dz = 0, dt = 0                        !< [m, s]
    real(dp) :: w(8) = 0                                      !< weights of the differentiators
    logical :: apart = .false.                                !< the densities of vx and vz are given, each at its points
    character(15) :: shape = ''                               !< of the blocks that `tuned` cuts it into, '' = it chooses
    integer :: steps_a_pass = 0                               !< of `tuned`, 0 = it chooses
  end type fd2d_grid_t

  type, extends(engine_t) :: fd2d_engine_t
  contains
    procedure :: new                               !< takes memory for a grid
    procedure :: model                             !< kappa [Pa] and rho [kg/m3] at the σ points, (nx, nz); or rho at vx and at vz
    procedure :: pml                               !< profiles of the layers, see pml.f90
    procedure :: source                            !< after step n, σ(i,k) grows by w q(n)
    procedure :: receivers                         !< receiver r samples sum(w field(i,k)); forgets all traces
    procedure :: field                             !< a copy of a field, (nx, nz)
    procedure :: set_field
  end type fd2d_engine_t

contains

  subroutine new(self, grid, error)
    class(fd2d_engine_t), intent(inout) :: self
    type(fd2d_grid_t), intent(in) :: grid
    type(error_t), allocatable, intent(inout) :: error
    call self%free()
    self%handle = fd2d_new(CString(self%variant), Fd2dCfg(grid))
    if (.not. c_associated(self%handle)) call EngineCheck(self, 1, error)
  end subroutine new

  !> The grid as C knows it.
  pure type(fd2d_cfg) function Fd2dCfg(grid) result(cfg)
    type(fd2d_grid_t), intent(in) :: grid
    integer :: i
    associate (g => grid)
      cfg = fd2d_cfg(nx=g%nx, nz=g%nz, half_length=g%half_length, nleft=g%nleft, nright=g%nright, ntop=g%ntop, &
                     nbottom=g%nbottom, free_top=merge(1, 0, g%free_top), threads=g%threads, &
                     velocities=merge(1, 0, g%velocities), apart=merge(1, 0, g%apart), share=g%share, &
                     dx=real(g%dx, c_float), dz=real(g%dz, c_float), &
                     dt=real(g%dt, c_float), w=real(g%w, c_float), steps_a_pass=g%steps_a_pass)
    end associate
    do i = 1, len_trim(grid%shape)
      cfg%shape(i) = grid%shape(i:i)
    end do
  end function Fd2dCfg

  subroutine model(self, kappa, rho, error, rho_z)
    class(fd2d_engine_t), intent(inout) :: self
    real(sp), intent(in) :: kappa(:, :), rho(:, :)
    type(error_t), allocatable, intent(inout) :: error
    real(sp), intent(in), optional :: rho_z(:, :)
    if (present(rho_z)) then
      call EngineCheck(self, fd2d_model_apart(self%handle, kappa, rho, rho_z), error)
    else
      call EngineCheck(self, fd2d_model(self%handle, kappa, rho), error)
    end if
  end subroutine model

  subroutine pml(self, px, pz, error)
    class(fd2d_engine_t), intent(inout) :: self
    real(sp), intent(in) :: px(:, :), pz(:, :)           !< (nx, 6), (nz, 6)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd2d_pml(self%handle, px, pz), error)
  end subroutine pml

  subroutine source(self, q, i, k, w, error)
    class(fd2d_engine_t), intent(inout) :: self
    real(sp), intent(in) :: q(:), w(:)                   !< (nt), (cells)
    integer, intent(in) :: i(:), k(:)                    !< (cells)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd2d_source(self%handle, size(q), q, size(w), i - 1, k - 1, w), error)
  end subroutine source

  subroutine receivers(self, start, field, i, k, w, error)
    class(fd2d_engine_t), intent(inout) :: self
    integer, intent(in) :: start(:)                      !< (nrec+1), the cells of receiver r are start(r) .. start(r+1)-1
    integer, intent(in) :: field(:)                      !< (nrec), field_sigma, field_vx or field_vz
    integer, intent(in) :: i(:), k(:)                    !< (cells)
    real(sp), intent(in) :: w(:)                         !< (cells)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd2d_receivers(self%handle, size(field), start - 1, field, i - 1, k - 1, w), error)
  end subroutine receivers

  subroutine field(self, which, out, error)
    class(fd2d_engine_t), intent(inout) :: self
    integer, intent(in) :: which
    real(sp), contiguous, intent(out) :: out(:, :)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd2d_field(self%handle, which, out), error)
  end subroutine field

  subroutine set_field(self, which, in, error)
    class(fd2d_engine_t), intent(inout) :: self
    integer, intent(in) :: which
    real(sp), contiguous, intent(in) :: in(:, :)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd2d_set_field(self%handle, which, in), error)
  end subroutine set_field

end module fd2d_engine_m
