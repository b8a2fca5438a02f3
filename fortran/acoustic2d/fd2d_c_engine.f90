!> A 2D time loop in C, behind the common face of fd2d_engine.f90; the treaty is interfaces/fd2d_c.f90.
module fd2d_c_engine_m
  use error_m, only: error_t, FailFromC
  use fd2d_c, only: trace_band, fd2d_bytes, fd2d_cfg, fd2d_device, fd2d_field, fd2d_filter, fd2d_filtered, fd2d_filters, &
                    fd2d_free, fd2d_load, fd2d_maxabs, fd2d_model, fd2d_new, fd2d_peak, fd2d_pending, fd2d_pml, fd2d_receivers, &
                    fd2d_reset, fd2d_save, fd2d_set_field, fd2d_source, fd2d_state_size, fd2d_threads, fd2d_timestep, fd2d_traces
  use fd2d_engine_m, only: fd2d_engine_t, fd2d_grid_t
  use iso_c_binding, only: c_associated, c_char, c_float, c_loc, c_null_char, c_null_ptr, c_ptr
  use kinds_m, only: i8, sp
  use text_m, only: CString, FString
  use trace_bands_m, only: band_t
  implicit none
  private
  public :: fd2d_c_engine_t, NativeCfg

  type, extends(fd2d_engine_t) :: fd2d_c_engine_t
    character(:), allocatable :: variant
    logical :: gpu = .false.                      !< it computes on a GPU
    type(c_ptr), private :: handle = c_null_ptr
  contains
    procedure :: new, free, model, pml, source, receivers, timestep, traces, field, set_field, maxabs, reset, bytes, device
    procedure :: filters, filter, filtered
    procedure :: pending, peak, state_size, save => save_state, load, threads
  end type fd2d_c_engine_t

