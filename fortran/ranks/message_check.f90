!> Checks that a message can be what its kind says, before its numbers are used as sizes and places: ranks of different builds, or
!> bits that flipped on the way, must not bring a rank down.
module message_check_m
  use checked_m, only: Between, CountOf, Finite, IsWhole
  use kinds_m, only: dp, i8, sp
  use protocol_m, only: message_t, MSG_BEAT, MSG_BYE, MSG_DEAD, MSG_DROP, MSG_END, MSG_GATHER, MSG_LEAVE, MSG_LOST, MSG_MEMORY, &
                        MSG_MODEL, MSG_NONE, MSG_NOTE, MSG_PROGRESS, MSG_READY, MSG_REFUSED, MSG_SHOT, MSG_SNAPS, MSG_START, &
                        MSG_STOP, MSG_WRITTEN
  use text_m, only: Str
  implicit none
  private
  public :: MessageProblem

  integer(i8), parameter :: most = huge(1)        !< numbers that become default integers
  integer(i8), parameter :: most_besides = 64     !< of a receiver beside place and channel; a physics has a handful

contains

  !> A phrase that says what is wrong with a message, '' if nothing is. With numbers of workers and shots it is a message to the
  !> master, without these one to a worker.
  pure function MessageProblem(m, nworkers, nshots) result(why)
    type(message_t), intent(in) :: m
    integer, intent(in), optional :: nworkers, nshots
    character(:), allocatable :: why
    logical :: to_master
    why = ''
    if (m%lost) why = 'there is no memory for it'
    if (m%lost) return
    to_master = present(nworkers) .and. present(nshots)
    select case (m%kind)
    case (MSG_READY)
      if (to_master) call Within('worker', m%n(1), 1_i8, int(nworkers, i8), why)
      call Within('threads', m%n(3), 0_i8, most, why)
      if (.not. Between(m%x(1), 0.0_dp, real(huge(1.0_sp), dp))) why = 'a rate that is none'
      if (.not. allocated(m%text)) why = 'the host is missing'
    case (MSG_PROGRESS)
      if (to_master) call Within('worker', m%n(1), 1_i8, int(nworkers, i8), why)
      call Within('record', m%n(2), 0_i8, most, why)
      call Within('waiting', m%n(3), 0_i8, 1_i8, why)
      if (.not. all(Between(m%x(1:2), 0.0_dp, real(most, dp)))) why = 'a fraction done that is none'
    case (MSG_BYE)
      if (to_master) call Within('worker', m%n(1), 1_i8, int(nworkers, i8), why)
      if (.not. all(Finite(m%x(1:3)))) why = 'times that are none'
    case (MSG_LEAVE)
      if (to_master) call Within('worker', m%n(1), 1_i8, int(nworkers, i8), why)
      call Within('signal', m%n(2), 0_i8, most, why)
    case (MSG_DEAD)
      call Within('rank', m%n(1), 1_i8, most, why)
      call Within('process', m%n(2), 0_i8, most, why)
    case (MSG_SHOT)
      call OfPositions(m, why)
    case (MSG_MODEL)
      call OfModel(m, why, nshots)
    case (MSG_MEMORY)
      call OfMemory(m, why, nworkers)
    case (MSG_GATHER)
      call OfGather(m, why, nworkers, nshots)
    case (MSG_SNAPS)
      call OfPictures(m, why, nworkers, nshots)
    case (MSG_LOST)
      call OfShot(m, why)
      if (to_master) call FromWorker(m, nworkers, nshots, why)
      if (.not. allocated(m%text)) why = 'the cause is missing'
    case (MSG_WRITTEN, MSG_REFUSED)
      call OfShot(m, why)
      call Within('kind', m%n(3), int(MSG_NONE, i8), most, why)
      if (.not. allocated(m%text)) why = 'the reason is missing'
    case (MSG_NOTE)
      call Within('kind of sentence', m%n(1), 0_i8, 2_i8, why)
      if (.not. allocated(m%text)) why = 'the sentence is missing'
    case (MSG_DROP)
      call Within('record', m%n(1), 1_i8, most, why)
    case (MSG_START)
      call OfStart(m, why)
    case (MSG_END)
      call Within('exit status', m%n(1), 0_i8, 255_i8, why)
    case (MSG_NONE, MSG_STOP, MSG_BEAT)
      continue
    case default
      why = 'there is no such message'
    end select
  end function MessageProblem

  !> A shot that is dealt, with its receivers and its window.
  pure subroutine OfPositions(m, why)
    type(message_t), intent(in) :: m
    character(:), allocatable, intent(inout) :: why
    call OfShot(m, why)
    call Within('receivers', m%n(3), 1_i8, most, why)
    call Within('numbers besides of a receiver', m%n(9), 0_i8, most_besides, why)
    if (why == '') call Fits('positions', Length(m) - Besides(m), [4_i8, m%n(3)], why)
    if (why == '' .and. m%n(9) > 0) call Fits('numbers besides', Besides(m), [m%n(9), m%n(3) + 1], why)
    call Within('cells of the window along x', m%n(5), 0_i8, most, why)
    call Within('cells of the window along y', m%n(6), 0_i8, most, why)
    call Within('cells of the window along z', m%n(7), 0_i8, most, why)
    call Within('parts of the medium', m%n(8), 0_i8, most, why)
    if (.not. all(Finite(m%x(1:3)))) why = 'a source at no place'
    if (.not. all(Finite(m%x(4:9)))) why = 'a window at no place'
    if (why == '') call Places(m%places(:3*m%n(3)), why)
    if (why == '') call Channels(m%places(3*m%n(3) + 1:4*m%n(3)), why)
    if (why /= '') return
    if (.not. all(Finite(m%places(4*m%n(3) + 1:)))) why = 'numbers besides of a receiver that are none'
  end subroutine OfPositions

  !> Numbers of a shot beside its positions, if these are all there.
  pure integer(i8) function Besides(m)
    type(message_t), intent(in) :: m
    Besides = 0
    if (m%n(9) > 0) Besides = max(0_i8, Length(m) - 4*m%n(3))
  end function Besides

  !> A piece of the medium, or the request for it, which comes with the number of shots.
  pure subroutine OfModel(m, why, nshots)
    type(message_t), intent(in) :: m
    character(:), allocatable, intent(inout) :: why
    integer, intent(in), optional :: nshots
    logical :: to_master
    to_master = present(nshots)
    call OfShot(m, why, to_master)
    if (to_master .and. why == '') call Within('slot', m%n(2), 1_i8, int(nshots, i8), why)
    call Inside('first cell along x', m%n(3), m%n(7), why)
    call Inside('first cell along y', m%n(4), m%n(8), why)
    call Inside('first cell along z', m%n(5), m%n(9), why)
    if (to_master) then
      call Within('memory', m%n(6), 0_i8, most, why)
      call Within('bytes of memory', m%n(10), 0_i8, huge(1_i8), why)
      if (m%n(10) > 0 .and. .not. allocated(m%text)) why = 'the name of memory is missing'
    end if
    if (to_master .or. why /= '') return
    call Fits('samples', Fields(m), [m%n([7, 9, 8]) - m%n([3, 5, 4]) + 1, m%n(6)], why)
  end subroutine OfModel

  !> The traces of a shot; with numbers of workers and shots they come to the master.
  pure subroutine OfGather(m, why, nworkers, nshots)
    type(message_t), intent(in) :: m
    character(:), allocatable, intent(inout) :: why
    integer, intent(in), optional :: nworkers, nshots
    call OfShot(m, why)
    call Within('steps', m%n(6), 0_i8, most, why)
    call Within('memory', m%n(7), 0_i8, most, why)
    if (m%n(7) > 0 .and. .not. associated(m%lent)) why = 'its traces lie in memory that is not known here'
    call Fits('positions', Length(m), [merge(3_i8, 2_i8, Length(m) == CountOf([3_i8, m%n(4)])), m%n(4)], why)
    call Fits('samples', Fields(m), m%n(3:5), why)
    if (present(nworkers) .and. present(nshots)) call FromWorker(m, nworkers, nshots, why)
    if (.not. all(Finite(m%x(1:5)))) why = 'a number of the shot that is none'
    if (why == '') call Places(m%places, why)
    if (.not. HasLine(m)) why = 'the device is missing'
  end subroutine OfGather

  !> Pictures of a shot, likewise.
  pure subroutine OfPictures(m, why, nworkers, nshots)
    type(message_t), intent(in) :: m
    character(:), allocatable, intent(inout) :: why
    integer, intent(in), optional :: nworkers, nshots
    call OfShot(m, why)
    call Fits('samples', Fields(m), m%n(3:5), why)
    if (m%n(6) /= 0) call Films(m, why)
    if (.not. all(Finite(m%x(1:8)))) why = 'pictures at no place'
    if (present(nworkers) .and. present(nshots)) call FromWorker(m, nworkers, nshots, why)
  end subroutine OfPictures

  !> Memory that a worker lends, or the reply, which comes without the number of workers.
  pure subroutine OfMemory(m, why, nworkers)
    type(message_t), intent(in) :: m
    character(:), allocatable, intent(inout) :: why
    integer, intent(in), optional :: nworkers
    if (present(nworkers)) then
      call Within('worker', m%n(1), 1_i8, int(nworkers, i8), why)
      call Within('bytes', m%n(3), 0_i8, huge(1_i8), why)
      if (.not. allocated(m%text)) why = 'the name is missing'
    else
      call Within('yes or no', m%n(1), 0_i8, 1_i8, why)
    end if
    call Within('number', m%n(2), 1_i8, most, why)
  end subroutine OfMemory

  !> What the ranks are told before the first shot; nothing more where the job ends at once.
  pure subroutine OfStart(m, why)
    type(message_t), intent(in) :: m
    character(:), allocatable, intent(inout) :: why
    call Within('exit status', m%n(1), 0_i8, 255_i8, why)
    if (m%n(1) /= 0) return
    call Within('further numbers', m%n(2), 0_i8, most, why)
    if (why == '') call Fits('numbers', Length(m), [30 + m%n(2)], why)
    call Within('samples of a fault', m%n(3), 0_i8, most, why)
    if (Fields(m) < 1) why = 'the source is missing'
    if (.not. HasLine(m)) why = 'the variant is missing'
  end subroutine OfStart

  !> The text of a message has the end of a line.
  pure logical function HasLine(m)
    type(message_t), intent(in) :: m
    HasLine = allocated(m%text)
    if (HasLine) HasLine = index(m%text, achar(10)) > 0
  end function HasLine

  !> Films of a 3D shot: as many numbers as their shapes say, and three words each.
  pure subroutine Films(m, why)
    type(message_t), intent(in) :: m
    character(:), allocatable, intent(inout) :: why
    real(dp) :: total
    integer(i8) :: i, words
    call Within('films', m%n(6), 1_i8, 1000_i8, why)
    if (why == '') call Fits('places', Length(m) - 12, [5_i8, m%n(6)], why)
    if (.not. allocated(m%text)) why = 'the names of films are missing'
    if (why /= '') return
    total = 0
    if (.not. (all(Finite(m%places)) .and. all(IsWhole(m%places(9:11), 1, huge(1))))) why = 'films on no grid'
    do i = 1, m%n(6)
      if (why /= '') return
      associate (of => m%places(12 + 5*i - 4:12 + 5*i - 1))         ! axis, two sides, times
        if (IsWhole(of(1), -1, 3) .and. all(IsWhole(of(2:3), 1, huge(1))) .and. IsWhole(of(4), 0, huge(1))) then
          total = total + of(2)*of(3)*max(1.0_dp, of(4))
        else
          why = 'a film without axis or shape'
        end if
      end associate
    end do
    if (why /= '') return
    words = 0
    do i = 1, len(m%text, i8)
      if (m%text(i:i) == achar(10)) words = words + 1
    end do
    if (total /= real(Fields(m), dp)) why = Str(Fields(m))//' numbers in films of '//Str(total, 12)
    if (words /= 3*m%n(6)) why = 'names of films that are not theirs'
  end subroutine Films

  pure subroutine OfShot(m, why, slot_too)
    type(message_t), intent(in) :: m
    character(:), allocatable, intent(inout) :: why
    logical, intent(in), optional :: slot_too
    call Within('record', m%n(1), 1_i8, most, why)
    if (present(slot_too)) then
      if (.not. slot_too) return
    end if
    call Within('slot', m%n(2), 1_i8, most, why)
  end subroutine OfShot

  pure subroutine FromWorker(m, nworkers, nshots, why)
    type(message_t), intent(in) :: m
    integer, intent(in) :: nworkers, nshots
    character(:), allocatable, intent(inout) :: why
    call Within('slot', m%n(2), 1_i8, int(nshots, i8), why)
    call Within('worker', m%n(12), 1_i8, int(nworkers, i8), why)
  end subroutine FromWorker

  !> Notes the first fault only.
  pure subroutine Within(name, value, lo, hi, why)
    character(*), intent(in) :: name
    integer(i8), intent(in) :: value, lo, hi
    character(:), allocatable, intent(inout) :: why
    if (why /= '' .or. (value >= lo .and. value <= hi)) return
    why = name//' = '//Str(value)//', must be '//Str(lo)//' .. '//Str(hi)
  end subroutine Within

  !> A first and a last cell.
  pure subroutine Inside(name, low, high, why)
    character(*), intent(in) :: name
    integer(i8), intent(in) :: low, high
    character(:), allocatable, intent(inout) :: why
    call Within(name, low, 1_i8, most, why)
    if (why == '') call Within(name, low, 1_i8, min(high, most), why)
    if (why == '') call Within('last cell there', high, low, most, why)
  end subroutine Inside

  !> `found` numbers must be the product of `shape`, which may exceed every integer.
  pure subroutine Fits(name, found, shape, why)
    character(*), intent(in) :: name
    integer(i8), intent(in) :: found, shape(:)
    character(:), allocatable, intent(inout) :: why
    character(:), allocatable :: wanted
    integer :: i
    if (why /= '') return
    wanted = ''
    do i = 1, size(shape)
      if (shape(i) < 1 .or. shape(i) > most) why = Str(shape(i))//' '//name//' along a side'
      wanted = wanted//' x '//Str(shape(i))
    end do
    if (why == '' .and. CountOf(shape) /= found) why = Str(found)//' '//name//', must be'//wanted(3:)
  end subroutine Fits

  pure subroutine Channels(x, why)
    real(dp), intent(in) :: x(:)
    character(:), allocatable, intent(inout) :: why
    if (.not. all(Between(x, -real(most, dp), real(most, dp)))) why = 'a channel number that is none'
  end subroutine Channels

  pure subroutine Places(x, why)
    real(dp), intent(in) :: x(:)
    character(:), allocatable, intent(inout) :: why
    if (.not. all(Finite(x))) why = 'a position that is none'
  end subroutine Places

  pure integer(i8) function Length(m)
    type(message_t), intent(in) :: m
    Length = 0
    if (allocated(m%places)) Length = size(m%places, kind=i8)
  end function Length

  pure integer(i8) function Fields(m)
    type(message_t), intent(in) :: m
    Fields = 0
    if (allocated(m%fields)) Fields = size(m%fields, kind=i8)
    if (associated(m%lent)) Fields = size(m%lent, kind=i8)
  end function Fields

end module message_check_m
