!> A 3D time loop in C, behind the verbs of fd3d_engine.f90; the treaty is interfaces/fd3d_c.f90.
module fd3d_c_engine_m
  use c_verbs_m, only: c_verbs_t
  use engine_m, only: EngineCheck
  use error_m, only: error_t
  use fd3d_c, only: fd3d_bytes, fd3d_cfg, fd3d_device, fd3d_expect, fd3d_field, fd3d_free, fd3d_halo_get, fd3d_halo_put, &
                    fd3d_halo_size, fd3d_histories, fd3d_load, fd3d_map, fd3d_maxabs, fd3d_model, fd3d_new, fd3d_peak, &
                    fd3d_pending, fd3d_pml, fd3d_quality, fd3d_receivers, fd3d_reset, fd3d_save, fd3d_set_field, fd3d_slice, &
                    fd3d_source, fd3d_sponge, fd3d_state_size, fd3d_stress, fd3d_threads, fd3d_timestep, fd3d_traces, &
                    fd3d_velocity, fd3d_watch
  use fd3d_engine_m, only: fd3d_engine_t, fd3d_grid_t, fd3d_map_t
  use iso_c_binding, only: c_associated, c_float
  use kinds_m, only: i2, i8, sp
  use text_m, only: CString
  implicit none
  private
  public :: fd3d_c_engine_t, Fd3dCfg

  type, extends(fd3d_engine_t) :: fd3d_c_engine_t
  contains
    procedure :: new, model, quality, pml, sponge, source, histories, receivers, velocity, stress
    procedure :: halo_size, halo_get, halo_put, field, set_field, slice, expect, watch, map
  end type fd3d_c_engine_t

