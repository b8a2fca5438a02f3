!> A 2D time loop in C, behind the verbs of fd2d_engine.f90; the treaty is interfaces/fd2d_c.f90.
module fd2d_c_engine_m
  use c_verbs_m, only: c_verbs_t
  use engine_m, only: EngineCheck
  use error_m, only: error_t
  use fd2d_c, only: trace_band, fd2d_bytes, fd2d_cfg, fd2d_device, fd2d_field, fd2d_filter, fd2d_filtered, fd2d_filters, &
                    fd2d_free, fd2d_load, fd2d_maxabs, fd2d_model, fd2d_new, fd2d_peak, fd2d_pending, fd2d_pml, fd2d_receivers, &
                    fd2d_reset, fd2d_save, fd2d_set_field, fd2d_source, fd2d_state_size, fd2d_threads, fd2d_timestep, fd2d_traces
  use fd2d_engine_m, only: fd2d_engine_t, fd2d_grid_t
  use iso_c_binding, only: c_associated, c_float, c_int, c_loc, c_null_ptr, c_ptr
  use kinds_m, only: sp
  use text_m, only: CString
  use trace_bands_m, only: band_t
  implicit none
  private
  public :: fd2d_c_engine_t, Fd2dCfg

  type, extends(fd2d_engine_t) :: fd2d_c_engine_t
  contains
    procedure :: new, model, pml, source, receivers, field, set_field, filters, filter, filtered
  end type fd2d_c_engine_t

contains

  subroutine new(self, grid, error)
    class(fd2d_c_engine_t), intent(inout) :: self
    type(fd2d_grid_t), intent(in) :: grid
    type(error_t), allocatable, intent(inout) :: error
    call self%free()
    self%c = c_verbs_t(free=fd2d_free, threads=fd2d_threads, timestep=fd2d_timestep, pending=fd2d_pending, traces=fd2d_traces, &
                       maxabs=Maxabs, peak=Peak, reset=fd2d_reset, state_size=fd2d_state_size, save=fd2d_save, &
                       load=fd2d_load, bytes=fd2d_bytes, device=fd2d_device)
    self%handle = fd2d_new(CString(self%variant), Fd2dCfg(grid))
    if (.not. c_associated(self%handle)) call EngineCheck(self, 1, error)
  end subroutine new

  !> Largest |sigma| and its cell (i, k), as (i, k, 0): the third axis of a plane has one cell.
  integer(c_int) function Maxabs(handle, value, i, k, none) bind(c, name='')
    type(c_ptr), value :: handle
    real(c_float), intent(out) :: value
    integer(c_int), intent(out) :: i, k, none
    none = 0
    Maxabs = fd2d_maxabs(handle, value, i, k)
  end function Maxabs

  integer(c_int) function Peak(handle, value, i, k, none) bind(c, name='')
    type(c_ptr), value :: handle
    real(c_float), intent(out) :: value
    integer(c_int), intent(out) :: i, k, none
    none = 0
    Peak = fd2d_peak(handle, value, i, k)
  end function Peak

  !> The grid as C knows it.
  pure type(fd2d_cfg) function Fd2dCfg(grid) result(cfg)
    type(fd2d_grid_t), intent(in) :: grid
    integer :: i
    cfg%nx = grid%nx
    cfg%nz = grid%nz
    cfg%half_length = grid%half_length
    cfg%nleft = grid%nleft
    cfg%nright = grid%nright
    cfg%ntop = grid%ntop
    cfg%nbottom = grid%nbottom
    cfg%free_top = merge(1, 0, grid%free_top)
    cfg%threads = grid%threads
    cfg%velocities = merge(1, 0, grid%velocities)
    cfg%share = grid%share
    cfg%dx = real(grid%dx, c_float)
    cfg%dz = real(grid%dz, c_float)
    cfg%dt = real(grid%dt, c_float)
    cfg%w = real(grid%w, c_float)
    do i = 1, len_trim(grid%shape)
      cfg%shape(i) = grid%shape(i:i)
    end do
  end function Fd2dCfg

  subroutine model(self, kappa, rho, error)
    class(fd2d_c_engine_t), intent(inout) :: self
    real(sp), intent(in) :: kappa(:, :), rho(:, :)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd2d_model(self%handle, kappa, rho), error)
  end subroutine model

  subroutine pml(self, px, pz, error)
    class(fd2d_c_engine_t), intent(inout) :: self
    real(sp), intent(in) :: px(:, :), pz(:, :)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd2d_pml(self%handle, px, pz), error)
  end subroutine pml

  subroutine source(self, q, i, k, w, error)
    class(fd2d_c_engine_t), intent(inout) :: self
    real(sp), intent(in) :: q(:), w(:)
    integer, intent(in) :: i(:), k(:)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd2d_source(self%handle, size(q), q, size(w), i - 1, k - 1, w), error)
  end subroutine source

  subroutine receivers(self, start, field, i, k, w, error)
    class(fd2d_c_engine_t), intent(inout) :: self
    integer, intent(in) :: start(:), field(:), i(:), k(:)
    real(sp), intent(in) :: w(:)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd2d_receivers(self%handle, size(field), start - 1, field, i - 1, k - 1, w), error)
  end subroutine receivers

  logical function filters(self)
    class(fd2d_c_engine_t), intent(in) :: self
    filters = fd2d_filters(self%handle) == 1
  end function filters

  subroutine filter(self, which, band, error)
    class(fd2d_c_engine_t), intent(inout) :: self
    integer, intent(in) :: which
    type(band_t), target, intent(in) :: band(2)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd2d_filter(self%handle, which, [AsBand(band(1)), AsBand(band(2))]), error)
  end subroutine filter

  !> The band as C knows it.
  type(trace_band) function AsBand(band) result(b)
    type(band_t), target, intent(in) :: band
    b%columns = band%columns
    b%rows = band%rows
    b%groups = size(band%first)
    b%n = size(band%m, 2)
    b%gain = c_null_ptr
    if (allocated(band%gain)) b%gain = c_loc(band%gain)
    b%first = c_loc(band%first)
    b%count = c_loc(band%count)
    b%at = c_loc(band%at)
    b%m = c_loc(band%m)
  end function AsBand

  subroutine filtered(self, which, first, out, error)
    class(fd2d_c_engine_t), intent(inout) :: self
    integer, intent(in) :: which, first
    real(sp), contiguous, intent(out) :: out(:, :)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd2d_filtered(self%handle, which, first - 1, size(out, 2), out), error)
  end subroutine filtered

  subroutine field(self, which, out, error)
    class(fd2d_c_engine_t), intent(inout) :: self
    integer, intent(in) :: which
    real(sp), contiguous, intent(out) :: out(:, :)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd2d_field(self%handle, which, out), error)
  end subroutine field

  subroutine set_field(self, which, in, error)
    class(fd2d_c_engine_t), intent(inout) :: self
    integer, intent(in) :: which
    real(sp), contiguous, intent(in) :: in(:, :)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd2d_set_field(self%handle, which, in), error)
  end subroutine set_field

end module fd2d_c_engine_m
