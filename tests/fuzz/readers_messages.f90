!> The readers of messages between ranks, behind the door of readers.f90.
module readers_messages_m
  use acoustic2d_m, only: acoustic2d_t
  use checked_m, only: Whole
  use elastic3d_m, only: elastic3d_t
  use error_m, only: error_t
  use gather_m, only: gather_t
  use iso_c_binding, only: c_int
  use kinds_m, only: dp, i8
  use message_check_m, only: MessageProblem
  use shot_messages_m, only: GatherFrom, ModelFrom, ChecksumMessage, ShotFrom, SnapsFrom, VerdictFrom, WindowFrom
  use protocol_m, only: message_t, MSG_GATHER, MSG_MODEL, MSG_SHOT, MSG_SNAPS, MSG_START, MSG_WRITTEN
  use readerparts_m, only: Contradiction, refused, Split, taken, Verdict
  use scheme_m, only: scheme_t
  use shot_m, only: shot_t
  use scheme_message_m, only: SchemeFrom, SchemeMessage
  use textfile_m, only: IntegerOf, NumberOf
  use window_m, only: box_t, window_t
  implicit none
  private
  public :: Messages, Start

  type(acoustic2d_t), target :: acoustic2d
  type(elastic3d_t), target :: elastic3d

contains

  !> A message as text: kind, how many positions and samples come with it, its numbers; behind the separator its text, behind the
  !> next its reals, then the positions, which repeat (TakeReals). A message found sound must be understood, on either side, without
  !> a check failing. A checksum of 0 becomes the right one.
  integer(c_int) function Messages(input) result(outcome)
    character(*), intent(in) :: input
    type(message_t) :: m
    type(shot_t) :: shot
    type(window_t) :: window
    type(gather_t) :: gather
    type(error_t), allocatable :: error
    character(:), allocatable :: head, words, rest, reals_text
    integer(i8) :: number(3 + size(m%n))
    real(dp) :: reals(60)
    type(box_t) :: box
    integer :: record, slot, kind, last, n, i
    logical :: flag
    call Split(input, head, rest)
    call Split(rest, words, reals_text)
    call TakeNumbers(head, number)
    call TakeReals(reals_text, reals, n)
    m%kind = int(max(-2_i8, min(99_i8, number(1))))
    m%n = number(4:)
    m%x = 1
    m%x(:min(n, size(m%x))) = reals(:min(n, size(m%x)))
    allocate (m%places(max(0_i8, min(3000_i8, number(2)))), m%fields(max(0_i8, min(3000_i8, number(3)))))
    n = max(1, n - size(m%x))
    if (n > 1) m%places = [(reals(size(m%x) + 1 + mod(i - 1, n)), i=1, size(m%places))]
    if (n == 1) m%places = 7
    m%fields = 1
    m%text = words
    if (m%n(11) == 0) call ChecksumMessage(m)
    outcome = refused
    last = 0
    if (MessageProblem(m) == '') then
      outcome = taken
      if (m%kind == MSG_SHOT) call ShotFrom(m, shot, window, flag, error)
      if (m%kind == MSG_MODEL) call WindowFrom(m, box_t(1, 20), 1, window, last, flag, error)
      if (m%kind == MSG_WRITTEN) call VerdictFrom(m, kind, record, slot)
    end if
    if (MessageProblem(m, 3, 5) == '') then
      outcome = taken
      if (m%kind == MSG_MODEL) call ModelFrom(m, record, slot, box)
      if (m%kind == MSG_SNAPS) call SnapsFrom(m, gather, error)
      if (m%kind == MSG_GATHER) call GatherFrom(m, gather, error)
      if (m%kind == MSG_GATHER .and. (gather%slot < 1 .or. gather%slot > 5)) outcome = Contradiction('a slot of no shot')
    end if
    if (allocated(error) .and. outcome == taken) outcome = refused
  end function Messages

  !> START as text: exit status, samples of the source and of a fault, then its numbers; behind the separator components, variant and
  !> the words of a 3D scheme. A START that is taken must give a scheme that makes the same START again.
  integer(c_int) function Start(input) result(outcome)
    character(*), intent(in) :: input
    type(message_t) :: m, back
    class(scheme_t), allocatable :: scheme
    type(error_t), allocatable :: error
    character(:), allocatable :: head, words
    real(dp) :: number(200)
    integer :: status, n
    call Split(input, head, words)
    call TakeReals(head, number, n)
    m = message_t(kind=MSG_START, text=words)
    allocate (m%places, source=number(4:max(3, n)))
    m%n(1:3) = [Whole(number(1)), max(0, n - 33), Whole(number(3))]
    allocate (m%fields(Whole(number(2), 0, 3000)), source=1.0)
    call ChecksumMessage(m)
    outcome = refused
    if (MessageProblem(m) /= '') return
    call elastic3d%introduce()
    call acoustic2d%introduce()
    if (m%n(2) > 0) then
      call elastic3d%new_scheme(scheme)
      call SchemeFrom(m, elastic3d, status, scheme, error)
    else
      call acoustic2d%new_scheme(scheme)
      call SchemeFrom(m, acoustic2d, status, scheme, error)
    end if
    outcome = Verdict(error)
    if (outcome /= taken .or. status /= 0) return
    call SchemeMessage(0, scheme, back)
    if (size(back%places) /= size(m%places) .or. any(abs(back%places - m%places) > 0) .or. back%text /= m%text .or. scheme%half_length < 1 .or. scheme%nt < 1) &
      outcome = Contradiction('a scheme that is another one')
  end function Start

  !> Whole numbers between blanks; what is none is 0.
  subroutine TakeNumbers(line, number)
    character(*), intent(in) :: line
    integer(i8), intent(out) :: number(:)
    character(:), allocatable :: rest
    integer :: i
    logical :: ok
    rest = line
    number = 0
    do i = 1, size(number)
      if (rest == '') return
      call IntegerOf(NextWord(rest), number(i), ok)
    end do
  end subroutine TakeNumbers

  !> The same for the first `n` real numbers; n, s and i are NaN, a signalling one, and infinity.
  subroutine TakeReals(line, number, n)
    character(*), intent(in) :: line
    real(dp), intent(out) :: number(:)
    integer, intent(out) :: n
    character(:), allocatable :: rest, word
    logical :: ok
    rest = line
    number = 0
    do n = 0, size(number) - 1
      if (rest == '') return
      word = NextWord(rest)
      call NumberOf(word, number(n + 1), ok)
      if (.not. ok .and. word == 'n') number(n + 1) = transfer(int(z'7ff8000000000000', i8), 0.0_dp)
      if (.not. ok .and. word == 's') number(n + 1) = transfer(int(z'7ff0000000000001', i8), 0.0_dp)
      if (.not. ok .and. word == 'i') number(n + 1) = transfer(int(z'7ff0000000000000', i8), 0.0_dp)
    end do
  end subroutine TakeReals

  !> Takes the first word away from a line that is not empty.
  function NextWord(rest) result(word)
    character(:), allocatable, intent(inout) :: rest
    character(:), allocatable :: word
    integer :: last
    rest = rest(verify(rest, ' '):)
    last = index(rest//' ', ' ') - 1
    word = rest(:last)
    rest = rest(last + 1:)
  end function NextWord

end module readers_messages_m
