!> From the samples of every time step of a 3D shot to the traces of a gather.
module fd3d_traces_m
  use error_m, only: error_t, Fail
  use fd3d_loop_m, only: Fd3dFinish
  use fd3d_near_m, only: Fd3dNearAdd
  use fd3d_state_m, only: fd3d_state_t
  use gather_m, only: gather_t
  use kinds_m, only: dp, sp
  use text_m, only: Str
  use threads_m, only: ThreadsOf
  use timedisp_m, only: TraceFilterApply, TraceFilterNew
  implicit none
  private
  public :: Fd3dTraces

contains

  !> Traces of the finished time loop at the output sampling, corrected for time dispersion, with all that is to be said of them.
  subroutine Fd3dTraces(self, gather, error)
    class(fd3d_state_t), intent(inout) :: self
    type(gather_t), intent(inout) :: gather
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: raw(:, :)
    integer :: c, nrec
    if (.not. allocated(self%engine) .or. self%steps < self%scheme%nt) then
      call Fail(error, 'traces asked for after step '//Str(self%steps)//' of '//Str(self%scheme%nt))
      return
    end if
    call Fd3dFinish(self, error)
    if (.not. allocated(error)) call MakeFilters(self, error)
    if (allocated(error)) return
    nrec = size(self%shot%rx)
    allocate (raw(self%scheme%nt, nrec*size(self%at_whole)))
    call self%engine%traces(1, raw, error)
    if (allocated(error)) return
    call Describe(self, gather)
    if (allocated(gather%traces)) deallocate (gather%traces)
    allocate (gather%traces(self%scheme%nt_out, nrec, size(self%at_whole)))
    do c = 1, size(self%at_whole)
      associate (samples => raw(:, (c - 1)*nrec + 1:c*nrec))
        call Fd3dNearAdd(self, c, samples)
        if (self%at_whole(c)) then
          call TraceFilterApply(self%filter_s, samples, gather%traces(:, :, c), ThreadsOf(self%grid%threads))
        else
          call TraceFilterApply(self%filter_v, samples, gather%traces(:, :, c), ThreadsOf(self%grid%threads))
        end if
      end associate
    end do
    gather%traces = scale(gather%traces, self%exponent2)
    if (.not. all(abs(gather%traces) <= huge(1.0_sp))) &
      call Fail(error, 'the traces are too large for single precision: make amplitude smaller')
  end subroutine Fd3dTraces

  subroutine MakeFilters(self, error)
    class(fd3d_state_t), intent(inout) :: self
    type(error_t), allocatable, intent(inout) :: error
    associate (s => self%scheme, f => self%filter_scheme)
      if (s%nt == f%nt .and. s%dt == f%dt .and. s%t_start == f%t_start .and. s%nt_out == f%nt_out .and. s%dt_out == f%dt_out &
          .and. s%fband == f%fband .and. s%components == f%components .and. (s%time_correction .eqv. f%time_correction)) return
      if (any(self%at_whole)) &
        call TraceFilterNew(self%filter_s, s%nt, s%dt, s%t_start, 0.0_dp, s%nt_out, s%dt_out, s%fband, s%time_correction, error)
      if (.not. all(self%at_whole)) &
        call TraceFilterNew(self%filter_v, s%nt, s%dt, s%t_start, -0.5_dp, s%nt_out, s%dt_out, s%fband, s%time_correction, error)
    end associate
    if (.not. allocated(error)) self%filter_scheme = self%scheme
  end subroutine MakeFilters

  !> Everything of the gather but the traces.
  subroutine Describe(self, gather)
    class(fd3d_state_t), intent(in) :: self
    type(gather_t), intent(inout) :: gather
    gather%record = self%shot%record
    gather%slot = self%shot%slot
    gather%nt = self%scheme%nt_out
    gather%nrec = size(self%shot%rx)
    gather%ncomp = size(self%at_whole)
    gather%sx = self%shot%sx
    gather%sy = self%shot%sy
    gather%sz = self%shot%sz
    gather%rx = self%shot%rx
    gather%ry = self%shot%ry
    gather%rz = self%shot%rz
    gather%seconds = self%seconds
    gather%steps = self%steps
    gather%cells = product(real(self%grid%n, dp))
    gather%variant = self%variant
    gather%device = self%engine%device()
    gather%nsnap = size(self%film)
    if (allocated(gather%film)) deallocate (gather%film)
    if (gather%nsnap == 0) return
    gather%film = self%film
    gather%nf = self%nf
    gather%df = self%grid%d*self%scheme%snapshot_step
    gather%xf = self%corner + (self%pad + 0.5_dp)*self%grid%d
    gather%tf = self%scheme%t_start + (self%first_picture - 0.5_dp)*self%scheme%dt
    gather%dtf = self%every*self%scheme%dt
  end subroutine Describe

end module fd3d_traces_m
