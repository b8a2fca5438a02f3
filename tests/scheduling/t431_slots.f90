!> A worker with several shots in flight: what it sends home is what one shot at a time gives, whatever the order of the answers; a
!> GPU that fails, is too small or full costs no shot; a message with a wrong bit costs one attempt; a shot
!> given up as the job ends goes on from its state. The master is played by a listener that answers late and out of order, the GPU by
!> a solver that fails on demand.
module pretended_m
  use, intrinsic :: iso_fortran_env, only: int8
  use error_m, only: error_t, Fail
  use gather_m, only: gather_t
  use kinds_m, only: dp, i8, sp
  use shot_messages_m, only: GatherFrom, ModelFrom, ShotMessage, VerdictMessage, WindowMessage
  use protocol_m
  use scheme_m, only: scheme_t
  use shot_m, only: shot_t
  use solver_m, only: progress_i, solver_t
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
    procedure :: setup, modfd, advance, fraction => PartDone, gather => MakeGather, free, choose
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
    type(error_t), allocatable :: fault
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
      call GatherFrom(message, gather, fault)
      call TakeGather(self, gather, fault)
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

  subroutine TakeGather(self, gather, fault)
    class(office_t), intent(inout) :: self
    type(gather_t), intent(in) :: gather
    type(error_t), allocatable, intent(in) :: fault
    type(message_t) :: message
    if (allocated(fault)) then
      call VerdictMessage(MSG_GATHER, gather%record, gather%slot, fault%message, message)
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

  subroutine modfd(self, progress, error)
    class(device_t), intent(inout) :: self
    procedure(progress_i) :: progress
    type(error_t), allocatable, intent(inout) :: error
    call Fail(error, 'a worker takes turns')
  end subroutine modfd

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

end module pretended_m

program t431_slots
  use checkpoint_rule_m, only: checkpoint_t, CheckpointRule, CheckpointSweep
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use fd2d_m, only: fd2d_t
  use files_m, only: FileExists
  use gather_m, only: gather_t
  use kinds_m, only: dp, sp
  use pretended_m, only: device_t, fails_setup, fails_step, most_flying, most_stepping, need_bytes, office_t, room_for, &
                         set_up, stepped
  use protocol_m, only: link_t, MSG_GATHER, MSG_MODEL, MSG_SHOT
  use roles_m, only: role_t
  use scene_m, only: scene_t, SceneNew, SceneRun, SceneScheme
  use text_m, only: Str
  use master_heartbeat_m, only: job_end_t
  use worker_type_m, only: worker_options_t
  use worker_m, only: WorkerRun
  implicit none
  integer, parameter :: n = 7
  type(error_t), allocatable :: error
  type(scene_t) :: scene
  type(office_t), target :: office

  call SceneNew(scene, 60, 40, 10.0_dp, 2000.0_dp, 1000.0_dp)
  scene%job%tmax = 0.25_dp
  scene%job%fpeak = 15
  scene%job%npml = 10
  scene%shot%rx = [150.0_dp, 333.3_dp, 480.0_dp]
  scene%shot%rz = [20.0_dp, 20.0_dp, 50.0_dp]
  scene%shot%ry = [0, 0, 0]
  scene%shot%channel = [1, 2, 3]
  call SceneScheme(scene, error)
  call ClaimFine(error, 'the scene')
  call Traces()
  call GpuFine()
  call GpuFails()
  call GpuSmall()
  call Refused()
  call WrongBits()
  call JobEnds()
  call Torn()
  call Done()

