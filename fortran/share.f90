!> How to model goes from rank 0 to every rank by itself, and nobody waits for anybody but rank 0: a rank that dies while rank 0 reads
!> the model is missed later.
module share_m
  use error_m, only: error_t, Fail
  use kinds_m, only: dp
  use lettercheck_m, only: LetterFault
  use protocol_m, only: Answer, link_t, message_t, MSG_START, Poll, Rest
  use scheme_m, only: scheme_t
  use startletter_m, only: StartFrom, StartLetter
  use text_m, only: Str
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
      message = message_t()
      call StartLetter(status, scheme, message)
      call Answer(link, r, message)
    end do
  end subroutine ShareTell

  !> The other ranks hear it. Fails where what they hear cannot be.
  subroutine ShareHear(link, status, scheme, error)
    type(link_t), intent(inout) :: link
    integer, intent(out) :: status
    type(scheme_t), intent(inout) :: scheme
    type(error_t), allocatable, intent(inout) :: error
    type(message_t) :: message
    character(:), allocatable :: why
    real(dp) :: nap
    nap = 0
    do while (.not. Poll(link, message))
      call Rest(nap)
    end do
    status = 0
    why = LetterFault(message)
    if (message%kind /= MSG_START) why = 'it is no beginning'
    if (why == '') then
      call StartFrom(message, status, scheme, error)
    else
      call Fail(error, 'the first message of rank 0, '//Str(message%kind)//', is not used: '//why// &
                '; all nodes must run the same build')
    end if
  end subroutine ShareHear

end module share_m
