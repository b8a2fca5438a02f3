!> What comes home of a shot: the samples of all steps become traces at the output sampling. Arguments stand in timeloop.f90.
submodule(timeloop_m) timeloop_gather
  use error_m, only: Fail
  use text_m, only: Str
  use time_dispersion_m, only: TraceFilterApply
  use trace_filters_m, only: filter_t, TraceFilters
  implicit none

contains

  module procedure LoopGather
    class(engine_t), pointer :: engine
    engine => self%any_engine()
    if (.not. associated(engine) .or. self%steps < self%scheme%nt) then
      call Fail(error, 'traces asked for after step '//Str(self%steps)//' of '//Str(self%scheme%nt))
      return
    end if
    call Finish(self, error)
    if (allocated(error)) return
    gather%record = self%shot%record
    gather%slot = self%shot%slot
    gather%nt = self%scheme%nt_out
    gather%nrec = size(self%shot%rx)
    gather%ncomp = size(self%at_whole)
    gather%sx = self%shot%sx
    gather%sz = self%shot%sz
    gather%rx = self%shot%rx
    gather%rz = self%shot%rz
    gather%seconds = self%seconds
    gather%steps = self%steps
    gather%variant = self%variant
    gather%device = engine%device()
    call self%describe(gather)
    if (allocated(gather%traces)) deallocate (gather%traces)
    allocate (gather%traces(gather%nt, gather%nrec, merge(gather%ncomp, 0, self%gathers())))
    call self%make_traces(gather%traces, error)
    if (allocated(error)) return
    gather%traces = real(gather%traces*2.0_dp**self%exponent2, sp)
    if (count(abs(gather%traces) <= huge(1.0_sp), kind=i8) < size(gather%traces, kind=i8)) &
      call Fail(error, 'the traces are too large for single precision: make amplitude smaller')
  end procedure LoopGather

  module procedure LoopTraces
    type(filter_t), pointer :: filter
    real(sp), allocatable :: raw(:, :)
    integer :: c, nrec
    nrec = size(traces, 2)
    allocate (raw(self%scheme%nt, nrec*size(traces, 3) + merge(self%beside, 0, self%gathers())))
    call self%samples(raw, error)
    do c = 1, size(traces, 3)
      if (.not. allocated(error)) call TraceFilters(self%scheme, merge(0, 1, self%at_whole(c)), filter, error)
      if (allocated(error)) return
      associate (samples => raw(:, (c - 1)*nrec + 1:c*nrec))
        call self%add_near(c, samples)
        call TraceFilterApply(filter%filter, samples, traces(:, :, c), self%team%threads)
      end associate
    end do
  end procedure LoopTraces

  module procedure EngineSamples
    class(engine_t), pointer :: engine
    engine => self%any_engine()
    call engine%traces(1, raw, error)
  end procedure EngineSamples

end submodule timeloop_gather
