!> The trace filters of a job, made once in a process: all shots have the same times, and making them takes as long as some hundred
!> traces.
module trace_filters_m
  use error_m, only: error_t
  use kinds_m, only: dp
  use scheme_m, only: scheme_t
  use time_dispersion_m, only: tracefilter_t, TraceFilterNew
  use trace_bands_m, only: band_t, TraceBands
  implicit none
  private
  public :: filter_t, TraceFilters, TraceFilterBands

  !> Times that a filter is made for.
  type :: times_t
    integer :: nt = 0, nt_out = 0
    real(dp) :: dt = 0, t_start = 0, dt_out = 0, fband = 0
    logical :: time_correction = .false.
  end type times_t

  !> A filter of samples at whole time steps, as pressure is, or of those half a step earlier, as particle velocity is.
  type :: filter_t
    integer :: serial = 0                     !< another one for other times, 0 = not made
    type(tracefilter_t) :: filter
    logical :: as_bands = .false.             !< `band` has it too
    type(band_t) :: band(2)
  end type filter_t

  type(filter_t), target, save :: kept(0:1)
  type(times_t), save :: times                !< they were made for
  integer, save :: made = 0

contains

  !> The filter of samples at whole (which = 0) or half time steps (1). It stays until another scheme asks.
  subroutine TraceFilters(scheme, which, filter, error)
    type(scheme_t), intent(in) :: scheme
    integer, intent(in) :: which
    type(filter_t), pointer, intent(out) :: filter
    type(error_t), allocatable, intent(inout) :: error
    filter => kept(which)
    associate (s => scheme)
      if (.not. SameTimes(s, times)) kept%serial = 0
      times = times_t(s%nt, s%nt_out, s%dt, s%t_start, s%dt_out, s%fband, s%time_correction)
      if (filter%serial > 0) return
      call TraceFilterNew(filter%filter, s%nt, s%dt, s%t_start, merge(0.0_dp, -0.5_dp, which == 0), s%nt_out, s%dt_out, s%fband, &
                          s%time_correction, error)
    end associate
    if (allocated(error)) return
    made = made + 1
    filter%serial = made
    filter%as_bands = .false.
  end subroutine TraceFilters

  !> Makes the filter's bands, for an engine that filters traces itself.
  subroutine TraceFilterBands(filter)
    type(filter_t), intent(inout) :: filter
    if (.not. filter%as_bands) call TraceBands(filter%filter, filter%band)
    filter%as_bands = .true.
  end subroutine TraceFilterBands

  pure logical function SameTimes(a, b)
    type(scheme_t), intent(in) :: a
    type(times_t), intent(in) :: b
    SameTimes = a%nt == b%nt .and. a%dt == b%dt .and. a%t_start == b%t_start .and. a%nt_out == b%nt_out .and. &
                a%dt_out == b%dt_out .and. a%fband == b%fband .and. (a%time_correction .eqv. b%time_correction)
  end function SameTimes

end module trace_filters_m
