!> Traces of a 2D shot where they differ from those of every time loop: an engine that has the samples in a GPU's memory filters
!> them there; and what the grid lacks close to the source is added. Arguments stand in fd2d.f90.
submodule(fd2d_m) fd2d_traces
  use time_dispersion_m, only: TraceFilterApply
  use trace_filters_m, only: filter_t, TraceFilterBands, TraceFilters
  implicit none

contains

  module procedure make_traces
    if (self%engine%filters() .and. self%scheme%nt > 0) then
      call FilterThere(self, traces, error)
    else
      call LoopTraces(self, traces, error)
    end if
  end procedure make_traces

  !> The engine filters the samples; only what is written comes home.
  subroutine FilterThere(self, traces, error)
    class(fd2d_t), intent(inout) :: self
    real(sp), contiguous, intent(inout) :: traces(:, :, :)
    type(error_t), allocatable, intent(inout) :: error
    type(filter_t), pointer :: filter
    real(sp) :: near(self%scheme%nt_out, 1)
    integer :: c, r, n, which
    n = size(traces, 2)
    do c = 1, size(self%fields)
      which = merge(0, 1, self%at_whole(c))
      call TraceFilters(self%scheme, which, filter, error)
      if (allocated(error)) return
      if (self%given(which) /= filter%serial) then
        call TraceFilterBands(filter)
        call self%engine%filter(which, filter%band, error)
        if (allocated(error)) return
        self%given(which) = filter%serial
      end if
      call self%engine%filtered(which, (c - 1)*n + 1, traces(:, :, c), error)
      if (allocated(error)) return
      call AddBeside(self, which, (c - 1)*n, traces(:, :, c), error)
      if (allocated(error)) return
      associate (weights => self%near(:, c))
        if (all(abs(weights) <= 0)) cycle
        call TraceFilterApply(filter%filter, reshape(NearSeries(self, c), [self%scheme%nt, 1]), near)
        do r = 1, n
          if (abs(weights(r)) > 0) traces(:, r, c) = traces(:, r, c) + NearWeight(self, r, c)*near(:, 1)
        end do
      end associate
    end do
  end subroutine FilterThere

  !> Adds what traces from + 1 .. from + size(traces, 2) have beside them, filtered there.
  subroutine AddBeside(self, which, from, traces, error)
    class(fd2d_t), intent(inout) :: self
    integer, intent(in) :: which, from
    real(sp), contiguous, intent(inout) :: traces(:, :)
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: beside(:, :)
    integer :: first, n, b
    n = count(self%whose > from .and. self%whose <= from + size(traces, 2))
    if (n == 0) return
    first = findloc(self%whose > from, .true., 1)
    allocate (beside(size(traces, 1), n))
    call self%engine%filtered(which, size(self%shot%rx)*size(self%fields) + first, beside, error)
    if (allocated(error)) return
    do b = 1, n
      associate (trace => traces(:, self%whose(first + b - 1) - from))
        trace = trace + beside(:, b)
      end associate
    end do
  end subroutine AddBeside

  !> The samples of the traces asked for, with what is beside them.
  module procedure WithBeside
    integer :: b
    call self%engine%traces(1, raw, error)
    if (allocated(error)) return
    do b = 1, self%beside
      raw(:, self%whose(b)) = raw(:, self%whose(b)) + raw(:, size(raw, 2) - self%beside + b)
    end do
  end procedure WithBeside

  !> Adds the near field to the samples (nt, receivers) of component c.
  module procedure add_near
    integer :: r
    do r = 1, size(samples, 2)
      if (abs(self%near(r, c)) > 0) samples(:, r) = samples(:, r) + NearWeight(self, r, c)*NearSeries(self, c)
    end do
  end procedure add_near

  !> The near field follows the source at once: pressure Q'(t) at step n, velocity Q(t) at step n-½.
  function NearSeries(self, c) result(series)
    class(fd2d_t), intent(in) :: self
    integer, intent(in) :: c
    real(sp) :: series(self%scheme%nt)
    series = scale(self%scheme%q, -self%exponent2)
    if (self%at_whole(c)) series = eoshift(series, 1) - series
  end function NearSeries

  !> The part of it that receiver r has in component c.
  pure real(sp) function NearWeight(self, r, c) result(weight)
    class(fd2d_t), intent(in) :: self
    integer, intent(in) :: r, c
    weight = real(self%near(r, c), sp)
    if (self%at_whole(c)) weight = real(self%near(r, c)/self%grid%dt, sp)
  end function NearWeight

end submodule fd2d_traces
