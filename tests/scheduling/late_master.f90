!> A master that answers late and out of order, and a GPU that fails on demand, for a worker with several shots in flight.
module late_master_m
  use, intrinsic :: iso_fortran_env, only: int8
  use error_m, only: error_t, Fail
  use gather_m, only: gather_t
  use kinds_m, only: dp, i8, sp
  use shot_messages_m, only: GatherFrom, ModelFrom, ShotMessage, VerdictMessage, WindowMessage
  use protocol_m, only: listener_t, message_t, MSG_BYE, MSG_DROP, MSG_GATHER, MSG_LEAVE, MSG_LOST, MSG_MODEL, MSG_NONE, MSG_NOTE, &
                        MSG_READY, MSG_SHOT, MSG_STOP
  use scheme_m, only: scheme_t
  use shot_m, only: shot_t
  use solver_m, only: solver_t
  use window_m, only: box_t, window_t
  implicit none
  private
  public :: office_t, device_t, fails_setup, fails_step, need_bytes, room_for, most_flying, most_stepping, set_up, stepped

  !> Deals `shots` and keeps what comes back. Answers wait in a stack: the newest goes out first, one a poll, every third poll.
  type, extends(listener_t) :: office_t
    type(shot_t), allocatable :: shots(:)
    type(window_t), allocatable :: windows(:)       !< (shots)
    type(gather_t), allocatable :: gathers(:)       !< (shots)
    integer, allocatable :: status(:)               !< 0 to do, 1 with the worker, 2 done
    type(message_t), allocatable :: due(:)
    integer :: polls = 0, windows_sent = 0, lost = 0, innocent = 0, notes = 0, leaves = 0, byes = 0, readies = 0
    integer :: cpu_readies = 0                      !< READY of a worker without a GPU
    logical :: may_leave = .false.
    integer :: refuse = 0, drop = 0                 !< record whose gather is refused once, that is taken away once
    logical :: ends = .false.                       !< it is taken away as the job ends
    integer :: spoil = MSG_NONE                     !< kind of message of which one gets a wrong bit on its way
    integer :: tear = 0, tear_window = 0            !< record that goes out once, or whose window does, without its last number
    character(:), allocatable :: said               !< notes and reasons
  contains
    procedure :: handle
  end type office_t

  !> A shot takes `long` turns. Its trace is its record number.
  type, extends(solver_t) :: device_t
    integer :: turns = 0, record = 0
    character(:), allocatable :: variant
  contains
    procedure :: setup, advance, fraction => PartDone, gather => MakeGather, free, choose
    procedure, nopass :: need
  end type device_t

  integer, parameter :: long = 60
  integer :: fails_setup = 0, fails_step = 0        !< record of the shot in which the device fails
  integer :: room_for = 99                          !< shots that fit into the device at once
  integer :: flying = 0, most_flying = 0            !< shots set up on the device
  integer :: stepping = 0, most_stepping = 0        !< of these in their time loop
  integer, allocatable :: set_up(:), stepped(:)     !< records in the order in which they were set up, and began their time loop
  real(dp) :: need_bytes = 1

