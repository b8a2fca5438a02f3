!> From the samples of every time step to the traces of a gather. Where the samples are in a GPU's memory, it filters them there.
module fd2d_traces_m
  use error_m, only: error_t
  use fd2d_engine_m, only: field_sigma
  use fd2d_loop_m, only: fd2d_loop_t
  use gather_m, only: gather_t
  use kinds_m, only: dp, sp
  use scheme_m, only: SchemePad
  use time_dispersion_m, only: TraceFilterApply
  use trace_filters_m, only: filter_t, TraceFilters
  implicit none
  private
  public :: fd2d_traces_t

  type, abstract, extends(fd2d_loop_t) :: fd2d_traces_t
  contains
    procedure :: make_traces, describe
  end type fd2d_traces_t

contains

  subroutine make_traces(self, traces, error)
    class(fd2d_traces_t), intent(inout) :: self
    real(sp), contiguous, intent(out) :: traces(:, :, :)
    type(error_t), allocatable, intent(inout) :: error
    if (self%engine%filters() .and. self%scheme%nt > 0) then
      call FilterThere(self, traces, error)
    else
      call FilterHere(self, traces, error)
    end if
  end subroutine make_traces

  !> The filter of component c: 0 that of pressure, 1 that of velocity.
  pure integer function FilterOf(self, c) result(which)
    class(fd2d_traces_t), intent(in) :: self
    integer, intent(in) :: c
    which = merge(0, 1, self%fields(c) == field_sigma)
  end function FilterOf

  !> The samples of all steps come home and are filtered by this rank.
  subroutine FilterHere(self, traces, error)
    class(fd2d_traces_t), intent(inout) :: self
    real(sp), contiguous, intent(inout) :: traces(:, :, :)
    type(error_t), allocatable, intent(inout) :: error
    type(filter_t), pointer :: filter
    real(sp), allocatable :: raw(:, :)
    integer :: c, r, n
    n = size(traces, 2)
    allocate (raw(self%scheme%nt, n*size(self%fields)))
    call self%engine%traces(1, raw, error)
    do c = 1, size(self%fields)
      if (.not. allocated(error)) call TraceFilters(self%scheme, FilterOf(self, c), filter, error)
      if (allocated(error)) return
      do r = (c - 1)*n + 1, c*n
        if (abs(self%near(r)) > 0) raw(:, r) = raw(:, r) + NearWeight(self, r)*NearSeries(self, FilterOf(self, c))
      end do
      call TraceFilterApply(filter%filter, raw(:, (c - 1)*n + 1:c*n), traces(:, :, c), self%team%threads)
    end do
  end subroutine FilterHere

  !> The engine filters them; only what is written comes home.
  subroutine FilterThere(self, traces, error)
    class(fd2d_traces_t), intent(inout) :: self
    real(sp), contiguous, intent(inout) :: traces(:, :, :)
    type(error_t), allocatable, intent(inout) :: error
    type(filter_t), pointer :: filter
    real(sp) :: near(self%scheme%nt_out, 1)
    integer :: c, r, n, which
    n = size(traces, 2)
    do c = 1, size(self%fields)
      which = FilterOf(self, c)
      call TraceFilters(self%scheme, which, filter, error)
      if (allocated(error)) return
      if (self%given(which) /= filter%serial) call self%engine%filter(which, filter%band, error)
      if (allocated(error)) return
      self%given(which) = filter%serial
      call self%engine%filtered(which, (c - 1)*n + 1, traces(:, :, c), error)
      if (allocated(error)) return
      associate (weights => self%near((c - 1)*n + 1:c*n))
        if (all(abs(weights) <= 0)) cycle
        call TraceFilterApply(filter%filter, reshape(NearSeries(self, which), [self%scheme%nt, 1]), near)
        do r = 1, n
          if (abs(weights(r)) > 0) traces(:, r, c) = traces(:, r, c) + NearWeight(self, (c - 1)*n + r)*near(:, 1)
        end do
      end associate
    end do
  end subroutine FilterThere

  !> The near field follows the source at once: pressure Q'(t) at step n, velocity Q(t) at step n-½.
  function NearSeries(self, which) result(series)
    class(fd2d_traces_t), intent(in) :: self
    integer, intent(in) :: which
    real(sp) :: series(self%scheme%nt)
    series = scale(self%scheme%q, -self%exponent2)
    if (which == 0) series = eoshift(series, 1) - series
  end function NearSeries

  !> What receiver r, counted through all components, has of it.
  pure real(sp) function NearWeight(self, r) result(weight)
    class(fd2d_traces_t), intent(in) :: self
    integer, intent(in) :: r
    weight = real(self%near(r), sp)
    if (self%fields((r - 1)/size(self%shot%rx) + 1) == field_sigma) weight = real(self%near(r)/self%grid%dt, sp)
  end function NearWeight

  subroutine describe(self, gather)
    class(fd2d_traces_t), intent(in) :: self
    type(gather_t), intent(inout) :: gather
    integer :: pad(2)
    pad = SchemePad(self%scheme)
    gather%ncomp = size(self%fields)
    gather%cells = real(self%grid%nx, dp)*self%grid%nz
    gather%nxs = self%film(1)%n(1)
    gather%nzs = self%film(1)%n(2)
    gather%nsnap = self%pictures
    gather%xs0 = self%ax%x0 + pad(1)*self%ax%h
    gather%zs0 = self%az%x0 + pad(2)*self%az%h
    gather%dxs = self%ax%h*self%scheme%snapshot_step
    gather%dzs = self%az%h*self%scheme%snapshot_step
    gather%dts = self%scheme%snapshot
    gather%snapshots = self%film(1)%a
  end subroutine describe

end module fd2d_traces_m
