!> What rank 0 derived and every rank must have bit for bit: the scheme of the survey.
module share_m
  use kinds_m, only: dp
  use mpi_f08, only: MPI_Comm, MPI_Comm_rank
  use protocol_m, only: BroadcastFields, BroadcastInteger, BroadcastReals, BroadcastText
  use scheme_m, only: scheme_t
  implicit none
  private
  public :: ShareScheme

contains

  !> Rank 0's scheme to all ranks of `comm`.
  subroutine ShareScheme(comm, scheme)
    type(MPI_Comm), intent(in) :: comm
    type(scheme_t), intent(inout) :: scheme
    real(dp) :: x(30)
    integer :: rank, nq
    call MPI_Comm_rank(comm, rank)
    nq = 0
    if (rank == 0) then
      nq = size(scheme%q)
      x = [scheme%dx, scheme%dz, scheme%dt, scheme%t_start, scheme%dt_out, scheme%fmax, scheme%fband, scheme%fpeak, &
           scheme%vmin, scheme%vmax, scheme%dt_limit, scheme%ppw, scheme%coeffs_error, scheme%snapshot, scheme%w, &
           real([scheme%nt, scheme%nt_out, scheme%half_length, scheme%npml, scheme%snapshot_step, &
                 merge(1, 0, [scheme%free_top, scheme%time_correction, scheme%exact_positions])], dp)]
    else
      scheme%components = ''
      scheme%variant = ''
    end if
    call BroadcastInteger(comm, nq)
    call BroadcastReals(comm, x)
    call BroadcastText(comm, scheme%components)
    call BroadcastText(comm, scheme%variant)
    if (rank /= 0) call Unpack(x, nq, scheme)
    call BroadcastFields(comm, scheme%q)
  end subroutine ShareScheme

  subroutine Unpack(x, nq, scheme)
    real(dp), intent(in) :: x(30)
    integer, intent(in) :: nq
    type(scheme_t), intent(inout) :: scheme
    integer :: n(8)
    scheme%dx = x(1)
    scheme%dz = x(2)
    scheme%dt = x(3)
    scheme%t_start = x(4)
    scheme%dt_out = x(5)
    scheme%fmax = x(6)
    scheme%fband = x(7)
    scheme%fpeak = x(8)
    scheme%vmin = x(9)
    scheme%vmax = x(10)
    scheme%dt_limit = x(11)
    scheme%ppw = x(12)
    scheme%coeffs_error = x(13)
    scheme%snapshot = x(14)
    scheme%w = x(15:22)
    n = nint(x(23:30))
    scheme%nt = n(1)
    scheme%nt_out = n(2)
    scheme%half_length = n(3)
    scheme%npml = n(4)
    scheme%snapshot_step = n(5)
    scheme%free_top = n(6) == 1
    scheme%time_correction = n(7) == 1
    scheme%exact_positions = n(8) == 1
    allocate (scheme%q(nq))
  end subroutine Unpack

end module share_m