contains

  !> Seven shots at different places; the first four see one window, the others another.
  subroutine NewOffice()
    integer :: i
    office = office_t()
    allocate (office%shots(n), office%windows(n), office%gathers(n), office%due(0))
    allocate (office%status(n), source=0)
    office%said = ''
    do i = 1, n
      office%shots(i) = scene%shot
      office%shots(i)%record = 100 + i
      office%shots(i)%slot = i
      office%shots(i)%sx = 60*i + 40.0_dp
      office%shots(i)%sz = 30
      office%windows(i) = scene%window
      if (i > 4) office%windows(i)%medium(:, 1, 30:, 1) = 1900
      if (i > 4) office%windows(i)%x0 = 0.5_dp
    end do
    fails_setup = 0
    fails_step = 0
    room_for = 99
    need_bytes = 1
    most_flying = 0
    most_stepping = 0
    set_up = [integer ::]
    stepped = [integer ::]
  end subroutine NewOffice

  subroutine Work(rules, solver_is, gpu)
    type(worker_options_t), intent(in) :: rules
    type(job_end_t) :: job_end
    character(*), intent(in) :: solver_is
    logical, intent(in) :: gpu
    type(role_t) :: role
    type(link_t) :: link
    type(fd2d_t) :: fd2d
    type(device_t) :: device
    role%host = 'here'
    role%processor = 'a processor'
    role%gpu_fault = ''
    role%gpu_name = 'a GPU'
    if (gpu) role%gpu = 0
    role%gpu_room = 1000
    link%listener => office
    if (solver_is == 'fd2d') call WorkerRun(role, link, fd2d, scene%scheme, rules, job_end)
    if (solver_is /= 'fd2d') call WorkerRun(role, link, device, scene%scheme%scheme_t, rules, job_end)   ! as in 2D: shots share the cache
  end subroutine Work

  !> Every number of slots gives the traces of shots modelled one by one, bit for bit; with states kept as often as the disk allows.
  subroutine Traces()
    integer, parameter :: slots(3) = [1, 3, 9]
    type(scene_t) :: single
    type(gather_t) :: alone
    type(checkpoint_t) :: often
    logical :: ok
    integer :: i, j, differ
    call CheckpointRule('1e-9', 24.0_dp, 'often.nc', often, ok)
    do j = 1, size(slots)
      call NewOffice()
      call Work(worker_options_t(shots=slots(j), checkpoint=often), 'fd2d', .false.)
      differ = 0
      do i = 1, n
        single = scene
        single%shot = office%shots(i)
        single%window = office%windows(i)
        call SceneRun(single, alone, error)
        if (.not. allocated(office%gathers(i)%traces)) then
          differ = differ + 1
        else if (any(abs(alone%traces - office%gathers(i)%traces) > 0) .or. maxval(abs(alone%traces)) <= 0) then
          differ = differ + 1
        end if
      end do
      call ClaimFine(error, 'the shots one by one')
      call Claim(differ == 0 .and. office%byes == 1 .and. office%lost == 0, Str(slots(j))//' slot(s): '//Str(n - differ)//' of '// &
                 Str(n)//' gathers as modelled one by one, bit for bit')
      call Claim(office%windows_sent >= 2 .and. office%windows_sent <= 4, Str(slots(j))//' slot(s): '// &
                 Str(office%windows_sent)//' windows sent for '//Str(n)//' shots that see 2 different ones, bound 4')
    end do
  end subroutine Traces

  subroutine AllDone(what, variant)
    character(*), intent(in) :: what, variant
    integer :: i, good, by
    good = 0
    by = 0
    do i = 1, n
      if (office%status(i) /= 2) cycle
      if (nint(office%gathers(i)%traces(1, 1, 1)) == 100 + i) good = good + 1
      if (office%gathers(i)%variant == variant) by = by + 1
    end do
    call Claim(good == n .and. office%byes == 1, what//': '//Str(good)//' of '//Str(n)//' shots done, '//Str(by)//' on '//variant)
  end subroutine AllDone

  subroutine GpuFine()
    integer :: i
    call NewOffice()
    call Work(worker_options_t(), 'device', .true.)
    call AllDone('a GPU that works', 'gpu')
    call Claim(most_flying > 2 .and. office%cpu_readies == 0, 'shots on it at once: up to '//Str(most_flying)// &
               ', more than 2 for small grids')
    call NewOffice()
    call Work(worker_options_t(shots_per_gpu=2), 'device', .true.)
    call AllDone('shots_per_gpu=2', 'gpu')
    call Claim(most_flying == 2 .and. most_stepping == 2, 'shots on it at once: up to '//Str(most_flying)//' of 2, all computing')
    call NewOffice()
    need_bytes = 1.6_dp                             ! a hundredfold for these, so that six fit
    do i = 1, n
      office%windows(i)%nx = 1100
      office%windows(i)%nz = 1000
      deallocate (office%windows(i)%medium)
      allocate (office%windows(i)%medium(1100, 1, 1000, 2), source=2000.0_sp)
    end do
    call Work(worker_options_t(), 'device', .true.)
    call AllDone('grids of a million cells', 'gpu')
    call Claim(most_flying == 6 .and. most_stepping == 2, 'up to '//Str(most_flying)//' set up at once, must be 6, and '// &
               Str(most_stepping)//' computing, must be 2')
    call Claim(all(set_up == stepped) .and. size(set_up) == n, 'they begin in the order in which they were set up')
  end subroutine GpuFine

  subroutine GpuFails()
    call NewOffice()
    fails_step = 103
    call Work(worker_options_t(shots_per_gpu=2), 'device', .true.)
    call AllDone('lost in mid-shot', 'cpu')
    call Claim(office%lost >= 1 .and. office%lost == office%innocent .and. office%cpu_readies > 0, 'its '//Str(office%lost)// &
               ' shot(s) are reported lost, '//Str(office%innocent)//' without fault, and the worker goes on without a GPU')
    call Claim(office%notes == 1 .and. index(office%said, 'unspecified launch failure') > 0 .and. &
               index(office%said, 'goes on with CPU cores') > 0, 'one sentence for the log'//office%said)
    call NewOffice()
    fails_step = 103
    call Work(worker_options_t(shots_per_gpu=2, retire=.true.), 'device', .true.)
    call AllDone('on_gpu_error=retire, but it is the last worker', 'cpu')
    call Claim(office%leaves == 1 .and. index(office%said, 'no other worker is left') > 0, 'it asked to leave once and stayed')
    call NewOffice()
    fails_step = 103
    office%may_leave = .true.
    call Work(worker_options_t(shots_per_gpu=2, retire=.true.), 'device', .true.)
    call Claim(office%leaves == 1 .and. office%byes == 1 .and. all(office%status /= 1) .and. any(office%status == 0), &
               'on_gpu_error=retire: it leaves, '//Str(count(office%status == 2))//' shots done, none kept')
  end subroutine GpuFails

  subroutine GpuSmall()
    call NewOffice()
    room_for = 2
    call Work(worker_options_t(shots_per_gpu=4), 'device', .true.)
    call AllDone('memory for two shots only', 'gpu')
    call Claim(most_flying == 2 .and. office%cpu_readies == 0 .and. index(office%said, 'takes no more than 2 shot(s)') > 0, &
               'it goes on with 2 at once: '//office%said)
    call NewOffice()
    fails_setup = 101
    call Work(worker_options_t(shots_per_gpu=4), 'device', .true.)
    call AllDone('no memory for the first shot', 'cpu')
    call NewOffice()
    need_bytes = 2000
    call Work(worker_options_t(), 'device', .true.)
    call AllDone('windows larger than the GPU', 'cpu')
    call Claim(office%lost == 0 .and. office%notes == 1 .and. index(office%said, 'it is computed on CPU cores') > 0, &
               'said once, no shot lost'//office%said)
  end subroutine GpuSmall

  subroutine Refused()
    call NewOffice()
    office%refuse = 102
    call Work(worker_options_t(shots=3), 'device', .true.)
    call AllDone('a gather that was refused once', 'gpu')
    call Claim(office%lost == 1 .and. office%innocent == 0 .and. index(office%said, 'the disk is full') > 0, &
               'it was reported lost with the reason: '//office%said)
    call NewOffice()
    office%drop = 104
    call Work(worker_options_t(shots=3), 'device', .true.)
    call AllDone('a shot taken away in between', 'gpu')
    call Claim(office%lost == 1 .and. index(office%said, 'another worker has it') > 0, 'it was given up: '//office%said)
  end subroutine Refused

  !> A wrong bit in positions, model window or gather: the shot is lost with that reason, and computed again.
  subroutine WrongBits()
    integer, parameter :: kinds(3) = [MSG_SHOT, MSG_MODEL, MSG_GATHER]
    character(16), parameter :: names(3) = [character(16) :: 'the positions', 'the model window', 'the gather']
    type(scene_t) :: single
    type(gather_t) :: alone
    integer :: i, j, differ
    do j = 1, size(kinds)
      call NewOffice()
      office%spoil = kinds(j)
      call Work(worker_options_t(shots=2), 'fd2d', .false.)
      differ = 0
      do i = 1, n
        single = scene
        single%shot = office%shots(i)
        single%window = office%windows(i)
        call SceneRun(single, alone, error)
        if (any(abs(alone%traces - office%gathers(i)%traces) > 0)) differ = differ + 1
      end do
      call Claim(office%lost == 1 .and. index(office%said, trim(names(j))//' of shot') > 0 .and. index(office%said, 'wrong bits') > 0 &
                 .and. all(office%status == 2) .and. differ == 0, 'one wrong bit in '//trim(names(j))//': '//Str(office%lost)// &
                 ' shot lost, must be 1, all done in the end, '//Str(differ)//' with wrong traces'//office%said)
    end do
  end subroutine WrongBits

  !> A shot that is given up as the job ends leaves its state on disk, whatever the interval: dealt again it goes on from there.
  subroutine JobEnds()
    type(checkpoint_t) :: rule
    type(scene_t) :: single
    type(gather_t) :: alone
    logical :: ok
    call CheckpointRule('10000', 24.0_dp, 'slots.nc', rule, ok)
    scene%job%tmax = 6
    call SceneScheme(scene, error)
    call NewOffice()
    office%shots = office%shots(3:3)
    office%windows = office%windows(3:3)
    office%gathers = office%gathers(3:3)
    office%status = office%status(3:3)
    office%shots%slot = 1
    office%drop = 103
    office%ends = .true.
    call Work(worker_options_t(checkpoint=rule), 'fd2d', .false.)
    single = scene
    single%shot = office%shots(1)
    single%window = office%windows(1)
    call SceneRun(single, alone, error)
    call ClaimFine(error, 'the shot alone')
    call Claim(office%lost == 1 .and. index(office%said, 'shot 103 goes on after step') > 0 .and. &
               all(abs(alone%traces - office%gathers(1)%traces) <= 0), 'given up as the job ends, dealt again, the same traces'// &
               office%said)
    call Claim(.not. FileExists('slots.nc.states/shot103.a.state'), 'its states are removed when it is done')
    call CheckpointSweep(rule, .true.)
  end subroutine JobEnds

  !> Messages that do not arrive whole are not used: their shots are reported lost, dealt again, and done.
  subroutine Torn()
    call NewOffice()
    office%tear = 102
    call Work(worker_options_t(shots=3), 'device', .true.)
    call AllDone('a shot whose first message lacked a position', 'gpu')
    call Claim(office%lost == 1 .and. index(office%said, 'positions, must be 4 x') > 0, 'it was reported lost with the reason: '// &
               office%said)
    call NewOffice()
    office%tear_window = 101
    call Work(worker_options_t(shots=3), 'device', .true.)
    call AllDone('a shot whose first window lacked a sample', 'gpu')
    call Claim(office%lost == 1 .and. index(office%said, 'samples, must be 60 x 40 x') > 0, 'it was reported lost with the reason: '// &
               office%said)
  end subroutine Torn

end program t431_slots
