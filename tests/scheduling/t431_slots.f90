!> A worker with several shots in flight: what it sends home is what one shot at a time gives, whatever the order of the answers; a
!> GPU that fails, is too small or full costs no shot; a message with a wrong bit costs one attempt; a shot
!> given up as the job ends goes on from its state. The master is played by a listener that answers late and out of order, the GPU by
!> a solver that fails on demand.
program t431_slots
  use checkpoint_rule_m, only: checkpoint_t, CheckpointRule, CheckpointSweep
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use fd2d_m, only: fd2d_t
  use files_m, only: FileExists
  use gather_m, only: gather_t
  use kinds_m, only: dp, sp
  use late_master_m, only: device_t, fails_setup, fails_step, most_flying, most_stepping, need_bytes, office_t, room_for, &
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
