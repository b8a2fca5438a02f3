!> What a 2D time loop must offer beside the verbs of engine.f90, whoever computes it: the readable Fortran of fd2d_fortran.f90 or a
!> C variant (fd2d_c_engine.f90). `maxabs` and `peak` are of |σ|.
!>
!>       σ---vx--σ---vx--σ      σ (i,k)  at (i,   k  ), at whole time steps, σ = -pressure
!>       |       |       |      vx(i,k)  at (i+½, k  ), at half time steps
!>       vz      vz      vz     vz(i,k)  at (i,   k+½), at half time steps
!>
!> Step n takes the velocities to (n-½) dt and σ to n dt, then adds the source to σ, then samples the receivers.
!> Fields are 0 outside the grid. Indices count from 1, x runs fastest.
module fd2d_engine_m
  use engine_m, only: engine_t
  use error_m, only: error_t, Fail
  use kinds_m, only: dp, sp
  use trace_bands_m, only: band_t
  implicit none
  private
  public :: fd2d_engine_t, fd2d_grid_t, field_sigma, field_vx, field_vz

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
    character(15) :: shape = ''                               !< of the blocks that `tuned` cuts it into, '' = it chooses
  end type fd2d_grid_t

  type, abstract, extends(engine_t) :: fd2d_engine_t
  contains
    procedure(new_i), deferred :: new              !< takes memory for a grid
    procedure(model_i), deferred :: model          !< kappa [Pa] and rho [kg/m3] at the σ points, (nx, nz)
    procedure(pml_i), deferred :: pml              !< profiles of the layers, see pml.f90
    procedure(source_i), deferred :: source        !< after step n, σ(i,k) grows by w q(n)
    procedure(receivers_i), deferred :: receivers  !< receiver r samples sum(w field(i,k)); forgets all traces
    procedure :: filters => NoFilters              !< it can filter the traces itself, where they are
    procedure :: filter => NoFilter                !< takes filter 0 or 1
    procedure :: filtered => NoFiltered            !< traces through it
    procedure(field_i), deferred :: field          !< a copy of a field, (nx, nz)
    procedure(set_field_i), deferred :: set_field
  end type fd2d_engine_t

  abstract interface
    subroutine new_i(self, grid, error)
      import :: fd2d_engine_t, fd2d_grid_t, error_t
      class(fd2d_engine_t), intent(inout) :: self
      type(fd2d_grid_t), intent(in) :: grid
      type(error_t), allocatable, intent(inout) :: error
    end subroutine new_i

    subroutine model_i(self, kappa, rho, error)
      import :: fd2d_engine_t, error_t, sp
      class(fd2d_engine_t), intent(inout) :: self
      real(sp), intent(in) :: kappa(:, :), rho(:, :)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine model_i

    subroutine pml_i(self, px, pz, error)
      import :: fd2d_engine_t, error_t, sp
      class(fd2d_engine_t), intent(inout) :: self
      real(sp), intent(in) :: px(:, :), pz(:, :)           !< (nx, 6), (nz, 6)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine pml_i

    subroutine source_i(self, q, i, k, w, error)
      import :: fd2d_engine_t, error_t, sp
      class(fd2d_engine_t), intent(inout) :: self
      real(sp), intent(in) :: q(:), w(:)                   !< (nt), (cells)
      integer, intent(in) :: i(:), k(:)                    !< (cells)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine source_i

    subroutine receivers_i(self, start, field, i, k, w, error)
      import :: fd2d_engine_t, error_t, sp
      class(fd2d_engine_t), intent(inout) :: self
      integer, intent(in) :: start(:)                      !< (nrec+1), the cells of receiver r are start(r) .. start(r+1)-1
      integer, intent(in) :: field(:)                      !< (nrec), field_sigma, field_vx or field_vz
      integer, intent(in) :: i(:), k(:)                    !< (cells)
      real(sp), intent(in) :: w(:)                         !< (cells)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine receivers_i

    subroutine field_i(self, which, out, error)
      import :: fd2d_engine_t, error_t, sp
      class(fd2d_engine_t), intent(inout) :: self
      integer, intent(in) :: which
      real(sp), contiguous, intent(out) :: out(:, :)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine field_i

    subroutine set_field_i(self, which, in, error)
      import :: fd2d_engine_t, error_t, sp
      class(fd2d_engine_t), intent(inout) :: self
      integer, intent(in) :: which
      real(sp), contiguous, intent(in) :: in(:, :)
      type(error_t), allocatable, intent(inout) :: error
    end subroutine set_field_i
  end interface

contains

  ! What an engine does that leaves the filtering to others.

  logical function NoFilters(self)
    class(fd2d_engine_t), intent(in) :: self
    NoFilters = .false.
  end function NoFilters

  !> Raw samples -> band(1) -> band(2), from now on.
  subroutine NoFilter(self, which, band, error)
    class(fd2d_engine_t), intent(inout) :: self
    integer, intent(in) :: which
    type(band_t), target, intent(in) :: band(2)
    type(error_t), allocatable, intent(inout) :: error
    call Fail(error, 'this engine does not filter traces')
  end subroutine NoFilter

  !> Of receivers first, first + 1, ...: out(rows of band(2), receivers).
  subroutine NoFiltered(self, which, first, out, error)
    class(fd2d_engine_t), intent(inout) :: self
    integer, intent(in) :: which, first
    real(sp), contiguous, intent(out) :: out(:, :)
    type(error_t), allocatable, intent(inout) :: error
    call Fail(error, 'this engine does not filter traces')
  end subroutine NoFiltered

end module fd2d_engine_m