contains

  !> Turns a return code into an error that says whether a GPU is to blame.
  subroutine Check(self, rc, error)
    class(fd2d_c_engine_t), intent(in) :: self
    integer, intent(in) :: rc
    type(error_t), allocatable, intent(inout) :: error
    if (rc == 0 .or. allocated(error)) return
    call FailFromC(rc, error)
    error%device = self%gpu
  end subroutine Check

  subroutine new(self, grid, error)
    class(fd2d_c_engine_t), intent(inout) :: self
    type(fd2d_grid_t), intent(in) :: grid
    type(error_t), allocatable, intent(inout) :: error
    call self%free()
    self%handle = fd2d_new(CString(self%variant), NativeCfg(grid))
    if (.not. c_associated(self%handle)) call Check(self, 1, error)
  end subroutine new

  !> The grid as C knows it.
  pure type(fd2d_cfg) function NativeCfg(grid) result(cfg)
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
  end function NativeCfg

  subroutine free(self)
    class(fd2d_c_engine_t), intent(inout) :: self
    call fd2d_free(self%handle)
    self%handle = c_null_ptr
  end subroutine free

  subroutine model(self, kappa, rho, error)
    class(fd2d_c_engine_t), intent(inout) :: self
    real(sp), intent(in) :: kappa(:, :), rho(:, :)
    type(error_t), allocatable, intent(inout) :: error
    call Check(self, fd2d_model(self%handle, kappa, rho), error)
  end subroutine model

  subroutine pml(self, px, pz, error)
    class(fd2d_c_engine_t), intent(inout) :: self
    real(sp), intent(in) :: px(:, :), pz(:, :)
    type(error_t), allocatable, intent(inout) :: error
    call Check(self, fd2d_pml(self%handle, px, pz), error)
  end subroutine pml

  subroutine source(self, q, i, k, w, error)
    class(fd2d_c_engine_t), intent(inout) :: self
    real(sp), intent(in) :: q(:), w(:)
    integer, intent(in) :: i(:), k(:)
    type(error_t), allocatable, intent(inout) :: error
    call Check(self, fd2d_source(self%handle, size(q), q, size(w), i - 1, k - 1, w), error)
  end subroutine source

  subroutine receivers(self, start, field, i, k, w, error)
    class(fd2d_c_engine_t), intent(inout) :: self
    integer, intent(in) :: start(:), field(:), i(:), k(:)
    real(sp), intent(in) :: w(:)
    type(error_t), allocatable, intent(inout) :: error
    call Check(self, fd2d_receivers(self%handle, size(field), start - 1, field, i - 1, k - 1, w), error)
  end subroutine receivers

  subroutine timestep(self, first, n, error)
    class(fd2d_c_engine_t), intent(inout) :: self
    integer, intent(in) :: first, n
    type(error_t), allocatable, intent(inout) :: error
    call Check(self, fd2d_timestep(self%handle, first, n), error)
  end subroutine timestep

  subroutine pending(self, most, error)
    class(fd2d_c_engine_t), intent(inout) :: self
    integer, intent(in) :: most
    type(error_t), allocatable, intent(inout) :: error
    call Check(self, fd2d_pending(self%handle, most), error)
  end subroutine pending

  subroutine traces(self, first, out, error)
    class(fd2d_c_engine_t), intent(inout) :: self
    integer, intent(in) :: first
    real(sp), contiguous, intent(out) :: out(:, :)
    type(error_t), allocatable, intent(inout) :: error
    call Check(self, fd2d_traces(self%handle, first, size(out, 1), out), error)
  end subroutine traces

  logical function filters(self)
    class(fd2d_c_engine_t), intent(in) :: self
    filters = fd2d_filters(self%handle) == 1
  end function filters

  subroutine filter(self, which, band, error)
    class(fd2d_c_engine_t), intent(inout) :: self
    integer, intent(in) :: which
    type(band_t), target, intent(in) :: band(2)
    type(error_t), allocatable, intent(inout) :: error
    call Check(self, fd2d_filter(self%handle, which, [AsBand(band(1)), AsBand(band(2))]), error)
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
    call Check(self, fd2d_filtered(self%handle, which, first - 1, size(out, 2), out), error)
  end subroutine filtered

  subroutine field(self, which, out, error)
    class(fd2d_c_engine_t), intent(inout) :: self
    integer, intent(in) :: which
    real(sp), contiguous, intent(out) :: out(:, :)
    type(error_t), allocatable, intent(inout) :: error
    call Check(self, fd2d_field(self%handle, which, out), error)
  end subroutine field

  subroutine set_field(self, which, in, error)
    class(fd2d_c_engine_t), intent(inout) :: self
    integer, intent(in) :: which
    real(sp), contiguous, intent(in) :: in(:, :)
    type(error_t), allocatable, intent(inout) :: error
    call Check(self, fd2d_set_field(self%handle, which, in), error)
  end subroutine set_field

  subroutine maxabs(self, value, place, error)
    class(fd2d_c_engine_t), intent(inout) :: self
    real(sp), intent(out) :: value
    integer, intent(out) :: place(3)
    type(error_t), allocatable, intent(inout) :: error
    place = 0
    call Check(self, fd2d_maxabs(self%handle, value, place(1), place(2)), error)
    place = place + 1
  end subroutine maxabs

  subroutine peak(self, value, place, error)
    class(fd2d_c_engine_t), intent(inout) :: self
    real(sp), intent(out) :: value
    integer, intent(out) :: place(3)
    type(error_t), allocatable, intent(inout) :: error
    place = 0
    call Check(self, fd2d_peak(self%handle, value, place(1), place(2)), error)
    place = place + 1
  end subroutine peak

  subroutine threads(self, number, error)
    class(fd2d_c_engine_t), intent(inout) :: self
    integer, intent(in) :: number
    type(error_t), allocatable, intent(inout) :: error
    call Check(self, fd2d_threads(self%handle, number), error)
  end subroutine threads

  subroutine reset(self, error)
    class(fd2d_c_engine_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    call Check(self, fd2d_reset(self%handle), error)
  end subroutine reset

  integer(i8) function state_size(self, steps)
    class(fd2d_c_engine_t), intent(in) :: self
    integer, intent(in) :: steps
    state_size = fd2d_state_size(self%handle, steps)
  end function state_size

  subroutine save_state(self, state, error)
    class(fd2d_c_engine_t), intent(inout) :: self
    real(sp), contiguous, intent(out) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    call Check(self, fd2d_save(self%handle, size(state, kind=i8), state), error)
  end subroutine save_state

  subroutine load(self, steps, state, error)
    class(fd2d_c_engine_t), intent(inout) :: self
    integer, intent(in) :: steps
    real(sp), contiguous, intent(in) :: state(:)
    type(error_t), allocatable, intent(inout) :: error
    call Check(self, fd2d_load(self%handle, 1, steps, size(state, kind=i8), state), error)
  end subroutine load

  integer(i8) function bytes(self)
    class(fd2d_c_engine_t), intent(in) :: self
    bytes = fd2d_bytes(self%handle)
  end function bytes

  function device(self) result(text)
    class(fd2d_c_engine_t), intent(in) :: self
    character(:), allocatable :: text
    character(kind=c_char, len=256) :: buffer
    buffer = c_null_char
    text = ''
    if (fd2d_device(self%handle, len(buffer), buffer) == 0) text = FString(buffer)
  end function device

end module fd2d_c_engine_m