contains

  subroutine handle(self, message, reply)
    class(office_t), intent(inout) :: self
    type(message_t), intent(inout) :: message, reply
    type(box_t) :: box
    type(gather_t) :: gather
    type(error_t), allocatable :: problem
    integer :: record, slot
    select case (message%kind)
    case (MSG_NONE)
      self%polls = self%polls + 1
      if (mod(self%polls, 3) == 0) call NextDue(self, reply)
    case (MSG_READY)
      self%readies = self%readies + 1
      if (message%n(2) == 0) self%cpu_readies = self%cpu_readies + 1
      call Push(self, message_t(kind=MSG_READY))
    case (MSG_MODEL)
      call ModelFrom(message, record, slot, box)
      call ServeWindow(self, record, slot)
    case (MSG_GATHER)
      call Spoil(self, message)
      call GatherFrom(message, gather, problem)
      call TakeGather(self, gather, problem)
    case (MSG_LOST)
      self%lost = self%lost + 1
      if (message%n(3) == 1) self%innocent = self%innocent + 1
      self%said = self%said//'; '//message%text
      self%status(int(message%n(2))) = 0
    case (MSG_NOTE)
      self%notes = self%notes + 1
      self%said = self%said//'; '//message%text
    case (MSG_LEAVE)
      self%leaves = self%leaves + 1
      reply%kind = MSG_LEAVE
      reply%n(1) = merge(1, 0, self%may_leave)
    case (MSG_BYE)
      self%byes = self%byes + 1
    end select
  end subroutine handle

  !> One bit, once: of the last number of the field, else of the last position.
  subroutine Spoil(self, message)
    class(office_t), intent(inout) :: self
    type(message_t), intent(inout) :: message
    integer :: n
    if (message%kind /= self%spoil) return
    if (allocated(message%fields)) then
      n = size(message%fields)
      if (n == 0) return
      message%fields(n) = transfer(ieor(transfer(message%fields(n), 1), 4), 1.0_sp)
    else
      n = size(message%places)
      message%places(n) = transfer(ieor(transfer(message%places(n), 1_i8), 4_i8), 1.0_dp)
    end if
    self%spoil = MSG_NONE
  end subroutine Spoil

  subroutine Push(self, message)
    class(office_t), intent(inout) :: self
    type(message_t), intent(in) :: message
    self%due = [self%due, message]
  end subroutine Push

  !> The newest answer that can be given now. A READY waits while others may still lose their shots.
  subroutine NextDue(self, reply)
    class(office_t), intent(inout) :: self
    type(message_t), intent(inout) :: reply
    integer :: i, next
    do i = size(self%due), 1, -1
      if (self%due(i)%kind == MSG_READY) then
        next = findloc(self%status, 0, 1)
        if (self%leaves > 0 .and. self%may_leave) next = 0
        if (next > 0) then
          self%status(next) = 1
          call ShotMessage(self%shots(next), self%windows(next), .false., reply)
          if (self%shots(next)%record == self%tear) then
            self%tear = 0
            reply%places = reply%places(:size(reply%places) - 1)
          end if
        else if (all(self%status == 2) .or. (self%leaves > 0 .and. self%may_leave)) then
          reply%kind = MSG_STOP
        else
          cycle
        end if
      else
        reply = self%due(i)
      end if
      self%due = [self%due(:i - 1), self%due(i + 1:)]
      call Spoil(self, reply)
      if (reply%kind == MSG_SHOT .and. reply%n(1) == self%drop) call TakeAway(self)
      return
    end do
  end subroutine NextDue

  !> Another worker, so to speak, has done the shot: the news comes when the worker is in the middle of it.
  subroutine TakeAway(self)
    class(office_t), intent(inout) :: self
    type(message_t) :: message
    message%kind = MSG_DROP
    message%n(1) = self%drop
    message%n(3) = merge(1, 0, self%ends)
    self%due = [message, self%due]
    self%drop = 0
  end subroutine TakeAway

  subroutine ServeWindow(self, record, slot)
    class(office_t), intent(inout) :: self
    integer, intent(in) :: record, slot
    type(message_t) :: message
    self%windows_sent = self%windows_sent + 1
    call WindowMessage(record, self%windows(slot), message)
    if (record == self%tear_window) then
      self%tear_window = 0
      message%fields = message%fields(:size(message%fields) - 1)
    end if
    call Push(self, message)
  end subroutine ServeWindow

  subroutine TakeGather(self, gather, problem)
    class(office_t), intent(inout) :: self
    type(gather_t), intent(in) :: gather
    type(error_t), allocatable, intent(in) :: problem
    type(message_t) :: message
    if (allocated(problem)) then
      call VerdictMessage(MSG_GATHER, gather%record, gather%slot, problem%message, message)
    else if (gather%record == self%refuse) then
      self%refuse = 0
      call VerdictMessage(MSG_GATHER, gather%record, gather%slot, 'the disk is full', message)
    else
      call VerdictMessage(MSG_GATHER, gather%record, gather%slot, '', message)
      self%gathers(gather%slot) = gather
      call Unseal(self%gathers(gather%slot))
      self%status(gather%slot) = 2
    end if
    call Push(self, message)
  end subroutine TakeGather

  !> Sealed traces as numbers again: the bytes of each in the other order.
  subroutine Unseal(gather)
    type(gather_t), intent(inout) :: gather
    integer(int8), allocatable :: bytes(:, :)
    allocate (bytes(4, size(gather%sealed%bytes)))
    bytes = reshape(transfer(gather%sealed%bytes, bytes), shape(bytes))
    gather%traces = reshape(transfer(bytes(4:1:-1, :), [0.0_sp], size(bytes, 2)), [gather%nt, gather%nrec, gather%ncomp])
  end subroutine Unseal

  subroutine setup(self, scheme, window, shot, error)
    class(device_t), intent(inout) :: self
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    type(shot_t), intent(in) :: shot
    type(error_t), allocatable, intent(inout) :: error
    self%turns = 0
    self%record = shot%record
    self%variant = scheme%variant
    if (self%variant == 'cpu') return
    if (flying >= room_for .or. shot%record == fails_setup) then
      call Fail(error, 'no GPU memory for sigma')
      error%device = .true.
      return
    end if
    set_up = [set_up, shot%record]
    flying = flying + 1
    most_flying = max(most_flying, flying)
  end subroutine setup

  subroutine advance(self, done, error)
    class(device_t), intent(inout) :: self
    logical, intent(out) :: done
    type(error_t), allocatable, intent(inout) :: error
    self%turns = self%turns + 1
    done = self%turns == long
    if (self%turns == 1) stepped = [stepped, self%record]
    stepping = stepping + merge(1, 0, self%turns == 1) - merge(1, 0, done)
    most_stepping = max(most_stepping, stepping)
    if (self%variant == 'cpu' .or. self%record /= fails_step .or. self%turns /= long/2) return
    call Fail(error, 'unspecified launch failure')
    error%device = .true.
  end subroutine advance

  pure real(dp) function PartDone(self) result(fraction)
    class(device_t), intent(in) :: self
    fraction = self%turns/real(long, dp)
  end function PartDone

  subroutine MakeGather(self, gather, error)
    class(device_t), intent(inout), target :: self
    type(gather_t), intent(inout) :: gather
    type(error_t), allocatable, intent(inout) :: error
    gather%nt = 1
    gather%nrec = 1
    gather%ncomp = 1
    gather%traces = reshape([real(self%record, sp)], [1, 1, 1])
    gather%rx = [0.0_dp]
    gather%rz = [0.0_dp]
    gather%variant = self%variant
    gather%steps = long
    if (self%variant /= 'cpu') flying = flying - 1
  end subroutine MakeGather

  real(dp) function need(scheme, window, traces)
    class(scheme_t), intent(in) :: scheme
    type(window_t), intent(in) :: window
    integer, intent(in) :: traces
    need = need_bytes
    if (window%nx > 1000) need = 100*need_bytes
  end function need

  subroutine free(self)
    class(device_t), intent(inout) :: self
    if (allocated(self%variant)) then
      if (self%variant /= 'cpu' .and. self%turns < long .and. flying > 0) flying = flying - 1
      deallocate (self%variant)
    end if
  end subroutine free

  function choose(self, asked, has_gpu) result(name)
    class(device_t), intent(in) :: self
    character(*), intent(in) :: asked
    logical, intent(in) :: has_gpu
    character(:), allocatable :: name
    name = trim(merge('gpu', 'cpu', has_gpu))
  end function choose

end module late_master_m