contains

  subroutine new(self, grid, error)
    class(fd3d_c_engine_t), intent(inout) :: self
    type(fd3d_grid_t), intent(in) :: grid
    type(error_t), allocatable, intent(inout) :: error
    call self%free()
    self%c = c_verbs_t(free=fd3d_free, threads=fd3d_threads, timestep=fd3d_timestep, pending=fd3d_pending, traces=fd3d_traces, &
                       maxabs=fd3d_maxabs, peak=fd3d_peak, reset=fd3d_reset, state_size=fd3d_state_size, save=fd3d_save, &
                       load=fd3d_load, bytes=fd3d_bytes, device=fd3d_device)
    self%handle = fd3d_new(CString(self%variant), Fd3dCfg(grid))
    if (.not. c_associated(self%handle)) call EngineCheck(self, 1, error)
  end subroutine new

  !> The subdomain as C knows it, which counts cells from 0.
  pure type(fd3d_cfg) function Fd3dCfg(grid) result(cfg)
    type(fd3d_grid_t), intent(in) :: grid
    cfg%n = grid%n
    cfg%first = grid%first - 1
    cfg%whole = grid%whole
    cfg%side = grid%side
    cfg%layer = grid%layer
    cfg%half_length = grid%half_length
    cfg%anelastic = merge(1, 0, grid%anelastic)
    cfg%threads = grid%threads
    cfg%share = grid%share
    cfg%sparse = merge(1, 0, grid%sparse)
    cfg%d = real(grid%d, c_float)
    cfg%dt = real(grid%dt, c_float)
    cfg%w = real(grid%w, c_float)
  end function Fd3dCfg

  subroutine model(self, rho, lambda, mu, error)
    class(fd3d_c_engine_t), intent(inout) :: self
    real(sp), contiguous, intent(in) :: rho(:, :, :), lambda(:, :, :), mu(:, :, :)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_model(self%handle, rho, lambda, mu), error)
  end subroutine model

  subroutine quality(self, tau, y, qp, qs, error)
    class(fd3d_c_engine_t), intent(inout) :: self
    real(sp), contiguous, intent(in) :: tau(:), y(:, :), qp(:, :, :), qs(:, :, :)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_quality(self%handle, tau, y, qp, qs), error)
  end subroutine quality

  subroutine pml(self, px, py, pz, error)
    class(fd3d_c_engine_t), intent(inout) :: self
    real(sp), contiguous, intent(in) :: px(:, :), py(:, :), pz(:, :)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_pml(self%handle, px, py, pz), error)
  end subroutine pml

  subroutine sponge(self, gx, gy, gz, error)
    class(fd3d_c_engine_t), intent(inout) :: self
    real(sp), contiguous, intent(in) :: gx(:), gy(:), gz(:)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_sponge(self%handle, gx, gy, gz), error)
  end subroutine sponge

  subroutine source(self, nh, field, i, j, k, h, w, error)
    class(fd3d_c_engine_t), intent(inout) :: self
    integer, intent(in) :: nh
    integer, contiguous, intent(in) :: field(:), i(:), j(:), k(:), h(:)
    real(sp), contiguous, intent(in) :: w(:)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_source(self%handle, nh, size(w), field, i - 1, j - 1, k - 1, h - 1, w), error)
  end subroutine source

  subroutine histories(self, first, q, error)
    class(fd3d_c_engine_t), intent(inout) :: self
    integer, intent(in) :: first
    real(sp), contiguous, intent(in) :: q(:, :)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_histories(self%handle, first, size(q, 2), q), error)
  end subroutine histories

  subroutine receivers(self, start, field, i, j, k, w, error)
    class(fd3d_c_engine_t), intent(inout) :: self
    integer, contiguous, intent(in) :: start(:), field(:), i(:), j(:), k(:)
    real(sp), contiguous, intent(in) :: w(:)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_receivers(self%handle, size(start) - 1, start - 1, field, i - 1, j - 1, k - 1, w), error)
  end subroutine receivers

  subroutine velocity(self, it, part, error)
    class(fd3d_c_engine_t), intent(inout) :: self
    integer, intent(in) :: it, part
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_velocity(self%handle, it, part), error)
  end subroutine velocity

  subroutine stress(self, it, part, error)
    class(fd3d_c_engine_t), intent(inout) :: self
    integer, intent(in) :: it, part
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_stress(self%handle, it, part), error)
  end subroutine stress

  integer(i8) function halo_size(self, side)
    class(fd3d_c_engine_t), intent(in) :: self
    integer, intent(in) :: side
    halo_size = fd3d_halo_size(self%handle, side - 1)
  end function halo_size

  subroutine halo_get(self, what, side, out, error)
    class(fd3d_c_engine_t), intent(inout) :: self
    integer, intent(in) :: what, side
    real(sp), contiguous, intent(out) :: out(:)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_halo_get(self%handle, what, side - 1, out), error)
  end subroutine halo_get

  subroutine halo_put(self, what, side, in, error)
    class(fd3d_c_engine_t), intent(inout) :: self
    integer, intent(in) :: what, side
    real(sp), contiguous, intent(in) :: in(:)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_halo_put(self%handle, what, side - 1, in), error)
  end subroutine halo_put

  subroutine field(self, which, out, error)
    class(fd3d_c_engine_t), intent(inout) :: self
    integer, intent(in) :: which
    real(sp), contiguous, intent(out) :: out(:, :, :)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_field(self%handle, which, out), error)
  end subroutine field

  subroutine set_field(self, which, in, error)
    class(fd3d_c_engine_t), intent(inout) :: self
    integer, intent(in) :: which
    real(sp), contiguous, intent(in) :: in(:, :, :)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_set_field(self%handle, which, in), error)
  end subroutine set_field

  subroutine slice(self, which, axis, index, out, error)
    class(fd3d_c_engine_t), intent(inout) :: self
    integer, intent(in) :: which, axis, index
    real(sp), contiguous, intent(out) :: out(:, :)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_slice(self%handle, which, axis - 1, index - 1, out), error)
  end subroutine slice

  subroutine expect(self, steps, error)
    class(fd3d_c_engine_t), intent(inout) :: self
    integer, intent(in) :: steps
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_expect(self%handle, steps), error)
  end subroutine expect

  subroutine watch(self, map, error)
    class(fd3d_c_engine_t), intent(inout) :: self
    type(fd3d_map_t), intent(in) :: map
    type(error_t), allocatable, intent(inout) :: error
    integer, parameter :: none(1) = 0
    integer(i2), parameter :: nowhere(1) = 0_i2
    if (.not. allocated(map%i)) then
      call EngineCheck(self, fd3d_watch(self%handle, 0, 0, none, none, none, none, 0, none, nowhere, nowhere, nowhere, &
                                        [0.0_sp]), error)
    else
      call EngineCheck(self, fd3d_watch(self%handle, map%last, size(map%i), map%i - 1, map%j - 1, map%k - 1, map%stencil - 1, &
                                        size(map%start)/3, map%start - 1, map%di, map%dj, map%dk, map%w), error)
    end if
  end subroutine watch

  subroutine map(self, out, error)
    class(fd3d_c_engine_t), intent(inout) :: self
    real(sp), contiguous, intent(out) :: out(:, :)
    type(error_t), allocatable, intent(inout) :: error
    call EngineCheck(self, fd3d_map(self%handle, out), error)
  end subroutine map

end module fd3d_c_engine_m
