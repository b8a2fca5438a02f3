!> What rank 0 derived and every rank must have bit for bit: the scheme of the survey. It goes to each rank by itself, and nobody
!> waits for anybody but rank 0: a rank that dies while rank 0 reads the model is missed later.
module share_m
  use kinds_m, only: dp
  use protocol_m, only: Answer, link_t, message_t, MSG_START, Poll, Rest
  use scheme_m, only: scheme_t
  implicit none
  private
  public :: ShareTell, ShareHear

contains

  !> Rank 0 tells all `ranks` how to model, or, with a `status` other than 0, that there is nothing to do.
  subroutine ShareTell(link, ranks, status, scheme)
    type(link_t), intent(inout) :: link
    integer, intent(in) :: ranks, status
    type(scheme_t), intent(in) :: scheme
    type(message_t) :: message
    integer :: r
    do r = 1, ranks - 1
      message = message_t(kind=MSG_START)
      message%n(1) = status
      if (status == 0) then
        message%places = Packed(scheme)
        message%text = scheme%components//achar(10)//scheme%variant
        message%fields = scheme%q
      end if
      call Answer(link, r, message)
    end do
  end subroutine ShareTell

  !> The other ranks hear it.
  subroutine ShareHear(link, status, scheme)
    type(link_t), intent(inout) :: link
    integer, intent(out) :: status
    type(scheme_t), intent(inout) :: scheme
    type(message_t) :: message
    integer :: p
    real(dp) :: nap
    nap = 0
    do while (message%kind /= MSG_START)
      if (.not. Poll(link, message)) call Rest(nap)
    end do
    status = int(message%n(1))
    if (status /= 0) return
    call Unpack(message%places, size(message%fields), scheme)
    p = index(message%text, achar(10))
    scheme%components = message%text(:p - 1)
    scheme%variant = message%text(p + 1:)
    scheme%q = message%fields
  end subroutine ShareHear

  pure function Packed(scheme) result(x)
    type(scheme_t), intent(in) :: scheme
    real(dp) :: x(30)
    x = [scheme%dx, scheme%dz, scheme%dt, scheme%t_start, scheme%dt_out, scheme%fmax, scheme%fband, scheme%fpeak, &
         scheme%vmin, scheme%vmax, scheme%dt_limit, scheme%ppw, scheme%coeffs_error, scheme%snapshot, scheme%w, &
         real([scheme%nt, scheme%nt_out, scheme%half_length, scheme%npml, scheme%snapshot_step, &
               merge(1, 0, [scheme%free_top, scheme%time_correction, scheme%exact_positions])], dp)]
  end function Packed

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
