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
  public :: filter_t, TraceFilters

  !> Of pressure, or of particle velocity, which stands half a step earlier.
  type :: filter_t
    integer :: serial = 0                     !< another one for other times, 0 = not made
    type(tracefilter_t) :: filter
    type(band_t) :: band(2)                   !< the same as bands
  end type filter_t

  type(filter_t), target, save :: kept(0:1)
  type(scheme_t), save :: times               !< they were made for
  integer, save :: made = 0

contains

  !> The filter for pressure (which = 0) or velocity (1). It stays until another scheme asks.
  subroutine TraceFilters(scheme, which, filter, error)
    type(scheme_t), intent(in) :: scheme
    integer, intent(in) :: which
    type(filter_t), pointer, intent(out) :: filter
    type(error_t), allocatable, intent(inout) :: error
    filter => kept(which)
    if (.not. SameTimes(scheme, times)) kept%serial = 0
    times = scheme
    if (filter%serial > 0) return
    associate (s => scheme)
      call TraceFilterNew(filter%filter, s%nt, s%dt, s%t_start, merge(0.0_dp, -0.5_dp, which == 0), s%nt_out, s%dt_out, s%fband, &
                          s%time_correction, error)
    end associate
    if (allocated(error)) return
    if (scheme%nt > 0) call TraceBands(filter%filter, filter%band)
    made = made + 1
    filter%serial = made
  end subroutine TraceFilters

  pure logical function SameTimes(a, b)
    type(scheme_t), intent(in) :: a, b
    SameTimes = a%nt == b%nt .and. a%dt == b%dt .and. a%t_start == b%t_start .and. a%nt_out == b%nt_out .and. &
                a%dt_out == b%dt_out .and. a%fband == b%fband .and. (a%time_correction .eqv. b%time_correction)
  end function SameTimes

end module trace_filters_m
