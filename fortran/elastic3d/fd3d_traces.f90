!> From the samples of every time step of a 3D shot to the traces of a gather.
module fd3d_traces_m
  use error_m, only: error_t
  use fd3d_loop_m, only: fd3d_loop_t
  use fd3d_nearfield_m, only: Fd3dNearAdd
  use gather_m, only: gather_t
  use kinds_m, only: dp, sp
  use time_dispersion_m, only: TraceFilterApply, TraceFilterNew
  implicit none
  private
  public :: fd3d_traces_t

  type, abstract, extends(fd3d_loop_t) :: fd3d_traces_t
  contains
    procedure :: make_traces, describe
  end type fd3d_traces_t

contains

  subroutine make_traces(self, traces, error)
    class(fd3d_traces_t), intent(inout) :: self
    real(sp), contiguous, intent(out) :: traces(:, :, :)
    type(error_t), allocatable, intent(inout) :: error
    real(sp), allocatable :: raw(:, :)
    integer :: c, nrec
    call MakeFilters(self, error)
    if (allocated(error)) return
    nrec = size(traces, 2)
    allocate (raw(self%scheme%nt, nrec*size(self%at_whole)))
    call self%engine%traces(1, raw, error)
    if (allocated(error)) return
    do c = 1, size(self%at_whole)
      associate (samples => raw(:, (c - 1)*nrec + 1:c*nrec))
        call Fd3dNearAdd(self, c, samples)
        if (self%at_whole(c)) then
          call TraceFilterApply(self%filter_s, samples, traces(:, :, c), self%team%threads)
        else
          call TraceFilterApply(self%filter_v, samples, traces(:, :, c), self%team%threads)
        end if
      end associate
    end do
  end subroutine make_traces

  subroutine MakeFilters(self, error)
    class(fd3d_traces_t), intent(inout) :: self
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

  subroutine describe(self, gather)
    class(fd3d_traces_t), intent(in) :: self
    type(gather_t), intent(inout) :: gather
    gather%ncomp = size(self%at_whole)
    gather%sy = self%shot%sy
    gather%ry = self%shot%ry
    gather%cells = product(real(self%grid%n, dp))
    gather%nsnap = size(self%film)
    if (allocated(gather%film)) deallocate (gather%film)
    if (gather%nsnap == 0) return
    gather%film = self%film
    gather%nf = self%nf
    gather%df = self%grid%d*self%scheme%snapshot_step
    gather%xf = self%corner + (self%pad + 0.5_dp)*self%grid%d
    gather%tf = self%scheme%t_start + (self%first_picture - 0.5_dp)*self%scheme%dt
    gather%dtf = self%every*self%scheme%dt
  end subroutine describe

end module fd3d_traces_m
