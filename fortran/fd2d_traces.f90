!> From the samples of every time step to the traces of a gather.
module fd2d_traces_m
  use error_m, only: error_t, Fail
  use fd2d_engine_m, only: field_sigma
  use fd2d_loop_m, only: Fd2dFinish
  use fd2d_state_m, only: fd2d_state_t
  use gather_m, only: gather_t
  use kinds_m, only: dp, sp
  use scheme_m, only: SchemePad
  use text_m, only: Str
  use threads_m, only: ThreadsOf
  use timedisp_m, only: TraceFilterApply, TraceFilterNew
  implicit none
  private
  public :: Fd2dTraces

contains

  !> Traces of the finished time loop at the output sampling, corrected for time dispersion, with all that is to be said of them.
  subroutine Fd2dTraces(self, gather, error)
    class(fd2d_state_t), intent(inout) :: self
    type(gather_t), intent(inout) :: gather
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: raw(:, :)
    integer :: c, nrec
    if (.not. allocated(self%engine) .or. self%steps < self%scheme%nt) then
      call Fail(error, 'traces asked for after step '//Str(self%steps)//' of '//Str(self%scheme%nt))
      return
    end if
    call Fd2dFinish(self, error)
    if (.not. allocated(error)) call MakeFilters(self, error)
    if (allocated(error)) return
    nrec = size(self%shot%rx)
    allocate (raw(self%scheme%nt, nrec*size(self%fields)))
    call self%engine%traces(1, raw, error)
    if (allocated(error)) return
    call AddNearfield(self, raw)
    call Describe(self, gather)
    if (allocated(gather%traces)) deallocate (gather%traces)
    allocate (gather%traces(self%scheme%nt_out, nrec, size(self%fields)))
    do c = 1, size(self%fields)
      associate (samples => raw(:, (c - 1)*nrec + 1:c*nrec))
        if (self%fields(c) == field_sigma) then
          call TraceFilterApply(self%filter_p, samples, gather%traces(:, :, c), ThreadsOf(self%grid%threads))
        else
          call TraceFilterApply(self%filter_v, samples, gather%traces(:, :, c), ThreadsOf(self%grid%threads))
        end if
      end associate
    end do
    gather%traces = scale(gather%traces, self%exponent2)
    if (.not. all(abs(gather%traces) <= huge(1.0_sp))) &
      call Fail(error, 'the traces are too large for single precision: make amplitude smaller')
  end subroutine Fd2dTraces

  !> The near field follows the source at once: pressure Q'(t) at step n, velocity Q(t) at step n-½.
  subroutine AddNearfield(self, raw)
    class(fd2d_state_t), intent(in) :: self
    real(sp), intent(inout) :: raw(:, :)
    real(sp) :: q(size(raw, 1))
    integer :: j, nrec
    q = scale(self%scheme%q, -self%exponent2)
    nrec = size(self%shot%rx)
    do j = 1, size(raw, 2)
      if (abs(self%near(j)) <= 0) cycle
      if (self%fields((j - 1)/nrec + 1) == field_sigma) then
        raw(:, j) = raw(:, j) + real(self%near(j)/self%grid%dt, sp)*(eoshift(q, 1) - q)
      else
        raw(:, j) = raw(:, j) + real(self%near(j), sp)*q
      end if
    end do
  end subroutine AddNearfield

  subroutine MakeFilters(self, error)
    class(fd2d_state_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    associate (s => self%scheme, f => self%filter_scheme)
      if (s%nt == f%nt .and. s%dt == f%dt .and. s%t_start == f%t_start .and. s%nt_out == f%nt_out .and. s%dt_out == f%dt_out &
          .and. s%fband == f%fband .and. s%components == f%components .and. (s%time_correction .eqv. f%time_correction)) return
      if (any(self%fields == field_sigma)) &
        call TraceFilterNew(self%filter_p, s%nt, s%dt, s%t_start, 0.0_dp, s%nt_out, s%dt_out, s%fband, s%time_correction, error)
      if (any(self%fields /= field_sigma)) &
        call TraceFilterNew(self%filter_v, s%nt, s%dt, s%t_start, -0.5_dp, s%nt_out, s%dt_out, s%fband, s%time_correction, error)
    end associate
    if (.not. allocated(error)) self%filter_scheme = self%scheme
  end subroutine MakeFilters

  !> Everything of the gather but the traces.
  subroutine Describe(self, gather)
    class(fd2d_state_t), intent(in) :: self
    type(gather_t), intent(inout) :: gather
    integer :: pad(2)
    pad = SchemePad(self%scheme)
    gather%record = self%shot%record
    gather%slot = self%shot%slot
    gather%nt = self%scheme%nt_out
    gather%nrec = size(self%shot%rx)
    gather%ncomp = size(self%fields)
    gather%sx = self%shot%sx
    gather%sz = self%shot%sz
    gather%rx = self%shot%rx
    gather%rz = self%shot%rz
    gather%seconds = self%seconds
    gather%steps = self%steps
    gather%cells = real(self%grid%nx, dp)*self%grid%nz
    gather%variant = self%variant
    gather%device = self%engine%device()
    gather%nxs = size(self%snapshots, 1)
    gather%nzs = size(self%snapshots, 2)
    gather%nsnap = size(self%snapshots, 3)
    gather%xs0 = self%ax%x0 + pad(1)*self%ax%h
    gather%zs0 = self%az%x0 + pad(2)*self%az%h
    gather%dxs = self%ax%h*self%scheme%snapshot_step
    gather%dzs = self%az%h*self%scheme%snapshot_step
    gather%dts = self%scheme%snapshot
    gather%snapshots = self%snapshots
  end subroutine Describe

end module fd2d_traces_m
