!> What rank 0 derived and every rank must have bit for bit: the scheme of the survey. It goes to each rank by itself, and nobody
!> waits for anybody but rank 0: a rank that dies while rank 0 reads the model is missed later.
module share_m
  use kinds_m, only: dp
  use protocol_m, only: Answer, link_t, message_t, MSG_START, Poll, Rest
  use scheme_m, only: scheme_t
  use source3d_m, only: SourceFrom, SourceNumbers
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
        call PackAll(scheme, message)
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
    real(dp) :: nap
    nap = 0
    do while (message%kind /= MSG_START)
      if (.not. Poll(link, message)) call Rest(nap)
    end do
    status = int(message%n(1))
    if (status /= 0) return
    call UnpackAll(message, scheme)
  end subroutine ShareHear

  !> What both have, then what a 3D scheme has besides.
  subroutine PackAll(scheme, message)
    type(scheme_t), intent(in) :: scheme
    type(message_t), intent(inout) :: message
    character, parameter :: nl = achar(10)
    message%text = scheme%components//nl//scheme%variant
    message%places = Packed(scheme)
    message%fields = scheme%q
    if (.not. scheme%dy > 0) return
    message%text = message%text//nl//scheme%planes//nl//scheme%fields
    message%places = [message%places, scheme%dy, scheme%q_band, scheme%q_ref, scheme%qmin, &
                      real(merge(1, 0, [scheme%sponge, scheme%periodic, scheme%one_way, scheme%attenuates, scheme%pgv]), dp), &
                      scheme%pgv_depth, SourceNumbers(scheme%source)]
    if (scheme%source%fault%n > 0) message%fields = [message%fields, scheme%source%fault%rate]
  end subroutine PackAll

  subroutine UnpackAll(message, scheme)
    type(message_t), intent(in) :: message
    type(scheme_t), intent(inout) :: scheme
    character(:), allocatable :: rest
    logical :: on(5)
    integer :: nt
    nt = nint(message%places(23))
    call Unpack(message%places(:30), nt, scheme)
    rest = message%text//achar(10)
    call Cut(scheme%components)
    call Cut(scheme%variant)
    scheme%q = message%fields(:nt)
    if (size(message%places) == 30) return
    call Cut(scheme%planes)
    call Cut(scheme%fields)
    scheme%dy = message%places(31)
    scheme%q_band = message%places(32:33)
    scheme%q_ref = message%places(34)
    scheme%qmin = message%places(35)
    on = message%places(36:40) > 0
    scheme%sponge = on(1)
    scheme%periodic = on(2)
    scheme%one_way = on(3)
    scheme%attenuates = on(4)
    scheme%pgv = on(5)
    scheme%pgv_depth = message%places(41)
    call SourceFrom(message%places(42:), message%fields(nt + 1:), scheme%source)
  contains
    subroutine Cut(word)
      character(:), allocatable, intent(out) :: word
      integer :: p
      p = index(rest, achar(10))
      word = rest(:p - 1)
      rest = rest(p + 1:)
    end subroutine Cut
  end subroutine UnpackAll

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
